"""Writing table metadata (Writer requirements; Appendix E)."""

from __future__ import annotations

from typing import Any

from spec_ref import json_document
from spec_ref.errors import violation
from spec_ref.json_records import record_writer
from spec_ref.records import evolve
from spec_ref.table_metadata.files import pack
from spec_ref.table_metadata.metadata import DEPRECATED, METADATA, TableMetadata
from spec_ref.table_metadata.upgrade import upgrade
from spec_ref.versions import V1, FormatVersion


def write_metadata(metadata: TableMetadata, format_version: FormatVersion | int | None = None) -> dict[str, Any]:
    """The JSON object of table metadata, as a writer of the table's format version makes it.

    Required properties are written, those that the version leaves out are not; optional ones where they differ from what
    a reader takes in their absence.

    Args:
        metadata: the table.
        format_version: the version to write; a newer one than the table's upgrades it on the way.

    Raises:
        SpecError: the metadata lacks what the version requires, or holds what it cannot; the version is below the
            table's.
    """
    if format_version is not None:
        metadata = upgrade(metadata, format_version)
    if metadata.format_version == V1:
        metadata = evolve(metadata, **{attribute: copy(metadata) for attribute, copy in DEPRECATED})
    document: dict[str, Any] = record_writer(METADATA, metadata.format_version)(metadata)
    return document


def dumps(metadata: TableMetadata) -> str:
    """Table metadata as compact JSON text.

    Raises:
        SpecError: as `write_metadata`.
    """
    return json_document.dumps(write_metadata(metadata))


def to_bytes(metadata: TableMetadata, *, compressed: bool = False) -> bytes:
    """The content of a metadata file, gzip or not.

    Raises:
        SpecError: as `write_metadata`, or a string has no UTF-8 form.
    """
    try:
        data = dumps(metadata).encode()
    except UnicodeEncodeError as error:
        raise violation(json_document.DOCUMENT, "a string holds a lone surrogate, which UTF-8 cannot write") from error
    return pack(data) if compressed else data

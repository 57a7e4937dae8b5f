"""Writing table metadata (Writer requirements; Appendix E)."""

from __future__ import annotations

from typing import Any

from spec_ref.errors import violation
from spec_ref.json_document import DOCUMENT
from spec_ref.json_writing import record_writer
from spec_ref.records import evolve, field_rules
from spec_ref.table_metadata.files import pack
from spec_ref.table_metadata.metadata import DEPRECATED, METADATA, TableMetadata
from spec_ref.table_metadata.upgrade import upgrade
from spec_ref.versions import OMITTED, FormatVersion


def write_metadata(metadata: TableMetadata, format_version: FormatVersion | int | None = None) -> dict[str, Any]:
    """The JSON object of table metadata, as a writer of the table's format version makes it.

    Required properties are written, those that the version leaves out are not; optional ones where they differ from
    what a reader takes in their absence.

    Args:
        metadata: the table.
        format_version: the version to write; a newer one than the table's upgrades it on the way.

    Raises:
        SpecError: the metadata lacks what the version requires, or holds what it cannot; the version is below the
            table's.
    """
    document: dict[str, Any] = _written(metadata, format_version, text=False)
    return document


def _written(metadata: TableMetadata, format_version: FormatVersion | int | None, *, text: bool) -> Any:
    if format_version is not None:
        metadata = upgrade(metadata, format_version)
    rules = field_rules(TableMetadata)
    copies = {
        attribute: copied(metadata)
        for attribute, copied in DEPRECATED
        if rules[attribute].write(metadata.format_version) is not OMITTED
    }
    return record_writer(METADATA, metadata.format_version, text=text)(evolve(metadata, **copies))


def dumps(metadata: TableMetadata, format_version: FormatVersion | int | None = None) -> str:
    """Table metadata as compact JSON text; the arguments are those of `write_metadata`.

    Raises:
        SpecError: as `write_metadata`.
    """
    text: str = _written(metadata, format_version, text=True)
    return text


def to_bytes(metadata: TableMetadata, *, compressed: bool = False) -> bytes:
    """The content of a metadata file, gzip or not.

    Raises:
        SpecError: as `write_metadata`, or a string has no UTF-8 form.
    """
    try:
        data = dumps(metadata).encode()
    except UnicodeEncodeError as error:
        raise violation(DOCUMENT, "a string holds a lone surrogate, which UTF-8 cannot write") from error
    return pack(data) if compressed else data

"""Writing table metadata (Writer requirements; Appendix E)."""

from __future__ import annotations

from typing import Any

from spec_ref.core.errors import spec_error
from spec_ref.core.records import evolve, field_rules
from spec_ref.core.versions import OMITTED, FormatVersion
from spec_ref.json.documents import DOCUMENT
from spec_ref.json.writing import record_writer, text_writer
from spec_ref.table_metadata.files import compress
from spec_ref.table_metadata.metadata import DEPRECATED, METADATA, TableMetadata
from spec_ref.table_metadata.reader import gc_disabled
from spec_ref.table_metadata.upgrade import upgrade


def write_metadata(metadata: TableMetadata, format_version: FormatVersion | int | None = None) -> dict[str, Any]:
    """Write table metadata as a JSON object, as a writer of the table's format version does.

    Required properties are written, and those that the version omits are not; optional ones are written if they differ
    from their default.

    Args:
        metadata: the table.
        format_version: the version to write; the table is upgraded if it is newer.

    Returns:
        The JSON object.

    Raises:
        SpecError: the code of a field that the version requires and the metadata lacks, or of a value that it cannot
            hold; VER001 or VER003 for an unknown or a lower version.
    """
    document: dict[str, Any] = _write(metadata, format_version, text=False)
    return document


def _write(metadata: TableMetadata, format_version: FormatVersion | int | None, *, text: bool) -> Any:
    if format_version is not None:
        metadata = upgrade(metadata, format_version)
    rules = field_rules(TableMetadata)
    copies = {
        attribute: copied(metadata)
        for attribute, copied in DEPRECATED
        if rules[attribute].writer_presence(metadata.format_version) is not OMITTED
    }
    write = text_writer if text else record_writer
    return write(METADATA, metadata.format_version)(evolve(metadata, **copies))


def dumps(metadata: TableMetadata, format_version: FormatVersion | int | None = None) -> str:
    """Write table metadata as compact JSON text.

    Args:
        metadata: the table.
        format_version: the version to write; the table is upgraded if it is newer.

    Returns:
        The JSON text.

    Raises:
        SpecError: as `write_metadata`.
    """
    with gc_disabled():
        text: str = _write(metadata, format_version, text=True)
    return text


def to_bytes(metadata: TableMetadata, *, compressed: bool = False) -> bytes:
    """Write the content of a metadata file.

    Args:
        metadata: the table.
        compressed: whether to compress with gzip.

    Returns:
        The bytes of the file.

    Raises:
        SpecError: as `write_metadata`; TMD029 if a string has no UTF-8 form.
    """
    try:
        data = dumps(metadata).encode()
    except UnicodeEncodeError as error:
        raise spec_error(DOCUMENT, "a string has a lone surrogate, which UTF-8 cannot encode") from error
    return compress(data) if compressed else data

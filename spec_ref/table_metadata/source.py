"""The JSON object of table metadata, and its format version (Table Metadata and Snapshots; Format Versioning)."""

from __future__ import annotations

import copy
from typing import Any

from spec_ref.core.errors import spec_error
from spec_ref.core.versions import FormatVersion
from spec_ref.json.documents import DOCUMENT, check_document, loads
from spec_ref.json.reading import wrong_type_error
from spec_ref.table_metadata.files import decompress, is_compressed

Source = bytes | str | dict[str, Any]
"""Metadata as the content of a file (JSON, or JSON in gzip), as JSON text, or as the parsed object."""


def parse_document(data: Source) -> dict[str, Any]:
    """Parse table metadata into its JSON object.

    Args:
        data: the metadata in any of the forms of `Source`; a parsed object is copied.

    Returns:
        The JSON object.

    Raises:
        SpecError: TMD029 if it is not a JSON object; TMD030 if the gzip data is damaged.
        TypeError: the data has none of these forms; it is a path, for example, whose file the caller has to read.
    """
    if isinstance(data, dict):
        check_document(data)
        return copy.deepcopy(data)
    if not isinstance(data, bytes | str):
        raise TypeError(f"table metadata must be bytes, JSON text or a dict, not {type(data).__name__}")
    text = decompress(data) if isinstance(data, bytes) and is_compressed(data) else data
    document = loads(text)
    if not isinstance(document, dict):
        raise wrong_type_error("an object of table metadata", DOCUMENT, document)
    return document


def read_format_version(document: dict[str, Any]) -> FormatVersion:
    """Find the format version, which decides how everything else is read.

    Args:
        document: the JSON object of the metadata.

    Returns:
        The format version.

    Raises:
        SpecError: TMD001 if it is missing, not an integer, or not a known version (VER001).
    """
    found = document.get("format-version")
    if found is None:
        raise spec_error(
            "TMD001", "format-version is missing", expected="1, 2 or 3", path="/format-version", aspect="missing"
        )
    if type(found) is not int:
        raise spec_error(
            "TMD001", "format-version is not an integer", found=found, path="/format-version", aspect="wrong-type"
        )
    if found not in FormatVersion._value2member_map_:
        expected = "1, 2 or 3"
        raise spec_error(
            "TMD001",
            "the format version is not supported",
            found=found,
            expected=expected,
            path="/format-version",
            aspect="unknown-value",
        )
    return FormatVersion(found)

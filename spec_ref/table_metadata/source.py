"""The JSON object that metadata stands in, and its format version (Table Metadata and Snapshots; Format Versioning)."""

from __future__ import annotations

import copy
import functools
from typing import Any

from spec_ref.columnar.json.duplicate_names import unrepeated
from spec_ref.errors import violation
from spec_ref.json_document import DOCUMENT, check_document, loads
from spec_ref.json_records import wrong
from spec_ref.table_metadata.files import is_compressed, unpack
from spec_ref.table_metadata.metadata import METADATA
from spec_ref.versions import FormatVersion

Source = bytes | str | dict[str, Any]
"""Metadata as a file holds it (JSON, or JSON in gzip), as JSON text, or as the parsed object."""


def document_of(data: Source) -> dict[str, Any]:
    """The JSON object of metadata.

    Raises:
        SpecError: there is none.
    """
    if isinstance(data, dict):
        check_document(data)
        return copy.deepcopy(data)
    text = unpack(data) if isinstance(data, bytes) and is_compressed(data) else data
    document = loads(text, functools.partial(unrepeated, METADATA))
    if not isinstance(document, dict):
        raise wrong("an object of table metadata", DOCUMENT, document)
    return document


def version_of(document: dict[str, Any]) -> FormatVersion:
    """The format version, which decides how everything else is read.

    Raises:
        SpecError: there is none, or one above those that are known (TMD001, VER001).
    """
    found = document.get("format-version")
    if found is None:
        raise violation(
            "TMD001", "format-version is missing", expected="1, 2 or 3", path="/format-version", aspect="missing"
        )
    if type(found) is not int:
        raise violation(
            "TMD001", "format-version is an integer", found=found, path="/format-version", aspect="wrong-type"
        )
    if found not in FormatVersion._value2member_map_:
        expected = "1, 2 or 3"
        raise violation(
            "TMD001",
            "the format version is not supported",
            found=found,
            expected=expected,
            path="/format-version",
            aspect="unknown-value",
        )
    return FormatVersion(found)

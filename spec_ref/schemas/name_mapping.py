"""Name mappings (Column Projection; Appendix C, Name Mapping Serialization).

A name mapping assigns field ids to the columns of files that have none (NAM001). Names are matched one level at a time,
so a dot in a name is part of the name (NAM005).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from spec_ref.core.errors import SpecError, error_path, spec_error
from spec_ref.core.records import EMPTY, evolve, record, spec_field
from spec_ref.core.versions import OPTIONAL, REQUIRED, V3
from spec_ref.json.documents import check_document, loads
from spec_ref.json.reading import reader
from spec_ref.json.wire_types import INT, STRING, ListOf, RecordOf
from spec_ref.json.writing import writer

NAME_MAPPING_PROPERTY = "schema.name-mapping.default"
"""The table property that holds the mapping, as JSON text (NAM010)."""

MAX_DEPTH = 100


@record(kw_only=True)
class MappedField:
    """The names that one field has in files, and the id that is assigned to it."""

    names: tuple[str, ...] = spec_field(
        "names", v1=REQUIRED, v2=REQUIRED, v3=REQUIRED, requirement="NAM002", type=ListOf(STRING)
    )
    """Several names where files name the field differently (NAM007); empty for a field that is in no such file."""

    field_id: int | None = spec_field(
        "field-id", v1=OPTIONAL, v2=OPTIONAL, v3=OPTIONAL, requirement="NAM003", type=INT, default=None
    )
    """The field id of the column; None for a column of files that is not in the table."""

    fields: tuple[MappedField, ...] = attrs.field(default=())
    """The children of a struct; ``element`` of a list; ``key`` and ``value`` of a map (NAM004, NAM006, NAM008)."""

    extra: Mapping[str, Any] = attrs.field(default=EMPTY, hash=False)
    """Properties that the spec does not define."""


MAPPED_FIELD = RecordOf(MappedField, "a field mapping", requirement="NAM009")
_read = reader(MAPPED_FIELD, V3)
_write = writer(MAPPED_FIELD, V3)


def read_name_mapping(source: str | list[Any]) -> tuple[MappedField, ...]:
    """Read a name mapping.

    The key of the id is ``field-id``; the ``field_id`` of an older table of the spec is not accepted instead (A16).

    Args:
        source: the text of the table property, or the parsed JSON.

    Returns:
        The mappings of the top level.

    Raises:
        SpecError: NAM009 if it is not a list of field mappings or is nested more than `MAX_DEPTH` levels; NAM002 or
            NAM003 for a malformed member; NAM007 if two mappings of one level share a name; TMD029 if the parsed object
            is not JSON.
    """
    if isinstance(source, str):
        try:
            source = loads(source)
        except SpecError as error:
            raise spec_error("NAM009", error.violation.message) from error
    else:
        check_document(source)
    return _read_fields(source, MAX_DEPTH)


def _read_fields(source: Any, depth: int) -> tuple[MappedField, ...]:
    if type(source) is not list:
        raise spec_error("NAM009", "the name mapping is not a list", found=source)
    if depth == 0:
        raise spec_error("NAM009", "the name mapping is nested too deeply", expected=f"at most {MAX_DEPTH} levels")
    fields = []
    seen: dict[str, int] = {}
    for place, item in enumerate(source):
        with error_path(f"/{place}"):
            field = _read(item)
            children = field.extra.get("fields")
            if children is not None:
                with error_path("/fields"):
                    children = _read_fields(children, depth - 1)
            rest = {name: value for name, value in field.extra.items() if name != "fields"}
            fields.append(evolve(field, fields=children or (), extra=rest))
            for name in field.names:
                if seen.setdefault(name, place) != place:
                    raise spec_error("NAM007", "two mappings have the same name", found=name, path="/names")
    return tuple(fields)


def write_name_mapping(fields: Sequence[MappedField]) -> list[dict[str, Any]]:
    """Write a name mapping as JSON, whose text is the table property `NAME_MAPPING_PROPERTY`.

    Args:
        fields: the mappings of one level.

    Returns:
        The JSON list.
    """
    written = []
    for field in fields:
        document = _write(field)
        if field.fields:
            document["fields"] = write_name_mapping(field.fields)
        written.append(document)
    return written


def find_mapped_field(fields: Sequence[MappedField], path: Sequence[str]) -> MappedField | None:
    """Find the mapping of a column of a file.

    Args:
        fields: the mappings of the top level.
        path: the names of the columns that contain the column, outermost first, and its own.

    Returns:
        The mapping; None if the path is not mapped.
    """
    found: MappedField | None = None
    for name in path:
        found = next((field for field in fields if name in field.names), None)
        if found is None:
            return None
        fields = found.fields
    return found

"""Schemas (Schemas and Data Types; Appendix C, Schemas).

A schema is the struct of a table's columns (TYP001), with an id and, optionally, the ids of the fields that identify a
row. Its JSON is that of the struct, with both beside the fields (JSC009).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import attrs

from spec_ref.core.errors import spec_error
from spec_ref.core.records import EMPTY, record, spec_field
from spec_ref.core.versions import OPTIONAL, REQUIRED, FormatVersion
from spec_ref.data_types.types import ListType, MapType, NestedField, StructType, Type, children
from spec_ref.json.wire_types import INT, Converted, ListOf, RecordOf
from spec_ref.schemas.type_json import FIELD, with_json_defaults


def _write_fields(fields: tuple[NestedField, ...], _: FormatVersion) -> tuple[NestedField, ...]:
    """Convert the defaults back to JSON."""
    return tuple(map(with_json_defaults, fields))


FIELDS = Converted(ListOf(FIELD), lambda fields, _: fields, _write_fields)


@attrs.frozen
class Column:
    """A field of a schema at any depth, with its path and parents."""

    id: int
    path: tuple[str, ...]
    """The names from the root; ``element``, ``key`` and ``value`` inside lists and maps."""

    type: Type
    required: bool
    field: NestedField | None
    """The field of a struct; None for an element, key or value."""

    parents: tuple[Column, ...]
    """The columns that contain it, outermost first."""

    @property
    def name(self) -> str:
        """The full name, with dots between the parts."""
        return ".".join(self.path)


def value_in_row(column: Column, row: Mapping[int, Any]) -> Any:
    """Find the value of a column in a row.

    Args:
        column: a column that is not inside a list or map.
        row: the row, values by field id.

    Returns:
        The value; None if it or a struct that contains it is null.
    """
    value: Any = row
    for one in (*column.parents, column):
        value = None if value is None else value.get(one.id)
    return value


@record
class Schema:
    """The columns of a table at one point of its history."""

    fields: tuple[NestedField, ...] = spec_field(
        "fields", v1=REQUIRED, v2=REQUIRED, v3=REQUIRED, requirement="JSC006", type=FIELDS, converter=tuple
    )
    """The top-level columns."""

    schema_id: int = spec_field(
        "schema-id", v1=OPTIONAL, v2=REQUIRED, v3=REQUIRED, requirement="JSC001", type=INT, default=0
    )
    """The id in the table's list of schemas."""

    identifier_field_ids: tuple[int, ...] = spec_field(
        "identifier-field-ids",
        v1=OPTIONAL,
        v2=OPTIONAL,
        v3=OPTIONAL,
        requirement="JSC002",
        type=ListOf(INT),
        default=(),
        converter=tuple,
    )
    """The ids of the fields that identify a row (Identifier Field IDs)."""

    extra: Mapping[str, Any] = attrs.field(default=EMPTY, hash=False)
    """Properties that no format version defines, kept for the writers that define them."""

    def as_struct(self) -> StructType:
        """Return the schema as a struct type."""
        return StructType(self.fields)

    def columns(self) -> Iterator[Column]:
        """List the fields at all depths, parents before their children, in the order of the schema."""
        yield from _struct_columns(self.fields, ())

    def find(self, field_id: int) -> Column | None:
        """Find a column by its id.

        Args:
            field_id: the id of a field, element, key or value.

        Returns:
            The column, at any depth; None if there is none.
        """
        return next((column for column in self.columns() if column.id == field_id), None)

    def find_name(self, name: str) -> Column | None:
        """Find a column by its full name.

        Args:
            name: the names from the root, separated by dots.

        Returns:
            The column; None if there is none.

        Raises:
            SpecError: TYP002 if several columns have the name.
        """
        found = [column for column in self.columns() if column.name == name]
        if len(found) > 1:
            raise spec_error("TYP002", "several columns of the schema have the full name", found=name)
        return found[0] if found else None

    def shared_full_names(self) -> list[str]:
        """List the full names of columns with different paths, such as that of a column ``a.b`` and of ``b`` in ``a``.

        The text allows it, but Iceberg-Java and PyIceberg refuse such a schema (contradiction E17).

        Returns:
            The names, in the order of the schema.
        """
        paths: dict[str, set[tuple[str, ...]]] = {}
        for column in self.columns():
            paths.setdefault(column.name, set()).add(column.path)
        return [name for name, own in paths.items() if len(own) > 1]

    def highest_field_id(self) -> int:
        """Find the highest id in use; 0 in a schema without columns."""
        return max((column.id for column in self.columns()), default=0)


SCHEMA = RecordOf(Schema, "a schema", requirement="JSC006", constants={"type": "struct"})


def _columns(
    field_id: int,
    path: tuple[str, ...],
    type_: Type,
    required: bool,
    field: NestedField | None,
    parents: tuple[Column, ...],
) -> Iterator[Column]:
    column = Column(field_id, path, type_, required, field, parents)
    yield column
    around = (*parents, column)
    match type_:
        case StructType(fields):
            yield from _struct_columns(fields, around)
        case ListType(element_id, element, element_required):
            yield from _columns(element_id, (*path, "element"), element, element_required, None, around)
        case MapType(key_id, key, value_id, value, value_required):
            yield from _columns(key_id, (*path, "key"), key, True, None, around)  # noqa: FBT003 - keys are required
            yield from _columns(value_id, (*path, "value"), value, value_required, None, around)


def _struct_columns(fields: tuple[NestedField, ...], parents: tuple[Column, ...]) -> Iterator[Column]:
    path = parents[-1].path if parents else ()
    for field in fields:
        yield from _columns(field.id, (*path, field.name), field.type, field.required, field, parents)


def field_ids(fields: Iterable[NestedField]) -> Iterator[int]:
    """List the ids of fields, elements, keys and values at all depths.

    Args:
        fields: the fields of a struct.

    Yields:
        Each id, repeated as often as the fields repeat it.
    """
    for field in fields:
        yield field.id
        if isinstance(field.type, (StructType, ListType, MapType)):
            yield from _nested_ids(field.type)


def _nested_ids(type_: Type) -> Iterator[int]:
    for child_id, child in children(type_):
        yield child_id
        yield from _nested_ids(child)

"""Column Projection: read a data file with a schema other than the one it was written with (PRJ001 to PRJ006).

Columns are found by field id. A field that the file does not have takes, in this order, its identity partition value,
the column that the name mapping assigns to it (PRJ003), its initial default, or null. `project_row` is the definition,
on one row; `spec_ref.columnar.schemas.column_projection` is the same over Arrow batches.

Decided here, because the text leaves it open:

- A partition value that is present and null counts as present: the field is null, whatever its default.
- A partition value takes precedence over a column that has its id from the name mapping, by the order of the rules.
- A field inside a struct that the file does not have is read only if the struct's default is an empty struct, or if a
  field of the struct has a partition value other than null, which shows that the struct was not null.
- A required field without any value is refused, and so is a null in a required column of the file.
- A field of type unknown is null whatever the file stores for it, in every format. The text says so for Parquet
  (PQT006); for ORC and Avro it says that no such column is stored (ORC005, AVR010), and null is the only value of the
  type.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from spec_ref.core.errors import Description, SpecError, Violation, error_path, spec_error
from spec_ref.core.records import evolve, record
from spec_ref.core.versions import NEWEST
from spec_ref.data_types.promotion import is_promotable, promote_value
from spec_ref.data_types.types import (
    BINARY,
    STRING,
    UNKNOWN,
    UUID,
    FixedType,
    GeographyType,
    GeometryType,
    ListType,
    MapType,
    NestedField,
    PrimitiveType,
    StructType,
    Type,
    children,
)
from spec_ref.data_types.values import check_required
from spec_ref.schemas.schema import Schema

Constants = Mapping[int, Any]
"""Values by field id that are the same for all rows of a file."""


@record
class UnreadableColumn:
    """A column of a data file, or a field of its structs, that cannot be read as any field."""

    field_id: int | None
    """The id of the column in the file; None if it has none."""

    problem: Violation
    """The reason, with the path of the column in the file."""


@record
class FileColumns:
    """The columns of a data file."""

    struct: StructType
    """The columns with the ids by which they are found and the names that they have in the file."""

    mapped: bool = False
    """Whether the ids come from the name mapping, because the file has none."""

    unreadable: tuple[UnreadableColumn, ...] = ()
    """The columns that the struct leaves out, except those that the name mapping does not name."""

    def all_readable(self) -> StructType:
        """Require that all columns of the file can be read.

        Returns:
            The struct of the columns.

        Raises:
            SpecError: the problem of the first column that cannot be read.
        """
        for column in self.unreadable:
            raise SpecError(column.problem)
        return self.struct


def source_column(
    field: NestedField, file_struct: StructType, constants: Constants, *, mapped: bool
) -> NestedField | None:
    """Find the column of a file, or the field of its struct, that a field is read from.

    Args:
        field: a field of the table's schema.
        file_struct: the columns of the file at this level.
        constants: the identity partition values of the file, by field id.
        mapped: whether the file is read by the name mapping.

    Returns:
        The column; None if there is none, or it is not used: for a field of type unknown (PQT006), and for one that has
        a partition value in a file that is read by the name mapping.

    Raises:
        SpecError: PRJ001 if two columns have the field's id.
    """
    if field.type == UNKNOWN or (mapped and field.id in constants):
        return None
    found = [column for column in file_struct.fields if column.id == field.id]
    if len(found) > 1:
        names = ", ".join(column.name for column in found)
        raise spec_error("PRJ001", f"several columns have the field id {field.id}", found=names, expected="one column")
    return found[0] if found else None


def check_selected(fields: Sequence[NestedField], file_columns: FileColumns) -> None:
    """Check that the columns of a file that are needed for some fields, at any depth, can be read.

    Args:
        fields: the fields to read.
        file_columns: the columns of the file.

    Raises:
        SpecError: the problem of the first needed column that cannot be read.
    """
    problems = {column.field_id: column.problem for column in file_columns.unreadable}
    if not problems:
        return
    for field_id in _selected_ids(StructType(tuple(fields))):
        if field_id in problems:
            raise SpecError(problems[field_id])


def _selected_ids(type_: Type) -> Iterator[int]:
    for field_id, child in children(type_):
        if child != UNKNOWN:
            yield field_id
            yield from _selected_ids(child)


def missing_value(field: NestedField, constants: Constants) -> Any:
    """Find the value, in all rows, of a field that the file does not have.

    It is the partition value of the column, or its initial default (PRJ002, PRJ004, PRJ005, DEF001, DEF005, DEF010).

    Args:
        field: a field of the table's schema.
        constants: the identity partition values of the file, by field id.

    Returns:
        The value; None for null.

    Raises:
        SpecError: PRJ005 if the field is required and the value is null.
    """
    if field.id in constants:
        value = constants[field.id]
    elif isinstance(field.type, StructType) and (
        field.initial_default is not None or any(constants.get(one) is not None for one in _selected_ids(field.type))
    ):
        value = {child.id: missing_value(child, constants) for child in field.type.fields}
    else:
        value = field.initial_default
    if value is None and field.required:
        message = f"the required field {field.name} ({field.id}) has no column in the file and no default"
        raise spec_error("PRJ005", message, expected="a column, a partition value or an initial default")
    return value


def project_row(
    fields: Sequence[NestedField], file_columns: FileColumns, row: Mapping[int, Any], constants: Constants
) -> dict[int, Any]:
    """Convert a row of a file to the schema that it is read with; missing fields of structs get values too (DEF011).

    Args:
        fields: the fields to read, of the table's schema.
        file_columns: the columns of the file.
        row: the values of the file's columns by their ids.
        constants: the identity partition values of the file.

    Returns:
        The values of the fields by their ids.

    Raises:
        SpecError: TYP002 to TYP004 if a required value is null; PRJ005 if a required field is missing; PRJ001 if two
            columns have one id; EVO003 or EVO006 if a type is not promoted from that of the file; the problem of a
            column that cannot be read.
    """
    check_selected(fields, file_columns)
    return _struct(fields, file_columns.struct, row, constants, mapped=file_columns.mapped)


def _struct(
    fields: Sequence[NestedField],
    file_struct: StructType,
    row: Mapping[int, Any],
    constants: Constants,
    *,
    mapped: bool,
) -> dict[int, Any]:
    values = {}
    for field in fields:
        with error_path(f"/{field.name}"):
            column = source_column(field, file_struct, constants, mapped=mapped)
            if column is None:
                values[field.id] = missing_value(field, constants)
            else:
                value = project_value(field.type, column.type, row.get(column.id), constants, mapped=mapped)
                check_required(field.type, value, required=field.required, requirement="TYP002")
                values[field.id] = value
    return values


def project_value(type_: Type, file_type: Type, value: Any, constants: Constants, *, mapped: bool = False) -> Any:
    """Convert a value to the type that it is read with.

    Args:
        type_: the type to read.
        file_type: the type that the value was written with.
        value: a value of the written type, or None.
        constants: the identity partition values of the file, by field id.
        mapped: whether the file is read by the name mapping.

    Returns:
        The value of ``type_``; None for null.

    Raises:
        SpecError: as `project_row`.
    """
    match type_, file_type:
        case StructType(fields), StructType():
            return None if value is None else _struct(fields, file_type, value, constants, mapped=mapped)
        case ListType(_, element, required), ListType(_, old, _):
            return (
                None
                if value is None
                else tuple(
                    _part(element, old, item, "element", required, "TYP003", constants, mapped) for item in value
                )
            )
        case MapType(_, key, _, item_type, required), MapType(_, old_key, _, old_item, _):
            return (
                None
                if value is None
                else tuple(
                    (
                        _part(key, old_key, one, "key", True, "TYP004", constants, mapped),  # noqa: FBT003
                        _part(item_type, old_item, item, "value", required, "TYP004", constants, mapped),
                    )
                    for one, item in value
                )
            )
        case PrimitiveType("unknown"), _:
            return None
        case _:
            check_readable(file_type, type_)
            return promote_value(file_type, type_, value)


def _part(
    type_: Type, old: Type, value: Any, name: str, required: bool, requirement: str, constants: Constants, mapped: bool
) -> Any:
    with error_path(f"/{name}"):
        made = project_value(type_, old, value, constants, mapped=mapped)
        check_required(type_, made, required=required, requirement=requirement)
    return made


_READ_AS: tuple[Callable[[Type, Type], bool], ...] = (
    lambda old, new: old == new,
    lambda old, new: is_promotable(old, new, NEWEST),
    # Avro has no annotation for WKB (AVR012), ORC cannot store a CRS, and a CRS has several spellings.
    lambda old, new: isinstance(new, (GeometryType, GeographyType)) and (old == BINARY or type(old) is type(new)),
    # Files of writers that omit the annotation.
    lambda old, new: old == BINARY and new == STRING,
    lambda old, new: old == FixedType(16) and new == UUID,
)
"""The cases in which a column may be read as a type, some because formats or writers do not distinguish the types."""


def check_readable(file_type: Type, type_: Type) -> None:
    """Check that a column of a file can be read as the type of a field.

    Args:
        file_type: the type of the column in the file.
        type_: the type of the field.

    Raises:
        SpecError: EVO003 if the type is neither that of the field nor promoted to it.
    """
    if not any(reads(file_type, type_) for reads in _READ_AS):
        message = "the type of the file's column cannot be promoted to the field's type"
        raise spec_error("EVO003", message, found=Description(str(file_type)), expected=str(type_))


def select_fields(schema: Schema, ids: frozenset[int]) -> tuple[NestedField, ...]:
    """Select columns of a schema, in its order; a selected struct has only the requested fields.

    Args:
        schema: the schema.
        ids: the fields to read, at any depth; a field includes everything inside it, and as much of its parents as
            is needed.

    Returns:
        The fields.
    """
    return _prune(schema.fields, ids)


def _prune(fields: Sequence[NestedField], ids: frozenset[int]) -> tuple[NestedField, ...]:
    kept = []
    for field in fields:
        if field.id in ids:
            kept.append(field)
        elif isinstance(field.type, StructType):
            inner = _prune(field.type.fields, ids)
            if inner:
                kept.append(evolve(field, type=StructType(inner)))
    return tuple(kept)

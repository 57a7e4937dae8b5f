"""Rows to be written, with a value for every column of the schema (Schemas and Data Types; Default Values).

This is the definition, on one row; `spec_ref.columnar.schemas.written_rows` converts Arrow batches, whose types may be
wider than those of the schema.

Decided here, because the text leaves it open:

- A column that the input does not have takes its write default, otherwise null; a null of the input stays null.
- A column that the schema does not have is refused, because its values would be lost.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from spec_ref.core.errors import error_path, spec_error
from spec_ref.data_types.types import ListType, MapType, NestedField, StructType, Type
from spec_ref.data_types.values import check_required, check_value
from spec_ref.schemas.default_values import effective_write_default


def written_row(fields: Sequence[NestedField], row: Mapping[str, Any]) -> dict[int, Any]:
    """Convert a row of an input to the row that is written, with a value for every column (FIO003, DEF006).

    Args:
        fields: the columns of the schema.
        row: the values by the names of the columns, in the representation of `spec_ref.data_types.values`.

    Returns:
        A value for every column, by field id.

    Raises:
        SpecError: TYP002 for a column that the schema does not have; TYP002 to TYP004 for a required value that is
            null; DEF007 for a required value that is missing and has no write default; the code of the type for a value
            that is not of it.
    """
    check_column_names([field.name for field in fields], list(row))
    made = {}
    for field in fields:
        with error_path(f"/{field.name}"):
            made[field.id] = (
                _check_and_fill(field, row[field.name]) if field.name in row else effective_write_default(field)
            )
    return made


def check_column_names(known: Sequence[str], names: Sequence[str]) -> None:
    """Check the names of the columns of an input.

    Args:
        known: the names of the columns of the schema.
        names: the names of the columns of the input.

    Raises:
        SpecError: TYP002 for a name that the schema does not have, or that the input has twice.
    """
    seen: set[str] = set()
    for name in names:
        if name not in known:
            message = "the schema does not have the column"
            raise spec_error("TYP002", message, found=name, expected=", ".join(known) or "no columns")
        if name in seen:
            raise spec_error("TYP002", "the input has two columns with the same name", found=name)
        seen.add(name)


def _check_and_fill(field: NestedField, value: Any) -> Any:
    """Check the value of a field and fill in the fields of structs that it does not have."""
    value = _fill_defaults(field.type, value)
    check_required(field.type, value, required=field.required, requirement="TYP002")
    if value is not None:
        check_value(field.type, value)
    return value


def _fill_defaults(type_: Type, value: Any) -> Any:
    match type_, value:
        case StructType(fields), dict():
            missing = {field.id: effective_write_default(field) for field in fields if field.id not in value}
            known = {field.id: field.type for field in fields}
            return missing | {
                id_: _fill_defaults(known[id_], one) if id_ in known else one for id_, one in value.items()
            }
        case ListType(_, element), tuple():
            return tuple(_fill_defaults(element, one) for one in value)
        case MapType(_, key, _, item), tuple():
            return tuple((_fill_defaults(key, one), _fill_defaults(item, other)) for one, other in value)
        case _:
            return value

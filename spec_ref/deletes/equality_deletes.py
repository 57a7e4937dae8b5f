"""Equality Delete Files: rows deleted by the values of some columns (DEL017 to DEL023).

A row is deleted when it has in every delete column the value of some row of the delete file. Null is the value of
null. Where columns of types that identify no row are named, which writers must not do and readers bear (contradiction
A13), NaN is NaN and -0.0 is 0.0.

`is_deleted` decides about one row. `spec_ref.columnar.deletes.equality_deletes` finds the same rows of Arrow batches.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from spec_ref.errors import Violation, violation
from spec_ref.records import evolve, record
from spec_ref.schemas.schema import Column, Schema
from spec_ref.schemas.types import ListType, MapType, NestedField, StructType, Type, is_primitive, kind

# The columns


@record
class DeleteColumn:
    """A column that equality deletes compare."""

    id: int
    type: Type
    field: NestedField
    """The column with what is around it and nothing else, optional all along, to project data and delete files to."""

    names: tuple[str, ...]
    """The names on the way to it."""


def delete_column(field_id: int, schemas: Sequence[Schema]) -> DeleteColumn:
    """The column with an id, by the first schema that has it.

    Args:
        field_id: one of the ``equality_ids`` of a delete file.
        schemas: the schema that is read with, then those of the table from the newest on, where columns are found that
            were dropped (DEL022).

    Raises:
        SpecError: DEL017, if the table never had the column; DEL018, if it is not primitive or stands in a list or map.
    """
    column = next((found for schema in schemas if (found := schema.find(field_id)) is not None), None)
    if column is None:
        raise violation(
            "DEL017", "no schema of the table has the field of an equality id", found=field_id, aspect="unknown-field"
        )
    if not is_primitive(column.type):
        raise violation(
            "DEL018",
            "deletes compare primitive columns",
            found=f"{column.name}: {kind(column.type)}",
            aspect="not-primitive",
        )
    if any(isinstance(parent.type, (ListType, MapType)) for parent in column.parents):
        raise violation(
            "DEL018", "a delete column does not stand in a list or map", found=column.name, aspect="in-list-or-map"
        )
    return DeleteColumn(field_id, column.type, _alone(column), column.path)


def float_problem(column: DeleteColumn) -> Violation | None:
    """What a writer breaks that lets deletes compare floats; readers still apply them (contradiction A13)."""
    if kind(column.type) not in ("float", "double"):
        return None
    found = f"{'.'.join(column.names)}: {column.type}"
    return violation("DEL018", "deletes do not compare floats", found=found, aspect="float").violation


def _alone(column: Column) -> NestedField:
    """The column as an optional field, inside of optional structs that have no other field."""
    assert column.field is not None
    field = evolve(column.field, required=False)
    for parent in reversed(column.parents):
        assert parent.field is not None
        field = evolve(parent.field, required=False, type=StructType((field,)))
    return field


# The definition


def is_deleted(row: Sequence[Any], deletes: Iterable[Sequence[Any]]) -> bool:
    """Whether some delete has the row's value in every column.

    Args:
        row: the row's values of the delete columns.
        deletes: the values of the same columns in the rows of the delete files that apply.
    """
    return any(all(map(same, row, delete)) for delete in deletes)


def same(left: Any, right: Any) -> bool:
    """Whether two values of a column are the same to equality deletes (DEL019, DEL020)."""
    if left is None or right is None:
        return left is right
    if isinstance(left, float) and math.isnan(left):
        return math.isnan(right)
    return bool(left == right)

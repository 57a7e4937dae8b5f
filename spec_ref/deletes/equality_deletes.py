"""Equality Delete Files: rows deleted by the values of some columns (DEL017 to DEL023).

A row is deleted if it has the same value as some row of the delete file in every delete column. Null equals null, and a
column inside a null struct is null (DEL027). If columns are compared whose types cannot identify a row, which
writers must not do and readers tolerate (contradiction A13), NaN equals NaN and -0.0 equals 0.0.

`is_deleted` decides about one row. `spec_ref.columnar.deletes.equality_deletes` finds the same rows of Arrow batches.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from spec_ref.core.errors import Description, Violation, spec_error
from spec_ref.core.records import evolve, record
from spec_ref.data_types.types import ListType, MapType, NestedField, StructType, Type, is_primitive, kind
from spec_ref.schemas.latest_columns import latest_column
from spec_ref.schemas.schema import Column, Schema

# The columns


@record
class DeleteColumn:
    """A column that equality deletes compare."""

    id: int
    type: Type
    field: NestedField
    """The top-level field to project data and delete files to: optional at every level, with this column only."""

    names: tuple[str, ...]
    """The names of its path, from the top level."""


def delete_column(field_id: int, schemas: Sequence[Schema]) -> DeleteColumn:
    """Find the column that an equality id names.

    Args:
        field_id: one of the ``equality_ids`` of a delete file.
        schemas: the schema that the table is read with, then the schemas of the table, where columns are found that
            were dropped (DEL022), with their latest types (`spec_ref.schemas.latest_columns`).

    Returns:
        The column to compare.

    Raises:
        SpecError: DEL017 if the table never had the column; DEL018 if the column is not primitive or is in a list or
            map.
    """
    column = latest_column(field_id, schemas)
    if column is None:
        raise spec_error(
            "DEL017",
            "no schema of the table has the field with the equality id",
            found=field_id,
            aspect="unknown-field",
        )
    if not is_primitive(column.type):
        raise spec_error(
            "DEL018",
            "the delete column is not primitive",
            found=Description(f"{column.name}: {kind(column.type)}"),
            aspect="not-primitive",
        )
    if any(isinstance(parent.type, (ListType, MapType)) for parent in column.parents):
        raise spec_error(
            "DEL018", "the delete column is inside a list or map", found=column.name, aspect="in-list-or-map"
        )
    return DeleteColumn(field_id, column.type, _single_column_field(column), column.path)


def float_problem(column: DeleteColumn) -> Violation | None:
    """Find the writer's rule that a delete column of type float or double breaks.

    Readers still apply such deletes (contradiction A13).

    Args:
        column: the column that the deletes compare.

    Returns:
        The violation of DEL018; None for a column of any other type.
    """
    if kind(column.type) not in ("float", "double"):
        return None
    found = Description(f"{'.'.join(column.names)}: {column.type}")
    return spec_error("DEL018", "the delete column is a float or double", found=found, aspect="float").violation


def _single_column_field(column: Column) -> NestedField:
    """Build the column as an optional field, inside optional structs that have no other field."""
    assert column.field is not None
    field = evolve(column.field, required=False)
    for parent in reversed(column.parents):
        assert parent.field is not None
        field = evolve(parent.field, required=False, type=StructType((field,)))
    return field


# The definition


def is_deleted(row: Sequence[Any], deletes: Iterable[Sequence[Any]]) -> bool:
    """Decide whether equality deletes delete a row.

    Args:
        row: the row's values of the delete columns, in the order of the columns.
        deletes: for each row of the delete files that apply, the values of the same columns in the same order.

    Returns:
        Whether some delete has the row's value in every column.
    """
    return any(all(map(delete_values_equal, row, delete)) for delete in deletes)


def delete_values_equal(left: Any, right: Any) -> bool:
    """Decide whether equality deletes treat two values as equal (DEL019, DEL020).

    Args:
        left: a value of a delete column, or None for null.
        right: another value of the column, or None for null.

    Returns:
        True if both are null, both are NaN, or they are equal; -0.0 equals 0.0.
    """
    if left is None or right is None:
        return left is right
    if isinstance(left, float) and math.isnan(left):
        return math.isnan(right)
    return bool(left == right)

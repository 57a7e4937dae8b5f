"""Finding the latest form of columns, those that were dropped too (Schema Evolution; Table Metadata Fields).

The list of a table's schemas has no order, so that its last schema is not always the newest one that has a column. Its
type changes only by promotion, so that the latest type of a column is the one that the others promote to.
"""

from __future__ import annotations

from collections.abc import Sequence

from spec_ref.data_types.promotion import is_promotion
from spec_ref.schemas.schema import Column, Schema


def latest_column(field_id: int, schemas: Sequence[Schema]) -> Column | None:
    """Find a column in the first schema or, if that does not have it, with its latest type in the others.

    Args:
        field_id: the id of the column.
        schemas: the schema that decides, then those where columns are found that it does not have.

    Returns:
        The column; of several with the latest type, the first one. None if no schema has it.
    """
    latest: Column | None = None
    for place, schema in enumerate(schemas):
        column = schema.find(field_id)
        if column is not None and place == 0:
            return column
        if column is not None and (latest is None or is_promotion(latest.type, column.type)):
            latest = column
    return latest


def latest_columns(schemas: Sequence[Schema]) -> dict[int, Column]:
    """Find every column as `latest_column` does.

    Args:
        schemas: the schema that decides, then those where columns are found that it does not have.

    Returns:
        The columns, by id.
    """
    found: dict[int, Column] = {}
    for schema in schemas[1:]:
        for column in schema.columns():
            known = found.setdefault(column.id, column)
            if known.type is not column.type and is_promotion(known.type, column.type):
                found[column.id] = column
    return found | {column.id: column for schema in schemas[:1] for column in schema.columns()}

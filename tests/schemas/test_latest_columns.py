"""The latest form of a column does not depend on the order of a table's schemas."""

from __future__ import annotations

import itertools

import pytest

from spec_ref.data_types.types import DATE, INT, LONG, TIMESTAMP, UNKNOWN, DecimalType, NestedField, Type
from spec_ref.schemas.latest_columns import latest_column, latest_columns
from spec_ref.schemas.schema import Schema

ID = NestedField(1, "id", required=False, type=INT)
DROPPED = Schema((ID,), schema_id=9)


def schemas(*types: Type) -> list[Schema]:
    return [
        Schema((ID, NestedField(2, "b", required=False, type=one)), schema_id=place) for place, one in enumerate(types)
    ]


@pytest.mark.parametrize(
    "types",
    [(INT, LONG), (UNKNOWN, INT, LONG), (DATE, TIMESTAMP), (DecimalType(9, 2), DecimalType(18, 2), DecimalType(38, 2))],
    ids=str,
)
def test_a_dropped_column_has_the_type_that_the_others_promote_to(types: tuple[Type, ...]) -> None:
    for order in itertools.permutations(schemas(*types)):
        column = latest_column(2, (DROPPED, *order))
        assert column is not None
        assert column.type == types[-1]
        assert latest_columns((DROPPED, *order))[2] == column


def test_the_first_schema_decides() -> None:
    old, new = schemas(INT, LONG)
    for table in ((old, new), (old, new, old), (old,)):
        assert latest_column(2, table) == old.find(2)
        assert latest_columns(table) == {1: old.find(1), 2: old.find(2)}
    assert latest_column(3, (old, new)) is None
    assert latest_columns(()) == {}

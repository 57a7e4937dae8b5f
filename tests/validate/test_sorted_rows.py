"""Whether rows are sorted, compared with a model that sorts them all."""

from __future__ import annotations

import math
from typing import Any

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from conformance.validator.sorted_rows import SortKey, SortOrderCheck
from spec_ref.data_types.types import DOUBLE, LONG
from spec_ref.partitioning.transforms import Identity
from spec_ref.sorting.order import NullOrder, SortDirection, SortField

ROWS = st.lists(st.tuples(st.sampled_from([None, 1, 2]), st.sampled_from([-1.5, -0.0, 0.0, 2.0])), max_size=6)


def key(source: int, type_: Any, direction: SortDirection) -> SortKey:
    field = SortField(transform=Identity(), source_id=source, direction=direction, null_order=NullOrder.NULLS_FIRST)
    return SortKey(field, type_)


def rank(number: Any) -> tuple[Any, ...]:
    """Order a value as the spec does, null first, and -0.0 before 0.0."""
    return (0,) if number is None else (1, number, math.copysign(1, number))


def first_wrong(rows: list[tuple[Any, Any]]) -> tuple[int, Any, Any] | None:
    """Find the first row that should be before its predecessor, and the values that show it."""
    for row in range(1, len(rows)):
        (before, other_before), (here, other_here) = rows[row - 1], rows[row]
        if rank(before) != rank(here):
            if rank(before) > rank(here):
                return row, here, before
        elif rank(other_before) < rank(other_here):
            return row, other_here, other_before
    return None


@given(ROWS, st.integers(1, 6))
def test_the_first_row_in_the_wrong_place_is_found_with_its_values(rows: list[tuple[Any, Any]], size: int) -> None:
    checked = SortOrderCheck((key(1, LONG, SortDirection.ASC), key(2, DOUBLE, SortDirection.DESC)))
    for start in range(0, len(rows), size):
        longs, doubles = zip(*rows[start : start + size], strict=True)
        checked.add([pa.array(longs, pa.int64()), pa.array(doubles, pa.float64())])
    wrong = first_wrong(rows)
    assert checked.broken == (None if wrong is None else wrong[0])
    if wrong is not None:
        assert [repr(one) for one in checked.values] == [repr(one) for one in wrong[1:]]

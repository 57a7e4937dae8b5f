"""Neighbours are compared by the kernel as the definition compares them."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import pyarrow as pa
import pytest
from arrow_layouts import layouts
from hypothesis import given, settings
from hypothesis import strategies as st

from spec_ref.columnar.sorting.comparator import compare_neighbours, float_sort_keys
from spec_ref.partitioning.transforms import Identity
from spec_ref.sorting.comparator import compare_values, float_sort_key
from spec_ref.sorting.order import NullOrder, SortDirection, SortField

FIELDS = [
    SortField(transform=Identity(), source_id=1, direction=direction, null_order=nulls)
    for direction in SortDirection
    for nulls in NullOrder
]
COLUMNS = st.one_of(
    st.lists(st.none() | st.integers(-3, 3)).map(lambda values: pa.array(values, pa.int64())),
    st.lists(st.none() | st.text(st.sampled_from("aé€\U0001f600"), max_size=2)).map(
        lambda values: pa.array(values, pa.string())
    ),
    st.lists(st.none() | st.binary(max_size=2)).map(lambda values: pa.array(values, pa.binary())),
    st.lists(st.none() | st.decimals(-3, 3, places=1)).map(lambda values: pa.array(values, pa.decimal128(38, 1))),
    st.lists(st.none() | st.sampled_from([-(2**63), -1, 0, 2**63 - 1])).map(
        lambda values: pa.array(values, pa.int64())
    ),
    st.lists(st.none()).map(pa.array),
)


@pytest.mark.parametrize("field", FIELDS, ids=lambda field: f"{field.direction.value}-{field.null_order.value}")
@settings(max_examples=50)
@given(COLUMNS, st.data())
def test_neighbours_are_compared_as_the_definition_says(field: SortField, column: Any, data: st.DataObject) -> None:
    wanted = [compare_values(field, one, two) for one, two in pairwise(column.to_pylist())]
    assert compare_neighbours(field, data.draw(layouts(column, wider=True))).tolist() == wanted


@settings(max_examples=100)
@given(st.lists(st.floats() | st.sampled_from([math.copysign(math.nan, -1), -0.0, 0.0, math.nan])))
def test_floats_have_the_keys_of_the_definition(values: list[float]) -> None:  # SRT003, -NaN first
    keys = float_sort_keys(pa.array(values, pa.float64()))
    assert keys.tolist() == [float_sort_key(value) for value in values]

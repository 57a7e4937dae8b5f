"""Timestamps of ORC with nanoseconds, at every depth (ORC004)."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from conformance.validator.orc_nanoseconds import find_nanoseconds, has_micros
from spec_ref.data_types.types import (
    LONG,
    TIMESTAMP,
    TIMESTAMP_NS,
    TIMESTAMPTZ,
    ListType,
    MapType,
    NestedField,
    StructType,
    Type,
)

NS = pa.timestamp("ns")


def inside(*fields: tuple[str, Type]) -> StructType:
    return StructType(tuple(NestedField(number, name, False, type_) for number, (name, type_) in enumerate(fields)))


def found(type_: Type, rows: list[Any], arrow: Any) -> list[tuple[str, int]]:
    assert has_micros(type_)
    return list(find_nanoseconds(type_, pa.array(rows, arrow), "/c"))


@pytest.mark.parametrize(
    ("rows", "first"),
    [
        ([], None),
        ([None, 0, 1000, -1000, 1_500_000_000_000_000_000], None),
        ([None, 2000, 2001, 7], 2001),
        ([-1], -1),  # before 1970, too
        ([-(2**63), 1000], -(2**63)),  # 775,808 nanoseconds beyond a millisecond
        ([999], 999),
    ],
)
def test_the_first_value_that_is_no_whole_microsecond_is_found(rows: list[int | None], first: int | None) -> None:
    expected = [] if first is None else [("/c", first)]
    assert found(TIMESTAMP, rows, NS) == expected
    assert found(TIMESTAMPTZ, rows, pa.timestamp("ns", "UTC")) == expected


def test_values_of_nanoseconds_and_of_other_types_are_not_looked_at() -> None:
    assert not has_micros(TIMESTAMP_NS)
    assert not has_micros(inside(("a", LONG), ("b", ListType(5, TIMESTAMP_NS))))
    assert found(TIMESTAMP, [1], pa.timestamp("us")) == []  # decoded without pyarrow


def test_values_inside_of_structs_lists_and_maps_are_found_and_hidden_ones_are_not() -> None:
    type_ = inside(
        ("n", TIMESTAMP_NS),
        ("l", ListType(5, TIMESTAMP)),
        ("m", MapType(6, TIMESTAMP, 7, inside(("t", TIMESTAMP)))),
    )
    fields = [("n", NS), ("l", pa.list_(NS)), ("m", pa.map_(NS, pa.struct([("t", NS)])))]
    rows = [{"n": 1, "l": [1000, 1003], "m": [(4, {"t": 1000})]}, {"n": 1, "l": None, "m": [(1000, {"t": 5})]}, None]
    expected = [("/c/l/element", 1003), ("/c/m/key", 4), ("/c/m/value/t", 5)]
    assert found(type_, rows, pa.struct(fields)) == expected
    lists = pa.ListArray.from_arrays([0, 1, 2], pa.array([1, 1000], NS), mask=pa.array([True, False]))
    assert list(find_nanoseconds(ListType(5, TIMESTAMP), lists, "/c")) == []  # the value is behind a null list
    sliced = pa.array([[1], [1000]], pa.list_(NS)).slice(1)
    assert list(find_nanoseconds(ListType(5, TIMESTAMP), sliced, "/c")) == []
    maps = pa.array([[(1, 1)], [(1000, 1000)], [(2, 2)]], pa.map_(NS, NS)).slice(1, 1)
    assert list(find_nanoseconds(MapType(6, TIMESTAMP, 7, TIMESTAMP), maps, "/c")) == []

"""Equality deletes: rows with the values of a delete, by the definition and by the index (DEL017 to DEL023)."""

from __future__ import annotations

import math
import struct
import time
from collections.abc import Callable
from typing import Any
from unittest import mock

import numpy as np
import pyarrow as pa
import pytest
from arrow_layouts import batch_layouts, layouts
from hypothesis import given, settings
from hypothesis import strategies as st

from spec_ref.columnar.deletes import equality_deletes
from spec_ref.columnar.deletes.equality_deletes import EqualityDeleteSet, delete_column_array
from spec_ref.columnar.schemas.arrow_columns import arrow_type
from spec_ref.columnar.schemas.column_projection import arrow_values
from spec_ref.core.errors import SpecError
from spec_ref.data_types.types import (
    BOOLEAN,
    DOUBLE,
    FLOAT,
    INT,
    LONG,
    STRING,
    VARIANT,
    ListType,
    MapType,
    NestedField,
    StructType,
    Type,
)
from spec_ref.deletes.equality_deletes import delete_column, is_deleted
from spec_ref.manifests.data_file import FileContent
from spec_ref.scan_planning.delete_scope import is_old_enough
from spec_ref.schemas.schema import Schema
from tools.value_strategies import primitive_types, values


def find_deleted(
    types: list[Type],
    deletes: list[tuple[Any, ...]],
    rows: list[tuple[Any, ...]],
    laid_out: Callable[[Any], Any] = lambda array: array,
    **numbers: Any,
) -> list[bool]:
    sequence_numbers = numbers.get("sequence_numbers") or [2] * len(deletes)
    keys, values_ = ([laid_out(array) for array in columns(types, listed)] for listed in (deletes, rows))
    index = EqualityDeleteSet(types, keys, np.array(sequence_numbers, np.int64))
    return index.deleted_mask(values_, len(rows), numbers.get("sequence_number", 1)).tolist()


def columns(types: list[Type], rows: list[tuple[Any, ...]]) -> list[Any]:
    return [arrow_values(type_, [row[place] for row in rows]) for place, type_ in enumerate(types)]


@st.composite
def cases(draw: st.DrawFn) -> tuple[list[Type], list[tuple[Any, ...]], list[tuple[Any, ...]]]:
    """Types, deletes and rows, of few values so that many rows are deleted."""
    types = draw(st.lists(primitive_types(), min_size=1, max_size=3))
    pools = [[None, *draw(st.lists(values(type_), min_size=1, max_size=2))] for type_ in types]
    row = st.tuples(*map(st.sampled_from, pools))
    return types, draw(st.lists(row, max_size=5)), draw(st.lists(row, max_size=12))


@settings(max_examples=80)
@given(cases(), st.sampled_from([1, 3, 1 << 15]), st.data())
def test_index_finds_the_rows_of_the_definition(case: tuple[Any, ...], block_rows: int, data: st.DataObject) -> None:
    types, deletes, rows = case

    def laid_out(array: Any) -> Any:
        return data.draw(layouts(array, dictionary=True, chunked=True))

    with mock.patch.object(equality_deletes, "_BLOCK_ROWS", block_rows):
        assert find_deleted(types, deletes, rows, laid_out) == [is_deleted(row, deletes) for row in rows]


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(1, 4)), max_size=8), st.integers(0, 4))
def test_only_later_deletes_apply(deletes: list[tuple[int, int]], sequence_number: int) -> None:
    """As the rule says that planning and commits ask."""
    rows = [(number,) for number in range(5)]
    later = [(key,) for key, number in deletes if is_old_enough(sequence_number, FileContent.EQUALITY_DELETES, number)]
    numbers = [number for _, number in deletes]
    found = find_deleted(
        [LONG], [(key,) for key, _ in deletes], rows, sequence_numbers=numbers, sequence_number=sequence_number
    )
    assert found == [is_deleted(row, later) for row in rows]


@given(st.lists(st.integers(0, 9), max_size=20), st.lists(st.integers(0, 9), max_size=20))
def test_what_is_left_is_the_difference_of_sets(keys: list[int], rows: list[int]) -> None:
    mask = find_deleted([INT], [(key,) for key in keys], [(row,) for row in rows])
    left = [row for row, deleted in zip(rows, mask, strict=True) if not deleted]
    assert left == [row for row in rows if row not in set(keys)]


def test_keys_of_one_hash_are_reported_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(equality_deletes, "_hashes", lambda types, columns, rows: np.zeros(rows, np.uint64))
    deletes = [(1, "a"), (2, "b"), (2, "a"), (1, "a"), (None, "c")]
    rows = [(1, "a"), (1, "b"), (2, "b"), (None, "c"), (None, None)]
    numbers = [2, 2, 2, 3, 2]
    assert find_deleted([INT, STRING], deletes, rows, sequence_numbers=numbers) == [True, False, True, True, False]
    assert find_deleted([INT, STRING], deletes, rows, sequence_numbers=numbers, sequence_number=2) == [
        True,
        *[False] * 4,
    ]


def test_null_deletes_null_and_nothing_else() -> None:
    assert find_deleted([INT, STRING], [(None, "a")], [(None, "a"), (None, None), (0, "a"), (None, "b")]) == [
        True,
        False,
        False,
        False,
    ]


@pytest.mark.parametrize("type_", [FLOAT, DOUBLE])
def test_nan_is_nan_whatever_its_bits_and_zeros_are_equal(type_: Type) -> None:
    other = struct.unpack("<d", b"\x01\0\0\0\0\0\xf8\xff")[0]
    nan = pa.array(np.array([other, 1.0]).astype("f4" if type_ == FLOAT else "f8"))
    index = EqualityDeleteSet([type_], [arrow_values(type_, [math.nan, 0.0])], np.array([2, 2]))
    assert index.deleted_mask([nan], 2, 1).tolist() == [True, False]
    assert find_deleted([type_], [(0.0,)], [(-0.0,), (0.0,), (math.nan,)]) == [True, True, False]
    assert find_deleted([type_], [(-0.0,)], [(-0.0,), (0.0,)]) == [True, True]


def test_no_deletes_delete_nothing() -> None:
    assert find_deleted([INT], [], [(None,), (0,)]) == [False, False]


def test_chunked_and_dictionary_columns_are_read() -> None:
    index = EqualityDeleteSet([STRING], [pa.chunked_array([["a"], ["b"]])], np.array([2, 2]))
    rows = pa.array(["b", "c", "a"]).dictionary_encode()
    assert index.deleted_mask([rows], 3, 1).tolist() == [True, False, True]


# Columns


POINT = StructType((NestedField(2, "x", True, INT), NestedField(3, "y", True, INT)))
NOW = Schema((NestedField(1, "s", True, POINT), NestedField(4, "b", True, BOOLEAN)), schema_id=2)
BEFORE = Schema(
    (NestedField(5, "gone", True, INT, initial_default=7), NestedField(4, "old name", True, INT)), schema_id=1
)


def test_delete_column_is_optional_all_along() -> None:
    column = delete_column(3, (NOW,))
    assert (column.type, column.names) == (INT, ("s", "y"))
    assert column.field == NestedField(1, "s", False, StructType((NestedField(3, "y", False, INT),)))


def test_column_that_was_dropped_is_found_in_older_schemas() -> None:
    column = delete_column(5, (NOW, BEFORE))
    assert (column.names, column.field.initial_default) == (("gone",), 7)
    assert delete_column(4, (NOW, BEFORE)).names == ("b",)


def test_column_that_no_schema_has_is_refused() -> None:
    with pytest.raises(SpecError, match=r"DEL017.*found 9"):
        delete_column(9, (NOW, BEFORE))


@pytest.mark.parametrize("field_id", [1, 3, 4, 5, 6])
def test_columns_that_cannot_be_compared_are_refused(field_id: int) -> None:
    schema = Schema(
        (
            NestedField(1, "s", False, StructType((NestedField(2, "l", False, ListType(3, INT)),))),
            NestedField(7, "m", False, MapType(4, INT, 5, INT)),
            NestedField(6, "v", False, VARIANT),
        )
    )
    with pytest.raises(SpecError, match="DEL018"):
        delete_column(field_id, (schema,))


def test_column_is_null_where_a_parent_is_null() -> None:  # DEL027
    column = delete_column(3, (NOW,))
    array = arrow_values(column.field.type, [{3: 5}, None, {3: None}])
    batch = pa.RecordBatch.from_arrays([array], schema=pa.schema([("s", arrow_type(column.field.type))]))
    assert delete_column_array(column, batch, 0).to_pylist() == [5, None, None]


NESTED = StructType((NestedField(2, "t", False, StructType((NestedField(3, "y", False, STRING),))),))
IN_STRUCTS = Schema((NestedField(1, "s", False, NESTED),))


@given(st.lists(values(IN_STRUCTS.as_struct()), max_size=8), st.data())
def test_column_in_structs_has_the_value_of_each_row(rows: list[Any], data: st.DataObject) -> None:
    column = delete_column(3, (IN_STRUCTS,))
    batch = pa.RecordBatch.from_arrays([arrow_values(NESTED, [row[1] for row in rows])], ["s"])
    expected = [row[1] and row[1][2] and row[1][2][3] for row in rows]
    assert delete_column_array(column, data.draw(batch_layouts(batch)), 0).to_pylist() == expected


def test_time_does_not_grow_with_the_product_of_rows_and_deletes() -> None:
    rows = pa.array(np.arange(200_000))
    taken = {}
    for count in (1_000, 100_000):
        start = time.process_time()
        index = EqualityDeleteSet([LONG], [pa.array(np.arange(count) * 7)], np.full(count, 2))
        assert index.deleted_mask([rows], len(rows), 1).sum() == min(count, -(-200_000 // 7))
        taken[count] = time.process_time() - start
    assert taken[100_000] < 10  # the product of both takes minutes

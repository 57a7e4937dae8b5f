"""Position deletes: a set of positions by path (DEL012 to DEL015)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pytest
from arrow_layouts import batch_layouts
from hypothesis import given
from hypothesis import strategies as st

from spec_ref.columnar.deletes.deletion_vector import PositionBitmap
from spec_ref.columnar.deletes.position_deletes import PositionSet, merge_deletes, read_position_deletes
from spec_ref.core.errors import SpecError
from spec_ref.deletes.deletion_vector import MAX_POSITION, decode_deletion_vector, encode_deletion_vector
from spec_ref.deletes.position_deletes import deleted_positions

PATHS = ("s3://b/a", "s3://b/a ", "file:///b", "")
pairs = st.lists(st.tuples(st.sampled_from(PATHS), st.integers(0, 40)), max_size=30)


def batches(rows: list[tuple[str, int]], size: int) -> list[pa.RecordBatch]:
    return [
        pa.record_batch(
            {
                "file_path": pa.array([path for path, _ in rows[start : start + size]], pa.string()),
                "pos": pa.array([pos for _, pos in rows[start : start + size]], pa.int64()),
            }
        )
        for start in range(0, len(rows), size)
    ]


@given(st.lists(pairs, max_size=3), st.integers(1, 7), st.integers(0, 45), st.integers(0, 20), st.data())
def test_deleted_rows_are_those_of_the_definition(
    files: list[list[tuple[str, int]]], size: int, first: int, count: int, data: st.DataObject
) -> None:
    read = [read_position_deletes([data.draw(batch_layouts(batch)) for batch in batches(rows, size)]) for rows in files]
    for path in PATHS:
        expected = deleted_positions([row for rows in files for row in rows], path)
        mask = merge_deletes(read, path).deleted_mask(first, count)
        assert [first + place for place in np.flatnonzero(mask)] == sorted(expected & set(range(first, first + count)))


@given(
    st.sets(st.integers(0, 300)),
    st.integers(0, 300),
    st.integers(0, 50),
    st.sampled_from([0, 1 << 16, (1 << 32) - 150, MAX_POSITION - 400]),
)
def test_deletion_vector_and_position_deletes_of_the_same_rows_are_the_same(
    near: set[int], beyond: int, count: int, far: int
) -> None:
    positions, first = sorted(far + one for one in near), far + beyond
    vector = decode_deletion_vector(encode_deletion_vector(positions))
    files = [read_position_deletes(batches([("a", position) for position in positions], 10))]
    expected = [position in vector for position in range(first, first + count)]
    assert expected == [position in positions for position in range(first, first + count)]
    for deletes in (PositionBitmap(vector), merge_deletes(files, "a"), PositionSet(np.array(positions, np.int64))):
        assert deletes.deleted_mask(first, count).tolist() == expected


def test_order_and_repetition_do_not_matter() -> None:
    rows = [("a", 9), ("b", 1), ("a", 2), ("a", 9), ("a", 2)]
    assert read_position_deletes(batches(rows, 2))["a"].tolist() == [2, 9]


def test_path_is_compared_as_it_stands() -> None:
    rows = [("file:/x", 1), ("file:///x", 2), ("/x", 3), ("FILE:/x", 4), ("file:/%78", 5)]
    assert merge_deletes([read_position_deletes(batches(rows, 9))], "file:/x").positions.tolist() == [1]


@given(st.lists(st.tuples(st.sampled_from(PATHS), st.integers(-2, 9)), max_size=5), st.integers(1, 3))
def test_a_negative_position_is_refused_in_whichever_file(rows: list[tuple[str, int]], size: int) -> None:
    found = [
        refusal(lambda: read_position_deletes(batches(rows, size))),
        *(refusal(lambda path=path: deleted_positions(rows, path)) for path in PATHS),
    ]
    expected = "DEL013" if any(position < 0 for _, position in rows) else None
    assert found == [expected] * len(found)


def refusal(work: Callable[[], object]) -> str | None:
    try:
        work()
    except SpecError as error:
        return error.violation.requirement
    return None


def test_negative_position_is_refused() -> None:
    with pytest.raises(SpecError, match=r"/pos: DEL013: .*; found -1"):
        read_position_deletes(batches([("a", 3), ("a", -1)], 5))


def test_position_behind_the_file_deletes_nothing() -> None:
    read = read_position_deletes(batches([("a", 100)], 1))
    assert not merge_deletes([read], "a").deleted_mask(0, 100).any()


def test_files_of_others_delete_nothing() -> None:
    assert not merge_deletes([read_position_deletes(batches([("b", 0)], 1))], "a").deleted_mask(0, 3).any()
    assert not merge_deletes([], "a").deleted_mask(0, 3).any()

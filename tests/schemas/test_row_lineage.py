"""Row lineage: what rows inherit from their file, and what stands (LIN007, LIN008, LIN014)."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec_ref.schemas.row_lineage import last_updated, last_updates, row_id, row_ids

optional_longs = st.none() | st.integers(0, 99)


@pytest.mark.parametrize(
    ("stored", "first", "position", "expected"),
    [(None, 100, 7, 107), (3, 100, 7, 3), (0, 100, 7, 0), (None, 0, 0, 0), (None, None, 7, None), (3, None, 7, None)],
)
def test_row_id_is_stored_or_counted_from_the_first(
    stored: int | None, first: int | None, position: int, expected: int | None
) -> None:  # UPG009, UPG010
    assert row_id(stored, first, position) == expected


@pytest.mark.parametrize(
    ("stored", "first", "expected"), [(None, 100, 9), (3, 100, 3), (0, 0, 0), (None, None, None), (3, None, None)]
)
def test_last_update_is_stored_or_the_files(stored: int | None, first: int | None, expected: int | None) -> None:
    # UPG009, UPG010
    assert last_updated(stored, first, 9) == expected


@given(st.lists(st.tuples(optional_longs, st.integers(0, 99)), max_size=9), optional_longs, st.booleans())
def test_columns_are_as_rows(rows: list[tuple[int | None, int]], first: int | None, has_column: bool) -> None:  # LIN031
    stored = [value if has_column else None for value, _ in rows]
    column = pa.array(stored, pa.int64()) if has_column else None
    positions = [position for _, position in rows]
    assert row_ids(column, first, pa.array(positions, pa.int64())).to_pylist() == [
        row_id(value, first, position) for value, position in zip(stored, positions, strict=True)
    ]
    assert last_updates(column, first, 5, len(rows)).to_pylist() == [last_updated(v, first, 5) for v in stored]

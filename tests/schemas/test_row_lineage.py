"""Row lineage: what rows inherit from their file, and what stands (LIN007, LIN008, LIN014)."""

from __future__ import annotations

import pyarrow as pa
import pytest

from spec_ref.schemas.row_lineage import last_updates, row_ids


@pytest.mark.parametrize(
    ("stored", "first", "position", "expected"),
    [(None, 100, 7, 107), (3, 100, 7, 3), (0, 100, 7, 0), (None, 0, 0, 0), (None, None, 7, None), (3, None, 7, None)],
)
def test_row_id_is_stored_or_counted_from_the_first(
    stored: int | None, first: int | None, position: int, expected: int | None
) -> None:  # LIN031, UPG009, UPG010
    positions = pa.array([position, position], pa.int64())
    assert row_ids(pa.array([stored, stored], pa.int64()), first, positions).to_pylist() == [expected] * 2


@pytest.mark.parametrize(
    ("stored", "first", "expected"), [(None, 100, 9), (3, 100, 3), (0, 0, 0), (None, None, None), (3, None, None)]
)
def test_last_update_is_stored_or_the_files(stored: int | None, first: int | None, expected: int | None) -> None:
    # LIN031, UPG009, UPG010
    assert last_updates(pa.array([stored, stored], pa.int64()), first, 9, 2).to_pylist() == [expected] * 2


def test_rows_of_files_without_the_columns_inherit() -> None:  # LIN031
    positions = pa.array([0, 5], pa.int64())
    assert row_ids(None, 100, positions).to_pylist() == [100, 105]
    assert last_updates(None, 100, 9, 2).to_pylist() == [9, 9]
    assert row_ids(None, None, positions).to_pylist() == last_updates(None, None, 9, 2).to_pylist() == [None, None]

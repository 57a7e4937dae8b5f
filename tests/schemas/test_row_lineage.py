"""Row lineage: the values that rows inherit from their file or keep (LIN007, LIN008, LIN014)."""

from __future__ import annotations

import pytest

from spec_ref.row_lineage.reading import last_updated, row_id


@pytest.mark.parametrize(
    ("stored", "first", "position", "expected"),
    [(None, 100, 7, 107), (3, 100, 7, 3), (0, 100, 7, 0), (None, 0, 0, 0), (None, None, 7, None), (3, None, 7, None)],
)
def test_row_id_is_stored_or_counted_from_the_first(
    stored: int | None, first: int | None, position: int, expected: int | None
) -> None:  # LIN031, UPG009, UPG010
    assert row_id(stored, first, position) == expected


@pytest.mark.parametrize(
    ("stored", "first", "expected"), [(None, 100, 9), (3, 100, 3), (0, 0, 0), (None, None, None), (3, None, None)]
)
def test_last_update_is_stored_or_the_files(stored: int | None, first: int | None, expected: int | None) -> None:
    # LIN031, UPG009, UPG010
    assert last_updated(stored, first, 9) == expected

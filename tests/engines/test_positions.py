"""Positions become ranges with gaps between them; unsorted positions of an engine stay visible."""

from __future__ import annotations

import pytest

from conformance.adapter_sdk.positions import ranges


@pytest.mark.parametrize(
    ("positions", "expected"),
    [
        ([], []),
        ([7], [["7", "7"]]),
        ([0, 1, 2, 4], [["0", "2"], ["4", "4"]]),
        ([2**32 - 1, 2**32], [["4294967295", "4294967296"]]),
        ([5, 3], [["5", "5"], ["3", "3"]]),
        ([3, 3], [["3", "3"], ["3", "3"]]),
    ],
)
def test_positions_become_ranges_in_the_order_they_come(positions: list[int], expected: list[list[str]]) -> None:
    assert ranges(positions) == expected

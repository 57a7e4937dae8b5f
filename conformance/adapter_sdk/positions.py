"""Encode positions of deletion vectors for answers; only the standard library is imported."""

from __future__ import annotations

from collections.abc import Iterable

MAX_POSITIONS = 1 << 22
"""The maximum number of positions in an answer: vectors need no more, and listing them takes memory."""


def ranges(positions: Iterable[int]) -> list[list[str]]:
    """Convert positions to ranges in their given order, so that unsorted and repeated positions stay visible."""
    found: list[list[int]] = []
    for position in positions:
        if found and position == found[-1][1] + 1:
            found[-1][1] = position
        else:
            found.append([position, position])
    return [[str(first), str(last)] for first, last in found]

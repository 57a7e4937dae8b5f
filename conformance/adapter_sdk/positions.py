"""Positions of deletion vectors in answers; only the standard library is imported."""

from __future__ import annotations

from collections.abc import Iterable

MAX_POSITIONS = 1 << 22
"""Positions that an adapter lists: vectors ask for no more, and listing takes memory."""


def ranges(positions: Iterable[int]) -> list[list[str]]:
    """Positions as ranges, in the order they come: an engine's disorder and repetitions show."""
    found: list[list[int]] = []
    for position in positions:
        if found and position == found[-1][1] + 1:
            found[-1][1] = position
        else:
            found.append([position, position])
    return [[str(first), str(last)] for first, last in found]

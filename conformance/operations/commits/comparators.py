"""Answers of races: what the table is at the end, in any order."""

from __future__ import annotations

from conformance.operations.comparison import Comparator, unordered

COMPARATORS: dict[str, Comparator] = {
    "commit.replay": unordered(),
}
"""For each operation, what compares its answers."""

"""Compare the final state of the table after a race, ignoring the order of lists."""

from __future__ import annotations

from conformance.operations.comparison import Comparator, unordered_comparator

COMPARATORS: dict[str, Comparator] = {
    "commit.replay": unordered_comparator(),
}
"""The comparator of each operation."""

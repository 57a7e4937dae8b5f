"""Compare answers that are hashes."""

from __future__ import annotations

from conformance.operations.comparison import Comparator, compare_exact

COMPARATORS: dict[str, Comparator] = {
    "hash": compare_exact,
}
"""The comparator of each operation."""

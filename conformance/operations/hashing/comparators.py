"""Compare answers that are hashes."""

from __future__ import annotations

from conformance.operations.comparison import Comparator, exact

COMPARATORS: dict[str, Comparator] = {
    "hash": exact,
}
"""The comparator of each operation."""

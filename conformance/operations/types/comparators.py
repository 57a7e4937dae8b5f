"""Compare answers that are types."""

from __future__ import annotations

from conformance.operations.comparison import Comparator, compare_exact

COMPARATORS: dict[str, Comparator] = {
    "type.parse": compare_exact,
}
"""The comparator of each operation."""

"""Compare answers that are types."""

from __future__ import annotations

from conformance.operations.comparison import Comparator, exact

COMPARATORS: dict[str, Comparator] = {
    "type.parse": exact,
}
"""The comparator of each operation."""

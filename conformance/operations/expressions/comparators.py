"""Compare answers that are booleans."""

from __future__ import annotations

from conformance.operations.comparison import Comparator, compare_exact

COMPARATORS: dict[str, Comparator] = {
    "expression.evaluate": compare_exact,
    "metrics.evaluate": compare_exact,
    "projection.evaluate": compare_exact,
    "residual.evaluate": compare_exact,
    "summaries.evaluate": compare_exact,
}
"""The comparator of each operation."""

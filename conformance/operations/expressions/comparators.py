"""Compare answers that are booleans."""

from __future__ import annotations

from conformance.operations.comparison import Comparator, exact

COMPARATORS: dict[str, Comparator] = {
    "expression.evaluate": exact,
    "metrics.evaluate": exact,
    "projection.evaluate": exact,
    "residual.evaluate": exact,
    "summaries.evaluate": exact,
}
"""The comparator of each operation."""

"""Compare answers that are bounds."""

from __future__ import annotations

from conformance.operations.bounds.wire import bound_from_exchange, bound_to_exchange, bounds_equal
from conformance.operations.comparison import Comparator, Form, compare_hexadecimal, type_argument, typed_comparator

BOUND = Form(bound_from_exchange, bound_to_exchange, bounds_equal)

COMPARATORS: dict[str, Comparator] = {
    "bound.encode": compare_hexadecimal,
    "bound.decode": typed_comparator(type_argument, BOUND),
    "bound.truncate": typed_comparator(type_argument),
}
"""The comparator of each operation."""

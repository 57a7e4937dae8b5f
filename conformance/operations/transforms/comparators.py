"""Compare answers that are results of transforms."""

from __future__ import annotations

from typing import Any

from attrs import frozen

from conformance.operations.comparison import Comparator, Form, read_type, typed_comparator
from conformance.operations.wire import from_exchange, to_exchange, values_equal
from spec_ref.data_types.types import DATE, Type
from spec_ref.partitioning.transforms import parse_transform


@frozen
class Days:
    """The result of a day transform as an int, the days since the epoch, instead of a date."""

    count: int


def _result_from_exchange(type_: Type, json: Any) -> Any:
    # Older versions of the spec give the day transform the result type int (contradiction A5). Readers must accept it,
    # and a vector that accepts both shows which one an implementation chose.
    return Days(json) if type_ == DATE and type(json) is int else from_exchange(type_, json)


def _result_to_exchange(type_: Type, value: Any) -> Any:
    return value.count if isinstance(value, Days) else to_exchange(type_, value)


def _results_equal(type_: Type, left: Any, right: Any) -> bool:
    return left == right if isinstance(left, Days) or isinstance(right, Days) else values_equal(type_, left, right)


RESULT = Form(_result_from_exchange, _result_to_exchange, _results_equal)


def transform_result(args: dict[str, Any]) -> Type:
    """Return the result type of the transform in the arguments for its source type."""
    return parse_transform(args["transform"]).result_type(read_type(args["type"]))


COMPARATORS: dict[str, Comparator] = {
    "transform": typed_comparator(transform_result, RESULT),
}
"""The comparator of each operation."""

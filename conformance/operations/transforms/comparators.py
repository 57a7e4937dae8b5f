"""Answers that are results of transforms."""

from __future__ import annotations

from typing import Any

from attrs import frozen

from conformance.operations.comparison import Comparator, Form, read_type, typed
from conformance.operations.wire import from_exchange, to_exchange, values_equal
from spec_ref.data_types.types import DATE, Type
from spec_ref.partitioning.transforms import parse_transform


@frozen
class Days:
    """A result of the day transform as a number: an int of days since the epoch, where a date is asked for."""

    count: int


def _result_from_exchange(type_: Type, json: Any) -> Any:
    # Writers of older texts give the day transform the result type int (contradiction A5); readers have to take it, and
    # a vector that permits both shows which of them an implementation chose.
    return Days(json) if type_ == DATE and type(json) is int else from_exchange(type_, json)


def _result_to_exchange(type_: Type, value: Any) -> Any:
    return value.count if isinstance(value, Days) else to_exchange(type_, value)


def _results_equal(type_: Type, left: Any, right: Any) -> bool:
    return left == right if isinstance(left, Days) or isinstance(right, Days) else values_equal(type_, left, right)


RESULT = Form(_result_from_exchange, _result_to_exchange, _results_equal)


def transform_result(args: dict[str, Any]) -> Type:
    """The type of what the transform in the arguments makes of its source type."""
    return parse_transform(args["transform"]).result_type(read_type(args["type"]))


COMPARATORS: dict[str, Comparator] = {
    "transform": typed(transform_result, RESULT),
}
"""For each operation, what compares its answers."""

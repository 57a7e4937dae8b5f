"""Whether an answer is the one expected, and if not, where it differs.

Answers are compared as what they mean: a value in its type, bytes as bytes. Only where
an operation asks for JSON itself does the JSON count, and there an integer is not a float except where the type says
float or double.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import islice
from typing import Any, TypeAlias

from attrs import frozen

from conformance.exchange import from_exchange, to_exchange, values_equal
from conformance.exchange_bounds import bound_from_exchange, bound_to_exchange, bounds_equal
from conformance.protocol import dump_json, parse_json
from spec_ref.core.errors import SpecError
from spec_ref.data_types.types import BINARY, DATE, DOUBLE, FLOAT, FixedType, ListType, MapType, StructType, Type
from spec_ref.partitioning.transforms import parse_transform
from spec_ref.schemas.type_json import type_from_json

MAX_DIFFERENCES = 20
"""Differences of one answer that a result keeps."""


@frozen
class Absent:
    """Stands where one side has no value at all."""

    def __str__(self) -> str:
        return "nothing"


ABSENT = Absent()


@frozen
class Difference:
    """One place where an answer is not what is expected."""

    path: str
    """A JSON pointer into the answer; empty for the whole of it."""

    expected: Any
    got: Any

    def __str__(self) -> str:
        return f"{self.path or '(the answer)'}: expected {_shown(self.expected)}, got {_shown(self.got)}"


def _shown(value: Any) -> str:
    return str(value) if isinstance(value, Absent) else dump_json(value)


class Undecodable(Exception):
    """The answer does not stand for a value of its type; the message says why."""


@frozen
class Days:
    """A result of the day transform as a number: an int of days since the epoch, where a date is asked for."""

    count: int


Differences: TypeAlias = tuple[Difference, ...]
Comparator: TypeAlias = Callable[[dict[str, Any], Any, Any], Differences]
"""From the arguments, the expected answer and the answer to the differences; empty when they are the same."""


def same_json(expected: Any, got: Any) -> bool:
    """Whether two JSON values are the same, 1, 1.0 and true apart, and 0.0 and -0.0 apart."""
    return next(json_differences(expected, got), None) is None


def json_differences(expected: Any, got: Any, path: str = "") -> Iterator[Difference]:
    """The places where two JSON values differ, in the order of the expected one."""
    match expected, got:
        case dict(), dict():
            for key in expected if expected.keys() == got.keys() else {**expected, **got}:
                inner = f"{path}/{str(key).replace('~', '~0').replace('/', '~1')}"
                if key not in got:
                    yield Difference(inner, expected[key], ABSENT)
                elif key not in expected:
                    yield Difference(inner, ABSENT, got[key])
                else:
                    yield from json_differences(expected[key], got[key], inner)
        case list(), list():
            for index in range(max(len(expected), len(got))):
                left = expected[index] if index < len(expected) else ABSENT
                right = got[index] if index < len(got) else ABSENT
                if left is ABSENT or right is ABSENT:
                    yield Difference(f"{path}/{index}", left, right)
                else:
                    yield from json_differences(left, right, f"{path}/{index}")
        case float(), float():
            if expected != got or math.copysign(1, expected) != math.copysign(1, got):
                yield Difference(path, expected, got)
        case _:
            if type(expected) is not type(got) or expected != got:
                yield Difference(path, expected, got)


def _kept(differences: Iterator[Difference]) -> Differences:
    return tuple(islice(differences, MAX_DIFFERENCES))


def exact(_args: dict[str, Any], expected: Any, got: Any) -> Differences:
    """JSON as it stands."""
    return _kept(json_differences(expected, got))


def hexadecimal(_args: dict[str, Any], expected: Any, got: Any) -> Differences:
    """Bytes, whichever case their digits have."""
    return _kept(json_differences(expected.upper(), got.upper()))


@frozen
class Form:
    """How values of a type travel and compare."""

    read: Callable[[Type, Any], Any]
    write: Callable[[Type, Any], Any]
    equal: Callable[[Type, Any, Any], bool]


VALUE = Form(from_exchange, to_exchange, values_equal)
BOUND = Form(bound_from_exchange, bound_to_exchange, bounds_equal)


def _result_from_exchange(type_: Type, json: Any) -> Any:
    # Writers of older texts give the day transform the result type int (contradiction A5); readers have to take it, and
    # a vector that permits both tells which of them an implementation chose.
    return Days(json) if type_ == DATE and type(json) is int else from_exchange(type_, json)


def _result_to_exchange(type_: Type, value: Any) -> Any:
    return value.count if isinstance(value, Days) else to_exchange(type_, value)


def _results_equal(type_: Type, left: Any, right: Any) -> bool:
    return left == right if isinstance(left, Days) or isinstance(right, Days) else values_equal(type_, left, right)


RESULT = Form(_result_from_exchange, _result_to_exchange, _results_equal)


def typed(type_of: Callable[[dict[str, Any]], Type], form: Form = VALUE) -> Comparator:
    """Values, or bounds, of the type that ``type_of`` finds in the arguments; null is no value.

    A vector may permit an outcome that is no value of the type, say one that overflowed; that is compared as it stands.
    """

    def compare(args: dict[str, Any], expected: Any, got: Any) -> Differences:
        if expected is None or got is None or same_json(expected, got):
            return _kept(json_differences(expected, got))
        try:
            type_ = type_of(args)
            wanted = form.read(type_, expected)
        except SpecError:
            return _kept(json_differences(expected, got))
        try:
            value = form.read(type_, got)
        except SpecError as error:
            raise Undecodable(f"the answer is no {type_}: {error}") from None
        if form.equal(type_, wanted, value):
            return ()
        canonical = json_differences(form.write(type_, wanted), form.write(type_, value))
        return _kept(canonical) or (Difference("", expected, got),)

    return compare


def type_argument(args: dict[str, Any]) -> Type:
    """The type that the argument ``type`` spells."""
    return read_type(args["type"])


def transform_result(args: dict[str, Any]) -> Type:
    """The type of what the transform in the arguments makes of its source type."""
    return parse_transform(args["transform"]).result_type(read_type(args["type"]))


def read_type(json_type: Any) -> Type:
    """The type that a JSON type spells; the same spelling is read once."""
    return _read_type(dump_json(json_type))


@lru_cache(maxsize=4096)
def _read_type(text: str) -> Type:
    return type_from_json(parse_json(text.encode()))


def json_form(args: dict[str, Any], expected: Any, got: Any) -> Differences:
    """The JSON form of a value: as it stands, but for what the type leaves open (`_normal`)."""
    if same_json(expected, got):
        return ()
    try:
        type_ = type_argument(args)
    except SpecError:  # the vector permits what some make of a type that is none
        return _kept(json_differences(expected, got))
    return _kept(json_differences(_normal(type_, expected), _normal(type_, got)))


def _normal(type_: Type, value: Any) -> Any:
    """JSON with floats written as floats and hexadecimal digits in upper case, wherever the type has them."""
    match type_, value:
        case StructType(), dict():
            fields = {str(field.id): field.type for field in type_.fields}
            return {key: _normal(fields[key], item) if key in fields else item for key, item in value.items()}
        case ListType(), list():
            return [_normal(type_.element, item) for item in value]
        case MapType(), {"keys": list() as keys, "values": list() as values}:
            read = {
                "keys": [_normal(type_.key, key) for key in keys],
                "values": [_normal(type_.value, item) for item in values],
            }
            return {**value, **read}
        case FixedType(), str():
            return value.upper()
        case _, str() if type_ == BINARY:
            return value.upper()
        case _, int() if type_ in (FLOAT, DOUBLE) and not isinstance(value, bool) and abs(value) < 2**1000:
            return float(value)
        case _:
            return value

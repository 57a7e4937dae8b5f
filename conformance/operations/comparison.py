"""Compare an answer with the expected one, and report where they differ.

Answers are compared by meaning: a value in its type, bytes as bytes. JSON is compared
literally only if the operation asks for JSON; then an integer differs from a float unless the type is
float or double.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import islice
from typing import Any, TypeAlias

from attrs import frozen

from conformance.core.json_text import dump_json, parse_json
from conformance.core.moved_modules import renamed_member
from conformance.operations.wire import from_exchange, to_exchange, values_equal
from spec_ref.core.errors import SpecError
from spec_ref.data_types.types import Type
from spec_ref.schemas.type_json import type_from_json

MAX_DIFFERENCES = 20
"""The maximum number of differences in the result of one answer."""


@frozen
class Absent:
    """The type of `ABSENT`, which stands for a missing value."""

    def __str__(self) -> str:
        return "nothing"


ABSENT = Absent()


@frozen
class Difference:
    """One place where an answer differs from the expected one."""

    path: str
    """A JSON pointer into the answer; empty for the whole answer."""

    expected: Any
    got: Any

    def __str__(self) -> str:
        return f"{self.path or '(the answer)'}: expected {_show_value(self.expected)}, got {_show_value(self.got)}"


def _show_value(value: Any) -> str:
    return str(value) if isinstance(value, Absent) else dump_json(value)


class Undecodable(Exception):
    """The answer cannot be decoded as a value of its type; the message says why."""


Differences: TypeAlias = tuple[Difference, ...]
Comparator: TypeAlias = Callable[[dict[str, Any], Any, Any], Differences]
"""A function of the arguments, the expected answer and the actual one; returns the differences, none if they are
equal."""


def same_json(expected: Any, got: Any) -> bool:
    """Return whether two JSON values are equal; 1, 1.0 and true differ from each other, and so do 0.0 and -0.0."""
    return next(json_differences(expected, got), None) is None


def json_differences(expected: Any, got: Any, path: str = "") -> Iterator[Difference]:
    """Yield the places where two JSON values differ, in the order of the expected one."""
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


def first_differences(differences: Iterator[Difference]) -> Differences:
    """Return the first differences, at most `MAX_DIFFERENCES`."""
    return tuple(islice(differences, MAX_DIFFERENCES))


def compare_exact(_args: dict[str, Any], expected: Any, got: Any) -> Differences:
    """Compare JSON literally."""
    return first_differences(json_differences(expected, got))


def compare_hexadecimal(_args: dict[str, Any], expected: Any, got: Any) -> Differences:
    """Compare bytes in hexadecimal, ignoring the case of the digits."""
    return first_differences(json_differences(expected.upper(), got.upper()))


@frozen
class Form:
    """How values of a type are decoded and compared."""

    read: Callable[[Type, Any], Any]
    write: Callable[[Type, Any], Any]
    equal: Callable[[Type, Any, Any], bool]


VALUE = Form(from_exchange, to_exchange, values_equal)


def typed_comparator(type_of: Callable[[dict[str, Any]], Type], form: Form = VALUE) -> Comparator:
    """Return a comparator of values or bounds; ``type_of`` returns their type, given the arguments of the request.

    Null, and an expected answer that is not a value of the type (a vector may permit an overflowed one), are compared
    as JSON.
    """

    def compare(args: dict[str, Any], expected: Any, got: Any) -> Differences:
        if expected is None or got is None or same_json(expected, got):
            return first_differences(json_differences(expected, got))
        try:
            type_ = type_of(args)
            wanted = form.read(type_, expected)
        except SpecError:
            return first_differences(json_differences(expected, got))
        try:
            value = form.read(type_, got)
        except SpecError as error:
            raise Undecodable(f"the answer is not of type {type_}: {error}") from None
        if form.equal(type_, wanted, value):
            return ()
        canonical = json_differences(form.write(type_, wanted), form.write(type_, value))
        return first_differences(canonical) or (Difference("", expected, got),)

    return compare


def type_argument(args: dict[str, Any]) -> Type:
    """Return the type that the argument ``type`` spells."""
    return read_type(args["type"])


def read_type(json_type: Any) -> Type:
    """Return the type that a JSON type spells; each spelling is parsed only once."""
    return _read_type(dump_json(json_type))


@lru_cache(maxsize=4096)
def _read_type(text: str) -> Type:
    return type_from_json(parse_json(text.encode()))


def _sort_key(item: Any) -> str:
    return json.dumps(item, sort_keys=True)  # the members of an object have no order


def unordered_comparator(*names: str) -> Comparator:
    """Return a comparator that ignores the order of lists: of the members ``names``, or of the answer itself."""

    def form(value: Any) -> Any:
        if isinstance(value, list):
            return sorted(value, key=_sort_key)
        return {name: form(member) if name in names else member for name, member in value.items()}

    def compare(_args: dict[str, Any], expected: Any, got: Any) -> Differences:
        return first_differences(json_differences(form(expected), form(got)))

    return compare


_RENAMED = {
    "exact": "compare_exact",
    "hexadecimal": "compare_hexadecimal",
    "typed": "typed_comparator",
    "unordered": "unordered_comparator",
}


def __getattr__(name: str) -> Any:
    """Return a member by its old name; deprecated for one release."""
    return renamed_member(__name__, _RENAMED, name)

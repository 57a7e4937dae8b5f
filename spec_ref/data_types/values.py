"""The Python values that represent the values of each type (Primitive Types, Nested Types, Semi-structured Types).

=========================  ===========================================================================
type                       value
=========================  ===========================================================================
boolean                    ``bool``
int, long                  ``int``
float, double              ``float``; the value of a float is one that 32 bits hold
decimal(P, S)              ``decimal.Decimal`` with the exponent -S
date                       ``int``, days from 1970-01-01
time                       ``int``, microseconds from midnight
timestamp, timestamptz     ``int``, microseconds from 1970-01-01 (UTC)
timestamp(tz)_ns           ``int``, nanoseconds from 1970-01-01 (UTC)
string                     ``str`` without lone surrogates, which UTF-8 cannot hold
uuid                       ``uuid.UUID``
fixed(L), binary           ``bytes``
geometry, geography        ``bytes``, well-known binary
unknown                    ``None``, its only value
variant                    `spec_ref.encodings.variant.physical_types.Variant`
struct                     ``dict`` from field id to value; an optional field may be left out or ``None``
list                       ``tuple``
map                        ``tuple`` of (key, value) pairs
=========================  ===========================================================================

Null is ``None`` for every type. The field, element or map value decides whether null is allowed.
"""

from __future__ import annotations

import math
import struct
import uuid
from collections.abc import Callable, Hashable
from decimal import Decimal
from typing import Any

from spec_ref.core.calendar import MICROS_PER_DAY
from spec_ref.core.errors import error_path, spec_error
from spec_ref.core.records import record
from spec_ref.data_types.types import DecimalType, ListType, MapType, StructType, Type, kind
from spec_ref.encodings.geo.wkb import read_wkb
from spec_ref.encodings.variant.physical_types import Variant


@record
class _ValueRule:
    """The rule for the values of one type without children."""

    requirement: str
    expected: str
    holds: Callable[[Any, Any], bool]
    """Decides, from the type and a value, whether it is a value of the type."""


def _is_int(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _integer(requirement: str, low: int, high: int, meaning: str) -> _ValueRule:
    expected = f"an int from {low} to {high}: {meaning}"
    return _ValueRule(requirement, expected, lambda _, value: _is_int(value) and low <= value <= high)


def _signed(requirement: str, bits: int, meaning: str) -> _ValueRule:
    return _integer(requirement, -(1 << bits - 1), (1 << bits - 1) - 1, meaning)


def _is_decimal(type_: DecimalType, value: object) -> bool:
    if not isinstance(value, Decimal):
        return False
    _, digits, exponent = value.as_tuple()
    return exponent == -type_.scale and len(digits) <= type_.precision


def _is_text(_: Type, value: object) -> bool:
    if not isinstance(value, str):
        return False
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _is_binary32(_: Type, value: object) -> bool:
    return isinstance(value, float) and (math.isnan(value) or nearest_binary32(value) == value)


def _is_variant(_: Type, value: object) -> bool:
    return isinstance(value, Variant)


def _is_wkb(_: Type, value: object) -> bool:
    # Bytes that are not well-known binary raise the reader's own error, which says what is wrong with them.
    return isinstance(value, bytes) and read_wkb(value) is not None


_WKB = "bytes of well-known binary"

_RULES: dict[str, _ValueRule] = {
    "unknown": _ValueRule("TYP025", "null", lambda _, value: value is None),
    "boolean": _ValueRule("TYP008", "a bool", lambda _, value: isinstance(value, bool)),
    "int": _signed("TYP009", 32, "32 bits, signed"),
    "long": _signed("TYP010", 64, "64 bits, signed"),
    "float": _ValueRule("TYP011", "a float that 32 bits hold", _is_binary32),
    "double": _ValueRule("TYP012", "a float", lambda _, value: isinstance(value, float)),
    "decimal": _ValueRule("TYP013", "a Decimal of the type's scale and at most its precision", _is_decimal),
    "date": _signed("TYP015", 32, "days from 1970-01-01"),
    "time": _integer("TYP016", 0, MICROS_PER_DAY - 1, "microseconds from midnight"),
    "timestamp": _signed("TYP017", 64, "microseconds from 1970-01-01"),
    "timestamptz": _signed("TYP018", 64, "microseconds from 1970-01-01 UTC"),
    "timestamp_ns": _signed("TYP019", 64, "nanoseconds from 1970-01-01"),
    "timestamptz_ns": _signed("TYP020", 64, "nanoseconds from 1970-01-01 UTC"),
    "string": _ValueRule("TYP021", "a str that UTF-8 can hold", _is_text),
    "uuid": _ValueRule("TYP022", "a UUID", lambda _, value: isinstance(value, uuid.UUID)),
    "fixed": _ValueRule(
        "TYP023",
        "bytes of the type's length",
        lambda type_, value: isinstance(value, bytes) and len(value) == type_.length,
    ),
    "binary": _ValueRule("TYP024", "bytes", lambda _, value: isinstance(value, bytes)),
    "geometry": _ValueRule("TYP027", _WKB, _is_wkb),
    "geography": _ValueRule("TYP028", _WKB, _is_wkb),
    "variant": _ValueRule("TYP006", "a Variant", _is_variant),
}


def value_requirement(type_: Type) -> str:
    """Find the requirement that defines the values of a type.

    Args:
        type_: a type without children.

    Returns:
        The code of the requirement.
    """
    return _RULES[kind(type_)].requirement


def check_value(type_: Type, value: Any) -> None:
    """Check that a value is a value of a type; null is a value of ``unknown`` only.

    Args:
        type_: any type.
        value: the value, in the representation that this module defines.

    Raises:
        SpecError: TYP002 to TYP004 for a nested value, TYP006 for a variant, TYP008 to TYP028 for a primitive that is
            not a value of the type; the path is that of the place in a nested value.
    """
    match type_:
        case StructType():
            _check_struct(type_, value)
        case ListType(_, element, required):
            if not isinstance(value, tuple):
                raise spec_error("TYP003", "the value is not a list", found=value, expected="a tuple of elements")
            for index, item in enumerate(value):
                with error_path(f"/{index}"):
                    _check_child(element, item, required=required, requirement="TYP003")
        case MapType():
            _check_map(type_, value)
        case _:
            rule = _RULES[kind(type_)]
            if not rule.holds(type_, value):
                raise spec_error(
                    rule.requirement, f"the value is not a valid {type_}", found=value, expected=rule.expected
                )


def check_required(type_: Type, value: Any, *, required: bool, requirement: str) -> None:
    """Check that a required field, element, key or map value is not null.

    Args:
        type_: its type.
        value: its value, or None.
        required: whether null is not allowed.
        requirement: the code to raise.

    Raises:
        SpecError: ``requirement`` if a required value is null.
    """
    if value is None and required:
        raise spec_error(requirement, "a required value is null", expected=f"a value of {kind(type_)}")


def _check_child(type_: Type, value: Any, *, required: bool, requirement: str) -> None:
    check_required(type_, value, required=required, requirement=requirement)
    if value is not None:
        check_value(type_, value)


def _check_struct(type_: StructType, value: Any) -> None:
    if not isinstance(value, dict):
        raise spec_error("TYP002", "the value is not a struct", found=value, expected="a dict by field id")
    for field in type_.fields:
        with error_path(f"/{field.id}"):
            _check_child(field.type, value.get(field.id), required=field.required, requirement="TYP002")
    unknown = value.keys() - {field.id for field in type_.fields}
    if unknown:
        raise spec_error("TYP002", "the struct does not have the field of a value", found=min(unknown, key=repr))


def _check_map(type_: MapType, value: Any) -> None:
    if not isinstance(value, tuple) or not all(isinstance(pair, tuple) and len(pair) == 2 for pair in value):
        raise spec_error("TYP004", "the value is not a map", found=value, expected="a tuple of (key, value) pairs")
    for index, (key, item) in enumerate(value):
        with error_path(f"/keys/{index}"):
            _check_child(type_.key, key, required=True, requirement="TYP004")
        with error_path(f"/values/{index}"):
            _check_child(type_.value, item, required=type_.value_required, requirement="TYP004")
    check_unique_keys(type_, tuple(key for key, _ in value))


def check_unique_keys(type_: MapType, keys: tuple[Any, ...]) -> None:
    """Check that no key of a map is repeated.

    Args:
        type_: the type of the map.
        keys: the keys, in the order of the entries.

    Raises:
        SpecError: TYP004 if two keys are the same value.
    """
    seen: set[Hashable] = set()
    for index, key in enumerate(keys):
        identity = value_key(type_.key, key)
        if identity in seen:
            raise spec_error("TYP004", "the map has a repeated key", found=key, path=f"/keys/{index}")
        seen.add(identity)


def value_key(type_: Type, value: Any) -> Hashable:
    """Make a hashable key that two values of a type share exactly when they are the same value.

    Every NaN is the same value; -0.0 and 0.0 differ, because they are stored differently, and decimals of different
    scales differ, too. The order of the entries of a map does not matter.

    Args:
        type_: the type of the value.
        value: a value of the type, or None.

    Returns:
        The key.
    """
    if value is None:
        return None
    match type_:
        case StructType(fields):
            return tuple(value_key(field.type, value.get(field.id)) for field in fields)
        case ListType(_, element):
            return tuple(value_key(element, item) for item in value)
        case MapType():
            return frozenset((value_key(type_.key, key), value_key(type_.value, item)) for key, item in value)
        case _ if isinstance(value, float):
            return "NaN" if math.isnan(value) else struct.pack(">d", value)
        case _ if isinstance(value, Decimal):
            return value.as_tuple().exponent, value
        case _:
            return value  # type: ignore[no-any-return]


def nearest_binary32(value: float) -> float:
    """Round a number to the nearest 32-bit float.

    Args:
        value: a number.

    Returns:
        The float; an infinity if the number is beyond the largest one.
    """
    try:
        nearest: float = struct.unpack("<f", struct.pack("<f", value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)
    return nearest

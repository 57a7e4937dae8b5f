"""Align constants with the type of the value that they are compared with (Iceberg Expressions, Comparisons).

A constant is aligned exactly or not at all (EXP006, EXP024). If the type of the value cannot represent it (5.5 for an
int, a number beyond the type's range, a decimal of more digits), the comparison uses the nearest value that the type
can represent, or its result is the same for all values.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from spec_ref.core.calendar import UNITS_PER_DAY
from spec_ref.core.errors import Description, spec_error
from spec_ref.core.records import record
from spec_ref.data_types.decimals import decimal_from_unscaled
from spec_ref.data_types.types import FLOAT, STRING, DecimalType, Type, is_primitive, kind
from spec_ref.expressions.alignment import can_align
from spec_ref.expressions.bound import BoundComparison, BoundPredicate, BoundSetTest, BoundTerm, BoundTest
from spec_ref.expressions.predicates import FALSE, PREFIX, TRUE, Literal, Operation
from spec_ref.single_value.json_value import from_json

_O = Operation

_FAMILIES: dict[str, str] = {
    **dict.fromkeys(("int", "long", "float", "double"), "number"),
    "decimal": "decimal",
    **dict.fromkeys(("date", "timestamp", "timestamp_ns"), "instant"),
}
"""The types whose constants are compared by number."""

_NO_ORDER = frozenset({"geometry", "geography"})
_MAX_DIGITS = 100
_DECIMAL = re.compile(r"-?[0-9]{1,100}(?:\.[0-9]{1,100})?(?:[eE][+-]?[0-9]{1,2})?")


@record
class _Between:
    """A number that the type cannot represent, between the two nearest values that it can; None beyond its range."""

    below: Any
    above: Any


def check_comparable(type_: Type) -> None:
    """Check that the values of a type have an order, so that they can be compared (EXP008).

    Args:
        type_: the type of a term.

    Raises:
        SpecError: EXP008 for nested types, variant, geometry and geography.
    """
    if not is_primitive(type_) or kind(type_) in _NO_ORDER:
        raise spec_error(
            "EXP008", "the type is not comparable", found=Description(str(type_)), expected="a primitive type"
        )


def bind_comparison(operation: Operation, term: BoundTerm, literal: Literal) -> BoundPredicate:
    """Bind the comparison of a term with a constant.

    Args:
        operation: an ordered comparison or a prefix test.
        term: the bound left side.
        literal: the constant on the right side.

    Returns:
        The bound comparison; a simpler predicate if the term's type cannot represent the constant.

    Raises:
        SpecError: EXP006 if the types cannot be aligned; EXP007 for a prefix test of a term that is not a string;
            EXP008 if the type has no order; EXP009 for a null constant; the code of the type if the constant is not a
            value of it.
    """
    if literal.value is None:
        raise spec_error("EXP009", "the constant of a comparison is null")
    if operation in PREFIX and term.type != STRING:
        message = "values of the type have no prefixes"
        raise spec_error("EXP007", message, found=Description(str(term.type)), expected="string")
    check_comparable(term.type)
    if kind(term.type) == "unknown":  # always null
        return TRUE if operation in (_O.NOT_EQ, _O.NOT_STARTS_WITH) else FALSE
    value = _align(term.type, literal)
    return (
        _bind_nearest(operation, term, value)
        if isinstance(value, _Between)
        else BoundComparison(operation, term, value)
    )


def bind_set_test(operation: Operation, term: BoundTerm, literals: tuple[Literal, ...]) -> BoundPredicate:
    """Bind the test of whether a term is in a set of constants; a constant outside of the type equals no value.

    Args:
        operation: `Operation.IN` or `Operation.NOT_IN`.
        term: the bound term.
        literals: the constants.

    Returns:
        The bound test; a comparison for one constant, and true or false for none.

    Raises:
        SpecError: EXP007 for a null constant or constants of several types; EXP006, EXP008 or the code of the type, as
            `bind_comparison`.
    """
    if any(literal.value is None for literal in literals):
        raise spec_error("EXP007", "a constant of the set is null")
    if len({literal.type for literal in literals}) > 1:
        raise spec_error(
            "EXP007", "the constants of the set have different types", found=[str(one.type) for one in literals]
        )
    check_comparable(term.type)
    among = operation is _O.IN
    if kind(term.type) == "unknown":
        return FALSE if among else TRUE
    values: list[Any] = []
    seen = set()
    for literal in literals:
        value = _align(term.type, literal)
        if not isinstance(value, _Between) and value not in seen:  # values that are equal have equal hashes
            seen.add(value)
            values.append(value)
    if not values:
        return FALSE if among else TRUE
    if len(values) == 1:
        return BoundComparison(_O.EQ if among else _O.NOT_EQ, term, values[0])
    return BoundSetTest(operation, term, tuple(values))


def _bind_nearest(operation: Operation, term: BoundTerm, value: _Between) -> BoundPredicate:
    if operation in (_O.EQ, _O.NOT_EQ):
        return FALSE if operation is _O.EQ else TRUE
    if operation in (_O.LT, _O.LT_EQ):
        towards, reach, beyond = _O.LT_EQ, value.below, value.above
    else:
        towards, reach, beyond = _O.GT_EQ, value.above, value.below
    if reach is None:
        return FALSE
    # Every value of the type matches, and null does not.
    return BoundTest(_O.NOT_NULL, term) if beyond is None else BoundComparison(towards, term, reach)


def _align(type_: Any, literal: Literal) -> Any:
    """Align a constant with a type: return the value of the type, or the nearest values below and above."""
    family = _FAMILIES.get(kind(type_))
    if literal.type is None:
        exact = _UNTYPED[family](type_, literal.value) if family in _UNTYPED else None
        return from_json(type_, literal.value) if exact is None else _value_or_neighbours(type_, exact)
    if literal.type == type_:
        return from_json(type_, literal.value)
    if family is None or not (family == kind(literal.type) or can_align(literal.type, type_)):
        raise spec_error(
            "EXP006", f"a constant of type {literal.type} cannot be compared with {type_}", found=literal.value
        )
    exact = _NUMBER[family](literal.type, from_json(literal.type, literal.value))
    return _value_or_neighbours(type_, exact)


def _untyped_number(type_: Type, json: Any) -> Fraction | None:
    """Return the exact number, if the JSON form of the type cannot represent it: a fraction, or out of range."""
    if isinstance(json, bool) or not isinstance(json, (int, float)) or not _finite(json):
        return None
    number = Fraction(json)
    if kind(type_) in ("int", "long"):
        return number
    # Compared with a float, 0.1 means the nearest float, so only a number that rounds to an infinity is out of range.
    largest = _LARGEST_FLOAT if type_ == FLOAT else _LARGEST_DOUBLE
    return number if abs(number) > largest else None


def _finite(json: float) -> bool:
    return isinstance(json, int) or math.isfinite(json)


def _untyped_decimal(_: Type, json: Any) -> Fraction | None:
    """Read a decimal of any scale; of JSON numbers only integers, as a fraction is not exact in binary."""
    if isinstance(json, int) and not isinstance(json, bool):
        return Fraction(json)
    if isinstance(json, str) and len(json) <= 2 * _MAX_DIGITS and _DECIMAL.fullmatch(json):
        return Fraction(json)
    return None


_UNTYPED: dict[str | None, Callable[[Any, Any], Fraction | None]] = {
    "number": _untyped_number,
    "decimal": _untyped_decimal,
}
"""The families whose untyped constants may have other forms than the JSON single value of the type."""

_NUMBER: dict[str, Callable[[Any, Any], Fraction]] = {
    "number": lambda _, value: Fraction(value),
    "decimal": lambda _, value: Fraction(value),
    "instant": lambda type_, value: Fraction(value, UNITS_PER_DAY[kind(type_)]),
}
"""Converts a value of a family to its number; instants are in days."""

_LARGEST_DOUBLE = Fraction(math.nextafter(math.inf, 0))
_LARGEST_FLOAT = Fraction(struct.unpack("<f", b"\xff\xff\x7f\x7f")[0])


def _value_or_neighbours(type_: Any, number: Fraction) -> Any:
    """Find the value of the type that equals the number exactly, or the nearest ones."""
    if kind(type_) in ("float", "double"):
        return _float_around(type_, number)
    per_one = Fraction(10) ** type_.scale if isinstance(type_, DecimalType) else UNITS_PER_DAY.get(kind(type_), 1)
    units = number * per_one
    below, above = math.floor(units), math.ceil(units)
    least, greatest = unit_range(type_)
    make = (lambda count: decimal_from_unscaled(type_, count)) if isinstance(type_, DecimalType) else int
    if above < least:
        return _Between(None, make(least))
    if below > greatest:
        return _Between(make(greatest), None)
    if below == above:
        return make(below)
    return _Between(make(below) if below >= least else None, make(above) if above <= greatest else None)


def unit_range(type_: Any) -> tuple[int, int]:
    """Find the range of the values of an integer, instant or decimal type, counted in its unit.

    Args:
        type_: int, long, date, a timestamp type, or a decimal, whose unit is the unscaled value.

    Returns:
        The least and the greatest value in units, both inclusive.
    """
    if isinstance(type_, DecimalType):
        greatest: int = 10**type_.precision - 1
        return -greatest, greatest
    bits = 31 if kind(type_) in ("int", "date") else 63
    return -(1 << bits), (1 << bits) - 1


def _float_around(type_: Type, number: Fraction) -> Any:
    infinity = math.inf if number > 0 else -math.inf  # a number that is this large may not have a float
    value = infinity if abs(number) > _LARGEST_DOUBLE else float(number)
    if math.isfinite(value) and Fraction(value) == number and _fits_type(type_, value):
        return value
    below = _neighbour(type_, value, number, upward=False)
    return _Between(below, _neighbour(type_, value, number, upward=True))


def _fits_type(type_: Type, value: float) -> bool:
    return type_ != FLOAT or _to_binary32(value, upward=True) == value


def _neighbour(type_: Type, value: float, number: Fraction, *, upward: bool) -> float:
    """Find the nearest value of the type above or below a number whose nearest double is ``value``."""
    if math.isfinite(value):
        beyond = Fraction(value) >= number if upward else Fraction(value) <= number
        double = value if beyond else math.nextafter(value, math.inf if upward else -math.inf)
    else:
        outward = (value > 0) is upward
        double = value if outward else math.nextafter(value, 0)
    return _to_binary32(double, upward=upward) if type_ == FLOAT else double


def _to_binary32(value: float, *, upward: bool) -> float:
    """Find the nearest 32-bit float that is not below (``upward``) or not above a double."""
    if math.isinf(value):
        return value if (value > 0) is upward else math.copysign(float(_LARGEST_FLOAT), value)
    if abs(value) > _LARGEST_FLOAT:
        outward = (value > 0) is upward
        return math.copysign(math.inf if outward else float(_LARGEST_FLOAT), value)
    (bits,) = struct.unpack("<i", struct.pack("<f", value))
    near: float = struct.unpack("<f", struct.pack("<i", bits))[0]
    if near == value or (near > value) is upward:
        return near
    # The bits of floats with one sign, as integers, have the order of their magnitudes.
    grows = upward is (value > 0)
    step = bits + (1 if grows else -1)
    result: float = struct.unpack("<f", struct.pack("<i", step))[0]
    return result

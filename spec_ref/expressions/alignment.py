"""Align the types of values that are compared (Iceberg Expressions, Value expression types, Comparisons).

Types are aligned by type promotion. The spec's own example compares an int with 5.0, which no promotion allows; an int
is aligned with float and double in comparisons only (contradiction B28), as double, which represents every int.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from spec_ref.core.calendar import MICROS_PER_DAY, NANOS_PER_DAY
from spec_ref.core.errors import spec_error
from spec_ref.data_types.types import (
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    LONG,
    TIMESTAMP,
    TIMESTAMP_NS,
    UNKNOWN,
    DecimalType,
    PrimitiveType,
    Type,
    kind,
)
from spec_ref.data_types.values import check_value
from spec_ref.expressions.bound import BoundPromotion, BoundTerm


def _as_is(value: Any) -> Any:
    return value


def _days(type_: Type, units: int) -> Callable[[int], int]:
    def promote(days: int) -> int:
        value = days * units
        check_value(type_, value)
        return value

    return promote


_PROMOTIONS: dict[tuple[PrimitiveType, PrimitiveType], Callable[[Any], Any]] = {
    (INT, LONG): _as_is,
    (INT, DOUBLE): float,
    (FLOAT, DOUBLE): _as_is,
    (DATE, TIMESTAMP): _days(TIMESTAMP, MICROS_PER_DAY),
    (DATE, TIMESTAMP_NS): _days(TIMESTAMP_NS, NANOS_PER_DAY),
}
"""The conversion of a value, by its type and the type that it is promoted to."""

_KINDS = {frozenset((narrow.name, wide.name)) for narrow, wide in _PROMOTIONS} | {frozenset(("int", "float"))}


def can_align(left: Type, right: Type) -> bool:
    """Decide whether values of two different types without parameters can be compared.

    Args:
        left: a type.
        right: another type.

    Returns:
        Whether the types can be aligned.
    """
    return frozenset((kind(left), kind(right))) in _KINDS


def align_terms(left: BoundTerm, right: BoundTerm) -> tuple[BoundTerm, BoundTerm]:
    """Align two terms to one type.

    Args:
        left: a bound term.
        right: another bound term.

    Returns:
        Both terms, promoted to the same type.

    Raises:
        SpecError: EXP006 if no promotion gives them the same type.
    """
    for type_ in (left.type, right.type, DOUBLE):
        wide = _promoted(left, type_), _promoted(right, type_)
        if wide[0] is not None and wide[1] is not None:
            return wide[0], wide[1]
    raise spec_error("EXP006", "the types cannot be promoted to a common type", found=f"{left.type} and {right.type}")


def _promoted(term: BoundTerm, type_: Type) -> BoundTerm | None:
    """Promote a term to a type; None if there is no such promotion."""
    if term.type == type_:
        return term
    if term.type == UNKNOWN:  # null, as a value of any type
        return BoundPromotion(term, _as_is, type_)
    match term.type, type_:
        case DecimalType(narrow, scale), DecimalType(wide, same) if narrow < wide and scale == same:
            return BoundPromotion(term, _as_is, type_)
        case PrimitiveType(), PrimitiveType():
            promote = _PROMOTIONS.get((term.type, type_))
            return None if promote is None else BoundPromotion(term, promote, type_)
        case _:
            return None

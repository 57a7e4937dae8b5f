"""Types that are aligned where values are compared (Iceberg Expressions, Value expression types, Comparisons).

They are aligned by type promotion. The text's own example compares an int with 5.0, which no promotion does; an int is
aligned with float and double in comparisons alone (contradiction B28), as double, which holds every int.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from spec_ref.calendar import MICROS_PER_DAY, NANOS_PER_DAY
from spec_ref.errors import violation
from spec_ref.expressions.bound import BoundPromotion, BoundTerm
from spec_ref.schemas.types import (
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
from spec_ref.schemas.values import check_value


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
"""The function of a value by the type it has and the type it gets."""

_KINDS = {frozenset((narrow.name, wide.name)) for narrow, wide in _PROMOTIONS} | {frozenset(("int", "float"))}


def aligned_kind(left: Type, right: Type) -> bool:
    """Whether values of two different types without parameters are compared."""
    return frozenset((kind(left), kind(right))) in _KINDS


def aligned(left: BoundTerm, right: BoundTerm) -> tuple[BoundTerm, BoundTerm]:
    """Two terms as values of one type.

    Raises:
        SpecError: EXP006 where no promotion makes the types one.
    """
    for type_ in (left.type, right.type, DOUBLE):
        wide = _promoted(left, type_), _promoted(right, type_)
        if wide[0] is not None and wide[1] is not None:
            return wide[0], wide[1]
    raise violation("EXP006", "no promotion makes the types one", found=f"{left.type} and {right.type}")


def _promoted(term: BoundTerm, type_: Type) -> BoundTerm | None:
    """The term as a value of the type; None where that is no promotion."""
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

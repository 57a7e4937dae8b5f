"""Align the types of values that are compared (Iceberg Expressions, Value expression types, Comparisons).

Types are aligned by type promotion. The spec's own example compares an int with 5.0, which no promotion allows; an int
is aligned with float and double in comparisons only (contradiction B28), as double, which represents every int.
"""

from __future__ import annotations

from itertools import permutations

from spec_ref.core.errors import Description, spec_error
from spec_ref.data_types.promotion import is_promotion
from spec_ref.data_types.types import DOUBLE, INT, PLAIN_PRIMITIVES, UNKNOWN, Type, kind
from spec_ref.expressions.bound import BoundPromotion, BoundTerm


def _can_compare_as(type_: Type, wide: Type) -> bool:
    """Decide whether values of a type can be compared as another one; null is a value of any type."""
    return type_ in (wide, UNKNOWN) or is_promotion(type_, wide) or (type_, wide) == (INT, DOUBLE)


_KINDS = {
    frozenset((kind(one), kind(other)))
    for one, other in permutations((type_ for type_ in PLAIN_PRIMITIVES.values() if type_ != UNKNOWN), 2)
    if any(_can_compare_as(one, wide) and _can_compare_as(other, wide) for wide in (one, other, DOUBLE))
}


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
        wide = _promote(left, type_), _promote(right, type_)
        if wide[0] is not None and wide[1] is not None:
            return wide[0], wide[1]
    raise spec_error(
        "EXP006", "the types cannot be promoted to a common type", found=Description(f"{left.type} and {right.type}")
    )


def _promote(term: BoundTerm, type_: Type) -> BoundTerm | None:
    """Promote a term to a type; None if there is no such promotion."""
    if term.type == type_:
        return term
    return BoundPromotion(term, type_) if _can_compare_as(term.type, type_) else None

"""Rewrite predicates into equivalent ones (Iceberg Expressions, Boolean logic)."""

from __future__ import annotations

from typing import Any

from spec_ref.core.records import evolve
from spec_ref.expressions.bound import BoundPredicate, BoundTerm, BoundTermComparison, BoundTest, has_nan
from spec_ref.expressions.predicates import (
    COMPLEMENT,
    TRUE,
    And,
    Comparison,
    Constant,
    Literal,
    Not,
    Operation,
    Or,
    Predicate,
    SetTest,
    Test,
    and_,
    not_,
    or_,
)

_O = Operation

_OPPOSITE: dict[Operation, Operation] = {_O.LT: _O.GT_EQ, _O.LT_EQ: _O.GT, _O.GT: _O.LT_EQ, _O.GT_EQ: _O.LT}
"""The inequality that is true, apart from null and NaN, exactly where another one is false."""


def rewrite_not(predicate: BoundPredicate) -> BoundPredicate:
    """Rewrite a predicate so that it has no Not.

    ``NOT x < 5`` is ``x >= 5 OR x IS NULL``, and for floats ``OR x IS NaN``: logic is two-valued, so a comparison that
    is false for null is true for it once negated (EXP012). Iceberg-Java rewrites it as ``x >= 5``, which is correct for
    SQL only. A comparison of two terms stays below its Not if no operation is its complement.

    Args:
        predicate: a bound predicate.

    Returns:
        An equivalent predicate.
    """
    return _rewrite(predicate, negate=False)  # type: ignore[no-any-return]


def _rewrite(predicate: Any, *, negate: bool) -> Any:
    match predicate:
        case Constant():
            return not_(predicate) if negate else predicate
        case Not(child):
            return _rewrite(child, negate=not negate)
        case And(left, right) | Or(left, right):
            join = and_ if isinstance(predicate, And) is not negate else or_
            return join(_rewrite(left, negate=negate), _rewrite(right, negate=negate))
        case _:
            return _complement(predicate) if negate else predicate


def _complement(leaf: Any) -> BoundPredicate:
    if leaf.operation in COMPLEMENT:
        return evolve(leaf, operation=COMPLEMENT[leaf.operation])  # type: ignore[no-any-return]
    if isinstance(leaf, BoundTermComparison):
        return Not(leaf)
    opposite = evolve(leaf, operation=_OPPOSITE[leaf.operation])
    return Or(opposite, _null_or_nan(leaf.term))


def _null_or_nan(term: BoundTerm) -> BoundPredicate:
    is_null = BoundTest(_O.IS_NULL, term)
    return Or(is_null, BoundTest(_O.IS_NAN, term)) if has_nan(term.type) else is_null


def from_sql(predicate: Predicate) -> Predicate:
    """Translate a predicate with the logic of SQL into a two-valued predicate that is true for the same rows (EXP025).

    In SQL, a comparison with null is neither true nor false, and neither is its negation. The result selects what a
    WHERE clause selects; the negation of ``from_sql(Not(p))`` accepts what a CHECK constraint ``p`` accepts.

    Args:
        predicate: an unbound predicate, read with the logic of SQL.

    Returns:
        The two-valued predicate.
    """
    return _true_in_sql(predicate)  # type: ignore[no-any-return]


def _true_in_sql(predicate: Predicate) -> Any:
    match predicate:
        case Not(child):
            return _false_in_sql(child)
        case And(left, right):
            return and_(_true_in_sql(left), _true_in_sql(right))
        case Or(left, right):
            return or_(_true_in_sql(left), _true_in_sql(right))
        case Comparison() | SetTest():
            return and_(predicate, _all_known(predicate))
        case _:
            return predicate


def _false_in_sql(predicate: Predicate) -> Any:
    match predicate:
        case Not(child):
            return _true_in_sql(child)
        case And(left, right):
            return or_(_false_in_sql(left), _false_in_sql(right))
        case Or(left, right):
            return and_(_false_in_sql(left), _false_in_sql(right))
        case Comparison() | SetTest():
            return and_(not_(predicate), _all_known(predicate))
        case _:
            return not_(predicate)


def _all_known(predicate: Comparison | SetTest) -> Any:
    """Build the condition that no value in the comparison is null; constants never are."""
    values = (predicate.left, predicate.right) if isinstance(predicate, Comparison) else (predicate.child,)
    known: Any = TRUE
    for value in values:
        if not isinstance(value, Literal):
            known = and_(known, Test(_O.NOT_NULL, value))
    return known

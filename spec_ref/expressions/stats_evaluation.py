"""The algebra of scan planning: evaluate a predicate over many rows at once, given facts about them (Scan Planning).

The values of the rows of a file or a partition are not known, only facts about them: whether some are null, the bounds
of the others. A predicate then has a `StatsOutcome` of two flags, whether some row might match and whether some row
might fail:

===========  ==========  ==========================================
might match  might fail  meaning
===========  ==========  ==========================================
yes          yes         unknown
yes          no          every row matches
no           yes         no row matches
no           no          there are no rows
===========  ==========  ==========================================

An inclusive evaluation is the first flag, a strict one the opposite of the second. The logical operations and the
leaves only use ``and``, ``or`` and comparisons with bounds, so that the same algebra works on arrays of flags, for many
files at once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from spec_ref.core.errors import SpecError
from spec_ref.core.records import evolve, record
from spec_ref.expressions.bound import (
    BoundChoice,
    BoundComparison,
    BoundConstant,
    BoundPredicate,
    BoundPromotion,
    BoundReference,
    BoundSetTest,
    BoundTerm,
    BoundTermComparison,
    BoundTest,
    BoundTransform,
    Leaf,
    evaluate_leaf,
    has_nan,
    is_nan,
)
from spec_ref.expressions.predicates import And, Constant, Not, Operation, Or
from spec_ref.partitioning.transforms import Bucket


@record
class StatsOutcome:
    """Whether some row might match a predicate and whether some row might fail it, by the known facts."""

    might_match: bool
    might_fail: bool

    def negate(self) -> StatsOutcome:
        """Negate the outcome."""
        return StatsOutcome(self.might_fail, self.might_match)


UNKNOWN_OUTCOME = StatsOutcome(might_match=True, might_fail=True)


@record
class TermStats:
    """What is known about the values of one term for some rows. A flag is true if the case is possible or not known."""

    null: bool = True
    """Whether some value might be null."""

    nan: bool = True
    """Whether some value might be NaN."""

    ordinary: bool = True
    """Whether some value might be neither null nor NaN."""

    lower: Any = None
    """A lower bound of the ordinary values, inclusive; None if not known."""

    upper: Any = None
    """An upper bound of the ordinary values, inclusive; None if not known."""


UNKNOWN_STATS = TermStats()


def usable_bounds(stats: TermStats) -> TermStats:
    """Remove bounds that cannot be trusted.

    If one bound is NaN, the other one may be wrong too (contradiction C26), and if the lower bound is above the upper
    one, at least one of them is wrong: in both cases both are removed, as if they had not been stored.

    Args:
        stats: what is known about a term.

    Returns:
        The same facts, with both bounds or none.
    """
    lower, upper = stats.lower, stats.upper
    spoiled = any(bound is not None and is_nan(bound) for bound in (lower, upper))
    inverted = lower is not None and upper is not None and lower > upper
    return evolve(stats, lower=None, upper=None) if spoiled or inverted else stats


def evaluate_stats(predicate: BoundPredicate, find_stats: Callable[[BoundReference], TermStats]) -> StatsOutcome:
    """Evaluate a predicate on what is known about the fields that it refers to.

    Args:
        predicate: a bound predicate.
        find_stats: returns what is known about a field.

    Returns:
        Whether some row might match and whether some might fail.
    """
    match predicate:
        case Constant(value):
            return StatsOutcome(might_match=value, might_fail=not value)
        case Not(child):
            return evaluate_stats(child, find_stats).negate()
        case And(left, right):
            first, second = evaluate_stats(left, find_stats), evaluate_stats(right, find_stats)
            return StatsOutcome(first.might_match and second.might_match, first.might_fail or second.might_fail)
        case Or(left, right):
            first, second = evaluate_stats(left, find_stats), evaluate_stats(right, find_stats)
            return StatsOutcome(first.might_match or second.might_match, first.might_fail and second.might_fail)
        case BoundTermComparison():
            return UNKNOWN_OUTCOME
        case _:
            return _leaf_outcome(predicate, _term_stats(predicate.term, find_stats))


def _leaf_outcome(leaf: Leaf, stats: TermStats) -> StatsOutcome:
    ordinary = _ordinary_outcome(leaf, stats.lower, stats.upper)
    null = evaluate_leaf(leaf, None)
    nan = evaluate_leaf(leaf, float("nan")) if has_nan(leaf.term.type) else null
    might_be_nan = stats.nan and has_nan(leaf.term.type)
    return StatsOutcome(
        (stats.null and null) or (might_be_nan and nan) or (stats.ordinary and ordinary.might_match),
        (stats.null and not null) or (might_be_nan and not nan) or (stats.ordinary and ordinary.might_fail),
    )


# Values that are neither null nor NaN, between bounds

_O = Operation


def _below(lower: Any, upper: Any, value: Any) -> StatsOutcome:
    """Evaluate ``x < value``."""
    return StatsOutcome(lower is None or lower < value, upper is None or upper >= value)


def _not_above(lower: Any, upper: Any, value: Any) -> StatsOutcome:
    """Evaluate ``x <= value``."""
    return StatsOutcome(lower is None or lower <= value, upper is None or upper > value)


def _among(lower: Any, upper: Any, *values: Any) -> StatsOutcome:
    """Evaluate ``x IN (values)``. If both bounds are the same value, every value of the column equals it."""
    inside = any((lower is None or lower <= value) and (upper is None or value <= upper) for value in values)
    one = lower is not None and upper is not None and lower == upper
    return StatsOutcome(inside, not (one and any(lower == value for value in values)))


def _starts_with(lower: Any, upper: Any, prefix: str) -> StatsOutcome:
    """Evaluate ``x STARTS WITH prefix``: strings with a common prefix are neighbours in the order."""
    might_match = (lower is None or lower[: len(prefix)] <= prefix) and (upper is None or upper >= prefix)
    surely = lower is not None and upper is not None and lower.startswith(prefix) and upper.startswith(prefix)
    return StatsOutcome(might_match, not surely)


_COMPARISONS: dict[Operation, Callable[[Any, Any, Any], StatsOutcome]] = {
    _O.LT: _below,
    _O.LT_EQ: _not_above,
    _O.GT: lambda lower, upper, value: _not_above(lower, upper, value).negate(),
    _O.GT_EQ: lambda lower, upper, value: _below(lower, upper, value).negate(),
    _O.EQ: _among,
    _O.NOT_EQ: lambda lower, upper, value: _among(lower, upper, value).negate(),
    _O.STARTS_WITH: _starts_with,
    _O.NOT_STARTS_WITH: lambda lower, upper, prefix: _starts_with(lower, upper, prefix).negate(),
}

_TESTS: dict[Operation, StatsOutcome] = {
    _O.IS_NULL: StatsOutcome(might_match=False, might_fail=True),
    _O.NOT_NULL: StatsOutcome(might_match=True, might_fail=False),
    _O.IS_NAN: StatsOutcome(might_match=False, might_fail=True),
    _O.NOT_NAN: StatsOutcome(might_match=True, might_fail=False),
}


def _ordinary_outcome(leaf: Leaf, lower: Any, upper: Any) -> StatsOutcome:
    match leaf:
        case BoundTest(operation):
            return _TESTS[operation]
        case BoundComparison(operation, _, value):
            return _COMPARISONS[operation](lower, upper, value)
        case BoundSetTest(operation, _, values):
            outcome = _among(lower, upper, *values)
            return outcome if operation is _O.IN else outcome.negate()


# Terms


def _term_stats(term: BoundTerm, find_stats: Callable[[BoundReference], TermStats]) -> TermStats:
    """Derive the facts of a term: functions that keep the order keep bounds, and every function keeps null."""
    match term:
        case BoundReference():
            return usable_bounds(find_stats(term))
        case BoundTransform(transform, child):
            inner = _term_stats(child, find_stats)
            if isinstance(transform, Bucket):
                return evolve(inner, lower=None, upper=None)
            return _map_bounds(inner, lambda value: transform.apply(child.type, value))
        case BoundPromotion(child):
            return _map_bounds(_term_stats(child, find_stats), term.promote)
        case BoundConstant(value):
            if value is None or is_nan(value):
                return TermStats(null=value is None, nan=value is not None, ordinary=False)
            return TermStats(null=False, nan=False, lower=value, upper=value)
        case BoundChoice():
            return UNKNOWN_STATS


def _map_bounds(stats: TermStats, function: Callable[[Any], Any]) -> TermStats:
    def bound(value: Any) -> Any:
        try:
            return None if value is None else function(value)
        except SpecError:  # the function has no result for the bound, so nothing is known on this side
            return None

    return evolve(stats, lower=bound(stats.lower), upper=bound(stats.upper))

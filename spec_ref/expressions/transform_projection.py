"""Project comparisons with constants through a partition transform (Scan Planning; Partition Transforms).

All transforms but bucket keep order, so every partition value represents a class of neighbouring source values. What a
comparison with a constant implies for partition values depends on the place of the constant in its class: ``ts < X`` is
``day < day(X)`` if X is midnight, the least value of its day, and ``day <= day(X)`` otherwise.
"""

from __future__ import annotations

from typing import Any

from spec_ref.core.decimals import unscaled_value
from spec_ref.core.records import record
from spec_ref.data_types.decimals import decimal_from_unscaled
from spec_ref.data_types.types import BINARY, STRING, DecimalType, Type
from spec_ref.expressions.bound import BoundComparison, BoundPredicate, BoundReference, BoundSetTest
from spec_ref.expressions.literals import unit_range
from spec_ref.expressions.predicates import PREFIX, Operation
from spec_ref.partitioning.transforms import Bucket, Transform, Truncate

_O = Operation


@record
class _Class:
    """The source values of one partition value, and the place of a constant among them."""

    value: Any
    """The partition value."""

    least: bool
    """Whether the constant is the least source value."""

    greatest: bool
    """Whether the constant is the greatest source value."""

    @property
    def alone(self) -> bool:
        """Whether the constant is the only source value."""
        return self.least and self.greatest


_INCLUSIVE: dict[Operation, tuple[str, Operation, Operation]] = {
    _O.LT: ("least", _O.LT, _O.LT_EQ),
    _O.LT_EQ: ("least", _O.LT_EQ, _O.LT_EQ),
    _O.GT: ("greatest", _O.GT, _O.GT_EQ),
    _O.GT_EQ: ("greatest", _O.GT_EQ, _O.GT_EQ),
}
"""The place that matters, and the operation on partition values if the constant is in that place and if it is not."""

_STRICT: dict[Operation, tuple[str, Operation, Operation]] = {
    _O.LT: ("least", _O.LT, _O.LT),
    _O.LT_EQ: ("greatest", _O.LT_EQ, _O.LT),
    _O.GT: ("greatest", _O.GT, _O.GT),
    _O.GT_EQ: ("least", _O.GT_EQ, _O.GT),
}


def project_comparison(
    leaf: BoundComparison | BoundSetTest, transform: Transform, target: BoundReference, *, strict: bool, tolerate: bool
) -> BoundPredicate | None:
    """Derive what a comparison of the source column implies for partition values.

    Args:
        leaf: a comparison of the source column itself with constants.
        transform: bucket, truncate, year, month, day or hour.
        target: the reference to the partition field.
        strict: whether the result may match only if every source value matches, rather than if any does.
        tolerate: whether partition values of times before 1970 may be one too high (contradiction C5).

    Returns:
        The comparison of partition values; None if nothing is implied.

    Raises:
        SpecError: the code of the transform if it has no result for a constant (contradiction C6).
    """
    source = leaf.term.type
    operation = leaf.operation
    if operation in PREFIX:
        return _prefix_through(leaf, transform, target, strict=strict)
    if isinstance(leaf, BoundSetTest) or operation in (_O.EQ, _O.NOT_EQ):
        constants = leaf.values if isinstance(leaf, BoundSetTest) else (leaf.value,)
        among = operation in (_O.EQ, _O.IN)
        points = [
            point
            for constant in constants
            for point in _points(_classify(transform, source, constant), exact=among is strict, tolerate=tolerate)
        ]
        return _build_membership(target, list(dict.fromkeys(points)), among=among)
    if isinstance(transform, Bucket):
        return None
    return _order_through(operation, _classify(transform, source, leaf.value), target, strict=strict, tolerate=tolerate)


def _points(class_: _Class, *, exact: bool, tolerate: bool) -> tuple[Any, ...]:
    """Find the partition values that an equality with a constant selects.

    With ``exact``, a partition value is selected only if the constant is its only source value. Then all rows of the
    partition equal the constant: a strict = may select all of them, and an inclusive != may rule all of them out.

    Returns:
        The partition values.
    """
    value = class_.value
    if exact:
        return (value,) if class_.alone and not (tolerate and value <= 0) else ()
    return (value, value + 1) if tolerate and value < 0 else (value,)


def _build_membership(target: BoundReference, points: list[Any], *, among: bool) -> BoundPredicate | None:
    if not points:
        return None
    if len(points) == 1:
        return BoundComparison(_O.EQ if among else _O.NOT_EQ, target, points[0])
    return BoundSetTest(_O.IN if among else _O.NOT_IN, target, tuple(points))


def _order_through(
    operation: Operation, class_: _Class, target: BoundReference, *, strict: bool, tolerate: bool
) -> BoundPredicate:
    place, there, elsewhere = (_STRICT if strict else _INCLUSIVE)[operation]
    projected = there if getattr(class_, place) else elsewhere
    if not tolerate:
        return BoundComparison(projected, target, class_.value)
    # Partition values are integers here, so `< v` is `<= v - 1`, and `> v` is `>= v + 1`.
    if projected in (_O.LT, _O.LT_EQ):
        last = class_.value - (projected is _O.LT)
        return BoundComparison(_O.LT_EQ, target, last + (last < 0 and not strict))
    first = class_.value + (projected is _O.GT)
    return BoundComparison(_O.GT_EQ, target, first + (first <= 0 and strict))


def _prefix_through(leaf: Any, transform: Transform, target: BoundReference, *, strict: bool) -> BoundPredicate | None:
    """Project a prefix test; a prefix no longer than the width is a prefix of the truncated value too."""
    if not isinstance(transform, Truncate):
        return None
    if len(leaf.value) <= transform.width:
        return BoundComparison(leaf.operation, target, leaf.value)
    cut = leaf.value[: transform.width]
    if leaf.operation is _O.STARTS_WITH:
        return None if strict else BoundComparison(_O.EQ, target, cut)
    return BoundComparison(_O.NOT_EQ, target, cut) if strict else None


def _classify(transform: Transform, source: Type, constant: Any) -> _Class:
    value = transform.apply(source, constant)
    if isinstance(transform, Bucket):
        return _Class(value, least=False, greatest=False)
    if source in (STRING, BINARY):
        # A text shorter than the width is alone in its class; one of exactly the width is the least of its class.
        width = transform.width  # type: ignore[union-attr]
        return _Class(value, least=len(constant) <= width, greatest=len(constant) < width)
    before, after = _neighbour(source, constant, -1), _neighbour(source, constant, 1)
    return _Class(
        value,
        least=before is None or transform.apply(source, before) != value,
        greatest=after is None or transform.apply(source, after) != value,
    )


def _neighbour(type_: Any, value: Any, step: int) -> Any:
    """Find the next value of a type of integers, instants or decimals; None at the end of its range."""
    units = (unscaled_value(value) if isinstance(type_, DecimalType) else value) + step
    least, greatest = unit_range(type_)
    if not least <= units <= greatest:
        return None
    return decimal_from_unscaled(type_, units) if isinstance(type_, DecimalType) else units

"""The effect of type promotion on values, partition values and bounds (Schema Evolution)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from spec_ref.core.errors import SpecError
from spec_ref.data_types.promotion import is_promotion, promote_value
from spec_ref.data_types.types import DATE, INT, LONG, TIMESTAMP, TIMESTAMP_NS, DecimalType, Type, kind
from spec_ref.partitioning.evolution import keeps_partition_values
from spec_ref.partitioning.transforms import Bucket, Day, Hour, Identity, Month, Transform, Truncate, Void, Year
from tools.proofs.explorer import Impossible
from tools.proofs.theorem import EXHAUSTIVE, World, theorem
from tools.proofs.theorems.predicates import transform_named, value

PROMOTIONS: tuple[tuple[Type, Type], ...] = (
    (INT, LONG),
    (DATE, TIMESTAMP),
    (DATE, TIMESTAMP_NS),
    (DecimalType(9, 2), DecimalType(18, 2)),
    (DecimalType(18, 4), DecimalType(38, 4)),
)
EXAMPLES: tuple[Transform, ...] = (Identity(), Bucket(16), Truncate(10), Year(), Month(), Day(), Hour(), Void())
NAMES = dict(
    zip(map(type, EXAMPLES), ("identity", "bucket", "truncate", "year", "month", "day", "hour", "void"), strict=True)
)


def _pairs(*, kept: bool) -> Iterator[dict[str, Any]]:
    for old, new in PROMOTIONS:
        for transform in EXAMPLES:
            accepted = transform.sources is None or {kind(old), kind(new)} <= transform.sources
            if accepted and keeps_partition_values(transform, old, new) is kept:
                yield {"old": old, "new": new, "transform": NAMES[type(transform)]}


def _promoted(old: Type, new: Type, one: Any) -> Any:
    try:
        return promote_value(old, new, one)
    except SpecError as error:  # the timestamp has no such date
        raise Impossible from error


@theorem("promotion-keeps-partitions", "EVO008", cases=_pairs(kept=True), quick=4, without=("the bucket",))
def keeps_partitions(world: World, old: Type, new: Type, transform: str) -> None:
    """If a promotion of a partitioned column is allowed, the partition value of every promoted value is that of the
    original value: scans find files that were written before the promotion.
    """
    made = transform_named(world, transform)
    one = value(world, "value", old)
    if isinstance(old, DecimalType) and world.symbolic:
        promoted = type(one)(one.number, new.precision, new.scale)
    else:
        promoted = _promoted(old, new, one)
    try:
        before = made.apply(old, one)
    except SpecError as error:  # contradiction C6: no file was written with it
        raise Impossible from error
    world.claim(before == made.apply(new, promoted), "the promoted value is in another partition")


@theorem("other-promotions-do-not", "EVO008", method=EXHAUSTIVE, cases=_pairs(kept=False))
def changes_partitions(world: World, old: Type, new: Type, transform: str) -> None:
    """For each refused promotion of a partitioned column, there is a value whose partition would change: the rule
    refuses nothing that could be allowed.
    """
    made = next(one for one in EXAMPLES if NAMES[type(one)] == transform)
    found = [one for one in range(100) if made.apply(old, one) != made.apply(new, promote_value(old, new, one))]
    world.claim(found != [], "no value from 0 to 99 changes its partition")


@theorem(
    "promotion-keeps-order",
    "EVO003",
    "EVO005",
    "EVO006",
    "EVO007",
    cases=({"old": old, "new": new} for old, new in PROMOTIONS if not isinstance(old, DecimalType)),
)
def keeps_order(world: World, old: Type, new: Type) -> None:
    """A promotion keeps the order of values, so that promoted bounds of older files are bounds of the promoted values;
    and it never maps two values to the same one.
    """
    world.claim(is_promotion(old, new), "the change of types is not a promotion")
    low, high = value(world, "low", old), value(world, "high", old)
    first, second = _promoted(old, new, low), _promoted(old, new, high)
    world.claim((low < high) == (first < second), "the promoted values have another order")
    world.claim((low == high) == (first == second), "the promoted values are equal, or are no longer")

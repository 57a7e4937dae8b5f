"""The effect of type promotion on values, partition values and bounds (Schema Evolution)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from spec_ref.core.errors import SpecError
from spec_ref.data_types.promotion import is_promotion, promote_value
from spec_ref.data_types.types import (
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    LONG,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NS,
    UNKNOWN,
    DecimalType,
    Type,
    kind,
)
from spec_ref.partitioning.evolution import keeps_partition_values
from spec_ref.partitioning.transforms import Bucket, Day, Hour, Identity, Month, Transform, Truncate, Void, Year
from spec_ref.single_value.binary import to_binary
from spec_ref.single_value.bounds import decode_bound
from tools.proofs.explorer import Impossible
from tools.proofs.theorem import DECIMAL, EXHAUSTIVE, World, theorem
from tools.proofs.theorems.predicates import transform_named, value, value_json

PROMOTIONS: tuple[tuple[Any, Any], ...] = (
    (INT, LONG),
    (FLOAT, DOUBLE),
    (DATE, TIMESTAMP),
    (DATE, TIMESTAMP_NS),
    (UNKNOWN, LONG),
    (UNKNOWN, STRING),
    (DECIMAL, "a wider decimal"),
)
EXAMPLES: tuple[Transform, ...] = (Identity(), Bucket(16), Truncate(10), Year(), Month(), Day(), Hour(), Void())
NAMES = dict(
    zip(map(type, EXAMPLES), ("identity", "bucket", "truncate", "year", "month", "day", "hour", "void"), strict=True)
)


def _pairs(*, kept: bool) -> Iterator[dict[str, Any]]:
    for old, new in PROMOTIONS:
        first, second = (DecimalType(1, 0), DecimalType(2, 0)) if old is DECIMAL else (old, new)
        for transform in EXAMPLES:
            accepted = transform.sources is None or {kind(first), kind(second)} <= transform.sources
            if accepted and keeps_partition_values(transform, first, second) is kept:
                yield {"old": old, "new": new, "transform": NAMES[type(transform)]}


def _new_type(world: World, old: Type, new: Any) -> Any:
    """Return the type of a case after the promotion: for a decimal, any of the same scale and a higher precision."""
    if not isinstance(old, DecimalType):
        return new
    return DecimalType(world.int("wider precision", old.precision + 1, 38), old.scale)


def _promote(old: Type, new: Type, one: Any) -> Any:
    try:
        return promote_value(old, new, one)
    except SpecError as error:  # the timestamp has no such date
        raise Impossible from error


@theorem("promotion-keeps-partitions", "EVO008", cases=_pairs(kept=True), quick=4, without=("the bucket",))
def keeps_partitions(world: World, old: Type, new: Any, transform: str) -> None:
    """If a promotion of a partitioned column is allowed, the partition value of every promoted value is that of the
    original value: scans find files that were written before the promotion.
    """
    made, new = transform_named(world, transform), _new_type(world, old, new)
    one = value(world, "value", old)
    promoted = _promote(old, new, one)
    try:
        before = made.apply(old, one)
    except SpecError as error:  # contradiction C6: no file was written with it
        raise Impossible from error
    world.request = lambda: {
        "operation": "transform",
        "args": {"transform": str(made), "type": str(new), "value": value_json(new, promoted)},
        "expect": value_json(made.result_type(old), before),
    }
    after = made.apply(new, promoted)
    same = before is after or before == after or (_is_nan(before) and _is_nan(after))
    world.claim(same, "the promoted value is in another partition")
    world.claim(is_promotion(old, new), "the change of types is not a promotion")
    world.claim(keeps_partition_values(made, old, new), "the rule does not allow the promotion")


def _is_nan(one: Any) -> Any:
    return one != one


@theorem("other-promotions-do-not", "EVO008", method=EXHAUSTIVE, cases=_pairs(kept=False))
def changes_partitions(world: World, old: Type, new: Type, transform: str) -> None:
    """For each refused promotion of a partitioned column, there is a value whose partition would change: the rule
    refuses nothing that could be allowed.
    """
    made = next(one for one in EXAMPLES if NAMES[type(one)] == transform)
    found = [one for one in range(100) if made.apply(old, one) != made.apply(new, promote_value(old, new, one))]
    world.claim(found != [], "no value from 0 to 99 changes its partition")


@theorem(
    "promoted-bounds-are-read",
    "EVO007",
    cases=({"old": old, "new": new} for old, new in PROMOTIONS if old != UNKNOWN),
    quick=3,
    without=("the bytes of a bound", "the bytes of a decimal"),
)
def reads_bounds(world: World, old: Type, new: Any) -> None:
    """A bound that was written before a promotion is read as the promoted value: its length decides its type, and the
    bytes of a decimal are the same at any precision.
    """
    new = _new_type(world, old, new)
    one = value(world, "value", old)
    if isinstance(one, float):
        world.assume(one == one)  # a bound is never NaN
    promoted = _promote(old, new, one)
    try:
        data = to_binary(old, one)
    except SpecError as error:  # a double that no float is
        raise Impossible from error
    world.request = lambda: {
        "operation": "bound.decode",
        "args": {"type": str(new), "bytes": data.hex().upper()},
        "expect": value_json(new, promoted),
    }
    world.claim(decode_bound(new, data) == promoted, "the bound is read as another value")


@theorem(
    "promotion-keeps-order",
    "EVO003",
    "EVO005",
    "EVO006",
    "EVO007",
    cases=({"old": old, "new": new} for old, new in PROMOTIONS if old != UNKNOWN),
)
def keeps_order(world: World, old: Type, new: Any) -> None:
    """A promotion keeps the order of values, so that promoted bounds of older files are bounds of the promoted values;
    and it never maps two values to the same one.
    """
    new = _new_type(world, old, new)
    low, high = value(world, "low", old), value(world, "high", old)
    first, second = _promote(old, new, low), _promote(old, new, high)
    world.claim((low < high) == (first < second), "the promoted values have another order")
    world.claim((low == high) == (first == second), "the promoted values are equal, or are no longer")

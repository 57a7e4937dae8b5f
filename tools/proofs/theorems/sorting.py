"""The sort order of values (Sorting)."""

from __future__ import annotations

import math
from typing import Any

from spec_ref.sorting.comparator import float_sort_key
from tools.proofs.theorem import World, theorem


def _is_negative(world: World, one: Any) -> bool:
    """Whether the sign bit of a double is set."""
    return bool(one.bits < 0) if world.symbolic else math.copysign(1.0, one) < 0


@theorem("doubles-are-sorted-by-their-bits", "SRT003")
def doubles(world: World) -> None:
    """Any two doubles are sorted as numbers compare, infinities too; -0 is before 0, a NaN with the sign bit before
    everything else, and a NaN without it after everything else. All NaNs of one sign are equal in this order.
    """
    pair = [world.double_of_bits(name) for name in ("left", "right")]
    first, second = map(float_sort_key, pair)
    # Numbers have the rank 0, NaNs a lower or higher one; for equal ranks, numbers and zeros decide.
    left, right = (0 if one == one else -1 if _is_negative(world, one) else 1 for one in pair)
    if left != 0 or right != 0:
        world.claim((first < second) == (left < right), "a NaN is in the wrong place")
        world.claim((first == second) == (left == right), "a NaN equals something else")
    elif pair[0] == pair[1]:
        negative = [one == 0 and _is_negative(world, one) for one in pair]
        world.claim((first < second) == (negative[0] and not negative[1]), "the zeros are in the wrong order")
        world.claim((first == second) == (negative[0] == negative[1]), "one number has two places")
    else:
        world.claim((first < second) == (pair[0] < pair[1]), "two numbers are in the wrong order")
        world.claim(bool(first == second) is False, "two numbers have one place")

"""Bounds and their bytes (Appendix D; Data File Fields)."""

from __future__ import annotations

from typing import Any

from spec_ref.data_types.types import STRING, Type
from spec_ref.single_value import binary as binary_module
from spec_ref.single_value.binary import minimal_twos_complement
from spec_ref.single_value.bounds import truncate_lower, truncate_upper
from tools.proofs.theorem import BOUNDED, World, theorem
from tools.proofs.theorems.predicates import TEXTS

LONGEST_BOUND = 3
BYTES_OF_A_DECIMAL = 16


def _any(world: World, name: str, type_: Type, longest: Any = LONGEST_BOUND) -> Any:
    length = world.choose(f"{name} length", *range(longest + 1))
    return world.text(name, length) if type_ == STRING else world.binary(name, length)


def _request(side: str, type_: Type, one: Any, width: Any) -> dict[str, Any]:
    args = {"type": str(type_), "value": _show_value(type_, one), "width": width, "side": side}
    made: dict[str, Any] = {"operation": "bound.truncate", "args": args}
    return {**made, "expect": _show_value(type_, one[:width])} if side == "lower" else made


def _show_value(type_: Type, one: Any) -> str:
    return str(one) if type_ == STRING else one.hex().upper()


CASES = tuple({"type_": type_, "width": width} for type_ in TEXTS for width in (1, 2))


@theorem("truncated-lower-bounds", "DFL016", method=BOUNDED, cases=CASES, quick=3)
def lower_bounds(world: World, type_: Type, width: Any) -> None:
    """A truncated lower bound is not longer than the width and not above the value, and no other value of the width is
    closer to it.
    """
    one = _any(world, "value", type_)
    other = _any(world, "other", type_, width)
    world.request = lambda: _request("lower", type_, one, width)
    bound = truncate_lower(type_, one, width)
    world.claim(len(bound) <= width, "the bound is longer than the width")
    world.claim(bound <= one, "the bound is above the value")
    world.claim(not (other <= one) or other <= bound, "another bound is closer")


@theorem("truncated-upper-bounds", "DFL017", method=BOUNDED, cases=CASES, quick=3)
def upper_bounds(world: World, type_: Type, width: Any) -> None:
    """A truncated upper bound is not longer than the width and not below the value, and UTF-8 can encode it. If the
    value was truncated, the bound is above everything that begins with the same units of the width, and no other value
    of the width is closer. If there is no bound, no value of the width is above the value.
    """
    one = _any(world, "value", type_)
    other = _any(world, "other", type_, width)
    world.request = lambda: _request("upper", type_, one, width)
    bound = truncate_upper(type_, one, width)
    cut = len(one) > width
    longer = _any(world, "longer", type_) if cut else one
    if bound is None:
        world.claim(not (other >= one), "there is a bound")
        return
    world.claim(len(bound) <= width, "the bound is longer than the width")
    world.claim(bound >= one, "the bound is below the value")
    if type_ == STRING:
        bound.encode()
    if cut:
        world.claim(longer[:width] != one[:width] or bound > longer, "the bound is not above all with this prefix")
        begins = other[:width] == one[:width] and len(other) >= width
        if other > one[:width] and not begins:
            world.claim(bound <= other, "another bound is closer")


@theorem("decimals-are-minimal", "SVB008", without=("the bytes of a decimal",))
def minimal_decimals(world: World) -> None:
    """The bytes of every decimal of up to 38 digits are those of its unscaled value in two's complement, and their
    first byte cannot be left out.
    """
    number = world.int("number", 1 - 10**38, 10**38 - 1)
    data = minimal_twos_complement(number)
    world.claim(len(data) >= 1, "there are no bytes")
    world.claim(len(data) <= BYTES_OF_A_DECIMAL, "there are more than 16 bytes")
    integer: Any = getattr(binary_module, "int", int)
    world.claim(integer.from_bytes(data, "big", signed=True) == number, "the bytes are a different number")
    if len(data) > 1:
        zeros = data[0] == 0 and data[1] < 128
        ones = data[0] == 255 and data[1] >= 128
        world.claim(not zeros and not ones, "the first byte can be left out")

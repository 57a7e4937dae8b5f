"""Symbols of doubles: by their place in the order of doubles, or by their bits (see `tools.proofs.symbols`)."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from typing import Any

import z3

from tools.proofs.explorer import Unsupported, active
from tools.proofs.symbols import POISON, SymbolicBool


class SymbolicBits(int):
    """Arbitrary 64 bits, as a signed number. Arithmetic is supported if no result needs more bits."""

    term: Any

    def __new__(cls, term: Any) -> SymbolicBits:
        self = super().__new__(cls, POISON)
        self.term = term
        return self

    def __and__(self, mask: Any) -> Any:
        return SymbolicBits(self.term & z3.BitVecVal(mask, 64))

    def __neg__(self) -> Any:
        if active().decide(self.term == z3.BitVecVal(1 << 63, 64)):
            raise Unsupported("the negative of the least number of 64 bits")
        return SymbolicBits(-self.term)

    def __sub__(self, other: Any) -> Any:
        if other != 1 or active().decide(self.term == z3.BitVecVal(1 << 63, 64)):
            raise Unsupported("a difference that may need more than 64 bits")
        return SymbolicBits(self.term - 1)

    def __lt__(self, other: Any) -> Any:
        return SymbolicBool(self.term < _bits_term(other))

    def __ge__(self, other: Any) -> Any:
        return SymbolicBool(self.term >= _bits_term(other))

    def __eq__(self, other: object) -> Any:
        return SymbolicBool(self.term == _bits_term(other))

    def __hash__(self) -> int:
        return 0

    def __repr__(self) -> str:
        return f"<{self.term}>"

    def _unsupported(self, *_: Any) -> Any:
        raise Unsupported("bits are used in arithmetic that is not followed")

    __index__ = __int__ = __float__ = __add__ = __radd__ = __rsub__ = __mul__ = __rmul__ = __rand__ = _unsupported
    __or__ = __ror__ = __xor__ = __rxor__ = __lshift__ = __rshift__ = __floordiv__ = __mod__ = __invert__ = _unsupported
    __gt__ = __le__ = __ne__ = __bool__ = __abs__ = __truediv__ = __pow__ = __divmod__ = _unsupported


def _bits_term(value: Any) -> Any:
    return value.term if isinstance(value, SymbolicBits) else z3.BitVecVal(value, 64)


class SymbolicFloat(float):
    """An arbitrary double, including NaN, the infinities and both zeros.

    It is represented by its place in the order of doubles, which is that of their bits, and not by its bits: numbers
    are compared in this order, and -0 and 0 have the same place.
    """

    place: Any
    nan: Any

    def __new__(cls, place: Any, nan: Any) -> SymbolicFloat:
        self = super().__new__(cls, "nan")
        self.place, self.nan = place, nan
        return self

    def _compared(self, other: Any, function: Callable[[Any, Any], Any]) -> SymbolicBool:
        place, nan = (
            (other.place, other.nan)
            if isinstance(other, SymbolicFloat)
            else (z3.IntVal(place_of_double(other)), z3.BoolVal(math.isnan(other)))
        )
        return SymbolicBool(z3.And(z3.Not(self.nan), z3.Not(nan), function(self.place, place)))

    def __lt__(self, other: Any) -> Any:
        return self._compared(other, lambda a, b: a < b)

    def __le__(self, other: Any) -> Any:
        return self._compared(other, lambda a, b: a <= b)

    def __gt__(self, other: Any) -> Any:
        return self._compared(other, lambda a, b: a > b)

    def __ge__(self, other: Any) -> Any:
        return self._compared(other, lambda a, b: a >= b)

    def __eq__(self, other: object) -> Any:
        return self._compared(other, lambda a, b: a == b) if isinstance(other, float | int) else False

    def __ne__(self, other: object) -> Any:
        return ~self._compared(other, lambda a, b: a == b) if isinstance(other, float | int) else True

    def __hash__(self) -> int:
        return 0

    def __repr__(self) -> str:
        return f"<double {self.place}>"

    __str__ = __repr__


LAST_PLACE = 0x7FF0_0000_0000_0000
"""The place of infinity: the number of positive doubles."""


def place_of_double(value: float) -> int:
    """Return the place of a double in their order, which is 0 for both zeros."""
    bits: int = struct.unpack(">q", struct.pack(">d", value))[0]
    return bits if bits >= 0 else -(bits & 0x7FFF_FFFF_FFFF_FFFF)


def double_of_place(place: int) -> float:
    """Return the double at a place of the order."""
    value: float = struct.unpack(">d", struct.pack(">q", abs(place)))[0]
    return value if place >= 0 else -value


class SymbolicFloatOfBits(float):
    """An arbitrary double, made from its bits, as z3 defines them: for code that uses the bits, and the sign of NaN."""

    term: Any
    bits: SymbolicBits

    def __new__(cls, bits: Any) -> SymbolicFloatOfBits:
        self = super().__new__(cls, "nan")
        self.term, self.bits = z3.fpBVToFP(bits, z3.Float64()), SymbolicBits(bits)
        return self

    def __lt__(self, other: Any) -> Any:
        return SymbolicBool(z3.fpLT(self.term, _float_term(other)))

    def __le__(self, other: Any) -> Any:
        return SymbolicBool(z3.fpLEQ(self.term, _float_term(other)))

    def __gt__(self, other: Any) -> Any:
        return SymbolicBool(z3.fpGT(self.term, _float_term(other)))

    def __ge__(self, other: Any) -> Any:
        return SymbolicBool(z3.fpGEQ(self.term, _float_term(other)))

    def __eq__(self, other: object) -> Any:
        return SymbolicBool(z3.fpEQ(self.term, _float_term(other))) if isinstance(other, float | int) else False

    def __ne__(self, other: object) -> Any:
        return SymbolicBool(z3.Not(z3.fpEQ(self.term, _float_term(other)))) if isinstance(other, float | int) else True

    def __hash__(self) -> int:
        return 0

    def __repr__(self) -> str:
        return f"<{self.term}>"

    __str__ = __repr__


def _float_term(value: Any) -> Any:
    return value.term if isinstance(value, SymbolicFloatOfBits) else z3.FPVal(float(value), z3.Float64())

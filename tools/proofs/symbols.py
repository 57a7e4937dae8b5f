"""Symbols: objects that replace ints, strings, bytes and decimals in code, and represent any value.

The class of a symbol is a subclass of the type that it represents, so that ``isinstance`` and the order of reflected
operators are those of real values. Unsupported operations raise `Unsupported`; a symbol never silently becomes a value.
Symbols of floats are in `tools.proofs.symbolic_floats`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from typing import Any

import z3

from tools.proofs.explorer import Unsupported, active

POISON = -(10**60) - 7
"""The number inside every symbol of an int: C code that reads it fails, because it fits no C type."""


EXPONENTS = range(1, 39)
"""The exponents of powers that symbols can have: the precisions of decimals."""


class SymbolicBool:
    """The result of a comparison; where the code asks for its truth, the path forks."""

    __slots__ = ("term",)

    def __init__(self, term: Any) -> None:
        self.term = term

    def __bool__(self) -> bool:
        return bool(active().decide(self.term))

    def __eq__(self, other: object) -> Any:
        return SymbolicBool(self.term == boolean_term(other))

    def __ne__(self, other: object) -> Any:
        return SymbolicBool(self.term != boolean_term(other))

    def __and__(self, other: Any) -> SymbolicBool:
        return SymbolicBool(z3.And(self.term, boolean_term(other)))

    def __or__(self, other: Any) -> SymbolicBool:
        return SymbolicBool(z3.Or(self.term, boolean_term(other)))

    def __invert__(self) -> SymbolicBool:
        return SymbolicBool(z3.Not(self.term))

    def __hash__(self) -> int:
        return 0


def boolean_term(value: Any) -> Any:
    """Return the term of a bool, or of a symbol of one."""
    if isinstance(value, SymbolicBool):
        return value.term
    if isinstance(value, bool):
        return z3.BoolVal(value)
    raise Unsupported(f"not a bool: {value!r}")


def implies(condition: Any, conclusion: Any) -> Any:
    """Return whether a condition is false or a conclusion true, without a fork of the path for either."""
    if isinstance(condition, bool):
        return conclusion if condition else True
    return SymbolicBool(z3.Implies(boolean_term(condition), boolean_term(conclusion)))


def conjunction(conditions: Sequence[Any]) -> Any:
    """Return whether all conditions are true, without a fork of the path."""
    return SymbolicBool(z3.And(*map(boolean_term, conditions))) if _has_symbol(conditions) else all(conditions)


def disjunction(conditions: Sequence[Any]) -> Any:
    """Return whether a condition is true, without a fork of the path."""
    return SymbolicBool(z3.Or(*map(boolean_term, conditions))) if _has_symbol(conditions) else any(conditions)


def _has_symbol(conditions: Sequence[Any]) -> bool:
    return any(isinstance(one, SymbolicBool) for one in conditions)


def negation(condition: Any) -> Any:
    """Return the negation of a condition, without a fork of the path."""
    return not condition if isinstance(condition, bool) else SymbolicBool(z3.Not(boolean_term(condition)))


def int_term(value: Any) -> Any:
    """Return the term of an int, a bool, or a symbol of one; None for anything else."""
    if isinstance(value, SymbolicInt):
        return value.term
    if isinstance(value, SymbolicBool):
        return z3.If(value.term, 1, 0)
    if isinstance(value, bool | int):
        return z3.IntVal(int(value))
    return None


def _arithmetic(function: Callable[[Any, Any], Any], *, reflected: bool = False) -> Any:
    def operate(self: SymbolicInt, other: Any) -> Any:
        term = int_term(other)
        if term is None:
            return NotImplemented
        return SymbolicInt(function(term, self.term) if reflected else function(self.term, term))

    return operate


def _comparison(function: Callable[[Any, Any], Any], *, different: bool | None = None) -> Any:
    def compare(self: SymbolicInt, other: Any) -> Any:
        term = int_term(other)
        if term is None:
            return NotImplemented if different is None else different
        return SymbolicBool(function(self.term, term))

    return compare


def _divide(number: Any, divisor: Any) -> Any:
    # If the divisor is positive, z3 divides as Python does: the remainder is never negative.
    if not active().decide(divisor > 0):
        raise Unsupported("division by a number that may not be positive")
    return number / divisor


def _remainder(number: Any, divisor: Any) -> Any:
    if not active().decide(divisor > 0):
        raise Unsupported("the remainder of a division by a number that may not be positive")
    return number % divisor


def _mask(number: Any, mask: Any) -> Any:
    # The lowest bits of a number in two's complement are its remainder, for negative numbers too.
    mask = z3.simplify(mask)
    if not z3.is_int_value(mask) or (mask.as_long() & (mask.as_long() + 1)) or mask.as_long() < 0:
        raise Unsupported("& with a number that is not of the form 2^n - 1")
    return number % (mask.as_long() + 1)


class SymbolicInt(int):
    """An arbitrary int."""

    term: Any

    def __new__(cls, term: Any) -> SymbolicInt:
        self = super().__new__(cls, POISON)
        self.term = term
        return self

    __add__ = _arithmetic(lambda a, b: a + b)
    __radd__ = _arithmetic(lambda a, b: a + b, reflected=True)
    __sub__ = _arithmetic(lambda a, b: a - b)
    __rsub__ = _arithmetic(lambda a, b: a - b, reflected=True)
    __mul__ = _arithmetic(lambda a, b: a * b)
    __rmul__ = _arithmetic(lambda a, b: a * b, reflected=True)
    __floordiv__ = _arithmetic(_divide)
    __rfloordiv__ = _arithmetic(_divide, reflected=True)
    __mod__ = _arithmetic(_remainder)
    __rmod__ = _arithmetic(_remainder, reflected=True)
    __and__ = _arithmetic(_mask)
    __lt__ = _comparison(lambda a, b: a < b)
    __le__ = _comparison(lambda a, b: a <= b)
    __gt__ = _comparison(lambda a, b: a > b)
    __ge__ = _comparison(lambda a, b: a >= b)
    __eq__ = _comparison(lambda a, b: a == b, different=False)
    __ne__ = _comparison(lambda a, b: a != b, different=True)

    def __hash__(self) -> int:
        return 0  # equal symbols must have equal hashes, and any two symbols may be equal

    def __neg__(self) -> Any:
        return SymbolicInt(-self.term)

    def __invert__(self) -> Any:
        return SymbolicInt(-self.term - 1)

    def __abs__(self) -> Any:
        return SymbolicInt(z3.If(self.term >= 0, self.term, -self.term))

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    def __bool__(self) -> bool:
        return bool(active().decide(self.term != 0))

    def __repr__(self) -> str:
        return f"<{self.term}>"

    __str__ = __repr__

    def __format__(self, _: str) -> str:
        return repr(self)

    def __rpow__(self, base: Any, modulus: Any = None) -> Any:
        """Return a power of a positive number; the exponent has to be one of `EXPONENTS`."""
        path = active()
        if type(base) is not int or base < 1 or modulus is not None:
            raise Unsupported("a power of a symbol")
        known = path.applications.setdefault(f"power of {base}", [])
        for exponent, power in known:
            if self.term.eq(exponent):
                return SymbolicInt(power)
        if not path.decide(z3.And(self.term >= EXPONENTS[0], self.term <= EXPONENTS[-1])):
            raise Unsupported(f"an exponent that is not from {EXPONENTS[0]} to {EXPONENTS[-1]}")
        power = z3.Int(f"power of {base}!{len(known)}")
        path.assume(z3.And(*(z3.Implies(self.term == one, power == base**one) for one in EXPONENTS)))
        path.assume(z3.And(power >= base ** EXPONENTS[0], power <= base ** EXPONENTS[-1]))
        known.append((self.term, power))
        return SymbolicInt(power)

    def bit_length(self) -> int:
        """Return the number of bits of the absolute value; the path forks for every length."""
        magnitude = z3.If(self.term >= 0, self.term, -self.term)
        for bits in range(256):
            if active().decide(magnitude < (1 << bits)):
                return bits
        raise Unsupported("a number of more than 255 bits")

    def to_bytes(self, length: Any = 1, byteorder: Any = "big", *, signed: bool = False) -> Any:
        """Return the bytes of the number in two's complement, the highest first."""
        least, beyond = (-(1 << 8 * length - 1), 1 << 8 * length - 1) if signed else (0, 1 << 8 * length)
        if byteorder != "big":
            raise Unsupported("bytes in another order")
        if not active().decide(z3.And(self.term >= least, self.term < beyond)):
            raise OverflowError("int too big to convert")
        # Each number of the range has exactly one such sequence of bytes: naming them is easier for z3 than dividing.
        path = active()
        path.fresh += 1
        units = [z3.Int(f"byte {place} of {path.fresh}") for place in range(length)]
        path.assume(z3.And(*(z3.And(unit >= 0, unit <= 255) for unit in units)))
        total = z3.Sum([unit * (1 << 8 * place) for place, unit in enumerate(reversed(units))])
        path.assume(total == z3.If(self.term >= 0, self.term, self.term + (1 << 8 * length)))
        return SymbolicBytes(map(SymbolicInt, units))

    def _unsupported(self, *_: Any) -> Any:
        raise Unsupported("a symbol of an int is used as a number of C, or in arithmetic that is not followed")

    __index__ = __int__ = __float__ = __truediv__ = __rtruediv__ = __pow__ = _unsupported
    __lshift__ = __rshift__ = __or__ = __xor__ = __rand__ = __ror__ = __rdivmod__ = __rlshift__ = __rrshift__ = (
        __rxor__
    ) = __round__ = _unsupported


# Strings and bytes of some length, with arbitrary code points or bytes


def code_units(value: Any) -> tuple[Any, ...]:
    """Return terms for the code points of a string, or the bytes of a binary."""
    if isinstance(value, SymbolicText | SymbolicBytes):
        return tuple(map(int_term, value.units))
    return tuple(z3.IntVal(one if isinstance(one, int) else ord(one)) for one in value)


def is_less(left: Sequence[Any], right: Sequence[Any], *, same: bool) -> Any:
    """Return the condition that a sequence is less than another one, or optionally equal to it."""
    result: Any = z3.BoolVal(len(left) <= len(right) if same else len(left) < len(right))
    for place in reversed(range(min(len(left), len(right)))):
        result = z3.Or(left[place] < right[place], z3.And(left[place] == right[place], result))
    return result


def is_equal(left: Sequence[Any], right: Sequence[Any]) -> Any:
    """Return the condition that two sequences are equal."""
    return (
        z3.And(*(a == b for a, b in zip(left, right, strict=True)))
        if len(left) == len(right)
        else z3.BoolVal(val=False)
    )


class _Sequence:
    """The common base of symbolic strings and bytes."""

    units: tuple[Any, ...]
    __slots__ = ()

    def _part(self, units: Iterable[Any]) -> Any:
        raise NotImplementedError

    def _cut(self, place: slice) -> tuple[Any, ...]:
        if place.step is not None:
            raise Unsupported("a slice with a step")
        stop = place.stop
        if isinstance(stop, SymbolicInt):
            stop = next((end for end in range(len(self.units)) if stop <= end), None)
        return self.units[slice(place.start, stop)]

    def __lt__(self, other: Any) -> Any:
        return SymbolicBool(is_less(code_units(self), code_units(other), same=False))

    def __le__(self, other: Any) -> Any:
        return SymbolicBool(is_less(code_units(self), code_units(other), same=True))

    def __gt__(self, other: Any) -> Any:
        return SymbolicBool(is_less(code_units(other), code_units(self), same=False))

    def __ge__(self, other: Any) -> Any:
        return SymbolicBool(is_less(code_units(other), code_units(self), same=True))

    def __eq__(self, other: object) -> Any:
        if not isinstance(other, str | bytes):
            return False
        return SymbolicBool(is_equal(code_units(self), code_units(other)))

    def __ne__(self, other: object) -> Any:
        if not isinstance(other, str | bytes):
            return True
        return SymbolicBool(z3.Not(is_equal(code_units(self), code_units(other))))

    def __hash__(self) -> int:
        return 0

    def __repr__(self) -> str:
        return f"<{len(self.units)} units>"

    __str__ = __repr__

    def __add__(self, other: Any) -> Any:
        units = (
            other.units
            if isinstance(other, _Sequence)
            else [one if isinstance(one, int) else ord(one) for one in other]
        )
        return self._part((*self.units, *units))

    def startswith(self, prefix: Any) -> Any:
        """Return whether the value begins with a prefix."""
        return SymbolicBool(is_equal(code_units(self)[: len(prefix)], code_units(prefix)))

    def rstrip(self, unit: Any) -> Any:
        """Return the sequence without trailing units of one value; the path forks for every number of them."""
        (last,) = (one if isinstance(one, int) else ord(one) for one in unit)
        end = len(self.units)
        while end and self.units[end - 1] == last:
            end -= 1
        return self._part(self.units[:end])


class SymbolicText(_Sequence, str):  # type: ignore[misc]  # what it has in place of str's methods takes less
    """An arbitrary string of some length."""

    def __new__(cls, units: Iterable[Any]) -> SymbolicText:
        units = tuple(units)
        self = str.__new__(cls, "\ufffd" * len(units))
        self.units = units
        return self

    def _part(self, units: Iterable[Any]) -> SymbolicText:
        return SymbolicText(units)

    def __getitem__(self, place: Any) -> Any:
        return SymbolicText(self._cut(place) if isinstance(place, slice) else (self.units[place],))

    def encode(self, *_: Any) -> Any:
        """Only check that there are no surrogates."""
        for unit in self.units:
            if SymbolicBool(z3.And(int_term(unit) >= 0xD800, int_term(unit) <= 0xDFFF)):
                raise UnicodeEncodeError("utf-8", "\ud800", 0, 1, "surrogates not allowed")
        return b""


class SymbolicBytes(_Sequence, bytes):  # type: ignore[misc]  # the same
    """Arbitrary bytes of some length."""

    def __new__(cls, units: Iterable[Any]) -> SymbolicBytes:
        units = tuple(units)
        self = bytes.__new__(cls, len(units))
        self.units = units
        return self

    def _part(self, units: Iterable[Any]) -> SymbolicBytes:
        return SymbolicBytes(units)

    def __getitem__(self, place: Any) -> Any:
        return SymbolicBytes(self._cut(place)) if isinstance(place, slice) else self.units[place]


# Decimals


class Digits:
    """The digits of a decimal; code only compares their number with a precision."""

    def __init__(self, number: Any) -> None:
        self.number = number

    def __le__(self, precision: Any) -> Any:
        """Return whether there are at most so many digits."""
        limit = 10**precision
        return (self.number < limit) & (self.number > -limit)


class SymbolicDecimal(Decimal):
    """An arbitrary decimal with a given scale."""

    number: Any
    precision: Any
    scale: Any

    def __new__(cls, number: Any, precision: Any, scale: Any) -> SymbolicDecimal:
        self = super().__new__(cls, "NaN")
        self.number, self.precision, self.scale = number, precision, scale
        return self

    def as_tuple(self) -> Any:
        """Return the sign, which no caller uses, the digits and the exponent."""
        return None, Digits(self.number), -self.scale

    def _compared(self, other: Any) -> Any:
        if not isinstance(other, SymbolicDecimal) or other.scale != self.scale:
            raise Unsupported("decimals of two scales are compared")
        return other.number

    def __lt__(self, other: Any) -> Any:
        return self.number < self._compared(other)

    def __le__(self, other: Any) -> Any:
        return self.number <= self._compared(other)

    def __gt__(self, other: Any) -> Any:
        return self.number > self._compared(other)

    def __ge__(self, other: Any) -> Any:
        return self.number >= self._compared(other)

    def __eq__(self, other: object) -> Any:
        return self.number == self._compared(other) if isinstance(other, Decimal) else False

    def __ne__(self, other: object) -> Any:
        return self.number != self._compared(other) if isinstance(other, Decimal) else True

    def __hash__(self) -> int:
        return 0

    def __repr__(self) -> str:
        return f"<{self.number!r}E-{self.scale}>"

    __str__ = __repr__

"""The replacements, during a proof, of code that symbols cannot follow.

There are few stand-ins, each is smaller than a rule, and each is an assumption of the proofs: `docs/proofs.md` names
them. If a stand-in represents *any* function with a property (a hash, a calendar), the proof holds for every such
function.
"""

from __future__ import annotations

import builtins
import importlib
import struct
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import z3

from spec_ref.core.records import evolve
from tools.proofs.explorer import Unsupported, active, merge_paths
from tools.proofs.symbolic_floats import SymbolicFloat, SymbolicFloatOfBits
from tools.proofs.symbols import (
    Digits,
    SymbolicBool,
    SymbolicBytes,
    SymbolicDecimal,
    SymbolicInt,
    SymbolicText,
    boolean_term,
    code_units,
    int_term,
    is_equal,
)

SYMBOLIC = SymbolicInt, SymbolicText, SymbolicBytes, SymbolicDecimal, SymbolicFloat, SymbolicFloatOfBits, SymbolicBool

INT32 = 1 << 31


# Functions that stand for any function


def arbitrary_result(name: str, argument: Any, same: Callable[[Any, Any], Any]) -> Any:
    """Return the result of an arbitrary function: a new symbol, equal to its results for equal arguments.

    Args:
        name: the function.
        argument: its argument.
        same: returns the condition that two arguments are equal.

    Returns:
        The term of the result.
    """
    path = active()
    others = path.applications.setdefault(name, [])
    equal = [z3.simplify(same(argument, other)) for other, _ in others]
    for condition, (_, value) in zip(equal, others, strict=True):
        if z3.is_true(condition):
            return value
    result = z3.Int(f"{name}!{len(others)}")
    for condition, (_, value) in zip(equal, others, strict=True):
        if not z3.is_false(condition):
            path.assume(z3.Implies(condition, result == value))
    others.append((argument, result))
    return result


def _same_value(left: Any, right: Any) -> Any:
    if isinstance(left, SymbolicDecimal) and isinstance(right, SymbolicDecimal):
        return _same_value(left.number, right.number)
    if isinstance(left, int) and isinstance(right, int):
        return int_term(left) == int_term(right)
    if isinstance(left, str | bytes) and isinstance(right, str | bytes):
        return is_equal(code_units(left), code_units(right))
    if isinstance(left, tuple) and isinstance(right, tuple) and len(left) == len(right):
        return z3.And(*map(_same_value, left, right))
    if isinstance(left, str) or isinstance(right, str):
        return z3.BoolVal(left == right)
    raise Unsupported(f"whether {left!r} and {right!r} are the same")


def any_hash(data: Any) -> Any:
    """Replace Murmur3 by an arbitrary function from bytes to 32 bits."""
    result = arbitrary_result("hash", data, _same_value)
    active().assume(z3.And(result >= -INT32, result < INT32))
    return SymbolicInt(result)


def non_decreasing_result(name: str, argument: Any) -> Any:
    """Return the result of an arbitrary function from ints to ints that never decreases."""
    path, term = active(), int_term(argument)
    others = path.applications.setdefault(name, [])
    for other, value in others:
        if z3.is_true(z3.simplify(term == other)):
            return SymbolicInt(value)
    result = z3.Int(f"{name}!{len(others)}")
    for other, value in others:
        path.assume(z3.And(z3.Implies(term <= other, result <= value), z3.Implies(other <= term, value <= result)))
    others.append((term, result))
    return SymbolicInt(result)


def arbitrary_months(days: Any) -> Any:
    """Replace the calendar's months by an arbitrary function from days to months that never decreases.

    Separate theorems about the calendar say that its months never decrease, and fit an int for every day of a date.
    """
    result, term = non_decreasing_result("months", days), int_term(days)
    fits = z3.And(result.term >= -INT32, result.term < INT32)
    active().assume(z3.Implies(z3.And(term >= -INT32, term < INT32), fits))
    return result


def floor(original: Callable[..., Any]) -> Callable[[Any, Any], Any]:
    """Replace truncation by an arbitrary function that never decreases; a separate theorem says that it is one."""

    def stand_in(self: Any, number: Any) -> Any:
        if not isinstance(number, SymbolicInt):
            return original(self, number)
        return non_decreasing_result(f"truncate {int_term(self.width)}", number)

    return stand_in


def civil_from_days(original: Callable[..., Any]) -> Callable[[Any], Any]:
    """Return the calendar date of any day, by `arbitrary_months`; no caller uses the day of the month."""

    def stand_in(days: Any) -> Any:
        if not isinstance(days, SymbolicInt):
            return original(days)
        months = arbitrary_months(days)
        return 1970 + months // 12, months % 12 + 1, None

    return stand_in


def bucket(original: Callable[..., Any]) -> Callable[[Any, Any, Any], Any]:
    """Replace buckets by an arbitrary function into their numbers; a separate theorem says that buckets are one."""

    def stand_in(self: Any, source: Any, value: Any) -> Any:
        if not isinstance(value, SYMBOLIC):
            return original(self, source, value)
        result = arbitrary_result(f"bucket {int_term(self.num_buckets)}", value, _same_value)
        active().assume(z3.And(result >= 0, result < int_term(self.num_buckets)))
        return SymbolicInt(result)

    return stand_in


# Python's own functions, which are written in C


class _Packing:
    """``struct``, as far as a hash and the order of doubles use it: a number's bytes are the number and a format."""

    def __init__(self, original: Any) -> None:
        self.original = original

    def __getattr__(self, name: str) -> Any:
        return getattr(self.original, name)

    def pack(self, form: str, value: Any) -> Any:
        return (form, value) if isinstance(value, SYMBOLIC) else self.original.pack(form, value)

    def unpack(self, form: str, data: Any) -> Any:
        if not isinstance(data, tuple):
            return self.original.unpack(form, data)
        packed, value = data
        if (packed, form) != (">d", ">q") or not isinstance(value, SymbolicFloatOfBits):
            raise Unsupported(f"bytes of {packed} as {form}")
        return (value.bits,)


class _Math:
    """``math``, as far as the order of doubles uses it."""

    def __init__(self, original: Any) -> None:
        self.original = original

    def __getattr__(self, name: str) -> Any:
        return getattr(self.original, name)

    def isnan(self, value: Any) -> Any:
        return value != value if isinstance(value, SymbolicFloatOfBits) else self.original.isnan(value)

    def copysign(self, value: Any, sign: Any) -> Any:
        if not isinstance(sign, SymbolicFloatOfBits):
            return self.original.copysign(value, sign)
        if value == value:
            raise Unsupported("the sign of something else than a NaN")
        nan = z3.BitVecVal(0x7FF8 << 48, 64)
        return SymbolicFloatOfBits(z3.If(sign.bits.term < 0, nan | z3.BitVecVal(1 << 63, 64), nan))


class _Date:
    """A date in the 400 years after which the calendar repeats: its parts are arbitrary functions of the day."""

    def __init__(self, day: Any) -> None:
        for part in ("year", "month", "day"):
            setattr(self, part, SymbolicInt(arbitrary_result(f"{part} of the cycle", day, _same_value)))


class _Days:
    """A number of days that is added to a date."""

    def __init__(self, days: Any) -> None:
        self.days = days

    def __radd__(self, _: Any) -> _Date:
        return _Date(self.days)


class _Datetime:
    """``datetime``, as far as the calendar uses it."""

    def __init__(self, original: Any) -> None:
        self.original = original

    def __getattr__(self, name: str) -> Any:
        return getattr(self.original, name)

    def timedelta(self, days: Any) -> Any:
        return _Days(days) if isinstance(days, SymbolicInt) else self.original.timedelta(days=days)


class _Constructor(type):
    """A type that looks like one of Python's types, but makes symbols from symbols."""

    made: Any
    plain: Any

    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, cls.plain)

    def __call__(cls, *arguments: Any) -> Any:
        return cls.made(*arguments)

    def __getattr__(cls, name: str) -> Any:
        return getattr(cls.plain, name)


def _number_from_bytes(data: Any, byteorder: str, *, signed: bool = False) -> Any:
    if not isinstance(data, SymbolicBytes):
        return int.from_bytes(data, byteorder, signed=signed)  # type: ignore[arg-type]
    if byteorder != "big":
        raise Unsupported("bytes in another order")
    number = sum(
        (unit * (1 << 8 * place) for place, unit in enumerate(reversed(data.units))), SymbolicInt(z3.IntVal(0))
    )
    half = 1 << 8 * len(data.units) - 1
    return SymbolicInt(z3.If(number.term < half, number.term, number.term - 2 * half)) if signed else number


class _Int(metaclass=_Constructor):
    plain = int
    made = staticmethod(lambda value=0, *base: value if isinstance(value, SymbolicInt) else int(value, *base))
    from_bytes = staticmethod(_number_from_bytes)


def _bytes(value: Any = b"", *rest: Any) -> Any:
    if isinstance(value, list | tuple) and any(isinstance(one, SymbolicInt) for one in value):
        return SymbolicBytes(value)
    return bytes(value, *rest)


class _Bytes(metaclass=_Constructor):
    plain = bytes
    made = staticmethod(_bytes)


def _ord(text: Any) -> Any:
    return text.units[0] if isinstance(text, SymbolicText) else ord(text)


def _chr(number: Any) -> Any:
    return SymbolicText((number,)) if isinstance(number, SymbolicInt) else chr(number)


# Decimals, without their digits


def _len(value: Any) -> Any:
    return value if isinstance(value, Digits) else len(value)


def _unscaled_value(original: Callable[..., Any]) -> Callable[[Any], Any]:
    return lambda value: value.number if isinstance(value, SymbolicDecimal) else original(value)


def _decimal_from_unscaled(original: Callable[..., Any]) -> Callable[[Any, Any], Any]:
    def stand_in(type_: Any, number: Any) -> Any:
        if not isinstance(number, SymbolicInt):
            return original(type_, number)
        limit = 10**type_.precision
        if not (number < limit) or not (number > -limit):
            return original(type_, limit)  # raises the error for other values
        return SymbolicDecimal(number, type_.precision, type_.scale)

    return stand_in


class Encoded:
    """The bytes of a bound, represented by its value: decoding returns the encoded value."""

    def __init__(self, value: Any) -> None:
        self.value = value


class Packed(bytes):
    """The bytes of a number in a layout of ``struct``, which returns the number if it reads them in the same layout."""

    layout: struct.Struct
    number: Any

    def __new__(cls, layout: struct.Struct, number: Any) -> Packed:
        self = super().__new__(cls, layout.size)
        self.layout, self.number = layout, number
        return self


def _layouts(original: Callable[..., Any]) -> Callable[[Any], Any]:
    def stand_in(type_: Any) -> Any:
        form = original(type_)
        layout = getattr(form.encode, "__self__", None)
        if not isinstance(layout, struct.Struct):
            return form

        def encode(value: Any) -> Any:
            return Packed(layout, value) if isinstance(value, SYMBOLIC) else form.encode(value)

        def decode(type_: Any, data: Any) -> Any:
            if not isinstance(data, Packed) or len(data) != layout.size:
                return form.decode(type_, bytes(data))  # raises the error for another length
            if data.layout.format != layout.format:
                raise Unsupported(f"bytes of {data.layout.format} as {layout.format}")
            return data.number

        return evolve(form, encode=encode, decode=decode)

    return stand_in


def _decode_bound(original: Callable[..., Any]) -> Callable[[Any, Any], Any]:
    return lambda type_, data: data.value if isinstance(data, Encoded) else original(type_, data)


# The results of predicates


def evaluate(original: Callable[..., Any]) -> Callable[[Any, Any], Any]:
    """Run the original evaluation of a predicate on all paths, and merge their results into one condition."""

    def stand_in(predicate: Any, row: Any) -> Any:
        found = merge_paths(lambda: original(predicate, row), boolean_term)
        return SymbolicBool(found) if isinstance(found, z3.BoolRef) else found

    return stand_in


FUNCTIONS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "the hash": ("spec_ref.hashing.murmur3_x86_32", lambda _: any_hash),
    "the calendar": ("spec_ref.core.calendar.civil_from_days", civil_from_days),
    "the digits of a decimal": ("spec_ref.core.decimals.unscaled_value", _unscaled_value),
    "a decimal from digits": ("spec_ref.data_types.decimals.decimal_from_unscaled", _decimal_from_unscaled),
    "the bytes of a decimal": (
        "spec_ref.single_value.binary.minimal_twos_complement",
        lambda original: lambda number: ("decimal", number) if isinstance(number, SymbolicInt) else original(number),
    ),
    "the text of a value in a message": ("spec_ref.core.errors.abbreviated_repr", lambda _: lambda value: "a value"),
    "the bytes of a bound": ("spec_ref.single_value.bounds.decode_bound", _decode_bound),
    "the bytes of a number": ("spec_ref.single_value.binary._form", _layouts),
    "the result of a predicate": ("spec_ref.expressions.bound.evaluate", evaluate),
}
"""The functions of `spec_ref` that are replaced, wherever they are imported."""

METHODS: dict[str, tuple[str, str, str, Callable[[Any], Any]]] = {
    "the bucket": ("spec_ref.partitioning.transforms", "Bucket", "_compute", bucket),
    "truncation": ("spec_ref.partitioning.transforms", "Truncate", "_floor", floor),
}
"""The methods of `spec_ref` that are replaced: module, class, method."""

NAMES: dict[str, dict[str, Any]] = {
    "spec_ref.core.calendar": {"datetime": _Datetime},
    "spec_ref.data_types.values": {"len": lambda _: _len},
    "spec_ref.hashing": {"struct": _Packing},
    "spec_ref.partitioning.transforms": {"int": lambda _: _Int},
    "spec_ref.sorting.comparator": {"struct": _Packing, "math": _Math},
    "spec_ref.single_value.binary": {"int": lambda _: _Int},
    "spec_ref.single_value.bounds": {"ord": lambda _: _ord, "chr": lambda _: _chr, "bytes": lambda _: _Bytes},
}
"""Python's names that are replaced, by module."""


@contextmanager
def use_stand_ins(without: tuple[str, ...] = ()) -> Iterator[None]:
    """Install the stand-ins.

    Args:
        without: functions to leave as they are, by their names in `FUNCTIONS`.
    """
    missing = object()
    for place in (*(place.rpartition(".")[0] for place, _ in FUNCTIONS.values()), *NAMES):
        importlib.import_module(place)
    undo: list[tuple[dict[str, Any], str, Any]] = []
    methods: list[tuple[type, str, Any]] = []
    spaces = [
        vars(module)
        for name, module in list(sys.modules.items())
        if name.startswith(("spec_ref.", "tools.proofs.theorems."))
    ]
    try:
        for name, (place, make) in FUNCTIONS.items():
            if name in without:
                continue
            module, _, function = place.rpartition(".")
            original = getattr(importlib.import_module(module), function)
            replacement = make(original)
            for space in spaces:
                if space.get(function) is original:
                    undo.append((space, function, original))
                    space[function] = replacement
        for key, (module, owner, method, make) in METHODS.items():
            if key not in without:
                class_ = getattr(sys.modules[module], owner)
                methods.append((class_, method, getattr(class_, method)))
                setattr(class_, method, make(getattr(class_, method)))
        for module, names in NAMES.items():
            space = vars(importlib.import_module(module))
            for name, make in names.items():
                undo.append((space, name, space.get(name, missing)))
                space[name] = make(space.get(name, getattr(builtins, name, None)))
        yield
    finally:
        for class_, method, original in methods:
            setattr(class_, method, original)
        for space, name, value in reversed(undo):
            if value is missing:
                del space[name]
            else:
                space[name] = value

"""Faults of binary single values (Appendix D)."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from conformance.adapter_sdk.serve import Arguments
from conformance.operations.wire import from_exchange, to_exchange
from spec_ref.data_types.types import DecimalType, Type
from spec_ref.schemas.type_json import type_from_json
from tests.faulty_adapters import Fault, Operation
from tests.faulty_adapters.hashing import unscaled

Wrong = Callable[[Arguments, Operation], Any]

NUMBERS = ("int", "long", "date", "time", "timestamp", "timestamptz", "timestamp_ns", "timestamptz_ns")


def kind(type_: Type) -> str:
    """The name of a type without its parameters."""
    return str(type_).partition("(")[0].partition("[")[0]


def encoded(*types: str) -> Callable[[Callable[[bytes, Any, Type], bytes]], Wrong]:
    """Make a fault that changes the bytes written for values of ``types``."""

    def decorate(change: Callable[[bytes, Any, Type], bytes]) -> Wrong:
        def wrong(arguments: Arguments, right: Operation) -> Any:
            answer = right(arguments)
            type_ = type_from_json(arguments["type"])
            if kind(type_) not in types:
                return answer
            return change(bytes.fromhex(answer), from_exchange(type_, arguments["value"]), type_).hex().upper()

        return wrong

    return decorate


def decoded(*types: str) -> Callable[[Callable[[bytes, Type], Any]], Wrong]:
    """Make a fault that reads the bytes of values of ``types``: the function gives the value, for valid bytes."""

    def decorate(read: Callable[[bytes, Type], Any]) -> Wrong:
        def wrong(arguments: Arguments, right: Operation) -> Any:
            answer = right(arguments)
            type_ = type_from_json(arguments["type"])
            if kind(type_) not in types:
                return answer
            return to_exchange(type_, read(bytes.fromhex(arguments["bytes"]), type_))

        return wrong

    return decorate


def given(*types: str) -> Callable[[Callable[[bytes, Type], bytes]], Wrong]:
    """Make a fault that corrects the bytes of ``types`` before it reads them, and so accepts what it must refuse."""

    def decorate(mend: Callable[[bytes, Type], bytes]) -> Wrong:
        def wrong(arguments: Arguments, right: Operation) -> Any:
            type_ = type_from_json(arguments["type"])
            if kind(type_) not in types:
                return right(arguments)
            return right({**arguments, "bytes": mend(bytes.fromhex(arguments["bytes"]), type_).hex().upper()})

        return wrong

    return decorate


def width(type_: Type) -> int:
    """The bytes that a number of the type takes."""
    return 4 if kind(type_) in ("int", "date", "float") else 8


def to_decimal(number: int, type_: Type) -> Decimal:
    """The decimal of an unscaled value at the scale of the type."""
    assert isinstance(type_, DecimalType)
    return Decimal((number < 0, tuple(map(int, str(abs(number)))), -type_.scale))


@encoded("int", "date")
def _eight_bytes(_data: bytes, value: int, _: Type) -> bytes:
    return value.to_bytes(8, "little", signed=True)


@encoded("date")
def _date_as_text(_data: bytes, value: int, _: Type) -> bytes:
    return str(value).encode()


@encoded("timestamp", "timestamptz")
def _milliseconds(_data: bytes, value: int, _: Type) -> bytes:
    return (value // 1000).to_bytes(8, "little", signed=True)


@encoded("timestamp_ns", "timestamptz_ns")
def _microseconds(_data: bytes, value: int, _: Type) -> bytes:
    return (value // 1000).to_bytes(8, "little", signed=True)


@encoded("time")
def _time_in_nanoseconds(_data: bytes, value: int, _: Type) -> bytes:
    return (value * 1000).to_bytes(8, "little", signed=True)


@encoded("float")
def _float_as_double(_data: bytes, value: float, _: Type) -> bytes:
    return struct.pack("<d", value)


@encoded("float", "double")
def _negative_zero_lost(data: bytes, value: float, _: Type) -> bytes:
    return data if value else bytes(len(data))


@encoded("decimal")
def _decimal_extra_byte(_data: bytes, value: Decimal, _: Type) -> bytes:
    number = unscaled(value)
    return number.to_bytes(number.bit_length() // 8 + 1, "big", signed=True)


@encoded("decimal")
def _decimal_magnitude(data: bytes, value: Decimal, _: Type) -> bytes:
    number = unscaled(value)
    return data if number <= 0 else number.to_bytes((number.bit_length() + 7) // 8, "big")


@encoded("decimal")
def _decimal_stored_width(_data: bytes, value: Decimal, type_: Type) -> bytes:
    assert isinstance(type_, DecimalType)
    size = (10**type_.precision - 1).bit_length() // 8 + 1
    return unscaled(value).to_bytes(size, "big", signed=True)


@encoded("uuid")
def _uuid_little_endian(_data: bytes, value: Any, _: Type) -> bytes:
    return bytes(value.bytes_le)


@encoded("uuid")
def _uuid_text(_data: bytes, value: Any, _: Type) -> bytes:
    return str(value).encode()


@encoded("string")
def _string_utf16(_data: bytes, value: str, _: Type) -> bytes:
    return value.encode("utf-16-le")


@encoded("boolean")
def _boolean_text(_data: bytes, value: bool, _: Type) -> bytes:
    return b"true" if value else b"false"


@decoded("decimal")
def _decimal_unsigned(data: bytes, type_: Type) -> Decimal:
    return to_decimal(int.from_bytes(data, "big"), type_)


@decoded("int", "long", "date", "timestamp", "timestamptz", "timestamp_ns", "timestamptz_ns")
def _unsigned(data: bytes, type_: Type) -> int:
    return int.from_bytes(data, "little") & (1 << 8 * width(type_) - 1) - 1


@decoded("uuid")
def _uuid_read_little_endian(data: bytes, _: Type) -> Any:
    from uuid import UUID

    return UUID(bytes_le=data)


@given("boolean")
def _only_one_is_true(data: bytes, _: Type) -> bytes:
    return data if data == b"\1" or len(data) != 1 else b"\0"


@given("string")
def _invalid_utf8_replaced(data: bytes, _: Type) -> bytes:
    return data.decode("utf-8", "replace").encode()


@given("string")
def _surrogates_accepted(data: bytes, _: Type) -> bytes:
    """Reads a surrogate half, which UTF-8 does not have, as a question mark."""
    return re.sub(rb"\xed[\xa0-\xbf][\x80-\xbf]", b"?", data)


@given("decimal")
def _empty_decimal_is_zero(data: bytes, _: Type) -> bytes:
    return data or b"\0"


def _precision_unchecked(arguments: Arguments, right: Operation) -> Any:
    type_ = type_from_json(arguments["type"])
    if not isinstance(type_, DecimalType):
        return right(arguments)
    return right({**arguments, "type": str(DecimalType(38, type_.scale))})


def _time_unchecked(arguments: Arguments, right: Operation) -> Any:
    if arguments["type"] != "time":
        return right(arguments)
    data = bytes.fromhex(arguments["bytes"])
    if len(data) != 8:
        return right(arguments)
    inside = int.from_bytes(data, "little", signed=True) % 86_400_000_000
    return right({**arguments, "bytes": inside.to_bytes(8, "little", signed=True).hex()})


def _unsupported_accepted(arguments: Arguments, right: Operation) -> Any:
    """Writes a variant, a nested or an unknown value as the JSON text of it."""
    type_ = type_from_json(arguments["type"])
    if kind(type_).partition("<")[0] in ("unknown", "variant", "struct", "list", "map"):
        return repr(arguments.get("value")).encode().hex().upper()
    return right(arguments)


FAULTS = tuple(
    Fault(f"encode-{name}", "single-value.encode", wrong)
    for name, wrong in {
        "int-in-eight-bytes": _eight_bytes,
        "date-as-text": _date_as_text,
        "timestamp-in-milliseconds": _milliseconds,
        "nanoseconds-as-microseconds": _microseconds,
        "time-in-nanoseconds": _time_in_nanoseconds,
        "float-as-double": _float_as_double,
        "negative-zero-lost": _negative_zero_lost,
        "decimal-extra-byte": _decimal_extra_byte,
        "decimal-magnitude": _decimal_magnitude,
        "decimal-in-stored-width": _decimal_stored_width,
        "uuid-little-endian": _uuid_little_endian,
        "uuid-as-text": _uuid_text,
        "string-as-utf16": _string_utf16,
        "boolean-as-text": _boolean_text,
        "types-without-form-accepted": _unsupported_accepted,
    }.items()
) + tuple(
    Fault(f"decode-{name}", "single-value.decode", wrong)
    for name, wrong in {
        "decimal-unsigned": _decimal_unsigned,
        "numbers-unsigned": _unsigned,
        "uuid-little-endian": _uuid_read_little_endian,
        "boolean-only-one-is-true": _only_one_is_true,
        "invalid-utf8-replaced": _invalid_utf8_replaced,
        "surrogates-accepted": _surrogates_accepted,
        "empty-decimal-as-zero": _empty_decimal_is_zero,
        "decimal-precision-unchecked": _precision_unchecked,
        "time-range-unchecked": _time_unchecked,
    }.items()
)

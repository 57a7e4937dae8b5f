"""Faults of the 32-bit hash (Appendix B)."""

from __future__ import annotations

import struct
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from conformance.adapter_sdk.serve import Arguments
from conformance.operations.wire import from_exchange
from spec_ref.data_types.types import DecimalType, Type
from spec_ref.hashing import murmur3_x86_32
from spec_ref.schemas.type_json import type_from_json
from tests.faulty_adapters import Fault, Operation

INTEGERS = ("int", "date")
LONGS = ("int", "long", "date", "time", "timestamp", "timestamptz")
NANOSECONDS = ("timestamp_ns", "timestamptz_ns")


def hashed(*types: str) -> Callable[[Callable[[Any, Type], bytes]], Callable[[Arguments, Operation], Any]]:
    """Make a fault that hashes other bytes for values of ``types`` (their names; ``decimal`` and ``fixed`` for all)."""

    def decorate(encode: Callable[[Any, Type], bytes]) -> Callable[[Arguments, Operation], Any]:
        def wrong(arguments: Arguments, right: Operation) -> Any:
            answer = right(arguments)
            type_ = type_from_json(arguments["type"])
            if answer is None or str(type_).partition("(")[0].partition("[")[0] not in types:
                return answer
            return murmur3_x86_32(encode(from_exchange(type_, arguments["value"]), type_))

        return wrong

    return decorate


def long_bytes(value: int) -> bytes:
    """The bytes that ``hashLong`` hashes."""
    return value.to_bytes(8, "little", signed=True)


def unscaled(value: Decimal) -> int:
    """The unscaled value of a decimal."""
    sign, digits, _ = value.as_tuple()
    number = int("".join(map(str, digits)))
    return -number if sign else number


def toward_zero(number: int, by: int) -> int:
    """The quotient as most languages divide: cut toward zero."""
    return -(-number // by) if number < 0 else number // by


def minimal(number: int, spare_bits: int = 0) -> bytes:
    """The shortest two's complement of ``number``, or of one that needs ``spare_bits`` more."""
    magnitude = number if number >= 0 else ~number
    return number.to_bytes((magnitude.bit_length() + spare_bits) // 8 + 1, "big", signed=True)


@hashed(*INTEGERS)
def _four_bytes(value: int, _: Type) -> bytes:
    return value.to_bytes(4, "little", signed=True)


@hashed("date")
def _date_four_bytes(value: int, _: Type) -> bytes:
    return value.to_bytes(4, "little", signed=True)


@hashed("int")
def _unsigned_widening(value: int, _: Type) -> bytes:
    return (value & 0xFFFFFFFF).to_bytes(8, "little")


@hashed("decimal")
def _decimal_sixteen_bytes(value: Decimal, _: Type) -> bytes:
    return unscaled(value).to_bytes(16, "big", signed=True)


@hashed("decimal")
def _decimal_stored_width(value: Decimal, type_: Type) -> bytes:
    assert isinstance(type_, DecimalType)
    width = ((10**type_.precision - 1).bit_length() // 8) + 1
    return unscaled(value).to_bytes(width, "big", signed=True)


@hashed("decimal")
def _decimal_without_sign(value: Decimal, _: Type) -> bytes:
    return minimal(abs(unscaled(value)))


@hashed("decimal")
def _decimal_bit_length_of_negative(value: Decimal, _: Type) -> bytes:
    number = unscaled(value)
    return number.to_bytes(number.bit_length() // 8 + 1, "big", signed=True)


@hashed("decimal")
def _decimal_as_text(value: Decimal, _: Type) -> bytes:
    return str(value).encode()


@hashed("decimal")
def _decimal_as_long(value: Decimal, _: Type) -> bytes:
    return (unscaled(value) & (2**64 - 1)).to_bytes(8, "little")


@hashed("string")
def _string_utf16(value: str, _: Type) -> bytes:
    return value.encode("utf-16-le")


@hashed("string")
def _string_surrogates(value: str, _: Type) -> bytes:
    units = value.encode("utf-16-le")
    return b"".join(
        chr(int.from_bytes(units[at : at + 2], "little")).encode("utf-8", "surrogatepass")
        for at in range(0, len(units), 2)
    )


@hashed("string", "binary", "fixed", "uuid", "decimal")
def _tail_dropped(value: Any, _: Type) -> bytes:
    data = plain_bytes(value)
    return data[: len(data) // 4 * 4]


def plain_bytes(value: Any) -> bytes:
    """What is hashed of a value that is no number of eight bytes."""
    match value:
        case str():
            return value.encode()
        case bytes():
            return value
        case Decimal():
            return minimal(unscaled(value))
        case _:
            return bytes(value.bytes)


@hashed("uuid")
def _uuid_little_endian(value: Any, _: Type) -> bytes:
    return bytes(value.bytes_le)


@hashed("uuid")
def _uuid_sign_flipped(value: Any, _: Type) -> bytes:
    return bytes([value.bytes[0] ^ 0x80, *value.bytes[1:]])


@hashed("uuid")
def _uuid_text(value: Any, _: Type) -> bytes:
    return str(value).encode()


@hashed("uuid")
def _uuid_swapped_halves(value: Any, _: Type) -> bytes:
    return bytes(value.bytes[8:] + value.bytes[:8])


@hashed(*NANOSECONDS)
def _raw_nanoseconds(value: int, _: Type) -> bytes:
    return long_bytes(value)


@hashed(*NANOSECONDS)
def _nanoseconds_toward_zero(value: int, _: Type) -> bytes:
    return long_bytes(toward_zero(value, 1000))


@hashed(*NANOSECONDS)
def _nanoseconds_rounded(value: int, _: Type) -> bytes:
    return long_bytes((value + 500) // 1000)


@hashed("timestamp", "timestamptz")
def _milliseconds(value: int, _: Type) -> bytes:
    return long_bytes(value // 1000)


@hashed("time")
def _time_in_nanoseconds(value: int, _: Type) -> bytes:
    return long_bytes(value * 1000)


@hashed("boolean")
def _boolean_one_byte(value: bool, _: Type) -> bytes:
    return bytes([value])


@hashed("float")
def _float_four_bytes(value: float, _: Type) -> bytes:
    return struct.pack("<f", value)


@hashed("float", "double")
def _negative_zero_kept(value: float, _: Type) -> bytes:
    return struct.pack("<d", value)


@hashed("float", "double")
def _nan_negative(value: float, _: Type) -> bytes:
    return struct.pack("<Q", 0xFFF8000000000000) if value != value else struct.pack("<d", value + 0.0)


def _unsigned(arguments: Arguments, right: Operation) -> Any:
    answer = right(arguments)
    return answer & 0xFFFFFFFF if isinstance(answer, int) else answer


def _with_signed_tail(arguments: Arguments, right: Operation) -> Any:
    """Extends the sign of a tail byte above 0x7F, as C code that reads ``char`` does."""
    type_ = type_from_json(arguments["type"])
    answer = right(arguments)
    value = None if answer is None else from_exchange(type_, arguments["value"])
    return _murmur_signed_tail(plain_bytes(value)) if isinstance(value, (str, bytes)) else answer


def _murmur_signed_tail(data: bytes) -> int:
    mask = 0xFFFFFFFF

    def rotate(word: int, by: int) -> int:
        return (word << by | word >> 32 - by) & mask

    def mixed(word: int) -> int:
        return rotate(word * 0xCC9E2D51 & mask, 15) * 0x1B873593 & mask

    whole = len(data) // 4 * 4
    state = 0
    for at in range(0, whole, 4):
        state = (rotate(state ^ mixed(int.from_bytes(data[at : at + 4], "little")), 13) * 5 + 0xE6546B64) & mask
    word = 0
    for place, byte in enumerate(data[whole:]):
        word ^= ((byte - 256 if byte > 0x7F else byte) << 8 * place) & mask
    state ^= mixed(word) ^ len(data)
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        state = (state ^ state >> shift) * factor & mask
    state ^= state >> 16
    return state - 2**32 if state >= 2**31 else state


def _unknown_as_zero(arguments: Arguments, right: Operation) -> Any:
    answer = right(arguments)
    return 0 if answer is None else answer


FAULTS = tuple(
    Fault(f"hash-{name}", "hash", wrong)
    for name, wrong in {
        "int-in-four-bytes": _four_bytes,
        "date-in-four-bytes": _date_four_bytes,
        "int-widened-unsigned": _unsigned_widening,
        "decimal-in-sixteen-bytes": _decimal_sixteen_bytes,
        "decimal-in-stored-width": _decimal_stored_width,
        "decimal-without-sign": _decimal_without_sign,
        "decimal-minimum-with-extra-byte": _decimal_bit_length_of_negative,
        "decimal-as-text": _decimal_as_text,
        "decimal-as-long": _decimal_as_long,
        "string-as-utf16": _string_utf16,
        "string-as-surrogate-pairs": _string_surrogates,
        "tail-bytes-dropped": _tail_dropped,
        "tail-bytes-signed": _with_signed_tail,
        "uuid-little-endian": _uuid_little_endian,
        "uuid-sign-flipped": _uuid_sign_flipped,
        "uuid-as-text": _uuid_text,
        "uuid-halves-swapped": _uuid_swapped_halves,
        "nanoseconds-raw": _raw_nanoseconds,
        "nanoseconds-toward-zero": _nanoseconds_toward_zero,
        "nanoseconds-rounded": _nanoseconds_rounded,
        "timestamp-in-milliseconds": _milliseconds,
        "time-in-nanoseconds": _time_in_nanoseconds,
        "boolean-in-one-byte": _boolean_one_byte,
        "float-in-four-bytes": _float_four_bytes,
        "negative-zero-kept": _negative_zero_kept,
        "nan-with-sign": _nan_negative,
        "unsigned": _unsigned,
        "unknown-as-zero": _unknown_as_zero,
    }.items()
)

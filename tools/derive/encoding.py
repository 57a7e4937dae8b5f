"""The binary single value of a type (Appendix D), computed with ``struct`` and two's complement arithmetic."""

from __future__ import annotations

import re
import struct
from decimal import Decimal
from typing import Any

from tools.derive.instants import DIGITS, count

_FORMATS = {"int": "<i", "date": "<i", "long": "<q", "float": "<f", "double": "<d", **dict.fromkeys(DIGITS, "<q")}


def parameters(type_: str) -> list[int]:
    """Return the numbers in the parentheses or brackets of a decimal or fixed type."""
    return [int(number) for number in re.findall(r"-?\d+", type_)]


def unscaled(type_: str, text: str) -> int:
    """Return the unscaled integer of a decimal value: the value times 10 to the power of the scale."""
    value = Decimal(text)
    sign, digits, exponent = value.as_tuple()
    if exponent != -parameters(type_)[1]:
        raise AssertionError(f"{text} does not have the scale of {type_}")
    magnitude = int("".join(map(str, digits)))
    return -magnitude if sign else magnitude


def minimal_big_endian(number: int) -> bytes:
    """Return two's complement, most significant byte first, in as few bytes as hold the number."""
    length = 1
    while not -(1 << (8 * length - 1)) <= number < 1 << (8 * length - 1):
        length += 1
    return number.to_bytes(length, "big", signed=True)


def number(type_: str, value: Any) -> Any:
    """Return the number that a type stores for a value in the vectors' form."""
    if type_ in DIGITS or type_ == "date":
        return count(type_, value)
    return float(value) if type_ in ("float", "double") else int(value)


def single_value(type_: str, value: Any) -> bytes:
    """Return the bytes of a value in the vectors' form: Appendix D JSON, longs as strings, bytes as hexadecimal."""
    if type_ == "boolean":
        return b"\x01" if value else b"\x00"
    if type_ == "string":
        return str(value).encode("utf-8")
    if type_ == "uuid":
        return bytes.fromhex(value.replace("-", ""))
    if type_ == "binary" or type_.startswith("fixed"):
        return bytes.fromhex(value)
    if type_.startswith("decimal"):
        return minimal_big_endian(unscaled(type_, value))
    return struct.pack(_FORMATS[type_], number(type_, value))


def describe(type_: str, value: Any) -> str:
    """Describe in a few words how the bytes are computed."""
    if type_.startswith("decimal"):
        return f"unscaled {unscaled(type_, value)} in minimal big-endian two's complement"
    if type_ in _FORMATS:
        size = struct.calcsize(_FORMATS[type_])
        kind = "IEEE 754" if type_ in ("float", "double") else "integer"
        return f"{number(type_, value)} as {size}-byte little-endian {kind}"
    return {"boolean": "00 is false, 01 is true", "string": "UTF-8", "uuid": "16 bytes, big-endian"}.get(
        type_, "the bytes themselves"
    )

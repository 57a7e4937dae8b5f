"""The partition transforms (Partition Transforms), in integer arithmetic that rounds down."""

from __future__ import annotations

from decimal import Context, Decimal
from typing import Any

from tools.derive import hashing
from tools.derive.encoding import number, parameters, unscaled
from tools.derive.instants import DIGITS, date_text, year_month

_EXACT = Context(prec=80)


def argument(transform: str) -> int:
    """Return the number in the brackets of a bucket or truncate transform."""
    return int(transform[transform.index("[") + 1 : -1])


def floor_units(type_: str, value: Any, seconds: int) -> int:
    """Return the whole units of some seconds since the epoch, rounded down."""
    return int(number(type_, value) // (seconds * 10 ** DIGITS[type_]))


def day_number(type_: str, value: Any) -> int:
    """Return the days from 1970-01-01 to a date or timestamp."""
    return int(number(type_, value)) if type_ == "date" else floor_units(type_, value, 86_400)


def decimal_text(unscaled_value: int, scale: int) -> str:
    """Return a decimal as plain digits, with ``scale`` of them after the decimal point."""
    return format(Decimal(unscaled_value).scaleb(-scale, _EXACT), "f")


def transform(name: str, type_: str, value: Any) -> tuple[Any, str]:
    """Return the transformed value in the vectors' form, and a one-line derivation."""
    if value is None or name == "void":
        return None, "void is always null" if name == "void" else "null stays null"
    if name == "identity":
        return value, "the value itself"
    if name.startswith("bucket"):
        hash_, buckets = hashing.hash_value(type_, value), argument(name)
        return (hash_ & 0x7FFFFFFF) % buckets, f"{hashing.describe(type_, value)} = {hash_}; (hash & 0x7FFFFFFF) % N"
    if name.startswith("truncate"):
        return _truncate(argument(name), type_, value)
    if name == "hour":
        return floor_units(type_, value, 3600), f"floor({number(type_, value)} / units of an hour)"
    day = day_number(type_, value)
    if name == "day":
        return date_text(day), f"day {day} since 1970-01-01, floored"
    year, month = year_month(day)
    if name == "year":
        return year - 1970, f"{year} - 1970"
    return (year - 1970) * 12 + month - 1, f"({year} - 1970) * 12 + {month} - 1"


def _truncate(width: int, type_: str, value: Any) -> tuple[Any, str]:
    if type_ == "string":
        return value[:width], f"the first {width} code points"
    if type_ == "binary":
        return value[: 2 * width], f"the first {width} bytes"
    if type_.startswith("decimal"):
        whole = unscaled(type_, value)
        return decimal_text(whole - whole % width, parameters(type_)[1]), f"{whole} - ({whole} floor-mod {width})"
    whole = int(value)
    result = whole - whole % width
    return str(result) if type_ == "long" else result, f"{whole} - ({whole} floor-mod {width})"

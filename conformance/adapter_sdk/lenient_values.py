"""Read and write the exchange form of values without validation, for adapters of engines.

The engine decides which values it refuses, so nothing here checks ranges, lengths or precision. A value that cannot be
passed to an engine at all (a string that is not a date) raises `Unsupported`, which is neither a pass nor a failure.

Values here are: bool; int for all integers, dates (days), times and timestamps (microseconds; nanoseconds for the
types that end in ``_ns``), counted from 1970-01-01 or midnight; float; `decimal.Decimal`; str; `uuid.UUID`; bytes.
Only the standard library and the calendar of `spec_ref` are imported.
"""

from __future__ import annotations

import math
import re
import uuid
from decimal import Decimal, InvalidOperation
from typing import Any

from conformance.adapter_sdk.serve import Unsupported
from spec_ref.core.calendar import civil_from_days, days_from_civil

DAY = 86_400
_INTEGER = re.compile(r"-?[0-9]{1,40}")
_DATE = re.compile(r"([+-]?\d{4,9})-(\d\d)-(\d\d)", re.ASCII)
_TIME = re.compile(r"(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?", re.ASCII)
_OFFSET = re.compile(r"(.*)([+-])(\d\d):(\d\d)", re.ASCII)
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_FLOATS = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}

UNITS = {"timestamp": 6, "timestamptz": 6, "timestamp_ns": 9, "timestamptz_ns": 9}
"""The number of digits after the decimal point of a second in the timestamp types."""


PLACEHOLDERS: dict[str, Any] = {
    "boolean": False,
    "int": 0,
    "long": "0",
    "float": 0.0,
    "double": 0.0,
    "decimal": "0",
    "date": "1970-01-01",
    "time": "00:00:00",
    "timestamp": "1970-01-01T00:00:00",
    "timestamptz": "1970-01-01T00:00:00+00:00",
    "timestamp_ns": "1970-01-01T00:00:00",
    "timestamptz_ns": "1970-01-01T00:00:00+00:00",
    "string": "",
    "uuid": "00000000-0000-0000-0000-000000000000",
    "binary": "",
}
"""A literal of each primitive type without a length."""


def kind(type_: object) -> str:
    """Return the name of a type without its parameters; for a nested type, its ``type``."""
    if isinstance(type_, dict):
        return str(type_.get("type"))
    return re.split(r"[\[(]", str(type_), maxsplit=1)[0].strip().lower()


def placeholder(type_: Any) -> Any:
    """Return an arbitrary value of a type in exchange form, for a place where it is never read; None if there is none.

    Arrow needs values of required fields even in a null struct, and a delete by key needs values of required columns.
    """
    match kind(type_):
        case "struct":
            return {field["name"]: placeholder(field["type"]) for field in type_["fields"] if field.get("required")}
        case "list":
            return []
        case "map":
            return {"keys": [], "values": []}
        case "fixed":
            return "00" * int(type_.removeprefix("fixed[").removesuffix("]"))
        case name:
            return PLACEHOLDERS.get(name)


def read(type_: object, json: Any) -> Any:
    """Parse a value in exchange form; None for null.

    Raises:
        Unsupported: the JSON is not a value of the type, or engines do not take values of the type.
    """
    if json is None:
        return None
    name = kind(type_)
    try:
        value = _read(name, json)
    except (ValueError, TypeError, InvalidOperation):
        value = None
    if value is None:
        raise Unsupported(f"the value cannot be passed to an engine as {name}")
    return value


def _read(name: str, json: Any) -> Any:
    match name, json:
        case "boolean", bool():
            return json
        case "int" | "long", int() if not isinstance(json, bool):
            return json
        case "long", str() if _INTEGER.fullmatch(json):
            return int(json)
        case "float" | "double", str():
            return _FLOATS.get(json)
        case "float" | "double", int() | float() if not isinstance(json, bool):
            return float(json)
        case "decimal", str():
            return Decimal(json)
        case "date", str():
            return _days(json)
        case "time", str():
            return _count(json, 6)
        case "timestamp" | "timestamptz" | "timestamp_ns" | "timestamptz_ns", str():
            return _instant(name, json)
        case "string", str():
            return json
        case "uuid", str() if _UUID.fullmatch(json):
            return uuid.UUID(json)
        case "fixed" | "binary", str():
            return bytes.fromhex(json)
    return None


def _days(text: str) -> int | None:
    found = _DATE.fullmatch(text)
    if not found:
        return None
    return days_from_civil(int(found[1]), int(found[2]), int(found[3]))


def _count(text: str, digits: int) -> int | None:
    """Parse a time of day to a count since midnight, in units of 10 ** -``digits`` seconds; None if invalid."""
    found = _TIME.fullmatch(text)
    if not found or len(found[4] or "") > digits:
        return None
    hour, minute, second = (int(part or 0) for part in found.group(1, 2, 3))
    if hour > 23 or minute > 59 or second > 59:
        return None
    second_units: int = 10**digits
    return ((hour * 60 + minute) * 60 + second) * second_units + int((found[4] or "0").ljust(digits, "0"))


def _instant(name: str, text: str) -> int | None:
    date, _, time = text.partition("T")
    ahead = 0
    if "timestamptz" in name:
        offset = _OFFSET.fullmatch(time)
        if offset is None:
            return None
        time = offset[1]
        ahead = (int(offset[3]) * 60 + int(offset[4])) * (60 if offset[2] == "+" else -60)
    days, count = _days(date), _count(time, UNITS[name])
    return None if days is None or count is None else count + (days * DAY - ahead) * 10 ** UNITS[name]


def is_nan(type_: object, json: Any) -> bool:
    """Return whether the exchange form is a NaN, which writers skip when they collect bounds."""
    return kind(type_) in ("float", "double") and json == "NaN"


def write(type_: object, value: Any) -> Any:
    """Return the exchange form of an engine's value; a value of a different type is returned unchanged."""
    name = kind(type_)
    match name, value:
        case _, None | bool():
            return value
        case "long", int():
            return str(value)
        case "float" | "double", float():
            if math.isfinite(value):
                return value
            return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
        case "decimal", Decimal():
            return format(value, "f") if int(value.as_tuple().exponent) <= 0 else str(value)
        case "date", int():
            return _date_text(value)
        case "time", int() if 0 <= value < DAY * 10**6:
            return _time_text(value, 6)
        case "timestamp" | "timestamptz" | "timestamp_ns" | "timestamptz_ns", int():
            days, count = divmod(value, DAY * 10 ** UNITS[name])
            offset = "+00:00" if "timestamptz" in name else ""
            return f"{_date_text(days)}T{_time_text(count, UNITS[name])}{offset}"
        case "uuid", bytes() if len(value) == 16:
            return str(uuid.UUID(bytes=value))
        case _, bytes():
            return value.hex().upper()
        case _, uuid.UUID() | Decimal():
            return str(value)
        case _:
            return value


def _date_text(days: int) -> str:
    year, month, day = civil_from_days(days)
    sign = "-" if year < 0 else "+" if year > 9999 else ""
    return f"{sign}{abs(year):04}-{month:02}-{day:02}"


def _time_text(count: int, digits: int) -> str:
    seconds, fraction = divmod(count, 10**digits)
    minutes, second = divmod(seconds, 60)
    return f"{minutes // 60:02}:{minutes % 60:02}:{second:02}.{fraction:0{digits}}"

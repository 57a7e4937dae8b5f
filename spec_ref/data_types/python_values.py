"""Conversion of Python's own dates, times and numbers to the values of the spec's types.

`spec_ref.data_types.values` represents a date as days and a timestamp as microseconds or nanoseconds, which have no
limits of years. Callers that hold `datetime` objects convert them here.
"""

from __future__ import annotations

import datetime
import uuid
from decimal import Decimal, InvalidOperation, localcontext
from typing import Any

from spec_ref.core.calendar import EPOCH, NANOS_PER_MICRO
from spec_ref.core.errors import spec_error
from spec_ref.data_types.types import DecimalType, Type, kind
from spec_ref.data_types.values import check_value

_MIDNIGHT = datetime.datetime.combine(EPOCH, datetime.time())
_MICROSECOND = datetime.timedelta(microseconds=1)


def from_python(type_: Type, value: Any) -> Any:
    """Convert a Python object to a value of a type without children.

    Args:
        type_: the type of the value.
        value: a `datetime.date` for a date, a `datetime.time` for a time, a `datetime.datetime` for the timestamp types
            (with a time zone exactly if the type has one), an int or a `decimal.Decimal` for a decimal with a scale
            that holds it exactly, an int for float and double, a text for a uuid, any bytes-like object for binary and
            fixed; or a value as `spec_ref.data_types.values` represents it; or None.

    Returns:
        The value in that representation.

    Raises:
        SpecError: the code of the type if the object is not a value of it.
    """
    if value is None:
        return None
    name = kind(type_)
    match value:
        case datetime.datetime():
            converted = _timestamp(name, value)
        case datetime.date() if name == "date":
            converted = (value - EPOCH).days
        case datetime.time() if name == "time" and value.tzinfo is None:
            converted = (datetime.datetime.combine(EPOCH, value) - _MIDNIGHT) // _MICROSECOND
        case bool():
            converted = value
        case int() | Decimal() if isinstance(type_, DecimalType):
            converted = _decimal(type_, Decimal(value))
        case int() if name in ("float", "double"):
            converted = float(value) if abs(value) <= 1 << 53 else value
        case str() if name == "uuid":
            converted = _uuid(value)
        case bytearray() | memoryview():
            converted = bytes(value)
        case _:
            converted = value
    check_value(type_, converted)
    return converted


def _timestamp(name: str, value: datetime.datetime) -> Any:
    """Count the units since 1970; return the object itself if the type is not a timestamp, or only one has a zone."""
    if not name.startswith("timestamp") or name.startswith("timestamptz") == (value.tzinfo is None):
        return value
    local = value if value.tzinfo is None else value.astimezone(datetime.UTC).replace(tzinfo=None)
    micros = (local - _MIDNIGHT) // _MICROSECOND
    return micros * NANOS_PER_MICRO if name.endswith("_ns") else micros


def _decimal(type_: DecimalType, value: Decimal) -> Decimal:
    """Convert a decimal to the scale of the type; return it unchanged if that would lose digits."""
    try:
        with localcontext() as context:
            context.prec = 100
            scaled = value.quantize(Decimal(1).scaleb(-type_.scale))
    except InvalidOperation:
        return value
    return scaled if scaled == value else value


def _uuid(value: str) -> uuid.UUID:
    try:
        return uuid.UUID(value)
    except ValueError:
        raise spec_error("TYP022", "the text is not a UUID", found=value) from None

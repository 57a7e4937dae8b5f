"""Physical types of the variant encoding, and a variant as it is stored and decoded (Semi-structured Types)."""

from __future__ import annotations

import enum
from typing import Any, TypeAlias

from spec_ref.core.records import record

MAX_DEPTH = 128
"""How deeply objects and arrays may nest; a hostile value must not exhaust the stack."""


@record
class Variant:
    """A variant value as stored: the dictionary of names, and the value that refers to it."""

    metadata: bytes
    value: bytes


class PhysicalType(enum.IntEnum):
    """A primitive type of the encoding; the value is its type id."""

    NULL = 0
    TRUE = 1
    FALSE = 2
    INT8 = 3
    INT16 = 4
    INT32 = 5
    INT64 = 6
    DOUBLE = 7
    DECIMAL4 = 8
    DECIMAL8 = 9
    DECIMAL16 = 10
    DATE = 11
    TIMESTAMP = 12
    TIMESTAMP_NTZ = 13
    FLOAT = 14
    BINARY = 15
    STRING = 16
    TIME_NTZ = 17
    TIMESTAMP_NANOS = 18
    TIMESTAMP_NTZ_NANOS = 19
    UUID = 20


NUMBER_FORMATS: dict[PhysicalType, str] = {
    PhysicalType.INT8: "<b",
    PhysicalType.INT16: "<h",
    PhysicalType.INT32: "<i",
    PhysicalType.INT64: "<q",
    PhysicalType.DOUBLE: "<d",
    PhysicalType.DATE: "<i",
    PhysicalType.TIMESTAMP: "<q",
    PhysicalType.TIMESTAMP_NTZ: "<q",
    PhysicalType.FLOAT: "<f",
    PhysicalType.TIME_NTZ: "<q",
    PhysicalType.TIMESTAMP_NANOS: "<q",
    PhysicalType.TIMESTAMP_NTZ_NANOS: "<q",
}
"""The primitives that are one little-endian number."""

FLOATS = frozenset({PhysicalType.FLOAT, PhysicalType.DOUBLE})
"""The primitives that are a floating-point number."""

CONSTANTS: dict[PhysicalType, bool | None] = {
    PhysicalType.NULL: None,
    PhysicalType.TRUE: True,
    PhysicalType.FALSE: False,
}
"""The primitives without data."""

DECIMAL_DIGITS: dict[PhysicalType, int] = {
    PhysicalType.DECIMAL4: 9,
    PhysicalType.DECIMAL8: 18,
    PhysicalType.DECIMAL16: 38,
}
"""The maximum number of digits of each decimal type."""

DECIMAL_BYTES: dict[PhysicalType, int] = {
    PhysicalType.DECIMAL4: 4,
    PhysicalType.DECIMAL8: 8,
    PhysicalType.DECIMAL16: 16,
}
"""The number of bytes of the unscaled value of each decimal type."""

MAX_SCALE = 38
"""The greatest scale of a decimal."""


@record
class VariantPrimitive:
    """A primitive value with its type.

    ``value`` is None, bool, int, float, `decimal.Decimal` (its exponent is minus the scale), bytes, str or
    `uuid.UUID`; dates are days from 1970-01-01, times microseconds of the day, timestamps microseconds or nanoseconds
    from 1970-01-01.
    """

    physical: PhysicalType
    value: Any


VariantValue: TypeAlias = "VariantPrimitive | tuple[VariantValue, ...] | dict[str, VariantValue]"
"""A decoded variant: a primitive, an array, or an object by field name (TYP036). Each row has its own (TYP037)."""

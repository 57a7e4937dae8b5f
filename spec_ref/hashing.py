"""32-bit Hash Requirements (Appendix B).

The hash is Murmur3, x86 variant, 32 bits, seeded with 0 (HSH001). It is computed over the binary single value of a few
types, and over an 8-byte little-endian integer for all others: the appendix writes ``hashInt`` for dates and booleans,
but its own test values are those of the widened integer, so ``hashInt(v)`` is ``hashLong(v)`` (contradiction A2).
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from typing import Any

import mmh3

from spec_ref.core.calendar import NANOS_PER_MICRO
from spec_ref.core.errors import Description, spec_error
from spec_ref.data_types.types import Type, kind
from spec_ref.data_types.values import check_value
from spec_ref.single_value.binary import to_binary

CANONICAL_NAN = struct.pack("<Q", 0x7FF8_0000_0000_0000)
"""Every NaN hashes as these bits (Appendix B, note 5)."""


def murmur3_x86_32(data: bytes) -> int:
    """Compute Murmur3, x86 variant, 32 bits, seed 0 (HSH001).

    Args:
        data: the bytes to hash, of any length.

    Returns:
        The hash as a signed 32-bit integer.
    """
    return mmh3.hash(data, 0, True)  # noqa: FBT003


def _long_bytes(_: Type, value: int) -> bytes:
    return struct.pack("<q", value)


def _micros_bytes(_: Type, nanos: int) -> bytes:
    # Rounded down, not toward zero: before 1970, too, a timestamp hashes the same with microseconds or nanoseconds.
    return struct.pack("<q", nanos // NANOS_PER_MICRO)


def _double_bytes(_: Type, value: float) -> bytes:
    if math.isnan(value):
        return CANONICAL_NAN
    return struct.pack("<d", value + 0.0)  # -0.0 + 0.0 is 0.0


_HASHED: dict[str, Callable[[Type, Any], bytes]] = {
    "int": _long_bytes,
    "long": _long_bytes,
    "decimal": to_binary,
    "date": _long_bytes,
    "time": _long_bytes,
    "timestamp": _long_bytes,
    "timestamptz": _long_bytes,
    "timestamp_ns": _micros_bytes,
    "timestamptz_ns": _micros_bytes,
    "string": to_binary,
    "uuid": to_binary,
    "fixed": to_binary,
    "binary": to_binary,
    # A bucket transform does not accept these types; their hashes are reserved for a later version (HSH008).
    "boolean": _long_bytes,
    "float": _double_bytes,
    "double": _double_bytes,
}
"""The bytes that are hashed, by type: the table of Appendix B (HSH003, HSH004, HSH005, HSH006, HSH007)."""


def hash_value(type_: Type, value: Any) -> int | None:
    """Compute the 32-bit hash of a value that bucket transforms use.

    Args:
        type_: the type of the value.
        value: a value of the type, as `spec_ref.data_types.values` represents it, or None.

    Returns:
        The hash as a signed 32-bit integer; None for null and for every value of ``unknown`` (HSH009).

    Raises:
        SpecError: HSH009 if the type has no hash (variant, geometry, geography, nested types); the code of the type if
            ``value`` is not a value of it.
    """
    name = kind(type_)
    if name == "unknown":
        check_value(type_, value)
        return None
    hashed = _HASHED.get(name)
    if hashed is None:
        raise spec_error("HSH009", "the type has no 32-bit hash", found=Description(str(type_)))
    if value is None:
        return None
    check_value(type_, value)
    return murmur3_x86_32(hashed(type_, value))

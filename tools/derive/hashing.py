"""The bytes that are hashed for a value of each type, and the hash (Appendix B)."""

from __future__ import annotations

import math
import struct
from typing import Any

from tools.derive.encoding import number, single_value
from tools.derive.murmur3 import murmur3_x86_32

_SHOWN_BYTES = 24


def hashed_bytes(type_: str, value: Any) -> bytes:
    """Return the input of the hash function for a value."""
    if type_ in ("timestamp_ns", "timestamptz_ns"):
        return struct.pack("<q", number(type_, value) // 1000)
    if type_ in ("int", "date"):
        return struct.pack("<q", number(type_, value))
    if type_ == "boolean":
        return struct.pack("<q", int(value))
    if type_ in ("float", "double"):
        real = number(type_, value)
        bits = 0x7FF8000000000000 if math.isnan(real) else struct.unpack("<q", struct.pack("<d", real + 0.0))[0]
        return struct.pack("<q", bits)
    return single_value(type_, value)


def hash_value(type_: str, value: Any) -> int:
    """Return the 32-bit hash of a value."""
    return murmur3_x86_32(hashed_bytes(type_, value))


def describe(type_: str, value: Any) -> str:
    """Return the derivation in one line."""
    data = hashed_bytes(type_, value)
    shown = data.hex().upper() if len(data) <= _SHOWN_BYTES else f"{data[:8].hex().upper()}..., {len(data)} bytes"
    return f"murmur3_x86_32({shown or 'no bytes'}, seed 0)"

"""Variants as bytes (the Variant encoding of Parquet, version 1)."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any


def metadata(names: Sequence[str], sorted_: bool = False) -> bytes:
    """Return the dictionary of names; its size and offsets take one byte each, or two if one is too small."""
    encoded = [name.encode() for name in names]
    ends = [sum(map(len, encoded[: index + 1])) for index in range(len(encoded))]
    size = 1 if max([len(names), *ends]) < 256 else 2
    numbers = b"".join(number.to_bytes(size, "little") for number in (len(names), 0, *ends))
    return bytes([1 | sorted_ << 4 | size - 1 << 6]) + numbers + b"".join(encoded)


def primitive(kind: int, payload: bytes = b"") -> bytes:
    """Return a primitive value with a type id of the encoding."""
    return bytes([kind << 2]) + payload


def short_string(text: str) -> bytes:
    """Return a string of fewer than 64 bytes."""
    data = text.encode()
    return bytes([len(data) << 2 | 1]) + data


def object_(ids: Sequence[int], values: Sequence[bytes]) -> bytes:
    """Return an object, with field ids and offsets of one byte each."""
    ends = [sum(map(len, values[: index + 1])) for index in range(len(values))]
    return bytes([0x02, len(ids), *ids, 0, *ends]) + b"".join(values)


def bound(fields: Mapping[str, bytes], sorted_: bool = False) -> bytes:
    """Return a bound: the metadata, then an object with the fields in the order of their names."""
    return metadata(list(fields), sorted_) + object_(range(len(fields)), list(fields.values()))


def encoded(value: Any) -> tuple[bytes, bytes]:
    """Return the metadata and the value of a variant.

    Args:
        value: None, a bool, an int, a float for a double, a `Decimal`, a str, bytes, a list, a dict, or a pair of a
            name in `TAGGED` and the value to encode.
    """
    names = sorted(_names(value))
    return metadata(names, sorted_=True), _encode(value, names)


def _names(value: Any) -> set[str]:
    if isinstance(value, dict):
        return set(value).union(*map(_names, value.values()))
    return set().union(*map(_names, value)) if isinstance(value, list) else set()


def value(node: Any, names: Sequence[str]) -> bytes:
    """Return the value of a variant, as for `encoded`; the dictionary's names are sorted."""
    return _encode(node, names)


TAGGED = {
    "date": (11, "<i"),
    "timestamp": (12, "<q"),
    "timestamp_ntz": (13, "<q"),
    "float": (14, "<f"),
    "time": (17, "<q"),
    "timestamp_ns": (18, "<q"),
    "timestamp_ntz_ns": (19, "<q"),
}
"""Type ids and formats of the primitives for which Python has no type."""


def _encode(value: Any, names: Sequence[str]) -> bytes:
    match value:
        case None:
            return primitive(0)
        case bool():
            return primitive(1 if value else 2)
        case int():
            return primitive(6, struct.pack("<q", value))
        case float():
            return primitive(7, struct.pack("<d", value))
        case Decimal():
            scale = -int(value.as_tuple().exponent)
            number = int("".join(map(str, value.as_tuple().digits))) * (-1 if value < 0 else 1)
            return primitive(10, bytes([scale]) + number.to_bytes(16, "little", signed=True))
        case str() if len(value.encode()) < 64:
            return short_string(value)
        case str() | bytes():
            data = value.encode() if isinstance(value, str) else value
            return primitive(16 if isinstance(value, str) else 15, struct.pack("<I", len(data)) + data)
        case dict():
            keys = sorted(value)
            return object_([names.index(key) for key in keys], [_encode(value[key], names) for key in keys])
        case list():
            items = [_encode(item, names) for item in value]
            ends = [sum(map(len, items[: index + 1])) for index in range(len(items))]
            return bytes([0x03, len(items), 0, *ends]) + b"".join(items)
        case (tag, number):
            kind, format_ = TAGGED[tag]
            return primitive(kind, struct.pack(format_, number))
    raise AssertionError(f"no variant {value!r}")

"""A variant object of primitive values, as bytes (the Variant encoding of Parquet, version 1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def metadata(names: Sequence[str], sorted_: bool = False) -> bytes:
    """The dictionary of names; the number of names and the offsets have one byte, or two where one is too few."""
    encoded = [name.encode() for name in names]
    ends = [sum(map(len, encoded[: index + 1])) for index in range(len(encoded))]
    size = 1 if max([len(names), *ends]) < 256 else 2
    numbers = b"".join(number.to_bytes(size, "little") for number in (len(names), 0, *ends))
    return bytes([1 | sorted_ << 4 | size - 1 << 6]) + numbers + b"".join(encoded)


def primitive(kind: int, payload: bytes = b"") -> bytes:
    """A primitive value of a type id of the encoding."""
    return bytes([kind << 2]) + payload


def short_string(text: str) -> bytes:
    """A string of fewer than 64 bytes."""
    data = text.encode()
    return bytes([len(data) << 2 | 1]) + data


def object_(ids: Sequence[int], values: Sequence[bytes]) -> bytes:
    """An object, with field ids and offsets of one byte each."""
    ends = [sum(map(len, values[: index + 1])) for index in range(len(values))]
    return bytes([0x02, len(ids), *ids, 0, *ends]) + b"".join(values)


def bound(fields: Mapping[str, bytes], sorted_: bool = False) -> bytes:
    """A bound: the metadata, then the object of the fields, whose names are sorted."""
    return metadata(list(fields), sorted_) + object_(range(len(fields)), list(fields.values()))

"""Read variant values in the Parquet variant encoding, version 1 (Semi-structured Types; TYP006).

A variant is two byte arrays. The metadata is a dictionary of field names; the value refers to names by their position
there. A value is a primitive, a short string, an object or an array, as the two lowest bits of its first byte state.

Reading is strict: every byte belongs to exactly one part, and anything else is refused.

Decided here, because the encoding's text leaves it open:

- Values of an object or array may be stored in any order, but they do not overlap and leave no gaps: there are as many
  encoded values as elements. So a small value cannot expand into a huge one.
- Header bits without a meaning in version 1 have to be 0.
- A decimal may be stored wider than its digits need, but not narrower: decimal4 holds 9 digits, decimal8 18, decimal16
  38.
"""

from __future__ import annotations

import itertools
import struct
import uuid
from decimal import Decimal

from spec_ref.core.calendar import MICROS_PER_DAY
from spec_ref.core.errors import Description, SpecError, spec_error
from spec_ref.encodings.variant.physical_types import (
    CONSTANTS,
    DECIMAL_BYTES,
    DECIMAL_DIGITS,
    MAX_DEPTH,
    MAX_SCALE,
    NUMBER_FORMATS,
    PhysicalType,
    Variant,
    VariantPrimitive,
    VariantValue,
)


def decode_variant(variant: Variant) -> VariantValue:
    """Decode a variant.

    Args:
        variant: the stored metadata and value.

    Returns:
        The decoded value.

    Raises:
        SpecError: TYP006 if either part is not version 1 of the encoding.
    """
    return decode_value(variant.value, decode_metadata(variant.metadata))


def decode_value(value: bytes, names: tuple[str, ...], depth: int = 0) -> VariantValue:
    """Decode a part of a variant.

    Args:
        value: the encoded value.
        names: the names in the dictionary, by id.
        depth: how many objects and arrays contain the part.

    Returns:
        The decoded value.

    Raises:
        SpecError: TYP006 if the value is not version 1 of the encoding, or is nested more than `MAX_DEPTH` levels
            together with its containers.
    """
    return _ValueReader(value, names).node(0, len(value), depth)


def decode_metadata(metadata: bytes) -> tuple[str, ...]:
    """Decode the dictionary of names.

    Args:
        metadata: the encoded metadata.

    Returns:
        The names, by id.

    Raises:
        SpecError: TYP006 if the bytes are not metadata of version 1.
    """
    names, size = _read_metadata(metadata)
    if size != len(metadata):
        raise _error("metadata", "bytes follow the last name", size, metadata)
    return names


def split_variant(data: bytes) -> Variant:
    """Split the bytes of a variant into its metadata and its value, which follows directly.

    Args:
        data: the bytes of both.

    Returns:
        The metadata and the value.

    Raises:
        SpecError: TYP006 if the bytes do not begin with metadata of version 1.
    """
    _, size = _read_metadata(data)
    return Variant(data[:size], data[size:])


def _error(what: str, message: str, position: int, data: bytes, expected: str | None = None) -> SpecError:
    found = Description(f"{len(data)} bytes: {data[:32].hex().upper()}")
    return spec_error("TYP006", f"variant {what}: {message} (at byte {position})", found=found, expected=expected)


def _numbers(data: bytes, start: int, size: int, count: int) -> list[int]:
    """Read ``count`` unsigned little-endian numbers of ``size`` bytes each."""
    return [int.from_bytes(data[at : at + size], "little") for at in range(start, start + size * count, size)]


def _read_metadata(data: bytes) -> tuple[tuple[str, ...], int]:
    """Read the names in the dictionary at the beginning of ``data``, and the number of its bytes."""
    if not data:
        raise _error("metadata", "the header is missing", 0, data)
    header = data[0]
    if header & 0b10_1111 != 1:
        raise _error("metadata", f"header 0x{header:02X} is not of version 1", 0, data, "low bits 1, bit 5 clear")
    size = (header >> 6) + 1
    if len(data) < 1 + size:
        raise _error("metadata", "the size of the dictionary is truncated", 1, data)
    (count,) = _numbers(data, 1, size, 1)
    names_at = 1 + size + (count + 1) * size
    if names_at > len(data):
        raise _error("metadata", f"the offsets of {count} names extend beyond the end", 1, data)
    offsets = _numbers(data, 1 + size, size, count + 1)
    if offsets[0] != 0 or any(a > b for a, b in itertools.pairwise(offsets)):
        raise _error("metadata", "the offsets of the names do not ascend from 0", 1 + size, data)
    end = names_at + offsets[-1]
    if end > len(data):
        raise _error("metadata", "the names extend beyond the end", names_at, data, f"{end} bytes")
    try:
        names = tuple(data[names_at + a : names_at + b].decode() for a, b in itertools.pairwise(offsets))
    except UnicodeDecodeError as cause:
        raise _error("metadata", "a name is not UTF-8", names_at, data) from cause
    # Strings compare by code point, which is the order of their UTF-8 bytes.
    if header & 0b1_0000 and any(a >= b for a, b in itertools.pairwise(names)):
        raise _error("metadata", "the names are not sorted and unique, although a flag says so", names_at, data)
    return names, end


class _ValueReader:
    """Reads a value whose names are known. Each part has to fill exactly the bytes that are assigned to it."""

    def __init__(self, data: bytes, names: tuple[str, ...]) -> None:
        self.data = data
        self.names = names

    def error(self, message: str, position: int, expected: str | None = None) -> SpecError:
        return _error("value", message, position, self.data, expected)

    def node(self, start: int, end: int, depth: int) -> VariantValue:
        if start >= end:
            raise self.error("a value is missing", start)
        header = self.data[start] >> 2
        match self.data[start] & 0b11:
            case 0:
                return self.primitive(header, start + 1, end)
            case 1:
                self.fill(start + 1, header, end, "the short string")
                return VariantPrimitive(PhysicalType.STRING, self.text(start + 1, end))
            case 2:
                return self.object(header, start, end, depth)
        return tuple(self.array(header, start, end, depth))

    def fill(self, start: int, size: int, end: int, what: str) -> None:
        if start + size != end:
            raise self.error(f"the length of {what} is {size} bytes, and the value has {end - start}", start)

    def text(self, start: int, end: int) -> str:
        try:
            return self.data[start:end].decode()
        except UnicodeDecodeError as cause:
            raise self.error("a string is not UTF-8", start) from cause

    def primitive(self, type_id: int, start: int, end: int) -> VariantPrimitive:
        if type_id > PhysicalType.UUID:
            raise self.error(f"primitive type {type_id} is unknown", start - 1, "a type id of 0 to 20")
        physical = PhysicalType(type_id)
        what = f"the {physical.name.lower()}"
        if physical in CONSTANTS:
            self.fill(start, 0, end, what)
            return VariantPrimitive(physical, CONSTANTS[physical])
        if physical in NUMBER_FORMATS:
            self.fill(start, struct.calcsize(NUMBER_FORMATS[physical]), end, what)
            (number,) = struct.unpack(NUMBER_FORMATS[physical], self.data[start:end])
            if physical is PhysicalType.TIME_NTZ and not 0 <= number < MICROS_PER_DAY:
                raise self.error(f"time {number} is outside of a day", start, "0 to 86399999999 microseconds")
            return VariantPrimitive(physical, number)
        if physical in DECIMAL_DIGITS:
            return self.decimal(physical, start, end)
        if physical is PhysicalType.UUID:
            self.fill(start, 16, end, what)
            return VariantPrimitive(physical, uuid.UUID(bytes=self.data[start:end]))
        if end - start < 4:
            raise self.error(f"the size of {what} is truncated", start)
        self.fill(start + 4, int.from_bytes(self.data[start : start + 4], "little"), end, what)
        is_text = physical is PhysicalType.STRING
        return VariantPrimitive(physical, self.text(start + 4, end) if is_text else self.data[start + 4 : end])

    def decimal(self, physical: PhysicalType, start: int, end: int) -> VariantPrimitive:
        self.fill(start, 1 + DECIMAL_BYTES[physical], end, f"the {physical.name.lower()}")
        scale = self.data[start]
        if scale > MAX_SCALE:
            raise self.error(f"the scale of a decimal is {scale}", start, "0 to 38")
        number = int.from_bytes(self.data[start + 1 : end], "little", signed=True)
        if abs(number) >= 10 ** DECIMAL_DIGITS[physical]:
            expected = f"at most {DECIMAL_DIGITS[physical]} digits"
            raise self.error(
                f"the unscaled value {number} has too many digits for a {physical.name.lower()}", start, expected
            )
        return VariantPrimitive(physical, Decimal((int(number < 0), tuple(map(int, str(abs(number)))), -scale)))

    def object(self, header: int, start: int, end: int, depth: int) -> dict[str, VariantValue]:
        id_size = (header >> 2 & 0b11) + 1
        count, ids_at = self.count(header >> 4, start, end)
        offsets_at = ids_at + count * id_size
        values = self.values(count, header & 0b11, offsets_at, end, depth)
        names = []
        for id_ in _numbers(self.data, ids_at, id_size, count):
            if id_ >= len(self.names):
                raise self.error(f"field id {id_} is not in the dictionary", ids_at, f"below {len(self.names)}")
            names.append(self.names[id_])
        if any(a >= b for a, b in itertools.pairwise(names)):
            raise self.error(
                "the field ids of an object are out of order", ids_at, "ids of unique names in their order"
            )
        return dict(zip(names, values, strict=True))

    def array(self, header: int, start: int, end: int, depth: int) -> list[VariantValue]:
        count, offsets_at = self.count(header >> 2, start, end)
        return self.values(count, header & 0b11, offsets_at, end, depth)

    def count(self, is_large: int, start: int, end: int) -> tuple[int, int]:
        """Read the number of elements, and the offset after it."""
        if is_large > 1:
            raise self.error(f"header 0x{self.data[start]:02X} has reserved bits set", start, "0")
        after = start + (5 if is_large else 2)
        if after > end:
            raise self.error("the number of elements is truncated", start + 1)
        return int.from_bytes(self.data[start + 1 : after], "little"), after

    def values(self, count: int, size_bits: int, offsets_at: int, end: int, depth: int) -> list[VariantValue]:
        """Read the elements of a container, whose offsets begin at ``offsets_at`` and whose values end at ``end``."""
        if depth == MAX_DEPTH:
            raise self.error(f"objects and arrays are nested deeper than {MAX_DEPTH}", offsets_at)
        values_at = offsets_at + (count + 1) * (size_bits + 1)
        # A value takes at least one byte: this compares the count with the bytes before anything is built from it.
        if values_at + count > end:
            raise self.error(f"{count} elements extend beyond the end", offsets_at)
        offsets = _numbers(self.data, offsets_at, size_bits + 1, count + 1)
        edges = sorted(offsets)
        ends = dict(itertools.pairwise(edges))
        if edges[0] != 0 or edges[-1] != offsets[-1] or offsets[-1] != end - values_at or len(ends) != count:
            raise self.error("the offsets do not partition the values", offsets_at)
        found: list[VariantValue] = []
        for offset in offsets[:-1]:
            found.append(self.node(values_at + offset, values_at + ends[offset], depth + 1))  # noqa: PERF401 (a frame per level)
        return found

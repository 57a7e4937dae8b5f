"""Timestamps of ORC files as stored (Apache ORC specification, version 1; ORC003, ORC007).

pyarrow represents every ORC timestamp in nanoseconds and refuses those before 1677 and after 2262. Such columns are
decoded here, from the stored seconds and nanoseconds: two streams of integers in the second version of run-length
encoding, and a stream that marks which values are present. Only columns at the top level and inside structs are
supported.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from spec_ref.core.calendar import NANOS_PER_MICRO, UNITS, UNITS_PER_SECOND
from spec_ref.core.errors import Description, SpecError, spec_error
from spec_ref.data_files.orc_footer import Stripe, damage_error, stream_bytes
from spec_ref.data_types.types import TIMESTAMP_NS, TIMESTAMPTZ, TIMESTAMPTZ_NS, Type, kind
from spec_ref.encodings.random_access_bytes import ByteSource
from spec_ref.encodings.varint import read_varint

EPOCH = 1_420_070_400
"""Seconds from 1970-01-01 to 2015-01-01, from which ORC counts."""

PRESENT, DATA, SECONDARY = 0, 1, 5
DIRECT_V2 = 2
UTC = frozenset({"", "UTC", "GMT", "Etc/UTC", "Z"})
MAX_STREAM = 1 << 30

Ints = npt.NDArray[np.int64]


def read_presence(
    data: ByteSource, stripe: Stripe, column: int, parent_valid: npt.NDArray[np.bool_] | None = None
) -> npt.NDArray[np.bool_]:
    """Find the rows of a stripe that have a value in a column.

    Args:
        data: the content of the file.
        stripe: one of `spec_ref.data_files.orc_footer.read_stripes`.
        column: the ORC column id.
        parent_valid: which rows have the struct that contains the column; None at the top level.

    Returns:
        A flag per row of the stripe.

    Raises:
        SpecError: ORC008, for a stream that is damaged.
    """
    found = next((one for one in stripe.streams if one.column == column and one.kind == PRESENT), None)
    places = np.ones(stripe.rows, bool) if parent_valid is None else parent_valid.copy()
    if found is None:
        return places
    count = int(places.sum())
    try:
        bits = _bytes_rle(stream_bytes(data, found, MAX_STREAM), (count + 7) // 8)
        places[places] = np.unpackbits(bits)[:count].astype(bool)
    except (IndexError, ValueError) as error:
        raise damage_error("the PRESENT stream is damaged", Description(str(error))) from error
    return places


def read_timestamps(
    data: ByteSource, stripe: Stripe, column: int, type_: Type, parent_valid: npt.NDArray[np.bool_] | None = None
) -> Any:
    """Read the values of a timestamp column in a stripe.

    Args:
        data: the content of the file.
        stripe: one of `spec_ref.data_files.orc_footer.read_stripes`.
        column: the ORC column id.
        type_: the timestamp type of the column.
        parent_valid: which rows have the struct that contains the column; None at the top level.

    Returns:
        An Arrow array of the type, with a value or null per row of the stripe.

    Raises:
        SpecError: ORC008, for streams that are damaged, an encoding of old writers, or a writer in another time zone
            than UTC; ORC003, for a value that the type cannot hold.
    """
    streams = {stream.kind: stream for stream in stripe.streams if stream.column == column}
    if column >= len(stripe.encodings) or stripe.encodings[column] != DIRECT_V2:
        raise damage_error("the encoding of the timestamps is unknown", stripe.encodings[column : column + 1])
    zoned = type_ in (TIMESTAMPTZ, TIMESTAMPTZ_NS)
    if not zoned and stripe.timezone not in UTC:
        raise damage_error(
            "timestamps out of the range of nanoseconds can only be read if the writer's time zone is UTC",
            stripe.timezone,
        )
    valid = read_presence(data, stripe, column, parent_valid)
    try:
        count = int(valid.sum())
        seconds = decode_integers(stream_bytes(data, streams[DATA], MAX_STREAM), count, signed=True) + EPOCH
        packed = decode_integers(stream_bytes(data, streams[SECONDARY], MAX_STREAM), count, signed=False)
    except SpecError:
        raise
    except (IndexError, KeyError, ValueError, OverflowError) as error:
        raise damage_error("the streams of a timestamp column are damaged", Description(str(error))) from error
    zeros = packed & 7
    nanos = (packed >> 3) * np.where(zeros > 0, 10 ** (zeros + 1), 1)
    # Writers round seconds before 1970 up and keep the nanoseconds; the ORC libraries for C++ and Java correct them
    # like this.
    seconds = seconds - ((seconds < 0) & (nanos > 999_999))
    return _array(type_, seconds, nanos, valid)


FIRST_SECOND, LAST_SECOND = -(1 << 63) // 10**9, (1 << 63) // 10**9
"""The first and the last second in which some instant fits 64 bits of nanoseconds since 1970."""


def exceeds_nanoseconds(data: ByteSource, stripe: Stripe, column: int) -> bool:
    """Decide whether a stripe has a timestamp that 64 bits of nanoseconds cannot hold.

    Args:
        data: the content of the file.
        stripe: one of `spec_ref.data_files.orc_footer.read_stripes`.
        column: the ORC column id of a timestamp column, at any level.

    Returns:
        Whether it has; false for streams that are damaged.
    """
    stream = next((one for one in stripe.streams if one.column == column and one.kind == DATA), None)
    if stream is None:
        return False
    try:
        stored = stream_bytes(data, stream, MAX_STREAM)
        seconds = decode_integers(stored, None, signed=True) + EPOCH
    except (SpecError, IndexError, ValueError, OverflowError):
        return False
    return bool(((seconds < FIRST_SECOND) | (seconds > LAST_SECOND)).any())


def _array(type_: Type, seconds: Ints, nanos: Ints, valid: npt.NDArray[np.bool_]) -> Any:
    fine = type_ in (TIMESTAMP_NS, TIMESTAMPTZ_NS)
    unit = UNITS_PER_SECOND[UNITS[kind(type_)]]
    fraction = nanos if fine else nanos // NANOS_PER_MICRO
    first, last = -(1 << 63) // unit, ((1 << 63) - 1) // unit  # the seconds in which some instant fits the type
    beyond = (seconds < first) | ((seconds == first) & (fraction < -(1 << 63) - first * unit))
    beyond |= (seconds > last) | ((seconds == last) & (fraction > (1 << 63) - 1 - last * unit))
    if beyond.any():
        found = int(seconds[beyond][0])
        raise spec_error(
            "ORC003", f"a timestamp is outside the range of {type_}", found=Description(f"{found} seconds")
        )
    values = np.zeros(len(valid), np.int64)
    values[valid] = seconds * unit + fraction  # in the first second the product wraps, and the sum wraps back
    zone = "UTC" if type_ in (TIMESTAMPTZ, TIMESTAMPTZ_NS) else None
    return pa.array(values, mask=~valid).view(pa.timestamp("ns" if fine else "us", zone))


def _bytes_rle(data: bytes, count: int) -> npt.NDArray[np.uint8]:
    """Decode bytes in run-length encoding: a run of one byte, or literal bytes."""
    parts = []
    position = made = 0
    while made < count:
        control = data[position]
        if control < 128:
            parts.append(bytes([data[position + 1]]) * (control + 3))
            position += 2
        else:
            parts.append(data[position + 1 : position + 257 - control])
            position += 257 - control
        made += len(parts[-1])
    return np.frombuffer(b"".join(parts), np.uint8)[:count]


_WIDTHS: tuple[int, ...] = (*range(1, 25), 26, 28, 30, 32, 40, 48, 56, 64)
"""The widths of packed integers in bits, by their code."""


def decode_integers(data: bytes, count: int | None, *, signed: bool) -> Ints:
    """Decode integers in the second version of run-length encoding.

    Args:
        data: the bytes of the stream.
        count: the number of integers; None for all of the stream.
        signed: whether they are zigzag-encoded.

    Returns:
        The integers.

    Raises:
        IndexError: the stream is truncated.
    """
    parts: list[Ints] = [np.zeros(0, np.int64)]
    position = made = 0
    while position < len(data) if count is None else made < count:
        header = data[position]
        decode = (_short_repeat, _direct, _patched_base, _delta)[header >> 6]
        part, position = decode(data, position, signed)
        parts.append(part)
        made += len(part)
    return np.concatenate(parts)[:count]


def _unzigzag(values: npt.NDArray[np.uint64]) -> Ints:
    return (values >> np.uint64(1)).astype(np.int64) ^ -(values & np.uint64(1)).astype(np.int64)


def _as_ints(values: npt.NDArray[np.uint64], signed: bool) -> Ints:
    return _unzigzag(values) if signed else values.astype(np.int64)


def _unpack(data: bytes, position: int, count: int, width: int) -> tuple[npt.NDArray[np.uint64], int]:
    """Decode integers of some number of bits, the highest bit first."""
    size = (count * width + 7) // 8
    section = data[position : position + size]
    if len(section) < size:
        raise IndexError("packed integers are truncated")
    bits = np.unpackbits(np.frombuffer(section, np.uint8))[: count * width].reshape(count, width)
    weights = np.uint64(1) << np.arange(width - 1, -1, -1, dtype=np.uint64)
    return (bits * weights).sum(axis=1, dtype=np.uint64), position + size


def _read_length(data: bytes, position: int) -> int:
    return ((data[position] & 1) << 8 | data[position + 1]) + 1


def _read_width(data: bytes, position: int) -> int:
    return _WIDTHS[data[position] >> 1 & 31]


def _short_repeat(data: bytes, position: int, signed: bool) -> tuple[Ints, int]:
    header = data[position]
    width, count = (header >> 3 & 7) + 1, (header & 7) + 3
    section = data[position + 1 : position + 1 + width]
    if len(section) < width:
        raise IndexError("a repeated integer is truncated")
    value = np.array([int.from_bytes(section, "big")], np.uint64)
    return np.repeat(_as_ints(value, signed), count), position + 1 + width


def _direct(data: bytes, position: int, signed: bool) -> tuple[Ints, int]:
    values, end = _unpack(data, position + 2, _read_length(data, position), _read_width(data, position))
    return _as_ints(values, signed), end


def _delta(data: bytes, position: int, signed: bool) -> tuple[Ints, int]:
    """Decode the first value, the first difference, and the sizes of the others, which have the sign of the first."""
    fixed = data[position] >> 1 & 31 == 0
    width, count = _read_width(data, position), _read_length(data, position)
    base, at = read_varint(data, position + 2)
    first, at = read_varint(data, at)
    start = _as_ints(np.array([base], np.uint64), signed)
    step = int(_unzigzag(np.array([first], np.uint64))[0])
    if fixed:
        return start + step * np.arange(count, dtype=np.int64), at
    others, at = _unpack(data, at, max(0, count - 2), width)
    sizes = others.astype(np.int64) * (-1 if step < 0 else 1)
    return np.concatenate((start, start + step + np.concatenate(([0], np.cumsum(sizes)))))[:count], at


def _patched_base(data: bytes, position: int, signed: bool) -> tuple[Ints, int]:
    """Decode values as differences from a base; a list has the upper bits of the few largest, and where they are."""
    del signed  # the base has a separate sign bit
    width, count = _read_width(data, position), _read_length(data, position)
    base_width = (data[position + 2] >> 5) + 1
    patch_width = _WIDTHS[data[position + 2] & 31]
    gap_width = (data[position + 3] >> 5) + 1
    patches = data[position + 3] & 31
    at = position + 4
    base = int.from_bytes(data[at : at + base_width], "big")
    sign = 1 << (8 * base_width - 1)
    base = -(base & (sign - 1)) if base & sign else base
    values, at = _unpack(data, at + base_width, count, width)
    entry_width = next((size for size in _WIDTHS if size >= gap_width + patch_width), 0)
    if not entry_width:
        raise ValueError("a patch is too wide")
    entries, at = _unpack(data, at, patches, entry_width)
    place = 0
    for entry in entries.tolist():
        place += entry >> patch_width
        values[place] |= np.uint64((entry & ((1 << patch_width) - 1)) << width)
    return values.astype(np.int64) + base, at

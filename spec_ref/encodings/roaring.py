"""Check the structure of a serialized Roaring bitmap before it is decoded (Puffin, `deletion-vector-v1`).

The vector is the "portable" format of 64-bit Roaring bitmaps: the number of 32-bit bitmaps, then each with its key. A
32-bit bitmap is a header (cookie, which containers hold runs, key and cardinality of each container, offsets) and the
containers: up to 4096 sorted 16-bit values, 65536 bits, or runs.

The bitmap library trusts its input. Here every length, order and cardinality is checked, so that an inconsistent bitmap
is refused, in time and memory proportional to the bytes. A run of a few bytes represents up to 65536 positions, so a
small vector can hold very many of them; nothing here makes a list of positions.

Decided here, because the format leaves it open: bitmaps without containers are read (Iceberg-Java writes them for keys
that are skipped, contradiction B16). Two runs where one would suffice are refused, as the library refuses them. An
offset that does not point at its container is refused too, because readers that use the offsets and readers that do not
would read different sets.
"""

from __future__ import annotations

import itertools
import struct
from collections.abc import Callable
from typing import TypeAlias

from spec_ref.core.errors import NOT_GIVEN, Description, SpecError, spec_error

MAX_BITMAPS = 1 << 16
"""The maximum number of 32-bit bitmaps in a vector. Each covers 2**32 rows; no file has 2**48 rows."""

MAX_KEY = (1 << 31) - 1
"""The largest key, which makes the largest position 2**63 - 1 (PUF020)."""

NO_RUNS_COOKIE = 12346
RUNS_COOKIE = 12347
"""The cookies of bitmaps without and with runs: a number of 32 bits, and one in the lower 16 bits."""

MIN_CONTAINERS_WITH_OFFSETS = 4
"""A bitmap with runs has offsets if it has at least this many containers; one without runs always has them."""

MAX_ARRAY = 4096
BITSET_BYTES = 8192
MAX_CONTAINERS = 1 << 16

CheckBitmap: TypeAlias = Callable[[bytes, int, str], tuple[int, int]]
"""Checks the 32-bit bitmap at an offset of some bytes; the path is for errors. Returns its size and its cardinality."""


def cardinality64(data: bytes, check: CheckBitmap | None = None) -> int:
    """Check every byte of a serialized 64-bit bitmap and count its positions.

    Args:
        data: the serialized bitmap.
        check: checks each 32-bit bitmap; `check_bitmap` by default, or a faster function.

    Returns:
        The number of positions.

    Raises:
        SpecError: PUF019 if the bytes are not such a bitmap or continue after it; PUF020 for a position of 2**63 or
            more. Paths name the bitmap and, if it is known, the container: ``/bitmaps/0/containers/2``.
    """
    if len(data) < 8:
        raise spec_error(
            "PUF019", "the vector is too short", found=Description(f"{len(data)} bytes"), expected="8 bytes or more"
        )
    (count,) = struct.unpack_from("<Q", data)
    possible = min((len(data) - 8) // 12, MAX_BITMAPS)
    if count > possible:
        raise spec_error("PUF019", "there are too many bitmaps", found=count, expected=f"at most {possible}")
    offset, total, previous = 8, 0, -1
    for place in range(count):
        path = f"/bitmaps/{place}"
        if len(data) - offset < 4:
            raise spec_error("PUF019", "the vector is truncated", expected="a key", path=path)
        (key,) = struct.unpack_from("<I", data, offset)
        if key <= previous:
            raise spec_error("PUF019", "the keys do not ascend", found=key, expected=f"over {previous}", path=path)
        if key > MAX_KEY:
            message = "the most significant bit of the key, and so of every position, is not 0"
            raise spec_error("PUF020", message, found=key, expected=f"at most {MAX_KEY}", path=path)
        size, cardinality = (check or check_bitmap)(data, offset + 4, path)
        offset, total, previous = offset + 4 + size, total + cardinality, key
    if offset != len(data):
        raise spec_error(
            "PUF019", "bytes follow the last bitmap", found=Description(f"{len(data) - offset} bytes"), expected="none"
        )
    return total


def check_bitmap(data: bytes, start: int, path: str) -> tuple[int, int]:
    """Check a 32-bit bitmap, one container after the other.

    Args:
        data: the bytes that hold the bitmap.
        start: the offset of the bitmap in the bytes.
        path: the path of the bitmap, for errors.

    Returns:
        Its size in bytes, and its cardinality.

    Raises:
        SpecError: PUF019 if a cookie, key, offset, cardinality or container is not well-formed.
    """
    bitmap = _Bitmap(data, start, path)
    (cookie,) = struct.unpack("<I", bitmap.take(4, "a cookie"))
    flags = b""
    if cookie == NO_RUNS_COOKIE:
        (count,) = struct.unpack("<I", bitmap.take(4, "the number of containers"))
        if count > MAX_CONTAINERS:
            raise bitmap.error("there are too many containers", count, f"at most {MAX_CONTAINERS}")
    elif cookie & 0xFFFF == RUNS_COOKIE:
        count = (cookie >> 16) + 1
        flags = bitmap.take((count + 7) // 8, "the flags of runs")
    else:
        raise bitmap.error(
            "the cookie is unknown",
            Description(f"{cookie:#x}"),
            f"{NO_RUNS_COOKIE:#x}, or {RUNS_COOKIE:#x} in the lower 16 bits",
        )
    header = struct.unpack(f"<{2 * count}H", bitmap.take(4 * count, "the containers' keys"))
    keys, cardinalities = header[0::2], [one + 1 for one in header[1::2]]
    for place, (before, key) in enumerate(itertools.pairwise(keys)):
        if key <= before:
            raise bitmap.error("the keys of the containers do not ascend", path=f"/containers/{place + 1}")
    offsets: tuple[int, ...] = ()
    if cookie == NO_RUNS_COOKIE or count >= MIN_CONTAINERS_WITH_OFFSETS:
        offsets = struct.unpack(f"<{count}I", bitmap.take(4 * count, "the containers' offsets"))
    for place, cardinality in enumerate(cardinalities):
        container = f"/containers/{place}"
        if offsets and offsets[place] != bitmap.at - start:
            raise bitmap.error("the offset differs from that of the container", offsets[place], path=container)
        if flags and flags[place >> 3] >> (place & 7) & 1:
            found = _check_runs(bitmap, container)
        elif cardinality <= MAX_ARRAY:
            found = _check_array(bitmap, cardinality, container)
        else:
            found = int.from_bytes(bitmap.take(BITSET_BYTES, "a container", container), "little").bit_count()
        if found != cardinality:
            message = "the cardinality differs from that of the container"
            raise bitmap.error(message, cardinality, str(found), container)
    return bitmap.at - start, sum(cardinalities)


def _check_array(bitmap: _Bitmap, cardinality: int, container: str) -> int:
    values = struct.unpack(f"<{cardinality}H", bitmap.take(2 * cardinality, "a container", container))
    if any(value <= before for before, value in itertools.pairwise(values)):
        raise bitmap.error("the values of an array do not ascend", path=container)
    return cardinality


def _check_runs(bitmap: _Bitmap, container: str) -> int:
    (count,) = struct.unpack("<H", bitmap.take(2, "a container", container))
    if count == 0:
        raise bitmap.error("the container has no runs", path=container)
    words = struct.unpack(f"<{2 * count}H", bitmap.take(4 * count, "a container", container))
    total, end = 0, -2
    for low, extent in zip(words[0::2], words[1::2], strict=True):
        if low <= end + 1:
            raise bitmap.error("the runs overlap, touch or do not ascend", path=container)
        end = low + extent
        if end > 0xFFFF:
            raise bitmap.error("a run ends after the container", path=container)
        total += extent + 1
    return total


class _Bitmap:
    """A place in the bytes of a 32-bit bitmap."""

    def __init__(self, data: bytes, start: int, path: str) -> None:
        self.data = data
        self.at = start
        self.path = path

    def take(self, size: int, what: str, container: str = "") -> bytes:
        left = len(self.data) - self.at
        if size > left:
            raise self.error("the bitmap is truncated", Description(f"{left} bytes left"), what, container)
        self.at += size
        return self.data[self.at - size : self.at]

    def error(self, message: str, found: object = NOT_GIVEN, expected: str | None = None, path: str = "") -> SpecError:
        return spec_error("PUF019", message, found=found, expected=expected, path=self.path + path)

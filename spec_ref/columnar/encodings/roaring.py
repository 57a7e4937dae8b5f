"""Check the structure of a serialized Roaring bitmap over arrays: the kernel for `spec_ref.encodings.roaring`."""

from __future__ import annotations

import struct
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from spec_ref.core.errors import NOT_GIVEN, Description, SpecError, spec_error
from spec_ref.encodings import roaring
from spec_ref.encodings.roaring import (
    BITSET_BYTES,
    MAX_ARRAY,
    MAX_CONTAINERS,
    MIN_CONTAINERS_WITH_OFFSETS,
    NO_RUNS_COOKIE,
    RUNS_COOKIE,
)

U16: TypeAlias = npt.NDArray[np.uint16]
I64: TypeAlias = npt.NDArray[np.int64]


def cardinality64(data: bytes) -> int:
    """Check a serialized 64-bit bitmap, as `spec_ref.encodings.roaring.cardinality64` does.

    Args:
        data: the serialized bitmap.

    Returns:
        The number of positions.

    Raises:
        SpecError: PUF019 or PUF020, as the definition.
    """
    return roaring.cardinality64(data, lambda data, start, path: _Bitmap(data, start, path).check())


class _Bitmap:
    """One 32-bit bitmap at ``start``; `check` reads its parts in order."""

    def __init__(self, data: bytes, start: int, path: str) -> None:
        self.data = data
        self.start = start
        self.at = start
        self.path = path

    def check(self) -> tuple[int, int]:
        """Check the bitmap, and return its size in bytes and its cardinality."""
        (cookie,) = struct.unpack("<I", self.take(4, "a cookie"))
        if cookie == NO_RUNS_COOKIE:
            (count,) = struct.unpack("<I", self.take(4, "the number of containers"))
            has_runs = np.zeros(0, dtype=bool)
        elif cookie & 0xFFFF == RUNS_COOKIE:
            count = (cookie >> 16) + 1
            flags = np.frombuffer(self.take((count + 7) // 8, "the flags of runs"), dtype=np.uint8)
            has_runs = np.unpackbits(flags, bitorder="little")[:count].astype(bool)
        else:
            raise self.error(
                "the cookie is unknown",
                Description(f"{cookie:#x}"),
                f"{NO_RUNS_COOKIE:#x}, or {RUNS_COOKIE:#x} in the lower 16 bits",
            )
        if count == 0:
            return self.at - self.start, 0
        if count > MAX_CONTAINERS:
            raise self.error("there are too many containers", count, f"at most {MAX_CONTAINERS}")
        header = np.frombuffer(self.take(4 * count, "the containers' keys"), dtype="<u2").astype(np.int64)
        keys, cardinalities = header[0::2], header[1::2] + 1
        self.refuse(np.diff(keys) <= 0, "the keys of the containers do not ascend", offset=1)
        offsets = None
        if cookie == NO_RUNS_COOKIE or count >= MIN_CONTAINERS_WITH_OFFSETS:
            offsets = np.frombuffer(self.take(4 * count, "the containers' offsets"), dtype="<u4").astype(np.int64)
        if not len(has_runs):
            has_runs = np.zeros(count, dtype=bool)
        self.containers(cardinalities, has_runs, offsets)
        return self.at - self.start, int(cardinalities.sum())

    def containers(self, cardinalities: I64, has_runs: npt.NDArray[np.bool_], offsets: I64 | None) -> None:
        sizes = np.where(cardinalities <= MAX_ARRAY, 2 * cardinalities, BITSET_BYTES)
        if offsets is None:
            starts = self.walk(sizes, has_runs)
        else:
            starts = offsets + self.start
            runs_end = starts[has_runs] + 2
            within = (starts >= self.at) & (starts + 2 <= len(self.data))
            self.refuse(~within, "the offset of a container is outside of the bitmap")
            sizes[has_runs] = 2 + 4 * self.words(runs_end - 2)
            expected = self.at + np.cumsum(sizes) - sizes
            self.refuse(starts != expected, "the offset differs from that of the container")
        ends = starts + sizes
        self.refuse(ends > len(self.data), "the container is truncated")
        first, self.at = self.at, int(ends[-1])
        values = np.frombuffer(self.data, dtype="<u2", offset=first, count=(self.at - first) // 2)
        begins = (starts - first) // 2
        is_array = ~has_runs & (cardinalities <= MAX_ARRAY)
        self.check_arrays(values, begins, is_array)
        self.check_bitsets(starts, cardinalities, ~has_runs & ~is_array)
        if has_runs.any():
            self.check_runs(values, begins, cardinalities, np.flatnonzero(has_runs))

    def walk(self, sizes: I64, has_runs: npt.NDArray[np.bool_]) -> I64:
        """Find the starts of the few containers of a bitmap without offsets, and the sizes of those with runs."""
        starts = np.zeros_like(sizes)
        position = self.at
        for place in range(len(sizes)):
            starts[place] = position
            if has_runs[place]:
                if position + 2 > len(self.data):
                    raise self.error("the container is truncated", path=f"/containers/{place}")
                sizes[place] = 2 + 4 * int.from_bytes(self.data[position : position + 2], "little")
            position += int(sizes[place])
        return starts

    def words(self, places: I64) -> I64:
        """Read the 16-bit integers at some offsets."""
        octets = np.frombuffer(self.data, dtype=np.uint8)
        return octets[places].astype(np.int64) | octets[places + 1].astype(np.int64) << 8

    def check_arrays(self, values: U16, begins: I64, is_array: npt.NDArray[np.bool_]) -> None:
        falls = np.flatnonzero(values[1:] <= values[:-1]) + 1
        owners = np.searchsorted(begins, falls, side="right") - 1
        inside = is_array[owners] & (begins[owners] != falls)
        if inside.any():
            place = int(owners[inside][0])
            raise self.error("the values of an array do not ascend", path=f"/containers/{place}")

    def check_bitsets(self, starts: I64, cardinalities: I64, is_bitset: npt.NDArray[np.bool_]) -> None:
        for place in np.flatnonzero(is_bitset):
            bits = np.frombuffer(self.data, dtype=np.uint8, offset=int(starts[place]), count=BITSET_BYTES)
            found = int(np.bitwise_count(bits).sum())
            if found != cardinalities[place]:
                self.wrong_cardinality(int(place), int(cardinalities[place]), found)

    def check_runs(self, values: U16, begins: I64, cardinalities: I64, places: I64) -> None:
        counts = values[begins[places]].astype(np.int64)
        self.refuse_places(places[counts == 0], "the container has no runs")
        first_of = np.cumsum(counts) - counts
        words = np.repeat(begins[places] + 1 - 2 * first_of, counts) + 2 * np.arange(int(counts.sum()))
        lows, extents = values[words].astype(np.int64), values[words + 1].astype(np.int64)
        highs = lows + extents
        owners = np.repeat(places, counts)
        self.refuse_places(owners[highs > 0xFFFF], "a run ends after the container")
        follows = owners[1:] == owners[:-1]
        self.refuse_places(
            owners[1:][follows & (lows[1:] <= highs[:-1] + 1)], "the runs overlap, touch or do not ascend"
        )
        found = np.add.reduceat(extents + 1, first_of)
        wrong = np.flatnonzero(found != cardinalities[places])
        if len(wrong):
            place = places[wrong[0]]
            self.wrong_cardinality(int(place), int(cardinalities[place]), int(found[wrong[0]]))

    def take(self, size: int, what: str) -> bytes:
        if size > len(self.data) - self.at:
            raise self.error("the bitmap is truncated", Description(f"{len(self.data) - self.at} bytes left"), what)
        self.at += size
        return self.data[self.at - size : self.at]

    def refuse(self, where: npt.NDArray[np.bool_], message: str, offset: int = 0) -> None:
        self.refuse_places(np.flatnonzero(where) + offset, message)

    def refuse_places(self, places: I64, message: str) -> None:
        if len(places):
            raise self.error(message, path=f"/containers/{places[0]}")

    def wrong_cardinality(self, place: int, stated: int, found: int) -> None:
        message = "the cardinality differs from that of the container"
        raise self.error(message, stated, str(found), f"/containers/{place}")

    def error(self, message: str, found: object = NOT_GIVEN, expected: str | None = None, path: str = "") -> SpecError:
        return spec_error("PUF019", message, found=found, expected=expected, path=self.path + path)

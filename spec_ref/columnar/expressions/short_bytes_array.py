"""Short byte strings as arrays that are compared at once, for the bounds of many files (Scan Planning).

Bounds of strings and bytes are truncated to a few characters. Up to `WIDTH` bytes are two integers of eight bytes each,
padded with zeros; if these are equal, the shorter string is less. UTF-8 keeps the order of code points (EXP011).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from spec_ref.columnar.manifests.nullable_arrays import Bounds, Mask

WIDTH = 16
"""The number of bytes that are compared. Longer strings are handled elsewhere."""

_MASKS = np.array(
    [0, *((0xFFFFFFFFFFFFFFFF << 8 * (8 - size)) & 0xFFFFFFFFFFFFFFFF for size in range(1, 9))], np.uint64
)
"""The bits of the first n of eight bytes."""

_HIGH_BITS = np.uint64(0x8080808080808080)


class ShortBytesArray:
    """Byte strings, each at most `WIDTH` long, with comparisons as arrays."""

    __slots__ = ("first", "second", "sizes")

    def __init__(self, first: npt.NDArray[np.uint64], second: npt.NDArray[np.uint64], sizes: npt.NDArray[Any]) -> None:
        self.first = first
        self.second = second
        self.sizes = sizes

    @property
    def ascii(self) -> Mask:
        """Which strings have only ASCII bytes."""
        mask: Mask = (self.first | self.second) & _HIGH_BITS == 0
        return mask

    def _less(self, other: Any) -> Mask:
        same = self.first == other.first
        second = (self.second < other.second) | ((self.second == other.second) & (self.sizes < other.sizes))
        mask: Mask = (self.first < other.first) | (same & second)
        return mask

    def __eq__(self, other: object) -> Any:
        assert isinstance(other, ShortBytesArray)
        return (self.first == other.first) & (self.second == other.second) & (self.sizes == other.sizes)

    __hash__ = None  # type: ignore[assignment]

    def __lt__(self, other: ShortBytesArray) -> Mask:
        return self._less(other)

    def __gt__(self, other: ShortBytesArray) -> Mask:
        return other._less(self)

    def __le__(self, other: ShortBytesArray) -> Mask:
        return ~other._less(self)

    def __ge__(self, other: ShortBytesArray) -> Mask:
        return ~self._less(other)


def short_bytes(value: bytes) -> ShortBytesArray:
    """Convert one string of any length, to compare others with; bytes beyond `WIDTH` count by their number only.

    Args:
        value: the bytes.

    Returns:
        An array of one string.
    """
    padded = value[:WIDTH].ljust(WIDTH, b"\0")
    first, second = (np.array([int.from_bytes(half, "big")], np.uint64) for half in (padded[:8], padded[8:]))
    return ShortBytesArray(first, second, np.array([len(value)], np.int64))


def short_bytes_array(bounds: Bounds) -> ShortBytesArray:
    """Convert bounds; the result has no meaning for those that are missing or longer than `WIDTH`.

    Args:
        bounds: the stored bounds.

    Returns:
        The strings, one per bound.
    """
    length = len(bounds.valid)
    halves = np.zeros((2, length), np.uint64)
    usable = bounds.valid & (bounds.lengths <= WIDTH)
    sizes = np.where(usable, bounds.lengths, 0)
    for number, data in enumerate(bounds.data):
        rows = np.nonzero(usable & (bounds.part == number))[0]
        if not len(rows):
            continue
        offsets = bounds.offsets[rows]
        if int(offsets.max()) + WIDTH > len(data):
            data = data + bytes(WIDTH)
        windows = np.ndarray((len(data) - 7,), ">u8", data, strides=(1,))
        for half in (0, 1):
            kept = np.clip(sizes[rows] - 8 * half, 0, 8)
            halves[half][rows] = windows[offsets + 8 * half].astype(np.uint64) & _MASKS[kept]
    return ShortBytesArray(halves[0], halves[1], sizes)

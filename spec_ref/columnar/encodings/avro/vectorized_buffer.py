"""A buffer of Avro data and the steps that many positions in it take together (Appendix A, Avro).

`spec_ref.columnar.encodings.avro.vectorized` decodes types with them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from spec_ref.columnar.encodings.avro.columns import Rows

Positions: TypeAlias = npt.NDArray[np.intp]
"""Positions in the buffer, one for each value that is decoded."""

Longs: TypeAlias = npt.NDArray[np.int64]

MARGIN = 64
"""The number of bytes after the buffer that a step may read beyond a position."""

_U32 = np.uint32
_U64 = np.uint64
_ONE32, ONE64 = _U32(1), _U64(1)
_STOPS32 = _U32(0x80808080)
STOPS64 = _U64(0x8080808080808080)
"""The bits that are clear in the last byte of an integer and set in the others."""

_ZIGZAG = np.array([(byte >> 1) ^ -(byte & 1) for byte in range(256)], np.int64)
"""The integer that a single byte encodes, by the byte."""


class VectorizedBuffer:
    """A buffer, with room after its end for positions that are invalid."""

    __slots__ = ("bytes", "data", "eights", "end", "fours", "halves", "invalid")

    def __init__(self, parts: Sequence[bytes], footprint: int) -> None:
        """Join the parts; ``footprint`` is the number of bytes of a value whose bytes are all zero."""
        self.end = sum(map(len, parts))
        self.invalid = self.end + MARGIN
        self.data = b"".join([*parts, bytes(2 * MARGIN + footprint)])
        self.bytes = np.frombuffer(self.data, np.uint8)
        room = len(self.data) - 8
        self.halves = np.ndarray((room,), "<u2", self.data, strides=(1,))
        self.fours = np.ndarray((room,), "<u4", self.data, strides=(1,))
        self.eights = np.ndarray((room,), "<u8", self.data, strides=(1,))

    def byte(self, pos: Positions) -> npt.NDArray[np.uint8]:
        """Read the byte at each position.

        Args:
            pos: the positions.

        Returns:
            The bytes.
        """
        return self.bytes.take(pos, mode="clip")

    def long(self, pos: Positions) -> tuple[Longs, Positions]:
        """Read the integer at each position.

        Args:
            pos: the positions.

        Returns:
            The integers, and the positions after them.
        """
        first = self.byte(pos)
        if not len(first) or first.max() < 0x80:
            return _ZIGZAG.take(first), pos + 1
        word = self.fours[pos]
        stops = ~word & _STOPS32
        if stops.min():  # every integer has its last byte among its first four
            below = (stops & (~stops + _ONE32)) - _ONE32
            word = word & below & _U32(0x7F7F7F7F)
            word = (word & _U32(0x007F007F)) | ((word >> _ONE32) & _U32(0x3F803F80))
            word = (word & _U32(0x3FFF)) | ((word >> _U32(2)) & _U32(0x0FFFC000))
            value = word.astype(np.int64)
            return (value >> 1) ^ -(value & 1), pos + ((np.bitwise_count(below) + 1) >> 3)
        return self._long_word(pos)

    def _long_word(self, pos: Positions) -> tuple[Longs, Positions]:
        word = self.eights[pos]
        stops = ~word & STOPS64
        below = (stops & (~stops + ONE64)) - ONE64  # every bit is set if there is no last byte
        bits = np.bitwise_count(below).astype(np.intp)
        word = word & below & _U64(0x7F7F7F7F7F7F7F7F)
        word = (word & _U64(0x007F007F007F007F)) | ((word >> ONE64) & _U64(0x3F803F803F803F80))
        word = (word & _U64(0x00003FFF00003FFF)) | ((word >> _U64(2)) & _U64(0x0FFFC0000FFFC000))
        word = (word & _U64(0x0FFFFFFF)) | ((word >> _U64(4)) & _U64(0x00FFFFFFF0000000))
        after = pos + ((bits + 1) >> 3)
        large = np.nonzero(stops == 0)[0]
        if len(large):
            self._read_long_tail(word, after, large)
        value = (word >> ONE64).view(np.int64) ^ -(word & ONE64).view(np.int64)
        return value, after

    def _read_long_tail(self, word: npt.NDArray[np.uint64], after: Positions, large: Rows) -> None:
        """Read the ninth and tenth byte of the integers that have them."""
        at = after[large]  # the position of the ninth byte
        ninth = self.byte(at).astype(np.uint64)
        tenth = self.byte(at + 1).astype(np.uint64)
        more = ninth > 0x7F
        word[large] |= ((ninth & _U64(0x7F)) << _U64(56)) | np.where(more, tenth << _U64(63), _U64(0))
        after[large] = np.where(more & (tenth > 1), self.invalid, at + 1 + more)

    def skip_long(self, pos: Positions) -> Positions:
        """Pass over the integer at each position.

        Args:
            pos: the positions.

        Returns:
            The positions after the integers.
        """
        first = self.byte(pos)
        if not len(first) or first.max() < 0x80:
            return pos + 1
        word = self.fours[pos]
        stops = ~word & _STOPS32
        if stops.min():
            return pos + ((np.bitwise_count((stops & (~stops + _ONE32)) - _ONE32) + 1) >> 3)
        return self._long_word(pos)[1]

    def size(self, pos: Positions) -> tuple[Longs, Positions]:
        """Read the length at each position; a position that is not followed by as many bytes becomes invalid.

        Args:
            pos: the positions.

        Returns:
            The lengths, and the positions after them.
        """
        size, after = self.long(pos)
        room = self.end - after
        if len(size) and ((size > room).any() or size.min() < 0):
            wrong = (size > room) | (size < 0)
            return np.where(wrong, 0, size), np.where(wrong, self.invalid, after)
        return size, after

    def invalidate(self, pos: Positions, wrong: npt.NDArray[np.bool_]) -> Positions:
        """Set the positions where malformed data was read to the invalid position.

        Args:
            pos: the positions.
            wrong: a flag per position.

        Returns:
            The positions.
        """
        return np.where(wrong, self.invalid, pos) if wrong.any() else pos

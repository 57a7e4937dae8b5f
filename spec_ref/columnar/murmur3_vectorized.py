"""Murmur3 x86 32-bit, seed 0, of many values at once (Appendix B).

Every numpy operation does one step of the hash for many values. `CHUNK_SIZE` values are hashed at a time,
so that what a step reads and writes stays in the processor's cache. All sums and products wrap at 32 bits, as the hash
requires. The definition on one value is `spec_ref.hashing.murmur3_x86_32`; the tests compare the two.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import mmh3
import numpy as np
import numpy.typing as npt

CHUNK_SIZE = 1 << 15
"""The number of values that are hashed together."""

LONG_BYTES = 255
"""A longer value is hashed alone: its many steps in lockstep cost as much as a call. The length of others fits in a
byte."""

MIN_VECTORIZED = 64
"""Fewer values are hashed one by one, because the steps would cost more than the calls."""

IDLE_BLOCKS = 2
"""Sorting values by length costs as much as stepping on for this many blocks after a value's end."""

WORD = 4
WORD_BITS = 32

Words: TypeAlias = npt.NDArray[np.uint32]
Bytes: TypeAlias = npt.NDArray[np.uint8]
Integers: TypeAlias = npt.NDArray[np.integer[Any]]

_C1 = np.uint32(0xCC9E2D51)
_C2 = np.uint32(0x1B873593)
_STEP_FACTOR = np.uint32(5)
_STEP_SUMMAND = np.uint32(0xE6546B64)
_FINAL_FACTOR_1 = np.uint32(0x85EBCA6B)
_FINAL_FACTOR_2 = np.uint32(0xC2B2AE35)
_TAIL_MASKS = np.array([0, 0xFF, 0xFFFF, 0xFFFFFF], np.uint32)
"""The bytes of a value's last word, by how many of them belong to the value."""


def chunk_slices(count: int, size: int = CHUNK_SIZE) -> Iterator[slice]:
    """Divide values into slices.

    Args:
        count: the number of values.
        size: the greatest size of a slice.

    Returns:
        The slices.
    """
    return (slice(start, min(start + size, count)) for start in range(0, count, size))


def _rotate_left(words: Words, bits: int, scratch: Words) -> None:
    np.left_shift(words, np.uint32(bits), out=scratch)
    words >>= np.uint32(WORD_BITS - bits)
    words |= scratch


def _mix_word(hashes: Words, words: Words, scratch: Words) -> None:
    """Mix a word of data into each hash; this is everything that happens to the tail of a value."""
    words *= _C1
    _rotate_left(words, 15, scratch)
    words *= _C2
    hashes ^= words


def _mix_block(hashes: Words, words: Words, scratch: Words) -> None:
    """Mix a complete word of data, a block, into each hash. ``words`` is overwritten."""
    _mix_word(hashes, words, scratch)
    _rotate_left(hashes, 13, scratch)
    hashes *= _STEP_FACTOR
    hashes += _STEP_SUMMAND


def _finish(hashes: Words, lengths: Words | np.uint32, scratch: Words) -> None:
    """Mix in the lengths in bytes, and let every bit of the state reach every bit of the hash."""
    hashes ^= lengths
    for shift, factor in ((16, _FINAL_FACTOR_1), (13, _FINAL_FACTOR_2)):
        np.right_shift(hashes, np.uint32(shift), out=scratch)
        hashes ^= scratch
        hashes *= factor
    np.right_shift(hashes, np.uint32(16), out=scratch)
    hashes ^= scratch


class _UnalignedWords:
    """The words of values that begin at any byte.

    Memory is read in aligned words, which numpy gathers several times faster than unaligned ones; a word of a value is
    joined from the two that it overlaps. After the end of the data the bytes are zero.
    """

    def __init__(self, data: Bytes, starts: Integers) -> None:
        # The last value may end in the last word and is read one word further.
        self._aligned = np.zeros(len(data) // WORD + 2, "<u4")
        self._aligned.view(np.uint8)[: len(data)] = data
        self._first = (starts >> 2).astype(np.intp)
        self._down = ((starts & 3) << 3).astype(np.uint32)
        self._up = np.uint32(WORD_BITS - 1) - self._down  # and one more: shifting by 32 is not defined
        self._current = self._gather(self._aligned, self._first)

    @staticmethod
    def _gather(words: Words, indices: npt.NDArray[np.intp]) -> Words:
        return words.take(indices, mode="clip")  # all are inside; "clip" spares the check

    def _joined(self, low: Words, high: Words) -> Words:
        """Join the words whose low bytes, already shifted down, are in ``low`` and whose next bytes begin ``high``."""
        high <<= np.uint32(1)
        high <<= self._up[: len(high)]
        low |= high
        return low

    def block(self, number: int, count: int) -> Words:
        """Read word ``number`` of each of the first ``count`` values; to be called with 0, 1, 2, ..."""
        following = self._gather(self._aligned[number + 1 :], self._first[:count])
        current = self._current[:count]
        words = current >> self._down[:count]
        current[:] = following
        return self._joined(words, following)

    def tails(self, numbers: npt.NDArray[np.intp]) -> Words:
        """Read the word after the blocks of each value, when all were read and ``numbers`` states how many it has."""
        numbers += self._first
        numbers += 1
        return self._joined(self._current >> self._down, self._gather(self._aligned, numbers))


def hash_longs(values: npt.NDArray[np.int64]) -> Words:
    """Compute ``hashLong`` of integers: the hash of their 8 little-endian bytes.

    Args:
        values: at most `CHUNK_SIZE` integers.

    Returns:
        The hashes.
    """
    return hash_rows(np.ascontiguousarray(values, dtype="<i8").view("<u4").reshape(-1, 2), 8)


def hash_rows(rows: Words, length: int) -> Words:
    """Hash values of one length.

    Args:
        rows: a row of little-endian words per value; the last word is padded with zeros.
        length: the bytes of each value.

    Returns:
        The hashes.
    """
    hashes = np.zeros(len(rows), np.uint32)
    scratch = np.empty_like(hashes)
    blocks = length // WORD
    for block in range(blocks):
        _mix_block(hashes, rows[:, block].copy(), scratch)
    if length % WORD:
        _mix_word(hashes, rows[:, blocks].copy(), scratch)
    _finish(hashes, np.uint32(length), scratch)
    return hashes


def hash_padded_rows(rows: Words, lengths: npt.NDArray[np.uint8]) -> Words:
    """Hash short values of several lengths.

    Args:
        rows: a row of little-endian words per value, with zeros from the value's end on.
        lengths: the bytes of each value.

    Returns:
        The hashes.
    """
    return _hash_in_step(lambda block: rows[:, block].copy(), rows.shape[1], lengths)


def _hash_in_step(read: Callable[[int], Words], width: int, lengths: npt.NDArray[np.uint8]) -> Words:
    """Hash values of similar lengths.

    Every lane does the steps of the longest value, and keeps the state that its own length requires.

    Args:
        read: returns word 0, 1, 2, ... of every value; beyond a value's end it is any number.
        width: the number of words.
        lengths: the bytes of each value.

    Returns:
        The hashes.
    """
    blocks = lengths >> np.uint8(2)
    fewest, most = int(blocks.min()), int(blocks.max())
    hashes = np.zeros(len(lengths), np.uint32)
    scratch = np.empty_like(hashes)
    tails = np.zeros_like(hashes)
    for block in range(min(most + 1, width)):
        words = read(block)
        if block < fewest:
            _mix_block(hashes, words, scratch)
            continue
        tails |= words & _ones_where(blocks == block)
        if block < most:
            stepped = hashes.copy()
            _mix_block(stepped, words, scratch)
            stepped ^= hashes
            stepped &= _ones_where(blocks > block)
            hashes ^= stepped
    tails &= _TAIL_MASKS.take(lengths & np.uint8(3))
    _mix_word(hashes, tails, scratch)  # a tail without bytes is 0 and changes nothing
    _finish(hashes, lengths.astype(np.uint32), scratch)
    return hashes


def _ones_where(flags: npt.NDArray[np.bool_]) -> Words:
    """Set all bits where the flag is set: selecting with them is many times faster than ``copyto(where=...)``."""
    masks = flags.astype(np.uint32)
    return np.negative(masks, out=masks)


def hash_strings(data: Bytes, offsets: Integers) -> Words:
    """Hash byte strings that are stored one after another.

    Args:
        data: the bytes of all values.
        offsets: where each value begins, and where the last one ends, in bytes; ascending.

    Returns:
        The hashes.
    """
    hashes = np.empty(len(offsets) - 1, np.uint32)
    view = data.data
    for part in chunk_slices(len(hashes)):
        bounds = offsets[part.start : part.stop + 1]
        starts, ends = bounds[:-1], bounds[1:]
        is_short = ends - starts <= LONG_BYTES
        # So few values, or so many bytes of long ones between the short, are not worth the steps in lockstep.
        if len(starts) < MIN_VECTORIZED or int(bounds[-1]) - int(bounds[0]) > CHUNK_SIZE * LONG_BYTES:
            is_short[:] = False
        if is_short.all():
            hashes[part] = _hash_short(data, starts, ends)
            continue
        short, alone = np.flatnonzero(is_short), np.flatnonzero(~is_short)
        if len(short):
            hashes[part][short] = _hash_short(data, starts[short], ends[short])
        slices = zip(starts[alone].tolist(), ends[alone].tolist(), strict=True)
        digests = [mmh3.mmh3_32_uintdigest(view[start:end]) for start, end in slices]
        hashes[part][alone] = np.array(digests, np.uint32)
    return hashes


def _hash_short(data: Bytes, starts: Integers, ends: Integers) -> Words:
    """Hash values of at most `LONG_BYTES` bytes."""
    lengths = (ends - starts).astype(np.uint8)
    blocks = lengths >> np.uint8(2)
    most = int(blocks.max())
    data, starts = data[int(starts[0]) : int(ends[-1])], starts - starts[0]
    if most * len(blocks) - int(blocks.sum()) > IDLE_BLOCKS * len(blocks):
        return _hash_sorted(data, starts, lengths)
    words = _UnalignedWords(data, starts)
    return _hash_in_step(lambda block: words.block(block, len(starts)), most + 1, lengths)


def _hash_sorted(data: Bytes, starts: Integers, lengths: npt.NDArray[np.uint8]) -> Words:
    """Hash values of very different lengths.

    The values are sorted by length, longest first, so that those which still have a block are always the first ones: a
    step works on a slice, and nothing is selected or scattered except once at the end.

    Returns:
        The hashes.
    """
    order = np.argsort(~lengths, kind="stable")
    counts = np.bincount(lengths)[::-1]
    present = np.flatnonzero(counts)
    counts, classes = counts[present], (len(counts) - 1 - present).astype(np.uint32)
    count_through = np.cumsum(counts)
    words = _UnalignedWords(data, starts[order])
    blocks = classes // np.uint32(WORD)

    hashes = np.zeros(len(order), np.uint32)
    scratch = np.empty_like(hashes)
    for block in range(int(blocks[0])):
        active = int(count_through[np.count_nonzero(blocks > block) - 1])
        _mix_block(hashes[:active], words.block(block, active), scratch[:active])
    tails = words.tails(np.repeat(blocks.astype(np.intp), counts))
    tails &= np.repeat(_TAIL_MASKS[classes % np.uint32(WORD)], counts)
    _mix_word(hashes, tails, scratch)
    _finish(hashes, np.repeat(classes, counts), scratch)

    unsorted = np.empty_like(hashes)
    unsorted[order] = hashes
    return unsorted

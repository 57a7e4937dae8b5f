"""Murmur3 x86 32-bit, seed 0, of many values at once (Appendix B).

Every numpy operation does one step of the hash for many values. `chunks.CHUNK_SIZE` values are hashed at a time,
so that what a step reads and writes stays in the processor's cache. All sums and products wrap at 32 bits, as the hash
requires. The definition on one value is `spec_ref.hashing.murmur3_x86_32`; the tests compare the two.

Every step takes about the same time, however simple it is, so the number of steps determines the time: a `Hasher` keeps
its memory from chunk to chunk, and leaves out steps that have no effect.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import mmh3
import numpy as np
import numpy.typing as npt

from spec_ref.columnar import chunks

STRINGS_SIZE = 1 << 14
"""The number of byte strings that are hashed together: sorting more of them by length takes more time for each."""

LONG_BYTES = 255
"""The length in bytes of the longest values that are hashed together. A longer value is hashed by a separate call,
because its many steps would cost as much. This length fits in a byte."""

MIN_VECTORIZED = 64
"""Fewer values are hashed one by one, because the steps would cost more than the calls."""

IDLE_BLOCKS = 2
"""Values are sorted by length if they would otherwise take more idle steps, on average, after their ends than this."""

WORD = 4
WORD_BITS = 32
CACHE_LINE = 64
"""The number of bytes of a cache line. Memory is aligned to it, so that no load or store touches two lines."""

Words: TypeAlias = npt.NDArray[np.uint32]
Bytes: TypeAlias = npt.NDArray[np.uint8]
Integers: TypeAlias = npt.NDArray[np.integer[Any]]


def _word(value: int) -> Words:
    return np.array(value, np.uint32)  # numpy handles an array without axes faster than a scalar


_C1 = _word(0xCC9E2D51)
_C2 = _word(0x1B873593)
_STEP_FACTOR = _word(5)
_STEP_SUMMAND = _word(0xE6546B64)
_FINAL_FACTORS = _word(0x85EBCA6B), _word(0xC2B2AE35)
_FINAL_SHIFTS = _word(16), _word(13)
_LAST_SHIFT = _word(16)
_ONE = _word(1)
_SIGN_SHIFT = np.array(WORD_BITS - 1, np.int32)
_SHORTER_ENDS = _word(1 << 23), _word(1 << 15), _word(1 << 7)  # what 3, 2 and 1 bytes hold is below, beside the sign
_LONG_LENGTH = _word(8)
_WORD_ROTATION = _word(15), _word(WORD_BITS - 15)
_STATE_ROTATION = _word(13), _word(WORD_BITS - 13)


def _rotate_left(words: Words, rotation: tuple[Words, Words], scratch: Words, out: Words) -> None:
    left, right = rotation
    np.left_shift(words, left, out=scratch)
    np.right_shift(words, right, out=out)
    out |= scratch


def _scramble(words: Words, scratch: Words) -> None:
    """Scramble words of data; the caller mixes them into the state by exclusive or."""
    words *= _C1
    _rotate_left(words, _WORD_ROTATION, scratch, words)
    words *= _C2


def _step(hashes: Words, scratch: Words, out: Words) -> None:
    """Update the state after a complete word, a block, was mixed into each hash; a tail has no such step."""
    _rotate_left(hashes, _STATE_ROTATION, scratch, out)
    out *= _STEP_FACTOR
    out += _STEP_SUMMAND


def _finish(hashes: Words, lengths: Words, scratch: Words, out: Words) -> None:
    """Mix in the lengths in bytes, and let every bit of the state reach every bit of the hash."""
    hashes ^= lengths
    for shift, factor in zip(_FINAL_SHIFTS, _FINAL_FACTORS, strict=True):
        np.right_shift(hashes, shift, out=scratch)
        hashes ^= scratch
        hashes *= factor
    np.right_shift(hashes, _LAST_SHIFT, out=scratch)
    np.bitwise_xor(hashes, scratch, out=out)


def _tail_masks(lengths: Bytes) -> Words:
    """Set the bits of those bytes of a value's last word that belong to the value."""
    masks = ((lengths & np.uint8(WORD - 1)) << np.uint8(3)).astype(np.uint32)
    np.left_shift(_ONE, masks, out=masks)
    masks -= _ONE
    return masks


def _read_words(data: Words, number: int, first: npt.NDArray[np.intp], into: Words) -> None:
    """Read word ``number`` of the values that begin at the words ``first``; beyond the end of the data, any word."""
    data[number:].take(first, mode="clip", out=into)  # "clip" is faster than a check of the indexes


class _UnalignedWords:
    """The words of values that may begin at any byte.

    Numpy gathers aligned words several times faster than unaligned ones. The data are copied four times, each copy
    beginning one byte later, so that every word is aligned in one of them. After the end of the data the bytes are
    zero.
    """

    def __init__(self) -> None:
        self.words: Words = np.empty(0, "<u4")

    def place(self, data: Bytes, starts: Integers) -> npt.NDArray[np.intp]:
        """Copy the bytes of values, so that their words can be read.

        Args:
            data: the bytes of all values.
            starts: where each value begins.

        Returns:
            The index of each value's first word in `words`; its other words follow.
        """
        length = len(data) // WORD + 2
        if len(self.words) < WORD * length:
            self.words = np.empty(WORD * length, "<u4")
        copies = self.words[: WORD * length].view(np.uint8).reshape(WORD, -1)
        for shift, copy in enumerate(copies):
            shifted = data[shift:]
            copy[: len(shifted)] = shifted
            copy[len(shifted) :] = 0
        first = starts & (WORD - 1)
        first *= length
        first += starts >> 2
        return first.astype(np.intp)


class Hasher:
    """Hashes chunk after chunk in the same memory."""

    def __init__(self, count: int) -> None:
        """Allocate the memory.

        Args:
            count: the number of values of all chunks together.
        """
        size = min(count, chunks.CHUNK_SIZE)
        padded = -(-size * WORD // CACHE_LINE) * CACHE_LINE
        memory = np.empty(3 * padded + CACHE_LINE, np.uint8)
        first = -int(memory.__array_interface__["data"][0]) % CACHE_LINE
        arrays = memory[first : first + 3 * padded].view(np.uint32).reshape(3, -1)[:, :size]
        self._hashes, self._words, self._scratch = arrays
        self._unaligned = _UnalignedWords()
        self._kept: Words = np.empty(0, np.uint32)
        self._numbers = np.arange(size)

    def _memory(self, count: int) -> tuple[Words, Words, Words]:
        return self._hashes[:count], self._words[:count], self._scratch[:count]

    def hash_longs(self, values: npt.NDArray[np.int64], out: Words) -> None:
        """Compute ``hashLong`` of integers: the hash of their 8 little-endian bytes.

        Args:
            values: at most `chunks.CHUNK_SIZE` integers.
            out: where to write the hashes.
        """
        hashes, words, scratch = self._memory(len(values))
        np.copyto(hashes, values, casting="unsafe")  # the low words; far faster than a slice of every second word
        _scramble(hashes, scratch)
        _step(hashes, scratch, hashes)
        np.copyto(words, np.ascontiguousarray(values, "<i8").view("<u4")[1::2])
        _scramble(words, scratch)
        hashes ^= words
        _step(hashes, scratch, hashes)
        _finish(hashes, _LONG_LENGTH, scratch, out)

    def hash_ints(self, values: npt.NDArray[np.int32], out: Words) -> None:
        """Compute ``hashLong`` of 32-bit integers without widening them.

        Args:
            values: at most `chunks.CHUNK_SIZE` integers.
            out: where to write the hashes.
        """
        hashes, words, scratch = self._memory(len(values))
        np.copyto(hashes, values.view(np.uint32))
        _scramble(hashes, scratch)
        _step(hashes, scratch, hashes)
        # The high word is 0, which has no effect when it is mixed in, or has every bit set.
        np.right_shift(values, np.int32(WORD_BITS - 1), out=words.view(np.int32))
        words &= _SCRAMBLED_ONES
        hashes ^= words
        _step(hashes, scratch, hashes)
        _finish(hashes, _LONG_LENGTH, scratch, out)

    def hash_rows(self, rows: Words, length: int, out: Words) -> None:
        """Hash values of one length.

        Args:
            rows: a row of little-endian words per value; the last word is padded with zeros.
            length: the number of bytes of each value.
            out: where to write the hashes.
        """
        hashes, words, scratch = self._memory(len(rows))
        if not length:
            hashes[:] = 0
        for block in range(-(-length // WORD)):
            into = words if block else hashes  # the state is 0 before the first word
            np.copyto(into, rows[:, block])
            _scramble(into, scratch)
            if block:
                hashes ^= words
            if (block + 1) * WORD <= length:
                _step(hashes, scratch, hashes)
        _finish(hashes, _word(length), scratch, out)

    def hash_shortest(self, values: npt.NDArray[np.int32], out: Words) -> None:
        """Hash the fewest big-endian bytes that hold each integer with its sign.

        Both states are computed for every value, that of a whole word and that of a tail, as selecting
        values takes longer.

        Args:
            values: at most `chunks.CHUNK_SIZE` integers.
            out: where to write the hashes.
        """
        count = len(values)
        hashes, words, scratch = self._memory(count)
        magnitudes, lengths = self._states(2, count)
        sign = scratch.view(np.int32)
        np.right_shift(values, _SIGN_SHIFT, out=sign)
        np.bitwise_xor(values, sign, out=magnitudes.view(np.int32))
        lacking = np.zeros(count, np.uint8)
        for end in _SHORTER_ENDS:
            lacking += (magnitudes < end).view(np.uint8)
        np.copyto(words, values.view(">u4"), casting="unsafe")
        lacking_bits = scratch
        np.copyto(lacking_bits, lacking << np.uint8(3))
        words >>= lacking_bits
        np.subtract(WORD, lacking, out=lengths, casting="unsafe")
        _scramble(words, scratch)
        _step(words, scratch, hashes)
        # Where the value is a tail, all bits of the mask are set.
        is_tail = magnitudes.view(np.int32)
        is_tail -= np.int32(_SHORTER_ENDS[0])
        is_tail >>= _SIGN_SHIFT
        words ^= hashes
        words &= magnitudes
        hashes ^= words
        _finish(hashes, lengths, scratch, out)

    def hash_padded_rows(self, rows: Words, lengths: Bytes, out: Words) -> None:
        """Hash short values of several lengths.

        Args:
            rows: a row of little-endian words per value, with any bytes from the value's end on.
            lengths: the number of bytes of each value.
            out: where to write the hashes.
        """
        count, width = rows.shape
        self._hash_in_step(rows.reshape(-1), np.arange(0, count * width, width), lengths, out)

    def _hash_in_step(self, data: Words, first: npt.NDArray[np.intp], lengths: Bytes, out: Words) -> None:
        """Hash values of similar lengths.

        All values take as many steps as the longest one, and no step selects values. The states are kept after each
        step, from the last block of the shortest value on; at the end, the state after its own last block is selected
        for every value.

        Args:
            data: the words of all values; those of one value follow one another.
            first: the number of each value's first word; the array is overwritten.
            lengths: the number of bytes of each value.
            out: where to write the hashes.
        """
        count = len(lengths)
        hashes, words, scratch = self._memory(count)
        blocks = lengths >> np.uint8(2)
        fewest, most = int(blocks.min()), int(blocks.max())
        states = self._states(1 + most - fewest, count)
        state = states[0]
        if not fewest:
            state[:] = 0
        for block in range(most):
            _read_words(data, block, first, words)
            _scramble(words, scratch)
            if block:  # the state is 0 before the first word
                words ^= state
            state = states[max(0, block + 1 - fewest)]
            _step(words, scratch, state)
        steps = blocks.astype(np.intp)
        first += steps
        _read_words(data, 0, first, words)
        steps -= fewest
        steps *= count
        steps += self._numbers[:count]
        _read_words(states.reshape(-1), 0, steps, hashes)
        words &= _tail_masks(lengths)
        _scramble(words, scratch)
        hashes ^= words  # a tail without bytes is 0 and changes nothing
        _finish(hashes, lengths.astype(np.uint32), scratch, out)

    def _states(self, steps: int, count: int) -> Words:
        """Return memory for a number of states of each value."""
        if len(self._kept) < steps * count:
            self._kept = np.empty(steps * count, np.uint32)
        return self._kept[: steps * count].reshape(steps, count)

    def hash_strings(self, data: Bytes, starts: Integers, ends: Integers, out: Words) -> None:
        """Hash byte strings of at most `LONG_BYTES` bytes.

        Args:
            data: the bytes of all values.
            starts: where each value begins, in bytes; ascending.
            ends: where each value ends.
            out: where to write the hashes.
        """
        lengths = (ends - starts).astype(np.uint8)
        blocks = lengths >> np.uint8(2)
        most = int(blocks.max())
        data, starts = data[int(starts[0]) : int(ends[-1])], starts - starts[0]
        if most * len(blocks) - int(blocks.sum()) > IDLE_BLOCKS * len(blocks):
            self._hash_sorted(data, starts, lengths, out)
        else:
            first = self._unaligned.place(data, starts)
            self._hash_in_step(self._unaligned.words, first, lengths, out)

    def _hash_sorted(self, data: Bytes, starts: Integers, lengths: Bytes, out: Words) -> None:
        """Hash values of very different lengths.

        The values are sorted by length, longest first, so that those which still have a block are always the first
        ones: a step works on a slice, and nothing is selected or scattered except once at the end.
        """
        order = np.argsort(~lengths, kind="stable")
        counts = np.bincount(lengths)[::-1]
        present = np.flatnonzero(counts)
        counts, classes = counts[present], (len(counts) - 1 - present).astype(np.uint8)
        count_through = np.cumsum(counts)
        first = self._unaligned.place(data, starts.take(order))
        blocks = classes >> np.uint8(2)

        hashes, words, scratch = self._memory(len(order))
        hashes[:] = 0
        for block in range(int(blocks[0])):
            active = int(count_through[np.count_nonzero(blocks > block) - 1])
            state, word, free = hashes[:active], words[:active], scratch[:active]
            _read_words(self._unaligned.words, block, first[:active], word)
            _scramble(word, free)
            state ^= word
            _step(state, free, state)
        first += np.repeat(blocks.astype(np.intp), counts)
        _read_words(self._unaligned.words, 0, first, words)
        words &= np.repeat(_tail_masks(classes), counts)
        _scramble(words, scratch)
        hashes ^= words
        _finish(hashes, np.repeat(classes.astype(np.uint32), counts), scratch, hashes)
        out[order] = hashes


_SCRAMBLED_ONES = np.full(1, -1, np.int32).view(np.uint32)
_scramble(_SCRAMBLED_ONES, np.empty(1, np.uint32))


def hash_strings(data: Bytes, offsets: Integers) -> Words:
    """Hash byte strings that are stored one after another.

    Args:
        data: the bytes of all values.
        offsets: where each value begins, and where the last one ends, in bytes; ascending.

    Returns:
        The hashes.
    """
    hashes = np.empty(len(offsets) - 1, np.uint32)
    hasher = Hasher(len(hashes))
    view = data.data
    for part in chunks.chunk_slices(len(hashes), min(chunks.CHUNK_SIZE, STRINGS_SIZE)):
        bounds = offsets[part.start : part.stop + 1]
        starts, ends = bounds[:-1], bounds[1:]
        is_short = ends - starts <= LONG_BYTES
        # For few values, or many bytes of long values among the short ones, hashing one by one is faster.
        if len(starts) < MIN_VECTORIZED or int(bounds[-1]) - int(bounds[0]) > chunks.CHUNK_SIZE * LONG_BYTES:
            is_short[:] = False
        if is_short.all():
            hasher.hash_strings(data, starts, ends, hashes[part])
            continue
        short, alone = np.flatnonzero(is_short), np.flatnonzero(~is_short)
        if len(short):
            among = np.empty(len(short), np.uint32)
            hasher.hash_strings(data, starts[short], ends[short], among)
            hashes[part][short] = among
        slices = zip(starts[alone].tolist(), ends[alone].tolist(), strict=True)
        digests = [mmh3.mmh3_32_uintdigest(view[start:end]) for start, end in slices]
        hashes[part][alone] = np.array(digests, np.uint32)
    return hashes

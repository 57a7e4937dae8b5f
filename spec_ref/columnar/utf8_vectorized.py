"""Check whether many values are UTF-8 (the strings of Primitive Types).

The bytes of many values are checked together, because most values are so short that a call for each would take longer
than the check: all values are UTF-8 if their joined bytes are, and no value begins within a character.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from spec_ref.columnar.chunks import chunk_slices

CHUNK_SIZE = 1 << 14
"""The number of values that are checked together."""

MEAN_LENGTH = 64
"""Values that are longer than this on average are faster to check one by one."""

_MIN_NON_ASCII = 0x80
_CONTINUING = np.int8(-0x40)
"""Bytes that continue a character are 0x80 to 0xBF; as signed numbers, they are below this one."""

_LEADING = (0xC0, 0xE0, 0xF0)
"""A character has at least one, two or three bytes after its first one if that byte is at least this."""

_GREATEST = 0xF4
_OVERLONG = 0xC0
"""0xC0 and 0xC1 would begin characters that fit into one byte."""

_SECOND_BYTES = {0xE0: (0xA0, 0xBF), 0xED: (0x80, 0x9F), 0xF0: (0x90, 0xBF), 0xF4: (0x80, 0x8F)}
"""The least and the greatest byte after some first bytes: others would be overlong, a surrogate or beyond U+10FFFF."""


def is_ascii(data: npt.NDArray[np.uint8]) -> bool:
    """Check that all characters are ASCII.

    Args:
        data: the bytes of any number of values.

    Returns:
        True if every byte is an ASCII character.
    """
    return int(data.max(initial=0)) < _MIN_NON_ASCII


def are_utf8(offsets: npt.NDArray[np.integer[Any]], data: npt.NDArray[np.uint8]) -> bool:
    """Check values that are stored one after another.

    Args:
        offsets: where each value begins, and where the last one ends, in bytes; ascending.
        data: the bytes of all values.

    Returns:
        True only if each value is UTF-8. False if one is not, or if the values are so long that a check of each is
        faster.
    """
    for part in chunk_slices(len(offsets) - 1, CHUNK_SIZE):
        bounds = offsets[part.start : part.stop + 1]
        chunk = data[int(bounds[0]) : int(bounds[-1])]
        if is_ascii(chunk):
            continue
        if len(chunk) > MEAN_LENGTH * CHUNK_SIZE or not _begins_characters(chunk, bounds[:-1] - bounds[0]):
            return False
    return True


def _begins_characters(data: npt.NDArray[np.uint8], starts: npt.NDArray[np.integer[Any]]) -> bool:
    """Check that the bytes are UTF-8 and that none of the starts is within a character."""
    continuing, expected = np.zeros((2, len(data) + len(_LEADING)), np.bool_)
    np.less(data.view(np.int8), _CONTINUING, out=continuing[: len(data)])
    greatest = int(data.max())
    for following, leading in enumerate(_LEADING, start=1):
        if leading <= greatest:
            expected[following : following + len(data)] |= data >= leading
    if greatest > _GREATEST or not np.array_equal(continuing, expected) or continuing.take(starts).any():
        return False
    if ((data & 0xFE) == _OVERLONG).any():
        return False
    for first, (least, most) in _SECOND_BYTES.items():
        if first <= greatest:
            seconds = data[np.flatnonzero(data == first) + 1]
            if seconds.min(initial=most) < least or seconds.max(initial=least) > most:
                return False
    return True

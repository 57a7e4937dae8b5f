"""The arithmetic of decimals on many unscaled values at once (Primitive Types).

A 128-bit unscaled value is an element of two arrays: its low half, unsigned, and its high half, signed. Values are
*narrow* if all fit in the low half alone, as those of up to 18 digits do: most columns need only this faster path.
"""

from __future__ import annotations

import sys
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from spec_ref.columnar.murmur3_vectorized import Words

Low: TypeAlias = npt.NDArray[np.uint64]
High: TypeAlias = npt.NDArray[np.int64]
Flags: TypeAlias = npt.NDArray[np.bool_]

HALF_BITS = 64
HALF_BYTES = 8
LIMB_BITS = 32
MAX_INT32_DIGITS = 9
"""The most decimal digits for which every value fits in 32 bits."""

MAX_INT64_DIGITS = 18
"""The most decimal digits for which every value fits in 64 bits."""

_LIMB_MASK = np.int64((1 << LIMB_BITS) - 1)
_HALF_MASK = (1 << HALF_BITS) - 1
_INT32_END = 1 << (LIMB_BITS - 1)
_SIGN_SHIFT = np.int64(HALF_BITS - 1)


def split_halves(data: Any, first: int, count: int) -> tuple[Low, High]:
    """Split 128-bit values into their halves, without a copy.

    Args:
        data: a buffer of 16-byte values in native byte order.
        first: the number of the first value.
        count: how many values to read.

    Returns:
        The low and the high halves.
    """
    pairs = np.frombuffer(data, np.uint64, 2 * count, 2 * HALF_BYTES * first).reshape(count, 2)
    low, high = (0, 1) if sys.byteorder == "little" else (1, 0)
    return pairs[:, low], pairs[:, high].view(np.int64)


def join_halves(low: Low, high: High) -> npt.NDArray[np.uint64]:
    """Join halves to 128-bit values, as Arrow stores them.

    Args:
        low: the low halves.
        high: the high halves.

    Returns:
        An array of 64-bit words with two per value.
    """
    pairs = np.empty((len(low), 2), np.uint64)
    first, second = (low, high.view(np.uint64)) if sys.byteorder == "little" else (high.view(np.uint64), low)
    pairs[:, 0], pairs[:, 1] = first, second
    return pairs


def to_python_int(low: np.uint64, high: np.int64) -> int:
    """Convert one value to a Python integer.

    Args:
        low: its low half.
        high: its high half.

    Returns:
        The integer.
    """
    return (int(high) << HALF_BITS) + int(low)


def to_int64(low: Low, high: High) -> High | None:
    """Convert values to 64-bit integers.

    Args:
        low: the low halves.
        high: the high halves.

    Returns:
        The integers; None unless all fit.
    """
    if len(high) and int(high[0]) not in (0, -1):  # most columns with values beyond 64 bits begin with one
        return None
    values = np.ascontiguousarray(low).view(np.int64)
    return values if np.array_equal(values >> _SIGN_SHIFT, high) else None


def to_int32(low: Low, high: High, precision: int) -> npt.NDArray[np.int32] | None:
    """Convert values to 32-bit integers.

    Args:
        low: the low halves.
        high: the high halves.
        precision: the number of decimal digits that no value exceeds.

    Returns:
        The integers; None unless all fit.
    """
    if precision <= MAX_INT32_DIGITS:
        return low.astype(np.int32)
    if len(low) and not -_INT32_END <= to_python_int(low[0], high[0]) < _INT32_END:
        return None  # most columns with larger values begin with one
    values = _narrow(low, high, precision)
    if values is None or values.min(initial=0) < -_INT32_END or values.max(initial=0) >= _INT32_END:
        return None
    return values.astype(np.int32)


def _narrow(low: Low, high: High, precision: int) -> High | None:
    if precision <= MAX_INT64_DIGITS:
        return np.ascontiguousarray(low).view(np.int64)
    return to_int64(low, high)


def exceeds(low: Low, high: High, precision: int) -> Flags:
    """Find the values with more than some number of digits.

    Args:
        low: the low halves.
        high: the high halves.
        precision: the number of decimal digits allowed.

    Returns:
        A flag per value.
    """
    limit = 10**precision - 1
    values = to_int64(low, high)
    if values is not None:
        if -limit <= int(values.min(initial=0)) and int(values.max(initial=0)) <= limit:
            return np.zeros(len(values), np.bool_)
        return np.abs(values).view(np.uint64) > np.uint64(limit)  # the least integer becomes 2**63, unsigned
    sign = high >> _SIGN_SHIFT
    if int((high ^ sign).max()) < limit >> HALF_BITS:
        return np.zeros(len(high), np.bool_)
    absolute_low = (low ^ sign.view(np.uint64)) - sign.view(np.uint64)  # adds 1 where negative
    absolute_high = (high ^ sign).view(np.uint64) + ((sign != 0) & (absolute_low == 0))
    limit_high, limit_low = np.uint64(limit >> HALF_BITS), np.uint64(limit & _HALF_MASK)
    exceeding: Flags = (absolute_high > limit_high) | ((absolute_high == limit_high) & (absolute_low > limit_low))
    return exceeding


def floor_multiples(low: Low, high: High, width: int) -> tuple[Low, High]:
    """Round values down to multiples of a width.

    Args:
        low: the low halves of values of at most 38 digits, so that no result exceeds 128 bits.
        high: the high halves.
        width: a positive int.

    Returns:
        The low and the high halves of the multiples.
    """
    values = to_int64(low, high)
    if values is not None and values.min(initial=0) >= -(1 << (HALF_BITS - 1)) + width:
        multiples = values // width * width
        return multiples.view(np.uint64), multiples >> _SIGN_SHIFT
    # Long division, a limb of 32 bits at a time: a remainder is less than 2**31, so that 63 bits are enough.
    signed_low = np.ascontiguousarray(low).view(np.int64)
    remainder = (high >> np.int64(LIMB_BITS)) % width
    for limb in (high, signed_low >> np.int64(LIMB_BITS), signed_low):
        remainder = ((remainder << np.int64(LIMB_BITS)) | (limb & _LIMB_MASK)) % width
    unsigned = remainder.view(np.uint64)
    return low - unsigned, high - (low < unsigned)


def needed_bytes(magnitudes: Low) -> npt.NDArray[np.uint8]:
    """Compute the fewest bytes that hold values with their signs.

    Args:
        magnitudes: the values, or their complements where they are negative.

    Returns:
        The numbers of bytes, 1 to 9.
    """
    lengths = np.ones(len(magnitudes), np.uint8)
    largest = int(magnitudes.max(initial=0))
    for bits in range(7, HALF_BITS, 8):
        if largest >> bits == 0:
            break
        lengths += magnitudes >= np.uint64(1 << bits)
    return lengths


def wide_rows(low: Low, high: High, precision: int) -> tuple[Words, Flags]:
    """Write values in big-endian two's complement in 8 or 16 bytes: the fewer that hold all of them.

    Args:
        low: the low halves.
        high: the high halves.
        precision: the number of decimal digits that no value exceeds.

    Returns:
        A row of 2 or 4 words per value with its bytes in memory order, and whether fewer bytes hold each value.
    """
    values = _narrow(low, high, precision)
    leading = high if values is None else values
    magnitudes = leading ^ (leading >> _SIGN_SHIFT)
    if values is None:
        rows = np.empty((len(low), 2), ">u8")
        rows[:, 0], rows[:, 1] = high.view(np.uint64), low
    else:
        rows = values.astype(">i8")
    return rows.view("<u4").reshape(len(low), -1), magnitudes < 1 << (HALF_BITS - 9)


def minimal_rows(low: Low, high: High) -> tuple[Words, npt.NDArray[np.uint8]]:
    """Write values in big-endian two's complement in the fewest bytes that hold them (SVB008).

    Args:
        low: the low halves.
        high: the high halves.

    Returns:
        A row of 2 or 4 words per value, with its bytes in memory order followed by zeros, and the number of bytes of
        each value.
    """
    values = to_int64(low, high)
    if values is not None:
        lengths = needed_bytes((values ^ (values >> _SIGN_SHIFT)).view(np.uint64))
        return _left_aligned(values.view(np.uint64), lengths).view("<u4").reshape(-1, 2), lengths
    sign = high >> _SIGN_SHIFT
    in_low = needed_bytes(low ^ sign.view(np.uint64))
    in_high = needed_bytes((high ^ sign).view(np.uint64))
    # If the high half holds only the sign, the low half decides; it may need a ninth byte for the sign.
    lengths = np.where(high == sign, in_low, in_high + np.uint8(HALF_BYTES))
    fits_low = lengths <= HALF_BYTES
    shift = np.where(fits_low, 0, 8 * (2 * HALF_BYTES - lengths.astype(np.int64))).astype(np.uint64)
    carried = low >> np.uint64(1) >> (np.uint64(HALF_BITS - 1) - shift)  # in two shifts, as a shift by 64 is undefined
    rows = np.empty((len(low), 2), ">u8")
    rows[:, 0] = np.where(fits_low, 0, (high.view(np.uint64) << shift) | carried)
    rows[:, 1] = np.where(fits_low, 0, low << shift)
    rows[fits_low, 0] = _left_aligned(low[fits_low], lengths[fits_low])
    return rows.view("<u4").reshape(-1, 4), lengths


def _left_aligned(values: Low, lengths: npt.NDArray[np.uint8]) -> npt.NDArray[Any]:
    """Move the last bytes of each value, as many as its length, to the front in big-endian order, followed by zeros."""
    shift = (np.uint8(HALF_BYTES) - lengths) << np.uint8(3)
    return (values << shift.astype(np.uint64)).astype(">u8")

"""Decimals in two halves of 64 bits, beside Python's integers."""

from __future__ import annotations

import struct

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from spec_ref.columnar.decimal128 import exceeds, needed_bytes, split_halves, to_int32

UNSCALED = st.integers(-(10**38), 10**38) | st.builds(
    lambda half, more: (half << 64) + more, st.integers(-8, 8), st.integers(-1, 1)
)
"""Integers of up to 38 digits, and many beside a multiple of 2**64, where a carry goes to the upper half."""


@settings(max_examples=300)
@given(st.lists(UNSCALED, min_size=1), st.integers(18, 38))
def test_values_exceed_a_precision_as_integers_do(values: list[int], precision: int) -> None:
    data = b"".join(struct.pack("<qq", *_halves(value)) for value in values)
    low, high = split_halves(data, 0, len(values))
    assert exceeds(low, high, precision).tolist() == [abs(value) >= 10**precision for value in values]


SMALL = st.integers(-(1 << 31), (1 << 31) - 1)


@settings(max_examples=300)
@given(st.lists(SMALL) | st.lists(SMALL | UNSCALED) | st.lists(st.integers(-(1 << 40), 1 << 40)), st.booleans())
def test_values_become_integers_of_32_bits_if_all_fit(values: list[int], narrow: bool) -> None:
    digits = max((len(str(abs(value))) for value in values), default=1)
    data = b"".join(struct.pack("<qq", *_halves(value)) for value in values)
    made = to_int32(*split_halves(data, 0, len(values)), max(digits, 10) if narrow else 38)
    assert (made is not None) == all(-(1 << 31) <= value < 1 << 31 for value in values)
    assert made is None or made.tolist() == values


@given(st.lists(st.integers(-(10**9) + 1, 10**9 - 1)))
def test_values_of_nine_digits_are_integers_of_32_bits(values: list[int]) -> None:
    data = b"".join(struct.pack("<qq", *_halves(value)) for value in values)
    made = to_int32(*split_halves(data, 0, len(values)), 9)
    assert made is not None
    assert made.tolist() == values


@given(st.lists(st.integers(-(1 << 64), (1 << 64) - 1) | SMALL))
def test_the_fewest_bytes_are_those_of_two_s_complement(values: list[int]) -> None:
    magnitudes = np.array([value if value >= 0 else ~value for value in values], np.uint64)
    expected = [
        next(size for size in range(1, 10) if -(1 << 8 * size - 1) <= value < 1 << 8 * size - 1) for value in values
    ]
    assert needed_bytes(magnitudes).tolist() == expected


def _halves(value: int) -> tuple[int, int]:
    low, high = value & (1 << 64) - 1, value >> 64
    return low - (1 << 64) if low >> 63 else low, high

"""Decimals in two halves of 64 bits, beside Python's integers."""

from __future__ import annotations

import struct

from hypothesis import given, settings
from hypothesis import strategies as st

from spec_ref.columnar.decimal128 import exceeds, split_halves

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


def _halves(value: int) -> tuple[int, int]:
    low, high = value & (1 << 64) - 1, value >> 64
    return low - (1 << 64) if low >> 63 else low, high

"""The hash in the derivation of Theta sketch vectors equals that of an independent implementation."""

from __future__ import annotations

import struct

import mmh3
from hypothesis import given
from hypothesis import strategies as st

from tools.derive.theta import SEED, murmur3_x64_128, seed_hash


@given(st.binary(max_size=70), st.integers(0, (1 << 32) - 1))
def test_the_hash_is_murmur3(data: bytes, seed: int) -> None:
    assert murmur3_x64_128(data, seed) == mmh3.hash64(data, seed=seed, x64arch=True, signed=False)


def test_the_seed_hash_is_the_one_of_the_library() -> None:
    # DataSketches documents the hash of its default seed, 9001: 0x93CC.
    assert seed_hash() == 0x93CC
    assert seed_hash() == mmh3.hash64(struct.pack("<q", SEED), seed=0, x64arch=True, signed=False)[0] & 0xFFFF

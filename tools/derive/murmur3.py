"""MurmurHash3_x86_32 (Austin Appleby, public domain), from its public description."""

from __future__ import annotations

_MASK = 0xFFFFFFFF


def _rotate_left(word: int, bits: int) -> int:
    return (word << bits | word >> (32 - bits)) & _MASK


def _scramble(block: int) -> int:
    return _rotate_left(block * 0xCC9E2D51 & _MASK, 15) * 0x1B873593 & _MASK


def murmur3_x86_32(data: bytes, seed: int = 0) -> int:
    """Return the hash of some bytes as a signed 32-bit integer."""
    state = seed
    whole = len(data) // 4 * 4
    for start in range(0, whole, 4):
        state ^= _scramble(int.from_bytes(data[start : start + 4], "little"))
        state = (_rotate_left(state, 13) * 5 + 0xE6546B64) & _MASK
    if tail := data[whole:]:
        state ^= _scramble(int.from_bytes(tail, "little"))
    state ^= len(data)
    state ^= state >> 16
    state = state * 0x85EBCA6B & _MASK
    state ^= state >> 13
    state = state * 0xC2B2AE35 & _MASK
    state ^= state >> 16
    return state - (1 << 32) if state >> 31 else state

"""Compact Theta sketches of Apache DataSketches, byte by byte, and MurmurHash3_x64_128 (public domain)."""

from __future__ import annotations

import struct
from collections.abc import Iterable

_MASK = (1 << 64) - 1
SEED = 9001
WHOLE = (1 << 63) - 1
"""The theta of a sketch that keeps every hash."""


def _rotate(word: int, bits: int) -> int:
    return (word << bits | word >> (64 - bits)) & _MASK


def _mix(word: int) -> int:
    word ^= word >> 33
    word = word * 0xFF51AFD7ED558CCD & _MASK
    word ^= word >> 33
    word = word * 0xC4CEB9FE1A85EC53 & _MASK
    return word ^ word >> 33


def murmur3_x64_128(data: bytes, seed: int) -> tuple[int, int]:
    """Return the two unsigned halves of the hash."""
    c1, c2 = 0x87C37B91114253D5, 0x4CF5AD432745937F
    h1 = h2 = seed
    whole = len(data) // 16 * 16

    def first(k: int) -> int:
        return _rotate(k * c1 & _MASK, 31) * c2 & _MASK

    def second(k: int) -> int:
        return _rotate(k * c2 & _MASK, 33) * c1 & _MASK

    for start in range(0, whole, 16):
        k1, k2 = struct.unpack_from("<QQ", data, start)
        h1 = ((_rotate(h1 ^ first(k1), 27) + h2) * 5 + 0x52DCE729) & _MASK
        h2 = ((_rotate(h2 ^ second(k2), 31) + h1) * 5 + 0x38495AB5) & _MASK
    tail = data[whole:]
    h2 ^= second(int.from_bytes(tail[8:], "little"))
    h1 ^= first(int.from_bytes(tail[:8], "little"))
    h1 ^= len(data)
    h2 ^= len(data)
    h1 = (h1 + h2) & _MASK
    h2 = (h2 + h1) & _MASK
    h1, h2 = _mix(h1), _mix(h2)
    h1 = (h1 + h2) & _MASK
    return h1, (h2 + h1) & _MASK


def theta_hash(value: bytes) -> int:
    """Return the hash of a value: the upper 63 bits of the first half."""
    return murmur3_x64_128(value, SEED)[0] >> 1


def seed_hash(seed: int = SEED) -> int:
    """Return the lower 16 bits of the hash of the seed, as 8 bytes, with seed 0."""
    return murmur3_x64_128(struct.pack("<q", seed), 0)[0] & 0xFFFF


def sketch(
    hashes: Iterable[int],
    theta: int = WHOLE,
    *,
    words: int | None = None,
    version: int = 3,
    family: int = 3,
    flags: int | None = None,
    seed: int | None = None,
    count: int | None = None,
) -> bytes:
    """Return a compact sketch of hashes in the given order; arguments replace values that follow from the hashes."""
    kept = list(hashes)
    single = len(kept) == 1 and theta == WHOLE
    found = 0x1A | (0x04 if not kept and theta == WHOLE else 0x20 if single else 0)
    preamble = 3 if theta != WHOLE else 1 if len(kept) < 2 else 2
    preamble = preamble if words is None else words
    flag_bits = found if flags is None else flags
    shown = (0 if flag_bits & 0x04 else seed_hash()) if seed is None else seed
    data = struct.pack("<6BH", preamble, version, family, 0, 0, flag_bits, shown)
    if preamble > 1:
        data += struct.pack("<If", len(kept) if count is None else count, 1.0)
    if preamble > 2:
        data += struct.pack("<Q", theta)
    return data + struct.pack(f"<{len(kept)}Q", *kept)

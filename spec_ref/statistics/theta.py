"""Theta sketches (Puffin, `apache-datasketches-theta-v1` blob type).

The blob is a compact Theta sketch of Apache DataSketches, serial version 3: a header of one to three 8-byte words
(flags, seed hash, number of hashes, theta), then the hashes that are below theta. The hash of a value is the upper 63
bits of the first half of MurmurHash3 x64 128, seed 9001, over its binary single value. The estimate of the number of
distinct values is the number of hashes divided by theta as a fraction of 2**63.

The spec names the Alpha family, but a compact sketch does not record how its theta was lowered: it only holds hashes
below theta. `build_sketch` lowers theta to the first hash that does not fit; for up to ``k`` values, the Alpha family
gives the same sketch.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable

import mmh3

from spec_ref.core.errors import Description, SpecError, spec_error
from spec_ref.core.records import record

SEED = 9001
SEED_HASH = 0x93CC
"""The lower 16 bits of the hash of the seed, which distinguishes sketches of different seeds."""

MAX_THETA = (1 << 63) - 1
DEFAULT_K = 4096
MAX_HASHES = 1 << 26
"""The maximum number of hashes of a sketch of the library, whose nominal size is at most 2**26."""

_SERIAL_VERSION = 3
_COMPACT_FAMILY = 3
_BIG_ENDIAN, _READ_ONLY, _EMPTY, _COMPACT, _ORDERED, _SINGLE_ITEM = (1 << bit for bit in range(6))
_HEADER = struct.Struct("<BBBBBBH")
_COUNT = struct.Struct("<If")


@record
class ThetaSketch:
    """A compact sketch: the distinct hashes that are below theta."""

    hashes: tuple[int, ...]
    """The hashes in the order of the blob; ascending if it is ordered."""

    theta: int = MAX_THETA
    """The limit below which hashes were kept; `MAX_THETA` when none was dropped."""

    @property
    def is_exact(self) -> bool:
        """Whether every distinct value is in the sketch, so that the estimate is their number."""
        return self.theta == MAX_THETA

    @property
    def estimate(self) -> float:
        """The estimated number of distinct values."""
        return len(self.hashes) if self.is_exact else len(self.hashes) / (self.theta / (1 << 63))


def theta_hash(single_value: bytes) -> int:
    """Compute the 63-bit hash of a value (PUF016).

    Args:
        single_value: the value in its binary single-value form.

    Returns:
        The hash, from 0 to 2**63 - 1.
    """
    return mmh3.hash64(single_value, seed=SEED, x64arch=True, signed=False)[0] >> 1


def build_sketch(single_values: Iterable[bytes], k: int = DEFAULT_K) -> ThetaSketch:
    """Build the sketch of values; their order and repetitions make no difference.

    Args:
        single_values: values in their binary single-value form; empty byte strings are skipped, as in the library.
        k: the maximum number of hashes.

    Returns:
        The sketch.
    """
    hashes = sorted({theta_hash(value) for value in single_values if value})
    return ThetaSketch(tuple(hashes)) if len(hashes) <= k else ThetaSketch(tuple(hashes[:k]), hashes[k])


def encode_theta(sketch: ThetaSketch) -> bytes:
    """Encode a sketch as the blob of an ordered compact sketch.

    Args:
        sketch: the sketch.

    Returns:
        The bytes of the blob.
    """
    hashes = sorted(sketch.hashes)
    is_single = len(hashes) == 1 and sketch.is_exact
    flags = _READ_ONLY | _COMPACT | _ORDERED
    flags |= _EMPTY if not hashes and sketch.is_exact else _SINGLE_ITEM if is_single else 0
    words = 3 if not sketch.is_exact else 1 if len(hashes) <= 1 else 2
    parts = [_HEADER.pack(words, _SERIAL_VERSION, _COMPACT_FAMILY, 0, 0, flags, 0 if flags & _EMPTY else SEED_HASH)]
    if words > 1:
        parts.append(_COUNT.pack(len(hashes), 1.0))
    if words > 2:
        parts.append(struct.pack("<Q", sketch.theta))
    return b"".join([*parts, struct.pack(f"<{len(hashes)}Q", *hashes)])


def decode_theta(data: bytes) -> ThetaSketch:
    """Decode the blob of a compact sketch.

    Args:
        data: the bytes of the blob.

    Returns:
        The sketch.

    Raises:
        SpecError: PUF016 if the bytes are not a compact sketch of the default seed, their length does not match the
            number of hashes, or hashes are repeated, not ascending in an ordered sketch, or not below theta.
    """
    if len(data) < _HEADER.size:
        raise _sketch_error("the sketch is too short", Description(f"{len(data)} bytes"), "8 bytes or more")
    preamble, version, family, _, _, flags, seed_hash = _HEADER.unpack_from(data)
    words = preamble & 0x3F
    if (version, family) != (_SERIAL_VERSION, _COMPACT_FAMILY) or not flags & _COMPACT or flags & _BIG_ENDIAN:
        found = Description(f"version {version}, family {family}, flags {flags:#04x}")
        raise _sketch_error(
            "the blob is not a compact Theta sketch", found, "version 3, family 3, compact, little-endian"
        )
    if not 1 <= words <= 3 or len(data) < 8 * words:
        raise _sketch_error(
            "the header has a wrong length", Description(f"{words} words in {len(data)} bytes"), "1 to 3 words"
        )
    if flags & _EMPTY:
        if len(data) != 8 * words or (words > 1 and _COUNT.unpack_from(data, 8)[0]):
            raise _sketch_error("an empty sketch has hashes", Description(f"{len(data)} bytes"), "none")
        return ThetaSketch(())
    if seed_hash != SEED_HASH:
        raise _sketch_error(
            "the sketch was made with a different seed", Description(f"{seed_hash:#06x}"), f"{SEED_HASH:#06x}"
        )
    count = _COUNT.unpack_from(data, 8)[0] if words > 1 else 1
    theta = struct.unpack_from("<Q", data, 16)[0] if words > 2 else MAX_THETA
    if count > MAX_HASHES or len(data) != 8 * (words + count):
        raise _sketch_error(
            "the length does not match the number of hashes",
            Description(f"{len(data)} bytes"),
            f"{8 * (words + count)} bytes",
        )
    if not 0 < theta <= MAX_THETA:
        raise _sketch_error("theta is out of range", theta, f"1 to {MAX_THETA}")
    hashes = struct.unpack_from(f"<{count}Q", data, 8 * words)
    ascending = sorted(set(hashes))
    if len(ascending) != count or (flags & _ORDERED and tuple(ascending) != hashes):
        raise _sketch_error(
            "the hashes repeat or are not in order", count, "distinct hashes, ascending in an ordered sketch"
        )
    if hashes and not 0 < ascending[0] <= ascending[-1] < theta:
        raise _sketch_error("a hash is not below theta", ascending[-1], f"1 to {theta - 1}")
    return ThetaSketch(hashes, theta)


def _sketch_error(message: str, found: object, expected: str) -> SpecError:
    return spec_error("PUF016", message, found=found, expected=expected)

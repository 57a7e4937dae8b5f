"""PUF016: the theta sketch of a column's distinct values."""

import struct
from contextlib import suppress

import mmh3
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec_ref.core.errors import SpecError
from spec_ref.statistics.theta import (
    MAX_THETA,
    SEED,
    SEED_HASH,
    ThetaSketch,
    build_sketch,
    decode_theta,
    encode_theta,
    theta_hash,
)


def test_the_seed_hash_is_the_lower_16_bits_of_the_hash_of_the_seed():
    assert mmh3.hash64(struct.pack("<q", SEED), seed=0, x64arch=True, signed=False)[0] & 0xFFFF == SEED_HASH


@given(st.lists(st.binary(min_size=1, max_size=9), max_size=40), st.integers(1, 50))
def test_sketches_come_back(values, k):
    sketch = build_sketch(values, k)
    assert decode_theta(encode_theta(sketch)) == sketch
    if len(set(values)) <= k:
        assert sketch.estimate == len(set(values))


def test_order_and_repetition_make_no_difference():
    assert build_sketch([b"b", b"a", b"b"]) == build_sketch([b"a", b"b"])


def test_a_large_sketch_estimates():
    sketch = build_sketch((struct.pack("<q", number) for number in range(100_000)), 4096)
    assert not sketch.is_exact
    assert len(sketch.hashes) == 4096
    # Five standard errors of 1 / sqrt(k).
    assert abs(sketch.estimate / 100_000 - 1) < 5 / 64


def test_the_layout_is_that_of_serial_version_3():
    one = theta_hash(b"a")
    assert encode_theta(build_sketch([b"a"])) == bytes([1, 3, 3, 0, 0, 0x3A, 0xCC, 0x93]) + struct.pack("<Q", one)
    two = sorted([one, theta_hash(b"b")])
    expected = bytes([2, 3, 3, 0, 0, 0x1A, 0xCC, 0x93]) + struct.pack("<If2Q", 2, 1.0, *two)
    assert encode_theta(build_sketch([b"a", b"b"])) == expected
    assert encode_theta(build_sketch([])) == bytes([1, 3, 3, 0, 0, 0x1E, 0, 0])


def head(words, flags, version=3, family=3, seed=SEED_HASH):
    return struct.pack("<6BH", words, version, family, 0, 0, flags, seed)


def body(*hashes, count=None, theta=None):
    data = struct.pack("<If", len(hashes) if count is None else count, 1.0)
    if theta is not None:
        data += struct.pack("<Q", theta)
    return data + struct.pack(f"<{len(hashes)}Q", *hashes)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        bytes(7),
        head(1, 0x1E) + b"\0",
        head(2, 0x1A, version=2) + body(1, 2),
        head(2, 0x1A, version=4) + body(1, 2),
        head(2, 0x1A, family=2) + body(1, 2),
        head(2, 0x1A, seed=0x93CD) + body(1, 2),
        head(2, 0x12) + body(1, 2),
        head(2, 0x1B) + body(1, 2),
        head(4, 0x1A) + body(1, 2, 3, 4),
        head(0, 0x1A) + body(1, 2),
        head(2, 0x1A) + body(1, 2, count=3),
        head(2, 0x1A) + body(1, 2, count=0xFFFFFFFF),
        head(2, 0x1A) + body(1, 2) + b"\0",
        head(2, 0x1A) + body(2, 1),
        head(2, 0x0A) + body(2, 2),
        head(2, 0x1A) + body(0, 1),
        head(3, 0x1A) + body(1, 5, theta=5),
        head(3, 0x1A) + body(1, 5, theta=0),
        head(3, 0x1A) + body(1, 5, theta=1 << 63),
        head(3, 0x1A),
    ],
)
def test_what_is_no_compact_sketch_of_the_seed_is_refused(data):
    with pytest.raises(SpecError, match="PUF016"):
        decode_theta(data)


def test_hashes_of_a_sketch_that_is_not_ordered_may_stand_in_any_order():
    assert decode_theta(head(2, 0x0A) + body(9, 4)).hashes == (9, 4)


def test_an_empty_sketch_may_have_a_longer_header():
    assert decode_theta(head(2, 0x1E) + body()) == ThetaSketch((), MAX_THETA)


@given(st.binary(max_size=64), st.booleans())
def test_noise_gives_a_sketch_or_a_refusal(noise, likely):
    data = head(2, 0x1A) + noise if likely else noise
    with suppress(SpecError):
        decode_theta(data)

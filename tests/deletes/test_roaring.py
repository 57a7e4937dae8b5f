"""PUF019, PUF020: every container of a deletion vector's bitmap is checked before it becomes a set."""

import random
import struct
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyroaring import BitMap64

from spec_ref.columnar.encodings import roaring as columnar_roaring
from spec_ref.core.errors import SpecError
from spec_ref.encodings import roaring
from spec_ref.encodings.roaring import MAX_BITMAPS
from tools.derive.puffin import array, bitmap, bitset, runs, vector


def cardinality64(data: bytes) -> int:
    """What the definition finds, as the kernel does."""
    refused = None
    try:
        expected = roaring.cardinality64(data)
    except SpecError as error:
        refused = error
    if refused is not None:
        with pytest.raises(SpecError) as also:
            columnar_roaring.cardinality64(data)
        assert also.value.violation.requirement == refused.violation.requirement
        raise refused
    assert columnar_roaring.cardinality64(data) == expected
    return expected


def code(data: bytes) -> tuple[str, str]:
    with pytest.raises(SpecError) as refused:
        cardinality64(data)
    return refused.value.violation.requirement, refused.value.violation.path


def test_each_kind_of_container_is_counted():
    containers = [(0, array([1, 2])), (3, bitset(range(0, 65536, 2))), (4, runs([(0, 9), (20, 20)])), (9, array([7]))]
    assert cardinality64(vector([(5, bitmap(containers))])) == 2 + 32768 + 11 + 1


def test_the_place_of_a_broken_container_is_reported():
    fine = bitmap([(0, array([1]))])
    broken = bitmap([(0, array([1, 2])), (1, bitset(range(5000))), (2, array([9, 8]))])
    assert code(vector([(0, fine), (1, broken)])) == ("PUF019", "/bitmaps/1/containers/2")


def test_the_first_value_of_a_container_may_be_below_the_last_of_the_one_before():
    assert cardinality64(vector([(0, bitmap([(0, array([9])), (1, array([3])), (2, array([3]))]))])) == 3


def test_a_vector_of_few_bytes_may_have_all_positions_of_a_key():
    whole = [(key, runs([(0, 65535)])) for key in range(65536)]
    data = vector([(0, bitmap(whole))])
    began = time.process_time()
    assert cardinality64(data) == 1 << 32
    assert time.process_time() - began < 20


@pytest.mark.parametrize("count", [1 << 63, 1 << 40, 2])
def test_a_count_of_bitmaps_that_the_bytes_cannot_hold_is_refused_at_once(count):
    began = time.process_time()
    assert code(vector([(0, bitmap([]))], count=count)) == ("PUF019", "")
    assert time.process_time() - began < 20


def test_more_bitmaps_than_rows_can_need_are_refused():
    empty = bitmap([])
    many = b"".join(struct.pack("<I", key) + empty for key in range(MAX_BITMAPS + 1))
    assert code(struct.pack("<Q", MAX_BITMAPS + 1) + many) == ("PUF019", "")
    assert cardinality64(struct.pack("<Q", MAX_BITMAPS) + many[:-12]) == 0


def _sound(rng: random.Random) -> bytes:
    makers = [
        lambda: array(sorted(rng.sample(range(65536), rng.choice([1, 2, 30])))),
        lambda: bitset(sorted(rng.sample(range(65536), 5000))),
        lambda: runs([(low, low + rng.randrange(90)) for low in range(0, 3000, 100)][: rng.randrange(1, 9)]),
    ]
    bitmaps = []
    for key in sorted(rng.sample(range(1 << 31), rng.randrange(3))):
        keys = sorted(rng.sample(range(65536), rng.choice([1, 2, 3, 4, 9])))
        bitmaps.append((key, bitmap([(one, rng.choice(makers)()) for one in keys])))
    return vector(bitmaps)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 1 << 32))
def test_sound_vectors_have_the_cardinality_that_the_library_finds(seed):
    rng = random.Random(seed)
    data = _sound(rng)
    assert cardinality64(data) == len(BitMap64.deserialize(data))


@settings(max_examples=250, deadline=None)
@given(st.integers(0, 1 << 32))
def test_damaged_vectors_are_refused_or_are_still_what_the_library_reads(seed):
    rng = random.Random(seed)
    data = bytearray(_sound(rng))
    for _ in range(rng.randint(1, 3)):
        kind = rng.randrange(3)
        if kind == 0:
            data[rng.randrange(min(len(data), 120))] = rng.choice([0, 1, 127, 128, 255, rng.randrange(256)])
        elif kind == 1:
            del data[rng.randrange(len(data)) :]
            data += b"\0" * (8 - len(data))
        else:
            data += rng.randbytes(rng.randrange(5))
    try:
        cardinality = cardinality64(bytes(data))
    except SpecError:
        return
    assert len(BitMap64.deserialize(bytes(data))) == cardinality


def test_runs_that_touch_are_refused_as_one_would_do():
    assert code(vector([(0, bitmap([(0, runs([(10, 14), (15, 19)]))]))])) == ("PUF019", "/bitmaps/0/containers/0")


def test_an_offset_beside_its_container_is_refused():
    assert code(vector([(0, bitmap([(0, array([1, 2]))], shift=2))])) == ("PUF019", "/bitmaps/0/containers/0")


def test_the_cookie_of_runs_may_stand_where_no_container_has_runs():
    one = struct.pack("<HH", 12347, 0) + b"\0" + struct.pack("<HHH", 0, 0, 6)
    data = vector([(0, one)])
    assert cardinality64(data) == 1
    assert list(BitMap64.deserialize(data)) == [6]

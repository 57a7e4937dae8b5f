"""PUF018 to PUF020, DEL008, DEL009: the blob of a deletion vector."""

import random
import struct
import time
import zlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyroaring import BitMap64

from spec_ref.columnar.deletes import deletion_vector as columnar
from spec_ref.columnar.deletes.deletion_vector import PositionBitmap, encode_positions, position_ranges, positions_array
from spec_ref.core.errors import SpecError
from spec_ref.deletes.deletion_vector import (
    MAX_POSITION,
    decode_deletion_vector,
    encode_deletion_vector,
)
from tools.derive.cases import deletion_vectors as cases
from tools.derive.puffin import array, bitmap, deletion_vector, runs, vector

VECTORS = [vector for file in cases.files() for vector in file.vectors if file.operation == "dv.decode"]

single_positions = st.lists(
    st.one_of(
        st.integers(0, 20),
        st.integers(0, 200_000),
        st.integers(0, MAX_POSITION),
        st.sampled_from([0, 65535, 65536, (1 << 32) - 1, 1 << 32, MAX_POSITION]),
    ),
    max_size=60,
)
spaced_positions = st.builds(
    lambda first, count, step: list(range(first, first + count * step, step)),
    st.integers(65_000, 66_000) | st.integers(0, 1 << 33),
    st.sampled_from([1, 3, 4095, 4096, 4097, 6000]),
    st.integers(1, 4),
)
"""Runs, and containers of more values than an array may have: 4,096."""

positions = single_positions | st.builds(list.__add__, single_positions, spaced_positions)


def ranges(decoded):
    found = []
    for position in decoded.positions():
        if found and found[-1][1] == position - 1:
            found[-1][1] = position
        else:
            found.append([position, position])
    return [[str(first), str(last)] for first, last in found]


@pytest.mark.parametrize("case", VECTORS, ids=lambda case: case.id)
def test_derived_vectors_hold(case):
    allowed = case.expect.get("any_of", [case.expect])
    code = None
    try:
        decoded = decode_deletion_vector(bytes.fromhex(case.args["bytes"]))
        got = {"ok": {"cardinality": str(decoded.cardinality), "ranges": ranges(decoded)}}
    except SpecError as error:
        got, code = {"error": "invalid"}, error.violation.requirement
    assert got in allowed
    assert code is None or code in case.requirements


def test_five_positions_are_these_bytes():
    # Length 42; magic; one bitmap; key 0; cookie 12346, one container; key 0, 5 values; offset 16; the values; CRC-32.
    blob = bytes.fromhex(
        "0000002A D1D33964 0100000000000000 00000000 3A300000 01000000 0000 0400 10000000"
        "0100 0300 0500 0700 0900 B3FB20BE"
    )
    assert encode_deletion_vector([9, 7, 5, 3, 1]) == blob
    assert decode_deletion_vector(blob).positions() == [1, 3, 5, 7, 9]


def test_a_vector_of_nothing_is_these_bytes():
    blob = bytes.fromhex("0000000C D1D33964 0000000000000000 BF18480C")
    assert encode_deletion_vector([]) == blob
    assert decode_deletion_vector(blob).cardinality == 0


def test_length_and_checksum_are_big_endian_and_leave_themselves_out():
    blob = encode_deletion_vector([4])
    assert struct.unpack(">I", blob[:4])[0] == len(blob) - 8
    assert struct.unpack(">I", blob[-4:])[0] == zlib.crc32(blob[4:-4])


@given(positions)
def test_positions_come_back(listed):
    decoded = decode_deletion_vector(encode_deletion_vector(listed))
    assert positions_array(decoded).dtype == np.uint64
    assert positions_array(decoded).tolist() == decoded.positions()
    assert position_ranges(decoded) == decoded.ranges()
    assert columnar.decode_deletion_vector(encode_deletion_vector(listed)) == decoded
    assert decoded.positions() == sorted(set(listed))
    assert decoded.cardinality == len(set(listed))
    assert all(position in decoded for position in listed)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 300_000), st.sampled_from([1, 5000, 70_000])), max_size=3), st.integers(0, 9))
def test_the_bytes_depend_on_the_set_alone(spans, seed):
    rng = random.Random(seed)
    listed = [position for first, count in spans for position in range(first, first + count)]
    blob = encode_deletion_vector(listed)
    rng.shuffle(listed)
    grown = BitMap64()
    for position in listed:
        grown.add(position)
    assert encode_positions(np.array(listed, dtype=np.int64)) == blob
    assert encode_deletion_vector(grown) == blob
    assert encode_deletion_vector(decode_deletion_vector(blob).bitmap) == blob


def test_encoding_leaves_the_given_set_as_it_was():
    given_set = BitMap64([1, 2, 3])
    before = given_set.serialize()
    encode_deletion_vector(given_set)
    assert given_set.serialize() == before


@pytest.mark.parametrize("wrong", [[-1], [1 << 63], [True], [1.0], ["1"], [None], [1, 2, -3]])
def test_what_is_no_position_is_refused(wrong):
    with pytest.raises(SpecError, match="PUF020"):
        encode_deletion_vector(wrong)


@pytest.mark.parametrize("wrong", [np.array([-1, 4]), np.array([1 << 63], dtype=np.uint64)])
def test_what_is_no_position_is_refused_in_arrays(wrong):
    with pytest.raises(SpecError, match="PUF020"):
        encode_positions(wrong)


@pytest.mark.parametrize("wrong", [BitMap64([1 << 63]), np.array([1.5])])
def test_what_is_no_position_is_refused_in_sets(wrong):
    with pytest.raises(SpecError, match="PUF020"):
        encode_deletion_vector(wrong)


def test_a_vector_of_absurdly_many_positions_is_counted_but_not_listed():
    whole = [(key, runs([(0, 65535)])) for key in range(65536)]
    began = time.process_time()
    decoded = decode_deletion_vector(deletion_vector(vector([(0, bitmap(whole)), (9, bitmap([(0, array([1]))]))])))
    assert decoded.cardinality == (1 << 32) + 1
    with pytest.raises(SpecError, match=f"PUF022: .*; found {decoded.cardinality}"):
        decoded.positions()
    assert time.process_time() - began < 50


def test_rows_of_a_batch_are_reported_from_their_positions():
    decoded = decode_deletion_vector(encode_deletion_vector([0, 10, 12, 20, 1 << 40]))
    # DEL009: the upper 32 bits are the key; 2^33 and 2^40 + 12 have the lower bits of positions that are set.
    assert [position in decoded for position in (1 << 40, 1 << 33, (1 << 40) + 12)] == [True, False, False]
    assert PositionBitmap(decoded).deleted_mask(10, 5).tolist() == [True, False, True, False, False]
    assert PositionBitmap(decoded).deleted_mask(1 << 40, 2).tolist() == [True, False]
    assert PositionBitmap(decoded).deleted_mask(5, 0).tolist() == []


def test_no_position_is_outside_of_the_range():
    decoded = decode_deletion_vector(encode_deletion_vector([0]))
    assert -1 not in decoded
    assert 1 << 64 not in decoded

from __future__ import annotations

import random
import struct
from decimal import Decimal

import mmh3
import numpy as np
import pyarrow as pa
import pytest
from arrow_columns import GEO_TYPES, TYPES, arrow_array, arrow_types, by_text, chunk_lengths, columns
from hypothesis import given, settings
from hypothesis import strategies as st

from spec_ref.columnar import chunks
from spec_ref.columnar.hashing import hash_array
from spec_ref.core.errors import SpecError
from spec_ref.data_types.types import (
    BINARY,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    LONG,
    STRING,
    TIMESTAMP_NS,
    UNKNOWN,
    VARIANT,
    DecimalType,
    FixedType,
)
from spec_ref.hashing import hash_value


@by_text(TYPES)
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_a_column_hashes_as_its_values(type_, data):
    column, values = data.draw(columns(type_))
    hashes = hash_array(type_, column)
    hashes.validate(full=True)
    assert hashes.type == pa.int32()
    assert chunk_lengths(hashes) == chunk_lengths(column)
    assert hashes.to_pylist() == [hash_value(type_, value) for value in values]


# The test values of Appendix B.
@pytest.mark.parametrize(
    ("type_", "arrow_type", "value", "expected"),
    [
        (INT, pa.int32(), 34, 2017239379),
        (LONG, pa.int64(), 34, 2017239379),
        (DecimalType(9, 2), pa.decimal128(9, 2), "14.20", -500754589),
        (DATE, pa.date32(), 17486, -653330422),
        (TIMESTAMP_NS, pa.timestamp("ns"), 1510871468000001001, -1207196810),
        (STRING, pa.string(), "iceberg", 1210000089),
        (FixedType(4), pa.binary(4), b"\0\1\2\3", -188683207),
        (BINARY, pa.binary(), b"\0\1\2\3", -188683207),
        (FLOAT, pa.float32(), -0.0, 1669671676),
        (DOUBLE, pa.float64(), 1.0, -142385009),
    ],
)
def test_the_test_values_of_appendix_b(type_, arrow_type, value, expected):
    array = pa.array([value]).cast(arrow_type) if isinstance(value, str) else arrow_array(type_, [value], arrow_type)
    assert hash_array(type_, array).to_pylist() == [expected]


@pytest.mark.parametrize("precision", [9, 10, 18, 38])
def test_decimals_hash_in_the_fewest_bytes(precision: int) -> None:
    ends = [1 << 8 * size - 1 for size in range(1, 17) if 1 << 8 * size - 1 < 10**precision]
    unscaled = [one for end in [0, 1, *ends] for one in (end - 1, end, -end, -end - 1) if abs(one) < 10**precision]
    values = [Decimal(one) for one in unscaled]
    column = pa.array(values, pa.decimal128(precision, 0))
    expected = [
        mmh3.hash(one.to_bytes((one if one >= 0 else ~one).bit_length() // 8 + 1, "big", signed=True))
        for one in unscaled
    ]
    assert hash_array(DecimalType(precision, 0), column).to_pylist() == expected


@pytest.mark.parametrize("chunk_size", [64, 100, 1 << 15])
@pytest.mark.parametrize("longest", [3, 4, 20, 255, 600])
def test_strings_of_any_length_hash_as_alone_across_chunks(chunk_size, longest, monkeypatch):
    monkeypatch.setattr(chunks, "CHUNK_SIZE", chunk_size)
    generator = random.Random(longest)
    values = [generator.randbytes(generator.randint(0, longest)) for _ in range(700)]
    hashes = hash_array(BINARY, pa.array(values, pa.binary())[3:])
    assert hashes.to_pylist() == [mmh3.hash(value) for value in values[3:]]


def test_one_value_far_longer_than_the_others_is_hashed_beside_them():
    values = [b"x" * 5_000_000, *(b"abc" * n for n in range(80))]
    assert hash_array(BINARY, pa.array(values)).to_pylist() == [mmh3.hash(value) for value in values]


@by_text([INT, LONG, DATE, DecimalType(20, 0), FixedType(6)])
def test_rounds_make_no_difference(type_, monkeypatch):
    generator = random.Random(7)
    number = {INT: 31, DATE: 31}.get(type_, 62)
    values = [generator.randint(-(2**number), 2**number) for _ in range(300)]
    if isinstance(type_, FixedType):
        values = [generator.randbytes(type_.length) for _ in values]
    column = arrow_array(type_, values, arrow_types(type_)[-1])
    whole = hash_array(type_, column)
    monkeypatch.setattr(chunks, "CHUNK_SIZE", 16)
    assert hash_array(type_, column) == whole


def test_every_nan_has_the_hash_of_the_canonical_one():
    bits = np.array([0x7FF8000000000000, 0x7FF0000000000001, 0xFFFFFFFFFFFFFFFF], np.uint64)
    nans = bits.view(np.float64)
    expected = mmh3.hash(struct.pack("<Q", 0x7FF8000000000000))
    assert hash_array(DOUBLE, pa.array(nans)).to_pylist() == [expected] * 3
    single = np.array([0x7F800001, 0xFFC00000], np.uint32).view(np.float32)
    assert hash_array(FLOAT, pa.array(single)).to_pylist() == [expected] * 2


def test_unknown_hashes_to_null():
    assert hash_array(UNKNOWN, pa.nulls(3)) == pa.nulls(3, pa.int32())
    chunked = pa.chunked_array([pa.nulls(1), pa.nulls(2)])
    assert chunk_lengths(hash_array(UNKNOWN, chunked)) == [1, 2]


@by_text([VARIANT, *GEO_TYPES])
def test_types_without_a_hash_are_refused(type_):
    with pytest.raises(SpecError, match="HSH009"):
        hash_array(type_, pa.array([b"a"]))

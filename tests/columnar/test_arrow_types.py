from __future__ import annotations

import datetime
import re

import numpy as np
import pyarrow as pa
import pytest
from arrow_columns import TYPES, arrow_types, by_text

from spec_ref.columnar.arrow_types import check_arrow_type
from spec_ref.columnar.hashing import hash_array
from spec_ref.core.errors import SpecError
from spec_ref.data_types.types import (
    BINARY,
    DATE,
    INT,
    LONG,
    STRING,
    TIME,
    TIMESTAMP,
    TIMESTAMP_NS,
    TIMESTAMPTZ,
    UUID,
    DecimalType,
    FixedType,
    ListType,
)

EVERY_ARROW_TYPE = [
    *{arrow_type for type_ in TYPES for arrow_type in arrow_types(type_)},
    pa.int8(),
    pa.int16(),
    pa.uint32(),
    pa.uint64(),
    pa.float16(),
    pa.date64(),
    pa.time32("ms"),
    pa.time64("ns"),
    pa.timestamp("s"),
    pa.timestamp("ms"),
    pa.timestamp("ms", "UTC"),
    pa.decimal128(9, 3),
    pa.list_(pa.int32()),
    pa.null(),
]


@by_text(TYPES)
def test_a_type_is_held_by_its_arrow_types_and_no_other(type_):
    for arrow_type in EVERY_ARROW_TYPE:
        if arrow_type in arrow_types(type_):
            check_arrow_type(type_, arrow_type)
        else:
            with pytest.raises(
                SpecError, match=rf"^[A-Z]{{3}}\d{{3}}: .*; found {re.escape(str(arrow_type))}; expected "
            ):
                check_arrow_type(type_, arrow_type)


@pytest.mark.parametrize(
    ("type_", "arrow_type", "message"),
    [
        (TIMESTAMP, pa.timestamp("ms"), r"TYP017.*timestamp\[ms\].*expected timestamp\[us\] without a time zone"),
        (TIMESTAMP, pa.timestamp("us", "UTC"), "TYP017.*without a time zone"),
        (TIMESTAMPTZ, pa.timestamp("us"), "TYP018.*with a time zone"),
        (TIMESTAMP_NS, pa.timestamp("us"), "TYP019"),
        (LONG, pa.int32(), "TYP010.*found int32; expected int64"),
        (DATE, pa.date64(), "TYP015"),
        (UUID, pa.binary(15), "TYP022"),
        (FixedType(4), pa.binary(), "TYP023"),
        (DecimalType(9, 2), pa.decimal128(10, 2), "TYP013"),
        (ListType(1, INT), pa.list_(pa.int32()), "TYP001"),
    ],
)
def test_an_arrow_type_that_would_change_values_is_refused(type_, arrow_type, message):
    with pytest.raises(SpecError, match=message):
        check_arrow_type(type_, arrow_type)


def test_text_that_is_not_utf8_is_refused_unless_it_is_null():
    buffers = pa.array([b"ok", b"\xff\xfe"], pa.binary()).buffers()
    with pytest.raises(SpecError, match=r"TYP021.*xff"):
        hash_array(STRING, pa.Array.from_buffers(pa.string(), 2, buffers))
    hidden = pa.Array.from_buffers(pa.string(), 2, [pa.py_buffer(b"\x01"), *buffers[1:]])
    assert hash_array(STRING, hidden)[1].as_py() is None
    # Each half of a character is not a character.
    parted = pa.array(["é".encode()[:1], "é".encode()[1:]], pa.large_binary())
    with pytest.raises(SpecError, match="TYP021"):
        hash_array(STRING, pa.Array.from_buffers(pa.large_string(), 2, parted.buffers()))


@pytest.mark.parametrize("value", [-1, 86_400_000_000])
def test_a_time_beyond_the_day_is_refused(value):
    column = pa.array([0, None, value]).view(pa.time64("us"))
    with pytest.raises(SpecError, match=f"TYP016.*found {value}"):
        hash_array(TIME, column)
    assert hash_array(TIME, column[:2]).to_pylist()[1] is None


@pytest.mark.parametrize("number", [10**9, -(10**9), 2**63, -(2**63), 2**127 - 1, -(2**127)])
@pytest.mark.parametrize("precision", [9, 18, 19, 37])
def test_a_decimal_of_too_many_digits_is_refused(number, precision):
    type_ = DecimalType(precision, 0)
    pairs = np.array([7, 0, number & (2**64 - 1), (number >> 64) & (2**64 - 1)], np.uint64)
    column = pa.Array.from_buffers(pa.decimal128(precision, 0), 2, [None, pa.py_buffer(pairs)])
    if abs(number) < 10**precision:
        assert len(hash_array(type_, column)) == 2
    else:
        with pytest.raises(SpecError, match=f"TYP013.*found {number}"):
            hash_array(type_, column)
        hidden = pa.Array.from_buffers(column.type, 2, [pa.py_buffer(b"\x01"), column.buffers()[1]])
        assert hash_array(type_, hidden)[1].as_py() is None


def test_a_decimal_of_256_bits_is_not_cut():
    words = np.array([1, 0, 0, 1], np.uint64)
    column = pa.Array.from_buffers(pa.decimal256(38, 0), 1, [None, pa.py_buffer(words)])
    with pytest.raises(SpecError, match="TYP013"):
        hash_array(DecimalType(38, 0), column)


@pytest.mark.parametrize("column", [None, [1], pa.table({"a": [1]}), pa.scalar(1), np.zeros(2)], ids=type)
def test_what_is_not_a_column_is_refused(column):
    with pytest.raises(SpecError, match=r"^TYP001: .*; expected an Array or ChunkedArray"):
        hash_array(INT, column)


def test_an_extension_type_is_not_taken_for_its_storage():
    json = pa.ExtensionArray.from_storage(pa.json_(), pa.array(["1"]))
    with pytest.raises(SpecError, match="TYP021"):
        hash_array(STRING, json)


def test_columns_as_python_makes_them():
    assert hash_array(DATE, pa.array([datetime.date(2017, 11, 16)])).to_pylist() == [-653330422]
    assert hash_array(BINARY, pa.array([], pa.binary())).to_pylist() == []

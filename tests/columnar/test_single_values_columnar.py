from __future__ import annotations

import math
import random
import struct

import numpy as np
import pyarrow as pa
import pytest
from arrow_columns import GEO_TYPES, TYPES, by_text, chunk_lengths, columns
from hypothesis import given, settings
from hypothesis import strategies as st

from spec_ref.columnar import chunks
from spec_ref.columnar.single_value.binary import binary_array
from spec_ref.core.errors import SpecError
from spec_ref.data_types.types import DOUBLE, UNKNOWN, VARIANT, DecimalType, ListType
from spec_ref.single_value.binary import to_binary


@by_text([*TYPES, *GEO_TYPES])
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_a_column_has_the_single_values_of_its_values(type_, data):
    column, values = data.draw(columns(type_))
    singles = binary_array(type_, column)
    singles.validate(full=True)
    assert singles.type == pa.large_binary()
    assert chunk_lengths(singles) == chunk_lengths(column)
    for single, value in zip(singles.to_pylist(), values, strict=True):
        if isinstance(value, float) and math.isnan(value):
            assert len(single) == len(to_binary(type_, value))
            assert math.isnan(struct.unpack("<d" if type_ == DOUBLE else "<f", single)[0])
        else:
            assert single == (None if value is None else to_binary(type_, value))


@pytest.mark.parametrize("precision", [2, 9, 18, 19, 38])
def test_decimals_take_the_least_bytes_across_rounds(precision, monkeypatch):
    monkeypatch.setattr(chunks, "CHUNK_SIZE", 16)
    generator = random.Random(precision)
    numbers = [generator.randint(-(10**digits) + 1, 10**digits - 1) for digits in range(precision + 1) for _ in "abcde"]
    column = pa.array(numbers, pa.decimal128(38, 0)).cast(pa.decimal128(precision, 0))
    sizes = [next(size for size in range(1, 17) if -(1 << 8 * size - 1) <= n < 1 << 8 * size - 1) for n in numbers]
    expected = [n.to_bytes(size, "big", signed=True) for n, size in zip(numbers, sizes, strict=True)]
    assert binary_array(DecimalType(precision, 0), column).to_pylist() == expected


def test_the_bits_of_a_nan_stay():
    bits = np.array([0x7FF0000000000001], np.uint64)
    assert binary_array(DOUBLE, pa.array(bits.view(np.float64))).to_pylist() == [struct.pack("<Q", int(bits[0]))]


@by_text(GEO_TYPES)
def test_malformed_wkb_is_refused_unless_it_is_null(type_):
    column = pa.array([None, b"\1\1"])
    assert binary_array(type_, column[:1]).to_pylist() == [None]
    with pytest.raises(SpecError, match="NOT010"):
        binary_array(type_, column)


@by_text([UNKNOWN, VARIANT, ListType(1, DOUBLE)])
def test_types_without_a_binary_form_are_refused(type_):
    with pytest.raises(SpecError, match="SVB009"):
        binary_array(type_, pa.nulls(1))

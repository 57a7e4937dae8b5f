"""Integers in groups of seven bits."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec_ref.encodings.varint import TooManyBits, read_varint, unzigzag, write_varint, zigzag


@pytest.mark.parametrize(
    ("data", "value"), [("00", 0), ("7f", 127), ("8001", 128), ("ac02", 300), ("ff" * 9 + "01", 2**64 - 1)]
)
def test_examples(data: str, value: int) -> None:
    assert read_varint(bytes.fromhex(data), 0) == (value, len(data) // 2)
    assert write_varint(value).hex() == data


@given(st.integers(0, 2**64 - 1), st.binary(max_size=3))
def test_a_number_is_read_where_it_stands(value: int, around: bytes) -> None:
    data = around + write_varint(value) + around
    assert read_varint(data, len(around)) == (value, len(data) - len(around))


@pytest.mark.parametrize("data", ["", "80", "ff" * 9])
def test_a_number_that_does_not_end_is_refused(data: str) -> None:
    with pytest.raises(IndexError) as caught:
        read_varint(bytes.fromhex(data), 0)
    assert caught.type is IndexError


@pytest.mark.parametrize("data", ["ff" * 10, "80" * 10 + "01", "ff" * 9 + "02"])
def test_a_number_of_more_than_64_bits_is_refused(data: str) -> None:
    with pytest.raises(TooManyBits):
        read_varint(bytes.fromhex(data), 0)


@pytest.mark.parametrize(
    ("stored", "value"), [(0, 0), (1, -1), (2, 1), (3, -2), (2**64 - 2, 2**63 - 1), (2**64 - 1, -(2**63))]
)
def test_the_lowest_bit_is_the_sign(stored: int, value: int) -> None:  # Avro 1.11, Binary Encoding
    assert (unzigzag(stored), zigzag(value)) == (value, stored)

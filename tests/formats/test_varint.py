"""Unsigned integers in groups of seven bits."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec_ref.data_files.varint import read_varint, write_varint


@pytest.mark.parametrize(
    ("data", "value"), [("00", 0), ("7f", 127), ("8001", 128), ("ac02", 300), ("ff" * 9 + "01", 2**64 - 1)]
)
def test_examples(data: str, value: int) -> None:
    assert read_varint(bytes.fromhex(data), 0) == (value, len(data) // 2)
    assert write_varint(value).hex() == data


@given(st.integers(0, 2**70 - 1), st.binary(max_size=3))
def test_a_number_is_read_where_it_stands(value: int, around: bytes) -> None:
    data = around + write_varint(value) + around
    assert read_varint(data, len(around)) == (value, len(data) - len(around))


@pytest.mark.parametrize("data", ["", "80", "ff" * 10, "80" * 10 + "01"])
def test_a_number_that_does_not_end_is_refused(data: str) -> None:
    with pytest.raises(IndexError):
        read_varint(bytes.fromhex(data), 0)

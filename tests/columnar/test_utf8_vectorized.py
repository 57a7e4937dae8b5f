from __future__ import annotations

import itertools

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spec_ref.columnar import utf8_vectorized
from spec_ref.columnar.arrow_types import check_values
from spec_ref.columnar.utf8_vectorized import are_utf8
from spec_ref.core.errors import SpecError
from spec_ref.data_types.types import STRING

# Both sides of every limit that UTF-8 has for a byte.
EDGES = bytes.fromhex("41 7f 80 8f 90 9f a0 bf c0 c1 c2 df e0 e1 ec ed ee ef f0 f1 f3 f4 f5 ff")


def decodes(value: bytes) -> bool:
    try:
        value.decode()
    except UnicodeDecodeError:
        return False
    return True


def stored(values: list[bytes]) -> tuple[np.ndarray, np.ndarray]:
    offsets = np.cumsum([0, *map(len, values)], dtype=np.int32)
    return offsets, np.frombuffer(b"".join(values), np.uint8)


FEW = bytes.fromhex("41 80 bf c2 ff")


@pytest.mark.parametrize("bytes_", [[EDGES], [EDGES, EDGES], [EDGES, EDGES, EDGES], [EDGES[-12:], EDGES, FEW, FEW]])
def test_every_sequence_of_edge_bytes_is_judged_as_by_the_codec(bytes_):
    for sequence in itertools.product(*bytes_):
        value = bytes(sequence)
        assert are_utf8(*stored([b"a", value, b"b"])) is decodes(value), value


@settings(deadline=None, max_examples=200)
@given(
    st.lists(st.text(max_size=5).map(str.encode) | st.lists(st.sampled_from(EDGES), max_size=5).map(bytes), min_size=1),
    st.sampled_from([1, 2, 1 << 14]),
)
def test_values_together_are_judged_as_each_alone(values, chunk_size):
    usual, utf8_vectorized.CHUNK_SIZE = utf8_vectorized.CHUNK_SIZE, chunk_size
    try:
        assert are_utf8(*stored(values)) is all(map(decodes, values))
    finally:
        utf8_vectorized.CHUNK_SIZE = usual


def test_a_character_may_not_be_parted_between_values():
    euro = "€".encode()
    assert are_utf8(*stored([b"", euro, b"", euro, b""]))
    assert not are_utf8(*stored([euro[:1], euro[1:]]))


def test_long_values_are_left_to_be_checked_one_by_one():
    long = "é" * utf8_vectorized.MEAN_LENGTH * utf8_vectorized.CHUNK_SIZE
    assert not are_utf8(*stored([long.encode()]))
    check_values(STRING, pa.array([long]))


def test_bytes_of_a_null_need_not_be_utf8_and_those_of_a_value_are_refused():
    buffers = [None, pa.py_buffer(np.array([0, 1, 3], np.int32)), pa.py_buffer(b"\xffab")]
    with pytest.raises(SpecError, match="TYP021"):
        check_values(STRING, pa.Array.from_buffers(pa.string(), 2, buffers))
    validity = pa.py_buffer(b"\x02")
    check_values(STRING, pa.Array.from_buffers(pa.string(), 2, [validity, *buffers[1:]]))

"""PUF006, PUF027: frames of LZ4 and Zstandard, which are not trusted."""

import time
import tracemalloc

import lz4.frame
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec_ref.core.errors import SpecError
from spec_ref.encodings.puffin.compression import CODECS, EMPTY_LZ4_FRAME, MAX_CONTENT, compress, decompress
from tools.derive.puffin import lz4_frame, lz4_repeat, zstd_frame

FRAMES = {"lz4": lz4_frame, "zstd": zstd_frame}
codecs = pytest.mark.parametrize("name", list(CODECS))


@given(st.sampled_from(list(CODECS)), st.binary(max_size=5000))
def test_what_is_compressed_comes_back(name, data):
    assert decompress(name, compress(name, data)) == data


@codecs
@pytest.mark.parametrize("data", [b"", b"a", bytes(3_000_000), bytes(range(256)) * 9000])
def test_frames_made_by_hand_are_read(name, data):
    stored = data[:60_000]
    assert decompress(name, FRAMES[name](stored)) == stored


@codecs
def test_a_frame_states_the_content_size(name):
    for data in (b"", b"abc", bytes(300)):
        assert CODECS[name].content_size(compress(name, data)) == len(data)


def test_the_frame_of_nothing_is_the_derived_one():
    assert lz4_frame(b"") == EMPTY_LZ4_FRAME
    assert lz4.frame.decompress(EMPTY_LZ4_FRAME) == b""


@codecs
def test_two_frames_are_refused_although_the_libraries_read_the_first(name):
    with pytest.raises(SpecError, match=r"^PUF027: .*; expected a single frame"):
        decompress(name, compress(name, b"one") + compress(name, b"two"))


@codecs
@pytest.mark.parametrize("size", [0, 1, 8, 10, 1 << 60, (1 << 64) - 2])
def test_a_stated_size_that_is_wrong_is_refused(name, size):
    with pytest.raises(SpecError, match="PUF027"):
        decompress(name, FRAMES[name](b"123456789", size=size))


@codecs
def test_a_frame_without_the_size_is_refused(name):
    with pytest.raises(SpecError, match="; expected a frame with the content size present"):
        decompress(name, FRAMES[name](b"123456789", size=None))


@codecs
def test_every_cut_of_a_frame_is_refused(name):
    frame = compress(name, b"some blob" * 30)
    for end in range(len(frame)):
        with pytest.raises(SpecError, match="PUF027"):
            decompress(name, frame[:end])


@given(st.sampled_from(list(CODECS)), st.binary(max_size=60), st.booleans())
def test_noise_is_refused(name, noise, magic):
    with pytest.raises(SpecError):
        decompress(name, (FRAMES[name](b"")[:4] if magic else b"") + noise + b"\0\0\0\0\x01")


@codecs
def test_a_bomb_is_stopped_where_its_stated_size_ends(name):
    bomb = (
        lz4_frame(b"", size=100, block=lz4_repeat(b"\0", 4_000_000))
        if name == "lz4"
        else compress(name, bytes(1 << 26))
    )
    limit = MAX_CONTENT if name == "lz4" else 1 << 20
    tracemalloc.start()
    began = time.process_time()
    with pytest.raises(SpecError, match="PUF027"):
        decompress(name, bomb, limit=limit)
    assert time.process_time() - began < 20
    assert tracemalloc.get_traced_memory()[1] < 32 << 20
    tracemalloc.stop()


def test_a_large_window_is_not_set_aside():
    # No single segment; the window descriptor asks for 2**41 bytes; the content size stands in 8 bytes.
    frame = bytes.fromhex("28B52FFD C0 F8 0300000000000000 190000 616263")
    with pytest.raises(SpecError, match="PUF027"):
        decompress("zstd", frame)


@pytest.mark.parametrize("name", ["gzip", "LZ4", "", "zstandard"])
def test_other_codecs_are_refused(name):
    for call in (compress, decompress):
        with pytest.raises(SpecError, match="PUF027"):
            call(name, b"")

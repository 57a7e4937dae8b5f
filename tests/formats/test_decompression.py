"""Decompression with a limit: the content of every library, and the memory that refusing it needs."""

import bz2
import lzma
import tracemalloc
import zlib
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec_ref.encodings import decompression
from spec_ref.encodings.decompression import ContentTooLargeError, decompress_stream
from spec_ref.encodings.zstandard import decompress_frames, zstd

MIB = 1 << 20
LIBRARIES: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
    "zlib": (zlib.compressobj, zlib.decompressobj),
    "bz2": (bz2.BZ2Compressor, bz2.BZ2Decompressor),
    "lzma": (lzma.LZMACompressor, lzma.LZMADecompressor),
    "zstd": (zstd.ZstdCompressor, zstd.ZstdDecompressor),
}


def compress(library: str, content: bytes) -> bytes:
    stream = LIBRARIES[library][0]()
    return bytes(stream.compress(content) + stream.flush())


def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decompression, "PIECE", 7)


@pytest.mark.parametrize("library", LIBRARIES)
@given(content=st.binary(max_size=60), cut=st.integers(0, 80), spare=st.integers(-70, 70))
def test_content_is_whole_truncated_or_too_large(library: str, content: bytes, cut: int, spare: int) -> None:
    packed = compress(library, content)[: cut + 20]
    limit = max(0, len(content) + spare)
    with pytest.MonkeyPatch.context() as patch:
        small_pieces(patch)
        stream = LIBRARIES[library][1]()
        if len(content) > limit and packed == compress(library, content):
            with pytest.raises(ContentTooLargeError):
                decompress_stream(stream, packed, limit)
            return
        try:
            found = decompress_stream(stream, packed, limit)
        except ContentTooLargeError:
            assert len(content) > limit
            return
    assert content.startswith(found)
    assert (found == content) >= stream.eof
    assert stream.eof == (packed == compress(library, content))


@given(contents=st.lists(st.binary(max_size=20), min_size=1, max_size=5))
def test_frames_share_the_limit(contents: list[bytes]) -> None:
    packed = b"".join(zstd.compress(content) for content in contents)
    whole = b"".join(contents)
    with pytest.MonkeyPatch.context() as patch:
        small_pieces(patch)
        assert decompress_frames(packed, len(whole)) == (whole, True)
        if whole:
            with pytest.raises(ContentTooLargeError):
                decompress_frames(packed, len(whole) - 1)
    assert not decompress_frames(packed[:-1], len(whole))[1]


@pytest.mark.parametrize("library", LIBRARIES)
def test_refusing_needs_no_more_memory_than_the_limit(library: str) -> None:
    packed = compress(library, bytes(96 * MIB))
    tracemalloc.start()
    try:
        with pytest.raises(ContentTooLargeError):
            decompress_stream(LIBRARIES[library][1](), packed, 64 * MIB)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert 32 * MIB < peak < 100 * MIB  # 64 MiB, and a piece twice; in one call it is 128 MiB

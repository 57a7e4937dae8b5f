"""Zstandard decompression, by the standard library or, on older versions of Python, its backport."""

from __future__ import annotations

import sys

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

from spec_ref.encodings.decompression import decompress_stream

__all__ = ["decompress_frames", "zstd"]


def decompress_frames(packed: bytes | bytearray | memoryview, limit: int) -> tuple[bytes, bool]:
    """Decompress frames that follow each other.

    Args:
        packed: the frames.
        limit: the maximum number of bytes of the content.

    Returns:
        The content, and whether the last frame is whole.

    Raises:
        ZstdError: the bytes are not frames.
        ContentTooLargeError: the content is larger than the limit.
    """
    parts: list[bytes] = []
    rest: bytes | bytearray | memoryview = packed
    while True:
        frame = zstd.ZstdDecompressor()
        parts.append(decompress_stream(frame, rest, limit))
        limit -= len(parts[-1])
        rest = frame.unused_data
        if not rest:
            return parts[0] if len(parts) == 1 else b"".join(parts), frame.eof

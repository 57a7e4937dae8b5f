"""Decompression that stops at a limit, and holds no more memory than the content it returns or the limit."""

from __future__ import annotations

from typing import Protocol

__all__ = ["ContentTooLargeError", "decompress_stream"]

PIECE = 1 << 24
"""The number of bytes that are decompressed at once. The libraries collect what one call returns in blocks and then
copy them, so that a call for all of the content needs memory for it twice, also if it is then refused."""


class ContentTooLargeError(Exception):
    """The content is larger than the limit."""


class Stream(Protocol):
    """A decompression object of `zlib`, `bz2`, `lzma` or `zstd`."""

    @property
    def eof(self) -> bool:
        """Whether the end of the stream was reached."""

    def decompress(self, data: bytes | bytearray | memoryview, max_length: int, /) -> bytes:
        """Decompress some bytes.

        Args:
            data: compressed bytes that follow those given before.
            max_length: the maximum number of bytes to return.

        Returns:
            The next bytes of the content.
        """


def decompress_stream(stream: Stream, packed: bytes | bytearray | memoryview, limit: int) -> bytes:
    """Decompress a stream.

    Args:
        stream: a new decompression object.
        packed: the compressed bytes.
        limit: the maximum number of bytes of the content.

    Returns:
        The content; the `eof` of the stream states whether its end was reached.

    Raises:
        ContentTooLargeError: the content is larger than the limit. Errors of the library pass through.
    """
    parts: list[bytes] = []
    left = limit + 1
    rest = packed
    while True:
        part = stream.decompress(rest, min(left, PIECE))
        left -= len(part)
        if not left:
            raise ContentTooLargeError
        parts.append(part)
        if stream.eof or not part:
            return parts[0] if len(parts) == 1 else b"".join(parts)
        rest = getattr(stream, "unconsumed_tail", b"")  # zlib wants it again, the others keep it

"""The compression of Puffin footers and blobs (Puffin, Compression codecs; Footer Payload).

Compressed data is one frame, LZ4 or Zstandard, whose header states the content size. The stated size is not trusted: no
more bytes than that are decompressed, the content has to have exactly this size, and nothing may follow the frame.
Zstandard libraries read the first of several frames and ignore the others, so this is checked here.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from types import MappingProxyType

import lz4.frame

from spec_ref.core.errors import Description, SpecError, spec_error
from spec_ref.core.records import record
from spec_ref.encodings.zstandard import zstd

MAX_CONTENT = 1 << 28
"""The maximum number of bytes that content may have after decompression: a frame of a few kilobytes can claim, and
produce, gigabytes."""

WINDOW_LOG_MAX = 28
"""The base-2 logarithm of the largest Zstandard window that memory is allocated for: that of `MAX_CONTENT`."""

_LZ4_MAGIC = b"\x04\x22\x4d\x18"
_LZ4_CONTENT_SIZE = 0x08
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_CHUNK = 1 << 20

EMPTY_LZ4_FRAME = bytes.fromhex("04224D18 68 40 0000000000000000 05 00000000")
"""An empty frame that states its content size. The library treats a size of 0 as "not stated" and omits it."""


@record
class Codec:
    """A compression codec: how to write a frame and how to read one."""

    name: str
    compress: Callable[[bytes], bytes]
    """Compresses bytes to a single frame that states the content size."""

    content_size: Callable[[bytes], int | None]
    """The content size that the frame's header states; None if it does not. The function may raise the library's
    errors."""

    decompressor: Callable[[], lz4.frame.LZ4FrameDecompressor | zstd.ZstdDecompressor]


def _lz4_compress(data: bytes) -> bytes:
    return lz4.frame.compress(data, store_size=True) if data else EMPTY_LZ4_FRAME


def _lz4_content_size(data: bytes) -> int | None:
    if data[:4] != _LZ4_MAGIC:
        raise ValueError("not an LZ4 frame")
    if len(data) < 15 or not data[4] & _LZ4_CONTENT_SIZE:
        return None
    (size,) = struct.unpack_from("<Q", data, 6)
    return int(size)


def _zstd_content_size(data: bytes) -> int | None:
    if data[:4] != _ZSTD_MAGIC:
        raise ValueError("not a Zstandard frame")
    return zstd.get_frame_info(data).decompressed_size


def _zstd_decompressor() -> zstd.ZstdDecompressor:
    return zstd.ZstdDecompressor(options={zstd.DecompressionParameter.window_log_max: WINDOW_LOG_MAX})


CODECS: Mapping[str, Codec] = MappingProxyType(
    {
        "lz4": Codec("lz4", _lz4_compress, _lz4_content_size, lz4.frame.LZ4FrameDecompressor),
        "zstd": Codec("zstd", zstd.compress, _zstd_content_size, _zstd_decompressor),
    }
)
"""The codecs of Puffin, by the names they have in a footer."""

CODEC_REQUIREMENT = "PUF027"
_ERRORS = (zstd.ZstdError, RuntimeError, ValueError, EOFError, MemoryError, OverflowError)


def find_codec(name: str) -> Codec:
    """Find a codec by its name; names are case-sensitive.

    Args:
        name: the name in the footer.

    Returns:
        The codec.

    Raises:
        SpecError: PUF027 if the name is not lz4 or zstd.
    """
    try:
        return CODECS[name]
    except KeyError:
        raise spec_error(CODEC_REQUIREMENT, "the codec is unknown", found=name, expected="lz4 or zstd") from None


def compress(name: str, data: bytes) -> bytes:
    """Compress bytes to one frame that states its content size.

    Args:
        name: the codec.
        data: the bytes to compress.

    Returns:
        The frame.

    Raises:
        SpecError: PUF027 if the codec is unknown.
    """
    return find_codec(name).compress(data)


def decompress(name: str, data: bytes, *, limit: int = MAX_CONTENT, requirement: str = CODEC_REQUIREMENT) -> bytes:
    """Decompress a single frame.

    Args:
        name: the codec.
        data: the frame, from its magic number to its last byte.
        limit: the maximum number of bytes of the content.
        requirement: the code to raise if the data is not such a frame.

    Returns:
        The content.

    Raises:
        SpecError: PUF027 if the codec is unknown; ``requirement`` if the data is not a frame, is damaged, truncated or
            followed by anything, does not state the content size or states a wrong one, or the content is larger than
            the limit.
    """
    used = find_codec(name)

    def frame_error(message: str, found: object, expected: str) -> SpecError:
        return spec_error(requirement, f"{name}: {message}", found=found, expected=expected)

    try:
        size = used.content_size(data)
        if size is None:
            raise frame_error(
                "the frame does not state the content size", None, "a frame with the content size present"
            )
        if size > limit:
            raise frame_error("the content is too large", Description(f"{size} bytes"), f"at most {limit} bytes")
        decompressor = used.decompressor()
        parts = [decompressor.decompress(data, _step(size))]
        made = len(parts[0])
        while parts[-1] and not decompressor.eof and made <= size:
            parts.append(decompressor.decompress(b"", _step(size - made)))
            made += len(parts[-1])
    except SpecError:
        raise
    except _ERRORS as error:
        raise frame_error(f"the frame is damaged: {error}", data[:16], "one whole frame") from error
    if made > size or (decompressor.eof and made != size):
        raise frame_error("the stated content size is wrong", f"{size} stated", "the size of the content")
    if not decompressor.eof:
        raise frame_error("the frame is truncated", Description(f"{made} of {size} bytes"), "one whole frame")
    if decompressor.unused_data:
        raise frame_error("bytes follow the frame", decompressor.unused_data, "a single frame")
    return b"".join(parts)


def _step(missing: int) -> int:
    """Return how many bytes to decompress next: one more than are missing, to notice more bytes than stated."""
    return min(_CHUNK, missing + 1)

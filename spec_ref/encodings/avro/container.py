"""Avro object container files (Avro 1.11 specification, Object Container Files; Appendix A, Avro).

A container is the magic bytes, a map of metadata, a sync marker of 16 bytes, and blocks: a number of objects, a number
of bytes, the bytes as the file's codec compressed them, and the sync marker again. Every length and count is checked
before it is used, and nothing is decompressed beyond the limits. `spec_ref.encodings.avro.types` and
`spec_ref.encodings.avro.values` interpret the objects.

Decided here, because Iceberg's text names no codecs: readers support all six of the Avro specification, and writers the
four that Iceberg's properties name (contradiction E28).
"""

from __future__ import annotations

import bz2
import io
import lzma
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeAlias

import attrs
import cramjam

from spec_ref.core.errors import Description, SpecError, abbreviated_repr, spec_error
from spec_ref.encodings.decompression import ContentTooLargeError, decompress_stream
from spec_ref.encodings.random_access_bytes import RandomAccessBytes
from spec_ref.encodings.varint import TooManyBits, read_varint, unzigzag, write_varint, zigzag
from spec_ref.encodings.zstandard import decompress_frames, zstd

MAGIC = b"Obj\x01"
SYNC_LENGTH = 16
SCHEMA_KEY = "avro.schema"
CODEC_KEY = "avro.codec"

MAX_COMPRESSION_OVERHEAD = 2
"""The compressed bytes of a block are at most this many times the limit of its decompressed bytes."""

DEFLATE_RATIO = 1032
"""The maximum number of bytes that one byte of deflate can produce, because its longest match takes two bits and
produces 258 bytes."""

INFLATE_BUFFER = 1 << 14
"""The minimum size in bytes of the buffer for the decompression of a block."""

XZ_MEMORY = 128 << 20
"""The maximum number of bytes of memory for the decompression of xz; the highest level of compression needs 65 MiB."""

Data: TypeAlias = bytes | bytearray | memoryview


@attrs.frozen
class ContainerLimits:
    """The limits for an untrusted file."""

    header_bytes: int = 64 << 20
    """The maximum number of bytes of all metadata together."""

    header_entries: int = 10_000

    block_bytes: int = 128 << 20
    """The maximum number of bytes of one block after decompression."""

    total_bytes: int = 2 << 30
    """The maximum number of bytes of all blocks together after decompression."""


LIMITS = ContainerLimits()


@attrs.frozen
class Block:
    """The location of one block in the file, and its stated number of objects."""

    count: int
    """The number of objects."""

    start: int
    """The offset of its bytes in the file."""

    size: int
    """The number of its compressed bytes."""


@attrs.frozen
class Container:
    """An opened container: its metadata and its blocks, not yet decompressed."""

    data: memoryview | RandomAccessBytes
    metadata: Mapping[str, bytes]
    codec: str
    sync: bytes
    blocks: tuple[Block, ...]
    requirement: str
    """The code to raise if the file is not a container."""

    limits: ContainerLimits = LIMITS

    @property
    def count(self) -> int:
        """The number of objects that the blocks state."""
        return sum(block.count for block in self.blocks)

    def payload(self, index: int) -> bytes:
        """Decompress a block.

        Args:
            index: the index of the block.

        Returns:
            The decompressed bytes.

        Raises:
            SpecError: ``requirement`` of the container if the bytes do not decompress, or exceed the limit.
        """
        block = self.blocks[index]
        limit = self.limits.block_bytes
        try:
            if block.size > MAX_COMPRESSION_OVERHEAD * limit:  # checked before the block is read
                raise ContentTooLargeError
            return _DECODERS[self.codec](self.data[block.start : block.start + block.size], limit)
        except ContentTooLargeError:
            raise self._error(
                f"block {index} is too large when decompressed",
                found=Description(f"{block.size} bytes"),
                expected=f"at most {limit} bytes",
            ) from None
        except (zlib.error, cramjam.DecompressionError, zstd.ZstdError, _Damaged) as error:
            raise self._error(f"block {index} does not decompress: {error}", expected=f"{self.codec} data") from None

    def payloads(self) -> Iterator[tuple[int, bytes]]:
        """Decompress all blocks one after another.

        Yields:
            The number of objects and the decompressed bytes of each block.

        Raises:
            SpecError: ``requirement`` of the container, as `payload`, or if all blocks together exceed the limit.
        """
        total = 0
        for index, block in enumerate(self.blocks):
            payload = self.payload(index)
            total += len(payload)
            if total > self.limits.total_bytes:
                expected = f"at most {self.limits.total_bytes} bytes"
                raise self._error("the blocks are too large when decompressed", found=total, expected=expected)
            yield block.count, payload

    def _error(self, message: str, **details: object) -> SpecError:
        return spec_error(self.requirement, message, **details)  # type: ignore[arg-type]


# Reading


def open_container(data: Data | RandomAccessBytes, requirement: str, limits: ContainerLimits = LIMITS) -> Container:
    """Read the header and locate the blocks of a container file.

    Args:
        data: the file.
        requirement: the code to raise if the file is not a container.
        limits: the limits for its sizes.

    Returns:
        The opened container.

    Raises:
        SpecError: ``requirement`` if the file does not begin or end as a container does, a block is truncated, its sync
            marker is wrong, a length or count is negative or larger than the file, or the codec is not one of the Avro
            specification.
    """
    frames = _Frames(data if isinstance(data, RandomAccessBytes) else memoryview(data).cast("B"), requirement)
    metadata = frames.header(limits)
    codec = metadata.get(CODEC_KEY, b"null").decode("utf-8", "replace")
    if codec not in _DECODERS:
        raise frames.error("the codec is unknown", found=codec, expected=", ".join(_DECODERS))
    if SCHEMA_KEY not in metadata:
        raise frames.error("the schema is missing from the header", expected=SCHEMA_KEY)
    sync = frames.take(SYNC_LENGTH, "the sync marker")
    return Container(frames.data, metadata, codec, sync, tuple(frames.blocks(sync)), requirement, limits)


class _Frames:
    """Reads the file from a position that only moves forward."""

    def __init__(self, data: memoryview | RandomAccessBytes, requirement: str) -> None:
        self.data = data
        self.position = 0
        self.requirement = requirement

    def error(self, message: str, *, found: object = None, expected: str | None = None) -> SpecError:
        where = f"{message} (at byte {self.position})"
        if found is None:
            return spec_error(self.requirement, where, expected=expected)
        return spec_error(self.requirement, where, found=found, expected=expected)

    def long(self, what: str) -> int:
        """Read a variable-length zig-zag integer of at most 64 bits."""
        try:
            number, self.position = read_varint(self.data, self.position)
        except TooManyBits:
            raise self.error(f"{what} exceeds 64 bits", expected="at most 64 bits") from None
        except IndexError:
            raise self.error(f"the file ends inside {what}") from None
        return unzigzag(number)

    def size(self, what: str, limit: int | None = None) -> int:
        """Read a number of bytes that have to follow."""
        size = self.long(what)
        if limit is not None and size > limit:
            raise self.error("the header is too large", expected=f"at most {limit} bytes")
        left = len(self.data) - self.position
        if not 0 <= size <= left:
            raise self.error(f"{what} is wrong", found=size, expected=f"0 to {left}, the bytes left in the file")
        return size

    def take(self, size: int, what: str) -> bytes:
        end = self.position + size
        if end > len(self.data):
            raise self.error(f"the file ends inside {what}")
        taken = bytes(self.data[self.position : end])
        self.position = end
        return taken

    def header(self, limits: ContainerLimits) -> dict[str, bytes]:
        if len(self.data) < len(MAGIC) or self.take(len(MAGIC), "the magic bytes") != MAGIC:
            self.position = 0
            found = bytes(self.data[: len(MAGIC)])
            raise self.error("the file is not an Avro container", found=found, expected=abbreviated_repr(MAGIC))
        metadata: dict[str, bytes] = {}
        while count := self.long("the number of metadata entries"):
            if count < 0:
                count = -count
                self.size("the size of the metadata")
            if len(metadata) + count > limits.header_entries:
                raise self.error("the header has too many entries", found=count, expected=f"{limits.header_entries}")
            for _ in range(count):
                key = self.take(self.size("the length of a metadata key", limits.header_bytes), "a metadata key")
                value = self.take(self.size("the length of a metadata value", limits.header_bytes), "a metadata value")
                try:
                    metadata[key.decode()] = value
                except UnicodeDecodeError:
                    raise self.error("a metadata key is not UTF-8", found=key) from None
                if self.position > limits.header_bytes:
                    raise self.error("the header is too large", expected=f"at most {limits.header_bytes} bytes")
        return metadata

    def blocks(self, sync: bytes) -> Iterator[Block]:
        data, end = self.data, len(self.data)
        while self.position < end:
            count = self.long("the number of objects of a block")
            if count < 0:
                raise self.error("the number of objects of a block is negative", found=count)
            size = self.size("the size of a block")
            start = self.position
            self.position += size
            if data[self.position : self.position + SYNC_LENGTH] != sync:
                found = bytes(data[self.position : self.position + SYNC_LENGTH])
                raise self.error(
                    "a block does not end with the sync marker", found=found, expected=abbreviated_repr(sync)
                )
            self.position += SYNC_LENGTH
            yield Block(count, start, size)


# Codecs


class _Damaged(Exception):
    pass


def _null(packed: Data, limit: int) -> bytes:
    if len(packed) > limit:
        raise ContentTooLargeError
    return bytes(packed)


def _inflate(packed: Data, limit: int) -> bytes:
    if len(packed) * DEFLATE_RATIO <= limit:
        # The data is too short to exceed the limit, and zlib.decompress takes half the time of a decompression object.
        return zlib.decompress(packed, -15, max(INFLATE_BUFFER, 16 * len(packed)))
    stream = zlib.decompressobj(-15)
    data = decompress_stream(stream, packed, limit)
    if not stream.eof:
        raise _Damaged("the stream is truncated")
    return data


def _snappy(packed: Data, limit: int) -> bytes:
    if len(packed) < 4:
        raise _Damaged("the checksum is missing")
    if cramjam.snappy.decompress_raw_len(packed[:-4]) > limit:
        raise ContentTooLargeError
    data = bytes(cramjam.snappy.decompress_raw(packed[:-4]))
    if zlib.crc32(data).to_bytes(4, "big") != packed[-4:]:
        raise _Damaged("the checksum does not match")
    return data


def _zstandard(packed: Data, limit: int) -> bytes:
    data, is_whole = decompress_frames(packed, limit)
    if not is_whole:
        raise _Damaged("the frame is truncated")
    return data


def _bzip2(packed: Data, limit: int) -> bytes:
    try:
        return _decompress_single(bz2.BZ2Decompressor(), packed, limit)
    except OSError as error:
        raise _Damaged(error) from error


def _xz(packed: Data, limit: int) -> bytes:
    try:
        return _decompress_single(lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=XZ_MEMORY), packed, limit)
    except lzma.LZMAError as error:
        raise _Damaged(error) from error


def _decompress_single(stream: bz2.BZ2Decompressor | lzma.LZMADecompressor, packed: Data, limit: int) -> bytes:
    data = decompress_stream(stream, packed, limit)
    if not stream.eof:
        raise _Damaged("the stream is truncated")
    if stream.unused_data:
        raise _Damaged("bytes follow the stream")
    return data


_DECODERS: dict[str, Callable[[Data, int], bytes]] = {
    "null": _null,
    "deflate": _inflate,
    "snappy": _snappy,
    "zstandard": _zstandard,
    "bzip2": _bzip2,
    "xz": _xz,
}


def _deflate(data: bytes) -> bytes:
    stream = zlib.compressobj(9, zlib.DEFLATED, -15)
    return stream.compress(data) + stream.flush()


_ENCODERS: dict[str, Callable[[bytes], bytes]] = {
    "null": lambda data: data,
    "deflate": _deflate,
    "snappy": lambda data: bytes(cramjam.snappy.compress_raw(data)) + zlib.crc32(data).to_bytes(4, "big"),
    "zstandard": lambda data: zstd.compress(data, level=3),
}

CODECS = tuple(_ENCODERS)
"""The codecs for Iceberg's writers."""


# Writing


def write_container(
    metadata: Mapping[str, bytes | str], blocks: Iterable[tuple[int, bytes]], *, codec: str, sync: bytes
) -> bytes:
    """Write a container file of encoded blocks.

    Args:
        metadata: the entries of the header, including ``avro.schema``; the codec's entry is added.
        blocks: for each block, the number of objects and their bytes.
        codec: one of `CODECS`.
        sync: the sync marker, 16 bytes that the blocks should not contain.

    Returns:
        The bytes of the file.

    Raises:
        ValueError: if the codec is not one of `CODECS`, or the sync marker does not have 16 bytes.
    """
    return header_bytes(metadata, codec=codec, sync=sync) + b"".join(
        block_bytes(count, payload, codec=codec, sync=sync) for count, payload in blocks
    )


def header_bytes(metadata: Mapping[str, bytes | str], *, codec: str, sync: bytes) -> bytes:
    """Write the header of a container file.

    Args:
        metadata: the entries of the header, as for `write_container`.
        codec: one of `CODECS`.
        sync: the sync marker, 16 bytes.

    Returns:
        The bytes of the header.

    Raises:
        ValueError: if the codec is not one of `CODECS`, or the sync marker does not have 16 bytes.
    """
    if codec not in _ENCODERS:
        raise ValueError(f"{codec} is not one of {', '.join(_ENCODERS)}")
    if len(sync) != SYNC_LENGTH:
        raise ValueError(f"the sync marker does not have {SYNC_LENGTH} bytes")
    out = io.BytesIO()
    out.write(MAGIC)
    entries = {**metadata, CODEC_KEY: codec}
    out.write(long_bytes(len(entries)))
    for key, value in entries.items():
        for part in (key.encode(), value.encode() if isinstance(value, str) else value):
            out.write(long_bytes(len(part)) + part)
    out.write(long_bytes(0) + sync)
    return out.getvalue()


def block_bytes(count: int, payload: bytes, *, codec: str, sync: bytes) -> bytes:
    """Write a block of a container file.

    Args:
        count: the number of objects.
        payload: their encoded bytes.
        codec: one of `CODECS`.
        sync: the sync marker, 16 bytes.

    Returns:
        The bytes of the block.
    """
    packed = _ENCODERS[codec](payload)
    return long_bytes(count) + long_bytes(len(packed)) + packed + sync


def long_bytes(value: int) -> bytes:
    """Encode a variable-length zig-zag integer.

    Args:
        value: an integer of at most 64 bits.

    Returns:
        Its bytes.
    """
    return write_varint(zigzag(value))

"""The stripes and columns of an ORC file (Apache ORC specification, version 1; Appendix A, ORC).

pyarrow does not expose them. The postscript, the footer and the stripe footers are Protocol Buffers, compressed in
chunks; only the needed fields are read here, and no more bytes are decompressed than limits allow.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

import cramjam
import lz4.block
import numpy as np

from spec_ref.core.errors import Description, SpecError, spec_error
from spec_ref.core.records import record
from spec_ref.data_files.deferred_sink import PartialFile
from spec_ref.encodings.decompression import ContentTooLargeError
from spec_ref.encodings.random_access_bytes import ByteSource
from spec_ref.encodings.varint import read_varint
from spec_ref.encodings.zstandard import decompress_frames, zstd

Content: TypeAlias = ByteSource | PartialFile
"""The content of a file, or the parts of it that are known."""

MAGIC = b"ORC"
DAMAGE_ERRORS = (IndexError, TypeError, zlib.error, cramjam.DecompressionError, lz4.block.LZ4BlockError, zstd.ZstdError)
"""The errors that libraries raise for damaged bytes."""

MAX_METADATA = 1 << 24
"""The maximum number of bytes of the footer and all stripe footers together, after decompression; stripes may refer
to the same bytes repeatedly."""

MAX_CHUNKS = 1 << 12
"""The maximum number of chunks in which the footer and the stripe footers are compressed."""

MAX_CHUNK = 1 << 24
"""The maximum number of bytes of one chunk; its length has 23 bits, and compression block sizes are smaller."""


@record
class Stream:
    """A part of a column in a stripe."""

    kind: int
    """The content: 0 for flags of the values that are present, 1 for values, 5 for nanoseconds, 6 to 8 for indexes."""

    column: int
    start: int
    """The offset in the file, in bytes."""

    length: int


@record
class Stripe:
    """A stripe: its location, and the number of bytes of each ORC column in it."""

    offset: int
    column_sizes: Mapping[int, int]
    """By ORC column id, which counts types in depth-first order; 0 is the root. Indexes are not counted."""

    rows: int = 0
    streams: tuple[Stream, ...] = ()
    encodings: tuple[int, ...] = ()
    """By ORC column id; 2 is the second version of direct encoding."""

    timezone: str = ""
    """The time zone of the writer, in which timestamps without a time zone are counted."""


def check_types(file: Any) -> None:
    """Refuse types that make pyarrow abort the process, and names that are not UTF-8, before pyarrow opens the file.

    Args:
        file: a seekable file that is opened for reading.

    Raises:
        SpecError: ORC008 for a decimal of more than 38 digits, a name or attribute that is not UTF-8, or a file whose
            footer cannot be read.
    """
    try:
        for place, part in enumerate(_footer(file).get(4, [])):
            _check_type(_fields(part), place)
    except DAMAGE_ERRORS as error:
        raise damage_error("the file is damaged", Description(str(error))) from error


def read_stripe_offsets(file: Any) -> tuple[int, ...]:
    """Read the offsets of the stripes; only the end of the file is read.

    Args:
        file: a seekable file that is opened for reading.

    Returns:
        The offsets in order.

    Raises:
        SpecError: ORC008 if the footer cannot be read.
    """
    try:
        return tuple(sorted(_number(_fields(part), 1) for part in _footer(file).get(3, [])))
    except DAMAGE_ERRORS as error:
        raise damage_error("the file is damaged", Description(str(error))) from error


def check_start(file: Any) -> None:
    """Check the first bytes of a file.

    Args:
        file: a seekable file that is opened for reading.

    Raises:
        SpecError: ORC008 if they are not those of an ORC file.
    """
    file.seek(0)
    if (found := file.read(len(MAGIC))) != MAGIC:
        raise damage_error("the file is not an ORC file", found)


def _footer(file: Any) -> dict[int, list[Any]]:
    """Read the footer; the first bytes of the file are not checked."""
    size = file.seek(0, 2)
    tail = _tail(file, size, min(size, TAIL_LENGTH))
    if len(tail) < 5:
        raise damage_error("the file is not an ORC file", tail)
    decode, end, length = _postscript(MAGIC + tail[len(MAGIC) :])
    if length > end and length <= MAX_METADATA:
        tail = _tail(file, size, min(size, length + 256 + 1))
        decode, end, length = _postscript(MAGIC + tail[len(MAGIC) :])
    return _Metadata(tail, decode).part(end - length, length)


TAIL_LENGTH = 1 << 14
"""The number of bytes at the end of a file that are read first; the footers of most files are shorter."""

DECIMAL = 14
MAX_PRECISION = 38


def _tail(file: Any, size: int, length: int) -> bytes:
    file.seek(size - length)
    tail: bytes = file.read(length)
    file.seek(0)
    return tail


def _check_type(type_: dict[int, list[Any]], place: int) -> None:
    precision, scale = _number(type_, 5), _number(type_, 6)
    if _number(type_, 1) == DECIMAL and precision and not scale <= precision <= MAX_PRECISION:
        found = Description(f"decimal({precision}, {scale}) in column {place}")
        raise spec_error(
            "ORC008",
            "the precision of the decimal is too large",
            found=found,
            expected=f"at most {MAX_PRECISION} digits",
        )
    pairs = [text for pair in type_.get(7, []) for texts in _fields(pair).values() for text in texts]
    for text in (*type_.get(3, []), *pairs):
        if not isinstance(text, bytes) or not _is_utf8(text):
            raise damage_error(f"a name or attribute of column {place} is not UTF-8", text)


def _is_utf8(text: bytes) -> bool:
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True


def stream_bytes(data: Content, stream: Stream, limit: int) -> bytes:
    """Read and decompress a stream.

    Args:
        data: the content of the file.
        stream: the stream.
        limit: the maximum number of bytes of the result.

    Returns:
        The content of the stream.

    Raises:
        SpecError: ORC008 if it is damaged or has more than ``limit`` bytes.
    """
    try:
        decode = _postscript(data)[0]
        if stream.length > 2 * limit:
            raise damage_error("a stream is too large", Description(f"{stream.length} bytes"))
        section = _slice(data, stream.start, stream.length)
        if decode is _CODECS[_NONE]:
            return section
        metadata = _Metadata(data, decode)
        metadata.left, metadata.chunks = limit, limit
        return b"".join(metadata.decompress(section))
    except DAMAGE_ERRORS as error:
        raise damage_error("a stream is damaged", Description(str(error))) from error


def read_stripes(data: Content) -> tuple[Stripe, ...]:
    """Read the stripes of a file.

    Args:
        data: the content of the file.

    Returns:
        The stripes in order.

    Raises:
        SpecError: ORC008 if it is not an ORC file or is damaged.
    """
    try:
        return tuple(_stripes(data))
    except DAMAGE_ERRORS as error:
        raise damage_error("the file is damaged", Description(str(error))) from error


def damage_error(message: str, found: object) -> SpecError:
    """Make the error for a file that is damaged (ORC008).

    Args:
        message: what is wrong.
        found: what the file has.

    Returns:
        The error.
    """
    return spec_error("ORC008", message, found=found)


class _Metadata:
    """Reads the parts of a file that locate its other parts, within one limit for all of them."""

    def __init__(self, data: Content, decode: Callable[[bytes], bytes]) -> None:
        self.data = data
        self.decode = decode
        self.left = MAX_METADATA
        self.chunks = MAX_CHUNKS

    def part(self, start: int, length: int) -> dict[int, list[Any]]:
        """Read the message in a part of the file."""
        if length > MAX_METADATA:
            raise damage_error("the footers are too large", Description(f"{length} bytes"))
        section = _slice(self.data, start, length)
        message = section if self.decode is _CODECS[_NONE] else b"".join(self.decompress(section))
        if message is section:
            self.take(len(section))
        return _fields(message)

    def decompress(self, section: bytes) -> Iterator[bytes]:
        position = 0
        while position < len(section):
            header = int.from_bytes(_slice(section, position, 3), "little")
            chunk = _slice(section, position + 3, header >> 1)
            self.chunks -= 1
            if self.chunks < 0:
                raise damage_error("the footers have too many chunks", Description(f"over {MAX_CHUNKS}"))
            made = chunk if header & 1 else self.decode(chunk)
            self.take(len(made))
            yield made
            position += 3 + len(chunk)

    def take(self, count: int) -> None:
        self.left -= count
        if self.left < 0:
            raise damage_error("the footers are too large", Description(f"over {MAX_METADATA} bytes"))


def _postscript(data: Content) -> tuple[Callable[[bytes], bytes], int, int]:
    """Read the compression of the file, and the end and length of its footer."""
    if data[:3] != MAGIC or len(data) < 5:
        raise damage_error("the file is not an ORC file", data[:3])
    end = len(data) - 1 - data[-1]
    postscript = _fields(_slice(data, end, data[-1]))
    if postscript.get(8000) != [MAGIC]:
        raise damage_error("the postscript has no magic", postscript.get(8000))
    decode = _CODECS.get(_number(postscript, 2))
    if decode is None:
        raise damage_error("the compression is unknown", _number(postscript, 2))
    return decode, end, _number(postscript, 1)


def _stripes(data: Content) -> Iterator[Stripe]:
    decode, end, length = _postscript(data)
    metadata = _Metadata(data, decode)
    for part in metadata.part(end - length, length).get(3, []):
        stripe = _fields(part)
        offset, index, body, tail = (_number(stripe, field) for field in (1, 2, 3, 4))
        sizes: dict[int, int] = {}
        streams = []
        footer = metadata.part(offset + index + body, tail)
        position = offset
        for stream_part in footer.get(1, []):
            fields = _fields(stream_part)
            stream = Stream(_number(fields, 1), _number(fields, 2), position, _number(fields, 3))
            streams.append(stream)
            position += stream.length
            if stream.kind not in _INDEX_STREAMS:
                sizes[stream.column] = sizes.get(stream.column, 0) + stream.length
        encodings = tuple(_number(_fields(encoding), 1) for encoding in footer.get(2, []))
        timezone = footer.get(3, [b""])[-1]
        if not isinstance(timezone, bytes):
            raise damage_error("the time zone of a stripe is not UTF-8", timezone)
        yield Stripe(offset, sizes, _number(stripe, 5), tuple(streams), encodings, timezone.decode("utf-8", "replace"))


_INDEX_STREAMS = (6, 7, 8)
"""Kinds of streams that are indexes: row indexes and bloom filters."""


def _slice(data: Content, start: int, length: int) -> bytes:
    if start < 0 or length < 0 or start + length > len(data):
        raise damage_error("a section extends beyond the file", start)
    return data[start : start + length]


def _inflate(chunk: bytes) -> bytes:
    inflater = zlib.decompressobj(-15)
    made = inflater.decompress(chunk, MAX_CHUNK)
    if inflater.unconsumed_tail or not inflater.eof:
        raise damage_error("a chunk is too large or truncated", len(made))
    return made


def _decompress_snappy(chunk: bytes) -> bytes:
    room: Any = np.empty(MAX_CHUNK, np.uint8)  # filling it with zeros takes longer than decompressing a footer
    return bytes(room[: cramjam.snappy.decompress_raw_into(chunk, room)])


def _decompress_zstd(chunk: bytes) -> bytes:
    try:
        made, is_whole = decompress_frames(chunk, MAX_CHUNK)
    except ContentTooLargeError:
        raise damage_error("a chunk is too large", Description(f"more than {MAX_CHUNK} bytes")) from None
    if not is_whole:
        raise damage_error("a chunk is truncated", len(made))
    return made


_NONE = 0
_CODECS: dict[int, Callable[[bytes], bytes]] = {
    _NONE: bytes,
    1: _inflate,
    2: _decompress_snappy,
    4: lambda chunk: lz4.block.decompress(chunk, uncompressed_size=MAX_CHUNK),
    5: _decompress_zstd,
}


# Protocol Buffers


def _number(fields: dict[int, list[Any]], field: int) -> int:
    """Return the last value of a numeric field; 0 if it is missing."""
    value = fields.get(field, [0])[-1]
    if not isinstance(value, int):
        raise damage_error("a number is malformed", field)
    return value


def _fields(message: bytes) -> dict[int, list[Any]]:
    """Read the values of a message by field number; bytes for fields with a length."""
    fields: dict[int, list[Any]] = {}
    position = 0
    while position < len(message):
        tag, position = read_varint(message, position)
        value: Any
        match tag & 7:
            case 0:
                value, position = read_varint(message, position)
            case 2:
                length, position = read_varint(message, position)
                value = _slice(message, position, length)
                position += length
            case 1 | 5 as kind:
                size = 8 if kind == 1 else 4
                value = _slice(message, position, size)
                position += size
            case kind:
                raise damage_error("a message is damaged", Description(f"wire type {kind}"))
        fields.setdefault(tag >> 3, []).append(value)
    return fields

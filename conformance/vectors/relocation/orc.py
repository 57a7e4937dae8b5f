"""Rewrite locations in the column ``file_path`` of ORC files (Apache ORC, version 1).

The streams of the column's strings and their lengths are rewritten, as are statistics, indexes and footers. The streams
of other columns are copied; files without such a column are returned unchanged.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from typing import Any

from conformance.vectors.relocation.avro import RelocationError, unsigned
from conformance.vectors.relocation.avro import ValueReader as Bytes
from conformance.vectors.relocation.paths import Paths
from spec_ref.data_files.orc_timestamps import decode_integers
from spec_ref.encodings.zstandard import zstd

NONE = 0
CODECS: dict[int, tuple[Callable[[bytes], bytes], Callable[[bytes], bytes]]] = {
    NONE: (bytes, bytes),
    1: (lambda data: zlib.decompress(data, -15), lambda data: zlib.compress(data, 9, -15)),
    5: (zstd.decompress, zstd.compress),
}
DATA, LENGTH, DICTIONARY, ROW_INDEX = 1, 2, 3, 6
DICTIONARY_V2, DIRECT_V2 = 3, 2
CHUNK = 1 << 18
NAME = b"file_path"

Field = list[Any]
"""A field of a message: its number, its wire type and its value."""


def fields(message: bytes) -> list[Field]:
    """Parse the fields of a message in order.

    Raises:
        RelocationError: it is damaged, or would not be written back to the same bytes.
    """
    reader, made = Bytes(message), []
    while reader.at < len(message):
        tag = varint(reader)
        kind = tag & 7
        if kind not in (0, 1, 2, 5):
            raise RelocationError(f"a field of wire type {kind}")
        value: Any = varint(reader) if kind == 0 else reader.take({1: 8, 5: 4}.get(kind) or varint(reader))
        made.append([tag >> 3, kind, value])
    if encode(made) != message:
        raise RelocationError("a message would be written in a different form")
    return made


def varint(reader: Bytes) -> int:
    """Read the next number in groups of seven bits."""
    value = shift = 0
    while True:
        (octet,) = reader.take(1)
        value |= (octet & 0x7F) << shift
        shift += 7
        if octet < 0x80:
            return value


def encode(message: list[Field]) -> bytes:
    """Encode a message."""
    return b"".join(
        unsigned(number << 3 | kind)
        + (unsigned(value) if kind == 0 else (unsigned(len(value)) if kind == 2 else b"") + value)
        for number, kind, value in message
    )


def _all(message: list[Field], number: int) -> Iterator[Field]:
    return (field for field in message if field[0] == number)


def _number(message: list[Field], number: int) -> int:
    return next((field[2] for field in _all(message, number)), 0)


def _set(message: list[Field], number: int, value: int) -> None:
    for field in _all(message, number):
        field[2] = value


def _decompress(section: bytes, codec: int) -> bytes:
    if codec == NONE:
        return section
    made, at = [], 0
    while at < len(section):
        head = int.from_bytes(section[at : at + 3], "little")
        chunk = section[at + 3 : at + 3 + (head >> 1)]
        made.append(chunk if head & 1 else CODECS[codec][0](chunk))
        at += 3 + (head >> 1)
    return b"".join(made)


def _compress(data: bytes, codec: int) -> bytes:
    if codec == NONE or not data:
        return data
    if len(data) > CHUNK:
        raise RelocationError("a stream of several chunks")
    packed = CODECS[codec][1](data)
    head = len(packed) << 1 if len(packed) < len(data) else len(data) << 1 | 1
    return head.to_bytes(3, "little") + (data if head & 1 else packed)


def _lengths(values: list[int]) -> bytes:
    """Encode integers in direct runs of run-length encoding version 2, with 32 bits each."""
    made = []
    for start in range(0, len(values), 512):
        run = values[start : start + 512]
        code = 27  # the width of 32 bits
        made += [bytes([1 << 6 | code << 1 | (len(run) - 1) >> 8, (len(run) - 1) & 255])]
        made += [value.to_bytes(4, "big") for value in run]
    return b"".join(made)


def relocate(data: bytes, paths: Paths) -> tuple[bytes, dict[int, int]]:
    """Return the file with new locations, and the old and new size of the column's part of each stripe.

    Raises:
        RelocationError: the file is damaged, or has a form in which locations cannot be found.
    """
    try:
        return _File(data, paths).relocated()
    except (zlib.error, IndexError, ValueError) as error:
        raise RelocationError(str(error)) from None


class _File:
    """A file whose stripes are being rewritten."""

    def __init__(self, data: bytes, paths: Paths) -> None:
        self.paths = paths
        self.data = data
        if data[:3] != b"ORC":
            raise RelocationError("not an ORC file")
        end = len(data) - 1 - data[-1]
        self.postscript = fields(data[end:-1])
        self.codec = _number(self.postscript, 2)
        if self.codec not in CODECS:
            raise RelocationError(f"the compression {self.codec}")
        footer = end - _number(self.postscript, 1)
        metadata = footer - _number(self.postscript, 5)
        self.footer = fields(_decompress(data[footer:end], self.codec))
        self.metadata = fields(_decompress(data[metadata:footer], self.codec))
        self.sizes: dict[int, int] = {}
        self.grown = 0
        """The growth in bytes of the column on disk."""

    def relocated(self) -> tuple[bytes, dict[int, int]]:
        types = [fields(field[2]) for field in _all(self.footer, 4)]
        names = [field[2] for field in _all(types[0], 3)]
        if NAME not in names:
            return self.data, {}
        children = [field[2] for field in _all(types[0], 2)]
        if len(children) == 1 and len(names) > 1:  # packed
            reader, children = Bytes(children[0]), []
            while reader.at < len(reader.data):
                children.append(varint(reader))
        self.column = children[names.index(NAME)]
        before = self.data
        parts, place = [b"ORC"], 3
        for field in _all(self.footer, 3):
            stripe = fields(field[2])
            made = self._stripe(stripe)
            _set(stripe, 1, place)
            field[2] = encode(stripe)
            parts.append(made)
            place += len(made)
        for stripe_statistics in _all(self.metadata, 1):
            columns = fields(stripe_statistics[2])
            self._statistics(list(_all(columns, 1))[self.column], on_disk=False)
            stripe_statistics[2] = encode(columns)
        self._statistics(list(_all(self.footer, 7))[self.column], on_disk=True)
        _set(self.footer, 2, place - _number(self.footer, 1))
        metadata = _compress(encode(self.metadata), self.codec)
        footer = _compress(encode(self.footer), self.codec)
        _set(self.postscript, 1, len(footer))
        _set(self.postscript, 5, len(metadata))
        postscript = encode(self.postscript)
        made = b"".join((*parts, metadata, footer, postscript, bytes([len(postscript)])))
        return (made, self.sizes) if made != before else (before, {})

    def _stripe(self, stripe: list[Field]) -> bytes:
        offset, index, body, tail = (_number(stripe, number) for number in (1, 2, 3, 4))
        start = offset + index + body
        footer = fields(_decompress(self.data[start : start + tail], self.codec))
        encodings = [fields(field[2]) for field in _all(footer, 2)]
        encoding = _number(encodings[self.column], 1)
        if encoding not in (DIRECT_V2, DICTIONARY_V2):
            raise RelocationError(f"a column in the encoding {encoding}")
        streams, at = [], offset
        for field in _all(footer, 1):
            stream = fields(field[2])
            length = _number(stream, 3)
            streams.append((field, stream, self.data[at : at + length]))
            at += length
        texts = DATA if encoding == DIRECT_V2 else DICTIONARY
        own = {_number(stream, 1): raw for _, stream, raw in streams if _number(stream, 2) == self.column}
        count = _number(stripe, 5) if encoding == DIRECT_V2 else _number(encodings[self.column], 2)
        changed = self._texts(_decompress(own[texts], self.codec), _decompress(own[LENGTH], self.codec), count)
        made = {ROW_INDEX: self._index} if ROW_INDEX in own else {}
        new: dict[int, Callable[[bytes], bytes]] = {
            texts: lambda _: changed[0],
            LENGTH: lambda _: changed[1],
            **made,
        }
        parts, sizes = [], [0, 0]
        lengths = [0, 0]
        for field, stream, raw in streams:
            kind, after = _number(stream, 1), raw
            if _number(stream, 2) == self.column:
                if kind in new:
                    after = _compress(new[kind](_decompress(raw, self.codec)), self.codec)
                if kind < ROW_INDEX:
                    sizes[0] += len(raw)
                    sizes[1] += len(after)
            lengths[kind < ROW_INDEX] += len(after)
            _set(stream, 3, len(after))
            field[2] = encode(stream)
            parts.append(after)
        self.sizes[sizes[0]] = sizes[1]
        self.grown += sizes[1] - sizes[0]
        made_footer = _compress(encode(footer), self.codec)
        for number, value in ((2, lengths[0]), (3, lengths[1]), (4, len(made_footer))):
            _set(stripe, number, value)
        return b"".join((*parts, made_footer))

    def _texts(self, data: bytes, lengths: bytes, count: int) -> tuple[bytes, bytes]:
        texts, at = [], 0
        for length in decode_integers(lengths, count, signed=False).tolist():
            texts.append(self.paths.replace(data[at : at + length]))
            at += length
        if at != len(data):
            raise RelocationError("a stream of texts is longer than the sum of its lengths")
        return b"".join(texts), _lengths([len(text) for text in texts])

    def _index(self, data: bytes) -> bytes:
        index = fields(data)
        entries = list(_all(index, 1))
        if len(entries) > 1:
            raise RelocationError("a column of several groups of rows")
        for entry in entries:
            parts = fields(entry[2])
            for statistics in _all(parts, 2):
                self._statistics(statistics, on_disk=False)
            entry[2] = encode(parts)
        return encode(index)

    def _statistics(self, field: Field, *, on_disk: bool) -> None:
        """Rewrite the statistics of the column: minimum, maximum, and the sum of lengths."""
        statistics = fields(field[2])
        count = _number(statistics, 1)
        for strings in _all(statistics, 4):
            parts = fields(strings[2])
            more = {len(self.paths.replace(part[2])) - len(part[2]) for part in parts if part[0] in (1, 2, 4, 5)}
            if len(more) > 1:
                raise RelocationError("the texts of the column are not all locations in the folder")
            for part in parts:
                if part[0] in (1, 2, 4, 5):
                    part[2] = self.paths.replace(part[2])
                elif part[0] == 3:  # zigzag
                    part[2] += 2 * count * next(iter(more), 0)
            strings[2] = encode(parts)
        for disk in _all(statistics, 11):
            disk[2] += self.grown if on_disk else 0
        field[2] = encode(statistics)

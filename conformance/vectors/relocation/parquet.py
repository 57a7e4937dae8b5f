"""Rewrite locations in the column ``file_path`` of Parquet files (Apache Parquet, File Format).

The pages of the column are rewritten with their codec, as are the statistics; other pages are copied, and offsets are
adapted. Files without such a column are returned unchanged.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable

import cramjam

from conformance.vectors.relocation import thrift
from conformance.vectors.relocation.avro import RelocationError, long
from conformance.vectors.relocation.avro import ValueReader as Bytes
from conformance.vectors.relocation.orc import varint
from conformance.vectors.relocation.paths import Paths
from conformance.vectors.relocation.thrift import Struct
from spec_ref.encodings.zstandard import zstd

COLUMN = [b"file_path"]
FIELD_ID = 2147483546
PLAIN = 0
DELTA_LENGTH = 6
INDEXED = (2, 8)
"""The encodings of data pages with dictionary indexes, which stay unchanged."""

CODECS: dict[int, tuple[Callable[[bytes], bytes], Callable[[bytes], bytes]]] = {
    0: (bytes, bytes),
    1: (lambda data: bytes(cramjam.snappy.decompress_raw(data)), lambda data: bytes(cramjam.snappy.compress_raw(data))),
    2: (lambda data: zlib.decompress(data, 31), lambda data: zlib.compress(data, 9, 31)),
    6: (zstd.decompress, zstd.compress),
}


def relocate(data: bytes, paths: Paths) -> tuple[bytes, dict[int, int]]:
    """Return the file with new locations, and the old and new sizes of the column's chunks.

    Raises:
        RelocationError: the file is damaged, or has a form in which locations cannot be found.
    """
    if data[:4] != b"PAR1" or data[-4:] != b"PAR1":
        raise RelocationError("not a Parquet file")
    length = int.from_bytes(data[-8:-4], "little")
    footer, _ = thrift.read(data[-8 - length : -8])
    chunks = [chunk for group in footer[4] for chunk in group[1]]
    moved = [chunk for chunk in chunks if chunk[3][3] == COLUMN]
    elements = [element for element in footer[2] if element.get(4) == COLUMN[0] and element.get(9) == FIELD_ID]
    if not moved or not elements:
        return data, {}
    optional = elements[0].get(3) == 1
    rewriting = _Rewriting(data, paths, optional)
    sizes = {}
    for chunk in moved:
        before = chunk[3][7]
        rewriting.chunk(chunk)
        sizes[before] = chunk[3][7]
    for group in footer[4]:
        if 2 in group:
            group[2] += sum(rewriting.uncompressed.get(id(chunk), 0) for chunk in group[1])
        if 6 in group:
            group[6] = sum(chunk[3][7] for chunk in group[1])
    for chunk in moved:
        rewriting.indexes(chunk)
    rewriting.offsets(footer, chunks)
    for pair in footer.get(5, ()):
        if 2 in pair:
            pair[2] = paths.replace(pair[2])
    made = thrift.encode(footer)
    body = rewriting.body(len(data) - 8 - length)
    return body + made + len(made).to_bytes(4, "little") + b"PAR1", sizes


class _Rewriting:
    """The parts of a file that change, by their offset."""

    def __init__(self, data: bytes, paths: Paths, optional: bool) -> None:
        self.data = data
        self.paths = paths
        self.optional = optional
        self.parts: dict[int, tuple[int, bytes]] = {}
        """For the offset of each part, its length and its new bytes."""

        self.uncompressed: dict[int, int] = {}
        """For each chunk, its growth in bytes before compression."""

        self.pages: dict[int, int] = {}
        """For the offset of each page, its new length including its header."""

    def chunk(self, chunk: Struct) -> None:
        """Rewrite the pages of a column."""
        metadata = chunk[3]
        start = min(offset for offset in (metadata.get(11), metadata[9]) if offset)
        end = start + metadata[7]
        at, grown, more = start, 0, 0
        while at < end:
            header, length = thrift.read(self.data[at:end])
            body = self.data[at + length : at + length + header[3]]
            plain = CODECS[metadata[4]][0](body)
            changed = self._page(header, plain)
            after = length + len(body)
            if 5 in header and 5 in header[5]:
                self._statistics(header[5][5])
            packed = body
            if changed != plain:
                packed = CODECS[metadata[4]][1](changed)
                header[2], header[3] = len(changed), len(packed)
                if 4 in header:
                    crc = zlib.crc32(packed)
                    header[4] = crc - (1 << 32) if crc >> 31 else crc
            made = thrift.encode(header) + packed
            if made != self.data[at : at + after]:
                self.parts[at] = after, made
                grown += len(made) - after
                more += len(thrift.encode(header)) - length + len(changed) - len(plain)
            self.pages[at] = len(self.parts[at][1]) if at in self.parts else after
            at += after
        metadata[6] += more
        metadata[7] += grown
        self.uncompressed[id(chunk)] = more
        if 12 in metadata:
            self._statistics(metadata[12])

    def _page(self, header: Struct, data: bytes) -> bytes:
        """Return the content of a page with new locations."""
        if header[1] == 2:  # a dictionary page
            return self._texts(data)
        if header[1] != 0:
            raise RelocationError(f"a page of kind {header[1]}")
        encoding = header[5][2]
        if encoding in INDEXED:
            return data
        if encoding not in (PLAIN, DELTA_LENGTH):
            raise RelocationError(f"a page in the encoding {encoding}")
        levels = 4 + int.from_bytes(data[:4], "little") if self.optional else 0
        texts = self._texts if encoding == PLAIN else self._texts_after_lengths
        return data[:levels] + texts(data[levels:])

    def _texts(self, data: bytes) -> bytes:
        made, at = [], 0
        while at < len(data):
            length = int.from_bytes(data[at : at + 4], "little")
            text = self.paths.replace(data[at + 4 : at + 4 + length])
            made.append(len(text).to_bytes(4, "little") + text)
            at += 4 + length
        return b"".join(made)

    def _texts_after_lengths(self, data: bytes) -> bytes:
        """Rewrite the encoding DELTA_LENGTH_BYTE_ARRAY: the lengths of all texts as deltas, then the texts.

        Every text changes by the same number of bytes, so that only the first length changes.
        """
        reader = Bytes(data)
        block, miniblocks, count = varint(reader), varint(reader), varint(reader)
        before_first = reader.at
        first = reader.long()
        deltas = reader.at
        for start in range(1, count, block):
            reader.long()  # the least delta
            size = block // miniblocks
            for number, width in enumerate(reader.take(miniblocks)):
                if start + number * size < count:
                    reader.take(size * width // 8)
        texts = data[reader.at :]
        made = self.paths.replace(texts)
        growth = len(self.paths.new.encode()) - len(self.paths.old.encode())
        if len(made) - len(texts) != growth * count:
            raise RelocationError("some texts of a page have no location")
        return data[:before_first] + long(first + growth) + data[deltas : reader.at] + made

    def _statistics(self, statistics: Struct) -> None:
        for field in (1, 2, 5, 6):
            if field in statistics:
                if statistics[field] and statistics[field] not in self.paths:
                    raise RelocationError("a statistic is truncated within the folder")
                statistics[field] = self.paths.replace(statistics[field])

    def indexes(self, chunk: Struct) -> None:
        """Rewrite the page indexes of a chunk: the minimum and maximum of each page, and its offset."""
        if 6 in chunk:
            index, length = thrift.read(self.data[chunk[6] : chunk[6] + chunk[7]])
            for field in (2, 3):
                for place, value in enumerate(index[field]):
                    index[field][place] = self.paths.replace(value)
            made = thrift.encode(index)
            self.parts[chunk[6]] = length, made
            chunk[7] = len(made)

    def offsets(self, footer: Struct, chunks: list[Struct]) -> None:
        """Adapt all offsets, those in the page indexes first, as the indexes precede the footer."""
        for chunk in chunks:
            if 4 in chunk:
                index, length = thrift.read(self.data[chunk[4] : chunk[4] + chunk[5]])
                for page in index[1]:
                    page[2] = self.pages.get(page[1], page[2])
                    page[1] = self.moved(page[1])
                made = thrift.encode(index)
                self.parts[chunk[4]] = length, made
                chunk[5] = len(made)
        for chunk in chunks:
            metadata = chunk[3]
            for struct, fields in ((chunk, (2, 4, 6)), (metadata, (9, 10, 11, 14))):
                for field in fields:
                    if struct.get(field):
                        struct[field] = self.moved(struct[field])
        for group in footer[4]:
            if 5 in group:
                group[5] = self.moved(group[5])

    def moved(self, offset: int) -> int:
        """Return the new value of an offset."""
        return offset + sum(len(made) - length for start, (length, made) in self.parts.items() if start < offset)

    def body(self, end: int) -> bytes:
        """Return all bytes before the footer."""
        made, at = [], 0
        for start, (length, part) in sorted(self.parts.items()):
            made += [self.data[at:start], part]
            at = start + length
        return b"".join((*made, self.data[at:end]))

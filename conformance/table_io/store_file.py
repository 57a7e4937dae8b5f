"""Files of rows on stores, opened so that each byte is requested at most once, and only if it is read.

Each read from a store is a separate request, and different libraries read the schema, the statistics and the rows of a
file: each would request the footer again. The first request is for the end of the file; the answer has the size of the
file, too. The size in the manifest may be wrong, and is only used as a first guess of where the end is.
"""

from __future__ import annotations

from typing import Any, Protocol

from conformance.table_io.file_access import (
    convert_store_errors,
    open_input,
    s3_object,
    short_read_error,
    split_location,
)
from conformance.table_io.s3_requests import ObjectPart, S3Object
from spec_ref.encodings.random_access_bytes import MAX_IN_MEMORY, PART_SIZE, RandomAccessBytes
from spec_ref.manifests.data_file import FileFormat

END_BYTES = 1 << 16
"""The number of bytes at the end of a file that are read first; they contain the footers of most files."""

MAX_CACHED_BYTES = 8 << 20
"""Longer parts are not cached: this limits the cached end of a file, and the cached start."""

MAGIC_BYTES = 4
"""A read that begins within this many bytes of the start is extended to the start, whose bytes a check needs later."""


class Ranges(Protocol):
    """An interface to read ranges of an object, from any thread."""

    def read_range(self, start: int, stop: int) -> ObjectPart:
        """Read some bytes; fewer if the object ends before."""

    def read_end(self, count: int) -> ObjectPart:
        """Read the last bytes; all of a shorter object."""


class _NativeRanges:
    """Ranges of a file that pyarrow opened, for which it requested the size."""

    def __init__(self, file: Any) -> None:
        self._file = file
        self._size = int(file.size())

    def read_range(self, start: int, stop: int) -> ObjectPart:
        start, stop = min(start, self._size), min(stop, self._size)
        return ObjectPart(start, self._file.read_at(stop - start, start) if start < stop else b"", self._size)

    def read_end(self, count: int) -> ObjectPart:
        return self.read_range(max(self._size - count, 0), self._size)


def open_rows_file(
    location: str, file_format: FileFormat, length: int | None = None, source: S3Object | None = None
) -> Any:
    """Open a file of rows for random access: a local file with pyarrow, and one on a store as `StoreFile`.

    Args:
        location: the file.
        file_format: its format, which determines where reading begins.
        length: its size according to its manifest entry, if known.
        source: the object on a store, if the caller has opened it.

    Raises:
        FileAccessError: the file cannot be read; later reads may raise it, too, or OSError.
    """
    if split_location(location).scheme == "file":
        return open_input(location)
    ranges: Ranges = source or s3_object(location) or _NativeRanges(open_input(location))
    with convert_store_errors(location):
        return StoreFile(ranges, location, length=length, from_start=file_format is FileFormat.AVRO)


class StoreFile(RandomAccessBytes):
    """A file with a cached start and end: both a Python file object for pyarrow, and `RandomAccessBytes`."""

    def __init__(self, source: Ranges, location: str, *, length: int | None = None, from_start: bool = False) -> None:
        """Open a file, and request its end, or its start if the format has no footer.

        Args:
            source: reads its ranges.
            location: the file, for errors.
            length: its size according to its manifest entry, which may be wrong.
            from_start: whether the file is read from the start to the end.
        """
        self._source = source
        self._location = location
        self._at = 0
        self._beginning = b""
        self._end = b""
        self.closed = False
        known = length if length is not None and 0 < length < 1 << 50 else None
        if from_start:
            first = source.read_range(0, known if known is not None and known <= MAX_IN_MEMORY else PART_SIZE)
        elif known is None:
            first = source.read_end(END_BYTES)
        else:
            first = source.read_range(max(known - END_BYTES, 0), known)
        self._size = first.size
        if first.start + len(first.data) == first.size:
            self._end = first.data
        elif first.start == 0:
            self._beginning = first.data

    def size(self) -> int:
        """Return the size of the file in bytes."""
        return len(self)

    @property
    def start_is_known(self) -> bool:
        """Whether the first bytes can be read without a request."""
        return len(self._beginning) >= min(MAGIC_BYTES, len(self)) or len(self._end) == len(self)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = 0) -> int:
        self._at = offset + (0, self._at, len(self))[whence]
        return self._at

    def read(self, count: int | None = None) -> bytes:
        stop = len(self) if count is None or count < 0 else min(self._at + count, len(self))
        start, self._at = self._at, max(self._at, stop)
        return self._read(start, stop) if start < stop else b""

    def __enter__(self) -> StoreFile:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self.closed = True
        self._beginning = self._end = b""

    def _read(self, start: int, stop: int) -> bytes:
        if stop <= len(self._beginning):
            return self._beginning[start:stop]
        if not self._end and (len(self) <= END_BYTES or (stop == len(self) and stop - start <= END_BYTES)):
            self._end = self._request(max(len(self) - END_BYTES, 0), len(self))
        kept = len(self) - len(self._end)
        if start >= kept:
            return self._end[start - kept : stop - kept]
        first = 0 if start <= MAGIC_BYTES and not self._beginning else start
        read = self._request(first, min(stop, kept))
        if stop > kept:
            read += self._end
            if len(read) <= MAX_CACHED_BYTES:
                self._end = read
        if first == 0:
            self._beginning = read if stop <= kept and len(read) <= MAX_CACHED_BYTES else read[:MAGIC_BYTES]
        return read[start - first : stop - first]

    def _request(self, start: int, stop: int) -> bytes:
        part = self._source.read_range(start, stop)
        if part.start != start or len(part.data) != stop - start:
            raise short_read_error(self._location, len(part.data), stop - start)
        return part.data

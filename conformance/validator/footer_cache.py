"""A cache for the start and the end of a file, so that its footer is read once.

Each read from a store is a separate request, and the schema, the statistics and the rows of a file are read by
different libraries, each of which would request the footer again.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from conformance.table_io.file_access import open_input, short_read, split_location
from spec_ref.encodings.random_access_bytes import RandomAccessBytes

END = 1 << 16
"""How many bytes of the end are read first: they contain the footers of most files."""

MOST_KEPT = 8 << 20
"""Longer parts are not cached: this limits the cached end of a file, and the cached start."""


def open_with_cache(location: str) -> Any:
    """Open a file for random access; the start and the end of a file on a store are cached.

    Raises:
        FileAccessError: the file cannot be read; later reads may raise it too.
    """
    file = open_input(location)
    return file if split_location(location).scheme == "file" else CachedEnds(file, location)


class CachedEnds(RandomAccessBytes):
    """A file with a cached start and end: both a Python file object for pyarrow, and `RandomAccessBytes`."""

    def __init__(self, file: pa.NativeFile, location: str) -> None:
        super().__init__(file)
        self._location = location
        self._at = 0
        self._beginning = b""
        self._end = b""
        self.closed = False

    def size(self) -> int:
        """Return the size of the file in bytes."""
        return len(self)

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

    def close(self) -> None:
        self.closed = True
        self._beginning = self._end = b""
        self._file.close()

    def _read(self, start: int, stop: int) -> bytes:
        if stop <= len(self._beginning):
            return self._beginning[start:stop]
        if not self._end and (len(self) <= END or (stop == len(self) and stop - start <= END)):
            self._end = self._request(max(len(self) - END, 0), len(self))
        kept = len(self) - len(self._end)
        if start >= kept:
            return self._end[start - kept : stop - kept]
        if stop <= kept:
            read = self._request(start, stop)
            if start == 0 and len(read) <= MOST_KEPT:
                self._beginning = read
            return read
        read = self._request(start, kept) + self._end
        if len(read) <= MOST_KEPT:
            self._end = read
        return read[: stop - start]

    def _request(self, start: int, stop: int) -> bytes:
        self._file.seek(start)
        read: bytes = self._file.read(stop - start)
        if len(read) != stop - start:
            raise short_read(self._location, len(read), stop - start)
        return read

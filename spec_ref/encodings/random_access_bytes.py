"""The bytes of a file that is not held in memory as a whole (Appendix A): parts are read on demand and cached."""

from __future__ import annotations

from typing import Any, TypeAlias, overload

MAX_IN_MEMORY = 64 << 20
"""The maximum number of bytes of a file that is held in memory as a whole, so that no part is read again."""

PART_SIZE = 1 << 20
"""The number of bytes that are read at once, unless more are requested."""


class RandomAccessBytes:
    """The bytes of a seekable file opened for reading: they have a length, and can be indexed and sliced."""

    def __init__(self, file: Any) -> None:
        self._file = file
        self._size = int(file.seek(0, 2))
        self._start = 0
        self._part = b""

    def __len__(self) -> int:
        return self._size

    @overload
    def __getitem__(self, place: int) -> int: ...

    @overload
    def __getitem__(self, place: slice) -> bytes: ...

    def __getitem__(self, place: int | slice) -> int | bytes:
        if isinstance(place, slice):
            start, stop, _ = place.indices(self._size)
            return self._read(start, max(start, stop))
        at = place + self._size if place < 0 else place
        if not 0 <= at < self._size:
            raise IndexError(place)
        return self._read(at, at + 1)[0]

    def _read(self, start: int, stop: int) -> bytes:
        at = start - self._start
        if at < 0 or stop > self._start + len(self._part):
            self._file.seek(start)
            read = self._file.read(max(stop - start, min(PART_SIZE, self._size - start)))
            if stop - start > PART_SIZE:  # a large part is read once and not cached
                return bytes(read[: stop - start])
            self._start, self._part, at = start, read, 0
        return self._part[at : at + stop - start]


ByteSource: TypeAlias = bytes | RandomAccessBytes
"""The content of a file, in memory or not."""


def open_source(file: Any) -> ByteSource:
    """Open the content of a file.

    Args:
        file: a seekable binary file object.

    Returns:
        Its bytes if there are at most `MAX_IN_MEMORY`, otherwise an object that reads them on demand.
    """
    size = file.seek(0, 2)
    file.seek(0)
    return file.read() if size <= MAX_IN_MEMORY else RandomAccessBytes(file)

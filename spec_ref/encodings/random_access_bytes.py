"""A file as bytes that are not all held (Appendix A): what is asked for is read, and a part around it is kept."""

from __future__ import annotations

from typing import Any, TypeAlias, overload

WHOLE = 64 << 20
"""Files of up to this size are held whole, which saves reads of what is looked at again."""

PART = 1 << 20
"""How much is read at once, unless more is asked for."""


class RandomAccessBytes:
    """The bytes of a file that is opened for reading and can seek: it has a length, and is indexed and sliced."""

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
            read = self._file.read(max(stop - start, min(PART, self._size - start)))
            if stop - start > PART:  # once is enough of something large
                return bytes(read[: stop - start])
            self._start, self._part, at = start, read, 0
        return self._part[at : at + stop - start]


Source: TypeAlias = bytes | RandomAccessBytes
"""The content of a file, held or not."""


def source_of(file: Any) -> Source:
    """The content of an opened file."""
    size = file.seek(0, 2)
    file.seek(0)
    return file.read() if size <= WHOLE else RandomAccessBytes(file)

"""Outputs that a library writes to, which know the ends of what passes through them (Appendix A).

A file is written from its beginning to its end and never read again, as object stores have it. So what a library leaves
out of a footer is put in before the footer is passed on, and what is to be told of the file is remembered.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import Any, overload

from spec_ref.core.errors import violation


class DeferredSink:
    """Passes on what is written to it, until it is told to hold what comes."""

    closed = False

    def __init__(self, out: Any) -> None:
        self._out = out
        self._passed = int(out.tell())
        self._held: bytearray | None = None

    def write(self, data: Any) -> int:
        """Pass bytes on, or hold them."""
        if self._held is None:
            self._out.write(data)
            self._passed += len(data)
        else:
            self._held += data
        return len(data)

    def tell(self) -> int:
        """The position in the file, what is held included."""
        return self._passed + len(self._held or b"")

    def hold(self) -> None:
        """Pass nothing more on, until what is held is taken."""
        self._held = bytearray()

    def taken(self) -> bytes:
        """What is held, which is held no more; what comes then is passed on."""
        held, self._held = bytes(self._held or b""), None
        return held

    def flush(self) -> None:
        """Do nothing: the output is that of the caller."""

    def close(self) -> None:
        """Do nothing: the output is closed by the caller."""


class TailRecordingSink(DeferredSink):
    """Remembers besides the last bytes before each of some places, to look at when the whole is known.

    Args:
        out: where to.
        length: how many bytes before a place are remembered.
    """

    def __init__(self, out: Any, length: int) -> None:
        super().__init__(out)
        self._length = length
        self._last = b""
        self.parts: list[tuple[int, bytes]] = []
        """The parts that are remembered, with their starts."""

    def write(self, data: Any) -> int:
        """Pass bytes on, or hold them."""
        self._last = (self._last + bytes(data[-self._length :]))[-self._length :]
        return super().write(data)

    def remember(self) -> None:
        """The position is a place."""
        self.parts.append((self.tell() - len(self._last), self._last))


class KnownParts:
    """A file of which only some parts are known: it has a length and is sliced, as if it were bytes.

    Args:
        parts: the starts and contents, sorted; the last one is the end of the file.

    Raises:
        SpecError: ORC008, when something else is asked for.
    """

    def __init__(self, parts: list[tuple[int, bytes]]) -> None:
        self._parts = parts
        self._starts = [start for start, _ in parts]

    def __len__(self) -> int:
        start, data = self._parts[-1]
        return start + len(data)

    @overload
    def __getitem__(self, place: int) -> int: ...

    @overload
    def __getitem__(self, place: slice) -> bytes: ...

    def __getitem__(self, place: int | slice) -> int | bytes:
        if not isinstance(place, slice):
            at = place + len(self) if place < 0 else place
            return self[at : at + 1][0]
        start, stop, _ = place.indices(len(self))
        found = bisect_right(self._starts, start) - 1
        if found >= 0:
            first, data = self._parts[found]
            if stop <= first + len(data):
                return data[start - first : stop - first]
        raise violation("ORC008", "a part of the file is not known any more", found=f"{start} to {stop}")

"""Outputs for a library that record the end of what is written, or keep it until it is released (Appendix A).

A file is written from beginning to end and never read again, as object stores require. So what a library omits from a
footer is added before the footer is written, and what is needed from the file later is recorded.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import Any, overload

from spec_ref.core.errors import Description, spec_error


class DeferredSink:
    """Writes bytes to an output; after `hold_back`, keeps them until `release`."""

    closed = False

    def __init__(self, out: Any) -> None:
        self._out = out
        self._passed = int(out.tell())
        self._held: bytearray | None = None

    def write(self, data: Any) -> int:
        """Write bytes to the output, or keep them for `release`.

        Args:
            data: the bytes.

        Returns:
            The number of bytes.
        """
        if self._held is None:
            self._out.write(data)
            self._passed += len(data)
        else:
            self._held += data
        return len(data)

    def tell(self) -> int:
        """Return the position in the file in bytes, including the bytes that are kept for `release`."""
        return self._passed + len(self._held or b"")

    def hold_back(self) -> None:
        """Keep the bytes of later writes until `release` is called."""
        self._held = bytearray()

    def release(self) -> bytes:
        """Return the kept bytes; later ones are written to the output."""
        held, self._held = bytes(self._held or b""), None
        return held

    def flush(self) -> None:
        """Do nothing: the output belongs to the caller."""

    def close(self) -> None:
        """Do nothing: the caller closes the output."""


class TailRecordingSink(DeferredSink):
    """A sink that also records the last bytes before some positions, to be read when the file is complete.

    Args:
        out: the output.
        length: how many bytes before a position are recorded.
    """

    def __init__(self, out: Any, length: int) -> None:
        super().__init__(out)
        self._length = length
        self._last = b""
        self.parts: list[tuple[int, bytes]] = []
        """The recorded parts, each with its offset in the file."""

    def write(self, data: Any) -> int:
        """Write bytes to the output, or keep them for `release`.

        Args:
            data: the bytes.

        Returns:
            The number of bytes.
        """
        self._last = (self._last + bytes(data[-self._length :]))[-self._length :]
        return super().write(data)

    def record_tail(self) -> None:
        """Record the bytes before the current position."""
        self.parts.append((self.tell() - len(self._last), self._last))


class PartialFile:
    """A file with only some parts known; it has a length and can be sliced like bytes.

    Args:
        parts: the offset and the content of each part, in order; the last part is the end of the file.

    Raises:
        SpecError: ORC008 if an unknown part is read.
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
        raise spec_error("ORC008", "a part of the file was not recorded", found=Description(f"{start} to {stop}"))

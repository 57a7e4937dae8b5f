"""What writers share while they race, in memory, and what can go wrong in between.

It is a value: each step makes another one. Contents of files are the objects that writers wrote.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Any

from attrs import evolve, frozen

from spec_ref.commits.effects import Swap
from spec_ref.commits.tables import FileSystemTable, Table, next_version


class Fault(enum.Enum):
    """What can happen to a step."""

    CRASH = "crash"
    """The writer ends before the step."""

    STALE = "stale"
    """The pointer is read as it was before the last swap."""

    LOST_REPLY = "lost-reply"
    """The swap is done, if it can be, and no answer comes."""

    LOST_REQUEST = "lost-request"
    """The swap never arrives, and no answer comes."""

    DUPLICATE = "duplicate"
    """The swap arrives twice, and the answer to the second comes."""

    LATE = "late"
    """No answer comes, and the swap arrives later, at any time or never."""


@frozen
class Placed:
    """A metadata file that became the table's."""

    location: str
    """Where the pointer leads now."""

    written: str
    """Where the writer wrote it."""

    writer: int
    """Who swapped it in; -1 for the table as the race finds it."""


@frozen
class SharedState:
    """The pointer with its history, and the files."""

    table: Table
    history: tuple[Placed, ...]
    """Every metadata file that was the table's, the present one last."""

    files: Mapping[str, Any]
    """Contents by path; None for data files, which nobody reads."""

    late: tuple[tuple[int, str | None, str], ...] = ()
    """Swaps on their way: writer, expected and new location."""

    @property
    def pointer(self) -> str | None:
        """Where the table's metadata is."""
        return self.history[-1].location if self.history else None

    @property
    def stale_pointer(self) -> str | None:
        """Where it was before."""
        return self.history[-2].location if len(self.history) > 1 else self.pointer

    def swapped(self, writer: int, expected: str | None, new: str) -> tuple[SharedState, Swap]:
        """The shared state after a swap, and the answer."""
        if isinstance(self.table, FileSystemTable):
            target = next_version(expected, new)
            if expected != self.pointer or target in self.files or new not in self.files:
                return self, Swap.REFUSED
            files = dict(self.files)
            files[target] = files.pop(new)
            placed = Placed(target, new, writer)
            return evolve(self, history=(*self.history, placed), files=files), Swap.DONE
        if self.pointer != expected:
            return self, Swap.REFUSED
        return evolve(self, history=(*self.history, Placed(new, new, writer))), Swap.DONE

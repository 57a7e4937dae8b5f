"""The state in memory that writers of a race share, and the faults that can occur.

The state is immutable: each step makes a new one. Contents of files are the objects that writers wrote.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Any

from attrs import evolve, frozen

from spec_ref.commits.effects import SwapResult
from spec_ref.commits.tables import FileSystemTable, TableKind, next_version


class Fault(enum.Enum):
    """A fault that can occur in a step."""

    CRASH = "crash"
    """The writer ends before the step."""

    STALE = "stale"
    """A read of the pointer returns its value before the last swap."""

    LOST_REPLY = "lost-reply"
    """The swap is done if possible, but the writer gets no answer."""

    LOST_REQUEST = "lost-request"
    """The swap never arrives, and the writer gets no answer."""

    DUPLICATE = "duplicate"
    """The swap arrives twice, and the writer gets the answer to the second."""

    LATE = "late"
    """The writer gets no answer; the swap arrives at any later time, or never."""


@frozen
class CommittedMetadata:
    """A metadata file that became the table's."""

    location: str
    """The location to which the pointer leads."""

    written: str
    """The location to which the writer wrote it."""

    writer: int
    """The writer that made this metadata current; -1 for the initial table."""


@frozen
class SharedState:
    """The pointer with its history, and the files."""

    table: TableKind
    history: tuple[CommittedMetadata, ...]
    """Every metadata file that was current, the latest one last."""

    files: Mapping[str, Any]
    """The contents of files by path; None for data files, which are never read."""

    delayed_swaps: tuple[tuple[int, str | None, str], ...] = ()
    """Delayed swaps: writer, expected and new location."""

    @property
    def pointer(self) -> str | None:
        """The location of the current metadata file."""
        return self.history[-1].location if self.history else None

    @property
    def previous_pointer(self) -> str | None:
        """The location of the previous metadata file."""
        return self.history[-2].location if len(self.history) > 1 else self.pointer

    def swap(self, writer: int, expected: str | None, new: str) -> tuple[SharedState, SwapResult]:
        """Return the shared state after a swap, and the answer to the swap."""
        if isinstance(self.table, FileSystemTable):
            target = next_version(expected, new)
            if expected != self.pointer or target in self.files or new not in self.files:
                return self, SwapResult.REFUSED
            files = dict(self.files)
            files[target] = files.pop(new)
            placed = CommittedMetadata(target, new, writer)
            return evolve(self, history=(*self.history, placed), files=files), SwapResult.DONE
        if self.pointer != expected:
            return self, SwapResult.REFUSED
        return evolve(self, history=(*self.history, CommittedMetadata(new, new, writer))), SwapResult.DONE

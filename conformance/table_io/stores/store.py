"""What a store has to do for a commit."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Protocol

from spec_ref.commits.effects import Swap
from spec_ref.commits.tables import Table


class Store(Protocol):
    """The files of one table, and the pointer to its metadata."""

    @property
    def table(self) -> Table:
        """The kind of table."""

    def read_pointer(self) -> str | None:
        """The location of the table's metadata file; None where there is no table."""

    def swap_pointer(self, expected: str | None, new: str) -> Swap:
        """Set the pointer to a new metadata file where it is at the expected one, atomically."""

    def read(self, path: str) -> bytes | None:
        """The content of a file; None where there is none."""

    def write(self, path: str, data: bytes) -> None:
        """Write a file that nobody else writes; it is whole, or not there."""

    def delete(self, path: str) -> None:
        """Delete a file, if it is there."""

    def close(self) -> None:
        """Let go of connections."""

    def turn(self) -> AbstractContextManager[object]:
        """A turn at the table, from reading the pointer to swapping it.

        Nothing depends on it: whoever has no turn may commit too, and the swap decides. It keeps writers that know each
        other from working on the same version, of which all but one would work in vain.
        """

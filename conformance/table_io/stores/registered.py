"""A table whose pointer is in memory, starting at one of its metadata files."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

from conformance.table_io.stores.local_files import LocalFiles
from spec_ref.commits import MetastoreTable
from spec_ref.commits.effects import Swap


class RegisteredTable(LocalFiles):
    """A metastore table of this process: commits write files, but the pointer is not kept.

    Args:
        location: the first metadata file; None for a table that is to be created.
    """

    table = MetastoreTable()

    def __init__(self, location: str | None = None) -> None:
        self._pointer = location

    def read_pointer(self) -> str | None:
        """Return the metadata file of the last commit."""
        return self._pointer

    def swap_pointer(self, expected: str | None, new: str) -> Swap:
        """Set the pointer if it is at the expected file."""
        if expected != self._pointer:
            return Swap.REFUSED
        self._pointer = new
        return Swap.DONE

    def close(self) -> None:
        """Do nothing, as there are no connections."""

    def turn(self) -> AbstractContextManager[object]:
        """Return no lock, as the table has one user."""
        return nullcontext()

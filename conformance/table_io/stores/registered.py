"""A table whose pointer is in the memory of this process, and leads to a given metadata file at first."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

from conformance.table_io.stores.local_files import LocalFiles
from spec_ref.commits import MetastoreTable
from spec_ref.commits.effects import SwapResult


class RegisteredTable(LocalFiles):
    """A metastore table of this process: commits write files, and the pointer is lost when the process ends.

    Args:
        location: the current metadata file; None for a new table.
    """

    table = MetastoreTable()

    def __init__(self, location: str | None = None) -> None:
        self._pointer = location

    def read_pointer(self) -> str | None:
        """Return the metadata file of the last commit."""
        return self._pointer

    def swap_pointer(self, expected: str | None, new: str) -> SwapResult:
        """Set the pointer to a new file if it is at the expected one."""
        if expected != self._pointer:
            return SwapResult.REFUSED
        self._pointer = new
        return SwapResult.DONE

    def close(self) -> None:
        """Do nothing, as there are no connections."""

    def commit_lock(self) -> AbstractContextManager[object]:
        """Return a lock that does nothing, as only this process has the table."""
        return nullcontext()

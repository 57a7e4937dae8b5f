"""A table by one of its metadata files, with the pointer in memory: a catalog that lasts as long as its user."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

from conformance.table_io.stores.local_files import LocalFiles
from spec_ref.commits import MetastoreTable
from spec_ref.commits.effects import Swap


class RegisteredTable(LocalFiles):
    """A metastore table that nobody else knows of: what is committed is in files, and the pointer is forgotten.

    Args:
        location: the metadata file that the pointer is at first; None for a table that is to be made.
    """

    table = MetastoreTable()

    def __init__(self, location: str | None = None) -> None:
        self._pointer = location

    def read_pointer(self) -> str | None:
        """The metadata file of the last commit."""
        return self._pointer

    def swap_pointer(self, expected: str | None, new: str) -> Swap:
        """Set the pointer where it is at the expected file."""
        if expected != self._pointer:
            return Swap.REFUSED
        self._pointer = new
        return Swap.DONE

    def close(self) -> None:
        """Nothing: there are no connections."""

    def turn(self) -> AbstractContextManager[object]:
        """A turn at the table, which has one user."""
        return nullcontext()

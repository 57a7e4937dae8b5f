"""The interface of a store for commits."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Protocol

from spec_ref.commits.effects import SwapResult
from spec_ref.commits.tables import TableKind


class Store(Protocol):
    """The files of one table, and the pointer to its metadata."""

    @property
    def table(self) -> TableKind:
        """The kind of table."""

    def read_pointer(self) -> str | None:
        """Return the location of the table's metadata file; None if there is no table."""

    def swap_pointer(self, expected: str | None, new: str) -> SwapResult:
        """Set the pointer to a new metadata file if it is at the expected one, atomically."""

    def read(self, path: str) -> bytes | None:
        """Return the content of a file; None if it does not exist."""

    def write(self, path: str, data: bytes) -> None:
        """Write a file that nobody else writes; readers see the whole file or none."""

    def delete(self, path: str) -> None:
        """Delete a file, if it exists."""

    def close(self) -> None:
        """Close connections."""

    def commit_lock(self) -> AbstractContextManager[object]:
        """Return an advisory lock on the table, to be held from reading the pointer to swapping it.

        Correctness does not depend on the lock: writers without it may commit, too, as the swap is atomic. The lock
        only keeps writers from working on the same version, of which only one would succeed.
        """

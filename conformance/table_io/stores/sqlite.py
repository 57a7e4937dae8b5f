"""Metastore tables on SQLite, the database that comes with Python."""

from __future__ import annotations

import sqlite3
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from conformance.table_io.stores.file_lock import hold_file_lock
from conformance.table_io.stores.sql import SqlStore, TableName

BUSY_S = 30.0
"""How many seconds a statement waits for other writers of the file."""


class SqliteDatabase:
    """A SQLite file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        is_new = not path.exists() or not path.stat().st_size
        self._connection = sqlite3.connect(path, timeout=BUSY_S, isolation_level=None)
        if is_new:
            # A write-ahead log syncs the disk once for each commit, where a rollback journal does so several
            # times. It is a property of the file, which every engine respects.
            self._connection.execute("PRAGMA journal_mode = WAL")

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def query(self, sql: str, values: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        """Return the rows of a query."""
        return self._connection.execute(sql, values).fetchall()

    def change(self, sql: str, values: tuple[Any, ...] = ()) -> int | None:
        """Change rows, and return their number, which is always known: a statement is a transaction."""
        return self._connection.execute(sql, values).rowcount


class SqliteStore(SqlStore):
    """A table whose pointer is in a SQLite file."""

    def __init__(self, path: Path, name: TableName) -> None:
        self.path = path
        super().__init__(SqliteDatabase(path), name)

    def commit_lock(self) -> AbstractContextManager[object]:
        """Return a lock between the processes of this machine."""
        return hold_file_lock(f"{self.path.resolve()}/{'/'.join(self.name.key)}")

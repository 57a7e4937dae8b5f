"""Metastore tables on PostgreSQL, by psycopg."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import Any

import psycopg

from conformance.table_io.stores import file_lock
from conformance.table_io.stores.sql import SqlStore, TableName


class PostgresDatabase:
    """A connection to PostgreSQL, which is opened again after it was lost."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._connection: psycopg.Connection[Any] | None = None

    def connection(self) -> psycopg.Connection[Any]:
        """Return the connection."""
        if self._connection is None or self._connection.closed:
            self._connection = psycopg.connect(self.url, autocommit=True)
        return self._connection

    def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._connection.close()

    def query(self, sql: str, values: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        """Return the rows of a query."""
        return self.connection().execute(sql.replace("?", "%s"), values).fetchall()

    def change(self, sql: str, values: tuple[Any, ...] = ()) -> int | None:
        """Change rows and return their number; None if the connection was lost before the answer."""
        connection = self.connection()
        try:
            return connection.execute(sql.replace("?", "%s"), values).rowcount
        except psycopg.errors.UniqueViolation:
            return 0  # two sessions created the tables of the catalog at the same time
        except psycopg.OperationalError:
            connection.close()
            return None


class PostgresStore(SqlStore):
    """A table whose pointer is in a PostgreSQL database."""

    def __init__(self, url: str, name: TableName) -> None:
        self.database = PostgresDatabase(url)
        super().__init__(self.database, name)

    def commit_lock(self) -> AbstractContextManager[object]:
        """Return an advisory lock between all sessions of the database; the end of a session releases it."""
        return self._hold_lock(
            int.from_bytes(hashlib.sha256("/".join(self.name.key).encode()).digest()[:8], signed=True)
        )

    @contextmanager
    def _hold_lock(self, key: int) -> Iterator[None]:
        connection = self.database.connection()
        taken = False
        try:
            connection.execute(f"SET lock_timeout = {int(file_lock.MAX_WAIT_S * 1000)}")
            connection.execute("SELECT pg_advisory_lock(%s)", (key,))
            taken = True
        except psycopg.errors.LockNotAvailable:
            pass
        try:
            yield
        finally:
            if taken:
                with suppress(psycopg.OperationalError):
                    connection.execute("SELECT pg_advisory_unlock(%s)", (key,))

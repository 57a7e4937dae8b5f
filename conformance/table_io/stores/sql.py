"""Metastore tables whose pointer is a row of a database, as in Iceberg's JDBC and SQL catalogs (Metastore Tables)."""

from __future__ import annotations

from typing import Any, Protocol

from conformance.table_io.stores.local_files import LocalFiles
from spec_ref.commits import MetastoreTable
from spec_ref.commits.effects import SwapResult
from spec_ref.core.records import record

CREATE = """CREATE TABLE IF NOT EXISTS iceberg_tables (
    catalog_name VARCHAR(255) NOT NULL,
    table_namespace VARCHAR(255) NOT NULL,
    table_name VARCHAR(255) NOT NULL,
    metadata_location VARCHAR(1000),
    previous_metadata_location VARCHAR(1000),
    iceberg_type VARCHAR(5),
    PRIMARY KEY (catalog_name, table_namespace, table_name)
)"""
"""The database table that Iceberg-Java and PyIceberg create, too, so that all can share a catalog."""

CREATE_NAMESPACES = """CREATE TABLE IF NOT EXISTS iceberg_namespace_properties (
    catalog_name VARCHAR(255) NOT NULL,
    namespace VARCHAR(255) NOT NULL,
    property_key VARCHAR(255) NOT NULL,
    property_value VARCHAR(1000) NOT NULL,
    PRIMARY KEY (catalog_name, namespace, property_key)
)"""

WHERE = "catalog_name = ? AND table_namespace = ? AND table_name = ?"
SELECT = f"SELECT metadata_location FROM iceberg_tables WHERE {WHERE}"  # noqa: S608
UPDATE = (
    "UPDATE iceberg_tables SET metadata_location = ?, previous_metadata_location = ? "  # noqa: S608
    f"WHERE {WHERE} AND metadata_location = ?"
)
INSERT = (
    "INSERT INTO iceberg_tables (catalog_name, table_namespace, table_name, metadata_location, iceberg_type) "
    "VALUES (?, ?, ?, ?, 'TABLE') ON CONFLICT DO NOTHING"
)
ADD_NAMESPACE = (
    "INSERT INTO iceberg_namespace_properties (catalog_name, namespace, property_key, property_value) "
    "VALUES (?, ?, 'exists', 'true') ON CONFLICT DO NOTHING"
)


@record
class TableName:
    """The key of a table's row."""

    name: str = "table"
    namespace: str = "default"
    catalog: str = "conformance"

    @property
    def key(self) -> tuple[str, str, str]:
        """The values of the primary key, in order."""
        return self.catalog, self.namespace, self.name


class Database(Protocol):
    """A connection in which each statement is a separate transaction."""

    def close(self) -> None:
        """Close the connection."""

    def query(self, sql: str, values: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        """Return the rows of a query."""

    def change(self, sql: str, values: tuple[Any, ...] = ()) -> int | None:
        """Change rows and commit; return their number, or None if there is no answer and the result is unknown."""


class SqlStore(LocalFiles):
    """A table whose pointer is in a database.

    Args:
        database: the database.
        name: the table's row.
    """

    table = MetastoreTable()

    def __init__(self, database: Database, name: TableName) -> None:
        self._database = database
        self.name = name
        database.change(CREATE)
        database.change(CREATE_NAMESPACES)
        database.change(ADD_NAMESPACE, (name.catalog, name.namespace))

    def close(self) -> None:
        """Close the connection."""
        self._database.close()

    def read_pointer(self) -> str | None:
        """Return the location in the row; None if there is no row."""
        rows = self._database.query(SELECT, self.name.key)
        return rows[0][0] if rows else None

    def swap_pointer(self, expected: str | None, new: str) -> SwapResult:
        """Change the row if it has the expected location, in one statement."""
        if expected is None:
            changed = self._database.change(INSERT, (*self.name.key, new))
        else:
            changed = self._database.change(UPDATE, (new, expected, *self.name.key, expected))
        if changed is None:
            return SwapResult.UNKNOWN
        return SwapResult.DONE if changed == 1 else SwapResult.REFUSED

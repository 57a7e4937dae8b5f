"""The PyIceberg client: commits by PyIceberg to a catalog from its configuration. Runs in PyIceberg's environment."""

from __future__ import annotations

import importlib
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

import pyarrow as pa
import pyiceberg
from pyiceberg.catalog import Catalog, load_catalog
from pyiceberg.exceptions import (
    CommitFailedException,
    CommitStateUnknownException,
    NamespaceAlreadyExistsError,
    NoSuchTableError,
)
from pyiceberg.expressions import EqualTo
from pyiceberg.schema import Schema
from pyiceberg.types import IntegerType, LongType, NestedField

from conformance.races.stress.journal import MAYBE, REFUSED, Entry
from conformance.races.stress.writers import ROWS, Work, column_name, writer_property

for _name in ("rest", "sql", "hive", "glue"):
    with suppress(ImportError):  # imported once, before writers are forked; a missing module is reported on use
        importlib.import_module(f"pyiceberg.catalog.{_name}")
importlib.import_module("pyiceberg.io.pyarrow")

PROPERTIES = {
    "commit.retry.num-retries": "10",
    "commit.retry.min-wait-ms": "10",
    "commit.retry.max-wait-ms": "500",
    "write.metadata.previous-versions-max": "100000",
}


class PyIcebergClient:
    """Commits through PyIceberg."""

    kinds: tuple[str, ...] = ()

    def __init__(self, plan: Work) -> None:
        self.plan = plan
        self._catalog: Catalog | None = None

    @property
    def catalog(self) -> Catalog:
        """The catalog; connects on first use."""
        if self._catalog is None:
            self._catalog = load_catalog(self.plan.catalog, **self.plan.properties)
        return self._catalog

    def create(self) -> Entry:
        """Create the table, and its namespace if it does not exist."""
        if not self.plan.allow_remote and (host := remote_host(self.catalog.properties)):
            raise ValueError(f"the catalog is on a different machine, {host}; use --allow-remote to allow it")
        namespace = self.plan.table.rpartition(".")[0]
        with suppress(NamespaceAlreadyExistsError):
            self.catalog.create_namespace(namespace)
        schema = Schema(
            NestedField(1, "op", LongType(), required=False), NestedField(2, "n", IntegerType(), required=False)
        )
        properties = {**PROPERTIES, "format-version": str(self.plan.version)}
        self.catalog.create_table(
            self.plan.table, schema=schema, location=self.plan.location or None, properties=properties
        )
        return {
            "client": f"PyIceberg {pyiceberg.__version__} (its own commits, {type(self.catalog).__name__})",
            "commits": 1,
        }

    def locate(self) -> str | None:
        """Return the location of the current metadata file."""
        try:
            return str(self.catalog.load_table(self.plan.table).metadata_location)
        except NoSuchTableError:
            return None

    def drop(self) -> None:
        """Remove the table from the catalog."""
        self.catalog.drop_table(self.plan.table)

    def commit(self, entry: Entry) -> None:
        """Run an operation."""
        table = self.catalog.load_table(self.plan.table)
        match entry["kind"]:
            case "append":
                table.append(rows(entry["op"]))
            case "delete":
                table.delete(EqualTo("op", entry["old"]))
            case "overwrite":
                table.overwrite(rows(entry["op"]), overwrite_filter=EqualTo("op", entry["old"]))
            case "property":
                with table.transaction() as transaction:
                    transaction.set_properties({writer_property(entry["writer"]): str(entry["number"])})
            case "column":
                with table.update_schema() as update:
                    update.add_column(column_name(entry["writer"], entry["number"]), IntegerType())

    def outcome(self, error: Exception) -> str:
        """Return the outcome that an error means."""
        known = isinstance(error, CommitFailedException) and not isinstance(error, CommitStateUnknownException)
        return REFUSED if known else MAYBE

    def observe(self) -> Entry:
        """Observe the table."""
        metadata = self.catalog.load_table(self.plan.table).metadata
        return {
            "sequence": getattr(metadata, "last_sequence_number", 0),
            "properties": {k: v for k, v in metadata.properties.items() if k.startswith("stress.")},
            "columns": metadata.schema().column_names,
        }

    def contradictions(self) -> list[str]:
        """Return nothing, as PyIceberg does not notice contradictions."""
        return []


def remote_host(properties: dict[str, str]) -> str | None:
    """Return the host of a catalog that is not on this machine.

    Args:
        properties: the properties of the catalog, including the configuration.

    Returns:
        The host, or AWS for Glue without an endpoint; None for a catalog on this machine.
    """
    if properties.get("type") == "glue" and "glue.endpoint" not in properties:
        return "AWS"
    for address in (properties.get("glue.endpoint") or properties.get("uri") or "").split(","):
        host = urlsplit(address).hostname
        if host not in (None, "127.0.0.1", "localhost", "::1"):
            return host
    return None


def rows(op: int) -> Any:
    """Return the rows of an operation."""
    return pa.table({"op": pa.array([op] * ROWS, pa.int64()), "n": pa.array(range(ROWS), pa.int32())})

"""Run scripts with Iceberg-Java: its API, its generic writers, and Spark's SQL for operations that have a statement.

The Java program performs each operation (``ScriptOperations``); here a script is divided into operations, and its
statements are written. Spark plans no equality deletes, and does not support some of the spec's types: the library's
generic writers write such rows.
"""

# ruff: noqa: S608 - every name and literal of a statement is quoted

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from conformance.adapter_sdk import script_steps
from conformance.adapter_sdk.script_steps import MAIN, same_columns
from conformance.adapter_sdk.serve import Arguments, Invalid, Unsupported
from conformance.adapter_sdk.spark_dialect import SPARK
from conformance.adapter_sdk.sql_dialects import identifier, identifiers, literal, sql_type
from conformance.adapter_sdk.sql_predicates import predicate_sql
from conformance.engines.iceberg_java.spark_sql import CATALOG
from spec_ref.core.json_types import Json

NAME = "Iceberg-Java"
ADDING = frozenset({"create", "append", "sort", "properties"})
NEWEST = 3
NAMESPACE = "tables"
"""The namespace of the tables in the program's catalog."""

Query = Callable[[str, Json], Any]
"""A function that performs an operation of the Java program with arguments, and returns its answer."""


class JavaWriter:
    """A table that a script writes; see `script_steps.follow`.

    Args:
        query: queries the program.
        location: the folder of the table that ``create`` makes; None to open a table.
        name: the unique name of the table in the catalog.
        kinds: the operations of the script.
    """

    def __init__(self, query: Query, location: str | None, name: str, kinds: frozenset[str]) -> None:
        self._query, self._location, self._name = query, location, name
        # Statements are slow, so rows that exist only to be changed go through the generic writer, which ignores write
        # defaults; but not in version 3, where such rows have ids that must be kept.
        self._by_statements = kinds <= ADDING
        self._table: Json = {}  # the program's description of the table

    def open(self, location: str) -> None:
        self._table = self._query("script.open", {"name": self._name, "metadata": location})

    def close(self) -> None:
        """Drop the table from the catalog; its files stay."""
        self._query("script.close", {"name": self._name})

    def snapshot(self, ref: str) -> int | None:
        found: int | None = self._table["snapshots"].get(ref)
        return found

    def metadata(self) -> str:
        return str(self._table["metadata"])

    def _perform(self, operation: Json) -> None:
        """Perform an operation with the API."""
        args = {"name": self._name, "location": self._location, "operation": operation}
        self._table = self._query("script.perform", args)

    create = alter_schema = alter_spec = sort = upgrade = properties = _perform
    delete_equal = upsert = _perform
    branch = tag = fast_forward = rollback = expire = _perform

    def _execute(self, statement: str, properties: dict[str, str] | None = None) -> None:
        """Execute a statement, after setting some properties of the table."""
        args = {"name": self._name, "statement": statement, "properties": properties or {}}
        self._table = self._query("script.execute", args)

    # Statements

    @property
    def _fields(self) -> list[Json]:
        fields: list[Json] = self._table["fields"]
        return fields

    @property
    def _types(self) -> dict[str, Json]:
        return {field["name"]: field["type"] for field in self._fields}

    def _target(self, operation: Json) -> str:
        name, branch = f"{CATALOG}.`{NAMESPACE}`.`{self._name}`", operation.get("branch", MAIN)
        return name if branch == MAIN else f"{name}.`branch_{branch}`"

    def append(self, operation: Json) -> None:
        fields, rows = self._fields, operation["rows"]
        defaults = {field["name"] for field in fields if field.get("write-default") is not None}
        newest = self._table["format-version"] == NEWEST
        by_api = bool(rows) and not (self._by_statements or newest) and all(defaults <= row.keys() for row in rows)
        if by_api or not _in_sql(fields):
            self._perform(operation)
            return
        if not rows:
            columns = ", ".join(f"CAST(NULL AS {sql_type(field['type'], SPARK)})" for field in fields)
            self._execute(f"INSERT INTO {self._target(operation)} SELECT {columns} WHERE 1 = 0")
            return
        names, values = self._values(rows)
        self._execute(f"INSERT INTO {self._target(operation)} ({names}) VALUES {values}")

    def _values(self, rows: list[Json]) -> tuple[str, str]:
        """Return the SQL of the rows' columns, and the rows as VALUES; columns without write default are null."""
        rows = [{**{f["name"]: None for f in self._fields if f.get("write-default") is None}, **row} for row in rows]
        names, types = same_columns(rows), self._types
        if unknown := [name for name in names if name not in types]:
            raise Invalid(f"no column {unknown[0]}")
        return _identifier_list(names), _tuples(types, names, rows)

    def overwrite(self, operation: Json) -> None:
        if not operation["rows"]:
            raise Unsupported("an overwrite needs rows")
        names, values = self._values(operation["rows"])
        where = predicate_sql(operation["filter"], self._fields, SPARK)
        rows = f"SELECT {_identifier_list(self._types)} FROM VALUES {values} AS s({names})"
        self._execute(f"INSERT INTO {self._target(operation)} REPLACE WHERE {where} {rows}")

    def delete(self, operation: Json) -> None:
        where = predicate_sql(operation["filter"], self._fields, SPARK)
        self._execute(f"DELETE FROM {self._target(operation)} WHERE {where}", _mode(operation))

    def update(self, operation: Json) -> None:
        types = self._types
        sets = ", ".join(
            f"{_column(name)} = {literal(types[name], value, SPARK)}" for name, value in operation["set"].items()
        )
        where = predicate_sql(operation["filter"], self._fields, SPARK)
        self._execute(f"UPDATE {self._target(operation)} SET {sets} WHERE {where}", _mode(operation))

    def merge(self, operation: Json) -> None:
        given = same_columns(operation["rows"])
        for field in self._fields:
            if field["required"] and field["name"] not in given and field.get("write-default") is None:
                raise Unsupported(f"MERGE adds rows, and a value of the required column {field['name']} is missing")
        values = _tuples(self._types, given, operation["rows"])
        source = f"(SELECT * FROM VALUES {values} AS v({_identifier_list(given)})) s"
        on = " AND ".join(f"t.{_column(name)} = s.{_column(name)}" for name in operation["on"])
        sets = ", ".join(f"t.{_column(name)} = s.{_column(name)}" for name in given)
        added = identifiers(given, SPARK, "s.")
        self._execute(
            f"MERGE INTO {self._target(operation)} t USING {source} ON {on} "
            f"WHEN MATCHED THEN UPDATE SET {sets} "
            f"WHEN NOT MATCHED THEN INSERT ({_identifier_list(given)}) VALUES ({added})",
            _mode(operation),
        )

    def compact(self, operation: Json) -> None:
        if operation.get("branch", MAIN) != MAIN:
            raise Unsupported("rewrite_data_files works on main only")
        self._call("rewrite_data_files", "options => map('rewrite-all', 'true')")

    def rewrite_manifests(self, _: Json) -> None:
        self._call("rewrite_manifests", "use_caching => false")

    def _call(self, procedure: str, arguments: str) -> None:
        table = f"`{NAMESPACE}`.`{self._name}`"
        self._execute(f"CALL {CATALOG}.system.{procedure}(table => '{table}', {arguments})")


def _mode(operation: Json) -> dict[str, str]:
    """Return the table property for the mode in which an operation changes rows."""
    return {f"write.{operation['op']}.mode": operation["mode"]} if "mode" in operation else {}


def _in_sql(fields: list[Json]) -> bool:
    try:
        for field in fields:
            sql_type(field["type"], SPARK)
    except Unsupported:
        return False
    return True


def _identifier_list(names: Iterable[str]) -> str:
    return identifiers(names, SPARK)


def _column(name: str) -> str:
    return identifier((name,), SPARK)


def _tuples(types: dict[str, Json], names: list[str], rows: list[Json]) -> str:
    return ", ".join(f"({', '.join(literal(types[name], row[name], SPARK) for name in names)})" for row in rows)


def operations(query: Query) -> dict[str, Callable[[Arguments], object]]:
    """Return the operations by name."""
    numbers = itertools.count()

    @contextmanager
    def writing(location: str | None, steps: Sequence[Json]) -> Iterator[JavaWriter]:
        kinds = frozenset(operation["op"] for operation in steps)
        writer = JavaWriter(query, location, f"t{next(numbers)}", kinds)
        try:
            yield writer
        finally:
            writer.close()

    return script_steps.operations(writing, NAME)

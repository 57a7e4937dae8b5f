"""Run scripts with Iceberg-Java: Spark's SQL for rows, the API for tables, and its generic writers for the rest.

Tables are in an in-memory catalog, which statements and the API share; they are dropped from it, without their files,
at the end of a request. Spark plans no equality deletes, and does not support some of the spec's types: the library's
generic writers write such rows.
"""

# ruff: noqa: S608 - every name and literal of a statement is quoted

from __future__ import annotations

import itertools
import json
import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from conformance.adapter_sdk import script_steps
from conformance.adapter_sdk.jvm import JVM
from conformance.adapter_sdk.script_steps import MAIN, same_columns
from conformance.adapter_sdk.serve import Arguments, Invalid, Unsupported
from conformance.core.json_types import Json
from conformance.engines.iceberg_java.spark import CATALOG, Refused, Spark, condition, literal, sql_type

NAME = "Iceberg-Java"
ADDING = frozenset({"create", "append", "sort", "properties"})
NEWEST = 3
NAMESPACE = "tables"
BUILDER_METHODS = {"void": "alwaysNull"}
"""The methods of ``PartitionSpec.Builder`` whose names differ from their transforms."""

NOT_THERE = re.compile(
    r"Cannot delete file where some, but not all, rows match filter|UnsupportedOperationException|not supported"
    r"|\[UNSUPPORTED_|Unsupported|cannot translate expression to source filter",
    re.DOTALL,
)
"""Parts of messages of Spark and Iceberg that mean "not supported"."""


class JavaWriter:
    """A table that a script writes; see `script_steps.follow`.

    Args:
        jvm: the virtual machine.
        spark: the Spark session in that machine.
        location: the folder of the table that ``create`` makes; None to open a table.
        name: the unique name of the table in the catalog.
        kinds: the operations of the script.
    """

    def __init__(self, jvm: JVM, spark: Spark, location: str | None, name: str, kinds: frozenset[str]) -> None:
        self._jvm, self._spark = jvm, spark
        self._iceberg = jvm.root.org.apache.iceberg
        self._compiled = self._iceberg.Scripts  # our Java class
        self._location, self._name = location, name
        # Statements are slow, so rows that exist only to be changed go through the generic writer, which ignores write
        # defaults; but not in version 3, where such rows have ids that must be kept.
        self._by_statements = kinds <= ADDING
        self._catalog = spark.catalog
        space = self._iceberg.catalog.Namespace.of(jvm.array("java.lang.String", NAMESPACE))
        if not self._catalog.namespaceExists(space):
            self._catalog.createNamespace(space)
        self._identifier = self._iceberg.catalog.TableIdentifier.of(space, name)

    def open(self, location: str) -> None:
        with self._jvm.judged():
            self._catalog.registerTable(self._identifier, location)

    def close(self) -> None:
        """Drop the table from the catalog; its files stay."""
        self._catalog.dropTable(self._identifier, False)  # noqa: FBT003 - a method of Java

    @property
    def _table(self) -> Any:
        with self._jvm.judged():
            return self._catalog.loadTable(self._identifier)

    def _fields(self, table: Any) -> list[Json]:
        fields: list[Json] = json.loads(self._iceberg.SchemaParser.toJson(table.schema()))["fields"]
        return fields

    def _target(self, branch: str | None) -> str:
        name = f"{CATALOG}.`{NAMESPACE}`.`{self._name}`"
        return name if branch in (None, MAIN) else f"{name}.`branch_{branch}`"

    def _run(self, statement: str) -> list[Any]:
        try:
            return self._spark.run(statement)
        except Refused as error:
            raise (Unsupported if NOT_THERE.search(str(error)) else Invalid)(str(error)) from None

    def snapshot(self, ref: str) -> int | None:
        found = self._table.snapshot(ref)
        return None if found is None else found.snapshotId()

    def metadata(self) -> str:
        return str(self._table.operations().current().metadataFileLocation())

    # The table

    def create(self, operation: Json) -> None:
        schema = self._iceberg.SchemaParser.fromJson(json.dumps({"schema-id": 0, **operation["schema"]}))
        properties = self._jvm.root.java.util.HashMap()
        given = {"format-version": str(operation["format_version"]), **operation.get("properties", {})}
        for name, value in given.items():
            properties.put(name, value)
        with self._jvm.judged():
            spec = self._iceberg.PartitionSpec.builderFor(schema)
            for part in operation.get("partition", ()):
                word, width = _transform(part["transform"])
                spec = getattr(spec, BUILDER_METHODS.get(word, word))(part["source"], *width, part["name"])
            order = self._sorted(self._iceberg.SortOrder.builderFor(schema), operation.get("sort", ()))
            builder = self._catalog.buildTable(self._identifier, schema).withPartitionSpec(spec.build())
            builder.withSortOrder(order.build()).withProperties(properties).withLocation(self._location).create()

    def _sorted(self, builder: Any, parts: Any) -> Any:
        for part in parts:
            text, expressions = part.get("transform", "identity"), self._iceberg.expressions.Expressions
            transform = self._iceberg.transforms.Transforms.fromString(text)
            identity = text == "identity"
            term = expressions.ref(part["source"]) if identity else expressions.transform(part["source"], transform)
            nulls = part.get("null_order", "nulls-first").replace("-", "_").upper()
            order = getattr(self._iceberg.NullOrder, nulls)
            builder = getattr(builder, part.get("direction", "asc"))(term, order)
        return builder

    def alter_schema(self, operation: Json) -> None:
        for change in operation["changes"]:
            table = self._table
            update = table.updateSchema()
            with self._jvm.judged():
                if change["op"] == "optional":
                    update.makeColumnOptional(change["name"])
                else:
                    self._compiled.changeColumn(update, table.schema(), json.dumps(change))
                update.commit()

    def alter_spec(self, operation: Json) -> None:
        for change in operation["changes"]:
            update = self._table.updateSpec()
            with self._jvm.judged():
                if change["op"] == "add":
                    transform = self._iceberg.transforms.Transforms.fromString(change["transform"])
                    term = self._iceberg.expressions.Expressions.transform(change["source"], transform)
                    update.addField(change["name"], term)
                elif change["op"] == "remove":
                    update.removeField(change["name"])
                else:
                    update.renameField(change["name"], change["to"])
                update.commit()

    def sort(self, operation: Json) -> None:
        with self._jvm.judged():
            self._sorted(self._table.replaceSortOrder(), operation["fields"]).commit()

    def upgrade(self, operation: Json) -> None:
        self._set({"format-version": str(operation["format_version"])})

    def properties(self, operation: Json) -> None:
        self._set(operation.get("set", {}), operation.get("remove", ()))

    def _set(self, given: dict[str, str], removed: Any = ()) -> None:
        update = self._table.updateProperties()
        for name, value in given.items():
            update.set(name, value)
        for name in removed:
            update.remove(name)
        with self._jvm.judged():
            update.commit()

    def _mode(self, operation: Json) -> None:
        """Set the table property for the mode in which an operation changes rows."""
        name, mode = f"write.{operation['op']}.mode", operation.get("mode")
        if mode is not None and self._table.properties().get(name) != mode:
            self._set({name: mode})

    # Rows

    def append(self, operation: Json) -> None:
        fields, rows = self._fields(self._table), operation["rows"]
        defaults = {field["name"] for field in fields if field.get("write-default") is not None}
        newest = self._table.operations().current().formatVersion() == NEWEST
        by_api = bool(rows) and not (self._by_statements or newest) and all(defaults <= row.keys() for row in rows)
        if by_api or not self._in_sql(fields):
            self._append_generic(operation)
            return
        if not rows:
            columns = ", ".join(f"CAST(NULL AS {sql_type(field['type'])})" for field in fields)
            self._run(f"INSERT INTO {self._target(operation.get('branch'))} SELECT {columns} WHERE 1 = 0")
            return
        names, values = self._values(fields, rows)
        self._run(f"INSERT INTO {self._target(operation.get('branch'))} ({names}) VALUES {values}")

    def _in_sql(self, fields: list[Json]) -> bool:
        try:
            for field in fields:
                sql_type(field["type"])
        except Unsupported:
            return False
        return True

    def _append_generic(self, operation: Json) -> None:
        table = self._table
        update = table.newAppend()
        if operation.get("branch", MAIN) != MAIN:
            update = update.toBranch(operation["branch"])
        with self._jvm.judged():
            for file in self._compiled.dataFiles(table, json.dumps(operation["rows"])):
                update.appendFile(file)
            update.commit()

    def _values(self, fields: list[Json], rows: list[Json]) -> tuple[str, str]:
        """Return the SQL of the rows' columns, and the rows as VALUES; columns without write default are null."""
        rows = [{**{f["name"]: None for f in fields if f.get("write-default") is None}, **row} for row in rows]
        names = same_columns(rows)
        types = {field["name"]: field["type"] for field in fields}
        if unknown := [name for name in names if name not in types]:
            raise Invalid(f"no column {unknown[0]}")
        tuples = (f"({', '.join(literal(types[name], row[name]) for name in names)})" for row in rows)
        return ", ".join(f"`{name}`" for name in names), ", ".join(tuples)

    def overwrite(self, operation: Json) -> None:
        fields = self._fields(self._table)
        names, values = self._values(fields, operation["rows"]) if operation["rows"] else ("", "")
        if not values:
            raise Unsupported("an overwrite has rows")
        target = self._target(operation.get("branch"))
        columns = ", ".join(f"`{field['name']}`" for field in fields)
        where = condition(operation["filter"], fields)
        rows = f"SELECT {columns} FROM VALUES {values} AS s({names})"
        self._run(f"INSERT INTO {target} REPLACE WHERE {where} {rows}")

    def delete(self, operation: Json) -> None:
        self._mode(operation)
        where = condition(operation["filter"], self._fields(self._table))
        self._run(f"DELETE FROM {self._target(operation.get('branch'))} WHERE {where}")

    def update(self, operation: Json) -> None:
        self._mode(operation)
        fields = self._fields(self._table)
        types = {field["name"]: field["type"] for field in fields}
        sets = ", ".join(f"`{name}` = {literal(types[name], value)}" for name, value in operation["set"].items())
        where = condition(operation["filter"], fields)
        self._run(f"UPDATE {self._target(operation.get('branch'))} SET {sets} WHERE {where}")

    def merge(self, operation: Json) -> None:
        self._mode(operation)
        fields, given = self._fields(self._table), same_columns(operation["rows"])
        types = {field["name"]: field["type"] for field in fields}
        rows = ", ".join(
            f"({', '.join(literal(types[name], row[name]) for name in given)})" for row in operation["rows"]
        )
        names = ", ".join(f"`{name}`" for name in given)
        source = f"(SELECT * FROM VALUES {rows} AS v({names})) s"
        on = " AND ".join(f"t.`{name}` = s.`{name}`" for name in operation["on"])
        sets = ", ".join(f"t.`{name}` = s.`{name}`" for name in given)
        values = ", ".join(f"s.`{name}`" for name in given)
        self._run(
            f"MERGE INTO {self._target(operation.get('branch'))} t USING {source} ON {on} "
            f"WHEN MATCHED THEN UPDATE SET {sets} WHEN NOT MATCHED THEN INSERT ({names}) VALUES ({values})"
        )

    def delete_equal(self, operation: Json) -> None:
        self._row_delta(operation, operation["rows"], [])

    def upsert(self, operation: Json) -> None:
        keys = [{name: row[name] for name in operation["on"]} for row in operation["rows"]]
        self._row_delta(operation, keys, operation["rows"])

    def _row_delta(self, operation: Json, keys: list[Json], rows: list[Json]) -> None:
        table = self._table
        if not set(self._compiled.sourcesOfDeletes(table)) <= keys[0].keys():
            raise Unsupported("equality deletes are of a partition, which the keys do not determine")
        update = table.newRowDelta()
        if operation.get("branch", MAIN) != MAIN:
            update = update.toBranch(operation["branch"])
        with self._jvm.judged():
            for file in self._compiled.equalityDeletes(table, json.dumps(keys)):
                update.addDeletes(file)
            for file in self._compiled.dataFiles(table, json.dumps(rows)):
                update.addRows(file)
            update.commit()

    def compact(self, operation: Json) -> None:
        if operation.get("branch", MAIN) != MAIN:
            raise Unsupported("rewrite_data_files is of main")
        self._call("rewrite_data_files", "options => map('rewrite-all', 'true')")

    def rewrite_manifests(self, _: Json) -> None:
        self._call("rewrite_manifests", "use_caching => false")

    def _call(self, procedure: str, arguments: str) -> None:
        table = f"`{NAMESPACE}`.`{self._name}`"
        self._run(f"CALL {CATALOG}.system.{procedure}(table => '{table}', {arguments})")

    # References

    def _manage(self, name: str, *arguments: Any) -> None:
        with self._jvm.judged():
            getattr(self._table.manageSnapshots(), name)(*arguments).commit()

    def _at(self, operation: Json) -> int | None:
        given: int | None = operation.get("snapshot")
        return self.snapshot(MAIN) if given is None else given

    def branch(self, operation: Json) -> None:
        self._manage("createBranch", operation["name"], self._at(operation))

    def tag(self, operation: Json) -> None:
        self._manage("createTag", operation["name"], self._at(operation))

    def fast_forward(self, operation: Json) -> None:
        self._manage("fastForwardBranch", MAIN, operation["to"])

    def rollback(self, operation: Json) -> None:
        self._manage("setCurrentSnapshot", operation["snapshot"])

    def expire(self, _: Json) -> None:
        later = int(time.time() * 1000) + 86_400_000
        with self._jvm.judged():
            self._table.expireSnapshots().expireOlderThan(later).retainLast(1).commit()


def _transform(text: str) -> tuple[str, tuple[int, ...]]:
    """Return the name of the builder's method for a transform, and its parameters."""
    word, _, width = text.partition("[")
    return word, (int(width[:-1]),) if width else ()


def operations(jvm: JVM, spark: Spark) -> dict[str, Callable[[Arguments], object]]:
    """Return the operations by name."""
    numbers = itertools.count()

    @contextmanager
    def writing(location: str | None, given: Sequence[Json]) -> Iterator[JavaWriter]:
        kinds = frozenset(operation["op"] for operation in given)
        writer = JavaWriter(jvm, spark, location, f"t{next(numbers)}", kinds)
        try:
            yield writer
        finally:
            writer.close()

    return script_steps.operations(writing, NAME)

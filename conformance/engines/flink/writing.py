"""Run scripts with Flink: its SQL, and the connector's sink for rows that are deleted or replaced by key.

In a statement, rows have a key only if the table has one. The sink's caller chooses the key columns, as change data
capture pipelines do, so every upsert and deletion by equality uses the sink.
"""

# ruff: noqa: S608 - every name and literal of a statement is quoted

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from conformance.adapter_sdk import lenient_values as native
from conformance.adapter_sdk import script_steps, table_requests
from conformance.adapter_sdk.script_steps import MAIN, same_columns
from conformance.adapter_sdk.serve import Arguments, Invalid, Unsupported
from conformance.adapter_sdk.sql_dialects import identifier, literal, sql_type, string_literal
from conformance.engines.flink.flink_sql import DIALECT, Flink, full_name, hint
from spec_ref.core.json_types import Json

NAME = "Flink"


class FlinkWriter:
    """A table that a script writes; see `script_steps.follow`.

    Args:
        flink: the program.
        location: the folder of the table that ``create`` makes; None to open a table.
        name: the unique name of the table in the catalog.
    """

    def __init__(self, flink: Flink, location: str | None, name: str) -> None:
        self._flink, self._location, self._name = flink, location, name
        self._table = full_name(name)
        self._metadata = ""

    def open(self, location: str) -> None:
        # A table that Flink cannot load must be refused before anything is written.
        self._metadata = self._flink.run(self._name, metadata=location)["metadata"]

    def close(self) -> None:
        """Drop the table from the catalog; its files stay."""
        self._flink.run(self._name, forget=True)

    def _run(self, *statements: str) -> None:
        self._metadata = self._flink.run(self._name, *statements)["metadata"]

    def metadata(self) -> str:
        return self._metadata

    def _document(self) -> dict[str, Any]:
        return table_requests.metadata(self._metadata)

    def snapshot(self, ref: str) -> int | None:
        document = self._document()
        if ref == MAIN:
            found: int | None = document.get("current-snapshot-id")
            return None if found == -1 else found
        reference = document.get("refs", {}).get(ref)
        return None if reference is None else int(reference["snapshot-id"])

    def _fields(self) -> list[Json]:
        return list(table_requests.columns({"table": self._metadata}))

    # The table

    def create(self, operation: Json) -> None:
        if operation.get("sort"):
            raise Unsupported("Flink's SQL does not create tables with a sort order")
        columns = [_new_column(field) for field in operation["schema"]["fields"]]
        keys = operation["schema"].get("identifier-field-ids", ())
        if keys:
            named = [field["name"] for field in operation["schema"]["fields"] if field["id"] in keys]
            if len(named) != len(keys):
                raise Unsupported("a primary key in Flink cannot have fields of structs")
            columns.append(f"PRIMARY KEY ({_identifier_list(named)}) NOT ENFORCED")
        parts = []
        for part in operation.get("partition", ()):
            if part["transform"] != "identity" or part["name"] != part["source"]:
                raise Unsupported(
                    "Flink's SQL partitions by untransformed columns, whose names the partition fields get"
                )
            parts.append(part["source"])
        by = f" PARTITIONED BY ({_identifier_list(parts)})" if parts else ""
        properties = {
            **operation.get("properties", {}),
            "format-version": str(operation["format_version"]),
            "location": str(self._location),
        }
        self._run(f"CREATE TABLE {self._table} ({', '.join(columns)}){by} WITH ({_pairs(properties)})")

    def alter_schema(self, operation: Json) -> None:
        fields = {field["name"]: field for field in self._fields()}
        statements = []
        for change in operation["changes"]:  # each change applies to the result of the earlier ones
            statements.append(_change(change, fields))
            _apply_change(change, fields)
        for statement in statements:
            self._run(f"ALTER TABLE {self._table} {statement}")

    def upgrade(self, operation: Json) -> None:
        self.properties({"set": {"format-version": str(operation["format_version"])}})

    def properties(self, operation: Json) -> None:
        if given := operation.get("set"):
            self._run(f"ALTER TABLE {self._table} SET ({_pairs(given)})")
        if removed := operation.get("remove"):
            self._run(f"ALTER TABLE {self._table} RESET ({', '.join(string_literal(key, DIALECT) for key in removed)})")

    def rollback(self, operation: Json) -> None:
        self.properties({"set": {"current-snapshot-id": str(operation["snapshot"])}})

    # Rows

    def _target(self, operation: Json) -> str:
        branch = operation.get("branch", MAIN)
        return self._table + hint({} if branch == MAIN else {"branch": branch})

    def append(self, operation: Json) -> None:
        fields = self._fields()
        if not operation["rows"]:
            columns = ", ".join(literal(field["type"], None, DIALECT) for field in fields)
            self._run(f"INSERT INTO {self._target(operation)} SELECT {columns} FROM (VALUES (1)) AS v(x) WHERE x = 0")
            return
        names, rows = self._columns_and_query(fields, operation["rows"])
        self._run(f"INSERT INTO {self._target(operation)} ({names}) {rows}")

    def _columns_and_query(self, fields: list[Json], rows: list[Json]) -> tuple[str, str]:
        """Return the SQL of the columns that rows have, and a query for the rows.

        Raises:
            Invalid: the table has no such column.
        """
        given = same_columns(rows)
        types = {field["name"]: field["type"] for field in fields}
        if unknown := [name for name in given if name not in types]:
            raise Invalid(f"no column {unknown[0]}")
        selects = (f"SELECT {', '.join(literal(types[name], row[name], DIALECT) for name in given)}" for row in rows)
        return _identifier_list(given), " UNION ALL ".join(selects)

    def overwrite(self, operation: Json) -> None:
        """Run ``INSERT OVERWRITE``, which replaces an unpartitioned table, or the partitions that contain new rows."""
        fields, rows = self._fields(), operation["rows"]
        if not rows or not self._is_whole(operation["filter"], rows):
            raise Unsupported("Flink overwrites a whole unpartitioned table, or the partitions of the new rows")
        names, query = self._columns_and_query(fields, rows)
        self._run(f"INSERT OVERWRITE {self._target(operation)} ({names}) {query}")

    def _specs(self) -> tuple[dict[int, list[Json]], list[Json]]:
        """Return the fields of all partition specs, and those of the default spec."""
        document = self._document()
        specs = {spec["spec-id"]: spec["fields"] for spec in document.get("partition-specs", ())}
        return specs, specs.get(document.get("default-spec-id"), document.get("partition-spec", []))

    def _is_whole(self, filter_: Json, rows: list[Json]) -> bool:
        specs, parts = self._specs()
        if len(specs) > 1:
            return False
        if not parts:
            return filter_ is True
        names = {field["id"]: field["name"] for field in self._fields()}
        match filter_:
            case {"type": "eq", "term": str(name), "value": value}:
                alone = len(parts) == 1 and parts[0]["transform"] == "identity"
                return (
                    alone and names.get(parts[0]["source-id"]) == name and all(row.get(name) == value for row in rows)
                )
        return False

    def upsert(self, operation: Json) -> None:
        self._sink(operation, operation["on"], "UPSERT")

    def delete_equal(self, operation: Json) -> None:
        self._sink(operation, same_columns(operation["rows"]), "DELETE")

    def _sink(self, operation: Json, on: Sequence[str], kind: str) -> None:
        fields = self._fields()
        types = {field["name"]: field for field in fields}
        if unknown := [name for row in operation["rows"] for name in row if name not in types]:
            raise Invalid(f"no column {unknown[0]}")
        specs, parts = self._specs()
        keys = {types[name]["id"] for name in on}
        if parts and (len(specs) > 1 or any(part["source-id"] not in keys for part in parts)):
            raise Unsupported("Flink writes an equality delete for one partition, which the keys do not determine")
        rows = []
        for row in operation["rows"]:
            if kind == "UPSERT" and any(row.get(name) is None for name in on):
                raise Unsupported("Flink's sink does not take null keys")
            values = (_or_placeholder(field, row.get(field["name"]), kind) for field in fields)
            rows.append(f"SELECT {', '.join(values)}")
        names = [identifier((field["name"],), DIALECT) for field in fields]
        query = f"SELECT * FROM ({' UNION ALL '.join(rows)}) AS s({', '.join(names)})"
        request = {"query": query, "columns": list(on), "kind": kind, "branch": operation.get("branch", MAIN)}
        self._metadata = self._flink.run(self._name, sink=request)["metadata"]


def _change(change: Json, fields: dict[str, Json]) -> str:
    """Return the SQL of a change of a table with these fields.

    Raises:
        Unsupported: Flink's SQL has no statement for it.
        Invalid: the table has no such column.
    """
    name = change["name"]
    if change.get("parent") or (name not in fields and "." in name):
        raise Unsupported("Flink's SQL changes columns, not fields inside a column")
    column = identifier((name,), DIALECT)
    match change["op"]:
        case "add" if change.get("default") is None:
            if _has_required_field(change["type"]):
                raise Unsupported("Flink's SQL makes the required fields of an added struct optional")
            return f"ADD ({_new_column({'required': False, **change})})"
        case "drop":
            return f"DROP {column}"
        case "rename":
            return f"RENAME {column} TO {identifier((change['to'],), DIALECT)}"
        case "promote" if name in fields:
            return f"MODIFY ({_column({**fields[name], 'type': change['type']})})"
        case "optional" if name in fields:
            return f"MODIFY ({_column({**fields[name], 'required': False})})"
        case "move" if name in fields:
            after = change.get("after")
            place = "FIRST" if after is None else f"AFTER {identifier((after,), DIALECT)}"
            return f"MODIFY ({_column(fields[name])} {place})"
        case "promote" | "optional" | "move":
            raise Invalid(f"no column {name}")
    raise Unsupported("Flink's SQL has no default values")


def _apply_change(change: Json, fields: dict[str, Json]) -> None:
    """Change the fields as a statement will: ids of new fields, which are not known yet, and the order are left out."""
    name = change["name"]
    match change["op"]:
        case "add":
            fields[name] = {"required": False, **change}
        case "drop":
            fields.pop(name, None)
        case "rename" if name in fields:
            fields[change["to"]] = {**fields.pop(name), "name": change["to"]}
        case "promote":
            fields[name] = {**fields[name], "type": change["type"]}
        case "optional":
            fields[name] = {**fields[name], "required": False}


def _or_placeholder(field: Json, value: Json, kind: str) -> str:
    """Return the SQL of a value; a placeholder for a required column that a deletion does not specify."""
    if value is None and field["required"] and kind == "DELETE":
        value = native.placeholder(field["type"])
    return literal(field["type"], value, DIALECT)


def _new_column(field: Json) -> str:
    """Return the SQL of a column that the table does not have yet.

    Raises:
        Unsupported: Flink's SQL cannot express the type, so the column would have a different one.
    """
    if _has_uuid(field["type"]):
        raise Unsupported("Flink's SQL has no type for uuid: BINARY(16) makes a fixed[16]")
    return _column(field)


def _has_uuid(type_: Json) -> bool:
    return type_ == "uuid" or any(_has_uuid(inner) for inner, _ in _inner_types(type_))


def _has_required_field(type_: Json) -> bool:
    return any(required or _has_required_field(inner) for inner, required in _inner_types(type_))


def _inner_types(type_: Json) -> list[tuple[Json, bool]]:
    """Return the types inside a type, and whether each is that of a required field of a struct."""
    match type_:
        case {"type": "struct", "fields": fields}:
            return [(field["type"], bool(field.get("required"))) for field in fields]
        case dict():
            return [(type_[part], False) for part in ("element", "key", "value") if part in type_]
    return []


def _column(field: Json) -> str:
    if field.get("initial-default") is not None or field.get("write-default") is not None:
        raise Unsupported("Flink's SQL has no default values")
    comment = f" COMMENT {string_literal(field['doc'], DIALECT)}" if field.get("doc") else ""
    null = " NOT NULL" if field.get("required") else ""
    return f"{identifier((field['name'],), DIALECT)} {sql_type(field['type'], DIALECT)}{null}{comment}"


def _identifier_list(names: Sequence[str]) -> str:
    return ", ".join(identifier((name,), DIALECT) for name in names)


def _pairs(properties: dict[str, str]) -> str:
    return ", ".join(
        f"{string_literal(key, DIALECT)}={string_literal(value, DIALECT)}" for key, value in properties.items()
    )


def operations(flink: Flink) -> dict[str, Callable[[Arguments], object]]:
    """Return the operations by name."""
    numbers = itertools.count()

    @contextmanager
    def writing(location: str | None, _: Sequence[Json]) -> Iterator[FlinkWriter]:
        writer = FlinkWriter(flink, location, f"w{next(numbers)}")
        try:
            yield writer
        finally:
            writer.close()

    return script_steps.operations(writing, NAME)

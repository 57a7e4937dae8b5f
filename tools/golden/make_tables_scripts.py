"""Golden tables that Flink and Trino write, by the scripts of ``table.write``.

The adapter of the engine runs the script in one request; the metadata that it leaves has every snapshot. Rows have no
row ids here, because which file a writer fills first does not follow from its statements.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

from conformance.adapter_sdk.table_requests import local_path
from tools.golden.make_tables_kit import Row, Table, exchange, golden, list_type, map_type, struct

KEY = {"id": "long"}
NAMED = {**KEY, "name": "string"}
NESTED: dict[str, Any] = {
    "dec": "decimal(9, 2)",
    "day": "date",
    "ts": "timestamp",
    "tz": "timestamptz",
    "bin": "binary",
    "point": struct((10, "x", "int"), (11, "y", "string")),
    "items": list_type(12, "int"),
    "counts": map_type(13, "string", 14, "long"),
}
NESTED_ROWS: tuple[tuple[Any, ...], ...] = (
    (
        1,
        "-9999999.99",
        "0001-01-01",
        "1970-01-01T00:00:00.000001",
        "2017-11-16T22:31:08.123456+00:00",
        "00FF",
        {"x": 1, "y": "a"},
        [1, None, 3],
        [("k", 5)],
    ),
    (2, None, None, None, None, None, None, None, None),
    (
        3,
        "0.01",
        "9999-12-31",
        "2262-04-11T23:47:16.854775",
        "1970-01-01T00:00:00.000000+00:00",
        "",
        {"x": None, "y": None},
        [],
        [],
    ),
)


class ScriptTable(Table):
    """A golden table that an engine makes by following a script."""

    def __init__(self, name: str, engine: str, version: int, about: str) -> None:
        from conformance.engine_setup import find_engine, launch

        super().__init__(name, f"{engine} {find_engine(engine).version}", version, about)
        self._launch = launch(engine)
        self._operations: list[dict[str, Any]] = []
        self._labels: list[str | None] = []
        self._contents: list[dict[str, Any]] = []

    def run(self, operation: dict[str, Any], label: str | None = None) -> None:
        """Add an operation to the script; with a label, the state after it is one of the table's."""
        self._operations.append(operation)
        self.record_statement(json.dumps(operation))
        self._labels.append(label)
        self._contents.append(self._state())

    def create(
        self,
        columns: dict[str, Any],
        partition: tuple[tuple[str, str, str], ...] = (),
        key: tuple[str, ...] = (),
        **properties: str,
    ) -> None:
        """Create the table; partition fields are triples of a name, a source and a transform."""
        self.columns = dict(columns)
        fields = [
            {"id": number, "name": name, "required": name in key, "type": type_}
            for number, (name, type_) in enumerate(columns.items(), 1)
        ]
        schema: dict[str, Any] = {"type": "struct", "schema-id": 0, "fields": fields}
        if key:
            schema["identifier-field-ids"] = [field["id"] for field in fields if field["name"] in key]
        parts = [{"source": source, "transform": transform, "name": name} for name, source, transform in partition]
        self.run(
            {
                "op": "create",
                "format_version": self.version,
                "schema": schema,
                "partition": parts,
                "properties": {name.replace("_", "."): value for name, value in properties.items()},
            }
        )

    def append(self, label: str, *rows: tuple[Any, ...]) -> None:
        """Append rows."""
        self.record_insert(rows)
        self.run({"op": "append", "rows": [self._script_row(row) for row in rows]}, label)

    def upsert(self, label: str, on: tuple[str, ...], *rows: tuple[Any, ...]) -> None:
        """Replace rows by key, and add rows with new keys; of several rows with one key, the last one counts."""
        made = {
            tuple(row[name] for name in on): row for row in (dict(zip(self.columns, row, strict=True)) for row in rows)
        }
        self.rows = [row for row in self.rows if tuple(row[name] for name in on) not in made]
        self.rows += made.values()
        self.run({"op": "upsert", "on": list(on), "rows": [self._script_row(row) for row in rows]}, label)

    def delete_equal(self, label: str, **values: Any) -> None:
        """Delete the rows that have the values, by an equality delete."""
        self.record_delete(lambda row: all(row[name] == value for name, value in values.items()))
        row = {name: _named(self.columns[name], value) for name, value in values.items()}
        self.run({"op": "delete-equal", "rows": [row]}, label)

    def delete(self, label: str, predicate: Any, matches: Callable[[Row], bool]) -> None:
        """Delete the rows that match a predicate; ``matches`` is the same condition in Python."""
        self.record_delete(matches)
        self.run({"op": "delete", "filter": predicate, "mode": "merge-on-read"}, label)

    def update(self, label: str, predicate: Any, matches: Callable[[Row], bool], **values: Any) -> None:
        """Update the rows that match a predicate; ``matches`` is the same condition in Python."""
        self.record_update(matches, **values)
        given = {name: _named(self.columns[name], value) for name, value in values.items()}
        self.run({"op": "update", "filter": predicate, "set": given, "mode": "merge-on-read"}, label)

    def merge(self, label: str, on: str, *rows: tuple[Any, ...]) -> None:
        """Update the rows that have the key of a row, and insert the other rows."""
        given = {row[0]: dict(zip(self.columns, row, strict=True)) for row in rows}
        assert next(iter(self.columns)) == on
        for row in self.rows:
            row |= given.pop(row[on], {})
        self.rows += given.values()
        operation = {"op": "merge", "on": [on], "rows": [self._script_row(row) for row in rows]}
        self.run({**operation, "mode": "merge-on-read"}, label)

    def _script_row(self, row: tuple[Any, ...]) -> dict[str, Any]:
        return {name: _named(type_, value) for (name, type_), value in zip(self.columns.items(), row, strict=True)}

    def _state(self, rows: list[Row] | None = None) -> dict[str, Any]:
        """Return types and rows, without row ids."""
        shown = self.rows if rows is None else rows
        made = [{name: exchange(type_, row[name]) for name, type_ in self.columns.items()} for row in shown]
        return {"types": dict(self.columns), "rows": made}

    def _check(self, found: dict[str, Any]) -> None:
        """Compare the recorded columns with the table's; the numbers of commits depend on the engine."""
        self._check_columns(found)

    def finish(self, **more: Any) -> None:
        """Run the script, and store the table."""
        answer = self._ask()
        found = json.loads(Path(local_path(answer["metadata"])).read_text(encoding="utf-8"))
        times = {str(one["snapshot-id"]): one["timestamp-ms"] for one in found["snapshots"]}
        for label, snapshot, content in zip(self._labels, answer["snapshots"], self._contents, strict=True):
            if label is not None:
                at = {"snapshot": snapshot, "timestamp_ms": times[snapshot]}
                self.states.append({"label": label, **at, **content})
        super().finish(**more)

    def _ask(self) -> Any:
        request = {"table": str(self.location), "script": {"operations": self._operations}}
        with subprocess.Popen(
            self._launch.command, env=self._launch.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            for number, (op, args) in enumerate((("start", {"protocol": 1}), ("table.write", request))):
                process.stdin.write(json.dumps({"seq": number, "op": op, "args": args}) + "\n")
                process.stdin.flush()
                answer = json.loads(process.stdout.readline())
                assert "ok" in answer, answer
            process.stdin.close()
        return answer["ok"]


def _named(type_: Any, value: Any) -> Any:
    """Convert a value from the makers' form to that of scripts, whose structs have names."""
    if value is None or not isinstance(type_, dict):
        return exchange(type_, value)
    if type_["type"] == "struct":
        return {field["name"]: _named(field["type"], value[field["name"]]) for field in type_["fields"]}
    if type_["type"] == "list":
        return [_named(type_["element"], item) for item in value]
    return {
        "keys": [_named(type_["key"], key) for key, _ in value],
        "values": [_named(type_["value"], item) for _, item in value],
    }


def _term(op: str, term: str, value: Any) -> dict[str, Any]:
    return {"type": op, "term": term, "value": value}


Fill: TypeAlias = Callable[[ScriptTable], None]
"""Adds the operations of a table."""


def _register(name: str, engine: str, version: int, about: str, fill: Fill) -> None:
    """Register a table that an engine makes by following a script."""

    @golden(name, engine)
    def make(_session: None) -> None:
        table = ScriptTable(name, engine, version, about)
        fill(table)
        table.finish()


def _upserts(table: ScriptTable, **properties: str) -> None:
    table.create(NAMED, (), ("id",), **properties)
    table.append("appended", *((number, f"row {number}") for number in range(1, 7)))
    table.upsert("upserted", ("id",), (2, "second"), (7, "seventh"))
    table.upsert("one key twice", ("id",), (3, "lost"), (3, "third"), (8, "eighth"))
    table.delete_equal("deleted", id=5)
    table.append("appended again", (5, "again"))


def _upserts_in_partitions(table: ScriptTable) -> None:
    table.create({**KEY, "p": "string", "name": "string"}, (("p", "p", "identity"),), ("id", "p"))
    table.append("appended", (1, "a", "one"), (2, "b", "two"), (3, "a", "three"), (4, "b", "four"))
    table.upsert("upserted", ("id", "p"), (1, "a", "first"), (1, "b", "another"))
    table.delete_equal("deleted", id=4, p="b")


def _nested(table: ScriptTable, **properties: str) -> None:
    table.create({**KEY, **NESTED}, (), (), **properties)
    table.append("appended", *NESTED_ROWS)


def _nanoseconds(table: ScriptTable, **properties: str) -> None:
    table.create({**KEY, "ns": "timestamp_ns", "nz": "timestamptz_ns"}, (), (), **properties)
    table.append(
        "appended",
        (1, "2017-11-16T22:31:08.000001001", "2017-11-16T22:31:08.000001001+00:00"),
        (2, None, None),
        (3, "1970-01-01T00:00:00.000000001", "1970-01-01T00:00:00.000000001+00:00"),
    )


def _changes(table: ScriptTable, **properties: str) -> None:
    table.create({**NAMED, "day": "date"}, (("day_month", "day", "month"),), (), **properties)
    rows = [(number, f"row {number}", f"2020-0{1 + number % 2}-1{number}") for number in range(1, 7)]
    table.append("appended", *rows)
    table.delete("deleted", _term("eq", "id", "5"), lambda row: row["id"] == 5)
    table.update("updated", _term("eq", "name", "row 2"), lambda row: row["id"] == 2, name="second")
    table.merge("merged", "id", (3, "third", "2021-01-01"), (7, "seventh", "2021-01-02"))


def _evolved(table: ScriptTable) -> None:
    """Change the partition spec and the schema, and delete rows of files of both specs."""
    table.create({**NAMED, "amount": "int"}, (("id_bucket", "id", "bucket[4]"),))
    table.append("appended", (1, "a", 10), (2, "b", 20), (3, None, None))
    change = {"op": "add", "source": "name", "transform": "truncate[1]", "name": "name_trunc"}
    table.run({"op": "alter-spec", "changes": [{"op": "remove", "name": "id_bucket"}, change]})
    table.append("partitioned otherwise", (4, "aa", 40), (5, None, 50))
    table.columns["amount"] = "long"
    table.run({"op": "alter-schema", "changes": [{"op": "promote", "name": "amount", "type": "long"}]})
    table.record_renamed_column("name", "title")
    table.run({"op": "alter-schema", "changes": [{"op": "rename", "name": "name", "to": "title"}]})
    table.record_added_column("more", "string")
    table.run({"op": "alter-schema", "changes": [{"op": "add", "name": "more", "type": "string"}]})
    table.append("with more columns", (6, "ab", 5_000_000_000, "more"))
    table.delete("deleted", {"type": "in", "term": "id", "values": ["2", "4"]}, lambda row: row["id"] in (2, 4))


_TABLES: tuple[tuple[str, str, int, str, Fill], ...] = (
    ("upserts-v2", "flink", 2, "equality deletes, and position deletes for a key that one commit has twice", _upserts),
    ("upserts-v3", "flink", 3, "equality deletes, and vectors for a key that one commit has twice", _upserts),
    (
        "upserts-orc",
        "flink",
        2,
        "equality deletes and position deletes, in ORC",
        partial(_upserts, write_format_default="orc"),
    ),
    (
        "upserts-avro",
        "flink",
        2,
        "equality deletes and position deletes, in Avro",
        partial(_upserts, write_format_default="avro"),
    ),
    ("changes-v2", "trino", 2, "position deletes", _changes),
    ("changes-v3", "trino", 3, "deletion vectors", _changes),
    ("changes-orc", "trino", 2, "position deletes in ORC", partial(_changes, write_format_default="orc")),
    ("changes-avro", "trino", 2, "position deletes in Avro", partial(_changes, write_format_default="avro")),
)
_KINDS = {"flink": "upserts by Flink", "trino": "DELETE, UPDATE and MERGE by Trino"}

for _name, _engine, _version, _how, _fill in _TABLES:
    _register(f"{_engine}-{_name}", _engine, _version, f"{_KINDS[_engine]}: {_how}", _fill)
for _engine in ("flink", "trino"):
    for _format in ("parquet", "orc", "avro"):
        _about = f"types, structs, lists and maps in {_format}"
        _register(f"{_engine}-nested-{_format}", _engine, 2, _about, partial(_nested, write_format_default=_format))
    # Not for Flink in ORC, whose bounds are wrong: flink-writes-orc-bounds-of-nanoseconds-in-microseconds
    _about, _fill = "timestamps in nanoseconds in parquet", partial(_nanoseconds, write_format_default="parquet")
    _register(f"{_engine}-nanoseconds-parquet", _engine, 3, _about, _fill)
_register("flink-upserts-partitioned", "flink", 2, "upserts by Flink in identity partitions", _upserts_in_partitions)
_register("trino-evolved", "trino", 2, "partition specs and columns that Trino changed", _evolved)

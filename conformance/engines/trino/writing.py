"""Run scripts with Trino's SQL; the tables have unique names in a file metastore."""

# ruff: noqa: S608 - every name and literal of a statement is quoted

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from conformance.adapter_sdk import lenient_values as native
from conformance.adapter_sdk import table_requests
from conformance.adapter_sdk.script_steps import MAIN, same_columns
from conformance.adapter_sdk.serve import Invalid, Unsupported
from conformance.adapter_sdk.sql_dialects import identifier, string_literal
from conformance.adapter_sdk.sql_predicates import predicate_sql
from conformance.engines.trino.server import Server
from conformance.engines.trino.sql import DIALECT, literal, quote_identifier, sql_type
from conformance.engines.trino.tables import Registry
from spec_ref.core.json_types import Json

NAME = "Trino"
FORMATS = {"parquet": "PARQUET", "orc": "ORC", "avro": "AVRO"}
PERIODS = ("year", "month", "day", "hour")
SUFFIXES = {"truncate": "trunc"}
"""The suffixes of partition field names that differ from the name of the transform."""

FIRST_WITH_NANOSECONDS = 3
"""The first format version in which TIMESTAMP(9) has nanoseconds."""

PLAIN = re.compile("[a-z_][a-z0-9_]*")
"""A name that needs no quotes, unless it is a reserved word."""

TARGET_SIZE = "write.target-file-size-bytes"
RESERVED = frozenset({"write.format.default", "format-version", TARGET_SIZE})
"""Table properties that have different names in Trino."""


class TrinoWriter:
    """A table that a script writes; see `script_steps.follow`.

    Args:
        server: the server that runs statements.
        registry: the registry that names tables.
        location: the folder of the table that ``create`` makes; None to open a table.
    """

    def __init__(self, server: Server, registry: Registry, location: str | None) -> None:
        self._server, self._registry, self._location = server, registry, location
        self._name = ""

    def open(self, location: str) -> None:
        self._name = self._registry.register(location)

    def close(self) -> None:
        """Remove the table from the metastore; its files stay."""
        if self._name:
            self._registry.forget(self._name)

    def _run(self, statement: str) -> list[list[Json]]:
        return self._server.run(statement)[1]

    def metadata(self) -> str:
        return self._registry.location(self._name)

    def _document(self) -> Json:
        return table_requests.metadata(self.metadata())

    def snapshot(self, ref: str) -> int | None:
        document = self._document()
        found = document.get("refs", {}).get(ref)
        if found is not None:
            return int(found["snapshot-id"])
        current = document.get("current-snapshot-id")
        return None if ref != MAIN or current in (None, -1) else int(current)

    def _fields(self) -> list[Json]:
        document = self._document()
        schemas = {one.get("schema-id", 0): one for one in document.get("schemas") or [document["schema"]]}
        fields: list[Json] = schemas[document.get("current-schema-id", 0)]["fields"]
        return fields

    def _target(self, operation: Json) -> str:
        if operation.get("branch", MAIN) != MAIN:
            raise Unsupported("Trino's connector has no branches to write to")
        return quote_identifier(self._name)

    # The table

    def create(self, operation: Json) -> None:
        name = self._registry.new_name()
        _check_types(operation["schema"], operation["format_version"])
        columns = ", ".join(_column(field) for field in operation["schema"]["fields"])
        properties = dict(operation.get("properties", {}))
        settings = {
            "format_version": str(operation["format_version"]),
            "location": string_literal(str(self._location), DIALECT),
            "format": string_literal(_format(properties), DIALECT),
            **_target_size(properties, self._server.version),
        }
        if operation.get("partition"):
            settings["partitioning"] = _texts(map(_partition_field, operation["partition"]))
        if operation.get("sort"):
            settings["sorted_by"] = _sort_order(operation["sort"], operation["schema"]["fields"])
        if properties:
            settings["extra_properties"] = _pairs(properties)
        listed = ", ".join(f"{key} = {value}" for key, value in settings.items())
        self._run(f"CREATE TABLE {quote_identifier(name)} ({columns}) WITH ({listed})")
        self._name = name

    def _set(self, name: str, value: str) -> None:
        self._run(f"ALTER TABLE {quote_identifier(self._name)} SET PROPERTIES {name} = {value}")

    def alter_schema(self, operation: Json) -> None:
        for change in operation["changes"]:
            fields = self._fields()
            if "type" in change:
                _check_types(change["type"], self._document()["format-version"])
            _check_path(fields, f"{change['parent']}.{change['name']}" if change.get("parent") else change["name"])
            self._run(f"ALTER TABLE {quote_identifier(self._name)} {_change(change, fields)}")

    def alter_spec(self, operation: Json) -> None:
        for change in operation["changes"]:
            parts = self._partition()
            match change["op"]:
                case "add":
                    _check_name(change)
                    parts.append((change["name"], change["source"], change["transform"]))
                case "remove":
                    if all(name != change["name"] for name, _, _ in parts):
                        raise Invalid(f"no partition field {change['name']}")
                    parts = [one for one in parts if one[0] != change["name"]]
                case _:
                    raise Unsupported("Trino names the fields of a partition spec by itself")
            self._set("partitioning", _texts(_partition(source, transform) for _, source, transform in parts))

    def _partition(self) -> list[tuple[str, str, str]]:
        """Return the name, source and transform of each field of the default partition spec."""
        document = self._document()
        names = {field["id"]: field["name"] for field in self._fields()}
        specs = {one["spec-id"]: one["fields"] for one in document.get("partition-specs", [])}
        fields = specs.get(document.get("default-spec-id", 0), document.get("partition-spec", []))
        found = []
        for field in fields:
            if field["transform"] == "void":
                continue
            if field["source-id"] not in names:
                raise Unsupported("Trino partitions by columns, not by fields inside a column")
            found.append((field["name"], names[field["source-id"]], field["transform"]))
        return found

    def sort(self, operation: Json) -> None:
        self._set("sorted_by", _sort_order(operation["fields"], self._fields()))

    def upgrade(self, operation: Json) -> None:
        self._set("format_version", str(operation["format_version"]))

    def properties(self, operation: Json) -> None:
        given = dict(operation.get("set", {}))
        if operation.get("remove"):
            raise Unsupported("Trino does not remove properties")
        if "write.format.default" in given:
            self._set("format", string_literal(_format(given), DIALECT))
        for name, value in _target_size(given, self._server.version).items():
            self._set(name, value)
        if given:
            self._set("extra_properties", _pairs(given))

    # Rows

    def append(self, operation: Json) -> None:
        rows, fields = operation["rows"], {field["name"]: field for field in self._fields()}
        if not rows:
            columns = ", ".join(f"CAST(NULL AS {sql_type(field['type'])})" for field in fields.values())
            self._run(f"INSERT INTO {self._target(operation)} SELECT {columns} WHERE 1 = 0")
            return
        names = same_columns(rows)
        self._run(f"INSERT INTO {self._target(operation)} ({_names(names)}) VALUES {_values(rows, names, fields)}")

    def delete(self, operation: Json) -> None:
        condition = predicate_sql(operation["filter"], self._fields(), DIALECT)
        self._run(f"DELETE FROM {self._target(operation)} WHERE {condition}")

    def update(self, operation: Json) -> None:
        fields = self._fields()
        types = {field["name"]: field["type"] for field in fields}
        assigned = ", ".join(
            f"{quote_identifier(name)} = {literal(types[name], value)}" for name, value in operation["set"].items()
        )
        condition = predicate_sql(operation["filter"], fields, DIALECT)
        self._run(f"UPDATE {self._target(operation)} SET {assigned} WHERE {condition}")

    def merge(self, operation: Json) -> None:
        rows, fields = operation["rows"], {field["name"]: field for field in self._fields()}
        if not rows:
            return
        names = same_columns(rows)
        matches = " AND ".join(f"t.{quote_identifier(name)} = s.{quote_identifier(name)}" for name in operation["on"])
        others = [name for name in names if name not in operation["on"]]
        assigned = ", ".join(f"{quote_identifier(name)} = s.{quote_identifier(name)}" for name in others)
        update = f"WHEN MATCHED THEN UPDATE SET {assigned} " if others else ""
        source = f"(VALUES {_values(rows, names, fields)}) AS s ({_names(names)})"
        given = ", ".join(f"s.{quote_identifier(name)}" for name in names)
        insert = f"WHEN NOT MATCHED THEN INSERT ({_names(names)}) VALUES ({given})"
        self._run(f"MERGE INTO {self._target(operation)} AS t USING {source} ON {matches} {update}{insert}")

    def compact(self, operation: Json) -> None:
        self._run(f"ALTER TABLE {self._target(operation)} EXECUTE optimize(file_size_threshold => '1GB')")

    def rewrite_manifests(self, _: Json) -> None:
        self._run(f"ALTER TABLE {quote_identifier(self._name)} EXECUTE optimize_manifests")

    def rollback(self, operation: Json) -> None:
        self._run(
            f"ALTER TABLE {quote_identifier(self._name)} EXECUTE rollback_to_snapshot({int(operation['snapshot'])})"
        )

    def expire(self, _: Json) -> None:
        self._run(f"ALTER TABLE {quote_identifier(self._name)} EXECUTE expire_snapshots(retention_threshold => '0s')")


def _column(field: Json) -> str:
    required = " NOT NULL" if field.get("required") else ""
    default = field.get("write-default")
    given = _default(field["type"], default)
    if field.get("initial-default") is not None and field.get("initial-default") != default:
        raise Unsupported("Trino has only one default for a column")
    return f"{quote_identifier(field['name'])} {sql_type(field['type'])}{given}{required}"


def _target_size(properties: dict[str, str], release: str) -> dict[str, str]:
    """Remove the target size of files from the properties and return it, as Trino has a separate property for it.

    Raises:
        Unsupported: the release has no such property of tables.
    """
    wanted = properties.pop(TARGET_SIZE, None)
    if wanted is not None and release == "476":
        raise Unsupported("Trino 476 has no target size of files for a table, only for a session")
    return {} if wanted is None else {"target_max_file_size": string_literal(f"{wanted}B", DIALECT)}


def _format(properties: dict[str, str]) -> str:
    """Remove the file format from the properties and return it, as Trino has a separate property for it."""
    wanted = properties.pop("write.format.default", "parquet").lower()
    if wanted not in FORMATS:
        raise Unsupported(f"Trino does not write files in {wanted}")
    return FORMATS[wanted]


def _check_name(part: Json) -> None:
    """Check that a partition field has the name that Trino gives it, because no statement can choose one.

    Args:
        part: the field, in JSON.

    Raises:
        Unsupported: it has a different name.
    """
    word = part["transform"].partition("[")[0]
    name = part["source"] if word == "identity" else f"{part['source']}_{SUFFIXES.get(word, word)}"
    if part["name"] != name:
        raise Unsupported(f"Trino names the fields of a partition spec itself: {name}, not {part['name']}")


def _partition_field(part: Json) -> str:
    made = _partition(part["source"], part["transform"])
    _check_name(part)
    return made


def _partition(source: str, transform: str) -> str:
    word, _, width = transform.removesuffix("]").partition("[")
    column = quote_identifier(source)
    if word == "identity":
        return column
    if width:
        return f"{word}({column}, {width})"
    if word not in PERIODS:
        raise Unsupported(f"Trino does not partition by {transform}")
    return f"{word}({column})"


def _check_types(type_: Json, version: int) -> None:
    """Check that Trino's SQL creates exactly this type in a format version.

    Raises:
        Unsupported: it has nanoseconds, which Trino rounds to microseconds before v3.
    """
    if version < FIRST_WITH_NANOSECONDS and any(str(name).endswith("_ns") for name in _types(type_)):
        raise Unsupported("Trino makes columns with microseconds of TIMESTAMP(9) in tables before v3")


def _types(type_: Json) -> list[Json]:
    """Return the names of the types inside a type."""
    match type_:
        case {"type": "struct", "fields": fields}:
            return [name for field in fields for name in _types(field["type"])]
        case dict():
            return [name for part in ("element", "key", "value") if part in type_ for name in _types(type_[part])]
    return [type_]


def _sort_order(parts: list[Json], fields: list[Json]) -> str:
    """Return the SQL of a sort order.

    Raises:
        Unsupported: a source is not a column.
    """
    if any(part["source"] not in [field["name"] for field in fields] for part in parts):
        raise Unsupported("Trino sorts by columns, not by fields inside a column")
    return _texts(map(_sort_field_sql, parts))


def _sort_field_sql(part: Json) -> str:
    if part.get("transform", "identity") != "identity":
        raise Unsupported("Trino sorts by columns, not by transforms of columns")
    direction = part.get("direction", "asc").upper()
    nulls = part.get("null_order", "nulls-first").replace("-", " ").upper()
    return f"{quote_identifier(part['source'])} {direction} {nulls}"


def _check_path(fields: list[Json], path: str) -> None:
    """Check that a path leads through structs only.

    Raises:
        Unsupported: it leads through a list or map.
    """
    for name in path.split(".")[:-1]:
        type_: Json = next((field["type"] for field in fields if field["name"] == name), None)
        if native.kind(type_) in ("list", "map"):
            raise Unsupported("Trino does not change fields inside lists and maps")
        fields = type_["fields"] if native.kind(type_) == "struct" else []


def _change(change: Json, fields: list[Json]) -> str:
    path = change.get("name", "")
    column = identifier(tuple(path.split(".")), DIALECT)
    match change["op"]:
        case "add":
            return _add_column_sql(change)
        case "drop":
            return f"DROP COLUMN {column}"
        case "rename":
            return f"RENAME COLUMN {column} TO {quote_identifier(change['to'])}"
        case "promote":
            return f"ALTER COLUMN {column} SET DATA TYPE {sql_type(change['type'])}"
        case "optional" if PLAIN.fullmatch(path):  # Trino 483 looks for a column with the quotes in its name
            return f"ALTER COLUMN {path} DROP NOT NULL"
        case "default":
            types = {field["name"]: field["type"] for field in fields}
            if path not in types:
                raise Unsupported("Trino changes the defaults of columns, not of fields inside a column")
            default = _default(types[path], change["default"])
            return f"ALTER COLUMN {column} {f'SET{default}' if default else 'DROP DEFAULT'}"
    raise Unsupported(f"Trino does not {change['op']} columns")


def _add_column_sql(change: Json) -> str:
    path = (*change["parent"].split("."), change["name"]) if change.get("parent") else (change["name"],)
    if change.get("required"):
        raise Unsupported("Trino does not add required columns to a table")
    given = _default(change["type"], change.get("default"))
    return f"ADD COLUMN {identifier(path, DIALECT)} {sql_type(change['type'])}{given}"


def _default(type_: Json, value: Json) -> str:
    """Return the SQL of a default; the connector accepts numbers only without their types."""
    if value is None:
        return ""
    return f" DEFAULT {value if type_ in ('int', 'long') else literal(type_, value)}"


def _texts(items: Iterable[str]) -> str:
    return f"ARRAY[{', '.join(string_literal(item, DIALECT) for item in items)}]"


def _pairs(properties: dict[str, str]) -> str:
    return f"MAP({_texts(list(properties))}, {_texts(list(properties.values()))})"


def _names(names: Sequence[str]) -> str:
    return ", ".join(map(quote_identifier, names))


def _values(rows: list[Json], names: list[str], fields: dict[str, Json]) -> str:
    tuples = (", ".join(literal(fields[name]["type"], row[name]) for name in names) for row in rows)
    return ", ".join(f"({row})" for row in tuples)

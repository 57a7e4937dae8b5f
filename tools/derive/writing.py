"""What tables are after scripts: a derivation from the statements, on JSON alone.

Values are kept by column id, so that names may change, beside the type that they were written with. A snapshot is a
list of rows; a row is who it is, the step that changed it last, and its values. Nothing of files is known here.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

from tools.derive.rows import matches

Json = Any
MAIN = "main"
INSIDE = {"list": ("element",), "map": ("key", "value")}


def by_ids(type_: Json, value: Json) -> Json:
    """A literal of a script with structs by id."""
    if value is None or not isinstance(type_, dict):
        return value
    if type_["type"] == "struct":
        return {f["id"]: by_ids(f["type"], value.get(f["name"])) for f in type_["fields"]}
    if type_["type"] == "list":
        return [by_ids(type_["element"], item) for item in value]
    return {part + "s": [by_ids(type_[part], item) for item in value[part + "s"]] for part in ("key", "value")}


def read_as(type_: Json, written: Json, value: Json) -> Json:
    """A value that was written with a type, under the type of now: a literal with structs by name."""
    if value is None:
        return None
    if not isinstance(type_, dict):
        return promoted(type_, written, value)
    if type_["type"] == "struct":
        return read_fields(type_["fields"], written["fields"], value)
    if type_["type"] == "list":
        return [read_as(type_["element"], written["element"], item) for item in value]
    return {
        part + "s": [read_as(type_[part], written[part], item) for item in value[part + "s"]]
        for part in ("key", "value")
    }


def read_fields(fields: Json, written: Json, values: Json) -> Json:
    """The fields of a struct, by id; one that was not there yet has its initial default (PRJ001 to PRJ005)."""
    old = {field["id"]: field["type"] for field in written}
    return {
        field["name"]: read_as(field["type"], old[field["id"]], values.get(field["id"]))
        if field["id"] in old
        else constant(field["type"], field.get("initial-default"))
        for field in fields
    }


def promoted(type_: str, written: str, value: Json) -> Json:
    """A value of a promoted type (EVO003, EVO005)."""
    if type_ == written:
        return value
    if type_ == "long":
        return str(value)
    if written == "date":
        assert type_ in ("timestamp", "timestamp_ns")
        return f"{value}T00:00:00.{'0' * (6 if type_ == 'timestamp' else 9)}"
    return value


def constant(type_: Json, value: Json) -> Json:
    """A default, which is the spec's JSON, as a literal: a long is a string."""
    return str(value) if type_ == "long" and value is not None else value


def nested(fields: Json) -> Iterator[Json]:
    """Every struct field at any depth."""
    for field in fields:
        yield field
        yield from _inside(field["type"])


def _inside(type_: Json) -> Iterator[Json]:
    if isinstance(type_, dict):
        if type_["type"] == "struct":
            yield from nested(type_["fields"])
        for part in INSIDE.get(type_["type"], ()):
            yield from _inside(type_[part])


def ids_in(json_: Json) -> Iterator[int]:
    """Every id in a schema."""
    if isinstance(json_, dict):
        for name, member in json_.items():
            if name in ("id", "element-id", "key-id", "value-id"):
                yield member
            yield from ids_in(member)
    elif isinstance(json_, list):
        for item in json_:
            yield from ids_in(item)


def struct_at(fields: Json, path: list[str]) -> Json:
    """The list of fields in which the last of some names stands."""
    for name in path:
        type_ = next(field["type"] for field in fields if field["name"] == name)
        while type_["type"] != "struct":
            raise AssertionError("scripts change the fields of structs that are in structs")
        fields = type_["fields"]
    return fields


class Table:
    """A table while a script runs."""

    def __init__(self) -> None:
        self.fields: Json = []
        self.version = 0
        self.last_id = 0
        self.spec: list[Json] = []
        self.sort: list[Json] = []
        self.heads: dict[str, Json] = {}
        self.tags: dict[str, Json] = {}
        self.after: list[Json] = []
        self.count = 0
        self.step = 0

    # Readings

    def reading(self, fields: Json, rows: Json) -> Json:
        """Rows as a vector has them."""
        return {
            "columns": {field["name"]: copy.deepcopy(field["type"]) for field in fields},
            "rows": [read_fields(fields, row["fields"], row["values"]) for row in rows],
            "identity": [row["identity"] for row in rows],
            "updated": [row["updated"] for row in rows],
        }

    def now(self, row: Json) -> Json:
        """A row under the current schema."""
        return read_fields(self.fields, row["fields"], row["values"])

    def rows(self, operation: Json) -> list[Json]:
        """The rows of the branch that an operation writes to."""
        return list(self.heads.get(operation.get("branch", MAIN), {"rows": []})["rows"])

    # Rows

    def made(self, given: Json, identity: int | None = None) -> Json:
        """A row that is written now; what is left out has the write default (DEF002)."""
        values = {
            field["id"]: by_ids(
                field["type"], given.get(field["name"], constant(field["type"], field.get("write-default")))
            )
            for field in self.fields
        }
        if identity is None:
            identity, self.count = self.count, self.count + 1
        return {"values": values, "fields": self.fields, "identity": identity, "updated": self.step}

    def hit(self, predicate: Json, row: Json) -> bool:
        """Whether a row matches."""
        if isinstance(predicate, bool):
            return predicate
        types = {field["name"]: field["type"] for field in self.fields}
        return matches(predicate, self.now(row), types)

    def key(self, row: Json, names: Any) -> str:
        """What of a row has to be equal."""
        return json.dumps([row[name] for name in names], sort_keys=True)

    def changed(self, operation: Json, before: list[Json]) -> list[Json]:
        """The rows after an operation."""
        kind = operation["op"]
        if kind == "append":
            return before + [self.made(row) for row in operation["rows"]]
        if kind in ("overwrite", "delete"):
            kept = [row for row in before if not self.hit(operation["filter"], row)]
            return kept + [self.made(row) for row in operation.get("rows", ())]
        if kind == "update":
            return [
                self.made({**self.now(row), **operation["set"]}, row["identity"])
                if self.hit(operation["filter"], row)
                else row
                for row in before
            ]
        if kind in ("delete-equal", "upsert"):
            names = operation.get("on") or list(operation["rows"][0])
            gone = {self.key(row, names) for row in operation["rows"]}
            kept = [row for row in before if self.key(self.now(row), names) not in gone]
            return kept + [self.made(row) for row in operation["rows"] if kind == "upsert"]
        if kind == "merge":
            return self.merged(operation, before)
        return before

    def merged(self, operation: Json, before: list[Json]) -> list[Json]:
        """Rows that are found get what is given, the others are added."""
        on, given = operation["on"], operation["rows"]
        sources = {self.key(row, on): row for row in given if None not in [row.get(name) for name in on]}
        found, after = set(), []
        for row in before:
            key = self.key(self.now(row), on)
            if key in sources:
                found.add(key)
                row = self.made({**self.now(row), **sources[key]}, row["identity"])
            after.append(row)
        matched = [sources[key] for key in found]
        return after + [self.made(row) for row in given if row not in matched]

    # The table

    def alter(self, change: Json) -> None:
        """One change of the schema."""
        self.fields = copy.deepcopy(self.fields)
        *path, last = change["name"].split(".")
        if change["op"] == "add":
            self.last_id += 1
            default = {} if change.get("default") is None else dict.fromkeys(
                ("initial-default", "write-default"), change["default"]
            )  # fmt: skip
            field = {
                "id": self.last_id, "name": change["name"], "required": change.get("required", False),
                "type": self.renewed(change["type"]), **({"doc": change["doc"]} if "doc" in change else {}), **default,
            }  # fmt: skip
            parent = change.get("parent")
            struct_at(self.fields, parent.split(".") if parent else []).append(field)
            return
        if last in ("element", "value") and change["op"] == "promote":
            *path, outer = path
            column = next(field for field in struct_at(self.fields, path) if field["name"] == outer)
            column["type"][last] = change["type"]
            return
        fields = struct_at(self.fields, path)
        field = next(field for field in fields if field["name"] == last)
        match change["op"]:
            case "drop":
                fields.remove(field)
            case "rename":
                field["name"] = change["to"]
            case "promote":
                for name in ("initial-default", "write-default"):
                    if field.get(name) is not None and field["type"] == "date":
                        field[name] = promoted(change["type"], "date", field[name])
                field["type"] = change["type"]
            case "optional":
                field["required"] = False
            case "default":
                field["write-default"] = change["default"]
            case "move":
                fields.remove(field)
                names = [one["name"] for one in fields]
                fields.insert(0 if change["after"] is None else names.index(change["after"]) + 1, field)

    def renewed(self, type_: Json) -> Json:
        """A type with new ids inside."""
        if not isinstance(type_, dict):
            return type_
        made = copy.deepcopy(type_)
        if made["type"] == "struct":
            for field in made["fields"]:
                self.last_id += 1
                field["id"] = self.last_id
            for field in made["fields"]:
                field["type"] = self.renewed(field["type"])
            return made
        for part in INSIDE[made["type"]]:
            self.last_id += 1
            made[f"{part}-id"] = self.last_id
        for part in INSIDE[made["type"]]:
            made[part] = self.renewed(made[part])
        return made

    def source(self, name: str) -> int:
        """The id of a column by its full name."""
        *path, last = name.split(".")
        return int(next(field["id"] for field in struct_at(self.fields, path) if field["name"] == last))

    def name(self, id_: int) -> str:
        """The full name of a column."""

        def found(fields: Json) -> str | None:
            for field in fields:
                if field["id"] == id_:
                    return str(field["name"])
                if isinstance(field["type"], dict) and field["type"]["type"] == "struct":
                    inner = found(field["type"]["fields"])
                    if inner is not None:
                        return f"{field['name']}.{inner}"
            return None

        name = found(self.fields)
        assert name is not None
        return name

    def sorted_by(self, fields: Json) -> list[Json]:
        """A sort order by ids."""
        whole = {"transform": "identity", "direction": "asc", "null_order": "nulls-first"}
        return [{**whole, **field, "source": self.source(field["source"])} for field in fields]

    def do(self, operation: Json) -> None:
        """What an operation does but for rows."""
        match operation["op"]:
            case "create":
                self.version, self.fields = operation["format_version"], operation["schema"]["fields"]
                self.last_id = max(ids_in(self.fields))
                self.spec = [{**f, "source": self.source(f["source"])} for f in operation.get("partition", ())]
                self.sort = self.sorted_by(operation.get("sort", ()))
            case "alter-schema":
                for change in operation["changes"]:
                    self.alter(change)
            case "alter-spec":
                for change in operation["changes"]:
                    name = {"name": change["name"]}
                    if change["op"] == "add":
                        field = {**name, "source": self.source(change["source"]), "transform": change["transform"]}
                        self.spec = [*self.spec, field]
                    elif change["op"] == "remove":
                        self.spec = [field for field in self.spec if field["name"] != change["name"]]
                    else:
                        renamed = {"name": change["to"]}
                        self.spec = [{**f, **renamed} if f["name"] == change["name"] else f for f in self.spec]
            case "sort":
                self.sort = self.sorted_by(operation["fields"])
            case "upgrade":
                self.version = operation["format_version"]
            case "branch" | "tag":
                at = operation.get("at")
                into = self.heads if operation["op"] == "branch" else self.tags
                into[operation["name"]] = self.heads[MAIN] if at is None else self.after[at]
            case "fast-forward":
                self.heads[MAIN] = self.heads[operation["to"]]
            case "rollback":
                self.heads[MAIN] = self.after[operation["to"]]


ROWS = frozenset(
    {"append", "overwrite", "delete", "delete-equal", "update", "merge", "upsert", "compact", "rewrite-manifests"}
)
"""The operations that write rows."""


def expectation(operations: list[Json]) -> Json:
    """What a table is after a script, in the form of ``table.write.expected``."""
    table, states = Table(), []
    for table.step, operation in enumerate(operations):
        if operation["op"] in ROWS:
            ref = operation.get("branch", MAIN)
            before = table.rows(operation)
            rows = table.changed(operation, before)
            changed = rows != before
            if changed or (operation["op"] == "compact" and rows):
                table.heads[ref] = {"fields": table.fields, "rows": rows}
            states.append({"after": table.step, "ref": ref, "changed": changed, **table.reading(table.fields, rows)})
        else:
            table.do(operation)
        table.after.append(table.heads.get(MAIN))
    heads = {MAIN: {"rows": []}, **table.heads}
    return {
        "format_version": table.version,
        "schema": {"type": "struct", "fields": table.fields},
        "partition": [{**field, "source": table.name(field["source"])} for field in table.spec],
        "sort": [{**field, "source": table.name(field["source"])} for field in table.sort],
        "refs": {
            **{name: table.reading(table.fields, head["rows"]) for name, head in heads.items()},
            **{name: table.reading(head["fields"], head["rows"]) for name, head in table.tags.items()},
        },
        "states": states,
    }

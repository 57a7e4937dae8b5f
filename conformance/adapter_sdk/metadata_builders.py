"""Functions about table metadata that adapters share: documents for engines, and the form of answers.

Nothing is validated: the documents contain what the request contains. Only the standard library is imported.
"""

from __future__ import annotations

from itertools import count
from typing import Any

from conformance.adapter_sdk.serve import Arguments
from conformance.core.moved_modules import renamed_member
from spec_ref.core.json_types import JsonObject

TABLE_MEMBERS = frozenset(
    {
        "format-version",
        "table-uuid",
        "location",
        "last-sequence-number",
        "last-updated-ms",
        "last-column-id",
        "current-schema-id",
        "schemas",
        "default-spec-id",
        "partition-specs",
        "last-partition-id",
        "default-sort-order-id",
        "sort-orders",
        "properties",
        "current-snapshot-id",
        "snapshots",
        "refs",
        "snapshot-log",
        "metadata-log",
        "statistics",
        "partition-statistics",
        "next-row-id",
        "encryption-keys",
    }
)
"""The members of the canonical form of a table."""

NO_PARTITION_FIELDS = 999


def select_members(args: Arguments, form: JsonObject) -> JsonObject:
    """Return the members that the request selects."""
    names = args.get("select")
    return form if names is None else {name: form[name] for name in form if name in names}


def evolving_table(args: Arguments) -> JsonObject:
    """Build the metadata of an empty table in the state that the arguments of an evolution describe."""
    schema = {"type": "struct", **args["schema"]}
    schema.setdefault("schema-id", 0)
    fields = args.get("partition_fields", [])
    specs = args.get("partition_specs", [{"spec-id": 0, "fields": fields}])
    used = [field["field-id"] for spec in specs for field in spec["fields"] if "field-id" in field]
    version = args["format_version"]
    document: JsonObject = {
        "format-version": version,
        "table-uuid": "fb072c92-a02b-11e9-ae9c-1bb7bc9eca94",
        "location": "s3://b/wh/data.db/table",
        "last-updated-ms": 1515100955770,
        "last-column-id": args.get("last_column_id", _highest_id(schema)),
        "schemas": [schema],
        "current-schema-id": schema["schema-id"],
        "partition-specs": specs,
        "default-spec-id": args.get("default_spec_id", specs[0]["spec-id"]),
        "last-partition-id": args.get("last_partition_id", max(used, default=NO_PARTITION_FIELDS)),
        "sort-orders": [{"order-id": 0, "fields": []}],
        "default-sort-order-id": 0,
    }
    if version == 1:
        default = next(spec for spec in specs if spec["spec-id"] == document["default-spec-id"])
        document |= {"schema": schema, "partition-spec": default["fields"]}
    else:
        document["last-sequence-number"] = 0
    if version >= 3:
        document["next-row-id"] = 0
    return document


def _highest_id(value: Any) -> int:
    """Return the highest column id anywhere in a schema."""
    if isinstance(value, list):
        return max(map(_highest_id, value), default=0)
    if not isinstance(value, dict):
        return 0
    own = [member for name, member in value.items() if name in ("id", "element-id", "key-id", "value-id")]
    inner = [_highest_id(value[name]) for name in ("fields", "type", "element", "key", "value") if name in value]
    return max([*own, *inner], default=0)


def sibling_name(name: str, last: str) -> str:
    """Return the full name of the sibling ``last`` of the field with the full name ``name``."""
    around, dot, _ = name.rpartition(".")
    return f"{around}{dot}{last}"


def with_placeholder_ids(columns: list[JsonObject]) -> list[JsonObject]:
    """Add ids to columns of a file without ids, for engines whose types require them."""
    numbers = count(1)

    def placed(type_: Any) -> Any:
        if not isinstance(type_, dict):
            return type_
        made = dict(type_)
        for name in ("element", "key", "value"):
            if name in made:
                made[name] = placed(made[name])
                made[f"{name}-id"] = next(numbers)
        if "fields" in made:
            made["fields"] = [field(one) for one in made["fields"]]
        return made

    def field(column: JsonObject) -> JsonObject:
        return {**column, "id": next(numbers), "type": placed(column["type"])}

    return [field(column) for column in columns]


def file_columns(columns: list[JsonObject], around: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """Return the paths of a file's columns at every level, each before those inside it."""
    paths: list[tuple[str, ...]] = []
    for column in columns:
        path = (*around, column["name"])
        paths += [path, *_inner_paths(column["type"], path)]
    return paths


def _inner_paths(type_: Any, path: tuple[str, ...]) -> list[tuple[str, ...]]:
    if not isinstance(type_, dict):
        return []
    if "fields" in type_:
        return file_columns(type_["fields"], path)
    parts = [name for name in ("element", "key", "value") if name in type_]
    return [inner for name in parts for inner in ((*path, name), *_inner_paths(type_[name], (*path, name)))]


_RENAMED = {"selected": "select_members", "sibling": "sibling_name"}


def __getattr__(name: str) -> Any:
    """Return a member by its old name; deprecated for one release."""
    return renamed_member(__name__, _RENAMED, name)

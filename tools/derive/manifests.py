"""Manifests and manifest lists by the spec's field tables, with their Avro schemas written out here.

The keys of a row are the spec's field names; missing fields are null. `entry_form` and `listed_form` convert a row to
the vectors' form.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tools.derive import avro
from tools.derive.json_types import JsonObject

Change = Callable[[JsonObject], None]
"""A function that changes the Avro schema of a file; the rows have to match the result."""

SNAPSHOT = 3055729675574597004
OTHER_SNAPSHOT = 9007199254740993
"""2**53 + 1, which no double can represent."""

SCHEMA: JsonObject = {
    "type": "struct",
    "schema-id": 0,
    "fields": [
        {"id": 1, "name": "id", "required": True, "type": "long"},
        {"id": 2, "name": "data", "required": False, "type": "string"},
        {"id": 3, "name": "x", "required": False, "type": "double"},
    ],
}
UNPARTITIONED: JsonObject = {"spec-id": 0, "fields": []}


def optional(type_: Any) -> list[Any]:
    """Return the Avro type of a nullable value."""
    return ["null", type_]


def field(field_id: int | None, name: str, type_: Any) -> JsonObject:
    """Return a field of a record; an optional field has the default null."""
    made = {"name": name, "type": type_}
    if isinstance(type_, list) and type_[0] == "null":
        made["default"] = None
    return made if field_id is None else {**made, "field-id": field_id}


def array(element_id: int, items: Any) -> JsonObject:
    """Return an Avro array type."""
    return {"type": "array", "items": items, "element-id": element_id}


def pairs(key_id: int, value_id: int, value: Any) -> JsonObject:
    """Return the Avro type of a map with keys that are not strings: an array of key-value records."""
    fields = [field(key_id, "key", "int"), field(value_id, "value", value)]
    record = {"type": "record", "name": f"k{key_id}_v{value_id}", "fields": fields}
    return {"type": "array", "logicalType": "map", "items": record}


R, O, N = "required", "optional", None  # noqa: E741
"""Whether the writers of a version must write a field, may write it, or leave it out."""

DATA_FILE: tuple[tuple[int, str, Any, tuple[Any, Any, Any]], ...] = (
    (134, "content", "int", (N, R, R)),
    (100, "file_path", "string", (R, R, R)),
    (101, "file_format", "string", (R, R, R)),
    (102, "partition", None, (R, R, R)),
    (103, "record_count", "long", (R, R, R)),
    (104, "file_size_in_bytes", "long", (R, R, R)),
    (105, "block_size_in_bytes", "long", (R, N, N)),
    (108, "column_sizes", pairs(117, 118, "long"), (O, O, O)),
    (109, "value_counts", pairs(119, 120, "long"), (O, O, O)),
    (110, "null_value_counts", pairs(121, 122, "long"), (O, O, O)),
    (137, "nan_value_counts", pairs(138, 139, "long"), (O, O, O)),
    (125, "lower_bounds", pairs(126, 127, "bytes"), (O, O, O)),
    (128, "upper_bounds", pairs(129, 130, "bytes"), (O, O, O)),
    (131, "key_metadata", "bytes", (O, O, O)),
    (132, "split_offsets", array(133, "long"), (O, O, O)),
    (135, "equality_ids", array(136, "int"), (N, O, O)),
    (140, "sort_order_id", "int", (O, O, O)),
    (142, "first_row_id", "long", (N, N, O)),
    (143, "referenced_data_file", "string", (N, O, O)),
    (144, "content_offset", "long", (N, N, O)),
    (145, "content_size_in_bytes", "long", (N, N, O)),
)
ENTRY: tuple[tuple[int, str, Any, tuple[Any, Any, Any]], ...] = (
    (0, "status", "int", (R, R, R)),
    (1, "snapshot_id", "long", (R, O, O)),
    (3, "sequence_number", "long", (N, O, O)),
    (4, "file_sequence_number", "long", (N, O, O)),
    (2, "data_file", None, (R, R, R)),
)
SUMMARY = {
    "type": "record",
    "name": "r508",
    "fields": [
        field(509, "contains_null", "boolean"),
        field(518, "contains_nan", optional("boolean")),
        field(510, "lower_bound", optional("bytes")),
        field(511, "upper_bound", optional("bytes")),
    ],
}
LISTED: tuple[tuple[int, str, Any, tuple[Any, Any, Any]], ...] = (
    (500, "manifest_path", "string", (R, R, R)),
    (501, "manifest_length", "long", (R, R, R)),
    (502, "partition_spec_id", "int", (R, R, R)),
    (517, "content", "int", (N, R, R)),
    (515, "sequence_number", "long", (N, R, R)),
    (516, "min_sequence_number", "long", (N, R, R)),
    (503, "added_snapshot_id", "long", (R, R, R)),
    (504, "added_files_count", "int", (O, R, R)),
    (505, "existing_files_count", "int", (O, R, R)),
    (506, "deleted_files_count", "int", (O, R, R)),
    (512, "added_rows_count", "long", (O, R, R)),
    (513, "existing_rows_count", "long", (O, R, R)),
    (514, "deleted_rows_count", "long", (O, R, R)),
    (507, "partitions", array(508, SUMMARY), (O, O, O)),
    (519, "key_metadata", "bytes", (O, O, O)),
    (520, "first_row_id", "long", (N, N, O)),
)


def _columns(table: Any, version: int, wanted: Callable[[str], bool]) -> list[JsonObject]:
    made = []
    for field_id, name, type_, rules in table:
        rule = rules[version - 1]
        if rule is R or (rule is O and wanted(name)):
            made.append(field(field_id, name, type_ if rule is R else optional(type_)))
    return copy.deepcopy(made)


def entry_schema(version: int, partition: Sequence[JsonObject] = (), columns: Sequence[str] | None = ()) -> JsonObject:
    """Return the Avro schema of a manifest.

    Args:
        version: the format version.
        partition: the fields of the partition tuple.
        columns: the optional columns of data files to include; None for all.
    """
    file_fields = _columns(DATA_FILE, version, lambda name: columns is None or name in columns)
    tuple_type = {"type": "record", "name": "r102", "fields": list(partition)}
    for one in file_fields:
        if one["name"] == "partition":
            one["type"] = tuple_type
    fields = _columns(ENTRY, version, lambda _: True)
    fields[-1]["type"] = {"type": "record", "name": "r2", "fields": file_fields}
    return {"type": "record", "name": "manifest_entry", "fields": fields}


def list_schema(version: int, columns: Sequence[str] | None = None) -> JsonObject:
    """Return the Avro schema of a manifest list, with the named optional columns or all."""
    fields = _columns(LISTED, version, lambda name: columns is None or name in columns)
    return {"type": "record", "name": "manifest_file", "fields": fields}


def data_file_fields(schema: JsonObject) -> list[JsonObject]:
    """Return the fields of the data file in a manifest's schema."""
    fields: list[JsonObject] = next(one for one in schema["fields"] if one.get("field-id") == 2)["type"]["fields"]
    return fields


def column(schema: JsonObject, field_id: int) -> JsonObject:
    """Return the field with an id in an entry, a data file or a list."""
    found = [one for one in schema["fields"] if one.get("field-id") == field_id]
    return found[0] if found else next(one for one in data_file_fields(schema) if one.get("field-id") == field_id)


def keys(
    version: int, content: str = "data", spec: JsonObject = UNPARTITIONED, schema: JsonObject = SCHEMA
) -> dict[str, str]:
    """Return the key-value metadata that the spec requires."""
    made = {
        "schema": json.dumps(schema, separators=(",", ":")),
        "schema-id": str(schema["schema-id"]),
        "partition-spec": json.dumps(spec["fields"], separators=(",", ":")),
        "partition-spec-id": str(spec["spec-id"]),
        "format-version": str(version),
    }
    return made if version == 1 else {**made, "content": content}


def data_file(number: int = 1, **members: Any) -> JsonObject:
    """Return a data file of ten rows."""
    made = {
        "content": 0,
        "file_path": f"s3://b/wh/t/data/{number}.parquet",
        "file_format": "PARQUET",
        "partition": {},
        "record_count": 10,
        "file_size_in_bytes": 1000 + number,
        "block_size_in_bytes": 67108864,
    }
    return {**made, **members}


def entry(number: int = 1, status: int = 1, *, file: JsonObject | None = None, **members: Any) -> JsonObject:
    """Return a manifest entry; ``file`` changes its data file."""
    return {"status": status, "snapshot_id": None, "data_file": data_file(number, **(file or {})), **members}


def manifest(
    version: int,
    rows: Sequence[JsonObject],
    *,
    columns: Sequence[str] | None = (),
    partition: Sequence[JsonObject] = (),
    spec: JsonObject = UNPARTITIONED,
    table: JsonObject = SCHEMA,
    content: str = "data",
    change: Change | None = None,
    metadata: Mapping[str, str | None] | None = None,
    codec: str | None = "null",
    split: int | None = None,
) -> bytes:
    """Return a manifest.

    Args:
        version: the format version.
        rows: the entries.
        columns: the optional columns of data files to include; None for all.
        partition: the Avro fields of the partition tuple.
        spec: the partition spec.
        table: the table's schema.
        content: the content type in the header.
        change: changes the Avro schema.
        metadata: header keys with a different value, or None for a missing key.
        codec: the codec.
        split: the number of entries in a block; None for a single block.
    """
    schema = entry_schema(version, partition, columns)
    if change is not None:
        change(schema)
    members: dict[str, str | None] = {**keys(version, content, spec, table), **(metadata or {})}
    given = {key: value for key, value in members.items() if value is not None}
    size = split or len(rows) or 1
    parts = [rows[start : start + size] for start in range(0, len(rows), size)]
    blocks = [(len(part), b"".join(avro.encode(schema, row) for row in part)) for part in parts]
    return avro.container(schema, blocks, given, codec)


def listed(number: int = 1, **members: Any) -> JsonObject:
    """Return an entry of a manifest list."""
    made = {
        "manifest_path": f"s3://b/wh/t/metadata/m{number}.avro",
        "manifest_length": 7000 + number,
        "partition_spec_id": 0,
        "content": 0,
        "sequence_number": 7,
        "min_sequence_number": 7,
        "added_snapshot_id": SNAPSHOT,
        "added_files_count": 1,
        "existing_files_count": 0,
        "deleted_files_count": 0,
        "added_rows_count": 10,
        "existing_rows_count": 0,
        "deleted_rows_count": 0,
    }
    return {**made, **members}


def manifest_list(
    version: int,
    rows: Sequence[JsonObject],
    *,
    columns: Sequence[str] | None = None,
    change: Change | None = None,
    metadata: Mapping[str, str] | None = None,
    codec: str | None = "null",
) -> bytes:
    """Return a manifest list; its header has only Avro's keys and those in ``metadata``."""
    schema = list_schema(version, columns)
    if change is not None:
        change(schema)
    blocks = [(len(rows), b"".join(avro.encode(schema, row) for row in rows))] if rows else []
    return avro.container(schema, blocks, metadata or {}, codec)


# In the form of vectors

_LONGS = frozenset(
    {
        "snapshot_id",
        "sequence_number",
        "file_sequence_number",
        "record_count",
        "file_size_in_bytes",
        "first_row_id",
        "content_offset",
        "content_size_in_bytes",
        "manifest_length",
        "min_sequence_number",
        "added_snapshot_id",
        "added_rows_count",
        "existing_rows_count",
        "deleted_rows_count",
    }
)


def member_form(name: str, value: Any) -> Any:
    """Convert a value to the vectors' form."""
    if name in _LONGS:
        return str(value)
    if isinstance(value, bytes):
        return value.hex().upper()
    if name == "split_offsets":
        return [str(item) for item in value]
    if isinstance(value, list) and value and isinstance(value[0], dict) and value[0].keys() == {"key", "value"}:
        items = ((pair["key"], pair["value"]) for pair in value)
        return {str(key): item.hex().upper() if isinstance(item, bytes) else str(item) for key, item in items}
    return value


def _members(row: Mapping[str, Any]) -> JsonObject:
    return {name: member_form(name, value) for name, value in row.items() if value is not None}


def entry_form(
    row: JsonObject, partition: JsonObject | None = None, file: JsonObject | None = None, **inherited: Any
) -> JsonObject:
    """Return the form of an entry as it is read; ``file`` and ``inherited`` are the values that it inherits."""
    given = {name: value for name, value in row["data_file"].items() if name != "block_size_in_bytes"}
    form = _members({**given, **(file or {})})
    form["file_format"] = form["file_format"].lower()
    form["partition"] = partition or {}
    rest = {name: value for name, value in {**row, **inherited}.items() if name != "data_file"}
    return {**_members(rest), "data_file": form}


def listed_form(row: JsonObject, **changes: Any) -> JsonObject:
    """Return the form of a manifest list's entry as it is read."""
    form = _members({**row, **changes})
    if "partitions" in form:
        form["partitions"] = [_members(summary) for summary in form["partitions"]]
    return form


def counts(values: Mapping[int, Any]) -> list[JsonObject]:
    """Convert a map to its Avro array."""
    return [{"key": key, "value": value} for key, value in values.items()]

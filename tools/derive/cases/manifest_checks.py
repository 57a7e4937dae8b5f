"""Manifests and manifest lists for validators: broken ones that break one rule each, and valid neighbours."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from typing import Any

from tools.derive.cases.manifest_reads import LAYOUT
from tools.derive.json_types import JsonObject
from tools.derive.manifests import (
    OTHER_SNAPSHOT,
    SCHEMA,
    SNAPSHOT,
    array,
    column,
    counts,
    data_file_fields,
    entry,
    field,
    manifest,
    optional,
    pairs,
)
from tools.derive.vector import Vector, ok

SPEC: JsonObject = {
    "spec-id": 4,
    "fields": [{"source-id": 2, "field-id": 1000, "name": "p", "transform": "identity"}],
}
PARTITION = (field(1000, "p", optional("string")),)
NUMBERS: JsonObject = {"snapshot_id": OTHER_SNAPSHOT, "sequence_number": 3, "file_sequence_number": 3}

Row = tuple[str, int, str, bytes, str]
"""The name, the version, the codes, the file and the defect."""


def _file(**members: Any) -> JsonObject:
    return {"partition": {"p": "x"}, **members}


def entry_in_x(status: int = 1, *, file: JsonObject | None = None, **members: Any) -> JsonObject:
    """Return an entry in the partition x."""
    return entry(1, status, file=_file(**(file or {})), **members)


def manifest_with_all_columns(version: int = 2, rows: list[JsonObject] | None = None, **more: Any) -> bytes:
    """Return a manifest with all columns."""
    more.setdefault("columns", None)
    given = {"partition": PARTITION, "spec": SPEC, **more}
    return manifest(version, [entry_in_x(snapshot_id=SNAPSHOT)] if rows is None else rows, **given)


DELETES: JsonObject = {"content": "deletes"}
VECTOR = {
    "content": 1,
    "file_format": "PUFFIN",
    "file_path": "s3://b/dv.puffin",
    "referenced_data_file": "s3://b/9.parquet",
    "content_offset": 4,
    "content_size_in_bytes": 40,
}


def _sound() -> Iterator[tuple[str, int, bytes, str]]:
    for version in (1, 2, 3):
        yield f"v{version}", version, manifest_with_all_columns(version), f"all columns of v{version}"
        yield (
            f"v{version}-fewer-columns",
            version,
            manifest_with_all_columns(version, columns=()),
            "optional columns are left out",
        )
    kept = [entry_in_x(0, **NUMBERS), entry_in_x(2, **{**NUMBERS, "snapshot_id": SNAPSHOT})]
    yield "statuses", 2, manifest_with_all_columns(2, kept), "existing and deleted entries with their numbers"
    files = [entry_in_x(file={"content": 1}), entry_in_x(file={"content": 2, "equality_ids": [1]})]
    yield "deletes", 2, manifest_with_all_columns(2, files, **DELETES), "delete files"
    yield "deletion-vector", 3, manifest_with_all_columns(3, [entry_in_x(file=VECTOR)], **DELETES), "a deletion vector"
    metrics = {
        "value_counts": counts({1: 10, 2: 10, 3: 10}),
        "null_value_counts": counts({1: 0, 2: 10, 3: 0}),
        "nan_value_counts": counts({3: 10}),
        "lower_bounds": counts({1: struct.pack("<q", 1), 99: b"\x01"}),
        "upper_bounds": counts({1: struct.pack("<q", 1), 99: b"\x00"}),
        "split_offsets": [4, 500],
    }
    yield (
        "metrics",
        2,
        manifest_with_all_columns(2, [entry_in_x(file=metrics)]),
        "metrics, also of a column that the schema does not have",
    )
    rows = [entry_in_x(0, file={"first_row_id": 5}, **NUMBERS), entry_in_x()]
    yield "row-ids", 3, manifest_with_all_columns(3, rows), "an existing file keeps its row ids, a new one has none"
    yield (
        "v1-bare-header",
        1,
        manifest_with_all_columns(1, metadata={"schema-id": None, "partition-spec-id": None, "format-version": None}),
        ("the keys that came with v2 are missing in v1"),
    )
    yield (
        "v1-old-columns",
        1,
        manifest_with_all_columns(1, change=_old_columns),
        "columns that v1 has and that nobody writes",
    )
    null = [entry_in_x(file={"partition": {"p": None}})]
    yield "null-partition", 2, manifest_with_all_columns(2, null), "a partition value is null"
    yield "nulls-first-and-last", 2, manifest_with_all_columns(2, change=_reverse_unions), "null is last in every union"


def _old_columns(schema: JsonObject) -> None:
    data_file_fields(schema).append(field(106, "file_ordinal", optional("int")))
    data_file_fields(schema).append(field(107, "sort_columns", optional(array(112, "int"))))


def _reverse_unions(schema: JsonObject) -> None:
    for each in [*schema["fields"], *data_file_fields(schema)]:
        if isinstance(each["type"], list):
            each["type"].reverse()
            each.pop("default")


def _headers() -> Iterator[Row]:
    rows: list[tuple[str, str, dict[str, str | None], str]] = [
        ("schema-missing", "MAN005", {"schema": None}, "no schema"),
        ("schema-avro", "MAN005", {"schema": '{"type":"record","name":"r","fields":[]}'}, "an Avro schema"),
        ("schema-no-json", "MAN005", {"schema": "{"}, "not JSON"),
        ("schema-id-missing", "MAN006", {"schema-id": None}, "no schema-id"),
        ("partition-spec-missing", "MAN007", {"partition-spec": None}, "no partition-spec"),
        ("partition-spec-null", "MAN007", {"partition-spec": "null"}, "null in place of the fields"),
        ("partition-spec-id-missing", "MAN008", {"partition-spec-id": None}, "no partition-spec-id"),
        ("partition-spec-id-text", "MAN008", {"partition-spec-id": "four"}, "the id is not a number"),
        ("format-version-missing", "MAN009", {"format-version": None}, "no format-version"),
        ("format-version-unknown", "MAN009", {"format-version": "9"}, "a version that does not exist"),
        ("content-missing", "MAN010", {"content": None}, "no content"),
        ("content-unknown", "MAN010", {"content": "delete"}, "neither data nor deletes"),
    ]
    for name, code, metadata, note in rows:
        yield f"header-{name}", 2, code, manifest_with_all_columns(2, metadata=metadata), note


def _schemas() -> Iterator[Row]:
    """Yield cases of Avro schemas."""

    def without(*ids: int) -> Callable[[JsonObject], None]:
        def change(schema: JsonObject) -> None:
            for fields in (schema["fields"], data_file_fields(schema)):
                fields[:] = [each for each in fields if each["field-id"] not in ids]

        return change

    def retyped(field_id: int, type_: Any) -> Callable[[JsonObject], None]:
        def change(schema: JsonObject) -> None:
            each = column(schema, field_id)
            each["type"] = type_(each["type"]) if callable(type_) else type_
            each.pop("default", None)

        return change

    for field_id, name, code in (
        (1, "snapshot-id", "MAN012"),
        (3, "sequence-number", "MAN013"),
        (4, "file-sequence-number", "MAN014"),
        (134, "content", "DFL001"),
    ):
        yield (
            f"{name}-column-missing",
            2,
            code,
            manifest_with_all_columns(2, change=without(field_id)),
            f"no column {name}",
        )
    yield (
        "block-size-column-missing",
        1,
        "DFL008",
        manifest_with_all_columns(1, change=without(105)),
        "v1 writes block_size_in_bytes",
    )
    for field_id, name, code in (
        (0, "status", "MAN011"),
        (100, "file_path", "DFL002"),
        (101, "file_format", "DFL003"),
        (103, "record_count", "DFL005"),
        (104, "file_size_in_bytes", "DFL006"),
        (102, "partition", "DFL004"),
    ):
        yield (
            f"{name.removesuffix('_in_bytes').replace('_', '-')}-optional",
            2,
            code,
            manifest_with_all_columns(2, change=retyped(field_id, optional)),
            f"{name} is required but written as optional",
        )

    def ints(schema: JsonObject) -> None:
        column(schema, 109)["type"][1]["items"]["fields"][1]["type"] = "int"

    yield "value-counts-of-ints", 2, "DFL012", manifest_with_all_columns(2, change=ints), "the counts are longs"

    def long_ids(schema: JsonObject) -> None:
        column(schema, 135)["type"][1]["items"] = "long"

    yield "equality-ids-of-longs", 2, "DFL020", manifest_with_all_columns(2, change=long_ids), "equality ids are ints"

    note = "file_ordinal and sort_columns are of v1 alone"
    yield "old-columns-in-v2", 2, "VER005", manifest_with_all_columns(2, change=_old_columns), note

    def distinct(schema: JsonObject) -> None:
        data_file_fields(schema).append(field(111, "distinct_counts", optional(pairs(123, 124, "long"))))

    yield (
        "distinct-counts-in-v3",
        3,
        "VER005",
        manifest_with_all_columns(3, change=distinct),
        "v3 has no distinct_counts any more",
    )

    def no_element_id(schema: JsonObject) -> None:
        del column(schema, 135)["type"][1]["element-id"]

    note = "the elements of equality_ids have no id"
    yield "equality-ids-without-element-id", 2, "AVR013", manifest_with_all_columns(2, change=no_element_id), note

    def no_logical(schema: JsonObject) -> None:
        del column(schema, 109)["type"][1]["logicalType"]

    yield (
        "map-without-logical-type",
        2,
        "AVR004",
        manifest_with_all_columns(2, change=no_logical),
        "the array of a map is not marked as a map",
    )
    yield (
        "record-count-int",
        2,
        "DFL005",
        manifest_with_all_columns(2, change=retyped(103, "int")),
        "record_count is a long",
    )

    def wrong_pair(schema: JsonObject) -> None:
        column(schema, 109)["type"][1]["items"]["fields"][0]["field-id"] = 9000

    yield (
        "map-key-id",
        2,
        "DFL012",
        manifest_with_all_columns(2, change=wrong_pair),
        "the key of value_counts has the id 119",
    )
    other = {"type": "int"}
    rows = [entry_in_x(file={"partition": {"p": 7}})]
    yield (
        "partition-type",
        2,
        "DFL004",
        manifest_with_all_columns(2, rows, partition=(field(1000, "p", optional(other)),)),
        "an int for a string",
    )
    extra = (*PARTITION, field(1001, "q", optional("int")))
    yield (
        "partition-extra",
        2,
        "DFL004",
        manifest_with_all_columns(2, partition=extra),
        "a field that the spec does not have",
    )
    yield (
        "partition-missing",
        2,
        "DFL004",
        manifest_with_all_columns(2, [entry(1)], partition=()),
        "the field of the spec is missing",
    )
    yield (
        "partition-name",
        2,
        "DFL004",
        manifest_with_all_columns(
            2, [entry_in_x(file={"partition": {"q": "x"}})], partition=(field(1000, "q", optional("string")),)
        ),
        "another name than in the spec",
    )
    yield (
        "partition-required",
        2,
        "DFL004",
        manifest_with_all_columns(2, partition=(field(1000, "p", "string"),)),
        "a partition field is required in the Avro schema",
    )


def _entries() -> Iterator[Row]:
    def of(name: str, code: str, note: str, row: JsonObject, version: int = 2, **more: Any) -> Row:
        return name, version, code, manifest_with_all_columns(version, [row], **more), note

    yield of("content-mixed", "MAN002", "a delete file in a manifest of data", entry_in_x(file={"content": 1}))
    yield of("content-mixed-data", "MAN002", "a data file in a manifest of deletes", entry_in_x(), **DELETES)
    for name, status in (("existing", 0), ("deleted", 2)):
        for gone in ("sequence_number", "file_sequence_number"):
            row = entry_in_x(status, **{**NUMBERS, gone: None})
            yield of(f"{name}-without-{gone.replace('_', '-')}", "MAN022", f"{gone} is null", row)
    yield of(
        "added-with-number",
        "SEQ005",
        "a new file has explicit numbers",
        entry_in_x(sequence_number=7, file_sequence_number=7),
    )
    row = entry_in_x(2, **{**NUMBERS, "snapshot_id": None})
    yield of("deleted-without-snapshot", "MAN017", "the id of the deleting snapshot is missing", row)
    null = manifest(
        1,
        [entry_in_x()],
        columns=None,
        partition=PARTITION,
        spec=SPEC,
        change=lambda schema: column(schema, 1).update(type=optional("long")),
    )
    yield "v1-snapshot-id-null", 1, "MAN012", null, "the snapshot id is required in v1"
    yield of("added-with-row-id", "LIN018", "a new file has a row id", entry_in_x(file={"first_row_id": 5}), 3)
    row = entry_in_x(file={"content": 1, "first_row_id": 5})
    yield of("delete-file-with-row-id", "LIN021", "a delete file has a row id", row, 3, **DELETES)
    yield of(
        "path-without-scheme", "DFL002", "the path is not a full URI", entry_in_x(file={"file_path": "data/1.parquet"})
    )
    row = entry_in_x(file={"file_format": "PUFFIN"})
    yield of("data-in-puffin", "DFL003", "a data file in Puffin", row, 3)
    for name, code in (("record_count", "DFL005"), ("file_size_in_bytes", "DFL006")):
        yield of(f"{name.replace('_', '-')}-negative", code, f"{name} is -1", entry_in_x(file={name: -1}))
    for name, code in (
        ("column_sizes", "DFL011"),
        ("value_counts", "DFL012"),
        ("null_value_counts", "DFL013"),
        ("nan_value_counts", "DFL014"),
    ):
        yield of(f"{name.replace('_', '-')}-negative", code, "a count is -1", entry_in_x(file={name: counts({1: -1})}))
    row = entry_in_x(file={"value_counts": counts({2: 3}), "null_value_counts": counts({2: 4})})
    yield of("nulls-above-values", "DFL013", "4 nulls among 3 values", row)
    yield of("offsets-descend", "DFL019", "the offsets do not ascend", entry_in_x(file={"split_offsets": [500, 4]}))
    yield of("offsets-twice", "DFL019", "an offset is listed twice", entry_in_x(file={"split_offsets": [4, 4]}))
    yield of("offsets-empty", "DFL019", "an empty list in place of null", entry_in_x(file={"split_offsets": []}))
    row = entry_in_x(file={"content": 2})
    yield of("equality-without-ids", "DFL020", "an equality delete file without ids", row, **DELETES)
    row = entry_in_x(file={"content": 2, "equality_ids": []})
    yield of("equality-empty-ids", "DFL020", "an equality delete file without ids", row, **DELETES)
    yield of(
        "data-with-equality-ids", "DFL020", "a data file with equality ids", entry_in_x(file={"equality_ids": [1]})
    )
    for name, code in (
        ("referenced_data_file", "DFL023"),
        ("content_offset", "DFL024"),
        ("content_size_in_bytes", "DFL025"),
    ):
        row = entry_in_x(file={**VECTOR, name: None})
        yield of(f"vector-without-{name.replace('_', '-')}", code, f"{name} is null", row, 3, **DELETES)
    row = entry_in_x(file={"content": 1, "sort_order_id": 1})
    yield of("position-deletes-sorted", "DFL028", "position deletes have no sort order", row, **DELETES)
    bounds: list[tuple[str, str, JsonObject, str]] = [
        ("lower-bound-length", "DFL016", {"lower_bounds": counts({1: b"\x01\x02\x03"})}, "3 bytes for a long"),
        ("upper-bound-length", "DFL017", {"upper_bounds": counts({1: b""})}, "no bytes for a long"),
        (
            "bounds-crossed",
            "DFL016",
            {"lower_bounds": counts({1: struct.pack("<q", 2)}), "upper_bounds": counts({1: struct.pack("<q", 1)})},
            "the lower bound is above the upper",
        ),
        ("lower-bound-nan", "DFL027", {"lower_bounds": counts({3: struct.pack("<d", float("nan"))})}, "NaN is a bound"),
        ("upper-bound-nan", "DFL027", {"upper_bounds": counts({3: struct.pack("<d", float("nan"))})}, "NaN is a bound"),
        ("upper-bound-utf-8", "DFL017", {"upper_bounds": counts({2: b"\xff"})}, "a string is not UTF-8"),
    ]
    for name, code, file, note in bounds:
        yield of(name, code, note, entry_in_x(file=file))


def manifests() -> Iterator[Vector]:
    """Yield cases of manifests without a list."""

    def vector(name: str, version: int, codes: list[str], data: bytes, note: str, shown: tuple[str, ...]) -> Vector:
        args = {"bytes": data.hex().upper(), "schema": SCHEMA, "specs": [SPEC]}
        return Vector(f"manifest-check-{name}", shown, args, ok(codes), LAYOUT, note, only=(version,))

    for name, version, data, note in _sound():
        yield vector(f"valid-{name}", version, [], data, note, ("MAN001",))
    for name, version, code, data, note in (*_headers(), *_schemas(), *_entries()):
        yield vector(name, version, [code], data, note, (code,))

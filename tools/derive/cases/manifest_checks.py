"""Manifests and manifest lists with one broken rule each, and the sound ones next to them, for validators."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from typing import Any

from tools.derive.cases.manifest_reads import LAYOUT
from tools.derive.manifests import (
    OTHER_SNAPSHOT,
    SCHEMA,
    SNAPSHOT,
    Json,
    array,
    column,
    columns_of,
    counts,
    data_file,
    entry,
    field,
    listed,
    listed_form,
    manifest,
    manifest_list,
    optional,
    pairs,
)
from tools.derive.vector import Vector, ok

SPEC: Json = {
    "spec-id": 4,
    "fields": [{"source-id": 2, "field-id": 1000, "name": "p", "transform": "identity"}],
}
PARTITION = (field(1000, "p", optional("string")),)
NUMBERS = {"snapshot_id": OTHER_SNAPSHOT, "sequence_number": 3, "file_sequence_number": 3}

Row = tuple[str, int, str, bytes, str]
"""The name, the version, the codes, the file and what is broken."""


def _file(**members: Any) -> Json:
    return {"partition": {"p": "x"}, **members}


def one(status: int = 1, *, file: Json | None = None, **members: Any) -> Json:
    """An entry in the partition x."""
    return entry(1, status, file=_file(**(file or {})), **members)


def made(version: int = 2, rows: list[Json] | None = None, **more: Any) -> bytes:
    """A manifest with all columns."""
    more.setdefault("columns", None)
    given = {"partition": PARTITION, "spec": SPEC, **more}
    return manifest(version, [one(snapshot_id=SNAPSHOT)] if rows is None else rows, **given)


DELETES = {"content": "deletes"}
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
        yield f"v{version}", version, made(version), f"all columns of v{version}"
        yield f"v{version}-fewer-columns", version, made(version, columns=()), "optional columns are left out"
    kept = [one(0, **NUMBERS), one(2, **{**NUMBERS, "snapshot_id": SNAPSHOT})]
    yield "statuses", 2, made(2, kept), "existing and deleted entries with their numbers"
    files = [one(file={"content": 1}), one(file={"content": 2, "equality_ids": [1]})]
    yield "deletes", 2, made(2, files, **DELETES), "delete files"
    yield "deletion-vector", 3, made(3, [one(file=VECTOR)], **DELETES), "a deletion vector"
    metrics = {
        "value_counts": counts({1: 10, 2: 10, 3: 10}),
        "null_value_counts": counts({1: 0, 2: 10, 3: 0}),
        "nan_value_counts": counts({3: 10}),
        "lower_bounds": counts({1: struct.pack("<q", 1), 99: b"\x01"}),
        "upper_bounds": counts({1: struct.pack("<q", 1), 99: b"\x00"}),
        "split_offsets": [4, 500],
    }
    yield "metrics", 2, made(2, [one(file=metrics)]), "metrics, also of a column that the schema does not have"
    rows = [one(0, file={"first_row_id": 5}, **NUMBERS), one()]
    yield "row-ids", 3, made(3, rows), "an existing file keeps its row ids, a new one has none"
    yield (
        "v1-bare-header",
        1,
        made(1, metadata={"schema-id": None, "partition-spec-id": None, "format-version": None}),
        ("the keys that came with v2 are missing in v1"),
    )
    yield "v1-old-columns", 1, made(1, change=_old_columns), "columns that v1 has and that nobody writes"
    null = [one(file={"partition": {"p": None}})]
    yield "null-partition", 2, made(2, null), "a partition value is null"
    yield "nulls-first-and-last", 2, made(2, change=_turned), "null stands last in every union"


def _old_columns(schema: Json) -> None:
    columns_of(schema).append(field(106, "file_ordinal", optional("int")))
    columns_of(schema).append(field(107, "sort_columns", optional(array(112, "int"))))


def _turned(schema: Json) -> None:
    for each in [*schema["fields"], *columns_of(schema)]:
        if isinstance(each["type"], list):
            each["type"].reverse()
            each.pop("default")


def _headers() -> Iterator[Row]:
    rows: list[tuple[str, str, dict[str, str | None], str]] = [
        ("schema-missing", "MAN005", {"schema": None}, "no schema"),
        ("schema-avro", "MAN005", {"schema": '{"type":"record","name":"r","fields":[]}'}, "an Avro schema"),
        ("schema-no-json", "MAN005", {"schema": "{"}, "no JSON"),
        ("schema-id-missing", "MAN006", {"schema-id": None}, "no schema-id"),
        ("partition-spec-missing", "MAN007", {"partition-spec": None}, "no partition-spec"),
        ("partition-spec-null", "MAN007", {"partition-spec": "null"}, "null for the fields"),
        ("partition-spec-id-missing", "MAN008", {"partition-spec-id": None}, "no partition-spec-id"),
        ("partition-spec-id-text", "MAN008", {"partition-spec-id": "four"}, "the id is no number"),
        ("format-version-missing", "MAN009", {"format-version": None}, "no format-version"),
        ("format-version-unknown", "MAN009", {"format-version": "9"}, "a version that there is not"),
        ("content-missing", "MAN010", {"content": None}, "no content"),
        ("content-unknown", "MAN010", {"content": "delete"}, "neither data nor deletes"),
    ]
    for name, code, metadata, note in rows:
        yield f"header-{name}", 2, code, made(2, metadata=metadata), note


def _schemas() -> Iterator[Row]:
    """Avro schemas."""

    def without(*ids: int) -> Callable[[Json], None]:
        def change(schema: Json) -> None:
            for fields in (schema["fields"], columns_of(schema)):
                fields[:] = [each for each in fields if each["field-id"] not in ids]

        return change

    def retyped(field_id: int, type_: Any) -> Callable[[Json], None]:
        def change(schema: Json) -> None:
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
        yield f"{name}-column-missing", 2, code, made(2, change=without(field_id)), f"no column {name}"
    yield "block-size-column-missing", 1, "DFL008", made(1, change=without(105)), "v1 writes block_size_in_bytes"
    for field_id, name, code in (
        (0, "status", "MAN011"),
        (2, "data-file", "MAN015"),
        (100, "file-path", "DFL002"),
        (101, "file-format", "DFL003"),
        (103, "record-count", "DFL005"),
        (104, "file-size", "DFL006"),
        (102, "partition", "DFL004"),
    ):
        if field_id != 2:
            yield (
                f"{name}-optional",
                2,
                code,
                made(2, change=retyped(field_id, optional)),
                f"{name} is required and written as optional",
            )

    def ints(schema: Json) -> None:
        column(schema, 109)["type"][1]["items"]["fields"][1]["type"] = "int"

    yield "value-counts-of-ints", 2, "DFL012", made(2, change=ints), "the counts are longs"

    def long_ids(schema: Json) -> None:
        column(schema, 135)["type"][1]["items"] = "long"

    yield "equality-ids-of-longs", 2, "DFL020", made(2, change=long_ids), "equality ids are ints"

    note = "file_ordinal and sort_columns are of v1 alone"
    yield "old-columns-in-v2", 2, "VER005", made(2, change=_old_columns), note

    def distinct(schema: Json) -> None:
        columns_of(schema).append(field(111, "distinct_counts", optional(pairs(123, 124, "long"))))

    yield "distinct-counts-in-v3", 3, "VER005", made(3, change=distinct), "v3 has no distinct_counts any more"

    def no_element_id(schema: Json) -> None:
        del column(schema, 135)["type"][1]["element-id"]

    note = "the elements of equality_ids have no id"
    yield "equality-ids-without-element-id", 2, "AVR013", made(2, change=no_element_id), note

    def no_logical(schema: Json) -> None:
        del column(schema, 109)["type"][1]["logicalType"]

    yield (
        "map-without-logical-type",
        2,
        "AVR004",
        made(2, change=no_logical),
        "the array of a map is not marked as a map",
    )
    yield "record-count-int", 2, "DFL005", made(2, change=retyped(103, "int")), "record_count is a long"

    def wrong_pair(schema: Json) -> None:
        column(schema, 109)["type"][1]["items"]["fields"][0]["field-id"] = 9000

    yield "map-key-id", 2, "DFL012", made(2, change=wrong_pair), "the key of value_counts has the id 119"
    other = {"type": "int"}
    rows = [one(file={"partition": {"p": 7}})]
    yield (
        "partition-type",
        2,
        "DFL004",
        made(2, rows, partition=(field(1000, "p", optional(other)),)),
        "an int for a string",
    )
    extra = (*PARTITION, field(1001, "q", optional("int")))
    yield "partition-extra", 2, "DFL004", made(2, partition=extra), "a field that the spec does not have"
    yield "partition-missing", 2, "DFL004", made(2, [entry(1)], partition=()), "the field of the spec is missing"
    yield (
        "partition-name",
        2,
        "DFL004",
        made(2, [one(file={"partition": {"q": "x"}})], partition=(field(1000, "q", optional("string")),)),
        "another name than in the spec",
    )
    yield (
        "partition-required",
        2,
        "DFL004",
        made(2, partition=(field(1000, "p", "string"),)),
        "a partition field is optional",
    )


def _entries() -> Iterator[Row]:
    def of(name: str, code: str, note: str, row: Json, version: int = 2, **more: Any) -> Row:
        return name, version, code, made(version, [row], **more), note

    yield of("content-mixed", "MAN002", "a delete file in a manifest of data", one(file={"content": 1}))
    yield of("content-mixed-data", "MAN002", "a data file in a manifest of deletes", one(), **DELETES)
    for name, status in (("existing", 0), ("deleted", 2)):
        for gone in ("sequence_number", "file_sequence_number"):
            row = one(status, **{**NUMBERS, gone: None})
            yield of(f"{name}-without-{gone.replace('_', '-')}", "MAN022", f"{gone} is null", row)
    yield of(
        "added-with-number", "SEQ005", "a new file has explicit numbers", one(sequence_number=7, file_sequence_number=7)
    )
    row = one(2, **{**NUMBERS, "snapshot_id": None})
    yield of("deleted-without-snapshot", "MAN017", "the id of the deleting snapshot is missing", row)
    null = manifest(
        1,
        [one()],
        columns=None,
        partition=PARTITION,
        spec=SPEC,
        change=lambda schema: column(schema, 1).update(type=optional("long")),
    )
    yield "v1-snapshot-id-null", 1, "MAN012", null, "the snapshot id is required in v1"
    yield of("added-with-row-id", "LIN018", "a new file has a row id", one(file={"first_row_id": 5}), 3)
    row = one(file={"content": 1, "first_row_id": 5})
    yield of("delete-file-with-row-id", "LIN021", "a delete file has a row id", row, 3, **DELETES)
    yield of("path-without-scheme", "DFL002", "the path is no full URI", one(file={"file_path": "data/1.parquet"}))
    row = one(file={"file_format": "PUFFIN"})
    yield of("data-in-puffin", "DFL003", "a data file in Puffin", row, 3)
    for name, code in (("record_count", "DFL005"), ("file_size_in_bytes", "DFL006")):
        yield of(f"{name.replace('_', '-')}-negative", code, f"{name} is -1", one(file={name: -1}))
    for name, code in (
        ("column_sizes", "DFL011"),
        ("value_counts", "DFL012"),
        ("null_value_counts", "DFL013"),
        ("nan_value_counts", "DFL014"),
    ):
        yield of(f"{name.replace('_', '-')}-negative", code, "a count is -1", one(file={name: counts({1: -1})}))
    row = one(file={"value_counts": counts({2: 3}), "null_value_counts": counts({2: 4})})
    yield of("nulls-above-values", "DFL013", "4 nulls among 3 values", row)
    yield of("offsets-descend", "DFL019", "the offsets do not ascend", one(file={"split_offsets": [500, 4]}))
    yield of("offsets-twice", "DFL019", "an offset stands twice", one(file={"split_offsets": [4, 4]}))
    yield of("offsets-empty", "DFL019", "an empty list in place of null", one(file={"split_offsets": []}))
    row = one(file={"content": 2})
    yield of("equality-without-ids", "DFL020", "an equality delete file without ids", row, **DELETES)
    row = one(file={"content": 2, "equality_ids": []})
    yield of("equality-empty-ids", "DFL020", "an equality delete file without ids", row, **DELETES)
    yield of("data-with-equality-ids", "DFL020", "a data file with equality ids", one(file={"equality_ids": [1]}))
    for name, code in (
        ("referenced_data_file", "DFL023"),
        ("content_offset", "DFL024"),
        ("content_size_in_bytes", "DFL025"),
    ):
        row = one(file={**VECTOR, name: None})
        yield of(f"vector-without-{name.replace('_', '-')}", code, f"{name} is null", row, 3, **DELETES)
    row = one(file={"content": 1, "sort_order_id": 1})
    yield of("position-deletes-sorted", "DFL028", "position deletes have no sort order", row, **DELETES)
    bounds: list[tuple[str, str, Json, str]] = [
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
        ("upper-bound-utf-8", "DFL017", {"upper_bounds": counts({2: b"\xff"})}, "no UTF-8 for a string"),
    ]
    for name, code, file, note in bounds:
        yield of(name, code, note, one(file=file))


def manifests() -> Iterator[Vector]:
    """Manifests by themselves."""

    def vector(name: str, version: int, codes: list[str], data: bytes, note: str, shown: tuple[str, ...]) -> Vector:
        args = {"bytes": data.hex().upper(), "schema": SCHEMA, "specs": [SPEC]}
        return Vector(f"manifest-check-{name}", shown, args, ok(codes), LAYOUT, note, only=(version,))

    for name, version, data, note in _sound():
        yield vector(f"valid-{name}", version, [], data, note, ("MAN001",))
    for name, version, code, data, note in (*_headers(), *_schemas(), *_entries()):
        yield vector(name, version, [code], data, note, (code,))


# Beside the manifest list


LISTED = listed(1, partition_spec_id=4, partitions=[{"contains_null": False, "lower_bound": b"x", "upper_bound": b"x"}])


def against_lists() -> Iterator[Vector]:
    """Manifests beside what the list tells of them."""
    rows = [one(), one(0, **{**NUMBERS, "sequence_number": 4}), one(2, **{**NUMBERS, "snapshot_id": SNAPSHOT})]
    for number, row in enumerate(rows):
        row["data_file"] = {
            **data_file(number + 1),
            **row["data_file"],
            "file_path": f"s3://b/{number}.parquet",
            "record_count": 10 + number,
        }
    data = made(2, rows)
    right = {
        **LISTED,
        "manifest_length": len(data),
        "min_sequence_number": 4,
        "existing_files_count": 1,
        "deleted_files_count": 1,
        "existing_rows_count": 11,
        "deleted_rows_count": 12,
    }

    def vector(name: str, codes: list[str], note: str, changes: Json, file: bytes = data) -> Vector:
        told = listed_form({**right, "manifest_length": len(file), **changes})
        args = {"bytes": file.hex().upper(), "manifest_file": told, "schema": SCHEMA, "specs": [SPEC]}
        return Vector(
            f"manifest-check-listed-{name}", tuple(codes or ["MLS004"]), args, ok(codes), LAYOUT, note, only=(2,)
        )

    yield vector("valid", [], "the list is right", {})
    unknown = dict.fromkeys(("added_files_count", "deleted_rows_count"))
    yield vector("valid-unknown", [], "what the list does not tell is not wrong", unknown)
    yield vector("valid-no-summaries", [], "summaries may be missing", {"partitions": None})
    wide = [{"contains_null": True, "contains_nan": True, "lower_bound": b"a", "upper_bound": b"zz"}]
    yield vector("valid-wide-summaries", [], "wider summaries lose nothing", {"partitions": wide})
    yield vector("valid-smaller-minimum", [], "a smaller minimum loses nothing", {"min_sequence_number": 1})
    changes: list[tuple[str, str, Json, str]] = [
        ("length", "MLS004", {"manifest_length": 1}, "another length"),
        ("added-files", "MLS010", {"added_files_count": 0}, "one file is added"),
        ("existing-files", "MLS011", {"existing_files_count": 0}, "one file exists"),
        ("deleted-files", "MLS012", {"deleted_files_count": 2}, "one file is deleted"),
        ("added-rows", "MLS013", {"added_rows_count": 9}, "10 rows are added"),
        ("existing-rows", "MLS014", {"existing_rows_count": 10}, "11 rows exist"),
        ("deleted-rows", "MLS015", {"deleted_rows_count": 0}, "12 rows are deleted"),
        ("minimum", "MLS008", {"min_sequence_number": 5}, "a live file has the sequence number 4"),
        ("snapshot", "MAN016", {"added_snapshot_id": 5}, "the added entry has the id of another snapshot"),
        ("summaries-none", "MLS016", {"partitions": []}, "a summary for each field"),
        ("summaries-two", "MLS016", {"partitions": LISTED["partitions"] * 2}, "a summary for each field"),
        (
            "lower-bound",
            "MLS021",
            {"partitions": [{**LISTED["partitions"][0], "lower_bound": b"y", "upper_bound": b"z"}]},
            "x is below the lower bound",
        ),
        (
            "upper-bound",
            "MLS022",
            {"partitions": [{**LISTED["partitions"][0], "lower_bound": b"a", "upper_bound": b"b"}]},
            "x is above the upper bound",
        ),
        ("no-lower-bound", "MLS021", {"partitions": [{"contains_null": False, "upper_bound": b"x"}]}, "no lower bound"),
        ("no-upper-bound", "MLS022", {"partitions": [{"contains_null": False, "lower_bound": b"x"}]}, "no upper bound"),
    ]
    explicit = made(2, [{**rows[0], "snapshot_id": SNAPSHOT}, *rows[1:]])
    for name, code, change, note in changes:
        yield vector(name, [code], note, change, explicit if name == "snapshot" else data)
    other = made(2, rows, metadata={"partition-spec-id": "5"})
    yield vector("spec", ["MAN003"], "the header has another spec than the list", {}, other)
    null = [one(file={"partition": {"p": None}})]
    file = made(2, null)
    plain = {
        "existing_files_count": 0,
        "deleted_files_count": 0,
        "existing_rows_count": 0,
        "deleted_rows_count": 0,
        "min_sequence_number": 7,
    }
    yield vector(
        "null", ["MLS019"], "a partition value is null", {**plain, "partitions": [{"contains_null": False}]}, file
    )
    yield vector(
        "valid-null",
        [],
        "the value is null, and there is no other",
        {**plain, "partitions": [{"contains_null": True}]},
        file,
    )


def lists() -> Iterator[Vector]:
    """Manifest lists by themselves."""
    full = listed(
        1, partition_spec_id=4, partitions=[{"contains_null": False, "lower_bound": b"x", "upper_bound": b"x"}]
    )

    def vector(
        name: str, version: int, codes: list[str], rows: list[Json], note: str, first: str | None = None, **more: Any
    ) -> Vector:
        data = manifest_list(version, rows, **more)
        args: Json = {"bytes": data.hex().upper(), "format_version": version, "schema": SCHEMA, "specs": [SPEC]}
        if first is not None:
            args["first_row_id"] = first
        return Vector(
            f"manifest-list-check-{name}", tuple(codes or ["MLS002"]), args, ok(codes), LAYOUT, note, only=(version,)
        )

    second = {**full, "manifest_path": "s3://b/2.avro"}
    for version in (1, 2, 3):
        yield vector(f"valid-v{version}", version, [], [full, second], f"all columns of v{version}")
    yield vector("valid-v1-fewer-columns", 1, [], [full], "v1 need not have counts", columns=())
    rows = [{**full, "first_row_id": 0}, {**second, "content": 1}]
    yield vector("valid-row-ids", 3, [], rows, "data manifests have row ids", "0")
    yield vector("valid-before-upgrade", 3, [], [full], "the snapshot has no first row id, nor have its manifests")
    yield vector("repeated", 2, ["MLS003"], [full, full], "a manifest is listed twice")
    for name, code in (
        ("manifest_length", "MLS004"),
        ("added_files_count", "MLS010"),
        ("existing_files_count", "MLS011"),
        ("deleted_files_count", "MLS012"),
        ("added_rows_count", "MLS013"),
        ("existing_rows_count", "MLS014"),
        ("deleted_rows_count", "MLS015"),
        ("min_sequence_number", "MLS008"),
    ):
        yield vector(f"{name.replace('_', '-')}-negative", 2, [code], [{**full, name: -1}], f"{name} is -1")
    yield vector("first-row-id-negative", 3, ["MLS018"], [{**full, "first_row_id": -1}], "first_row_id is -1", "0")
    yield vector(
        "sequence-numbers", 2, ["MLS008"], [{**full, "min_sequence_number": 8}], "the minimum is above the manifest's"
    )
    yield vector("spec-unknown", 2, ["MLS005"], [{**full, "partition_spec_id": 5}], "the table has no spec 5")
    yield vector("summaries", 2, ["MLS016"], [{**full, "partitions": []}], "a summary for each field of the spec")
    yield vector(
        "deletes-with-row-id",
        3,
        ["LIN026"],
        [{**full, "content": 1, "first_row_id": 5}],
        "a delete manifest has a row id",
        "0",
    )
    yield vector("row-id-missing", 3, ["LIN027"], [full], "a data manifest has no row id, and the snapshot has", "0")

    def without(field_id: int) -> Callable[[Json], None]:
        def change(schema: Json) -> None:
            schema["fields"] = [each for each in schema["fields"] if each["field-id"] != field_id]

        return change

    for field_id, name, code in (
        (517, "content", "MLS006"),
        (515, "sequence-number", "MLS007"),
        (504, "added-files-count", "MLS010"),
        (505, "existing-files-count", "MLS011"),
        (506, "deleted-files-count", "MLS012"),
        (512, "added-rows-count", "MLS013"),
        (513, "existing-rows-count", "MLS014"),
        (514, "deleted-rows-count", "MLS015"),
    ):
        rows = [{**full, "min_sequence_number": 0}] if field_id == 515 else [full]
        yield vector(f"{name}-column-missing", 2, [code], rows, f"{name} is required from v2", change=without(field_id))

    def old_name(schema: Json) -> None:
        column(schema, 504)["name"] = "added_data_files_count"

    row = {**full, "added_data_files_count": 1}
    yield vector(
        "valid-old-name",
        2,
        [],
        [row],
        "the name that Iceberg-Java gave the column until 1.4: ids count",
        change=old_name,
    )

    def int_length(schema: Json) -> None:
        column(schema, 501)["type"] = "int"

    yield vector("length-int", 2, ["MLS004"], [full], "the length is a long", change=int_length)

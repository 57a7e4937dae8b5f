"""Manifests beside their entries in the manifest list, and manifest lists alone, with one broken rule each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from tools.derive.cases.manifest_checks import NUMBERS, SPEC, entry_in_x, manifest_with_all_columns
from tools.derive.cases.manifest_reads import LAYOUT
from tools.derive.json_types import JsonObject
from tools.derive.manifests import SCHEMA, SNAPSHOT, column, data_file, listed, listed_form, manifest_list
from tools.derive.vector import Vector, ok

LISTED = listed(1, partition_spec_id=4, partitions=[{"contains_null": False, "lower_bound": b"x", "upper_bound": b"x"}])


def against_lists() -> Iterator[Vector]:
    """Yield cases of manifests beside their entries in the manifest list."""
    rows = [
        entry_in_x(),
        entry_in_x(0, **{**NUMBERS, "sequence_number": 4}),
        entry_in_x(2, **{**NUMBERS, "snapshot_id": SNAPSHOT}),
    ]
    for number, row in enumerate(rows):
        row["data_file"] = {
            **data_file(number + 1),
            **row["data_file"],
            "file_path": f"s3://b/{number}.parquet",
            "record_count": 10 + number,
        }
    data = manifest_with_all_columns(2, rows)
    right = {
        **LISTED,
        "manifest_length": len(data),
        "min_sequence_number": 4,
        "existing_files_count": 1,
        "deleted_files_count": 1,
        "existing_rows_count": 11,
        "deleted_rows_count": 12,
    }

    def vector(name: str, codes: list[str], note: str, changes: JsonObject, file: bytes = data) -> Vector:
        entry = listed_form({**right, "manifest_length": len(file), **changes})
        args = {"bytes": file.hex().upper(), "manifest_file": entry, "schema": SCHEMA, "specs": [SPEC]}
        return Vector(
            f"manifest-check-listed-{name}", tuple(codes or ["MLS004"]), args, ok(codes), LAYOUT, note, only=(2,)
        )

    yield vector("valid", [], "the list is right", {})
    unknown = dict.fromkeys(("added_files_count", "deleted_rows_count"))
    yield vector("valid-unknown", [], "nothing is wrong where the list says nothing", unknown)
    yield vector("valid-no-summaries", [], "summaries may be missing", {"partitions": None})
    wide = [{"contains_null": True, "contains_nan": True, "lower_bound": b"a", "upper_bound": b"zz"}]
    yield vector("valid-wide-summaries", [], "wider summaries lose nothing", {"partitions": wide})
    note = "a smaller minimum loses nothing, and is not the least number"
    yield vector("minimum-below-least", ["MLS008"], note, {"min_sequence_number": 1})
    changes: list[tuple[str, str, JsonObject, str]] = [
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
    explicit = manifest_with_all_columns(2, [{**rows[0], "snapshot_id": SNAPSHOT}, *rows[1:]])
    for name, code, change, note in changes:
        yield vector(name, [code], note, change, explicit if name == "snapshot" else data)
    other = manifest_with_all_columns(2, rows, metadata={"partition-spec-id": "5"})
    yield vector("spec", ["MAN003"], "the header has another spec than the list", {}, other)
    null = [entry_in_x(file={"partition": {"p": None}})]
    file = manifest_with_all_columns(2, null)
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
        "null is the only value",
        {**plain, "partitions": [{"contains_null": True}]},
        file,
    )


def lists() -> Iterator[Vector]:
    """Yield cases of manifest lists without their manifests."""
    full = listed(
        1, partition_spec_id=4, partitions=[{"contains_null": False, "lower_bound": b"x", "upper_bound": b"x"}]
    )

    def vector(
        name: str,
        version: int,
        codes: list[str],
        rows: list[JsonObject],
        note: str,
        first: str | None = None,
        **more: Any,
    ) -> Vector:
        data = manifest_list(version, rows, **more)
        args: JsonObject = {"bytes": data.hex().upper(), "format_version": version, "schema": SCHEMA, "specs": [SPEC]}
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

    def without(field_id: int) -> Callable[[JsonObject], None]:
        def change(schema: JsonObject) -> None:
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

    def old_name(schema: JsonObject) -> None:
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

    def int_length(schema: JsonObject) -> None:
        column(schema, 501)["type"] = "int"

    yield vector("length-int", 2, ["MLS004"], [full], "the length is a long", change=int_length)

"""Corruptions of facts that a table states in two places, and of forbidden statements in operations and lists."""

from __future__ import annotations

import json
import struct
import zlib
from typing import Any

import pyarrow as pa

from tests.validate.corruptions import corruption
from tests.validate.corruptions.data_files import rewritten
from tests.validate.corruptions.statistics import partition_statistics

V1, V2, V3 = "types-v1-parquet", "position-deletes-parquet", "row-lineage-parquet"
EQUALITY, PARTITIONED = "equality-deletes-parquet", "partition-identity-v2"


# Operations


@corruption("SNP013", "adds-deletes", "partition-values-missing-parquet")
def _append_of_deletes(bench: Any) -> None:
    assert bench.snapshot["summary"]["operation"] == "delete"
    bench.snapshot["summary"]["operation"] = "append"


@corruption("SNP014", "adds-rows", "types-v2-parquet", snapshots="all")
def _replace_that_adds(bench: Any) -> None:
    first = bench.metadata["snapshots"][0]
    assert first["summary"]["operation"] == "append"
    first["summary"]["operation"] = "replace"


@corruption("SNP014", "loses-rows", "deletion-vectors-parquet", snapshots="all")
def _replace_that_loses(bench: Any) -> None:
    deleting = next(one for one in bench.metadata["snapshots"] if one["summary"]["operation"] == "delete")
    deleting["summary"]["operation"] = "replace"


# Equality deletes


@corruption("DEL018", "of-floats", EQUALITY)
def _float(bench: Any) -> None:
    bench.delete_file["equality_ids"] = [_column(bench, "double")]


def _column(bench: Any, type_: str) -> int:
    found: int = next(field["id"] for field in bench.schema["fields"] if field["type"] == type_)
    return found


# Headers of manifests


def _header_schema(bench: Any, **changed: Any) -> None:
    header = bench.data.metadata
    schema = json.loads(header["schema"])
    schema["fields"][0] |= changed
    header["schema"] = json.dumps(schema)


@corruption("MAN005", "names-other-columns", V2)
def _other_name(bench: Any) -> None:
    _header_schema(bench, name="other")


@corruption("MAN005", "columns-of-another-type", V1)
def _other_type(bench: Any) -> None:
    _header_schema(bench, type="binary")


@corruption("MAN005", "columns-of-another-type-and-no-known-schema", V2)
def _foreign_schema(bench: Any) -> None:
    _header_schema(bench, type="binary")
    header = bench.data.metadata
    header["schema"] = json.dumps({**json.loads(header["schema"]), "schema-id": 99})


@corruption("MAN006", "of-another-schema-than-it-holds", V2)
def _schema_id(bench: Any) -> None:
    bench.data.metadata["schema-id"] = str(bench.schema["schema-id"] + 1)


@corruption("MAN007", "of-another-transform", PARTITIONED)
def _other_spec(bench: Any) -> None:
    header = bench.data.metadata
    fields = json.loads(header["partition-spec"])
    fields[0]["name"] = "other"
    header["partition-spec"] = json.dumps(fields)


@corruption("MAN009", "newer-than-table", V2)
def _newer(bench: Any) -> None:
    bench.data.metadata["format-version"] = "3"


# Manifest lists


@corruption("MLS008", "below-least", V2, severity="warning")
def _below(bench: Any) -> None:
    listed = bench.data.listed
    assert listed["min_sequence_number"] > 0
    listed["min_sequence_number"] = 0


def _null_partitions(bench: Any) -> Any:
    """Let no file have a value of the first partition field; the summary still states both bounds."""
    manifest = bench.data
    name = next(iter(manifest.files[0]["partition"]))
    for file in manifest.files:
        file["partition"][name] = None
    summary = manifest.listed["partitions"][0]
    summary["contains_null"] = True
    return summary


@corruption("MLS025", "bound-of-no-value", PARTITIONED)
def _lower_of_nothing(bench: Any) -> None:
    _null_partitions(bench)["upper_bound"] = None


@corruption("MLS026", "bound-of-no-value", PARTITIONED)
def _upper_of_nothing(bench: Any) -> None:
    _null_partitions(bench)["lower_bound"] = None


@corruption("MLS009", "of-no-snapshot", PARTITIONED)
def _unknown_adder(bench: Any) -> None:
    assert len(bench.metadata["snapshots"]) == 1
    for manifest in bench.manifests:
        manifest.listed["added_snapshot_id"] += 1
        for record in manifest.records:
            record["snapshot_id"] = manifest.listed["added_snapshot_id"]


# Row ids


@corruption("SNP011", "below-what-was-assigned", V3)
def _added_rows(bench: Any) -> None:
    bench.snapshot["added-rows"] -= 1


# Positions of deletes


@corruption("DEL026", "lost-positions", "deletion-vectors-parquet", "rows", snapshots="all")
def _lost(bench: Any) -> None:
    """Let a vector delete another row than before; the one that replaced it has only the rows that it deleted then."""
    from tools.grid.workbench import AvroFile, Manifest

    before, after = (
        [one for one in bench.metadata["snapshots"] if one["summary"]["operation"] == "delete"][at] for at in (0, 1)
    )
    assert after["parent-snapshot-id"] == before["snapshot-id"]
    listed = AvroFile(_local(before["manifest-list"])).records
    (file,) = (file for one in listed if one["content"] == 1 for file in Manifest(one).files)
    content = bytearray(bench.read(file["file_path"]))
    end = file["content_offset"] + file["content_size_in_bytes"]
    (position,) = struct.unpack("<H", content[end - 6 : end - 4])  # of the one array container, before the checksum
    content[end - 6 : end - 4] = struct.pack("<H", position ^ 3)
    content[end - 4 : end] = struct.pack(">I", zlib.crc32(bytes(content[file["content_offset"] + 4 : end - 4])))
    bench.replaced[_local(file["file_path"])] = bytes(content)


def _local(location: str) -> str:
    from tools.grid.workbench import local

    return local(location)


@corruption("SCN009", "position-deletes-of-another-partition", "position-deletes-partitioned", "rows")
def _other_partition(bench: Any) -> None:
    for record in bench.deletes.records:
        file = record["data_file"]
        file["partition"] = {name: f"{value or ''}x" for name, value in file["partition"].items()}
        file["referenced_data_file"] = None
    bench.deletes.listed["partitions"] = None


@corruption("DEL013", "position-deletes-of-no-file", "partition-values-missing-parquet", "rows")
def _no_file(bench: Any) -> None:
    def change(table: pa.Table) -> pa.Table:
        place = table.schema.get_field_index("file_path")
        paths = pa.array(["file:/nowhere.parquet"] * table.num_rows)
        return table.set_column(place, table.schema.field("file_path"), paths)

    file = bench.delete_file
    file["lower_bounds"] = file["upper_bounds"] = file["referenced_data_file"] = None
    rewritten(bench, file["file_path"], change, file)


@corruption("STA027", "total-with-position-deletes", "partition-values-missing-parquet", "rows")
def _total(bench: Any) -> None:
    """The rows of the golden table determine the totals: one of the position deletes is forgotten."""

    def change(rows: list[dict[str, Any]]) -> None:
        deleted = [row for row in rows if row["position_delete_record_count"]]
        deleted[0]["total_record_count"] = deleted[0]["data_record_count"]

    partition_statistics(bench, change)


@corruption("STA027", "total-above-records", "partition-values-missing-parquet", "files")
def _too_many(bench: Any) -> None:
    partition_statistics(bench, lambda rows: rows[0].update(total_record_count=rows[0]["data_record_count"] + 1))


# Metadata


@corruption("TMD005", "before-the-last-snapshot", V2, "metadata", severity="warning")
def _updated_before(bench: Any) -> None:
    bench.metadata["last-updated-ms"] = bench.snapshot["timestamp-ms"] - 1


@corruption("SNP003", "of-two-branches", "branches-and-tags", "metadata")
def _siblings(bench: Any) -> None:
    parents = [one.get("parent-snapshot-id") for one in bench.metadata["snapshots"]]
    siblings = [one for one in bench.metadata["snapshots"] if parents.count(one.get("parent-snapshot-id")) > 1]
    siblings[1]["sequence-number"] = siblings[0]["sequence-number"]


@corruption("TMD010", "not-a-spec-of-the-table", "partition-identity-v1", "metadata")
def _deprecated_spec(bench: Any) -> None:
    bench.metadata["partition-spec"].pop()


@corruption("TMD010", "not-the-default-spec", "partition-identity-v1", "metadata", severity="tolerated")
def _earlier_spec(bench: Any) -> None:
    number = bench.metadata["last-partition-id"] + 1
    (column, *_) = bench.schema["fields"]
    field = {"name": "added", "transform": "bucket[4]", "source-id": column["id"], "field-id": number}
    (spec,) = bench.metadata["partition-specs"]
    bench.metadata["partition-specs"].append({"spec-id": 7, "fields": [*spec["fields"], field]})
    bench.metadata.update({"default-spec-id": 7, "last-partition-id": number})


@corruption("TMD007", "not-the-current-schema", "partition-identity-v1", "metadata", severity="tolerated")
def _earlier_schema(bench: Any) -> None:
    number = bench.metadata["last-column-id"] + 1
    current = bench.schema
    added = {"id": number, "name": "added", "required": False, "type": "int"}
    bench.metadata["schemas"].append({**current, "schema-id": 7, "fields": [*current["fields"], added]})
    bench.metadata.update({"current-schema-id": 7, "last-column-id": number})


@corruption("VER005", "nested-default", "position-deletes-parquet", "metadata", severity="warning")
def _nested_default(bench: Any) -> None:
    inner = {"id": 91, "name": "inner", "required": False, "type": "int", "initial-default": 3, "write-default": 3}
    struct = {"type": "struct", "fields": [inner]}
    bench.schema["fields"].append({"id": 90, "name": "outer", "required": False, "type": struct})
    bench.metadata["last-column-id"] = 91


@corruption("PAR004", "source-of-an-old-spec", PARTITIONED, "metadata")
def _old_spec(bench: Any) -> None:
    number = bench.metadata["last-column-id"] + 1
    struct = {"type": "struct", "fields": [{"id": number + 1, "name": "i", "required": False, "type": "int"}]}
    bench.schema["fields"].append({"id": number, "name": "nested", "required": False, "type": struct})
    field = {"name": "p", "transform": "identity", "source-id": number, "field-id": 1900}
    bench.metadata["partition-specs"].append({"spec-id": 9, "fields": [field]})
    bench.metadata["last-column-id"], bench.metadata["last-partition-id"] = number + 1, 1900


@corruption("PAR004", "source-of-an-old-order", PARTITIONED, "metadata")
def _old_order(bench: Any) -> None:
    number = bench.metadata["last-column-id"] + 1
    struct = {"type": "struct", "fields": [{"id": number + 1, "name": "i", "required": False, "type": "int"}]}
    bench.schema["fields"].append({"id": number, "name": "nested", "required": False, "type": struct})
    field = {"transform": "identity", "source-id": number, "direction": "asc", "null-order": "nulls-first"}
    bench.metadata["sort-orders"].append({"order-id": 9, "fields": [field]})
    bench.metadata["last-column-id"] = number + 1


@corruption("DEF003", "changed-with-a-promotion", V3, "metadata")
def _promoted_default(bench: Any) -> None:
    field = {"id": 90, "name": "new", "required": False, "type": "int", "initial-default": 3, "write-default": 3}
    bench.schema["fields"].append(field)
    promoted = {**field, "type": "long", "initial-default": 4}
    bench.metadata["schemas"].append(
        {**bench.schema, "schema-id": 9, "fields": [*bench.schema["fields"][:-1], promoted]}
    )
    bench.metadata["last-column-id"] = 90


# Bounds


@corruption("SVB008", "decimal-bound", "types-v2-parquet")
def _wide_decimal(bench: Any) -> None:
    column = _column(bench, "decimal(9, 2)")
    bounds = bench.file["lower_bounds"]
    bound = next(one for one in bounds if one["key"] == column)
    bound["value"] = (b"\xff" if bound["value"][0] & 0x80 else b"\0") + bound["value"]


@corruption("SVB008", "decimal-summary", PARTITIONED)
def _wide_summary(bench: Any) -> None:
    sources = [field["source-id"] for field in bench.metadata["partition-specs"][-1]["fields"]]
    place = sources.index(_column(bench, "decimal(9, 2)"))
    summary = bench.data.listed["partitions"][place]
    summary["lower_bound"] = (b"\xff" if summary["lower_bound"][0] & 0x80 else b"\0") + summary["lower_bound"]

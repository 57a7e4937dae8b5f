"""Statistics files in the grid: footers and blobs of Puffin files, and rows of partition statistics."""

from __future__ import annotations

import io
import json
import struct
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from spec_ref.core.json_types import Json
from tools.grid.workbench import Workbench

Change = Callable[[dict[str, Json]], None]

MAGIC = b"PFA1"
INTS = ("spec_id", "data_file_count", "position_delete_file_count", "equality_delete_file_count", "dv_count")
IDS = {
    "partition": 1,
    "spec_id": 2,
    "data_record_count": 3,
    "data_file_count": 4,
    "total_data_file_size_in_bytes": 5,
    "position_delete_record_count": 6,
    "position_delete_file_count": 7,
    "equality_delete_record_count": 8,
    "equality_delete_file_count": 9,
    "total_record_count": 10,
    "last_updated_at": 11,
    "last_updated_snapshot_id": 12,
    "dv_count": 13,
}


# Puffin


def _parts(content: bytes) -> tuple[bytes, Json]:
    """Return the blobs with the magic before them, and the JSON of the footer."""
    (size,) = struct.unpack("<i", content[-12:-8])
    start = len(content) - 12 - size
    return content[: start - len(MAGIC)], json.loads(content[start:-12])


def _whole(blobs: bytes, document: Json) -> bytes:
    payload = json.dumps(document).encode()
    return blobs + MAGIC + payload + struct.pack("<i", len(payload)) + bytes(4) + MAGIC


def change_statistics(bench: Workbench, change: Change) -> bool:
    """Change the footer of the statistics file, and its sizes in the metadata; return False if there is none."""
    if not bench.metadata.get("statistics"):
        return False
    statistics = bench.metadata["statistics"][0]
    blobs, document = _parts(bench.read(statistics["statistics-path"]))
    change(document)
    content = _whole(blobs, document)
    bench.replace(statistics["statistics-path"], content)
    statistics["file-size-in-bytes"] = len(content)
    statistics["file-footer-size-in-bytes"] = len(content) - len(blobs)
    return True


def change_vector(bench: Workbench, change: Change) -> bool:
    """Change the footer's metadata of a deletion vector, and the size in the entry; return False if there is none."""
    try:
        file = bench.delete_file
    except StopIteration:
        return False
    if file.get("content_offset") is None:
        return False
    blobs, document = _parts(bench.read(file["file_path"]))
    change(next(blob for blob in document["blobs"] if blob["offset"] == file["content_offset"]))
    bench.replace(file["file_path"], _whole(blobs, document))
    return True


# Partition statistics


def add_partition_statistics(bench: Workbench) -> bool:
    """Add partition statistics, computed from the manifests, to a table of the reference; return False for others."""
    if bench.metadata.get("properties", {}).get("owner") != "grid":
        return False
    rows: dict[int, dict[str, Json]] = {}
    times = {one["snapshot-id"]: one["timestamp-ms"] for one in bench.metadata["snapshots"]}
    for manifest in bench.manifests:
        for record in manifest.records:
            file, snapshot = record["data_file"], record["snapshot_id"] or manifest.listed["added_snapshot_id"]
            row = rows.setdefault(
                file["partition"]["p"], {**dict.fromkeys(IDS, 0), "partition": dict(file["partition"])}
            )
            for name, added in _counts(file).items():
                row[name] += added
            if times[snapshot] > row["last_updated_at"]:
                row |= {"last_updated_at": times[snapshot], "last_updated_snapshot_id": snapshot}
    for row in rows.values():
        row["total_record_count"] = row["data_record_count"] - row["position_delete_record_count"]
    bench.partition_statistics = [rows[key] for key in sorted(rows)]
    place_partition_statistics(bench)
    return True


def _counts(file: dict[str, Json]) -> dict[str, int]:
    if file.get("content", 0) == 1:
        kind = "position_delete_file_count" if file.get("content_offset") is None else "dv_count"
        return {"position_delete_record_count": file["record_count"], kind: 1}
    if file.get("content", 0) == 2:
        return {"equality_delete_record_count": file["record_count"], "equality_delete_file_count": 1}
    return {
        "data_record_count": file["record_count"],
        "data_file_count": 1,
        "total_data_file_size_in_bytes": file["file_size_in_bytes"],
    }


def place_partition_statistics(bench: Workbench, name: str = "", change: str = "") -> None:
    """Write the rows to a Parquet file that the metadata refers to.

    Args:
        bench: the table.
        name: the column that is changed.
        change: ``absent``, or ``wrong type``.
    """
    rows = bench.partition_statistics
    columns, fields = [], []
    for one, field_id in IDS.items():
        if (one == name and change == "absent") or (one == "dv_count" and bench.metadata["format-version"] < 3):
            continue
        values = [row[one] for row in rows]
        type_: pa.DataType = pa.int32() if one in INTS else pa.int64()
        if one == "partition":
            type_ = pa.struct([_field("p", pa.int32(), 1000)])
        if one == name and change == "wrong type":
            type_, values = pa.string(), ["seven" for _ in values]
        fields.append(_field(one, type_, field_id))
        columns.append(pa.array(values, type_))
    out = io.BytesIO()
    pq.write_table(pa.Table.from_arrays(columns, schema=pa.schema(fields)), out, store_schema=False)
    path = f"{bench.root}/metadata/partitions.parquet"
    bench.replaced[path] = out.getvalue()
    bench.metadata["partition-statistics"] = [
        {
            "snapshot-id": bench.snapshot["snapshot-id"],
            "statistics-path": path,
            "file-size-in-bytes": len(out.getvalue()),
        }
    ]


def _field(name: str, type_: pa.DataType, field_id: int) -> pa.Field[Any]:
    return pa.field(name, type_, metadata={"PARQUET:field_id": str(field_id)})

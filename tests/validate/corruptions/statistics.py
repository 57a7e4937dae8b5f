"""Corruptions of statistics files and of their table metadata (Table Statistics; Partition Statistics)."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from spec_ref.encodings.puffin.file import Blob, write_puffin
from tests.validate.corruptions import corruption

V2 = "position-deletes-parquet"


SKETCH = bytes.fromhex("0103030000 3a cc93".replace(" ", "")) + (12345).to_bytes(8, "little")
"""One hash, as a compact sketch stores it: a preamble of one word with the hash of the default seed."""


def _statistics(
    bench: Any, type: str = "test-blob-v1", payload: bytes = b"contents", properties: dict[str, str] | None = None
) -> dict[str, Any]:
    """Add a statistics file with one blob, and give what the metadata says of it."""
    snapshot, properties = bench.snapshot, {"a": "b"} if properties is None else properties
    blob = Blob(
        type=type,
        fields=(1,),
        snapshot_id=snapshot["snapshot-id"],
        sequence_number=snapshot["sequence-number"],
        payload=payload,
        properties=properties,
    )
    content = write_puffin([blob], properties={"created-by": "test"})
    path = f"{bench.root}/metadata/made.stats"
    bench.replaced[path] = content
    fields = {
        "snapshot-id": snapshot["snapshot-id"],
        "statistics-path": path,
        "file-size-in-bytes": len(content),
        "file-footer-size-in-bytes": _footer(content),
        "blob-metadata": [
            {
                "type": type,
                "snapshot-id": snapshot["snapshot-id"],
                "sequence-number": snapshot["sequence-number"],
                "fields": [1],
                "properties": properties,
            }
        ],
    }
    bench.metadata["statistics"] = [fields]
    return fields


def _footer(content: bytes) -> int:
    return int.from_bytes(content[-12:-8], "little") + 16


@corruption("STA002", "file-missing", V2, "files")
def _missing(bench: Any) -> None:
    statistics = _statistics(bench)
    bench.replaced[statistics["statistics-path"]] = None


@corruption("STA003", "size-another", V2, "files")
def _size(bench: Any) -> None:
    _statistics(bench)["file-size-in-bytes"] += 1


@corruption("STA004", "footer-size-another", V2, "files")
def _footer_size(bench: Any) -> None:
    _statistics(bench)["file-footer-size-in-bytes"] -= 16


@corruption("STA034", "no-puffin", V2, "files")
def _no_puffin(bench: Any) -> None:
    statistics = _statistics(bench)
    bench.replaced[statistics["statistics-path"]] = b"x" * statistics["file-size-in-bytes"]


@corruption("STA006", "blob-unknown", V2, "files")
def _unknown_blob(bench: Any) -> None:
    _statistics(bench)["blob-metadata"][0]["type"] = "other-blob-v1"


@corruption("STA006", "blob-of-other-fields", V2, "files")
def _other_fields(bench: Any) -> None:
    _statistics(bench)["blob-metadata"][0]["fields"] = [2]


@corruption("STA001", "snapshot-unknown", V2, "metadata", severity="warning")
def _unknown_snapshot(bench: Any) -> None:
    _statistics(bench)["snapshot-id"] = 5


@corruption("STA005", "key-no-base64", V2, "metadata")
def _key(bench: Any) -> None:
    _statistics(bench)["key-metadata"] = "?"


# Partition statistics


NAMES = (
    "spec_id",
    "data_record_count",
    "data_file_count",
    "total_data_file_size_in_bytes",
    "position_delete_record_count",
    "position_delete_file_count",
    "equality_delete_record_count",
    "equality_delete_file_count",
    "total_record_count",
    "last_updated_at",
    "last_updated_snapshot_id",
    "dv_count",
)
INTS = ("spec_id", "data_file_count", "position_delete_file_count", "equality_delete_file_count", "dv_count")
PARTITIONED, UPGRADED, BUCKETS = "partition-values-missing-parquet", "upgraded-v1-v2-v3", "partition-bucket-uuid"

Row = dict[str, Any]
Change = Callable[[list[Row]], object]


def counted(bench: Any) -> list[Row]:
    """The rows of the current snapshot, from the manifests as fastavro reads them, sorted by the tuple's own order."""
    rows: dict[tuple[Any, ...], Row] = {}
    times = {one["snapshot-id"]: one["timestamp-ms"] for one in bench.metadata["snapshots"]}
    for manifest in bench.manifests:
        for record in manifest.records:
            file = record["data_file"]
            if record["status"] == 2:
                continue
            snapshot = record["snapshot_id"] or manifest.listed["added_snapshot_id"]
            row = rows.setdefault(
                tuple(file["partition"].values()), {**dict.fromkeys(NAMES, 0), "total_record_count": None}
            )
            row["partition"] = file["partition"]
            for name, added in _sums(file).items():
                row[name] += added
            if times[snapshot] > row["last_updated_at"]:
                row.update(last_updated_at=times[snapshot], last_updated_snapshot_id=snapshot)
    return [rows[key] for key in sorted(rows, key=lambda key: tuple((one is not None, one) for one in key))]


def _sums(file: dict[str, Any]) -> dict[str, int]:
    records, content = file["record_count"], file.get("content", 0)
    if content == 2:
        return {"equality_delete_record_count": records, "equality_delete_file_count": 1}
    if content == 1:
        name = "position_delete_file_count" if file.get("content_offset") is None else "dv_count"
        return {"position_delete_record_count": records, name: 1}
    size = file["file_size_in_bytes"]
    return {"data_record_count": records, "data_file_count": 1, "total_data_file_size_in_bytes": size}


def _field(name: str, type_: pa.DataType, field_id: int) -> pa.Field[Any]:
    return pa.field(name, type_, metadata={"PARQUET:field_id": str(field_id)})


def stored(rows: list[Row], partition: pa.DataType, *, changes: dict[int, pa.Field[Any] | None] | None = None) -> bytes:
    """The rows as a Parquet file; `changes` gives other fields, or None for none, by id."""
    order = ("partition", *NAMES[:6], "equality_delete_record_count", "equality_delete_file_count", *NAMES[8:])
    fields = [
        _field(name, partition if name == "partition" else pa.int32() if name in INTS else pa.int64(), field_id)
        for field_id, name in enumerate(order, 1)
    ]
    kept = [(changes or {}).get(number, field) for number, field in enumerate(fields, 1)]
    present = [field for field in kept if field is not None]
    out = io.BytesIO()
    table = pa.table({one.name: pa.array([row[one.name] for row in rows], one.type) for one in present})
    pq.write_table(table.cast(pa.schema(present)), out, store_schema=False)
    return out.getvalue()


def _struct(bench: Any) -> pa.StructType:
    types: dict[str, pa.DataType] = {
        "int": pa.int32(),
        "long": pa.int64(),
        "string": pa.string(),
        "date": pa.date32(),
    }
    columns = {field["id"]: field["type"] for field in bench.schema["fields"]}
    (spec,) = bench.metadata["partition-specs"]
    return pa.struct(
        [
            _field(
                field["name"],
                types[columns[field["source-id"]]] if field["transform"] == "identity" else pa.int32(),
                field["field-id"],
            )
            for field in spec["fields"]
        ]
    )


def place(bench: Any, content: bytes) -> dict[str, Any]:
    """Let the metadata have a partition statistics file of the current snapshot."""
    path = f"{bench.root}/metadata/made.parquet"
    bench.replaced[path] = content
    fields = {"snapshot-id": bench.snapshot["snapshot-id"], "statistics-path": path, "file-size-in-bytes": len(content)}
    bench.metadata["partition-statistics"] = [fields]
    return fields


def partition_statistics(bench: Any, change: Change = lambda rows: None, **options: Any) -> dict[str, Any]:
    """Give the table a partition statistics file."""
    rows = counted(bench)
    assert len(rows) > 1
    if bench.snapshot["summary"]["total-delete-files"] == "0":
        for row in rows:
            row["total_record_count"] = row["data_record_count"]
    change(rows)
    return place(bench, stored(rows, _struct(bench), **options))


@corruption("STA014", "partition-file-missing", PARTITIONED, "files")
def _missing_partition(bench: Any) -> None:
    statistics = partition_statistics(bench)
    bench.replaced[statistics["statistics-path"]] = None


@corruption("STA015", "partition-size-another", PARTITIONED, "files")
def _partition_size(bench: Any) -> None:
    partition_statistics(bench)["file-size-in-bytes"] += 5


@corruption("PQT001", "partition-statistics-of-text", PARTITIONED, "files")
def _partition_text(bench: Any) -> None:
    place(bench, b"x" * 400)


_COUNTS = {
    "STA019": "data_record_count",
    "STA020": "data_file_count",
    "STA021": "total_data_file_size_in_bytes",
    "STA022": "position_delete_record_count",
    "STA023": "position_delete_file_count",
    "STA025": "equality_delete_record_count",
    "STA026": "equality_delete_file_count",
}

for _code, _name in _COUNTS.items():

    @corruption(_code, f"{_name}-another", PARTITIONED, "files")
    def _another(bench: Any, name: str = _name) -> None:
        partition_statistics(bench, lambda rows: rows[1].update({name: rows[1][name] + 1}))

    @corruption(_code, f"{_name}-negative", PARTITIONED, "files")
    def _negative(bench: Any, name: str = _name) -> None:
        partition_statistics(bench, lambda rows: rows[1].update({name: -1}))


@corruption("STA027", "total-another", BUCKETS, "files")
def _total(bench: Any) -> None:
    partition_statistics(bench, lambda rows: rows[1].update(total_record_count=rows[1]["total_record_count"] + 1))


@corruption("STA027", "total-negative", PARTITIONED, "files")
def _negative_total(bench: Any) -> None:
    partition_statistics(bench, lambda rows: rows[1].update(total_record_count=-1))


@corruption("STA024", "dv-count-another", UPGRADED, "files")
def _vectors(bench: Any) -> None:
    partition_statistics(bench, lambda rows: rows[1].update(dv_count=1))


@corruption("STA024", "dv-count-missing-in-v3", UPGRADED, "files")
def _no_vectors(bench: Any) -> None:
    partition_statistics(bench, changes={13: None})


@corruption("STA022", "position-deletes-null-in-v3", UPGRADED, "files")
def _null_count(bench: Any) -> None:
    partition_statistics(bench, lambda rows: rows[0].update(position_delete_record_count=None))


@corruption("STA020", "file-count-as-long", PARTITIONED, "files")
def _long_count(bench: Any) -> None:
    partition_statistics(bench, changes={4: _field("data_file_count", pa.int64(), 4)})


@corruption("STA018", "spec-unknown", PARTITIONED, "files")
def _spec(bench: Any) -> None:
    partition_statistics(bench, lambda rows: rows[1].update(spec_id=7))


@corruption("STA018", "spec-column-missing", PARTITIONED, "files")
def _no_spec(bench: Any) -> None:
    partition_statistics(bench, changes={2: None})


@corruption("STA017", "partition-missing", PARTITIONED, "files")
def _no_partition(bench: Any) -> None:
    partition_statistics(bench, changes={1: None})


@corruption("STA017", "partition-without-files", PARTITIONED, "files")
def _no_files(bench: Any) -> None:
    def change(rows: list[Row]) -> None:
        last = rows[-1]
        (name, value), *others = last["partition"].items()
        rows.append(
            {**last, "partition": {name: value + 99 if isinstance(value, int) else value + "z", **dict(others)}}
        )

    partition_statistics(bench, change)


@corruption("STA038", "partition-left-out", PARTITIONED, "files")
def _left_out(bench: Any) -> None:
    partition_statistics(bench, lambda rows: rows.pop(1))


@corruption("STA038", "partition-twice", PARTITIONED, "files")
def _twice(bench: Any) -> None:
    partition_statistics(bench, lambda rows: rows.insert(1, dict(rows[1])))


@corruption("STA030", "not-sorted", PARTITIONED, "files")
def _not_sorted(bench: Any) -> None:
    partition_statistics(bench, lambda rows: rows.reverse())


@corruption("STA031", "partition-field-left-out", PARTITIONED, "files")
def _field_left_out(bench: Any) -> None:
    rows, struct = counted(bench), _struct(bench)
    bench_fields = list(struct)
    place(bench, stored(rows, pa.struct([*bench_fields[1:], _field("other", pa.string(), 1099)])))


@corruption("STA028", "updated-too-early", PARTITIONED, "files")
def _too_early(bench: Any) -> None:
    partition_statistics(bench, lambda rows: rows[0].update(last_updated_at=1, last_updated_snapshot_id=None))


@corruption("STA029", "updated-by-another-snapshot", PARTITIONED, "files")
def _other_snapshot(bench: Any) -> None:
    first = bench.metadata["snapshots"][0]
    assert first["snapshot-id"] != bench.metadata["current-snapshot-id"]
    partition_statistics(
        bench,
        lambda rows: rows[0].update(
            last_updated_at=bench.snapshot["timestamp-ms"], last_updated_snapshot_id=first["snapshot-id"]
        ),
    )


@corruption("STA039", "total-left-out", BUCKETS, "files", severity="tolerated")
def _no_total(bench: Any) -> None:
    partition_statistics(bench, lambda rows: [row.update(total_record_count=None) for row in rows])


# Theta sketches


def _theta(bench: Any, payload: bytes, **properties: str) -> None:
    _statistics(bench, type="apache-datasketches-theta-v1", payload=payload, properties=properties)


@corruption("PUF016", "theta-sketch-cut", V2, "files")
def _theta_cut(bench: Any) -> None:
    _theta(bench, SKETCH[:-3], ndv="1")


@corruption("PUF016", "theta-sketch-of-another-seed", V2, "files")
def _theta_seed(bench: Any) -> None:
    _theta(bench, SKETCH[:6] + b"\x01\x02" + SKETCH[8:], ndv="1")


@corruption("PUF017", "theta-ndv-no-number", V2, "files")
def _theta_ndv(bench: Any) -> None:
    _theta(bench, SKETCH, ndv="about 1")


@corruption("PUF017", "theta-ndv-another", V2, "files")
def _theta_count(bench: Any) -> None:
    _theta(bench, SKETCH, ndv="2")


# Compressed blobs


def _compressed_as(bench: Any, codec: str) -> None:
    """Let the footer of a statistics file say that its blob, which is not compressed, is."""
    statistics = _statistics(bench)
    content = bench.replaced[statistics["statistics-path"]]
    start = len(content) - _footer(content) + 4
    footer = json.loads(content[start:-12])
    footer["blobs"][0]["compression-codec"] = codec
    text = json.dumps(footer).encode()
    changed = content[:start] + text + len(text).to_bytes(4, "little") + content[-8:]
    bench.replaced[statistics["statistics-path"]] = changed
    statistics["file-size-in-bytes"], statistics["file-footer-size-in-bytes"] = len(changed), _footer(changed)


@corruption("PUF027", "no-frame-of-its-codec", V2, "files")
def _no_frame(bench: Any) -> None:
    _compressed_as(bench, "zstd")


@corruption("PUF027", "another-codec", V2, "files")
def _another_compressed_as(bench: Any) -> None:
    _compressed_as(bench, "snappy")

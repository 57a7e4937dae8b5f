"""Corruptions of manifest entries and of snapshot history (Manifest Entry Fields; Data File Fields; Scan Planning)."""

from __future__ import annotations

import copy
import struct
from typing import Any

from tests.validate.corruptions import corruption

V1, V2, V3, PARTITIONED = "types-v1-parquet", "position-deletes-parquet", "row-lineage-parquet", "partition-identity-v2"
TYPES, VECTORS, EQUALITY = "types-v2-parquet", "deletion-vectors-parquet", "equality-deletes-parquet"
DELETED_V2, DELETED_VECTOR = "position-deletes-partitioned", "trino-changes-v3"


def _file(**changes: Any) -> Any:
    def mutate(bench: Any) -> None:
        bench.file.update(changes)

    return mutate


corruption("MAN011", "status-unknown", V2)(lambda bench: bench.entry.update(status=7))
corruption("DFL001", "content-unknown", V2)(_file(content=9))
corruption("DFL003", "format-unknown", V2)(_file(file_format="CSV"))
corruption("DFL003", "format-puffin", V2)(_file(file_format="PUFFIN"))


@corruption("DFL005", "count-negative", V2)
def _negative_count(bench: Any) -> None:
    bench.file["record_count"] = -1
    bench.data.pinned = True
    bench.data.listed["manifest_length"] = len(bench.data.content())


corruption("DFL006", "size-negative", V2)(_file(file_size_in_bytes=-1))
corruption("DFL020", "equality-ids-of-data", V2, severity="warning")(_file(equality_ids=[1]))
corruption("DFL019", "offsets-descend", V2)(_file(split_offsets=[40, 4]))
corruption("DFL019", "offsets-empty", V2, severity="info")(_file(split_offsets=[]))
corruption("SRT004", "sort-order-unknown", V2)(_file(sort_order_id=31))
corruption("LIN021", "row-id-of-deletes", VECTORS)(lambda bench: bench.delete_file.update(first_row_id=4))
corruption("LIN018", "row-id-of-added", V3, severity="warning")(
    lambda bench: _added(bench)["data_file"].update(first_row_id=_first(bench))
)
corruption("DFL028", "sort-order-of-position-deletes", V2, severity="warning")(
    lambda bench: bench.delete_file.update(sort_order_id=0)
)


def _added(bench: Any) -> Any:
    return next(
        record
        for manifest in bench.manifests
        for record in manifest.records
        if record["status"] == 1 and record["data_file"]["first_row_id"] is None
    )


def _first(bench: Any) -> int:
    manifest = next(one for one in bench.manifests if _added(bench) in one.records)
    first: int = manifest.listed["first_row_id"]
    return first


@corruption("MAN002", "deletes-among-data", V2, also=("SNP013",))
def _among(bench: Any) -> None:
    bench.file["content"] = 1


@corruption("MAN002", "data-among-deletes", V2)
def _data_among(bench: Any) -> None:
    bench.delete_file["content"] = 0


def _existing(bench: Any) -> Any:
    return next(one for manifest in bench.manifests for one in manifest.records if one["status"] == 0)


@corruption("MAN022", "existing-without-number", "manifests-rewritten")
def _no_number(bench: Any) -> None:
    _existing(bench)["sequence_number"] = None


@corruption("SEQ005", "added-with-file-number", V2, severity="warning")
def _file_number(bench: Any) -> None:
    record = bench.entry
    record["sequence_number"] = record["file_sequence_number"] = bench.data.listed["sequence_number"]


@corruption("MAN014", "file-number-of-another-snapshot", V2)
def _other_number(bench: Any) -> None:
    manifest = next(one for one in bench.manifests if one.listed["sequence_number"] > 1)
    manifest.listed["min_sequence_number"] = 1
    manifest.records[0] |= {"file_sequence_number": 1, "sequence_number": 1}


@corruption("SEQ007", "data-newer-than-file", V2)
def _newer_data(bench: Any) -> None:
    bench.entry["sequence_number"] = bench.data.listed["sequence_number"] + 1


@corruption("TMD004", "file-newer-than-table", "manifests-rewritten")
def _newer_file(bench: Any) -> None:
    _existing(bench)["file_sequence_number"] = 99


# What the snapshot added is then not there, so that the history does not add up.
@corruption("MAN016", "snapshot-of-another", V2, also=("MAN011",))
def _snapshot(bench: Any) -> None:
    bench.entry["snapshot_id"] = 777


@corruption("SCN007", "file-twice-in-manifest", V2)
def _twice(bench: Any) -> None:
    bench.data.records.append(copy.deepcopy(bench.entry))


@corruption("SCN007", "file-twice-in-snapshot", V2)
def _twice_in_two(bench: Any) -> None:
    other = next(one for one in bench.manifests if one.listed["content"] == 0 and one is not bench.data)
    number = bench.data.listed["sequence_number"]
    record = copy.deepcopy(bench.entry)
    record |= {"status": 0, "sequence_number": number, "file_sequence_number": number}
    other.listed["min_sequence_number"] = min(other.listed["min_sequence_number"], number)
    other.records.append(record)


@corruption("MAN017", "file-gone", V3)
def _gone(bench: Any) -> None:
    own = bench.snapshot["snapshot-id"]
    for manifest in bench.manifests:
        if manifest.listed["added_snapshot_id"] == own:
            deleted = [one for one in manifest.records if one["status"] == 2]
            if deleted:
                manifest.records.remove(deleted[0])
                return
    raise AssertionError("the snapshot deletes nothing")


@corruption("MAN023", "deleted-file-added-again", V2, severity="warning")
def _added_again(bench: Any) -> None:
    own = bench.snapshot["snapshot-id"]
    adding = next(one for one in bench.manifests if one.listed["added_snapshot_id"] == own)
    older = next(
        one for one in bench.manifests if one.listed["added_snapshot_id"] != own and one.listed["content"] == 0
    )
    number = older.listed["min_sequence_number"]
    record = copy.deepcopy(older.records[0])
    record |= {"status": 2, "snapshot_id": older.listed["added_snapshot_id"]}
    record |= {"sequence_number": number, "file_sequence_number": number}
    record["data_file"]["file_path"] = adding.records[0]["data_file"]["file_path"]
    older.records.append(record)


@corruption("MAN011", "file-appears", V2)
def _appears(bench: Any) -> None:
    manifest = bench.data
    record = copy.deepcopy(bench.entry)
    record["data_file"]["file_path"] += ".other.parquet"
    number = manifest.listed["min_sequence_number"]
    record |= {"status": 0, "sequence_number": number, "file_sequence_number": number, "snapshot_id": 1}
    manifest.records.append(record)


def _deleted(bench: Any) -> Any:
    """The first entry for a file that the current snapshot deleted."""
    own = bench.snapshot["snapshot-id"]
    entries = (record for manifest in bench.manifests for record in manifest.records)
    return next(record for record in entries if record["status"] == 2 and record["snapshot_id"] == own)


for _code, _name, _table, _changes in (
    ("MAN020", "deleted-entry-with-another-number", V3, {"sequence_number": 3}),
    ("MAN020", "deleted-entry-with-another-number-in-v2", DELETED_V2, {"sequence_number": 1}),
    ("MAN021", "deleted-entry-with-another-file-number", V3, {"file_sequence_number": 6}),
):

    @corruption(_code, _name, _table)
    def _deleted_number(bench: Any, changes: dict[str, int] = _changes) -> None:
        _deleted(bench).update(changes)


for _name, _row_id in {"without-first-row-id": None, "with-another-first-row-id": 77}.items():

    @corruption("LIN020", f"deleted-entry-{_name}", V3)
    def _deleted_row_id(bench: Any, row_id: int | None = _row_id) -> None:
        _deleted(bench)["data_file"]["first_row_id"] = row_id


@corruption("SNP018", "append-that-deletes", V2, also=("MAN017",))
def _append(bench: Any) -> None:
    own = bench.snapshot
    manifest = next(one for one in bench.manifests if one.listed["added_snapshot_id"] == own["snapshot-id"])
    own["summary"]["operation"] = "append"
    record = manifest.records[0]
    gone = copy.deepcopy(record)
    gone |= {"status": 2, "snapshot_id": own["snapshot-id"], "sequence_number": 1, "file_sequence_number": 1}
    gone["data_file"]["file_path"] += ".gone"
    manifest.records.append(gone)


@corruption("SNP016", "delete-that-adds", V2)
def _delete(bench: Any) -> None:
    added = {one.listed["added_snapshot_id"] for one in bench.manifests if one.listed["content"] == 0}
    own = bench.snapshot["snapshot-id"]
    assert own in added or bench.metadata["snapshots"]
    bench.snapshot["summary"]["operation"] = "delete"
    manifest = bench.manifests[0]
    record = copy.deepcopy(bench.entry)
    if manifest.listed["added_snapshot_id"] != own:
        manifest.listed |= {"added_snapshot_id": own, "sequence_number": bench.snapshot["sequence-number"]}
        for one in manifest.records:
            number = one["sequence_number"] or 1
            one |= {"status": 0, "sequence_number": number, "file_sequence_number": number}
        manifest.listed["min_sequence_number"] = 1
    record |= {"status": 1, "snapshot_id": own, "sequence_number": None, "file_sequence_number": None}
    record["data_file"]["file_path"] += ".new.parquet"
    manifest.records.append(record)


for _name in ("total-data-files", "total-records", "total-files-size", "total-delete-files", "total-position-deletes"):

    @corruption("NOT005", f"{_name}-wrong", V2, severity="warning")
    def _total(bench: Any, name: str = _name) -> None:
        bench.snapshot["summary"][name] = "4711"


for _name, _table in {
    "removed-delete-files": DELETED_V2,
    "removed-position-delete-files": DELETED_V2,
    "removed-position-deletes": DELETED_V2,
    "removed-equality-delete-files": DELETED_V2,
    "removed-equality-deletes": DELETED_V2,
    "removed-dvs": DELETED_VECTOR,
}.items():

    @corruption("NOT005", f"{_name}-wrong", _table, severity="warning")
    def _removed(bench: Any, name: str = _name) -> None:
        bench.snapshot["summary"][name] = "4711"


for _name, _code in {
    "column_sizes": "DFL011",
    "value_counts": "DFL012",
    "null_value_counts": "DFL013",
    "nan_value_counts": "DFL014",
}.items():

    @corruption(_code, f"{_name}-negative", TYPES)
    def _negative(bench: Any, name: str = _name) -> None:
        rows = bench.file[name] or [{"key": 5, "value": 0}]
        rows[0]["value"] = -1
        bench.file[name] = rows


@corruption("DFL013", "more-nulls-than-values", TYPES)
def _more_nulls(bench: Any) -> None:
    row = bench.file["null_value_counts"][0]
    row["value"] = 10**6


def _bound(bench: Any, bounds: str, column: int, data: bytes) -> None:
    rows = [row for row in bench.file[bounds] or [] if row["key"] != column]
    bench.file[bounds] = [*rows, {"key": column, "value": data}]


def _column(bench: Any, type_: str) -> int:
    found: int = next(field["id"] for field in bench.schema["fields"] if field["type"] == type_)
    return found


@corruption("DFL016", "lower-bound-above-the-upper", TYPES)
def _lower_above_upper(bench: Any) -> None:
    column = next(field["id"] for field in bench.schema["fields"] if field["type"] == "int")
    _bound(bench, "lower_bounds", column, b"\xff\xff\xff\x7f")


for _type, _data in {
    "boolean": b"\x01\x01",
    "int": b"\x01",
    "long": b"\x01\x02\x03",
    "float": b"\x00",
    "double": b"\x00",
    "date": b"\x00",
    "time": b"\x00",
    "timestamp": b"\x00",
    "uuid": b"\x00",
    "string": b"\xff\xfe",
    "fixed[5]": b"\x00",
    "decimal(9, 2)": b"",
}.items():

    @corruption("DFL016", f"lower-bound-no-{_type.partition('[')[0].partition('(')[0]}", TYPES)
    def _undecodable(bench: Any, type_: str = _type, data: bytes = _data) -> None:
        column = next((field["id"] for field in bench.schema["fields"] if field["type"] == type_), None) or next(
            field["id"] for field in bench.schema["fields"] if str(field["type"]).startswith(type_.partition("[")[0])
        )
        _bound(bench, "lower_bounds", column, data)


@corruption("DFL017", "upper-bound-no-int", TYPES)
def _upper(bench: Any) -> None:
    _bound(bench, "upper_bounds", _column(bench, "int"), b"\x01\x02")


@corruption("DFL027", "bound-nan", TYPES)
def _nan(bench: Any) -> None:
    _bound(bench, "lower_bounds", _column(bench, "double"), struct.pack("<d", float("nan")))


@corruption("DFL016", "bounds-crossed", TYPES)
def _crossed(bench: Any) -> None:
    column = _column(bench, "int")
    _bound(bench, "lower_bounds", column, struct.pack("<i", 9))
    _bound(bench, "upper_bounds", column, struct.pack("<i", 8))


@corruption("DFL016", "bounds-of-strings-crossed", TYPES)
def _crossed_strings(bench: Any) -> None:
    column = _column(bench, "string")
    _bound(bench, "lower_bounds", column, b"same beginning, b")
    _bound(bench, "upper_bounds", column, b"same beginning, a")

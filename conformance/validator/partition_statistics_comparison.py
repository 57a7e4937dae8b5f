"""Comparing partition statistics files with the manifests of their snapshots (Partition Statistics File)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from conformance.validator.context import Context, ManifestMembership
from conformance.validator.finding import finding
from conformance.validator.partition_statistics import COUNTED
from spec_ref.checks.findings import Finding
from spec_ref.core.errors import Description
from spec_ref.core.records import field_rules
from spec_ref.statistics.partition import PartitionStatistics
from spec_ref.table_metadata.statistics import PartitionStatisticsFile

_RULES = field_rules(PartitionStatistics)


def compare_partitions(
    context: Context, members: ManifestMembership, partitions: pa.Table, rows: pa.Table
) -> Iterator[Finding]:
    """Find rows of one bucket whose counts differ from the manifests.

    Args:
        context: the table.
        members: the manifests of the snapshots.
        partitions: the facts of manifests (`PARTITIONS`).
        rows: the facts of statistics files (`STATISTICS`).
    """
    counted, stored = partitions.to_pylist(), rows.to_pylist()
    for file in sorted(members.comparable_statistics):
        statistics = context.metadata.partition_statistics[file]
        manifests = members.by_snapshot[statistics.snapshot_id]
        sums: dict[str, dict[str, Any]] = {}
        for one in counted:
            if one["manifest"] in manifests:
                sums[one["key"]] = _plus(sums[one["key"]], one) if one["key"] in sums else one
        mine = sorted((row for row in stored if row["file"] == file), key=lambda row: int(row["row"]))
        is_known = statistics.snapshot_id in members.only_vectors
        yield from _compare_row(context, statistics, sums, mine, is_known=is_known)


def _plus(one: Mapping[str, Any], two: Mapping[str, Any]) -> dict[str, Any]:
    made = {name: one[name] + two[name] for name in (*COUNTED, "vector_records")}
    times = [time for time in (one["added_at"], two["added_at"]) if time is not None]
    return {"key": one["key"], "added_at": max(times, default=None), **made}


def _compare_row(
    context: Context,
    statistics: PartitionStatisticsFile,
    sums: Mapping[str, Mapping[str, Any]],
    rows: Sequence[Mapping[str, Any]],
    *,
    is_known: bool,
) -> Iterator[Finding]:
    location = statistics.statistics_path
    seen: set[str] = set()
    for row in rows:
        key, path = row["key"], f"/{row['row']}"
        if key in seen:
            yield finding(
                "STA038",
                "the partition has a second row",
                file=location,
                path=f"{path}/partition",
                found=Description(key),
                aspect="repeated",
            )
            continue
        seen.add(key)
        counted = sums.get(key)
        if counted is None and any(row[name] for name in COUNTED):
            yield finding(
                "STA017",
                "no live file of the snapshot is in the partition",
                file=location,
                path=f"{path}/partition",
                found=Description(key),
                aspect="no-file",
            )
            continue
        yield from _counts(row, counted or {}, location, path)
        if counted is not None:
            yield from _total(row, counted, location, path, is_known=is_known)
            yield from _check_last_update(context, row, counted, location, path)
    for key in sorted(sums.keys() - seen):
        yield finding(
            "STA038",
            "a partition of the snapshot has no row",
            file=location,
            path=f"#{key}",
            expected=f"a row for {key}",
            aspect="missing-row",
        )


def _counts(row: Mapping[str, Any], counted: Mapping[str, Any], location: str, path: str) -> Iterator[Finding]:
    for name in COUNTED:
        stored, wanted = row[name], counted.get(name, 0)
        if stored is not None and stored != wanted:
            yield finding(
                _RULES[name].requirement,
                f"{name} differs from the manifests",
                file=location,
                path=f"{path}/{name}",
                found=stored,
                expected=str(wanted),
                aspect="mismatch",
            )


def _total(
    row: Mapping[str, Any], counted: Mapping[str, Any], location: str, path: str, *, is_known: bool
) -> Iterator[Finding]:
    """Check the total record count, which follows from the manifests if all deletes are deletion vectors."""
    stored, wanted = row["total_record_count"], counted["data_record_count"] - counted["vector_records"]
    where: dict[str, Any] = {"file": location, "path": f"{path}/total_record_count"}
    if not is_known and stored is not None and stored > wanted:
        message, most = "total_record_count exceeds the records of the data files", f"at most {wanted}"
        yield finding("STA027", message, found=stored, expected=most, **where, aspect="more-than-records")
    if not is_known or row["data_record_count"] is None:
        return
    if stored is None:
        message = "total_record_count is missing, although it follows from the manifests"
        yield finding("STA039", message, expected=str(wanted), **where)
    elif stored != wanted:
        yield finding(
            "STA027",
            "total_record_count differs from the manifests",
            found=stored,
            expected=str(wanted),
            **where,
            aspect="mismatch",
        )


def _check_last_update(
    context: Context, row: Mapping[str, Any], counted: Mapping[str, Any], location: str, path: str
) -> Iterator[Finding]:
    """Check that the last update is not earlier than the newest live file, and has the time of its snapshot."""
    stored, snapshot_id = row["last_updated_at"], row["last_updated_snapshot_id"]
    if stored is not None and counted["added_at"] is not None and stored < counted["added_at"]:
        yield finding(
            "STA028",
            "a live file was added after the last update",
            file=location,
            path=f"{path}/last_updated_at",
            found=stored,
            expected=f"at least {counted['added_at']}",
            aspect="too-old",
        )
    snapshot = context.snapshots.get(snapshot_id)
    if stored is not None and snapshot is not None and snapshot.timestamp_ms != stored:
        yield finding(
            "STA029",
            "the time of the last update differs from that of its snapshot",
            file=location,
            path=f"{path}/last_updated_snapshot_id",
            found=snapshot_id,
            expected=f"a snapshot with the timestamp-ms {stored}",
            aspect="mismatch",
        )

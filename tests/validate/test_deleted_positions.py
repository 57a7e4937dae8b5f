"""What deleted positions leave, against totals of partitions, and which position deletes have no fault."""

from __future__ import annotations

import collections
from pathlib import Path
from typing import Any

from corruptions.statistics import partition_statistics

from conformance.golden_tables import index, materialize
from conformance.validate.context import Level
from conformance.validate.run import Snapshots
from spec_ref.findings import Severity
from tools.grid.workbench import Workbench

TABLE = "partition-values-missing-parquet"


def errors(bench: Workbench, snapshots: str = "current") -> list[str]:
    report = bench.validate(Level.ROWS, Snapshots(snapshots))
    return [str(one) for one in report.findings if one.severity is Severity.ERROR]


def test_totals_are_the_rows_that_position_deletes_leave(tmp_path: Path) -> None:
    materialize([TABLE])
    bench = Workbench(TABLE, tmp_path)
    left = collections.Counter(row["p"] for row in index(TABLE)["states"][-1]["rows"])

    def change(rows: list[dict[str, Any]]) -> None:
        assert any(row["position_delete_record_count"] for row in rows)
        for row in rows:
            row["total_record_count"] = left[row["partition"]["p"]]

    partition_statistics(bench, change)
    assert errors(bench) == []


def test_deletes_of_a_file_that_went_later_are_no_error(tmp_path: Path) -> None:
    """The data file is taken out of the last snapshot; the deletes of an older one stay behind."""
    materialize(["position-deletes-parquet"])
    bench = Workbench("position-deletes-parquet", tmp_path)
    added = bench.deletes.listed["added_snapshot_id"]
    assert added != bench.snapshot["snapshot-id"]
    del bench.snapshot["parent-snapshot-id"]
    for manifest in bench.manifests:
        if not manifest.listed["content"] and manifest.listed["added_snapshot_id"] != bench.snapshot["snapshot-id"]:
            bench.list.records.remove(manifest.listed)
    bench.snapshot["summary"] = {"operation": "append"}
    assert errors(bench) == []

"""What deleted positions leave, against totals of partitions, and which position deletes have no fault."""

from __future__ import annotations

import collections
import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import delete_scope_faults as faults
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.validator.context import Level, ManifestMembership
from conformance.validator.deleted_positions import TARGETS, FactOrigin, PathFacts, _positions, keep_scope_fields
from conformance.validator.row_ids import deleted_facts
from conformance.validator.run import SnapshotSelection
from conformance.vectors.golden_tables import index, materialize
from spec_ref.checks.findings import Severity
from spec_ref.core.records import evolve
from spec_ref.manifests.data_file import DataFile, FileContent, FileFormat
from spec_ref.partitioning.spec import PartitionField, PartitionSpec
from spec_ref.partitioning.transforms import Identity
from spec_ref.scan_planning.delete_scope import FILE_PATH
from tests.validate.corruptions.statistics import partition_statistics
from tools.grid.workbench import Workbench

TABLE = "partition-values-missing-parquet"


def errors(bench: Workbench, snapshots: str = "current") -> list[str]:
    report = bench.validate(Level.ROWS, SnapshotSelection(snapshots))
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
            bench.manifest_list.records.remove(manifest.listed)
    bench.snapshot["summary"] = {"operation": "append"}
    assert errors(bench) == []


BY_C = PartitionSpec(1, (PartitionField(source_id=1, field_id=1000, name="c", transform=Identity()),))
VECTOR = {"file_format": FileFormat.PUFFIN, "content_offset": 4, "content_size_in_bytes": 40}


def entry(number: int, sequence: int | None, partition: dict[int, Any], spec_id: int = 1, **changes: Any) -> FactOrigin:
    file: dict[str, Any] = {
        "content": FileContent.POSITION_DELETES,
        "file_path": f"f{number}",
        "file_format": FileFormat.PARQUET,
        "record_count": 9,
        "file_size_in_bytes": 9,
        "partition": partition,
        **changes,
    }
    return FactOrigin(number, number, sequence, keep_scope_fields(DataFile(**file)), evolve(BY_C, spec_id=spec_id))


NAN = {1000: math.nan}
CASES = {
    "same": (entry(1, 5, NAN), 2),
    "older": (entry(1, 4, NAN), 3),
    "number not known": (entry(1, None, NAN), 2),
    "null": (entry(1, 5, {1000: None}), 3),
    "nothing": (entry(1, 5, {}), 3),
    "spec": (entry(1, 5, NAN, 2), 3),
    "of the file": (entry(1, 5, {1000: -math.nan}, referenced_data_file="f0"), 2),
    "of another file": (entry(1, 5, NAN, referenced_data_file="f9"), 3),
    "of files before": (entry(1, 5, NAN, upper_bounds={FILE_PATH: b"e"}), 3),
    "vector": (entry(1, 5, NAN, referenced_data_file="f0", **VECTOR), 2),
    "vector elsewhere": (entry(1, 5, {1000: None}, referenced_data_file="f0", **VECTOR), 3),
}
"""Deletes of one of the three rows of a file in the partition of NaN, and how many they leave."""

DATA = entry(0, 5, NAN, content=FileContent.DATA, record_count=3)


def rows_left(delete: FactOrigin) -> int:
    """How many rows of the data file the validator counts as left."""
    context: Any = SimpleNamespace(id_buckets=1)
    members = ManifestMembership(2, {7: frozenset({0, 1})}, (7,), (), completely_read=frozenset({7}))
    files = PathFacts()
    files.add(pa.RecordBatch.from_pylist([{"path": "f0", "records": 3, "live": True, "key": "k"}], TARGETS), DATA)
    facts = files.facts(context, members, {"f0": {delete: [(np.array([1]), np.array([1]))]}})
    (counted,) = [fact.rows.to_pylist()[0] for fact in facts if fact.kind == "left"]
    return 3 - int(counted["deleted"])


@pytest.mark.parametrize("name", CASES)
def test_rows_are_left_that_no_delete_applies_to(name: str) -> None:
    """The validator counts as deleted what a scan leaves out."""
    delete, left = CASES[name]
    assert rows_left(delete) == left


FAULTS = {
    faults.spec_ignored: {"spec"},
    faults.partition_ignored: {"null", "nothing", "vector elsewhere"},
    faults.nan_never_equal: {"same", "number not known", "of the file", "vector"},
    faults.positions_of_older_data_alone: {"same", "of the file", "vector"},
    faults.numbers_ignored: {"older"},
    faults.other_file: {"of another file", "of files before"},
}
"""Faults of the rule, and the cases that show each. It is not asked of equality deletes here."""


@pytest.mark.parametrize("fault", FAULTS)
def test_the_validator_shows_a_fault_of_the_rule(fault: faults.Plant, monkeypatch: pytest.MonkeyPatch) -> None:
    fault(monkeypatch)
    assert {name for name, (delete, left) in CASES.items() if rows_left(delete) != left} == FAULTS[fault]


RUN = st.tuples(st.integers(0, 40), st.integers(0, 5))
"""The start of a run of positions, and their number."""


@given(st.lists(st.lists(RUN)))
def test_the_positions_of_runs_are_each_number_in_them_once(files: list[list[tuple[int, int]]]) -> None:
    runs = [tuple(np.array([run[column] for run in file], np.int64) for column in (0, 1)) for file in files]
    wanted = {start + number for file in files for start, count in file for number in range(count)}
    assert _positions(runs).tolist() == sorted(wanted)


@pytest.mark.parametrize("compares_positions", [True, False])
def test_positions_are_kept_only_where_a_rule_compares_them(compares_positions: bool) -> None:
    context: Any = SimpleNamespace(id_buckets=1, compares_positions=compares_positions)
    facts = list(deleted_facts(context, DATA, pa.array(["f1", "f0", "f1"]), np.array([5, 3, 4])))
    keys: list[Any] = [fact.rows.column(0) for fact in facts]
    named = {key.dictionary[0].as_py(): fact.rows.to_pylist() for key, fact in zip(keys, facts, strict=True)}
    kept = {
        "f0": [{"key": "f0", "position": 3, "count": 1}],
        "f1": [{"key": "f1", "position": 4, "count": 2}],
    }
    assert named == (kept if compares_positions else {"f0": [], "f1": []})

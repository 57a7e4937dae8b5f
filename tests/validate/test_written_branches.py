"""The validator on tables with several branches, and with deletion vectors that delete nothing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from conformance.table_io.local import read_table
from conformance.table_io.writing import Mode, WritableTable, append, create_table, delete
from conformance.validator.context import Level
from conformance.validator.local import LocalBackend
from conformance.validator.run import SnapshotSelection, validate
from spec_ref.checks.findings import Severity
from spec_ref.commits.changes import SetReference, UpgradeFormatVersion
from spec_ref.core.records import evolve
from spec_ref.core.versions import V2, V3, FormatVersion
from spec_ref.data_types.types import LONG, NestedField
from spec_ref.expressions.predicates import Comparison, Literal, NamedReference, Operation
from spec_ref.manifest_lists.reader import read_manifest_list
from spec_ref.manifest_lists.writer import write_manifest_list
from spec_ref.manifests.reader import read_manifest
from spec_ref.snapshots.references import RefType, SnapshotRef

ID = NestedField(1, "id", required=True, type=LONG)


def make_table(tmp_path: Path, version: FormatVersion) -> WritableTable:
    return create_table(str(tmp_path / "t"), (ID,), version=version)


def rows(*ids: int) -> pa.Table:
    return pa.table({"id": pa.array(ids, pa.int64())})


def branch(table: WritableTable, name: str) -> None:
    snapshot = table.metadata.current_snapshot
    assert snapshot is not None
    table.commit(SetReference(name, SnapshotRef(snapshot_id=snapshot.snapshot_id, type=RefType.BRANCH)))


def codes(table: WritableTable, snapshots: str) -> list[str]:
    """The requirements that errors are of."""
    report = validate(table.base.location, Level.ROWS, LocalBackend(1), SnapshotSelection(snapshots))
    assert report.complete
    return [one.requirement for one in report.findings if one.severity is Severity.ERROR]


@pytest.mark.parametrize("snapshots", ["refs", "all"])
@pytest.mark.parametrize("first", ["main", "audit"])
def test_branches_of_an_upgraded_table_assign_row_ids_each(tmp_path: Path, snapshots: str, first: str) -> None:
    table = make_table(tmp_path, V2)
    append(table, rows(1, 2, 3))
    branch(table, "audit")
    table.commit(UpgradeFormatVersion(V3))
    for name in (first, *({"main", "audit"} - {first})):
        append(table, rows(4, 5), branch=name)
        append(table, rows(6), branch=name)
    assert codes(table, snapshots) == []


def relisted(table: WritableTable, name: str, location: str, first_row_id: int) -> None:
    """Rewrite the list of a branch's head, with another first row id for a manifest."""
    snapshot = table.metadata.snapshot_by_id(table.metadata.references[name].snapshot_id)
    path = Path((snapshot.manifest_list or "").removeprefix("file://"))
    listed = read_manifest_list(path.read_bytes())
    changed = [evolve(one, first_row_id=first_row_id) if one.manifest_path == location else one for one in listed]
    path.write_bytes(write_manifest_list(changed, V3, snapshot_id=snapshot.snapshot_id))


def manifests(table: WritableTable, name: str) -> Sequence[Any]:
    snapshot = table.metadata.snapshot_by_id(table.metadata.references[name].snapshot_id)
    return read_manifest_list(Path((snapshot.manifest_list or "").removeprefix("file://")).read_bytes())


def entries(listed: Any) -> list[Any]:
    path = Path(listed.manifest_path.removeprefix("file://"))
    return [entry.data_file for entry in read_manifest(path.read_bytes(), manifest_file=listed).entries()]


@pytest.mark.parametrize("upgraded", [True, False])
def test_a_branch_keeps_the_row_ids_that_its_history_assigned(tmp_path: Path, *, upgraded: bool) -> None:
    table = make_table(tmp_path, V2 if upgraded else V3)
    append(table, rows(1, 2, 3))
    if upgraded:
        table.commit(UpgradeFormatVersion(V3))
        append(table, rows(4))  # assigns ids to the first file too
    branch(table, "audit")
    append(table, rows(5), branch="audit")
    append(table, rows(6))
    assert codes(table, "all") == []
    oldest = min(manifests(table, "audit"), key=lambda one: one.sequence_number)
    relisted(table, "audit", oldest.manifest_path, 1000)
    assert "LIN026" in codes(table, "all")
    assert ("LIN026" in codes(table, "refs")) is not upgraded  # the list that assigned them is not looked at


def test_a_vector_that_deletes_nothing_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is read, and a writer writes none (contradiction B17)."""
    table = make_table(tmp_path, V3)
    append(table, rows(*range(6)))
    monkeypatch.setattr(np, "union1d", lambda *_: np.zeros(0, np.int64))  # the positions of the vector
    two = Comparison(Operation.EQ, NamedReference("id"), Literal(2))
    delete(table, two, mode=Mode.MERGE_ON_READ)
    (vector,) = [entry for listed in manifests(table, "main") if listed.content == 1 for entry in entries(listed)]
    assert (vector.record_count, vector.is_deletion_vector) == (0, True)
    assert read_table(table.table).read_all().num_rows == 6
    assert codes(table, "all") == []

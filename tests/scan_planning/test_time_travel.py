"""Time travel: which snapshot is read, and with which schema."""

from __future__ import annotations

import pytest
from planned_tables import Table

from spec_ref.core.errors import SpecError
from spec_ref.core.records import evolve
from spec_ref.data_types.types import INT, NestedField
from spec_ref.scan_planning import table_state
from spec_ref.schemas.schema import Schema
from spec_ref.snapshots.references import RefType, SnapshotRef
from spec_ref.snapshots.snapshot import Snapshot
from spec_ref.table_metadata.logs import SnapshotLogEntry
from spec_ref.table_metadata.metadata import TableMetadata

OLD = Schema((NestedField(1, "old", False, INT),), schema_id=0)
NEW = Schema((NestedField(1, "new", False, INT),), schema_id=1)


def table() -> TableMetadata:
    snapshots = (
        Snapshot(snapshot_id=1, timestamp_ms=10, manifest_list="1", schema_id=0),
        Snapshot(snapshot_id=2, timestamp_ms=20, manifest_list="2", schema_id=0),
        Snapshot(snapshot_id=3, timestamp_ms=30, manifest_list="3", schema_id=None),
        Snapshot(snapshot_id=4, timestamp_ms=40, manifest_list="4", schema_id=8),
    )
    log = tuple(SnapshotLogEntry(timestamp_ms=at, snapshot_id=id_) for at, id_ in ((10, 1), (20, 2), (25, 1), (30, 3)))
    refs = {
        "side": SnapshotRef(snapshot_id=2, type=RefType.BRANCH),
        "label": SnapshotRef(snapshot_id=2, type=RefType.TAG),
    }
    return evolve(
        Table().metadata,
        schemas=(OLD, NEW),
        current_schema_id=1,
        snapshots=snapshots,
        current_snapshot_id=3,
        snapshot_log=log,
        refs=refs,
    )


@pytest.mark.parametrize(
    ("given", "snapshot", "schema"),
    [
        ({}, 3, NEW),
        ({"ref": "main"}, 3, NEW),
        ({"snapshot_id": 3}, 3, NEW),
        ({"snapshot_id": 1}, 1, OLD),
        ({"ref": "side"}, 2, NEW),
        ({"ref": "label"}, 2, OLD),
        ({"timestamp_ms": 10}, 1, OLD),
        ({"timestamp_ms": 24}, 2, OLD),
        ({"timestamp_ms": 25}, 1, OLD),
        ({"timestamp_ms": 99}, 3, NEW),
    ],
)
def test_a_state_is_a_snapshot_and_its_schema(given: dict[str, int | str], snapshot: int, schema: Schema) -> None:
    state = table_state(table(), **given)  # type: ignore[arg-type]
    assert state.snapshot is not None
    assert (state.snapshot.snapshot_id, state.schema) == (snapshot, schema)


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"snapshot_id": 9}, "TMD015"),
        ({"snapshot_id": 4}, "TMD009"),
        ({"ref": "none"}, "TMD021"),
        ({"timestamp_ms": 9}, "NOT004"),
    ],
)
def test_a_state_that_the_table_does_not_have_is_refused(given: dict[str, int | str], code: str) -> None:
    with pytest.raises(SpecError) as caught:
        table_state(table(), **given)  # type: ignore[arg-type]
    assert caught.value.violation.requirement == code


def test_a_table_without_snapshots_has_its_schema() -> None:
    empty = evolve(table(), snapshots=(), current_snapshot_id=None, snapshot_log=(), refs={})
    assert table_state(empty).snapshot is None
    assert table_state(empty, ref="main").schema == NEW
    with pytest.raises(SpecError):
        table_state(empty, timestamp_ms=99)


def test_a_state_is_named_in_one_way() -> None:
    with pytest.raises(ValueError, match="at most one of a snapshot id"):
        table_state(table(), snapshot_id=1, ref="main")

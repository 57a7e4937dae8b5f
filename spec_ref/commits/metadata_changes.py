"""Changes of the metadata alone, and what each relies on (Commit Conflict Resolution and Retry)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from spec_ref.commits.changes import (
    ChangeSchema,
    ChangeSortOrder,
    ChangeSpec,
    ExpireSnapshots,
    MetadataChange,
    RemoveStatistics,
    SetProperties,
    SetReference,
    SetStatistics,
    UpgradeFormatVersion,
)
from spec_ref.commits.errors import commit_conflict
from spec_ref.core.records import evolve, field_rules
from spec_ref.core.versions import OMITTED
from spec_ref.snapshots.references import MAIN, RefType, SnapshotRef, branch_ref
from spec_ref.table_metadata.changes import change_schema, change_sort_order, change_spec, check_no_new_errors
from spec_ref.table_metadata.expiration import expire_snapshots
from spec_ref.table_metadata.logs import SnapshotLogEntry
from spec_ref.table_metadata.metadata import TableMetadata
from spec_ref.table_metadata.statistics import StatisticsFile
from spec_ref.table_metadata.upgrade import upgrade


def apply_change(change: MetadataChange, planned: TableMetadata, current: TableMetadata, now_ms: int) -> TableMetadata:
    """Apply a change of the metadata; the commit sets the logs and the time of the update.

    Args:
        change: the change.
        planned: the table that it was planned on.
        current: the table that it is applied to.
        now_ms: the time of the commit, in milliseconds from the Unix epoch, for the snapshot log.

    Returns:
        The changed metadata.

    Raises:
        CommitConflict: OCC009, REF001 or REF007 if what the change relies on has changed; REF006 if it would remove the
            main branch or make it a tag.
        SpecError: the code of a rule that the change breaks.
    """
    return APPLY[type(change)](change, planned, current, now_ms)


def _check_unchanged(planned: TableMetadata, current: TableMetadata, *attributes: str) -> None:
    for attribute in attributes:
        before, now = getattr(planned, attribute), getattr(current, attribute)
        if before != now:
            name = attribute.replace("_", "-")
            raise commit_conflict("OCC009", f"a concurrent commit changed {name}", found=now, expected=f"{before}")


SCHEMA = ("current_schema_id", "last_column_id")
SPEC = ("default_spec_id", "last_partition_id")


def _schema(change: ChangeSchema, planned: TableMetadata, current: TableMetadata, _: int) -> TableMetadata:
    _check_unchanged(planned, current, *SCHEMA)
    return change_schema(current, change.changes)


def _spec(change: ChangeSpec, planned: TableMetadata, current: TableMetadata, _: int) -> TableMetadata:
    _check_unchanged(planned, current, *SCHEMA, *SPEC)
    return change_spec(current, change.changes)


def _sort_order(change: ChangeSortOrder, planned: TableMetadata, current: TableMetadata, _: int) -> TableMetadata:
    _check_unchanged(planned, current, *SCHEMA, "default_sort_order_id")
    return change_sort_order(current, change.fields)


def _properties(change: SetProperties, _: TableMetadata, current: TableMetadata, __: int) -> TableMetadata:
    kept = {name: value for name, value in current.properties.items() if name not in change.removals}
    return evolve(current, properties={**kept, **change.updates})


def _reference(change: SetReference, planned: TableMetadata, current: TableMetadata, now_ms: int) -> TableMetadata:
    before, now = planned.references.get(change.name), current.references.get(change.name)
    if before != now:
        raise commit_conflict(
            "REF007", f"a concurrent commit moved the reference {change.name}", found=now, expected=f"{before}"
        )
    if change.ref is not None:
        _has_snapshot(current, change.ref.snapshot_id)
        return check_no_new_errors(current, with_reference(current, change.name, change.ref, now_ms))
    if change.name == MAIN:
        raise commit_conflict("REF006", "the main branch cannot be removed")
    return evolve(current, refs={name: ref for name, ref in current.refs.items() if name != change.name})


def _has_snapshot(current: TableMetadata, snapshot_id: int) -> None:
    if all(snapshot.snapshot_id != snapshot_id for snapshot in current.snapshots):
        raise commit_conflict(
            "REF001", "the table does not have the snapshot, which may have expired", found=snapshot_id
        )


_REFS = field_rules(TableMetadata)["refs"]


def with_reference(metadata: TableMetadata, name: str, ref: SnapshotRef, timestamp_ms: int) -> TableMetadata:
    """Set a reference; moving the main branch is recorded in the snapshot log (TMD017).

    Args:
        metadata: the table.
        name: the name of the reference.
        ref: the branch or tag.
        timestamp_ms: the time of the change, in milliseconds from the Unix epoch.

    Returns:
        The changed metadata.

    Raises:
        CommitConflict: REF006 if main would become a tag.
    """
    if name == MAIN and ref.type is not RefType.BRANCH:
        raise commit_conflict("REF006", "main must be a branch", found=ref.type.value)
    needs_refs = bool(metadata.refs) or name != MAIN or ref != branch_ref(ref.snapshot_id)
    if needs_refs or _REFS.writer_presence(metadata.format_version) is not OMITTED:
        metadata = evolve(metadata, refs={**metadata.references, name: ref})
    if name != MAIN or metadata.current_snapshot_id == ref.snapshot_id:
        return metadata
    entry = SnapshotLogEntry(timestamp_ms=timestamp_ms, snapshot_id=ref.snapshot_id)
    return evolve(metadata, current_snapshot_id=ref.snapshot_id, snapshot_log=(*metadata.snapshot_log, entry))


def _statistics(change: SetStatistics, _: TableMetadata, current: TableMetadata, __: int) -> TableMetadata:
    made = change.statistics
    _has_snapshot(current, made.snapshot_id)
    attribute = "statistics" if isinstance(made, StatisticsFile) else "partition_statistics"
    others = tuple(one for one in getattr(current, attribute) if one.snapshot_id != made.snapshot_id)
    return evolve(current, **{attribute: (*others, made)})


def _no_statistics(change: RemoveStatistics, _: TableMetadata, current: TableMetadata, __: int) -> TableMetadata:
    kept = {
        attribute: tuple(one for one in getattr(current, attribute) if one.snapshot_id != change.snapshot_id)
        for attribute in ("statistics", "partition_statistics")
    }
    return evolve(current, **kept)


def _expire(change: ExpireSnapshots, _: TableMetadata, current: TableMetadata, __: int) -> TableMetadata:
    return expire_snapshots(current, change.now_ms)


def _upgrade(change: UpgradeFormatVersion, _: TableMetadata, current: TableMetadata, __: int) -> TableMetadata:
    return upgrade(current, change.version, table_uuid=change.table_uuid)


APPLY: dict[type, Callable[[Any, TableMetadata, TableMetadata, int], TableMetadata]] = {
    ChangeSchema: _schema,
    ChangeSpec: _spec,
    ChangeSortOrder: _sort_order,
    SetProperties: _properties,
    SetReference: _reference,
    SetStatistics: _statistics,
    RemoveStatistics: _no_statistics,
    ExpireSnapshots: _expire,
    UpgradeFormatVersion: _upgrade,
}
"""How each kind of change is applied."""

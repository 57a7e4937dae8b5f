"""Expiring snapshots, and what table metadata holds about them (Snapshot Retention Policy; Table Metadata Fields)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from spec_ref.core.records import evolve
from spec_ref.snapshots.retention import RetentionPolicy, find_retained, read_retention_policy
from spec_ref.snapshots.snapshot import Snapshot
from spec_ref.table_metadata.logs import remove_expired_entries
from spec_ref.table_metadata.metadata import TableMetadata
from spec_ref.table_metadata.statistics import PartitionStatisticsFile, StatisticsFile


def expire_snapshots(metadata: TableMetadata, now_ms: int, policy: RetentionPolicy | None = None) -> TableMetadata:
    """Remove the snapshots and references that expire at a time.

    What describes an expired snapshot is removed too: statistics, and entries of the snapshot log up to it (TMD017).

    Args:
        metadata: the table.
        now_ms: the time, in milliseconds from the Unix epoch.
        policy: the policy for references without one; that of the table's properties if not given.

    Returns:
        The table without them.

    Raises:
        SpecError: as `spec_ref.snapshots.retention.read_retention_policy`.
    """
    stays = find_retained(
        metadata.snapshots, metadata.references, policy or read_retention_policy(metadata.properties), now_ms
    )
    ids = stays.snapshot_ids
    return evolve(
        metadata,
        snapshots=_retain(metadata.snapshots, ids),
        refs={name: ref for name, ref in metadata.refs.items() if name in stays.refs},
        snapshot_log=remove_expired_entries(metadata.snapshot_log, ids),
        statistics=_retain(metadata.statistics, ids),
        partition_statistics=_retain(metadata.partition_statistics, ids),
    )


OfSnapshot = TypeVar("OfSnapshot", Snapshot, StatisticsFile, PartitionStatisticsFile)


def _retain(items: Iterable[OfSnapshot], ids: frozenset[int]) -> tuple[OfSnapshot, ...]:
    return tuple(item for item in items if item.snapshot_id in ids)

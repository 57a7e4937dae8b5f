"""The logs of current snapshots and of metadata files (Table Metadata Fields; Appendix F, Point in Time Reads)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import attrs

from spec_ref.core.errors import spec_error
from spec_ref.core.records import EMPTY, record, spec_field
from spec_ref.core.versions import REQUIRED
from spec_ref.json.wire_types import LONG, STRING, RecordOf


@record(kw_only=True)
class SnapshotLogEntry:
    """The time at which a snapshot became the current one."""

    timestamp_ms: int = spec_field(
        "timestamp-ms", v1=REQUIRED, v2=REQUIRED, v3=REQUIRED, requirement="TMD031", type=LONG
    )

    snapshot_id: int = spec_field("snapshot-id", v1=REQUIRED, v2=REQUIRED, v3=REQUIRED, requirement="TMD031", type=LONG)

    extra: Mapping[str, Any] = attrs.field(default=EMPTY, hash=False)
    """Properties that no format version defines."""


SNAPSHOT_LOG_ENTRY = RecordOf(SnapshotLogEntry, "an entry of the snapshot log", requirement="TMD031")


@record(kw_only=True)
class MetadataLogEntry:
    """A previous metadata file of the table, and when it was written."""

    timestamp_ms: int = spec_field(
        "timestamp-ms", v1=REQUIRED, v2=REQUIRED, v3=REQUIRED, requirement="TMD032", type=LONG
    )

    metadata_file: str = spec_field(
        "metadata-file", v1=REQUIRED, v2=REQUIRED, v3=REQUIRED, requirement="TMD032", type=STRING
    )

    extra: Mapping[str, Any] = attrs.field(default=EMPTY, hash=False)
    """Properties that no format version defines."""


METADATA_LOG_ENTRY = RecordOf(MetadataLogEntry, "an entry of the metadata log", requirement="TMD032")


def snapshot_at(log: Sequence[SnapshotLogEntry], timestamp_ms: int) -> int:
    """Find the snapshot that was current at a time (NOT003).

    "Just prior to" the time is read as at or before it, as Iceberg-Java does; if several entries have the same time,
    the last one counts (contradiction B25).

    Args:
        log: the snapshot log.
        timestamp_ms: milliseconds from the Unix epoch.

    Returns:
        The id of the snapshot.

    Raises:
        SpecError: NOT004 if the log is empty or starts later.
    """
    entries = [entry for entry in log if entry.timestamp_ms <= timestamp_ms]
    if not entries:
        known = (
            f"the log starts at {min(entry.timestamp_ms for entry in log)}" if log else "the table has no snapshot log"
        )
        raise spec_error("NOT004", f"the table has no snapshot for the time: {known}", found=timestamp_ms)
    last = max(entry.timestamp_ms for entry in entries)
    return [entry for entry in entries if entry.timestamp_ms == last][-1].snapshot_id


def remove_expired_entries(log: Sequence[SnapshotLogEntry], remaining: Collection[int]) -> tuple[SnapshotLogEntry, ...]:
    """Remove the entries of expired snapshots from the log, and all entries before them.

    A log with a gap would give wrong states for the times in it (TMD017).

    Args:
        log: the snapshot log.
        remaining: the ids of the snapshots that did not expire.

    Returns:
        The entries after the last one of an expired snapshot.
    """
    kept: list[SnapshotLogEntry] = []
    for entry in log:
        if entry.snapshot_id in remaining:
            kept.append(entry)
        else:
            kept.clear()
    return tuple(kept)


def append_metadata_log_entry(
    log: Sequence[MetadataLogEntry], previous: MetadataLogEntry, max_entries: int | None = None
) -> tuple[MetadataLogEntry, ...]:
    """Add the previous metadata file to the metadata log (TMD018).

    Args:
        log: the metadata log.
        previous: the entry of the previous metadata file.
        max_entries: how many of the most recent entries to keep; None for all.

    Returns:
        The log with the entry.
    """
    entries = (*log, previous)
    return entries if max_entries is None else entries[max(len(entries) - max_entries, 0) :]

"""Rules over references, logs, statistics and keys (Snapshot References; Table Metadata Fields)."""

from __future__ import annotations

import base64
import binascii
import itertools
from collections.abc import Callable

from spec_ref.json.documents import escape_token
from spec_ref.snapshots.references import MAIN, RefType
from spec_ref.table_metadata.metadata import TableMetadata
from spec_ref.table_metadata.rules import BrokenPlace, FoundPlaces, MetadataRule, find_repeated
from spec_ref.table_metadata.rules_snapshots import snapshots_by_id

# References


def _dangling(metadata: TableMetadata) -> FoundPlaces:
    known = snapshots_by_id(metadata)
    for name, ref in metadata.refs.items():
        if ref.snapshot_id not in known:
            yield BrokenPlace(f"/refs/{escape_token(name)}/snapshot-id", ref.snapshot_id, "the id of a snapshot")


_LIMITS = (
    ("REF003", "min-snapshots-to-keep", "min_snapshots_to_keep"),
    ("REF004", "max-snapshot-age-ms", "max_snapshot_age_ms"),
    ("REF005", "max-ref-age-ms", "max_ref_age_ms"),
)


def _ref_limit(name: str, attribute: str) -> Callable[[TableMetadata], FoundPlaces]:
    def find(metadata: TableMetadata) -> FoundPlaces:
        for ref_name, ref in metadata.refs.items():
            found = getattr(ref, attribute)
            if found is not None and found <= 0:
                yield BrokenPlace(f"/refs/{escape_token(ref_name)}/{name}", found, "a positive number")

    return find


def _tag_limit(name: str, attribute: str) -> Callable[[TableMetadata], FoundPlaces]:
    def find(metadata: TableMetadata) -> FoundPlaces:
        for ref_name, ref in metadata.refs.items():
            found = getattr(ref, attribute)
            if ref.type is RefType.TAG and found is not None:
                yield BrokenPlace(
                    f"/refs/{escape_token(ref_name)}/{name}", found, "no retention of snapshots for a tag"
                )

    return find


def _main_limit(metadata: TableMetadata) -> FoundPlaces:
    main = metadata.refs.get(MAIN)
    if main is not None and main.max_ref_age_ms is not None:
        yield BrokenPlace("/refs/main/max-ref-age-ms", main.max_ref_age_ms, "no age for main")


# Logs


def _snapshot_log_order(metadata: TableMetadata) -> FoundPlaces:
    times = [entry.timestamp_ms for entry in metadata.snapshot_log]
    for place, (before, after) in enumerate(itertools.pairwise(times), start=1):
        if after < before:
            yield BrokenPlace(f"/snapshot-log/{place}/timestamp-ms", after, f"not before {before}")


def _snapshot_log_times(metadata: TableMetadata) -> FoundPlaces:
    """Find log entries with an earlier time than their snapshots, which become current when created or later."""
    made = {snapshot.snapshot_id: snapshot.timestamp_ms for snapshot in metadata.snapshots}
    for place, entry in enumerate(metadata.snapshot_log):
        if entry.snapshot_id in made and entry.timestamp_ms < made[entry.snapshot_id]:
            expected = f"at least {made[entry.snapshot_id]}, the time of the snapshot"
            yield BrokenPlace(f"/snapshot-log/{place}/timestamp-ms", entry.timestamp_ms, expected)


def _snapshot_log_end(metadata: TableMetadata) -> FoundPlaces:
    log = metadata.snapshot_log
    if log and log[-1].snapshot_id != metadata.current_snapshot_id:
        path = f"/snapshot-log/{len(log) - 1}/snapshot-id"
        yield BrokenPlace(path, log[-1].snapshot_id, f"the current snapshot {metadata.current_snapshot_id}")


def _snapshot_log_known(metadata: TableMetadata) -> FoundPlaces:
    known = snapshots_by_id(metadata)
    for place, entry in enumerate(metadata.snapshot_log):
        if entry.snapshot_id not in known:
            yield BrokenPlace(
                f"/snapshot-log/{place}/snapshot-id", entry.snapshot_id, "a snapshot that has not expired"
            )


def _metadata_log_order(metadata: TableMetadata) -> FoundPlaces:
    times = [entry.timestamp_ms for entry in metadata.metadata_log]
    for place, (before, after) in enumerate(itertools.pairwise(times), start=1):
        if after < before:
            yield BrokenPlace(f"/metadata-log/{place}/timestamp-ms", after, f"not before {before}")


# Statistics and keys


def _statistics_snapshots(metadata: TableMetadata) -> FoundPlaces:
    known = snapshots_by_id(metadata)
    paths = [
        *((f"/statistics/{place}", file.snapshot_id) for place, file in enumerate(metadata.statistics)),
        *((f"/partition-statistics/{n}", file.snapshot_id) for n, file in enumerate(metadata.partition_statistics)),
    ]
    for path, snapshot_id in paths:
        if snapshot_id not in known:
            yield BrokenPlace(f"{path}/snapshot-id", snapshot_id, "the id of a snapshot")


def _partition_statistics(metadata: TableMetadata) -> FoundPlaces:
    ids = [file.snapshot_id for file in metadata.partition_statistics]
    for second, _ in find_repeated(ids):
        yield BrokenPlace(f"/partition-statistics/{second}/snapshot-id", ids[second], "one file per snapshot")


def _is_base64(text: str) -> bool:
    try:
        base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return False
    return True


def _statistics_keys(metadata: TableMetadata) -> FoundPlaces:
    for place, file in enumerate(metadata.statistics):
        if file.key_metadata is not None and not _is_base64(file.key_metadata):
            yield BrokenPlace(f"/statistics/{place}/key-metadata", file.key_metadata, "base64")


def _key_metadata(metadata: TableMetadata) -> FoundPlaces:
    for place, key in enumerate(metadata.encryption_keys):
        if not _is_base64(key.encrypted_key_metadata):
            yield BrokenPlace(f"/encryption-keys/{place}/encrypted-key-metadata", key.encrypted_key_metadata, "base64")


def _repeated_keys(metadata: TableMetadata) -> FoundPlaces:
    ids = [key.key_id for key in metadata.encryption_keys]
    for second, first in find_repeated(ids):
        yield BrokenPlace(f"/encryption-keys/{second}/key-id", ids[second], f"an id other than that of key {first}")


RULES: tuple[MetadataRule, ...] = (
    MetadataRule(
        "TMD021",
        "the table does not have the snapshot of a reference",
        ("refs", "snapshots"),
        _dangling,
        aspect="unknown-snapshot",
    ),
    *(
        MetadataRule(code, f"{name} is not positive", ("refs",), _ref_limit(name, attribute), aspect="not-positive")
        for code, name, attribute in _LIMITS
    ),
    *(
        MetadataRule(
            code, "a tag has a retention property of branches", ("refs",), _tag_limit(name, attribute), aspect="of-tag"
        )
        for code, name, attribute in _LIMITS[:2]
    ),
    MetadataRule("REF005", "max-ref-age-ms is set on main, which never expires", ("refs",), _main_limit, aspect="main"),
    MetadataRule(
        "TMD017",
        "the entries of snapshot-log are not sorted by time",
        ("snapshot_log",),
        _snapshot_log_order,
        aspect="unordered",
    ),
    MetadataRule(
        "TMD017",
        "a snapshot-log entry is older than its snapshot",
        ("snapshot_log", "snapshots"),
        _snapshot_log_times,
        aspect="before-snapshot",
    ),
    MetadataRule(
        "TMD017",
        "the last entry of snapshot-log is not the current snapshot",
        ("snapshot_log", "current_snapshot_id"),
        _snapshot_log_end,
        aspect="wrong-end",
    ),
    MetadataRule(
        "TMD017",
        "snapshot-log has an entry for an expired snapshot",
        ("snapshot_log", "snapshots"),
        _snapshot_log_known,
        aspect="unknown-snapshot",
    ),
    MetadataRule(
        "TMD018",
        "the entries of metadata-log are not sorted by time",
        ("metadata_log",),
        _metadata_log_order,
        aspect="unordered",
    ),
    MetadataRule(
        "STA001",
        "the table does not have the snapshot of a statistics file",
        ("statistics", "partition_statistics", "snapshots"),
        _statistics_snapshots,
        aspect="unknown-snapshot",
    ),
    MetadataRule(
        "STA016", "a snapshot has several partition statistics files", ("partition_statistics",), _partition_statistics
    ),
    MetadataRule("STA005", "key-metadata is not base64", ("statistics",), _statistics_keys, aspect="not-base64"),
    MetadataRule(
        "ENC002", "encrypted-key-metadata is not base64", ("encryption_keys",), _key_metadata, aspect="not-base64"
    ),
    MetadataRule("ENC001", "two keys have the same id", ("encryption_keys",), _repeated_keys, aspect="repeated"),
)
"""The rules over references, logs, statistics and keys."""

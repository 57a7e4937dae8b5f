"""Rules over snapshots, their summaries and their row ids (Snapshots; Snapshot Row IDs)."""

from __future__ import annotations

from collections.abc import Iterator

from spec_ref.core.records import field_rules
from spec_ref.core.versions import OMITTED, REQUIRED
from spec_ref.snapshots.references import MAIN, RefType
from spec_ref.snapshots.snapshot import Snapshot
from spec_ref.snapshots.summary import OPERATION, SUMMARY_METRICS, SnapshotOperation
from spec_ref.table_metadata.metadata import TableMetadata
from spec_ref.table_metadata.rules import BrokenPlace, FoundPlaces, MetadataRule, find_repeated

_FIELDS = field_rules(Snapshot)
_OPERATIONS = frozenset(operation.value for operation in SnapshotOperation)


def _repeated_snapshots(metadata: TableMetadata) -> FoundPlaces:
    ids = [snapshot.snapshot_id for snapshot in metadata.snapshots]
    for second, first in find_repeated(ids):
        yield BrokenPlace(
            f"/snapshots/{second}/snapshot-id", ids[second], f"an id other than that of /snapshots/{first}"
        )


def _positive_ids(metadata: TableMetadata) -> FoundPlaces:
    for place, snapshot in enumerate(metadata.snapshots):
        if snapshot.snapshot_id <= 0:
            yield BrokenPlace(f"/snapshots/{place}/snapshot-id", snapshot.snapshot_id, "a positive id")


def snapshots_by_id(metadata: TableMetadata) -> dict[int, Snapshot]:
    """Map the snapshots by id; the metadata may be invalid, and of two snapshots with one id the later one counts.

    Args:
        metadata: the table metadata.

    Returns:
        The snapshots by their ids.
    """
    return {snapshot.snapshot_id: snapshot for snapshot in metadata.snapshots}


def _current_snapshot(metadata: TableMetadata) -> FoundPlaces:
    current = metadata.current_snapshot_id
    if current is not None and current not in [snapshot.snapshot_id for snapshot in metadata.snapshots]:
        yield BrokenPlace("/current-snapshot-id", current, "the id of a snapshot")


def _main(metadata: TableMetadata) -> FoundPlaces:
    main = metadata.refs.get(MAIN)
    if main is not None and main.snapshot_id != metadata.current_snapshot_id:
        yield BrokenPlace(
            "/refs/main/snapshot-id", main.snapshot_id, f"current-snapshot-id {metadata.current_snapshot_id}"
        )


def _main_is_branch(metadata: TableMetadata) -> FoundPlaces:
    main = metadata.refs.get(MAIN)
    if main is not None and main.type is not RefType.BRANCH:
        yield BrokenPlace("/refs/main/type", main.type.value, "branch")


def _no_manifests(metadata: TableMetadata) -> FoundPlaces:
    """Find snapshots without data files to read; a v1 snapshot may lack ``manifest-list`` and ``manifests``."""
    if _FIELDS["manifest_list"].writer_presence(metadata.format_version) is not REQUIRED:
        return
    for place, snapshot in enumerate(metadata.snapshots):
        if snapshot.manifest_list is None and snapshot.manifests is None:
            yield BrokenPlace(f"/snapshots/{place}/manifest-list", expected="the location of a manifest list")


def _both_manifests(metadata: TableMetadata) -> FoundPlaces:
    """Find v1 snapshots with ``manifest-list`` and ``manifests``; later versions omit ``manifests`` (VER005)."""
    if _FIELDS["manifests"].writer_presence(metadata.format_version) is OMITTED:
        return
    for place, snapshot in enumerate(metadata.snapshots):
        if snapshot.manifest_list is not None and snapshot.manifests is not None:
            yield BrokenPlace(f"/snapshots/{place}/manifests", expected="no manifests where there is a manifest list")


def _last_sequence_number(metadata: TableMetadata) -> FoundPlaces:
    for place, snapshot in enumerate(metadata.snapshots):
        if snapshot.sequence_number > metadata.last_sequence_number:
            expected = f"at most last-sequence-number {metadata.last_sequence_number}"
            yield BrokenPlace(f"/snapshots/{place}/sequence-number", snapshot.sequence_number, expected)


def _sequence_order(metadata: TableMetadata) -> FoundPlaces:
    known = snapshots_by_id(metadata)
    for place, snapshot in enumerate(metadata.snapshots):
        parent = known.get(snapshot.parent_snapshot_id) if snapshot.parent_snapshot_id is not None else None
        # The sequence numbers of snapshots from v1 are both 0.
        if parent is snapshot:
            continue  # another rule reports a snapshot that is its own parent
        if parent and snapshot.sequence_number <= parent.sequence_number and (parent.sequence_number or 0) > 0:
            expected = f"more than the parent's {parent.sequence_number}"
            yield BrokenPlace(f"/snapshots/{place}/sequence-number", snapshot.sequence_number, expected)


def _repeated_sequence_numbers(metadata: TableMetadata) -> FoundPlaces:
    """Compare snapshots of all branches; another rule compares those with their parents. Snapshots of v1 have 0."""
    numbers = [snapshot.sequence_number or -place for place, snapshot in enumerate(metadata.snapshots)]
    for second, first in find_repeated(numbers):
        one, two = metadata.snapshots[second], metadata.snapshots[first]
        related = one.snapshot_id in (two.parent_snapshot_id, two.snapshot_id)
        if not related and two.snapshot_id != one.parent_snapshot_id:
            yield BrokenPlace(
                f"/snapshots/{second}/sequence-number",
                numbers[second],
                f"a number that /snapshots/{first} does not have",
            )


def _last_updated(metadata: TableMetadata) -> FoundPlaces:
    times = [snapshot.timestamp_ms for snapshot in metadata.snapshots]
    log = metadata.snapshot_log
    if log and log[-1].snapshot_id == metadata.current_snapshot_id:  # TMD017 reports a different end of the log
        times.append(log[-1].timestamp_ms)
    times += [entry.timestamp_ms for entry in metadata.metadata_log]
    latest = max(times, default=metadata.last_updated_ms)
    if metadata.last_updated_ms < latest:
        expected = f"at least {latest}, the time of the last snapshot or entry of a log"
        yield BrokenPlace("/last-updated-ms", metadata.last_updated_ms, expected)


def _cycles(metadata: TableMetadata) -> FoundPlaces:
    parents = {snapshot.snapshot_id: snapshot.parent_snapshot_id for snapshot in metadata.snapshots}
    sound: set[int] = set()
    for place, snapshot in enumerate(metadata.snapshots):
        chain: dict[int, None] = {}
        at: int | None = snapshot.snapshot_id
        while at is not None and at in parents and at not in sound:
            if at in chain:
                yield BrokenPlace(f"/snapshots/{place}/parent-snapshot-id", at, "a chain of ancestors that ends")
                break
            chain[at] = None
            at = parents[at]
        sound.update(chain)


NO_PARENT = -1
"""The parent id that ClickHouse writes for a snapshot without a parent; Iceberg-Java writes -1 for no current
snapshot."""


def _no_parent(metadata: TableMetadata) -> FoundPlaces:
    known = snapshots_by_id(metadata)
    for place, snapshot in enumerate(metadata.snapshots):
        if snapshot.parent_snapshot_id == NO_PARENT and NO_PARENT not in known:
            yield BrokenPlace(f"/snapshots/{place}/parent-snapshot-id", NO_PARENT, "no parent-snapshot-id")


def _operations(metadata: TableMetadata) -> FoundPlaces:
    for place, snapshot in enumerate(metadata.snapshots):
        if snapshot.summary is not None and snapshot.summary.get(OPERATION) not in _OPERATIONS:
            found = snapshot.summary.get(OPERATION)
            yield BrokenPlace(f"/snapshots/{place}/summary/operation", found, ", ".join(sorted(_OPERATIONS)))


def _metrics(metadata: TableMetadata) -> FoundPlaces:
    for place, snapshot in enumerate(metadata.snapshots):
        for name, value in (snapshot.summary or {}).items():
            if name in SUMMARY_METRICS and not (value.isascii() and value.isdigit()):
                yield BrokenPlace(f"/snapshots/{place}/summary/{name}", value, "digits")


def _snapshot_schemas(metadata: TableMetadata) -> FoundPlaces:
    known = {schema.schema_id for schema in metadata.schemas}
    for place, snapshot in enumerate(metadata.snapshots):
        if snapshot.schema_id is not None and snapshot.schema_id not in known:
            yield BrokenPlace(f"/snapshots/{place}/schema-id", snapshot.schema_id, "the id of a schema")


def _snapshot_keys(metadata: TableMetadata) -> FoundPlaces:
    known = {key.key_id for key in metadata.encryption_keys}
    for place, snapshot in enumerate(metadata.snapshots):
        if snapshot.key_id is not None and snapshot.key_id not in known:
            yield BrokenPlace(f"/snapshots/{place}/key-id", snapshot.key_id, "the id of an encryption key")


def _first_row_ids(metadata: TableMetadata) -> FoundPlaces:
    """Find a snapshot without first row id whose parent has one: only snapshots before an upgrade to v3 have none."""
    known = snapshots_by_id(metadata)
    for place, snapshot in enumerate(metadata.snapshots):
        parent = known.get(snapshot.parent_snapshot_id) if snapshot.parent_snapshot_id is not None else None
        if parent and snapshot.first_row_id is None and parent.first_row_id is not None:
            yield BrokenPlace(f"/snapshots/{place}/first-row-id", expected="a first row id, as the parent has one")


def _added_rows(metadata: TableMetadata) -> FoundPlaces:
    for place, snapshot in enumerate(metadata.snapshots):
        if (snapshot.first_row_id is None) != (snapshot.added_rows is None):
            name = "added-rows" if snapshot.added_rows is None else "first-row-id"
            yield BrokenPlace(f"/snapshots/{place}/{name}", expected="both first-row-id and added-rows, or neither")


def _manifest_lists(metadata: TableMetadata) -> FoundPlaces:
    """Find snapshots that list their manifests, except those from v1, whose sequence number is 0."""
    for place, snapshot in enumerate(metadata.snapshots):
        if snapshot.manifest_list is None and snapshot.manifests and snapshot.sequence_number > 0:
            yield BrokenPlace(f"/snapshots/{place}/manifest-list", expected="the location of a manifest list")


def _summaries(metadata: TableMetadata) -> FoundPlaces:
    """Find snapshots without a summary, except those from v1, whose sequence number is 0."""
    for place, snapshot in enumerate(metadata.snapshots):
        if snapshot.summary is None and snapshot.sequence_number > 0:
            yield BrokenPlace(f"/snapshots/{place}/summary", expected="a summary with the operation")


def _row_ranges(metadata: TableMetadata) -> Iterator[tuple[int, int, int]]:
    """Find the ranges of row ids that snapshots assigned: first, end, and index of the snapshot."""
    for place, snapshot in enumerate(metadata.snapshots):
        if snapshot.first_row_id is not None:
            yield snapshot.first_row_id, snapshot.first_row_id + max(snapshot.added_rows or 0, 0), place


def _negative_rows(metadata: TableMetadata) -> FoundPlaces:
    for place, snapshot in enumerate(metadata.snapshots):
        for name, found in (("first-row-id", snapshot.first_row_id), ("added-rows", snapshot.added_rows)):
            if found is not None and found < 0:
                yield BrokenPlace(f"/snapshots/{place}/{name}", found, "0 or more")


def _next_row_id(metadata: TableMetadata) -> FoundPlaces:
    highest = max((end for _, end, _ in _row_ranges(metadata)), default=0)
    if metadata.next_row_id is not None and metadata.next_row_id < highest:
        yield BrokenPlace(
            "/next-row-id", metadata.next_row_id, f"at least {highest}, the end of the snapshots' row ids"
        )


def _overlapping_rows(metadata: TableMetadata) -> FoundPlaces:
    """Compare each range with that of the ranges before it which ends last; empty ranges have no row ids."""
    furthest: tuple[int, int, int] | None = None
    for first, end, place in sorted(one for one in _row_ranges(metadata) if one[0] < one[1]):
        if furthest is not None and first < furthest[1]:
            expected = f"none of {furthest[0]} to {furthest[1] - 1}, which /snapshots/{furthest[2]} was given"
            yield BrokenPlace(f"/snapshots/{place}/first-row-id", first, expected)
        if furthest is None or end > furthest[1]:
            furthest = first, end, place


_SNAPSHOTS = ("snapshots",)

RULES: tuple[MetadataRule, ...] = (
    MetadataRule(
        "SNP001", "two snapshots have the same id", _SNAPSHOTS, _repeated_snapshots, refused=True, aspect="repeated"
    ),
    MetadataRule("NOT007", "the id of a snapshot is not positive", _SNAPSHOTS, _positive_ids),
    MetadataRule(
        "TMD015",
        "current-snapshot-id does not name a snapshot of the table",
        ("current_snapshot_id", "snapshots"),
        _current_snapshot,
        refused=True,
        aspect="unknown",
    ),
    MetadataRule(
        "TMD015",
        "the snapshot of main differs from current-snapshot-id",
        ("current_snapshot_id", "refs"),
        _main,
        refused=True,
        aspect="main-differs",
    ),
    MetadataRule("REF002", "main is not a branch", ("refs",), _main_is_branch, aspect="main-is-tag"),
    MetadataRule(
        "SNP005",
        "a snapshot has neither manifests nor manifest-list",
        ("snapshots", "format_version"),
        _no_manifests,
        refused=True,
        aspect="no-manifests",
    ),
    MetadataRule(
        "SNP005",
        "a snapshot has no manifest list",
        _SNAPSHOTS,
        _manifest_lists,
        since=_FIELDS["manifest_list"].required_since,
        aspect="missing",
    ),
    MetadataRule(
        "SNP006",
        "both manifests and manifest-list of a snapshot are set",
        ("snapshots", "format_version"),
        _both_manifests,
        aspect="twice",
    ),
    MetadataRule(
        "TMD004",
        "the sequence number of a snapshot is greater than last-sequence-number",
        ("snapshots", "last_sequence_number"),
        _last_sequence_number,
        aspect="exceeded-by-snapshot",
    ),
    MetadataRule(
        "SNP003",
        "the sequence number of a snapshot is not greater than its parent's",
        _SNAPSHOTS,
        _sequence_order,
        aspect="not-increasing",
    ),
    MetadataRule(
        "SNP003",
        "two snapshots have the same sequence number",
        _SNAPSHOTS,
        _repeated_sequence_numbers,
        aspect="repeated",
    ),
    MetadataRule(
        "TMD005",
        "last-updated-ms is before the last snapshot",
        ("snapshots", "snapshot_log", "metadata_log", "last_updated_ms"),
        _last_updated,
        aspect="before-snapshot",
    ),
    MetadataRule("SNP002", "a snapshot is its own ancestor", _SNAPSHOTS, _cycles, aspect="cycle"),
    MetadataRule(
        "SNP002",
        "parent-snapshot-id of a snapshot without a parent is not null",
        _SNAPSHOTS,
        _no_parent,
        aspect="negative",
    ),
    MetadataRule("SNP008", "the operation of a summary is missing or unknown", _SNAPSHOTS, _operations),
    MetadataRule(
        "SNP007",
        "a snapshot has no summary",
        _SNAPSHOTS,
        _summaries,
        since=_FIELDS["summary"].required_since,
        aspect="missing",
    ),
    MetadataRule("NOT005", "a metric of a summary is not a number", _SNAPSHOTS, _metrics, aspect="not-a-number"),
    MetadataRule(
        "SNP009",
        "the table does not have the schema of a snapshot",
        ("snapshots", "schemas"),
        _snapshot_schemas,
        aspect="unknown-schema",
    ),
    MetadataRule(
        "SNP012",
        "the table does not have the encryption key of a snapshot",
        ("snapshots", "encryption_keys"),
        _snapshot_keys,
        aspect="unknown-key",
    ),
    MetadataRule(
        "SNP010",
        "a snapshot has no first row id",
        _SNAPSHOTS,
        _first_row_ids,
        since=_FIELDS["first_row_id"].required_since,
        aspect="unassigned",
    ),
    MetadataRule(
        "SNP011", "only one of first-row-id and added-rows of a snapshot is set", _SNAPSHOTS, _added_rows, aspect="half"
    ),
    MetadataRule(
        "SNP010", "first-row-id or added-rows of a snapshot is negative", _SNAPSHOTS, _negative_rows, aspect="negative"
    ),
    MetadataRule(
        "TMD024",
        "next-row-id was already assigned to a row",
        ("snapshots", "next_row_id"),
        _next_row_id,
        aspect="given-already",
    ),
    MetadataRule("LIN023", "two snapshots have overlapping row ids", _SNAPSHOTS, _overlapping_rows, aspect="overlap"),
)
"""The rules over snapshots."""

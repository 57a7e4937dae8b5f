"""The next snapshot of a table (Snapshots; Sequence Numbers; Snapshot Row IDs).

Every attempt writes a new manifest list (MLS001) that states the sequence number of the attempt for each manifest that
the snapshot adds (MLS024).
"""

from __future__ import annotations

from spec_ref.commits import conflicts, file_removal, manifest_merging, manifests, summaries
from spec_ref.commits.changes import SnapshotChange
from spec_ref.commits.effects import Steps, WriteFile
from spec_ref.commits.manifests import CommitManifests
from spec_ref.commits.metadata_changes import with_reference
from spec_ref.commits.payloads import ManifestListPayload
from spec_ref.commits.reading import ListedEntry, MetadataFileCache, branch_head
from spec_ref.commits.tables import metadata_directory
from spec_ref.core.records import evolve, field_rules, record
from spec_ref.core.versions import OMITTED
from spec_ref.manifest_lists.manifest_file import ManifestFile
from spec_ref.manifests.data_file import FileContent
from spec_ref.row_lineage.assignment import assign_first_row_ids
from spec_ref.snapshots.references import branch_ref
from spec_ref.snapshots.snapshot import Snapshot
from spec_ref.snapshots.summary import SnapshotOperation
from spec_ref.table_metadata.metadata import TableMetadata

_TABLE = field_rules(TableMetadata)


@record
class NextSnapshot:
    """The snapshot that an attempt made."""

    metadata: TableMetadata
    snapshot: Snapshot
    manifests: tuple[ManifestFile, ...]


def next_sequence_number(metadata: TableMetadata) -> int:
    """Choose the sequence number of the next commit: one more than the last one, at each attempt (SEQ001).

    Args:
        metadata: the table.

    Returns:
        The sequence number; 0 in v1.
    """
    if _TABLE["last_sequence_number"].writer_presence(metadata.format_version) is OMITTED:
        return 0
    return metadata.last_sequence_number + 1


def snapshot_operation(change: SnapshotChange, removed: list[ListedEntry]) -> SnapshotOperation:
    """Derive the operation of a snapshot (SNP013 to SNP016).

    Args:
        change: the change.
        removed: the entries of the removed files, with their manifests.

    Returns:
        The operation.
    """
    if change.operation is not None:
        return change.operation
    adds_data = any(new.data_file.content is FileContent.DATA for new in change.added)
    deletes = any(new.data_file.content is not FileContent.DATA for new in change.added) or bool(removed)
    return OPERATIONS[adds_data, deletes]


OPERATIONS = {
    (True, False): SnapshotOperation.APPEND,
    (False, False): SnapshotOperation.APPEND,
    (False, True): SnapshotOperation.DELETE,
    (True, True): SnapshotOperation.OVERWRITE,
}
"""The operation, by whether data files are added and whether rows are deleted."""


def next_snapshot(
    change: SnapshotChange,
    planned: TableMetadata,
    current: TableMetadata,
    files: MetadataFileCache,
    commit_manifests: CommitManifests,
    attempt: int,
    now_ms: int,
) -> Steps[NextSnapshot]:
    """Make the next snapshot of a table: its manifests, its manifest list, and the metadata with it.

    Args:
        change: the change.
        planned: the table that it was planned on.
        current: the table that it is applied to.
        files: the files read so far.
        commit_manifests: the manifests written so far.
        attempt: the number of the attempt, for the name of the manifest list.
        now_ms: the time of the commit, in milliseconds from the Unix epoch.

    Returns:
        The snapshot with its manifests, and the changed metadata.

    Yields:
        The effects to perform; their answers are sent back.

    Raises:
        CommitConflict: the codes of `spec_ref.commits.conflicts` and `remove_files`.
        SpecError: the codes of `new_manifests`, or of a rule that the change breaks.
    """
    conflicts.check_branch(change, current)
    yield from conflicts.validate_change(change, planned, current, files)
    parent = branch_head(current, change.branch)
    number = next_sequence_number(current)
    before = yield from files.manifests(parent)
    removal = file_removal.resolve_removal(change, current)
    kept, removed = yield from file_removal.remove_files(before, removal, current, files, commit_manifests, number)
    yield from conflicts.check_new_deletes(change, removed, planned, current, files)
    conflicts.check_row_ids(change, removed, planned, current)
    new = yield from manifests.new_manifests(change, planned, current, commit_manifests, number)
    listed = [*new, *kept]
    if change.merges:
        listed = yield from manifest_merging.merge_manifests(
            listed, current.properties, current, files, commit_manifests, number
        )
    if change.rewrites_manifests:
        listed = yield from manifest_merging.compact_manifests(
            listed, current.properties, current, files, commit_manifests, number
        )
    counted = yield from files.with_counts(listed, current.format_version)
    assigned, row_ids = assign_row_ids(counted, current)
    path = f"{metadata_directory(current)}/snap-{commit_manifests.snapshot_id}-{attempt}-{commit_manifests.name}.avro"
    snapshot = Snapshot(
        snapshot_id=commit_manifests.snapshot_id,
        parent_snapshot_id=None if parent is None else parent.snapshot_id,
        sequence_number=number,
        timestamp_ms=now_ms,
        manifest_list=path,
        summary=summaries.build_summary(
            snapshot_operation(change, removed),
            [one.data_file for one in change.added],
            [entry.data_file for _, entry in removed],
            {} if parent is None else parent.summary,
            change.summary,
        ),
        schema_id=current.current_schema_id,
        first_row_id=None if row_ids is None else row_ids[0],
        added_rows=None if row_ids is None else row_ids[1] - row_ids[0],
    )
    yield WriteFile(
        path,
        ManifestListPayload(
            files=assigned,
            format_version=current.format_version,
            snapshot_id=snapshot.snapshot_id,
            parent_snapshot_id=snapshot.parent_snapshot_id,
            sequence_number=None if number == 0 else number,
            first_row_id=snapshot.first_row_id,
        ),
    )
    metadata = evolve(
        add_snapshot(current, snapshot, change.branch),
        last_sequence_number=number,
        next_row_id=current.next_row_id if row_ids is None else row_ids[1],
    )
    return NextSnapshot(metadata, snapshot, assigned)


def assign_row_ids(
    manifest_files: tuple[ManifestFile, ...], current: TableMetadata
) -> tuple[tuple[ManifestFile, ...], tuple[int, int] | None]:
    """Assign row ids to manifests, starting with the table's ``next-row-id`` at this attempt (LIN023, LIN030).

    All branches use this one sequence of row ids, so that their ranges are disjoint (LIN016). The table's next row id
    becomes the first row id of the last manifest that was assigned one, plus the rows of that manifest (TMD028).

    Args:
        manifest_files: the entries of the manifest list.
        current: the table that the change is applied to.

    Returns:
        The entries with first row ids, and the table's next row id before and after; None for both in versions without
        row ids.
    """
    if current.next_row_id is None:
        return manifest_files, None
    assigned, after = assign_first_row_ids(manifest_files, current.next_row_id)
    return assigned, (current.next_row_id, after)


def add_snapshot(metadata: TableMetadata, snapshot: Snapshot, branch_name: str) -> TableMetadata:
    """Add a snapshot to a table, as the new head of a branch.

    Args:
        metadata: the table.
        snapshot: the snapshot.
        branch_name: the branch.

    Returns:
        The changed metadata.
    """
    ref = metadata.references.get(branch_name)
    moved = branch_ref(snapshot.snapshot_id) if ref is None else evolve(ref, snapshot_id=snapshot.snapshot_id)
    metadata = evolve(metadata, snapshots=(*metadata.snapshots, snapshot))
    return with_reference(metadata, branch_name, moved, snapshot.timestamp_ms)

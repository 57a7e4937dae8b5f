"""Checks that the preconditions of a change hold when it is applied (Commit Conflict Resolution and Retry).

`spec_ref.commits.file_removal` checks that the files that a change removes are still in the table (OCC007).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress

from spec_ref.commits.changes import SnapshotChange
from spec_ref.commits.conflict_evaluation import bound_filter, may_match
from spec_ref.commits.effects import Steps
from spec_ref.commits.errors import commit_conflict
from spec_ref.commits.reading import ListedEntry, MetadataFileCache, branch_head, branch_history, file_key
from spec_ref.core.errors import Description, SpecError, spec_error
from spec_ref.core.versions import DELETE_FILES, DELETION_VECTORS, POSITION_DELETE_FILES
from spec_ref.data_types.types import Type
from spec_ref.expressions.bound import BoundPredicate
from spec_ref.manifest_lists.manifest_file import ManifestContent
from spec_ref.manifests.data_file import DataFile, FileContent, FileFormat
from spec_ref.manifests.entry import EntryStatus, ManifestEntry
from spec_ref.partitioning.spec import PartitionSpec
from spec_ref.scan_planning.delete_scope import column_types, may_apply
from spec_ref.scan_planning.rows import referenced_ids
from spec_ref.snapshots.references import RefType
from spec_ref.snapshots.snapshot import Snapshot
from spec_ref.snapshots.summary import SnapshotOperation
from spec_ref.table_metadata.metadata import TableMetadata


def snapshots_since(change: SnapshotChange, planned: TableMetadata, current: TableMetadata) -> list[Snapshot]:
    """List the snapshots of the branch since the one that a change was planned on, newest first.

    Args:
        change: the change.
        planned: the table that it was planned on.
        current: the table that it is applied to.

    Returns:
        The snapshots.

    Raises:
        CommitConflict: OCC004 if that snapshot is not an ancestor of the branch head, so that the changes in between
            are unknown.
    """
    start = branch_head(planned, change.branch)
    found: list[Snapshot] = []
    for snapshot in branch_history(current, change.branch):
        if start is not None and snapshot.snapshot_id == start.snapshot_id:
            return found
        found.append(snapshot)
    if start is None and (not found or found[-1].parent_snapshot_id is None):
        return found
    raise commit_conflict(
        "OCC004",
        "the snapshot that the change was planned on is not an ancestor of the branch head, so concurrent "
        "changes cannot be validated",
        found=None if start is None else start.snapshot_id,
    )


def check_branch(change: SnapshotChange, current: TableMetadata) -> None:
    """Check that a snapshot is committed to a branch and not to a tag.

    Args:
        change: the change.
        current: the table that it is applied to.

    Raises:
        CommitConflict: REF008 if the name is that of a tag, which others may have created in the meantime.
    """
    ref = current.references.get(change.branch)
    if ref is not None and ref.type is not RefType.BRANCH:
        raise commit_conflict(
            "REF008",
            "the reference is a tag, to which snapshots cannot be committed",
            found=change.branch,
            expected="a branch",
        )


def validate_change(
    change: SnapshotChange, planned: TableMetadata, current: TableMetadata, files: MetadataFileCache
) -> Steps[None]:
    """Check what a change relies on, except that removed files exist, which is checked when they are removed.

    Args:
        change: the change.
        planned: the table that it was planned on.
        current: the table that it is applied to.
        files: the files read so far.

    Yields:
        The effects to perform; their answers are sent back.

    Raises:
        CommitConflict: OCC004 or DEL003 if a concurrent change conflicts with it; DEL001 or DEL002 if the format
            version of the table does not allow its delete files.
        SpecError: DEL003 if two added deletion vectors are for one data file.
    """  # noqa: DOC201 - ruff takes a bare return in a generator for a value
    _check_kinds((new.data_file for new in change.added), planned, current)
    validation = change.validation
    if validation.files_exist:
        yield from _check_exist(change, current, files)
    vectors = [new.data_file.referenced_data_file for new in change.added if new.data_file.is_deletion_vector]
    if vectors:
        repeated = [path for path, count in Counter(vectors).items() if count > 1]
        if repeated:
            raise spec_error("DEL003", "two deletion vectors are added for one data file", found=repeated[0])
        yield from _check_vectors(change, set(vectors), current, files)
    asked = validation.no_new_data or validation.no_new_deletes or validation.data_specs is not None
    if not (asked or change.keeps_rows):
        return
    snapshots = snapshots_since(change, planned, current)
    if not snapshots:
        return
    predicate = _conflict_filter(change, planned, current)
    for snapshot in snapshots:
        replaced = snapshot.operation is SnapshotOperation.REPLACE
        added = yield from files.read_changes(snapshot, EntryStatus.ADDED)
        for manifest, entry in added:
            data_file = entry.data_file
            is_data = data_file.content is FileContent.DATA
            if (
                is_data
                and validation.data_specs is not None
                and manifest.partition_spec_id not in validation.data_specs
            ):
                raise commit_conflict(
                    "OCC004",
                    "a concurrent commit added a data file of a partition that the deletes do not cover",
                    found=data_file.file_path,
                )
            if replaced or not (validation.no_new_data if is_data else validation.no_new_deletes):
                continue
            if may_match(predicate, data_file, current.spec_by_id(manifest.partition_spec_id)):
                kind = "data" if is_data else "delete"
                raise commit_conflict(
                    "OCC004", f"a concurrent commit added a {kind} file that may match", found=data_file.file_path
                )
        if validation.no_new_deletes:
            removed = yield from files.read_changes(snapshot, EntryStatus.DELETED)
            for manifest, entry in removed:
                spec = current.spec_by_id(manifest.partition_spec_id)
                if (
                    not replaced
                    and entry.data_file.content is FileContent.DATA
                    and may_match(predicate, entry.data_file, spec)
                ):
                    raise commit_conflict(
                        "OCC004",
                        "a concurrent commit removed a data file that may match",
                        found=entry.data_file.file_path,
                    )


def _conflict_filter(change: SnapshotChange, planned: TableMetadata, current: TableMetadata) -> BoundPredicate:
    """Bind the filter of conflicts to the current schema, where its names have to mean the same columns as before."""
    unbound = change.validation.conflict_filter
    before = set(referenced_ids(bound_filter(unbound, planned)))
    with suppress(SpecError):
        predicate = bound_filter(unbound, current)
        if set(referenced_ids(predicate)) == before:
            return predicate
    message = "a concurrent commit dropped or renamed a column of the filter"
    raise commit_conflict("OCC004", message, found=Description(str(unbound)))


def check_new_deletes(
    change: SnapshotChange,
    removed: list[ListedEntry],
    planned: TableMetadata,
    current: TableMetadata,
    files: MetadataFileCache,
) -> Steps[None]:
    """Check that no concurrent commit deleted rows of files that the change removes and whose rows it keeps.

    An equality delete still applies if the new files have the data sequence number of the old ones (SEQ007).

    Args:
        change: the change.
        removed: the entries of the removed files, with their manifests.
        planned: the table that the change was planned on.
        current: the table that it is applied to.
        files: the files read so far.

    Yields:
        The effects to perform; their answers are sent back.

    Raises:
        CommitConflict: OCC007 if a concurrent commit deleted such rows.
    """  # noqa: DOC201 - ruff takes a bare return in a generator for a value
    data = [listed for listed in removed if listed[1].data_file.content is FileContent.DATA]
    if not data or not change.keeps_rows:
        return
    types = column_types(current)
    by_path: dict[str, list[ListedEntry]] = {}
    for one in data:
        by_path.setdefault(one[1].data_file.file_path, []).append(one)
    for snapshot in snapshots_since(change, planned, current):
        added = yield from files.read_changes(snapshot, EntryStatus.ADDED)
        for manifest, entry in added:
            delete = entry.data_file
            if delete.content is FileContent.DATA:
                continue
            delete_spec = current.spec_by_id(manifest.partition_spec_id)
            path = None if delete.content is FileContent.EQUALITY_DELETES else delete.referenced_data_file
            for listed, rewritten in data if path is None else by_path.get(path, []):
                spec = current.spec_by_id(listed.partition_spec_id)
                if may_apply(
                    delete,
                    entry.sequence_number,
                    delete_spec,
                    rewritten.data_file,
                    rewritten.sequence_number,
                    spec,
                    types,
                ) and not _still_applies(entry, delete_spec, rewritten.data_file, change, planned, types):
                    raise commit_conflict(
                        "OCC007",
                        "a concurrent commit deleted rows of a rewritten file",
                        found=rewritten.data_file.file_path,
                    )


def check_row_ids(
    change: SnapshotChange, removed: list[ListedEntry], planned: TableMetadata, current: TableMetadata
) -> None:
    """Check that the rows of rewritten files have the same ids as when the change was planned.

    The first commit to a branch after an upgrade assigns ids to the existing rows (LIN015). A change that was planned
    before that commit has rewritten these rows without ids, so they would get other ids.

    Args:
        change: the change.
        removed: the entries of the removed files, with their manifests.
        planned: the table that the change was planned on.
        current: the table that it is applied to.

    Raises:
        CommitConflict: LIN009 if the rows have other ids.
    """
    before, now = branch_head(planned, change.branch), branch_head(current, change.branch)
    if before is None or before.first_row_id is not None or now is None or now.first_row_id is None:
        return
    old = [entry.data_file.file_path for _, entry in removed if entry.data_file.content is FileContent.DATA]
    if old and any(new.data_file.content is FileContent.DATA for new in change.added):
        raise commit_conflict(
            "LIN009", "a concurrent commit assigned row ids to the rows of a rewritten file", found=old[0]
        )


def _still_applies(
    delete: ManifestEntry,
    delete_spec: PartitionSpec,
    rewritten: DataFile,
    change: SnapshotChange,
    planned: TableMetadata,
    types: Mapping[int, Type],
) -> bool:
    """Decide whether a delete of rows of a file still applies to these rows, whichever new file holds them.

    The rows are in the same partition as before if a new file has the same spec, whatever else the file holds.

    Args:
        delete: the delete file.
        delete_spec: its partition spec.
        rewritten: the file, to which the delete applies.
        change: the change that adds the new files.
        planned: the table that it was planned on.
        types: the types that `column_types` returns.

    Returns:
        Whether it does.
    """
    if delete.data_file.content is not FileContent.EQUALITY_DELETES:
        return False
    new_data = [new for new in change.added if new.data_file.content is FileContent.DATA]
    return all(
        new.data_sequence_number is not None
        and may_apply(
            delete.data_file,
            delete.sequence_number,
            delete_spec,
            rewritten,
            new.data_sequence_number,
            planned.spec_by_id(new.resolved_spec_id(planned)),
            types,
        )
        for new in new_data
    )


def _check_exist(change: SnapshotChange, current: TableMetadata, files: MetadataFileCache) -> Steps[None]:
    manifests = yield from files.manifests(branch_head(current, change.branch))
    live = yield from files.live(tuple(one for one in manifests if one.content is ManifestContent.DATA))
    missing = set(change.validation.files_exist) - {entry.data_file.file_path for _, entry in live}
    if missing:
        raise commit_conflict("OCC004", "a concurrent commit removed a file whose rows are deleted", found=min(missing))


def _check_vectors(
    change: SnapshotChange, referenced: set[str | None], current: TableMetadata, files: MetadataFileCache
) -> Steps[None]:
    """Check that a data file has at most one deletion vector: the new one has to replace a concurrently added one."""
    manifests = yield from files.manifests(branch_head(current, change.branch))
    live = yield from files.live(tuple(one for one in manifests if one.content is ManifestContent.DELETES))
    for _, entry in live:
        vector = entry.data_file
        replaced = file_key(vector) in change.removed_deletes
        if vector.is_deletion_vector and vector.referenced_data_file in referenced and not replaced:
            raise commit_conflict(
                "DEL003",
                "the data file has a deletion vector that the new one does not replace",
                found=vector.referenced_data_file,
            )


def _check_kinds(new: Iterable[DataFile], planned: TableMetadata, current: TableMetadata) -> None:
    for data_file in new:
        if data_file.content is FileContent.DATA:
            continue
        wrong = None
        if not DELETE_FILES.is_supported(current.format_version):
            wrong = "DEL001", "delete files are not allowed in v1"
        elif data_file.file_format is FileFormat.PUFFIN and not DELETION_VECTORS.is_supported(current.format_version):
            wrong = "DEL001", "deletion vectors are not allowed before v3"
        elif (
            data_file.content is FileContent.POSITION_DELETES
            and not data_file.is_deletion_vector
            and not POSITION_DELETE_FILES.may_be_added(current.format_version)
        ):
            wrong = "DEL002", "position delete files are not added to v3 tables"
        if wrong is not None:
            raise commit_conflict(
                *wrong, found=data_file.file_path, expected=f"as in version {planned.format_version:d}"
            )

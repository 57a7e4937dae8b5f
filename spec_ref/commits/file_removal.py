"""Removing files: the manifests that list them are rewritten (Manifests; Commit Conflict Resolution and Retry).

Files are removed by their keys or by a filter, and the deletion vectors of removed data files with them.
"""

from __future__ import annotations

from typing import Any

import attrs

from spec_ref.commits.changes import SnapshotChange
from spec_ref.commits.conflict_evaluation import bound_filter, evaluate_file
from spec_ref.commits.effects import Steps
from spec_ref.commits.errors import commit_conflict
from spec_ref.commits.manifests import CommitManifests
from spec_ref.commits.reading import FileKey, ListedEntry, MetadataFileCache, file_key
from spec_ref.core.records import evolve
from spec_ref.expressions.metrics_evaluation import evaluate_summaries
from spec_ref.expressions.projection import inclusive_projection
from spec_ref.manifest_lists.manifest_file import ManifestContent, ManifestFile
from spec_ref.manifests.data_file import DataFile, FileContent
from spec_ref.manifests.entry import EntryStatus
from spec_ref.partitioning.spec import PartitionSpec
from spec_ref.table_metadata.metadata import TableMetadata


@attrs.frozen
class Removal:
    """The files to remove."""

    data: frozenset[str]
    deletes: frozenset[FileKey]
    where: Any
    """A bound predicate; None if files are removed by their keys alone."""


def resolve_removal(change: SnapshotChange, current: TableMetadata) -> Removal:
    """Find which files a change removes from a table.

    Args:
        change: the change.
        current: the table that it is applied to.

    Returns:
        The files to remove, with the predicate bound to the current schema.

    Raises:
        SpecError: the codes of `spec_ref.expressions.binding.bind`, if the predicate does not fit the schema.
    """
    where = None if change.delete_where is None else bound_filter(change.delete_where, current)
    return Removal(change.removed, change.removed_deletes, where)


def remove_files(
    manifests: tuple[ManifestFile, ...],
    removal: Removal,
    current: TableMetadata,
    files: MetadataFileCache,
    commit_manifests: CommitManifests,
    sequence_number: int,
) -> Steps[tuple[list[ManifestFile], list[ListedEntry]]]:
    """Rewrite the manifests that list removed files.

    Args:
        manifests: the manifests of the parent snapshot.
        removal: the files to remove.
        current: the table that the change is applied to.
        files: the files read so far.
        commit_manifests: the manifests written so far.
        sequence_number: the sequence number of this attempt.

    Returns:
        The manifests that have live files or are new, and the entries of the removed files with their manifests.

    Yields:
        The effects to perform; their answers are sent back.

    Raises:
        CommitConflict: OCC007 if a file to remove is not in the table; OCC008 if its rows do not all match the
            predicate.
    """
    kept: list[ManifestFile] = []
    removed: list[ListedEntry] = []
    data = [one for one in manifests if one.content is ManifestContent.DATA]
    deletes = [one for one in manifests if one.content is ManifestContent.DELETES]
    if removal.data or removal.where is not None:
        for manifest in data:
            kept += yield from _without_removed_files(
                manifest, removal, removed, current, files, commit_manifests, sequence_number
            )
    else:
        kept += data
    gone = frozenset(entry.data_file.file_path for _, entry in removed)
    if gone or removal.deletes:
        # The deletion vectors of removed data files are removed too (DEL004); their Puffin file stays as it is.
        for manifest in deletes:
            kept += yield from _without_removed_files(
                manifest,
                attrs.evolve(removal, data=gone, where=None),
                removed,
                current,
                files,
                commit_manifests,
                sequence_number,
            )
    else:
        kept += deletes
    _check_all_found(removal, removed)
    return [
        one for one in kept if one.added_snapshot_id == commit_manifests.snapshot_id or one.may_have_live_files
    ], removed


def _without_removed_files(
    manifest: ManifestFile,
    removal: Removal,
    removed: list[ListedEntry],
    current: TableMetadata,
    files: MetadataFileCache,
    commit_manifests: CommitManifests,
    sequence_number: int,
) -> Steps[list[ManifestFile]]:
    """Return a manifest without removed files; the same manifest if it lists no removed file."""
    spec = current.spec_by_id(manifest.partition_spec_id)
    if not manifest.may_have_live_files or _is_unaffected(manifest, removal, spec):
        return [manifest]
    entries = yield from files.entries(manifest)
    gone = [entry.live and _is_removed(entry.data_file, removal, spec) for entry in entries]
    if not any(gone):
        return [manifest]
    removed.extend((manifest, entry) for entry, is_gone in zip(entries, gone, strict=True) if is_gone)
    rewritten = [
        evolve(entry, status=EntryStatus.DELETED, snapshot_id=commit_manifests.snapshot_id)
        if is_gone
        else evolve(entry, status=EntryStatus.EXISTING)
        for entry, is_gone in zip(entries, gone, strict=True)
        if entry.live
    ]
    key = ("edited", manifest, tuple(gone))
    stored = yield from files.stored_partition(manifest)
    return [
        (yield from commit_manifests.write(key, rewritten, spec, manifest.content, current, sequence_number, [stored]))
    ]


def _is_unaffected(manifest: ManifestFile, removal: Removal, spec: PartitionSpec) -> bool:
    """Decide whether the removal is by a predicate alone, and the partition summaries rule out all files."""
    if removal.where is None or removal.data or manifest.content is not ManifestContent.DATA:
        return False
    projected = inclusive_projection(removal.where, spec)
    ids = [field.field_id for field in spec.fields]
    return not evaluate_summaries(projected, manifest.partitions, ids).might_match


def _is_removed(data_file: DataFile, removal: Removal, spec: PartitionSpec) -> bool:
    if data_file.content is not FileContent.DATA:
        return file_key(data_file) in removal.deletes or (
            data_file.is_deletion_vector and data_file.referenced_data_file in removal.data
        )
    if data_file.file_path in removal.data:
        return True
    if removal.where is None:
        return False
    outcome = evaluate_file(removal.where, data_file, spec)
    if outcome.might_match and outcome.might_fail:
        raise commit_conflict(
            "OCC008", "a file may have rows that do not match the delete filter", found=data_file.file_path
        )
    return outcome.might_match


def _check_all_found(removal: Removal, removed: list[ListedEntry]) -> None:
    keys = {file_key(entry.data_file) for _, entry in removed}
    missing = sorted(removal.data - {path for path, _ in keys}) + sorted(path for path, _ in removal.deletes - keys)
    if missing:
        raise commit_conflict("OCC007", "a removed file is not in the table", found=missing[0])

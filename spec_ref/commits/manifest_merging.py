"""Merging manifests, so that a table has few (Sequence Number Inheritance; First Row ID Inheritance).

The spec leaves it to a writer which manifests it merges. The entries keep the values that they had or inherited.
"""

from __future__ import annotations

from collections.abc import Mapping

from spec_ref.commits.effects import Steps
from spec_ref.commits.manifests import CommitManifests
from spec_ref.commits.reading import MetadataFileCache
from spec_ref.commits.retries import read_whole_number
from spec_ref.core.records import evolve
from spec_ref.data_types.types import StructType
from spec_ref.manifest_lists.manifest_file import ManifestContent, ManifestFile
from spec_ref.manifests.entry import EntryStatus, ManifestEntry
from spec_ref.table_metadata.metadata import TableMetadata

MERGE_ENABLED = "commit.manifest-merge.enabled"
MIN_TO_MERGE = "commit.manifest.min-count-to-merge"
TARGET_SIZE = "commit.manifest.target-size-bytes"

TARGET_BYTES = 8 << 20


def merge_manifests(
    manifests: list[ManifestFile],
    properties: Mapping[str, str],
    current: TableMetadata,
    files: MetadataFileCache,
    commit_manifests: CommitManifests,
    sequence_number: int,
) -> Steps[list[ManifestFile]]:
    """Merge small manifests of one content and partition spec, if the table's properties enable it.

    Only data manifests are merged. The bin with the newest manifest is merged only if it has a minimum number of them.

    Args:
        manifests: the manifests of the new snapshot.
        properties: the table properties.
        current: the table that the change is applied to.
        files: the files read so far.
        commit_manifests: the manifests written so far.
        sequence_number: the sequence number of this attempt.

    Returns:
        The manifests after merging.

    Yields:
        The effects to perform; their answers are sent back.
    """
    if properties.get(MERGE_ENABLED, "true").lower() != "true":
        return manifests
    least, target = (
        read_whole_number(properties, MIN_TO_MERGE, 100),
        read_whole_number(properties, TARGET_SIZE, TARGET_BYTES),
    )
    groups: dict[int, list[ManifestFile]] = {}
    result = []
    for manifest in manifests:
        if manifest.content is ManifestContent.DATA:
            groups.setdefault(manifest.partition_spec_id, []).append(manifest)
        else:
            result.append(manifest)
    for group in groups.values():
        for number, bin_ in enumerate(_bins(group, target)):
            if len(bin_) == 1 or (number == 0 and len(bin_) < least):
                result += bin_
            else:
                result.append((yield from _write_merged(bin_, current, files, commit_manifests, sequence_number)))
    return result


def compact_manifests(
    manifests: list[ManifestFile],
    properties: Mapping[str, str],
    current: TableMetadata,
    files: MetadataFileCache,
    commit_manifests: CommitManifests,
    sequence_number: int,
) -> Steps[list[ManifestFile]]:
    """Rewrite the manifests to as few as their target size allows, without entries of deleted files.

    The entries keep the snapshots, sequence numbers and row ids of their files (SEQ008, LIN020). A manifest that would
    not change is kept.

    Args:
        manifests: the manifests of the parent snapshot.
        properties: the table properties.
        current: the table that the change is applied to.
        files: the files read so far.
        commit_manifests: the manifests written so far.
        sequence_number: the sequence number of this attempt.

    Returns:
        The manifests after rewriting.

    Yields:
        The effects to perform; their answers are sent back.
    """
    target = read_whole_number(properties, TARGET_SIZE, TARGET_BYTES)
    groups: dict[tuple[int, ManifestContent], list[ManifestFile]] = {}
    for manifest in manifests:
        groups.setdefault((manifest.partition_spec_id, manifest.content), []).append(manifest)
    result = []
    for group in groups.values():
        for bin_ in _bins(group, target):
            if len(bin_) == 1 and bin_[0].deleted_files_count == 0:
                result += bin_
            else:
                result.append((yield from _write_merged(bin_, current, files, commit_manifests, sequence_number)))
    return result


def _write_merged(
    manifests: list[ManifestFile],
    current: TableMetadata,
    files: MetadataFileCache,
    commit_manifests: CommitManifests,
    sequence_number: int,
) -> Steps[ManifestFile]:
    """Write manifests of one kind and partition spec as one."""
    entries: list[ManifestEntry] = []
    stored = []
    for manifest in manifests:
        read, partition = yield from _read_entries(manifest, files, commit_manifests)
        stored.append(partition)
        for entry in read:
            entries += _existing_entry(entry, commit_manifests.snapshot_id)
    key = ("merged", tuple((one.manifest_path, one.first_row_id) for one in manifests))
    spec = current.spec_by_id(manifests[0].partition_spec_id)
    return (
        yield from commit_manifests.write(key, entries, spec, manifests[0].content, current, sequence_number, stored)
    )


def _bins(manifests: list[ManifestFile], target: int) -> list[list[ManifestFile]]:
    bins: list[list[ManifestFile]] = []
    size = 0
    for manifest in manifests:
        if not bins or size + manifest.manifest_length > target:
            bins.append([])
            size = 0
        bins[-1].append(manifest)
        size += manifest.manifest_length
    return bins


def _read_entries(
    manifest: ManifestFile, files: MetadataFileCache, commit_manifests: CommitManifests
) -> Steps[tuple[tuple[ManifestEntry, ...], StructType | None]]:
    """Read the entries of a manifest, and the type of their partition tuples.

    The entries of a manifest of this commit are as written, because they inherit from the new one.

    Returns:
        The entries and the type; None for an unknown type.

    Yields:
        The effects to perform; their answers are sent back.
    """
    for written in commit_manifests.written_manifests:
        if written.path == manifest.manifest_path:
            return written.entries, written.partition
    entries = yield from files.entries(manifest)
    return entries, (yield from files.stored_partition(manifest))


def _existing_entry(entry: ManifestEntry, snapshot_id: int) -> list[ManifestEntry]:
    """Make the entry of a merged manifest; entries that were deleted before are omitted (SEQ008, LIN020)."""
    if entry.snapshot_id == snapshot_id:
        return [entry]
    return [evolve(entry, status=EntryStatus.EXISTING)] if entry.live else []

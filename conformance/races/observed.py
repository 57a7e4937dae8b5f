"""Read the contents of a table from its metadata without the code that commits use.

The few rules of inheritance are implemented here again, so that the simulator does not check the commit protocol with
the protocol's own code.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import frozen

from spec_ref.commits.payloads import ManifestPayload
from spec_ref.manifest_lists.manifest_file import ManifestFile
from spec_ref.manifests.data_file import DataFile, FileContent
from spec_ref.manifests.entry import EntryStatus
from spec_ref.snapshots.snapshot import Snapshot
from spec_ref.table_metadata.metadata import TableMetadata

FileKey = tuple[str, int | None]
"""The path of a file, and the offset of a deletion vector in it."""


@frozen
class ObservedFile:
    """A live file of a snapshot."""

    key: FileKey
    data_file: DataFile
    spec_id: int
    sequence_number: int
    file_sequence_number: int
    first_row_id: int | None
    added_by: int | None
    """The id of the snapshot that added the file."""

    @property
    def path(self) -> str:
        """The path of the file."""
        return self.data_file.file_path

    @property
    def content(self) -> FileContent:
        """The content of the file: data or deletes."""
        return self.data_file.content

    @property
    def rows(self) -> int:
        """The number of rows or deletes."""
        return self.data_file.record_count

    @property
    def size(self) -> int:
        """The size that it contributes to the table's total size."""
        one = self.data_file
        return (one.content_size_in_bytes or 0) if one.is_deletion_vector else one.file_size_in_bytes

    @property
    def partition(self) -> tuple[int, tuple[Any, ...]]:
        """The partition spec and values; equal partitions compare equal, with NaN equal to NaN."""
        values = sorted(self.data_file.partition.items())
        return self.spec_id, tuple((field, "NaN" if value != value else value) for field, value in values)

    @property
    def references(self) -> str | None:
        """The only data file to which deletes apply, if it is recorded."""
        return self.data_file.referenced_data_file

    @property
    def is_vector(self) -> bool:
        """Whether the file is a deletion vector."""
        return self.data_file.is_deletion_vector


@frozen
class ObservedSnapshot:
    """The contents of a snapshot."""

    live: Mapping[FileKey, ObservedFile]
    removed: Mapping[FileKey, DataFile]
    """The files that its manifests mark as removed."""

    manifests: tuple[tuple[ManifestFile, ManifestPayload], ...]
    reachable: frozenset[str]
    """The paths of its manifest list, manifests and live files."""

    problems: tuple[str, ...]
    """Inconsistencies of its manifest list and manifests."""


class Observations:
    """Reads tables, and caches the contents of each snapshot."""

    def __init__(self) -> None:
        self._snapshots: dict[int, tuple[Any, ObservedSnapshot]] = {}

    def snapshot(self, snapshot: Snapshot, files: Mapping[str, Any]) -> ObservedSnapshot:
        """Return the contents of a snapshot.

        Raises:
            LookupError: its manifest list or a manifest does not exist.
        """
        source = snapshot if snapshot.manifest_list is None else files[snapshot.manifest_list]
        found = self._snapshots.get(id(source))
        if found is None or found[0] is not source:
            found = (source, _read(snapshot, source, files))
            self._snapshots[id(source)] = found
        return found[1]

    def branch(self, metadata: TableMetadata, branch: str, files: Mapping[str, Any]) -> ObservedSnapshot | None:
        """Return the contents of a branch's head; None if there is no such branch."""
        ref = metadata.references.get(branch)
        return None if ref is None else self.snapshot(metadata.snapshot_by_id(ref.snapshot_id), files)


def _manifests(snapshot: Snapshot, source: Any, files: Mapping[str, Any]) -> tuple[ManifestFile, ...]:
    """Return the manifests of the manifest list, or those that an old v1 snapshot lists itself."""
    if snapshot.manifest_list is not None:
        listed: tuple[ManifestFile, ...] = source.files
        return listed
    return tuple(
        ManifestFile(
            manifest_path=path,
            manifest_length=files[path].length,
            partition_spec_id=files[path].spec.spec_id,
            added_snapshot_id=min(
                (one.snapshot_id for one in files[path].entries if one.status is not EntryStatus.EXISTING),
                default=snapshot.snapshot_id,
            ),
        )
        for path in snapshot.manifests or ()
    )


def _read(snapshot: Snapshot, source: Any, files: Mapping[str, Any]) -> ObservedSnapshot:
    live: dict[FileKey, ObservedFile] = {}
    removed: dict[FileKey, DataFile] = {}
    reachable = set() if snapshot.manifest_list is None else {snapshot.manifest_list}
    problems: list[str] = []
    manifests = tuple((one, files[one.manifest_path]) for one in _manifests(snapshot, source, files))
    for manifest, read in manifests:
        reachable.add(manifest.manifest_path)
        inherited = manifest.sequence_number if read.format_version > 1 else 0
        row_id = manifest.first_row_id
        counts = dict.fromkeys(EntryStatus, 0)
        least = None
        for entry in read.entries:
            one = entry.data_file
            counts[entry.status] += 1
            if entry.status is EntryStatus.ADDED and entry.snapshot_id not in (None, manifest.added_snapshot_id):
                problems.append(f"{manifest.manifest_path} adds a file of a different snapshot, {one.file_path}")
            key = (one.file_path, one.content_offset)
            if entry.status is EntryStatus.DELETED:
                if entry.snapshot_id == snapshot.snapshot_id:
                    removed[key] = one
                continue
            first = one.first_row_id if one.content is FileContent.DATA else None
            if one.content is FileContent.DATA and first is None and row_id is not None:
                first = row_id
                row_id += one.record_count
            number, file_number = entry.sequence_number, entry.file_sequence_number
            if entry.status is EntryStatus.ADDED or read.format_version == 1:
                number = inherited if number is None else number
                file_number = inherited if file_number is None else file_number
            if number is None or file_number is None:
                problems.append(f"{one.file_path} neither has nor inherits a sequence number")
                number, file_number = -1, -1
            least = number if least is None else min(least, number)
            if key in live:
                problems.append(f"{one.file_path} is listed twice")
            reachable.add(one.file_path)
            live[key] = ObservedFile(
                key, one, manifest.partition_spec_id, number, file_number, first, entry.snapshot_id
            )
        problems += _against_list(manifest, snapshot, counts, least)
        if getattr(source, "format_version", 1) > 1 and None in _counts(manifest):
            problems.append(f"{manifest.manifest_path} is listed without the counts that v2 requires")
    return ObservedSnapshot(live, removed, manifests, frozenset(reachable), tuple(problems))


def _counts(manifest: ManifestFile) -> tuple[int | None, ...]:
    """Return the manifest list's counts of added, existing and deleted files of a manifest."""
    return manifest.added_files_count, manifest.existing_files_count, manifest.deleted_files_count


def _against_list(
    manifest: ManifestFile, snapshot: Snapshot, counts: Mapping[EntryStatus, int], least: int | None
) -> list[str]:
    """Return the differences between a manifest and its entry in the manifest list."""
    problems = []
    name, own = manifest.manifest_path, manifest.added_snapshot_id == snapshot.snapshot_id
    listed = _counts(manifest)
    counted = (counts[EntryStatus.ADDED], counts[EntryStatus.EXISTING], counts[EntryStatus.DELETED])
    if any(one is not None and one != other for one, other in zip(listed, counted, strict=True)):
        problems.append(f"{name} is listed with {listed} files but has {counted}")
    if least is not None and snapshot.sequence_number and manifest.min_sequence_number > least:
        problems.append(f"{name} has a file older than its min_sequence_number")
    elif own and least is not None and manifest.min_sequence_number != least:
        problems.append(f"{name} has min_sequence_number {manifest.min_sequence_number} instead of {least}")
    if manifest.sequence_number > snapshot.sequence_number:
        problems.append(f"{name} is newer than the snapshot")
    if own and manifest.sequence_number != snapshot.sequence_number:
        problems.append(f"{name} does not have the sequence number of the snapshot that adds it")
    return problems

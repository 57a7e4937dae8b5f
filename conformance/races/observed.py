"""What a table holds, made out of its metadata without the code that commits use.

The rules of inheritance are few, and are stated here once more, so that the simulator does not ask the protocol whether
the protocol is right.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import frozen

from spec_ref.manifests.data_file import DataFile, FileContent
from spec_ref.manifests.entry import EntryStatus
from spec_ref.table_metadata.metadata import TableMetadata


@frozen
class ObservedFile:
    """A live file of a snapshot."""

    path: str
    key: tuple[str, int | None]
    content: FileContent
    sequence_number: int
    file_sequence_number: int
    first_row_id: int | None
    rows: int
    size: int
    part: Any
    spec_id: int
    references: str | None
    is_vector: bool
    added_by: int | None
    """The snapshot."""

    data_file: DataFile


@frozen
class ObservedSnapshot:
    """What a snapshot holds."""

    live: Mapping[tuple[str, int | None], ObservedFile]
    removed: frozenset[tuple[str, int | None]]
    """The files that it says it removed."""

    reachable: frozenset[str]
    """Manifest list, manifests, and live files."""

    problems: tuple[str, ...]
    """What is wrong with its lists in themselves."""


class Observations:
    """Reads tables, and remembers what it read of each snapshot."""

    def __init__(self) -> None:
        self._snapshots: dict[int, tuple[Any, ObservedSnapshot]] = {}

    def snapshot(self, snapshot: Any, files: Mapping[str, Any]) -> ObservedSnapshot:
        """What a snapshot holds.

        Raises:
            LookupError: its manifest list or a manifest is not there.
        """
        listed = files[snapshot.manifest_list]
        found = self._snapshots.get(id(listed))
        if found is None or found[0] is not listed:
            found = (listed, _read(snapshot, listed, files))
            self._snapshots[id(listed)] = found
        return found[1]

    def branch(self, metadata: TableMetadata, branch: str, files: Mapping[str, Any]) -> ObservedSnapshot | None:
        """What the head of a branch holds; None for no branch."""
        ref = metadata.references.get(branch)
        return None if ref is None else self.snapshot(metadata.snapshot_by_id(ref.snapshot_id), files)


def _read(snapshot: Any, listed: Any, files: Mapping[str, Any]) -> ObservedSnapshot:
    live: dict[tuple[str, int | None], ObservedFile] = {}
    removed = set()
    reachable = {snapshot.manifest_list}
    problems = []
    for manifest in listed.files:
        reachable.add(manifest.manifest_path)
        read = files[manifest.manifest_path]
        inherited = manifest.sequence_number if read.format_version > 1 else 0
        row_id = manifest.first_row_id
        counts = dict.fromkeys(EntryStatus, 0)
        least = None
        for entry in read.entries:
            one = entry.data_file
            counts[entry.status] += 1
            key = (one.file_path, one.content_offset)
            added = entry.status is EntryStatus.ADDED
            if entry.status is EntryStatus.DELETED:
                if entry.snapshot_id == snapshot.snapshot_id:
                    removed.add(key)
                continue
            first = one.first_row_id if one.content is FileContent.DATA else None
            if one.content is FileContent.DATA and first is None and row_id is not None:
                first = row_id
                row_id += one.record_count
            number = entry.sequence_number
            file_number = entry.file_sequence_number
            if added or read.format_version == 1:
                number = inherited if number is None else number
                file_number = inherited if file_number is None else file_number
            if number is None or file_number is None:
                problems.append(f"{one.file_path} has no sequence number and inherits none")
                number, file_number = -1, -1
            least = number if least is None else min(least, number)
            if key in live:
                problems.append(f"{one.file_path} is listed twice")
            reachable.add(one.file_path)
            live[key] = ObservedFile(
                path=one.file_path, key=key, content=one.content, sequence_number=number,
                file_sequence_number=file_number, first_row_id=first, rows=one.record_count,
                size=one.content_size_in_bytes if one.is_deletion_vector else one.file_size_in_bytes,
                part=tuple(one.partition.items()), spec_id=manifest.partition_spec_id,
                references=one.referenced_data_file, is_vector=one.is_deletion_vector, added_by=entry.snapshot_id,
                data_file=one,
            )  # fmt: skip
        told = (manifest.added_files_count, manifest.existing_files_count, manifest.deleted_files_count)
        counted = (counts[EntryStatus.ADDED], counts[EntryStatus.EXISTING], counts[EntryStatus.DELETED])
        if told != counted:
            problems.append(f"{manifest.manifest_path} counts {told} files and has {counted}")
        if least is not None and snapshot.sequence_number and manifest.min_sequence_number > least:
            problems.append(f"{manifest.manifest_path} has a file older than its min_sequence_number")
        if manifest.sequence_number > snapshot.sequence_number:
            problems.append(f"{manifest.manifest_path} is newer than the snapshot")
        if manifest.added_snapshot_id == snapshot.snapshot_id and manifest.sequence_number != snapshot.sequence_number:
            problems.append(f"{manifest.manifest_path} has not the sequence number of the snapshot that adds it")
    return ObservedSnapshot(live, frozenset(removed), frozenset(reachable), tuple(problems))

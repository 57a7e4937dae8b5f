"""Entries of a manifest that other facts about them contradict, and the counts of the manifest after their correction.

The manifest list and the snapshot state the counts of a manifest, too, and one wrong entry contradicts all of them. If
such a count is right for the corrected entry, its difference is a consequence of the wrong entry.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from conformance.validator.entry_causes import (
    ADDED_AS_EXISTING,
    NEVER_ADDED,
    NO_EQUALITY_IDS,
    NO_NUMBERS,
    NO_POSITIONS,
    OLDER_NUMBER,
    OTHER_ADDER,
    OTHER_CONTENT,
    OTHER_SNAPSHOT,
    VANISHED,
)
from spec_ref.columnar.manifests.entry_columns import ManifestColumns
from spec_ref.core.versions import SEQUENCE_NUMBERS
from spec_ref.manifest_lists.manifest_file import ManifestContent, ManifestFile
from spec_ref.manifests.data_file import FileContent
from spec_ref.manifests.entry import EntryStatus
from spec_ref.manifests.manifest import Manifest

Numbers = npt.NDArray[Any]
Rows = npt.NDArray[np.bool_]


@attrs.frozen(eq=False)
class CountedEntries:
    """The columns that determine in which counts an entry is included."""

    status: Numbers
    snapshot: Numbers
    snapshot_known: Rows
    content: Numbers

    @property
    def live(self) -> Rows:
        """Which entries are not deleted."""
        return np.asarray(self.status != EntryStatus.DELETED)


def count_as_written(columns: ManifestColumns) -> CountedEntries:
    """Return the columns as the manifest has them."""
    snapshot = columns.snapshot_id
    return CountedEntries(np.asarray(columns.status), snapshot.values, snapshot.valid, np.asarray(columns.content))


def find_added_as_existing(
    columns: ManifestColumns, listed: ManifestFile, owners: Mapping[int, Sequence[int]]
) -> npt.NDArray[np.bool_]:
    """Find entries with status EXISTING for files that were added by the snapshot that added the manifest.

    Args:
        columns: the entries.
        listed: the entry of the manifest in its list.
        owners: the snapshots of each sequence number. A list that contradicts them says nothing about entries.
    """
    snapshot, adder = columns.snapshot_id, listed.added_snapshot_id
    known = owners.get(listed.sequence_number, ()) if listed.sequence_number else ()
    if known and adder not in known:
        return np.zeros(len(columns), np.bool_)
    mine = snapshot.valid & (snapshot.values == adder)
    return np.asarray((columns.status == EntryStatus.EXISTING) & mine & ~_is_older(columns, listed))


def find_unexpected_snapshots(
    columns: ManifestColumns, listed: ManifestFile, owners: Mapping[int, Sequence[int]]
) -> npt.NDArray[np.bool_]:
    """Find added entries whose snapshot is not the one that adds the manifest.

    Args:
        columns: the entries.
        listed: the entry of the manifest in its list.
        owners: the snapshots of each sequence number. If another snapshot has the number of the manifest, the list
            contradicts itself (MLS009 or MLS024), and both are accepted.
    """
    others = owners.get(listed.sequence_number, ()) if listed.sequence_number else ()
    known = [listed.added_snapshot_id, *(others if listed.added_snapshot_id not in others else ())]
    return np.asarray((columns.status == EntryStatus.ADDED) & ~np.isin(columns.snapshot_id.values, known))


def count_as_corrected(
    columns: ManifestColumns, manifest: Manifest, owners: Mapping[int, Sequence[int]]
) -> tuple[CountedEntries, frozenset[str]]:
    """Return the columns with contradicted entries corrected, and the ids of the checks that find these entries.

    Args:
        columns: the entries.
        manifest: their manifest, with its entry in the list.
        owners: the snapshots of each sequence number.
    """
    listed = manifest.manifest_file
    written = count_as_written(columns)
    assert listed is not None
    status, snapshot, known = written.status.copy(), written.snapshot.copy(), written.snapshot_known
    causes = set[str]()
    older, numbered = _is_older(columns, listed), SEQUENCE_NUMBERS.is_supported(manifest.format_version)
    stored = columns.written_values("sequence_number").valid | columns.written_values("file_sequence_number").valid
    added = written.status == EntryStatus.ADDED
    other = find_unexpected_snapshots(columns, listed, owners)
    existing = find_added_as_existing(columns, listed, owners)
    wrong_statuses = {
        ADDED_AS_EXISTING: (existing, EntryStatus.ADDED),
        NO_NUMBERS: (~added & ~existing & ~stored & numbered, EntryStatus.ADDED),
        OTHER_SNAPSHOT: (other & older, EntryStatus.EXISTING),
        OLDER_NUMBER: (added & ~other & older, EntryStatus.DELETED),
    }
    for check, (rows, right) in wrong_statuses.items():
        if rows.any():
            causes.add(check)
            status[rows] = right
    if (other & ~older).any():
        causes.add(OTHER_SNAPSHOT)
        snapshot[other & ~older] = listed.added_snapshot_id
    owner = _renamed_adder(listed, owners)
    if owner is not None and (snapshot == listed.added_snapshot_id).any():
        causes.add(OTHER_ADDER)
        snapshot[snapshot == listed.added_snapshot_id] = owner
    content, of_content = _content(columns, written.content, manifest.content)
    if not causes and not of_content and not listed.deleted_files_count:
        causes = _mark_live(status, snapshot, listed.added_snapshot_id)
    return CountedEntries(status, snapshot, known, content), frozenset(causes | of_content)


def _mark_live(status: Numbers, snapshot: Numbers, adder: int) -> set[str]:
    """Correct deleted entries of a manifest in which the list counts none, and return the checks that may find them.

    Only the parent snapshot shows whether an entry of status 2 deletes a file. If it does, none of the checks finds
    the entry, and the list is wrong.
    """
    deleted = status == EntryStatus.DELETED
    mine = deleted & (snapshot == adder)
    causes = {NEVER_ADDED} if mine.any() else set[str]()
    if (deleted & ~mine).any():
        causes.add(VANISHED)
    status[mine], status[deleted & ~mine] = EntryStatus.ADDED, EntryStatus.EXISTING
    return causes


def _renamed_adder(listed: ManifestFile, owners: Mapping[int, Sequence[int]]) -> int | None:
    """Return the snapshot with the sequence number of a manifest, if no snapshot has its added_snapshot_id."""
    mine = owners.get(listed.sequence_number, ()) if listed.sequence_number else ()
    unknown = not any(listed.added_snapshot_id in ids for ids in owners.values())
    return mine[0] if unknown and len(mine) == 1 else None


def _is_older(columns: ManifestColumns, listed: ManifestFile) -> Rows:
    """Find entries whose file sequence number differs from that of the manifest, so that their files are older."""
    stored = columns.written_values("file_sequence_number")
    return np.asarray(stored.valid & (stored.values != listed.sequence_number))


def _content(columns: ManifestColumns, content: Numbers, of_manifest: ManifestContent) -> tuple[Numbers, set[str]]:
    """Return the content of each entry according to its manifest and its other fields, and the checks that find it."""
    right, causes = content.copy(), set[str]()
    wrong = (content == FileContent.DATA) != (of_manifest is ManifestContent.DATA)
    if of_manifest is ManifestContent.DATA:
        right[wrong] = FileContent.DATA
        return right, {OTHER_CONTENT} if wrong.any() else causes
    compares = np.zeros(len(columns), np.bool_)
    for files, _ in columns.items("equality_ids"):
        compares[files] = True
    right[wrong] = np.where(compares[wrong], FileContent.EQUALITY_DELETES, FileContent.POSITION_DELETES)
    if wrong.any():
        causes.add(OTHER_CONTENT)
    bare = (content == FileContent.EQUALITY_DELETES) & ~compares
    if bare.any():
        right[bare] = FileContent.POSITION_DELETES
        causes.add(NO_EQUALITY_IDS)
    comparing = (content == FileContent.POSITION_DELETES) & compares
    if comparing.any():
        right[comparing] = FileContent.EQUALITY_DELETES
        causes.add(NO_POSITIONS)
    return right, causes

"""Build the summary of a snapshot from the files that it adds and removes (Appendix F)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from spec_ref.manifests.data_file import DataFile, FileContent
from spec_ref.snapshots.summary import OPERATION, SnapshotOperation, compute_totals

ADDED, REMOVED = "added", "removed"


def count_files(data_files: Iterable[DataFile], change: str) -> Counter[str]:
    """Count files for the summary of a snapshot.

    Args:
        data_files: data files and delete files.
        change: `ADDED` or `REMOVED`.

    Returns:
        The counts by the key of the summary; sizes in bytes.
    """
    counted: Counter[str] = Counter()
    deleted = "deleted" if change == REMOVED else change
    for one in data_files:
        counted[f"{change}-files-size"] += (
            one.content_size_in_bytes or 0 if one.is_deletion_vector else one.file_size_in_bytes
        )
        if one.content is FileContent.DATA:
            counted[f"{deleted}-data-files"] += 1
            counted[f"{deleted}-records"] += one.record_count
            continue
        kind = "equality" if one.content is FileContent.EQUALITY_DELETES else "position"
        counted[f"{change}-delete-files"] += 1
        counted[f"{change}-{kind}-deletes"] += one.record_count
        counted[f"{change}-dvs" if one.is_deletion_vector else f"{change}-{kind}-delete-files"] += 1
    return counted


def build_summary(
    operation: SnapshotOperation,
    added: Iterable[DataFile],
    removed: Iterable[DataFile],
    parent_summary: Mapping[str, str] | None,
    properties: Iterable[tuple[str, str]] = (),
) -> dict[str, str]:
    """Build the summary of a snapshot.

    Args:
        operation: the operation of the snapshot.
        added: the files that it adds.
        removed: the files that it removes.
        parent_summary: the summary of its parent; empty if there is no parent, None if the parent has no summary.
            Totals continue from it.
        properties: further entries of the summary.

    Returns:
        The summary, with the operation.
    """
    added, removed = list(added), list(removed)
    counted = count_files(added, ADDED) + count_files(removed, REMOVED)
    partitions = {tuple(sorted(one.partition.items(), key=lambda item: item[0])) for one in (*added, *removed)}
    made = {OPERATION: operation.value, **dict(properties)}
    made.update({name: str(number) for name, number in counted.items()})
    made["changed-partition-count"] = str(len(partitions))
    return made | compute_totals(parent_summary, counted)

"""The entries of a snapshot's summary (Snapshots; Appendix F, Optional Snapshot Summary Fields).

Every value is a string, even a number (NOT012).
"""

from __future__ import annotations

import enum
from collections.abc import Mapping

from spec_ref.core.numbers import parse_whole_number

OPERATION = "operation"
"""The required entry of the summary."""


class SnapshotOperation(enum.Enum):
    """The kind of change that a snapshot made."""

    APPEND = "append"
    """Only data files were added, and none removed (SNP013, SNP018)."""

    REPLACE = "replace"
    """Files were added and removed without changing the table's data (SNP014)."""

    OVERWRITE = "overwrite"
    """Files were added and removed in a logical overwrite (SNP015)."""

    DELETE = "delete"
    """Data files were removed, or delete files added, to delete rows (SNP016)."""


SUMMARY_METRICS = frozenset(
    {
        "added-data-files",
        "deleted-data-files",
        "total-data-files",
        "added-delete-files",
        "added-equality-delete-files",
        "removed-equality-delete-files",
        "added-position-delete-files",
        "removed-position-delete-files",
        "added-dvs",
        "removed-dvs",
        "removed-delete-files",
        "total-delete-files",
        "added-records",
        "deleted-records",
        "total-records",
        "added-files-size",
        "removed-files-size",
        "total-files-size",
        "added-position-deletes",
        "removed-position-deletes",
        "total-position-deletes",
        "added-equality-deletes",
        "removed-equality-deletes",
        "total-equality-deletes",
        "deleted-duplicate-files",
        "changed-partition-count",
        "manifests-created",
        "manifests-kept",
        "manifests-replaced",
        "entries-processed",
    }
)
"""The counts in the summary; their values are whole numbers (NOT005)."""

TOTALS = {
    "total-data-files": ("added-data-files", "deleted-data-files"),
    "total-delete-files": ("added-delete-files", "removed-delete-files"),
    "total-records": ("added-records", "deleted-records"),
    "total-files-size": ("added-files-size", "removed-files-size"),
    "total-position-deletes": ("added-position-deletes", "removed-position-deletes"),
    "total-equality-deletes": ("added-equality-deletes", "removed-equality-deletes"),
}
"""Each total, with the counts that raise and lower it."""


def compute_totals(parent_summary: Mapping[str, str] | None, counts: Mapping[str, int]) -> dict[str, str]:
    """Compute the totals of a snapshot.

    Args:
        parent_summary: the summary of its parent; empty if there is no parent, None if the parent has no summary.
        counts: the counts of the snapshot by the key of the summary; one that is absent is 0.

    Returns:
        The totals by the key of the summary, without those that the parent does not have as a long of 0 or more.
    """
    made = {}
    for total, (more, less) in TOTALS.items():
        known = parse_whole_number("0" if parent_summary == {} else (parent_summary or {}).get(total, ""))
        if known is not None:
            made[total] = str(known + counts.get(more, 0) - counts.get(less, 0))
    return made

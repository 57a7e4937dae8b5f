"""Values that entries inherit from the manifest list (Sequence Number Inheritance; First Row ID Inheritance).

A manifest is written before its commit has a sequence number, so new entries leave their numbers null and inherit those
of the manifest's entry in the manifest list (SEQ002, MAN019). A writer that copies an entry to another manifest writes
the numbers that it inherited (SEQ003).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from spec_ref.core.errors import spec_error
from spec_ref.core.records import evolve
from spec_ref.core.versions import SEQUENCE_NUMBERS, FormatVersion
from spec_ref.json.wire_types import LONG_MAX
from spec_ref.manifest_lists.manifest_file import ManifestFile
from spec_ref.manifests.data_file import FileContent
from spec_ref.manifests.entry import EntryStatus, ManifestEntry


def inherited_sequence_number(manifest: ManifestFile, version: FormatVersion) -> int:
    """Find the sequence number that added entries inherit (SEQ009).

    Args:
        manifest: the entry of the manifest in the manifest list.
        version: the format version of the manifest.

    Returns:
        The sequence number of the manifest; 0 for a manifest of v1, which has none.
    """
    return manifest.sequence_number if SEQUENCE_NUMBERS.is_supported(version) else 0


def check_row_id(row_id: int) -> None:
    """Check that a row id is a long, which wrong record counts can exceed.

    Args:
        row_id: an inherited row id.

    Raises:
        SpecError: LIN019 if it is not from 0 to 2**63 - 1.
    """
    if not 0 <= row_id <= LONG_MAX:
        raise spec_error("LIN019", "an inherited row id does not fit a long", found=row_id, expected="0 to 2^63 - 1")


def inherit(
    entries: Iterable[ManifestEntry], manifest: ManifestFile | None, version: FormatVersion
) -> Iterator[ManifestEntry]:
    """Fill in the values that entries inherit.

    An added entry with a null sequence number inherits that of the manifest (SEQ006). A writer must not leave the
    number of an existing or deleted entry null; it stays null, except that all files of v1 manifests have 0. Live data
    files without a first row id, added or existing, get consecutive ranges of row ids (LIN022, UPG008); deleted files
    get none, so that assigned ids stay within the range that the list reserves (LIN019; contradiction B2). A first row
    id that an entry has is kept even if the manifest has none in the list (contradiction C15).

    Args:
        entries: the entries as the manifest has them, in its order.
        manifest: its entry in the manifest list; None leaves the entries unchanged.
        version: the format version of the manifest.

    Yields:
        Each entry, with inherited values.

    Raises:
        SpecError: LIN019 if row ids exceed 64 bits.
    """
    if manifest is None:
        yield from entries
        return
    numbered = SEQUENCE_NUMBERS.is_supported(version)
    number = inherited_sequence_number(manifest, version)
    row_id = manifest.first_row_id
    for entry in entries:
        changes: dict[str, Any] = {}
        if entry.snapshot_id is None:
            changes["snapshot_id"] = manifest.added_snapshot_id
        if not numbered or entry.status is EntryStatus.ADDED:
            if entry.sequence_number is None:
                changes["sequence_number"] = number
            if entry.file_sequence_number is None:
                changes["file_sequence_number"] = number
        data_file = entry.data_file
        if data_file.content is not FileContent.DATA:
            if data_file.first_row_id is not None:  # always null for delete files (LIN021)
                changes["data_file"] = evolve(data_file, first_row_id=None)
        elif row_id is not None and data_file.first_row_id is None and entry.live:
            check_row_id(row_id)
            changes["data_file"] = evolve(data_file, first_row_id=row_id)
            row_id += data_file.record_count
        yield evolve(entry, **changes) if changes else entry

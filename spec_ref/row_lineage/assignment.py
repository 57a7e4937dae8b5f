"""Assigning row ids to the manifests of a snapshot (Row lineage assignment; First Row ID Assignment)."""

from __future__ import annotations

from collections.abc import Iterable

from spec_ref.core.errors import spec_error
from spec_ref.core.records import evolve
from spec_ref.manifest_lists.manifest_file import ManifestContent, ManifestFile


def assign_first_row_ids(files: Iterable[ManifestFile], first_row_id: int) -> tuple[tuple[ManifestFile, ...], int]:
    """Assign a first row id to every data manifest without one, as a v3 commit does (LIN015, LIN026, LIN027).

    Each assigned id is at least the previous one plus the number of rows that inherit ids in the previous manifest
    (LIN028); the added and existing rows of a manifest include all of these (LIN029).

    Args:
        files: the manifests of the new list.
        first_row_id: the snapshot's ``first-row-id``, which is the table's ``next-row-id`` at the attempt.

    Returns:
        The manifests, and the table's next row id after the commit.

    Raises:
        SpecError: LIN029 if a manifest that needs row ids has unknown counts, so that the next free id is not known.
    """
    made = []
    for place, manifest in enumerate(files):
        if manifest.content is ManifestContent.DELETES or manifest.first_row_id is not None:
            made.append(manifest)
            continue
        if manifest.added_rows_count is None or manifest.existing_rows_count is None:
            raise spec_error("LIN029", "the row counts of a manifest are missing", path=f"/{place}/added_rows_count")
        made.append(evolve(manifest, first_row_id=first_row_id))
        first_row_id += manifest.added_rows_count + manifest.existing_rows_count
    return tuple(made), first_row_id

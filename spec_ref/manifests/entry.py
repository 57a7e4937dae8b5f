"""Manifest entries: the description of a file in a manifest (Manifest Entry Fields)."""

from __future__ import annotations

import enum

from spec_ref.avro_mapping.rows import EnumAsInt, RecordStruct
from spec_ref.core.records import record, spec_field
from spec_ref.core.versions import OMITTED, OPTIONAL, REQUIRED
from spec_ref.data_types.types import LONG
from spec_ref.manifests.data_file import DataFile


class EntryStatus(enum.IntEnum):
    """What the snapshot that wrote the entry did with the file."""

    EXISTING = 0
    ADDED = 1
    DELETED = 2
    """For information only: scans do not use the file. It may be removed from storage when the snapshot that deleted it
    and all older ones have been garbage collected (MAN018). It should not be added to the table again (MAN023)."""


@record(kw_only=True)
class ManifestEntry:
    """A file, and the snapshot and sequence numbers with which it was added or deleted."""

    status: EntryStatus = spec_field(
        "status", id=0, v1=REQUIRED, v2=REQUIRED, v3=REQUIRED, requirement="MAN011", type=EnumAsInt(EntryStatus)
    )

    snapshot_id: int | None = spec_field(
        "snapshot_id",
        id=1,
        v1=REQUIRED,
        v2=OPTIONAL,
        v3=OPTIONAL,
        read=OPTIONAL,
        requirement="MAN012",
        type=LONG,
        default=None,
    )
    """The snapshot that added the file, or deleted it. If it is None, the entry inherits it (MAN019); some writers of
    v1 rely on this, too."""

    sequence_number: int | None = spec_field(
        "sequence_number",
        id=3,
        v1=OMITTED,
        v2=OPTIONAL,
        v3=OPTIONAL,
        read=OPTIONAL,
        requirement="MAN013",
        type=LONG,
        default=None,
    )
    """The data sequence number, which decides which deletes apply and never changes (MAN020). If it is None, added
    files inherit it."""

    file_sequence_number: int | None = spec_field(
        "file_sequence_number",
        id=4,
        v1=OMITTED,
        v2=OPTIONAL,
        v3=OPTIONAL,
        read=OPTIONAL,
        requirement="MAN014",
        type=LONG,
        default=None,
    )
    """The sequence number of the snapshot that added the file, which never changes. Deletes may apply to files with a
    higher number (MAN021). If it is None, added files inherit it."""

    data_file: DataFile = spec_field(
        "data_file", id=2, v1=REQUIRED, v2=REQUIRED, v3=REQUIRED, requirement="MAN015", type=RecordStruct(DataFile)
    )

    @property
    def live(self) -> bool:
        """Whether scans read the file."""
        return self.status is not EntryStatus.DELETED

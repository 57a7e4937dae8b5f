"""A manifest, as a manifest list describes it (Manifest Lists)."""

from __future__ import annotations

import enum
from collections.abc import Mapping

from spec_ref.avro_mapping.rows import EnumAsInt, RecordStruct
from spec_ref.core.errors import spec_error
from spec_ref.core.records import record, spec_field
from spec_ref.core.versions import OMITTED, OPTIONAL, REQUIRED
from spec_ref.data_types.types import BINARY, BOOLEAN, INT, LONG, STRING
from spec_ref.partitioning.spec import PartitionSpec


class ManifestContent(enum.IntEnum):
    """The kind of files that a manifest lists."""

    DATA = 0
    DELETES = 1


@record(kw_only=True)
class FieldSummary:
    """The summary of one partition field over a manifest (``field_summary``)."""

    contains_null: bool = spec_field(
        "contains_null", id=509, v1=REQUIRED, v2=REQUIRED, v3=REQUIRED, requirement="MLS019", type=BOOLEAN
    )

    contains_nan: bool | None = spec_field(
        "contains_nan", id=518, v1=OPTIONAL, v2=OPTIONAL, v3=OPTIONAL, requirement="MLS020", type=BOOLEAN, default=None
    )
    """Whether some value is NaN; None if it is not known."""

    lower_bound: bytes | None = spec_field(
        "lower_bound", id=510, v1=OPTIONAL, v2=OPTIONAL, v3=OPTIONAL, requirement="MLS021", type=BINARY, default=None
    )
    """A single value of the partition field's type; None if all values are null or NaN (MLS025)."""

    upper_bound: bytes | None = spec_field(
        "upper_bound", id=511, v1=OPTIONAL, v2=OPTIONAL, v3=OPTIONAL, requirement="MLS022", type=BINARY, default=None
    )
    """As `lower_bound` (MLS026)."""


def find_spec(specs: Mapping[int, PartitionSpec], spec_id: int, path: str = "") -> PartitionSpec:
    """Return the partition spec of the table that a manifest was written with.

    Args:
        specs: the table's partition specs by id.
        spec_id: the id that the manifest list, or the manifest, names.
        path: the place of the id, for the error.

    Returns:
        The partition spec.

    Raises:
        SpecError: MLS005 if the table does not have the partition spec.
    """
    if spec_id not in specs:
        raise spec_error(
            "MLS005",
            "the table does not have the partition spec",
            aspect="unknown-spec",
            path=path,
            found=spec_id,
            expected=", ".join(map(str, sorted(specs))),
        )
    return specs[spec_id]


@record(kw_only=True)
class ManifestFile:
    """The entry of a manifest in a manifest list.

    Upgraded tables have lists of every version. A list need not state which version wrote it, so readers of all
    versions read each column that is present, and require only columns that no version omits.
    """

    manifest_path: str = spec_field(
        "manifest_path", id=500, v1=REQUIRED, v2=REQUIRED, v3=REQUIRED, requirement="MLS003", type=STRING
    )

    manifest_length: int = spec_field(
        "manifest_length", id=501, v1=REQUIRED, v2=REQUIRED, v3=REQUIRED, requirement="MLS004", type=LONG
    )

    partition_spec_id: int = spec_field(
        "partition_spec_id", id=502, v1=REQUIRED, v2=REQUIRED, v3=REQUIRED, requirement="MLS005", type=INT
    )

    content: ManifestContent = spec_field(
        "content",
        id=517,
        v1=OMITTED,
        v2=REQUIRED,
        v3=REQUIRED,
        read=OPTIONAL,
        requirement="MLS006",
        type=EnumAsInt(ManifestContent),
        default=ManifestContent.DATA,
    )

    sequence_number: int = spec_field(
        "sequence_number",
        id=515,
        v1=OMITTED,
        v2=REQUIRED,
        v3=REQUIRED,
        read=OPTIONAL,
        requirement="MLS007",
        type=LONG,
        default=0,
    )
    """The sequence number of the commit that added the manifest to the table; 0 in lists of v1."""

    min_sequence_number: int = spec_field(
        "min_sequence_number",
        id=516,
        v1=OMITTED,
        v2=REQUIRED,
        v3=REQUIRED,
        read=OPTIONAL,
        requirement="MLS008",
        type=LONG,
        default=0,
    )
    """The least data sequence number of the live files; 0 in lists of v1, where 0 does not mean unknown."""

    added_snapshot_id: int = spec_field(
        "added_snapshot_id", id=503, v1=REQUIRED, v2=REQUIRED, v3=REQUIRED, requirement="MLS009", type=LONG
    )

    added_files_count: int | None = spec_field(
        "added_files_count",
        id=504,
        v1=OPTIONAL,
        v2=REQUIRED,
        v3=REQUIRED,
        read=OPTIONAL,
        requirement="MLS010",
        type=INT,
        default=None,
    )
    """None means unknown, as in the other counts, and is treated as a number above zero. The field is found by its id,
    because Iceberg-Java wrote the name ``added_data_files_count`` for a long time (contradiction A18)."""

    existing_files_count: int | None = spec_field(
        "existing_files_count",
        id=505,
        v1=OPTIONAL,
        v2=REQUIRED,
        v3=REQUIRED,
        read=OPTIONAL,
        requirement="MLS011",
        type=INT,
        default=None,
    )

    deleted_files_count: int | None = spec_field(
        "deleted_files_count",
        id=506,
        v1=OPTIONAL,
        v2=REQUIRED,
        v3=REQUIRED,
        read=OPTIONAL,
        requirement="MLS012",
        type=INT,
        default=None,
    )

    added_rows_count: int | None = spec_field(
        "added_rows_count",
        id=512,
        v1=OPTIONAL,
        v2=REQUIRED,
        v3=REQUIRED,
        read=OPTIONAL,
        requirement="MLS013",
        type=LONG,
        default=None,
    )

    existing_rows_count: int | None = spec_field(
        "existing_rows_count",
        id=513,
        v1=OPTIONAL,
        v2=REQUIRED,
        v3=REQUIRED,
        read=OPTIONAL,
        requirement="MLS014",
        type=LONG,
        default=None,
    )

    deleted_rows_count: int | None = spec_field(
        "deleted_rows_count",
        id=514,
        v1=OPTIONAL,
        v2=REQUIRED,
        v3=REQUIRED,
        read=OPTIONAL,
        requirement="MLS015",
        type=LONG,
        default=None,
    )

    partitions: tuple[FieldSummary, ...] | None = spec_field(
        "partitions",
        id=507,
        v1=OPTIONAL,
        v2=OPTIONAL,
        v3=OPTIONAL,
        requirement="MLS016",
        type=RecordStruct(FieldSummary, 508),
        default=None,
    )
    """A summary for each field of the manifest's partition spec, in its order."""

    key_metadata: bytes | None = spec_field(
        "key_metadata", id=519, v1=OPTIONAL, v2=OPTIONAL, v3=OPTIONAL, requirement="MLS017", type=BINARY, default=None
    )

    first_row_id: int | None = spec_field(
        "first_row_id",
        id=520,
        v1=OMITTED,
        v2=OMITTED,
        v3=OPTIONAL,
        read=OPTIONAL,
        requirement="MLS018",
        type=LONG,
        default=None,
    )
    """The first row id of its data files."""

    def may_have(self, count: int | None) -> bool:
        """Decide whether there may be files or rows of a kind.

        Args:
            count: their count; None if it is unknown.

        Returns:
            True if the count is positive or unknown.
        """
        return count is None or count > 0

    @property
    def may_have_live_files(self) -> bool:
        """Whether the manifest may list files that scans read."""
        return self.may_have(self.added_files_count) or self.may_have(self.existing_files_count)

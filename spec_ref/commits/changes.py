"""What a writer wants to do to a table (Snapshots, operation; Schema Evolution; Snapshot References).

A change is a value that can be applied to any state of the table; what it relies on is checked anew at each attempt.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from spec_ref.core.records import record
from spec_ref.core.versions import FormatVersion
from spec_ref.expressions.predicates import TRUE
from spec_ref.manifests.data_file import DataFile
from spec_ref.partitioning.evolution import PartitionChange
from spec_ref.schemas.evolution import Change as ColumnChange
from spec_ref.snapshots.references import MAIN, SnapshotRef
from spec_ref.snapshots.snapshot import Operation
from spec_ref.sorting.order import SortField
from spec_ref.table_metadata.metadata import TableMetadata
from spec_ref.table_metadata.statistics import PartitionStatisticsFile, StatisticsFile


@record
class NewFile:
    """A file to be added."""

    data_file: DataFile
    spec_id: int | None = None
    """Its partition spec; None for the default one of the table that the change was planned on."""

    data_sequence_number: int | None = None
    """For rows that belong to an older sequence number (SEQ007); None to inherit the commit's."""

    def resolved_spec_id(self, planned: TableMetadata) -> int:
        """The id of the partition spec of the file, in a change that was planned on a table."""
        return planned.default_spec_id if self.spec_id is None else self.spec_id


@record(kw_only=True)
class Validation:
    """What is checked of the snapshots since the one that a change was planned on (OCC004).

    What the spec asks for always is not optional and not among these: that removed files are still there (OCC007,
    OCC008).
    """

    conflict_filter: Any = TRUE
    """The rows that matter, as a predicate: what cannot match it is not a conflict."""

    no_new_data: bool = False
    """No data file that may match was added by others."""

    no_new_deletes: bool = False
    """No delete file that may match was added, and no data file that may match was removed, by others."""

    files_exist: tuple[str, ...] = ()
    """Data files that have to be in the table, because the deletes that are added are of their rows."""

    data_specs: frozenset[int] | None = None
    """The partition specs that data files which others added may have, in rewrites too: the equality deletes that are
    added are for the data files of these specs, whatever their partition. None for any."""


NOTHING = Validation()


class Isolation(enum.Enum):
    """What concurrent changes a change of rows may not see (contradiction A25)."""

    SERIALIZABLE = "serializable"
    """As if all changes had been made one after the other: rows that others added count too."""

    SNAPSHOT = "snapshot"
    """As if nobody had changed the same rows meanwhile."""


def validation_for(isolation: Isolation, conflict_filter: Any = TRUE, files_exist: Iterable[str] = ()) -> Validation:
    """What a writer that deletes or changes rows validates to guarantee an isolation."""
    return Validation(
        conflict_filter=conflict_filter,
        no_new_data=isolation is Isolation.SERIALIZABLE,
        no_new_deletes=True,
        files_exist=tuple(files_exist),
    )


@record(kw_only=True)
class SnapshotChange:
    """A change that makes a snapshot. The functions below make those that the spec names."""

    added: tuple[NewFile, ...] = ()
    removed: frozenset[str] = frozenset()
    """The paths of data files, all of which have to be there."""

    removed_deletes: frozenset[tuple[str, int | None]] = frozenset()
    """Delete files by path and content offset, all of which have to be there."""

    delete_where: Any = None
    """A predicate: data files all of whose rows match are removed, and none may have only some."""

    operation: Operation | None = None
    """Given for changes that keep the table's data; else told by what is added and removed."""

    branch: str = MAIN
    validation: Validation = NOTHING
    keeps_rows: bool = False
    """Whether the added files hold the rows of the removed ones: deletes that others added of those would be lost."""

    merges: bool = False
    """Whether manifests are merged, as the table's properties ask for."""

    rewrites_manifests: bool = False
    """Whether all manifests are written anew, as few as their size lets be."""

    summary: tuple[tuple[str, str], ...] = ()
    """Further entries of the summary (NOT006)."""


def append(files: Sequence[NewFile], *, branch: str = MAIN) -> SnapshotChange:
    """Add data files, and merge small manifests; may be applied to any version (OCC006)."""
    return SnapshotChange(added=tuple(files), branch=branch, merges=True)


def fast_append(files: Sequence[NewFile], *, branch: str = MAIN) -> SnapshotChange:
    """Add data files in a new manifest; may be applied to any version (OCC006)."""
    return SnapshotChange(added=tuple(files), branch=branch)


def overwrite(
    added: Sequence[NewFile],
    removed: Iterable[str] = (),
    *,
    where: Any = None,
    validation: Validation = NOTHING,
    branch: str = MAIN,
) -> SnapshotChange:
    """Replace data files, given by path or by a predicate, by others in a logical overwrite."""
    return SnapshotChange(
        added=tuple(added), removed=frozenset(removed), delete_where=where, validation=validation, branch=branch,
        merges=True,
    )  # fmt: skip


def delete_files(paths: Iterable[str], *, validation: Validation = NOTHING, branch: str = MAIN) -> SnapshotChange:
    """Remove data files, which have to be there (OCC008)."""
    return SnapshotChange(removed=frozenset(paths), validation=validation, branch=branch, operation=Operation.DELETE)


def delete_where(predicate: Any, *, validation: Validation = NOTHING, branch: str = MAIN) -> SnapshotChange:
    """Remove the data files all of whose rows match; may be applied to any version (OCC008)."""
    return SnapshotChange(
        delete_where=predicate, validation=validation, branch=branch, operation=Operation.DELETE
    )  # fmt: skip


def row_delta(
    added: Sequence[NewFile],
    removed_deletes: Iterable[tuple[str, int | None]] = (),
    *,
    validation: Validation = NOTHING,
    branch: str = MAIN,
) -> SnapshotChange:
    """Add data files and delete files, and take delete files out that the new ones contain."""
    return SnapshotChange(
        added=tuple(added), removed_deletes=frozenset(removed_deletes), validation=validation, branch=branch
    )


def rewrite(
    added: Sequence[NewFile],
    removed: Iterable[str] = (),
    *,
    removed_deletes: Iterable[tuple[str, int | None]] = (),
    branch: str = MAIN,
) -> SnapshotChange:
    """Replace files by others that hold the same rows (OCC007)."""
    return SnapshotChange(
        added=tuple(added), removed=frozenset(removed), removed_deletes=frozenset(removed_deletes), branch=branch,
        operation=Operation.REPLACE, keeps_rows=True,
    )  # fmt: skip


def rewrite_manifests(*, branch: str = MAIN) -> SnapshotChange:
    """Write the manifests of a branch anew; may be applied to any version, as its files stay (SNP014)."""
    return SnapshotChange(branch=branch, operation=Operation.REPLACE, rewrites_manifests=True)


# Changes of the metadata alone


@record
class CreateTable:
    """Make a table that is not there."""

    metadata: TableMetadata


@record
class ChangeSchema:
    """Change the current schema, which must be the one that the change was planned on (OCC009)."""

    changes: tuple[ColumnChange, ...]


@record
class ChangeSpec:
    """Change the default spec; the schema and the spec must be those that the change was planned on (OCC009)."""

    changes: tuple[PartitionChange, ...]


@record
class ChangeSortOrder:
    """Change the default sort order; the schema must be the one that the change was planned on (OCC009)."""

    fields: tuple[SortField, ...]


@record
class SetProperties:
    """Set and remove table properties; may be applied to any version."""

    updates: Mapping[str, str]
    removals: frozenset[str] = frozenset()


@record
class SetReference:
    """Make or move a branch or tag, or remove it; nobody may have moved it meanwhile."""

    name: str
    ref: SnapshotRef | None


@record
class SetStatistics:
    """Set the statistics of a snapshot, in place of those that it has; the snapshot has to be there."""

    statistics: StatisticsFile | PartitionStatisticsFile


@record
class RemoveStatistics:
    """Remove the statistics and partition statistics of a snapshot."""

    snapshot_id: int


@record
class Expire:
    """Remove the snapshots and references that the retention policy lets go; may be applied to any version."""

    now_ms: int
    clean_files: bool = False
    """Whether files that only expired snapshots have are deleted after the commit."""


@record
class Upgrade:
    """Raise the format version; may be applied to any version that is not higher."""

    version: FormatVersion
    table_uuid: str | None = None


MetadataChange: TypeAlias = (
    ChangeSchema
    | ChangeSpec
    | ChangeSortOrder
    | SetProperties
    | SetReference
    | SetStatistics
    | RemoveStatistics
    | Expire
    | Upgrade
)

Change: TypeAlias = SnapshotChange | CreateTable | MetadataChange

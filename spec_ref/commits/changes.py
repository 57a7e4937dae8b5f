"""The changes that a writer can make to a table (Snapshots, operation; Schema Evolution; Snapshot References).

A change is a value that can be applied to any state of the table; what it relies on is checked again at each attempt.
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
from spec_ref.snapshots.summary import SnapshotOperation
from spec_ref.sorting.order import SortField
from spec_ref.table_metadata.metadata import TableMetadata
from spec_ref.table_metadata.statistics import PartitionStatisticsFile, StatisticsFile


@record
class NewFile:
    """A file to add."""

    data_file: DataFile
    spec_id: int | None = None
    """The id of its partition spec; None for the default spec of the table that the change was planned on."""

    data_sequence_number: int | None = None
    """The sequence number that the rows belong to, if they are older (SEQ007); None to inherit that of the commit."""

    def resolved_spec_id(self, planned: TableMetadata) -> int:
        """Find the id of the partition spec of the file.

        Args:
            planned: the table that the change was planned on.

        Returns:
            The id.
        """
        return planned.default_spec_id if self.spec_id is None else self.spec_id


@record(kw_only=True)
class Validation:
    """The optional checks of the snapshots since the one that a change was planned on (OCC004).

    Whether removed files still exist is always checked, because the spec requires it (OCC007, OCC008).
    """

    conflict_filter: Any = TRUE
    """The relevant rows, as a predicate: a file that cannot match it is not a conflict."""

    no_new_data: bool = False
    """Whether concurrent commits conflict if they added a data file that may match."""

    no_new_deletes: bool = False
    """Whether concurrent commits conflict if they added a delete file, or removed a data file, that may match."""

    files_exist: tuple[str, ...] = ()
    """Data files that have to be in the table, because the added deletes delete their rows."""

    data_specs: frozenset[int] | None = None
    """The partition specs that data files of concurrent commits may have, including rewritten files: the added equality
    deletes apply to the data files of these specs, whatever their partition. None for any spec."""


NOTHING = Validation()


class Isolation(enum.Enum):
    """Which concurrent changes conflict with a change of rows (contradiction A25)."""

    SERIALIZABLE = "serializable"
    """Changes are equivalent to some serial order: rows that concurrent commits added are validated too."""

    SNAPSHOT = "snapshot"
    """No concurrent commit may change the same rows; concurrently added rows are not validated."""


def validation_for(isolation: Isolation, conflict_filter: Any = TRUE, files_exist: Iterable[str] = ()) -> Validation:
    """Choose the validation that guarantees an isolation for a change that deletes or updates rows.

    Args:
        isolation: the isolation.
        conflict_filter: the rows that the change reads or changes, as an unbound predicate.
        files_exist: the paths of data files whose rows are deleted.

    Returns:
        The validation.
    """
    return Validation(
        conflict_filter=conflict_filter,
        no_new_data=isolation is Isolation.SERIALIZABLE,
        no_new_deletes=True,
        files_exist=tuple(files_exist),
    )


@record(kw_only=True)
class SnapshotChange:
    """A change that creates a snapshot. The functions below make the changes that the spec names."""

    added: tuple[NewFile, ...] = ()
    removed: frozenset[str] = frozenset()
    """The paths of data files to remove, all of which have to exist."""

    removed_deletes: frozenset[tuple[str, int | None]] = frozenset()
    """Delete files to remove, by path and content offset, all of which have to exist."""

    delete_where: Any = None
    """A predicate: data files whose rows all match are removed; a file of which only some rows match is a conflict."""

    operation: SnapshotOperation | None = None
    """Set for changes that keep the table's data; otherwise derived from what is added and removed."""

    branch: str = MAIN
    validation: Validation = NOTHING
    keeps_rows: bool = False
    """Whether the added files hold the rows of the removed files, so that deletes that were concurrently added for the
    removed files would be lost."""

    merges: bool = False
    """Whether manifests are merged, if the table's properties enable merging."""

    rewrites_manifests: bool = False
    """Whether all manifests are rewritten, to as few as their target size allows."""

    summary: tuple[tuple[str, str], ...] = ()
    """Further entries of the summary (NOT006)."""


def append(files: Sequence[NewFile], *, branch: str = MAIN) -> SnapshotChange:
    """Add data files, and merge small manifests; may be applied to any state of the table (OCC006).

    Args:
        files: the files to add.
        branch: the branch to commit to.

    Returns:
        The change.
    """
    return SnapshotChange(added=tuple(files), branch=branch, merges=True)


def fast_append(files: Sequence[NewFile], *, branch: str = MAIN) -> SnapshotChange:
    """Add data files in a new manifest; may be applied to any state of the table (OCC006).

    Args:
        files: the files to add.
        branch: the branch to commit to.

    Returns:
        The change.
    """
    return SnapshotChange(added=tuple(files), branch=branch)


def overwrite(
    added: Sequence[NewFile],
    removed: Iterable[str] = (),
    *,
    where: Any = None,
    validation: Validation = NOTHING,
    branch: str = MAIN,
) -> SnapshotChange:
    """Replace data files, given by path or by a predicate, in a logical overwrite.

    Args:
        added: the files to add.
        removed: the paths of the data files to remove.
        where: an unbound predicate; data files whose rows all match are removed. None for no predicate.
        validation: the checks of concurrent changes.
        branch: the branch to commit to.

    Returns:
        The change.
    """
    return SnapshotChange(
        added=tuple(added),
        removed=frozenset(removed),
        delete_where=where,
        validation=validation,
        branch=branch,
        merges=True,
    )


def delete_files(paths: Iterable[str], *, validation: Validation = NOTHING, branch: str = MAIN) -> SnapshotChange:
    """Remove data files, which have to exist (OCC008).

    Args:
        paths: the paths of the data files.
        validation: the checks of concurrent changes.
        branch: the branch to commit to.

    Returns:
        The change.
    """
    return SnapshotChange(
        removed=frozenset(paths), validation=validation, branch=branch, operation=SnapshotOperation.DELETE
    )


def delete_where(predicate: Any, *, validation: Validation = NOTHING, branch: str = MAIN) -> SnapshotChange:
    """Remove the data files whose rows all match; may be applied to any state of the table (OCC008).

    Args:
        predicate: an unbound predicate.
        validation: the checks of concurrent changes.
        branch: the branch to commit to.

    Returns:
        The change.
    """
    return SnapshotChange(
        delete_where=predicate, validation=validation, branch=branch, operation=SnapshotOperation.DELETE
    )


def row_delta(
    added: Sequence[NewFile],
    removed_deletes: Iterable[tuple[str, int | None]] = (),
    *,
    validation: Validation = NOTHING,
    branch: str = MAIN,
) -> SnapshotChange:
    """Add data files and delete files, and remove delete files whose deletes the new ones contain.

    Args:
        added: the files to add.
        removed_deletes: the delete files to remove, by path and content offset.
        validation: the checks of concurrent changes.
        branch: the branch to commit to.

    Returns:
        The change.
    """
    return SnapshotChange(
        added=tuple(added), removed_deletes=frozenset(removed_deletes), validation=validation, branch=branch
    )


def rewrite_files(
    added: Sequence[NewFile],
    removed: Iterable[str] = (),
    *,
    removed_deletes: Iterable[tuple[str, int | None]] = (),
    branch: str = MAIN,
) -> SnapshotChange:
    """Replace files with other files that hold the same rows (OCC007).

    Args:
        added: the files to add.
        removed: the paths of the data files to remove.
        removed_deletes: the delete files to remove, by path and content offset.
        branch: the branch to commit to.

    Returns:
        The change.
    """
    return SnapshotChange(
        added=tuple(added),
        removed=frozenset(removed),
        removed_deletes=frozenset(removed_deletes),
        branch=branch,
        operation=SnapshotOperation.REPLACE,
        keeps_rows=True,
    )


def rewrite_manifests(*, branch: str = MAIN) -> SnapshotChange:
    """Rewrite the manifests of a branch; may be applied to any state of the table, because its files stay (SNP014).

    Args:
        branch: the branch to commit to.

    Returns:
        The change.
    """
    return SnapshotChange(branch=branch, operation=SnapshotOperation.REPLACE, rewrites_manifests=True)


# Changes of the metadata alone


@record
class CreateTable:
    """Create a table that does not exist."""

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
    """Set and remove table properties; may be applied to any state of the table."""

    updates: Mapping[str, str]
    removals: frozenset[str] = frozenset()


@record
class SetReference:
    """Create, move or remove a branch or tag, which no concurrent commit must have moved."""

    name: str
    ref: SnapshotRef | None


@record
class SetStatistics:
    """Set the statistics of a snapshot, replacing existing ones; the snapshot has to exist."""

    statistics: StatisticsFile | PartitionStatisticsFile


@record
class RemoveStatistics:
    """Remove the statistics and partition statistics of a snapshot."""

    snapshot_id: int


@record
class ExpireSnapshots:
    """Remove the snapshots and references that the retention policy does not keep.

    May be applied to any state of the table.
    """

    now_ms: int
    clean_files: bool = False
    """Whether files that only expired snapshots use are deleted after the commit."""


@record
class UpgradeFormatVersion:
    """Raise the format version; may be applied to any state of the table that does not have a higher one."""

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
    | ExpireSnapshots
    | UpgradeFormatVersion
)

Change: TypeAlias = SnapshotChange | CreateTable | MetadataChange

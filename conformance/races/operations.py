"""The changes that race: one of each kind, each with a description of its effect for the invariants."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from attrs import field, frozen

from conformance.operations.commits.fixtures import ID, PART, UUID, VECTOR_OFFSET, data_path, empty_table
from conformance.races.fixture_kit import FIRST, SECOND, FixturePartition, TableFixture
from conformance.races.observed import ObservedFile
from conformance.races.readers import Read
from conformance.races.writers import ReplaceTable
from spec_ref.commits.changes import (
    Change,
    ChangeSchema,
    ChangeSortOrder,
    ChangeSpec,
    ExpireSnapshots,
    Isolation,
    NewFile,
    RemoveStatistics,
    SetProperties,
    SetReference,
    SetStatistics,
    SnapshotChange,
    UpgradeFormatVersion,
    append,
    delete_files,
    delete_where,
    fast_append,
    overwrite,
    rewrite_files,
    rewrite_manifests,
    row_delta,
    validation_for,
)
from spec_ref.core.records import evolve, field_rules
from spec_ref.core.versions import FormatVersion
from spec_ref.data_types.types import INT
from spec_ref.expressions.predicates import TRUE
from spec_ref.manifests.data_file import FileContent
from spec_ref.partitioning.evolution import AddPartitionField
from spec_ref.partitioning.transforms import Bucket, Identity
from spec_ref.schemas.evolution import AddColumn
from spec_ref.snapshots.references import RefType, SnapshotRef
from spec_ref.sorting.order import SortField
from spec_ref.table_metadata.metadata import TableMetadata
from spec_ref.table_metadata.statistics import PartitionStatisticsFile, StatisticsFile

SNAPSHOT_MEMBERS = frozenset(
    {"snapshots", "current_snapshot_id", "snapshot_log", "refs", "last_sequence_number", "next_row_id"}
)


def _nothing(_: ObservedFile) -> bool:
    return False


def _not_missing(_: TableMetadata, __: TableMetadata) -> str | None:
    return None


def _nothing_relied_on(_: TableMetadata) -> Any:
    return None


def _schema(table: TableMetadata) -> Any:
    return table.current_schema_id, table.schemas, table.last_column_id


@frozen(kw_only=True)
class PlannedChange:
    """A change, and a description of its effect for the invariants."""

    name: str
    change: Change | Read | ReplaceTable
    changes: frozenset[str] = SNAPSHOT_MEMBERS
    """The members of the metadata that it may change."""

    operation: str | None = None
    """The operation that the summary of its snapshot must state."""

    removes: Callable[[ObservedFile], bool] = field(default=_nothing)
    """Returns whether the change removes a live file."""

    concerns: Callable[[ObservedFile], bool] = field(default=_nothing)
    """Returns whether a file that others added concurrently conflicts with the change."""

    relies_on: Callable[[TableMetadata], Any] = field(default=_nothing_relied_on)
    """Returns the part of the table that must not change after the change was planned."""

    missing_effect: Callable[[TableMetadata, TableMetadata], str | None] = field(default=_not_missing)
    """Returns what is missing from its change of the metadata, given the table before and after."""

    may_conflict: bool = True
    """Whether concurrent commits may prevent the change; if not, only the loss of the table can."""

    always_refused: bool = False
    """Whether every table must refuse the change."""


def _removes(*names: str) -> Callable[[ObservedFile], bool]:
    paths = {data_path(name) for name in names}
    return lambda one: one.path in paths


def _is_at(place: FixturePartition) -> Callable[[ObservedFile], bool]:
    wanted = {number: "NaN" if value != value else value for number, value in place.partition.items()}
    return lambda one: one.spec_id == place.spec_id and dict(one.partition[1]) == wanted


def _has(attribute: str, wanted: Callable[[Any, Any], bool]) -> Callable[[TableMetadata, TableMetadata], str | None]:
    def missing(before: TableMetadata, after: TableMetadata) -> str | None:
        return None if wanted(before, after) else f"{attribute} does not have the change"

    return missing


def _row_changes(table: TableFixture, version: int, writer: int) -> Iterator[PlannedChange]:
    """Yield the changes of rows; each writer adds files with distinct names."""
    place, rows = table.place, 10 + writer
    f1, f2 = data_path("f1"), data_path("f2")

    def new(kind: str, number: int | None = None, *, by_default: bool = False) -> NewFile:
        return table.new.data_file(f"{kind}-{writer}", rows, by_default=by_default, number=number)

    yield PlannedChange(
        name="append", change=append([new("append", by_default=True)]), operation="append", may_conflict=False
    )
    yield PlannedChange(
        name="fast-append",
        change=fast_append([new("fast"), table.other.data_file(f"fast2-{writer}", rows)]),
        operation="append",
        may_conflict=False,
    )
    for branch, name in (("audit", "append-to-branch"), ("dev", "append-to-dev")):
        kind = "branch" if branch == "audit" else branch
        yield PlannedChange(
            name=name, change=fast_append([new(kind)], branch=branch), operation="append", may_conflict=False
        )
    yield PlannedChange(name="append-to-tag", change=fast_append([new("tag")], branch="v1"), always_refused=True)
    yield PlannedChange(
        name="overwrite", change=overwrite([new("over")], [f1]), operation="overwrite", removes=_removes("f1")
    )
    yield PlannedChange(name="delete-file", change=delete_files([f1]), operation="delete", removes=_removes("f1"))
    yield PlannedChange(
        name="delete-on-branch", change=delete_files([f1], branch="audit"), operation="delete", removes=_removes("f1")
    )
    if table.place_filter is not None:
        yield PlannedChange(
            name="overwrite-serializable",
            change=overwrite(
                [new("serial")], [f2], validation=validation_for(Isolation.SERIALIZABLE, table.place_filter)
            ),
            operation="overwrite",
            removes=_removes("f2"),
            concerns=_is_at(place),
        )
        yield PlannedChange(
            name="delete-where",
            change=delete_where(table.place_filter),
            operation="delete",
            may_conflict=False,
            removes=lambda one: _is_at(place)(one) and one.content is FileContent.DATA,
        )
    yield PlannedChange(
        name="rewrite",
        change=rewrite_files([new("rewritten")], [f1, f2]),
        operation="replace",
        removes=_removes("f1", "f2"),
    )
    yield PlannedChange(
        name="rewrite-across",
        change=rewrite_files([new("across")], [f1, data_path("f3")]),
        operation="replace",
        removes=_removes("f1", "f3"),
    )
    yield PlannedChange(name="rewrite-manifests", change=rewrite_manifests(), operation="replace", may_conflict=False)
    if version > 1:
        yield from _delete_changes(table, version, writer)
        yield PlannedChange(
            name="rewrite-older",
            change=rewrite_files([new("older", 1)], [f1]),
            operation="replace",
            removes=_removes("f1"),
        )


def _delete_changes(table: TableFixture, version: int, writer: int) -> Iterator[PlannedChange]:
    """Yield the changes that add and remove delete files."""
    place = table.place
    f1 = data_path("f1")
    snapshot = validation_for(Isolation.SNAPSHOT, TRUE if table.place_filter is None else table.place_filter, [f1])
    yield PlannedChange(
        name="equality-delete",
        change=row_delta([place.equality_deletes(f"eq-{writer}")]),
        operation="delete",
        may_conflict=False,
    )
    if table.unpartitioned_spec is not None:
        yield PlannedChange(
            name="global-equality-delete",
            change=row_delta([table.unpartitioned_spec.equality_deletes(f"global-{writer}")]),
            operation="delete",
            may_conflict=False,
        )
        yield PlannedChange(
            name="append-everywhere",
            change=row_delta(
                [
                    table.unpartitioned_spec.data_file(f"everywhere-{writer}"),
                    table.unpartitioned_spec.equality_deletes(f"global-{writer}"),
                ]
            ),
            operation="overwrite",
            may_conflict=False,
        )
    yield PlannedChange(
        name="position-delete",
        change=row_delta(
            [
                place.deletion_vector(f"dv-{writer}", "f1")
                if version > 2
                else place.position_deletes(f"pos-{writer}", "f1")
            ],
            validation=snapshot,
        ),
        operation="delete",
        concerns=(lambda _: True) if table.place_filter is None else _is_at(place),
    )
    if version == 2:
        yield PlannedChange(
            name="position-delete-range",
            change=row_delta(
                [place.position_deletes(f"range-{writer}", names=("f1", "f2"), rows=2)],
                validation=validation_for(Isolation.SNAPSHOT, files_exist=[f1, data_path("f2")]),
            ),
            operation="delete",
            concerns=lambda _: True,
        )
    if version > 2:
        key = (data_path("v2"), VECTOR_OFFSET)
        yield PlannedChange(
            name="merge-vector",
            change=row_delta(
                [place.deletion_vector(f"dv-{writer}", "f2", rows=3)],
                [key],
                validation=validation_for(Isolation.SNAPSHOT, files_exist=[data_path("f2")]),
            ),
            operation="delete",
            removes=lambda one: one.key == key,
            concerns=lambda _: True,
        )


def _metadata_changes(table: TableFixture, version: int, writer: int) -> Iterator[PlannedChange]:
    """Yield the changes of metadata only."""
    yield PlannedChange(
        name="schema",
        change=ChangeSchema((AddColumn(f"new_{writer}", INT),)),
        changes=frozenset({"schemas", "current_schema_id", "last_column_id"}),
        relies_on=_schema,
        missing_effect=_has(
            "schemas",
            lambda before, after: (
                len(after.schemas) == len(before.schemas) + 1 and after.last_column_id == before.last_column_id + 1
            ),
        ),
    )
    yield PlannedChange(
        name="spec",
        change=ChangeSpec((AddPartitionField((ID,), Bucket(8), f"bucket_{writer}"),)),
        changes=frozenset({"partition_specs", "default_spec_id", "last_partition_id"}),
        relies_on=lambda table: (_schema(table), table.default_spec_id, table.last_partition_id),
        missing_effect=_has(
            "partition_specs", lambda before, after: len(after.partition_specs) == len(before.partition_specs) + 1
        ),
    )
    yield PlannedChange(
        name="sort-order",
        change=ChangeSortOrder((SortField(transform=Identity(), source_id=(ID, PART)[writer % 2]),)),
        changes=frozenset({"sort_orders", "default_sort_order_id"}),
        relies_on=lambda table: (_schema(table), table.default_sort_order_id),
        missing_effect=_has("sort_orders", lambda before, after: len(after.sort_orders) == len(before.sort_orders) + 1),
    )
    yield PlannedChange(
        name="properties",
        change=SetProperties({f"by-{writer}": "yes"}),
        changes=frozenset({"properties"}),
        may_conflict=False,
        missing_effect=_has(
            "properties", lambda before, after: {**before.properties, f"by-{writer}": "yes"} == after.properties
        ),
    )
    yield PlannedChange(
        name="expire",
        change=ExpireSnapshots(10**9, clean_files=True),
        changes=frozenset({"snapshots", "snapshot_log", "refs", "statistics", "partition_statistics"}),
        may_conflict=False,
        missing_effect=_has(
            "snapshots",
            lambda before, after: (
                {one.snapshot_id for one in after.snapshots} == {one.snapshot_id for one in before.references.values()}
            ),
        ),
    )
    yield PlannedChange(
        name="replace-table",
        change=ReplaceTable(evolve(empty_table(version), table_uuid=UUID.replace("9c12", f"0{writer}12"))),
        changes=frozenset(field_rules(TableMetadata)),
    )
    if version < 3:
        yield PlannedChange(
            name="upgrade",
            change=UpgradeFormatVersion(FormatVersion(version + 1)),
            changes=frozenset({"format_version", "next_row_id", "schema", "partition_spec"}),
            may_conflict=False,
            missing_effect=_has("format_version", lambda _, after: after.format_version == version + 1),
        )


def _reference_changes(writer: int) -> Iterator[PlannedChange]:
    """Yield the changes of branches, tags, and the metadata about snapshots."""
    yield PlannedChange(
        name="tag",
        change=SetReference(f"tag-{writer}", SnapshotRef(snapshot_id=FIRST, type=RefType.TAG)),
        changes=frozenset({"refs"}),
        missing_effect=_sets(f"tag-{writer}", FIRST),
    )
    yield PlannedChange(
        name="rollback",
        change=SetReference("main", SnapshotRef(snapshot_id=FIRST, type=RefType.BRANCH)),
        changes=frozenset({"refs", "current_snapshot_id", "snapshot_log"}),
        relies_on=lambda table: table.references.get("main"),
        missing_effect=_sets("main", FIRST),
    )
    for ref, name in (("audit", "drop-branch"), ("v2", "drop-tag")):
        yield PlannedChange(
            name=name,
            change=SetReference(ref, None),
            changes=frozenset({"refs"}),
            relies_on=_reference(ref),
            missing_effect=_sets(ref, None),
        )
    yield PlannedChange(
        name="move-branch",
        change=SetReference("audit", SnapshotRef(snapshot_id=SECOND, type=RefType.BRANCH)),
        changes=frozenset({"refs"}),
        relies_on=lambda table: table.references.get("audit"),
        missing_effect=_sets("audit", SECOND),
    )
    path = data_path(f"stats-{writer}")
    yield PlannedChange(
        name="statistics",
        change=SetStatistics(
            StatisticsFile(
                snapshot_id=FIRST,
                statistics_path=path,
                file_size_in_bytes=1,
                file_footer_size_in_bytes=1,
                blob_metadata=(),
            )
        ),
        changes=frozenset({"statistics"}),
        missing_effect=_has(
            "statistics", lambda before, after: _has_replaced(before.statistics, after.statistics, path)
        ),
    )
    other = data_path(f"partition-stats-{writer}")
    yield PlannedChange(
        name="partition-statistics",
        change=SetStatistics(PartitionStatisticsFile(snapshot_id=FIRST, statistics_path=other, file_size_in_bytes=1)),
        changes=frozenset({"partition_statistics"}),
        missing_effect=_has(
            "partition_statistics",
            lambda before, after: _has_replaced(before.partition_statistics, after.partition_statistics, other),
        ),
    )
    yield PlannedChange(
        name="remove-statistics",
        change=RemoveStatistics(SECOND),
        changes=frozenset({"statistics", "partition_statistics"}),
        missing_effect=_has(
            "statistics",
            lambda before, after: (
                after.statistics == tuple(one for one in before.statistics if one.snapshot_id != SECOND)
                and after.partition_statistics
                == tuple(one for one in before.partition_statistics if one.snapshot_id != SECOND)
            ),
        ),
    )


def _reference(name: str) -> Callable[[TableMetadata], Any]:
    return lambda table: table.references.get(name)


def _sets(name: str, snapshot_id: int | None) -> Callable[[TableMetadata, TableMetadata], str | None]:
    """Return a check that one reference points to a snapshot, or does not exist, and that all others are unchanged."""

    def is_set(before: TableMetadata, after: TableMetadata) -> bool:
        had = {one: ref.snapshot_id for one, ref in before.references.items() if one != name}
        wanted = had if snapshot_id is None else {**had, name: snapshot_id}
        return {one: ref.snapshot_id for one, ref in after.references.items()} == wanted

    return _has("refs", is_set)


def _has_replaced(before: Any, after: Any, path: str) -> bool:
    """Return whether the first snapshot has the statistics of a file, and those of others are unchanged."""
    others = {one.statistics_path for one in before if one.snapshot_id != FIRST}
    return {one.statistics_path for one in after} == {*others, path}


def racing_changes(table: TableFixture, version: int, writer: int) -> tuple[PlannedChange, ...]:
    """Return the changes that race on a table.

    Args:
        table: the table.
        version: its format version.
        writer: the number of the writer.
    """
    made = (
        *_row_changes(table, version, writer),
        *_metadata_changes(table, version, writer),
        *_reference_changes(writer),
    )
    return tuple(one for one in made if one.name in table.operations)


READER = PlannedChange(name="read", change=Read(), changes=frozenset())
"""A reader, to race with writers."""

CORE = ("append", "overwrite", "delete-file", "rewrite", "schema", "expire", "equality-delete", "append-to-branch")
"""The changes that races of three writers use."""

__all__ = ["CORE", "READER", "PlannedChange", "SnapshotChange", "racing_changes"]

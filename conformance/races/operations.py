"""The changes that race: one of each kind, on a small table that has something for each of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from attrs import field, frozen

from conformance.races.fixtures import (
    ID,
    LOCATION,
    PART,
    data,
    data_path,
    empty_table,
    equality_deletes,
    position_deletes,
    vector,
)
from conformance.races.observed import ObservedFile
from conformance.races.readers import Read
from spec_ref.commits.changes import (
    Change,
    ChangeSchema,
    ChangeSortOrder,
    ChangeSpec,
    CreateTable,
    Expire,
    Isolation,
    NewFile,
    SetProperties,
    SetReference,
    SetStatistics,
    SnapshotChange,
    Upgrade,
    append,
    delete_files,
    delete_where,
    fast_append,
    overwrite,
    rewrite,
    row_delta,
    validation_for,
)
from spec_ref.expressions.predicates import Comparison, Literal, NamedReference, Operation
from spec_ref.partitioning.evolution import AddPartitionField
from spec_ref.partitioning.transforms import Bucket, Identity
from spec_ref.schemas.evolution import AddColumn
from spec_ref.schemas.types import INT
from spec_ref.snapshots.references import RefType, SnapshotRef
from spec_ref.sorting import SortField
from spec_ref.table_metadata.metadata import TableMetadata
from spec_ref.table_metadata.statistics import StatisticsFile
from spec_ref.versions import FormatVersion

SNAPSHOT_MEMBERS = frozenset(
    {"snapshots", "current_snapshot_id", "snapshot_log", "refs", "last_sequence_number", "next_row_id"}
)

IN_A = Comparison(Operation.EQ, NamedReference("part"), Literal("a"))
PROPERTIES = {
    "commit.manifest.min-count-to-merge": "2",
    "commit.retry.num-retries": "3",
}
FIRST, SECOND = 11, 12
"""The snapshots of the table that writers race on."""


def _nothing(_: ObservedFile) -> bool:
    return False


def _not_missing(_: TableMetadata, __: TableMetadata) -> str | None:
    return None


def _nothing_relied_on(_: TableMetadata) -> Any:
    return None


def _schema(table: TableMetadata) -> Any:
    return table.current_schema_id, table.schemas, table.last_column_id


@frozen(kw_only=True)
class Planned:
    """A change, and what it does in words that the checks understand."""

    name: str
    change: Change | Read
    changes: frozenset[str] = SNAPSHOT_MEMBERS
    """The members of the metadata that it may change."""

    removes: Callable[[ObservedFile], bool] = field(default=_nothing)
    """Whether it removes a live file."""

    concerns: Callable[[ObservedFile], bool] = field(default=_nothing)
    """Whether a file that others added is one that it has to know of."""

    relies_on: Callable[[TableMetadata], Any] = field(default=_nothing_relied_on)
    """What of the table has to be as it was when the change was planned."""

    missing: Callable[[TableMetadata, TableMetadata], str | None] = field(default=_not_missing)
    """What of its change of the metadata is not there, from the table before and after."""

    may_conflict: bool = True
    """Whether there may be something that it relies on; else only a lost table could keep it from being done."""


def _removes(*names: str) -> Callable[[ObservedFile], bool]:
    paths = {data_path(name) for name in names}
    return lambda one: one.path in paths


def _in_part(part: str) -> Callable[[ObservedFile], bool]:
    return lambda one: dict(one.part).get(1000) == part


def _has(attribute: str, wanted: Callable[[Any, Any], bool]) -> Callable[[TableMetadata, TableMetadata], str | None]:
    def missing(before: TableMetadata, after: TableMetadata) -> str | None:
        return None if wanted(before, after) else f"{attribute} does not have the change"

    return missing


def operations(version: int, writer: int) -> tuple[Planned, ...]:
    """One change of each kind for a table of a format version; each writer adds files of its own names."""

    def new(kind: str, part: str = "a", **told: Any) -> NewFile:
        return data(f"{kind}-{writer}", part, 10 + writer, **told)

    serializable = validation_for(Isolation.SERIALIZABLE, IN_A)
    made = [
        Planned(name="append", change=append([new("append")]), may_conflict=False),
        Planned(name="fast-append", change=fast_append([new("fast"), new("fast2", "b")]), may_conflict=False),
        Planned(name="append-to-branch", change=fast_append([new("branch")], branch="audit"), may_conflict=False),
        Planned(name="overwrite", change=overwrite([new("over")], [data_path("f1")]), removes=_removes("f1")),
        Planned(
            name="overwrite-serializable",
            change=overwrite([new("serial")], [data_path("f2")], validation=serializable),
            removes=_removes("f2"),
            concerns=_in_part("a"),
        ),
        Planned(name="delete-file", change=delete_files([data_path("f1")]), removes=_removes("f1")),
        Planned(
            name="delete-where",
            change=delete_where(IN_A),
            may_conflict=False,
            removes=lambda one: _in_part("a")(one) and one.content == 0,
        ),
        Planned(
            name="rewrite",
            change=rewrite([new("rewritten")], [data_path("f1"), data_path("f2")]),
            removes=_removes("f1", "f2"),
        ),
        Planned(
            name="schema",
            change=ChangeSchema((AddColumn(f"new_{writer}", INT),)),
            changes=frozenset({"schemas", "current_schema_id", "last_column_id"}),
            relies_on=_schema,
            missing=_has(
                "schemas",
                lambda before, after: (
                    len(after.schemas) == len(before.schemas) + 1 and after.last_column_id == before.last_column_id + 1
                ),
            ),
        ),
        Planned(
            name="spec",
            change=ChangeSpec((AddPartitionField((ID,), Bucket(4), f"bucket_{writer}"),)),
            changes=frozenset({"partition_specs", "default_spec_id", "last_partition_id"}),
            relies_on=lambda table: (_schema(table), table.default_spec_id, table.last_partition_id),
            missing=_has(
                "partition_specs", lambda before, after: len(after.partition_specs) == len(before.partition_specs) + 1
            ),
        ),
        Planned(
            name="sort-order",
            change=ChangeSortOrder((SortField(transform=Identity(), source_id=(ID, PART)[writer % 2]),)),
            changes=frozenset({"sort_orders", "default_sort_order_id"}),
            relies_on=lambda table: (_schema(table), table.default_sort_order_id),
            missing=_has("sort_orders", lambda before, after: len(after.sort_orders) == len(before.sort_orders) + 1),
        ),
        Planned(
            name="properties",
            change=SetProperties({f"by-{writer}": "yes"}),
            changes=frozenset({"properties"}),
            may_conflict=False,
            missing=_has(
                "properties", lambda before, after: {**before.properties, f"by-{writer}": "yes"} == after.properties
            ),
        ),
        Planned(
            name="tag",
            change=SetReference(f"tag-{writer}", SnapshotRef(snapshot_id=FIRST, type=RefType.TAG)),
            changes=frozenset({"refs"}),
            missing=_has(
                "refs", lambda before, after: f"tag-{writer}" in after.refs and before.refs.keys() <= after.refs.keys()
            ),
        ),
        Planned(
            name="rollback",
            change=SetReference("main", SnapshotRef(snapshot_id=FIRST, type=RefType.BRANCH)),
            changes=frozenset({"refs", "current_snapshot_id", "snapshot_log"}),
            relies_on=lambda table: table.references.get("main"),
            missing=_has("refs", lambda _, after: after.current_snapshot_id == FIRST),
        ),
        Planned(
            name="drop-branch",
            change=SetReference("audit", None),
            changes=frozenset({"refs"}),
            relies_on=lambda table: table.references.get("audit"),
            missing=_has("refs", lambda _, after: "audit" not in after.refs),
        ),
        Planned(
            name="statistics",
            change=SetStatistics(
                StatisticsFile(
                    snapshot_id=FIRST,
                    statistics_path=data_path(f"stats-{writer}"),
                    file_size_in_bytes=1,
                    file_footer_size_in_bytes=1,
                    blob_metadata=(),
                )
            ),
            changes=frozenset({"statistics"}),
            missing=_has(
                "statistics",
                lambda _, after: data_path(f"stats-{writer}") in {one.statistics_path for one in after.statistics},
            ),
        ),
        Planned(
            name="expire",
            change=Expire(10**9, clean_files=True),
            changes=frozenset({"snapshots", "snapshot_log", "refs", "statistics"}),
            may_conflict=False,
            missing=_has(
                "snapshots",
                lambda before, after: (
                    {one.snapshot_id for one in after.snapshots}
                    == {one.snapshot_id for one in before.references.values()}
                ),
            ),
        ),
    ]
    if version > 1:
        made += [
            Planned(name="equality-delete", change=row_delta([equality_deletes(f"eq-{writer}")]), may_conflict=False),
            Planned(
                name="rewrite-older",
                change=rewrite([new("older", sequence_number=1)], [data_path("f1")]),
                removes=_removes("f1"),
            ),
            Planned(
                name="position-delete",
                change=row_delta(
                    [vector(f"dv-{writer}", "f1") if version > 2 else position_deletes(f"pos-{writer}", "f1")],
                    validation=validation_for(Isolation.SNAPSHOT, IN_A, [data_path("f1")]),
                ),
                concerns=_in_part("a"),
            ),
        ]
    if version < 3:
        made.append(
            Planned(
                name="upgrade",
                change=Upgrade(FormatVersion(version + 1)),
                changes=frozenset({"format_version", "next_row_id", "schema", "partition_spec"}),
                may_conflict=False,
                missing=_has("format_version", lambda _, after: after.format_version == version + 1),
            )
        )
    return tuple(made)


READER = Planned(name="read", change=Read(), changes=frozenset())
"""A reader, to race with writers."""

CORE = ("append", "overwrite", "delete-file", "rewrite", "schema", "expire", "equality-delete", "append-to-branch")
"""The changes that three writers race with."""


def base_changes(version: int) -> tuple[Change, ...]:
    """What made the table that writers race on.

    It has files in two snapshots, a branch at the first, and deletes where there can be some.
    """
    deletes = {1: (), 2: (position_deletes("p2", "f2"),), 3: (vector("v2", "f2"),)}[version]
    second = row_delta([data("f3", "b"), *deletes]) if version > 1 else fast_append([data("f3", "b")])
    return (
        CreateTable(empty_table(version, LOCATION, PROPERTIES)),
        fast_append([data("f1"), data("f2")]),
        second,
        SetReference("audit", SnapshotRef(snapshot_id=FIRST, type=RefType.BRANCH)),
    )


DATA_FILES = tuple(
    data_path(name)
    for name in (
        "f1",
        "f2",
        "f3",
        "p2",
        "v2",
        *(
            f"{kind}-{writer}"
            for writer in range(4)
            for kind in (
                "append",
                "fast",
                "fast2",
                "branch",
                "over",
                "serial",
                "rewritten",
                "older",
                "eq",
                "dv",
                "pos",
                "stats",
            )
        ),
    )
)
"""Every data and delete file of the races: they are there from the beginning."""

__all__ = ["CORE", "DATA_FILES", "Planned", "SnapshotChange", "base_changes", "operations"]

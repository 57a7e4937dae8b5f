"""The initial tables of races: each has a feature that a commit may handle incorrectly."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import attrs
from attrs import field, frozen

from conformance.operations.commits.fixtures import (
    ID,
    LOCATION,
    PART,
    PART_FIELD,
    SCHEMA,
    data,
    data_path,
    empty_table,
    equality_deletes,
    position_deletes,
    vector,
)
from conformance.races.setup import build_state
from conformance.races.state import SharedState
from spec_ref.commits.changes import (
    Change,
    ChangeSchema,
    ChangeSpec,
    CreateTable,
    NewFile,
    SetReference,
    SetStatistics,
    Upgrade,
    fast_append,
    row_delta,
)
from spec_ref.commits.payloads import ManifestListPayload, ManifestPayload
from spec_ref.commits.tables import Table
from spec_ref.core.records import evolve
from spec_ref.core.versions import FormatVersion
from spec_ref.data_types.types import DOUBLE, NestedField
from spec_ref.expressions.predicates import TRUE, Comparison, Literal, NamedReference, Operation, Test
from spec_ref.partitioning.evolution import RemovePartitionField
from spec_ref.partitioning.spec import PartitionField, PartitionSpec
from spec_ref.partitioning.transforms import Bucket, Identity, Transform, Void, parse_transform
from spec_ref.schemas.evolution import DropColumn
from spec_ref.schemas.schema import Schema
from spec_ref.snapshots.references import RefType, SnapshotRef
from spec_ref.table_metadata.metadata import TableMetadata
from spec_ref.table_metadata.statistics import PartitionStatisticsFile, StatisticsFile

PROPERTIES = {
    "commit.manifest.min-count-to-merge": "2",
    "commit.retry.num-retries": "3",
}
FIRST, SECOND = 11, 12
"""The snapshots of each table: the first adds f1 and f2, the second f3 and deletes."""

SCORE = 3
"""The id of the column ``score`` of tables that have it."""


@frozen
class Place:
    """A partition of files: a partition spec, and the values of its fields."""

    spec_id: int
    partition: Mapping[int, Any]

    @property
    def values(self) -> dict[int, Any]:
        """Return the partition tuple; each NaN is a new object, as after reading from a file."""
        return {one: float("nan") if value != value else value for one, value in self.partition.items()}

    def data(self, name: str, rows: int = 10, *, by_default: bool = False, number: int | None = None) -> NewFile:
        """Return a data file in this partition.

        Args:
            name: the name of the file.
            rows: the number of rows.
            by_default: whether to leave out the spec, so that the table's default spec applies.
            number: a data sequence number to write explicitly.
        """
        spec_id = None if by_default else self.spec_id
        return data(name, rows=rows, spec_id=spec_id, partition=self.values, sequence_number=number)

    def equality_deletes(self, name: str) -> NewFile:
        """Return equality deletes of the rows in this partition whose id is 0 or 1."""
        return equality_deletes(name, rows=2, spec_id=self.spec_id, partition=self.values)

    def position_deletes(
        self, name: str, of: str | None = None, names: tuple[str, str] | None = None, rows: int = 1
    ) -> NewFile:
        """Return position deletes of the first rows of one or several data files in this partition."""
        return position_deletes(name, of, rows=rows, spec_id=self.spec_id, partition=self.values, names=names)

    def vector(self, name: str, of: str, rows: int = 1) -> NewFile:
        """Return a deletion vector of the first rows of a data file in this partition."""
        return vector(name, of, rows=rows, spec_id=self.spec_id, partition=self.values)


@frozen(kw_only=True)
class TableFixture:
    """An initial table of races, for each format version that it can have."""

    name: str
    about: str
    versions: tuple[int, ...] = (1, 2, 3)
    make: Callable[[int], tuple[Change, ...]]
    """Returns the changes that create the table."""

    place: Place
    """The partition of f1 and f2."""

    other: Place
    """The partition of f3."""

    new: Place
    """The partition of new files."""

    everywhere: Place | None = None
    """An unpartitioned spec, with which equality deletes apply to all data files."""

    where: Any = None
    """A predicate that all rows in `place` match, and no others; None if there is none."""

    operations: tuple[str, ...]
    """The changes that race on it."""

    rewritten_by: Callable[[SharedState], SharedState] = field(default=lambda shared: shared)
    """Converts the table to one that other writers could have written."""

    def state(self, version: int, table: Table) -> SharedState:
        """Return the initial state of the table.

        Args:
            version: its format version.
            table: the kind of table, which determines the pointer.
        """
        return self.rewritten_by(build_state(self.make(version), table, DATA_FILES))


def with_specs(version: int, specs: Sequence[PartitionSpec], schema: Schema = SCHEMA) -> TableMetadata:
    """Return an empty table with some partition specs, the last of which is the default."""
    ids = [one.field_id for spec in specs for one in spec.fields]
    return evolve(
        empty_table(version, LOCATION, PROPERTIES),
        schemas=(schema,),
        last_column_id=max(one.id for one in schema.fields),
        partition_specs=tuple(specs),
        default_spec_id=specs[-1].spec_id,
        last_partition_id=max(ids, default=PART_FIELD - 1),
    )


def _field(source: int, number: int, name: str, transform: Transform) -> PartitionField:
    return PartitionField(source_id=source, field_id=number, name=name, transform=transform)


def _two_snapshots(
    version: int, metadata: TableMetadata, place: Place, other: Place, *, deletes_own: bool = False
) -> tuple[Change, ...]:
    """Return a table with f1 and f2 in one partition, f3 in another, deletes of f2, and a branch at the first snapshot.

    With ``deletes_own``, the commit that adds f3 also deletes rows of it.
    """
    deletes = {1: (), 2: (place.position_deletes("p2", "f2"),), 3: (place.vector("v2", "f2"),)}[version]
    own = {1: (), 2: (other.position_deletes("p3", "f3"),), 3: (other.vector("v3", "f3"),)}[version]
    second = [other.data("f3"), *deletes, *(own if deletes_own else ())]
    return (
        CreateTable(metadata),
        fast_append([place.data("f1"), place.data("f2")]),
        row_delta(second) if version > 1 else fast_append(second),
        SetReference("audit", SnapshotRef(snapshot_id=FIRST, type=RefType.BRANCH)),
    )


def _is(column: str, value: Any) -> Any:
    return Comparison(Operation.EQ, NamedReference(column), Literal(value))


BY_PART = _field(PART, PART_FIELD, "part", Identity())
IN_A, IN_B = Place(0, {PART_FIELD: "a"}), Place(0, {PART_FIELD: "b"})
ROW_OPERATIONS = (
    "append",
    "overwrite",
    "delete-file",
    "rewrite",
    "rewrite-older",
    "equality-delete",
    "position-delete",
    "position-delete-range",
    "merge-vector",
    "rewrite-manifests",
)
"""The changes that race on the tables that test partitions."""

PARTITIONED = TableFixture(
    name="partitioned",
    about="one partition spec, two snapshots, a branch, deletes",
    make=lambda version: _two_snapshots(version, with_specs(version, [PartitionSpec(0, (BY_PART,))]), IN_A, IN_B),
    place=IN_A,
    other=IN_B,
    new=IN_A,
    where=_is("part", "a"),
    operations=(
        "append",
        "fast-append",
        "append-to-branch",
        "overwrite",
        "overwrite-serializable",
        "delete-file",
        "delete-where",
        "rewrite",
        "schema",
        "spec",
        "sort-order",
        "properties",
        "tag",
        "rollback",
        "drop-branch",
        "statistics",
        "expire",
        "equality-delete",
        "rewrite-older",
        "position-delete",
        "upgrade",
    ),
)

HERE = Place(0, {})
UNPARTITIONED = TableFixture(
    name="unpartitioned",
    about="a partition spec without fields: equality deletes are of all data files",
    make=lambda version: _two_snapshots(version, with_specs(version, [PartitionSpec(0)]), HERE, HERE, deletes_own=True),
    place=HERE,
    other=HERE,
    new=HERE,
    everywhere=HERE,
    where=TRUE,
    operations=(*ROW_OPERATIONS, "delete-where", "spec"),
)

VOIDED = Place(0, {PART_FIELD: None})
VOID = TableFixture(
    name="void",
    about="a partition spec of void fields only, as v1 leaves it where a field is removed",
    make=lambda version: _two_snapshots(
        version, with_specs(version, [PartitionSpec(0, (_field(PART, PART_FIELD, "part", Void()),))]), VOIDED, VOIDED
    ),
    place=VOIDED,
    other=VOIDED,
    new=VOIDED,
    everywhere=VOIDED,
    operations=ROW_OPERATIONS,
)

BUCKETED = Place(2, {1001: 3, 1000: "a"})
SPECS = (
    PartitionSpec(0, (BY_PART,)),
    PartitionSpec(1),
    PartitionSpec(3, (_field(PART, 1002, "same_part", Identity()),)),
    PartitionSpec(2, (_field(ID, 1001, "bucket", Bucket(4)), BY_PART)),
)
SEVERAL_SPECS = TableFixture(
    name="several-specs",
    about="four partition specs, one of them without fields, and two with equal values, with files in each",
    make=lambda version: (
        *_two_snapshots(version, with_specs(version, SPECS), IN_A, Place(1, {})),
        fast_append([BUCKETED.data("f4"), Place(3, {1002: "a"}).data("f5"), Place(2, {1001: 0, 1000: "b"}).data("f6")]),
    ),
    place=IN_A,
    other=Place(1, {}),
    new=BUCKETED,
    everywhere=Place(1, {}),
    operations=(*ROW_OPERATIONS, "global-equality-delete", "append-everywhere", "rewrite-across", "spec", "schema"),
)

IN_NULL = Place(0, {PART_FIELD: None})
NULL_PARTITION = TableFixture(
    name="null-partition",
    about="files in the partition of null",
    make=lambda version: _two_snapshots(version, with_specs(version, [PartitionSpec(0, (BY_PART,))]), IN_NULL, IN_A),
    place=IN_NULL,
    other=IN_A,
    new=IN_NULL,
    where=Test(Operation.IS_NULL, NamedReference("part")),
    operations=(*ROW_OPERATIONS, "delete-where", "overwrite-serializable"),
)


WITH_SCORE = evolve(SCHEMA, fields=(*SCHEMA.fields, NestedField(SCORE, "score", False, DOUBLE, None, None, None)))  # noqa: FBT003
IN_NAN, IN_ONE = Place(0, {PART_FIELD: float("nan")}), Place(0, {PART_FIELD: 1.0})
NAN_PARTITION = TableFixture(
    name="nan-partition",
    about="files in the partition of NaN",
    make=lambda version: _two_snapshots(
        version,
        with_specs(version, [PartitionSpec(0, (_field(SCORE, PART_FIELD, "score", Identity()),))], WITH_SCORE),
        IN_NAN,
        IN_ONE,
    ),
    place=IN_NAN,
    other=IN_ONE,
    new=IN_NAN,
    where=Test(Operation.IS_NAN, NamedReference("score")),
    operations=(*ROW_OPERATIONS, "delete-where", "overwrite-serializable"),
)

AT_TEN = Place(0, {PART_FIELD: 1.5})


DROPPED_SOURCE = TableFixture(
    name="dropped-source",
    about="files of a partition spec whose source column was dropped",
    versions=(2, 3),
    make=lambda version: (
        *_two_snapshots(
            version,
            with_specs(version, [PartitionSpec(0, (_field(SCORE, PART_FIELD, "score", Identity()),))], WITH_SCORE),
            AT_TEN,
            IN_ONE,
        ),
        ChangeSpec((RemovePartitionField("score"),)),
        ChangeSchema((DropColumn("score"),)),
    ),
    place=AT_TEN,
    other=IN_ONE,
    new=Place(1, {}),
    everywhere=Place(1, {}),
    operations=(
        "append",
        "overwrite",
        "delete-file",
        "rewrite",
        "global-equality-delete",
        "rewrite-manifests",
        "rewrite-older",
    ),
)


def _unknown(shared: SharedState) -> SharedState:
    """Return the table as a later version of the spec could leave it: the first spec has an unknown transform."""
    old = PartitionSpec(0, (_field(PART, PART_FIELD, "part", Identity()),))
    new = PartitionSpec(0, (_field(PART, PART_FIELD, "part", parse_transform("mangle[3]")),))

    def changed(content: Any) -> Any:
        match content:
            case TableMetadata():
                specs = tuple(new if one == old else one for one in content.partition_specs)
                return evolve(content, partition_specs=specs)
            case ManifestPayload() if content.spec == old:
                return evolve(content, spec=new)
        return content

    return attrs.evolve(shared, files={path: changed(content) for path, content in shared.files.items()})


BESIDE = Place(1, {1001: 0})
UNKNOWN_TRANSFORM = TableFixture(
    name="unknown-transform",
    about="files of a partition spec whose transform is not known",
    versions=(2, 3),
    make=lambda version: (
        *_two_snapshots(
            version,
            with_specs(
                version, [PartitionSpec(0, (BY_PART,)), PartitionSpec(1, (_field(ID, 1001, "bucket", Bucket(4)),))]
            ),
            IN_A,
            BESIDE,
        ),
    ),
    rewritten_by=_unknown,
    place=IN_A,
    other=BESIDE,
    new=BESIDE,
    operations=(
        "append",
        "fast-append",
        "append-to-branch",
        "overwrite",
        "delete-file",
        "rewrite",
        "rewrite-manifests",
        "spec",
        "schema",
        "expire",
    ),
)


def _bare_lists(shared: SharedState) -> SharedState:
    """Return the table as old v1 writers left it: manifest lists without counts and partition summaries."""

    def bare(content: Any) -> Any:
        if not isinstance(content, ManifestListPayload) or content.format_version > 1:
            return content
        none = dict.fromkeys(
            (f"{kind}_{what}_count" for kind in ("added", "existing", "deleted") for what in ("files", "rows")), None
        )
        return evolve(content, files=tuple(evolve(one, **none, partitions=None) for one in content.files))

    return attrs.evolve(shared, files={path: bare(content) for path, content in shared.files.items()})


def _upgraded(version: int) -> tuple[Change, ...]:
    """Return a table with files of every format version up to its own."""
    made: tuple[Change, ...] = (
        CreateTable(with_specs(1, [PartitionSpec(0, (BY_PART,))])),
        fast_append([IN_A.data("f1"), IN_A.data("f2")]),
        fast_append([IN_B.data("f3")]),
        SetReference("audit", SnapshotRef(snapshot_id=FIRST, type=RefType.BRANCH)),
    )
    if version > 1:
        made += (Upgrade(FormatVersion.V2), row_delta([IN_A.data("f4"), IN_A.position_deletes("p2", "f2")]))
    if version > 2:
        made += (Upgrade(FormatVersion.V3),)
    return made


UPGRADED_OPERATIONS = (
    "append",
    "fast-append",
    "overwrite",
    "delete-file",
    "rewrite",
    "append-to-branch",
    "equality-delete",
    "position-delete",
    "rewrite-manifests",
    "upgrade",
    "expire",
)
UPGRADED = TableFixture(
    name="upgraded",
    about="a table that was upgraded from v1, with files of every version",
    versions=(2, 3),
    make=_upgraded,
    place=IN_A,
    other=IN_B,
    new=IN_A,
    operations=UPGRADED_OPERATIONS,
)
OLD_LISTS = TableFixture(
    name="old-lists",
    about="a table of v1, upgraded or not, whose manifest lists have no counts",
    make=_upgraded,
    rewritten_by=_bare_lists,
    place=IN_A,
    other=IN_B,
    new=IN_A,
    where=_is("part", "a"),
    operations=(*UPGRADED_OPERATIONS, "delete-where"),
)


def _without_lists(shared: SharedState) -> SharedState:
    """Return the table as the first v1 writers left it: snapshots list their manifests."""
    lists = {path: content.files for path, content in shared.files.items() if isinstance(content, ManifestListPayload)}

    def inline(content: Any) -> Any:
        if not isinstance(content, TableMetadata):
            return content
        made = (
            evolve(one, manifest_list=None, manifests=tuple(file.manifest_path for file in lists[one.manifest_list]))
            for one in content.snapshots
            if one.manifest_list is not None
        )
        return evolve(content, snapshots=tuple(made))

    return attrs.evolve(
        shared, files={path: inline(content) for path, content in shared.files.items() if path not in lists}
    )


NO_LISTS = TableFixture(
    name="no-lists",
    about="a table of v1 whose snapshots name their manifests, without manifest lists",
    versions=(1,),
    make=_upgraded,
    rewritten_by=_without_lists,
    place=IN_A,
    other=IN_B,
    new=IN_A,
    operations=(
        "append",
        "fast-append",
        "overwrite",
        "delete-file",
        "rewrite",
        "append-to-branch",
        "rewrite-manifests",
        "upgrade",
    ),
)

REFERENCES = TableFixture(
    name="references",
    about="several branches and tags",
    make=lambda version: (
        *PARTITIONED.make(version),
        SetReference("dev", SnapshotRef(snapshot_id=SECOND, type=RefType.BRANCH, min_snapshots_to_keep=1)),
        SetReference("v1", SnapshotRef(snapshot_id=FIRST, type=RefType.TAG)),
        SetReference("v2", SnapshotRef(snapshot_id=SECOND, type=RefType.TAG)),
        fast_append([IN_B.data("f4")], branch="dev"),
    ),
    place=IN_A,
    other=IN_B,
    new=IN_A,
    operations=(
        "append",
        "append-to-branch",
        "append-to-dev",
        "append-to-tag",
        "delete-on-branch",
        "drop-branch",
        "drop-tag",
        "move-branch",
        "tag",
        "rollback",
        "expire",
    ),
)

REPLACED = TableFixture(
    name="replaced",
    about="a table that is dropped and created again, with another UUID, while others commit",
    make=PARTITIONED.make,
    place=IN_A,
    other=IN_B,
    new=IN_A,
    operations=("append", "delete-file", "properties", "schema", "tag", "expire", "replace-table"),
)


def _statistics(snapshot_id: int, name: str) -> StatisticsFile:
    return StatisticsFile(
        snapshot_id=snapshot_id,
        statistics_path=data_path(name),
        file_size_in_bytes=1,
        file_footer_size_in_bytes=1,
        blob_metadata=(),
    )


def _partition_statistics(snapshot_id: int, name: str) -> PartitionStatisticsFile:
    return PartitionStatisticsFile(snapshot_id=snapshot_id, statistics_path=data_path(name), file_size_in_bytes=1)


STATISTICS = TableFixture(
    name="statistics",
    about="statistics and partition statistics of several snapshots",
    make=lambda version: (
        *PARTITIONED.make(version),
        SetStatistics(_statistics(FIRST, "s1")),
        SetStatistics(_statistics(SECOND, "s2")),
        SetStatistics(_partition_statistics(FIRST, "ps1")),
        SetStatistics(_partition_statistics(SECOND, "ps2")),
    ),
    place=IN_A,
    other=IN_B,
    new=IN_A,
    operations=(
        "append",
        "statistics",
        "partition-statistics",
        "remove-statistics",
        "drop-branch",
        "rollback",
        "expire",
    ),
)

FIXTURES: dict[str, TableFixture] = {
    one.name: one
    for one in (
        PARTITIONED,
        UNPARTITIONED,
        VOID,
        SEVERAL_SPECS,
        NULL_PARTITION,
        NAN_PARTITION,
        DROPPED_SOURCE,
        UNKNOWN_TRANSFORM,
        UPGRADED,
        OLD_LISTS,
        NO_LISTS,
        REFERENCES,
        STATISTICS,
        REPLACED,
    )
}
"""The tables by name."""

NEW_NAMES = (
    "append",
    "fast",
    "fast2",
    "branch",
    "dev",
    "tag",
    "over",
    "serial",
    "rewritten",
    "across",
    "older",
    "eq",
    "global",
    "everywhere",
    "dv",
    "pos",
    "range",
    "stats",
    "partition-stats",
    "replaced",
)
"""The prefixes of the names of new files, which the number of the writer follows."""

DATA_FILES = tuple(
    data_path(name)
    for name in (
        "f1",
        "f2",
        "f3",
        "f4",
        "f5",
        "f6",
        "p2",
        "v2",
        "p3",
        "v3",
        "s1",
        "s2",
        "ps1",
        "ps2",
        *(f"{kind}-{writer}" for writer in range(4) for kind in NEW_NAMES),
    )
)
"""Every data and delete file of the races, which exist from the beginning."""

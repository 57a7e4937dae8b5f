"""The initial tables of races: each has a feature that a commit may handle incorrectly."""

from __future__ import annotations

from typing import Any

from conformance.operations.commits.fixtures import ID, PART, PART_FIELD, SCHEMA, data_path
from conformance.races.fixture_kit import (
    BY_PART,
    FIRST,
    IN_A,
    IN_B,
    SECOND,
    FixturePartition,
    TableFixture,
    partition_field,
    with_specs,
)
from conformance.races.foreign_tables import with_unknown_transform, without_counts, without_manifest_lists
from spec_ref.commits.changes import (
    Change,
    ChangeSchema,
    ChangeSpec,
    CreateTable,
    SetReference,
    SetStatistics,
    UpgradeFormatVersion,
    fast_append,
    row_delta,
)
from spec_ref.core.records import evolve
from spec_ref.core.versions import FormatVersion
from spec_ref.data_types.types import DOUBLE, NestedField
from spec_ref.expressions.predicates import TRUE, Comparison, Literal, NamedReference, Operation, Test
from spec_ref.partitioning.evolution import RemovePartitionField
from spec_ref.partitioning.spec import PartitionSpec
from spec_ref.partitioning.transforms import Bucket, Identity, Void
from spec_ref.schemas.evolution import DropColumn
from spec_ref.snapshots.references import RefType, SnapshotRef
from spec_ref.table_metadata.metadata import TableMetadata
from spec_ref.table_metadata.statistics import PartitionStatisticsFile, StatisticsFile

SCORE = 3
"""The id of the column ``score`` of tables that have it."""


def _two_snapshots(
    version: int,
    metadata: TableMetadata,
    place: FixturePartition,
    other: FixturePartition,
    *,
    deletes_own: bool = False,
) -> tuple[Change, ...]:
    """Return a table with f1 and f2 in one partition, f3 in another, deletes of f2, and a branch at the first snapshot.

    With ``deletes_own``, the commit that adds f3 also deletes rows of it.
    """
    deletes = {1: (), 2: (place.position_deletes("p2", "f2"),), 3: (place.deletion_vector("v2", "f2"),)}[version]
    own = {1: (), 2: (other.position_deletes("p3", "f3"),), 3: (other.deletion_vector("v3", "f3"),)}[version]
    second = [other.data_file("f3"), *deletes, *(own if deletes_own else ())]
    return (
        CreateTable(metadata),
        fast_append([place.data_file("f1"), place.data_file("f2")]),
        row_delta(second) if version > 1 else fast_append(second),
        SetReference("audit", SnapshotRef(snapshot_id=FIRST, type=RefType.BRANCH)),
    )


def _is(column: str, value: Any) -> Any:
    return Comparison(Operation.EQ, NamedReference(column), Literal(value))


BY_SCORE = partition_field(SCORE, PART_FIELD, "score", Identity())
BY_BUCKET = partition_field(ID, 1001, "bucket", Bucket(4))
VOIDED_PART = partition_field(PART, PART_FIELD, "part", Void())
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
    place_filter=_is("part", "a"),
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

HERE = FixturePartition(0, {})
UNPARTITIONED = TableFixture(
    name="unpartitioned",
    about="a partition spec without fields, so that equality deletes apply to all data files",
    make=lambda version: _two_snapshots(version, with_specs(version, [PartitionSpec(0)]), HERE, HERE, deletes_own=True),
    place=HERE,
    other=HERE,
    unpartitioned_spec=HERE,
    place_filter=TRUE,
    operations=(*ROW_OPERATIONS, "delete-where", "spec"),
)

VOIDED = FixturePartition(0, {PART_FIELD: None})
VOID = TableFixture(
    name="void",
    about="a partition spec of void fields only, as v1 leaves it where a field is removed",
    make=lambda version: _two_snapshots(
        version,
        with_specs(version, [PartitionSpec(0, (VOIDED_PART,))]),
        VOIDED,
        VOIDED,
    ),
    place=VOIDED,
    other=VOIDED,
    unpartitioned_spec=VOIDED,
    operations=ROW_OPERATIONS,
)

BUCKETED = FixturePartition(2, {1001: 3, 1000: "a"})
SPECS = (
    PartitionSpec(0, (BY_PART,)),
    PartitionSpec(1),
    PartitionSpec(3, (partition_field(PART, 1002, "same_part", Identity()),)),
    PartitionSpec(2, (BY_BUCKET, BY_PART)),
)
SEVERAL_SPECS = TableFixture(
    name="several-specs",
    about="four partition specs, one of them without fields, and two with equal values, with files in each",
    make=lambda version: (
        *_two_snapshots(version, with_specs(version, SPECS), IN_A, FixturePartition(1, {})),
        fast_append(
            [
                BUCKETED.data_file("f4"),
                FixturePartition(3, {1002: "a"}).data_file("f5"),
                FixturePartition(2, {1001: 0, 1000: "b"}).data_file("f6"),
            ]
        ),
    ),
    other=FixturePartition(1, {}),
    new=BUCKETED,
    unpartitioned_spec=FixturePartition(1, {}),
    operations=(*ROW_OPERATIONS, "global-equality-delete", "append-everywhere", "rewrite-across", "spec", "schema"),
)

IN_NULL = FixturePartition(0, {PART_FIELD: None})
NULL_PARTITION = TableFixture(
    name="null-partition",
    about="files in the partition of null",
    make=lambda version: _two_snapshots(version, with_specs(version, [PartitionSpec(0, (BY_PART,))]), IN_NULL, IN_A),
    place=IN_NULL,
    other=IN_A,
    place_filter=Test(Operation.IS_NULL, NamedReference("part")),
    operations=(*ROW_OPERATIONS, "delete-where", "overwrite-serializable"),
)

WITH_SCORE = evolve(SCHEMA, fields=(*SCHEMA.fields, NestedField(SCORE, "score", False, DOUBLE, None, None, None)))  # noqa: FBT003
IN_NAN, IN_ONE = FixturePartition(0, {PART_FIELD: float("nan")}), FixturePartition(0, {PART_FIELD: 1.0})
NAN_PARTITION = TableFixture(
    name="nan-partition",
    about="files in the partition of NaN",
    make=lambda version: _two_snapshots(
        version,
        with_specs(version, [PartitionSpec(0, (BY_SCORE,))], WITH_SCORE),
        IN_NAN,
        IN_ONE,
    ),
    place=IN_NAN,
    other=IN_ONE,
    place_filter=Test(Operation.IS_NAN, NamedReference("score")),
    operations=(*ROW_OPERATIONS, "delete-where", "overwrite-serializable"),
)

AT_TEN = FixturePartition(0, {PART_FIELD: 1.5})

DROPPED_SOURCE = TableFixture(
    name="dropped-source",
    about="files of a partition spec whose source column was dropped",
    versions=(2, 3),
    make=lambda version: (
        *_two_snapshots(
            version,
            with_specs(version, [PartitionSpec(0, (BY_SCORE,))], WITH_SCORE),
            AT_TEN,
            IN_ONE,
        ),
        ChangeSpec((RemovePartitionField("score"),)),
        ChangeSchema((DropColumn("score"),)),
    ),
    place=AT_TEN,
    other=IN_ONE,
    new=FixturePartition(1, {}),
    unpartitioned_spec=FixturePartition(1, {}),
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

BESIDE = FixturePartition(1, {1001: 0})
UNKNOWN_TRANSFORM = TableFixture(
    name="unknown-transform",
    about="files of a partition spec whose transform is not known",
    versions=(2, 3),
    make=lambda version: (
        *_two_snapshots(
            version,
            with_specs(
                version,
                [PartitionSpec(0, (BY_PART,)), PartitionSpec(1, (BY_BUCKET,))],
            ),
            IN_A,
            BESIDE,
        ),
    ),
    rewritten_by=with_unknown_transform,
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


def _upgraded_table(version: int) -> tuple[Change, ...]:
    """Return a table with files of every format version up to its own."""
    made: tuple[Change, ...] = (
        CreateTable(with_specs(1, [PartitionSpec(0, (BY_PART,))])),
        fast_append([IN_A.data_file("f1"), IN_A.data_file("f2")]),
        fast_append([IN_B.data_file("f3")]),
        SetReference("audit", SnapshotRef(snapshot_id=FIRST, type=RefType.BRANCH)),
    )
    if version > 1:
        made += (
            UpgradeFormatVersion(FormatVersion.V2),
            row_delta([IN_A.data_file("f4"), IN_A.position_deletes("p2", "f2")]),
        )
    if version > 2:
        made += (UpgradeFormatVersion(FormatVersion.V3),)
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
    make=_upgraded_table,
    operations=UPGRADED_OPERATIONS,
)
OLD_LISTS = TableFixture(
    name="old-lists",
    about="a table of v1, upgraded or not, whose manifest lists have no counts",
    make=_upgraded_table,
    rewritten_by=without_counts,
    place_filter=_is("part", "a"),
    operations=(*UPGRADED_OPERATIONS, "delete-where"),
)

NO_LISTS = TableFixture(
    name="no-lists",
    about="a table of v1 whose snapshots name their manifests, without manifest lists",
    versions=(1,),
    make=_upgraded_table,
    rewritten_by=without_manifest_lists,
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
        fast_append([IN_B.data_file("f4")], branch="dev"),
    ),
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

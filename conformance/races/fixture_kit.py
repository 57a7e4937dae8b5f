"""The parts of an initial table of races: its partitions, its files, and the changes that race on it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from attrs import Factory, field, frozen

from conformance.operations.commits.fixtures import (
    LOCATION,
    PART,
    PART_FIELD,
    SCHEMA,
    data_file,
    data_path,
    deletion_vector,
    empty_table,
    equality_deletes,
    position_deletes,
)
from conformance.races.setup import build_state
from conformance.races.state import SharedState
from spec_ref.commits.changes import Change, NewFile
from spec_ref.commits.tables import TableKind
from spec_ref.core.records import evolve
from spec_ref.partitioning.spec import PartitionField, PartitionSpec
from spec_ref.partitioning.transforms import Identity, Transform
from spec_ref.schemas.schema import Schema
from spec_ref.table_metadata.metadata import TableMetadata

PROPERTIES = {
    "commit.manifest.min-count-to-merge": "2",
    "commit.retry.num-retries": "3",
}

FIRST, SECOND = 11, 12
"""The snapshots of each table: the first adds f1 and f2, the second f3 and deletes."""


@frozen
class FixturePartition:
    """A partition of files: a partition spec, and the values of its fields."""

    spec_id: int
    partition: Mapping[int, Any]

    @property
    def values(self) -> dict[int, Any]:
        """Return the partition tuple; each NaN is a new object, as after reading from a file."""
        return {one: float("nan") if value != value else value for one, value in self.partition.items()}

    def data_file(self, name: str, rows: int = 10, *, by_default: bool = False, number: int | None = None) -> NewFile:
        """Return a data file in this partition.

        Args:
            name: the name of the file.
            rows: the number of rows.
            by_default: whether to leave out the spec, so that the table's default spec applies.
            number: a data sequence number to write explicitly.
        """
        spec_id = None if by_default else self.spec_id
        return data_file(name, rows=rows, spec_id=spec_id, partition=self.values, sequence_number=number)

    def equality_deletes(self, name: str) -> NewFile:
        """Return equality deletes of the rows in this partition whose id is 0 or 1."""
        return equality_deletes(name, rows=2, spec_id=self.spec_id, partition=self.values)

    def position_deletes(
        self, name: str, data_file: str | None = None, names: tuple[str, str] | None = None, rows: int = 1
    ) -> NewFile:
        """Return position deletes of the first rows of one or several data files in this partition."""
        return position_deletes(name, data_file, rows=rows, spec_id=self.spec_id, partition=self.values, names=names)

    def deletion_vector(self, name: str, data_file: str, rows: int = 1) -> NewFile:
        """Return a deletion vector of the first rows of a data file in this partition."""
        return deletion_vector(name, data_file, rows=rows, spec_id=self.spec_id, partition=self.values)


IN_A, IN_B = FixturePartition(0, {PART_FIELD: "a"}), FixturePartition(0, {PART_FIELD: "b"})


@frozen(kw_only=True)
class TableFixture:
    """An initial table of races, for each format version that it can have."""

    name: str
    about: str
    versions: tuple[int, ...] = (1, 2, 3)
    make: Callable[[int], tuple[Change, ...]]
    """Returns the changes that create the table."""

    place: FixturePartition = IN_A
    """The partition of f1 and f2."""

    other: FixturePartition = IN_B
    """The partition of f3."""

    new: FixturePartition = field(default=Factory(lambda self: self.place, takes_self=True))
    """The partition of new files."""

    unpartitioned_spec: FixturePartition | None = None
    """An unpartitioned spec, with which equality deletes apply to all data files."""

    place_filter: Any = None
    """A predicate that all rows in `place` match, and no others; None if there is none."""

    operations: tuple[str, ...]
    """The changes that race on it."""

    rewritten_by: Callable[[SharedState], SharedState] = field(default=lambda shared: shared)
    """Converts the table to one that other writers could have written."""

    def state(self, version: int, table: TableKind) -> SharedState:
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


def partition_field(source: int, number: int, name: str, transform: Transform) -> PartitionField:
    """Return a partition field with a source column, a field id, a name and a transform."""
    return PartitionField(source_id=source, field_id=number, name=name, transform=transform)


BY_PART = partition_field(PART, PART_FIELD, "part", Identity())

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
"""The prefixes of new file names, each followed by the number of the writer."""

DATA_FILES = tuple(
    data_path(name)
    for name in (
        *(f"f{number}" for number in range(1, 7)),
        *("p2", "v2", "p3", "v3", "s1", "s2", "ps1", "ps2"),
        *(f"{kind}-{writer}" for writer in range(4) for kind in NEW_NAMES),
    )
)
"""Every data and delete file of the races, which exist from the beginning."""

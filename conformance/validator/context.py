"""What every check of a table knows: its metadata, and what was asked for. It is small, and sent to every executor."""

from __future__ import annotations

import enum
import functools
from collections.abc import Mapping

import attrs

from conformance.validator.patience import FILE_SECONDS
from spec_ref.core.errors import SpecError
from spec_ref.data_types.types import StructType, Type
from spec_ref.manifest_lists.manifest_file import ManifestFile
from spec_ref.partitioning.spec import PartitionSpec
from spec_ref.schemas.name_mapping import NAME_MAPPING_PROPERTY, MappedField, read_name_mapping
from spec_ref.schemas.schema import Column, Schema
from spec_ref.snapshots.snapshot import Snapshot
from spec_ref.statistics.partition import unified_partition_type
from spec_ref.table_metadata import TableMetadata


class Level(enum.Enum):
    """How deep a table is looked at; each level includes the ones before."""

    METADATA = "metadata"
    """The JSON alone."""

    MANIFESTS = "manifests"
    """Manifest lists and manifests, and what they say of each other."""

    FILES = "files"
    """The existence, size, schema and footer of each live file."""

    ROWS = "rows"
    """Everything that manifests say of a file, computed anew from its rows."""

    def includes(self, other: Level) -> bool:
        """Whether the checks of another level are done too."""
        levels = list(Level)
        return levels.index(other) <= levels.index(self)


@attrs.frozen(eq=False, slots=False)
class Context:
    """The table that is checked."""

    metadata: TableMetadata
    metadata_location: str
    level: Level
    buckets: int = 1
    """Into how many parts the facts about files are split, by a hash of their paths."""

    id_buckets: int = 1
    """Into how many parts the facts about row ids are split."""

    compares: bool = False
    """Whether two versions of the table are compared, so that manifests tell what they say of each file."""

    counts_partitions: bool = False
    """Whether manifests tell the sums of their partitions, for partition statistics."""

    has_position_deletes: bool = True
    """Whether some snapshot that is checked has position deletes or deletion vectors."""

    file_seconds: float = FILE_SECONDS
    """How long a file may give no sign of life (`conformance.validator.patience`)."""

    @functools.cached_property
    def specs(self) -> Mapping[int, PartitionSpec]:
        """The partition specs by id."""
        return {spec.spec_id: spec for spec in self.metadata.partition_specs}

    @functools.cached_property
    def snapshots(self) -> Mapping[int, Snapshot]:
        """The snapshots that have not expired, by id."""
        return {snapshot.snapshot_id: snapshot for snapshot in self.metadata.snapshots}

    @functools.cached_property
    def schema(self) -> Schema:
        """The current schema."""
        return self.metadata.current_schema

    @functools.cached_property
    def columns(self) -> Mapping[int, Column]:
        """Every column that a schema of the table has, by id; the current schema's where it has it, else the newest."""
        schemas = [*self.metadata.schemas, self.schema]
        return {column.id: column for schema in schemas for column in schema.columns()}

    @functools.cached_property
    def types(self) -> Mapping[int, Type]:
        """The types of `columns`."""
        return {column_id: column.type for column_id, column in self.columns.items()}

    @functools.cached_property
    def older_types(self) -> Mapping[int, tuple[Type, ...]]:
        """All types that a column ever had in a schema that the table still lists."""
        found: dict[int, list[Type]] = {}
        for schema in self.metadata.schemas:
            for column in schema.columns():
                found.setdefault(column.id, []).append(column.type)
        return {column_id: tuple(types) for column_id, types in found.items()}

    @functools.cached_property
    def mapping(self) -> tuple[MappedField, ...] | None:
        """The name mapping, for files without field ids."""
        text = self.metadata.properties.get(NAME_MAPPING_PROPERTY)
        try:
            return None if text is None else read_name_mapping(text)
        except SpecError:  # told by the check of the metadata
            return None

    def partition_type(self, spec: PartitionSpec) -> StructType | None:
        """The type of a spec's partition tuples; None where a source does not fit, which the metadata check tells."""
        try:
            return self.metadata.partition_type(spec)
        except SpecError:
            return None

    @property
    def looks_at_positions(self) -> bool:
        """Whether files tell which of their rows are deleted."""
        return self.level.includes(Level.ROWS) and self.has_position_deletes

    @functools.cached_property
    def unified_partition(self) -> StructType | None:
        """The unified partition type; None where the type of a spec is not known."""
        types = [self.partition_type(spec) for spec in reversed(self.metadata.partition_specs)]
        return None if None in types else unified_partition_type(type_ for type_ in types if type_ is not None)

    @functools.cached_property
    def partition_fields_with_source(self) -> frozenset[int]:
        """The partition fields whose source column the current schema has."""
        fields = (field for spec in self.metadata.partition_specs for field in spec.fields)
        return frozenset(
            field.field_id
            for field in fields
            if field.field_id is not None and any(self.schema.find(source) is not None for source in field.sources)
        )

    def __getstate__(self) -> tuple[object, ...]:
        return tuple(getattr(self, name) for name in _KNOWN)

    def __setstate__(self, state: tuple[object, ...]) -> None:
        for name, value in zip(_KNOWN, state, strict=True):
            object.__setattr__(self, name, value)


_KNOWN = tuple(field.name for field in attrs.fields(Context))
"""What is sent to executors: the fields, without what is computed from them."""


@attrs.frozen
class ListTask:
    """A snapshot whose manifest list is read."""

    snapshot: Snapshot
    checked: bool = True
    """False for a snapshot that only the history of another one needs."""


@attrs.frozen
class ManifestTask:
    """A manifest, in one or several snapshots."""

    number: int
    """Its place among the manifests of the run."""

    location: str
    manifest_file: ManifestFile | None
    """What the list says of it; None for a manifest that a snapshot of v1 names by itself."""

    snapshot: Snapshot
    """The first snapshot that lists it."""

    place: str
    """Where it is listed: the file and the number of the entry."""

    checked: bool = True
    """False where only the live files are asked for."""


@attrs.frozen
class FilesTask:
    """Some of the files of a manifest."""

    manifest: ManifestTask
    start: int
    """The number of the first entry."""

    stop: int

    def smaller(self) -> tuple[FilesTask, ...]:
        """The two halves; none of the task of one entry."""
        middle = (self.start + self.stop) // 2
        if middle == self.start:
            return ()
        return FilesTask(self.manifest, self.start, middle), FilesTask(self.manifest, middle, self.stop)


@attrs.frozen(eq=False)
class Members:
    """Which manifests the snapshots of a run have."""

    manifests: int
    """How many there are."""

    of_snapshot: Mapping[int, frozenset[int]]
    """The numbers of the manifests of each snapshot that could be read."""

    checked: tuple[int, ...]
    """The ids of the snapshots that are checked."""

    pairs: tuple[tuple[int, int], ...]
    """Checked snapshots with their parents, where both could be read."""

    counted: frozenset[int] = frozenset()
    """The places of the partition statistics files whose rows, and all manifests of whose snapshots, were read."""

    without_deletes: frozenset[int] = frozenset()
    """The snapshots that have no delete files but deletion vectors."""

    by_positions: frozenset[int] = frozenset()
    """The snapshots that have position delete files and no equality deletes."""

    whole: frozenset[int] = frozenset()
    """The snapshots all of whose manifests were read."""

    several_row_ids: frozenset[int] = frozenset()
    """The manifests of before row lineage that lists give different row ids, as branches may (LIN016), or none."""

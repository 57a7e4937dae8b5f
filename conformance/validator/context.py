"""The context of every check: the table's metadata and the options. It is small and is sent to every executor."""

from __future__ import annotations

import enum
import functools
import zlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import attrs

from conformance.core.lazy_imports import lazy_imports
from conformance.core.time_budget import FILE_SECONDS
from conformance.table_io.file_access import split_location
from spec_ref.checks.findings import Finding
from spec_ref.core.errors import SpecError
from spec_ref.data_types.types import StructType, Type
from spec_ref.partitioning.spec import PartitionSpec
from spec_ref.schemas.latest_columns import latest_columns
from spec_ref.schemas.name_mapping import NAME_MAPPING_PROPERTY, MappedField, read_name_mapping
from spec_ref.schemas.schema import Column, Schema
from spec_ref.snapshots.snapshot import Snapshot
from spec_ref.table_metadata import TableMetadata

if TYPE_CHECKING:
    from spec_ref.manifest_lists.manifest_file import ManifestFile

with lazy_imports():
    from conformance.table_io import encryption
    from spec_ref.statistics import partition


class Level(enum.Enum):
    """How much of a table is checked; each level includes the levels before it."""

    METADATA = "metadata"
    """Only the metadata file."""

    MANIFESTS = "manifests"
    """Manifest lists and manifests, and whether they agree with each other."""

    FILES = "files"
    """The existence, size, schema and footer of each live file."""

    ROWS = "rows"
    """Everything that manifests record about a file, recomputed from its rows."""

    def includes(self, other: Level) -> bool:
        """Return whether this level includes the checks of another."""
        levels = list(Level)
        return levels.index(other) <= levels.index(self)


def text_bucket(text: str, buckets: int) -> int:
    """Return the bucket of facts about a file or partition, by a hash that is the same in every process.

    Args:
        text: the path of the file, or the key of the partition.
        buckets: the number of buckets.

    Returns:
        The number of the bucket, from 0.
    """
    return zlib.crc32(text.encode("utf-8", "surrogatepass")) % buckets


@attrs.frozen(eq=False, slots=False)
class Context:
    """The table that is checked, and the options of its checks."""

    metadata: TableMetadata
    metadata_location: str
    level: Level
    buckets: int = 1
    """The number of buckets of the facts about files, by a hash of their paths."""

    id_buckets: int = 1
    """The number of buckets of the facts about row ids."""

    compares_versions: bool = False
    """Whether two versions of the table are compared: then checks of manifests emit the content of each entry."""

    counts_partitions: bool = False
    """Whether checks of manifests emit the sums of their partitions, for partition statistics."""

    has_position_deletes: bool = True
    """Whether any checked snapshot has position deletes or deletion vectors."""

    decrypts: bool = False
    """Whether encrypted files are decrypted; without a key service none is, even if its key can be read."""

    file_seconds: float = FILE_SECONDS
    """The time limit for a file without progress (`conformance.validator.stall_timeout`)."""

    connections: int = 16
    """How many files on S3 a process requests at once."""

    manifest_cache: str | None = None
    """The local folder in which manifests from stores are cached for the checks of their files; None for no cache."""

    @property
    def is_on_store(self) -> bool:
        """Whether the table is on a store, so that requests should overlap."""
        return split_location(self.metadata_location).scheme != "file"

    @functools.cached_property
    def specs(self) -> Mapping[int, PartitionSpec]:
        """The partition specs by id."""
        return {spec.spec_id: spec for spec in self.metadata.partition_specs}

    @functools.cached_property
    def snapshots(self) -> Mapping[int, Snapshot]:
        """The snapshots that have not expired, by id."""
        return {snapshot.snapshot_id: snapshot for snapshot in self.metadata.snapshots}

    @functools.cached_property
    def owners(self) -> Mapping[int, tuple[int, ...]]:
        """The ids of the snapshots with a sequence number, by the number; more than one only in an invalid table."""
        found: dict[int, list[int]] = {}
        for snapshot in self.metadata.snapshots:
            found.setdefault(snapshot.sequence_number, []).append(snapshot.snapshot_id)
        return {number: tuple(ids) for number, ids in found.items()}

    @functools.cached_property
    def schema(self) -> Schema:
        """The current schema."""
        return self.metadata.current_schema

    @functools.cached_property
    def columns(self) -> Mapping[int, Column]:
        """Every column of any schema, by id: as in the current schema or, if dropped, with its latest type."""
        return latest_columns((self.schema, *reversed(self.metadata.schemas)))

    @functools.cached_property
    def required_ids(self) -> frozenset[int]:
        """The fields, elements, keys and values that the current schema requires, at any depth."""
        return frozenset(column.id for column in self.schema.columns() if column.required)

    @functools.cached_property
    def types(self) -> Mapping[int, Type]:
        """The types of `columns`."""
        return {column_id: column.type for column_id, column in self.columns.items()}

    @functools.cached_property
    def older_types(self) -> Mapping[int, tuple[Type, ...]]:
        """All types of a column in the schemas of the table, by id."""
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
        except SpecError:  # the check of the metadata reports this error
            return None

    def partition_type(self, spec: PartitionSpec) -> StructType | None:
        """Return the type of a spec's partition tuples; None if a source column is wrong, which other checks report."""
        try:
            return self.metadata.partition_type(spec)
        except SpecError:
            return None

    @property
    def needs_deleted_positions(self) -> bool:
        """Whether checks of files emit which of their rows are deleted."""
        return self.level.includes(Level.ROWS) and self.has_position_deletes

    @property
    def compares_positions(self) -> bool:
        """Whether rules over several files compare the positions in delete files, and not only the files they name."""
        return self.counts_partitions or self.metadata.next_row_id is not None

    @functools.cached_property
    def unified_partition(self) -> StructType | None:
        """The unified partition type; None if the type of a spec is not known."""
        types = [self.partition_type(spec) for spec in reversed(self.metadata.partition_specs)]
        return (
            None if None in types else partition.unified_partition_type(type_ for type_ in types if type_ is not None)
        )

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
"""The fields that are sent to executors, without the values that are computed from them."""


@attrs.frozen
class ListTask:
    """A task: read the manifest list of a snapshot."""

    snapshot: Snapshot
    checked: bool = True
    """False for a snapshot that is only needed for the history of another one."""

    key: encryption.KeyMetadata | Finding | None = None
    """The key of an encrypted list, or the finding that it is not read; None for a list that is not encrypted."""


@attrs.frozen
class ManifestTask:
    """A task: check a manifest of one or several snapshots."""

    number: int
    """Its number among the manifests of the run."""

    location: str
    manifest_file: ManifestFile | None
    """Its entry in the manifest list; None for a manifest that a v1 snapshot names in ``manifests``."""

    snapshot: Snapshot
    """The first snapshot that lists it."""

    place: str
    """The location of the manifest list, and the path of the manifest's entry in it."""

    checked: bool = True
    """False if only the live files are needed."""


@attrs.frozen
class FilesTask:
    """A task: check some of the files of a manifest."""

    manifest: ManifestTask
    start: int
    """The number of the first entry."""

    stop: int

    def halves(self) -> tuple[FilesTask, ...]:
        """Return the two halves of the task; an empty tuple for a task of one entry."""
        middle = (self.start + self.stop) // 2
        if middle == self.start:
            return ()
        return FilesTask(self.manifest, self.start, middle), FilesTask(self.manifest, middle, self.stop)


@attrs.frozen
class TaskGroup:
    """Tasks of one kind whose requests to a store overlap, as each is too small for that by itself."""

    tasks: tuple[Any, ...]

    def halves(self) -> tuple[TaskGroup, ...]:
        """Return the two halves of the group, or of its only task; an empty tuple if that has none."""
        middle = len(self.tasks) // 2
        if middle:
            return TaskGroup(self.tasks[:middle]), TaskGroup(self.tasks[middle:])
        (task,) = self.tasks
        return tuple(TaskGroup((half,)) for half in getattr(task, "halves", tuple)())


@attrs.frozen(eq=False)
class ManifestMembership:
    """Which manifests each snapshot of a run has, by the numbers of the manifests."""

    manifest_count: int

    by_snapshot: Mapping[int, frozenset[int]]
    """The manifests of each snapshot whose manifest list could be read."""

    checked: tuple[int, ...]
    """The ids of the snapshots that are checked."""

    pairs: tuple[tuple[int, int], ...]
    """Pairs of a checked snapshot and its parent, if both manifest lists could be read."""

    comparable_statistics: frozenset[int] = frozenset()
    """The indexes of the partition statistics files that were read, as were all manifests of their snapshots."""

    only_vectors: frozenset[int] = frozenset()
    """The snapshots that have no delete files other than deletion vectors."""

    only_position_deletes: frozenset[int] = frozenset()
    """The snapshots that have position delete files and no equality deletes."""

    completely_read: frozenset[int] = frozenset()
    """The snapshots all of whose manifests were read."""

    ambiguous_row_ids: frozenset[int] = frozenset()
    """Manifests for which lists have different first row ids, or only some have one, as branches may (LIN016)."""

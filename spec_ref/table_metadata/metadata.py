"""Table metadata (Table Metadata Fields; Appendix C, Table Metadata and Snapshots; Appendix E).

Every change writes a new metadata file, which replaces the one that it was based on in an atomic step (TMD026); that
step is `spec_ref.commits.effects.SwapPointer`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import attrs

from spec_ref.core.errors import spec_error
from spec_ref.core.records import EMPTY, evolve, record, spec_field
from spec_ref.core.versions import OMITTED, OPTIONAL, REQUIRED, V1, FormatVersion
from spec_ref.data_types.types import StructType
from spec_ref.json.wire_types import INT, LONG, STRING, STRING_MAP, Converted, ListOf, MapOf, RecordOf
from spec_ref.partitioning.spec import FIELDS, FIRST_FIELD_ID, SPEC, PartitionField, PartitionSpec
from spec_ref.schemas.schema import SCHEMA, Schema
from spec_ref.snapshots.references import REF, SnapshotRef, add_main_branch
from spec_ref.snapshots.snapshot import SNAPSHOT, Snapshot
from spec_ref.sorting.order import ORDER, UNSORTED, UNSORTED_ID, SortOrder
from spec_ref.table_metadata.encryption import ENCRYPTION_KEY, EncryptionKey
from spec_ref.table_metadata.logs import (
    METADATA_LOG_ENTRY,
    SNAPSHOT_LOG_ENTRY,
    MetadataLogEntry,
    SnapshotLogEntry,
)
from spec_ref.table_metadata.statistics import (
    PARTITION_STATISTICS_FILE,
    STATISTICS_FILE,
    PartitionStatisticsFile,
    StatisticsFile,
)

NO_SNAPSHOT = -1
"""The id that Iceberg-Java writes in v1 and v2 tables if there is no current snapshot; read as null (NOT008)."""

FORMAT_VERSION = Converted(INT, lambda number, _: FormatVersion(number), lambda version, _: int(version))
CURRENT_SNAPSHOT = Converted(LONG, lambda found, _: None if found == NO_SNAPSHOT else found, lambda current, _: current)


@record(kw_only=True)
class TableMetadata:
    """Table metadata: everything about a table except its manifests and files.

    Everything that v1 may leave out is filled in by reading: a table of any version has schemas, specs and sort orders.
    """

    format_version: FormatVersion = spec_field(
        "format-version", v1=REQUIRED, v2=REQUIRED, v3=REQUIRED, requirement="TMD001", type=FORMAT_VERSION
    )

    table_uuid: str | None = spec_field(
        "table-uuid", v1=OPTIONAL, v2=REQUIRED, v3=REQUIRED, requirement="TMD002", type=STRING, default=None
    )
    """Identifies the table from its creation on. Kept as the text that was read; its case has no meaning."""

    location: str = spec_field("location", v1=REQUIRED, v2=REQUIRED, v3=REQUIRED, requirement="TMD003", type=STRING)
    """The base location, where writers put files by default."""

    last_sequence_number: int = spec_field(
        "last-sequence-number", v1=OMITTED, v2=REQUIRED, v3=REQUIRED, requirement="TMD004", type=LONG, default=0
    )
    """The highest sequence number assigned to a commit; 0 in v1."""

    last_updated_ms: int = spec_field(
        "last-updated-ms", v1=REQUIRED, v2=REQUIRED, v3=REQUIRED, requirement="TMD005", type=LONG
    )
    """When this metadata was written, in milliseconds from the Unix epoch."""

    last_column_id: int = spec_field(
        "last-column-id", v1=REQUIRED, v2=REQUIRED, v3=REQUIRED, requirement="TMD006", type=INT
    )
    """The highest column id that was ever assigned; new columns get higher ones."""

    schema: Schema | None = spec_field(
        "schema", v1=REQUIRED, v2=OMITTED, v3=OMITTED, requirement="TMD007", type=SCHEMA, default=None
    )
    """The deprecated copy of the current schema, as read from v1. A writer of v1 writes a new copy."""

    schemas: tuple[Schema, ...] = spec_field(
        "schemas", v1=OPTIONAL, v2=REQUIRED, v3=REQUIRED, requirement="TMD008", type=ListOf(SCHEMA), missing=None
    )

    current_schema_id: int = spec_field(
        "current-schema-id", v1=OPTIONAL, v2=REQUIRED, v3=REQUIRED, requirement="TMD009", type=INT, missing=None
    )

    partition_spec: tuple[PartitionField, ...] | None = spec_field(
        "partition-spec", v1=REQUIRED, v2=OMITTED, v3=OMITTED, requirement="TMD010", type=FIELDS, default=None
    )
    """The deprecated copy of the default spec's fields, as read from v1. A writer of v1 writes a new copy."""

    partition_specs: tuple[PartitionSpec, ...] = spec_field(
        "partition-specs", v1=OPTIONAL, v2=REQUIRED, v3=REQUIRED, requirement="TMD011", type=ListOf(SPEC), missing=None
    )

    default_spec_id: int = spec_field(
        "default-spec-id", v1=OPTIONAL, v2=REQUIRED, v3=REQUIRED, requirement="TMD012", type=INT, missing=None
    )
    """The spec that writers use by default."""

    last_partition_id: int = spec_field(
        "last-partition-id", v1=OPTIONAL, v2=REQUIRED, v3=REQUIRED, requirement="TMD013", type=INT, missing=None
    )
    """The highest partition field id that was ever assigned; 999 if there is none."""

    properties: Mapping[str, str] = spec_field(
        "properties", v1=OPTIONAL, v2=OPTIONAL, v3=OPTIONAL, requirement="TMD014", type=STRING_MAP, default=EMPTY
    )
    """Settings that affect reading and writing."""

    current_snapshot_id: int | None = spec_field(
        "current-snapshot-id",
        v1=OPTIONAL,
        v2=OPTIONAL,
        v3=OPTIONAL,
        requirement="TMD015",
        type=CURRENT_SNAPSHOT,
        default=None,
    )
    """The head of the main branch; None for a table without data."""

    snapshots: tuple[Snapshot, ...] = spec_field(
        "snapshots", v1=OPTIONAL, v2=OPTIONAL, v3=OPTIONAL, requirement="TMD016", type=ListOf(SNAPSHOT), default=()
    )

    snapshot_log: tuple[SnapshotLogEntry, ...] = spec_field(
        "snapshot-log",
        v1=OPTIONAL,
        v2=OPTIONAL,
        v3=OPTIONAL,
        requirement="TMD017",
        type=ListOf(SNAPSHOT_LOG_ENTRY),
        default=(),
    )
    """Which snapshot was current, and from when."""

    metadata_log: tuple[MetadataLogEntry, ...] = spec_field(
        "metadata-log",
        v1=OPTIONAL,
        v2=OPTIONAL,
        v3=OPTIONAL,
        requirement="TMD018",
        type=ListOf(METADATA_LOG_ENTRY),
        default=(),
    )
    """The metadata files before this one. Each new file adds an entry for the one that it replaces, and may drop the
    oldest (`spec_ref.table_metadata.logs.append_metadata_log_entry`)."""

    sort_orders: tuple[SortOrder, ...] = spec_field(
        "sort-orders", v1=OPTIONAL, v2=REQUIRED, v3=REQUIRED, requirement="TMD019", type=ListOf(ORDER), missing=None
    )

    default_sort_order_id: int = spec_field(
        "default-sort-order-id", v1=OPTIONAL, v2=REQUIRED, v3=REQUIRED, requirement="TMD020", type=INT, missing=None
    )
    """The order that writers use by default."""

    refs: Mapping[str, SnapshotRef] = spec_field(
        "refs",
        v1=OMITTED,
        v2=OPTIONAL,
        v3=OPTIONAL,
        read={V1: OPTIONAL},
        requirement="TMD021",
        type=MapOf(REF),
        default=EMPTY,
    )
    """Branches and tags by name, as listed (TMD033); `references` adds the main branch if it is only implied. Engines
    write them to v1 tables too, where expiring snapshots without them would delete the snapshots that they keep
    (contradiction C17)."""

    statistics: tuple[StatisticsFile, ...] = spec_field(
        "statistics",
        v1=OPTIONAL,
        v2=OPTIONAL,
        v3=OPTIONAL,
        requirement="TMD022",
        type=ListOf(STATISTICS_FILE),
        default=(),
    )

    partition_statistics: tuple[PartitionStatisticsFile, ...] = spec_field(
        "partition-statistics",
        v1=OPTIONAL,
        v2=OPTIONAL,
        v3=OPTIONAL,
        requirement="TMD023",
        type=ListOf(PARTITION_STATISTICS_FILE),
        default=(),
    )

    next_row_id: int | None = spec_field(
        "next-row-id", v1=OMITTED, v2=OMITTED, v3=REQUIRED, requirement="TMD024", type=LONG, default=None
    )
    """Higher than every assigned row id; None before v3. A snapshot raises it by at least the rows that will inherit a
    row id (TMD027)."""

    encryption_keys: tuple[EncryptionKey, ...] = spec_field(
        "encryption-keys",
        v1=OMITTED,
        v2=OMITTED,
        v3=OPTIONAL,
        requirement="TMD025",
        type=ListOf(ENCRYPTION_KEY),
        default=(),
    )

    extra: Mapping[str, Any] = attrs.field(default=EMPTY, hash=False)
    """Properties that no format version defines, kept for the writers that define them."""

    def schema_by_id(self, schema_id: int) -> Schema:
        """Find a schema by its id.

        Args:
            schema_id: the id of a schema.

        Returns:
            The schema.

        Raises:
            SpecError: TMD009 if the table has no such schema.
        """
        for schema in self.schemas:
            if schema.schema_id == schema_id:
                return schema
        raise spec_error("TMD009", "the table does not have a schema with the id", found=schema_id, aspect="unknown")

    def spec_by_id(self, spec_id: int) -> PartitionSpec:
        """Find a partition spec by its id.

        Args:
            spec_id: the id of a partition spec.

        Returns:
            The partition spec.

        Raises:
            SpecError: TMD012 if the table has no such spec.
        """
        for spec in self.partition_specs:
            if spec.spec_id == spec_id:
                return spec
        raise spec_error(
            "TMD012", "the table does not have a partition spec with the id", found=spec_id, aspect="unknown"
        )

    def sort_order_by_id(self, order_id: int) -> SortOrder:
        """Find a sort order by its id.

        Args:
            order_id: the id of a sort order.

        Returns:
            The sort order.

        Raises:
            SpecError: TMD020 if the table has no such order.
        """
        for order in self.sort_orders:
            if order.order_id == order_id:
                return order
        raise spec_error("TMD020", "the table does not have a sort order with the id", found=order_id, aspect="unknown")

    def snapshot_by_id(self, snapshot_id: int) -> Snapshot:
        """Find a snapshot by its id.

        Args:
            snapshot_id: the id of a snapshot.

        Returns:
            The snapshot.

        Raises:
            SpecError: TMD015 if the table has no such snapshot.
        """
        for snapshot in self.snapshots:
            if snapshot.snapshot_id == snapshot_id:
                return snapshot
        raise spec_error(
            "TMD015", "the table does not have a snapshot with the id", found=snapshot_id, aspect="unknown"
        )

    @property
    def current_schema(self) -> Schema:
        """The schema that new data is written with."""
        return self.schema_by_id(self.current_schema_id)

    def partition_type(self, spec: PartitionSpec) -> StructType:
        """Build the type of a spec's partition tuples, even if its source columns were dropped.

        Args:
            spec: a partition spec of the table.

        Returns:
            The struct type.

        Raises:
            SpecError: the code of a transform (TRN002 to TRN015) that does not accept the type of its source.
        """
        return spec.partition_type(self.current_schema, *self.schemas)

    @property
    def default_spec(self) -> PartitionSpec:
        """The spec that new data is partitioned by."""
        return self.spec_by_id(self.default_spec_id)

    @property
    def default_sort_order(self) -> SortOrder:
        """The order that new data should be sorted by."""
        return self.sort_order_by_id(self.default_sort_order_id)

    @property
    def current_snapshot(self) -> Snapshot | None:
        """The snapshot that readers see; None for a table without data."""
        return None if self.current_snapshot_id is None else self.snapshot_by_id(self.current_snapshot_id)

    @property
    def references(self) -> dict[str, SnapshotRef]:
        """Every branch and tag, including the main branch if the table has a current snapshot."""
        return add_main_branch(self.refs, self.current_snapshot_id)


def _schemas(metadata: TableMetadata) -> tuple[Schema, ...]:
    return () if metadata.schema is None else (metadata.schema,)


def _current_schema_id(metadata: TableMetadata) -> int:
    """Find the schema that the deprecated copy repeats; the copy may have no id, which is read as 0 (JSC001)."""
    if metadata.schema is None:
        return 0
    same = [schema.schema_id for schema in metadata.schemas if schema.fields == metadata.schema.fields]
    return same[0] if same and metadata.schema.schema_id not in same else metadata.schema.schema_id


def _partition_specs(metadata: TableMetadata) -> tuple[PartitionSpec, ...]:
    return (PartitionSpec(0, metadata.partition_spec or ()),)


def _default_spec_id(metadata: TableMetadata) -> int:
    same = (spec.spec_id for spec in metadata.partition_specs if spec.fields == metadata.partition_spec)
    return next(same, metadata.partition_specs[-1].spec_id if metadata.partition_specs else 0)


def last_partition_id(specs: tuple[PartitionSpec, ...]) -> int:
    """Find the highest partition field id of some specs.

    Args:
        specs: the partition specs of a table.

    Returns:
        The id; 999 if there are no fields.
    """
    return max((field.field_id for spec in specs for field in spec.fields), default=FIRST_FIELD_ID - 1)


COMPUTED_FIELDS: tuple[tuple[str, Callable[[TableMetadata], Any]], ...] = (
    ("schemas", _schemas),
    ("current_schema_id", _current_schema_id),
    ("partition_specs", _partition_specs),
    ("default_spec_id", _default_spec_id),
    ("last_partition_id", lambda metadata: last_partition_id(metadata.partition_specs)),
    ("sort_orders", lambda _: (UNSORTED,)),
    ("default_sort_order_id", lambda _: UNSORTED_ID),
)
"""The fields that are computed from older ones if they are missing, and how; a later one may depend on an earlier one.
The lists take precedence over the deprecated single schema and spec if both are present (contradiction C17)."""


def fill_omitted(metadata: TableMetadata, _: FormatVersion) -> TableMetadata:
    """Fill in everything that v1 may leave out.

    Args:
        metadata: the metadata as read.

    Returns:
        The completed metadata. The order of an unsorted table is listed if that is the default because none is stated.
    """
    has_default_order = metadata.default_sort_order_id is not None
    for attribute, value in COMPUTED_FIELDS:
        if getattr(metadata, attribute) is None:
            metadata = evolve(metadata, **{attribute: value(metadata)})
    if has_default_order or any(order.order_id == UNSORTED_ID for order in metadata.sort_orders):
        return metadata
    return evolve(metadata, sort_orders=(*metadata.sort_orders, UNSORTED))


DEPRECATED: tuple[tuple[str, Callable[[TableMetadata], Any]], ...] = (
    ("schema", lambda metadata: metadata.current_schema),
    ("partition_spec", lambda metadata: metadata.default_spec.fields),
)
"""The copies that a v1 writer writes for readers that are older than the lists."""

METADATA = RecordOf(TableMetadata, "table metadata", post_read=fill_omitted)

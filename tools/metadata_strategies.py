"""Hypothesis strategies for schemas, partition specs, sort orders and whole table metadata.

Like `tools.value_strategies`, this module needs Hypothesis.
All results are valid: reading, writing and reading them again gives the same, and no check has findings.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import cache
from typing import Any

from hypothesis import strategies as st

from spec_ref.core.errors import SpecError
from spec_ref.core.records import evolve
from spec_ref.core.versions import (
    DEFAULT_VALUES,
    MULTI_ARGUMENT_TRANSFORMS,
    ROW_LINEAGE,
    SEQUENCE_NUMBERS,
    TABLE_ENCRYPTION,
    V3,
    FormatVersion,
)
from spec_ref.data_types.types import LONG, NestedField, StructType, Type, children, kind
from spec_ref.partitioning.spec import FIRST_FIELD_ID, PartitionField, PartitionSpec
from spec_ref.partitioning.transforms import (
    Bucket,
    Day,
    Hour,
    Identity,
    Month,
    Transform,
    Truncate,
    UnknownTransform,
    Void,
    Year,
)
from spec_ref.schemas.default_values import NULL_ONLY
from spec_ref.schemas.evolution import assign_fresh_ids
from spec_ref.schemas.schema import Schema
from spec_ref.snapshots.references import MAIN, RefType, SnapshotRef
from spec_ref.snapshots.snapshot import Snapshot
from spec_ref.snapshots.summary import SnapshotOperation
from spec_ref.sorting.order import UNSORTED, NullOrder, SortDirection, SortField, SortOrder
from spec_ref.table_metadata.encryption import EncryptionKey
from spec_ref.table_metadata.logs import MetadataLogEntry, SnapshotLogEntry
from spec_ref.table_metadata.metadata import TableMetadata, last_partition_id
from spec_ref.table_metadata.statistics import BlobMetadata, PartitionStatisticsFile, StatisticsFile
from tools.value_strategies import types, values

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
LONGS = st.integers(-(1 << 63), (1 << 63) - 1)
COUNTS = st.integers(0, (1 << 40))
STRING_MAPS = st.dictionaries(TEXT, TEXT, max_size=3)
MORE = st.dictionaries(
    st.sampled_from(["x-new", "v9-field", "a/b~c"]),
    st.one_of(LONGS, TEXT, st.booleans(), st.lists(LONGS, max_size=2), st.dictionaries(TEXT, LONGS, max_size=2)),
    max_size=2,
)
"""Properties that a newer writer might add."""

TRANSFORMS: st.SearchStrategy[Transform] = st.one_of(
    st.sampled_from([Identity(), Year(), Month(), Day(), Hour(), Void()]),
    st.builds(Bucket, st.integers(1, 1000)),
    st.builds(Truncate, st.integers(1, 1000)),
)


def since(type_: Type) -> FormatVersion:
    """Return the first version with a type and all types inside it."""
    return max([type_.since, *(since(child) for _, child in children(type_))])


@cache
def _column_types(version: FormatVersion) -> st.SearchStrategy[Type]:
    return types(max_leaves=4).filter(lambda made: version.includes(since(made)))


@st.composite
def schemas(draw: st.DrawFn, version: FormatVersion = V3, schema_id: int = 0) -> Schema:
    """Return a schema whose first column, a required long, identifies rows; with defaults if the version has them."""
    fields = [NestedField(1, "id", True, LONG, None, None, None)]  # noqa: FBT003
    last = 1
    for place in range(draw(st.integers(0, 4))):
        type_ = draw(_column_types(version))
        field_id = last + 1
        type_, last = assign_fresh_ids(type_, field_id)
        default = draw(_defaults(type_)) if DEFAULT_VALUES.is_supported(version) else None
        fields.append(NestedField(field_id, f"c{place}", False, type_, draw(st.none() | TEXT), default, default))  # noqa: FBT003
    return Schema(tuple(fields), schema_id, draw(st.sampled_from([(), (1,)])))


def _defaults(type_: Type) -> st.SearchStrategy[Any]:
    if kind(type_) in NULL_ONLY or any(kind(child) in NULL_ONLY for _, child in children(type_)):
        return st.none()
    if isinstance(type_, StructType):
        return st.sampled_from([None, {}])
    return st.none() | values(type_).filter(_finite) if not list(children(type_)) else st.none()


def _finite(value: Any) -> bool:
    return not isinstance(value, float) or abs(value) < float("inf")


def _fit(transform: Transform, type_: Type) -> bool:
    try:
        transform.result_type(type_)
    except SpecError:
        return False
    return True


@st.composite
def partition_specs(draw: st.DrawFn, schema: Schema, version: FormatVersion = V3, spec_id: int = 0) -> PartitionSpec:
    """Return a spec over the columns of a schema; from v3 on also with unknown transforms of several sources."""
    fields: list[PartitionField] = []
    for place in range(draw(st.integers(0, 3))):
        transform, sources = draw(_draw_transform(schema, version))
        made = PartitionField(
            **_source_arguments(sources), field_id=FIRST_FIELD_ID + place, name=f"p{place}", transform=transform
        )
        fields.append(made)
    return PartitionSpec(spec_id, tuple(fields))


def _source_arguments(ids: tuple[int, ...]) -> dict[str, Any]:
    return {"source_id": ids[0]} if len(ids) == 1 else {"source_ids": ids}


@st.composite
def _draw_transform(draw: st.DrawFn, schema: Schema, version: FormatVersion) -> tuple[Transform, tuple[int, ...]]:
    if MULTI_ARGUMENT_TRANSFORMS.is_supported(version) and draw(st.integers(0, 4)) == 0:
        return UnknownTransform("zorder"), (1, 1)
    transform = draw(TRANSFORMS)
    fit = [column.id for column in schema.fields if _fit(transform, column.type) and not list(children(column.type))]
    fit = [field_id for field_id in fit if kind(_column_type(schema, field_id)) != "variant"]
    return (transform, (draw(st.sampled_from(fit)),)) if fit else (Identity(), (1,))


def _column_type(schema: Schema, field_id: int) -> Type:
    column = schema.find(field_id)
    assert column is not None
    return column.type


@st.composite
def sort_orders(draw: st.DrawFn, schema: Schema, version: FormatVersion = V3, order_id: int = 1) -> SortOrder:
    """Return a sort order with one to three fields."""
    fields = []
    for _ in range(draw(st.integers(1, 3))):
        transform, sources = draw(_draw_transform(schema, version))
        direction, nulls = draw(st.sampled_from(SortDirection)), draw(st.sampled_from(NullOrder))
        fields.append(
            SortField(**_source_arguments(sources), transform=transform, direction=direction, null_order=nulls)
        )
    return SortOrder(order_id, tuple(fields))


@st.composite
def _snapshots(draw: st.DrawFn, version: FormatVersion, keys: Sequence[EncryptionKey]) -> tuple[Snapshot, ...]:
    ids = draw(st.lists(st.integers(1, (1 << 63) - 1), max_size=4, unique=True))
    made: list[Snapshot] = []
    for place, (snapshot_id, parent) in enumerate(zip(ids, [None, *ids], strict=False)):
        snapshot = Snapshot(
            snapshot_id=snapshot_id,
            parent_snapshot_id=parent,
            sequence_number=place + 1 if SEQUENCE_NUMBERS.is_supported(version) else 0,
            timestamp_ms=1_700_000_000_000 + place,
            manifest_list=f"s3://bucket/table/metadata/snap-{snapshot_id}.avro",
            summary={"operation": draw(st.sampled_from(SnapshotOperation)).value, **draw(STRING_MAPS)},
            schema_id=draw(st.sampled_from([None, 0])),
            extra=draw(MORE),
        )
        if ROW_LINEAGE.is_supported(version):
            rows = {"first_row_id": 100 * place, "added_rows": draw(st.integers(0, 100))}
            key = draw(st.sampled_from([None, *(key.key_id for key in keys)]))
            snapshot = evolve(snapshot, **rows, key_id=key)
        made.append(snapshot)
    return tuple(made)


@st.composite
def _refs(draw: st.DrawFn, ids: Sequence[int]) -> dict[str, SnapshotRef]:
    positive = st.none() | st.integers(1, 1 << 30)
    refs = {}
    for name in draw(st.lists(TEXT.filter(lambda text: text != MAIN), max_size=3, unique=True)) if ids else ():
        ref = SnapshotRef(
            snapshot_id=draw(st.sampled_from(ids)), type=draw(st.sampled_from(RefType)), max_ref_age_ms=draw(positive)
        )
        if ref.type is RefType.BRANCH:
            ref = evolve(ref, min_snapshots_to_keep=draw(positive), max_snapshot_age_ms=draw(positive))
        refs[name] = ref
    return refs


@st.composite
def _statistics(draw: st.DrawFn, snapshot_id: int) -> StatisticsFile:
    blob = BlobMetadata(
        type=draw(TEXT),
        snapshot_id=snapshot_id,
        sequence_number=1,
        fields=(1,),
        properties=draw(st.none() | STRING_MAPS),
        extra=draw(MORE),
    )
    return StatisticsFile(
        snapshot_id=snapshot_id,
        statistics_path="s3://bucket/table/metadata/s.puffin",
        file_size_in_bytes=draw(COUNTS),
        file_footer_size_in_bytes=draw(COUNTS),
        key_metadata=draw(st.sampled_from([None, "aWNlYmVyZwo="])),
        blob_metadata=(blob,),
    )


@st.composite
def table_metadata(draw: st.DrawFn, version: FormatVersion | None = None) -> TableMetadata:
    """Return a table of a format version, or of any."""
    version = draw(st.sampled_from(FormatVersion)) if version is None else version
    first = draw(schemas(version))
    last_column = first.highest_field_id()
    added = NestedField(last_column + 1, "added", False, LONG, None, None, None)  # noqa: FBT003
    both = (first, evolve(first, schema_id=1, fields=(*first.fields, added)))
    spec = draw(partition_specs(first, version))
    order = draw(st.none() | sort_orders(first, version))
    keys = (
        (EncryptionKey(key_id="k1", encrypted_key_metadata="aWNlYmVyZwo="),)
        if TABLE_ENCRYPTION.is_supported(version)
        else ()
    )
    snapshots = draw(_snapshots(version, keys))
    ids = [snapshot.snapshot_id for snapshot in snapshots]
    current = ids[-1] if ids else None
    head = {} if current is None else {MAIN: SnapshotRef(snapshot_id=current, type=RefType.BRANCH)}
    log = [SnapshotLogEntry(timestamp_ms=one.timestamp_ms, snapshot_id=one.snapshot_id) for one in snapshots]
    files = (MetadataLogEntry(timestamp_ms=1_700_000_000_000, metadata_file="s3://bucket/table/metadata/0.json"),)
    return TableMetadata(
        format_version=version,
        table_uuid="fb072c92-a02b-11e9-ae9c-1bb7bc9eca94",
        location="s3://bucket/table",
        last_sequence_number=len(ids) if SEQUENCE_NUMBERS.is_supported(version) else 0,
        last_updated_ms=1_700_000_001_000,
        last_column_id=last_column + 1,
        schemas=both,
        current_schema_id=draw(st.sampled_from([0, 1])),
        partition_specs=(spec,),
        default_spec_id=spec.spec_id,
        last_partition_id=last_partition_id((spec,)),
        properties=draw(STRING_MAPS),
        current_snapshot_id=current,
        snapshots=snapshots,
        snapshot_log=tuple(log),
        metadata_log=draw(st.sampled_from([(), files])),
        sort_orders=(UNSORTED,) if order is None else (UNSORTED, order),
        default_sort_order_id=0 if order is None else order.order_id,
        refs={**head, **draw(_refs(ids))},
        statistics=tuple(draw(_statistics(snapshot_id)) for snapshot_id in itertools.islice(ids, 1)),
        partition_statistics=tuple(
            PartitionStatisticsFile(
                snapshot_id=one, statistics_path="s3://bucket/table/p.parquet", file_size_in_bytes=1
            )
            for one in itertools.islice(ids, 1)
        ),
        next_row_id=100 * len(ids) + 100 if ROW_LINEAGE.is_supported(version) else None,
        encryption_keys=keys,
        extra=draw(MORE),
    )

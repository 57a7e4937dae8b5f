"""Entries, specs and schemas to write into manifests."""

from __future__ import annotations

import struct
import uuid
from decimal import Decimal
from typing import Any

from hypothesis import strategies as st

from spec_ref.columnar.manifests.encoded_fields import EntryRun
from spec_ref.columnar.manifests.entry_columns import ManifestColumns
from spec_ref.columnar.manifests.reader import decoded_batches
from spec_ref.core.versions import V1, FormatVersion
from spec_ref.data_types import types as iceberg
from spec_ref.manifests import DataFile, EntryStatus, FileContent, FileFormat, Manifest, ManifestEntry
from spec_ref.partitioning.spec import PartitionField, PartitionSpec
from spec_ref.partitioning.transforms import Bucket, Day, Identity
from spec_ref.schemas.schema import Schema

SCHEMA = Schema(
    (
        iceberg.NestedField(1, "id", True, iceberg.LONG),
        iceberg.NestedField(2, "d é", False, iceberg.DecimalType(9, 2)),
        iceberg.NestedField(3, "u", False, iceberg.UUID),
        iceberg.NestedField(4, "ts", False, iceberg.TIMESTAMPTZ),
        iceberg.NestedField(5, "f", False, iceberg.FLOAT),
        iceberg.NestedField(6, "s", False, iceberg.STRING),
        iceberg.NestedField(7, "x", False, iceberg.FixedType(3)),
    ),
    schema_id=4,
)

SPEC = PartitionSpec(
    3,
    (
        PartitionField(source_id=2, field_id=1003, name="d é", transform=Identity()),
        PartitionField(source_id=3, field_id=1001, name="u_bucket", transform=Bucket(16)),
        PartitionField(source_id=4, field_id=1002, name="ts_day", transform=Day()),
        PartitionField(source_id=3, field_id=1007, name="2 u", transform=Identity()),
        PartitionField(source_id=5, field_id=1004, name="f", transform=Identity()),
        PartitionField(source_id=6, field_id=1005, name="s", transform=Identity()),
        PartitionField(source_id=7, field_id=1006, name="x", transform=Identity()),
    ),
)

VALUES: dict[int, st.SearchStrategy[Any]] = {
    1003: st.integers(-(10**9) + 1, 10**9 - 1).map(lambda unscaled: Decimal(unscaled).scaleb(-2)),
    1001: st.integers(0, 15),
    1002: st.integers(-(1 << 20), 1 << 20),
    1007: st.uuids().map(lambda value: uuid.UUID(int=value.int)),
    1004: st.floats(width=32, allow_nan=False),
    1005: st.text(max_size=9),
    1006: st.binary(min_size=3, max_size=3),
}

LONGS = st.integers(0, (1 << 63) - 1) | st.integers(0, 300)
OFFSETS = st.sets(LONGS, min_size=1, max_size=4).map(lambda offsets: tuple(sorted(offsets)))
COLUMNS = st.integers(1, 30) | st.integers(2147483500, 2147483647)


def optional(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | values


def maps(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return optional(st.dictionaries(COLUMNS, values, max_size=8))


@st.composite
def data_files(draw: st.DrawFn) -> DataFile:
    return DataFile(
        file_path=f"s3://bucket/t/data/{draw(st.text(max_size=30))}.parquet",
        file_format=draw(st.sampled_from([FileFormat.AVRO, FileFormat.ORC, FileFormat.PARQUET])),
        partition={field: draw(optional(values)) for field, values in VALUES.items()},
        record_count=draw(st.integers(0, 1 << 40)),
        file_size_in_bytes=draw(LONGS),
        column_sizes=draw(maps(LONGS)),
        value_counts=draw(maps(LONGS)),
        null_value_counts=draw(maps(LONGS)),
        nan_value_counts=draw(maps(LONGS)),
        lower_bounds=draw(maps(st.binary(max_size=70))),
        upper_bounds=draw(maps(st.binary(max_size=70))),
        key_metadata=draw(optional(st.binary(max_size=9))),
        split_offsets=draw(
            optional(st.sets(LONGS, min_size=1, max_size=4).map(lambda offsets: tuple(sorted(offsets))))
        ),
        sort_order_id=draw(optional(st.integers(0, 9))),
        first_row_id=None,
    )


@st.composite
def entries(draw: st.DrawFn, version: FormatVersion) -> ManifestEntry:
    status = draw(st.sampled_from(EntryStatus))
    numbered = version is not V1 and (status is not EntryStatus.ADDED or draw(st.booleans()))
    return ManifestEntry(
        status=status,
        snapshot_id=draw(LONGS if version is V1 or status is EntryStatus.DELETED else optional(LONGS)),
        sequence_number=draw(LONGS) if numbered else None,
        file_sequence_number=draw(LONGS) if numbered and status is not EntryStatus.ADDED else None,
        data_file=draw(data_files()),
    )


def simple(number: int, **changes: Any) -> ManifestEntry:
    """An added data file of an unpartitioned table."""
    fields: dict[str, Any] = {
        "file_path": f"s3://bucket/table/data/{number:05}.parquet",
        "file_format": FileFormat.PARQUET,
        "record_count": 10,
        "file_size_in_bytes": 1000,
        "value_counts": {1: 10, 2: 1000},
        "lower_bounds": {1: struct.pack("<q", number)},
        "upper_bounds": {1: struct.pack("<q", number + 1)},
    }
    names = ("status", "snapshot_id", "sequence_number", "file_sequence_number")
    of_entry = {name: changes.pop(name) for name in names if name in changes}
    content = changes.get("content", FileContent.DATA)
    data_file = DataFile(**{**fields, **changes, "content": content})
    return ManifestEntry(**{"status": EntryStatus.ADDED, **of_entry, "data_file": data_file})


def all_columns(manifest: Manifest) -> ManifestColumns:
    """The columns of all entries of a manifest together, with inherited values."""
    batches = list(decoded_batches(manifest))
    row_id = None if manifest.manifest_file is None else manifest.manifest_file.first_row_id
    run = EntryRun(manifest, 0, sum(batch.length for batch in batches), row_id)
    return ManifestColumns((run,), batches)

"""The kernel that clears manifest entries clears none that a rule finds fault with."""

from __future__ import annotations

import math
import struct
import uuid
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from spec_ref import json_document
from spec_ref.errors import Violation
from spec_ref.findings import Finding, Tally
from spec_ref.formats.avro_container import write_container
from spec_ref.formats.avro_rows import RowWriter, struct_of
from spec_ref.formats.avro_schema import schema_json
from spec_ref.formats.avro_types import from_json
from spec_ref.formats.avro_values import encoder
from spec_ref.manifests import DataFile, EntryStatus, FileContent, FileFormat, ManifestEntry, read_manifest
from spec_ref.manifests.columns import column_batches
from spec_ref.manifests.rules import Context
from spec_ref.manifests.rules_columnar import entry_findings, entry_problems, signed_order
from spec_ref.manifests.writer import RECORD_NAME, RECORD_NAMES, header
from spec_ref.partitioning.spec import UNPARTITIONED
from spec_ref.schemas import types as iceberg
from spec_ref.schemas.schema import Schema
from spec_ref.snapshots.manifest_list import NO_SYNC, ManifestContent
from spec_ref.versions import V1, V2, V3, FormatVersion

TYPES = (
    iceberg.LONG, iceberg.INT, iceberg.DOUBLE, iceberg.FLOAT, iceberg.STRING, iceberg.BINARY, iceberg.UUID,
    iceberg.BOOLEAN, iceberg.TIMESTAMP, iceberg.DATE, iceberg.DecimalType(9, 2), iceberg.FixedType(3), iceberg.TIME,
)  # fmt: skip
SCHEMA = Schema(tuple(iceberg.NestedField(n, f"c{n}", False, type_) for n, type_ in enumerate(TYPES, 1)))
BY_ID = {column.id: column.type for column in SCHEMA.columns()}

IDS = st.integers(1, len(TYPES) + 1)
COUNTS = st.none() | st.dictionaries(IDS, st.integers(-1, 5), max_size=4)
BOUND = (
    st.binary(max_size=9)
    | st.integers(-3, 3).map(lambda value: struct.pack("<q", value))
    | st.integers(-3, 3).map(lambda value: struct.pack("<i", value))
    | st.sampled_from([-0.0, 0.0, 1.5, math.nan, math.inf]).map(lambda value: struct.pack("<d", value))
    | st.sampled_from([1.5, math.nan]).map(lambda value: struct.pack("<f", value))
    | st.text(max_size=12).map(str.encode)
    | st.sampled_from(
        [
            b"the same beginning",
            b"the same beginninga",
            b"x" * 70,
            b"x" * 69 + b"w",
            b"x" * 64,
            b"\xff" * 16,
            b"\x00" * 16,
            b"\x01",
            b"abc",
            b"ab\0",
        ]
    )
)
BOUNDS = st.none() | st.dictionaries(IDS, BOUND, max_size=5)
NUMBERS = st.none() | st.integers(0, 3)


@st.composite
def entries(draw: st.DrawFn) -> ManifestEntry:
    """Entries of every kind; many break a rule, and most break none."""
    tame = draw(st.booleans())
    data_file = DataFile(
        content=FileContent.DATA if tame else draw(st.sampled_from(FileContent)),
        file_path=draw(st.sampled_from(["file:/a", "s3://b/c"] if tame else ["file:/a", "/no/scheme", "é:/ü"])),
        file_format=FileFormat.PARQUET if tame else draw(st.sampled_from(FileFormat)),
        partition={},
        record_count=draw(st.integers(0 if tame else -1, 4)),
        file_size_in_bytes=draw(st.integers(0 if tame else -1, 4)),
        column_sizes=draw(COUNTS),
        value_counts=draw(COUNTS),
        null_value_counts=draw(COUNTS),
        nan_value_counts=draw(COUNTS),
        lower_bounds=draw(BOUNDS),
        upper_bounds=draw(BOUNDS),
        split_offsets=draw(st.none() | st.lists(st.integers(0, 5), max_size=4).map(tuple)),
        equality_ids=None if tame else draw(st.none() | st.just(()) | st.just((1, 2))),
        sort_order_id=draw(NUMBERS),
        first_row_id=None if tame else draw(NUMBERS),
        referenced_data_file=None if tame else draw(st.none() | st.just("file:/a")),
        content_offset=None if tame else draw(NUMBERS),
        content_size_in_bytes=None if tame else draw(NUMBERS),
    )
    status = EntryStatus.ADDED if tame else draw(st.sampled_from(EntryStatus))
    snapshot_id = 7 if tame else draw(st.none() | st.just(7))
    numbers = (None, None) if tame else (draw(NUMBERS), draw(NUMBERS))
    return ManifestEntry(
        status=status, snapshot_id=snapshot_id, sequence_number=numbers[0], file_sequence_number=numbers[1],
        data_file=data_file,
    )  # fmt: skip


def written(rows: list[ManifestEntry], version: FormatVersion, content: ManifestContent) -> bytes:
    """A manifest of the entries, whatever rules they break, as a schema of v3 can hold them."""
    partition = iceberg.StructType(())
    json = schema_json(struct_of(ManifestEntry, V3, partition), RECORD_NAME, RECORD_NAMES)
    metadata: dict[str, Any] = header(UNPARTITIONED, SCHEMA, version, content)
    metadata["avro.schema"] = json_document.dumps(json)
    row, encode = RowWriter(ManifestEntry, V3, partition), encoder(from_json(json, "MAN001"))
    payload = bytearray()
    for entry in rows:
        encode(row(entry), payload)
    blocks = [(len(rows), bytes(payload))] if rows else []
    return write_container(metadata, blocks, codec="null", sync=NO_SYNC)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(entries(), max_size=40),
    st.sampled_from([V1, V2, V3]),
    st.sampled_from(ManifestContent),
)
def test_columns_and_objects_find_the_same(
    rows: list[ManifestEntry], version: FormatVersion, content: ManifestContent
) -> None:
    _same(rows, version, content)


@settings(max_examples=15, deadline=None)
@given(st.lists(entries(), min_size=1, max_size=6), st.sampled_from([V2, V3]))
def test_columns_and_objects_find_the_same_in_lanes(rows: list[ManifestEntry], version: FormatVersion) -> None:
    _same(rows * 20, version, ManifestContent.DATA)


def _same(rows: list[ManifestEntry], version: FormatVersion, content: ManifestContent) -> None:
    manifest = read_manifest(written(rows, version, content))
    context = Context(version, content)
    by_objects = Tally()
    for number, entry in enumerate(rows):
        for problem, severity in entry_problems(entry, context, BY_ID):
            placed = Violation(
                requirement=problem.requirement, message=problem.message, path=f"/{number}{problem.path}",
                found=problem.found, expected=problem.expected, format_version=problem.format_version,
            )  # fmt: skip
            by_objects.add([Finding(placed, severity)])
    by_columns = Tally()
    for columns in column_batches(manifest):
        by_columns.add(entry_findings(columns, context, BY_ID))
    assert by_columns.findings() == by_objects.findings()


def test_uuids_are_tolerated_in_the_order_of_java() -> None:
    low, high = uuid.UUID(int=1), uuid.UUID(int=(1 << 128) - 1)
    assert signed_order(iceberg.UUID, high, low, is_lower=True)
    assert not signed_order(iceberg.UUID, low, high, is_lower=True)
    assert not signed_order(iceberg.LONG, 1, 2, is_lower=True)

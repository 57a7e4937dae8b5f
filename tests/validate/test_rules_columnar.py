"""The kernel that passes manifest entries passes none that violates a rule."""

from __future__ import annotations

import math
import struct
import tracemalloc
import uuid
from typing import Any

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spec_ref.avro_mapping.row_writer import RowWriter
from spec_ref.avro_mapping.rows import record_struct
from spec_ref.avro_mapping.schema import schema_json
from spec_ref.checks import to_finding
from spec_ref.checks.findings import Tally
from spec_ref.columnar.manifests.entry_columns import column_batches
from spec_ref.columnar.manifests.rules import entry_findings
from spec_ref.core.records import evolve
from spec_ref.core.versions import V1, V2, V3, FormatVersion
from spec_ref.data_types import types as iceberg
from spec_ref.encodings.avro.container import write_container
from spec_ref.encodings.avro.types import from_json
from spec_ref.encodings.avro.values_writer import encoder
from spec_ref.json import documents
from spec_ref.manifest_lists.manifest_file import ManifestContent
from spec_ref.manifest_lists.writer import FIXED_SYNC_MARKER
from spec_ref.manifests import DataFile, EntryStatus, FileContent, FileFormat, ManifestEntry, read_manifest
from spec_ref.manifests.entry_problems import entry_problems, signed_order
from spec_ref.manifests.rules import EntryContext
from spec_ref.manifests.writer import RECORD_NAME, RECORD_NAMES, build_header
from spec_ref.partitioning.spec import UNPARTITIONED
from spec_ref.schemas.schema import Schema

TYPES = (
    iceberg.LONG,
    iceberg.INT,
    iceberg.DOUBLE,
    iceberg.FLOAT,
    iceberg.STRING,
    iceberg.BINARY,
    iceberg.UUID,
    iceberg.BOOLEAN,
    iceberg.TIMESTAMP,
    iceberg.DATE,
    iceberg.DecimalType(9, 2),
    iceberg.FixedType(3),
    iceberg.TIME,
)
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
PATHS = ["file:/a", "/no/scheme", "é:/ü", "/a/x=10:00"]


@st.composite
def entries(draw: st.DrawFn) -> ManifestEntry:
    """Entries of every kind; many break a rule, and most break none."""
    tame = draw(st.booleans())
    data_file = DataFile(
        content=FileContent.DATA if tame else draw(st.sampled_from(FileContent)),
        file_path=draw(st.sampled_from(["file:/a", "s3://b/c"] if tame else PATHS)),
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
        status=status,
        snapshot_id=snapshot_id,
        sequence_number=numbers[0],
        file_sequence_number=numbers[1],
        data_file=data_file,
    )


def written(rows: list[ManifestEntry], version: FormatVersion, content: ManifestContent) -> bytes:
    """A manifest of the entries, whatever rules they break, as a schema of v3 can hold them."""
    partition = iceberg.StructType(())
    json = schema_json(record_struct(ManifestEntry, V3, partition), RECORD_NAME, RECORD_NAMES)
    metadata: dict[str, Any] = build_header(UNPARTITIONED, SCHEMA, version, content)
    metadata["avro.schema"] = documents.dumps(json)
    row, encode = RowWriter(ManifestEntry, V3, partition), encoder(from_json(json, "MAN001"))
    payload = bytearray()
    for entry in rows:
        encode(row(entry), payload)
    blocks = [(len(rows), bytes(payload))] if rows else []
    return write_container(metadata, blocks, codec="null", sync=FIXED_SYNC_MARKER)


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
    context = EntryContext(version, content)
    by_objects = Tally()
    for number, entry in enumerate(rows):
        for problem in entry_problems(entry, context, BY_ID):
            by_objects.add([to_finding(attrs.evolve(problem, path=f"/{number}{problem.path}"))])
    for whole in (False, True):
        by_columns = Tally()
        for columns in column_batches(manifest, eager=whole):
            by_columns.add(entry_findings(columns, context, BY_ID))
        assert by_columns.findings() == by_objects.findings()


def test_uuids_are_tolerated_in_the_order_of_java() -> None:
    low, high = uuid.UUID(int=1), uuid.UUID(int=(1 << 128) - 1)
    assert signed_order(iceberg.UUID, high, low, is_lower=True)
    assert not signed_order(iceberg.UUID, low, high, is_lower=True)
    assert not signed_order(iceberg.LONG, 1, 2, is_lower=True)


CLEAN = ManifestEntry(
    status=EntryStatus.ADDED,
    snapshot_id=7,
    data_file=DataFile(
        file_path="file:/a",
        file_format=FileFormat.PARQUET,
        partition={},
        record_count=3,
        file_size_in_bytes=9,
        column_sizes={1: 5},
        value_counts={1: 3, 5: 3},
        null_value_counts={1: 0, 5: 1},
        nan_value_counts={3: 0},
        lower_bounds={1: struct.pack("<q", 1), 5: b"the same beginning, a"},
        upper_bounds={1: struct.pack("<q", 2), 5: b"the same beginning, b"},
        split_offsets=(4, 9),
    ),
)
DELETES = evolve(CLEAN, data_file=evolve(CLEAN.data_file, content=FileContent.POSITION_DELETES))


def _file(**changes: Any) -> ManifestEntry:
    return evolve(CLEAN, data_file=evolve(CLEAN.data_file, **changes))


ONE_FAULT: dict[str, ManifestEntry] = {
    "deleted without snapshot": evolve(
        CLEAN, status=EntryStatus.DELETED, snapshot_id=None, sequence_number=1, file_sequence_number=1
    ),
    "existing without number": evolve(CLEAN, status=EntryStatus.EXISTING, file_sequence_number=1),
    "existing without file number": evolve(CLEAN, status=EntryStatus.EXISTING, sequence_number=1),
    "added with file number": evolve(CLEAN, file_sequence_number=1),
    "other content": DELETES,
    "puffin": _file(file_format=FileFormat.PUFFIN),
    "no scheme": _file(file_path="/a"),
    "negative count": _file(record_count=-1),
    "negative size": _file(file_size_in_bytes=-1),
    "negative column size": _file(column_sizes={1: -5}),
    "negative values": _file(value_counts={2: -1}),
    "negative nulls": _file(null_value_counts={2: -1}),
    "negative nans": _file(nan_value_counts={3: -1}),
    "more nulls than values": _file(null_value_counts={5: 4}),
    "offsets that descend": _file(split_offsets=(9, 4)),
    "offsets that repeat": _file(split_offsets=(4, 4)),
    "no offsets": _file(split_offsets=()),
    "equality ids": _file(equality_ids=(1,)),
    "row id of an added file": _file(first_row_id=5),
    "offset without size": _file(content_offset=4),
    "bound that is cut": _file(lower_bounds={1: b"\1"}),
    "bound that is no text": _file(upper_bounds={5: b"\xff"}),
    "long bound that is no text": _file(upper_bounds={5: b"x" * 80 + b"\xff"}),
    "bound that is NaN": _file(lower_bounds={3: struct.pack("<d", math.nan)}),
    "float bound that is NaN": _file(lower_bounds={4: struct.pack("<f", math.nan)}),
    "bound that is no boolean": _file(lower_bounds={8: b"\2\2"}),
    "bound of a fixed": _file(lower_bounds={12: b"ab"}),
    "bound of a uuid": _file(lower_bounds={7: b"ab"}),
    "bound of a time": _file(lower_bounds={13: struct.pack("<q", 1 << 60)}),
    "bounds crossed": _file(lower_bounds={1: struct.pack("<q", 3)}),
    "bounds of text crossed": _file(lower_bounds={5: b"the same beginning, c"}),
    "bounds of text crossed by length": _file(lower_bounds={5: b"the same beginning, b\0"}),
    "bounds of long text crossed": _file(lower_bounds={5: b"x" * 70 + b"b"}, upper_bounds={5: b"x" * 70 + b"a"}),
    "bounds of doubles crossed": _file(lower_bounds={3: struct.pack("<d", 1)}, upper_bounds={3: struct.pack("<d", -1)}),
}


@pytest.mark.parametrize("name", ONE_FAULT)
@pytest.mark.parametrize("others", [0, 70])
def test_one_fault_among_clean_entries_is_found(name: str, others: int) -> None:
    rows = [CLEAN] * others + [ONE_FAULT[name]] + [CLEAN] * others
    manifest = read_manifest(written(rows, V3, ManifestContent.DATA))
    found = Tally()
    for columns in column_batches(manifest):
        found.add(entry_findings(columns, EntryContext(V3, ManifestContent.DATA), BY_ID))
    assert found.findings()
    assert {finding.path.split("/")[1] for finding in found.findings()} == {str(others)}


def test_a_null_snapshot_id_of_v1_is_found() -> None:
    rows = [evolve(CLEAN, snapshot_id=None)]
    (columns,) = column_batches(read_manifest(written(rows, V1, ManifestContent.DATA)))
    found = [one.requirement for one in entry_findings(columns, EntryContext(V1, ManifestContent.DATA), BY_ID)]
    assert found == ["MAN012"]


@pytest.mark.parametrize(
    ("changes", "version"),
    [
        ({"sort_order_id": 3}, V2),
        ({"first_row_id": 3}, V3),
        ({"file_format": FileFormat.PUFFIN, "content_offset": 4, "content_size_in_bytes": 4}, V3),
    ],
)
def test_one_fault_of_a_delete_file_is_found(changes: dict[str, Any], version: FormatVersion) -> None:
    rows = [DELETES] * 40 + [evolve(DELETES, data_file=evolve(DELETES.data_file, **changes))]
    (columns,) = column_batches(read_manifest(written(rows, version, ManifestContent.DELETES)))
    found = [
        one.path.split("/")[1] for one in entry_findings(columns, EntryContext(version, ManifestContent.DELETES), BY_ID)
    ]
    assert found
    assert set(found) == {"40"}


@pytest.mark.parametrize("whole", [False, True])
def test_statistics_of_very_many_columns_in_one_entry_cost_as_much_as_they_are_long(whole: bool) -> None:
    wide = dict.fromkeys(range(1, 20_001), 5)
    rows = [CLEAN] * 2000
    file = evolve(CLEAN.data_file, value_counts=wide, null_value_counts={**wide, 17: 6})
    rows[1000] = evolve(CLEAN, data_file=file)
    manifest = read_manifest(written(rows, V3, ManifestContent.DATA))
    tracemalloc.start()
    try:
        (columns,) = column_batches(manifest, eager=whole)
        (found,) = entry_findings(columns, EntryContext(V3, ManifestContent.DATA), BY_ID)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert found.violation.path.startswith("/1000/data_file")
    assert most < 100 << 20  # an array of all entries for each column would take 320 MB

"""Tables of many data files that do not exist: manifests with statistics of 20 columns, to plan and decode.

The identity partition has 1000 values, clustered; the first column ascends from file to file. All files have 1000 rows,
without nulls, and different sizes of columns and bounds. Blocks are as large as Iceberg-Java makes them.
"""

from __future__ import annotations

import json
import struct
import zlib
from pathlib import Path

import numpy as np

from spec_ref.core.versions import V2
from spec_ref.data_types.types import LONG, NestedField
from spec_ref.encodings.avro.container import long_bytes, open_container, write_container
from spec_ref.manifest_lists.manifest_file import FieldSummary, ManifestFile
from spec_ref.manifest_lists.writer import FIXED_SYNC_MARKER, write_manifest_list
from spec_ref.manifests import DataFile, EntryStatus, FileFormat, ManifestEntry, write_manifest
from spec_ref.partitioning.spec import PartitionField, PartitionSpec
from spec_ref.partitioning.transforms import Identity
from spec_ref.schemas.schema import Schema

COLUMNS = 20
PARTITIONS = 1000
FIRST_PARTITION = 100
"""The first partition value: from here on, each value takes two bytes in Avro, so that all entries are equally long."""

FIRST_SIZE = 5000
"""The least size of a column; all of them take two bytes in Avro, too."""

STRIDE = 1000
"""The difference between the values of the first column in successive files."""

SCHEMA = Schema(tuple(NestedField(c, "p" if c > COLUMNS else f"c{c}", False, LONG) for c in range(1, COLUMNS + 2)))  # noqa: FBT003
SPEC = PartitionSpec(0, (PartitionField(source_id=COLUMNS + 1, field_id=1000, name="p", transform=Identity()),))
BLOCK = 90
"""Entries in a block: about 64 kB, as Iceberg-Java writes them."""


class Template:
    """The bytes of an entry, and the positions of its path, partition, column sizes and bounds in them."""

    def __init__(self, level: int) -> None:
        """Encode one entry; ``level`` is the compression level."""
        self.level = level
        ids = range(1, COLUMNS + 1)
        marks = {(side, c): struct.pack("<q", 0x1122334455000000 + 256 * c + side) for side in (0, 1) for c in ids}
        self.prefix = "file:///warehouse/db/t/data/f-"
        path = f"{self.prefix}00000000-1.parquet"
        entry = ManifestEntry(
            status=EntryStatus.ADDED,
            data_file=DataFile(
                file_path=path,
                file_format=FileFormat.PARQUET,
                partition={1000: 4097},
                record_count=1000,
                file_size_in_bytes=1_000_000,
                column_sizes={c: FIRST_SIZE + c for c in ids},
                value_counts=dict.fromkeys(ids, 1000),
                null_value_counts=dict.fromkeys(ids, 0),
                lower_bounds={c: marks[0, c] for c in ids},
                upper_bounds={c: marks[1, c] for c in ids},
                split_offsets=(4,),
                sort_order_id=0,
            ),
        )
        self.container = open_container(write_manifest([entry], SPEC, SCHEMA, V2), "MAN001")
        self.bytes = self.container.payload(0)
        self.number = self.bytes.index(path.encode()) + len(self.prefix)
        self.partition = self.bytes.index(b"\x82\x40")  # 4097 in Avro's encoding
        self.sizes = {c: self.bytes.index(long_bytes(FIRST_SIZE + c)) for c in ids}
        self.bounds = {key: self.bytes.index(mark) for key, mark in marks.items()}

    def manifest(self, first: int, count: int, total: int) -> bytes:
        """Encode a manifest of a range of files."""
        rows = np.tile(np.frombuffer(self.bytes, np.uint8), (count, 1))
        numbers = np.arange(first, first + count)
        for digit in range(8):
            rows[:, self.number + digit] = ord("0") + numbers // 10 ** (7 - digit) % 10
        zigzag = (FIRST_PARTITION + numbers * PARTITIONS // total) * 2
        rows[:, self.partition], rows[:, self.partition + 1] = 0x80 | zigzag & 0x7F, zigzag >> 7
        for column, at in self.sizes.items():
            zigzag = (FIRST_SIZE + numbers * column % 1000) * 2
            rows[:, at], rows[:, at + 1] = 0x80 | zigzag & 0x7F, zigzag >> 7
        for (side, column), at in self.bounds.items():
            low = numbers * STRIDE if column == 1 else numbers * 7919 * column % 1000003
            rows[:, at : at + 8] = (low + 999 * side).astype("<i8")[:, None].view(np.uint8)
        blocks = [(len(rows[at : at + BLOCK]), rows[at : at + BLOCK].tobytes()) for at in range(0, count, BLOCK)]
        kept = {key: value for key, value in self.container.metadata.items() if key != "avro.codec"}
        out = [write_container(kept, (), codec="deflate", sync=FIXED_SYNC_MARKER)]
        for length, payload in blocks:
            stream = zlib.compressobj(self.level, zlib.DEFLATED, -15)
            packed = stream.compress(payload) + stream.flush()
            out += [long_bytes(length), long_bytes(len(packed)), packed, FIXED_SYNC_MARKER]
        return b"".join(out)


def make_table(directory: Path, files: int, manifests: int, level: int = 6) -> Path:
    """Write a table and return its metadata file."""
    template, per = Template(level), files // manifests
    listed = []
    for number in range(manifests):
        path = directory / f"m{number}.avro"
        path.write_bytes(template.manifest(number * per, per, files))
        low, high = (FIRST_PARTITION + place * PARTITIONS // files for place in (number * per, (number + 1) * per - 1))
        summary = FieldSummary(
            contains_null=False,
            contains_nan=False,
            lower_bound=struct.pack("<q", low),
            upper_bound=struct.pack("<q", high),
        )
        listed.append(
            ManifestFile(
                manifest_path=f"file://{path}",
                manifest_length=path.stat().st_size,
                partition_spec_id=0,
                sequence_number=1,
                min_sequence_number=1,
                added_snapshot_id=7,
                added_files_count=per,
                existing_files_count=0,
                deleted_files_count=0,
                added_rows_count=1000 * per,
                existing_rows_count=0,
                deleted_rows_count=0,
                partitions=(summary,),
            )
        )
    snapshots = directory / "snap-7.avro"
    snapshots.write_bytes(write_manifest_list(listed, V2, snapshot_id=7, sequence_number=1))
    fields = [{"id": f.id, "name": f.name, "required": False, "type": "long"} for f in SCHEMA.fields]
    spec = {"source-id": COLUMNS + 1, "field-id": 1000, "name": "p", "transform": "identity"}
    metadata = {
        "format-version": 2,
        "table-uuid": "8f1c1d0e-2f4b-4d53-9c1e-0c1f5e6a7b80",
        "location": f"file://{directory}",
        "last-sequence-number": 1,
        "last-updated-ms": 1700000000000,
        "last-column-id": COLUMNS + 1,
        "schemas": [{"type": "struct", "schema-id": 0, "fields": fields}],
        "current-schema-id": 0,
        "partition-specs": [{"spec-id": 0, "fields": [spec]}],
        "default-spec-id": 0,
        "last-partition-id": 1000,
        "sort-orders": [{"order-id": 0, "fields": []}],
        "default-sort-order-id": 0,
        "properties": {},
        "current-snapshot-id": 7,
        "refs": {"main": {"snapshot-id": 7, "type": "branch"}},
        "snapshots": [
            {
                "snapshot-id": 7,
                "sequence-number": 1,
                "timestamp-ms": 1700000000000,
                "schema-id": 0,
                "manifest-list": f"file://{snapshots}",
                "summary": {"operation": "append"},
            }
        ],
        "snapshot-log": [{"snapshot-id": 7, "timestamp-ms": 1700000000000}],
    }
    place = directory / "v1.metadata.json"
    place.write_text(json.dumps(metadata))
    return place

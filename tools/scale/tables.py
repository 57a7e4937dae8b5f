"""The tables that are measured.

Tables of many entries have real manifests with statistics of 20 columns; the data files that they list do not exist.
The manifests compress better than those of real tables, because their statistics are similar. Decompressed, they have
the same size.

Tables of many rows have 20 real Parquet files of a million rows each: an ascending bigint and an int, compressed with
zstd. Larger tables list hard links to these files, each with a separate name and entry, so that every row is read,
decoded and checked as often as it is listed. The disk stores each row only once, and it stays in the page cache. One
row in a hundred is deleted, at different positions in each file, by a position delete file for every 20 data files or
by a deletion vector for every data file.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pyarrow as pa
from attrs import frozen

from spec_ref.core.records import evolve
from spec_ref.core.versions import V2, V3
from spec_ref.data_files.parquet_metrics import parquet_metrics
from spec_ref.data_types.types import INT, LONG, NestedField
from spec_ref.deletes.position_deletes import POSITION_DELETE_FIELDS
from spec_ref.manifests.data_file import DataFile, FileContent, FileFormat
from tools.bench.entries_table import make_table
from tools.table_kit import TableKit, parquet_bytes

ENTRIES_A_MANIFEST = 10_000
FIELDS = (NestedField(1, "id", required=True, type=LONG), NestedField(2, "k", required=False, type=INT))
ROWS_A_FILE = 1_000_000
REAL_FILES = 20
FILES_A_DELETE_FILE = 20
DELETED = 100
"""The number of rows for each deleted row."""


def entries(folder: Path, count: int) -> str:
    """Make a table with the given number of manifest entries; return its metadata file."""
    place = folder / f"entries-{count}"
    place.mkdir(parents=True)
    return str(make_table(place, count, max(1, count // ENTRIES_A_MANIFEST), level=1))


@frozen
class RowTables:
    """Two tables of the same data files."""

    positions: str
    """The metadata file of the table with position deletes."""

    vectors: str
    files: int


def rows(folder: Path, count: int) -> RowTables:
    """Make the tables with the given number of rows."""
    each = min(count, ROWS_A_FILE)
    real = [_real(folder, each, number) for number in range(min(count // each, REAL_FILES))]
    files = [_link_file(folder, real[number % len(real)], count, number) for number in range(count // each)]
    kits = {
        name: TableKit(f"file://{folder}/{name}-{count}", FIELDS, version=version)
        for name, version in (("positions", V2), ("vectors", V3))
    }
    for kit in kits.values():
        kit.commit(*files)
    kit = kits["positions"]
    groups = [files[at : at + FILES_A_DELETE_FILE] for at in range(0, len(files), FILES_A_DELETE_FILE)]
    kit.commit(*(_position_deletes(kit, group, at * FILES_A_DELETE_FILE) for at, group in enumerate(groups)))
    kit = kits["vectors"]
    kit.commit(*(kit.deletion_vector(file, _deleted_positions(each, at).tolist()) for at, file in enumerate(files)))
    return RowTables(kits["positions"].table().metadata_location, kit.table().metadata_location, len(files))


def left(count: int) -> int:
    """Return the number of rows that are not deleted."""
    each = min(count, ROWS_A_FILE)
    return count - count // each * (each // DELETED)


def _real(folder: Path, each: int, number: int) -> DataFile:
    path = folder / f"real-{each}-{number}.parquet"
    ids = np.arange(number * each, (number + 1) * each, dtype=np.int64)
    table = pa.table({"id": ids, "k": (ids * 7919 % 1000).astype(np.int32)})
    content = path.read_bytes() if path.exists() else parquet_bytes(FIELDS, table, compression="zstd")
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    metrics = parquet_metrics(content)
    return DataFile(
        file_path=str(path),
        file_format=FileFormat.PARQUET,
        record_count=metrics.record_count,
        file_size_in_bytes=len(content),
        column_sizes=metrics.column_sizes,
        value_counts=metrics.value_counts,
        null_value_counts=metrics.null_value_counts,
        nan_value_counts=metrics.nan_value_counts,
        lower_bounds=metrics.lower_bounds,
        upper_bounds=metrics.upper_bounds,
        split_offsets=metrics.split_offsets,
    )


def _link_file(folder: Path, file: DataFile, count: int, number: int) -> DataFile:
    """Link a file under a new name; return its entry."""
    path = folder / f"data-{count}" / f"{number:05d}.parquet"
    path.parent.mkdir(exist_ok=True)
    os.link(file.file_path, path)
    return evolve(file, file_path=f"file://{path}")


def _deleted_positions(each: int, number: int) -> np.ndarray:
    """Return the deleted positions of a file: one in each hundred, at a place that depends on the file."""
    return np.arange(each // DELETED, dtype=np.int64) * DELETED + number % DELETED


def _position_deletes(kit: TableKit, files: list[DataFile], first: int) -> DataFile:
    ordered = sorted((file.file_path, file.record_count, first + at) for at, file in enumerate(files))
    positions = [_deleted_positions(each, number) for _, each, number in ordered]
    names = np.repeat(np.arange(len(ordered)), [len(one) for one in positions])
    paths = pa.array([path for path, _, _ in ordered]).take(names)
    table = pa.table([paths, pa.array(np.concatenate(positions))], names=[one.name for one in POSITION_DELETE_FIELDS])
    return kit.file(table, fields=POSITION_DELETE_FIELDS, content=FileContent.POSITION_DELETES)

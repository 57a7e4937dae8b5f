"""Facts about manifests for the rules over several files: entries, references to data files, and row ids."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from conformance.core.lazy_imports import lazy_imports
from conformance.validator.check_results import Facts
from conformance.validator.context import Context, ManifestTask
from spec_ref.columnar.hashing import hash_array
from spec_ref.columnar.manifests.entry_columns import ManifestColumns
from spec_ref.columnar.manifests.nullable_arrays import Nullable
from spec_ref.columnar.scan_planning.delete_scope import partition_numbers
from spec_ref.data_types.types import STRING
from spec_ref.manifests.data_file import FileContent

with lazy_imports():
    import hashlib  # only to compare versions

_FILES: list[tuple[str, pa.DataType]] = [
    ("key", pa.string()),
    ("manifest", pa.int32()),
    ("entry", pa.int64()),
    ("status", pa.int8()),
    ("content", pa.int8()),
    ("snapshot", pa.int64()),
    ("sequence", pa.int64()),
    ("records", pa.int64()),
    ("partition", pa.int64()),
    ("row_id", pa.int64()),
    ("file_sequence", pa.int64()),
    ("details", pa.int64()),
]
FILES = pa.schema(_FILES)
"""An entry; the key is the path, and for a deletion vector also its offset.

``partition`` encodes the partition spec and values; ``sequence`` is the data sequence number, ``file_sequence`` the
file sequence number, ``row_id`` the first row id; ``details`` encodes the other fields of the entry, and is null
unless versions are compared."""

REFERENCES = pa.schema([*_FILES, ("vector", pa.bool_())])
"""A live delete file for one data file; the key is the path of the data file."""

_ROW_IDS: list[tuple[str, pa.DataType]] = [
    ("first", pa.int64()),
    ("end", pa.int64()),
    ("manifest", pa.int32()),
    ("entry", pa.int64()),
    ("key", pa.string()),
]
ROW_IDS = pa.schema(_ROW_IDS)
"""The row ids of a live data file."""

GREATEST_ROW_ID = 1 << 62
"""Only invalid tables have row ids of this value or more."""

ROW_RANGES = 1 << 24
"""The approximate size of ranges of row ids that are compared together, unless the table has few."""


def entry_facts(context: Context, task: ManifestTask, columns: ManifestColumns) -> Iterator[Facts]:
    """Yield the facts of some entries of a manifest, divided into buckets that are compared separately.

    Args:
        context: the table.
        task: the manifest.
        columns: the entries.
    """
    count = len(columns)
    paths = columns.paths
    if None in paths:
        paths = [path or "" for path in paths]
    offsets = columns.content_offset
    keys = paths
    if offsets.valid.any():
        keys = [f"{path}#{at}" if at is not None else path for path, at in zip(paths, offsets.to_list(), strict=True)]
    partition = partition_numbers(columns)
    sequence, snapshot = columns.sequence_number, columns.snapshot_id
    arrays: dict[str, Any] = {
        "key": pa.array(keys, pa.string()),
        "manifest": np.full(count, task.number, np.int32),
        "entry": np.arange(columns.first, columns.first + count, dtype=np.int64),
        "status": columns.status,
        "content": columns.content,
        "snapshot": _nullable(snapshot),
        "sequence": _nullable(sequence),
        "records": columns.record_count,
        "partition": partition,
        "row_id": _nullable(columns.first_row_id),
        "file_sequence": _nullable(columns.file_sequence_number),
        "details": pa.array(_hash_details(columns)) if context.compares_versions else pa.nulls(count, pa.int64()),
    }
    batch = pa.RecordBatch.from_arrays([_array(arrays[field.name], field.type) for field in FILES], schema=FILES)
    of_path = batch["key"] if keys is paths else pa.array(paths, pa.string())
    yield from _split(batch, "files", _buckets(of_path, context.buckets))
    if not task.checked:
        return
    if (columns.content == FileContent.POSITION_DELETES).any():
        yield from _references(context, columns, batch, offsets.valid)
    row_ids = columns.first_row_id
    holders = np.nonzero(row_ids.valid & columns.live)[0]
    if len(holders):
        firsts = row_ids.values[holders]
        ranges = pa.RecordBatch.from_arrays(
            [
                pa.array(firsts),
                pa.array(firsts + columns.record_count[holders]),
                batch["manifest"].take(holders),
                batch["entry"].take(holders),
                batch["key"].take(holders),
            ],
            schema=ROW_IDS,
        )
        yield from _split_ranges(context, ranges)


def _indices(rows: npt.NDArray[Any]) -> Any:
    return pa.array(rows, pa.int64())


def _array(values: Any, type_: pa.DataType) -> Any:
    return values if isinstance(values, pa.Array) else pa.array(values, type_)


def _references(
    context: Context, columns: ManifestColumns, batch: pa.RecordBatch, vectors: npt.NDArray[np.bool_]
) -> Iterator[Facts]:
    referenced = columns.texts("referenced_data_file")
    rows = np.array([n for n, path in enumerate(referenced) if path is not None and columns.live[n]], np.intp)
    if not len(rows):
        return
    kept = batch.take(_indices(rows))
    paths = [referenced[row] for row in rows.tolist()]
    arrays = [pa.array(paths, pa.string()), *kept.columns[1:], pa.array(vectors[rows])]
    made = pa.RecordBatch.from_arrays(arrays, schema=REFERENCES)
    yield from _split(made, "references", _buckets(made[0], context.buckets))


def _nullable(numbers: Nullable) -> Any:
    return pa.array(numbers.values, mask=~numbers.valid)


_DETAILS = (
    "content",
    "file_format",
    "record_count",
    "file_size_in_bytes",
    "column_sizes",
    "value_counts",
    "null_value_counts",
    "nan_value_counts",
    "lower_bounds",
    "upper_bounds",
    "key_metadata",
    "split_offsets",
    "equality_ids",
    "sort_order_id",
    "referenced_data_file",
    "content_offset",
    "content_size_in_bytes",
)


def _hash_details(columns: ManifestColumns) -> npt.NDArray[np.int64]:
    """Return a hash of the description of each file, independent of the order of its maps."""
    made, digest = np.zeros(len(columns), np.int64), hashlib.blake2b
    for row, entry in enumerate(columns.entries(np.arange(len(columns)))):
        values = (getattr(entry.data_file, name) for name in _DETAILS)
        text = repr([sorted(value.items()) if isinstance(value, Mapping) else value or None for value in values])
        made[row] = int.from_bytes(digest(text.encode(), digest_size=8).digest(), "little", signed=True)
    return made


def _buckets(paths: Any, buckets: int) -> npt.NDArray[np.int64]:
    if buckets == 1:
        return np.zeros(len(paths), np.int64)
    return np.asarray(hash_array(STRING, paths)).astype(np.int64) % buckets


def _split(batch: pa.RecordBatch, kind: str, buckets: npt.NDArray[np.int64]) -> Iterator[Facts]:
    if not buckets.any():
        yield Facts(0, kind, batch)
        return
    for bucket in np.unique(buckets).tolist():
        yield Facts(bucket, kind, batch.take(_indices(np.nonzero(buckets == bucket)[0])))


def row_bucket_size(context: Context) -> int:
    """Return how many row ids are compared together."""
    return min(max((context.metadata.next_row_id or 0) // context.buckets + 1, ROW_RANGES), GREATEST_ROW_ID)


def _split_ranges(context: Context, ranges: pa.RecordBatch) -> Iterator[Facts]:
    """Yield each range once for every bucket that it overlaps; ids beyond those of the table are in the last bucket."""
    size, last = row_bucket_size(context), context.buckets - 1
    first = np.clip(ranges["first"].to_numpy() // size, 0, last)
    end = np.clip((ranges["end"].to_numpy() - 1) // size, first, last)
    for bucket in range(int(first.min()), int(end.max()) + 1):
        rows = np.nonzero((first <= bucket) & (bucket <= end))[0]
        if len(rows):
            yield Facts(bucket, "row-ids", ranges.take(_indices(rows)))

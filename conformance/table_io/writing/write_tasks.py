"""Writing rows: a plan and Arrow batches become files and their entries.

A batch is converted to the schema and split by partition, and each partition buffers rows until they fill a row group.
Threads then sort and encode the rows and compute metrics, each for some partitions.
"""

from __future__ import annotations

import io
import itertools
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from conformance.core.counts import plural
from conformance.core.failures import UsageError
from conformance.table_io import encryption
from conformance.table_io.writing.files import NewFiles, remove_on_failure, sync_file
from conformance.table_io.writing.metrics import MetricsCollector, RowMetricsCollector
from conformance.table_io.writing.plans import WritePlan
from spec_ref.columnar.expressions.evaluation import evaluate_array
from spec_ref.columnar.partitioning.split_by_partition import split_by_partition
from spec_ref.columnar.schemas.arrow_columns import arrow_field
from spec_ref.columnar.schemas.column_projection import arrow_values
from spec_ref.columnar.schemas.written_rows import InputRows, compile_input
from spec_ref.columnar.sorting.comparator import sort_batch
from spec_ref.commits.changes import NewFile
from spec_ref.core.errors import Description, spec_error
from spec_ref.data_files.batches import empty_batch
from spec_ref.data_files.writer import open_writer
from spec_ref.data_types.types import NestedField
from spec_ref.data_types.values import value_key
from spec_ref.expressions.bound import BoundPredicate
from spec_ref.manifests.data_file import DataFile, FileContent, FileFormat
from spec_ref.sorting.order import UNSORTED_ID

Rows: TypeAlias = "pa.Table | pa.RecordBatch | pa.RecordBatchReader | Iterable[pa.RecordBatch]"
"""Rows to be written."""

CHUNK_ROWS = 1 << 20
"""The number of rows that are split by partition at once: more rows mean longer runs of each partition."""

CHUNK_BYTES = 128 << 20
GROUP_ROWS = 1 << 20
"""The maximum number of rows of a row group."""

GROUP_BYTES = 128 << 20
"""The maximum number of bytes of a row group, in memory."""

MAX_BUFFERED_BYTES = 384 << 20
"""The maximum number of bytes that all partitions buffer before the largest ones are written."""

MAX_OPEN_FILES = 200
"""The maximum number of partitions with an open file; the files of further partitions are finished after each write."""

MAX_QUEUED = 4
"""The maximum number of queued work items of each thread."""


def to_batches(rows: Rows) -> Iterator[pa.RecordBatch]:
    """Yield the rows as batches, at least one if the rows have a schema."""
    if isinstance(rows, pa.Table):
        listed = rows.to_batches(max_chunksize=CHUNK_ROWS)
        yield from listed or [batch_without_rows(rows.schema)]
    elif isinstance(rows, pa.RecordBatch):
        yield rows
    else:
        yield from rows


def arrow_rows(fields: Sequence[NestedField], rows: Sequence[Mapping[str, Any]]) -> pa.Table:
    """Convert rows from mappings of column names to Python values."""
    if not fields:
        return pa.Table.from_batches([empty_batch(len(rows))])  # arrays of no columns do not show the number of rows
    columns = [arrow_values(field.type, [row[field.name] for row in rows]) for field in fields]
    return pa.Table.from_arrays(
        columns, schema=pa.schema([arrow_field(field).with_nullable(nullable=True) for field in fields])
    )


def batch_without_rows(schema: pa.Schema) -> pa.RecordBatch:
    """Return a batch without rows."""
    return pa.RecordBatch.from_arrays([pa.nulls(0, field.type) for field in schema], schema=schema)


def write_rows(
    plan: WritePlan, rows: Rows, task: str, *, threads: int = 1, matching: BoundPredicate | None = None
) -> tuple[NewFile, ...]:
    """Write rows to new files. This is the task of a write, which can run in any process with access to the files.

    Args:
        plan: the plan of the write.
        rows: the rows; columns are found by name (`spec_ref.columnar.schemas.written_rows`).
        task: a name that is unique among the tasks and attempts of the write; it is in the names of the files.
        threads: how many threads encode files; the rows of one partition are always written by one, in order.
        matching: a predicate that every row must match.

    Returns:
        The entries of the files, to be committed. Without rows there are none.

    Raises:
        SpecError: the schema does not allow a value; the path of the error starts with the number of the row.
        UsageError: a row does not match.
        FileAccessError, OSError: a file cannot be written.
        OrphansLeft: after one of these errors, a file could not be deleted.
    """
    files = NewFiles()
    with remove_on_failure(files):
        return write_to(files, plan, rows, task, threads=threads, matching=matching)


def write_to(
    files: NewFiles, plan: WritePlan, rows: Rows, task: str, *, threads: int = 1, matching: BoundPredicate | None = None
) -> tuple[NewFile, ...]:
    """Write rows like `write_rows`; if this or a later step fails, the caller must delete the files."""
    sink = RowSink(plan, files, task, threads)
    try:
        for batch in to_batches(rows):
            sink.add(batch, matching)
        return sink.finish()
    finally:
        sink.close()


class FileWriter:
    """Writes one file of a plan."""

    _collect: type[MetricsCollector] | type[RowMetricsCollector] = MetricsCollector
    """Computes the metrics of the rows."""

    def __init__(self, plan: WritePlan, partition: Mapping[int, Any], location: str, files: NewFiles) -> None:
        self._plan = plan
        self._partition = partition
        self._location = location
        self._key = None if plan.key_length is None else encryption.new_file_key(plan.key_length)
        parquet = None
        if self._key is not None and plan.file_format is FileFormat.PARQUET:
            parquet = encryption.parquet_encryption_properties(self._key, plan.struct, location)
        self._out = files.open(location)
        self._plain = io.BytesIO() if self._key is not None and parquet is None else None
        """The content of a file that is encrypted when it is complete."""

        try:
            self._rows = open_writer(
                self._plain or self._out,
                plan.struct,
                plan.file_format,
                codec=plan.codec,
                encryption_properties=parquet,
                target_bytes=plan.target_bytes,
            )
        except BaseException:
            self._out.close()
            raise
        self._collected: Any = self._collect(plan.struct, plan.modes)

    def write(self, batch: Any) -> None:
        """Append rows of the plan's schema, an Arrow batch."""
        self._rows.write(batch)
        self._collected.add(batch)

    def size(self) -> int:
        """Return the approximate size of the file in bytes."""
        return self._rows.size()

    def finish(self, **attributes: Any) -> NewFile:
        """Finish the file; return its entry, with additional attributes."""
        layout = self._rows.close()
        key, offsets = self._key, layout.split_offsets
        if key is not None and self._plain is not None:
            data, key = encryption.encrypt_stream(self._plain.getvalue(), key)
            self._out.write(data)
            offsets = None
        size = int(self._out.tell())
        self._out.close()
        sync_file(self._location)
        plan, metrics = self._plan, self._collected.metrics()
        entry = DataFile(
            content=plan.content,
            file_path=self._location,
            file_format=plan.file_format,
            partition=dict(self._partition),
            record_count=metrics.record_count,
            file_size_in_bytes=size,
            column_sizes=layout.column_sizes,
            value_counts=metrics.value_counts,
            null_value_counts=metrics.null_value_counts,
            nan_value_counts=metrics.nan_value_counts,
            lower_bounds=metrics.lower_bounds,
            upper_bounds=metrics.upper_bounds,
            split_offsets=offsets,
            key_metadata=None if key is None else encryption.write_key_metadata(key),
            equality_ids=plan.equality_ids,
            # Position deletes are sorted by path and position, which is not a sort order of the table (DFL029).
            sort_order_id=None if plan.content is FileContent.POSITION_DELETES else plan.order.order_id,
            **attributes,
        )
        return NewFile(entry, plan.spec.spec_id)

    def close(self) -> None:
        """Close the file if it was not finished."""
        if not self._out.closed:
            self._rows.abandon()
        with suppress(Exception):
            self._out.close()


class _Partition:
    """One partition: its buffered rows, and its current file.

    Only the thread that adds rows uses the buffer, and only the thread that writes this partition uses the file.
    """

    def __init__(self, values: Mapping[int, Any], worker: int) -> None:
        self.values = values
        self.worker = worker
        self.pieces: list[pa.RecordBatch] = []
        self.rows = 0
        self.bytes = 0
        self.file: FileWriter | None = None
        self.done: list[NewFile] = []

    def take(self) -> list[pa.RecordBatch]:
        """Remove and return the buffered rows."""
        pieces = self.pieces
        self.pieces, self.rows, self.bytes = [], 0, 0
        return pieces


class RowSink:
    """Writes batches of rows to files."""

    def __init__(self, plan: WritePlan, files: NewFiles, task: str, threads: int = 1) -> None:
        self._plan = plan
        self._files = files
        self._task = task
        self._workers = _Workers(threads)
        self._inputs: list[tuple[pa.Schema, InputRows]] = []
        self._partitions: dict[Any, _Partition] = {}
        self._type = plan.partition_type
        self._numbers = itertools.count()
        self._rows = 0
        self._waiting: list[pa.RecordBatch] = []
        self._waiting_rows = 0
        self._waiting_bytes = 0
        self._bytes = 0
        self._sorts = plan.order.order_id != UNSORTED_ID
        self._group_bytes = min(GROUP_BYTES, plan.target_bytes)

    def add(self, batch: pa.RecordBatch, matching: BoundPredicate | None = None) -> None:
        """Add rows; if a predicate is given, all of them must match it."""
        made = self._input(batch.schema)(batch, self._rows)
        if matching is not None:
            self._check(made, matching)
        self._rows += batch.num_rows
        if not made.num_rows:
            return
        if not made.num_columns:
            raise spec_error(
                "TYP002", "rows without columns cannot be written", found=Description(plural(made.num_rows, "row"))
            )
        self._waiting.append(made)
        self._waiting_rows += made.num_rows
        self._waiting_bytes += made.nbytes
        if self._waiting_rows >= CHUNK_ROWS or self._waiting_bytes >= CHUNK_BYTES:
            self._split()

    def _check(self, rows: pa.RecordBatch, matching: BoundPredicate) -> None:
        matches = np.asarray(evaluate_array(matching, rows).to_numpy(zero_copy_only=False), bool)
        if not matches.all():
            row = self._rows + int(matches.argmin())
            raise UsageError(f"/{row}: a written row does not match the filter of the rows that it replaces")

    def _input(self, schema: pa.Schema) -> InputRows:
        for known, made in self._inputs:
            if known is schema or known.equals(schema):
                return made
        made = compile_input(self._plan.schema.fields, schema)
        self._inputs.append((schema, made))
        return made

    def _split(self) -> None:
        """Split the buffered rows by partition."""
        if not self._waiting:
            return
        joined = _concatenate(self._waiting)
        self._waiting, self._waiting_rows, self._waiting_bytes = [], 0, 0
        groups: Iterable[tuple[Mapping[int, Any], pa.RecordBatch]]
        spec, schema = self._plan.spec, self._plan.schema
        groups = split_by_partition(spec, schema, joined) if spec.fields else [({}, joined)]
        for values, rows in groups:
            self._give_to_partition(self._partition(values), rows)
        if self._bytes > MAX_BUFFERED_BYTES:
            for partition in sorted(self._partitions.values(), key=lambda one: -one.bytes):
                self._flush(partition)
                if self._bytes <= MAX_BUFFERED_BYTES // 2:
                    break

    def _partition(self, values: Mapping[int, Any]) -> _Partition:
        key = value_key(self._type, values)
        found = self._partitions.get(key)
        if found is None:
            found = _Partition(values, len(self._partitions) % self._workers.count)
            self._partitions[key] = found
        return found

    def _give_to_partition(self, partition: _Partition, rows: pa.RecordBatch) -> None:
        """Add rows to a partition, in pieces of at most a row group."""
        step = rows.num_rows
        if not self._sorts:
            step = max(1, min(GROUP_ROWS, rows.num_rows * self._group_bytes // max(rows.nbytes, 1)))
        for start in range(0, rows.num_rows, step):
            piece = rows.slice(start, step)
            partition.pieces.append(piece)
            partition.rows += piece.num_rows
            partition.bytes += piece.nbytes
            self._bytes += piece.nbytes
            full = partition.rows >= GROUP_ROWS or partition.bytes >= self._group_bytes
            if full and not (self._sorts and partition.bytes < MAX_BUFFERED_BYTES // 2):
                self._flush(partition)

    def _flush(self, partition: _Partition) -> None:
        """Submit the rows of a partition for writing."""
        if partition.pieces:
            self._bytes -= partition.bytes
            pieces = partition.take()
            self._workers.submit(partition.worker, lambda: self._write(partition, pieces))

    def finish(self) -> tuple[NewFile, ...]:
        """Write the remaining rows; return the entries of all files."""
        self._split()
        for partition in self._partitions.values():
            self._flush(partition)
            self._workers.submit(partition.worker, lambda partition=partition: self._end(partition))  # type: ignore[misc]
        self._workers.wait()
        return tuple(new for partition in self._partitions.values() for new in partition.done)

    def close(self) -> None:
        """Stop all work, and close unfinished files."""
        self._workers.stop()
        for partition in self._partitions.values():
            if partition.file is not None:
                partition.file.close()

    # In the threads

    def _write(self, partition: _Partition, pieces: list[pa.RecordBatch]) -> None:
        batch = _concatenate(pieces)
        if self._sorts:
            batch = sort_batch(self._plan.order, self._plan.schema, batch)
            step = max(1, min(GROUP_ROWS, batch.num_rows * self._group_bytes // max(batch.nbytes, 1)))
            for start in range(0, batch.num_rows, step):
                self._append(partition, batch.slice(start, step))
            self._end(partition)  # later rows are not sorted among these
            return
        self._append(partition, batch)
        if len(self._partitions) > MAX_OPEN_FILES:
            self._end(partition)

    def _append(self, partition: _Partition, batch: pa.RecordBatch) -> None:
        if partition.file is None:
            name = f"{self._task}-{self._plan.write_id}-{next(self._numbers):05d}"
            location = self._plan.file_location(partition.values, name)
            partition.file = FileWriter(self._plan, partition.values, location, self._files)
        partition.file.write(batch)
        if partition.file.size() >= self._plan.target_bytes:
            self._end(partition)

    def _end(self, partition: _Partition) -> None:
        if partition.file is not None:
            partition.done.append(partition.file.finish())
            partition.file = None


def _concatenate(batches: list[pa.RecordBatch]) -> pa.RecordBatch:
    libraries: Any = pa
    return batches[0] if len(batches) == 1 else libraries.concat_batches(batches)


class _Workers:
    """Threads that each run their work in order; with one worker, work runs in the calling thread."""

    def __init__(self, count: int) -> None:
        self.count = max(count, 1)
        self._pools = [ThreadPoolExecutor(1) for _ in range(self.count)] if self.count > 1 else []
        self._room = threading.Semaphore(MAX_QUEUED * self.count)
        self._futures: list[Future[None]] = []
        self._stopped = False

    def submit(self, worker: int, work: Callable[[], None]) -> None:
        """Submit work to a worker, or raise the error of earlier work."""
        if not self._pools:
            work()
            return
        self._raise_failed()
        self._room.acquire()
        self._futures.append(self._pools[worker].submit(self._do, work))

    def _do(self, work: Callable[[], None]) -> None:
        try:
            if not self._stopped:
                work()
        except BaseException:
            self._stopped = True
            raise
        finally:
            self._room.release()

    def _raise_failed(self) -> None:
        for future in [one for one in self._futures if one.done()]:
            self._futures.remove(future)
            future.result()

    def wait(self) -> None:
        """Wait until all work is done."""
        futures, self._futures = self._futures, []
        for future in futures:
            future.result()

    def stop(self) -> None:
        """Start no more work."""
        self._stopped = True
        for pool in self._pools:
            pool.shutdown(wait=True, cancel_futures=True)

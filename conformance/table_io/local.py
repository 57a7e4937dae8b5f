"""Reading tables on this machine: scan tasks run in threads, as Arrow decodes and filters without Python's lock."""

from __future__ import annotations

import contextlib
import itertools
import os
import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pyarrow as pa

from conformance.table_io.delete_files import DeleteFiles
from conformance.table_io.planning import plan_batches
from conformance.table_io.read_tasks import arrow_schema, metadata_type, read_task
from conformance.table_io.reading import ReadPlan, make_read_plan
from conformance.table_io.tables import Table
from spec_ref.columnar.arrow_values import to_python_values
from spec_ref.columnar.scan_planning.task_batch import TaskBatch
from spec_ref.data_files.batches import BATCH_ROWS
from spec_ref.expressions.predicates import TRUE, Predicate
from spec_ref.scan_planning import FileScanTask, table_state

MAX_QUEUED_BATCHES = 4
"""How many batches of each thread may wait for the consumer."""


def read_table(
    table: Table,
    *,
    snapshot_id: int | None = None,
    ref: str | None = None,
    timestamp_ms: int | None = None,
    select: Sequence[str] | None = None,
    filter: Predicate = TRUE,
    case_sensitive: bool = True,
    threads: int | None = None,
    batch_rows: int = BATCH_ROWS,
) -> pa.RecordBatchReader:
    """Read the rows of a table, with the column names and types of its schema.

    Args:
        table: the table, from `conformance.table_io.tables.load_table`.
        snapshot_id: the id of the snapshot; the current one if neither this, a reference nor a time is given.
        ref: the name of a branch or tag, instead of a snapshot id.
        timestamp_ms: a time, to read the snapshot that was current then.
        select: names of columns, with dots for fields of structs, and of the metadata columns ``_file``, ``_pos``,
            ``_deleted``, ``_spec_id``, ``_partition``, ``_row_id`` and ``_last_updated_sequence_number``; None for all
            columns of the table. With ``_deleted``, deleted rows are returned, too.
        filter: the condition on rows; all rows by default.
        case_sensitive: whether names in ``select`` and ``filter`` must be spelled as in the schema.
        threads: how many data files are read at once; None for one per processor. With one thread, rows are in the
            order of the plan and of the files; with more, in any order.
        batch_rows: the maximum number of rows that are decoded at once.

    Raises:
        SpecError: the table, the selection or the filter is wrong; errors in a data file are raised when the file is
            read.
        FileAccessError: a file is missing or cannot be read.
    """
    read_plan, planned = plan_read(
        table,
        snapshot_id=snapshot_id,
        ref=ref,
        timestamp_ms=timestamp_ms,
        select=select,
        filter=filter,
        case_sensitive=case_sensitive,
    )
    tasks = list(planned)
    deletes = DeleteFiles(read_plan, tasks)
    workers = min(threads or os.cpu_count() or 1, max(1, len(tasks)))
    alone = workers == 1 and threads != 1  # then the columns of a file are decoded in parallel

    def work(task: FileScanTask) -> Iterator[pa.RecordBatch]:
        return read_task(task, read_plan, deletes, batch_rows=batch_rows, threads=alone)

    return pa.RecordBatchReader.from_batches(arrow_schema(read_plan), read_in_threads(tasks, work, workers))


def read_rows(table: Table, **arguments: Any) -> Iterator[dict[str, Any]]:
    """Read the rows of a table, in the order of the plan and of the files, as values of the spec by column names.

    Args:
        table: the table.
        arguments: the arguments of `read_table`.

    Raises:
        SpecError, FileAccessError: as `read_table`.
    """
    read_plan, planned = plan_read(table, **arguments)
    tasks = list(planned)
    deletes = DeleteFiles(read_plan, tasks)
    types = {field.name: field.type for field in read_plan.fields}
    types |= {name: metadata_type(read_plan, name) for name in read_plan.metadata_columns}
    for task in tasks:
        for batch in read_task(task, read_plan, deletes):
            columns = [to_python_values(type_, batch.column(name)) for name, type_ in types.items()]
            yield from (dict(zip(types, row, strict=True)) for row in zip(*columns, strict=True))


def plan_read(table: Table, **arguments: Any) -> tuple[ReadPlan, Iterator[FileScanTask]]:
    """Return the columns to read and the tasks of the scan; arguments and errors as in `read_table`."""
    read_plan, batches = plan_read_batches(table, **arguments)
    return read_plan, itertools.chain.from_iterable(batch.tasks() for batch in batches)


def plan_read_batches(
    table: Table,
    *,
    snapshot_id: int | None = None,
    ref: str | None = None,
    timestamp_ms: int | None = None,
    select: Sequence[str] | None = None,
    filter: Predicate = TRUE,
    case_sensitive: bool = True,
) -> tuple[ReadPlan, Iterator[TaskBatch]]:
    """Return the columns to read and the tasks of the scan in batches; arguments and errors as in `read_table`."""
    state = table_state(table.metadata, snapshot_id=snapshot_id, ref=ref, timestamp_ms=timestamp_ms)
    read_plan = make_read_plan(table, state.schema, select, case_sensitive=case_sensitive)
    batches = plan_batches(table, state.snapshot, filter, schema=state.schema, case_sensitive=case_sensitive)
    return read_plan, batches


class _Failed:
    def __init__(self, error: BaseException) -> None:
        self.error = error


def read_in_threads(
    tasks: Sequence[FileScanTask], work: Callable[[FileScanTask], Iterator[pa.RecordBatch]], workers: int
) -> Iterator[pa.RecordBatch]:
    """Run tasks in threads, and yield their batches; the threads stop when the consumer stops or at the first error."""
    if workers <= 1:
        for task in tasks:
            yield from work(task)
        return
    todo = iter(tasks)
    taking = threading.Lock()
    done: queue.Queue[Any] = queue.Queue(MAX_QUEUED_BATCHES * workers)
    stopped = threading.Event()

    def put(item: Any) -> None:
        while not stopped.is_set():
            with contextlib.suppress(queue.Full):
                done.put(item, timeout=0.1)
                return

    def run() -> None:
        try:
            while not stopped.is_set():
                with taking:
                    task = next(todo, None)
                if task is None:
                    break
                for batch in itertools.takewhile(lambda _: not stopped.is_set(), work(task)):
                    put(batch)
            put(None)
        except BaseException as error:
            put(_Failed(error))

    pool = [threading.Thread(target=run, daemon=True) for _ in range(workers)]
    for thread in pool:
        thread.start()
    try:
        running = workers
        while running:
            item = done.get()
            if isinstance(item, _Failed):
                raise item.error
            if item is None:
                running -= 1
            else:
                yield item
    finally:
        stopped.set()
        for thread in pool:
            thread.join()

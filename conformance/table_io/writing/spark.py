"""Writing tables on Spark: executors write files and return only their entries, and the driver commits once.

A task does for some of the rows, or data files, what `conformance.table_io.writing.operations` does for all of them.
The names of its files contain the ids of the write, the task and the attempt, so that attempts never touch each other's
files, and the driver can find and delete the files that killed or repeated attempts left.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import attrs
import numpy as np
import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import DataFrame, SparkSession

from conformance.core.counts import plural
from conformance.table_io.delete_files import DeleteFiles
from conformance.table_io.spark_types import table_batch
from conformance.table_io.spark_worker import prepare_worker
from conformance.table_io.tables import Table
from conformance.table_io.writing.compaction import MIN_FILES, select_for_compaction
from conformance.table_io.writing.files import NewFiles, OrphansLeft, remove_on_failure
from conformance.table_io.writing.matching import TargetRows, check_branch, drop_position_column
from conformance.table_io.writing.merging import Merging, WhenMatched
from conformance.table_io.writing.operations import Summary, make_assigner, to_position_mode
from conformance.table_io.writing.plans import WritePlan, clean_up, plan_write
from conformance.table_io.writing.row_changes import FileChanges, Mode, change_rows, resolve_mode
from conformance.table_io.writing.tables import WritableTable
from conformance.table_io.writing.write_tasks import Rows, RowSink, write_rows, write_to
from spec_ref.columnar.schemas.arrow_columns import arrow_field
from spec_ref.commits import CommitResult, CommitStateUnknown, changes
from spec_ref.commits.changes import Isolation
from spec_ref.commits.conflict_evaluation import bound_filter
from spec_ref.commits.snapshots import next_sequence_number
from spec_ref.core.errors import Description, spec_error
from spec_ref.core.records import evolve
from spec_ref.expressions.bound import BoundPredicate
from spec_ref.expressions.predicates import TRUE, Predicate
from spec_ref.scan_planning import FileScanTask
from spec_ref.scan_planning.delete_scope import partition_key
from spec_ref.snapshots.references import MAIN

TASK = "00000"
"""The name of every task in the names of files; the number of the task is in the write id of its plan."""

BATCH_BYTES = "spark.sql.execution.arrow.maxBytesPerBatch"
NO_LIMIT = (1 << 31) - 1

Work = Callable[[WritePlan, Any], Any]
"""What a task does: takes a plan with a write id that is unique to the attempt, and the task's part of the input."""


# Tasks


def _own_plan(plan: WritePlan) -> tuple[WritePlan, int]:
    """Return the plan for this attempt of the task, and the number of earlier attempts."""
    context = TaskContext.get()
    assert context is not None
    name = f"{plan.write_id}-{context.partitionId():05d}.{context.taskAttemptId()}"
    return attrs.evolve(plan, write_id=name), context.attemptNumber()


def _answer(plan: WritePlan, work: Work, part: Any) -> bytes:
    """Return the pickled result of a task, or its error if that is one of this tool, so that Spark does not retry."""
    prepare_worker()
    own, attempts = _own_plan(plan)
    try:
        return pickle.dumps((attempts, work(own, part), None))
    except Exception as error:
        # Spark retries after an OSError, which may not occur on another executor; a wrong value would stay wrong.
        if isinstance(error, OSError):
            raise
        return pickle.dumps((attempts, None, error))


@contextmanager
def _writing(plan: WritePlan) -> Iterator[None]:
    """Delete the files of a write that fails, whichever executor wrote them, unless it may have been committed."""
    try:
        yield
    except CommitStateUnknown as error:
        error.add_note(f"the table may have files of the write {plan.write_id}")
        raise
    except BaseException as error:
        left = clean_up(plan)
        if left and isinstance(error, Exception):
            raise OrphansLeft(left) from error
        raise


def _results(answers: Iterable[bytes], plan: WritePlan, files_of: Callable[[Any], Iterable[Any]]) -> list[Any]:
    """Return the results of the tasks, and delete the files of other attempts.

    Raises:
        Exception: the error of a task.
    """
    outcomes = [pickle.loads(answer) for answer in answers]  # noqa: S301 - made by the tasks of this session
    for _, _, error in outcomes:
        if error is not None:
            raise error
    results = [result for _, result, _ in outcomes]
    if any(attempts for attempts, _, _ in outcomes):
        left = clean_up(plan, [new for result in results for new in files_of(result)])
        if left:
            raise OrphansLeft(left)
    return results


def _each(spark: SparkSession, plan: WritePlan, work: Work, parts: Sequence[Any]) -> list[Any]:
    """Run some work for each part, each in a separate task."""
    if not parts:
        return []
    sent = [pickle.dumps(part) for part in parts]
    rdd = spark.sparkContext.parallelize(sent, len(sent))
    answers = rdd.map(lambda part: _answer(plan, work, pickle.loads(part))).collect()  # noqa: S301
    return _results(answers, plan, _added_files)


def _added_files(result: Any) -> Iterable[Any]:
    pieces = result[0] if isinstance(result, tuple) else result
    return pieces.added if isinstance(pieces, FileChanges) else pieces


# Adding rows


def append(table: WritableTable, rows: DataFrame, *, branch: str = MAIN, summary: Summary = ()) -> CommitResult:
    """Add the rows of a DataFrame, each of whose partitions is a task.

    Values of types that Spark does not have are expected as `conformance.table_io.spark` returns them: a uuid as text,
    a time as microseconds, and so on.

    Args:
        table: the table, as it was last read.
        rows: columns by name. For fewer and larger files, repartition by the sources of the table's partition fields.
            Spark passes batches of ``spark.sql.execution.arrow.maxRecordsPerBatch`` rows; if rows have megabytes, set
            that or ``spark.sql.execution.arrow.maxBytesPerBatch``, which limits bytes and costs time.
        branch: the branch, which is created if it does not exist.
        summary: additional entries of the snapshot's summary.

    Raises:
        SpecError: a value that the schema does not allow.
        Py4JJavaError: the job failed for another reason. After any error except the next two, the table is unchanged
            and the files have been deleted.
        OrphansLeft: a file could not be deleted.
        CommitStateUnknown: it is not known whether the commit succeeded; the files are kept.
    """
    check_branch(table.metadata, branch)
    plan = plan_write(table.metadata)
    with _writing(plan):
        added = _write_rows(rows, plan)
        return table.commit(evolve(changes.append(added, branch=branch), summary=summary))


def _write_rows(rows: DataFrame, plan: WritePlan, matching: BoundPredicate | None = None) -> list[Any]:
    """Write the rows of a DataFrame, all of which must match a given predicate; return the entries."""
    if not rows.columns and not rows.isEmpty():  # Python would get batches without rows
        raise spec_error(
            "TYP002", "rows without columns cannot be written", found=Description(plural(rows.count(), "row"))
        )
    schema = pa.schema([arrow_field(field) for field in plan.sources.fields])
    names = rows.columns
    # `mapInArrow` finds columns by name: a dot would lead into a struct, and names may differ only in case.
    numbered = rows.toDF(*(f"column_{number}" for number in range(len(names))))

    def work(own: WritePlan, batches: Iterator[pa.RecordBatch]) -> Any:
        named = (table_batch(batch.rename_columns(names), schema) for batch in batches)
        return write_rows(own, named, TASK, matching=matching)

    def write(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield pa.RecordBatch.from_arrays([pa.array([_answer(plan, work, batches)], pa.binary())], ["answer"])

    with _rows_counted(rows.sparkSession):
        answers = [bytes(row["answer"]) for row in numbered.mapInArrow(write, "answer binary").collect()]
    return [new for result in _results(answers, plan, _added_files) for new in result]


@contextmanager
def _rows_counted(spark: SparkSession) -> Iterator[None]:
    """Limit batches by their number of rows, unless the session limits their bytes.

    With a limit of bytes, Spark 4.1 and later measure a batch after every row, which takes longer than the transfer.
    """
    if spark.conf.get(BATCH_BYTES, None) is not None:
        yield
        return
    spark.conf.set(BATCH_BYTES, str(NO_LIMIT))
    try:
        yield
    finally:
        spark.conf.unset(BATCH_BYTES)


# Changing rows


class _PartOfTarget(TargetRows):
    """The rows of some data files."""

    def __init__(self, table: Table, branch: str, tasks: Sequence[FileScanTask]) -> None:
        super().__init__(table, branch, 1)
        self._given = list(tasks)
        self.deletes = DeleteFiles(self._own, self._given)

    def tasks(self, where: Predicate = TRUE) -> list[FileScanTask]:
        return self._given


@attrs.frozen(kw_only=True)
class _RowChange:
    """A change of matching rows, applied by each task to some data files."""

    table: Table
    branch: str
    where: Predicate
    mode: Mode
    assignments: Mapping[str, Any] | None = None
    """None to delete the rows."""

    def __call__(self, plan: WritePlan, tasks: Sequence[FileScanTask]) -> FileChanges:
        target = _PartOfTarget(self.table, self.branch, tasks)
        schema = self.table.metadata.current_schema
        make = None if self.assignments is None else make_assigner(schema, self.assignments)
        with _part(plan) as (files, sink):
            pieces = change_rows(target, target.find_matches(self.where), self.mode, plan, files, sink, make)
            pieces.added += sink.finish()
        return pieces


@contextmanager
def _part(plan: WritePlan) -> Iterator[tuple[NewFiles, RowSink]]:
    """Yield the files of a task, and the sink for its rows; the files are deleted if the task fails."""
    files = NewFiles()
    with remove_on_failure(files):
        sink = RowSink(plan, files, TASK)
        try:
            yield files, sink
        finally:
            sink.close()


def _parts(spark: SparkSession, tasks: Sequence[FileScanTask]) -> list[list[FileScanTask]]:
    """Divide scan tasks among the tasks of the job, those of one partition together, so that few files are written."""
    groups: dict[Any, list[FileScanTask]] = {}
    for task in tasks:
        key = task.partition_spec_id, tuple(sorted((k, repr(v)) for k, v in task.data_file.partition.items()))
        groups.setdefault(key, []).append(task)
    most = max(1, -(-len(tasks) // max(1, 4 * spark.sparkContext.defaultParallelism)))
    return [group[at : at + most] for group in groups.values() for at in range(0, len(group), most)]


def _join_changes(parts: Iterable[FileChanges]) -> FileChanges:
    joined = FileChanges()
    for one in parts:
        joined.added += one.added
        joined.removed |= one.removed
        joined.removed_deletes |= one.removed_deletes
        joined.deleted_from |= one.deleted_from
    return joined


def _apply_to_target(
    spark: SparkSession,
    table: WritableTable,
    plan: WritePlan,
    operation: str,
    where: Predicate,
    mode: Mode | None,
    branch: str,
    assignments: Mapping[str, Any] | None = None,
) -> FileChanges:
    known = to_position_mode(resolve_mode(table.metadata, operation, mode))
    tasks = TargetRows(table.table, branch, 1).tasks(where)
    change = _RowChange(table=table.table, branch=branch, where=where, mode=known, assignments=assignments)
    return _join_changes(_each(spark, plan, change, _parts(spark, tasks)))


def delete(
    spark: SparkSession,
    table: WritableTable,
    where: Predicate,
    *,
    mode: Mode | None = None,
    branch: str = MAIN,
    isolation: Isolation | None = Isolation.SERIALIZABLE,
    summary: Summary = (),
) -> CommitResult:
    """Delete the rows that match; arguments and errors as in `conformance.table_io.writing.operations.delete`.

    For equality deletes, which need no job as nothing is read, use `conformance.table_io.writing.delete_keys`.
    """
    plan = plan_write(table.metadata, lineage=True)
    with _writing(plan):
        pieces = _apply_to_target(spark, table, plan, "delete", where, mode, branch)
        return table.commit(pieces.change(branch, where, isolation, summary))


def update(
    spark: SparkSession,
    table: WritableTable,
    assignments: Mapping[str, Any],
    where: Predicate = TRUE,
    *,
    mode: Mode | None = None,
    branch: str = MAIN,
    isolation: Isolation | None = Isolation.SERIALIZABLE,
    summary: Summary = (),
) -> CommitResult:
    """Change columns of the rows that match, as `writing.operations.update` does; functions must be picklable."""
    make_assigner(table.metadata.current_schema, assignments)
    plan = plan_write(table.metadata, lineage=True)
    with _writing(plan):
        pieces = _apply_to_target(spark, table, plan, "update", where, mode, branch, assignments)
        return table.commit(pieces.change(branch, where, isolation, summary))


def overwrite(
    table: WritableTable,
    rows: DataFrame,
    where: Predicate = TRUE,
    *,
    mode: Mode | None = None,
    branch: str = MAIN,
    isolation: Isolation | None = Isolation.SERIALIZABLE,
    matching: bool = False,
    summary: Summary = (),
) -> CommitResult:
    """Delete the rows that match, and add others, in one commit, as `writing.operations.overwrite` does."""
    every = bound_filter(where, table.metadata) if matching else None
    plan = plan_write(table.metadata, lineage=True)
    with _writing(plan):
        pieces = _apply_to_target(rows.sparkSession, table, plan, "delete", where, mode, branch)
        pieces.added += _write_rows(rows, plan_write(table.metadata, write_id=f"{plan.write_id}-new"), every)
        return table.commit(pieces.change(branch, where, isolation, summary))


def overwrite_partitions(
    table: WritableTable,
    rows: DataFrame,
    *,
    branch: str = MAIN,
    isolation: Isolation | None = Isolation.SERIALIZABLE,
    summary: Summary = (),
) -> CommitResult:
    """Replace the partitions that the rows are in, as `writing.operations.overwrite_partitions` does."""
    metadata = table.metadata
    spec = metadata.default_spec
    plan = plan_write(metadata)
    with _writing(plan):
        pieces = FileChanges(added=_write_rows(rows, plan))
        written = {partition_key(new.data_file, spec) for new in pieces.added}
        for task in TargetRows(table.table, branch, 1).tasks():
            own = task.partition_spec_id == spec.spec_id and partition_key(task.data_file, spec) in written
            if own or (pieces.added and spec.is_unpartitioned):
                pieces.remove(task)
        summary_entries = (("replace-partitions", "true"), *summary)
        return table.commit(pieces.change(branch, TRUE, isolation, summary_entries))


@attrs.frozen(kw_only=True)
class _MergeChange:
    """A merge, applied by each task to some data files; every task gets all rows of the source."""

    table: Table
    branch: str
    rows: pa.Table
    on: tuple[str, ...]
    assignments: Mapping[str, str] | None
    matched: WhenMatched
    mode: Mode

    def __call__(self, plan: WritePlan, tasks: Sequence[FileScanTask]) -> tuple[FileChanges, Any]:
        merging = Merging(self.table.metadata.current_schema, self.rows, self.on, self.assignments)
        target = _PartOfTarget(self.table, self.branch, tasks)
        found = merging.find(target)
        with _part(plan) as (files, sink):
            changed = found if self.matched is not WhenMatched.KEEP else []
            make = merging.update_matched if self.matched is WhenMatched.UPDATE else None
            pieces = change_rows(target, changed, self.mode, plan, files, sink, make)
            pieces.added += sink.finish()
        return pieces, np.packbits(merging.matched)


def merge(
    spark: SparkSession,
    table: WritableTable,
    source: pa.Table,
    on: Sequence[str],
    *,
    matched: WhenMatched = WhenMatched.UPDATE,
    assignments: Mapping[str, str] | None = None,
    insert: bool = True,
    mode: Mode | None = None,
    branch: str = MAIN,
    isolation: Isolation | None = Isolation.SERIALIZABLE,
    summary: Summary = (),
) -> CommitResult:
    """Merge a source that every executor can hold, as `conformance.table_io.writing.merging.merge` does."""
    metadata = table.metadata
    merging = Merging(metadata.current_schema, source, on, assignments)
    plan = plan_write(metadata, lineage=True)
    change = _MergeChange(
        table=table.table,
        branch=branch,
        rows=source,
        on=tuple(on),
        assignments=assignments,
        matched=matched,
        mode=to_position_mode(resolve_mode(metadata, "merge", mode)),
    )
    with _writing(plan):
        tasks = TargetRows(table.table, branch, 1).tasks()
        done = _each(spark, plan, change, _parts(spark, tasks))
        pieces = _join_changes(part for part, _ in done)
        some = np.zeros(source.num_rows, bool)
        for _, packed in done:
            some |= np.unpackbits(packed, count=source.num_rows).astype(bool)
        if insert:
            pieces.added += _write_in_driver(plan, merging.unmatched_rows(some))
        return table.commit(pieces.change(branch, TRUE, isolation, summary))


def _write_in_driver(plan: WritePlan, rows: Rows) -> tuple[Any, ...]:
    """Write rows in the driver."""
    files = NewFiles()
    with remove_on_failure(files):
        return write_to(files, attrs.evolve(plan, write_id=f"{plan.write_id}-driver"), rows, TASK)


# Compaction


@attrs.frozen(kw_only=True)
class _Compaction:
    table: Table
    branch: str

    def __call__(self, plan: WritePlan, tasks: Sequence[FileScanTask]) -> FileChanges:
        target = _PartOfTarget(self.table, self.branch, tasks)
        pieces = FileChanges()
        with _part(plan) as (_, sink):
            for _, batch in target.rows(tasks):
                sink.add(drop_position_column(batch))
            pieces.added += sink.finish()
        for task in tasks:
            pieces.remove(task)
        return pieces


def compact(
    spark: SparkSession,
    table: WritableTable,
    where: Predicate = TRUE,
    *,
    min_files: int = MIN_FILES,
    branch: str = MAIN,
    target_bytes: int | None = None,
    summary: Summary = (),
) -> CommitResult | None:
    """Rewrite files that may have matching rows, each partition in a separate task; as
    `conformance.table_io.writing.compaction.compact`.
    """
    metadata = table.metadata
    target = TargetRows(table.table, branch, 1)
    groups: dict[Any, list[FileScanTask]] = {}
    for task in select_for_compaction(metadata, target.tasks(where), min_files):
        spec = metadata.spec_by_id(task.partition_spec_id)
        groups.setdefault(partition_key(task.data_file, spec), []).append(task)
    if not groups:
        return None
    assert target.snapshot is not None
    number = target.snapshot.sequence_number if next_sequence_number(metadata) else None
    plan = plan_write(metadata, lineage=True, target_bytes=target_bytes)
    with _writing(plan):
        change = _Compaction(table=table.table, branch=branch)
        pieces = _join_changes(_each(spark, plan, change, list(groups.values())))
        added = [evolve(new, data_sequence_number=number) for new in pieces.added]
        made = changes.rewrite_files(added, pieces.removed, removed_deletes=pieces.removed_deletes, branch=branch)
        return table.commit(evolve(made, summary=summary))

"""Operations on tables, each of which commits one snapshot (Snapshots, operation)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeAlias

import pyarrow as pa

from conformance.table_io.read_tasks import read_task
from conformance.table_io.tables import Table
from conformance.table_io.writing.deletes import plan_equality_deletes
from conformance.table_io.writing.files import NewFiles, remove_on_failure
from conformance.table_io.writing.matching import MatchedFile, TargetRows, check_branch, drop_position_column
from conformance.table_io.writing.plans import WritePlan, plan_write
from conformance.table_io.writing.row_changes import FileChanges, Mode, change_rows, replace_columns, resolve_mode
from conformance.table_io.writing.tables import WritableTable
from conformance.table_io.writing.write_tasks import FileWriter, Rows, RowSink, batch_without_rows, to_batches, write_to
from spec_ref.columnar.manifests.computed_metrics import storage_array
from spec_ref.columnar.schemas.column_projection import constant_array
from spec_ref.columnar.schemas.written_rows import compile_input
from spec_ref.commits import CommitResult, CommitStateUnknown, changes
from spec_ref.commits.changes import Isolation, NewFile, Validation
from spec_ref.commits.conflict_evaluation import bound_filter
from spec_ref.commits.reading import branch_head
from spec_ref.core.errors import Description, spec_error
from spec_ref.core.records import evolve
from spec_ref.expressions.predicates import TRUE, Predicate
from spec_ref.manifest_lists.manifest_file import ManifestContent
from spec_ref.partitioning.transforms import Void
from spec_ref.scan_planning import FileScanTask
from spec_ref.scan_planning.delete_scope import partition_key
from spec_ref.scan_planning.manifest_selection import list_manifests
from spec_ref.scan_planning.rows import referenced_ids
from spec_ref.schemas.schema import Schema
from spec_ref.snapshots.references import MAIN
from spec_ref.table_metadata import TableMetadata

THREADS = 2
TASK = "00000"
"""The name of the only task of an operation that runs in this process."""

Summary: TypeAlias = tuple[tuple[str, str], ...]
Assignments: TypeAlias = Mapping[str, Any]
"""The new value of each top-level column, by name: a value of the spec, or a function that takes the changed rows and
returns an Arrow array."""


@contextmanager
def operation_files() -> Iterator[NewFiles]:
    """Yield the files of an operation, and delete them if it fails, unless it may have been committed."""
    files = NewFiles()
    unknown: CommitStateUnknown | None = None
    with remove_on_failure(files):
        try:
            yield files
        except CommitStateUnknown as error:
            error.add_note(f"the table may have these files: {', '.join(files.locations)}")
            unknown = error
    if unknown is not None:
        raise unknown


@contextmanager
def open_sink(plan: WritePlan, files: NewFiles, threads: int) -> Iterator[RowSink]:
    """Make the sink for the rows that an operation writes."""
    sink = RowSink(plan, files, TASK, threads)
    try:
        yield sink
    finally:
        sink.close()


def append(
    table: WritableTable, rows: Rows, *, branch: str = MAIN, threads: int = THREADS, summary: Summary = ()
) -> CommitResult:
    """Add rows.

    Args:
        table: the table, as it was last read.
        rows: the rows, with columns by name.
        branch: the branch, which is created if it does not exist.
        threads: how many threads encode files.
        summary: additional entries of the snapshot's summary.

    Raises:
        SpecError: the schema does not allow a value; or the errors of `WritableTable.commit`. After any error except
            the next two, the table is unchanged and the files have been deleted.
        OrphansLeft: a file could not be deleted.
        CommitStateUnknown: it is not known whether the commit succeeded; the files are kept.
    """
    check_branch(table.metadata, branch)
    with operation_files() as files:
        new = write_to(files, plan_write(table.metadata), rows, TASK, threads=threads)
        return table.commit(evolve(changes.append(new, branch=branch), summary=summary))


def overwrite(
    table: WritableTable,
    rows: Rows,
    where: Predicate = TRUE,
    *,
    mode: Mode | None = None,
    branch: str = MAIN,
    isolation: Isolation | None = Isolation.SERIALIZABLE,
    matching: bool = False,
    threads: int = THREADS,
    summary: Summary = (),
) -> CommitResult:
    """Delete the matching rows, and add others; arguments and errors as in `append` and `delete`.

    With ``matching``, the added rows must match, too, so that the operation is idempotent; the UsageError for a row
    that does not match has the row's number. Without it, other rows may be added, as by Spark's ``REPLACE WHERE``.
    """
    every = bound_filter(where, table.metadata) if matching else None
    with operation_files() as files:
        target = TargetRows(table.table, branch, threads)
        mode = to_position_mode(resolve_mode(table.metadata, "delete", mode))
        plan = plan_write(table.metadata, lineage=mode is Mode.COPY_ON_WRITE)
        with open_sink(plan, files, threads) as sink:
            matched = target.find_matches(where)
            for batch in to_batches(rows):  # before rewritten rows, as errors have the numbers of rows
                sink.add(batch, every)
            pieces = change_rows(target, matched, mode, plan, files, sink)
            pieces.added += sink.finish()
        return table.commit(pieces.change(branch, where, isolation, summary))


def to_position_mode(mode: Mode) -> Mode:
    """Replace equality deletes, which do not apply to rows of the same commit, by position deletes."""
    return Mode.MERGE_ON_READ if mode is Mode.EQUALITY else mode


def overwrite_partitions(
    table: WritableTable,
    rows: Rows,
    *,
    branch: str = MAIN,
    isolation: Isolation | None = Isolation.SERIALIZABLE,
    threads: int = THREADS,
    summary: Summary = (),
) -> CommitResult:
    """Replace the partitions of the default spec that have rows; the whole table if it is not partitioned.

    Arguments and errors are as in `append`.
    """
    metadata = table.metadata
    spec = metadata.default_spec
    with operation_files() as files:
        target = TargetRows(table.table, branch, threads)
        new = write_to(files, plan_write(metadata), rows, TASK, threads=threads)
        written = {partition_key(one.data_file, spec) for one in new}
        pieces = FileChanges(added=list(new))
        for task in target.tasks():
            own = task.partition_spec_id == spec.spec_id and partition_key(task.data_file, spec) in written
            if own or (new and spec.is_unpartitioned):
                pieces.remove(task)
        summary_entries = (("replace-partitions", "true"), *summary)
        return table.commit(pieces.change(branch, TRUE, isolation, summary_entries))


def delete(
    table: WritableTable,
    where: Predicate,
    *,
    mode: Mode | None = None,
    branch: str = MAIN,
    isolation: Isolation | None = Isolation.SERIALIZABLE,
    threads: int = THREADS,
    summary: Summary = (),
) -> CommitResult:
    """Delete the matching rows. A file all of whose rows match is removed as a whole, whatever the mode.

    Args:
        table: the table, as it was last read.
        where: the condition on rows.
        mode: how the rows of other files are deleted; by default that of the property ``write.delete.mode``.
        branch: the branch.
        isolation: which concurrent changes are conflicts; None for only those that the spec names.
        threads: how many files are read, and written, at once.
        summary: additional entries of the snapshot's summary.

    Raises:
        SpecError: the predicate does not fit the schema, or DEL001 for deletes that the format version does not have;
            and the errors of `append`.
    """
    with operation_files() as files:
        target = TargetRows(table.table, branch, threads)
        mode = resolve_mode(table.metadata, "delete", mode)
        plan = plan_write(table.metadata, lineage=True)
        matched = target.find_matches(where)
        with open_sink(plan, files, threads) as sink:
            if mode is Mode.EQUALITY:
                pieces = _deleted_by_equality(target, matched, where, plan, files)
            else:
                pieces = change_rows(target, matched, mode, plan, files, sink)
            pieces.added += sink.finish()
        return table.commit(pieces.change(branch, where, isolation, summary))


def _deleted_by_equality(
    target: TargetRows, matched: Sequence[MatchedFile], where: Predicate, plan: WritePlan, files: NewFiles
) -> FileChanges:
    """Make equality deletes by the columns of the predicate, as every row with the same values matches, too."""
    metadata = target.metadata
    pieces = FileChanges()
    partial: dict[int, list[FileScanTask]] = {}
    for one in matched:
        if one.positions is None:
            pieces.remove(one.task)
        else:
            partial.setdefault(one.task.partition_spec_id, []).append(one.task)
            # The deletes would not apply to rows that others move to files of a different partition spec.
            pieces.deleted_from.add(one.task.data_file.file_path)
    if not partial:
        return pieces
    names = compared_columns(where, metadata)
    read_plan = target.plan_read(names)
    for spec_id, tasks in partial.items():
        own = plan_equality_deletes(metadata, names, plan, spec_id)
        groups: dict[Any, tuple[Any, list[pa.RecordBatch]]] = {}
        for task in tasks:
            found = groups.setdefault(partition_key(task.data_file, own.spec), (task.data_file.partition, []))
            found[1].extend(read_task(task, read_plan, target.deletes))
        for number, (partition, batches) in enumerate(groups.values()):
            name = f"{TASK}-{plan.write_id}-{spec_id}-{number:05d}-deletes"
            pieces.added.append(_equality_file(own, partition, batches, name, files))
    return pieces


def compared_columns(where: Predicate, metadata: TableMetadata) -> list[str]:
    """Return the top-level columns of a predicate, which equality deletes compare.

    Raises:
        SpecError: DEL017, if the predicate has other columns, or none.
    """
    ids = set(referenced_ids(bound_filter(where, metadata)))
    names = [field.name for field in metadata.current_schema.fields if field.id in ids]
    if len(names) != len(ids) or not names:
        raise spec_error(
            "DEL017", "the predicate has columns that are not at the top level, or none", found=Description(str(where))
        )
    return names


def _equality_file(
    plan: WritePlan, partition: Any, batches: Sequence[pa.RecordBatch], name: str, files: NewFiles
) -> NewFile:
    rows = distinct_rows(pa.Table.from_batches(batches))
    writer = FileWriter(plan, partition, plan.file_location(partition, name), files)
    try:
        for batch in rows.combine_chunks().to_batches():
            writer.write(batch)
        return writer.finish()
    finally:
        writer.close()


def distinct_rows(rows: pa.Table) -> pa.Table:
    """Remove duplicate rows, and keep the order of first occurrences."""
    rows = rows.combine_chunks()
    names = [str(place) for place in range(rows.num_columns)]
    columns = [storage_array(column.chunk(0)) if column.num_chunks else column for column in rows.columns]
    keys = pa.table([*columns, pa.array(range(rows.num_rows), pa.int64())], [*names, "place"])
    first = keys.group_by(names, use_threads=False).aggregate([("place", "min")]).column("place_min")
    return rows.take(first.sort())


def delete_keys(
    table: WritableTable,
    keys: Rows,
    on: Sequence[str] | None = None,
    *,
    rows: Rows | None = None,
    branch: str = MAIN,
    threads: int = THREADS,
    summary: Summary = (),
) -> CommitResult:
    """Delete the rows that have given values, by equality deletes, without reading the table (DEL017 to DEL023).

    An equality delete is for one partition. If the compared columns determine the partition, a delete is written only
    for that partition, and otherwise for each partition that has data files.

    Args:
        table: the table, as it was last read.
        keys: the values, with columns by name; null equals null.
        on: the columns to compare; by default all columns of the keys.
        rows: rows that are added by the same commit, to which its deletes do not apply (SCN010).
        branch: the branch.
        threads: how many threads encode files.
        summary: additional entries of the snapshot's summary.

    Raises:
        CommitConflict: data files that the deletes do not cover were added concurrently: files of a different spec or,
            if the columns do not determine the partition, any files. Plan the operation again on the current table.
        SpecError: DEL001 in v1, DEL018 for columns that cannot be compared; and the errors of `append`.
    """
    metadata = table.metadata
    check_branch(metadata, branch)
    listed = list(to_batches(keys)) or [batch_without_rows(pa.schema([]))]
    names = list(on) if on is not None else list(listed[0].schema.names)
    wanted = [batch.select(names) for batch in listed]
    with operation_files() as files:
        plan = plan_write(metadata)
        added = [] if rows is None else list(write_to(files, plan, rows, TASK, threads=threads))
        specs: frozenset[int] | None = frozenset()
        for spec_id in specs_with_data(table.table, branch):
            own = plan_equality_deletes(metadata, names, plan, spec_id)
            if determines_partition(own):
                specs = None if specs is None or own.spec.is_unpartitioned else specs | {spec_id}
                added += write_to(files, own, wanted, f"{TASK}-{spec_id}-deletes", threads=threads)
            else:
                added += _for_each_partition(TargetRows(table.table, branch, threads), own, wanted, files)
        validation = Validation(data_specs=specs)
        return table.commit(evolve(changes.row_delta(added, branch=branch, validation=validation), summary=summary))


def determines_partition(plan: WritePlan) -> bool:
    """Return whether the columns that equality deletes compare determine the partition of a row."""
    fields = [field for field in plan.spec.fields if not isinstance(field.transform, Void)]
    sources = {source for field in fields for source in field.sources}
    return plan.spec.is_writable and sources <= set(plan.equality_ids or ())


def _for_each_partition(
    target: TargetRows, plan: WritePlan, keys: Sequence[pa.RecordBatch], files: NewFiles
) -> Iterator[NewFile]:
    """Write the same equality deletes for every partition of a spec that has data files."""
    partitions = {
        partition_key(task.data_file, plan.spec): task.data_file.partition
        for task in target.tasks()
        if task.partition_spec_id == plan.spec.spec_id
    }
    made = [compile_input(plan.schema.fields, batch.schema)(batch) for batch in keys]
    for number, partition in enumerate(partitions.values() if sum(batch.num_rows for batch in made) else ()):
        name = f"{TASK}-{plan.write_id}-{plan.spec.spec_id}-{number:05d}-deletes"
        yield _equality_file(plan, partition, made, name, files)


def specs_with_data(table: Table, branch: str) -> list[int]:
    """Return the partition specs that equality deletes need to cover all data files: an unpartitioned spec alone is
    enough.
    """
    metadata = table.metadata
    snapshot = branch_head(metadata, branch)
    used = {metadata.default_spec_id}
    if snapshot is not None:
        listed = list_manifests(
            snapshot, {spec.spec_id: spec for spec in metadata.partition_specs}, table.manifest_reader()
        )
        used = {
            one.partition_spec_id for one in listed if one.content is ManifestContent.DATA and one.may_have_live_files
        } or used
    everywhere = [spec.spec_id for spec in metadata.partition_specs if spec.is_unpartitioned]
    return everywhere[:1] or sorted(used)


def update(
    table: WritableTable,
    assignments: Assignments,
    where: Predicate = TRUE,
    *,
    mode: Mode | None = None,
    branch: str = MAIN,
    isolation: Isolation | None = Isolation.SERIALIZABLE,
    threads: int = THREADS,
    summary: Summary = (),
) -> CommitResult:
    """Change columns of the matching rows, which keep their row ids (LIN009, LIN010, LIN012).

    Args:
        table: the table, as it was last read.
        assignments: the new values of columns.
        where: the condition on rows.
        mode: as in `delete`, by the property ``write.update.mode``.
        branch: the branch.
        isolation: as in `delete`.
        threads: as in `delete`.
        summary: additional entries of the snapshot's summary.

    Raises:
        SpecError: TYP002 for an unknown column; and the errors of `delete`.
    """
    metadata = table.metadata
    make = make_assigner(metadata.current_schema, assignments)
    with operation_files() as files:
        target = TargetRows(table.table, branch, threads)
        mode = to_position_mode(resolve_mode(metadata, "update", mode))
        plan = plan_write(metadata, lineage=True)
        with open_sink(plan, files, threads) as sink:
            pieces = change_rows(target, target.find_matches(where), mode, plan, files, sink, make)
            pieces.added += sink.finish()
        return table.commit(pieces.change(branch, where, isolation, summary))


def make_assigner(schema: Schema, assignments: Assignments) -> Callable[[FileScanTask, pa.RecordBatch], pa.RecordBatch]:
    """Return the function that changes some columns of rows.

    Raises:
        SpecError: TYP002 for an unknown column.
    """
    fields = {field.name: field for field in schema.fields}
    for name in assignments:
        if name not in fields:
            raise spec_error("TYP002", "the schema does not have the column", found=name, expected=", ".join(fields))

    def made(name: str, batch: pa.RecordBatch) -> Any:
        given: Any | Callable[[pa.RecordBatch], Any] = assignments[name]
        return (
            given(drop_position_column(batch))
            if callable(given)
            else constant_array(fields[name].type, given, batch.num_rows)
        )

    def make(_: FileScanTask, batch: pa.RecordBatch) -> pa.RecordBatch:
        return replace_columns(batch, {name: made(name, batch) for name in assignments})

    return make

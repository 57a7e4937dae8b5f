"""Writing tables one row at a time, only with the definitions of `spec_ref`.

Each operation commits the same change as the operation of `conformance.table_io.writing` with the same name. Rows are
mappings of column names to Python values instead of Arrow batches, and each step uses the definition instead of the
kernel: `spec_ref.schemas.written_rows` converts the rows, and `spec_ref.data_files` encodes and decodes the files.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import attrs

from conformance.core.counts import plural
from conformance.table_io.reading import make_read_plan, name_file_in_errors
from conformance.table_io.records import row_reader
from conformance.table_io.writing.compaction import MIN_FILES, select_for_compaction
from conformance.table_io.writing.deletes import DeleteEncoding, RowsToDelete, plan_equality_deletes, write_positions
from conformance.table_io.writing.files import NewFiles
from conformance.table_io.writing.matching import LINEAGE, check_branch, check_lineage_names
from conformance.table_io.writing.merging import check_source
from conformance.table_io.writing.metrics import RowMetricsCollector
from conformance.table_io.writing.operations import (
    TASK,
    compared_columns,
    determines_partition,
    operation_files,
    specs_with_data,
    to_position_mode,
)
from conformance.table_io.writing.plans import WritePlan, has_row_ids, plan_write
from conformance.table_io.writing.row_changes import FileChanges, Mode, resolve_mode
from conformance.table_io.writing.tables import WritableTable
from conformance.table_io.writing.write_tasks import FileWriter
from spec_ref.commits import CommitResult, changes
from spec_ref.commits.changes import Isolation, NewFile, Validation
from spec_ref.commits.conflict_evaluation import bound_filter, evaluate_file
from spec_ref.commits.reading import branch_head
from spec_ref.commits.snapshots import next_sequence_number
from spec_ref.core.errors import Description, error_path, spec_error
from spec_ref.core.records import evolve
from spec_ref.data_files.records import write_records
from spec_ref.data_types.types import NestedField
from spec_ref.data_types.values import value_key
from spec_ref.deletes.deletion_vector import encode_deletion_vector
from spec_ref.deletes.position_deletes import POSITION_DELETE_FIELDS
from spec_ref.expressions.predicates import TRUE, Predicate
from spec_ref.partitioning.split_by_partition import split_by_partition
from spec_ref.scan_planning import FileScanTask
from spec_ref.scan_planning.delete_scope import partition_key
from spec_ref.scan_planning.planner import plan
from spec_ref.scan_planning.rows import Row, TableRowReader
from spec_ref.schemas.schema import Schema
from spec_ref.schemas.written_rows import written_row
from spec_ref.snapshots.references import MAIN
from spec_ref.sorting.comparator import sort_rows
from spec_ref.sorting.order import UNSORTED_ID

NamedRecord: TypeAlias = Mapping[str, Any]
"""A row: values by column names."""

RecordValues: TypeAlias = Mapping[int, Any]
"""A row: values by field ids."""

ReplaceRecord: TypeAlias = Callable[[FileScanTask, int, NamedRecord], NamedRecord]
"""Takes a task, and the position and values of a row of its data file; returns the row that replaces it."""

ISOLATION = Isolation.SERIALIZABLE
GROUP_ROWS = 1000
"""The number of rows that are written between two checks of the file's size."""


def named_rows(_: Sequence[NestedField], rows: Sequence[NamedRecord]) -> list[NamedRecord]:
    """Return Python values by column names as rows to be written."""
    return list(rows)


# Files


class RecordFileWriter(FileWriter):
    """Writes one file of a plan, one row at a time."""

    _collect = RowMetricsCollector

    def write(self, batch: Sequence[RecordValues]) -> None:
        """Append rows of the plan's schema."""
        write_records(self._rows, self._plan.schema.fields, batch)
        self._collected.add(batch)


def write_rows(files: NewFiles, plan: WritePlan, rows: Iterable[NamedRecord], task: str = TASK) -> list[NewFile]:
    """Write rows to new files, sorted, with separate files for each partition.

    Raises:
        SpecError: a value that the schema does not allow; its path starts with the number of the row.
    """
    made = []
    for number, row in enumerate(rows):
        with error_path(f"/{number}"):
            made.append(written_row(plan.schema.fields, row))
    if made and not plan.schema.fields:
        raise spec_error(
            "TYP002", "rows without columns cannot be written", found=Description(plural(len(made), "row"))
        )
    names = (f"{task}-{plan.write_id}-{number:05d}" for number in itertools.count())
    added: list[NewFile] = []
    for partition, own in split_by_partition(plan.spec, plan.schema, made):
        ordered = own if plan.order.order_id == UNSORTED_ID else sort_rows(plan.order, plan.schema, own)
        added += _write_files(files, plan, partition, ordered, names)
    return added


def _write_files(
    files: NewFiles, plan: WritePlan, partition: RecordValues, rows: Sequence[RecordValues], names: Iterator[str]
) -> Iterator[NewFile]:
    """Write the rows of a partition to files, each of which is finished when it has the target size."""
    waiting = list(rows)
    while waiting:
        writer = RecordFileWriter(plan, partition, plan.file_location(partition, next(names)), files)
        try:
            while waiting:
                writer.write(waiting[:GROUP_ROWS])
                del waiting[:GROUP_ROWS]
                if writer.size() >= plan.target_bytes:  # which the header alone may have
                    break
            yield writer.finish()
        finally:
            writer.close()


# Rows of the table


@attrs.frozen
class MatchedRecords:
    """A data file with matching rows, like `conformance.table_io.writing.matching.MatchedFile`."""

    task: FileScanTask
    positions: tuple[int, ...] | None = None
    """The positions of the matching rows, ascending; None if all rows that are not deleted match."""


class TargetRecords:
    """The rows of a branch of a table that a change deletes or updates."""

    def __init__(self, table: WritableTable, branch: str) -> None:
        self.metadata = table.metadata
        check_branch(self.metadata, branch)
        self.snapshot = branch_head(self.metadata, branch)
        self._table = table.table

    def tasks(self, where: Predicate = TRUE) -> list[FileScanTask]:
        """Return the data files that may have matching rows, with all their deletes."""
        return list(
            plan(
                self.metadata,
                self.snapshot,
                where,
                self._table.manifest_reader(),
                include_column_stats=True,
                all_deletes=True,
            )
        )

    def find_matches(self, where: Predicate) -> list[MatchedRecords]:
        """Return the data files that have matching rows, and the positions of these rows.

        Raises:
            SpecError: the predicate does not fit the schema.
        """
        predicate = bound_filter(where, self.metadata)
        found = []
        for task in self.tasks(where):
            spec = self.metadata.spec_by_id(task.partition_spec_id)
            if not evaluate_file(predicate, task.data_file, spec).might_fail:
                found.append(MatchedRecords(task))
                continue
            positions = tuple(row.position for row in self._read(task, ()))
            if len(positions) == task.data_file.record_count:
                found.append(MatchedRecords(task))
            elif positions:
                found.append(MatchedRecords(task, positions))
        return found

    def rows(self, task: FileScanTask, names: Sequence[str] | None = None) -> Iterator[tuple[int, NamedRecord]]:
        """Yield the rows of a data file that are not deleted and match the task's filter, with their positions.

        Args:
            task: the data file.
            names: the columns to read; by default all, and those of row lineage if the version has them.
        """
        lineage = LINEAGE if names is None and has_row_ids(self.metadata) else ()
        fields = {field.id: field.name for field in self.metadata.current_schema.fields}
        for row in self._read(task, names, *lineage):
            made = {fields[field_id]: value for field_id, value in row.values.items()}
            if lineage:
                made |= dict(zip(LINEAGE, (row.row_id, row.last_updated_sequence_number), strict=True))
            yield row.position, made

    def all_rows(self, task: FileScanTask) -> Iterator[tuple[int, NamedRecord]]:
        """Yield all rows that are not deleted, in the form of `rows`."""
        return self.rows(attrs.evolve(task, residual=TRUE))  # type: ignore[misc]

    def reader(self, names: Sequence[str] | None = (), *metadata_columns: str) -> TableRowReader:
        """Make a reader of some columns of data files, or of all for None, and of metadata columns.

        Raises:
            SpecError: RES002, for a table with a column that has the name of a metadata column of row lineage; TYP002,
                for a name that several columns have.
        """
        check_lineage_names(self.metadata)
        read_plan = make_read_plan(self._table, self.metadata.current_schema, names)
        return row_reader(attrs.evolve(read_plan, metadata_columns=metadata_columns))

    def _read(self, task: FileScanTask, names: Sequence[str] | None, *metadata_columns: str) -> Iterator[Row]:
        with name_file_in_errors(task.data_file.file_path):
            yield from self.reader(names, *metadata_columns).rows(task)


# Changing rows


def _change_rows(
    target: TargetRecords,
    matched: Sequence[MatchedRecords],
    mode: Mode,
    plan: WritePlan,
    files: NewFiles,
    make: ReplaceRecord | None = None,
) -> tuple[FileChanges, list[NamedRecord]]:
    """Delete rows, or replace them by changed ones.

    Returns:
        The files of the change, and the rows that it writes.
    """
    pieces = FileChanges()
    rows: list[NamedRecord] = []
    deleted: list[RowsToDelete] = []
    for one in matched:
        whole = one.positions is None or _is_rest(one, target)
        if whole or mode is Mode.COPY_ON_WRITE:
            pieces.remove(one.task)
        else:
            deleted.append(RowsToDelete(one.task, one.positions or ()))
            pieces.deleted_from.add(one.task.data_file.file_path)
        if make is None and (whole or mode is not Mode.COPY_ON_WRITE):
            continue
        for position, row in target.all_rows(one.task):
            if whole or position in (one.positions or ()):
                if make is not None:
                    rows.append(make(one.task, position, row))
            elif mode is Mode.COPY_ON_WRITE:
                rows.append(row)
    deletes = write_positions(target.metadata, deleted, _encoding(target), plan, files)
    pieces.added += deletes.added
    pieces.removed_deletes |= set(deletes.replaced)
    return pieces, rows


def _is_rest(one: MatchedRecords, target: TargetRecords) -> bool:
    """Return whether the matching rows are all remaining rows of a file."""
    assert one.positions is not None
    if any(delete.data_file.equality_ids for delete in one.task.deletes):
        return False
    earlier = target.reader().deleted_positions(one.task)
    return len(earlier.union(one.positions)) == one.task.data_file.record_count


def _encoding(target: TargetRecords) -> DeleteEncoding:
    def rows(one: RowsToDelete) -> list[RecordValues]:
        path, pos = POSITION_DELETE_FIELDS
        return [{path.id: one.task.data_file.file_path, pos.id: position} for position in one.positions]

    def vector(one: RowsToDelete) -> tuple[int, bytes]:
        positions = target.reader().deleted_positions(one.task).union(one.positions)
        return len(positions), encode_deletion_vector(positions)

    return DeleteEncoding(RecordFileWriter, rows, vector)


def _replace_columns(row: NamedRecord, values: NamedRecord) -> NamedRecord:
    """Return a row with some columns replaced: it keeps its id, and the commit is its last update (LIN009, LIN010)."""
    return {**row, **values, **({LINEAGE[1]: None} if LINEAGE[1] in row else {})}


# Operations


def append(table: WritableTable, rows: Sequence[NamedRecord], *, branch: str = MAIN) -> CommitResult:
    """Add rows."""
    check_branch(table.metadata, branch)
    with operation_files() as files:
        return table.commit(changes.append(write_rows(files, plan_write(table.metadata), rows), branch=branch))


def overwrite(
    table: WritableTable,
    rows: Sequence[NamedRecord],
    where: Predicate = TRUE,
    *,
    mode: Mode | None = None,
    branch: str = MAIN,
) -> CommitResult:
    """Delete the matching rows, and add others."""
    with operation_files() as files:
        target = TargetRecords(table, branch)
        mode = to_position_mode(resolve_mode(table.metadata, "delete", mode))
        plan = plan_write(table.metadata, lineage=mode is Mode.COPY_ON_WRITE)
        pieces, kept = _change_rows(target, target.find_matches(where), mode, plan, files)
        pieces.added += write_rows(files, plan, [*rows, *kept])
        return table.commit(pieces.change(branch, where, ISOLATION, ()))


def delete(table: WritableTable, where: Predicate, *, mode: Mode | None = None, branch: str = MAIN) -> CommitResult:
    """Delete the matching rows. A file all of whose rows match is removed as a whole, whatever the mode."""
    with operation_files() as files:
        target = TargetRecords(table, branch)
        mode = resolve_mode(table.metadata, "delete", mode)
        plan = plan_write(table.metadata, lineage=True)
        matched = target.find_matches(where)
        if mode is Mode.EQUALITY:
            pieces = _deleted_by_equality(target, matched, where, plan, files)
        else:
            pieces, kept = _change_rows(target, matched, mode, plan, files)
            pieces.added += write_rows(files, plan, kept)
        return table.commit(pieces.change(branch, where, ISOLATION, ()))


def _deleted_by_equality(
    target: TargetRecords, matched: Sequence[MatchedRecords], where: Predicate, plan: WritePlan, files: NewFiles
) -> FileChanges:
    """Make equality deletes by the columns of the predicate, as every row with the same values matches, too."""
    pieces = FileChanges()
    partial: list[FileScanTask] = []
    for one in matched:
        if one.positions is None:
            pieces.remove(one.task)
        else:
            partial.append(one.task)
            # The deletes would not apply to rows that others move to files of a different partition spec.
            pieces.deleted_from.add(one.task.data_file.file_path)
    if not partial:
        return pieces
    names = compared_columns(where, target.metadata)
    groups: dict[Hashable, tuple[WritePlan, RecordValues, list[NamedRecord]]] = {}
    for task in partial:
        own = plan_equality_deletes(target.metadata, names, plan, task.partition_spec_id)
        found = groups.setdefault(partition_key(task.data_file, own.spec), (own, task.data_file.partition, []))
        found[2].extend(row for _, row in target.rows(task, names))
    for number, (own, partition, rows) in enumerate(groups.values()):
        keys = [written_row(own.schema.fields, row) for row in rows]
        distinct = list({value_key(own.struct, key): key for key in reversed(keys)}.values())[::-1]
        name = f"{TASK}-{plan.write_id}-{own.spec.spec_id}-{number:05d}-deletes"
        pieces.added += _write_files(files, own, partition, distinct, iter([name]))
    return pieces


def delete_keys(
    table: WritableTable, keys: Sequence[NamedRecord], *, rows: Sequence[NamedRecord] | None = None, branch: str = MAIN
) -> CommitResult:
    """Delete the rows that have given values, by equality deletes, without reading the table (DEL017 to DEL023)."""
    metadata = table.metadata
    check_branch(metadata, branch)
    names = list(dict.fromkeys(name for key in keys for name in key))
    with operation_files() as files:
        plan = plan_write(metadata)
        added = [] if rows is None else write_rows(files, plan, rows)
        specs: frozenset[int] | None = frozenset()
        for spec_id in specs_with_data(table.table, branch):
            own = plan_equality_deletes(metadata, names, plan, spec_id)
            if determines_partition(own):
                specs = None if specs is None or own.spec.is_unpartitioned else specs | {spec_id}
                added += write_rows(files, own, keys, f"{TASK}-{spec_id}-deletes")
            else:
                added += _for_each_partition(TargetRecords(table, branch), own, keys, files)
        validation = Validation(data_specs=specs)
        return table.commit(changes.row_delta(added, branch=branch, validation=validation))


def _for_each_partition(
    target: TargetRecords, plan: WritePlan, keys: Sequence[NamedRecord], files: NewFiles
) -> Iterator[NewFile]:
    """Write the same equality deletes for every partition of a spec that has data files."""
    partitions = {
        partition_key(task.data_file, plan.spec): task.data_file.partition
        for task in target.tasks()
        if task.partition_spec_id == plan.spec.spec_id
    }
    rows = [written_row(plan.schema.fields, key) for key in keys]
    for number, partition in enumerate(partitions.values()):
        name = f"{TASK}-{plan.write_id}-{plan.spec.spec_id}-{number:05d}-deletes"
        yield from _write_files(files, plan, partition, rows, iter([name]))


def update(
    table: WritableTable,
    assignments: NamedRecord,
    where: Predicate = TRUE,
    *,
    mode: Mode | None = None,
    branch: str = MAIN,
) -> CommitResult:
    """Change columns of the matching rows, which keep their row ids (LIN009, LIN010, LIN012)."""
    metadata = table.metadata
    known = [field.name for field in metadata.current_schema.fields]
    for name in assignments:
        if name not in known:
            raise spec_error("TYP002", "the schema does not have the column", found=name, expected=", ".join(known))
    with operation_files() as files:
        target = TargetRecords(table, branch)
        mode = to_position_mode(resolve_mode(metadata, "update", mode))
        plan = plan_write(metadata, lineage=True)
        matched = target.find_matches(where)
        pieces, rows = _change_rows(
            target, matched, mode, plan, files, lambda _, __, row: _replace_columns(row, assignments)
        )
        pieces.added += write_rows(files, plan, rows)
        return table.commit(pieces.change(branch, where, ISOLATION, ()))


def merge(
    table: WritableTable,
    source: Sequence[NamedRecord],
    on: Sequence[str],
    *,
    mode: Mode | None = None,
    branch: str = MAIN,
) -> CommitResult:
    """Change the rows that have the keys of rows of a source, and add the other rows of the source."""
    metadata = table.metadata
    names = list(dict.fromkeys(name for row in source for name in row))
    check_source(metadata.current_schema, names, on, {name: name for name in names})
    keys = _Keys(metadata.current_schema, source, on)
    with operation_files() as files:
        target = TargetRecords(table, branch)
        partners: dict[tuple[str, int], int] = {}
        matched = []
        for task in target.tasks():
            path = task.data_file.file_path
            found = {position: keys.find(row) for position, row in target.rows(task, on)}
            partners |= {(path, position): index for position, index in found.items() if index is not None}
            positions = tuple(position for position in found if (path, position) in partners)
            if positions:
                matched.append(MatchedRecords(task, positions))
        mode = to_position_mode(resolve_mode(metadata, "merge", mode))
        plan = plan_write(metadata, lineage=True)

        def make(task: FileScanTask, position: int, row: NamedRecord) -> NamedRecord:
            return _replace_columns(row, source[partners[task.data_file.file_path, position]])

        pieces, rows = _change_rows(target, matched, mode, plan, files, make)
        found_rows = set(partners.values())
        others = [row for index, row in enumerate(source) if index not in found_rows]
        pieces.added += write_rows(files, plan, [*rows, *others])
        return table.commit(pieces.change(branch, TRUE, ISOLATION, ()))


class _Keys:
    """The keys of the rows of a source; null equals nothing, and NaN equals NaN."""

    def __init__(self, schema: Schema, rows: Sequence[NamedRecord], on: Sequence[str]) -> None:
        self._fields = [attrs.evolve(field, required=False) for field in schema.fields if field.name in on]  # type: ignore[misc]
        self._found: dict[Hashable, list[int]] = {}
        for index, row in enumerate(rows):
            written_row(self._fields, {field.name: row[field.name] for field in self._fields})
            self._found.setdefault(self._key(row), []).append(index)

    def _key(self, row: NamedRecord) -> tuple[Hashable, ...]:
        return tuple(value_key(field.type, row[field.name]) for field in self._fields)

    def find(self, row: NamedRecord) -> int | None:
        """Return the row of the source that a row matches; None for none.

        Raises:
            SpecError: TYP002, if two rows of the source match it.
        """
        key = self._key(row)
        found = [] if None in key else self._found.get(key, [])
        if len(found) > 1:
            raise spec_error("TYP002", "two rows of the source match one row of the table", found=Description(str(row)))
        return found[0] if found else None


def compact(table: WritableTable, *, branch: str = MAIN) -> CommitResult | None:
    """Rewrite files without deleted rows, and with the default partition spec (LIN009, LIN011, SEQ007)."""
    metadata = table.metadata
    with operation_files() as files:
        target = TargetRecords(table, branch)
        tasks = select_for_compaction(metadata, target.tasks(), MIN_FILES)
        if not tasks:
            return None
        pieces = FileChanges()
        rows = [row for task in tasks for _, row in target.all_rows(task)]
        for task in tasks:
            pieces.remove(task)
        assert target.snapshot is not None
        number = target.snapshot.sequence_number if next_sequence_number(metadata) else None
        new = write_rows(files, plan_write(metadata, lineage=True), rows)
        pieces.added += (evolve(one, data_sequence_number=number) for one in new)
        return table.commit(
            changes.rewrite_files(pieces.added, pieces.removed, removed_deletes=pieces.removed_deletes, branch=branch)
        )

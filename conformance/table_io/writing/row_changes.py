"""Changing rows of the table, by rewriting their files or with delete files (Row-level Deletes)."""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import attrs
import numpy as np
import pyarrow as pa

from conformance.core.failures import UsageError
from conformance.table_io.writing.deletes import (
    RowsToDelete,
    already_deleted_positions,
    columnar_encoding,
    file_scoped_deletes,
    write_positions,
)
from conformance.table_io.writing.files import NewFiles
from conformance.table_io.writing.matching import (
    LINEAGE,
    MatchedFile,
    TargetRows,
    drop_position_column,
    position_column,
)
from conformance.table_io.writing.plans import WritePlan
from conformance.table_io.writing.write_tasks import RowSink
from spec_ref.commits.changes import Isolation, NewFile, SnapshotChange, Validation, validation_for
from spec_ref.commits.reading import FileKey, file_key
from spec_ref.core.errors import spec_error
from spec_ref.core.versions import DELETE_FILES
from spec_ref.expressions.predicates import Predicate
from spec_ref.scan_planning import FileScanTask
from spec_ref.table_metadata import TableMetadata

ReplaceRows = Callable[[FileScanTask, pa.RecordBatch], pa.RecordBatch]
"""Takes a task and matching rows of its data file, with ``_pos`` as the last column; returns the rows that replace
them."""


class Mode(enum.Enum):
    """How rows of the table are changed."""

    COPY_ON_WRITE = "copy-on-write"
    """Data files with changed rows are rewritten."""

    MERGE_ON_READ = "merge-on-read"
    """Changed rows are deleted by position, and the rows that replace them are added."""

    EQUALITY = "equality"
    """Rows are deleted by their values in the columns of the predicate."""


def resolve_mode(metadata: TableMetadata, operation: str, mode: Mode | None) -> Mode:
    """Return the mode of an operation (``delete``, ``update`` or ``merge``), by default that of the table's properties.

    Raises:
        SpecError: DEL001, if the mode needs delete files and the format version has none.
    """
    if mode is None:
        text = metadata.properties.get(f"write.{operation}.mode", Mode.COPY_ON_WRITE.value)
        if text not in {one.value for one in Mode}:
            known = ", ".join(one.value for one in Mode)
            raise UsageError(f"write.{operation}.mode is {text}, which is not one of {known}")
        mode = Mode(text)
    if mode is not Mode.COPY_ON_WRITE and not DELETE_FILES.is_supported(metadata.format_version):
        raise spec_error(
            "DEL001", "delete files are not allowed in v1", found=mode.value, expected=Mode.COPY_ON_WRITE.value
        )
    return mode


@attrs.define
class FileChanges:
    """Collects the files that a change of rows adds and removes."""

    added: list[NewFile] = attrs.field(factory=list)
    removed: set[str] = attrs.field(factory=set)
    removed_deletes: set[FileKey] = attrs.field(factory=set)
    deleted_from: set[str] = attrs.field(factory=set)
    """Data files that stay in the table and some of whose rows are deleted."""

    def remove(self, task: FileScanTask) -> None:
        """Remove a data file with the delete files that only apply to it; the commit removes its vector (DEL004)."""
        self.removed.add(task.data_file.file_path)
        self.removed_deletes |= {file_key(one) for one in file_scoped_deletes(task) if not one.is_deletion_vector}

    def change(
        self, branch: str, where: Predicate, isolation: Isolation | None, summary: tuple[tuple[str, str], ...]
    ) -> SnapshotChange:
        """Return the change to commit; without an isolation level, no concurrent change is a conflict."""
        validation = Validation(files_exist=tuple(sorted(self.deleted_from)))
        if isolation is not None:
            validation = validation_for(isolation, where, sorted(self.deleted_from))
        return SnapshotChange(
            added=tuple(self.added),
            removed=frozenset(self.removed),
            removed_deletes=frozenset(self.removed_deletes),
            branch=branch,
            validation=validation,
            merges=True,
            summary=summary,
        )


def change_rows(
    target: TargetRows,
    matched: Sequence[MatchedFile],
    mode: Mode,
    plan: WritePlan,
    files: NewFiles,
    sink: RowSink,
    make: ReplaceRows | None = None,
) -> FileChanges:
    """Delete rows, or replace them by changed ones.

    Args:
        target: the rows of the table.
        matched: the matching rows.
        mode: how rows are changed.
        plan: the plan of the write.
        files: the files of the write.
        sink: takes the written rows; the caller finishes it.
        make: returns the rows that replace matching rows; None to delete them.
    """
    pieces = FileChanges()
    rewritten, kept = [], []
    for one in matched:
        whole = one.positions is None or _is_rest(one, target)
        if whole or mode is Mode.COPY_ON_WRITE:
            pieces.remove(one.task)
        else:
            kept.append(RowsToDelete(one.task, one.positions))  # type: ignore[arg-type]
            pieces.deleted_from.add(one.task.data_file.file_path)
        if make is not None or not whole:
            rewritten.append(attrs.evolve(one, positions=None) if whole else one)
    reads = [one for one in rewritten if make is not None or mode is Mode.COPY_ON_WRITE]
    by_path = {one.task.data_file.file_path: one.positions for one in reads}
    for task, batch in target.rows([one.task for one in reads]):
        positions = by_path[task.data_file.file_path]
        matches = np.ones(batch.num_rows, bool)
        if positions is not None:
            matches = np.isin(position_column(batch), positions)
        if mode is Mode.COPY_ON_WRITE and not matches.all():
            sink.add(drop_position_column(batch.filter(pa.array(~matches))))
        if make is not None and matches.any():
            sink.add(drop_position_column(make(task, batch.filter(pa.array(matches)))))
    deletes = write_positions(target.metadata, kept, columnar_encoding(target.deletes), plan, files)
    pieces.added += deletes.added
    pieces.removed_deletes |= set(deletes.replaced)
    return pieces


def _is_rest(one: MatchedFile, target: TargetRows) -> bool:
    """Return whether the matching rows are all remaining rows of a file."""
    assert one.positions is not None
    if any(delete.data_file.equality_ids for delete in one.task.deletes):
        return False
    return (
        len(one.positions) + len(already_deleted_positions(one.task, target.deletes)) == one.task.data_file.record_count
    )


def replace_columns(batch: pa.RecordBatch, columns: Mapping[str, Any]) -> pa.RecordBatch:
    """Return a batch with some columns replaced; rows keep their ids, and count as updated by the commit (LIN009)."""
    arrays: list[Any] = []
    for name, array in zip(batch.schema.names, batch.columns, strict=True):
        if name == LINEAGE[1]:
            arrays.append(pa.nulls(batch.num_rows, pa.int64()))
        else:
            arrays.append(columns.get(name, array))
    return pa.RecordBatch.from_arrays(arrays, names=batch.schema.names)

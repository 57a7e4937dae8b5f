"""Changing rows that are in the table: by writing their files anew, or by deletes beside them (Row-level Deletes)."""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import attrs
import numpy as np
import pyarrow as pa

from conformance.core.failures import UsageError
from conformance.table_io.writing.deletes import (
    DeletedRows,
    columnar_encoding,
    deletes_rows,
    earlier_positions,
    own_deletes,
    write_positions,
)
from conformance.table_io.writing.files import NewFiles
from conformance.table_io.writing.matching import LINEAGE, PLACE, Matched, Source, without_places
from conformance.table_io.writing.plans import WritePlan
from conformance.table_io.writing.write_tasks import RowSink
from spec_ref.commits.changes import Isolation, NewFile, SnapshotChange, Validation, validation_for
from spec_ref.commits.reading import FileKey, file_key
from spec_ref.core.errors import spec_error
from spec_ref.expressions.predicates import Predicate
from spec_ref.scan_planning import FileScanTask
from spec_ref.table_metadata import TableMetadata

Change = Callable[[FileScanTask, pa.RecordBatch], pa.RecordBatch]
"""Makes the rows that replace matching rows, given with ``_pos``, of a data file."""


class Mode(enum.Enum):
    """How rows that are in the table are changed."""

    COPY_ON_WRITE = "copy-on-write"
    """Files that have some of them are written anew."""

    MERGE_ON_READ = "merge-on-read"
    """They are deleted by their positions, and rows in their place are added."""

    EQUALITY = "equality"
    """They are deleted by the values of the columns that the predicate looks at."""


def mode_of(metadata: TableMetadata, operation: str, mode: Mode | None) -> Mode:
    """The mode of an operation (``delete``, ``update`` or ``merge``): what the table's properties say if none is given.

    Raises:
        SpecError: DEL001, for deletes in a version that has none.
    """
    if mode is None:
        text = metadata.properties.get(f"write.{operation}.mode", Mode.COPY_ON_WRITE.value)
        if text not in {one.value for one in Mode}:
            known = ", ".join(one.value for one in Mode)
            raise UsageError(f"write.{operation}.mode is {text}, which is not one of {known}")
        mode = Mode(text)
    if mode is not Mode.COPY_ON_WRITE and not deletes_rows(metadata.format_version):
        raise spec_error("DEL001", "v1 has no row-level deletes", found=mode.value, expected=Mode.COPY_ON_WRITE.value)
    return mode


@attrs.define
class Pieces:
    """What a change of rows adds and takes out, as it comes together."""

    added: list[NewFile] = attrs.field(factory=list)
    removed: set[str] = attrs.field(factory=set)
    removed_deletes: set[FileKey] = attrs.field(factory=set)
    deleted_from: set[str] = attrs.field(factory=set)
    """Data files that stay, and whose rows are deleted."""

    def remove(self, task: FileScanTask) -> None:
        """Take a data file out, and the delete files that are of it alone; its vector goes with it (DEL004)."""
        self.removed.add(task.data_file.file_path)
        self.removed_deletes |= {file_key(one) for one in own_deletes(task) if not one.is_deletion_vector}

    def change(
        self, branch: str, where: Predicate, isolation: Isolation | None, summary: tuple[tuple[str, str], ...]
    ) -> SnapshotChange:
        """The change to be committed; without an isolation nothing that others do is a conflict."""
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
    source: Source,
    matched: Sequence[Matched],
    mode: Mode,
    plan: WritePlan,
    files: NewFiles,
    sink: RowSink,
    make: Change | None = None,
) -> Pieces:
    """Delete rows, or replace them by what is made of them.

    Args:
        source: the rows of the table.
        matched: which of them.
        mode: how.
        plan: the plan of the write.
        files: the files of the write.
        sink: takes the rows that are written; it is not finished here.
        make: makes the rows in place of the matching ones; None to delete them.
    """
    pieces = Pieces()
    rewritten, kept = [], []
    for one in matched:
        whole = one.positions is None or _is_rest(one, source)
        if whole or mode is Mode.COPY_ON_WRITE:
            pieces.remove(one.task)
        else:
            kept.append(DeletedRows(one.task, one.positions))  # type: ignore[arg-type]
            pieces.deleted_from.add(one.task.data_file.file_path)
        if make is not None or not whole:
            rewritten.append(attrs.evolve(one, positions=None) if whole else one)
    reads = [one for one in rewritten if make is not None or mode is Mode.COPY_ON_WRITE]
    by_path = {one.task.data_file.file_path: one.positions for one in reads}
    for task, batch in source.rows([one.task for one in reads]):
        positions = by_path[task.data_file.file_path]
        matches = np.ones(batch.num_rows, bool)
        if positions is not None:
            matches = np.isin(np.asarray(batch.column(PLACE)), positions)
        if mode is Mode.COPY_ON_WRITE and not matches.all():
            sink.add(without_places(batch.filter(pa.array(~matches))))
        if make is not None and matches.any():
            sink.add(without_places(make(task, batch.filter(pa.array(matches)))))
    deletes = write_positions(source.metadata, kept, columnar_encoding(source.deletes), plan, files)
    pieces.added += deletes.added
    pieces.removed_deletes |= set(deletes.replaced)
    return pieces


def _is_rest(one: Matched, source: Source) -> bool:
    """Whether the matching rows are all that is left of a file."""
    assert one.positions is not None
    if any(delete.data_file.equality_ids for delete in one.task.deletes):
        return False
    return len(one.positions) + len(earlier_positions(one.task, source.deletes)) == one.task.data_file.record_count


def updated(batch: pa.RecordBatch, columns: Mapping[str, Any]) -> pa.RecordBatch:
    """A batch with some columns replaced: its rows keep their ids, and are updated by the commit (LIN009, LIN010)."""
    arrays: list[Any] = []
    for name, array in zip(batch.schema.names, batch.columns, strict=True):
        if name == LINEAGE[1]:
            arrays.append(pa.nulls(batch.num_rows, pa.int64()))
        else:
            arrays.append(columns.get(name, array))
    return pa.RecordBatch.from_arrays(arrays, names=batch.schema.names)

"""Finding the rows that a change deletes or updates: by the metadata of files, or by reading them (Scan Planning)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from conformance.table_io.delete_files import DeleteFiles
from conformance.table_io.local import read_in_threads
from conformance.table_io.planning import plan_tasks
from conformance.table_io.read_tasks import read_task
from conformance.table_io.reading import ReadPlan, make_read_plan
from conformance.table_io.tables import Table
from conformance.table_io.writing.plans import has_row_ids
from spec_ref.commits.conflict_evaluation import bound_filter, evaluate_file
from spec_ref.commits.reading import branch_head
from spec_ref.core.errors import spec_error
from spec_ref.expressions.predicates import TRUE, Predicate
from spec_ref.row_lineage.reading import LAST_UPDATED, ROW_ID
from spec_ref.scan_planning import FileScanTask
from spec_ref.snapshots.references import RefType
from spec_ref.table_metadata import TableMetadata

Positions = npt.NDArray[np.int64]

PLACE = "_pos"
LINEAGE = (ROW_ID.name, LAST_UPDATED.name)


@attrs.frozen
class MatchedFile:
    """A data file with matching rows."""

    task: FileScanTask
    positions: Positions | None = None
    """The positions of the matching rows, ascending; None if all rows that are not deleted match."""


class TargetRows:
    """The rows of a branch of a table that a change deletes or updates."""

    def __init__(self, table: Table, branch: str, threads: int) -> None:
        self.metadata: TableMetadata = table.metadata
        self.branch = branch
        self._table = table
        self._threads = threads
        check_branch(self.metadata, branch)
        self.snapshot = branch_head(self.metadata, branch)
        self._own = make_read_plan(table, self.metadata.current_schema)
        self.deletes = DeleteFiles(self._own)

    def tasks(self, where: Predicate = TRUE) -> list[FileScanTask]:
        """Return the data files that may have matching rows, with all their deletes.

        All deletes are needed, because whole files are rewritten, and a new deletion vector includes earlier deletes.
        """
        tasks = list(plan_tasks(self._table, self.snapshot, where, include_column_stats=True, all_deletes=True))
        self.deletes = DeleteFiles(self._own, tasks)
        return tasks

    def find_matches(self, where: Predicate) -> list[MatchedFile]:
        """Return the data files that have matching rows, and the positions of these rows.

        Raises:
            SpecError: the predicate does not fit the schema.
        """
        predicate = bound_filter(where, self.metadata)
        found: list[MatchedFile] = []
        unsure = []
        for task in self.tasks(where):
            spec = self.metadata.spec_by_id(task.partition_spec_id)
            if evaluate_file(predicate, task.data_file, spec).might_fail:
                unsure.append(task)
            else:
                found.append(MatchedFile(task))
        read_plan = self.plan_read((), PLACE)
        for task in unsure:
            parts = [position_column(batch) for batch in read_task(task, read_plan, self.deletes)]
            positions = np.concatenate(parts) if parts else np.zeros(0, np.int64)
            if len(positions) == task.data_file.record_count:
                found.append(MatchedFile(task))
            elif len(positions):
                found.append(MatchedFile(task, positions))
        return found

    def plan_read(self, names: Sequence[str] | None, *metadata_columns: str) -> ReadPlan:
        """Plan to read some columns, or all for None, and then metadata columns, even if columns have their names.

        Raises:
            SpecError: RES002, for a table with a column that has the name of a metadata column of row lineage; TYP002,
                for a name that several columns have.
        """
        check_lineage_names(self.metadata)
        made = make_read_plan(self._table, self.metadata.current_schema, names)
        return attrs.evolve(made, metadata_columns=metadata_columns)

    def rows(self, tasks: Sequence[FileScanTask]) -> Iterator[tuple[FileScanTask, pa.RecordBatch]]:
        """Read all rows of data files that are not deleted.

        The columns are those of the schema, those of row lineage if the version has them, and ``_pos``.
        """
        lineage = LINEAGE if has_row_ids(self.metadata) else ()
        read_plan = self.plan_read(None, *lineage, PLACE)

        def work(task: FileScanTask) -> Iterator[Any]:
            whole = attrs.evolve(task, residual=TRUE)  # type: ignore[misc]
            for batch in read_task(whole, read_plan, self.deletes):
                yield task, batch

        yield from read_in_threads(tasks, work, min(self._threads, max(1, len(tasks))))  # type: ignore[misc]


def check_branch(metadata: TableMetadata, branch: str) -> None:
    """Refuse to write to a tag, as its snapshot must not change (REF001)."""
    ref = metadata.references.get(branch)
    if ref is not None and ref.type is not RefType.BRANCH:
        raise spec_error("REF001", "the reference is a tag, to which rows cannot be written", found=branch)


def check_lineage_names(metadata: TableMetadata) -> None:
    """Refuse a column with the name of a column of row lineage, as data files would have both (RES002)."""
    for field in metadata.current_schema.fields:
        if field.name in LINEAGE:
            message = "a column has the name of a metadata column; rename it to change rows"
            raise spec_error("RES002", message, found=field.name)


def position_column(batch: pa.RecordBatch) -> Positions:
    """Return the ``_pos`` of a batch: the last column."""
    return np.asarray(batch.column(batch.num_columns - 1))


def drop_position_column(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return a batch without ``_pos``."""
    return batch.select(list(range(batch.num_columns - 1)))

"""Reading the rows of one data file: a pure function from a scan task to Arrow batches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from conformance.table_io.delete_files import DeleteFiles
from conformance.table_io.encryption import open_data_file
from conformance.table_io.reading import ReadPlan, name_file_in_errors
from spec_ref.columnar.deletes.equality_deletes import delete_column_array
from spec_ref.columnar.expressions.evaluation import evaluate_array
from spec_ref.columnar.row_lineage.reading import last_updates, row_ids
from spec_ref.columnar.schemas.arrow_columns import arrow_field, arrow_type
from spec_ref.columnar.schemas.column_projection import FileProjection, compile_projection, constant_array
from spec_ref.data_files.batches import BATCH_ROWS
from spec_ref.data_files.reader import DataFileReader, open_rows
from spec_ref.data_types.types import Type
from spec_ref.expressions.predicates import TRUE
from spec_ref.partitioning.spec import identity_values
from spec_ref.row_lineage.reading import LAST_UPDATED, ROW_ID
from spec_ref.scan_planning.rows import referenced_ids
from spec_ref.scan_planning.tasks import FileScanTask
from spec_ref.schemas.column_projection import select_fields
from spec_ref.schemas.reserved_field_ids import BY_NAME


def arrow_schema(read_plan: ReadPlan) -> pa.Schema:
    """Return the schema of the batches of a read."""
    given = [arrow_field(field) for field in read_plan.fields]
    return pa.schema([*given, *(_metadata_field(read_plan, name) for name in read_plan.metadata_columns)])


def _metadata_field(read_plan: ReadPlan, name: str) -> pa.Field:  # type: ignore[type-arg]
    optional = name in ("_row_id", "_last_updated_sequence_number")
    return pa.field(name, arrow_type(metadata_type(read_plan, name)), nullable=optional)


def metadata_type(read_plan: ReadPlan, name: str) -> Type:
    """Return the type of a metadata column."""
    return BY_NAME[name].type or read_plan.partition_type


def read_task(
    task: FileScanTask,
    read_plan: ReadPlan,
    deletes: DeleteFiles | None = None,
    *,
    batch_rows: int = BATCH_ROWS,
    threads: bool = False,
) -> Iterator[pa.RecordBatch]:
    """Read the rows of a data file that are not deleted and match the filter, in the order of the file.

    Args:
        task: the data file, its deletes and the residual filter for its rows.
        read_plan: the columns to read.
        deletes: the reader of delete files, shared by the tasks of one process.
        batch_rows: the maximum number of rows that are decoded at once.
        threads: whether columns are decoded by several threads.

    Raises:
        SpecError: a file is damaged, differs from its manifest entry, or cannot be read with the schema.
        FileAccessError: a file is missing or cannot be read.
    """
    file = task.data_file
    found = _Deletes.of(task, deletes or DeleteFiles(read_plan))
    with name_file_in_errors(file.file_path), open_data_file(file) as (opened, decryption):
        options = {"use_threads": threads, "use_dictionaries": True, "decryption_properties": decryption}
        rows = open_rows(opened, file.file_format, read_plan.mapping, **options)
        reader = _Reader.of(task, read_plan, found, rows)
        first = 0
        for batch in rows.batches(reader.columns, batch_rows):
            made = reader.read(batch, first)
            first += batch.num_rows
            if made.num_rows:
                yield made


@attrs.frozen
class _Deletes:
    """The deletes of one data file."""

    positions: Any
    indexes: Any

    @classmethod
    def of(cls, task: FileScanTask, deletes: DeleteFiles) -> _Deletes:
        return cls(deletes.positions(task), deletes.indexes(task))


@attrs.frozen
class _Reader:
    """Reads the batches of one data file. All projections use the same columns of the file."""

    task: FileScanTask
    read_plan: ReadPlan
    deletes: _Deletes
    output: FileProjection
    tested: FileProjection
    """The columns of the filter, with the names of the table."""

    compared: FileProjection
    """The columns of the equality deletes, in the order of the indexes."""

    lineage: FileProjection
    """``_row_id`` and ``_last_updated_sequence_number`` as stored in the file."""

    schema: pa.Schema

    @classmethod
    def of(cls, task: FileScanTask, read_plan: ReadPlan, deletes: _Deletes, rows: DataFileReader) -> _Reader:
        constants = identity_values(read_plan.spec(task.partition_spec_id), task.data_file.partition)
        filtered = select_fields(read_plan.schema, frozenset(referenced_ids(task.residual)))
        compared = [column.field for columns, _ in deletes.indexes for column in columns]
        lineage = [field for field in (ROW_ID, LAST_UPDATED) if field.name in read_plan.metadata_columns]
        output, tested, others, stored = (
            compile_projection(fields, rows.columns, constants)
            for fields in (read_plan.fields, filtered, compared, lineage)
        )
        return cls(task, read_plan, deletes, output, tested, others, stored, arrow_schema(read_plan))

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns of the file to read."""
        projections = (self.output, self.tested, self.compared, self.lineage)
        return tuple(dict.fromkeys(name for projection in projections for name in projection.columns))

    def read(self, batch: pa.RecordBatch, first: int) -> pa.RecordBatch:
        """Return the resulting rows of a batch of the file, whose first row has the position ``first``."""
        deleted = self._deleted_mask(batch, first)
        flagged = "_deleted" in self.read_plan.metadata_columns
        kept = np.ones(batch.num_rows, bool) if flagged or deleted is None else ~deleted
        if self.task.residual != TRUE:
            kept &= np.asarray(evaluate_array(self.task.residual, self.tested(batch)).to_numpy(zero_copy_only=False))
        left = _keep_rows(batch, kept)
        given = self.output(left)
        if not self.read_plan.metadata_columns:
            return given
        places = np.flatnonzero(kept)
        was_deleted = np.zeros(len(places), bool) if deleted is None else deleted[places]
        arrays = [*given.columns, *self._metadata(left, pa.array(places + first, pa.int64()), was_deleted)]
        return pa.RecordBatch.from_arrays(arrays, schema=self.schema)

    def _deleted_mask(self, batch: pa.RecordBatch, first: int) -> Any:
        """Return a mask of the deleted rows; None if no deletes apply to the file."""
        mask = None
        if self.deletes.positions is not None:
            mask = self.deletes.positions.deleted_mask(first, batch.num_rows)
        if self.deletes.indexes:
            mask = np.zeros(batch.num_rows, bool) if mask is None else mask
            compared = self.compared(batch)
            place = 0
            for columns, index in self.deletes.indexes:
                values = [delete_column_array(column, compared, place + at) for at, column in enumerate(columns)]
                mask |= index.deleted_mask(values, batch.num_rows, self.task.data_sequence_number)
                place += len(columns)
        return mask

    def _metadata(self, left: pa.RecordBatch, positions: Any, deleted: Any) -> Iterator[Any]:
        task, file, rows = self.task, self.task.data_file, len(positions)
        lineage = self.lineage(left)
        for field in list(self.schema)[len(self.read_plan.fields) :]:
            match field.name:
                case "_file":
                    yield pa.repeat(file.file_path, rows)
                case "_pos":
                    yield positions
                case "_deleted":
                    yield pa.array(deleted)
                case "_spec_id":
                    yield pa.repeat(pa.scalar(task.partition_spec_id, pa.int32()), rows)
                case "_partition":
                    yield constant_array(self.read_plan.partition_type, dict(file.partition), rows)
                case "_row_id":
                    yield row_ids(lineage.column("_row_id"), file.first_row_id, positions)
                case _:
                    stored = lineage.column("_last_updated_sequence_number")
                    yield last_updates(stored, file.first_row_id, task.data_sequence_number, rows)


_MOST = 0.9


def _keep_rows(batch: pa.RecordBatch, kept: npt.NDArray[np.bool_]) -> pa.RecordBatch:
    """Return the rows that are kept.

    Arrow copies runs of kept rows if it filters an array, and single rows if it filters a batch. The former is several
    times faster if few rows are removed, and several times slower if few are kept.
    """
    count = np.count_nonzero(kept)
    if count == batch.num_rows:
        return batch
    mask = pa.array(kept)
    if (
        count < _MOST * batch.num_rows or not batch.num_columns
    ):  # without columns, arrays do not show the number of rows
        return batch.filter(mask)
    return pa.RecordBatch.from_arrays([column.filter(mask) for column in batch.columns], schema=batch.schema)

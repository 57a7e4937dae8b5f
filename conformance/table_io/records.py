"""Reading tables one row at a time with `spec_ref.scan_planning`, which gets the files by their locations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import attrs

from conformance.core.lazy_imports import lazy_imports
from conformance.table_io.encryption import open_data_file
from conformance.table_io.reading import ReadPlan, make_read_plan, name_file_in_errors, read_vector
from conformance.table_io.tables import Table
from spec_ref.expressions.predicates import TRUE, Predicate
from spec_ref.manifests.data_file import DataFile
from spec_ref.scan_planning import FileScanTask, table_state
from spec_ref.scan_planning.planner import plan
from spec_ref.scan_planning.rows import RecordFile, Row, TableRowReader

with lazy_imports():
    from spec_ref.data_files import records as data_records


def read_rows(
    table: Table,
    *,
    snapshot_id: int | None = None,
    ref: str | None = None,
    timestamp_ms: int | None = None,
    select: Sequence[str] | None = None,
    filter: Predicate = TRUE,
) -> Iterator[dict[str, Any]]:
    """Read the rows of a table as values of the spec by column names; see `conformance.table_io.local`.

    Raises:
        SpecError, FileAccessError: as `conformance.table_io.local.read_table`.
    """
    state = table_state(table.metadata, snapshot_id=snapshot_id, ref=ref, timestamp_ms=timestamp_ms)
    read_plan = make_read_plan(table, state.schema, select)
    reader = row_reader(read_plan)
    for task in plan(table.metadata, state.snapshot, filter, table.manifest_reader(), schema=state.schema):
        with name_file_in_errors(task.data_file.file_path):
            for row in reader.rows(task):
                yield _name_columns(read_plan, task, row)


def row_reader(read_plan: ReadPlan) -> TableRowReader:
    """Make the reader of the rows of scan tasks."""
    return TableRowReader(
        schema=read_plan.schema,
        fields=read_plan.fields,
        schemas=read_plan.schemas,
        specs=read_plan.specs,
        files=_Files(read_plan),
        include_lineage=not {"_row_id", "_last_updated_sequence_number"}.isdisjoint(read_plan.metadata_columns),
        include_deleted="_deleted" in read_plan.metadata_columns,
    )


def _name_columns(read_plan: ReadPlan, task: FileScanTask, row: Row) -> dict[str, Any]:
    """Return a row with its metadata columns, by name."""
    partition = {field.id: task.data_file.partition.get(field.id) for field in read_plan.partition_type.fields}
    known = {
        "_file": task.data_file.file_path,
        "_pos": row.position,
        "_deleted": row.is_deleted,
        "_spec_id": task.partition_spec_id,
        "_partition": partition,
        "_row_id": row.row_id,
        "_last_updated_sequence_number": row.last_updated_sequence_number,
    }
    values = {field.name: row.values[field.id] for field in read_plan.fields}
    return values | {name: known[name] for name in read_plan.metadata_columns}


@attrs.frozen
class _Files:
    """The data files and delete files of a table, by their locations."""

    read_plan: ReadPlan

    @contextmanager
    def records(self, file: DataFile) -> Iterator[RecordFile]:
        """Open a file of rows."""
        with name_file_in_errors(file.file_path), open_data_file(file) as (opened, decryption):
            yield data_records.open_records(
                opened, file.file_format, self.read_plan.mapping, decryption_properties=decryption
            )

    def blob(self, file: DataFile) -> bytes:
        """Return the bytes of a deletion vector."""
        return read_vector(file)

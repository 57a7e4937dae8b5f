"""The rows of a scan task, one at a time (Scan Planning; Column Projection; Delete Formats; Row Lineage).

A row of a data file is read if no delete that applies to the file deletes it, and if it matches the residual filter.
Its columns are projected from those of the file, and its row id and last update are inherited from the file's entry.
`DataFiles` reads the bytes of data files and delete files.

This is the definition. `conformance.table_io` does the same with Arrow batches, locally and on clusters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from typing import Any, Protocol, TypeAlias

import attrs

from spec_ref.core.errors import Description, spec_error
from spec_ref.core.records import record
from spec_ref.data_types.types import NestedField, StructType
from spec_ref.deletes.deletion_vector import DeletionVector, decode_deletion_vector
from spec_ref.deletes.equality_deletes import DeleteColumn, delete_column, is_deleted
from spec_ref.deletes.position_deletes import POSITION_DELETE_FIELDS, deleted_positions
from spec_ref.expressions.bound import BoundPredicate, BoundReference, evaluate
from spec_ref.manifests.data_file import DataFile, FileContent
from spec_ref.partitioning.spec import PartitionSpec, identity_values
from spec_ref.row_lineage.reading import LAST_UPDATED, ROW_ID, last_updated, row_id
from spec_ref.scan_planning.tasks import FileScanTask, ScanDelete
from spec_ref.schemas.column_projection import (
    Constants,
    FileColumns,
    check_selected,
    project_row,
    select_fields,
    source_column,
)
from spec_ref.schemas.schema import Schema

Values: TypeAlias = Mapping[int, Any]
"""Values by field id."""


@record
class RecordFile:
    """An opened data file or delete file."""

    columns: FileColumns

    rows: Callable[[Sequence[NestedField]], Iterator[Values]]
    """Reads the rows in the order of the file, with the values of the requested columns."""


class DataFiles(Protocol):
    """The data files and delete files of a table."""

    def records(self, file: DataFile) -> AbstractContextManager[RecordFile]:
        """Open a file of rows.

        Args:
            file: the manifest entry's data file or delete file.

        Returns:
            A context manager that returns the opened file and closes it.
        """
        ...

    def blob(self, file: DataFile) -> bytes:
        """Read the bytes of a deletion vector.

        Args:
            file: the manifest entry's file, with the offset and size of the blob.

        Returns:
            The blob.
        """
        ...


@record
class Row:
    """A row of a table."""

    values: Values
    """The requested columns."""

    position: int
    """The position of the row in its file, from 0 (RES002)."""

    is_deleted: bool
    row_id: int | None
    """The id of the row (LIN002); None for files without row lineage, and if it was not requested."""

    last_updated_sequence_number: int | None


@record
class TableRowReader:
    """Reads the rows of the data files of a table, with some options."""

    schema: Schema
    """The schema to read with."""

    fields: tuple[NestedField, ...]
    """The columns to read; a struct has only the requested fields."""

    schemas: tuple[Schema, ...]
    """The schema, then those of the table from the newest to the oldest, for columns that deletes compare (DEL022)."""

    specs: Mapping[int, PartitionSpec]

    files: DataFiles

    include_lineage: bool = False
    """Whether rows have their ids and the sequence numbers of their last changes."""

    include_deleted: bool = False
    """Whether deleted rows are returned too."""

    def rows(self, task: FileScanTask) -> Iterator[Row]:
        """Read the rows of a data file.

        Args:
            task: a task of `spec_ref.scan_planning.planner.plan`.

        Yields:
            The rows that match, in the order of the file.

        Raises:
            SpecError: a file is damaged, does not match its manifest entry, or cannot be read with the schema; TMD010
                if the table does not have the partition spec of the task.
        """
        entry, number = task.data_file, task.data_sequence_number
        constants = self._constants(task.partition_spec_id, entry)
        vector, positions = self._vector(task), self._positions(task)
        deletes = [self._equality_deletes(delete) for delete in applicable_equality_deletes(task)]
        tested = select_fields(self.schema, frozenset(referenced_ids(task.residual)))
        stored = (ROW_ID, LAST_UPDATED) if self.include_lineage else ()
        compared = [column.field for columns, _ in deletes for column in columns]
        with self.files.records(entry) as file:
            columns = _columns((*self.fields, *tested, *stored, *compared), file.columns, constants)
            for position, row in enumerate(file.rows(columns)):
                read = partial(project_row, file_columns=file.columns, row=row, constants=constants)
                deleted = (
                    position in positions
                    or (vector is not None and position in vector)
                    or any(is_deleted(_compared_values(columns, read), rows) for columns, rows in deletes)
                )
                if (deleted and not self.include_deleted) or not evaluate(task.residual, read(tested)):
                    continue
                own = read(stored)
                yield Row(
                    values=read(self.fields),
                    position=position,
                    is_deleted=deleted,
                    row_id=row_id(own.get(ROW_ID.id), entry.first_row_id, position),
                    last_updated_sequence_number=last_updated(own.get(LAST_UPDATED.id), entry.first_row_id, number),
                )

    def deleted_positions(self, task: FileScanTask) -> frozenset[int]:
        """Find the rows of a data file that are deleted by their positions (DEL003, DEL026).

        A new deletion vector for the file has to include all of them.

        Args:
            task: a task that has all deletes of the file.

        Returns:
            The positions, from 0.

        Raises:
            SpecError: a delete file is damaged, or does not match its manifest entry.
        """
        vector = self._vector(task)
        return self._positions(task) | frozenset(() if vector is None else vector.positions())

    def _constants(self, spec_id: int, file: DataFile) -> Constants:
        if spec_id not in self.specs:
            raise spec_error("TMD010", "the table does not have a partition spec with the id", found=spec_id)
        return identity_values(self.specs[spec_id], file.partition)

    def _vector(self, task: FileScanTask) -> DeletionVector | None:
        """Read the deletion vector of the data file, which replaces its position deletes (DEL011)."""
        for delete in task.deletes:
            if delete.data_file.is_deletion_vector:
                check_vector_entry(delete.data_file, task.data_file.file_path)
                vector = decode_deletion_vector(self.files.blob(delete.data_file))
                check_cardinality(delete.data_file, vector)
                return vector
        return None

    def _positions(self, task: FileScanTask) -> frozenset[int]:
        """Read the positions that position delete files delete in the data file."""
        path, pos = POSITION_DELETE_FIELDS
        found: set[int] = set()
        for delete in task.deletes:
            file = delete.data_file
            if file.content is FileContent.POSITION_DELETES and not file.is_deletion_vector:
                with self.files.records(file) as opened:
                    rows = opened.rows(_columns(POSITION_DELETE_FIELDS, opened.columns, {}))
                    projected = (project_row(POSITION_DELETE_FIELDS, opened.columns, row, {}) for row in rows)
                    pairs = ((row[path.id], row[pos.id]) for row in projected)
                    found |= deleted_positions(pairs, task.data_file.file_path)
        return frozenset(found)

    def _equality_deletes(self, delete: ScanDelete) -> tuple[tuple[DeleteColumn, ...], list[tuple[Any, ...]]]:
        """Read the columns that a file of equality deletes compares, and the values of its rows."""
        file = delete.data_file
        columns = tuple(delete_column(field_id, self.schemas) for field_id in sorted(set(file.equality_ids or ())))
        constants = self._constants(delete.partition_spec_id, file)
        fields = [column.field for column in columns]
        with self.files.records(file) as opened:
            check_delete_columns(columns, opened.columns, constants)
            read = partial(project_row, file_columns=opened.columns, constants=constants)
            rows = opened.rows(_columns(fields, opened.columns, constants))
            return columns, [_compared_values(columns, partial(read, row=row)) for row in rows]


def _compared_values(
    columns: Sequence[DeleteColumn], read: Callable[[Sequence[NestedField]], Values]
) -> tuple[Any, ...]:
    return tuple(delete_column_value(column, read([column.field])) for column in columns)


def delete_column_value(column: DeleteColumn, row: Values) -> Any:
    """Find the value of a delete column in a row that was projected to its field.

    Args:
        column: the delete column.
        row: the row, values by field id.

    Returns:
        The value; None if it or a parent is null.
    """
    field, value = column.field, row[column.field.id]
    while field.id != column.id and value is not None:
        assert isinstance(field.type, StructType)
        (field,) = field.type.fields
        value = value[field.id]
    return value


def _columns(fields: Sequence[NestedField], file_columns: FileColumns, constants: Constants) -> list[NestedField]:
    """List the columns of a file that fields are read from, without repetitions."""
    check_selected(fields, file_columns)
    found = (source_column(field, file_columns.struct, constants, mapped=file_columns.mapped) for field in fields)
    return list({column.id: column for column in found if column is not None}.values())


# The deletes of a scan


def referenced_ids(predicate: BoundPredicate) -> Iterator[int]:
    """List the ids of the fields that a predicate refers to.

    Args:
        predicate: a bound predicate.

    Yields:
        Each id, possibly repeated.
    """
    waiting: list[Any] = [predicate]
    while waiting:
        node = waiting.pop()
        if isinstance(node, BoundReference):
            yield node.id
        elif attrs.has(type(node)):
            waiting += (getattr(node, field.name) for field in attrs.fields(type(node)))


def applicable_equality_deletes(task: FileScanTask) -> list[ScanDelete]:
    """List the equality deletes that apply to the data file of a task.

    Args:
        task: a scan task.

    Returns:
        The delete files.
    """
    return [delete for delete in task.deletes if delete.data_file.content is FileContent.EQUALITY_DELETES]


def check_vector_entry(file: DataFile, path: str) -> None:
    """Check that the manifest entry of a deletion vector is for a data file and locates the vector.

    Args:
        file: the file of the entry.
        path: the data file that the vector is applied to.

    Raises:
        SpecError: DFL023 if it is for another data file; DFL024 or DFL025 if the offset or the size is missing or
            negative.
    """
    if file.referenced_data_file != path:
        message = "referenced_data_file of the deletion vector is a different data file"
        raise spec_error("DFL023", message, found=file.referenced_data_file, expected=path)
    for code, value, name in (
        ("DFL024", file.content_offset, "content_offset"),
        ("DFL025", file.content_size_in_bytes, "content_size_in_bytes"),
    ):
        if value is None or value < 0:
            raise spec_error(
                code, f"{name} of a deletion vector is missing or negative", found=value, expected="0 or more"
            )


def check_vector_range(file: DataFile, size: int) -> None:
    """Check that a deletion vector ends within its Puffin file.

    Args:
        file: the file of the manifest entry.
        size: the size of the Puffin file in bytes.

    Raises:
        SpecError: DFL025 if it does not.
    """
    if (file.content_offset or 0) + (file.content_size_in_bytes or 0) > size:
        found = Description(f"{file.content_offset} + {file.content_size_in_bytes}")
        raise spec_error(
            "DFL025", "the deletion vector extends beyond the file", found=found, expected=f"at most {size}"
        )


def check_cardinality(file: DataFile, vector: DeletionVector) -> None:
    """Check that a deletion vector has as many positions as its manifest entry states.

    Args:
        file: the file of the manifest entry.
        vector: the decoded vector.

    Raises:
        SpecError: DFL005 if the numbers differ.
    """
    if vector.cardinality != file.record_count:
        message = "the cardinality of the deletion vector differs from record_count"
        raise spec_error("DFL005", message, found=vector.cardinality, expected=str(file.record_count))


def check_delete_columns(columns: Sequence[DeleteColumn], file_columns: FileColumns, constants: Constants) -> None:
    """Check that a file of equality deletes has the columns that it compares.

    Args:
        columns: the delete columns.
        file_columns: the columns of the file.
        constants: the identity partition values of the file, by field id.

    Raises:
        SpecError: DFL020 if a column is missing; the problem of a column that cannot be read.
    """
    check_selected([column.field for column in columns], file_columns)
    for column in columns:
        if column.id not in constants and not _has_column(file_columns, column.field.id, column.id):
            message = "a column of the equality ids is missing from the equality delete file"
            raise spec_error(
                "DFL020", message, found=Description(f"no field {column.id}"), expected=".".join(column.names)
            )


def _has_column(file_columns: FileColumns, root_id: int, field_id: int) -> bool:
    """Decide whether a file has a column below one of its top-level columns, or that column itself."""

    def inside(struct: StructType) -> bool:
        return any(f.id == field_id or (isinstance(f.type, StructType) and inside(f.type)) for f in struct.fields)

    return inside(StructType(tuple(field for field in file_columns.struct.fields if field.id == root_id)))

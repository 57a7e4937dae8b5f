"""Writing delete files: position deletes, deletion vectors and equality deletes (Row-level Deletes)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from conformance.table_io import encryption
from conformance.table_io.delete_files import DeleteFiles
from conformance.table_io.writing.files import NewFiles, sync_file
from conformance.table_io.writing.plans import WritePlan, plan_deletes
from conformance.table_io.writing.write_tasks import FileWriter
from conformance.version import tool_version
from spec_ref.columnar.deletes.deletion_vector import PositionBitmap, encode_positions, positions_array
from spec_ref.columnar.deletes.position_deletes import PositionSet
from spec_ref.columnar.schemas.arrow_columns import arrow_field
from spec_ref.commits.changes import NewFile
from spec_ref.commits.reading import FileKey, file_key
from spec_ref.core.errors import Description, spec_error
from spec_ref.core.versions import DELETE_FILES, DELETION_VECTORS
from spec_ref.data_types.types import NestedField, is_primitive
from spec_ref.deletes.position_deletes import FILE_PATH, POSITION_DELETE_FIELDS
from spec_ref.encodings.puffin.file import DELETION_VECTOR, Blob, read_puffin, write_puffin
from spec_ref.manifests.data_file import DataFile, FileContent, FileFormat
from spec_ref.scan_planning import FileScanTask
from spec_ref.scan_planning.delete_scope import partition_key
from spec_ref.schemas.identifier_fields import NON_IDENTIFIER_TYPES
from spec_ref.schemas.reserved_field_ids import BY_NAME
from spec_ref.table_metadata import TableMetadata

GRANULARITY = "write.delete.granularity"
POSITION_IDS = (BY_NAME["_pos"].id,)
"""The value that the blob of a vector is computed from."""

SCHEMA = pa.schema(list(map(arrow_field, POSITION_DELETE_FIELDS)))

Positions = npt.NDArray[np.int64]


@attrs.frozen
class RowsToDelete:
    """The rows of one data file that are to be deleted."""

    task: FileScanTask
    positions: Sequence[int] | Positions
    """Ascending and distinct, without rows that are already deleted."""


@attrs.frozen
class DeleteEncoding:
    """Functions that encode deleted positions: as arrays, or one at a time."""

    open: Callable[[WritePlan, Mapping[int, Any], str, NewFiles], FileWriter]
    """Opens a position delete file, like `FileWriter`."""

    rows: Callable[[RowsToDelete], Any]
    """Returns the rows of a position delete file, in the form that the writer takes."""

    vector: Callable[[RowsToDelete], tuple[int, bytes]]
    """Returns the cardinality and the blob of the deletion vector of a data file, including earlier deletes."""


@attrs.frozen
class NewDeletes:
    """New delete files, and the delete files that they replace."""

    added: tuple[NewFile, ...]
    replaced: tuple[FileKey, ...] = ()


def write_positions(
    metadata: TableMetadata, deleted: Sequence[RowsToDelete], encoding: DeleteEncoding, plan: WritePlan, files: NewFiles
) -> NewDeletes:
    """Delete rows by position, in the form of the table's format version (DEL001, DEL002).

    Args:
        metadata: the table.
        deleted: the rows, by data file.
        encoding: encodes the content of the files.
        plan: the plan of the write.
        files: the files of the write.

    Raises:
        SpecError: DEL001, in a version without row-level deletes.
    """
    if not deleted:
        return NewDeletes(())
    if DELETION_VECTORS.is_supported(metadata.format_version):
        return _vectors(deleted, encoding, plan, files)
    if DELETE_FILES.is_supported(metadata.format_version):
        return _position_files(metadata, deleted, encoding, plan, files)
    raise spec_error(
        "DEL001", "delete files are not allowed in v1", found=Description(f"version {metadata.format_version:d}")
    )


# Position delete files


def _position_files(
    metadata: TableMetadata, deleted: Sequence[RowsToDelete], encoding: DeleteEncoding, plan: WritePlan, files: NewFiles
) -> NewDeletes:
    added = []
    for number, group in enumerate(_groups(metadata, deleted)):
        first = group[0].task
        spec = metadata.spec_by_id(first.partition_spec_id)
        own = plan_deletes(
            metadata, POSITION_DELETE_FIELDS, FileContent.POSITION_DELETES, write_id=plan.write_id, spec=spec
        )
        partition = first.data_file.partition
        location = own.file_location(partition, f"00000-{plan.write_id}-{number:05d}-deletes")
        writer = encoding.open(own, partition, location, files)
        try:
            # Sorted by the bytes of the path, and then by position (DEL014).
            for one in sorted(group, key=lambda one: one.task.data_file.file_path.encode()):
                writer.write(encoding.rows(one))
            alone = group[0].task.data_file.file_path if len(group) == 1 else None
            added.append(writer.finish(referenced_data_file=alone))
        finally:
            writer.close()
    return NewDeletes(tuple(added))


def _groups(metadata: TableMetadata, deleted: Sequence[RowsToDelete]) -> Iterable[list[RowsToDelete]]:
    """Group deletes into files: one for each data file, or one for each partition."""
    if metadata.properties.get(GRANULARITY, "file").lower() != "partition":
        return [[one] for one in deleted]
    groups: dict[Any, list[RowsToDelete]] = {}
    for one in deleted:
        spec = metadata.spec_by_id(one.task.partition_spec_id)
        groups.setdefault(partition_key(one.task.data_file, spec), []).append(one)
    return groups.values()


def _batch(one: RowsToDelete) -> pa.RecordBatch:
    paths = pa.repeat(one.task.data_file.file_path, len(one.positions))
    return pa.RecordBatch.from_arrays([paths, pa.array(one.positions)], schema=SCHEMA)


# Deletion vectors


def _vectors(deleted: Sequence[RowsToDelete], encoding: DeleteEncoding, plan: WritePlan, files: NewFiles) -> NewDeletes:
    """Write one vector for each data file, including earlier deletes, to one Puffin file."""
    blobs, replaced = [], []
    for one in deleted:
        cardinality, blob = encoding.vector(one)
        properties = {"referenced-data-file": one.task.data_file.file_path, "cardinality": str(cardinality)}
        blobs.append((cardinality, Blob(DELETION_VECTOR, POSITION_IDS, blob, properties=properties)))
        replaced += [file_key(delete) for delete in file_scoped_deletes(one.task)]
    data = write_puffin([blob for _, blob in blobs], {"created-by": f"iceberg-conformance version {tool_version()}"})
    location = f"{plan.location}/00000-{plan.write_id}-deletes.puffin"
    stored, key = data, None
    if plan.key_length is not None:
        stored, key = encryption.encrypt_stream(data, encryption.new_file_key(plan.key_length))
    with files.open(location) as out:
        out.write(stored)
    sync_file(location)
    added = []
    for one, (cardinality, _blob), place in zip(deleted, blobs, read_puffin(data).blobs, strict=True):
        entry = DataFile(
            content=FileContent.POSITION_DELETES,
            file_path=location,
            file_format=FileFormat.PUFFIN,
            partition=one.task.data_file.partition,
            record_count=cardinality,
            file_size_in_bytes=len(stored),
            key_metadata=None if key is None else encryption.write_key_metadata(key),
            referenced_data_file=one.task.data_file.file_path,
            content_offset=place.offset,
            content_size_in_bytes=place.length,
        )
        added.append(NewFile(entry, one.task.partition_spec_id))
    return NewDeletes(tuple(added), tuple(replaced))


def columnar_encoding(deletes: DeleteFiles) -> DeleteEncoding:
    """Return the encoding that takes positions in arrays.

    Args:
        deletes: reads the existing deletes.
    """

    def vector(one: RowsToDelete) -> tuple[int, bytes]:
        positions = np.union1d(one.positions, already_deleted_positions(one.task, deletes))
        return len(positions), encode_positions(positions)

    return DeleteEncoding(FileWriter, _batch, vector)


def already_deleted_positions(task: FileScanTask, deletes: DeleteFiles) -> Positions:
    """Return the rows of a data file that are already deleted by position."""
    found: Any = deletes.positions(task)
    if isinstance(found, PositionBitmap):
        return positions_array(found.vector).astype(np.int64)
    return found.positions if isinstance(found, PositionSet) else np.zeros(0, np.int64)


def file_scoped_deletes(task: FileScanTask) -> list[DataFile]:
    """Return the delete files and vectors that only delete rows of the task's data file (DEL003, DEL016)."""
    path = task.data_file.file_path
    return [delete.data_file for delete in task.deletes if _is_scoped_to(delete.data_file, path)]


def _is_scoped_to(delete: DataFile, path: str) -> bool:
    if delete.content is not FileContent.POSITION_DELETES:
        return False
    if delete.referenced_data_file is not None:
        return delete.referenced_data_file == path
    bounds = [(ends or {}).get(FILE_PATH.id) for ends in (delete.lower_bounds, delete.upper_bounds)]
    return bounds == [path.encode()] * 2


# Equality deletes


def plan_equality_deletes(metadata: TableMetadata, names: Sequence[str], plan: WritePlan, spec_id: int) -> WritePlan:
    """Plan a write of equality deletes by some columns, for the data files of one partition spec.

    Raises:
        SpecError: DEL001 in v1; DEL017 for an unknown column, DEL018 for one that cannot be compared.
    """
    if not DELETE_FILES.is_supported(metadata.format_version):
        raise spec_error("DEL001", "delete files are not allowed in v1")
    schema = metadata.current_schema
    fields = []
    for name in names:
        field = next((one for one in schema.fields if one.name == name), None)
        if field is None:
            raise spec_error("DEL017", "the schema does not have the column at its top level", found=name)
        fields.append(field)
    check_delete_columns(fields)
    return plan_deletes(
        metadata,
        fields,
        FileContent.EQUALITY_DELETES,
        write_id=plan.write_id,
        spec=metadata.spec_by_id(spec_id),
        equality_ids=tuple(field.id for field in fields),
    )


def check_delete_columns(fields: Iterable[NestedField]) -> None:
    """Refuse columns that equality deletes cannot compare, as they cannot identify rows (DEL018)."""
    for field in fields:
        if not is_primitive(field.type) or field.type in NON_IDENTIFIER_TYPES:
            raise spec_error(
                "DEL018",
                "equality deletes cannot compare a column of the type",
                found=Description(f"{field.name}: {field.type}"),
            )

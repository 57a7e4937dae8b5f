"""Small tables and files for races: without content, but with all the metadata that a commit examines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from spec_ref.commits.changes import NewFile
from spec_ref.core.versions import ROW_LINEAGE, FormatVersion
from spec_ref.data_types.types import LONG, STRING, NestedField
from spec_ref.manifests.data_file import DataFile, FileContent, FileFormat
from spec_ref.partitioning.spec import PartitionField, PartitionSpec
from spec_ref.partitioning.transforms import Identity
from spec_ref.schemas.reserved_field_ids import BY_NAME
from spec_ref.schemas.schema import Schema
from spec_ref.single_value.binary import to_binary
from spec_ref.sorting.order import UNSORTED
from spec_ref.table_metadata.metadata import TableMetadata

ID, PART = 1, 2
"""The ids of the columns ``id`` and ``part``."""

VECTOR_OFFSET = 4
PART_FIELD = 1000
FILE_PATH = BY_NAME["file_path"].id
"""The ids of the columns ``file_path`` and ``pos`` of position delete files."""

LOCATION = "memory:/table"
UUID = "9c12d441-03fe-4693-9a96-a0705ddf69c1"

SCHEMA = Schema(
    (
        NestedField(ID, "id", True, LONG, None, None, None),  # noqa: FBT003
        NestedField(PART, "part", False, STRING, None, None, None),  # noqa: FBT003
    ),
    schema_id=0,
)

BY_PART = PartitionSpec(0, (PartitionField(source_id=PART, field_id=PART_FIELD, name="part", transform=Identity()),))
"""The partition spec: the identity transform of ``part``."""


def empty_table(
    version: FormatVersion | int = 2,
    location: str = LOCATION,
    properties: dict[str, str] | None = None,
    *,
    partitioned: bool = True,
) -> TableMetadata:
    """Return the metadata of a table without snapshots."""
    version = FormatVersion(version)
    spec = BY_PART if partitioned else PartitionSpec(0)
    return TableMetadata(
        format_version=version,
        table_uuid=UUID,
        location=location,
        last_updated_ms=0,
        last_column_id=PART,
        schemas=(SCHEMA,),
        current_schema_id=0,
        partition_specs=(spec,),
        default_spec_id=0,
        last_partition_id=PART_FIELD if partitioned else PART_FIELD - 1,
        properties=properties or {},
        sort_orders=(UNSORTED,),
        default_sort_order_id=0,
        next_row_id=0 if ROW_LINEAGE.is_supported(version) else None,
    )


def data_path(name: str, location: str = LOCATION) -> str:
    """Return the path of a data file."""
    return f"{location}/data/{name}"


def data_file(
    name: str,
    part: str | None = "a",
    rows: int = 10,
    *,
    ids: tuple[int, int] | None = None,
    location: str = LOCATION,
    spec_id: int | None = 0,
    sequence_number: int | None = None,
    partitioned: bool = True,
    partition: Mapping[int, Any] | None = None,
) -> NewFile:
    """Return a data file with rows of one partition.

    Args:
        name: the name of the file.
        part: the value of the partition field ``part``.
        rows: the number of rows.
        ids: the least and the greatest ``id``, for a file with bounds.
        location: the location of the table.
        spec_id: the partition spec; None for the default spec of the table on which the change is planned.
        sequence_number: a data sequence number to write explicitly.
        partitioned: whether the table is partitioned by ``part``.
        partition: the partition tuple, if the spec is not the one by ``part``.
    """
    bounds: dict[str, Any] = {}
    if ids is not None:
        low, high = ({ID: to_binary(LONG, value)} for value in ids)
        bounds = {"lower_bounds": low, "upper_bounds": high, "value_counts": {ID: rows}, "null_value_counts": {ID: 0}}
    if partition is None:
        partition = {PART_FIELD: part} if partitioned else {}
    made = DataFile(
        file_path=data_path(name, location),
        file_format=FileFormat.PARQUET,
        partition=partition,
        record_count=rows,
        file_size_in_bytes=100 * rows,
        **bounds,
    )
    return NewFile(made, spec_id, sequence_number)


def equality_deletes(
    name: str,
    part: str | None = "a",
    rows: int = 1,
    *,
    location: str = LOCATION,
    spec_id: int | None = 0,
    partition: Mapping[int, Any] | None = None,
) -> NewFile:
    """Make equality deletes of the rows of one partition whose ``id`` is 0, 1, ... up to the number of deletes."""
    low, high = ({ID: to_binary(LONG, value)} for value in (0, rows - 1))
    return _deletes(
        name,
        part,
        rows,
        location,
        spec_id,
        partition,
        content=FileContent.EQUALITY_DELETES,
        equality_ids=(ID,),
        lower_bounds=low,
        upper_bounds=high,
        value_counts={ID: rows},
        null_value_counts={ID: 0},
    )


def position_deletes(
    name: str,
    data_file: str | None = None,
    part: str | None = "a",
    rows: int = 1,
    *,
    location: str = LOCATION,
    spec_id: int | None = 0,
    partition: Mapping[int, Any] | None = None,
    names: tuple[str, str] | None = None,
) -> NewFile:
    """Make position deletes of the first rows of one data file, or of several data files in one partition.

    Args:
        name: the name of the file.
        data_file: the name of the data file; None for deletes of several files.
        part: the value of the partition field ``part``.
        rows: how many rows of each data file are deleted.
        location: the location of the table.
        spec_id: the partition spec.
        partition: the partition tuple, if the spec is not the one by ``part``.
        names: the names of the first and the last data file with deleted rows, which become the bounds of
            ``file_path``; without them, the file has no bounds and may apply to all files of the partition.
    """
    referenced = None if data_file is None else data_path(data_file, location)
    bounds: dict[str, Any] = {}
    if names is not None:
        low, high = ({FILE_PATH: data_path(one, location).encode()} for one in names)
        bounds = {"lower_bounds": low, "upper_bounds": high}
    return _deletes(
        name,
        part,
        rows,
        location,
        spec_id,
        partition,
        content=FileContent.POSITION_DELETES,
        referenced_data_file=referenced,
        **bounds,
    )


def deletion_vector(
    name: str,
    data_file: str,
    part: str | None = "a",
    rows: int = 1,
    *,
    location: str = LOCATION,
    spec_id: int | None = 0,
    partition: Mapping[int, Any] | None = None,
) -> NewFile:
    """Make a deletion vector of the first rows of one data file."""
    return _deletes(
        name,
        part,
        rows,
        location,
        spec_id,
        partition,
        content=FileContent.POSITION_DELETES,
        file_format=FileFormat.PUFFIN,
        referenced_data_file=data_path(data_file, location),
        content_offset=VECTOR_OFFSET,
        content_size_in_bytes=40,
    )


def _deletes(
    name: str,
    part: str | None,
    rows: int,
    location: str,
    spec_id: int | None,
    partition: Mapping[int, Any] | None,
    *,
    file_format: FileFormat = FileFormat.PARQUET,
    **fields: Any,
) -> NewFile:
    made = DataFile(
        file_path=data_path(name, location),
        file_format=file_format,
        partition={PART_FIELD: part} if partition is None else partition,
        record_count=rows,
        file_size_in_bytes=50,
        **fields,
    )
    return NewFile(made, spec_id)

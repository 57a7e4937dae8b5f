"""The columns to read from a table: a small picklable value that all tasks of a read share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import attrs

from conformance.table_io.encryption import open_data_file
from conformance.table_io.file_access import FileAccessError, find_store_failure, short_read_error
from conformance.table_io.s3_requests import ObjectPart
from conformance.table_io.tables import Table
from spec_ref.core.errors import SpecError, spec_error
from spec_ref.data_types.types import UNKNOWN, NestedField, StructType
from spec_ref.manifests.data_file import DataFile
from spec_ref.partitioning.spec import PartitionSpec
from spec_ref.scan_planning.rows import check_vector_range
from spec_ref.schemas.column_projection import select_fields
from spec_ref.schemas.name_mapping import NAME_MAPPING_PROPERTY, MappedField, read_name_mapping
from spec_ref.schemas.schema import Schema
from spec_ref.statistics.partition import unified_partition_type
from spec_ref.table_metadata.metadata import TableMetadata

METADATA_COLUMNS = (
    "_file",
    "_pos",
    "_deleted",
    "_spec_id",
    "_partition",
    "_row_id",
    "_last_updated_sequence_number",
)
"""The metadata columns that can be read (RES002, RES005)."""


@attrs.frozen(kw_only=True)
class ReadPlan:
    """The columns to read, and the metadata that reading them needs."""

    schema: Schema
    """The schema of the snapshot."""

    fields: tuple[NestedField, ...]
    """The columns of the table in the order of the result; structs have only the selected fields."""

    metadata_columns: tuple[str, ...]
    """The selected `METADATA_COLUMNS`, after the others."""

    schemas: tuple[Schema, ...]
    """The schema of the snapshot, then all schemas of the table, newest first."""

    specs: Mapping[int, PartitionSpec]

    mapping: tuple[MappedField, ...] | None
    """The table's name mapping."""

    partition_type: StructType
    """The fields of all partition specs with known transforms, for ``_partition``."""

    def spec(self, spec_id: int) -> PartitionSpec:
        """Return the partition spec with an id.

        Raises:
            SpecError: TMD010, if the table does not have it.
        """
        if spec_id not in self.specs:
            raise spec_error("TMD010", "the table does not have a partition spec with the id", found=spec_id)
        return self.specs[spec_id]


def make_read_plan(
    table: Table, schema: Schema, select: Sequence[str] | None = None, *, case_sensitive: bool = True
) -> ReadPlan:
    """Make the plan for reading some columns.

    Args:
        table: the table.
        schema: the schema of the snapshot.
        select: names of columns, with dots for fields of structs, and of metadata columns; None for all columns.
        case_sensitive: whether the names must be spelled as in the schema.

    Raises:
        SpecError: EXP003, for a name that the schema does not have; TYP002, for one that several columns have; or the
            name mapping is not valid.
    """
    metadata = table.metadata
    ids = dict.fromkeys(field.id for field in schema.fields) if select is None else {}
    asked: list[str] = []
    for name in select or ():
        column = _find(schema, name, case_sensitive=case_sensitive)
        if column is not None:
            ids[column] = None
        elif name in METADATA_COLUMNS:
            asked.append(name)
        else:
            known = ", ".join([*(field.name for field in schema.fields), *METADATA_COLUMNS])
            raise spec_error("EXP003", "the schema does not have the column", found=name, expected=known)
    text = metadata.properties.get(NAME_MAPPING_PROPERTY)
    others = sorted(metadata.schemas, key=lambda other: -other.schema_id)
    schemas = (schema, *(other for other in others if other.schema_id != schema.schema_id))
    return ReadPlan(
        schema=schema,
        fields=_in_order(schema, tuple(ids)),
        metadata_columns=tuple(dict.fromkeys(asked)),
        schemas=schemas,
        specs={spec.spec_id: spec for spec in metadata.partition_specs},
        mapping=None if text is None else read_name_mapping(text),
        partition_type=_partition_type(metadata),
    )


def _find(schema: Schema, name: str, *, case_sensitive: bool) -> int | None:
    if case_sensitive:
        found = schema.find_name(name)
        return None if found is None else found.id
    matching = [column.id for column in schema.columns() if column.name.lower() == name.lower()]
    if len(matching) > 1:
        raise spec_error("EXP003", "several columns have names that differ only in case", found=name)
    return matching[0] if matching else None


def _in_order(schema: Schema, ids: tuple[int, ...]) -> tuple[NestedField, ...]:
    """Return the top-level columns in the order in which they, or the first of their fields, were selected."""
    fields = {field.id: field for field in select_fields(schema, frozenset(ids))}
    roots: dict[int, None] = {}
    for field_id in ids:
        column = schema.find(field_id)
        assert column is not None
        roots[(column.parents or (column,))[0].id] = None
    return tuple(fields[root] for root in roots if root in fields)


def _partition_type(metadata: TableMetadata) -> StructType:
    """Return the partition fields of all specs by id, as a field that specs share has one id (PAR009).

    Fields whose values cannot be interpreted, such as those with unknown transforms, are left out (PAR024).
    """
    unified = unified_partition_type(map(metadata.partition_type, reversed(metadata.partition_specs)))
    return StructType(tuple(field for field in unified.fields if field.type != UNKNOWN))


@contextmanager
def name_file_in_errors(location: str) -> Iterator[None]:
    """Add the file to an error raised in the ``with`` statement, unless the error names a file.

    Raises:
        FileAccessError: the file system failed, although the error says that the file is damaged.
    """
    try:
        yield
    except OSError as error:
        raise FileAccessError(location, f"it cannot be read: {error}") from error
    except SpecError as error:
        if words := find_store_failure(error):
            raise FileAccessError(location, f"it cannot be read: {words}") from error
        if error.violation.file is not None:
            raise
        raise SpecError(attrs.evolve(error.violation, file=location)) from error.__cause__


def read_vector(file: DataFile) -> bytes:
    """Read the bytes of a deletion vector, at the offset in its manifest entry.

    Raises:
        SpecError: DFL025, if the vector extends beyond the end of the file.
        FileAccessError: the file cannot be read.
    """
    with name_file_in_errors(file.file_path), open_data_file(file) as (opened, _):
        check_vector_range(file, opened.seek(0, 2))
        opened.seek(file.content_offset or 0)
        blob: bytes = opened.read(file.content_size_in_bytes)
        if len(blob) != file.content_size_in_bytes:
            raise short_read_error(file.file_path, len(blob), file.content_size_in_bytes or 0)
        return blob


def slice_vector(file: DataFile, part: ObjectPart) -> bytes:
    """Return the bytes of a deletion vector from a part of its file that was read for several vectors.

    Raises:
        SpecError: DFL025, if the vector extends beyond the end of the file.
        FileAccessError: the part does not contain the vector.
    """
    with name_file_in_errors(file.file_path):
        check_vector_range(file, part.size)
        start, length = file.content_offset or 0, file.content_size_in_bytes or 0
        blob = part.data[start - part.start : start - part.start + length]
        if len(blob) != length:
            raise short_read_error(file.file_path, len(blob), length)
        return blob

"""The plan of a write: a small picklable value that all tasks of the write share."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote

import attrs

from conformance.table_io.encryption import key_length
from conformance.table_io.writing.files import delete_existing_files, files_below, remove_directories
from conformance.table_io.writing.metrics import MetricsModes, metrics_modes
from spec_ref.commits.changes import NewFile
from spec_ref.core.errors import spec_error
from spec_ref.core.locations import has_scheme
from spec_ref.core.records import field_rules
from spec_ref.core.versions import OMITTED
from spec_ref.data_types.types import UNKNOWN, NestedField, StructType, Type
from spec_ref.manifests.computed_metrics import FULL
from spec_ref.manifests.data_file import DataFile, FileContent, FileFormat
from spec_ref.partitioning.spec import PartitionSpec
from spec_ref.partitioning.split_by_partition import check_spec
from spec_ref.row_lineage.reading import LAST_UPDATED, ROW_ID
from spec_ref.schemas.schema import Schema
from spec_ref.single_value.json_value import to_json
from spec_ref.sorting.comparator import is_sortable
from spec_ref.sorting.order import UNSORTED, SortOrder
from spec_ref.table_metadata.metadata import TableMetadata

DATA_PATH = "write.data.path"
FORMAT = "write.format.default"
DELETE_FORMAT = "write.delete.format.default"
TARGET_BYTES = "write.target-file-size-bytes"
DEFAULT_TARGET = 512 << 20
CODEC = "write.{}.compression-codec"

_FIRST_ROW_ID = field_rules(DataFile)["first_row_id"]


@attrs.frozen(kw_only=True)
class WritePlan:
    """The parameters of the files of one write."""

    schema: Schema
    """The columns of the files."""

    sources: Schema
    """The schema that has the source columns of the partition spec."""

    spec: PartitionSpec
    partition_type: StructType
    """The type of the spec's partition tuples."""

    order: SortOrder
    """The sort order of rows; `UNSORTED` to keep their order."""

    content: FileContent = FileContent.DATA
    equality_ids: tuple[int, ...] | None = None
    file_format: FileFormat = FileFormat.PARQUET
    codec: str | None = None
    """The codec, by its name in the format; None for the format's default."""

    target_bytes: int = DEFAULT_TARGET
    """The target size: a file is finished when it has at least this many bytes."""

    modes: MetricsModes = ()
    location: str
    """The directory of the data files."""

    write_id: str
    """The id of the write, which is in the names of its files."""

    key_length: int | None = None
    """The length in bytes of the keys of the files; None if they are not encrypted."""

    @property
    def struct(self) -> StructType:
        """The columns of the files."""
        return self.schema.as_struct()

    def file_location(self, partition: Mapping[int, Any], name: str, suffix: str | None = None) -> str:
        """Return the location of a file, whose name starts with the name of its task."""
        path = partition_path(self.partition_type, partition)
        folder = f"{self.location}/{path}" if path else self.location
        return f"{folder}/{name}.{suffix or self.file_format.value}"


def has_row_ids(metadata: TableMetadata) -> bool:
    """Return whether the table's version has row lineage, so that moved rows must keep their ids."""
    return _FIRST_ROW_ID.writer_presence(metadata.format_version) is not OMITTED


def plan_write(
    metadata: TableMetadata,
    *,
    lineage: bool = False,
    target_bytes: int | None = None,
    write_id: str | None = None,
) -> WritePlan:
    """Plan a write of data files with the current schema, the default spec and the default sort order.

    Args:
        metadata: the table.
        lineage: whether the rows have ``_row_id`` and ``_last_updated_sequence_number``, as rows from other files do
            (LIN009); without effect if the version has no row lineage.
        target_bytes: the target size of files; by default that of the table's properties.
        write_id: a unique name for the write.

    Raises:
        SpecError: PAR007 or PAR004, for a spec that files cannot be written with.
    """
    schema = metadata.current_schema
    check_spec(metadata.default_spec, schema)
    modes = metrics_modes(schema, metadata.properties)
    if lineage and has_row_ids(metadata):
        schema = attrs.evolve(schema, fields=(*schema.fields, ROW_ID, LAST_UPDATED))  # type: ignore[misc]
    order = metadata.default_sort_order
    format_ = _format(metadata.properties, FORMAT)
    return WritePlan(
        schema=schema,
        sources=metadata.current_schema,
        spec=metadata.default_spec,
        partition_type=metadata.partition_type(metadata.default_spec),
        order=order if is_sortable(order, schema) else UNSORTED,
        file_format=format_,
        codec=_codec(metadata.properties, format_),
        target_bytes=target_bytes or _positive(metadata.properties, TARGET_BYTES, DEFAULT_TARGET),
        modes=modes,
        location=data_location(metadata),
        write_id=write_id or str(uuid.uuid4()),
        key_length=key_length(metadata.properties),
    )


def plan_deletes(
    metadata: TableMetadata,
    fields: Iterable[NestedField],
    content: FileContent,
    *,
    write_id: str,
    spec: PartitionSpec | None = None,
    equality_ids: tuple[int, ...] | None = None,
) -> WritePlan:
    """Plan a write of delete files with some columns, with full metrics."""
    schema = Schema(tuple(fields), schema_id=metadata.current_schema_id)
    format_ = _format(metadata.properties, DELETE_FORMAT, FORMAT)
    spec = metadata.default_spec if spec is None else spec
    return WritePlan(
        schema=schema,
        sources=metadata.current_schema,
        spec=spec,
        partition_type=metadata.partition_type(spec),
        order=UNSORTED,
        content=content,
        equality_ids=equality_ids,
        file_format=format_,
        codec=_codec(metadata.properties, format_),
        modes=tuple((column.id, FULL) for column in schema.columns()),
        location=data_location(metadata),
        write_id=write_id,
        key_length=key_length(metadata.properties),
    )


def data_location(metadata: TableMetadata) -> str:
    """Return the directory of new data and delete files (NOT001)."""
    path = metadata.properties.get(DATA_PATH, "data").rstrip("/")
    return path if path.startswith("/") or has_scheme(path) else f"{metadata.location.rstrip('/')}/{path}"


def _format(properties: Mapping[str, str], *names: str) -> FileFormat:
    text = next((properties[name] for name in names if name in properties), "parquet").lower()
    rows = (FileFormat.PARQUET, FileFormat.ORC, FileFormat.AVRO)
    found = next((one for one in rows if one.value == text), None)
    if found is None:
        raise spec_error("DFL003", f"{names[0]} is not a file format", found=text, expected="avro, orc or parquet")
    return found


_CODECS = {
    (FileFormat.PARQUET, "uncompressed"): "none",
    (FileFormat.ORC, "none"): "uncompressed",
    (FileFormat.AVRO, "gzip"): "deflate",
    (FileFormat.AVRO, "uncompressed"): "null",
    (FileFormat.AVRO, "zstd"): "zstandard",
}
"""The names of codecs in the formats, if they differ from those in properties."""


def _codec(properties: Mapping[str, str], format_: FileFormat) -> str | None:
    text = properties.get(CODEC.format(format_.value))
    return None if text is None else _CODECS.get((format_, text.lower()), text.lower())


def _positive(properties: Mapping[str, str], name: str, default: int) -> int:
    text = properties.get(name, str(default))
    if not (text.isascii() and text.isdigit() and len(text) < 19 and int(text) > 0):
        raise spec_error("JSC001", f"{name} is not a number of bytes", found=text)
    return int(text)


MAX_QUOTED = 80
"""The maximum length of a field's name, and of its value, in the name of a partition's directory."""


def partition_path(type_: StructType, partition: Mapping[int, Any]) -> str:
    """Return the directories of a partition; their names are for people, as readers never parse them (NOT001)."""
    parts = []
    for field in type_.fields:
        value = partition.get(field.id)
        text = "null" if value is None else _readable(field.type, value)
        parts.append(f"{_quoted(field.name)}={_quoted(text)}")
    return "/".join(parts)


def _quoted(text: str) -> str:
    """Quote as many characters as fit in a name: file systems allow 255 bytes, and stores 1024 for a whole key."""
    quoted = ""
    for character in text[:MAX_QUOTED]:
        escaped = quote(character, safe="")
        if len(quoted) + len(escaped) > MAX_QUOTED:
            break
        quoted += escaped
    return quoted


def _readable(type_: Type, value: Any) -> str:
    """Return a value as people write it: as in JSON, except floats, which may not be finite, and unknown types."""
    return str(value) if isinstance(value, float) or type_ == UNKNOWN else str(to_json(type_, value))


# Cleaning up after a write by several processes


def list_write_files(plan: WritePlan) -> tuple[str, ...]:
    """List all existing files of a write, including those of killed tasks."""
    return tuple(sorted(location for location, name in files_below(plan.location) if plan.write_id in name))


def clean_up(plan: WritePlan, keep: Iterable[NewFile] = ()) -> tuple[str, ...]:
    """Delete the files of failed or repeated attempts of a write.

    Args:
        plan: the plan of the write.
        keep: the files that stay.

    Returns:
        The files that could not be deleted.
    """
    kept = {new.data_file.file_path for new in keep}
    gone = [location for location in list_write_files(plan) if location not in kept]
    left = delete_existing_files(gone)
    remove_directories({location.rpartition("/")[0] for location in gone}, plan.location)
    return left

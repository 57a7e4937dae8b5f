"""Tables for tests and benchmarks, made with the writers of `spec_ref`: files, manifests, metadata.

A caller adds data and delete files commit by commit, with any schema, spec, partition and sequence number that a case
needs. Nothing here checks whether a table is valid.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.orc as orc
import pyarrow.parquet as pq

from conformance.table_io.file_access import write_bytes
from conformance.table_io.tables import Table, load_table
from spec_ref.avro_mapping.schema import schema_json, value_writer
from spec_ref.columnar.schemas.column_projection import arrow_values
from spec_ref.core.versions import V2, V3, FormatVersion
from spec_ref.data_files import orc_schema
from spec_ref.data_files.parquet_arrow_types import WRITER_OPTIONS, arrow_schema
from spec_ref.data_files.parquet_footer import logical_types, with_logical_types
from spec_ref.data_files.storage_arrays import propagate_nulls
from spec_ref.data_types.types import NestedField, StructType
from spec_ref.deletes.deletion_vector import encode_deletion_vector
from spec_ref.deletes.position_deletes import POSITION_DELETE_FIELDS
from spec_ref.encodings.avro.container import write_container
from spec_ref.encodings.avro.types import from_json
from spec_ref.encodings.avro.values_writer import encoder
from spec_ref.encodings.puffin.file import Blob, write_puffin
from spec_ref.json.documents import dumps as json_text
from spec_ref.manifest_lists.manifest_file import ManifestContent, ManifestFile
from spec_ref.manifest_lists.writer import write_manifest_list
from spec_ref.manifests.data_file import DataFile, FileContent, FileFormat
from spec_ref.manifests.entry import EntryStatus, ManifestEntry
from spec_ref.manifests.writer import build_manifest_file, write_manifest
from spec_ref.partitioning.spec import UNPARTITIONED, PartitionSpec
from spec_ref.row_lineage.assignment import assign_first_row_ids
from spec_ref.schemas.schema import Schema
from spec_ref.snapshots.snapshot import Snapshot
from spec_ref.sorting.order import UNSORTED
from spec_ref.table_metadata.metadata import TableMetadata
from spec_ref.table_metadata.writer import to_bytes

Rows = Sequence[Mapping[int, Any]]
"""Rows by field id, in values of the spec."""


def parquet_bytes(fields: Sequence[NestedField], rows: Rows | pa.Table, **options: Any) -> bytes:
    """Return a Parquet file of rows, or of an Arrow table with the columns in their order."""
    out = io.BytesIO()
    struct = StructType(tuple(fields))
    schema = arrow_schema(struct)
    table = rows if isinstance(rows, pa.Table) else _arrow_table(fields, rows)
    arrays = [_retype(column, field.type) for column, field in zip(table.columns, schema, strict=True)]
    pq.write_table(pa.table(arrays, schema=schema), out, **WRITER_OPTIONS, **options)
    return with_logical_types(out.getvalue(), struct) if any(logical_types(struct)) else out.getvalue()


def orc_bytes(fields: Sequence[NestedField], rows: Rows, **options: Any) -> bytes:
    """Return an ORC file of rows."""
    out = io.BytesIO()
    schema = orc_schema.arrow_schema(StructType(tuple(fields)))
    table = _arrow_table(fields, rows)
    arrays = [
        propagate_nulls(_retype(column, field.type).combine_chunks())
        for column, field in zip(table.columns, schema, strict=True)
    ]
    orc.write_table(pa.table(arrays, schema=schema), out, **options)
    return out.getvalue()


def avro_bytes(fields: Sequence[NestedField], rows: Rows, *, codec: str = "deflate", block_rows: int = 100) -> bytes:
    """Return an Avro file of rows."""
    struct = StructType(tuple(fields))
    json = schema_json(struct, "table")
    encode, write = encoder(from_json(json, "AVR014")), value_writer(struct)
    blocks = []
    for start in range(0, len(rows), block_rows):
        payload = bytearray()
        part = rows[start : start + block_rows]
        for row in part:
            encode(write(dict(row)), payload)
        blocks.append((len(part), bytes(payload)))
    return write_container({"avro.schema": json_text(json)}, blocks, codec=codec, sync=b"sixteen bytes ok")


def _arrow_table(fields: Sequence[NestedField], rows: Rows) -> pa.Table:
    columns = [arrow_values(field.type, [row.get(field.id) for row in rows]) for field in fields]
    return pa.table(columns, [field.name for field in fields]) if columns else pa.table({})


def _retype(column: Any, type_: Any) -> Any:
    if column.type == type_:
        return column
    if isinstance(type_, pa.ExtensionType) and not isinstance(type_, pa.UuidType):
        wanted: Any = type_
        return pa.chunked_array([pa.ExtensionArray.from_storage(type_, chunk) for chunk in column.chunks], wanted)
    if isinstance(column.type, pa.ExtensionType):
        storage: Any = column.type.storage_type
        return pa.chunked_array([chunk.storage for chunk in column.chunks], storage).cast(type_)
    return column.cast(pa.int64()).cast(type_) if pa.types.is_int64(type_) else column.cast(type_)


_BYTES: dict[FileFormat, Callable[[Sequence[NestedField], Any], bytes]] = {
    FileFormat.PARQUET: parquet_bytes,
    FileFormat.ORC: orc_bytes,
    FileFormat.AVRO: avro_bytes,
}


class TableKit:
    """A table under construction."""

    def __init__(
        self,
        location: str,
        fields: Iterable[NestedField],
        *,
        version: FormatVersion = V2,
        spec: PartitionSpec = UNPARTITIONED,
        properties: Mapping[str, str] | None = None,
    ) -> None:
        self.location = location
        self.version = version
        self.schemas = [Schema(tuple(fields), schema_id=0)]
        self.specs = [spec]
        self.properties = dict(properties or {})
        self.manifests: list[ManifestFile] = []
        self.snapshots: list[Snapshot] = []
        self.next_row_id = 0
        self._files = 0

    @property
    def fields(self) -> tuple[NestedField, ...]:
        """The columns of the current schema."""
        return self.schemas[-1].fields

    def evolve(self, fields: Iterable[NestedField]) -> None:
        """Make a new schema the current one."""
        self.schemas.append(Schema(tuple(fields), schema_id=len(self.schemas)))

    def repartition(self, spec: PartitionSpec) -> None:
        """Make a new spec the current one."""
        self.specs.append(spec)

    # Files

    def put(self, data: bytes, suffix: str) -> str:
        """Write a file of the table, and return its location."""
        self._files += 1
        location = f"{self.location}/data/{self._files:05d}{suffix}"
        write_bytes(location, data)
        return location

    def file(
        self,
        rows: Rows | pa.Table,
        *,
        fields: Sequence[NestedField] | None = None,
        file_format: FileFormat = FileFormat.PARQUET,
        data: bytes | None = None,
        **attributes: Any,
    ) -> DataFile:
        """Write a data or delete file of rows; ``data`` replaces its bytes, ``attributes`` those of its entry."""
        columns = self.fields if fields is None else fields
        content = data if data is not None else _BYTES[file_format](columns, rows)
        path = self.put(content, f".{file_format.value}")
        said = {"file_path": path, "record_count": len(rows), "file_size_in_bytes": len(content), **attributes}
        return DataFile(file_format=file_format, **said)

    def position_deletes(self, deletes: Sequence[tuple[str, int]], **attributes: Any) -> DataFile:
        """Write a position delete file from pairs of a path and a position."""
        path, pos = (field.id for field in POSITION_DELETE_FIELDS)
        rows = [{path: one, pos: place} for one, place in deletes]
        said = {"content": FileContent.POSITION_DELETES, "fields": POSITION_DELETE_FIELDS, **attributes}
        return self.file(rows, **said)

    def equality_deletes(
        self, rows: Rows, ids: Sequence[int], *, fields: Sequence[NestedField], **attributes: Any
    ) -> DataFile:
        """Write an equality delete file."""
        said = {"content": FileContent.EQUALITY_DELETES, "equality_ids": tuple(ids), "fields": fields, **attributes}
        return self.file(rows, **said)

    def deletion_vector(self, data_file: DataFile, positions: Iterable[int], **attributes: Any) -> DataFile:
        """Write the deletion vector of a data file into a separate Puffin file, after another blob."""
        positions = list(positions)
        blob = encode_deletion_vector(positions)
        cardinality = len(set(positions))
        fields = {"referenced-data-file": data_file.file_path, "cardinality": str(cardinality)}
        vector = Blob("deletion-vector-v1", (), blob, properties=fields)
        content = write_puffin([Blob("other", (), b"other bytes"), vector])
        said: dict[str, Any] = {
            "content": FileContent.POSITION_DELETES,
            "file_path": self.put(content, ".puffin"),
            "record_count": cardinality,
            "file_size_in_bytes": len(content),
            "referenced_data_file": data_file.file_path,
            "content_offset": content.index(blob),
            "content_size_in_bytes": len(blob),
            "partition": data_file.partition,
            **attributes,
        }
        return DataFile(file_format=FileFormat.PUFFIN, **said)

    # Commits

    def commit(self, *files: DataFile, spec_id: int | None = None) -> None:
        """Commit a snapshot that adds files of one spec to the existing ones."""
        sequence_number, snapshot_id = len(self.snapshots) + 1, 1000 + len(self.snapshots)
        spec = self.specs[-1] if spec_id is None else next(one for one in self.specs if one.spec_id == spec_id)
        for content in ManifestContent:
            chosen = [file for file in files if (file.content is FileContent.DATA) is (content is ManifestContent.DATA)]
            if chosen:
                self._manifest(chosen, spec, content, snapshot_id, sequence_number)
        first = self.next_row_id
        if self.version >= V3:
            assigned, self.next_row_id = assign_first_row_ids(self.manifests, first)
            self.manifests = list(assigned)
        listed = write_manifest_list(self.manifests, self.version)
        path = f"{self.location}/metadata/snap-{snapshot_id}.avro"
        write_bytes(path, listed)
        rows: dict[str, Any] = {}
        if self.version >= V3:
            rows = {"first_row_id": first, "added_rows": self.next_row_id - first}
        self.snapshots.append(
            Snapshot(
                snapshot_id=snapshot_id,
                parent_snapshot_id=self.snapshots[-1].snapshot_id if self.snapshots else None,
                sequence_number=sequence_number,
                timestamp_ms=1_700_000_000_000 + sequence_number,
                manifest_list=path,
                summary={"operation": "append" if all(f.content is FileContent.DATA for f in files) else "overwrite"},
                schema_id=self.schemas[-1].schema_id,
                **rows,
            )
        )

    def _manifest(
        self, files: Sequence[DataFile], spec: PartitionSpec, content: ManifestContent, snapshot_id: int, number: int
    ) -> None:
        entries = [ManifestEntry(status=EntryStatus.ADDED, snapshot_id=snapshot_id, data_file=file) for file in files]
        data = write_manifest(entries, spec, self.schemas[-1], self.version, content)
        path = f"{self.location}/metadata/manifest-{len(self.manifests)}.avro"
        write_bytes(path, data)
        self.manifests.append(
            build_manifest_file(
                entries,
                spec,
                self.schemas[-1],
                path=path,
                length=len(data),
                snapshot_id=snapshot_id,
                sequence_number=number,
                content=content,
            )
        )

    def table(self) -> Table:
        """Write the metadata, and load the table."""
        partition_ids = [field.field_id for spec in self.specs for field in spec.fields]
        column_ids = [schema.highest_field_id() for schema in self.schemas]
        metadata = TableMetadata(
            format_version=self.version,
            table_uuid="11111111-2222-3333-4444-555555555555",
            location=self.location,
            last_sequence_number=len(self.snapshots),
            last_updated_ms=1_700_000_100_000,
            last_column_id=max(column_ids),
            schemas=tuple(self.schemas),
            current_schema_id=self.schemas[-1].schema_id,
            partition_specs=tuple(self.specs),
            default_spec_id=self.specs[-1].spec_id,
            last_partition_id=max(partition_ids, default=999),
            properties=self.properties,
            current_snapshot_id=self.snapshots[-1].snapshot_id if self.snapshots else None,
            snapshots=tuple(self.snapshots),
            sort_orders=(UNSORTED,),
            default_sort_order_id=0,
            next_row_id=self.next_row_id if self.version >= V3 else None,
        )
        number = len(self.snapshots) + 1
        write_bytes(f"{self.location}/metadata/v{number}.metadata.json", to_bytes(metadata))
        write_bytes(f"{self.location}/metadata/version-hint.text", str(number).encode())
        return load_table(self.location)

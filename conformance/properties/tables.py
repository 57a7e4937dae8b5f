"""Small random tables, written with the writers of the reference, for properties that hold for any table.

A `TableCase` describes a table. Its files lack columns that were added later, are partitioned by any transform, and
have all the metrics that planning uses.
"""

from __future__ import annotations

import io
import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from attrs import frozen

from conformance.operations.comparison import read_type
from conformance.operations.wire import from_exchange
from conformance.operations.writing.literals import with_ids
from conformance.properties.values import (
    LEAST,
    TRANSFORMS,
    VALUES,
    Chance,
    json_constant,
    predicate_leaves,
)
from spec_ref.columnar.schemas.column_projection import arrow_values
from spec_ref.core.json_types import Json
from spec_ref.core.versions import V2, V3
from spec_ref.data_files.parquet_arrow_types import WRITER_OPTIONS, arrow_schema
from spec_ref.data_files.parquet_metrics import parquet_metrics
from spec_ref.data_types.types import NestedField, StructType
from spec_ref.data_types.values import value_key
from spec_ref.json.reading import reader
from spec_ref.manifest_lists.writer import write_manifest_list
from spec_ref.manifests.data_file import DataFile, FileContent, FileFormat
from spec_ref.manifests.entry import EntryStatus, ManifestEntry
from spec_ref.manifests.writer import build_manifest_file, write_manifest
from spec_ref.partitioning.spec import SPEC, PartitionSpec
from spec_ref.schemas.schema import SCHEMA, Schema

EXCLUDABLE = frozenset({"null", "nan", "zero", "default", "missing", "nested", *VALUES})
"""What can be left out of tables and predicates, so that a known failure does not hide others.

``null`` excludes negations and comparisons of nulls, ``nan`` and ``zero`` leave out NaN and -0.0, ``default`` initial
defaults, ``missing`` columns that files do not have, ``nested`` structs, lists and maps, and the name of a type columns
of that type.
"""

FAR = 3


@frozen
class ColumnCase:
    """A column of a table."""

    name: str
    type: Json
    """The type, in the JSON of Appendix C; ids of nested fields are greater than those of the columns."""

    first_file: int = 0
    """The number of the first file that has it."""

    default: Json = None
    """Its initial default, which rows of older files have."""


@frozen
class TableCase:
    """A table and a predicate on it."""

    columns: tuple[ColumnCase, ...]
    files: tuple[tuple[tuple[Json, ...], ...], ...]
    """The files: rows of values by column, in exchange form; values of columns that a file lacks are not written."""

    partition: tuple[str, str] | None
    """A transform and the name of its column."""

    predicate: Json

    @property
    def types(self) -> dict[str, Json]:
        """The types of the columns in JSON, by name."""
        return {column.name: column.type for column in self.columns}

    def rows(self) -> list[dict[str, Json]]:
        """Return the expected rows."""
        return [
            {
                column.name: value if number >= column.first_file else column.default
                for column, value in zip(self.columns, row, strict=True)
            }
            for number, file in enumerate(self.files)
            for row in file
        ]

    def schema_json(self) -> Json:
        """Return the schema in JSON."""
        fields = []
        for number, column in enumerate(self.columns, 1):
            field = {"id": number, "name": column.name, "required": False, "type": column.type}
            if column.default is not None:
                field["initial-default"] = field["write-default"] = json_constant(column.type, column.default)
            fields.append(field)
        return {"type": "struct", "schema-id": 0, "fields": fields}


NESTED_IDS = 100
"""Fields of nested types have ids from here on, so that the ids of columns can be their positions."""


def draw_case(chance: Chance) -> TableCase:
    """Draw a table and a predicate."""
    draw, exclude = chance.random, chance.exclude
    files = draw.randint(1, 3)
    ids = itertools.count(NESTED_IDS)
    columns: list[ColumnCase] = []
    for number in range(draw.randint(1, FAR)):
        # The first column is primitive, so that a predicate can always name one.
        kind = chance.type(ids, nested=0.15 if columns else 0)
        born = draw.choice((0, 0, 0, 1, 2)) if "missing" not in exclude else 0
        is_plain = isinstance(kind, str) and kind not in ("float", "double")
        takes_default = born and "default" not in exclude and is_plain and draw.random() < 0.5
        default = draw.choice(VALUES[kind]) if takes_default else None
        columns.append(ColumnCase("abc"[number], kind, min(born, files), default))
    rows = tuple(
        tuple(
            tuple(with_ids(read_type(column.type), chance.value(column.type)) for column in columns)
            for _ in range(draw.randint(1, 3))
        )
        for _ in range(files)
    )
    partition = None
    old = [column for column in columns if not column.first_file and isinstance(column.type, str)]
    if old and draw.random() < 0.7:
        source = draw.choice(old)
        transform = draw.choice(TRANSFORMS[source.type])
        values = {row[columns.index(source)] for file in rows for row in file}
        if not (transform.startswith("truncate") and values & LEAST):
            partition = (transform, source.name)
    leaves = list(predicate_leaves({"name": column.name, "type": column.type} for column in columns))
    return TableCase(tuple(columns), rows, partition, chance.predicate(leaves, 2))


# Writing.


def write_table(case: TableCase, folder: Path) -> Path:
    """Write the table of a case.

    Args:
        case: the table.
        folder: the folder of the table; it must not exist.

    Returns:
        The metadata file.
    """
    (folder / "data").mkdir(parents=True)
    (folder / "metadata").mkdir()
    has_default = any(column.default is not None for column in case.columns)
    version = V3 if has_default else V2
    schema: Schema = reader(SCHEMA, V3, "JSC006")(case.schema_json())
    spec: PartitionSpec = reader(SPEC, V3, "PAR016")(_spec(case))
    entries = list(_entries(case, schema, spec, folder / "data"))
    manifest = folder / "metadata" / "manifest.avro"
    manifest.write_bytes(write_manifest(entries, spec, schema, version))
    first_row_id = 0 if has_default else None
    listed_manifest = build_manifest_file(
        entries,
        spec,
        schema,
        path=str(manifest),
        length=manifest.stat().st_size,
        snapshot_id=1,
        sequence_number=1,
        first_row_id=first_row_id,
    )
    listed = folder / "metadata" / "list.avro"
    listed.write_bytes(
        write_manifest_list([listed_manifest], version, snapshot_id=1, sequence_number=1, first_row_id=first_row_id)
    )
    count = sum(map(len, case.files))
    snapshot = {
        "snapshot-id": 1,
        "sequence-number": 1,
        "timestamp-ms": 1515100955770,
        "manifest-list": str(listed),
        "summary": {"operation": "append"},
        "schema-id": 0,
    }
    metadata: dict[str, Json] = {
        "format-version": int(version),
        "table-uuid": "fb072c92-a02b-11e9-ae9c-1bb7bc9eca94",
        "location": str(folder),
        "last-sequence-number": 1,
        "last-updated-ms": 1515100955770,
        "last-column-id": schema.highest_field_id(),
        "schemas": [case.schema_json()],
        "current-schema-id": 0,
        "partition-specs": [_spec(case)],
        "default-spec-id": 0,
        "last-partition-id": 1000 if case.partition else 999,
        "sort-orders": [{"order-id": 0, "fields": []}],
        "default-sort-order-id": 0,
        "current-snapshot-id": 1,
        "refs": {"main": {"snapshot-id": 1, "type": "branch"}},
        "snapshots": [snapshot],
        "snapshot-log": [{"snapshot-id": 1, "timestamp-ms": 1515100955770}],
    }
    if has_default:
        snapshot |= {"first-row-id": 0, "added-rows": count}
        metadata["next-row-id"] = count
    written = folder / "metadata" / "v1.metadata.json"
    written.write_text(json.dumps(metadata), encoding="utf-8")
    return written


def _spec(case: TableCase) -> Json:
    if case.partition is None:
        return {"spec-id": 0, "fields": []}
    transform, name = case.partition
    source = next(number for number, column in enumerate(case.columns, 1) if column.name == name)
    field = {"source-id": source, "field-id": 1000, "name": "part", "transform": transform}
    return {"spec-id": 0, "fields": [field]}


def _entries(case: TableCase, schema: Schema, spec: PartitionSpec, folder: Path) -> Iterator[ManifestEntry]:
    for number, rows in enumerate(case.files):
        values = [
            {
                field.id: from_exchange(field.type, value)
                for field, value, column in zip(schema.fields, row, case.columns, strict=True)
                if number >= column.first_file
            }
            for row in rows
        ]
        for part, (partition, group) in enumerate(_group_by_partition(schema, spec, values)):
            present = [
                field for field, one in zip(schema.fields, case.columns, strict=True) if number >= one.first_file
            ]
            path = folder / f"{number}-{part}.parquet"
            sink = io.BytesIO()
            pq.write_table(_arrow(present, group), sink, **WRITER_OPTIONS)
            path.write_bytes(sink.getvalue())
            metrics = parquet_metrics(sink.getvalue())
            file = DataFile(
                content=FileContent.DATA,
                file_path=str(path),
                file_format=FileFormat.PARQUET,
                partition=partition,
                record_count=len(group),
                file_size_in_bytes=len(sink.getvalue()),
                value_counts=metrics.value_counts,
                null_value_counts=metrics.null_value_counts,
                nan_value_counts=metrics.nan_value_counts,
                lower_bounds=metrics.lower_bounds,
                upper_bounds=metrics.upper_bounds,
            )
            yield ManifestEntry(status=EntryStatus.ADDED, snapshot_id=1, data_file=file)


def _arrow(fields: list[NestedField], rows: list[dict[int, Json]]) -> pa.Table:
    """Return the rows of a file as an Arrow table, with field ids at every depth."""
    if not fields:
        return _without_columns(len(rows))
    schema = arrow_schema(StructType(tuple(fields)))
    values = pa.table([arrow_values(field.type, [row[field.id] for row in rows]) for field in fields], schema.names)
    return values.cast(schema)


def _without_columns(rows: int) -> pa.Table:
    """Return rows with one column that the table does not have, as a file needs a column."""
    field = pa.field("gone", pa.int32(), metadata={"PARQUET:field_id": "99"})
    return pa.Table.from_arrays([pa.array([0] * rows, pa.int32())], schema=pa.schema([field]))


def _group_by_partition(
    schema: Schema, spec: PartitionSpec, rows: list[dict[int, Json]]
) -> Iterator[tuple[dict[int, Json], list[dict[int, Json]]]]:
    """Group the rows of a file by partition, as a file has only one."""
    groups: dict[Any, tuple[dict[int, Json], list[dict[int, Json]]]] = {}
    type_ = spec.partition_type(schema)
    for row in rows:
        partition = {}
        for field in spec.fields:
            source = next(one for one in schema.fields if one.id == field.source_id)
            partition[field.field_id] = field.transform.apply(source.type, row.get(source.id))
        groups.setdefault(value_key(type_, partition), (partition, []))[1].append(row)
    yield from groups.values()

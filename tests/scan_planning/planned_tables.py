"""Tables for planning, kept in memory: manifests as our writer makes them, and a plain planner to compare with.

The plain planner reads with fastavro and applies the rules as the text states them to one entry after another.
"""

from __future__ import annotations

import contextlib
import io
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs
import fastavro
import pytest

from conformance.table_io import planning
from spec_ref.columnar.scan_planning.planner import plan, plan_batches
from spec_ref.columnar.scan_planning.task_batch import TaskBatch
from spec_ref.core.errors import SpecError
from spec_ref.core.records import evolve
from spec_ref.core.versions import V3, FormatVersion
from spec_ref.data_types.types import LONG, STRING, NestedField
from spec_ref.expressions.binding import bind
from spec_ref.expressions.bound import evaluate
from spec_ref.expressions.metrics_evaluation import Metrics, might_match
from spec_ref.expressions.predicates import FALSE, TRUE
from spec_ref.expressions.projection import inclusive_projection
from spec_ref.expressions.residual_evaluator import residual
from spec_ref.manifest_lists.manifest_file import ManifestContent, ManifestFile
from spec_ref.manifest_lists.writer import write_manifest_list
from spec_ref.manifests import DataFile, EntryStatus, FileContent, FileFormat, ManifestEntry
from spec_ref.manifests.writer import build_manifest_file, write_manifest
from spec_ref.partitioning.spec import UNPARTITIONED, PartitionSpec
from spec_ref.scan_planning import FileScanTask, planner
from spec_ref.schemas.schema import Schema
from spec_ref.snapshots.snapshot import Snapshot
from spec_ref.sorting.order import UNSORTED
from spec_ref.table_metadata.metadata import TableMetadata

SCHEMA = Schema((NestedField(1, "id", True, LONG), NestedField(2, "name", False, STRING)))
LIST = "s3://bucket/t/metadata/snap-7.avro"
SNAPSHOT = 7


def data_file(name: str, **changes: Any) -> DataFile:
    """A data file of one row."""
    fields: dict[str, Any] = {
        "content": FileContent.DATA,
        "file_path": f"s3://bucket/t/data/{name}",
        "file_format": FileFormat.PARQUET,
        "record_count": 1,
        "file_size_in_bytes": 100,
    }
    return DataFile(**{**fields, **changes})


def added(file: DataFile, number: int | None = None, **changes: Any) -> ManifestEntry:
    """An entry of a file, existing where it has a data sequence number."""
    if number is None:
        return ManifestEntry(status=EntryStatus.ADDED, data_file=file, **changes)
    fields = {"sequence_number": number, "file_sequence_number": number, "snapshot_id": SNAPSHOT, **changes}
    return ManifestEntry(status=EntryStatus.EXISTING, data_file=file, **fields)


def is_same(one: object, other: object) -> bool:
    """Whether two plans, or parts of them, are equal, where a NaN of a partition is equal to itself."""
    return one == other or repr(one) == repr(other)


@attrs.define
class Table:
    """A table with one snapshot."""

    schema: Schema = SCHEMA
    specs: tuple[PartitionSpec, ...] = (UNPARTITIONED,)
    version: FormatVersion = V3
    number: int = 9
    """The sequence number of the snapshot."""

    files: dict[str, bytes] = attrs.field(factory=dict)
    listed: list[ManifestFile] = attrs.field(factory=list)

    def manifest(
        self,
        entries: Sequence[ManifestEntry],
        spec: PartitionSpec | None = None,
        content: ManifestContent = ManifestContent.DATA,
        **changes: Any,
    ) -> None:
        """Add a manifest; ``changes`` replace fields of its entry in the list."""
        spec = spec or self.specs[0]
        path = f"s3://bucket/t/metadata/m{len(self.listed)}.avro"
        self.files[path] = write_manifest(entries, spec, self.schema, self.version, content)
        entry = build_manifest_file(
            entries,
            spec,
            self.schema,
            path=path,
            length=len(self.files[path]),
            snapshot_id=SNAPSHOT,
            sequence_number=self.number,
            content=content,
        )
        self.listed.append(evolve(entry, **changes))

    def deletes(self, entries: Sequence[ManifestEntry], spec: PartitionSpec | None = None, **changes: Any) -> None:
        """Add a manifest of deletes."""
        self.manifest(entries, spec, ManifestContent.DELETES, **changes)

    @property
    def snapshot(self) -> Snapshot:
        self.files[LIST] = write_manifest_list(self.listed, self.version, snapshot_id=SNAPSHOT)
        return Snapshot(
            snapshot_id=SNAPSHOT, sequence_number=self.number, timestamp_ms=1, manifest_list=LIST, schema_id=0
        )

    @property
    def metadata(self) -> TableMetadata:
        return TableMetadata(
            format_version=self.version,
            location="s3://bucket/t",
            last_updated_ms=1,
            last_column_id=1000,
            schemas=(self.schema,),
            current_schema_id=self.schema.schema_id,
            partition_specs=self.specs,
            default_spec_id=self.specs[0].spec_id,
            last_partition_id=2000,
            sort_orders=(UNSORTED,),
            default_sort_order_id=0,
        )

    def read_file(self, path: str) -> bytes:
        if path not in self.files:
            raise FileNotFoundError(path)
        return self.files[path]

    def plan(self, predicate: Any = TRUE, **options: Any) -> list[FileScanTask]:
        """What the definition and the kernel plan, which is the same; the kernel's error, where both refuse."""
        arguments = (self.metadata, self.snapshot, predicate, self.read_file)
        tasks, refused = None, None
        with contextlib.suppress(SpecError):
            tasks = list(planner.plan(*arguments, **options))
        try:
            found = list(plan(*arguments, **options))
        except SpecError as error:
            refused = error
        assert is_same(sent(plan_batches(*arguments, **options)), refused or tasks)
        if refused is not None:
            assert tasks is None
            raise refused
        assert is_same(found, tasks)
        return found

    def planned(self, predicate: Any = TRUE, **options: Any) -> dict[str, list[str]]:
        """The names of the planned data files, each with the names of its deletes."""
        return {
            _name(task.data_file.file_path): [_name(delete.data_file.file_path) for delete in task.deletes]
            for task in self.plan(predicate, **options)
        }


def sent(batches: Iterator[TaskBatch]) -> list[FileScanTask] | SpecError:
    """The tasks of batches that were pickled in several groups, in columns, or the error."""
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(planning, "MIN_COLUMNS", 0)
            _, groups = planning.pickle_tasks(batches, 3)
        return [task for group in groups for task in planning.unpickle_tasks(group)]
    except SpecError as error:
        return error


def _name(path: str) -> str:
    return path.rpartition("/")[2]


# The plain planner


def _without_logical_types(schema: Any) -> Any:
    """fastavro makes datetimes of what has a logical type, which cannot be as far away as Iceberg's."""
    if isinstance(schema, list):
        return [_without_logical_types(branch) for branch in schema]
    if isinstance(schema, dict):
        return {key: _without_logical_types(part) for key, part in schema.items() if key != "logicalType"}
    return schema


def _entries(table: Table, manifest: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    blocks: Any = fastavro.block_reader(io.BytesIO(table.files[manifest["manifest_path"]]))
    schema = fastavro.parse_schema(_without_logical_types(json.loads(blocks.metadata["avro.schema"])))
    for entry in (
        fastavro.schemaless_reader(block.bytes_, schema, None) for block in blocks for _ in range(block.num_records)
    ):
        assert isinstance(entry, dict)
        if entry["status"] == 2:
            continue
        if entry["status"] == 1 and entry["sequence_number"] is None:
            entry["sequence_number"] = manifest["sequence_number"]
        yield entry


def _maps(file: Mapping[str, Any]) -> Metrics:
    names = ("value_counts", "null_value_counts", "nan_value_counts", "lower_bounds", "upper_bounds")
    maps = {name: None if file[name] is None else {pair["key"]: pair["value"] for pair in file[name]} for name in names}
    return Metrics(record_count=file["record_count"], **maps)


def _bits(value: Any) -> Any:
    if isinstance(value, float):
        return ("nan",) if math.isnan(value) else (value, math.copysign(1, value))
    return value


def _may_match(projected: Any, partition: Any) -> bool:
    """Whether a predicate may match in a partition: one that has no value there, as a transform overflows, may."""
    try:
        return evaluate(projected, partition)
    except SpecError:
        return True


def plain_plan(table: Table, predicate: Any, partitions: Mapping[str, Mapping[int, Any]]) -> dict[str, set[str]]:
    """The planned data files and their deletes, by path.

    Equality deletes are not left out by their metrics.

    Args:
        table: the table.
        predicate: the filter, not bound.
        partitions: the partition of each file, by path.
    """
    bound = bind(predicate, table.schema)
    specs = {spec.spec_id: spec for spec in table.specs}
    _ = table.snapshot
    manifests: list[Any] = list(fastavro.reader(io.BytesIO(table.files[LIST])))
    deletes = [
        (manifest["partition_spec_id"], entry)
        for manifest in manifests
        if manifest["content"] == 1
        for entry in _entries(table, manifest)
    ]
    made: dict[str, set[str]] = {}
    for manifest in manifests:
        spec = specs[manifest["partition_spec_id"]]
        if manifest["content"] == 1:
            continue
        projected = inclusive_projection(bound, spec)
        for entry in _entries(table, manifest):
            file, number = entry["data_file"], entry["sequence_number"]
            partition = partitions[file["file_path"]]
            left = residual(bound, spec, partition)
            if left == FALSE or not _may_match(projected, partition) or not might_match(left, _maps(file)):
                continue
            made[file["file_path"]] = _applied(file, number, spec, deletes, specs, partitions)
    return made


def _applied(
    file: Mapping[str, Any],
    number: int,
    spec: PartitionSpec,
    deletes: Sequence[tuple[int, Mapping[str, Any]]],
    specs: Mapping[int, PartitionSpec],
    partitions: Mapping[str, Mapping[int, Any]],
) -> set[str]:
    vectors: set[str] = set()
    positions: set[str] = set()
    equalities: set[str] = set()
    mine = {key: _bits(value) for key, value in partitions[file["file_path"]].items()}
    for spec_id, entry in deletes:
        found, name = entry["data_file"], entry["data_file"]["file_path"]
        theirs = {key: _bits(value) for key, value in partitions[name].items()}
        same = spec_id == spec.spec_id and mine == theirs
        if found["content"] == 2:
            if number < entry["sequence_number"] and (same or specs[spec_id].is_unpartitioned):
                equalities.add(name)
        elif same and number <= entry["sequence_number"] and found["referenced_data_file"] in (None, file["file_path"]):
            (vectors if found["file_format"] == "PUFFIN" else positions).add(name)
    return (vectors or positions) | equalities

"""Checking partition statistics files: their schema, their rows, and the counts (Partition Statistics File).

The counts are recomputed from the manifests of the snapshot. The check of a manifest emits the sums of each of its
partitions, the check of a statistics file emits its rows, and both kinds of facts are in the bucket of the partition.
No process needs to hold all partitions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs
import numpy as np
import pyarrow as pa

from conformance.table_io.file_access import FileAccessError, file_size, open_input
from conformance.table_io.reading import name_file_in_errors
from conformance.validator.check_results import Emitted, Facts, Findings, StatisticsRead
from conformance.validator.context import Context, ManifestTask, text_bucket
from conformance.validator.data_file_reader import OpenedFile, open_file
from conformance.validator.finding import Unabbreviated, finding, from_violations
from conformance.validator.process_isolation import ENDED
from conformance.validator.stall_timeout import Stalled, report_alive, run_with_stall_timeout
from conformance.validator.values import encode_partition, is_readable_as, partition_values
from spec_ref.checks.findings import Finding, Tally
from spec_ref.columnar.arrow_values import to_python_values
from spec_ref.columnar.manifests.entry_columns import ManifestColumns
from spec_ref.core.errors import Description, SpecError
from spec_ref.core.records import field_rules
from spec_ref.core.versions import ROW_LINEAGE, V2, FormatVersion
from spec_ref.data_files import orc_footer, parquet_thrift
from spec_ref.data_types.types import NestedField, StructType
from spec_ref.encodings.avro import container
from spec_ref.manifests.data_file import FileContent, FileFormat
from spec_ref.statistics.partition import (
    PartitionStatistics,
    check_order,
    check_row,
    partition_statistics_type,
    read_row,
)
from spec_ref.table_metadata.statistics import PartitionStatisticsFile

PARTITION = 1
"""The field id of the partition tuple."""

_RULES = field_rules(PartitionStatistics)

COUNTED = (
    "data_record_count",
    "data_file_count",
    "total_data_file_size_in_bytes",
    "position_delete_record_count",
    "position_delete_file_count",
    "dv_count",
    "equality_delete_record_count",
    "equality_delete_file_count",
)
"""The counts that follow exactly from the manifests."""

_KEY: list[tuple[str, pa.DataType]] = [("key", pa.string())]
_NUMBERS: list[tuple[str, pa.DataType]] = [(name, pa.int64()) for name in COUNTED]
PARTITIONS = pa.schema(
    [
        *_KEY,
        ("manifest", pa.int32()),
        *_NUMBERS,
        ("vector_records", pa.int64()),
        ("added_at", pa.int64()),
    ]
)
"""The live files of one partition in one manifest; the key encodes the tuple in the unified partition type."""

STATISTICS = pa.schema(
    [
        *_KEY,
        ("file", pa.int32()),
        ("row", pa.int64()),
        *_NUMBERS,
        ("total_record_count", pa.int64()),
        ("last_updated_at", pa.int64()),
        ("last_updated_snapshot_id", pa.int64()),
    ]
)
"""A row of a partition statistics file; null for values that are missing, or were reported as wrong."""

BATCH_ROWS = 1 << 14


@attrs.frozen
class PartitionStatisticsTask:
    """One partition statistics file."""

    index: int
    """The index of the file in the metadata."""

    statistics: PartitionStatisticsFile


def partition_statistics_tasks(context: Context, checked: frozenset[int]) -> tuple[PartitionStatisticsTask, ...]:
    """Return the tasks for the partition statistics files of the checked snapshots."""
    listed = enumerate(context.metadata.partition_statistics)
    return tuple(PartitionStatisticsTask(place, one) for place, one in listed if one.snapshot_id in checked)


# The counts of manifests


def partition_facts(context: Context, task: ManifestTask, columns: ManifestColumns) -> Iterator[Facts]:
    """Yield the sums of the partitions of some entries, if a snapshot with them has partition statistics."""
    unified, spec = context.unified_partition, columns.manifest.spec
    live = np.nonzero(columns.live)[0]
    if unified is None or spec is None or not len(live):
        return
    known = {field.field_id for field in spec.fields}
    tuples = [
        partition_values(columns, field.id) if field.id in known else [None] * len(columns) for field in unified.fields
    ]
    places: dict[str, int] = {}
    rows = list(zip(*tuples, strict=True)) if tuples else [()] * len(columns)
    code = np.array([places.setdefault(encode_partition(rows[row]), len(places)) for row in live.tolist()], np.intp)

    def summed(numbers: Any) -> pa.Array[Any]:
        made = np.zeros(len(places), np.int64)
        np.add.at(made, code, np.asarray(numbers, np.int64)[live])
        return pa.array(made)

    content, records = columns.content, columns.record_count
    vectors = (content == FileContent.POSITION_DELETES) & columns.content_offset.valid
    data, equality = content == FileContent.DATA, content == FileContent.EQUALITY_DELETES
    positions = (content == FileContent.POSITION_DELETES) & ~vectors
    sizes = columns.file_size_in_bytes
    counted = {
        "data_record_count": records * data,
        "data_file_count": data,
        "total_data_file_size_in_bytes": sizes * data,
        "position_delete_record_count": records * (positions | vectors),
        "position_delete_file_count": positions,
        "dv_count": vectors,
        "equality_delete_record_count": records * equality,
        "equality_delete_file_count": equality,
        "vector_records": records * vectors,
    }
    added_at = np.full(len(places), -1, np.int64)
    np.maximum.at(added_at, code, _added_at(context, columns)[live])
    batch = pa.RecordBatch.from_arrays(
        [
            pa.array(list(places), pa.string()),
            pa.array(np.full(len(places), task.number, np.int32)),
            *(summed(counted[name]) for name in (*COUNTED, "vector_records")),
            pa.array(added_at, mask=added_at < 0),
        ],
        schema=PARTITIONS,
    )
    yield from _split(context, "partitions", batch)


def _added_at(context: Context, columns: ManifestColumns) -> Any:
    """Return the timestamps of the entries' snapshots, in milliseconds; -1 for expired ones."""
    ids = columns.snapshot_id
    made = np.full(len(columns), -1, np.int64)
    for snapshot_id in np.unique(ids.values[ids.valid]).tolist():
        snapshot = context.snapshots.get(snapshot_id)
        if snapshot is not None:
            made[ids.valid & (ids.values == snapshot_id)] = snapshot.timestamp_ms
    return made


def _split(context: Context, kind: str, batch: pa.RecordBatch) -> Iterator[Facts]:
    keys: list[Any] = batch.column(0).to_pylist()
    buckets = np.fromiter((text_bucket(key, context.buckets) for key in keys), np.int64, batch.num_rows)
    for bucket in np.unique(buckets).tolist():
        yield Facts(bucket, kind, batch.take(np.nonzero(buckets == bucket)[0]))


# Files


def check_partition_statistics_task(context: Context, task: PartitionStatisticsTask) -> Iterator[Emitted]:
    """Check a file on its own, and emit its rows."""
    location = task.statistics.statistics_path
    try:
        yield from run_with_stall_timeout(context.file_seconds, location, lambda: list(_check(context, task)))
    except Stalled as error:
        yield Findings((_not_read(context, task, error),))


def _check(context: Context, task: PartitionStatisticsTask) -> Iterator[Emitted]:
    statistics, metadata = task.statistics, context.metadata_location
    location, path = statistics.statistics_path, f"/partition-statistics/{task.index}"
    tally = Tally()
    try:
        size = file_size(location)
        if size != statistics.file_size_in_bytes:
            tally.add(
                [
                    finding(
                        "STA015",
                        "file-size-in-bytes differs from the size of the file",
                        file=metadata,
                        path=f"{path}/file-size-in-bytes",
                        found=statistics.file_size_in_bytes,
                        expected=str(size),
                        aspect="mismatch",
                    )
                ]
            )
        opened = open_file(location, _format(location), None)
        version = _version(context, statistics.snapshot_id)
        unified = context.unified_partition
        if unified is None:
            message = "the rows were not checked: the type of a partition field is not known"
            tally.add([finding("STA031", message, file=location, aspect="not-checked")])
        else:
            faults = list(_schema_faults(context, opened, unified, version, location))
            tally.add(faults)
            if not faults:
                yield from _rows(context, task, opened, unified, version, tally)
                yield StatisticsRead(task.index)
    except FileAccessError as error:
        tally.add([_not_read(context, task, error)])
    except SpecError as error:
        tally.add(from_violations([error.violation], file=location))
    yield Findings(tally.findings())


def statistics_rows(context: Context, task: PartitionStatisticsTask) -> Iterator[Emitted]:
    """Emit only the rows of a file, to compare totals with deleted rows; an earlier stage reported its findings."""
    by_partition = attrs.evolve(context, buckets=context.id_buckets)
    yield from (one for one in check_partition_statistics_task(by_partition, task) if isinstance(one, Facts))


def _not_read(context: Context, task: PartitionStatisticsTask, error: FileAccessError) -> Finding:
    return finding(
        "STA014",
        f"the partition statistics file cannot be read: {error.reason}",
        file=context.metadata_location,
        path=f"/partition-statistics/{task.index}/statistics-path",
        found=Unabbreviated(task.statistics.statistics_path),
        aspect="unreadable",
    )


def statistics_crash_finding(context: Context, task: PartitionStatisticsTask) -> Findings:
    """Return the finding for a file whose check crashed the process."""
    location = task.statistics.statistics_path
    try:
        file_format = run_with_stall_timeout(context.file_seconds, location, lambda: _format(location))
    except FileAccessError as error:
        return Findings((_not_read(context, task, error),))
    return Findings(
        (
            finding(
                "PQT007" if file_format is FileFormat.PARQUET else "ORC008",
                ENDED,
                file=location,
                aspect="process-ended",
            ),
        )
    )


_MAGIC = {parquet_thrift.MAGIC: FileFormat.PARQUET, orc_footer.MAGIC: FileFormat.ORC, container.MAGIC: FileFormat.AVRO}


def _format(location: str) -> FileFormat:
    """Detect the format by the first bytes; Parquet if they match no format, so that its reader reports the error."""
    with open_input(location) as file, name_file_in_errors(location):
        start = file.read(4)
    return next((found for magic, found in _MAGIC.items() if start.startswith(magic)), FileFormat.PARQUET)


def _version(context: Context, snapshot_id: int) -> FormatVersion:
    """Return the format version that a file was written for: an upgrade does not rewrite it."""
    snapshot, table = context.snapshots.get(snapshot_id), context.metadata.format_version
    has_row_ids = snapshot is not None and snapshot.first_row_id is not None
    return V2 if ROW_LINEAGE.is_supported(table) and not has_row_ids else table


def _schema_faults(
    context: Context, opened: OpenedFile, unified: StructType, version: FormatVersion, location: str
) -> Iterator[Finding]:
    """Find columns that are missing or have wrong types."""
    stored = {field.id: field for field in opened.struct.fields}
    for field in partition_statistics_type(unified, version).fields:
        rule = next(one for one in _RULES.values() if one.id == field.id)
        found = stored.get(field.id)
        if found is None:
            if field.required:
                yield finding(
                    rule.requirement,
                    f"the column {field.name} is missing",
                    file=location,
                    path=f"/{field.name}",
                    expected=f"a column with the field id {field.id}",
                    aspect="column-missing",
                )
        elif field.id == PARTITION:
            yield from _partition_faults(context, found, unified, location)
        elif found.type != field.type:
            yield finding(
                rule.requirement,
                f"{field.name} has the wrong type",
                file=location,
                path=f"/{field.name}",
                found=Description(str(found.type)),
                expected=str(field.type),
                aspect="wrong-type",
            )


def _partition_faults(context: Context, found: NestedField, unified: StructType, location: str) -> Iterator[Finding]:
    if not isinstance(found.type, StructType):
        yield finding(
            "STA017",
            "the column partition is not a struct",
            file=location,
            path="/partition",
            found=Description(str(found.type)),
            aspect="wrong-type",
        )
        return
    mine, wanted = ([field.id for field in struct.fields] for struct in (found.type, unified))
    if mine != wanted:
        dropped = {field.id for field in unified.fields} - context.partition_fields_with_source
        left_out = [field_id for field_id in wanted if field_id not in dropped]
        yield finding(
            "STA031",
            "the fields of the column partition differ from those of the specs of the table",
            file=location,
            path="/partition",
            found=mine,
            expected=str(wanted),
            aspect="fields-of-dropped-columns" if mine == left_out else "other-fields",
        )
        return
    for stored, field in zip(found.type.fields, unified.fields, strict=True):
        if not is_readable_as(stored.type, field.type, context.metadata.format_version):
            yield finding(
                "STA017",
                "the type of a partition field is wrong",
                file=location,
                path=f"/partition/{field.name}",
                found=Description(str(stored.type)),
                expected=str(field.type),
                aspect="field-type",
            )


def _rows(
    context: Context,
    task: PartitionStatisticsTask,
    opened: OpenedFile,
    unified: StructType,
    version: FormatVersion,
    tally: Tally,
) -> Iterator[Facts]:
    location = task.statistics.statistics_path
    known = {rule.id for rule in _RULES.values()}
    struct = StructType(tuple(field for field in opened.struct.fields if field.id in known))
    names, first, previous = [field.name for field in struct.fields], 0, None
    for batch in opened.batches(names, BATCH_ROWS):
        report_alive()
        columns = [
            to_python_values(field.type, batch.column(batch.schema.get_field_index(field.name)))
            for field in struct.fields
        ]
        made: list[tuple[Any, ...]] = []
        for place, values in enumerate(zip(*columns, strict=True), start=first):
            row = dict(zip([field.id for field in struct.fields], values, strict=True))
            read: PartitionStatistics | None = None
            try:
                read = read_row(row, unified, version)
            except SpecError as error:
                tally.add(from_violations([error.violation], file=location, under=f"/{place}"))
            else:
                tally.add(from_violations(check_row(read, f"/{place}", version), file=location))
                tally.add(_spec(context, read, location, place))
                if previous is not None:
                    tally.add(from_violations(check_order(previous, read, unified, f"/{place}"), file=location))
                previous = read
            made.append(_fact(task, place, row, unified, read))
        first += batch.num_rows
        if made:
            yield from _split(context, "statistics", _batch(made))


def _spec(context: Context, row: PartitionStatistics, location: str, place: int) -> Iterator[Finding]:
    if row.spec_id not in context.specs:
        known = ", ".join(map(str, sorted(context.specs)))
        yield finding(
            "STA018",
            "the table does not have the partition spec",
            file=location,
            path=f"/{place}/spec_id",
            found=row.spec_id,
            expected=f"the id of a partition spec of the table: {known}",
            aspect="unknown-spec",
        )


def _fact(
    task: PartitionStatisticsTask,
    place: int,
    row: Mapping[int, Any],
    unified: StructType,
    read: PartitionStatistics | None,
) -> tuple[Any, ...]:
    values = row.get(PARTITION)
    values = values if isinstance(values, Mapping) else {}
    key = encode_partition([values.get(field.id) for field in unified.fields])
    names = (*COUNTED, "total_record_count", "last_updated_at", "last_updated_snapshot_id")
    return (key, task.index, place, *(None if read is None else getattr(read, name) for name in names))


def _batch(rows: Sequence[tuple[Any, ...]]) -> pa.RecordBatch:
    arrays = [pa.array(column, field.type) for column, field in zip(zip(*rows, strict=True), STATISTICS, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=STATISTICS)

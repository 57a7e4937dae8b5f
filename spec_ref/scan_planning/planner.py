"""Planning a scan: from a snapshot to the files that may have matching rows (Scan Planning)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

from spec_ref.expressions.binding import bind
from spec_ref.expressions.metrics import Metrics, might_match
from spec_ref.expressions.predicates import FALSE, Predicate
from spec_ref.expressions.residuals import residual
from spec_ref.formats.avro_container import Data
from spec_ref.manifests.data_file import DataFile, FileContent
from spec_ref.manifests.entry import ManifestEntry
from spec_ref.manifests.reader import read_manifest
from spec_ref.records import evolve
from spec_ref.scan_planning.tasks import ScanDelete, ScanTask
from spec_ref.schemas.schema import Schema
from spec_ref.snapshots.manifest_list import ManifestFile, read_manifest_list
from spec_ref.snapshots.snapshot import Snapshot
from spec_ref.table_metadata.metadata import TableMetadata

ReadFile: TypeAlias = Callable[[str], Data]
"""Gives the content of the file at a location."""

STATISTICS = ("column_sizes", "value_counts", "null_value_counts", "nan_value_counts", "lower_bounds", "upper_bounds")


def plan(
    metadata: TableMetadata,
    snapshot: Snapshot | None,
    predicate: Predicate,
    read_file: ReadFile,
    *,
    schema: Schema | None = None,
    case_sensitive: bool = True,
    statistics: bool = False,
) -> Iterator[ScanTask]:
    """The data files of a snapshot that may have rows that match, each with the deletes that apply to it.

    Args:
        metadata: the table.
        snapshot: what `spec_ref.scan_planning.time_travel.table_state` gives; a table without snapshots has no files.
        predicate: the filter, not bound; `spec_ref.expressions.predicates.TRUE` for all rows.
        read_file: gives the content of a manifest list or manifest by its location.
        schema: the schema that the rows are read with; the table's current one where not given.
        case_sensitive: whether the names in the filter have to be spelled as the schema has them.
        statistics: whether the files of the tasks keep their counts, sizes and bounds.

    Raises:
        SpecError: a manifest list or manifest is not there or is malformed, or the filter does not fit the schema.
    """
    bound = bind(predicate, schema or metadata.current_schema, case_sensitive=case_sensitive)
    specs = {spec.spec_id: spec for spec in metadata.partition_specs}
    if snapshot is None or snapshot.manifest_list is None:
        return
    listed: tuple[ManifestFile, ...] = read_manifest_list(
        read_file(snapshot.manifest_list), file=snapshot.manifest_list
    )
    data: list[tuple[ManifestEntry, int]] = []
    deletes: list[tuple[ManifestEntry, int]] = []
    for manifest_file in listed:
        manifest = read_manifest(read_file(manifest_file.manifest_path), manifest_file=manifest_file, specs=specs)
        for entry in manifest.entries():
            if entry.live:
                target = data if entry.data_file.content is FileContent.DATA else deletes
                target.append((entry, manifest_file.partition_spec_id))
    for entry, spec_id in data:
        left = residual(bound, specs[spec_id], entry.data_file.partition)
        if left == FALSE or not might_match(left, _metrics(entry.data_file)):
            continue
        applied = tuple(
            ScanDelete(_slim(delete.data_file, statistics), delete_spec, delete.sequence_number or 0)
            for delete, delete_spec in deletes
            if _applies(delete.data_file, delete_spec, delete.sequence_number or 0, entry.data_file, spec_id,
                        entry.sequence_number or 0, specs[delete_spec].unpartitioned)
        )  # fmt: skip
        if any(delete.data_file.is_deletion_vector for delete in applied):
            applied = tuple(
                delete
                for delete in applied
                if delete.data_file.content is FileContent.EQUALITY_DELETES or delete.data_file.is_deletion_vector
            )
        yield ScanTask(
            _slim(entry.data_file, statistics), spec_id, entry.sequence_number or 0, entry.file_sequence_number or 0,
            applied, left,
        )  # fmt: skip


def _applies(
    delete: DataFile, delete_spec: int, number: int, data: DataFile, spec: int, data_number: int, everywhere: bool
) -> bool:
    same = delete_spec == spec and delete.partition == data.partition
    if delete.content is FileContent.EQUALITY_DELETES:
        return data_number < number and (same or everywhere)
    return data_number <= number and same and delete.referenced_data_file in (None, data.file_path)


def _metrics(file: DataFile) -> Metrics:
    return Metrics(record_count=file.record_count, **{name: getattr(file, name) for name in STATISTICS[1:]})


def _slim(file: DataFile, statistics: bool) -> DataFile:
    return file if statistics else evolve(file, **dict.fromkeys(STATISTICS))

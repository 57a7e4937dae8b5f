"""Plan a scan over the columns of manifests: the kernel for `spec_ref.scan_planning.planner.plan`.

Files are ruled out by their partitions, and then by their counts and bounds, before an object is made for a file. No
more than a batch of entries is held at a time, apart from the deletes and the paths of the planned files.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import attrs
import numpy as np
import numpy.typing as npt

from spec_ref.columnar.expressions.metrics_evaluation import matching_files
from spec_ref.columnar.manifest_lists.reader import ListColumns, list_columns
from spec_ref.columnar.manifests.batched_manifests import batched_columns
from spec_ref.columnar.manifests.data_file_columns import DataFileColumns
from spec_ref.columnar.manifests.entry_columns import ManifestColumns
from spec_ref.columnar.scan_planning.delete_file_index import DeleteFileIndex
from spec_ref.columnar.scan_planning.manifest_selection import select_manifests
from spec_ref.columnar.scan_planning.partition_filter import PartitionFilter, PartitionSelection
from spec_ref.columnar.scan_planning.task_batch import TaskBatch
from spec_ref.core.errors import SpecError, spec_error
from spec_ref.core.records import evolve
from spec_ref.core.versions import FormatVersion
from spec_ref.expressions.binding import bind
from spec_ref.expressions.bound import BoundPredicate
from spec_ref.expressions.predicates import TRUE, Predicate
from spec_ref.manifest_lists.manifest_file import ManifestContent, ManifestFile
from spec_ref.manifests.data_file import DataFile, FileContent
from spec_ref.partitioning.spec import PartitionSpec
from spec_ref.scan_planning.delete_scope import column_types
from spec_ref.scan_planning.manifest_selection import (
    ManifestSelection,
    ReadFile,
    list_manifests,
    read_content,
    read_manifests,
)
from spec_ref.scan_planning.planner import (
    NUMBERS,
    STATISTICS,
    check_number,
    may_delete_matching,
    scan_delete,
    without_statistics,
    wrong_content_error,
)
from spec_ref.scan_planning.tasks import FileScanTask, ScanDelete
from spec_ref.schemas.schema import Schema
from spec_ref.snapshots.snapshot import Snapshot
from spec_ref.table_metadata.metadata import TableMetadata

Rows = npt.NDArray[np.intp]

Announce: TypeAlias = Callable[[Sequence[ManifestFile]], None]


def plan(
    metadata: TableMetadata, snapshot: Snapshot | None, predicate: Predicate, read_file: ReadFile, **options: Any
) -> Iterator[FileScanTask]:
    """Plan a scan, as `spec_ref.scan_planning.planner.plan` does, with the same errors.

    Args:
        metadata: the table.
        snapshot: the snapshot to scan; None for a table without snapshots, which has no files.
        predicate: the unbound filter.
        read_file: reads a manifest list or manifest by its location.
        options: the other arguments of `plan_batches`.

    Returns:
        The tasks, in the order of the manifests.

    Raises:
        SpecError: as `spec_ref.scan_planning.planner.plan`.
    """
    batches = plan_batches(metadata, snapshot, predicate, read_file, **options)
    return itertools.chain.from_iterable(batch.tasks() for batch in batches)


def plan_batches(
    metadata: TableMetadata,
    snapshot: Snapshot | None,
    predicate: Predicate,
    read_file: ReadFile,
    *,
    schema: Schema | None = None,
    case_sensitive: bool = True,
    include_column_stats: bool = False,
    all_deletes: bool = False,
    tolerate_truncated_times: bool = False,
    announce: Announce | None = None,
) -> Iterator[TaskBatch]:
    """Plan a scan without making an object for each data file, unless deletes apply to the files.

    Values of data files that are not needed to plan are not read before the tasks are made.

    Args:
        metadata: the table.
        snapshot: the snapshot to scan; None for a table without snapshots, which has no files.
        predicate: the unbound filter.
        read_file: reads a manifest list or manifest by its location.
        schema: the schema that the rows are read with; the table's current one by default.
        case_sensitive: whether the names in the filter have to be spelled as in the schema.
        include_column_stats: whether the files of the tasks keep their counts, sizes and bounds.
        all_deletes: whether tasks have the deletes of rows that do not match, too.
        tolerate_truncated_times: see `spec_ref.expressions.projection.Projection`.
        announce: called once, with the manifests that will be read, in their order, so that they can be read ahead.

    Returns:
        The tasks in batches, in the order of the manifests.

    Raises:
        SpecError: as `spec_ref.scan_planning.planner.plan`.
    """
    bound = bind(predicate, schema or metadata.current_schema, case_sensitive=case_sensitive)
    specs = {spec.spec_id: spec for spec in metadata.partition_specs}
    rows = _Filter(bound, specs, metadata.format_version, tolerate_truncated_times)
    deletes = evolve(rows, predicate=TRUE) if all_deletes else rows
    return _Scan(metadata, specs, rows, deletes, read_file, include_column_stats, announce).batches(snapshot)


@attrs.frozen
class _Filter:
    """A row filter for the manifests and partitions of every spec."""

    predicate: BoundPredicate
    specs: Mapping[int, PartitionSpec]
    version: FormatVersion
    tolerate: bool
    _of_specs: dict[int, PartitionFilter] = attrs.field(factory=dict, init=False)

    def manifests(
        self, manifest_files: Iterable[ManifestFile], content: ManifestContent, file: str | None
    ) -> list[ManifestFile]:
        selection = ManifestSelection(self.predicate, self.specs, self.version, tolerate_truncated_times=self.tolerate)
        return list(selection.select(manifest_files, content, file))

    def manifests_of_columns(self, list_columns: Iterable[ListColumns], content: ManifestContent) -> list[ManifestFile]:
        return [
            manifest
            for columns in list_columns
            for manifest in select_manifests(
                columns,
                content,
                self.predicate,
                self.specs,
                self.version,
                tolerate_truncated_times=self.tolerate,
            )
        ]

    def of_spec(self, spec: PartitionSpec) -> PartitionFilter:
        if spec.spec_id not in self._of_specs:
            made = PartitionFilter(self.predicate, spec, tolerate_truncated_times=self.tolerate)
            self._of_specs[spec.spec_id] = made
        return self._of_specs[spec.spec_id]


@attrs.frozen
class _Scan:
    metadata: TableMetadata
    specs: Mapping[int, PartitionSpec]
    rows: _Filter
    deletes: _Filter
    """The filter of the rows whose deletes have to be known."""

    read_file: ReadFile
    statistics: bool
    announce: Announce | None

    def batches(self, snapshot: Snapshot | None) -> Iterator[TaskBatch]:
        if snapshot is None:
            return
        data, deletes = self._manifests(snapshot)
        if not data:
            return
        if self.announce is not None:
            self.announce([*deletes, *data])
        index = self._index(
            batched_columns(read_manifests(deletes, self.specs, self.read_file, snapshot.manifest_list))
        )
        seen: set[str] = set()
        for columns in batched_columns(read_manifests(data, self.specs, self.read_file, snapshot.manifest_list)):
            yield from self._plan_batches(columns, index, seen)

    def _manifests(self, snapshot: Snapshot) -> tuple[list[ManifestFile], list[ManifestFile]]:
        """Select the manifests of data and of deletes; in columns, unless the definition has to read the list."""
        location, version = snapshot.manifest_list, self.metadata.format_version
        read_file = self.read_file
        if location is not None:
            content = read_content(self.read_file, location, "SNP005")
            columns = list_columns(content, format_version=version)
            if columns is not None:
                with contextlib.suppress(SpecError):  # the definition raises the error with its place
                    return (
                        self.rows.manifests_of_columns(columns, ManifestContent.DATA),
                        self.deletes.manifests_of_columns(columns, ManifestContent.DELETES),
                    )
            read_file = {location: content}.__getitem__  # the list is not read again
        listed = list_manifests(snapshot, self.specs, read_file, format_version=version)
        return (
            self.rows.manifests(listed, ManifestContent.DATA, location),
            self.deletes.manifests(listed, ManifestContent.DELETES, location),
        )

    # Data files

    def _plan_batches(self, columns: ManifestColumns, index: DeleteFileIndex, seen: set[str]) -> Iterator[TaskBatch]:
        kept = self._select_files(columns, FileContent.DATA)
        if not kept:
            return
        rows = np.concatenate([selection.rows for selection in kept])
        owner = np.repeat(np.arange(len(kept)), [len(selection.rows) for selection in kept])
        order = np.argsort(rows, kind="stable")
        rows, owner = rows[order], owner[order]
        without = () if self.statistics or index.has_equality_deletes else STATISTICS
        spec = columns.manifest.spec
        assert spec is not None
        start = 0
        for data_files in columns.data_files(rows, without=without):
            here = rows[start : start + len(data_files)]
            files, deletes = self._find_deletes(columns, here, data_files, index, seen)
            yield TaskBatch(
                data_files=files,
                partition_spec_id=spec.spec_id,
                data_sequence_numbers=columns.sequence_number.values[here],
                file_sequence_numbers=columns.file_sequence_number.values[here],
                residuals=[selection.residual for selection in kept],
                residual_of=owner[start : start + len(data_files)],
                deletes=deletes,
            )
            start += len(data_files)

    def _find_deletes(
        self, columns: ManifestColumns, rows: Rows, data_files: DataFileColumns, index: DeleteFileIndex, seen: set[str]
    ) -> tuple[DataFileColumns | list[DataFile], list[tuple[ScanDelete, ...]] | None]:
        """Find the deletes of data files; refuse a path that an earlier entry has.

        Returns:
            The files, as records if there are deletes, and the deletes of each file.
        """
        if not len(index):
            paths = _decode_paths(data_files)
            if len(paths) == len(data_files) and seen.isdisjoint(paths):
                seen |= paths
                return data_files, None
        files = data_files.records()
        deletes = [
            self._deletes(columns, row, file, number, index, seen)
            for row, file, number in zip(
                rows.tolist(), files, columns.sequence_number.values[rows].tolist(), strict=True
            )
        ]
        return [self._file_for_task(file) for file in files], deletes

    def _deletes(
        self,
        columns: ManifestColumns,
        row: int,
        data_file: DataFile,
        data_sequence_number: int,
        index: DeleteFileIndex,
        seen: set[str],
    ) -> tuple[ScanDelete, ...]:
        spec, path = columns.manifest.spec, data_file.file_path
        assert spec is not None
        with _ErrorsInEntry(columns, row):
            if path in seen:
                raise spec_error(
                    "SCN007", "the data file is live in two entries", found=path, path="/data_file/file_path"
                )
            seen.add(path)
            return index.deletes_for(data_file, data_sequence_number, spec)

    def _select_files(self, columns: ManifestColumns, content: FileContent) -> list[PartitionSelection]:
        """Find the live files that neither partitions (SCN003, MAN004) nor, for data, metrics (SCN005) rule out."""
        live = np.nonzero(columns.live)[0]
        _check_live_entries(columns, live, data=content is FileContent.DATA)
        spec = columns.manifest.spec
        assert spec is not None
        chosen = self.rows if content is FileContent.DATA else self.deletes
        kept = []
        for selection in chosen.of_spec(spec).selections(columns, live):
            rows = selection.rows
            if content is FileContent.DATA:
                rows = _select_by_metrics(selection.residual, columns, rows)
            if len(rows):
                kept.append(evolve(selection, rows=rows))
        return kept

    def _file_for_task(self, data_file: DataFile) -> DataFile:
        return data_file if self.statistics else without_statistics(data_file)

    # Deletes

    def _delete_for_tasks(self, delete: ScanDelete) -> ScanDelete:
        return delete if self.statistics else evolve(delete, data_file=self._file_for_task(delete.data_file))

    def _index(self, batches: Iterator[ManifestColumns]) -> DeleteFileIndex:
        index = DeleteFileIndex(self.specs, column_types(self.metadata), self._delete_for_tasks)
        for columns in batches:
            spec_id = columns.manifest.spec_id
            assert spec_id is not None
            for selection in self._select_files(columns, FileContent.POSITION_DELETES):
                for row, entry in zip(selection.rows.tolist(), columns.entries(selection.rows), strict=True):
                    with _ErrorsInEntry(columns, row):
                        delete = scan_delete(entry, spec_id, self.metadata.format_version)
                        if may_delete_matching(delete.data_file, selection.residual):
                            index.add(delete)
        return index


def _decode_paths(data_files: DataFileColumns) -> set[str]:
    """Decode the paths of data files; those of malformed files, which the definition refuses, are left out."""
    try:
        return set(data_files.paths())
    except SpecError:
        return set()


def _select_by_metrics(predicate: BoundPredicate, columns: ManifestColumns, rows: Rows) -> Rows:
    try:
        return matching_files(predicate, columns, rows)
    except SpecError:
        for row in rows:  # one at a time, to add the entry to the error
            with _ErrorsInEntry(columns, int(row)):
                matching_files(predicate, columns, np.array([row]))
        raise


class _ErrorsInEntry:
    """Adds the manifest and the number of the entry to errors."""

    def __init__(self, columns: ManifestColumns, row: int) -> None:
        self.columns = columns
        self.row = row

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, SpecError) and error.violation.file is None:
            raise self.columns.with_location(error, self.row) from error.__cause__


def _check_live_entries(columns: ManifestColumns, live: Rows, *, data: bool) -> None:
    """Refuse live entries of the wrong content, and impossible sequence numbers."""
    other = (columns.content[live] != FileContent.DATA) == data
    if other.any():
        place = int(live[np.argmax(other)])
        raise columns.with_location(wrong_content_error(FileContent(int(columns.content[place])), data=data), place)
    for attribute in NUMBERS:
        numbers = getattr(columns, attribute)
        greatest = columns.greatest_sequence_number
        values = numbers.values[live]
        wrong = ~numbers.valid[live] | (values < 0) | (values > greatest[live])
        if wrong.any():
            place = int(live[np.argmax(wrong)])
            with _ErrorsInEntry(columns, place):
                number = int(numbers.values[place]) if numbers.valid[place] else None
                check_number(attribute, number, int(greatest[place]))

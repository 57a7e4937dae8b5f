"""Planning a scan: from a snapshot to the files that may have matching rows (Scan Planning).

All live files of the snapshot that may have matching rows are planned (SCN001, SCN006). Manifests are ruled out by
their counts and summaries, files by their partitions under the spec of their manifest (SCN003, MAN004) and then by
their counts and bounds (SCN005).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import attrs

from spec_ref.core.errors import SpecError, spec_error
from spec_ref.core.records import evolve
from spec_ref.core.versions import DELETION_VECTORS, FormatVersion
from spec_ref.expressions.binding import bind
from spec_ref.expressions.bound import BoundPredicate
from spec_ref.expressions.metrics_evaluation import Metrics, might_match
from spec_ref.expressions.predicates import FALSE, TRUE, Predicate
from spec_ref.manifest_lists.manifest_file import ManifestContent, ManifestFile
from spec_ref.manifests.data_file import DataFile, FileContent
from spec_ref.manifests.entry import ManifestEntry
from spec_ref.manifests.manifest import Manifest
from spec_ref.manifests.metrics import column_metrics
from spec_ref.partitioning.spec import PartitionSpec
from spec_ref.scan_planning.delete_scope import applicable_deletes, check_delete, column_types
from spec_ref.scan_planning.manifest_selection import ManifestSelection, ReadFile, list_manifests, read_manifests
from spec_ref.scan_planning.partition_residual import partition_residual
from spec_ref.scan_planning.tasks import FileScanTask, ScanDelete
from spec_ref.schemas.schema import Schema
from spec_ref.snapshots.snapshot import Snapshot
from spec_ref.table_metadata.metadata import TableMetadata

STATISTICS = ("column_sizes", "value_counts", "null_value_counts", "nan_value_counts", "lower_bounds", "upper_bounds")
"""The attributes of files that tasks may leave out."""

NUMBERS = {"sequence_number": "MAN013", "file_sequence_number": "MAN014"}
"""The sequence numbers of an entry, and the requirement of each."""


def plan(
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
) -> Iterator[FileScanTask]:
    """Plan a scan: find the data files that may have matching rows, with the deletes that apply (SCN001, SCN006).

    Args:
        metadata: the table.
        snapshot: a snapshot as `spec_ref.scan_planning.time_travel.table_state` returns it; a table without snapshots
            has no files.
        predicate: the unbound filter; `spec_ref.expressions.predicates.TRUE` for all rows.
        read_file: reads a manifest list or manifest by its location.
        schema: the schema that the rows are read with; the table's current one by default.
        case_sensitive: whether the names in the filter have to be spelled as in the schema.
        include_column_stats: whether the files of the tasks keep their counts, sizes and bounds.
        all_deletes: whether tasks have the deletes of rows that do not match, too. Rewriting a file as a whole needs
            them: without them, deleted rows would be in the table again.
        tolerate_truncated_times: whether partition values may come from writers that rounded times before 1970 up
            (contradiction C5).

    Returns:
        The tasks, in the order of the manifests.

    Raises:
        SpecError: the codes of `spec_ref.expressions.binding.bind`; those of `list_manifests` and of reading a
            manifest; MLS005 for an unknown spec; MAN002 for an entry of the wrong content; MAN013 or MAN014 for a
            missing or impossible sequence number; SCN007 for a data file that is live twice; DEL001, DEL003, DFL020 or
            DFL023 for deletes that are not allowed, ambiguous or incomplete.
    """
    bound = bind(predicate, schema or metadata.current_schema, case_sensitive=case_sensitive)
    scan = _Scan(
        metadata, bound, TRUE if all_deletes else bound, read_file, include_column_stats, tolerate_truncated_times
    )
    return scan.tasks(snapshot)


@attrs.frozen
class _Scan:
    metadata: TableMetadata
    predicate: BoundPredicate
    delete_predicate: BoundPredicate
    """The filter of the rows whose deletes have to be known."""

    read_file: ReadFile
    statistics: bool
    tolerate: bool

    @property
    def specs(self) -> dict[int, PartitionSpec]:
        return {spec.spec_id: spec for spec in self.metadata.partition_specs}

    def tasks(self, snapshot: Snapshot | None) -> Iterator[FileScanTask]:
        if snapshot is None:
            return
        specs, types = self.specs, column_types(self.metadata)
        listed = list_manifests(snapshot, specs, self.read_file, format_version=self.metadata.format_version)
        data = self._select_manifests(self.predicate, listed, ManifestContent.DATA, snapshot)
        with_deletes = self._select_manifests(self.delete_predicate, listed, ManifestContent.DELETES, snapshot)
        if not data:
            return
        deletes = [
            found
            for manifest in self._read_manifests(with_deletes, snapshot)
            for found in self._scan_deletes(manifest, specs)
        ]
        seen: set[str] = set()
        for manifest in self._read_manifests(data, snapshot):
            spec = manifest.spec
            assert spec is not None
            for number, entry, left in _live_files(manifest, self.predicate, self.tolerate, data=True):
                data_file = entry.data_file
                with _errors_in_entry(manifest, number):
                    if not might_match(left, column_metrics(data_file)):
                        continue
                    if data_file.file_path in seen:
                        path = "/data_file/file_path"
                        raise spec_error(
                            "SCN007", "the data file is live in two entries", found=data_file.file_path, path=path
                        )
                    seen.add(data_file.file_path)
                    assert entry.sequence_number is not None
                    assert entry.file_sequence_number is not None
                    found = applicable_deletes(deletes, data_file, entry.sequence_number, spec, specs, types)
                yield FileScanTask(
                    self._file_for_task(data_file),
                    spec.spec_id,
                    entry.sequence_number,
                    entry.file_sequence_number,
                    tuple(evolve(one, data_file=self._file_for_task(one.data_file)) for one in found),
                    left,
                )

    def _select_manifests(
        self,
        predicate: BoundPredicate,
        manifest_files: tuple[ManifestFile, ...],
        content: ManifestContent,
        snapshot: Snapshot,
    ) -> list[ManifestFile]:
        selection = ManifestSelection(
            predicate, self.specs, self.metadata.format_version, tolerate_truncated_times=self.tolerate
        )
        return list(selection.select(manifest_files, content, snapshot.manifest_list))

    def _read_manifests(self, manifest_files: list[ManifestFile], snapshot: Snapshot) -> Iterator[Manifest]:
        return read_manifests(manifest_files, self.specs, self.read_file, snapshot.manifest_list)

    def _scan_deletes(self, manifest: Manifest, specs: Mapping[int, PartitionSpec]) -> Iterator[ScanDelete]:
        spec_id = manifest.spec_id
        assert spec_id is not None
        for number, entry, left in _live_files(manifest, self.delete_predicate, self.tolerate, data=False):
            with _errors_in_entry(manifest, number):
                delete = scan_delete(entry, spec_id, self.metadata.format_version)
                applies = may_delete_matching(delete.data_file, left)
                if applies:
                    check_delete(delete.data_file)
            if applies:
                yield delete

    def _file_for_task(self, data_file: DataFile) -> DataFile:
        return data_file if self.statistics else without_statistics(data_file)


def _live_files(
    manifest: Manifest, predicate: BoundPredicate, tolerate: bool, *, data: bool
) -> Iterator[tuple[int, ManifestEntry, BoundPredicate]]:
    """Find the live entries that their partitions do not rule out (SCN003, MAN004), as number, entry and residual."""
    spec, listed = manifest.spec, manifest.manifest_file
    assert spec is not None
    assert listed is not None
    types = {field.id: field.type for field in manifest.partition_type().fields}
    for number, entry in enumerate(manifest.entries()):
        if not entry.live:
            continue
        with _errors_in_entry(manifest, number):
            check_content(entry.data_file.content, data=data)
            for attribute in NUMBERS:
                check_number(attribute, getattr(entry, attribute), listed.sequence_number)
            left = partition_residual(
                predicate, spec, types, entry.data_file.partition, tolerate_truncated_times=tolerate
            )
        if left != FALSE:
            yield number, entry, left


@contextmanager
def _errors_in_entry(manifest: Manifest, number: int) -> Iterator[None]:
    """Add the manifest and the number of the entry to errors."""
    try:
        yield
    except SpecError as error:
        problem = error.violation
        raise SpecError(attrs.evolve(problem, path=f"/{number}{problem.path}", file=manifest.file)) from error.__cause__


def check_content(content: FileContent, *, data: bool) -> None:
    """Check that a live entry has the content that its manifest lists.

    Args:
        content: the content of the entry's file.
        data: whether the manifest lists data files.

    Raises:
        SpecError: MAN002 if the manifest lists the other kind of files.
    """
    if (content is not FileContent.DATA) == data:
        raise wrong_content_error(content, data=data)


def wrong_content_error(content: FileContent, *, data: bool) -> SpecError:
    """Make the error that `check_content` raises.

    Args:
        content: the content of the entry's file.
        data: whether the manifest lists data files.

    Returns:
        The error, MAN002.
    """
    what = "a manifest of data files lists deletes" if data else "a manifest of deletes lists a data file"
    return spec_error("MAN002", what, found=int(content.value), path="/data_file/content")


def check_number(attribute: str, number: int | None, greatest_number: int) -> None:
    """Check the sequence number of a live entry.

    Args:
        attribute: one of `NUMBERS`.
        number: the number of the entry, after inheritance; None if it is missing.
        greatest_number: the sequence number of the manifest.

    Raises:
        SpecError: MAN013 or MAN014 if it is missing, negative, or greater than that of the manifest.
    """
    if number is None:
        message = "the sequence number of an existing file is missing"
        raise spec_error(NUMBERS[attribute], message, path=f"/{attribute}")
    if not 0 <= number <= greatest_number:
        raise spec_error(
            NUMBERS[attribute],
            "the sequence number is negative or greater than that of the manifest",
            found=number,
            expected=f"0 to {greatest_number}, the number of the manifest",
            path=f"/{attribute}",
        )


def scan_delete(entry: ManifestEntry, spec_id: int, version: FormatVersion) -> ScanDelete:
    """Make the `ScanDelete` for a manifest entry.

    Args:
        entry: an entry of a delete manifest, with its data sequence number.
        spec_id: the id of the manifest's partition spec.
        version: the format version of the table.

    Returns:
        The delete.

    Raises:
        SpecError: DEL001 for a deletion vector in a table before v3.
    """
    if entry.data_file.is_deletion_vector and not DELETION_VECTORS.is_supported(version):
        message, path = "deletion vectors are not allowed before v3", "/data_file/file_format"
        raise spec_error("DEL001", message, path=path, format_version=version)
    assert entry.sequence_number is not None
    return ScanDelete(entry.data_file, spec_id, entry.sequence_number)


def may_delete_matching(delete: DataFile, predicate: BoundPredicate) -> bool:
    """Decide whether a delete file may delete matching rows, by the metrics of the values in an equality delete file.

    Columns that an equality delete file has but does not compare are ignored (DEL021).

    Args:
        delete: a delete file.
        predicate: the bound filter.

    Returns:
        Whether it may; always true for position deletes.
    """
    if delete.content is not FileContent.EQUALITY_DELETES or predicate == TRUE:
        return True
    compared = set(delete.equality_ids or ())
    maps = {name: _select_ids(getattr(delete, name), compared) for name in STATISTICS[1:]}
    return might_match(predicate, Metrics(record_count=delete.record_count, **maps))


def _select_ids(found: Mapping[int, Any] | None, ids: set[int]) -> dict[int, Any] | None:
    return None if found is None else {field_id: value for field_id, value in found.items() if field_id in ids}


def without_statistics(data_file: DataFile) -> DataFile:
    """Remove the attributes `STATISTICS` from a file, as planning does for tasks.

    Args:
        data_file: a data or delete file.

    Returns:
        The file without them.
    """
    return evolve(data_file, **dict.fromkeys(STATISTICS))

"""Consistency of a manifest with its manifest list and snapshots (Manifest Lists; Sequence Numbers).

The counts, the least sequence number and the partition summaries in the list are recomputed from the columns of the
manifest, one batch at a time.
"""

from __future__ import annotations

from collections.abc import Iterator

import attrs
import numpy as np
import numpy.typing as npt

from conformance.validator.context import Context, ManifestTask
from conformance.validator.contradicted_entries import (
    count_as_corrected,
    find_added_as_existing,
    find_unexpected_snapshots,
)
from conformance.validator.finding import finding, from_violation
from spec_ref.checks.findings import Finding
from spec_ref.columnar.manifests.entry_columns import ManifestColumns
from spec_ref.core.errors import SpecError
from spec_ref.core.records import evolve
from spec_ref.core.versions import POSITION_DELETE_FILES, SEQUENCE_NUMBERS
from spec_ref.data_types.types import kind
from spec_ref.deletes.equality_deletes import delete_column, float_problem
from spec_ref.manifest_lists.manifest_file import ManifestContent, ManifestFile
from spec_ref.manifests.data_file import FileContent
from spec_ref.manifests.entry import EntryStatus
from spec_ref.manifests.manifest import Manifest
from spec_ref.manifests.manifest_file_checks import (
    COMPARED_COUNTS,
    ManifestTotals,
    PartitionValues,
    is_value,
    manifest_file_findings,
)

INTEGERS = frozenset({"int", "long", "date", "timestamp", "timestamptz", "timestamp_ns", "timestamptz_ns", "time"})


class ManifestListComparison:
    """The entry of a manifest in its list, and the same values computed from the entries of the manifest."""

    def __init__(self, context: Context, manifest: Manifest, length: int, task: ManifestTask) -> None:
        self.context = context
        self.manifest = manifest
        self.length = length
        self.task = task
        self.totals = ManifestTotals.for_partition(
            context.partition_type(manifest.spec) if manifest.spec is not None else None
        )
        self.corrected = ManifestTotals(None)
        self.causes = frozenset[str]()

    def add(self, columns: ManifestColumns) -> Iterator[Finding]:
        """Add a batch; yield the findings about single entries."""
        right, causes = count_as_corrected(columns, self.manifest, self.context.owners)
        self.causes |= causes
        for totals, statuses in ((self.totals, columns.status), (self.corrected, right.status)):
            for status in EntryStatus:
                rows = statuses == status
                totals.files[status] += int(rows.sum())
                totals.add_rows(status, columns.record_count[rows].tolist())
        sequence = columns.sequence_number
        known = columns.live & sequence.valid
        if known.any():
            self.totals.add_sequence_number(int(sequence.values[known].min()))
        known = right.live & sequence.valid
        if known.any():
            self.corrected.add_sequence_number(int(sequence.values[known].min()))
        for values in self.totals.partition or ():
            _add(values, columns)
        yield from self._snapshots(columns)
        yield from self._row_ids(columns)
        yield from self._specs(columns)

    def _places(self, columns: ManifestColumns, wrong: npt.NDArray[np.bool_]) -> Iterator[tuple[int, str]]:
        for row in np.nonzero(wrong)[0].tolist():
            yield row, f"/{columns.first + row}"

    def _snapshots(self, columns: ManifestColumns) -> Iterator[Finding]:
        listed, file = self._list_entry, self.task.location
        snapshot, added, owners = columns.snapshot_id, columns.status == EntryStatus.ADDED, self.context.owners
        for _, path in self._places(columns, find_added_as_existing(columns, listed, owners)):
            yield finding(
                "MAN011",
                "a file that the snapshot of the manifest added is listed as existing",
                file=file,
                path=f"{path}/status",
                found="EXISTING",
                expected=f"an added entry of snapshot {listed.added_snapshot_id}",
                aspect="added-as-existing",
            )
        if self.task.manifest_file is not None:
            for row, path in self._places(columns, find_unexpected_snapshots(columns, listed, owners)):
                yield finding(
                    "MAN016",
                    "the snapshot of an added file differs from that of the manifest",
                    file=file,
                    path=f"{path}/snapshot_id",
                    found=int(snapshot.values[row]),
                    expected=str(listed.added_snapshot_id),
                )
        if not SEQUENCE_NUMBERS.is_supported(self.manifest.format_version):
            return
        numbers = columns.file_sequence_number
        stored = columns.written_values("file_sequence_number").valid  # inherited numbers are checked in the list
        for snapshot_id in np.unique(snapshot.values[added & snapshot.valid]).tolist():
            owner = self.context.snapshots.get(snapshot_id)
            if owner is None:
                continue
            mine = added & (snapshot.values == snapshot_id) & stored
            for row, path in self._places(columns, mine & (numbers.values != owner.sequence_number)):
                yield finding(
                    "MAN014",
                    "the file sequence number differs from that of the snapshot that added the file",
                    file=file,
                    path=f"{path}/file_sequence_number",
                    found=int(numbers.values[row]),
                    expected=str(owner.sequence_number),
                    aspect="mismatch",
                )
        data = columns.sequence_number
        newer = data.valid & numbers.valid & (data.values > numbers.values)
        for row, path in self._places(columns, newer):
            yield finding(
                "SEQ007",
                "the data sequence number is greater than the file sequence number",
                file=file,
                path=f"{path}/sequence_number",
                found=int(data.values[row]),
                expected=f"at most {int(numbers.values[row])}",
            )
        last = self.context.metadata.last_sequence_number
        for row, path in self._places(columns, stored & (numbers.values > last)):
            yield finding(
                "TMD004",
                "the sequence number of a file is greater than the table's last-sequence-number",
                file=file,
                path=f"{path}/file_sequence_number",
                found=int(numbers.values[row]),
                expected=f"at most {last}",
                aspect="exceeded-by-file",
            )

    def _row_ids(self, columns: ManifestColumns) -> Iterator[Finding]:
        next_row_id = self.context.metadata.next_row_id
        ids = columns.first_row_id
        if next_row_id is not None and ids.valid.any():
            ends = ids.values + columns.record_count
            for row, path in self._places(columns, ids.valid & columns.live & (ends > next_row_id)):
                yield finding(
                    "TMD024",
                    "a file has row ids that the table has not assigned",
                    file=self.task.location,
                    path=f"{path}/data_file/first_row_id",
                    found=int(ids.values[row]),
                    expected=f"row ids below {next_row_id}",
                    aspect="exceeded-by-file",
                )
        yield from self._check_assigned_row_ids(columns)

    def _check_assigned_row_ids(self, columns: ManifestColumns) -> Iterator[Finding]:
        """Find files whose inherited row ids exceed those that their snapshot assigns (SNP011)."""
        adder = self.context.snapshots.get(self._list_entry.added_snapshot_id)
        if adder is None or adder.first_row_id is None or adder.added_rows is None:
            return
        ids, end = columns.first_row_id, adder.first_row_id + adder.added_rows
        inherited = ids.valid & columns.live & ~columns.written_values("first_row_id").valid
        own = self._list_entry.first_row_id
        if own is None or own < adder.first_row_id:
            return  # reported for the list, as LIN028
        for row, path in self._places(columns, inherited & (ids.values + columns.record_count > end)):
            yield finding(
                "SNP011",
                "the row ids of a file exceed those of its snapshot",
                file=self.task.location,
                path=f"{path}/data_file/first_row_id",
                found=int(ids.values[row]),
                expected=f"row ids below {end}",
                aspect="exceeded-by-file",
            )

    def _specs(self, columns: ManifestColumns) -> Iterator[Finding]:
        """Find ids of sort orders, and of columns that equality deletes compare, that the table does not have."""
        orders = columns.sort_order_id
        known = [order.order_id for order in self.context.metadata.sort_orders]
        unknown = orders.valid & columns.live & ~np.isin(orders.values, [0, *known])
        for row, path in self._places(columns, unknown):
            yield finding(
                "SRT004",
                "the sort order of a file is not declared by the table",
                file=self.task.location,
                path=f"{path}/data_file/sort_order_id",
                found=int(orders.values[row]),
                expected=f"the id of a declared sort order: {', '.join(map(str, known))}",
                aspect="unknown-order",
            )
        if self.manifest.content is not ManifestContent.DELETES:
            return
        for files, values in columns.items("equality_ids"):
            for row, field_id in zip(files.tolist(), values.to_list(), strict=True):
                if field_id not in self.context.columns:
                    yield finding(
                        "DFL020",
                        "the field that deletes compare is not in any schema of the table",
                        file=self.task.location,
                        path=f"/{columns.first + row}/data_file/equality_ids",
                        found=field_id,
                        expected="the id of a column",
                        aspect="unknown-field",
                    )
                    continue
                path = f"/{columns.first + row}/data_file/equality_ids"
                try:
                    column = delete_column(field_id, self.context.metadata.schemas)
                except SpecError as error:
                    yield from_violation(error.violation, file=self.task.location, under=path)
                else:
                    problem = float_problem(column)
                    yield from (
                        () if problem is None else (from_violation(problem, file=self.task.location, under=path),)
                    )
        if not POSITION_DELETE_FILES.may_be_added(self.context.metadata.format_version):
            yield from self._new_position_deletes(columns)

    def _new_position_deletes(self, columns: ManifestColumns) -> Iterator[Finding]:
        """Find position delete files that a snapshot added when the table was already v3 (DEL002)."""
        deletes = (columns.content == FileContent.POSITION_DELETES) & columns.live
        formats = columns.formats if deletes.any() else []
        files = deletes & np.array([str(name).lower() != "puffin" for name in formats] or [False], np.bool_)
        added = files & (columns.status == EntryStatus.ADDED)
        for row, path in self._places(columns, added):
            owner = self.context.snapshots.get(int(columns.snapshot_id.values[row]))
            if owner is not None and owner.first_row_id is not None:
                yield finding(
                    "DEL002",
                    "a position delete file was added to a v3 table",
                    file=self.task.location,
                    path=f"{path}/data_file/file_format",
                    expected="a deletion vector",
                )

    @property
    def _list_entry(self) -> ManifestFile:
        assert self.manifest.manifest_file is not None
        return self.manifest.manifest_file

    def findings(self) -> Iterator[Finding]:
        """Yield a finding for each difference between the list and the manifest, with its place in the list."""
        listed = self.task.manifest_file
        if listed is None:
            return
        file, _, place = self.task.place.rpartition(":/")
        right = manifest_file_findings(listed, self.manifest, self.length, self.corrected) if self.causes else ()
        left = {one.path for one in right}
        compared = {f"/{name}" for name in (*COMPARED_COUNTS, "min_sequence_number")}
        for one in manifest_file_findings(listed, self.manifest, self.length, self.totals):
            problem = attrs.evolve(one.violation, file=file, path=f"/{place}{one.path}")
            causes = self.causes if one.path in compared - left else ()
            yield evolve(one, violation=problem, follows=tuple(sorted(causes)))


def _add(values: PartitionValues, columns: ManifestColumns) -> None:
    """Add the values of the live files."""
    live = columns.live
    try:
        if kind(values.type) in INTEGERS:
            numbers = columns.partition_numbers(values.field_id)
            values.value |= bool(numbers.valid.any())
            present = live & numbers.valid
            values.null |= bool((live & ~numbers.valid).any())
            if present.any():
                values.add(int(numbers.values[present].min()))
                values.add(int(numbers.values[present].max()))
            return
        of_files = columns.partition(values.field_id)
        values.value = values.value or any(map(is_value, of_files))
        for value in {value for value, alive in zip(of_files, live.tolist(), strict=True) if alive}:
            values.add(value)
    except SpecError:  # the tuples do not have the field, which the check of the Avro schema reports
        values.null = values.value = True

"""Whether a manifest is what the manifest list and the snapshots say of it (Manifest Lists; Sequence Numbers).

The counts, the least sequence number and the partition summaries of the list are computed anew, over the columns of a
manifest, a batch at a time.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from conformance.validate.context import Context, ManifestTask
from conformance.validate.finding import finding
from spec_ref.errors import SpecError, shown
from spec_ref.findings import Finding, Severity
from spec_ref.formats.metrics import order_of
from spec_ref.manifests.columns import ManifestColumns
from spec_ref.manifests.data_file import FileContent
from spec_ref.manifests.entry import EntryStatus
from spec_ref.manifests.manifest import Manifest
from spec_ref.manifests.rules_columnar import signed_order
from spec_ref.schemas.types import NestedField, Type, kind
from spec_ref.single_value.bounds import decode_bound
from spec_ref.snapshots.manifest_list import FieldSummary, ManifestContent, ManifestFile
from spec_ref.versions import V1, V3

_COUNTED = (
    ("added", EntryStatus.ADDED, "MLS010", "MLS013"),
    ("existing", EntryStatus.EXISTING, "MLS011", "MLS014"),
    ("deleted", EntryStatus.DELETED, "MLS012", "MLS015"),
)

INTEGERS = frozenset({"int", "long", "date", "timestamp", "timestamptz", "timestamp_ns", "timestamptz_ns", "time"})


class Listing:
    """What the list says of a manifest, and what its entries show."""

    def __init__(self, context: Context, manifest: Manifest, length: int, task: ManifestTask) -> None:
        self.context = context
        self.manifest = manifest
        self.length = length
        self.task = task
        self.files = dict.fromkeys(EntryStatus, 0)
        self.rows = dict.fromkeys(EntryStatus, 0)
        self.least: int | None = None
        struct = context.partition_type(manifest.spec) if manifest.spec is not None else None
        self.fields = [] if struct is None else [_Field(field) for field in struct.fields]

    def add(self, columns: ManifestColumns) -> Iterator[Finding]:
        """Look at a batch; what is wrong with single entries is told at once."""
        for status in EntryStatus:
            rows = columns.status == status
            self.files[status] += int(rows.sum())
            self.rows[status] += sum(columns.record_count[rows].tolist())
        sequence = columns.sequence_number
        known = columns.live & sequence.valid
        if known.any():
            least = int(sequence.values[known].min())
            self.least = least if self.least is None else min(self.least, least)
        for field in self.fields:
            field.add(columns)
        yield from self._snapshots(columns)
        yield from self._row_ids(columns)
        yield from self._specs(columns)

    def _places(self, columns: ManifestColumns, wrong: npt.NDArray[np.bool_]) -> Iterator[tuple[int, str]]:
        for row in np.nonzero(wrong)[0].tolist():
            yield row, f"/{columns.first + row}"

    def _snapshots(self, columns: ManifestColumns) -> Iterator[Finding]:
        listed, file = self._listed, self.task.location
        snapshot, added = columns.snapshot_id, columns.status == EntryStatus.ADDED
        if self.task.manifest_file is not None:
            for row, path in self._places(columns, added & (snapshot.values != listed.added_snapshot_id)):
                yield finding(
                    "MAN016", "an added file is of another snapshot than the manifest", file=file,
                    path=f"{path}/snapshot_id", found=int(snapshot.values[row]), expected=str(listed.added_snapshot_id),
                )  # fmt: skip
        if self.manifest.format_version is V1:
            return
        numbers = columns.file_sequence_number
        for snapshot_id in np.unique(snapshot.values[added & snapshot.valid]).tolist():
            owner = self.context.snapshots.get(snapshot_id)
            if owner is None:
                continue
            mine = added & (snapshot.values == snapshot_id) & numbers.valid
            for row, path in self._places(columns, mine & (numbers.values != owner.sequence_number)):
                yield finding(
                    "MAN014", "the file sequence number is not that of the snapshot that added the file", file=file,
                    path=f"{path}/file_sequence_number", found=int(numbers.values[row]),
                    expected=str(owner.sequence_number),
                )  # fmt: skip
        data = columns.sequence_number
        newer = data.valid & numbers.valid & (data.values > numbers.values)
        for row, path in self._places(columns, newer):
            yield finding(
                "SEQ007", "the data of a file is newer than the file", file=file, path=f"{path}/sequence_number",
                found=int(data.values[row]), expected=f"at most {int(numbers.values[row])}",
            )  # fmt: skip
        last = self.context.metadata.last_sequence_number
        for row, path in self._places(columns, numbers.valid & (numbers.values > last)):
            yield finding(
                "TMD004", "a file is newer than the last sequence number of the table", file=file,
                path=f"{path}/file_sequence_number", found=int(numbers.values[row]), expected=f"at most {last}",
            )  # fmt: skip

    def _row_ids(self, columns: ManifestColumns) -> Iterator[Finding]:
        next_row_id = self.context.metadata.next_row_id
        ids = columns.first_row_id
        if next_row_id is not None and ids.valid.any():
            ends = ids.values + columns.record_count
            for row, path in self._places(columns, ids.valid & columns.live & (ends > next_row_id)):
                yield finding(
                    "TMD024", "a file has row ids that the table has not given", file=self.task.location,
                    path=f"{path}/data_file/first_row_id", found=int(ids.values[row]),
                    expected=f"row ids below {next_row_id}",
                )  # fmt: skip

    def _specs(self, columns: ManifestColumns) -> Iterator[Finding]:
        """Ids that the table does not know: of sort orders, and of the fields that equality deletes compare."""
        orders = columns.sort_order_id
        known = [order.order_id for order in self.context.metadata.sort_orders]
        unknown = orders.valid & columns.live & ~np.isin(orders.values, [0, *known])
        for row, path in self._places(columns, unknown):
            yield finding(
                "SRT004", "the table does not declare the sort order of a file", file=self.task.location,
                path=f"{path}/data_file/sort_order_id", found=int(orders.values[row]),
                expected=", ".join(map(str, known)),
            )  # fmt: skip
        if self.manifest.content is not ManifestContent.DELETES:
            return
        for files, values in columns.items("equality_ids"):
            for row, field_id in zip(files.tolist(), values.to_list(), strict=True):
                if field_id not in self.context.columns:
                    yield finding(
                        "DFL020", "no schema of the table has the field that deletes compare",
                        file=self.task.location, path=f"/{columns.first + row}/data_file/equality_ids", found=field_id,
                        expected="the id of a column",
                    )  # fmt: skip
        if self.context.metadata.format_version >= V3:
            yield from self._new_position_deletes(columns)

    def _new_position_deletes(self, columns: ManifestColumns) -> Iterator[Finding]:
        """Position delete files that a snapshot added when the table was v3 already (DEL002)."""
        deletes = (columns.content == FileContent.POSITION_DELETES) & columns.live
        formats = columns.texts("file_format") if deletes.any() else []
        files = deletes & np.array([str(name).lower() != "puffin" for name in formats] or [False], np.bool_)
        added = files & (columns.status == EntryStatus.ADDED)
        for row, path in self._places(columns, added):
            owner = self.context.snapshots.get(int(columns.snapshot_id.values[row]))
            if owner is not None and owner.first_row_id is not None:
                yield finding(
                    "DEL002", "a position delete file was added to a table of v3", file=self.task.location,
                    path=f"{path}/data_file/file_format", expected="a deletion vector",
                )  # fmt: skip

    @property
    def _listed(self) -> ManifestFile:
        assert self.manifest.manifest_file is not None
        return self.manifest.manifest_file

    def findings(self) -> Iterator[Finding]:
        """Where the list tells something else; the places are those of the manifest list."""
        listed = self.task.manifest_file
        if listed is None:
            return
        header, file = self.manifest.header, self.task.place.rpartition(":/")[0]
        path = "/" + self.task.place.rpartition(":/")[2]

        def wrong(code: str, message: str, field: str, found: object, expected: object) -> Finding:
            told = f"{path}/{field}"
            return finding(code, message, file=file, path=told, found=found, expected=str(expected))

        if listed.manifest_length != self.length:
            yield wrong("MLS004", "the length is another", "manifest_length", listed.manifest_length, self.length)
        if header.spec_id is not None and header.spec_id != listed.partition_spec_id:
            found = listed.partition_spec_id
            yield wrong("MAN003", "the header has another partition spec", "partition_spec_id", found, header.spec_id)
        if header.content is not None and header.content is not listed.content:
            found_content = listed.content.name
            yield wrong("MAN010", "the header has another content", "content", found_content, header.content.name)
        for name, status, of_files, of_rows in _COUNTED:
            pairs = ((f"{name}_files_count", of_files, self.files), (f"{name}_rows_count", of_rows, self.rows))
            for attribute, code, counted in pairs:
                told = getattr(listed, attribute)
                if told is not None and told != counted[status]:
                    yield wrong(code, f"the {attribute} is another", attribute, told, counted[status])
        is_v1 = self.manifest.format_version is V1
        if self.least is not None and not is_v1 and listed.min_sequence_number > self.least:
            found, name = listed.min_sequence_number, "min_sequence_number"
            yield wrong("MLS008", "a live file has a lower sequence number", name, found, self.least)
        if listed.partitions is None or not self.fields or len(listed.partitions) != len(self.fields):
            return  # the number of summaries is for the check of the list
        for place, (summary, field) in enumerate(zip(listed.partitions, self.fields, strict=True)):
            yield from field.findings(summary, file, f"{path}/partitions/{place}")


class _Field:
    """The values of one partition field in the live files of a manifest."""

    def __init__(self, field: NestedField) -> None:
        self.id = field.id
        self.type: Type = field.type
        self.nulls = self.nans = False
        self.least: Any = None
        self.greatest: Any = None

    def add(self, columns: ManifestColumns) -> None:
        live = columns.live
        if not live.any():
            return
        try:
            if kind(self.type) in INTEGERS:
                self._add_integers(columns, live)
            else:
                self._add_values(columns, live)
        except SpecError:  # the tuples do not have the field: the check of the Avro schema tells
            self.nulls = True

    def _add_integers(self, columns: ManifestColumns, live: npt.NDArray[np.bool_]) -> None:
        numbers = columns.partition_numbers(self.id)
        present = live & numbers.valid
        self.nulls |= bool((live & ~numbers.valid).any())
        if present.any():
            self._extend(int(numbers.values[present].min()))
            self._extend(int(numbers.values[present].max()))

    def _add_values(self, columns: ManifestColumns, live: npt.NDArray[np.bool_]) -> None:
        values = columns.partition(self.id)
        for value in {value for value, alive in zip(values, live.tolist(), strict=True) if alive}:
            if value is None:
                self.nulls = True
            elif value != value:
                self.nans = True
            else:
                self._extend(value)

    def _extend(self, value: Any) -> None:
        key = order_of(self.type)
        self.least = value if self.least is None else min(self.least, value, key=key)
        self.greatest = value if self.greatest is None else max(self.greatest, value, key=key)

    def findings(self, summary: FieldSummary, file: str, path: str) -> Iterator[Finding]:
        """Where the summary leaves out a live value, so that scans would not find its file."""
        if self.nulls and not summary.contains_null:
            yield finding("MLS019", "a file has null", file=file, path=f"{path}/contains_null", found=False)
        if self.nans and summary.contains_nan is False:
            yield finding("MLS020", "a file has NaN", file=file, path=f"{path}/contains_nan", found=False)
        if kind(self.type) == "unknown" or self.least is None:
            return
        ends: tuple[tuple[str, str, Any, Callable[[Any, Any], bool]], ...] = (
            ("lower_bound", "MLS021", self.least, operator.gt),
            ("upper_bound", "MLS022", self.greatest, operator.lt),
        )
        for attribute, code, extreme, beyond in ends:
            data = getattr(summary, attribute)
            where = f"{path}/{attribute}"
            if data is None:
                told = "there are values and no bound"
                yield finding(code, told, file=file, path=where, found=None, expected=shown(extreme))
                continue
            try:
                bound = decode_bound(self.type, data)
            except SpecError as error:
                yield finding(code, error.violation.message, file=file, path=where, found=data)
                continue
            if _is_beyond(beyond, bound, extreme):
                told = "a value is beyond the bound"
                tolerated = all(signed_order(self.type, bound, value, is_lower=beyond is operator.gt)
                                for value in (self.least, self.greatest))  # fmt: skip
                yield finding(
                    code, told, file=file, path=where, found=bound, expected=shown(extreme),
                    severity=Severity.TOLERATED if tolerated else Severity.ERROR,
                )  # fmt: skip
            elif bound == 0 == extreme and beyond(order_of(self.type)(bound), order_of(self.type)(extreme)):
                yield finding("MLS023", "a zero is beyond the bound", file=file, path=where, found=bound)


def _is_beyond(beyond: Callable[[Any, Any], bool], bound: Any, extreme: Any) -> bool:
    if isinstance(bound, float) and bound != bound:
        return False
    try:
        return beyond(bound, extreme)
    except TypeError:
        return True

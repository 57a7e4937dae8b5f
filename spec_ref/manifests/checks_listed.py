"""What a manifest list says of a manifest, compared with what the manifest holds (Manifest Lists)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import attrs

from spec_ref.errors import SpecError, Violation, shown
from spec_ref.findings import Finding, Severity
from spec_ref.manifests.entry import EntryStatus, ManifestEntry
from spec_ref.manifests.manifest import Manifest
from spec_ref.schemas.types import StructType, Type
from spec_ref.single_value.bounds import decode_bound
from spec_ref.snapshots.manifest_list import FieldSummary, ManifestFile
from spec_ref.versions import V1, FormatVersion

_COMPARED = (
    ("added_files_count", "MLS010", EntryStatus.ADDED), ("existing_files_count", "MLS011", EntryStatus.EXISTING),
    ("deleted_files_count", "MLS012", EntryStatus.DELETED), ("added_rows_count", "MLS013", EntryStatus.ADDED),
    ("existing_rows_count", "MLS014", EntryStatus.EXISTING), ("deleted_rows_count", "MLS015", EntryStatus.DELETED),
)  # fmt: skip


def broken_at(
    requirement: str,
    message: str,
    path: str,
    found: str | None = None,
    expected: str | None = None,
    format_version: FormatVersion | None = None,
) -> Violation:
    """A rule that is broken at a place."""
    return Violation(
        requirement=requirement, message=message, path=path, found=found, expected=expected,
        format_version=format_version,
    )  # fmt: skip


def error_at(requirement: str, message: str, path: str, found: Any = None, expected: str | None = None) -> Finding:
    """An error at a place."""
    told = None if found is None else shown(found)
    return Finding(broken_at(requirement, message, path, told, expected), Severity.ERROR)


@attrs.define
class _Values:
    """The values of a partition field in live files."""

    null: bool = False
    nan: bool = False
    least: Any = None
    greatest: Any = None

    def add(self, value: Any) -> None:
        if value is None:
            self.null = True
        elif value != value:
            self.nan = True
        else:
            if self.least is None or value < self.least:
                self.least = value
            if self.greatest is None or value > self.greatest:
                self.greatest = value


class Totals:
    """The sums over the entries of a manifest, which its entry in the list is compared with."""

    def __init__(self, listed: ManifestFile, partition: StructType | None) -> None:
        self._listed = listed
        self._files = dict.fromkeys(EntryStatus, 0)
        self._rows = dict.fromkeys(EntryStatus, 0)
        self._least: int | None = None
        self._other: int | None = None
        self._partition = partition if listed.partitions is not None else None
        self._values = {field.id: _Values() for field in self._partition.fields} if self._partition else {}

    def add(self, entry: ManifestEntry) -> None:
        """Count an entry, with what it inherits."""
        self._files[entry.status] += 1
        self._rows[entry.status] += entry.data_file.record_count
        if entry.status is EntryStatus.ADDED and entry.snapshot_id != self._listed.added_snapshot_id:
            self._other = entry.snapshot_id
        if not entry.live:
            return
        number = self._listed.sequence_number if entry.sequence_number is None else entry.sequence_number
        self._least = number if self._least is None else min(self._least, number)
        for field_id, values in self._values.items():
            values.add(entry.data_file.partition.get(field_id))

    def findings(self, manifest: Manifest, length: int) -> Iterator[Finding]:
        """Where the manifest list tells something else of the manifest than it holds."""
        listed, header = self._listed, manifest.header
        if listed.manifest_length != length:
            yield error_at("MLS004", "the length is another", "/manifest_length", listed.manifest_length, str(length))
        if header.spec_id is not None and header.spec_id != listed.partition_spec_id:
            found = listed.partition_spec_id
            yield error_at(
                "MAN003", "the header has another partition spec", "/partition_spec_id", found, f"{header.spec_id}"
            )
        if header.content is not None and header.content is not listed.content:
            expected = header.content.name
            yield error_at("MAN010", "the header has another content", "/content", listed.content.name, expected)
        for attribute, requirement, status in _COMPARED:
            told = getattr(listed, attribute)
            counted = (self._rows if "rows" in attribute else self._files)[status]
            if told is not None and told != counted:
                yield error_at(requirement, f"the {attribute} is another", f"/{attribute}", told, str(counted))
        least = self._least
        if least is not None and manifest.format_version is not V1 and listed.min_sequence_number > least:
            found = listed.min_sequence_number
            yield error_at(
                "MLS008", "a live file has a lower sequence number", "/min_sequence_number", found, f"{least}"
            )
        if self._other is not None:
            yield error_at("MAN016", "an added file is of another snapshot", "/added_snapshot_id", self._other)
        if listed.partitions is not None and self._partition is not None:
            yield from self._summaries(listed.partitions, self._partition)

    def _summaries(self, summaries: tuple[FieldSummary, ...], partition: StructType) -> Iterator[Finding]:
        """Summaries that leave out a value of a live file: readers would not find it (MLS016, MLS019 to MLS022)."""
        if len(summaries) != len(partition.fields):
            found, expected = len(summaries), str(len(partition.fields))
            yield error_at("MLS016", "there is not a summary for each partition field", "/partitions", found, expected)
            return
        for place, (summary, field) in enumerate(zip(summaries, partition.fields, strict=True)):
            path = f"/partitions/{place}"
            values = self._values[field.id]
            if values.null and not summary.contains_null:
                yield error_at("MLS019", "there is a null", f"{path}/contains_null", summary.contains_null, "true")
            if values.nan and summary.contains_nan is False:
                yield error_at("MLS020", "there is a NaN", f"{path}/contains_nan", summary.contains_nan, "true")
            if str(field.type) != "unknown" and values.least is not None:
                yield from _bound(summary.lower_bound, field.type, values.least, "MLS021", f"{path}/lower_bound")
                yield from _bound(summary.upper_bound, field.type, values.greatest, "MLS022", f"{path}/upper_bound")


def _bound(data: bytes | None, type_: Type, extreme: Any, requirement: str, path: str) -> Iterator[Finding]:
    if data is None:
        yield error_at(requirement, "there are values and no bound", path, expected=shown(extreme))
        return
    try:
        bound = decode_bound(type_, data)
    except SpecError as error:
        yield Finding(attrs.evolve(error.violation, requirement=requirement, path=path), Severity.ERROR)
        return
    if type(bound) is not type(extreme):  # values of another type than the spec's, which is told with the Avro schema
        return
    if bound > extreme if requirement == "MLS021" else bound < extreme:
        yield error_at(requirement, "a value is beyond the bound", path, bound, shown(extreme))

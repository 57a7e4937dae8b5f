"""Compare the entry of a manifest in a manifest list with the manifest (Manifest Lists)."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import attrs

from spec_ref.checks import to_finding
from spec_ref.checks.findings import Finding
from spec_ref.core.errors import SpecError, Violation, abbreviated_repr, numeric_difference
from spec_ref.core.versions import SEQUENCE_NUMBERS, FormatVersion
from spec_ref.data_types.types import StructType, Type, kind
from spec_ref.manifest_lists.manifest_file import FieldSummary, ManifestFile
from spec_ref.manifests.computed_metrics import bound_order
from spec_ref.manifests.entry import EntryStatus, ManifestEntry
from spec_ref.manifests.entry_problems import is_minimal, not_minimal_violation, signed_order
from spec_ref.manifests.manifest import Manifest
from spec_ref.single_value.bounds import decode_bound

_COMPARED = (
    ("added_files_count", "MLS010", EntryStatus.ADDED),
    ("existing_files_count", "MLS011", EntryStatus.EXISTING),
    ("deleted_files_count", "MLS012", EntryStatus.DELETED),
    ("added_rows_count", "MLS013", EntryStatus.ADDED),
    ("existing_rows_count", "MLS014", EntryStatus.EXISTING),
    ("deleted_rows_count", "MLS015", EntryStatus.DELETED),
)
COMPARED_COUNTS = tuple(name for name, _, _ in _COMPARED)
"""The counts of a manifest that its entry in the list repeats."""


def violation_at(
    requirement: str,
    message: str,
    path: str,
    found: str | None = None,
    expected: str | None = None,
    format_version: FormatVersion | None = None,
    *,
    aspect: str = "",
    difference: int | None = None,
) -> Violation:
    """Make a violation at a place.

    Args:
        requirement: the code in the register.
        message: what is wrong, in words.
        path: the place.
        found: the value that was found, as text.
        expected: what the spec requires.
        format_version: the version that has the rule, if it depends on it.
        aspect: the part of the requirement that is broken.
        difference: the expected number minus the found one, if both are whole numbers.

    Returns:
        The violation.
    """
    return Violation(
        requirement=requirement,
        message=message,
        aspect=aspect,
        path=path,
        found=found,
        expected=expected,
        difference=difference,
        format_version=format_version,
    )


def finding_at(
    requirement: str, message: str, path: str, found: Any = None, expected: str | int | None = None, *, aspect: str = ""
) -> Finding:
    """Make a finding at a place, with the severity of its check.

    Args:
        requirement: the code in the register.
        message: what is wrong, in words.
        path: the place.
        found: the value that was found; it is abbreviated.
        expected: what the spec requires: in words, or the right number.
        aspect: the part of the requirement that is broken.

    Returns:
        The finding.
    """
    abbreviated = None if found is None else abbreviated_repr(found)
    right = None if expected is None else str(expected)
    difference = numeric_difference(found, expected)
    return to_finding(
        violation_at(requirement, message, path, abbreviated, right, aspect=aspect, difference=difference)
    )


@attrs.define
class PartitionValues:
    """The values of a partition field in live files."""

    field_id: int
    type: Type
    null: bool = False
    nan: bool = False
    least: Any = None
    greatest: Any = None
    value: bool = False
    """Whether any entry has a value, including those of deleted files: writers sum up all entries."""

    def add(self, value: Any) -> None:
        """Add the value of a live file.

        Args:
            value: the partition value, or None.
        """
        if value is None:
            self.null = True
        elif value != value:
            self.nan = True
        else:
            key = bound_order(self.type)
            self.least = value if self.least is None else min(self.least, value, key=key)
            self.greatest = value if self.greatest is None else max(self.greatest, value, key=key)


def is_value(value: Any) -> bool:
    """Decide whether a partition value is neither null nor NaN, so that bounds include it.

    Args:
        value: the partition value, or None.

    Returns:
        Whether it is.
    """
    return value is not None and value == value


@attrs.define
class ManifestTotals:
    """The sums over the entries of a manifest, to compare with its entry in the list."""

    partition: tuple[PartitionValues, ...] | None
    """The values of each field of the partition tuple; None if the fields are not known."""

    files: dict[EntryStatus, int] = attrs.field(factory=lambda: dict.fromkeys(EntryStatus, 0))
    rows: dict[EntryStatus, int | None] = attrs.field(factory=lambda: dict.fromkeys(EntryStatus, 0))
    """The number of rows; None if a count is negative, which is reported for its entry."""

    least: int | None = None
    """The least data sequence number of a live file."""

    @staticmethod
    def for_partition(partition: StructType | None) -> ManifestTotals:
        """Make the totals of a manifest without entries.

        Args:
            partition: the type of the partition tuples; None if it is not known.

        Returns:
            The totals.
        """
        values = None if partition is None else tuple(PartitionValues(one.id, one.type) for one in partition.fields)
        return ManifestTotals(values)

    def add(self, entry: ManifestEntry, inherited_number: int) -> None:
        """Count an entry.

        Args:
            entry: the entry, as written.
            inherited_number: the sequence number that it inherits if it has none.
        """
        self.files[entry.status] += 1
        self.add_rows(entry.status, [entry.data_file.record_count])
        for values in self.partition or ():
            values.value |= is_value(entry.data_file.partition.get(values.field_id))
        if not entry.live:
            return
        self.add_sequence_number(inherited_number if entry.sequence_number is None else entry.sequence_number)
        for values in self.partition or ():
            values.add(entry.data_file.partition.get(values.field_id))

    def add_rows(self, status: EntryStatus, counts: Sequence[int]) -> None:
        """Count the rows of files.

        Args:
            status: the status of their entries.
            counts: the record counts of the files.
        """
        so_far = self.rows[status]
        self.rows[status] = None if so_far is None or min(counts, default=0) < 0 else so_far + sum(counts)

    def add_sequence_number(self, sequence_number: int) -> None:
        """Lower the least data sequence number to that of a live file, if it is less.

        Args:
            sequence_number: the data sequence number.
        """
        self.least = sequence_number if self.least is None else min(self.least, sequence_number)


def manifest_file_findings(
    manifest_file: ManifestFile, manifest: Manifest, length: int, totals: ManifestTotals
) -> Iterator[Finding]:
    """Find where the entry in the manifest list differs from the manifest.

    Args:
        manifest_file: the entry of the list.
        manifest: the manifest.
        length: the length of the manifest in bytes.
        totals: the sums over its entries.

    Yields:
        Each finding; paths begin in the list's entry.
    """
    header = manifest.header
    if manifest_file.manifest_length != length:
        yield finding_at(
            "MLS004",
            "manifest_length differs from the file's size",
            "/manifest_length",
            manifest_file.manifest_length,
            str(length),
            aspect="mismatch",
        )
    if header.spec_id is not None and header.spec_id != manifest_file.partition_spec_id:
        found = manifest_file.partition_spec_id
        yield finding_at(
            "MAN003",
            "partition_spec_id differs from the manifest's header",
            "/partition_spec_id",
            found,
            f"{header.spec_id}",
        )
    if header.content is not None and header.content is not manifest_file.content:
        yield finding_at(
            "MAN010",
            "content differs from the manifest's header",
            "/content",
            manifest_file.content,
            abbreviated_repr(header.content),
            aspect="mismatch",
        )
    for attribute, requirement, status in _COMPARED:
        stated = getattr(manifest_file, attribute)
        counted = totals.rows[status] if "rows" in attribute else totals.files[status]
        if stated is not None and counted is not None and stated != counted:
            yield finding_at(
                requirement,
                f"{attribute} differs from the manifest's entries",
                f"/{attribute}",
                stated,
                counted,
                aspect="mismatch",
            )
    least = totals.least if SEQUENCE_NUMBERS.is_supported(manifest.format_version) else None
    if least is not None and manifest_file.min_sequence_number > least:
        found = manifest_file.min_sequence_number
        yield finding_at(
            "MLS008",
            "min_sequence_number is greater than that of a live file",
            "/min_sequence_number",
            found,
            f"{least}",
            aspect="mismatch",
        )
    if least is not None and manifest_file.min_sequence_number < least:
        found = manifest_file.min_sequence_number
        message = "min_sequence_number is lower than that of every live file"
        yield finding_at("MLS008", message, "/min_sequence_number", found, f"{least}", aspect="below-least")
    if (
        manifest_file.partitions is None
        or totals.partition is None
        or len(manifest_file.partitions) != len(totals.partition)
    ):
        return  # the check of the manifest list reports a wrong number of summaries
    for place, (summary, values) in enumerate(zip(manifest_file.partitions, totals.partition, strict=True)):
        yield from _summary(summary, values, f"/partitions/{place}")


def _summary(summary: FieldSummary, values: PartitionValues, path: str) -> Iterator[Finding]:
    """Find a summary that excludes a value of a live file: readers would not find the file (MLS019 to MLS026)."""
    if values.null and not summary.contains_null:
        yield finding_at(
            "MLS019",
            "contains_null is false, but a file has null",
            f"{path}/contains_null",
            summary.contains_null,
            "true",
            aspect="mismatch",
        )
    if values.nan and summary.contains_nan is False:
        yield finding_at(
            "MLS020",
            "contains_nan is false, but a file has NaN",
            f"{path}/contains_nan",
            summary.contains_nan,
            "true",
            aspect="mismatch",
        )
    if not values.value:
        for attribute, code in (("lower_bound", "MLS025"), ("upper_bound", "MLS026")):
            data = getattr(summary, attribute)
            if data is not None:
                message = "the bound is set, but no file has a value"
                yield finding_at(code, message, f"{path}/{attribute}", data, "null", aspect="of-no-value")
    if kind(values.type) == "unknown" or values.least is None:
        return
    ends: tuple[tuple[str, str, Any, Callable[[Any, Any], bool]], ...] = (
        ("lower_bound", "MLS021", values.least, operator.gt),
        ("upper_bound", "MLS022", values.greatest, operator.lt),
    )
    for attribute, code, extreme, beyond in ends:
        data, where = getattr(summary, attribute), f"{path}/{attribute}"
        if data is None:
            yield finding_at(
                code,
                "the bound is missing, but files have values",
                where,
                expected=abbreviated_repr(extreme),
                aspect="missing",
            )
            continue
        try:
            bound = decode_bound(values.type, data)
        except SpecError as error:
            yield finding_at(code, error.violation.message, where, data, aspect="undecodable")
            continue
        if not is_minimal(values.type, data):
            yield to_finding(not_minimal_violation(data, where))
        if _is_beyond(beyond, bound, extreme):
            both = (values.least, values.greatest)
            is_lower = beyond is operator.gt
            tolerated = all(signed_order(values.type, bound, value, is_lower=is_lower) for value in both)
            aspect = "mismatch-of-signed-uuids" if tolerated else "mismatch"
            yield finding_at(
                code, "a value is beyond the bound", where, bound, abbreviated_repr(extreme), aspect=aspect
            )
        elif bound == 0 == extreme and beyond(bound_order(values.type)(bound), bound_order(values.type)(extreme)):
            yield finding_at("MLS023", "the bound is a zero with the wrong sign", where, bound)


def _is_beyond(beyond: Callable[[Any, Any], bool], bound: Any, extreme: Any) -> bool:
    if isinstance(bound, float) and bound != bound:
        return False
    if type(bound) is not type(
        extreme
    ):  # the values are not of the spec's type, which the check of the Avro schema reports
        return False
    return bool(beyond(bound, extreme))

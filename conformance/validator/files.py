"""Checking the files of a manifest: existence, size, schema and footer (Data File Fields; Delete Formats)."""

from __future__ import annotations

import contextlib
import itertools
import operator
from collections.abc import Iterable, Iterator

import attrs
import numpy as np

from conformance.table_io.encryption import UnsupportedEncryption
from conformance.table_io.file_access import FileAccessError
from conformance.validator.check_results import Emitted, Facts, Findings, Miscount, Sums, TableTraits
from conformance.validator.context import Context, FilesTask, Level, TaskGroup
from conformance.validator.data_file_reader import OpenedFile, open_file
from conformance.validator.deleted_positions import target_facts
from conformance.validator.entry_causes import PUFFIN_OF_ROWS
from conformance.validator.file_columns import column_findings
from conformance.validator.file_places import (
    EntryPlace,
    damaged_file_findings,
    encrypted_file_finding,
    unread_file_finding,
    wrong_size_finding,
)
from conformance.validator.finding import finding, from_violations
from conformance.validator.fingerprints import find_footer_writer
from conformance.validator.manifests import open_manifest, probable_writer, read_manifests_ahead
from conformance.validator.process_isolation import ENDED
from conformance.validator.read_ahead import ReadAhead
from conformance.validator.rows import row_findings
from conformance.validator.stall_timeout import Stalled, each_with_stall_timeout
from conformance.validator.tolerated import tolerate
from conformance.validator.vector_files import open_puffin, puffin_writer, vector_facts, vector_findings
from spec_ref.checks.findings import Finding, Tally
from spec_ref.columnar.manifests.entry_columns import column_batches
from spec_ref.core.errors import SpecError, abbreviated_repr
from spec_ref.core.records import evolve
from spec_ref.data_files.orc_reader import BEYOND_NANOSECONDS
from spec_ref.encodings.puffin.file import read_puffin
from spec_ref.manifests.data_file import FileContent, FileFormat
from spec_ref.manifests.entry import EntryStatus, ManifestEntry
from spec_ref.manifests.manifest import Manifest


def check_files_task(context: Context, task: FilesTask) -> Iterator[Emitted]:
    """Check the files of the live entries in a part of a manifest."""
    return check_files_group(context, TaskGroup((task,)))


def check_files_group(context: Context, group: TaskGroup) -> Iterator[Emitted]:
    """Check the files of the live entries in parts of manifests."""
    tally, features, writers = Tally(), set[str](), set[str]()
    with ReadAhead(context.connections) as ahead:
        read_manifests_ahead(context, [task.manifest for task in group.tasks], ahead)
        parts = []
        for manifest, tasks in itertools.groupby(group.tasks, operator.attrgetter("manifest")):
            opened = open_manifest(context, manifest, ahead)
            if isinstance(opened, Finding):
                continue  # reported by the check of the manifest
            writer = probable_writer(context, opened.manifest)
            for part in (_Part(task, opened.manifest, writer) for task in tasks):
                with _unreadable_entries_skipped():
                    yield from _positions_facts(context, part)
                    parts.append(part)
        for part, place, file in _checked_files(context, ahead.places_ahead(_places_of_files(parts)), ahead):
            features |= file.features
            if file.writer:
                writers.add(file.writer)
            tally.add(_attribute_to_writer(file.findings, part.task.manifest.location, part.writer, file.writer))
            yield from file.facts
            yield from _count_differences(place, file.findings)
    yield Findings(tally.findings())
    yield TableTraits(frozenset(features), frozenset(writers))


@attrs.frozen
class _Part:
    """A part of a manifest."""

    task: FilesTask
    manifest: Manifest
    writer: str | None
    """The probable writer of the manifest."""

    def places(self, *, deleted: bool = False) -> Iterator[EntryPlace]:
        """Yield the live entries, or with ``deleted`` all of them.

        Raises:
            SpecError: an entry cannot be read.
        """
        for entry, number in _entries(self.manifest, self.task, deleted=deleted):
            yield EntryPlace(entry, self.manifest.spec, self.task.manifest, number, self.manifest.spec_id)


def _places_of_files(parts: Iterable[_Part]) -> Iterator[tuple[_Part, EntryPlace]]:
    for part in parts:
        with _unreadable_entries_skipped():
            for place in part.places():
                yield part, place


def _unreadable_entries_skipped() -> contextlib.suppress:
    """Skip the entries of a manifest from one that cannot be read, which the check of the manifest reports."""
    return contextlib.suppress(SpecError)


def _count_differences(place: EntryPlace, found: Iterable[Finding]) -> Iterator[Miscount]:
    """Yield by how much an entry miscounts the rows and bytes of its file, so that summaries are not blamed for it."""
    entry, file = place.entry, place.entry.data_file
    sizes = ("whole_files_size",) if file.is_deletion_vector else ("files_size", "whole_files_size")
    counted = {
        "DFL005": ("record_count", (_COUNTED_AS[file.content],)),
        "DFL006": ("file_size_in_bytes", sizes),
        "DFL025": ("content_size_in_bytes", ("files_size",)),
    }
    for one in found:
        violation = one.violation
        name, parts = counted.get(violation.requirement, ("", ()))
        if name and violation.path == place.entry_field_path(name) and violation.difference is not None:
            difference = Sums(**dict.fromkeys(parts, violation.difference))
            yield Miscount(
                place.task.number, entry.snapshot_id if entry.status is EntryStatus.ADDED else None, difference
            )


_COUNTED_AS = {
    FileContent.DATA: "records",
    FileContent.POSITION_DELETES: "position_deletes",
    FileContent.EQUALITY_DELETES: "equality_deletes",
}
"""The name of each kind of row in the summary of a snapshot, by kind of file."""


def _attribute_to_writer(
    found: Iterable[Finding], manifest: str, listed_by: str | None, writer: str | None
) -> Iterator[Finding]:
    """Add the probable writer of the file to findings; the writer of the manifest to findings about the entry.

    A finding that a file cannot be opened or decoded has no writer, as the file may have been damaged later.
    """
    for one in found:
        by_manifest = writer is not None and one.violation.file == manifest
        yield evolve(one, writer=(listed_by if by_manifest else writer) or None)


@attrs.frozen
class _CheckedFile:
    """What was found of a file."""

    findings: list[Finding] = attrs.field(factory=list)
    writer: str | None = None
    """As `check_file` returns it."""

    features: set[str] = attrs.field(factory=set)
    facts: list[Facts] = attrs.field(factory=list)


def _checked_files(
    context: Context, places: Iterable[tuple[_Part, EntryPlace]], ahead: ReadAhead
) -> Iterator[tuple[_Part, EntryPlace, _CheckedFile]]:
    """Check files with a time limit; a file without progress has only the finding that says so."""

    def location(one: tuple[_Part, EntryPlace]) -> str:
        return one[1].data_file.file_path

    def work(one: tuple[_Part, EntryPlace]) -> _CheckedFile:
        features, facts = set[str](), list[Facts]()
        return _CheckedFile(*check_file(context, one[1], features, facts, ahead), features, facts)

    for (part, place), made in each_with_stall_timeout(context.file_seconds, places, location, work):
        if isinstance(made, Stalled):
            made = _CheckedFile([unread_file_finding(place, made)])
        yield part, place, made


def file_crash_finding(context: Context, task: FilesTask) -> Findings:
    """Return the finding for the only file of a task whose check crashed the process."""
    with ReadAhead(context.connections) as ahead:
        opened = open_manifest(context, task.manifest, ahead)
    assert not isinstance(opened, Finding)
    for entry, _ in _entries(opened.manifest, task):
        code = _DAMAGED[entry.data_file.file_format]
        return Findings((finding(code, ENDED, file=entry.data_file.file_path, aspect="process-ended"),))
    return Findings(())


_DAMAGED = {
    FileFormat.PARQUET: "PQT007",
    FileFormat.ORC: "ORC008",
    FileFormat.AVRO: "AVR014",
    FileFormat.PUFFIN: "PUF001",
}
"""The requirements that a damaged file breaks, by format."""


def _positions_facts(context: Context, part: _Part) -> Iterator[Facts]:
    """Yield the data files that position deletes may name, and the positions of vectors that were removed."""
    if not context.needs_deleted_positions:
        return
    places = list(part.places(deleted=True))
    yield from target_facts(context, places)
    for place in places:
        entry = place.entry
        readable = context.decrypts or entry.data_file.key_metadata is None
        if readable and entry.status is EntryStatus.DELETED and entry.data_file.is_deletion_vector:
            with contextlib.suppress(SpecError, FileAccessError):  # a deleted entry's file may not exist
                file = read_puffin(open_puffin(entry.data_file)[0])
                yield from vector_facts(context, place, file, "replaced")


def _entries(manifest: Manifest, task: FilesTask, *, deleted: bool = False) -> Iterator[tuple[ManifestEntry, int]]:
    """Yield the live entries of a task, or with ``deleted`` all of them, each with its number."""
    for columns in column_batches(manifest):
        numbers = np.arange(columns.first, columns.first + len(columns))
        rows = np.nonzero((numbers >= task.start) & (numbers < task.stop) & (columns.live | deleted))[0]
        yield from zip(columns.entries(rows), numbers[rows].tolist(), strict=True)
        if columns.first + len(columns) >= task.stop:
            return


def check_file(
    context: Context, place: EntryPlace, features: set[str], facts: list[Facts], ahead: ReadAhead
) -> tuple[list[Finding], str | None]:
    """Check a file.

    Args:
        context: the table.
        place: the entry of the file.
        features: a set to which the features that readers need are added.
        facts: a list to which the facts for rules over several files are appended.
        ahead: the files that were opened ahead.

    Returns:
        The findings, and the probable writer: empty if there are no marks, None if the file is damaged or missing.
    """
    data_file = place.data_file
    location = data_file.file_path
    if data_file.key_metadata is not None and not context.decrypts:
        return [encrypted_file_finding(place)], None
    if data_file.is_deletion_vector:
        found = list(vector_findings(context, place, facts, ahead))
        return found, find_footer_writer(puffin_writer(data_file)) or ""
    try:
        opened = open_file(
            location,
            data_file.file_format,
            context.mapping,
            lambda: ahead.open_rows(data_file),
            data_file.key_metadata,
        )
    except UnsupportedEncryption as error:
        return [encrypted_file_finding(place, error.reason)], None
    except FileAccessError as error:
        return [unread_file_finding(place, error)], None
    except SpecError as error:
        follows = (PUFFIN_OF_ROWS,) if data_file.file_format is FileFormat.PUFFIN else ()
        return [evolve(one, follows=follows) for one in damaged_file_findings(place, error.violation)], None
    writer: str | None = find_footer_writer(opened.created_by) or ""
    found = list(_compare_with_footer(place, opened))
    found += from_violations(opened.unreadable, file=location)
    found += tolerate((*from_violations(opened.faults, file=location), *column_findings(context, place, opened)))
    if opened.by_name:
        features.add("no-field-ids")
    if context.level.includes(Level.ROWS):
        try:
            found += row_findings(context, place, opened, facts)
        except SpecError as error:
            if error.violation.aspect == BEYOND_NANOSECONDS:
                found += _not_decodable(location)
            else:
                found += damaged_file_findings(place, error.violation)
                if error.violation.requirement == _DAMAGED[data_file.file_format]:
                    writer = None
        except FileAccessError as error:
            found.append(unread_file_finding(place, error))
    return _each_once(found), writer


def _each_once(findings: Iterable[Finding]) -> list[Finding]:
    """Remove findings that repeat an earlier one of the same place: the footer and the rows may show the same."""
    seen: dict[tuple[str | None, ...], Finding] = {}
    for number, one in enumerate(findings):
        violation = one.violation
        about_value = violation.found is not None or violation.expected is not None
        key = (
            violation.requirement,
            violation.file,
            violation.path,
            violation.found,
            violation.expected,
            None if about_value else str(number),
        )
        seen.setdefault(key, one)
    return list(seen.values())


def _not_decodable(location: str) -> Iterator[Finding]:
    yield finding(
        "ORC003",
        "the rows were not checked: the file has timestamps outside of 1677 to 2262, which this tool cannot read",
        file=location,
        aspect="not-checked",
    )


def _compare_with_footer(place: EntryPlace, opened: OpenedFile) -> Iterator[Finding]:
    """Find differences between the entry and the footer."""
    data_file = place.data_file
    if data_file.file_size_in_bytes != opened.size:
        yield wrong_size_finding(place, opened.size)
    if data_file.record_count != opened.record_count:
        yield finding(
            "DFL005",
            "record_count differs from the number of rows in the file",
            file=place.manifest,
            path=place.entry_field_path("record_count"),
            found=data_file.record_count,
            expected=opened.record_count,
            aspect="mismatch",
        )
    offsets = data_file.split_offsets
    if offsets and opened.offsets is not None and not set(offsets) <= set(opened.offsets):
        yield finding(
            "DFL019",
            "an element of split_offsets is not the start of a row group or stripe",
            file=place.manifest,
            path=place.entry_field_path("split_offsets"),
            found=offsets,
            expected=f"some of {abbreviated_repr(opened.offsets)}",
            aspect="no-boundary",
        )
    for field_id, chunk in opened.chunks.items():
        pairs = (
            ("value_counts", "DFL012", chunk.values, "value_counts differs from the footer"),
            ("null_value_counts", "DFL013", chunk.nulls, "null_value_counts differs from the footer"),
        )
        for attribute, code, counted, message in pairs:
            recorded = (getattr(data_file, attribute) or {}).get(field_id)
            if recorded is not None and counted is not None and recorded != counted:
                path = place.entry_field_path(f"{attribute}/{field_id}")
                yield finding(
                    code,
                    message,
                    file=place.manifest,
                    path=path,
                    found=recorded,
                    expected=str(counted),
                    aspect="footer-mismatch",
                )
        recorded = (data_file.column_sizes or {}).get(field_id)
        if recorded is not None and recorded != chunk.size:
            yield finding(
                "DFL011",
                "column_sizes differs from the footer",
                file=place.manifest,
                path=place.entry_field_path(f"column_sizes/{field_id}"),
                found=recorded,
                expected=str(chunk.size),
                aspect="footer-mismatch",
            )

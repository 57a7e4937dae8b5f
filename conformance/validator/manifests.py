"""Checking one manifest, and its facts for the rules over several files (Manifests; Manifest Entry Fields)."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import attrs
import numpy as np
import numpy.typing as npt

from conformance.table_io.encryption import UnsupportedEncryption, decrypt_and_check_nonces, read_key_metadata
from conformance.table_io.file_access import FileAccessError, split_location
from conformance.validator.check_results import Emitted, Findings, ManifestSums, Sums
from conformance.validator.context import Context, ManifestTask, TaskGroup
from conformance.validator.contradicted_entries import CountedEntries, count_as_corrected, count_as_written
from conformance.validator.finding import finding, from_violations, with_severity
from conformance.validator.fingerprints import WriterMarks, find_probable_writer
from conformance.validator.manifest_facts import entry_facts
from conformance.validator.manifest_list_consistency import ManifestListComparison
from conformance.validator.partition_statistics import partition_facts
from conformance.validator.read_ahead import ReadAhead
from conformance.validator.stall_timeout import run_with_stall_timeout
from conformance.validator.tolerated import tolerate
from spec_ref.checks.findings import Finding, Tally, with_file
from spec_ref.columnar.manifests.entry_columns import ManifestColumns, column_batches
from spec_ref.columnar.manifests.rules import entry_findings
from spec_ref.core.errors import Description, SpecError
from spec_ref.core.records import evolve
from spec_ref.core.versions import FormatVersion
from spec_ref.encodings.avro.container import SCHEMA_KEY, open_container, write_container
from spec_ref.manifest_lists.manifest_file import ManifestFile
from spec_ref.manifest_lists.writer import FIXED_SYNC_MARKER
from spec_ref.manifests.checks import check_manifest
from spec_ref.manifests.data_file import FileContent
from spec_ref.manifests.entry import EntryStatus
from spec_ref.manifests.header_checks import header_problems
from spec_ref.manifests.manifest import REQUIREMENT, Manifest
from spec_ref.manifests.reader import read_manifest
from spec_ref.manifests.rules import EntryContext
from spec_ref.partitioning.evolution import altered_partition_fields, keeps_partition_values
from spec_ref.requirements import register


@attrs.frozen
class LoadedManifest:
    """A manifest, its decrypted content, and the length of its file, which is greater if the file is encrypted."""

    data: bytes
    manifest: Manifest
    length: int


def open_manifest(context: Context, task: ManifestTask, ahead: ReadAhead) -> LoadedManifest | Finding:
    """Read a manifest, and decrypt it if it is encrypted; return a finding if either is not possible."""
    key = None if task.manifest_file is None else task.manifest_file.key_metadata
    encrypted = "the manifest is encrypted, and was not read"
    if key is not None and not context.decrypts:
        return finding("MLS017", encrypted, file=task.location, aspect="encrypted")
    try:
        data = run_with_stall_timeout(
            context.file_seconds, task.location, lambda: _manifest_bytes(context, task, ahead)
        )
        length = len(data)
        if key is not None:
            data = decrypt_and_check_nonces(data, read_key_metadata(key, task.location), task.location)
    except SpecError as error:
        return with_severity(error.violation)
    except UnsupportedEncryption as error:
        return finding("MLS017", f"{encrypted}: {error.reason}", file=task.location, aspect="encrypted")
    except FileAccessError as error:
        return finding(
            "MLS003", f"the manifest cannot be read: {error.reason}", file=task.location, aspect="unreadable"
        )
    try:
        manifest = read_manifest(data, manifest_file=task.manifest_file, specs=context.specs, file=task.location)
        own = manifest.header.spec_id
        if own is not None and own in context.specs:  # entries have its fields, whatever the list says (MAN003)
            manifest.spec = context.specs[own]
        return LoadedManifest(data, manifest, length)
    except SpecError as error:
        return with_severity(attrs.evolve(error.violation, file=task.location))


def _is_list_fault(refusal: Finding, task: ManifestTask) -> bool:
    """Return whether a manifest was refused only because of its entry in the list, where it is reported."""
    return task.manifest_file is not None and refusal.check == "manifest-file-partition-spec-id-unknown-spec"


def read_manifests_ahead(context: Context, tasks: Sequence[ManifestTask], ahead: ReadAhead) -> None:
    """Let threads read manifests that `open_manifest` will be asked for, unless they are cached or encrypted."""
    if len(tasks) > 1:
        for task in tasks:
            cached = _cached_manifest(context, task)
            if (cached is None or not cached.exists()) and (
                task.manifest_file is None or task.manifest_file.key_metadata is None or context.decrypts
            ):
                ahead.read_ahead(task.location)


def _cached_manifest(context: Context, task: ManifestTask) -> Path | None:
    """Return the place of a manifest in the cache; None for a local one, and if there is no cache."""
    if context.manifest_cache is None or split_location(task.location).scheme == "file":
        return None
    return Path(context.manifest_cache, f"{task.number}.avro")


def _manifest_bytes(context: Context, task: ManifestTask, ahead: ReadAhead) -> bytes:
    """Read a manifest; a manifest on a store is requested once, and cached for the checks of its files.

    Raises:
        FileAccessError: the manifest cannot be read.
    """
    kept = _cached_manifest(context, task)
    if kept is None:
        return ahead.read_bytes(task.location)
    with contextlib.suppress(OSError):
        return kept.read_bytes()
    data = ahead.read_bytes(task.location)
    with contextlib.suppress(OSError):  # no space: the manifest is requested again
        new = kept.with_suffix(f".{os.getpid()}")
        new.write_bytes(data)
        new.replace(kept)
    return data


def check_manifest_task(context: Context, task: ManifestTask) -> Iterator[Emitted]:
    """Check a manifest, and emit facts for the rules over several files."""
    return check_manifest_group(context, TaskGroup((task,)))


def check_manifest_group(context: Context, group: TaskGroup) -> Iterator[Emitted]:
    """Check some manifests, and emit facts for the rules over several files."""
    with ReadAhead(context.connections) as ahead:
        read_manifests_ahead(context, group.tasks, ahead)
        for task in group.tasks:
            yield from _check_manifest(context, task, ahead)


def _check_manifest(context: Context, task: ManifestTask, ahead: ReadAhead) -> Iterator[Emitted]:
    tally = Tally()
    opened = open_manifest(context, task, ahead)
    if isinstance(opened, Finding):
        yield Findings((opened,) if task.checked and not _is_list_fault(opened, task) else ())
        return
    data, length = opened.data, opened.length
    manifest = _with_listing(opened.manifest, task, length)
    writer = probable_writer(context, manifest)
    if task.checked:
        tally.add(_header_findings(context, task, data, manifest))
        tally.add(_promoted_sources(context, task, manifest))
    listing = ManifestListComparison(context, manifest, length, task)
    sums = _Summing(task.number, manifest, context.owners)
    entry_context = EntryContext(manifest.format_version, manifest.content)
    content = manifest.header.content
    other = task.manifest_file is not None and content is not None and content is not task.manifest_file.content
    reported = ("MAN002",) if other else ()  # a difference between the list and the header is reported as MAN010
    deprecated = _deprecated_fields(data, manifest.format_version)
    whole = True
    try:
        for columns in column_batches(manifest, eager=task.checked):
            if task.checked:
                found = entry_findings(columns, entry_context, context.types)
                tally.add(with_file(one, task.location) for one in found if one.requirement not in reported)
                tally.add(listing.add(columns))
                tally.add(_never_written(columns, deprecated, task))
            sums.add(columns)
            yield from entry_facts(context, task, columns)
            if context.counts_partitions:
                yield from partition_facts(context, task, columns)
    except SpecError as error:
        whole = False
        tally.add([with_severity(attrs.evolve(error.violation, file=task.location))])
    else:
        if task.checked:
            tally.add(listing.findings())
    if writer is not None:
        tally = Tally(evolve(one, writer=writer) for one in tally.findings())
    yield Findings(tally.findings() if task.checked else ())
    yield attrs.evolve(sums.made(writer), is_complete=whole)


def probable_writer(context: Context, manifest: Manifest) -> str | None:
    """Return the probable writer of a manifest: the one that committed the snapshot that added it."""
    listed = manifest.manifest_file
    snapshot = None if listed is None else context.snapshots.get(listed.added_snapshot_id)
    summary = {} if snapshot is None else dict(snapshot.summary or {})
    return find_probable_writer(WriterMarks(manifest_header=dict(manifest.header.properties), summary=summary))


def _with_listing(manifest: Manifest, task: ManifestTask, length: int) -> Manifest:
    """Return the manifest with inherited values, even if a v1 snapshot names it without a manifest list."""
    if task.manifest_file is None:
        manifest.manifest_file = ManifestFile(
            manifest_path=task.location,
            manifest_length=length,
            partition_spec_id=manifest.spec_id or 0,
            added_snapshot_id=task.snapshot.snapshot_id,
        )
    return manifest


def _header_findings(context: Context, task: ManifestTask, data: bytes, manifest: Manifest) -> Iterator[Finding]:
    """Check the header and the Avro schema, by checking the manifest without its entries."""
    kept = {key: value for key, value in open_container(data, REQUIREMENT).metadata.items() if key != "avro.codec"}
    assert SCHEMA_KEY in kept
    bare = write_container(kept, [], codec="null", sync=FIXED_SYNC_MARKER)
    own = manifest.header.spec_id
    specs = context.specs if own is None or own in context.specs else None
    yield from tolerate(check_manifest(bare, specs=specs, file=task.location))
    metadata = context.metadata
    schemas = (*metadata.schemas, *(() if metadata.schema is None else (metadata.schema,)))
    yield from from_violations(
        header_problems(manifest.header, schemas, context.specs, metadata.format_version), file=task.location
    )


def _promoted_sources(context: Context, task: ManifestTask, manifest: Manifest) -> Iterator[Finding]:
    """Find live files with partition values from before a promotion of the source column that changes them (EVO008).

    The header has the schema that the manifest was written with.
    """
    listed = manifest.manifest_file
    if manifest.spec is None or (listed is not None and not listed.may_have_live_files):
        return
    promoted = any(
        not keeps_partition_values(field.transform, old, context.types[source])
        for field in manifest.spec.fields
        for source in field.sources
        for old in context.older_types.get(source, ())
    )
    if not promoted:
        return
    try:
        written = {column.id: column.type for column in manifest.header.schema().columns()}
    except SpecError:  # reported by the check of the header
        return
    for field, old, new in altered_partition_fields(manifest.spec.fields, written, context.types):
        yield finding(
            "EVO008",
            "partition values are from before a type promotion that changes them",
            file=task.location,
            path="/schema",
            found=Description(f"{old}, and now {new}, for {field.transform} {field.name}"),
            expected=str(new),
        )


_LARGE = ("column_sizes", "value_counts", "null_value_counts", "nan_value_counts", "lower_bounds", "upper_bounds")
"""The deprecated fields, with the requirement of each."""

DEPRECATED = {106: ("DFL009", "file_ordinal"), 107: ("DFL010", "sort_columns"), 111: ("DFL015", "distinct_counts")}


def _deprecated_fields(data: bytes, version: FormatVersion) -> tuple[tuple[str, str], ...]:
    """Return the deprecated fields, which writers leave out, that the Avro schema of a manifest has."""
    schema = open_container(data, REQUIREMENT).metadata[SCHEMA_KEY]
    has = {int(number) for number in re.findall(rb'"field-id"\s*:\s*(\d{1,9})', schema)}
    return tuple(
        one for field_id, one in DEPRECATED.items() if field_id in has and version in register()[one[0]].versions
    )


def _never_written(
    columns: ManifestColumns, deprecated: Sequence[tuple[str, str]], task: ManifestTask
) -> Iterator[Finding]:
    """Find values of deprecated fields. They are harmless, as no reader uses them."""
    rows = np.arange(len(columns) if deprecated else 0)
    for number, entry in enumerate(columns.entries(rows, without=_LARGE), start=columns.first):
        for code, name in deprecated:
            value = getattr(entry.data_file, name)
            if value is not None:
                yield finding(
                    code,
                    "a deprecated field is written",
                    file=task.location,
                    path=f"/{number}/data_file/{name}",
                    found=value,
                    expected="null, or no such field",
                    aspect="written",
                )


# Sums


class _Summing:
    """Adds up the counts of a manifest over its batches."""

    def __init__(self, number: int, manifest: Manifest, owners: Mapping[int, Sequence[int]]) -> None:
        self.number = number
        self.manifest = manifest
        self.owners = owners
        self.entries = 0
        self.written = _Counts()
        self.corrected = _Counts()
        self.causes: frozenset[str] = frozenset()
        self.features: set[str] = set()

    def add(self, columns: ManifestColumns) -> None:
        self.entries += len(columns)
        right, causes = count_as_corrected(columns, self.manifest, self.owners)
        counts = _Counts.of_entries(columns, count_as_written(columns))
        self.written = self.written.add(counts)
        self.corrected = self.corrected.add(_Counts.of_entries(columns, right) if causes else counts)
        self.causes |= causes
        formats = columns.formats
        vectors = columns.content_offset.valid
        for content, name in _CONTENT_FEATURES.items():
            if (columns.live & (columns.content == content) & ~vectors).any():
                self.features.add(name)
        if (columns.live & vectors & (columns.content == FileContent.POSITION_DELETES)).any():
            self.features.add("deletion-vectors")
        self.features |= {f"{name.lower()}-files" for name in set(formats) if isinstance(name, str)}

    def made(self, writer: str | None) -> ManifestSums:
        writers = frozenset([writer]) if writer else frozenset[str]()
        features, counts, right = frozenset(self.features), self.written, self.corrected
        made = ManifestSums(self.number, self.entries, counts.live, counts.added, counts.deleted, features, writers)
        if not self.causes:
            return made
        other = attrs.evolve(made, live=right.live, added=right.added, deleted=right.deleted)
        return attrs.evolve(made, corrected=other, causes=self.causes)


@attrs.frozen
class _Counts:
    """The counts of entries: of live files, and of those that each snapshot added and deleted."""

    live: Sums = attrs.field(factory=Sums)
    added: Mapping[int, Sums] = attrs.field(factory=dict)
    deleted: Mapping[int, Sums] = attrs.field(factory=dict)

    @staticmethod
    def of_entries(columns: ManifestColumns, entries: CountedEntries) -> _Counts:
        found: list[dict[int, Sums]] = []
        for status in (EntryStatus.ADDED, EntryStatus.DELETED):
            rows = (entries.status == status) & entries.snapshot_known
            ids = np.unique(entries.snapshot[rows]).tolist()
            found.append({one: _sums(columns, entries, rows & (entries.snapshot == one)) for one in ids})
        return _Counts(_sums(columns, entries, entries.live), *found)

    def add(self, other: _Counts) -> _Counts:
        both = ((self.added, other.added), (self.deleted, other.deleted))
        merged = ({one: a.get(one, Sums()).add(b.get(one, Sums())) for one in {*a, *b}} for a, b in both)
        return _Counts(self.live.add(other.live), *merged)


_CONTENT_FEATURES = {
    FileContent.POSITION_DELETES: "position-deletes",
    FileContent.EQUALITY_DELETES: "equality-deletes",
}


def _sums(columns: ManifestColumns, entries: CountedEntries, rows: npt.NDArray[np.bool_]) -> Sums:
    if not rows.any():
        return Sums()
    records = columns.record_count
    content = entries.content
    vectors = columns.content_offset.valid & (content == FileContent.POSITION_DELETES)
    sizes = np.where(vectors, columns.content_size_in_bytes.values, columns.file_size_in_bytes)
    data = rows & (content == FileContent.DATA)
    position = rows & (content == FileContent.POSITION_DELETES)
    equality = rows & (content == FileContent.EQUALITY_DELETES)
    return Sums(
        data_files=int(data.sum()),
        records=_total(records[data]),
        files_size=_total(sizes[rows]),
        whole_files_size=_total(columns.file_size_in_bytes[rows]),
        delete_files=int((position | equality).sum()),
        position_delete_files=int((position & ~vectors).sum()),
        vectors=int((position & vectors).sum()),
        equality_delete_files=int(equality.sum()),
        position_deletes=_total(records[position]),
        equality_deletes=_total(records[equality]),
    )


def _total(numbers: npt.NDArray[np.int64]) -> int:
    """Return the exact sum: malicious counts may exceed 64 bits."""
    if len(numbers) and float(np.abs(numbers.astype(np.float64)).sum()) > float(1 << 62):
        return sum(numbers.tolist())
    return int(numbers.sum())

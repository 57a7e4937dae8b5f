"""Checking the manifest lists of snapshots (Manifest Lists; First Row ID Assignment)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

import attrs

from conformance.table_io.encryption import (
    KeyService,
    UnsupportedEncryption,
    decrypt_and_check_nonces,
    manifest_list_key,
)
from conformance.table_io.file_access import FileAccessError, read_bytes
from conformance.validator.context import Context, ListTask, ManifestMembership, ManifestTask
from conformance.validator.finding import finding, with_severity
from conformance.validator.stall_timeout import run_with_stall_timeout
from spec_ref.checks.findings import Finding, Tally
from spec_ref.core.errors import SpecError, abbreviated_repr
from spec_ref.core.records import ids_added_after_v1
from spec_ref.core.versions import ROW_LINEAGE, SEQUENCE_NUMBERS, V1, FormatVersion
from spec_ref.encodings.avro.container import open_container
from spec_ref.encodings.avro.types import root_record
from spec_ref.manifest_lists.checks import check_manifest_list
from spec_ref.manifest_lists.manifest_file import ManifestFile
from spec_ref.manifest_lists.reader import REQUIREMENT, read_manifest_list
from spec_ref.manifests.manifest import VERSIONS
from spec_ref.snapshots.retention import ancestors
from spec_ref.snapshots.snapshot import Snapshot

_NOT_IN_V1 = ids_added_after_v1(ManifestFile)


@attrs.frozen
class SnapshotManifests:
    """The manifests of one snapshot."""

    snapshot_id: int
    findings: tuple[Finding, ...]
    manifests: tuple[tuple[str, ManifestFile | None], ...] | None
    """The manifests with their entries in the list; None if the list could not be read."""


def check_list(context: Context, task: ListTask) -> SnapshotManifests:
    """Read and check the manifest list of a snapshot."""
    snapshot, tally = task.snapshot, Tally()
    if snapshot.manifest_list is None:
        inline = tuple((location, None) for location in snapshot.manifests or ())
        return SnapshotManifests(snapshot.snapshot_id, (), inline)
    location = snapshot.manifest_list
    if isinstance(task.key, Finding):
        return SnapshotManifests(snapshot.snapshot_id, (task.key,) if task.checked else (), None)
    try:
        data = run_with_stall_timeout(context.file_seconds, location, lambda: read_bytes(location))
        if task.key is not None:
            data = decrypt_and_check_nonces(data, task.key, location)
    except SpecError as error:
        return SnapshotManifests(snapshot.snapshot_id, (with_severity(error.violation),) if task.checked else (), None)
    except FileAccessError as error:
        problem = finding(
            "SNP005", f"the manifest list cannot be read: {error.reason}", file=location, aspect="unreadable"
        )
        return SnapshotManifests(snapshot.snapshot_id, (problem,) if task.checked else (), None)
    try:
        manifests = read_manifest_list(data, format_version=context.metadata.format_version, file=location)
    except SpecError as error:
        tally.add([with_severity(attrs.evolve(error.violation, file=location))])
        return SnapshotManifests(snapshot.snapshot_id, tally.findings() if task.checked else (), None)
    if task.checked:
        version = _written_version(data, snapshot, context.metadata.format_version)
        tally.add(
            check_manifest_list(data, version, specs=context.specs, first_row_id=snapshot.first_row_id, file=location)
        )
        tally.add(snapshot_findings(manifests, snapshot, location, version))
        tally.add(_adders(context, snapshot, manifests, location, version))
    listed = tuple((manifest.manifest_path, manifest) for manifest in manifests)
    return SnapshotManifests(snapshot.snapshot_id, tally.findings(), listed)


def _written_version(data: bytes, snapshot: Snapshot, table: FormatVersion) -> FormatVersion:
    """Return the format version that a list was written for: an upgrade does not rewrite older files (VER003)."""
    metadata = open_container(data, REQUIREMENT).metadata
    text = metadata.get("format-version", b"").decode("utf-8", "replace")
    if text in VERSIONS:
        return min(VERSIONS[text], table)
    ids = {field.id for field in root_record(metadata["avro.schema"], REQUIREMENT).fields}
    if snapshot.first_row_id is not None:
        return ROW_LINEAGE.since
    return min(SEQUENCE_NUMBERS.since, table) if ids & _NOT_IN_V1 or snapshot.sequence_number else V1


def snapshot_findings(
    manifests: Sequence[ManifestFile], snapshot: Snapshot, file: str, version: FormatVersion
) -> Iterator[Finding]:
    """Find manifests that cannot belong to the snapshot."""
    for number, manifest in enumerate(manifests):
        if manifest.sequence_number > snapshot.sequence_number:
            yield finding(
                "MLS007",
                "the sequence number of a manifest is greater than that of the snapshot",
                file=file,
                path=f"/{number}/sequence_number",
                found=manifest.sequence_number,
                expected=f"at most {snapshot.sequence_number}",
                aspect="newer-than-snapshot",
            )
        elif (
            SEQUENCE_NUMBERS.is_supported(version)
            and manifest.added_snapshot_id == snapshot.snapshot_id
            and manifest.sequence_number != snapshot.sequence_number
        ):
            yield finding(
                "MLS024",
                "the sequence number of a manifest differs from that of the snapshot that added it",
                file=file,
                path=f"/{number}/sequence_number",
                found=manifest.sequence_number,
                expected=str(snapshot.sequence_number),
            )
        ids = (snapshot.first_row_id, snapshot.added_rows, manifest.first_row_id)
        first, rows, own = ids
        if first is None or rows is None or own is None or manifest.added_snapshot_id != snapshot.snapshot_id:
            continue
        if 0 <= own < first:
            yield finding(
                "LIN028",
                "the first_row_id of a manifest is less than that of the snapshot",
                file=file,
                path=f"/{number}/first_row_id",
                found=own,
                expected=f"at least {first}",
            )
        elif own > first + rows:
            yield finding(
                "SNP011",
                "the row ids of a manifest exceed those of the snapshot",
                file=file,
                path=f"/{number}/first_row_id",
                found=own,
                expected=f"at most {first + rows}",
                aspect="exceeded",
            )


def _adders(
    context: Context, snapshot: Snapshot, manifests: Sequence[ManifestFile], file: str, version: FormatVersion
) -> Iterator[Finding]:
    """Find manifests with the sequence number of one snapshot and the added_snapshot_id of another one (MLS009).

    Snapshots have distinct sequence numbers, also from those of expired snapshots; a manifest of v1 has none.
    """
    for number, manifest in enumerate(manifests if SEQUENCE_NUMBERS.is_supported(version) else ()):
        ids = context.owners.get(manifest.sequence_number, ())
        own = manifest.added_snapshot_id == snapshot.snapshot_id  # reported as MLS024
        if manifest.sequence_number and ids and manifest.added_snapshot_id not in ids and not own:
            yield finding(
                "MLS009",
                "added_snapshot_id names a snapshot whose sequence number differs from the manifest's",
                file=file,
                path=f"/{number}/added_snapshot_id",
                found=manifest.added_snapshot_id,
                expected=str(ids[0]),
                aspect="of-another-sequence-number",
            )


_SAME = (
    ("manifest_length", "FIO001"),
    ("partition_spec_id", "MLS005"),
    ("content", "MLS006"),
    ("sequence_number", "MLS007"),
    ("added_snapshot_id", "MLS009"),
    ("added_files_count", "MLS010"),
    ("existing_files_count", "MLS011"),
    ("deleted_files_count", "MLS012"),
    ("added_rows_count", "MLS013"),
    ("existing_rows_count", "MLS014"),
    ("deleted_rows_count", "MLS015"),
)
"""The fields that must be the same in every list that has a value for them, with the requirement."""


def listing_mismatches(
    context: Context, tasks: Sequence[ListTask], lists: Sequence[SnapshotManifests]
) -> Iterator[Finding]:
    """Find manifests whose entries in two lists differ, although files are immutable (File System Operations).

    The lists are compared from the oldest snapshot to the newest; lists of unchecked parents only if two versions of
    the table are compared.
    """
    known: dict[str, tuple[ManifestFile, int]] = {}
    assigned: dict[str, set[int]] = {}
    pairs = [(task, one) for task, one in zip(tasks, lists, strict=True) if task.checked or context.compares_versions]
    pairs.sort(key=lambda pair: (pair[0].snapshot.sequence_number, pair[0].snapshot.timestamp_ms))
    for task, listed in pairs:
        for place, (location, manifest) in enumerate(listed.manifests or ()):
            if manifest is None:
                continue
            if manifest.first_row_id is not None:
                assigned.setdefault(location, set()).add(manifest.first_row_id)
            first, snapshot_id = known.setdefault(location, (manifest, task.snapshot.snapshot_id))
            if snapshot_id == task.snapshot.snapshot_id:
                continue
            for attribute, code in _SAME:
                one, two = getattr(first, attribute), getattr(manifest, attribute)
                if one is not None and two is not None and one != two:
                    yield _listing_mismatch(context, code, attribute, task, place, two, one, snapshot_id)
    several = {location for location, values in assigned.items() if len(values) > 1}
    if several:
        yield from _row_ids_assigned_again(context, pairs, several)


def _row_ids_assigned_again(
    context: Context, pairs: Sequence[tuple[ListTask, SnapshotManifests]], locations: Collection[str]
) -> Iterator[Finding]:
    """Find manifests whose row ids differ from those that an older snapshot assigned (LIN026).

    Snapshots of different branches may each assign row ids to a manifest from before an upgrade (LIN016). For such a
    manifest, only the nearest ancestor that assigned row ids counts.
    """
    values = {
        (location, task.snapshot.snapshot_id): manifest.first_row_id
        for task, listed in pairs
        for location, manifest in listed.manifests or ()
        if manifest is not None and manifest.first_row_id is not None and location in locations
    }
    older: list[int] = []
    for task, listed in pairs:
        own_id = task.snapshot.snapshot_id
        before = [one.snapshot_id for one in ancestors(context.snapshots, own_id)][1:]
        for place, (location, manifest) in enumerate(listed.manifests or ()):
            own = values.get((location, own_id))
            if own is None or manifest is None:
                continue
            adder = context.snapshots.get(manifest.added_snapshot_id)
            has_ids = adder is not None and adder.first_row_id is not None
            nearest = next((one for one in (older if has_ids else before) if (location, one) in values), None)
            if nearest is not None and values[location, nearest] != own:
                yield _listing_mismatch(
                    context, "LIN026", "first_row_id", task, place, own, values[location, nearest], nearest
                )
        older.append(own_id)


def _listing_mismatch(
    context: Context, code: str, attribute: str, task: ListTask, place: int, found: Any, expected: Any, snapshot_id: int
) -> Finding:
    return finding(
        code,
        f"the {attribute} of a manifest differs from that in an older snapshot",
        file=task.snapshot.manifest_list or context.metadata_location,
        path=f"/{place}/{attribute}",
        found=found,
        expected=f"{abbreviated_repr(expected)}, as in snapshot {snapshot_id}",
        aspect="changed",
    )


def list_tasks(context: Context, chosen: Iterable[int], key_service: KeyService | None = None) -> tuple[ListTask, ...]:
    """Return the tasks for the lists of the chosen snapshots, and of their parents, which are read but not checked.

    Args:
        context: the table.
        chosen: the ids of the snapshots.
        key_service: unwraps the keys of encrypted lists in this process, so that executors do not get the master keys.

    Raises:
        UsageError: the key service lacks a key.
    """
    wanted = list(dict.fromkeys(chosen))
    tasks = [_list_task(context, snapshot_id, key_service) for snapshot_id in wanted]
    known = set(wanted)
    for snapshot_id in wanted:
        parent = context.snapshots[snapshot_id].parent_snapshot_id
        if parent is not None and parent in context.snapshots and parent not in known:
            known.add(parent)
            tasks.append(_list_task(context, parent, key_service, checked=False))
    return tuple(tasks)


def _list_task(context: Context, snapshot_id: int, key_service: KeyService | None, *, checked: bool = True) -> ListTask:
    snapshot = context.snapshots[snapshot_id]
    location, key_id = snapshot.manifest_list, snapshot.key_id
    if key_id is None or location is None:
        return ListTask(snapshot, checked)
    message = "the manifest list is encrypted, and was not read"
    if key_service is None:
        return ListTask(snapshot, checked, finding("SNP012", message, file=location, aspect="encrypted"))
    try:
        return ListTask(snapshot, checked, manifest_list_key(context.metadata, key_id, key_service, location))
    except SpecError as error:
        return ListTask(snapshot, checked, with_severity(error.violation))
    except UnsupportedEncryption as error:
        reason = f"{message}: {error.reason}"
        return ListTask(snapshot, checked, finding("SNP012", reason, file=location, aspect="encrypted"))
    except FileAccessError as error:
        reason = f"the manifest list cannot be read: {error.reason}"
        return ListTask(snapshot, checked, finding("SNP005", reason, file=location, aspect="unreadable"))


def manifest_tasks(
    context: Context, tasks: Sequence[ListTask], lists: Sequence[SnapshotManifests]
) -> tuple[tuple[ManifestTask, ...], ManifestMembership]:
    """Return each manifest once, and the snapshots that have it.

    If only an unchecked parent has a manifest, it is read only for its live files; if the parent shares it with the
    checked snapshot, it is not read for the parent at all.
    """
    numbers: dict[str, int] = {}
    made: list[ManifestTask] = []
    members: dict[int, frozenset[int]] = {}
    row_ids: dict[int, set[int | None]] = {}
    for task, listed in zip(tasks, lists, strict=True):
        if listed.manifests is None:
            continue
        file = task.snapshot.manifest_list or context.metadata_location
        mine = []
        for place, (location, manifest) in enumerate(listed.manifests):
            if location not in numbers:
                numbers[location] = len(made)
                where = f"{file}:/{place}"
                made.append(ManifestTask(len(made), location, manifest, task.snapshot, where, task.checked))
            mine.append(numbers[location])
            row_ids.setdefault(numbers[location], set()).add(None if manifest is None else manifest.first_row_id)
        members[listed.snapshot_id] = frozenset(mine)
    checked = tuple(task.snapshot.snapshot_id for task in tasks if task.checked)
    readable = tuple(snapshot_id for snapshot_id in checked if snapshot_id in members)
    parents = ((one, context.snapshots[one].parent_snapshot_id) for one in readable)
    pairs = tuple((one, parent) for one, parent in parents if parent is not None and parent in members)
    several = frozenset(number for number, ids in row_ids.items() if len(ids) > 1)
    return tuple(made), ManifestMembership(len(made), members, readable, pairs, ambiguous_row_ids=several)

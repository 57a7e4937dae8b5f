"""Invariants of each commit in any order of steps; each is a separate rule, named in its findings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

import attrs

from conformance.races.observed import FileKey, Observations, ObservedFile, ObservedSnapshot
from conformance.races.operations import PlannedChange
from conformance.races.rows import RowModel, after_change
from conformance.races.writers import ReplaceTable
from conformance.races.written import WrittenChecks
from spec_ref.commits.changes import SnapshotChange
from spec_ref.core.errors import SpecError
from spec_ref.core.records import evolve, field_rules
from spec_ref.manifests.data_file import FileContent
from spec_ref.scan_planning.delete_scope import column_types, may_apply
from spec_ref.table_metadata.metadata import TableMetadata

MEMBERS = tuple(field_rules(TableMetadata))
ALWAYS = {"last_updated_ms", "metadata_log"}
Live = Mapping[FileKey, ObservedFile]


@attrs.frozen
class Transition:
    """One commit: the table before and after it."""

    planned: PlannedChange
    based_on: TableMetadata
    """The table on which the change was planned."""

    before_location: str
    before: TableMetadata
    location: str
    after: TableMetadata
    files: Mapping[str, Any]
    archive: Mapping[str, Any]
    """All files that ever existed, including deleted ones."""


def check(transition: Transition, observed: Observations, rows: RowModel, written: WrittenChecks) -> Iterator[str]:
    """Yield the violated invariants of a commit.

    Args:
        transition: the commit.
        observed: reads the contents of tables.
        rows: the model of the table's rows.
        written: the validator's checks.
    """
    if isinstance(transition.planned.change, ReplaceTable):
        return
    if transition.before.table_uuid != transition.based_on.table_uuid:
        uuids = f"{transition.based_on.table_uuid}, and was committed to {transition.before.table_uuid}"
        yield f"another table: {transition.planned.name} was planned on {uuids}"
        return
    if transition.planned.always_refused:
        yield f"forbidden change: {transition.planned.name} was committed"
    yield from _members(transition)
    yield from _logs(transition)
    yield from _whole(transition, observed)
    if isinstance(transition.planned.change, SnapshotChange):
        yield from _snapshot(transition, observed)
    yield from _rows(transition, observed, rows)
    yield from _deletes(transition, observed, rows)
    yield from _row_ids(transition, observed)
    yield from _written(transition, observed, written)


def _new_snapshots(transition: Transition) -> list[Any]:
    old = {snapshot.snapshot_id for snapshot in transition.before.snapshots}
    return [snapshot for snapshot in transition.after.snapshots if snapshot.snapshot_id not in old]


def _written(transition: Transition, observed: Observations, written: WrittenChecks) -> Iterator[str]:
    """Check that the validator finds no error in the written files, nor in the change from the table before."""
    before, after, files = transition.before, transition.after, transition.files
    new = []
    parents = {snapshot.snapshot_id: snapshot for snapshot in before.snapshots}
    for snapshot in _new_snapshots(transition):
        parent = parents.get(snapshot.parent_snapshot_id)
        try:
            holds = observed.snapshot(snapshot, files)
            held = None if parent is None else observed.snapshot(parent, files)
        except LookupError:  # found as a missing file
            return
        new.append((snapshot, holds, held))
    locations = transition.before_location, transition.location
    yield from (f"validator: {problem}" for problem in written.problems(before, after, locations, files, new))


def _rows(transition: Transition, observed: Observations, rows: RowModel) -> Iterator[str]:
    """Check that every branch and tag has the rows that the change implies."""
    before, after, change = transition.before, transition.after, transition.planned.change
    try:
        kept = {
            snapshot.snapshot_id: frozenset(rows.live(observed.snapshot(snapshot, transition.files), before))
            for snapshot in before.snapshots
        }
        for name, ref in after.references.items():
            has = rows.live(observed.snapshot(after.snapshot_by_id(ref.snapshot_id), transition.files), after)
            wanted = kept.get(ref.snapshot_id)
            if isinstance(change, SnapshotChange) and name == change.branch:
                wanted = _expected_rows(transition, observed, rows)
            if wanted is None or has.keys() == wanted:
                continue
            for row in sorted(has.keys() - wanted, key=str)[:1]:
                yield f"resurrected row: {name} has row {row.position} of {row.file}"
            for row in sorted(wanted - has.keys(), key=str)[:1]:
                yield f"lost row: {name} does not have row {row.position} of {row.file}"
    except (LookupError, SpecError):
        return  # found as a missing file or snapshot


def _deletes(transition: Transition, observed: Observations, rows: RowModel) -> Iterator[str]:
    """Check that rewrites lose no concurrent deletes, and that the rule of delete scope agrees with the model."""
    before, after, change = transition.before, transition.after, transition.planned.change
    try:
        for snapshot in _new_snapshots(transition):
            made = observed.snapshot(snapshot, transition.files)
            yield from (f"delete scope: {problem}" for problem in rows.problems(made, after))
            if isinstance(change, SnapshotChange) and change.keeps_rows:
                snapshot_before = observed.branch(before, change.branch, transition.files)
                snapshot_planned = observed.branch(transition.based_on, change.branch, transition.archive)
                yield from _lost_deletes(
                    after,
                    {} if snapshot_before is None else snapshot_before.live,
                    {} if snapshot_planned is None else snapshot_planned.live,
                    made,
                )
    except (LookupError, SpecError):
        return  # found as a missing file or snapshot


def _lost_deletes(table: TableMetadata, live_before: Live, live_planned: Live, made: ObservedSnapshot) -> Iterator[str]:
    """Yield deletes unknown to a rewrite that apply to a file that it replaces and to none that it adds.

    This check uses `may_apply`, as the commit did, because it tests the commit's validation; `_rows` tests the result.
    """
    types = column_types(table)

    def applies(delete: ObservedFile, file: ObservedFile) -> bool:
        specs = table.spec_by_id(delete.spec_id), table.spec_by_id(file.spec_id)
        return may_apply(
            delete.data_file, delete.sequence_number, specs[0], file.data_file, file.sequence_number, specs[1], types
        )

    replaced, new = (
        [many[key] for key in many.keys() - others.keys() if many[key].content is FileContent.DATA]
        for many, others in ((live_before, made.live), (made.live, live_before))
    )
    for key in live_before.keys() - live_planned.keys() if new else ():
        delete = live_before[key]
        if delete.content is FileContent.DATA or any(applies(delete, file) for file in new):
            continue
        for file in replaced:
            if applies(delete, file):
                yield f"lost delete: {delete.path} deletes rows of {file.path}, which was rewritten without it"


def _expected_rows(transition: Transition, observed: Observations, rows: RowModel) -> frozenset[Any]:
    """Return the rows that the branch of a change must have after it."""
    change: SnapshotChange = transition.planned.change  # type: ignore[assignment]
    before = transition.before
    head = before.references.get(change.branch) or before.references.get("main")
    located: Any = {}
    removed: list[str] = []
    if head is not None:
        held = observed.snapshot(before.snapshot_by_id(head.snapshot_id), transition.files)
        located = rows.live(held, before)
        removed = [one.path for one in held.live.values() if transition.planned.removes(one)]
    specs = {spec.spec_id: spec for spec in before.partition_specs}
    return after_change(change, located, removed, specs, transition.based_on.default_spec_id, rows.contents)


def _members(transition: Transition) -> Iterator[str]:
    """Check for lost updates: members that the change does not concern must be unchanged."""
    may = ALWAYS | transition.planned.changes
    for name in MEMBERS:
        before, after = getattr(transition.before, name), getattr(transition.after, name)
        if name not in may and before != after:
            yield f"lost update: {name} was {before!r:.200} and became {after!r:.200}"
    relies_on = transition.planned.relies_on
    if relies_on(transition.based_on) != relies_on(transition.before):
        yield f"isolation: a concurrent commit changed what {transition.planned.name} relies on"
    ids = {snapshot.snapshot_id for snapshot in transition.after.snapshots}
    for name, ref in transition.after.references.items():
        if ref.snapshot_id not in ids:
            yield f"missing snapshot: the reference {name} points to {ref.snapshot_id}"
    for one in transition.after.statistics:
        if one.snapshot_id not in ids:
            yield f"missing snapshot: the statistics {one.statistics_path} are for {one.snapshot_id}"
    problem = transition.planned.missing_effect(transition.before, transition.after)
    if problem:
        yield f"lost update: {problem}"


def _logs(transition: Transition) -> Iterator[str]:
    """Check for a linear history: each metadata file names the previous one, and time does not go back."""
    before, after = transition.before, transition.after
    if after.last_updated_ms < before.last_updated_ms:
        yield "linear history: last-updated-ms goes back"
    log = tuple(entry.metadata_file for entry in after.metadata_log)
    whole = (*(entry.metadata_file for entry in before.metadata_log), transition.before_location)
    if log != whole[-int(after.properties.get("write.metadata.previous-versions-max", "100")) :]:
        yield f"linear history: the metadata log does not lead to the previous file, {transition.before_location}"
    times = [entry.timestamp_ms for entry in after.snapshot_log]
    if times != sorted(times):
        yield "linear history: the snapshot log goes back"
    kept = {one.snapshot_id for one in after.snapshots}
    had = tuple(entry for entry in before.snapshot_log if entry.snapshot_id in kept)
    if len(kept) >= len(before.snapshots) and after.snapshot_log[: len(had)] != had:
        yield "linear history: the snapshot log does not continue the previous one"
    mains = {before.current_snapshot_id, after.current_snapshot_id, *(one.snapshot_id for one in before.snapshot_log)}
    if any(entry.snapshot_id not in mains for entry in after.snapshot_log):
        yield "linear history: the snapshot log has a snapshot that was never the current one"
    gone = {entry.snapshot_id for entry in after.snapshot_log} - {one.snapshot_id for one in after.snapshots}
    if gone:
        yield f"linear history: the snapshot log names snapshots that do not exist, such as {min(gone)}"
    if after.current_snapshot_id != before.current_snapshot_id and (
        not after.snapshot_log or after.snapshot_log[-1].snapshot_id != after.current_snapshot_id
    ):
        yield "linear history: the snapshot log does not have the new current snapshot"
    if after.current_snapshot_id is not None and after.references["main"].snapshot_id != after.current_snapshot_id:
        yield "linear history: main and the current snapshot differ"


def _whole(transition: Transition, observed: Observations) -> Iterator[str]:
    """Check that every listed file exists, and that lists are consistent."""
    for snapshot in transition.after.snapshots:
        try:
            found = observed.snapshot(snapshot, transition.files)
        except LookupError as error:
            yield f"missing file: {error.args[0]}, which snapshot {snapshot.snapshot_id} needs"
            continue
        for problem in found.problems:
            yield f"unsound list: {problem}"


def missing_files(metadata: TableMetadata, files: Mapping[str, Any], observed: Observations) -> Iterator[str]:
    """Yield the files that a table needs and that do not exist."""
    statistics = (
        *((one.statistics_path, one.snapshot_id) for one in metadata.statistics),
        *((one.statistics_path, one.snapshot_id) for one in metadata.partition_statistics),
    )
    for path, snapshot_id in statistics:
        if path not in files:
            yield f"missing file: {path}, the statistics of snapshot {snapshot_id}"
    for snapshot in metadata.snapshots:
        try:
            reachable = observed.snapshot(snapshot, files).reachable
        except LookupError as error:
            yield f"missing file: {error.args[0]}, which snapshot {snapshot.snapshot_id} needs"
            continue
        if not reachable <= files.keys():
            yield f"missing file: {min(reachable - files.keys())}, which snapshot {snapshot.snapshot_id} needs"


def _snapshot(transition: Transition, observed: Observations) -> Iterator[str]:
    change: SnapshotChange = transition.planned.change  # type: ignore[assignment]
    before, after, files = transition.before, transition.after, transition.files
    new = _new_snapshots(transition)
    if len(new) != 1 or len(after.snapshots) != len(before.snapshots) + 1:
        yield f"snapshots: {len(new)} were added to {len(before.snapshots)}, which became {len(after.snapshots)}"
        return
    snapshot = new[0]
    ref = before.references.get(change.branch) or before.references.get("main")
    if snapshot.parent_snapshot_id != (None if ref is None else ref.snapshot_id):
        yield "linear history: the parent is not the head of the branch"
    if after.references.get(change.branch, ref).snapshot_id != snapshot.snapshot_id:  # type: ignore[union-attr]
        yield "linear history: the branch does not lead to the snapshot"
    moved = before.references.get(change.branch)
    if moved is not None and evolve(moved, snapshot_id=snapshot.snapshot_id) != after.references.get(change.branch):
        yield f"linear history: {change.branch} does not point to the snapshot with its previous retention"
    others = {name: one for name, one in before.references.items() if name != change.branch}
    if others != {name: one for name, one in after.references.items() if name != change.branch}:
        yield "lost update: another reference was moved"
    yield from _numbers(transition, snapshot)
    if snapshot.schema_id != before.current_schema_id:
        yield f"schema: the snapshot has schema {snapshot.schema_id} instead of {before.current_schema_id}"
    if (snapshot.summary or {}).get("operation") != transition.planned.operation:
        yield f"operation: {transition.planned.name} is recorded as {(snapshot.summary or {}).get('operation')}"
    try:
        live_before = observed.snapshot(before.snapshot_by_id(ref.snapshot_id), files).live if ref else {}
        made = observed.snapshot(snapshot, files)
    except LookupError:
        return
    yield from _contents(transition, snapshot, live_before, made)
    yield from _isolation(transition, live_before, made, observed)
    yield from _summary(snapshot, live_before, made)


def _numbers(transition: Transition, snapshot: Any) -> Iterator[str]:
    """Check that sequence numbers are unique and increasing."""
    before, after = transition.before, transition.after
    expected = before.last_sequence_number + 1 if before.format_version > 1 else 0
    if (snapshot.sequence_number, after.last_sequence_number) != (expected, expected):
        yield (
            f"sequence number: {snapshot.sequence_number}, and {after.last_sequence_number} in the table, "
            f"instead of {expected}"
        )
    if snapshot.timestamp_ms < before.last_updated_ms:
        yield "linear history: the snapshot is older than the table"
    if before.next_row_id is None:
        return
    if snapshot.first_row_id != before.next_row_id:
        yield f"row ids: first-row-id is {snapshot.first_row_id} instead of {before.next_row_id}"
    if (snapshot.first_row_id or 0) + (snapshot.added_rows or 0) != after.next_row_id:
        yield f"row ids: next-row-id is {after.next_row_id}, and the snapshot has {snapshot.added_rows} rows"


def _contents(transition: Transition, snapshot: Any, live_before: Live, made: ObservedSnapshot) -> Iterator[str]:
    """Check for lost or resurrected files: the live files are the earlier ones, minus the removed, plus the added."""
    change: SnapshotChange = transition.planned.change  # type: ignore[assignment]
    gone = {key for key, one in live_before.items() if transition.planned.removes(one)}
    paths = {live_before[key].path for key in gone}
    gone |= {key for key, one in live_before.items() if one.is_vector and one.references in paths}
    added = {(new.data_file.file_path, new.data_file.content_offset): new for new in change.added}
    expected = (live_before.keys() - gone) | added.keys()
    for key in sorted(made.live.keys() - expected, key=str):
        yield f"resurrected file: {key[0]}"
    for key in sorted(expected - made.live.keys(), key=str):
        yield f"lost file: {key[0]}"
    if made.removed.keys() != gone:
        marked, right = (sorted(path for path, _ in keys) for keys in (made.removed.keys(), gone))
        yield f"removed files: the manifests mark {marked} as deleted instead of {right}"
    if set(change.removed) - {key[0] for key in gone}:
        yield "removed files: a removed file did not exist"
    for key, one in made.live.items():
        if key in added:
            planned = added[key].spec_id
            spec_id = transition.based_on.default_spec_id if planned is None else planned
            if one.spec_id != spec_id:
                yield f"partition spec: {one.path} has spec {one.spec_id} instead of {spec_id}"
            if dict(one.partition[1]) != dict(ObservedFile(key, added[key].data_file, 0, 0, 0, None, 0).partition[1]):
                yield f"partition: {one.path} is not in the partition for which it was written"
            number = added[key].data_sequence_number
            number = snapshot.sequence_number if number is None else number
            if (one.sequence_number, one.file_sequence_number) != (number, snapshot.sequence_number):
                yield f"sequence number: {one.path} has {one.sequence_number} and {one.file_sequence_number}"
        elif key in live_before:
            was = live_before[key]
            if (one.sequence_number, one.file_sequence_number) != (was.sequence_number, was.file_sequence_number):
                yield f"sequence number: {one.path} had {was.sequence_number} and has {one.sequence_number}"
            if was.first_row_id is not None and was.first_row_id != one.first_row_id:
                yield f"row ids: {one.path} began at {was.first_row_id} and begins at {one.first_row_id}"
            if one.added_by != was.added_by:
                yield f"linear history: {one.path} was added by {was.added_by} and has {one.added_by}"
            if one.spec_id != was.spec_id or one.partition != was.partition:
                yield f"partition: {one.path} was in {was.partition} and is in {one.partition}"
            elif one.data_file is not was.data_file and _comparable_metadata(one) != _comparable_metadata(was):
                yield f"file: the metadata of {one.path} changed"


def _isolation(
    transition: Transition, live_before: Live, made: ObservedSnapshot, observed: Observations
) -> Iterator[str]:
    """Yield concurrent changes with which the change should have conflicted."""
    change: SnapshotChange = transition.planned.change  # type: ignore[assignment]
    known = observed.branch(transition.based_on, change.branch, transition.archive)
    live_planned = {} if known is None else known.live
    data = {one.path for one in made.live.values() if one.content is FileContent.DATA}
    vectors = [one.references for one in made.live.values() if one.is_vector]
    if len(vectors) != len(set(vectors)):
        yield "isolation: a data file has two deletion vectors"
    for path in change.validation.files_exist:
        if path not in data:
            yield f"isolation: {path}, whose rows are deleted, does not exist"
    for key in live_before.keys() - live_planned.keys():
        one = live_before[key]
        replaced = transition.before.snapshot_by_id(one.added_by or 0).summary["operation"] == "replace"  # type: ignore[index]
        if one.content is FileContent.DATA:
            if change.validation.no_new_data and not replaced and transition.planned.concerns(one):
                yield f"isolation: {one.path} was added concurrently"
        elif change.validation.no_new_deletes and transition.planned.concerns(one):
            yield f"isolation: deletes {one.path} were added concurrently"


def _comparable_metadata(one: ObservedFile) -> Any:
    """Return a file's metadata without row ids, and without the partition, as NaN is not equal to itself."""
    return evolve(one.data_file, partition={}, first_row_id=None)


def _summary(snapshot: Any, live_before: Live, made: ObservedSnapshot) -> Iterator[str]:
    """Check the counts of the snapshot summary."""
    added = [one for key, one in made.live.items() if key not in live_before]
    removed = [live_before[key] for key in made.removed if key in live_before]
    counted = {
        **_counts(list(made.live.values()), "total", "total"),
        **_counts(added, "added", "added"),
        **_counts(removed, "deleted", "removed"),
    }
    for name, number in counted.items():
        value = snapshot.summary.get(name)
        if value != str(number) and (number or value is not None):
            yield f"summary: {name} is {value} instead of {number}"


def _counts(files: list[ObservedFile], data: str, other: str) -> dict[str, int]:
    """Return the expected counts of a summary by name; ``data`` and ``other`` are the first words of names."""
    data_files = [one for one in files if one.content is FileContent.DATA]
    position = [one for one in files if one.content is FileContent.POSITION_DELETES]
    equality = [one for one in files if one.content is FileContent.EQUALITY_DELETES]
    return {
        f"{data}-data-files": len(data_files),
        f"{other}-delete-files": len(position) + len(equality),
        f"{data}-records": sum(one.rows for one in data_files),
        f"{other}-files-size": sum(one.size for one in files),
        f"{other}-position-deletes": sum(one.rows for one in position),
        f"{other}-equality-deletes": sum(one.rows for one in equality),
    }


def _row_ids(transition: Transition, observed: Observations) -> Iterator[str]:
    """Check that ranges of row ids are disjoint on every branch, and that no id was assigned before."""
    before, after = transition.before, transition.after
    if after.next_row_id is None:
        if after.format_version > 2:
            yield "row ids: the table has no next-row-id"
        return
    if before.next_row_id is not None and after.next_row_id < before.next_row_id:
        yield f"row ids: next-row-id goes back from {before.next_row_id} to {after.next_row_id}"
    ranges: dict[tuple[int, int], str] = {}
    for snapshot in after.snapshots:
        if snapshot.first_row_id is None:
            continue
        try:
            found = observed.snapshot(snapshot, transition.files)
        except LookupError:
            continue
        for one in found.live.values():
            if one.content is not FileContent.DATA:
                continue
            if one.first_row_id is None:
                yield f"row ids: {one.path} has no row ids"
                continue
            end = one.first_row_id + one.rows
            if end > after.next_row_id:
                yield f"row ids: those of {one.path} are beyond next-row-id {after.next_row_id}"
            other = ranges.setdefault((one.first_row_id, end), one.path)
            if other != one.path:
                yield f"row ids: {one.path} and {other} have the same ones"
    ordered = sorted(ranges)
    for (_, end), (first, last) in pairwise(ordered):
        if first < end:
            yield f"row ids: those of {ranges[first, last]} overlap with others"

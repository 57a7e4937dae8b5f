"""What must hold of each commit, whatever the order of steps: each is a rule of its own, named in what it finds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

import attrs

from conformance.races.observed import Observations, ObservedFile, ObservedSnapshot
from conformance.races.operations import Planned
from spec_ref.commits.changes import SnapshotChange
from spec_ref.manifests.data_file import FileContent
from spec_ref.records import field_rules
from spec_ref.scan_planning.delete_scope import column_types, may_apply
from spec_ref.table_metadata.metadata import TableMetadata

MEMBERS = tuple(field_rules(TableMetadata))
ALWAYS = {"last_updated_ms", "metadata_log"}


@attrs.frozen
class Transition:
    """One commit: what the table was, and what it became."""

    planned: Planned
    based_on: TableMetadata
    """The table that the change was planned on."""

    before_location: str
    before: TableMetadata
    after: TableMetadata
    files: Mapping[str, Any]
    archive: Mapping[str, Any]
    """All files that ever were, those deleted since too."""


def check(transition: Transition, observed: Observations) -> Iterator[str]:
    """What is wrong with a commit.

    Args:
        transition: the commit.
        observed: what the table holds.
    """
    yield from _members(transition)
    yield from _logs(transition)
    yield from _whole(transition, observed)
    if isinstance(transition.planned.change, SnapshotChange):
        yield from _snapshot(transition, observed)
    yield from _row_ids(transition, observed)


def _members(transition: Transition) -> Iterator[str]:
    """No lost update: what the change is not about is as it was."""
    may = ALWAYS | transition.planned.changes
    for name in MEMBERS:
        before, after = getattr(transition.before, name), getattr(transition.after, name)
        if name not in may and before != after:
            yield f"lost update: {name} was {before!r:.200} and became {after!r:.200}"
    relies_on = transition.planned.relies_on
    if relies_on(transition.based_on) != relies_on(transition.before):
        yield f"isolation: what {transition.planned.name} relies on was changed by others"
    ids = {snapshot.snapshot_id for snapshot in transition.after.snapshots}
    for name, ref in transition.after.references.items():
        if ref.snapshot_id not in ids:
            yield f"missing snapshot: the reference {name} leads to {ref.snapshot_id}"
    for one in transition.after.statistics:
        if one.snapshot_id not in ids:
            yield f"missing snapshot: the statistics {one.statistics_path} are of {one.snapshot_id}"
    problem = transition.planned.missing(transition.before, transition.after)
    if problem:
        yield f"lost update: {problem}"


def _logs(transition: Transition) -> Iterator[str]:
    """Linear history: each metadata file names the one before, and time does not go back."""
    before, after = transition.before, transition.after
    if after.last_updated_ms < before.last_updated_ms:
        yield "linear history: last-updated-ms goes back"
    log = tuple(entry.metadata_file for entry in after.metadata_log)
    whole = (*(entry.metadata_file for entry in before.metadata_log), transition.before_location)
    if log != whole[-int(after.properties.get("write.metadata.previous-versions-max", "100")) :]:
        yield f"linear history: the metadata log does not lead to the file before, {transition.before_location}"
    times = [entry.timestamp_ms for entry in after.snapshot_log]
    if times != sorted(times):
        yield "linear history: the snapshot log goes back"
    gone = {entry.snapshot_id for entry in after.snapshot_log} - {one.snapshot_id for one in after.snapshots}
    if gone:
        yield f"linear history: the snapshot log names snapshots that are gone, {min(gone)} among them"
    if after.current_snapshot_id != before.current_snapshot_id and (
        not after.snapshot_log or after.snapshot_log[-1].snapshot_id != after.current_snapshot_id
    ):
        yield "linear history: the snapshot log does not have the new current snapshot"
    if after.current_snapshot_id is not None and after.references["main"].snapshot_id != after.current_snapshot_id:
        yield "linear history: main and the current snapshot differ"


def _whole(transition: Transition, observed: Observations) -> Iterator[str]:
    """Every listed file exists, and lists are sound in themselves."""
    for snapshot in transition.after.snapshots:
        try:
            found = observed.snapshot(snapshot, transition.files)
        except LookupError as error:
            yield f"missing file: {error.args[0]}, which snapshot {snapshot.snapshot_id} needs"
            continue
        for problem in found.problems:
            yield f"unsound list: {problem}"


def missing_files(metadata: TableMetadata, files: Mapping[str, Any], observed: Observations) -> Iterator[str]:
    """Files that a table needs and that are not there."""
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
    old = {snapshot.snapshot_id for snapshot in before.snapshots}
    new = [snapshot for snapshot in after.snapshots if snapshot.snapshot_id not in old]
    if len(new) != 1 or len(after.snapshots) != len(before.snapshots) + 1:
        yield f"snapshots: {len(new)} were added to {len(before.snapshots)}, which became {len(after.snapshots)}"
        return
    snapshot = new[0]
    ref = before.references.get(change.branch) or before.references.get("main")
    if snapshot.parent_snapshot_id != (None if ref is None else ref.snapshot_id):
        yield "linear history: the parent is not the head of the branch"
    if after.references.get(change.branch, ref).snapshot_id != snapshot.snapshot_id:  # type: ignore[union-attr]
        yield "linear history: the branch does not lead to the snapshot"
    others = {name: one for name, one in before.references.items() if name != change.branch}
    if others != {name: one for name, one in after.references.items() if name != change.branch}:
        yield "lost update: another reference was moved"
    yield from _numbers(transition, snapshot)
    try:
        had = observed.snapshot(before.snapshot_by_id(ref.snapshot_id), files).live if ref else {}
        made = observed.snapshot(snapshot, files)
    except LookupError:
        return
    yield from _contents(transition, snapshot, had, made)
    yield from _isolation(transition, had, made, observed)
    yield from _summary(snapshot, made)


def _numbers(transition: Transition, snapshot: Any) -> Iterator[str]:
    """Unique, growing sequence numbers."""
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


Live = Mapping[tuple[str, int | None], ObservedFile]


def _contents(transition: Transition, snapshot: Any, had: Live, made: ObservedSnapshot) -> Iterator[str]:
    """No lost and no resurrected file: what is live is what was, without what is removed, with what is added."""
    change: SnapshotChange = transition.planned.change  # type: ignore[assignment]
    gone = {key for key, one in had.items() if transition.planned.removes(one)}
    paths = {had[key].path for key in gone}
    gone |= {key for key, one in had.items() if one.is_vector and one.references in paths}
    added = {(new.data_file.file_path, new.data_file.content_offset): new for new in change.added}
    expected = (had.keys() - gone) | added.keys()
    for key in sorted(made.live.keys() - expected, key=str):
        yield f"resurrected file: {key[0]}"
    for key in sorted(expected - made.live.keys(), key=str):
        yield f"lost file: {key[0]}"
    if made.removed != gone:
        marked, right = (sorted(path for path, _ in keys) for keys in (made.removed, gone))
        yield f"removed files: the manifests mark {marked} as deleted instead of {right}"
    if set(change.removed) - {key[0] for key in gone}:
        yield "removed files: a file that is removed was not there"
    for key, one in made.live.items():
        if key in added:
            number = added[key].data_sequence_number
            number = snapshot.sequence_number if number is None else number
            if (one.sequence_number, one.file_sequence_number) != (number, snapshot.sequence_number):
                yield f"sequence number: {one.path} has {one.sequence_number} and {one.file_sequence_number}"
        elif key in had:
            was = had[key]
            if (one.sequence_number, one.file_sequence_number) != (was.sequence_number, was.file_sequence_number):
                yield f"sequence number: {one.path} had {was.sequence_number} and has {one.sequence_number}"
            if was.first_row_id is not None and was.first_row_id != one.first_row_id:
                yield f"row ids: {one.path} began at {was.first_row_id} and begins at {one.first_row_id}"
            if one.added_by != was.added_by:
                yield f"linear history: {one.path} was added by {was.added_by} and has {one.added_by}"


def _isolation(transition: Transition, had: Live, made: ObservedSnapshot, observed: Observations) -> Iterator[str]:
    """What the writer did not know of when it planned its change, and must not have passed over."""
    change: SnapshotChange = transition.planned.change  # type: ignore[assignment]
    known = observed.branch(transition.based_on, change.branch, transition.archive)
    knew = {} if known is None else known.live
    data = {one.path for one in made.live.values() if one.content is FileContent.DATA}
    vectors = [one.references for one in made.live.values() if one.is_vector]
    if len(vectors) != len(set(vectors)):
        yield "isolation: a data file has two deletion vectors"
    for path in change.validation.files_exist:
        if path not in data:
            yield f"isolation: {path}, whose rows are deleted, is not there"
    for key in had.keys() - knew.keys():
        one = had[key]
        replaced = transition.before.snapshot_by_id(one.added_by or 0).summary["operation"] == "replace"  # type: ignore[index]
        if one.content is FileContent.DATA:
            if change.validation.no_new_data and not replaced and transition.planned.concerns(one):
                yield f"isolation: {one.path} was added meanwhile"
        elif change.validation.no_new_deletes and transition.planned.concerns(one):
            yield f"isolation: deletes {one.path} were added meanwhile"
    if change.keeps_rows:
        for key in had.keys() - knew.keys():
            one = had[key]
            if one.content is FileContent.DATA:
                continue
            explicit = all(new.data_sequence_number is not None for new in change.added)
            for path in change.removed:
                if _applies(one, knew.get((path, None)), transition.after) and not (
                    explicit and one.content is FileContent.EQUALITY_DELETES
                ):
                    yield f"isolation: deletes {one.path} of the rewritten {path} are lost"


def _applies(delete: ObservedFile, data: ObservedFile | None, table: TableMetadata) -> bool:
    if data is None:
        return False
    return may_apply(
        delete.data_file, delete.sequence_number, table.spec_by_id(delete.spec_id), data.data_file,
        data.sequence_number, table.spec_by_id(data.spec_id), column_types(table),
    )  # fmt: skip


def _summary(snapshot: Any, made: ObservedSnapshot) -> Iterator[str]:
    """Totals are true."""
    live = list(made.live.values())
    data = [one for one in live if one.content is FileContent.DATA]
    deletes = [one for one in live if one.content is not FileContent.DATA]
    expected = {
        "total-data-files": len(data),
        "total-delete-files": len(deletes),
        "total-records": sum(one.rows for one in data),
        "total-files-size": sum(one.size for one in live),
        "total-position-deletes": sum(one.rows for one in deletes if one.content is FileContent.POSITION_DELETES),
        "total-equality-deletes": sum(one.rows for one in deletes if one.content is FileContent.EQUALITY_DELETES),
    }
    for name, number in expected.items():
        if snapshot.summary.get(name) != str(number):
            yield f"summary: {name} is {snapshot.summary.get(name)} instead of {number}"


def _row_ids(transition: Transition, observed: Observations) -> Iterator[str]:
    """Disjoint ranges of row ids, on every branch, and none that was given before."""
    before, after = transition.before, transition.after
    if after.next_row_id is None:
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
                yield f"row ids: {one.path} has none"
                continue
            end = one.first_row_id + one.rows
            if end > after.next_row_id:
                yield f"row ids: those of {one.path} are beyond next-row-id {after.next_row_id}"
            other = ranges.setdefault((one.first_row_id, end), one.path)
            if other != one.path:
                yield f"row ids: {one.path} and {other} have the same"
    ordered = sorted(ranges)
    for (_, end), (first, last) in pairwise(ordered):
        if first < end:
            yield f"row ids: those of {ranges[first, last]} overlap with others"

"""Faults planted in the commit protocol, one at a time: each is a mistake that some writer has made or could make.

A fault is a function that changes the protocol through pytest's ``monkeypatch``, and the smallest race that shows it:
the format version, the changes of the writers, and the faults of stores and networks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs
from planted_table_faults import TABLE_FAULTS
from planting import Plant, Planted

from conformance.races import readers, state, writers
from conformance.races.state import CommittedMetadata, Fault
from spec_ref.commits import (
    commit,
    conflicts,
    expired_files,
    file_removal,
    manifests,
    metadata_changes,
    snapshots,
    summaries,
    tables,
)
from spec_ref.commits.changes import ExpireSnapshots
from spec_ref.commits.commit import Base
from spec_ref.commits.effects import DeleteFile, ReadFile, ReadPointer, SwapPointer, SwapResult, WriteFile
from spec_ref.commits.payloads import FileKind
from spec_ref.commits.tables import FileSystemTable, MetastoreTable
from spec_ref.core.records import evolve
from spec_ref.core.versions import FormatVersion
from spec_ref.manifests.entry import EntryStatus

commit_module = __import__("spec_ref.commits.commit", fromlist=["commit"])
expired_module = __import__("spec_ref.commits.expired_files", fromlist=["expired_files"])
del commit, expired_files


def _no_steps(*_: Any, **__: Any) -> Any:
    return None
    yield


# Another table


def uuid_not_compared(patch: Any) -> None:
    patch.setattr(commit_module, "check_same_table", lambda *_: None)


# The swap


def no_check_on_swap(patch: Any) -> None:
    def swap(self: Any, writer: int, expected: Any, new: str) -> Any:
        placed = CommittedMetadata(new, new, writer)
        return attrs.evolve(self, history=(*self.history, placed)), SwapResult.DONE

    patch.setattr(state.SharedState, "swap", swap)


def rename_overwrites(patch: Any) -> None:
    def swap(self: Any, writer: int, expected: Any, new: str) -> Any:
        target = tables.next_version(expected, new)
        files = dict(self.files)
        files[target] = files.pop(new)
        return attrs.evolve(
            self, history=(*self.history, CommittedMetadata(target, new, writer)), files=files
        ), SwapResult.DONE

    patch.setattr(state.SharedState, "swap", swap)


def _swap_once(verdict: dict[SwapResult, Any]) -> Plant:
    def plant(patch: Any) -> None:
        def swap(work: Any, attempt: Any, policy: Any) -> Any:
            expected = None if attempt.base is None else attempt.base.location
            return verdict[(yield SwapPointer(expected, attempt.location))]

        patch.setattr(commit_module, "_swap", swap)

    return plant


def only_the_pointer_is_read(patch: Any) -> None:
    def is_committed(self: Any, expected: Any, new: str, metadata: Any) -> Any:
        return (yield ReadPointer()) == new

    patch.setattr(MetastoreTable, "is_committed", is_committed)


def any_next_version_is_mine(patch: Any) -> None:
    def is_committed(self: Any, expected: Any, new: str, metadata: Any) -> Any:
        return True if (yield ReadFile(tables.next_version(expected, new), FileKind.METADATA)) else None

    patch.setattr(FileSystemTable, "is_committed", is_committed)


def the_same_metadata_is_mine(patch: Any) -> None:
    def is_committed(self: Any, expected: Any, new: str, metadata: Any) -> Any:
        read = yield ReadFile(tables.next_version(expected, new), FileKind.METADATA)
        return None if read is None else read == metadata

    patch.setattr(FileSystemTable, "is_committed", is_committed)


def an_old_pointer_is_proof(patch: Any) -> None:
    def is_committed(self: Any, expected: Any, new: str, metadata: Any) -> Any:
        now = yield ReadPointer()
        read = yield ReadFile(now, FileKind.METADATA)
        return now == new or new in {entry.metadata_file for entry in read.metadata_log}

    patch.setattr(MetastoreTable, "is_committed", is_committed)


def reread_then_swap(patch: Any) -> None:
    def swap(work: Any, attempt: Any, policy: Any) -> Any:
        expected = yield ReadPointer()
        answer = yield SwapPointer(expected, attempt.location)
        return answer is SwapResult.DONE

    patch.setattr(commit_module, "_swap", swap)


# Retries


def _next_snapshot(change: Callable[[Any, Any, Any], Any]) -> Plant:
    """Patch what a snapshot is made from: ``change`` gets what the commit keeps, the planned and the current table."""

    def plant(patch: Any) -> None:
        original = snapshots.next_snapshot

        def next_snapshot(wanted: Any, planned: Any, current: Any, files: Any, made: Any, *rest: Any) -> Any:
            return (yield from original(wanted, planned, change(made, planned, current), files, made, *rest))

        patch.setattr(snapshots, "next_snapshot", next_snapshot)

    return plant


sequence_number_kept = _next_snapshot(
    lambda made, planned, current: evolve(current, last_sequence_number=planned.last_sequence_number)
)
row_ids_kept = _next_snapshot(lambda made, planned, current: evolve(current, next_row_id=planned.next_row_id))
schemas_of_the_plan = _next_snapshot(
    lambda made, planned, current: evolve(
        current,
        schemas=planned.schemas,
        current_schema_id=planned.current_schema_id,
        last_column_id=planned.last_column_id,
    )
)
references_of_the_plan = _next_snapshot(
    lambda made, planned, current: evolve(current, refs={**current.refs, **planned.refs})
)


def no_retry_on_new_base(patch: Any) -> None:
    """The snapshot is made from the table that was planned on, and swapped in over the one that is there."""
    original = snapshots.next_snapshot

    def next_snapshot(wanted: Any, planned: Any, current: Any, *rest: Any) -> Any:
        return (yield from original(wanted, planned, planned, *rest))

    patch.setattr(snapshots, "next_snapshot", next_snapshot)


def manifest_list_reused(patch: Any) -> None:
    original = snapshots.next_snapshot

    def next_snapshot(wanted: Any, planned: Any, current: Any, files: Any, made: Any, *rest: Any) -> Any:
        first = getattr(made, "first", None)
        if first is None:
            made.first = first = yield from original(wanted, planned, current, files, made, *rest)
            return first
        metadata = snapshots.add_snapshot(current, first.snapshot, wanted.branch)
        metadata = evolve(metadata, last_sequence_number=first.snapshot.sequence_number)
        return snapshots.NextSnapshot(metadata, first.snapshot, first.manifests)

    patch.setattr(snapshots, "next_snapshot", next_snapshot)
    original_delete = commit_module._delete
    patch.setattr(
        commit_module, "_delete", lambda paths: original_delete([path for path in paths if "snap-" not in path])
    )


def manifests_deleted_between_attempts(patch: Any) -> None:
    original = commit_module._swap

    def swap(work: Any, attempt: Any, policy: Any) -> Any:
        done = yield from original(work, attempt, policy)
        if done is False:
            for path in work.manifests.paths:
                yield DeleteFile(path)
        return done

    patch.setattr(commit_module, "_swap", swap)


def parent_of_the_plan(patch: Any) -> None:
    original = snapshots.branch_head
    seen: dict[str, Any] = {}

    def head(metadata: Any, branch: str) -> Any:
        return seen.setdefault(branch, original(metadata, branch))

    patch.setattr(snapshots, "branch_head", head)


def manifest_key_without_source(patch: Any) -> None:
    original = manifests.CommitManifests.write

    def write(self: Any, key: Any, *rest: Any) -> Any:
        return original(self, key[0] if key[0] == "edited" else key, *rest)

    patch.setattr(manifests.CommitManifests, "write", write)


def merged_manifest_kept(patch: Any) -> None:
    original = manifests.CommitManifests.write

    def write(self: Any, key: Any, *rest: Any) -> Any:
        return original(self, key[0] if key[0] == "merged" else key, *rest)

    patch.setattr(manifests.CommitManifests, "write", write)


def manifest_of_v1_kept(patch: Any) -> None:
    patch.setattr(manifests, "SEQUENCE_NUMBERS", evolve(manifests.SEQUENCE_NUMBERS, since=FormatVersion.V1))


def files_that_expired_meanwhile_fail_a_commit(patch: Any) -> None:
    patch.setattr(commit_module, "_attempt", commit_module._prepare)


# Conflicts


def removed_files_not_verified(patch: Any) -> None:
    patch.setattr(file_removal, "_check_all_found", lambda *_: None)


def new_deletes_not_verified(patch: Any) -> None:
    patch.setattr(conflicts, "check_new_deletes", _no_steps)


def _without_validation(**changes: Any) -> Plant:
    def plant(patch: Any) -> None:
        original = conflicts.validate_change

        def validate(change: Any, *rest: Any) -> Any:
            return original(evolve(change, validation=evolve(change.validation, **changes)), *rest)

        patch.setattr(conflicts, "validate_change", validate)

    return plant


def vectors_not_verified(patch: Any) -> None:
    patch.setattr(conflicts, "_check_vectors", _no_steps)


def schema_not_verified(patch: Any) -> None:
    patch.setattr(metadata_changes, "_check_unchanged", lambda *_: None)


def reference_not_verified(patch: Any) -> None:
    original = metadata_changes._reference
    patch.setitem(
        metadata_changes.APPLY,
        metadata_changes.SetReference,
        lambda change, planned, current, now: original(change, current, current, now),
    )


def snapshot_of_statistics_not_verified(patch: Any) -> None:
    patch.setattr(metadata_changes, "_has_snapshot", lambda *_: None)


def properties_of_the_plan(patch: Any) -> None:
    patch.setitem(
        metadata_changes.APPLY,
        metadata_changes.SetProperties,
        lambda change, planned, current, now: metadata_changes._properties(
            change, planned, evolve(current, properties=planned.properties), now
        ),
    )


def expiry_of_the_plan(patch: Any) -> None:
    def apply(change: Any, planned: Any, current: Any, now: int) -> Any:
        expired = metadata_changes.expire_snapshots(planned, change.now_ms)
        return evolve(
            current,
            snapshots=expired.snapshots,
            refs=expired.refs,
            snapshot_log=expired.snapshot_log,
            current_snapshot_id=expired.current_snapshot_id,
        )

    patch.setitem(metadata_changes.APPLY, ExpireSnapshots, apply)


# Numbers, summaries and logs


def numbers_not_persisted(patch: Any) -> None:
    original = manifests.CommitManifests.write

    def write(self: Any, key: Any, entries: Any, *rest: Any) -> Any:
        forgotten = [
            evolve(entry, sequence_number=None, file_sequence_number=None, status=EntryStatus.ADDED)
            if entry.status is EntryStatus.EXISTING
            else entry
            for entry in entries
        ]
        return original(self, key, forgotten, *rest)

    patch.setattr(manifests.CommitManifests, "write", write)


def row_ids_not_persisted(patch: Any) -> None:
    original = manifests.CommitManifests.write

    def write(self: Any, key: Any, entries: Any, *rest: Any) -> Any:
        forgotten = [evolve(entry, data_file=evolve(entry.data_file, first_row_id=None)) for entry in entries]
        return original(self, key, forgotten, *rest)

    patch.setattr(manifests.CommitManifests, "write", write)


def number_written_into_the_manifest(patch: Any) -> None:
    original = manifests.CommitManifests.write

    def write(
        self: Any, key: Any, entries: Any, spec: Any, content: Any, metadata: Any, number: int, *rest: Any
    ) -> Any:
        numbered = (
            evolve(entry, sequence_number=number)
            if entry.status is EntryStatus.ADDED and entry.sequence_number is None
            else entry
            for entry in entries
        )
        return original(self, key, numbered, spec, content, metadata, number, *rest)

    patch.setattr(manifests.CommitManifests, "write", write)


def row_ids_of_main_alone(patch: Any) -> None:
    original = snapshots.next_snapshot

    def next_snapshot(wanted: Any, planned: Any, current: Any, *rest: Any) -> Any:
        made = yield from original(wanted, planned, current, *rest)
        if wanted.branch == "main":
            return made
        return attrs.evolve(made, metadata=evolve(made.metadata, next_row_id=current.next_row_id))

    patch.setattr(snapshots, "next_snapshot", next_snapshot)


def row_ids_of_delete_manifests_shift(patch: Any) -> None:
    original = snapshots.assign_first_row_ids

    def assign(listed: Any, first: int) -> Any:
        made, after = original(listed, first)
        return made, after - sum(one.added_rows_count or 0 for one in made[:1])

    patch.setattr(snapshots, "assign_first_row_ids", assign)


def totals_of_this_commit_alone(patch: Any) -> None:
    original = summaries.build_summary
    patch.setattr(
        summaries, "build_summary", lambda op, added, removed, _, further: original(op, added, removed, {}, further)
    )


def totals_kept_on_retry(patch: Any) -> None:
    original = snapshots.next_snapshot

    def next_snapshot(wanted: Any, planned: Any, current: Any, files: Any, made: Any, *rest: Any) -> Any:
        result = yield from original(wanted, planned, current, files, made, *rest)
        made.summary = getattr(made, "summary", result.snapshot.summary)
        snapshot = evolve(result.snapshot, summary=made.summary)
        others = result.metadata.snapshots[:-1]
        metadata = evolve(result.metadata, snapshots=(*others, snapshot))
        return snapshots.NextSnapshot(metadata, snapshot, result.manifests)

    patch.setattr(snapshots, "next_snapshot", next_snapshot)


def log_not_continued(patch: Any) -> None:
    original = commit_module.append_metadata_log
    first: list[Any] = []

    def with_log(metadata: Any, current: Any, now: int) -> Any:
        first.append(current)
        return original(metadata, Base(first[0].location, current.metadata), now)

    patch.setattr(commit_module, "append_metadata_log", with_log)


def clock_of_the_writer(patch: Any) -> None:
    patch.setattr(commit_module, "commit_time", lambda _, clock_ms: clock_ms)


def rollback_by_the_clock_of_the_writer(patch: Any) -> None:
    original = metadata_changes.with_reference
    patch.setattr(
        metadata_changes, "with_reference", lambda metadata, name, ref, now: original(metadata, name, ref, now // 10)
    )


def branch_moves_main(patch: Any) -> None:
    original = snapshots.add_snapshot
    patch.setattr(snapshots, "add_snapshot", lambda metadata, snapshot, _: original(metadata, snapshot, "main"))


def snapshot_ids_collide(patch: Any) -> None:
    original = writers.NondeterministicValues.draw

    def draw(self: Any, what: Any, drawn: int) -> Any:
        return 77 + drawn if what.value == "snapshot-id" else original(self, what, drawn)

    patch.setattr(writers.NondeterministicValues, "draw", draw)
    patch.setattr(commit_module, "_own_snapshot_id", _no_steps)


# Cleaning up


def committed_files_cleaned_up(patch: Any) -> None:
    def clean_up(work: Any, attempt: Any) -> Any:
        for path in work.manifests.paths:
            yield DeleteFile(path)

    patch.setattr(commit_module, "_clean_up", clean_up)


def kept_files_expired(patch: Any) -> None:
    def expired(before: Any, after: Any, files: Any) -> Any:
        kept = {snapshot.snapshot_id for snapshot in after.snapshots}
        gone = tuple(one for one in before.snapshots if one.snapshot_id not in kept)
        return tuple((yield from expired_module._manifests(gone, files)))

    patch.setattr(commit_module, "expired_files", expired)


def expired_before_the_swap(patch: Any) -> None:
    original = commit_module._swap

    def swap(work: Any, attempt: Any, policy: Any) -> Any:
        if isinstance(work.change, ExpireSnapshots):
            for path in (yield from commit_module.expired_files(attempt.base.metadata, attempt.metadata, work.files)):
                yield DeleteFile(path)
        return (yield from original(work, attempt, policy))

    patch.setattr(commit_module, "_swap", swap)


def files_written_in_place(patch: Any) -> None:
    original = commit_module._prepare

    def prepare(work: Any, base: Any, current: Any, number: int) -> Any:
        attempt = yield from original(work, base, current, number)
        yield WriteFile(current.location, attempt.metadata)
        return attempt

    patch.setattr(commit_module, "_prepare", prepare)


def unknown_is_cleaned_up(patch: Any) -> None:
    original = commit_module._swap

    def swap(work: Any, attempt: Any, policy: Any) -> Any:
        expected = None if attempt.base is None else attempt.base.location
        answer = yield SwapPointer(expected, attempt.location)
        if answer is SwapResult.UNKNOWN:
            for path in (*attempt.files, *work.manifests.paths):
                yield DeleteFile(path)
            return None
        return True if answer is SwapResult.DONE else (yield from original(work, attempt, policy))

    patch.setattr(commit_module, "_swap", swap)


APPENDS = ("fast-append", "fast-append")
FS = FileSystemTable()

PLANTED = (
    Planted(name="no check on swap", plant=no_check_on_swap, changes=APPENDS, says="linear history"),
    Planted(name="rename overwrites", plant=rename_overwrites, changes=APPENDS, says="linear history", table=FS),
    Planted(
        name="unknown is failure",
        changes=APPENDS,
        faults=(Fault.LOST_REPLY,),
        says="missing file",
        plant=_swap_once({SwapResult.DONE: True, SwapResult.REFUSED: False, SwapResult.UNKNOWN: False}),
    ),
    Planted(
        name="unknown is success",
        changes=APPENDS,
        faults=(Fault.LOST_REQUEST,),
        says="lost update",
        plant=_swap_once({SwapResult.DONE: True, SwapResult.REFUSED: False, SwapResult.UNKNOWN: True}),
    ),
    Planted(
        name="refused is failure",
        changes=APPENDS,
        faults=(Fault.DUPLICATE,),
        says="missing file",
        plant=_swap_once({SwapResult.DONE: True, SwapResult.REFUSED: False, SwapResult.UNKNOWN: None}),
    ),
    Planted(
        name="refused is success",
        changes=APPENDS,
        says="lost update",
        plant=_swap_once({SwapResult.DONE: True, SwapResult.REFUSED: True, SwapResult.UNKNOWN: True}),
    ),
    Planted(
        name="only the pointer is read",
        plant=only_the_pointer_is_read,
        changes=APPENDS,
        faults=(Fault.LOST_REPLY,),
        says="missing file",
    ),
    Planted(
        name="an old pointer is proof",
        plant=an_old_pointer_is_proof,
        changes=APPENDS,
        faults=(Fault.LOST_REPLY, Fault.STALE),
        max_faults=2,
        says="missing file",
    ),
    Planted(
        name="any next version is mine", plant=any_next_version_is_mine, changes=APPENDS, table=FS, says="lost update"
    ),
    Planted(
        name="the same metadata is mine",
        plant=the_same_metadata_is_mine,
        changes=("append", "expire", "expire"),
        table=FS,
        says="lost update",
    ),
    Planted(
        name="a reader finds no snapshot",
        plant=lambda patch: patch.setattr(readers, "branch_head", lambda *_: None),
        changes=("append", "read"),
        says="a reader saw no snapshot of a table that has one",
    ),
    Planted(
        name="the pointer is read again for the swap", plant=reread_then_swap, changes=APPENDS, says="linear history"
    ),
    Planted(name="sequence number kept on retry", plant=sequence_number_kept, changes=APPENDS, says="sequence number"),
    Planted(name="row ids kept on retry", plant=row_ids_kept, changes=APPENDS, version=3, says="row ids"),
    Planted(
        name="schemas of the plan", plant=schemas_of_the_plan, changes=("fast-append", "schema"), says="lost update"
    ),
    Planted(
        name="references of the plan",
        plant=references_of_the_plan,
        changes=("fast-append", "append-to-branch"),
        says="linear history",
    ),
    Planted(name="no retry on the new base", plant=no_retry_on_new_base, changes=APPENDS, says="snapshots"),
    Planted(name="manifest list reused", plant=manifest_list_reused, changes=APPENDS, says="linear history"),
    Planted(
        name="manifests deleted between attempts",
        plant=manifests_deleted_between_attempts,
        changes=APPENDS,
        says="missing file",
    ),
    Planted(name="parent of the plan", plant=parent_of_the_plan, changes=APPENDS, says="linear history"),
    Planted(
        name="edited manifest kept whatever it was made of",
        plant=manifest_key_without_source,
        changes=("delete-file", "overwrite-serializable"),
        says="resurrected file",
    ),
    Planted(name="merged manifest kept", plant=merged_manifest_kept, changes=("append", "append"), says="lost file"),
    Planted(
        name="manifest of v1 kept after the upgrade",
        plant=manifest_of_v1_kept,
        version=1,
        changes=("fast-append", "upgrade"),
        says="unsound list",
    ),
    Planted(
        name="removed files not verified",
        plant=removed_files_not_verified,
        changes=("delete-file", "rewrite"),
        says="removed files",
    ),
    Planted(
        name="new deletes not verified",
        plant=new_deletes_not_verified,
        changes=("rewrite", "equality-delete"),
        says="resurrected row",
    ),
    Planted(
        name="new data not verified",
        plant=_without_validation(no_new_data=False),
        says="isolation",
        changes=("overwrite-serializable", "fast-append"),
    ),
    Planted(
        name="new deletes not validated",
        plant=_without_validation(no_new_deletes=False),
        says="isolation",
        changes=("overwrite-serializable", "equality-delete"),
    ),
    Planted(
        name="files of deletes not verified",
        says="isolation",
        changes=("position-delete", "rewrite"),
        plant=_without_validation(files_exist=(), no_new_deletes=False),
    ),
    Planted(
        name="vectors not verified",
        version=3,
        changes=("position-delete", "position-delete"),
        says="isolation",
        plant=lambda patch: (vectors_not_verified(patch), _without_validation(no_new_deletes=False)(patch)),
    ),
    Planted(name="schema not verified", plant=schema_not_verified, changes=("schema", "schema"), says="isolation"),
    Planted(
        name="schema not verified by a spec", plant=schema_not_verified, changes=("spec", "schema"), says="isolation"
    ),
    Planted(
        name="reference not verified",
        plant=reference_not_verified,
        changes=("rollback", "fast-append"),
        says="isolation",
    ),
    Planted(
        name="snapshot of statistics not verified",
        plant=snapshot_of_statistics_not_verified,
        says="missing snapshot",
        changes=("statistics", "drop-branch", "expire"),
    ),
    Planted(
        name="properties of the plan",
        plant=properties_of_the_plan,
        changes=("properties", "properties"),
        says="lost update",
    ),
    Planted(name="expiry of the plan", plant=expiry_of_the_plan, changes=("expire", "fast-append"), says="lost update"),
    Planted(
        name="sequence numbers not persisted",
        plant=numbers_not_persisted,
        changes=("delete-file", "properties"),
        says="unsound list",
    ),
    Planted(
        name="row ids not persisted",
        plant=row_ids_not_persisted,
        changes=("delete-file", "properties"),
        version=3,
        says="row ids",
    ),
    Planted(
        name="sequence number written into the manifest",
        plant=number_written_into_the_manifest,
        changes=APPENDS,
        says="sequence number",
    ),
    Planted(
        name="row ids of main alone",
        plant=row_ids_of_main_alone,
        version=3,
        changes=("append-to-branch", "fast-append"),
        says="row ids",
    ),
    Planted(
        name="next row id too low", plant=row_ids_of_delete_manifests_shift, version=3, changes=APPENDS, says="row ids"
    ),
    Planted(name="totals of one commit", plant=totals_of_this_commit_alone, changes=APPENDS, says="summary"),
    Planted(name="totals kept on retry", plant=totals_kept_on_retry, changes=APPENDS, says="summary"),
    Planted(name="metadata log not continued", plant=log_not_continued, changes=APPENDS, says="linear history"),
    Planted(name="clock of the writer", plant=clock_of_the_writer, changes=APPENDS, says="linear history"),
    Planted(
        name="a rollback by the clock of the writer",
        plant=rollback_by_the_clock_of_the_writer,
        changes=("properties", "rollback"),
        says="linear history",
    ),
    Planted(
        name="a branch moves main",
        plant=branch_moves_main,
        changes=("append-to-branch", "properties"),
        says="linear history",
    ),
    Planted(
        name="a commit to the table that replaced the planned one",
        plant=uuid_not_compared,
        fixture="replaced",
        changes=("append", "replace-table"),
        says="another table",
    ),
    Planted(name="snapshot ids collide", plant=snapshot_ids_collide, changes=APPENDS, says="unsound list"),
    Planted(
        name="files that expired meanwhile fail a commit",
        plant=files_that_expired_meanwhile_fail_a_commit,
        changes=("expire", "equality-delete", "equality-delete"),
        says="refused",
    ),
    Planted(
        name="clean-up of a committed file", plant=committed_files_cleaned_up, changes=APPENDS, says="missing file"
    ),
    Planted(
        name="clean-up of what is not known to have failed",
        plant=unknown_is_cleaned_up,
        changes=APPENDS,
        faults=(Fault.LOST_REPLY,),
        says="missing file",
    ),
    Planted(
        name="expiry deletes what others need",
        plant=kept_files_expired,
        changes=("drop-branch", "expire"),
        says="missing file",
    ),
    Planted(
        name="expiry deletes before it is committed",
        plant=expired_before_the_swap,
        changes=("drop-branch", "expire", "tag"),
        says="missing file",
    ),
    Planted(
        name="metadata written in place", plant=files_written_in_place, changes=APPENDS, says="a file is written twice"
    ),
    *TABLE_FAULTS,
)

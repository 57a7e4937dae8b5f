"""Committing a change: attempts, retries, cleanup (Optimistic Concurrency; Commit Conflict Resolution and Retry).

Each attempt starts from the current state of the table (OCC003), checks what the change relies on, writes its files,
and swaps the pointer. A file is deleted only if it is known that the table does not use it: an attempt is over when
another commit has replaced its base, and not when an answer is missing.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

from spec_ref.commits import metadata_changes, snapshots
from spec_ref.commits.changes import Change, CreateTable, ExpireSnapshots, SnapshotChange
from spec_ref.commits.effects import (
    DeleteFile,
    NonDeterministic,
    ReadFile,
    ReadPointer,
    Steps,
    SwapPointer,
    SwapResult,
    Wait,
    WriteFile,
)
from spec_ref.commits.errors import CommitConflict, CommitFailed, CommitStateUnknown, MissingFile, commit_conflict
from spec_ref.commits.expired_files import expired_files
from spec_ref.commits.manifests import CommitManifests
from spec_ref.commits.payloads import FileKind
from spec_ref.commits.reading import MetadataFileCache
from spec_ref.commits.retries import RetryPolicy, read_retry_policy
from spec_ref.commits.tables import TableKind
from spec_ref.core.errors import spec_error
from spec_ref.core.records import evolve, record
from spec_ref.snapshots.snapshot import Snapshot
from spec_ref.table_metadata.logs import MetadataLogEntry, append_metadata_log_entry
from spec_ref.table_metadata.metadata import TableMetadata

__all__ = ["Base", "CommitConflict", "CommitFailed", "CommitResult", "CommitStateUnknown", "commit", "load"]

KEEP_METADATA = "write.metadata.previous-versions-max"
DELETE_METADATA = "write.metadata.delete-after-commit.enabled"
DEFAULT_KEEP_METADATA = 100


@record
class Base:
    """The state of a table that a writer has read."""

    location: str
    """The location of the metadata file."""

    metadata: TableMetadata


@record
class CommitResult:
    """The result of a commit."""

    base: Base | None
    """The table that the change was applied to; None for a new table."""

    metadata: TableMetadata
    """The table with the change."""

    written_location: str
    """The location of the metadata file as it was written; in a file-system table the swap renamed it."""

    snapshot: Snapshot | None
    """The snapshot that the change created; None if it created none."""

    attempts: int


def load(retries: int = 0, expected: TableMetadata | None = None) -> Steps[Base | None]:
    """Read the current metadata of a table.

    Args:
        retries: how often the pointer is read again if it points to a file that does not exist.
        expected: the table as it was read before, to detect that another table replaced it; None to accept any.

    Returns:
        The table; None if there is no table.

    Yields:
        The effects to perform; their answers are sent back.

    Raises:
        CommitConflict: TMD035 if another table replaced the expected one.
        SpecError: OCC002 if the metadata file does not exist; the codes of `read_metadata`.
    """
    for _ in range(retries + 1):
        location = yield ReadPointer()
        if location is None:
            return None
        metadata = yield ReadFile(location, FileKind.METADATA)
        if metadata is not None:
            if expected is not None:
                check_same_table(expected, metadata)
            return Base(location, metadata)
    raise spec_error("OCC002", "the current metadata file does not exist", found=location)


def check_same_table(expected: TableMetadata, found: TableMetadata) -> None:
    """Check that a table that was read again is the one that was read before (TMD035).

    A table of v1 may have no UUID, and get one later.

    Args:
        expected: the table as it was read before.
        found: the table as it was read now.

    Raises:
        CommitConflict: TMD035 if the UUIDs differ, because the table was replaced by another one.
    """
    if expected.table_uuid is not None and (found.table_uuid or "").lower() != expected.table_uuid.lower():
        raise commit_conflict(
            "TMD035", "the table was replaced by another table", found=found.table_uuid, expected=expected.table_uuid
        )


@record
class _Attempt:
    """The files and the result of one attempt."""

    base: Base | None
    metadata: TableMetadata
    location: str
    snapshot: Snapshot | None = None
    used: frozenset[str] = frozenset()
    """The manifests of its snapshot."""

    files: tuple[str, ...] = ()
    """The files that only this attempt wrote: its metadata file, and its manifest list."""


class _Work:
    """The state that a commit keeps over its attempts."""

    def __init__(self, change: Change, table: TableKind, name: str, snapshot_id: int) -> None:
        self.change = change
        self.table = table
        self.name = name
        self.files = MetadataFileCache()
        self.manifests = CommitManifests(name, snapshot_id)


def commit(
    change: Change, table: TableKind, *, base: Base | None = None, policy: RetryPolicy | None = None
) -> Steps[CommitResult]:
    """Commit a change.

    Args:
        change: the change.
        table: the kind of the table.
        base: the table that the change was planned on; the state at the first attempt by default.
        policy: how often to retry; the policy of the table's properties by default.

    Returns:
        The result of the commit.

    Yields:
        The effects to perform; their answers are sent back.

    Raises:
        CommitConflict: the code of a check that the change relies on and that no longer holds, or TMD035 if another
            table replaced the one that the change was planned on. Nothing was changed.
        SpecError: the code of a rule that the change breaks, or of a file that cannot be read. Nothing was changed.
        CommitFailed: if every attempt lost the race. Nothing was changed.
        CommitStateUnknown: if it is unknown whether the change was committed.
    """
    name = yield NonDeterministic.NAME
    snapshot_id = yield NonDeterministic.SNAPSHOT_ID
    work = _Work(change, table, name, snapshot_id)
    started = yield NonDeterministic.NOW
    number = 0
    while True:
        current = yield from load(1)
        base = base or current
        if policy is None:
            policy = read_retry_policy({} if current is None else current.metadata.properties)
        try:
            attempt = yield from _attempt(work, base, current, number)
        except Exception:
            # This attempt failed before its swap, and the attempts before it are over.
            yield from _delete(work.manifests.paths)
            raise
        number += 1
        if attempt is not None:
            done = yield from _swap(work, attempt, policy)
            if done is None:
                message = "it is unknown whether the change was committed"
                raise CommitStateUnknown(message)
            if done:
                yield from _clean_up(work, attempt)
                return CommitResult(current, attempt.metadata, attempt.location, attempt.snapshot, number)
            yield from _delete(attempt.files)
        now = yield NonDeterministic.NOW
        if number > policy.num_retries or now - started > policy.total_timeout_ms:
            yield from _delete(work.manifests.paths)
            message = f"the commit race was lost in each of {number} attempts"
            raise CommitFailed(message)
        yield Wait(policy.wait_ms(number - 1))


def _attempt(work: _Work, base: Base | None, current: Base | None, number: int) -> Steps[_Attempt | None]:
    """Write all files of an attempt; None if a file to be read was deleted after the table changed."""
    try:
        return (yield from _prepare(work, base, current, number))
    except MissingFile:
        now = yield ReadPointer()
        if current is None or now == current.location:
            raise
        return None


def _prepare(work: _Work, base: Base | None, current: Base | None, number: int) -> Steps[_Attempt]:
    """Write all files of an attempt, its metadata last."""
    change, now = work.change, (yield NonDeterministic.NOW)
    if current is not None:
        now = commit_time(current.metadata, now)
    if base is not None and current is not None:
        check_same_table(base.metadata, current.metadata)
    snapshot: Snapshot | None = None
    used: frozenset[str] = frozenset()
    lists: tuple[str, ...] = ()
    if isinstance(change, CreateTable):
        if current is not None:
            raise commit_conflict("OCC005", "the table already exists", found=current.location)
        metadata = change.metadata
    elif current is None or base is None:
        raise spec_error("OCC001", "the table does not exist")
    elif isinstance(change, SnapshotChange):
        yield from _own_snapshot_id(work, current.metadata)
        made = yield from snapshots.next_snapshot(
            change, base.metadata, current.metadata, work.files, work.manifests, number, now
        )
        metadata, snapshot = made.metadata, made.snapshot
        used = frozenset(manifest.manifest_path for manifest in made.manifests)
        lists = (made.snapshot.manifest_list or "",)
    else:
        metadata = metadata_changes.apply_change(change, base.metadata, current.metadata, now)
    if current is not None:
        metadata = append_metadata_log(metadata, current, now)
    unique = yield NonDeterministic.NAME
    before = None if current is None else (current.location, current.metadata)
    location = work.table.new_metadata_location(before, metadata, unique)
    yield WriteFile(location, metadata)
    return _Attempt(current, metadata, location, snapshot, used, (location, *lists))


def _own_snapshot_id(work: _Work, current: TableMetadata) -> Steps[None]:
    """Choose another snapshot id, and write all manifests again, if another snapshot has the id (SNP001)."""
    while any(snapshot.snapshot_id == work.manifests.snapshot_id for snapshot in current.snapshots):
        yield from _delete(work.manifests.paths)
        work.manifests = CommitManifests((yield NonDeterministic.NAME), (yield NonDeterministic.SNAPSHOT_ID))


def commit_time(current: TableMetadata, clock_ms: int) -> int:
    """Decide the time of a commit, which never decreases, whatever the clocks of the writers say (TMD005, TMD017).

    Args:
        current: the table that the change is applied to.
        clock_ms: the time of the writer's clock, in milliseconds from the Unix epoch.

    Returns:
        The time, not before that of the last update, of the last snapshot or of the last entry of the snapshot log.
    """
    snapshots_made = [snapshot.timestamp_ms for snapshot in current.snapshots[-1:]]
    logged = [entry.timestamp_ms for entry in current.snapshot_log[-1:]]
    return max(clock_ms, current.last_updated_ms, *snapshots_made, *logged)


def append_metadata_log(metadata: TableMetadata, current: Base, now_ms: int) -> TableMetadata:
    """Set the time of the update and add the previous metadata file to the metadata log (TMD005, TMD018).

    Args:
        metadata: the changed metadata.
        current: the table that the change was applied to.
        now_ms: the time of the commit, as `commit_time`.

    Returns:
        The metadata to be written.
    """
    before = current.metadata
    previous = MetadataLogEntry(timestamp_ms=before.last_updated_ms, metadata_file=current.location)
    log = append_metadata_log_entry(before.metadata_log, previous, _previous_versions_max(metadata))
    return evolve(metadata, last_updated_ms=now_ms, metadata_log=log)


def _previous_versions_max(metadata: TableMetadata) -> int:
    text = metadata.properties.get(KEEP_METADATA, "")
    return max(int(text), 1) if text.isascii() and text.isdigit() and len(text) < 10 else DEFAULT_KEEP_METADATA


def _swap(work: _Work, attempt: _Attempt, policy: RetryPolicy) -> Steps[bool | None]:
    """Swap the pointer, and find out the result.

    The same swap may be sent again: it is done at most once, because the pointer never returns to an old file.

    Returns:
        True if the swap was done, False if it is known to be refused, None if that is unknown.

    Yields:
        The effects to perform; their answers are sent back.
    """
    expected = None if attempt.base is None else attempt.base.location
    for number in range(policy.num_retries + 1):
        answer = yield SwapPointer(expected, attempt.location)
        if answer is SwapResult.DONE:
            return True
        done = yield from work.table.is_committed(expected, attempt.location, attempt.metadata)
        if done is not None:
            return done
        yield Wait(policy.wait_ms(number))
    return None


def _clean_up(work: _Work, attempt: _Attempt) -> Steps[None]:
    """Delete what the commit does not need: manifests of other attempts, and files that the change made unused."""
    yield from _delete(path for path in work.manifests.paths if path not in attempt.used)
    if attempt.base is None:
        return
    before, after = attempt.base, attempt.metadata
    if isinstance(work.change, ExpireSnapshots) and work.change.clean_files:
        with suppress(Exception):  # the commit is done, even if an error prevents finding the old files
            yield from _delete((yield from expired_files(before.metadata, after, work.files)))
    if after.properties.get(DELETE_METADATA, "false").lower() == "true":
        kept = {entry.metadata_file for entry in after.metadata_log}
        yield from _delete(
            entry.metadata_file for entry in before.metadata.metadata_log if entry.metadata_file not in kept
        )


def _delete(paths: Iterable[str]) -> Steps[None]:
    for path in paths:
        with suppress(Exception):  # a file that stays is harmless, and does not change the result of the commit
            yield DeleteFile(path)

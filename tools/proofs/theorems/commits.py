"""What commits assign: the sequence numbers and row ids of whole commits, run by their code (Sequence Numbers; Row
Lineage).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import attrs

from conformance.races.operations import racing_changes
from conformance.races.suites import TABLES
from conformance.races.table_fixtures import FIXTURES
from spec_ref.commits.changes import SnapshotChange
from spec_ref.commits.commit import Base, commit
from spec_ref.commits.effects import NonDeterministic, ReadFile, ReadPointer, SwapPointer, SwapResult, WriteFile
from spec_ref.commits.payloads import ManifestListPayload, ManifestPayload
from spec_ref.commits.reading import file_key
from spec_ref.core.records import evolve
from spec_ref.core.versions import ROW_LINEAGE, FormatVersion
from spec_ref.manifests.data_file import FileContent
from spec_ref.manifests.entry import EntryStatus, ManifestEntry
from spec_ref.manifests.inheritance import inherit
from spec_ref.scan_planning.delete_scope import is_old_enough
from spec_ref.table_metadata.logs import MetadataLogEntry
from tools.proofs.theorem import World, theorem

MOST_ROWS = 1 << 40
"""The limit on a file's rows and on the table's numbers: no sum of a few of them exceeds 64 bits."""

MINE, THEIRS = 0, 1
CHANGES = {
    "partitioned": (
        "append",
        "fast-append",
        "overwrite",
        "delete-file",
        "delete-where",
        "rewrite",
        "equality-delete",
        "position-delete",
        "merge-vector",
        "rewrite-older",
        "rewrite-manifests",
    ),
    "references": ("append-to-branch", "append-to-dev", "delete-on-branch"),
    "upgraded": ("append", "fast-append", "delete-file", "rewrite-manifests"),  # rewrites conflict with theirs (LIN009)
}


def _change(fixture: str, version: int, name: str, writer: int) -> Any:
    found = (one for one in racing_changes(FIXTURES[fixture], version, writer) if one.name == name)
    return next((one.change for one in found), None)


def _cases() -> Iterator[dict[str, Any]]:
    for fixture, names in CHANGES.items():
        for version in (2, 3):
            for name in names:
                if _change(fixture, version, name, MINE) is not None:
                    yield {"fixture": fixture, "version": version, "change": name}


@attrs.define
class Store:
    """A store to which others commit: its pointer, its files, and the swap that succeeds."""

    files: dict[str, Any]
    tables: list[Base]
    """The versions of the table, one for each attempt; the swap of the last one succeeds."""

    place: int = 0
    drawn: int = 100

    def run(self, steps: Any) -> Any:
        """Run a commit, and return its result."""
        answer: Any = None
        while True:
            try:
                effect = steps.send(answer)
            except StopIteration as end:
                return end.value
            answer = self.answer(effect)

    def answer(self, effect: Any) -> Any:
        """Perform an effect."""
        self.drawn += 1
        match effect:
            case NonDeterministic.NAME:
                return f"name-{self.drawn}"
            case NonDeterministic():
                return self.drawn
            case ReadPointer():
                return self.tables[self.place].location
            case ReadFile(path):
                return self.files.get(path)
            case WriteFile(path, content):
                self.files[path] = content
                return 1
            case SwapPointer() if self.place < len(self.tables) - 1:
                self.place += 1
                return SwapResult.REFUSED
            case SwapPointer():
                return SwapResult.DONE
        return None


def _entries(files: Mapping[str, Any], listed: Iterable[Any]) -> list[ManifestEntry]:
    """Return the live entries of a manifest list, with the values that they inherit."""
    found: list[ManifestEntry] = []
    for manifest in listed:
        payload = files[manifest.manifest_path]
        found += (one for one in inherit(payload.entries, manifest, payload.format_version) if one.live)
    return found


def _live(files: Mapping[str, Any], snapshot: Any) -> list[ManifestEntry]:
    return [] if snapshot is None else _entries(files, files[snapshot.manifest_list].files)


def _by_key(entries: Iterable[ManifestEntry]) -> dict[Any, ManifestEntry]:
    return {file_key(one.data_file): one for one in entries}


def _visible_entries(manifest: ManifestPayload) -> Any:
    """Return the entries of a manifest, which distinguish it from others."""
    return tuple((file_key(one.data_file), one.status, one.snapshot_id) for one in manifest.entries)


@attrs.frozen
class CommitResult:
    """A commit that succeeded at its second attempt."""

    store: Store
    before: Any
    """The table that others left, which the second attempt was made from."""

    after: Any
    snapshot: Any
    listed: ManifestListPayload
    earlier: tuple[ManifestEntry, ...]
    """The live entries of the branch before the commit."""


def _commit_among_others(world: World, fixture: str, version: int, change: str) -> CommitResult:
    """Commit a change: others commit before its first attempt, and before its second.

    The commits of others raise the table's numbers by any amount, on any branch; from the second attempt on, there is
    also a file that they appended.
    """
    shared = FIXTURES[fixture].state(version, TABLES["metastore"])
    planned = Base(shared.pointer or "", shared.files[shared.pointer or ""])
    mine: SnapshotChange = _change(fixture, version, change, MINE)
    added = tuple(
        evolve(new, data_file=evolve(new.data_file, record_count=world.int(f"rows {place}", 1, MOST_ROWS)))
        if new.data_file.content is FileContent.DATA
        else new
        for place, new in enumerate(mine.added)
    )
    store = Store(dict(shared.files), [planned])
    theirs = store.run(commit(_change(fixture, version, "append", THEIRS), shared.table)).metadata
    tables: list[Base] = []
    last, next_ = planned.metadata.last_sequence_number, planned.metadata.next_row_id
    for attempt, table in enumerate((planned.metadata, theirs)):
        last = world.int(f"last sequence number {attempt}", last if attempt == 0 else last + 1, MOST_ROWS)
        if attempt:
            world.assume(last >= theirs.last_sequence_number)
        if next_ is not None:
            next_ = world.int(f"next row id {attempt}", next_, MOST_ROWS)
            if attempt:
                world.assume(next_ >= theirs.next_row_id)
        location = planned.location.replace("metadata.json", f"{attempt}.metadata.json").replace("00000", "00009")
        log = tuple(MetadataLogEntry(timestamp_ms=table.last_updated_ms, metadata_file=one.location) for one in tables)
        made = evolve(table, last_sequence_number=last, next_row_id=next_, metadata_log=log)
        store.files[location] = made
        tables.append(Base(location, made))
    store.tables = tables
    result = store.run(commit(evolve(mine, added=added), shared.table, base=planned))
    world.claim(result.attempts == len(tables), "the commit did not retry")
    before, snapshot = tables[-1].metadata, result.snapshot
    parent = None if snapshot.parent_snapshot_id is None else before.snapshot_by_id(snapshot.parent_snapshot_id)
    listed = store.files[snapshot.manifest_list]
    return CommitResult(store, before, result.metadata, snapshot, listed, tuple(_live(store.files, parent)))


@theorem(
    "retries-are-renumbered",
    "SEQ001",
    "SEQ003",
    "SEQ004",
    "SEQ006",
    "SEQ008",
    "SCN008",
    "SCN009",
    "SCN010",
    "MLS007",
    "MLS008",
    cases=_cases(),
    quick=9,
)
def renumbered(world: World, fixture: str, version: int, change: str) -> None:
    """A commit that loses a race and is retried gets the sequence number after the last one of its new base. Files that
    it adds inherit that number, whichever attempt wrote their manifest; files that were in the table keep theirs. No
    manifest is written a second time with the same entries, as none has a number of its commit in it. Its deletes apply
    to all data of the branch that it was committed to, and to no data of later commits.
    """
    made = _commit_among_others(world, fixture, version, change)
    number = made.before.last_sequence_number + 1
    world.claim(made.snapshot.sequence_number == number, "the snapshot has another number than the next one")
    world.claim(made.after.last_sequence_number == number, "the table has another last number than its snapshot")
    written = [_visible_entries(one) for one in made.store.files.values() if isinstance(one, ManifestPayload)]
    world.claim(len(written) == len(set(written)), "a manifest is written twice")
    earlier = _by_key(made.earlier)
    own = {manifest.manifest_path for manifest in made.listed.files if manifest.sequence_number == number}
    entries = _entries(made.store.files, made.listed.files)
    for manifest in made.listed.files:
        is_own = manifest.added_snapshot_id == made.snapshot.snapshot_id
        world.claim((manifest.manifest_path in own) is is_own, "a manifest has the number of another commit")
        for one in _entries(made.store.files, [manifest]):
            world.claim(manifest.min_sequence_number <= one.sequence_number, "the least number of a manifest is higher")
    for one in entries:
        before = earlier.get(file_key(one.data_file))
        if before is not None:
            world.claim(one.sequence_number == before.sequence_number, "a file gets another number")
            world.claim(one.file_sequence_number == before.file_sequence_number, "a file gets another file number")
            continue
        explicit = one.sequence_number is not None and change == "rewrite-older"
        world.claim(explicit or one.sequence_number == number, "an added file has another number than its commit")
        world.claim(one.file_sequence_number == number, "an added file has another file number than its commit")
        kind = one.data_file.content
        if kind is FileContent.DATA:
            continue
        for data in earlier.values():
            if data.data_file.content is FileContent.DATA:
                applies = is_old_enough(data.sequence_number, kind, one.sequence_number)
                world.claim(applies, "a delete does not apply to data that was there")
        later = world.int("number of later data", made.after.last_sequence_number + 1)
        world.claim(not is_old_enough(later, kind, one.sequence_number), "a delete applies to data of a later commit")


@theorem(
    "row-ids-of-commits-are-disjoint",
    "LIN016",
    "LIN020",
    "LIN023",
    "LIN027",
    "LIN028",
    "LIN030",
    "TMD027",
    cases=(case for case in _cases() if ROW_LINEAGE.is_supported(FormatVersion(case["version"]))),
    quick=5,
)
def row_ids(world: World, fixture: str, version: int, change: str) -> None:
    """Appends, merges, overwrites, deletes and rewrites, on main or on another branch, keep this true: no two live data
    files have a row id in common, all ids are below the table's next row id, and a file keeps its ids for as long as it
    is in the table. At each attempt, a commit gives ids to its new files, and to files from before an upgrade, from the
    next row id of the table on which it is based; so this holds for any sequence of commits on any branches.
    """
    made = _commit_among_others(world, fixture, version, change)
    start, after = made.before.next_row_id, made.after.next_row_id
    world.claim(made.snapshot.first_row_id == start, "the snapshot begins with another id than the table's next one")
    world.claim(after == start + made.snapshot.added_rows, "the table's next id is not after the rows of the snapshot")
    earlier = _by_key(made.earlier)
    ranges: list[tuple[Any, Any]] = []
    for one in _entries(made.store.files, made.listed.files):
        if one.data_file.content is not FileContent.DATA:
            continue
        first = one.data_file.first_row_id
        end = first + one.data_file.record_count
        before = earlier.get(file_key(one.data_file))
        if before is not None and before.data_file.first_row_id is not None:
            world.claim(first == before.data_file.first_row_id, "a file gets other row ids")
        else:
            world.claim(before is not None or one.status is EntryStatus.ADDED, "a new file is not listed as added")
            world.claim(first >= start, "a file gets ids that others may have")
        world.claim(end <= after, "a file has ids beyond the table's next one")
        for other, other_end in ranges:
            world.claim((other_end <= first) | (end <= other), "two files have an id in common")
        ranges.append((first, end))

"""The soak: many processes commit to one real table, are killed at random, and nothing acknowledged may be lost.

Each process notes what it is about to commit, and that it was acknowledged, in a journal of its own. What was under way
when a process was killed may be done or not; everything else is certain.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from multiprocessing import get_context
from multiprocessing.context import ForkProcess
from pathlib import Path
from typing import Any

from attrs import define, field, frozen

from conformance.interrupts import kept_from_children
from conformance.races.fixtures import data, data_path, empty_table
from conformance.stores import Store, commit, load, open_store, run
from spec_ref.commits import Base, CommitConflict, CommitFailed, CommitStateUnknown
from spec_ref.commits.changes import (
    Change,
    CreateTable,
    Expire,
    SetProperties,
    SetReference,
    append,
    delete_files,
    fast_append,
    rewrite,
)
from spec_ref.commits.contents import FileKind, decode
from spec_ref.commits.reading import Files, head
from spec_ref.manifests.data_file import FileContent
from spec_ref.snapshots.references import RefType, SnapshotRef
from spec_ref.table_metadata.metadata import TableMetadata

EXPIRE_EVERY_S = 2.0


@frozen
class Settings:
    """What a soak does."""

    store: str
    location: str
    processes: int = 8
    seconds: float = 30.0
    kills_per_s: float = 1.0
    version: int = 3
    seed: int = 0


@define
class Report:
    """What came of a soak."""

    commits: int = 0
    """Metadata files in the table's history."""

    acknowledged: int = 0
    conflicts: int = 0
    failed: int = 0
    unknown: int = 0
    """Changes that were under way when their process was killed, or whose state could not be found out."""

    kills: int = 0
    seconds: float = 0.0
    problems: list[str] = field(factory=list)

    @property
    def commits_per_s(self) -> float:
        """Acknowledged commits in a second."""
        return self.acknowledged / self.seconds if self.seconds else 0.0


# A process


def work(settings: Settings, name: str, journal: Path, stop: Callable[[], bool]) -> None:
    """Commit changes until it is time to stop, and note them."""
    store = open_store(settings.store)
    chance = random.Random(f"{settings.seed} {name}")
    mine: list[str] = []
    expired = time.monotonic()
    with journal.open("a", buffering=1) as notes:
        number = 0
        while number == 0 or not stop():  # each commits, however slow the machine
            number += 1
            if name.startswith("0") and time.monotonic() - expired > EXPIRE_EVERY_S:
                expired = time.monotonic()
                kind, note = "expire", dict[str, Any]()
                change: Change = Expire(time.time_ns() // 1_000_000 - 1000, clean_files=True)
            else:
                kind, change, note = _chosen(settings, chance, f"{name}-{number}", mine)
            entry = {"n": number, "kind": kind, **note}
            notes.write(json.dumps({**entry, "at": "start"}) + "\n")
            entry["at"] = _tried(change, store, entry)
            notes.write(json.dumps(entry) + "\n")
            if entry["at"] == "done":
                mine[:] = [one for one in mine if one not in note.get("removes", ())] + list(note.get("adds", ()))


def _tried(change: Change, store: Store, entry: dict[str, Any]) -> str:
    try:
        done = commit(change, store)
    except CommitConflict:
        return "conflict"
    except CommitFailed:
        return "failed"
    except CommitStateUnknown:
        return "unknown"
    entry["snapshot"] = None if done.snapshot is None else done.snapshot.snapshot_id
    return "done"


def _chosen(
    settings: Settings, chance: random.Random, name: str, mine: list[str]
) -> tuple[str, Change, dict[str, Any]]:
    def new(kind: str) -> Any:
        return data(f"{kind}-{name}", chance.choice("abc"), chance.randint(1, 100), location=settings.location)

    roll = chance.random()
    if len(mine) > 3 and roll < 0.2:
        gone = mine[:2]
        made = new("rewritten")
        return "rewrite", rewrite([made], gone), {"removes": gone, "adds": [made.data_file.file_path]}
    if len(mine) > 20 or (mine and roll < 0.3):
        gone = mine[:5]
        return "delete", delete_files(gone), {"removes": gone}
    if roll < 0.35:
        return "properties", SetProperties({f"by-{name.split('-')[0]}": name}), {"property": name}
    made = new("data")
    if roll < 0.45:
        return "branch", fast_append([made], branch="audit"), {"branch_adds": [made.data_file.file_path]}
    kind = append if roll < 0.6 else fast_append
    return kind.__name__, kind([made]), {"adds": [made.data_file.file_path]}


# The parent


def soak(settings: Settings, directory: Path, progress: Callable[[str], None] = lambda _: None) -> Report:
    """Run the processes, kill some, and check what is left.

    Args:
        settings: what to do.
        directory: for the journals; it is empty.
        progress: is told what happens.
    """
    store = open_store(settings.store)
    properties = {"commit.manifest.min-count-to-merge": "10"}
    commit(CreateTable(empty_table(settings.version, settings.location, properties)), store)
    first = commit(fast_append([data("first", location=settings.location)]), store)
    assert first.snapshot is not None
    commit(SetReference("audit", SnapshotRef(snapshot_id=first.snapshot.snapshot_id, type=RefType.BRANCH)), store)
    report = Report()
    started = time.monotonic()
    until = started + settings.seconds
    chance = random.Random(settings.seed)
    running: dict[str, ForkProcess] = {}
    number = 0
    try:
        while len(running) < settings.processes:
            _start(settings, str(number), directory, until, running)
            number += 1
        killing = settings.kills_per_s > 0
        while time.monotonic() < until - (1 if killing else 0):
            time.sleep(chance.expovariate(settings.kills_per_s) if killing else 0.2)
            if not killing or time.monotonic() >= until - 1:
                continue
            victim = chance.choice(sorted(running))
            process = running.pop(victim)
            process.kill()
            process.join()
            report.kills += 1
            again = f"0.{number}" if victim.startswith("0") else str(number)
            _start(settings, again, directory, until, running)
            number += 1
        for name, process in running.items():
            process.join(timeout=60)
            if process.exitcode != 0:
                report.problems.append(f"process {name} ended with {process.exitcode}")
    except BaseException:
        for process in running.values():
            process.kill()
            process.join()
        raise
    report.seconds = time.monotonic() - started
    progress(f"{report.kills} processes were killed; checking")
    check(settings, store, directory, report)
    store.close()
    return report


def _start(settings: Settings, name: str, directory: Path, until: float, running: dict[str, ForkProcess]) -> None:
    # A fork has everything loaded, and begins at once.
    process = get_context("fork").Process(
        target=work,
        args=(settings, name, directory / f"{name}.jsonl", lambda: time.monotonic() > until),
        daemon=True,
    )
    with kept_from_children():  # which holds them back here too: whoever ends those that run knows of this one
        process.start()
        running[name] = process


# Checking


def check(settings: Settings, store: Store, directory: Path, report: Report) -> None:
    """Check that all that was acknowledged is in the table, and all that was refused is not; adds to the report."""
    base = load(store)
    if base is None:
        report.problems.append("the table is gone")
        return
    history = list(_history(base, store, report))
    report.commits = len(history)
    done, open_, refused = _notes(directory, report)
    report.acknowledged = len(done) + 3
    report.unknown = len(open_)
    if not report.acknowledged <= report.commits <= report.acknowledged + report.unknown:
        report.problems.append(
            f"the history has {report.commits} commits, of which {report.acknowledged} were acknowledged and "
            f"{report.unknown} are not known"
        )
    snapshots = {one.snapshot_id for metadata in history for one in metadata.snapshots}
    for entry in done:
        if entry.get("snapshot") is not None and entry["snapshot"] not in snapshots:
            report.problems.append(f"lost update: snapshot {entry['snapshot']} was acknowledged")
    _check_files(settings, base, store, (done, open_, refused), report)
    for name, value in _last_properties(done).items():
        found = base.metadata.properties.get(f"by-{name}")
        later = {entry["property"] for entry in open_ if entry["kind"] == "properties"}
        if found != value and found not in later:
            report.problems.append(f"lost update: property by-{name} is {found} instead of {value}")


def _history(base: Base, store: Store, report: Report) -> Iterator[TableMetadata]:
    """All metadata from the newest to the first, each found by the log of the one after it."""
    metadata = base.metadata
    while True:
        yield metadata
        if not metadata.metadata_log:
            return
        path = metadata.metadata_log[-1].metadata_file
        content = store.read(path)
        if content is None:
            report.problems.append(f"missing file: {path}")
            return
        before = decode(content, FileKind.METADATA, path)
        assert isinstance(before, TableMetadata)
        new = {one.snapshot_id for one in metadata.snapshots} - {one.snapshot_id for one in before.snapshots}
        if len(new) > 1:
            report.problems.append(f"linear history: {len(new)} snapshots came at once after {path}")
        if metadata.last_sequence_number - before.last_sequence_number != len(new):
            report.problems.append(f"sequence number: {metadata.last_sequence_number} after {path}")
        if (metadata.next_row_id or 0) < (before.next_row_id or 0):
            report.problems.append(f"row ids: {metadata.next_row_id} after {path}")
        metadata = before


Notes = list[dict[str, Any]]


def _notes(directory: Path, report: Report) -> tuple[Notes, Notes, Notes]:
    done, open_, refused = [], [], []
    for journal in sorted(directory.glob("*.jsonl")):
        waiting = None
        for line in journal.read_text().splitlines():
            try:
                entry = json.loads(line)
            except ValueError:  # the process was killed while it wrote
                continue
            match entry["at"]:
                case "start":
                    waiting = entry
                    continue
                case "done":
                    done.append(entry)
                case "unknown":
                    open_.append(entry)
                case "failed":
                    report.failed += 1
                    refused.append(entry)
                case _:
                    report.conflicts += 1
                    refused.append(entry)
            waiting = None
        if waiting is not None:
            open_.append(waiting)
    return done, open_, refused


def _last_properties(done: Notes) -> dict[str, str]:
    last: dict[str, tuple[int, str]] = {}
    for entry in done:
        if entry["kind"] == "properties":
            name = entry["property"].rsplit("-", 1)[0]
            last[name] = max(last.get(name, (0, "")), (entry["n"], entry["property"]))
    return {name: value for name, (_, value) in last.items()}


def _check_files(
    settings: Settings, base: Base, store: Store, notes: tuple[Notes, Notes, Notes], report: Report
) -> None:
    done, open_, refused = notes
    for branch, adds in (("main", "adds"), ("audit", "branch_adds")):
        files = Files()

        def live(branch: str = branch, files: Files = files) -> Any:
            manifests = yield from files.manifests(head(base.metadata, branch))
            return (yield from files.live(manifests))

        listed: list[Any] = run(live(), store)
        data_files = [entry.data_file for _, entry in listed if entry.data_file.content is FileContent.DATA]
        paths = [one.file_path for one in data_files]
        ranges = sorted((one.first_row_id or 0, (one.first_row_id or 0) + one.record_count) for one in data_files)
        if settings.version > 2 and any(end > start for (_, end), (start, _) in pairwise(ranges)):
            report.problems.append(f"row ids: files of {branch} have the same")
        if len(set(paths)) != len(paths):
            report.problems.append(f"applied twice: files of {branch} are listed twice")
        added = {path for entry in done for path in entry.get(adds, ())}
        removed = {path for entry in done for path in entry.get("removes", ())}
        maybe = {path for entry in open_ for key in (adds, "removes") for path in entry.get(key, ())}
        never = {path for entry in refused for path in entry.get(adds, ())}
        first = {data_path("first", settings.location)}
        for path in sorted((added | first) - removed - maybe - set(paths)):
            report.problems.append(f"lost update: {path} was acknowledged and is not in {branch}")
        for path in sorted(set(paths) & (removed | never) - maybe):
            report.problems.append(f"resurrected file: {path} in {branch}")
        for path in sorted(set(paths) - added - maybe - first):
            report.problems.append(f"nobody added {path} to {branch}")

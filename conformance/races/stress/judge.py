"""Compare the writers' journals with the table: find lost, duplicated, reordered, and partial commits."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Any

import attrs

from conformance.races.stress.journal import DONE, MAYBE, REFUSED, JournalEntry
from conformance.races.stress.writers import ROWS, column_name, writer_property

LOST, DOUBLED, REORDERED, HALF, REFUSED_DONE, STALE, HISTORY, INVALID, CONTRADICTION, PROCESS = (
    "lost",
    "doubled",
    "reordered",
    "half",
    "refused",
    "stale",
    "history",
    "invalid",
    "contradiction",
    "process",
)

QUESTIONS = {
    LOST: "acknowledged commits lost",
    DOUBLED: "commits doubled",
    REORDERED: "acknowledged commits reordered",
    HALF: "commits half there",
    REFUSED_DONE: "refused commits that are in the table",
    STALE: "reads older than what was acknowledged",
    HISTORY: "faults in the history",
    CONTRADICTION: "contradictions of the catalog",
    INVALID: "errors of the validator",
    PROCESS: "writers that failed",
}
"""The kinds of problems, with their descriptions in a report."""


@attrs.frozen
class Problem:
    """A problem that was found."""

    kind: str
    message: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.message}"


@attrs.frozen(kw_only=True)
class FinalTable:
    """The table after the writers ended."""

    rows: Mapping[str, Mapping[int, Counter[int]]]
    """For each reference and operation number, how often each row of the operation occurs."""

    sequence_numbers: Mapping[str, Mapping[int, int]]
    """For each reference and operation, the data sequence number of its rows."""

    properties: Mapping[str, str]
    columns: tuple[str, ...]
    snapshots: tuple[tuple[int, int | None, int], ...]
    """The table's snapshots: id, parent and sequence number, in the table's order."""

    versions: int | None = None
    """The number of metadata versions; None if the catalog does not show all."""

    heads: tuple[int, ...] = ()
    setup: int = 1
    """The number of commits before the first one of a writer."""


def judge_journals(operations: list[JournalEntry], found: FinalTable) -> list[Problem]:
    """Compare the journals with the table.

    Args:
        operations: all operations of all writers.
        found: the table.

    Returns:
        Everything that is wrong.
    """
    return [
        *_rows(operations, found),
        *_order(operations, found),
        *_properties(operations, found),
        *_columns(operations, found),
        *_observations(operations),
        *_history(operations, found),
        *(Problem(CONTRADICTION, text) for one in operations for text in one.contradictions),
    ]


WHOLE, ABSENT, PART, TWICE = "whole", "absent", "part", "twice"


def _state(rows: Mapping[int, int]) -> str:
    if not rows:
        return ABSENT
    if any(count > 1 for count in rows.values()):
        return TWICE
    return WHOLE if set(rows) == set(range(ROWS)) else PART


def _rows(operations: list[JournalEntry], found: FinalTable) -> Iterator[Problem]:
    removers = {one.old: one for one in operations if one.old is not None and one.outcome != REFUSED}
    known: dict[str, set[int]] = defaultdict(set)
    states: dict[int, str] = {}
    for one in operations:
        if one.op is None:
            continue
        known[one.ref].add(one.op)
        state = states[one.op] = _state(found.rows.get(one.ref, {}).get(one.op, Counter()))
        yield from _row_problems(one, state, removers.get(one.op))
    for one in operations:
        if one.kind == "overwrite" and one.outcome == MAYBE and one.op is not None and one.old is not None:
            old = states.get(one.old, ABSENT)
            later = removers.get(one.op)
            if later is None and {old, states[one.op]} in ({WHOLE}, {ABSENT}):
                both = "both are" if old == WHOLE else "neither is"
                yield Problem(HALF, f"{_name(one)} replaces the rows {one.old} by {one.op}: {both} there")
    for ref, rows in found.rows.items():
        for op in sorted(rows.keys() - known[ref]):
            if op and not (ref != "main" and op in known["main"]):
                yield Problem(REFUSED_DONE, f"no journal has the rows {op} in {ref}")


def _row_problems(one: JournalEntry, state: str, remover: JournalEntry | None) -> Iterator[Problem]:
    """Yield the problems with the rows that an operation adds."""
    if state == TWICE:
        yield Problem(DOUBLED, f"the rows of {_name(one)} occur more than once")
    elif state == PART:
        yield Problem(HALF, f"only some of the rows of {_name(one)} are in the table")
    elif one.outcome == REFUSED and state == WHOLE:
        yield Problem(REFUSED_DONE, f"{_name(one)} was refused ({one.error}), but its rows exist")
    elif remover is not None and remover.outcome == DONE and state == WHOLE:
        yield Problem(LOST, f"{_name(remover)} was acknowledged, but the rows {one.op} that it deleted still exist")
    elif one.outcome == DONE and remover is None and state == ABSENT:
        yield Problem(LOST, f"{_name(one)} was acknowledged, but its rows are missing")


def _name(one: JournalEntry) -> str:
    return f"{one.kind} {one.number} of writer {one.writer}"


def _order(operations: list[JournalEntry], found: FinalTable) -> Iterator[Problem]:
    """Check that a commit that was acknowledged before another started has a lower sequence number."""
    numbered = [
        (one, found.sequence_numbers[one.ref][one.op])
        for one in operations
        if one.op is not None and one.outcome == DONE and one.op in found.sequence_numbers.get(one.ref, {})
    ]
    for one, number, before, latest in _with_latest_before(numbered):
        if latest >= number:
            yield Problem(
                REORDERED,
                f"{_name(one)} has the sequence number {number}, and {_name(before)}, which was acknowledged before "
                f"it began, has {latest}",
            )


def _with_latest_before(
    numbered: list[tuple[JournalEntry, int]],
) -> Iterator[tuple[JournalEntry, int, JournalEntry, int]]:
    """Yield each operation with its number, and the earlier-ended operation with the highest number."""
    ended = iter(sorted(numbered, key=lambda pair: pair[0].ended))
    waiting = next(ended, None)
    latest: tuple[JournalEntry, int] | None = None
    for one, number in sorted(numbered, key=lambda pair: pair[0].started):
        while waiting is not None and waiting[0].ended < one.started:
            latest = waiting if latest is None or waiting[1] > latest[1] else latest
            waiting = next(ended, None)
        if latest is not None:
            yield one, number, *latest


def _properties(operations: list[JournalEntry], found: FinalTable) -> Iterator[Problem]:
    by_writer: dict[int, list[JournalEntry]] = defaultdict(list)
    for one in operations:
        if one.kind == "property":
            by_writer[one.writer].append(one)
    for writer, mine in by_writer.items():
        text = found.properties.get(writer_property(writer))
        last = max((one.number for one in mine if one.outcome == DONE), default=None)
        possible = {None if last is None else str(last)}
        possible |= {str(one.number) for one in mine if one.outcome == MAYBE and one.number > (last or 0)}
        if text in possible:
            continue
        refused = [one for one in mine if one.outcome == REFUSED and str(one.number) == text]
        kind = REFUSED_DONE if refused else LOST
        yield Problem(kind, f"{writer_property(writer)} is {text}, and {last} was the last that was acknowledged")


def _columns(operations: list[JournalEntry], found: FinalTable) -> Iterator[Problem]:
    there = Counter(found.columns)
    for one in operations:
        if one.kind != "column":
            continue
        count = there[column_name(one.writer, one.number)]
        if one.outcome == DONE and count == 0:
            yield Problem(LOST, f"{_name(one)} was acknowledged, but its column is missing")
        if one.outcome == REFUSED and count:
            yield Problem(REFUSED_DONE, f"{_name(one)} was refused ({one.error}), but its column exists")
        if count > 1:
            yield Problem(DOUBLED, f"the column of {_name(one)} exists {count} times")


def _observations(operations: list[JournalEntry]) -> Iterator[Problem]:
    """Check that reads see the commits that were acknowledged before the reads started."""
    committed = [one for one in operations if one.outcome == DONE and one.kind in ("property", "column")]
    observed = [one for one in operations if one.kind == "observe" and one.seen]
    for one in observed:
        for before in committed:
            if before.ended >= one.started:
                continue
            if before.kind == "column":
                missing = column_name(before.writer, before.number) not in one.seen["columns"]
            else:
                missing = int(one.seen["properties"].get(writer_property(before.writer), 0)) < before.number
            if missing:
                yield Problem(STALE, f"writer {one.writer} did not see {_name(before)}, which was acknowledged earlier")
                break
    for one, number, _, latest in _with_latest_before([(one, one.seen["sequence"]) for one in observed]):
        if number < latest:
            yield Problem(STALE, f"writer {one.writer} saw the sequence number {number} after another saw {latest}")


def _history(operations: list[JournalEntry], found: FinalTable) -> Iterator[Problem]:
    parents = {id_: parent for id_, parent, _ in found.snapshots}
    reached = set[int]()
    for head in found.heads:
        at: int | None = head
        while at is not None and at in parents and at not in reached:
            reached.add(at)
            at = parents[at]
    if stray := sorted(parents.keys() - reached):
        yield Problem(HISTORY, f"snapshots that are not reachable from a branch: {_list_numbers(stray)}")
    numbers = [number for _, _, number in found.snapshots]
    if any(numbers) and any(later <= earlier for earlier, later in pairwise(numbers)):
        yield Problem(HISTORY, f"the sequence numbers of the snapshots do not increase: {_list_numbers(numbers)}")
    if found.versions is None:
        return
    commits = [one for one in operations if one.kind != "observe"]
    # An expiry may have nothing to do, and then a catalog may not create a version for it.
    done = sum(one.outcome == DONE and one.kind != "expire" for one in commits) + found.setup
    maybe = sum(one.outcome == MAYBE or (one.outcome == DONE and one.kind == "expire") for one in commits)
    if not done <= found.versions <= done + maybe:
        yield Problem(
            HISTORY,
            f"the table has had {found.versions} versions; {done} commits were acknowledged, and {maybe} may have been "
            "done",
        )


def _list_numbers(numbers: Iterable[int]) -> str:
    texts = [str(number) for number in numbers]
    return ", ".join(texts if len(texts) < 20 else [*texts[:10], "...", *texts[-8:]])


def count_unknown_outcomes(operations: list[JournalEntry], found: FinalTable) -> dict[str, tuple[int, int]]:
    """For each error with unknown outcome, count its occurrences and the commits that are in the table.

    Only commits that add rows can be found in the table.
    """
    counted: dict[str, tuple[int, int]] = {}
    removed = {one.old for one in operations if one.old is not None and one.outcome != REFUSED}
    for one in operations:
        if one.outcome != MAYBE or not one.error or one.op is None:
            continue
        error = one.error.split(":")[0]
        rows: Any = found.rows.get(one.ref, {}).get(one.op)
        number, there = counted.get(error, (0, 0))
        counted[error] = number + 1, there + bool(rows or one.op in removed)
    return counted

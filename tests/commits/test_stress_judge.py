"""The judge of stress tests, on synthetic tables and journals: it finds every kind of problem, and nothing else."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import attrs
import pytest

from conformance.races.stress.journal import DONE, MAYBE, REFUSED, JournalEntry, read_journals
from conformance.races.stress.judge import FinalTable, count_unknown_outcomes, judge_journals

ROWS = (0, 1, 2)


def rows(*ops: int) -> dict[int, Counter[int]]:
    return {op: Counter(ROWS) for op in ops}


def operation(number: int, kind: str = "append", at: float = 0.0, outcome: str = DONE, **more: Any) -> JournalEntry:
    if kind == "append":
        more.setdefault("op", number)
    ended = more.pop("ended", at + 0.5)
    return JournalEntry(writer=1, number=number, kind=kind, started=at, ended=ended, outcome=outcome, **more)


SOUND = FinalTable(
    rows={"main": rows(0, 1, 2)},
    sequence_numbers={"main": {0: 1, 1: 2, 2: 3}},
    properties={},
    columns=("op", "n"),
    snapshots=((10, None, 1), (11, 10, 2), (12, 11, 3)),
    versions=4,
    heads=(12,),
    setup=2,
)
TWO = [operation(1, at=1), operation(2, at=2)]


def kinds(operations: list[JournalEntry], found: FinalTable) -> list[str]:
    return [one.kind for one in judge_journals(operations, found)]


def changed(**more: Any) -> FinalTable:
    return attrs.evolve(SOUND, **more)


def test_a_sound_table_has_no_problem() -> None:
    assert kinds(TWO, SOUND) == []


@pytest.mark.parametrize("outcome", [DONE, MAYBE])
def test_what_may_have_been_done_may_be_there_or_not(outcome: str) -> None:
    third = operation(3, at=3, outcome=outcome, ended=float("inf"))
    without = kinds([*TWO, third], SOUND)
    there = kinds(
        [*TWO, third],
        changed(
            rows={"main": rows(0, 1, 2, 3)},
            sequence_numbers={"main": {1: 2, 2: 3, 3: 4}},
            snapshots=(*SOUND.snapshots, (13, 12, 4)),
            heads=(13,),
            versions=5,
        ),
    )
    assert (without, there) == ((["lost", "history"], []) if outcome == DONE else ([], []))


def test_rows_that_are_there_twice_were_doubled() -> None:
    assert kinds(TWO, changed(rows={"main": {**rows(0, 1), 2: Counter([*ROWS, *ROWS])}})) == ["doubled"]


def test_some_of_the_rows_are_half_a_commit() -> None:
    assert kinds(TWO, changed(rows={"main": {**rows(0, 1), 2: Counter([0])}})) == ["half"]


def test_a_refused_commit_is_not_there() -> None:
    assert kinds([TWO[0], operation(2, at=2, outcome=REFUSED)], changed(versions=3)) == ["refused"]


def test_rows_that_nobody_noted_are_reported() -> None:
    assert kinds(TWO, changed(rows={"main": rows(0, 1, 2, 9)})) == ["refused"]


def test_a_lost_delete_is_lost() -> None:
    deleted = operation(3, "delete", at=3, old=2)
    assert kinds([*TWO, deleted], changed(versions=5)) == ["lost"]
    assert kinds([*TWO, deleted], changed(versions=5, rows={"main": rows(0, 1)})) == []


@pytest.mark.parametrize(("there", "expected"), [((1, 2), []), ((1, 3), []), ((1, 2, 3), ["half"]), ((1,), ["half"])])
def test_an_overwrite_is_whole_or_not_done(there: tuple[int, ...], expected: list[str]) -> None:
    replaced = operation(3, "overwrite", at=3, old=2, op=3, outcome=MAYBE, ended=float("inf"))
    assert kinds([*TWO, replaced], changed(rows={"main": rows(*there)}, sequence_numbers={})) == expected


def test_what_was_acknowledged_first_has_the_lower_number() -> None:
    assert kinds(TWO, changed(sequence_numbers={"main": {1: 3, 2: 2}})) == ["reordered"]
    at_once = [operation(1, at=1, ended=9), operation(2, at=2)]
    assert kinds(at_once, changed(sequence_numbers={"main": {1: 3, 2: 2}})) == []


@pytest.mark.parametrize(
    ("text", "expected"), [("4", []), ("5", []), ("6", ["refused"]), ("3", ["lost"]), (None, ["lost"])]
)
def test_a_property_is_the_last_that_was_acknowledged_or_a_later_one(text: str | None, expected: list[str]) -> None:
    outcomes = {3: DONE, 4: DONE, 5: MAYBE, 6: REFUSED}
    written = [operation(number, "property", at=number, outcome=one) for number, one in outcomes.items()]
    found = changed(properties={} if text is None else {"stress.1": text}, versions=6)
    assert kinds([*TWO, *written], found) == expected


def test_columns_that_were_acknowledged_are_there_once() -> None:
    added = operation(3, "column", at=3)
    refused = operation(4, "column", at=4, outcome=REFUSED)
    assert kinds([*TWO, added], changed(versions=5)) == ["lost"]
    assert kinds([*TWO, added, refused], changed(versions=5, columns=("op", "n", "c_1_3"))) == []
    assert kinds([*TWO, added], changed(versions=5, columns=("op", "c_1_3", "c_1_3"))) == ["doubled"]
    assert kinds([*TWO, refused], changed(columns=("op", "n", "c_1_4"))) == ["refused"]


def test_a_read_sees_what_was_acknowledged_before_it() -> None:
    written = operation(3, "property", at=3)
    found = changed(properties={"stress.1": "3"}, versions=5)
    for value, at, expected in (("3", 4.0, []), ("2", 4.0, ["stale"]), ("2", 3.2, [])):
        seen = {"sequence": 3, "properties": {"stress.1": value}, "columns": []}
        assert kinds([*TWO, written, operation(-1, "observe", at=at, seen=seen)], found) == expected


def test_the_sequence_number_that_is_read_never_falls() -> None:
    reads = [
        operation(-number, "observe", at=10.0 + number, seen={"sequence": sequence, "properties": {}, "columns": []})
        for number, sequence in ((1, 2), (2, 3), (3, 2))
    ]
    assert kinds([*TWO, *reads], SOUND) == ["stale"]


def test_the_history_is_one_line_and_has_every_commit() -> None:
    assert kinds(TWO, changed(versions=3)) == ["history"]
    assert kinds(TWO, changed(versions=5)) == ["history"]
    assert kinds(TWO, changed(versions=None)) == []
    assert kinds(TWO, changed(snapshots=((10, None, 1), (11, 10, 2), (12, 10, 3)))) == ["history"]
    assert kinds(TWO, changed(snapshots=((10, None, 1), (11, 10, 2), (12, 11, 2)))) == ["history"]
    assert kinds(TWO, changed(snapshots=((11, 10, 2), (12, 11, 3)))) == []  # the first snapshot has expired


def test_contradictions_are_reported() -> None:
    assert kinds([TWO[0], attrs.evolve(TWO[1], contradictions=("it says no",))], SOUND) == ["contradiction"]


def test_errors_are_counted_with_how_many_landed() -> None:
    failed = [operation(2, at=2, outcome=MAYBE, error="X: y"), operation(3, at=3, outcome=MAYBE, error="X: z")]
    assert count_unknown_outcomes([TWO[0], *failed], SOUND) == {"X": (2, 1)}


def test_a_journal_of_a_killed_writer_ends_with_what_was_under_way(tmp_path: Path) -> None:
    lines = [
        '{"writer": 4, "number": 1, "kind": "append", "op": 1, "t": 1.0}',
        '{"number": 1, "outcome": "done", "t": 2.0}',
        '{"writer": 4, "number": 2, "kind": "delete", "old": 1, "t": 3.0}',
        '{"number": 2, "outc',
    ]
    (tmp_path / "4.jsonl").write_text("\n".join(lines))
    first, second = read_journals(tmp_path)
    assert (first.outcome, first.ended) == (DONE, 2.0)
    assert (second.outcome, second.ended) == (MAYBE, float("inf"))

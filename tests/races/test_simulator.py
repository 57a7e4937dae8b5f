"""What the simulator explores, counts and reports."""

from __future__ import annotations

import math

import pytest
from attrs import evolve

from conformance.operations.commits.fixtures import LOCATION, empty_table
from conformance.races import suites
from conformance.races.fixture_kit import DATA_FILES
from conformance.races.operations import racing_changes
from conformance.races.setup import build_state
from conformance.races.simulator import Simulator
from conformance.races.state import CommittedMetadata, Fault, SharedState
from conformance.races.suites import ALL_FAULTS, Race
from conformance.races.table_fixtures import PARTITIONED
from spec_ref.commits.changes import CreateTable
from spec_ref.commits.effects import SwapResult
from spec_ref.commits.tables import TableKind, next_version


def test_two_appends_of_two_steps_have_all_their_orders() -> None:
    # Each reads the pointer and swaps it. In 2 of the 6 orders nobody has to try again; in the others the loser reads
    # the pointer to learn what became of its swap, reads it for its second attempt, and swaps.
    explored = suites.explore_schedules(Race(2, "metastore", ("fast-append", "fast-append"))).explored
    assert explored.schedules == 6
    assert explored.outcomes == {("committed", "committed"): 6}
    assert explored.found == ()


def test_a_conflict_is_an_outcome_of_some_orders_alone() -> None:
    explored = suites.explore_schedules(Race(2, "metastore", ("delete-file", "rewrite"))).explored
    assert set(explored.outcomes) == {("committed", "CommitConflict"), ("CommitConflict", "committed")}
    assert sum(explored.outcomes.values()) == explored.schedules


@pytest.mark.parametrize("table", suites.TABLES)
@pytest.mark.parametrize("fault", ALL_FAULTS)
def test_each_kind_of_fault_makes_more_schedules(table: str, fault: str) -> None:
    changes = ("fast-append", "fast-append")
    sound = suites.explore_schedules(Race(2, table, changes)).explored
    faulty = suites.explore_schedules(Race(2, table, changes, (fault,), 1)).explored
    assert faulty.found == ()
    assert faulty.schedules > sound.schedules
    if fault == "crash":
        assert any("crashed" in outcome for outcome in faulty.outcomes)


@pytest.mark.parametrize("version", suites.VERSIONS)
def test_every_pair_of_changes_is_sound_on_both_kinds_of_tables(version: int) -> None:
    played = [suites.explore_schedules(race) for race in suites.pairs([version], suites.TABLES)]
    names = len(suites.change_names(version))
    assert len(played) == names * (names + 1)
    assert [(str(one.race), one.explored.found) for one in played if one.explored.found] == []


def test_readers_see_whole_snapshots_while_others_commit_and_expire() -> None:
    played = [suites.explore_schedules(race) for race in suites.reader_races([2], ["metastore"])]
    assert [(str(one.race), one.explored.found) for one in played if one.explored.found] == []
    expiring = next(one for one in played if one.race.changes == ("append", "expire", "read"))
    assert any(outcome[2] == "MissingFile" for outcome in expiring.explored.outcomes)
    assert any(outcome[2] == "committed" for outcome in expiring.explored.outcomes)


@pytest.mark.parametrize("changes", [("append", "append", "append"), ("append", "rewrite", "delete-file")])
def test_three_writers_are_sound(changes: tuple[str, ...]) -> None:
    explored = suites.explore_schedules(Race(3, "metastore", changes)).explored
    assert explored.found == ()
    assert explored.schedules > math.factorial(3)  # steps interleave: more orders than those of whole writers


def test_two_faults_at_once_are_borne() -> None:
    faults = ("stale", "lost-reply", "late", "duplicate")
    for table in suites.TABLES:
        explored = suites.explore_schedules(Race(3, table, ("fast-append", "delete-file"), faults, 2)).explored
        assert explored.found == ()


def test_a_schedule_replays_as_a_trace() -> None:
    race = Race(2, "metastore", ("append", "rewrite"), ALL_FAULTS, 1)
    trace, outcome, problems = suites.replay_schedule(race, ((0, "step"), (1, "step"), (1, "crash"), (0, "step")))
    assert outcome == ("committed", "crashed")
    assert problems == ()
    assert trace[0] == "writer 0 (append) reads the pointer"
    assert trace[2].endswith(": crash")


def test_races_are_played_by_several_processes_in_order() -> None:
    races = list(suites.pairs([1], ["metastore"]))[:6]
    assert [played.race for played in suites.play_all(races, 2)] == races


CLEANING = {
    "write.metadata.delete-after-commit.enabled": "true",
    "write.metadata.previous-versions-max": "1",
    "commit.retry.num-retries": "4",
}


def _cleaning(table: TableKind, names: tuple[str, ...], faults: tuple[Fault, ...] = ()) -> Simulator:
    """A race on a table that deletes old metadata at once."""
    changes = (CreateTable(empty_table(2, LOCATION, CLEANING)), *PARTITIONED.make(2)[1:])
    planned = [
        next(one for one in racing_changes(PARTITIONED, 2, writer) if one.name == name)
        for writer, name in enumerate(names)
    ]
    return Simulator(build_state(changes, table, DATA_FILES), planned, faults, 1)


@pytest.mark.parametrize("table", suites.TABLES.values(), ids=suites.TABLES)
def test_old_metadata_is_deleted_under_the_feet_of_nobody(table: TableKind) -> None:
    assert _cleaning(table, ("fast-append", "fast-append"), tuple(Fault)).explore().found == ()
    assert _cleaning(table, ("fast-append", "fast-append", "properties")).explore().found == ()


def test_the_free_name_of_a_deleted_version_is_not_taken_for_the_newest(monkeypatch: pytest.MonkeyPatch) -> None:
    def swap(self: SharedState, writer: int, expected: str | None, new: str) -> tuple[SharedState, SwapResult]:
        target = next_version(expected, new)
        if target in self.files:
            return self, SwapResult.REFUSED
        files = {target if path == new else path: content for path, content in self.files.items()}
        return evolve(
            self, history=(*self.history, CommittedMetadata(target, new, writer)), files=files
        ), SwapResult.DONE

    monkeypatch.setattr(SharedState, "swap", swap)
    names = ("fast-append", "properties", "delete-file")
    found = _cleaning(suites.TABLES["file-system"], names, (Fault.STALE,)).explore().found
    assert found
    assert found[0].problem.startswith("lost update")

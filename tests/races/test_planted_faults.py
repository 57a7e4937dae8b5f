"""Every fault that is planted in the protocol is found, and the sound protocol is not blamed in the same race."""

from __future__ import annotations

import functools
import re

import pytest
from planted_faults import PLANTED, Planted

from conformance.races.operations import READER, PlannedChange, racing_changes
from conformance.races.rows import RowModel
from conformance.races.simulator import Simulator
from conformance.races.state import SharedState
from conformance.races.table_fixtures import FIXTURES
from spec_ref.commits.tables import TableKind

IDS = [planted.name for planted in PLANTED]


@functools.cache
def shared_state(fixture: str, version: int, table: TableKind) -> SharedState:
    return FIXTURES[fixture].state(version, table)


def race(planted: Planted) -> Simulator:
    fixture = FIXTURES[planted.fixture]
    planned: list[PlannedChange] = []
    for writer, name in enumerate(planted.changes):
        known = [*racing_changes(fixture, planted.version, writer), READER]
        planned += [one for one in known if one.name == name]
    assert [one.name for one in planned] == list(planted.changes)
    most = planted.max_faults if planted.faults else 0
    shared = shared_state(planted.fixture, planted.version, planted.table)
    return Simulator(shared, planned, planted.faults, most)


def up_to_code(problem: str) -> str:
    """A problem without the message of a violation, which may be reworded."""
    return re.sub(r"(?<=\b[A-Z]{3}\d{3}\b).*", "", problem)


def test_each_fault_has_its_own_name() -> None:
    assert len(set(IDS)) == len(IDS)


@pytest.mark.parametrize("planted", PLANTED, ids=IDS)
def test_a_planted_fault_is_found_and_its_trace_replays(planted: Planted, monkeypatch: pytest.MonkeyPatch) -> None:
    simulator = race(planted)
    with monkeypatch.context() as patch:
        planted.plant(patch)
        simulator = race(planted)
        explored = simulator.explore()
        assert explored.found, f"{planted.name} was not found in {explored.schedules} schedules"
        found = explored.found[0]
        assert found.problem.startswith(planted.says)
        assert found.trace
        again = race(planted)
        again.contested = simulator.contested
        _, problems = again.replay(found.schedule)
        assert up_to_code(found.problem) in map(up_to_code, problems)


@pytest.mark.parametrize("planted", PLANTED, ids=IDS)
def test_the_sound_protocol_is_not_blamed(planted: Planted) -> None:
    explored = race(planted).explore()
    assert explored.found == ()
    assert explored.schedules > 1


RULES = [planted for planted in PLANTED if planted.name.startswith("rule:") and planted.changes[0] == "rewrite"]


@pytest.mark.parametrize("planted", RULES, ids=[planted.name for planted in RULES])
def test_a_fault_of_the_rule_brings_rows_back(planted: Planted, monkeypatch: pytest.MonkeyPatch) -> None:
    """The model of rows sees it by itself, without being compared with the rule."""
    race(planted)
    planted.plant(monkeypatch)
    monkeypatch.setattr(RowModel, "problems", lambda *_: ())
    (found, *_) = race(planted).explore().found
    assert found.problem.startswith("resurrected row")


def test_a_rewrite_that_did_not_see_deletes_is_found_by_the_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a commit should have validated is asked of `may_apply`; a rewrite that finds its deletes is not blamed."""
    (planted,) = (one for one in PLANTED if one.name == "deletes in NaN not seen by rewrites")
    race(planted)
    planted.plant(monkeypatch)
    simulator = race(planted)
    found = simulator.explore().found[0]
    again = race(planted)
    again.contested = simulator.contested
    assert any(one.startswith("lost delete: memory:/table/data/eq-1") for one in again.replay(found.schedule)[1])

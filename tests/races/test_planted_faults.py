"""Every fault that is planted in the protocol is found, and the sound protocol is not blamed in the same race."""

from __future__ import annotations

import functools

import pytest
from planted_faults import PLANTED, Planted

from conformance.races.operations import READER, Planned, operations
from conformance.races.simulator import Simulator
from conformance.races.state import SharedState
from conformance.races.table_fixtures import FIXTURES
from spec_ref.commits.tables import Table

IDS = [planted.name for planted in PLANTED]


@functools.cache
def shared_state(fixture: str, version: int, table: Table) -> SharedState:
    return FIXTURES[fixture].state(version, table)


def race(planted: Planted) -> Simulator:
    fixture = FIXTURES[planted.fixture]
    planned: list[Planned] = []
    for writer, name in enumerate(planted.changes):
        known = [*operations(fixture, planted.version, writer), READER]
        planned += [one for one in known if one.name == name]
    assert [one.name for one in planned] == list(planted.changes)
    most = planted.most_faults if planted.faults else 0
    shared = shared_state(planted.fixture, planted.version, planted.table)
    return Simulator(shared, planned, planted.faults, most)


def test_there_are_many_faults() -> None:
    assert len(PLANTED) >= 100
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
        assert found.problem in problems


@pytest.mark.parametrize("planted", PLANTED, ids=IDS)
def test_the_sound_protocol_is_not_blamed(planted: Planted) -> None:
    explored = race(planted).explore()
    assert explored.found == ()
    assert explored.schedules > 1

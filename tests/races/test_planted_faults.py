"""Every fault that is planted in the protocol is found, and the sound protocol is not blamed in the same race."""

from __future__ import annotations

import functools

import pytest
from planted_faults import PLANTED, Planted

from conformance.races.operations import DATA_FILES, Planned, base_changes, operations
from conformance.races.setup import build_state
from conformance.races.simulator import Simulator
from conformance.races.state import SharedState
from spec_ref.commits.tables import Table

IDS = [planted.name for planted in PLANTED]


@functools.cache
def shared(version: int, table: Table) -> SharedState:
    return build_state(base_changes(version), table, DATA_FILES)


def race(planted: Planted) -> Simulator:
    planned: list[Planned] = []
    for writer, name in enumerate(planted.changes):
        planned += [one for one in operations(planted.version, writer) if one.name == name]
    assert [one.name for one in planned] == list(planted.changes)
    most = planted.most_faults if planted.faults else 0
    return Simulator(shared(planted.version, planted.table), planned, planted.faults, most)


def test_there_are_many_faults() -> None:
    assert len(PLANTED) >= 25
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

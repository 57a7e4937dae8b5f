"""The suites of races: every pair of changes, three writers on the core changes, and readers among them."""

from __future__ import annotations

import functools
import itertools
import os
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import active_children

from attrs import frozen

from conformance.core.interrupts import block_interrupts
from conformance.races.operations import CORE, READER, PlannedChange, racing_changes
from conformance.races.simulator import Exploration, Simulator, Step
from conformance.races.state import Fault, SharedState
from conformance.races.table_fixtures import FIXTURES
from spec_ref.commits.tables import FileSystemTable, MetastoreTable, TableKind

TABLES: dict[str, TableKind] = {"metastore": MetastoreTable(), "file-system": FileSystemTable()}
"""The kinds of tables by name."""

VERSIONS = (1, 2, 3)
READ = "read"
DEFAULT_FIXTURE = "partitioned"


@frozen
class Race:
    """The writers, the table and the faults of a race."""

    version: int
    table: str
    changes: tuple[str, ...]
    """The change of each writer; ``read`` for a reader."""

    faults: tuple[str, ...] = ()
    """The kinds of faults that may happen."""

    max_faults: int = 0
    fixture: str = DEFAULT_FIXTURE
    """The table that they race on."""

    def __str__(self) -> str:
        faults = f", at most {self.max_faults} of {len(self.faults)} kinds of faults" if self.max_faults else ""
        fixture = "" if self.fixture == DEFAULT_FIXTURE else f"{self.fixture} "
        return f"v{self.version} {fixture}{self.table} table: {' | '.join(self.changes)}{faults}"


@frozen
class RaceResult:
    """A race and its result."""

    race: Race
    explored: Exploration
    seconds: float


def change_names(version: int, fixture: str = DEFAULT_FIXTURE) -> tuple[str, ...]:
    """Return the names of the changes that can race on a fixture; none if it has no such format version."""
    chosen = FIXTURES.get(fixture)
    if chosen is None or version not in chosen.versions:
        return ()
    return tuple(one.name for one in racing_changes(chosen, version, 0))


@functools.cache
def _initial_state(fixture: str, version: int, table: str) -> SharedState:
    return FIXTURES[fixture].state(version, TABLES[table])


def _plan_changes(race: Race) -> list[PlannedChange]:
    made = []
    for writer, name in enumerate(race.changes):
        known = racing_changes(FIXTURES[race.fixture], race.version, writer)
        made += [READER] if name == READ else [one for one in known if one.name == name]
    return made


def make_simulator(race: Race, *, encoded: bool = False) -> Simulator:
    """Return the simulator of a race.

    Args:
        race: the race.
        encoded: whether files are also encoded, and checked from their bytes.

    Raises:
        KeyError: there is no such table or fixture.
        ValueError: there is no such fault.
    """
    faults = tuple(Fault(name) for name in race.faults)
    shared = _initial_state(race.fixture, race.version, race.table)
    return Simulator(shared, _plan_changes(race), faults, race.max_faults, encoded=encoded)


def explore_schedules(race: Race, *, encoded: bool = False) -> RaceResult:
    """Explore every schedule of a race.

    Args:
        race: the race.
        encoded: whether files are also encoded, and checked from their bytes.
    """
    started = time.perf_counter()
    explored = make_simulator(race, encoded=encoded).explore()
    return RaceResult(race, explored, time.perf_counter() - started)


def replay_schedule(race: Race, schedule: Sequence[Step]) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Replay one schedule; return its trace, the outcome of each writer, and the problems.

    Raises:
        ValueError: a step is not possible at its place.
    """
    simulator = make_simulator(race)
    simulator.explore()  # the simulator then knows which files several writers use
    state, problems = simulator.replay(schedule)
    return simulator.trace(schedule), simulator.outcome(state), problems


ALL_FAULTS = tuple(fault.value for fault in Fault)
LOSSES = (Fault.CRASH.value, Fault.LOST_REPLY.value)
"""The faults in races of three writers."""


def pairs(
    versions: Iterable[int],
    tables: Iterable[str],
    max_faults: int = 0,
    fixtures: Iterable[str] = (DEFAULT_FIXTURE,),
    kinds: tuple[str, ...] = ALL_FAULTS,
) -> Iterator[Race]:
    """Yield the races of two writers with every pair of changes, and some kinds of faults."""
    faults = kinds if max_faults else ()
    for fixture, version, table in itertools.product(fixtures, versions, tables):
        for changes in itertools.combinations_with_replacement(change_names(version, fixture), 2):
            yield Race(version, table, changes, faults, max_faults, fixture)


def three_writer_races(
    versions: Iterable[int], tables: Iterable[str], max_faults: int = 0, fixtures: Iterable[str] = (DEFAULT_FIXTURE,)
) -> Iterator[Race]:
    """Yield the races of three writers with the core changes; any of them may crash or get no reply."""
    faults = LOSSES if max_faults else ()
    for fixture, version, table in itertools.product(fixtures, versions, tables):
        core = [name for name in CORE if name in change_names(version, fixture)]
        for changes in itertools.combinations_with_replacement(core, 3):
            yield Race(version, table, changes, faults, max_faults, fixture)


def reader_races(
    versions: Iterable[int], tables: Iterable[str], fixtures: Iterable[str] = (DEFAULT_FIXTURE,)
) -> Iterator[Race]:
    """Yield the races of a reader with every change, and with every core change while snapshots expire."""
    for fixture, version, table in itertools.product(fixtures, versions, tables):
        known = change_names(version, fixture)
        for name in known:
            yield Race(version, table, (name, READ), fixture=fixture)
        for name in CORE:
            if name in known and "expire" in known:
                yield Race(version, table, (name, "expire", READ), fixture=fixture)


def races(
    suites: Iterable[str],
    versions: Iterable[int],
    tables: Iterable[str],
    fixtures: Iterable[str],
    max_faults: int,
    *,
    thorough: bool,
) -> list[Race]:
    """Return the races of some suites.

    Args:
        suites: pairs, triples, readers.
        versions: versions of the tables.
        tables: kinds of tables.
        fixtures: the names of the initial tables.
        max_faults: how many faults may happen in one schedule of a pair.
        thorough: whether to run every suite on every fixture, pairs with every kind of fault, and pairs and readers on
            every kind of table; and to let the three writers on the default fixture crash and lose replies. Otherwise
            only pairs race on all fixtures: on those other than the default one, only on the first kind of table and
            only with crashes and lost replies. Three writers then race only on the first kind of table.
    """
    versions, tables, fixtures = tuple(versions), tuple(tables), tuple(fixtures)
    plain = tuple(one for one in fixtures if one == DEFAULT_FIXTURE)
    others = tuple(one for one in fixtures if one != DEFAULT_FIXTURE)
    first = tables[:1]
    made: list[Race] = []
    if "pairs" in suites:
        made += pairs(versions, tables, max_faults, plain)
        made += pairs(versions, tables if thorough else first, max_faults, others, ALL_FAULTS if thorough else LOSSES)
    if "triples" in suites and thorough:
        made += three_writer_races(versions, tables, max_faults, plain)
        made += three_writer_races(versions, first, 0, others)
    elif "triples" in suites:
        made += three_writer_races(versions, first, 0, plain or others)
    if "readers" in suites:
        made += reader_races(versions, tables, fixtures if thorough else plain or others)
    return made


def play_all(races: Iterable[Race], processes: int | None = None, *, encoded: bool = False) -> Iterator[RaceResult]:
    """Run races in several processes, and yield the results in the given order.

    Args:
        races: the races.
        processes: the number of processes; the number of processors by default.
        encoded: whether files are also encoded, and checked from their bytes.
    """
    todo = list(races)
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    count = processes or available
    if count == 1 or len(todo) < count:
        yield from (explore_schedules(race, encoded=encoded) for race in todo)
        return
    others = set(active_children())
    with ProcessPoolExecutor(count) as pool:
        try:
            with block_interrupts():
                futures = [pool.submit(explore_schedules, race, encoded=encoded) for race in todo]
            for future in futures:
                yield future.result()
        except BaseException:  # after an interruption, do not wait for running races
            for child in set(active_children()) - others:
                child.kill()
            raise

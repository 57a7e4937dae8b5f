"""Running a matrix: producers write, consumers read, each adapter is started once."""

from __future__ import annotations

import re
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from attrs import evolve, field, frozen

from conformance.adapters.asking import Adapter, Request
from conformance.adapters.table_requests import TIMES
from conformance.expectations import Expectations
from conformance.failures import ExitStatus, NotExamined
from conformance.judge import judge
from conformance.matrix.catalogue import Variant
from conformance.matrix.cells import GOLDEN, Cell, MadeTable, Matrix, Participant, State, state_of, worst
from conformance.matrix.known import Known, apply_known
from conformance.matrix.producing import write_tables
from conformance.protocol import Answer, Started
from conformance.results import Result, Run
from conformance.runner import Target, difference_json, undeclared
from conformance.vectors import Vector

DIFFERENCES = 3
"""Differences of a cell that are told."""

Tell = Callable[[str, int, int], None]


@frozen
class Plan:
    """What to run."""

    producers: tuple[Target, ...]
    consumers: tuple[Target, ...]
    scripts: tuple[Variant, ...]
    golden: tuple[MadeTable, ...]
    folder: Path
    """Where tables are written; it exists."""

    known: tuple[Known, ...] = ()
    expectations: Expectations = field(factory=Expectations)
    """What is known of the vectors that read golden tables."""

    golden_run: Run | None = None
    """A run of the vectors, so that golden tables need not be read again."""

    jobs: int = 2
    """Adapters that work at once."""


@frozen
class _Session:
    """An adapter that was started, or why it was not."""

    participant: Participant
    adapter: Adapter | None = None
    started: Started | None = None


def run_matrix(plan: Plan, header: dict[str, object], tell: Tell = lambda _what, _done, _of: None) -> Matrix:
    """Run a plan.

    Raises:
        UsageError: two known deviations speak of one cell.
    """
    matrix = Matrix(dict(header))
    targets = {target.name: target for target in (*plan.producers, *plan.consumers)}
    with ExitStack() as stack, ThreadPoolExecutor(plan.jobs) as pool:
        opened = dict(zip(targets, pool.map(lambda one: _open(one, plan), targets.values()), strict=True))
        for session in opened.values():
            if session.adapter is not None:
                stack.push(session.adapter)
        matrix.tables += plan.golden
        writers = [opened[target.name] for target in plan.producers]
        for written, seconds in pool.map(lambda one: _write(one, plan, tell), writers):
            matrix.tables += written
            _spend(opened, written[0].producer if written else "", seconds)
        readable = [table for table in matrix.tables if table.writing.is_table and table.cases]
        readers = [opened[target.name] for target in plan.consumers]
        for session, (cells, seconds) in zip(
            readers, pool.map(lambda one: _read(one, readable, plan, tell), readers), strict=True
        ):
            matrix.cells += cells
            _spend(opened, session.participant.name, seconds)
        matrix.participants += [session.participant for session in opened.values()]
    apply_known(matrix, plan.known)
    matrix.complete = True
    matrix.exit_status = exit_status(matrix)
    return matrix


def exit_status(matrix: Matrix) -> ExitStatus:
    """What a run comes to: new differences first, then adapters that could not be examined."""
    if matrix.new_cells or matrix.new_tables or matrix.unmet:
        return ExitStatus.FAILURES
    if any(one.not_examined for one in matrix.participants):
        return ExitStatus.NOT_EXAMINED
    return ExitStatus.CONFORMANT


def _open(target: Target, plan: Plan) -> _Session:
    began = time.monotonic()
    told = Participant(target.name, writes=target in plan.producers, reads=target in plan.consumers)
    try:
        adapter = target.open()
        started = adapter.start()
    except NotExamined as error:
        return _Session(evolve(told, not_examined=str(error)))
    told = evolve(
        told, implementation=started.implementation, version=started.version, language=started.language,
        seconds=round(time.monotonic() - began, 3),
    )  # fmt: skip
    return _Session(told, adapter, started)


def _spend(opened: dict[str, _Session], name: str, seconds: float) -> None:
    if name in opened:
        who = opened[name].participant
        spent = round(who.seconds + seconds, 3)
        opened[name] = evolve(opened[name], participant=evolve(who, seconds=spent))


def _write(session: _Session, plan: Plan, tell: Tell) -> tuple[list[MadeTable], float]:
    began = time.monotonic()
    if session.adapter is None or session.started is None:
        return [], 0.0
    name, done = session.participant.name, iter(range(1, len(plan.scripts) + 1))
    tables = list(
        write_tables(
            name, session.adapter, session.started, plan.scripts, plan.folder / folder_name(name),
            lambda: tell(f"{name} writes", next(done), len(plan.scripts)),
        )
    )  # fmt: skip
    return tables, time.monotonic() - began


@frozen
class _Reading:
    """What became of one reading of a table."""

    vector: Vector
    state: State
    reason: str = ""
    differences: tuple[dict[str, Any], ...] = field(default=(), hash=False)
    known: str = ""

    @property
    def is_current(self) -> bool:
        """Whether it is of the table as it is."""
        return not self.vector.args.keys() & set(TIMES)


def folder_name(name: str) -> str:
    """The folder of a producer: a name that no engine takes for more than a name, not even in a URL or a catalog."""
    return re.sub("[^a-z0-9]+", "-", name.lower())


def _read(session: _Session, tables: Sequence[MadeTable], plan: Plan, tell: Tell) -> tuple[list[Cell], float]:
    """The cells of one consumer."""
    began = time.monotonic()
    name = session.participant.name
    found = dict(_replayed(name, tables, plan.golden_run))
    left = [table for table in tables if (table.producer, table.name) not in found]
    if session.adapter is not None and session.started is not None:
        found |= _asked(session.adapter, session.started, left, plan, tell)
    cells = [_cell(name, table, found[key]) for table in tables if (key := (table.producer, table.name)) in found]
    return cells, time.monotonic() - began


def _asked(
    adapter: Adapter, started: Started, tables: Sequence[MadeTable], plan: Plan, tell: Tell
) -> dict[tuple[str, str], list[_Reading]]:
    asked = [(table, vector) for table in tables for vector in table.cases]
    expected = plan.expectations.of(adapter.name, started)
    found: dict[tuple[str, str], list[_Reading]] = defaultdict(list)
    answers = _answers(adapter, started, [vector for _, vector in asked])
    for done, ((table, vector), answer) in enumerate(zip(asked, answers, strict=True), 1):
        verdict = judge(vector, answer)
        known = expected.status(vector, verdict)[1] if table.producer.startswith(GOLDEN) else ""
        differences = tuple(map(difference_json, verdict.differences[:DIFFERENCES]))
        found[table.producer, table.name].append(
            _Reading(vector, state_of(verdict.outcome, verdict.got), verdict.reason, differences, known)
        )
        tell(f"{adapter.name} reads", done, len(asked))
    return found


def _answers(adapter: Adapter, started: Started, vectors: Sequence[Vector]) -> Iterator[Answer]:
    """The answers, in order; what the adapter says it does not have is not asked."""
    told = [undeclared(started, vector) for vector in vectors]
    answers = adapter.ask(
        Request(vector.operation.name, vector.args)
        for vector, unsupported in zip(vectors, told, strict=True)
        if unsupported is None
    )
    for unsupported in told:
        yield unsupported or next(answers)


def _replayed(
    consumer: str, tables: Sequence[MadeTable], run: Run | None
) -> Iterator[tuple[tuple[str, str], list[_Reading]]]:
    """The golden tables that a run of the vectors has all readings of."""
    results = {} if run is None else {result.id: result for result in run.results_of(consumer)}
    for table in tables:
        if table.producer.startswith(GOLDEN) and all(vector.id in results for vector in table.cases):
            yield (table.producer, table.name), [_of_result(vector, results[vector.id]) for vector in table.cases]


def _of_result(vector: Vector, result: Result) -> _Reading:
    state = state_of(result.outcome, result.got or {})
    return _Reading(vector, state, result.reason, result.differences[:DIFFERENCES], result.deviation)


def _cell(consumer: str, table: MadeTable, readings: list[_Reading]) -> Cell:
    """One cell: of what is bad the worst, else the table as it is; what is bad is known when all that is bad is."""
    current = next((place for place, one in enumerate(readings) if one.is_current), len(readings) - 1)
    chosen = readings[worst([one.state for one in readings], current)]
    return Cell(
        producer=table.producer,
        consumer=consumer,
        table=table.name,
        state=chosen.state,
        case=chosen.vector.id if chosen.state is not State.RIGHT else "",
        reason=chosen.reason,
        differences=chosen.differences,
        known=chosen.known if all(one.known for one in readings if one.state.is_bad) else "",
    )

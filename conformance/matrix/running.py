"""Running a matrix: producers write, consumers read, each adapter is started once."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

from attrs import evolve, field, frozen

from conformance.adapters.asking import Adapter, Request
from conformance.adapters.table_requests import TIMES
from conformance.expectations import Expectations
from conformance.failures import ExitStatus, NotExamined
from conformance.judge import Verdict, judge
from conformance.matrix.catalogue import Variant
from conformance.matrix.cells import GOLDEN, Cell, MadeTable, Matrix, Participant, State, state_of, worst
from conformance.matrix.known import Known, apply_known
from conformance.matrix.producing import write_tables
from conformance.protocol import Answer, Started
from conformance.runner import Target, difference_json, undeclared
from conformance.vectors import Vector

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
            name, session.adapter, session.started, plan.scripts, plan.folder / name.replace("/", "_"),
            lambda: tell(f"{name} writes", next(done), len(plan.scripts)),
        )
    )  # fmt: skip
    return tables, time.monotonic() - began


def _read(session: _Session, tables: Sequence[MadeTable], plan: Plan, tell: Tell) -> tuple[list[Cell], float]:
    """The cells of one consumer."""
    began = time.monotonic()
    if session.adapter is None or session.started is None:
        return [], 0.0
    name, started = session.participant.name, session.started
    asked = [(table, vector) for table in tables for vector in table.cases]
    verdicts: dict[tuple[str, str], list[tuple[Vector, Verdict]]] = defaultdict(list)
    known: dict[tuple[str, str], list[str]] = defaultdict(list)
    expected = plan.expectations.of(name, started)
    answers = _answers(session.adapter, started, [vector for _, vector in asked])
    for done, ((table, vector), answer) in enumerate(zip(asked, answers, strict=True), 1):
        verdict, key = judge(vector, answer), (table.producer, table.name)
        verdicts[key].append((vector, verdict))
        if table.producer.startswith(GOLDEN):
            known[key].append(expected.status(vector, verdict)[1])
        tell(f"{name} reads", done, len(asked))
    cells = [_cell(name, table, verdicts[table.producer, table.name], known[table.producer, table.name])
             for table in tables]  # fmt: skip
    return cells, time.monotonic() - began


def _answers(adapter: Adapter, started: Started, vectors: Sequence[Vector]) -> list[Answer]:
    told = [undeclared(started, vector) for vector in vectors]
    answers = adapter.ask(
        Request(vector.operation.name, vector.args)
        for vector, unsupported in zip(vectors, told, strict=True)
        if unsupported is None
    )
    return [unsupported or next(answers) for unsupported in told]


def _cell(consumer: str, table: MadeTable, verdicts: list[tuple[Vector, Verdict]], known: list[str]) -> Cell:
    """One cell, of all states of the table the worst; what is bad is known when all that is bad is."""
    states = [state_of(verdict) for _, verdict in verdicts]
    current = next((n for n, (one, _) in enumerate(verdicts) if not one.args.keys() & set(TIMES)), len(states) - 1)
    vector, verdict = verdicts[place := worst(states, current)]
    bad = [reason for state, reason in zip(states, known, strict=False) if state.is_bad]
    return Cell(
        producer=table.producer,
        consumer=consumer,
        table=table.name,
        state=states[place],
        case=vector.id if states[place] is not State.RIGHT else "",
        reason=verdict.reason,
        differences=tuple(map(difference_json, verdict.differences[:3])),
        known=known[place] if bad and all(bad) else "",
    )

"""Run a matrix: producers write, consumers read, and each adapter is started once."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import ExitStack
from pathlib import Path
from typing import Any, TypeVar

from attrs import evolve, field, frozen

from conformance.adapter_sdk.table_requests import TIMES
from conformance.core.failures import ExitStatus, NotExamined
from conformance.interop.catalogue import ScriptVariant
from conformance.interop.cells import (
    GOLDEN,
    Cell,
    Matrix,
    Participant,
    ProducedTable,
    TableOutcome,
    reading_outcome,
    worst_index,
)
from conformance.interop.known import KnownOutcome, apply_known
from conformance.interop.producing import write_tables
from conformance.operations.protocol import Answer, StartAnswer
from conformance.runner.adapter_interface import Adapter, Request
from conformance.runner.execution import Target, difference_json, undeclared_operations
from conformance.runner.expectations import Expectations
from conformance.runner.judge import judge_answer
from conformance.runner.results import Result, Run
from conformance.vectors import Vector
from conformance.vectors.golden_tables import golden_location, tables_folder

DIFFERENCES = 3
"""The maximum number of differences of a cell that are reported."""

ReportProgress = Callable[[str, int, int], None]


@frozen
class MatrixPlan:
    """The parts of a matrix to run."""

    producers: tuple[Target, ...]
    consumers: tuple[Target, ...]
    scripts: tuple[ScriptVariant, ...]
    golden: tuple[ProducedTable, ...]
    folder: Path
    """The existing directory to which tables are written."""

    known: tuple[KnownOutcome, ...] = ()
    expectations: Expectations = field(factory=Expectations)
    """The known deviations in the vectors that read golden tables."""

    golden_run: Run | None = None
    """A previous run of the vectors, so that golden tables need not be read again."""

    jobs: int = 2
    """The number of adapters that work at the same time."""


@frozen
class _Session:
    """An adapter that was started, or the reason why it was not."""

    participant: Participant
    adapter: Adapter | None = None
    started: StartAnswer | None = None


def run_matrix(
    plan: MatrixPlan, matrix: Matrix, report_progress: ReportProgress = lambda _what, _done, _of: None
) -> Matrix:
    """Run a plan.

    Args:
        plan: what to run.
        matrix: a matrix with only a header, to which the results are added; after an interruption, the tables that
            were written, and the cells all of whose readings were answered.
        report_progress: called with the stage, the number of steps that are done, and the total.

    Raises:
        UsageError: two known deviations apply to the same cell.
        KeyboardInterrupt: it was interrupted.
    """
    _Running(plan, matrix, report_progress).all()
    apply_known(matrix, plan.known)
    matrix.complete = True
    matrix.exit_status = exit_status(matrix)
    return matrix


def exit_status(matrix: Matrix) -> ExitStatus:
    """Return the exit status of a run: new differences first, then adapters that could not be run, then no cells."""
    if matrix.new_cells or matrix.new_tables or matrix.unmet:
        return ExitStatus.FAILURES
    if any(one.not_examined for one in matrix.participants):
        return ExitStatus.NOT_EXAMINED
    return ExitStatus.CONFORMANT if matrix.cells else ExitStatus.NOTHING_SELECTED


One = TypeVar("One")
Done = TypeVar("Done")


@frozen
class _Running:
    """A run in progress, in which several adapters work at the same time."""

    plan: MatrixPlan
    matrix: Matrix
    report_progress: ReportProgress
    stack: ExitStack = field(factory=ExitStack)
    """Stops the adapters."""

    adapters: list[Adapter] = field(factory=list)
    opened: dict[str, _Session] = field(factory=dict)
    ended: threading.Event = field(factory=threading.Event)
    """Set once the run is interrupted: answers of adapters after that are ignored."""

    def all(self) -> None:
        """Start the adapters; let the producers write, and then the consumers read."""
        plan, matrix = self.plan, self.matrix
        targets = {target.name: target for target in (*plan.producers, *plan.consumers)}
        try:
            with self.stack, ThreadPoolExecutor(plan.jobs) as pool:
                for session in self._side_by_side(pool, self._open, list(targets.values())):
                    self.opened[session.participant.name] = session
                matrix.tables += plan.golden
                self._side_by_side(pool, self._write, [self.opened[one.name] for one in plan.producers])
                readable = [table for table in matrix.tables if table.outcome.is_table and table.cases]
                readers = [(self.opened[one.name], readable) for one in plan.consumers]
                self._side_by_side(pool, self._read, readers)
        except KeyboardInterrupt:
            matrix.exit_status = ExitStatus.INTERRUPTED
            raise
        finally:
            self._in_order()

    def _side_by_side(self, pool: ThreadPoolExecutor, work: Callable[[One], Done], parts: Sequence[One]) -> list[Done]:
        """Return the result for each part. An interruption stops every adapter."""
        running = [pool.submit(work, part) for part in parts]
        try:
            return [future.result() for future in running]
        except BaseException:
            self.ended.set()
            pool.shutdown(wait=False, cancel_futures=True)
            while wait(running, timeout=0.2).not_done:  # an adapter may have been about to start its process
                for adapter in self.adapters:
                    adapter.interrupt()
            raise

    def _in_order(self) -> None:
        """Sort the results in the order of the plan, in whatever order adapters finished."""
        matrix = self.matrix
        places = {name: place for place, name in enumerate(self.opened)}
        matrix.participants += [session.participant for session in self.opened.values()]
        matrix.tables.sort(key=lambda table: places.get(table.producer, -1))
        tables = {(table.producer, table.name): place for place, table in enumerate(matrix.tables)}
        matrix.cells.sort(key=lambda cell: (places[cell.consumer], tables[cell.producer, cell.table]))

    def _open(self, target: Target) -> _Session:
        began = time.monotonic()
        participant = Participant(
            target.name, writes=target in self.plan.producers, reads=target in self.plan.consumers
        )
        try:
            adapter = self.stack.enter_context(target.open())
            self.adapters.append(adapter)
            started = adapter.start()
        except NotExamined as error:
            return _Session(evolve(participant, not_examined=str(error)))
        participant = evolve(
            participant,
            implementation=started.implementation,
            version=started.version,
            language=started.language,
            seconds=round(time.monotonic() - began, 3),
        )
        return _Session(participant, adapter, started)

    def _spent(self, session: _Session, began: float) -> None:
        who = self.opened[session.participant.name].participant
        seconds = round(who.seconds + time.monotonic() - began, 3)
        self.opened[who.name] = evolve(session, participant=evolve(who, seconds=seconds))

    def _write(self, session: _Session) -> None:
        if session.adapter is None or session.started is None:
            return
        began, scripts = time.monotonic(), self.plan.scripts
        name = session.participant.name
        folder = self.plan.folder / folder_name(name)
        for done, table in enumerate(write_tables(name, session.adapter, session.started, scripts, folder), 1):
            if self.ended.is_set():
                return
            self.matrix.tables.append(table)
            self.report_progress(f"{name} writes", done, len(scripts))
        self._spent(session, began)

    def _read(self, part: tuple[_Session, Sequence[ProducedTable]]) -> None:
        """Add the cells of one consumer."""
        session, tables = part
        began = time.monotonic()
        name = session.participant.name
        found = dict(_replay_golden(name, tables, self.plan.golden_run))
        self.matrix.cells += [_cell(name, table, found[key]) for table in tables if (key := _key(table)) in found]
        left = [table for table in tables if _key(table) not in found]
        if session.adapter is not None and session.started is not None:
            for table, readings in _read_tables(
                session.adapter, session.started, left, self.plan, self.report_progress
            ):
                if self.ended.is_set():
                    return
                self.matrix.cells.append(_cell(name, table, readings))
        self._spent(session, began)


@frozen
class _Reading:
    """The result of reading one state of a table."""

    vector: Vector
    outcome: TableOutcome
    reason: str = ""
    differences: tuple[dict[str, Any], ...] = field(default=(), hash=False)
    known: str = ""
    known_id: str = ""

    @property
    def is_current(self) -> bool:
        """Whether it reads the current state of the table."""
        return not self.vector.args.keys() & set(TIMES)


def folder_name(name: str) -> str:
    """Return the directory name of a producer, without characters that have a meaning in URLs or catalogs."""
    return re.sub("[^a-z0-9]+", "-", name.lower())


def _key(table: ProducedTable) -> tuple[str, str]:
    return table.producer, table.name


def _read_tables(
    adapter: Adapter,
    started: StartAnswer,
    tables: Sequence[ProducedTable],
    plan: MatrixPlan,
    report_progress: ReportProgress,
) -> Iterator[tuple[ProducedTable, list[_Reading]]]:
    """Yield each table with the results of its readings."""
    asked = [vector for table in tables for vector in table.cases]
    expected = plan.expectations.for_adapter(adapter.name, started)
    answers = enumerate(_answers(adapter, started, asked), 1)
    for table in tables:
        readings = []
        for vector, (done, answer) in zip(table.cases, answers, strict=False):  # the rest is for the other tables
            verdict = judge_answer(vector, answer)
            deviation = expected.status(vector, verdict)[1] if table.producer.startswith(GOLDEN) else None
            known, known_id = (deviation.description, deviation.id) if deviation else ("", "")
            differences = tuple(map(difference_json, verdict.differences[:DIFFERENCES]))
            outcome = reading_outcome(verdict.outcome, verdict.got)
            readings.append(_Reading(vector, outcome, verdict.reason, differences, known, known_id))
            report_progress(f"{adapter.name} reads", done, len(asked))
        yield table, readings


def _answers(adapter: Adapter, started: StartAnswer, vectors: Sequence[Vector]) -> Iterator[Answer]:
    """Yield the answers in order; operations that the adapter does not declare are not requested."""
    missing = [undeclared_operations(started, vector) for vector in vectors]
    golden = golden_location(tables_folder())
    answers = adapter.ask(
        Request(vector.operation.name, golden.request(vector.args))
        for vector, unsupported in zip(vectors, missing, strict=True)
        if unsupported is None
    )
    for unsupported in missing:
        yield unsupported or golden.answer(next(answers))


def _replay_golden(
    consumer: str, tables: Sequence[ProducedTable], run: Run | None
) -> Iterator[tuple[tuple[str, str], list[_Reading]]]:
    """Yield the golden tables whose readings are all in a run of the vectors."""
    results = {} if run is None else {result.id: result for result in run.adapter_results(consumer)}
    for table in tables:
        if table.producer.startswith(GOLDEN) and all(vector.id in results for vector in table.cases):
            yield _key(table), [_reading_from_result(vector, results[vector.id]) for vector in table.cases]


def _reading_from_result(vector: Vector, result: Result) -> _Reading:
    outcome = reading_outcome(result.outcome, result.got or {})
    differences = result.differences[:DIFFERENCES]
    return _Reading(vector, outcome, result.reason, differences, result.deviation, result.deviation_id)


def _cell(consumer: str, table: ProducedTable, readings: list[_Reading]) -> Cell:
    """Return one cell: the worst bad reading, else the current state; it is known if all bad readings are known."""
    current = next((place for place, one in enumerate(readings) if one.is_current), len(readings) - 1)
    chosen = readings[worst_index([one.outcome for one in readings], current)]
    is_known = all(one.known for one in readings if one.outcome.is_bad)
    return Cell(
        producer=table.producer,
        consumer=consumer,
        table=table.name,
        outcome=chosen.outcome,
        case=chosen.vector.id if chosen.outcome is not TableOutcome.PASSED else "",
        reason=chosen.reason,
        differences=chosen.differences,
        known=chosen.known if is_known else "",
        known_id=chosen.known_id if is_known else "",
    )

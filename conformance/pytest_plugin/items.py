"""The tests that the pytest plugin makes from vectors, and the adapter that they run against."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from conformance import vectors
from conformance.core.failures import NotExamined, ToolError, UsageError, suggest_names
from conformance.operations.protocol import Answer, StartAnswer
from conformance.reports.evidence import evidence, short_evidence
from conformance.runner import expectations
from conformance.runner.adapter_interface import Adapter
from conformance.runner.execution import answers, difference_json
from conformance.runner.expectations import Expectations, ExpectedDeviations
from conformance.runner.judge import Outcome, judge_answer
from conformance.runner.process import AdapterLimits
from conformance.runner.results import AdapterRun, Case, Result
from conformance.runner.scratch_dir import clear, table_folders
from conformance.runner.targets import target
from conformance.vectors import Selection, Vector
from conformance.vectors.golden_tables import materialize_for, tables_folder


def collect(session: pytest.Session, ids: Sequence[str]) -> list[VectorItem]:
    """Make the tests of a session.

    Args:
        session: the session of pytest, with the plugin's options.
        ids: the ids of the tests that the command line names, as pytest prints them; empty for all tests.

    Raises:
        pytest.UsageError: an option is not valid, or nothing is selected.
    """
    try:
        return _items(session, ids)
    except ToolError as error:
        raise pytest.UsageError(str(error)) from None


def _items(session: pytest.Session, ids: Sequence[str]) -> list[VectorItem]:
    config = session.config
    folder = config.getoption("--iceberg-vectors") or vectors.shipped()
    every = vectors.load(folder)
    expect = config.getoption("--iceberg-expect")
    expected = (
        Expectations() if expect is None else expectations.load_deviations(expect, {vector.id for vector in every})
    )
    selection = Selection(
        tuple(config.getoption("--iceberg-suite")),
        requirements=tuple(config.getoption("--iceberg-requirement")),
        format_version=config.getoption("--iceberg-format-version"),
    )
    chosen = list(selection.choose(every))
    if ids:
        chosen = _with_ids(chosen, ids)
    if not chosen:
        raise UsageError(f"no vector of {folder} is selected")

    timeout = config.getoption("--iceberg-timeout")
    limits = AdapterLimits() if timeout is None else AdapterLimits(request=timeout)
    engine = AdapterSession(config.getoption("--iceberg-adapter"), limits, expected)
    config.add_cleanup(engine.close)
    root = VectorCollector.from_parent(session, name="iceberg", nodeid="iceberg")
    suites = {
        suite: VectorCollector.from_parent(root, name=suite, nodeid=_suite_id(suite))
        for suite in dict.fromkeys(vector.suite for vector in chosen)
    }
    return [
        VectorItem.from_parent(suites[vector.suite], name=vector.id, vector=vector, engine=engine) for vector in chosen
    ]


def _with_ids(chosen: Sequence[Vector], ids: Sequence[str]) -> list[Vector]:
    """Return the vectors that ids of tests or suites name, each once, in the order of the ids.

    Raises:
        UsageError: an id names no vector.
    """
    by_id: dict[str, list[Vector]] = {}
    for vector in chosen:
        for id_ in (_suite_id(vector.suite), f"{_suite_id(vector.suite)}::{vector.id}"):
            by_id.setdefault(id_, []).append(vector)
    for id_ in ids:
        if id_ not in by_id:
            raise UsageError(f"{id_}: no selected vector has this test id{suggest_names(id_, by_id)}")
    return list({vector.id: vector for id_ in ids for vector in by_id[id_]}.values())


def _suite_id(suite: str) -> str:
    return f"iceberg::{suite}"


class AdapterSession:
    """The adapter of one session of pytest, started when the first test needs it."""

    def __init__(self, name: str, limits: AdapterLimits, expected: Expectations) -> None:
        """Prepare the adapter of a session; nothing is started yet.

        Args:
            name: the name of an engine, or a command, as for ``run --adapter``.
            limits: the limits of time, and of requests in flight.
            expected: the known deviations.

        Raises:
            UsageError: no adapter has the name.
        """
        self._target = target(name, limits)
        self._expectations = expected
        self._open = ExitStack()
        self._started: tuple[Adapter, StartAnswer, ExpectedDeviations] | None = None
        self._pending: Iterator[tuple[Vector, Answer]] = iter(())
        self._answered: dict[str, tuple[Vector, Answer]] = {}
        self.failed_to_start: str | None = None
        """The reason why the adapter cannot be started, once that is known."""

        self.run = AdapterRun(self._target.name, self._target.reproduce or self._target.name)

    def run_vector(
        self, vector: Vector, next_vectors: Callable[[], Sequence[Vector]]
    ) -> tuple[Vector, Answer, ExpectedDeviations]:
        """Run a vector; like ``run``, send the requests of later vectors before its answer is read.

        Args:
            vector: the vector.
            next_vectors: returns the vectors that will be run next, as far as they are known.

        Returns:
            The vector as it was sent, the answer, and the known deviations of the implementation.

        Raises:
            NotExamined: the adapter cannot be started.
        """
        adapter, started, expected = self._start()
        if vector.id not in self._answered:
            self._answered.update(self._answers_up_to(vector.id))
        if vector.id not in self._answered:  # its request has not been sent
            requested = self._open.enter_context(table_folders([vector, *next_vectors()]))
            golden = materialize_for(requested, tables_folder())
            self._pending = answers(adapter, started, requested, golden)
            self._answered.update(self._answers_up_to(vector.id))
        return *self._answered.pop(vector.id), expected

    def _answers_up_to(self, id_: str) -> Iterator[tuple[str, tuple[Vector, Answer]]]:
        """Yield the answers to requests in flight, up to the answer for a vector."""
        for vector, answer in self._pending:
            yield vector.id, (vector, answer)
            if vector.id == id_:
                return

    def _start(self) -> tuple[Adapter, StartAnswer, ExpectedDeviations]:
        if self._started is None:
            try:
                adapter = self._open.enter_context(self._target.open())
                started = adapter.start()
            except NotExamined as error:
                self.failed_to_start = f"{self._target.name}: not run: {error}"
                raise NotExamined(self.failed_to_start) from None
            self._started = adapter, started, self._expectations.for_adapter(self._target.name, started)
        return self._started

    def close(self) -> None:
        """Stop the adapter, and remove the tables that it wrote."""
        self._open.close()


class VectorCollector(pytest.Collector):
    """A level in the tree of tests: the root, or a suite."""

    def collect(self) -> list[pytest.Item | pytest.Collector]:
        return []  # `pytest_collection_modifyitems` adds all tests at once


class VectorFailure(Exception):
    """The answer of the engine differs from the vector; the message is the evidence."""

    def __init__(self, reason: str, lines: Sequence[str]) -> None:
        """Make the error.

        Args:
            reason: the text for the summary of pytest.
            lines: the evidence.
        """
        super().__init__("\n".join(lines))
        self.reason = reason


class VectorItem(pytest.Item):
    """One vector as a test."""

    def __init__(self, *, vector: Vector, engine: AdapterSession, **more: Any) -> None:
        """Make the test of a vector; ``more`` has the arguments that pytest gives each test."""
        super().__init__(**more)
        self.vector = vector
        self.engine = engine
        self.add_marker(pytest.mark.iceberg_suite(name=vector.suite))
        for code in vector.requirements:
            self.add_marker(pytest.mark.iceberg_requirement(code=code))
        for version in vector.versions:
            self.add_marker(pytest.mark.iceberg_version(number=version))
        self.extra_keyword_matches.update((vector.operation.name, *vector.requirements))

    def runtest(self) -> None:
        if self.engine.failed_to_start is not None:
            pytest.skip("the adapter could not be started; see the error of the first test")
        sent, answer, expected = self.engine.run_vector(self.vector, self._next_vectors)
        verdict = judge_answer(sent, answer)
        clear(sent)
        status, deviation, unmet = expected.status(self.vector, verdict)
        if status == "known":
            assert deviation is not None
            pytest.xfail(deviation.description)
        if unmet is None and verdict.outcome is Outcome.UNSUPPORTED:
            pytest.skip(f"unsupported: {verdict.reason}")
        if unmet is not None or verdict.outcome is not Outcome.PASSED:
            result = Result(
                self.engine.run.name,
                self.vector.id,
                verdict.outcome,
                status,
                verdict.reason,
                verdict.got,
                tuple(map(difference_json, verdict.differences)),
                stderr=verdict.stderr,
            )
            lines = evidence(Case.from_vector(self.vector), result, self.engine.run)
            raise VectorFailure(unmet or short_evidence(result), [*([unmet] if unmet else []), *lines])

    def _next_vectors(self) -> list[Vector]:
        """Return the vectors that this process will run next; none in a worker of xdist, which does not know them."""
        if hasattr(self.config, "workerinput"):
            return []
        following = self.session.items[self.session.items.index(self) + 1 :]
        return [item.vector for item in following if isinstance(item, VectorItem)]

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        if not isinstance(excinfo.value, VectorFailure | ToolError):
            return super().repr_failure(excinfo, style)
        shown = excinfo.getrepr(style="value")
        if shown.reprcrash is not None:  # the text of the summary
            shown.reprcrash.message = (
                excinfo.value.reason if isinstance(excinfo.value, VectorFailure) else str(excinfo.value)
            )
        return shown

    def reportinfo(self) -> tuple[Path, int | None, str]:
        return Path(self.vector.file), None, f"{self.vector.suite}: {self.vector.id}"

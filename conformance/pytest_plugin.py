"""A pytest plugin: the vectors as tests of an engine's own suite.

    pytest --iceberg-adapter "./my-adapter --stdio"

With ``--iceberg-adapter`` each vector becomes a test ``iceberg::SUITE::ID``; without it the plugin does nothing. ``-k``
finds ids, suites, operations and requirements; ``-m`` takes marks such as ``iceberg_suite(name="hashing")``,
``iceberg_requirement(code="HSH007")`` and ``iceberg_version(number=3)``. What the engine does not support is skipped;
a deviation in ``--iceberg-expect`` is an expected failure, and fails as soon as it no longer happens.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from conformance import expectations, vectors
from conformance.adapters.asking import Adapter, Request
from conformance.adapters.process import Limits
from conformance.cli.targets import target
from conformance.expectations import Expectations, Expected
from conformance.failures import NotExamined, ToolError
from conformance.golden_tables import materialize_for
from conformance.judge import Outcome, judge
from conformance.protocol import Answer, Crashed, Started
from conformance.reports.evidence import evidence
from conformance.results import AdapterRun, Case, Result
from conformance.runner import difference_json, undeclared
from conformance.vectors import Selection, Vector
from conformance.written_tables import places

MARKS = {
    "iceberg_suite(name)": "the suite of a vector",
    "iceberg_requirement(code)": "a requirement that a vector proves",
    "iceberg_version(number)": "a format version that a vector holds for",
}


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options, in a group of their own."""
    group = parser.getgroup("iceberg", "conformance to the Apache Iceberg table spec")
    group.addoption("--iceberg-adapter", metavar="NAME or CMD", help="whom to ask; nothing is asked without it")
    group.addoption("--iceberg-suite", action="append", default=[], metavar="SUITE", help="vectors of this suite only")
    group.addoption("--iceberg-requirement", action="append", default=[], metavar="CODE", help="those that prove this")
    group.addoption("--iceberg-format-version", type=int, metavar="N", help="those that hold for this format version")
    group.addoption("--iceberg-expect", metavar="FILE", help="known deviations, or known-deviations for those shipped")
    group.addoption("--iceberg-vectors", type=Path, metavar="FOLDER", help="other vectors than those shipped")
    group.addoption("--iceberg-timeout", type=float, default=Limits().request, metavar="SECONDS", help="for one answer")


def pytest_configure(config: pytest.Config) -> None:
    """Make the marks known."""
    for mark, meaning in MARKS.items():
        config.addinivalue_line("markers", f"{mark}: {meaning}")


@pytest.hookimpl(tryfirst=True)  # -k and -m choose among what is added here
def pytest_collection_modifyitems(session: pytest.Session, config: pytest.Config, items: list[pytest.Item]) -> None:
    """Add the vectors to what was collected."""
    name = config.getoption("--iceberg-adapter")
    if name is not None:
        try:
            items.extend(_items(session, config, name))
        except ToolError as error:
            raise pytest.UsageError(str(error)) from None


def _items(session: pytest.Session, config: pytest.Config, name: str) -> Iterator[pytest.Item]:
    folder = config.getoption("--iceberg-vectors") or vectors.shipped()
    every = vectors.load(folder)
    expect = config.getoption("--iceberg-expect")
    expected = Expectations() if expect is None else expectations.load(expect, {vector.id for vector in every})
    selection = Selection(
        tuple(config.getoption("--iceberg-suite")),
        requirements=tuple(config.getoption("--iceberg-requirement")),
        format_version=config.getoption("--iceberg-format-version"),
    )
    chosen = selection.choose(every)
    if not chosen:
        raise pytest.UsageError(f"no vector of {folder} is selected")
    engine = Engine(name, Limits(request=config.getoption("--iceberg-timeout")), expected)
    config.add_cleanup(engine.close)
    root = Collected.from_parent(session, name="iceberg", nodeid="iceberg")
    suites: dict[str, Collected] = {}
    for vector in chosen:
        parent = suites.get(vector.suite)
        if parent is None:
            nodeid = f"iceberg::{vector.suite}"
            parent = suites[vector.suite] = Collected.from_parent(root, name=vector.suite, nodeid=nodeid)
        yield VectorItem.from_parent(parent, name=vector.id, vector=vector, engine=engine)


class Engine:
    """The adapter of one session of pytest, started when the first test needs it."""

    def __init__(self, name: str, limits: Limits, expected: Expectations) -> None:
        self._target = target(name, limits)
        self._expected = expected
        self._adapter: Adapter | None = None
        self._started: Started | None = None
        self._broken = ""
        self.run = AdapterRun(self._target.name, self._target.reproduce or self._target.name)

    def start(self) -> tuple[Adapter, Started]:
        """Start it, once.

        Raises:
            NotExamined: it cannot be started; it is not tried again.
        """
        if self._broken:
            raise NotExamined(self._broken)
        if self._adapter is None or self._started is None:
            try:
                self._adapter = self._target.open().__enter__()
                self._started = self._adapter.start()
            except NotExamined as error:
                self._broken = str(error)
                raise
        return self._adapter, self._started

    def ask(self, vector: Vector) -> tuple[Answer, Expected]:
        """Ask a case, and tell what is known of who answers."""
        adapter, started = self.start()
        answer: Answer | None = undeclared(started, vector)
        if answer is None:
            materialize_for([vector])
            answer = next(iter(adapter.ask([Request(vector.operation.name, vector.args)])))
            if isinstance(answer, Crashed):
                self.close()  # the next test starts it again
        return answer, self._of(started)

    def _of(self, started: Started) -> Expected:
        return self._expected.of(self._target.name, started)

    def close(self) -> None:
        """End it; it can be started again."""
        adapter, self._adapter = self._adapter, None
        if adapter is not None:
            adapter.__exit__(None, None, None)


class Collected(pytest.Collector):
    """A level of the names of the tests: all of them, or a suite."""

    def collect(self) -> list[pytest.Item | pytest.Collector]:
        return []  # the tests are added all at once, when their vectors have been read


class Deviates(Exception):
    """The engine does not do what the vector asks for; the message is the evidence."""


class VectorItem(pytest.Item):
    """One vector as a test."""

    def __init__(self, *, vector: Vector, engine: Engine, **more: Any) -> None:
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
        with places([self.vector]) as (vector,):
            answer, expected = self.engine.ask(vector)
            verdict = judge(vector, answer)
        status, deviation, unmet = expected.status(self.vector, verdict)
        if status == "known":
            assert deviation is not None
            pytest.xfail(deviation.description)
        if unmet is None and verdict.outcome is Outcome.UNSUPPORTED:
            pytest.skip(f"unsupported: {verdict.reason}")
        if unmet is not None or verdict.outcome is not Outcome.PASSED:
            result = Result(
                self.engine.run.name, self.vector.id, verdict.outcome, status, verdict.reason, verdict.got,
                tuple(map(difference_json, verdict.differences)), stderr=verdict.stderr,
            )  # fmt: skip
            told = evidence(Case.of(self.vector), result, self.engine.run)
            raise Deviates("\n".join([*([unmet] if unmet else []), *told]))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        if isinstance(excinfo.value, Deviates | ToolError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        return Path(self.vector.file), None, f"{self.vector.suite}: {self.vector.id}"

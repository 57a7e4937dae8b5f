"""Running vectors against adapters, and counting the outcomes.

Every selected vector has exactly one outcome for every adapter that started: passed, failed, unsupported or crashed. A
run that loses or gains a vector is an error of this tool, not a result.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import ExitStack

from attrs import Factory, evolve, field, frozen
from attrs.validators import ge, optional

from conformance.core.counts import plural
from conformance.core.failures import ExitStatus, HarnessFault, NotExamined, ToolError
from conformance.operations.comparison import ABSENT, Difference
from conformance.operations.protocol import Answer, StartAnswer, Unsupported
from conformance.runner.adapter_interface import Adapter, Request
from conformance.runner.expectations import Deviation, Expectations
from conformance.runner.judge import Outcome, Verdict, judge_answer
from conformance.runner.results import AdapterRun, Case, Result, ResultsWriter, Run, SecondReading
from conformance.runner.scratch_dir import clear, table_folders
from conformance.vectors import Vector
from conformance.vectors.golden_tables import LocationMapping, materialize_for, tables_folder


@frozen
class Target:
    """An adapter that the caller named, not yet started."""

    name: str
    open: Callable[[], Adapter]
    """Makes the adapter; raises `NotExamined` if that is not possible, for instance because it is not installed."""

    reproduce: str = ""
    """Its name for ``--adapter``."""


NO_EXPECTATIONS = Expectations()


def _no_readings(*_asked: object) -> Iterable[SecondReading]:
    return ()


@frozen
class RunPlan:
    """What to run, and how."""

    targets: tuple[Target, ...]
    vectors: tuple[Vector, ...]
    expectations: Expectations = NO_EXPECTATIONS
    max_failures: int | None = field(default=None, validator=optional(ge(1)))
    """The number of failures after which to stop; None to run to the end."""

    jobs: int = field(default=1, validator=ge(1))
    """How many targets run at the same time."""

    second_reader: Target | None = None
    """Reads the written tables that passed, besides the reference; see `conformance.properties.second_reader`."""

    second_readings: Callable[[str, Vector, Answer, Adapter, StartAnswer], Iterable[SecondReading]] = _no_readings
    """Lets the second reader read the tables that an answer names."""


Progress = Callable[[str, int, int], None]
"""Takes the adapter, the number of vectors that are done, and the total."""


def no_progress(_adapter: str, _done: int, _total: int) -> None:
    """Report no progress."""


class _Stop(Exception):
    """The run has reached the number of failures after which it stops."""


def execute(plan: RunPlan, header: dict[str, object], writer: ResultsWriter, progress: Progress = no_progress) -> Run:
    """Run a plan. A run that is interrupted is not complete, and its exit status says so.

    Raises:
        ToolError: golden tables cannot be copied, expectations contradict each other, or this tool miscounted the
            results, which are then marked as incomplete.
    """
    run = Run(header, cases={vector.id: Case.from_vector(vector) for vector in plan.vectors})
    writer.header(header, run.cases.values())
    try:
        golden = materialize_for(plan.vectors, tables_folder())
        _Running(plan, run, writer, progress, golden).all_targets()
        run.complete = True
        run.exit_status = exit_status(run)
    except _Stop:
        run.exit_status = ExitStatus.FAILURES
    except KeyboardInterrupt:
        run.exit_status = ExitStatus.INTERRUPTED
    except ToolError as error:
        run.exit_status = error.status
        raise
    finally:
        in_order = {target.name: place for place, target in enumerate(plan.targets)}
        run.adapters.sort(key=lambda adapter: in_order[adapter.name])
        run.results.sort(key=lambda result: in_order[result.adapter])
        writer.footer(run)
    return run


def exit_status(run: Run) -> ExitStatus:
    """Return the exit status of a run: failures take precedence over adapters that could not be examined."""
    if run.failures or any(adapter.breach or adapter.unmet for adapter in run.adapters):
        return ExitStatus.FAILURES
    if any(adapter.not_examined for adapter in run.adapters):
        return ExitStatus.NOT_EXAMINED
    return ExitStatus.CONFORMANT


@frozen
class _Running:
    """A run in progress, whose targets may be in several threads."""

    plan: RunPlan
    run: Run
    writer: ResultsWriter
    progress: Progress
    golden: LocationMapping
    started: list[Adapter] = Factory(list)
    """Every adapter that was started; interrupting one that has stopped does no harm."""

    failed: list[str] = Factory(list)
    """The number of results that failed or were not as expected."""

    ended: threading.Event = Factory(threading.Event)
    """Set when the run ends early: no more requests are to be sent."""

    def all_targets(self) -> None:
        """Run every target, as many at the same time as the plan has jobs."""
        if self.plan.jobs == 1:
            for target in self.plan.targets:
                self._target(target)
            return
        with ThreadPoolExecutor(self.plan.jobs) as pool:
            running = [pool.submit(self._target, target) for target in self.plan.targets]
            try:
                for future in as_completed(running):
                    future.result()
            except BaseException:
                self.ended.set()
                pool.shutdown(wait=False, cancel_futures=True)
                while not all(future.done() for future in running):  # an adapter may just be starting its process
                    for adapter in self.started:
                        adapter.interrupt()
                    time.sleep(0.05)
                raise

    def _target(self, target: Target) -> None:
        found = self._run_target(target)
        self.run.adapters.append(found)
        self.writer.adapter(found)

    def _run_target(self, target: Target) -> AdapterRun:
        plan = self.plan
        found = AdapterRun(target.name, target.reproduce or target.name)
        began = time.monotonic()
        results: list[Result] = []
        unmet: list[str] = []
        try:
            with ExitStack() as opened, target.open() as adapter, table_folders(plan.vectors) as vectors:
                self.started.append(adapter)
                self._go_on()
                second = self._second_reader(opened)
                started = adapter.start()
                found = evolve(
                    found,
                    implementation=started.implementation,
                    version=started.version,
                    language=started.language,
                )
                expected = plan.expectations.for_adapter(target.name, started)
                for done, (vector, answer) in enumerate(answers(adapter, started, vectors, self.golden), 1):
                    self._go_on()
                    verdict = judge_answer(vector, answer)
                    if second is not None and verdict.outcome is Outcome.PASSED:
                        asked = plan.vectors[done - 1]
                        for reading in plan.second_readings(target.name, asked, answer, *second):
                            self._second_reading(reading)
                    clear(vector)
                    status, deviation, complaint = expected.status(vector, verdict)
                    result = _result(target.name, vector, verdict, status, deviation)
                    results.append(result)
                    self.run.results.append(result)
                    self.writer.result(result)
                    if complaint is not None:
                        unmet.append(complaint)
                    if result.is_failure or complaint is not None:
                        self.failed.append(result.id)
                    if plan.max_failures is not None and len(self.failed) >= plan.max_failures:
                        raise _Stop
                    self.progress(target.name, done, len(plan.vectors))
                breach = adapter.stop() or ""
        except NotExamined as error:
            self._go_on()  # an adapter that was killed while it started has no result
            return evolve(found, not_examined=str(error), seconds=_since(began))
        except (_Stop, KeyboardInterrupt):  # the reports need the adapter of the answers so far
            self.run.adapters.append(evolve(found, unmet=tuple(unmet), seconds=_since(began)))
            self.writer.adapter(self.run.adapters[-1])
            raise
        check_each_has_one_outcome(plan.vectors, results)
        return evolve(found, breach=breach, unmet=tuple(unmet), seconds=_since(began))

    def _second_reader(self, opened: ExitStack) -> tuple[Adapter, StartAnswer] | None:
        if self.plan.second_reader is None:
            return None
        reader = opened.enter_context(self.plan.second_reader.open())
        self.started.append(reader)
        return reader, reader.start()

    def _second_reading(self, reading: SecondReading) -> None:
        assert self.plan.second_reader is not None
        named = evolve(reading, reader=self.plan.second_reader.name)
        self.run.second_readings.append(named)
        self.writer.second_reading(named)

    def _go_on(self) -> None:
        if self.ended.is_set():
            raise _Stop


def _since(began: float) -> float:
    return round(time.monotonic() - began, 3)


def answers(
    adapter: Adapter, started: StartAnswer, vectors: Sequence[Vector], golden: LocationMapping
) -> Iterator[tuple[Vector, Answer]]:
    """Yield each vector with its answer, in order. Operations and versions that the adapter lacks are not requested."""
    missing = [undeclared_operations(started, vector) for vector in vectors]
    asked = (
        Request(vector.operation.name, golden.request(vector.args))
        for vector, unsupported in zip(vectors, missing, strict=True)
        if unsupported is None
    )
    answers = adapter.ask(asked)
    for vector, unsupported in zip(vectors, missing, strict=True):
        answer = unsupported or next(answers, None)
        if answer is None:
            raise HarnessFault(f"the answer of {adapter.name} to {vector.id} is missing")
        yield vector, golden.answer(answer)
    if next(answers, None) is not None:
        raise HarnessFault(f"{adapter.name} has more answers than requests")


def undeclared_operations(started: StartAnswer, vector: Vector) -> Unsupported | None:
    """Return why a vector need not be run: the adapter did not declare its operation or version in ``start``."""
    if vector.operation.name not in started.operations:
        return Unsupported(f"the operation {vector.operation.name} (not declared)")
    if started.format_versions and not set(vector.versions) & set(started.format_versions):
        versions = " and ".join(map(str, vector.versions))
        return Unsupported(f"format version {versions} (not declared)")
    return None


def _result(adapter: str, vector: Vector, verdict: Verdict, status: str, deviation: Deviation | None) -> Result:
    passed = verdict.outcome is Outcome.PASSED
    return Result(
        adapter=adapter,
        id=vector.id,
        outcome=verdict.outcome,
        status=status,
        reason=verdict.reason,
        got=None if passed else verdict.got,
        differences=tuple(map(difference_json, verdict.differences)),
        chosen=verdict.chosen,
        deviation=deviation.description if deviation else "",
        deviation_id=deviation.id if deviation else "",
        deviation_kind=deviation.kind.value if deviation else "",
        stderr=verdict.stderr,
    )


def difference_json(difference: Difference) -> dict[str, object]:
    """Return a difference as JSON; a side without a value there has no key."""
    sides = {"expected": difference.expected, "got": difference.got}
    return {"path": difference.path, **{side: value for side, value in sides.items() if value is not ABSENT}}


def check_each_has_one_outcome(vectors: Sequence[Vector], results: Sequence[Result]) -> None:
    """Check that each vector has exactly one outcome.

    Raises:
        HarnessFault: a vector has none, or several.
    """
    times = Counter(result.id for result in results)
    wrong = [vector.id for vector in vectors if times.pop(vector.id, 0) != 1] + list(times)
    if wrong:
        raise HarnessFault(f"{plural(len(wrong), 'vector')} without exactly one outcome, such as {wrong[0]}")

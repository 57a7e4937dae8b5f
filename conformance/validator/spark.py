"""The backend on Spark: tasks run on the executors, which shuffle facts by bucket and combine findings.

The driver holds the metadata, the manifest lists and small sums of each manifest, never the list of files. If PySpark
cannot be imported, the installed Spark engine is started in its environment (`conformance.validator.remote`).
"""

from __future__ import annotations

import contextlib
import functools
import logging
import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

from py4j.protocol import Py4JError
from pyspark import RDD, StorageLevel
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from conformance.core.failures import NotExamined
from conformance.table_io.spark_worker import prepare_worker
from conformance.validator.backend import BucketCheck, Progress, TaskCheck, ignore_progress
from conformance.validator.check_results import Emitted, Facts, Findings
from conformance.validator.context import Context
from conformance.validator.process_isolation import CrashFinding, IsolatedRunner
from spec_ref.checks.findings import Finding, Tally

T = TypeVar("T")
R = TypeVar("R")

TASKS_PER_PARTITION = 4
CONNECTIONS = 16
"""How many requests a Python worker sends to a store at once."""

MAX_PARTITIONS = 1000

SETTINGS = {"spark.ui.enabled": "false", "spark.python.unix.domain.socket.enabled": "true"}
"""The settings of a session that is started here. Before Spark 4.1, Python workers have TCP connections only."""


class SparkBackend:
    """Runs checks on Spark."""

    connections = CONNECTIONS
    shares_files = False

    def __init__(self, master: str | None = None, progress: Progress = ignore_progress) -> None:
        """Use the existing session, or start one.

        Args:
            master: the master, unless a session or ``spark-submit`` determines it; ``local[*]`` by default.
            progress: called for every stage that is done.
        """
        builder = SparkSession.builder.appName("iceberg-conformance validate")
        self._own = SparkSession.getActiveSession() is None
        if master is not None:
            builder = builder.master(master)
        for setting, value in SETTINGS.items():
            builder = builder.config(setting, value)
        self.session = builder.getOrCreate()
        self.context = self.session.sparkContext
        self.context.setLogLevel("ERROR")
        self.progress = progress
        self._interrupted = False
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, self._interrupt)  # PySpark's handler calls the JVM, which may never answer
        self._facts: list[RDD[tuple[int, Facts]]] = []
        self._kept: list[RDD[Emitted]] = []
        self._buckets = 1

    @property
    def processes(self) -> int:
        return int(self.context.defaultParallelism)

    def _partitions(self, tasks: int) -> int:
        return max(1, min(tasks, max(self.processes, tasks // TASKS_PER_PARTITION), MAX_PARTITIONS))

    def map(self, context: Context, function: Callable[[Context, T], R], tasks: Sequence[T]) -> list[R]:
        if len(tasks) < 2:
            return [function(context, task) for task in tasks]
        known = self.context.broadcast(context)
        rdd = self.context.parallelize(tasks, self._partitions(len(tasks)))
        with self._asked():
            return list(rdd.mapPartitions(lambda part: _map(known.value, function, part)).collect())

    def run_stage(
        self,
        context: Context,
        check: TaskCheck,
        tasks: Sequence[Any],
        title: str,
        *,
        facts: bool = False,
        crash_finding: CrashFinding | None = None,
    ) -> list[Emitted]:
        if not tasks:
            return []
        known = self.context.broadcast(context)
        rdd = self.context.parallelize(tasks, self._partitions(len(tasks)))
        emitted: RDD[Emitted] = rdd.mapPartitions(lambda part: _run(known.value, check, part, crash_finding))
        if facts:
            emitted = emitted.persist(StorageLevel.MEMORY_AND_DISK)
            self._kept.append(emitted)
            self._facts.append(emitted.filter(_is_fact).map(_by_bucket))
            self._buckets = max(self._buckets, context.buckets, context.id_buckets)
        with self._asked():
            found = emitted.filter(_is_small).collect()
        self.progress(title, len(tasks), len(tasks))
        return _combine(found)

    def check_groups(self, check: BucketCheck) -> list[tuple[Finding, ...]]:
        if not self._facts:
            return []
        facts = self.context.union(self._facts) if len(self._facts) > 1 else self._facts[0]
        buckets = min(self._buckets, MAX_PARTITIONS)
        grouped = facts.groupByKey(buckets).mapPartitions(functools.partial(_check_buckets, check))
        with self._asked():
            found = [Tally(findings).findings() for findings in grouped.collect()]
        self.clear()
        self.progress("rules over several files", buckets, buckets)
        return found

    def regroup(self, function: Callable[[Iterable[Facts]], Iterator[Facts]]) -> None:
        if self._facts:
            facts = self.context.union(self._facts) if len(self._facts) > 1 else self._facts[0]
            buckets = min(self._buckets, MAX_PARTITIONS)
            made = facts.groupByKey(buckets).flatMap(functools.partial(_remade, function))
            self._facts = [made.map(_by_bucket)]

    def clear(self) -> None:
        kept, self._kept, self._facts, self._buckets = self._kept, [], [], 1
        if self._interrupted:
            return  # the JVM may be busy, or have ended; it ends with this process
        with contextlib.suppress(Py4JError):
            for rdd in kept:
                rdd.unpersist()

    @contextlib.contextmanager
    def _asked(self) -> Iterator[None]:
        try:
            yield
        except Py4JError as error:
            if self._interrupted:  # the JVM ended first
                raise KeyboardInterrupt from None
            raise NotExamined(f"Spark failed: {_cause(str(error))}") from None

    def _interrupt(self, *_: object) -> None:
        self._interrupted = True
        logging.disable()  # Py4J logs interrupted calls, and spark-submit mixes that with the report
        raise KeyboardInterrupt

    def close(self) -> None:
        self.clear()
        if self._own and not self._interrupted:
            self.session.stop()


def start_backend(master: str | None, progress: Progress) -> SparkBackend:
    """Make the backend for the command line; arguments as of `SparkBackend`.

    Raises:
        NotExamined: Spark does not start.
    """
    try:
        return SparkBackend(master, progress)
    except (Py4JError, PySparkException) as error:
        raise NotExamined(f"Spark did not start: {_cause(str(error))}") from None


def _map(context: Context, function: Callable[[Context, T], R], tasks: Iterable[T]) -> Iterator[R]:
    prepare_worker()
    return (function(context, task) for task in tasks)


def _cause(text: str) -> str:
    """Return the message of an exception of the JVM, without its stack trace."""
    lines = [line.strip(": ") for line in text.splitlines() if line.strip(": ")]
    return next((line for line in lines if "Exception" in line or "Error" in line), lines[0] if lines else "no reason")


def _run(
    context: Context, check: TaskCheck, tasks: Iterable[Any], crash_finding: CrashFinding | None
) -> Iterator[Emitted]:
    """Check the tasks of a partition, and combine their findings."""
    prepare_worker()
    tally = Tally()
    results: Iterable[Iterable[Emitted]] = (
        (check(context, task) for task in tasks)
        if crash_finding is None
        else IsolatedRunner(context, check, 1, crash_finding).results(tasks)  # a crash of the worker would end the job
    )
    for result in results:
        for emitted in result:
            if isinstance(emitted, Findings):
                tally.add(emitted.findings)
            else:
                yield emitted
    yield Findings(tally.findings())


def _is_small(emitted: Emitted) -> bool:
    return not isinstance(emitted, Facts)


def _is_fact(emitted: Emitted) -> bool:
    return isinstance(emitted, Facts)


def _by_bucket(facts: Any) -> tuple[int, Facts]:
    return facts.bucket, facts


def _remade(
    function: Callable[[Iterable[Facts]], Iterator[Facts]], bucket: tuple[int, Iterable[Facts]]
) -> Iterator[Facts]:
    return function(bucket[1])


def _check_buckets(check: BucketCheck, buckets: Iterable[tuple[int, Iterable[Facts]]]) -> Iterator[tuple[Finding, ...]]:
    prepare_worker()
    tally = Tally()
    for _, facts in buckets:
        tally.add(check(facts))
    yield tally.findings()


def _combine(found: Iterable[Emitted]) -> list[Emitted]:
    tally, others = Tally(), list[Emitted]()
    for one in found:
        if isinstance(one, Findings):
            tally.add(one.findings)
        else:
            others.append(one)
    return [Findings(tally.findings()), *others]

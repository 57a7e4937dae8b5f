"""The engine of one machine: tasks in this process, or in several; facts in memory, or beyond a limit in files."""

from __future__ import annotations

import itertools
import multiprocessing
import os
import pickle
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from typing import IO, Any, TypeVar

from conformance.validate.context import Context
from conformance.validate.emitted import Emitted, Facts, Findings
from conformance.validate.engines import Check, CheckBucket, Progress, quiet
from conformance.validate.finding import finding
from spec_ref.findings import Finding, Tally

T = TypeVar("T")
R = TypeVar("R")

HELD_BYTES = 128 << 20
"""Facts that are held in memory before they are written to files."""

FEW_TASKS = 16
"""Fewer are checked in this process: others take a second to start."""

AHEAD = 2
"""Tasks for each process that are given out before their results are taken."""


class Local:
    """Runs checks on this machine."""

    def __init__(self, workers: int = 1, progress: Progress = quiet, held_bytes: int = HELD_BYTES) -> None:
        """Make an engine.

        Args:
            workers: processes; 1 checks in this one.
            progress: is told of every task that is done.
            held_bytes: how many bytes of facts are held in memory.
        """
        self.workers = workers
        self.progress = progress
        self.few_tasks = FEW_TASKS
        self._pool: ProcessPoolExecutor | None = None
        self._spool = Spool(held_bytes)

    def map(self, context: Context, function: Callable[[Context, T], R], tasks: Sequence[T]) -> list[R]:
        return [function(context, task) for task in tasks]

    def stage(
        self, context: Context, check: Check, tasks: Sequence[Any], what: str, *, facts: bool = False
    ) -> list[Emitted]:
        tally, others = Tally(), list[Emitted]()
        for done, emitted in enumerate(self._results(context, check, tasks), start=1):
            for one in emitted:
                if isinstance(one, Facts):
                    assert facts
                    self._spool.add(one)
                elif isinstance(one, Findings):
                    tally.add(one.findings)
                else:
                    others.append(one)
            self.progress(what, done, len(tasks))
        return [Findings(tally.findings()), *others]

    def _results(self, context: Context, check: Check, tasks: Sequence[Any]) -> Iterator[Iterable[Emitted]]:
        if self.workers == 1 or len(tasks) < self.few_tasks:
            for task in tasks:
                yield check(context, task)
            return
        packed = pickle.dumps(context)
        left, running = iter(tasks), dict[Future[list[Emitted]], Any]()
        pool = self._started()
        for task in itertools.islice(left, self.workers * AHEAD):
            running[pool.submit(_run, packed, check, task)] = task
        while running:
            finished, _ = wait(running, return_when=FIRST_COMPLETED)
            lost = []
            for future in finished:
                try:
                    yield future.result()
                except BrokenProcessPool:
                    lost.append(running[future])
                del running[future]
            if lost:  # a library ended its process, and with it the pool: what was under way is done again, one by one
                lost += [running.pop(future) for future in list(running)]
                self._pool = None
                for task in lost:
                    yield _alone(packed, check, task)
                pool = self._started()
            for task in itertools.islice(left, self.workers * AHEAD - len(running)):
                running[pool.submit(_run, packed, check, task)] = task

    def _started(self) -> ProcessPoolExecutor:
        if self._pool is None:
            self._pool = _new_pool(self.workers)
        return self._pool

    def grouped(self, check: CheckBucket) -> list[tuple[Finding, ...]]:
        made = []
        buckets = self._spool.buckets()
        for done, bucket in enumerate(buckets, start=1):
            made.append(check(self._spool.take(bucket)))
            self.progress("rules over several files", done, len(buckets))
        self._spool.clear()
        return made

    def regrouped(self, function: Callable[[Iterable[Facts]], Iterator[Facts]]) -> None:
        made = Spool(self._spool.limit)
        for bucket in self._spool.buckets():
            for facts in function(self._spool.take(bucket)):
                made.add(facts)
        self._spool.clear()
        self._spool = made

    def close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
        self._spool.clear()


def _new_pool(workers: int) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn"), initializer=_start)


def _alone(packed: bytes, check: Check, task: Any) -> list[Emitted]:
    """The check of one task in a process of its own; a finding where the process does not live through it."""
    with _new_pool(1) as pool:
        try:
            return pool.submit(_run, packed, check, task).result()
        except BrokenProcessPool:
            message = "reading this, or a file that it lists, ended the process: it is damaged in a way not known here"
            manifest = getattr(task, "manifest", task)
            path = f"/{task.start}" if hasattr(task, "start") else ""
            return [Findings((finding("MAN001", message, file=str(getattr(manifest, "location", task)), path=path),))]


_UNPACKED: dict[bytes, Context] = {}


def _start() -> None:
    """Leave an interrupt to the process that was asked."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _run(packed: bytes, check: Check, task: Any) -> list[Emitted]:
    context = _UNPACKED.get(packed)
    if context is None:
        _UNPACKED.clear()
        context = _UNPACKED[packed] = pickle.loads(packed)  # noqa: S301 - our own bytes, from the parent process
    return list(check(context, task))


class Spool:
    """Facts by bucket; those that do not fit in memory are in a file for each bucket."""

    def __init__(self, held_bytes: int) -> None:
        self.limit = held_bytes
        self._held: dict[int, list[Facts]] = {}
        self._bytes = 0
        self._directory: tempfile.TemporaryDirectory[str] | None = None
        self._files: dict[int, IO[bytes]] = {}

    def add(self, facts: Facts) -> None:
        """Keep facts."""
        self._held.setdefault(facts.bucket, []).append(facts)
        self._bytes += facts.rows.nbytes
        if self._bytes > self.limit:
            self._spill()

    def _spill(self) -> None:
        if self._directory is None:
            self._directory = tempfile.TemporaryDirectory(prefix="iceberg-conformance-facts-")
        for bucket, held in self._held.items():
            if bucket not in self._files:
                self._files[bucket] = open(os.path.join(self._directory.name, f"{bucket}.facts"), "w+b")  # noqa: SIM115
            for facts in held:
                pickle.dump(facts, self._files[bucket], protocol=pickle.HIGHEST_PROTOCOL)
        self._held, self._bytes = {}, 0

    def buckets(self) -> list[int]:
        """The buckets that have facts."""
        return sorted(self._held.keys() | self._files.keys())

    def take(self, bucket: int) -> Iterator[Facts]:
        """The facts of a bucket."""
        file = self._files.get(bucket)
        if file is not None:
            end = file.tell()
            file.seek(0)
            while file.tell() < end:
                yield pickle.load(file)  # noqa: S301 - written above
        yield from self._held.pop(bucket, [])

    def clear(self) -> None:
        """Forget all."""
        for file in self._files.values():
            file.close()
        self._files, self._held, self._bytes = {}, {}, 0
        if self._directory is not None:
            self._directory.cleanup()
            self._directory = None

"""Checks in separate processes, which may crash: libraries abort the process on some damaged files.

A task whose process crashed is run again in smaller parts, until the part is one file: that file gets a finding, and
all others are checked, whatever the number of tasks and processes.
"""

from __future__ import annotations

import contextlib
import itertools
import multiprocessing
import os
import pickle
import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import connection, forkserver, resource_tracker
from typing import Any, TypeAlias

from conformance.core.drives import WINDOWS
from conformance.core.failures import NotExamined
from conformance.validator.backend import Check
from conformance.validator.check_results import Emitted, Findings
from conformance.validator.context import Context
from conformance.validator.finding import finding
from conformance.validator.memory import keep_freed_memory

AHEAD = 2
"""How many tasks for each process are submitted before their results are taken."""

PRELOADED = [
    "conformance.validator.files",
    "conformance.validator.partition_statistics",
    "conformance.validator.data_file_reader",
]
"""Modules that every process needs: imported once, in the fork server."""

SECONDS_TO_END = 10
"""How many seconds to wait for the end of a pool whose processes were killed, which takes milliseconds."""

ENDED = "the process that read this file crashed; the file is probably damaged"

NO_PROCESS = "no process can be started to open files"


class NoProcess(NotExamined):
    """No more processes can be started, for instance because of a limit."""


Lost: TypeAlias = Callable[[Context, Any], Findings]
"""Makes the finding for a task whose process crashed and that has no smaller parts."""


def manifest_crash_finding(context: Context, task: Any) -> Findings:
    """Return the finding for a manifest whose check crashed the process."""
    location = str(getattr(task, "location", task))
    return Findings((finding("MAN001", ENDED, file=location, aspect="process-ended"),))


class IsolatedRunner:
    """Runs one check on tasks in separate processes."""

    def __init__(self, context: Context, check: Check, workers: int, lost: Lost = manifest_crash_finding) -> None:
        self._context = context
        self._packed = pickle.dumps((context, check))
        self._workers = workers
        self._lost = lost
        self._pool: ProcessPoolExecutor | None = None

    def results(self, tasks: Iterable[Any]) -> Iterator[list[Emitted]]:
        """Yield what the check emits for each task, in any order."""
        left, running = iter(tasks), dict[Future[list[Emitted]], Any]()
        try:
            self._give(left, running, self._workers * AHEAD)
            while running:
                finished, _ = wait(running, return_when=FIRST_COMPLETED)
                ended = []
                for future in finished:
                    task = running.pop(future)
                    try:
                        yield future.result()
                    except BrokenProcessPool:
                        ended.append(task)
                if ended:  # one crash breaks the whole pool: the running tasks are run again, one by one
                    ended += running.values()
                    running.clear()
                    self._end_pool()
                    for task in ended:
                        yield self._alone(task)
                self._give(left, running, self._workers * AHEAD - len(running))
        except BaseException:  # for instance an interrupt: running tasks are not needed any more
            self._end_pool()
            raise
        else:
            if self._pool is not None:
                self._pool.shutdown()

    def _give(self, left: Iterator[Any], running: dict[Future[list[Emitted]], Any], count: int) -> None:
        for task in itertools.islice(left, count):
            if self._pool is None:
                self._pool = self._new_pool(self._workers)
            try:
                running[_given(self._pool, task)] = task
            except BrokenProcessPool:  # a process ended between two tasks
                self._end_pool()
                self._pool = self._new_pool(self._workers)
                running[_given(self._pool, task)] = task

    def _end_pool(self) -> None:
        if self._pool is not None:
            _end(self._pool)
            self._pool = None

    def _alone(self, task: Any) -> list[Emitted]:
        """Check one task alone in a process, and its halves if the process crashes."""
        pool = self._new_pool(1)
        try:
            return _given(pool, task).result()
        except BrokenProcessPool:
            pass
        finally:
            _end(pool)
        smaller: Sequence[Any] = task.smaller() if hasattr(task, "smaller") else ()
        if not smaller:
            return [self._lost(self._context, task)]
        return [emitted for part in smaller for emitted in self._alone(part)]

    def _new_pool(self, workers: int) -> ProcessPoolExecutor:
        if WINDOWS:
            raise NoProcess(f"{NO_PROCESS}: files are checked in processes on POSIX systems only, not on Windows")
        try:
            _serve_without_interrupts()
            return ProcessPoolExecutor(
                workers,
                mp_context=multiprocessing.get_context("forkserver"),
                initializer=_start,
                initargs=(self._packed, dict(os.environ)),
            )
        except OSError as error:
            raise NoProcess(f"{NO_PROCESS}: {error}") from error


def start_early() -> None:
    """Start the fork server, which imports its modules while this process does other work.

    If it cannot be started, the first check that needs it reports why.
    """
    if not WINDOWS:
        with contextlib.suppress(OSError):
            _serve_without_interrupts()


def _given(pool: ProcessPoolExecutor, task: Any) -> Future[list[Emitted]]:
    """Submit a task to a pool, which may start a process for it.

    Raises:
        NoProcess: no process can be started.
        BrokenProcessPool: a process of the pool ended.
    """
    try:
        future = pool.submit(_run, task)
    except (OSError, EOFError) as error:
        if _is_broken(pool):  # its pipes were closed while it started the process
            raise BrokenProcessPool(ENDED) from error
        raise NoProcess(f"{NO_PROCESS}: {error}") from error
    if _is_broken(pool) and not future.done():  # forgotten: the pool broke before it took note of the task
        raise BrokenProcessPool(ENDED)
    return future


def _is_broken(pool: ProcessPoolExecutor) -> bool:
    """Return whether a process of a pool ended, also where a ``submit`` that was at work did not raise the error."""
    return bool(getattr(pool, "_broken", False))


def _serve_without_interrupts() -> None:
    """Start the fork server so that neither it nor its processes ever get an interrupt of the terminal."""
    forkserver.set_forkserver_preload(PRELOADED)
    resource_tracker.ensure_running()  # starts only once, and would unblock interrupts
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        forkserver.ensure_running()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _end(pool: ProcessPoolExecutor) -> None:
    """Kill the processes of a pool, and wait for the thread that manages them.

    A pool that broke needs this too: it does not end a process that it started while it broke, and would wait for it
    forever at the exit. If this process exited while that thread closes its pipe, Python would print an error about
    the closed pipe.
    """
    processes = list((getattr(pool, "_processes", None) or {}).values())
    manager: threading.Thread | None = getattr(pool, "_executor_manager_thread", None)
    pool.shutdown(wait=False, cancel_futures=True)
    for process in processes:
        process.kill()
    if manager is not None:
        manager.join(SECONDS_TO_END)


_RUNS: list[tuple[Context, Check]] = []


def _start(packed: bytes, environ: dict[str, str]) -> None:
    """Unpack the check, and set the environment variables to those of the parent process."""
    os.environ.clear()
    os.environ.update(environ)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    keep_freed_memory()
    _RUNS[:] = [pickle.loads(packed)]  # noqa: S301 - our own bytes, from the parent process


def _end_with_parent() -> None:
    """End this process when the parent process is gone, for instance killed."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)


def _run(task: Any) -> list[Emitted]:
    context, check = _RUNS[0]
    return list(check(context, task))

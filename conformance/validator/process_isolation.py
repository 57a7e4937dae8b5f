"""Checks in separate processes, which may crash: libraries abort the process on some damaged files.

The processes are forks of a server that has imported the modules that they need. Where it is safe (`can_fork`), they
are forks of the command, which has imported these modules, too.

A task whose process crashed is split in halves and run again, until the file that crashes the process is alone in its
task. That file gets a finding, and all others are checked.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import pickle
import queue
import signal
import sys
import threading
import traceback
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import ModuleType
from typing import Any, TypeAlias

from conformance.core.drives import WINDOWS
from conformance.core.failures import NotExamined
from conformance.core.lazy_imports import lazy_imports
from conformance.table_io.file_access import has_opened_store
from conformance.validator.backend import TaskCheck
from conformance.validator.check_results import Emitted, Findings
from conformance.validator.context import Context, TaskGroup
from conformance.validator.finding import finding
from conformance.validator.memory import keep_freed_memory
from conformance.validator.stall_timeout import WAIT_SECONDS, end_idle_thread

with lazy_imports():
    import multiprocessing
    from multiprocessing import connection, process

    from conformance.validator import fork_server

MAX_TASKS_PER_PROCESS = 2
"""The maximum number of tasks that a process has at once: the one that it runs, and those that it runs next."""

ENDED = "the process that read this file crashed; the file is probably damaged"

NO_PROCESS = "no process can be started to open files"

NOT_BEGUN = "it ended with the error above"


class ProcessNotStarted(NotExamined):
    """A process cannot be started, for instance because of a limit."""


CrashFinding: TypeAlias = Callable[[Context, Any], Findings]
"""Makes the finding for a task whose process crashed and that cannot be split."""


def manifest_crash_finding(context: Context, task: Any) -> Findings:
    """Return the finding for a manifest whose check crashed the process."""
    location = str(getattr(task, "location", task))
    return Findings((finding("MAN001", ENDED, file=location, aspect="process-ended"),))


class IsolatedRunner:
    """Runs one check on tasks in separate processes."""

    def __init__(
        self,
        context: Context,
        check: TaskCheck,
        workers: int,
        crash_finding: CrashFinding = manifest_crash_finding,
        *,
        forks: bool = False,
    ) -> None:
        """Start no process yet.

        Args:
            context: the table.
            check: the check.
            workers: the maximum number of processes.
            crash_finding: makes the finding for a task that crashes its process.
            forks: whether this process may be forked, as that of the command may.
        """
        self._context = context
        self._forks = forks
        self._packed = pickle.dumps((context, check))
        self._limit = workers
        self._crash_finding = crash_finding
        self._workers: list[_Worker] = []

    def results(self, tasks: Iterable[Any]) -> Iterator[list[Emitted]]:
        """Yield what the check emits for each task, in any order."""
        left, lost = iter(tasks), list[Any]()
        try:
            self._give(left)
            while self._workers:
                answers: list[list[Emitted]] = []
                busy = [worker.connection for worker in self._workers if worker.tasks]
                ready = connection.wait(busy, WAIT_SECONDS)
                for worker in [worker for worker in self._workers if worker.connection in ready]:
                    try:
                        answers.append(worker.answer())
                    except _Ended:
                        lost += worker.tasks
                        self._end(worker)
                if not lost:
                    self._give(left)
                yield from answers
                if not any(worker.tasks for worker in self._workers):
                    self._end(*self._workers)
                    for task in lost:  # without other processes, in case memory was short
                        yield self._run_alone(task)
                    lost.clear()
                    self._give(left)
        finally:
            self._end(*self._workers)

    def _give(self, left: Iterator[Any]) -> None:
        """Give tasks to the processes, and start more processes while there are tasks for them."""
        under_way = sum(len(worker.tasks) for worker in self._workers)
        for task in itertools.islice(left, self._limit * MAX_TASKS_PER_PROCESS - under_way):
            worker = min(self._workers, key=lambda one: len(one.tasks), default=None)
            if worker is None or (worker.tasks and len(self._workers) < self._limit):
                worker = self._start()
                self._workers.append(worker)
            worker.give(task)

    def _start(self) -> _Worker:
        return _Worker(self._packed, [one.connection for one in self._workers] if self._forks else None)

    def _end(self, *workers: _Worker) -> None:
        for worker in workers:
            self._workers.remove(worker)
            worker.end()

    def _run_alone(self, task: Any) -> list[Emitted]:
        """Check one task alone in a process, and its halves if the process crashes."""
        worker = self._start()
        try:
            worker.give(task)
            return worker.answer()
        except _Ended:
            pass
        finally:
            worker.end()
        halves: Sequence[Any] = task.halves() if hasattr(task, "halves") else ()
        if not halves:
            only = task.tasks[0] if isinstance(task, TaskGroup) else task
            return [self._crash_finding(self._context, only)]
        return [emitted for part in halves for emitted in self._run_alone(part)]


class _Ended(Exception):
    """A process ended before it answered."""


def can_fork() -> bool:
    """Return whether forks of this process can check files as well as those of a server.

    They cannot if this process has another Python thread, which may hold a lock, or open connections to a store, which
    two processes would then use. On macOS, system libraries do not work in forks.
    """
    if sys.platform != "linux" or has_opened_store():
        return False
    end_idle_thread()
    return len(sys._current_frames()) == 1


class _Worker:
    """A process that runs a check on one task after another.

    Args:
        packed: the pickled context and check.
        others: the connections to the other workers if this process may be forked; None if it may not.

    Raises:
        ProcessNotStarted: no process can be started.
    """

    def __init__(self, packed: bytes, others: Sequence[connection.Connection] | None = None) -> None:
        if WINDOWS:
            raise ProcessNotStarted(
                f"{NO_PROCESS}: files are checked in processes on POSIX systems only, not on Windows"
            )
        if multiprocessing.current_process().daemon:
            raise ProcessNotStarted(f"{NO_PROCESS}: daemons of multiprocessing, as in its Pool, cannot start any")
        self.tasks: deque[Any] = deque()
        """The tasks that are not answered yet, in the order in which they were given."""

        try:
            self.connection, theirs = multiprocessing.Pipe()
            with theirs:
                if others is not None and can_fork():
                    self._process = _start_fork((theirs, packed), [*others, self.connection])
                else:
                    self._process = _start_by_server((theirs, packed))
        except (OSError, EOFError) as error:
            raise ProcessNotStarted(f"{NO_PROCESS}: {error}") from error

    def give(self, task: Any) -> None:
        """Give the process a task. If it has ended, `answer` will say so."""
        self.tasks.append(task)
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self.connection.send(task)

    def answer(self) -> list[Emitted]:
        """Return what the check emits for the first task.

        Raises:
            _Ended: the process ended.
            ProcessNotStarted: the process ended with an error before it began, so that no file can have caused it.
            Exception: the error that the check raised.
        """
        try:
            emitted, error = self.connection.recv()
        except (EOFError, ConnectionResetError):
            self._process.join()
            if self._process.exitcode == 1:
                raise ProcessNotStarted(f"{NO_PROCESS}: {NOT_BEGUN}") from None
            raise _Ended from None
        self.tasks.popleft()
        if error is not None:
            raise error
        made: list[Emitted] = emitted
        return made

    def end(self) -> None:
        """Kill the process."""
        self._process.kill()
        self._process.join()
        self.connection.close()


def _start_fork(
    given: tuple[connection.Connection, bytes], inherited: Sequence[connection.Connection]
) -> process.BaseProcess:
    """Start a fork of this process, with interrupts of the terminal blocked."""
    made = multiprocessing.get_context("fork").Process(target=_work_as_fork, args=(*given, inherited), daemon=True)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        with warnings.catch_warnings():
            # Python 3.12 warns because it counts the threads of libraries, too; these libraries support forks.
            warnings.simplefilter("ignore", DeprecationWarning)
            made.start()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    return made


def _work_as_fork(tasks: connection.Connection, packed: bytes, inherited: Sequence[connection.Connection]) -> None:
    """Work after closing the inherited ends of pipes, so that they are closed when the parent process ends."""
    for one in inherited:
        one.close()
    _work(tasks, packed, dict(os.environ))


def _start_by_server(given: tuple[connection.Connection, bytes]) -> process.BaseProcess:
    """Start a fork of the server."""
    fork_server.ensure_running()
    with _without_main_module():
        made = multiprocessing.get_context("forkserver").Process(
            target=_work, args=(*given, dict(os.environ)), daemon=True
        )
        made.start()
    return made


_hiding = threading.Lock()


@contextlib.contextmanager
def _without_main_module() -> Iterator[None]:
    """Keep a new process from importing the main module, which may be a script that would check tables again."""
    name = "__main__"
    with _hiding:  # otherwise a second thread would restore the replacement as the main module
        main = sys.modules[name]
        sys.modules[name] = ModuleType(name)
        try:
            yield
        finally:
            sys.modules[name] = main


def _work(tasks: connection.Connection, packed: bytes, environ: dict[str, str]) -> None:
    """Run the check on each task, in a process that has the environment variables of the parent process."""
    os.environ.clear()
    os.environ.update(environ)
    received: queue.SimpleQueue[Any] = queue.SimpleQueue()
    threading.Thread(target=_receive, args=(tasks, received), daemon=True).start()
    keep_freed_memory()
    context, check = pickle.loads(packed)  # noqa: S301 - our own bytes, from the parent process
    while True:
        task = received.get()
        try:
            tasks.send((list(check(context, task)), None))
        except Exception as error:
            error.add_note(traceback.format_exc())
            tasks.send((None, error))


def _receive(tasks: connection.Connection, received: queue.SimpleQueue[Any]) -> None:
    """Receive tasks at any time, so that the parent never waits; end this process when the parent has ended."""
    try:
        with contextlib.suppress(EOFError, OSError):
            while True:
                received.put(tasks.recv())
    finally:
        os._exit(1)

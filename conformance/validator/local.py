"""The backend for one machine: tasks in this process or in several; facts in memory or, beyond a limit, in files."""

from __future__ import annotations

import contextlib
import functools
import os
import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import IO, Any, TypeVar

from conformance.core.failures import NotExamined
from conformance.core.lazy_imports import lazy_imports
from conformance.table_io.daemon_pool import DaemonPool
from conformance.validator.backend import BucketCheck, Progress, StageStopped, TaskCheck, ignore_progress
from conformance.validator.check_results import Emitted, Facts, Findings
from conformance.validator.context import Context
from conformance.validator.process_isolation import CrashFinding, IsolatedRunner, manifest_crash_finding
from spec_ref.checks.findings import Finding, Tally

with lazy_imports():
    import tempfile

T = TypeVar("T")
R = TypeVar("R")

MAX_BUFFERED_BYTES = 128 << 20
"""The bytes of facts that are held in memory before they are written to files."""

MAX_WORKERS = 1024
"""The maximum number of processes."""

CONNECTIONS = 64
"""How many requests all processes send to a store at once."""

FEW_TASKS = 16
"""The minimum number of tasks for other processes, which take a second to start; this process checks fewer tasks."""


class LocalBackend:
    """Runs checks on this machine."""

    shares_files = True

    def __init__(
        self,
        workers: int = 1,
        progress: Progress = ignore_progress,
        held_bytes: int = MAX_BUFFERED_BYTES,
        *,
        isolated: bool = False,
    ) -> None:
        """Make the backend.

        Args:
            workers: the number of processes; 1 checks in this process, unless `isolated`.
            progress: called after every task.
            held_bytes: how many bytes of facts are held in memory.
            isolated: whether files are always opened in other processes, so that no file can crash this one. They may
                be forks of this process, which must be that of the command.
        """
        self.processes = workers
        self.connections = max(CONNECTIONS // workers, 1)
        self.isolated = isolated
        self.progress = progress
        self.few_tasks = FEW_TASKS
        self._spool = Spool(held_bytes)

    def map(self, context: Context, function: Callable[[Context, T], R], tasks: Sequence[T]) -> list[R]:
        if len(tasks) < 2 or not context.is_on_store:
            return [function(context, task) for task in tasks]
        pool = DaemonPool(min(CONNECTIONS, len(tasks)))
        made = [pool.submit(functools.partial(function, context, task)) for task in tasks]
        try:
            return [one.result() for one in made]
        finally:
            for one in made:
                one.cancel()
            pool.close()

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
        tally, others = Tally(), list[Emitted]()
        try:
            for done, emitted in enumerate(self._results(context, check, tasks, crash_finding), start=1):
                for one in emitted:
                    if isinstance(one, Facts):
                        assert facts
                        self._spool.add(one)
                    elif isinstance(one, Findings):
                        tally.add(one.findings)
                    else:
                        others.append(one)
                self.progress(title, done, len(tasks))
        except (KeyboardInterrupt, NotExamined) as error:
            reason = str(error) if isinstance(error, NotExamined) else None
            raise StageStopped([Findings(tally.findings()), *others], reason) from None
        return [Findings(tally.findings()), *others]

    def _results(
        self, context: Context, check: TaskCheck, tasks: Sequence[Any], crash_finding: CrashFinding | None
    ) -> Iterator[Iterable[Emitted]]:
        isolated = crash_finding is not None and self.isolated
        if isolated or (self.processes > 1 and len(tasks) >= self.few_tasks):
            workers = min(self.processes, len(tasks))
            return (
                IsolatedRunner(
                    context, check, workers, crash_finding or manifest_crash_finding, forks=self.isolated
                ).results(tasks)
                if tasks
                else iter(())
            )
        return (check(context, task) for task in tasks)

    def check_groups(self, check: BucketCheck) -> list[tuple[Finding, ...]]:
        made = []
        buckets = self._spool.buckets()
        for done, bucket in enumerate(buckets, start=1):
            made.append(check(self._spool.take(bucket)))
            self.progress("rules over several files", done, len(buckets))
        self.clear()
        return made

    def regroup(self, function: Callable[[Iterable[Facts]], Iterator[Facts]]) -> None:
        made = Spool(self._spool.limit)
        for bucket in self._spool.buckets():
            for facts in function(self._spool.take(bucket)):
                made.add(facts)
        self._spool.clear()
        self._spool = made

    def clear(self) -> None:
        self._spool.clear()

    def close(self) -> None:
        self.clear()


class OutOfSpace(NotExamined):
    """The facts about a table fit neither in memory nor in the folder for temporary files."""


@contextlib.contextmanager
def _room() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        what = "the facts about files do not fit in memory, and cannot be written to the folder for temporary files"
        raise OutOfSpace(f"{what} (TMPDIR): {error.strerror or error}") from error


class Spool:
    """Facts by bucket; those that do not fit in memory are in a file for each bucket."""

    def __init__(self, held_bytes: int) -> None:
        self.limit = held_bytes
        self._held: dict[int, list[Facts]] = {}
        self._bytes = 0
        self._directory: tempfile.TemporaryDirectory[str] | None = None
        self._files: dict[int, IO[bytes]] = {}

    def add(self, facts: Facts) -> None:
        """Store facts.

        Raises:
            OutOfSpace: the facts fit neither in memory nor in files.
        """
        self._held.setdefault(facts.bucket, []).append(facts)
        self._bytes += facts.rows.nbytes
        if self._bytes > self.limit:
            with _room():
                self._spill()

    def _spill(self) -> None:
        if self._directory is None:
            self._directory = tempfile.TemporaryDirectory(prefix="iceberg-conformance-facts-")
        for bucket, held in self._held.items():
            if bucket not in self._files:
                self._files[bucket] = open(os.path.join(self._directory.name, f"{bucket}.facts"), "w+b")  # noqa: SIM115
            for facts in held:
                pickle.dump(facts, self._files[bucket], protocol=pickle.HIGHEST_PROTOCOL)
            self._files[bucket].flush()
        self._held, self._bytes = {}, 0

    def buckets(self) -> list[int]:
        """Return the buckets that have facts."""
        return sorted(self._held.keys() | self._files.keys())

    def take(self, bucket: int) -> Iterator[Facts]:
        """Yield the facts of a bucket, and remove them."""
        file = self._files.get(bucket)
        if file is not None:
            end = file.tell()
            file.seek(0)
            while file.tell() < end:
                yield pickle.load(file)  # noqa: S301 - written above
        yield from self._held.pop(bucket, [])

    def clear(self) -> None:
        """Remove all facts."""
        for file in self._files.values():
            with contextlib.suppress(OSError):  # closing tries again to write what did not fit
                file.close()
        self._files, self._held, self._bytes = {}, {}, 0
        if self._directory is not None:
            self._directory.cleanup()
            self._directory = None

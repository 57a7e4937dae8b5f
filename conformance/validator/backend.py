"""The interface of a backend, which maps a function over tasks and groups the resulting facts by bucket."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Protocol, TypeAlias, TypeVar

from conformance.validator.check_results import Emitted, Facts, Findings
from conformance.validator.context import Context
from spec_ref.checks.findings import Finding

T = TypeVar("T")
R = TypeVar("R")

TaskCheck: TypeAlias = Callable[[Context, Any], Iterator[Emitted]]
BucketCheck: TypeAlias = Callable[[Iterable[Facts]], tuple[Finding, ...]]
Progress: TypeAlias = Callable[[str, int, int], None]
"""Takes the name of the tasks, the number done, and the total."""


class StageStopped(Exception):
    """A stage ended early; ``emitted`` has what its checks emitted before."""

    def __init__(self, emitted: list[Emitted], reason: str | None) -> None:
        """Make the error.

        Args:
            emitted: what the checks of the stage have emitted.
            reason: why the backend cannot continue; None for an interrupt.
        """
        super().__init__(reason)
        self.emitted = emitted
        self.reason = reason


class Backend(Protocol):
    """Runs checks, on this machine or on a cluster."""

    @property
    def processes(self) -> int:
        """How many processes of the backend check files at once."""
        ...

    @property
    def connections(self) -> int:
        """The number of requests that each process of the backend sends to a store at once."""
        ...

    @property
    def shares_files(self) -> bool:
        """Whether all processes of the backend can read the local files of this process."""
        ...

    def map(self, context: Context, function: Callable[[Context, T], R], tasks: Sequence[T]) -> list[R]:
        """Apply a function to every task; return its results, which must be small, in the order of the tasks."""
        ...

    def run_stage(
        self,
        context: Context,
        check: TaskCheck,
        tasks: Sequence[Any],
        title: str,
        *,
        facts: bool = False,
        crash_finding: Callable[[Context, Any], Findings] | None = None,
    ) -> list[Emitted]:
        """Run a check on every task; return what it emits except facts, which are kept for `check_groups`.

        Findings are combined, so that the result does not grow with the number of files.

        Args:
            context: the table.
            check: the check.
            tasks: the tasks.
            title: the name of the tasks in the progress line.
            facts: whether the check emits facts.
            crash_finding: makes the finding for a task whose check crashed its process; None for checks that cannot.

        Raises:
            StageStopped: the stage was interrupted, or the backend cannot continue.
            KeyboardInterrupt, NotExamined: the same, if the backend has no results of the stage.
        """
        ...

    def check_groups(self, check: BucketCheck) -> list[tuple[Finding, ...]]:
        """Run a check on the facts of every bucket, and delete the facts."""
        ...

    def regroup(self, function: Callable[[Iterable[Facts]], Iterator[Facts]]) -> None:
        """Apply a function to the facts of every bucket, and replace the facts by its results."""
        ...

    def clear(self) -> None:
        """Delete the facts of a table whose check ended early; the next table has nothing to do with them."""
        ...

    def close(self) -> None:
        """Release the resources of the backend."""
        ...


def ignore_progress(what: str, done: int, of: int) -> None:
    """Report no progress."""

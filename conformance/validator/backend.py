"""The interface of an engine: map a function over tasks, and group the resulting facts by bucket."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Protocol, TypeAlias, TypeVar

from conformance.validator.check_results import Emitted, Facts, Findings
from conformance.validator.context import Context
from spec_ref.checks.findings import Finding

T = TypeVar("T")
R = TypeVar("R")

Check: TypeAlias = Callable[[Context, Any], Iterator[Emitted]]
CheckBucket: TypeAlias = Callable[[Iterable[Facts]], tuple[Finding, ...]]
Progress: TypeAlias = Callable[[str, int, int], None]
"""Takes the name of the tasks, the number done, and the total."""


class StageStopped(Exception):
    """A check ended in the middle of a stage; has what was emitted so far."""

    def __init__(self, emitted: list[Emitted], reason: str | None) -> None:
        """Make the error.

        Args:
            emitted: what was emitted so far.
            reason: why the engine cannot continue; None for an interrupt.
        """
        super().__init__(reason)
        self.emitted = emitted
        self.reason = reason


class Backend(Protocol):
    """Runs checks, on this machine or on a cluster."""

    @property
    def connections(self) -> int:
        """How many requests each of its processes sends to a store at once."""
        ...

    @property
    def shares_files(self) -> bool:
        """Whether all its processes see the local files of this one."""
        ...

    def map(self, context: Context, function: Callable[[Context, T], R], tasks: Sequence[T]) -> list[R]:
        """Return the results of a function with small results, in the order of the tasks."""
        ...

    def stage(
        self,
        context: Context,
        check: Check,
        tasks: Sequence[Any],
        what: str,
        *,
        facts: bool = False,
        lost: Callable[[Context, Any], Findings] | None = None,
    ) -> list[Emitted]:
        """Run a check on every task; return what it emits except facts, which are kept for `check_groups`.

        Findings are combined, so that the result does not grow with the number of files.

        Args:
            context: the table.
            check: the check.
            tasks: the tasks.
            what: the name of the tasks, for the progress.
            facts: whether the check emits facts.
            lost: makes the finding for a task that crashes its process; only given for checks that may do so.

        Raises:
            Stopped: the stage was interrupted, or the engine cannot continue.
            KeyboardInterrupt, NotExamined: the same, if the engine has no results of the stage.
        """
        ...

    def check_groups(self, check: CheckBucket) -> list[tuple[Finding, ...]]:
        """Run a check on the facts of every bucket, and forget the facts."""
        ...

    def regroup(self, function: Callable[[Iterable[Facts]], Iterator[Facts]]) -> None:
        """Replace the facts by the results of a function of the facts of every bucket."""
        ...

    def close(self) -> None:
        """Release the resources of the engine."""
        ...


def quiet(what: str, done: int, of: int) -> None:
    """Report no progress."""

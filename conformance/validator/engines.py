"""What an engine has to do: map a function over tasks, and group the facts that come out by bucket."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Protocol, TypeAlias, TypeVar

from conformance.validator.context import Context
from conformance.validator.emitted import Emitted, Facts, Findings
from spec_ref.checks.findings import Finding

T = TypeVar("T")
R = TypeVar("R")

Check: TypeAlias = Callable[[Context, Any], Iterator[Emitted]]
CheckBucket: TypeAlias = Callable[[Iterable[Facts]], tuple[Finding, ...]]
Progress: TypeAlias = Callable[[str, int, int], None]
"""Is told what is done, how many of it are, and of how many."""


class Stopped(Exception):
    """The end of a check in the middle of a stage, with what had been emitted."""

    def __init__(self, emitted: list[Emitted], reason: str | None) -> None:
        """Tell of it.

        Args:
            emitted: what is known until then.
            reason: what the engine lacks; None for an interrupt.
        """
        super().__init__(reason)
        self.emitted = emitted
        self.reason = reason


class Engine(Protocol):
    """Runs checks, here or on a cluster."""

    def map(self, context: Context, function: Callable[[Context, T], R], tasks: Sequence[T]) -> list[R]:
        """The results of a function that gives little, in the order of the tasks."""
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
        """Run a check on every task; all that it emits but facts, which are kept for `grouped`. Findings are added up,
        so that what comes back does not grow with the files.

        Args:
            context: the table.
            check: the check.
            tasks: what it is run on.
            what: what the tasks are, for the progress.
            facts: whether the check emits facts.
            lost: what is found where a task ends its process; only given for checks whose libraries may do that.

        Raises:
            Stopped: somebody interrupted it, or the engine cannot go on.
            KeyboardInterrupt, NotExamined: the same, of an engine that knows nothing of its tasks yet.
        """
        ...

    def grouped(self, check: CheckBucket) -> list[tuple[Finding, ...]]:
        """Run a check on the facts of every bucket, and forget the facts."""
        ...

    def regrouped(self, function: Callable[[Iterable[Facts]], Iterator[Facts]]) -> None:
        """Replace the facts by those that a function makes of the facts of every bucket."""
        ...

    def close(self) -> None:
        """Give back what the engine holds."""
        ...


def quiet(what: str, done: int, of: int) -> None:
    """Progress that nobody looks at."""

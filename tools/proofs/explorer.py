"""Run Python along every path that it can take with symbols as values.

A symbol stands for any value of its type. Where code asks whether a comparison of symbols is true, both answers may be
possible: the explorer follows one of them, remembers what it implies for the symbols, and runs the code again for the
other one. It does not follow an answer that no values allow, which the solver z3 decides. When no path is left, the
claims on all paths hold for all values of the symbols.

The code is the one that users run: it is neither translated nor copied.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import attrs
import z3

SOLVER_STEPS = 20_000_000
"""The limit on the solver's steps per query: about ten seconds, regardless of the load of the machine."""


class Impossible(BaseException):
    """An assumption excludes the path. Like the next two, it is no `Exception`, so that the code cannot handle it."""


class Undecided(BaseException):
    """The solver did not answer, or too much time was used."""


class Unsupported(BaseException):
    """The code used a symbol in a way that symbols do not support."""


@attrs.define
class Path:
    """One run of the code: the answers that were taken, and those that are left to try."""

    prefix: tuple[bool, ...]
    deadline: float
    answers: list[bool] = attrs.field(factory=list)
    open: list[tuple[bool, ...]] = attrs.field(factory=list)
    """The prefixes of the paths on which the other answer is also possible."""

    solver: z3.Solver = attrs.field(factory=lambda: _solver())
    applications: dict[str, list[tuple[Any, Any]]] = attrs.field(factory=dict)
    """The arguments and results of each function that stands for any function, see `tools.proofs.stand_ins`."""

    fresh: int = 0

    def assume(self, condition: Any) -> None:
        """Restrict the symbols of the path."""
        self.solver.add(condition)

    def decide(self, condition: Any) -> bool:
        """Return whether a condition on symbols is true on this path; fork if both are possible."""
        condition = z3.simplify(condition)
        if z3.is_true(condition):
            return True
        if z3.is_false(condition):
            return False
        if len(self.answers) < len(self.prefix):
            answer = self.prefix[len(self.answers)]
        else:
            answer = self.possible(condition)
            if answer and self.possible(z3.Not(condition)):
                self.open.append((*self.answers, False))
        self.answers.append(answer)
        self.solver.add(condition if answer else z3.Not(condition))
        return answer

    def possible(self, condition: Any) -> bool:
        """Whether some values of the symbols satisfy a condition in addition to those of the path."""
        if time.process_time() > self.deadline:
            raise Undecided("the time of the case is used up")
        self.solver.push()
        self.solver.add(condition)
        result = self.solver.check()
        self.solver.pop()
        if result == z3.unknown:
            raise Undecided(f"z3 gave up: {self.solver.reason_unknown()}")
        return bool(result == z3.sat)

    def model(self) -> z3.ModelRef:
        """Return values of the symbols that take this path."""
        if self.solver.check() != z3.sat:
            raise Undecided("z3 found no values for a path")
        return self.solver.model()


def _solver() -> z3.Solver:
    made = z3.Solver()
    made.set("rlimit", SOLVER_STEPS)
    return made


_active: list[Path] = []


def active() -> Path:
    """Return the running path."""
    if not _active:
        raise Unsupported("a symbol is used outside of a proof")
    return _active[-1]


@contextmanager
def _running(path: Path) -> Iterator[None]:
    _active.append(path)
    try:
        yield
    finally:
        _active.pop()


@attrs.frozen
class Ended:
    """The end of one path."""

    path: Path
    error: BaseException | None
    """The exception that the code raised; None if it returned."""


def paths(run: Callable[[], None], deadline: float) -> Iterator[Ended]:
    """Run code along every path.

    Args:
        run: a function that makes symbols, runs the code, and raises an error if a claim is false.
        deadline: the time at which to give up, by `time.process_time`.

    Yields:
        The end of each path, except those that assumptions exclude.

    Raises:
        Undecided: the solver did not answer, or the deadline passed.
        Unsupported: the code used a symbol in a way that symbols cannot follow.
    """
    left: list[tuple[bool, ...]] = [()]
    while left:
        path = Path(left.pop(), deadline)
        error: BaseException | None = None
        with _running(path):
            try:
                run()
            except Impossible:
                error = None
                left.extend(path.open)
                continue
            except (Undecided, Unsupported, KeyboardInterrupt):
                raise
            except BaseException as found:  # whatever the code raises is an outcome of the path
                error = found
            left.extend(path.open)
            yield Ended(path, error)

"""Run Python along every path that it can take with symbols as values.

A symbol stands for any value of its type. Where code asks whether a comparison of symbols is true, both answers may be
possible: the explorer follows one of them, remembers what it implies for the symbols, and runs the code again for the
other one. It does not follow an answer that no values allow, which the solver z3 decides. When no path is left, the
claims on all paths hold for all values of the symbols.

The code is the one that users run: it is neither translated nor copied.

Two things keep the number of queries and paths small. Values that satisfy the conditions of a path are kept: a branch
that these values take is possible, so that the solver is only asked about the other one. And the paths through a
function that returns a bool and changes nothing can be merged (`merge_paths`): they are followed at once, and the
function returns one condition, which is true where the result of the path that is taken is true.
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
    """An assumption excludes the path. Like the next two, it is not an `Exception`, so that code cannot handle it."""


class Undecided(BaseException):
    """The solver did not answer, or too much time was used."""


class Unsupported(BaseException):
    """The code used a symbol in a way that symbols do not support."""


@attrs.define
class Path:
    """One run of the code: the answers that were taken, and those that are left to try."""

    prefix: tuple[bool, ...]
    deadline: float
    values: z3.ModelRef | None = None
    """Values of the symbols that take this path as far as it is known; None if they are not known."""

    answers: list[bool] = attrs.field(factory=list)
    open: list[Start] = attrs.field(factory=list)
    """The paths on which the other answer is also possible."""

    solver: z3.Solver = attrs.field(factory=lambda: _solver(SOLVER_STEPS // 10))
    applications: dict[str, list[tuple[Any, Any]]] = attrs.field(factory=dict)
    """The arguments and results of each function that stands for any function, see `tools.proofs.stand_ins`."""

    fresh: int = 0

    def assume(self, condition: Any) -> None:
        """Restrict the symbols of the path."""
        self.solver.add(condition)
        if self.values is not None and len(self.answers) >= len(self.prefix) and not _holds(condition, self.values):
            self.values = None

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
            known = _holds(condition, self.model())
            answer = self.find(condition) is not None if known is None else known
            other = self.find(z3.Not(condition) if answer else condition)
            if other is not None:
                self.open.append(Start((*self.answers, not answer), other))
        self.answers.append(answer)
        self.assume(condition if answer else z3.Not(condition))
        return answer

    def find(self, condition: Any) -> z3.ModelRef | None:
        """Find values of the symbols that satisfy a condition in addition to those of the path; None if none do."""
        if time.process_time() > self.deadline:
            raise Undecided("the time of the case is used up")
        self.solver.push()
        self.solver.add(condition)
        asked, result = self.solver, self.solver.check()
        if result == z3.unknown:  # products of unknowns: a fresh solver decides more of them
            asked = _solver()
            asked.add(*self.solver.assertions())
            result = asked.check()
        found = asked.model() if result == z3.sat else None
        self.solver.pop()
        if result == z3.unknown:
            raise Undecided(f"z3 gave up: {asked.reason_unknown()}")
        return found

    def model(self) -> z3.ModelRef:
        """Return values of the symbols that take this path.

        Raises:
            Impossible: no values do.
        """
        if self.values is None:
            self.values = self.find(z3.BoolVal(val=True))
            if self.values is None:
                raise Impossible
        return self.values


@attrs.frozen
class Start:
    """The first part of a path that is still to be run: its answers, and values that take it."""

    prefix: tuple[bool, ...] = ()
    values: z3.ModelRef | None = None


@attrs.define
class Merging:
    """One run of a function whose paths are merged: every answer is followed, also those that no values allow."""

    outer: Path | Merging
    prefix: tuple[bool, ...]
    answers: dict[int, bool] = attrs.field(factory=dict)
    """The answers, by the ids of their conditions."""

    conditions: list[Any] = attrs.field(factory=list)
    """The conditions of the path, with their answers."""

    open: list[tuple[bool, ...]] = attrs.field(factory=list)

    @property
    def applications(self) -> dict[str, list[tuple[Any, Any]]]:
        """The applications on the path of the caller."""
        return self.outer.applications

    def assume(self, condition: Any) -> None:
        """Restrict the symbols, where they take this path."""
        self.outer.assume(z3.Implies(z3.And(*self.conditions), condition))

    def decide(self, condition: Any) -> bool:
        """Return whether a condition on symbols is true on this path; both answers are followed."""
        condition = z3.simplify(condition)
        if z3.is_true(condition) or z3.is_false(condition):
            return bool(z3.is_true(condition))
        key = condition.get_id()
        if key not in self.answers:
            place = len(self.conditions)
            if place >= len(self.prefix):
                self.open.append((*self.answers.values(), False))
            self.answers[key] = place >= len(self.prefix) or self.prefix[place]
            self.conditions.append(condition if self.answers[key] else z3.Not(condition))
        return self.answers[key]

    def find(self, condition: Any) -> z3.ModelRef | None:
        """Find values that take this path and satisfy a condition."""
        return self.outer.find(z3.And(*self.conditions, condition))


def merge_paths(run: Callable[[], Any], term: Callable[[Any], Any]) -> Any:
    """Run a function that returns a bool and changes nothing along all its paths.

    Args:
        run: the function.
        term: makes a term of its result.

    Returns:
        The condition under which the result is true; the result itself if there is only one path. If values take a
        path that raises an exception, the paths are not merged: the caller's path forks instead.
    """
    outer = active()
    left: list[tuple[bool, ...]] = [()]
    ends: list[tuple[list[Any], Any]] = []
    while left:
        path = Merging(outer, left.pop())
        try:
            with _running(path):
                result = run()
        except (Exception, Unsupported):
            if path.find(z3.BoolVal(val=True)) is not None:
                return run()
        else:
            ends.append((path.conditions, result))
        left.extend(path.open)
    if len(ends) == 1 and not ends[0][0]:
        return ends[0][1]
    return z3.simplify(z3.Or(*(z3.And(*conditions, term(result)) for conditions, result in ends)))


def _holds(condition: Any, values: z3.ModelRef) -> bool | None:
    """Return whether a condition is true of values; None if they do not decide it."""
    found = values.eval(condition, model_completion=True)
    return True if z3.is_true(found) else False if z3.is_false(found) else None


def _solver(steps: int = SOLVER_STEPS) -> z3.Solver:
    made = z3.Solver()
    made.set("rlimit", steps)
    return made


_active: list[Path | Merging] = []


def active() -> Any:
    """Return the running path."""
    if not _active:
        raise Unsupported("a symbol is used outside of a proof")
    return _active[-1]


@contextmanager
def _running(path: Path | Merging) -> Iterator[None]:
    _active.append(path)
    try:
        yield
    finally:
        _active.pop()


@attrs.frozen
class PathEnd:
    """The end of one path."""

    path: Path
    error: BaseException | None
    """The exception that the code raised; None if it returned."""


def paths(run: Callable[[], None], deadline: float) -> Iterator[PathEnd]:
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
    left = [Start()]
    while left:
        start = left.pop()
        path = Path(start.prefix, deadline, start.values)
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
            yield PathEnd(path, error)

"""The shared parts of all benchmarks: claims, peers in separate processes, and turns."""

from __future__ import annotations

import gc
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any, Self

from attrs import frozen

from conformance.engine_setup import launch


class BenchError(Exception):
    """A peer, or a command of ours, could not be measured."""


class Measure(Enum):
    """The figure of a claim that is compared with its goal."""

    RATIO = "times the peer's time"
    """The median over the rounds of our time divided by the peer's: must be at most the goal."""

    REQUESTS = "times the peer's requests"
    """The number of our requests divided by that of the peer's: must be at most the goal."""

    RATE = "a second"
    """The median rate: must be at least the goal."""

    SECONDS = "seconds"
    """The median time: must be at most the goal."""


@frozen(kw_only=True)
class Claim:
    """The measurements of one path in every round, those of its peer, and the goal."""

    path: str
    """The name of the path, as in the table of goals."""

    case: str
    """The input, and its size."""

    ours: tuple[float, ...]
    """The seconds of each round; for a rate, the number per second; or the number of requests."""

    peer: str = ""
    """The peer with its version; empty if there is none."""

    theirs: tuple[float, ...] = ()
    """The peer's seconds, or requests, in each round."""

    measure: Measure = Measure.RATIO
    goal: float | None = None
    """The goal; None if the figure is shown without one."""

    note: str = ""

    def __attrs_post_init__(self) -> None:
        """Reject invalid measurements: a round that took no time, or one that lacks the peer."""
        if not self.ours or min(self.ours + self.theirs) <= 0 or len(self.theirs) not in {0, len(self.ours)}:
            raise ValueError(f"{self.path}, {self.case}: no measurement: {self.ours} and {self.theirs}")

    @property
    def values(self) -> tuple[float, ...]:
        """The figures that are compared with the goal, one for each round."""
        if self.measure in (Measure.RATIO, Measure.REQUESTS):
            return tuple(mine / other for mine, other in zip(self.ours, self.theirs, strict=True))
        return self.ours

    @property
    def value(self) -> float:
        """The median of `values`."""
        return statistics.median(self.values)

    @property
    def reached(self) -> bool | None:
        """Whether the goal is reached; None if there is no goal."""
        if self.goal is None:
            return None
        return self.value >= self.goal if self.measure is Measure.RATE else self.value <= self.goal

    @property
    def key(self) -> str:
        """The identity of the claim across runs."""
        return " / ".join(filter(None, (self.path, self.case, self.peer.partition(" ")[0])))


@frozen
class Scale:
    """The size of the measured cases, and the number of rounds."""

    quick: bool
    rounds: int

    def size(self, full: int, quick: int) -> int:
        """Return the size for this run."""
        return quick if self.quick else full


class Peer:
    """A program in a separate interpreter that answers each line of JSON with one.

    Its first output line has its name and version.
    """

    def __init__(self, engine: str | None, program: str, *arguments: str, stderr: int = subprocess.DEVNULL) -> None:
        """Start a program in the environment of an engine, or in that of this process."""
        started = None if engine is None else launch(engine)
        command = [sys.executable if started is None else started.command[0], "-c", program, *arguments]
        self._process = subprocess.Popen(
            command,
            env=None if started is None else dict(started.env),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
        )
        self._name = engine or "a program"
        self.version: str = self._answer()

    def _answer(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            message = f"{self._name} ended with status {self._process.wait()}"
            raise BenchError(message)
        return json.loads(line)

    def __call__(self, *question: Any) -> Any:
        """Send a request and wait for the answer.

        Raises:
            BenchError: the peer ended.
        """
        assert self._process.stdin is not None
        print(json.dumps(question), file=self._process.stdin, flush=True)
        return self._answer()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate(timeout=60)


def timed(work: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    """Return the seconds that a call takes by the given clock."""
    gc.collect()
    start = clock()
    work()
    return clock() - start


def in_turns(functions: Mapping[str, Callable[[], float]], rounds: int, warm: int = 1) -> dict[str, tuple[float, ...]]:
    """Run the functions in turn; return the seconds that each reports in the rounds after the warm-up."""
    taken: dict[str, list[float]] = {name: [] for name in functions}
    for number in range(warm + rounds):
        for name, way in functions.items():
            seconds = way()
            if number >= warm:
                taken[name].append(seconds)
    return {name: tuple(seconds) for name, seconds in taken.items()}

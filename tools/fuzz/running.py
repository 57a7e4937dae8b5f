"""The fuzzing loop: it tries one input after the other, with limits on time and memory.

Each target runs in a separate process, so that a process killed by the system is a finding and does not end the run.
"""

from __future__ import annotations

import os
import random
import resource
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import FrameType

from conformance.properties.shrinking import find_smallest
from tools.forked_process import DONE, run_forked
from tools.fuzz.target import Refusal, Target

SECONDS = 5
"""The limit on processor time of one input, in seconds."""

MEMORY = 4 << 30
"""The limit on the address space of a process in bytes, including its libraries and seeds."""

MOST_FINDINGS = 20
"""The number of findings after which a target ends, because each costs time."""


class TooSlow(BaseException):
    """An input took too long. This is not an `Exception`, so that no reader handles it."""


@dataclass(frozen=True)
class Problem:
    """What a reader did that its documentation does not permit."""

    where: str
    """The kind of the error and where it was raised, or `TOO_SLOW`; one finding is kept for each value."""

    message: str = ""

    def __str__(self) -> str:
        return f"{self.where}: {self.message}" if self.message else self.where


TOO_SLOW = "TooSlow"


@dataclass
class Finding:
    """An input that made a reader behave differently from its documentation."""

    target: str
    data: bytes
    error: str
    """The `Problem` as text."""

    output: str = ""


@dataclass
class Outcome:
    """The result of a run of one target."""

    target: str
    inputs: int = 0
    seconds: float = 0.0
    findings: list[Finding] = field(default_factory=list)


class Watch:
    """Interrupts an input that exceeds its time."""

    def __init__(self, seconds: float = SECONDS) -> None:
        self.ticks = 0
        self.most = max(1, round(seconds / 0.5))
        signal.signal(signal.SIGPROF, self._tick)
        signal.setitimer(signal.ITIMER_PROF, 0.5, 0.5)

    def next(self) -> None:
        """Start the time of the next input."""
        self.ticks = 0

    def stop(self) -> None:
        """Stop after the last input."""
        signal.setitimer(signal.ITIMER_PROF, 0)

    def _tick(self, _number: int, _frame: FrameType | None) -> None:
        self.ticks += 1
        if self.ticks > self.most:
            self.ticks = 0
            raise TooSlow


def problem(read: Callable[[bytes], object], data: bytes, watch: Watch) -> Problem | None:
    """Return the problem if a reader raises something undocumented or takes too long."""
    watch.next()
    try:
        read(data)
    except TooSlow:
        return Problem(TOO_SLOW)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # panics of libraries are not an `Exception`
        last = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{type(error).__name__} in {os.path.basename(last.filename)}:{last.name}:{last.lineno}"
        return Problem(where, str(error)[:200])
    return None


class Attempts:
    """The inputs of one run in this process, and their results. Making it limits the memory of the process."""

    def __init__(
        self,
        name: str,
        read: Callable[[bytes], object],
        memory: int = MEMORY,
        limit: float = SECONDS,
        most: int = MOST_FINDINGS,
    ) -> None:
        resource.setrlimit(resource.RLIMIT_AS, (memory, resource.getrlimit(resource.RLIMIT_AS)[1]))
        self.read, self.most = read, most
        self.outcome = Outcome(name)
        self.watch = Watch(limit)
        self.seen: set[str] = set()
        self.failed = 0
        self.began = time.process_time()

    def try_input(self, data: bytes) -> object:
        """Return the reader's result for an input; None if it is a finding."""
        self.outcome.inputs += 1
        self.watch.next()
        try:
            return self.read(data)
        except BaseException as raised:
            found = Problem(TOO_SLOW) if isinstance(raised, TooSlow) else problem(self.read, data, self.watch)
        self.failed += 1
        if found is not None and found.where not in self.seen:
            self.seen.add(found.where)
            self.outcome.findings.append(Finding(self.outcome.target, self.smaller(data, found.where), str(found)))
        return None

    def smaller(self, data: bytes, where: str, seconds: float = 2) -> bytes:
        """Shrink an input for a limited time, while it has the same finding."""
        if where == TOO_SLOW:
            return data

        def fails(less: bytes) -> bool:
            found = problem(self.read, less, self.watch)
            return found is not None and found.where == where

        return find_smallest(data, fails, Cuts(len(data) // 2, time.process_time() + seconds), sys.maxsize)

    def is_over(self, seconds: float) -> bool:
        """Return whether the time is over, or there are enough findings."""
        return len(self.seen) >= self.most or time.process_time() - self.began >= seconds

    def end(self) -> Outcome:
        """Return the outcome of the run."""
        self.watch.stop()
        self.outcome.seconds = time.process_time() - self.began
        return self.outcome


class Cuts:
    """Generates shorter inputs by removing sections of decreasing size, and continues from each that still fails."""

    def __init__(self, size: int, until: float) -> None:
        """Start with sections of a size; stop at a processor time."""
        self._size, self._until = size, until
        self._place = 0

    def __call__(self, data: bytes) -> Iterator[bytes]:
        """Yield the bytes without one section, from the first untried section on."""
        while self._size:
            while self._place < len(data) and time.process_time() < self._until:
                yield data[: self._place] + data[self._place + self._size :]
                self._place += self._size  # the shorter input does not fail
            self._place, self._size = 0, self._size // 2


def fuzz(target: Target, seconds: float, seed: int, memory: int = MEMORY, limit: float = SECONDS) -> Outcome:
    """Break inputs for some seconds of processor time.

    Inputs that a reader rejects in a new way (by another requirement, or at another line) are kept and broken further.
    The memory of the process and the time of each input are limited.
    """
    rng = random.Random(f"{target.name} {seed}")
    read, kept, refusals = target.load(), target.initial_inputs(), set()
    attempts = Attempts(target.name, read, memory, limit)
    pending = list(kept)
    while pending or attempts.outcome.inputs & 63 or not attempts.is_over(seconds):
        data = pending.pop() if pending else target.mutate(rng, kept[int(rng.random() * len(kept))], kept)
        failed = attempts.failed
        answer = attempts.try_input(data)
        if attempts.failed > failed and attempts.is_over(max(seconds, limit)):
            break
        if isinstance(answer, Refusal) and answer not in refusals and len(kept) < 4000:
            refusals.add(answer)
            kept.append(data)
    return attempts.end()


def fuzz_in_process(target: Target, seconds: float, seed: int, limit: float = SECONDS) -> Outcome:
    """Run `fuzz` in a separate process; it is a finding if the process hangs or dies."""
    status, found = run_forked(lambda: fuzz(target, seconds, seed, limit=limit), 3 * seconds + 120)
    if status == DONE:
        outcome: Outcome = found
        return outcome
    return Outcome(target.name, findings=[Finding(target.name, b"", f"the run {status}", str(found))])

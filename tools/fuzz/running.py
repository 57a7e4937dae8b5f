"""The loop of a fuzzer: inputs one after the other, each within bounds on time and memory.

Each target runs in a process of its own, so that one that is ended by the system is a finding and not the end.
"""

from __future__ import annotations

import os
import random
import resource
import signal
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from types import FrameType

from tools.apart import DONE, apart
from tools.fuzz.targets import Target

SECONDS = 5
"""Seconds of processor time that one input may take."""

MEMORY = 4 << 30
"""Bytes of address space that a process may have, its libraries and its seeds included."""

MOST_FINDINGS = 20
"""Findings of one target after which it is left, as each costs time."""


class TooSlow(BaseException):
    """An input took too long; no reader may take it for an error of its own."""


@dataclass
class Finding:
    """An input that a reader did not answer or refuse as it documents."""

    target: str
    data: bytes
    error: str
    """The kind of the error and where it was raised; one finding is kept for each."""

    told: str = ""


@dataclass
class Outcome:
    """What a run of one target came to."""

    target: str
    inputs: int = 0
    seconds: float = 0.0
    findings: list[Finding] = field(default_factory=list)


class Watch:
    """Interrupts an input that takes more than its time."""

    def __init__(self, seconds: float = SECONDS) -> None:
        self.ticks = 0
        self.most = max(1, round(seconds / 0.5))
        signal.signal(signal.SIGPROF, self._tick)
        signal.setitimer(signal.ITIMER_PROF, 0.5, 0.5)

    def next(self) -> None:
        """Another input begins."""
        self.ticks = 0

    def stop(self) -> None:
        """No more inputs come."""
        signal.setitimer(signal.ITIMER_PROF, 0)

    def _tick(self, _number: int, _frame: FrameType | None) -> None:
        self.ticks += 1
        if self.ticks > self.most:
            self.ticks = 0
            raise TooSlow


def problem(read: Callable[[bytes], object], data: bytes, watch: Watch) -> str | None:
    """How a reader fails an input: it raises what it does not document, or takes too long."""
    watch.next()
    try:
        read(data)
    except TooSlow:
        return "TooSlow"
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        return (
            f"{type(error).__name__} in {os.path.basename(last.filename)}:{last.name}:{last.lineno}: {str(error)[:200]}"
        )
    return None


def fuzz(target: Target, seconds: float, seed: int, memory: int = MEMORY, limit: float = SECONDS) -> Outcome:
    """Break inputs for some seconds of processor time; in this process, whose memory is bounded from now on.

    Inputs of which a reader says something new - another refusal, by its message without numbers - are kept to be
    broken further. The memory of the process and the time of each input have a limit.
    """
    resource.setrlimit(resource.RLIMIT_AS, (memory, resource.getrlimit(resource.RLIMIT_AS)[1]))
    rng = random.Random(f"{target.name} {seed}")
    read, kept, watch = target.load(), target.kept(), Watch(limit)
    outcome, seen, said = Outcome(target.name), set(), set()
    began = time.process_time()
    pending = list(kept)
    while True:
        if outcome.inputs & 63 == 0 and time.process_time() - began >= seconds and not pending:
            break
        data = pending.pop() if pending else target.mutate(rng, kept[int(rng.random() * len(kept))], kept)
        outcome.inputs += 1
        watch.next()
        try:
            answer = read(data)
        except BaseException as raised:
            error = "TooSlow" if isinstance(raised, TooSlow) else problem(read, data, watch)  # told in one way
            if error is not None and error.partition(": ")[0] not in seen:
                seen.add(error.partition(": ")[0])
                outcome.findings.append(Finding(target.name, data, error))
            if len(seen) >= MOST_FINDINGS or time.process_time() - began >= max(seconds, limit):
                break
            continue
        if type(answer) is str and len(kept) < 4000:
            words = answer[:60].translate(_NO_DIGITS)
            if words not in said:
                said.add(words)
                kept.append(data)
    watch.stop()
    outcome.seconds = time.process_time() - began
    return outcome


_NO_DIGITS = {ord(digit): None for digit in "0123456789abcdefABCDEF"}


def fuzzed(target: Target, seconds: float, seed: int, memory: int = MEMORY, limit: float = SECONDS) -> Outcome:
    """As `fuzz`, in a process of its own; that it does not come to an end in time, or dies, is a finding."""
    status, found = apart(lambda: fuzz(target, seconds, seed, memory, limit), 3 * seconds + 120)
    if status == DONE:
        outcome: Outcome = found
        return outcome
    return Outcome(target.name, findings=[Finding(target.name, b"", f"the run {status}", str(found))])

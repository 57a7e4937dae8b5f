"""An adapter in a separate process, in any language: starting it, sending requests, and restarting it after a crash.

Up to `AdapterLimits.max_in_flight` requests are in flight, and answers come in the order of the requests. When the
process dies, hangs or breaks the protocol, only the oldest request without an answer counts as crashed; the process is
started again, and the other requests are sent again. All reading and writing is done without blocking in one place
(`pipes`), so that an adapter that reads nothing, or floods either of its outputs, cannot stall the run.
"""

from __future__ import annotations

import shutil
import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from types import TracebackType
from typing import Self

from attrs import frozen

from conformance.adapter_sdk.script_steps import WRITING
from conformance.core.drives import WINDOWS
from conformance.core.failures import NotExamined
from conformance.core.json_text import shorten
from conformance.operations.protocol import (
    Answer,
    Breach,
    Crashed,
    StartAnswer,
    read_answer,
    read_started,
    request_line,
    start_line,
    stop_line,
)
from conformance.runner.adapter_interface import Request, Trace
from conformance.runner.pipes import Ended, Pipes

STOP_GRACE = 20.0
"""How many seconds a process may take to stop; a JVM may have temporary files to remove."""


@frozen(kw_only=True)
class AdapterLimits:
    """How long an adapter may take, and how often it may die."""

    start: float = 300.0
    """Seconds from the start of the process to its answer to ``start``; a server on a busy machine needs minutes."""

    request: float = 30.0
    """Seconds for one answer, from the moment when its request is the oldest without one."""

    writing: float = 4.0
    """The factor on the time of an operation that writes, as it makes several commits."""

    first: float = 4.0
    """The factor on the time of the first answer of a process: many engines start with the first request."""

    max_in_flight: int = 64
    """The maximum number of requests in flight."""

    max_consecutive_crashes: int = 10
    """After this many crashes without an answer in between, the other requests are not sent."""

    starts: int = 3
    """Attempts to start the process again after a crash."""


class Process:
    """An implementation that speaks the protocol in a separate process; see the module."""

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        limits: AdapterLimits | None = None,
        trace: Trace | None = None,
    ) -> None:
        self.name = name
        self._command = list(command)
        self._env = env
        self._limits = limits or AdapterLimits()
        self._trace = trace
        self._line: Pipes | None = None
        self._seq = 0

    @property
    def stderr(self) -> str:
        """The last lines that the current process wrote to standard error."""
        return self._line.stderr_tail() if self._line else ""

    def start(self) -> StartAnswer:
        if WINDOWS:
            raise NotExamined(f"{self._command[0]}: adapters run as processes on POSIX systems only, not on Windows")
        try:
            self._line = Pipes(self._command, self._env, self._trace)
        except OSError as error:
            raise NotExamined(f"{self._command[0]}: cannot be run: {error.strerror}") from None
        except ValueError as error:  # a NUL byte in the command
            raise NotExamined(f"{self._command[0]!r}: cannot be run: {error}") from None
        try:
            self._line.send([start_line()])
            line = self._line.receive(time.monotonic() + self._limits.start)
            if line is None:
                raise Breach(f"no answer to start within {self._limits.start:g} s")
            seq, answer = read_answer(line)
            if seq != 0:
                raise Breach(f"the answer to start has seq {seq}, not 0")
            started = read_started(answer)
        except Breach as breach:
            stderr = self._end()
            raise NotExamined(_with_last_words(str(breach), stderr)) from None
        self._seq = 0
        return started

    def ask(self, requests: Iterable[Request]) -> Iterator[Answer]:
        """Yield the answers, in order; `Crashed` for each request that crashed the process.

        Raises:
            NotExamined: `start` was not called or failed.
        """
        if self._line is None:
            raise NotExamined(f"{self.name} is not started")
        pending = _Rewindable(requests)
        under_way: deque[tuple[int, Request]] = deque()
        crashes = 0
        since = time.monotonic()
        while True:
            if len(under_way) <= self._limits.max_in_flight // 2 or not self._line.has_line:
                self._fill(under_way, pending)
                if not under_way:
                    return
            try:
                answer = self._next_answer(*under_way[0], since)
                crashes = 0
            except Breach as breach:
                answer = Crashed(shorten(str(breach)), self._end())
                crashes += 1
            under_way.popleft()
            yield answer
            if isinstance(answer, Crashed):
                pending.requeue(request for _, request in under_way)
                given_up = self._restart(crashes, answer)
                for _, request in under_way:  # the next process repeats work that this one may have begun
                    if request.op == "table.write":
                        shutil.rmtree(request.args["table"], ignore_errors=True)
                under_way.clear()
                if given_up is not None:
                    yield from (given_up for _ in pending)
                    return
            since = time.monotonic()

    def _fill(self, under_way: deque[tuple[int, Request]], pending: _Rewindable) -> None:
        lines = []
        for request in pending.take(self._limits.max_in_flight - len(under_way)):
            self._seq += 1
            under_way.append((self._seq, request))
            lines.append(request_line(self._seq, request.op, request.args))
        assert self._line is not None
        self._line.send(lines)

    def _next_answer(self, expected: int, request: Request, since: float) -> Answer:
        assert self._line is not None
        limits = self._limits
        first = limits.first if expected == 1 else 1.0  # each process counts from 1
        seconds = limits.request * max(first, limits.writing if request.op in WRITING else 1.0)
        line = self._line.receive(since + seconds)
        if line is None:
            raise Breach(f"no answer within {seconds:g} s")
        seq, answer = read_answer(line)
        if seq != expected:
            again = " again" if seq < expected else ""
            raise Breach(f"it answered request {seq}{again}, expected the answer to request {expected}")
        return answer

    def _restart(self, crashes: int, last: Crashed) -> Crashed | None:
        """Start the process again after a crash; if that fails, return the answer to all requests that are left."""
        if crashes >= self._limits.max_consecutive_crashes:
            return Crashed(f"request not sent: {crashes} crashes in a row, the last: {last.reason}", last.stderr)
        for attempt in range(1, self._limits.starts + 1):
            try:
                self.start()
            except NotExamined as error:
                if attempt == self._limits.starts:
                    return Crashed(f"request not sent: after a crash it does not start again: {error}", last.stderr)
            else:
                return None
        return None

    def stop(self) -> str | None:
        """Ask the process to end, and kill it if it does not; output after its last answer breaks the protocol.

        How the process ends does not matter, as all its answers have been read.
        """
        line = self._line
        if line is None:
            return None
        breach = None
        try:
            line.send([stop_line(self._seq + 1)])
            if line.receive(time.monotonic() + STOP_GRACE) is not None:
                breach = "it wrote a line after its last answer"
        except Ended as end:
            breach = f"after its last answer it {end}" if end.partial else None
        except Breach as other:
            breach = str(other)
        self._end()
        return breach

    def interrupt(self) -> None:
        """Kill the process from another thread; a thread that waits for an answer gets an error."""
        line = self._line
        if line is not None:
            line.kill()

    def _end(self) -> str:
        """Kill the process and its children, if they still run; return the end of its standard error."""
        if self._line is None:
            return ""
        line, self._line = self._line, None
        line.close()
        return line.stderr_tail()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()


def _with_last_words(reason: str, stderr: str) -> str:
    """Append the last line of standard error, which often says why, to a reason."""
    lines = [line for line in stderr.splitlines() if line.strip()]
    return f"{shorten(reason)}; it wrote: {shorten(lines[-1])}" if lines else shorten(reason)


class _Rewindable:
    """An iterator that items can be put back into."""

    def __init__(self, requests: Iterable[Request]) -> None:
        self._source = iter(requests)
        self._front: deque[Request] = deque()

    def __iter__(self) -> Iterator[Request]:
        return self

    def __next__(self) -> Request:
        return self._front.popleft() if self._front else next(self._source)

    def take(self, count: int) -> Iterator[Request]:
        return islice(self, count)

    def requeue(self, requests: Iterable[Request]) -> None:
        self._front.extendleft(reversed(list(requests)))

"""A limit to the time of a command: work that is under way when it ends is interrupted, as by ctrl-c."""

from __future__ import annotations

import contextlib
import signal
import time
from collections.abc import Iterator
from types import FrameType

import attrs


@attrs.define
class TimeBudget:
    """The seconds that a command may take, from now on."""

    seconds: float | None = None
    """None for no limit."""

    is_over: bool = attrs.field(default=False, init=False)
    _started: float = attrs.field(factory=time.monotonic, init=False)

    @contextlib.contextmanager
    def interrupting(self) -> Iterator[None]:
        """Interrupt what is done here when the time is over; only for the main thread, which signals reach.

        Raises:
            KeyboardInterrupt: it is over, and nothing else handles interrupts.
        """
        if self.seconds is None:
            yield
            return
        before = signal.signal(signal.SIGALRM, self._interrupt)
        signal.setitimer(signal.ITIMER_REAL, max(self._started + self.seconds - time.monotonic(), 0.001))
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)

    def _interrupt(self, _signal: int, frame: FrameType | None) -> None:
        self.is_over = True
        handler = signal.getsignal(signal.SIGINT)
        if not callable(handler):  # in the background of a shell, whose interrupts are for others
            raise KeyboardInterrupt
        handler(signal.SIGINT, frame)

"""A time limit for a command: work in progress when the limit is reached is interrupted, as by ctrl-c."""

from __future__ import annotations

import _thread
import contextlib
import signal
import threading
import time
from collections.abc import Iterator
from types import FrameType

import attrs

from conformance.core import drives

FILE_SECONDS = 300.0
"""The default limit for a file without progress: longer than all attempts of `conformance.table_io.file_access` on a
store, whose errors give a better reason."""


@attrs.define
class TimeBudget:
    """The seconds that a command may take, from now on."""

    seconds: float | None = None
    """None for no limit."""

    is_over: bool = attrs.field(default=False, init=False)
    _started: float = attrs.field(factory=time.monotonic, init=False)

    @contextlib.contextmanager
    def interrupting(self) -> Iterator[None]:
        """Interrupt the body of the ``with`` statement when the time limit is reached; only for the main thread.

        Raises:
            KeyboardInterrupt: the time limit was reached, and nothing else handles interrupts.
        """
        if self.seconds is None:
            yield
            return
        left = max(self._started + self.seconds - time.monotonic(), 0.001)
        with self._timer_thread(left) if drives.WINDOWS else self._alarm(left):
            yield

    @contextlib.contextmanager
    def _alarm(self, seconds: float) -> Iterator[None]:
        """Interrupt by a signal, which reaches the main thread even while it waits for a file."""
        before = signal.signal(signal.SIGALRM, self._interrupt)
        signal.setitimer(signal.ITIMER_REAL, seconds)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)

    @contextlib.contextmanager
    def _timer_thread(self, seconds: float) -> Iterator[None]:
        """Interrupt from a second thread, as Windows has no alarms; the main thread notices between two bytecodes."""
        ended = False
        lock = threading.Lock()

        def interrupt() -> None:
            with lock:
                if not ended:  # otherwise code after the ``with`` statement would be interrupted
                    self.is_over = True
                    _thread.interrupt_main()

        timer = threading.Timer(seconds, interrupt)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
            with lock:
                ended = True

    def _interrupt(self, _signal: int, frame: FrameType | None) -> None:
        self.is_over = True
        handler = signal.getsignal(signal.SIGINT)
        if not callable(handler):  # a shell ignores interrupts for commands in the background
            raise KeyboardInterrupt
        handler(signal.SIGINT, frame)

"""A time limit for files: a store or a mount that stops answering must not stop the checks of other files.

Each file is read in a separate thread. A thread that waits for the system cannot be stopped, so it is abandoned, and
its file counts as unreadable.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar

from conformance.table_io.file_access import FileAccessError

T = TypeVar("T")

FILE_SECONDS = 300.0
"""The default limit: longer than all attempts of the stores of `file_access`, whose errors give a better reason."""

_current = threading.local()
_left_behind: list[threading.Thread] = []


class Stalled(FileAccessError):
    """Nothing was read from a file within the time limit."""


class _Work(threading.Thread, Generic[T]):
    def __init__(self, work: Callable[[], T]) -> None:
        super().__init__(daemon=True)
        self._work = work
        self.finished = threading.Event()
        self.seen = time.monotonic()
        self.result: T | None = None
        self.error: BaseException | None = None

    def run(self) -> None:
        _current.work = self
        try:
            self.result = self._work()
        except BaseException as error:  # raised again in the waiting thread
            self.error = error
        finally:
            self.finished.set()


def within(seconds: float, location: str, work: Callable[[], T]) -> T:
    """Run a function that reads a file, and abandon it when it has not called `alive` for some seconds.

    Args:
        seconds: the time limit; infinity for none.
        location: the file, for the error.
        work: the function.

    Raises:
        Stalled: the function made no progress.
    """
    if seconds == math.inf:
        return work()
    running = _Work(work)
    try:
        running.start()
        while not running.finished.wait(max(running.seen + seconds - time.monotonic(), 0)):
            if time.monotonic() - running.seen >= seconds:
                raise Stalled(location, f"nothing was read for {seconds:g} seconds")
    except (Stalled, KeyboardInterrupt):
        _left_behind.append(running)
        raise
    if running.error is not None:
        raise running.error
    return running.result  # type: ignore[return-value]


def alive() -> None:
    """Report progress: something was read from the file of this thread."""
    work = getattr(_current, "work", None)
    if work is not None:
        work.seen = time.monotonic()


def has_abandoned_thread() -> bool:
    """Return whether an abandoned thread still waits for a file, which may keep the process from ending."""
    return any(thread.is_alive() for thread in _left_behind)

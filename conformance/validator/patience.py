"""How long a file is waited for: a store or a mount that stops answering may not stop the checks of other files.

What reads a file runs in a thread of its own. A thread that waits for the system cannot be ended, so that it is left
behind; its file is one that cannot be read, with the reason.
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
"""More than the stores of `file_access` take with all their attempts, which then tell the reason themselves."""

_current = threading.local()
_left_behind: list[threading.Thread] = []


class Stalled(FileAccessError):
    """A file of which nothing came in the time that was given."""


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
        except BaseException as error:  # raised again where it is waited for
            self.error = error
        finally:
            self.finished.set()


def within(seconds: float, location: str, work: Callable[[], T]) -> T:
    """What reads a file, given up when it gave no sign of life (`alive`) for so many seconds, if these are finite.

    Raises:
        Stalled: it gave none.
    """
    if seconds == math.inf:
        return work()
    running = _Work(work)
    try:
        running.start()
        while not running.finished.wait(max(running.seen + seconds - time.monotonic(), 0)):
            if time.monotonic() - running.seen >= seconds:
                raise Stalled(location, f"nothing came of it for {seconds:g} seconds")
    except (Stalled, KeyboardInterrupt):
        _left_behind.append(running)
        raise
    if running.error is not None:
        raise running.error
    return running.result  # type: ignore[return-value]


def alive() -> None:
    """Tell whoever waits for this file that something of it was read."""
    work = getattr(_current, "work", None)
    if work is not None:
        work.seen = time.monotonic()


def anything_left_behind() -> bool:
    """Whether a thread still waits for a file, which may keep the process from ending."""
    return any(thread.is_alive() for thread in _left_behind)

"""A time limit for files: a store or a mount that stops answering must not stop the checks of other files.

A second thread reads the file, and the calling thread waits for it. A thread that waits for the system cannot be
stopped: after the time limit it is abandoned, and its file counts as unreadable.
"""

from __future__ import annotations

import math
import os
import queue
import threading
import time
import weakref
from collections.abc import Callable
from typing import Any, TypeVar

from conformance.table_io.file_access import FileAccessError

T = TypeVar("T")

_this_thread = threading.local()
_left_behind: list[threading.Thread] = []

if hasattr(os, "register_at_fork"):  # a forked process has no other thread than the one that forked
    os.register_at_fork(after_in_child=lambda: _this_thread.__dict__.clear())


class Stalled(FileAccessError):
    """Nothing was read from a file within the time limit."""


class _Reader:
    """A thread that reads one file after another. It ends when nobody refers to this object."""

    def __init__(self) -> None:
        self.signs = [0.0]
        """The time of the last call of `report_alive`."""

        self._files: queue.SimpleQueue[Callable[[], Any] | None] = queue.SimpleQueue()
        self._results: queue.SimpleQueue[tuple[Any, BaseException | None]] = queue.SimpleQueue()
        self.thread = threading.Thread(target=_read, args=(self.signs, self._files, self._results), daemon=True)
        self.thread.start()
        weakref.finalize(self, self._files.put, None)

    def end(self) -> None:
        """End the thread, which must have no work, and wait until it has ended."""
        self._files.put(None)
        self.thread.join()

    def read(self, seconds: float, location: str, work: Callable[[], T]) -> T:
        self.signs[0] = time.monotonic()
        self._files.put(work)
        while True:
            try:
                result, error = self._results.get(timeout=max(self.signs[0] + seconds - time.monotonic(), 0))
                break
            except queue.Empty:
                if time.monotonic() - self.signs[0] >= seconds:
                    raise Stalled(location, f"nothing was read for {seconds:g} seconds") from None
        if error is not None:
            raise error
        read: T = result
        return read


def _read(
    signs: list[float],
    files: queue.SimpleQueue[Callable[[], Any] | None],
    results: queue.SimpleQueue[tuple[Any, BaseException | None]],
) -> None:
    _this_thread.signs = signs
    while (work := files.get()) is not None:
        try:
            results.put((work(), None))
        except BaseException as error:  # raised again in the waiting thread
            results.put((None, error))
        del work  # it would stay in memory until the thread gets other work


def run_with_stall_timeout(seconds: float, location: str, work: Callable[[], T]) -> T:
    """Run a function that reads a file, and abandon it if it does not call `report_alive` for some seconds.

    Args:
        seconds: the time limit; infinity for none.
        location: the file, for the error.
        work: the function.

    Raises:
        Stalled: the function made no progress.
    """
    if seconds == math.inf:
        return work()
    reader: _Reader | None = getattr(_this_thread, "reader", None)
    if reader is None:
        reader = _this_thread.reader = _Reader()
    try:
        return reader.read(seconds, location, work)
    except (Stalled, KeyboardInterrupt):
        _left_behind.append(reader.thread)
        del _this_thread.reader
        raise


def end_idle_thread() -> None:
    """End the thread that reads files for the calling thread, if there is one; the next file gets a new thread."""
    reader: _Reader | None = getattr(_this_thread, "reader", None)
    if reader is not None:
        del _this_thread.reader
        reader.end()


def report_alive() -> None:
    """Report that something was read from the file of this thread."""
    signs = getattr(_this_thread, "signs", None)
    if signs is not None:
        signs[0] = time.monotonic()


def has_abandoned_thread() -> bool:
    """Return whether an abandoned thread still waits for a file; it may keep the process from ending."""
    return any(thread.is_alive() for thread in _left_behind)

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
from collections.abc import Callable, Generator, Iterable, Iterator
from typing import Any, Generic, Self, TypeVar

from conformance.table_io.file_access import FileAccessError

T = TypeVar("T")
Item = TypeVar("Item")

PASSING_SECONDS = 0.05
"""How long a thread that reads several files collects results before it wakes the thread that waits for them."""

WAIT_SECONDS = 0.2
"""How long a thread waits before it looks around: Python does not notice an interrupt that comes just when an unlimited
wait begins, which happens if other threads are busy."""

_this_thread = threading.local()
_left_behind: list[threading.Thread] = []

if hasattr(os, "register_at_fork"):  # a forked process has no other thread than the one that forked
    os.register_at_fork(after_in_child=lambda: _this_thread.__dict__.clear())


class Stalled(FileAccessError):
    """Nothing was read from a file within the time limit."""

    @classmethod
    def after(cls, location: str, seconds: float) -> Self:
        """Make the error for a file that was abandoned after some seconds."""
        return cls(location, f"nothing was read for {seconds:g} seconds")


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

    def leave(self) -> None:
        """Let the thread end after its work, without waiting for it."""
        self._files.put(None)

    def end(self) -> None:
        """End the thread, which must have no work, and wait until it has ended."""
        self.leave()
        self.thread.join()

    def read(self, seconds: float, location: str, work: Callable[[], T]) -> T:
        self.signs[0] = time.monotonic()
        self._files.put(work)
        while True:
            try:
                result, error = self._results.get(timeout=_wait_seconds(self.signs, seconds))
                break
            except queue.Empty:
                if time.monotonic() - self.signs[0] >= seconds:
                    raise Stalled.after(location, seconds) from None
        if error is not None:
            raise error
        read: T = result
        return read


def _wait_seconds(signs: list[float], seconds: float) -> float:
    """Return how long to wait now for a thread that may need some seconds after its last sign of life."""
    return min(max(signs[0] + seconds - time.monotonic(), 0), WAIT_SECONDS)


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
        reader.leave()
        del _this_thread.reader
        raise


def each_with_stall_timeout(
    seconds: float, items: Iterable[Item], location: Callable[[Item], str], work: Callable[[Item], T]
) -> Iterator[tuple[Item, T | Stalled]]:
    """Run a function that reads a file on each item, with the time limit of `run_with_stall_timeout` for each.

    One thread takes all items, because passing each to another thread takes as long as checking a small file.

    Args:
        seconds: the time limit for an item; infinity for none.
        items: the items.
        location: returns the file of an item, for the error.
        work: the function.

    Yields:
        Each item, with the result of the function, or with the error if it made no progress.
    """
    if seconds == math.inf:
        yield from ((item, work(item)) for item in items)
        return
    left = iter(items)
    while True:
        stalled = yield from _SeriesReader(left, work).results(seconds)
        if stalled is None:
            return
        (item,) = stalled
        yield item, Stalled.after(location(item), seconds)


class _SeriesReader(Generic[Item, T]):
    """A thread that works on one item after another, until there is none or nobody waits for it any more."""

    def __init__(self, left: Iterator[Item], work: Callable[[Item], T]) -> None:
        self._left = left
        self._work = work
        self._turn = threading.Lock()
        """Held while the thread takes an item or passes on results, which it must not do once it is abandoned."""

        self._abandoned = False
        self._current: tuple[Item, ...] = ()
        self._made: list[tuple[Item, T]] = []
        self._signs = [time.monotonic()]
        self._passed: queue.SimpleQueue[tuple[list[tuple[Item, T]], bool, BaseException | None]] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        _this_thread.signs = self._signs
        error = None
        passed = time.monotonic()
        try:
            while self._take_item():
                made = self._work(self._current[0])
                now = time.monotonic()
                with self._turn:
                    if self._abandoned:
                        return
                    self._made.append((self._current[0], made))
                    self._signs[0] = now  # this item has not stalled, however long it took
                    if now - passed > PASSING_SECONDS:
                        self._pass_on(last=False)
                        passed = now
        except BaseException as raised:  # raised again in the waiting thread
            error = raised
        with self._turn:
            if not self._abandoned:
                self._pass_on(last=True, error=error)

    def _take_item(self) -> bool:
        with self._turn:
            if self._abandoned:
                return False
            self._current = ()
            for item in self._left:
                self._current = (item,)
                break
            self._signs[0] = time.monotonic()
            return bool(self._current)

    def _pass_on(self, *, last: bool, error: BaseException | None = None) -> None:
        self._passed.put((self._made, last, error))
        self._made = []

    def results(self, seconds: float) -> Generator[tuple[Item, T], None, tuple[Item, ...] | None]:
        """Yield the items with their results; return the item that stalled, alone, or None if there is none."""
        try:
            while True:
                try:
                    made, last, error = self._passed.get(timeout=_wait_seconds(self._signs, seconds))
                except queue.Empty:
                    if time.monotonic() - self._signs[0] < seconds:
                        continue
                    with self._turn:
                        if not self._current:  # the thread has not begun
                            self._signs[0] = time.monotonic()
                        if not self._passed.empty() or time.monotonic() - self._signs[0] < seconds:
                            continue
                        self._abandoned = True
                    _left_behind.append(self._thread)
                    yield from self._made
                    return self._current
                yield from made
                if error is not None:
                    raise error
                if last:
                    self._thread.join()
                    return None
        except (KeyboardInterrupt, GeneratorExit):
            with self._turn:
                self._abandoned = True
            _left_behind.append(self._thread)
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

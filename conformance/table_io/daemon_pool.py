"""Threads for requests to stores: unlike those of `concurrent.futures`, they do not keep the process from ending."""

from __future__ import annotations

import queue
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator
from functools import partial
from typing import Any, TypeAlias, TypeVar

from conformance.core.lazy_imports import lazy_imports

with lazy_imports():
    from concurrent import futures

T = TypeVar("T")

_Work: TypeAlias = "tuple[futures.Future[Any], Callable[[], Any]]"


class DaemonPool:
    """Does work in daemon threads, in the order in which it was submitted."""

    def __init__(self, threads: int) -> None:
        """Start no thread yet.

        Args:
            threads: the maximum number of threads.
        """
        self._limit = threads
        self._threads = 0
        self._queue: queue.SimpleQueue[_Work | None] = queue.SimpleQueue()

    def submit(self, work: Callable[[], T]) -> futures.Future[T]:
        """Let a thread call a function; the future has its result or its error."""
        if self._threads < self._limit:
            threading.Thread(target=_serve, args=(self._queue,), daemon=True).start()
            self._threads += 1
        future = futures.Future[T]()
        self._queue.put((future, work))
        return future

    def close(self) -> None:
        """End the threads after the work that they have begun; the callers cancel the futures of other work."""
        for _ in range(self._threads):
            self._queue.put(None)


_END: Any = object()


def read_ahead(items: Iterator[T], count: int) -> Generator[T, None, None]:
    """Produce the next items in a thread while the consumer is busy with one; errors are raised in their place.

    Args:
        items: makes the items; a generator saves time if it mostly works outside of Python's lock.
        count: how many items may wait for the consumer.
    """
    pool = DaemonPool(1)
    waiting = deque(pool.submit(partial(next, items, _END)) for _ in range(count))
    try:
        while (item := waiting.popleft().result()) is not _END:
            waiting.append(pool.submit(partial(next, items, _END)))
            yield item
    finally:
        for future in waiting:
            future.cancel()
        pool.close()


def _serve(waiting: queue.SimpleQueue[_Work | None]) -> None:
    """Do the work in a queue until its end."""
    while (one := waiting.get()) is not None:
        future, work = one
        if future.set_running_or_notify_cancel():
            try:
                future.set_result(work())
            except BaseException as error:  # raised again where the result is taken
                future.set_exception(error)

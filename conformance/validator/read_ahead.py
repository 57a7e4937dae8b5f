"""Opening the files of a task before their checks need them, so that requests to a store overlap.

Reading the end of a file on S3 takes one request, whose latency is many times longer than the checks of the footer.
Therefore threads open some of the next files. Each keeps only the end of its file, or a whole file of at most
`MAX_BYTES`.
"""

from __future__ import annotations

import queue
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from typing import Any, Self, TypeAlias

from conformance.table_io.file_access import FileAccessError, read_bytes, s3_object
from conformance.table_io.s3_requests import S3Object
from conformance.table_io.store_file import open_rows_file
from spec_ref.core.errors import SpecError
from spec_ref.manifests.data_file import DataFile, FileFormat
from spec_ref.manifests.entry import ManifestEntry

MAX_BYTES = 1 << 18
"""Larger files that are read as a whole are not read ahead."""

FILES_PER_CONNECTION = 4
"""How many files are opened ahead for each connection, so that a request which is repeated after a pause does not delay
the others."""


class ReadAhead:
    """Opens files in threads before they are checked."""

    def __init__(self, connections: int) -> None:
        """Open no file yet.

        Args:
            connections: the maximum number of concurrent requests.
        """
        self._connections = connections
        self._threads = 0
        self._queue: queue.SimpleQueue[_Work | None] = queue.SimpleQueue()
        self._futures: dict[str, Future[Any]] = {}
        self._requested: set[str] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        for future in self._futures.values():
            future.cancel()
        for _ in range(self._threads):
            self._queue.put(None)

    def entries_ahead(self, entries: Iterable[tuple[ManifestEntry, int]]) -> Iterator[tuple[ManifestEntry, int]]:
        """Yield entries with their numbers, while threads open the files of the next entries.

        Raises:
            SpecError: an entry cannot be read; the entries before it have been yielded.
        """
        waiting: deque[tuple[ManifestEntry, int]] = deque()
        problem = None
        try:
            for one in entries:
                self._request(one[0].data_file)
                waiting.append(one)
                if len(waiting) > self._connections * FILES_PER_CONNECTION:
                    yield waiting.popleft()
        except SpecError as error:
            problem = error
        yield from waiting
        if problem is not None:
            raise problem

    def open_rows(self, data_file: DataFile) -> Any:
        """Return a file of rows that was opened ahead, or open it.

        Raises:
            FileAccessError: the file cannot be read.
        """
        future = self._futures.pop(data_file.file_path, None)
        return _open_rows(data_file) if future is None else future.result()

    def read_bytes(self, location: str) -> bytes:
        """Return the content of a file that was read ahead, or read it.

        Raises:
            FileAccessError: the file cannot be read.
        """
        future = self._futures.pop(location, None)
        data: bytes = read_bytes(location) if future is None else future.result()
        return data

    def _request(self, data_file: DataFile) -> None:
        location = data_file.file_path
        whole = data_file.file_format in (FileFormat.AVRO, FileFormat.PUFFIN)
        if (
            self._connections < 2
            or location in self._requested
            or data_file.key_metadata is not None
            or (whole and not 0 < data_file.file_size_in_bytes <= MAX_BYTES)
        ):
            return
        self._requested.add(location)
        try:
            source = s3_object(location)
        except FileAccessError:
            return  # the check of the file reports this error
        if source is None:  # the time limits of other stores are not known
            return
        if self._threads < self._connections:  # daemons: a process that ends does not wait for a store
            threading.Thread(target=_serve, args=(self._queue,), daemon=True).start()
            self._threads += 1
        puffin = data_file.file_format is FileFormat.PUFFIN
        future = self._futures[location] = Future[Any]()
        self._queue.put((future, (lambda: read_bytes(location)) if puffin else (lambda: _open_rows(data_file, source))))


_Work: TypeAlias = tuple[Future[Any], Callable[[], Any]]


def _serve(waiting: queue.SimpleQueue[_Work | None]) -> None:
    """Do the work in a queue until its end."""
    while (one := waiting.get()) is not None:
        future, work = one
        if future.set_running_or_notify_cancel():
            try:
                future.set_result(work())
            except BaseException as error:  # raised again where the file is taken
                future.set_exception(error)


def _open_rows(data_file: DataFile, source: S3Object | None = None) -> Any:
    return open_rows_file(data_file.file_path, data_file.file_format, data_file.file_size_in_bytes, source)

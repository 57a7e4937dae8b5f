"""Opening the files of a task before their checks get to them, so that requests to a store overlap.

The end of a file on S3 is one request, whose latency is many times what the checks of its footer take. Some of the next
files are therefore opened in threads. Each holds the end of its file only, or a file of at most `MOST_BYTES`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Self

from conformance.table_io.file_access import FileAccessError, read_bytes, s3_object
from conformance.table_io.store_file import open_rows_file
from spec_ref.core.errors import SpecError
from spec_ref.manifests.data_file import DataFile, FileFormat
from spec_ref.manifests.entry import ManifestEntry

MOST_BYTES = 1 << 20
"""Larger files that are read as a whole are not read ahead."""


class ReadAhead:
    """The files that are opened ahead."""

    def __init__(self, connections: int) -> None:
        """Open nothing yet.

        Args:
            connections: how many requests may be under way.
        """
        self._connections = connections
        self._pool: ThreadPoolExecutor | None = None
        self._futures: dict[str, Future[Any]] = {}
        self._requested: set[str] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)

    def over(self, entries: Iterable[tuple[ManifestEntry, int]]) -> Iterator[tuple[ManifestEntry, int]]:
        """Yield entries with their numbers, while the files of the next ones are opened.

        Raises:
            SpecError: an entry cannot be read; those before it were yielded.
        """
        waiting: deque[tuple[ManifestEntry, int]] = deque()
        problem = None
        try:
            for one in entries:
                self._request(one[0].data_file)
                waiting.append(one)
                if len(waiting) > self._connections:
                    yield waiting.popleft()
        except SpecError as error:
            problem = error
        yield from waiting
        if problem is not None:
            raise problem

    def open_rows(self, data_file: DataFile) -> Any:
        """Open a file of rows, or take it if it was opened ahead.

        Raises:
            FileAccessError: it cannot be read.
        """
        future = self._futures.pop(data_file.file_path, None)
        return _open_rows(data_file) if future is None else future.result()

    def read_bytes(self, location: str) -> bytes:
        """Read a whole file, or take it if it was read ahead.

        Raises:
            FileAccessError: it cannot be read.
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
            or (whole and not 0 < data_file.file_size_in_bytes <= MOST_BYTES)
        ):
            return
        self._requested.add(location)
        try:
            if s3_object(location) is None:  # the time limits of other stores are not known
                return
        except FileAccessError:
            return  # its check reports it
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self._connections, thread_name_prefix="read-ahead")
        work: Callable[[], Any] = (
            (lambda: read_bytes(location))
            if data_file.file_format is FileFormat.PUFFIN
            else (lambda: _open_rows(data_file))
        )
        self._futures[location] = self._pool.submit(work)


def _open_rows(data_file: DataFile) -> Any:
    return open_rows_file(data_file.file_path, data_file.file_format, data_file.file_size_in_bytes)

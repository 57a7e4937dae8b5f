"""Opening the files of tasks before their checks need them, so that requests to a store overlap.

Reading the end of a file on S3 takes one request, whose latency is many times longer than the checks of the footer.
Therefore threads open some of the next files, and read manifests. Each keeps only the end of its file, or a whole file
if it is small.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Self, TypeVar

from conformance.table_io.daemon_pool import DaemonPool
from conformance.table_io.file_access import FileAccessError, read_bytes, s3_object
from conformance.table_io.s3_requests import S3Object
from conformance.table_io.store_file import open_rows_file
from conformance.validator.file_places import EntryPlace
from spec_ref.manifests.data_file import DataFile, FileFormat

if TYPE_CHECKING:
    from concurrent.futures import Future

T = TypeVar("T")

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
        self._pool = DaemonPool(connections)
        self._futures: dict[str, Future[Any]] = {}
        self._requested: set[str] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        for future in self._futures.values():
            future.cancel()
        self._pool.close()

    def places_ahead(self, places: Iterable[tuple[T, EntryPlace]]) -> Iterator[tuple[T, EntryPlace]]:
        """Yield the places of entries, each with its companion, while threads open the files of the next entries."""
        waiting: deque[tuple[T, EntryPlace]] = deque()
        for one in places:
            self._open_ahead(one[1].data_file)
            waiting.append(one)
            if len(waiting) > self._connections * FILES_PER_CONNECTION:
                yield waiting.popleft()
        yield from waiting

    def read_ahead(self, location: str) -> None:
        """Let a thread read a whole file, whose size the caller limits, for `read_bytes`."""
        self._request(location, lambda _: read_bytes(location))

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

    def _open_ahead(self, data_file: DataFile) -> None:
        location = data_file.file_path
        whole = data_file.file_format in (FileFormat.AVRO, FileFormat.PUFFIN)
        if data_file.key_metadata is not None or (whole and not 0 < data_file.file_size_in_bytes <= MAX_BYTES):
            return
        if data_file.file_format is FileFormat.PUFFIN:
            self.read_ahead(location)
        else:
            self._request(location, lambda source: _open_rows(data_file, source))

    def _request(self, location: str, work: Callable[[S3Object], Any]) -> None:
        if self._connections < 2 or location in self._requested:
            return
        self._requested.add(location)
        try:
            source = s3_object(location)
        except FileAccessError:
            return  # the check of the file reports this error
        if source is not None:  # the time limits of other stores are not known
            self._futures[location] = self._pool.submit(lambda: work(source))


def _open_rows(data_file: DataFile, source: S3Object | None = None) -> Any:
    return open_rows_file(data_file.file_path, data_file.file_format, data_file.file_size_in_bytes, source)

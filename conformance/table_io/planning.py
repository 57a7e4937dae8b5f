"""Planning a scan of a table, with overlapping requests for manifests on a store, and its tasks as bytes."""

from __future__ import annotations

import itertools
import pickle
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from typing import Any

from conformance.table_io.daemon_pool import DaemonPool
from conformance.table_io.file_access import FileAccessError, split_location
from conformance.table_io.tables import Table
from spec_ref.columnar.scan_planning.planner import plan
from spec_ref.expressions.predicates import Predicate
from spec_ref.manifest_lists.manifest_file import ManifestFile
from spec_ref.scan_planning import FileScanTask
from spec_ref.snapshots.snapshot import Snapshot
from spec_ref.table_metadata.reader import gc_disabled

CONNECTIONS = 32
"""The maximum number of manifests that are requested at once."""

MAX_BYTES = 64 << 20
"""The maximum size of the manifests that are held before they are planned, apart from the next one."""

MAX_PARTITIONS = 10_000
MAX_GROUP = 1000
"""The maximum number of scan tasks that are pickled together."""


def plan_tasks(table: Table, snapshot: Snapshot | None, predicate: Predicate, **options: Any) -> Iterator[FileScanTask]:
    """Plan a scan; `spec_ref.columnar.scan_planning.planner.plan` has the arguments, the result and the errors.

    Raises:
        FileAccessError: a manifest list or a manifest cannot be read.
    """
    reader = _ReaderAhead(table.manifest_reader())
    tasks = plan(table.metadata, snapshot, predicate, reader, announce=reader.announce, **options)
    return _until_the_end(tasks, reader)


def _until_the_end(tasks: Iterator[FileScanTask], reader: _ReaderAhead) -> Iterator[FileScanTask]:
    try:
        yield from tasks
    finally:
        reader.close()


class _ReaderAhead:
    """Reads manifests on stores in threads, in the order in which planning will ask for them."""

    def __init__(self, read: Callable[[str], bytes]) -> None:
        self._read = read
        self._pool = DaemonPool(CONNECTIONS)
        self._waiting: deque[ManifestFile] = deque()
        self._lengths: dict[str, int] = {}
        self._futures: dict[str, Future[bytes]] = {}

    def announce(self, manifests: Sequence[ManifestFile]) -> None:
        """Begin to read the manifests that will be asked for."""
        self._waiting.extend(one for one in manifests if _is_on_store(one.manifest_path))
        if len(self._waiting) > 1:
            self._request()

    def __call__(self, location: str) -> bytes:
        """Return the content of a file that was read ahead, or read it."""
        future = self._futures.pop(location, None)
        if future is None:
            return self._read(location)
        content = future.result()
        del self._lengths[location]
        self._request()
        return content

    def _request(self) -> None:
        while self._waiting and len(self._futures) < CONNECTIONS:
            path, length = self._waiting[0].manifest_path, self._waiting[0].manifest_length
            if self._futures and sum(self._lengths.values()) + length > MAX_BYTES:
                break
            self._waiting.popleft()
            if path not in self._futures:
                self._lengths[path] = length
                self._futures[path] = self._pool.submit(lambda path=path: self._read(path))  # type: ignore[misc]

    def close(self) -> None:
        """Request no more files."""
        self._waiting.clear()
        for future in self._futures.values():
            future.cancel()
        self._pool.close()


def pickle_tasks(tasks: Iterable[FileScanTask], partitions: int | None = None) -> tuple[int, list[bytes]]:
    """Pickle scan tasks in groups of about the same size, as many for each partition.

    Tasks that are pickled together share their class, partition and filter, which takes a fifth of the time.

    Args:
        tasks: the tasks.
        partitions: the number of partitions; None for one per task, but at most `MAX_PARTITIONS`.

    Returns:
        The number of partitions, at least one, and the pickled lists of tasks.
    """
    with gc_disabled():  # otherwise it would visit the growing list again and again
        planned = list(tasks)
        number = max(1, min(partitions or len(planned), MAX_PARTITIONS))
        groups = number * max(1, -(-len(planned) // (number * MAX_GROUP)))
        ends = [len(planned) * end // groups for end in range(groups + 1)]
        return number, [pickle.dumps(planned[start:end]) for start, end in itertools.pairwise(ends)]


def _is_on_store(location: str) -> bool:
    try:
        return split_location(location).scheme != "file"
    except FileAccessError:
        return False  # reading it reports the error

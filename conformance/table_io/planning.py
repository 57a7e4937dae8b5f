"""Planning a scan of a table, with overlapping requests for manifests on a store, and its tasks as bytes."""

from __future__ import annotations

import itertools
import pickle
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from typing import Any

import lz4.frame

from conformance.table_io.daemon_pool import DaemonPool
from conformance.table_io.file_access import FileAccessError, split_location
from conformance.table_io.tables import Table
from spec_ref.columnar.scan_planning import planner
from spec_ref.columnar.scan_planning.task_batch import TaskBatch
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

MIN_COLUMNS = 150
"""The number of scan tasks in a group from which columns take less time than an object for each task."""


def plan_batches(table: Table, snapshot: Snapshot | None, predicate: Predicate, **options: Any) -> Iterator[TaskBatch]:
    """Plan a scan; `spec_ref.columnar.scan_planning.planner.plan_batches` has the arguments, the result and the errors.

    Raises:
        FileAccessError: a manifest list or a manifest cannot be read.
    """
    reader = _ReaderAhead(table.manifest_reader())
    batches = planner.plan_batches(table.metadata, snapshot, predicate, reader, announce=reader.announce, **options)
    return _until_the_end(batches, reader)


def plan_tasks(table: Table, snapshot: Snapshot | None, predicate: Predicate, **options: Any) -> Iterator[FileScanTask]:
    """Plan a scan, as `plan_batches`, and make its tasks."""
    batches = plan_batches(table, snapshot, predicate, **options)
    return itertools.chain.from_iterable(batch.tasks() for batch in batches)


def _until_the_end(batches: Iterator[TaskBatch], reader: _ReaderAhead) -> Iterator[TaskBatch]:
    try:
        yield from batches
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


def pickle_tasks(batches: Iterable[TaskBatch], partitions: int | None = None) -> tuple[int, list[bytes]]:
    """Pickle scan tasks in groups of about the same size, as many for each partition.

    Large groups are sent in columns, so that no object is made for a task here, unless deletes apply to its file.

    Args:
        batches: the tasks.
        partitions: the number of partitions; None for one per task, but at most `MAX_PARTITIONS`.

    Returns:
        The number of partitions, at least one, and the compressed groups, for `unpickle_tasks`.
    """
    with gc_disabled():  # otherwise it would visit the growing lists again and again
        planned = [batch.detach() for batch in batches]
        total = sum(map(len, planned))
        number = max(1, min(partitions or total, MAX_PARTITIONS))
        groups = number * max(1, -(-total // (number * MAX_GROUP)))
        ends = [total * end // groups for end in range(groups + 1)]
        if total < groups * MIN_COLUMNS:
            planned = [batch.with_records() for batch in planned]
        return number, [lz4.frame.compress(pickle.dumps(parts)) for parts in _divide(planned, ends)]


def _divide(batches: Iterable[TaskBatch], ends: Sequence[int]) -> Iterator[list[TaskBatch]]:
    """Divide batches into groups of consecutive tasks; the first end is 0."""
    waiting = iter(batches)
    batch: TaskBatch | None = None
    used = 0
    for start, end in itertools.pairwise(ends):
        group: list[TaskBatch] = []
        missing = end - start
        while missing:
            if batch is None or used == len(batch):
                batch, used = next(waiting), 0
            taken = min(missing, len(batch) - used)
            group.append(batch.slice(used, used + taken).detach())
            used, missing = used + taken, missing - taken
        yield group


def unpickle_tasks(group: bytes) -> Iterator[FileScanTask]:
    """Make the scan tasks of a group from `pickle_tasks`.

    Args:
        group: the group, from the driver of this session.

    Yields:
        The tasks.

    Raises:
        SpecError: a data file of a manifest has a malformed or missing value.
    """
    for batch in pickle.loads(lz4.frame.decompress(group)):  # noqa: S301 - made by the driver of this session
        yield from batch.tasks()


def _is_on_store(location: str) -> bool:
    try:
        return split_location(location).scheme != "file"
    except FileAccessError:
        return False  # reading it reports the error

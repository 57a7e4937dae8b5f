"""Checking a table below its metadata: manifests, files and rows, stage by stage."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import attrs

from conformance.core.lazy_imports import lazy_imports
from conformance.table_io.encryption import KeyService
from conformance.validator.backend import Backend, StageStopped, TaskCheck
from conformance.validator.check_results import (
    Emitted,
    Facts,
    Findings,
    ManifestSums,
    Miscount,
    StatisticsRead,
    TableTraits,
)
from conformance.validator.context import Context, FilesTask, Level, ManifestMembership, ManifestTask, TaskGroup
from conformance.validator.cross_files import check_bucket
from conformance.validator.files import check_files_group, check_files_task, file_crash_finding
from conformance.validator.manifest_lists import (
    SnapshotManifests,
    check_list,
    list_tasks,
    listing_mismatches,
    manifest_tasks,
)
from conformance.validator.manifests import check_manifest_group, check_manifest_task
from conformance.validator.partition_statistics import (
    PartitionStatisticsTask,
    check_partition_statistics_task,
    partition_statistics_tasks,
    statistics_crash_finding,
    statistics_rows,
)
from conformance.validator.process_isolation import CrashFinding
from conformance.validator.row_ids import ROWS_PER_BUCKET, check_ids, live_ids
from conformance.validator.table_statistics import check_statistics_task, statistics_tasks
from conformance.validator.totals import check_totals
from spec_ref.checks.findings import Tally

with lazy_imports():
    import tempfile

T = TypeVar("T")

FILES_AT_ONCE = 64
"""The maximum number of files of one task of a small manifest. At level rows, a task of files with many rows has fewer,
as rows emit facts."""

FILES_AT_ONCE_ON_STORES = 256
"""The minimum number of files of one task at level files on a store."""

FILES_OF_A_GROUP = 8192
"""The maximum number of files of one group of tasks on a store: no request overlaps with the last ones of a group."""

MANIFESTS_AT_ONCE_ON_STORES = 64
MANIFEST_BYTES_AT_ONCE = 4 << 20
"""The maximum number, and the maximum size, of the manifests on a store that are read together."""

TASKS_PER_MANIFEST = 64
"""The approximate number of tasks for a large manifest, each of which reads the manifest up to its files."""

ENTRIES_PER_BUCKET = 100_000
"""The approximate number of entries that rules over several files compare together."""

MAX_BUCKETS = 4096

MAX_CACHED_MANIFEST_BYTES = 2 << 30
"""The maximum size of all manifests of a table on a store that are cached in a local folder for the checks of files;
larger ones are requested again."""


class BelowMetadata:
    """Checks the levels below the metadata."""

    def __init__(self, context: Context, engine: Backend, key_service: KeyService | None) -> None:
        self.context = context
        self.key_service = key_service
        self.engine = engine
        self.tally = Tally()
        self.manifests = self.entries = 0
        self.features: frozenset[str] = frozenset()
        self.writers: set[str] = set()
        self.read: set[int] = set()
        """The indexes of the partition statistics files that could be read."""

        self.miscounted: list[Miscount] = []
        self.places: dict[int, str] = {}
        """The place of each manifest's entry in a manifest list."""

    def run(self, chosen: Sequence[int]) -> None:
        context = self.context
        lists = list_tasks(context, chosen, self.key_service)
        listed: list[SnapshotManifests] = self.engine.map(context, check_list, lists)
        for one in listed:
            self.tally.add(one.findings)
        self.tally.add(listing_mismatches(context, lists, listed))
        tasks, members = manifest_tasks(context, lists, listed)
        tasks = _select_needed(tasks, members)
        self.manifests = sum(task.checked for task in tasks)
        self.context = context = attrs.evolve(context, buckets=_buckets(tasks))
        self.places = {task.number: task.place for task in tasks}
        checked = frozenset(members.checked)
        counting = partition_statistics_tasks(context, checked) if context.level.includes(Level.FILES) else ()
        self.context = context = attrs.evolve(
            context, counts_partitions=bool(counting), connections=self.engine.connections
        )
        keeps = context.level.includes(Level.FILES) and self.engine.shares_files and context.is_on_store
        with _folder(wanted=keeps and _listed_bytes(tasks) <= MAX_CACHED_MANIFEST_BYTES) as folder:
            self._tasks(attrs.evolve(context, manifest_cache=folder), tasks, members, counting)

    def miscounts(self) -> dict[tuple[str, str], int]:
        """Return how many rows too many the entries of a manifest count, by the place of the row count in the list."""
        found: dict[tuple[str, str], int] = {}
        for one in self.miscounted:
            file, _, place = self.places[one.manifest].rpartition(":/")
            status = "existing" if one.added_by is None else "added"
            key = (file, f"/{place}/{status}_rows_count")
            found[key] = found.get(key, 0) + one.rows.rows
        return found

    def _tasks(
        self,
        context: Context,
        tasks: Sequence[ManifestTask],
        members: ManifestMembership,
        counting: Sequence[PartitionStatisticsTask],
    ) -> None:
        """Check the manifests, and what is below them."""
        checked = frozenset(members.checked)
        if context.is_on_store:
            manifest_groups = group_tasks(tasks, _manifest_cost)
            sums = self._stage(context, check_manifest_group, manifest_groups, "manifests", facts=True)
        else:
            sums = self._stage(context, check_manifest_task, tasks, "manifests", facts=True)
        self._stage(
            context,
            check_partition_statistics_task,
            counting,
            "partition statistics",
            facts=True,
            crash_finding=statistics_crash_finding,
        )
        members = self._add_compared_statistics(members, counting, sums)
        locations = {task.number: task.location for task in tasks}
        check = functools.partial(check_bucket, context, members, locations)
        for found in self.engine.check_groups(check):
            self.tally.add(found)
        try:
            self._files(context, members, checked, counting, tasks, sums)
        finally:  # what was found before an interrupt counts
            self.tally.add(check_totals(context, members, sums, self.miscounted))

    def _files(
        self,
        context: Context,
        members: ManifestMembership,
        checked: frozenset[int],
        counting: Sequence[PartitionStatisticsTask],
        tasks: Sequence[ManifestTask],
        sums: dict[int, ManifestSums],
    ) -> None:
        """Check the files, and at level rows their rows."""
        if context.level.includes(Level.FILES):
            files = list(_files_tasks(context, tasks, sums))
            has_positions = any(one.live.position_delete_files or one.live.vectors for one in sums.values())
            context = attrs.evolve(context, id_buckets=_id_buckets(sums.values()), has_position_deletes=has_positions)
            crash_finding = file_crash_finding
            if context.is_on_store:
                groups = group_tasks(files, _files_cost(context, files, sums, self.engine.processes))
                self._stage(context, check_files_group, groups, "files", facts=True, crash_finding=crash_finding)
            else:
                self._stage(context, check_files_task, files, "files", facts=True, crash_finding=crash_finding)
            self.engine.regroup(functools.partial(live_ids, context, members))
            again = [one for one in counting if one.statistics.snapshot_id in members.only_position_deletes]
            if again and context.level.includes(Level.ROWS):
                self._stage(
                    context,
                    statistics_rows,
                    again,
                    "partition statistics",
                    facts=True,
                    crash_finding=statistics_crash_finding,
                )
            for twice in self.engine.check_groups(functools.partial(check_ids, context, members)):
                self.tally.add(twice)
            self._stage(context, check_statistics_task, statistics_tasks(context, checked), "statistics")

    def _add_compared_statistics(
        self, members: ManifestMembership, counting: Sequence[PartitionStatisticsTask], sums: Mapping[int, ManifestSums]
    ) -> ManifestMembership:
        """Add to the members which partition statistics files can be compared, and how their totals are known."""
        read = {number for number, counts in sums.items() if counts.is_complete}
        whole = {one for one, numbers in members.by_snapshot.items() if numbers <= read}
        counted = (task.index for task in counting if task.index in self.read and task.statistics.snapshot_id in whole)
        live = {one: [sums[number].live for number in members.by_snapshot[one]] for one in whole & {*members.checked}}
        by_rows = {one for one, counts in live.items() if any(count.equality_delete_files for count in counts)}
        by_files = {one for one, counts in live.items() if any(count.position_delete_files for count in counts)}
        return attrs.evolve(
            members,
            comparable_statistics=frozenset(counted),
            completely_read=frozenset(whole),
            only_position_deletes=frozenset(by_files - by_rows),
            only_vectors=frozenset(live.keys() - by_files - by_rows),
        )

    def _stage(
        self,
        context: Context,
        check: TaskCheck,
        tasks: Sequence[Any],
        title: str,
        *,
        facts: bool = False,
        crash_finding: CrashFinding | None = None,
    ) -> dict[int, ManifestSums]:
        """Run a stage; if it ends early, count what its checks emitted."""
        try:
            return self._sums(
                self.engine.run_stage(context, check, tasks, title, facts=facts, crash_finding=crash_finding)
            )
        except StageStopped as stopped:
            self._sums(stopped.emitted)
            raise

    def _sums(self, emitted: Iterable[Emitted]) -> dict[int, ManifestSums]:
        sums = {}
        for one in emitted:
            match one:
                case Findings(findings):
                    self.tally.add(findings)
                case ManifestSums():
                    sums[one.number] = one
                    self.entries += one.entries
                    self.features |= one.features
                    self.writers |= one.writers
                case TableTraits(features, writers):
                    self.features |= features
                    self.writers |= writers
                case StatisticsRead(index):
                    self.read.add(index)
                case Miscount():
                    self.miscounted.append(one)
                case Facts():
                    raise AssertionError("an engine returned facts")
        return sums


def _select_needed(tasks: Sequence[ManifestTask], members: ManifestMembership) -> tuple[ManifestTask, ...]:
    """Leave out the manifests that only an unchecked parent has, if no rule needs them."""
    wanted: set[int] = set()
    for snapshot_id in members.checked:
        wanted |= members.by_snapshot[snapshot_id]
    for _, parent in members.pairs:
        wanted |= members.by_snapshot[parent]
    return tuple(task for task in tasks if task.number in wanted)


@contextlib.contextmanager
def _folder(*, wanted: bool) -> Iterator[str | None]:
    """Make a folder for manifests from stores; yield None if none is wanted or none can be made."""
    made = None
    with contextlib.suppress(OSError):
        if wanted:
            made = tempfile.TemporaryDirectory(prefix="iceberg-conformance-", ignore_cleanup_errors=True)
    with made or contextlib.nullcontext() as name:
        yield name


def _listed_bytes(tasks: Sequence[ManifestTask]) -> int:
    """Return the bytes of the manifests according to the lists."""
    return sum(max(task.manifest_file.manifest_length, 0) for task in tasks if task.manifest_file is not None)


def _buckets(tasks: Sequence[ManifestTask]) -> int:
    """Return enough buckets for the entries that the lists count."""
    entries = 0
    for task in tasks:
        listed = task.manifest_file
        counts = (
            ()
            if listed is None
            else (listed.added_files_count, listed.existing_files_count, listed.deleted_files_count)
        )
        entries += sum(max(count or 0, 0) for count in counts) or 1000
    return min(entries // ENTRIES_PER_BUCKET + 1, MAX_BUCKETS)


def _id_buckets(sums: Iterable[ManifestSums]) -> int:
    """Return enough buckets for the row ids of all files."""
    return min(sum(max(one.live.records, 0) for one in sums) // ROWS_PER_BUCKET + 1, MAX_BUCKETS)


def group_tasks(tasks: Sequence[T], cost: Callable[[T], float]) -> list[TaskGroup]:
    """Group consecutive tasks, so that their requests to a store overlap.

    Args:
        tasks: the tasks.
        cost: returns the part of a full group that a task is; more than 1 for a task that is alone in its group.
    """
    groups: list[list[T]] = []
    full = 1.0
    for task in tasks:
        full += cost(task)
        if full > 1:
            groups.append([])
            full = cost(task)
        groups[-1].append(task)
    return [TaskGroup(tuple(group)) for group in groups]


def _manifest_cost(task: ManifestTask) -> float:
    return max(1 / MANIFESTS_AT_ONCE_ON_STORES, _listed_bytes([task]) / MANIFEST_BYTES_AT_ONCE)


def _files_cost(
    context: Context, tasks: Sequence[FilesTask], sums: dict[int, ManifestSums], processes: int
) -> Callable[[FilesTask], float]:
    """Return the cost of a task: its files beside those of a full group and, if they are read, their rows."""
    sizes = [task.stop - task.start for task in tasks]
    share = sum(sizes) // processes + max(sizes, default=0) // 2  # so that all processes end at about the same time
    most = min(FILES_OF_A_GROUP, max(FILES_AT_ONCE, share))

    def cost(task: FilesTask) -> float:
        files, counted = task.stop - task.start, sums[task.manifest.number]
        rows = max(counted.live.records, 0) * files / max(counted.entries, 1)
        return max(files / most, rows / ROWS_PER_BUCKET if context.level.includes(Level.ROWS) else 0)

    return cost


def _files_tasks(context: Context, tasks: Sequence[ManifestTask], sums: dict[int, ManifestSums]) -> Iterator[FilesTask]:
    for task in tasks:
        if task.checked and task.number in sums:
            counted = sums[task.number]
            files = max(FILES_AT_ONCE, counted.entries // TASKS_PER_MANIFEST)
            if context.level.includes(Level.ROWS):
                rows_of_a_file = max(counted.live.records, 0) // max(counted.live.data_files, 1)
                files = max(min(files, ROWS_PER_BUCKET // max(rows_of_a_file, 1)), 1)
            elif context.is_on_store:  # each task reads its manifest again
                files = max(files, FILES_AT_ONCE_ON_STORES)
            for start in range(0, counted.entries, files):
                yield FilesTask(task, start, min(start + files, counted.entries))

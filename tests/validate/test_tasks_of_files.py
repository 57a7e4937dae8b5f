"""The files of a manifest as tasks: each entry in one, and not so many that the manifest is read again and again."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from conformance.validator.below_metadata import (
    FILES_AT_ONCE,
    FILES_AT_ONCE_ON_STORES,
    FILES_OF_A_GROUP,
    TASKS_PER_MANIFEST,
    _files_cost,
    _files_tasks,
    group_tasks,
)
from conformance.validator.context import Level
from conformance.validator.row_ids import ROWS_PER_BUCKET


def tasks(
    entries: int, rows_of_a_file: int, level: Level = Level.ROWS, location: str = "/t/metadata.json"
) -> list[tuple[int, int]]:
    context = cast(Any, SimpleNamespace(level=level, is_on_store=location.startswith("s3:")))
    live = SimpleNamespace(records=rows_of_a_file * entries, data_files=entries)
    manifest = cast(Any, SimpleNamespace(checked=True, number=0))
    sums = cast(Any, {0: SimpleNamespace(live=live, entries=entries)})
    return [(task.start, task.stop) for task in _files_tasks(context, [manifest], sums)]


@pytest.mark.parametrize("entries", [0, 1, FILES_AT_ONCE, FILES_AT_ONCE + 1, 10_000, 99_999, 1_000_000])
def test_each_entry_is_in_one_task_and_a_manifest_has_few(entries: int) -> None:
    made = tasks(entries, 1)
    assert [number for start, stop in made for number in (start, stop)][1:-1:2] == [start for start, _ in made[1:]]
    assert sum(stop - start for start, stop in made) == entries
    assert len(made) <= TASKS_PER_MANIFEST + 1


def test_files_of_many_rows_are_few_of_a_task() -> None:
    assert tasks(4, ROWS_PER_BUCKET) == [(0, 1), (1, 2), (2, 3), (3, 4)]
    assert len(tasks(100_000, ROWS_PER_BUCKET // 10)) == 10_000


def test_rows_count_only_where_they_are_checked_and_files_on_a_store_are_many_of_a_task() -> None:
    assert tasks(4, ROWS_PER_BUCKET, Level.FILES) == [(0, 4)]
    assert tasks(2 * FILES_AT_ONCE, 1, Level.FILES) == [(0, FILES_AT_ONCE), (FILES_AT_ONCE, 2 * FILES_AT_ONCE)]
    made = tasks(FILES_AT_ONCE_ON_STORES + 1, 1, Level.FILES, "s3://lake/t/metadata.json")
    assert made == [(0, FILES_AT_ONCE_ON_STORES), (FILES_AT_ONCE_ON_STORES, FILES_AT_ONCE_ON_STORES + 1)]


@pytest.mark.parametrize("processes", [1, 2, 3, 8])
@pytest.mark.parametrize("manifests", [(1000,) * 10, (5,) * 500, (9999, 1), (100_000,)])
def test_groups_on_a_store_give_each_process_the_same_work(manifests: tuple[int, ...], processes: int) -> None:
    context = cast(Any, SimpleNamespace(level=Level.FILES, is_on_store=True))
    listed = [cast(Any, SimpleNamespace(checked=True, number=number)) for number in range(len(manifests))]
    live = SimpleNamespace(records=1, data_files=1)
    sums = cast(Any, {number: SimpleNamespace(live=live, entries=count) for number, count in enumerate(manifests)})
    made = list(_files_tasks(context, listed, sums))
    largest = max(task.stop - task.start for task in made)
    groups = group_tasks(made, _files_cost(context, made, sums, processes))
    assert [task for group in groups for task in group.tasks] == made
    sizes = [sum(task.stop - task.start for task in group.tasks) for group in groups]
    assert max(sizes) <= max(FILES_OF_A_GROUP, largest)
    if len(groups) <= 2 * processes:
        assert max(sizes) - min(sizes[:-1], default=max(sizes)) <= largest

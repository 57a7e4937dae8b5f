"""Scan tasks in columns: slices, what is kept in memory, and the groups that are sent to other processes."""

from __future__ import annotations

import pickle

import lz4.frame
import pytest
from planned_tables import Table, added, data_file, is_same

from conformance.table_io import planning
from spec_ref.columnar.manifests.data_file_columns import DataFileColumns
from spec_ref.columnar.scan_planning.planner import plan_batches
from spec_ref.columnar.scan_planning.task_batch import TaskBatch
from spec_ref.core.errors import SpecError
from spec_ref.core.versions import V2
from spec_ref.expressions.predicates import TRUE
from spec_ref.manifests import FileContent
from tools.derive import manifests as avro_files


def table_of(*counts: int, version: int = 3) -> Table:
    """A table whose manifests have so many files."""
    table = Table() if version == 3 else Table(version=V2)
    for manifest, count in enumerate(counts):
        files = [data_file(f"{manifest}-{number}", record_count=number + 1) for number in range(count)]
        table.manifest([added(file) for file in files], **({"first_row_id": 1000 * manifest} if version == 3 else {}))
    return table


def batches(table: Table) -> list[TaskBatch]:
    return list(plan_batches(table.metadata, table.snapshot, TRUE, table.read_file))


@pytest.mark.parametrize("version", [2, 3])
def test_slices_have_the_tasks_of_the_batch(version: int) -> None:
    table = table_of(5, 3, version=version)
    whole = table.plan()
    (batch,) = batches(table)
    for made in (batch, batch.detach(), batch.with_records(), pickle.loads(pickle.dumps(batch.detach()))):
        assert len(made) == 8
        assert made.tasks() == whole
        assert made.slice(2, 7).slice(1, 4).tasks() == whole[3:6]
        assert made.slice(4, 4).tasks() == []


def test_no_object_is_made_before_tasks_are_asked_for() -> None:
    table = table_of(4)
    assert isinstance(batches(table)[0].data_files, DataFileColumns)
    table.deletes([added(data_file("e", content=FileContent.EQUALITY_DELETES, equality_ids=(1,)))])
    (batch,) = batches(table)
    assert not isinstance(batch.data_files, DataFileColumns)
    assert batch.with_records() is batch
    assert batch.detach() is batch


def test_detached_files_do_not_keep_the_blocks_of_manifests(monkeypatch: pytest.MonkeyPatch) -> None:
    table = table_of(400)
    (batch,) = batches(table)
    one, whole = (len(pickle.dumps(part.detach())) for part in (batch.slice(7, 8), batch))
    assert whole > 25_000
    assert one < 6000  # most of it is the Avro schema
    monkeypatch.setattr(planning, "MIN_COLUMNS", 0)
    _, groups = planning.pickle_tasks([batch], 4)
    assert [len(lz4.frame.decompress(group)) < whole / 2 for group in groups] == [True] * 4


@pytest.mark.parametrize(
    ("count", "partitions", "number", "sizes"),
    [
        (0, None, 1, {0}),
        (7, None, 7, {1}),
        (2500, None, 100, {25}),
        (2500, 2, 2, {625}),
        (10, 4, 4, {2, 3}),
        (3, 5, 5, {0, 1}),
    ],
)
def test_groups_have_about_the_same_size(
    monkeypatch: pytest.MonkeyPatch, count: int, partitions: int | None, number: int, sizes: set[int]
) -> None:
    monkeypatch.setattr(planning, "MAX_PARTITIONS", 100)
    table = table_of(count // 2, count - count // 2)
    found, groups = planning.pickle_tasks(batches(table), partitions)
    tasks = [list(planning.unpickle_tasks(group)) for group in groups]
    assert found == number
    assert len(groups) % number == 0
    assert {len(group) for group in tasks} == sizes
    assert is_same([task for group in tasks for task in group], table.plan())


def test_a_malformed_file_is_refused_with_its_place_in_any_process() -> None:
    rows = [avro_files.entry(2, data_file=avro_files.data_file(2, file_path=f"s3://b/{row}")) for row in range(4)]
    rows[2]["data_file"]["file_format"] = "csv"
    table = table_of(1, 4, version=2)
    path = table.listed[1].manifest_path
    table.files[path] = avro_files.manifest(2, rows)
    batch = batches(table)[-1]
    for made in (batch, batch.detach(), pickle.loads(pickle.dumps(batch.detach()))):
        with pytest.raises(SpecError) as caught:
            made.slice(1, 4).tasks()
        problem = caught.value.violation
        assert (problem.requirement, problem.file, problem.path) == ("DFL003", path, "/2/data_file/file_format")
        assert len(made.slice(0, 2).tasks()) == 2

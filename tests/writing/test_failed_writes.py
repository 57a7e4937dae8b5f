"""A failed write leaves the table and its folder unchanged, or reports the files that it could not remove."""

from __future__ import annotations

import errno
import pickle
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from written import FIELDS, errors, files_in, lines

from conformance.table_io.file_access import FileAccessError
from conformance.table_io.stores import open_store
from conformance.table_io.writing import (
    Mode,
    OrphansLeft,
    WritableTable,
    append,
    clean_up,
    compact,
    create_table,
    delete,
    list_write_files,
    merge,
    open_stored,
    open_table,
    overwrite,
    plan_write,
    update,
    write_rows,
    write_tasks,
)
from conformance.table_io.writing import files as files_module
from conformance.table_io.writing.files import NewFiles
from spec_ref.commits import CommitConflict, CommitFailed, CommitStateUnknown, changes
from spec_ref.commits.effects import SwapResult
from spec_ref.core.errors import SpecError
from spec_ref.core.versions import V3
from spec_ref.data_types.types import UNKNOWN, VARIANT, ListType, NestedField
from spec_ref.expressions.predicates import Comparison, Literal, NamedReference, Operation
from spec_ref.partitioning.spec import PartitionField, PartitionSpec
from spec_ref.partitioning.transforms import Identity

SPEC = PartitionSpec(0, (PartitionField(source_id=2, field_id=1000, name="part", transform=Identity()),))
SMALL = {
    "write.target-file-size-bytes": "1000",
    "commit.retry.num-retries": "2",
    "commit.retry.min-wait-ms": "1",
    "commit.retry.max-wait-ms": "2",
}


def rows(first: int = 0, count: int = 6) -> pa.Table:
    ids = list(range(first, first + count))
    return pa.table({"id": ids, "part": [("a", "b", "c")[one % 3] for one in ids], "number": ids})


def where(operation: Operation, value: int) -> Any:
    return Comparison(operation, NamedReference("id"), Literal(value))


@pytest.fixture
def table(tmp_path: Path) -> WritableTable:
    made = create_table(str(tmp_path / "t"), FIELDS, spec=SPEC, properties=SMALL, version=V3)
    append(made, rows())
    return made


@pytest.fixture
def folder(table: WritableTable) -> Iterator[Path]:
    """The table's folder, which has to be the same at the end of the test; so have its rows."""
    place = Path(table.metadata.location)
    before, content = files_in(place), lines(open_table(str(place)))
    yield place
    assert files_in(place) == before
    assert lines(open_table(str(place))) == content


def wrong_later() -> Iterator[pa.RecordBatch]:
    yield from rows(10).to_batches()
    yield from pa.table({"id": [20, None], "part": ["n", "n"]}).to_batches()


@pytest.fixture
def eager(monkeypatch: pytest.MonkeyPatch) -> None:
    """Write every row at once, so that files are there when something fails."""
    monkeypatch.setattr(write_tasks, "CHUNK_ROWS", 1)
    monkeypatch.setattr(write_tasks, "GROUP_ROWS", 1)


@pytest.mark.usefixtures("eager")
@pytest.mark.parametrize("threads", [1, 3])
def test_a_bad_value_after_files_were_written(table: WritableTable, folder: Path, threads: int) -> None:
    seen = []

    def batches() -> Iterator[pa.RecordBatch]:
        for batch in wrong_later():
            yield batch
            seen.append(files_in(folder))

    with pytest.raises(SpecError) as caught:
        append(table, batches(), threads=threads)
    assert caught.value.violation.requirement == "TYP002"
    assert caught.value.violation.path == "/7/id"
    assert len(seen) == 1
    if threads == 1:
        assert len(seen[0] - files_in(folder)) == 3


def full_after(monkeypatch: pytest.MonkeyPatch, count: int, match: str = "") -> None:
    """Have every file after some that are opened fail to take bytes, as on a full disk."""
    opened = NewFiles.open
    seen: list[str] = []

    class Full:
        closed = False

        def __init__(self, inner: Any) -> None:
            self.inner = inner

        def write(self, data: Any) -> int:
            raise OSError(errno.ENOSPC, "No space left on device")

        def tell(self) -> int:
            return 0

        def flush(self) -> None:
            pass

        def close(self) -> None:
            self.inner.close()
            self.closed = True

        def __enter__(self) -> Full:
            return self

        def __exit__(self, *_: object) -> None:
            self.close()

        def writable(self) -> bool:
            return True

        def readable(self) -> bool:
            return False

        def seekable(self) -> bool:
            return False

    def open_file(self: NewFiles, location: str) -> Any:
        made = opened(self, location)
        if match in location:
            seen.append(location)
        return Full(made) if match in location and len(seen) > count else made

    monkeypatch.setattr(NewFiles, "open", open_file)


@pytest.mark.parametrize("threads", [1, 3])
def test_a_disk_that_is_full_for_data(
    table: WritableTable, folder: Path, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    full_after(monkeypatch, 2)
    with pytest.raises(OSError, match="No space left"):
        append(table, rows(10), threads=threads)
    assert folder.exists()


def test_a_disk_that_is_full_for_deletes(table: WritableTable, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    full_after(monkeypatch, 0, ".puffin")
    with pytest.raises(OSError, match="No space left"):
        update(table, {"number": 1}, where(Operation.EQ, 0), mode=Mode.MERGE_ON_READ)
    assert folder.exists()


LIMITED = """
import resource, signal, sys
import pyarrow as pa
from conformance.table_io.writing import append, open_table
table = open_table(sys.argv[1])
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
rows = pa.table({"id": list(range(50000)), "part": ["big"] * 50000})
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), -1))
try:
    append(table, rows, threads=1)
except OSError as error:
    print(type(error).__name__, error)
"""


@pytest.mark.parametrize("limit", [20_000, 2_000])
def test_files_that_the_system_lets_grow_no_further(tmp_path: Path, limit: int) -> None:
    create_table(str(tmp_path / "t"), FIELDS, spec=SPEC)
    before = files_in(tmp_path)
    command = [sys.executable, "-c", LIMITED, str(tmp_path / "t"), str(limit)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert "File too large" in done.stdout, done.stderr
    assert files_in(tmp_path) == before


class Broken:
    """A store in which something goes wrong."""

    def __init__(self, store: Any) -> None:
        self._store = store

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


class FullForMetadata(Broken):
    def write(self, path: str, data: bytes) -> None:
        if path.endswith(".metadata.json"):
            raise OSError(errno.ENOSPC, "No space left on device")
        self._store.write(path, data)


class LosesAnswers(Broken):
    def swap_pointer(self, expected: str | None, new: str) -> SwapResult:
        self._store.swap_pointer(expected, new)
        raise ConnectionError("the answer is lost")


class GoesAway(Broken):
    def swap_pointer(self, expected: str | None, new: str) -> SwapResult:
        answer = self._store.swap_pointer(expected, new)
        self._store = None
        return answer  # type: ignore[no-any-return]


class Busy(Broken):
    """Somebody else is always faster."""

    def commit_lock(self) -> Any:
        return nullcontext()

    def swap_pointer(self, expected: str | None, new: str) -> SwapResult:
        other = open_stored(self._store)
        other.commit(changes.SetProperties({"turn": other.base.location}))
        return self._store.swap_pointer(expected, new)  # type: ignore[no-any-return]


def test_a_disk_that_is_full_for_metadata(table: WritableTable, folder: Path) -> None:
    table.store = FullForMetadata(table.store)  # type: ignore[assignment]
    with pytest.raises(OSError, match="No space left"):
        append(table, rows(10))
    with pytest.raises(OSError, match="No space left"):
        delete(table, where(Operation.LT, 4), mode=Mode.MERGE_ON_READ)
    assert folder.exists()


def test_writers_who_are_always_slower(table: WritableTable) -> None:
    place = Path(table.metadata.location)
    before = {one for one in files_in(place) if not one.endswith(".json")}
    table.store = Busy(table.store)  # type: ignore[assignment]
    with pytest.raises(CommitFailed):
        append(table, rows(10))
    assert {one for one in files_in(place) if not one.endswith(".json")} == before
    assert errors(open_table(str(place))) == []


@pytest.mark.parametrize("broken", [LosesAnswers, GoesAway])
def test_an_answer_that_is_lost_keeps_the_files(table: WritableTable, broken: Any) -> None:
    place = table.metadata.location
    table.store = broken(table.store)
    with pytest.raises(CommitStateUnknown) as caught:
        append(table, rows(10))
    assert "data/part=a/" in " ".join(caught.value.__notes__)
    again = open_table(place)
    assert len(lines(again)) == 12  # the commit succeeded, although no reply arrived
    assert errors(again) == []


def others_deleted(place: str, *ids: int) -> None:
    """Somebody else deletes rows."""
    other = open_table(place)
    for one in ids:
        delete(other, where(Operation.EQ, one))


CONFLICTS = {
    "delete": lambda table: delete(table, where(Operation.EQ, 3)),
    "merge-on-read": lambda table: delete(table, where(Operation.EQ, 3), mode=Mode.MERGE_ON_READ),
    "update": lambda table: update(table, {"number": 5}, where(Operation.EQ, 3)),
    "overwrite": lambda table: overwrite(table, rows(100), where(Operation.EQ, 3)),
    "merge": lambda table: merge(table, rows(0, 4), ["id"]),
    "compact": compact,
}


@pytest.mark.parametrize("name", CONFLICTS)
def test_rows_that_others_changed_meanwhile(tmp_path: Path, name: str) -> None:
    table = create_table(str(tmp_path / "t"), FIELDS, version=V3)
    append(table, rows())
    append(table, rows(20))
    others_deleted(str(tmp_path / "t"), 0)
    before, content = files_in(tmp_path), lines(open_table(str(tmp_path / "t")))
    with pytest.raises(CommitConflict) as caught:
        CONFLICTS[name](table)
    assert caught.value.violation.requirement in {"OCC004", "OCC007"}
    assert files_in(tmp_path) == before
    again = open_table(str(tmp_path / "t"))
    assert lines(again) == content
    CONFLICTS[name](again)  # planned again, it is done
    assert errors(again) == []


def test_appends_never_conflict(tmp_path: Path) -> None:
    table = create_table(str(tmp_path / "t"), FIELDS)
    other = open_table(str(tmp_path / "t"))
    append(other, rows())
    append(table, rows(10))
    assert len(lines(table)) == 12


@pytest.mark.usefixtures("eager")
def test_files_that_cannot_be_deleted_are_reported(table: WritableTable, monkeypatch: pytest.MonkeyPatch) -> None:
    place = Path(table.metadata.location)
    before = files_in(place)
    monkeypatch.setattr(files_module, "delete_existing_files", lambda locations: tuple(locations))
    with pytest.raises(OrphansLeft) as caught:
        append(table, [*rows(10).to_batches(), *pa.table({"id": pa.array([None], pa.int64())}).to_batches()])
    assert isinstance(caught.value.__cause__, SpecError)
    left = {str(Path(one).relative_to(place)) for one in caught.value.locations}
    assert left == {one for one in files_in(place) - before if one.endswith(".parquet")}
    assert pickle.loads(pickle.dumps(caught.value)).locations == caught.value.locations


def test_a_file_that_is_there_is_never_replaced(table: WritableTable) -> None:
    plan = plan_write(table.metadata)
    (first, *_) = write_rows(plan, rows(10, 1), "one")
    before = Path(first.data_file.file_path).read_bytes()
    with pytest.raises(FileAccessError, match="not replaced"):
        write_rows(plan, rows(10, 1), "one")
    assert Path(first.data_file.file_path).read_bytes() == before
    assert clean_up(plan) == ()


def test_a_format_that_has_not_the_type(tmp_path: Path) -> None:
    fields = (*FIELDS, NestedField(9, "v", required=False, type=ListType(10, UNKNOWN, element_required=False)))
    table = create_table(str(tmp_path / "t"), fields, version=V3)
    before = files_in(tmp_path)
    with pytest.raises(SpecError, match="PQT006"):
        append(table, rows(), threads=3)
    assert files_in(tmp_path) == before


KILLED = """
import os, pickle, signal, sys
import pyarrow as pa
from conformance.table_io.writing import write_rows
from conformance.table_io.writing import write_tasks
write_tasks.CHUNK_ROWS = write_tasks.GROUP_ROWS = 1
plan = pickle.loads(sys.stdin.buffer.read())
def batches():
    for start in range(3):
        yield pa.RecordBatch.from_pylist([{"id": start, "part": str(start)}])
    os.kill(os.getpid(), signal.SIGKILL)
write_rows(plan, batches(), "00000-0")
"""


def test_a_worker_that_is_killed(table: WritableTable, folder: Path) -> None:
    plan = plan_write(table.metadata)
    done = subprocess.run([sys.executable, "-c", KILLED], input=pickle.dumps(plan), check=False)
    assert done.returncode == -signal.SIGKILL
    left = list_write_files(plan)
    assert left
    second = write_rows(plan, rows(10, 1), "00000-1")
    assert clean_up(plan, second) == ()
    assert list_write_files(plan) == tuple(new.data_file.file_path for new in second)
    assert clean_up(plan) == ()
    assert list_write_files(plan) == ()
    assert folder.exists()


def test_tasks_and_entries_can_be_pickled(table: WritableTable) -> None:
    plan = pickle.loads(pickle.dumps(plan_write(table.metadata, lineage=True)))
    new = pickle.loads(pickle.dumps(write_rows(plan, rows(30), "far-away")))
    table.commit(changes.append(new))
    assert len(lines(table)) == 12
    assert errors(table) == []


def test_there_is_one_table_at_a_place(tmp_path: Path) -> None:
    create_table(str(tmp_path / "t"), FIELDS)
    before = files_in(tmp_path)
    with pytest.raises(CommitConflict, match="OCC005"):
        create_table(open_store(str(tmp_path / "t")), FIELDS)
    assert files_in(tmp_path) == before


def test_a_table_that_cannot_be_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(SpecError):
        create_table(str(tmp_path / "t"), (*FIELDS, NestedField(9, "v", required=False, type=VARIANT)))
    assert files_in(tmp_path) == set()

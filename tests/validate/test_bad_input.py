"""Bad input is a finding with its reason, and the rest of the table is still checked."""

from __future__ import annotations

import faulthandler
import multiprocessing.forkserver
import os
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from conformance.validator import below_metadata, local, process_isolation
from conformance.validator.check_results import Emitted, Facts, Findings
from conformance.validator.context import Context, FilesTask, Level, TaskGroup
from conformance.validator.files import check_files_task
from conformance.validator.finding import finding
from conformance.validator.local import LocalBackend, Spool
from conformance.validator.manifest_facts import ROW_IDS
from conformance.validator.process_isolation import NO_PROCESS
from conformance.validator.remote import find_reason
from conformance.validator.run import SnapshotSelection, UnreadableTable, validate
from conformance.vectors.golden_tables import materialize
from spec_ref.checks.findings import Severity
from spec_ref.manifest_lists.manifest_file import ManifestContent
from spec_ref.requirements import check_id
from spec_ref.table_metadata import read_metadata
from tools.grid.workbench import Workbench

V2, VECTORS, PARQUET = "position-deletes-parquet", "deletion-vectors-parquet", "types-v2-parquet"


@pytest.fixture(scope="module", autouse=True)
def _golden_tables() -> None:
    materialize([V2, VECTORS, PARQUET])


def codes(bench: Workbench, level: Level = Level.ROWS) -> set[str]:
    report = bench.validate(level)
    return {finding.requirement for finding in report.findings if finding.severity is Severity.ERROR}


def test_all_that_is_broken_is_reported_in_one_run(tmp_path: Path) -> None:
    bench = Workbench(V2, tmp_path)
    first, second = (one for one in bench.manifests if one.listed["content"] == 0 and one is not bench.data)
    bench.replaced[first.path] = None
    second.listed["manifest_length"] = len(second.content()) + 1
    second.pinned = True
    bench.file["record_count"] += 5
    assert codes(bench) == {"MLS003", "MLS004", "DFL005"}


@pytest.mark.parametrize("length", [0, 4, 30, 300])
@pytest.mark.parametrize("part", ["list", "manifest", "data", "vector"])
def test_a_file_that_is_cut_anywhere_is_a_finding(part: str, length: int, tmp_path: Path) -> None:
    bench = Workbench(VECTORS, tmp_path)
    assert bench.manifests
    location = {
        "list": bench.manifest_list.path,
        "manifest": bench.data.path,
        "data": bench.file["file_path"],
        "vector": bench.delete_file["file_path"],
    }[part]
    content = bench.read(location)[:length]
    if part in ("list", "manifest"):
        bench.replaced[location] = content
    else:
        bench.replace(location, content)
    assert codes(bench)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("part", ["list", "manifest", "data", "vector"])
def test_bytes_that_are_changed_anywhere_raise_nothing(part: str, seed: int, tmp_path: Path) -> None:
    bench = Workbench(VECTORS, tmp_path)
    assert bench.manifests
    location = {
        "list": bench.manifest_list.path,
        "manifest": bench.data.path,
        "data": bench.file["file_path"],
        "vector": bench.delete_file["file_path"],
    }[part]
    content = bytearray(bench.read(location))
    for place in range(seed, len(content), 97 + seed):
        content[place] ^= 0x5A
    bench.replaced[location if part in ("list", "manifest") else _path(location)] = bytes(content)
    assert codes(bench) or part == "data"  # a data file has bytes that say nothing


def _path(location: str) -> str:
    from tools.grid.workbench import local

    return local(location)


def test_a_file_that_may_not_be_read_is_reported_with_the_reason(tmp_path: Path) -> None:
    if os.geteuid() == 0:
        bench = Workbench(V2, tmp_path)
        bench.replaced[bench.data.path] = None  # root may read all; a directory in its place it may not read as a file
        moved = bench.write()
        Path(moved[bench.data.path]).mkdir()
        from tools.grid.workbench import redirect_reads

        with redirect_reads(moved):
            report = validate(bench.metadata_path, Level.MANIFESTS, LocalBackend())
        found = next(finding for finding in report.findings if finding.requirement == "MLS003")
        assert found.violation.aspect == "unreadable"
        return
    bench = Workbench(V2, tmp_path)
    moved = bench.write()
    Path(moved[bench.metadata_path]).chmod(0)
    from tools.grid.workbench import redirect_reads

    with redirect_reads(moved), pytest.raises(UnreadableTable, match="not permitted"):
        validate(bench.metadata_path, Level.METADATA, LocalBackend())


def test_a_file_that_grew_meanwhile_is_reported_by_its_size(tmp_path: Path) -> None:
    bench = Workbench(PARQUET, tmp_path)
    content = bench.read(bench.file["file_path"])
    bench.replaced[_path(bench.file["file_path"])] = content + content[-8:]
    assert "DFL006" in codes(bench, Level.FILES)


def test_metadata_that_a_reader_refuses_is_a_finding(tmp_path: Path) -> None:
    bench = Workbench(V2, tmp_path)
    bench.metadata["current-schema-id"] = 99
    assert codes(bench) == {"TMD009"}


@pytest.mark.parametrize("number", ["9" * 19, "9" * 5000])
def test_a_number_of_a_summary_that_no_long_holds_differs_from_the_manifests(number: str, tmp_path: Path) -> None:
    bench = Workbench(V2, tmp_path)
    names = ("total-records", "added-data-files", "removed-files-size")
    bench.metadata["snapshots"][-1]["summary"] |= dict.fromkeys(names, number)
    found = {place.path.rpartition("/")[2] for one in bench.validate(Level.MANIFESTS).findings for place in one.places}
    assert found >= {*names}


@pytest.mark.parametrize("location", ["/a\0b", "s3:///a", "nope://a"])
@pytest.mark.parametrize("name", ["location", "write.metadata.path", "metadata-file"])
def test_a_location_that_no_file_can_have_is_no_obstacle(name: str, location: str, tmp_path: Path) -> None:
    bench = Workbench(V2, tmp_path)
    match name:
        case "location":
            bench.metadata["location"] = location
        case "metadata-file":
            bench.metadata["metadata-log"] = [{"timestamp-ms": 1, "metadata-file": location}]
        case _:
            bench.metadata.setdefault("properties", {})[name] = location
    report = bench.validate(Level.MANIFESTS)
    assert report.complete
    assert report.manifests == len(bench.manifests)


@pytest.mark.parametrize("content", [b"", b"\x1f\x8b", b"[]", b'"text"', b"\xff\xfe{}"])
def test_what_is_no_metadata_is_no_table(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "v1.metadata.json"
    path.write_bytes(content)
    with pytest.raises(UnreadableTable, match=r"v1\.metadata\.json: TMD0(29|30): "):
        validate(str(path), Level.ROWS, LocalBackend())


def test_an_empty_folder_is_no_table(tmp_path: Path) -> None:
    with pytest.raises(UnreadableTable, match="no file has a name"):
        validate(str(tmp_path), Level.ROWS, LocalBackend(), SnapshotSelection("all"))


def test_facts_that_do_not_fit_in_memory_are_kept_in_files() -> None:
    import pyarrow as pa

    spool = Spool(held_bytes=100)
    rows = pa.RecordBatch.from_pylist([{"first": 1, "end": 2, "manifest": 0, "entry": 0, "key": "k" * 50}], ROW_IDS)
    for number in range(20):
        spool.add(Facts(number % 3, "row-ids", rows))
    assert spool.buckets() == [0, 1, 2]
    assert [len(list(spool.take(bucket))) for bucket in spool.buckets()] == [7, 7, 6]
    spool.clear()
    assert spool.buckets() == []


@pytest.fixture
def engine() -> Iterator[LocalBackend]:
    """Two processes that hold hardly any facts in memory."""
    made = LocalBackend(2, held_bytes=1, isolated=True)
    yield made
    made.close()


def stopped(engine: LocalBackend, bench: Workbench, word: str) -> set[str]:
    """The codes of what is found until the engine cannot go on, which it says."""
    bench.metadata["location"] = "no-scheme"
    report = validate(bench.relocate(), Level.ROWS, engine)
    assert not report.complete
    assert report.reason is not None
    assert word in report.reason
    return {one.requirement for one in report.findings}


def test_a_full_disk_ends_the_check_with_the_reason_and_what_was_found(
    engine: LocalBackend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local, "open", lambda *_: open("/dev/full", "w+b"), raising=False)  # noqa: SIM115
    assert "LOC001" in stopped(engine, Workbench(VECTORS, tmp_path), "No space left on device")


def test_a_folder_that_is_not_there_for_temporary_files_is_reported(
    engine: LocalBackend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nothing"))
    assert "LOC001" in stopped(engine, Workbench(VECTORS, tmp_path), "TMPDIR")


@pytest.mark.parametrize("error", [BrokenPipeError(32, "Broken pipe"), BlockingIOError(11, "temporarily unavailable")])
@pytest.mark.parametrize("name", ["ensure_running", "connect_to_new_process"])
def test_a_process_that_cannot_be_started_ends_the_check_with_the_reason(
    name: str, error: OSError, engine: LocalBackend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise error

    monkeypatch.setattr(process_isolation, "can_fork", lambda: False)
    monkeypatch.setattr(multiprocessing.forkserver, name, fails)
    assert "LOC001" in stopped(engine, Workbench(VECTORS, tmp_path), f"{NO_PROCESS}: {error}")


def test_a_fork_that_is_refused_ends_the_check_with_the_reason(
    engine: LocalBackend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails() -> int:
        raise BlockingIOError(11, "temporarily unavailable")

    monkeypatch.setattr(process_isolation, "can_fork", lambda: True)
    monkeypatch.setattr(os, "fork", fails)
    assert "LOC001" in stopped(
        engine, Workbench(VECTORS, tmp_path), f"{NO_PROCESS}: [Errno 11] temporarily unavailable"
    )


@pytest.mark.parametrize("count", [None, -1])
def test_every_place_of_what_several_entries_have_names_its_file(count: int | None, tmp_path: Path) -> None:
    materialize([BESIDE])
    bench = Workbench(BESIDE, tmp_path)
    (manifest,) = bench.manifests
    for file in manifest.files:
        file["record_count"] = file["record_count"] if count is None else count
    report = bench.validate(Level.ROWS)
    counts = {one.check: one.count for one in report.findings}
    assert counts["data-file-file-path-no-scheme"] == len(manifest.files)
    assert ("data-file-record-count-negative" in counts) is (count == -1)
    assert [one for one in report.findings for place in one.places if not place.file] == []


def test_the_name_of_a_file_that_is_looked_for_is_reported_in_full(tmp_path: Path) -> None:
    bench = Workbench(PARQUET, tmp_path)
    bench.file["file_path"] = path = f"{tmp_path}/{'/'.join(['part=of a long path'] * 20)}/f.parquet"
    report = bench.validate(Level.FILES)
    assert repr(path) in {one.violation.found for one in report.findings}


def test_an_unexpected_error_leaves_no_facts_for_the_next_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, engine = Workbench(VECTORS, tmp_path).relocate(), LocalBackend()
    with monkeypatch.context() as patch:
        patch.setattr(below_metadata, "check_bucket", lambda *_: 1 // 0)
        with pytest.raises(ZeroDivisionError):
            validate(root, Level.ROWS, engine)
    assert validate(root, Level.ROWS, engine) == validate(root, Level.ROWS, LocalBackend())


PYTHON_ENDS = """\
Traceback (most recent call last):
  File "session.py", line 557, in getOrCreate
a.b.PySparkRuntimeError: [JAVA_GATEWAY_EXITED] Java gateway process exited.
Fatal Python error: _enter_buffered_busy: could not acquire lock

Current thread 0x00007f14b1629b80 (most recent call first):
  <no Python frame>
"""


@pytest.mark.parametrize(
    ("log", "reason"),
    [
        ("", ""),
        ("WARNING: x\nKilled\n\n", "Killed"),
        (PYTHON_ENDS, "a.b.PySparkRuntimeError: [JAVA_GATEWAY_EXITED] Java gateway process exited."),
        (
            f'Exception in thread "main" a.Refused: no master\n\tat a.B(B:1)\n{PYTHON_ENDS}',
            "a.Refused: no master",
        ),
        (f"a.BError: c\n\tat a.B\nCaused by: d.EException: f\n\tat d.Error.e(E:1)\n{PYTHON_ENDS}", "d.EException: f"),
    ],
)
def test_the_reason_why_spark_did_not_run_is_found_in_its_log(log: str, reason: str) -> None:
    assert find_reason(log) == reason


def dies_over_seven(context: Context, task: int) -> Iterator[Emitted]:
    """A check that ends its process, as damaged files make some libraries do."""
    if task == 7:
        os.abort()
    yield Findings((finding("DFL005", "a finding of a task", file=f"file {task}", aspect="mismatch"),))


def test_a_process_that_dies_is_a_finding_and_the_others_are_done() -> None:
    engine = LocalBackend(workers=2)
    context = Context(read_metadata(_minimal()), "file:/m", Level.ROWS)
    try:
        (found,) = engine.run_stage(context, dies_over_seven, range(20), "tasks")
    finally:
        engine.close()
    assert isinstance(found, Findings)
    counts = {one.check: one.count for one in found.findings}
    assert counts == {check_id("DFL005", "mismatch"): 19, check_id("MAN001", "process-ended"): 1}


BESIDE = "partition-identity-v2"


def crash() -> None:
    """End this process as a damaged file does, without the report that pytest asks for in forks of its process."""
    faulthandler.disable()
    os.kill(os.getpid(), signal.SIGSEGV)


def dies_over_a_file(context: Context, task: FilesTask) -> Iterator[Emitted]:
    """The check of files, with a library that does not live through the second file of the table."""
    if task.manifest.number == 0 and task.start <= 1 < task.stop:
        crash()
    yield from check_files_task(context, task)


def dies_over_a_group(context: Context, group: TaskGroup) -> Iterator[Emitted]:
    """The same for a group of tasks, as on a store."""
    for task in group.tasks:
        yield from dies_over_a_file(context, task)


@pytest.mark.parametrize(("forks", "grouped"), [(False, False), (True, False), (True, True)])
@pytest.mark.parametrize("workers", [1, 2])
def test_a_file_that_ends_its_process_is_reported_and_the_files_beside_it_are_checked(
    workers: int, forks: bool, grouped: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Context, "is_on_store", property(lambda _: grouped))
    monkeypatch.setattr(below_metadata, "check_files_group", dies_over_a_group)
    monkeypatch.setattr(process_isolation, "can_fork", lambda: forks)
    materialize([BESIDE])
    bench = Workbench(BESIDE, tmp_path)
    (manifest,) = bench.manifests
    paths = [file["file_path"] for file in manifest.files]
    manifest.files[2]["record_count"] += 1
    monkeypatch.setattr(below_metadata, "check_files_task", dies_over_a_file)
    root = bench.relocate()
    engine = LocalBackend(workers, isolated=True)
    try:
        report = validate(root, Level.ROWS, engine)
    finally:
        engine.close()
    found = {(one.requirement, one.violation.file or "") for one in report.findings if one.severity is Severity.ERROR}
    assert ("AVR014", paths[1]) in found
    assert ("DFL005", manifest.listed["manifest_path"]) in found
    assert {code for code, _ in found} == {"AVR014", "DFL005"}


def dies_over_deletes(context: Context, task: FilesTask) -> Iterator[Emitted]:
    """The check of files, with a library that does not live through files of deletes."""
    if task.manifest.manifest_file is not None and task.manifest.manifest_file.content is ManifestContent.DELETES:
        crash()
    yield from check_files_task(context, task)


@pytest.mark.parametrize(
    ("table", "dies", "check"),
    [
        ("partition-time-orc", dies_over_a_file, "orc-plain-types-process-ended"),
        ("partition-time-parquet", dies_over_a_file, "parquet-plain-types-process-ended"),
        (VECTORS, dies_over_deletes, "puffin-file-structure-process-ended"),
    ],
)
def test_a_process_that_ends_over_a_file_is_reported_by_its_format(
    table: str, dies: Any, check: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    materialize([table])
    monkeypatch.setattr(below_metadata, "check_files_task", dies)
    engine = LocalBackend(1, isolated=True)
    try:
        report = validate(Workbench(table, tmp_path).relocate(), Level.FILES, engine)
    finally:
        engine.close()
    assert {one.check for one in report.findings if one.severity is Severity.ERROR} == {check}


def _minimal() -> dict[str, object]:
    return {
        "format-version": 1,
        "location": "file:/t",
        "last-updated-ms": 1,
        "last-column-id": 1,
        "schema": {"type": "struct", "fields": [{"id": 1, "name": "a", "required": True, "type": "int"}]},
        "partition-spec": [],
    }

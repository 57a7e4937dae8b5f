"""A store that stops answering delays only one file, and an interrupted check reports its findings so far."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from stalled import STALLED, TABLE, stalled_store, stalled_table  # noqa: F401 - a fixture

from conformance.table_io.object_stores import STORE_SECONDS
from conformance.validator import (
    data_file_reader,
    diff,
    files,
    manifest_lists,
    manifests,
    partition_statistics,
    read_ahead,
    run,
    table_root,
)
from conformance.validator.context import Level
from conformance.validator.local import LocalBackend
from conformance.validator.run import UnreadableTable, validate
from conformance.validator.stall_timeout import (
    Stalled,
    each_with_stall_timeout,
    has_abandoned_thread,
    report_alive,
    run_with_stall_timeout,
)
from conformance.vectors.golden_tables import materialize
from spec_ref.checks.findings import Severity
from tools.grid.workbench import Workbench

SECONDS = 0.5


@pytest.fixture(scope="module", autouse=True)
def _golden_tables() -> None:
    materialize([TABLE])


def test_a_file_that_never_comes_is_reported_and_the_others_are_checked(store: socket.socket, tmp_path: Path) -> None:
    engine = LocalBackend(2, isolated=True)
    try:
        report = validate(stalled_table(tmp_path), Level.ROWS, engine, file_seconds=5)
    finally:
        engine.close()
    found = {(one.requirement, one.violation.found) for one in report.findings if one.severity is Severity.ERROR}
    assert ("DFL002", repr(STALLED)) in found
    assert {code for code, _ in found} == {"DFL002", "DFL005"}
    assert report.complete


LET_GO = threading.Event()
"""What threads of these tests wait for: the command ends a process at once in which one still waits for a file."""


@pytest.fixture(scope="module", autouse=True)
def _no_thread_is_left_behind() -> Iterator[None]:
    yield
    LET_GO.set()
    until = time.monotonic() + 300
    while has_abandoned_thread() and time.monotonic() < until:
        time.sleep(0.01)
    assert not has_abandoned_thread()


def never(module: Any, name: str, ending: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a function of a module that reads files wait without end where the name of the file ends so.

    Files that come have all the time that a busy machine takes for them.
    """
    original: Callable[..., Any] = getattr(module, name)

    def waits(location: str, *rest: Any, **options: Any) -> Any:
        if location.endswith(ending):
            LET_GO.wait()
        return original(location, *rest, **options)

    def patient(seconds: float, location: str, work: Callable[[], Any]) -> Any:
        assert seconds == SECONDS
        return run_with_stall_timeout(seconds if location.endswith(ending) else 300, location, work)

    monkeypatch.setattr(module, name, waits)
    for one in (manifest_lists, manifests, partition_statistics, table_root, run):
        monkeypatch.setattr(one, "run_with_stall_timeout", patient)


@pytest.mark.parametrize(
    ("module", "ending", "code"), [(manifest_lists, "list.avro", "SNP005"), (read_ahead, "/0", "MLS003")]
)
def test_lists_and_manifests_are_waited_for_no_longer(
    module: Any, ending: str, code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = Workbench(TABLE, tmp_path).relocate()
    never(module, "read_bytes", ending, monkeypatch)
    report = validate(root, Level.MANIFESTS, LocalBackend(), file_seconds=SECONDS)
    errors = [one.violation for one in report.findings if one.severity is Severity.ERROR]
    assert {(one.requirement, one.aspect) for one in errors} == {(code, "unreadable")}


def test_metadata_that_never_comes_is_no_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = Workbench(TABLE, tmp_path).relocate()
    never(run, "read_bytes", "v1.metadata.json", monkeypatch)
    with pytest.raises(UnreadableTable, match=r"nothing was read for 0\.5 seconds"):
        validate(root, Level.METADATA, LocalBackend(), file_seconds=SECONDS)
    with pytest.raises(UnreadableTable, match="nothing was read"):
        diff.compare_versions(root, root, lambda *_: pytest.fail("not asked"), SECONDS)


def test_partition_statistics_are_waited_for_no_longer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.validate.corruptions.statistics import PARTITIONED
    from tests.validate.corruptions.statistics import partition_statistics as made

    materialize([PARTITIONED])
    bench = Workbench(PARTITIONED, tmp_path)
    path = made(bench)["statistics-path"]
    never(partition_statistics, "file_size", path, monkeypatch)
    monkeypatch.setattr("tools.grid.workbench.validate", lambda *given: validate(*given, file_seconds=SECONDS))
    report = bench.validate(Level.FILES)
    assert {one.requirement for one in report.findings if one.severity is Severity.ERROR} == {"STA014"}


def test_a_file_that_comes_slowly_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = Workbench(TABLE, tmp_path).relocate()
    original = files.open_file
    seen: list[Any] = []

    def slow(*given: Any) -> data_file_reader.OpenedFile:
        made = original(*given)
        seen.append(given)
        if len(seen) > 1:
            return made

        def batches(names: Sequence[str], rows: int) -> Iterator[pa.RecordBatch]:
            for batch in made.batches(names, rows):
                for _ in range(6):
                    time.sleep(0.4)
                    yield batch.slice(0, 0)
                yield batch

        return data_file_reader.attrs.evolve(made, batches=batches)

    monkeypatch.setattr(files, "open_file", slow)
    report = validate(root, Level.ROWS, LocalBackend(), file_seconds=2)
    assert [str(one) for one in report.findings if one.severity is Severity.ERROR] == []


def test_work_is_given_up_only_without_a_sign_of_life() -> None:
    def steps() -> int:
        for _ in range(6):
            time.sleep(0.4)
            report_alive()
        return 7

    assert run_with_stall_timeout(2, "f", steps) == 7
    with pytest.raises(Stalled, match=r"f: nothing was read for 0\.1 seconds"):
        run_with_stall_timeout(0.1, "f", LET_GO.wait)
    with pytest.raises(ValueError, match="as it was"):
        run_with_stall_timeout(300, "f", lambda: int("as it was"))


def test_a_thread_that_was_given_up_ends_with_its_work_whoever_keeps_the_error() -> None:
    let_go, working = threading.Event(), list[threading.Thread]()

    def work() -> None:
        working.append(threading.current_thread())
        let_go.wait()

    with pytest.raises(Stalled) as kept:
        run_with_stall_timeout(0.1, "f", work)
    let_go.set()
    working[0].join(60)
    assert not working[0].is_alive()
    assert kept.traceback


@pytest.mark.parametrize("stalling", [set(), {0}, {2}, {4}, {1, 2}])
@pytest.mark.parametrize("seconds", [0.5, float("inf")])
def test_each_item_has_its_time_and_a_stalled_one_is_left_out(seconds: float, stalling: set[int]) -> None:
    if seconds == float("inf"):
        stalling = set()

    def work(item: int) -> int:
        if item in stalling:
            LET_GO.wait()
        report_alive()
        return item * item

    found = list(each_with_stall_timeout(seconds, iter(range(5)), "file {}".format, work))
    assert [item for item, _ in found] == list(range(5))
    for item, result in found:
        if item in stalling:
            assert isinstance(result, Stalled)
            assert result.location == f"file {item}"
        else:
            assert result == item * item


def test_results_before_an_error_are_passed_on_and_so_is_the_error() -> None:
    series = each_with_stall_timeout(300, [2, 1, 0, 3], str, lambda item: 2 // item)
    assert [next(series), next(series)] == [(2, 1), (1, 2)]
    with pytest.raises(ZeroDivisionError):
        next(series)


def test_a_series_that_nobody_waits_for_ends() -> None:
    taken = []

    def items() -> Iterator[int]:
        for item in range(1000):
            taken.append(item)
            yield item

    series = each_with_stall_timeout(300, items(), str, lambda _: time.sleep(0.1))
    assert next(series)[0] == 0
    series.close()
    time.sleep(0.3)
    count = len(taken)
    time.sleep(0.3)
    assert len(taken) == count < 10


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked on POSIX systems only")
def test_a_forked_process_reads_files_in_a_thread_of_its_own() -> None:
    assert run_with_stall_timeout(300, "f", lambda: 1) == 1
    child = os.fork()
    if not child:
        os._exit(run_with_stall_timeout(60, "f", lambda: 7))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


def test_who_is_killed_leaves_no_process(store: socket.socket, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "conformance", "validate", stalled_table(tmp_path), "--level", "files"]
    store.settimeout(300)
    with subprocess.Popen(command, process_group=0) as process, store.accept()[0]:  # the file is asked for
        process.kill()
        until = time.monotonic() + 300
        while _lives(process) and time.monotonic() < until:
            time.sleep(0.05)
    assert not _lives(process)


def _lives(process: subprocess.Popen[bytes]) -> bool:
    """Whether the process, or any of its group, is there."""
    try:
        process.poll()
        os.killpg(process.pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_an_interrupt_while_the_metadata_does_not_come_ends_at_once(
    store: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(STORE_SECONDS, "3600")
    command = [sys.executable, "-m", "conformance", "validate", "s3://stalled/t/metadata/v1.metadata.json"]
    store.settimeout(300)
    with (
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process,
        store.accept()[0],  # the file is asked for
    ):
        process.send_signal(signal.SIGINT)
        try:
            out, errors = process.communicate(timeout=300)
        finally:
            process.kill()
    assert process.returncode == 130
    assert errors == "iceberg-conformance: interrupted: the report is not complete\n"
    assert "interrupted before anything was found" in out


@pytest.mark.parametrize("report_format", ["json", "jsonl", "text"])
def test_an_interrupt_ends_with_what_was_found(report_format: str, store: socket.socket, tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "conformance",
        "validate",
        stalled_table(tmp_path),
        str(tmp_path / "other"),
        "--level",
        "rows",
        "--format",
        report_format,
    ]
    store.settimeout(60)
    with (
        subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, process_group=0
        ) as process,
        store.accept()[0],  # the file is asked for
    ):
        os.killpg(process.pid, signal.SIGINT)
        out, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert errors == "iceberg-conformance: interrupted: the report is not complete\n"
    if report_format == "text":
        assert "interrupted: the table was not checked completely" in out
        assert "NOT005" in out
        return
    if report_format == "json":
        (table,) = json.loads(out)["tables"]
        assert table["complete"] is False
        found = table["findings"]
    else:
        *found, last = map(json.loads, out.splitlines())
        assert last["complete"] is False
    assert "NOT005" in {one["code"] for one in found}

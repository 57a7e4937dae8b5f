"""Stress tests: no store loses commits, and catalogs that lose, duplicate or reorder commits are detected."""

from __future__ import annotations

import json
import math
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from fake_catalog import FakeCatalog

from conformance.cli import main
from conformance.core.failures import UsageError
from conformance.races.stress.run import Report, Settings, StressStopped, stress
from conformance.races.stress.writers import BRANCH, Work, work
from spec_ref.core.json_types import JsonObject


def run(tmp_path: Path, url: str, **more: object) -> Report:
    directory = tmp_path / "stress"
    directory.mkdir()
    given = {"processes": 3, "seconds": 4.0, "kills_per_s": 0.0, "seed": 1, **more}
    return stress(Settings(catalog=url, location=(tmp_path / "table").as_uri(), **given), directory)  # type: ignore[arg-type]


def test_nothing_is_lost_on_a_store(store_url: str, tmp_path: Path) -> None:
    report = run(tmp_path, store_url, kills_per_s=1.0, seconds=5.0)
    assert report.problems == []
    assert report.kills > 0
    assert report.acknowledged > 3
    assert report.validated == "0 errors at level rows, snapshots all"
    assert report.client.startswith("iceberg-conformance")


def every(times: int, fault: str) -> Callable[[JsonObject], str]:
    """Return a function that injects a fault into each of some number of appends to main."""
    numbers = count(1)

    def choose(request: JsonObject) -> str:
        actions = {one["action"] for one in request["updates"] if one.get("ref-name", "main") == "main"}
        made = [one["snapshot"] for one in request["updates"] if one["action"] == "add-snapshot"]
        if not actions >= {"add-snapshot", "set-snapshot-ref"} or made[0]["summary"]["operation"] != "append":
            return ""
        return fault if next(numbers) % times == 0 else ""

    return choose


def each_to_the_branch(fault: str) -> Callable[[JsonObject], str]:
    """Return a function that injects a fault into every append to the branch, whose rows no writer deletes."""

    def choose(request: JsonObject) -> str:
        return fault if any(one.get("ref-name") == BRANCH for one in request["updates"]) else ""

    return choose


FAULTS = {
    "acknowledged-only": ("lost", every(4, "acknowledged-only")),
    "twice": ("doubled", every(4, "twice")),
    "later": ("reordered", each_to_the_branch("later")),
    "applied-409": ("contradiction", every(4, "applied-409")),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_faulty_catalog_is_found(fault: str, rest_catalog: FakeCatalog, tmp_path: Path) -> None:
    found, rest_catalog.choose = FAULTS[fault]
    report = run(tmp_path, f"rest+{rest_catalog.url}?namespace=db&table=t", seconds=90.0, max_commits=30)
    assert report.seconds < 80  # it ends when each writer has made its maximum number of commits
    assert found in {one.kind for one in report.problems}


def test_a_catalog_that_serves_old_tables_is_found(rest_catalog: FakeCatalog, tmp_path: Path) -> None:
    numbers = count()
    rest_catalog.stale = lambda: 3 if (number := next(numbers)) > 30 and number % 2 else 0
    report = run(tmp_path, f"rest+{rest_catalog.url}?namespace=db&table=t", seconds=6.0)
    assert "stale" in {one.kind for one in report.problems}


def test_a_file_that_was_deleted_under_the_table_is_found(rest_catalog: FakeCatalog, tmp_path: Path) -> None:
    def deleting(_: JsonObject) -> str:
        for file in list((tmp_path / "table" / "data").rglob("*.parquet"))[:1]:
            file.unlink()
        return ""

    rest_catalog.choose = deleting
    report = run(tmp_path, f"rest+{rest_catalog.url}?namespace=db&table=t", seconds=2.0)
    assert "invalid" in {one.kind for one in report.problems}


def test_a_catalog_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(StressStopped, match=r"http://127\.0\.0\.1:9: the catalog cannot be reached"):
        run(tmp_path, "rest+http://127.0.0.1:9?table=t")


def test_another_machine_is_not_put_under_stress_unasked(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--allow-remote"):
        run(tmp_path, "rest+https://catalog.example.com?table=t")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--server", "nonsense"], "unknown server nonsense"),
        (["--server", "glue"], "use --client pyiceberg"),
        (["--server", "sqlite", "--catalog", "file:///x"], "not both"),
        (["--server", "sqlite", "--server-kills", "1"], "--server-kills 0"),
        (["--client", "pyiceberg"], "need --server"),
        (["--processes", "0"], "too small"),
        (["--catalog", "mysql://x/y"], "unknown kind of store mysql"),
        (["--keep", "/proc/x"], "--keep /proc/x"),
    ],
)
def test_wrong_usage_is_reported(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["race", "stress", *arguments]) in (2, 3)
    assert message in capsys.readouterr().err


def children(pid: int) -> list[int]:
    """Return all descendants of a process."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == pid:
            child = int(path.parent.name)
            found += [child, *children(child)]
    return found


def program(pid: int) -> str | None:
    """Return the name of the program of a process, None if it has ended."""
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return None


def alive(pids: list[int]) -> list[int]:
    """Return the processes that are running."""
    found = []
    for pid in pids:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            continue
        if state != "Z":
            found.append(pid)
    return found


@pytest.mark.skipif(sys.platform != "linux", reason="looks at processes in /proc")
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_no_process_is_left_when_the_tool_is_killed(how: signal.Signals, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "conformance", "race", "stress", "--processes", "3", "--seconds", "120"]
    command += ["--server", "postgresql", "--keep", str(tmp_path / "kept")]
    with subprocess.Popen(
        command,
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    ) as process:
        until = time.monotonic() + 120
        while not list(tmp_path.glob("kept/journals/*.jsonl")):
            assert process.poll() is None
            assert time.monotonic() < until
            time.sleep(0.05)
        below = children(process.pid)
        assert "postgres" in map(program, below)
        process.send_signal(how)
        process.communicate(timeout=120)
    until = time.monotonic() + 30
    while alive(below) and time.monotonic() < until:
        time.sleep(0.05)
    assert alive(below) == []


def test_the_old_name_is_reported_and_works(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    location = (tmp_path / "table").as_uri()
    arguments = ["--store", location, "--seconds", "1.5", "--processes", "2", "--kills", "0", "--format", "json"]
    assert main(["race", "soak", *arguments]) == 0
    printed = capsys.readouterr()
    assert "race soak is deprecated" in printed.err
    report = json.loads(printed.out)
    assert report["problems"] == []
    assert report["acknowledged"] > 3
    assert report["server"] == "file store"


class AwayAtFirst:
    """A client whose server is down when a writer starts, and for some number of requests."""

    def __init__(self, questions: float) -> None:
        self.questions = questions
        self.done: list[str] = []

    @property
    def kinds(self) -> tuple[str, ...]:
        self.questions -= 1
        if self.questions >= 0:
            raise ConnectionRefusedError
        return ("branch", "expire")

    def commit(self, entry: JsonObject) -> None:
        self.done.append(entry["kind"])

    def outcome(self, error: Exception) -> str:
        raise AssertionError from error

    def observe(self) -> JsonObject:
        return {}

    def contradictions(self) -> list[str]:
        return []


@pytest.mark.parametrize("questions", [2, math.inf])
def test_a_writer_that_begins_while_the_server_is_away_goes_on(questions: float, tmp_path: Path) -> None:
    client: Any = AwayAtFirst(questions)
    plan = Work(client="reference", catalog="", journals=str(tmp_path), max_commits=100)
    work(client, 1, plan, time.monotonic() + (0.5 if questions > 2 else 60))
    assert len(client.done) == (1 if questions > 2 else 100)

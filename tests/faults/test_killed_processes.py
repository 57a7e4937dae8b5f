"""Processes that are killed while they work, as the kernel does where memory is short."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

import pytest
from faulty import below, command, started, table_of, with_position_deletes

FILES = 200


@pytest.fixture(scope="module")
def location(tmp_path_factory: pytest.TempPathFactory) -> str:
    return with_position_deletes(str(tmp_path_factory.mktemp("killed") / "t"), FILES)


@pytest.fixture(scope="module")
def undisturbed(location: str) -> object:
    done = command("validate", location, "--level", "rows", "--format", "json", "--workers", "2")
    assert done.returncode == 0, done.stderr
    return {key: value for key, value in table_of(done.stdout).items() if key != "seconds"}


@pytest.mark.parametrize("times", [1, 3])
def test_workers_that_are_killed_change_no_finding(times: int, location: str, undisturbed: object) -> None:
    process = started("validate", location, "--level", "rows", "--format", "json", "--workers", "2")
    killed: list[int] = []
    killer = threading.Thread(target=lambda: killed.extend(kill_workers(process, times)))
    killer.start()
    out, err = process.communicate(timeout=120)
    killer.join()
    assert killed
    assert process.returncode == 0, err
    found = {key: value for key, value in table_of(out).items() if key != "seconds"}
    assert found == undisturbed


def kill_workers(process: subprocess.Popen[str], times: int) -> list[int]:
    """Kill the processes that open files, as they come: children of the server that they are forks of."""
    killed: list[int] = []
    while process.poll() is None and len(killed) < times:
        servers = [pid for pid, words in below(process.pid) if "forkserver" in words]
        workers = [pid for server in servers for pid, _ in below(server) if pid not in killed]
        for pid in workers[:1]:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
                killed.append(pid)
        time.sleep(0.01)
    return killed


ANSWERED_BYTES = 3000
"""After so many bytes of answers an adapter is killed: some vectors are answered, and most are not."""


def written(process: int) -> int:
    """How many bytes a process has written."""
    try:
        return int(Path("/proc", str(process), "io").read_text().split("wchar:")[1].split()[0])
    except (OSError, IndexError):
        return 0


def test_an_adapter_that_is_killed_is_started_again_and_passes_nothing_it_did_not_answer(tmp_path: Path) -> None:
    adapter = shlex.join([sys.executable, "-m", "conformance.adapters.reference"])
    answers, report = tmp_path / "results.jsonl", tmp_path / "run.json"
    process = started("run", "--adapter", f"cmd:{adapter}", "--suite", "hashing", "--suite", "transforms", "--results",
                      str(answers), "--report", f"json:{report}")  # fmt: skip
    killed: list[int] = []
    while process.poll() is None and not killed:
        for pid, words in below(process.pid):
            if "adapters.reference" in words and written(pid) > ANSWERED_BYTES:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
                    killed.append(pid)
        time.sleep(0.002)
    out, err = process.communicate(timeout=120)
    assert len(killed) == 1
    assert process.returncode == 1, out + err
    results = [row for row in map(json.loads, answers.read_text().splitlines()) if "status" in row]
    counted = Counter(row["status"] for row in results)
    assert counted["crashed"] >= 1
    assert counted["passed"] == len(results) - counted["crashed"]
    assert "was killed by SIGKILL" in out
    assert "not conformant" in out
    asked = json.loads(report.read_text())
    assert asked["report"] == 1

"""Processes that are killed while they work, as the kernel does when memory is short."""

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
from faulty import below, command, only_table, started, with_position_deletes
from reword import without_messages

FILES = 200


@pytest.fixture(scope="module")
def location(tmp_path_factory: pytest.TempPathFactory) -> str:
    return with_position_deletes(str(tmp_path_factory.mktemp("killed") / "t"), FILES)


@pytest.fixture(scope="module")
def undisturbed(location: str) -> object:
    done = command("validate", location, "--level", "rows", "--format", "json", "--workers", "2")
    assert done.returncode == 0, done.stderr
    return {key: value for key, value in only_table(done.stdout).items() if key != "seconds"}


@pytest.mark.parametrize("times", [1, 3])
def test_workers_that_are_killed_change_no_finding(times: int, location: str, undisturbed: object) -> None:
    process = started("validate", location, "--level", "rows", "--format", "json", "--workers", "2")
    killed: list[int] = []
    killer = threading.Thread(target=lambda: killed.extend(kill_workers(process, times)))
    killer.start()
    out, err = process.communicate(timeout=300)
    killer.join()
    assert killed
    assert process.returncode == 0, err
    found = {key: value for key, value in only_table(out).items() if key != "seconds"}
    assert without_messages(found) == without_messages(undisturbed)


def kill_workers(process: subprocess.Popen[str], times: int) -> list[int]:
    """Kill the processes that open files, as they come: forks of the command, which starts no others."""
    killed: list[int] = []
    while process.poll() is None and len(killed) < times:
        workers = [pid for pid, _ in below(process.pid) if pid not in killed]
        for pid in workers[:1]:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
                killed.append(pid)
        time.sleep(0.01)
    return killed


KILLED_AT_A_TASK = """
import multiprocessing, os, signal, sys
from multiprocessing.connection import Connection
from conformance.cli import main
send, when, sent = Connection.send, sys.argv[1], 0
def kill():
    for process in multiprocessing.active_children():
        os.kill(process.pid, signal.SIGKILL)
        process.join()
def send_and_kill(connection, task):
    global sent
    sent += 1
    if when == "before" and sent == 3:
        kill()
    send(connection, task)
    if when == "after" and sent == 3:
        kill()
Connection.send = send_and_kill
status = main(sys.argv[2:])
assert sent > 3
sys.exit(status)
"""
"""The command, in which all workers are killed right before or after one of them is given the third task."""


@pytest.mark.parametrize("when", ["before", "after"])
def test_workers_that_are_killed_as_they_are_given_a_task_change_no_finding(
    when: str, location: str, undisturbed: object
) -> None:
    arguments = [when, "validate", location, "--level", "rows", "--format", "json", "--workers", "2"]
    done = subprocess.run(
        [sys.executable, "-c", KILLED_AT_A_TASK, *arguments], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    found = {key: value for key, value in only_table(done.stdout).items() if key != "seconds"}
    assert without_messages(found) == without_messages(undisturbed)


ANSWERED = 20
"""Answers after which the first process is killed: some vectors are answered, and most are not."""

KILLED = f"""
import os, pathlib, signal, sys
from conformance.adapter_sdk import serve
from conformance.engines.reference import adapter as reference
encoded, marker, answers = serve.encode_answer, pathlib.Path(sys.argv[1]), 0
def encode_answer(answer):
    global answers
    answers += 1
    if answers > {ANSWERED} and not marker.exists():
        marker.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return encoded(answer)
serve.encode_answer = encode_answer
reference.main()
"""
"""The reference as an adapter whose first process is killed, at a moment that no other process has to catch."""


def test_an_adapter_that_is_killed_is_started_again_and_passes_nothing_it_did_not_answer(tmp_path: Path) -> None:
    (tmp_path / "killed.py").write_text(KILLED, encoding="utf-8")
    adapter = shlex.join([sys.executable, str(tmp_path / "killed.py"), str(tmp_path / "marker")])
    answers, report = tmp_path / "results.jsonl", tmp_path / "run.json"
    process = started(
        "run",
        "--adapter",
        f"cmd:{adapter}",
        "--suite",
        "hashing",
        "--suite",
        "transforms",
        "--results",
        str(answers),
        "--report",
        f"json:{report}",
    )
    out, err = process.communicate(timeout=300)
    assert (tmp_path / "marker").exists()
    assert process.returncode == 1, out + err
    results = [row for row in map(json.loads, answers.read_text().splitlines()) if "status" in row]
    counted = Counter(row["status"] for row in results)
    assert counted == {"crashed": 1, "passed": len(results) - 1}
    assert [row["status"] for row in results].index("crashed") == ANSWERED - 1  # the first answer is to the start
    assert "was killed by SIGKILL" in out
    assert "not conformant" in out
    asked = json.loads(report.read_text())
    assert asked["report"] == 1

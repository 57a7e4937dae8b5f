"""When the processes that open files are forks of this process, and that they end with it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from conformance.vectors.golden_tables import materialize
from tools.store_environment import store_environment

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere they are forks of a server")


def printed(program: str, *arguments: str) -> list[str]:
    """Run a program in a process without other threads; return the lines that it prints."""
    environment = {**os.environ, **store_environment("http://127.0.0.1:9")}
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], env=environment, capture_output=True, text=True, timeout=120
    )
    assert done.stderr == ""
    return done.stdout.splitlines()


CHANGING = """
import threading
from conformance.table_io.file_access import file_system
from conformance.validator.process_isolation import can_fork
from conformance.validator.stall_timeout import run_with_stall_timeout
print("a file was read:", run_with_stall_timeout(60, "a file", lambda: True) and can_fork())
gate = threading.Event()
thread = threading.Thread(target=gate.wait)
thread.start()
print("another thread:", can_fork())
gate.set()
thread.join()
print("it ended:", can_fork())
file_system("s3://bucket/key")
print("a store was opened:", can_fork())
"""


def test_only_a_process_with_one_thread_and_no_store_is_forked() -> None:
    assert printed(CHANGING) == [
        "a file was read: True",
        "another thread: False",
        "it ended: True",
        "a store was opened: False",
    ]


WITHOUT_SERVER = """
import sys
from multiprocessing import forkserver
from conformance.cli import main
def fails():
    raise AssertionError("the server was started")
forkserver.ensure_running = fails
sys.exit(main(["validate", sys.argv[1], "--level", "rows", "--format", "jsonl"]))
"""


def test_a_local_table_is_checked_without_a_server(tmp_path: Path) -> None:
    materialize(["arrow-deletes-dictionary"], place=tmp_path)
    lines = printed(WITHOUT_SERVER, str(tmp_path / "arrow-deletes-dictionary"))
    assert not [line for line in lines if '"severity": "error"' in line or "server" in line]


KILLED = """
import os, pickle, signal
from conformance.validator.process_isolation import _Worker, can_fork
assert can_fork()
packed = pickle.dumps((None, print))
first = _Worker(packed, [])
second = _Worker(packed, [first.connection])
print(first._process.pid, second._process.pid, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_forks_end_when_the_process_is_killed() -> None:
    (line,) = printed(KILLED)
    left = [Path("/proc", pid) for pid in line.split()]
    assert len(left) == 2
    deadline = time.monotonic() + 60
    while left and time.monotonic() < deadline:
        left = [one for one in left if one.exists() and ") Z" not in (one / "stat").read_text()]
        time.sleep(0.01)
    assert left == []

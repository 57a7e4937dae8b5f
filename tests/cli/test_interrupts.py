"""Long work at a terminal reports its progress; an interrupt, sent to all its processes, ends it with one line."""

from __future__ import annotations

import os
import pty
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

LONG = {
    "run": ["run", "--adapter", f"{sys.executable} -m conformance.engines.reference.adapter", "--max-in-flight", "1"],
    "explore": ["race", "explore", "--faults", "1", "--processes", "2"],
    "filter-pushdown": ["filter-pushdown", "--examples", "100000", "--seed", "1"],
}


def ended(process: subprocess.Popen[bytes], terminal: int) -> str:
    """Interrupt a command and all its processes, wait for its end, and return its terminal output since then."""
    os.killpg(process.pid, signal.SIGINT)
    written = b""
    while True:
        try:
            piece = os.read(terminal, 65536)
        except OSError:  # the last process that had it open has ended
            break
        written += piece
    process.wait(timeout=300)
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)
    return written.decode()


@pytest.mark.parametrize("name", LONG)
def test_progress_is_reported_and_an_interrupt_ends_all_processes_in_one_line(tmp_path: Path, name: str) -> None:
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "conformance", *LONG[name]]
    with subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=theirs, start_new_session=True
    ) as process:
        os.close(theirs)
        output = ""
        while not (seen := re.findall(r"(\d+) of \d+", output)) or int(seen[-1]) < 2:
            output += os.read(ours, 65536).decode()
        output += ended(process, ours)
        assert process.stdout is not None
        report = process.stdout.read().decode()
        assert report.endswith("the run is not complete\n") if name == "run" else report == ""
    os.close(ours)
    assert process.returncode == 130, output
    lines = [line for line in re.split(r"[\r\n]|\033\[K", output) if line and " of " not in line]
    assert lines == ["iceberg-conformance: interrupted"]


def test_an_interrupted_stress_leaves_no_process_behind(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "conformance", "race", "stress", "--processes", "3", "--seconds", "120"]
    with subprocess.Popen(
        [*command, "--keep", str(tmp_path / "kept")],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=theirs,
        start_new_session=True,
    ) as process:
        os.close(theirs)
        while len(list(tmp_path.glob("kept/journals/*.jsonl"))) < 3:
            assert process.poll() is None
            time.sleep(0.01)
        written = ended(process, ours)
    os.close(ours)
    assert process.returncode == 130
    assert written.split("\r\n") == ["iceberg-conformance: interrupted", ""]


def test_an_interrupt_while_the_command_line_is_imported_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "cyclopts.py").write_text("raise KeyboardInterrupt\n")
    path = os.pathsep.join([str(tmp_path), str(Path(__file__).resolve().parents[2])])
    done = subprocess.run(
        [sys.executable, "-m", "conformance", "doctor"],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "iceberg-conformance: interrupted\n")

"""Validation in the environment of the Spark engine, for interpreters without PySpark.

The parent process starts this module in that environment, and writes a line of JSON to its standard input for each
table; the module writes the report of the table to a file.
"""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import queue
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any, NoReturn, Self

import attrs

from conformance.core import drives
from conformance.core.failures import NotExamined, UsageError
from conformance.core.lazy_imports import lazy_imports
from conformance.core.time_budget import FILE_SECONDS
from conformance.table_io.encryption import KeyFile, parse_key_file
from conformance.validator.context import Level
from conformance.validator.run import SnapshotSelection, TableReport
from conformance.validator.table_root import UnreadableTable

with lazy_imports():
    from conformance import engine_setup
    from conformance.validator import run, spark


ENGINE = "spark-reference"


SHUTDOWN_TIMEOUT_S = 60
"""How many seconds Spark may take to write its findings after an interrupt."""

POLL_SECONDS = 0.05
LAST_REQUEST = "end"
"""The last request."""


class RemoteSpark:
    """Checks tables with Spark in a process of Spark's environment, which starts with the first table."""

    def __init__(
        self,
        level: Level,
        master: str | None = None,
        file_seconds: float = FILE_SECONDS,
        keys: KeyFile | None = None,
    ) -> None:
        """Start nothing yet.

        Args:
            level: how much of a table is checked.
            master: the Spark master; ``local[*]`` by default.
            file_seconds: the time limit for a file without progress, in seconds.
            keys: the master keys of encrypted tables.
        """
        self._level = level
        self._keys = None if keys is None else {key_id: key.hex() for key_id, key in keys.keys.items()}
        self._master = master
        self._file_seconds = file_seconds
        self._open = contextlib.ExitStack()
        self._folder = Path()
        self._process: subprocess.Popen[bytes] | None = None
        self._asked = 0
        self._interrupted = False

    def __enter__(self) -> Self:
        """Return this object."""
        return self

    def __exit__(self, *error: object) -> None:
        """End the process, and the JVM with it."""
        self._open.close()

    def check(self, location: str, snapshots: SnapshotSelection) -> TableReport:
        """Check a table.

        Args:
            location: the table.
            snapshots: the snapshots of the table to check.

        Raises:
            NotExamined: the engine is not installed, Spark does not start, or the table cannot be read.
            UsageError: the table does not have the snapshot, branch or tag.
            KeyboardInterrupt: the check was interrupted before it found anything.
        """
        process = self._start_process()
        assert process.stdin is not None
        self._asked += 1
        answered = self._folder / f"{self._asked}.pickle"
        request = {
            "location": location,
            "snapshots": attrs.astuple(snapshots),
            "answer": str(answered),
            "keys": self._keys,  # not in the command line, which every user of the machine can see
        }
        try:
            with contextlib.suppress(BrokenPipeError):  # then there is no answer
                process.stdin.write(json.dumps(request).encode() + b"\n")
                process.stdin.flush()
            while process.poll() is None and not answered.exists():
                time.sleep(POLL_SECONDS)
        except KeyboardInterrupt:
            self._interrupted = True
            process.send_signal(signal.SIGINT)
            until = time.monotonic() + SHUTDOWN_TIMEOUT_S
            while process.poll() is None and not answered.exists() and time.monotonic() < until:
                time.sleep(POLL_SECONDS)
            if not answered.exists():
                raise
        if not answered.exists():
            reason = find_reason((self._folder / "log").read_text(encoding="utf-8", errors="replace"))
            self._open.close()  # the next table starts a new process
            raise NotExamined(f"Spark did not run: {reason or f'exit status {process.returncode}'}")
        found: TableReport | Exception = pickle.loads(answered.read_bytes())  # noqa: S301 - written by our own process
        answered.unlink()
        if isinstance(found, Exception):
            raise found
        return found

    def _start_process(self) -> subprocess.Popen[bytes]:
        """Start the process in a separate group, as an interrupt of the terminal would end the JVM before it answers.

        It ends when its standard input is closed, as after the end of this process.
        """
        if self._process is not None:
            return self._process
        if drives.WINDOWS:
            raise NotExamined("--engine spark: Spark is started on POSIX systems only, not on Windows")
        try:
            launched = engine_setup.launch(ENGINE)
        except engine_setup.EngineError as error:
            extra = "pip install 'iceberg-conformance[spark]'"
            raise NotExamined(f"--engine spark: {error}, or `{extra}`") from None
        self._folder = Path(self._open.enter_context(tempfile.TemporaryDirectory(prefix="iceberg-conformance-spark-")))
        settings = {"level": self._level.value, "master": self._master, "file_seconds": self._file_seconds}
        self._process = subprocess.Popen(
            [launched.command[0], "-m", "conformance.validator.remote", json.dumps(settings)],
            env=launched.env,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=self._open.enter_context((self._folder / "log").open("wb")),
            process_group=0,
        )
        self._open.callback(self._end, self._process)
        return self._process

    def _end(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin is not None
        with contextlib.suppress(BrokenPipeError, subprocess.TimeoutExpired):
            if not self._interrupted:
                process.stdin.write(f"{json.dumps(LAST_REQUEST)}\n".encode())
                process.stdin.flush()
                process.wait(SHUTDOWN_TIMEOUT_S)
        if process.poll() is None or process.returncode:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # the JVM too
            process.wait()
        with contextlib.suppress(BrokenPipeError):
            process.stdin.close()
        self._process = None


_REASONS = (
    re.compile(r"^Caused by: (.+)", re.MULTILINE),
    re.compile(r"^Exception in thread \S+ (.+)", re.MULTILINE),
    re.compile(r"^[: ]*([\w.$]*(?:Exception|Error): .+)", re.MULTILINE),
    re.compile(r"(\S.*)"),
)
"""Lines of a log that name the reason of a failure, the most specific first. The interpreter, which ends because the
JVM did not start, prints more after these lines."""


def find_reason(log: str) -> str:
    """Return the line of the log of a failed process that most likely names the reason; empty if the log is empty."""
    found = (pattern.findall(log) for pattern in _REASONS)
    return next((lines[-1].strip() for lines in found if lines), "")


def _requests() -> queue.SimpleQueue[bytes]:
    """Return the queue of lines from standard input; the process ends with the input, even in the middle of a check."""
    requests: queue.SimpleQueue[bytes] = queue.SimpleQueue()

    def read() -> None:
        for line in sys.stdin.buffer:
            requests.put(line)
        os._exit(1)

    threading.Thread(target=read, daemon=True).start()
    return requests


def main(settings: dict[str, Any]) -> NoReturn:
    """Answer requests with Spark in this process.

    Args:
        settings: the level, the master, and the time limit for a file without progress.
    """
    requests = _requests()
    engine = spark.SparkBackend(settings["master"])
    while (request := json.loads(requests.get())) != LAST_REQUEST:
        try:
            answer: TableReport | Exception = run.validate(
                request["location"],
                Level(settings["level"]),
                engine,
                SnapshotSelection(*request["snapshots"]),
                settings["file_seconds"],
                None if request["keys"] is None else parse_key_file(request["keys"]),
            )
        except (UnreadableTable, UsageError) as error:
            answer = error
        except NotExamined as error:
            answer = NotExamined(
                str(error)
            )  # a subclass may not be picklable, as its arguments are not just the message
        answered = Path(request["answer"])
        part = answered.with_suffix(".part")
        part.write_bytes(pickle.dumps(answer))
        part.replace(answered)
    engine.close()
    os._exit(0)  # without waiting for a thread that waits for a file


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))

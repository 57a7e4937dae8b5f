"""Validation in the environment of the Spark engine, for interpreters that have no PySpark.

The parent writes what is asked to a file and starts this module there; the reports come back in another file.
"""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from conformance.core.failures import NotExamined, UsageError
from conformance.core.lazy_imports import lazy_imports
from conformance.validator.context import Level
from conformance.validator.patience import FILE_SECONDS
from conformance.validator.root import Unreadable
from conformance.validator.run import Snapshots, TableReport

with lazy_imports():
    from conformance import engine_setup
    from conformance.validator import run, spark


ENGINE = "spark-reference"


ENDING_SECONDS = 60
"""How long Spark may take to end after an interrupt, with what it found."""


def validate_there(
    location: str, level: Level, snapshots: Snapshots, master: str | None = None, file_seconds: float = FILE_SECONDS
) -> TableReport:
    """Check a table with the installed Spark engine.

    Raises:
        NotExamined: the engine is not installed, Spark does not start, or the table cannot be read.
        UsageError: the table does not have the snapshot, branch or tag.
    """
    (answer,) = validate_all_there([location], level, snapshots, master, file_seconds)
    if isinstance(answer, str):
        raise Unreadable(answer)
    return answer


def validate_all_there(
    locations: Sequence[str],
    level: Level,
    snapshots: Snapshots,
    master: str | None = None,
    file_seconds: float = FILE_SECONDS,
) -> list[TableReport | str]:
    """Check tables with one start of Spark: a report of each, or why it cannot be read.

    Raises:
        NotExamined: the engine is not installed, or Spark does not start.
        UsageError: a table does not have the snapshot, branch or tag.
    """
    try:
        launched = engine_setup.launch(ENGINE)
    except engine_setup.EngineError as error:
        raise NotExamined(str(error)) from None
    with tempfile.TemporaryDirectory(prefix="iceberg-conformance-spark-") as folder:
        asked, answered = Path(folder, "asked.json"), Path(folder, "answered.pickle")
        request = {
            "locations": list(locations),
            "level": level.value,
            "snapshots": attrs.astuple(snapshots),
            "master": master,
            "file_seconds": file_seconds,
        }
        asked.write_text(json.dumps(request), encoding="utf-8")
        command = [launched.command[0], "-m", "conformance.validator.remote", str(asked), str(answered)]
        status, told = _ran(command, launched.env, answered)
        if not answered.exists():
            raise NotExamined(f"Spark did not run: {told[-1] if told else f'exit status {status}'}")
        found: Any = pickle.loads(answered.read_bytes())  # noqa: S301 - written by our own process
    if isinstance(found, UsageError):
        raise found
    answers: list[TableReport | str] = found
    return answers


def _ran(command: Sequence[str], env: Mapping[str, str], answered: Path) -> tuple[int, list[str]]:
    """Run a command: its exit status, and the lines that it wrote to standard error.

    An interrupt of the terminal would end the JVM, so that the command runs in a group of its own, and is told of it by
    itself: it answers with what it found until then. It ends when its standard input does, as that of an orphan.

    Raises:
        KeyboardInterrupt: it was interrupted before there was anything to answer.
    """
    log = answered.with_suffix(".log")
    with (
        log.open("wb") as errors,
        subprocess.Popen(
            command, env=env, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=errors, process_group=0
        ) as process,
    ):
        try:
            process.wait()
        except KeyboardInterrupt:
            process.send_signal(signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(ENDING_SECONDS)
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # the JVM too
            if not answered.exists():
                raise KeyboardInterrupt from None
    return process.returncode, log.read_bytes().decode("utf-8", "replace").strip().splitlines()


def _end_with_input() -> None:
    while os.read(0, 1 << 10):
        pass
    os._exit(1)


def main(asked: Path, answered: Path) -> None:
    """Answer a request with Spark in this process."""
    threading.Thread(target=_end_with_input, daemon=True).start()
    request = json.loads(asked.read_text(encoding="utf-8"))
    engine = spark.Spark(request["master"])
    answers: list[TableReport | str] = []
    failed: UsageError | None = None
    try:
        for location in request["locations"]:
            try:
                answer: TableReport | str = run.validate(
                    location, Level(request["level"]), engine, Snapshots(*request["snapshots"]), request["file_seconds"]
                )
            except Unreadable as error:
                answer = str(error)
            answers.append(answer)
            if isinstance(answer, TableReport) and not answer.complete and answer.reason is None:
                break
    except UsageError as error:
        failed = error
    finally:
        engine.close()
    part = answered.with_suffix(".part")
    part.write_bytes(pickle.dumps(failed or answers))
    part.replace(answered)
    os._exit(0)  # not held up by a thread that waits for a file, nor by a JVM that is not to be asked any more


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))

"""Validation in the environment of the Spark engine, for interpreters that have no PySpark.

The parent writes what is asked to a file and starts this module there; the reports come back in another file.
"""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from conformance.failures import NotExamined, UsageError
from conformance.validate.context import Level
from conformance.validate.run import Snapshots, TableReport, Unreadable

ENGINE = "spark-reference"


def validate_there(location: str, level: Level, snapshots: Snapshots, master: str | None = None) -> TableReport:
    """Check a table with the installed Spark engine.

    Raises:
        NotExamined: the engine is not installed, Spark does not start, or the table cannot be read.
        UsageError: the table does not have the snapshot.
    """
    (answer,) = validate_all_there([location], level, snapshots, master)
    if isinstance(answer, str):
        raise Unreadable(answer)
    return answer


def validate_all_there(
    locations: Sequence[str], level: Level, snapshots: Snapshots, master: str | None = None
) -> list[TableReport | str]:
    """Check tables with one start of Spark: a report of each, or why it cannot be read.

    Raises:
        NotExamined: the engine is not installed, or Spark does not start.
        UsageError: a table does not have the snapshot.
    """
    from conformance.engines import EngineError, launch

    try:
        launched = launch(ENGINE)
    except EngineError as error:
        raise NotExamined(str(error)) from None
    with tempfile.TemporaryDirectory(prefix="iceberg-conformance-spark-") as folder:
        asked, answered = Path(folder, "asked.json"), Path(folder, "answered.pickle")
        request = {
            "locations": list(locations), "level": level.value, "snapshots": [snapshots.kind, snapshots.snapshot_id],
            "master": master,
        }  # fmt: skip
        asked.write_text(json.dumps(request), encoding="utf-8")
        command = [launched.command[0], "-m", "conformance.validate.remote", str(asked), str(answered)]
        done = subprocess.run(command, env=launched.env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
        if not answered.exists():
            told = done.stderr.decode("utf-8", "replace").strip().splitlines()
            raise NotExamined(f"Spark did not run: {told[-1] if told else f'exit status {done.returncode}'}")
        found: Any = pickle.loads(answered.read_bytes())  # noqa: S301 - written by our own process
    if isinstance(found, UsageError):
        raise found
    answers: list[TableReport | str] = found
    return answers


def main(asked: Path, answered: Path) -> None:
    """Answer a request with Spark in this process."""
    from conformance.validate.run import validate
    from conformance.validate.spark import Spark

    request = json.loads(asked.read_text(encoding="utf-8"))
    engine = Spark(request["master"])
    answers: list[TableReport | str] = []
    failed: UsageError | None = None
    try:
        for location in request["locations"]:
            try:
                answer: TableReport | str = validate(
                    location, Level(request["level"]), engine, Snapshots(*request["snapshots"])
                )  # fmt: skip
            except Unreadable as error:
                answer = str(error)
            answers.append(answer)
    except UsageError as error:
        failed = error
    finally:
        engine.close()
    part = answered.with_suffix(".part")
    part.write_bytes(pickle.dumps(failed or answers))
    part.replace(answered)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))

"""Spark executors that are killed while they work: Spark repeats their tasks."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from clusters import installed
from faulty import below, with_position_deletes
from reword import without_messages

from conformance.reports.validation import finding_json
from conformance.validator.context import Level
from conformance.validator.local import LocalBackend
from conformance.validator.run import validate

pytestmark = pytest.mark.engine

MASTER = "local-cluster[1,1,512]"
"""A master and a worker within the driver; the executor is a separate process."""

FILES = 8

FAILURES = 2
"""How often Spark tries a task; it gives up the job behind that."""

PROGRAM = """
import json, os, sys
from conformance.table_io.spark import read_dataframe
from conformance.validator.context import Level
from conformance.reports.validation import finding_json
from conformance.validator.run import validate
from conformance.validator.spark import SparkBackend
master, location = sys.argv[1:]
engine = SparkBackend(master)
def found():
    report = validate(location, Level.ROWS, engine)
    return [report.complete, report.reason, [finding_json(one) for one in report.findings]]
def rows():
    return sorted(row.id for row in read_dataframe(engine.session, location, select=["id"]).collect())
for number, work in enumerate((found, found, rows)):
    with open(f"answer-{number}.part", "w") as file:
        json.dump(work(), file)
    os.rename(file.name, f"answer-{number}")
engine.close()
"""
"""Validates twice, and reads; each answer is a file."""


@pytest.fixture(scope="module")
def location(tmp_path_factory: pytest.TempPathFactory) -> str:
    return with_position_deletes(str(tmp_path_factory.mktemp("executors") / "t"), FILES)


def executors(driver: int) -> Iterator[tuple[int, int]]:
    """The executors below a driver, each with the number of its Python processes."""
    for pid, words in below(driver):
        if "CoarseGrainedExecutorBackend" in words and "java" in words:
            yield pid, sum("pyspark" in of_it for _, of_it in below(pid))


def killing(location: str, folder: Path) -> tuple[list[Any], int]:
    """Validate while every executor is killed that begins with tasks, then while one is, and read.

    Returns:
        The three answers, and how many executors were killed in all.
    """
    spark = installed()
    settings = {
        **spark.settings,
        "spark.driver.memory": "512m",
        "spark.executor.memory": "512m",
        "spark.task.maxFailures": f"{FAILURES}",
    }
    given = shlex.join(word for name, value in settings.items() for word in ("--conf", f"{name}={value}"))
    env = {
        **spark.env,
        "SPARK_SCALA_VERSION": "2.13",
        "SPARK_WORKER_DIR": str(folder),
        "PYSPARK_SUBMIT_ARGS": f"{given} pyspark-shell",
    }
    log = folder / "driver.log"
    with log.open("wb") as error:
        process = subprocess.Popen(
            [spark.python, "-c", PROGRAM, MASTER, location], env=env, stdout=error, stderr=error, cwd=folder
        )
        killed, last = set[int](), False
        until = time.monotonic() + 900
        try:
            while process.poll() is None and time.monotonic() < until:
                given_up = (folder / "answer-0").exists()
                for pid, workers in () if last else executors(process.pid):
                    if workers and pid not in killed:  # it has begun with tasks
                        with suppress(ProcessLookupError):
                            os.kill(pid, signal.SIGKILL)
                            killed.add(pid)
                            last = given_up
                time.sleep(0.02)
            assert process.poll() == 0, log.read_text()[-3000:]
        finally:
            process.kill()
            process.wait()
    return [json.loads((folder / f"answer-{number}").read_text()) for number in range(3)], len(killed)


@pytest.fixture(scope="module")
def answered(location: str, tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Any], int]:
    return killing(location, tmp_path_factory.mktemp("driver"))


def test_work_whose_executors_are_killed_again_and_again_ends_and_says_so(answered: tuple[list[Any], int]) -> None:
    """Nothing waits for ever, and a partial result is not presented as complete."""
    ((complete, reason, _), *_), killed = answered
    assert killed == FAILURES + 1
    assert not complete
    assert re.match(r"Spark failed: .*SparkException", reason)


def test_tasks_of_a_killed_executor_are_done_again(location: str, answered: tuple[list[Any], int]) -> None:
    here = [finding_json(one) for one in validate(location, Level.ROWS, LocalBackend()).findings]
    (_, found, rows), _ = answered
    assert without_messages(found) == [True, None, without_messages(json.loads(json.dumps(here)))]
    assert rows == sorted([number for number in range(500) if number not in (1, 2)] * FILES)

"""Executors of Spark that are killed while they work: Spark does their tasks again."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from faulty import below, with_position_deletes

from conformance.engines import launch
from conformance.validate.context import Level
from conformance.validate.local import Local
from conformance.validate.rendering import finding_json
from conformance.validate.run import validate

pytestmark = pytest.mark.engine

MASTER = "local-cluster[1,1,512]"
"""A master and a worker within the driver; the executor is a process of its own."""

FILES = 8

PROGRAM = """
import json, sys
from conformance.pipeline.spark import collect_arrow, read_dataframe
from conformance.validate.context import Level
from conformance.validate.rendering import finding_json
from conformance.validate.run import validate
from conformance.validate.spark import Spark
master, location = sys.argv[1:]
engine = Spark(master)
print("ready", flush=True)
def attempt(work):
    try:
        return work()
    except Exception as error:
        return type(error).__name__
def found():
    return [finding_json(one) for one in validate(location, Level.ROWS, engine).findings]
def rows():
    return sorted(collect_arrow(read_dataframe(engine.session, location)).column("id").to_pylist())
answers = {"found": attempt(found), "rows": attempt(rows)}
print(json.dumps(answers), flush=True)
engine.close()
"""


@pytest.fixture(scope="module")
def location(tmp_path_factory: pytest.TempPathFactory) -> str:
    return with_position_deletes(str(tmp_path_factory.mktemp("executors") / "t"), FILES)


def executors(driver: int) -> Iterator[tuple[int, int]]:
    """The executors below a driver, each with the number of its Python processes."""
    for pid, words in below(driver):
        if "CoarseGrainedExecutorBackend" in words and "java" in words:
            yield pid, sum("pyspark" in of_it for _, of_it in below(pid))


def run(location: str, kills: int, folder: Path, **conf: str) -> tuple[dict[str, object], int]:
    """Validate and read while executors are killed; what came of it, and how many were killed."""
    launched = launch("spark-reference")
    python, env = launched.command[0], dict(launched.env)
    home = subprocess.run(
        [python, "-c", "import os, pyspark; print(os.path.dirname(pyspark.__file__))"], env=env, capture_output=True,
        text=True, check=True,
    ).stdout.strip()  # fmt: skip
    settings = {"spark.driver.memory": "512m", "spark.driver.host": "127.0.0.1", "spark.executor.memory": "512m",
                "spark.executorEnv.PYTHONPATH": env["PYTHONPATH"], **conf}  # fmt: skip
    given = " ".join(f"--conf {name}={value}" for name, value in settings.items())
    env |= {"SPARK_HOME": home, "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": python, "SPARK_SCALA_VERSION": "2.13",
            "SPARK_WORKER_DIR": str(folder), "PYSPARK_SUBMIT_ARGS": f"{given} pyspark-shell"}  # fmt: skip
    log = folder / "driver.log"
    with log.open("wb") as errors:
        process = subprocess.Popen(
            [python, "-c", PROGRAM, MASTER, location], env=env, stdout=subprocess.PIPE, stderr=errors, text=True,
            cwd=folder,
        )  # fmt: skip
        killed = set[int]()
        until = time.monotonic() + 200
        while process.poll() is None and len(killed) < kills and time.monotonic() < until:
            for pid, workers in executors(process.pid):
                if workers and pid not in killed:  # it has begun with tasks
                    with suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
                        killed.add(pid)
            time.sleep(0.02)
        try:
            out, _ = process.communicate(timeout=200)
        finally:
            process.kill()
    lines = out.splitlines()
    assert lines[:1] == ["ready"], log.read_text()[-3000:]
    answers: dict[str, object] = json.loads(lines[-1])
    return answers, len(killed)


def test_tasks_of_a_killed_executor_are_done_again(location: str, tmp_path: Path) -> None:
    here = [finding_json(one) for one in validate(location, Level.ROWS, Local()).findings]
    answers, killed = run(location, 1, tmp_path)
    assert killed == 1
    assert answers["found"] == json.loads(json.dumps(here))
    assert answers["rows"] == sorted([number for number in range(500) if number not in (1, 2)] * FILES)

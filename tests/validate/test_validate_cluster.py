"""Spark's standalone cluster, by `spark-submit` as `docs/validate.md` tells it: it finds what this machine finds."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import conformance
from conformance.engines import launch
from conformance.golden_tables import PLACE, materialize
from conformance.validate.context import Level
from conformance.validate.local import Local
from conformance.validate.rendering import finding_json
from conformance.validate.run import validate

pytestmark = pytest.mark.engine

TABLES = ("row-lineage-parquet", "broken-dv-checksum")
HOST = "127.0.0.1"


@contextlib.contextmanager
def running(command: list[str], env: dict[str, str], log: Path) -> Iterator[None]:
    with log.open("wb") as out:
        process = subprocess.Popen(command, env=env, stdout=out, stderr=subprocess.STDOUT)
        try:
            yield
        finally:
            process.terminate()
            process.wait(60)


def answers(port: int, seconds: float = 120) -> bool:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        with contextlib.suppress(OSError), socket.create_connection((HOST, port), timeout=1):
            return True
        time.sleep(0.2)
    return False


def test_a_standalone_cluster_finds_what_this_machine_finds(tmp_path: Path) -> None:
    materialize(TABLES)
    launched = launch("spark-reference")
    python, env = launched.command[0], dict(launched.env)
    home = subprocess.run(
        [python, "-c", "import os, pyspark; print(os.path.dirname(pyspark.__file__))"], env=env, capture_output=True,
        text=True, check=True,
    ).stdout.strip()  # fmt: skip
    env |= {"SPARK_HOME": home, "SPARK_LOCAL_IP": HOST, "SPARK_DAEMON_MEMORY": "256m"}
    with socket.socket() as free:
        free.bind((HOST, 0))
        port = free.getsockname()[1]
    master, deploy = f"spark://{HOST}:{port}", "org.apache.spark.deploy"
    of_master = [f"{home}/bin/spark-class", f"{deploy}.master.Master", "--host", HOST, "--port", str(port)]
    of_worker = [f"{home}/bin/spark-class", f"{deploy}.worker.Worker", "--host", HOST, "--cores", "1", "--memory", "1g"]
    kit = env["PYTHONPATH"]
    submit = [
        f"{home}/bin/spark-submit", "--master", master, "--driver-memory", "512m", "--executor-memory", "512m",
        "--conf", f"spark.driver.host={HOST}", "--conf", f"spark.executorEnv.PYTHONPATH={kit}",
        str(Path(conformance.__file__).with_name("__main__.py")), "validate", "--engine", "spark", "--level", "rows",
        "--format", "json", *(str(PLACE / name) for name in TABLES),
    ]  # fmt: skip
    with running([*of_master, "--webui-port", "0"], env, tmp_path / "master.log"):
        assert answers(port), (tmp_path / "master.log").read_text()[-2000:]
        work = ["--webui-port", "0", "--work-dir", str(tmp_path / "work"), master]
        with running([*of_worker, *work], env, tmp_path / "worker.log"):
            done = subprocess.run(
                submit, env={**env, "PYSPARK_PYTHON": python, "PYSPARK_DRIVER_PYTHON": sys.executable},
                capture_output=True, text=True, timeout=900, check=False,
            )  # fmt: skip
    assert done.returncode == 1, done.stderr[-2000:]
    found = {table["location"]: table["findings"] for table in json.loads(done.stdout)["tables"]}
    assert "Connected to Spark cluster" in done.stderr
    for name in TABLES:
        here = validate(str(PLACE / name), Level.ROWS, Local())
        assert here.findings
        assert found[str(PLACE / name)] == json.loads(json.dumps([finding_json(one) for one in here.findings]))
    assert os.listdir(tmp_path / "work")

"""Spark clusters of this machine, for tests: where Spark is, and masters, workers and drivers as processes."""

from __future__ import annotations

import contextlib
import functools
import re
import subprocess
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from attrs import frozen

from conformance.adapter_sdk.spark_settings import JAVA
from conformance.engine_setup import launch

HOST = "127.0.0.1"


@frozen
class Installed:
    """The Spark of the installed engine ``spark-reference``."""

    python: str
    home: str
    env: Mapping[str, str]
    """The environment of its processes: the paths of Spark and of the tool, and local addresses only."""

    @property
    def kit(self) -> str:
        """The path from which executors import the tool."""
        return self.env["PYTHONPATH"]

    @property
    def settings(self) -> dict[str, str]:
        """The settings of every driver."""
        return {
            "spark.driver.host": HOST,
            "spark.executor.extraJavaOptions": JAVA,
            "spark.executorEnv.PYTHONPATH": self.kit,
        }


@functools.cache
def installed() -> Installed:
    """Find the installed Spark; fails if there is none."""
    launched = launch("spark-reference")
    python, env = launched.command[0], dict(launched.env)
    home = subprocess.run(
        [python, "-c", "import os, pyspark; print(os.path.dirname(pyspark.__file__))"],
        env=env,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    return Installed(python, home, {**env, "SPARK_HOME": home, "SPARK_LOCAL_IP": HOST, "PYSPARK_PYTHON": python})


@contextlib.contextmanager
def running(command: list[str], env: Mapping[str, str], log: Path) -> Iterator[None]:
    """Run a process for the block."""
    with log.open("wb") as out:
        process = subprocess.Popen(command, env=dict(env), stdout=out, stderr=subprocess.STDOUT)
        try:
            yield
        finally:
            process.terminate()
            process.wait(300)


def address_in(log: Path, seconds: float = 300) -> str:
    """Return the address that a master prints once it listens."""
    until = time.monotonic() + seconds
    while not (started := re.search(rf"Starting Spark master at (spark://{HOST}:[1-9]\d*)\s", log.read_text())):
        assert time.monotonic() < until, log.read_text()[-2000:]
        time.sleep(0.2)
    return started[1]


@contextlib.contextmanager
def standalone(spark: Installed, folder: Path) -> Iterator[str]:
    """Run a master and a worker with one core, which uses the folder ``work``; yield the master's address."""
    env = {**spark.env, "SPARK_DAEMON_MEMORY": "256m"}
    deploy = "org.apache.spark.deploy"
    of_master = [
        f"{spark.home}/bin/spark-class",
        f"{deploy}.master.Master",
        "--host",
        HOST,
        "--port",
        "0",
        "--webui-port",
        "0",
    ]
    of_worker = [
        f"{spark.home}/bin/spark-class",
        f"{deploy}.worker.Worker",
        "--host",
        HOST,
        "--cores",
        "1",
        "--memory",
        "1g",
        "--webui-port",
        "0",
        "--work-dir",
        str(folder / "work"),
    ]
    with running(of_master, env, folder / "master.log"):
        master = address_in(folder / "master.log")
        with running([*of_worker, master], env, folder / "worker.log"):
            yield master

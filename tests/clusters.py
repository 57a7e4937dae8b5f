"""Spark clusters of this machine, for tests: where Spark is, and masters, workers and drivers as processes."""

from __future__ import annotations

import contextlib
import functools
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from attrs import frozen

from conformance.engines import launch

HOST = "127.0.0.1"


@frozen
class Installed:
    """The Spark that the engine ``spark-reference`` is installed with."""

    python: str
    home: str
    env: Mapping[str, str]
    """For its processes: where Spark is, where the tool is, and that the machine is all there is."""

    @property
    def kit(self) -> str:
        """Where executors import the tool from."""
        return self.env["PYTHONPATH"]

    @property
    def settings(self) -> dict[str, str]:
        """What every driver is started with."""
        return {"spark.driver.host": HOST, "spark.executorEnv.PYTHONPATH": self.kit}


@functools.cache
def installed() -> Installed:
    """Find it; it fails where it is not installed."""
    launched = launch("spark-reference")
    python, env = launched.command[0], dict(launched.env)
    home = subprocess.run(
        [python, "-c", "import os, pyspark; print(os.path.dirname(pyspark.__file__))"], env=env, capture_output=True,
        text=True, check=True,
    ).stdout.strip()  # fmt: skip
    return Installed(python, home, {**env, "SPARK_HOME": home, "SPARK_LOCAL_IP": HOST, "PYSPARK_PYTHON": python})


@contextlib.contextmanager
def running(command: list[str], env: Mapping[str, str], log: Path) -> Iterator[None]:
    """A process that is ended at the end."""
    with log.open("wb") as out:
        process = subprocess.Popen(command, env=dict(env), stdout=out, stderr=subprocess.STDOUT)
        try:
            yield
        finally:
            process.terminate()
            process.wait(60)


def answers(port: int, seconds: float = 120) -> bool:
    """Whether somebody listens before the time is over."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        with contextlib.suppress(OSError), socket.create_connection((HOST, port), timeout=1):
            return True
        time.sleep(0.2)
    return False


@contextlib.contextmanager
def standalone(spark: Installed, folder: Path) -> Iterator[str]:
    """A master and a worker with one core, which works in the folder ``work``; the address of the master."""
    env = {**spark.env, "SPARK_DAEMON_MEMORY": "256m"}
    with socket.socket() as free:
        free.bind((HOST, 0))
        port = free.getsockname()[1]
    master, deploy = f"spark://{HOST}:{port}", "org.apache.spark.deploy"
    of_master = [f"{spark.home}/bin/spark-class", f"{deploy}.master.Master", "--host", HOST, "--port", str(port),
                 "--webui-port", "0"]  # fmt: skip
    of_worker = [f"{spark.home}/bin/spark-class", f"{deploy}.worker.Worker", "--host", HOST, "--cores", "1",
                 "--memory", "1g", "--webui-port", "0", "--work-dir", str(folder / "work"), master]  # fmt: skip
    with running(of_master, env, folder / "master.log"):
        assert answers(port), (folder / "master.log").read_text()[-2000:]
        with running(of_worker, env, folder / "worker.log"):
            yield master

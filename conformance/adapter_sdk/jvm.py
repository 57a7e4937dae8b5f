"""A Java virtual machine with an engine's jars, driven from Python through Py4J."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from typing import Any

from pyspark import SparkConf
from pyspark.java_gateway import launch_gateway

from conformance.core.moved_modules import renamed_member

SHUTDOWN_TIMEOUT_S = 60
"""How long the virtual machine may take to exit, as it removes temporary files."""


class JVM:
    """A running virtual machine with Java's defaults, so that peers of benchmarks get the optimizing compiler."""

    def __init__(self, jars: str) -> None:
        conf = SparkConf().set("spark.driver.extraClassPath", jars).set("spark.driver.memory", "1g")
        self.gateway = launch_gateway(conf)
        self.root = self.gateway.jvm

    def shutdown(self) -> None:
        """Stop the virtual machine."""
        self.gateway.shutdown()
        process = getattr(self.gateway, "proc", None)
        if process is not None:
            process.stdin.close()  # Spark's gateway exits when its standard input is closed
            with contextlib.suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGTERM)
            try:
                process.wait(timeout=SHUTDOWN_TIMEOUT_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


_RENAMED = {"ENDING_SECONDS": "SHUTDOWN_TIMEOUT_S"}


def __getattr__(name: str) -> Any:
    """Return a member by its old name; deprecated for one release."""
    return renamed_member(__name__, _RENAMED, name)

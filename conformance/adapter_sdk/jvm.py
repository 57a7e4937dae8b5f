"""A Java virtual machine with an engine's jars, driven from Python through Py4J."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark import SparkConf
from pyspark.java_gateway import launch_gateway

from conformance.adapter_sdk.serve import Invalid, Unsupported
from conformance.adapter_sdk.spark_settings import JAVA

REFUSALS = (
    "java.lang.IllegalArgumentException",  # with NumberFormatException
    "java.lang.IllegalStateException",  # as Preconditions.checkState throws it
    "java.lang.ArithmeticException",
    "java.time.DateTimeException",  # with DateTimeParseException
    "java.io.UncheckedIOException",  # with Iceberg's RuntimeIOException
    "java.nio.BufferUnderflowException",
    "org.apache.iceberg.exceptions.ValidationException",
)
"""Exceptions that mean that the input was refused, as do their subclasses; all others are bugs."""

NOT_THERE = ("java.lang.UnsupportedOperationException",)

ENDING_SECONDS = 60
"""How long the virtual machine may take to exit, as it removes temporary files."""


class JVM:
    """A running virtual machine."""

    def __init__(self, jars: str) -> None:
        conf = SparkConf().set("spark.driver.extraClassPath", jars).set("spark.driver.memory", "1g")
        conf.set("spark.driver.extraJavaOptions", JAVA)
        self.gateway = launch_gateway(conf)
        self.root = self.gateway.jvm
        java = self.root.java
        self._refusals = [java.lang.Class.forName(name) for name in REFUSALS]
        self._not_there = [java.lang.Class.forName(name) for name in NOT_THERE]

    def array(self, class_: str, *items: Any) -> Any:
        """Create a Java array of Java objects."""
        owner = self.root
        for part in class_.split("."):
            owner = getattr(owner, part)
        made = self.gateway.new_array(owner, len(items))
        for index, item in enumerate(items):
            made[index] = item
        return made

    def class_(self, name: str) -> Any:
        """Return a Java class object, for reflection."""
        return self.root.java.lang.Class.forName(name)

    @contextlib.contextmanager
    def judged(self) -> Any:
        """Convert Java exceptions of the block to `Invalid`, `Unsupported`, or RuntimeError for bugs."""
        try:
            yield
        except Py4JJavaError as error:
            thrown = error.java_exception
            text = str(thrown.toString())
            if any(class_.isInstance(thrown) for class_ in self._refusals):
                raise Invalid(text) from None
            if any(class_.isInstance(thrown) for class_ in self._not_there):
                raise Unsupported(text) from None
            raise RuntimeError(text) from None

    def shutdown(self) -> None:
        """Stop the virtual machine."""
        self.gateway.shutdown()
        process = getattr(self.gateway, "proc", None)
        if process is not None:
            process.stdin.close()  # Spark's gateway exits when its standard input is closed
            with contextlib.suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGTERM)
            try:
                process.wait(timeout=ENDING_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

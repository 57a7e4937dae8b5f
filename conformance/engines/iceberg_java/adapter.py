"""The adapter of Iceberg-Java: a compiled program that calls the library, and Spark if a script needs SQL.

Requests are forwarded to the program unchanged; it is in ``java``, and is compiled when the engine is installed. Only
scripts that write tables are answered here, by a Spark that starts with the first of them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from conformance.adapter_sdk.script_steps import WRITING
from conformance.adapter_sdk.serve import encode_answer, perform, take_standard_output
from conformance.core.lazy_imports import lazy_imports

with lazy_imports():
    from conformance.adapter_sdk import jvm
    from conformance.engines.iceberg_java import spark, writing

PROGRAM = "org.apache.iceberg.Adapter"

OPTIONS = (
    "-Xmx1g",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-Xshare:auto",
    "-Dorg.apache.logging.log4j.level=OFF",
)
"""Options of a virtual machine that lives for seconds, without features that need long to pay off."""

READ_HERE = tuple(f'"{name}"'.encode() for name in (*sorted(WRITING), "start"))
"""The names of the operations that are not only forwarded, as they occur in a request."""


class Program:
    """The compiled program."""

    def __init__(self) -> None:
        java = Path(os.environ["JAVA_HOME"]) / "bin" / "java"
        command = [str(java), *OPTIONS, "-cp", os.environ["ICEBERG_CONFORMANCE_CLASS_PATH"], PROGRAM]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def answer(self, line: bytes) -> bytes:
        """Return the answer to a request; empty if the program has exited."""
        asked, answered = self._process.stdin, self._process.stdout
        assert asked is not None
        assert answered is not None
        asked.write(line)
        asked.flush()
        return answered.readline()

    def end(self) -> None:
        """Close the program's input, so that it exits."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


class Scripts:
    """Runs scripts with a Spark that starts with the first of them."""

    def __init__(self) -> None:
        self._operations: dict[str, Callable[[dict[str, Any]], object]] = {}
        self._ends: list[Callable[[], None]] = []

    def answer(self, request: dict[str, Any]) -> bytes:
        """Return the answer to a request."""
        if not self._operations:
            machine = jvm.JVM(os.environ["ICEBERG_CONFORMANCE_CLASS_PATH"])
            session = spark.Spark(machine)
            self._ends = [session.stop, machine.shutdown]
            self._operations = writing.operations(machine, session)
        return encode_answer({"seq": request["seq"], **perform(self._operations, request["op"], request["args"])})

    def end(self) -> None:
        """Stop Spark if it runs."""
        for end in self._ends:
            end()


def main() -> None:
    """Serve Iceberg-Java on standard input and output."""
    answers = take_standard_output()
    program, scripts = Program(), Scripts()
    try:
        for line in sys.stdin.buffer:
            request = json.loads(line) if any(word in line for word in READ_HERE) else {"op": None}
            if request["op"] in WRITING:
                answer = scripts.answer(request)
            else:
                answer = program.answer(line)
                if request["op"] == "start":
                    started = json.loads(answer)
                    started["ok"]["operations"] = sorted([*started["ok"]["operations"], *WRITING])
                    answer = encode_answer(started)
            if not answer:  # the program has exited after ``stop``, or crashed
                return
            answers.write(answer)
            answers.flush()
    finally:
        program.end()
        scripts.end()


if __name__ == "__main__":
    main()

"""The adapter of Iceberg-Java: a compiled program that calls the library, and runs Spark if a script needs SQL.

Requests are forwarded to the program unchanged; it is in ``java``, and is compiled when the engine is installed. Only
scripts that write tables are followed here: the program performs their operations one by one.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from conformance.adapter_sdk.script_steps import WRITING
from conformance.adapter_sdk.serve import Invalid, Unsupported, encode_answer, perform, take_standard_output
from conformance.engines.iceberg_java import writing
from conformance.engines.iceberg_java.spark_sql import SETTINGS
from spec_ref.core.json_types import Json

PROGRAM = "org.apache.iceberg.Adapter"

OPENED_PACKAGES = (
    "java.io",
    "java.lang",
    "java.lang.invoke",
    "java.lang.reflect",
    "java.net",
    "java.nio",
    "java.util",
    "java.util.concurrent",
    "java.util.concurrent.atomic",
    "sun.nio.ch",
    "sun.nio.cs",
    "sun.security.action",
    "sun.util.calendar",
)
"""The packages that Spark uses by reflection; its own scripts open them, too."""

OPTIONS = (
    "-Xmx1g",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-Xshare:auto",
    "-Dorg.apache.logging.log4j.level=OFF",
    *(f"--add-opens=java.base/{name}=ALL-UNNAMED" for name in OPENED_PACKAGES),
    *(f"-D{key}={value}" for key, value in SETTINGS.items()),
)
"""Options of a virtual machine that lives for seconds, without features that need long to pay off."""

STEPS = "script."
"""The prefix of the program's operations that only `writing` uses."""

PARSED_OPERATIONS = tuple(f'"{name}"'.encode() for name in (*sorted(WRITING), "start"))
"""The names, as in a request, of the operations that are not only forwarded."""


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
        with contextlib.suppress(BrokenPipeError):
            asked.write(line)
            asked.flush()
        return answered.readline()

    def query(self, op: str, args: Json) -> Any:
        """Perform one of the program's operations.

        Raises:
            Invalid: the library refused the arguments.
            Unsupported: the library does not support the operation.
            RuntimeError: the library has a bug.
            SystemExit: the program has crashed.
        """
        line = self.answer(encode_answer({"seq": 0, "op": op, "args": args}))
        if not line:
            raise SystemExit
        answer = json.loads(line)
        if "unsupported" in answer:
            raise Unsupported(answer["unsupported"])
        if "error" in answer:
            message = answer["error"]["message"]
            raise Invalid(message) if answer["error"]["kind"] == "invalid" else RuntimeError(message)
        return answer["ok"]

    def close(self) -> None:
        """Close the program's input, so that it exits."""
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        self._process.wait()


def main() -> None:
    """Serve Iceberg-Java on standard input and output."""
    answers = take_standard_output()
    program = Program()
    scripts = writing.operations(program.query)
    try:
        for line in sys.stdin.buffer:
            request: dict[str, Any] = (
                json.loads(line) if any(word in line for word in PARSED_OPERATIONS) else {"op": None}
            )
            if request["op"] in WRITING:
                answer = encode_answer({"seq": request["seq"], **perform(scripts, request["op"], request["args"])})
            else:
                answer = program.answer(line)
                if request["op"] == "start":
                    started = json.loads(answer)
                    own = (name for name in started["ok"]["operations"] if not name.startswith(STEPS))
                    started["ok"]["operations"] = sorted([*own, *WRITING])
                    answer = encode_answer(started)
            if not answer:  # the program has exited after ``stop``, or crashed
                return
            answers.write(answer)
            answers.flush()
    finally:
        program.close()


if __name__ == "__main__":
    main()

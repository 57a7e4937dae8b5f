"""Flink in a separate process, and SQL for the values, types and filters of requests."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

from conformance.adapter_sdk import lenient_values as native
from conformance.adapter_sdk.serve import Invalid, Unsupported
from conformance.adapter_sdk.sql_dialects import Dialect, string_literal
from spec_ref.core.json_types import Json

PROGRAM = "conformance.flink.Program"
OPENED_PACKAGES = (
    "lang",
    "lang.reflect",
    "io",
    "net",
    "nio",
    "text",
    "time",
    "util",
    "util.concurrent",
    "util.concurrent.atomic",
    "util.concurrent.locks",
)
OPTIONS = (
    "-Xmx1g",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-Xshare:auto",
    *(f"--add-opens=java.base/java.{name}=ALL-UNNAMED" for name in OPENED_PACKAGES),
)
"""Options of a virtual machine that lives for minutes. Flink serializes by reflection, so its own scripts open the same
packages, too."""

DATABASE = "`c`.`d`"

_TIMESTAMP = "CAST(REPLACE('{text}', 'T', ' ') AS TIMESTAMP(%s))"
_INSTANT = "CAST(REPLACE(REPLACE('{text}', 'T', ' '), '+00:00', '') AS TIMESTAMP_LTZ(%s))"
_CONSTANTS = {
    "float": "CAST({string} AS FLOAT)",
    "double": "CAST({string} AS DOUBLE)",
    "decimal": "CAST({string} AS {type})",
    "date": "CAST('{text}' AS DATE)",
    "time": "CAST('{text}' AS TIME)",
    "timestamp": _TIMESTAMP % 6,
    "timestamptz": _INSTANT % 6,
    "timestamp_ns": _TIMESTAMP % 9,
    "timestamptz_ns": _INSTANT % 9,
    "uuid": "X'{hex}'",
    "fixed": "X'{text}'",
    "binary": "CAST(X'{text}' AS BYTES)",
}


_FRACTION = re.compile(r"decimal\(([0-9]+), *\1\)")
"""A decimal type without digits before the point: Flink also counts the zero before the point, and reports an
overflow."""


def _check_literal(type_: Json, value: Json) -> None:
    match native.kind(type_):
        case "float" | "double" if isinstance(value, str):
            raise Unsupported("Flink's planner takes only numbers as constants here")
        case "decimal" if _FRACTION.fullmatch(str(type_)):
            raise Unsupported("Flink cannot cast text to a decimal without digits before the point")
        case "time" if not str(native.write(type_, native.read(type_, value))).endswith("000"):
            raise Unsupported("Flink's type TIME has milliseconds only")


DIALECT = Dialect(
    "Flink",
    quote="`",
    is_nan="(CAST({column} AS STRING) = 'NaN')",
    starts_with="STARTSWITH({column}, {constant})",
    constants=_CONSTANTS,
    types={
        "boolean": "BOOLEAN",
        "int": "INT",
        "long": "BIGINT",
        "float": "FLOAT",
        "double": "DOUBLE",
        "decimal": "{iceberg}",
        "date": "DATE",
        "time": "TIME",
        "timestamp": "TIMESTAMP(6)",
        "timestamptz": "TIMESTAMP_LTZ(6)",
        "timestamp_ns": "TIMESTAMP(9)",
        "timestamptz_ns": "TIMESTAMP_LTZ(9)",
        "string": "STRING",
        "uuid": "BINARY(16)",
        "fixed": "BINARY({length})",
        "binary": "BYTES",
        "variant": "VARIANT",
        "struct": "ROW<{fields}>",
        "field": "{name} {type}",
        "list": "ARRAY<{element}>",
        "map": "MAP<{key}, {value}>",
    },
    not_null=" NOT NULL",
    literals={
        **_CONSTANTS,
        "boolean": "{text}",
        "int": "CAST('{text}' AS {type})",
        "long": "CAST('{text}' AS {type})",
        "string": "CAST({string} AS {type})",
        "uuid": "CAST(X'{hex}' AS {type})",
        "fixed": "CAST(X'{text}' AS {type})",
        "struct": "CAST(ROW({items}) AS {type})",
        "list": "CAST(ARRAY[{items}] AS {type})",
        "map": "CAST(MAP[{pairs}] AS {type})",
        "no-items": "ARRAY_EXCEPT(ARRAY[{null}], ARRAY[{null}])",
        "empty-list": "CAST({items} AS {type})",
        "empty-map": "CAST(MAP_FROM_ARRAYS({keys}, {values}) AS {type})",
    },
    check=_check_literal,
)

UNSUPPORTED = re.compile(
    r"UnsupportedOperationException|not supported|[Uu]nsupported|doesn't support|Cannot convert|null type is reserved"
    r"|program cannot be compiled|NumberFormatException: Infinite or NaN"
)
"""Patterns of messages of an exception or its causes that mean "not supported" by Flink or the connector."""

BUGS = re.compile(
    r"^java\.lang\.(NullPointer|ClassCast|\w*IndexOutOfBounds|NegativeArraySize|ArrayStore)Exception|^java\.lang\.\w*Error|"
    r"^java\.util\.NoSuchElementException"
)
"""Matches the innermost cause if the statement failed because of a defect and was not refused."""


class Defect(Exception):
    """A statement failed with an exception that does not mean a refusal."""


class Flink:
    """The compiled program, which starts at the first statement.

    Args:
        env: has ``JAVA_HOME`` and the program's folder, ``ICEBERG_CONFORMANCE_PROGRAM``.
    """

    def __init__(self, env: Mapping[str, str]) -> None:
        self._env = env
        self._starters = [str(os.getpid()), str(os.getppid())]  # now, while the parent process is known to run
        self._process: subprocess.Popen[bytes] | None = None

    def run(
        self,
        table: str,
        *statements: str,
        metadata: str | None = None,
        sink: dict[str, Any] | None = None,
        forget: bool = False,
    ) -> dict[str, Any]:
        """Run statements, one after the other.

        Args:
            table: the name of the table that the statements use.
            statements: the SQL statements.
            metadata: the metadata file with which the table is registered first.
            sink: the rows that the connector's sink writes: a ``query`` for rows with all columns, the ``columns`` of
                the key, the ``branch``, and the ``kind``: UPSERT or DELETE.
            forget: whether to remove the table from the catalog afterwards.

        Returns:
            ``rows`` of the last statement, in the program's form, and ``metadata``, the current metadata file.

        Raises:
            Unsupported: Flink does not support a statement.
            Invalid: it refused a statement.
            Defect: a statement failed because of a bug.
        """
        request: dict[str, Any] = {"table": table, "statements": statements, "forget": forget}
        if metadata is not None:
            request["metadata"] = metadata
        if sink is not None:
            request["sink"] = sink
        answer: dict[str, Any] = self._ask(request)
        if "thrown" in answer:
            raise to_adapter_error(answer["thrown"])
        return answer

    def _ask(self, request: dict[str, Any]) -> Any:
        if self._process is None:
            java = Path(self._env["JAVA_HOME"]) / "bin" / "java"
            program = Path(self._env["ICEBERG_CONFORMANCE_PROGRAM"])
            path = os.pathsep.join((str(program / "classes"), str(program / "jars" / "*")))
            self._process = subprocess.Popen(
                [str(java), *OPTIONS, "-cp", path, PROGRAM, *self._starters],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
            )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(request).encode() + b"\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit("the program with Flink ended")
        return json.loads(line)

    def close(self) -> None:
        """Close the program's input, so that it exits."""
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()
            self._process.wait()


def to_adapter_error(exceptions: list[str]) -> Exception:
    """Return the exception for a Java exception and its causes, the outermost first."""
    lines = list(dict.fromkeys(" ".join(line.split("\n")[:2]) for line in exceptions))  # the second line has the reason
    said = " <- ".join([*lines[-2:][::-1], lines[0]] if len(lines) > 3 else lines)
    if any(UNSUPPORTED.search(line) for line in exceptions):
        return Unsupported(said)
    return Defect(said) if BUGS.search(exceptions[-1]) else Invalid(said)


def full_name(table: str) -> str:
    """Return the full name of a table in statements."""
    return f"{DATABASE}.`{table}`"


def hint(options: dict[str, str]) -> str:
    """Return the SQL hint with options for one statement, which follows the name of a table."""
    listed = ", ".join(
        f"{string_literal(key, DIALECT)}={string_literal(value, DIALECT)}" for key, value in options.items()
    )
    return f" /*+ OPTIONS({listed}) */" if options else ""


def exchange(type_: Json, value: Any) -> Json:
    """Convert a value from the program's form to exchange form."""
    if value is None:
        return None
    match native.kind(type_):
        case "struct":
            fields = type_["fields"]
            if len(fields) != len(value):  # a value of a different schema, which does not compare equal
                return value
            return {str(field["id"]): exchange(field["type"], item) for field, item in zip(fields, value, strict=True)}
        case "list":
            return [exchange(type_["element"], item) for item in value]
        case "map":
            return {
                "keys": [exchange(type_["key"], key) for key, _ in value],
                "values": [exchange(type_["value"], item) for _, item in value],
            }
        case "variant":
            return {name: value[name].upper() for name in ("metadata", "value")}
        case "uuid" | "fixed" | "binary":
            return native.write(type_, bytes.fromhex(value))
        case "float" | "double":
            return native.write(type_, float(value))
        case "decimal":
            return native.write(type_, Decimal(value))
        case "time" | "timestamp" | "timestamptz":
            return native.write(type_, value // 1000)
    return native.write(type_, value)


def read_rows_json(answer: dict[str, Any], names: Sequence[str], types: dict[str, Json]) -> Json:
    """Return the answer of ``table.read``."""
    return {
        "rows": [
            {name: exchange(types[name], value) for name, value in zip(names, row, strict=True)}
            for row in answer["rows"]
        ]
    }

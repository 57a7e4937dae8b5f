"""The adapter of Trino: SQL over HTTP to a server that the adapter starts on the loopback interface.

Tables are registered by their metadata files under new names, as with ``register_table``.
"""

from __future__ import annotations

import atexit
import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from conformance.adapter_sdk import lenient_values as native
from conformance.adapter_sdk import script_steps, table_requests
from conformance.adapter_sdk.serve import Unsupported, serve, take_standard_output
from conformance.adapter_sdk.sql_dialects import primitive_sql, string_literal
from conformance.adapter_sdk.sql_predicates import select_statement
from conformance.engines.trino.server import LACKING, Server, start_server
from conformance.engines.trino.sql import DIALECT
from conformance.engines.trino.tables import Registry
from conformance.engines.trino.values import value
from conformance.engines.trino.writing import NAME, TrinoWriter
from spec_ref.core.json_types import Json

Arguments = dict[str, Any]

METADATA_COLUMNS = {
    "_file": "$path",
    "_row_id": "$row_id",
    "_last_updated_sequence_number": "$last_updated_sequence_number",
}
NO_BUCKETS = "INVALID_FUNCTION_ARGUMENT"
"""The error of the function ``bucket`` for an unsupported type; an invalid number of buckets is an internal error."""

BUCKET = re.compile(r"bucket\[([0-9]{1,10})\]")
FORMAT_VERSIONS = {"476": [1, 2], "483": [1, 2, 3]}


class Reader:
    """Answers requests with the tables of a server."""

    def __init__(self, server: Server, registry: Registry) -> None:
        self._server = server
        self._registry = registry

    def read(self, args: Arguments) -> object:
        """Run a ``SELECT`` from a registered table."""
        table_requests.check_metadata_columns(args, "Trino", tuple(METADATA_COLUMNS))
        source = f'"{self._registry.name(args["table"])}"{_time(args)}'
        query = select_statement(args, source, DIALECT, lambda: table_requests.columns(args), METADATA_COLUMNS)
        found, rows = self._server.run(query)
        types: dict[str, Json] = args["types"]
        lowered = {name.lower(): name for name in types}  # Trino converts all column names to lower case
        names = args.get("select") or [lowered.get(name, name) for name in found]
        return {
            "rows": [
                {name: value(types.get(name), item) for name, item in zip(names, row, strict=True)} for row in rows
            ]
        }

    def transform(self, args: Arguments) -> object:
        """Run ``bucket``, the only transform that is a SQL function."""
        found = BUCKET.fullmatch(args["transform"])
        if not found:
            raise Unsupported(f"there is no function for {args['transform']}")
        if args["value"] is None:
            raise Unsupported("the function does not take a null without a column")
        type_, value = args["type"], native.read(args["type"], args["value"])
        _check_expressible(type_, value)
        literal = primitive_sql(type_, value, DIALECT.literals, DIALECT)
        statement = f"SELECT iceberg.system.bucket({literal}, {found[1]})"
        _, rows = self._server.run(statement, unsupported=(*LACKING, NO_BUCKETS))
        return rows[0][0]


def _check_expressible(type_: Json, value: Any) -> None:
    """Check that a value is in the range of its Iceberg type, as a wider SQL type would accept others.

    Raises:
        Unsupported: the value is out of range, which Trino's SQL cannot detect.
    """
    kind = native.kind(type_)
    if kind == "fixed" and len(value) != int(type_[len("fixed[") : -1]):
        raise Unsupported("Trino's SQL has no type fixed, only VARBINARY")
    if native.UNITS.get(kind) == 9 and not -(2**63) <= value < 2**63:
        raise Unsupported("TIMESTAMP(9) is wider than timestamp_ns")


def _time(args: Arguments) -> str:
    """Return the SQL clause that selects a snapshot."""
    if "snapshot" in args:
        return f" FOR VERSION AS OF BIGINT '{int(args['snapshot'])}'"
    if "ref" in args:
        return f" FOR VERSION AS OF {string_literal(args['ref'], DIALECT)}"
    if "timestamp_ms" in args:
        moment = native.write("timestamptz", args["timestamp_ms"] * 1000).replace("T", " ")
        return f" FOR TIMESTAMP AS OF CAST('{moment}' AS TIMESTAMP(3) WITH TIME ZONE)"
    return ""


def operations(server: Server) -> dict[str, Callable[[Arguments], object]]:
    """Return the operations by name."""
    registry = Registry(server)
    reader = Reader(server, registry)

    @contextmanager
    def writer(location: str | None, _: Sequence[Json]) -> Iterator[TrinoWriter]:
        made = TrinoWriter(server, registry, location)
        try:
            yield made
        finally:
            made.close()

    return {
        "table.read": reader.read,
        "transform": reader.transform,
        **script_steps.operations(writer, NAME),
    }


def main() -> None:
    """Serve Trino on standard input and output."""
    answers = take_standard_output()
    server = start_server()
    atexit.register(server.stop)
    server.wait()  # before the first request, as the time limit of a request is shorter than that of the start
    version = os.environ["ICEBERG_CONFORMANCE_ENGINE_VERSION"]
    serve(
        {
            "implementation": "trino",
            "version": version,
            "language": "java",
            "format_versions": FORMAT_VERSIONS[version],
        },
        operations(server),
        answers=answers,
    )


if __name__ == "__main__":
    main()

"""The adapter of DuckDB: the function ``iceberg_scan`` of its Iceberg extension.

The extensions come from Python packages, so loading them downloads nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

import duckdb

from conformance.adapter_sdk import arrow_rows, table_requests
from conformance.adapter_sdk.serve import Arguments, Invalid, Unsupported, serve
from conformance.adapter_sdk.sql_dialects import Dialect, string_literal
from conformance.adapter_sdk.sql_predicates import select_statement

EXTENSIONS = ("icu", "avro", "iceberg")
"""The extensions in loading order; icu is needed for the days and hours of timestamps with a time zone."""

METADATA_COLUMNS = {
    "_row_id": "_row_id",
    "_last_updated_sequence_number": "_last_updated_sequence_number",
    "_file": "filename",
    "_pos": "file_row_number",
}
DIALECT = Dialect(
    "DuckDB",
    nul="' || chr(0) || '",
    constants={
        "float": "CAST('{text}' AS FLOAT)",
        "double": "CAST('{text}' AS DOUBLE)",
        "decimal": "CAST('{text}' AS {type})",
        "date": "DATE '{text}'",
        "time": "TIME '{text}'",
        "timestamp": "TIMESTAMP '{text}'",
        "timestamptz": "TIMESTAMPTZ '{text}'",
        "timestamp_ns": "TIMESTAMP_NS '{text}'",
        "uuid": "CAST('{text}' AS UUID)",
        "fixed": "from_hex('{text}')",
        "binary": "from_hex('{text}')",
    },
)
UNSUPPORTED_MESSAGES = ("Not implemented Error", "Unrecognized primitive type")
"""Parts of DuckDB's messages that mean "not supported" rather than a refusal."""


def connect() -> duckdb.DuckDBPyConnection:
    """Open a connection with the Iceberg extension, which downloads nothing."""
    connection = duckdb.connect(config={"allow_unsigned_extensions": "true", "autoinstall_known_extensions": "false"})
    for name in EXTENSIONS:
        package = Path(str(import_module(f"duckdb_extension_{name}").__file__)).parent
        (extension,) = package.glob(f"extensions/*/{name}.duckdb_extension")
        connection.execute(f"LOAD {string_literal(str(extension), DIALECT)}")
    connection.execute("SET TimeZone = 'UTC'")
    return connection


class Reader:
    """Answers requests with a connection."""

    def __init__(self) -> None:
        self._connection = connect()

    def read(self, args: Arguments) -> object:
        """Run a ``SELECT`` from ``iceberg_scan``."""
        table_requests.check_snapshot_selection(args, "iceberg_scan", "snapshot", "timestamp_ms")
        source = f"iceberg_scan({_source(args)})"
        query = select_statement(args, source, DIALECT, lambda: table_requests.columns(args), METADATA_COLUMNS)
        return arrow_rows.answer(self._rows(query), args["types"], args.get("select"))

    def _rows(self, query: str) -> arrow_rows.Rows:
        try:
            return self._connection.execute(query).to_arrow_table()
        except (duckdb.Error, OSError) as error:  # errors while Arrow batches are read are OSErrors
            if any(words in str(error) for words in UNSUPPORTED_MESSAGES):
                raise Unsupported(str(error)) from None
            if isinstance(error, duckdb.FatalException | duckdb.InternalException):
                self._connection = connect()  # the old connection refuses every statement from now on
                raise
            raise Invalid(str(error)) from None


def _source(args: Arguments) -> str:
    """Return the arguments of ``iceberg_scan`` in SQL."""
    given = string_literal(args["table"], DIALECT)
    if "snapshot" in args:
        given += f", snapshot_from_id := {int(args['snapshot'])}"
    if "timestamp_ms" in args:
        at = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=args["timestamp_ms"])
        given += f", snapshot_from_timestamp := TIMESTAMP '{at.replace(tzinfo=None).isoformat()}'"
    return given


def operations() -> dict[str, Callable[[Arguments], object]]:
    """Return the operations by name."""
    return {"table.read": Reader().read}


def main() -> None:
    """Serve DuckDB on standard input and output."""
    serve(
        {
            "implementation": "duckdb",
            "version": version("duckdb"),
            "language": "c++",
            "format_versions": [1, 2, 3],
        },
        operations(),
    )


if __name__ == "__main__":
    main()

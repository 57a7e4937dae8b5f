"""The adapter of ClickHouse through chdb: its table function ``icebergLocal``."""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib.metadata import version

import chdb
import pyarrow as pa

from conformance.adapter_sdk import arrow_rows, table_requests
from conformance.adapter_sdk.serve import Arguments, Invalid, Unsupported, serve
from conformance.adapter_sdk.sql_dialects import Dialect, string_literal
from conformance.adapter_sdk.sql_predicates import select_statement

DIALECT = Dialect(
    "ClickHouse",
    is_nan="isNaN({column})",
    starts_with="startsWith({column}, {constant})",
    escapes_backslash=True,
    constants={
        "float": "toFloat32({string})",
        "double": "toFloat64({string})",
        "decimal": "CAST({string} AS {type})",
        "date": "toDate32({string})",
        "timestamp": "toDateTime64({string}, 6, 'UTC')",
        "timestamptz": "parseDateTime64BestEffort({string}, 6, 'UTC')",
        "timestamp_ns": "toDateTime64({string}, 9, 'UTC')",
        "timestamptz_ns": "parseDateTime64BestEffort({string}, 9, 'UTC')",
        "uuid": "toUUID({string})",
        "fixed": "unhex({string})",
        "binary": "unhex({string})",
    },
)
SETTINGS = {
    "output_format_arrow_string_as_string": 0,  # return binary columns as bytes
    "output_format_arrow_fixed_string_as_fixed_byte_array": 1,
    "use_iceberg_metadata_files_cache": 0,
    "session_timezone": "'UTC'",
}
UNSUPPORTED_MESSAGES = (
    "Position deletes are supported only for parquet format",
    "Position deletes are only supported for data files of Parquet format",
    "Unknown Iceberg type",
    "NOT_IMPLEMENTED",
)
"""Parts of ClickHouse's messages that mean "not supported" rather than a refusal."""

BUGS = ("LOGICAL_ERROR",)
"""Error codes that ClickHouse itself classifies as bugs."""


def _read(args: Arguments) -> object:
    """Run a ``SELECT`` from ``icebergLocal``."""
    table_requests.check_snapshot_selection(args, "icebergLocal", "snapshot", "timestamp_ms")
    table_requests.check_metadata_columns(args, "icebergLocal")
    query = select_statement(args, _source(args["table"]), DIALECT, lambda: table_requests.columns(args))
    settings = dict(SETTINGS)
    if "snapshot" in args:
        settings["iceberg_snapshot_id"] = int(args["snapshot"])
    if "timestamp_ms" in args:
        settings["iceberg_timestamp_ms"] = args["timestamp_ms"]
    query += " SETTINGS " + ", ".join(f"{name} = {value}" for name, value in settings.items())
    return arrow_rows.answer(_rows(query), args["types"], args.get("select"))


def _source(location: str) -> str:
    """Return the table function with the table's directory and one metadata file."""
    path = table_requests.local_path(location)
    folder = os.path.dirname(os.path.dirname(path))
    file = os.path.relpath(path, folder)
    folder, file = string_literal(folder, DIALECT), string_literal(file, DIALECT)
    return f"icebergLocal({folder}, SETTINGS iceberg_metadata_file_path = {file})"


def _rows(query: str) -> arrow_rows.Rows:
    try:
        return pa.ipc.open_file(chdb.query(query, "Arrow").bytes()).read_all()
    except (chdb.ChdbError, RuntimeError, UnicodeDecodeError) as error:
        # Errors while rows are read are RuntimeErrors; a message with bytes of the data may be invalid text.
        said = error.object.decode(errors="replace") if isinstance(error, UnicodeDecodeError) else str(error)
        if any(words in said for words in BUGS):
            raise
        raise (Unsupported if any(words in said for words in UNSUPPORTED_MESSAGES) else Invalid)(said) from None


def operations() -> dict[str, Callable[[Arguments], object]]:
    """Return the operations by name."""
    return {"table.read": _read}


def main() -> None:
    """Serve ClickHouse on standard input and output."""
    os.chdir("/")  # ClickHouse only reads files below the working directory
    serve(
        {"implementation": "chdb", "version": version("chdb"), "language": "c++", "format_versions": [1, 2, 3]},
        operations(),
    )


if __name__ == "__main__":
    main()

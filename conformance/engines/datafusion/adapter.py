"""The adapter of iceberg-rust as a table provider for DataFusion, which ``pyiceberg-core`` exposes to Python."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

from datafusion import SessionContext
from pyiceberg_core.datafusion import IcebergDataFusionTable

from conformance.adapter_sdk import arrow_rows, table_requests
from conformance.adapter_sdk.serve import Arguments, Invalid, Unsupported, serve
from conformance.adapter_sdk.sql_dialects import Dialect
from conformance.adapter_sdk.sql_predicates import select_statement

_ZONED = "arrow_cast({string}, 'Timestamp(%s, Some(\"UTC\"))')"
DIALECT = Dialect(
    "DataFusion",
    inside="[{string}]",
    constants={
        "float": "arrow_cast({string}, 'Float32')",
        "double": "arrow_cast({string}, 'Float64')",
        "decimal": "CAST({string} AS {type})",
        "date": "CAST({string} AS DATE)",
        "time": "arrow_cast({string}, 'Time64(Microsecond)')",
        "timestamp": "arrow_cast({string}, 'Timestamp(Microsecond, None)')",
        "timestamptz": _ZONED % "Microsecond",
        "timestamp_ns": "arrow_cast({string}, 'Timestamp(Nanosecond, None)')",
        "timestamptz_ns": _ZONED % "Nanosecond",
        "uuid": "decode('{hex}', 'hex')",
        "fixed": "decode('{text}', 'hex')",
        "binary": "decode('{text}', 'hex')",
    },
)
UNSUPPORTED_MESSAGES = ("FeatureUnsupported", "This feature is not implemented", "relative URL without a base")
"""Parts of messages that mean "not supported"; the last one is about locations without a scheme."""


def _read(args: Arguments) -> object:
    """Run a ``SELECT`` from the table in DataFusion."""
    table_requests.check_snapshot_selection(args, "IcebergDataFusionTable")
    table_requests.check_metadata_columns(args, "IcebergDataFusionTable")
    query = select_statement(args, "t", DIALECT, lambda: table_requests.columns(args))
    try:
        context = SessionContext()
        table = IcebergDataFusionTable(
            identifier=["conformance", "t"], metadata_location=_uri(args["table"]), file_io_properties={}
        )
        context.register_table("t", table)
        rows = context.sql(query).to_arrow_table()
    except Exception as error:  # both libraries raise plain Exceptions
        raise (Unsupported if any(words in str(error) for words in UNSUPPORTED_MESSAGES) else Invalid)(
            str(error)
        ) from None
    return arrow_rows.answer(rows, args["types"], args.get("select"))


def _uri(location: str) -> str:
    """Return the location as a URI, because iceberg-rust accepts only URIs."""
    return Path(location).as_uri() if location.startswith("/") else location


def operations() -> dict[str, Callable[[Arguments], object]]:
    """Return the operations by name."""
    return {"table.read": _read}


def main() -> None:
    """Serve DataFusion on standard input and output."""
    serve(
        {
            "implementation": "datafusion",
            "version": version("datafusion"),
            "language": "rust",
            "format_versions": [1, 2, 3],
        },
        operations(),
    )


if __name__ == "__main__":
    main()

"""The adapter of Flink: SQL statements for a Flink inside a Java program.

The program is in ``java``; it has a cluster for all jobs, and an in-memory catalog that registers a table by its
metadata file. This module converts requests to statements.
"""

from __future__ import annotations

import itertools
import os

from conformance.adapter_sdk import table_requests
from conformance.adapter_sdk.serve import Arguments, Invalid, serve, take_standard_output
from conformance.adapter_sdk.sql_predicates import select_statement
from conformance.engines.flink import writing
from conformance.engines.flink.flink_sql import DIALECT, Flink, full_name, hint, read_rows_json
from spec_ref.core.json_types import Json


def _options(args: Arguments) -> dict[str, str]:
    """Return the options of a query that select a snapshot."""
    if "snapshot" in args:
        return {"snapshot-id": str(args["snapshot"])}
    if "ref" in args:
        refs = table_requests.metadata(args["table"]).get("refs", {})
        tag = refs.get(args["ref"], {}).get("type") == "tag"
        return {"tag" if tag else "branch": args["ref"]}
    if "timestamp_ms" in args:
        return {"as-of-timestamp": str(args["timestamp_ms"])}
    return {}


class Reader:
    """Reads tables by queries."""

    def __init__(self, flink: Flink) -> None:
        self._flink = flink
        self._numbers = itertools.count()

    def read(self, args: Arguments) -> Json:
        """Run a ``SELECT``, with the connector's options that select a snapshot."""
        table_requests.check_metadata_columns(args, "Flink")
        if not os.path.isfile(table_requests.local_path(args["table"])):
            raise Invalid(f"{args['table']}: no such metadata file")
        names = args.get("select") or list(args["types"])
        table = f"r{next(self._numbers)}"
        source = full_name(table) + hint(_options(args))
        asked = {**args, "select": names}
        query = select_statement(asked, source, DIALECT, lambda: table_requests.columns(args))
        return read_rows_json(self._flink.run(table, query, metadata=args["table"], forget=True), names, args["types"])


def main() -> None:
    """Serve Flink on standard input and output."""
    answers = take_standard_output()
    flink = Flink(os.environ)
    about = {
        "implementation": "flink",
        "version": os.environ["ICEBERG_CONFORMANCE_ENGINE_VERSION"],
        "language": "java",
        "format_versions": [1, 2, 3],
    }
    try:
        serve(about, {"table.read": Reader(flink).read, **writing.operations(flink)}, answers=answers)
    finally:
        flink.close()


if __name__ == "__main__":
    main()

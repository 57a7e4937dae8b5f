"""The adapter of Sail: a separate implementation of an Iceberg reader behind Spark Connect, without a JVM.

Sail takes the directory of a table and looks for the newest metadata in it. To make it read a given metadata file, the
adapter passes a directory with only that file, which names all other files by absolute location.
"""

from __future__ import annotations

import re
import shutil
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from importlib.metadata import version
from pathlib import Path
from typing import BinaryIO

from pysail.spark import SparkConnectServer
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from conformance.adapter_sdk import arrow_rows, table_requests
from conformance.adapter_sdk.serve import Arguments, Invalid, Unsupported, serve, take_standard_output
from conformance.adapter_sdk.spark_dialect import SPARK
from conformance.adapter_sdk.sql_dialects import identifier
from conformance.adapter_sdk.sql_predicates import predicate_sql

DIALECT = replace(SPARK, name="Sail", constants={name: sql for name, sql in SPARK.constants.items() if name != "uuid"})
UNSUPPORTED_MESSAGES = re.compile(
    r"not supported|not implemented|unsupported|\.(avro|orc): .*corrupt footer", re.IGNORECASE | re.DOTALL
)
"""Parts of Sail's messages that mean "not supported"; it reads every data file as Parquet."""


@contextmanager
def _table(location: str) -> Iterator[str]:
    """Create a table directory with one metadata file for the block."""
    path = table_requests.local_path(location)
    with tempfile.TemporaryDirectory(prefix="sail-") as folder:
        metadata = Path(folder) / "metadata"
        metadata.mkdir()
        compressed = path.endswith((".gz.metadata.json", ".metadata.json.gz"))
        try:
            shutil.copyfile(path, metadata / ("v1.gz.metadata.json" if compressed else "v1.metadata.json"))
        except OSError as error:
            raise Invalid(str(error)) from None
        yield Path(folder).as_uri()


def _options(args: Arguments) -> dict[str, str]:
    """Return the options of the reader that select a snapshot."""
    if "snapshot" in args:
        return {"snapshotId": args["snapshot"]}
    if "ref" in args:
        return {"ref": args["ref"]}
    if "timestamp_ms" in args:
        at = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=args["timestamp_ms"])
        return {"timestampAsOf": at.replace(tzinfo=None).isoformat(" ", "milliseconds")}
    return {}


class Reader:
    """A server, and a session that reads tables."""

    def __init__(self) -> None:
        self._server = SparkConnectServer(ip="127.0.0.1", port=0)
        self._server.start(background=True)
        _, port = self._server.listening_address
        self._session = SparkSession.builder.remote(f"sc://127.0.0.1:{port}").getOrCreate()
        self._session.conf.set("spark.sql.session.timeZone", "UTC")

    def read(self, args: Arguments) -> object:
        """Read rows with ``spark.read.format("iceberg")``."""
        table_requests.check_metadata_columns(args, "Sail")
        names = args.get("select")
        condition = None
        if "filter" in args:
            condition = predicate_sql(args["filter"], table_requests.columns(args), DIALECT)
        try:
            with _table(args["table"]) as folder:
                frame = self._session.read.format("iceberg").options(**_options(args)).load(folder)
                if condition is not None:
                    frame = frame.where(condition)
                if names is not None:
                    frame = frame.select(*(identifier((name,), DIALECT) for name in names))
                rows = frame.toArrow()
        except PySparkException as error:
            said = str(error)
            raise (Unsupported if UNSUPPORTED_MESSAGES.search(said) else Invalid)(said) from None
        return arrow_rows.answer(rows, args["types"], names)

    def close(self) -> None:
        """Stop the session and the server."""
        self._session.stop()
        self._server.stop()


def operations(reader: Reader) -> dict[str, Callable[[Arguments], object]]:
    """Return the operations by name."""
    return {"table.read": reader.read}


def main() -> None:
    """Serve Sail on standard input and output."""
    answers: BinaryIO = take_standard_output()
    warnings.simplefilter("ignore")
    reader = Reader()
    try:
        serve(
            {"implementation": "sail", "version": version("pysail"), "language": "rust", "format_versions": [1, 2, 3]},
            operations(reader),
            answers=answers,
        )
    finally:
        reader.close()


if __name__ == "__main__":
    main()

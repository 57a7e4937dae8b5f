"""The adapter of the reference inside PySpark: its columnar kernels answer in Spark's Python workers (`spark_kernels`).

A Spark job takes its time whatever it does, so the questions that are waiting are asked in one job. Only the rows of a
table are a job of their own: a DataFrame whose partitions are the tasks of the scan (`conformance.pipeline.spark`).
"""

from __future__ import annotations

import json
import os
import select
import sys
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
from pyspark import __version__ as spark_version
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql.pandas.types import to_arrow_schema

from conformance.adapters.arrow_rows import answer
from conformance.adapters.reference import REFUSALS
from conformance.adapters.serve import Invalid, describe, encode_answer, internal, perform, take_standard_output
from conformance.adapters.spark_kernels import ANSWERS, SCALAR, answer_batches
from conformance.failures import NotExamined
from conformance.pipeline.file_access import FileAccessError, FileForbidden, FileMissing, UnknownScheme
from conformance.pipeline.spark import read_dataframe
from spec_ref.errors import SpecError
from spec_ref.expressions.expression_json import predicate_from_json
from spec_ref.expressions.predicates import TRUE

MAX_BATCH = 4096
PATIENCE = 0.005
"""Seconds without a further question after which those that came are asked."""

Request = dict[str, Any]


def waiting_requests() -> Iterator[list[Request]]:
    """The requests on standard input, as many at once as are there, until its end."""
    rest = b""
    while chunk := os.read(0, 1 << 20):
        rest += chunk
        while rest.count(b"\n") < MAX_BATCH and select.select([0], [], [], PATIENCE)[0]:
            more = os.read(0, 1 << 20)
            if not more:
                break
            rest += more
        *lines, rest = rest.split(b"\n")
        if lines:
            yield [json.loads(line) for line in lines]


def start_spark() -> SparkSession:
    """A Spark in this process and its JVM, without a network or a user interface."""
    settings = {
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": "1g",
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "1",
        "spark.sql.session.timeZone": "UTC",
        "spark.python.worker.reuse": "true",
    }
    builder = SparkSession.builder.master("local[1]").appName("spark-reference")
    for key, value in settings.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def read_rows(spark: SparkSession, args: dict[str, Any]) -> Any:
    """The rows of a table, as Spark gives them."""
    snapshot, timestamp = args.get("snapshot"), args.get("timestamp_ms")
    try:
        frame = read_dataframe(
            spark,
            args["table"],
            snapshot_id=None if snapshot is None else int(snapshot),
            ref=args.get("ref"),
            timestamp_ms=timestamp,
            select=args.get("select"),
            filter=predicate_from_json(args["filter"]) if "filter" in args else TRUE,
        )
        # Spark 4 has a name for what 3.5 does too.
        table = frame.toArrow() if hasattr(frame, "toArrow") else _collected(frame)
    except NotExamined as error:
        raise Invalid(str(error)) from None
    except PySparkException as error:
        # What a worker refuses comes back as text in the error of the job.
        if any(f"{refusal.__module__}.{refusal.__name__}" in str(error) for refusal in REFUSED_BY_WORKERS):
            raise Invalid(str(error).strip().splitlines()[-1]) from None
        raise
    return answer(table, args["types"])


REFUSED_BY_WORKERS = (SpecError, FileAccessError, FileMissing, FileForbidden, UnknownScheme)


def _collected(frame: Any) -> Any:
    return pa.Table.from_batches(frame._collect_as_arrow(), schema=to_arrow_schema(frame.schema))


def ask(spark: SparkSession, requests: list[Request]) -> list[dict[str, Any]]:
    """Answer requests: those for rows each in a Spark job, all others in one."""
    alone = {"table.read": lambda args: read_rows(spark, args)}
    waiting = [request for request in requests if request["op"] not in alone]
    together = iter(_ask_together(spark, waiting) if waiting else ())
    return [
        perform(alone, request["op"], request["args"], REFUSALS) if request["op"] in alone else next(together)
        for request in requests
    ]


def _ask_together(spark: SparkSession, requests: list[Request]) -> list[dict[str, Any]]:
    questions = [
        (row, json.dumps({"op": request["op"], "args": request["args"]})) for row, request in enumerate(requests)
    ]
    frame = spark.createDataFrame(questions, "row long, question string").coalesce(1)
    answered = {row["row"]: json.loads(row["answer"]) for row in frame.mapInArrow(answer_batches, ANSWERS).collect()}
    return [answered[row] for row in range(len(requests))]


def main() -> None:
    """Serve the reference inside Spark on standard input and output."""
    answers = take_standard_output()
    spark = start_spark()
    implementation = {"implementation": "spark-reference", "version": spark_version, "format_versions": [1, 2, 3]}
    try:
        for requests in waiting_requests():
            asked = [request for request in requests if request["op"] not in ("start", "stop")]
            try:
                found = iter(ask(spark, asked) if asked else [])
            except Exception as error:
                found = iter([internal(error)] * len(asked))
            for request in requests:
                if request["op"] == "stop":
                    return
                answer = {"ok": describe(implementation, SCALAR)} if request["op"] == "start" else next(found)
                answers.write(encode_answer({"seq": request["seq"], **answer}))
            answers.flush()
    finally:
        spark.stop()
        sys.stdout.flush()


if __name__ == "__main__":
    main()

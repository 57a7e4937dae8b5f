"""The adapter of the reference inside PySpark: its columnar kernels answer in Spark's Python workers (`spark_kernels`).

A Spark job takes its time whatever it does, so the questions that are waiting are asked in one job.
"""

from __future__ import annotations

import json
import os
import select
import sys
from collections.abc import Iterator
from typing import Any

from pyspark import __version__ as spark_version
from pyspark.sql import SparkSession

from conformance.adapters.serve import describe, encode_answer, internal, take_standard_output
from conformance.adapters.spark_kernels import ANSWERS, SCALAR, answer_batches

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


def ask(spark: SparkSession, requests: list[Request]) -> list[dict[str, Any]]:
    """Answer requests in one Spark job."""
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

"""The adapter of the reference inside PySpark: its columnar kernels run in Spark's Python workers (`kernels`).

Every Spark job has a large fixed cost, so one job answers all waiting requests. To read a table, its scan is planned
here, and the workers run its tasks, like those of `conformance.table_io.spark`. This process writes tables as the
driver, and its executors write the files (`conformance.table_io.writing.spark`).
"""

from __future__ import annotations

import json
import os
import select
import sys
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any

from pyspark import __version__ as spark_version
from pyspark.sql import SparkSession

from conformance.adapter_sdk.script_steps import WRITING
from conformance.adapter_sdk.serve import Invalid, describe, encode_answer, internal, perform, take_standard_output
from conformance.adapter_sdk.spark_settings import JAVA, LOCAL
from conformance.core.failures import NotExamined
from conformance.engines.reference.adapter import REFUSALS
from conformance.engines.spark_reference import writing
from conformance.engines.spark_reference.kernels import ANSWERS, SCALAR, TASK, answer_batches, pack_value
from conformance.table_io.local import plan_read
from conformance.table_io.tables import load_table
from spec_ref.expressions.expression_json import predicate_from_json
from spec_ref.expressions.predicates import TRUE

MAX_BATCH = 4096
BATCH_WAIT = 0.005
"""The seconds to wait for another request before the received ones are run."""

Request = dict[str, Any]


def waiting_requests() -> Iterator[list[Request]]:
    """Yield the requests on standard input, all available ones together, until its end."""
    rest = b""
    while chunk := os.read(0, 1 << 20):
        rest += chunk
        while rest.count(b"\n") < MAX_BATCH and select.select([0], [], [], BATCH_WAIT)[0]:
            more = os.read(0, 1 << 20)
            if not more:
                break
            rest += more
        *lines, rest = rest.split(b"\n")
        if lines:
            yield [json.loads(line) for line in lines]


def start_spark() -> SparkSession:
    """Start Spark in this process and its JVM, without network or user interface."""
    settings = {
        **LOCAL,
        "spark.app.name": "spark-reference",
        "spark.driver.memory": "1g",
        "spark.driver.extraJavaOptions": JAVA,
        "spark.python.worker.reuse": "true",
        "spark.python.unix.domain.socket.enabled": "true",
    }
    builder = SparkSession.builder
    for key, value in settings.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def answer_requests(spark: SparkSession, requests: list[Request]) -> list[dict[str, Any]]:
    """Answer requests in one Spark job, to which reading a table adds one question for each task of its scan."""
    answers: list[dict[str, Any]] = []
    questions: list[Request] = []
    waiting: list[range] = []
    here = {"table.read": plan_task_requests, **writing.operations(spark)}
    for request in requests:
        first = len(questions)
        planned = perform(here, request["op"], request["args"], REFUSALS)
        if request["op"] not in here:
            questions.append(request)
        elif request["op"] == "table.read" and "ok" in planned:
            questions += planned["ok"]
        answers.append(planned)
        waiting.append(range(first, len(questions)))
    found = _ask_together(spark, questions) if questions else []
    for place, (request, own) in enumerate(zip(requests, waiting, strict=True)):
        if request["op"] not in here:
            answers[place] = found[own[0]]
        elif request["op"] == "table.read" and "ok" in answers[place]:
            answers[place] = join_answers([found[number] for number in own])
    return answers


def split_before_writes(waiting: Iterable[list[Request]]) -> Iterator[list[Request]]:
    """Split waiting requests: each one that writes a table runs separately, so that its answer is not delayed."""
    for requests in waiting:
        for _, group in groupby(enumerate(requests), lambda one: one[0] if one[1]["op"] in WRITING else -1):
            yield [request for _, request in group]


def plan_task_requests(args: dict[str, Any]) -> list[Request]:
    """Plan a scan, and return one question for each of its tasks; the answers are the rows of the table."""
    snapshot = args.get("snapshot")
    try:
        reading, tasks = plan_read(
            load_table(args["table"]),
            snapshot_id=None if snapshot is None else int(snapshot),
            ref=args.get("ref"),
            timestamp_ms=args.get("timestamp_ms"),
            select=args.get("select"),
            filter=predicate_from_json(args["filter"]) if "filter" in args else TRUE,
        )
        sent = {"reading": pack_value(reading), "types": args["types"]}
        return [{"op": TASK, "args": {**sent, "task": pack_value(task)}} for task in tasks]
    except NotExamined as error:
        raise Invalid(str(error)) from None


def join_answers(answers: list[dict[str, Any]]) -> dict[str, Any]:
    """Combine the rows of all tasks; if one failed, return its answer."""
    failed = next((answer for answer in answers if "ok" not in answer), None)
    return failed or {"ok": {"rows": [row for answer in answers for row in answer["ok"]["rows"]]}}


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
    declared = {**SCALAR, **writing.operations(spark)}
    implementation = {"implementation": "spark-reference", "version": spark_version, "format_versions": [1, 2, 3]}
    try:
        for requests in split_before_writes(waiting_requests()):
            asked = [request for request in requests if request["op"] not in ("start", "stop")]
            try:
                found = iter(answer_requests(spark, asked) if asked else [])
            except Exception as error:
                found = iter([internal(error)] * len(asked))
            for request in requests:
                if request["op"] == "stop":
                    return
                answer = {"ok": describe(implementation, declared)} if request["op"] == "start" else next(found)
                answers.write(encode_answer({"seq": request["seq"], **answer}))
            answers.flush()
    finally:
        spark.stop()
        sys.stdout.flush()


if __name__ == "__main__":
    main()

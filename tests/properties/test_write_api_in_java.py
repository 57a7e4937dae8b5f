"""Tables of random sequences of the write API have the rows of the model in Iceberg-Java, on Spark."""

from __future__ import annotations

import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test
from row_model import Column, paths
from write_api_machine import WriteApi

from conformance.engine_setup import launch
from conformance.table_io.encryption import KEY_ID

pytestmark = pytest.mark.engine

EXAMPLES, STEPS = 16, 20
LEAST = 12
"""How many branches are compared at least, so that the test cannot become empty."""

LEFT_OUT = ("time", "timestamp_ns", "fixed")
"""Types that Spark does not have, and one whose partition values Iceberg-Java 1.12.0 reads with a length before them
(apache/iceberg#17501)."""

SCRIPT = """
import datetime, decimal, json, os, sys, time
os.environ["TZ"] = "UTC"
time.tzset()
from pyspark.sql import Row, SparkSession
from conformance.adapter_sdk.spark_settings import JAVA, LOCAL
own = {"spark.driver.extraClassPath": os.environ["ICEBERG_CONFORMANCE_JARS"], "spark.driver.memory": "1g",
       "spark.driver.extraJavaOptions": JAVA, "spark.sql.caseSensitive": "true"}
builder = SparkSession.builder
for key, setting in {**LOCAL, **own}.items():
    builder = builder.config(key, setting)
spark = builder.getOrCreate()
EPOCH = datetime.datetime(1970, 1, 1)

def plain(value):
    if isinstance(value, Row):
        return {name: plain(own) for name, own in value.asDict().items()}
    if isinstance(value, dict):
        return sorted([plain(key), plain(own)] for key, own in value.items())
    if isinstance(value, list):
        return [plain(one) for one in value]
    if isinstance(value, datetime.datetime):
        return (value - EPOCH) // datetime.timedelta(microseconds=1)
    if isinstance(value, datetime.date):
        return value.isoformat()
    if isinstance(value, (bytes, bytearray)):
        return value.hex()
    return repr(value) if isinstance(value, float) else str(value) if isinstance(value, decimal.Decimal) else value

found = []
for location, branch, columns in json.load(open(sys.argv[1])):
    frame = spark.read.format("iceberg").option("branch", branch).load(location)
    taken = [f"unix_micros(CAST(`{name}` AS timestamp)) AS `{name}`" if is_time else f"`{name}`"
             for name, is_time in columns]  # Python has no year 0, where a zone may move the year 1 to
    found.append([plain(list(row)) for row in frame.selectExpr(*taken).collect()])
spark.stop()
print(json.dumps(found))
"""


def plain(column: Column, value: Any) -> Any:
    """Return a value of the model as the script prints it."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if column.kind == "struct":
        return {name: plain(child, value[name]) for name, child in column.children.items()}
    if column.kind == "list":
        return [plain(column.children["element"], one) for one in value]
    if column.kind == "map":
        return sorted([key, plain(column.children["value"], own)] for key, own in value)
    if isinstance(value, bytes):
        return value.hex()
    return repr(value) if isinstance(value, float) else str(value)


def ordered(rows: list[Any]) -> list[str]:
    return sorted(json.dumps(row, sort_keys=True) for row in rows)


def test_iceberg_java_reads_the_rows_of_the_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.fsync", lambda _descriptor: None)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    asked: list[tuple[str, str, list[tuple[str, bool]]]] = []
    expected: list[list[Any]] = []

    class Kept(WriteApi):
        def teardown(self) -> None:
            columns = self.model.columns if self.is_sound and self.history else {}
            if not columns or KEY_ID in self.model.properties:
                return
            if any(column.kind in LEFT_OUT for _, column in paths(columns)):
                return
            for name, reference in self.model.references.items():
                if not reference.is_tag:
                    is_time = [(one, column.kind.startswith("timestamp")) for one, column in columns.items()]
                    asked.append((self.history[-1][0].base.location, name, is_time))
                    rows = self.model.rows(name).values()
                    expected.append([[plain(one, one.value(row)) for one in columns.values()] for row in rows])

    few = settings(
        max_examples=EXAMPLES,
        stateful_step_count=STEPS,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    run_state_machine_as_test(Kept, settings=few)
    assert len(asked) >= LEAST
    questions = tmp_path / "questions.json"
    questions.write_text(json.dumps(asked))
    started = launch("iceberg-java")
    done = subprocess.run(
        [started.command[0], "-c", SCRIPT, str(questions)],
        env=dict(started.env),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    for question, theirs, ours in zip(asked, found, expected, strict=True):
        assert ordered(theirs) == ordered(ours), question

"""On Spark with two cores: 50 million rows read, validated and written, beside Iceberg-Java in the same session.

Reading and validating at level rows are held against Iceberg-Java's reading of the same table into a sink that drops
the rows, as no engine validates.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from spec_ref.formats.metrics_parquet import parquet_metrics
from tools.bench.measure import Claim, Peer, Scale, in_turns
from tools.bench.rows import FIELDS, columns
from tools.table_kit import TableKit, parquet_bytes

FILES = 10

SESSION = """
import json, os, sys, time
from pyspark.sql import SparkSession
out = os.fdopen(os.dup(1), "w"); os.dup2(2, 1)
jars = os.environ["ICEBERG_CONFORMANCE_JARS"]
spark = (SparkSession.builder.master("local[2]").config("spark.driver.extraClassPath", jars)
    .config("spark.ui.enabled", "false").config("spark.driver.memory", "3g")
    .config("spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1").getOrCreate())
spark.sparkContext.setLogLevel("ERROR")
from conformance.pipeline.spark import read_dataframe
from conformance.validate.context import Level
from conformance.validate.run import validate
from conformance.validate.spark import Spark
checks = Spark()
def java_read(location):
    spark.read.format("iceberg").load(location).write.format("noop").mode("overwrite").save()
def read(location):
    read_dataframe(spark, location).write.format("noop").mode("overwrite").save()
def validated(location):
    report = validate(location, Level.ROWS, checks)
    assert not [one for one in report.findings if one.severity.value == "error"], report.findings
version = spark._jvm.org.apache.iceberg.IcebergBuild.version()
print(json.dumps(f"Iceberg-Java {version} in Spark {spark.version}"), file=out, flush=True)
for line in sys.stdin:
    what, *arguments = json.loads(line)
    start = time.perf_counter()
    told = globals()[what](*arguments)
    print(json.dumps([time.perf_counter() - start, told]), file=out, flush=True)
"""


def make(place: Path, rows: int) -> str:
    """A table; the location of its metadata."""
    kit = TableKit(f"{place}/t", FIELDS)
    files = []
    for number in range(FILES):
        each = rows // FILES
        content = parquet_bytes(FIELDS, columns(number * each, each), compression="zstd")
        metrics = parquet_metrics(content)
        files.append(
            kit.file(
                (), data=content, record_count=each, value_counts=metrics.value_counts,
                null_value_counts=metrics.null_value_counts, nan_value_counts=metrics.nan_value_counts,
                lower_bounds=metrics.lower_bounds, upper_bounds=metrics.upper_bounds,
            )
        )  # fmt: skip
    kit.commit(*files)
    return kit.table().metadata_location


def claims(scale: Scale) -> Iterator[Claim]:
    """Reading, validating."""
    rows = scale.of(50_000_000, 1_000_000)
    with tempfile.TemporaryDirectory(prefix="bench-spark-") as folder, Peer("iceberg-java", SESSION) as session:
        location = make(Path(folder), rows)

        def took(what: str) -> float:
            seconds, _ = session(what, location)
            return float(seconds)

        ways = {what: partial(took, what) for what in ("java_read", "read", "validated")}
        taken = in_turns(ways, min(3, scale.rounds))
        for what in ("read", "validated"):
            yield Claim(
                path="on Spark", case=f"{rows:,} rows {what}", ours=taken[what], peer=session.version,
                theirs=taken["java_read"], goal=1.5,
            )  # fmt: skip

"""On Spark with two cores: 50 million rows read, validated and written, compared with Iceberg-Java in the same session.

No other engine validates: reading, and validating at level rows, are both compared with Iceberg-Java's reading of the
same table into a sink that drops the rows. Both sides write the same DataFrame to new tables without partitions. Our
batches pass between Spark and its Python workers through pipes; Iceberg-Java's stay in the JVM.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from spec_ref.data_files.parquet_metrics import parquet_metrics
from tools.bench.measure import Claim, Peer, Scale, in_turns
from tools.bench.rows import FIELDS, columns
from tools.table_kit import TableKit, parquet_bytes

FILES = 10

CASES = (("read", "java_read", 0.8), ("validated", "java_read", 1.0), ("written", "java_written", 1.5))
"""What is measured, what it is compared with, and the goal for the ratio."""

SESSION = """
import json, os, shutil, sys, time
from pyspark.sql import SparkSession
out = os.fdopen(os.dup(1), "w"); os.dup2(2, 1)
jars = os.environ["ICEBERG_CONFORMANCE_JARS"]
spark = (SparkSession.builder.master("local[2]").config("spark.driver.extraClassPath", jars)
    .config("spark.ui.enabled", "false").config("spark.driver.memory", "3g")
    .config("spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1").getOrCreate())
spark.sparkContext.setLogLevel("ERROR")
from conformance.table_io.spark import read_dataframe
from conformance.validator.context import Level
from conformance.validator.run import validate
from conformance.validator.spark import Spark
from conformance.table_io.writing import create_table, spark as on_spark
from spec_ref.data_types.types import DOUBLE, INT, LONG, STRING, NestedField
checks = Spark()
spark.conf.set("spark.sql.catalog.bench", "org.apache.iceberg.spark.SparkCatalog")
spark.conf.set("spark.sql.catalog.bench.type", "hadoop")
COLUMNS = (("id", LONG), ("v", DOUBLE), ("k", INT), ("s", STRING))
def frame(rows):
    made = ("id", "id * 0.5D AS v", "CAST(id % 1000 AS int) AS k", "concat('str', id % 10000) AS s")
    return spark.range(0, rows, 1, 10).selectExpr(*made)
def java_written(place, rows):
    spark.conf.set("spark.sql.catalog.bench.warehouse", place)
    spark.sql("CREATE TABLE bench.db.t (id bigint, v double, k int, s string) USING iceberg")
    started = time.perf_counter()
    frame(rows).writeTo("bench.db.t").append()
    seconds = time.perf_counter() - started
    spark.sql("DROP TABLE bench.db.t PURGE")
    return seconds
def written(place, rows):
    fields = [NestedField(number, name, False, type_) for number, (name, type_) in enumerate(COLUMNS, 1)]
    table = create_table(place + "/ours", fields, properties={"write.parquet.compression-codec": "zstd"})
    started = time.perf_counter()
    on_spark.append(table, frame(rows))
    seconds = time.perf_counter() - started
    assert table.metadata.current_snapshot.summary["added-records"] == str(rows)
    shutil.rmtree(place + "/ours")
    return seconds
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
    result = globals()[what](*arguments)
    print(json.dumps([time.perf_counter() - start, result]), file=out, flush=True)
"""


def make(place: Path, rows: int) -> str:
    """Make a table; return the location of its metadata."""
    kit = TableKit(f"{place}/t", FIELDS)
    files = []
    for number in range(FILES):
        each = rows // FILES
        content = parquet_bytes(FIELDS, columns(number * each, each), compression="zstd")
        metrics = parquet_metrics(content)
        files.append(
            kit.file(
                (),
                data=content,
                record_count=each,
                value_counts=metrics.value_counts,
                null_value_counts=metrics.null_value_counts,
                nan_value_counts=metrics.nan_value_counts,
                lower_bounds=metrics.lower_bounds,
                upper_bounds=metrics.upper_bounds,
            )
        )
    kit.commit(*files)
    return kit.table().metadata_location


def claims(scale: Scale) -> Iterator[Claim]:
    """Measure reading, validating and writing."""
    rows = scale.of(50_000_000, 1_000_000)
    with tempfile.TemporaryDirectory(prefix="bench-spark-") as folder, Peer("iceberg-java", SESSION) as session:
        location = make(Path(folder), rows)

        def took(what: str) -> float:
            seconds, _ = session(what, location)
            return float(seconds)

        def wrote(what: str) -> float:
            return float(session(what, folder, rows)[1])

        ways = {what: partial(took, what) for what in ("java_read", "read", "validated")}
        ways |= {what: partial(wrote, what) for what in ("java_written", "written")}
        taken = in_turns(ways, min(3, scale.rounds))
        for what, beside, goal in CASES:
            yield Claim(
                path="on Spark",
                case=f"{rows:,} rows {what}",
                ours=taken[what],
                peer=session.version,
                theirs=taken[beside],
                goal=goal,
            )

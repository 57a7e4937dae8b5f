"""Write golden tables with Iceberg-Java; run by ``tools/golden/make_writers.py``."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def write(kit: Any, jar: str) -> None:
    """Write tables with Spark's SQL; deletes are merge-on-read if the format version supports it."""
    from pyspark.sql import SparkSession

    made = kit.Tables("iceberg-java", Path(jar).stem.rpartition("-")[2])
    builder = SparkSession.builder.master("local[1]").config("spark.jars", jar).config("spark.ui.enabled", "false")
    for key, value in {
        "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
        "spark.sql.catalog.w": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.w.type": "hadoop",
        "spark.sql.catalog.w.warehouse": f"file://{made.place}",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "1",
        "spark.driver.memory": "1g",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
    }.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    for version, delete in ((1, "copy-on-write"), (2, "position-deletes"), (3, "deletion-vector")):
        mode = "copy-on-write" if version == 1 else "merge-on-read"
        create = (
            f"CREATE TABLE t ({kit.COLUMNS}) USING iceberg PARTITIONED BY (name) "
            f"TBLPROPERTIES ('format-version'='{version}', 'write.delete.mode'='{mode}', "
            "'write.distribution-mode'='none')"
        )
        table = f"w.v{version}"  # in a Hadoop catalog, the name of a table determines its location
        spark.sql(create.replace("TABLE t", f"TABLE {table}"))
        steps = kit.attempts((kit.INSERT, kit.DELETE), table, spark.sql)
        made.record(version, create, steps, delete)
    made.close()
    spark.stop()

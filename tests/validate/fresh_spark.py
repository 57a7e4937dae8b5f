"""Makes tables with Iceberg-Java through Spark: every version, format and feature. Runs in the engine's environment.

python fresh_spark.py FOLDER [NAME...]
"""

from __future__ import annotations

import itertools
import os
import sys
from collections.abc import Iterator

from conformance.adapter_sdk.spark_settings import LOCAL

VERSIONS, FORMATS = (1, 2, 3), ("parquet", "avro", "orc")

ROWS = """SELECT id, cast(id % 5 AS int) AS k, concat('v', id % 7) AS s,
CASE WHEN id % 6 = 0 THEN NULL ELSE id / 3.0D END AS d,
cast(id AS decimal(9, 2)) AS m, date_add(DATE '1969-12-28', cast(id AS int)) AS day,
cast(1577836800 + id * 40000 AS timestamp) AS ts, named_struct('a', cast(id AS int), 'b', array(id, id + 1)) AS n
FROM range({first}, {last})"""

NOW = "TIMESTAMP '2024-02-29 01:02:03'"
STATISTICS = ["CALL fresh.system.compute_partition_stats('{n}')", "CALL fresh.system.compute_table_stats('{n}')"]
NESTED = "named_struct('a', 3000000000L, 'b', array(1L))"

FEATURES = {
    "plain": ("", ["INSERT INTO {t} {more}"]),
    "partitioned": (
        "PARTITIONED BY (bucket(4, id), months(ts), truncate(2, s))",
        ["INSERT INTO {t} {more}", *STATISTICS],
    ),
    "merge-on-read": (
        "PARTITIONED BY (k)",
        [
            "INSERT INTO {t} {more}",
            "DELETE FROM {t} WHERE id % 4 = 1",
            "UPDATE {t} SET d = -1.0 WHERE id = 8",
            "DELETE FROM {t} WHERE id IN (2, 8)",
            *STATISTICS,
        ],
    ),
    "copy-on-write": (
        "",
        ["INSERT INTO {t} {more}", "DELETE FROM {t} WHERE id = 3", "UPDATE {t} SET s = 'u' WHERE id = 4"],
    ),
    "evolved": (
        "PARTITIONED BY (k)",
        [
            "ALTER TABLE {t} ALTER COLUMN n.a TYPE bigint",
            "ALTER TABLE {t} RENAME COLUMN s TO text",
            "ALTER TABLE {t} ADD COLUMN extra string",
            "ALTER TABLE {t} ADD PARTITION FIELD bucket(3, id)",
            "ALTER TABLE {t} DROP COLUMN d",
            "INSERT INTO {t} SELECT 99L, 1, 'x', 2.5BD, DATE '2024-02-29', {now}, {n9}, 'new'",
            *STATISTICS,
        ],
    ),
    "sorted": ("", ["ALTER TABLE {t} WRITE ORDERED BY k DESC NULLS LAST, id", "INSERT INTO {t} {more}"]),
    "maintained": (
        "",
        [
            "INSERT INTO {t} {more}",
            "ALTER TABLE {t} CREATE TAG kept",
            "ALTER TABLE {t} CREATE BRANCH side",
            "INSERT INTO {t}.branch_side {more}",
            "DELETE FROM {t} WHERE id = 5",
            "CALL fresh.system.rewrite_data_files(table => '{n}', options => map('rewrite-all', 'true'))",
            "CALL fresh.system.rewrite_manifests('{n}')",
        ],
    ),
}


def names() -> Iterator[tuple[str, int, str, str]]:
    """Every table: its name, version, format and feature."""
    for feature, version, file_format in itertools.product(FEATURES, VERSIONS, FORMATS):
        yield f"{feature}-v{version}-{file_format}".replace("-", "_"), version, file_format, feature


def main(folder: str, wanted: list[str]) -> None:
    """Make the tables."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.config("spark.jars", os.environ["ICEBERG_CONFORMANCE_JARS"].replace(":", ","))
    settings = {
        **LOCAL,
        "spark.driver.memory": "1g",
        "spark.sql.ansi.enabled": "false",
        "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
        "spark.sql.catalog.fresh": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.fresh.type": "hadoop",
        "spark.sql.catalog.fresh.warehouse": f"file://{folder}",
    }
    for key, value in settings.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    for name, version, file_format, feature in names():
        if wanted and name not in wanted:
            continue
        table = f"fresh.db.{name}"
        layout, statements = FEATURES[feature]
        mode = "merge-on-read" if feature in ("merge-on-read", "maintained") and version > 1 else "copy-on-write"
        properties = {
            "format-version": version,
            "write.format.default": file_format,
            **{f"write.{operation}.mode": mode for operation in ("delete", "update", "merge")},
        }
        options = ", ".join(f"'{key}' = '{value}'" for key, value in properties.items())
        spark.sql(
            f"CREATE TABLE {table} USING iceberg {layout} TBLPROPERTIES ({options}) AS {ROWS.format(first=0, last=12)}"
        )
        for statement in statements:
            if file_format == "orc" and "compute_partition_stats" in statement:
                continue  # Iceberg-Java 1.12 has no writer of them in ORC
            spark.sql(
                statement.format(t=table, n=f"db.{name}", n9=NESTED, now=NOW, more=ROWS.format(first=12, last=20))
            )
        print(name, flush=True)
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])

"""Run the commands of advice in Spark, each remedy on a new table; started by `test_advice_commands`.

Standard input has the remedies as JSON: statements, the file to remove first, and whether the catalog keeps files of a
dropped table. Standard output has the ids of the rows after each, or the error.
"""

import json
import os
import sys
from pathlib import Path

from pyspark.sql import SparkSession

from conformance.adapter_sdk.spark_settings import LOCAL


def session(warehouse: str) -> SparkSession:
    """Return a session with two catalogs: one in memory, which keeps files of dropped tables, and one of folders."""
    catalog = "org.apache.iceberg.spark.SparkCatalog"
    settings = {
        **LOCAL,
        "spark.driver.extraClassPath": os.environ["ICEBERG_CONFORMANCE_JARS"],
        "spark.driver.memory": "1g",
        "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
        "spark.sql.catalog.memory": catalog,
        "spark.sql.catalog.memory.catalog-impl": "org.apache.iceberg.inmemory.InMemoryCatalog",
        "spark.sql.catalog.memory.warehouse": f"file://{warehouse}/memory",
        "spark.sql.catalog.folders": catalog,
        "spark.sql.catalog.folders.type": "hadoop",
        "spark.sql.catalog.folders.warehouse": f"file://{warehouse}/folders",
    }
    builder = SparkSession.builder.appName("advice")
    for key, value in settings.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def column(spark: SparkSession, query: str) -> list:
    """Return the first column of a query."""
    return [row[0] for row in spark.sql(query).collect()]


def run(spark: SparkSession, catalog: str, table: str, remedy: dict) -> list[int]:
    """Make a table with two snapshots, break it, run the statements, and return the ids of its rows."""
    spark.sql(
        f"CREATE TABLE {table} (id bigint NOT NULL, p string, x int) USING iceberg PARTITIONED BY (p) "
        "TBLPROPERTIES ('write.delete.mode' = 'merge-on-read', 'write.distribution-mode' = 'none')"
    )
    spark.sql(f"INSERT INTO {table} VALUES (1, 'a', 1), (2, 'b', 2)")
    spark.sql(f"INSERT INTO {table} VALUES (3, 'a', 3)")
    first, second = column(spark, f"SELECT snapshot_id FROM {table}.snapshots ORDER BY committed_at")
    previous = column(spark, f"SELECT file FROM {table}.metadata_log_entries ORDER BY timestamp")[-2]
    for name in ("BRANCH name", "TAG name_of_tag"):
        spark.sql(f"ALTER TABLE {table} CREATE {name} AS OF VERSION {second}")
    if remedy["removed"] == "manifest":
        (path,) = column(spark, f"SELECT path FROM {table}.manifests WHERE added_snapshot_id = {second}")
        Path(path.removeprefix("file:")).unlink()
        spark.sql(f"REFRESH TABLE {table}")
    for statement in remedy["statements"]:
        filled = (
            statement.replace("FILE", previous).replace("COPY", previous).replace("catalog.system", f"{catalog}.system")
        )
        spark.sql(
            filled.replace("=> ID", f"=> {first}")
            .replace("(ID)", f"({first})")
            .replace("VERSION ID", f"VERSION {first}")
            .replace("db.t", table)
        )
    return sorted(column(spark, f"SELECT id FROM {table}"))


def main() -> None:
    """Answer."""
    spark = session(sys.argv[1])
    spark.sparkContext.setLogLevel("OFF")
    answers = {}
    for number, (name, remedy) in enumerate(json.load(sys.stdin).items()):
        catalog = "memory" if remedy["registers"] else "folders"
        spark.sql(f"USE {catalog}")
        spark.sql("CREATE NAMESPACE IF NOT EXISTS db")
        try:
            answers[name] = run(spark, catalog, f"db.t{number}", remedy)
        except Exception as error:  # whatever fails is the finding of the test
            answers[name] = f"{type(error).__name__}: {error}".split("\n")[0]
    print(json.dumps(answers))


main()

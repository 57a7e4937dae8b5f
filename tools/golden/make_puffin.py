"""Make golden Puffin, statistics and data files with Spark and Iceberg-Java.

Runs in an environment that has pyspark, with the Iceberg runtime's jar at hand::

    python tools/golden/make_puffin.py --jar iceberg-spark-runtime-4.1_2.13-1.12.0.jar --out vectors/golden

The warehouse has to be at the same path on every machine, since deletion vectors contain the locations of data files.
"""

from __future__ import annotations

import argparse
import base64
import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

WAREHOUSE = Path("/tmp/golden-warehouse")

DELETION_VECTORS: list[dict[str, Any]] = [
    {"file": "dv-few", "rows": [100], "delete": "id IN (1, 3, 5, 7, 9)"},
    {"file": "dv-run", "rows": [10_000], "delete": "id BETWEEN 1000 AND 6999"},
    {"file": "dv-every-second", "rows": [20_000], "delete": "id % 2 = 0"},
    {"file": "dv-two-containers", "rows": [70_000], "delete": "id IN (0, 65535, 65536, 69999)"},
    {"file": "dv-two-data-files", "rows": [100, 100], "delete": "id % 50 = 7"},
]

STATISTICS_COLUMNS = """
  b BOOLEAN, i INT, l BIGINT, f FLOAT, d DOUBLE, dt DATE, ts TIMESTAMP, tn TIMESTAMP_NTZ, s STRING, bin BINARY,
  d9 DECIMAL(9,2), d18 DECIMAL(18,0), d38 DECIMAL(38,10), few INT"""
STATISTICS_SELECT = """
  SELECT id % 2 = 0, CAST(id - 50 AS INT), id * 1000000007, CAST(id / 4 AS FLOAT), id / 8D, DATE'1969-12-01' + CAST(id
  AS INT),
    timestamp_micros(id * 1234567 - 50000000), CAST(timestamp_micros(id * 1234567 - 50000000) AS TIMESTAMP_NTZ),
    concat('value ', id), CAST(concat('bin ', id) AS BINARY), CAST(id - 50 AS DECIMAL(9,2)),
    CAST(id * 10000000000 AS DECIMAL(18,0)), CAST(id - 50 AS DECIMAL(38,10)) / 7,
    CAST(CASE WHEN id < 10 THEN NULL ELSE id % 3 END AS INT)
  FROM range(0, 100, 1, 1)"""

METRICS_COLUMNS = """
  b BOOLEAN, i INT, l BIGINT, f FLOAT, d DOUBLE, dt DATE, ts TIMESTAMP, tn TIMESTAMP_NTZ, s STRING, bin BINARY,
  d9 DECIMAL(9,2), d18 DECIMAL(18,2), d38 DECIMAL(38,10), nothing INT, nan DOUBLE,
  st STRUCT<a: INT, inner: STRUCT<z: STRING>>, li ARRAY<INT>, m MAP<STRING, BIGINT>"""
METRICS_SELECT = """
  SELECT id % 3 = 0, CAST(id - 500 AS INT), id * 1000000007 - 7, CAST(CASE id % 10 WHEN 0 THEN 'NaN' WHEN 1 THEN -0.0
  ELSE id - 500 END AS FLOAT),
    CASE WHEN id % 7 = 0 THEN double('NaN') WHEN id = 8 THEN -0.0D ELSE id / 8D END, DATE'1969-12-01' + CAST(id AS
    INT), timestamp_micros(id * 1234567 - 50000000), CAST(timestamp_micros(id * 1234567 - 50000000) AS TIMESTAMP_NTZ),
    CASE WHEN id = 17 THEN NULL ELSE concat('a value longer than 16 ', lpad(id, 4, '0')) END, CAST(concat(unhex('FF'),
    'binary longer than 16 ', lpad(id, 4, '0')) AS BINARY), CAST(id - 500 AS DECIMAL(9,2)), CAST(id * 10000000000 AS
    DECIMAL(18,2)), CAST(id - 500 AS DECIMAL(38,10)) / 7, CAST(NULL AS INT), double('NaN'), CASE WHEN id % 5 = 0 THEN
    NULL ELSE named_struct('a', CAST(id AS INT), 'inner', CASE WHEN id % 3 = 0 THEN NULL ELSE named_struct('z',
    concat('z', id)) END) END, CASE id % 3 WHEN 0 THEN NULL WHEN 1 THEN array() ELSE array(CAST(id AS INT), NULL) END,
    CASE id % 3 WHEN 0 THEN NULL WHEN 1 THEN map() ELSE map(concat('k', id), id) END
  FROM range(0, 1000, 1, 1)"""


def session(jar: str) -> SparkSession:
    """Return a local Spark session of one core with a Hadoop catalog called golden."""
    from pyspark.sql import SparkSession

    return (
        SparkSession.builder.master("local[1]")
        .config("spark.jars", jar)
        .config("spark.ui.enabled", "false")
        .config("spark.driver.memory", "2g")
        .config("spark.sql.shuffle.partitions", "1")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.ansi.enabled", "false")
        .config("spark.sql.extensions", "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions")
        .config("spark.sql.catalog.golden", "org.apache.iceberg.spark.SparkCatalog")
        .config("spark.sql.catalog.golden.type", "hadoop")
        .config("spark.sql.catalog.golden.warehouse", f"file://{WAREHOUSE}")
        .getOrCreate()
    )


def read_files_table(spark: SparkSession, table: str, condition: str) -> list[dict[str, Any]]:
    """Return the rows of a table's ``files`` table, with bytes as base64."""

    def plain(value: Any) -> Any:
        if isinstance(value, (bytes, bytearray)):
            return base64.b16encode(bytes(value)).decode()
        if isinstance(value, dict):
            return {str(key): plain(item) for key, item in sorted(value.items())}
        return value

    names = [
        *("content", "file_path", "file_format", "record_count", "file_size_in_bytes", "column_sizes", "value_counts"),
        *("null_value_counts", "nan_value_counts", "lower_bounds", "upper_bounds", "split_offsets"),
        *("referenced_data_file", "content_offset", "content_size_in_bytes"),
    ]
    rows = spark.sql(
        f"SELECT {', '.join(names)} FROM golden.{table}.files WHERE {condition} ORDER BY file_path, content_offset"
    ).collect()
    return [{name: plain(row[name]) for name in names} for row in rows]


def local(location: str) -> Path:
    """Return the path of a location in the warehouse."""
    return Path(location.removeprefix("file:").replace("//", "/"))


def read_metadata(table: str) -> dict[str, Any]:
    """Return the current metadata of a table."""
    folder = WAREHOUSE.joinpath(*table.split("."), "metadata")
    version = (folder / "version-hint.text").read_text().strip()
    metadata: dict[str, Any] = json.loads((folder / f"v{version}.metadata.json").read_text())
    return metadata


def table(spark: SparkSession, name: str, columns: str, rest: str = "", **properties: str) -> list[str]:
    """Create a table; return the list of its statements."""
    listed = ", ".join(f"'{key}'='{value}'" for key, value in sorted({"format-version": "3", **properties}.items()))
    statement = f"CREATE TABLE golden.{name} ({columns.strip()}) USING iceberg {rest} TBLPROPERTIES ({listed})"
    spark.sql(statement)
    return [statement]


def run(spark: SparkSession, log: list[str], statement: str) -> None:
    """Run a statement and record it."""
    spark.sql(statement)
    log.append(" ".join(statement.split()))


def deletion_vectors(spark: SparkSession, out: Path) -> list[dict[str, Any]]:
    """Make one Puffin file for each delete; return the content of the index."""
    made = []
    for case in DELETION_VECTORS:
        name = "db." + case["file"].replace("-", "_")
        merge = {"write.delete.mode": "merge-on-read", "write.delete.distribution-mode": "hash"}
        log = table(spark, name, "id BIGINT", **merge)
        for count in case["rows"]:
            run(spark, log, f"INSERT INTO golden.{name} SELECT id FROM range(0, {count}, 1, 1)")
        run(spark, log, f"DELETE FROM golden.{name} WHERE {case['delete']}")
        entries = read_files_table(spark, name, "content = 1")
        (location,) = {entry["file_path"] for entry in entries}
        target = f"{case['file']}.puffin"
        shutil.copyfile(local(location), out / target)
        keep = ("record_count", "referenced_data_file", "content_offset", "content_size_in_bytes", "file_size_in_bytes")
        made.append(
            {
                "file": target,
                "statements": log,
                "rows": case["rows"],
                "deleted": case["delete"],
                "entries": [{key: entry[key] for key in keep} for entry in entries],
            }
        )
    return made


def statistics(spark: SparkSession, out: Path) -> dict[str, Any]:
    """Make one statistics file with a sketch for each column."""
    name = "db.statistics"
    log = table(spark, name, STATISTICS_COLUMNS)
    run(spark, log, f"INSERT INTO golden.{name} {STATISTICS_SELECT}")
    run(spark, log, f"CALL golden.system.compute_table_stats(table => '{name}')")
    metadata = read_metadata(name)
    (stats,) = metadata["statistics"]
    shutil.copyfile(local(stats["statistics-path"]), out / "statistics.stats")
    return {"file": "statistics.stats", "statements": log, "statistics": stats, "schema": metadata["schemas"][-1]}


def partition_statistics(spark: SparkSession, out: Path) -> dict[str, Any]:
    """Make one partition statistics file, with two specs and a deletion vector."""
    name = "db.partitions"
    log = table(
        spark, name, "id BIGINT, p STRING, d DATE", "PARTITIONED BY (p)", **{"write.delete.mode": "merge-on-read"}
    )
    run(
        spark,
        log,
        f"""INSERT INTO golden.{name} SELECT id, CASE id % 3 WHEN 0 THEN NULL ELSE concat('p', id % 3) END,
        DATE'2020-01-01' FROM range(0, 30, 1, 1)""",
    )
    run(spark, log, f"ALTER TABLE golden.{name} ADD PARTITION FIELD bucket(4, id)")
    run(spark, log, f"INSERT INTO golden.{name} SELECT id, 'p1', DATE'2020-01-02' FROM range(0, 6, 1, 1)")
    run(spark, log, f"DELETE FROM golden.{name} WHERE id = 1")
    run(spark, log, f"CALL golden.system.compute_partition_stats(table => '{name}')")
    metadata = read_metadata(name)
    (stats,) = metadata["partition-statistics"]
    shutil.copyfile(local(stats["statistics-path"]), out / "partitions.parquet")
    return {
        "file": "partitions.parquet",
        "statements": log,
        "partition-statistics": stats,
        "partition-specs": metadata["partition-specs"],
        "schema": metadata["schemas"][-1],
    }


def data_files(spark: SparkSession, out: Path) -> list[dict[str, Any]]:
    """Write the same rows into a file of each format, and return the metrics of their manifest entries."""
    made = []
    for format_ in ("parquet", "orc", "avro"):
        name = f"db.metrics_{format_}"
        properties = {
            "write.format.default": format_,
            "write.metadata.metrics.default": "truncate(16)",
            "write.parquet.row-group-size-bytes": "32768",
            "write.parquet.row-group-check-min-record-count": "100",
            "write.parquet.row-group-check-max-record-count": "100",
            "write.orc.stripe-size-bytes": "65536",
        }
        log = table(spark, name, METRICS_COLUMNS, **properties)
        run(spark, log, f"INSERT INTO golden.{name} {METRICS_SELECT}")
        (entry,) = read_files_table(spark, name, "content = 0")
        target = f"metrics.{format_}"
        shutil.copyfile(local(entry["file_path"]), out / target)
        made.append({"file": target, "statements": log, "entry": entry, "schema": read_metadata(name)["schemas"][-1]})
    return made


def write_index(out: Path, engine: dict[str, str], content: dict[str, Any]) -> None:
    """Write the index of a folder."""
    (out / "index.json").write_text(json.dumps({**engine, **content}, indent=1, ensure_ascii=True) + "\n")


def main() -> None:
    """Make all files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jar", required=True)
    parser.add_argument("--out", required=True, type=Path)
    options = parser.parse_args()
    shutil.rmtree(WAREHOUSE, ignore_errors=True)
    spark = session(options.jar)
    engine = {
        "engine": "Iceberg-Java",
        "version": spark.sparkContext._jvm.org.apache.iceberg.IcebergBuild.version(),
        "with": f"Apache Spark {spark.version}",
        "script": "tools/golden/make_puffin.py",
    }
    folders = {name: options.out / name for name in ("puffin", "partition-statistics", "data-files")}
    for folder in folders.values():
        folder.mkdir(parents=True, exist_ok=True)
    puffin = {
        "deletion-vectors": deletion_vectors(spark, folders["puffin"]),
        "statistics": statistics(spark, folders["puffin"]),
    }
    write_index(folders["puffin"], engine, puffin)
    partitions = {"partition-statistics": partition_statistics(spark, folders["partition-statistics"])}
    write_index(folders["partition-statistics"], engine, partitions)
    write_index(folders["data-files"], engine, {"data-files": data_files(spark, folders["data-files"])})
    spark.stop()
    shutil.rmtree(WAREHOUSE)


if __name__ == "__main__":
    main()

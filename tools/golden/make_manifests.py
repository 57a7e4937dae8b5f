"""Make the golden manifests: small tables that an engine writes, whose entries follow from the statements.

    PYTHON tools/golden/make_manifests.py ENGINE OUTPUT

ENGINE is ``iceberg-java`` (PYTHON has pyspark 3.5 and the package snowpark-connect-deps-iceberg) or ``pyiceberg``.
OUTPUT receives the files and ``ENGINE.json``, which lists for each snapshot the files and the expected entries. The
expected entries are written here, from the statements and the spec; neither the engine nor our reader returns them.

The rows: id 34 is in bucket 3 of 4, as its hash 2017239379 (Appendix B) is 3 modulo 4; 2017-11-16T22:31:08 is on day
17486. Every statement writes one file, because all its rows are of one partition.
"""

from __future__ import annotations

import argparse
import json
import shutil
from pathlib import Path
from typing import Any

WAREHOUSE = "/tmp/golden-manifests"
FULL = {"id_bucket": 3, "ts_day": 17486, "a b": "x"}
NULLS = {"id_bucket": None, "ts_day": None, "a b": None}


def entry(status: int, partition: dict[str, Any], rows: int, number: int, **more: object) -> dict[str, Any]:
    """Return an expected entry; ``number`` is that of the statement that added the file."""
    return {"status": status, "content": 0, "partition": partition, "record_count": rows, "number": number, **more}


def expected(version: int) -> list[list[dict[str, Any]]]:
    """Return the expected entries of all manifests after each statement."""
    ids = [0, 2] if version == 3 else [None, None]
    first = entry(1, FULL, 2, 1, first_row_id=ids[0])
    second = entry(1, NULLS, 1, 2, first_row_id=ids[1])
    gone = {**second, "status": 2}
    steps = [[first], [first, second], [first, gone]]
    if version == 2:
        steps.append([first, entry(1, FULL, 1, 4, content=1, first_row_id=None)])
    if version == 3:
        vector = entry(1, FULL, 1, 4, content=1, first_row_id=None, format="puffin", content_offset=4)
        steps.append([first, vector])
    return steps


AT = "timestamp'2017-11-16 22:31:08'"

STATEMENTS = [
    "INSERT INTO {t} VALUES (34, " + AT + ", 'x', 1, 1.5), (34, " + AT + ", 'x', 2, -0.0)",
    "INSERT INTO {t} VALUES (null, null, null, null, null)",
    "DELETE FROM {t} WHERE id IS NULL",
    "DELETE FROM {t} WHERE n = 1",
]


def spark_tables(output: Path) -> tuple[str, list[dict[str, Any]]]:
    """Make the tables of Iceberg-Java, with Spark's SQL."""
    import snowpark_connect_deps_iceberg as jars
    from pyspark.sql import SparkSession

    jar = next(Path(jars.__file__).parent.glob("jars/iceberg-spark-runtime-3.5_2.12-*.jar"))
    builder = SparkSession.builder.master("local[1]").config("spark.jars", str(jar)).config("spark.ui.enabled", "false")
    for key, value in {
        "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
        "spark.sql.catalog.golden": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.golden.type": "hadoop",
        "spark.sql.catalog.golden.warehouse": f"file://{WAREHOUSE}",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
    }.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    tables = []
    for version in (1, 2, 3):
        table = f"golden.db.v{version}"
        spark.sql(
            f"CREATE TABLE {table} (id bigint, ts timestamp, `a b` string, n int, f float) USING iceberg "
            f"PARTITIONED BY (bucket(4, id), days(ts), `a b`) TBLPROPERTIES ('format-version'='{version}', "
            "'write.delete.mode'='merge-on-read', 'write.distribution-mode'='none', "
            "'commit.manifest-merge.enabled'='false')"
        )
        for number, entries in enumerate(expected(version)):
            spark.sql(STATEMENTS[number].format(t=table))
            lists = spark.sql(
                f"SELECT manifest_list FROM {table}.snapshots ORDER BY committed_at DESC LIMIT 1"
            ).collect()
            paths = [row.path for row in spark.sql(f"SELECT path FROM {table}.manifests").collect()]
            tables.append(copy_snapshot(output, f"iceberg-java-v{version}-{number + 1}", lists[0][0], paths))
            tables[-1].update(format_version=version, statement=STATEMENTS[number].format(t="t"), entries=entries)
    spark.stop()
    return jar.stem.rpartition("-")[2], tables


def pyiceberg_tables(output: Path) -> tuple[str, list[dict[str, Any]]]:
    """Make the tables of PyIceberg, with the same statements as calls."""
    import datetime

    import pyarrow as pa
    import pyiceberg
    from pyiceberg.catalog.memory import InMemoryCatalog
    from pyiceberg.partitioning import PartitionField, PartitionSpec
    from pyiceberg.schema import Schema
    from pyiceberg.transforms import BucketTransform, DayTransform, IdentityTransform
    from pyiceberg.types import FloatType, IntegerType, LongType, NestedField, StringType, TimestamptzType

    catalog = InMemoryCatalog("golden", warehouse=f"file://{WAREHOUSE}/py")
    catalog.create_namespace("db")
    schema = Schema(
        NestedField(1, "id", LongType(), required=False),
        NestedField(2, "ts", TimestamptzType(), required=False),
        NestedField(3, "a b", StringType(), required=False),
        NestedField(4, "n", IntegerType(), required=False),
        NestedField(5, "f", FloatType(), required=False),
    )
    spec = PartitionSpec(
        PartitionField(1, 1000, BucketTransform(4), "id_bucket"),
        PartitionField(2, 1001, DayTransform(), "ts_day"),
        PartitionField(3, 1002, IdentityTransform(), "a b"),
    )
    at = datetime.datetime(2017, 11, 16, 22, 31, 8, tzinfo=datetime.UTC)
    rows: list[list[tuple[Any, ...]]] = [[(34, at, "x", 1, 1.5), (34, at, "x", 2, -0.0)], [(None,) * 5]]
    fields: list[pa.Field[Any]] = [
        pa.field("id", pa.int64()),
        pa.field("ts", pa.timestamp("us", "UTC")),
        pa.field("a b", pa.string()),
        pa.field("n", pa.int32()),
        pa.field("f", pa.float32()),
    ]
    types = pa.schema(fields)
    tables = []
    for version in (1, 2):
        table = catalog.create_table(
            f"db.v{version}", schema, partition_spec=spec, properties={"format-version": str(version)}
        )
        for number, entries in enumerate(expected(version)[:3]):
            if number < 2:
                columns = list(zip(*rows[number], strict=True))
                table.append(
                    pa.table([pa.array(c, t) for c, t in zip(columns, types.types, strict=True)], schema=types)
                )
            else:
                table.delete("id is null")
            snapshot = table.current_snapshot()
            paths = [manifest.manifest_path for manifest in snapshot.manifests(table.io)]
            tables.append(copy_snapshot(output, f"pyiceberg-v{version}-{number + 1}", snapshot.manifest_list, paths))
            tables[-1].update(format_version=version, statement=STATEMENTS[number].format(t="t"), entries=entries)
    return pyiceberg.__version__, tables


def copy_snapshot(output: Path, name: str, manifest_list: str, paths: list[str]) -> dict[str, Any]:
    """Copy the files of a snapshot, and return their names."""
    manifests = {}
    for number, path in enumerate(sorted(paths)):
        manifests[path] = f"{name}-manifest-{number}.avro"
        shutil.copy(path.removeprefix("file://").removeprefix("file:"), output / manifests[path])
    listed = f"{name}-list.avro"
    shutil.copy(manifest_list.removeprefix("file://").removeprefix("file:"), output / listed)
    return {"name": name, "manifest_list": listed, "manifests": manifests}


ENGINES = {"iceberg-java": spark_tables, "pyiceberg": pyiceberg_tables}


def main() -> None:
    """Make the files of one engine."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("engine", choices=ENGINES)
    parser.add_argument("output", type=Path)
    given = parser.parse_args()
    engine, output = given.engine, given.output
    shutil.rmtree(WAREHOUSE, ignore_errors=True)
    version, snapshots = ENGINES[engine](output)
    fields = {
        "engine": engine,
        "version": version,
        "made_by": "tools/golden/make_manifests.py",
        "partition_fields": {"id_bucket": 1000, "ts_day": 1001, "a b": 1002},
        "snapshots": snapshots,
    }
    (output / f"{engine}.json").write_text(json.dumps(fields, indent=1) + "\n")


if __name__ == "__main__":
    main()

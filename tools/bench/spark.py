"""On Spark with two cores: 50 million rows read, validated and written, compared with Iceberg-Java in the same session.

No other engine validates: reading, and validating at level rows, are both compared with Iceberg-Java's reading of the
same table into a sink that drops the rows. Both sides write the same DataFrame to new tables without partitions. Our
batches pass between Spark and its Python workers through Unix domain sockets, and the JVM reads them without checking
the bounds of each value, which Iceberg-Java sets for its own; Iceberg-Java's stay in the JVM. Tables with deletes (of
1% of the rows), of nested columns and of strings are read and validated as well, and 5 columns of 200 are read. With
one and with two executors, each with one core, in processes of a standalone cluster on this machine, the table without
deletes is read and validated again. The scan of a table of 500,000 files is planned: our driver plans, and sends the
tasks to executors; Iceberg-Java plans on the driver or, by `spark.sql.iceberg.data-planning-mode`, on executors.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from attrs import frozen

from spec_ref.data_files.parquet_metrics import parquet_metrics
from spec_ref.data_types.types import INT, LONG, STRING, ListType, NestedField, StructType
from tools.bench import rows as rows_bench
from tools.bench.entries_table import make_table
from tools.bench.measure import Claim, Peer, Scale, in_turns
from tools.bench.rows import FIELDS, columns
from tools.table_kit import TableKit, parquet_bytes

FILES = 10

GOALS = {"read": 0.8, "validated": 1.0}
"""The goals for the ratio to Iceberg-Java's reading."""

WARM = 4
"""How often each side reads a table before it is measured, as the virtual machine compiles what it runs often."""

SESSION = """
import json, os, shutil, sys, time
from pyspark.sql import SparkSession
out = os.fdopen(os.dup(1), "w"); os.dup2(2, 1)
jars = os.environ["ICEBERG_CONFORMANCE_JARS"]
JAVA = "-Darrow.enable_unsafe_memory_access=true -Darrow.enable_null_check_for_get=false"
builder = SparkSession.builder.master(sys.argv[1]).config("spark.driver.extraClassPath", jars)
if "cluster" in sys.argv[1]:
    import pyspark
    installed = os.path.dirname(pyspark.__file__)
    os.environ["SPARK_HOME"] = sys.argv[2]  # executors write below it
    for name in set(os.listdir(installed)) - {"work"}:
        os.symlink(f"{installed}/{name}", f"{sys.argv[2]}/{name}")
    builder = (builder.config("spark.executor.extraClassPath", jars).config("spark.executor.memory", "1g")
        .config("spark.executorEnv.PYTHONPATH", os.environ["PYTHONPATH"]))
spark = (builder
    .config("spark.python.unix.domain.socket.enabled", "true")
    .config("spark.driver.extraJavaOptions", JAVA).config("spark.executor.extraJavaOptions", JAVA)
    .config("spark.ui.enabled", "false").config("spark.driver.memory", "3g")
    .config("spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1").getOrCreate())
spark.sparkContext.setLogLevel("ERROR")
from conformance.table_io.spark import read_dataframe
from conformance.validator.context import Level
from conformance.validator.run import validate
from conformance.validator.spark import SparkBackend
from conformance.table_io.writing import create_table, spark as on_spark
from spec_ref.data_types.types import DOUBLE, INT, LONG, STRING, NestedField
checks = SparkBackend()
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
def java_read(location, columns=None):
    frame = spark.read.format("iceberg").load(location)
    frame = frame if columns is None else frame.select(*columns)
    frame.write.format("noop").mode("overwrite").save()
def parquet_read(location, columns=None):
    spark.read.parquet(location.partition("/metadata/")[0] + "/data").write.format("noop").mode("overwrite").save()
def read(location, columns=None):
    read_dataframe(spark, location, select=columns).write.format("noop").mode("overwrite").save()
def java_planned(location, mode):
    spark.conf.set("spark.sql.iceberg.data-planning-mode", mode)
    frame = spark.read.format("iceberg").load(location)
    return frame._jdf.queryExecution().toRdd().getNumPartitions()
def planned(location):
    frame = read_dataframe(spark, location, partitions=2)
    return frame._jdf.queryExecution().toRdd().getNumPartitions()
def validated(location, columns=None):
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


WIDE = 200
SELECTED = tuple(f"c{number}" for number in (1, 50, 100, 150, 200))
"""The columns that are read of the wide table."""


@frozen
class Table:
    """A table to read."""

    location: str
    columns: tuple[str, ...] | None = None
    """The columns that are read; None for all."""


def make_others(place: Path, rows: int) -> dict[str, Table]:
    """Make the other tables that are read and validated; return them by a description."""
    (place / "deletes").mkdir()
    deletes = rows_bench.make(place / "deletes", rows)
    return {
        **{
            f"{rows:,} rows, {kind} of 1%,": Table(location)
            for kind, location in deletes.items()
            if kind != "no deletes"
        },
        f"{rows // 20:,} rows of {WIDE} columns, {len(SELECTED)} selected,": Table(
            _wide(place / "wide", rows // 20), SELECTED
        ),
        f"{rows // 4:,} rows of nested columns": Table(_nested(place / "nested", rows // 4)),
        f"{rows // 4:,} rows of strings": Table(_strings(place / "strings", rows // 4)),
    }


def _table(place: Path, fields: Sequence[NestedField], rows: int, arrays: Callable[[Any], list[Any]]) -> str:
    kit = TableKit(str(place), fields)
    names = [field.name for field in fields]
    parts = np.array_split(np.arange(rows, dtype=np.int64), rows_bench.FILES)
    kit.commit(*(kit.file(pa.table(arrays(ids), names=names)) for ids in parts))
    return kit.table().metadata_location


def _wide(place: Path, rows: int) -> str:
    fields = [NestedField(number, f"c{number}", required=False, type=LONG) for number in range(1, WIDE + 1)]
    return _table(place, fields, rows, lambda ids: [pa.array(ids * field.id % 1000) for field in fields])


def _nested(place: Path, rows: int) -> str:
    inner = (NestedField(3, "k", required=False, type=INT), NestedField(4, "s", required=False, type=STRING))
    numbers = ListType(element_id=6, element_required=False, element=LONG)
    fields = (
        NestedField(1, "id", required=False, type=LONG),
        NestedField(2, "point", required=False, type=StructType(inner)),
        NestedField(5, "numbers", required=False, type=numbers),
    )

    def arrays(ids: Any) -> list[Any]:
        texts = pa.array(ids % 10_000).cast(pa.string())
        point = pa.StructArray.from_arrays([pa.array((ids % 1000).astype(np.int32)), texts], names=["k", "s"])
        offsets: Any = pa.array(np.arange(len(ids) + 1, dtype=np.int32) * 3)
        return [pa.array(ids), point, pa.ListArray.from_arrays(offsets, pa.array(np.repeat(ids, 3)))]

    return _table(place, fields, rows, arrays)


def _strings(place: Path, rows: int) -> str:
    fields = [NestedField(number, f"s{number}", required=False, type=STRING) for number in range(1, 6)]
    return _table(
        place,
        fields,
        rows,
        lambda ids: [pa.array(ids * 7919 * field.id % 1_000_003).cast(pa.string()) for field in fields],
    )


def claims(scale: Scale) -> Iterator[Claim]:
    """Measure reading, validating and writing, and reading with one and two executors."""
    rows, rounds = scale.size(50_000_000, 1_000_000), min(3, scale.rounds)
    with tempfile.TemporaryDirectory(prefix="bench-spark-") as folder:
        location = make(Path(folder), rows)
        with Peer("iceberg-java", SESSION, "local[2]") as session:
            yield from _read_claims(session, f"{rows:,} rows", Table(location), rounds, beside_parquet=True)
            taken = in_turns(
                {what: partial(_wrote, session, what, folder, rows) for what in ("java_written", "written")}, rounds
            )
            yield _claim(f"{rows:,} rows written", session, taken, "written", "java_written", 1.5)
            for name, table in make_others(Path(folder), scale.size(20_000_000, 400_000)).items():
                yield from _read_claims(session, name, table, rounds)
        for executors in (1, 2):
            home = Path(folder, f"home-{executors}")
            home.mkdir()
            with Peer("iceberg-java", SESSION, f"local-cluster[{executors},1,1024]", str(home)) as session:
                case = f"{rows:,} rows, executors: {executors},"
                yield from _read_claims(session, case, Table(location), rounds)
                if executors == 2:
                    yield from _planning_claims(session, Path(folder), scale.size(500_000, 5_000), rounds)


def _planning_claims(session: Peer, folder: Path, files: int, rounds: int) -> Iterator[Claim]:
    """Measure the time until the executors have the scan tasks of many files; no file is opened."""
    (folder / "entries").mkdir()
    location = str(make_table(folder / "entries", files, files // 500, level=1))

    def took(what: str, *arguments: str) -> float:
        return float(session(what, location, *arguments)[0])

    modes = {f"java_planned {mode}": partial(took, "java_planned", mode) for mode in ("local", "distributed")}
    taken = in_turns({**modes, "planned": partial(took, "planned")}, rounds)
    for mode in ("local", "distributed"):
        case = f"{files:,} files planned for two executors, beside its {mode} planning"
        yield Claim(
            path="on Spark",
            case=case,
            ours=taken["planned"],
            peer=session.version,
            theirs=taken[f"java_planned {mode}"],
        )


def _read_claims(
    session: Peer, case: str, table: Table, rounds: int, *, beside_parquet: bool = False
) -> Iterator[Claim]:
    """Measure reading and validating; beside Spark's own reader of Parquet files, too, which knows of no table."""

    def took(what: str) -> float:
        return float(session(what, table.location, table.columns)[0])

    ours = ["read"] if table.columns else ["read", "validated"]  # validation reads all columns
    peers = ["java_read", *(["parquet_read"] if beside_parquet else [])]
    taken = in_turns({what: partial(took, what) for what in (*peers, *ours)}, rounds, WARM)
    for what in ours:
        yield _claim(f"{case} {what}", session, taken, what, "java_read", GOALS[what])
    if beside_parquet:
        yield Claim(
            path="on Spark",
            case=f"{case} read, beside Spark's own Parquet reader",
            ours=taken["read"],
            peer=session.version.partition(" in ")[2],
            theirs=taken["parquet_read"],
        )


def _wrote(session: Peer, what: str, folder: str, rows: int) -> float:
    return float(session(what, folder, rows)[1])


def _claim(
    case: str, session: Peer, taken: Mapping[str, tuple[float, ...]], ours: str, theirs: str, goal: float
) -> Claim:
    return Claim(path="on Spark", case=case, ours=taken[ours], peer=session.version, theirs=taken[theirs], goal=goal)

"""Reading 20 million rows with their deletes to Arrow, beside plain pyarrow, PyIceberg and Iceberg-Java in Spark.

The benchmark makes the tables: bigint, double, int and string in four zstd files. A position delete file, deletion
vectors or equality deletes delete 1% of the rows. Both sides end in the same form: with pyarrow and PyIceberg, a
table of all rows; with Spark, whose sink drops the rows, batches that are dropped. A case without a goal also makes
one table of all rows and takes turns with Spark. Plain pyarrow reads the same data files and deletes nothing.
Applying deletes copies every batch once more: where memory pages are expensive, as on a virtual machine that shares
its host, the ratios of two runs differ by a quarter. ``python -m tools.bench.rows`` reads a table of a million rows
with more and more equality deletes.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from conformance.table_io.local import read_table
from conformance.table_io.tables import Table, load_table
from spec_ref.core.versions import V2, V3
from spec_ref.data_files.parquet_arrow_types import WRITER_OPTIONS, arrow_schema
from spec_ref.data_types.types import DOUBLE, INT, LONG, STRING, NestedField, StructType
from spec_ref.manifests.data_file import DataFile, FileFormat
from tools.bench.measure import BenchError, Claim, Peer, Scale, in_turns, timed
from tools.entry_point import run_without_parser
from tools.table_kit import TableKit

FIELDS = (
    NestedField(1, "id", required=False, type=LONG),
    NestedField(2, "v", required=False, type=DOUBLE),
    NestedField(3, "k", required=False, type=INT),
    NestedField(4, "s", required=False, type=STRING),
)
FILES = 4
DELETED = 100
"""The number of rows for each deleted row."""

STEPS = (100, 1000, 10_000, 100_000)
"""The numbers of equality deletes for the table of a million rows."""

PYICEBERG = """
import gc, json, sys, time
import pyiceberg
from pyiceberg.table import StaticTable
print(json.dumps(f"PyIceberg {pyiceberg.__version__}"), flush=True)
for line in sys.stdin:
    (location,) = json.loads(line)
    table = StaticTable.from_metadata(location)
    gc.collect()
    start = time.perf_counter()
    rows = table.scan().to_arrow().num_rows
    print(json.dumps([time.perf_counter() - start, rows]), flush=True)
"""

SPARK = """
import json, os, sys, time
from pyspark.sql import SparkSession
spark = (SparkSession.builder.master("local[2]").config("spark.driver.extraClassPath",
        os.environ["ICEBERG_CONFORMANCE_JARS"])
    .config("spark.ui.enabled", "false").config("spark.driver.memory", "2g")
    .config("spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1").getOrCreate())
spark.sparkContext.setLogLevel("ERROR")
version = spark._jvm.org.apache.iceberg.IcebergBuild.version()
print(json.dumps(f"Iceberg-Java {version} in Spark {spark.version}"), flush=True)
for line in sys.stdin:
    (location,) = json.loads(line)
    frame = spark.read.format("iceberg").load(location)
    start = time.perf_counter()
    frame.write.format("noop").mode("overwrite").save()
    print(json.dumps([time.perf_counter() - start, None]), flush=True)
"""


def columns(first: int, count: int) -> pa.Table:
    """Return the rows of a file as Arrow columns."""
    ids = np.arange(first, first + count, dtype=np.int64)
    words = pa.array([f"str{number}" for number in range(10_000)])
    arrays = [
        pa.array(ids),
        pa.array(ids * 0.5),
        pa.array((ids % 1000).astype(np.int32)),
        words.take(ids % 10_000),
    ]
    return pa.table(arrays, names=[field.name for field in FIELDS])


def make(place: Path, rows: int) -> dict[str, str]:
    """Make the tables; return the locations of their metadata by name."""
    each = rows // FILES
    rng = np.random.default_rng(7)
    kits = {
        name: TableKit(f"{place}/{name}", FIELDS, version=V3 if name == "deletion vectors" else V2)
        for name in ("no deletes", "position deletes", "deletion vectors", "equality deletes")
    }
    paths = [f"{place}/data-{number}.parquet" for number in range(FILES)]
    files = []
    for number, path in enumerate(paths):
        table = columns(number * each, each).cast(arrow_schema(StructType(FIELDS)))
        pq.write_table(table, path, compression="zstd", **WRITER_OPTIONS)
        size = Path(path).stat().st_size
        files.append(
            DataFile(file_path=path, file_format=FileFormat.PARQUET, record_count=each, file_size_in_bytes=size)
        )
    for kit in kits.values():
        kit.commit(*files)
    deleted = [np.sort(rng.choice(each, each // DELETED, replace=False)) for _ in files]
    positions, vectors, equality = (
        kits[f"{kind}s"] for kind in ("position delete", "deletion vector", "equality delete")
    )
    positions.commit(
        positions.position_deletes([(p, int(at)) for p, where in zip(paths, deleted, strict=True) for at in where])
    )
    vectors.commit(*(vectors.deletion_vector(file, where.tolist()) for file, where in zip(files, deleted, strict=True)))
    keys = [{1: int(at) + number * each} for number, where in enumerate(deleted) for at in where]
    rng.shuffle(keys)
    equality.commit(equality.equality_deletes(keys, [1], fields=FIELDS[:1]))
    return {name: kit.table().metadata_location for name, kit in kits.items()}


def ours(table: Table) -> int:
    """Read a table with the pipeline into an Arrow table."""
    return int(read_table(table).read_all().num_rows)


def dropped(table: Table) -> int:
    """Read a table with the pipeline, and drop each Arrow batch."""
    return sum(batch.num_rows for batch in read_table(table))


def plain(paths: Sequence[str]) -> int:
    """Read the data files with pyarrow alone."""
    tables = [pq.read_table(path) for path in paths]
    return sum(table.num_rows for table in tables)


ENDS = {"held": ours, "dropped": dropped}
"""What happens to the rows that are read."""

GOALS = {
    ("position deletes", "pyarrow"): 1.25,
    ("deletion vectors", "pyarrow"): 1.25,
    ("equality deletes", "spark"): 0.35,
}


def claims(scale: Scale) -> Iterator[Claim]:
    """Measure each kind of deletes, beside plain pyarrow and the peers that succeed."""
    rows = scale.size(20_000_000, 1_000_000)
    with (
        tempfile.TemporaryDirectory(prefix="bench-rows-") as folder,
        Peer("pyiceberg", PYICEBERG) as pyiceberg,
        Peer("iceberg-java@1.10.2", SPARK) as spark,
    ):
        made = make(Path(folder), rows)
        paths = sorted(str(path) for path in Path(folder).glob("data-*.parquet"))
        left = rows - rows // FILES // DELETED * FILES
        for name, location in made.items():
            if name == "no deletes":
                continue
            table = load_table(location)
            if ours(table) != left or dropped(table) != left:
                message = f"{name}: expected {left} remaining rows"
                raise BenchError(message)
            ways: dict[str, Callable[[], float]] = {
                "pyarrow": partial(timed, partial(plain, paths)),
                "ours": partial(timed, partial(ours, table)),
            }
            taken = in_turns(ways, scale.rounds)
            case, peer_name = f"{name} of 1% of {rows:,}", f"pyarrow {pa.__version__}, no deletes"
            yield _claim(case, taken["ours"], peer_name, taken["pyarrow"], GOALS.get((name, "pyarrow")))
            # PyIceberg fails on a vector that is not the only blob of its file, and rejects equality deletes.
            beside = [(spark, "held", 2), (spark, "dropped", 0)]
            for peer, way, warm in [*beside, (pyiceberg, "held", 1)] if name == "position deletes" else beside:
                turns = {"theirs": partial(_theirs, peer, location), "ours": partial(timed, partial(ENDS[way], table))}
                taken = in_turns(turns, max(1, scale.rounds // 2), warm)
                dropping = peer is spark and way == "dropped"
                label = f"{case}, all held" if peer is spark and not dropping else case
                goal = GOALS.get((name, "spark")) if dropping else None
                yield _claim(label, taken["ours"], peer.version, taken["theirs"], goal)


def _theirs(peer: Peer, location: str) -> float:
    return float(peer(location)[0])


def _claim(case: str, ours: tuple[float, ...], peer: str, theirs: tuple[float, ...], goal: float | None) -> Claim:
    return Claim(path="rows read", case=case, ours=ours, peer=peer, theirs=theirs, goal=goal)


def growth(place: Path) -> None:
    """Measure a million rows with more and more equality deletes."""
    data = columns(0, 1_000_000)
    print("1000000 rows in one file, by the number of equality deletes: processor seconds")
    for count in STEPS:
        kit = TableKit(f"{place}/scale-{count}", FIELDS)
        kit.commit(kit.file(data))
        keys = [{1: number * 10, 4: f"str{number * 10 % 10_000}"} for number in range(count)]
        kit.commit(kit.equality_deletes(keys, [1, 4], fields=(FIELDS[0], FIELDS[3])))
        table, measured = kit.table(), []
        for _ in range(5):
            start = time.process_time()
            left = ours(table)
            measured.append(time.process_time() - start)
        print(f"{count:10} {statistics.median(measured):7.3f}   rows: {left}")


def main() -> None:
    """Measure in a temporary folder."""
    with tempfile.TemporaryDirectory(prefix="bench-rows-") as folder:
        growth(Path(folder))


if __name__ == "__main__":
    run_without_parser(main)

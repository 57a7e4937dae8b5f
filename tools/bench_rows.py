"""How fast rows are read: beside plain pyarrow, PyIceberg and Iceberg-Java in Spark, in turns on the same files.

    python -m tools.bench_rows [--rows 20000000] [--rounds 5] [--peers pyiceberg iceberg-java]

The tables are made here: bigint, double, int and string in four zstd files, and 1% of the rows deleted by a position
delete file, by deletion vectors and by equality deletes. Reading ends with all rows in Arrow; Spark's with a sink that
takes them and drops them. Last, a table of a million rows is read with more and more equality deletes.
"""

from __future__ import annotations

import argparse
import gc
import json
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from conformance.engines import launch
from conformance.pipeline.local import read_table
from conformance.pipeline.tables import Table, load_table
from spec_ref.formats.parquet_arrow import WRITER_OPTIONS, arrow_schema
from spec_ref.manifests.data_file import DataFile, FileFormat
from spec_ref.schemas.types import DOUBLE, INT, LONG, STRING, NestedField, StructType
from spec_ref.versions import V2, V3
from tools.table_kit import TableKit

FIELDS = (
    NestedField(1, "id", required=False, type=LONG),
    NestedField(2, "v", required=False, type=DOUBLE),
    NestedField(3, "k", required=False, type=INT),
    NestedField(4, "s", required=False, type=STRING),
)
FILES = 4
DELETED = 100
"""One row of so many is deleted."""

STEPS = (100, 1000, 10_000, 100_000)
"""Equality deletes of the table of a million rows."""

PYICEBERG = """
import gc, json, sys, time
from pyiceberg.table import StaticTable
print(json.dumps("ready"), flush=True)
for line in sys.stdin:
    table = StaticTable.from_metadata(json.loads(line))
    gc.collect()
    start = time.perf_counter()
    try:
        rows = table.scan().to_arrow().num_rows
        print(json.dumps([time.perf_counter() - start, rows]), flush=True)
    except Exception as error:
        print(json.dumps([None, f"{type(error).__name__}: {error}"[:90]]), flush=True)
"""

SPARK = """
import json, os, sys, time
from pyspark.sql import SparkSession
from pyspark.sql.functions import sum, col
jars = os.environ["ICEBERG_CONFORMANCE_JARS"]
spark = (SparkSession.builder.master("local[2]").config("spark.driver.extraClassPath", jars)
    .config("spark.ui.enabled", "false").config("spark.driver.memory", "2g")
    .config("spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1").getOrCreate())
spark.sparkContext.setLogLevel("ERROR")
print(json.dumps("ready"), flush=True)
for line in sys.stdin:
    frame = spark.read.format("iceberg").load(json.loads(line))
    start = time.perf_counter()
    frame.write.format("noop").mode("overwrite").save()
    print(json.dumps([time.perf_counter() - start, None]), flush=True)
"""
SCRIPTS = {"pyiceberg": PYICEBERG, "iceberg-java": SPARK}


class Peer:
    """An engine in a process of its own that reads one table after the other."""

    def __init__(self, name: str) -> None:
        start = launch({"pyiceberg": "pyiceberg@0.12.0", "iceberg-java": "iceberg-java@1.10.2"}[name])
        self.process = subprocess.Popen(
            [start.command[0], "-c", SCRIPTS[name]], env=dict(start.env), stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        self._line()

    def _line(self) -> Any:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        return json.loads(line) if line else [None, "the peer ended"]

    def read(self, location: str) -> tuple[float | None, Any]:
        """How long a table took, and its rows or why there are none."""
        assert self.process.stdin is not None
        print(json.dumps(location), file=self.process.stdin, flush=True)
        seconds, told = self._line()
        return seconds, told

    def close(self) -> None:
        """End the process."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(60)


def columns(first: int, count: int) -> pa.Table:
    """Rows of a file."""
    ids = np.arange(first, first + count, dtype=np.int64)
    words = pa.array([f"str{number}" for number in range(10_000)])
    arrays = [
        pa.array(ids),
        pa.array(ids * 0.5),
        pa.array((ids % 1000).astype(np.int32)),
        words.take(pa.array(ids % 10_000)),
    ]
    return pa.table(arrays, names=[field.name for field in FIELDS])


def make(place: Path, rows: int) -> dict[str, str]:
    """The tables by name, as locations of metadata."""
    each = rows // FILES
    rng = np.random.default_rng(7)
    made = {}
    kits = {name: TableKit(f"{place}/{name}", FIELDS, version=V3 if name == "vectors" else V2)
            for name in ("plain", "positions", "vectors", "equality")}  # fmt: skip
    paths = [f"{place}/data-{number}.parquet" for number in range(FILES)]
    files = []
    for number, path in enumerate(paths):
        table = columns(number * each, each).cast(arrow_schema(StructType(FIELDS)))
        pq.write_table(table, path, compression="zstd", **WRITER_OPTIONS)
        size = Path(path).stat().st_size
        files.append(
            DataFile(file_path=path, file_format=FileFormat.PARQUET, record_count=each, file_size_in_bytes=size)
        )
    deleted = [np.sort(rng.choice(each, each // DELETED, replace=False)) for _ in files]
    for name, kit in kits.items():
        kit.commit(*files)
        if name == "positions":
            kit.commit(
                kit.position_deletes([(p, int(at)) for p, where in zip(paths, deleted, strict=True) for at in where])
            )
        elif name == "vectors":
            kit.commit(*(kit.deletion_vector(file, where.tolist()) for file, where in zip(files, deleted, strict=True)))
        elif name == "equality":
            keys = [{1: int(at) + number * each} for number, where in enumerate(deleted) for at in where]
            rng.shuffle(keys)
            kit.commit(kit.equality_deletes(keys, [1], fields=FIELDS[:1]))
        made[name] = kit.table().metadata_location
    return made


def timed(work: Callable[[], int]) -> tuple[float, float, int]:
    """How long some work took, how long it had processors, and how many rows it made."""
    gc.collect()
    start, busy = time.perf_counter(), time.process_time()
    rows = work()
    return time.perf_counter() - start, time.process_time() - busy, rows


def median(measured: Sequence[Sequence[float]], place: int) -> float:
    """The median of one of the numbers of some measurements."""
    return statistics.median(one[place] for one in measured)


def ours(table: Table) -> int:
    """Read a table with the pipeline."""
    return int(read_table(table).read_all().num_rows)


def plain(paths: Sequence[str]) -> int:
    """Read the data files with pyarrow alone."""
    tables = [pq.read_table(path) for path in paths]
    return sum(table.num_rows for table in tables)


def compare(place: Path, rows: int, rounds: int, peers: Sequence[str]) -> None:
    """Read every table with everyone, in turns."""
    made = make(place, rows)
    tables = {name: load_table(location) for name, location in made.items()}
    paths = sorted(str(path) for path in place.glob("data-*.parquet"))
    started = {name: Peer(name) for name in peers}
    times: dict[tuple[str, str], list[tuple[float, float]]] = {}
    told: dict[tuple[str, str], Any] = {}

    def note(who: str, what: str, seconds: float | None, busy: float | None, rows: Any) -> None:
        if seconds is not None:
            times.setdefault((who, what), []).append((seconds, busy or 0.0))
        told[who, what] = rows

    for _ in range(rounds):
        for what, table in tables.items():
            note("pyarrow alone", "plain", *timed(lambda: plain(paths)))
            note("this", what, *timed(lambda table=table: ours(table)))
            for name, peer in started.items():
                if (name, what) not in told or (name, what) in times:
                    seconds, rows_told = peer.read(made[what])
                    note(name, what, seconds, None, rows_told)
    for peer in started.values():
        peer.close()
    base = median(times["pyarrow alone", "plain"], 0)
    print(f"{rows} rows in {FILES} files; median of {rounds} rounds: seconds, ratio, processor seconds")
    for (who, what), rows_told in sorted(told.items(), key=lambda item: (item[0][1], item[0][0])):
        if (who, what) in times:
            seconds, busy = median(times[who, what], 0), median(times[who, what], 1)
            print(f"{what:10} {who:14} {seconds:7.3f} {seconds / base:6.2f} {busy:7.3f}   rows: {rows_told}")
        else:
            print(f"{what:10} {who:14}    -      -       -     {rows_told}")


def scale(place: Path) -> None:
    """A million rows with more and more equality deletes."""
    data = columns(0, 1_000_000)
    print("1000000 rows in one file, by the number of equality deletes: seconds, processor seconds")
    for count in STEPS:
        kit = TableKit(f"{place}/scale-{count}", FIELDS)
        kit.commit(kit.file(data))
        keys = [{1: number * 10, 4: f"str{number * 10 % 10_000}"} for number in range(count)]
        kit.commit(kit.equality_deletes(keys, [1, 4], fields=(FIELDS[0], FIELDS[3])))
        table = kit.table()
        measured = [timed(lambda table=table: ours(table)) for _ in range(5)]
        print(f"{count:10} {median(measured, 0):7.3f} {median(measured, 1):7.3f}   rows: {measured[0][2]}")


def main() -> None:
    """Make the tables, read them and tell."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--peers", nargs="*", choices=sorted(SCRIPTS), default=[])
    options = parser.parse_args()
    place = Path(tempfile.mkdtemp(prefix="bench-rows-"))
    try:
        scale(place)
        compare(place, options.rows, options.rounds, options.peers)
    finally:
        shutil.rmtree(place)


if __name__ == "__main__":
    main()

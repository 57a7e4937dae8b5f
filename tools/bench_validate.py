"""How fast tables are validated, and in how much memory.

    python tools/bench_validate.py manifests [--entries 10000 100000 1000000] [--engine local spark] [--workers 1]
    python tools/bench_validate.py rows [--rows 4000000] [--rounds 3]

``manifests`` writes tables of manifests with 20 columns of statistics and validates them at that level, each in a
process of its own; the memory is that of the process and all that it started, sampled. ``rows`` validates Parquet files
at level rows, and reads the same files with plain pyarrow in the same run, in turns.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import struct
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from conformance.validate.context import Level
from conformance.validate.local import Local
from conformance.validate.run import validate
from spec_ref.formats.avro_container import open_container, write_container
from spec_ref.formats.metrics_parquet import parquet_metrics
from spec_ref.formats.parquet_arrow import WRITER_OPTIONS, arrow_schema
from spec_ref.manifests import DataFile, EntryStatus, FileFormat, ManifestEntry
from spec_ref.manifests.writer import manifest_file, write_manifest
from spec_ref.partitioning.spec import UNPARTITIONED, PartitionField, PartitionSpec
from spec_ref.partitioning.transforms import Identity
from spec_ref.records import evolve
from spec_ref.schemas.schema import Schema
from spec_ref.schemas.types import DATE, DOUBLE, INT, LONG, STRING, TIMESTAMP, NestedField, StructType, Type
from spec_ref.snapshots.manifest_list import NO_SYNC, ManifestFile, write_manifest_list
from spec_ref.snapshots.snapshot import Snapshot
from spec_ref.sorting import UNSORTED
from spec_ref.table_metadata import TableMetadata, dumps
from spec_ref.versions import V2

COLUMNS: tuple[Type, ...] = (LONG,) * 10 + (DOUBLE,) * 4 + (STRING,) * 4 + (DATE, TIMESTAMP)
A_MANIFEST = 10_000
SNAPSHOT = 7


def _schema(types: tuple[Type, ...]) -> Schema:
    return Schema(tuple(NestedField(number, f"c{number}", False, type_) for number, type_ in enumerate(types, 1)))  # noqa: FBT003


def _bounds(type_: Type, number: int) -> tuple[bytes, bytes]:
    if type_ == STRING:
        return f"customer-{number:09d}".encode(), f"customer-{number + 999:09d}".encode()
    form = {LONG: "<q", TIMESTAMP: "<q", DATE: "<i", DOUBLE: "<d"}[type_]
    return struct.pack(form, number), struct.pack(form, number + 999)


def _entries(count: int) -> Iterator[ManifestEntry]:
    ids = range(1, len(COLUMNS) + 1)
    for number in range(count):
        bounds = {column: _bounds(COLUMNS[column - 1], number * 1000) for column in ids}
        yield ManifestEntry(
            status=EntryStatus.ADDED,
            snapshot_id=SNAPSHOT,
            data_file=DataFile(
                file_path=f"file:///warehouse/db/t/data/m=000000/f-{number:08d}-1.parquet",
                file_format=FileFormat.PARQUET,
                partition={1000: number},
                record_count=1000,
                file_size_in_bytes=1_000_000 + number % 1000,
                column_sizes=dict.fromkeys(ids, 5000),
                value_counts=dict.fromkeys(ids, 1000),
                null_value_counts=dict.fromkeys(ids, 0),
                lower_bounds={column: lower for column, (lower, _) in bounds.items()},
                upper_bounds={column: upper for column, (_, upper) in bounds.items()},
                split_offsets=(4,),
            ),
        )


class Tables:
    """Tables of manifests, whose entries differ from manifest to manifest in their paths alone."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.schema = _schema(COLUMNS)
        field = PartitionField(source_id=1, field_id=1000, name="p", transform=Identity())
        self.spec = PartitionSpec(0, (field,))
        self._made: dict[int, tuple[Any, list[tuple[int, bytes]], ManifestFile]] = {}

    def _base(self, entries: int) -> tuple[Any, list[tuple[int, bytes]], ManifestFile]:
        if entries not in self._made:
            rows = list(_entries(entries))
            data = write_manifest(rows, self.spec, self.schema, V2, codec="null")
            container = open_container(data, "MAN001")
            metadata = {key: value for key, value in container.metadata.items() if key != "avro.codec"}
            listed = manifest_file(
                rows, self.spec, self.schema, path="", length=0, snapshot_id=SNAPSHOT, sequence_number=1
            )
            self._made[entries] = (metadata, list(container.payloads()), listed)
        return self._made[entries]

    def make(self, entries: int) -> Path:
        """A table of so many entries; its metadata file."""
        place = self.folder / str(entries)
        (place / "metadata").mkdir(parents=True)
        listed = []
        for number in range(-(-entries // A_MANIFEST)):
            metadata, payloads, told = self._base(min(A_MANIFEST, entries))
            mine = f"m={number:06d}".encode()
            blocks = [(count, payload.replace(b"m=000000", mine)) for count, payload in payloads]
            data = write_container(metadata, blocks, codec="deflate", sync=NO_SYNC)
            path = place / "metadata" / f"{number}.avro"
            path.write_bytes(data)
            listed.append(evolve(told, manifest_path=f"file://{path}", manifest_length=len(data)))
        lists = place / "metadata" / "list.avro"
        lists.write_bytes(write_manifest_list(listed, V2))
        return _metadata(place, self.schema, self.spec, f"file://{lists}")


def _metadata(place: Path, schema: Schema, spec: PartitionSpec, manifest_list: str) -> Path:
    snapshot = Snapshot(
        snapshot_id=SNAPSHOT, sequence_number=1, timestamp_ms=1, manifest_list=manifest_list,
        summary={"operation": "append"}, schema_id=0,
    )  # fmt: skip
    metadata = TableMetadata(
        format_version=V2, table_uuid=str(uuid.UUID(int=1)), location=f"file://{place}", last_sequence_number=1,
        last_updated_ms=1, last_column_id=len(schema.fields), schemas=(schema,), current_schema_id=0,
        partition_specs=(spec,), default_spec_id=0, last_partition_id=1000, current_snapshot_id=SNAPSHOT,
        snapshots=(snapshot,), sort_orders=(UNSORTED,), default_sort_order_id=0,
    )  # fmt: skip
    path = place / "metadata" / "v1.metadata.json"
    made = dumps(metadata)
    path.write_bytes(made if isinstance(made, bytes) else made.encode())
    return path


# Time and memory of a process and what it starts


def _tree(root: int) -> list[int]:
    parents: dict[int, list[int]] = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                fields = Path("/proc", entry, "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            parents.setdefault(int(fields[1]), []).append(int(entry))
    found, left = [], [root]
    while left:
        process = left.pop()
        found.append(process)
        left += parents.get(process, [])
    return found


def _resident(process: int) -> int:
    try:
        return int(Path("/proc", str(process), "statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def measured(command: list[str]) -> tuple[float, float, int, int, dict[str, Any]]:
    """Run a command that prints JSON: seconds, processor seconds, the most memory of all its
    processes, that of the largest, and the JSON.
    """
    started, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    total = largest = 0
    stop = threading.Event()

    def sample() -> None:
        nonlocal total, largest
        while not stop.wait(0.1):
            sizes = [_resident(one) for one in _tree(process.pid)]
            total, largest = max(total, sum(sizes)), max(largest, *sizes)

    sampler = threading.Thread(target=sample)
    sampler.start()
    out, _ = process.communicate()
    seconds = time.perf_counter() - started
    stop.set()
    sampler.join()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds, processor, total, largest, json.loads(out)


def manifests(arguments: argparse.Namespace) -> None:
    """Time over entries, for each engine."""
    with tempfile.TemporaryDirectory(prefix="bench-validate-") as folder:
        tables = Tables(Path(folder))
        print("  entries  engine  seconds  processor s  check s  entries/s  entries/processor s  MiB all  MiB one")
        for entries in arguments.entries:
            metadata = tables.make(entries)
            for engine in arguments.engine:
                command = [
                    sys.executable, "-m", "conformance", "validate", str(metadata), "--level", "manifests", "--engine",
                    engine, "--format", "json", "--fail-on", "never",
                ]  # fmt: skip
                command += ["--workers", str(arguments.workers)] if engine == "local" else []
                seconds, processor, total, largest, report = measured(command)
                (table,) = report["tables"]
                assert table["entries"] == entries, table
                assert not table["counts"]["error"], table["findings"]
                rate = entries / table["seconds"]
                # What Spark's executors take is no child's time, and not told.
                used = f"{processor:>12.2f}" if engine == "local" else f"{'-':>12}"
                each = f"{entries / processor:>20.0f}" if engine == "local" else f"{'-':>20}"
                told = f"{entries:>9} {engine:>7} {seconds:>8.2f} {used} {table['seconds']:>8.2f} {rate:>10.0f} {each}"
                print(f"{told} {total >> 20:>8} {largest >> 20:>8}", flush=True)


# Rows

_ROWS: tuple[Type, ...] = (LONG, LONG, DOUBLE, DOUBLE, STRING, STRING, INT, DATE, TIMESTAMP)


def _batch(types: tuple[Type, ...], rows: int, seed: int) -> pa.Table:
    random = np.random.default_rng(seed)
    columns: list[Any] = []
    for type_, field in zip(types, arrow_schema(StructType(_schema(types).fields)), strict=True):
        if type_ == STRING:
            values: Any = pa.array(np.char.add("customer-", random.integers(0, 10**6, rows).astype(str)))
        elif type_ == DOUBLE:
            values = pa.array(random.random(rows))
        else:
            values = pa.array(random.integers(0, 20_000, rows)).cast(pa.int32() if type_ in (INT, DATE) else pa.int64())
        columns.append(values.cast(field.type))
    return pa.table(columns, schema=arrow_schema(StructType(_schema(types).fields)))


def rows(arguments: argparse.Namespace) -> None:
    """Level rows beside plain reading."""
    with tempfile.TemporaryDirectory(prefix="bench-validate-") as folder:
        place = Path(folder, "table")
        (place / "metadata").mkdir(parents=True)
        schema, entries, files = _schema(_ROWS), [], []
        for number in range(4):
            path = place / f"{number}.parquet"
            pq.write_table(_batch(_ROWS, arguments.rows // 4, number), path, compression="zstd", **WRITER_OPTIONS)
            metrics = parquet_metrics(path.read_bytes())
            files.append(path)
            entries.append(
                ManifestEntry(
                    status=EntryStatus.ADDED,
                    snapshot_id=SNAPSHOT,
                    data_file=DataFile(
                        file_path=f"file://{path}",
                        file_format=FileFormat.PARQUET,
                        partition={},
                        record_count=metrics.record_count,
                        file_size_in_bytes=metrics.file_size_in_bytes or 0,
                        column_sizes=metrics.column_sizes,
                        value_counts=metrics.value_counts,
                        null_value_counts=metrics.null_value_counts,
                        nan_value_counts=metrics.nan_value_counts,
                        lower_bounds=metrics.lower_bounds,
                        upper_bounds=metrics.upper_bounds,
                        split_offsets=metrics.split_offsets,
                    ),
                )
            )
        manifest = place / "metadata" / "m.avro"
        data = write_manifest(entries, UNPARTITIONED, schema, V2)
        manifest.write_bytes(data)
        listed = manifest_file(
            entries, UNPARTITIONED, schema, path=f"file://{manifest}", length=len(data), snapshot_id=SNAPSHOT,
            sequence_number=1,
        )  # fmt: skip
        lists = place / "metadata" / "list.avro"
        lists.write_bytes(write_manifest_list([listed], V2))
        metadata = _metadata(place, schema, UNPARTITIONED, f"file://{lists}")

        def checked() -> None:
            report = validate(str(metadata), Level.ROWS, Local())
            assert [one for one in report.findings if one.severity.value == "error"] == []

        def plain() -> None:
            for path in files:
                for batch in pq.ParquetFile(path).iter_batches(1 << 16, use_threads=False):
                    assert batch.num_rows

        times: dict[str, list[float]] = {"plain": [], "validate": []}
        cases: list[tuple[str, Callable[[], None]]] = [("plain", plain), ("validate", checked)]
        for _ in range(arguments.rounds):
            for name, run in cases:
                started = time.process_time()
                run()
                times[name].append(time.process_time() - started)
        least = {name: min(found) for name, found in times.items()}
        middle = {name: statistics.median(found) for name, found in times.items()}
        print(
            f"{arguments.rows} rows, {len(_ROWS)} columns, processor seconds of one thread, {arguments.rounds} rounds"
        )
        for name in times:
            print(f"{name:>9}: least {least[name]:.2f} s, median {middle[name]:.2f} s")
        print(
            f"    ratio: {least['validate'] / least['plain']:.2f} (median {middle['validate'] / middle['plain']:.2f})"
        )


def main() -> None:
    """Run one of the two."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = parser.add_subparsers(required=True)
    one = parts.add_parser("manifests")
    one.add_argument("--entries", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    one.add_argument("--engine", nargs="+", default=["local"], choices=["local", "spark"])
    one.add_argument("--workers", type=int, default=1)
    one.set_defaults(run=manifests)
    two = parts.add_parser("rows")
    two.add_argument("--rows", type=int, default=4_000_000)
    two.add_argument("--rounds", type=int, default=3)
    two.set_defaults(run=rows)
    arguments = parser.parse_args()
    arguments.run(arguments)


if __name__ == "__main__":
    main()

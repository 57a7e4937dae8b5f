"""How fast scans are planned, beside PyIceberg and Iceberg-Java: rounds take turns, so that all meet the same machine.

    python tools/bench_planning.py [--files 200000] [--manifests 100] [--rounds 5] [--without iceberg-java] [--growth]

The engines run in their own environments (`iceberg-conformance engines install`), Iceberg-Java in a warm virtual
machine. The table has statistics of 20 columns and an identity partition of 1000 values, clustered; its data files do
not exist. ``--growth`` plans 10000, 100000 and 1000000 files here alone and tells time and memory.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import resource
import statistics
import struct
import subprocess
import sys
import tempfile
import time
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from conformance.engines import launch
from spec_ref.expressions.predicates import TRUE, And, Comparison, Literal, NamedReference, Operation
from spec_ref.formats.avro_container import long_bytes, open_container, write_container
from spec_ref.manifests import DataFile, EntryStatus, FileFormat, ManifestEntry, write_manifest
from spec_ref.partitioning.spec import PartitionField, PartitionSpec
from spec_ref.partitioning.transforms import Identity
from spec_ref.scan_planning import plan, table_state
from spec_ref.schemas.schema import Schema
from spec_ref.schemas.types import LONG, NestedField
from spec_ref.snapshots.manifest_list import NO_SYNC, FieldSummary, ManifestFile, write_manifest_list
from spec_ref.table_metadata import read_metadata
from spec_ref.versions import V2

COLUMNS = 20
PARTITIONS = 1000
FIRST_PARTITION = 100
"""Partition values have two bytes each in Avro, so that all entries are equally long."""

STRIDE = 1000
"""The values of the first column ascend by so many from file to file."""

SCHEMA = Schema(tuple(NestedField(c, "p" if c > COLUMNS else f"c{c}", False, LONG) for c in range(1, COLUMNS + 2)))  # noqa: FBT003
SPEC = PartitionSpec(0, (PartitionField(source_id=COLUMNS + 1, field_id=1000, name="p", transform=Identity()),))
BLOCK = 90
"""Entries in a block: about 64 kB, as Iceberg-Java writes them."""


# The table


class Template:
    """The bytes of an entry, and where in them its path, partition and bounds stand."""

    def __init__(self, level: int) -> None:
        """Encode one entry; ``level`` is that of the compression."""
        self.level = level
        ids = range(1, COLUMNS + 1)
        marks = {(side, c): struct.pack("<q", 0x1122334455000000 + 256 * c + side) for side in (0, 1) for c in ids}
        self.prefix = "file:///warehouse/db/t/data/f-"
        path = f"{self.prefix}00000000-1.parquet"
        entry = ManifestEntry(
            status=EntryStatus.ADDED,
            data_file=DataFile(
                file_path=path,
                file_format=FileFormat.PARQUET,
                partition={1000: 4097},
                record_count=1000,
                file_size_in_bytes=1_000_000,
                column_sizes={c: 1000 + c for c in ids},
                value_counts=dict.fromkeys(ids, 1000),
                null_value_counts=dict.fromkeys(ids, 0),
                lower_bounds={c: marks[0, c] for c in ids},
                upper_bounds={c: marks[1, c] for c in ids},
                split_offsets=(4,),
                sort_order_id=0,
            ),
        )
        self.container = open_container(write_manifest([entry], SPEC, SCHEMA, V2), "MAN001")
        self.bytes = self.container.payload(0)
        self.number = self.bytes.index(path.encode()) + len(self.prefix)
        self.partition = self.bytes.index(b"\x82\x40")  # 4097 as Avro has it
        self.bounds = {key: self.bytes.index(mark) for key, mark in marks.items()}

    def manifest(self, first: int, count: int, total: int) -> bytes:
        """A manifest of the files from a number on."""
        rows = np.tile(np.frombuffer(self.bytes, np.uint8), (count, 1))
        numbers = np.arange(first, first + count)
        for digit in range(8):
            rows[:, self.number + digit] = ord("0") + numbers // 10 ** (7 - digit) % 10
        zigzag = (FIRST_PARTITION + numbers * PARTITIONS // total) * 2
        rows[:, self.partition], rows[:, self.partition + 1] = 0x80 | zigzag & 0x7F, zigzag >> 7
        for (side, column), at in self.bounds.items():
            low = numbers * STRIDE if column == 1 else numbers * 7919 * column % 1000003
            rows[:, at : at + 8] = (low + 999 * side).astype("<i8")[:, None].view(np.uint8)
        blocks = [(len(rows[at : at + BLOCK]), rows[at : at + BLOCK].tobytes()) for at in range(0, count, BLOCK)]
        kept = {key: value for key, value in self.container.metadata.items() if key != "avro.codec"}
        out = [write_container(kept, (), codec="deflate", sync=NO_SYNC)]
        for length, payload in blocks:
            stream = zlib.compressobj(self.level, zlib.DEFLATED, -15)
            packed = stream.compress(payload) + stream.flush()
            out += [long_bytes(length), long_bytes(len(packed)), packed, NO_SYNC]
        return b"".join(out)


def make_table(directory: Path, files: int, manifests: int, level: int = 6) -> Path:
    """Write a table and give its metadata file."""
    template, per = Template(level), files // manifests
    listed = []
    for number in range(manifests):
        path = directory / f"m{number}.avro"
        path.write_bytes(template.manifest(number * per, per, files))
        low, high = (FIRST_PARTITION + place * PARTITIONS // files for place in (number * per, (number + 1) * per - 1))
        summary = FieldSummary(
            contains_null=False, contains_nan=False, lower_bound=struct.pack("<q", low),
            upper_bound=struct.pack("<q", high),
        )  # fmt: skip
        listed.append(
            ManifestFile(
                manifest_path=f"file://{path}",
                manifest_length=path.stat().st_size,
                partition_spec_id=0,
                sequence_number=1,
                min_sequence_number=1,
                added_snapshot_id=7,
                added_files_count=per,
                existing_files_count=0,
                deleted_files_count=0,
                added_rows_count=1000 * per,
                existing_rows_count=0,
                deleted_rows_count=0,
                partitions=(summary,),
            )
        )
    snapshots = directory / "snap-7.avro"
    snapshots.write_bytes(write_manifest_list(listed, V2, snapshot_id=7, sequence_number=1))
    fields = [{"id": f.id, "name": f.name, "required": False, "type": "long"} for f in SCHEMA.fields]
    spec = {"source-id": COLUMNS + 1, "field-id": 1000, "name": "p", "transform": "identity"}
    metadata = {
        "format-version": 2, "table-uuid": "8f1c1d0e-2f4b-4d53-9c1e-0c1f5e6a7b80", "location": f"file://{directory}",
        "last-sequence-number": 1, "last-updated-ms": 1700000000000, "last-column-id": COLUMNS + 1,
        "schemas": [{"type": "struct", "schema-id": 0, "fields": fields}], "current-schema-id": 0,
        "partition-specs": [{"spec-id": 0, "fields": [spec]}], "default-spec-id": 0, "last-partition-id": 1000,
        "sort-orders": [{"order-id": 0, "fields": []}], "default-sort-order-id": 0, "properties": {},
        "current-snapshot-id": 7, "refs": {"main": {"snapshot-id": 7, "type": "branch"}},
        "snapshots": [{
            "snapshot-id": 7, "sequence-number": 1, "timestamp-ms": 1700000000000, "schema-id": 0,
            "manifest-list": f"file://{snapshots}", "summary": {"operation": "append"},
        }],
        "snapshot-log": [{"snapshot-id": 7, "timestamp-ms": 1700000000000}],
    }  # fmt: skip
    place = directory / "v1.metadata.json"
    place.write_text(json.dumps(metadata))
    return place


# The questions: name, column, least and greatest value


def questions(files: int) -> dict[str, tuple[str, int, int] | None]:
    """Filters on 1% of the files, by a partition and by bounds; and all files."""
    one = files // 100
    return {
        "partition": ("p", FIRST_PARTITION + 500, FIRST_PARTITION + 509),
        "bounds": ("c1", files // 2 * STRIDE, (files // 2 + one) * STRIDE - 1),
        "all": None,
    }


def predicate(question: tuple[str, int, int] | None) -> Any:
    """A question as a predicate."""
    if question is None:
        return TRUE
    name, low, high = question
    column = NamedReference(name)
    return And(Comparison(Operation.GT_EQ, column, Literal(low)), Comparison(Operation.LT_EQ, column, Literal(high)))


def read_file(location: str) -> bytes:
    """The content of a local file."""
    return Path(location.removeprefix("file://")).read_bytes()


def ours(metadata_file: Path, question: tuple[str, int, int] | None) -> int:
    """Plan, from the metadata file on, and count the tasks."""
    metadata = read_metadata(metadata_file.read_bytes())
    state = table_state(metadata)
    return sum(1 for _ in plan(metadata, state.snapshot, predicate(question), read_file, schema=state.schema))


# The peers

PYICEBERG = """
import gc, json, sys, time
import pyiceberg, pyiceberg.manifest as manifest
from pyiceberg.table import StaticTable
from pyiceberg.expressions import AlwaysTrue, And, GreaterThanOrEqual, LessThanOrEqual
print(json.dumps(f"PyIceberg {pyiceberg.__version__}"), flush=True)
for line in sys.stdin:
    metadata, question = json.loads(line)
    for cache in ("_manifest_cache", "_manifests"):
        if hasattr(getattr(manifest, cache, None), "clear"): getattr(manifest, cache).clear()
    row_filter = AlwaysTrue()
    if question:
        name, low, high = question
        row_filter = And(GreaterThanOrEqual(name, low), LessThanOrEqual(name, high))
    gc.collect()
    start = time.perf_counter()
    table = StaticTable.from_metadata("file://" + metadata)
    count = len(list(table.scan(row_filter=row_filter).plan_files()))
    print(json.dumps([time.perf_counter() - start, count]), flush=True)
"""

ICEBERG_JAVA = """
import json, os, sys, time
from conformance.adapters.jvm import JVM
out = os.fdopen(os.dup(1), "w"); os.dup2(2, 1)
jvm = JVM(os.environ["ICEBERG_CONFORMANCE_JARS"])
iceberg, root = jvm.root.org.apache.iceberg, jvm.root
io = root.org.apache.iceberg.hadoop.HadoopFileIO(root.org.apache.hadoop.conf.Configuration())
iterables = root.org.apache.iceberg.relocated.com.google.common.collect.Iterables
print(json.dumps(f"Iceberg-Java {iceberg.IcebergBuild.version()}"), file=out, flush=True)
for line in sys.stdin:
    metadata, question = json.loads(line)
    expressions = iceberg.expressions.Expressions
    row_filter = expressions.alwaysTrue()
    if question:
        name, low, high = question
        row_filter = getattr(expressions, "and")(
            expressions.greaterThanOrEqual(name, low), expressions.lessThanOrEqual(name, high))
    start = time.perf_counter()
    table = iceberg.BaseTable(iceberg.StaticTableOperations("file://" + metadata, io), "t")
    files = table.newScan().filter(row_filter).planFiles()
    count = iterables.size(files)
    files.close()
    print(json.dumps([time.perf_counter() - start, count]), file=out, flush=True)
jvm.shutdown()
"""

PEERS = {"pyiceberg": PYICEBERG, "iceberg-java": ICEBERG_JAVA}


class Peer:
    """An engine in an interpreter of its own."""

    def __init__(self, name: str) -> None:
        started = launch(name)
        self.process = subprocess.Popen(
            [started.command[0], "-c", PEERS[name]], env=started.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True, bufsize=1,
        )  # fmt: skip
        self.version = self._answer()

    def _answer(self) -> Any:
        assert self.process.stdout is not None
        return json.loads(self.process.stdout.readline())

    def __call__(self, metadata: Path, question: tuple[str, int, int] | None) -> tuple[float, int]:
        """Plan: the seconds it took, and the number of files."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps([str(metadata), question]) + "\n")
        self.process.stdin.flush()
        seconds, count = self._answer()
        return seconds, count

    def close(self) -> None:
        """End the engine."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(timeout=30)


def side_by_side(directory: Path, options: argparse.Namespace) -> None:
    """Rounds of all questions, in turns, and the medians."""
    metadata = make_table(directory, options.files, options.manifests)
    size = sum(path.stat().st_size for path in directory.glob("m*.avro"))
    print(f"{options.files} data files in {options.manifests} manifests of {size / 1e6:.0f} MB")
    peers = {name: Peer(name) for name in PEERS if name not in options.without}
    try:
        for name, question in questions(options.files).items():
            taken: dict[str, list[float]] = {"here": [], **{peer: [] for peer in peers}}
            rounds = options.rounds if question else min(options.rounds, 2)
            for round_ in range(rounds + 1):  # the first one warms up
                gc.collect()
                start = time.perf_counter()
                counts = {"here": ours(metadata, question)}
                times = {"here": time.perf_counter() - start}
                for peer, ask in peers.items():
                    for _ in range(5 if peer == "iceberg-java" and not round_ else 1):
                        times[peer], counts[peer] = ask(metadata, question)
                if round_:
                    for who, seconds in times.items():
                        taken[who].append(seconds)
                assert len(set(counts.values())) == 1, counts
            print(f"{name}: {counts['here']} files")
            for who, seconds in taken.items():
                ratio = statistics.median(a / b for a, b in zip(taken["here"], seconds, strict=True))
                told = "" if who == "here" else f"   here takes {ratio:.2f} times as long"
                label = who if who == "here" else peers[who].version
                low, high = min(seconds) * 1000, max(seconds) * 1000
                print(f"  {label:22s}{statistics.median(seconds) * 1000:9.1f} ms [{low:.0f} to {high:.0f}]{told}")
    finally:
        for ask in peers.values():
            ask.close()


def growth(directory: Path) -> None:
    """Time and memory of planning more and more files."""
    for files in (10_000, 100_000, 1_000_000):
        place = directory / str(files)
        place.mkdir()
        metadata = make_table(place, files, files // 2000, 1)
        for name, question in questions(files).items():
            if question is None and files > 100_000:
                continue
            child = os.fork()
            if child == 0:  # a process of its own tells its own peak of memory
                before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
                start = time.process_time()
                count = ours(metadata, question)
                seconds = time.process_time() - start
                grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
                told = f"{count:7d} planned, {seconds * 1e6 / files:6.2f} us of CPU each, {grown:4.0f} MB more"
                print(f"{files:8d} files, {name:10s}{told}", flush=True)
                os._exit(0)
            os.waitpid(child, 0)


def main() -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--files", type=int, default=200_000)
    parser.add_argument("--manifests", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--without", action="append", default=[], choices=sorted(PEERS))
    parser.add_argument("--growth", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        if options.growth:
            growth(Path(directory))
        else:
            side_by_side(Path(directory), options)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Validating manifests with 20 columns of statistics, and Parquet files at level rows compared with plain pyarrow.

A separate process with one worker validates a table of manifests; the figure is the number of entries per second of
processor time. Validation at level rows and plain reading take turns; both use one thread, and are measured in
seconds of processor time. ``python -m tools.bench.validation`` validates more and more entries with both backends,
and reports time and memory.
"""

from __future__ import annotations

import json
import os
import resource
import struct
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from conformance.validator.context import Level
from conformance.validator.local import LocalBackend
from conformance.validator.run import validate
from spec_ref.core.records import evolve
from spec_ref.core.versions import V2
from spec_ref.data_files.parquet_arrow_types import arrow_schema
from spec_ref.data_files.parquet_metrics import parquet_metrics
from spec_ref.data_types.types import DATE, DOUBLE, INT, LONG, STRING, TIMESTAMP, NestedField, StructType, Type
from spec_ref.encodings.avro.container import open_container, write_container
from spec_ref.manifest_lists.manifest_file import ManifestFile
from spec_ref.manifest_lists.writer import FIXED_SYNC_MARKER, write_manifest_list
from spec_ref.manifests import DataFile, EntryStatus, FileFormat, ManifestEntry
from spec_ref.manifests.writer import build_manifest_file, write_manifest
from spec_ref.partitioning.spec import PartitionField, PartitionSpec
from spec_ref.partitioning.transforms import Identity
from spec_ref.schemas.schema import Schema
from spec_ref.snapshots.snapshot import Snapshot
from spec_ref.sorting.order import UNSORTED
from spec_ref.table_metadata import TableMetadata, dumps
from tools.bench.measure import BenchError, Claim, Measure, Scale, in_turns
from tools.entry_point import run_without_parser
from tools.table_kit import TableKit, parquet_bytes

COLUMNS: tuple[Type, ...] = (LONG,) * 10 + (DOUBLE,) * 4 + (STRING,) * 4 + (DATE, TIMESTAMP)
A_MANIFEST = 10_000
SNAPSHOT = 7


def _schema(types: tuple[Type, ...]) -> Schema:
    return Schema(tuple(NestedField(number, f"c{number}", False, type_) for number, type_ in enumerate(types, 1)))  # noqa: FBT003


def _bounds(type_: Type, number: int) -> tuple[bytes, bytes]:
    if type_ == STRING:
        return f"customer-{number:09d}".encode(), f"customer-{number + 999:09d}".encode()
    forms: dict[Type, str] = {LONG: "<q", TIMESTAMP: "<q", DATE: "<i", DOUBLE: "<d"}
    form = forms[type_]
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
    """Tables of manifests whose entries differ between manifests only in their paths."""

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
            listed = build_manifest_file(
                rows, self.spec, self.schema, path="", length=0, snapshot_id=SNAPSHOT, sequence_number=1
            )
            self._made[entries] = (metadata, list(container.payloads()), listed)
        return self._made[entries]

    def make(self, entries: int) -> Path:
        """Make a table with the given number of entries; return its metadata file."""
        place = self.folder / str(entries)
        (place / "metadata").mkdir(parents=True)
        listed = []
        for number in range(-(-entries // A_MANIFEST)):
            metadata, payloads, listed_entry = self._base(min(A_MANIFEST, entries))
            mine = f"m={number:06d}".encode()
            blocks = [(count, payload.replace(b"m=000000", mine)) for count, payload in payloads]
            data = write_container(metadata, blocks, codec="deflate", sync=FIXED_SYNC_MARKER)
            path = place / "metadata" / f"{number}.avro"
            path.write_bytes(data)
            listed.append(evolve(listed_entry, manifest_path=f"file://{path}", manifest_length=len(data)))
        lists = place / "metadata" / "list.avro"
        lists.write_bytes(write_manifest_list(listed, V2))
        return _metadata(place, self.schema, self.spec, f"file://{lists}")


def _metadata(place: Path, schema: Schema, spec: PartitionSpec, manifest_list: str) -> Path:
    snapshot = Snapshot(
        snapshot_id=SNAPSHOT,
        sequence_number=1,
        timestamp_ms=1,
        manifest_list=manifest_list,
        summary={"operation": "append"},
        schema_id=0,
    )
    metadata = TableMetadata(
        format_version=V2,
        table_uuid=str(uuid.UUID(int=1)),
        location=f"file://{place}",
        last_sequence_number=1,
        last_updated_ms=1,
        last_column_id=len(schema.fields),
        schemas=(schema,),
        current_schema_id=0,
        partition_specs=(spec,),
        default_spec_id=0,
        last_partition_id=1000,
        current_snapshot_id=SNAPSHOT,
        snapshots=(snapshot,),
        sort_orders=(UNSORTED,),
        default_sort_order_id=0,
    )
    path = place / "metadata" / "v1.metadata.json"
    path.write_text(dumps(metadata), encoding="utf-8")
    return path


# Time and memory of a process and its children


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


def _processor_seconds(process: int) -> float:
    """Return the processor seconds of a process so far, with those of its children that have ended."""
    try:
        fields = Path("/proc", str(process), "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def run_measured(
    command: list[str], env: Mapping[str, str] | None = None
) -> tuple[float, float, int, int, dict[str, Any]]:
    """Run a command that prints JSON, and measure it.

    Processes that the command does not wait for, such as those that open files and those of Spark, are sampled ten
    times a second, so that the last tenth of a second of each may be missing.

    Returns:
        The seconds, the processor seconds, the peak memory of all its processes together, that of the largest process,
        and the JSON.
    """
    started, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    process = subprocess.Popen(command, stdout=subprocess.PIPE, env=env)
    total = largest = 0
    worked = 0.0
    stop = threading.Event()

    def sample() -> None:
        nonlocal total, largest, worked
        while not stop.wait(0.1):
            tree = _tree(process.pid)
            sizes = [_resident(one) for one in tree]
            worked = max(worked, sum(map(_processor_seconds, tree)))
            total, largest = max(total, sum(sizes)), max(largest, *sizes)

    sampler = threading.Thread(target=sample)
    sampler.start()
    out, _ = process.communicate()
    seconds = time.perf_counter() - started
    stop.set()
    sampler.join()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if process.returncode:
        message = f"{' '.join(command)} ended with status {process.returncode}"
        raise BenchError(message)
    return seconds, max(processor, worked), total, largest, json.loads(out)


def _validate(metadata: Path, engine: str, workers: int) -> tuple[float, float, int, int, dict[str, Any]]:
    command = [
        sys.executable,
        "-m",
        "conformance",
        "validate",
        str(metadata),
        "--level",
        "manifests",
        "--engine",
        engine,
        "--format",
        "json",
        "--fail-on",
        "never",
    ]
    command += ["--workers", str(workers)] if engine == "local" else []
    seconds, processor, total, largest, report = run_measured(command)
    (table,) = report["tables"]
    if table["counts"]["error"]:
        message = f"the table has errors: {table['findings']}"
        raise BenchError(message)
    return seconds, processor, total, largest, table


def _manifests(scale: Scale) -> Iterator[Claim]:
    entries = scale.size(1_000_000, 20_000)
    with tempfile.TemporaryDirectory(prefix="bench-validate-") as folder:
        metadata = Tables(Path(folder)).make(entries)
        rates = []
        for _ in range(min(3, scale.rounds)):
            _, processor, total, _, table = _validate(metadata, "local", 1)
            if table["entries"] != entries:
                message = f"{table['entries']} entries were checked, not {entries}"
                raise BenchError(message)
            rates.append(entries / processor)
    yield Claim(
        path="validate",
        case=f"manifests, {entries:,} entries",
        ours=tuple(rates),
        measure=Measure.RATE,
        goal=100_000.0,
        note=f"entries for each second of the processor, start of the process included; {total >> 20} MiB",
    )


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


def _rows(scale: Scale) -> Iterator[Claim]:
    count = scale.size(4_000_000, 400_000)
    with tempfile.TemporaryDirectory(prefix="bench-validate-") as folder:
        kit = TableKit(f"file://{folder}/table", _schema(_ROWS).fields)
        data = [parquet_bytes(kit.fields, _batch(_ROWS, count // 4, seed), compression="zstd") for seed in range(4)]
        files = []
        for content in data:
            metrics = parquet_metrics(content)
            files.append(
                kit.file(
                    (),
                    data=content,
                    record_count=metrics.record_count,
                    column_sizes=metrics.column_sizes,
                    value_counts=metrics.value_counts,
                    null_value_counts=metrics.null_value_counts,
                    nan_value_counts=metrics.nan_value_counts,
                    lower_bounds=metrics.lower_bounds,
                    upper_bounds=metrics.upper_bounds,
                    split_offsets=metrics.split_offsets,
                )
            )
        kit.commit(*files)
        metadata = kit.table().metadata_location
        paths = [file.file_path.removeprefix("file://") for file in files]

        def checked() -> float:
            start = time.process_time()
            report = validate(metadata, Level.ROWS, LocalBackend(workers=1))
            taken = time.process_time() - start
            if found := [one for one in report.findings if one.severity.value == "error"]:
                message = f"the table has errors: {found}"
                raise BenchError(message)
            return taken

        def plain() -> float:
            start = time.process_time()
            rows = sum(
                batch.num_rows
                for path in paths
                for batch in pq.ParquetFile(path).iter_batches(1 << 16, use_threads=False)
            )
            taken = time.process_time() - start
            if rows != count:
                message = f"{rows} rows were read, not {count}"
                raise BenchError(message)
            return taken

        taken = in_turns({"theirs": plain, "ours": checked}, scale.rounds)
    yield Claim(
        path="validate",
        case=f"rows, {count:,} of {len(_ROWS)} columns",
        ours=taken["ours"],
        peer=f"pyarrow {pa.__version__}",
        theirs=taken["theirs"],
        goal=3.0,
        note="processor seconds",
    )


def claims(scale: Scale) -> Iterator[Claim]:
    """Measure manifests, then rows."""
    yield from _manifests(scale)
    yield from _rows(scale)


def growth(folder: Path) -> None:
    """Measure more and more entries, with both backends."""
    tables = Tables(folder)
    print("  entries  engine  seconds  processor s  check s  entries/s  MiB all  MiB one")
    for entries in (10_000, 100_000, 1_000_000):
        metadata = tables.make(entries)
        for engine in ("local", "spark"):
            seconds, processor, total, largest, table = _validate(metadata, engine, 1)
            text = f"{entries:>9} {engine:>7} {seconds:>8.2f} {processor:>12.2f} {table['seconds']:>8.2f}"
            print(f"{text} {entries / table['seconds']:>10.0f} {total >> 20:>8} {largest >> 20:>8}", flush=True)


def main() -> None:
    """Measure in a temporary folder."""
    with tempfile.TemporaryDirectory(prefix="bench-validate-") as place:
        growth(Path(place))


if __name__ == "__main__":
    run_without_parser(main)

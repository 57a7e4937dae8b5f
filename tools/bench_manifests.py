"""How fast manifests are read, beside PyIceberg's decoder: rounds take turns, so that both meet the same machine.

    python tools/bench_manifests.py --peer-python PYTHON [--rounds 5] [--entries 100000]

PYTHON is an interpreter with PyIceberg. The manifests are written here, in the layout of Iceberg-Java: deflate blocks
of about 64 kB, 20 columns of statistics, one partition field.
"""

from __future__ import annotations

import argparse
import gc
import json
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from spec_ref.manifests import DataFile, EntryStatus, FileFormat, Manifest, ManifestEntry, read_manifest
from spec_ref.manifests.columns import column_batches
from spec_ref.manifests.writer import manifest_file, write_manifest
from spec_ref.partitioning.spec import PartitionField, PartitionSpec
from spec_ref.partitioning.transforms import Identity
from spec_ref.records import evolve
from spec_ref.schemas.schema import Schema
from spec_ref.schemas.types import LONG, NestedField
from spec_ref.snapshots.manifest_list import ManifestFile
from spec_ref.versions import V2

COLUMNS = 20
PARTITIONS = 1000

PEER = """
import gc, json, sys, time
from pyiceberg.io.pyarrow import PyArrowFileIO
from pyiceberg.manifest import FileFormat, ManifestContent, ManifestFile
import pyiceberg
io = PyArrowFileIO()
print(json.dumps(pyiceberg.__version__), flush=True)
for line in sys.stdin:
    paths = json.loads(line)
    manifests = [
        ManifestFile.from_args(manifest_path=path, manifest_length=length, partition_spec_id=0,
            content=ManifestContent.DATA, sequence_number=1, min_sequence_number=1, added_snapshot_id=7,
            added_files_count=1, existing_files_count=0, deleted_files_count=0, added_rows_count=1,
            existing_rows_count=0, deleted_rows_count=0, partitions=[], key_metadata=None)
        for path, length in paths]
    gc.collect()
    start = time.perf_counter()
    count = sum(len(manifest.fetch_manifest_entry(io)) for manifest in manifests)
    print(json.dumps([time.perf_counter() - start, count]), flush=True)
"""


def entries(count: int, offset: int = 0) -> Iterator[ManifestEntry]:
    """Entries of new files with statistics on `COLUMNS` columns."""
    ids = range(1, COLUMNS + 1)
    for number in range(offset, offset + count):
        low = {c: number * 1000 if c == 1 else number * 7919 * c % 1000003 for c in ids}
        yield ManifestEntry(
            status=EntryStatus.ADDED,
            data_file=DataFile(
                file_path=f"file:///warehouse/db/t/data/p={number % PARTITIONS}/f-{number:08d}-1.parquet",
                file_format=FileFormat.PARQUET,
                partition={1000: number * PARTITIONS // (offset + count)},
                record_count=1000,
                file_size_in_bytes=1_000_000 + number % 1000,
                column_sizes={c: 1000 + c for c in ids},
                value_counts=dict.fromkeys(ids, 1000),
                null_value_counts=dict.fromkeys(ids, 0),
                lower_bounds={c: struct.pack("<q", value) for c, value in low.items()},
                upper_bounds={c: struct.pack("<q", value + 999) for c, value in low.items()},
                split_offsets=(4,),
                sort_order_id=0,
            ),
        )


class Files:
    """The manifests of one case, written to a directory."""

    def __init__(self, directory: Path, name: str, manifests: int, count: int) -> None:
        self.paths: list[Path] = []
        self.listed: list[ManifestFile] = []
        columns = (NestedField(c, f"c{c}", False, LONG) for c in range(1, COLUMNS + 2))  # noqa: FBT003
        schema = Schema(tuple(columns))
        field = PartitionField(source_id=COLUMNS + 1, field_id=1000, name="p", transform=Identity())
        self.spec = PartitionSpec(0, (field,))
        for number in range(manifests):
            path = directory / f"{name}-{number}.avro"
            path.write_bytes(write_manifest(entries(count, number * count), self.spec, schema, V2))
            size = path.stat().st_size
            listed = manifest_file([], self.spec, schema, path=f"file://{path}", length=size, snapshot_id=7)
            self.paths.append(path)
            self.listed.append(evolve(listed, sequence_number=1, min_sequence_number=1))

    def open(self) -> Iterator[Manifest]:
        """Read and open the manifests."""
        for path, listed in zip(self.paths, self.listed, strict=True):
            yield read_manifest(path.read_bytes(), manifest_file=listed, specs={0: self.spec})


def planning(files: Files) -> int:
    """What planning needs: numbers and partitions of all entries, and the statistics of one column."""
    count = 0
    for manifest in files.open():
        for columns in column_batches(manifest):
            _ = columns.live, columns.sequence_number, columns.record_count, columns.file_size_in_bytes
            _ = columns.snapshot_id, columns.partition_numbers(1000)
            count += len(columns)
    return count


def statistics_of_all(files: Files) -> int:
    """Everything of every entry in columns."""
    count = 0
    for manifest in files.open():
        for columns in column_batches(manifest):
            _ = columns.live, columns.sequence_number, columns.record_count, columns.file_size_in_bytes
            _ = columns.snapshot_id, columns.partition_numbers(1000)
            count += len(columns.load())
    return count


def objects(files: Files) -> int:
    """An object for every entry."""
    return sum(sum(1 for _ in manifest.entries()) for manifest in files.open())


WAYS: dict[str, Callable[[Files], int]] = {"planning": planning, "statistics": statistics_of_all, "objects": objects}


class Peer:
    """PyIceberg in an interpreter of its own."""

    def __init__(self, python: str) -> None:
        self.process = subprocess.Popen(
            [python, "-c", PEER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )
        self.version = self._answer()

    def _answer(self) -> object:
        assert self.process.stdout is not None
        return json.loads(self.process.stdout.readline())

    def __call__(self, files: Files) -> float:
        assert self.process.stdin is not None
        paths = [(f"file://{path}", path.stat().st_size) for path in files.paths]
        self.process.stdin.write(json.dumps(paths) + "\n")
        answer = self._answer()
        assert isinstance(answer, list)
        return float(answer[0])


def timed(way: Callable[[Files], int], files: Files) -> float:
    """The seconds that a way of reading takes."""
    gc.collect()
    start = time.perf_counter()
    way(files)
    return time.perf_counter() - start


def main() -> int:
    """Run the rounds and print the medians."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peer-python", help="an interpreter with PyIceberg")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--entries", type=int, default=100_000)
    options = parser.parse_args()
    peer = Peer(options.peer_python) if options.peer_python else None
    with tempfile.TemporaryDirectory() as directory:
        for name, manifests, count in (("large", 1, options.entries), ("small", 1, 2000), ("many", 20, 2000)):
            files = Files(Path(directory), name, manifests, count)
            times: dict[str, list[float]] = {way: [] for way in WAYS}
            peer_times: list[float] = []
            for round_ in range(options.rounds + 1):  # the first one warms up
                peer_time = peer(files) if peer else 0.0
                for way, read in WAYS.items():
                    seconds = timed(read, files)
                    if round_:
                        times[way].append(seconds)
                if round_:
                    peer_times.append(peer_time)
            base = statistics.median(peer_times)
            print(f"{name}: {manifests} x {count} entries")
            if peer:
                print(f"  PyIceberg {peer.version}: {base * 1000:8.1f} ms")
            for way, taken in times.items():
                ratios = [one / other for one, other in zip(taken, peer_times, strict=True)] if peer else []
                told = f"  {statistics.median(ratios):.3f} times PyIceberg" if ratios else ""
                print(f"  {way:10s} {statistics.median(taken) * 1000:8.1f} ms{told}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

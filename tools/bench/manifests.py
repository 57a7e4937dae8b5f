"""Decoding manifests of 100,000 and of 2,000 entries with 20 columns of statistics, beside PyIceberg and Iceberg-Java.

There are three cases: what planning needs (numbers and partitions of all entries, no statistics), everything in
columns, and an object for every entry. PyIceberg makes an object for every entry; Iceberg-Java fills one object again
and again.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from spec_ref.columnar.manifests.entry_columns import column_batches, entries
from spec_ref.manifest_lists.reader import read_manifest_list
from spec_ref.manifests import Manifest, read_manifest
from tools.bench.entries_table import SPEC, make_table
from tools.bench.measure import BenchError, Claim, Peer, Scale, in_turns, timed

PYICEBERG = """
import gc, json, sys, time
import pyiceberg, pyiceberg.manifest
from pyiceberg.table import StaticTable
print(json.dumps(f"PyIceberg {pyiceberg.__version__}"), flush=True)
for line in sys.stdin:
    (metadata,) = json.loads(line)
    table = StaticTable.from_metadata("file://" + metadata)
    manifests = table.current_snapshot().manifests(table.io)
    gc.collect()
    start = time.perf_counter()
    count = sum(len(manifest.fetch_manifest_entry(table.io)) for manifest in manifests)
    print(json.dumps([time.perf_counter() - start, count]), flush=True)
"""

ICEBERG_JAVA = """
import json, os, sys, time
from conformance.adapter_sdk.jvm import JVM
out = os.fdopen(os.dup(1), "w"); os.dup2(2, 1)
jvm = JVM(os.environ["ICEBERG_CONFORMANCE_JARS"])
iceberg, root = jvm.root.org.apache.iceberg, jvm.root
io = root.org.apache.iceberg.hadoop.HadoopFileIO(root.org.apache.hadoop.conf.Configuration())
iterables = root.org.apache.iceberg.relocated.com.google.common.collect.Iterables
print(json.dumps(f"Iceberg-Java {iceberg.IcebergBuild.version()}"), file=out, flush=True)
for line in sys.stdin:
    (metadata,) = json.loads(line)
    table = iceberg.BaseTable(iceberg.StaticTableOperations("file://" + metadata, io), "t")
    manifests, specs = table.currentSnapshot().dataManifests(io), table.specs()
    start, count = time.perf_counter(), 0
    for place in range(manifests.size()):
        reader = iceberg.ManifestFiles.read(manifests.get(place), io, specs)
        count += iterables.size(reader)
        reader.close()
    print(json.dumps([time.perf_counter() - start, count]), file=out, flush=True)
jvm.shutdown()
"""

WARM = 5


class Files:
    """The manifests of a table."""

    def __init__(self, metadata: Path) -> None:
        """Read the entries of the manifest list."""
        listed = (metadata.parent / "snap-7.avro").read_bytes()
        self.listed = read_manifest_list(listed)

    def open(self) -> Iterator[Manifest]:
        """Read and open the manifests."""
        for listed in self.listed:
            data = Path(listed.manifest_path.removeprefix("file://")).read_bytes()
            yield read_manifest(data, manifest_file=listed, specs={0: SPEC})


def planning(files: Files) -> int:
    """Decode what planning needs: numbers and partitions of all entries."""
    count = 0
    for manifest in files.open():
        for columns in column_batches(manifest):
            _ = columns.live, columns.sequence_number, columns.record_count, columns.file_size_in_bytes
            _ = columns.snapshot_id, columns.partition_numbers(1000)
            count += len(columns)
    return count


def statistics_of_all(files: Files) -> int:
    """Decode all fields of all entries into columns."""
    count = 0
    for manifest in files.open():
        for columns in column_batches(manifest):
            _ = columns.live, columns.sequence_number, columns.record_count, columns.file_size_in_bytes
            _ = columns.snapshot_id, columns.partition_numbers(1000)
            count += len(columns.load())
    return count


def objects(files: Files) -> int:
    """Make an object for every entry."""
    return sum(sum(1 for _ in entries(manifest)) for manifest in files.open())


WAYS: dict[str, Callable[[Files], int]] = {
    "for planning": planning,
    "with statistics": statistics_of_all,
    "as objects": objects,
}

GOALS = {
    ("large", "with statistics", "pyiceberg"): 0.25,
    ("large", "with statistics", "iceberg-java"): 1.5,
    ("large", "for planning", "pyiceberg"): 0.1,
    ("large", "as objects", "pyiceberg"): 1.0,
    ("small", "with statistics", "pyiceberg"): 1.5,
    ("small", "as objects", "pyiceberg"): 1.0,
}


def claims(scale: Scale) -> Iterator[Claim]:
    """Measure one large and one small manifest, in each way."""
    with (
        tempfile.TemporaryDirectory() as made,
        Peer("pyiceberg", PYICEBERG) as pyiceberg,
        Peer("iceberg-java", ICEBERG_JAVA) as java,
    ):
        peers = {"pyiceberg": pyiceberg, "iceberg-java": java}
        for name, entries in (("large", scale.size(100_000, 10_000)), ("small", 2_000)):
            place = Path(made, name)
            place.mkdir()
            metadata = make_table(place, entries, 1)
            files = Files(metadata)
            for peer in peers.values():
                if peer(str(metadata))[1] != entries:
                    message = f"{peer.version} reads a different number of entries"
                    raise BenchError(message)
            ways: dict[str, Callable[[], float]] = {
                who: partial(lambda peer: float(peer(str(metadata))[0]), peer)  # noqa: B023
                for who, peer in peers.items()
            }
            ways |= {way: partial(timed, partial(read, files)) for way, read in WAYS.items()}
            for _ in range(WARM):
                ways["iceberg-java"]()
            taken = in_turns(ways, scale.rounds)
            for way in WAYS:
                for who, peer in peers.items():
                    yield Claim(
                        path="manifest read",
                        case=f"{way}, {entries:,} entries",
                        ours=taken[way],
                        peer=peer.version,
                        theirs=taken[who],
                        goal=GOALS.get((name, way, who)),
                    )

"""Object stores: how long validating many files takes, beside the least time that its requests can take.

The peer is a bound: the number of requests times their delay, by the number of connections. The store
(``tools/counting_store.py``) is a separate process. Each answer takes 30 ms, or as much more as the store measures, and
at most 64 are under way; in the other case it refuses two requests of a hundred with 503, and resets one connection of
a hundred. A store that is so close answers 2,000 requests per second, as many footers as two processors check, which
are measured too.

Planning and reading one table are compared with PyIceberg by the number of requests, as each costs money, and planning
a table of many small manifests by the time. Iceberg-Java has no rows: its jars here have no client for S3.
``python -m tools.bench.object_store --help`` measures other sizes and stores.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pyarrow as pa
from attrs import frozen

from conformance.table_io.local import plan_read, read_table
from conformance.table_io.tables import load_table
from conformance.validator.local import CONNECTIONS
from spec_ref.core.records import evolve
from spec_ref.core.versions import V2
from tools import table_kit
from tools.bench.measure import BenchError, Claim, Measure, Peer, Scale, in_turns, timed
from tools.bench.validation import run_measured
from tools.counting_store import StoreBehavior, counting_store
from tools.entry_point import run_main
from tools.scale.tables import FIELDS
from tools.store_environment import BUCKET
from tools.table_kit import TableKit

FILES_A_MANIFEST = 1000
SMALL = 5
"""The number of files of a small manifest."""


@contextmanager
def written_to(folder: Path) -> Iterator[None]:
    """Let a `TableKit` of the store's bucket write to the folder that the store serves."""

    def write(location: str, data: bytes) -> None:
        path = folder / location.removeprefix("s3://")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)

    with patch.object(table_kit, "write_bytes", write), patch.object(table_kit, "load_table", lambda _: None):
        yield


def make_table(folder: Path, files: int, per_manifest: int = FILES_A_MANIFEST) -> str:
    """Make a table of small Parquet files, which are links to one file; return its metadata file."""
    location = f"s3://{BUCKET}/db/t{files}"
    with written_to(folder):
        kit = TableKit(location, FIELDS, version=V2)
        real = kit.file([{1: number, 2: number % 7} for number in range(100)])
        source = folder / real.file_path.removeprefix("s3://")
        for first in range(0, files, per_manifest):
            paths = [
                f"{location}/data/{number:06d}-f.parquet" for number in range(first, min(first + per_manifest, files))
            ]
            for path in paths:
                os.link(source, folder / path.removeprefix("s3://"))
            kit.commit(*(evolve(real, file_path=path) for path in paths))
        kit.table()
    return f"{location}/metadata/v{len(kit.snapshots) + 1}.metadata.json"


@frozen(kw_only=True)
class Figures:
    """The measurements of validating a table on a store."""

    files: int
    seconds: float
    processor: float
    """The processor seconds of all processes except the store."""

    memory: int
    """The peak memory of all processes together, in bytes."""

    requests: int
    refused: int
    """The requests that were answered with 503 or not at all."""

    ideal: float
    """Seconds: the delays of all requests, as the store measured them, divided by the number of connections."""


def measure_validation(
    files: int, behavior: StoreBehavior, workers: int, per_manifest: int = FILES_A_MANIFEST
) -> Figures:
    """Validate a table at level files.

    Raises:
        BenchError: the report does not cover the whole table, or has errors.
    """
    with tempfile.TemporaryDirectory(prefix="object-store-") as folder, counting_store(Path(folder), behavior) as store:
        location = make_table(Path(folder), files, per_manifest)
        command = ["validate", location, "--level", "files", "--format", "json", "--workers", str(workers)]
        with patch.dict(os.environ, store.environment):
            seconds, processor, memory, _, answer = run_measured([sys.executable, "-m", "conformance", *command])
        counts = store.take_counts()
    (table,) = answer["tables"]
    if table["entries"] != files or table["counts"]["error"] or not table.get("complete", True):
        raise BenchError(json.dumps(answer)[:2000])
    requests = _request_count(counts)
    refused = counts.get("503", 0) + counts.get("reset", 0)
    ideal = counts["held us"] / 1e6 / min(behavior.connections, CONNECTIONS)
    return Figures(
        files=files,
        seconds=seconds,
        processor=processor,
        memory=memory,
        requests=requests,
        refused=refused,
        ideal=ideal,
    )


def claims(scale: Scale) -> Iterator[Claim]:
    """Measure a store without faults, and one that throttles; then count requests beside PyIceberg."""
    throttling = StoreBehavior(busy=0.02, reset=0.01)
    files, few = scale.size(10_000, 200), scale.size(2500, 100)
    for case, count, per_manifest, manners in (
        ("", files, FILES_A_MANIFEST, StoreBehavior()),
        (", throttled", files, FILES_A_MANIFEST, throttling),
        (f" in {few // SMALL:,} manifests", few, SMALL, StoreBehavior()),
    ):
        rounds = [
            measure_validation(count, manners, os.cpu_count() or 1, per_manifest) for _ in range(min(3, scale.rounds))
        ]
        last = rounds[-1]
        yield Claim(
            path="object store",
            case=f"level files of {count:,} files{case}",
            ours=tuple(one.seconds for one in rounds),
            peer="requests x delay / connections",
            theirs=tuple(one.ideal for one in rounds),
            goal=None if case else 1.2,
            note=f"{last.requests:,} requests, {last.refused:,} of them refused; "
            f"{last.processor:.1f} processor seconds, start included; {last.memory >> 20} MiB",
        )
    yield _small_manifests(few, scale.rounds)
    yield from _requests(scale.size(100, 20))


PYICEBERG = """
import json, os, sys
import pyiceberg, pyiceberg.manifest as manifest
from pyiceberg.table import StaticTable
print(json.dumps(f"PyIceberg {pyiceberg.__version__}"), flush=True)
for line in sys.stdin:
    what, location, endpoint = json.loads(line)
    for cache in ("_manifest_cache", "_manifests"):
        if hasattr(getattr(manifest, cache, None), "clear"): getattr(manifest, cache).clear()
    properties = {"s3.endpoint": endpoint, "s3.region": "us-east-1", "s3.access-key-id": "testing",
        "s3.secret-access-key": "testing"}
    scan = StaticTable.from_metadata(location, properties).scan()
    print(json.dumps(len(list(scan.plan_files())) if what == "planning" else scan.to_arrow().num_rows), flush=True)
"""

SCANS: dict[str, Callable[[str], int]] = {
    "planning": lambda location: len(list(plan_read(load_table(location))[1])),
    "reading": lambda location: read_table(load_table(location)).read_all().num_rows,
}


def _small_manifests(files: int, rounds: int) -> Claim:
    """Measure planning a table of small manifests.

    Raises:
        BenchError: the sides find different files.
    """
    with (
        tempfile.TemporaryDirectory(prefix="object-store-") as folder,
        counting_store(Path(folder), StoreBehavior()) as store,
        Peer("pyiceberg", PYICEBERG) as peer,
        patch.dict(os.environ, store.environment),
    ):
        location = make_table(Path(folder), files, SMALL)
        found, expected = SCANS["planning"](location), peer("planning", location, store.endpoint)
        if found != expected:
            raise BenchError(f"planning: {found} files, and {expected} with {peer.version}")
        taken = in_turns(
            {
                "ours": lambda: timed(lambda: SCANS["planning"](location)),
                "theirs": lambda: timed(lambda: peer("planning", location, store.endpoint)),
            },
            rounds,
        )
        return Claim(
            path="object store",
            case=f"planning {files:,} files in {files // SMALL:,} manifests",
            ours=taken["ours"],
            peer=peer.version,
            theirs=taken["theirs"],
            goal=0.5,
        )


SCANNED_ROWS = 20_000
"""The rows of each file that is read: about 400 KB, more than one request has of the end of a file."""


def make_scanned(folder: Path, files: int) -> str:
    """Make a table of larger Parquet files, ten in each manifest; return its metadata file."""
    random = np.random.default_rng(0)
    with written_to(folder):
        kit = TableKit(f"s3://{BUCKET}/db/scanned", FIELDS, version=V2)
        for first in range(0, files, 10):
            numbers = [random.integers(0, 1 << 62, SCANNED_ROWS) for _ in range(min(10, files - first))]
            tables = [pa.table([one, one % 7], names=[field.name for field in FIELDS]) for one in numbers]
            kit.commit(*map(kit.file, tables))
        kit.table()
    return f"{kit.location}/metadata/v{len(kit.snapshots) + 1}.metadata.json"


def _requests(files: int) -> Iterator[Claim]:
    """Count the requests of scans of one table.

    Raises:
        BenchError: the sides find different files or rows.
    """
    with (
        tempfile.TemporaryDirectory(prefix="object-store-") as folder,
        counting_store(Path(folder), StoreBehavior(delay_s=0)) as store,
        Peer("pyiceberg", PYICEBERG) as peer,
        patch.dict(os.environ, store.environment),
    ):
        location = make_scanned(Path(folder), files)
        for name, scan in SCANS.items():
            store.take_counts()
            found = scan(location)
            ours = _request_count(store.take_counts())
            expected = peer(name, location, store.endpoint)
            theirs = _request_count(store.take_counts())
            if found != expected:
                raise BenchError(f"{name}: {found} files or rows, and {expected} with {peer.version}")
            yield Claim(
                path="object store",
                case=f"requests for {name} {files:,} files",
                ours=(ours,),
                peer=peer.version,
                theirs=(theirs,),
                measure=Measure.REQUESTS,
                goal=1.0,
            )


def _request_count(counts: Mapping[str, int]) -> int:
    return sum(count for name, count in counts.items() if name.startswith(("GET ", "HEAD ")))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--delay-ms", type=float, default=30)
    parser.add_argument("--busy", type=float, default=0.0)
    parser.add_argument("--reset", type=float, default=0.0)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    given = parser.parse_args()
    manners = StoreBehavior(delay_s=given.delay_ms / 1000, busy=given.busy, reset=given.reset)
    one = measure_validation(given.files, manners, given.workers)
    print(
        f"{one.files:,} files: {one.requests:,} requests, {one.refused:,} refused, {one.seconds:.2f} s, "
        f"{one.ideal:.2f} s at best by requests, {one.processor:.1f} processor s, {one.memory >> 20:,} MiB"
    )


if __name__ == "__main__":
    run_main(main)

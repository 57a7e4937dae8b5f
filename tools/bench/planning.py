"""Planning a scan of 200,000 data files in 100 manifests, compared with PyIceberg and Iceberg-Java in a warm JVM.

Every side starts from the metadata file. The same files in 10,000 manifests measure how the summaries of partitions in
the manifest list are evaluated, which leave out 99% of the manifests. Five million files in 2,500 manifests are planned
beside Iceberg-Java only, twice: in columns, as for reading on Spark, whose driver needs no object for a task, and
as objects, of which there are 50,000. ``python -m tools.bench.planning`` plans 10,000, 100,000 and 1,000,000 files with
our code only, each in a separate process, and reports time and memory.
"""

from __future__ import annotations

import os
import resource
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import attrs

from spec_ref.columnar.scan_planning.planner import plan, plan_batches
from spec_ref.expressions.predicates import TRUE, And, Comparison, Literal, NamedReference, Operation
from spec_ref.scan_planning import table_state
from spec_ref.table_metadata import read_metadata
from tools.bench.entries_table import FIRST_PARTITION, STRIDE, make_table
from tools.bench.measure import BenchError, Claim, Peer, Scale, in_turns, timed
from tools.entry_point import run_without_parser

# The filters: name, column, smallest and largest value


def questions(files: int) -> dict[str, tuple[str, int, int] | None]:
    """Return filters that match 1% of the files, by a partition and by bounds, and one that matches all files."""
    one = files // 100
    return {
        "partition": ("p", FIRST_PARTITION + 500, FIRST_PARTITION + 509),
        "bounds": ("c1", files // 2 * STRIDE, (files // 2 + one) * STRIDE - 1),
        "all": None,
    }


def predicate(question: tuple[str, int, int] | None) -> Any:
    """Convert a question into a predicate."""
    if question is None:
        return TRUE
    name, low, high = question
    column = NamedReference(name)
    return And(Comparison(Operation.GT_EQ, column, Literal(low)), Comparison(Operation.LT_EQ, column, Literal(high)))


def read_file(location: str) -> bytes:
    """Return the content of a local file."""
    return Path(location.removeprefix("file://")).read_bytes()


def ours(
    metadata_file: Path, question: tuple[str, int, int] | None, planner: Callable[..., Iterator[Any]] = plan
) -> int:
    """Plan a scan, starting from the metadata file, and count the tasks."""
    metadata = read_metadata(metadata_file.read_bytes())
    state = table_state(metadata)
    return sum(1 for _ in planner(metadata, state.snapshot, predicate(question), read_file, schema=state.schema))


def ours_in_columns(metadata_file: Path, question: tuple[str, int, int] | None) -> int:
    """Plan a scan in columns, starting from the metadata file, and count the tasks."""
    metadata = read_metadata(metadata_file.read_bytes())
    state = table_state(metadata)
    batches = plan_batches(metadata, state.snapshot, predicate(question), read_file, schema=state.schema)
    return sum(map(len, batches))


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
from conformance.adapter_sdk.jvm import JVM
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

WARM = 5
"""The number of warm-up rounds for the virtual machine."""

GOALS = {
    ("bounds", "pyiceberg"): 0.1,
    ("bounds", "iceberg-java"): 1.0,
    ("partition", "pyiceberg"): 0.6,
    ("partition", "iceberg-java"): 0.5,
}


@attrs.frozen
class Case:
    """A table to plan, and what is measured with it."""

    files: int
    per_manifest: int = 2000
    questions: tuple[str, ...] = ("partition",)
    peers: tuple[str, ...] = ("pyiceberg", "iceberg-java")
    level: int = 6
    """The level of compression: a low one takes less time for many files."""

    in_columns: bool = False
    """Whether planning in columns is measured, and has the goal, too."""

    @property
    def title(self) -> str:
        """The number of files, and that of manifests where it is unusual."""
        manifests = f" in {self.files // self.per_manifest:,} manifests" if self.per_manifest < 2000 else ""
        return f"{self.files:,} files{manifests}"


def claims(scale: Scale) -> Iterator[Claim]:
    """Measure planning with each filter beside each peer."""
    files = scale.size(200_000, 20_000)
    cases = (
        Case(files, questions=("partition", "bounds")),
        Case(files, per_manifest=20),
        Case(scale.size(5_000_000, 50_000), peers=("iceberg-java",), level=1, in_columns=True),
    )
    with Peer("pyiceberg", PYICEBERG) as pyiceberg, Peer("iceberg-java", ICEBERG_JAVA) as java:
        every = {"pyiceberg": pyiceberg, "iceberg-java": java}
        for case in cases:
            peers = {who: every[who] for who in case.peers}
            with tempfile.TemporaryDirectory() as made:
                metadata = make_table(Path(made), case.files, case.files // case.per_manifest, case.level)
                for name in case.questions:
                    ways = {"": ours, ", in columns": ours_in_columns} if case.in_columns else {"": ours}
                    taken = _measure(metadata, questions(case.files)[name], peers, ways, scale.rounds)
                    for who, peer in peers.items():
                        for way in ways:
                            yield Claim(
                                path="planning",
                                case=f"{name} filter keeps 1% of {case.title}{way}",
                                ours=taken[way],
                                peer=peer.version,
                                theirs=taken[who],
                                goal=None if case.in_columns and not way else GOALS.get((name, who)),
                            )


def _measure(
    metadata: Path,
    question: tuple[str, int, int] | None,
    peers: dict[str, Peer],
    ours_by_way: Mapping[str, Callable[[Path, tuple[str, int, int] | None], int]],
    rounds: int,
) -> dict[str, tuple[float, ...]]:
    expected = {way(metadata, question) for way in ours_by_way.values()}
    for peer in peers.values():
        count = peer(str(metadata), question)[1]
        if {count} != expected:
            message = f"{peer.version} plans {count} files, not {expected}"
            raise BenchError(message)
    ways: dict[str, Callable[[], float]] = {
        who: partial(lambda peer: float(peer(str(metadata), question)[0]), peer) for who, peer in peers.items()
    }
    for name, way in ours_by_way.items():
        ways[name] = partial(timed, partial(way, metadata, question))
    for _ in range(WARM):
        ways["iceberg-java"]()
    return in_turns(ways, rounds)


def growth(directory: Path) -> None:
    """Measure the time and memory of planning more and more files."""
    for files in (10_000, 100_000, 1_000_000):
        place = directory / str(files)
        place.mkdir()
        metadata = make_table(place, files, files // 2000, 1)
        for name, question in questions(files).items():
            if question is None and files > 100_000:
                continue
            child = os.fork()
            if child == 0:  # a separate process, because it reports its own peak memory
                before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
                start = time.process_time()
                count = ours(metadata, question)
                seconds = time.process_time() - start
                grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
                text = f"{count:7d} planned, {seconds * 1e6 / files:6.2f} us of CPU each, {grown:4.0f} MB more"
                print(f"{files:8d} files, {name:10s}{text}", flush=True)
                os._exit(0)
            os.waitpid(child, 0)


def main() -> None:
    """Measure in a temporary folder."""
    with tempfile.TemporaryDirectory() as place:
        growth(Path(place))


if __name__ == "__main__":
    run_without_parser(main)

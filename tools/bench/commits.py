"""Commits of eight processes to one table in SQLite, PostgreSQL and a REST catalog, compared with PyIceberg.

Each process appends empty files, with default settings, until the time is over. The two sides use the same server, one
that ``race stress`` starts, and take turns. The first figure of a case is the time that passes for each commit of all
processes together; times the number of processes, it is the mean latency. A latency is the time from the start of one
commit to its end, with all its attempts; failed commits do not count, so that the latencies of a side with many
failures look shorter than they are. Our processes queue for the table in a database, so that each waits for the
commits of all others, and all latencies are near the mean. Without a queue, a process that has just committed mostly
commits again at once, while others retry repeatedly: the median is small, and the mean and the slowest hundredth are
large. Therefore the mean and the slowest hundredth have goals, and the median has none.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from attrs import frozen

from conformance.engine_setup import EngineError, launch
from conformance.operations.commits.fixtures import data_file, empty_table
from conformance.table_io.catalogs.servers import KINDS, ManagedServer, ServerKind
from conformance.table_io.stores import commit, open_store
from conformance.table_io.stores.runner import Runner
from spec_ref.commits import CommitConflict, CommitFailed, CommitStateUnknown
from spec_ref.commits.changes import CreateTable, fast_append
from spec_ref.commits.retries import RetryPolicy
from tools.bench.measure import BenchError, Claim, Scale

SERVERS = (("sqlite", "SQLite", 0.4), ("postgresql", "PostgreSQL", 0.4), ("iceberg-rest", "REST catalog", 1.0))
"""The catalogs by their names for ``race stress --server``, and the goals with default settings; a quick run measures
the first. A REST catalog has no lock, so that both sides retry repeatedly."""

PROCESSES = 8
RETRIES = {-1: "default settings", 30: "30 retries"}
"""The settings by the number of retries: with the default of four, many commits of PyIceberg fail; with 30, hardly
any."""

PYICEBERG = """
import json, multiprocessing, sys, time, uuid
from pyiceberg.catalog import load_catalog
from pyiceberg.exceptions import CommitFailedException
from pyiceberg.manifest import DataFile, DataFileContent, FileFormat
from pyiceberg.schema import Schema
from pyiceberg.typedef import Record
from pyiceberg.types import LongType, NestedField, StringType

settings, table_name, location = json.loads(sys.argv[1]), sys.argv[2], sys.argv[3]
processes, seconds, retries = int(sys.argv[4]), float(sys.argv[5]), int(sys.argv[6])

def catalog():
    return load_catalog("conformance", **settings)

def work(name, start, queue):
    own = catalog()
    commit_table, attempts, latencies = own.commit_table, [], []
    def counted(*given):
        attempts.append(1)
        return commit_table(*given)
    own.commit_table = counted
    table = own.load_table(table_name)
    start.wait()
    until, failed, number = time.monotonic() + seconds, 0, 0
    while (now := time.monotonic()) < until:
        number += 1
        file = DataFile.from_args(content=DataFileContent.DATA, file_path=f"{location}/data/{name}-{number}",
            file_format=FileFormat.PARQUET, partition=Record(), record_count=10, file_size_in_bytes=1000)
        file.spec_id = 0
        try:
            table.refresh()
            with table.transaction() as transaction, transaction.update_snapshot().fast_append() as append:
                append.append_data_file(file)
            latencies.append(time.monotonic() - now)
        except CommitFailedException:
            failed += 1
    queue.put((latencies, failed, len(attempts)))

own = catalog()
own.create_namespace_if_not_exists(table_name.partition(".")[0])
schema = Schema(NestedField(1, "id", LongType(), required=True), NestedField(2, "part", StringType(), required=False))
properties = {} if retries < 0 else {"commit.retry.num-retries": str(retries)}
own.create_table(table_name, schema, location=location, properties=properties)
context = multiprocessing.get_context("fork")
start, queue = context.Event(), context.Queue()
started = [context.Process(target=work, args=(name, start, queue)) for name in range(processes)]
for process in started: process.start()
time.sleep(0.5)
began = time.monotonic()
start.set()
counts = [queue.get() for _ in started]
for process in started: process.join()
print(json.dumps({"latencies": [one for done, _, _ in counts for one in done], "failed": sum(f for _, f, _ in counts),
                  "attempts": sum(a for _, _, a in counts), "seconds": time.monotonic() - began}))
"""


@frozen(kw_only=True)
class Commits:
    """The commits of all processes in one round."""

    latencies: tuple[float, ...]
    """The seconds of each commit that did not fail."""

    failed: int
    attempts: int
    """The attempts of all commits."""

    seconds: float

    @property
    def seconds_each(self) -> float:
        """The time that passes for each commit that did not fail."""
        return self.seconds / len(self.latencies)

    @property
    def share_failed(self) -> float:
        """The share of commits that failed."""
        return self.failed / (self.failed + len(self.latencies))

    @property
    def attempts_each(self) -> float:
        """The attempts for each commit."""
        return self.attempts / (self.failed + len(self.latencies))

    def latency(self, percent: int) -> float:
        """Return a percentile of the latencies."""
        return statistics.quantiles(self.latencies, n=100, method="inclusive")[percent - 1]


def _work(
    url: str, location: str, policy: RetryPolicy | None, name: int, seconds: float, start: Any, queue: Any
) -> None:
    runner = Runner(open_store(url))
    start.wait()
    until, latencies, failed, attempts = time.monotonic() + seconds, list[float](), 0, 0
    while (now := time.monotonic()) < until:
        file = data_file(f"{name}-{len(latencies) + failed}", None, location=location, partitioned=False)
        try:
            attempts += runner.commit(fast_append([file]), policy=policy).attempts
            latencies.append(time.monotonic() - now)
        except (CommitConflict, CommitFailed, CommitStateUnknown):
            failed += 1
    queue.put((latencies, failed, attempts))


def ours(url: str, location: str, seconds: float, retries: int) -> Commits:
    """Measure the reference on a new table; a negative number of retries means its default."""
    policy = None if retries < 0 else RetryPolicy(num_retries=retries)
    commit(CreateTable(empty_table(2, location, partitioned=False)), open_store(url))
    context = get_context("fork")
    start, queue = context.Event(), context.Queue()
    started = [
        context.Process(target=_work, args=(url, location, policy, name, seconds, start, queue))
        for name in range(PROCESSES)
    ]
    for process in started:
        process.start()
    time.sleep(0.5)
    began = time.monotonic()
    start.set()
    counts = [queue.get() for _ in started]
    for process in started:
        process.join()
    return Commits(
        latencies=tuple(one for latencies, _, _ in counts for one in latencies),
        failed=sum(failed for _, failed, _ in counts),
        attempts=sum(attempts for _, _, attempts in counts),
        seconds=time.monotonic() - began,
    )


def pyiceberg(settings: dict[str, str], table: str, location: str, seconds: float, retries: int) -> Commits:
    """Measure PyIceberg on a new table; a negative number of retries means its default."""
    started = launch("pyiceberg")
    arguments = [json.dumps(settings), table, location, str(PROCESSES), str(seconds), str(retries)]
    command = [started.command[0], "-c", PYICEBERG, *arguments]
    done = subprocess.run(command, env=dict(started.env), capture_output=True, text=True, check=False)
    if done.returncode:
        message = f"PyIceberg: {done.stderr}"
        raise BenchError(message)
    found = json.loads(done.stdout.splitlines()[-1])
    return Commits(**{**found, "latencies": tuple(found["latencies"])})


def claims(scale: Scale) -> Iterator[Claim]:
    """Measure each catalog with default retries and with many."""
    for name, title, goal in SERVERS[: 1 if scale.quick else None]:
        try:
            with tempfile.TemporaryDirectory() as folder:
                taken = _measure_rounds(
                    KINDS[name], Path(folder), float(scale.size(8, 2)), max(1, min(3, scale.rounds))
                )
        except EngineError as error:
            raise BenchError(str(error)) from error
        for retries, settings in RETRIES.items():
            case = f"{PROCESSES} processes, {title}, {settings}"
            yield from _claims(case, taken["ours", retries], taken["theirs", retries], goal if retries < 0 else None)


def _measure_rounds(
    kind: ServerKind, folder: Path, seconds: float, rounds: int
) -> dict[tuple[str, int], list[Commits]]:
    """Measure all rounds of both sides on a new server."""
    taken: dict[tuple[str, int], list[Commits]] = {(who, n): [] for n in RETRIES for who in ("ours", "theirs")}
    running = ManagedServer(kind, folder / "server")
    try:
        for number in range(rounds):
            for (who, retries), measured in taken.items():
                name = f"{who}_{number}_{len(measured)}_{retries}".replace("-", "")
                location = f"file://{folder}/{name}"
                if who == "ours":
                    assert kind.store_url is not None
                    url = kind.store_url(running.address).format(table=name)
                    measured.append(ours(url, location, seconds, retries))
                else:
                    settings = kind.pyiceberg_properties(running.address)
                    measured.append(pyiceberg(settings, f"stress.{name}", location, seconds, retries))
    finally:
        running.stop()
    return taken


def _claims(case: str, mine: list[Commits], theirs: list[Commits], goal: float | None) -> Iterator[Claim]:
    version = f"PyIceberg {launch('pyiceberg').env['ICEBERG_CONFORMANCE_ENGINE_VERSION']}"

    def claim(what: str, figure: Callable[[Commits], float], goal: float | None, note: str = "") -> Claim:
        figures = [tuple(figure(one) for one in side) for side in (mine, theirs)]
        return Claim(
            path="commits", case=case + what, ours=figures[0], peer=version, theirs=figures[1], goal=goal, note=note
        )

    failed = [max(one.share_failed for one in side) for side in (mine, theirs)]
    rates = [1 / min(one.seconds_each for one in side) for side in (mine, theirs)]
    attempts = [max(one.attempts_each for one in side) for side in (mine, theirs)]
    yield claim(
        "",
        lambda one: one.seconds_each,
        goal,
        f"{failed[0]:.0%} of ours failed, {failed[1]:.0%} of PyIceberg's; {rates[0]:.0f} commits a second against "
        f"{rates[1]:.0f}; {attempts[0]:.2f} attempts for each commit against {attempts[1]:.2f}",
    )
    yield claim(", latency p50", lambda one: one.latency(50), None)
    yield claim(", latency p99", lambda one: one.latency(99), 1.0)

"""Commits of eight processes to one table whose pointer is in SQLite, compared with PyIceberg's SQL catalog.

Each process appends empty files, with default settings, until the time is over. The two sides take turns. A failed
commit of ours is an error; failed commits of PyIceberg are reported.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
import time
from collections.abc import Iterator
from multiprocessing import get_context
from typing import Any

from conformance.engine_setup import launch
from conformance.operations.commits.fixtures import data, empty_table
from conformance.table_io.stores import commit, open_store
from conformance.table_io.stores.runner import Runner
from spec_ref.commits import CommitConflict, CommitFailed, CommitStateUnknown
from spec_ref.commits.changes import CreateTable, fast_append
from tools.bench.measure import BenchError, Claim, Scale

PROCESSES = 8
MANY_RETRIES = 30
"""The number of retries with which hardly any commit of PyIceberg fails; with its default of four, many fail."""

PYICEBERG = """
import json, multiprocessing, sys, time, uuid
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.exceptions import CommitFailedException
from pyiceberg.manifest import DataFile, DataFileContent, FileFormat
from pyiceberg.schema import Schema
from pyiceberg.typedef import Record
from pyiceberg.types import LongType, NestedField, StringType

directory, processes, seconds, retries = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4])

def catalog():
    return SqlCatalog("conformance", uri=f"sqlite:///{directory}/pyiceberg.db", warehouse=f"file://{directory}/warehouse")

def work(name, start, queue):
    own = catalog()
    table = own.load_table("default.table")
    start.wait()
    until, done, failed, number = time.monotonic() + seconds, 0, 0, 0
    while time.monotonic() < until:
        number += 1
        file = DataFile.from_args(content=DataFileContent.DATA, file_path=f"file://{directory}/data/{name}-{number}",
            file_format=FileFormat.PARQUET, partition=Record(), record_count=10, file_size_in_bytes=1000)
        file.spec_id = 0
        try:
            table.refresh()
            with table.transaction() as transaction, transaction.update_snapshot().fast_append() as append:
                append.append_data_file(file)
            done += 1
        except CommitFailedException:
            failed += 1
    queue.put((done, failed))

own = catalog()
own.create_namespace("default")
schema = Schema(NestedField(1, "id", LongType(), required=True), NestedField(2, "part", StringType(), required=False))
properties = {} if retries < 0 else {"commit.retry.num-retries": str(retries)}
own.create_table("default.table", schema, properties=properties)
context = multiprocessing.get_context("fork")
start, queue = context.Event(), context.Queue()
started = [context.Process(target=work, args=(name, start, queue)) for name in range(processes)]
for process in started: process.start()
time.sleep(0.5)
began = time.monotonic()
start.set()
counts = [queue.get() for _ in started]
for process in started: process.join()
print(json.dumps({"done": sum(d for d, _ in counts), "failed": sum(f for _, f in counts),
                  "seconds": time.monotonic() - began}))
"""


def _work(url: str, location: str, name: int, seconds: float, start: Any, queue: Any) -> None:
    runner = Runner(open_store(url))
    start.wait()
    until, done, failed = time.monotonic() + seconds, 0, 0
    while time.monotonic() < until:
        try:
            runner.commit(fast_append([data(f"{name}-{done + failed}", None, location=location, partitioned=False)]))
            done += 1
        except (CommitConflict, CommitFailed, CommitStateUnknown):
            failed += 1
    queue.put((done, failed))


def ours(directory: str, processes: int, seconds: float) -> dict[str, float]:
    """Measure the reference: return the commits done, those that failed, and the seconds that they took."""
    url, location = f"sqlite://{directory}/ours.db?table=table", f"file://{directory}/ours"
    commit(CreateTable(empty_table(2, location, partitioned=False)), open_store(url))
    context = get_context("fork")
    start, queue = context.Event(), context.Queue()
    started = [
        context.Process(target=_work, args=(url, location, name, seconds, start, queue)) for name in range(processes)
    ]
    for process in started:
        process.start()
    time.sleep(0.5)
    began = time.monotonic()
    start.set()
    counts = [queue.get() for _ in started]
    for process in started:
        process.join()
    done, failed = (sum(column) for column in zip(*counts, strict=True))
    return {"done": done, "failed": failed, "seconds": time.monotonic() - began}


def pyiceberg(directory: str, processes: int, seconds: float, retries: int) -> dict[str, float]:
    """Measure PyIceberg; a negative number of retries means its default."""
    started = launch("pyiceberg")
    command = [started.command[0], "-c", PYICEBERG, directory, str(processes), str(seconds), str(retries)]
    done = subprocess.run(command, env=dict(started.env), capture_output=True, text=True, check=False)
    if done.returncode:
        message = f"PyIceberg: {done.stderr}"
        raise BenchError(message)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def claims(scale: Scale) -> Iterator[Claim]:
    """Measure the seconds per commit, beside PyIceberg with its default retries and with many."""
    seconds = float(scale.of(10, 2))
    taken: dict[str, list[float]] = {"ours": [], "default": [], "retries": []}
    shares: dict[str, list[float]] = {who: [] for who in taken}
    for _ in range(max(1, min(3, scale.rounds))):
        for who in taken:
            with tempfile.TemporaryDirectory() as directory:
                if who == "ours":
                    found = ours(directory, PROCESSES, seconds)
                    if found["failed"]:
                        message = f"{found['failed']} commits of ours failed"
                        raise BenchError(message)
                else:
                    found = pyiceberg(directory, PROCESSES, seconds, MANY_RETRIES if who == "retries" else -1)
            taken[who].append(found["seconds"] / found["done"])
            shares[who].append(found["failed"] / (found["done"] + found["failed"]))
    version = launch("pyiceberg").env["ICEBERG_CONFORMANCE_ENGINE_VERSION"]
    for who, settings, goal in (("default", "default settings", 0.4), ("retries", f"{MANY_RETRIES} retries", None)):
        yield Claim(
            path="commits",
            case=f"{PROCESSES} processes, SQLite, {settings}",
            ours=tuple(taken["ours"]),
            peer=f"PyIceberg {version}",
            theirs=tuple(taken[who]),
            goal=goal,
            note=f"none of ours failed, {max(shares[who]):.0%} of PyIceberg's; "
            f"{1 / min(taken['ours']):.0f} commits a second against {1 / min(taken[who]):.0f}",
        )

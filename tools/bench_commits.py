"""Commits per second of many processes on one table: the reference against PyIceberg's SQL catalog, in one run.

Each process appends files of no bytes to one table whose pointer is in SQLite, with default settings, until the time is
over. The two are measured in turns, so that other work on the machine meets both::

    python -m tools.bench_commits [--processes 8] [--seconds 10] [--rounds 2]

It exits with 1 where a commit of ours failed, or where ours are not ``--at-least`` times as many.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from conformance.engines import EngineError, install
from conformance.races.small import data, empty_table
from conformance.stores import commit, open_store
from conformance.stores.runner import Runner
from spec_ref.commits import CommitConflict, CommitFailed, CommitStateUnknown
from spec_ref.commits.changes import CreateTable, fast_append

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
    """Measure the reference: commits done and failed, and the seconds that they took."""
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


def pyiceberg(python: Path, directory: str, processes: int, seconds: float, retries: int) -> dict[str, float]:
    """Measure PyIceberg; retries below 0 for its default."""
    command = [str(python), "-c", PYICEBERG, directory, str(processes), str(seconds), str(retries)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        message = f"PyIceberg could not be measured: {done.stderr}"
        raise SystemExit(message)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> int:
    """Measure both, and tell."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--processes", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--at-least", type=float, default=2.5)
    given = parser.parse_args()
    try:
        python = install("pyiceberg").path / "bin" / "python"
    except EngineError as error:
        print(error, file=sys.stderr)
        return 3
    rates: dict[str, list[float]] = {"ours": [], "PyIceberg": [], "PyIceberg, 30 retries": []}
    failed = 0
    for _ in range(given.rounds):
        for who in rates:
            with tempfile.TemporaryDirectory() as directory:
                if who == "ours":
                    found = ours(directory, given.processes, given.seconds)
                    failed += int(found["failed"])
                else:
                    retries = 30 if "30" in who else -1
                    found = pyiceberg(python, directory, given.processes, given.seconds, retries)
            rate = found["done"] / found["seconds"]
            rates[who].append(rate)
            tried = found["done"] + found["failed"]
            print(f"{who:22} {rate:7.1f} commits/s  {found['failed'] / tried:6.1%} of {tried:.0f} failed")
    ratio = max(rates["ours"]) / max(*rates["PyIceberg"], *rates["PyIceberg, 30 retries"])
    print(f"ours to the better of PyIceberg's: {ratio:.1f} times; {failed} of ours failed")
    return 0 if ratio >= given.at_least and not failed else 1


if __name__ == "__main__":
    sys.exit(main())

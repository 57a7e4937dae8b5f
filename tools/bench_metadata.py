"""How fast table metadata is read and written, beside PyIceberg.

`bench_metadata.py FILE [--peer-python PYTHON] [--rounds N]` times reading (parsing, converting and the checks that a
reader must make) and writing (to JSON text) of one metadata file. With the Python of an environment that has PyIceberg,
both take turns, round by round in processes of their own, and the medians of the rounds are compared: of the time that
passed, and of the processor's time, which tells more where other work goes on beside. In its turn each does the work
three times and tells the median, so that the caches as the other left them do not count.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
from pathlib import Path

OURS = """
from spec_ref.table_metadata import dumps as write
from spec_ref.table_metadata import read_metadata as read
"""

PEER = """
from pyiceberg.table.metadata import TableMetadataUtil
read = TableMetadataUtil.parse_raw
write = lambda metadata: metadata.model_dump_json()
"""

SERVE = """
import statistics, sys, time
clocks = time.perf_counter, time.process_time
def timed(work, argument):
    times = []
    for _ in range(3):
        before = [clock() for clock in clocks]
        result = work(argument)
        times.append([clock() - then for clock, then in zip(clocks, before)])
    return [statistics.median(column) for column in zip(*times)], result
data = open(sys.argv[1], "rb").read()
write(read(data))
for _ in sys.stdin:
    reading, metadata = timed(read, data)
    writing, text = timed(write, metadata)
    print(*reading, *writing, flush=True)
    del metadata, text
"""


def start(python: str, program: str, file: Path) -> subprocess.Popen[str]:
    """Start a process that has one turn of reading and writing the file for every line it gets."""
    command = [python, "-c", program + SERVE, str(file)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def one_round(process: subprocess.Popen[str]) -> list[float]:
    """The times of one round, in milliseconds: that passed and of the processor, reading; the same, writing."""
    assert process.stdin
    assert process.stdout
    process.stdin.write("\n")
    process.stdin.flush()
    return [float(seconds) * 1000 for seconds in process.stdout.readline().split()]


def main() -> None:
    """Run the rounds and print the medians."""
    parser = argparse.ArgumentParser(description="Time reading and writing of table metadata.")
    parser.add_argument("file", type=Path)
    parser.add_argument("--peer-python", help="a Python that has PyIceberg")
    parser.add_argument("--rounds", type=int, default=15)
    given = parser.parse_args()
    processes = {"spec_ref": start(sys.executable, OURS, given.file)}
    if given.peer_python:
        processes["pyiceberg"] = start(given.peer_python, PEER, given.file)
    rounds = [{name: one_round(process) for name, process in processes.items()} for _ in range(given.rounds)]
    for process in processes.values():
        process.communicate()
    result: dict[str, dict[str, float]] = {}
    for place, work in enumerate(("read", "read, processor", "write", "write, processor")):
        medians = {name: statistics.median(times[name][place] for times in rounds) for name in processes}
        result[work] = {f"{name} ms": round(median, 1) for name, median in medians.items()}
        if given.peer_python:
            result[work]["times as fast"] = round(medians["pyiceberg"] / medians["spec_ref"], 2)
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()

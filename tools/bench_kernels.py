"""Time the columnar kernels beside those of pyiceberg-core, in one run on one machine.

    python tools/bench_kernels.py --peer-python ENVIRONMENT/bin/python

The peer is a process of its own, in a Python that has pyarrow and pyiceberg-core: that of the pyiceberg engine where
it is installed. Each round times one call of ours and one of the peer's, so that a machine that slows down slows both.
Both read the same columns, made from a fixed seed, and what both answer is compared once.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

SEED = 7
LOCK = "pyiceberg-0_12"

# Our transform, our type, the column, the goal for the ratio of ours to the peer's time (None: it is only shown).
CASES: tuple[tuple[str, str, str, float | None], ...] = (
    ("bucket[16]", "long", "long", 0.25),
    ("bucket[16]", "int", "int", 0.25),
    ("bucket[16]", "date", "date", 0.25),
    ("bucket[16]", "timestamp", "timestamp", 0.25),
    ("bucket[16]", "string", "string", 0.45),
    ("bucket[16]", "binary", "binary", 0.45),
    ("bucket[16]", "string", "unicode", None),
    ("bucket[16]", "string", "some_null", None),
    ("bucket[16]", "decimal(9, 2)", "decimal", 0.8),
    ("bucket[16]", "decimal(38, 10)", "wide_decimal", 0.8),
    ("bucket[16]", "uuid", "uuid", 0.8),
    ("truncate[10]", "long", "long", 1.1),
    ("truncate[10]", "int", "int", 1.1),
    ("truncate[10]", "string", "string", 0.4),
    ("truncate[10]", "decimal(9, 2)", "decimal", None),
    ("year", "timestamp", "timestamp", None),
    ("month", "timestamp", "timestamp", None),
    ("day", "timestamp", "timestamp", 0.25),
    ("hour", "timestamp", "timestamp", 0.6),
    ("hour", "timestamp", "old_timestamp", None),
)


def make_columns(rows: int) -> dict[str, Any]:
    """The columns by name."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    generator = np.random.default_rng(SEED)
    lengths = generator.integers(6, 19, rows)
    offsets = np.zeros(rows + 1, np.int32)
    np.cumsum(lengths, out=offsets[1:])
    letters = generator.integers(ord("a"), ord("z") + 1, int(offsets[-1]), dtype=np.uint8)
    buffers = [None, pa.py_buffer(offsets.data), pa.py_buffer(letters.data)]
    string = pa.Array.from_buffers(pa.string(), rows, buffers)
    words = np.array(["Zürich", "Kraków", "東京都", "São Paulo", "Berlin"], object)
    small = generator.integers(-(10**8), 10**8, rows)
    micros = generator.integers(0, 1_800_000_000_000_000, rows)
    longs = generator.integers(-(2**40), 2**40, rows)
    half_past = 900_000_000_000_000
    return {
        "long": pa.array(longs),
        "int": pa.array((longs >> 10).astype(np.int32)),
        "date": pa.array((micros // 86_400_000_000).astype(np.int32)).cast(pa.date32()),
        "timestamp": pa.array(micros).cast(pa.timestamp("us")),
        "old_timestamp": pa.array(micros - half_past).cast(pa.timestamp("us")),
        "string": string,
        "binary": pa.Array.from_buffers(pa.binary(), rows, buffers),
        "unicode": pa.array(words[generator.integers(0, len(words), rows)], pa.string()),
        "some_null": pc.if_else(pa.array(generator.random(rows) < 0.9), string, None),
        "decimal": _decimals(np.stack([small, small >> 63], axis=1), pa.decimal128(9, 2)),
        "wide_decimal": _decimals(generator.integers(-(2**61), 2**61, (rows, 2)), pa.decimal128(38, 10)),
        "uuid": pa.Array.from_buffers(pa.binary(16), rows, [None, pa.py_buffer(generator.bytes(16 * rows))]),
    }


def _decimals(halves: Any, arrow_type: Any) -> Any:
    import pyarrow as pa

    return pa.Array.from_buffers(arrow_type, len(halves), [None, pa.py_buffer(halves.data)])


def read_column(directory: Path, name: str) -> Any:
    """A column that `write_column` has written, in memory of its own: mapped memory may not be aligned."""
    import pyarrow as pa

    with pa.ipc.open_file(str(directory / f"{name}.arrow")) as reader:
        column: Any = reader.read_all().column(0).chunk(0)
    return pa.concat_arrays([column.slice(0, 1), column.slice(1)])


def write_column(directory: Path, name: str, column: Any) -> None:
    """Write one array as an Arrow file."""
    import pyarrow as pa

    table = pa.table({"column": column})
    with pa.ipc.new_file(str(directory / f"{name}.arrow"), table.schema) as writer:
        writer.write_table(table)


def timed(function: Callable[[], Any]) -> float:
    """Seconds of one call."""
    started = time.perf_counter()
    function()
    return time.perf_counter() - started


def serve_peer(directory: Path) -> None:
    """Time pyiceberg-core: for each line of input, a transform and a column, one call and the seconds it took."""
    from pyiceberg_core import transform as core

    columns: dict[str, Any] = {}
    for line in sys.stdin:
        text, name, answer = json.loads(line)
        if name not in columns:
            columns = {name: read_column(directory, name)}
        kind, _, parameter = text.rstrip("]").partition("[")
        arguments = [columns[name], int(parameter)] if parameter else [columns[name]]
        if answer is not None:
            write_column(directory, answer, getattr(core, kind)(*arguments))
        print(json.dumps(timed(lambda: getattr(core, kind)(*arguments))), flush=True)  # noqa: B023


class Peer:
    """The process that times pyiceberg-core."""

    def __init__(self, python: str, directory: Path) -> None:
        command = [python, __file__, "--serve-peer", str(directory)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __enter__(self) -> Peer:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()

    def seconds(self, transform: str, column: str, answer: str | None = None) -> float:
        """The seconds of one call; its result is written to the file ``answer`` where that is given."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps([transform, column, answer]) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            sys.exit(f"the peer ended at {transform} of {column}")
        return float(json.loads(line))


def compare(rows: int, rounds: int, selected: str, python: str) -> None:
    """Time every selected case and print the table."""
    from spec_ref.partitioning.transforms import parse_transform
    from spec_ref.partitioning.transforms_columnar import transform_array
    from spec_ref.schemas.type_json import type_from_json

    print(f"{rows} rows, medians of {rounds} rounds, nanoseconds per value")
    print(f"{'transform':13}{'column':15}{'ours':>8}{'peer':>8}{'ratio':>8}{'goal':>7}  ")
    with tempfile.TemporaryDirectory() as made:
        directory = Path(made)
        for name, column in make_columns(rows).items():
            write_column(directory, name, column)
        with Peer(python, directory) as peer:
            for text, type_text, name, goal in CASES:
                if selected not in f"{text} {name}":
                    continue
                transform, type_ = parse_transform(text), type_from_json(type_text)
                column = read_column(directory, name)
                answer = transform_array(transform, type_, column)
                peer.seconds(text, name, "answer")
                equal = answer.equals(read_column(directory, "answer").cast(answer.type))
                ours, theirs = [], []
                for _ in range(rounds):
                    ours.append(timed(lambda: transform_array(transform, type_, column)))  # noqa: B023
                    theirs.append(peer.seconds(text, name))
                per_value = [statistics.median(seconds) / rows * 1e9 for seconds in (ours, theirs)]
                ratio = per_value[0] / per_value[1]
                told = ("" if goal is None or ratio <= goal else "  MISSED") + ("" if equal else "  ANSWERS DIFFER")
                shown = "" if goal is None else f"{goal:.2f}"
                print(f"{text:13}{name:15}{per_value[0]:8.2f}{per_value[1]:8.2f}{ratio:8.2f}{shown:>7}{told}")


def installed_peer() -> str | None:
    """The Python of the pyiceberg engine, where that is installed."""
    from conformance.engines.environments import environment

    found = environment(LOCK)
    return str(found.python) if found.is_installed() else None


def main() -> int:
    """Run the benchmark, or the peer's side of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer-python", help="a Python with pyarrow and pyiceberg-core")
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--select", default="", help="only cases with this text in their transform and column")
    parser.add_argument("--serve-peer", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.serve_peer is not None:
        serve_peer(given.serve_peer)
        return 0
    python = given.peer_python or installed_peer()
    if python is None:
        parser.error("--peer-python is needed: the pyiceberg engine is not installed")
    compare(given.rows, given.rounds, given.select, python)
    return 0


if __name__ == "__main__":
    sys.exit(main())

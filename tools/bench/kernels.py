"""Hashing and truncating Arrow columns, compared with pyiceberg-core and with DuckDB on one thread.

Both sides read the same columns, made from a fixed seed. Their results are compared once. All of them compute on one
thread, so that the seconds are those of the processor, and other work on the machine changes the ratios less.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from spec_ref.columnar.partitioning.transforms import transform_array
from spec_ref.partitioning.transforms import parse_transform
from spec_ref.schemas.type_json import type_from_json
from tools.bench.measure import BenchError, Claim, Peer, Scale, in_turns, timed

SEED = 7

# Transform, type, column, goal for the ratio to pyiceberg-core (None: only shown), goal for the ratio to DuckDB.
CASES: tuple[tuple[str, str, str, float | None, float | None], ...] = (
    ("bucket[16]", "long", "long", 0.25, 0.8),
    ("bucket[16]", "int", "int", 0.25, 0.8),
    ("bucket[16]", "date", "date", 0.25, 0.8),
    ("bucket[16]", "timestamp", "timestamp", 0.25, 0.8),
    ("bucket[16]", "string", "string", 0.45, 0.8),
    ("bucket[16]", "binary", "binary", 0.45, 0.8),
    ("bucket[16]", "string", "unicode", 0.45, 0.8),
    ("bucket[16]", "string", "some_null", None, 0.8),
    ("bucket[16]", "decimal(9, 2)", "decimal", 0.8, 0.8),
    ("bucket[16]", "decimal(38, 10)", "wide_decimal", 0.8, 0.8),
    ("bucket[16]", "uuid", "uuid", 0.8, 0.8),
    ("truncate[10]", "long", "long", 1.1, None),
    ("truncate[10]", "int", "int", 1.1, None),
    ("truncate[10]", "string", "string", 0.4, None),
    ("truncate[10]", "decimal(9, 2)", "decimal", None, None),
    ("year", "timestamp", "timestamp", None, None),
    ("month", "timestamp", "timestamp", None, None),
    ("day", "timestamp", "timestamp", 0.25, None),
    ("hour", "timestamp", "timestamp", 0.6, None),
    ("hour", "timestamp", "old_timestamp", None, None),
)

SERVE = """
import gc, json, sys, time
import pyarrow as pa
directory = sys.argv[1]
columns = {}
def read(name):
    if name not in columns:
        columns.clear()
        with pa.ipc.open_file(f"{directory}/{name}.arrow") as reader:
            column = reader.read_all().column(0).chunk(0)
        columns[name] = pa.concat_arrays([column.slice(0, 1), column.slice(1)])  # mapped memory may not be aligned
    return columns[name]
def serve(version, prepare):
    print(json.dumps(version), flush=True)
    for line in sys.stdin:
        text, name, wanted = json.loads(line)
        kind, _, parameter = text.rstrip("]").partition("[")
        work = prepare(kind, int(parameter) if parameter else None, name)
        gc.collect()
        start = time.process_time()
        answer = work()
        seconds = time.process_time() - start
        if wanted:
            table = pa.table({"column": answer})
            with pa.ipc.new_file(f"{directory}/answer.arrow", table.schema) as writer:
                writer.write_table(table)
        print(json.dumps(seconds), flush=True)
"""

CORE = """
from importlib.metadata import version
from pyiceberg_core import transform as core
def prepare(kind, parameter, name):
    arguments = [read(name)] + ([] if parameter is None else [parameter])
    return lambda: getattr(core, kind)(*arguments)
serve(f"pyiceberg-core {version('pyiceberg-core')}", prepare)
"""

DUCKDB = """
import duckdb
from conformance.engines.duckdb.adapter import connect
connection = connect()
connection.execute("SET threads = 1")
held = []
def prepare(kind, parameter, name):
    if held != [name]:
        values = pa.table({"v": read(name)})
        connection.execute("CREATE OR REPLACE TABLE t AS SELECT v FROM values")
        held[:] = [name]
    query = f"SELECT sum(iceberg_bucket({parameter}, v)) FROM t"
    return lambda: pa.array(connection.execute(query).fetchone(), pa.int64())
serve(f"DuckDB {duckdb.__version__}", prepare)
"""


def make_columns(rows: int) -> dict[str, Any]:
    """Return the columns by name."""
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
    return pa.Array.from_buffers(arrow_type, len(halves), [None, pa.py_buffer(halves.data)])


def read_column(directory: Path, name: str) -> Any:
    """Read a column that `write_column` wrote, into separate memory: mapped memory may not be aligned."""
    with pa.ipc.open_file(str(directory / f"{name}.arrow")) as reader:
        column: Any = reader.read_all().column(0).chunk(0)
    return pa.concat_arrays([column.slice(0, 1), column.slice(1)])


def write_column(directory: Path, name: str, column: Any) -> None:
    """Write one array as an Arrow file."""
    table = pa.table({"column": column})
    with pa.ipc.new_file(str(directory / f"{name}.arrow"), table.schema) as writer:
        writer.write_table(table)


def _path(transform: str) -> str:
    return f"{transform.partition('[')[0]} over Arrow"


def claims(scale: Scale) -> Iterator[Claim]:
    """Measure all cases."""
    rows = scale.size(2_000_000, 200_000)
    with tempfile.TemporaryDirectory() as made:
        directory = Path(made)
        for name, column in make_columns(rows).items():
            write_column(directory, name, column)
        with Peer("pyiceberg", SERVE + CORE, made) as core, Peer("duckdb", SERVE + DUCKDB, made) as duckdb:
            for text, type_text, name, core_goal, duckdb_goal in CASES:
                transform, type_ = parse_transform(text), type_from_json(type_text)
                column = read_column(directory, name)
                answer = transform_array(transform, type_, column)
                asked = [(core, core_goal)] + ([] if duckdb_goal is None else [(duckdb, duckdb_goal)])
                for peer, goal in asked:
                    peer(text, name, "answer")
                    found = read_column(directory, "answer")
                    mine = answer if peer is core else pa.array([pc.sum(answer).as_py()])
                    if not mine.equals(found.cast(mine.type)):
                        message = f"{text} of {name}: {peer.version} answers otherwise"
                        raise BenchError(message)
                    taken = in_turns(
                        {
                            "ours": lambda: timed(
                                lambda: transform_array(transform, type_, column),  # noqa: B023
                                time.process_time,
                            ),
                            "theirs": lambda: float(peer(text, name, None)),  # noqa: B023
                        },
                        scale.rounds,
                    )
                    yield Claim(
                        path=_path(text),
                        case=f"{name}, {rows:,} rows",
                        ours=taken["ours"],
                        peer=peer.version,
                        theirs=taken["theirs"],
                        goal=goal,
                    )

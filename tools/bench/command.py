"""The command line: how long short commands take, from the start of the process to its end.

Nearly all of it is importing modules. The notes have the time of a Python process that only imports the libraries that
the command cannot do without.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from conformance.vectors.golden_tables import materialize
from tools.bench.measure import BenchError, Claim, Measure, Scale, in_turns, timed

TABLE = "arrow-deletes-dictionary"
"""A small golden table without findings."""

PARSING = "attrs, cyclopts"
READING = "attrs, cattrs, numpy, pyarrow.compute, pyarrow.parquet"

CASES: tuple[tuple[tuple[str, ...], str, float, str], ...] = (
    (("--help",), "iceberg-conformance --help", 0.25, PARSING),
    (("validate", TABLE, "--level", "metadata"), "validate --level metadata, a small table", 0.25, PARSING),
    (("validate", TABLE, "--level", "rows"), "validate --level rows, a small table", 0.35, READING),
    (("run", "--suite", "hashing", "--adapter", "reference"), "run --suite hashing --adapter reference", 1.0, PARSING),
    (("explain", "TRN010"), "explain TRN010", 0.2, PARSING),
)
"""The arguments, the description, the goal in seconds, and the libraries that the command needs."""


def claims(scale: Scale) -> Iterator[Claim]:
    """Measure the help, and short commands that examine something.

    Raises:
        BenchError: a command fails.
    """
    program = str(Path(sysconfig.get_path("scripts"), "iceberg-conformance"))
    with tempfile.TemporaryDirectory() as folder:
        tables = Path(folder, "tables")
        materialize([TABLE], place=tables)
        for arguments, case, goal, libraries in CASES:
            ways = {
                "ours": partial(timed, partial(_run, [program, *arguments], tables)),
                "least": partial(timed, partial(_run, [sys.executable, "-c", f"import {libraries}"], tables)),
            }
            taken = in_turns(ways, scale.rounds if scale.quick else max(5, scale.rounds))
            yield Claim(
                path="command line",
                case=case,
                ours=taken["ours"],
                measure=Measure.SECONDS,
                goal=goal,
                note=f"importing {libraries} alone takes {statistics.median(taken['least']):.2f} s",
            )


def _run(command: list[str], tables: Path) -> None:
    # As after an installation: with bytecode, which the first of several runs writes.
    written = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment = {**written, "PYTHONPYCACHEPREFIX": str(tables.parent / "bytecode")}
    done = subprocess.run(command, cwd=tables, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise BenchError(f"{' '.join(command)}: status {done.returncode}: {(done.stderr or done.stdout)[:500]}")

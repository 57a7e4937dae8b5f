"""The command line: how long short commands take, from the start of the process to its end."""

from __future__ import annotations

import os
import subprocess
import sysconfig
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from conformance.vectors.golden_tables import materialize
from tools.bench.measure import BenchError, Claim, Measure, Scale, in_turns, timed

TABLE = "arrow-deletes-dictionary"
"""A small golden table without findings."""

CASES: tuple[tuple[tuple[str, ...], str, float], ...] = (
    (("--help",), "iceberg-conformance --help", 0.25),
    (("validate", TABLE, "--level", "metadata"), "validate --level metadata, a small table", 0.25),
    (("validate", TABLE, "--level", "rows"), "validate --level rows, a small table", 0.35),
    (("run", "--suite", "hashing", "--adapter", "reference"), "run --suite hashing --adapter reference", 1.0),
    (("explain", "TRN010"), "explain TRN010", 0.2),
)
"""The arguments, the description, and the goal in seconds."""


def claims(scale: Scale) -> Iterator[Claim]:
    """Measure the help, and short commands that examine something.

    Raises:
        BenchError: a command fails.
    """
    program = str(Path(sysconfig.get_path("scripts"), "iceberg-conformance"))
    with tempfile.TemporaryDirectory() as folder:
        tables = Path(folder, "tables")
        materialize([TABLE], place=tables)
        for arguments, case, goal in CASES:
            run = partial(_run, [program, *arguments], tables)
            taken = in_turns({"ours": partial(timed, run)}, scale.rounds if scale.quick else max(5, scale.rounds))
            yield Claim(path="command line", case=case, ours=taken["ours"], measure=Measure.SECONDS, goal=goal)


def _run(command: list[str], tables: Path) -> None:
    # As after an installation: with bytecode, which the first of several runs writes.
    written = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment = {**written, "PYTHONPYCACHEPREFIX": str(tables.parent / "bytecode")}
    done = subprocess.run(command, cwd=tables, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise BenchError(f"{' '.join(command)}: status {done.returncode}: {(done.stderr or done.stdout)[:500]}")

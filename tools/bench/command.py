"""The command line: how long short commands take, from the start of the process to its end."""

from __future__ import annotations

import subprocess
import sysconfig
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from tools.bench.measure import Claim, Measure, Scale, in_turns, timed

TABLE = str(Path(__file__).parents[2] / "vectors" / "golden" / "tables" / "arrow-deletes-dictionary")
"""A small table without findings."""

CASES: tuple[tuple[tuple[str, ...], str, float], ...] = (
    (("--help",), "iceberg-conformance --help", 0.25),
    (("validate", TABLE, "--level", "metadata"), "validate --level metadata, a small table", 0.25),
    (("validate", TABLE, "--level", "rows"), "validate --level rows, a small table", 0.35),
    (("run", "--suite", "hashing", "--adapter", "reference"), "run --suite hashing --adapter reference", 1.0),
    (("explain", "TRN010"), "explain TRN010", 0.2),
)
"""The arguments, the description, and the goal in seconds."""


def claims(scale: Scale) -> Iterator[Claim]:
    """Measure the help, and short commands that examine something."""
    program = str(Path(sysconfig.get_path("scripts"), "iceberg-conformance"))
    for arguments, case, goal in CASES:
        run = partial(subprocess.run, [program, *arguments], capture_output=True, check=True)
        taken = in_turns({"ours": partial(timed, run)}, scale.rounds if scale.quick else max(5, scale.rounds))
        yield Claim(path="command line", case=case, ours=taken["ours"], measure=Measure.SECONDS, goal=goal)

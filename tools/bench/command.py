"""The command line: how long ``iceberg-conformance --help`` takes, from the start of the process to its end."""

from __future__ import annotations

import subprocess
import sysconfig
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from tools.bench.measure import Claim, Measure, Scale, in_turns, timed


def claims(scale: Scale) -> Iterator[Claim]:
    """The help."""
    command = [str(Path(sysconfig.get_path("scripts"), "iceberg-conformance")), "--help"]
    run = partial(subprocess.run, command, capture_output=True, check=True)
    taken = in_turns({"ours": partial(timed, run)}, max(5, scale.rounds))
    yield Claim(
        path="command line", case="iceberg-conformance --help", ours=taken["ours"], measure=Measure.SECONDS, goal=0.25
    )

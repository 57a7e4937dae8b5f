"""Store the results of a run: findings as regression inputs, and inputs that reach new code in the corpus.

An input belongs in the corpus if it runs a line of the reader that no seed and no earlier input of the corpus runs.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from types import FrameType
from typing import Any

from tools.forked_process import DONE, run_forked
from tools.fuzz.running import Finding
from tools.fuzz.target import CORPUS, REGRESSIONS, ROOT, Target

LARGEST_KEPT = 4096
MAX_KEPT = 40
OURS = tuple(f"{ROOT}{os.sep}{package}{os.sep}" for package in ("spec_ref", "conformance"))

Line = tuple[str, int]


def keep_findings(target: str, findings: Iterable[Finding]) -> None:
    """Add findings to the regression inputs of a target."""
    _add(
        REGRESSIONS / f"{target}.txt", [(one.data, one.error.partition(": ")[0]) for one in findings if not one.output]
    )


def keep_inputs(target: Target, folder: Path) -> int:
    """Add the useful inputs in a folder to the corpus of a target; return the number added."""
    found = [path.read_bytes() for path in folder.iterdir() if path.stat().st_size <= LARGEST_KEPT]
    status, chosen = run_forked(lambda: _useful_inputs(target, found), 300)
    if status != DONE:
        return 0
    _add(CORPUS / f"{target.name}.txt", [(data, "") for data in chosen])
    return len(chosen)


def _useful_inputs(target: Target, found: list[bytes]) -> list[bytes]:
    """Return the inputs that run lines which no earlier input runs; short ones are tried first."""
    read, kept = target.load(), target.initial_inputs()
    known: set[Line] = set().union(*(covered_lines(read, data) for data in kept))
    chosen: list[bytes] = []
    for data in sorted(found, key=lambda one: (len(one), one)):
        lines = covered_lines(read, data)
        if not lines <= known and len(chosen) < MAX_KEPT:
            known |= lines
            chosen.append(data)
    return chosen


def covered_lines(read: Callable[[bytes], object], data: bytes) -> set[Line]:
    """Return the lines of the project's code that an input runs."""
    lines: set[Line] = set()

    def called(frame: FrameType, _event: str, _argument: Any) -> Any:
        name = frame.f_code.co_filename
        return line if name.startswith(OURS) or name == "<string>" else None

    def line(frame: FrameType, _event: str, _argument: Any) -> Any:
        lines.add((f"{frame.f_code.co_filename}:{frame.f_code.co_name}", frame.f_lineno))
        return line

    before = sys.gettrace()
    sys.settrace(called)
    try:
        with contextlib.suppress(Exception):
            read(data)
    finally:
        sys.settrace(before)
    return lines


def _add(path: Path, inputs: list[tuple[bytes, str]]) -> None:
    if inputs:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as file:
            for data, reason in inputs:
                file.write(f"{data.hex() or 'empty'}{f'  # {reason}' if reason else ''}\n")

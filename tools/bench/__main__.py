"""Run the benchmarks.

    python -m tools.bench [--quick] [--only PATH]... [--rounds N] [--write]

Prints a line for every claim as it is measured. ``--write`` stores the figures in ``docs/benchmarks.json`` (of a
complete full run) or ``docs/benchmarks-quick.json`` (of a quick run), and writes ``docs/benchmarks.md`` with its plot
from the former. A quick run measures small cases, whose ratios differ, and compares them with the stored quick run.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from pathlib import Path

from attrs import evolve

from tools.bench import report
from tools.bench.measure import BenchError, Claim, Scale
from tools.entry_point import run_main

SLOW = frozenset({"spark"})
"""The paths that a quick run leaves out."""

DOCS = Path(__file__).parents[2] / "docs"


def main() -> int:
    """Measure, print, and optionally store; return 3 if a peer could not be measured."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small cases, in about a minute")
    parser.add_argument("--only", action="append", choices=report.PATHS, default=[])
    parser.add_argument("--rounds", type=int, help="the number of rounds; 5 by default, and 3 in a quick run")
    parser.add_argument("--write", action="store_true", help="store the figures and write the document")
    given = parser.parse_args()
    scale = Scale(given.quick, given.rounds or (3 if given.quick else 5))
    stored = report.load(DOCS / report.file_name(quick=given.quick))
    measured: list[Claim] = []
    status = 0
    print(report.HEADER)
    for path in given.only or [path for path in report.PATHS if not (given.quick and path in SLOW)]:
        try:
            for found in importlib.import_module(f"tools.bench.{path}").claims(scale):
                claim = evolve(found, goal=None) if given.quick else found  # the goals are for the full cases
                measured.append(claim)
                print(report.line(claim, stored.get(claim.key)), flush=True)
        except BenchError as error:
            print(f"{path}: {error}", file=sys.stderr)
            status = 3
    print(report.summary(measured))
    if given.write:
        report.store(DOCS, measured, quick=given.quick, partly=bool(given.only))
    return status


if __name__ == "__main__":
    run_main(main)

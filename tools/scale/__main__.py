"""Measure how time and memory grow with the number of files and rows.

    python -m tools.scale [--quick] [--only WORDS]... [--folder FOLDER] [--keep FILE] [--write]

Prints a line for every path at every size. ``--write`` stores the figures of a whole run in ``docs/scale.json`` and
writes ``docs/scale.md`` with its plot. A quick run measures small tables in less than a minute; the limits apply to it
too. The exit status is 1 if a limit is exceeded, and 3 if a path could not be measured.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from tools.bench.measure import BenchError
from tools.entry_point import run_main
from tools.scale import report
from tools.scale.paths import MeasuredTables, Measurement, exceeded_limits, growths, limits, measurements
from tools.scale.requests import requests

DOCS = Path(__file__).parents[2] / "docs"


def main(words: list[str] | None = None) -> int:
    """Measure, print and store; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small tables")
    parser.add_argument("--only", action="append", default=[], help="only the paths whose names contain these words")
    parser.add_argument("--folder", type=Path, help="the folder for the tables, which take 2 GB")
    parser.add_argument("--keep", type=Path, help="a file to store measurements in; an interrupted run continues there")
    parser.add_argument("--write", action="store_true", help="store the figures and write the document")
    given = parser.parse_args(words)
    if given.write and (given.quick or given.only):
        parser.error("the document is written only from whole runs")
    measured: list[Measurement] = []
    print(report.HEADER)
    try:
        with tempfile.TemporaryDirectory(prefix="scale-", dir=given.folder) as folder:
            made, known = MeasuredTables(Path(folder)), report.load_measurements(given.keep)
            for one in measurements(made, quick=given.quick, only=tuple(given.only), known=known):
                measured.append(one)
                print(report.line(one), flush=True)
                if given.keep is not None and one not in known:
                    report.append_measurement(given.keep, one)
            asked = requests() if given.write else None
    except BenchError as error:
        print(error, file=sys.stderr)
        return 3
    grown, allowed = growths(tuple(measured)), limits()
    print("\n" + "\n".join(report.growth_line(name, growth, allowed[name]) for name, growth in grown.items()))
    beyond = exceeded_limits(grown, allowed)
    for name in beyond:
        print(f"beyond its limit: {name}", file=sys.stderr)
    if asked is not None:
        how = "in one run" if given.keep is None else "in parts (`--keep`)"
        report.store(DOCS, tuple(measured), asked, how)
    return 1 if beyond else 0


if __name__ == "__main__":
    run_main(main)

"""``iceberg-conformance report``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from conformance import results
from conformance.failures import ExitStatus, UsageError
from conformance.reports import outputs, renderer, write_reports
from conformance.results import Run


def report(
    *files: Path,
    format: Literal["terminal", "json", "junit", "html", "markdown", "badge"] = "terminal",
    report: tuple[str, ...] = (),
    diff: Annotated[bool, Parameter(name="--diff")] = False,
) -> int:
    """Render results files, which run writes with --results; several become one report.

    Exit status: 0, whatever the results are; with --diff 1 if something fails that did not before; 2 if a file does not
    hold results.

    Args:
        files: The results files.
        format: What to write to standard output.
        report: terminal, json, junit, html, markdown or badge, with :PATH for a file, as for run. May be repeated.
        diff: Tell what changed from the first file to the second, and nothing else.
    """
    if not files:
        raise UsageError("report: name at least one results file")
    runs = [results.read(path) for path in files]
    if diff:
        return _difference(runs)
    whole = runs[0] if len(runs) == 1 else results.combined(runs, [str(path) for path in files])
    if report:
        write_reports(whole, outputs(report))
    elif format == "terminal":
        write_reports(whole, ())
    else:
        sys.stdout.write(renderer(format)(whole, None))
    return ExitStatus.CONFORMANT


def _difference(runs: list[Run]) -> ExitStatus:
    from conformance.reports.difference import changes, lines

    if len(runs) != 2:
        raise UsageError("report --diff: name two results files, the old one first")
    old, new = runs
    for line in lines(old, new):
        sys.stdout.write(line + "\n")
    regressed = any(change.is_regression for change in changes(old, new))
    return ExitStatus.FAILURES if regressed else ExitStatus.CONFORMANT

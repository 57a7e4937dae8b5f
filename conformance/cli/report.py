"""``iceberg-conformance report``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Literal

from conformance import results
from conformance.failures import ExitStatus
from conformance.reports import outputs, renderer, write_reports


def report(
    *files: Path,
    format: Literal["terminal", "json", "junit", "html"] = "terminal",
    report: tuple[str, ...] = (),
) -> int:
    """Render results files, which run writes with --results; several become one report.

    Exit status: 0, whatever the results are; 2 if a file is not of results.

    Args:
        files: The results files.
        format: What to write to standard output.
        report: terminal, json, junit or html, with :PATH for a file, as for run. May be repeated.
    """
    from conformance.failures import UsageError

    if not files:
        raise UsageError("report: name at least one results file")
    runs = [results.read(path) for path in files]
    whole = runs[0] if len(runs) == 1 else results.combined(runs, [str(path) for path in files])
    if report:
        write_reports(whole, outputs(report))
    elif format == "terminal":
        write_reports(whole, ())
    else:
        sys.stdout.write(renderer(format)(whole, None))
    return ExitStatus.CONFORMANT

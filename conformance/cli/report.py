"""``iceberg-conformance report``."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from conformance.core.failures import ExitStatus, UsageError
from conformance.core.lazy_imports import lazy_imports
from conformance.core.output_files import check_distinct_files
from conformance.reports import parse_outputs, render_report, report_files, write_reports
from conformance.runner import results
from conformance.runner.results import Run

with lazy_imports():
    from conformance.interop import results as matrix_results
    from conformance.reports import difference


if TYPE_CHECKING:
    from conformance.interop.cells import Matrix


def report(
    *files: Path,
    format: Literal["terminal", "json", "junit", "html", "markdown", "badge", "sarif", "github"] = "terminal",
    report: tuple[str, ...] = (),
    diff: Annotated[bool, Parameter(name="--diff")] = False,
    matrix: Path | None = None,
) -> int:
    """Render results files, which run --results writes; several are combined into one report.

    Exit status: 0 whatever the results are; with --diff, 1 if something fails that did not fail before; 2 if a file is
    not a results file.

    Args:
        files: The results files.
        format: The format of the report on standard output; with --diff, only terminal, json or markdown.
        report: terminal, json, junit, html, markdown, badge, sarif or github, with :PATH for a file. May be repeated.
        diff: Show only what changed from the first file to the second.
        matrix: A results file of matrix, to include in the HTML report.
    """
    if not files:
        raise UsageError("report: name at least one results file")
    outputs = parse_outputs(report)
    inputs = [("a results file", path) for path in files]
    check_distinct_files(report_files(outputs), [*inputs, ("--matrix", matrix)])
    runs = [results.read(path) for path in files]
    if diff:
        return _difference(runs, format)
    whole = runs[0] if len(runs) == 1 else results.combine_runs(runs, [str(path) for path in files])
    tables = None if matrix is None else _tables(matrix)
    if outputs:
        write_reports(whole, outputs, tables=tables)
    elif format == "terminal":
        write_reports(whole, ())
    else:
        sys.stdout.write(render_report(format, whole, tables=tables))
    return ExitStatus.CONFORMANT


def _tables(path: Path) -> Matrix:
    return matrix_results.read(path)


def _difference(runs: list[Run], format: str) -> ExitStatus:
    if len(runs) != 2:
        raise UsageError("report --diff: name two results files, the old one first")
    if format not in ("terminal", "json", "markdown"):
        raise UsageError(f"report --diff: format {format} is not supported; expected terminal, json or markdown")
    old, new = runs
    if format == "json":
        sys.stdout.write(json.dumps(difference.as_json(old, new), indent=2, allow_nan=False) + "\n")
    else:
        lines = difference.markdown(old, new) if format == "markdown" else difference.lines(old, new)
        sys.stdout.write("".join(f"{line}\n" for line in lines))
    regressed = any(change.is_regression for change in difference.changed_results(old, new))
    return ExitStatus.FAILURES if regressed else ExitStatus.CONFORMANT

"""Reports of a run: for people at a terminal, and as documents that other tools read."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, TextIO, TypeAlias

from attrs import frozen

from conformance.core.failures import UsageError
from conformance.core.lazy_imports import lazy_imports
from conformance.core.output_files import NamedFile, prepare_output, write_output

with lazy_imports():
    from conformance.reports import html, terminal


if TYPE_CHECKING:
    from conformance.interop.cells import Matrix as Tables
    from conformance.reports.terminal import Detail
    from conformance.runner.results import Run

KINDS = {
    "terminal": "conformance.reports.terminal",
    "json": "conformance.reports.json_report",
    "junit": "conformance.reports.junit",
    "html": "conformance.reports.html",
    "markdown": "conformance.reports.markdown",
    "badge": "conformance.reports.badge",
    "sarif": "conformance.reports.sarif_run",
    "github": "conformance.reports.github",
}
"""The kinds of report, and the module of each, which has ``render(run, vectors)``."""

Render: TypeAlias = "Callable[[Run, Path | None], str]"


@frozen
class Output:
    """One requested report."""

    kind: str
    path: Path | None
    """The file; None for standard output."""


def parse_outputs(requests: Sequence[str], kinds: Mapping[str, str] = KINDS) -> tuple[Output, ...]:
    """Parse requests for reports, ``KIND`` or ``KIND:PATH``.

    Args:
        requests: the values of --report.
        kinds: the kinds of report that the command has.

    Raises:
        UsageError: a kind is unknown, a file cannot be written, or two reports go to standard output.
    """
    made = []
    for text in requests:
        kind, colon, path = text.partition(":")
        if kind not in kinds:
            raise UsageError(f"unknown report {kind!r}; the kinds are {', '.join(kinds)}")
        if colon and not path:
            raise UsageError(f"--report {text}: the path is missing")
        made.append(Output(kind, Path(path) if path else None))
    if sum(output.path is None for output in made) > 1:
        raise UsageError("only one report can go to standard output; give the others a path (KIND:PATH)")
    for output in made:
        if output.path is not None:
            prepare_output("--report", output.path)
    return tuple(made)


def report_files(outputs: Sequence[Output]) -> list[NamedFile]:
    """Return the files of requested reports, for `conformance.core.output_files.check_distinct_files`.

    Args:
        outputs: the requested reports.
    """
    return [(f"--report {one.kind}", one.path) for one in outputs]


def write_reports(
    run: Run,
    requested: Sequence[Output],
    vectors: Path | None = None,
    tables: Tables | None = None,
    detail: Detail | None = None,
) -> None:
    """Write the requested reports, and one for people.

    The report for people goes to standard output, or to standard error if another report goes to standard output.

    Args:
        run: the results.
        requested: the reports to write.
        vectors: the folder of vectors from the command line, for the commands that reproduce a result.
        tables: a matrix of producers and consumers, which the HTML report includes.
        detail: how much of the failures the report for people shows; examples by default.
    """
    for output in requested:
        if output.path is not None:
            write_output("--report", output.path, render_report(output.kind, run, vectors, tables))
    to_stdout = next((output for output in requested if output.path is None), None)
    if to_stdout is None or to_stdout.kind == "terminal":
        _terminal(run, vectors, sys.stdout, detail)
    else:
        sys.stdout.write(render_report(to_stdout.kind, run, vectors, tables))
        _terminal(run, vectors, sys.stderr, detail)


def render_report(kind: str, run: Run, vectors: Path | None = None, tables: Tables | None = None) -> str:
    """Render a report of a kind."""
    if kind == "html":
        return html.render(run, vectors, tables)
    return renderer(kind)(run, vectors)


def renderer(kind: str) -> Render:
    """Return the function that renders a kind of report."""
    render: Render = import_module(KINDS[kind]).render
    return render


def _terminal(run: Run, vectors: Path | None, stream: TextIO, detail: Detail | None) -> None:
    terminal.show(run, vectors, stream, detail or terminal.Detail.EXAMPLES)

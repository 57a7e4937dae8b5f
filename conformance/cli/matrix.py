"""``iceberg-conformance matrix``."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from conformance.cli.progress import progress
from conformance.core.failures import ExitStatus, NothingSelected, UsageError
from conformance.core.lazy_imports import lazy_imports
from conformance.runner.process import AdapterLimits
from conformance.runner.targets import make_limits, target

with lazy_imports():
    import fnmatch
    import importlib

    from conformance import reports, vectors, version
    from conformance.core import output_files
    from conformance.engine_setup import catalog as engine_catalog
    from conformance.interop import catalogue, cells, running
    from conformance.interop import golden as golden_interop
    from conformance.interop import known as known_differences
    from conformance.interop import results as matrix_results
    from conformance.reports import matrix_terminal
    from conformance.runner import expectations as run_expectations
    from conformance.runner import results as run_results


if TYPE_CHECKING:
    from conformance.interop.catalogue import ScriptVariant
    from conformance.interop.cells import Matrix, ProducedTable
    from conformance.interop.known import KnownOutcome
    from conformance.reports import Output

DEFAULTS = AdapterLimits()
KINDS = {
    "terminal": "conformance.reports.matrix_terminal",
    "markdown": "conformance.reports.matrix_markdown",
    "html": "conformance.reports.matrix_page",
}


def matrix(
    *,
    producer: tuple[str, ...] = (),
    consumer: tuple[str, ...] = (),
    script: tuple[str, ...] = (),
    quick: bool = False,
    results: Path | None = None,
    report: tuple[str, ...] = (),
    format: Literal["text", "json"] = "text",
    expect: str = "known-deviations",
    golden_results: Path | None = None,
    keep: Path | None = None,
    from_: Annotated[Path | None, Parameter(name="--from")] = None,
    list_: Annotated[bool, Parameter(name="--list")] = False,
    jobs: int = 2,
    start_timeout: float = DEFAULTS.start,
    timeout: float = DEFAULTS.request,
) -> int:
    """Check that every reader (consumer) reads what every writer (producer) wrote.

    Producers write tables from the scripts of a catalogue; golden tables were written before. Consumers read every
    state of each table, and their rows are compared with the rows that follow from the script.

    Exit status: 1 for a difference that is not known, or a known one that no longer happens; otherwise 3 if an adapter
    cannot be started, and 5 if no table was read. After an interruption the results have what was found so far.

    Args:
        producer: A writer: reference, the name of an engine, a command as for run, or golden for the golden tables. May
            be repeated; all by default.
        consumer: A reader: reference, the name of an engine, or a command as for run. May be repeated; all by default.
        script: Only the scripts and golden tables with this name, in which * matches any text. May be repeated.
        quick: Only a few scripts, and no golden tables unless --producer golden is given.
        results: Write the results to this file as JSON lines.
        report: terminal, markdown or html, with :PATH for a file. May be repeated.
        format: What to write to standard output, if no report goes there.
        expect: A file of known deviations, known-deviations for the one that comes with the tool, or none.
        golden_results: Take the results of golden tables from this results file of run, where it has them.
        keep: Write tables below this folder and keep them.
        from_: Render the results in this file, and run nothing.
        list_: List the scripts, with --format json including their operations, and run nothing.
        jobs: How many adapters to run at the same time.
        start_timeout: Seconds that an adapter may take to start.
        timeout: Seconds that an adapter may take to answer one request.
    """
    written = reports.parse_outputs(report, KINDS)
    known = None if expect in ("none", run_expectations.SHIPPED) else Path(expect)
    output_files.check_distinct_files(
        [*reports.report_files(written), ("--results", results)],
        [("--from", from_), ("--golden-results", golden_results), ("--expect", known)],
    )
    limits = make_limits(start_timeout, timeout)
    if jobs < 1:
        raise UsageError("--jobs must be at least 1")
    if list_:
        _list(catalogue.variants(script, quick=quick), format)
        return ExitStatus.CONFORMANT
    if from_ is not None:
        if results is not None:
            raise UsageError("--from runs nothing, so that there are no results to write with --results")
        found = matrix_results.read(from_)
        _show(found, written, format)
        return found.exit_status or ExitStatus.CONFORMANT
    chosen = catalogue.variants(script, quick=quick)
    found = _run(chosen, script, producer, consumer, quick, expect, golden_results, keep, jobs, limits, results)
    _show(found, written, format)
    return found.exit_status or ExitStatus.CONFORMANT


def _run(
    chosen: Sequence[ScriptVariant],
    names: Sequence[str],
    producer: Sequence[str],
    consumer: Sequence[str],
    quick: bool,
    expect: str,
    golden_results: Path | None,
    keep: Path | None,
    jobs: int,
    limits: AdapterLimits,
    results: Path | None,
) -> cells.Matrix:
    default = (*default_engines("producer"), *(() if quick else (cells.GOLDEN,)))
    producers = list(dict.fromkeys(producer or default))
    consumers = list(dict.fromkeys(consumer or default_engines("consumer")))
    targets = {name: target(name, limits) for name in dict.fromkeys((*producers, *consumers)) if name != cells.GOLDEN}
    every = vectors.load(vectors.shipped())
    golden = _golden(every, names) if cells.GOLDEN in producers else ()
    if not golden and not (chosen and producers != [cells.GOLDEN]):
        raise NothingSelected(f"no script or golden table is called {' or '.join(names)}")
    known_cells: tuple[KnownOutcome, ...] = ()
    known_vectors = run_expectations.Expectations()
    if expect != "none":
        shipped = expect == run_expectations.SHIPPED
        known_cells = known_differences.load_known(
            None if shipped else Path(expect), {one.name for one in catalogue.variants()} if shipped else ()
        )
        known_vectors = run_expectations.load_deviations(run_expectations.SHIPPED, {vector.id for vector in every})
    header = {
        "matrix": matrix_results.RESULTS,
        "tool": version.tool_version(),
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": sys.argv[1:],
    }
    with _folder(keep) as folder, progress() as report_progress:
        plan = running.MatrixPlan(
            producers=tuple(targets[name] for name in producers if name in targets and chosen),
            consumers=tuple(targets[name] for name in consumers),
            scripts=tuple(chosen),
            golden=golden,
            folder=folder,
            known=known_cells,
            expectations=known_vectors,
            golden_run=None if golden_results is None else run_results.read(golden_results),
            jobs=jobs,
        )
        found = cells.Matrix(header)
        try:
            return running.run_matrix(plan, found, report_progress)
        finally:  # the results of an interrupted run say that they are not complete
            written = any(not table.producer.startswith(cells.GOLDEN) for table in found.tables)
            if results is not None and (found.complete or written or found.cells):
                matrix_results.write(found, results)


def default_engines(role: str) -> tuple[str, ...]:
    """Return the engines whose folders declare them a producer or a consumer of the default matrix."""
    return tuple(engine.label for engine in engine_catalog.catalog().all_versions if role in engine.matrix)


def _golden(every: Sequence[Any], names: Sequence[str]) -> tuple[ProducedTable, ...]:
    wanted = [
        name
        for name in golden_interop.golden_cases(every)
        if not names or any(fnmatch.fnmatchcase(name, one) for one in names)
    ]
    return tuple(golden_interop.golden_tables(every, wanted))


@contextmanager
def _folder(keep: Path | None) -> Iterator[Path]:
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
        yield Path(tempfile.mkdtemp(prefix="matrix-", dir=keep))
        return
    with tempfile.TemporaryDirectory(prefix="iceberg-matrix-", ignore_cleanup_errors=True) as made:
        yield Path(made)


def _show(found: Matrix, written: Sequence[Output], format: str) -> None:
    for one in written:
        text = importlib.import_module(KINDS[one.kind]).render(found)
        if one.path is None:
            sys.stdout.write(text)
        else:
            output_files.write_output("--report", one.path, text)
    to_stdout = any(one.path is None for one in written)
    if format == "json" and not to_stdout:
        document = {
            **found.header,
            "participants": [matrix_results.record_json(one) for one in found.participants],
            "tables": [matrix_results.record_json(one) for one in found.tables],
            "cells": [matrix_results.record_json(one) for one in found.cells],
            "unmet": found.unmet,
            "complete": found.complete,
            "exit_status": found.exit_status,
        }
        json.dump(document, sys.stdout, indent=2, allow_nan=False)
        sys.stdout.write("\n")
    matrix_terminal.show(found, sys.stderr if to_stdout or format == "json" else sys.stdout)


def _list(chosen: Sequence[ScriptVariant], format: str) -> None:
    if format == "json":
        variants = [
            {
                "name": one.name,
                "about": one.entry.about,
                "features": one.entry.features,
                "format_version": one.format_version,
                "file_format": one.file_format,
                "script": one.script,
            }
            for one in chosen
        ]
        json.dump(variants, sys.stdout, indent=2)
        sys.stdout.write("\n")
        return
    for one in chosen:
        print(f"{one.name:36} {one.entry.about}")

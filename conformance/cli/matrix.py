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
from conformance.runner.process import Limits
from conformance.runner.targets import limits_of, target

if TYPE_CHECKING:
    from conformance.interop.catalogue import Variant
    from conformance.interop.cells import MadeTable, Matrix
    from conformance.interop.known import Known

DEFAULTS = Limits()
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
    known: str = "known-deviations",
    golden_results: Path | None = None,
    keep: Path | None = None,
    from_: Annotated[Path | None, Parameter(name="--from")] = None,
    list_: Annotated[bool, Parameter(name="--list")] = False,
    jobs: int = 2,
    start_timeout: float = DEFAULTS.start,
    timeout: float = DEFAULTS.request,
) -> int:
    """Let every consumer read what every producer writes.

    Producers write the scripts of a catalogue, or wrote the golden tables; consumers read every state of each table.
    What they read is held to what the script comes to.

    Exit status: 1 for a difference that is not known, or one that is known and no longer happens; otherwise 3 if an
    adapter cannot be started. Where it is interrupted, the results have what was found until then.

    Args:
        producer: reference, the name of an engine, golden for the tables that engines wrote before, or a command as for
            run. May be repeated. All that there are when nothing is named.
        consumer: The same of those that read.
        script: A script or a golden table by its name, which may have * in it. May be repeated.
        quick: Only a few scripts, and no golden tables unless they are named.
        results: Write what was found here as JSON lines.
        report: terminal, markdown or html, with :PATH for a file. May be repeated.
        format: What goes to standard output where no report does.
        known: A file of known deviations, known-deviations for the one that comes with the tool, or none.
        golden_results: Take what golden tables come to from this file of results of run, where it has it.
        keep: Write tables below this folder and keep them.
        from_: Report on a file of results; nothing is run.
        list_: List the scripts, with --format json their operations too; nothing is run.
        jobs: How many adapters work at once.
        start_timeout: Seconds that an adapter may take to start.
        timeout: Seconds that an adapter may take for one answer.
    """
    from conformance.interop import results as files
    from conformance.interop.catalogue import variants

    written = _outputs(report)
    limits = limits_of(start_timeout, timeout)
    if jobs < 1:
        raise UsageError("--jobs has to be at least 1")
    if list_:
        _list(variants(script, quick=quick), format)
        return ExitStatus.CONFORMANT
    if from_ is not None:
        found = files.read(from_)
        _tell(found, written, format)
        return found.exit_status or ExitStatus.CONFORMANT
    chosen = variants(script, quick=quick)
    found = _run(chosen, script, producer, consumer, quick, known, golden_results, keep, jobs, limits, results)
    _tell(found, written, format)
    return found.exit_status or ExitStatus.CONFORMANT


def _run(
    chosen: Sequence[Variant],
    names: Sequence[str],
    producer: Sequence[str],
    consumer: Sequence[str],
    quick: bool,
    known: str,
    golden_results: Path | None,
    keep: Path | None,
    jobs: int,
    limits: Limits,
    results: Path | None,
) -> Matrix:
    from conformance import vectors
    from conformance.interop.catalogue import variants
    from conformance.interop.cells import GOLDEN, Matrix
    from conformance.interop.known import load_known
    from conformance.interop.results import RESULTS, write
    from conformance.interop.running import Plan, run_matrix
    from conformance.runner import expectations
    from conformance.runner.expectations import Expectations
    from conformance.runner.results import read as read_run
    from conformance.version import tool_version

    default = (*members("producer"), *(() if quick else (GOLDEN,)))
    producers = list(dict.fromkeys(producer or default))
    consumers = list(dict.fromkeys(consumer or members("consumer")))
    targets = {name: target(name, limits) for name in dict.fromkeys((*producers, *consumers)) if name != GOLDEN}
    every = vectors.load(vectors.shipped())
    golden = _golden(every, names) if GOLDEN in producers else ()
    if not golden and not (chosen and producers != [GOLDEN]):
        raise NothingSelected(f"there is no script or golden table {' or '.join(names)}")
    known_cells: tuple[Known, ...] = ()
    known_vectors = Expectations()
    if known != "none":
        shipped = known == expectations.SHIPPED
        known_cells = load_known(None if shipped else Path(known), {one.name for one in variants()} if shipped else ())
        known_vectors = expectations.load(expectations.SHIPPED, {vector.id for vector in every})
    header = {
        "matrix": RESULTS,
        "tool": tool_version(),
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": sys.argv[1:],
    }
    with _folder(keep) as folder, progress() as tell:
        plan = Plan(
            producers=tuple(targets[name] for name in producers if name in targets and chosen),
            consumers=tuple(targets[name] for name in consumers),
            scripts=tuple(chosen),
            golden=golden,
            folder=folder,
            known=known_cells,
            expectations=known_vectors,
            golden_run=None if golden_results is None else read_run(golden_results),
            jobs=jobs,
        )
        found = Matrix(header)
        try:
            return run_matrix(plan, found, tell)
        finally:  # one that was interrupted says that it is not complete
            if results is not None:
                write(found, results)


def members(role: str) -> tuple[str, ...]:
    """The engines whose folders say that they are a producer or a consumer of every matrix."""
    from conformance.engine_setup.catalog import catalog

    return tuple(engine.label for engine in catalog().every if role in engine.matrix)


def _golden(every: Sequence[Any], names: Sequence[str]) -> tuple[MadeTable, ...]:
    from fnmatch import fnmatchcase

    from conformance.interop.golden import golden_cases, golden_tables

    wanted = [name for name in golden_cases(every) if not names or any(fnmatchcase(name, one) for one in names)]
    return tuple(golden_tables(every, wanted))


@contextmanager
def _folder(keep: Path | None) -> Iterator[Path]:
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
        yield Path(tempfile.mkdtemp(prefix="matrix-", dir=keep))
        return
    with tempfile.TemporaryDirectory(prefix="iceberg-matrix-", ignore_cleanup_errors=True) as made:
        yield Path(made)


def _outputs(asked: Sequence[str]) -> list[tuple[str, Path | None]]:
    made: list[tuple[str, Path | None]] = []
    for text in asked:
        kind, colon, path = text.partition(":")
        if kind not in KINDS or (colon and not path):
            raise UsageError(f"--report {text}: it has to be {', '.join(KINDS)}, or one of them with :PATH")
        made.append((kind, Path(path) if path else None))
    if sum(path is None for _, path in made) > 1:
        raise UsageError("only one report can go to standard output; give the others a path (KIND:PATH)")
    return made


def _tell(found: Matrix, written: Sequence[tuple[str, Path | None]], format: str) -> None:
    from importlib import import_module

    from conformance.core.output_files import write_output
    from conformance.reports import matrix_terminal

    for kind, path in written:
        text = import_module(KINDS[kind]).render(found)
        if path is None:
            sys.stdout.write(text)
        else:
            write_output("--report", path, text)
    to_stdout = any(path is None for _, path in written)
    if format == "json" and not to_stdout:
        from conformance.interop.results import stored

        document = {
            **found.header,
            "participants": [stored(one) for one in found.participants],
            "tables": [stored(one) for one in found.tables],
            "cells": [stored(one) for one in found.cells],
            "unmet": found.unmet,
            "complete": found.complete,
            "exit_status": found.exit_status,
        }
        json.dump(document, sys.stdout, indent=2, allow_nan=False)
        sys.stdout.write("\n")
    matrix_terminal.show(found, sys.stderr if to_stdout or format == "json" else sys.stdout)


def _list(chosen: Sequence[Variant], format: str) -> None:
    if format == "json":
        told = [
            {
                "name": one.name, "about": one.entry.about, "features": one.entry.features,
                "format_version": one.format_version, "file_format": one.file_format, "script": one.script,
            }
            for one in chosen
        ]  # fmt: skip
        json.dump(told, sys.stdout, indent=2)
        sys.stdout.write("\n")
        return
    for one in chosen:
        print(f"{one.name:36} {one.entry.about}")

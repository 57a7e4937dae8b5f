"""``iceberg-conformance run``."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Annotated, Literal

from attrs import evolve
from cyclopts import Parameter

from conformance import vectors
from conformance.cli.progress import progress
from conformance.core.failures import ExitStatus, HarnessFault, NothingSelected, UsageError
from conformance.core.lazy_imports import lazy_imports
from conformance.core.output_files import NamedFile, check_distinct_files, open_output, write_output
from conformance.core.terminal_sanitizer import one_line
from conformance.operations.protocol import StartAnswer
from conformance.reports import parse_outputs, report_files, write_reports
from conformance.reports.terminal import Detail
from conformance.runner import expectations, expectations_update
from conformance.runner.execution import RunPlan, execute
from conformance.runner.expectations import Expectations
from conformance.runner.process import AdapterLimits
from conformance.runner.results import RESULTS, ResultsWriter, Run
from conformance.runner.targets import REFERENCE, all_engines, engine_labels, find_targets, make_limits, not_ready
from conformance.vectors import Selection
from conformance.version import tool_version

with lazy_imports():
    from conformance.properties import second_reader as second_reading


DEFAULTS = AdapterLimits()


def run(
    *,
    adapter: Annotated[tuple[str, ...], Parameter(name=["--adapter", "-a"])] = (),
    all_engines_: Annotated[bool, Parameter(name="--all-engines")] = False,
    latest: bool = False,
    suite: tuple[str, ...] = (),
    section: tuple[str, ...] = (),
    requirement: tuple[str, ...] = (),
    format_version: int | None = None,
    names: Annotated[str | None, Parameter(name="-k")] = None,
    expect: str | None = None,
    update_expected: bool = False,
    report: tuple[str, ...] = (),
    format: Literal["text", "json", "github"] = "text",
    results: Path | None = None,
    start_timeout: float = DEFAULTS.start,
    timeout: float = DEFAULTS.request,
    max_in_flight: int = DEFAULTS.max_in_flight,
    jobs: Annotated[int, Parameter(name=["--jobs", "-j"])] = 1,
    second_reader: str | None = None,
    vectors_: Annotated[Path | None, Parameter(name="--vectors")] = None,
    fail_fast: Annotated[bool, Parameter(name="-x")] = False,
    max_failures: int | None = None,
    statistics: bool = False,
    verbose: Annotated[bool, Parameter(name=["--verbose", "-v"], negative=())] = False,
) -> int:
    """Run vectors against implementations.

    Exit status: 1 if any vector failed, crashed or was not as expected; otherwise 3 if an adapter could not be started.

    Args:
        adapter: reference (the default), the name of an engine, or a command that speaks the protocol (it contains a
            space or a slash, or starts with cmd:). May be repeated.
        all_engines_: Run the reference and every engine that the tool can install; those that could not be run are
            listed at the end.
        latest: With --all-engines, leave out older versions of engines.
        suite: Only vectors of this suite. May be repeated.
        section: Only vectors of sections whose heading contains this text. May be repeated.
        requirement: Only vectors of this requirement, or of those whose codes start with this text. May be repeated.
        format_version: Only vectors for this format version.
        names: Only vectors whose id, suite, operation or requirements contain a word; words are combined with and,
            or, not and parentheses.
        expect: A file or folder of known deviations, or known-deviations for those that come with the tool.
        update_expected: Update the file of --expect: keep entries that still apply, remove those that do not, and add
            new failures with a place for the reason. The exit status is that of a run with the updated file.
        report: terminal, json, junit, html, markdown, badge, sarif or github, with :PATH for a file. May be repeated.
        format: What to write to standard output: text, JSON, or annotations for GitHub.
        results: Write the results to this file as JSON lines.
        start_timeout: Seconds that an adapter may take to start.
        timeout: Seconds that an adapter may take to answer one request.
        max_in_flight: The maximum number of requests that are sent before their answers are read.
        jobs: How many implementations to run at the same time.
        second_reader: An implementation, as for --adapter, that also reads every written table that passed. The
            reference decides whether a table passes; differences of the second reader are printed and do not change
            the exit status, as they may be faults of that reader.
        vectors_: A folder of vectors to use instead of those that come with the tool.
        fail_fast: Stop at the first failure, like --max-failures 1.
        max_failures: Stop after this many failures.
        statistics: Print only the number of failures by requirement and by operation.
        verbose: Print the evidence of every failure, even where there are many.
    """
    limits = make_limits(start_timeout, timeout, max_in_flight)
    if jobs < 1:
        raise UsageError(f"--jobs {jobs}: must be at least 1")
    if max_failures is not None and max_failures < 1:
        raise UsageError(f"--max-failures {max_failures}: must be at least 1")
    if fail_fast and max_failures is not None:
        raise UsageError("-x and --max-failures exclude each other")
    if latest and not all_engines_:
        raise UsageError("--latest selects among all engines, and needs --all-engines")
    if statistics and verbose:
        raise UsageError("--statistics and --verbose exclude each other")
    written = parse_outputs(report if format == "text" or format in report else (*report, format))
    folder = vectors_ or vectors.shipped()
    inputs: list[NamedFile] = [("--vectors", path) for path in vectors.vector_files(folder)]
    inputs += [("--expect", path) for path in (() if expect is None else expectations.deviation_files(expect))]
    check_distinct_files([*report_files(written), ("--results", results)], inputs)
    every = vectors.load(folder)
    on_disk = vectors.count_on_disk(folder)
    if on_disk != len(every):
        raise HarnessFault(f"{folder}: {on_disk} cases on disk, {len(every)} loaded")
    for deprecation in vectors.suite_deprecations(suite):
        print(f"iceberg-conformance: {deprecation}", file=sys.stderr)
    selection = Selection(suite, section, requirement, format_version, names)
    chosen = selection.choose(every)
    ids = {vector.id for vector in every}
    update = expectations_update.update_target(expect) if update_expected else None
    most = 1 if fail_fast else max_failures
    if update is not None and most is not None:
        option = "-x" if fail_fast else "--max-failures"
        raise UsageError(f"--update-expected needs a whole run, and {option} may end it early")
    if update is not None:
        expected = expectations_update.deviations_before(update)
    else:
        expected = Expectations() if expect is None else expectations.load_deviations(expect, ids)
    names_given = list(adapter) or [REFERENCE]
    targets = find_targets(names_given, limits)
    if all_engines_:
        targets = find_targets(list(dict.fromkeys([REFERENCE, *adapter])), limits)
        targets += [one for one in all_engines(limits, latest=latest) if one.name not in adapter]
    if not chosen:
        raise NothingSelected(f"none of the {len(every)} vectors in {folder} is selected")
    header = {
        "results": RESULTS,
        "tool": tool_version(),
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": sys.argv[1:],
        "vectors": {"folder": str(folder), "on_disk": on_disk, "selected": len(chosen)},
        **({"expectations": expected.file} if expect is not None else {}),
    }
    (reader,) = find_targets([second_reader], limits) if second_reader is not None else (None,)
    plan = RunPlan(tuple(targets), chosen, expected, most, jobs)
    if reader is not None:
        plan = evolve(plan, second_reader=reader, second_readings=second_reading.second_readings)
    with _results_file(results) as file, progress() as report_progress:
        found = execute(plan, header, ResultsWriter(file), report_progress)
    if found.exit_status == ExitStatus.INTERRUPTED and not found.results:  # no files without answers
        if results is not None and results.is_file():
            results.unlink()
        written = tuple(one for one in written if one.path is None)
    detail = Detail.STATISTICS if statistics else Detail.ALL if verbose else Detail.EXAMPLES
    write_reports(found, written, vectors_, detail=detail)
    if all_engines_:
        _print_engines_not_run(found, latest=latest)
    assert found.exit_status is not None
    if reader is not None:
        _print_second_readings(reader.name, found)
    if found.exit_status == ExitStatus.INTERRUPTED:
        raise KeyboardInterrupt
    if update is not None:
        return _update(update, found, ids)
    _check_engines(expected, found)
    return found.exit_status


def _print_engines_not_run(found: Run, *, latest: bool) -> None:
    """List the engines that a run of all engines did not examine, last, so that nobody overlooks it."""
    reasons = {name: reason for name, reason in not_ready().items() if not (latest and "@" in name)}
    reasons |= {one.name: one.not_examined for one in found.adapters if one.not_examined}
    if not reasons:
        return
    names = "engine was" if len(reasons) == 1 else "engines were"
    print(f"iceberg-conformance: WARNING: {len(reasons)} {names} not run:", file=sys.stderr)
    for name, reason in reasons.items():
        print(f"  {one_line(name)}: {one_line(reason)}", file=sys.stderr)


def _print_second_readings(reader: str, found: Run) -> None:
    for line in second_reading.summary(reader, found.second_readings):
        print(line, file=sys.stderr)


def _check_engines(expected: Expectations, found: Run) -> None:
    if all(not adapter.not_examined for adapter in found.adapters):
        ran = [(one.name, StartAnswer(one.implementation, one.version, frozenset())) for one in found.adapters]
        expected.check_engines(ran, {label.partition("@")[0] for label in (REFERENCE, *engine_labels())})


def _update(path: Path, found: Run, ids: set[str]) -> ExitStatus:
    """Write the updated file of expectations, and print what changed in it."""
    updated = expectations_update.update_expectations(path, found, ids)
    write_output("--expect", path, updated.text)
    print(f"{path}: {updated}", file=sys.stderr)
    if any(adapter.breach for adapter in found.adapters):
        return ExitStatus.FAILURES
    unknown = any(adapter.not_examined for adapter in found.adapters)
    return ExitStatus.NOT_EXAMINED if unknown else ExitStatus.CONFORMANT


@contextlib.contextmanager
def _results_file(path: Path | None) -> Iterator[IO[str] | None]:
    if path is None:
        yield None
        return
    with open_output("--results", path, "w") as file:
        yield file

"""``iceberg-conformance validate``."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import attrs
from cyclopts import Parameter

from conformance.cli.progress import ReportProgress, progress
from conformance.core.colours import add_colour, plain
from conformance.core.failures import ExitStatus, NotExamined, UsageError
from conformance.core.lazy_imports import lazy_imports
from conformance.core.output_files import check_distinct_files, prepare_output, write_output
from conformance.core.time_budget import FILE_SECONDS, TimeBudget
from spec_ref.core.numbers import parse_whole_number

if TYPE_CHECKING:
    from conformance.reports.validation import ValidationResult
    from conformance.validator.backend import Backend
    from conformance.validator.catalogs import Catalogs
    from conformance.validator.context import Level
    from conformance.validator.finding_filter import FindingFilter
    from conformance.validator.run import SnapshotSelection, TableReport

with lazy_imports():
    from conformance.reports import validation as rendering
    from conformance.table_io import encryption
    from conformance.table_io import trust as table_trust
    from conformance.validator import (
        catalogs,
        context,
        finding_filter,
        fork_server,
        local,
        memory,
        remote,
        run,
        spark,
        stall_timeout,
        table_root,
    )
    from conformance.validator import (
        diff as versions,
    )


MAX_SECONDS = 86_400

_Format = Literal["text", "json", "jsonl", "sarif", "junit", "github"]


def validate(
    *location: str,
    level: Literal["metadata", "manifests", "files", "rows"] = "manifests",
    engine: Literal["local", "spark"] = "local",
    snapshots: str = "current",
    select: tuple[str, ...] = (),
    ignore: tuple[str, ...] = (),
    fail_on: Literal["error", "tolerated", "warning", "info", "never"] = "error",
    baseline: Path | None = None,
    format: _Format = "text",
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    verbose: Annotated[bool, Parameter(name=["--verbose", "-v"], negative=())] = False,
    workers: int | None = None,
    master: str | None = None,
    diff: bool = False,
    keys: Path | None = None,
    allow_local_files: bool = False,
    file_timeout: float = FILE_SECONDS,
    time_budget: float | None = None,
) -> int:
    """Check tables against the spec, whichever engine wrote them.

    Exit status: 1 with findings that fail, 2 for wrong usage, 3 if a table was not checked, or not to its end, and
    nothing failed, 4 if a bug in this tool ended the check of a table, 130 when interrupted; the report then contains
    what was found so far.

    Args:
        location: A metadata file, a directory, a URI, or catalog:NAME.NAMESPACE.TABLE. Many tables are catalog:NAME, or
            a pattern such as catalog:NAME.NAMESPACE.*.
        level: How much to check: metadata; also manifests; also the footers of data and delete files; also all rows.
        engine: Where the checks run: on this machine, or on Spark.
        snapshots: current, refs (all branches and tags), all, the id of a snapshot, or the name of a branch or tag.
        select: Only these checks (by id) or requirements (by code, or the start of codes); separated by commas, or
            repeated.
        ignore: Leave out these checks or requirements, named as for --select.
        fail_on: The lowest severity that fails; tolerated findings fail only with --fail-on tolerated.
        baseline: A JSON report whose findings are accepted, as long as their number does not grow.
        format: The format of the report.
        output: Write the report to this file instead of standard output.
        verbose: In text, show each tolerated finding, and each that follows from others, instead of one line for all.
        workers: The number of processes of the local engine; by default one for each processor.
        master: The Spark master, unless the command runs under spark-submit; local[*] by default. The local engine
            ignores it.
        diff: Compare two versions of one table, OLD and NEW: find what disappeared or changed although commits must not
            remove or change it.
        keys: Decrypt encrypted tables with this file, a JSON object of master keys in hexadecimal by their ids; without
            it, the report names what is encrypted and was not read.
        allow_local_files: Read local files that the metadata of a table on an object store names; by default they are
            refused.
        file_timeout: Seconds without progress after which a file counts as unreadable.
        time_budget: Seconds after which the check is interrupted; the remaining tables count as not checked.
    """
    if not location or "" in location:
        raise UsageError("name a table: a metadata file, a directory, a URI, or catalog:NAME.NAMESPACE.TABLE")
    if time_budget is not None and not 0 < time_budget <= MAX_SECONDS:
        raise UsageError(f"--time-budget {time_budget:g}: must be more than 0 and at most {MAX_SECONDS}")
    patterns = [one for one in location if (name := catalogs.parse_location(one)) is not None and name.is_pattern]
    if diff and patterns:
        raise UsageError(f"--diff compares two versions of one table; {patterns[0]} may be many tables")
    if diff and len(location) != 2:
        raise UsageError("--diff compares two locations, OLD and NEW")
    if not 0 < file_timeout <= MAX_SECONDS:
        raise UsageError(f"--file-timeout {file_timeout:g}: must be more than 0 and at most {MAX_SECONDS}")
    if engine == "local" and level in ("files", "rows") and not all(map(_is_local, location)):
        fork_server.start_early()  # forks of this process do for local files (`process_isolation.can_fork`)
    accepted = finding_filter.finding_filter(select, ignore, fail_on, baseline)
    chosen = _snapshots(snapshots)
    if output is not None:
        tables = [(f"the table {one}", Path(one)) for one in location if _is_local(one)]
        check_distinct_files([("--output", output)], [*tables, ("--keys", keys)])
        prepare_output("--output", output)
    key_file = None if keys is None else encryption.load_key_file(keys)
    outcomes: list[ValidationResult] = []
    bugs: list[Exception] = []
    budget = TimeBudget(time_budget)
    trust = table_trust.LocalFilePolicy(allow_local_files)
    if level != "metadata":
        memory.keep_freed_memory()
    with (
        progress() as report_progress,
        catalogs.Catalogs() as found,
        _checker(engine, workers, master, context.Level(level), report_progress, file_timeout, key_file) as check,
    ):

        def checked(*names: str) -> TableReport:
            places = [found.metadata_location(name) for name in names]
            with trust.reading(*places):
                if diff:
                    return versions.compare_versions(places[0], places[1], check, file_timeout)
                return check(places[0], chosen)

        for one in [location] if diff else _tables(location, found, budget):
            if isinstance(one, rendering.ValidationResult):
                outcomes.append(one)
                continue
            outcomes.append(_outcome(one, checked, budget, accepted, bugs, many=bool(patterns)))
            if outcomes[-1].interrupted and not budget.is_over:
                break
    interrupted = any(one.interrupted for one in outcomes) and not budget.is_over
    failed = any(one.fails for one in outcomes)
    unreadable = any(one.reason_incomplete is not None for one in outcomes)
    _write(outcomes, format, output, verbose=verbose, brief=bool(patterns))
    if bugs:
        raise bugs[0]
    status = _status(failed=failed, unreadable=unreadable, interrupted=interrupted)
    if stall_timeout.has_abandoned_thread():  # a normal exit would wait for this thread
        sys.stdout.flush()
        os._exit(status)
    return status


def _is_local(location: str) -> bool:
    """Return whether a location is local; the files that its table names may not be."""
    return "://" not in location and catalogs.parse_location(location) is None


def _tables(
    locations: Sequence[str], found: Catalogs, budget: TimeBudget
) -> Iterator[tuple[str, ...] | ValidationResult]:
    """Yield each table, and an error for each location whose tables cannot be listed."""
    for location in locations:
        name = catalogs.parse_location(location)
        if name is None or not name.is_pattern:
            yield (location,)
            continue
        try:
            with budget.interrupting():
                tables, failed = found.tables(name)
        except table_root.UnreadableTable as error:
            yield rendering.ValidationResult(location, unreadable=str(error))
            continue
        except KeyboardInterrupt:
            if not budget.is_over:
                raise
            yield rendering.ValidationResult(
                location, unreadable=f"the time budget of {budget.seconds:g} s ended before it was listed"
            )
            continue
        for namespace, why in failed.items():
            yield rendering.ValidationResult(
                f"{catalogs.PREFIX}{name.catalog}.{namespace}", unreadable=f"it cannot be listed: {why}"
            )
        yield from ((table,) for table in tables)


def _outcome(
    names: tuple[str, ...],
    checked: Callable[..., TableReport],
    budget: TimeBudget,
    accepted: FindingFilter,
    bugs: list[Exception],
    *,
    many: bool,
) -> ValidationResult:
    """Check a table, or two versions of one.

    Args:
        names: the locations, the newest version last.
        checked: checks the table, or compares the versions.
        budget: the remaining time.
        accepted: which findings count.
        bugs: gets an unexpected error, which ends the command only after the other tables.
        many: whether the command checks several tables, so that an error in one table does not end it.

    Raises:
        UsageError: the options do not fit the table, and it is the only one.
    """
    last = f"the time budget of {budget.seconds:g} s ended" if budget.seconds is not None else ""
    if budget.is_over:
        return rendering.ValidationResult(names[-1], unreadable=f"{last} before it was checked")
    started = time.monotonic()
    try:
        with budget.interrupting():
            report = checked(*names)
    except KeyboardInterrupt:
        why = f"{last} before anything was found" if budget.is_over else "interrupted before anything was found"
        return rendering.ValidationResult(names[-1], unreadable=why, interrupted=True)
    except NotExamined as error:
        return rendering.ValidationResult(names[-1], unreadable=str(error))
    except UsageError as error:
        if not many:
            raise
        return rendering.ValidationResult(names[-1], unreadable=str(error))
    except Exception as error:
        bugs.append(error)
        why = f"a bug in this tool: {type(error).__name__}: {error}"
        return rendering.ValidationResult(names[-1], unreadable=why)
    interrupted = not report.complete and report.reason is None
    reason = last if interrupted and budget.is_over else report.reason
    remaining, known = accepted.apply(attrs.evolve(report, location=names[-1], reason=reason))
    unselected = sum(not accepted.selects(finding) for finding in report.findings)
    seconds = time.monotonic() - started
    return rendering.ValidationResult(
        names[-1], remaining, None, known, unselected, seconds, accepted.fail_on, interrupted
    )


def _status(*, failed: bool, unreadable: bool, interrupted: bool) -> ExitStatus:
    if interrupted:
        print("iceberg-conformance: interrupted: the report is not complete", file=sys.stderr)
        return ExitStatus.INTERRUPTED
    if failed:
        return ExitStatus.FAILURES
    return ExitStatus.NOT_EXAMINED if unreadable else ExitStatus.CONFORMANT


def _snapshots(text: str) -> SnapshotSelection:
    if text in ("current", "refs", "all"):
        return run.SnapshotSelection(text)
    if parse_whole_number(text.removeprefix("-")) is not None:
        return run.SnapshotSelection("one", int(text), text)
    if not text:
        raise UsageError(
            "--snapshots is empty: expected current, refs, all, the id of a snapshot, or the name of a branch or tag"
        )
    return run.SnapshotSelection("ref", ref=text)


@contextlib.contextmanager
def _checker(
    name: str,
    workers: int | None,
    master: str | None,
    level: Level,
    report_progress: ReportProgress,
    seconds: float,
    keys: encryption.KeyFile | None,
) -> Iterator[Callable[[str, SnapshotSelection], TableReport]]:
    """Return a function that checks the given snapshots of one table."""
    if workers is not None and not 0 < workers <= local.MAX_WORKERS:
        raise UsageError(f"--workers {workers}: must be from 1 to {local.MAX_WORKERS}")
    made: Backend
    if name == "spark" and importlib.util.find_spec("pyspark") is None:
        with remote.RemoteSpark(level, master, seconds, keys) as there:
            yield there.check
        return
    if name == "spark":
        made = spark.start_backend(master, report_progress)
    else:
        made = local.LocalBackend(workers or os.cpu_count() or 1, report_progress, isolated=True)
    try:
        yield lambda location, snapshots: run.validate(location, level, made, snapshots, seconds, keys)
    finally:
        made.close()


def _write(
    outcomes: list[ValidationResult], format: _Format, output: Path | None, *, verbose: bool, brief: bool
) -> None:
    if format == "text":
        environ = os.environ
        wanted = not environ.get("NO_COLOR") and (bool(environ.get("FORCE_COLOR")) or sys.stdout.isatty())
        paint = add_colour if wanted and output is None else plain
        text = "".join(f"{line}\n" for line in rendering.as_text(outcomes, paint, verbose=verbose, brief=brief))
    else:
        text = _RENDER[format](outcomes)
    if output is None:
        _print(text)
        return
    try:
        write_output("--output", output, text)
    except UsageError as error:
        _print(text)
        raise UsageError(f"{error}; the report was printed on standard output instead") from None


def _print(text: str) -> None:
    encoding = sys.stdout.encoding or "utf-8"
    try:
        sys.stdout.write(text.encode(encoding, "replace").decode(encoding))
        sys.stdout.flush()
    except BrokenPipeError:  # the reader closed the pipe; the exit status counts every finding
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


_RENDER = {
    "json": rendering.as_json,
    "jsonl": rendering.as_lines,
    "sarif": rendering.as_sarif,
    "junit": rendering.as_junit,
    "github": rendering.as_github,
}

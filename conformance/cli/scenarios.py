"""``iceberg-conformance scenarios``."""

from __future__ import annotations

import json
import os
import random
import shlex
import shutil
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from conformance.cli.progress import progress
from conformance.core.counts import plural
from conformance.core.failures import ExitStatus, NothingSelected, UsageError
from conformance.core.lazy_imports import lazy_imports
from conformance.operations.protocol import StartAnswer
from conformance.runner.process import AdapterLimits
from conformance.runner.targets import REFERENCE, make_limits, target
from spec_ref.core.json_types import Json

with lazy_imports():
    from conformance.properties import (
        errors,
        probes,
        relay_known,
        scenario_files,
        scenario_run,
        script_maker,
        script_shrinking,
        searching,
    )
    from conformance.properties import scripts as random_scripts
    from conformance.runner import expectations


DEFAULTS = AdapterLimits()
MEMORY = Path("/dev/shm")  # noqa: S108 - a separate folder is made in it
"""The folder of an in-memory file system, where tables are written if it exists, because they are temporary."""


def scenarios(
    *,
    adapter: Annotated[str, Parameter(name=["--adapter", "-a"])] = REFERENCE,
    seed: int | None = None,
    examples: int = 100,
    operations: int = 12,
    min_operations: int = 0,
    versions: tuple[int, ...] = (),
    exclude: tuple[str, ...] = (),
    expect: str = "none",
    reads: Annotated[bool, Parameter(negative="--no-reads")] = True,
    replay: Path | None = None,
    keep: Path | None = None,
    passed: Path | None = None,
    max_failures: int = 1,
    start_timeout: float = DEFAULTS.start,
    timeout: float = DEFAULTS.request,
    format: Literal["text", "json"] = "text",
) -> int:
    """Run random scripts of operations, and compare the table with a model after every operation.

    Each branch, tag and earlier snapshot must have the rows of the model, with filters and without; the table must be
    valid at every level; and an operation that the spec forbids must be refused. A script that fails is shrunk, saved
    to a file and printed, with the command that runs it again. Features that the writer does not support are detected
    first and left out of the scripts.

    Exit status: 0 if all scripts passed, 1 if one failed, 3 if the adapter cannot be started, 5 if it can write no
    table.

    Args:
        adapter: The writer, as for run.
        seed: The seed of the first script; random by default.
        examples: How many scripts to run.
        operations: The maximum number of operations of a script, not counting the first.
        min_operations: The minimum number of operations of a script, not counting the first.
        versions: Only these format versions. May be repeated.
        exclude: What to leave out of scripts, so that a known failure hides no other: the name of an operation, a mode,
            a file format, a type or a transform; null, nan, zero, nested, required, nested-required, struct-keys,
            odd-names, case-names (that differ only in case), metadata-names, null-keys (of merges and upserts),
            partition, partition-names (other than those that engines choose), shared-source (partition fields of one
            column), nested-source, sort-transforms, default, several-changes (in one operation), evolve-nested,
            evolve-items (of lists and maps), metrics, codecs, small-files, delete-format, remove-properties,
            branch-writes, empty-overwrite, or refused (operations that the spec forbids). May be repeated.
        expect: known-deviations, a file of the same form, or none: listed failures are counted separately and do not
            fail the run.
        reads: Let the adapter also read its own tables, if it can.
        replay: Run only the script of this file.
        keep: The folder for scripts that fail; a new temporary folder by default.
        passed: A file of digests of scripts that passed: they are not run again, and those that pass are added.
            Several runs with different seeds may share it, even at the same time.
        max_failures: Stop after this many different failures.
        start_timeout: Seconds that the adapter may take to start.
        timeout: Seconds that the adapter may take to answer one request.
        format: Text for people, or JSON.
    """
    left_out = _features_to_exclude(exclude, versions)
    if min(examples, operations, max_failures) < 1:
        raise UsageError("--examples, --operations and --max-failures must be at least 1")
    if not 0 <= min_operations <= operations:
        raise UsageError("--min-operations must be from 0 to --operations")
    entries = (
        ()
        if expect == "none"
        else relay_known.load_known(None if expect == expectations.SHIPPED else Path(expect), "scenario")
    )
    script = scenario_files.read_scenario(replay) if replay is not None else None
    if script is None:
        searching.hypothesis()
    first = random.randrange(2**31) if seed is None else seed
    chosen = target(adapter, make_limits(start_timeout, timeout))
    shared: list[int] | None = None
    with ExitStack() as stack:
        before_now = stack.enter_context(scenario_files.open_passed(passed)) if passed is not None else None
        writer = stack.enter_context(chosen.open())
        started = writer.start()
        if "table.write" not in started.operations:
            raise NothingSelected(f"{adapter} does not have the operation table.write")
        run = scenario_run.ScenarioRun(
            scratch=_scratch_folder(stack),
            writer=None if adapter == REFERENCE else writer,
            reader=writer if reads and "table.read" in started.operations else None,
            known=tuple(one for one in entries if one.applies_to(started.implementation, started.version)),
            passed=before_now,
            min_operations=min_operations,
        )
        if script is not None:
            return _replay(script, run, started)
        report_progress = stack.enter_context(progress())
        reasons: dict[str, str] = {}
        if adapter != REFERENCE:
            try:
                supported = probes.find_supported(
                    writer, frozenset(left_out), lambda done: report_progress("probes", done, done)
                )
            except errors.NotSupported as error:
                raise NothingSelected(f"{adapter} can write no table: {error}") from None
            left_out, reasons = {*supported.exclude}, supported.reasons
        size = script_maker.Size(operations=operations, min_operations=min_operations)
        found = searching.search(
            lambda: searching.scripts(frozenset(left_out), size),
            run.try_script,
            seed=first,
            examples=examples,
            max_failures=max_failures,
            smaller=script_shrinking.smaller_or_refused,
            progress=lambda done: report_progress("scripts", done, examples),
        )
        if before_now is not None:
            before_now.refresh()
            shared = [done for done in before_now.operations.values() if done > min_operations]
    files = [scenario_files.write_scenario(one, keep) for one in found]
    again = f"iceberg-conformance scenarios --adapter {chosen.reproduce or shlex.quote(chosen.name)} --replay"
    failures = [(one, file, f"{again} {shlex.quote(str(file))}") for one, file in zip(found, files, strict=True)]
    if format == "json":
        _print_json(run, started, first, reasons, failures)
    else:
        _print_text(run, started, reasons, failures)
    sys.stdout.flush()
    summary = (
        f"{plural(run.tried, 'script')} ({run.long_enough} with at least {plural(min_operations, 'operation')}), "
        f"{plural(run.operations, 'operation')}, {run.counts['unsupported']} not supported, seed {first}"
    )
    print(f"{started}: {summary}; {len(found)} failed", file=sys.stderr)
    if shared is not None:
        print(f"{passed}: {plural(len(shared), 'different script')} passed", file=sys.stderr)
    if found:
        return ExitStatus.FAILURES
    if run.tried and run.counts["unsupported"] == run.tried:
        raise NothingSelected(f"{adapter} can write none of the scripts")
    return ExitStatus.CONFORMANT


def _features_to_exclude(exclude: tuple[str, ...], versions: tuple[int, ...]) -> set[str]:
    """Return what the options leave out of scripts: features, and format versions as ``v1``."""
    unknown = sorted(set(exclude) - random_scripts.EXCLUDABLE)
    if unknown:
        raise UsageError(f"--exclude {unknown[0]}: expected one of {', '.join(sorted(random_scripts.EXCLUDABLE))}")
    if set(versions) - {1, 2, 3}:
        raise UsageError("--versions: expected 1, 2 or 3")
    left_out = {*exclude, *(f"v{one}" for one in (1, 2, 3) if versions and one not in versions)}
    if left_out >= {"v1", "v2", "v3"}:
        raise UsageError("--exclude leaves no format version")
    return left_out


def _scratch_folder(stack: ExitStack) -> Path:
    """Make a temporary folder, which is removed with the stack."""
    made = tempfile.mkdtemp(prefix="iceberg-scenarios-", dir=MEMORY if os.access(MEMORY, os.W_OK) else None)
    stack.callback(shutil.rmtree, made, ignore_errors=True)
    return Path(made)


def _replay(script: Json, run: scenario_run.ScenarioRun, started: StartAnswer) -> ExitStatus:
    try:
        run.follow(script)
    except errors.Broken as broken:
        print(f"{started}: {broken}")
        return ExitStatus.FAILURES
    outcome = "not supported" if run.counts["unsupported"] else "the table has the rows of the model"
    print(f"{started}: {f'known as {next(iter(run.known_failures))}' if run.known_failures else outcome}")
    return ExitStatus.CONFORMANT


def _print_json(
    run: scenario_run.ScenarioRun,
    started: StartAnswer,
    seed: int,
    reasons: dict[str, str],
    failures: list[tuple[searching.FailingExample, Path, str]],
) -> None:
    content = {
        "implementation": started.implementation,
        "version": started.version,
        "seed": seed,
        "scripts": run.tried,
        "scripts_of_min_operations": run.long_enough,
        "operations": dict(run.counts),
        "not_supported": reasons,
        "known": dict(run.known_failures),
        "failures": [
            {"kind": one.kind, "reason": one.reason, "script": one.example, "file": str(file), "reproduce": command}
            for one, file, command in failures
        ],
    }
    sys.stdout.write(json.dumps(content, indent=2) + "\n")


def _print_text(
    run: scenario_run.ScenarioRun,
    started: StartAnswer,
    reasons: dict[str, str],
    failures: list[tuple[searching.FailingExample, Path, str]],
) -> None:
    for word, reason in reasons.items():
        print(f"{started}: left out of scripts: {word}: {reason}")
    for name, count in run.known_failures.items():
        print(f"{started}: known: {name}: {plural(count, 'script')}")
    for one, _, command in failures:
        print(f"{started}: {one.reason}")
        for operation in one.example["operations"]:
            print(f"    {json.dumps(operation)}")
        print(f"    reproduce    {command}")

"""``iceberg-conformance scenarios``."""

from __future__ import annotations

import json
import os
import random
import shlex
import shutil
import sys
import tempfile
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from conformance.cli.progress import progress
from conformance.core.counts import plural
from conformance.core.failures import ExitStatus, NothingSelected, UsageError
from conformance.core.lazy_imports import lazy_imports
from conformance.runner.process import AdapterLimits
from conformance.runner.targets import REFERENCE, make_limits, target

with lazy_imports():
    from conformance.properties import (
        errors,
        probes,
        relay_known,
        scenario_files,
        script_maker,
        script_shrinking,
        searching,
        written_scenarios,
    )
    from conformance.properties import scenarios as scenario_runs
    from conformance.properties import scripts as random_scripts
    from conformance.runner import expectations


DEFAULTS = AdapterLimits()
MEMORY = Path("/dev/shm")  # noqa: S108 - a separate folder is made in it
"""Where tables are written if there is a file system in memory: they need not last."""


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
        operations: The most operations of a script, not counting the first.
        min_operations: The fewest operations of a script, not counting the first.
        versions: Only these format versions. May be repeated.
        exclude: What to leave out of scripts, so that a known failure hides no other: the name of an operation, a mode,
            a file format, a type or a transform; null, nan, zero, nested, required, nested-required, struct-keys,
            odd-names, case-names (that differ only in case), metadata-names, partition, partition-names (other than
            those that engines choose), shared-source (partition fields of one column), nested-source, sort-transforms,
            default, several-changes (in one operation), evolve-nested, evolve-items (of lists and maps), metrics,
            codecs, small-files, delete-format, remove-properties, branch-writes, empty-overwrite, or refused
            (operations that the spec forbids). May be repeated.
        expect: known-deviations, a file of the same form, or none: scripts that fail as it says are counted
            separately, and pass.
        reads: Let the adapter also read its own tables, if it can.
        replay: Run only the script of this file.
        keep: The folder for scripts that fail; a new temporary folder by default.
        passed: A file of digests of scripts that passed: they are not run again, and those that pass are added.
            Several runs with different seeds may share it, even at the same time.
        max_failures: Stop after this many different failures.
        start_timeout: Seconds that the adapter may take to start.
        timeout: Seconds that it may take to answer one request.
        format: Text for people, or JSON.
    """
    unknown = sorted(set(exclude) - random_scripts.EXCLUDABLE)
    if unknown:
        raise UsageError(f"--exclude {unknown[0]}: expected one of {', '.join(sorted(random_scripts.EXCLUDABLE))}")
    if set(versions) - {1, 2, 3}:
        raise UsageError("--versions: expected 1, 2 or 3")
    left_out = {*exclude, *(f"v{one}" for one in (1, 2, 3) if versions and one not in versions)}
    if left_out >= {"v1", "v2", "v3"}:
        raise UsageError("--exclude leaves no format version")
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
    counts: Counter[str] = Counter()
    as_known: Counter[str] = Counter()
    tried = long_enough = 0
    shared: list[int] | None = None
    with ExitStack() as stack:
        before_now = stack.enter_context(scenario_files.open_passed(passed)) if passed is not None else None
        writer = stack.enter_context(chosen.open())
        started = writer.start()
        if "table.write" not in started.operations:
            raise NothingSelected(f"{adapter} does not have the operation table.write")
        known = [one for one in entries if one.applies_to(started.implementation, started.version)]
        scratch = Path(
            tempfile.mkdtemp(prefix="iceberg-scenarios-", dir=MEMORY if os.access(MEMORY, os.W_OK) else None)
        )
        stack.callback(shutil.rmtree, scratch, ignore_errors=True)

        def attempt(one: Any) -> None:
            nonlocal tried, long_enough
            if before_now is not None and script is None and one in before_now:
                return
            tried += 1
            place = scratch / str(tried)
            before = _done(counts)
            try:
                if adapter == REFERENCE:
                    scenario_runs.follow_reference(one, place, counts)
                else:
                    reader = writer if reads and "table.read" in started.operations else None
                    written_scenarios.follow_written(one, writer, reader, place, counts)
            except errors.NotSupported:
                counts["unsupported"] += 1
            except errors.Broken as broken:
                names = [operation["op"] for operation in one["operations"]]
                seen = (broken.kind, names, str(broken), broken.violations, names)
                features = relay_known.table_features(one["operations"])
                entry = next(
                    (
                        entry
                        for entry in known
                        if entry.happened(
                            *seen, differences=broken.differences, predicate=broken.predicate, features=features
                        )
                    ),
                    None,
                )
                if entry is None:
                    raise
                as_known[entry.id] += 1
            finally:
                shutil.rmtree(place, ignore_errors=True)
            done = _done(counts) - before
            long_enough += done > min_operations
            if before_now is not None and done:
                before_now.add(one, done)

        if script is not None:
            try:
                attempt(script)
            except errors.Broken as broken:
                print(f"{started}: {broken}")
                return ExitStatus.FAILURES
            outcome = "not supported" if counts["unsupported"] else "the table has the rows of the model"
            print(f"{started}: {f'known as {next(iter(as_known))}' if as_known else outcome}")
            return ExitStatus.CONFORMANT
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
        size = script_maker.Size(operations=operations, least_operations=min_operations)
        found = searching.search(
            lambda: searching.scripts(frozenset(left_out), size),
            attempt,
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
    if format == "json":
        content = {
            "implementation": started.implementation,
            "version": started.version,
            "seed": first,
            "scripts": tried,
            "scripts_of_min_operations": long_enough,
            "operations": dict(counts),
            "not_supported": reasons,
            "known": dict(as_known),
            "failures": [
                {
                    "kind": one.kind,
                    "reason": one.reason,
                    "script": one.example,
                    "file": str(file),
                    "reproduce": f"{again} {shlex.quote(str(file))}",
                }
                for one, file in zip(found, files, strict=True)
            ],
        }
        sys.stdout.write(json.dumps(content, indent=2) + "\n")
    else:
        for word, reason in reasons.items():
            print(f"{started}: left out of scripts: {word}: {reason}")
        for name, count in as_known.items():
            print(f"{started}: known: {name}: {plural(count, 'script')}")
        for one, file in zip(found, files, strict=True):
            print(f"{started}: {one.reason}")
            for operation in one.example["operations"]:
                print(f"    {json.dumps(operation)}")
            print(f"    reproduce    {again} {shlex.quote(str(file))}")
    sys.stdout.flush()
    summary = (
        f"{plural(tried, 'script')} ({long_enough} with at least {plural(min_operations, 'operation')}), "
        f"{plural(_done(counts), 'operation')}, {counts['unsupported']} not supported, seed {first}"
    )
    print(f"{started}: {summary}; {len(found)} failed", file=sys.stderr)
    if shared is not None:
        print(f"{passed}: {plural(len(shared), 'different script')} of that length passed", file=sys.stderr)
    if found:
        return ExitStatus.FAILURES
    if tried and counts["unsupported"] == tried:
        raise NothingSelected(f"{adapter} can write none of the scripts")
    return ExitStatus.CONFORMANT


def _done(counts: Counter[str]) -> int:
    """Return how many operations were done, or refused as they must be."""
    return counts.total() - counts["unsupported"]

"""``iceberg-conformance metamorphic``."""

from __future__ import annotations

import json
import random
import shlex
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from conformance.cli.progress import progress
from conformance.core.counts import plural
from conformance.core.failures import ExitStatus, NothingSelected, UsageError
from conformance.core.lazy_imports import lazy_imports
from conformance.runner.process import AdapterLimits
from conformance.runner.targets import REFERENCE, make_limits, target

with lazy_imports():
    from conformance.properties import metamorphic as checks
    from conformance.properties import metamorphic_properties, scripts


DEFAULTS = AdapterLimits()


def metamorphic(
    *,
    adapter: Annotated[str, Parameter(name=["--adapter", "-a"])] = REFERENCE,
    reader: str = REFERENCE,
    property_: Annotated[tuple[str, ...], Parameter(name="--property")] = (),
    seed: int | None = None,
    examples: int = 50,
    exclude: tuple[str, ...] = (),
    keep: Path | None = None,
    max_failures: int = 1,
    replay: Path | None = None,
    start_timeout: float = DEFAULTS.start,
    timeout: float = DEFAULTS.request,
    format: Literal["text", "json"] = "text",
) -> int:
    """Compare tables of related scripts: compaction changes nothing, appends commute, a delete is a set difference.

    Scripts are generated at random. One that breaks a property is shrunk, saved and printed, with the command that runs
    it again.

    Exit status: 0 if all properties held, 1 if not, 3 if an adapter cannot be started, 5 if it can write no script.

    Args:
        adapter: The writer, as for run.
        reader: The reader of the tables, as for run.
        property_: Only this property. May be repeated.
        seed: The seed of the first example of each property, from which the others follow; random by default.
        examples: How many scripts to run for each property.
        exclude: What to leave out of scripts, so that a known failure hides no other: v1, v2, v3, null, nan, zero,
            nested, required, partition, partition-names (other than those that engines choose), shared-source
            (partition fields of one column), default, the name of an operation, a mode, a file format or a type. May be
            repeated.
        keep: The folder for scripts that fail, with their tables.
        max_failures: Stop after this many failures of a property.
        replay: Run only the property and script of this file.
        start_timeout: Seconds that an adapter may take to start.
        timeout: Seconds that the adapter may take to answer one request.
        format: Text for people, or JSON.
    """
    every = metamorphic_properties.PROPERTIES
    for option, given, known in (("--property", property_, every.keys()), ("--exclude", exclude, scripts.EXCLUDABLE)):
        unknown = sorted(set(given) - set(known))
        if unknown:
            raise UsageError(f"{option} {unknown[0]}: expected one of {', '.join(sorted(known))}")
    if {"v1", "v2", "v3"} <= set(exclude):
        raise UsageError("--exclude leaves no format version")
    if examples < 1 or max_failures < 1:
        raise UsageError("--examples and --max-failures must be at least 1")
    first = random.randrange(2**31) if seed is None else seed
    limits = make_limits(start_timeout, timeout)
    chosen = target(adapter, limits)
    with ExitStack() as stack:
        writes = stack.enter_context(chosen.open())
        started = writes.start()
        if "table.write" not in started.operations:
            raise NothingSelected(f"{adapter} does not have the operation table.write")
        reads = writes
        if reader != adapter:
            reads = stack.enter_context(target(reader, limits).open())
            reads.start()
        if replay is not None:
            one, _, reason = checks.replay_script(replay, writes, reads)
            summary = {None: "cannot be tested with this adapter", "": "holds"}.get(reason, f"does not hold: {reason}")
            if format == "json":
                replayed = {
                    "property": one.name,
                    "law": one.name,  # deprecated, as the other former names below
                    "held": None if reason is None else not reason,
                    "reason": reason or "",
                }
                sys.stdout.write(json.dumps(replayed, indent=2) + "\n")
            else:
                print(f"{started}: {one.name}: {summary}")
            return ExitStatus.FAILURES if reason else ExitStatus.CONFORMANT
        report_progress = stack.enter_context(progress())
        wanted = [every[name] for name in property_ or every]
        found = checks.check(
            writes,
            reads,
            wanted,
            first,
            examples,
            frozenset(exclude),
            keep=keep,
            max_failures=max_failures,
            progress=report_progress,
        )
    name = chosen.reproduce or shlex.quote(chosen.name)
    with_reader = "" if reader == REFERENCE else f" --reader {shlex.quote(reader)}"
    again = f"iceberg-conformance metamorphic --adapter {name}{with_reader} --replay"
    if format == "json":
        content = {
            "implementation": started.implementation,
            "version": started.version,
            "seed": first,
            "properties": [one.name for one in wanted],
            "laws": [one.name for one in wanted],
            "held": found.passed,
            "unsupported": found.unsupported,
            "counterexamples": [
                {
                    "property": one.prop.name,
                    "law": one.prop.name,
                    "reason": one.reason,
                    "script": one.script,
                    "file": str(one.file),
                    "reproduce": f"{again} {shlex.quote(str(one.file))}",
                }
                for one in found.counterexamples
            ],
        }
        sys.stdout.write(json.dumps(content, indent=2) + "\n")
    else:
        for counterexample in found.counterexamples:
            for line in counterexample.lines(f"{chosen.name} ({started.version})"):
                print(line)
            print(f"    reproduce    {again} {shlex.quote(str(counterexample.file))}")
    sys.stdout.flush()
    summary = f"{plural(len(wanted), 'property', 'properties')}, {plural(found.passed, 'script')} passed"
    print(
        f"{started}: {summary}, {found.unsupported} not supported, seed {first}; {len(found.counterexamples)} failed",
        file=sys.stderr,
    )
    if found.counterexamples:
        return ExitStatus.FAILURES
    if not found.passed:
        raise NothingSelected(f"{adapter} can write none of the scripts")
    return ExitStatus.CONFORMANT

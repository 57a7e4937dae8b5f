"""``iceberg-conformance filter-pushdown``."""

from __future__ import annotations

import json
import random
import sys
from functools import partial
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
    from conformance.properties import filter_pushdown as pushdown
    from conformance.properties import tables, values


DEFAULTS = AdapterLimits()


def filter_pushdown(
    *,
    adapter: Annotated[str, Parameter(name=["--adapter", "-a"])] = REFERENCE,
    seed: int | None = None,
    examples: int = 200,
    exclude: Annotated[tuple[str, ...], Parameter(negative=())] = (),
    keep: Path | None = None,
    max_failures: int = 1,
    start_timeout: float = DEFAULTS.start,
    timeout: float = DEFAULTS.request,
    format: Literal["text", "json"] = "text",
) -> int:
    """Check that filtered reads equal filtering a full read.

    Small tables and filters are generated at random. A table and filter that fail are shrunk, saved and printed, with
    the command that generates them again.

    Exit status: 0 if all reads were equal, 1 if not, 3 if the adapter cannot be started, 5 if it can read no table.

    Args:
        adapter: As for run.
        seed: The seed of the first example, from which the others follow; random by default.
        examples: How many tables and filters to generate.
        exclude: What to leave out of tables and filters, so that a known failure does not hide others: null, nan, zero,
            default, missing, nested, or the name of a type. May be repeated.
        keep: The folder for tables that fail.
        max_failures: Stop after this many failures.
        start_timeout: Seconds that the adapter may take to start.
        timeout: Seconds that the adapter may take to answer one request.
        format: Text for people, or JSON.
    """
    unknown = sorted(set(exclude) - tables.EXCLUDABLE)
    if unknown:
        raise UsageError(f"--exclude {unknown[0]}: expected one of {', '.join(sorted(tables.EXCLUDABLE))}")
    if set(values.VALUES) <= set(exclude):
        raise UsageError("--exclude leaves no type for a column")
    if examples < 1 or max_failures < 1:
        raise UsageError("--examples and --max-failures must be at least 1")
    first = random.randrange(2**31) if seed is None else seed
    chosen = target(adapter, make_limits(start_timeout, timeout))
    with chosen.open() as opened, progress() as report_progress:
        started = opened.start()
        if "table.read" not in started.operations:
            raise NothingSelected(f"{adapter} does not have the operation table.read")
        found = pushdown.check(
            opened,
            first,
            examples,
            frozenset(exclude),
            keep=keep,
            max_failures=max_failures,
            progress=partial(report_progress, "tables"),
        )
    options = "".join(f" --exclude {word!r}" if " " in word else f" --exclude {word}" for word in exclude)
    failures = []
    for one in found.counterexamples:
        named = f"--adapter {chosen.reproduce or chosen.name} --seed {first} --examples {examples}{options}"
        failures.append(
            (list(one.lines(f"{chosen.name} ({started.version})")), f"iceberg-conformance filter-pushdown {named}")
        )
    if format == "json":
        content = {
            "implementation": started.implementation,
            "version": started.version,
            "seed": first,
            "compared": found.compared,
            "unsupported": found.unsupported,
            "counterexamples": [
                {
                    "seed": one.seed,
                    "reason": one.reason,
                    "filter": one.case.predicate,
                    "metadata": str(one.metadata),
                    "evidence": lines,
                    "reproduce": command,
                }
                for one, (lines, command) in zip(found.counterexamples, failures, strict=True)
            ],
        }
        sys.stdout.write(json.dumps(content, indent=2) + "\n")
    else:
        for lines, command in failures:
            print("\n".join(lines))
            print(f"    reproduce    {command}")
    sys.stdout.flush()
    counts = f"{plural(found.compared, 'table')} compared, {found.unsupported} not supported, seed {first}"
    print(f"{started}: {counts}; {len(found.counterexamples)} failed", file=sys.stderr)
    if found.counterexamples:
        return ExitStatus.FAILURES
    if not found.compared:
        raise NothingSelected(f"{adapter} can read none of the tables")
    return ExitStatus.CONFORMANT

"""``iceberg-conformance relay``."""

from __future__ import annotations

import json
import random
import shlex
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from conformance.cli.progress import progress
from conformance.core.counts import plural
from conformance.core.failures import ExitStatus, NothingSelected, UsageError
from conformance.core.lazy_imports import lazy_imports
from conformance.core.output_files import check_distinct_files, write_output
from conformance.runner.process import AdapterLimits
from conformance.runner.targets import find_targets, make_limits

with lazy_imports():
    from conformance.properties import relay as relay_property
    from conformance.properties import relay_known, relay_results, scripts
    from conformance.reports import relay_page
    from conformance.runner import expectations


if TYPE_CHECKING:
    from conformance.properties.relay import Relays
    from conformance.properties.relay_results import RelayCounterexample, RelayResults

DEFAULTS = AdapterLimits()
HTML = "html:"


def relay(
    *,
    adapter: Annotated[tuple[str, ...], Parameter(name=["--adapter", "-a"])] = (),
    seed: int | None = None,
    examples: int = 50,
    exclude: tuple[str, ...] = (),
    expect: str = "none",
    keep: Path | None = None,
    max_failures: int = 1,
    replay: Path | None = None,
    report: str = "",
    start_timeout: float = DEFAULTS.start,
    timeout: float = DEFAULTS.request,
    format: Literal["text", "json"] = "text",
) -> int:
    """Let several engines change one table in turn, and check the table after each step.

    Scripts are generated at random; each step goes to a random engine that supports the operation. If an engine refuses
    a step, the table must be unchanged, and another engine gets the step. A failure is shrunk, saved and printed, with
    the engine that caused it and the command that runs it again.

    Exit status: 0 if there are only known failures or none, 1 for any other, 3 if an engine cannot be started, or died
    and did not start again, 5 if no step was done.

    Args:
        adapter: An engine that takes part, as for run. May be repeated.
        seed: The seed of the first script, from which the others follow; random by default.
        examples: How many scripts to run.
        exclude: What to leave out of scripts, as for metamorphic. May be repeated.
        expect: A file of known failures, known-deviations for the one that comes with the tool, or none.
        keep: The folder for relays that fail.
        max_failures: Stop after this many failures that differ in kind, engine or operation.
        replay: Run only the relay of this file.
        report: html:FILE writes a page that shows which engines can continue after which others.
        start_timeout: Seconds that an engine may take to start.
        timeout: Seconds that an adapter may take to answer one request; a step may take four times as long.
        format: Text for people, or JSON.
    """
    if not adapter:
        raise UsageError("--adapter is missing: name the engines that take part")
    if report and not (report.startswith(HTML) and report != HTML):
        raise UsageError(f"--report {report}: expected html:FILE")
    page = Path(report.removeprefix(HTML)) if report else None
    known_file = None if expect in ("none", expectations.SHIPPED) else Path(expect)
    check_distinct_files([("--report", page)], [("--expect", known_file), ("--replay", replay)])
    unknown = sorted(set(exclude) - scripts.EXCLUDABLE)
    if unknown:
        raise UsageError(f"--exclude {unknown[0]}: expected one of {', '.join(sorted(scripts.EXCLUDABLE))}")
    if {"v1", "v2", "v3"} <= set(exclude):
        raise UsageError("--exclude leaves no format version")
    if examples < 1 or max_failures < 1:
        raise UsageError("--examples and --max-failures must be at least 1")
    known: tuple[relay_known.KnownRelay, ...] = ()
    if expect == expectations.SHIPPED:  # a known failure in scripts also occurs in relays
        known = relay_known.load_known() + relay_known.load_known(table="scenario")
    elif known_file is not None:
        known = relay_known.load_known(known_file)
    first = random.randrange(2**31) if seed is None else seed
    targets = find_targets(adapter, make_limits(start_timeout, timeout))
    with ExitStack() as stack:
        engines = {}
        for one in targets:
            opened = stack.enter_context(one.open())
            started = opened.start()
            if not {"table.write", "table.change"} <= started.operations:
                raise NothingSelected(f"{one.name} does not have the operations table.write and table.change")
            engines[one.name] = relay_property.RelayEngine(one.name, opened, started)
        relays = relay_property.Relays(engines, known)
        if replay is not None:
            return _replay(relays, replay, format)
        report_progress = stack.enter_context(progress())
        found = relay_property.run_relays(
            relays,
            first,
            examples,
            frozenset(exclude),
            keep=keep,
            max_failures=max_failures,
            progress=partial(report_progress, "scripts"),
        )
    command = "iceberg-conformance relay " + " ".join(f"--adapter {shlex.quote(one.name)}" for one in targets)
    if page is not None:
        identities = {name: str(engine.started) for name, engine in engines.items()}
        write_output("--report", page, relay_page.render(found, identities, first, command, known))
    _show(found, relays, first, command, format)
    if found.counterexamples:
        return ExitStatus.FAILURES
    if found.unusable:
        return ExitStatus.NOT_EXAMINED
    if not found.steps:
        raise NothingSelected("no step was done")
    return ExitStatus.CONFORMANT


def _replay(relays: Relays, file: Path, format: str) -> int:
    steps = relay_results.read_relay(file, relays.engines)
    failure = relays.replay(steps)
    known = "" if failure is None else relays.known_deviation(failure)
    if format == "json":
        shown = None if failure is None else {"kind": failure.kind, "engine": failure.engine, "reason": failure.reason}
        sys.stdout.write(json.dumps({"failure": shown, "known": known}, indent=2) + "\n")
    elif failure is None:
        print(f"{file}: the last of {len(steps)} steps does not fail, or an earlier one is not done")
    else:
        print(f"{file}: {failure.engine}: {failure.operation}: {failure.kind}: {failure.reason}")
        if known:
            print(f"    known as     {known}")
    return ExitStatus.FAILURES if failure is not None and not known else ExitStatus.CONFORMANT


def _show(found: RelayResults, relays: Relays, seed: int, command: str, format: str) -> None:
    if format == "json":
        content = {
            "engines": {
                name: {
                    "implementation": engine.started.implementation,
                    "version": engine.started.version,
                    "steps": found.steps[name],
                    "gone": engine.unusable_reason,
                }
                for name, engine in relays.engines.items()
            },
            "seed": seed,
            "scripts": found.scripts,
            "known": dict(found.known),
            "handovers": _handovers(found, list(relays.engines)),
            "failures": [_failure(one, command) for one in found.counterexamples],
        }
        sys.stdout.write(json.dumps(content, indent=2) + "\n")
    else:
        for one in found.counterexamples:
            print("\n".join(one.lines()))
            print(f"    replay       {command} --replay {shlex.quote(str(one.file))}")
        for name, why in found.unusable.items():
            print(f"{name} stopped taking part: {why}")
        for id_, count in sorted(found.known.items()):
            print(f"known, {plural(count, 'time')}: {id_}")
    sys.stdout.flush()
    steps = ", ".join(f"{name} {found.steps[name]}" for name in relays.engines)
    known = plural(sum(found.known.values()), "known failure")
    summary = f"{plural(found.scripts, 'script')}, steps done: {steps}; {known}, seed {seed}"
    print(f"{summary}; {len(found.counterexamples)} failed", file=sys.stderr)


def _handovers(found: RelayResults, engines: Sequence[str]) -> list[dict[str, Any]]:
    return [
        {"before": before, "engine": engine, **counts}
        for (before, engine), counts in relay_results.count_handovers(found.handovers, engines).items()
    ]


def _failure(one: RelayCounterexample, command: str) -> dict[str, Any]:
    return {
        "seed": one.seed,
        "kind": one.failure.kind,
        "engine": one.failure.engine,
        "operation": one.failure.operation,
        "reason": one.failure.reason,
        "relay": [{"engine": step.engine, "operation": step.operation} for step in one.steps],
        "file": str(one.file),
        "reproduce": f"{command} --replay {shlex.quote(str(one.file))}",
    }

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
from conformance.core.failures import ExitStatus, NothingSelected, UsageError
from conformance.core.lazy_imports import lazy_imports
from conformance.runner.process import Limits
from conformance.runner.targets import REFERENCE, limits_of, target

with lazy_imports():
    from conformance.properties import laws, scripts
    from conformance.properties import metamorphic as metamorphic_laws


DEFAULTS = Limits()


def metamorphic(
    *,
    adapter: Annotated[str, Parameter(name=["--adapter", "-a"])] = REFERENCE,
    reader: str = REFERENCE,
    law: tuple[str, ...] = (),
    seed: int | None = None,
    examples: int = 50,
    avoid: tuple[str, ...] = (),
    keep: Path | None = None,
    most: Annotated[int, Parameter(name=["--max-failures", "--most"])] = 1,
    replay: Path | None = None,
    start_timeout: float = DEFAULTS.start,
    timeout: float = DEFAULTS.request,
    format: Literal["text", "json"] = "text",
) -> int:
    """Compare tables of related scripts: compaction changes nothing, appends commute, a delete is a set difference.

    Scripts are made at random; one that breaks a law is made as small as it goes, kept and shown, with the command that
    tries it again.

    Exit status: 0 if the laws held, 1 if not, 3 if an adapter cannot be started, 5 if it can write none of the scripts.

    Args:
        adapter: What writes, as for run.
        reader: What reads the tables.
        law: Only this law. May be repeated.
        seed: Of the first example of each law; those of the others follow. A random one where it is left out.
        examples: How many scripts for each law.
        avoid: What scripts leave out, so that a known failure hides no other: v1, v2, v3, null, nan, zero, nested,
            required, partition, shared-source (partition fields of one column), default, the name of an operation, a
            mode, a file format or a type. May be repeated.
        keep: Where scripts that fail are kept, with their tables.
        most: The most failures to look for, of each law.
        replay: Try the law and script of this file, and nothing else.
        start_timeout: Seconds that an adapter may take to start.
        timeout: Seconds that it may take for an answer.
        format: Text for people, or JSON.
    """
    for option, given, known in (("--law", law, laws.LAWS.keys()), ("--avoid", avoid, scripts.AVOIDABLE)):
        unknown = sorted(set(given) - set(known))
        if unknown:
            raise UsageError(f"{option} {unknown[0]}: there are {', '.join(sorted(known))}")
    if {"v1", "v2", "v3"} <= set(avoid):
        raise UsageError("--avoid leaves no format version")
    if examples < 1 or most < 1:
        raise UsageError("--examples and --most have to be at least 1")
    first = random.randrange(2**31) if seed is None else seed
    limits = limits_of(start_timeout, timeout)
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
            one, _, reason = metamorphic_laws.replay(replay, writes, reads)
            told = {None: "it cannot be tried with this adapter", "": "it holds"}.get(reason, f"it does not: {reason}")
            if format == "json":
                replayed = {"law": one.name, "held": None if reason is None else not reason, "reason": reason or ""}
                sys.stdout.write(json.dumps(replayed, indent=2) + "\n")
            else:
                print(f"{started}: {one.name}: {told}")
            return ExitStatus.FAILURES if reason else ExitStatus.CONFORMANT
        tell = stack.enter_context(progress())
        wanted = [laws.LAWS[name] for name in law or laws.LAWS]
        found = metamorphic_laws.check(
            writes, reads, wanted, first, examples, frozenset(avoid), keep=keep, most=most, progress=tell
        )
    name = chosen.reproduce or shlex.quote(chosen.name)
    with_reader = "" if reader == REFERENCE else f" --reader {shlex.quote(reader)}"
    again = f"iceberg-conformance metamorphic --adapter {name}{with_reader} --replay"
    if format == "json":
        content = {
            "implementation": started.implementation,
            "version": started.version,
            "seed": first,
            "laws": [one.name for one in wanted],
            "held": found.held,
            "unsupported": found.unsupported,
            "counterexamples": [
                {
                    "law": one.law.name,
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
    told = f"{len(wanted)} laws, {found.held} scripts kept them, {found.unsupported} not supported, seed {first}"
    print(f"{started}: {told}; {len(found.counterexamples)} broken", file=sys.stderr)
    if found.counterexamples:
        return ExitStatus.FAILURES
    if not found.held:
        raise NothingSelected(f"{adapter} can write none of the scripts")
    return ExitStatus.CONFORMANT

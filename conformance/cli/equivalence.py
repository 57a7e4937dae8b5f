"""``iceberg-conformance equivalence``."""

from __future__ import annotations

import random
import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from conformance.adapters.process import Limits
from conformance.cli.targets import REFERENCE, limits_of, target
from conformance.failures import ExitStatus, NothingSelected, UsageError

DEFAULTS = Limits()


def equivalence(
    *,
    adapter: Annotated[str, Parameter(name=["--adapter", "-a"])] = REFERENCE,
    seed: int | None = None,
    examples: int = 200,
    avoid: Annotated[tuple[str, ...], Parameter(negative=())] = (),
    keep: Path | None = None,
    most: int = 1,
    start_timeout: float = DEFAULTS.start,
    timeout: float = DEFAULTS.request,
) -> int:
    """Hold an implementation to a law: what it reads with a filter is what the filter leaves of all that it reads.

    Small tables and filters are made at random; one that fails is made as small as it goes, kept and shown, with the
    command that makes it again.

    Exit status: 0 if the law held, 1 if not, 3 if the adapter cannot be started, 5 if it can read none of the tables.

    Args:
        adapter: As for run.
        seed: Of the first example; those of the others follow. A random one where it is left out.
        examples: How many tables and filters.
        avoid: What they leave out, so that a known failure does not hide others: null, nan, zero, default, missing,
            nested, or the name of a type.
        keep: Where tables that fail are kept.
        most: The most failures to look for.
        start_timeout: Seconds that the adapter may take to start.
        timeout: Seconds that it may take for an answer.
    """
    from conformance.equivalence import check
    from conformance.generated_tables import AVOIDABLE
    from conformance.generated_values import VALUES

    unknown = sorted(set(avoid) - AVOIDABLE)
    if unknown:
        raise UsageError(f"--avoid {unknown[0]}: there are {', '.join(sorted(AVOIDABLE))}")
    if set(VALUES) <= set(avoid):
        raise UsageError("--avoid leaves no type for a column")
    if examples < 1 or most < 1:
        raise UsageError("--examples and --most have to be at least 1")
    first = random.randrange(2**31) if seed is None else seed
    chosen = target(adapter, limits_of(start_timeout, timeout))
    with chosen.open() as opened:
        started = opened.start()
        if "table.read" not in started.operations:
            raise NothingSelected(f"{adapter} does not have the operation table.read")
        found = check(opened, first, examples, frozenset(avoid), keep=keep, most=most)
    options = "".join(f" --avoid {word!r}" if " " in word else f" --avoid {word}" for word in avoid)
    for counterexample in found.counterexamples:
        for line in counterexample.lines(f"{chosen.name} ({started.version})"):
            print(line)
        print(f"    reproduce    iceberg-conformance equivalence --adapter {chosen.reproduce or chosen.name}"
              f" --seed {counterexample.seed} --examples 1{options}")  # fmt: skip
    told = f"{found.compared} tables compared, {found.unsupported} not supported, seed {first}"
    sys.stdout.flush()
    print(f"{started}: {told}; {len(found.counterexamples)} failed", file=sys.stderr)
    if found.counterexamples:
        return ExitStatus.FAILURES
    if not found.compared:
        raise NothingSelected(f"{adapter} can read none of the tables")
    return ExitStatus.CONFORMANT

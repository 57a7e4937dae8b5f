"""Fuzzing from the command line: ``python -m tools.fuzz [--seconds N] [TARGET...]``; see `tools.fuzz`."""

from __future__ import annotations

import argparse
import sys
import time

from tools.fuzz.running import Outcome, fuzzed
from tools.fuzz.targets import REGRESSIONS, TARGETS, Target

SHOWN = 400


def main(arguments: list[str]) -> int:
    """Fuzz the targets for some time together; 1 where something was found."""
    parser = argparse.ArgumentParser(prog="python -m tools.fuzz", description=__doc__)
    parser.add_argument("targets", nargs="*", help="names of targets; all where none is given")
    parser.add_argument("--seconds", type=float, default=60, help="processor time for all targets together")
    parser.add_argument("--seed", type=int, default=None, help="what is drawn follows from it; the time by default")
    parser.add_argument("--keep", action="store_true", help="keep what is found among the regression inputs")
    given = parser.parse_args(arguments)
    unknown = [name for name in given.targets if name not in TARGETS]
    if unknown:
        parser.error(f"no target {unknown[0]}; there are {', '.join(TARGETS)}")
    chosen = [TARGETS[name] for name in given.targets] or list(TARGETS.values())
    seed = int(time.time()) if given.seed is None else given.seed
    shares = sum(target.share for target in chosen)
    outcomes = []
    for target in chosen:
        outcome = fuzzed(target, given.seconds * target.share / shares, seed)
        outcomes.append(outcome)
        tell(outcome)
        if given.keep:
            keep(target, outcome)
    total, wrong = sum(one.inputs for one in outcomes), sum(len(one.findings) for one in outcomes)
    print(f"{total:,} inputs for {len(outcomes)} targets with seed {seed}: {wrong} findings")
    return int(wrong > 0)


def tell(outcome: Outcome) -> None:
    """What came of one target."""
    rate = outcome.inputs / outcome.seconds if outcome.seconds else 0
    print(f"{outcome.target:18} {outcome.inputs:>12,} inputs {rate:>9,.0f} a second", flush=True)
    for finding in outcome.findings:
        told = finding.data.hex()
        told = finding.told[-SHOWN:] or (f"{told[:SHOWN]}..." if len(told) > SHOWN else told)
        print(f"  {finding.error}\n    {told}", flush=True)


def keep(target: Target, outcome: Outcome) -> None:
    """Add findings to the regression inputs of a target."""
    lines = [
        f"{one.data.hex() or 'empty'}  # {one.error.partition(': ')[0]}" for one in outcome.findings if not one.told
    ]
    if lines:
        REGRESSIONS.mkdir(parents=True, exist_ok=True)
        with (REGRESSIONS / f"{target.name}.txt").open("a", encoding="utf-8") as file:
            file.write("".join(f"{line}\n" for line in lines))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

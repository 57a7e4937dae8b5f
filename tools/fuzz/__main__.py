"""Fuzzing from the command line: ``python -m tools.fuzz [--seconds N] [TARGET...]``; see `tools.fuzz`."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from tools.entry_point import run_main
from tools.fuzz.guided import GuidanceError, check, fuzz_with_coverage
from tools.fuzz.input_store import keep_findings, keep_inputs
from tools.fuzz.running import Outcome, fuzz_in_process
from tools.fuzz.target import Target
from tools.fuzz.targets import TARGETS

SHOWN = 400


def main(arguments: list[str]) -> int:
    """Fuzz the targets for some time in total; return 1 if something was found, 3 if coverage cannot guide."""
    parser = argparse.ArgumentParser(prog="python -m tools.fuzz", description=__doc__)
    parser.add_argument("targets", nargs="*", help="names of targets; all by default")
    parser.add_argument("--seconds", type=float, default=60, help="processor time for all targets together")
    parser.add_argument("--guided", type=float, default=0, help="processor time for all targets, guided by coverage")
    parser.add_argument("--seed", type=int, default=None, help="the seed of the random inputs; the time by default")
    parser.add_argument("--keep", action="store_true", help="store findings, and inputs that reach new code")
    given = parser.parse_args(arguments)
    unknown = [name for name in given.targets if name not in TARGETS]
    if unknown:
        parser.error(f"unknown target {unknown[0]}; the targets are {', '.join(TARGETS)}")
    chosen = [TARGETS[name] for name in given.targets] or list(TARGETS.values())
    seed = int(time.time()) if given.seed is None else given.seed
    outcomes = []
    try:
        for outcome in runs(chosen, given.seconds, given.guided, seed, keep=given.keep):
            outcomes.append(outcome)
            print_outcome(outcome)
            if given.keep:
                keep_findings(outcome.target, outcome.findings)
    except GuidanceError as error:
        print(error, file=sys.stderr)
        return 3
    total, wrong = sum(one.inputs for one in outcomes), sum(len(one.findings) for one in outcomes)
    print(f"{total:,} inputs for {len(chosen)} targets with seed {seed}: {wrong} findings")
    return int(wrong > 0)


def runs(targets: list[Target], seconds: float, by_coverage: float, seed: int, *, keep: bool) -> Iterator[Outcome]:
    """Yield the outcome of each target: random inputs first, then inputs guided by coverage."""
    shares = sum(target.share for target in targets)
    if seconds:
        for target in targets:
            yield fuzz_in_process(target, seconds * target.share / shares, seed)
    if by_coverage:
        check(seed)
        for target in targets:
            with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
                yield fuzz_with_coverage(target.name, by_coverage * target.share / shares, seed, Path(folder))
                if keep:
                    print(f"  {keep_inputs(target, Path(folder))} inputs kept")


def print_outcome(outcome: Outcome) -> None:
    """Print the outcome of one target."""
    rate = outcome.inputs / outcome.seconds if outcome.seconds else 0
    print(f"{outcome.target:18} {outcome.inputs:>12,} inputs {rate:>9,.0f} a second", flush=True)
    for finding in outcome.findings:
        data = finding.data.hex()
        data = finding.output[-SHOWN:] or (f"{data[:SHOWN]}..." if len(data) > SHOWN else data)
        print(f"  {finding.error}\n    {data}", flush=True)


if __name__ == "__main__":
    run_main(main, sys.argv[1:])

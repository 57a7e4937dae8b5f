"""Prove theorems about the code of `spec_ref`: ``python -m tools.proofs [--quick] [NAMES]``."""

from __future__ import annotations

import argparse
import itertools
import multiprocessing
import os
import sys
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import attrs
import z3

from conformance.core.json_text import dump_json
from tools.entry_point import run_main
from tools.proofs import counterexamples
from tools.proofs.theorem import CASE_SECONDS, EXHAUSTIVE, INDUCTION, THEOREMS, Theorem, Verdict, prove
from tools.proofs.theorems import load


def main(arguments: list[str] | None = None) -> int:
    """Prove the selected theorems.

    Args:
        arguments: those of the command line by default.

    Returns:
        The exit status: 1 if something is not proved, 2 if no theorem has a given name.
    """
    parser = argparse.ArgumentParser(description="Prove theorems about the code of spec_ref.")
    parser.add_argument("names", nargs="*", help="ids, parts of ids, topics or requirement codes; all by default")
    parser.add_argument("--quick", action="store_true", help="prove only some cases of each theorem, in half a minute")
    parser.add_argument("--list", action="store_true", help="print the theorems and prove nothing")
    parser.add_argument("--seconds", type=float, default=CASE_SECONDS, help="the time for one case of a theorem")
    parser.add_argument("--vectors", type=Path, metavar="FOLDER", help="write counterexamples as vectors to a folder")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="the number of processes")
    options = parser.parse_args(arguments)
    load()
    chosen = [
        one
        for one in THEOREMS.values()
        if not options.names or any(name in one.id or name == one.topic or name in one.codes for name in options.names)
    ]
    if not chosen:
        print(f"no theorem is named {' or '.join(options.names)}; --list prints them all", file=sys.stderr)
        return 2
    if options.list:
        for one in chosen:
            print(
                f"{one.id} ({one.topic}; {', '.join(one.codes)}; {one.method}; {len(one.cases)} cases)\n  {one.words}"
            )
        return 0
    started, verdicts = time.monotonic(), []
    selected = [one for one in chosen if one.selected_cases(quick=options.quick)]
    for verdict in verdicts_of_all(selected, quick=options.quick, seconds=options.seconds, jobs=options.jobs):
        verdicts.append(verdict)
        report(verdict)
        if options.vectors is not None:
            for path in counterexamples.write(verdict, options.vectors):
                print(f"      iceberg-conformance replay {path.stem} --vectors {options.vectors}")
    failed = sum(not one.proved for one in verdicts)
    print(
        f"{len(verdicts) - failed} of {len(verdicts)} theorems proved, on {sum(one.paths for one in verdicts)} "
        f"paths of {sum(one.cases for one in verdicts)} cases, by z3 {z3.get_version_string()}, "
        f"in {sum(one.seconds for one in verdicts):.0f} s of processor time and {time.monotonic() - started:.0f} s"
        + (" (the quick cases only)" if options.quick else "")
    )
    return 1 if failed else 0


CASES_OF_A_JOB = 12
"""The number of cases that a process proves before it gets others: few, so that no process is left without work."""


def verdicts_of_all(chosen: Iterable[Theorem], *, quick: bool, seconds: float, jobs: int) -> Iterator[Verdict]:
    """Prove theorems in several processes.

    Args:
        chosen: the theorems.
        quick: whether only the quick cases are proved.
        seconds: the processor time for each case.
        jobs: the number of processes.

    Yields:
        The verdict of each theorem, in their order.
    """
    parts = [
        (one.id, first) for one in chosen for first in range(0, len(one.selected_cases(quick=quick)), CASES_OF_A_JOB)
    ]
    if jobs <= 1:
        yield from merge_verdicts(_prove_part(name, first, quick, seconds) for name, first in parts)
        return
    forking = multiprocessing.get_context("fork")  # the theorems are loaded once
    with ProcessPoolExecutor(jobs, mp_context=forking) as pool:
        yield from merge_verdicts(
            pool.map(_prove_part, *zip(*parts, strict=True), *map(itertools.repeat, (quick, seconds)))
        )


def _prove_part(name: str, first: int, quick: bool, seconds: float) -> tuple[str, Verdict]:
    one = THEOREMS[name]
    cases = one.selected_cases(quick=quick)[first : first + CASES_OF_A_JOB]
    return name, prove(attrs.evolve(one, cases=cases), seconds=seconds)


def merge_verdicts(parts: Iterable[tuple[str, Verdict]]) -> Iterator[Verdict]:
    """Yield one verdict for each theorem, from the verdicts of its parts, which follow each other."""
    for name, several in itertools.groupby(parts, key=lambda part: part[0]):
        found = [verdict for _, verdict in several]
        yield Verdict(
            THEOREMS[name],
            sum(one.cases for one in found),
            sum(one.paths for one in found),
            sum(one.claims for one in found),
            sum(one.seconds for one in found),
            tuple(failure for one in found for failure in one.failures),
        )


def report(verdict: Verdict) -> None:
    """Print a theorem and its verdict."""
    one = verdict.theorem
    print(f"{'proved' if verdict.proved else 'NOT PROVED'}  {one.id}  [{', '.join(one.codes)}]")
    print(f"    {one.words}")
    by = {EXHAUSTIVE: "by running it", INDUCTION: "by z3, by induction over the steps of the code"}.get(
        one.method, f"by z3 on {verdict.paths} paths"
    )
    print(f"    {one.scope}, {verdict.cases} cases, {by}, {verdict.seconds:.1f} s")
    rows = {id(failure): document for failure, document in counterexamples.vectors(verdict)}
    for failure in verdict.failures:
        print(f"    case {failure.case or 'of all'}: {failure.reason}")
        for number, step in enumerate(failure.steps, 1):
            print(f"      {number:>2}. {step}")
        if failure.values is not None:
            print(f"      values    {failure.values}")
            print(f"      replayed  {failure.replayed}")
        if id(failure) in rows:
            print(f"      vector    {dump_json(rows[id(failure)])}")
        elif failure.request is not None:
            print(f"      request   {dump_json(failure.request)}")
    sys.stdout.flush()


if __name__ == "__main__":
    run_main(main)

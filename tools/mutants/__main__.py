"""Run mutants: ``python -m tools.mutants run [WORD...]``, ``draw`` and ``check``; see `tools.mutants`."""

from __future__ import annotations

import argparse
import sys
import time

from tools.entry_point import run_main
from tools.mutants import drawing, killing
from tools.mutants.coverage import load_coverage
from tools.mutants.judging import Preloaded
from tools.mutants.mutant import (
    DRAWN,
    SCORE,
    SEQUENCES,
    TABLE,
    Mutant,
    all_mutants,
    dump,
    equivalents,
    killers,
    load,
    remember,
    select_mutants,
    text,
)
from tools.mutants.syntax import Misfit

DRAWN_HEADING = """\
# Drawn by `python -m tools.mutants draw` from the code of each module; drawn again where that changed.
"""
SCORE_HEADING = """\
# Written by `make mutants`: what kills each mutant, and the totals. Tests check that these do not get worse.
"""


def main(arguments: list[str]) -> int:
    """Run the command; return 0 unless a mutant survives."""
    parser = argparse.ArgumentParser(prog="python -m tools.mutants", description=__doc__)
    parser.add_argument(
        "what",
        choices=["run", "draw", "check"],
        help="run mutants, draw new ones for changed code, or check that each still fits the code",
    )
    parser.add_argument("words", nargs="*", help="parts of the names of mutants; all by default")
    parser.add_argument("--again", action="store_true", help="run all again with every case, also those with a reason")
    given = parser.parse_args(arguments)
    if given.what == "draw":
        DRAWN.write_text(dump(drawing.draw_all(load(DRAWN)), DRAWN_HEADING), encoding="utf-8")
        print(f"{len(load(TABLE))} mutants in the table, {len(load(DRAWN))} drawn")
        return 0
    if given.what == "check":
        return _check()
    return _run(given.words, rerun=given.again)


def _check() -> int:
    """Apply every mutant to the syntax tree of its module without running it; return 1 if one does not fit."""
    mutants = [*all_mutants(), *load(SEQUENCES)]
    wrong = 0
    for mutant in mutants:
        try:
            compile(mutant.tree(), mutant.file, "exec")
        except (Misfit, OSError, SyntaxError, ValueError) as error:
            print(error if isinstance(error, Misfit) else f"{mutant.id}: {error}", file=sys.stderr)
            wrong += 1
    print(f"{len(mutants)} mutants, {wrong} of which do not fit the code")
    return int(wrong > 0)


def _run(words: list[str], *, rerun: bool) -> int:
    mutants, known, reasons = select_mutants(words), killers(), equivalents()
    preloaded = Preloaded()
    status, problem = killing.materialize()
    if status != "done":
        raise SystemExit(problem)
    results: dict[str, tuple[str, str]] = {}
    for number, mutant in enumerate(mutants, 1):
        began = time.monotonic()
        killer = None if rerun else known.get(mutant.id)
        if mutant.id in reasons and not rerun:
            found = ("equivalent", reasons[mutant.id])
        else:
            found = killing.find_killer(preloaded, mutant, killer, lambda: load_coverage(preloaded))
        if found[0] == "survived" and mutant.id in reasons:
            found = ("equivalent", reasons[mutant.id])
        results[mutant.id] = found
        if found[0] == "killed":
            remember(mutant.id, found[1])
        seconds = time.monotonic() - began
        print(f"{number}/{len(mutants)} {found[0]} {mutant.id} {found[1]} ({seconds:.1f} s)", flush=True)
    _tell(results)
    if not words:
        SCORE.write_text(score_text(mutants, results), encoding="utf-8")
    return int(any(status in ("survived", "stillborn") for status, _ in results.values()))


def _tell(results: dict[str, tuple[str, str]]) -> None:
    counts = {kind: sum(status == kind for status, _ in results.values()) for kind in KINDS}
    print(f"{len(results)} mutants: " + ", ".join(f"{count} {kind}" for kind, count in counts.items()))
    for id_, (status, how) in results.items():
        if status in ("survived", "stillborn") or (status == "killed" and id_ in equivalents()):
            print(f"  {status}: {id_} {how}")


KINDS = ("killed", "equivalent", "survived", "stillborn")


def score_text(mutants: list[Mutant], results: dict[str, tuple[str, str]]) -> str:
    """Format the score as the text of its file; mutants without a result are listed as untried."""
    known = {one.id: results.get(one.id, ("untried", "")) for one in mutants}
    lines = [SCORE_HEADING, f"mutants = {len(mutants)}"]
    lines += [f"{kind} = {sum(status == kind for status, _ in known.values())}" for kind in (*KINDS, "untried")]
    for name, kind in (("survivors", "survived"), ("not_tried", "untried")):
        ids = [f"  {text(id_)}," for id_, (status, _) in known.items() if status == kind]
        lines += [f"{name} = [", *ids, "]"]
    lines += ["", "[killed_by]"]
    lines += [f"{text(id_)} = {text(how)}" for id_, (status, how) in known.items() if status == "killed"]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    run_main(main, sys.argv[1:])

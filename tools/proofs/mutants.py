"""Check that broken code of `spec_ref` makes the right theorem false: ``python -m tools.proofs.mutants [WORDS]``.

Each mutant of ``mutants.toml`` names a part of the syntax tree (`tools.mutants.syntax`), the requirements that it
breaks, the theorem that must be false with it, and the case that shows this. A mutant counts as killed if values are
found for which the theorem is false, but not if the solver gives up.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import tomllib
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import attrs

from tools.entry_point import run_without_parser
from tools.forked_process import DONE, run_forked
from tools.mutants.importing import Finder
from tools.mutants.mutant import Mutant

TABLE = Path(__file__).with_name("mutants.toml")
SECONDS = 120.0


@attrs.frozen
class Row:
    """A mutant, and the theorem that it makes false."""

    mutant: Mutant
    theorem: str
    case: tuple[str, ...]


def rows(words: Sequence[str] = ()) -> list[Row]:
    """Return the mutants whose id or theorem contains one of the words; all if there are no words."""
    found = []
    for row in tomllib.loads(TABLE.read_text(encoding="utf-8"))["mutant"]:
        theorem, case, codes = row.pop("theorem"), tuple(row.pop("case")), tuple(row.pop("codes"))
        found.append(Row(Mutant(**row, codes=codes), theorem, case))
    return [row for row in found if not words or any(one in row.mutant.id or one in row.theorem for one in words)]


def has_words(case: dict[str, Any], words: Sequence[str]) -> bool:
    """Return whether each word is an argument or the name of a case."""
    values = {str(one) for one in case.values()} | {getattr(one, "name", "") for one in case.values()}
    return set(words) <= values


def find_refutation(row: Row) -> str:
    """Try to prove the theorem about the mutant, in a process that has not imported anything of `spec_ref`.

    Returns:
        Why the theorem is false; empty if it is proved or undecided.
    """
    status, found = run_forked(lambda: _refute(row), SECONDS)
    return str(found) if status == DONE else ""


def _refute(row: Row) -> str:
    sys.meta_path.insert(0, Finder(row.mutant))
    from tools.proofs.theorem import EXHAUSTIVE, THEOREMS, prove
    from tools.proofs.theorems import load

    load()
    one = THEOREMS[row.theorem]
    cases = tuple(case for case in one.cases if has_words(dict(case), row.case))
    assert cases, f"{row.theorem} has no case {row.case}"
    verdict = prove(attrs.evolve(one, cases=cases), replay=False, stop=True)
    for failure in verdict.failures:
        if failure.is_shown or one.method == EXHAUSTIVE:
            return f"{failure.reason}, {failure.steps or failure.values}"
    return ""


def main(words: Sequence[str]) -> int:
    """Try the mutants, as many at a time as there are cores; return the exit status, which is 1 if one survives."""
    if any(name == "spec_ref" or name.startswith("spec_ref.") for name in sys.modules):
        raise SystemExit("spec_ref was imported before the mutants")
    import z3  # noqa: F401 - once, before the processes of the mutants are forked

    chosen = rows(words)
    survived = 0
    with ProcessPoolExecutor(os.cpu_count(), mp_context=multiprocessing.get_context("fork")) as pool:
        for row, why in zip(chosen, pool.map(find_refutation, chosen), strict=True):
            survived += not why
            print(
                f"{'killed  ' if why else 'SURVIVED'}  {row.mutant.id}  by {row.theorem}: {why}"[:300],
                flush=True,
            )
    print(f"{len(chosen) - survived} of {len(chosen)} mutants are killed by theorems")
    return 1 if survived else 0


if __name__ == "__main__":
    run_without_parser(main, sys.argv[1:])

"""Mutants of the code make the theorems false that they name; ``python -m tools.proofs.mutants`` runs all of them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tools.proofs import mutants, proofs
from tools.proofs.theorem import THEOREMS
from tools.proofs.theorems import load

ROOT = Path(__file__).parents[2]


def test_every_mutant_fits_the_code_and_names_a_case_of_a_theorem() -> None:
    load()
    found = mutants.rows()
    assert len({row.mutant.id for row in found}) == len(found)
    for row in found:
        row.mutant.tree()
        assert {*row.mutant.codes} <= {*THEOREMS[row.theorem].codes}, row
        assert any(mutants.has_words(dict(case), row.case) for case in THEOREMS[row.theorem].cases), row


def test_a_theorem_proves_only_the_requirements_that_a_mutant_breaks() -> None:
    broken = {(code, row.theorem) for row in mutants.rows() for code in row.mutant.codes}
    counted = {(code, one.broken) for code, some in proofs().items() for one in some if one.kind == "theorem"}
    assert counted == broken
    assert ("TRN005", "truncate-is-a-floor") not in counted


def test_theorems_are_false_of_mutants() -> None:
    words = [
        "midnight-is-not-its-own-day",
        "equality-deletes-apply",
        "the-quotient",
        "two-negations",
        "a-refusal-counts-as-true",
    ]
    run = subprocess.run(
        [sys.executable, "-m", "tools.proofs.mutants", *words], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert run.stdout.count("killed  ") == len(words)
    assert "ClaimFailed" in run.stdout
    assert "StepsFound" in run.stdout

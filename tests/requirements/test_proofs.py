"""A proof names what is broken and what notices, and both are there."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from spec_ref.requirements import register
from tests import faulty_adapters
from tools import proofs as module
from tools.mutants.mutant import SCORE
from tools.proofs import FAULTS, KINDS, PLANTED, ROOT, Proof, proofs

CONTENT = module._load(PLANTED)
RACES = ROOT / "tests" / "races"


def constants(path: Path) -> set[object]:
    """The constants in a Python file."""
    return {one.value for one in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(one, ast.Constant)}


def test_proofs_are_of_requirements_and_of_every_kind() -> None:
    assert proofs().keys() <= register().keys()
    assert {one.kind for some in proofs().values() for one in some} == set(KINDS)
    assert all(some and all(one.broken and one.noticed for one in some) for some in proofs().values())


def test_a_requirement_that_is_known_not_to_be_shown_has_no_proof() -> None:
    assert [code for code in proofs() if register()[code].unproven is not None] == []


def test_mutants_count_for_what_they_break_once_they_are_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    killer = module._load(SCORE)["killed_by"]["inheritance:existing-inherit-too"]
    one = ("SEQ003", Proof("mutant", "inheritance:existing-inherit-too", killer))
    assert one in set(module._mutants())
    load = module._load
    monkeypatch.setattr(module, "_load", lambda path: {"killed_by": {}} if path == SCORE else load(path))
    assert one not in set(module._mutants())


def test_a_drawn_mutant_counts_only_for_a_killer_that_is_about_one_rule() -> None:
    for _, one in module._mutants():
        if one.noticed.startswith("vector:") and ":" in one.broken and not one.broken.startswith("sequence:"):
            assert one.noticed.removeprefix("vector:") in module.vector_rows()


def test_faults_are_those_of_the_kit() -> None:
    assert module.faults().keys() <= faulty_adapters.faults().keys()
    assert FAULTS.read_text(encoding="utf-8").startswith("#")


def test_planted_faults_are_those_that_are_planted() -> None:
    planted = constants(RACES / "planted_faults.py") | constants(RACES / "planted_table_faults.py")
    assert set(CONTENT["races"]) - planted == set()


def test_tests_that_see_refusals_are_there() -> None:
    for row in CONTENT["refusal"]:
        file, _, name = row["test"].partition("::")
        tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
        assert name in {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}, row
        assert set(row["codes"]) <= register().keys()


def test_a_refusal_has_the_code_that_the_vector_names() -> None:
    rows = module.vector_rows()
    refusals = [(code, one) for code, some in proofs().items() for one in some if one.kind == "refusal"]
    of_vectors = [(code, one) for code, one in refusals if one.broken in rows]
    assert of_vectors
    assert all(code in rows[one.broken][1]["requirements"] and one.noticed == code for code, one in of_vectors)

"""The steps of commits that theorems are about are those of the code, and the model of the store is not empty."""

from __future__ import annotations

import attrs
import pytest
import z3

from tools.proofs import protocol
from tools.proofs.explorer import Undecided
from tools.proofs.protocol_invariant import FACTS
from tools.proofs.protocol_model import WRITER, Model
from tools.proofs.protocol_states import Assumption
from tools.proofs.protocol_steps import ENDS, Step, machine
from tools.proofs.theorem import THEOREMS, prove
from tools.proofs.theorems import load
from tools.proofs.theorems import protocol as theorems

load()
FOUND = machine("file-system", "properties")


def model(*dropped: Assumption, steps: tuple[Step, ...] = FOUND.steps) -> Model:
    return Model(attrs.evolve(FOUND, steps=steps), file_system=True, dropped=dropped)


def test_a_commit_ends_in_every_way_and_waits_for_nothing_twice() -> None:
    ends = {one.target for one in FOUND.steps} - {one.source for one in FOUND.steps}
    assert ends == set(ENDS)
    asked = {(one.source, one.effect, one.subject, one.parent) for one in FOUND.steps}
    assert {source for source, *_ in asked} == set(FOUND.states) - ends
    assert len(asked) == len(set(FOUND.states) - ends)


def test_only_success_ends_a_commit_at_its_swap() -> None:
    swaps = [one for one in FOUND.steps if one.effect == "swap"]
    assert {one.answer: one.target for one in swaps if one.target in ENDS} == {
        "done": "acknowledged",
        "failure": "error",
    }
    assert {(one.subject, one.parent) for one in swaps} == {("new", "base")}


def test_metadata_is_made_from_what_was_loaded() -> None:
    for table in theorems.TABLES:
        writes = [one for one in machine(table, "expire").steps if one.effect == "write metadata"]
        assert {(one.parent, one.valid) for one in writes} == {("loaded", "loaded")}


def test_two_writers_show_nothing_that_is_wrong() -> None:
    assert model().counterexample(versions=3) == ()


def test_a_search_that_is_too_small_decides_nothing() -> None:
    with pytest.raises(Undecided, match="states"):
        model().counterexample(most=10)


def test_every_step_can_be_taken_in_a_state_that_the_invariant_permits() -> None:
    made = model()
    facts = made._facts()
    for step in made.steps:
        known = [made._take(step).guard, *(FACTS[name](made.before, WRITER) for name in facts[step.source])]
        assert made._model(known, [z3.BoolVal(val=False)]) is not None, step


def test_without_compare_and_swap_an_update_is_lost() -> None:
    way = model(Assumption.SWAP).counterexample()
    assert "writer 1" in " ".join(way)
    assert way[-1].endswith("a commit does not continue the version before it, which is lost")
    assert model(Assumption.SWAP).prove().startswith("a swap arrives: ")  # the solver chooses which claim it refutes


def test_a_wrong_step_makes_the_theorem_false() -> None:
    steps = tuple(
        attrs.evolve(one, target="acknowledged") if one.effect == "swap" and one.answer == "no answer" else one
        for one in FOUND.steps
    )
    assert "acknowledged" in model(steps=steps).prove()
    assert model(steps=steps).counterexample()[-1].endswith("a commit that is not in the history is acknowledged")


def test_a_wrong_claim_about_an_assumption_is_not_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    one = THEOREMS["what-commits-assume"]
    case = {"table": "file-system", "assumption": Assumption.COMMITTED}
    monkeypatch.setattr(theorems, "NOT_USED", {("file-system", Assumption.DONE)})
    assert not prove(attrs.evolve(one, cases=(case,))).proved
    assert not prove(attrs.evolve(one, cases=({**case, "assumption": Assumption.DONE},))).proved


def test_what_is_wrong_is_printed_step_by_step(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from tools.proofs import __main__ as runner

    monkeypatch.setattr(theorems, "_model", lambda *_: model(Assumption.FILES))
    one = THEOREMS["acknowledged-commits-stay"]
    runner.report(prove(attrs.evolve(one, cases=one.cases[:1])))
    shown = capsys.readouterr().out
    assert shown.startswith("NOT PROVED  acknowledged-commits-stay")
    assert " 1. writer 0: begins" in shown


def test_the_steps_and_the_assumptions_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert protocol.main(["--table", "file-system"]) == 0
    shown = capsys.readouterr().out
    assert "\n    reads the file of the next version: as written\n" in shown
    assert shown.count("everything is still proved") == 1
    assert shown.count("Without the assumption") == len(Assumption)

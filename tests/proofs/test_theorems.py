"""The quick cases of every theorem are proved, and what is wrong is not."""

from __future__ import annotations

import json

import attrs
import pytest

from spec_ref.expressions import transform_projection
from spec_ref.expressions.predicates import Operation
from spec_ref.requirements import register
from tools.proofs import __main__ as runner
from tools.proofs.explorer import Undecided
from tools.proofs.symbols import SymbolicInt
from tools.proofs.theorem import ALL, THEOREMS, VACUOUS, Theorem, World, prove
from tools.proofs.theorems import load

load()


@pytest.mark.parametrize("one", THEOREMS.values(), ids=THEOREMS)
def test_the_quick_cases_are_proved(one: Theorem) -> None:
    verdict = prove(one, quick=True)
    assert verdict.failures == ()


def test_theorems_have_words_and_codes_of_the_register() -> None:
    for one in THEOREMS.values():
        assert one.words.endswith("."), one.id
        assert one.codes, one.id
        assert set(one.codes) <= register().keys(), one.id


def made(state) -> Theorem:
    return Theorem("made", "Words.", ("SCN003",), ALL, state, ({},), 1, "made")


def test_a_wrong_rule_gives_values_that_break_it_and_a_vector(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = {**transform_projection._INCLUSIVE, Operation.LT: ("least", Operation.LT, Operation.LT)}
    monkeypatch.setattr(transform_projection, "_INCLUSIVE", wrong)
    one = THEOREMS["inclusive-projection"]
    case = next(
        case
        for case in one.cases
        if (case["transform"], str(case["type_"]), case["operation"]) == ("day", "timestamp", Operation.LT)
    )
    verdict = prove(attrs.evolve(one, cases=(case,)))
    (failure,) = verdict.failures
    assert failure.values is not None
    assert failure.values["row"] < failure.values["constant"]
    assert "ClaimFailed" in failure.replayed
    request = json.loads(failure.request or "")
    assert request["operation"] == "projection.evaluate"
    assert request["args"]["spec"]["fields"][0]["transform"] == "day"
    runner.report(verdict)
    shown = capsys.readouterr().out
    assert shown.startswith("NOT PROVED  inclusive-projection")
    assert failure.request in shown


def test_a_theorem_that_claims_nothing_is_not_proved() -> None:
    def state(world: World) -> None:
        if world.int("x") > 5 and world.int("x") < 5:
            world.claim(condition=True)

    (failure,) = prove(made(state)).failures
    assert failure.reason == VACUOUS


def test_a_theorem_that_takes_too_long_is_not_proved() -> None:
    def state(world: World) -> None:
        world.claim(world.int("x") * world.int("y") != world.int("z", 2))

    (failure,) = prove(made(state), seconds=-1).failures
    assert failure.reason.startswith(Undecided.__name__)


def test_what_symbols_cannot_follow_is_not_proved() -> None:
    def state(world: World) -> None:
        world.claim(2 ** world.int("x") > 0)

    (failure,) = prove(made(state)).failures
    assert failure.reason.startswith("Unsupported")


def test_both_sides_of_a_comparison_are_followed() -> None:
    def state(world: World) -> None:
        x = world.int("x")
        assert not world.symbolic or isinstance(x, SymbolicInt)
        world.claim(x != 7 if x > 3 else x * x <= 9 or x < -3)

    (failure,) = prove(made(state)).failures
    assert failure.values == {"x": 7}


def test_the_runner_says_what_it_cannot_find(capsys: pytest.CaptureFixture[str]) -> None:
    assert runner.main(["no-such-theorem"]) == 2
    assert "no-such-theorem" in capsys.readouterr().err
    assert runner.main(["--list", "truncate-twice"]) == 0
    assert "TRN005" in capsys.readouterr().out

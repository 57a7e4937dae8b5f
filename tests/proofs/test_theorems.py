"""The quick cases of every theorem are proved, and what is wrong is not."""

from __future__ import annotations

from pathlib import Path

import attrs
import pytest
import z3

from conformance import cli
from conformance.core.failures import ExitStatus
from conformance.core.json_text import dump_json
from spec_ref.core.errors import SpecError
from spec_ref.data_types.types import DecimalType
from spec_ref.data_types.values import check_value
from spec_ref.expressions import transform_projection
from spec_ref.expressions.predicates import Operation
from spec_ref.requirements import register
from tools.proofs import __main__ as runner
from tools.proofs import counterexamples, stand_ins
from tools.proofs.explorer import Undecided
from tools.proofs.mutants import has_words
from tools.proofs.symbolic_floats import LAST_PLACE, double_of_place, place_of_double
from tools.proofs.symbols import SymbolicInt, implies
from tools.proofs.theorem import ALL, DECIMAL, THEOREMS, VACUOUS, ClaimFailed, Theorem, World, prove
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


def one_case(id: str, *words: str) -> Theorem:
    """A theorem with the one case that has some arguments."""
    one = THEOREMS[id]
    (case,) = (case for case in one.cases if has_words(dict(case), words))
    return attrs.evolve(one, cases=(case,))


def test_a_wrong_rule_gives_values_that_break_it_and_a_vector_that_can_be_replayed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    wrong = {**transform_projection._INCLUSIVE, Operation.LT: ("least", Operation.LT, Operation.LT)}
    monkeypatch.setattr(transform_projection, "_INCLUSIVE", wrong)
    monkeypatch.setitem(THEOREMS, "inclusive-projection", one_case("inclusive-projection", "day", "timestamp", "LT"))
    verdict = prove(THEOREMS["inclusive-projection"])
    (failure,) = verdict.failures
    assert failure.values is not None
    assert failure.values["row"] < failure.values["constant"]
    assert "ClaimFailed" in failure.replayed
    ((_, document),) = counterexamples.vectors(verdict)
    assert document["operation"] == "projection.evaluate"
    (vector,) = document["vectors"]
    assert vector["args"]["spec"]["fields"][0]["transform"] == "day"
    assert vector["requirements"] == ["SCN003"]
    assert vector["expect"] == {"ok": True}

    assert runner.main(["inclusive-projection", "--vectors", str(tmp_path)]) == 1
    shown = capsys.readouterr().out
    assert shown.startswith("NOT PROVED  inclusive-projection")
    assert dump_json(document) in shown
    replay = ["replay", vector["id"], "--adapter", "reference:plain", "--vectors", str(tmp_path)]
    assert " ".join([*replay[:2], *replay[4:]]) in shown
    assert cli.main(replay) == ExitStatus.FAILURES
    monkeypatch.undo()
    assert cli.main(replay) == ExitStatus.CONFORMANT


SHOWN = (
    ("strict-projection", ("day", "timestamp", "GT"), ""),
    ("residual", ("bucket", "int", "EQ"), ""),
    ("specs-of-several-fields", ("timestamp", "GT"), "the residual and the predicate differ"),
    ("predicates-on-transforms", ("bucket", "long", "LT", "identity"), "the residual and the predicate differ"),
    ("metrics-never-lie", ("long", "LT"), ""),
    ("promotion-keeps-partitions", ("date", "timestamp", "month"), ""),
    ("promoted-bounds-are-read", ("date", "timestamp_ns"), ""),
    ("rewrite-not-of-a-leaf", ("double", "EQ"), ""),
    ("truncate-is-a-floor", ("decimal(P, S)",), ""),
    ("truncate-of-text", ("string",), ""),
    ("times-agree", ("timestamp_ns",), ""),
    ("truncated-lower-bounds", ("binary", "1"), ""),
)


@pytest.mark.parametrize(("id", "words", "claim"), SHOWN, ids=[id_ for id_, _, _ in SHOWN])
def test_the_vectors_of_theorems_have_the_answer_that_they_imply(
    id: str, words: tuple[str, ...], claim: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A theorem whose claims fail is shown by a vector that the code, which is right, passes."""

    def fail(world: World, condition: object, words: str = "") -> None:
        if claim in words and (not world.symbolic or condition):
            raise ClaimFailed(words)

    monkeypatch.setattr(World, "claim", fail)
    verdict = prove(one_case(id, *words))
    monkeypatch.undo()
    (path,) = counterexamples.write(verdict, tmp_path)
    assert cli.main(["replay", path.stem, "--vectors", str(tmp_path)]) == ExitStatus.CONFORMANT


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


def test_merged_paths_are_one_path_with_the_results_of_all() -> None:
    def state(world: World) -> None:
        x, evaluate = world.int("x"), stand_ins.evaluate if world.symbolic else lambda function: function
        found = evaluate(lambda low, row: low < row[1] and (row[1] < 9 or row[1] == 20))(3, {1: x})
        world.claim(implies(found, x <= 9), "a value that is accepted is above 9")

    verdict = prove(made(state))
    (failure,) = verdict.failures
    assert verdict.paths == 2, "the claim is true on one and false on the other"
    assert failure.values == {"x": 20}


def test_paths_that_raise_an_exception_are_not_merged() -> None:
    def partial(least: int, row: dict[int, int]) -> bool:
        if row[1] < least:
            raise ValueError("too low")
        return True

    def state(world: World) -> None:
        x, evaluate = world.int("x"), stand_ins.evaluate if world.symbolic else lambda function: function
        try:
            world.claim(evaluate(partial)(3, {1: x}))
        except ValueError:
            world.claim(x < 3)

    verdict = prove(made(state))
    assert verdict.failures == ()
    assert verdict.paths == 2


def is_value(type_: DecimalType, one: object) -> bool:
    try:
        check_value(type_, one)
    except SpecError:
        return False
    return True


def test_a_decimal_has_any_precision() -> None:
    def state(world: World, type_: DecimalType) -> None:
        limit = 10**type_.precision
        one = world.decimal("value", type_.precision, type_.scale)
        wider = DecimalType(type_.precision + 1, type_.scale) if type_.precision < 38 else type_
        world.claim(is_value(wider, one) and limit >= 10, "a value is not one of the wider type")
        world.claim(limit != 10**17, "the precision is 17")

    (failure,) = prove(attrs.evolve(made(state), cases=({"type_": DECIMAL},))).failures
    assert failure.values is not None
    assert failure.values["precision"] == 17
    assert "the precision is 17" in failure.replayed


def test_a_decimal_has_more_digits_than_a_lower_precision() -> None:
    def state(world: World, type_: DecimalType) -> None:
        one = world.decimal("value", type_.precision, type_.scale)
        lower = DecimalType(world.int("lower", 1, type_.precision), type_.scale)
        world.claim(is_value(lower, one), "a value is not one of the lower precision")

    (failure,) = prove(attrs.evolve(made(state), cases=({"type_": DECIMAL},))).failures
    assert failure.values is not None
    assert failure.values["lower"] < failure.values["precision"]
    assert "a value is not one of the lower precision" in failure.replayed


def test_the_places_of_doubles_are_their_order() -> None:
    """The lemma that lets symbols of doubles be places in an order: z3 proves it of its own doubles, by their bits."""
    bits = z3.BitVecs("a b", 64)
    a, b = (z3.fpBVToFP(one, z3.Float64()) for one in bits)
    first, second = (z3.If(one >= 0, one, -(one & 0x7FFF_FFFF_FFFF_FFFF)) for one in bits)
    numbers = z3.Not(z3.Or(z3.fpIsNaN(a), z3.fpIsNaN(b)))
    for of_doubles, of_places in ((a < b, first < second), (z3.fpEQ(a, b), first == second)):
        solver = z3.Solver()
        solver.add(numbers, of_doubles != of_places)
        assert solver.check() == z3.unsat
    for value in (0.0, 1.0, -1.0, 5e-324, -5e-324, 1.7976931348623157e308, float("inf"), float("-inf")):
        assert double_of_place(place_of_double(value)) == value
    assert place_of_double(-0.0) == place_of_double(0.0) == 0
    assert place_of_double(float("inf")) == LAST_PLACE


def test_the_runner_says_what_it_cannot_find(capsys: pytest.CaptureFixture[str]) -> None:
    assert runner.main(["no-such-theorem"]) == 2
    assert "no-such-theorem" in capsys.readouterr().err
    assert runner.main(["--list", "truncate-twice"]) == 0
    assert "TRN005" in capsys.readouterr().out


def test_several_processes_return_the_verdicts_of_one() -> None:
    chosen = [THEOREMS[name] for name in ("rewrite-not-of-a-leaf", "complements-are-complete", "unknown-counts")]
    one, two = (list(runner.verdicts_of_all(chosen, quick=True, seconds=60, jobs=jobs)) for jobs in (1, 2))
    assert [attrs.evolve(verdict, seconds=0) for verdict in one] == [
        attrs.evolve(verdict, seconds=0) for verdict in two
    ]
    assert [verdict.cases for verdict in two] == [len(each.selected_cases(quick=True)) for each in chosen]

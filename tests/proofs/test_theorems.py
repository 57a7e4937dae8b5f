"""The quick cases of every theorem are proved, and what is wrong is not."""

from __future__ import annotations

from pathlib import Path

import attrs
import pytest

from conformance import cli
from conformance.core.failures import ExitStatus
from conformance.core.json_text import dump_json
from spec_ref.expressions import transform_projection
from spec_ref.expressions.predicates import Operation
from spec_ref.requirements import register
from tools.proofs import __main__ as runner
from tools.proofs import counterexamples
from tools.proofs.explorer import Undecided
from tools.proofs.mutants import has_words
from tools.proofs.symbols import SymbolicInt
from tools.proofs.theorem import ALL, THEOREMS, VACUOUS, ClaimFailed, Theorem, World, prove
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
    ("strict-projection", ("day", "timestamp", "GT")),
    ("residual", ("bucket", "int", "EQ")),
    ("metrics-never-lie", ("long", "LT")),
    ("rewrite-not-of-a-leaf", ("double", "EQ")),
    ("truncate-is-a-floor", ("decimal(38, 10)",)),
    ("truncate-of-text", ("string",)),
    ("times-agree", ("timestamp_ns",)),
    ("truncated-lower-bounds", ("binary", "1")),
)


@pytest.mark.parametrize(("id", "words"), SHOWN, ids=[id_ for id_, _ in SHOWN])
def test_the_vectors_of_theorems_have_the_answer_that_they_imply(
    id: str, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A theorem whose claims all fail is shown by a vector that the code, which is right, passes."""

    def fail(world: World, condition: object, words: str = "") -> None:
        if not world.symbolic or condition:
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
    assert [verdict.cases for verdict in two] == [len(each.chosen(quick=True)) for each in chosen]

"""Mutants of the reference still fit its text, none survived unexplained, and some of them are killed here."""

from __future__ import annotations

import ast
import functools
import importlib
import tomllib
from collections.abc import Mapping

import pytest

from tools.mutants import commits, fast_paths, metrics, values
from tools.mutants.drawing import changes
from tools.mutants.judging import Judges
from tools.mutants.killing import CHECKS, Preloaded, dies, materialize
from tools.mutants.mutant import ROOT, SCORE, Mutant, all_mutants, equivalents, parse_module

SCORED = tomllib.loads(SCORE.read_text(encoding="utf-8"))
KILLED_BY = SCORED["killed_by"]
MUTANTS = {mutant.id: mutant for mutant in all_mutants()}

QUICK = {"metrics": metrics.metrics, "value": values.values, "commit": commits.commits}
"""Checks that take no time."""

EACH_KIND = [
    min(id_ for id_, killer in KILLED_BY.items() if killer.startswith(f"{kind}:"))
    for kind in sorted({killer.partition(":")[0] for killer in KILLED_BY.values()} - {"hangs", "test"})
]
"""One mutant for each kind of case that kills."""

SAMPLE = (
    EACH_KIND
    + sorted(id_ for id_, killer in KILLED_BY.items() if killer.startswith("vector:"))[:: max(1, len(KILLED_BY) // 14)]
    + sorted(id_ for id_, killer in KILLED_BY.items() if killer.partition(":")[0] in QUICK)[::6]
    + sorted(id_ for id_, killer in KILLED_BY.items() if killer.startswith("test:"))[::8]
)


@pytest.fixture(scope="module")
def preloaded() -> Preloaded:
    assert materialize()[0] == "done"
    return Preloaded()


def test_each_has_its_own_name() -> None:
    assert len(MUTANTS) == len(all_mutants())


@functools.cache
def dumped(file: str) -> str:
    """The syntax tree of a module as text."""
    return ast.dump(parse_module(file))


@pytest.mark.parametrize("id_", MUTANTS)
def test_a_mutant_fits_the_code_and_is_python(id_: str) -> None:
    mutant = MUTANTS[id_]
    tree, line, _ = mutant.change()
    compile(tree, mutant.file, "exec")
    assert ast.dump(tree) != dumped(mutant.file)
    assert line > 0


MOST_SURVIVORS, MOST_UNTRIED, MOST_EXPLAINED = 0, 0, 44
"""How many may survive, wait to be tried, or be explained. None may grow: a rule that loses its proof shows here."""


def test_every_mutant_is_accounted_for() -> None:
    reasons = equivalents()
    lists = [*KILLED_BY, *reasons, *SCORED["survivors"], *SCORED["not_tried"]]
    assert sorted(lists) == sorted(MUTANTS)
    assert [id_ for id_, reason in reasons.items() if not reason.endswith(".")] == []


def test_the_score_does_not_fall() -> None:
    assert len(SCORED["survivors"]) <= MOST_SURVIVORS
    assert len(SCORED["not_tried"]) <= MOST_UNTRIED
    assert len(equivalents()) <= MOST_EXPLAINED
    assert SCORED["stillborn"] == 0


def test_the_score_is_the_sum_of_what_it_reports() -> None:
    assert SCORED["mutants"] == len(MUTANTS)
    assert SCORED["killed"] == len(KILLED_BY)
    assert SCORED["equivalent"] == len(equivalents())
    assert (SCORED["survived"], SCORED["untried"]) == (len(SCORED["survivors"]), len(SCORED["not_tried"]))


def test_killers_are_vectors_and_checks_that_exist(preloaded: Preloaded) -> None:
    judges = Judges(preloaded)
    for killer in KILLED_BY.values():
        kind, _, name = killer.partition(":")
        assert kind in (*CHECKS, "vector", "test", "hangs")
        assert kind != "test" or is_test(name), killer
        assert kind != "vector" or name in preloaded.rows, killer
        assert kind not in CHECKS or name in judges.checks(kind), killer


def is_test(name: str) -> bool:
    """Whether there is a test of a name in the form of pytest; a file alone is one too."""
    file, _, function = name.partition("::")
    return f"def {function}" in (ROOT / file).read_text(encoding="utf-8")


def test_only_rules_got_wrong_by_hand_are_left_to_tests() -> None:
    assert [id_ for id_, killer in KILLED_BY.items() if killer.startswith("test:") and MUTANTS[id_].drawn] == []


@pytest.mark.parametrize("kind", QUICK)
def test_checks_hold_without_any_mutation(kind: str) -> None:
    assert [name for name, check in QUICK[kind]().items() if not check()] == []


@pytest.mark.parametrize("thresholds", [fast_paths.THRESHOLDS, fast_paths.UNEVEN], ids=["few", "uneven"])
def test_thresholds_of_the_fast_ways_are_constants(
    thresholds: Mapping[str, Mapping[str, int]],
) -> None:
    with fast_paths.force_fast_paths(thresholds):
        for module, values in thresholds.items():
            assert {name: getattr(importlib.import_module(module), name) for name in values} == values


def test_a_check_that_is_refused_nothing_does_not_hold() -> None:
    assert not values.is_refused(lambda: None)
    with pytest.raises(ZeroDivisionError):
        values.is_refused(lambda: 1 // 0)


@pytest.mark.parametrize("id_", SAMPLE)
def test_a_vector_or_check_kills_the_mutant(id_: str, preloaded: Preloaded) -> None:
    assert dies(preloaded, MUTANTS[id_], KILLED_BY[id_])


def test_a_mutant_that_changes_nothing_is_not_killed(preloaded: Preloaded) -> None:
    """The vectors that kill others do not fail by themselves."""
    idle = Mutant("idle", "spec_ref/hashing.py", "import math", "import math\nIDLE = 1", "nothing")
    assert [KILLED_BY[id_] for id_ in EACH_KIND if dies(preloaded, idle, KILLED_BY[id_])] == []


def test_drawn_mutations_leave_messages_and_annotations_alone() -> None:
    source = '''
"""A docstring > 1."""
LIMIT: dict[int, "x > 2"] = {}
def f(a: int = 1) -> bool:
    """Whether a > 3."""
    if a > 4 and a != 5:
        raise spec_error("C", f"{a > 6}", found=a > 7)
    return not a
Kind: TypeAlias = int | str
'''
    kinds = [(change.kind, source.encode()[change.start : change.end].decode()) for change in changes(source)]
    assert ("compares otherwise", ">") in kinds
    assert not any(text == "|" for _, text in kinds)
    assert ("a refusal dropped", 'raise spec_error("C", f"{a > 6}", found=a > 7)') in kinds
    assert sorted(text for kind, text in kinds if kind == "a constant off by one") == ["1", "4", "5"]

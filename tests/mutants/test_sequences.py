"""Faults of composition: each applies to its code, and the recorded scripts kill some of them again."""

from __future__ import annotations

import ast
from dataclasses import replace

import pytest

from conformance.scripts import parse_script
from conformance.scripts.model import check_script
from tools.mutants.mutant import Mutant, parse_module
from tools.mutants.sequences import find_fault, killers, kills, mutants

EVERY = {one.id: one for one in mutants()}
SAMPLE = sorted(EVERY)[:: len(EVERY) // 4]


def test_each_has_a_separate_id() -> None:
    assert len(EVERY) == len(mutants())


def test_each_has_a_script_that_kills_it() -> None:
    known = killers()
    assert sorted(known) == sorted(EVERY)
    for script in known.values():
        parse_script(script)
        check_script(script)


@pytest.mark.parametrize("mutant", EVERY.values(), ids=EVERY.keys())
def test_a_mutant_fits_the_code(mutant: Mutant) -> None:
    assert ast.dump(mutant.tree()) != ast.dump(parse_module(mutant.file))


@pytest.mark.parametrize("id_", SAMPLE)
def test_a_mutant_is_killed_by_its_script(id_: str) -> None:
    assert kills(EVERY[id_], killers()[id_])


def test_a_mutant_that_changes_nothing_is_not_killed() -> None:
    id_ = SAMPLE[0]
    mutant = EVERY[id_]
    idle = replace(mutant, id="idle", new=mutant.old)
    assert not kills(idle, killers()[id_])
    assert find_fault(killers()[id_]) is None

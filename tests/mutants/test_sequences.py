"""Faults of composition: each fits the code that it changes, and one that a scenario killed is killed by it again."""

from __future__ import annotations

import pytest

from tools.mutants.mutant import Mutant
from tools.mutants.sequences import fight, killers, mutants

MINIMUM = 40
EVERY = {one.id: one for one in mutants()}


def test_there_are_many() -> None:
    assert len(EVERY) == len(mutants()) >= MINIMUM
    assert killers().keys() <= EVERY.keys()


@pytest.mark.parametrize("mutant", EVERY.values(), ids=EVERY.keys())
def test_the_text_of_a_mutant_is_in_its_file_once(mutant: Mutant) -> None:
    assert mutant.source()


def test_a_mutant_is_killed_by_what_killed_it() -> None:
    id_, seed = min(killers().items(), key=lambda one: one[1])
    assert fight(EVERY[id_], seed) == seed

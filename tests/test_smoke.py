"""The vectors catch every adapter of the smoke kit: those that are wrong in exactly one way."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache

import pytest

from conformance import smoke, vectors
from conformance.adapters import reference
from conformance.judge import Outcome, judge
from conformance.protocol import Ok, Refused
from spec_ref.errors import SpecError

MINIMUM = 60


@cache
def _vectors() -> tuple[vectors.Vector, ...]:
    return vectors.load(vectors.shipped())


def _outcomes(operation: str, answer: smoke.Operation) -> Iterator[tuple[str, Outcome]]:
    """The verdicts on one operation; only `SpecError` counts as a refusal, so that a broken fault breaks the test."""
    for vector in _vectors():
        if vector.operation.name != operation:
            continue
        try:
            given: Ok | Refused = Ok(answer(vector.args))
        except SpecError as error:
            given = Refused("invalid", str(error))
        yield vector.id, judge(vector, given).outcome


def catching(fault: smoke.Fault) -> list[str]:
    """The ids of the vectors that a fault fails."""
    faulty = smoke.with_fault(reference.operations(), fault)
    return [id_ for id_, outcome in _outcomes(fault.operation, faulty[fault.operation]) if outcome is Outcome.FAILED]


def test_the_kit_has_at_least_sixty_faults() -> None:
    assert len(smoke.faults()) >= MINIMUM


@pytest.mark.parametrize("operation", sorted({fault.operation for fault in smoke.faults().values()}))
def test_the_reference_without_a_fault_passes_what_the_kit_is_held_against(operation: str) -> None:
    outcomes = dict(_outcomes(operation, reference.operations()[operation]))
    assert outcomes
    assert [id_ for id_, outcome in outcomes.items() if outcome is not Outcome.PASSED] == []


@pytest.mark.parametrize("name", smoke.faults())
def test_vectors_catch_the_fault(name: str, record_property: Callable[[str, object], None]) -> None:
    caught = catching(smoke.faults()[name])
    record_property("caught_by", " ".join(caught))
    assert caught, f"no vector of the operation notices the fault {name}"

"""The vectors catch every adapter in the kit of faulty adapters, each of which is wrong in exactly one way."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache

import pytest
from shipped_vectors import shipped_vectors

from conformance import vectors
from conformance.adapter_sdk.script_steps import WRITING
from conformance.adapter_sdk.serve import Invalid, Unsupported
from conformance.engines.reference import adapter as reference
from conformance.operations import protocol
from conformance.operations.protocol import Ok, Refused
from conformance.runner import expectations
from conformance.runner.judge import Outcome, judge_answer
from conformance.runner.scratch_dir import table_folders
from conformance.vectors.golden_tables import materialize_for
from spec_ref.core.errors import SpecError
from tests import faulty_adapters
from tests.faulty_adapters import made
from tests.faulty_adapters.rows import remembered
from tools.proofs import faults


@cache
def _vectors() -> tuple[vectors.Vector, ...]:
    found = shipped_vectors()
    materialize_for(found)
    limits = [
        deviation
        for deviation in expectations.load_deviations("known-deviations", {vector.id for vector in found}).deviations
        if deviation.engine == "reference"
    ]
    known = {id_ for deviation in limits for id_ in deviation.vectors}
    return tuple(vector for vector in found if vector.id not in known)


def _outcomes(operation: str, answer: faulty_adapters.Operation, code: str = "") -> Iterator[tuple[str, Outcome]]:
    """The verdicts on one operation; only these count as refusals, so that a broken fault breaks the test."""
    for vector in reversed(_vectors()):  # the tables of scan-planning are read faster than those of reading
        if vector.operation.name != operation or (code and code not in vector.requirements):
            continue
        yield vector.id, _outcome(vector, answer)


def _outcome(vector: vectors.Vector, answer: faulty_adapters.Operation) -> Outcome:
    with table_folders([vector]) as (placed,):
        try:
            given: Ok | Refused | protocol.Unsupported = Ok(answer(placed.args))
        except (SpecError, Invalid) as error:
            given = Refused("invalid", str(error))
        except Unsupported as error:
            given = protocol.Unsupported(str(error))
        return judge_answer(placed, given).outcome


@cache
def _passes_without_fault(id_: str) -> bool:
    """Whether the reference, without a fault, passes a vector."""
    (vector,) = (vector for vector in _vectors() if vector.id == id_)
    return _outcome(vector, reference.operations()[vector.operation.name]) is Outcome.PASSED


READING = ("table.read", "scan.plan")


def catching(fault: faulty_adapters.Fault, code: str = "") -> str | None:
    """The id of a vector that a fault fails; None if there is none.

    Args:
        fault: the fault.
        code: a requirement that the vector names; empty for any vector of the operation.
    """
    answer = faulty_adapters.with_fault(reference.operations(), fault)[fault.operation]
    failing = (id_ for id_, outcome in _outcomes(fault.operation, answer, code) if outcome is Outcome.FAILED)
    return next(failing, None)


OPERATIONS = {fault.operation for fault in faulty_adapters.faults().values()}


@pytest.mark.parametrize("operation", sorted(OPERATIONS - WRITING))
def test_the_reference_without_a_fault_passes_what_the_kit_is_held_against(operation: str) -> None:
    right = remembered(operation) if operation in READING else reference.operations()[operation]
    outcomes = dict(_outcomes(operation, right))
    assert outcomes
    assert [id_ for id_, outcome in outcomes.items() if outcome not in (Outcome.PASSED, Outcome.UNSUPPORTED)] == []


@pytest.mark.parametrize("name", faulty_adapters.faults())
def test_vectors_catch_the_fault(name: str, record_property: Callable[[str, object], None]) -> None:
    fault, broken = faulty_adapters.faults()[name], faults().get(name) or made.CODES.get(name, [])
    caught = {code: catching(fault, code) for code in broken or [""]}
    record_property("caught_by", " ".join(dict.fromkeys(filter(None, caught.values()))))
    missed = [code for code, id_ in caught.items() if id_ is None]
    if fault.operation in WRITING:  # too slow to run all of its vectors without a fault
        assert [id_ for id_ in caught.values() if id_ is not None and not _passes_without_fault(id_)] == []
    assert not missed, f"no vector (of {', '.join(missed) or 'its operation'}) notices the fault {name}"

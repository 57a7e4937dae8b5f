"""Faulty adapters: each is wrong in exactly one way.

A `Fault` changes what one operation of the reference answers, as a real implementation once got it wrong or easily
could. The kit proves the vectors: a fault that no vector catches is a hole in them. Each faulty adapter also runs as a
process, ``python -m tests.faulty_adapters NAME``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from conformance.adapter_sdk.serve import Arguments
from spec_ref.core.records import record

Operation: TypeAlias = Callable[[Arguments], Any]
"""From the arguments of a request to the answer in exchange form; raises `SpecError` for invalid input."""


@record
class Fault:
    """One way of being wrong."""

    name: str
    operation: str
    """The operation whose answers it changes; all others are the reference's."""

    wrong: Callable[[Arguments, Operation], Any]
    """Answers a request wrongly where the fault shows, given the right operation for everywhere else."""


def faults() -> dict[str, Fault]:
    """All faults by name."""
    from tests.faulty_adapters import (
        bounds,
        commits,
        encryption,
        expressions,
        hashing,
        json_values,
        made,
        manifests,
        metadata,
        planning,
        puffin,
        rows,
        single_values,
        transforms,
        types,
        writing,
    )

    every = (
        *hashing.FAULTS,
        *transforms.FAULTS,
        *single_values.FAULTS,
        *json_values.FAULTS,
        *made.FAULTS,
        *bounds.FAULTS,
        *types.FAULTS,
        *metadata.FAULTS,
        *manifests.FAULTS,
        *puffin.FAULTS,
        *encryption.FAULTS,
        *expressions.FAULTS,
        *commits.FAULTS,
        *planning.FAULTS,
        *rows.FAULTS,
        *writing.FAULTS,
    )
    by_name = {fault.name: fault for fault in every}
    if len(by_name) != len(every):
        raise AssertionError("two faults share a name")
    return by_name


def with_fault(operations: dict[str, Operation], fault: Fault) -> dict[str, Operation]:
    """The operations of an adapter that has ``fault``."""
    right = operations[fault.operation]
    return {**operations, fault.operation: lambda arguments: fault.wrong(arguments, right)}

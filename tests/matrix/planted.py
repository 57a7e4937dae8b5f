"""Producers and consumers with one fault each, for tests of the matrix and of the properties."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from conformance.adapter_sdk.serve import Arguments
from conformance.engines.reference import adapter as reference
from conformance.runner.adapter_interface import InProcess
from conformance.runner.execution import Target
from tests.faulty_adapters import faults, with_fault

Operation = Callable[[Arguments], Any]
Wrong = Callable[[Arguments, Operation], Any]


def adapter(name: str = "planted", **wrong: Wrong) -> InProcess:
    """The reference, with some operations answered otherwise: ``table_read`` and ``table_write``."""
    operations = reference.operations()
    for given, change in wrong.items():
        operation = given.replace("_", ".")
        right = operations[operation]
        operations[operation] = lambda arguments, change=change, right=right: change(arguments, right)  # type: ignore[misc]
    return InProcess(name, reference.implementation(), operations, reference.REFUSALS)


def planted(name: str = "planted", **wrong: Wrong) -> Target:
    """Such an adapter as a target."""
    return Target(name, lambda: adapter(name, **wrong))


def faulty_adapter(name: str) -> Target:
    """An faulty adapter of the kit as a target."""
    operations = with_fault(reference.operations(), faults()[name])
    return Target(name, lambda: InProcess(name, reference.implementation(), operations, reference.REFUSALS))

"""The operations that an implementation can be asked to run, and how their answers are compared.

They are defined by the families, the folders beside this module. The schemas of the arguments and the answer are in
the published schema of the protocol, under ``NAME.args`` and ``NAME.answer``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from attrs import frozen

from conformance.core.failures import UsageError
from conformance.operations.families import Family, families
from conformance.operations.protocol import message_violation

if TYPE_CHECKING:
    from conformance.operations.comparison import Comparator

READER = frozenset({"reader"})
WRITER = frozenset({"writer"})
BOTH = READER | WRITER
"""The roles in which an implementation performs an operation, as the register names them (``binds``)."""

ROLES = {"reader": READER, "writer": WRITER, "committer": WRITER, "table": BOTH}
"""The roles of operations in which each party that the register binds can break a requirement."""


@frozen
class ProtocolOperation:
    """An operation that the spec defines and an implementation performs."""

    name: str
    family: Family
    roles: frozenset[str]
    """Whether a reader, a writer, or both perform it: a requirement that binds only the other role does not
    explain a difference.
    """

    description: str = ""
    """What the operation does, in one sentence."""

    @property
    def compare(self) -> Comparator:
        """The comparison of an answer with the expected one; the modules that it needs are imported on first use."""
        return _comparators(self.family)[self.name]

    def answer_violation(self, value: Any) -> str | None:
        """Describe what is wrong with the form of an answer; None if it is valid."""
        return message_violation(f"{self.name}.answer", value)


@cache
def _comparators(family: Family) -> Mapping[str, Comparator]:
    found: Mapping[str, Comparator] = (
        family.load_module("comparators").COMPARATORS if family.has_module("comparators") else {}
    )
    for name in sorted(found.keys() ^ family.operations.keys()):
        missing = "schema.json" if name in found else "COMPARATORS of comparators.py"
        raise UsageError(f"{family.path}: {name}: not in {missing}; expected a comparator for each operation")
    return found


def _operations(family: Family) -> Iterator[ProtocolOperation]:
    for name, operation in family.operations.items():
        yield ProtocolOperation(name, family, frozenset(operation["roles"]), operation["description"])


OPERATIONS: dict[str, ProtocolOperation] = {
    operation.name: operation for family in families() for operation in _operations(family)
}
"""All operations by name, family by family."""

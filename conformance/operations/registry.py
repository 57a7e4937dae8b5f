"""The operations that can be asked of an implementation, and how the answers of each are compared.

They are those of the families, the folders beside this module. The form of the arguments and of the answer is in the
published schema of the protocol, under ``NAME.args`` and ``NAME.answer``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from attrs import frozen

from conformance.core.failures import UsageError
from conformance.operations.comparison import Comparator
from conformance.operations.families import Family, families
from conformance.operations.protocol import complaint
from conformance.operations.schemas import protocol_schema

READER = frozenset({"reader"})
WRITER = frozenset({"writer"})
BOTH = READER | WRITER
"""The roles in which an implementation does an operation, as the register calls them (``binds``)."""

ROLES = {"reader": READER, "writer": WRITER, "committer": WRITER, "table": BOTH}
"""The roles of operations in which each party that the register binds can break a requirement."""


@frozen
class Operation:
    """Something that the spec defines and an implementation does."""

    name: str
    compare: Comparator
    roles: frozenset[str]
    """Whether it is done by a reader, by a writer, or by both: a requirement that binds only the other role is no
    reason for a difference.
    """

    description: str = ""
    """What is asked, in a sentence."""

    @property
    def args_schema(self) -> dict[str, Any]:
        """The JSON Schema of the arguments; its references are into the protocol's schema."""
        schema: dict[str, Any] = protocol_schema()["$defs"][f"{self.name}.args"]
        return schema

    @property
    def answer_schema(self) -> dict[str, Any]:
        """The JSON Schema of the answer; its references are into the protocol's schema."""
        schema: dict[str, Any] = protocol_schema()["$defs"][f"{self.name}.answer"]
        return schema

    def args_complaint(self, args: Any) -> str | None:
        """What is wrong with the form of arguments; None when nothing is."""
        return complaint(f"{self.name}.args", args)

    def answer_complaint(self, value: Any) -> str | None:
        """What is wrong with the form of an answer; None when nothing is."""
        return complaint(f"{self.name}.answer", value)

    def expected_complaint(self, value: Any) -> str | None:
        """What is wrong with the form of what a vector expects; None when nothing is.

        It has the form of an answer, but for operations whose expectations say more: those have ``NAME.expected``.
        """
        form = f"{self.name}.expected"
        return complaint(form, value) if form in protocol_schema()["$defs"] else self.answer_complaint(value)


def _operations(family: Family) -> Iterator[Operation]:
    found: dict[str, Comparator] = family.load("comparators").COMPARATORS if family.has("comparators") else {}
    for name in sorted(found.keys() ^ family.operations.keys()):
        missing = "schema.json" if name in found else "COMPARATORS of comparators.py"
        raise UsageError(f"{family.path}: {name}: not in {missing}; expected what compares each operation")
    for name, operation in family.operations.items():
        yield Operation(name, found[name], frozenset(operation["roles"]), operation["description"])


OPERATIONS: dict[str, Operation] = {
    operation.name: operation for family in families() for operation in _operations(family)
}
"""All operations by name, family by family."""

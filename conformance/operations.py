"""The operations that can be asked of an implementation, and how the answers of each are compared.

The form of the arguments and of the answer is in the published schema of the protocol, under ``NAME.args`` and
``NAME.answer``.
"""

from __future__ import annotations

from typing import Any

from attrs import frozen

from conformance.compare import (
    BOUND,
    RESULT,
    Comparator,
    exact,
    hexadecimal,
    json_form,
    transform_result,
    type_argument,
    typed,
)
from conformance.compare_manifests import manifest_file, manifest_form, manifest_list_file, manifest_list_form
from conformance.compare_puffin import deletion_vector, puffin_file, puffin_form, theta_sketch
from conformance.compare_rows import planned_files, table_rows
from conformance.compare_tables import evolved_schema, evolved_spec, table_form, table_json, unordered
from conformance.compare_writing import written_table
from conformance.protocol import complaint, protocol_schema

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


OPERATIONS: dict[str, Operation] = {
    operation.name: operation
    for operation in (
        Operation("hash", exact, BOTH),
        Operation("transform", typed(transform_result, RESULT), BOTH),
        Operation("single-value.encode", hexadecimal, WRITER),
        Operation("single-value.decode", typed(type_argument), READER),
        Operation("json-value.encode", json_form, WRITER),
        Operation("json-value.decode", hexadecimal, READER),
        Operation("json-value.round-trip", json_form, BOTH),
        Operation("bound.encode", hexadecimal, WRITER),
        Operation("bound.decode", typed(type_argument, BOUND), READER),
        Operation("bound.truncate", typed(type_argument), WRITER),
        Operation("type.parse", exact, BOTH),
        Operation("metadata.read", table_form, READER),
        Operation("metadata.write", table_json, WRITER),
        Operation("metadata.upgrade", table_form, WRITER),
        Operation("metadata.check", unordered(), BOTH),
        Operation("schema.evolve", evolved_schema, WRITER),
        Operation("partition-spec.evolve", evolved_spec, WRITER),
        Operation("retention.expire", unordered("snapshots", "refs"), WRITER),
        Operation("name-mapping.apply", unordered(), READER),
        Operation("manifest.read", manifest_form, READER),
        Operation("manifest.write", manifest_file, WRITER),
        Operation("manifest.check", unordered(), BOTH),
        Operation("manifest-list.read", manifest_list_form, READER),
        Operation("manifest-list.write", manifest_list_file, WRITER),
        Operation("manifest-list.check", unordered(), BOTH),
        Operation("puffin.read", puffin_form, READER),
        Operation("puffin.write", puffin_file, WRITER),
        Operation("dv.decode", exact, READER),
        Operation("dv.encode", deletion_vector, WRITER),
        Operation("theta.decode", exact, READER),
        Operation("theta.encode", theta_sketch, WRITER),
        Operation("expression.evaluate", exact, READER),
        Operation("metrics.evaluate", exact, READER),
        Operation("projection.evaluate", exact, READER),
        Operation("residual.evaluate", exact, READER),
        Operation("summaries.evaluate", exact, READER),
        Operation("table.read", table_rows, READER),
        Operation("scan.plan", planned_files, READER),
        Operation("commit.replay", unordered(), WRITER),
        Operation("table.write", written_table, WRITER),
        Operation("table.change", written_table, WRITER),
    )
}
"""All operations by name."""

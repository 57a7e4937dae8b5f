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


@frozen
class Operation:
    """Something that the spec defines and an implementation does."""

    name: str
    compare: Comparator

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
        Operation("hash", exact),
        Operation("transform", typed(transform_result, RESULT)),
        Operation("single-value.encode", hexadecimal),
        Operation("single-value.decode", typed(type_argument)),
        Operation("json-value.encode", json_form),
        Operation("json-value.decode", hexadecimal),
        Operation("json-value.round-trip", json_form),
        Operation("bound.encode", hexadecimal),
        Operation("bound.decode", typed(type_argument, BOUND)),
        Operation("bound.truncate", typed(type_argument)),
        Operation("type.parse", exact),
        Operation("metadata.read", table_form),
        Operation("metadata.write", table_json),
        Operation("metadata.upgrade", table_form),
        Operation("metadata.check", unordered()),
        Operation("schema.evolve", evolved_schema),
        Operation("partition-spec.evolve", evolved_spec),
        Operation("retention.expire", unordered("snapshots", "refs")),
        Operation("name-mapping.apply", unordered()),
        Operation("manifest.read", manifest_form),
        Operation("manifest.write", manifest_file),
        Operation("manifest.check", unordered()),
        Operation("manifest-list.read", manifest_list_form),
        Operation("manifest-list.write", manifest_list_file),
        Operation("manifest-list.check", unordered()),
        Operation("puffin.read", puffin_form),
        Operation("puffin.write", puffin_file),
        Operation("dv.decode", exact),
        Operation("dv.encode", deletion_vector),
        Operation("theta.decode", exact),
        Operation("theta.encode", theta_sketch),
        Operation("expression.evaluate", exact),
        Operation("metrics.evaluate", exact),
        Operation("projection.evaluate", exact),
        Operation("residual.evaluate", exact),
        Operation("summaries.evaluate", exact),
        Operation("table.read", table_rows),
        Operation("scan.plan", planned_files),
        Operation("commit.replay", unordered()),
        Operation("table.write", written_table),
    )
}
"""All operations by name."""

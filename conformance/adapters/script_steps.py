"""What adapters of writers share: following a script of ``table.write`` step by step.

A writer is an object with a method for each operation that it has, by its name with ``_`` for ``-``. Only the standard
library is imported.
"""

from __future__ import annotations

from typing import Any, Protocol

from conformance.adapters.serve import Unsupported

Json = Any
Arguments = dict[str, Any]
MAIN = "main"

ROW_OPERATIONS = frozenset(
    {"append", "overwrite", "delete", "delete-equal", "update", "merge", "upsert", "compact", "rewrite-manifests"}
)
"""The operations that write rows: to main, or to the branch that they name."""


class Writer(Protocol):
    """A table that is being written."""

    def snapshot(self, ref: str) -> int | None:
        """The id of the snapshot that a branch has; None where it has none."""

    def metadata(self) -> str:
        """The location of the metadata file."""


def follow(writer: Writer, script: Json, name: str) -> Json:
    """Let a writer do what a script says; the answer of ``table.write``.

    Args:
        writer: has a method for each operation.
        script: in JSON.
        name: of the engine, for people.

    Raises:
        Unsupported: the writer has no such operation.
    """
    snapshots: list[int | None] = []
    for operation in script["operations"]:
        do = getattr(writer, operation["op"].replace("-", "_"), None)
        if do is None:
            raise Unsupported(f"{name} does not {operation['op']}")
        at = operation.get("to") if operation["op"] == "rollback" else operation.get("at")
        if at is None:
            do(operation)
        else:  # an operation that names a step is told the snapshot
            do({**operation, "snapshot": snapshots[at]})
        snapshots.append(writer.snapshot(operation.get("branch", MAIN)))
    return {"metadata": writer.metadata(), "snapshots": [None if id_ is None else str(id_) for id_ in snapshots]}


def fields_of(schema: Json) -> list[Json]:
    """The columns of a schema in JSON, as an engine takes it: with an id."""
    fields: list[Json] = schema["fields"]
    return fields


def same_columns(rows: list[dict[str, Json]]) -> list[str]:
    """The names of the columns that all rows give.

    Raises:
        Unsupported: rows give different ones, so that a statement of the engine does not say it.
    """
    names = list(rows[0])
    if any(row.keys() != rows[0].keys() for row in rows):
        raise Unsupported("the rows of one statement give the same columns")
    return names


def with_ids(type_: Json, value: Json) -> Json:
    """A literal, with structs by field id as in exchange form."""
    if value is None or not isinstance(type_, dict):
        return value
    if type_["type"] == "struct":
        given = {field["name"]: field for field in type_["fields"]}
        return {str(given[name]["id"]): with_ids(given[name]["type"], item) for name, item in value.items()}
    if type_["type"] == "list":
        return [with_ids(type_["element"], item) for item in value]
    return {f"{part}s": [with_ids(type_[part], item) for item in value[f"{part}s"]] for part in ("key", "value")}

"""Tables that an adapter writes by a script, and the expected results of reading them, by the model.

The rows of the model are objects with field names; an answer of ``table.read`` has nested structs by field id, and the
writer assigns the ids. Therefore requests use the types of the written table, after a check that they match those of
the script.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from attrs import frozen

from conformance.adapter_sdk.table_requests import columns, local_path, metadata
from conformance.operations.comparison import read_type, same_json
from conformance.operations.protocol import Answer, Ok
from conformance.operations.registry import OPERATIONS
from conformance.operations.writing.comparators import without_ids
from conformance.operations.writing.literals import with_ids
from conformance.runner.adapter_interface import Adapter, Request
from conformance.scripts.model import run_model
from conformance.scripts.states import Rows, ScriptState
from conformance.vectors import Vector
from spec_ref.core.json_types import Json

READ = OPERATIONS["table.read"]


class OtherSchema(Exception):
    """The columns of the written table differ from those of the script."""


@frozen
class ScriptedTable:
    """The table that an adapter wrote by a script."""

    script: Json
    states: tuple[ScriptState, ...]
    metadata: str
    snapshots: tuple[str | None, ...]
    """The current snapshot of the written branch after each operation; empty if the adapter does not report them."""

    def reading(self, *, ref: str | None = None, snapshot: str | None = None) -> dict[str, Json]:
        """Return the arguments that read a branch, a tag, a snapshot, or the current table."""
        args: dict[str, Json] = {"table": self.metadata}
        if snapshot is not None:
            args["snapshot"] = snapshot
        elif ref is not None:
            args["ref"] = ref
        return {**args, "types": {one["name"]: one["type"] for one in columns({**args, "types": {}})}}

    def has_snapshot(self, snapshot: str) -> bool:
        """Return whether the metadata still has a snapshot."""
        return self.sequence_number(snapshot) is not None

    def sequence_number(self, snapshot: str) -> int | None:
        """Return the sequence number of a snapshot; None if the metadata does not have it."""
        for one in metadata(self.metadata).get("snapshots") or ():
            if str(one["snapshot-id"]) == snapshot:
                return int(one.get("sequence-number", 0))
        return None


def write_script(adapter: Adapter, script: Json, folder: Path) -> Answer | ScriptedTable:
    """Let an adapter write a table by a script.

    Args:
        adapter: a started adapter.
        script: a valid script, in JSON.
        folder: the folder of the table; it must not exist.

    Returns:
        The table, or the answer if there is no table.
    """
    states = run_model(script)
    folder.parent.mkdir(parents=True, exist_ok=True)
    (answer,) = adapter.ask([Request("table.write", {"table": str(folder), "script": script})])
    if not isinstance(answer, Ok):
        return answer
    location = local_path(answer.value["metadata"])
    return ScriptedTable(script, states, location, tuple(answer.value.get("snapshots", ())))


def expected_rows(rows: Rows | None, types: dict[str, Json]) -> dict[str, Json]:
    """Return the expected answer of ``table.read`` for some rows of the model, with the types of the written table.

    Raises:
        OtherSchema: the table does not have the columns of the script.
    """
    if rows is None:
        return {"rows": []}
    check_columns(rows.fields, types)
    read = {name: read_type(type_) for name, type_ in types.items()}
    return {"rows": [{name: with_ids(type_, row.values[name]) for name, type_ in read.items()} for row in rows.rows]}


def check_columns(fields: Iterable[Json], types: dict[str, Json]) -> None:
    """Check that a table has some columns, in their order; field ids may differ.

    Raises:
        OtherSchema: the columns differ; the message names them.
    """
    wanted = {field["name"]: without_ids(field["type"]) for field in fields}
    found = {name: without_ids(type_) for name, type_ in types.items()}
    if list(wanted) != list(found):
        raise OtherSchema(f"the columns are {', '.join(found)}, expected {', '.join(wanted)}")
    for name, type_ in wanted.items():
        if not same_json(type_, found[name]):
            raise OtherSchema(f"the type of {name} is {found[name]}, expected {type_}")


def readings(table: ScriptedTable, *, history: bool = False) -> Iterator[tuple[str, dict[str, Json], dict[str, Json]]]:
    """Yield all ways to read a table: a label, the arguments, and the expected answer.

    Args:
        table: the table.
        history: whether to include the snapshots of all operations that still exist.

    Raises:
        OtherSchema: the columns of the table differ from those of the script.
    """
    last = table.states[-1]
    args = table.reading()
    yield "current", args, expected_rows(last.refs.get("main"), args["types"])
    for name, rows in last.refs.items():
        if name != "main":
            args = table.reading(ref=name)
            yield f"ref {name}", args, expected_rows(rows, args["types"])
    for index, state in enumerate(table.states if history else ()):
        snapshot = table.snapshots[index] if index < len(table.snapshots) else None
        if state.changed and snapshot is not None and table.has_snapshot(snapshot):
            args = table.reading(snapshot=snapshot)
            yield f"after operation {index}", args, expected_rows(state.written, args["types"])


def make_vector(id_: str, args: dict[str, Json], expected: Json, version: int) -> Vector:
    """Make a vector for a reading, so that its answer is judged like that of any vector."""
    return Vector(
        id=id_,
        suite="matrix",
        operation=READ,
        section="",
        requirements=(),
        versions=(version,),
        args=args,
        permitted=(Ok(expected),),
        expect={"ok": expected},
    )

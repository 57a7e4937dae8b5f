"""Tables that an adapter wrote by a script: writing them, and what reading them has to give, by the model.

The rows of the model are objects by names; an answer of ``table.read`` has nested structs by field id, and the ids are
the writer's to give. So the types of what is asked are those of the table that was written, once they are known to be
those of the script.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from attrs import frozen

from conformance.adapter_sdk.table_requests import columns, local_path, metadata
from conformance.core.json_types import Json
from conformance.operations.comparison import read_type, same_json
from conformance.operations.protocol import Answer, Ok
from conformance.operations.registry import OPERATIONS
from conformance.operations.writing.comparators import nameless
from conformance.operations.writing.literals import with_ids
from conformance.runner.adapter_interface import Adapter, Request
from conformance.scripts.model import run_model
from conformance.scripts.states import Rows, TableState
from conformance.vectors import Vector

READ = OPERATIONS["table.read"]


class OtherSchema(Exception):
    """The table that was written has not the columns that the script makes."""


@frozen
class ScriptedTable:
    """What an adapter made of a script."""

    script: Json
    states: tuple[TableState, ...]
    metadata: str
    snapshots: tuple[str | None, ...]
    """The current snapshot of what each operation wrote to, after it; empty where the adapter does not tell."""

    def reading(self, *, ref: str | None = None, snapshot: str | None = None) -> dict[str, Json]:
        """The arguments that read a branch, a tag, a snapshot, or the table as it is."""
        args: dict[str, Json] = {"table": self.metadata}
        if snapshot is not None:
            args["snapshot"] = snapshot
        elif ref is not None:
            args["ref"] = ref
        return {**args, "types": {one["name"]: one["type"] for one in columns({**args, "types": {}})}}

    def has_snapshot(self, snapshot: str) -> bool:
        """Whether the metadata has a snapshot still."""
        return self.sequence_number(snapshot) is not None

    def sequence_number(self, snapshot: str) -> int | None:
        """The sequence number of a snapshot; None where it is not there."""
        for one in metadata(self.metadata).get("snapshots") or ():
            if str(one["snapshot-id"]) == snapshot:
                return int(one.get("sequence-number", 0))
        return None


def write_script(adapter: Adapter, script: Json, folder: Path) -> Answer | ScriptedTable:
    """Let an adapter write a table by a script.

    Args:
        adapter: one that was started.
        script: in its JSON; it has to make sense.
        folder: where the table goes; it must not exist.

    Returns:
        The table, or the answer where there is none.
    """
    states = run_model(script)
    folder.parent.mkdir(parents=True, exist_ok=True)
    (answer,) = adapter.ask([Request("table.write", {"table": str(folder), "script": script})])
    if not isinstance(answer, Ok):
        return answer
    location = local_path(answer.value["metadata"])
    return ScriptedTable(script, states, location, tuple(answer.value.get("snapshots", ())))


def expected_rows(rows: Rows | None, types: dict[str, Json]) -> dict[str, Json]:
    """The answer of ``table.read`` that some rows of the model make, in the types of the table that was written.

    Raises:
        OtherSchema: the table does not have the columns of the script.
    """
    if rows is None:
        return {"rows": []}
    check_columns(rows.fields, types)
    read = {name: read_type(type_) for name, type_ in types.items()}
    return {"rows": [{name: with_ids(type_, row.values[name]) for name, type_ in read.items()} for row in rows.rows]}


def check_columns(fields: Iterable[Json], types: dict[str, Json]) -> None:
    """Make sure that a table has some columns, in their order; field ids may be others.

    Raises:
        OtherSchema: it has not; tells which.
    """
    wanted = {field["name"]: nameless(field["type"]) for field in fields}
    found = {name: nameless(type_) for name, type_ in types.items()}
    if list(wanted) != list(found):
        raise OtherSchema(f"the columns are {', '.join(found)}, and by the script {', '.join(wanted)}")
    for name, type_ in wanted.items():
        if not same_json(type_, found[name]):
            raise OtherSchema(f"the column {name} is {found[name]}, and by the script {type_}")


def readings(table: ScriptedTable, *, history: bool = False) -> Iterator[tuple[str, dict[str, Json], dict[str, Json]]]:
    """What can be read of a table: a label, the arguments, and the answer that has to come.

    Args:
        table: what was written.
        history: also the snapshots of all operations that are still there.

    Raises:
        OtherSchema: the table has other columns than the script makes.
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


def vector_of(id_: str, args: dict[str, Json], expected: Json, version: int) -> Vector:
    """A reading as a case, so that it is judged as the vectors are."""
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

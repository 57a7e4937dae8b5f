"""Run the operations of a script on a new or an existing table: code that adapters of writers share.

A writer has a method for each operation that it supports, named like the operation with ``_`` for ``-``. Only the
standard library is imported.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from conformance.adapter_sdk.serve import Arguments, Invalid, Unsupported
from conformance.adapter_sdk.table_requests import local_path
from conformance.core.moved_modules import renamed_member
from spec_ref.core.json_types import Json

MAIN = "main"

WRITING = frozenset({"table.write", "table.change"})
"""The operations of the protocol that write tables."""

OPERATIONS = frozenset(
    {
        "create",
        "append",
        "overwrite",
        "delete",
        "delete-equal",
        "update",
        "merge",
        "upsert",
        "compact",
        "rewrite-manifests",
        "alter-schema",
        "alter-spec",
        "sort",
        "upgrade",
        "properties",
        "branch",
        "tag",
        "fast-forward",
        "rollback",
        "expire",
    }
)
"""The operations of scripts."""


class ScriptWriter(Protocol):
    """A table that is being written."""

    def open(self, location: str) -> None:
        """Load the table of a metadata file."""

    def snapshot(self, ref: str) -> int | None:
        """Return the id of a branch's current snapshot; None if it has none."""

    def metadata(self) -> str:
        """Return the location of the current metadata file."""


def follow(writer: ScriptWriter, operations: Sequence[Json], name: str, history: Sequence[str | None] = ()) -> Json:
    """Run operations with a writer, and return the answer of ``table.write`` or ``table.change``.

    Args:
        writer: has a method for each operation.
        operations: the operations in JSON.
        name: the name of the engine, for error messages and the answer.
        history: the current snapshot of main after each earlier operation.

    Raises:
        Unsupported: the writer does not have an operation.
        Invalid: an operation or its branch does not exist, or it refers to an earlier operation after which main had no
            snapshot.
    """
    main = [None if id_ is None else int(id_) for id_ in history]
    snapshots: list[int | None] = []
    locations: list[str] = []
    for operation in operations:
        if operation["op"] not in OPERATIONS:
            raise Invalid(f"no operation {operation['op']!r}")
        do = getattr(writer, operation["op"].replace("-", "_"), None)
        if do is None:
            raise Unsupported(f"{name} does not {operation['op']}")
        branch = operation.get("branch", MAIN)
        if branch != MAIN and writer.snapshot(branch) is None:  # some engines would create the branch
            raise Invalid(f"{operation['op']}: there is no branch {branch!r}")
        at = operation.get("to") if operation["op"] == "rollback" else operation.get("at")
        if at is None:
            do(operation)
        else:  # an operation that refers to a step gets its snapshot
            if not 0 <= at < len(main) or main[at] is None:
                raise Invalid(f"{operation['op']}: main had no snapshot after operation {at}")
            do({**operation, "snapshot": main[at]})
        snapshots.append(writer.snapshot(operation.get("branch", MAIN)))
        main.append(writer.snapshot(MAIN))
        locations.append(writer.metadata())
    return {
        "metadata": writer.metadata(),
        "snapshots": [None if id_ is None else str(id_) for id_ in snapshots],
        "locations": locations,
    }


def operations(
    open_writer: Callable[[str | None, Sequence[Json]], AbstractContextManager[ScriptWriter]], name: str
) -> dict[str, Callable[[Arguments], object]]:
    """Return ``table.write`` and ``table.change``, which use a writer.

    Args:
        open_writer: a function of the folder of a new table (None to open an existing one) and the operations to run;
            it returns a context manager that makes a writer and releases its resources.
        name: the name of the engine, for error messages and the answer.
    """

    def write(args: Arguments) -> object:
        given = _operations(_require_member(args, "script", dict), "/script")
        if not given:
            raise Invalid("/script/operations: expected at least the operation create; found none")
        with open_writer(_require_member(args, "table", str), given) as writer:
            return follow(writer, given, name)

    def change(args: Arguments) -> object:
        given, location = _operations(args), _require_member(args, "table", str)
        if not os.path.isfile(local_path(location)):
            raise Invalid(f"{location}: no such metadata file")
        with open_writer(None, given) as writer:
            writer.open(location)
            return follow(writer, given, name, args.get("history", ()))

    return {"table.write": write, "table.change": change}


def _operations(given: Arguments, place: str = "") -> list[Json]:
    """Return the operations of a request or script.

    Raises:
        Invalid: they are missing, or one of them is not an object with a name.
    """
    found: list[Json] = _require_member(given, "operations", list, place)
    for index, operation in enumerate(found):
        if not isinstance(operation, dict) or not isinstance(operation.get("op"), str):
            raise Invalid(f"{place}/operations/{index}: expected an object with the string op; found {operation!r}")
    return found


FORMS: dict[type, str] = {str: "a string", list: "a list", dict: "an object"}


def _require_member(args: Arguments, member: str, form: type, place: str = "") -> Any:
    """Return a member of a request.

    Raises:
        Invalid: it is missing, or has a different form.
    """
    if member not in args:
        raise Invalid(f"{place}/{member} is missing; expected {FORMS[form]}")
    if not isinstance(args[member], form):
        raise Invalid(f"{place}/{member}: expected {FORMS[form]}; found {args[member]!r}")
    return args[member]


def same_columns(rows: list[dict[str, Json]]) -> list[str]:
    """Return the names of the columns that all rows have; none if there are no rows.

    Raises:
        Unsupported: the rows have different columns, which one statement of the engine cannot express.
    """
    names = list(rows[0]) if rows else []
    if any(row.keys() != rows[0].keys() for row in rows):
        raise Unsupported("the rows of one statement give the same columns")
    return names


def with_ids(type_: Json, value: Json) -> Json:
    """Convert a literal to exchange form, with structs keyed by field id."""
    if value is None or not isinstance(type_, dict):
        return value
    if type_["type"] == "struct":
        given = {field["name"]: field for field in type_["fields"]}
        return {str(given[name]["id"]): with_ids(given[name]["type"], item) for name, item in value.items()}
    if type_["type"] == "list":
        return [with_ids(type_["element"], item) for item in value]
    return {f"{part}s": [with_ids(type_[part], item) for item in value[f"{part}s"]] for part in ("key", "value")}


_RENAMED = {"Writer": "ScriptWriter"}


def __getattr__(name: str) -> Any:
    """Return a member by its old name; deprecated for one release."""
    return renamed_member(__name__, _RENAMED, name)

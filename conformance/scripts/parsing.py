"""Scripts as JSON: the form is that of the published schema of the protocol, ``$defs/script``."""

from __future__ import annotations

from typing import Any

import attrs

from conformance.operations.protocol import message_violation
from conformance.scripts.errors import ScriptError
from conformance.scripts.operations import OPERATIONS, Operation, PartitionPart, Script, SortPart
from spec_ref.core.json_types import Json

PARTS: dict[tuple[str, str], type[PartitionPart | SortPart]] = {
    ("create", "partition"): PartitionPart,
    ("create", "sort"): SortPart,
    ("sort", "fields"): SortPart,
}
"""The members of operations whose items are records."""


def parse_script(json: Json) -> Script:
    """Parse a script in JSON.

    Raises:
        ScriptError: it has a wrong form; the message has the JSON pointer of the place.
    """
    if not isinstance(json, dict) or json.keys() != {"operations"} or not isinstance(json["operations"], list):
        raise ScriptError("a script is an object whose one member, operations, is an array")
    if not json["operations"]:
        raise ScriptError("/operations: a script has at least the operation create")
    return Script(tuple(_operation(index, one) for index, one in enumerate(json["operations"])))


def _operation(index: int, json: Json) -> Operation:
    place = f"/operations/{index}"
    name = json.get("op") if isinstance(json, dict) else None
    if not isinstance(name, str) or name not in OPERATIONS:
        raise ScriptError(f"{place}/op: unknown operation {name!r}; expected one of {', '.join(OPERATIONS)}")
    if (name == "create") != (index == 0):
        raise ScriptError(f"{place}/op: create must be the first operation, and only the first")
    wrong = message_violation(f"script.{name}", json)
    if wrong is not None:
        inner = wrong if wrong.startswith("/") else f": {wrong}"
        raise ScriptError(f"{place}{inner}")
    members = {member: value for member, value in json.items() if member != "op"}
    for (op, member), record in PARTS.items():
        if op == name and member in members:
            members[member] = tuple(record(**part) for part in members[member])
    made: Operation = OPERATIONS[name](**members)
    return made


def script_json(script: Script) -> Json:
    """Return a script as JSON; members with their default are left out."""
    return {"operations": [operation_json(one) for one in script.operations]}


def operation_json(operation: Operation) -> Json:
    """Return an operation as JSON."""
    return {"op": operation.op, **_members(operation)}


def _members(record: Any) -> dict[str, Json]:
    members = {}
    for attribute in attrs.fields(type(record)):
        default: Any = attribute.default
        value = getattr(record, attribute.name)
        if default is attrs.NOTHING or value != (default.factory() if hasattr(default, "factory") else default):
            members[attribute.name] = _plain(value)
    return members


def _plain(value: Any) -> Json:
    if isinstance(value, (PartitionPart, SortPart)):
        return attrs.asdict(value)
    return [_plain(item) for item in value] if isinstance(value, tuple) else value

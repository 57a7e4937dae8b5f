"""Schemas of the model of tables, in JSON as in scripts, and their evolution (Schema Evolution).

Only the standard library is used, as in `conformance.scripts.model_values`.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Sequence

from conformance.scripts.errors import ForbiddenOperation, ScriptError, UnspecifiedOperation
from spec_ref.core.json_types import Json

PARTS = {"list": ("element",), "map": ("key", "value")}
"""The members of nested types other than structs."""

SINCE_V3 = ("unknown", "timestamp_ns", "timestamptz_ns", "variant", "geometry", "geography")
"""The types that version 3 added; geospatial ones may have arguments (VER004)."""

_DECIMAL = re.compile(r"decimal\((\d+), *(\d+)\)")


def primitive_types(type_: Json) -> Iterator[tuple[str, bool]]:
    """Yield every primitive type in a type, and whether its values are required."""
    yield from _types_in(type_, required=False)


def _types_in(type_: Json, *, required: bool) -> Iterator[tuple[str, bool]]:
    if not isinstance(type_, dict):
        yield type_, required
    elif type_["type"] == "struct":
        for field in type_["fields"]:
            yield from _types_in(field["type"], required=field["required"])
    else:
        for part in PARTS[type_["type"]]:
            yield from _types_in(type_[part], required=type_.get(f"{part}-required", part == "key"))


def type_ids(type_: Json) -> Iterator[int]:
    """Yield every id in a type."""
    if isinstance(type_, dict):
        for field in type_.get("fields", ()):
            yield field["id"]
            yield from type_ids(field["type"])
        for part in PARTS.get(type_["type"], ()):
            yield type_[f"{part}-id"]
            yield from type_ids(type_[part])


def check_version_types(type_: Json, version: int) -> None:
    """Check that a version has every type in a type.

    Raises:
        ForbiddenOperation: the version lacks a type.
    """
    for name, required in primitive_types(type_):
        if version < 3 and name.partition("(")[0] in SINCE_V3:
            raise ForbiddenOperation("VER004", f"the type {name} is not allowed in v{version}")
        if name == "unknown" and required:
            raise ForbiddenOperation("TYP025", "a field of type unknown is required")


def find_type(fields: Sequence[Json], name: str) -> tuple[Json, str]:
    """Find the type with a full name: the object that has it, and the member (``type``, ``element`` and the like).

    Raises:
        ForbiddenOperation: the name is unknown.
    """
    return path_to(fields, name)[-1]


def path_to(fields: Sequence[Json], name: str) -> list[tuple[Json, str]]:
    """Return the types on the path of a full name, the named one last, in the form of `find_type`; names may have dots.

    Raises:
        ForbiddenOperation: the name is unknown.
    """
    found = next(_paths({"type": "struct", "fields": fields}, name), None)
    if found is None:
        raise ForbiddenOperation("EVO001", f"the table does not have the column {name!r}")
    return found


def _paths(around: Json, name: str) -> Iterator[list[tuple[Json, str]]]:
    kind = around["type"] if isinstance(around, dict) else ""
    steps = [(part, around, part) for part in PARTS.get(kind, ())]
    if kind == "struct":
        steps = [(field["name"], field, "type") for field in around["fields"]]
    for own, holder, member in steps:
        if name == own:
            yield [(holder, member)]
        elif name.startswith(f"{own}."):
            yield from ([(holder, member), *rest] for rest in _paths(holder[member], name[len(own) + 1 :]))


def source_id(fields: Sequence[Json], name: str) -> int:
    """Return the id of a source column of partition or sort fields: primitive, at the top level or inside structs.

    Raises:
        ScriptError: there is no such column.
    """
    try:
        path = path_to(fields, name)
    except ForbiddenOperation:
        raise ForbiddenOperation(
            "TYP002", f"the table does not have the column {name!r} to partition or sort by"
        ) from None
    field = path[-1][0]
    if any(member != "type" for _, member in path) or isinstance(field["type"], dict):
        raise ForbiddenOperation("PAR004", f"{name!r} is not a primitive column outside of lists and maps")
    return int(field["id"])


def full_column_name(fields: Sequence[Json], field_id: int) -> str | None:
    """Return the full name of a column at the top level or inside structs; None if it was dropped."""
    return next((name for id_, name in _names(fields) if id_ == field_id), None)


def _names(fields: Sequence[Json], prefix: str = "") -> Iterator[tuple[int, str]]:
    for field in fields:
        yield field["id"], prefix + field["name"]
        if isinstance(field["type"], dict) and field["type"]["type"] == "struct":
            yield from _names(field["type"]["fields"], f"{prefix}{field['name']}.")


def may_promote(old: Json, new: Json, version: int) -> bool:
    """Return whether a type may be promoted to another (EVO003 to EVO005)."""
    if not isinstance(old, str) or not isinstance(new, str) or old == new:
        return False
    if (old, new) in (("int", "long"), ("float", "double")):
        return True
    if version >= 3 and (old == "unknown" or (old == "date" and new in ("timestamp", "timestamp_ns"))):
        return True
    before, after = _DECIMAL.fullmatch(old), _DECIMAL.fullmatch(new)
    return bool(before and after and int(after[1]) > int(before[1]) and after[2] == before[2])


def refusal_code(old: Json, new: Json) -> str:
    """Return the requirement that forbids a promotion that is not allowed."""
    if isinstance(old, dict) != isinstance(new, dict) and "variant" not in (old, new):
        return "EVO013"
    if old == "date" and str(new).startswith("timestamp"):
        return "EVO005"
    return "EVO004" if old == "unknown" else "EVO003"


def assign_fresh_ids(type_: Json, last: int) -> tuple[Json, int]:
    """Return a type with new ids for everything inside it, and the highest id (EVO009)."""
    made = copy.deepcopy(type_)

    def renew(inner: Json) -> None:
        nonlocal last
        if not isinstance(inner, dict):
            return
        for field in inner.get("fields", ()):
            last += 1
            field["id"] = last
        for part in PARTS.get(inner["type"], ()):
            last += 1
            inner[f"{part}-id"] = last
        for field in inner.get("fields", ()):
            renew(field["type"])
        for part in PARTS.get(inner["type"], ()):
            renew(inner[part])

    renew(made)
    return made, last


def changed_fields(before: Sequence[Json], change: Json, version: int, last: int) -> tuple[list[Json], int]:
    """Return the columns after a change, and the highest id that was ever assigned.

    Raises:
        ForbiddenOperation: schema evolution does not allow the change.
    """
    fields: list[Json] = copy.deepcopy(list(before))
    name = change["name"]
    if change["op"] == "add":
        return _add_column(fields, change, version, last)
    holder, member = find_type(fields, name)
    if change["op"] == "promote":
        if holder[member] == change["type"]:
            raise UnspecifiedOperation(
                "EVO003", f"{name} has the type {change['type']} already, and the spec allows only promotions"
            )
        if not may_promote(holder[member], change["type"], version):
            code = refusal_code(holder[member], change["type"])
            raise ForbiddenOperation(code, f"{holder[member]} does not become {change['type']}")
        for default in ("initial-default", "write-default"):
            if holder[member] == "date" and holder.get(default) is not None:
                holder[default] += "T00:00:00." + "0" * (9 if change["type"] == "timestamp_ns" else 6)
        holder[member] = change["type"]
        return fields, last
    if member != "type":
        raise ForbiddenOperation("EVO001", f"{name} is not a field of a struct")
    siblings = _siblings(fields, name)
    match change["op"]:
        case "drop":
            siblings.remove(holder)
        case "rename":
            _check_name(siblings, change["to"], holder)
            holder["name"] = change["to"]
        case "optional":
            holder["required"] = False
        case "default":
            _check_default(holder["type"], change["default"], version)
            if holder["required"] and holder.get("initial-default") is not None and change["default"] is None:
                raise ForbiddenOperation("EVO015", f"{name} is required and was added with a default, which it keeps")
            holder["write-default"] = change["default"]
        case "move":
            siblings.remove(holder)
            names = [one["name"] for one in siblings]
            if change["after"] is not None and change["after"] not in names:
                raise ForbiddenOperation("EVO001", f"the struct of {name} does not have the field {change['after']!r}")
            siblings.insert(0 if change["after"] is None else names.index(change["after"]) + 1, holder)
        case other:
            raise ScriptError(f"there is no change {other!r}")
    return fields, last


def _siblings(fields: list[Json], name: str) -> list[Json]:
    path = path_to(fields, name)
    if len(path) == 1:
        return fields
    holder, member = path[-2]
    found: list[Json] = holder[member]["fields"]
    return found


def _check_name(siblings: Sequence[Json], name: str, own: Json = None) -> None:
    if any(one["name"] == name for one in siblings if one is not own):
        raise ForbiddenOperation("TYP002", f"the struct already has a field {name!r}")


def _check_default(type_: Json, default: Json, version: int) -> None:
    if default is None:
        return
    if version < 3:
        raise ForbiddenOperation("VER004", f"default values are not allowed in v{version}")
    if isinstance(type_, str) and type_.partition("(")[0] in ("unknown", "variant", "geometry", "geography"):
        raise ForbiddenOperation(
            "TYP025" if type_ == "unknown" else "DEF008", f"a column of type {type_} defaults to null"
        )


def _add_column(fields: list[Json], change: Json, version: int, last: int) -> tuple[list[Json], int]:
    type_, highest = assign_fresh_ids(change["type"], last + 1)
    default, required = change.get("default"), change.get("required", False)
    check_version_types({"type": "struct", "fields": [{"required": required, "type": type_}]}, version)
    _check_default(type_, default, version)
    if required and default is None:
        raise ForbiddenOperation("EVO015", f"{change['name']} is required and has no default")
    if isinstance(type_, dict) and default is not None and _lacks_default(type_):
        raise ForbiddenOperation(
            "EVO015", f"{change['name']} has the default {{}}, and a required field in it has none"
        )
    siblings = fields
    if change.get("parent") is not None:
        holder, member = find_type(fields, change["parent"])
        if not isinstance(holder[member], dict) or holder[member]["type"] != "struct":
            raise ForbiddenOperation("EVO001", f"{change['parent']} is not a struct")
        siblings = holder[member]["fields"]
    _check_name(siblings, change["name"])
    field = {"id": last + 1, "name": change["name"], "required": required, "type": type_}
    if "doc" in change:
        field["doc"] = change["doc"]
    if default is not None:
        field |= {"initial-default": default, "write-default": default}
    siblings.append(field)
    return fields, highest


def _lacks_default(type_: Json) -> bool:
    return type_["type"] == "struct" and any(
        one["required"] and one.get("initial-default") is None for one in type_["fields"]
    )

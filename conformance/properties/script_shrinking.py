"""Shrinking scripts of `conformance.properties.scripts` by one operation, column or member at a time.

A script that fails is shrunk as long as it is valid and fails, so that it shows the cause. Hypothesis can also shrink
scripts, by the choices that generated them; leaving out parts of the script takes fewer tries, and for each try a table
is written and read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from conformance.properties.script_maker import Op
from conformance.properties.scripts import is_valid_script
from conformance.properties.values import simpler_predicates
from conformance.scripts import ScriptError
from conformance.scripts.model import check_script
from spec_ref.core.json_types import Json


def smaller_scripts(
    script: Json, exclude: frozenset[str] = frozenset(), sensible: Callable[[Json], bool] = is_valid_script
) -> Iterator[Json]:
    """Yield valid scripts with one part less, the smallest first."""
    for candidate in _candidates(script["operations"], exclude):
        made = {"operations": candidate}
        if sensible(made):
            yield made


def smaller_or_refused(script: Json) -> Iterator[Json]:
    """Yield the scripts of `smaller_scripts`, and those with operations that the spec forbids."""
    return smaller_scripts(script, sensible=_can_be_followed)


def _can_be_followed(script: Json) -> bool:
    try:
        check_script(script)
    except ScriptError:
        return False
    return True


def _candidates(operations: list[Op], exclude: frozenset[str]) -> Iterator[list[Op]]:
    for place in range(len(operations) - 1, 0, -1):
        yield [_without(op, place) for op in operations[:place] + operations[place + 1 :]]
    if any("branch" in op for op in operations):
        yield _on_main(operations)
    for name in _column_names(operations):
        yield _without_column(operations, name)
    for place, op in enumerate(operations):
        for simpler in _simpler(op, exclude):
            yield [*operations[:place], simpler, *operations[place + 1 :]]


def _without(op: Op, place: int) -> Op:
    """Renumber the operations that an operation refers to, after one of them is left out."""
    for key in ("at", "to"):
        if isinstance(op.get(key), int) and op[key] >= place:
            return {**op, key: op[key] - 1}
    return op


def _on_main(operations: list[Op]) -> list[Op]:
    """Return the operations without branches: those on branches are done on main."""
    made = [{name: value for name, value in op.items() if name != "branch"} for op in operations]
    for place in range(len(made) - 1, 0, -1):
        if made[place]["op"] in ("branch", "fast-forward"):
            made = [_without(op, place) for op in made[:place] + made[place + 1 :]]
    return made


def _column_names(operations: list[Op]) -> list[str]:
    added = [change["name"] for op in operations for change in op.get("changes", ()) if "type" in change]
    return [one["name"] for one in operations[0]["schema"]["fields"][1:]] + added


def _without_column(operations: list[Op], name: str) -> list[Op]:
    """Return the operations without a column; if others still name it, the script is not valid and not tried."""

    def rest(op: Op) -> Op:
        made = dict(op)
        if "schema" in op:
            made["schema"] = {**op["schema"], "fields": [f for f in op["schema"]["fields"] if f["name"] != name]}
        if "rows" in op:
            made["rows"] = [{key: value for key, value in row.items() if key != name} for row in op["rows"]]
        if "set" in op and op["op"] == "update":
            made["set"] = {key: value for key, value in op["set"].items() if key != name} or op["set"]
        for member in ("partition", "sort", "fields"):
            if member in op:
                made[member] = [one for one in op[member] if one["source"] != name]
        if "changes" in op:
            made["changes"] = [one for one in op["changes"] if name not in (one.get("name"), one.get("source"))]
        return made

    return [made for made in map(rest, operations) if made.get("changes") != [] and not _compares_nothing(made)]


def _compares_nothing(op: Op) -> bool:
    return op["op"] == "delete-equal" and not op["rows"][0]


_DROPPABLE = ("partition", "sort", "branch", "mode", "at")


def _simpler(op: Op, exclude: frozenset[str]) -> Iterator[Op]:
    """Yield variants of an operation with one part less."""
    for member in _DROPPABLE:
        if member in op:
            yield {key: value for key, value in op.items() if key != member}
    for member in ("rows", "partition", "sort", "fields", "changes"):
        items = op.get(member, ())
        if len(items) > 1 or (items and op["op"] == "overwrite"):
            for place in range(len(items)):
                yield {**op, member: items[:place] + items[place + 1 :]}
    if "filter" in op:
        for predicate in simpler_predicates(op["filter"], guarded="null" in exclude):
            yield {**op, "filter": predicate}
    if op["op"] == "update" and len(op["set"]) > 1:
        for name in op["set"]:
            yield {**op, "set": {key: value for key, value in op["set"].items() if key != name}}
    for place, row in enumerate(op.get("rows", ())):
        for name, value in row.items():
            if value is not None and name not in op.get("on", ()):
                yield {**op, "rows": [*op["rows"][:place], {**row, name: None}, *op["rows"][place + 1 :]]}
    for member in ("properties", "set"):
        for name, value in op.get(member, {}).items() if op["op"] in ("create", "properties") else ():
            if name != "write.format.default":
                yield {**op, member: {key: one for key, one in op[member].items() if key != name}}
            elif value != "parquet":
                yield {**op, member: {**op[member], name: "parquet"}}
    for member in ("sort", "fields"):
        for place, part in enumerate(op.get(member, ())):
            if part.get("transform", "identity") != "identity":
                yield {**op, member: [*op[member][:place], {**part, "transform": "identity"}, *op[member][place + 1 :]]}
    if op["op"] == "create":
        yield from ({**op, "format_version": version} for version in range(2, op["format_version"]))
        for field_ in op["schema"]["fields"]:
            if field_["required"]:
                fields = [{**one, "required": one["required"] and one is not field_} for one in op["schema"]["fields"]]
                yield {**op, "schema": {**op["schema"], "fields": fields}}

"""Generators of the operations of random scripts, and of operations that the spec forbids."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from conformance.core.json_types import Json
from conformance.properties.script_maker import (
    FORMATS,
    IDS,
    MODES,
    PARTITION_NAMES,
    Op,
    ScriptMaker,
    takes_equality,
)
from conformance.properties.values import constant, predicate_leaves
from conformance.scripts import LeftOpen, RefusedByText, ScriptError
from conformance.scripts.model import MAIN, Table

_PROMOTIONS: dict[str, tuple[str, ...]] = {
    "int": ("long",),
    "float": ("double",),
    "decimal(9, 2)": ("decimal(18, 2)",),
    "date": ("timestamp", "timestamp_ns"),
    "unknown": ("int", "string", "date"),
}


# The generator of each operation returns None if the operation does not apply to the table.


def _append(maker: ScriptMaker) -> Op:
    return {"rows": maker.rows(), **maker.branch()}


def _overwrite(maker: ScriptMaker) -> Op:
    branch = maker.branch()
    least = 0 if maker.may("empty-overwrite") else 1
    return {"filter": maker.filter(**branch), "rows": maker.rows(least), **branch}


def _delete(maker: ScriptMaker) -> Op:
    branch = maker.branch()
    return {"filter": maker.filter(**branch), **maker.mode(), **branch}


def _delete_equal(maker: ScriptMaker) -> Op | None:
    able = [column for column in maker.columns if takes_equality(column["type"])] if maker.version >= 2 else []
    if not able:
        return None
    branch = maker.branch()
    chosen = maker.draw.sample(able, maker.draw.randint(1, min(2, len(able))))
    rows = [{one["name"]: maker.value(one) for one in chosen} for _ in range(maker.draw.randint(1, 2))]
    present = [] if maker.happens(0.4) else maker.table.rows(branch.get("branch", MAIN))
    if present:
        row = maker.draw.choice(present).read(maker.table.fields)
        rows[0] = {one["name"]: row[one["name"]] for one in chosen}
    return {"rows": rows, **branch}


def _update(maker: ScriptMaker) -> Op | None:
    able = [column for column in maker.columns if column["name"] != "id" and column["type"] != "unknown"]
    if not able:
        return None
    branch = maker.branch()
    chosen = maker.draw.sample(able, maker.draw.randint(1, min(2, len(able))))
    assigned = {one["name"]: maker.value(one) for one in chosen}
    return {"filter": maker.filter(**branch), "set": assigned, **maker.mode(), **branch}


def _keyed(maker: ScriptMaker) -> Op:
    """Draw rows with distinct ids, and the columns that they are matched by: the id, and perhaps one more."""
    branch = maker.branch()
    ids = maker.draw.sample(range(IDS), maker.draw.randint(1, 3))
    rows = [{**maker.row(), "id": str(number)} for number in ids]
    able = [one["name"] for one in maker.columns if one["name"] != "id" and takes_equality(one["type"])]
    if not able or not maker.happens(0.2):
        return {"on": ["id"], "rows": rows, **branch}
    name = maker.draw.choice(able)
    present = [row.read(maker.table.fields) for row in maker.table.rows(branch.get("branch", MAIN))]
    for row in rows:
        alike = [one for one in present if one["id"] == row["id"]] if maker.happens(0.5) else present
        row |= {name: maker.draw.choice(alike)[name]} if alike else {}
    return {"on": ["id", name], "rows": rows, **branch}


def _merge(maker: ScriptMaker) -> Op:
    return {**_keyed(maker), **maker.mode()}


def _upsert(maker: ScriptMaker) -> Op | None:
    return _keyed(maker) if maker.version >= 2 else None


def _paths(fields: Sequence[Op], prefix: str = "") -> Iterator[tuple[str, Op, Sequence[Op]]]:
    """Yield every field of a struct at any depth: its full name, the field, and its siblings."""
    for one in fields:
        yield prefix + one["name"], one, fields
        yield from _inner_paths(one["type"], f"{prefix}{one['name']}.")


def _inner_paths(type_: Json, prefix: str) -> Iterator[tuple[str, Op, Sequence[Op]]]:
    if isinstance(type_, dict):
        yield from _paths(type_.get("fields", ()), prefix)
        for part in ("element", "value"):
            if part in type_:
                yield from _inner_paths(type_[part], f"{prefix}{part}.")


def _alter_schema(maker: ScriptMaker) -> Op | None:
    paths = [
        one for one in _paths(maker.columns) if one[0] != "id" and ("." not in one[0] or maker.may("evolve-nested"))
    ]
    kind = maker.draw.choice(("add", "drop", "rename", "promote", "move", "add", "optional", "default"))
    if kind == "add" or not paths:
        made = _added(maker)
    else:
        name, one, beside = maker.draw.choice(paths)
        made = {"op": kind, "name": name}
        match kind:
            case "rename":
                made["to"] = f"c{next(maker.names)}"
            case "promote":
                able = [path for path in paths if isinstance(path[1]["type"], str) and path[1]["type"] in _PROMOTIONS]
                if not able:
                    return None
                name, one, _ = maker.draw.choice(able)
                made = {"op": kind, "name": name, "type": maker.draw.choice(_PROMOTIONS[one["type"]])}
            case "move":
                made["after"] = maker.draw.choice([None, *(other["name"] for other in beside if other is not one)])
            case "default":
                if not takes_equality(one["type"]) or maker.version < 3 or not maker.may("default"):
                    return None
                made["default"] = constant(one["type"], maker.chance.value(one["type"], required=True))
            case "optional" if not one["required"]:
                return None
            case "drop" if "." in name and len(beside) == 1:
                return None  # Parquet has no structs without fields
    return {"changes": [made]}


def _added(maker: ScriptMaker) -> Op:
    column = maker.new_column()
    added = {"op": "add", "name": column["name"], "type": column["type"]}
    has_default = maker.version >= 3 and maker.may("default") and takes_equality(column["type"])
    if has_default and maker.happens(0.5):
        added["default"] = constant(column["type"], maker.chance.value(column["type"], required=True))
        if maker.may("required") and maker.happens(0.3):
            added["required"] = True
    structs = [name for name, one, _ in _paths(maker.columns) if _is_struct(one["type"])]
    if structs and maker.may("evolve-nested") and maker.happens(0.3):
        added["parent"] = maker.draw.choice(structs)
    return added


def _is_struct(type_: Json) -> bool:
    return isinstance(type_, dict) and type_["type"] == "struct"


def _alter_spec(maker: ScriptMaker) -> Op | None:
    if not maker.may("partition"):
        return None
    spec = maker.table.partition
    if spec and maker.happens(0.5):
        name = maker.draw.choice(spec)["name"]
        if maker.may(PARTITION_NAMES) and maker.happens(0.2):
            return {"changes": [{"op": "rename", "name": name, "to": f"p{next(maker.names)}"}]}
        return {"changes": [{"op": "remove", "name": name}]}
    made = maker.new_partition_field(maker.columns, spec)
    kinds = dict(predicate_leaves(maker.columns))
    if made is None or (made["transform"].startswith("truncate") and kinds[made["source"]] in ("int", "long")):
        return None  # existing rows may have the least value, which cannot be truncated
    return {"changes": [{"op": "add", **made}]}


def _sort(maker: ScriptMaker) -> Op:
    return {"fields": maker.new_sort(maker.columns)}


def _upgrade(maker: ScriptMaker) -> Op | None:
    higher = [version for version in (2, 3) if version > maker.version and maker.may(f"v{version}")]
    return {"format_version": maker.draw.choice(higher)} if higher else None


def _properties(maker: ScriptMaker) -> Op | None:
    formats = [one for one in FORMATS if maker.may(one)]
    made = {"write.format.default": maker.draw.choice(formats)} if formats and maker.happens(0.5) else {}
    if maker.may("metrics"):
        made |= maker.some_properties()
    return {"set": made} if made else None


def _reference(prefix: str) -> Callable[[ScriptMaker], Op]:
    def made(maker: ScriptMaker) -> Op:
        at = {"at": maker.draw.randrange(len(maker.operations))} if maker.happens(0.3) else {}
        return {"name": f"{prefix}{next(maker.names)}", **at}

    return made


_new_branch = _reference("b")


def _fast_forward(maker: ScriptMaker) -> Op | None:
    """Fast-forward main to a branch ahead of it; if there is none, create and write one first."""
    ahead = [name for name in maker.branches if maker.makes_sense_next({"op": "fast-forward", "to": name})]
    if ahead:
        return {"to": maker.draw.choice(ahead)}
    if not maker.may("branch", "append", "branch-writes") or not maker.take({"op": "branch", **_new_branch(maker)}):
        return None
    name = maker.branches[-1]
    written = maker.take({"op": "append", "rows": maker.rows(), "branch": name})
    return {"to": name} if written else None


def _rollback(maker: ScriptMaker) -> Op:
    return {"to": maker.draw.randrange(len(maker.operations))}


def _nothing(_maker: ScriptMaker) -> Op:
    return {}


def _compact(maker: ScriptMaker) -> Op:
    return maker.branch()


OPERATION_MAKERS: dict[str, Callable[[ScriptMaker], Op | None]] = {
    "append": _append,
    "overwrite": _overwrite,
    "delete": _delete,
    "delete-equal": _delete_equal,
    "update": _update,
    "merge": _merge,
    "upsert": _upsert,
    "compact": _compact,
    "rewrite-manifests": _nothing,
    "alter-schema": _alter_schema,
    "alter-spec": _alter_spec,
    "sort": _sort,
    "upgrade": _upgrade,
    "properties": _properties,
    "branch": _new_branch,
    "tag": _reference("t"),
    "fast-forward": _fast_forward,
    "rollback": _rollback,
    "expire": _nothing,
}


# Operations that the spec forbids.


def forbidden_operation(maker: ScriptMaker) -> Op | None:
    """Draw an operation that a writer must refuse; None if the drawn kind does not apply to the table."""
    column = maker.draw.choice(maker.columns)
    kind = maker.draw.choice(tuple(_FORBIDDEN))
    if not maker.may(_FORBIDDEN[kind]):
        return None
    made = _forbidden_of(maker, kind, column["name"], column["type"])
    refused = made is not None and _is_refused(maker.table, len(maker.operations), made)
    return made if refused else None


def _is_refused(table: Table, index: int, op: Op) -> bool:
    try:
        table.after(index, op)
    except LeftOpen:
        return False
    except RefusedByText:
        return True
    except ScriptError:
        return False
    return False


_FORBIDDEN = {
    "null": "append",
    "null-update": "update",
    "promote": "alter-schema",
    "drop-source": "alter-schema",
    "promote-source": "alter-schema",
    "again": "alter-schema",
    "rename": "alter-schema",
    "required": "alter-schema",
    "new-type": "alter-schema",
    "absent-column": "delete",
    "float": "delete-equal",
    "deletes": "delete",
    "downgrade": "upgrade",
    "absent-field": "alter-spec",
    "tag": "append",
    "too-much": "append",
}
"""The kinds of forbidden operations, with the operation of each."""


def _forbidden_of(maker: ScriptMaker, kind: str, name: str, type_: Json) -> Op | None:
    op, row = _FORBIDDEN[kind], maker.row
    tags = list(maker.table.tags)
    sources = [part["source"] for part in maker.table.partition if part["source"] is not None]  # dropped: None
    required = [column["name"] for column in maker.columns if column["required"]]
    names = [column["name"] for column in maker.columns]
    change: Op | None = None
    match kind:
        case "null" if required:
            return {"op": op, "rows": [row(), {**row(), maker.draw.choice(required): None}]}
        case "null-update" if required:
            return {"op": op, "filter": True, "set": {maker.draw.choice(required): None}, **maker.mode()}
        case "promote":
            change = {"op": "promote", "name": name, "type": maker.draw.choice(("string", "int", "timestamptz"))}
        case "drop-source" if sources:
            change = {"op": "drop", "name": maker.draw.choice(sources)}
        case "promote-source" if sources:
            change = {"op": "promote", "name": maker.draw.choice(sources), "type": "timestamp"}
        case "again":
            change = {"op": "add", "name": name, "type": "int"}
        case "rename":
            change = {"op": "rename", "name": name, "to": maker.draw.choice(names)}
        case "required":
            change = {"op": "add", "name": f"c{next(maker.names)}", "type": "int", "required": True}
        case "new-type":
            change = {"op": "add", "name": f"c{next(maker.names)}", "type": "timestamp_ns"}
        case "absent-column":
            return {"op": op, "filter": {"type": "eq", "term": "nowhere", "value": 1}, **maker.mode()}
        case "float":
            return {"op": op, "rows": [{name: maker.chance.value(type_, required=True)}]}
        case "deletes":
            return {"op": op, "filter": maker.filter(), "mode": MODES[1]}
        case "downgrade":
            return {"op": op, "format_version": maker.draw.randint(1, 2)}
        case "absent-field":
            return {"op": op, "changes": [{"op": "remove", "name": "nowhere"}]}
        case "tag" if tags:
            return {"op": op, "rows": [row()], "branch": maker.draw.choice(tags)}
        case "too-much":
            return {"op": op, "rows": [{**row(), "nowhere": 1}]}
    return None if change is None else {"op": op, "changes": [change]}

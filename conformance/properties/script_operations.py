"""Generators of operations for random scripts, including operations that the spec forbids."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from conformance.properties.script_maker import (
    FORMATS,
    IDS,
    PARTITION_NAMES,
    Op,
    ScriptMaker,
    supports_equality_deletes,
)
from conformance.properties.values import json_constant, predicate_leaves
from conformance.scripts import ForbiddenOperation, ScriptError, UnspecifiedOperation
from conformance.scripts.model import MAIN, ModelTable
from spec_ref.core.json_types import Json

_PROMOTIONS: dict[str, tuple[str, ...]] = {
    "int": ("long",),
    "float": ("double",),
    "decimal(1, 0)": ("decimal(9, 0)", "decimal(38, 0)"),
    "decimal(9, 2)": ("decimal(18, 2)", "decimal(20, 2)"),
    "decimal(9, 9)": ("decimal(10, 9)",),
    "decimal(10, 3)": ("decimal(11, 3)", "decimal(38, 3)"),
    "decimal(18, 2)": ("decimal(19, 2)",),
    "decimal(19, 0)": ("decimal(38, 0)",),
    "date": ("timestamp", "timestamp_ns"),
    "unknown": ("int", "string", "date", "decimal(38, 38)", "fixed[16]"),
}


# The generator of each operation returns None if the operation does not apply to the table.


def _append(maker: ScriptMaker) -> Op:
    return {"rows": maker.rows(), **maker.branch()}


def _overwrite(maker: ScriptMaker) -> Op:
    branch = maker.branch()
    least = 0 if maker.allows("empty-overwrite") else 1
    return {"filter": maker.filter(**branch), "rows": maker.rows(least), **branch}


def _delete(maker: ScriptMaker) -> Op:
    branch = maker.branch()
    return {"filter": maker.filter(**branch), **maker.mode(), **branch}


def _delete_equal(maker: ScriptMaker) -> Op | None:
    able = (
        [column for column in maker.columns if supports_equality_deletes(column["type"])] if maker.version >= 2 else []
    )
    if not able:
        return None
    branch = maker.branch()
    chosen = maker.draw.sample(able, maker.draw.randint(1, min(2, len(able))))
    rows = [{one["name"]: maker.value(one) for one in chosen} for _ in range(maker.draw.randint(1, 2))]
    present = [] if maker.draw_bool(0.4) else maker.table.rows(branch.get("branch", MAIN))
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


def _draw_keyed_rows(maker: ScriptMaker) -> Op:
    """Draw rows with distinct ids, one perhaps null, and the columns of their key: the id, and perhaps one more."""
    branch = maker.branch()
    ids: list[str | None] = [str(number) for number in maker.draw.sample(range(IDS), maker.draw.randint(1, 3))]
    (required,) = (column["required"] for column in maker.columns if column["name"] == "id")
    if not required and maker.allows("null", "null-keys") and maker.draw_bool(0.15):
        ids[-1] = None
    rows = [{**maker.row(), "id": number} for number in ids]
    able = [one["name"] for one in maker.columns if one["name"] != "id" and supports_equality_deletes(one["type"])]
    if not able or not maker.draw_bool(0.2):
        return {"on": ["id"], "rows": rows, **branch}
    name = maker.draw.choice(able)
    present = [row.read(maker.table.fields) for row in maker.table.rows(branch.get("branch", MAIN))]
    for row in rows:
        alike = [one for one in present if one["id"] == row["id"]] if maker.draw_bool(0.5) else present
        row |= {name: maker.draw.choice(alike)[name]} if alike else {}
    return {"on": ["id", name], "rows": rows, **branch}


def _merge(maker: ScriptMaker) -> Op:
    return {**_draw_keyed_rows(maker), **maker.mode()}


def _upsert(maker: ScriptMaker) -> Op | None:
    return _draw_keyed_rows(maker) if maker.version >= 2 else None


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


def _named_types(fields: Sequence[Op]) -> Iterator[tuple[str, Json, bool]]:
    """Yield the full name of every field, element, key and value, its type, and whether it is inside a list or map."""
    for one in fields:
        yield from _inner_types(one["name"], one["type"], inside=False)


def _inner_types(name: str, type_: Json, *, inside: bool) -> Iterator[tuple[str, Json, bool]]:
    yield name, type_, inside
    if isinstance(type_, dict):
        for one in type_.get("fields", ()):
            yield from _inner_types(f"{name}.{one['name']}", one["type"], inside=inside)
        for part in ("element", "key", "value"):
            if part in type_:
                yield from _inner_types(f"{name}.{part}", type_[part], inside=True)


def _evolving_types(maker: ScriptMaker) -> Iterator[tuple[str, Json]]:
    """Yield the names and types that changes of the schema may name, except as fields of a struct."""
    tops = {one["name"] for one in maker.columns}
    for name, type_, inside in _named_types(maker.columns):
        if (
            name != "id"
            and (name in tops or maker.allows("evolve-nested"))
            and (not inside or maker.allows("evolve-items"))
        ):
            yield name, type_


def _alter_schema(maker: ScriptMaker) -> Op | None:
    changes = _schema_changes(maker)
    if not changes:
        return None
    while maker.allows("several-changes") and maker.draw_bool(0.25):
        ahead = maker.maker_after({"op": "alter-schema", "changes": changes})
        if ahead is None:
            break
        again = changes[-1]["op"] == "drop" and maker.draw_bool(0.5)
        changes += [_added_again(ahead, changes[-1]["name"])] if again else _schema_changes(ahead)
    return {"changes": changes}


def _schema_changes(maker: ScriptMaker) -> list[Op]:
    """Draw a change of the schema, or three that swap the names of two fields; none if the kind does not apply."""
    able = {name for name, _ in _evolving_types(maker)}
    paths = [one for one in _paths(maker.columns) if one[0] in able]
    tops = {one["name"] for one in maker.columns}
    plain = {name for name, _, inside in _named_types(maker.columns) if not inside}
    for rarer in (plain, tops):
        chosen = [one for one in paths if one[0] not in rarer]
        if chosen and maker.draw_bool(0.4):
            paths = chosen
            break
    kind = maker.draw.choice(("add", "drop", "rename", "promote", "move", "add", "optional", "default", "swap"))
    if kind == "add" or not paths:
        return [_draw_added_column(maker)]
    if kind == "swap":
        return _swap_names(maker, paths) if maker.allows("several-changes") else []
    made = _draw_change(maker, kind, paths)
    return [] if made is None else [made]


def _swap_names(maker: ScriptMaker, paths: Sequence[tuple[str, Op, Sequence[Op]]]) -> list[Op]:
    name, one, beside = maker.draw.choice(paths)
    others = [other["name"] for other in beside if other is not one and other["name"] != "id"]
    if not others:
        return []
    start, other, third = name.removesuffix(one["name"]), maker.draw.choice(others), f"c{next(maker.names)}"
    renames = ((one["name"], third), (other, one["name"]), (third, other))
    return [{"op": "rename", "name": start + before, "to": after} for before, after in renames]


def _draw_change(maker: ScriptMaker, kind: str, paths: Sequence[tuple[str, Op, Sequence[Op]]]) -> Op | None:
    """Draw a change of a kind; None if it does not apply to the drawn column."""
    name, one, beside = maker.draw.choice(paths)
    made = {"op": kind, "name": name}
    match kind:
        case "rename":
            made["to"] = maker.new_name({other["name"] for other in beside})
        case "promote":
            able = [
                (place, type_)
                for place, type_ in _evolving_types(maker)
                if isinstance(type_, str) and type_ in _PROMOTIONS
            ]
            if not able:
                return None
            made["name"], type_ = maker.draw.choice(able)
            made["type"] = maker.draw.choice(_PROMOTIONS[type_])
        case "move":
            made["after"] = maker.draw.choice([None, *(other["name"] for other in beside if other is not one)])
        case "default":
            if not supports_equality_deletes(one["type"]) or maker.version < 3 or not maker.allows("default"):
                return None
            made["default"] = json_constant(one["type"], maker.chance.value(one["type"], required=True))
        case "optional" if not one["required"]:
            return None
        case "drop" if len(beside) == 1:
            return None  # Parquet has no structs without fields
    return made


def _draw_added_column(maker: ScriptMaker) -> Op:
    column = maker.new_column()
    added = {"op": "add", "name": column["name"], "type": column["type"]}
    has_default = maker.version >= 3 and maker.allows("default") and supports_equality_deletes(column["type"])
    if has_default and maker.draw_bool(0.5):
        added["default"] = json_constant(column["type"], maker.chance.value(column["type"], required=True))
        if maker.allows("required") and maker.draw_bool(0.3):
            added["required"] = True
    structs = [name for name, type_ in _evolving_types(maker) if _is_struct(type_) and not _in_key(maker, name)]
    tops = {one["name"] for one in maker.columns}
    deeper = [name for name in structs if name not in tops]
    if structs and maker.allows("evolve-nested") and maker.draw_bool(0.4):
        parent = maker.draw.choice(deeper if deeper and maker.draw_bool(0.6) else structs)
        added |= {"parent": parent, "name": _name_inside(maker, parent) or added["name"]}
    return added


def _name_inside(maker: ScriptMaker, parent: str) -> str | None:
    """Draw the name of a field that was dropped from a struct; None if there is none, or a new name is to be used."""
    taken = {name for name, _, _ in _named_types(maker.columns)}
    starts = [name for name in maker.dropped if name.startswith(f"{parent}.") and name not in taken]
    names = [name.removeprefix(f"{parent}.") for name in starts if "." not in name.removeprefix(f"{parent}.")]
    return maker.draw.choice(names) if names and maker.draw_bool(0.5) else None


def _added_again(maker: ScriptMaker, name: str) -> Op:
    """Draw a column with the full name of one that was dropped."""
    parents = [place for place, type_ in _evolving_types(maker) if _is_struct(type_) and name.startswith(f"{place}.")]
    parent = max(parents, key=len, default=None)
    made = {**_draw_added_column(maker), "name": name if parent is None else name[len(parent) + 1 :]}
    made.pop("parent", None)
    return made if parent is None else {**made, "parent": parent}


def _in_key(maker: ScriptMaker, name: str) -> bool:
    """Return whether a full name refers to the key of a map, or to something inside it."""
    keys = [place for place, type_, _ in _named_types(maker.columns) if isinstance(type_, dict) and "key" in type_]
    return any(f"{name}.".startswith(f"{place}.key.") for place in keys)


def _is_struct(type_: Json) -> bool:
    return isinstance(type_, dict) and type_["type"] == "struct"


def _alter_spec(maker: ScriptMaker) -> Op | None:
    changes = [first] if (first := _spec_change(maker)) else []
    while changes and maker.allows("several-changes") and maker.draw_bool(0.25):
        ahead = maker.maker_after({"op": "alter-spec", "changes": changes})
        more = None if ahead is None else _spec_change(ahead)
        changes += [] if more is None else [more]
    return {"changes": changes} if changes else None


def _spec_change(maker: ScriptMaker) -> Op | None:
    if not maker.allows("partition"):
        return None
    spec = maker.table.partition
    if spec and maker.draw_bool(0.5):
        name = maker.draw.choice(spec)["name"]
        if maker.allows(PARTITION_NAMES) and maker.draw_bool(0.2):
            return {"op": "rename", "name": name, "to": f"p{next(maker.names)}"}
        return {"op": "remove", "name": name}
    made = maker.new_partition_field(maker.columns, spec)
    kinds = dict(predicate_leaves(maker.columns))
    if made is None or (made["transform"].startswith("truncate") and kinds[made["source"]] in ("int", "long")):
        return None  # existing rows may have the least value, which cannot be truncated
    return {"op": "add", **made}


def _sort(maker: ScriptMaker) -> Op:
    return {"fields": maker.new_sort(maker.columns, truncates=False)}


def _upgrade(maker: ScriptMaker) -> Op | None:
    higher = [version for version in (2, 3) if version > maker.version and maker.allows(f"v{version}")]
    return {"format_version": maker.draw.choice(higher)} if higher else None


def _properties(maker: ScriptMaker) -> Op | None:
    formats = [one for one in FORMATS if maker.allows(one)]
    made = {"write.format.default": maker.draw.choice(formats)} if formats and maker.draw_bool(0.5) else {}
    made |= maker.some_properties()
    present = [name for name in maker.table.properties if name not in made and name != "write.format.default"]
    if present and maker.allows("remove-properties") and maker.draw_bool(0.4):
        removed = maker.draw.sample(present, maker.draw.randint(1, len(present)))
        return {"remove": removed, "set": made} if made else {"remove": removed}
    return {"set": made} if made else None


def _reference(prefix: str) -> Callable[[ScriptMaker], Op]:
    def made(maker: ScriptMaker) -> Op:
        at = {"at": maker.draw.randrange(len(maker.operations))} if maker.draw_bool(0.3) else {}
        return {"name": f"{prefix}{next(maker.names)}", **at}

    return made


_new_branch = _reference("b")


def _fast_forward(maker: ScriptMaker) -> Op | None:
    """Fast-forward main to a branch; if none is ahead, first roll main back to where one begins, or write a new one."""
    ahead = [name for name in maker.branches if maker.is_valid_next({"op": "fast-forward", "to": name})]
    if ahead:
        return {"to": maker.draw.choice(ahead)}
    table = maker.table
    begins = [(name, table.places.index(place)) for name, place in table.begins_at.items() if place in table.places]
    if begins and maker.allows("rollback") and maker.draw_bool(0.5):
        name, index = maker.draw.choice(begins)
        return {"to": name} if maker.take({"op": "rollback", "to": index}) else None
    if not maker.allows("branch", "append", "branch-writes") or not maker.take({"op": "branch", **_new_branch(maker)}):
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
    if not maker.allows(_FORBIDDEN[kind]):
        return None
    made = _make_forbidden(maker, kind, column["name"], column["type"])
    refused = made is not None and _is_refused(maker.table, len(maker.operations), made)
    return made if refused else None


def _is_refused(table: ModelTable, index: int, op: Op) -> bool:
    try:
        table.after(index, op)
    except UnspecifiedOperation:
        return False
    except ForbiddenOperation:
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
    "downgrade": "upgrade",
    "absent-field": "alter-spec",
    "tag": "append",
    "too-much": "append",
}
"""The kinds of forbidden operations, with the operation of each."""


def _make_forbidden(maker: ScriptMaker, kind: str, name: str, type_: Json) -> Op | None:
    op, row = _FORBIDDEN[kind], maker.row
    tags = list(maker.table.tags)
    sources = [part["source"] for part in maker.table.partition if part["source"] is not None]  # dropped: None
    required = [column["name"] for column in maker.columns if column["required"]]
    names = [column["name"] for column in maker.columns]
    sealed = [column for column in maker.columns if not supports_equality_deletes(column["type"])]
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
        case "float" if sealed:
            one = maker.draw.choice(sealed)
            return {"op": op, "rows": [{one["name"]: maker.chance.value(one["type"], required=True)}]}
        case "downgrade":
            return {"op": op, "format_version": maker.draw.randint(1, 2)}
        case "absent-field":
            return _after_others(maker, op, {"op": "remove", "name": "nowhere"})
        case "tag" if tags:
            return {"op": op, "rows": [row()], "branch": maker.draw.choice(tags)}
        case "too-much":
            return {"op": op, "rows": [{**row(), "nowhere": 1}]}
    return None if change is None else _after_others(maker, op, change)


def _after_others(maker: ScriptMaker, op: str, change: Op) -> Op:
    """Return an operation with a change that is refused, sometimes after others that are valid."""
    first = OPERATION_MAKERS[op](maker) if maker.allows("several-changes") and maker.draw_bool(0.4) else None
    is_valid = first is not None and maker.is_valid_next({"op": op, **first})
    return {"op": op, "changes": [*(first["changes"] if first is not None and is_valid else ()), change]}

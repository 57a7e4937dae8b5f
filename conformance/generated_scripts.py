"""Scripts made at random: what a writer is told to do to one table, of every type, transform and operation.

A script is JSON in the language of `conformance.scripts`. What it comes to is known from the model alone
(`conformance.scripts.model`), which also says which scripts make no sense, so that none such is made, also when a
script is made smaller.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from attrs import define, field, frozen

from conformance.generated_values import (
    LEAST,
    NEW_VALUES,
    SEALED_VALUES,
    TRANSFORMS,
    VALUES,
    Chance,
    leaves_of,
)
from conformance.scripts import ScriptError, parse_script
from conformance.scripts.model import run_model

Json = Any
Op = dict[str, Json]

MODES = ("copy-on-write", "merge-on-read")
FORMATS = ("parquet", "orc", "avro")

OPERATIONS = (
    "append", "overwrite", "delete", "delete-equal", "update", "merge", "upsert", "compact", "rewrite-manifests",
    "alter-schema", "alter-spec", "sort", "upgrade", "branch", "tag", "fast-forward", "rollback", "expire",
)  # fmt: skip
"""The operations that are made, but for ``create``."""

WEIGHTS = {"append": 5, "delete": 3, "alter-schema": 3, "update": 2, "merge": 2, "delete-equal": 2}

AVOIDABLE = frozenset({
    "v1", "v2", "v3", "null", "nan", "zero", "nested", "required", "partition", "shared-source", "default", *MODES,
    *FORMATS, *OPERATIONS, *VALUES, *NEW_VALUES, *SEALED_VALUES,
}) - {"long"}  # fmt: skip
"""What can be left out of scripts, so that what a writer is known to lack or do wrong does not hide others; ids are
long."""

IDS = 8
"""Rows have an id below this, so that keys meet often."""

_EQUALITY = frozenset(VALUES) - {"float", "double"}
"""Types of columns that equality deletes compare: the text rules floats out (DEL021)."""


def _takes_equality(type_: Json) -> bool:
    """Whether equality deletes may compare columns of a type, and new columns have a default."""
    return isinstance(type_, str) and type_ in _EQUALITY


_PROMOTIONS = {"int": "long", "float": "double", "decimal(9, 2)": "decimal(18, 2)"}


@frozen
class Size:
    """How large a script may be."""

    columns: int = 4
    rows: int = 4
    """The most rows of one operation."""

    operations: int = 7


SMALL = Size()


def make_script(seed: int, avoid: frozenset[str] = frozenset(), size: Size = SMALL) -> Json:
    """The script of a seed.

    Args:
        seed: any number; the same one makes the same script for ever.
        avoid: what it leaves out, of `AVOIDABLE`.
        size: how large it may be.
    """
    maker = Maker(Chance(random.Random(seed), avoid, nulls=0 if "null" in avoid else 0.2), size)
    maker.create()
    last = maker.draw.randint(1, size.operations)
    for _ in range(2 * size.operations):
        if len(maker.operations) <= last:
            maker.add(maker.pick())
    return maker.script


@define
class Maker:
    """A script that is being made, and the table as it stands."""

    chance: Chance
    size: Size = SMALL
    version: int = 0
    columns: list[Op] = field(factory=list)
    spec: list[Op] = field(factory=list)
    sort: list[Op] = field(factory=list)
    operations: list[Op] = field(factory=list)
    branches: list[str] = field(factory=list)
    ids: Iterator[int] = field(factory=lambda: itertools.count(1))
    names: Iterator[int] = field(factory=lambda: itertools.count(1))

    @property
    def draw(self) -> random.Random:
        """The source of chance."""
        return self.chance.random

    @property
    def script(self) -> Json:
        """The script so far."""
        return {"operations": list(self.operations)}

    def may(self, *words: str) -> bool:
        """Whether nothing of these is to be left out."""
        return not self.chance.avoid & set(words)

    def pick(self) -> str:
        """The name of an operation that may come next."""
        early = not any("rows" in op and "branch" not in op for op in self.operations)
        names = [name for name in OPERATIONS if self.may(name) and not (early and name in _LATE)]
        return self.draw.choices(names, [WEIGHTS.get(name, 1) for name in names])[0]

    def add(self, name: str) -> bool:
        """Add an operation of a kind, where one makes sense here; whether one was added."""
        made = _MAKERS[name](self)
        if made is None:
            return False
        added = {"op": name, **made}
        if not self.makes_sense_next(added):
            return False
        self.operations.append(added)
        self._follow(added)
        return True

    def makes_sense_next(self, op: Op) -> bool:
        """Whether the model can follow an operation here."""
        return makes_sense({"operations": [*self.operations, op]})

    def create(self) -> None:
        """The first operation: a table of any version, with the column ``id`` and some more."""
        versions = [version for version in (1, 2, 2, 3, 3) if self.may(f"v{version}")]
        self.version = self.draw.choice(versions)
        required = self.may("required") and self.draw.random() < 0.3
        self.columns = [{"id": next(self.ids), "name": "id", "required": required, "type": "long"}]
        for _ in range(self.draw.randint(0, self.size.columns - 1)):
            self.columns.append(self.new_column())
        self.spec = self._new_spec() if self.may("partition") else []
        self.sort = self.new_sort() if self.may("sort") and self.draw.random() < 0.2 else []
        formats = [one for one in ("parquet", "parquet", *FORMATS) if self.may(one)]
        made = {
            "op": "create",
            "format_version": self.version,
            "schema": {"type": "struct", "fields": list(self.columns)},
            "partition": list(self.spec),
            "sort": list(self.sort),
            "properties": {"write.format.default": self.draw.choice(formats or ["parquet"])},
        }
        self.operations.append({key: value for key, value in made.items() if value != []})

    def new_column(self) -> Op:
        """A column that the table does not have yet."""
        name, id_ = f"c{next(self.names)}", next(self.ids)
        sealed = [kind for kind in SEALED_VALUES if self.may(kind)]
        if self.version >= 3 and sealed and self.draw.random() < 0.1:
            kind: Json = self.draw.choice(sealed)
        else:
            kind = self.chance.type(self.ids, version=self.version)
        required = self.may("required") and kind != "unknown" and self.draw.random() < 0.15
        return {"id": id_, "name": name, "required": required, "type": kind}

    def _new_spec(self) -> list[Op]:
        fields: list[Op] = []
        for _ in range(self.draw.choice((0, 0, 1, 1, 2))):
            made = self.new_partition_field(fields)
            if made is not None:
                fields.append(made)
        return fields

    def new_partition_field(self, present: Sequence[Op]) -> Op | None:
        """A partition field that can stand beside others; None where there is none."""
        taken = {(one["source"], one["transform"].partition("[")[0]) for one in present}
        taken |= {(one["source"], kind) for one in present if one["transform"] in _TIMES for kind in _TIMES}
        free = [
            (column["name"], transform)
            for column in self.columns
            if isinstance(column["type"], str)
            and (self.may("shared-source") or all(column["name"] != source for source, _ in taken))
            for transform in TRANSFORMS.get(column["type"], ())
            if (column["name"], transform.partition("[")[0]) not in taken
        ]
        if not free:
            return None
        source, transform = self.draw.choice(free)
        return {"source": source, "transform": transform, "name": f"p{next(self.names)}"}

    def new_sort(self) -> list[Op]:
        """A sort order by one or two columns."""
        able = [name for name, kind in self.leaves() if "." not in name and kind in VALUES]
        return [
            {"source": name, "transform": "identity", "direction": self.draw.choice(("asc", "desc")),
             "null_order": self.draw.choice(("nulls-first", "nulls-last"))}
            for name in self.draw.sample(able, min(len(able), self.draw.randint(1, 2)))
        ]  # fmt: skip

    def leaves(self) -> list[tuple[str, str]]:
        """The columns that filters can name."""
        return list(leaves_of(self.columns))

    def row(self) -> Op:
        """A row of the table as it is."""
        return {column["name"]: self.value(column) for column in self.columns}

    def value(self, column: Op) -> Json:
        """A value of a column; none that a truncated partition cannot have."""
        if column["name"] == "id":
            return self.key()
        truncated = {one["source"] for one in self.spec if one["transform"].startswith("truncate")}
        value = self.chance.value(column["type"], required=column["required"])
        while column["name"] in truncated and value in LEAST:
            value = self.chance.value(column["type"], required=True)
        return value

    def key(self) -> str | None:
        """An id, which rows share often."""
        is_null = not self.columns[0]["required"] and self.draw.random() < self.chance.nulls / 4
        return None if is_null else str(self.draw.randrange(IDS))

    def rows(self, least: int = 1) -> list[Op]:
        """Some rows."""
        return [self.row() for _ in range(self.draw.randint(least, self.size.rows))]

    def filter(self) -> Json:
        """A filter; one in two is of the id, as that is most likely to match some rows and not all."""
        if self.draw.random() < 0.5:
            kind = self.draw.choice(("eq", "lt", "gt-eq", "in"))
            if kind == "in":
                return {"type": "in", "term": "id", "values": self.draw.sample(range(IDS), 2)}
            return {"type": kind, "term": "id", "value": self.draw.randrange(IDS)}
        return self.chance.predicate(self.leaves(), 1)

    def mode(self) -> Op:
        """How rows are deleted."""
        modes = [mode for mode in MODES if self.may(mode) and (self.version >= 2 or mode == MODES[0])]
        return {"mode": self.draw.choice(modes)} if modes else {}

    def branch(self) -> Op:
        """The branch that is written; main most often."""
        return {"branch": self.draw.choice(self.branches)} if self.branches and self.draw.random() < 0.3 else {}

    def _follow(self, op: Op) -> None:
        """The table after an operation."""
        match op["op"]:
            case "upgrade":
                self.version = op["format_version"]
            case "branch":
                self.branches.append(op["name"])
            case "sort":
                self.sort = list(op["fields"])
            case "alter-schema":
                for change in op["changes"]:
                    _follow_schema(self, change)
            case "alter-spec":
                for change in op["changes"]:
                    if change["op"] == "add":
                        self.spec.append({key: change[key] for key in ("source", "transform", "name")})
                    else:
                        self.spec = [one for one in self.spec if one["name"] != change["name"]]


_TIMES = frozenset({"year", "month", "day", "hour"})


def _follow_schema(maker: Maker, change: Op) -> None:
    columns = maker.columns
    match change:
        case {"op": "add", "name": name, "type": type_}:
            columns.append({"id": next(maker.ids), "name": name, "type": type_, "required": False})
        case {"op": "drop", "name": name}:
            maker.columns = [one for one in columns if one["name"] != name]
        case {"op": "rename", "name": name, "to": to}:
            maker.columns = [{**one, "name": to} if one["name"] == name else one for one in columns]
            for fields in (maker.spec, maker.sort):
                fields[:] = [{**one, "source": to} if one["source"] == name else one for one in fields]
        case {"op": "promote", "name": name, "type": type_}:
            maker.columns = [{**one, "type": type_} if one["name"] == name else one for one in columns]
        case {"op": "optional", "name": name}:
            maker.columns = [{**one, "required": False} if one["name"] == name else one for one in columns]


# What each operation is made of; None where the table has no use for it.


def _append(maker: Maker) -> Op:
    return {"rows": maker.rows(), **maker.branch()}


def _overwrite(maker: Maker) -> Op:
    return {"filter": maker.filter(), "rows": maker.rows(0), **maker.branch()}


def _delete(maker: Maker) -> Op:
    return {"filter": maker.filter(), **maker.mode(), **maker.branch()}


def _delete_equal(maker: Maker) -> Op | None:
    able = [column for column in maker.columns if _takes_equality(column["type"])] if maker.version >= 2 else []
    if not able:
        return None
    chosen = maker.draw.sample(able, maker.draw.randint(1, min(2, len(able))))
    rows = [
        {one["name"]: maker.value(one) for one in chosen}
        for _ in range(maker.draw.randint(1, 2))
    ]  # fmt: skip
    return {"rows": rows, **maker.branch()}


def _update(maker: Maker) -> Op | None:
    able = [column for column in maker.columns if column["name"] != "id" and column["type"] != "unknown"]
    if not able:
        return None
    row = maker.row()
    chosen = maker.draw.sample(able, maker.draw.randint(1, min(2, len(able))))
    return {"filter": maker.filter(), "set": {one["name"]: row[one["name"]] for one in chosen}, **maker.mode(),
            **maker.branch()}  # fmt: skip


def _keyed(maker: Maker) -> list[Op]:
    """Rows that have an id each, and no two the same."""
    ids = maker.draw.sample(range(IDS), maker.draw.randint(1, 3))
    return [{**maker.row(), "id": str(number)} for number in ids]


def _merge(maker: Maker) -> Op:
    return {"on": ["id"], "rows": _keyed(maker), **maker.mode(), **maker.branch()}


def _upsert(maker: Maker) -> Op | None:
    return {"on": ["id"], "rows": _keyed(maker), **maker.branch()} if maker.version >= 2 else None


def _alter_schema(maker: Maker) -> Op | None:
    used = {one["source"] for one in (*maker.spec, *maker.sort)} | {"id"}
    free = [one for one in maker.columns if one["name"] not in used]
    changes: list[Callable[[], Op | None]] = [lambda: _added(maker), lambda: _added(maker)]
    for one in free:
        changes += [lambda one=one: {"op": "drop", "name": one["name"]}]  # type: ignore[misc]
    for one in maker.columns[1:]:
        name = one["name"]
        changes += [lambda name=name: {"op": "rename", "name": name, "to": f"c{next(maker.names)}"}]  # type: ignore[misc]
        others = [other["name"] for other in maker.columns if other["name"] != name]
        changes += [lambda name=name, others=others: {"op": "move", "name": name,  # type: ignore[misc]
                                                      "after": maker.draw.choice([None, *others])}]  # fmt: skip
        if isinstance(one["type"], str) and one["type"] in _PROMOTIONS and one in free:
            promoted = _PROMOTIONS[one["type"]]
            changes += [lambda name=name, to=promoted: {"op": "promote", "name": name, "type": to}] * 3  # type: ignore[misc]
        if one["required"]:
            changes += [lambda name=name: {"op": "optional", "name": name}]  # type: ignore[misc]
    made = maker.draw.choice(changes)()
    return None if made is None else {"changes": [made]}


def _added(maker: Maker) -> Op | None:
    column = maker.new_column()
    added = {"op": "add", "name": column["name"], "type": column["type"]}
    if maker.version >= 3 and maker.may("default") and _takes_equality(column["type"]) and maker.draw.random() < 0.5:
        added["default"] = maker.chance.value(column["type"], required=True)
    return added


def _alter_spec(maker: Maker) -> Op | None:
    if not maker.may("partition"):
        return None
    if maker.spec and maker.draw.random() < 0.5:
        return {"changes": [{"op": "remove", "name": maker.draw.choice(maker.spec)["name"]}]}
    made = maker.new_partition_field(maker.spec)
    kinds = {column["name"]: column["type"] for column in maker.columns}
    if made is None or (made["transform"].startswith("truncate") and kinds[made["source"]] in ("int", "long")):
        return None  # rows that are there may have the least value, which cannot be truncated
    return {"changes": [{"op": "add", **made}]}


def _sort(maker: Maker) -> Op:
    return {"fields": maker.new_sort()}


def _upgrade(maker: Maker) -> Op | None:
    higher = [version for version in (2, 3) if version > maker.version and maker.may(f"v{version}")]
    return {"format_version": maker.draw.choice(higher)} if higher else None


_LATE = ("branch", "tag", "fast-forward", "rollback")
"""What refers to a snapshot that has to be there."""


def _reference(prefix: str) -> Callable[[Maker], Op]:
    def made(maker: Maker) -> Op:
        at = {"at": maker.draw.randrange(len(maker.operations))} if maker.draw.random() < 0.3 else {}
        return {"name": f"{prefix}{next(maker.names)}", **at}

    return made


def _fast_forward(maker: Maker) -> Op | None:
    """To a branch that main has not left behind; a new one that is written first, where there is none."""
    ahead = [name for name in maker.branches if maker.makes_sense_next({"op": "fast-forward", "to": name})]
    if ahead:
        return {"to": maker.draw.choice(ahead)}
    if not maker.may("branch", "append") or not maker.add("branch"):
        return None
    name = maker.branches[-1]
    added = {"op": "append", "rows": maker.rows(), "branch": name}
    if not maker.makes_sense_next(added):
        return None
    maker.operations.append(added)
    return {"to": name}


def _rollback(maker: Maker) -> Op:
    return {"to": maker.draw.randrange(len(maker.operations))}


def _nothing(_maker: Maker) -> Op:
    return {}


_MAKERS: dict[str, Callable[[Maker], Op | None]] = {
    "append": _append, "overwrite": _overwrite, "delete": _delete, "delete-equal": _delete_equal, "update": _update,
    "merge": _merge, "upsert": _upsert, "compact": _nothing, "rewrite-manifests": _nothing,
    "alter-schema": _alter_schema, "alter-spec": _alter_spec, "sort": _sort, "upgrade": _upgrade,
    "branch": _reference("b"), "tag": _reference("t"), "fast-forward": _fast_forward, "rollback": _rollback,
    "expire": _nothing,
}  # fmt: skip


def makes_sense(script: Json) -> bool:
    """Whether a script is of the language and the model can follow it."""
    try:
        parse_script(script)
        run_model(script)
    except ScriptError:
        return False
    return True

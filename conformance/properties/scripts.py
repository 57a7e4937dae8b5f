"""Scripts made at random: what a writer is told to do to one table, of every type, transform and operation.

A script is JSON in the language of `conformance.scripts`. It is made along the model of its table, which says what an
operation makes of the table, so that filters can ask for values that are there, and which operations make no sense.
Where that is wanted, scripts also have operations that the text forbids; a writer has to refuse them.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from attrs import define, field, frozen

from conformance.properties.values import (
    LEAST,
    NEW_VALUES,
    SEALED_VALUES,
    TRANSFORMS,
    VALUES,
    Chance,
    constant,
    leaves_of,
)
from conformance.scripts import LeftOpen, RefusedByText, ScriptError, parse_script
from conformance.scripts.model import MAIN, Table, run_model

Json = Any
Op = dict[str, Json]

MODES = ("copy-on-write", "merge-on-read")
FORMATS = ("parquet", "orc", "avro")

WEIGHTS = {
    "append": 5, "overwrite": 2, "delete": 4, "delete-equal": 3, "update": 3, "merge": 3, "upsert": 2, "compact": 1,
    "rewrite-manifests": 1, "alter-schema": 4, "alter-spec": 2, "sort": 1, "upgrade": 1, "properties": 1, "branch": 1,
    "tag": 1, "fast-forward": 1, "rollback": 1, "expire": 1,
}  # fmt: skip
"""The operations that are made, but for ``create``, and how often."""

OPERATIONS = tuple(WEIGHTS)

TOGETHER = "+"
"""Between a type, or ``partition``, and an operation that a writer does not support on tables with it."""

REFUSED = "refused"
"""The word for operations that the text forbids."""

AVOIDABLE = frozenset({
    "v1", "v2", "v3", "null", "nan", "zero", "nested", "required", "partition", "shared-source", "nested-source",
    "void", "default", "evolve-nested", "identity", "bucket", "truncate", "year", "month", "day", "hour", "metrics",
    "branch-writes", "empty-overwrite", REFUSED, *MODES, *FORMATS, *OPERATIONS, *VALUES, *NEW_VALUES, *SEALED_VALUES,
}) - {"long"}  # fmt: skip
"""What can be left out of scripts, so that what a writer is known to lack or do wrong does not hide others; ids are
long."""

IDS = 8
"""Rows have an id below this, so that keys meet often."""

_EQUALITY = frozenset(VALUES) - {"float", "double"}
"""Types of columns that equality deletes compare: the text rules floats out (DEL018)."""


def _takes_equality(type_: Json) -> bool:
    """Whether equality deletes may compare columns of a type, and new columns have a default."""
    return isinstance(type_, str) and type_ in _EQUALITY


_PROMOTIONS: dict[str, tuple[str, ...]] = {
    "int": ("long",), "float": ("double",), "decimal(9, 2)": ("decimal(18, 2)",), "date": ("timestamp", "timestamp_ns"),
    "unknown": ("int", "string", "date"),
}  # fmt: skip

_PROPERTIES = {
    "write.metadata.metrics.default": ("full", "none", "counts", "truncate(1)"),
    "write.delete.granularity": ("partition", "file"),
    "commit.manifest.min-count-to-merge": ("2", "100"),
    "commit.manifest-merge.enabled": ("true", "false"),
}
"""Properties that change what is written beside the rows."""


@frozen
class Size:
    """How large a script may be."""

    columns: int = 4
    rows: int = 4
    """The most rows of one operation."""

    operations: int = 7
    """The most operations beside the first."""

    least_operations: int = 0
    """The fewest beside the first, unless most of what is drawn makes no sense."""


SMALL = Size()


def make_script(seed: int, avoid: frozenset[str] = frozenset(), size: Size = SMALL, *, refused: bool = False) -> Json:
    """The script of a seed.

    Args:
        seed: any number; the same one makes the same script for ever.
        avoid: what it leaves out, of `AVOIDABLE`.
        size: how large it may be.
        refused: whether it may have operations that the text forbids.
    """
    avoid = avoid if refused else avoid | {REFUSED}
    maker = Maker(Chance(random.Random(seed), avoid, nulls=0 if "null" in avoid else 0.2), size)
    maker.create()
    last = maker.draw.randint(1, size.operations)
    for _ in range(2 * size.operations):
        if len(maker.operations) <= last:
            maker.add(maker.pick())
    return maker.script


@define
class Maker:
    """A script that is being made, and the model of its table."""

    chance: Chance
    size: Size = SMALL
    table: Table = field(factory=Table)
    operations: list[Op] = field(factory=list)
    ids: Iterator[int] = field(factory=lambda: itertools.count(1))
    names: Iterator[int] = field(factory=lambda: itertools.count(1))
    dropped: list[str] = field(factory=list)
    """Names of columns that are gone and may come again."""

    version: int = 0

    @property
    def draw(self) -> random.Random:
        """The source of chance."""
        return self.chance.random

    @property
    def script(self) -> Json:
        """The script so far."""
        return {"operations": list(self.operations)}

    @property
    def columns(self) -> tuple[Op, ...]:
        """The columns of the table."""
        return self.table.fields

    @property
    def branches(self) -> list[str]:
        """The branches but main."""
        return [name for name in self.table.branches if name != MAIN]

    def may(self, *words: str) -> bool:
        """Whether nothing of these is to be left out."""
        return not self.chance.avoid & set(words)

    def happens(self, share: float) -> bool:
        """Whether something happens that does not need to; the simpler case is that it does not."""
        return self.draw.random() < share

    def pick(self) -> str:
        """The name of an operation that may come next."""
        if self.may(REFUSED) and self.table.branches and self.happens(0.06):
            return REFUSED
        early = MAIN not in self.table.branches
        able = [name for name in OPERATIONS if self.may(name) and not (early and name in _LATE)]
        unable = self.unsupported_here()
        names = [name for name in able if name not in unable] or able
        places = list(itertools.accumulate(WEIGHTS[name] for name in names))
        at = self.draw.randrange(places[-1])
        return next(name for name, place in zip(names, places, strict=True) if at < place)

    def unsupported_here(self) -> set[str]:
        """The operations that are left out together with something that the table has, as in ``time+delete``."""
        pairs = [pair.split(TOGETHER) for pair in self.chance.avoid if TOGETHER in pair]
        if not pairs:
            return set()
        words = {_word(kind) for column in self.columns for kind in _types_in(column["type"])}
        words |= {"partition"} if self.table.specs else set()
        return {name for word, name in pairs if word in words}

    def add(self, name: str) -> bool:
        """Add an operation of a kind, where one makes sense here; whether one was added."""
        made = _forbidden(self) if name == REFUSED else _MAKERS[name](self)
        if made is None:
            return False
        return self.take({"op": name, **made} if name != REFUSED else made)

    def take(self, op: Op) -> bool:
        """Add an operation, where it makes sense here; whether it was added."""
        index = len(self.operations)
        try:
            self.table = self.table.after(index, op)
        except RefusedByText as error:
            if not self.may(REFUSED) or (isinstance(error, LeftOpen) and not self.happens(0.5)):
                return False
            self.table = self.table.skipped(index)
        except ScriptError:
            return False
        self.operations.append(op)
        self.version = self.table.version
        if op["op"] == "alter-schema":
            self.dropped += [change["name"] for change in op["changes"] if change["op"] == "drop"]
        return True

    def makes_sense_next(self, op: Op) -> bool:
        """Whether the model can follow an operation here."""
        try:
            self.table.after(len(self.operations), op)
        except ScriptError:
            return False
        return True

    def create(self) -> None:
        """The first operation: a table of any version, with the column ``id`` and some more."""
        versions = [version for version in (2, 3, 1, 3, 2) if self.may(f"v{version}")]
        self.version = self.draw.choice(versions)
        required = self.may("required") and self.happens(0.3)
        columns: list[Op] = [{"id": next(self.ids), "name": "id", "required": required, "type": "long"}]
        for _ in range(self.draw.randint(0, self.size.columns - 1)):
            columns.append(self.new_column())  # noqa: PERF401
        spec: list[Op] = []
        for _ in range(self.draw.choice((0, 0, 1, 1, 2)) if self.may("partition") else 0):
            made = self.new_partition_field(columns, spec)
            spec += [] if made is None else [made]
        formats = [one for one in ("parquet", "parquet", *FORMATS) if self.may(one)] or ["parquet"]
        made = {
            "op": "create",
            "format_version": self.version,
            "schema": {"type": "struct", "fields": columns},
            "partition": spec,
            "sort": self.new_sort(columns) if self.may("sort") and self.happens(0.2) else [],
            "properties": {"write.format.default": self.draw.choice(formats)},
        }
        if self.may("metrics"):
            made["properties"] |= self.some_properties()
        assert self.take({key: value for key, value in made.items() if value != []})

    def some_properties(self) -> dict[str, str]:
        """Some table properties."""
        return {name: self.draw.choice(values) for name, values in _PROPERTIES.items() if self.happens(0.15)}

    def new_column(self) -> Op:
        """A column that the table does not have yet."""
        names = [name for name in self.dropped if "." not in name and all(name != one["name"] for one in self.columns)]
        again = names and self.happens(0.3)
        name, id_ = self.draw.choice(names) if again else f"c{next(self.names)}", next(self.ids)
        sealed = [kind for kind in SEALED_VALUES if self.may(kind)]
        if self.version >= 3 and sealed and self.happens(0.1):
            kind: Json = self.draw.choice(sealed)
        else:
            kind = self.chance.type(self.ids, version=self.version)
        required = self.may("required") and kind != "unknown" and self.happens(0.15)
        return {"id": id_, "name": name, "required": required, "type": kind}

    def sources(self, columns: Sequence[Op]) -> list[tuple[str, str]]:
        """The columns that specs and sort orders can name, with their types."""
        return [(name, kind) for name, kind in leaves_of(columns) if "." not in name or self.may("nested-source")]

    def new_partition_field(self, columns: Sequence[Op], present: Sequence[Op]) -> Op | None:
        """A partition field that can be beside others; None where there is none."""
        taken = {(one["source"], one["transform"].partition("[")[0]) for one in present}
        taken |= {(one["source"], kind) for one in present if one["transform"] in _TIMES for kind in _TIMES}
        free = [
            (name, transform)
            for name, kind in self.sources(columns)
            if self.may("shared-source") or all(name != source for source, _ in taken)
            for transform in (*TRANSFORMS.get(kind, ()), "void")
            if (name, transform.partition("[")[0]) not in taken and self.may(transform.partition("[")[0])
        ]
        if not free:
            return None
        source, transform = self.draw.choice(free)
        if transform == "bucket[4]" and self.happens(0.2):
            transform = "bucket[1]"
        return {"source": source, "transform": transform, "name": f"p{next(self.names)}"}

    def new_sort(self, columns: Sequence[Op]) -> list[Op]:
        """A sort order by one or two columns."""
        able = [name for name, kind in self.sources(columns) if kind in VALUES]
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
        value = self.chance.value(column["type"], required=column["required"])
        if self.may("orc"):
            value = _with_near_times(column["type"], value)
        return value if not self._truncated(column) else _without_least(value)

    def _truncated(self, column: Op) -> bool:
        names = {part["source"].partition(".")[0] for part in self.table.partition if "truncate" in part["transform"]}
        return column["name"] in names

    def key(self) -> str | None:
        """An id, which rows share often."""
        is_null = not self.columns[0]["required"] and self.happens(self.chance.nulls / 4)
        return None if is_null else str(self.draw.randrange(IDS))

    def rows(self, least: int = 1) -> list[Op]:
        """Some rows."""
        return [self.row() for _ in range(self.draw.randint(least, self.size.rows))]

    def filter(self, branch: str = MAIN) -> Json:
        """A filter; one in two is of the id, as that is most likely to match some rows and not all."""
        if not self.happens(0.5):
            kind = self.draw.choice(("eq", "lt", "gt-eq", "in"))
            if kind == "in":
                return {"type": "in", "term": "id", "values": self.draw.sample(range(IDS), 2)}
            return {"type": kind, "term": "id", "value": self.draw.randrange(IDS)}
        return self.chance.predicate(self.leaves(), 1, self.values(branch))

    def values(self, branch: str = MAIN) -> dict[str, list[Json]]:
        """The constants that rows of a branch have, by the full name of a column, to be asked for."""
        snapshot = self.table.branches.get(branch)
        return constants_of(self.table, snapshot.rows if snapshot is not None else ())

    def mode(self) -> Op:
        """How rows are deleted."""
        modes = [mode for mode in MODES if self.may(mode) and (self.version >= 2 or mode == MODES[0])]
        return {"mode": self.draw.choice(modes)} if modes else {}

    def branch(self) -> Op:
        """The branch that is written; main most often."""
        wanted = self.branches and self.may("branch-writes") and self.happens(0.3)
        return {"branch": self.draw.choice(self.branches)} if wanted else {}


def _types_in(type_: Json) -> Iterator[str]:
    """The primitive types inside of a type."""
    if isinstance(type_, str):
        yield type_
        return
    for field_ in type_.get("fields", ()):
        yield from _types_in(field_["type"])
    for part in ("element", "key", "value"):
        if part in type_:
            yield from _types_in(type_[part])


def _word(type_: str) -> str:
    """The word that leaves a type out: those with parameters have them."""
    return type_ if type_ in VALUES else type_.partition("(")[0]


def constants_of(table: Table, rows: Sequence[Any]) -> dict[str, list[Json]]:
    """The values of the columns that predicates can name in some rows of the model, as constants of predicates."""
    read = [row.read(table.fields) for row in rows]
    found = {}
    for name, kind in leaves_of(table.fields):
        values = {value for row in read if (value := _at(row, name)) is not None}
        found[name] = [constant(kind, value) for value in sorted(values, key=str) if value not in _NOT_CONSTANTS]
    return found


_NOT_CONSTANTS = ("NaN", "Infinity", "-Infinity")


def _at(row: Json, name: str) -> Json:
    for part in name.split("."):
        row = None if row is None else row.get(part)
    return row


def _without_least(value: Json) -> Json:
    """A value without what cannot be truncated in it."""
    if isinstance(value, dict):
        return {name: _without_least(one) for name, one in value.items()}
    return None if isinstance(value, (int, str)) and value in LEAST else value


def _with_near_times(type_: Json, value: Json, *, inside: bool = False) -> Json:
    """A value whose timestamps in lists and maps are ones that the reference writes to ORC: from 1678 to 2261."""
    if value is None:
        return None
    if not isinstance(type_, dict):
        far = inside and str(type_).startswith("timestamp") and not "1678" <= value[:4] <= "2261"
        return f"1972{value[4:]}" if far else value
    if type_["type"] == "struct":
        return {
            field["name"]: _with_near_times(field["type"], value[field["name"]], inside=inside)
            for field in type_["fields"]
            if field["name"] in value
        }
    if type_["type"] == "list":
        return [_with_near_times(type_["element"], one, inside=True) for one in value]
    return {
        f"{part}s": [_with_near_times(type_[part], one, inside=True) for one in value[f"{part}s"]]
        for part in ("key", "value")
    }


_TIMES = frozenset({"year", "month", "day", "hour"})


# What each operation is made of; None where the table has no use for it.


def _append(maker: Maker) -> Op:
    return {"rows": maker.rows(), **maker.branch()}


def _overwrite(maker: Maker) -> Op:
    branch = maker.branch()
    least = 0 if maker.may("empty-overwrite") else 1
    return {"filter": maker.filter(**branch), "rows": maker.rows(least), **branch}


def _delete(maker: Maker) -> Op:
    branch = maker.branch()
    return {"filter": maker.filter(**branch), **maker.mode(), **branch}


def _delete_equal(maker: Maker) -> Op | None:
    able = [column for column in maker.columns if _takes_equality(column["type"])] if maker.version >= 2 else []
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


def _update(maker: Maker) -> Op | None:
    able = [column for column in maker.columns if column["name"] != "id" and column["type"] != "unknown"]
    if not able:
        return None
    branch = maker.branch()
    chosen = maker.draw.sample(able, maker.draw.randint(1, min(2, len(able))))
    assigned = {one["name"]: maker.value(one) for one in chosen}
    return {"filter": maker.filter(**branch), "set": assigned, **maker.mode(), **branch}


def _keyed(maker: Maker) -> Op:
    """Rows that have an id each, and no two the same, and by which columns they are matched: the id, and one more."""
    branch = maker.branch()
    ids = maker.draw.sample(range(IDS), maker.draw.randint(1, 3))
    rows = [{**maker.row(), "id": str(number)} for number in ids]
    able = [one["name"] for one in maker.columns if one["name"] != "id" and _takes_equality(one["type"])]
    if not able or not maker.happens(0.2):
        return {"on": ["id"], "rows": rows, **branch}
    name = maker.draw.choice(able)
    present = [row.read(maker.table.fields) for row in maker.table.rows(branch.get("branch", MAIN))]
    for row in rows:
        alike = [one for one in present if one["id"] == row["id"]] if maker.happens(0.5) else present
        row |= {name: maker.draw.choice(alike)[name]} if alike else {}
    return {"on": ["id", name], "rows": rows, **branch}


def _merge(maker: Maker) -> Op:
    return {**_keyed(maker), **maker.mode()}


def _upsert(maker: Maker) -> Op | None:
    return _keyed(maker) if maker.version >= 2 else None


def _paths(fields: Sequence[Op], prefix: str = "") -> Iterator[tuple[str, Op, Sequence[Op]]]:
    """Every field of a struct at any depth: its full name, itself, and the fields beside it."""
    for one in fields:
        yield prefix + one["name"], one, fields
        yield from _inner_paths(one["type"], f"{prefix}{one['name']}.")


def _inner_paths(type_: Json, prefix: str) -> Iterator[tuple[str, Op, Sequence[Op]]]:
    if isinstance(type_, dict):
        yield from _paths(type_.get("fields", ()), prefix)
        for part in ("element", "value"):
            if part in type_:
                yield from _inner_paths(type_[part], f"{prefix}{part}.")


def _alter_schema(maker: Maker) -> Op | None:
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
                if not _takes_equality(one["type"]) or maker.version < 3 or not maker.may("default"):
                    return None
                made["default"] = constant(one["type"], maker.chance.value(one["type"], required=True))
            case "optional" if not one["required"]:
                return None
            case "drop" if "." in name and len(beside) == 1:
                return None  # no Parquet file has a struct without fields
    return {"changes": [made]}


def _added(maker: Maker) -> Op:
    column = maker.new_column()
    added = {"op": "add", "name": column["name"], "type": column["type"]}
    has_default = maker.version >= 3 and maker.may("default") and _takes_equality(column["type"])
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


def _alter_spec(maker: Maker) -> Op | None:
    if not maker.may("partition"):
        return None
    spec = maker.table.partition
    if spec and maker.happens(0.5):
        name = maker.draw.choice(spec)["name"]
        if maker.happens(0.2):
            return {"changes": [{"op": "rename", "name": name, "to": f"p{next(maker.names)}"}]}
        return {"changes": [{"op": "remove", "name": name}]}
    made = maker.new_partition_field(maker.columns, spec)
    kinds = dict(leaves_of(maker.columns))
    if made is None or (made["transform"].startswith("truncate") and kinds[made["source"]] in ("int", "long")):
        return None  # rows that are there may have the least value, which cannot be truncated
    return {"changes": [{"op": "add", **made}]}


def _sort(maker: Maker) -> Op:
    return {"fields": maker.new_sort(maker.columns)}


def _upgrade(maker: Maker) -> Op | None:
    higher = [version for version in (2, 3) if version > maker.version and maker.may(f"v{version}")]
    return {"format_version": maker.draw.choice(higher)} if higher else None


def _properties(maker: Maker) -> Op | None:
    formats = [one for one in FORMATS if maker.may(one)]
    made = {"write.format.default": maker.draw.choice(formats)} if formats and maker.happens(0.5) else {}
    if maker.may("metrics"):
        made |= maker.some_properties()
    return {"set": made} if made else None


_LATE = ("branch", "tag", "fast-forward", "rollback")
"""What refers to a snapshot that has to be there."""


def _reference(prefix: str) -> Callable[[Maker], Op]:
    def made(maker: Maker) -> Op:
        at = {"at": maker.draw.randrange(len(maker.operations))} if maker.happens(0.3) else {}
        return {"name": f"{prefix}{next(maker.names)}", **at}

    return made


def _fast_forward(maker: Maker) -> Op | None:
    """To a branch that main has not left behind; a new one that is written first, where there is none."""
    ahead = [name for name in maker.branches if maker.makes_sense_next({"op": "fast-forward", "to": name})]
    if ahead:
        return {"to": maker.draw.choice(ahead)}
    if not maker.may("branch", "append", "branch-writes") or not maker.add("branch"):
        return None
    name = maker.branches[-1]
    written = maker.take({"op": "append", "rows": maker.rows(), "branch": name})
    return {"to": name} if written else None


def _rollback(maker: Maker) -> Op:
    return {"to": maker.draw.randrange(len(maker.operations))}


def _nothing(_maker: Maker) -> Op:
    return {}


def _compact(maker: Maker) -> Op:
    return maker.branch()


_MAKERS: dict[str, Callable[[Maker], Op | None]] = {
    "append": _append, "overwrite": _overwrite, "delete": _delete, "delete-equal": _delete_equal, "update": _update,
    "merge": _merge, "upsert": _upsert, "compact": _compact, "rewrite-manifests": _nothing,
    "alter-schema": _alter_schema, "alter-spec": _alter_spec, "sort": _sort, "upgrade": _upgrade,
    "properties": _properties, "branch": _reference("b"), "tag": _reference("t"), "fast-forward": _fast_forward,
    "rollback": _rollback, "expire": _nothing,
}  # fmt: skip


# What the text forbids.


def _forbidden(maker: Maker) -> Op | None:
    """An operation that a writer has to refuse; None where the one that was drawn is not to be had here."""
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
    "null": "append", "null-update": "update", "promote": "alter-schema", "drop-source": "alter-schema",
    "promote-source": "alter-schema", "again": "alter-schema", "rename": "alter-schema", "required": "alter-schema",
    "new-type": "alter-schema", "absent-column": "delete", "float": "delete-equal", "deletes": "delete",
    "downgrade": "upgrade", "absent-field": "alter-spec", "tag": "append", "too-much": "append",
}  # fmt: skip
"""What can be forbidden, and the operation that it is."""


def _forbidden_of(maker: Maker, kind: str, name: str, type_: Json) -> Op | None:
    op, row = _FORBIDDEN[kind], maker.row
    tags, spec = list(maker.table.tags), maker.table.partition
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
        case "drop-source" if spec:
            change = {"op": "drop", "name": maker.draw.choice(spec)["source"]}
        case "promote-source" if spec:
            change = {"op": "promote", "name": maker.draw.choice(spec)["source"], "type": "timestamp"}
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
            return {"op": op, "rows": [{name: maker.chance.value(type_)}]}
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


def makes_sense(script: Json) -> bool:
    """Whether a script is of the language and the model can follow it."""
    try:
        parse_script(script)
        run_model(script)
    except ScriptError:
        return False
    return True

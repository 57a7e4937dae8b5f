"""What operations of random scripts are made from: a script that is being made, the model of its table, and chance."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from typing import Any

from attrs import define, field, frozen

from conformance.core.json_types import Json
from conformance.properties.values import LEAST, SEALED_VALUES, TRANSFORMS, VALUES, Chance, constant, leaves_of
from conformance.scripts import LeftOpen, RefusedByText, ScriptError
from conformance.scripts.model import MAIN, Table

Op = dict[str, Json]

REFUSED = "refused"
"""The word for operations that the text forbids."""

MODES = ("copy-on-write", "merge-on-read")
FORMATS = ("parquet", "orc", "avro")

IDS = 8
"""Rows have an id below this, so that keys meet often."""

_EQUALITY = frozenset(VALUES) - {"float", "double"}
"""Types of columns that equality deletes compare: the text rules floats out (DEL018)."""


def takes_equality(type_: Json) -> bool:
    """Whether equality deletes may compare columns of a type, and new columns have a default."""
    return isinstance(type_, str) and type_ in _EQUALITY


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


@define
class ScriptMaker:
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
            {
                "source": name,
                "transform": "identity",
                "direction": self.draw.choice(("asc", "desc")),
                "null_order": self.draw.choice(("nulls-first", "nulls-last")),
            }
            for name in self.draw.sample(able, min(len(able), self.draw.randint(1, 2)))
        ]

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
        (required,) = (column["required"] for column in self.columns if column["name"] == "id")
        is_null = not required and self.happens(self.chance.nulls / 4)
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

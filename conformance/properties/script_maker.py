"""The state of generating a random script: the script so far, the model of its table, and a source of chance."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from typing import Any

from attrs import define, field, frozen

from conformance.core.json_types import Json
from conformance.properties.values import LEAST, SEALED_VALUES, TRANSFORMS, VALUES, Chance, constant, predicate_leaves
from conformance.scripts import LeftOpen, RefusedByText, ScriptError
from conformance.scripts.model import MAIN, Table

Op = dict[str, Json]

REFUSED = "refused"
"""The word for operations that the spec forbids."""

PARTITION_NAMES = "partition-names"
"""The word for names of partition fields that a script chooses."""

MODES = ("copy-on-write", "merge-on-read")
FORMATS = ("parquet", "orc", "avro")

IDS = 8
"""Ids of rows are less than this, so that keys often match."""

_EQUALITY = frozenset(VALUES) - {"float", "double"}
"""Types of columns that equality deletes compare: the spec excludes floats (DEL018)."""


def takes_equality(type_: Json) -> bool:
    """Return whether equality deletes may compare columns of a type, and new columns of it may have a default."""
    return isinstance(type_, str) and type_ in _EQUALITY


_PROPERTIES = {
    "write.metadata.metrics.default": ("full", "none", "counts", "truncate(1)"),
    "write.delete.granularity": ("partition", "file"),
    "commit.manifest.min-count-to-merge": ("2", "100"),
    "commit.manifest-merge.enabled": ("true", "false"),
}
"""Table properties that change what is written besides the rows."""


_SUFFIXES = {"truncate": "trunc", "void": "null"}


def usual_partition_name(source: str, transform: str) -> str:
    """Return the name that engines give a field of a partition spec, where their statements cannot name it."""
    word = transform.partition("[")[0]
    return source if word == "identity" else f"{source}_{_SUFFIXES.get(word, word)}"


@frozen
class Size:
    """The size limits of a script."""

    columns: int = 4
    rows: int = 4
    """The most rows of one operation."""

    operations: int = 7
    """The most operations, not counting the first."""

    least_operations: int = 0
    """The fewest operations, not counting the first, unless most drawn operations are not valid."""


SMALL = Size()


@define
class ScriptMaker:
    """A script that is being generated, and the model of its table."""

    chance: Chance
    size: Size = SMALL
    table: Table = field(factory=Table)
    operations: list[Op] = field(factory=list)
    ids: Iterator[int] = field(factory=lambda: itertools.count(1))
    names: Iterator[int] = field(factory=lambda: itertools.count(1))
    dropped: list[str] = field(factory=list)
    """Names of dropped columns, which may be used again."""

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
        """The branches except main."""
        return [name for name in self.table.branches if name != MAIN]

    def may(self, *words: str) -> bool:
        """Return whether none of these words is to be left out."""
        return not self.chance.exclude & set(words)

    def happens(self, share: float) -> bool:
        """Draw whether something optional happens; shrinking prefers that it does not."""
        return self.draw.random() < share

    def take(self, op: Op) -> bool:
        """Add an operation if it is valid here; return whether it was added."""
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
        """Return whether the model can follow an operation here."""
        try:
            self.table.after(len(self.operations), op)
        except ScriptError:
            return False
        return True

    def create(self) -> None:
        """Add the first operation: a table of any version, with the column ``id`` and others."""
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
        """Draw a column that the table does not have yet."""
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
        """Return the columns that specs and sort orders can name, with their types."""
        return [
            (name, kind) for name, kind in predicate_leaves(columns) if "." not in name or self.may("nested-source")
        ]

    def new_partition_field(self, columns: Sequence[Op], present: Sequence[Op]) -> Op | None:
        """Draw a partition field that is valid besides others; None if there is none."""
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
        chosen = f"p{next(self.names)}" if self.may(PARTITION_NAMES) else usual_partition_name(source, transform)
        return {"source": source, "transform": transform, "name": chosen}

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
        return list(predicate_leaves(self.columns))

    def row(self) -> Op:
        """Draw a row of the current table."""
        return {column["name"]: self.value(column) for column in self.columns}

    def value(self, column: Op) -> Json:
        """Draw a value of a column that the transforms of its partition fields support."""
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
        """Draw an id, which rows often share."""
        (required,) = (column["required"] for column in self.columns if column["name"] == "id")
        is_null = not required and self.happens(self.chance.nulls / 4)
        return None if is_null else str(self.draw.randrange(IDS))

    def rows(self, least: int = 1) -> list[Op]:
        """Some rows."""
        return [self.row() for _ in range(self.draw.randint(least, self.size.rows))]

    def filter(self, branch: str = MAIN) -> Json:
        """Draw a filter; half of them are on the id, as that is most likely to match some rows and not all."""
        if not self.happens(0.5):
            kind = self.draw.choice(("eq", "lt", "gt-eq", "in"))
            if kind == "in":
                return {"type": "in", "term": "id", "values": self.draw.sample(range(IDS), 2)}
            return {"type": kind, "term": "id", "value": self.draw.randrange(IDS)}
        return self.chance.predicate(self.leaves(), 1, self.values(branch))

    def values(self, branch: str = MAIN) -> dict[str, list[Json]]:
        """Return the values in rows of a branch, as constants for filters, by the full name of a column."""
        snapshot = self.table.branches.get(branch)
        return filter_constants(self.table, snapshot.rows if snapshot is not None else ())

    def mode(self) -> Op:
        """Draw the mode of deleting rows."""
        modes = [mode for mode in MODES if self.may(mode) and (self.version >= 2 or mode == MODES[0])]
        return {"mode": self.draw.choice(modes)} if modes else {}

    def branch(self) -> Op:
        """Draw the branch to write to; mostly main."""
        wanted = self.branches and self.may("branch-writes") and self.happens(0.3)
        return {"branch": self.draw.choice(self.branches)} if wanted else {}


def filter_constants(table: Table, rows: Sequence[Any]) -> dict[str, list[Json]]:
    """Return the values in some rows of the model, as constants, for the columns that predicates can name."""
    read = [row.read(table.fields) for row in rows]
    found = {}
    for name, kind in predicate_leaves(table.fields):
        values = {value for row in read if (value := row.get(name, _at(row, name))) is not None}
        found[name] = [constant(kind, value) for value in sorted(values, key=str) if value not in _NOT_CONSTANTS]
    return found


_NOT_CONSTANTS = ("NaN", "Infinity", "-Infinity")


def _at(row: Json, name: str) -> Json:
    for part in name.split("."):
        row = row.get(part) if isinstance(row, dict) else None
    return row


def _without_least(value: Json) -> Json:
    """Replace the parts of a value that cannot be truncated."""
    if isinstance(value, dict):
        return {name: _without_least(one) for name, one in value.items()}
    return None if isinstance(value, (int, str)) and value in LEAST else value


def _with_near_times(type_: Json, value: Json, *, inside: bool = False) -> Json:
    """Replace timestamps in lists and maps by ones that the reference can write to ORC: from 1678 to 2261."""
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

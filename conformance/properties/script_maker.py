"""The state of generating a random script: the script so far, the model of its table, and a source of chance."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Self

import attrs
from attrs import define, field, frozen

from conformance.properties.values import (
    LEAST,
    NESTED_WORDS,
    NEW_VALUES,
    OPAQUE_PARAMETERIZED,
    OPAQUE_VALUES,
    Chance,
    json_constant,
    partition_transforms,
    predicate_leaves,
    value_pool,
)
from conformance.scripts import ForbiddenOperation, ScriptError, UnspecifiedOperation
from conformance.scripts.model import MAIN, ModelTable
from spec_ref.core.json_types import Json

Op = dict[str, Json]

REFUSED = "refused"
"""The word for operations that the spec forbids."""

PARTITION_NAMES = "partition-names"
"""The word for names of partition fields that a script chooses."""

MODES = ("copy-on-write", "merge-on-read")
FORMATS = ("parquet", "orc", "avro")

IDS = 8
"""Ids of rows are less than this, so that keys often match."""

_NO_EQUALITY = frozenset({"float", "double", *NEW_VALUES, *OPAQUE_VALUES})
"""Types of columns that equality deletes do not compare: the spec excludes floats (DEL018)."""


def supports_equality_deletes(type_: Json) -> bool:
    """Return whether equality deletes may use columns of a type, and whether new columns of it may have a default."""
    return isinstance(type_, str) and type_.partition("(")[0] not in _NO_EQUALITY


PROPERTIES: dict[str, dict[str, tuple[str, ...]]] = {
    "metrics": {
        "write.metadata.metrics.default": ("full", "none", "counts", "truncate(1)"),
        "write.delete.granularity": ("partition", "file"),
        "commit.manifest.min-count-to-merge": ("2", "100"),
        "commit.manifest-merge.enabled": ("true", "false"),
    },
    "codecs": {
        "write.parquet.compression-codec": ("uncompressed", "snappy", "gzip", "zstd"),
        "write.orc.compression-codec": ("none", "zlib", "snappy", "zstd"),
        "write.avro.compression-codec": ("uncompressed", "gzip", "zstd"),  # Snappy is an optional package of PyIceberg
        "write.metadata.compression-codec": ("none", "gzip"),
    },
    "small-files": {
        "write.target-file-size-bytes": ("1", "600"),
        "commit.manifest.target-size-bytes": ("1000", "5000"),  # bytes; Spark runs a task for each manifest
    },
    "delete-format": {"write.delete.format.default": FORMATS},
}
"""Table properties that change what is written besides the rows, with their values, by the word to leave them out."""


_SUFFIXES = {"truncate": "trunc", "void": "null"}


def usual_partition_name(source: str, transform: str) -> str:
    """Return the name that engines give a partition field if their statements cannot name it."""
    word = transform.partition("[")[0]
    return source if word == "identity" else f"{source}_{_SUFFIXES.get(word, word)}"


@frozen
class Size:
    """The size limits of a script."""

    columns: int = 4
    rows: int = 4
    """The maximum number of rows of one operation."""

    operations: int = 7
    """The maximum number of operations, not counting the first."""

    min_operations: int = 0
    """The minimum number of operations, not counting the first, unless most drawn operations are not valid."""


SMALL = Size()


def _with_nested_words(chance: Chance) -> Chance:
    return attrs.evolve(chance, features=NESTED_WORDS)


@define
class ScriptMaker:
    """A script that is being generated, and the model of its table."""

    chance: Chance = field(converter=_with_nested_words)
    size: Size = SMALL
    table: ModelTable = field(factory=ModelTable)
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

    def allows(self, *words: str) -> bool:
        """Return whether none of these features is excluded."""
        return not self.chance.exclude & set(words)

    def draw_bool(self, share: float) -> bool:
        """Draw whether something optional happens; shrinking prefers that it does not."""
        return self.draw.random() < share

    def take(self, op: Op) -> bool:
        """Add an operation if it is valid here; return whether it was added."""
        index = len(self.operations)
        try:
            self.table = self.table.after(index, op)
        except ForbiddenOperation as error:
            if not self.allows(REFUSED) or (isinstance(error, UnspecifiedOperation) and not self.draw_bool(0.5)):
                return False
            self.table = self.table.after_refusal(index)
        except ScriptError:
            return False
        self.operations.append(op)
        self.version = self.table.version
        if op["op"] == "alter-schema":
            self.dropped += [change["name"] for change in op["changes"] if change["op"] == "drop"]
        return True

    def maker_after(self, op: Op) -> Self | None:
        """Return a maker for what follows an operation that is not yet in the script; None if it is not valid here."""
        try:
            after = self.table.after(len(self.operations), op)
        except ScriptError:
            return None
        dropped = [change["name"] for change in op.get("changes", ()) if change["op"] == "drop"]
        return attrs.evolve(self, table=after, operations=list(self.operations), dropped=[*self.dropped, *dropped])

    def is_valid_next(self, op: Op) -> bool:
        """Return whether the model can follow an operation here."""
        try:
            self.table.after(len(self.operations), op)
        except ScriptError:
            return False
        return True

    def create(self) -> None:
        """Add the first operation: a table of any version, with the column ``id`` and others."""
        versions = [version for version in (2, 3, 1, 3, 2) if self.allows(f"v{version}")]
        self.version = self.draw.choice(versions)
        required = self.allows("required") and self.draw_bool(0.3)
        columns: list[Op] = [{"id": next(self.ids), "name": "id", "required": required, "type": "long"}]
        for _ in range(self.draw.randint(0, self.size.columns - 1)):
            columns.append(self.new_column(columns))
        spec: list[Op] = []
        for _ in range(self.draw.choice((0, 0, 1, 1, 2)) if self.allows("partition") else 0):
            made = self.new_partition_field(columns, spec)
            spec += [] if made is None else [made]
        formats = [one for one in ("parquet", "parquet", *FORMATS) if self.allows(one)] or ["parquet"]
        made = {
            "op": "create",
            "format_version": self.version,
            "schema": {"type": "struct", "fields": columns},
            "partition": spec,
            "sort": self.new_sort(columns, truncates=True) if self.allows("sort") and self.draw_bool(0.2) else [],
            "properties": {"write.format.default": self.draw.choice(formats)},
        }
        made["properties"] |= self.some_properties()
        assert self.take({key: value for key, value in made.items() if value != []})

    def some_properties(self) -> dict[str, str]:
        """Draw some table properties."""
        every = {
            name: values for word, some in PROPERTIES.items() if self.allows(word) for name, values in some.items()
        }
        made = {name: self.draw.choice(values) for name, values in every.items() if self.draw_bool(0.12)}
        if made.get("write.delete.format.default") in self.chance.exclude:
            del made["write.delete.format.default"]
        return made

    def new_name(self, used: Iterable[str]) -> str:
        """Draw a name that no other column has."""
        return self.chance.odd_name(used) or f"c{next(self.names)}"

    def new_column(self, beside: Sequence[Op] = ()) -> Op:
        """Draw a column that the table does not have yet; its name is not one of those of ``beside`` either."""
        taken = {one["name"] for one in (*self.columns, *beside)}
        names = [name for name in self.dropped if "." not in name and name not in taken]
        again = names and self.draw_bool(0.3)
        name, id_ = self.draw.choice(names) if again else self.new_name(taken), next(self.ids)
        sealed = [kind for kind in (*OPAQUE_VALUES, *OPAQUE_PARAMETERIZED) if self.allows(kind, kind.partition("(")[0])]
        if self.version >= 3 and sealed and self.draw_bool(0.1):
            kind: Json = self.draw.choice(sealed)
        else:
            kind = self.chance.type(self.ids, version=self.version, nested=0.4, nested_inside=0.4)
        required = self.allows("required") and kind != "unknown" and self.draw_bool(0.15)
        return {"id": id_, "name": name, "required": required, "type": kind}

    def sources(self, columns: Sequence[Op]) -> list[tuple[str, str]]:
        """Return the columns that specs and sort orders can name, with their types."""
        return [
            (name, kind) for name, kind in predicate_leaves(columns) if "." not in name or self.allows("nested-source")
        ]

    def new_partition_field(self, columns: Sequence[Op], present: Sequence[Op]) -> Op | None:
        """Draw a partition field that is valid in addition to others; None if there is none."""
        taken = {(one["source"], one["transform"].partition("[")[0]) for one in present}
        taken |= {(one["source"], kind) for one in present if one["transform"] in _TIMES for kind in _TIMES}
        free = [
            (name, transform)
            for name, kind in self.sources(columns)
            if self.allows("shared-source") or all(name != source for source, _ in taken)
            for transform in (*partition_transforms(kind), "void")
            if (name, transform.partition("[")[0]) not in taken and self.allows(transform.partition("[")[0])
        ]
        if not free:
            return None
        source, transform = self.draw.choice(free)
        if transform == "bucket[4]" and self.draw_bool(0.2):
            transform = "bucket[1]"
        chosen = f"p{next(self.names)}" if self.allows(PARTITION_NAMES) else usual_partition_name(source, transform)
        return {"source": source, "transform": transform, "name": chosen}

    def new_sort(self, columns: Sequence[Op], *, truncates: bool) -> list[Op]:
        """Draw a sort order by one or two columns.

        Args:
            columns: the columns of the table.
            truncates: whether numbers may be truncated, as no row has the least value, which cannot be truncated.
        """
        able = [(name, kind) for name, kind in self.sources(columns) if value_pool(kind)]
        return [
            {
                "source": name,
                "transform": self._sort_transform(kind, truncates=truncates),
                "direction": self.draw.choice(("asc", "desc")),
                "null_order": self.draw.choice(("nulls-first", "nulls-last")),
            }
            for name, kind in self.draw.sample(able, min(len(able), self.draw.randint(1, 2)))
        ]

    def _sort_transform(self, kind: str, *, truncates: bool) -> str:
        if not self.allows("sort-transforms") or not self.draw_bool(0.5):
            return "identity"
        able = [one for one in partition_transforms(kind) if self.allows(one.partition("[")[0])]
        if kind in ("int", "long") and not truncates:
            able = [one for one in able if not one.startswith("truncate")]
        return self.draw.choice(able) if able else "identity"

    def leaves(self) -> list[tuple[str, str]]:
        """Return the columns that filters can name."""
        return list(predicate_leaves(self.columns))

    def row(self) -> Op:
        """Draw a row of the current table."""
        return {column["name"]: self.value(column) for column in self.columns}

    def value(self, column: Op) -> Json:
        """Draw a value of a column that the transforms of its partition fields support."""
        if column["name"] == "id":
            return self.key()
        value = self.chance.value(column["type"], required=column["required"])
        if self.allows("orc"):
            value = _with_near_times(column["type"], value)
        return value if not self._is_truncated(column) else _without_least(value)

    def _is_truncated(self, column: Op) -> bool:
        parts = (*self.table.partition, *self.table.sorted_by)
        names = [part["source"] for part in parts if "truncate" in part["transform"]]
        return any(f"{name}.".startswith(f"{column['name']}.") for name in names)

    def key(self) -> str | None:
        """Draw an id, which rows often share."""
        (required,) = (column["required"] for column in self.columns if column["name"] == "id")
        is_null = not required and self.draw_bool(self.chance.nulls / 4)
        return None if is_null else str(self.draw.randrange(IDS))

    def rows(self, least: int = 1) -> list[Op]:
        """Draw some rows."""
        return [self.row() for _ in range(self.draw.randint(least, self.size.rows))]

    def filter(self, branch: str = MAIN) -> Json:
        """Draw a filter; half of them are on the id, as that is most likely to match some rows and not all."""
        if not self.draw_bool(0.5):
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
        modes = [mode for mode in MODES if self.allows(mode) and (self.version >= 2 or mode == MODES[0])]
        return {"mode": self.draw.choice(modes)} if modes else {}

    def branch(self) -> Op:
        """Draw the branch to write to; mostly main."""
        wanted = self.branches and self.allows("branch-writes") and self.draw_bool(0.3)
        return {"branch": self.draw.choice(self.branches)} if wanted else {}


def filter_constants(table: ModelTable, rows: Sequence[Any]) -> dict[str, list[Json]]:
    """Return the values in some rows of the model, as constants, for the columns that predicates can name."""
    read = [row.read(table.fields) for row in rows]
    found = {}
    for name, kind in predicate_leaves(table.fields):
        values = {value for row in read if (value := _at(row, name)) is not None}
        found[name] = [json_constant(kind, value) for value in sorted(values, key=str) if value not in _NOT_CONSTANTS]
    return found


_NOT_CONSTANTS = ("NaN", "Infinity", "-Infinity")


def _at(row: Json, name: str) -> Json:
    """Return the value at a full name; names of fields may contain dots."""
    if not isinstance(row, dict):
        return None
    if name in row:
        return row[name]
    starts = [start for start in row if name.startswith(f"{start}.")]
    return _at(row[starts[0]], name[len(starts[0]) + 1 :]) if starts else None


def _without_least(value: Json) -> Json:
    """Replace the parts of a value that cannot be truncated by zero."""
    if isinstance(value, dict):
        return {name: _without_least(one) for name, one in value.items()}
    return type(value)(0) if isinstance(value, (int, str)) and value in LEAST else value


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

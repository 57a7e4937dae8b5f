"""What a table has to be after some writes: rows, columns, references and the snapshot log, in plain Python.

It shares no code with what it judges. Rows are found by the values of their column `id`, which no write changes.
"""

from __future__ import annotations

import datetime
import math
import struct
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Any, TypeAlias

import attrs

ID = 0
"""The number of the column `id`."""

Row: TypeAlias = Mapping[int, Any]
"""Values by the number of the column, without those of columns that were added after the row."""

Rows: TypeAlias = Mapping[int, Row]
"""Rows by their id."""


EPOCH = datetime.date(1970, 1, 1)
MICROS_PER_DAY = 86_400_000_000
UNITS_PER_DAY = {"timestamp": MICROS_PER_DAY, "timestamptz": MICROS_PER_DAY, "timestamp_ns": MICROS_PER_DAY * 1000}


def days(date: datetime.date) -> int:
    return (date - EPOCH).days


@attrs.frozen
class Column:
    """A column, which keeps its number when it is renamed."""

    number: int
    kind: str
    initial_default: Any = None
    """The value in rows that are older than the column."""

    write_default: Any = None
    """The value of rows that are written without one."""

    children: Columns = attrs.field(factory=dict)
    """The fields of a struct, or the ``element`` of a list, or the ``key`` and ``value`` of a map."""

    @property
    def is_nested(self) -> bool:
        return self.kind in ("struct", "list", "map")

    def value(self, row: Row) -> Any:
        return self.converted(row.get(self.number, self.initial_default))

    def converted(self, value: Any) -> Any:
        """Return the value in the type of the column: dates may have been promoted, fields renamed and added."""
        if value is None:
            return None
        if self.kind == "struct":
            return {name: child.value(value) for name, child in self.children.items()}
        if self.kind == "list":
            return [self.children["element"].converted(one) for one in value]
        if self.kind == "map":
            key, of_key = self.children["key"], self.children["value"]
            return [(key.converted(one), of_key.converted(other)) for one, other in value]
        is_promoted = isinstance(value, datetime.date) and self.kind in UNITS_PER_DAY
        return days(value) * UNITS_PER_DAY[self.kind] if is_promoted else value


Columns: TypeAlias = Mapping[str, Column]
Names: TypeAlias = tuple[str, ...]
"""The name of a column after those of its parents."""


def paths(columns: Columns) -> Iterator[tuple[Names, Column]]:
    """Yield all columns with their names and those of their parents."""
    for name, column in columns.items():
        yield (name,), column
        yield from (((name, *path), child) for path, child in paths(column.children))


def edited(columns: Columns, parent: Names, edit: Callable[[Columns], Columns]) -> Columns:
    """Edit the fields of a struct."""
    if not parent:
        return edit(columns)
    column = columns[parent[0]]
    return {**columns, parent[0]: attrs.evolve(column, children=edited(column.children, parent[1:], edit))}


def scalars(columns: Columns) -> Columns:
    """Return the columns that are not nested."""
    return {name: column for name, column in columns.items() if not column.is_nested}


@attrs.frozen
class Leaf:
    """A column that is not nested, in any number of structs."""

    path: tuple[Column, ...]
    """The structs, outermost first, and the column."""

    @property
    def column(self) -> Column:
        return self.path[-1]

    def value(self, row: Row) -> Any:
        at: Any = row
        for column in self.path[:-1]:
            at = at.get(column.number, column.initial_default)
            if at is None:
                return None
        return self.column.value(at)


def leaves(columns: Columns, parents: tuple[Column, ...] = ()) -> dict[str, Leaf]:
    """Return the columns that conditions, partitions and orders may use, by their full names."""
    found = {name: Leaf((*parents, column)) for name, column in scalars(columns).items()}
    for name, column in columns.items():
        if column.kind == "struct":
            inner = leaves(column.children, (*parents, column))
            found |= {f"{name}.{own}": leaf for own, leaf in inner.items()}
    return found


PartitionFields: TypeAlias = tuple[tuple[str, str, int], ...]
"""The name, the transform and the number of the source column of each partition field."""


@attrs.frozen
class Filter:
    """A condition on a column, or on nothing."""

    column: str | None = None
    operation: str = "true"
    constant: Any = None
    literal: Any = None
    """The constant in JSON."""

    def matches(self, row: Row, columns: Columns) -> bool:
        if self.column is None:
            return True
        return CONDITIONS[self.operation](leaves(columns)[self.column].value(row), self.constant)


def selected(columns: Columns, names: Collection[str], parent: str = "") -> Columns:
    """Return the columns with some full names, and of structs only what is selected in them."""
    found = {}
    for name, column in columns.items():
        full = f"{parent}{name}"
        children = selected(column.children, names, f"{full}.") if column.kind == "struct" else {}
        if full in names:
            found[name] = column
        elif children:
            found[name] = attrs.evolve(column, children=children)
    return found


def is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)


CONDITIONS: dict[str, Callable[[Any, Any], bool]] = {
    "is-null": lambda value, _: value is None,
    "not-null": lambda value, _: value is not None,
    "is-nan": lambda value, _: is_nan(value),
    "not-nan": lambda value, _: not is_nan(value),
    "lt": lambda value, constant: value is not None and value < constant,
    "lt-eq": lambda value, constant: value is not None and value <= constant,
    "gt": lambda value, constant: value is not None and value > constant,
    "gt-eq": lambda value, constant: value is not None and value >= constant,
    "eq": lambda value, constant: value == constant,
    "not-eq": lambda value, constant: value != constant,
    "starts-with": lambda value, constant: value is not None and value.startswith(constant),
    "not-starts-with": lambda value, constant: value is None or not value.startswith(constant),
}


def comparable(value: Any) -> Any:
    """Return a value that is equal for equal keys and partitions: floats count by their bits, with one NaN."""
    if not isinstance(value, float):
        return value
    return "NaN" if math.isnan(value) else struct.pack(">d", value)


def partition(row: Row, fields: PartitionFields, columns: Columns) -> tuple[Any, ...]:
    """Return the partition of a row by transforms other than buckets."""
    by_number = {leaf.column.number: leaf for leaf in leaves(columns).values()}

    def transformed(transform: str, source: int) -> Any:
        if transform == "void":  # whose source may have been dropped
            return None
        value = by_number[source].value(row)
        if value is None:
            return None
        if transform == "identity":
            return comparable(value)
        if transform == "truncate[2]":
            return truncated(value)
        return period(transform, value, UNITS_PER_DAY.get(by_number[source].column.kind, 1))

    return tuple(transformed(transform, source) for _, transform, source in fields)


def truncated(value: Any) -> Any:
    if isinstance(value, str | bytes):
        return value[:2]
    unit = 1 if isinstance(value, int) else Decimal("0.01")
    number = int(value / unit) if isinstance(value, Decimal) else value
    return (number - number % 2) * unit


def period(transform: str, value: Any, units_per_day: int) -> Any:
    """Return the year, month, day or hour of a date or timestamp."""
    if transform == "hour":
        return value * 24 // units_per_day
    date = value if isinstance(value, datetime.date) else EPOCH + datetime.timedelta(days=value // units_per_day)
    return {"year": (date.year,), "month": (date.year, date.month), "day": date}[transform]


@attrs.frozen
class Snapshot:
    parent: int | None
    time: int
    rows: Rows
    columns: Columns


@attrs.frozen
class Reference:
    snapshot: int
    is_tag: bool = False
    keep: int | None = None
    age: int | None = None
    reference_age: int | None = None


@attrs.frozen
class Model:
    """A table at some time; snapshots have the ids that the table gave them."""

    version: int
    columns: Columns
    spec: PartitionFields = ()
    specs: frozenset[PartitionFields] = frozenset()
    """All that were the default spec."""

    order: tuple[int, ...] = ()
    """The numbers of the columns that files are sorted by."""

    properties: Mapping[str, str] = attrs.field(factory=dict)
    references: Mapping[str, Reference] = attrs.field(factory=dict)
    snapshots: Mapping[int, Snapshot] = attrs.field(factory=dict)
    log: tuple[tuple[int, int], ...] = ()
    """When main was moved, and to which snapshot."""

    time: int = 0
    """The time of the last commit."""

    statistics: Mapping[int, str] = attrs.field(factory=dict)
    """The statistics file of each snapshot that has one."""

    def at(self, clock: int) -> Model:
        """Return the table at the time of the next commit, by a writer with some clock."""
        return attrs.evolve(self, time=max(self.time, clock))

    def head(self, branch: str) -> int | None:
        """Return the last snapshot of a branch; a new branch begins at main."""
        reference = self.references.get(branch, self.references.get("main"))
        return None if reference is None else reference.snapshot

    def rows(self, branch: str) -> Rows:
        head = self.head(branch)
        return {} if head is None else self.snapshots[head].rows

    def is_tag(self, name: str) -> bool:
        return name in self.references and self.references[name].is_tag

    def sources(self) -> set[int]:
        """Return the numbers of the columns that cannot be dropped, as new files are split or sorted by them."""
        return {source for _, transform, source in self.spec if transform != "void"} | set(self.order)

    def can_become_timestamp(self, date: int | None) -> bool:
        """Return whether a date has the same partitions as a timestamp."""
        return not any(
            source == date and transform in ("identity", "bucket[2]")
            for spec in self.specs
            for _, transform, source in spec
        )

    def mode(self, operation: str, mode: str | None) -> str:
        return mode or self.properties.get(f"write.{operation}.mode", "copy-on-write")

    def after_snapshot(self, branch: str, snapshot: int, rows: Rows) -> Model:
        before = self.references.get(branch)
        made = Snapshot(self.head(branch), self.time, rows, self.columns)
        moved = Reference(snapshot) if before is None else attrs.evolve(before, snapshot=snapshot)
        return attrs.evolve(self, snapshots={**self.snapshots, snapshot: made}).with_reference(branch, moved)

    def with_reference(self, name: str, reference: Reference | None) -> Model:
        others = {other: known for other, known in self.references.items() if other != name}
        if reference is None:
            return attrs.evolve(self, references=others)
        before = self.references.get(name)
        is_moved = before is None or before.snapshot != reference.snapshot
        entry = ((self.time, reference.snapshot),) if name == "main" and is_moved else ()
        return attrs.evolve(self, references={**others, name: reference}, log=self.log + entry)

    def with_statistics(self, snapshot: int, path: str | None) -> Model:
        others = {other: known for other, known in self.statistics.items() if other != snapshot}
        return attrs.evolve(self, statistics=others if path is None else {**others, snapshot: path})

    def expired(self, now: int) -> Model:
        """Remove what the retention policies do not keep (Snapshot Retention Policy)."""

        def policy(own: int | None, name: str, default: float) -> float:
            return own if own is not None else float(self.properties.get(f"history.expire.{name}", default))

        def age(snapshot: int) -> int:
            return now - self.snapshots[snapshot].time

        references = {
            name: known
            for name, known in self.references.items()
            if name == "main" or age(known.snapshot) <= policy(known.reference_age, "max-ref-age-ms", math.inf)
        }
        kept = set()
        for known in references.values():
            at: int | None = known.snapshot
            count = 0
            keep = policy(known.keep, "min-snapshots-to-keep", 1)
            most = policy(known.age, "max-snapshot-age-ms", 5 * 86_400_000)
            while at in self.snapshots and (not count or (not known.is_tag and (count < keep or age(at) <= most))):
                kept.add(at)
                at, count = self.snapshots[at].parent, count + 1
        gaps = [place for place, (_, snapshot) in enumerate(self.log) if snapshot not in kept]
        return attrs.evolve(
            self,
            references=references,
            snapshots={snapshot: known for snapshot, known in self.snapshots.items() if snapshot in kept},
            statistics={snapshot: path for snapshot, path in self.statistics.items() if snapshot in kept},
            log=self.log[gaps[-1] + 1 if gaps else 0 :],
        )


def sorted_rows(rows: Iterable[Iterable[Any]]) -> list[str]:
    """Return rows of values in a form that can be compared, with null, NaN and -0.0."""
    return sorted(repr(list(row)) for row in rows)

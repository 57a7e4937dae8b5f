"""Golden tables of the awkward values in `tools.derive.awkward`.

Parquet files have one row each, so that their bounds are that row's values. Partitioned tables have an identity field
for each column except those of type fixed, for which Iceberg-Java's manifests are not valid Avro files. Few engines
read partitions of nanoseconds; the vectors of manifests cover them.
"""

from __future__ import annotations

from typing import Any

from tools.derive import awkward
from tools.derive.awkward import NAMES
from tools.golden.make_tables_kit import golden
from tools.golden.make_tables_pyiceberg import ENGINE as PYICEBERG
from tools.golden.make_tables_pyiceberg import PyTable
from tools.golden.make_tables_spark import JavaTable, Session

NOT_IN_ORC = (
    "calendar",
    "far",
    "far-limits",
    "instant-limits",
    "far-instant-limits",
    "nanoseconds",
    "nanosecond-limits",
)
"""Kinds without ORC tables: Iceberg-Java writes wrong instants to ORC before 1970 and beyond nanoseconds' range."""

Rows = list[tuple[Any, ...]]


def columns(name: str) -> tuple[dict[str, Any], Rows]:
    """Return the columns of a table, each named after its type, and the rows."""
    rows = awkward.table_rows(name)
    kinds = list(dict.fromkeys(row[1] for row in rows))
    values = [[row[2] for row in rows if row[1] == type_] for type_ in kinds]
    longest = max(map(len, values))
    names = [awkward.column(type_) for type_ in kinds]
    padded = [[*one, *[None] * (longest - len(one))] for one in values]
    made = [(str(number), *row) for number, row in enumerate(zip(*padded, strict=True))]
    return {"id": "long", **dict(zip(names, kinds, strict=True))}, made


ABOUT = {
    "far": "dates and times far from 1970",
    "limits": "numbers at the limits of their types",
    "far-limits": "dates at the limits of their type",
    "instant-limits": "instants beside the limits of nanoseconds",
    "far-instant-limits": "instants beside the limits of microseconds",
    "nanosecond-limits": "nanoseconds beside their limits",
}


def _values(name: str, kind: str, format_: str, *, partitioned: bool = False) -> None:
    @golden(name, "iceberg-java")
    def make(session: Session) -> None:
        version = 3 if kind.startswith("nanosecond") else 2
        types, rows = columns(kind)
        about = f"awkward values in {format_}: {ABOUT.get(kind, kind)}{', as partitions' if partitioned else ''}"
        table = JavaTable(session, name, version, about)
        fields = [("identity", column) for column in types if column not in ("id", "fixed")] if partitioned else []
        table.make(types, fields)
        if format_ == "parquet":
            table.append_partitioned(format_, *rows)
        else:
            table.append(format_, *rows)
        table.mark("all rows")
        table.finish()


for _kind in awkward.TABLES:
    for _format in ("parquet", "avro", "orc"):
        if _format != "orc" or _kind not in NOT_IN_ORC:
            _values(f"awkward-{_kind}-{_format}", _kind, _format)
    if not _kind.startswith("nanosecond"):
        _values(f"awkward-partitions-{_kind}", _kind, "parquet", partitioned=True)


def _named(type_: Any, value: Any) -> Any:
    """Convert a value of a row to the form that makers of golden tables use."""
    if value is None or not isinstance(type_, dict):
        return value
    if type_["type"] == "struct":
        return {field["name"]: _named(field["type"], value[field["name"]]) for field in type_["fields"]}
    if type_["type"] == "list":
        return [_named(type_["element"], item) for item in value]
    return [
        (_named(type_["key"], key), _named(type_["value"], item))
        for key, item in zip(value["keys"], value["values"], strict=True)
    ]


def _renumbered(fields: list[Any]) -> dict[str, Any]:
    """Return the columns by name, with the ids that a new table assigns to nested fields, column by column."""
    last = [len(fields)]

    def next_id() -> int:
        last[0] += 1
        return last[0]

    def renumber(type_: Any) -> Any:
        if not isinstance(type_, dict):
            return type_
        if type_["type"] == "struct":
            ids = [next_id() for _ in type_["fields"]]
            return {
                "type": "struct",
                "fields": [
                    {"id": id_, "name": field["name"], "required": False, "type": renumber(field["type"])}
                    for id_, field in zip(ids, type_["fields"], strict=True)
                ],
            }
        if type_["type"] == "list":
            id_ = next_id()
            return {"type": "list", "element-id": id_, "element-required": False, "element": renumber(type_["element"])}
        key, value = next_id(), next_id()
        return {
            "type": "map",
            "key-id": key,
            "value-id": value,
            "key": renumber(type_["key"]),
            "value": renumber(type_["value"]),
            "value-required": False,
        }

    return {field["name"]: renumber(field["type"]) for field in fields}


NESTED = {
    "nulls": "nulls and empty collections at every depth",
    "deep-nulls": "nulls and empty collections in maps that other types contain",
    "null-keys": "null fields of the keys of a map",
}


def _nulls(kind: str, format_: str) -> None:
    name = f"awkward-{kind}-{format_}"

    @golden(name, "iceberg-java")
    def make(session: Session) -> None:
        from tools.derive.cases import awkward_writing as cases

        columns, rows = {
            "nulls": (cases.NESTED, cases.NESTED_ROWS),
            "deep-nulls": (cases.DEEP, cases.DEEP_ROWS),
            "null-keys": (cases.KEYS, cases.KEYS_ROWS),
        }[kind]
        table = JavaTable(session, name, 2, f"{NESTED[kind]} in {format_}")
        types = _renumbered(columns)
        table.make(types)
        made = [tuple(_named(type_, value) for type_, value in zip(types.values(), row, strict=True)) for row in rows]
        table.append(format_, *made)
        table.mark("all rows")
        table.finish()


def _very_long(format_: str) -> None:
    name = f"awkward-very-long-{format_}"

    @golden(name, "iceberg-java")
    def make(session: Session) -> None:
        table = JavaTable(session, name, 2, f"a binary of 33,024 bytes in {format_}")
        table.make({"id": "long", "binary": "binary"})
        table.append(format_, (1, awkward.VERY_LONG), (2, ""))
        table.mark("all rows")
        table.finish()


def _names(format_: str) -> None:
    name = f"awkward-names-{format_}"

    @golden(name, "iceberg-java")
    def make(session: Session) -> None:
        table = JavaTable(session, name, 2, f"names of columns that engines easily alter, in {format_}")
        table.make(dict.fromkeys(NAMES, "int"))
        table.append(format_, *(tuple(range(start, start + len(NAMES))) for start in (1, 101)))
        table.mark("all rows")
        table.finish()


for _format in ("parquet", "avro", "orc"):
    for _kind in NESTED:
        _nulls(_kind, _format)
    _very_long(_format)
    _names(_format)


def _py_values(kind: str) -> None:
    name = f"pyiceberg-awkward-{kind}"

    @golden(name, PYICEBERG)
    def make(_session: None) -> None:
        table = PyTable(name, 2, f"awkward values: {kind}")
        types, rows = columns(kind)
        table.create(types)
        longs = [type_ == "long" for type_ in types.values()]
        table.append(
            *(
                tuple(
                    int(value) if long and value is not None else value for long, value in zip(longs, row, strict=True)
                )
                for row in rows
            )
        )
        table.mark("all rows")
        table.finish()


for _kind in ("numbers", "texts", "uuids", "calendar"):
    _py_values(_kind)

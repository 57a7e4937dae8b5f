"""An entry of the catalogue, and functions to write the operations of entries briefly."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen

from spec_ref.core.json_types import Json

Op = dict[str, Json]

ALL, NEWER, NEWEST = (1, 2, 3), (2, 3), (3,)
PARQUET, EVERY = ("parquet",), ("parquet", "orc", "avro")


@frozen
class ScriptTemplate:
    """One script of the catalogue, without its version and format."""

    name: str
    about: str
    features: tuple[str, ...]
    """The features of the spec that the table uses, among those that `conformance.interop.features` detects."""

    operations: tuple[Op, ...]
    versions: tuple[int, ...] = NEWER
    formats: tuple[str, ...] = PARQUET
    history: bool = False
    """Whether the snapshots of all operations are read, not only the heads of references."""

    quick: bool = False
    """Whether a quick run includes all its file formats; otherwise it includes only Parquet."""


def columns(**types: Json) -> Json:
    """Return a schema of optional columns; the first one is required if its type ends in ``!``."""
    fields: list[Json] = []
    ids = iter(range(1, 1000))
    for name, type_ in types.items():
        required = isinstance(type_, str) and type_.endswith("!")
        bare = type_.rstrip("!") if isinstance(type_, str) else type_
        fields.append({"id": next(ids), "name": name, "required": required, "type": bare})
    return {"type": "struct", "fields": fields}


def create(*partition: str, sort: Sequence[Op] = (), properties: dict[str, str] | None = None, **types: Json) -> Op:
    """Return a ``create``; partition fields are written ``bucket[4](id)``, and are named p0, p1, ..."""
    made: Op = {"schema": columns(**types)}
    if partition:
        made["partition"] = [part(text, f"p{number}") for number, text in enumerate(partition)]
    if sort:
        made["sort"] = list(sort)
    return {**made, "properties": properties} if properties else made


def part(text: str, name: str) -> Op:
    """Return a partition field."""
    transform, _, source = text.rstrip(")").partition("(")
    return {"source": source, "transform": transform, "name": name}


def rows(names: str, *values: Sequence[Json]) -> list[Op]:
    """Return rows with values of some columns."""
    return [dict(zip(names.split(), row, strict=True)) for row in values]


def append(names: str, *values: Sequence[Json], **more: Json) -> Op:
    """Return an ``append``."""
    return {"op": "append", "rows": rows(names, *values), **more}


def eq(term: str, value: Json) -> Json:
    """Return a filter for equality."""
    return {"type": "eq", "term": term, "value": value}


def delete(filter: Json, mode: str, **more: Json) -> Op:
    """Return a ``delete``."""
    return {"op": "delete", "filter": filter, "mode": mode, **more}


def alter(*changes: Op) -> Op:
    """Return an evolution of the schema."""
    return {"op": "alter-schema", "changes": list(changes)}


def add(name: str, type_: Json, **more: Json) -> Op:
    """Return the addition of a column."""
    return {"op": "add", "name": name, "type": type_, **more}


# Columns and rows that entries share

POINT = {
    "type": "struct",
    "fields": [
        {"id": 11, "name": "x", "required": False, "type": "int"},
        {"id": 12, "name": "y", "required": False, "type": "double"},
    ],
}
TAGS = {"type": "list", "element-id": 21, "element-required": False, "element": "string"}
PRICES = {
    "type": "map",
    "key-id": 31,
    "key": "string",
    "value-id": 32,
    "value-required": False,
    "value": "decimal(9, 2)",
}

TIMES: list[list[str | None]] = [
    ["1", "1969-12-31", "1969-12-31T23:59:59.999999", "1969-12-31T23:59:59.999999+00:00"],
    ["2", "1970-01-01", "1970-01-01T00:00:00.000000", "1970-01-01T00:00:00.000000+00:00"],
    ["3", "2017-11-16", "2017-11-16T22:31:08.000001", "2017-11-16T22:31:08.000001+00:00"],
    ["4", "1968-02-29", "1968-02-29T12:00:00.000000", "1968-02-29T12:00:00.000000+00:00"],
    ["5", None, None, None],
]

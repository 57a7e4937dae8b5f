"""An entry of the catalogue, and the words that entries are written in."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen

from conformance.core.json_types import Json

Op = dict[str, Json]

ALL, NEWER, NEWEST = (1, 2, 3), (2, 3), (3,)
PARQUET, EVERY = ("parquet",), ("parquet", "orc", "avro")


@frozen
class Entry:
    """One script of the catalogue, without its version and format."""

    name: str
    about: str
    features: tuple[str, ...]
    """What the table uses of the spec, of what `conformance.interop.features` finds in it."""

    operations: tuple[Op, ...]
    versions: tuple[int, ...] = NEWER
    formats: tuple[str, ...] = PARQUET
    history: bool = False
    """Whether the snapshots of all operations are read, and not the heads of references alone."""

    quick: bool = False
    """Whether all its formats belong to the scripts that are run where little time is; of the others Parquet does."""


def columns(**types: Json) -> Json:
    """A schema of optional columns; the first one is required where its type ends in ``!``."""
    fields: list[Json] = []
    ids = iter(range(1, 1000))
    for name, type_ in types.items():
        required = isinstance(type_, str) and type_.endswith("!")
        bare = type_.rstrip("!") if isinstance(type_, str) else type_
        fields.append({"id": next(ids), "name": name, "required": required, "type": bare})
    return {"type": "struct", "fields": fields}


def create(*partition: str, sort: Sequence[Op] = (), properties: dict[str, str] | None = None, **types: Json) -> Op:
    """A new table; partition fields are written ``bucket[4](id)``, and have the names p0, p1, ..."""
    made: Op = {"schema": columns(**types)}
    if partition:
        made["partition"] = [part(text, f"p{number}") for number, text in enumerate(partition)]
    if sort:
        made["sort"] = list(sort)
    return {**made, "properties": properties} if properties else made


def part(text: str, name: str) -> Op:
    """A partition field."""
    transform, _, source = text.rstrip(")").partition("(")
    return {"source": source, "transform": transform, "name": name}


def rows(names: str, *values: Sequence[Json]) -> list[Op]:
    """Rows of some columns."""
    return [dict(zip(names.split(), row, strict=True)) for row in values]


def append(names: str, *values: Sequence[Json], **more: Json) -> Op:
    """Rows that are added."""
    return {"op": "append", "rows": rows(names, *values), **more}


def eq(term: str, value: Json) -> Json:
    """A filter."""
    return {"type": "eq", "term": term, "value": value}


def delete(filter: Json, mode: str, **more: Json) -> Op:
    """Rows that go."""
    return {"op": "delete", "filter": filter, "mode": mode, **more}


def alter(*changes: Op) -> Op:
    """A schema that evolves."""
    return {"op": "alter-schema", "changes": list(changes)}


def add(name: str, type_: Json, **more: Json) -> Op:
    """A new column."""
    return {"op": "add", "name": name, "type": type_, **more}

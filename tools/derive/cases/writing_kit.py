"""Building blocks of scripts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tools.derive.json_types import Json


@dataclass(frozen=True)
class Case:
    """A script, and the requirements that it proves."""

    name: str
    requirements: tuple[str, ...]
    operations: tuple[Json, ...]
    note: str = ""

    @property
    def versions(self) -> tuple[int, ...]:
        """The format version that the table finally has."""
        return (max(one["format_version"] for one in self.operations if "format_version" in one),)


def fields(*columns: tuple[Any, ...]) -> list[Json]:
    """Return columns from (name, type) or (name, type, required), with ids in order; nested ids come after these."""
    last = len(columns)

    def numbered(type_: Json) -> Json:
        nonlocal last
        if not isinstance(type_, dict):
            return type_
        if type_["type"] == "struct":
            inner = [{"id": (last := last + 1), **field} for field in type_["fields"]]
            return {"type": "struct", "fields": [{**field, "type": numbered(field["type"])} for field in inner]}
        made: Json = {"type": type_["type"]}
        for part in ("element", "key", "value"):
            if part in type_:
                last += 1
                made |= {f"{part}-id": last, part: type_[part]}
                if part != "key":
                    made[f"{part}-required"] = type_.get("required", False)
        return {
            name: numbered(member) if name in ("element", "key", "value") else member for name, member in made.items()
        }

    return [
        {"id": index, "name": name, "required": bool(more), "type": numbered(type_)}
        for index, (name, type_, *more) in enumerate(columns, 1)
    ]


def struct(*members: tuple[str, Any]) -> Json:
    """Return a struct type from pairs of (name, type)."""
    return {"type": "struct", "fields": [{"name": name, "required": False, "type": type_} for name, type_ in members]}


def list_type(element: Json, *, required: bool = False) -> Json:
    """Return a list type with required or optional elements."""
    return {"type": "list", "element": element, "required": required}


def map_type(key: Json, value: Json, *, required: bool = False) -> Json:
    """Return a map type with required or optional values."""
    return {"type": "map", "key": key, "value": value, "required": required}


def create(version: int, columns: list[Json], *partition: tuple[str, str], **more: Any) -> Json:
    """Return the operation that creates a table; partition fields are (transform, source).

    ``format`` is the format of its files, ``sort`` a sort order; other keywords are properties, with ``_`` for ``.``.
    Partition fields are named ``source_transform``.
    """
    made: Json = {"op": "create", "format_version": version, "schema": {"type": "struct", "fields": columns}}
    if partition:
        made["partition"] = [part(transform, source) for transform, source in partition]
    if "sort" in more:
        made["sort"] = more.pop("sort")
    properties = {"write.format.default": more.pop("format", "parquet")}
    made["properties"] = properties | {name.replace("_", "."): value for name, value in more.items()}
    return made


def part(transform: str, source: str) -> Json:
    """Return a partition field; an identity field has the name of its source."""
    word = transform.partition("[")[0]
    name = source.replace(".", "_")
    return {"source": source, "transform": transform, "name": name if word == "identity" else f"{name}_{word}"}


def append(names: str, *rows: tuple[Any, ...], **more: Any) -> Json:
    """Return an append of rows; ``names`` has the names of their columns in one string."""
    return {"op": "append", "rows": make_rows(names, *rows), **more}


def make_rows(names: str, *rows: tuple[Any, ...]) -> list[Json]:
    """Return rows as JSON objects."""
    return [dict(zip(names.split(), row, strict=True)) for row in rows]


def where(op: str, term: str, value: Any = None) -> Json:
    """Return a predicate on a column."""
    if value is None:
        return {"type": op, "term": term}
    return {"type": op, "term": term, "values" if op in ("in", "not-in") else "value": value}


def delete(filter_: Json, mode: str | None = None, **more: Any) -> Json:
    """Return a delete operation."""
    return {"op": "delete", "filter": filter_, **({"mode": mode} if mode else {}), **more}


def update(filter_: Json, set_: Json, mode: str | None = None) -> Json:
    """Return an update operation."""
    return {"op": "update", "filter": filter_, "set": set_, **({"mode": mode} if mode else {})}


def merge(on: str, names: str, *rows: tuple[Any, ...], mode: str | None = None) -> Json:
    """Return a merge operation."""
    made: Json = {"op": "merge", "on": on.split(), "rows": make_rows(names, *rows)}
    return made | ({"mode": mode} if mode else {})


def alter(*changes: Json) -> Json:
    """Return an operation that changes the schema."""
    return {"op": "alter-schema", "changes": list(changes)}


def add(name: str, type_: Json, **more: Any) -> Json:
    """Return the change that adds a column."""
    return {"op": "add", "name": name, "type": type_, **more}


COW, MOR = "copy-on-write", "merge-on-read"
EVERY = True
COMPACT = {"op": "compact"}
FORMATS = ("parquet", "avro", "orc")
FORMAT_NAMES = {"parquet": "Parquet", "avro": "Avro", "orc": "ORC"}

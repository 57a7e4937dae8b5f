"""The schema, partition spec and sort order of a script's table, and how they evolve.

Fields are by id here and by name in scripts: a source may be renamed while a spec or an order refers to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import attrs
from attrs import frozen

from conformance.exchange_changes import column_change
from conformance.scripts.operations import PartitionPart, SortPart
from conformance.scripts.parsing import ScriptError
from spec_ref.json_records import reader
from spec_ref.partitioning.spec import PartitionField
from spec_ref.partitioning.transforms import Transform, parse_transform
from spec_ref.records import evolve
from spec_ref.schemas.evolution import Evolution, evolve_schema
from spec_ref.schemas.schema import SCHEMA, Column, Schema
from spec_ref.schemas.types import ListType, MapType, NestedField, StructType, Type
from spec_ref.versions import FormatVersion

Json = Any


@frozen
class Source:
    """What a partition or sort field is made of."""

    id: int
    transform: Transform


@frozen
class Parts:
    """The partition spec and the sort order by the ids of their sources."""

    spec: tuple[tuple[Source, str], ...] = ()
    sort: tuple[tuple[Source, SortPart], ...] = ()

    def spec_parts(self, schema: Schema) -> tuple[PartitionPart, ...]:
        """The partition spec by the names of its sources."""
        return tuple(
            PartitionPart(source=_by_id(schema, source.id).name, transform=str(source.transform), name=name)
            for source, name in self.spec
        )

    def sort_parts(self, schema: Schema) -> tuple[SortPart, ...]:
        """The sort order by the names of its sources."""
        return tuple(attrs.evolve(part, source=_by_id(schema, source.id).name) for source, part in self.sort)

    def partition_fields(self) -> tuple[PartitionField, ...]:
        """The partition spec as the evolution of schemas looks at it."""
        return tuple(
            PartitionField(source_id=source.id, field_id=1000 + index, name=name, transform=source.transform)
            for index, (source, name) in enumerate(self.spec)
        )


def _by_id(schema: Schema, field_id: int) -> Column:
    found = schema.find(field_id)
    assert found is not None, "sources are not dropped"
    return found


def first_schema(json: Json, version: FormatVersion) -> Schema:
    """The schema that a table is created with.

    Raises:
        SpecError: it is none.
        ScriptError: it has a type that the version does not have.
    """
    schema: Schema = reader(SCHEMA, version)({"schema-id": 0, **json})
    for column in schema.columns():
        if column.type.since > version:
            raise ScriptError(f"{column.name}: version {version} has no type {column.type}")
    return schema


def _source(schema: Schema, name: str, transform: str) -> Source:
    column = schema.find_name(name)
    if column is None or any(not isinstance(around.type, StructType) for around in column.parents):
        raise ScriptError(f"there is no column {name!r} to partition or sort by")
    made = parse_transform(transform)
    made.result_type(column.type)
    return Source(column.id, made)


def spec_of(parts: Iterable[PartitionPart], schema: Schema) -> tuple[tuple[Source, str], ...]:
    """A partition spec by the ids of its sources.

    Raises:
        ScriptError, SpecError: there is no such column, or a transform does not take it.
    """
    spec = tuple((_source(schema, part.source, part.transform), part.name) for part in parts)
    _check_names([name for _, name in spec])
    return spec


def _check_names(names: Sequence[str]) -> None:
    twice = [name for index, name in enumerate(names) if name in names[:index]]
    if twice:
        raise ScriptError(f"two partition fields are named {twice[0]!r}")


def sort_of(parts: Iterable[SortPart], schema: Schema) -> tuple[tuple[Source, SortPart], ...]:
    """A sort order by the ids of its sources; raises as `spec_of`."""
    return tuple((_source(schema, part.source, part.transform), part) for part in parts)


def changed_spec(
    spec: tuple[tuple[Source, str], ...], changes: Iterable[Json], schema: Schema
) -> tuple[tuple[Source, str], ...]:
    """A partition spec after changes.

    Raises:
        ScriptError, SpecError: there is no such field or column, or a name or a field is there already.
    """
    fields = list(spec)
    for change in changes:
        names = [name for _, name in fields]
        if change["op"] == "add":
            source = _source(schema, change["source"], change["transform"])
            if any(source == other for other, _ in fields):
                raise ScriptError(f"the spec has the field {change['transform']}({change['source']}) already")
            fields.append((source, change["name"]))
        elif change["name"] not in names:
            raise ScriptError(f"there is no partition field {change['name']!r}")
        elif change["op"] == "remove":
            del fields[names.index(change["name"])]
        else:
            at = names.index(change["name"])
            fields[at] = (fields[at][0], change["to"])
        _check_names([name for _, name in fields])
    return tuple(fields)


def changed_schema(
    schema: Schema, changes: Iterable[Json], version: FormatVersion, last_column_id: int, parts: Parts
) -> tuple[Schema, int]:
    """A schema after changes, and the highest id that was ever given.

    Raises:
        SpecError: a change that no schema evolution allows.
        ScriptError: a column is dropped that the table is sorted by.
    """
    for change in changes:
        if change["op"] == "optional":
            schema = _optional(schema, change["name"])
            continue
        table = Evolution(version, last_column_id, parts.partition_fields())
        changed, last_column_id = evolve_schema(
            schema, [column_change(schema, change)], table, schema_id=schema.schema_id
        )
        if any(changed.find(source.id) is None for source, _ in parts.sort):
            raise ScriptError(f"the table is sorted by {change['name']!r}, which is dropped")
        schema = changed
    return schema, last_column_id


def _optional(schema: Schema, name: str) -> Schema:
    column = schema.find_name(name)
    if column is None or column.field is None:
        raise ScriptError(f"there is no field {name!r} to make optional")

    def loosened(type_: Type) -> Type:
        match type_:
            case StructType(fields):
                return StructType(tuple(map(field, fields)))
            case ListType(_, element):
                return evolve(type_, element=loosened(element))
            case MapType(_, key, _, value):
                return evolve(type_, key=loosened(key), value=loosened(value))
            case _:
                return type_

    def field(one: NestedField) -> NestedField:
        return evolve(one, required=False) if one.id == column.id else evolve(one, type=loosened(one.type))

    return evolve(schema, fields=tuple(map(field, schema.fields)))

"""Convert schema changes of ``schema.evolve`` and of scripts from exchange form to those of `spec_ref`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from spec_ref.core.errors import spec_error
from spec_ref.core.json_types import Json
from spec_ref.core.versions import V3
from spec_ref.json.reading import reader
from spec_ref.schemas.evolution import (
    AddColumn,
    Change,
    DropColumn,
    MakeOptional,
    MoveColumn,
    PromoteColumn,
    RenameColumn,
    SchemaEvolutionContext,
    SetWriteDefault,
    evolve_schema,
)
from spec_ref.schemas.schema import FIELDS, Schema
from spec_ref.schemas.type_json import type_from_json, type_to_json


def _parse_default(type_: Any, default: Any) -> Any:
    """Parse a default value in JSON as a schema parses it, given its type in JSON."""
    field = {"id": 1, "name": "f", "required": False, "type": type_, "write-default": default}
    return reader(FIELDS, V3)([field])[0].write_default


def place_after(names: Sequence[str], name: str, after: str | None, requirement: str) -> int:
    """Return the index after the field ``after`` among the others.

    Raises:
        SpecError: the given requirement, if there is no such field.
    """
    others = [one for one in names if one != name]
    if after is not None and after not in others:
        raise spec_error(requirement, "the struct does not have a field with the name", found=after)
    return 0 if after is None else others.index(after) + 1


def _column_place(schema: Schema, name: str, after: str | None) -> int:
    """Return the index after the field ``after`` of the same struct; raise EVO012 for a field of another struct."""
    moved = schema.find_name(name)
    if moved is None:
        return 0  # refused later, as the schema has no such field
    *around, own = moved.path
    siblings = [column.path[-1] for column in schema.columns() if [*column.path[:-1]] == around]
    elsewhere = after not in siblings and any(column.path[-1] == after for column in schema.columns())
    return place_after(siblings, own, after, "EVO012" if elsewhere else "EVO001")


def column_changes(schema: Schema, changes: Sequence[Json], table: SchemaEvolutionContext) -> tuple[Change, ...]:
    """Convert several schema changes, each of which applies to the result of the ones before it.

    Raises:
        SpecError: as `column_change`, and as `evolve_schema`.
    """
    made: list[Change] = []
    for change in changes:  # the place to which a field moves depends on the changes before
        made.append(column_change(schema, change))
        schema, last = evolve_schema(schema, made[-1:], table, schema_id=schema.schema_id)
        table = SchemaEvolutionContext(table.version, last)
    return tuple(made)


def column_change(schema: Schema, change: Json) -> Change:
    """Convert one schema change; the schema is needed to resolve names.

    Raises:
        SpecError: the type or the default is invalid; EVO001 if the field ``after`` does not exist, EVO012 if it is in
            a different struct.
    """
    match change["op"]:
        case "add":
            type_ = type_from_json(change["type"])
            default = _parse_default(change["type"], change.get("default"))
            required = change.get("required", False)
            return AddColumn(change["name"], type_, change.get("parent"), required, change.get("doc"), default)
        case "drop":
            return DropColumn(change["name"])
        case "rename":
            return RenameColumn(change["name"], change["to"])
        case "move":
            return MoveColumn(change["name"], _column_place(schema, change["name"], change["after"]))
        case "promote":
            return PromoteColumn(change["name"], type_from_json(change["type"]))
        case "optional":
            return MakeOptional(change["name"])
        case _:
            column = schema.find_name(change["name"])
            if column is None:
                return SetWriteDefault(change["name"], None)  # refused later, as the schema has no such field
            return SetWriteDefault(change["name"], _parse_default(type_to_json(column.type), change["default"]))

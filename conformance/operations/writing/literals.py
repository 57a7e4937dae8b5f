"""The literals of scripts: values in exchange form, except that structs are objects keyed by field name."""

from __future__ import annotations

from typing import Any

from conformance.operations.wire import from_exchange, to_exchange
from spec_ref.core.errors import spec_error
from spec_ref.core.json_types import Json
from spec_ref.data_types.types import ListType, MapType, StructType, Type


def read_literal(type_: Type, json: Json) -> Any:
    """Parse a literal.

    Raises:
        SpecError: it is not a value of the type; EXP003 if a struct does not have a field.
    """
    return from_exchange(type_, with_ids(type_, json))


def write_literal(type_: Type, value: Any) -> Json:
    """Return the literal of a value."""
    return with_names(type_, to_exchange(type_, value))


def with_ids(type_: Type, json: Json) -> Json:
    """Convert a literal to exchange form, with structs keyed by field id; missing fields are null."""
    match type_, json:
        case StructType(fields), dict():
            unknown = json.keys() - {field.name for field in fields}
            if unknown:
                raise spec_error("EXP003", "the struct does not have the field", found=min(unknown))
            return {str(field.id): with_ids(field.type, json.get(field.name)) for field in fields}
        case ListType(_, element), list():
            return [with_ids(element, item) for item in json]
        case MapType(_, key, _, value), {"keys": list() as keys, "values": list() as values}:
            return {"keys": [with_ids(key, one) for one in keys], "values": [with_ids(value, one) for one in values]}
        case _:
            return json


def with_names(type_: Type, json: Json) -> Json:
    """Convert a value in exchange form to a literal, with structs keyed by field name; every field is present."""
    match type_, json:
        case StructType(fields), dict():
            return {field.name: with_names(field.type, json.get(str(field.id))) for field in fields}
        case ListType(_, element), list():
            return [with_names(element, item) for item in json]
        case MapType(_, key, _, value), {"keys": list() as keys, "values": list() as values}:
            return {
                "keys": [with_names(key, one) for one in keys],
                "values": [with_names(value, one) for one in values],
            }
        case _:
            return json

"""Iceberg types as Avro schemas, and their values as Avro values (Appendix A, Avro; AVR001 to AVR014).

`schema_json` derives the Avro schema that a writer stores, with the ids of every field, element, key and value. A map
with string keys is an Avro map there. The initial default of a field is its Avro default (AVR003), which `avro_default`
converts. `value_writer` converts values of the spec to those that `spec_ref.encodings.avro.values` encodes.
`spec_ref.avro_mapping.stored_types` is the way back.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from spec_ref.core.decimals import unscaled_value
from spec_ref.core.errors import SpecError
from spec_ref.data_types.decimals import decimal_size
from spec_ref.data_types.types import (
    STRING,
    UUID,
    VARIANT,
    DecimalType,
    FixedType,
    ListType,
    MapType,
    NestedField,
    StructType,
    Type,
    kind,
)
from spec_ref.encodings.avro.types import ADJUST_TO_UTC, ELEMENT_ID, FIELD_ID, KEY_ID, VALUE_ID
from spec_ref.schemas.column_projection import missing_value

Convert: TypeAlias = Callable[[Any], Any]

FIELD_NAME = "iceberg-field-name"
"""The property that keeps the original of a name that Avro does not allow, as in Iceberg-Java."""

_LEGAL = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def sanitize_name(name: str) -> str:
    """Replace what Avro does not allow in a name, as Iceberg-Java does.

    A leading digit gets an underscore before it; any other character that is not allowed becomes ``_x`` and the
    hexadecimal number of each of its UTF-16 units.

    Args:
        name: the name of a field.

    Returns:
        A name that Avro allows.
    """
    if _LEGAL.fullmatch(name):
        return name
    units = name.encode("utf-16-be", "surrogatepass")
    made = []
    for place in range(0, len(units), 2):
        number = int.from_bytes(units[place : place + 2], "big")
        char = chr(number)
        if _LEGAL.fullmatch("_" + char) and (place or not char.isdigit()):
            made.append(char)
        else:
            made.append(f"_{char}" if char.isascii() and char.isdigit() else f"_x{number:X}")
    return "".join(made) or "_"


PLAIN: dict[str, Any] = {
    "unknown": "null",
    "boolean": "boolean",
    "int": "int",
    "long": "long",
    "float": "float",
    "double": "double",
    "date": {"type": "int", "logicalType": "date"},
    "time": {"type": "long", "logicalType": "time-micros"},
    "timestamp": {"type": "long", "logicalType": "timestamp-micros", ADJUST_TO_UTC: False},
    "timestamptz": {"type": "long", "logicalType": "timestamp-micros", ADJUST_TO_UTC: True},
    "timestamp_ns": {"type": "long", "logicalType": "timestamp-nanos", ADJUST_TO_UTC: False},
    "timestamptz_ns": {"type": "long", "logicalType": "timestamp-nanos", ADJUST_TO_UTC: True},
    "string": "string",
    "binary": "bytes",
    "geometry": "bytes",
    "geography": "bytes",
}
"""The Avro types of the types that have no name and no ids in Avro (AVR007, AVR008, AVR010, AVR012, AVR014)."""


class _Names:
    """Assigns the names of records and fixed types, each defined once and referred to afterwards."""

    def __init__(self) -> None:
        self.taken: set[str] = set()

    def define_once(self, name: str, json: dict[str, Any]) -> Any:
        """Write a named type: its definition the first time, and only its name afterwards."""
        if name in self.taken:
            return name
        self.taken.add(name)
        return {**json, "name": name}

    def unused_name(self, name: str) -> str:
        """Choose a name that no other type has."""
        found, number = name, 1
        while found in self.taken:
            number += 1
            found = f"{name}_{number}"
        self.taken.add(found)
        return found


def schema_json(struct: StructType, name: str, record_names: Mapping[int, str] | None = None) -> dict[str, Any]:
    """Derive the JSON of the Avro schema for rows of a struct.

    Args:
        struct: the type of the rows.
        name: the name of the outermost record.
        record_names: names for the records of struct fields by field id; others are named ``r`` and the id, and the
            records of maps ``k``, the id of the key, ``_v`` and the id of the value, as in Iceberg-Java.

    Returns:
        The JSON object.
    """
    return _record(struct, name, _Names(), record_names or {})


def _record(struct: StructType, name: str, names: _Names, record_names: Mapping[int, str]) -> dict[str, Any]:
    fields: list[dict[str, Any]] = []
    record = {"type": "record", "name": names.unused_name(name), "fields": fields}
    legal = _legal_names(struct)
    fields.extend(_field_json(field, legal[field.id], names, record_names) for field in struct.fields)
    return record


def _legal_names(struct: StructType) -> dict[int, str]:
    """Map the ids of fields to names that Avro allows, each used once."""
    names: dict[int, str] = {}
    used: set[str] = set()
    for field in struct.fields:
        legal = sanitize_name(field.name)
        while legal in used:  # two names may become equal; readers use the ids
            legal = f"{legal}_{field.id}"
        used.add(legal)
        names[field.id] = legal
    return names


def _field_json(field: NestedField, name: str, names: _Names, record_names: Mapping[int, str]) -> dict[str, Any]:
    json: dict[str, Any] = {"name": name}
    if name != field.name:
        json[FIELD_NAME] = field.name
    type_ = _type_json(field.type, field.id, names, record_names)
    default = avro_default(field)
    json["type"] = _optional(type_, required=field.required, null_first=default is None)
    if default is not None or not field.required:
        json["default"] = default  # AVR002, AVR003
    if field.doc is not None:
        json["doc"] = field.doc
    json[FIELD_ID] = field.id
    return json


def avro_default(field: NestedField) -> Any:
    """Convert the initial default of a field to the JSON of its Avro default (AVR003).

    A field with such a default has null as the second branch of its union (contradiction C10): Avro before 1.12 allows
    only defaults of the first branch.

    Args:
        field: a field of a struct.

    Returns:
        The JSON, in which bytes are text with one character for each byte; None if the default is null, or is a struct
        that has no value for a required field.
    """
    if field.initial_default is None:
        return None
    try:
        return _default_json(field.type, missing_value(field, {}))
    except SpecError:  # no reader could use the default (PRJ005)
        return None


def _default_json(type_: Type, value: Any) -> Any:
    if value is None:
        return None
    match type_:
        case StructType(fields):
            names = _legal_names(type_)
            return {names[child.id]: _default_json(child.type, value[child.id]) for child in fields}
        case ListType(_, element, _):
            return [_default_json(element, one) for one in value]
        case MapType(_, key, _, item, _):
            pairs = [(_default_json(key, one), _default_json(item, other)) for one, other in value]
            return dict(pairs) if key == STRING else [{"key": one, "value": other} for one, other in pairs]
        case _:
            stored = value_writer(type_)(value)
            return stored.decode("latin-1") if isinstance(stored, bytes) else stored


def _optional(json: Any, *, required: bool, null_first: bool = True) -> Any:
    if required or json == "null":
        return json
    return ["null", json] if null_first else [json, "null"]


def _type_json(type_: Type, field_id: int, names: _Names, record_names: Mapping[int, str]) -> Any:
    match type_:
        case StructType():
            return _record(type_, record_names.get(field_id, f"r{field_id}"), names, record_names)
        case ListType(element_id, element, required):
            items = _optional(_type_json(element, element_id, names, record_names), required=required)
            return {"type": "array", "items": items, ELEMENT_ID: element_id}
        case MapType():
            return _map_json(type_, names, record_names)
        case DecimalType(precision, scale):
            fixed = {"type": "fixed", "size": decimal_size(precision), "logicalType": "decimal"}
            name = f"decimal_{precision}_{scale}".replace("-", "m")
            return names.define_once(name, {**fixed, "precision": precision, "scale": scale})
        case FixedType(length):
            return names.define_once(f"fixed_{length}", {"type": "fixed", "size": length})
        case _ if type_ == UUID:
            return names.define_once("uuid_fixed", {"type": "fixed", "size": 16, "logicalType": "uuid"})
        case _ if type_ == VARIANT:
            fields = [{"name": part, "type": "bytes"} for part in ("metadata", "value")]
            record = {"type": "record", "logicalType": "variant", "fields": fields}
            return {**record, "name": names.unused_name(record_names.get(field_id, f"r{field_id}"))}
        case _:
            return PLAIN[kind(type_)]


def _map_json(type_: MapType, names: _Names, record_names: Mapping[int, str]) -> dict[str, Any]:
    key = _type_json(type_.key, type_.key_id, names, record_names)
    value = _optional(_type_json(type_.value, type_.value_id, names, record_names), required=type_.value_required)
    if type_.key == STRING:
        return {"type": "map", "values": value, KEY_ID: type_.key_id, VALUE_ID: type_.value_id}
    fields: list[dict[str, Any]] = [
        {"name": "key", "type": key, FIELD_ID: type_.key_id},
        {"name": "value", "type": value, FIELD_ID: type_.value_id},
    ]
    if not type_.value_required:
        fields[1]["default"] = None  # AVR002
    name = names.unused_name(f"k{type_.key_id}_v{type_.value_id}")
    return {"type": "array", "logicalType": "map", "items": {"type": "record", "name": name, "fields": fields}}


def value_writer(type_: Type) -> Convert:
    """Make the function that converts values of the spec to values that `spec_ref.encodings.avro.values` encodes.

    Args:
        type_: the Iceberg type of the values.

    Returns:
        The function; it keeps null.
    """
    match type_:
        case StructType(fields):
            writers = [(field.id, value_writer(field.type)) for field in fields]
            return _unless_null(lambda value: tuple(write(value.get(field_id)) for field_id, write in writers))
        case ListType(_, element, _):
            write = value_writer(element)
            return _unless_null(lambda items: [write(item) for item in items])
        case MapType(_, key, _, value, _):
            writers_ = (value_writer(key), value_writer(value))
            return _unless_null(lambda pairs: [(writers_[0](one), writers_[1](other)) for one, other in pairs])
        case DecimalType(precision):
            size = decimal_size(precision)
            return _unless_null(lambda value: unscaled_value(value).to_bytes(size, "big", signed=True))
        case _ if type_ == UUID:
            return _unless_null(lambda value: value.bytes)
        case _ if type_ == VARIANT:
            return _unless_null(lambda value: (value.metadata, value.value))
        case _:
            return lambda value: value


def _unless_null(write: Convert) -> Convert:
    return lambda value: None if value is None else write(value)

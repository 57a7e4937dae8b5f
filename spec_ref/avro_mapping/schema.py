"""Iceberg types as Avro schemas and back (Appendix A, Avro; AVR001 to AVR014).

`schema_json` derives the Avro schema that a writer stores, with the ids of every field, element, key and value. A map
with string keys is an Avro map there; an array of entries is read too (AVR005). The initial default of a field is its
Avro default (AVR003), which `avro_default` converts.
`type_from_avro` derives the Iceberg type of any Avro schema, and `value_reader` and `value_writer` convert between the
values of `spec_ref.encodings.avro.values` and those of the spec.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from spec_ref.core.decimals import unscaled_value
from spec_ref.core.errors import Description, SpecError, error_path, spec_error
from spec_ref.data_types.decimals import decimal_from_unscaled, decimal_size
from spec_ref.data_types.types import (
    PLAIN_PRIMITIVES,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NS,
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
from spec_ref.encodings.avro.types import (
    ADJUST_TO_UTC,
    ELEMENT_ID,
    FIELD_ID,
    KEY_ID,
    NULL,
    VALUE_ID,
    Array,
    AvroType,
    Enum,
    Fixed,
    LogicalType,
    Map,
    Primitive,
    Record,
    Union,
)
from spec_ref.encodings.variant.physical_types import Variant
from spec_ref.schemas.column_projection import missing_value

FIELD_NAME = "iceberg-field-name"
"""The property that keeps the original of a name that Avro does not allow, as in Iceberg-Java."""

MAX_SCALE = 999

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


# From Iceberg to Avro

_PLAIN: dict[str, Any] = {
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
            return _PLAIN[kind(type_)]


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


# From Avro to Iceberg


def type_from_avro(type_: AvroType) -> Type:
    """Derive the Iceberg type that an Avro type represents.

    Args:
        type_: the Avro type.

    Returns:
        The Iceberg type.

    Raises:
        SpecError: AVR001 for a union that is not of null and one type; AVR004 or AVR006 for a malformed map or decimal;
            AVR013 for a missing id.
    """
    match type_:
        case Primitive(name, logical):
            return _primitive(name, logical)
        case Fixed(_, size, logical):
            return _fixed_type(size, logical)
        case Enum():
            return STRING
        case Array(items, element_id, logical_map):
            return _entries(items) if logical_map else _list(items, element_id)
        case Map(values, key_id, value_id):
            inner, required = split_optional(values)
            return MapType(_id(key_id, "key-id"), STRING, _id(value_id, "value-id"), type_from_avro(inner), required)
        case Union():
            return type_from_avro(split_optional(type_)[0])
        case Record(_, fields):
            if [field.name for field in fields] == ["metadata", "value"] and all(field.id is None for field in fields):
                return VARIANT
            made = []
            for field in fields:
                with error_path(f"/{field.name}"):
                    inner, required = split_optional(field.type)
                    made.append(NestedField(_id(field.id, "field-id"), field.name, required, type_from_avro(inner)))
            return StructType(tuple(made))


def split_optional(type_: AvroType) -> tuple[AvroType, bool]:
    """Separate null from a type.

    Args:
        type_: an Avro type, possibly a union with null.

    Returns:
        The type of the values that are not null, and whether null is not allowed.

    Raises:
        SpecError: AVR001 if it is a union of more than null and one type.
    """
    if not isinstance(type_, Union):
        return type_, type_ != NULL
    inner = type_.optional
    if inner is None:
        others = [branch for branch in type_.branches if branch != NULL]
        if len(others) == 1:
            return others[0], len(type_.branches) == 1
        raise spec_error(
            "AVR001",
            "the union is not of null and one other type",
            found=Description(f"{len(type_.branches)} branches"),
        )
    return inner, False


def _id(value: int | None, name: str) -> int:
    if value is None:
        raise spec_error("AVR013", f"{name} is missing from the Avro schema", expected=f"the attribute {name}")
    return value


_STORED: list[tuple[Any, Type]] = [
    (json, PLAIN_PRIMITIVES[name]) for name, json in _PLAIN.items() if name in PLAIN_PRIMITIVES
]
_BARE: dict[str, Type] = {json: type_ for json, type_ in _STORED if isinstance(json, str)}
_LOGICAL: dict[tuple[str, str, bool | None], Type] = {
    **{
        (json["type"], json["logicalType"], json.get(ADJUST_TO_UTC)): type_
        for json, type_ in _STORED
        if isinstance(json, dict)
    },
    # Other writers store these types, which the appendix does not list.
    ("long", "local-timestamp-micros", None): TIMESTAMP,
    ("long", "local-timestamp-nanos", None): TIMESTAMP_NS,
}
"""The types of `_PLAIN`; None where it does not matter whether values are adjusted to UTC."""


def _primitive(name: str, logical: LogicalType | None) -> Type:
    if logical is not None:
        if (name, logical.name) == ("bytes", "decimal"):
            return _decimal(logical)
        for adjusted in (logical.adjust_to_utc, None):
            if (name, logical.name, adjusted) in _LOGICAL:
                return _LOGICAL[name, logical.name, adjusted]
    return _BARE[name]


def _decimal(logical: LogicalType) -> DecimalType:
    if abs(logical.scale) > MAX_SCALE:
        raise spec_error("AVR006", "the scale of a decimal is out of range", found=logical.scale)
    return DecimalType(logical.precision or 0, logical.scale)


def _fixed_type(size: int, logical: LogicalType | None) -> Type:
    if logical is not None and logical.name == "decimal":
        return _decimal(logical)
    return UUID if logical is not None and logical.name == "uuid" and size == 16 else FixedType(size)


def _list(items: AvroType, element_id: int | None) -> ListType:
    inner, required = split_optional(items)
    return ListType(_id(element_id, "element-id"), type_from_avro(inner), required)


def entry_fields(items: AvroType) -> tuple[Any, Any]:
    """Find the fields of the key and the value in a map that is stored as an array of records (AVR004).

    Args:
        items: the Avro type of the items.

    Returns:
        The field of the key and the field of the value.

    Raises:
        SpecError: AVR004 if the items are not records of two fields.
    """
    record = split_optional(items)[0]
    if not isinstance(record, Record) or len(record.fields) != 2:
        raise spec_error("AVR004", "the map is not an array of records of two fields", found=type(record).__name__)
    return record.fields[0], record.fields[1]


def _entries(items: AvroType) -> MapType:
    key, value = entry_fields(items)
    inner, required = split_optional(value.type)
    return MapType(
        _id(key.id, "field-id of the key"),
        type_from_avro(split_optional(key.type)[0]),
        _id(value.id, "field-id of the value"),
        type_from_avro(inner),
        required,
    )


# Values

Convert: TypeAlias = Callable[[Any], Any]


def value_reader(type_: AvroType, as_type: Type) -> Convert | None:
    """Make the function that converts decoded values to values of the spec.

    Args:
        type_: the Avro type that the values were written as, not a union.
        as_type: the Iceberg type to read them as, which `type_from_avro` returns.

    Returns:
        The function, for values that are not null; None if no conversion is needed.
    """
    match as_type, type_:
        case DecimalType(), _:
            return lambda data: decimal_from_unscaled(as_type, int.from_bytes(data, "big", signed=True))
        case _, Fixed() if as_type == UUID:
            return lambda data: uuid.UUID(bytes=data)
        case StructType(), Record():
            return _struct_reader(type_)
        case ListType(_, element, _), Array(items):
            return _each(value_reader(split_optional(items)[0], element))
        case MapType(_, key, _, value, _), Array(items):
            key_field, value_field = entry_fields(items)
            readers = (
                value_reader(split_optional(key_field.type)[0], key),
                value_reader(split_optional(value_field.type)[0], value),
            )
            return lambda pairs: tuple((_apply(readers[0], one), _apply(readers[1], other)) for one, other in pairs)
        case MapType(_, _, _, value, _), Map(values):
            read = value_reader(split_optional(values)[0], value)
            return lambda pairs: tuple((key, _apply(read, item)) for key, item in pairs)
        case _, Record() if as_type == VARIANT:
            return lambda parts: Variant(*parts)
        case _:
            return None


def _apply(read: Convert | None, value: Any) -> Any:
    return value if read is None or value is None else read(value)


def _each(read: Convert | None) -> Convert:
    return tuple if read is None else lambda items: tuple(_apply(read, item) for item in items)


def _struct_reader(record: Record) -> Convert:
    readers = []
    for place, field in enumerate(record.fields):
        if field.id is not None:
            inner, _ = split_optional(field.type)
            readers.append((field.id, place, value_reader(inner, type_from_avro(inner))))
    return lambda values: {field_id: _apply(read, values[place]) for field_id, place, read in readers}


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

"""The Iceberg types of Avro schemas, and their values (Appendix A, Avro; AVR001 to AVR014).

`type_from_avro` derives the Iceberg type of any Avro schema, as other writers store it too: a map with string keys may
be an array of entries (AVR005). `value_reader` converts what `spec_ref.encodings.avro.values` decodes to values of the
spec. `spec_ref.avro_mapping.schema` is the way back.
"""

from __future__ import annotations

import uuid
from typing import Any

from spec_ref.avro_mapping.schema import PLAIN, Convert
from spec_ref.core.errors import Description, error_path, spec_error
from spec_ref.data_types.decimals import decimal_from_unscaled
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
)
from spec_ref.encodings.avro.types import (
    ADJUST_TO_UTC,
    NULL,
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

MAX_SCALE = 999


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
    (json, PLAIN_PRIMITIVES[name]) for name, json in PLAIN.items() if name in PLAIN_PRIMITIVES
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
"""The types of `PLAIN`; None where it does not matter whether values are adjusted to UTC."""


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

"""Iceberg types as ORC types and back (Appendix A, ORC; ORC001 to ORC008).

The schema of an ORC file is derived from the Arrow schema that pyarrow returns for it: its fields carry the ORC type
attributes as metadata, at every level. `struct_from_orc` reads it, and `arrow_schema` makes the Arrow schema, with
attributes, from which pyarrow writes a file.

ORC keeps nanoseconds in every timestamp. Those of a timestamp or timestamptz are whole microseconds: a writer cuts off
the rest (ORC004). Arrow arrays of these types have no nanoseconds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias

import pyarrow as pa

from spec_ref.core.errors import Description, error_path, spec_error
from spec_ref.core.records import EMPTY, record
from spec_ref.data_files.nested_arrow_types import arrow_fields, nested_type
from spec_ref.data_types.types import (
    BINARY,
    INT,
    LONG,
    PLAIN_PRIMITIVES,
    STRING,
    VARIANT,
    DecimalType,
    FixedType,
    GeographyType,
    GeometryType,
    ListType,
    MapType,
    NestedField,
    StructType,
    Type,
    VariantType,
    kind,
)
from spec_ref.schemas.column_ids import ColumnIds, column_ids
from spec_ref.schemas.column_projection import FileColumns
from spec_ref.schemas.name_mapping import MappedField

ID = "iceberg.id"
REQUIRED = "iceberg.required"
LONG_TYPE = "iceberg.long-type"
BINARY_TYPE = "iceberg.binary-type"
STRUCT_TYPE = "iceberg.struct-type"
LENGTH = "iceberg.length"
TIMESTAMP_UNIT = "iceberg.timestamp-unit"

Attributes: TypeAlias = dict[str, str]
ArrowField: TypeAlias = "pa.Field[Any]"

MAX_LENGTH_DIGITS = 10


@record
class OrcType:
    """How ORC stores a type without parameters."""

    arrow: pa.DataType
    """The type as which pyarrow reads and writes the ORC type."""

    attributes: Mapping[str, str] = EMPTY
    """What distinguishes it from others of the same ORC type."""


_STORED: dict[str, OrcType] = {
    "boolean": OrcType(pa.bool_()),
    "int": OrcType(pa.int32()),
    "long": OrcType(pa.int64()),
    "float": OrcType(pa.float32()),
    "double": OrcType(pa.float64()),
    "date": OrcType(pa.date32()),
    "time": OrcType(pa.int64(), {LONG_TYPE: "TIME"}),
    "timestamp": OrcType(pa.timestamp("us"), {TIMESTAMP_UNIT: "MICROS"}),
    "timestamptz": OrcType(pa.timestamp("us", "UTC"), {TIMESTAMP_UNIT: "MICROS"}),
    "timestamp_ns": OrcType(pa.timestamp("ns"), {TIMESTAMP_UNIT: "NANOS"}),
    "timestamptz_ns": OrcType(pa.timestamp("ns", "UTC"), {TIMESTAMP_UNIT: "NANOS"}),
    "string": OrcType(pa.string()),
    "uuid": OrcType(pa.binary(), {BINARY_TYPE: "UUID"}),
    "binary": OrcType(pa.binary()),
    "geometry": OrcType(pa.binary(), {BINARY_TYPE: "GEOMETRY"}),
    "geography": OrcType(pa.binary(), {BINARY_TYPE: "GEOGRAPHY"}),
}
"""The storage of types by their names; `_CODES` has the requirements."""

_CODES: dict[str, str] = {
    **dict.fromkeys(("time", "uuid", "fixed"), "ORC002"),
    **dict.fromkeys(("timestamp", "timestamptz", "timestamp_ns", "timestamptz_ns"), "ORC003"),
    **dict.fromkeys(("unknown", "variant", "geometry", "geography"), "ORC005"),
}
"""The requirement for the storage of a kind of type; ORC008 for the others."""


def type_requirement(type_: Type) -> str:
    """Find the requirement for the storage of a type in ORC.

    Args:
        type_: any type.

    Returns:
        The code.
    """
    return _CODES.get(kind(type_), "ORC008")


def type_attributes(type_: Type) -> Attributes:
    """Find the ORC attributes that distinguish a type from others of the same ORC type, except ids.

    Args:
        type_: any type.

    Returns:
        The attributes.
    """
    match type_:
        case FixedType(length):
            return {BINARY_TYPE: "FIXED", LENGTH: str(length)}
        case VariantType():
            return {STRUCT_TYPE: "VARIANT"}
        case _:
            stored = _STORED.get(kind(type_))
            return {} if stored is None else dict(stored.attributes)


# From ORC


def columns_from_orc(schema: pa.Schema, mapping: Sequence[MappedField] | None = None) -> FileColumns:
    """Read the columns of a file; those that cannot be read are listed separately from the struct.

    Args:
        schema: the Arrow schema of ``pyarrow.orc.ORCFile``.
        mapping: the table's name mapping, for a file without ids; columns that it does not name are left out.

    Returns:
        The columns.

    Raises:
        SpecError: ORC001, for a file without ids of a table without a mapping.
    """
    fields = list(schema)
    ids = column_ids("ORC001", has_ids(fields), mapping)
    struct = _struct(fields, ids)
    return FileColumns(struct, mapped=ids.mapping is not None, unreadable=tuple(ids.left_out))


def struct_from_orc(schema: pa.Schema, mapping: Sequence[MappedField] | None = None) -> StructType:
    """Read the columns of a file as an Iceberg struct, if all of them can be read.

    ORC does not store the CRS and the algorithm of geospatial types, so the result has the defaults; the table's schema
    has the actual ones.

    Args:
        schema: the Arrow schema of ``pyarrow.orc.ORCFile``.
        mapping: the table's name mapping, for a file without ids; columns that it does not name are left out.

    Returns:
        The struct type.

    Raises:
        SpecError: ORC001 for a column without id, ORC002 to ORC008 for a column without an Iceberg type.
    """
    return columns_from_orc(schema, mapping).all_readable()


def field_attributes(field: ArrowField) -> Attributes:
    """Read the ORC type attributes of a field.

    Args:
        field: an Arrow field.

    Returns:
        The attributes.
    """
    pairs = (field.metadata or {}).items()
    return {key.decode("utf-8", "replace"): value.decode("utf-8", "replace") for key, value in pairs}


def child_fields(type_: pa.DataType) -> list[ArrowField]:
    """List the fields directly inside an Arrow type, as ORC counts them: for a map the key and the value.

    Args:
        type_: an Arrow type.

    Returns:
        The fields.
    """
    if isinstance(type_, pa.MapType):
        return [type_.key_field, type_.item_field]
    return [type_.field(place) for place in range(type_.num_fields)]


def has_ids(fields: Iterable[ArrowField]) -> bool:
    """Decide whether a file has ids anywhere, so that no name mapping is used (B22).

    Args:
        fields: Arrow fields.

    Returns:
        Whether one of them has an id, at any depth.
    """
    return any(ID in field_attributes(field) or has_ids(child_fields(field.type)) for field in fields)


def _own_id(attributes: Attributes) -> int | None:
    text = attributes.get(ID)
    if text is None:
        return None
    if not (
        text.removeprefix("-").isascii() and text.removeprefix("-").isdigit() and len(text) <= MAX_LENGTH_DIGITS + 1
    ):
        raise spec_error("ORC001", f"{ID} is not an id", found=text, expected="an integer")
    return int(text)


def _is_required(attributes: Attributes) -> bool:
    return attributes.get(REQUIRED) == "true"


def _struct(fields: Sequence[ArrowField], ids: ColumnIds) -> StructType:
    made = []
    for field in fields:
        attributes = field_attributes(field)
        column = ids.column(field.name, partial(_own_id, attributes), partial(_type, field.type, attributes))
        if column is not None:
            made.append(NestedField(column[0], field.name, _is_required(attributes), column[1]))
    return StructType(tuple(made))


def _part(field: ArrowField, name: str, ids: ColumnIds) -> tuple[int, Type, bool]:
    """Find the id, type and requiredness of an element, key or value."""
    with error_path(f"/{name}"):
        attributes = field_attributes(field)
        part_id = ids.find_id(name, _own_id(attributes))
        if part_id is None:
            raise spec_error("ORC001", f"the name mapping has no id for {name}")
        return part_id, _type(field.type, attributes, ids.child_ids(name)), _is_required(attributes)


def _types_by_attribute(attribute: str) -> dict[tuple[bool, str], Type]:
    """Map the types that an attribute distinguishes, by whether they have a time zone and by the attribute's value."""
    return {
        (getattr(stored.arrow, "tz", None) is not None, stored.attributes[attribute]): _UNPARAMETERIZED[name]
        for name, stored in _STORED.items()
        if attribute in stored.attributes
    }


_UNPARAMETERIZED: dict[str, Type] = {**PLAIN_PRIMITIVES, "geometry": GeometryType(), "geography": GeographyType()}
_BARE: dict[pa.DataType, Type] = {
    **{stored.arrow: _UNPARAMETERIZED[name] for name, stored in _STORED.items() if not stored.attributes},
    # Other writers store these types, such as tinyint and smallint (ORC006).
    pa.int8(): INT,
    pa.int16(): INT,
    pa.large_string(): STRING,
    pa.large_binary(): BINARY,
}
_LONGS, _BINARIES, _TIMESTAMPS = (
    _types_by_attribute(LONG_TYPE),
    _types_by_attribute(BINARY_TYPE),
    _types_by_attribute(TIMESTAMP_UNIT),
)


def _type(arrow: pa.DataType, attributes: Attributes, ids: ColumnIds) -> Type:
    if isinstance(arrow, pa.StructType):
        if attributes.get(STRUCT_TYPE) == "VARIANT":
            return _variant(arrow)
        return _struct(child_fields(arrow), ids)
    if isinstance(arrow, pa.MapType):
        key_id, key, _ = _part(arrow.key_field, "key", ids)
        return MapType(key_id, key, *_part(arrow.item_field, "value", ids))
    if isinstance(arrow, (pa.ListType, pa.LargeListType)):
        return ListType(*_part(arrow.value_field, "element", ids))
    if isinstance(arrow, pa.TimestampType):
        unit = attributes.get(TIMESTAMP_UNIT, "MICROS")
        if (arrow.tz is not None, unit) not in _TIMESTAMPS:
            message = f"the value of {TIMESTAMP_UNIT} is unknown"
            raise spec_error("ORC003", message, found=unit, expected="MICROS or NANOS")
        return _TIMESTAMPS[arrow.tz is not None, unit]
    if isinstance(arrow, pa.Decimal128Type):
        return DecimalType(arrow.precision, arrow.scale)
    made = _BARE.get(arrow)
    if made is None:
        raise spec_error("ORC008", "the type of the column is not an Iceberg type", found=Description(str(arrow)))
    if made == LONG:
        return _LONGS.get((False, attributes.get(LONG_TYPE, "")), LONG)
    return _binary(attributes) if made == BINARY else made


def _binary(attributes: Attributes) -> Type:
    name = attributes.get(BINARY_TYPE)
    if name == "FIXED":
        length = attributes.get(LENGTH, "")
        if not (length.isascii() and length.isdigit() and len(length) <= MAX_LENGTH_DIGITS):
            raise spec_error("ORC002", f"{LENGTH} is not a number of bytes", found=length, expected="decimal digits")
        return FixedType(int(length))
    return _BINARIES.get((False, name or ""), BINARY)


def _variant(arrow: pa.StructType) -> Type:
    parts = [(field.name, field.type) for field in child_fields(arrow)]
    if sorted(name for name, _ in parts) != ["metadata", "value"] or any(type_ != pa.binary() for _, type_ in parts):
        raise spec_error(
            "ORC005", "the variant is not a struct of binary metadata and binary value", found=Description(str(arrow))
        )
    return VARIANT


# To Arrow, for pyarrow to write


def arrow_schema(struct: StructType) -> pa.Schema:
    """Make the Arrow schema of a struct, with the type attributes, from which pyarrow writes a file.

    Columns of type unknown are left out. Times are int64, and uuid, fixed, geometry and geography are binary, because
    pyarrow cannot write them otherwise.

    Args:
        struct: the columns.

    Returns:
        The Arrow schema.

    Raises:
        SpecError: ORC005 for a list or map of unknown, whose elements cannot be stored.
    """
    return pa.schema(arrow_fields(struct, _arrow_field))


def _arrow_field(name: str, field_id: int, type_: Type, *, required: bool) -> ArrowField:
    attributes = {ID: str(field_id), REQUIRED: "true" if required else "false", **type_attributes(type_)}
    return pa.field(name, _arrow_type(type_), nullable=not required, metadata=attributes)


def _arrow_type(type_: Type) -> pa.DataType:
    if (nested := nested_type(type_, _arrow_field)) is not None:
        return nested
    match type_:
        case DecimalType(precision, scale):
            return pa.decimal128(precision, scale)
        case FixedType():
            return pa.binary()
        case _ if kind(type_) in _STORED:
            return _STORED[kind(type_)].arrow
    raise spec_error(
        type_requirement(type_),
        "the type has no ORC type",
        found=Description(str(type_)),
        expected="a type other than unknown",
    )

"""The Arrow types in which columns of each Iceberg type are read (Schemas; Column Projection)."""

from __future__ import annotations

from typing import Any, TypeAlias

import pyarrow as pa

from spec_ref.columnar.arrow_types import ARROW_TYPES
from spec_ref.data_types.types import (
    UNKNOWN,
    DecimalType,
    FixedType,
    ListType,
    MapType,
    NestedField,
    StructType,
    Type,
    kind,
)

Array: TypeAlias = Any
ArrowType: TypeAlias = Any
"""A `pyarrow.DataType`; the stubs distinguish more types than code that derives them from Iceberg types can state."""

_ARROW: dict[str, ArrowType] = {
    **ARROW_TYPES,
    "variant": pa.struct([pa.field("metadata", pa.binary(), nullable=False), pa.field("value", pa.binary())]),
}


def arrow_type(type_: Type) -> ArrowType:
    """Find the Arrow type in which values of a type are read.

    Geometry and geography are WKB, a variant is a struct of its two parts, and unknown is null.

    Args:
        type_: any type.

    Returns:
        The Arrow type.
    """
    match type_:
        case DecimalType(precision, scale):
            return pa.decimal128(precision, scale)
        case FixedType(length):
            return pa.binary(length)
        case StructType(fields):
            return pa.struct(list(map(arrow_field, fields)))
        case ListType(_, element, required):
            return pa.list_(_part_field("element", element, required=required))
        case MapType(_, key, _, value, required):
            return pa.map_(
                pa.field("key", arrow_type(key), nullable=False), _part_field("value", value, required=required)
            )
        case _:
            return _ARROW[kind(type_)]


def _part_field(name: str, type_: Type, *, required: bool) -> pa.Field[Any]:
    # Arrow has no field of type null that is required; a list that requires an element of type unknown is empty.
    return pa.field(name, arrow_type(type_), nullable=not required or type_ == UNKNOWN)


def arrow_field(field: NestedField) -> pa.Field[Any]:
    """Make the Arrow field for a field of the table.

    Args:
        field: a field of the table.

    Returns:
        The Arrow field.
    """
    return pa.field(field.name, arrow_type(field.type), nullable=not field.required)

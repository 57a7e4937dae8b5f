"""Bounds of variant columns (Bounds for Variant; Bound serialization; SVB012, BND005 to BND010).

The lower bound of a variant column is itself a variant: an object whose keys are the normalized JSON paths of fields
and whose values are the lower bounds of these fields; the upper bound likewise. It is stored as the metadata followed
by the value (BND009).

In Python it is a dict from path to (Iceberg type, value). The encoding has fewer types, with other names:

=================================  ==================================================
Iceberg type                       variant type
=================================  ==================================================
boolean                            boolean
int                                int32; int8 and int16 are read as int
long                               int64
float, double                      float, double
decimal(P, S)                      decimal4 if P is at most 9, decimal8 if at most 18,
                                   otherwise decimal16; P is read as 9, 18 or 38
date, time                         date, time without time zone
timestamp, timestamp_ns            timestamp without time zone, in micros or nanos
timestamptz, timestamptz_ns        timestamp with time zone, in micros or nanos
string, binary, uuid               string, binary, uuid
=================================  ==================================================

"The same Variant type" (BND006) is read as the same equivalence class of the encoding, within which values compare: a
writer may store 7 as an int8 and 700 as an int16, and they still bound one field of exact numbers.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from spec_ref.core.errors import Description, SpecError, error_path, spec_error
from spec_ref.data_types.types import BOOLEAN, INT, PLAIN_PRIMITIVES, DecimalType, Type, kind
from spec_ref.data_types.values import check_value
from spec_ref.encodings.variant.json_path import parse_normalized_path
from spec_ref.encodings.variant.physical_types import DECIMAL_DIGITS, PhysicalType, VariantPrimitive, VariantValue
from spec_ref.encodings.variant.value import decode_variant, split_variant
from spec_ref.encodings.variant.value_writer import encode_variant

VariantBound: TypeAlias = Mapping[str, tuple[Type, Any]]
"""Bounds of fields: by normalized path, the type and the value."""

ROOT = "$"

_WRITTEN: dict[str, PhysicalType] = {
    "int": PhysicalType.INT32,
    "long": PhysicalType.INT64,
    "float": PhysicalType.FLOAT,
    "double": PhysicalType.DOUBLE,
    "date": PhysicalType.DATE,
    "time": PhysicalType.TIME_NTZ,
    "timestamp": PhysicalType.TIMESTAMP_NTZ,
    "timestamptz": PhysicalType.TIMESTAMP,
    "timestamp_ns": PhysicalType.TIMESTAMP_NTZ_NANOS,
    "timestamptz_ns": PhysicalType.TIMESTAMP_NANOS,
    "string": PhysicalType.STRING,
    "binary": PhysicalType.BINARY,
    "uuid": PhysicalType.UUID,
}
"""The physical type of a bound of each kind of type; boolean depends on the value too, and decimal on the precision."""

_READ: dict[PhysicalType, Type] = {
    **{physical: PLAIN_PRIMITIVES[name] for name, physical in _WRITTEN.items()},
    PhysicalType.TRUE: BOOLEAN,
    PhysicalType.FALSE: BOOLEAN,
    PhysicalType.INT8: INT,
    PhysicalType.INT16: INT,
}

_CLASSES: dict[str, str] = {
    "int": "exact numeric",
    "long": "exact numeric",
    "decimal": "exact numeric",
    "timestamp_ns": "timestamp",
    "timestamptz_ns": "timestamptz",
}
"""The equivalence class of a kind of type, where it is not the kind itself."""


def encode_variant_bound(bound: VariantBound) -> bytes:
    """Serialize a bound of a variant column. Equal bounds have equal bytes, whatever the order of the paths.

    Args:
        bound: by normalized JSON path, the type and the value of the field's bound.

    Returns:
        The metadata followed by the value.

    Raises:
        SpecError: SVB012 if the bound is not a mapping; BND005 for a path that is not normalized or a type that is not
            a primitive of the variant encoding; BND010 for a bound of the root beside others; DFL027 for NaN; otherwise
            the code of the type.
    """
    if not isinstance(bound, Mapping):
        raise spec_error(
            "SVB012", "the value is not a bound of a variant", found=bound, expected="a dict from path to (type, value)"
        )
    _check_paths(bound)
    node: dict[str, VariantValue] = {}
    for path, (type_, value) in bound.items():
        with error_path(f"/{_pointer(path)}"):
            node[path] = _scalar(type_, value)
    variant = encode_variant(node)
    return variant.metadata + variant.value


def decode_variant_bound(data: bytes) -> dict[str, tuple[Type, Any]]:
    """Deserialize a bound of a variant column.

    Args:
        data: the metadata followed by the value.

    Returns:
        By normalized JSON path, the type and the value of the field's bound, in the order of the paths.

    Raises:
        SpecError: TYP006 if the bytes are not a variant; SVB012 if it is not an object; BND005 for a path that is not
            normalized, or a bound that is null or not primitive; BND010 for a bound of the root beside others.
    """
    if not isinstance(data, bytes):
        raise spec_error("SVB012", "the bound is not bytes", found=data, expected="bytes")
    node = decode_variant(split_variant(data))
    if not isinstance(node, dict):
        raise spec_error("SVB012", "the bound of a variant is not an object", found=node, expected="an object by path")
    _check_paths(node)
    bound = {}
    for path, child in node.items():
        with error_path(f"/{_pointer(path)}"):
            bound[path] = primitive_type_and_value(child)
    return bound


def equivalence_class(type_: Type) -> str:
    """Name the equivalence class of the variant encoding that the values of a type belong to.

    Args:
        type_: the type of a bound.

    Returns:
        The name of the class, such as ``exact numeric``; values compare only within one class.
    """
    return _CLASSES.get(kind(type_), kind(type_))


def check_same_types(lower: VariantBound, upper: VariantBound) -> None:
    """Check that the lower and the upper bound of each field have the same variant type.

    Args:
        lower: the lower bounds, by path.
        upper: the upper bounds, by path.

    Raises:
        SpecError: BND006 if a path has bounds of different types.
    """
    for path in lower.keys() & upper.keys():
        found = [equivalence_class(bound[path][0]) for bound in (lower, upper)]
        if found[0] != found[1]:
            message = "lower and upper bound of a field have different types"
            raise spec_error("BND006", message, found=Description(" and ".join(found)), path=f"/{_pointer(path)}")


def _pointer(path: str) -> str:
    return path.replace("~", "~0").replace("/", "~1")


def _check_paths(paths: Iterable[str]) -> None:
    found = list(paths)
    for path in found:
        parse_normalized_path(path)
    if ROOT in found and len(found) > 1:
        message = "a field has bounds besides the root, whose bounds mean that all values are primitive"
        raise spec_error("BND010", message, found=max(found), expected="the path $ alone")


def _scalar(type_: Type, value: Any) -> VariantPrimitive:
    check_value(type_, value)
    if isinstance(value, float) and math.isnan(value):
        raise spec_error("DFL027", "the bound is NaN", found=value)
    match type_:
        case DecimalType(precision):
            return VariantPrimitive(next(p for p, digits in DECIMAL_DIGITS.items() if precision <= digits), value)
        case _ if type_ == BOOLEAN:
            return VariantPrimitive(PhysicalType.TRUE if value else PhysicalType.FALSE, value)
    if kind(type_) not in _WRITTEN:
        raise _not_primitive(type_)
    return VariantPrimitive(_WRITTEN[kind(type_)], value)


def primitive_type_and_value(node: VariantValue) -> tuple[Type, Any]:
    """Find the Iceberg type of a variant primitive.

    Args:
        node: a decoded variant value.

    Returns:
        The type and the value.

    Raises:
        SpecError: BND005 for null, an object or an array.
    """
    match node:
        case VariantPrimitive(physical, value) if physical in DECIMAL_DIGITS:
            return DecimalType(DECIMAL_DIGITS[physical], -value.as_tuple().exponent), value
        case VariantPrimitive(physical, value) if physical in _READ:
            return _READ[physical], value
    raise _not_primitive(node)


def _not_primitive(found: Any) -> SpecError:
    return spec_error(
        "BND005", "a bound in a variant is not a primitive value", found=found, expected="not null, not nested"
    )

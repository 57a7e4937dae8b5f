"""The types of a schema (Schemas and Data Types).

Nested types are structs, lists and maps; variant is semi-structured; all others are primitive. Every type is an
immutable value: two types are equal when they are the same type with the same parameters and field ids, whatever
unknown properties a newer writer added.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

import attrs

from spec_ref.core.errors import spec_error
from spec_ref.core.records import EMPTY, record, spec_field
from spec_ref.core.versions import (
    GEO_TYPES,
    NANOSECOND_TIMESTAMPS,
    OMITTED,
    OPTIONAL,
    REQUIRED,
    UNKNOWN_TYPE,
    V1,
    VARIANT_TYPE,
    FormatVersion,
)

MAX_DECIMAL_PRECISION = 38
DEFAULT_CRS = "OGC:CRS84"


def _extra() -> Any:
    """Make the attribute for properties that no format version defines; they are kept, and do not make types differ."""
    return attrs.field(default=EMPTY, eq=False, repr=False)


@record
class PrimitiveType:
    """A primitive type without parameters (Primitive Types)."""

    name: str
    """The type's name, which is also its JSON string."""

    since: FormatVersion = V1
    """The first format version whose tables may use the type (VER004)."""

    def __str__(self) -> str:
        return self.name


BOOLEAN = PrimitiveType("boolean")
INT = PrimitiveType("int")
LONG = PrimitiveType("long")
FLOAT = PrimitiveType("float")
DOUBLE = PrimitiveType("double")
DATE = PrimitiveType("date")
TIME = PrimitiveType("time")
TIMESTAMP = PrimitiveType("timestamp")
TIMESTAMPTZ = PrimitiveType("timestamptz")
TIMESTAMP_NS = PrimitiveType("timestamp_ns", since=NANOSECOND_TIMESTAMPS.since)
TIMESTAMPTZ_NS = PrimitiveType("timestamptz_ns", since=NANOSECOND_TIMESTAMPS.since)
STRING = PrimitiveType("string")
UUID = PrimitiveType("uuid")
BINARY = PrimitiveType("binary")
UNKNOWN = PrimitiveType("unknown", since=UNKNOWN_TYPE.since)
"""The type whose only value is null; data files do not store columns of this type (TYP026)."""

PLAIN_PRIMITIVES: dict[str, PrimitiveType] = {
    type_.name: type_
    for type_ in (
        UNKNOWN,
        BOOLEAN,
        INT,
        LONG,
        FLOAT,
        DOUBLE,
        DATE,
        TIME,
        TIMESTAMP,
        TIMESTAMPTZ,
        TIMESTAMP_NS,
        TIMESTAMPTZ_NS,
        STRING,
        UUID,
        BINARY,
    )
}
"""The primitive types without parameters, by name, in the order of Appendix C."""


@record
class FixedType:
    """``fixed(L)``: a byte array of exactly ``length`` bytes."""

    length: int

    def __attrs_post_init__(self) -> None:
        if self.length < 0:
            raise spec_error("TYP023", "the length of a fixed is negative", found=self.length)

    @property
    def since(self) -> FormatVersion:
        return V1

    def __str__(self) -> str:
        return f"fixed[{self.length}]"


@record
class DecimalType:
    """``decimal(P,S)``: a fixed-point number of at most ``precision`` digits, ``scale`` of them after the point.

    The precision of a column may be raised, but its scale never changes (TYP014).
    """

    precision: int
    scale: int

    def __attrs_post_init__(self) -> None:
        if not 1 <= self.precision <= MAX_DECIMAL_PRECISION:
            raise spec_error(
                "TYP013", "the precision of a decimal is out of range", found=self.precision, expected="1 to 38"
            )

    @property
    def since(self) -> FormatVersion:
        return V1

    def __str__(self) -> str:
        # Appendix C shows the type with and without a space; Iceberg-Java writes the space (contradiction B12).
        return f"decimal({self.precision}, {self.scale})"


class EdgeAlgorithm(enum.Enum):
    """How the edge between two points of a geography is interpolated (Edge-Interpolation Algorithm)."""

    SPHERICAL = "spherical"
    VINCENTY = "vincenty"
    THOMAS = "thomas"
    ANDOYER = "andoyer"
    KARNEY = "karney"


@record
class GeometryType:
    """``geometry(C)``: features with planar edges in the coordinate reference system ``crs``, a name alone (TYP033).

    In the default system, x is longitude and y is latitude, on the datum WGS84 (TYP030).
    """

    crs: str = DEFAULT_CRS

    @property
    def since(self) -> FormatVersion:
        return GEO_TYPES.since

    def __str__(self) -> str:
        return f"geometry({self.crs})"


@record
class GeographyType:
    """``geography(C, A)``: features on the globe, whose edges follow ``algorithm``.

    Every reference system of a geography has longitudes from -180 to 180 and latitudes from -90 to 90 (TYP034).
    """

    crs: str = DEFAULT_CRS
    algorithm: EdgeAlgorithm = EdgeAlgorithm.SPHERICAL

    @property
    def since(self) -> FormatVersion:
        return GEO_TYPES.since

    def __str__(self) -> str:
        return f"geography({self.crs}, {self.algorithm.value})"


@record
class VariantType:
    """``variant``: a semi-structured value; neither primitive nor nested (Semi-structured Types)."""

    @property
    def since(self) -> FormatVersion:
        return VARIANT_TYPE.since

    def __str__(self) -> str:
        return "variant"


VARIANT = VariantType()


def signed_zero_key(value: Any) -> Any:
    """Convert a default to a form that distinguishes -0.0 from 0.0, as the rows that it fills keep the sign.

    Args:
        value: a value of any type, or None.

    Returns:
        A value that equals that of another default only if the defaults are equal.
    """
    if isinstance(value, float):
        return value, math.copysign(1, value)
    if isinstance(value, tuple):
        return tuple(map(signed_zero_key, value))
    if isinstance(value, Mapping):
        return {name: signed_zero_key(item) for name, item in value.items()}
    return value


@record
class NestedField:
    """A field of a struct: a column, or a part of one (Nested Types; Appendix C, Schemas).

    It may have defaults; elements, keys and values of lists and maps have none (TYP005).
    """

    id: int = spec_field("id", v1=REQUIRED, v2=REQUIRED, v3=REQUIRED, requirement="TYP002")
    name: str = spec_field("name", v1=REQUIRED, v2=REQUIRED, v3=REQUIRED, requirement="TYP002")
    required: bool = spec_field("required", v1=REQUIRED, v2=REQUIRED, v3=REQUIRED, requirement="TYP002")
    type: Type = spec_field("type", v1=REQUIRED, v2=REQUIRED, v3=REQUIRED, requirement="TYP002")
    doc: str | None = spec_field("doc", v1=OPTIONAL, v2=OPTIONAL, v3=OPTIONAL, requirement="TYP002", default=None)
    initial_default: Any = spec_field(
        "initial-default", v1=OMITTED, v2=OMITTED, v3=OPTIONAL, requirement="DEF001", default=None, eq=signed_zero_key
    )
    write_default: Any = spec_field(
        "write-default", v1=OMITTED, v2=OMITTED, v3=OPTIONAL, requirement="DEF002", default=None, eq=signed_zero_key
    )
    extra: Mapping[str, Any] = _extra()


@record
class StructType:
    """``struct``: a tuple of typed, named fields with ids."""

    fields: tuple[NestedField, ...] = attrs.field(converter=tuple)
    extra: Mapping[str, Any] = _extra()

    @property
    def since(self) -> FormatVersion:
        return V1

    def field(self, field_id: int) -> NestedField | None:
        """Find a direct child.

        Args:
            field_id: the id of a field.

        Returns:
            The field; None if no direct child has the id.
        """
        return next((child for child in self.fields if child.id == field_id), None)

    def __str__(self) -> str:
        return f"struct<{', '.join(f'{field.id}: {field.name}' for field in self.fields)}>"


@record
class ListType:
    """``list``: values of one element type; the element has an id."""

    element_id: int
    element: Type
    element_required: bool = True
    extra: Mapping[str, Any] = _extra()

    @property
    def since(self) -> FormatVersion:
        return V1

    def __str__(self) -> str:
        return f"list<{self.element}>"


@record
class MapType:
    """``map``: key-value pairs; key and value have ids, keys are required."""

    key_id: int
    key: Type
    value_id: int
    value: Type
    value_required: bool = True
    extra: Mapping[str, Any] = _extra()

    @property
    def since(self) -> FormatVersion:
        return V1

    def __str__(self) -> str:
        return f"map<{self.key}, {self.value}>"


Primitive: TypeAlias = PrimitiveType | FixedType | DecimalType | GeometryType | GeographyType
Nested: TypeAlias = StructType | ListType | MapType
Type: TypeAlias = Primitive | VariantType | Nested


_PARAMETERIZED: dict[type, str] = {
    FixedType: "fixed",
    DecimalType: "decimal",
    GeometryType: "geometry",
    GeographyType: "geography",
    VariantType: "variant",
    StructType: "struct",
    ListType: "list",
    MapType: "map",
}


def kind(type_: Type) -> str:
    """Name a type without its parameters: the key of its row in the spec's tables by type.

    Args:
        type_: any type.

    Returns:
        The name, such as ``decimal``.
    """
    return type_.name if isinstance(type_, PrimitiveType) else _PARAMETERIZED[type(type_)]


def is_primitive(type_: Type) -> bool:
    """Decide whether a type is primitive; variant is not (TYP007).

    Args:
        type_: any type.

    Returns:
        Whether it is primitive.
    """
    return isinstance(type_, Primitive)


def children(type_: Type) -> Iterator[tuple[int, Type]]:
    """List what is directly inside a nested type.

    Args:
        type_: any type.

    Yields:
        The id and type of each field, element, key or value; nothing for a type that is not nested.
    """
    match type_:
        case StructType(fields):
            yield from ((field.id, field.type) for field in fields)
        case ListType(element_id, element):
            yield element_id, element
        case MapType(key_id, key, value_id, value):
            yield key_id, key
            yield value_id, value
        case _:
            return

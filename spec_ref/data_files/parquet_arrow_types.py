"""Iceberg types as the Arrow types from which pyarrow writes Parquet files (Appendix A, Parquet; PQT001 to PQT007).

`arrow_schema` with `WRITER_OPTIONS` makes pyarrow store field ids and types as the appendix requires, which
`spec_ref.data_files.parquet_schema` reads back. pyarrow cannot write the annotations of variants, and of geographies
whose edges are not spherical: `spec_ref.data_files.parquet_footer` adds them.
"""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa

from spec_ref.columnar.arrow_types import ARROW_TYPES
from spec_ref.core.errors import Description, spec_error
from spec_ref.data_files.nested_arrow_types import arrow_fields, nested_type
from spec_ref.data_files.parquet_schema import type_requirement
from spec_ref.data_types.types import (
    DEFAULT_CRS,
    UNKNOWN,
    DecimalType,
    FixedType,
    GeographyType,
    GeometryType,
    PrimitiveType,
    StructType,
    Type,
)

FIELD_ID = b"PARQUET:field_id"
"""The key in the metadata of an Arrow field under which pyarrow keeps a Parquet field id."""

WRITER_OPTIONS: dict[str, Any] = {"version": "2.6", "store_decimal_as_integer": True, "store_schema": False}
"""Options of ``pyarrow.parquet.ParquetWriter`` that make it store types as the appendix requires."""


class _GeoArrow(pa.ExtensionType):
    """WKB under the name by which pyarrow stores GEOMETRY and GEOGRAPHY.

    It is never registered: a registered type would change how pyarrow reads other files.
    """

    def __init__(self, metadata: dict[str, str]) -> None:
        self._metadata = json.dumps(metadata)
        super().__init__(pa.binary(), "geoarrow.wkb")

    def __arrow_ext_serialize__(self) -> bytes:
        return self._metadata.encode()

    @classmethod
    def __arrow_ext_deserialize__(cls, storage_type: pa.DataType, serialized: bytes) -> _GeoArrow:
        return cls(json.loads(serialized))


def arrow_schema(struct: StructType) -> pa.Schema:
    """Make the Arrow schema of a struct, with field ids, from which pyarrow writes a file.

    Columns of type unknown are left out.

    Args:
        struct: the columns.

    Returns:
        The Arrow schema.

    Raises:
        SpecError: PQT006 for a list or map of unknown, whose elements cannot be stored.
    """
    return pa.schema(arrow_fields(struct, _arrow_field))


def _arrow_field(name: str, field_id: int, type_: Type, *, required: bool) -> pa.Field[Any]:
    return pa.field(name, arrow_type(type_), nullable=not required, metadata={FIELD_ID: str(field_id)})


def arrow_type(type_: Type) -> pa.DataType:
    """Find the Arrow type that pyarrow stores as the appendix requires.

    Args:
        type_: any type except unknown.

    Returns:
        The Arrow type.

    Raises:
        SpecError: the code of the type (`spec_ref.data_files.parquet_schema.type_requirement`) if it has no Arrow type
            to write.
    """
    if (nested := nested_type(type_, _arrow_field)) is not None:
        return nested
    match type_:
        case DecimalType(precision, scale):
            return pa.decimal128(precision, scale)
        case FixedType(length):
            return pa.binary(length)
        case GeometryType(crs):
            return _GeoArrow({} if crs == DEFAULT_CRS else {"crs": crs})
        case GeographyType(crs):
            return _GeoArrow({"edges": "spherical"} if crs == DEFAULT_CRS else {"edges": "spherical", "crs": crs})
        case PrimitiveType(name) if type_ != UNKNOWN:
            found: pa.DataType = ARROW_TYPES[name]
            return found
    raise spec_error(
        type_requirement(type_),
        "the type has no Arrow type",
        found=Description(str(type_)),
        expected="a type other than unknown",
    )

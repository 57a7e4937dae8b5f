"""Nested types and variants as the Arrow types that pyarrow writes files from (Appendix A, Parquet and ORC)."""

from __future__ import annotations

from typing import Any, Protocol

import pyarrow as pa

from spec_ref.core.errors import error_path
from spec_ref.data_types.types import UNKNOWN, ListType, MapType, StructType, Type, VariantType

VARIANT_PARTS = pa.struct([pa.field(name, pa.binary(), nullable=False) for name in ("metadata", "value")])
"""The group of a variant, whose parts have no ids. An Arrow extension type for variants makes pyarrow 26
abort the process, so it cannot be used to write the annotation."""


class MakeField(Protocol):
    """Makes the Arrow field of a column with the metadata that the format stores, such as its id."""

    def __call__(self, name: str, field_id: int, type_: Type, *, required: bool) -> pa.Field[Any]: ...


def arrow_fields(struct: StructType, make: MakeField) -> list[pa.Field[Any]]:
    """Make the Arrow fields of a struct, except those of type unknown, which files do not store.

    Args:
        struct: the struct.
        make: makes the field of a column.

    Returns:
        The fields.

    Raises:
        SpecError: the code of a type that the format cannot store; the path names the field.
    """
    fields = []
    for field in struct.fields:
        if field.type != UNKNOWN:
            with error_path(f"/{field.name}"):
                fields.append(make(field.name, field.id, field.type, required=field.required))
    return fields


def nested_type(type_: Type, make: MakeField) -> pa.DataType | None:
    """Make the Arrow type of a type that contains others, or is stored as a group.

    Args:
        type_: any type.
        make: makes the field of a column.

    Returns:
        The Arrow type; None for any other type.

    Raises:
        SpecError: as `arrow_fields`.
    """
    match type_:
        case StructType():
            return pa.struct(arrow_fields(type_, make))
        case ListType(element_id, element, required):
            with error_path("/element"):
                return pa.list_(make("element", element_id, element, required=required))
        case MapType(key_id, key, value_id, value, required):
            with error_path("/key"):
                key_field = make("key", key_id, key, required=True)
            with error_path("/value"):
                value_field = make("value", value_id, value, required=required)
            return pa.map_(key_field, value_field)  # type: ignore[call-overload,no-any-return]
        case VariantType():
            return VARIANT_PARTS
    return None

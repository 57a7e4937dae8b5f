"""Default values (Default values; Appendix E, Version 3).

A field of a struct may have an initial default, for rows written before the field existed, and a write default, for
rows whose writer supplied no value. Both are the same at first; the write default may change (DEF004), and the change
affects only rows written afterwards (DEF012). The default of a struct is null or an empty struct: the defaults of its
fields give the values inside (EVO017).

Older readers ignore defaults. They read a table correctly if the initial default of each optional field is null, and
fail if a required field has nothing but its initial default (UPG006).
"""

from __future__ import annotations

from typing import Any

from spec_ref.core.errors import error_path, spec_error
from spec_ref.data_types.types import NestedField, StructType, Type, kind
from spec_ref.data_types.values import check_value

NULL_ONLY = frozenset({"unknown", "variant", "geometry", "geography"})
"""The types whose columns all default to null (DEF008)."""


def check_default(type_: Type, value: Any) -> None:
    """Check that a type allows a default value (DEF008, DEF009, EVO018).

    Args:
        type_: the type of the column.
        value: the default; None for null.

    Raises:
        SpecError: DEF008 if the type only defaults to null; DEF009 for a struct's default with values for its fields;
            the code of the type if the default is not a value of it.
    """
    if value is None:
        return
    if kind(type_) in NULL_ONLY:
        raise spec_error(
            "DEF008", f"the default of a column of type {kind(type_)} is not null", found=value, expected="null"
        )
    if isinstance(type_, StructType):
        if value != {}:
            raise spec_error(
                "DEF009",
                "the default of a struct is neither null nor an empty struct",
                found=value,
                expected="null or {}",
            )
        return
    check_value(type_, value)


def effective_write_default(field: NestedField) -> Any:
    """Find the value that is written for a field if the writer supplies none (DEF002, DEF007).

    Args:
        field: a field of a struct.

    Returns:
        The write default, with the fields of a struct filled in; None for null.

    Raises:
        SpecError: DEF007 if the field, or a field inside its default, is required and has no write default.
    """
    if field.required and field.write_default is None:
        raise spec_error("DEF007", f"the required field {field.name} has no value and no write default")
    if field.write_default is None or not isinstance(field.type, StructType):
        return field.write_default
    filled = {}
    for child in field.type.fields:
        with error_path(f"/{child.id}"):
            filled[child.id] = effective_write_default(child)
    return filled

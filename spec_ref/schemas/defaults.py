"""Default values (Default values; Appendix E, Version 3).

A field of a struct may have an initial default, for rows written before the field existed, and a write default, for
rows whose writer was given no value. The default of a struct is null or an empty struct: what its fields hold is said
by the defaults of the fields.
"""

from __future__ import annotations

from typing import Any

from spec_ref.errors import at, violation
from spec_ref.records import evolve
from spec_ref.schemas.types import ListType, MapType, NestedField, StructType, Type, kind
from spec_ref.schemas.values import check_value

NULL_ONLY = frozenset({"unknown", "variant", "geometry", "geography"})
"""The types whose columns all default to null (DEF008)."""


def without_defaults(type_: Type) -> Type:
    """The type as a version without `DEFAULT_VALUES` reads and writes it."""
    match type_:
        case StructType(fields):
            bare = (
                evolve(field, type=without_defaults(field.type), initial_default=None, write_default=None)
                for field in fields
            )
            return evolve(type_, fields=tuple(bare))
        case ListType(_, element):
            return evolve(type_, element=without_defaults(element))
        case MapType(_, key, _, value):
            return evolve(type_, key=without_defaults(key), value=without_defaults(value))
        case _:
            return type_


def check_default(type_: Type, value: Any) -> None:
    """Refuse a default that the type of its column does not allow.

    Raises:
        SpecError: DEF008 for a default that is not null of a type that always defaults to null; DEF009 for a struct's
            default with values for its fields; the code of the type for a value that is not of it.
    """
    if value is None:
        return
    if kind(type_) in NULL_ONLY:
        raise violation("DEF008", f"a column of type {kind(type_)} defaults to null", found=value, expected="null")
    if isinstance(type_, StructType):
        if value != {}:
            raise violation(
                "DEF009", "a struct defaults to null or to an empty struct", found=value, expected="null or {}"
            )
        return
    check_value(type_, value)


def effective_write(field: NestedField) -> Any:
    """The value that is written for a field when the writer was given none (DEF002, DEF007).

    Raises:
        SpecError: the field is required and has no write default.
    """
    if field.required and field.write_default is None:
        raise violation("DEF007", f"no value and no write default for the required field {field.name}")
    if field.write_default is None or not isinstance(field.type, StructType):
        return field.write_default
    filled = {}
    for child in field.type.fields:
        with at(f"/{child.id}"):
            filled[child.id] = effective_write(child)
    return filled

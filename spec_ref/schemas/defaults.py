"""Default values (Default values; Appendix E, Version 3).

A field of a struct may have an initial default, for rows written before the field existed, and a write default, for
rows whose writer was given no value. The default of a struct is null or an empty struct: what its fields hold is said
by the defaults of the fields.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from spec_ref.errors import at, violation
from spec_ref.records import evolve, field_rules
from spec_ref.schemas.types import ListType, MapType, NestedField, StructType, Type, kind
from spec_ref.schemas.values import check_value
from spec_ref.versions import FormatVersion

DEFAULTS_SINCE: FormatVersion = field_rules(NestedField)["initial_default"].since
"""The first format version whose fields have defaults."""

NULL_ONLY = frozenset({"unknown", "variant", "geometry", "geography"})
"""The types whose columns all default to null (DEF008)."""


def without_defaults(type_: Type) -> Type:
    """The type as a version before `DEFAULTS_SINCE` reads and writes it."""
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


def effective_initial(field: NestedField) -> Any:
    """The value of a field in a row that was written before the field existed (DEF001, DEF005, DEF010)."""
    return _effective(field.type, field.initial_default, effective_initial)


def effective_write(field: NestedField) -> Any:
    """The value that is written for a field when the writer was given none (DEF002, DEF007).

    Raises:
        SpecError: the field is required and has no write default.
    """
    if field.required and field.write_default is None:
        raise violation("DEF007", f"no value and no write default for the required field {field.name}")
    return _effective(field.type, field.write_default, effective_write)


def _effective(type_: Type, default: Any, of: Callable[[NestedField], Any]) -> Any:
    if default is None or not isinstance(type_, StructType):
        return default
    return _filled({}, type_, of)


def with_initial_defaults(type_: StructType, value: dict[int, Any] | None) -> dict[int, Any] | None:
    """A struct that was read from a file, with the fields that the file does not have filled in (DEF011).

    A missing entry is a field that the file lacks; a null entry is a null in the file.
    """
    return None if value is None else _filled(value, type_, effective_initial)


def _filled(value: dict[int, Any], type_: StructType, of: Callable[[NestedField], Any]) -> dict[int, Any]:
    filled = {}
    for field in type_.fields:
        with at(f"/{field.id}"):
            filled[field.id] = value[field.id] if field.id in value else of(field)
    return filled

"""Types in JSON (Appendix C, Schemas).

Primitive types and variant are strings, nested types are objects. The written form is canonical (JSC004). A reader
accepts whitespace around the parameters of a type and their separators (JSC005), ``geometry`` and ``geography`` without
the parameters that have a default, and members of objects that the spec does not list: they have no meaning in this
version, and are kept for the writers that define them.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from spec_ref.core.errors import error_path, spec_error
from spec_ref.core.json_types import Json
from spec_ref.core.records import evolve
from spec_ref.core.versions import NEWEST, FormatVersion
from spec_ref.data_types.types import (
    MAX_DECIMAL_PRECISION,
    PLAIN_PRIMITIVES,
    STRING,
    UNKNOWN,
    VARIANT,
    DecimalType,
    EdgeAlgorithm,
    FixedType,
    GeographyType,
    GeometryType,
    ListType,
    MapType,
    NestedField,
    StructType,
    Type,
    kind,
)
from spec_ref.data_types.values import check_value
from spec_ref.json.reading import record_reader, unknown_members
from spec_ref.json.wire_types import ANY, BOOLEAN, INT, Converted, Kind, RecordOf
from spec_ref.json.wire_types import STRING as STRING_KIND
from spec_ref.json.writing import record_writer
from spec_ref.schemas.default_values import NULL_ONLY, check_default
from spec_ref.single_value.json_value import from_json, to_json

MAX_DEPTH = 100
"""The maximum number of levels of nesting that are read; recursion over a type is as deep as the type."""

MAX_SCALE = 999
"""The largest scale that is read, of either sign. The spec sets no limit, but a value has that many digits."""

MAX_INT = 2**31 - 1

MAX_CACHED_LENGTH = 64
"""The longest type string, in characters, whose type is cached."""


def type_to_json(type_: Type, version: FormatVersion = NEWEST) -> str | dict[str, Any]:
    """Write a type as canonical JSON.

    Args:
        type_: any type.
        version: the format version, whose rules decide which properties of nested fields are written.

    Returns:
        A string for a primitive type or variant, an object for a nested type.

    Raises:
        SpecError: DEF008, DEF009 or the code of a type if a default is not allowed; SVJ001 or SVJ010 if it has no JSON
            form.
    """
    match type_:
        case StructType(fields, extra):
            write = record_writer(FIELD, version)
            return {
                "type": "struct",
                "fields": [write(with_json_defaults(field)) for field in fields],
                **_extra("struct", extra),
            }
        case ListType(element_id, element, required, extra):
            return {
                "type": "list",
                "element-id": element_id,
                "element-required": required,
                "element": type_to_json(element, version),
                **_extra("list", extra),
            }
        case MapType(key_id, key, value_id, value, required, extra):
            return {
                "type": "map",
                "key-id": key_id,
                "key": type_to_json(key, version),
                "value-id": value_id,
                "value-required": required,
                "value": type_to_json(value, version),
                **_extra("map", extra),
            }
        case _:
            return str(type_)


def _extra(name: str, extra: Mapping[str, Json]) -> dict[str, Json]:
    """Return the members of an object that the spec does not list."""
    return unknown_members(_KNOWN[name], dict(extra)) if extra else {}


def type_from_json(json: Json, version: FormatVersion = NEWEST) -> Type:
    """Read a type from JSON.

    Args:
        json: the parsed JSON.
        version: the format version, whose rules decide which properties of nested fields are read.

    Returns:
        The type.

    Raises:
        SpecError: JSC003 if it is not a type; JSC006 or JSC007 for a malformed nested type; TYP002 for a malformed
            field; TYP013, TYP023, TYP031 or TYP035 for an invalid parameter; TYP025 for a required field of type
            unknown; DEF008, DEF009 or a code of JSON single values for a default.
    """
    if type(json) is str:
        return _cached_type(json) if len(json) <= MAX_CACHED_LENGTH else _from_text(json)
    _check_depth(json)
    return _type(json, version)


def _check_depth(json: Json) -> None:
    """Refuse JSON whose types nest too deeply, before it is walked recursively."""
    level, depth = [json], 0
    while level := [inner for one in level if type(one) is dict for inner in _inner_types(one)]:
        depth += 1
        if depth >= MAX_DEPTH:
            raise spec_error("JSC006", "types are nested too deeply", expected=f"at most {MAX_DEPTH} levels")


def _inner_types(json: dict[str, Json]) -> Iterator[Json]:
    fields = json.get("fields")
    if type(fields) is list:
        yield from (field["type"] for field in fields if type(field) is dict and "type" in field)
    yield from (json[name] for name in ("element", "key", "value") if name in json)


def _type(json: Json, version: FormatVersion) -> Type:
    if type(json) is str:
        return _from_text(json)
    if type(json) is not dict:
        raise spec_error("JSC003", "the type is not a string or an object", found=json)
    name = json.get("type")
    read = _NESTED.get(name) if type(name) is str else None
    if read is None:
        raise spec_error(
            "JSC003", "the object is not a nested type", found=name, expected="struct, list or map", path="/type"
        )
    return read(json, version)


# Strings

WHITESPACE = " \t\r\n"

_NUMBER = re.compile(r"0|-?[1-9][0-9]{0,99}")


@functools.lru_cache(maxsize=1024)
def _cached_type(text: str) -> Type:
    return _from_text(text)


def _from_text(text: str) -> Type:
    plain = _UNPARAMETERIZED.get(text)
    if plain is not None:
        return plain
    for opening, closing, read in _PARAMETERIZED:
        if text.startswith(opening) and text.endswith(closing):
            return read(text, text[len(opening) : -len(closing)].strip(WHITESPACE))
    raise spec_error("JSC003", "the text is not a type", found=text)


def _number(text: str, number: str, low: int, high: float, expected: str = "") -> int:
    """Read a parameter; ``expected`` is the range for errors where the type itself checks a smaller one."""
    if not _NUMBER.fullmatch(number) or not low <= int(number) <= high:
        raise spec_error(
            "JSC003",
            "a parameter of the type is not a number in its range",
            found=text,
            expected=f"{expected or f'{low} to {high}'}, in ASCII digits without leading zeros",
        )
    return int(number)


def _fixed(text: str, parameters: str) -> FixedType:
    return FixedType(_number(text, parameters, 0, MAX_INT))


def _decimal(text: str, parameters: str) -> DecimalType:
    precision, comma, scale = parameters.partition(",")
    if not comma:
        raise spec_error("JSC003", "the text is not a decimal type", found=text, expected="decimal(P, S)")
    # A negative scale, or one above the precision, is valid: the text limits only the precision.
    return DecimalType(
        _number(text, precision.strip(WHITESPACE), 0, math.inf, f"1 to {MAX_DECIMAL_PRECISION}"),  # TYP013
        _number(text, scale.strip(WHITESPACE), -MAX_SCALE, MAX_SCALE),
    )


def _crs(text: str, crs: str) -> str:
    # Any string may identify a coordinate reference system; it is kept unchanged and never parsed (TYP032).
    if not crs:
        raise spec_error("TYP031", "the coordinate reference system is empty", found=text)
    check_value(STRING, crs)
    return crs


def _geometry(text: str, parameters: str) -> GeometryType:
    return GeometryType(_crs(text, parameters))


def _geography(text: str, parameters: str) -> GeographyType:
    # The name of a reference system may hold commas; the algorithm follows the last one.
    crs, comma, algorithm = parameters.rpartition(",")
    if not comma:
        return GeographyType(_crs(text, parameters))
    algorithm = algorithm.strip(WHITESPACE)
    try:
        edges = EdgeAlgorithm(algorithm)
    except ValueError as error:
        expected = ", ".join(known.value for known in EdgeAlgorithm)
        raise spec_error(
            "TYP035", "the text is not an edge-interpolation algorithm", found=algorithm, expected=expected
        ) from error
    return GeographyType(_crs(text, crs.strip(WHITESPACE)), edges)


_UNPARAMETERIZED: dict[str, Type] = {
    **PLAIN_PRIMITIVES,
    "variant": VARIANT,
    "geometry": GeometryType(),
    "geography": GeographyType(),
}

_PARAMETERIZED: tuple[tuple[str, str, Callable[[str, str], Type]], ...] = (
    ("fixed[", "]", _fixed),
    ("decimal(", ")", _decimal),
    ("geometry(", ")", _geometry),
    ("geography(", ")", _geography),
)
"""The text before and after the parameters, and the function that reads them from the whole text and the part
between."""


# Objects

_EXPECTED: dict[type, str] = {bool: "true or false", list: "a list", int: "a 32-bit integer"}


def _member(json: dict[str, Json], name: str, type_: type, requirement: str) -> Any:
    """Read a required member of one JSON type."""
    if name not in json:
        raise spec_error(requirement, f"{name} is missing", expected=f"the required member {name}", aspect="missing")
    value = json[name]
    fits = isinstance(value, type_)
    if type_ is int:
        fits = fits and not isinstance(value, bool) and -MAX_INT - 1 <= value <= MAX_INT
    if not fits:
        raise spec_error(
            requirement,
            f"{name} has the wrong type",
            found=value,
            expected=_EXPECTED[type_],
            path=f"/{name}",
            aspect="wrong-type",
        )
    return value


def _member_type(json: dict[str, Json], name: str, version: FormatVersion) -> Type:
    if name not in json:
        raise spec_error("JSC007", f"{name} is missing", expected=f"the required member {name}", aspect="missing")
    with error_path(f"/{name}"):
        return _type(json[name], version)


def _struct(json: dict[str, Json], version: FormatVersion) -> StructType:
    read = record_reader(_INNER_FIELD, version)
    fields = []
    for index, field in enumerate(_member(json, "fields", list, "JSC006")):
        with error_path(f"/fields/{index}"):
            fields.append(read(field))
    return StructType(tuple(fields), extra=_extra("struct", json))


def _list(json: dict[str, Json], version: FormatVersion) -> ListType:
    return ListType(
        element_id=_member(json, "element-id", int, "JSC007"),
        element=_member_type(json, "element", version),
        element_required=_member(json, "element-required", bool, "JSC007"),
        extra=_extra("list", json),
    )


def _map(json: dict[str, Json], version: FormatVersion) -> MapType:
    return MapType(
        key_id=_member(json, "key-id", int, "JSC007"),
        key=_member_type(json, "key", version),
        value_id=_member(json, "value-id", int, "JSC007"),
        value=_member_type(json, "value", version),
        value_required=_member(json, "value-required", bool, "JSC007"),
        extra=_extra("map", json),
    )


_KNOWN: dict[str, frozenset[str]] = {
    "struct": frozenset({"type", "fields"}),
    "list": frozenset({"type", "element-id", "element", "element-required"}),
    "map": frozenset({"type", "key-id", "key", "value-id", "value", "value-required"}),
}
"""The members that the spec lists (Appendix C, Schemas)."""

_NESTED: dict[str, Callable[[dict[str, Json], FormatVersion], Type]] = {"struct": _struct, "list": _list, "map": _map}


# Fields

TYPE = Converted(ANY, type_from_json, type_to_json)
"""A type as a field stores it."""


def _read_field(field: NestedField, _: FormatVersion) -> NestedField:
    """Check the texts of a field, and convert its defaults from JSON to values of its type (JSC008)."""
    for name, text in (("name", field.name), ("doc", field.doc)):
        if text is not None and not text.isascii():
            with error_path(f"/{name}"):
                check_value(STRING, text)
    if field.initial_default is None and field.write_default is None:
        return field
    return evolve(
        field,
        initial_default=_default_from_json(field.type, field.initial_default, "initial-default"),
        write_default=_default_from_json(field.type, field.write_default, "write-default"),
    )


def _read_inner_field(field: NestedField, version: FormatVersion) -> NestedField:
    """Read a field inside a type, and refuse what `spec_ref.table_metadata.rules_structure` reports for columns."""
    if field.required and field.type == UNKNOWN:
        raise spec_error(
            "TYP025", "a field of type unknown is required", found=True, path="/required", aspect="required"
        )
    return _read_field(field, version)


def _field_record(type_: Converted, post_read: Callable[[NestedField, FormatVersion], NestedField]) -> RecordOf:
    scalars: dict[str, Kind] = {"id": INT, "name": STRING_KIND, "required": BOOLEAN, "doc": STRING_KIND}
    kinds = {**scalars, "type": type_, "initial_default": ANY, "write_default": ANY}
    return RecordOf(NestedField, "a field", requirement="JSC006", kinds=kinds, post_read=post_read)


FIELD = _field_record(TYPE, _read_field)
"""A field of a struct, or a column."""

_INNER_FIELD = _field_record(Converted(ANY, _type, type_to_json), _read_inner_field)
"""A field inside a type, whose depth is checked already."""


# Default values


def _default_from_json(type_: Type, json: Json, name: str) -> Any:
    if json is None:
        return None
    with error_path(f"/{name}"):
        # A struct's default is {} even where its fields are required, and other types allow no default at all.
        value = json if isinstance(type_, StructType) or kind(type_) in NULL_ONLY else from_json(type_, json)
        check_default(type_, value)
        return value


def with_json_defaults(field: NestedField) -> NestedField:
    """Convert the defaults of a field to JSON, as `FIELD` writes them.

    Args:
        field: a field, whose defaults are values of its type.

    Returns:
        The field, whose defaults are JSON.

    Raises:
        SpecError: DEF008, DEF009 or the code of a type if a default is not allowed; SVJ001 or SVJ010 if it has no JSON
            form.
    """
    if field.initial_default is None and field.write_default is None:
        return field
    made = {}
    for name, default in (("initial-default", field.initial_default), ("write-default", field.write_default)):
        with error_path(f"/{name}"):
            check_default(field.type, default)
            is_written = default is not None and not isinstance(field.type, StructType)
            made[name.replace("-", "_")] = to_json(field.type, default) if is_written else default
    return evolve(field, **made)

"""Shared code for the vectors of transforms: source types, values of each, requirements, and the vector of a value."""

from __future__ import annotations

from typing import Any

from tools.derive.encoding import number
from tools.derive.transforms import day_number, transform
from tools.derive.vector import Vector, any_of, ok

GENERAL = "Partition Transforms"

BUCKET = "Bucket Transform Details"

TRUNCATE = "Truncate Transform Details"

ALL_PRIMITIVES: dict[str, Any] = {
    "boolean": True,
    "int": 34,
    "long": "34",
    "float": 1.5,
    "double": 1.5,
    "decimal(9, 2)": "14.20",
    "date": "2017-11-16",
    "time": "22:31:08.000000",
    "timestamp": "2017-11-16T22:31:08.000000",
    "timestamptz": "2017-11-16T22:31:08.000000+00:00",
    "timestamp_ns": "2017-11-16T22:31:08.000001001",
    "timestamptz_ns": "2017-11-16T22:31:08.000001001+00:00",
    "string": "iceberg",
    "uuid": "f79c3e09-677c-4bbd-a479-3f349cb785e7",
    "fixed[4]": "00010203",
    "binary": "00010203",
}
"""A value of every primitive type of a transform's input, except unknown and the geospatial types."""

OTHER_SOURCES: dict[str, tuple[Any, Any]] = {
    "geometry": ("geometry(OGC:CRS84)", "POINT (30 10)"),
    "geography": ("geography(OGC:CRS84, spherical)", "POINT (30 10)"),
    "variant": ("variant", {"metadata": "010000", "value": "0C22"}),
    "struct": ({"type": "struct", "fields": [{"id": 1, "name": "a", "required": True, "type": "int"}]}, {"1": 34}),
    "list": ({"type": "list", "element-id": 3, "element-required": True, "element": "int"}, [34]),
    "map": (
        {"type": "map", "key-id": 4, "key": "int", "value-id": 5, "value-required": True, "value": "int"},
        {"keys": [34], "values": [34]},
    ),
}

BUCKET_TYPES = (
    "int",
    "long",
    "decimal(9, 2)",
    "date",
    "time",
    "timestamp",
    "timestamptz",
    "timestamp_ns",
    "timestamptz_ns",
    "string",
    "uuid",
    "fixed[4]",
    "binary",
)

TRUNCATE_TYPES = ("int", "long", "decimal(9, 2)", "string", "binary")

CALENDAR = ("year", "month", "day", "hour")

TIMESTAMPS = ("timestamp", "timestamptz", "timestamp_ns", "timestamptz_ns")

SOURCES: dict[str, tuple[str, ...]] = {
    "identity": tuple(ALL_PRIMITIVES),
    "bucket[16]": BUCKET_TYPES,
    "truncate[3]": TRUNCATE_TYPES,
    "year": ("date", *TIMESTAMPS),
    "month": ("date", *TIMESTAMPS),
    "day": ("date", *TIMESTAMPS),
    "hour": TIMESTAMPS,
    "void": tuple(ALL_PRIMITIVES),
}

CODES = {
    "identity": ("TRN002",),
    "bucket": ("TRN003", "TRN004"),
    "year": ("TRN010",),
    "month": ("TRN011",),
    "day": ("TRN012",),
    "hour": ("TRN014",),
    "void": ("TRN015",),
}

TRUNCATE_CODES = {"int": "TRN006", "long": "TRN006", "decimal": "TRN007", "string": "TRN008", "binary": "TRN009"}

PRINTED = {
    "truncate10-int-1",
    "truncate10-int-minus-1",
    "truncate10-long-1",
    "truncate10-long-minus-1",
    "truncate50-decimal-10-65",
    "truncate3-string-iceberg",
    "truncate3-binary-0102030405",
}
"""The examples of Truncate Transform Details."""


def codes_for(name: str, type_: Any) -> tuple[str, ...]:
    """Return the requirements of a transform of a source type."""
    base = name.split("[")[0]
    if base != "truncate":
        return CODES[base]
    return ("TRN005", *filter(None, [TRUNCATE_CODES.get(str(type_).split("(")[0])]))


def case(id_: str, name: str, type_: str, value: Any, note: str) -> Vector:
    """Return the vector that transforms a value, with the derived result."""
    result, how = transform(name, type_, value)
    origin = "spec: Truncate Transform Details" if id_ in PRINTED else f"derivation: {how}"
    expect = ok(result)
    contradiction: tuple[str, ...] = ()
    if name == "day" and value is not None:
        expect, contradiction = any_of(ok(result), ok(day_number(type_, value))), ("A5",)
        note = (note + "; " if note else "") + "the result is a date; older texts said int"
    args = {"transform": name, "type": type_, "value": value}
    codes = (*codes_for(name, type_), "TRN001") if value is None else codes_for(name, type_)
    if value is None and name != "void":
        codes = ("TRN001",)
    elif name in CALENDAR and number(type_, value) < 0:
        codes = (*codes, "TRN018")
    elif name.startswith("bucket") and type_ in ("timestamp_ns", "timestamptz_ns"):
        codes = (*codes, "HSH006")
    return Vector(id_, codes, args, expect, origin, note, contradiction)


def base_type(type_: str) -> str:
    """Return the name of a type without its parameters."""
    return type_.partition("(")[0].partition("[")[0]


def type_slug(type_: str) -> str:
    """Return the name of a type without its parameters, for a vector id."""
    return base_type(type_).replace("_", "-")

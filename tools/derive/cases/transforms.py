"""Partition transforms (Partition Transforms)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tools.derive import awkward
from tools.derive.cases.values import BAD_VALUES, MALFORMED
from tools.derive.encoding import number
from tools.derive.transforms import day_number, transform
from tools.derive.vector import INVALID, Vector, VectorFile, any_of, ok, refusals

GENERAL = "Partition Transforms"
BUCKET = "Bucket Transform Details"
TRUNCATE = "Truncate Transform Details"

# name, transform, type, value, note
Row = tuple[str, str, str, Any, str]

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

IDENTITIES: list[Row] = [
    ("identity-int-0", "identity", "int", 0, "zero is not null"),
    ("identity-string-empty", "identity", "string", "", "an empty string is not null"),
    ("identity-boolean-false", "identity", "boolean", False, "false is not null"),
    ("identity-binary-empty", "identity", "binary", "", "no bytes are not null"),
    ("identity-double-minus-0", "identity", "double", -0.0, "unmodified: the sign stays"),
    ("identity-double-nan", "identity", "double", "NaN", ""),
]

BUCKETS: list[Row] = [
    *((f"bucket16-{type_.split('(')[0].split('[')[0].replace('_', '-')}", "bucket[16]", type_, ALL_PRIMITIVES[type_],
       "") for type_ in BUCKET_TYPES),
    ("bucket16-timestamp-1us", "bucket[16]", "timestamp", "2017-11-16T22:31:08.000001", ""),
    ("bucket16-int-0", "bucket[16]", "int", 0, "zero is not null"),
    ("bucket16-long-0", "bucket[16]", "long", "0", "zero is not null"),
    ("bucket16-decimal-0", "bucket[16]", "decimal(9, 2)", "0.00", "zero is not null"),
    ("bucket16-string-empty", "bucket[16]", "string", "", "an empty string is not null"),
    ("bucket16-binary-empty", "bucket[16]", "binary", "", "no bytes are not null"),
    ("bucket16-date-epoch", "bucket[16]", "date", "1970-01-01", "the epoch is not null"),
    ("bucket16-time-midnight", "bucket[16]", "time", "00:00:00.000000", "midnight is not null"),
    ("bucket16-timestamp-epoch", "bucket[16]", "timestamp", "1970-01-01T00:00:00.000000", ""),
    ("bucket16-int-minus-1", "bucket[16]", "int", -1, ""),
    ("bucket100-int-1", "bucket[100]", "int", 1, "a negative hash: the sign bit goes before the remainder"),
    ("bucket100-fixed-negative-hash", "bucket[100]", "fixed[4]", "00010203",
     "hash -188683207: without its sign bit, not its absolute value"),
    ("bucket100-string-34", "bucket[100]", "string", "34", "hash -427558391"),
    ("bucket1-int-34", "bucket[1]", "int", 34, "one bucket takes all"),
    ("bucket1-string-iceberg", "bucket[1]", "string", "iceberg", ""),
    ("bucket7-long-max", "bucket[7]", "long", "9223372036854775807", ""),
    ("bucket7-long-min", "bucket[7]", "long", "-9223372036854775808", ""),
    ("bucket256-long-34", "bucket[256]", "long", "34", ""),
    ("bucket1000-string-iceberg", "bucket[1000]", "string", "iceberg", ""),
    ("bucket-int-max-int-34", "bucket[2147483647]", "int", 34, "the most buckets an int holds"),
    ("bucket-int-max-int-1", "bucket[2147483647]", "int", 1, "the most buckets an int holds"),
    ("bucket16-decimal-minus-1-28", "bucket[16]", "decimal(5, 2)", "-1.28", "one byte 80; the two bytes FF 80 give 12"),
    ("bucket16-decimal-minus-327-68", "bucket[16]", "decimal(5, 2)", "-327.68", "two bytes 80 00"),
    ("bucket16-decimal-minus-1", "bucket[16]", "decimal(9, 0)", "-1", "one byte FF"),
    ("bucket16-decimal-38-digits", "bucket[16]", "decimal(38, 10)", "9" * 28 + "." + "9" * 10, ""),
    ("bucket32-string-money-bag", "bucket[32]", "string", "\U0001f4b0", "UTF-8 of four bytes"),
    ("bucket16-uuid-high-bit", "bucket[16]", "uuid", "80000000-0000-0000-0000-000000000000", ""),
    ("bucket16-timestamp-minus-1us", "bucket[16]", "timestamp", "1969-12-31T23:59:59.999999", ""),
    ("bucket16-timestamp-ns-minus-1ns", "bucket[16]", "timestamp_ns", "1969-12-31T23:59:59.999999999",
     "the microsecond before the epoch"),
    ("bucket16-timestamp-ns-minus-1501ns", "bucket[16]", "timestamp_ns", "1969-12-31T23:59:59.999998499",
     "-2 us, floored"),
    ("bucket16-date-1969-12-31", "bucket[16]", "date", "1969-12-31", ""),
]  # fmt: skip

TRUNCATES: list[Row] = [
    ("truncate10-int-1", "truncate[10]", "int", 1, ""),
    ("truncate10-int-minus-1", "truncate[10]", "int", -1, "down, not toward zero"),
    ("truncate10-long-1", "truncate[10]", "long", "1", ""),
    ("truncate10-long-minus-1", "truncate[10]", "long", "-1", "down, not toward zero"),
    ("truncate50-decimal-10-65", "truncate[50]", "decimal(9, 2)", "10.65", ""),
    ("truncate3-string-iceberg", "truncate[3]", "string", "iceberg", ""),
    ("truncate3-binary-0102030405", "truncate[3]", "binary", "0102030405", ""),
    ("truncate10-int-0", "truncate[10]", "int", 0, "zero is not null"),
    ("truncate10-int-9", "truncate[10]", "int", 9, ""),
    ("truncate10-int-10", "truncate[10]", "int", 10, "a multiple stays"),
    ("truncate10-int-11", "truncate[10]", "int", 11, ""),
    ("truncate10-int-minus-9", "truncate[10]", "int", -9, ""),
    ("truncate10-int-minus-10", "truncate[10]", "int", -10, "a multiple stays: the remainder may be 0"),
    ("truncate10-int-minus-11", "truncate[10]", "int", -11, ""),
    ("truncate1-int-minus-7", "truncate[1]", "int", -7, "width 1 changes nothing"),
    ("truncate1-int-min", "truncate[1]", "int", -2147483648, ""),
    ("truncate2-int-min", "truncate[2]", "int", -2147483648, "a multiple of 2"),
    ("truncate10-int-max", "truncate[10]", "int", 2147483647, ""),
    ("truncate10-int-min-plus-8", "truncate[10]", "int", -2147483640, "the least multiple of 10 in an int"),
    ("truncate-int-max-int-max", "truncate[2147483647]", "int", 2147483647, ""),
    (
        "truncate-int-max-int-max-minus-1",
        "truncate[2147483647]",
        "int",
        2147483646,
        "0: (v % W) + W must not overflow on the way",
    ),
    (
        "truncate-2e9-int-1999999999",
        "truncate[2000000000]",
        "int",
        1999999999,
        "0: (v % W) + W must not overflow on the way",
    ),
    ("truncate-int-max-int-minus-1", "truncate[2147483647]", "int", -1, ""),
    ("truncate10-long-0", "truncate[10]", "long", "0", ""),
    ("truncate10-long-max", "truncate[10]", "long", "9223372036854775807", ""),
    ("truncate2-long-min", "truncate[2]", "long", "-9223372036854775808", ""),
    ("truncate10-long-below-int", "truncate[10]", "long", "-2147483649", "beyond 32 bits"),
    ("truncate10-long-2-53-plus-1", "truncate[10]", "long", "9007199254740993", "not through a double"),
    ("truncate10-decimal-10-65-minus", "truncate[10]", "decimal(9, 2)", "-10.65", "-10.70: down"),
    ("truncate50-decimal-minus-0-05", "truncate[50]", "decimal(9, 2)", "-0.05", ""),
    ("truncate50-decimal-minus-0-50", "truncate[50]", "decimal(9, 2)", "-0.50", "a multiple stays"),
    ("truncate10-decimal-0", "truncate[10]", "decimal(9, 2)", "0.00", ""),
    ("truncate10-decimal-scale-0", "truncate[10]", "decimal(9, 0)", "19", ""),
    ("truncate10-decimal-12-34", "truncate[10]", "decimal(9, 2)", "12.34", "the width counts hundredths"),
    (
        "truncate10-decimal-38-digits",
        "truncate[10]",
        "decimal(38, 10)",
        "9" * 28 + "." + "9" * 10,
        "exact beyond 28 digits",
    ),
    ("truncate10-decimal-minus-37-digits", "truncate[10]", "decimal(38, 0)", "-" + "9" * 37, "-10^37"),
    ("truncate3-decimal-2-63", "truncate[3]", "decimal(19, 0)", "9223372036854775808", "beyond a long"),
    ("truncate3-string-empty", "truncate[3]", "string", "", "an empty string is not null"),
    ("truncate3-string-shorter", "truncate[3]", "string", "ic", ""),
    ("truncate3-string-exact", "truncate[3]", "string", "ice", ""),
    ("truncate1-string-a", "truncate[1]", "string", "abc", ""),
    ("truncate3-string-katakana", "truncate[3]", "string", "\u30a4\u30ed\u30cf\u30cb", "characters, not bytes"),
    ("truncate3-string-money-bags", "truncate[3]", "string", "\U0001f4b0" * 4, "code points, not UTF-16 units"),
    ("truncate1-string-money-bag", "truncate[1]", "string", "\U0001f4b0a", "never half a surrogate pair"),
    ("truncate2-string-astral-after-ascii", "truncate[2]", "string", "a\U0001f4b0b", ""),
    ("truncate1-string-combining", "truncate[1]", "string", "e\u0301a", "code points: the combining mark is cut off"),
    ("truncate2-string-combining", "truncate[2]", "string", "e\u0301a", ""),
    ("truncate2-string-zwj", "truncate[2]", "string", "\U0001f469\u200d\U0001f467", "not graphemes"),
    ("truncate2-string-nul", "truncate[2]", "string", "\x00\x00\x00", ""),
    ("truncate1-string-d7ff", "truncate[1]", "string", "\ud7ffz", ""),
    ("truncate1-string-10ffff", "truncate[1]", "string", "\U0010ffffz", ""),
    ("truncate3-string-trailing-space", "truncate[3]", "string", "a   b", "nothing is trimmed"),
    ("truncate1000-string-short", "truncate[1000]", "string", "iceberg", ""),
    ("truncate3-binary-empty", "truncate[3]", "binary", "", "no bytes are not null"),
    ("truncate3-binary-shorter", "truncate[3]", "binary", "0102", ""),
    ("truncate3-binary-cuts-utf8", "truncate[3]", "binary", "F09F92B0", "bytes, whatever their meaning as text"),
    ("truncate1-binary-00", "truncate[1]", "binary", "0000", ""),
]

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

INSTANTS: list[tuple[str, str, str]] = [
    ("spec", "2017-11-16T22:31:08.000000", ""),
    ("epoch", "1970-01-01T00:00:00.000000", "zero is not null"),
    ("1us", "1970-01-01T00:00:00.000001", ""),
    ("minus-1us", "1969-12-31T23:59:59.999999", "floored, not rounded toward zero"),
    ("minus-1s", "1969-12-31T23:59:59.000000", ""),
    ("minus-1h", "1969-12-31T23:00:00.000000", "exactly on the boundary"),
    ("minus-1h-minus-1us", "1969-12-31T22:59:59.999999", ""),
    ("minus-1h-plus-1us", "1969-12-31T23:00:00.000001", ""),
    ("minus-1h-first-second", "1969-12-31T23:00:00.999999", "in the first second of a unit"),
    ("minus-1d", "1969-12-31T00:00:00.000000", "exactly on the boundary"),
    ("minus-1d-minus-1us", "1969-12-30T23:59:59.999999", ""),
    ("minus-1d-plus-1us", "1969-12-31T00:00:00.000001", ""),
    ("minus-1d-first-second", "1969-12-31T00:00:00.999999", "in the first second of a unit"),
    ("minus-1mo", "1969-12-01T00:00:00.000000", "exactly on the boundary"),
    ("minus-1mo-minus-1us", "1969-11-30T23:59:59.999999", ""),
    ("minus-1mo-first-second", "1969-12-01T00:00:00.999999", "in the first second of a unit"),
    ("minus-1y", "1969-01-01T00:00:00.000000", "exactly on the boundary"),
    ("minus-1y-minus-1us", "1968-12-31T23:59:59.999999", ""),
    ("minus-1y-first-second", "1969-01-01T00:00:00.999999", "in the first second of a unit"),
    ("leap-day-2000", "2000-02-29T12:34:56.789012", "2000 is a leap year"),
    ("leap-day-1968", "1968-02-29T23:59:59.999999", ""),
    ("after-february-1900", "1900-03-01T00:00:00.000000", "1900 is not a leap year"),
    ("year-1600", "1600-02-29T00:00:00.000000", "proleptic Gregorian"),
    ("year-1", "0001-01-01T00:00:00.000000", "proleptic Gregorian"),
    ("year-9999", "9999-12-31T23:59:59.999999", ""),
    ("year-10000", "+10000-01-01T00:00:00.000000", "the year after 9999"),
    ("2038", "2038-01-19T03:14:08.000000", "beyond 32 bits of seconds"),
]
NANOSECOND_INSTANTS: list[tuple[str, str, str]] = [
    ("spec", "2017-11-16T22:31:08.000001001", ""),
    ("epoch", "1970-01-01T00:00:00.000000000", "zero is not null"),
    ("1ns", "1970-01-01T00:00:00.000000001", ""),
    ("minus-1ns", "1969-12-31T23:59:59.999999999", "floored, not rounded toward zero"),
    ("minus-1000ns", "1969-12-31T23:59:59.999999000", ""),
    ("minus-1h", "1969-12-31T23:00:00.000000000", "exactly on the boundary"),
    ("minus-1h-minus-1ns", "1969-12-31T22:59:59.999999999", ""),
    ("minus-1d", "1969-12-31T00:00:00.000000000", "exactly on the boundary"),
    ("minus-1d-minus-1ns", "1969-12-30T23:59:59.999999999", ""),
    ("minus-1mo", "1969-12-01T00:00:00.000000000", "exactly on the boundary"),
    ("minus-1mo-minus-1ns", "1969-11-30T23:59:59.999999999", ""),
    ("minus-1y", "1969-01-01T00:00:00.000000000", "exactly on the boundary"),
    ("minus-1y-minus-1ns", "1968-12-31T23:59:59.999999999", ""),
    ("max", "2262-04-11T23:47:16.854775807", "the largest long"),
    ("min", "1677-09-21T00:12:43.145224192", "the smallest long"),
]
DATES: list[tuple[str, str, str]] = [
    ("spec", "2017-11-16", ""),
    ("2018-05-13", "2018-05-13", ""),
    ("epoch", "1970-01-01", "zero is not null"),
    ("1969-12-31", "1969-12-31", ""),
    ("1969-12-01", "1969-12-01", ""),
    ("1969-11-30", "1969-11-30", ""),
    ("1969-01-01", "1969-01-01", ""),
    ("1968-12-31", "1968-12-31", ""),
    ("1970-01-31", "1970-01-31", ""),
    ("1970-02-01", "1970-02-01", ""),
    ("leap-day-2000", "2000-02-29", ""),
    ("leap-day-2024", "2024-02-29", ""),
    ("1900-03-01", "1900-03-01", "1900 is not a leap year"),
    ("year-1600", "1600-12-31", ""),
    ("year-1", "0001-01-01", ""),
    ("year-9999", "9999-12-31", ""),
    ("year-10000", "+10000-01-01", "the year after 9999"),
    ("year-0", "0000-12-31", "the year before 1"),
    ("max", "+5881580-07-11", "the largest int"),
    ("min", "-5877641-06-23", "the smallest int"),
]
FAR: list[tuple[str, str, str]] = [
    ("long-max", "+294247-01-10T04:00:54.775807", "the largest long"),
    ("long-min", "-290308-12-21T19:59:05.224192", "the smallest long, floored"),
]
"""Instants whose hour does not fit an int."""
FEW = (
    "spec",
    "epoch",
    "minus-1us",
    "minus-1ns",
    "minus-1d-first-second",
    "minus-1mo-first-second",
    "minus-1y",
    "min",
    "max",
    "minus-1d-minus-1ns",
    "year-9999",
    "year-1",
)


def _codes(name: str, type_: Any) -> tuple[str, ...]:
    base = name.split("[")[0]
    if base != "truncate":
        return CODES[base]
    return ("TRN005", *filter(None, [TRUNCATE_CODES.get(str(type_).split("(")[0])]))


def _vector(id_: str, name: str, type_: str, value: Any, note: str) -> Vector:
    result, how = transform(name, type_, value)
    origin = "spec: Truncate Transform Details" if id_ in PRINTED else f"derivation: {how}"
    expect = ok(result)
    contradiction: tuple[str, ...] = ()
    if name == "day" and value is not None:
        expect, contradiction = any_of(ok(result), ok(day_number(type_, value))), ("A5",)
        note = (note + "; " if note else "") + "the result is a date; older texts said int"
    args = {"transform": name, "type": type_, "value": value}
    codes = (*_codes(name, type_), "TRN001") if value is None else _codes(name, type_)
    if value is None and name != "void":
        codes = ("TRN001",)
    elif name in CALENDAR and number(type_, value) < 0:
        codes = (*codes, "TRN018")
    return Vector(id_, codes, args, expect, origin, note, contradiction)


def _time_vectors(name: str) -> list[Vector]:
    vectors = []
    if name != "hour":
        vectors += [_vector(f"{name}-date-{slug}", name, "date", text, note) for slug, text, note in DATES]
    for type_, instants in zip(TIMESTAMPS, (INSTANTS, INSTANTS, NANOSECOND_INSTANTS, NANOSECOND_INSTANTS), strict=True):
        zoned = "tz" in type_
        for slug, text, note in instants:
            if zoned and slug not in FEW:
                continue
            value = text + "+00:00" if zoned else text
            vectors.append(_vector(f"{name}-{type_.replace('_', '-')}-{slug}", name, type_, value, note))
    if name != "hour":
        vectors += [_vector(f"{name}-timestamp-{slug}", name, "timestamp", text, note) for slug, text, note in FAR]
    return vectors


def _nulls() -> list[Vector]:
    return [
        _vector(
            f"null-{name.replace('[', '').replace(']', '')}-{type_.split('(')[0].split('[')[0].replace('_', '-')}",
            name,
            type_,
            None,
            "",
        )
        for name, types in SOURCES.items()
        for type_ in types
        if name != "identity" or type_ in ("boolean", "int", "double", "string", "binary", "timestamp_ns")
    ]


AWKWARD = {
    "identity": tuple(ALL_PRIMITIVES),
    "bucket[16]": BUCKET_TYPES,
    "truncate[2]": TRUNCATE_TYPES,
    **{name: SOURCES[name] for name in CALENDAR},
}
"""The transforms that are tested with awkward values; void ignores its input."""


def _awkward(name: str, asked: list[Vector]) -> list[Vector]:
    """Yield vectors of the awkward values that the other vectors of a transform do not use."""
    rows = [row for row in awkward.ROWS if awkward.kind(row[1]) in map(_kind, AWKWARD[name])]
    if name == "hour":
        rows = [row for row in rows if not row[0].endswith(("-max", "-min")) or row[1].endswith("_ns")]
    base = name.partition("[")[0]
    if base == "truncate":  # the result for the smallest decimal does not fit: one of the overflows
        rows = [row for row in rows if row[0] != "decimal-most-digits-negative"]
    known = [(one.args["type"], one.args["value"]) for one in asked]
    return [
        _vector(f"{base}-{slug}", name, type_, value, note) for slug, type_, value, note in awkward.not_in(known, rows)
    ]


def _source_refusals(name: str) -> list[Vector]:
    base = name.split("[")[0]
    codes = ("TRN005",) if base == "truncate" else (CODES[base][0],)
    rows = [
        (
            f"{base}-of-{type_.split('(')[0].split('[')[0].replace('_', '-')}",
            {"transform": name, "type": type_, "value": value},
            f"{base} has no source type {type_}",
        )
        for type_, value in ALL_PRIMITIVES.items()
        if type_ not in SOURCES[name]
    ] + [
        (f"{base}-of-{slug}", {"transform": name, "type": type_, "value": value}, f"{base} has no source type {slug}")
        for slug, (type_, value) in OTHER_SOURCES.items()
    ]
    return refusals("transform-source", codes, rows, "spec: Partition Transforms, source types")


PARAMETERS = [
    ("bucket-0", "bucket[0]", "int", 34, "TRN017", "no bucket to put the value in"),
    ("bucket-minus-1", "bucket[-1]", "int", 34, "TRN017", "a negative number of buckets"),
    ("bucket-empty", "bucket[]", "int", 34, "PAR021", "no number"),
    ("bucket-bare", "bucket", "int", 34, "PAR021", "no number"),
    ("bucket-word", "bucket[x]", "int", 34, "PAR021", "not a number"),
    ("bucket-fraction", "bucket[1.5]", "int", 34, "PAR021", "not an integer"),
    ("bucket-open", "bucket[16", "int", 34, "PAR021", "the bracket is not closed"),
    ("bucket-trailing", "bucket[16]x", "int", 34, "PAR021", "text after the bracket"),
    ("bucket-parentheses", "bucket(16)", "int", 34, "PAR021", "the JSON form has square brackets"),
    ("bucket-two-numbers", "bucket[16,2]", "int", 34, "PAR021", "one number, not two"),
    ("truncate-0", "truncate[0]", "int", 34, "TRN017", "no remainder modulo 0"),
    ("truncate-0-string", "truncate[0]", "string", "iceberg", "TRN017", "a width is positive"),
    ("truncate-minus-10", "truncate[-10]", "int", 34, "TRN017", "a negative width"),
    ("truncate-minus-3-string", "truncate[-3]", "string", "iceberg", "TRN017", "a negative width"),
    ("truncate-empty", "truncate[]", "int", 34, "PAR021", "no number"),
    ("truncate-bare", "truncate", "int", 34, "PAR021", "no number"),
    ("truncate-word", "truncate[ten]", "int", 34, "PAR021", "not a number"),
    ("truncate-open", "truncate[10", "int", 34, "PAR021", "the bracket is not closed"),
    ("year-with-number", "year[1]", "date", "2017-11-16", "PAR021", "year takes no number"),
    ("day-with-number", "day[1]", "date", "2017-11-16", "PAR021", "day takes no number"),
    ("identity-with-number", "identity[1]", "int", 34, "PAR021", "identity takes no number"),
    ("empty", "", "int", 34, "PAR021", "no transform"),
    ("zorder", "zorder", "int", 34, "PAR007", "no data is written under a transform that nobody here knows"),
    ("minute", "minute", "timestamp", "2017-11-16T22:31:08.000000", "PAR007", "there is no minute transform"),
    ("week", "week", "date", "2017-11-16", "PAR007", "there is no week transform"),
    ("zorder-with-number", "zorder[4]", "int", 34, "PAR007", "an unknown transform with a number"),
]


def _overflows() -> list[Vector]:
    """Yield vectors whose result does not fit its type: the text does not cover them; engines wrap or refuse."""
    rows = [
        ("truncate10-int-min", "truncate[10]", "int", -2147483648, 2147483646, "-2147483650 does not fit an int"),
        ("truncate10000-int-min", "truncate[10000]", "int", -2147483648, 2147477296, "-2147490000 does not fit an int"),
        ("truncate-int-max-int-min", "truncate[2147483647]", "int", -2147483648, 2, "-4294967294 does not fit an int"),
        (
            "truncate10-long-min",
            "truncate[10]",
            "long",
            "-9223372036854775808",
            "9223372036854775806",
            "-9223372036854775810 does not fit a long",
        ),
        ("truncate10-decimal-minus-99", "truncate[10]", "decimal(2, 0)", "-99", "-100", "-100 has three digits"),
        (
            "truncate10-decimal-minus-9-9991",
            "truncate[10]",
            "decimal(5, 4)",
            "-9.9991",
            "-10.0000",
            "-10.0000 has six digits",
        ),
        (
            "truncate10-decimal-minus-38-nines",
            "truncate[10]",
            "decimal(38, 0)",
            "-" + "9" * 38,
            "-1" + "0" * 38,
            "-10^38 has 39 digits",
        ),
    ]
    vectors = []
    for slug, name, type_, value, wrapped, note in rows:
        vectors.append(
            Vector(
                f"overflow-{slug}",
                _codes(name, type_),
                {"transform": name, "type": type_, "value": value},
                any_of(INVALID, ok(wrapped)),
                "derivation: the exact value lies outside the type; "
                "two's complement wraps an integer, and a decimal keeps its value",
                note + "; the text does not say what happens (truncate overflow)",
                ("C6",),
            )
        )
    return vectors


def _kind(type_: str) -> str:
    """Return the name of a type without its parameters."""
    return type_.partition("(")[0].partition("[")[0]


def _refusal_topic(vector: Vector) -> tuple[str, str]:
    """Return the file of a refusal, and its section: that of its requirement about transforms if it has one."""
    codes = set(vector.requirements)
    if "TRN017" in codes:
        return "refusals", GENERAL
    if codes & {"TRN003", "TRN004"}:
        return "refusals-bucket", BUCKET
    if codes & {"TRN005", *TRUNCATE_CODES.values()}:
        return "refusals-truncate", TRUNCATE
    if any(code.startswith("TRN") for code in codes):
        return "refusals", GENERAL
    return ("refusals-unknown", "Partitioning") if "PAR007" in codes else ("refusals-texts", "Partition Specs")


def files() -> Iterator[VectorFile]:
    """Yield the suite, a topic a file."""

    def file(topic: str, section: str, vectors: list[Vector]) -> VectorFile:
        return VectorFile(f"transforms/{topic}.json", "transform", section, tuple(vectors))

    identity = [
        _vector(f"identity-{type_.split('(')[0].split('[')[0].replace('_', '-')}", "identity", type_, value, "")
        for type_, value in ALL_PRIMITIVES.items()
    ] + [_vector(*row) for row in IDENTITIES]
    yield file("identity", GENERAL, identity + _awkward("identity", identity))
    void = [
        _vector(f"void-{type_.split('(')[0].split('[')[0].replace('_', '-')}", "void", type_, value, "")
        for type_, value in ALL_PRIMITIVES.items()
    ]
    yield file("void", GENERAL, void)
    buckets = [_vector(*row) for row in BUCKETS]
    yield file("bucket", BUCKET, buckets + _awkward("bucket[16]", buckets))
    truncates = [_vector(*row) for row in TRUNCATES] + _overflows()
    yield file("truncate", TRUNCATE, truncates + _awkward("truncate[2]", truncates))
    for name in CALENDAR:
        moments = _time_vectors(name)
        yield file(name, GENERAL, moments + _awkward(name, moments))
    yield file("nulls", GENERAL, _nulls())
    geo = [
        (slug, {"transform": "identity", "type": type_, "value": value}, f"identity has no source type {slug}")
        for slug, (type_, value) in OTHER_SOURCES.items()
    ]
    refused = [vector for name in SOURCES if name not in ("void", "identity") for vector in _source_refusals(name)]
    refused += refusals("transform-source-identity-of", ("TRN002",), geo, "spec: Partition Transforms, source types")
    refused += [
        Vector(
            f"transform-parameter-{slug}",
            (code, *_codes(name, "")[:1]) if name.split("[")[0] in CODES else (code,),
            {"transform": name, "type": type_, "value": value},
            INVALID,
            "spec: the formulas divide by N and W" if code == "TRN017" else "spec: Partition Specs, transforms",
            note,
            ("E15",) if code == "TRN017" else (),
        )
        for slug, name, type_, value, code, note in PARAMETERS
    ] + [
        Vector(
            f"transform-value-{name.split('[')[0]}-{slug}",
            (code, _codes(name, type_)[0]),
            {"transform": name, "type": type_, "value": value},
            INVALID,
            "spec: Primitive Types",
            note,
            tags=MALFORMED,
        )
        for name, sources in SOURCES.items()
        if name != "void"
        for slug, type_, value, code, note in BAD_VALUES
        if _kind(type_) in map(_kind, sources)
    ]
    topics: dict[tuple[str, str], list[Vector]] = {}
    for vector in refused:
        topics.setdefault(_refusal_topic(vector), []).append(vector)
    for (topic, section), vectors in topics.items():
        yield file(topic, section, vectors)

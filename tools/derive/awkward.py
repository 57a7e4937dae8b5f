"""A value of each class of ``conformance/vectors/awkward_values.toml``, which the suites of single values, hashes,
transforms, bounds, sketches, expressions, manifests and written rows share.

A suite takes the values that its other vectors do not use (`not_in`). The name of a row never changes, because vector
ids contain it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

# name, type, value in the exchange form, note
Row = tuple[str, str, Any, str]

SMALL, MEDIUM, LARGE = "decimal(9, 2)", "decimal(18, 2)", "decimal(38, 10)"
NINES = "9" * 28 + "." + "9" * 10
LONG_TEXT = "0123456789abcdef" * 32
EVERY_BYTE = bytes(range(256)).hex().upper()
VERY_LONG = EVERY_BYTE * 129
"""33,024 bytes, whose number does not fit into 16 bits with a sign."""

INTEGERS: list[Row] = [
    ("int-zero", "int", 0, ""),
    ("int-minus-one", "int", -1, ""),
    ("int-max", "int", 2147483647, ""),
    ("int-below-max", "int", 2147483646, "one below the largest"),
    ("int-min", "int", -2147483648, ""),
    ("int-above-min", "int", -2147483647, "one above the least"),
    ("long-zero", "long", "0", ""),
    ("long-minus-one", "long", "-1", ""),
    ("long-beyond-double", "long", "9007199254740993", "2^53 + 1, which no double equals"),
    ("long-max", "long", "9223372036854775807", ""),
    ("long-below-max", "long", "9223372036854775806", "one below the largest"),
    ("long-min", "long", "-9223372036854775808", ""),
    ("long-above-min", "long", "-9223372036854775807", "one above the least"),
]
REALS: list[Row] = [
    ("float-zero", "float", 0.0, ""),
    ("float-minus-zero", "float", -0.0, "the sign of zero"),
    ("float-subnormal", "float", 1.401298464324817e-45, "2^-149"),
    ("float-max", "float", 3.4028234663852886e38, ""),
    ("float-infinity", "float", "Infinity", ""),
    ("float-minus-infinity", "float", "-Infinity", ""),
    ("float-nan", "float", "NaN", ""),
    ("double-zero", "double", 0.0, ""),
    ("double-minus-zero", "double", -0.0, "the sign of zero"),
    ("double-subnormal", "double", 5e-324, "2^-1074"),
    ("double-max", "double", 1.7976931348623157e308, ""),
    ("double-infinity", "double", "Infinity", ""),
    ("double-minus-infinity", "double", "-Infinity", ""),
    ("double-nan", "double", "NaN", ""),
]
DECIMALS: list[Row] = [
    ("decimal-zero", SMALL, "0.00", ""),
    ("decimal-minus-one-unit", SMALL, "-0.01", "the least digit alone"),
    ("decimal-zeros-at-the-end", SMALL, "14.20", "the zero stays"),
    ("decimal-most-digits", LARGE, NINES, "38 digits"),
    ("decimal-most-digits-negative", LARGE, f"-{NINES}", "38 digits"),
]
DATES: list[Row] = [
    ("date-before-the-epoch", "date", "1969-12-31", "day -1"),
    ("date-leap-day", "date", "2000-02-29", "2000 is a leap year, because 400 divides it"),
    ("date-first-year", "date", "0001-01-01", ""),
    ("date-before-1", "date", "0000-12-31", "the year before 1"),
    ("date-last-year", "date", "9999-12-31", ""),
    ("date-after-9999", "date", "+10000-01-01", "the year after 9999"),
    ("date-max", "date", "+5881580-07-11", "the largest int"),
    ("date-min", "date", "-5877641-06-23", "the smallest int"),
]
TIMES: list[Row] = [
    ("time-midnight", "time", "00:00:00.000000", ""),
    ("time-first-microsecond", "time", "00:00:00.000001", ""),
    ("time-last-microsecond", "time", "23:59:59.999999", ""),
]
MOMENTS: list[tuple[str, str, str]] = [
    ("before-the-epoch", "1969-12-31T23:59:59.999999", "-1 us"),
    ("leap-day", "2000-02-29T23:59:59.999999", "2000 is a leap year, because 400 divides it"),
    ("first-year", "0001-01-01T00:00:00.000000", ""),
    ("before-1", "0000-12-31T23:59:59.999999", "the year before 1"),
    ("last-year", "9999-12-31T23:59:59.999999", ""),
    ("after-9999", "+10000-01-01T00:00:00.000000", "the year after 9999"),
    ("max", "+294247-01-10T04:00:54.775807", "the largest long"),
    ("min", "-290308-12-21T19:59:05.224192", "the smallest long"),
]
NANOSECONDS: list[tuple[str, str, str]] = [
    ("before-the-epoch", "1969-12-31T23:59:59.999999999", "-1 ns"),
    ("one-nanosecond", "1970-01-01T00:00:00.000000001", ""),
    ("leap-day", "2000-02-29T23:59:59.999999999", "2000 is a leap year, because 400 divides it"),
    ("max", "2262-04-11T23:47:16.854775807", "the largest long"),
    ("min", "1677-09-21T00:12:43.145224192", "the smallest long"),
]
MOMENT_LIMITS: list[tuple[str, str, str]] = [
    ("below-max", "+294247-01-10T04:00:54.775806", "one microsecond below the largest long"),
    ("above-min", "-290308-12-21T19:59:05.224193", "one microsecond above the smallest long"),
    ("after-nanoseconds", "2262-04-11T23:47:16.854776", "the first microsecond after the range of nanoseconds"),
    ("before-nanoseconds", "1677-09-21T00:12:43.145224", "the last microsecond before the range of nanoseconds"),
]
NANOSECOND_LIMITS: list[tuple[str, str, str]] = [
    ("below-max", "2262-04-11T23:47:16.854775806", "one nanosecond below the largest long"),
    ("above-min", "1677-09-21T00:12:43.145224193", "one nanosecond above the smallest long"),
]
FAR = ("before-1", "after-9999", "max", "min")
"""Classes of days and instants outside of the years 1 to 9999, which many libraries cannot represent."""


def _instants(moments: Iterable[tuple[str, str, str]], nanoseconds: Iterable[tuple[str, str, str]]) -> list[Row]:
    """Return rows of the four types of instants."""
    return [
        (f"{type_.replace('_', '-')}-{name}", type_, f"{text}{zone}", note)
        for types, group in (
            (("timestamp", "timestamptz"), tuple(moments)),
            (("timestamp_ns", "timestamptz_ns"), tuple(nanoseconds)),
        )
        for type_, zone in zip(types, ("", "+00:00"), strict=True)
        for name, text, note in group
    ]


INSTANTS = _instants(MOMENTS, NANOSECONDS)
INSTANT_LIMITS = _instants(MOMENT_LIMITS, NANOSECOND_LIMITS)
STRINGS: list[Row] = [
    ("string-empty", "string", "", "no bytes"),
    ("string-blank-at-start", "string", " a", "blanks are not trimmed"),
    ("string-blank-at-end", "string", "a ", "blanks are not trimmed"),
    ("string-blanks-alone", "string", "  ", "a text of blanks is not the empty text"),
    ("string-nul", "string", "a\x00b", "a NUL does not end a string"),
    ("string-double-quote", "string", '"', "a quote of JSON"),
    ("string-single-quote", "string", "it's", "a quote of SQL"),
    ("string-backslash", "string", "a\\n", "a backslash and the letter n"),
    ("string-line-break", "string", "a\r\nb", "both characters stay"),
    ("string-composed", "string", "\u00e9", "one character, not normalised"),
    ("string-decomposed", "string", "e\u0301", "two characters, not normalised"),
    ("string-case-folds-to-two", "string", "\u00df\u0130", "letters that become two letters in the other case"),
    ("string-upper-case", "string", "ABC", "case stays"),
    ("string-astral", "string", "\U0001f4b0", "four bytes, no surrogates"),
    ("string-byte-order-mark", "string", "\ufeffa", "a byte order mark is kept"),
    ("string-long", "string", LONG_TEXT, "512 characters"),
]
BYTES: list[Row] = [
    ("uuid-nil", "uuid", "00000000-0000-0000-0000-000000000000", ""),
    ("uuid-all-ones", "uuid", "ffffffff-ffff-ffff-ffff-ffffffffffff", ""),
    ("uuid-high-bit", "uuid", "80000000-0000-0000-0000-000000000000", "the top bit is not a sign"),
    ("fixed-zeros", "fixed[4]", "00000000", "zeros are kept"),
    ("fixed-ones", "fixed[4]", "FFFFFFFF", ""),
    ("fixed-zero-at-end", "fixed[4]", "01020300", "a zero at the end is not padding"),
    ("fixed-blanks", "fixed[4]", "20202020", "blanks are bytes"),
    ("binary-empty", "binary", "", "no bytes"),
    ("binary-zero-at-start", "binary", "000102", "a zero at the start stays"),
    ("binary-zero-at-end", "binary", "010200", "a zero at the end stays"),
    ("binary-high-bit", "binary", "80FF", "bytes have no sign"),
    ("binary-blanks-at-both-ends", "binary", "206120", "blanks are bytes"),
    ("binary-long", "binary", EVERY_BYTE, "every byte value"),
]
BOOLEANS: list[Row] = [("boolean-false", "boolean", False, ""), ("boolean-true", "boolean", True, "")]

NAMES = (
    " start",
    "end ",
    'double"quote',
    "single'quote",
    "back\\slash",
    "per%20cent",
    "a+b",
    "a/b",
    "\u00e9",
    "e\u0301",
    "UPPER",
    "\U0001f4b0",
)
"""Names of columns and properties that software easily alters. None has a dot, which separates the names of a path."""

TEXTS = {name.removeprefix("string-"): text for name, type_, text, _ in STRINGS}
"""Texts that software easily alters, by their names: values of properties."""

LOOKALIKES = ("start", "end", "doublequote", "single''quote", "backslash", "per cent", "a b", "E\u0301", "upper")
"""Names that are not in `NAMES`, but for which one of these could be mistaken."""

PATHS = (*(f"s3://b/wh/t/data/{name}/{number}.parquet" for number, name in enumerate(NAMES)), "s3://b/wh/t/data/end ")
"""Paths of files that must be used unchanged."""

LIMITS: list[Row] = [
    ("float-min", "float", -3.4028234663852886e38, "the least number"),
    ("float-below-max", "float", 3.4028232635611926e38, "one below the largest, exactly this double"),
    ("float-above-min", "float", -3.4028232635611926e38, "one above the least, exactly this double"),
    ("float-least-normal", "float", 1.1754943508222875e-38, "2^-126, the least number with all digits"),
    ("float-largest-subnormal", "float", 1.1754942106924411e-38, "one below 2^-126"),
    ("double-min", "double", -1.7976931348623157e308, "the least number"),
    ("double-below-max", "double", 1.7976931348623155e308, "one below the largest"),
    ("double-above-min", "double", -1.7976931348623155e308, "one above the least"),
    ("double-least-normal", "double", 2.2250738585072014e-308, "2^-1022, the least number with all digits"),
    ("double-largest-subnormal", "double", 2.225073858507201e-308, "one below 2^-1022"),
    ("float-minus-subnormal", "float", -1.401298464324817e-45, "-2^-149, which is not -0.0"),
    ("double-minus-subnormal", "double", -5e-324, "-2^-1074, which is not -0.0"),
    ("decimal-below-most-digits", LARGE, NINES[:-1] + "8", "one unit below the largest"),
    ("decimal-above-most-digits-negative", LARGE, f"-{NINES[:-1]}8", "one unit above the least"),
    ("decimal-nine-digits", SMALL, "9999999.99", "the largest of 9 digits, which fit an int"),
    ("decimal-eighteen-digits", MEDIUM, "9999999999999999.99", "the largest of 18 digits, which fit a long"),
    ("date-below-max", "date", "+5881580-07-10", "one day below the largest int"),
    ("date-above-min", "date", "-5877641-06-24", "one day above the smallest int"),
    *INSTANT_LIMITS,
]
"""Further values at limits and beside them, in separate tables: a failure on one of them hides no other value."""

ROWS: list[Row] = [*BOOLEANS, *INTEGERS, *REALS, *DECIMALS, *DATES, *TIMES, *INSTANTS, *STRINGS, *BYTES]
EVERY_ROW: list[Row] = [*ROWS, *LIMITS]


TABLES: dict[str, tuple[str, ...]] = {
    "numbers": ("boolean", "int", "long", "float", "double", "decimal"),
    "texts": ("string", "fixed", "binary"),
    "uuids": ("uuid",),
    "calendar": ("date", "time", "timestamp", "timestamptz"),
    "far": ("date", "timestamp", "timestamptz"),
    "nanoseconds": ("timestamp_ns", "timestamptz_ns"),
    "limits": ("float", "double", "decimal"),
    "far-limits": ("date",),
    "instant-limits": ("timestamp", "timestamptz"),
    "far-instant-limits": ("timestamp", "timestamptz"),
    "nanosecond-limits": ("timestamp_ns", "timestamptz_ns"),
}
"""The column types of the golden tables of awkward values, by table."""


def table_rows(table: str) -> list[Row]:
    """Return the values of a golden table."""
    rows = LIMITS if table.endswith("limits") else ROWS
    is_of_far = table.startswith("far")
    return [row for row in rows if kind(row[1]) in TABLES[table] and is_far(row[0], row[1]) is is_of_far]


def kind(type_: str) -> str:
    """Return the name of a type without its parameters."""
    return type_.partition("(")[0].partition("[")[0]


def is_far(name: str, type_: str) -> bool:
    """Return whether a value is a day or an instant outside of the years 1 to 9999."""
    return kind(type_) in ("date", "timestamp", "timestamptz") and name.endswith(FAR)


def column(type_: str) -> str:
    """Return the name of the golden tables' column of a type; each kind of decimal has a separate one."""
    return type_.split("[")[0].replace("(", "_").replace(", ", "_").replace(")", "")


def type_value_key(type_: str, value: Any) -> str:
    """Combine a type and a value into one string, in which 0.0 and -0.0 differ."""
    return json.dumps([kind(type_), value])


def not_in(used: Iterable[tuple[str, Any]], rows: Iterable[Row] = tuple(EVERY_ROW)) -> list[Row]:
    """Return the rows whose type and value a suite does not use yet, each with a name for its id.

    Args:
        used: the types and values that the suite uses.
        rows: the rows to choose from.
    """
    known = {type_value_key(type_, value) for type_, value in used}
    return [
        (f"awkward-{name}", type_, value, note)
        for name, type_, value, note in rows
        if type_value_key(type_, value) not in known
    ]

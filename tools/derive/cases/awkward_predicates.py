"""Predicates on awkward values: each value equals itself, and not the value that a careless engine mistakes it for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tools.derive import awkward
from tools.derive.cases.expression_forms import SchemaVector, and_, leaf, schema
from tools.derive.vector import Vector, ok

ORIGIN = "derivation: values compared as numbers, or as bytes of UTF-8"


def _beside_nanoseconds(name: str, zone: str) -> dict[str, tuple[list[Any], str]]:
    """Return what microseconds beyond a long of nanoseconds could be mistaken for.

    The largest long of nanoseconds is 854,775,807 ns of its second. One microsecond more is 2^64 ns less if it wraps
    around.
    """
    first, last = f"1677-09-21T00:12:43.145225{zone}", f"2262-04-11T23:47:16.854775{zone}"
    how = "cut to the range of nanoseconds, or wrapped"
    return {
        f"{name}-after-nanoseconds": ([last, first, first.replace("145225", "145224")], how),
        f"{name}-before-nanoseconds": ([first, last], how),
    }


def _nanosecond_limits(name: str, zone: str) -> dict[str, tuple[list[Any], str]]:
    """Return what instants one nanosecond from the limits could be mistaken for."""
    least, largest = f"1677-09-21T00:12:43.145224192{zone}", f"2262-04-11T23:47:16.854775807{zone}"
    how = "rounded as a double, or to microseconds"
    return {
        f"{name}-below-max": ([largest, largest.replace("775807", "775000")], how),
        f"{name}-above-min": ([least, least.replace("224192", "225000")], how),
    }


TAKEN_FOR: dict[str, tuple[list[Any], str]] = {
    "int-zero": ([-1, 1], "rounded"),
    "int-minus-one": ([0, 1], "stripped of its sign"),
    "int-max": ([2147483646, -1, -2147483648], "rounded as a float, or wrapped"),
    "int-below-max": ([2147483647, 2147483645], "rounded as a float"),
    "int-min": ([-2147483647, 0, 2147483647], "rounded as a float, or wrapped"),
    "int-above-min": ([-2147483648, -2147483646], "rounded as a float"),
    "long-zero": ([-1, 1], "rounded"),
    "long-minus-one": ([0, 4294967295], "truncated to 32 bits"),
    "long-beyond-double": ([9007199254740992, 9007199254740994], "rounded as a double"),
    "long-max": ([9223372036854775806, -1], "rounded as a double, or wrapped"),
    "long-below-max": ([9223372036854775807, 9223372036854775805], "rounded as a double"),
    "long-min": ([-9223372036854775807, 0], "rounded as a double, or wrapped"),
    "long-above-min": ([-9223372036854775808, -9223372036854775806], "rounded as a double"),
    "float-zero": ([1.401298464324817e-45], "taken for the float next to it"),
    "float-minus-zero": ([-1.401298464324817e-45], "taken for the float next to it"),
    "float-subnormal": ([0.0], "flushed to zero"),
    "float-max": ([3.4028232635611926e38], "taken for the next smaller float"),
    "float-min": ([-3.4028232635611926e38], "taken for the next greater float"),
    "float-below-max": ([3.4028234663852886e38], "rounded up to the largest float"),
    "float-above-min": ([-3.4028234663852886e38], "rounded down to the least float"),
    "float-minus-subnormal": ([0.0], "flushed to zero"),
    "float-least-normal": ([1.1754942106924411e-38, 0.0], "taken for the float before it"),
    "float-largest-subnormal": ([1.1754943508222875e-38, 0.0], "flushed to zero, or rounded up"),
    "double-zero": ([5e-324], "taken for the double next to it"),
    "double-minus-zero": ([-5e-324], "taken for the double next to it"),
    "double-subnormal": ([0.0], "flushed to zero"),
    "double-max": ([1e308], "rounded to fewer digits"),
    "double-min": ([-1.7976931348623155e308], "taken for the next greater double"),
    "double-below-max": ([1.7976931348623157e308], "rounded up to the largest double"),
    "double-above-min": ([-1.7976931348623157e308], "rounded down to the least double"),
    "double-minus-subnormal": ([0.0], "flushed to zero"),
    "double-least-normal": ([2.225073858507201e-308, 0.0], "taken for the double before it"),
    "double-largest-subnormal": ([2.2250738585072014e-308, 0.0], "flushed to zero, or rounded up"),
    "decimal-zero": (["0.01", "-0.01"], "rounded"),
    "decimal-minus-one-unit": (["0.00", "0.01"], "rounded"),
    "decimal-zeros-at-the-end": (["14.02", "1.42"], "stripped of its zero"),
    "decimal-most-digits": (["9999999999999999999999999999.9999999998", "0.0000000001"], "rounded as a double"),
    "decimal-most-digits-negative": (["-9999999999999999999999999999.9999999998"], "rounded as a double"),
    "decimal-below-most-digits": (["9999999999999999999999999999.9999999999"], "rounded as a double"),
    "decimal-above-most-digits-negative": (["-9999999999999999999999999999.9999999999"], "rounded as a double"),
    "decimal-nine-digits": (["9999999.98"], "rounded as a float"),
    "decimal-eighteen-digits": (["9999999999999999.98"], "rounded as a double"),
    "date-before-the-epoch": (["1970-01-01"], "rounded toward zero"),
    "date-leap-day": (["2000-02-28", "2000-03-01"], "moved to another day"),
    "date-first-year": (["0001-01-03", "2001-01-01"], "read in the Julian calendar, or with two digits"),
    "date-last-year": (["9999-12-30"], "moved to another day"),
    **_beside_nanoseconds("timestamp", ""),
    **_beside_nanoseconds("timestamptz", "+00:00"),
    **_nanosecond_limits("timestamp-ns", ""),
    **_nanosecond_limits("timestamptz-ns", "+00:00"),
    "time-midnight": (["12:00:00.000000", "23:59:59.999999"], "taken for noon, or for the end of the day"),
    "time-first-microsecond": (["00:00:00.000000", "00:00:00.001000"], "truncated, or read as milliseconds"),
    "time-last-microsecond": (["23:59:59.999000", "00:00:00.000000"], "truncated to milliseconds, or rounded up"),
    "string-empty": ([" ", "\x00"], "taken for a blank or a NUL"),
    "string-blank-at-start": (["a"], "trimmed"),
    "string-blank-at-end": (["a", "a\x00"], "trimmed, or padded"),
    "string-blanks-alone": (["", " "], "trimmed"),
    "string-nul": (["a", "ab"], "truncated at the NUL"),
    "string-double-quote": (["", '\\"', '""'], "quoted"),
    "string-single-quote": (["it''s", "its", "it\\'s"], "quoted"),
    "string-backslash": (["a\n", "an", "a\\\\n"], "unescaped, or escaped"),
    "string-line-break": (["a\nb", "a b", "a\\r\\nb"], "changed to a single line feed"),
    "string-composed": (["e\u0301", "e", "E\u0301", "\u00c9"], "normalised, or folded"),
    "string-decomposed": (["\u00e9", "e"], "normalised"),
    "string-case-folds-to-two": (["SS\u0130", "ssi\u0307", "\u00dfi"], "folded"),
    "string-upper-case": (["abc", "Abc"], "folded"),
    "string-astral": (["\ufffd", "?", "\ufffd\ufffd"], "replaced"),
    "string-byte-order-mark": (["a"], "stripped of its mark"),
    "string-long": ([awkward.LONG_TEXT[:-1], awkward.LONG_TEXT[:16], awkward.LONG_TEXT[:255]], "truncated"),
    "uuid-nil": (["00000000-0000-0000-0000-000000000001"], "changed"),
    "uuid-all-ones": (["ffffffff-ffff-ffff-ffff-fffffffffffe"], "changed"),
    "uuid-high-bit": (["00000000-0000-0000-0000-000000000080"], "in reversed byte order"),
    "fixed-zeros": (["00000001"], "changed"),
    "fixed-ones": (["FFFFFFFE"], "changed"),
    "fixed-zero-at-end": (["00010203", "01020320"], "padded"),
    "fixed-blanks": (["00000000"], "trimmed and padded"),
    "binary-empty": (["00", "20"], "taken for a zero or a blank"),
    "binary-zero-at-start": (["0102"], "trimmed"),
    "binary-zero-at-end": (["0102"], "trimmed"),
    "binary-high-bit": (["7FFF", "C280C3BF", "EFBFBD"], "taken for text"),
    "binary-blanks-at-both-ends": (["61", "2061", "6120"], "trimmed"),
    "binary-long": ([awkward.EVERY_BYTE[:-2], awkward.EVERY_BYTE[:32]], "truncated"),
}
"""By the name of a value: other values that it could be mistaken for, and how."""

SAID_BY_NOTE = {
    "decimal-zeros-at-the-end",
    "string-blank-at-start",
    "string-blank-at-end",
    "string-line-break",
    "string-composed",
    "string-decomposed",
    "string-upper-case",
    "string-byte-order-mark",
    "fixed-zeros",
    "fixed-zero-at-end",
    "binary-zero-at-start",
    "binary-zero-at-end",
}
"""Values whose notes already state how the value must not be changed."""

COMPARED: dict[str, tuple[str, Any]] = {
    "before-1": ("lt", "0001-01-01"),
    "after-9999": ("gt", "9999-12-31"),
    "max": ("gt", "9999-12-31"),
    "below-max": ("gt", "9999-12-31"),
    "min": ("lt", "0001-01-01"),
    "above-min": ("lt", "0001-01-01"),
}
"""For instants whose text ISO 8601 permits only by agreement: a comparison with a date that needs no agreement."""


def _instant(type_: str, name: str, value: str) -> Any:
    """Return a predicate that is true of an instant."""
    class_ = name.partition("-")[2].removeprefix("ns-")
    if class_ in COMPARED and not type_.endswith("_ns"):
        operation, date = COMPARED[class_]
        if type_ == "date":
            return leaf(operation, date)
        time = "23:59:59.999999" if operation == "gt" else "00:00:00.000000"
        return leaf(operation, f"{date}T{time}{'+00:00' if 'tz' in type_ else ''}")
    zone = "+00:00" if value.endswith("+00:00") else ""
    if class_ == "min":  # truncated to seconds, it does not fit 64 bits
        return and_(leaf("eq", value), leaf("not-eq", value.replace("145224192", "145225000")))
    cut = value.removesuffix(zone).partition(".")[0] + "." + "0" * (9 if type_.endswith("_ns") else 6) + zone
    return leaf("eq", value) if cut == value else and_(leaf("eq", value), leaf("not-eq", cut))


def predicate_for(name: str, type_: str, value: Any, note: str) -> tuple[Any, str]:
    """Return a predicate that is true of an awkward value and few others, with a note that names a counterexample."""
    if type_ == "boolean":
        return leaf("eq", value), note
    if value == "NaN":
        return leaf("is-nan"), note
    if name in TAKEN_FOR:
        others, how = TAKEN_FOR[name]
        literal = int(value) if type_ == "long" else value
        must_not = f"the value must not be {how}"
        said = must_not if not note else note if name in SAID_BY_NOTE else f"{note}; {must_not}"
        return and_(leaf("eq", literal), leaf("not-in", others)), said
    if "infinity" in name:
        largest = 3.4028234663852886e38 if type_ == "float" else 1.7976931348623157e308
        return leaf("lt", -largest) if value.startswith("-") else leaf("gt", largest), "beyond the largest number"
    return _instant(type_, name, value), note


def order_code(type_: str) -> str:
    """Return the requirement that defines the order of the values of a type."""
    return "EXP011" if awkward.kind(type_) in ("boolean", "string", "uuid", "fixed", "binary") else "EXP019"


def vectors() -> Iterator[Vector]:
    """Yield a vector for each value: a predicate that is true only of it."""
    for name, type_, value, note in awkward.EVERY_ROW:
        if value == "NaN" or type_ == "boolean":
            continue
        predicate, said = predicate_for(name, type_, value, note)
        yield SchemaVector(
            f"expression-awkward-{name}",
            (order_code(type_),),
            {"schema": schema(x=type_), "predicate": predicate, "row": {"1": value}},
            ok(value=True),
            ORIGIN,
            said,
        )

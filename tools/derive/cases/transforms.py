"""Partition transforms (Partition Transforms)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tools.derive import awkward
from tools.derive.cases.calendar_transforms import calendar_vectors
from tools.derive.cases.transform_kit import (
    ALL_PRIMITIVES,
    BUCKET,
    BUCKET_TYPES,
    CALENDAR,
    GENERAL,
    SOURCES,
    TRUNCATE,
    TRUNCATE_TYPES,
    base_type,
    case,
    codes_for,
    type_slug,
)
from tools.derive.cases.transform_refusals import refused_by_topic
from tools.derive.vector import INVALID, Vector, VectorFile, any_of, ok

# name, transform, type, value, note
Row = tuple[str, str, str, Any, str]


IDENTITIES: list[Row] = [
    ("identity-int-0", "identity", "int", 0, "zero is not null"),
    ("identity-string-empty", "identity", "string", "", "an empty string is not null"),
    ("identity-boolean-false", "identity", "boolean", False, "false is not null"),
    ("identity-binary-empty", "identity", "binary", "", "no bytes are not null"),
    ("identity-double-minus-0", "identity", "double", -0.0, "unmodified: the sign stays"),
    ("identity-double-nan", "identity", "double", "NaN", ""),
]

BUCKETS: list[Row] = [
    *(
        (
            f"bucket16-{type_slug(type_)}",
            "bucket[16]",
            type_,
            ALL_PRIMITIVES[type_],
            "",
        )
        for type_ in BUCKET_TYPES
    ),
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
    (
        "bucket100-fixed-negative-hash",
        "bucket[100]",
        "fixed[4]",
        "00010203",
        "hash -188683207: without its sign bit, not its absolute value",
    ),
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
    (
        "bucket16-timestamp-ns-minus-1ns",
        "bucket[16]",
        "timestamp_ns",
        "1969-12-31T23:59:59.999999999",
        "the microsecond before the epoch",
    ),
    (
        "bucket16-timestamp-ns-minus-1501ns",
        "bucket[16]",
        "timestamp_ns",
        "1969-12-31T23:59:59.999998499",
        "-2 us, floored",
    ),
    ("bucket16-date-1969-12-31", "bucket[16]", "date", "1969-12-31", ""),
]

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
    ("truncate1-string-combining", "truncate[1]", "string", "e\u0301a", "code points: the combining mark is left out"),
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


def _nulls() -> list[Vector]:
    return [
        case(
            f"null-{name.replace('[', '').replace(']', '')}-{type_slug(type_)}",
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
    rows = [row for row in awkward.EVERY_ROW if awkward.kind(row[1]) in map(base_type, AWKWARD[name])]
    if name == "hour":
        rows = [row for row in rows if not row[0].endswith(("-max", "-min")) or row[1].endswith("_ns")]
    base = name.partition("[")[0]
    if base == "truncate":  # the result for the smallest decimal does not fit: one of the overflows
        rows = [row for row in rows if row[0] != "decimal-most-digits-negative"]
    known = [(one.args["type"], one.args["value"]) for one in asked]
    return [
        case(f"{base}-{slug}", name, type_, value, note) for slug, type_, value, note in awkward.not_in(known, rows)
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
                codes_for(name, type_),
                {"transform": name, "type": type_, "value": value},
                any_of(INVALID, ok(wrapped)),
                "derivation: the exact value lies outside the type; "
                "two's complement wraps an integer, and a decimal keeps its value",
                note + "; the text does not say what happens (truncate overflow)",
                ("C6",),
            )
        )
    return vectors


def files() -> Iterator[VectorFile]:
    """Yield the suite, one file per topic."""

    def file(topic: str, section: str, vectors: list[Vector]) -> VectorFile:
        return VectorFile(f"transforms/{topic}.json", "transform", section, tuple(vectors))

    identity = [
        case(f"identity-{type_slug(type_)}", "identity", type_, value, "") for type_, value in ALL_PRIMITIVES.items()
    ] + [case(*row) for row in IDENTITIES]
    yield file("identity", GENERAL, identity + _awkward("identity", identity))
    void = [case(f"void-{type_slug(type_)}", "void", type_, value, "") for type_, value in ALL_PRIMITIVES.items()]
    yield file("void", GENERAL, void)
    buckets = [case(*row) for row in BUCKETS]
    yield file("bucket", BUCKET, buckets + _awkward("bucket[16]", buckets))
    truncates = [case(*row) for row in TRUNCATES] + _overflows()
    yield file("truncate", TRUNCATE, truncates + _awkward("truncate[2]", truncates))
    for name in CALENDAR:
        moments = calendar_vectors(name)
        yield file(name, GENERAL, moments + _awkward(name, moments))
    yield file("nulls", GENERAL, _nulls())
    for (topic, section), vectors in refused_by_topic().items():
        yield file(topic, section, vectors)

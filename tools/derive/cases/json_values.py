"""JSON single values (Appendix D)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from tools.derive.cases.binary import LENGTHS, RANGES, SHAPES, TEXTS, hexadecimal
from tools.derive.cases.binary import code as binary_code
from tools.derive.cases.json_nested import BAD_NESTED, NESTED, NULL_FIELDS, NULLS_INSIDE
from tools.derive.cases.json_reads import READ
from tools.derive.cases.json_refusals import (
    AT_UTC,
    BAD_SHAPES,
    DATE_TEXTS,
    DECIMAL_TEXTS,
    HEX_TEXTS,
    KINDS,
    NANOSECOND_TEXTS,
    NEGATIVE_SCALE_TEXTS,
    NUMBERS,
    TIME_TEXTS,
    TIMESTAMP_TEXTS,
    TIMESTAMPTZ_TEXTS,
    UUID_TEXTS,
)
from tools.derive.cases.values import EXPANDED_YEARS, TOPICS, Value
from tools.derive.encoding import describe
from tools.derive.json_value import json_forms
from tools.derive.vector import INVALID, Vector, VectorFile, any_of, ok

SECTION = "JSON single-value serialization"
TABLE = "spec: Appendix D, JSON single-value serialization"

_CODES = {
    "boolean": "SVJ001",
    "int": "SVJ001",
    "long": "SVJ001",
    "float": "SVJ001",
    "double": "SVJ001",
    "decimal": "SVJ002",
    "date": "SVJ003",
    "time": "SVJ003",
    "timestamp": "SVJ004",
    "timestamptz": "SVJ004",
    "timestamp_ns": "SVJ005",
    "timestamptz_ns": "SVJ005",
    "string": "SVJ009",
    "uuid": "SVJ006",
    "fixed": "SVJ006",
    "binary": "SVJ006",
    "geometry": "SVJ008",
    "geography": "SVJ008",
    "struct": "SVJ007",
    "list": "SVJ007",
    "map": "SVJ007",
    "variant": "SVJ010",
    "unknown": "SVJ010",
}


def code(type_: Any) -> str:
    """Return the requirement for the JSON form of a type."""
    name = type_["type"] if isinstance(type_, dict) else type_
    return _CODES[name.split("(")[0].split("[")[0]]


OPEN: list[tuple[str, str, Any, Any, str, tuple[str, ...]]] = [
    ("int-with-point", "int", 34.0, 34, "a JSON number with a point that is an integer", ("E5",)),
    ("long-with-point", "long", 34.0, "34", "a JSON number with a point that is an integer", ("E5",)),
    ("int-exponent", "int", 1e3, 1000, "a JSON number with an exponent that is an integer", ("E5",)),
    (
        "uuid-upper-case",
        "uuid",
        "F79C3E09-677C-4BBD-A479-3F349CB785E7",
        "f79c3e09-677c-4bbd-a479-3f349cb785e7",
        "lower case is written; the text does not say whether upper case is read",
        ("B34",),
    ),
    ("decimal-plus", "decimal(9, 2)", "+14.20", "14.20", "a plus sign", ("E6",)),
    ("decimal-leading-zero", "decimal(9, 2)", "014.20", "14.20", "a leading zero", ("E6",)),
    ("decimal-no-integer-digit", "decimal(9, 2)", ".20", "0.20", "no digit before the point", ("E6",)),
    ("decimal-minus-0", "decimal(9, 2)", "-0.00", "0.00", "zero with a sign", ("E6",)),
    ("date-basic", "date", "20171116", "2017-11-16", "ISO 8601 has a basic format too", ("E4",)),
    ("date-ordinal", "date", "2017-320", "2017-11-16", "ISO 8601 has ordinal dates too", ("E4",)),
    ("date-week", "date", "2017-W46-4", "2017-11-16", "ISO 8601 has week dates too", ("E4",)),
    ("time-no-seconds", "time", "22:31", "22:31:00.000000", "reduced precision", ("E4",)),
    ("time-basic", "time", "223108.123456", "22:31:08.123456", "ISO 8601 has a basic format too", ("E4",)),
    ("time-comma", "time", "22:31:08,123456", "22:31:08.123456", "ISO 8601 has a decimal comma too", ("E4",)),
    (
        "timestamp-no-seconds",
        "timestamp",
        "2017-11-16T22:31",
        "2017-11-16T22:31:00.000000",
        "reduced precision",
        ("E4",),
    ),
]

PRINTED = {
    "int-34",
    "long-34",
    "float-1",
    "double-1",
    "decimal-14-20",
    "date-2017-11-16",
    "time-22-31-08-123456",
    "timestamp-2017-11-16",
    "timestamptz-2017-11-16",
    "timestamp-ns-2017-11-16",
    "timestamptz-ns-2017-11-16",
    "string-iceberg",
    "uuid-spec",
    "fixed-4",
    "binary-000102ff",
}
"""The examples that the spec's table prints."""


def _encode(row: Value) -> Vector:
    name, type_, value, note = row
    forms = json_forms(type_, value)
    several = len({json.dumps(form) for form in forms}) > 1
    if several:
        why = (
            "any number of up to nine digits that rounds to the float"
            if type_ == "float"
            else "the text leaves the form open"
        )
        note = f"{note}; {why}" if note else why
    origin = TABLE if name in PRINTED else f"derivation: the bytes are those of the value ({describe(type_, value)})"
    return Vector(
        f"json-encode-{name}",
        (code(type_),),
        {"type": type_, "bytes": hexadecimal(type_, value)},
        any_of(*(ok(form) for form in forms)),
        origin,
        note,
        (("B33" if type_ == "float" else "B34"),) if several else (),
    )


def _decode(name: str, type_: str, json_value: Any, value: Any, note: str, contradiction: tuple[str, ...]) -> Vector:
    return Vector(
        f"json-decode-{name}",
        (code(type_),),
        {"type": type_, "json": json_value},
        ok(hexadecimal(type_, value)),
        f"derivation: {describe(type_, value)}",
        note,
        contradiction,
    )


def _open(row: tuple[str, str, Any, Any, str, tuple[str, ...]]) -> Vector:
    name, type_, json_value, value, note, contradiction = row
    return Vector(
        f"json-decode-open-{name}",
        (code(type_),),
        {"type": type_, "json": json_value},
        any_of(INVALID, ok(hexadecimal(type_, value))),
        f"derivation: {describe(type_, value)}",
        note,
        contradiction,
    )


NEGATIVE_SCALE = [
    (
        "json-decode-negative-scale-2e20",
        "json-value.decode",
        {"type": "decimal(9, -20)", "json": "2E+20"},
        ok("02"),
        "the printed example: unscaled 2, exponent 20 equals the negated scale",
    ),
    (
        "json-decode-negative-scale-minus",
        "json-value.decode",
        {"type": "decimal(9, -3)", "json": "-129E+3"},
        ok("FF7F"),
        "unscaled -129",
    ),
    (
        "json-encode-negative-scale-2e20",
        "json-value.encode",
        {"type": "decimal(9, -20)", "bytes": "02"},
        ok("2E+20"),
        "the printed example",
    ),
]


def _refusals(group: str, rows: Sequence[tuple[str, str, Any, str]]) -> list[Vector]:
    return [
        Vector(f"json-refuse-{group}{name}", (code(type_),), {"type": type_, "json": value}, INVALID, TABLE, note)
        for name, type_, value, note in rows
    ]


def _refused_as(type_: str, group: str, rows: Sequence[tuple[str, Any, str]]) -> list[Vector]:
    """Yield vectors that refuse JSON as a value of one type."""
    return _refusals(group, [(name, type_, value, note) for name, value, note in rows])


def _geo() -> tuple[list[Vector], list[Vector]]:
    encode, decode = [], []
    for name, type_, text, shape in SHAPES:
        little, big = (shape(order).hex().upper() for order in "<>")
        origin = "derivation: well-known binary by tools/derive/wkb.py, ISO type codes, IEEE 754 coordinates"
        tight = text.replace(" (", "(")
        encode.append(
            Vector(
                f"json-encode-geo-{name}",
                ("SVJ008",),
                {"type": type_, "bytes": little},
                any_of(ok(text), ok(tight), ok(tight.replace(" Z", "Z").replace(" M", "M"))),
                origin,
                "the text shows a space before the parenthesis; WKT does not need it",
                ("E3",),
            )
        )
        decode.append(
            Vector(
                f"json-decode-geo-{name}",
                ("SVJ008",),
                {"type": type_, "json": text},
                any_of(ok(little), ok(big)),
                origin,
                "either byte order is well-known binary",
                ("E3",),
            )
        )
    return encode, decode


def _bad_bytes() -> list[Vector]:
    """Yield vectors of bytes that encode no value, or a value that JSON cannot represent."""
    not_finite = [
        ("nan", "float", "0000C07F"),
        ("infinity", "float", "0000807F"),
        ("minus-infinity", "float", "000080FF"),
        ("nan", "double", "000000000000F87F"),
        ("infinity", "double", "000000000000F07F"),
        ("minus-infinity", "double", "000000000000F0FF"),
    ]
    why = "JSON has no such number, and null would mean no value"
    rows: list[tuple[str, str, str, str, str, tuple[str, ...]]] = [
        (f"{type_}-{name}", type_, data, why, TABLE, ()) for name, type_, data in not_finite
    ]
    binary = "spec: Appendix D, binary single-value serialization"
    rows += [
        (f"length-{name.replace('[4]', '')}", type_, data, note, binary, (binary_code(type_),))
        for name, type_, data, note in LENGTHS
    ]
    rows += [
        (f"text-{name}", "string", data, note, "spec: Primitive Types, strings are UTF-8", ("SVB005",))
        for name, data, note in TEXTS
    ]
    rows += [
        (f"range-{name}", type_, data, note, "spec: Primitive Types", codes)
        for name, type_, data, codes, note in RANGES
    ]
    none = [("variant", "variant", "0100000C22"), ("unknown", "unknown", ""), ("unknown-bytes", "unknown", "22000000")]
    rows += [(name, type_, data, f"{type_} has no JSON single value", TABLE, ()) for name, type_, data in none]
    return [
        Vector(
            f"json-refuse-encode-{name}", (code(type_), *codes), {"type": type_, "bytes": data}, INVALID, origin, note
        )
        for name, type_, data, note, origin, codes in rows
    ]


SMALL = (
    ("zero", "decimal(7, 7)", "00", "0.0000000", "zero has the digits of its scale, and no exponent"),
    ("1e-7", "decimal(7, 7)", "01", "0.0000001", "an exponent is for negative scales"),
    ("minus-12e-9", "decimal(10, 9)", "F4", "-0.000000012", "a negative number"),
    ("1e-38", "decimal(38, 38)", "01", f"0.{1:038}", "the greatest scale"),
)
"""Decimals that libraries tend to write with an exponent: id, type, bytes, JSON, note."""


def files() -> Iterator[VectorFile]:
    """Yield the suite, one file per topic."""

    def file(topic: str, operation: str, vectors: list[Vector]) -> VectorFile:
        return VectorFile(f"single-values-json/{topic}.json", operation, SECTION, tuple(vectors))

    for topic, rows in TOPICS.items():
        yield file(f"encode-{topic}", "json-value.encode", [_encode(row) for row in rows])
        decode = [
            _decode(name, type_, json_forms(type_, value)[0], value, note, ()) for name, type_, value, note in rows
        ]
        yield file(f"decode-{topic}", "json-value.decode", decode)
    yield file("decode-other-forms", "json-value.decode", [_decode(*row) for row in READ])
    years = "ISO 8601 allows years of more than four digits, and years before 1583, only by agreement"
    opened = [
        _open((name, type_, value, value, f"{note}: {years}", ("E4",))) for name, type_, value, note in EXPANDED_YEARS
    ]
    yield file("decode-open", "json-value.decode", [*(_open(row) for row in OPEN), *opened])
    yield file(
        "encode-open",
        "json-value.encode",
        [
            Vector(
                f"json-encode-open-{name}",
                (code(type_),),
                {"type": type_, "bytes": hexadecimal(type_, value)},
                any_of(*(ok(form) for form in json_forms(type_, value)), INVALID),
                f"derivation: the bytes are those of the value ({describe(type_, value)})",
                f"{note}: {years}",
                ("E4",),
            )
            for name, type_, value, note in EXPANDED_YEARS
        ],
    )
    for operation in ("json-value.encode", "json-value.decode"):
        vectors = [
            Vector(
                id_,
                ("SVJ002",),
                args,
                any_of(expect, INVALID),
                TABLE,
                f"{note}; a type of negative scale may be refused",
                ("E8",),
            )
            for id_, name, args, expect, note in NEGATIVE_SCALE
            if name == operation
        ]
        yield file(f"{operation.split('.')[1]}-negative-scale", operation, vectors)
    encode_geo, decode_geo = _geo()
    yield file(
        "encode-small-decimals",
        "json-value.encode",
        [
            Vector(
                f"json-encode-decimal-small-{name}",
                ("SVJ002",),
                {"type": type_, "bytes": bytes_},
                ok(text),
                "spec: Appendix D (the digits to the right of the decimal point give a positive scale)",
                note,
            )
            for name, type_, bytes_, text, note in SMALL
        ],
    )
    yield file("encode-geo", "json-value.encode", encode_geo)
    yield file("decode-geo", "json-value.decode", decode_geo)
    yield file("encode-refusals", "json-value.encode", _bad_bytes())
    other_decimals = [
        ("scale-0-with-exponent", "decimal(3, 0)", "1E+2", "an exponent needs a negative scale"),
        ("too-precise", "decimal(2, 1)", "99.9", "three digits in a precision of two"),
        ("39-digits", "decimal(38, 0)", "1" + "0" * 38, "39 digits"),
    ]
    yield file(
        "refusals-numbers",
        "json-value.decode",
        [
            *_refusals("", NUMBERS),
            *_refused_as("decimal(9, 2)", "decimal-", DECIMAL_TEXTS),
            *_refused_as("decimal(9, -20)", "decimal-negative-scale-", NEGATIVE_SCALE_TEXTS),
            *_refusals("decimal-", other_decimals),
        ],
    )
    zoned = [
        Vector(
            f"json-refuse-timestamptz-{name}",
            ("SVJ004",),
            {"type": "timestamptz", "json": text},
            any_of(INVALID, ok(hexadecimal("timestamptz", AT_UTC))) if contradiction else INVALID,
            TABLE,
            note,
            contradiction,
        )
        for name, text, note, contradiction in TIMESTAMPTZ_TEXTS
    ]
    yield file(
        "refusals-dates-and-times",
        "json-value.decode",
        [
            *_refused_as("date", "date-", DATE_TEXTS),
            *_refused_as("time", "time-", TIME_TEXTS),
            *_refused_as("timestamp", "timestamp-", TIMESTAMP_TEXTS),
            *zoned,
            *_refusals("", NANOSECOND_TEXTS),
        ],
    )
    yield file(
        "refusals-texts",
        "json-value.decode",
        [
            *_refused_as("uuid", "uuid-", UUID_TEXTS),
            *_refusals("", HEX_TEXTS),
            *_refusals("", KINDS),
            *_refusals("geo-", BAD_SHAPES),
        ],
    )
    nested = [
        Vector(
            f"json-nested-{name}",
            ("SVJ007", *NULLS_INSIDE.get(name, ())),
            {"type": type_, "json": value},
            ok(value),
            TABLE if printed else "derivation: nested JSON single values are written as they are read",
            note,
        )
        for name, type_, value, printed, note in NESTED
    ]
    nested += [
        Vector(
            f"json-nested-{name}-null-field",
            ("SVJ007",),
            {"type": type_, "json": value},
            any_of(ok(value), ok(left_out)),
            "derivation: null is not a value, so its member may be left out",
            "the text does not say whether a null field is written",
            ("E7",),
        )
        for name, type_, value, left_out in NULL_FIELDS
    ]
    yield file("nested", "json-value.round-trip", nested)
    bad = [
        Vector(f"json-refuse-nested-{name}", ("SVJ007",), {"type": type_, "json": value}, INVALID, TABLE, note)
        for name, type_, value, note in BAD_NESTED
    ]
    yield file("nested-refusals", "json-value.round-trip", bad)

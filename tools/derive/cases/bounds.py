"""Lower and upper bounds (Bound serialization; Schema Evolution; Data File Fields)."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

from tools.derive import awkward
from tools.derive.bounds import truncate
from tools.derive.cases import geo_bounds, variant_bounds
from tools.derive.cases.binary import LENGTHS, TEXTS, code, hexadecimal
from tools.derive.cases.bounds_file import BOUNDS, bounds_file
from tools.derive.cases.values import BAD_VALUES, MALFORMED, NOT_FINITE, TOPICS, UNSUPPORTED
from tools.derive.encoding import describe
from tools.derive.vector import INVALID, Vector, VectorFile, any_of, ok, refusals

EVOLUTION = "Schema Evolution"
FIELDS = "Data File Fields"

CHOSEN = {
    *("false", "true"),
    *("int-34", "int-minus-1", "int-min", "int-max", "long-34", "long-min", "long-max"),
    *("float-1", "float-min-subnormal", "double-1", "double-max", "float-infinity", "double-minus-infinity"),
    *("decimal-14-20", "decimal-0", "decimal-127", "decimal-128"),
    *("decimal-minus-128", "decimal-minus-129", "decimal-minus-32768", "decimal-minus-2-63", "decimal-minus-38-nines"),
    *("date-2017-11-16", "date-1969-12-31", "time-22-31-08", "time-last"),
    *("timestamp-minus-1us", "timestamp-9999", "timestamptz-2017-11-16"),
    *("timestamp-ns-2017-11-16", "timestamp-ns-min", "timestamptz-ns-max"),
    *("string-iceberg", "string-empty", "string-money-bag", "string-d7ff", "string-long"),
    *("uuid-spec", "uuid-high-bit", "fixed-4", "binary-empty", "binary-00010f"),
}

ZEROS = [
    ("float-minus-0", "float", -0.0),
    ("float-0", "float", 0.0),
    ("double-minus-0", "double", -0.0),
    ("double-0", "double", 0.0),
]

BEYOND_NS = "the date is beyond 64 bits of nanoseconds: a failure, no wrap"
BEYOND_US = "the date is beyond 64 bits of microseconds: a failure, no wrap"


def _day(number: int) -> str:
    """Return the bound of the date that is a number of days after 1970-01-01."""
    return struct.pack("<i", number).hex().upper()


# name, type, bytes, value, note
PROMOTED: list[tuple[str, str, str, Any, str]] = [
    ("int-as-long-34", "long", "22000000", "34", "int 34"),
    ("int-as-long-1", "long", "01000000", "1", "int 1"),
    ("int-as-long-minus-1", "long", "FFFFFFFF", "-1", "int -1, sign-extended"),
    ("int-as-long-min", "long", "00000080", "-2147483648", "the least int"),
    ("int-as-long-max", "long", "FFFFFF7F", "2147483647", "the largest int"),
    ("float-as-double-1", "double", "0000803F", 1.0, "float 1.0"),
    ("float-as-double-minus-0", "double", "00000080", -0.0, "float -0.0"),
    ("float-as-double-0-1", "double", "CDCCCC3D", 0.10000000149011612, "the float nearest to 0.1, exactly"),
    ("float-as-double-max", "double", "FFFF7F7F", 3.4028234663852886e38, "the largest float"),
    ("float-as-double-minus-infinity", "double", "000080FF", "-Infinity", ""),
    ("date-as-timestamp-2017-11-16", "timestamp", "4E440000", "2017-11-16T00:00:00.000000", "day 17486"),
    ("date-as-timestamp-epoch", "timestamp", "00000000", "1970-01-01T00:00:00.000000", "day 0"),
    ("date-as-timestamp-minus-1", "timestamp", "FFFFFFFF", "1969-12-31T00:00:00.000000", "day -1"),
    ("date-as-timestamp-9999", "timestamp", _day(2932896), "9999-12-31T00:00:00.000000", "day 2932896"),
    ("date-as-timestamp-ns-2017-11-16", "timestamp_ns", "4E440000", "2017-11-16T00:00:00.000000000", "day 17486"),
    ("date-as-timestamp-ns-minus-1", "timestamp_ns", "FFFFFFFF", "1969-12-31T00:00:00.000000000", "day -1"),
    (
        "date-as-timestamp-ns-last",
        "timestamp_ns",
        _day(106751),
        "2262-04-11T00:00:00.000000000",
        "day 106751, the last that fits",
    ),
    (
        "date-as-timestamp-ns-first",
        "timestamp_ns",
        _day(-106751),
        "1677-09-22T00:00:00.000000000",
        "day -106751, the first that fits",
    ),
    ("decimal-wider", "decimal(38, 2)", "058C", "14.20", "written as decimal(4, 2)"),
    ("decimal-wider-minus-128", "decimal(18, 0)", "80", "-128", "written as decimal(3, 0)"),
]
NOT_PROMOTED: list[tuple[str, str, str, str, str]] = [
    ("timestamp-ns-day-106752", "timestamp_ns", _day(106752), "EVO006", BEYOND_NS),
    ("timestamp-ns-day-minus-106752", "timestamp_ns", _day(-106752), "EVO006", BEYOND_NS),
    ("timestamp-ns-9999", "timestamp_ns", _day(2932896), "EVO006", BEYOND_NS),
    ("timestamp-day-max", "timestamp", "FFFFFF7F", "EVO006", BEYOND_US),
    ("timestamp-day-min", "timestamp", "00000080", "EVO006", BEYOND_US),
    ("timestamp-day-106751992", "timestamp", _day(106751992), "EVO006", "the first day beyond 64 bits of microseconds"),
    ("timestamptz-of-date", "timestamptz", "4E440000", "EVO005", "a date is never promoted to a timestamptz"),
    ("timestamptz-ns-of-date", "timestamptz_ns", "4E440000", "EVO005", "a date is never promoted to a timestamptz_ns"),
    ("time-of-int", "time", "22000000", "EVO003", "an int is never promoted to a time"),
    ("int-of-long", "int", "2200000000000000", "EVO003", "a long is never narrowed"),
    ("float-of-double", "float", "000000000000F03F", "EVO003", "a double is never narrowed"),
    ("date-of-long", "date", "4E44000000000000", "EVO003", "eight bytes are not a date"),
    ("uuid-of-int", "uuid", "22000000", "EVO003", "an int is never promoted to a uuid"),
    ("decimal-narrowed", "decimal(3, 2)", "058C", "EVO003", "14.20 has four digits: precision only grows"),
]

# name, type, value, width, note
TRUNCATED: list[tuple[str, str, str, int, str]] = [
    ("iceberg-3", "string", "iceberg", 3, ""),
    ("iceberg-7", "string", "iceberg", 7, "not longer than the width: unchanged"),
    ("iceberg-16", "string", "iceberg", 16, "not longer than the width: unchanged"),
    ("empty", "string", "", 1, "an empty string is a value; its bound is optional and may be left out"),
    ("nul", "string", "\x00\x00", 1, "U+0000 is followed by U+0001"),
    ("7f", "string", "\x7fa", 1, "U+007F is followed by U+0080, two bytes"),
    ("7ff", "string", "\u07ffa", 1, "U+07FF is followed by U+0800, three bytes"),
    ("d7ff", "string", "\ud7ffz", 1, "U+D7FF is followed by U+E000, because surrogates are not characters"),
    (
        "15-a-d7ff",
        "string",
        "a" * 15 + "\ud7ffzz",
        16,
        "U+D7FF is the last character that is kept: the upper bound ends in EE 80 80",
    ),
    ("ffff", "string", "\uffffz", 1, "U+FFFF is followed by U+10000, four bytes"),
    ("10ffff", "string", "\U0010ffffz", 1, "nothing follows U+10FFFF"),
    ("a-10ffff", "string", "a\U0010ffffz", 2, "nothing follows U+10FFFF: the character before it is raised"),
    ("10ffff-twice", "string", "\U0010ffff\U0010ffffz", 2, "nothing follows U+10FFFF"),
    ("d7ff-10ffff", "string", "\ud7ff\U0010ffffz", 2, "raised past the surrogates after a drop"),
    ("money-bags", "string", "\U0001f4b0" * 4, 3, "code points, never half a character"),
    ("16-then-astral", "string", "0123456789abcde\U0001f4b0xyz", 16, "a character of four bytes around byte 16"),
    ("combining", "string", "e\u0301e\u0301", 2, "normalisation does not count"),
    ("z", "string", "zz", 1, ""),
    ("10ffff-exact", "string", "\U0010ffff", 1, "not longer than the width: unchanged"),
    ("binary-3", "binary", "0102030405", 3, ""),
    ("binary-exact", "binary", "010203", 3, "not longer than the width: unchanged"),
    ("binary-empty", "binary", "", 3, "no bytes are a value; their bound is optional and may be left out"),
    ("binary-01ff", "binary", "01FF00", 2, "nothing follows FF: the byte before it is raised"),
    ("binary-ffff", "binary", "FFFF00", 2, "nothing follows FF"),
    ("binary-7f", "binary", "7F00", 1, "bytes are unsigned: 7F is followed by 80"),
    ("binary-ff-exact", "binary", "FFFF", 2, "not longer than the width: unchanged"),
    ("binary-00", "binary", "0000", 1, ""),
    ("binary-very-long", "binary", awkward.VERY_LONG, 16, "truncated to the width"),
    *(
        (
            f"awkward-{name}",
            type_,
            value,
            16,
            "not longer than the width: unchanged" if len(value) < 16 else "truncated to the width",
        )
        for name, type_, value, _ in (*awkward.STRINGS, *awkward.BYTES)
        if type_ in ("string", "binary") and value
    ),
]

KEPT: dict[str, str] = {"a-10ffff": "b\U0010ffff", "binary-01ff": "02FF"}
"""Upper bounds that keep the units after the incremented one: valid bounds, but not the nearest of the width."""


def _choose_rows() -> list[tuple[str, str, Any, str]]:
    rows = [row for topic in TOPICS.values() for row in topic] + NOT_FINITE
    chosen = [row for row in rows if row[0] in CHOSEN]
    zeros = [(type_, value) for _, type_, value in ZEROS] + [("float", "NaN"), ("double", "NaN")]
    asked = [(type_, value) for _, type_, value, _ in chosen] + zeros
    return chosen + awkward.not_in(asked)


def files() -> Iterator[VectorFile]:
    """Yield the suite, one file per topic."""
    yield bounds_file(
        "encode",
        "bound.encode",
        BOUNDS,
        [
            Vector(
                f"bound-encode-{name}",
                (code(type_), "SVB013"),
                {"type": type_, "value": value},
                ok(hexadecimal(type_, value)),
                f"derivation: {describe(type_, value)}",
                note,
            )
            for name, type_, value, note in _choose_rows()
        ],
    )
    decode = [
        Vector(
            f"bound-decode-{name}",
            (code(type_), "SVB013"),
            {"type": type_, "bytes": hexadecimal(type_, value)},
            ok(value),
            f"derivation: {describe(type_, value)}",
            note,
        )
        for name, type_, value, note in [*_choose_rows(), *((*zero, "the sign of zero") for zero in ZEROS)]
    ]
    decode += [
        Vector(
            f"bound-decode-open-nan-{type_}",
            (code(type_), "DFL027", "SVB013"),
            {"type": type_, "bytes": data},
            any_of(ok("NaN"), INVALID),
            "derivation: IEEE 754",
            "NaN is not a bound, yet old files have it",
            ("C26",),
        )
        for type_, data in (("float", "0000C07F"), ("double", "000000000000F87F"))
    ]
    yield bounds_file("decode", "bound.decode", BOUNDS, decode)
    zeros = [
        Vector(
            f"bound-encode-{name}",
            ("DFL027", "SVB004"),
            {"type": type_, "value": value},
            ok(hexadecimal(type_, value)),
            f"derivation: {describe(type_, value)}",
            "-0.0 comes before 0.0: the sign is kept",
            ("B7",),
        )
        for name, type_, value in ZEROS
    ]
    zeros += refusals(
        "bound-refuse-encode-nan",
        ("DFL027",),
        [(type_, {"type": type_, "value": "NaN"}, "NaN is not a bound") for type_ in ("float", "double")],
        "spec: Data File Fields, note on NaN",
    )
    yield bounds_file("zeros-and-nan", "bound.encode", FIELDS, zeros)
    yield bounds_file(
        "promotions",
        "bound.decode",
        EVOLUTION,
        [
            Vector(
                f"bound-promoted-{name}",
                ("EVO005" if name.startswith("date") else "EVO003", "EVO007"),
                {"type": type_, "bytes": data},
                ok(value),
                "derivation: the length shows the type at write time; its value, promoted",
                note,
            )
            for name, type_, data, value, note in PROMOTED
        ],
    )
    yield bounds_file(
        "promotion-refusals",
        "bound.decode",
        EVOLUTION,
        [
            Vector(
                f"bound-refuse-promotion-{name}",
                (code_, "EVO007", *(() if code_ == "EVO006" else (code(type_), "SVB013"))),
                {"type": type_, "bytes": data},
                INVALID,
                "spec: Schema Evolution",
                note,
            )
            for name, type_, data, code_, note in NOT_PROMOTED
        ],
    )
    taken = {(type_, data) for _, type_, data, *_ in NOT_PROMOTED}
    refused = (
        [
            Vector(
                f"bound-refuse-length-{name.replace('[4]', '')}",
                (code(type_), "SVB013"),
                {"type": type_, "bytes": data},
                INVALID,
                "spec: Appendix D, binary single-value serialization",
                note,
            )
            for name, type_, data, note in LENGTHS
            if (type_, data) not in taken
        ]
        + [
            Vector(
                f"bound-refuse-text-{name}",
                ("SVB005", "SVB013", "TYP021"),
                {"type": "string", "bytes": data},
                INVALID,
                "spec: Primitive Types, strings are UTF-8",
                note,
            )
            for name, data, note in TEXTS
            if name.startswith(("truncated", "surrogate", "overlong"))
        ]
        + [
            Vector(
                f"bound-refuse-unsupported-{name}",
                ("SVB009", "SVB013"),
                {"type": type_, "bytes": "22000000"},
                INVALID,
                "spec: Appendix D, binary single-value serialization",
                f"{name} has no bounds",
            )
            for name, (type_, _) in UNSUPPORTED.items()
        ]
    )
    yield bounds_file("decode-refusals", "bound.decode", BOUNDS, refused)
    bad = [
        Vector(
            f"bound-refuse-encode-{name}",
            (code(type_), rule, "SVB013"),
            {"type": type_, "value": value},
            INVALID,
            "spec: Primitive Types",
            note,
            tags=MALFORMED,
        )
        for name, type_, value, rule, note in BAD_VALUES
    ] + [
        Vector(
            f"bound-refuse-encode-{name}",
            ("SVB009", "SVB013"),
            {"type": type_, "value": value},
            INVALID,
            "spec: Appendix D, binary single-value serialization",
            f"{name} has no bounds",
        )
        for name, (type_, value) in UNSUPPORTED.items()
    ]
    yield bounds_file("encode-refusals", "bound.encode", BOUNDS, bad)
    yield bounds_file(
        "truncate",
        "bound.truncate",
        FIELDS,
        [
            Vector(
                f"bound-truncate-{side}-{name}",
                ("DFL016" if side == "lower" else "DFL017",),
                {"type": type_, "value": value, "width": width, "side": side},
                any_of(
                    ok(truncate(type_, value, width, side)),
                    *([ok(KEPT[name])] if kept else []),
                    *([ok(None)] if value == "" else []),
                ),
                "derivation: the greatest value of the width that is not above, or the least that is not below every "
                "value with this beginning",
                note,
                ("E20",) if kept or value == "" else (),
            )
            for side in ("lower", "upper")
            for name, type_, value, width, note in TRUNCATED
            for kept in [side == "upper" and name in KEPT]
        ],
    )
    yield from geo_bounds.files()
    yield from variant_bounds.files()

"""Lower and upper bounds (Bound serialization; Schema Evolution; Data File Fields)."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

from tools.derive import awkward, variant
from tools.derive.bounds import truncate
from tools.derive.cases.binary import LENGTHS, TEXTS, code, hexadecimal
from tools.derive.cases.values import BAD_VALUES, MALFORMED, NOT_FINITE, TOPICS, UNSUPPORTED
from tools.derive.encoding import describe
from tools.derive.vector import INVALID, Vector, VectorFile, any_of, ok, refusals

BOUNDS = "Bound serialization"
EVOLUTION = "Schema Evolution"
FIELDS = "Data File Fields"
GEO = "Bounds for Geometry and Geography"
VARIANT = "Bounds for Variant"

CHOSEN = {
    "false", "true", "int-34", "int-minus-1", "int-min", "int-max", "long-34", "long-min", "long-max", "float-1",
    "float-min-subnormal", "double-1", "double-max", "decimal-14-20", "decimal-0", "decimal-127", "decimal-128",
    "decimal-minus-128", "decimal-minus-129", "decimal-minus-32768", "decimal-minus-2-63", "decimal-minus-38-nines",
    "date-2017-11-16", "date-1969-12-31", "time-22-31-08", "time-last", "timestamp-minus-1us", "timestamp-9999",
    "timestamptz-2017-11-16", "timestamp-ns-2017-11-16", "timestamp-ns-min", "timestamptz-ns-max", "string-iceberg",
    "string-empty", "string-money-bag", "string-d7ff", "string-long", "uuid-spec", "uuid-high-bit", "fixed-4",
    "binary-empty", "binary-00010f", "float-infinity", "double-minus-infinity",
}  # fmt: skip

ZEROS = [
    ("float-minus-0", "float", -0.0),
    ("float-0", "float", 0.0),
    ("double-minus-0", "double", -0.0),
    ("double-0", "double", 0.0),
]

# name, type, bytes, value, codes, note
PROMOTED: list[tuple[str, str, str, Any, tuple[str, ...], str]] = [
    ("int-as-long-34", "long", "22000000", "34", ("EVO003", "EVO007"), "int 34"),
    ("int-as-long-1", "long", "01000000", "1", ("EVO003", "EVO007"), "int 1"),
    ("int-as-long-minus-1", "long", "FFFFFFFF", "-1", ("EVO003", "EVO007"), "int -1, sign-extended"),
    ("int-as-long-min", "long", "00000080", "-2147483648", ("EVO003", "EVO007"), "the least int"),
    ("int-as-long-max", "long", "FFFFFF7F", "2147483647", ("EVO003", "EVO007"), "the largest int"),
    ("float-as-double-1", "double", "0000803F", 1.0, ("EVO003", "EVO007"), "float 1.0"),
    ("float-as-double-minus-0", "double", "00000080", -0.0, ("EVO003", "EVO007"), "float -0.0"),
    ("float-as-double-0-1", "double", "CDCCCC3D", 0.10000000149011612, ("EVO003", "EVO007"),
     "the float nearest to 0.1, exactly"),
    ("float-as-double-max", "double", "FFFF7F7F", 3.4028234663852886e38, ("EVO003", "EVO007"), "the largest float"),
    ("float-as-double-minus-infinity", "double", "000080FF", "-Infinity", ("EVO003", "EVO007"), ""),
    ("date-as-timestamp-2017-11-16", "timestamp", "4E440000", "2017-11-16T00:00:00.000000", ("EVO005", "EVO007"),
     "day 17486"),
    ("date-as-timestamp-epoch", "timestamp", "00000000", "1970-01-01T00:00:00.000000", ("EVO005", "EVO007"), "day 0"),
    ("date-as-timestamp-minus-1", "timestamp", "FFFFFFFF", "1969-12-31T00:00:00.000000", ("EVO005", "EVO007"),
     "day -1"),
    ("date-as-timestamp-9999", "timestamp", struct.pack("<i", 2932896).hex().upper(), "9999-12-31T00:00:00.000000",
     ("EVO005", "EVO007"), "day 2932896"),
    ("date-as-timestamp-ns-2017-11-16", "timestamp_ns", "4E440000", "2017-11-16T00:00:00.000000000",
     ("EVO005", "EVO007"), "day 17486"),
    ("date-as-timestamp-ns-minus-1", "timestamp_ns", "FFFFFFFF", "1969-12-31T00:00:00.000000000",
     ("EVO005", "EVO007"), "day -1"),
    ("date-as-timestamp-ns-last", "timestamp_ns", struct.pack("<i", 106751).hex().upper(),
     "2262-04-11T00:00:00.000000000", ("EVO005", "EVO007"), "day 106751, the last that fits"),
    ("date-as-timestamp-ns-first", "timestamp_ns", struct.pack("<i", -106751).hex().upper(),
     "1677-09-22T00:00:00.000000000", ("EVO005", "EVO007"), "day -106751, the first that fits"),
    ("decimal-wider", "decimal(38, 2)", "058C", "14.20", ("EVO003", "EVO007"), "written as decimal(4, 2)"),
    ("decimal-wider-minus-128", "decimal(18, 0)", "80", "-128", ("EVO003", "EVO007"), "written as decimal(3, 0)"),
]  # fmt: skip
NOT_PROMOTED: list[tuple[str, str, str, tuple[str, ...], str]] = [
    ("timestamp-ns-day-106752", "timestamp_ns", struct.pack("<i", 106752).hex().upper(), ("EVO006", "EVO007"),
     "the date is beyond 64 bits of nanoseconds: a failure, no wrap"),
    ("timestamp-ns-day-minus-106752", "timestamp_ns", struct.pack("<i", -106752).hex().upper(), ("EVO006", "EVO007"),
     "the date is beyond 64 bits of nanoseconds: a failure, no wrap"),
    ("timestamp-ns-9999", "timestamp_ns", struct.pack("<i", 2932896).hex().upper(), ("EVO006", "EVO007"),
     "the date is beyond 64 bits of nanoseconds: a failure, no wrap"),
    ("timestamp-day-max", "timestamp", "FFFFFF7F", ("EVO006", "EVO007"),
     "the date is beyond 64 bits of microseconds: a failure, no wrap"),
    ("timestamp-day-min", "timestamp", "00000080", ("EVO006", "EVO007"),
     "the date is beyond 64 bits of microseconds: a failure, no wrap"),
    ("timestamp-day-106751992", "timestamp", struct.pack("<i", 106751992).hex().upper(), ("EVO006", "EVO007"),
     "the first day beyond 64 bits of microseconds"),
    ("timestamptz-of-date", "timestamptz", "4E440000", ("EVO005", "EVO007"),
     "a date is never promoted to a timestamptz"),
    ("timestamptz-ns-of-date", "timestamptz_ns", "4E440000", ("EVO005", "EVO007"),
     "a date is never promoted to a timestamptz_ns"),
    ("time-of-int", "time", "22000000", ("EVO003", "EVO007"), "an int is never promoted to a time"),
    ("int-of-long", "int", "2200000000000000", ("EVO003", "EVO007"), "a long is never narrowed"),
    ("float-of-double", "float", "000000000000F03F", ("EVO003", "EVO007"), "a double is never narrowed"),
    ("date-of-long", "date", "4E44000000000000", ("EVO003", "EVO007"), "eight bytes are not a date"),
    ("uuid-of-int", "uuid", "22000000", ("EVO003", "EVO007"), "an int is never promoted to a uuid"),
    ("decimal-narrowed", "decimal(3, 2)", "058C", ("EVO003", "EVO007"), "14.20 has four digits: precision only grows"),
]  # fmt: skip

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
    ("15-a-d7ff", "string", "a" * 15 + "\ud7ffzz", 16, "U+D7FF at the cut: the upper bound ends in EE 80 80"),
    ("ffff", "string", "\uffffz", 1, "U+FFFF is followed by U+10000, four bytes"),
    ("10ffff", "string", "\U0010ffffz", 1, "nothing follows U+10FFFF"),
    ("a-10ffff", "string", "a\U0010ffffz", 2, "nothing follows U+10FFFF: the character before it is raised"),
    ("10ffff-twice", "string", "\U0010ffff\U0010ffffz", 2, "nothing follows U+10FFFF"),
    ("d7ff-10ffff", "string", "\ud7ff\U0010ffffz", 2, "raised past the surrogates after a drop"),
    ("money-bags", "string", "\U0001f4b0" * 4, 3, "code points, never half a character"),
    ("16-then-astral", "string", "0123456789abcde\U0001f4b0xyz", 16, "a character of four bytes around byte 16"),
    ("combining", "string", "e\u0301e\u0301", 2, "no regard to normalisation"),
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
    *(
        (f"awkward-{name}", type_, value, 16, "not longer than the width: unchanged" if len(value) < 16 else "cut")
        for name, type_, value, _ in (*awkward.STRINGS, *awkward.BYTES)
        if type_ in ("string", "binary") and value
    ),
]

KEPT: dict[str, str] = {"a-10ffff": "b\U0010ffff", "binary-01ff": "02FF"}
"""Upper bounds that keep what follows the raised place: a bound, though not the nearest of the width."""

GEOMETRY = "geometry(OGC:CRS84)"
GEOGRAPHY = "geography(OGC:CRS84, spherical)"


def _point(*coordinates: float) -> str:
    return struct.pack(f"<{len(coordinates)}d", *coordinates).hex().upper()


NAN = float("nan")
POINTS: list[tuple[str, str, dict[str, float], str, str]] = [
    ("xy", GEOMETRY, {"x": 30.0, "y": 10.0}, _point(30, 10), "x:y"),
    ("xyz", GEOMETRY, {"x": 30.0, "y": 10.0, "z": 5.0}, _point(30, 10, 5), "x:y:z"),
    ("xyzm", GEOMETRY, {"x": 30.0, "y": 10.0, "z": 5.0, "m": 7.0}, _point(30, 10, 5, 7), "x:y:z:m"),
    ("negative", GEOMETRY, {"x": -122.5, "y": -47.25}, _point(-122.5, -47.25), ""),
    ("zero", GEOMETRY, {"x": 0.0, "y": 0.0}, _point(0, 0), ""),
    (
        "geometry-beyond-degrees",
        GEOMETRY,
        {"x": 500000.0, "y": 4649776.0},
        _point(500000, 4649776),
        "only the coordinates of a geography must be degrees",
    ),
    (
        "geography-corner",
        GEOGRAPHY,
        {"x": -180.0, "y": -90.0},
        _point(-180, -90),
        "the ends of the ranges belong to them",
    ),
    (
        "geography-other-corner",
        GEOGRAPHY,
        {"x": 180.0, "y": 90.0},
        _point(180, 90),
        "the ends of the ranges belong to them",
    ),
    ("geography-xyz", GEOGRAPHY, {"x": 30.0, "y": 10.0, "z": 9000.0}, _point(30, 10, 9000), "the height has no range"),
]
BAD_POINTS = [
    ("geometry-no-y", GEOMETRY, {"x": 30.0}, ("SVB011",), "x and y are mandatory"),
    ("geometry-no-x", GEOMETRY, {"y": 10.0}, ("SVB011",), "x and y are mandatory"),
    ("geometry-no-coordinates", GEOMETRY, {}, ("SVB011",), "x and y are mandatory"),
    ("geometry-x-nan", GEOMETRY, {"x": "NaN", "y": 10.0}, ("BND004", "SVB011"), "without X there is no box"),
    ("geometry-y-nan", GEOMETRY, {"x": 30.0, "y": "NaN"}, ("BND004", "SVB011"), "without Y there is no box"),
    ("geometry-list", GEOMETRY, [30.0, 10.0], ("SVB011",), "a point has named coordinates"),
    ("geometry-text", GEOMETRY, "POINT (30 10)", ("SVB011",), "a point has named coordinates"),
    ("geography-no-y", GEOGRAPHY, {"x": 30.0}, ("SVB011",), "x and y are mandatory"),
    ("geography-x-nan", GEOGRAPHY, {"x": "NaN", "y": 10.0}, ("BND004", "SVB011"), "without X there is no box"),
    ("geography-x-181", GEOGRAPHY, {"x": 181.0, "y": 10.0}, ("BND003",), "X is -180 to 180"),
    ("geography-x-minus-181", GEOGRAPHY, {"x": -181.0, "y": 10.0}, ("BND003",), "X is -180 to 180"),
    ("geography-y-91", GEOGRAPHY, {"x": 30.0, "y": 91.0}, ("BND003",), "Y is -90 to 90"),
    ("geography-y-minus-91", GEOGRAPHY, {"x": 30.0, "y": -90.5}, ("BND003",), "Y is -90 to 90"),
]
POINT_LENGTHS = [
    ("empty", "", "x and y are mandatory"),
    ("x-only", _point(30), "x and y are mandatory"),
    ("15-bytes", _point(30, 10)[:-2], "a byte of y is missing"),
    ("17-bytes", _point(30, 10) + "00", "a byte too many"),
    ("23-bytes", _point(30, 10, 5)[:-2], "a byte of z is missing"),
    ("40-bytes", _point(30, 10, 5, 7, 9), "five coordinates"),
    ("wkb", "0101000000" + _point(30, 10), "21 bytes: a bound is not a well-known binary"),
]

A, B = "$['a']", "$['b']"
INT32 = variant.primitive(5, struct.pack("<i", 34))
# name, type in the exchange form, value, the encoded value, note
FIELD_VALUES: list[tuple[str, str, Any, bytes, str]] = [
    ("int32", "int", 34, INT32, "variant type 5"),
    ("int64", "long", "34", variant.primitive(6, struct.pack("<q", 34)), "variant type 6"),
    ("double", "double", 1.0, variant.primitive(7, struct.pack("<d", 1.0)), "variant type 7"),
    ("float", "float", 1.0, variant.primitive(14, struct.pack("<f", 1.0)), "variant type 14"),
    ("true", "boolean", True, variant.primitive(1), "variant type 1"),
    ("false", "boolean", False, variant.primitive(2), "variant type 2"),
    ("date", "date", "2017-11-16", variant.primitive(11, struct.pack("<i", 17486)), "variant type 11"),
    ("timestamptz", "timestamptz", "2017-11-16T22:31:08.000001+00:00",
     variant.primitive(12, struct.pack("<q", 1510871468000001)), "variant type 12"),
    ("timestamp", "timestamp", "2017-11-16T22:31:08.000001",
     variant.primitive(13, struct.pack("<q", 1510871468000001)), "variant type 13"),
    ("binary", "binary", "000102FF", variant.primitive(15, struct.pack("<I", 4) + b"\x00\x01\x02\xff"),
     "variant type 15"),
    ("long-string", "string", "iceberg", variant.primitive(16, struct.pack("<I", 7) + b"iceberg"), "variant type 16"),
    ("short-string", "string", "iceberg", variant.short_string("iceberg"), "a short string"),
    ("time", "time", "22:31:08.000001", variant.primitive(17, struct.pack("<q", 81068000001)), "variant type 17"),
    ("timestamptz-ns", "timestamptz_ns", "2017-11-16T22:31:08.000001001+00:00",
     variant.primitive(18, struct.pack("<q", 1510871468000001001)), "variant type 18"),
    ("timestamp-ns", "timestamp_ns", "2017-11-16T22:31:08.000001001",
     variant.primitive(19, struct.pack("<q", 1510871468000001001)), "variant type 19"),
    ("uuid", "uuid", "f79c3e09-677c-4bbd-a479-3f349cb785e7",
     variant.primitive(20, bytes.fromhex("f79c3e09677c4bbda4793f349cb785e7")), "variant type 20, big-endian"),
]  # fmt: skip


def _hex(data: bytes) -> str:
    return data.hex().upper()


BAD_VARIANTS: list[tuple[str, bytes, tuple[str, ...], str]] = [
    ("empty", b"", ("BND009", "SVB012"), "no bytes"),
    ("metadata-only", variant.metadata([A]), ("BND009", "SVB012"), "the object is missing"),
    ("version-2", b"\x02" + variant.bound({A: INT32})[1:], ("BND009", "SVB012"), "the metadata is of version 1"),
    ("truncated-value", variant.bound({A: INT32})[:-1], ("BND009", "SVB012"), "the last byte is missing"),
    ("truncated-metadata", variant.metadata([A])[:5], ("BND009", "SVB012"), "a name is cut"),
    ("primitive", variant.metadata([]) + INT32, ("BND005", "SVB012"), "a bound is an object"),
    ("array", variant.metadata([]) + b"\x03\x01\x00\x05" + INT32, ("BND005", "SVB012"), "a bound is an object"),
    ("nested-object", variant.bound({A: variant.object_([0], [INT32])}), ("BND005",), "bounds of fields are primitive"),
    ("nested-array", variant.bound({A: b"\x03\x01\x00\x05" + INT32}), ("BND005",), "bounds of fields are primitive"),
    (
        "field-id-out-of-range",
        variant.metadata([A]) + variant.object_([1], [INT32]),
        ("BND009",),
        "the dictionary has no name 1",
    ),
    ("path-dot", variant.bound({"$.a": INT32}), ("BND005",), "not a normalized path"),
    ("path-double-quotes", variant.bound({'$["a"]': INT32}), ("BND005",), "a normalized path has single quotes"),
    ("path-bare", variant.bound({"a": INT32}), ("BND005",), "a path begins at the root"),
    ("path-empty", variant.bound({"": INT32}), ("BND005",), "a path begins at the root"),
    ("path-wildcard", variant.bound({"$[*]": INT32}), ("BND005",), "not a normalized path"),
    ("path-unclosed", variant.bound({"$['a'": INT32}), ("BND005",), "not a normalized path"),
]


def _chosen() -> list[tuple[str, str, Any, str]]:
    rows = [row for topic in TOPICS.values() for row in topic] + NOT_FINITE
    chosen = [row for row in rows if row[0] in CHOSEN]
    zeros = [(type_, value) for _, type_, value in ZEROS] + [("float", "NaN"), ("double", "NaN")]
    asked = [(type_, value) for _, type_, value, _ in chosen] + zeros
    return chosen + awkward.not_in(asked)


def _variants() -> tuple[list[Vector], list[Vector]]:
    origin = "derivation: the Variant encoding by tools/derive/variant.py"
    decode = [
        Vector(
            f"bound-decode-variant-{name}",
            ("BND005", "BND009", "SVB012"),
            {"type": "variant", "bytes": _hex(variant.bound({A: data}))},
            ok({A: {"type": type_, "value": value}}),
            origin,
            note,
        )
        for name, type_, value, data, note in FIELD_VALUES
    ]
    others: list[tuple[str, dict[str, bytes], tuple[str, ...], str]] = [
        ("root", {"$": INT32}, ("BND010",), "the root is uniformly primitive"),
        ("two-fields", {A: INT32, B: variant.short_string("x")}, ("BND005",), ""),
        ("dotted-name", {"$['user.name']": INT32}, ("BND005",), "one field whose name has a dot"),
        ("nested-path", {"$['location']['latitude']": INT32}, ("BND005",), ""),
        ("no-fields", {}, ("BND005", "BND011"), "bounds of any field are optional"),
        ("unicode-name", {"$['\u00e9\U0001f4b0']": INT32}, ("BND005",), "names are UTF-8"),
        ("long-name", {f"$['{'n' * 300}']": INT32}, ("BND005",), "offsets of names that take two bytes"),
        ("escaped-quote", {"$['it\\'s']": INT32}, ("BND005",), "a single quote is escaped"),
    ]
    for name, fields, codes, note in others:
        value = {
            path: {"type": "string", "value": "x"} if data[0] & 3 == 1 else {"type": "int", "value": 34}
            for path, data in fields.items()
        }
        decode.append(
            Vector(
                f"bound-decode-variant-{name}",
                (*codes, "BND009"),
                {"type": "variant", "bytes": _hex(variant.bound(fields))},
                ok(value),
                origin,
                note,
            )
        )
    sorted_ = variant.bound({A: INT32, B: variant.short_string("x")}, sorted_=True)
    decode.append(
        Vector(
            "bound-decode-variant-sorted-dictionary",
            ("BND009",),
            {"type": "variant", "bytes": _hex(sorted_)},
            ok({A: {"type": "int", "value": 34}, B: {"type": "string", "value": "x"}}),
            origin,
            "the flag of a sorted dictionary",
        )
    )
    small = [INT32, variant.primitive(3, b"\x22"), variant.primitive(4, b"\x22\x00")]
    encode = [
        Vector(
            f"bound-encode-variant-{name}",
            (*codes, "BND009", "SVB012"),
            {"type": "variant", "value": {path: {"type": "int", "value": 34}}},
            any_of(*(ok(_hex(variant.bound({path: data}, flag))) for flag in (False, True) for data in small)),
            origin,
            "any width of integer, with or without the flag of a sorted dictionary",
            ("E10",),
        )
        for name, path, codes in [
            ("field", A, ("BND005",)),
            ("root", "$", ("BND010",)),
            ("nested-path", "$['location']['latitude']", ("BND005",)),
            ("long-name", f"$['{'n' * 300}']", ("BND005",)),
        ]
    ]
    return encode, decode


def _geo() -> Iterator[VectorFile]:
    def vectors(operation: str) -> list[Vector]:
        encode = operation == "encode"
        xym = {"x": 30.0, "y": 10.0, "m": 7.0}
        # Which of all NaNs stands for no z is open: two signs, and the one that Go calls NaN.
        nans = [_point(30, 10, NAN, 7), _point(30, 10, -NAN, 7)]
        nans.append(nans[0].replace("000000000000F87F", "010000000000F87F"))
        return [
            Vector(
                f"bound-{operation}-geo-{name}",
                ("SVB011",),
                {"type": type_, "value": point} if encode else {"type": type_, "bytes": data},
                ok(data if encode else point),
                "derivation: the coordinates as 8-byte little-endian IEEE 754",
                note,
            )
            for name, type_, point, data, note in POINTS
        ] + [
            Vector(
                f"bound-{operation}-geo-xym",
                ("SVB011",),
                {"type": GEOMETRY, "value": xym} if encode else {"type": GEOMETRY, "bytes": _point(30, 10, NAN, 7)},
                any_of(*map(ok, nans)) if encode else ok(xym),
                "derivation: the coordinates as 8-byte little-endian IEEE 754, NaN for z",
                "x:y:NaN:m",
                ("B8",) if encode else (),
            ),
        ]

    yield _file("encode-geo", "bound.encode", BOUNDS, vectors("encode"))
    yield _file("decode-geo", "bound.decode", BOUNDS, vectors("decode"))
    yield _file(
        "encode-geo-refusals",
        "bound.encode",
        BOUNDS,
        [
            Vector(
                f"bound-refuse-{name}",
                codes,
                {"type": type_, "value": value},
                INVALID,
                f"spec: {BOUNDS if 'SVB011' in codes else GEO}",
                note,
            )
            for name, type_, value, codes, note in BAD_POINTS
            if "SVB011" in codes
        ],
    )
    yield _file(
        "encode-geography-range",
        "bound.encode",
        GEO,
        [
            Vector(f"bound-refuse-{name}", codes, {"type": type_, "value": value}, INVALID, f"spec: {GEO}", note)
            for name, type_, value, codes, note in BAD_POINTS
            if "SVB011" not in codes
        ],
    )
    yield _file(
        "decode-geo-refusals",
        "bound.decode",
        BOUNDS,
        [
            Vector(
                f"bound-refuse-decode-{type_.split('(')[0]}-{name}",
                ("SVB011",),
                {"type": type_, "bytes": data},
                INVALID,
                f"spec: {BOUNDS}",
                note,
            )
            for type_ in (GEOMETRY, GEOGRAPHY)
            for name, data, note in POINT_LENGTHS
        ],
    )


def _file(topic: str, operation: str, section: str, vectors: list[Vector]) -> VectorFile:
    return VectorFile(f"bounds/{topic}.json", operation, section, tuple(vectors))


def files() -> Iterator[VectorFile]:
    """The suite, a topic a file."""
    yield _file(
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
            for name, type_, value, note in _chosen()
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
        for name, type_, value, note in [*_chosen(), *((*zero, "the sign of zero") for zero in ZEROS)]
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
    yield _file("decode", "bound.decode", BOUNDS, decode)
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
    yield _file("zeros-and-nan", "bound.encode", FIELDS, zeros)
    yield _file(
        "promotions",
        "bound.decode",
        EVOLUTION,
        [
            Vector(
                f"bound-promoted-{name}",
                codes,
                {"type": type_, "bytes": data},
                ok(value),
                "derivation: the length shows the type at write time; its value, promoted",
                note,
            )
            for name, type_, data, value, codes, note in PROMOTED
        ],
    )
    yield _file(
        "promotion-refusals",
        "bound.decode",
        EVOLUTION,
        [
            Vector(
                f"bound-refuse-promotion-{name}",
                codes,
                {"type": type_, "bytes": data},
                INVALID,
                "spec: Schema Evolution",
                note,
            )
            for name, type_, data, codes, note in NOT_PROMOTED
        ],
    )
    taken = {(type_, data) for _, type_, data, *_ in NOT_PROMOTED}
    refused = [
        Vector(f"bound-refuse-length-{name.replace('[4]', '')}", (code(type_), "SVB013"),
               {"type": type_, "bytes": data},
               INVALID, "spec: Appendix D, binary single-value serialization", note)
        for name, type_, data, note in LENGTHS if (type_, data) not in taken
    ] + [
        Vector(f"bound-refuse-text-{name}", ("SVB005", "SVB013", "TYP021"), {"type": "string", "bytes": data}, INVALID,
               "spec: Primitive Types, strings are UTF-8", note)
        for name, data, note in TEXTS if name.startswith(("truncated", "surrogate", "overlong"))
    ] + [
        Vector(f"bound-refuse-unsupported-{name}", ("SVB009", "SVB013"), {"type": type_, "bytes": "22000000"}, INVALID,
               "spec: Appendix D, binary single-value serialization", f"{name} has no bounds")
        for name, (type_, _) in UNSUPPORTED.items()
    ]  # fmt: skip
    yield _file("decode-refusals", "bound.decode", BOUNDS, refused)
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
    yield _file("encode-refusals", "bound.encode", BOUNDS, bad)
    yield _file(
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
    yield from _geo()
    encode, decode = _variants()
    yield _file("encode-variant", "bound.encode", VARIANT, encode)
    yield _file("decode-variant", "bound.decode", VARIANT, decode)
    yield _file(
        "decode-variant-refusals",
        "bound.decode",
        VARIANT,
        [
            Vector(
                f"bound-refuse-variant-{name}",
                codes,
                {"type": "variant", "bytes": _hex(data)},
                INVALID,
                "spec: Bounds for Variant",
                note,
            )
            for name, data, codes, note in BAD_VARIANTS
        ],
    )

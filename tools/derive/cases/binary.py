"""Binary single values (Appendix D)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tools.derive import wkb
from tools.derive.cases.values import BAD_VALUES, EXPANDED_YEARS, MALFORMED, NOT_FINITE, TOPICS, UNSUPPORTED, Value
from tools.derive.encoding import describe, minimal_big_endian, single_value
from tools.derive.vector import INVALID, Vector, VectorFile, any_of, ok, refusals

SECTION = "Binary single-value serialization"
TABLE = "spec: Appendix D, binary single-value serialization"

_CODES = {
    "boolean": "SVB001",
    "int": "SVB002",
    "date": "SVB002",
    "long": "SVB003",
    "time": "SVB003",
    "timestamp": "SVB003",
    "timestamptz": "SVB003",
    "timestamp_ns": "SVB003",
    "timestamptz_ns": "SVB003",
    "float": "SVB004",
    "double": "SVB004",
    "string": "SVB005",
    "uuid": "SVB006",
    "fixed": "SVB007",
    "binary": "SVB007",
    "decimal": "SVB008",
    "geometry": "SVB010",
    "geography": "SVB010",
    "struct": "SVB009",
    "list": "SVB009",
    "map": "SVB009",
    "variant": "SVB009",
    "unknown": "SVB009",
}


def code(type_: Any) -> str:
    """Return the requirement for the serialization of a type."""
    name = type_["type"] if isinstance(type_, dict) else type_
    return _CODES[name.split("(")[0].split("[")[0]]


def hexadecimal(type_: str, value: Any) -> str:
    """Return the bytes of a value in the vectors' form."""
    return single_value(type_, value).hex().upper()


def _encode(rows: list[Value], prefix: str = "binary-encode") -> tuple[Vector, ...]:
    return tuple(
        Vector(
            f"{prefix}-{name}",
            (code(type_),),
            {"type": type_, "value": value},
            ok(hexadecimal(type_, value)),
            f"derivation: {describe(type_, value)}",
            note,
        )
        for name, type_, value, note in rows
    )


def _decode(rows: list[Value], prefix: str = "binary-decode") -> tuple[Vector, ...]:
    return tuple(
        Vector(
            f"{prefix}-{name}",
            (code(type_),),
            {"type": type_, "bytes": hexadecimal(type_, value)},
            ok(value),
            f"derivation: {describe(type_, value)}",
            note,
        )
        for name, type_, value, note in rows
    )


NAN = [
    ("float-quiet", "float", "0000C07F", "the canonical NaN"),
    ("float-negative", "float", "0000C0FF", "the sign of a NaN says nothing"),
    ("float-payload", "float", "0100C07F", "the other bits of a NaN have no meaning"),
    ("float-signaling", "float", "0100807F", "a signaling NaN is a NaN like others"),
    ("double-quiet", "double", "000000000000F87F", "the canonical NaN"),
    ("double-negative", "double", "000000000000F8FF", "the sign of a NaN says nothing"),
    ("double-payload", "double", "010000000000F87F", "the other bits of a NaN have no meaning"),
]

LENGTHS = [
    ("boolean-empty", "boolean", "", "a boolean is one byte"),
    ("boolean-2", "boolean", "0001", "a boolean is one byte"),
    *(
        (
            f"{type_.replace('_', '-')}-{length or 'empty'}",
            type_,
            "22" + "00" * (length - 1) if length else "",
            f"{type_} is {size} bytes",
        )
        for type_, size, lengths in [
            ("int", 4, (0, 1, 3, 5, 8)),
            ("date", 4, (0, 3, 5, 8)),
            ("float", 4, (0, 3, 5, 8)),
            ("long", 8, (0, 1, 7, 9, 16)),
            ("double", 8, (0, 7, 9)),
            ("time", 8, (0, 4, 7, 9)),
            ("timestamp", 8, (0, 7, 9)),
            ("timestamptz", 8, (0, 4, 7, 9)),
            ("timestamp_ns", 8, (0, 7, 9)),
            ("timestamptz_ns", 8, (0, 4, 7, 9)),
            ("uuid", 16, (0, 8, 15, 17)),
            ("fixed[4]", 4, (0, 3, 5)),
        ]
        for length in lengths
    ),
    ("decimal-empty", "decimal(9, 2)", "", "a value takes at least one byte"),
    ("decimal-17", "decimal(38, 0)", "01" + "00" * 16, "seventeen bytes hold more than 38 digits"),
]

TEXTS = [
    ("lone-continuation", "80", "a continuation byte without a start"),
    ("invalid-ff", "FF", "not a byte of UTF-8"),
    ("truncated-2", "61C3", "a character of two bytes is incomplete"),
    ("truncated-3", "E282", "a character of three bytes is incomplete"),
    ("truncated-4", "F09F92", "a character of four bytes is incomplete"),
    ("bad-continuation", "C328", "the second byte is not a continuation"),
    ("overlong-nul", "C080", "NUL in two bytes"),
    ("overlong-slash", "E080AF", "a slash in three bytes"),
    ("overlong-4", "F0808080", "four bytes for less than U+10000"),
    ("surrogate-d800", "EDA080", "a surrogate is not a character"),
    ("surrogate-dfff", "EDBFBF", "a surrogate is not a character"),
    ("surrogate-pair", "EDA0BDEDB2B0", "a pair of surrogates (CESU-8) is not the astral character"),
    ("above-10ffff", "F4908080", "beyond the last code point"),
    ("utf-16", "FFFE6900", "UTF-16 with its mark"),
]

RANGES = [
    ("time-minus-1", "time", "FFFFFFFFFFFFFFFF", ("SVB003", "TYP016"), "before midnight"),
    ("time-24h", "time", "0060D71D14000000", ("SVB003", "TYP016"), "86400000000 us: the next day"),
    ("time-max", "time", "FFFFFFFFFFFFFF7F", ("SVB003", "TYP016"), "far beyond a day"),
    ("decimal-100-of-2-digits", "decimal(2, 0)", "64", ("SVB008", "TYP013"), "100 has three digits"),
    ("decimal-minus-100-of-2-digits", "decimal(2, 0)", "9C", ("SVB008", "TYP013"), "-100 has three digits"),
    ("decimal-10-38", "decimal(38, 0)", minimal_big_endian(10**38).hex().upper(), ("SVB008", "TYP013"), "39 digits"),
    ("decimal-minus-2-127", "decimal(38, 0)", "80" + "00" * 15, ("SVB008", "TYP013"), "sixteen bytes, but 39 digits"),
]

OPEN_LENGTHS = [
    ("long-of-4", "long", "22000000", "34"),
    ("double-of-4", "double", "0000803F", 1.0),
    ("timestamp-of-4", "timestamp", "01000000", "1970-01-02T00:00:00.000000"),
    ("timestamp-ns-of-4", "timestamp_ns", "01000000", "1970-01-02T00:00:00.000000000"),
]

PADDED = [
    ("decimal-padded-zero", "decimal(9, 2)", "0000", "0.00"),
    ("decimal-padded-14-20", "decimal(9, 2)", "0000058C", "14.20"),
    ("decimal-padded-minus-1", "decimal(9, 2)", "FFFF", "-0.01"),
    ("decimal-padded-minus-128", "decimal(9, 0)", "FF80", "-128"),
]

CRS84 = "geometry(OGC:CRS84)"
SPHERE = "geography(OGC:CRS84, spherical)"
SHAPES: list[tuple[str, str, str, Any]] = [
    ("point", CRS84, "POINT (30 10)", lambda order: wkb.point(order, "", (30, 10))),
    ("point-z", CRS84, "POINT Z (30 10 5)", lambda order: wkb.point(order, "Z", (30, 10, 5))),
    ("point-m", CRS84, "POINT M (30 10 7)", lambda order: wkb.point(order, "M", (30, 10, 7))),
    ("point-zm", CRS84, "POINT ZM (30 10 5 7)", lambda order: wkb.point(order, "ZM", (30, 10, 5, 7))),
    ("point-fraction", CRS84, "POINT (-122.5 47.25)", lambda order: wkb.point(order, "", (-122.5, 47.25))),
    ("line", CRS84, "LINESTRING (30 10, 10 30)", lambda order: wkb.line_string(order, "", [(30, 10), (10, 30)])),
    (
        "polygon",
        CRS84,
        "POLYGON ((0 0, 4 0, 4 4, 0 0))",
        lambda order: wkb.polygon(order, "", [[(0, 0), (4, 0), (4, 4), (0, 0)]]),
    ),
    ("geography-point", SPHERE, "POINT (30 10)", lambda order: wkb.point(order, "", (30, 10))),
]

POINT = wkb.point("<", "", (30, 10)).hex().upper()
BAD_SHAPES = [
    ("empty", "", "no bytes are not a geometry"),
    ("truncated", POINT[:-2], "the last byte is missing"),
    ("trailing", POINT + "00", "a byte after the geometry"),
    ("byte-order-2", "02" + POINT[2:], "the byte order is 0 or 1"),
    ("type-0", "0100000000" + POINT[10:], "type 0 is not instantiable"),
    ("type-99", "0163000000" + POINT[10:], "no such type"),
    ("ewkb-srid", "0101000020E6100000" + POINT[10:], "the SRID flag is an extension (EWKB)"),
    ("count-too-large", "0102000000FFFFFFFF" + POINT[10:], "the declared points are missing"),
]


def _geo() -> tuple[list[Vector], list[Vector]]:
    encode, decode = [], []
    for name, type_, text, shape in SHAPES:
        little, big = (shape(order).hex().upper() for order in "<>")
        origin = "derivation: well-known binary by tools/derive/wkb.py, ISO type codes, IEEE 754 coordinates"
        encode.append(
            Vector(
                f"binary-encode-geo-{name}",
                ("NOT010", "SVB010"),
                {"type": type_, "value": text},
                any_of(ok(little), ok(big)),
                origin,
                "either byte order is well-known binary",
                ("E3",),
            )
        )
        for order, data in (("little", little), ("big", big)):
            decode.append(
                Vector(
                    f"binary-decode-geo-{name}-{order}-endian",
                    ("NOT010", "SVB010"),
                    {"type": type_, "bytes": data},
                    ok(text),
                    origin,
                )
            )
    return encode, decode


def files() -> Iterator[VectorFile]:
    """Yield the suite, one file per topic."""

    def file(topic: str, operation: str, vectors: tuple[Vector, ...] | list[Vector]) -> VectorFile:
        return VectorFile(f"single-values-binary/{topic}.json", operation, SECTION, tuple(vectors))

    for topic, rows in TOPICS.items():
        extra = {"numbers": NOT_FINITE, "dates-and-times": EXPANDED_YEARS}.get(topic, [])
        yield file(f"encode-{topic}", "single-value.encode", _encode([*rows, *extra]))
        yield file(f"decode-{topic}", "single-value.decode", _decode([*rows, *extra]))
    other = (
        [
            Vector(
                f"binary-decode-nan-{name}",
                ("SVB004",),
                {"type": type_, "bytes": data},
                ok("NaN"),
                "derivation: IEEE 754, exponent all ones and a fraction that is not zero",
                note,
            )
            for name, type_, data, note in NAN
        ]
        + [
            Vector(
                f"binary-decode-boolean-{data.lower()}",
                ("SVB001",),
                {"type": "boolean", "bytes": data},
                {"ok": True},
                TABLE,
                "any byte but zero is true",
            )
            for data in ("02", "7F", "80", "FF")
        ]
        + [
            Vector(
                f"binary-decode-open-{name}",
                (code(type_),),
                {"type": type_, "bytes": data},
                any_of(INVALID, ok(value)),
                "derivation: the type's table row asks for eight bytes; the promoted value is int, float or date read "
                "from four",
                "a bound may be of the type before a promotion, a single value may not; implementations "
                "that have one codec for both accept it",
                ("E2",),
            )
            for name, type_, data, value in OPEN_LENGTHS
        ]
        + [
            Vector(
                f"binary-decode-open-{name}",
                ("SVB008",),
                {"type": type_, "bytes": data},
                any_of(INVALID, ok(value)),
                "derivation: two's complement with leading sign bytes",
                "a writer uses the minimum number of bytes; the text does not say whether a reader takes more",
                ("E1",),
            )
            for name, type_, data, value in PADDED
        ]
    )
    yield file("decode-special", "single-value.decode", other)
    nan = [
        Vector(
            "binary-encode-nan-float",
            ("SVB004",),
            {"type": "float", "value": "NaN"},
            any_of(ok("0000C07F"), ok("0000C0FF")),
            "derivation: a quiet NaN of either sign",
            "no bits of a NaN are prescribed",
            ("B8",),
        ),
        Vector(
            "binary-encode-nan-double",
            ("SVB004",),
            {"type": "double", "value": "NaN"},
            any_of(ok("000000000000F87F"), ok("000000000000F8FF")),
            "derivation: a quiet NaN of either sign",
            "no bits of a NaN are prescribed",
            ("B8",),
        ),
    ]
    yield file("encode-special", "single-value.encode", nan)
    encode, decode = _geo()
    yield file("encode-geo", "single-value.encode", encode)
    yield file("decode-geo", "single-value.decode", decode)
    refused = (
        [
            Vector(
                f"binary-decode-length-{name.replace('[4]', '')}",
                (code(type_),),
                {"type": type_, "bytes": data},
                INVALID,
                TABLE,
                note,
            )
            for name, type_, data, note in LENGTHS
        ]
        + [
            Vector(
                f"binary-decode-text-{name}",
                ("SVB005", "TYP021"),
                {"type": "string", "bytes": data},
                INVALID,
                "spec: Primitive Types, strings are UTF-8",
                note,
            )
            for name, data, note in TEXTS
        ]
        + [
            Vector(
                f"binary-decode-range-{name}",
                codes,
                {"type": type_, "bytes": data},
                INVALID,
                "spec: Primitive Types",
                note,
            )
            for name, type_, data, codes, note in RANGES
        ]
        + refusals(
            "binary-decode-geo",
            ("NOT010", "SVB010"),
            ((name, {"type": CRS84, "bytes": data}, note) for name, data, note in BAD_SHAPES),
            "spec: Appendix G, well-known binary",
        )
        + refusals(
            "binary-decode-unsupported",
            ("SVB009",),
            (
                (name, {"type": type_, "bytes": "22000000"}, f"{name} has no binary form")
                for name, type_ in [
                    *((name, type_) for name, (type_, _) in UNSUPPORTED.items()),
                    ("variant", "variant"),
                    ("unknown", "unknown"),
                ]
            ),
            TABLE,
        )
    )
    yield file("decode-refusals", "single-value.decode", refused)
    nested = [
        (name, {"type": type_, "value": value}, f"{name} has no binary form")
        for name, (type_, value) in UNSUPPORTED.items()
    ]
    nested.append(
        ("variant", {"type": "variant", "value": {"metadata": "010000", "value": "0C22"}}, "variant has no binary form")
    )
    yield file(
        "encode-refusals",
        "single-value.encode",
        [
            *refusals("binary-encode-unsupported", ("SVB009",), nested, TABLE),
            *(
                Vector(
                    f"binary-encode-bad-{name}",
                    (code(type_), rule),
                    {"type": type_, "value": value},
                    INVALID,
                    "spec: Primitive Types",
                    note,
                    tags=MALFORMED,
                )
                for name, type_, value, rule, note in BAD_VALUES
            ),
        ],
    )

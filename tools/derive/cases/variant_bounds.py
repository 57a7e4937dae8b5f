"""Bounds of variants (Bounds for Variant)."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

from tools.derive import variant
from tools.derive.cases.bounds_file import bounds_file
from tools.derive.vector import INVALID, Vector, VectorFile, any_of, ok

VARIANT = "Bounds for Variant"

A, B = "$['a']", "$['b']"


def _primitive(number: int, form: str, value: float) -> bytes:
    """Return a variant of a primitive type, by its number and the form of its little-endian value."""
    return variant.primitive(number, struct.pack(f"<{form}", value))


INT32 = _primitive(5, "i", 34)


# name, type in the exchange form, value, the encoded value, note
FIELD_VALUES: list[tuple[str, str, Any, bytes, str]] = [
    ("int32", "int", 34, INT32, "variant type 5"),
    ("int64", "long", "34", _primitive(6, "q", 34), "variant type 6"),
    ("double", "double", 1.0, _primitive(7, "d", 1.0), "variant type 7"),
    ("float", "float", 1.0, _primitive(14, "f", 1.0), "variant type 14"),
    ("true", "boolean", True, variant.primitive(1), "variant type 1"),
    ("false", "boolean", False, variant.primitive(2), "variant type 2"),
    ("date", "date", "2017-11-16", _primitive(11, "i", 17486), "variant type 11"),
    (
        "timestamptz",
        "timestamptz",
        "2017-11-16T22:31:08.000001+00:00",
        _primitive(12, "q", 1510871468000001),
        "variant type 12",
    ),
    ("timestamp", "timestamp", "2017-11-16T22:31:08.000001", _primitive(13, "q", 1510871468000001), "variant type 13"),
    (
        "binary",
        "binary",
        "000102FF",
        variant.primitive(15, struct.pack("<I", 4) + b"\x00\x01\x02\xff"),
        "variant type 15",
    ),
    ("long-string", "string", "iceberg", variant.primitive(16, struct.pack("<I", 7) + b"iceberg"), "variant type 16"),
    ("short-string", "string", "iceberg", variant.short_string("iceberg"), "a short string"),
    ("time", "time", "22:31:08.000001", _primitive(17, "q", 81068000001), "variant type 17"),
    (
        "timestamptz-ns",
        "timestamptz_ns",
        "2017-11-16T22:31:08.000001001+00:00",
        _primitive(18, "q", 1510871468000001001),
        "variant type 18",
    ),
    (
        "timestamp-ns",
        "timestamp_ns",
        "2017-11-16T22:31:08.000001001",
        _primitive(19, "q", 1510871468000001001),
        "variant type 19",
    ),
    (
        "uuid",
        "uuid",
        "f79c3e09-677c-4bbd-a479-3f349cb785e7",
        variant.primitive(20, bytes.fromhex("f79c3e09677c4bbda4793f349cb785e7")),
        "variant type 20, big-endian",
    ),
]


def _hex(data: bytes) -> str:
    return data.hex().upper()


BAD_VARIANTS: list[tuple[str, bytes, tuple[str, ...], str]] = [
    ("empty", b"", ("BND009", "SVB012"), "no bytes"),
    ("metadata-only", variant.metadata([A]), ("BND009", "SVB012"), "the object is missing"),
    ("version-2", b"\x02" + variant.bound({A: INT32})[1:], ("BND009", "SVB012"), "the metadata is of version 1"),
    ("truncated-value", variant.bound({A: INT32})[:-1], ("BND009", "SVB012"), "the last byte is missing"),
    ("truncated-metadata", variant.metadata([A])[:5], ("BND009", "SVB012"), "a name is truncated"),
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
            "the dictionary has the flag of sorted names",
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


def files() -> Iterator[VectorFile]:
    """Derive the vector files."""
    encode, decode = _variants()
    yield bounds_file("encode-variant", "bound.encode", VARIANT, encode)
    yield bounds_file("decode-variant", "bound.decode", VARIANT, decode)
    yield bounds_file(
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

"""Type strings and nested types in JSON (Appendix C, Schemas)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tools.derive import awkward
from tools.derive.cases.json_nested import LIST, MAP, STRUCT
from tools.derive.cases.type_strings import NOT_IN_RANGE, NOT_JSON_TYPES, NOT_TYPES, STRINGS
from tools.derive.vector import INVALID, Vector, VectorFile, any_of, ok

SECTION = "Schemas"
TABLE = "spec: Appendix C, Schemas"

PLAIN = (
    "boolean",
    "int",
    "long",
    "float",
    "double",
    "date",
    "time",
    "timestamp",
    "timestamptz",
    "timestamp_ns",
    "timestamptz_ns",
    "string",
    "uuid",
    "binary",
    "unknown",
    "variant",
)

FIELD: dict[str, Any] = {"id": 1, "name": "a", "required": True, "type": "int"}


def struct(*fields: Any) -> dict[str, Any]:
    """Return a struct with the given fields."""
    return {"type": "struct", "fields": list(fields)}


def without(json: dict[str, Any], name: str) -> dict[str, Any]:
    """Return an object without one of its members."""
    return {member: value for member, value in json.items() if member != name}


SPEC_STRUCT = struct(
    {
        "id": 1,
        "name": "id",
        "required": True,
        "type": "uuid",
        "initial-default": "0db3e2a8-9d1d-42b9-aa7b-74ebe558dceb",
        "write-default": "ec5911be-b0a7-458c-8438-c9a3e53cffae",
    },
    {
        "id": 2,
        "name": "data",
        "required": False,
        "type": {"type": "list", "element-id": 3, "element-required": True, "element": "string"},
    },
)
SPEC_LIST = {"type": "list", "element-id": 3, "element-required": True, "element": "string"}
SPEC_MAP = {"type": "map", "key-id": 4, "key": "string", "value-id": 5, "value-required": False, "value": "double"}

# name, JSON, the same type in the order of the tables, codes, note
NESTED: list[tuple[str, dict[str, Any], dict[str, Any], tuple[str, ...], str]] = [
    ("list-spec", SPEC_LIST, SPEC_LIST, ("JSC007", "TYP003"), "printed in the table"),
    ("map-spec", SPEC_MAP, SPEC_MAP, ("JSC007", "TYP004"), "printed in the table"),
    ("struct", STRUCT, STRUCT, ("JSC006", "TYP002"), ""),
    ("struct-empty", struct(), struct(), ("JSC006",), "no field is required"),
    (
        "struct-type-last",
        {"fields": [FIELD], "type": "struct"},
        struct(FIELD),
        ("JSC006",),
        "JSON has no order of members",
    ),
    (
        "struct-field-order",
        struct(dict(reversed(FIELD.items()))),
        struct(FIELD),
        ("JSC006",),
        "JSON has no order of members",
    ),
    ("list-reversed", dict(reversed(SPEC_LIST.items())), SPEC_LIST, ("JSC007",), "JSON has no order of members"),
    ("map-reversed", dict(reversed(SPEC_MAP.items())), SPEC_MAP, ("JSC007",), "JSON has no order of members"),
    ("struct-id-0", struct({**FIELD, "id": 0}), struct({**FIELD, "id": 0}), ("TYP002",), "an id may be 0"),
    (
        "struct-doc",
        struct({**FIELD, "doc": "the first"}),
        struct({**FIELD, "doc": "the first"}),
        ("JSC006", "TYP002"),
        "the doc string is kept",
    ),
    (
        "struct-doc-unicode",
        struct({**FIELD, "doc": "\u00e9 \U0001f4b0"}),
        struct({**FIELD, "doc": "\u00e9 \U0001f4b0"}),
        ("JSC006",),
        "",
    ),
    (
        "struct-name-unicode",
        struct({**FIELD, "name": "\u00e9\U0001f4b0"}),
        struct({**FIELD, "name": "\u00e9\U0001f4b0"}),
        ("TYP002",),
        "any name",
    ),
    (
        "struct-awkward-names",
        struct(*({**FIELD, "id": id_, "name": name} for id_, name in enumerate(awkward.NAMES, 1))),
        struct(*({**FIELD, "id": id_, "name": name} for id_, name in enumerate(awkward.NAMES, 1))),
        ("TYP002",),
        "names are not trimmed, normalised or unescaped",
    ),
    ("struct-name-dot", struct({**FIELD, "name": "a.b"}), struct({**FIELD, "name": "a.b"}), ("TYP002",), "any name"),
    (
        "struct-name-case",
        struct(FIELD, {**FIELD, "id": 2, "name": "A"}),
        struct(FIELD, {**FIELD, "id": 2, "name": "A"}),
        ("TYP002",),
        "names differ by case",
    ),
    (
        "struct-in-struct",
        struct({"id": 9, "name": "s", "required": False, "type": STRUCT}),
        struct({"id": 9, "name": "s", "required": False, "type": STRUCT}),
        ("JSC006",),
        "",
    ),
    (
        "list-of-list",
        {**LIST, "element": {**LIST, "element-id": 6}},
        {**LIST, "element": {**LIST, "element-id": 6}},
        ("JSC007",),
        "",
    ),
    ("list-of-struct", {**LIST, "element": STRUCT}, {**LIST, "element": STRUCT}, ("JSC007",), ""),
    ("map-of-struct-key", {**MAP, "key": STRUCT}, {**MAP, "key": STRUCT}, ("TYP004",), "a key may be any type"),
    (
        "map-of-map",
        {**MAP, "value": {**MAP, "key-id": 6, "value-id": 7}},
        {**MAP, "value": {**MAP, "key-id": 6, "value-id": 7}},
        ("JSC007",),
        "",
    ),
    (
        "struct-unknown-optional",
        struct({**FIELD, "required": False, "type": "unknown"}),
        struct({**FIELD, "required": False, "type": "unknown"}),
        ("TYP025",),
        "unknown is optional",
    ),
    (
        "struct-variant",
        struct({**FIELD, "type": "variant"}),
        struct({**FIELD, "type": "variant"}),
        ("JSC006", "TYP006"),
        "",
    ),
    (
        "struct-fixed-inside",
        struct({**FIELD, "type": "fixed[ 4 ]"}),
        struct({**FIELD, "type": "fixed[4]"}),
        ("JSC005",),
        "white space around parameters, inside a struct",
    ),
]

DEFAULTS: list[tuple[str, Any]] = [
    ("boolean", True),
    ("int", -2147483648),
    ("long", 9223372036854775807),
    ("float", 1.5),
    ("double", -0.25),
    ("decimal(9, 2)", "14.20"),
    ("date", "1969-12-31"),
    ("time", "22:31:08.123456"),
    ("timestamp", "2017-11-16T22:31:08.123456"),
    ("timestamptz", "2017-11-16T22:31:08.123456+00:00"),
    ("timestamp_ns", "2017-11-16T22:31:08.123456789"),
    ("timestamptz_ns", "2017-11-16T22:31:08.123456789+00:00"),
    ("string", ""),
    ("uuid", "f79c3e09-677c-4bbd-a479-3f349cb785e7"),
    ("fixed[4]", "00010203"),
    ("binary", "00010203"),
]
BAD_DEFAULTS: list[tuple[str, Any, Any, tuple[str, ...], str]] = [
    ("boolean-string", "boolean", "true", ("JSC008",), "must be a JSON boolean"),
    ("int-2-31", "int", 2147483648, ("JSC008", "TYP009"), "more than 32 bits"),
    ("int-fraction", "int", 1.5, ("JSC008", "TYP009"), "not an integer"),
    ("int-string", "int", "34", ("JSC008",), "must be a JSON int"),
    ("long-2-63", "long", 9223372036854775808, ("JSC008", "TYP010"), "more than 64 bits"),
    ("long-2-64-minus-1", "long", 18446744073709551615, ("JSC008", "TYP010"), "more than 64 bits, and not -1"),
    ("double-nan", "double", "NaN", ("JSC008",), "JSON has no NaN"),
    ("float-too-large", "float", 1e39, ("JSC008", "TYP011"), "beyond the largest float"),
    ("decimal-too-precise", "decimal(2, 1)", "99.9", ("JSC008", "TYP013"), "three digits in a precision of two"),
    ("decimal-scale", "decimal(9, 2)", "14.2", ("JSC008",), "one digit after the point of a scale of two"),
    ("decimal-number", "decimal(9, 2)", 14.2, ("JSC008",), "must be a JSON string"),
    ("date-february-30", "date", "2017-02-30", ("JSC008", "TYP015"), "no such day"),
    ("date-number", "date", 17486, ("JSC008",), "must be a JSON string"),
    ("time-24h", "time", "24:00:00.000000", ("JSC008", "TYP016"), "a time of day ends before 24:00"),
    ("timestamp-zone", "timestamp", "2017-11-16T22:31:08.123456+00:00", ("JSC008",), "it has no zone"),
    ("timestamptz-no-zone", "timestamptz", "2017-11-16T22:31:08.123456", ("JSC008",), "the offset is missing"),
    ("timestamp-ns-2-63", "timestamp_ns", "2262-04-11T23:47:16.854775808", ("JSC008", "TYP019"), "2^63 ns"),
    ("uuid-short", "uuid", "f79c3e09-677c-4bbd-a479-3f349cb785e", ("JSC008",), "a digit is missing"),
    ("fixed-short", "fixed[4]", "000102", ("JSC008", "TYP023"), "three bytes in a fixed[4]"),
    ("binary-odd", "binary", "001", ("JSC008",), "two digits a byte"),
    ("string-number", "string", 34, ("JSC008",), "must be a JSON string"),
    ("variant", "variant", "a", ("DEF008",), "the default of a variant is null"),
    ("geometry", "geometry(OGC:CRS84)", "POINT (30 10)", ("DEF008",), "the default of a geometry is null"),
    (
        "geography",
        "geography(OGC:CRS84, spherical)",
        "POINT (30 10)",
        ("DEF008",),
        "the default of a geography is null",
    ),
    ("unknown", "unknown", 34, ("DEF008",), "the default of an unknown is null"),
    (
        "struct-not-empty",
        struct({**FIELD, "id": 2, "required": False}),
        {"2": 34},
        ("DEF009",),
        "the default of a struct is empty or null",
    ),
]

BAD_STRUCTS: list[tuple[str, Any, tuple[str, ...], str]] = [
    ("no-fields", {"type": "struct"}, ("JSC006",), "the member `fields` is missing"),
    ("fields-object", {"type": "struct", "fields": {"1": FIELD}}, ("JSC006",), "`fields` is a list"),
    ("fields-null", {"type": "struct", "fields": None}, ("JSC006",), "`fields` is a list"),
    ("field-string", struct("a"), ("JSC006",), "a field is an object"),
    ("field-null", struct(None), ("JSC006",), "a field is an object"),
    *((f"no-{name}", struct(without(FIELD, name)), ("JSC006",), f"the member `{name}` is missing") for name in FIELD),
    ("id-string", struct({**FIELD, "id": "1"}), ("JSC006",), "an id is an integer"),
    ("id-fraction", struct({**FIELD, "id": 1.5}), ("JSC006",), "an id is an integer"),
    ("id-true", struct({**FIELD, "id": True}), ("JSC006",), "an id is an integer"),
    ("id-null", struct({**FIELD, "id": None}), ("JSC006",), "an id is an integer"),
    ("id-2-31", struct({**FIELD, "id": 2147483648}), ("JSC006",), "an id is a 32-bit integer"),
    ("name-number", struct({**FIELD, "name": 1}), ("JSC006",), "a name is a string"),
    ("name-null", struct({**FIELD, "name": None}), ("JSC006",), "a name is a string"),
    ("required-string", struct({**FIELD, "required": "true"}), ("JSC006",), "`required` is a boolean"),
    ("required-number", struct({**FIELD, "required": 1}), ("JSC006",), "`required` is a boolean"),
    ("required-null", struct({**FIELD, "required": None}), ("JSC006",), "`required` is a boolean"),
    ("doc-number", struct({**FIELD, "doc": 34}), ("JSC006",), "a doc string is a string"),
    ("type-unknown-name", struct({**FIELD, "type": "integer"}), ("JSC003", "JSC006"), "no such type"),
    ("type-null", struct({**FIELD, "type": None}), ("JSC003", "JSC006"), "a type is a string or an object"),
    ("unknown-required", struct({**FIELD, "type": "unknown"}), ("TYP025",), "unknown is optional"),
    (
        "deep-no-id",
        struct({**FIELD, "type": struct(without({**FIELD, "id": 2}, "id"))}),
        ("JSC006",),
        "the member `id` is missing, one level down",
    ),
]
BAD_LISTS_AND_MAPS: list[tuple[str, Any, tuple[str, ...], str]] = [
    *(
        (f"list-no-{name}", without(SPEC_LIST, name), ("JSC007",), f"the member `{name}` is missing")
        for name in SPEC_LIST
        if name != "type"
    ),
    *(
        (f"map-no-{name}", without(SPEC_MAP, name), ("JSC007",), f"the member `{name}` is missing")
        for name in SPEC_MAP
        if name != "type"
    ),
    ("list-id-string", {**LIST, "element-id": "3"}, ("JSC007",), "an id is an integer"),
    ("list-required-string", {**LIST, "element-required": "yes"}, ("JSC007",), "`element-required` is a boolean"),
    ("list-required-null", {**LIST, "element-required": None}, ("JSC007",), "`element-required` is a boolean"),
    ("list-element-unknown-name", {**LIST, "element": "integer"}, ("JSC003", "JSC007"), "no such type"),
    ("list-element-null", {**LIST, "element": None}, ("JSC003", "JSC007"), "a type is a string or an object"),
    ("map-key-id-string", {**MAP, "key-id": "4"}, ("JSC007",), "an id is an integer"),
    ("map-value-id-null", {**MAP, "value-id": None}, ("JSC007",), "an id is an integer"),
    ("map-required-number", {**MAP, "value-required": 1}, ("JSC007",), "`value-required` is a boolean"),
    ("map-key-unknown-name", {**MAP, "key": "varchar"}, ("JSC003", "JSC007"), "no such type"),
    ("map-value-list", {**MAP, "value": ["int"]}, ("JSC003", "JSC007"), "a type is a string or an object"),
]


def _file(topic: str, vectors: list[Vector], section: str = SECTION) -> VectorFile:
    return VectorFile(f"types/{topic}.json", "type.parse", section, tuple(vectors))


def _refusal(prefix: str, codes: tuple[str, ...], name: str, json: Any, note: str) -> Vector:
    return Vector(f"type-refuse-{prefix}{name}", codes, {"type": json}, INVALID, TABLE, note)


def _column(type_: Any, member: str, default: Any, required: bool = False) -> dict[str, Any]:
    return struct({"id": 1, "name": "a", "required": required, "type": type_, member: default})


def _by_section(codes: tuple[str, ...]) -> str:
    """Return the section of the first requirement of a refusal."""
    headings = {
        "TYP002": "Nested Types",
        "TYP003": "Nested Types",
        "TYP004": "Nested Types",
        "TYP025": "Primitive Types",
        "TYP013": "Primitive Types",
        "TYP035": "Edge-Interpolation Algorithm",
        "DEF008": "Default values",
        "DEF009": "Default values",
    }
    return next((headings[code] for code in codes if code in headings and "JSC" not in "".join(codes)), SECTION)


def _split(topic: str, vectors: list[Vector]) -> Iterator[VectorFile]:
    """Yield the vectors of a topic by section."""
    sections: dict[str, list[Vector]] = {}
    for vector in vectors:
        sections.setdefault(_by_section(vector.requirements), []).append(vector)
    for section, rows in sections.items():
        yield _file(topic, rows, section)


def files() -> Iterator[VectorFile]:
    """Yield the suite, one file per topic."""
    strings = [
        Vector(f"type-{name.replace('_', '-')}", ("JSC003", "JSC004"), {"type": name}, ok(name), TABLE)
        for name in PLAIN
    ] + [
        Vector(
            f"type-{name}",
            (*codes, "JSC003") if "JSC003" not in codes else codes,
            {"type": text},
            expect,
            TABLE
            if "open" not in note and "does not say" not in note
            else "derivation: each reading that the text leaves room for",
            note,
            contradiction,
        )
        for name, text, expect, codes, note, contradiction in STRINGS
    ]
    yield _file("strings", strings)
    nested = [
        Vector(f"type-{name}", codes, {"type": json}, ok(canonical), TABLE, note)
        for name, json, canonical, codes, note in NESTED
    ]
    yield from _split("nested", nested)
    defaults = [
        Vector(
            "type-struct-spec",
            ("JSC006", "JSC008"),
            {"type": SPEC_STRUCT},
            ok(SPEC_STRUCT),
            TABLE,
            "printed in the table, both defaults",
        )
    ]
    for type_, value in DEFAULTS:
        slug = type_.split("(")[0].split("[")[0].replace("_", "-")
        member = "initial-default" if type_ in ("int", "string", "timestamp_ns") else "write-default"
        json = _column(type_, member, value)
        forms = [ok(json)]
        if "(" in type_:
            forms.append(ok(_column(type_.replace(" ", ""), member, value)))
        defaults.append(
            Vector(
                f"type-default-{slug}",
                ("JSC008",),
                {"type": json},
                any_of(*forms),
                TABLE,
                "the default is kept",
                ("B12",) if "(" in type_ else (),
            )
        )
    yield _file("defaults", defaults)
    refused = [_refusal("", ("JSC003",), name, text, note) for name, text, note in NOT_TYPES]
    refused += [_refusal("", ("JSC003",), name, json, note) for name, json, note in NOT_JSON_TYPES]
    yield _file("refusals-strings", refused)
    yield from _split(
        "refusals-parameters", [_refusal("", (code,), name, text, note) for name, text, code, note in NOT_IN_RANGE]
    )
    refused = [_refusal("struct-", codes, name, json, note) for name, json, codes, note in BAD_STRUCTS]
    refused += [_refusal("", codes, name, json, note) for name, json, codes, note in BAD_LISTS_AND_MAPS]
    yield from _split("refusals-nested", refused)
    refused = [
        _refusal("default-", codes, name, _column(type_, "initial-default", value), note)
        for name, type_, value, codes, note in BAD_DEFAULTS
    ]
    yield from _split("refusals-defaults", refused)

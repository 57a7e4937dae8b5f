"""Type strings and nested types in JSON (Appendix C, Schemas)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tools.derive import awkward
from tools.derive.cases.json_nested import LIST, MAP, STRUCT
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


def _decimal(precision: int, scale: int) -> dict[str, Any]:
    return any_of(ok(f"decimal({precision}, {scale})"), ok(f"decimal({precision},{scale})"))


CRS84_SPHERICAL = ("geography(OGC:CRS84, spherical)", "geography", "geography(OGC:CRS84)")
"""The forms of the geography type whose parameters are both the defaults."""

# name, type, outcome, codes, note, contradictions
STRINGS: list[tuple[str, str, dict[str, Any], tuple[str, ...], str, tuple[str, ...]]] = [
    ("decimal-9-2", "decimal(9,2)", _decimal(9, 2), ("JSC003", "JSC004"), "which of the two is canonical is open",
     ("B12",)),
    ("decimal-9-2-spaced", "decimal(9, 2)", _decimal(9, 2), ("JSC003", "JSC004"),
     "which of the two is canonical is open", ("B12",)),
    ("decimal-9-2-spaces", "decimal( 9 , 2 )", _decimal(9, 2), ("JSC005",), "white space around parameters", ("B12",)),
    ("decimal-9-2-tab", "decimal(9,\t2)", _decimal(9, 2), ("JSC005",), "white space around separators", ("B12",)),
    ("decimal-38-0", "decimal(38,0)", _decimal(38, 0), ("JSC003", "TYP013"), "the largest precision", ("B12",)),
    ("decimal-38-38", "decimal(38,38)", _decimal(38, 38), ("JSC003", "TYP013"), "", ("B12",)),
    ("decimal-1-0", "decimal(1,0)", _decimal(1, 0), ("JSC003", "TYP013"), "", ("B12",)),
    ("decimal-9-minus-20", "decimal(9, -20)", any_of(*_decimal(9, -20)["any_of"], INVALID), ("JSC003",),
     "Appendix D has values of a negative scale; whether a type string has one the text does not say", ("B12", "E8")),
    ("decimal-5-10", "decimal(5, 10)", any_of(*_decimal(5, 10)["any_of"], INVALID), ("JSC003",),
     "whether a scale may exceed the precision the text does not say", ("B12", "E8")),
    ("decimal-0-0", "decimal(0, 0)", any_of(INVALID, *_decimal(0, 0)["any_of"]), ("TYP013",),
     "whether a precision may be zero the text does not say", ("B12", "E8")),
    ("fixed-16", "fixed[16]", ok("fixed[16]"), ("JSC003", "JSC004"), "square brackets", ()),
    ("fixed-1", "fixed[1]", ok("fixed[1]"), ("JSC003", "JSC004"), "", ()),
    ("fixed-1048576", "fixed[1048576]", ok("fixed[1048576]"), ("JSC003",), "the text sets no limit", ()),
    ("fixed-spaces", "fixed[ 16 ]", ok("fixed[16]"), ("JSC005",), "white space around parameters", ()),
    ("fixed-0", "fixed[0]", any_of(ok("fixed[0]"), INVALID), ("JSC003",),
     "whether a fixed may be empty the text does not say", ("E8",)),
    ("int-upper-case", "INT", any_of(INVALID, ok("int")), ("JSC003",),
     "the names are lower-case; whether another case is read the text does not say", ("E9",)),
    ("decimal-upper-case", "DECIMAL(9, 2)", any_of(INVALID, *_decimal(9, 2)["any_of"]), ("JSC003",),
     "the names are lower-case; whether another case is read the text does not say", ("B12", "E9")),
    ("geometry-crs84", "geometry(OGC:CRS84)", any_of(ok("geometry(OGC:CRS84)"), ok("geometry")), ("JSC003", "TYP027"),
     "whether the default is written the text does not say", ("B13",)),
    ("geometry-srid", "geometry(srid:4326)", ok("geometry(srid:4326)"), ("JSC003", "TYP031"), "printed in the table",
     ()),
    ("geometry-bare", "geometry", any_of(ok("geometry(OGC:CRS84)"), ok("geometry")), ("TYP027",),
     "no system named: OGC:CRS84", ("B13",)),
    ("geometry-spaces", "geometry( srid:4326 )", ok("geometry(srid:4326)"), ("JSC005",),
     "white space around parameters", ()),
    ("geometry-projjson", "geometry(projjson:my_crs)", ok("geometry(projjson:my_crs)"), ("TYP031", "TYP033"),
     "a table property that holds the definition", ()),
    ("geometry-any-text", "geometry(EPSG:3857)", ok("geometry(EPSG:3857)"), ("TYP031",),
     "any string identifies a system", ()),
    ("geography-crs84", "geography(OGC:CRS84, spherical)",
     any_of(*map(ok, CRS84_SPHERICAL)), ("JSC003", "TYP028"),
     "whether the defaults are written the text does not say", ("B13",)),
    ("geography-srid", "geography(srid:4326, spherical)",
     any_of(ok("geography(srid:4326, spherical)"), ok("geography(srid:4326)")), ("JSC003", "TYP028"),
     "printed in the table; whether the default algorithm is written the text does not say", ("B13",)),
    *(
        (f"geography-{algorithm}", f"geography(OGC:CRS84, {algorithm})", ok(f"geography(OGC:CRS84, {algorithm})"),
         ("TYP035",), "", ())
        for algorithm in ("vincenty", "thomas", "andoyer", "karney")
    ),
    ("geography-no-space", "geography(srid:4326,karney)", ok("geography(srid:4326, karney)"), ("JSC005",),
     "the space after the comma is optional", ()),
    ("geography-spaces", "geography( srid:4326 , karney )", ok("geography(srid:4326, karney)"), ("JSC005",),
     "white space around parameters and separators", ()),
    ("geography-bare", "geography", any_of(*map(ok, CRS84_SPHERICAL)), ("TYP028",),
     "nothing named: OGC:CRS84, spherical", ("B13",)),
    ("geography-crs-only", "geography(srid:4326)",
     any_of(ok("geography(srid:4326, spherical)"), ok("geography(srid:4326)")), ("TYP028",),
     "no algorithm named: spherical", ("B13",)),
    ("geography-upper-case-algorithm", "geography(OGC:CRS84, SPHERICAL)",
     any_of(INVALID, *map(ok, CRS84_SPHERICAL)), ("TYP035",),
     "the algorithms are lower-case; whether another case is read the text does not say", ("B13", "E9")),
]  # fmt: skip

NOT_TYPES = [
    ("empty", "", "no name"),
    ("notatype", "notatype", "no such type"),
    *((word.replace(" ", "-"), word, "a name of another system")
      for word in ("integer", "bigint", "int8", "float64", "date32", "smallint", "tinyint", "real", "bool",
                   "varchar", "text", "blob", "bytes", "numeric", "datetime", "timestamp with time zone", "interval",
                   "json", "object", "null", "any", "enum")),
    *((f"nested-{word}", word, "a nested type is an object") for word in ("struct", "list", "map")),
    ("list-of-int", "list<int>", "a nested type is an object"),
    ("map-of-int", "map<string,int>", "a nested type is an object"),
    ("struct-of-int", "struct<a:int>", "a nested type is an object"),
    ("array", "array<int>", "no such type"),
    ("timestamp-us", "timestamp_us", "no such type"),
    ("timestamp-ms", "timestamp_ms", "no such type"),
    ("timestamptz-utc", "timestamptz_utc", "no such type"),
    ("timestamp-ns-hyphen", "timestamp-ns", "an underscore"),
    ("timestampns", "timestampns", "an underscore"),
    ("timestamp-6", "timestamp(6)", "timestamp has no parameter"),
    ("time-6", "time(6)", "time has no parameter"),
    ("string-10", "string(10)", "string has no parameter"),
    ("binary-16", "binary[16]", "binary has no parameter"),
    ("uuid-16", "uuid[16]", "uuid has no parameter"),
    ("int-32", "int[32]", "int has no parameter"),
    ("variant-1", "variant(1)", "variant has no parameter"),
    ("decimal-bare", "decimal", "precision and scale are missing"),
    ("decimal-empty", "decimal()", "precision and scale are missing"),
    ("decimal-9", "decimal(9)", "the scale is missing"),
    ("decimal-9-comma", "decimal(9,)", "the scale is missing"),
    ("decimal-comma-2", "decimal(,2)", "the precision is missing"),
    ("decimal-three", "decimal(9,2,1)", "two parameters"),
    ("decimal-letters", "decimal(a,b)", "the parameters are integers"),
    ("decimal-fraction", "decimal(9.0,2)", "the parameters are integers"),
    ("decimal-exponent", "decimal(1e1,2)", "the parameters are integers"),
    ("decimal-square", "decimal[9,2]", "decimal has parentheses"),
    ("decimal-open", "decimal(9,2", "the parenthesis is not closed"),
    ("decimal-closed", "decimal9,2)", "the parenthesis is not opened"),
    ("decimal-semicolon", "decimal(9;2)", "a comma separates"),
    ("decimal-space", "decimal(9 2)", "a comma separates"),
    ("decimal-trailing", "decimal(9,2)x", "text after the parenthesis"),
    ("decimal-leading", "xdecimal(9,2)", "text before the name"),
    ("decimal-twice", "decimal(9,2)(9,2)", "text after the parenthesis"),
    ("decimal-named", "decimal(precision=9,scale=2)", "the parameters are integers"),
    ("fixed-bare", "fixed", "the length is missing"),
    ("fixed-empty", "fixed[]", "the length is missing"),
    ("fixed-blank", "fixed[ ]", "the length is missing"),
    ("fixed-minus-1", "fixed[-1]", "a length is not negative"),
    ("fixed-parentheses", "fixed(16)", "fixed has square brackets"),
    ("fixed-angle", "fixed<16>", "fixed has square brackets"),
    ("fixed-open", "fixed[16", "the bracket is not closed"),
    ("fixed-closed", "fixed16]", "the bracket is not opened"),
    ("fixed-letters", "fixed[abc]", "the length is an integer"),
    ("fixed-fraction", "fixed[1.5]", "the length is an integer"),
    ("fixed-hexadecimal", "fixed[0x10]", "the length is decimal"),
    ("fixed-two", "fixed[1,2]", "one parameter"),
    ("fixed-trailing", "fixed[16]x", "text after the bracket"),
    ("fixed-plain", "fixed16", "the length is in brackets"),
]  # fmt: skip
NOT_IN_RANGE = [
    ("decimal-39", "decimal(39,2)", "TYP013", "the precision is at most 38"),
    ("decimal-39-0", "decimal(39,0)", "TYP013", "the precision is at most 38"),
    ("decimal-76", "decimal(76, 38)", "TYP013", "the precision is at most 38"),
    ("decimal-huge", "decimal(99999999999999999999,0)", "TYP013", "the precision is at most 38"),
    ("decimal-minus-1", "decimal(-1,0)", "TYP013", "a precision is positive"),
    ("geography-bogus", "geography(OGC:CRS84, bogus)", "TYP035", "no such algorithm"),
    ("geography-planar", "geography(OGC:CRS84, planar)", "TYP035", "planar edges are a geometry's"),
    ("geography-empty-algorithm", "geography(OGC:CRS84, )", "TYP035", "no algorithm after the comma"),
    ("geometry-open", "geometry(OGC:CRS84", "JSC003", "the parenthesis is not closed"),
    ("geometry-square", "geometry[OGC:CRS84]", "JSC003", "geometry has parentheses"),
    ("geometry-trailing", "geometry(OGC:CRS84)x", "JSC003", "text after the parenthesis"),
    ("geography-open", "geography(OGC:CRS84, spherical", "JSC003", "the parenthesis is not closed"),
    ("geography-square", "geography[OGC:CRS84, spherical]", "JSC003", "geography has parentheses"),
    ("point", "point", "JSC003", "no such type"),
]
NOT_JSON_TYPES = [
    ("number", 34, "a string or an object"),
    ("json-null", None, "a string or an object"),
    ("json-true", True, "a string or an object"),
    ("json-list", ["int"], "a string or an object"),
    ("object-empty", {}, "the member `type` is missing"),
    ("object-primitive", {"type": "int"}, "a primitive type is a string"),
    ("object-unknown", {"type": "set", "element-id": 3, "element-required": True, "element": "int"}, "no such type"),
    ("object-number", {"type": 34}, "the member `type` is a string"),
    ("object-nested", {"type": {"type": "int"}}, "the member `type` is a string"),
]

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
    ("struct-type-last", {"fields": [FIELD], "type": "struct"}, struct(FIELD), ("JSC006",),
     "JSON has no order of members"),
    ("struct-field-order", struct(dict(reversed(FIELD.items()))), struct(FIELD), ("JSC006",),
     "JSON has no order of members"),
    ("list-reversed", dict(reversed(SPEC_LIST.items())), SPEC_LIST, ("JSC007",), "JSON has no order of members"),
    ("map-reversed", dict(reversed(SPEC_MAP.items())), SPEC_MAP, ("JSC007",), "JSON has no order of members"),
    ("struct-id-0", struct({**FIELD, "id": 0}), struct({**FIELD, "id": 0}), ("TYP002",), "an id may be 0"),
    ("struct-doc", struct({**FIELD, "doc": "the first"}), struct({**FIELD, "doc": "the first"}), ("JSC006", "TYP002"),
     "the doc string is kept"),
    ("struct-doc-unicode", struct({**FIELD, "doc": "\u00e9 \U0001f4b0"}), struct({**FIELD, "doc": "\u00e9 \U0001f4b0"}),
     ("JSC006",), ""),
    ("struct-name-unicode", struct({**FIELD, "name": "\u00e9\U0001f4b0"}),
     struct({**FIELD, "name": "\u00e9\U0001f4b0"}), ("TYP002",), "any name"),
    ("struct-awkward-names",
     struct(*({**FIELD, "id": id_, "name": name} for id_, name in enumerate(awkward.NAMES, 1))),
     struct(*({**FIELD, "id": id_, "name": name} for id_, name in enumerate(awkward.NAMES, 1))), ("TYP002",),
     "names are not trimmed, normalised or unescaped"),
    ("struct-name-dot", struct({**FIELD, "name": "a.b"}), struct({**FIELD, "name": "a.b"}), ("TYP002",), "any name"),
    ("struct-name-case", struct(FIELD, {**FIELD, "id": 2, "name": "A"}), struct(FIELD, {**FIELD, "id": 2, "name": "A"}),
     ("TYP002",), "names differ by case"),
    ("struct-in-struct", struct({"id": 9, "name": "s", "required": False, "type": STRUCT}),
     struct({"id": 9, "name": "s", "required": False, "type": STRUCT}), ("JSC006",), ""),
    ("list-of-list", {**LIST, "element": {**LIST, "element-id": 6}}, {**LIST, "element": {**LIST, "element-id": 6}},
     ("JSC007",), ""),
    ("list-of-struct", {**LIST, "element": STRUCT}, {**LIST, "element": STRUCT}, ("JSC007",), ""),
    ("map-of-struct-key", {**MAP, "key": STRUCT}, {**MAP, "key": STRUCT}, ("TYP004",), "a key may be any type"),
    ("map-of-map", {**MAP, "value": {**MAP, "key-id": 6, "value-id": 7}},
     {**MAP, "value": {**MAP, "key-id": 6, "value-id": 7}}, ("JSC007",), ""),
    ("struct-unknown-optional", struct({**FIELD, "required": False, "type": "unknown"}),
     struct({**FIELD, "required": False, "type": "unknown"}), ("TYP025",), "unknown is optional"),
    ("struct-variant", struct({**FIELD, "type": "variant"}), struct({**FIELD, "type": "variant"}),
     ("JSC006", "TYP006"), ""),
    ("struct-fixed-inside", struct({**FIELD, "type": "fixed[ 4 ]"}), struct({**FIELD, "type": "fixed[4]"}), ("JSC005",),
     "white space around parameters, inside a struct"),
]  # fmt: skip

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
    ("boolean-string", "boolean", "true", ("JSC008",), "a JSON boolean"),
    ("int-2-31", "int", 2147483648, ("JSC008", "TYP009"), "more than 32 bits"),
    ("int-fraction", "int", 1.5, ("JSC008", "TYP009"), "not an integer"),
    ("int-string", "int", "34", ("JSC008",), "a JSON int"),
    ("long-2-63", "long", 9223372036854775808, ("JSC008", "TYP010"), "more than 64 bits"),
    ("long-2-64-minus-1", "long", 18446744073709551615, ("JSC008", "TYP010"), "more than 64 bits, and not -1"),
    ("double-nan", "double", "NaN", ("JSC008",), "JSON has no NaN"),
    ("float-too-large", "float", 1e39, ("JSC008", "TYP011"), "beyond the largest float"),
    ("decimal-too-precise", "decimal(2, 1)", "99.9", ("JSC008", "TYP013"), "three digits in a precision of two"),
    ("decimal-scale", "decimal(9, 2)", "14.2", ("JSC008",), "one digit after the point of a scale of two"),
    ("decimal-number", "decimal(9, 2)", 14.2, ("JSC008",), "a JSON string"),
    ("date-february-30", "date", "2017-02-30", ("JSC008", "TYP015"), "no such day"),
    ("date-number", "date", 17486, ("JSC008",), "a JSON string"),
    ("time-24h", "time", "24:00:00.000000", ("JSC008", "TYP016"), "a time of day ends before 24:00"),
    ("timestamp-zone", "timestamp", "2017-11-16T22:31:08.123456+00:00", ("JSC008",), "it has no zone"),
    ("timestamptz-no-zone", "timestamptz", "2017-11-16T22:31:08.123456", ("JSC008",), "the offset is missing"),
    ("timestamp-ns-2-63", "timestamp_ns", "2262-04-11T23:47:16.854775808", ("JSC008", "TYP019"), "2^63 ns"),
    ("uuid-short", "uuid", "f79c3e09-677c-4bbd-a479-3f349cb785e", ("JSC008",), "a digit is missing"),
    ("fixed-short", "fixed[4]", "000102", ("JSC008", "TYP023"), "three bytes in a fixed[4]"),
    ("binary-odd", "binary", "001", ("JSC008",), "two digits a byte"),
    ("string-number", "string", 34, ("JSC008",), "a JSON string"),
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


def _refused(prefix: str, codes: tuple[str, ...], name: str, json: Any, note: str) -> Vector:
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
    """Yield the suite, a topic a file."""
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
    refused = [_refused("", ("JSC003",), name, text, note) for name, text, note in NOT_TYPES]
    refused += [_refused("", ("JSC003",), name, json, note) for name, json, note in NOT_JSON_TYPES]
    yield _file("refusals-strings", refused)
    yield from _split(
        "refusals-parameters", [_refused("", (code,), name, text, note) for name, text, code, note in NOT_IN_RANGE]
    )
    refused = [_refused("struct-", codes, name, json, note) for name, json, codes, note in BAD_STRUCTS]
    refused += [_refused("", codes, name, json, note) for name, json, codes, note in BAD_LISTS_AND_MAPS]
    yield from _split("refusals-nested", refused)
    refused = [
        _refused("default-", codes, name, _column(type_, "initial-default", value), note)
        for name, type_, value, codes, note in BAD_DEFAULTS
    ]
    yield from _split("refusals-defaults", refused)

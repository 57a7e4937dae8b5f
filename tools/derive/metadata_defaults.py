"""Vectors of the defaults of columns, and of types by version (Schema Evolution; Default values)."""

from __future__ import annotations

from collections.abc import Iterator

from tools.derive.metadata import Document
from tools.derive.metadata_bases import DATA, ID
from tools.derive.metadata_changes import SECTION, SPATIAL, add, arguments, new_field, promote, set_default, type_slug
from tools.derive.vector import INVALID, Vector, any_of, ok

DEFAULTS: list[tuple[str, tuple[str, ...], Document, Document | None, str]] = [
    ("int", ("EVO014", "DEF004"), {"type": "int", "default": 34}, {"type": "int"}, "both defaults are set"),
    ("string", ("EVO014",), {"type": "string", "default": "iceberg"}, {"type": "string"}, "both defaults are set"),
    ("empty-string", ("EVO014",), {"type": "string", "default": ""}, {"type": "string"}, "an empty string is a value"),
    ("false", ("EVO014",), {"type": "boolean", "default": False}, {"type": "boolean"}, "false is a value"),
    ("date", ("EVO014", "JSC008"), {"type": "date", "default": "2017-11-16"}, {"type": "date"}, "a date as a string"),
    (
        "decimal",
        ("EVO014", "JSC008"),
        {"type": "decimal(9, 2)", "default": "14.20"},
        {"type": "decimal(9, 2)"},
        "a decimal as a string",
    ),
    (
        "required",
        ("EVO015",),
        {"type": "int", "required": True, "default": 34},
        {"type": "int", "required": True},
        "a required column is added with a default",
    ),
    ("null", ("EVO016",), {"type": "int"}, {"type": "int"}, "an optional column may be added without"),
    ("required-null", ("EVO015",), {"type": "int", "required": True}, None, "a required column needs a default"),
    ("unknown", ("DEF008",), {"type": "unknown", "default": 34}, None, "an unknown defaults to null"),
    ("variant", ("DEF008",), {"type": "variant", "default": 34}, None, "a variant defaults to null"),
    (
        "geometry",
        ("DEF008",),
        {"type": "geometry(srid:4326)", "default": "POINT (30 10)"},
        None,
        "a geometry defaults to null",
    ),
    (
        "unknown-required",
        ("TYP025",),
        {"type": "unknown", "required": True},
        None,
        "a column of type unknown is optional",
    ),
    ("of-another-type", ("SVJ001",), {"type": "int", "default": "34"}, None, "a string is not an int"),
]


def defaults() -> Iterator[Vector]:
    """Yield cases of defaults of new columns, in v3."""
    for name, codes, column, made, note in DEFAULTS:
        args = arguments([{"op": "add", "name": "n", **column}], 3, [ID, DATA], 2)
        both = (
            {}
            if column.get("default") is None
            else {"initial-default": column["default"], "write-default": column["default"]}
        )
        expect = (
            INVALID
            if made is None
            else ok({"fields": [ID, DATA, {**new_field(3, "n", "int"), **made, **both}], "last-column-id": 3})
        )
        yield Vector(f"evolve-default-{name}", codes, args, expect, SECTION, note, only=(3,))
    point = {"type": "struct", "fields": [{"id": 4, "name": "x", "required": False, "type": "int"}]}
    column = add("n", point, required=True)
    made = {"id": 3, "name": "n", "required": True, "type": point, "initial-default": {}, "write-default": {}}
    yield Vector(
        "evolve-default-struct-empty",
        ("EVO018",),
        arguments([{**column, "default": {}}], 3, [ID, DATA], 2),
        ok({"fields": [ID, DATA, made], "last-column-id": 4}),
        SECTION,
        "the default of a struct is an empty struct",
        ("A12",),
        (3,),
    )
    yield Vector(
        "evolve-default-struct-with-fields",
        ("EVO018",),
        arguments([{**column, "default": {"4": 1}}], 3, [ID, DATA], 2),
        INVALID,
        SECTION,
        "the default of a struct has values of its fields",
        ("A12",),
        (3,),
    )
    hollow = {"type": "struct", "fields": [{"id": 4, "name": "x", "required": True, "type": "int"}]}
    yield Vector(
        "evolve-default-struct-of-required",
        ("EVO015", "EVO018"),
        arguments([{**column, "type": hollow, "default": {}}], 3, [ID, DATA], 2),
        INVALID,
        "derivation: rows of before have the struct, and no value for its required field",
        "the default of a struct is an empty struct, and its required field has none",
        ("A12",),
        (3,),
    )
    yield Vector(
        "evolve-id-reserved",
        ("RES001",),
        arguments([add("n", "int")], 3, [ID, DATA], 2147483447),
        INVALID,
        "spec: Reserved Field IDs",
        "the ids above are those of metadata columns",
        only=(3,),
    )
    old = {**DATA, "initial-default": "a", "write-default": "a"}
    yield Vector(
        "evolve-write-default",
        ("EVO014", "DEF003"),
        arguments([set_default("data", "b")], 3, [ID, old], 2),
        ok({"fields": [ID, {**old, "write-default": "b"}], "last-column-id": 2}),
        SECTION,
        "the write default changes, the initial default stays",
        only=(3,),
    )
    yield Vector(
        "evolve-write-default-of-old-column",
        ("EVO014", "DEF003"),
        arguments([set_default("data", "b")], 3, [ID, DATA], 2),
        ok({"fields": [ID, {**DATA, "write-default": "b"}], "last-column-id": 2}),
        SECTION,
        "a column that was added without defaults gets a write default alone",
        only=(3,),
    )
    yield Vector(
        "evolve-write-default-of-another-type",
        ("SVJ001",),
        arguments([set_default("id", "34")], 3, [ID, DATA], 2),
        INVALID,
        "spec: Appendix D",
        "a string is not a long",
        only=(3,),
    )
    yield Vector(
        "evolve-write-default-missing",
        ("EVO001",),
        arguments([set_default("nothing", 1)], 3, [ID, DATA], 2),
        INVALID,
        SECTION,
        "no column has the name",
        only=(3,),
    )
    dated = {**DATA, "type": "date", "initial-default": "2017-11-16", "write-default": "1969-12-31"}
    for new, second in (("timestamp", "00:00:00.000000"), ("timestamp_ns", "00:00:00.000000000")):
        texts = f"2017-11-16T{second}", f"1969-12-31T{second}"
        yield Vector(
            f"evolve-promote-defaults-to-{new.replace('_', '-')}",
            ("EVO005", "EVO014"),
            arguments([promote("data", new)], 3, [ID, dated], 2),
            ok(
                {
                    "fields": [ID, {**dated, "type": new, "initial-default": texts[0], "write-default": texts[1]}],
                    "last-column-id": 2,
                }
            ),
            "derivation: the midnight of the date, in the JSON form of the new type",
            "the defaults of a promoted column are of its new type",
            only=(3,),
        )
    early = {**DATA, "type": "date", "initial-default": "0001-01-01", "write-default": "0001-01-01"}
    yield Vector(
        "evolve-promote-default-out-of-range",
        ("EVO006",),
        arguments([promote("data", "timestamp_ns")], 3, [ID, early], 2),
        INVALID,
        SECTION,
        "nanoseconds from 1970 do not reach the year 1",
        only=(3,),
    )
    for version in (1, 2):
        for type_ in ("unknown", "timestamp_ns", "timestamptz_ns", "variant", *SPATIAL):
            yield Vector(
                f"evolve-v{version}-add-{type_slug(type_)}",
                ("VER004",),
                arguments([add("n", type_)], version, [ID, DATA], 2),
                INVALID,
                "spec: Version 3: Extended Types; Primitive Types",
                "the type came with v3",
                only=(version,),
            )
        plain, given = (
            {"fields": [ID, DATA, {**new_field(3, "n", "int"), **more}], "last-column-id": 3}
            for more in ({}, {"initial-default": 34, "write-default": 34})
        )
        yield Vector(
            f"evolve-v{version}-add-default",
            ("VER005",),
            arguments([add("n", "int", default=34)], version, [ID, DATA], 2),
            any_of(INVALID, ok(plain), ok(given)),
            "spec: Writer requirements; Default values",
            "defaults came with v3",
            ("C20", "E18"),
            (version,),
        )
    for type_ in ("unknown", "timestamp_ns", "timestamptz_ns", "variant", *SPATIAL):
        yield Vector(
            f"evolve-v3-add-{type_slug(type_)}",
            ("VER004", *(("JSC003", "JSC004") if type_ in SPATIAL else ())),
            arguments([add("n", type_)], 3, [ID, DATA], 2),
            ok({"fields": [ID, DATA, new_field(3, "n", type_)], "last-column-id": 3}),
            "spec: Version 3: Extended Types",
            "the type came with v3",
            only=(3,),
        )

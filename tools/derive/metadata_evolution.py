"""Vectors of schema evolution (Schema Evolution)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tools.derive import awkward
from tools.derive.metadata import DROP, Document, edited, topic_files
from tools.derive.metadata_bases import DATA, ID, NESTED
from tools.derive.vector import INVALID, Vector, VectorFile, any_of, ok

SECTION = "spec: Schema Evolution"
RULES = "derivation: the table of valid type promotions, by hand"

# Promotions: what the two columns of the table allow.

OLD_TYPES = (
    "boolean",
    "int",
    "long",
    "float",
    "double",
    "decimal(9, 2)",
    "date",
    "time",
    "timestamp",
    "timestamptz",
    "string",
    "uuid",
    "fixed[4]",
    "binary",
)
WIDER = ("decimal(10, 2)", "decimal(38, 2)", "decimal(8, 2)", "decimal(9, 3)", "decimal(10, 3)", "decimal(11, 0)")
NEW_TYPES = ("timestamp_ns", "timestamptz_ns")
SPATIAL = ("geometry(srid:4326)", "geography(srid:4326, karney)")
ALLOWED = {
    ("int", "long"),
    ("float", "double"),
    ("decimal(9, 2)", "decimal(10, 2)"),
    ("decimal(9, 2)", "decimal(38, 2)"),
}
ALLOWED_IN_V3 = ALLOWED | {("date", "timestamp"), ("date", "timestamp_ns")}
NOT_LISTED = (
    ("long", "int"),
    ("double", "float"),
    ("timestamp", "date"),
    ("timestamp", "timestamp_ns"),
    ("timestamp_ns", "timestamp"),
    ("timestamptz", "timestamptz_ns"),
    ("int", "unknown"),
    ("string", "variant"),
    ("fixed[4]", "fixed[8]"),
    ("fixed[4]", "fixed[2]"),
    ("geometry(srid:4326)", "geography(srid:4326, karney)"),
    ("string", "geometry(srid:4326)"),
)


def _name(type_: str) -> str:
    words = "".join(letter if letter.isalnum() else " " for letter in type_).split()
    return "-".join(
        words[:3]
        if words[0] == "decimal"
        else words[:2]
        if words[0] == "fixed"
        else [word for word in words if word not in ("srid", "4326", "karney")]
    )


def _promotion(old: str, new: Any, version: int, codes: tuple[str, ...], expect: Any, note: str, **more: Any) -> Vector:
    args = {
        "schema": {"type": "struct", "schema-id": 0, "fields": [ID, {**DATA, "type": old}]},
        "format_version": version,
        "last_column_id": 2,
        "changes": [{"op": "promote", "name": "data", "type": new}],
    }
    name = f"promote-v{version}-{_name(old)}-to-{_name(new) if isinstance(new, str) else new['type']}"
    return Vector(name, codes, args, expect, RULES, note, only=(version,), **more)


def _promoted(new: Any) -> dict[str, Any]:
    return ok({"fields": [ID, {**DATA, "type": new}], "last-column-id": 2})


def promotions() -> Iterator[Vector]:
    """Every pair of the types of v2 in v2, the listed pairs in v1, and what v3 changes."""
    for old in OLD_TYPES:
        for new in (*OLD_TYPES, *(WIDER if old.startswith("decimal") else ())):
            if new == old:
                continue
            allowed = (old, new) in ALLOWED
            code = "TYP014" if old[:7] == new[:7] == "decimal" and new[-2] != "2" else "EVO003"
            codes = ("EVO003",) if code == "EVO003" else ("EVO003", code)
            yield _promotion(
                old, new, 2, codes, _promoted(new) if allowed else INVALID, "listed" if allowed else "not listed"
            )
    for old, new in sorted(ALLOWED):
        for version in (1, 3):
            yield _promotion(old, new, version, ("EVO003",), _promoted(new), "listed for every version")
    yield _promotion("date", "timestamp", 1, ("EVO003",), INVALID, "listed from v3")
    for new in (*OLD_TYPES, *NEW_TYPES):
        if new != "date":
            allowed = ("date", new) in ALLOWED_IN_V3
            codes = ("EVO005",) if new.startswith("timestamp") else ("EVO003",)
            yield _promotion(
                "date",
                new,
                3,
                codes,
                _promoted(new) if allowed else INVALID,
                "listed from v3" if allowed else "not listed",
            )
    for old, new in NOT_LISTED:
        yield _promotion(old, new, 3, ("EVO003",), INVALID, "not listed")
    for new in (*OLD_TYPES, *NEW_TYPES):
        yield _promotion("unknown", new, 3, ("EVO004",), _promoted(new), "unknown becomes any type")
    nested: tuple[Any, ...] = (
        {"type": "list", "element-id": 3, "element-required": False, "element": "int"},
        {"type": "map", "key-id": 3, "key": "int", "value-id": 4, "value-required": False, "value": "int"},
        {"type": "struct", "fields": [{"id": 3, "name": "x", "required": False, "type": "int"}]},
    )
    for new in (*SPATIAL, "variant", *nested):
        last = 4 if isinstance(new, dict) and new["type"] == "map" else 3 if isinstance(new, dict) else 2
        made = ok({"fields": [ID, {**DATA, "type": new}], "last-column-id": last})
        if new in SPATIAL:
            yield _promotion("unknown", new, 3, ("EVO004",), made, "unknown becomes any type")
        else:
            yield _promotion(
                "unknown",
                new,
                3,
                ("EVO004",),
                any_of(INVALID, made),
                "any type, in a table of primitive types",
                contradiction=("B36",),
            )


# Promotions of the source of a partition field (EVO008): the old type, the new one, and the transforms that keep their
# values. Widening keeps values and, by Appendix B, hashes; days become micro- or nanoseconds.

KEEP: list[tuple[int, str, str, tuple[str, ...], tuple[str, ...]]] = [
    (2, "int", "long", ("identity", "bucket[16]", "truncate[10]", "void"), ()),
    (2, "float", "double", ("identity", "void"), ()),
    (2, "decimal(9, 2)", "decimal(18, 2)", ("identity", "bucket[16]", "truncate[10]", "void"), ()),
    (1, "int", "long", ("bucket[16]",), ()),
    (3, "date", "timestamp", ("year", "month", "day", "void"), ("identity", "bucket[16]")),
    (3, "date", "timestamp_ns", ("year", "month", "day", "void"), ("identity", "bucket[16]")),
]


def partition_sources() -> Iterator[Vector]:
    """Promotions of columns that partition fields are made of."""
    for version, old, new, kept, changed in KEEP:
        for transform in (*kept, *changed):
            name = f"promote-v{version}-{_name(old)}-to-{_name(new)}-under-{transform.split('[')[0]}"
            field = {"source-id": 2, "field-id": 1000, "name": "p", "transform": transform}
            args = {
                "schema": {"type": "struct", "schema-id": 0, "fields": [ID, {**DATA, "type": old}]},
                "format_version": version,
                "last_column_id": 2,
                "partition_fields": [field],
                "changes": [{"op": "promote", "name": "data", "type": new}],
            }
            why = ("B37",) if old == "date" else ()
            yield Vector(
                name,
                ("EVO008",),
                args,
                _promoted(new) if transform in kept else INVALID,
                "derivation: the values of the transform before and after, by Partition Transforms and Appendix B",
                "the transform gives the same values" if transform in kept else "the transform gives other values",
                why,
                (version,),
            )


# Adding, dropping, renaming and moving. The base has columns 1 to 11: id, data, ts, point{x, y}, tags, prices.

LAST = 11


def _place(pointer: str, value: Any) -> list[Document]:
    made: list[Document] = edited({"fields": NESTED}, {f"/fields/{pointer}": value})["fields"]
    return made


def _field(field_id: int, name: str, type_: Any, **more: Any) -> Document:
    return {"id": field_id, "name": name, "required": False, "type": type_, **more}


POINTS: Document = {
    "type": "list",
    "element-id": 8,
    "element-required": True,
    "element": {"type": "struct", "fields": [{"id": 12, "name": "x", "required": True, "type": "long"}]},
}
WITH_POINTS = _place("4/type", POINTS)
"""The base with a list of structs in place of the list of strings; the highest id is 12."""

Row = tuple[str, tuple[str, ...], list[Document], list[Document], int, str]

GOOD: list[Row] = [
    ("add-at-end", ("EVO009",), [{"op": "add", "name": "n", "type": "int"}],
     [*NESTED, _field(12, "n", "int")], 12, "a new column is added at the end and has a new id"),
    ("add-with-doc", ("EVO009",), [{"op": "add", "name": "n", "type": "int", "doc": "a number"}],
     [*NESTED, _field(12, "n", "int", doc="a number")], 12, "a column with a doc string"),
    ("add-to-struct", ("EVO009",), [{"op": "add", "parent": "point", "name": "z", "type": "double"}],
     _place("3/type/fields/-", _field(12, "z", "double")), 12, "a field of a nested struct"),
    ("add-struct", ("EVO009",), [{"op": "add", "name": "s", "type": {"type": "struct", "fields": [
        {"id": 1, "name": "a", "required": False, "type": "int"},
        {"id": 2, "name": "b", "required": False, "type": "int"}]}}],
     [*NESTED, _field(12, "s", {"type": "struct", "fields": [_field(13, "a", "int"), _field(14, "b", "int")]})], 14,
     "every field inside a new column has a new id, whatever id it was given"),
    ("add-list", ("EVO009",), [{"op": "add", "name": "l", "type": {
        "type": "list", "element-id": 1, "element-required": False, "element": "int"}}],
     [*NESTED, _field(12, "l", {"type": "list", "element-id": 13, "element-required": False, "element": "int"})], 13,
     "the element of a new list has a new id"),
    ("add-map", ("EVO009",), [{"op": "add", "name": "m", "type": {
        "type": "map", "key-id": 1, "key": "string", "value-id": 2, "value-required": False, "value": "int"}}],
     [*NESTED, _field(12, "m", {"type": "map", "key-id": 13, "key": "string", "value-id": 14,
                                "value-required": False, "value": "int"})], 14,
     "the key and the value of a new map have new ids"),
    ("drop", ("EVO011",), [{"op": "drop", "name": "data"}], _place("1", DROP), 11, "a column is gone"),
    ("drop-nested", ("EVO011",), [{"op": "drop", "name": "point.y"}], _place("3/type/fields/1", DROP), 11,
     "a nested field is gone"),
    ("drop-struct", ("EVO011",), [{"op": "drop", "name": "point"}], _place("3", DROP), 11, "a struct is gone"),
    ("drop-last", ("EVO011", "TMD006"), [{"op": "drop", "name": "prices"}], _place("5", DROP), 11,
     "the last column id stays where it is"),
    ("rename", ("EVO010",), [{"op": "rename", "name": "data", "to": "text"}], _place("1/name", "text"), 11,
     "another name and the same id"),
    ("rename-nested", ("EVO010",), [{"op": "rename", "name": "point.x", "to": "lat"}],
     _place("3/type/fields/0/name", "lat"), 11, "a nested field, by its full name and its new last part"),
    ("rename-struct", ("EVO010",), [{"op": "rename", "name": "point", "to": "place"}], _place("3/name", "place"), 11,
     "a struct; its fields stay as they are"),
    ("rename-case", ("EVO010",), [{"op": "rename", "name": "data", "to": "Data"}], _place("1/name", "Data"), 11,
     "the same name in another case"),
    ("rename-back", ("EVO010",), [{"op": "rename", "name": "data", "to": "text"},
                                  {"op": "rename", "name": "text", "to": "data"}], NESTED, 11, "there and back"),
    ("move-first", ("EVO001",), [{"op": "move", "name": "ts", "after": None}],
     [NESTED[2], NESTED[0], NESTED[1], *NESTED[3:]], 11, "a column becomes the first"),
    ("move-after", ("EVO001",), [{"op": "move", "name": "id", "after": "ts"}],
     [NESTED[1], NESTED[2], NESTED[0], *NESTED[3:]], 11, "a column comes after another"),
    ("move-last", ("EVO001",), [{"op": "move", "name": "id", "after": "prices"}], [*NESTED[1:], NESTED[0]], 11,
     "a column becomes the last"),
    ("move-nested", ("EVO001",), [{"op": "move", "name": "point.y", "after": None}],
     _place("3/type/fields", [NESTED[3]["type"]["fields"][1], NESTED[3]["type"]["fields"][0]]), 11,
     "a field of a nested struct"),
    ("promote-nested", ("EVO003",), [{"op": "promote", "name": "prices.value", "type": "long"}],
     _place("5/type/value", "long"), 11, "the value of a map is promoted"),
    ("drop-and-add", ("EVO009", "EVO011"), [{"op": "drop", "name": "data"},
                                            {"op": "add", "name": "data", "type": "string"}],
     [NESTED[0], *NESTED[2:], _field(12, "data", "string")], 12,
     "a column with the name of a dropped one is a new column"),
    ("rename-and-add", ("EVO009", "EVO010"), [{"op": "rename", "name": "data", "to": "old"},
                                              {"op": "add", "name": "data", "type": "string"}],
     [*_place("1/name", "old"), _field(12, "data", "string")], 12, "the name of a renamed column is free"),
    ("swap-names", ("EVO010",), [{"op": "rename", "name": "point.x", "to": "t"},
                                 {"op": "rename", "name": "point.y", "to": "x"},
                                 {"op": "rename", "name": "point.t", "to": "y"}],
     edited({"fields": NESTED}, {"/fields/3/type/fields/0/name": "y", "/fields/3/type/fields/1/name": "x"})["fields"],
     11, "two fields change their names; ids stay with the data"),
    ("add-and-move", ("EVO009", "EVO001"), [{"op": "add", "name": "n", "type": "int"},
                                            {"op": "move", "name": "n", "after": "id"}],
     [NESTED[0], _field(12, "n", "int"), *NESTED[1:]], 12, "a new column is moved to its place"),
]  # fmt: skip

BAD: list[tuple[str, tuple[str, ...], list[Document], str]] = [
    ("add-to-missing", ("EVO001",), [{"op": "add", "parent": "nowhere", "name": "n", "type": "int"}],
     "no struct has the name"),
    ("add-to-primitive", ("EVO013",), [{"op": "add", "parent": "data", "name": "n", "type": "int"}],
     "a string does not become a struct"),
    ("add-to-list", ("EVO001",), [{"op": "add", "parent": "tags", "name": "n", "type": "int"}],
     "a list of strings has no fields"),
    ("drop-missing", ("EVO001",), [{"op": "drop", "name": "nothing"}], "no column has the name"),
    ("drop-element", ("EVO001",), [{"op": "drop", "name": "tags.element"}], "only fields of structs are dropped"),
    ("drop-value", ("EVO001",), [{"op": "drop", "name": "prices.value"}], "only fields of structs are dropped"),
    ("drop-twice", ("EVO001",), [{"op": "drop", "name": "data"}, {"op": "drop", "name": "data"}], "the column is gone"),
    ("rename-missing", ("EVO001",), [{"op": "rename", "name": "nothing", "to": "n"}], "no column has the name"),
    ("move-missing", ("EVO001",), [{"op": "move", "name": "nothing", "after": None}], "no column has the name"),
    ("move-after-missing", ("EVO001",), [{"op": "move", "name": "id", "after": "nothing"}], "no column has the name"),
    ("move-to-struct", ("EVO012",), [{"op": "move", "name": "id", "after": "x"}],
     "a column does not move into a struct"),
    ("move-out-of-struct", ("EVO012",), [{"op": "move", "name": "point.x", "after": "data"}],
     "a field does not move out of its struct"),
    ("move-element", ("EVO001",), [{"op": "move", "name": "tags.element", "after": None}],
     "only fields of structs are moved"),
    ("promote-missing", ("EVO001",), [{"op": "promote", "name": "nothing", "type": "long"}], "no column has the name"),
    ("promote-struct", ("EVO013",), [{"op": "promote", "name": "point", "type": "long"}],
     "a struct does not become a primitive"),
    ("promote-to-struct", ("EVO013",), [{"op": "promote", "name": "id", "type": {"type": "struct", "fields": [
        {"id": 12, "name": "v", "required": False, "type": "long"}]}}], "a primitive does not become a struct"),
    ("promote-list", ("EVO003",), [{"op": "promote", "name": "tags", "type": "string"}],
     "a list does not become its element"),
    ("promote-element", ("EVO003",), [{"op": "promote", "name": "tags.element", "type": "binary"}],
     "not listed, inside a list either"),
    ("promote-value", ("EVO003",), [{"op": "promote", "name": "prices.value", "type": "double"}],
     "not listed, inside a map either"),
]  # fmt: skip


def _args(changes: list[Document], version: int, fields: list[Document] | None = None, last: int = LAST) -> Document:
    schema = {"type": "struct", "schema-id": 0, "fields": NESTED if fields is None else fields}
    return {"schema": schema, "format_version": version, "last_column_id": last, "changes": changes}


def structure() -> Iterator[Vector]:
    """Changes of structs, in every version alike."""
    for name, codes, changes, fields, last, note in GOOD:
        for version in (1, 2, 3):
            yield Vector(
                f"evolve-v{version}-{name}",
                codes,
                _args(changes, version),
                ok({"fields": fields, "last-column-id": last}),
                SECTION,
                note,
                only=(version,),
            )
    for name, codes, changes, note in BAD:
        for version in (1, 2, 3):
            yield Vector(
                f"evolve-v{version}-{name}", codes, _args(changes, version), INVALID, SECTION, note, only=(version,)
            )
    yield Vector(
        "evolve-add-above-dropped-ids",
        ("EVO009", "TMD006"),
        _args([{"op": "add", "name": "n", "type": "int"}], 2, [ID, DATA], 41),
        ok({"fields": [ID, DATA, _field(42, "n", "int")], "last-column-id": 42}),
        SECTION,
        "an id is not given twice, although no column has it now",
        only=(2,),
    )
    yield Vector(
        "evolve-add-to-element-struct",
        ("EVO009",),
        _args([{"op": "add", "parent": "tags.element", "name": "y", "type": "long"}], 2, WITH_POINTS, 12),
        ok(
            {
                "fields": edited({"fields": WITH_POINTS}, {"/fields/4/type/element/fields/-": _field(13, "y", "long")})[
                    "fields"
                ],
                "last-column-id": 13,
            }
        ),
        SECTION,
        "a field of the struct in a list",
        only=(2,),
    )
    yield Vector(
        "evolve-promote-map-key",
        ("EVO003",),
        _args([{"op": "promote", "name": "prices.key", "type": "long"}], 2, _place("5/type/key", "int")),
        any_of(ok({"fields": _place("5/type/key", "long"), "last-column-id": 11}), INVALID),
        SECTION,
        "the text has no rule for keys of maps; Iceberg-Java refuses to change them",
        ("E17",),
        (2,),
    )
    for name, change, fields in (
        ("add-name-twice", {"op": "add", "name": "data", "type": "int"}, [*NESTED, _field(12, "data", "int")]),
        ("rename-to-name", {"op": "rename", "name": "id", "to": "data"}, _place("0/name", "data")),
    ):
        last = 12 if change["op"] == "add" else 11
        yield Vector(
            f"evolve-{name}",
            ("TYP002",),
            _args([change], 2),
            any_of(INVALID, ok({"fields": fields, "last-column-id": last})),
            "derivation: a field is found by its name, and no rule says that it is the only one of it",
            "two fields of a struct have one name",
            ("E17",),
            (2,),
        )
    field = {"source-id": 2, "field-id": 1000, "name": "p", "transform": "identity"}
    args = {**_args([{"op": "drop", "name": "data"}], 2), "partition_fields": [field]}
    yield Vector(
        "evolve-drop-partition-source",
        ("PAR004",),
        args,
        any_of(INVALID, ok({"fields": _place("1", DROP), "last-column-id": 11})),
        "derivation: a partition field has a source, and no rule says when the column may go",
        "the source of the default spec is dropped",
        ("E17",),
        (2,),
    )
    schema = {"type": "struct", "schema-id": 0, "identifier-field-ids": [1], "fields": NESTED}
    yield Vector(
        "evolve-drop-identifier",
        ("IDF001",),
        {**_args([{"op": "drop", "name": "id"}], 2), "schema": schema},
        any_of(INVALID, ok({"fields": NESTED[1:], "last-column-id": 11})),
        "derivation: identifier fields are fields of the schema, and no rule says what dropping one does",
        "an identifier field is dropped",
        ("E17",),
        (2,),
    )


# Defaults and types by version

DEFAULTS: list[tuple[str, tuple[str, ...], Document, Document | None, str]] = [
    ("int", ("EVO014", "DEF004"), {"type": "int", "default": 34}, {"type": "int"}, "both defaults are set"),
    ("string", ("EVO014",), {"type": "string", "default": "iceberg"}, {"type": "string"}, "both defaults are set"),
    ("empty-string", ("EVO014",), {"type": "string", "default": ""}, {"type": "string"}, "an empty string is a value"),
    ("false", ("EVO014",), {"type": "boolean", "default": False}, {"type": "boolean"}, "false is a value"),
    ("date", ("EVO014", "JSC008"), {"type": "date", "default": "2017-11-16"}, {"type": "date"}, "a date as a string"),
    ("decimal", ("EVO014", "JSC008"), {"type": "decimal(9, 2)", "default": "14.20"}, {"type": "decimal(9, 2)"},
     "a decimal as a string"),
    ("required", ("EVO015",), {"type": "int", "required": True, "default": 34}, {"type": "int", "required": True},
     "a required column is added with a default"),
    ("null", ("EVO016",), {"type": "int"}, {"type": "int"}, "an optional column may be added without"),
    ("required-null", ("EVO015",), {"type": "int", "required": True}, None, "a required column needs a default"),
    ("unknown", ("DEF008",), {"type": "unknown", "default": 34}, None, "an unknown defaults to null"),
    ("variant", ("DEF008",), {"type": "variant", "default": 34}, None, "a variant defaults to null"),
    ("geometry", ("DEF008",), {"type": "geometry(srid:4326)", "default": "POINT (30 10)"}, None,
     "a geometry defaults to null"),
    ("unknown-required", ("TYP025",), {"type": "unknown", "required": True}, None,
     "a column of type unknown is optional"),
    ("of-another-type", ("SVJ001",), {"type": "int", "default": "34"}, None, "a string is not an int"),
]  # fmt: skip


def defaults() -> Iterator[Vector]:
    """Defaults of new columns, in v3."""
    for name, codes, column, made, note in DEFAULTS:
        change = {"op": "add", "name": "n", **column}
        args = _args([change], 3, [ID, DATA], 2)
        both = (
            {}
            if column.get("default") is None
            else {"initial-default": column["default"], "write-default": column["default"]}
        )
        expect = (
            INVALID
            if made is None
            else ok({"fields": [ID, DATA, {**_field(3, "n", "int"), **made, **both}], "last-column-id": 3})
        )
        yield Vector(f"evolve-default-{name}", codes, args, expect, SECTION, note, only=(3,))
    point = {"type": "struct", "fields": [{"id": 4, "name": "x", "required": False, "type": "int"}]}
    add: Document = {"op": "add", "name": "n", "type": point, "required": True}
    made = {"id": 3, "name": "n", "required": True, "type": point, "initial-default": {}, "write-default": {}}
    yield Vector(
        "evolve-default-struct-empty",
        ("EVO018",),
        _args([{**add, "default": {}}], 3, [ID, DATA], 2),
        ok({"fields": [ID, DATA, made], "last-column-id": 4}),
        SECTION,
        "the default of a struct is an empty struct",
        ("A12",),
        (3,),
    )
    yield Vector(
        "evolve-default-struct-with-fields",
        ("EVO018",),
        _args([{**add, "default": {"4": 1}}], 3, [ID, DATA], 2),
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
        _args([{**add, "type": hollow, "default": {}}], 3, [ID, DATA], 2),
        INVALID,
        "derivation: rows of before have the struct, and no value for its required field",
        "the default of a struct is an empty struct, and its required field has none",
        ("A12",),
        (3,),
    )
    yield Vector(
        "evolve-id-reserved",
        ("RES001",),
        _args([{"op": "add", "name": "n", "type": "int"}], 3, [ID, DATA], 2147483447),
        INVALID,
        "spec: Reserved Field IDs",
        "the ids above are those of metadata columns",
        only=(3,),
    )
    old = {**DATA, "initial-default": "a", "write-default": "a"}
    yield Vector(
        "evolve-write-default",
        ("EVO014", "DEF003"),
        _args([{"op": "default", "name": "data", "default": "b"}], 3, [ID, old], 2),
        ok({"fields": [ID, {**old, "write-default": "b"}], "last-column-id": 2}),
        SECTION,
        "the write default changes, the initial default stays",
        only=(3,),
    )
    yield Vector(
        "evolve-write-default-of-old-column",
        ("EVO014", "DEF003"),
        _args([{"op": "default", "name": "data", "default": "b"}], 3, [ID, DATA], 2),
        ok({"fields": [ID, {**DATA, "write-default": "b"}], "last-column-id": 2}),
        SECTION,
        "a column that was added without defaults gets a write default alone",
        only=(3,),
    )
    yield Vector(
        "evolve-write-default-of-another-type",
        ("SVJ001",),
        _args([{"op": "default", "name": "id", "default": "34"}], 3, [ID, DATA], 2),
        INVALID,
        "spec: Appendix D",
        "a string is not a long",
        only=(3,),
    )
    yield Vector(
        "evolve-write-default-missing",
        ("EVO001",),
        _args([{"op": "default", "name": "nothing", "default": 1}], 3, [ID, DATA], 2),
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
            _args([{"op": "promote", "name": "data", "type": new}], 3, [ID, dated], 2),
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
        _args([{"op": "promote", "name": "data", "type": "timestamp_ns"}], 3, [ID, early], 2),
        INVALID,
        SECTION,
        "nanoseconds from 1970 do not reach the year 1",
        only=(3,),
    )
    for version in (1, 2):
        for type_ in ("unknown", "timestamp_ns", "timestamptz_ns", "variant", *SPATIAL):
            yield Vector(
                f"evolve-v{version}-add-{_name(type_)}",
                ("VER004",),
                _args([{"op": "add", "name": "n", "type": type_}], version, [ID, DATA], 2),
                INVALID,
                "spec: Version 3: Extended Types; Primitive Types",
                "the type came with v3",
                only=(version,),
            )
        plain, given = (
            {"fields": [ID, DATA, {**_field(3, "n", "int"), **more}], "last-column-id": 3}
            for more in ({}, {"initial-default": 34, "write-default": 34})
        )
        yield Vector(
            f"evolve-v{version}-add-default",
            ("VER005",),
            _args([{"op": "add", "name": "n", "type": "int", "default": 34}], version, [ID, DATA], 2),
            any_of(INVALID, ok(plain), ok(given)),
            "spec: Writer requirements; Default values",
            "defaults came with v3",
            ("C20", "E18"),
            (version,),
        )
    for type_ in ("unknown", "timestamp_ns", "timestamptz_ns", "variant", *SPATIAL):
        yield Vector(
            f"evolve-v3-add-{_name(type_)}",
            ("VER004",),
            _args([{"op": "add", "name": "n", "type": type_}], 3, [ID, DATA], 2),
            ok({"fields": [ID, DATA, _field(3, "n", type_)], "last-column-id": 3}),
            "spec: Version 3: Extended Types",
            "the type came with v3",
            only=(3,),
        )


def names() -> Iterator[Vector]:
    """Columns whose names are easily changed."""
    added = [_field(id_, name, "int") for id_, name in enumerate(awkward.NAMES, 3)]
    yield Vector(
        "evolve-awkward-names",
        ("EVO001",),
        _args([{"op": "add", "name": name, "type": "int"} for name in awkward.NAMES], 2, [ID, DATA], 2),
        ok({"fields": [ID, DATA, *added], "last-column-id": 2 + len(added)}),
        SECTION,
        "names are not trimmed, normalised or unescaped",
        only=(2,),
    )


def files() -> Iterator[VectorFile]:
    """The files of schema evolution."""
    for topic, vectors in (
        ("promotions", promotions()),
        ("partition-sources", partition_sources()),
        ("structs", structure()),
        ("defaults", defaults()),
        ("awkward-names", names()),
    ):
        yield from topic_files(f"schema-evolution/{topic}", "schema.evolve", list(vectors))

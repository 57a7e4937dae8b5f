"""Vectors of schema evolution (Schema Evolution)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tools.derive import awkward, metadata_defaults, metadata_promotions
from tools.derive.metadata import DROP, Document, apply_edits, topic_files
from tools.derive.metadata_bases import DATA, ID, NESTED
from tools.derive.metadata_changes import SECTION, add, arguments, drop, move, new_field, promote, rename
from tools.derive.vector import INVALID, Vector, VectorFile, any_of, ok


def _place(pointer: str, value: Any, base: list[Document] = NESTED) -> list[Document]:
    """Return a schema with a value at a place."""
    made: list[Document] = apply_edits({"fields": base}, {f"/fields/{pointer}": value})["fields"]
    return made


POINTS: Document = {
    "type": "list",
    "element-id": 8,
    "element-required": True,
    "element": {"type": "struct", "fields": [{"id": 12, "name": "x", "required": True, "type": "long"}]},
}
WITH_POINTS = _place("4/type", POINTS)
"""The base with a list of structs in place of the list of strings; the highest id is 12."""

POINT: Document = {"type": "struct", "fields": [{"id": 12, "name": "v", "required": False, "type": "long"}]}


def _struct(*ids: int) -> Document:
    return {"type": "struct", "fields": [new_field(id_, name, "int") for id_, name in zip(ids, "ab", strict=True)]}


def _list(element: int) -> Document:
    return {"type": "list", "element-id": element, "element-required": False, "element": "int"}


def _map(key: int, value: int) -> Document:
    ids = {"key-id": key, "key": "string", "value-id": value}
    return {"type": "map", **ids, "value-required": False, "value": "int"}


X, Y = NESTED[3]["type"]["fields"]

Row = tuple[str, tuple[str, ...], list[Document], list[Document], int, str]

GOOD: list[Row] = [
    (
        "add-at-end",
        ("EVO009",),
        [add("n", "int")],
        [*NESTED, new_field(12, "n", "int")],
        12,
        "a new column is added at the end and has a new id",
    ),
    (
        "add-with-doc",
        ("EVO009",),
        [add("n", "int", doc="a number")],
        [*NESTED, new_field(12, "n", "int", doc="a number")],
        12,
        "a column with a doc string",
    ),
    (
        "add-to-struct",
        ("EVO009",),
        [add("z", "double", parent="point")],
        _place("3/type/fields/-", new_field(12, "z", "double")),
        12,
        "a field of a nested struct",
    ),
    (
        "add-struct",
        ("EVO009",),
        [add("s", _struct(1, 2))],
        [*NESTED, new_field(12, "s", _struct(13, 14))],
        14,
        "every field inside a new column has a new id, whatever id it was given",
    ),
    (
        "add-list",
        ("EVO009",),
        [add("l", _list(1))],
        [*NESTED, new_field(12, "l", _list(13))],
        13,
        "the element of a new list has a new id",
    ),
    (
        "add-map",
        ("EVO009",),
        [add("m", _map(1, 2))],
        [*NESTED, new_field(12, "m", _map(13, 14))],
        14,
        "the key and the value of a new map have new ids",
    ),
    ("drop", ("EVO011",), [drop("data")], _place("1", DROP), 11, "a column is dropped"),
    ("drop-nested", ("EVO011",), [drop("point.y")], _place("3/type/fields/1", DROP), 11, "a nested field is dropped"),
    ("drop-struct", ("EVO011",), [drop("point")], _place("3", DROP), 11, "a struct is dropped"),
    (
        "drop-last",
        ("EVO011", "TMD006"),
        [drop("prices")],
        _place("5", DROP),
        11,
        "the last column id stays where it is",
    ),
    ("rename", ("EVO010",), [rename("data", "text")], _place("1/name", "text"), 11, "another name and the same id"),
    (
        "rename-nested",
        ("EVO010",),
        [rename("point.x", "lat")],
        _place("3/type/fields/0/name", "lat"),
        11,
        "a nested field, by its full name and its new last part",
    ),
    (
        "rename-struct",
        ("EVO010",),
        [rename("point", "place")],
        _place("3/name", "place"),
        11,
        "a struct; its fields stay as they are",
    ),
    (
        "rename-case",
        ("EVO010",),
        [rename("data", "Data")],
        _place("1/name", "Data"),
        11,
        "the same name in another case",
    ),
    (
        "rename-back",
        ("EVO010",),
        [rename("data", "text"), rename("text", "data")],
        NESTED,
        11,
        "a column is renamed, and gets its old name back",
    ),
    (
        "move-first",
        ("EVO001",),
        [move("ts", None)],
        [NESTED[2], NESTED[0], NESTED[1], *NESTED[3:]],
        11,
        "a column becomes the first",
    ),
    (
        "move-after",
        ("EVO001",),
        [move("id", "ts")],
        [NESTED[1], NESTED[2], NESTED[0], *NESTED[3:]],
        11,
        "a column comes after another",
    ),
    ("move-last", ("EVO001",), [move("id", "prices")], [*NESTED[1:], NESTED[0]], 11, "a column becomes the last"),
    (
        "move-nested",
        ("EVO001",),
        [move("point.y", None)],
        _place("3/type/fields", [Y, X]),
        11,
        "a field of a nested struct",
    ),
    (
        "promote-nested",
        ("EVO003",),
        [promote("prices.value", "long")],
        _place("5/type/value", "long"),
        11,
        "the value of a map is promoted",
    ),
    (
        "drop-and-add",
        ("EVO009", "EVO011"),
        [drop("data"), add("data", "string")],
        [NESTED[0], *NESTED[2:], new_field(12, "data", "string")],
        12,
        "a column with the name of a dropped one is a new column",
    ),
    (
        "rename-and-add",
        ("EVO009", "EVO010"),
        [rename("data", "old"), add("data", "string")],
        [*_place("1/name", "old"), new_field(12, "data", "string")],
        12,
        "the name of a renamed column is free",
    ),
    (
        "swap-names",
        ("EVO010",),
        [rename("point.x", "t"), rename("point.y", "x"), rename("point.t", "y")],
        _place("3/type/fields", [{**X, "name": "y"}, {**Y, "name": "x"}]),
        11,
        "two fields change their names; ids stay with the data",
    ),
    (
        "add-and-move",
        ("EVO009", "EVO001"),
        [add("n", "int"), move("n", "id")],
        [NESTED[0], new_field(12, "n", "int"), *NESTED[1:]],
        12,
        "a new column is moved to its place",
    ),
]

BAD: list[tuple[str, tuple[str, ...], list[Document], str]] = [
    ("add-to-missing", ("EVO001",), [add("n", "int", parent="nowhere")], "no struct has the name"),
    ("add-to-primitive", ("EVO013",), [add("n", "int", parent="data")], "a string does not become a struct"),
    ("add-to-list", ("EVO001",), [add("n", "int", parent="tags")], "a list of strings has no fields"),
    ("drop-missing", ("EVO001",), [drop("nothing")], "no column has the name"),
    ("drop-element", ("EVO001",), [drop("tags.element")], "only fields of structs are dropped"),
    ("drop-value", ("EVO001",), [drop("prices.value")], "only fields of structs are dropped"),
    ("drop-twice", ("EVO001",), [drop("data"), drop("data")], "the column was dropped before"),
    ("rename-missing", ("EVO001",), [rename("nothing", "n")], "no column has the name"),
    ("move-missing", ("EVO001",), [move("nothing", None)], "no column has the name"),
    ("move-after-missing", ("EVO001",), [move("id", "nothing")], "no column has the name"),
    ("move-to-struct", ("EVO012",), [move("id", "x")], "a column does not move into a struct"),
    ("move-out-of-struct", ("EVO012",), [move("point.x", "data")], "a field does not move out of its struct"),
    ("move-element", ("EVO001",), [move("tags.element", None)], "only fields of structs are moved"),
    ("promote-missing", ("EVO001",), [promote("nothing", "long")], "no column has the name"),
    ("promote-struct", ("EVO013",), [promote("point", "long")], "a struct does not become a primitive"),
    ("promote-to-struct", ("EVO013",), [promote("id", POINT)], "a primitive does not become a struct"),
    ("promote-list", ("EVO003",), [promote("tags", "string")], "a list does not become its element"),
    (
        "promote-element",
        ("EVO003",),
        [promote("tags.element", "binary")],
        "the spec does not list the promotion, which applies to elements of lists too",
    ),
    (
        "promote-value",
        ("EVO003",),
        [promote("prices.value", "double")],
        "the spec does not list the promotion, which applies to values of maps too",
    ),
]


def structure() -> Iterator[Vector]:
    """Yield cases of changes of structs, in every version alike."""
    for name, codes, changes, fields, last, note in GOOD:
        for version in (1, 2, 3):
            yield Vector(
                f"evolve-v{version}-{name}",
                codes,
                arguments(changes, version),
                ok({"fields": fields, "last-column-id": last}),
                SECTION,
                note,
                only=(version,),
            )
    for name, codes, changes, note in BAD:
        for version in (1, 2, 3):
            yield Vector(
                f"evolve-v{version}-{name}", codes, arguments(changes, version), INVALID, SECTION, note, only=(version,)
            )
    yield Vector(
        "evolve-add-above-dropped-ids",
        ("EVO009", "TMD006"),
        arguments([add("n", "int")], 2, [ID, DATA], 41),
        ok({"fields": [ID, DATA, new_field(42, "n", "int")], "last-column-id": 42}),
        SECTION,
        "an id is not given twice, although no column has it now",
        only=(2,),
    )
    yield Vector(
        "evolve-add-to-element-struct",
        ("EVO009",),
        arguments([add("y", "long", parent="tags.element")], 2, WITH_POINTS, 12),
        ok(
            {
                "fields": apply_edits(
                    {"fields": WITH_POINTS}, {"/fields/4/type/element/fields/-": new_field(13, "y", "long")}
                )["fields"],
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
        arguments([promote("prices.key", "long")], 2, _place("5/type/key", "int")),
        any_of(ok({"fields": _place("5/type/key", "long"), "last-column-id": 11}), INVALID),
        SECTION,
        "the text has no rule for keys of maps; Iceberg-Java refuses to change them",
        ("E17",),
        (2,),
    )
    of_a_struct, full = "two fields of a struct have the same name", "two columns have the full name point.x"
    for name, change, fields, note in (
        ("add-name-twice", add("data", "int"), [*NESTED, new_field(12, "data", "int")], of_a_struct),
        ("rename-to-name", rename("id", "data"), _place("0/name", "data"), of_a_struct),
        ("add-shared-full-name", add("point.x", "int"), [*NESTED, new_field(12, "point.x", "int")], full),
        ("rename-to-shared-full-name", rename("id", "point.x"), _place("0/name", "point.x"), full),
    ):
        last = 12 if change["op"] == "add" else 11
        yield Vector(
            f"evolve-{name}",
            ("TYP002",),
            arguments([change], 2),
            any_of(INVALID, ok({"fields": fields, "last-column-id": last})),
            "derivation: a field is found by its name, and no rule says that it is the only one of it",
            note,
            ("E17",),
            (2,),
        )
    field = {"source-id": 2, "field-id": 1000, "name": "p", "transform": "identity"}
    args = {**arguments([drop("data")], 2), "partition_fields": [field]}
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
        {**arguments([drop("id")], 2), "schema": schema},
        any_of(INVALID, ok({"fields": NESTED[1:], "last-column-id": 11})),
        "derivation: identifier fields are fields of the schema, and no rule says what dropping one does",
        "an identifier field is dropped",
        ("E17",),
        (2,),
    )


# Defaults and types by version


def names() -> Iterator[Vector]:
    """Yield cases of columns whose names engines easily alter."""
    added = [new_field(id_, name, "int") for id_, name in enumerate(awkward.NAMES, 3)]
    yield Vector(
        "evolve-awkward-names",
        ("EVO001",),
        arguments([add(name, "int") for name in awkward.NAMES], 2, [ID, DATA], 2),
        ok({"fields": [ID, DATA, *added], "last-column-id": 2 + len(added)}),
        SECTION,
        "names are not trimmed, normalised or unescaped",
        only=(2,),
    )


def files() -> Iterator[VectorFile]:
    """Yield the files of schema evolution."""
    for topic, vectors in (
        ("promotions", metadata_promotions.promotions()),
        ("partition-sources", metadata_promotions.partition_sources()),
        ("structs", structure()),
        ("defaults", metadata_defaults.defaults()),
        ("awkward-names", names()),
    ):
        yield from topic_files(f"schema-evolution/{topic}", "schema.evolve", list(vectors))

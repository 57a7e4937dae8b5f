"""Vectors of name mappings (Column Projection; Appendix C, Name Mapping Serialization)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tools.derive import awkward
from tools.derive.metadata import Document, topic_files
from tools.derive.vector import INVALID, Vector, VectorFile, any_of, ok

SECTION = "spec: Column Projection; Name Mapping Serialization"

EXAMPLE: list[Document] = [
    {"field-id": 1, "names": ["id", "record_id"]},
    {"field-id": 2, "names": ["data"]},
    {
        "field-id": 3,
        "names": ["location"],
        "fields": [
            {"field-id": 4, "names": ["latitude", "lat"]},
            {"field-id": 5, "names": ["longitude", "long"]},
        ],
    },
]
"""The example of Appendix C."""


def _column(name: str, type_: Any = "int") -> Document:
    return {"name": name, "type": type_}


def _struct(*fields: Document) -> Document:
    return {"type": "struct", "fields": list(fields)}


def _ids(**found: int | None) -> list[Document]:
    """Return ids by path; a keyword is a path whose parts are joined by two underscores."""
    return [{"path": path.split("__"), "field-id": field_id} for path, field_id in found.items()]


NESTED: list[Document] = [
    {
        "field-id": 1,
        "names": ["points"],
        "fields": [{"field-id": 2, "names": ["element"], "fields": [{"field-id": 3, "names": ["x", "lon"]}]}],
    },
    {
        "field-id": 4,
        "names": ["prices"],
        "fields": [{"field-id": 5, "names": ["key"]}, {"field-id": 6, "names": ["value"]}],
    },
]
LIST: Document = {"type": "list", "element": _struct(_column("lon"), _column("y"))}
MAP: Document = {"type": "map", "key": "string", "value": "int"}

Row = tuple[str, tuple[str, ...], Any, list[Document], list[Document], str]

GOOD: list[Row] = [
    (
        "example",
        ("NAM009", "NAM001"),
        EXAMPLE,
        [_column("id"), _column("data"), _column("location", _struct(_column("latitude"), _column("longitude")))],
        _ids(id=1, data=2, location=3, location__latitude=4, location__longitude=5),
        "the example of Appendix C",
    ),
    (
        "aliases",
        ("NAM007",),
        EXAMPLE,
        [_column("record_id"), _column("location", _struct(_column("long"), _column("lat")))],
        _ids(record_id=1, location=3, location__long=5, location__lat=4),
        "other names of the same fields",
    ),
    (
        "unmapped",
        ("NAM001",),
        EXAMPLE,
        [_column("id"), _column("extra")],
        _ids(id=1, extra=None),
        "a column that no mapping names gets no id",
    ),
    (
        "case",
        ("NAM001",),
        EXAMPLE,
        [_column("ID"), _column("Data")],
        _ids(ID=None, Data=None),
        "names are compared with their case",
    ),
    (
        "no-position",
        ("NAM001",),
        EXAMPLE,
        [_column("a"), _column("b")],
        _ids(a=None, b=None),
        "columns are not taken by position",
    ),
    (
        "inner-name-outside",
        ("NAM006", "NAM004"),
        EXAMPLE,
        [_column("latitude")],
        _ids(latitude=None),
        "the name of a nested field is not found at the top",
    ),
    (
        "outer-name-inside",
        ("NAM006", "NAM004"),
        EXAMPLE,
        [_column("location", _struct(_column("id")))],
        _ids(location=3, location__id=None),
        "the name of a column is not found in a struct",
    ),
    (
        "unmapped-struct",
        ("NAM006", "NAM004"),
        EXAMPLE,
        [_column("place", _struct(_column("lat")))],
        _ids(place=None, place__lat=None),
        "inside a column without a mapping nothing has one",
    ),
    ("empty", ("NAM009",), [], [_column("id")], _ids(id=None), "a mapping without fields"),
    (
        "no-names",
        ("NAM002",),
        [{"field-id": 1, "names": []}, {"field-id": 2, "names": ["data"]}],
        [_column("id"), _column("data")],
        _ids(id=None, data=2),
        "a field that no file has",
    ),
    (
        "no-id",
        ("NAM003",),
        [{"names": ["id"]}, {"field-id": 2, "names": ["data"]}],
        [_column("id"), _column("data")],
        _ids(id=None, data=2),
        "a column of files that the table does not have",
    ),
    (
        "no-id-with-fields",
        ("NAM003", "NAM004"),
        [{"names": ["s"], "fields": [{"field-id": 2, "names": ["x"]}]}],
        [_column("s", _struct(_column("x")))],
        _ids(s=None, s__x=2),
        "a field inside a column without an id",
    ),
    (
        "list",
        ("NAM008",),
        NESTED,
        [_column("points", LIST)],
        _ids(points=1, points__element=2, points__element__lon=3, points__element__y=None),
        "the element of a list",
    ),
    (
        "map",
        ("NAM008",),
        NESTED,
        [_column("prices", MAP)],
        _ids(prices=4, prices__key=5, prices__value=6),
        "the key and the value of a map",
    ),
    (
        "list-without-element",
        ("NAM008",),
        [{"field-id": 1, "names": ["l"]}],
        [_column("l", {"type": "list", "element": "int"})],
        _ids(l=1, l__element=None),
        "a list whose element has no mapping",
    ),
    (
        "unicode",
        ("NAM009",),
        [{"field-id": 1, "names": ["\u540d\u524d", "\U0001f600"]}],
        [_column("\u540d\u524d")],
        [{"path": ["\u540d\u524d"], "field-id": 1}],
        "names beyond ASCII",
    ),
    (
        "composed",
        ("NAM009",),
        [{"field-id": 1, "names": ["\u00e9"]}],
        [_column("e\u0301")],
        [{"path": ["e\u0301"], "field-id": None}],
        "two spellings of one letter are two names",
    ),
    (
        "awkward-names",
        ("NAM009",),
        [{"field-id": id_, "names": [name]} for id_, name in enumerate(awkward.NAMES, 1)],
        [_column(name) for name in awkward.NAMES],
        [{"path": [name], "field-id": id_} for id_, name in enumerate(awkward.NAMES, 1)],
        "names are not trimmed, normalised or unescaped",
    ),
    (
        "awkward-lookalikes",
        ("NAM009",),
        [{"field-id": id_, "names": [name]} for id_, name in enumerate(awkward.NAMES, 1)],
        [_column(name) for name in awkward.LOOKALIKES],
        [{"path": [name], "field-id": None} for name in awkward.LOOKALIKES],
        "names that look like names of the mapping are different names",
    ),
    (
        "empty-name",
        ("NAM009",),
        [{"field-id": 1, "names": [""]}],
        [_column("")],
        [{"path": [""], "field-id": 1}],
        "a name is any string",
    ),
]

DOT: list[Document] = [{"field-id": 1, "names": ["a.b"]}]
PATH: list[Document] = [{"field-id": 1, "names": ["a"], "fields": [{"field-id": 2, "names": ["b"]}]}]
DOT_AND_PATH: list[Document] = [*PATH, {"field-id": 3, "names": ["a.b"]}]
A_B = _column("a", _struct(_column("b")))
IDS_OF_DOT_AND_PATH = [*_ids(a=1, a__b=2), {"path": ["a.b"], "field-id": 3}]


def _dot(id_: int | None) -> list[Document]:
    return [{"path": ["a.b"], "field-id": id_}]


DOTTED: list[Row] = [
    ("dot-in-name", ("NAM005",), DOT, [_column("a.b")], _dot(1), "a dot is part of a name"),
    ("dot-is-no-path", ("NAM005",), DOT, [A_B], _ids(a=None, a__b=None), "a dot does not lead into a struct"),
    (
        "path-is-no-dot",
        ("NAM005",),
        PATH,
        [_column("a.b")],
        _dot(None),
        "a nested field is not found by a name with a dot",
    ),
    (
        "dot-and-path",
        ("NAM005",),
        DOT_AND_PATH,
        [A_B, _column("a.b")],
        IDS_OF_DOT_AND_PATH,
        "a path and a name with a dot are two columns",
    ),
]

BAD: list[tuple[str, Any, str]] = [
    ("object", {"id": 1}, "the mapping is an object"),
    ("text", "id=1", "the mapping is text that is not JSON"),
    ("number", 1, "the mapping is a number"),
    ("item-string", ["id"], "a field mapping is a string"),
    ("names-string", [{"field-id": 1, "names": "id"}], "names is a string"),
    ("names-numbers", [{"field-id": 1, "names": [1]}], "a name is a number"),
    ("names-null", [{"field-id": 1, "names": [None]}], "a name is null"),
    ("id-string", [{"field-id": "1", "names": ["id"]}], "an id is a string"),
    ("id-fraction", [{"field-id": 1.5, "names": ["id"]}], "an id is not an integer"),
    ("id-long", [{"field-id": 1 << 31, "names": ["id"]}], "an id has 32 bits"),
    ("fields-object", [{"field-id": 1, "names": ["s"], "fields": {}}], "fields is an object"),
    ("inner-item-string", [{"field-id": 1, "names": ["s"], "fields": ["x"]}], "an inner field mapping is a string"),
    (
        "inner-id-string",
        [{"field-id": 1, "names": ["s"], "fields": [{"field-id": "2", "names": ["x"]}]}],
        "the id of an inner field is a string",
    ),
]


def vectors() -> Iterator[Vector]:
    """Yield every case."""
    for name, codes, mapping, columns, ids, note in (*GOOD, *DOTTED):
        why = ("C8",) if "NAM005" in codes else ("C18",) if name.startswith("no-id") else ()
        yield Vector(f"mapping-{name}", codes, {"mapping": mapping, "columns": columns}, ok(ids), SECTION, note, why)
    for name, mapping, note in BAD:
        args = {"mapping": mapping, "columns": [_column("id"), _column("s", _struct(_column("x")))]}
        yield Vector(f"mapping-{name}", ("NAM009",), args, INVALID, SECTION, note)
    one = [_column("id")]
    yield Vector(
        "mapping-field-underscore-id",
        ("NAM009", "NAM003"),
        {"mapping": [{"field_id": 1, "names": ["id"]}], "columns": one},
        ok(_ids(id=None)),
        SECTION,
        "field_id, as a former table spelled it, is not field-id",
        ("A16",),
    )
    yield Vector(
        "mapping-without-names",
        ("NAM002",),
        {"mapping": [{"field-id": 1}], "columns": one},
        any_of(INVALID, ok(_ids(id=None))),
        SECTION,
        "names is required; Iceberg-Java takes its absence for an empty list",
        ("C18",),
    )
    yield Vector(
        "mapping-name-twice",
        ("NAM007",),
        {"mapping": [{"field-id": 1, "names": ["id"]}, {"field-id": 2, "names": ["id"]}], "columns": one},
        any_of(INVALID, ok(_ids(id=1)), ok(_ids(id=2))),
        "derivation: several names may map to one id, and no rule says what one name under two ids means",
        "two fields of one level have the same name",
        ("E17",),
    )


def files() -> Iterator[VectorFile]:
    """Yield the files of name mappings."""
    yield from topic_files("name-mapping/apply", "name-mapping.apply", list(vectors()))

"""Scripts that change tables: schemas, specs, versions, and references, with rows before and after."""

from __future__ import annotations

from collections.abc import Iterator

from tools.derive.cases.writing_kit import (
    COMPACT,
    COW,
    FORMATS,
    MOR,
    Case,
    add,
    alter,
    append,
    create,
    delete,
    fields,
    list_type,
    make_rows,
    map_type,
    merge,
    part,
    struct,
    update,
    where,
)
from tools.derive.json_types import Json

COLUMNS = fields(("id", "int"), ("p", "string"), ("f", "float"), ("dec", "decimal(9, 2)"))
NAMES = "id p f dec"
FIRST = append(NAMES, (1, "a", 1.5, "1.50"), (2, "b", None, None), (3, None, -0.5, "-0.01"))


def _evolution() -> Iterator[Case]:
    wider = alter(
        {"op": "promote", "name": "id", "type": "long"},
        {"op": "promote", "name": "f", "type": "double"},
        {"op": "promote", "name": "dec", "type": "decimal(18, 2)"},
    )
    late = append(NAMES, ("9223372036854775807", "a", 1e300, "1234567890123456.78"))
    for format_ in FORMATS:
        yield Case(
            f"promoted-{format_}",
            ("EVO003", "EVO007", "TYP014"),
            (create(2, COLUMNS, format=format_), FIRST, wider, late, delete(where("eq", "id", 2), COW)),
            "old files are rewritten with the new types",
        )
        yield Case(
            f"columns-{format_}",
            ("EVO009", "EVO010", "EVO011", "PRJ001", "PRJ005"),
            (
                create(2, COLUMNS, format=format_),
                FIRST,
                alter(add("late", "string"), {"op": "rename", "name": "p", "to": "q"}, {"op": "drop", "name": "f"}),
                append("id q dec late", (4, "d", "4.00", "x")),
                alter(add("f", "string"), {"op": "move", "name": "late", "after": None}),
                append("late id q dec f", ("y", 5, "e", None, "again")),
                COMPACT,
            ),
            "a column that is added again under its old name is a new column",
        )
        yield Case(
            f"defaults-{format_}",
            ("DEF001", "DEF003", "DEF006", "DEF012", "EVO014"),
            (
                create(3, COLUMNS, format=format_),
                FIRST,
                alter(add("n", "long", default=5), add("s", "string", default="x", required=True)),
                append("id p n s", (4, "d", "4", "y")),
                alter({"op": "default", "name": "n", "default": 6}),
                delete(where("eq", "id", 1), COW),
            ),
            "rows of files that are rewritten keep the initial default",
        )
    yield Case(
        "write-default",
        ("DEF002", "DEF004", "EVO014"),
        (
            create(3, COLUMNS),
            FIRST,
            alter(add("n", "long", default=5)),
            append("id", (4,)),
            alter({"op": "default", "name": "n", "default": 6}),
            append("id", (5,)),
        ),
        "a row without a value gets the write default",
    )
    nested = fields(
        ("id", "long"),
        ("point", struct(("x", "int"), ("y", "int"))),
        ("tags", list_type("int")),
        ("m", map_type("string", "int")),
    )
    for format_ in FORMATS[:2]:
        yield Case(
            f"nested-columns-{format_}",
            ("EVO001", "EVO009", "EVO010", "PRJ001"),
            (
                create(2, nested, format=format_),
                append(
                    "id point tags m",
                    ("1", {"x": 1, "y": 2}, [1, None], {"keys": ["a"], "values": [1]}),
                    ("2", None, None, None),
                ),
                alter(
                    add("z", "string", parent="point"),
                    {"op": "rename", "name": "point.x", "to": "w"},
                    {"op": "drop", "name": "point.y"},
                    {"op": "promote", "name": "tags.element", "type": "long"},
                    {"op": "promote", "name": "m.value", "type": "long"},
                ),
                append(
                    "id point tags m",
                    ("3", {"w": 3, "z": "c"}, ["4294967296"], {"keys": ["b"], "values": ["4294967296"]}),
                ),
                delete(where("eq", "id", 2), COW),
            ),
            "fields of a struct, elements and values",
        )
    late = alter(add("late", "int"))
    yield Case(
        "column-after-nested",
        ("EVO009", "TMD006"),
        (
            create(2, nested),
            append("id point tags m", ("1", {"x": 1, "y": 2}, [1], {"keys": ["a"], "values": [1]})),
            late,
            append("id point tags m late", ("2", None, [2], None, 3)),
        ),
        "the id of a new column is above those of elements, keys and values",
    )
    required = fields(("id", "long", "required"), ("p", "string", "required"))
    for version in (1, 2):
        yield Case(
            f"optional-v{version}",
            ("EVO001", "EVO011"),
            (
                create(version, required),
                append("id p", ("1", "a")),
                alter({"op": "optional", "name": "p"}),
                append("id p", ("2", None)),
                delete(where("is-null", "p"), COW),
            ),
            "a required column becomes optional",
        )
    for suffix, format_ in (("", "parquet"), ("-avro", "avro"), ("-orc", "orc")):
        yield Case(
            f"dates-to-timestamps{suffix}",
            ("EVO005", "EVO007"),
            (
                create(3, fields(("id", "long"), ("d", "date")), format=format_),
                append("id d", ("1", "1969-12-31"), ("2", None)),
                alter({"op": "promote", "name": "d", "type": "timestamp"}),
                append("id d", ("3", "1969-12-31T23:59:59.999999")),
                delete(where("eq", "id", 2), COW),
            ),
            "a promotion of version 3",
        )
    yield Case(
        "merge-after-evolution",
        ("PRJ001", "EVO010"),
        (
            create(2, COLUMNS),
            FIRST,
            alter(add("late", "string"), {"op": "rename", "name": "p", "to": "q"}),
            merge("id", "id q late", (1, "z", "l"), (9, "y", None), mode=COW),
        ),
        "rows of old files get values of new columns",
    )


EVOLUTION = tuple(_evolution())


def _old_rows() -> Iterator[Case]:
    for version in (2, 3):
        yield Case(
            f"equality-delete-of-old-rows-v{version}",
            ("DEL023", "DEL019"),
            (
                create(version, COLUMNS),
                FIRST,
                alter(add("late", "string")),
                append("id p late", (4, "d", "x")),
                {"op": "delete-equal", "rows": make_rows("late p", (None, "a"), ("x", "d"))},
            ),
            "by a column that old files do not have",
        )


OLD_ROWS = tuple(_old_rows())


def _spec(*changes: Json) -> Json:
    return {"op": "alter-spec", "changes": list(changes)}


def _add_field(transform: str, source: str) -> Json:
    return {"op": "add", **part(transform, source)}


def _specs() -> Iterator[Case]:
    codes = ("PAR010", "PAR011", "MAN003", "SNP017")
    second = append(NAMES, (4, "a", 4.5, None), (5, "b", None, "5.00"))
    for version, format_ in ((1, "parquet"), (2, "parquet"), (3, "orc")):
        yield Case(
            f"spec-added-v{version}-{format_}",
            (*codes, "EXP008", "PAR009" if version == 1 else "PAR013"),
            (
                create(version, COLUMNS, format=format_),
                FIRST,
                _spec(_add_field("identity", "p")),
                second,
                _spec(_add_field("bucket[4]", "id")),
                FIRST,
                delete(where("eq", "p", "a"), COW),
            ),
            "files of three specs",
        )
    for version in (1, 2, 3):
        why = ("PAR015", "TRN016") if version == 1 else ("PAR003", "PAR012")
        yield Case(
            f"spec-removed-v{version}",
            (*codes, *why),
            (
                create(version, COLUMNS, ("identity", "p"), ("bucket[2]", "id")),
                FIRST,
                _spec({"op": "remove", "name": "p"}),
                second,
                delete(where("in", "id", [1, 4]), COW),
            ),
            "a field is removed; what is left keeps its values",
        )
    yield Case(
        "spec-renamed",
        codes,
        (create(2, COLUMNS, ("identity", "p")), FIRST, _spec({"op": "rename", "name": "p", "to": "part"}), second),
        "a field is renamed",
    )
    for way, mode in (("cow", COW), ("mor", MOR)):
        yield Case(
            f"spec-changed-{way}",
            (*codes, "PAR001"),
            (
                create(2, COLUMNS, ("identity", "p")),
                FIRST,
                _spec({"op": "remove", "name": "p"}, _add_field("truncate[10]", "id")),
                second,
                update(where("gt-eq", "id", 2), {"f": 0.25}, mode),
            ),
            "rows of files of both specs change",
        )
    yield Case(
        "spec-compacted",
        (*codes, "SNP014"),
        (
            create(2, COLUMNS, ("identity", "p")),
            FIRST,
            _spec({"op": "remove", "name": "p"}, _add_field("bucket[2]", "id")),
            second,
            COMPACT,
        ),
        "old files are rewritten under the new spec",
    )
    yield Case(
        "spec-source-renamed",
        (*codes, "EVO010"),
        (
            create(2, COLUMNS, ("identity", "p")),
            FIRST,
            alter({"op": "rename", "name": "p", "to": "q"}),
            append("id q f dec", (4, "a", None, None)),
            delete(where("eq", "q", "b"), COW),
        ),
        "a source column is renamed; its partition field keeps its name",
    )
    later = append("id f dec", (4, 4.5, None))
    for transform, version, mode in (("identity", 2, COW), ("bucket[4]", 2, MOR), ("truncate[1]", 3, MOR)):
        name = "p" if transform == "identity" else f"p_{transform.partition('[')[0]}"
        way = "cow" if mode is COW else "mor"
        yield Case(
            f"spec-source-dropped-{way}-v{version}",
            (*codes, "DFL004", "EVO011"),
            (
                create(version, COLUMNS, (transform, "p")),
                FIRST,
                _spec({"op": "remove", "name": name}),
                alter({"op": "drop", "name": "p"}),
                later,
                delete(where("in", "id", [1, 4]), mode),
                COMPACT,
            ),
            "a partition field is removed, and then its source column; old files keep their tuples",
        )


SPECS = tuple(_specs())


def _upgrades() -> Iterator[Case]:
    second = append(NAMES, (4, "a", 4.5, None), (5, "b", None, "5.00"))
    to2, to3 = ({"op": "upgrade", "format_version": version} for version in (2, 3))
    yield Case(
        "upgrade-v1-v2",
        ("VER003", "SEQ009", "UPG003", "DEL005", "DEL012"),
        (create(1, COLUMNS, ("identity", "p")), FIRST, to2, second, delete(where("in", "id", [1, 4]), MOR)),
        "position deletes of files of version 1",
    )
    yield Case(
        "upgrade-v1-v3",
        ("VER003", "SEQ009", "LIN013", "LIN015"),
        (create(1, COLUMNS), FIRST, to3, second, update(where("eq", "id", 1), {"f": 9.5}, COW)),
        "rows of version 1 get ids with the first commit of version 3",
    )
    yield Case(
        "upgrade-v2-v3",
        ("LIN013", "LIN014", "LIN015", "LIN017", "UPG011"),
        (create(2, COLUMNS, ("identity", "p")), FIRST, append(NAMES, (7, "c", None, None)), to3, second, COMPACT),
        "row ids are assigned, and then kept",
    )
    yield Case(
        "upgrade-position-deletes",
        ("DEL002", "DEL003", "DEL011", "DEL026", "UPG007"),
        (create(2, COLUMNS), FIRST, delete(where("eq", "id", 1), MOR), to3, delete(where("eq", "id", 2), MOR)),
        "a vector takes in the position deletes of its file",
    )
    yield Case(
        "upgrade-all",
        ("VER003", "UPG005", "LIN015"),
        (
            create(1, COLUMNS),
            FIRST,
            to2,
            second,
            to3,
            append(NAMES, (6, "f", None, None)),
            delete(where("eq", "id", 1)),
        ),
        "from 1 to 2 to 3, with rows of each",
    )


MADE = tuple(_upgrades())
UPGRADES = tuple(case for case in MADE if "DEL005" not in case.requirements and "DEL002" not in case.requirements)
UPGRADED_DELETES = tuple(case for case in MADE if case not in UPGRADES)


def _references() -> Iterator[Case]:
    simple = fields(("id", "long"), ("p", "string"))
    one, two, three = (append("id p", (str(number), "abc"[number - 1])) for number in (1, 2, 3))
    for version in (1, 3):
        yield Case(
            f"branch-v{version}",
            ("REF002", "REF007", *(("LIN016", "LIN030") if version == 3 else ())),
            (create(version, simple), one, {"op": "branch", "name": "b"}, {**two, "branch": "b"}, three),
            "a branch and main diverge",
        )
    yield Case(
        "branch-changes",
        ("REF007",),
        (
            create(2, simple),
            one,
            two,
            {"op": "branch", "name": "b"},
            delete(where("eq", "id", 1), MOR, branch="b"),
            {**three, "branch": "b"},
            delete(where("eq", "id", 2), COW),
        ),
        "deletes on a branch and on main",
    )
    yield Case(
        "tag",
        ("REF001", "REF002", "SNP009"),
        (
            create(2, simple),
            one,
            {"op": "tag", "name": "t"},
            two,
            alter({"op": "rename", "name": "p", "to": "q"}),
            append("id q", ("3", "c")),
            {"op": "tag", "name": "u", "at": 3},
        ),
        "tags have the schema of their snapshot",
    )
    yield Case(
        "fast-forward",
        ("REF007",),
        (
            create(3, simple),
            one,
            {"op": "branch", "name": "b"},
            {**two, "branch": "b"},
            {"op": "fast-forward", "to": "b"},
            three,
        ),
        "what was written to a branch is published",
    )
    for version in (1, 3):
        yield Case(
            f"rollback-v{version}",
            ("TMD015", "REF007", "SNP002"),
            (create(version, simple), one, two, {"op": "rollback", "to": 1}, three),
            "main is rolled back, and continues from there",
        )
    yield Case(
        "expire",
        ("REF001", "RET003", "RET005", "TMD016"),
        (
            create(2, simple),
            one,
            {"op": "tag", "name": "t"},
            two,
            delete(where("eq", "id", 1), COW),
            {"op": "expire"},
            three,
        ),
        "files that no reference needs are removed, and no others",
    )
    yield Case(
        "properties",
        ("TMD014", "REF002"),
        (
            create(2, simple),
            {"op": "properties", "set": {"a": "b"}},
            one,
            {"op": "properties", "set": {"c": "d"}, "remove": ["a"]},
            two,
        ),
        "settings of the table",
    )


REFERENCES = tuple(_references())

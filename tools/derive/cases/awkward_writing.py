"""Scripts that write awkward values and names, which must be read back unchanged."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tools.derive import awkward
from tools.derive.cases.writing_kit import (
    COW,
    FORMATS,
    Case,
    append,
    create,
    delete,
    fields,
    list_type,
    map_type,
    struct,
    where,
)
from tools.derive.json_types import Json

NESTED = fields(
    ("id", "long"),
    ("s", struct(("a", "int"), ("t", struct(("b", "string"))), ("l", list_type("int")))),
    ("ll", list_type(list_type("int"))),
    ("ls", list_type(struct(("c", "int")))),
    ("m", map_type("string", "int")),
    ("ml", map_type("string", list_type("int"))),
    ("ms", map_type("string", struct(("d", "int")))),
    ("lm", list_type(map_type("string", "int"))),
)
NESTED_ROWS: tuple[tuple[Any, ...], ...] = (
    ("1", None, None, None, None, None, None, None),
    (
        "2",
        {"a": None, "t": None, "l": None},
        [None],
        [None],
        {"keys": ["k"], "values": [None]},
        {"keys": ["k"], "values": [None]},
        {"keys": ["k"], "values": [None]},
        [None],
    ),
    (
        "3",
        {"a": 1, "t": {"b": None}, "l": [None, 1]},
        [[None], [], None],
        [{"c": None}, None, {"c": 1}],
        {"keys": ["k", "l"], "values": [None, 1]},
        {"keys": ["k", "l"], "values": [[None, 1], []]},
        {"keys": ["k", "l"], "values": [{"d": None}, None]},
        [{"keys": ["k"], "values": [None]}, {"keys": [], "values": []}],
    ),
    (
        "4",
        {"a": 1, "t": {"b": ""}, "l": []},
        [],
        [],
        {"keys": [], "values": []},
        {"keys": [], "values": []},
        {"keys": [], "values": []},
        [],
    ),
)

DEEP = fields(
    ("id", "long"),
    ("sm", struct(("m", map_type("string", "int")), ("l", list_type(map_type("string", "int"))))),
    ("mm", map_type("string", map_type("string", "int"))),
    ("ls", list_type(struct(("l", list_type(struct(("m", map_type("string", "int")))))))),
)
EMPTY: Json = {"keys": [], "values": []}
DEEP_ROWS: tuple[tuple[Any, ...], ...] = (
    ("1", None, None, None),
    ("2", {"m": None, "l": None}, {"keys": ["k"], "values": [None]}, [{"l": None}]),
    (
        "3",
        {"m": {"keys": ["k", "l"], "values": [None, 1]}, "l": [None, {"keys": ["k"], "values": [None]}, EMPTY]},
        {"keys": ["k", "l"], "values": [{"keys": ["a"], "values": [None]}, EMPTY]},
        [{"l": [{"m": {"keys": ["k"], "values": [None]}}, {"m": None}, None]}, None],
    ),
    ("4", {"m": EMPTY, "l": []}, EMPTY, [{"l": []}, {"l": [{"m": EMPTY}]}]),
)
"""Nulls in maps inside of structs and maps, and below three other nested types."""

KEYS = fields(("id", "long"), ("k", map_type(struct(("a", "int"), ("b", "string")), "int")))
KEYS_ROWS: tuple[tuple[Any, ...], ...] = (
    ("1", {"keys": [{"a": 1, "b": None}, {"a": None, "b": "x"}], "values": [1, None]}),
    ("2", EMPTY),
)
"""Null fields in struct keys of a map."""

NAMES = awkward.NAMES


def _columns(
    types: tuple[str, ...], far: bool | None, values: list[awkward.Row] = awkward.ROWS
) -> tuple[list[Json], str, list[tuple[Any, ...]]]:
    """Return a column for each of some types, and rows with their awkward values; ``far`` selects or drops far ones."""
    rows = [
        row for row in values if awkward.kind(row[1]) in types and (far is None or row[0].endswith(awkward.FAR) is far)
    ]
    kinds = list(dict.fromkeys(row[1] for row in rows))
    of_kinds = [[row[2] for row in rows if row[1] == type_] for type_ in kinds]
    longest = max(map(len, of_kinds))
    padded = [[*column, *[None] * (longest - len(column))] for column in of_kinds]
    letters = [f"c{number}" for number, _ in enumerate(kinds)]
    columns = fields(("id", "long"), *zip(letters, kinds, strict=True))
    return (
        columns,
        " ".join(("id", *letters)),
        [(str(number), *row) for number, row in enumerate(zip(*padded, strict=True))],
    )


KINDS: dict[str, tuple[int, tuple[str, ...], tuple[str, ...]]] = {
    "numbers": (2, ("int", "long", "float", "double", "decimal"), ("TYP009", "TYP010", "TYP011", "TYP012", "TYP013")),
    "texts": (2, ("string", "uuid", "fixed", "binary"), ("TYP021", "TYP022", "TYP023", "TYP024")),
    "days": (2, ("date",), ("TYP015",)),
    "times": (2, ("time",), ("TYP016",)),
    "instants": (2, ("timestamp", "timestamptz"), ("TYP017", "TYP018")),
    "nanoseconds": (3, ("timestamp_ns", "timestamptz_ns"), ("SVB003", "TYP019", "TYP020")),
}
WRITTEN = {"parquet": ("PQT003",), "avro": ("AVR006",), "orc": ("ORC002",)}


def cases() -> Iterator[Case]:
    """Yield all cases of values."""
    for format_ in FORMATS:
        for name, (version, types, codes) in KINDS.items():
            for far in (False, True) if name in ("days", "instants") else (None,):
                columns, names, rows = _columns(types, far)
                milliseconds = ("ORC007",) if (name, far, format_) == ("instants", False, "orc") else ()
                yield Case(
                    f"awkward-{'far-' if far else ''}{name}-{format_}",
                    (*codes, *WRITTEN[format_], *milliseconds),
                    (create(version, columns, format=format_), append(names, *rows)),
                    "values at their limits, or that engines easily alter, as they were written",
                )


def limit_cases() -> Iterator[Case]:
    """Yield cases of further values at limits, and of a very long one."""
    for format_ in FORMATS:
        for name, (version, codes, columns, names, rows) in _limits().items():
            yield Case(
                f"awkward-{name}-{format_}",
                (*codes, *WRITTEN[format_]),
                (create(version, columns, format=format_), append(names, *rows)),
                "values at their limits and beside them, as they were written",
            )
        yield Case(
            f"awkward-very-long-{format_}",
            ("TYP024", *WRITTEN[format_]),
            (create(2, VERY_LONG, format=format_), append("id c", *VERY_LONG_ROWS)),
            "33,024 bytes, as they were written",
        )


VERY_LONG = fields(("id", "long"), ("c", "binary"))
VERY_LONG_ROWS = (("1", awkward.VERY_LONG), ("2", ""))
LIMITS: dict[str, tuple[int, tuple[str, ...]]] = {
    "limits": (2, ("TYP011", "TYP012", "TYP013")),
    "far-limits": (2, ("TYP015",)),
    "instant-limits": (2, ("TYP017", "TYP018")),
    "far-instant-limits": (2, ("TYP017", "TYP018")),
    "nanosecond-limits": (3, ("SVB003", "TYP019", "TYP020")),
}
"""The golden tables of values at limits and beside them: the version, and the requirements of their types."""


def _limits() -> dict[str, tuple[int, tuple[str, ...], list[Json], str, list[tuple[Any, ...]]]]:
    """Return, by the name of a golden table, version, requirements, columns, their names and the rows."""
    return {
        name: (version, codes, *_columns(awkward.TABLES[name], None, awkward.table_rows(name)))
        for name, (version, codes) in LIMITS.items()
    }


def rewritten_cases() -> Iterator[Case]:
    """Yield cases of rows that are rewritten because another row of their file is deleted."""
    made = {
        name: (version, codes, *_columns(types, False if name in ("days", "instants") else None))
        for name, (version, types, codes) in KINDS.items()
    }
    made["booleans"] = (2, ("TYP008",), *_columns(("boolean",), None))
    made |= {f"far-{name}": (2, KINDS[name][2], *_columns(KINDS[name][1], far=True)) for name in ("days", "instants")}
    made |= _limits()
    made["nulls"] = (2, ("TYP002",), NESTED, "id s ll ls m ml ms lm", list(NESTED_ROWS))
    made["deep-nulls"] = (2, ("TYP002",), DEEP, "id sm mm ls", list(DEEP_ROWS))
    made["null-keys"] = (2, ("TYP004",), KEYS, "id k", list(KEYS_ROWS))
    for name, (version, codes, columns, names, rows) in made.items():
        gone = {**dict.fromkeys(names.split()), "id": "99"}
        yield Case(
            f"awkward-rewritten-{name}",
            ("SNP016", *codes),
            (
                create(version, columns),
                {"op": "append", "rows": [*append(names, *rows)["rows"], gone]},
                delete(where("eq", "id", 99), COW),
            ),
            "the rows that stay are as they were",
        )


REWRITTEN = tuple(rewritten_cases())


def nested_cases() -> Iterator[Case]:
    """Yield cases with nulls at every depth."""
    for format_ in FORMATS:
        yield Case(
            f"awkward-nulls-{format_}",
            ("TYP002", "TYP003", "TYP004", *WRITTEN[format_]),
            (create(2, NESTED, format=format_), append("id s ll ls m ml ms lm", *NESTED_ROWS)),
            "nulls and empty collections at every depth",
        )
        yield Case(
            f"awkward-deep-nulls-{format_}",
            ("TYP002", "TYP003", "TYP004", *WRITTEN[format_]),
            (create(2, DEEP, format=format_), append("id sm mm ls", *DEEP_ROWS)),
            "nulls and empty collections in maps that other types contain",
        )
        yield Case(
            f"awkward-null-keys-{format_}",
            ("TYP002", "TYP004", *WRITTEN[format_]),
            (create(2, KEYS, format=format_), append("id k", *KEYS_ROWS)),
            "a key may be a struct, and a field of it null",
        )


def name_cases() -> Iterator[Case]:
    """Yield cases of names that software easily alters."""
    columns = fields(*((name, "int") for name in NAMES))
    rows = [dict(zip(NAMES, range(start, start + len(NAMES)), strict=True)) for start in (1, 101)]
    for format_ in FORMATS:
        yield Case(
            f"awkward-names-{format_}",
            ("TYP002", *WRITTEN[format_]),
            (create(2, columns, format=format_), {"op": "append", "rows": rows}),
            "a name of a column is any text",
        )


def partition_cases() -> Iterator[Case]:
    """Yield cases of easily altered texts as partition values, except NUL, which no file system allows in a name."""
    columns = fields(("id", "long"), ("p", "string"))
    for name, note in (
        ("partitions", "a partition for each text, however alike two texts look"),
        ("partition-nul", "a path without the NUL, and a partition with it"),
    ):
        texts = [row[2] for row in awkward.STRINGS if row[0] != "string-long" and ("\x00" in row[2]) == ("nul" in name)]
        yield Case(
            f"awkward-{name}",
            ("PAR001", "TRN002", "DFL004"),
            (
                create(2, columns, ("identity", "p")),
                append("id p", *((str(id_), text) for id_, text in enumerate(texts))),
            ),
            note,
        )


def filter_cases() -> Iterator[Case]:
    """Yield cases of easily altered texts in the filters of deletes."""
    columns = fields(("id", "long"), ("p", "string"))
    rows = [(str(number), row[2]) for number, row in enumerate(awkward.STRINGS)]
    deletes = [delete(where("eq", "p", text)) for text in (" a", "a ", "it's", "e\u0301", "ABC", "a\\n")]
    others = [("100", "a"), ("101", "\u00e9"), ("102", "abc"), ("103", "its"), ("104", "a\n")]
    yield Case(
        "awkward-filters",
        ("SNP016", "EXP011"),
        (create(2, columns), append("id p", *rows, *others), *deletes),
        "the rows with this text go, and none with one that looks alike",
    )

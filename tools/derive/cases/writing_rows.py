"""Scripts that add rows: values of every type in every format, and partitions by every transform."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tools.derive.cases.writing_kit import (
    FORMAT_NAMES,
    FORMATS,
    Case,
    append,
    create,
    fields,
    list_type,
    map_type,
    struct,
)
from tools.derive.json_types import Json

WRITTEN = {"parquet": ("PQT003", "PQT004"), "avro": ("AVR006", "AVR007", "AVR014"), "orc": ("ORC002", "ORC003")}
NESTED = {"parquet": ("PQT001", "PQT002"), "avro": ("AVR001", "AVR013"), "orc": ("ORC001",)}
METRICS = ("DFL012", "DFL013", "DFL014", "DFL016", "DFL017", "DFL027")

NUMBERS = fields(
    ("id", "int", "required"),
    ("l", "long"),
    ("f", "float"),
    ("d", "double"),
    ("dec", "decimal(9, 2)"),
    ("big", "decimal(38, 10)"),
    ("b", "boolean"),
)
NUMBER_ROWS = (
    (1, "-9223372036854775808", -1.5, -2.5, "-1.50", "-1234567890123456789012345678.0123456789", False),
    (2, "9223372036854775807", "Infinity", "-Infinity", "9999999.99", "0.0000000001", True),
    (-2147483648, "0", -0.0, 0.0, "0.00", "0.0000000000", True),
    (2147483647, None, None, None, None, None, None),
    (4, "4", "NaN", "NaN", "-9999999.99", None, None),
)
TEXTS = fields(("id", "long"), ("s", "string"), ("bin", "binary"), ("fx", "fixed[4]"))
TEXT_ROWS = (
    ("1", "", "", "00000000"),
    ("2", "\u00e9\U0001f600", "00FF", "DEADBEEF"),
    ("3", "sixteen letters and more", "0102030405060708090A0B0C0D0E0F101112", "FFFFFFFF"),
    ("4", None, None, None),
)
DATES = fields(("id", "long"), ("day", "date"), ("ts", "timestamp"), ("tz", "timestamptz"))
DATE_ROWS = (
    ("1", "1970-01-01", "1970-01-01T00:00:00.000000", "1970-01-01T00:00:00.000000+00:00"),
    ("2", "1969-12-31", "1969-12-31T23:59:59.999999", "1969-12-31T23:59:59.999999+00:00"),
    ("3", "2017-11-16", "2017-11-16T22:31:08.000001", "2017-11-16T22:31:08.000001+00:00"),
    ("4", None, None, None),
)
FAR = "0001-01-02T03:04:05.678901"
FAR_ROWS = tuple((str(number), "9999-12-31", FAR, f"{FAR}+00:00") for number in range(1, 6))
"""One instant, repeated, which is before the first instant that a count of nanoseconds can represent."""

UUIDS = fields(("id", "long"), ("u", "uuid"))
UUID_ROWS = (
    ("1", "00000000-0000-0000-0000-000000000001"),
    ("2", "f79c3e09-677c-4bbd-a479-3f349cb785e7"),
    ("3", None),
)
TIMES = fields(("id", "long"), ("t", "time"))
TIME_ROWS = (("1", "00:00:00.000000"), ("2", "23:59:59.999999"), ("3", None))
NANOS = fields(("id", "long"), ("ns", "timestamp_ns"), ("nz", "timestamptz_ns"))
NANO_ROWS = (
    ("1", "1969-12-31T23:59:59.999999999", "1969-12-31T23:59:59.999999999+00:00"),
    ("2", "2017-11-16T22:31:08.000001001", "2017-11-16T22:31:08.000001001+00:00"),
    ("3", None, None),
)
COLLECTIONS = fields(
    ("id", "long"),
    ("point", struct(("x", "int"), ("y", struct(("z", "string"))))),
    ("tags", list_type("string")),
    ("prices", map_type("string", "long")),
    ("points", list_type(struct(("x", "int")))),
)
COLLECTION_ROWS: tuple[tuple[Any, ...], ...] = (
    ("1", {"x": 1, "y": {"z": "a"}}, ["a", None, ""], {"keys": ["a", "b"], "values": ["1", None]}, [{"x": 1}, None]),
    ("2", {"x": None, "y": None}, [], {"keys": [], "values": []}, []),
    ("3", None, None, None, None),
)
INSIDE = fields(
    ("id", "long"),
    ("point", struct(("day", "date"), ("at", "timestamp"))),
    ("days", list_type("date")),
    ("ends", map_type("string", "timestamptz")),
)
INSIDE_ROWS: tuple[tuple[Any, ...], ...] = (
    (
        "1",
        {"day": "1969-12-31", "at": "1969-12-31T23:59:59.999999"},
        ["2017-11-16", None, "1970-01-01"],
        {"keys": ["a", "b"], "values": ["2017-11-16T22:31:08.000001+00:00", None]},
    ),
    ("2", {"day": None, "at": None}, [], {"keys": [], "values": []}),
    ("3", None, None, None),
)

KINDS = {
    "numbers": (NUMBERS, NUMBER_ROWS, "id l f d dec big b", ("TYP009", "TYP010", "TYP011", "TYP012", "TYP013")),
    "texts": (TEXTS, TEXT_ROWS, "id s bin fx", ("TYP021", "TYP023", "TYP024")),
    "dates": (DATES, DATE_ROWS, "id day ts tz", ("TYP015", "TYP017", "TYP018")),
    "uuids": (UUIDS, UUID_ROWS, "id u", ("TYP022",)),
    "times": (TIMES, TIME_ROWS, "id t", ("TYP016",)),
}


def _types() -> Iterator[Case]:
    for format_ in FORMATS:
        of_versions = {2: tuple(KINDS), **({1: ("numbers",), 3: ("texts",)} if format_ == "parquet" else {})}
        for version, kinds in of_versions.items():
            for kind in kinds:
                columns, rows, names, codes = KINDS[kind]
                if version == 1:
                    codes = (*codes, "TMD010")
                yield Case(
                    f"{kind}-v{version}-{format_}",
                    (
                        *codes,
                        *WRITTEN[format_],
                        *METRICS,
                        *(("ORC007",) if (kind, format_) == ("dates", "orc") else ()),
                    ),
                    (create(version, columns, format=format_), append(names, *rows)),
                    f"values of each type, and nulls, in {FORMAT_NAMES[format_]}",
                )
        yield Case(
            f"far-dates-{format_}",
            ("TYP015", "TYP017", "TYP018", *WRITTEN[format_]),
            (create(2, DATES, format=format_), append("id day ts tz", *FAR_ROWS)),
            "one instant in the year 1, five times",
        )
        yield Case(
            f"nanoseconds-{format_}",
            ("SVB003", "TYP019", "TYP020", *WRITTEN[format_], *METRICS[:2]),
            (create(3, NANOS, format=format_), append("id ns nz", *NANO_ROWS)),
            "types of version 3",
        )


NULL_NESTED = fields(
    ("id", "long"),
    ("grid", list_type(list_type("int"), required=True)),
    ("curves", map_type("string", list_type("float"), required=True)),
    ("prices", map_type("string", map_type("string", "decimal(9, 2)"))),
)
VISIT = struct(("day", "date"), ("at", "timestamptz"))
NULL_VISITS = fields(("id", "long"), ("visits", list_type(VISIT)), ("stays", map_type("int", VISIT)))
"""Structs whose timestamps a writer may have to convert, so that it rebuilds the lists and maps around them."""


def _nested_types() -> Iterator[Case]:
    for format_ in FORMATS:
        yield Case(
            f"nested-{format_}",
            ("TYP002", "TYP003", "TYP004", *NESTED[format_]),
            (create(2, COLLECTIONS, format=format_), append("id point tags prices points", *COLLECTION_ROWS)),
            "structs, lists and maps: null, empty, and of nulls",
        )
    for format_ in FORMATS:
        # PQT002 is about the groups of elements, and no list has any.
        codes = NESTED[format_] if format_ != "parquet" else ("PQT001",)
        empty: Json = {"keys": [], "values": []}
        yield Case(
            f"null-nested-{format_}",
            (*codes, "TYP002", "TYP003", "TYP004"),
            (
                create(2, NULL_NESTED, format=format_),
                append("id grid curves prices", ("1", None, None, None)),
                append("id grid curves prices", ("2", [], empty, {"keys": ["a"], "values": [None]})),
            ),
            "a batch in which every list and map of lists and maps is null or empty",
        )
    for format_ in FORMATS:
        first = {"day": "1969-12-31", "at": "2017-11-16T22:31:08.000001+00:00"}
        yield Case(
            f"null-lists-of-structs-{format_}",
            (*NESTED[format_], "TYP002", "TYP003", "TYP004"),
            (
                create(2, NULL_VISITS, format=format_),
                append(
                    "id visits stays",
                    ("1", None, None),
                    ("2", [], {"keys": [], "values": []}),
                    ("3", [first, None], {"keys": [7, 8], "values": [first, None]}),
                    ("4", None, None),
                ),
            ),
            "null beside empty: lists and maps of structs with timestamps",
        )
    places = [column for column in COLLECTIONS if column["name"] != "prices"]
    rows = tuple((id_, point, tags, points) for id_, point, tags, _, points in COLLECTION_ROWS)
    yield Case(
        "lists-orc",
        ("TYP002", "TYP003", *NESTED["orc"]),
        (create(2, places, format="orc"), append("id point tags points", *rows)),
        "structs and lists: null, empty, and of nulls",
    )
    yield Case(
        "nested-dates-avro",
        ("TYP002", "TYP003", "TYP004", *NESTED["avro"]),
        (create(2, INSIDE, format="avro"), append("id point days ends", *INSIDE_ROWS)),
        "dates and timestamps in structs, lists and maps",
    )


TYPES = tuple(_types())
NESTED_TYPES = tuple(_nested_types())

# Partitions

PLACES = fields(("id", "long"), ("p", "string"), ("day", "date"), ("ts", "timestamp"), ("n", "int"))
STRINGS = (
    ("1", "a/b=c d", None, None, None),
    ("2", "\u00e9\U0001f600", None, None, None),
    ("3", "", None, None, None),
    ("4", None, None, None, None),
    ("5", "null", None, None, None),
    ("6", "a/b=c d", None, None, None),
    ("7", "50% of ?#&+", None, None, None),
)
MOMENTS = (
    ("1", None, "1969-12-31", "1969-12-31T23:59:59.999999", -1),
    ("2", None, "1970-01-01", "1970-01-01T00:00:00.000000", 0),
    ("3", None, "1968-02-29", "1968-02-29T00:00:00.000001", 15),
    ("4", None, None, None, None),
    ("5", None, "2017-11-16", "2017-11-16T22:31:08.000001", -11),
)
SPECS = {
    "identity-string": ((("identity", "p"),), STRINGS, ("TRN001", "TRN002")),
    "bucket-string": ((("bucket[4]", "p"),), STRINGS, ("TRN003", "TRN004")),
    "truncate-string": ((("truncate[1]", "p"),), STRINGS, ("TRN005", "TRN008", "MLS021")),
    "truncate-int": ((("truncate[10]", "n"),), MOMENTS, ("TRN005", "TRN006")),
    "year-date": ((("year", "day"),), MOMENTS, ("TRN010", "TRN018")),
    "month-timestamp": ((("month", "ts"),), MOMENTS, ("TRN011", "TRN018")),
    "day-timestamp": ((("day", "ts"),), MOMENTS, ("TRN012", "TRN018")),
    "hour-timestamp": ((("hour", "ts"),), MOMENTS, ("TRN014", "TRN018")),
    "two-fields": ((("bucket[2]", "id"), ("month", "day")), MOMENTS, ("TRN004", "TRN011")),
}
PARTITIONED = ("PAR001", "DFL004", "MAN003", "DFL005")


def _partitions() -> Iterator[Case]:
    names = "id p day ts n"
    for name, (spec, rows, codes) in SPECS.items():
        yield Case(
            f"partition-{name}-v2",
            (*PARTITIONED, *codes),
            (create(2, PLACES, *spec), append(names, *rows)),
            "each data file has the rows of one partition",
        )
    for version, name, format_ in (
        (1, "identity-string", "parquet"),
        (3, "identity-string", "orc"),
        (3, "truncate-int", "avro"),
        (2, "hour-timestamp", "orc"),
    ):
        spec, rows, codes = SPECS[name]
        yield Case(
            f"partition-{name}-v{version}-{format_}",
            (*PARTITIONED, *codes),
            (create(version, PLACES, *spec, format=format_), append(names, *rows[:3]), append(names, *rows[3:])),
            "two appends",
        )
    yield Case(
        "partition-void-v2",
        (*PARTITIONED, "TRN015"),
        (create(2, PLACES, ("void", "p"), ("identity", "n")), append(names, *MOMENTS)),
        "the value of the first field is null in every partition",
    )
    columns = fields(("id", "long"), ("d", "double"), ("point", struct(("x", "int"))))
    yield Case(
        "partition-floats",
        (*PARTITIONED, "TRN002", "DFL014", "DFL027"),
        (create(2, columns, ("identity", "d")), append("id d", ("1", "NaN"), ("2", 1.5), ("3", None), ("4", "NaN"))),
        "NaN is a partition value as any other",
    )
    for type_ in ("float", "double"):
        numbers = fields(("id", "long"), ("x", type_))
        yield Case(
            f"partition-infinite-{type_}s",
            (*PARTITIONED, "TRN002"),
            (
                create(2, numbers, ("identity", "x")),
                append("id x", ("1", "Infinity"), ("2", 0.0), ("3", "-Infinity"), ("4", "Infinity")),
            ),
            "an infinite number is a partition value as any other",
        )
    yield Case(
        "partition-nested-source",
        (*PARTITIONED, "PAR004"),
        (
            create(2, columns, ("identity", "point.x")),
            append("id point", ("1", {"x": 1}), ("2", {"x": None}), ("3", None), ("4", {"x": 1})),
        ),
        "a field of a struct; where the struct is null, so is its field",
    )


def _sort_orders() -> Iterator[Case]:
    names = "id p day ts n"
    sort = [
        {"source": "n", "transform": "identity", "direction": "desc", "null_order": "nulls-last"},
        {"source": "id", "transform": "identity", "direction": "asc", "null_order": "nulls-first"},
    ]
    by_day = [{"source": "ts", "transform": "day", "direction": "asc", "null_order": "nulls-first"}]
    for version in (1, 2):
        yield Case(
            f"sorted-v{version}",
            ("SRT005", "SRT004", "DFL021"),
            (
                create(version, PLACES, sort=sort),
                append(names, *MOMENTS),
                {"op": "sort", "fields": by_day},
                append(names, *MOMENTS[:2]),
            ),
            "a sort order, which another one replaces",
        )


PARTITIONS = tuple(_partitions())
SORTED = tuple(_sort_orders())

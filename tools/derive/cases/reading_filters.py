"""The filters that are applied to golden tables, and the columns that are selected from them."""

from __future__ import annotations

from typing import Any

from tools.derive import awkward
from tools.derive.cases.awkward_predicates import order_code, predicate_for
from tools.derive.cases.expression_forms import and_, leaf, not_, or_

Filter = tuple[str, str, Any, tuple[str, ...]]
"""Names of tables, the name of the filter, the predicate, and the codes that it proves besides SCN006."""


def _on(column: str, operation: str, *value: Any) -> Any:
    return leaf(operation, *value, term=column)


HIGH = "f79c3e09-677c-4bbd-a479-3f349cb785e7"
LOW = "00000000-0000-0000-0000-000000000001"
MIDDLE = "80000000-0000-0000-0000-000000000000"
BELOW = "7fffffff-ffff-ffff-ffff-ffffffffffff"
EPOCH = "1970-01-01T00:00:00.000000"
BEFORE = "1969-12-31T23:59:59.999999"
Z = "+00:00"


def _types() -> list[Filter]:
    tables = "types-v2-*"
    orders = ("EXP011",)
    rows: list[tuple[str, Any, tuple[str, ...]]] = [
        ("boolean-eq", _on("b", "eq", *[True]), ()),
        ("int-lt", _on("i", "lt", 0), ("EXP019",)),
        ("long-eq", _on("l", "eq", -1), ()),
        ("long-greatest", _on("l", "gt-eq", 2**63 - 1), ("EXP019",)),
        ("float-is-nan", _on("f", "is-nan"), ("EXP007",)),
        ("double-not-nan", _on("d", "not-nan"), ("EXP007",)),
        ("double-eq-zero", _on("d", "eq", 0.0), ("EXP019",)),
        ("double-lt-zero", _on("d", "lt", 0.0), ("EXP010", "EXP019")),
        ("double-gt", _on("d", "gt", 0.0), ("EXP010",)),
        ("decimal-eq", _on("d18", "eq", "-0.0001"), ()),
        ("decimal-wide-lt", _on("d38", "lt", "0.0000000000"), ("EXP019",)),
        ("date-before-1970", _on("day", "lt", "1970-01-01"), ()),
        ("time-gt", _on("tod", "gt", "00:00:00.000001"), ("TYP016",)),
        ("timestamp-before-1970", _on("ts", "lt", EPOCH), ()),
        ("timestamptz-gt-eq-1970", _on("tz", "gt-eq", EPOCH + Z), ()),
        ("string-starts-with", _on("s", "starts-with", "\u00e9\u4e2d"), ("EXP007",)),
        ("string-not-starts-with", _on("s", "not-starts-with", "\u00e9"), ("EXP007",)),
        ("string-astral-gt", _on("s", "gt", "\uffff"), orders),
        ("string-empty", _on("s", "eq", ""), ()),
        ("uuid-eq", _on("u", "eq", "80000000-0000-0000-8000-000000000000"), ()),
        ("uuid-gt", _on("u", "gt", "7fffffff-ffff-ffff-7fff-ffffffffffff"), orders),
        ("uuid-in", _on("u", "in", ["ffffffff-ffff-ffff-ffff-ffffffffffff", LOW]), ("EXP007",)),
        ("fixed-eq", _on("fx", "eq", "0080FF"), ()),
        ("binary-gt", _on("bin", "gt", "7F80"), orders),
        ("binary-empty", _on("bin", "eq", ""), ()),
        ("is-null", _on("l", "is-null"), ("EXP007",)),
        ("not-null", _on("s", "not-null"), ("EXP007",)),
        ("in", _on("i", "in", [-1, 0, 5]), ("EXP007",)),
        ("not-in", _on("i", "not-in", [-1, 0]), ("EXP007", "EXP008")),
        ("not-eq", _on("i", "not-eq", -1), ("EXP008",)),
        ("not-lt", not_(_on("i", "lt", 0)), ("EXP012",)),
        ("and-or", and_(_on("n", "gt", 1), or_(_on("s", "is-null"), _on("d", "is-nan"))), ("EXP012",)),
    ]
    return [(tables, *row) for row in rows]


def _partitions() -> list[Filter]:
    inclusive = ("SCN003",)
    below = (*inclusive, "EXP008")
    made: list[Filter] = []
    for name, value in (("low", LOW), ("high", HIGH), ("middle", MIDDLE), ("below", BELOW)):
        made.append(("partition-bucket-uuid", f"eq-{name}", _on("u", "eq", value), inclusive))
    made += [
        ("partition-bucket-uuid", "in", _on("u", "in", [HIGH, BELOW]), inclusive),
        ("partition-bucket-uuid", "gt", _on("u", "gt", BELOW), ("EXP011",)),
        ("partition-bucket-uuid", "is-null", _on("u", "is-null"), inclusive),
    ]
    row: dict[str, Any] = {
        "b": True,
        "i": -1,
        "l": 2**62,
        "dec": "-14.20",
        "day": "1969-12-31",
        "s": "a",
        "u": HIGH,
        "bin": "00FF",
    }
    for column, constant in row.items():
        for tables in ("partition-identity-*", *(["partition-bucket"] if column != "b" else [])):
            made.append((tables, f"{column}-eq", _on(column, "eq", constant), inclusive))
    made += [
        ("partition-identity-*", "ts-lt", _on("ts", "lt", EPOCH), below),
        ("partition-identity-*", "tz-not-null", _on("tz", "not-null"), inclusive),
        ("partition-identity-*", "s-is-null", _on("s", "is-null"), inclusive),
        ("partition-bucket", "ts-eq", _on("ts", "eq", BEFORE), inclusive),
        ("partition-truncate", "i-eq-below-zero", _on("i", "eq", -1), inclusive),
        ("partition-truncate", "i-lt", _on("i", "lt", -10), inclusive),
        ("partition-truncate", "i-lt-eq", _on("i", "lt-eq", -10), inclusive),
        ("partition-truncate", "l-gt", _on("l", "gt", 999), inclusive),
        ("partition-truncate", "i-gt-least", _on("i", "gt", -(2**31)), inclusive),  # whose truncation is below all ints
        ("partition-truncate", "l-gt-least", _on("l", "gt", -(2**63)), inclusive),
        ("partition-truncate", "dec-lt", _on("dec", "lt", "-0.50"), inclusive),
        ("partition-truncate", "dec-eq", _on("dec", "eq", "0.49"), inclusive),
        ("partition-truncate", "s-starts-with", _on("s", "starts-with", "\u00e9\u4e2d\U0001f600t"), inclusive),
        ("partition-truncate", "s-starts-with-short", _on("s", "starts-with", "\u00e9"), inclusive),
        (
            "partition-truncate",
            "s-not-starts-with",
            _on("s", "not-starts-with", "ab"),
            (*inclusive, "EXP007", "EXP012"),
        ),
        ("partition-truncate", "s-eq", _on("s", "eq", "ab"), inclusive),
        ("partition-truncate", "bin-gt", _on("bin", "gt", "00FF"), inclusive),
        ("partition-truncate", "bin-in", _on("bin", "in", ["00FF", ""]), inclusive),
    ]
    for tables in ("partition-time-*", "java-1-10-partition-time"):
        made += [
            (tables, "year-lt", _on("y", "lt", "1969-01-01"), below),
            (tables, "year-eq", _on("y", "eq", "1969-12-31"), inclusive),
            (tables, "year-gt", _on("y", "gt", "1969-12-31"), inclusive),
            (tables, "month-lt", _on("m", "lt", EPOCH + Z), below),
            (tables, "month-gt-eq", _on("m", "gt-eq", f"1969-12-01T00:00:00.000000{Z}"), inclusive),
            (tables, "day-lt-eq", _on("d", "lt-eq", "1969-12-30T23:59:59.999999"), below),
            (tables, "day-not-null", _on("d", "not-null"), inclusive),
            (tables, "hour-lt", _on("h", "lt", f"1969-12-31T23:00:00.000000{Z}"), below),
            (tables, "hour-eq", _on("h", "eq", f"1969-12-31T23:00:00.000000{Z}"), inclusive),
            (tables, "hour-in", _on("h", "in", [EPOCH + Z, f"2017-11-16T22:31:08.000001{Z}"]), inclusive),
        ]
    return made


def _floats() -> list[Filter]:
    made: list[Filter] = []
    for tables in ("partition-floats", "float-metrics"):
        made += [
            (tables, "is-nan", _on("f", "is-nan"), ("EXP007",)),
            (tables, "not-nan", _on("d", "not-nan"), ("EXP007",)),
            (tables, "eq-zero", _on("f", "eq", 0.0), ("EXP019",)),
            (tables, "eq-minus-zero", _on("d", "eq", -0.0), ("EXP019",)),
            (tables, "lt-zero", _on("d", "lt", 0.0), ("EXP010", "EXP019")),
            (tables, "gt", _on("f", "gt", 1.0), ("EXP010",)),
            (tables, "not-gt", not_(_on("f", "gt", 1.0)), ("EXP010", "EXP012")),
            (tables, "in", _on("d", "in", [0.0, -1.5]), ("EXP007", "EXP019")),
            (tables, "is-null", _on("f", "is-null"), ("EXP007",)),
        ]
    return made


def _bounds() -> list[Filter]:
    long = "sixteen letters." + "x" * 40
    astral = "\U0001f600" * 15 + "\U0010ffff"
    return [
        ("bounds-truncated", "eq-a", _on("s", "eq", long + "a"), ("SCN005",)),
        ("bounds-truncated", "eq-b", _on("s", "eq", long + "b"), ("SCN005",)),
        ("bounds-truncated", "gt", _on("s", "gt", "sixteen letters."), ("SCN005",)),
        ("bounds-truncated", "lt-eq", _on("s", "lt-eq", "sixteen letters."), ("SCN005",)),
        ("bounds-truncated", "starts-with", _on("s", "starts-with", long), ("SCN005",)),
        (
            "bounds-truncated",
            "starts-with-astral",
            _on("s", "starts-with", astral),
            ("SCN005",),
        ),
        ("bounds-truncated", "gt-all", _on("s", "gt", "\U0010ffff" * 19), ("SCN005",)),
        ("bounds-truncated", "bin-gt", _on("bin", "gt", "00" * 15 + "FF"), ("SCN005",)),
        ("bounds-truncated", "bin-eq", _on("bin", "eq", "FF" * 20), ("SCN005",)),
        ("bounds-truncated", "bin-lt", _on("bin", "lt", "00" * 17), ("SCN005",)),
        ("metrics-none", "eq", _on("s", "eq", "c"), ("SCN005",)),
        ("metrics-none", "is-null", _on("s", "is-null"), ("SCN005",)),
        ("names-special", "slash", _on("a b", "eq", "a/b"), ("SCN003",)),
        ("names-special", "hive-null", _on("a b", "eq", "__HIVE_DEFAULT_PARTITION__"), ("SCN003",)),
        ("names-special", "null", _on("a b", "is-null"), ("SCN003",)),
        ("names-special", "text-null", _on("\u00e9\u4e2d", "eq", "null"), ("SCN003",)),
        ("names-special", "empty", _on("\u00e9\u4e2d", "eq", ""), ("SCN003",)),
        ("names-special", "emoji", _on("1st", "starts-with", "\u00e9\u4e2d\U0001f600"), ("SCN003",)),
    ]


def _evolution() -> list[Filter]:
    promoted = ("EVO003", "EVO007")
    made: list[Filter] = []
    for tables in ("schema-evolution-*", "java-1-10-schema-evolution"):
        made += [
            (tables, "promoted-long", _on("id", "eq", -(2**31)), promoted),
            (tables, "promoted-long-gt", _on("id", "gt", 2**31), promoted),
            (tables, "promoted-double", _on("price", "eq", 13421773 / 2**27), promoted),
            (tables, "promoted-double-nan", _on("price", "is-nan"), promoted),
            (tables, "promoted-decimal", _on("dec", "lt", "0.00"), promoted),
            (tables, "renamed", _on("label", "eq", "a"), ("PRJ001",)),
            (tables, "old-name-of-another", _on("data", "eq", 7), ("PRJ001",)),
            (tables, "old-name-is-null", _on("data", "is-null"), ("PRJ001", "PRJ005")),
            (tables, "added-again", _on("last", "eq", 5), ("PRJ001",)),
            (tables, "added-again-is-null", _on("last", "is-null"), ("PRJ005",)),
        ]
    made += [
        ("pyiceberg-evolution", "promoted-long", _on("id", "eq", 1), promoted),
        ("pyiceberg-evolution", "promoted-double", _on("f", "gt-eq", 0.5), promoted),
        ("pyiceberg-evolution", "partition-added", _on("label", "eq", "a"), ("SCN003",)),
        ("pyiceberg-evolution", "added-is-null", _on("extra", "is-null"), ("PRJ005",)),
        ("nested-evolution-*", "renamed", _on("point.why", "eq", 2), ("PRJ001",)),
        ("nested-evolution-*", "promoted", _on("point.x", "gt", 0), promoted),
        ("nested-evolution-*", "added-again", _on("point.z", "is-null"), ("PRJ005",)),
        ("nested-parquet", "field", _on("point.x", "lt", 1.0), ("EXP003",)),
        ("nested-avro", "field", _on("point.x", "lt", 1.0), ("EXP003",)),
        ("nested-orc", "field", _on("point.x", "lt", 1.0), ("EXP003",)),
        ("name-mapping-*", "renamed", _on("label", "eq", "a"), ("PRJ003",)),
        ("name-mapping-*", "promoted", _on("id", "lt-eq", 2), ("EVO003", "PRJ003")),
        ("name-mapping-*", "field", _on("point.x", "eq", 1), ("PRJ003",)),
        ("name-mapping-*", "added-field", _on("point.z", "is-null"), ("PRJ005",)),
        ("partition-values-missing-*", "eq", _on("p", "eq", 10), ("PRJ002", "SCN003")),
        ("partition-values-missing-*", "is-null", _on("p", "is-null"), ("PRJ002", "SCN003")),
        ("partition-values-missing-*", "or", or_(_on("p", "eq", 20), _on("q", "eq", "a")), ("PRJ002", "SCN003")),
        ("pyiceberg-add-files", "eq", _on("p", "eq", 10), ("PRJ003", "SCN003")),
        ("pyiceberg-add-files", "late", _on("late", "is-null"), ("PRJ005",)),
    ]
    defaults: dict[str, Any] = {
        "b": True,
        "i": 34,
        "l": -34,
        "f": 0.5,
        "d": 0.0,
        "dec": "14.20",
        "day": "1969-12-31",
        "s": "\u00e9 default",
        "u": HIGH,
        "fx": "000FFF",
        "bin": "00",
    }
    for tables in ("defaults-parquet", "defaults-avro", "defaults-orc"):
        for name, value in defaults.items():
            made.append((tables, f"{name}-eq", _on(name, "eq", value), ("DEF001", "PRJ004")))
        made += [
            (tables, "ts-lt", _on("ts", "lt", EPOCH), ("DEF001", "PRJ004")),
            (tables, "i-not-null", _on("i", "not-null"), ("DEF001", "PRJ004")),
            (tables, "i-is-null", _on("i", "is-null"), ("DEF001", "PRJ004")),
            (tables, "i-in", _on("i", "in", [34, 35]), ("DEF001", "PRJ004")),
            (tables, "s-starts-with", _on("s", "starts-with", "\u00e9"), ("DEF001", "PRJ004")),
            (tables, "plain-is-null", _on("plain", "is-null"), ("DEF005", "PRJ005")),
        ]
    made += [
        ("defaults-nested-*", "must", _on("must", "eq", 9), ("DEF001", "PRJ004")),
        ("defaults-nested-*", "field", _on("point.y", "eq", 7), ("DEF011", "PRJ004")),
        ("defaults-nested-*", "field-is-null", _on("point.y", "is-null"), ("DEF011", "PRJ004")),
        ("partition-evolution-v1", "data", _on("data", "eq", "a"), ("MAN004", "SCN003")),
        ("partition-evolution-v1", "id", _on("id", "in", [1, 4, 6]), ("MAN004", "SCN003")),
        ("partition-evolution-v1", "day", _on("day", "lt", "1970-01-01"), ("MAN004", "SCN003")),
        ("partition-evolution-v1", "null", _on("data", "is-null"), ("MAN004", "SCN003")),
        ("partition-evolution-v2", "ts", _on("ts", "lt", EPOCH + Z), ("MAN004", "SCN003")),
        ("partition-evolution-v2", "label", _on("label", "starts-with", "\u00e9"), ("MAN004", "SCN003")),
        ("partition-evolution-v2", "id", _on("id", "eq", 8), ("MAN004", "SCN003")),
        ("partition-evolution-v2", "null", _on("ts", "is-null"), ("MAN004", "SCN003")),
        ("partition-source-dropped", "id", _on("id", "gt", 1), ("MAN004", "SCN003")),
    ]
    return made


def _deletes() -> list[Filter]:
    return [
        ("position-deletes-*", "id", _on("id", "gt", 1), ("SCN009",)),
        ("equality-deletes-parquet", "data-is-null", _on("data", "is-null"), ("SCN010",)),
        ("equality-deletes-avro", "data-is-null", _on("data", "is-null"), ("SCN010",)),
        ("equality-deletes-orc", "data-is-null", _on("data", "is-null"), ("SCN010",)),
        ("equality-deletes-scopes", "id", _on("id", "eq", 2), ("SCN010", "SCN011")),
        ("equality-deletes-scopes", "p", _on("p", "eq", "x"), ("SCN010", "SCN011")),
        ("equality-deletes-evolved", "late", _on("late", "is-null"), ("DEL023",)),
        ("equality-deletes-and-vectors", "id", _on("id", "lt", 4), ("SCN008", "SCN010")),
        ("deletes-in-one-commit", "id", _on("id", "eq", 2), ("SCN012",)),
        ("deletion-vectors-*", "id", _on("id", "gt", 1), ("SCN008",)),
        ("row-lineage-*", "id", _on("id", "in", [2, 5]), ()),
        ("upgraded-v1-v2-v3", "data", _on("data", "eq", "b"), ("MAN004",)),
        ("empty-v2", "data", _on("data", "eq", "b"), ()),
        ("empty-emptied", "id", _on("id", "eq", 1), ()),
        ("branches-and-tags", "more", _on("more", "eq", 4), ("PRJ005",)),
    ]


def _arrow() -> list[Filter]:
    pages = "arrow-pages"
    return [
        ("arrow-int96", "year-1", _on("t", "lt", f"1000-01-01T00:00:00.000000{Z}"), ()),
        ("arrow-int96", "year-9999", _on("t", "eq", f"9999-12-31T23:59:59.999999{Z}"), ()),
        ("arrow-nan-payloads", "is-nan", _on("f", "is-nan"), ("EXP007",)),
        ("arrow-nan-payloads", "not-nan", _on("d", "not-nan"), ("EXP007",)),
        (pages, "first-page", _on("id", "lt", 3), ()),
        (pages, "one-page", _on("id", "eq", 50), ()),
        (pages, "greatest", _on("id", "gt-eq", 59), ()),
        (pages, "last-group", _on("id", "in", [21, 39]), ()),
        (pages, "is-null", _on("data", "is-null"), ()),
        (pages, "text", _on("data", "gt", "v55"), ()),
        (pages, "not-text", _on("data", "not-starts-with", "v"), ()),
        (pages, "across-groups", and_(_on("id", "gt-eq", 18), _on("data", "lt-eq", "v41")), ()),
        ("arrow-names-of-deletes", "pos", _on("pos", "eq", 0), ("SCN009",)),
        ("arrow-names-of-deletes", "file-path", _on("file_path", "starts-with", "path"), ("SCN009",)),
        ("arrow-deletes-*", "id", _on("id", "gt", 4), ("SCN009",)),
    ]


def _awkward() -> list[Filter]:
    """Return a filter for each awkward value, in a table whose files and partitions have one row each.

    Far days and instants have no text form that all engines share; two filters match all of them.
    """
    made: list[Filter] = []
    for table in awkward.TABLES:
        for name, type_, value, note in awkward.table_rows(table):
            if table == "far" and name.endswith(("max", "min")):
                continue
            predicate = _rename_column(predicate_for(name, type_, value, note)[0], awkward.column(type_))
            code = "EXP007" if value == "NaN" else order_code(type_)
            tables = [f"awkward-{table}-parquet"]
            if not table.startswith("nanosecond"):
                tables.append(f"awkward-partitions-{table}")
            codes = (code, *OF_TYPES.get(type_, ()))
            made += [(pattern, name, predicate, codes) for pattern in tables]
    return made


OF_TYPES = {"date": ("TYP015",), "time": ("TYP016",)}
"""Types whose values engines often cut to a narrower range or precision: the requirements."""


def _rename_column(predicate: Any, column: str) -> Any:
    """Replace x by another column in a predicate."""
    if not isinstance(predicate, dict):
        return predicate
    return {
        name: column
        if name == "term"
        else _rename_column(member, column)
        if name in ("left", "right", "child")
        else member
        for name, member in predicate.items()
    }


FILTERS: tuple[Filter, ...] = (
    *_types(),
    *_partitions(),
    *_floats(),
    *_bounds(),
    *_evolution(),
    *_deletes(),
    *_arrow(),
    *_awkward(),
)

OPEN: dict[tuple[str, str], str] = {
    # Iceberg-Java ordered the uuids in the summary differently, so that the lower bound is above the upper one.
    (f"partition-identity-v{version}", "u-eq"): "E11"
    for version in (1, 2, 3)
} | {("awkward-partitions-uuids", row[0]): "E11" for row in awkward.BYTES if row[1] == "uuid"}
"""Filters, by table and name, whose files a planner may skip because of a different order: the contradiction."""

SELECTIONS: tuple[tuple[str, list[str]], ...] = (
    ("types-v2-parquet", ["bin", "n", "b"]),
    ("types-v2-avro", ["bin", "n", "b"]),
    ("types-v2-orc", ["bin", "n", "b"]),
    ("nested-parquet", ["props", "point"]),
    ("nested-avro", ["props", "point"]),
    ("nested-orc", ["props", "point"]),
    ("equality-deletes-parquet", ["d"]),
    ("equality-deletes-avro", ["d"]),
    ("equality-deletes-orc", ["d"]),
    ("equality-deletes-evolved", ["late"]),
    ("position-deletes-parquet", ["data"]),
    ("position-deletes-avro", ["data"]),
    ("position-deletes-orc", ["data"]),
    ("deletion-vectors-parquet", ["data"]),
    ("deletion-vectors-avro", ["data"]),
    ("deletion-vectors-orc", ["data"]),
    ("partition-values-missing-parquet", ["p"]),
    ("partition-values-missing-avro", ["p"]),
    ("partition-values-missing-orc", ["p"]),
    ("row-lineage-parquet", ["_row_id"]),
    ("row-lineage-avro", ["_row_id"]),
    ("row-lineage-orc", ["_row_id"]),
    ("row-lineage-parquet", ["_last_updated_sequence_number", "data"]),
    ("row-lineage-avro", ["_last_updated_sequence_number", "data"]),
    ("row-lineage-orc", ["_last_updated_sequence_number", "data"]),
    ("schema-evolution-parquet", ["last", "label"]),
    ("schema-evolution-avro", ["last", "label"]),
    ("schema-evolution-orc", ["last", "label"]),
    ("arrow-names-of-deletes", ["id"]),
    ("arrow-names-of-deletes", ["file_path", "pos"]),
)
"""Columns to select, by table."""


def _row(id_: str | None, data: str | None, d: Any) -> dict[str, Any]:
    return {"id": id_, "data": data, "d": d}


POSITIONS: dict[str, dict[str, dict[int, dict[str, Any]]]] = {
    f"equality-deletes-{format_}": {
        f"data-1.{format_}": {0: _row("1", "a", 1.0)},
        f"data-3.{format_}": {2: _row("4", "d", 4.0)},
        f"data-7.{format_}": {0: _row("2", "back", None), 1: _row(None, "a", None)},
    }
    for format_ in ("parquet", "avro", "orc")
}
"""The rows of tables by file and position, after their deletes."""


DELETE_PLANS: dict[str, dict[str, tuple[tuple[str, ...], tuple[str, ...]]]] = {
    **{
        f"equality-deletes-{format_}": {
            f"data-1.{format_}": ((f"equality-5.{format_}", f"equality-9.{format_}"), ()),
            f"data-3.{format_}": ((f"equality-5.{format_}",), (f"equality-9.{format_}",)),
            f"data-7.{format_}": ((), (f"equality-9.{format_}",)),
        }
        for format_ in ("parquet", "avro", "orc")
    },
    "equality-deletes-types": {
        "data-1.parquet": (("equality-5.parquet", "equality-9.parquet"), ()),
        "data-3.parquet": (("equality-5.parquet",), ("equality-9.parquet",)),
        "data-7.parquet": (("equality-9.parquet",), ()),
    },
    "equality-deletes-scopes": {
        "data-1.parquet": (("equality-10.parquet",), ()),
        "data-4.parquet": (("equality-8.parquet", "equality-10.parquet"), ()),
        "data-6.parquet": (("equality-10.parquet",), ()),
        "data-12.parquet": ((), ()),
    },
    "deletes-in-one-commit": {
        "data-1.parquet": (("equality-5.parquet",), ("position-4.parquet",)),
        "data-3.parquet": (("position-4.parquet",), ()),
    },
}
"""The files of tables with their deletes: those that delete a row, and those that apply but delete none."""

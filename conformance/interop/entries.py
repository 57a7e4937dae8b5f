"""The entries of the catalogue.

Each has a few rows with values that implementations often get wrong: nulls in every column, dates and times before
1970, keys in several partitions.
"""

from __future__ import annotations

from conformance.interop.entry import (
    ALL,
    EVERY,
    NEWER,
    NEWEST,
    Entry,
    add,
    alter,
    append,
    create,
    delete,
    eq,
    part,
    rows,
)

COPY, MERGE = "copy-on-write", "merge-on-read"
LESS_THAN_3 = {"type": "lt", "term": "id", "value": 3}
SOME = {"type": "in", "term": "id", "values": [1, 3]}
"""A filter that matches rows in several partitions, but not all rows of any of them."""

FIVE = append("id p", ["1", "a"], ["2", "a"], ["3", "b"], ["4", None], ["5", "b"])
MORE = append("id p", ["6", "a"], ["7", None], ["8", "c"])

POINT = {
    "type": "struct",
    "fields": [
        {"id": 11, "name": "x", "required": False, "type": "int"},
        {"id": 12, "name": "y", "required": False, "type": "double"},
    ],
}
TAGS = {"type": "list", "element-id": 21, "element-required": False, "element": "string"}
PRICES = {
    "type": "map",
    "key-id": 31,
    "key": "string",
    "value-id": 32,
    "value-required": False,
    "value": "decimal(9, 2)",
}

TIMES: list[list[str | None]] = [
    ["1", "1969-12-31", "1969-12-31T23:59:59.999999", "1969-12-31T23:59:59.999999+00:00"],
    ["2", "1970-01-01", "1970-01-01T00:00:00.000000", "1970-01-01T00:00:00.000000+00:00"],
    ["3", "2017-11-16", "2017-11-16T22:31:08.000001", "2017-11-16T22:31:08.000001+00:00"],
    ["4", "1968-02-29", "1968-02-29T12:00:00.000000", "1968-02-29T12:00:00.000000+00:00"],
    ["5", None, None, None],
]

ENTRIES: tuple[Entry, ...] = (
    Entry("empty", "a table that has no snapshot", ("no snapshot",), (create(id="long!", p="string"),), ALL),
    Entry(
        "appends", "two appends", (), (create(id="long!", p="string"), FIVE, MORE), ALL, EVERY, quick=True
    ),
    Entry(
        "types", "every primitive type of all versions", ("type decimal", "type time", "type uuid", "type fixed",
                                                          "type binary"),
        (
            create(id="long!", bo="boolean", i="int", f="float", d="double", dec="decimal(9, 2)", big="decimal(38, 10)",
 day="date", tod="time", ts="timestamp", tz="timestamptz", s="string", u="uuid", fx="fixed[3]",
                   bin="binary"),
            append("id bo i f d dec big day tod ts tz s u fx bin",
                   ["1", True, -1, 1.5, -0.0, "-14.20", "-0.0000000001", "1969-12-31", "23:59:59.999999",
                    "1969-12-31T23:59:59.999999", "1969-12-31T23:59:59.999999+00:00", "\u00e9\U0001f600",
                    "f79c3e09-677c-4bbd-a479-3f349cb785e7", "0080FF", "7F80"],
                   ["2", False, 2**31 - 1, "NaN", "-Infinity", "0.01", "1234567890123456789012345678.0123456789",
                    "2017-11-16", "00:00:00.000001", "2017-11-16T22:31:08.000001",
                    "2017-11-16T22:31:08.000001+00:00", "", "00000000-0000-0000-0000-000000000001", "000000", ""],
                   ["3", *[None] * 14]),
        ),
        ALL, EVERY,
    ),
    Entry(
        "nested", "structs, lists and maps, null and empty at every depth", ("nested types",),
        (
            create(id="long!", point=POINT, tags=TAGS, prices=PRICES),
            append("id point tags prices",
                   ["1", {"x": 1, "y": 0.5}, ["a", None], {"keys": ["k"], "values": ["1.50"]}],
                   ["2", {"x": None, "y": None}, [], {"keys": [], "values": []}],
                   ["3", None, None, None],
                   ["4", {"x": 4, "y": None}, [None], {"keys": ["k", "l"], "values": [None, "-0.01"]}]),
        ),
        NEWER, EVERY,
    ),
    Entry(
        "nested-evolution", "fields of structs are added, renamed, promoted and dropped",
        ("nested types", "added columns", "dropped columns", "renamed columns", "promoted types"),
        (
            create(id="long!", point=POINT),
            append("id point", ["1", {"x": 1, "y": 0.5}], ["2", None]),
            alter(add("z", "string", parent="point"), {"op": "rename", "name": "point.x", "to": "east"},
                  {"op": "promote", "name": "point.east", "type": "long"}, {"op": "drop", "name": "point.y"}),
            append("id point", ["3", {"east": "4294967296", "z": "new"}], ["4", {"east": None, "z": None}]),
        ),
    ),
    Entry(
        "types-v3", "timestamps in nanoseconds, and unknown", ("type timestamp_ns", "type timestamptz_ns",
                                                               "type unknown"),
        (
            create(id="long!", ts="timestamp_ns", tz="timestamptz_ns", nothing="unknown"),
            append("id ts tz nothing",
                   ["1", "1969-12-31T23:59:59.999999999", "1969-12-31T23:59:59.999999999+00:00", None],
                   ["2", "2017-11-16T22:31:08.000001001", "2017-11-16T22:31:08.000001001+00:00", None],
                   ["3", None, None, None]),
        ),
        NEWEST, EVERY,
    ),
    Entry(
        "variant", "a variant column", ("type variant",),
        (
            create(id="long!", v="variant"),
            append("id v", ["1", {"metadata": "010000", "value": "0C22"}], ["2", None]),
        ),
        NEWEST,
    ),
    *(
        Entry(
            f"partition-{name}", f"partitioned by {', '.join(parts)}",
            tuple(sorted({f"partition {text.partition('(')[0].partition('[')[0]}" for text in parts})),
            (
                create(*parts, id="long!", day="date", ts="timestamp", tz="timestamptz"),
                append("id day ts tz", *TIMES),
                delete(eq("day", "1969-12-31"), COPY),
            ),
            versions,
        )
        for name, parts, versions in (
            ("identity-date", ("identity(day)",), (2,)),
            ("year", ("year(day)", "bucket[4](id)"), NEWER),
            ("month", ("month(ts)",), (2,)),
            ("day", ("day(tz)",), ALL),
            ("hour", ("hour(ts)",), NEWER),
        )
    ),
    Entry(
        "partition-text", "partitions of text, null and what paths have to escape among it",
        ("partition identity", "partition truncate", "partition bucket"),
        (
            create("identity(p)", "truncate[2](p)", "bucket[4](p)", id="long!", p="string"),
            append("id p", ["1", "a/b"], ["2", ""], ["3", "\u00e9t\u00e9"], ["4", None], ["5", "a b=c%"]),
        ),
        NEWER,
    ),
    Entry(
        "partition-numbers", "partitions of numbers below zero", ("partition truncate", "partition bucket"),
        (
            create("truncate[10](n)", "truncate[50](d)", "bucket[4](u)", id="long!", n="int", d="decimal(9, 2)",
                   u="uuid"),
            append("id n d u", ["1", -1, "-14.20", "f79c3e09-677c-4bbd-a479-3f349cb785e7"],
                   ["2", 11, "14.20", "80000000-0000-0000-0000-000000000000"], ["3", None, None, None]),
        ),
        NEWER,
    ),
    Entry(
        "partition-evolution", "rows of three specs, and deletes over all of them",
        ("partition evolution", "partition identity", "partition bucket"),
        (
            create("identity(p)", id="long!", p="string"), FIVE,
            {"op": "alter-spec", "changes": [{"op": "add", **part("bucket[4](id)", "b")}]},
            MORE,
            {"op": "alter-spec", "changes": [{"op": "remove", "name": "p0"}]},
            append("id p", ["9", "b"], ["10", "d"]),
            delete(eq("p", "b"), COPY),
        ),
        ALL,
    ),
    Entry(
        "evolution", "columns are added, renamed, moved, promoted and dropped, and one gets the name of a dropped one",
        ("added columns", "dropped columns", "renamed columns", "moved columns", "promoted types"),
        (
            create(id="long!", i="int", f="float", dec="decimal(9, 2)", gone="string"),
            append("id i f dec gone", ["1", 7, 1.5, "1.50", "old"], ["2", None, None, None, None]),
            alter({"op": "drop", "name": "gone"}, {"op": "promote", "name": "i", "type": "long"},
                  {"op": "promote", "name": "f", "type": "double"},
                  {"op": "promote", "name": "dec", "type": "decimal(18, 2)"},
                  {"op": "rename", "name": "f", "to": "g"}, {"op": "move", "name": "dec", "after": "id"}),
            alter(add("gone", "int"), add("late", "string")),
            append("id i g dec gone late", ["3", "4294967296", 1e300, "1234567890.12", 3, "new"]),
        ),
        ALL, EVERY, history=True,
    ),
    Entry(
        "defaults", "columns with defaults that rows written before do not have", ("initial defaults", "added columns"),
        (
            create(id="long!", p="string"), FIVE,
            alter(add("n", "int", default=34), add("s", "string", default="none"), add("day", "date",
                                                                                       default="1969-12-31")),
            append("id n s day", ["6", None, "given", "2017-11-16"]),
            delete(eq("n", 34), COPY),
            append("id n", ["7", 7]),
        ),
        NEWEST, EVERY,
    ),
    Entry(
        "delete-rewritten", "rows deleted by rewriting files", (),
        (create("identity(p)", id="long!", p="string"), FIVE, MORE, delete(SOME, COPY)), ALL,
    ),
    Entry(
        "position-deletes", "rows deleted by position", ("position deletes",),
        (create("identity(p)", id="long!", p="string"), FIVE, MORE, delete(SOME, MERGE),
         delete({"type": "is-null", "term": "p"}, MERGE)),
        (2,), EVERY, quick=True,
    ),
    Entry(
        "deletion-vectors", "rows deleted by deletion vectors, twice in one file", ("deletion vectors", "row lineage"),
        (create(id="long!", p="string"), FIVE, MORE, delete(eq("id", 1), MERGE),
         delete(eq("id", 3), MERGE), delete(eq("id", 2), MERGE)),
        NEWEST, EVERY, quick=True,
    ),
    Entry(
        "equality-deletes", "rows deleted by equality, null among the values, and rows that come after",
        ("equality deletes",),
        (create(id="long!", p="string"), FIVE,
         {"op": "delete-equal", "rows": rows("p", ["a"], [None])},
         append("id p", ["6", "a"], ["7", None]),
         {"op": "delete-equal", "rows": rows("id p", ["3", "b"], ["5", "x"])}),
        NEWER, EVERY, quick=True,
    ),
    Entry(
        "equality-deletes-partitioned", "rows of all partitions deleted by equality",
        ("equality deletes", "partition identity"),
        (create("identity(p)", id="long!", p="string"), FIVE, MORE,
         {"op": "delete-equal", "rows": rows("id", ["2"], ["4"], ["8"])}),
        NEWER,
    ),
    Entry(
        "equality-deletes-evolved", "equality deletes of a column that is renamed, promoted and then dropped",
        ("equality deletes", "renamed columns", "dropped columns"),
        (create(id="long!", k="int", p="string"),
         append("id k p", ["1", 1, "a"], ["2", 2, "a"], ["3", None, "b"]),
         {"op": "delete-equal", "rows": rows("k", [1])},
         alter({"op": "rename", "name": "k", "to": "key"}, {"op": "promote", "name": "key", "type": "long"}),
         append("id key p", ["4", "1", "c"], ["5", "2", "c"]),
         {"op": "delete-equal", "rows": rows("key", ["2"])},
         alter({"op": "drop", "name": "key"}),
         append("id p", ["6", "d"])),
        NEWER, history=True,
    ),
    Entry(
        "deletes-of-both-kinds", "positions and equality deletes of the same files",
        ("equality deletes",),
        (create(id="long!", p="string"), FIVE, delete(eq("id", 1), MERGE),
         {"op": "delete-equal", "rows": rows("id", ["3"])}, MORE, delete(eq("id", 6), MERGE)),
        NEWER,
    ),
    Entry(
        "update", "rows that are changed, by rewriting files and by position", ("row lineage",),
        (create(id="long!", p="string"), FIVE,
         {"op": "update", "filter": LESS_THAN_3, "set": {"p": "changed"}, "mode": COPY},
         {"op": "update", "filter": eq("p", "b"), "set": {"p": None}, "mode": MERGE}),
        NEWEST,
    ),
    Entry(
        "merge", "rows that are merged: some are changed, others are new", (),
        (create(id="long!", p="string"), FIVE,
         {"op": "merge", "on": ["id"], "rows": rows("id p", ["2", "changed"], ["9", "new"]), "mode": COPY},
         {"op": "merge", "on": ["id"], "rows": rows("id p", ["9", None], ["10", "new"]), "mode": MERGE}),
        NEWER,
    ),
    Entry(
        "upsert", "rows that replace those with their key, as streams write them", ("equality deletes",),
        (create(id="long!", p="string"), FIVE,
         {"op": "upsert", "on": ["id"], "rows": rows("id p", ["2", "changed"], ["9", "new"])},
         {"op": "upsert", "on": ["id"], "rows": rows("id p", ["9", "again"])}),
        NEWER,
    ),
    Entry(
        "overwrite", "rows that are overwritten", ("overwrites",),
        (create("identity(p)", id="long!", p="string"), FIVE,
         {"op": "overwrite", "filter": eq("p", "a"), "rows": rows("id p", ["1", "a"], ["20", "a"])}),
        ALL, quick=True,
    ),
    Entry(
        "compaction", "files with deletes that are rewritten, and manifests too", ("rewritten files",),
        (create("identity(p)", id="long!", p="string"), FIVE, MORE, delete(SOME, MERGE), {"op": "compact"},
         {"op": "rewrite-manifests"}, append("id p", ["9", "b"])),
        NEWER,
    ),
    Entry(
        "sorted", "a sort order", ("sort order",),
        (create(id="long!", p="string", sort=[{"source": "p", "transform": "identity", "direction": "desc",
                                               "null_order": "nulls-last"}]), FIVE, MORE),
        NEWER, ("parquet",),
    ),
    Entry(
        "branches", "a branch and a tag, and rows on each side", ("branches", "tags"),
        (create(id="long!", p="string"), FIVE, {"op": "tag", "name": "first"}, {"op": "branch", "name": "audit"},
         append("id p", ["9", "audit"], branch="audit"), MORE, alter(add("late", "int")),
         append("id late", ["10", 10], branch="audit"), delete(eq("id", 6), COPY)),
        NEWER, history=True,
    ),
    Entry(
        "rolled-back", "a table that was rolled back and went on", (),
        (create(id="long!", p="string"), FIVE, MORE, {"op": "rollback", "to": 1}, append("id p", ["9", "b"])),
        NEWER, history=True,
    ),
    Entry(
        "expired", "a table whose old snapshots are gone", (),
        (create(id="long!", p="string"), FIVE, delete(eq("id", 1), COPY), MORE, {"op": "expire"}), NEWER,
    ),
    Entry(
        "upgraded", "a table of version 1 that is upgraded with its files, and goes on", ("row lineage",),
        (create("identity(p)", id="long!", p="string"), FIVE, {"op": "upgrade", "format_version": 2},
         MORE, delete(eq("id", 1), MERGE), {"op": "upgrade", "format_version": 3}, append("id p", ["9", "b"]),
         delete(eq("id", 2), MERGE)),
        (1,), history=True,
    ),
)  # fmt: skip
"""The catalogue."""

"""Files that partitions and manifest summaries rule out, and files that they must not rule out."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

from tools.derive.cases.expression_forms import and_, leaf, not_, or_
from tools.derive.hashing import hash_value
from tools.derive.json_types import JsonObject
from tools.derive.planning import ID, PlanTable, Spec, entry
from tools.derive.vector import Vector

Case = tuple[PlanTable, tuple[Vector, ...]]
DAY = 86_400_000_000


def column(number: int, name: str, type_: str) -> dict[str, Any]:
    """Return an optional column."""
    return {"id": number, "name": name, "required": False, "type": type_}


def _spec(type_: str, transform: str, result: str, number: int = 0) -> Spec:
    return Spec(number, ((2, 1000, "p", transform, result),))


def _partitioned_table(
    name: str, about: str, type_: str, transform: str, result: str, *values: tuple[str, Any]
) -> PlanTable:
    """Return a table with a column x, and a file in a separate manifest for each partition value."""
    table = PlanTable(name, about, columns=[ID, column(2, "x", type_)], specs=[_spec(type_, transform, result)])
    for file, value in values:
        table.manifest(entry(file, [value]))
    return table.commit()


def _x(operation: str, *value: Any) -> Any:
    return leaf(operation, *value, term="x")


def _filter_cases(table: PlanTable, *rows: tuple[str, Any, str, str], codes: str = "SCN003", note: str) -> Case:
    """Return the cases of one table, from rows of (name, filter, files that must be planned, files that may be)."""
    vectors = []
    for name, predicate, needed, others in rows:
        vectors.append(
            table.case(
                name,
                codes,
                needed.split(),
                note,
                filter=predicate,
                optional=others.split(),
                contradiction="E20" if others else "",
            )
        )
    return table, tuple(vectors)


def _identity() -> Iterator[Case]:
    table = _partitioned_table(
        "identity-int",
        "identity partitions of an int",
        "int",
        "identity",
        "int",
        ("minus", -1),
        ("zero", 0),
        ("one", 1),
        ("null", None),
    )
    yield _filter_cases(
        table,
        ("eq", _x("eq", 0), "zero", "minus one null"),
        ("lt", _x("lt", 0), "minus", "zero one null"),
        ("lt-eq", _x("lt-eq", 0), "minus zero", "one null"),
        ("gt", _x("gt", 0), "one", "minus zero null"),
        ("gt-eq", _x("gt-eq", 0), "zero one", "minus null"),
        ("not-eq", _x("not-eq", 0), "minus one null", "zero"),
        ("in", _x("in", [-1, 1, 5]), "minus one", "zero null"),
        ("not-in", _x("not-in", [-1, 1]), "zero null", "minus one"),
        ("is-null", _x("is-null"), "null", "minus zero one"),
        ("not-null", _x("not-null"), "minus zero one", "null"),
        ("not-lt", not_(_x("lt", 0)), "zero one null", "minus"),
        ("or", or_(_x("eq", 1), _x("is-null")), "one null", "minus zero"),
        ("and", and_(_x("gt", -1), _x("lt", 1)), "zero", "minus one null"),
        ("other-column", leaf("eq", 5, term="id"), "minus zero one null", ""),
        ("or-other-column", or_(_x("eq", 1), leaf("eq", 5, term="id")), "minus zero one null", ""),
        ("and-other-column", and_(_x("eq", 1), leaf("eq", 5, term="id")), "one", "minus zero null"),
        note="an identity partition is the value of all its rows",
    )
    nan = struct.unpack("<f", bytes.fromhex("0000C07F"))[0]
    table = _partitioned_table(
        "identity-float",
        "identity partitions of a float",
        "float",
        "identity",
        "float",
        ("minus-zero", -0.0),
        ("zero", 0.0),
        ("one", 1.5),
        ("nan", nan),
        ("null", None),
    )
    yield _filter_cases(
        table,
        ("eq-zero", _x("eq", 0.0), "minus-zero zero", "one nan null"),
        ("eq-minus-zero", _x("eq", -0.0), "minus-zero zero", "one nan null"),
        ("lt", _x("lt", 1.5), "minus-zero zero", "one nan null"),
        ("is-nan", _x("is-nan"), "nan", "minus-zero zero one null"),
        ("not-nan", _x("not-nan"), "minus-zero zero one null", "nan"),
        ("not-eq", _x("not-eq", 1.5), "minus-zero zero nan null", "one"),
        codes="SCN003 EXP019",
        note="0.0 and -0.0 are equal in filters, and NaN is neither less nor greater than a number",
    )
    table = _partitioned_table(
        "identity-string",
        "identity partitions of a string",
        "string",
        "identity",
        "string",
        ("empty", ""),
        ("a", "a"),
        ("ab", "ab"),
        ("high", "\uffff"),
        ("astral", "\U0001f600"),
    )
    yield _filter_cases(
        table,
        ("starts-with", _x("starts-with", "a"), "a ab", "empty high astral"),
        ("not-starts-with", _x("not-starts-with", "a"), "empty high astral", "a ab"),
        ("gt-high", _x("gt", "\uffff"), "astral", "empty a ab high"),
        ("eq-empty", _x("eq", ""), "empty", "a ab high astral"),
        codes="SCN003 EXP011",
        note="strings are compared by code points",
    )


def _transforms() -> Iterator[Case]:
    rows = (("before", -1), ("epoch", 0), ("after", 1))
    table = _partitioned_table("day", "days of a timestamp around 1970", "timestamp", "day", "date", *rows)
    yield _filter_cases(
        table,
        ("gt-last-before", _x("gt", "1969-12-31T23:59:59.999998"), "before epoch after", ""),
        ("eq-last-before", _x("eq", "1969-12-31T23:59:59.999999"), "before", "epoch after"),
        ("lt-epoch", _x("lt", "1970-01-01T00:00:00.000000"), "before", "epoch after"),
        ("lt-eq-epoch", _x("lt-eq", "1970-01-01T00:00:00.000000"), "before epoch", "after"),
        ("gt-end-of-day", _x("gt", "1970-01-01T23:59:59.999999"), "after", "before epoch"),
        ("gt-in-day", _x("gt", "1970-01-01T12:00:00.000000"), "epoch after", "before"),
        ("not-eq", _x("not-eq", "1970-01-01T00:00:00.000000"), "before epoch after", ""),
        ("in", _x("in", ["1969-12-31T00:00:00.000000", "1970-01-02T00:00:00.000000"]), "before after", "epoch"),
        codes="SCN003 TRN010",
        note="the day of a timestamp, rounded down also before 1970",
    )
    for transform, later in (
        ("hour", "1970-01-01T00:59:59.999999"),
        ("month", "1970-01-31T23:59:59.999999"),
        ("year", "1970-12-31T23:59:59.999999"),
    ):
        table = _partitioned_table(
            transform, f"{transform}s of a timestamp around 1970", "timestamp", transform, "int", *rows
        )
        yield _filter_cases(
            table,
            ("eq-last-before", _x("eq", "1969-12-31T23:59:59.999999"), "before", "epoch after"),
            ("eq-last-of-first", _x("eq", later), "epoch", "before after"),
            ("gt-last-of-first", _x("gt", later), "after", "before epoch"),
            codes="SCN003 TRN010",
            note=f"the {transform} of a timestamp, rounded down also before 1970",
        )
    hashed = hash_value("string", "iceberg") % 16
    others = tuple((f"b{number}", number) for number in (0, 5, 9, 15) if number != hashed)
    table = _partitioned_table("bucket", "buckets of a string", "string", "bucket[16]", "int", ("hit", hashed), *others)
    names = " ".join(name for name, _ in others)
    yield _filter_cases(
        table,
        ("eq", _x("eq", "iceberg"), "hit", names),
        ("in", _x("in", ["iceberg", "iceberg "]), "hit", names),
        ("lt", _x("lt", "iceberg"), f"hit {names}", ""),
        ("not-eq", _x("not-eq", "iceberg"), f"hit {names}", ""),
        ("starts-with", _x("starts-with", "ice"), f"hit {names}", ""),
        codes="SCN003 TRN006",
        note="a bucket only shows equality",
    )
    table = _partitioned_table(
        "truncate-int", "ints truncated to tens", "int", "truncate[10]", "int", ("low", -10), ("zero", 0), ("ten", 10)
    )
    yield _filter_cases(
        table,
        ("eq-minus-one", _x("eq", -1), "low", "zero ten"),
        ("lt-zero", _x("lt", 0), "low", "zero ten"),
        ("lt-ten", _x("lt", 10), "low zero", "ten"),
        ("gt-nine", _x("gt", 9), "ten", "low zero"),
        ("gt-eight", _x("gt", 8), "zero ten", "low"),
        ("gt-eq-minus-ten", _x("gt-eq", -10), "low zero ten", ""),
        codes="SCN003 TRN007",
        note="truncation of negative numbers goes down",
    )
    table = _partitioned_table(
        "truncate-string",
        "strings truncated to three",
        "string",
        "truncate[3]",
        "string",
        ("ab", "ab"),
        ("abc", "abc"),
        ("abd", "abd"),
    )
    yield _filter_cases(
        table,
        ("starts-with-short", _x("starts-with", "ab"), "ab abc abd", ""),
        ("starts-with-long", _x("starts-with", "abcde"), "abc", "ab abd"),
        ("not-starts-with-long", _x("not-starts-with", "abcde"), "ab abc abd", ""),
        ("not-starts-with-whole", _x("not-starts-with", "abc"), "ab abd", "abc"),
        ("eq-long", _x("eq", "abcd"), "abc", "ab abd"),
        ("lt-long", _x("lt", "abcd"), "ab abc", "abd"),
        ("gt-long", _x("gt", "abcd"), "abc abd", "ab"),
        ("not-eq-short", _x("not-eq", "ab"), "abc abd", "ab"),
        codes="SCN003 TRN008",
        note="all strings with the same beginning are in one partition",
    )


def _specs() -> Iterator[Case]:
    columns = [ID, column(2, "x", "int")]
    specs = [
        Spec(0),
        Spec(1, ((2, 1000, "x", "identity", "int"),)),
        Spec(2, ((2, 1001, "x_10", "truncate[10]", "int"),)),
    ]
    table = PlanTable("evolved", "files of three specs", columns=columns, specs=specs)
    table.manifest(entry("free")).manifest(entry("one", [1]), entry("two", [2]), spec=1)
    table.manifest(entry("ten", [10]), entry("zero", [0]), spec=2).commit()
    yield _filter_cases(
        table,
        ("eq", _x("eq", 1), "free one zero", "two ten"),
        ("gt", _x("gt", 1), "free two zero ten", "one"),
        codes="MAN004 SCN003",
        note="a filter is projected with the spec of each manifest",
    )
    spec = Spec(0, ((3, 1000, "q", "identity", "string"), (2, 1001, "x", "identity", "int")))
    columns = [ID, column(2, "x", "int"), column(3, "q", "string")]
    specs = [spec, Spec(1, spec.fields[1:])]
    table = PlanTable(
        "dropped-source", "an older spec whose first field's source was dropped", columns=columns, specs=specs
    )
    table.manifest(entry("one", ["a", 1])).manifest(entry("two", ["b", 2])).manifest(entry("null", [None, None]))
    table.schemas.append({"type": "struct", "schema-id": 1, "fields": columns[:2]})
    table.commit()
    yield _filter_cases(
        table,
        ("all", None, "one two null", ""),
        ("eq", _x("eq", 1), "one", "two null"),
        ("is-null", _x("is-null"), "null", "one two"),
        codes="SCN003 MLS016",
        note="summaries are in the order of the spec's fields, even if their sources were dropped",
    )
    spec = Spec(0, ((2, 1000, "x_void", "void", "int"), (2, 1001, "x", "identity", "int")))
    table = PlanTable("void-beside", "a void field beside an identity field", columns=columns[:2], specs=[spec])
    table.manifest(entry("one", [None, 1]), entry("two", [None, 2])).commit()
    yield _filter_cases(
        table,
        ("eq", _x("eq", 1), "one", "two"),
        ("not-null", _x("not-null"), "one two", ""),
        codes="SCN003",
        note="void partitions are null and say nothing about the column",
    )


def _summaries() -> Iterator[Case]:
    columns, spec = [ID, column(2, "x", "float")], Spec(0, ((2, 1000, "x", "identity", "float"),))
    nan = struct.unpack("<f", bytes.fromhex("0000C07F"))[0]
    table = PlanTable(
        "summary-unknown", "summaries that are missing or leave something out", columns=columns, specs=[spec]
    )
    table.manifest(entry("none", [1.0]), summaries=None)
    bound = struct.pack("<f", 1.0)
    partly = [{"contains_null": False, "contains_nan": None, "lower_bound": bound, "upper_bound": bound}]
    table.manifest(entry("nan", [nan]), entry("one", [1.0]), summaries=partly).commit()
    yield _filter_cases(
        table,
        ("eq", _x("eq", 1.0), "none one", "nan"),
        ("is-nan", _x("is-nan"), "nan", "none one"),
        codes="MLS016 MLS020 SCN002",
        note="a missing summary is unknown, and so is contains_nan where it is not set",
    )
    table = PlanTable("summary-wide", "summaries that also cover deleted files", columns=columns, specs=[spec])
    wide = [{"contains_null": True, "contains_nan": True, "lower_bound": bound, "upper_bound": struct.pack("<f", 9.0)}]
    table.manifest(entry("five", [5.0]), entry("gone", [9.0], 3, status=2), summaries=wide).commit()
    yield _filter_cases(
        table,
        ("eq", _x("eq", 5.0), "five", ""),
        ("eq-deleted", _x("eq", 9.0), "", "five"),
        ("is-null", _x("is-null"), "", "five"),
        codes="SCN001 SCN002",
        note="a summary may cover more than the live files",
    )
    table = PlanTable("summary-null-only", "a manifest of which all partitions are null", columns=columns, specs=[spec])
    table.manifest(entry("null", [None])).manifest(entry("one", [1.0])).commit()
    yield _filter_cases(
        table,
        ("is-null", _x("is-null"), "null", "one"),
        ("eq", _x("eq", 1.0), "one", "null"),
        ("not-eq", _x("not-eq", 1.0), "null", "one"),
        codes="MLS019 MLS021 SCN002",
        note="a summary without bounds means that all values are null",
    )
    counts: JsonObject = {"added_files_count": None, "existing_files_count": None, "deleted_files_count": None}
    rows: JsonObject = {"added_rows_count": None, "existing_rows_count": None, "deleted_rows_count": None}
    table = PlanTable("counts-unknown", "a manifest list of v1 without counts", 1).manifest(
        entry("a"), **counts, **rows
    )
    table.manifest(entry("gone", status=2)).commit()
    note = "counts that are null are taken for numbers above zero"
    yield table, (table.case("all", "MLS010 MLS011 SCN002", ["a"], note),)


def cases() -> Iterator[Case]:
    """Yield the tables with partitions, and their expected plans."""
    yield from _identity()
    yield from _transforms()
    yield from _specs()
    yield from _summaries()

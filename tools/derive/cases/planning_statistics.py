"""Files that counts and bounds rule out, and files that they must not rule out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tools.derive.cases.expression_forms import and_, leaf, not_, or_
from tools.derive.cases.planning_partitions import column
from tools.derive.planning import ID, PlanTable, Spec, entry
from tools.derive.vector import Vector

Case = tuple[PlanTable, tuple[Vector, ...]]


def _x(operation: str, *value: Any) -> Any:
    return leaf(operation, *value, term="x")


def _table_with_statistics(
    name: str, about: str, type_: str, files: Mapping[str, tuple[Any, ...]], **more: Any
) -> PlanTable:
    """Return a table with a column x: for each file the bounds, and counts of values, nulls and NaNs."""
    table = PlanTable(name, about, columns=[ID, column(2, "x", type_)], **more)
    rows = [entry(file, stats={2: (type_, *bounds)} if bounds else {}) for file, bounds in files.items()]
    return table.manifest(*rows).commit()


def _filter_cases(
    table: PlanTable, *rows: tuple[str, Any, str, str], codes: str, note: str, contradiction: str = ""
) -> Case:
    vectors = []
    for name, predicate, needed, others in rows:
        known = " ".join(filter(None, ("E20" if others else "", contradiction)))
        vectors.append(
            table.case(
                name, codes, needed.split(), note, filter=predicate, optional=others.split(), contradiction=known
            )
        )
    return table, tuple(vectors)


def _numbers() -> Iterator[Case]:
    files = {
        "low": (1, 10, 10, 0),
        "high": (11, 20, 10, 0),
        "one": (15, 15, 10, 0),
        "nulls": (None, None, 10, 10),
        "unknown": (),
    }
    table = _table_with_statistics(
        "bounds-long", "files with bounds of a long, one with nulls alone, one without statistics", "long", files
    )
    yield _filter_cases(
        table,
        ("eq-lower", _x("eq", 11), "high unknown", "low one nulls"),
        ("eq-upper", _x("eq", 10), "low unknown", "high one nulls"),
        ("lt-lower", _x("lt", 11), "low unknown", "high one nulls"),
        ("lt-eq-lower", _x("lt-eq", 11), "low high unknown", "one nulls"),
        ("gt-upper", _x("gt", 10), "high one unknown", "low nulls"),
        ("gt-eq-upper", _x("gt-eq", 10), "low high one unknown", "nulls"),
        ("not-eq-one", _x("not-eq", 15), "low high nulls unknown", "one"),
        ("in", _x("in", [0, 15, 99]), "high one unknown", "low nulls"),
        ("not-in", _x("not-in", [15, 99]), "low high nulls unknown", "one"),
        ("is-null", _x("is-null"), "nulls unknown", "low high one"),
        ("not-null", _x("not-null"), "low high one unknown", "nulls"),
        ("not-lt", not_(_x("lt", 16)), "high nulls unknown", "low one"),
        ("and", and_(_x("gt", 10), _x("lt", 15)), "high unknown", "low one nulls"),
        ("or", or_(_x("eq", 1), _x("eq", 20)), "low high unknown", "one nulls"),
        ("null-or-eq", or_(_x("is-null"), _x("eq", 1)), "low nulls unknown", "high one"),
        codes="SCN005 SCN006",
        note="a file may be left out where its counts and bounds show that no row matches",
    )
    files = {
        "all": (1, 9, 10, 0),
        "no-counts": (1, 9),
        "no-lower": (None, 9, 10, 0),
        "no-upper": (1, None, 10, 0),
        "only-counts": (None, None, 10, 0),
        "values-only": (1, 9, 10),
    }
    table = _table_with_statistics("bounds-partly", "files that lack one or another statistic", "long", files)
    yield _filter_cases(
        table,
        ("is-null", _x("is-null"), "no-counts values-only", "all no-lower no-upper only-counts"),
        ("below", _x("lt", 1), "no-lower only-counts", "all no-counts no-upper values-only"),
        ("above", _x("gt", 9), "no-upper only-counts", "all no-counts no-lower values-only"),
        ("not-null", _x("not-null"), "all no-counts no-lower no-upper only-counts values-only", ""),
        codes="SCN005 DFL013",
        note="a missing statistic is unknown, and never zero",
    )
    table = PlanTable(
        "bounds-promoted", "bounds from before an int became a long", columns=[ID, column(2, "x", "long")]
    )
    table.manifest(
        entry("int", stats={2: ("int", 5, 9, 10, 0)}), entry("long", stats={2: ("long", 2**40, 2**40, 10, 0)})
    ).commit()
    yield _filter_cases(
        table,
        ("eq", _x("eq", 9), "int", "long"),
        ("large", _x("gt-eq", 2**40), "long", "int"),
        codes="DFL016 SCN005",
        note="a bound of four bytes is the int that it was",
    )
    written = {"before": ("1969-12-30", "1969-12-31"), "after": ("1970-01-01", "1970-01-02")}
    days = {
        name: tuple({"1969-12-30": -2, "1969-12-31": -1, "1970-01-01": 0, "1970-01-02": 1}[day] for day in both)
        for name, both in written.items()
    }
    table = _table_with_statistics("bounds-date", "bounds of dates around 1970", "date", days)
    yield _filter_cases(
        table,
        ("lt", _x("lt", "1970-01-01"), "before", "after"),
        ("eq", _x("eq", "1969-12-31"), "before", "after"),
        ("gt-eq", _x("gt-eq", "1969-12-31"), "before after", ""),
        codes="SCN005 SVB003",
        note="days before 1970 are negative",
    )
    table = _table_with_statistics(
        "bounds-decimal",
        "bounds of decimals of both signs",
        "decimal(4, 2)",
        {"minus": ("-1.29", "-1.28"), "around": ("-0.01", "0.01"), "plus": ("1.27", "1.28")},
    )
    yield _filter_cases(
        table,
        ("eq-minus", _x("eq", "-1.28"), "minus", "around plus"),
        ("lt", _x("lt", "0.00"), "minus around", "plus"),
        ("gt-eq", _x("gt-eq", "1.28"), "plus", "minus around"),
        codes="SCN005 SVB008",
        note="decimals are compared as numbers, whatever the length of their bytes",
    )


def _floats() -> Iterator[Case]:
    nan = bytes.fromhex("000000000000F87F")
    files = {
        "finite": (1.0, 9.0, 10, 0, 0),
        "some-nan": (1.0, 9.0, 10, 0, 3),
        "all-nan": (None, None, 10, 0, 10),
        "no-nan-count": (1.0, 9.0, 10, 0),
    }
    table = _table_with_statistics("bounds-double", "doubles with and without NaN", "double", files)
    yield _filter_cases(
        table,
        ("is-nan", _x("is-nan"), "some-nan all-nan no-nan-count", "finite"),
        ("not-nan", _x("not-nan"), "finite some-nan no-nan-count", "all-nan"),
        ("above", _x("gt", 9.0), "", "finite some-nan all-nan no-nan-count"),
        ("eq", _x("eq", 5.0), "finite some-nan no-nan-count", "all-nan"),
        ("not-above", not_(_x("lt", 10.0)), "some-nan all-nan no-nan-count", "finite"),
        codes="SCN005 DFL014",
        note="bounds ignore NaN, which only the count shows",
    )
    broken = {"lower": (nan, 9.0, 10, 0), "upper": (1.0, nan, 10, 0), "both": (nan, nan, 10, 0)}
    table = _table_with_statistics("bounds-nan", "bounds that are NaN, which no writer should write", "double", broken)
    yield _filter_cases(
        table,
        ("inside", _x("eq", 5.0), "lower upper both", ""),
        codes="DFL027 SCN005",
        note="a bound that is NaN says nothing",
        contradiction="E16",
    )
    table = _table_with_statistics(
        "bounds-zeros",
        "bounds that are 0.0 and -0.0",
        "double",
        {"plus": (0.0, 0.0, 10, 0, 0), "minus": (-0.0, -0.0, 10, 0, 0)},
    )
    yield _filter_cases(
        table,
        ("eq-minus", _x("eq", -0.0), "plus minus", ""),
        ("eq-plus", _x("eq", 0.0), "plus minus", ""),
        ("lt-eq-minus", _x("lt-eq", -0.0), "plus minus", ""),
        ("gt-eq-plus", _x("gt-eq", 0.0), "plus minus", ""),
        codes="SCN005 EXP019",
        note="0.0 and -0.0 are equal, so neither rules out the other",
        contradiction="B7",
    )


def _texts() -> Iterator[Case]:
    files = {"cut": ("abc", "abd", 10, 0), "open": ("abc", None, 10, 0), "short": ("a", "ab", 10, 0)}
    table = _table_with_statistics(
        "bounds-string", "bounds of strings that are truncated to three characters", "string", files
    )
    yield _filter_cases(
        table,
        ("eq-longer", _x("eq", "abcxyz"), "cut open", "short"),
        ("starts-with", _x("starts-with", "abcx"), "cut open", "short"),
        ("starts-with-bound", _x("starts-with", "ab"), "cut open short", ""),
        ("not-starts-with", _x("not-starts-with", "abc"), "cut open short", ""),
        ("above", _x("gt", "abd"), "open", "cut short"),
        ("not-eq-bound", _x("not-eq", "abc"), "cut open short", ""),
        codes="SCN005 DFL016",
        note="a truncated bound need not be a value of the column",
    )
    files = {"same": ("abc", "abcd", 10, 0), "nulls": ("abc", "abcd", 10, 1), "wider": ("abb", "abcd", 10, 0)}
    table = _table_with_statistics("bounds-prefix", "bounds that have the same prefix", "string", files)
    yield _filter_cases(
        table,
        ("not-starts-with", _x("not-starts-with", "abc"), "nulls wider", "same"),
        ("starts-with", _x("starts-with", "abca"), "same nulls wider", ""),
        codes="SCN005 EXP012",
        note="every string between two strings with a prefix has the prefix, and null does not",
    )
    files = {"astral": ("\ue000", "\U0001f600", 10, 0), "high": ("\ufffd", "\uffff", 10, 0)}
    table = _table_with_statistics("bounds-astral", "bounds with characters beyond the basic plane", "string", files)
    yield _filter_cases(
        table,
        ("eq-high", _x("eq", "\uffff"), "astral high", ""),
        ("gt-high", _x("gt", "\uffff"), "astral", "high"),
        codes="EXP011 SCN005",
        note="strings are ordered by code points, not by the units of UTF-16",
    )
    low, middle, high = "00000000-0000-0000-0000-000000000001", "7fffffff-ffff-ffff-ffff-ffffffffffff", "f" * 8
    high = f"{high}-ffff-ffff-ffff-ffffffffffff"
    raw = {name: text.replace("-", "") for name, text in (("low", low), ("middle", middle), ("high", high))}
    files = {"around": (raw["middle"], raw["high"], 10, 0), "lower": (raw["low"], raw["middle"], 10, 0)}
    table = _table_with_statistics("bounds-uuid", "bounds of uuids with and without the high bit", "uuid", files)
    yield _filter_cases(
        table,
        ("eq-high", _x("eq", "80000000-0000-0000-0000-000000000000"), "around", "lower"),
        ("eq-low", _x("eq", low), "lower", "around"),
        codes="EXP011 SCN005",
        note="uuids are ordered by unsigned bytes",
        contradiction="E11",
    )
    files = {"high": ("80", "FF", 10, 0), "low": ("00", "7F", 10, 0)}
    table = _table_with_statistics("bounds-binary", "bounds of bytes with and without the high bit", "binary", files)
    yield _filter_cases(
        table,
        ("eq-high", _x("eq", "9000"), "high", "low"),
        ("lt", _x("lt", "80"), "low", "high"),
        codes="EXP011 SCN005",
        note="bytes are compared without sign",
    )


def _together() -> Iterator[Case]:
    columns = [ID, column(2, "x", "int"), column(3, "y", "int")]
    table = PlanTable(
        "both", "partitions and bounds", columns=columns, specs=[Spec(0, ((2, 1000, "x", "identity", "int"),))]
    )
    table.manifest(
        entry("one-low", [1], stats={3: ("int", 1, 5, 10, 0)}),
        entry("one-high", [1], stats={3: ("int", 6, 9, 10, 0)}),
        entry("two-low", [2], stats={3: ("int", 1, 5, 10, 0)}),
    ).commit()
    y = leaf("gt", 5, term="y")
    yield _filter_cases(
        table,
        ("and", and_(_x("eq", 1), y), "one-high", "one-low two-low"),
        ("or", or_(_x("eq", 2), y), "one-high two-low", "one-low"),
        ("or-false-in-partition", or_(and_(_x("eq", 2), leaf("lt", 5, term="y")), y), "one-high two-low", "one-low"),
        codes="SCN003 SCN005",
        note="partition and statistics each decide their part of a filter",
    )
    added = {"id": 2, "name": "x", "required": False, "type": "int", "initial-default": 7, "write-default": 7}
    table = PlanTable("default", "a column with a default that older files do not have", 3, columns=[ID, added])
    table.manifest(entry("older", stats={1: ("long", 1, 2, 10, 0)}), entry("newer", stats={2: ("int", 1, 2, 10, 0)}))
    table.commit()
    yield _filter_cases(
        table,
        ("eq-default", _x("eq", 7), "older", "newer"),
        ("eq-other", _x("eq", 1), "newer", "older"),
        ("not-null", _x("not-null"), "older newer", ""),
        codes="DEF001 SCN006",
        note="the rows of files that do not have a column have its default",
    )
    struct = {"type": "struct", "fields": [column(3, "inner", "int")]}
    nested = {"id": 2, "name": "s", "required": False, "type": struct}
    table = PlanTable("nested", "statistics of a field in a struct", columns=[ID, nested])
    table.manifest(
        entry("low", stats={3: ("int", 1, 5, 10, 2)}), entry("high", stats={3: ("int", 6, 9, 10, 0)})
    ).commit()
    yield _filter_cases(
        table,
        ("eq", leaf("eq", 4, term="s.inner"), "low", "high"),
        ("is-null", leaf("is-null", term="s.inner"), "low", "high"),
        codes="SCN005 DFL016",
        note="statistics are of the fields of structs too",
    )
    table = (
        PlanTable("empty-file", "a file without rows").manifest(entry("none", record_count=0), entry("some")).commit()
    )
    note = "a file without rows may be left out"
    yield (
        table,
        (
            table.case(
                "filter",
                "SCN005 SCN006",
                ["some"],
                note,
                filter=leaf("eq", 1, term="id"),
                optional=["none"],
                contradiction="E20",
            ),
        ),
    )


def cases() -> Iterator[Case]:
    """Yield the tables with statistics, and their expected plans."""
    yield from _numbers()
    yield from _floats()
    yield from _texts()
    yield from _together()

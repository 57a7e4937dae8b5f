"""Which rows match, as the vectors of reading derive it: by hand, and against the reference."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.properties.filter_pushdown import matching_rows
from tools.derive.rows import filter_rows, matches
from tools.mutants.seeded_examples import make_case

TYPES: dict[str, Any] = {
    "n": "int",
    "d": "double",
    "s": "string",
    "u": "uuid",
    "b": "binary",
    "ts": "timestamp",
    "p": {"type": "struct", "fields": [{"id": 9, "name": "x", "type": "long"}]},
}
ROW: dict[str, Any] = {
    "n": 34,
    "d": -0.0,
    "s": "\U0001f600",
    "u": "80000000-0000-0000-0000-000000000000",
    "b": "80",
    "ts": "1969-12-31T23:59:59.999999",
    "p": {"9": "7"},
}
NULLS: dict[str, Any] = dict.fromkeys(TYPES)


@pytest.mark.parametrize(
    ("kind", "term", "constant", "row", "expected"),
    [
        ("eq", "n", 34, ROW, True),
        ("not-eq", "n", 34, NULLS, True),
        ("lt", "n", 35, NULLS, False),
        ("gt-eq", "n", 0, NULLS, False),
        ("eq", "d", 0.0, ROW, True),
        ("lt", "d", 0.0, ROW, False),
        ("gt", "d", 0.0, {**ROW, "d": "NaN"}, False),
        ("gt", "s", "\uffff", ROW, True),
        ("starts-with", "s", "", NULLS, False),
        ("not-starts-with", "s", "a", NULLS, True),
        ("gt", "u", "7fffffff-ffff-ffff-ffff-ffffffffffff", ROW, True),
        ("gt", "b", "7F", ROW, True),
        ("gt", "b", "8000", ROW, False),
        ("lt", "ts", "1970-01-01T00:00:00", ROW, True),
        ("eq", "p.x", 7, ROW, True),
        ("eq", "p.x", 7, NULLS, False),
    ],
)
def test_comparisons(kind: str, term: str, constant: Any, row: dict[str, Any], expected: bool) -> None:
    assert matches({"type": kind, "term": term, "value": constant}, row, TYPES) is expected


def test_tests_and_logic() -> None:
    null = {"type": "is-null", "term": "n"}
    among = {"type": "in", "term": "n", "values": [1, 34]}
    assert [matches(null, row, TYPES) for row in (ROW, NULLS)] == [False, True]
    assert [matches(among, row, TYPES) for row in (ROW, NULLS)] == [True, False]
    assert [matches({**among, "type": "not-in"}, row, TYPES) for row in (ROW, NULLS)] == [False, True]
    assert matches({"type": "and", "left": null, "right": among}, ROW, TYPES) is False
    assert matches({"type": "or", "left": null, "right": among}, ROW, TYPES) is True
    assert matches({"type": "not", "child": among}, ROW, TYPES) is False
    assert matches({"type": "is-nan", "term": "d"}, {**ROW, "d": "NaN"}, TYPES) is True
    assert matches({"type": "not-nan", "term": "d"}, NULLS, TYPES) is True


@pytest.mark.parametrize("seed", range(300))
def test_two_independent_evaluations_agree(seed: int) -> None:
    case = make_case(seed)
    rows = case.rows()
    assert filter_rows(case.predicate, rows, case.types) == matching_rows(case, rows)

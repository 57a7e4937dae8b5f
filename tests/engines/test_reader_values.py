"""The conversion of Arrow tables and filters by adapters of readers, without an engine."""

from __future__ import annotations

import uuid
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from conformance.adapter_sdk import arrow_rows
from conformance.adapter_sdk.serve import Unsupported
from conformance.adapter_sdk.sql_dialects import Dialect
from conformance.adapter_sdk.sql_predicates import build_predicate, predicate_sql, push_down_not, select_statement
from conformance.operations.comparison import read_type
from conformance.operations.wire import from_exchange

U = uuid.UUID("f79c3e09-677c-4bbd-a479-3f349cb785e7")
POINT = {
    "type": "struct",
    "fields": [
        {"id": 4, "name": "x", "required": False, "type": "double"},
        {"id": 5, "name": "label", "required": False, "type": "string"},
    ],
}
TAGS = {"type": "list", "element-id": 7, "element-required": False, "element": "long"}
PRICES = {"type": "map", "key-id": 9, "key": "string", "value-id": 10, "value-required": False, "value": "decimal(9,2)"}
NESTED = {"type": "list", "element-id": 12, "element-required": False, "element": POINT}

CASES: list[tuple[Any, pa.Array, list[Any]]] = [
    ("boolean", pa.array([True, None]), [True, None]),
    ("int", pa.array([-(2**31), None], pa.int32()), [-(2**31), None]),
    ("long", pa.array([2**63 - 1, -1]), ["9223372036854775807", "-1"]),
    ("float", pa.array([1.5, float("nan"), -0.0], pa.float32()), [1.5, "NaN", -0.0]),
    ("double", pa.array([float("inf"), float("-inf")]), ["Infinity", "-Infinity"]),
    ("decimal(9,2)", pa.array([Decimal("-1.50")], pa.decimal128(9, 2)), ["-1.50"]),
    ("date", pa.array([-1, 2932897], pa.int32()).cast(pa.date32()), ["1969-12-31", "+10000-01-01"]),
    ("time", pa.array([86_399_999_999], pa.time64("us")), ["23:59:59.999999"]),
    ("time", pa.array([1000], pa.int64()).cast(pa.time64("ns")), ["00:00:00.000001"]),
    ("timestamp", pa.array([-1], pa.timestamp("us")), ["1969-12-31T23:59:59.999999"]),
    ("timestamp", pa.array([1], pa.timestamp("s")), ["1970-01-01T00:00:01.000000"]),
    ("timestamptz", pa.array([0], pa.timestamp("us", "Etc/UTC")), ["1970-01-01T00:00:00.000000+00:00"]),
    ("timestamp_ns", pa.array([-1], pa.timestamp("ns")), ["1969-12-31T23:59:59.999999999"]),
    ("timestamptz_ns", pa.array([1], pa.timestamp("ns", "UTC")), ["1970-01-01T00:00:00.000000001+00:00"]),
    ("string", pa.array(["a", None], pa.large_string()), ["a", None]),
    ("string", pa.array(["a"], pa.string_view()), ["a"]),
    ("string", pa.array([b"a"], pa.binary()), ["a"]),
    ("string", pa.array(["a", "b", "a"]).dictionary_encode(), ["a", "b", "a"]),
    ("uuid", pa.array([U.bytes], pa.binary(16)), [str(U)]),
    ("uuid", pa.array([U.bytes], pa.uuid()), [str(U)]),
    ("uuid", pa.array([str(U)]), [str(U)]),
    ("fixed[2]", pa.array([b"\x00\xff"], pa.binary(2)), ["00FF"]),
    ("binary", pa.array([b"\x00\xff", b"", None]), ["00FF", "", None]),
    ("unknown", pa.nulls(2), [None, None]),
    (
        POINT,
        pa.array([{"x": 1.5, "label": "a"}, None, {"x": None, "label": None}]),
        [{"4": 1.5, "5": "a"}, None, {"4": None, "5": None}],
    ),
    (TAGS, pa.array([[1, None], None, []], pa.list_(pa.int64())), [["1", None], None, []]),
    (TAGS, pa.array([[1], None, [2, 3]], pa.large_list(pa.int64())), [["1"], None, ["2", "3"]]),
    (TAGS, pa.array([[1], None, [2, 3]], pa.list_view(pa.int64())), [["1"], None, ["2", "3"]]),
    (
        PRICES,
        pa.array([[("a", Decimal("1.00"))], None, []], pa.map_(pa.string(), pa.decimal128(9, 2))),
        [{"keys": ["a"], "values": ["1.00"]}, None, {"keys": [], "values": []}],
    ),
    (
        PRICES,
        pa.array([[{"key": "a", "value": Decimal("1.00")}]]),
        [{"keys": ["a"], "values": ["1.00"]}],
    ),
    (NESTED, pa.array([[{"x": 0.5, "label": None}, None]]), [[{"4": 0.5, "5": None}, None]]),
    (
        "variant",
        pa.array([{"value": b"\x0c\x01", "metadata": b"\x01\x00\x00"}, None]),
        [{"value": "0C01", "metadata": "010000"}, None],
    ),
]


@pytest.mark.parametrize(("type_", "array", "expected"), CASES, ids=lambda value: str(value)[:40])
def test_values_are_reported_in_the_exchange_form_of_their_type(
    type_: Any, array: pa.Array, expected: list[Any]
) -> None:
    assert arrow_rows.values(type_, array) == expected
    # A slice begins in the middle of its buffers.
    longer = pa.chunked_array([array, array]).combine_chunks()
    assert arrow_rows.values(type_, longer.slice(1)) == (expected * 2)[1:]
    for found in expected:
        from_exchange(read_type(type_), found)


@pytest.mark.parametrize(
    ("type_", "array", "expected"),
    [
        ("timestamp", pa.array([1500], pa.timestamp("ns")), ["1970-01-01T00:00:00.000001 and 500 of ns"]),
        ("date", pa.array([86_400_000_001], pa.timestamp("us")), ["1970-01-02T00:00:00.000001000"]),
        ("int", pa.array(["7"]), ["7"]),
        ("long", pa.array([1.5]), [1.5]),
        (TAGS, pa.array(["[1]"]), ["[1]"]),
        (PRICES, pa.array([7]), [7]),
        (POINT, pa.array([7]), [7]),
        (POINT, pa.array([{"x": 1.5, "more": 1}]), [{"4": 1.5, "more": 1}]),
    ],
    ids=str,
)
def test_what_is_no_value_of_the_type_is_reported_as_it_is_and_never_made_one(
    type_: Any, array: pa.Array, expected: list[Any]
) -> None:
    assert arrow_rows.values(type_, array) == expected


def test_dates_that_come_as_timestamps_of_midnight_are_dates() -> None:
    assert arrow_rows.values("date", pa.array([-86_400], pa.timestamp("s"))) == ["1969-12-31"]


def test_variants_without_their_bytes_are_not_asked_about() -> None:
    with pytest.raises(Unsupported, match="variants"):
        arrow_rows.values("variant", pa.array(['{"a": 1}']))


def test_rows_have_every_column_also_those_that_nobody_asked_for() -> None:
    table = pa.table({"id": [1, 2], "x": [7, None]})
    assert arrow_rows.answer(table, {"id": "long"}) == {"rows": [{"id": "1", "x": 7}, {"id": "2", "x": None}]}
    assert arrow_rows.answer(table.slice(0, 0), {"id": "long"}) == {"rows": []}
    renamed = arrow_rows.answer(table.slice(1), {"id": "long", "_pos": "long"}, ["id", "_pos"])
    assert renamed == {"rows": [{"id": "2", "_pos": None}]}


FIELDS: list[dict[str, Any]] = [
    {"id": 1, "name": "id", "required": True, "type": "long"},
    {"id": 2, "name": 'a "b"', "required": False, "type": "string"},
    {"id": 3, "name": "d", "required": False, "type": "double"},
    {"id": 6, "name": "point", "required": False, "type": POINT},
    {"id": 8, "name": "at", "required": False, "type": "timestamptz"},
    {"id": 9, "name": "key", "required": False, "type": "uuid"},
]
SQL = Dialect("SQL", constants={"double": "{text}e0", "timestamptz": "TIMESTAMPTZ {string}"})


def not_(child: Any) -> dict[str, Any]:
    return {"type": "not", "child": child}


LT = {"type": "lt", "term": "d", "value": 1.5}
ID = {"type": "eq", "term": "id", "value": 5}


@pytest.mark.parametrize(
    ("predicate", "sql"),
    [
        (True, "1 = 1"),
        (not_(True), "1 = 0"),
        (ID, '"id" = 5'),
        ({"type": "eq", "left": {"type": "reference", "id": 1}, "right": 5}, '"id" = 5'),
        ({"type": "not-eq", "term": "id", "value": 5}, '("id" <> 5 OR "id" IS NULL)'),
        (not_(ID), '("id" <> 5 OR "id" IS NULL)'),
        (not_(not_(ID)), '"id" = 5'),
        (LT, '"d" < 1.5e0'),
        (not_(LT), '(("d" >= 1.5e0 OR "d" IS NULL) OR isnan("d"))'),
        ({"type": "gt", "term": "d", "value": 1.5}, '("d" > 1.5e0 AND NOT isnan("d"))'),
        ({"type": "is-null", "term": "point.x"}, '"point"."x" IS NULL'),
        ({"type": "not-nan", "term": "d"}, '(NOT isnan("d") OR "d" IS NULL)'),
        ({"type": "in", "term": "id", "values": [1, 2]}, '"id" IN (1, 2)'),
        ({"type": "not-in", "term": "id", "values": [1]}, '("id" NOT IN (1) OR "id" IS NULL)'),
        ({"type": "in", "term": "id", "values": []}, "1 = 0"),
        ({"type": "starts-with", "term": 'a "b"', "value": "it's"}, """starts_with("a ""b\""", 'it''s')"""),
        (
            {"type": "eq", "term": "at", "value": "1970-01-01T01:00:00+01:00"},
            "\"at\" = TIMESTAMPTZ '1970-01-01T00:00:00.000000+00:00'",
        ),
        ({"type": "and", "left": ID, "right": LT}, '("id" = 5 AND "d" < 1.5e0)'),
        (
            not_({"type": "and", "left": ID, "right": {"type": "is-null", "term": "d"}}),
            '(("id" <> 5 OR "id" IS NULL) OR "d" IS NOT NULL)',
        ),
        ({"type": "or", "left": ID, "right": True}, "1 = 1"),
        ({"type": "or", "left": False, "right": ID}, '"id" = 5'),
        ({"type": "eq", "term": "absent", "value": 5}, "\"absent\" = '5'"),
    ],
    ids=str,
)
def test_a_predicate_in_sql_says_what_it_says_of_null_and_nan(predicate: Any, sql: str) -> None:
    assert predicate_sql(predicate, FIELDS, SQL) == sql


@pytest.mark.parametrize(
    ("predicate", "reason"),
    [
        ({"type": "eq", "term": "key", "value": str(U)}, "no constants of uuid"),
        ({"type": "eq", "term": {"type": "transform", "transform": "day", "term": "at"}, "value": 1}, "not transforms"),
        ({"type": "bogus"}, "no filter can express this"),
    ],
)
def test_what_sql_has_no_words_for_is_not_asked(predicate: Any, reason: str) -> None:
    with pytest.raises(Unsupported, match=reason):
        predicate_sql(predicate, FIELDS, SQL)


def test_backslashes_are_doubled_where_they_escape() -> None:
    predicate = {"type": "eq", "term": 'a "b"', "value": "\\"}
    assert predicate_sql(predicate, FIELDS, SQL).endswith("= '\\'")
    assert predicate_sql(predicate, FIELDS, Dialect("SQL", quote="`", escapes_backslash=True)) == "`a \"b\"` = '\\\\'"


def test_a_query_names_the_columns_as_the_engine_does() -> None:
    args = {"select": ["id", "_pos"], "filter": ID}
    query = select_statement(args, "t", SQL, lambda: FIELDS, {"_pos": "file_row_number"})
    assert query == 'SELECT "id", "file_row_number" FROM t WHERE "id" = 5'
    assert select_statement({}, "t", SQL, lambda: pytest.fail("no filter, no columns")) == "SELECT * FROM t"


@pytest.mark.parametrize("negated", [False, True])
@pytest.mark.parametrize("value", [None, float("nan"), 1.0, 1.5, 2.0])
@pytest.mark.parametrize("op", ["lt", "lt-eq", "gt", "gt-eq", "eq", "not-eq", "in", "not-in", "is-nan", "not-nan"])
@pytest.mark.parametrize("nan_is_greatest", [False, True])
def test_in_sql_of_three_values_the_same_rows_match(
    op: str, value: float | None, *, negated: bool, nan_is_greatest: bool
) -> None:
    constants = {"values": [1.5]} if "in" in op.split("-") else {} if "nan" in op else {"value": 1.5}
    predicate: Any = {"type": op, "term": "d", **constants}
    # The rules of the text for one value (Comparisons, Tests): null and NaN only match where nothing is compared.
    is_nan = value is not None and value != value
    if value is None or is_nan:
        expected = op in ("not-eq", "not-in") or op == ("is-nan" if is_nan else "not-nan")
    else:
        expected = {
            "lt": value < 1.5,
            "lt-eq": value <= 1.5,
            "gt": value > 1.5,
            "gt-eq": value >= 1.5,
            "eq": value == 1.5,
            "in": value == 1.5,
            "not-eq": value != 1.5,
            "not-in": value != 1.5,
            "is-nan": False,
            "not-nan": True,
        }[op]

    def holds(leaf: Any) -> Three:
        return Three(_sql_leaf(leaf.op, value, nan_is_greatest=nan_is_greatest))

    made = build_predicate(push_down_not(not_(predicate) if negated else predicate, FIELDS), holds)
    assert (made.value is True) == (expected is not negated)


class Three:
    """True, False or None, as SQL joins them."""

    def __init__(self, value: bool | None) -> None:
        self.value = value

    def __and__(self, other: Three) -> Three:
        if self.value is False or other.value is False:
            return Three(False)
        return Three(None if None in (self.value, other.value) else True)

    def __or__(self, other: Three) -> Three:
        if self.value or other.value:
            return Three(True)
        return Three(None if None in (self.value, other.value) else False)


def _sql_leaf(op: str, value: float | None, *, nan_is_greatest: bool) -> bool | None:
    if op in ("is-null", "not-null"):
        return (value is None) == (op == "is-null")
    if value is None:
        return None
    nan = value != value
    if op in ("is-nan", "not-nan"):
        return nan == (op == "is-nan")
    if nan:
        return op in ("not-eq", "not-in") or (nan_is_greatest and op in ("gt", "gt-eq"))
    return {
        "lt": value < 1.5,
        "lt-eq": value <= 1.5,
        "gt": value > 1.5,
        "gt-eq": value >= 1.5,
        "eq": value == 1.5,
        "in": value == 1.5,
        "not-eq": value != 1.5,
        "not-in": value != 1.5,
    }[op]


def test_a_nested_column_that_was_not_asked_for_is_text() -> None:
    array = pa.array([[(0, [1])], None], pa.map_(pa.time64("us"), pa.list_(pa.int64())))
    assert arrow_rows.values(None, array) == ["[(datetime.time(0, 0), [1])]", None]

"""Binding and evaluation (Iceberg Expressions, Value expression types, Tests, Comparisons)."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import pytest

from spec_ref.core.errors import SpecError
from spec_ref.data_types.types import (
    BINARY,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    LONG,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NS,
    TIMESTAMPTZ,
    UNKNOWN,
    UUID,
    VARIANT,
    DecimalType,
    FixedType,
    GeometryType,
    ListType,
    NestedField,
    StructType,
)
from spec_ref.expressions.binding import bind
from spec_ref.expressions.bound import COMPARE, BoundTest, evaluate
from spec_ref.expressions.expression_json import predicate_from_json
from spec_ref.expressions.predicates import FALSE, TRUE, Operation
from spec_ref.schemas.schema import Schema

TYPES: dict[str, Any] = {
    "i": INT,
    "l": LONG,
    "f": FLOAT,
    "d": DOUBLE,
    "dec": DecimalType(4, 2),
    "date": DATE,
    "ts": TIMESTAMP,
    "ns": TIMESTAMP_NS,
    "tz": TIMESTAMPTZ,
    "s": STRING,
    "u": UUID,
    "fix": FixedType(2),
    "bin": BINARY,
    "un": UNKNOWN,
    "geo": GeometryType(),
    "v": VARIANT,
    "list": ListType(50, STRING),
    "st": StructType((NestedField(60, "x", False, INT),)),
    "hundreds": DecimalType(3, -2),
}
SCHEMA = Schema(tuple(NestedField(index, name, False, TYPES[name]) for index, name in enumerate(TYPES, start=1)))
IDS = {name: index for index, name in enumerate(TYPES, start=1)}


def bound(operation: str, name: Any, value: Any = None, **literal: Any) -> Any:
    json: dict[str, Any] = {"type": operation, "term": name}
    if literal:
        json["value"] = {"type": "literal", "value": value, "data-type": literal["of"]}
    elif isinstance(value, list):
        json["values"] = value
    elif value is not None:
        json["value"] = value
    return bind(predicate_from_json(json), SCHEMA)


def short(predicate: Any) -> str:
    if predicate in (TRUE, FALSE):
        return str(predicate.value).lower()
    value = "" if isinstance(predicate, BoundTest) else f" {getattr(predicate, 'value', None) or predicate.values}"
    return predicate.operation.value + value


# The table of null-safe comparisons and its counterpart for NaN, as the text has them.
@pytest.mark.parametrize("missing", [None, math.nan])
def test_comparisons_are_null_safe_and_nan_safe(missing: Any) -> None:
    o = Operation
    assert COMPARE[o.EQ](missing, missing)
    assert not COMPARE[o.EQ](34.0, missing)
    assert not COMPARE[o.NOT_EQ](missing, missing)
    assert COMPARE[o.NOT_EQ](34.0, missing)
    assert not COMPARE[o.LT](missing, missing)
    assert COMPARE[o.LT_EQ](missing, missing)
    assert COMPARE[o.GT_EQ](missing, missing)
    for operation in (o.LT, o.LT_EQ, o.GT, o.GT_EQ):
        assert not COMPARE[operation](34.0, missing)
        assert not COMPARE[operation](missing, 34.0)


@pytest.mark.parametrize(
    ("operation", "value", "expected"),
    [
        ("lt", 5.5, "lt-eq 5"),
        ("lt-eq", 5.5, "lt-eq 5"),
        ("gt", 5.5, "gt-eq 6"),
        ("gt-eq", 5.5, "gt-eq 6"),
        ("eq", 5.5, "false"),
        ("not-eq", 5.5, "true"),
        ("gt", 5.0, "gt 5"),
        ("lt", -5.5, "lt-eq -6"),
        ("lt", 1 << 31, "not-null"),
        ("gt", 1 << 31, "false"),
        ("eq", 1 << 31, "false"),
        ("not-eq", 1 << 31, "true"),
        ("gt-eq", -(1 << 31) - 1, "not-null"),
        ("lt-eq", -(1 << 31) - 1, "false"),
        ("lt", 1e300, "not-null"),
        ("in", [1, 2, 2.0, 5.5], "in (1, 2)"),
        ("in", [5.5], "false"),
        ("not-in", [5.5], "true"),
        ("in", [], "false"),
        ("in", [7, 7], "eq 7"),
        ("not-in", [7], "not-eq 7"),
    ],
)
def test_a_constant_that_an_int_does_not_hold_is_compared_exactly(operation: str, value: Any, expected: str) -> None:
    assert short(bound(operation, "i", value)) == expected


def test_a_constant_of_another_type_is_aligned_exactly() -> None:
    # The float nearest to 0.1 is 0x1.99999ap-4 and above it; the one before is the greatest below.
    assert short(bound("lt", "f", 0.1, of="double")) == f"lt-eq {float.fromhex('0x1.999998p-4')}"
    assert short(bound("eq", "f", 0.1, of="double")) == "false"
    assert short(bound("eq", "f", 0.5, of="double")) == "eq 0.5"
    assert short(bound("lt", "f", 1e300)) == f"lt-eq {float.fromhex('0x1.fffffep127')}"
    assert short(bound("gt", "f", 1e300)) == "gt-eq inf"
    assert short(bound("eq", "l", 7, of="int")) == "eq 7"
    assert short(bound("lt", "dec", "1.005")) == "lt-eq 1.00"
    assert short(bound("eq", "dec", "1.5")) == f"eq {Decimal('1.50')}"
    assert short(bound("lt", "dec", "100")) == "not-null"
    assert short(bound("gt", "dec", 3)) == "gt 3.00"
    assert short(bound("lt", "hundreds", "150")) == "lt-eq 1E+2"
    assert short(bound("lt", "date", "2017-11-16T22:31:08", of="timestamp")) == "lt-eq 17486"
    assert short(bound("lt", "ts", "2017-11-16", of="date")) == f"lt {17486 * 86_400_000_000}"
    assert short(bound("lt", "ns", "+5881580-07-11", of="date")) == "not-null"


@pytest.mark.parametrize(
    ("code", "operation", "name", "value", "literal"),
    [
        ("EXP006", "eq", "l", 5.5, {"of": "double"}),
        ("EXP006", "eq", "s", 5, {"of": "int"}),
        ("EXP006", "eq", "tz", "2017-11-16", {"of": "date"}),
        ("EXP006", "eq", "ns", "2017-11-16T00:00:00", {"of": "timestamp"}),
        ("EXP007", "starts-with", "i", 5, {}),
        ("EXP007", "is-nan", "i", None, {}),
        ("EXP008", "eq", "geo", "POINT (1 1)", {}),
        ("EXP008", "eq", "v", 1, {}),
        ("EXP008", "in", "list", ["a"], {}),
        ("EXP003", "is-null", "nothing", None, {}),
        ("EXP003", "is-null", "list.element", None, {}),
        ("SVJ001", "eq", "i", True, {}),
        ("SVJ002", "eq", "dec", 1.5, {}),
        ("SVJ009", "starts-with", "s", 5, {}),
        ("TYP023", "eq", "fix", "00", {}),
    ],
)
def test_what_cannot_be_compared_is_refused(code: str, operation: str, name: str, value: Any, literal: Any) -> None:
    with pytest.raises(SpecError, match=code):
        bound(operation, name, value, **literal)


def test_an_unknown_column_is_null_for_every_predicate() -> None:
    assert bound("eq", "un", 1) == bound("lt", "un", "x") == bound("in", "un", [1]) == FALSE
    assert bound("not-eq", "un", 1) == bound("not-in", "un", [1]) == TRUE


def test_nested_columns_are_tested_for_null_and_their_fields_compared() -> None:
    whole, inner = bound("is-null", "st"), bound("eq", "st.x", 1)
    assert evaluate(whole, {})
    assert not evaluate(whole, {IDS["st"]: {}})
    assert evaluate(inner, {IDS["st"]: {60: 1}})
    assert not evaluate(inner, {IDS["st"]: None})


def test_names_in_any_case_are_found_only_when_asked_for() -> None:
    predicate = predicate_from_json({"type": "is-null", "term": "DEC"})
    assert short(bind(predicate, SCHEMA, case_sensitive=False)) == "is-null"
    with pytest.raises(SpecError, match="EXP003"):
        bind(predicate, SCHEMA)
    twins = Schema((NestedField(1, "a", False, INT), NestedField(2, "A", False, INT)))
    with pytest.raises(SpecError, match=r"EXP003: .*; found"):
        bind(predicate_from_json({"type": "is-null", "term": "a"}), twins, case_sensitive=False)


def call(name: Any, *arguments: Any) -> dict[str, Any]:
    return {"type": "apply", "function": name, "arguments": list(arguments)}


ICEBERG = "iceberg_functions"
S = {"type": "reference", "name": "s"}


@pytest.mark.parametrize(
    ("code", "expression"),
    [
        ("EXP004", call("bucket", 16, S)),  # a function of the object's own catalog
        ("EXP004", call({"catalog": "sql_functions", "identifier": ["lower"]}, S)),
        ("EXP014", call({"catalog": ICEBERG, "identifier": ["void"]}, S)),
        ("EXP014", call({"catalog": ICEBERG, "identifier": ["bucket"]}, S)),
        ("TRN017", call({"catalog": ICEBERG, "identifier": ["bucket"]}, "16", S)),
        ("TRN010", call({"catalog": ICEBERG, "identifier": ["year"]}, S)),
        ("EXP016", call({"catalog": ICEBERG, "identifier": ["identity"]}, 5)),
    ],
)
def test_functions_that_are_not_known_or_do_not_fit_are_refused(code: str, expression: Any) -> None:
    with pytest.raises(SpecError, match=code):
        bind(predicate_from_json({"type": "is-null", "child": expression}), SCHEMA)


def test_constants_stand_on_either_side() -> None:
    reference = {"type": "reference", "id": IDS["i"]}
    assert bind(predicate_from_json({"type": "lt", "left": 5, "right": reference}), SCHEMA) == bound("gt", "i", 5)
    with pytest.raises(SpecError, match="EXP006"):
        bind(predicate_from_json({"type": "lt", "left": S, "right": reference}), SCHEMA)

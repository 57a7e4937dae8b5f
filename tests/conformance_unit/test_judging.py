"""Verdicts: answers are compared by meaning in their type, and failures name the place of the difference."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.operations.comparison import ABSENT, Difference, json_differences, same_json
from conformance.operations.protocol import Answer, Crashed, Ok, Refused, Unsupported
from conformance.operations.registry import OPERATIONS
from conformance.runner.judge import Outcome, Verdict, judge_answer
from conformance.vectors import Vector


def vector(operation: str, args: dict[str, Any], *permitted: Ok | Refused) -> Vector:
    return Vector(
        id="case",
        suite="suite",
        operation=OPERATIONS[operation],
        section="",
        requirements=("HSH001",),
        versions=(1, 2, 3),
        args=args,
        permitted=permitted,
        expect={},
        file="suite/topic.json",
    )


def verdict(operation: str, args: dict[str, Any], expected: Any, got: Any) -> Verdict:
    return judge_answer(vector(operation, args, Ok(expected)), Ok(got))


STRUCT = {
    "type": "struct",
    "fields": [
        {"id": 1, "name": "a", "required": False, "type": "double"},
        {
            "id": 2,
            "name": "b",
            "required": False,
            "type": {"type": "list", "element-id": 3, "element": "binary", "element-required": False},
        },
    ],
}


@pytest.mark.parametrize(
    ("type_", "expected", "got"),
    [
        ("long", "34", 34),
        ("long", "34", "34"),
        ("binary", "0AFF", "0aff"),
        ("fixed[2]", "0AFF", "0aFf"),
        ("double", 1.0, 1),
        ("float", "NaN", "NaN"),
        ("double", "-Infinity", "-Infinity"),
        ("uuid", "f79c3e09-677c-4bbd-a479-3f349cb785e7", "F79C3E09-677C-4BBD-A479-3F349CB785E7"),
        (STRUCT, {"1": 1.0, "2": ["0A"]}, {"2": ["0a"], "1": 1}),
    ],
)
def test_spellings_of_one_value_are_the_same_answer(type_: Any, expected: Any, got: Any) -> None:
    assert verdict("single-value.decode", {"type": type_, "bytes": ""}, expected, got).outcome is Outcome.PASSED


@pytest.mark.parametrize(
    ("type_", "expected", "got"),
    [
        ("int", 1, 1.0),
        ("int", 1, True),
        ("int", 1, "1"),
        ("boolean", True, 1),
        ("long", "34", "034"),
        ("long", "34", 34.0),
        ("double", 0.0, -0.0),
        ("decimal(9,2)", "1.00", "1.0"),
        ("decimal(9,2)", "1.00", 1.0),
        ("string", "a", None),
        ("string", "a", ["a"]),
        ("date", "2017-11-16", 17486),
        ("long", "1", str(2**63)),
    ],
)
def test_other_values_and_what_is_no_value_fail(type_: Any, expected: Any, got: Any) -> None:
    found = verdict("single-value.decode", {"type": type_, "bytes": ""}, expected, got)
    assert found.outcome is Outcome.FAILED
    assert found.reason


def test_an_answer_that_is_no_value_of_its_type_says_so() -> None:
    found = verdict("single-value.decode", {"type": "int", "bytes": ""}, 1, "one")
    assert found.reason.startswith("the answer is not of type int: ")


def test_the_result_of_a_transform_is_compared_in_the_type_of_its_result() -> None:
    args = {"transform": "bucket[16]", "type": "long", "value": "34"}
    assert verdict("transform", args, 3, 3).outcome is Outcome.PASSED
    assert verdict("transform", args, 3, "3").outcome is Outcome.FAILED
    assert verdict("transform", {**args, "transform": "identity"}, "34", 34).outcome is Outcome.PASSED


def test_bytes_are_compared_whichever_case_they_are_written_in() -> None:
    args = {"type": "string", "value": "x"}
    assert verdict("single-value.encode", args, "0AFF", "0aff").outcome is Outcome.PASSED
    found = verdict("single-value.encode", args, "0AFF", "0AFE")
    assert found.differences == (Difference("", "0AFF", "0AFE"),)


def test_bounds_are_compared_as_points_and_paths() -> None:
    geometry = {"type": "geometry", "bytes": ""}
    assert verdict("bound.decode", geometry, {"x": 1.0, "y": 2.0}, {"y": 2, "x": 1}).outcome is Outcome.PASSED
    found = verdict("bound.decode", geometry, {"x": 1.0, "y": 2.0}, {"x": 1.0, "y": 2.0, "z": 0.0})
    assert found.differences == (Difference("/z", ABSENT, 0.0),)
    path = {"$['a']": {"type": "long", "value": "1"}}
    assert verdict("bound.decode", {"type": "variant", "bytes": ""}, path, {"$['a']": {"type": "long", "value": 1}})


def test_json_answers_keep_integers_and_floats_apart_except_in_float_types() -> None:
    assert verdict("json-value.encode", {"type": "int", "bytes": ""}, 1, 1.0).outcome is Outcome.FAILED
    assert verdict("json-value.encode", {"type": "double", "bytes": ""}, 1.0, 1).outcome is Outcome.PASSED
    assert verdict("json-value.encode", {"type": "binary", "bytes": ""}, "0A", "0a").outcome is Outcome.PASSED
    assert verdict("json-value.encode", {"type": "string", "bytes": ""}, "0A", "0a").outcome is Outcome.FAILED
    args = {"type": STRUCT, "json": {}}
    assert verdict("json-value.round-trip", args, {"1": 1.0, "2": ["0A"]}, {"1": 1, "2": ["0a"]}).outcome is (
        Outcome.PASSED
    )
    found = verdict("json-value.round-trip", args, {"1": 1.0, "2": ["0A", None]}, {"1": 2.0, "2": ["0B"], "4": 1})
    assert sorted(difference.path for difference in found.differences) == ["/1", "/2/0", "/2/1", "/4"]


def test_a_type_is_compared_as_it_is_written() -> None:
    args = {"type": "decimal(9,2)"}
    assert verdict("type.parse", args, "decimal(9, 2)", "decimal(9, 2)").outcome is Outcome.PASSED
    assert verdict("type.parse", args, "decimal(9, 2)", "decimal(9,2)").outcome is Outcome.FAILED
    assert verdict("type.parse", args, STRUCT, dict(reversed(STRUCT.items()))).outcome is Outcome.PASSED


def test_a_day_as_a_number_is_not_a_date_but_may_be_permitted_beside_it() -> None:
    args = {"transform": "day", "type": "date", "value": "1970-01-02"}
    assert verdict("transform", args, "1970-01-02", 1).outcome is Outcome.FAILED
    assert judge_answer(vector("transform", args, Ok("1970-01-02"), Ok(1)), Ok(1)).chosen == {"ok": 1}


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        (Refused("invalid", "no"), Outcome.PASSED),
        (Refused("internal", "NullPointerException"), Outcome.FAILED),
        (Refused("conflict"), Outcome.FAILED),
        (Ok(1), Outcome.FAILED),
        (Ok("malformed"), Outcome.FAILED),
        (Unsupported("it"), Outcome.UNSUPPORTED),
        (Crashed("exited with status 3"), Outcome.CRASHED),
    ],
)
def test_only_a_refusal_is_a_refusal(answer: Answer, outcome: Outcome) -> None:
    found = judge_answer(vector("hash", {"type": "boolean", "value": True}, Refused("invalid")), answer)
    assert found.outcome is outcome
    assert bool(found.reason) == (outcome is not Outcome.PASSED)


def test_where_several_outcomes_are_permitted_the_chosen_one_is_reported() -> None:
    several = vector("hash", {"type": "double", "value": -0.0}, Ok(1), Ok(2), Refused("invalid"))
    assert judge_answer(several, Ok(2)).chosen == {"ok": 2}
    assert judge_answer(several, Refused("invalid", "why")).chosen == {"error": "invalid"}
    found = judge_answer(several, Ok(3))
    assert found.outcome is Outcome.FAILED
    assert found.reason.startswith("none of the 3 permitted outcomes: ")
    assert found.differences == (Difference("", 1, 3),)


def test_a_single_permitted_outcome_is_no_choice() -> None:
    assert judge_answer(vector("hash", {"type": "int", "value": 1}, Ok(1)), Ok(1)).chosen is None


def test_an_answer_of_another_form_than_the_operations_is_a_failure_that_says_so() -> None:
    found = verdict("hash", {"type": "int", "value": 1}, 1, 2**31)
    assert found.outcome is Outcome.FAILED
    assert "does not have the form of hash" in found.reason


def test_a_permitted_outcome_that_is_no_value_of_the_type_is_compared_as_it_stands() -> None:
    overflow = vector("transform", {"transform": "truncate[10]", "type": "decimal(2,0)", "value": "-99"}, Ok("-100"))
    assert judge_answer(overflow, Ok("-100")).outcome is Outcome.PASSED
    assert judge_answer(overflow, Ok("-90")).outcome is Outcome.FAILED
    no_type = vector("json-value.encode", {"type": "dezimal", "bytes": ""}, Ok(1))
    assert judge_answer(no_type, Ok(2)).differences == (Difference("", 1, 2),)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(json_values)
def test_a_value_does_not_differ_from_itself(value: Any) -> None:
    assert same_json(value, value)


@given(json_values, json_values)
def test_differences_are_as_many_from_either_side(left: Any, right: Any) -> None:
    there, back = list(json_differences(left, right)), list(json_differences(right, left))
    assert sorted(d.path for d in there) == sorted(d.path for d in back)

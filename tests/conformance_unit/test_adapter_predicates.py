"""The conversion of predicates in the current JSON form for engines (Expressions, Appendix B)."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.adapter_sdk.predicates import to_legacy_form
from conformance.adapter_sdk.serve import Unsupported

FIELDS = [{"id": 1, "name": "x", "required": False, "type": "int"}]
X = {"type": "reference", "name": "x"}
BUCKET = {"type": "apply", "function": {"catalog": "iceberg_functions", "identifier": ["bucket"]}, "arguments": [16, X]}


@pytest.mark.parametrize(
    ("current", "older"),
    [
        ({"type": "lt", "left": X, "right": 5}, {"type": "lt", "term": "x", "value": 5}),
        ({"type": "lt", "left": 5, "right": X}, {"type": "gt", "term": "x", "value": 5}),
        ({"type": "gt-eq", "left": 5, "right": X}, {"type": "lt-eq", "term": "x", "value": 5}),
        (
            {"type": "eq", "left": {"type": "reference", "id": 1}, "right": {"type": "literal", "value": 5}},
            {"type": "eq", "term": "x", "value": 5},
        ),
        (
            {"type": "eq", "left": BUCKET, "right": 3},
            {"type": "eq", "term": {"type": "transform", "transform": "bucket[16]", "term": "x"}, "value": 3},
        ),
        ({"type": "is-null", "child": X}, {"type": "is-null", "term": "x"}),
        (
            {"type": "in", "child": X, "values": {"type": "literals", "values": [1, 2]}},
            {"type": "in", "term": "x", "values": [1, 2]},
        ),
        (
            {"type": "not", "child": {"type": "is-null", "child": X}},
            {"type": "not", "child": {"type": "is-null", "term": "x"}},
        ),
        (
            {"type": "and", "left": True, "right": {"type": "is-null", "child": X}},
            {"type": "and", "left": True, "right": {"type": "is-null", "term": "x"}},
        ),
    ],
)
def test_a_predicate_of_one_column_says_the_same_in_the_older_form(current: Any, older: Any) -> None:
    assert to_legacy_form(current, FIELDS) == older


@pytest.mark.parametrize(
    "predicate", [True, 5, None, {"type": "literal", "value": True}, {"type": "eq", "term": "x"}, X]
)
def test_what_is_not_in_the_current_form_reaches_the_engine_as_it_is(predicate: Any) -> None:
    assert to_legacy_form(predicate, FIELDS) == predicate


@pytest.mark.parametrize(
    "predicate",
    [
        {"type": "eq", "left": X, "right": X},
        {"type": "is-null", "child": {"type": "reference", "id": 2}},
        {"type": "is-null", "child": {"type": "apply", "function": {"identifier": ["a", "b"]}, "arguments": [X]}},
        {"type": "eq", "left": 5, "right": 5},
    ],
)
def test_what_the_older_form_has_no_words_for_is_not_asked(predicate: Any) -> None:
    with pytest.raises(Unsupported):
        to_legacy_form(predicate, FIELDS)

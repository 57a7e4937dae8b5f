"""The JSON of predicates (Iceberg Expressions, Appendix B: JSON serialization)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spec_ref.core.errors import SpecError
from spec_ref.expressions.expression_json import predicate_from_json, predicate_to_json, predicate_to_term_json
from spec_ref.expressions.predicates import TRUE, And, Apply, Comparison, FunctionReference, Literal, Not, Operation

X = {"type": "reference", "name": "x"}
BUCKET = {
    "type": "apply",
    "function": {"catalog": "iceberg_functions", "identifier": ["bucket"]},
    "arguments": [16, X],
}

# The same predicate in the current form and in the one with terms.
PAIRS: list[tuple[Any, Any]] = [
    (True, True),
    (False, False),
    ({"type": "is-null", "child": X}, {"type": "is-null", "term": "x"}),
    ({"type": "lt", "left": X, "right": 5}, {"type": "lt", "term": "x", "value": 5}),
    ({"type": "not-starts-with", "left": X, "right": "a"}, {"type": "not-starts-with", "term": "x", "value": "a"}),
    ({"type": "in", "child": X, "values": [1, 2]}, {"type": "in", "term": "x", "values": [1, 2]}),
    (
        {"type": "eq", "left": BUCKET, "right": 3},
        {"type": "eq", "term": {"type": "transform", "transform": "bucket[16]", "term": "x"}, "value": 3},
    ),
    (
        {"type": "not", "child": {"type": "and", "left": True, "right": {"type": "not-nan", "child": X}}},
        {"type": "not", "child": {"type": "and", "left": True, "right": {"type": "not-nan", "term": "x"}}},
    ),
]


@pytest.mark.parametrize(("current", "deprecated"), PAIRS)
def test_both_forms_are_read_and_written(current: Any, deprecated: Any) -> None:  # EXP013
    predicate = predicate_from_json(current)
    assert predicate_from_json(deprecated) == predicate
    assert predicate_to_json(predicate) == current
    assert predicate_to_term_json(predicate) == deprecated


def test_other_spellings_of_the_same() -> None:  # EXP022
    read = predicate_from_json
    literal = {"type": "literal", "value": 5}
    assert read({"type": "lt", "left": X, "right": literal}) == read({"type": "lt", "left": X, "right": 5})
    assert read({"type": "lt", "term": {"type": "reference", "term": "x"}, "value": literal}) == read(PAIRS[3][1])
    for function in ("f", ["f"], {"identifier": ["f"]}, {"catalog": None, "identifier": ["f"]}):
        found = read({"type": "is-null", "child": {"type": "apply", "function": function, "arguments": []}})
        assert found.child == Apply(FunctionReference(("f",)), ())
    typed = {"type": "literals", "values": [1, 2], "data-type": "long"}
    assert predicate_to_json(read({"type": "in", "child": X, "values": typed}))["values"] == typed
    argument = {
        "type": "apply",
        "function": "f",
        "arguments": [{"type": "is-null", "child": X}, True, {"type": "literal", "value": {"1": 2}}],
    }
    predicate = read({"type": "is-null", "child": argument})
    assert read(predicate_to_json(predicate)) == predicate


@pytest.mark.parametrize(
    ("code", "json"),
    [
        ("EXP015", None),
        ("EXP015", 5),
        ("EXP015", []),
        ("EXP015", {}),
        ("EXP015", {"type": 5}),
        ("EXP015", {"type": "equals", "left": X, "right": 5}),
        ("EXP015", {"type": "LT", "left": X, "right": 5}),
        ("EXP015", {"type": "and", "left": True}),
        ("EXP015", {"type": "not", "child": 5}),
        ("EXP015", {"type": "is-null", "child": X, "value": 5}),
        ("EXP021", {"type": "lt", "left": X, "term": "x", "value": 5}),
        ("EXP015", {"type": "and", "left": True, "right": True, "children": []}),
        ("EXP002", {"type": "literal", "value": True}),
        ("EXP002", X),
        ("EXP002", {"type": "not", "child": BUCKET}),
        ("EXP009", {"type": "eq", "left": X, "right": None}),
        ("EXP009", {"type": "eq", "term": "x", "value": None}),
        ("EXP009", {"type": "lt", "left": {"type": "literal", "value": None}, "right": X}),
        ("EXP007", {"type": "in", "child": X, "values": [1, None]}),
        ("EXP016", {"type": "in", "child": X, "values": 5}),
        ("EXP016", {"type": "in", "child": X}),
        ("EXP016", {"type": "eq", "term": "x"}),
        ("EXP016", {"type": "eq", "left": X, "right": {"type": "literal"}}),
        ("EXP017", {"type": "is-null", "child": {"type": "reference", "id": "1"}}),
        ("EXP017", {"type": "is-null", "child": {"type": "reference", "id": 1, "name": "x"}}),
        ("EXP017", {"type": "is-null", "child": {"type": "reference", "id": True}}),
        ("EXP004", {"type": "is-null", "child": {"type": "apply", "function": [], "arguments": []}}),
        ("EXP018", {"type": "is-null", "child": {"type": "apply", "function": "f"}}),
        ("EXP001", {"type": "is-null", "child": {"type": "is-null", "child": X}}),
        ("EXP014", {"type": "is-null", "term": {"type": "transform", "transform": "void", "term": "x"}}),
        ("PAR021", {"type": "is-null", "term": {"type": "transform", "term": "x"}}),
        ("EXP021", {"type": "is-null", "term": {"type": "apply"}}),
        ("EXP021", {"type": "is-null", "term": 5}),
        ("JSC|TYP", {"type": "eq", "left": X, "right": {"type": "literal", "value": 5, "data-type": "int33"}}),
    ],
)
def test_what_is_not_of_the_grammar_is_refused(code: str, json: Any) -> None:
    with pytest.raises(SpecError) as caught:
        predicate_from_json(json)
    assert any(caught.value.violation.requirement.startswith(part) for part in code.split("|")), caught.value


def test_a_refusal_says_where() -> None:
    with pytest.raises(SpecError, match=r"/left/child/right: EXP015"):
        predicate_from_json({"type": "and", "left": {"type": "not", "child": {"type": "or", "left": True}}, "right": 5})


def test_nesting_without_end_is_refused() -> None:
    json: Any = True
    for _ in range(50_000):
        json = {"type": "not", "child": json}
    with pytest.raises(SpecError, match=r"EXP\d+: .*; expected at most \d+ levels"):
        predicate_from_json(json)
    expression: Any = X
    for _ in range(50_000):
        expression = {"type": "apply", "function": "f", "arguments": [expression]}
    with pytest.raises(SpecError, match=r"EXP\d+: .*; expected at most \d+ levels"):
        predicate_from_json({"type": "is-null", "child": expression})
    term: Any = "x"
    for _ in range(50_000):
        term = {"type": "transform", "transform": "day", "term": term}
    with pytest.raises(SpecError, match=r"EXP\d+: .*; expected at most \d+ levels"):
        predicate_from_json({"type": "is-null", "term": term})


def test_terms_cannot_say_ids_other_functions_or_two_columns() -> None:
    for json in (
        {"type": "is-null", "child": {"type": "reference", "id": 1}},
        {"type": "is-null", "child": {"type": "apply", "function": "f", "arguments": [X]}},
        {"type": "lt", "left": X, "right": X},
    ):
        with pytest.raises(SpecError, match="EXP021"):
            predicate_to_term_json(predicate_from_json(json))


def test_an_operation_of_another_kind_is_refused() -> None:
    with pytest.raises(SpecError, match="EXP008"):
        Comparison(Operation.IN, Literal(1), Literal(2))


SCRAPS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(["x", "int", "bucket[16]", "literal", "bucket"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "child",
                    "left",
                    "right",
                    "term",
                    "value",
                    "values",
                    "function",
                    "arguments",
                    "identifier",
                    "catalog",
                    "transform",
                    "data-type",
                    "id",
                    "name",
                ]
            ),
            inner,
            max_size=4,
        ).flatmap(
            lambda members: st.sampled_from(
                ["and", "not", "lt", "in", "is-null", "literal", "literals", "reference", "apply", "transform"]
            ).map(lambda type_: {"type": type_, **members})
        )
    ),
    max_leaves=10,
)


@settings(max_examples=300, deadline=None)
@given(SCRAPS)
def test_any_json_is_read_or_refused(json: Any) -> None:
    try:
        predicate = predicate_from_json(json)
    except SpecError:
        return
    assert predicate_from_json(predicate_to_json(predicate)) == predicate


def test_logical_records_are_what_they_say() -> None:
    assert predicate_from_json({"type": "and", "left": True, "right": {"type": "not", "child": True}}) == And(
        TRUE, Not(TRUE)
    )

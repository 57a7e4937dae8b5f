"""Files and manifests judged by counts and bounds (Scan Planning)."""

from __future__ import annotations

import itertools
import math
import struct
from typing import Any

import pytest
from expression_cases import POOLS
from test_projection import leaves

from spec_ref.core.errors import SpecError
from spec_ref.data_types.types import BOOLEAN, DOUBLE, FLOAT, INT, LONG, STRING, TIMESTAMP, Type
from spec_ref.expressions.bound import BoundComparison, BoundReference, BoundSetTest, BoundTest, evaluate, is_nan
from spec_ref.expressions.metrics_evaluation import Metrics, evaluate_summaries, might_match, must_match
from spec_ref.expressions.predicates import FALSE, TRUE, Operation
from spec_ref.manifest_lists.manifest_file import FieldSummary
from spec_ref.single_value.bounds import encode_bound

O = Operation  # noqa: E741


def column(type_: Type) -> BoundReference:
    return BoundReference((1,), ("x",), type_)


def is_(operation: Operation, type_: Type, value: Any) -> BoundComparison:
    return BoundComparison(operation, column(type_), value)


def exact_metrics(type_: Type, values: list[Any]) -> Metrics:
    """The complete metrics of a file of one column."""
    ordinary = [value for value in values if value is not None and not is_nan(value)]
    order = sorted(ordinary, key=lambda value: (value, math.copysign(1, value)) if isinstance(value, float) else value)
    return Metrics(
        record_count=len(values),
        value_counts={1: len(values)},
        null_value_counts={1: values.count(None)},
        nan_value_counts={1: sum(value is not None and is_nan(value) for value in values)},
        lower_bounds={1: encode_bound(type_, order[0])} if order else {},
        upper_bounds={1: encode_bound(type_, order[-1])} if order else {},
    )


@pytest.mark.parametrize("type_", POOLS, ids=str)
def test_complete_metrics_of_one_value_decide_every_predicate(type_: Type) -> None:
    for value in [None, *POOLS[type_]]:
        metrics = exact_metrics(type_, [value, value])
        for leaf in leaves(type_):
            matches = evaluate(leaf, {1: value})
            assert might_match(leaf, metrics) == must_match(leaf, metrics) == matches, (leaf, value)


@pytest.mark.parametrize("type_", POOLS, ids=str)
def test_metrics_of_two_values_are_sound(type_: Type) -> None:
    some = leaves(type_)[::7]
    for pair in itertools.combinations([None, *POOLS[type_]], 2):
        metrics = exact_metrics(type_, list(pair))
        for leaf in some:
            found = [evaluate(leaf, {1: value}) for value in pair]
            assert might_match(leaf, metrics) or not any(found), (leaf, pair)
            assert all(found) or not must_match(leaf, metrics), (leaf, pair)


def test_a_file_without_rows_has_none_that_match_and_none_that_fail() -> None:
    metrics = Metrics(record_count=0)
    assert not might_match(is_(O.EQ, INT, 1), metrics)
    assert must_match(is_(O.EQ, INT, 1), metrics)


def test_a_file_of_unknown_size_is_kept() -> None:
    assert might_match(is_(O.EQ, INT, 1), Metrics(record_count=-1))
    assert not must_match(is_(O.EQ, INT, 1), Metrics(record_count=-1))


def test_constants_are_decided_without_metrics() -> None:
    assert might_match(TRUE, Metrics(record_count=1))
    assert must_match(TRUE, Metrics(record_count=1))
    assert not might_match(FALSE, Metrics(record_count=1))


@pytest.mark.parametrize("missing", ["value_counts", "null_value_counts", "lower_bounds", "upper_bounds"])
def test_missing_maps_and_missing_fields_are_not_zero(missing: str) -> None:
    complete = {
        "value_counts": {1: 2},
        "null_value_counts": {1: 0},
        "lower_bounds": {1: encode_bound(INT, 1)},
        "upper_bounds": {1: encode_bound(INT, 5)},
    }
    leaf = {"lower_bounds": is_(O.LT, INT, 0), "upper_bounds": is_(O.GT, INT, 9)}.get(
        missing, BoundTest(O.NOT_NULL, column(INT))
    )
    for absent in (None, {}, {2: 0}):
        metrics = Metrics(record_count=2, **{**complete, missing: absent})  # type: ignore[arg-type]
        assert might_match(leaf, metrics)
        assert must_match(leaf, metrics) == (missing == "value_counts")


def test_nan_bounds_say_nothing() -> None:
    for lower, upper in ((math.nan, 5.0), (1.0, math.nan), (math.nan, math.nan)):
        metrics = Metrics(record_count=2, lower_bounds={1: _double(lower)}, upper_bounds={1: _double(upper)})
        assert might_match(is_(O.EQ, DOUBLE, 100.0), metrics)
        assert not must_match(is_(O.LT, DOUBLE, 100.0), metrics)


def _double(value: float) -> bytes:
    return struct.pack("<d", value)


def test_inverted_bounds_say_nothing() -> None:
    metrics = Metrics(record_count=2, lower_bounds={1: encode_bound(INT, 5)}, upper_bounds={1: encode_bound(INT, 1)})
    assert might_match(is_(O.EQ, INT, 3), metrics)
    assert might_match(is_(O.EQ, INT, 7), metrics)


def test_zeros_of_two_signs_are_one() -> None:
    for stored, asked in ((0.0, -0.0), (-0.0, 0.0)):
        metrics = exact_metrics(DOUBLE, [stored])
        assert might_match(is_(O.EQ, DOUBLE, asked), metrics)
        assert must_match(is_(O.EQ, DOUBLE, asked), metrics)


def test_bounds_of_a_promoted_column_are_read_by_their_length() -> None:
    metrics = Metrics(record_count=1, lower_bounds={1: b"\x01\0\0\0"}, upper_bounds={1: b"\x01\0\0\0"})
    assert might_match(is_(O.EQ, LONG, 1), metrics)
    assert not might_match(is_(O.EQ, LONG, 2), metrics)
    assert not might_match(is_(O.LT, TIMESTAMP, 86_400_000_000), metrics)


def test_an_empty_string_is_a_bound() -> None:
    metrics = Metrics(record_count=1, lower_bounds={1: b""}, upper_bounds={1: b""})
    assert not might_match(is_(O.LT, STRING, ""), metrics)
    assert not might_match(is_(O.GT, STRING, ""), metrics)


def test_bounds_of_booleans_count() -> None:
    metrics = Metrics(record_count=1, lower_bounds={1: b"\0"}, upper_bounds={1: b"\0"})
    assert not might_match(is_(O.EQ, BOOLEAN, True), metrics)


def test_cut_bounds_still_hold() -> None:
    metrics = Metrics(record_count=1, lower_bounds={1: b"abc"}, upper_bounds={1: b"abd"})
    assert might_match(is_(O.EQ, STRING, "abcz"), metrics)
    assert might_match(is_(O.STARTS_WITH, STRING, "abcdef"), metrics)
    assert not might_match(is_(O.STARTS_WITH, STRING, "b"), metrics)
    assert not might_match(is_(O.EQ, STRING, "abe"), metrics)
    assert must_match(
        BoundSetTest(O.NOT_IN, column(STRING), ("b", "c")),
        Metrics(record_count=1, null_value_counts={1: 0}, lower_bounds={1: b"abc"}, upper_bounds={1: b"abd"}),
    )


def test_a_bound_of_another_width_is_refused() -> None:
    with pytest.raises(SpecError, match=r"/lower_bounds/1: SVB002"):
        might_match(is_(O.EQ, INT, 1), Metrics(record_count=1, lower_bounds={1: b"\0" * 8}))


def summary(null: bool, nan: bool | None, *bounds: Any) -> FieldSummary:
    lower, upper = (encode_bound(FLOAT, bound) for bound in bounds) if bounds else (None, None)
    return FieldSummary(contains_null=null, contains_nan=nan, lower_bound=lower, upper_bound=upper)


@pytest.mark.parametrize(
    ("kept", "might"),
    [
        ((True, False), {"is-null"}),
        ((False, True), {"is-nan"}),
        ((True, None), {"is-null", "is-nan"}),
        ((False, False, 1.0, 2.0), {"eq"}),
        ((False, None, 1.0, 2.0), {"eq", "is-nan"}),
        ((False, False, 2.0, 3.0), set()),
        ((False, False), {"eq"}),  # contradicts itself: nothing is skipped on its word
    ],
)
def test_summaries_report_null_nan_and_bounds_apart(kept: Any, might: set[str]) -> None:
    tests = {
        "is-null": BoundTest(O.IS_NULL, column(FLOAT)),
        "is-nan": BoundTest(O.IS_NAN, column(FLOAT)),
        "eq": is_(O.EQ, FLOAT, 1.0),
    }
    found = {name for name, leaf in tests.items() if evaluate_summaries(leaf, [summary(*kept)], [1]).might_match}
    assert found == might

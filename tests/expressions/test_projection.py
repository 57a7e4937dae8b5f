"""Projections of single comparisons, over all constants and values of small pools (Scan Planning)."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from expression_cases import POOLS, TRANSFORMS

from spec_ref.core.errors import SpecError
from spec_ref.data_types.types import DATE, INT, STRING, TIMESTAMP, NestedField, Type
from spec_ref.expressions.binding import bind
from spec_ref.expressions.bound import BoundComparison, BoundReference, BoundSetTest, BoundTest, evaluate
from spec_ref.expressions.expression_json import predicate_from_json
from spec_ref.expressions.predicates import FALSE, ORDERED, PREFIX, TRUE, Operation
from spec_ref.expressions.projection import inclusive_projection, strict_projection
from spec_ref.partitioning.spec import PartitionField, PartitionSpec
from spec_ref.partitioning.transforms import (
    Day,
    Hour,
    Month,
    Truncate,
    UnknownTransform,
    Void,
    Year,
    parse_transform,
)
from spec_ref.schemas.schema import Schema

O = Operation  # noqa: E741


def as_spec(transform: Any) -> PartitionSpec:
    return PartitionSpec(0, (PartitionField(source_id=1, field_id=1000, name="p", transform=transform),))


def leaves(type_: Type) -> list[Any]:
    term = BoundReference((1,), ("x",), type_)
    constants = [value for value in POOLS[type_] if value == value]
    found: list[Any] = [BoundTest(O.IS_NULL, term), BoundTest(O.NOT_NULL, term)]
    found += [BoundComparison(operation, term, value) for operation in ORDERED for value in constants]
    if type_ == STRING:
        found += [BoundComparison(operation, term, value) for operation in PREFIX for value in constants]
    pairs = list(itertools.combinations(constants, 2))[::3]
    return found + [BoundSetTest(operation, term, pair) for operation in (O.IN, O.NOT_IN) for pair in pairs]


CASES = [
    (type_, transform)
    for type_ in POOLS
    for transform in TRANSFORMS
    if transform.sources is None or str(type_).partition("(")[0].partition("[")[0] in transform.sources
]


@pytest.mark.parametrize(("type_", "transform"), CASES, ids=str)
def test_projections_are_sound(type_: Type, transform: Any) -> None:
    spec = as_spec(transform)
    partitions = []
    for value in [None, *POOLS[type_]]:
        try:
            partitions.append((value, {1000: transform.apply(type_, value)}))
        except SpecError:
            continue
    for leaf in leaves(type_):
        inclusive, strict = inclusive_projection(leaf, spec), strict_projection(leaf, spec)
        for value, partition in partitions:
            matches = evaluate(leaf, {1: value})
            assert evaluate(inclusive, partition) or not matches, (leaf, value)
            assert matches or not evaluate(strict, partition), (leaf, value)


@pytest.mark.parametrize("type_", [DATE, TIMESTAMP], ids=str)
@pytest.mark.parametrize("transform", [Year(), Month(), Day(), Hour()], ids=str)
def test_tolerant_projections_are_sound_for_writers_that_count_toward_1970(type_: Type, transform: Any) -> None:
    if type_ == DATE and isinstance(transform, (Day, Hour)):
        return  # a date is not cut to a day, and has no hours
    spec = as_spec(transform)
    for leaf in leaves(type_):
        inclusive = inclusive_projection(leaf, spec, tolerate_truncated_times=True)
        strict = strict_projection(leaf, spec, tolerate_truncated_times=True)
        for value in POOLS[type_]:
            try:
                right = transform.apply(type_, value)
            except SpecError:
                continue
            matches = evaluate(leaf, {1: value})
            for stored in {right, right + (right < 0)}:
                assert evaluate(inclusive, {1000: stored}) or not matches, (leaf, value, stored)
                assert matches or not evaluate(strict, {1000: stored}), (leaf, value, stored)


@pytest.mark.parametrize(("type_", "transform"), [case for case in CASES if case[1] == Truncate(1)], ids=str)
def test_a_class_of_one_value_projects_exactly(type_: Type, transform: Any) -> None:
    if type_ in (STRING,) or str(type_) == "binary":
        return  # a text of one character begins many others
    spec = as_spec(transform)
    for leaf in leaves(type_):
        for value in [None, *POOLS[type_]]:
            matches = evaluate(leaf, {1: value})
            partition = {1000: transform.apply(type_, value)}
            assert evaluate(inclusive_projection(leaf, spec), partition) == matches
            assert evaluate(strict_projection(leaf, spec), partition) == matches


SCHEMA = Schema(
    (
        NestedField(1, "n", False, INT),
        NestedField(2, "t", False, TIMESTAMP),
        NestedField(3, "s", False, STRING),
    )
)


def shown(projected: Any) -> str:
    """A projected comparison in short."""
    if projected in (TRUE, FALSE):
        return str(projected.value).lower()
    if isinstance(projected, BoundSetTest):
        return f"{projected.operation.value} {list(projected.values)}"
    return f"{projected.operation.value} {projected.value!r}"


def comparison(operation: str, name: str, value: Any) -> Any:
    member = "values" if isinstance(value, list) else "value"
    return bind(predicate_from_json({"type": operation, "term": name, member: value}), SCHEMA)


# By hand: 2017-11-16 is day 17486.
@pytest.mark.parametrize(
    ("transform", "name", "operation", "value", "inclusive", "strict"),
    [
        ("day", "t", "gt", "2017-11-16T22:31:08", "gt-eq 17486", "gt 17486"),
        ("day", "t", "lt", "2017-11-16T22:31:08", "lt-eq 17486", "lt 17486"),
        ("day", "t", "lt", "2017-11-16T00:00:00", "lt 17486", "lt 17486"),
        ("day", "t", "gt-eq", "2017-11-16T00:00:00", "gt-eq 17486", "gt-eq 17486"),
        ("day", "t", "lt-eq", "2017-11-16T23:59:59.999999", "lt-eq 17486", "lt-eq 17486"),
        ("day", "t", "eq", "2017-11-16T00:00:00", "eq 17486", "false"),
        ("day", "t", "not-eq", "2017-11-16T00:00:00", "true", "not-eq 17486"),
        ("truncate[10]", "n", "lt", 100, "lt 100", "lt 100"),
        ("truncate[10]", "n", "lt", 101, "lt-eq 100", "lt 100"),
        ("truncate[10]", "n", "gt", 99, "gt 90", "gt 90"),
        ("truncate[10]", "n", "lt-eq", -1, "lt-eq -10", "lt-eq -10"),
        ("truncate[10]", "n", "in", [1, 2, 11], "in [0, 10]", "false"),
        ("truncate[10]", "n", "not-in", [1, 11], "true", "not-in [0, 10]"),
        ("truncate[3]", "s", "starts-with", "ab", "starts-with 'ab'", "starts-with 'ab'"),
        ("truncate[3]", "s", "starts-with", "abc", "starts-with 'abc'", "starts-with 'abc'"),
        ("truncate[3]", "s", "starts-with", "abcd", "eq 'abc'", "false"),
        ("truncate[3]", "s", "not-starts-with", "ab", "not-starts-with 'ab'", "not-starts-with 'ab'"),
        ("truncate[3]", "s", "not-starts-with", "abcd", "true", "not-eq 'abc'"),
        ("truncate[3]", "s", "eq", "ab", "eq 'ab'", "eq 'ab'"),
        ("truncate[3]", "s", "eq", "abc", "eq 'abc'", "false"),
        ("truncate[3]", "s", "gt", "abcd", "gt-eq 'abc'", "gt 'abc'"),
        ("bucket[16]", "n", "lt", 34, "true", "false"),
        # The hash of 34 is 2017239379 (Appendix B): 2017239379 mod 16 is 3.
        ("bucket[16]", "n", "eq", 34, "eq 3", "false"),
        ("bucket[16]", "n", "not-eq", 34, "true", "not-eq 3"),
        ("void", "n", "eq", 34, "true", "false"),
        ("a[b]", "n", "eq", 34, "true", "false"),
    ],
)
def test_projections_worked_out_by_hand(
    transform: str, name: str, operation: str, value: Any, inclusive: str, strict: str
) -> None:
    source = {"n": 1, "t": 2, "s": 3}[name]
    field = PartitionField(source_id=source, field_id=1000, name="p", transform=parse_transform(transform))
    leaf, spec = comparison(operation, name, value), PartitionSpec(0, (field,))
    assert shown(inclusive_projection(leaf, spec)) == inclusive
    assert shown(strict_projection(leaf, spec)) == strict


def test_fields_of_unknown_void_or_several_sources_say_nothing() -> None:  # PAR005, PAR006
    several = PartitionField(source_ids=(1, 2), field_id=1001, name="q", transform=UnknownTransform("bucketV2[4]"))
    void = PartitionField(source_id=1, field_id=1000, name="p", transform=Void())
    unknown = PartitionField(source_id=1, field_id=1002, name="z", transform=UnknownTransform("zorder"))
    leaf, spec = comparison("eq", "n", 34), PartitionSpec(0, (void, several, unknown))
    assert inclusive_projection(leaf, spec) == TRUE
    assert strict_projection(leaf, spec) == FALSE


def test_a_predicate_of_the_transform_itself_projects_exactly() -> None:
    term = {"type": "transform", "transform": "bucket[16]", "term": "n"}
    leaf = bind(predicate_from_json({"type": "lt", "term": term, "value": 3}), SCHEMA)
    spec = as_spec(parse_transform("bucket[16]"))
    assert shown(inclusive_projection(leaf, spec)) == shown(strict_projection(leaf, spec)) == "lt 3"
    assert inclusive_projection(leaf, as_spec(parse_transform("bucket[8]"))) == TRUE

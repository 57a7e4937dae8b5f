"""Properties of pruning, over random schemas, rows, predicates, partitions and metrics."""

from __future__ import annotations

from typing import Any

import pytest
from expression_cases import draw_metrics, partition_row, predicates, rows, schemas, specs
from hypothesis import assume, event, given, settings
from hypothesis import strategies as st

from spec_ref.core.errors import SpecError
from spec_ref.data_types.types import UNKNOWN
from spec_ref.expressions.binding import bind
from spec_ref.expressions.bound import evaluate
from spec_ref.expressions.expression_json import predicate_from_json, predicate_to_json, predicate_to_term_json
from spec_ref.expressions.metrics_evaluation import evaluate_summaries, might_match, must_match
from spec_ref.expressions.predicates import And, Constant, IdReference, Not, Operation, Or
from spec_ref.expressions.projection import inclusive_projection, strict_projection
from spec_ref.expressions.residual_evaluator import residual
from spec_ref.expressions.rewrite_not import from_sql, rewrite_not
from spec_ref.manifest_lists.manifest_file import FieldSummary
from spec_ref.partitioning.spec import PartitionSpec
from spec_ref.partitioning.transforms import Day, Hour, Month, Year
from spec_ref.single_value.bounds import encode_bound

CASES = settings(max_examples=150, deadline=None)


@st.composite
def bound_cases(draw: Any) -> Any:
    """A schema, an unbound predicate and the same bound."""
    schema = draw(schemas())
    predicate = draw(predicates(schema))
    return schema, predicate, bind(predicate, schema)


def value(predicate: Any, row: Any) -> bool | None:
    """Whether a row matches; None where a transform in the predicate has no result for it (contradiction C6)."""
    try:
        return evaluate(predicate, row)
    except SpecError:
        return None


@CASES
@given(st.data())
def test_a_row_that_matches_is_in_a_partition_that_matches(data: Any) -> None:
    schema, _, predicate = data.draw(bound_cases())
    row, spec = data.draw(rows(schema)), data.draw(specs(schema))
    partition, matches = partition_row(spec, schema, row), value(predicate, row)
    assume(partition is not None and matches is not None)
    assert partition is not None
    included = evaluate(inclusive_projection(predicate, spec), partition)
    surely = evaluate(strict_projection(predicate, spec), partition)
    event(f"matches {matches}, inclusive {included}, strict {surely}")
    assert included or not matches
    assert matches or not surely


@CASES
@given(st.data())
def test_a_residual_is_the_predicate_for_rows_of_its_partition(data: Any) -> None:
    schema, _, predicate = data.draw(bound_cases())
    row, spec = data.draw(rows(schema)), data.draw(specs(schema))
    partition, matches = partition_row(spec, schema, row), value(predicate, row)
    assume(partition is not None and matches is not None)
    assert partition is not None
    rest = residual(predicate, spec, partition)
    event(f"decided: {isinstance(rest, Constant)}")
    assert value(rest, row) == matches


@CASES
@given(st.data())
def test_metrics_never_hide_a_match_and_never_claim_one(data: Any) -> None:
    schema, _, predicate = data.draw(bound_cases())
    table = data.draw(st.lists(rows(schema), min_size=1, max_size=4))
    metrics = data.draw(draw_metrics(schema, table))
    found = [value(predicate, row) for row in table]
    assume(None not in found)
    event(f"might {might_match(predicate, metrics)}, must {must_match(predicate, metrics)}")
    assert might_match(predicate, metrics) or not any(found)
    assert all(found) or not must_match(predicate, metrics)


@CASES
@given(st.data())
def test_summaries_never_hide_a_partition(data: Any) -> None:
    schema, _, predicate = data.draw(bound_cases())
    spec = data.draw(specs(schema))
    projected = inclusive_projection(predicate, spec)
    partitions = [partition_row(spec, schema, row) for row in data.draw(st.lists(rows(schema), min_size=1, max_size=3))]
    assume(None not in partitions)
    summaries = []
    for field in spec.partition_type(schema).fields:
        values = [partition[field.id] for partition in partitions if partition is not None]
        ordinary = [] if field.type == UNKNOWN else [each for each in values if each is not None and each == each]
        nan = any(each is not None and each != each for each in values)
        summaries.append(
            FieldSummary(
                contains_null=None in values,
                contains_nan=data.draw(st.sampled_from([nan, None])),
                lower_bound=encode_bound(field.type, min(ordinary)) if ordinary else None,
                upper_bound=encode_bound(field.type, max(ordinary)) if ordinary else None,
            )
        )
    kept = data.draw(st.sampled_from([summaries, None, summaries[:1]]))
    outcome = evaluate_summaries(projected, kept, [field.field_id for field in spec.fields])
    event(f"kept: {outcome.might_match}")
    assert outcome.might_match or not any(evaluate(projected, each) for each in partitions if each is not None)


def _one_too_high(spec: PartitionSpec, partition: dict[int, Any], data: Any) -> dict[int, Any]:
    """The partition as a writer may have made it that counts toward 1970."""
    high = {
        field.field_id
        for field in spec.fields
        if isinstance(field.transform, (Year, Month, Day, Hour)) and (partition[field.field_id] or 0) < 0
    }
    return {key: each + 1 if key in high and data.draw(st.booleans()) else each for key, each in partition.items()}


@CASES
@given(st.data())
def test_tolerance_keeps_the_partitions_of_writers_that_count_toward_1970(data: Any) -> None:
    schema, _, predicate = data.draw(bound_cases())
    row, spec = data.draw(rows(schema)), data.draw(specs(schema))
    partition, matches = partition_row(spec, schema, row), value(predicate, row)
    # A day of a date was never cut; a whole period before 1970 was counted right, which is one case of any.
    assume(partition is not None and matches is not None)
    assume(
        not any(
            isinstance(field.transform, Day) and schema.find(field.source_id).type.name == "date"
            for field in spec.fields
            if hasattr(schema.find(field.source_id).type, "name")
        )
    )
    assert partition is not None
    stored = _one_too_high(spec, partition, data)
    event(f"moved: {stored != partition}")
    assert evaluate(inclusive_projection(predicate, spec, tolerate_truncated_times=True), stored) or not matches
    assert matches or not evaluate(strict_projection(predicate, spec, tolerate_truncated_times=True), stored)
    assert value(residual(predicate, spec, stored, tolerate_truncated_times=True), row) == matches


@CASES
@given(st.data())
def test_a_predicate_without_not_says_the_same(data: Any) -> None:
    schema, _, predicate = data.draw(bound_cases())
    row = data.draw(rows(schema))
    rewritten = rewrite_not(predicate)
    assert "Not(" not in repr(rewritten)
    assert value(rewritten, row) == value(predicate, row)


def _sql(predicate: Any, schema: Any, row: Any) -> bool | None:
    """The value in three-valued logic, where null and true is null, and null and false is false."""
    match predicate:
        case Not(child):
            inner = _sql(child, schema, row)
            return None if inner is None else not inner
        case And(left, right) | Or(left, right):
            decisive = isinstance(predicate, Or)
            sides = _sql(left, schema, row), _sql(right, schema, row)
            return decisive if decisive in sides else None if None in sides else not decisive
        case _:
            if predicate.operation not in (Operation.IS_NULL, Operation.NOT_NULL, Operation.IS_NAN, Operation.NOT_NAN):
                term = predicate.left if hasattr(predicate, "left") else predicate.child
                while not hasattr(term, "name") and not isinstance(term, IdReference):
                    term = term.arguments[-1]
                column = schema.find(term.id) if isinstance(term, IdReference) else schema.find_name(term.name)
                found = row
                for step in (*column.parents, column):
                    found = None if found is None else found.get(step.id)
                if found is None:
                    return None
            return evaluate(bind(predicate, schema), row)


@CASES
@given(st.data())
def test_from_sql_is_true_where_sql_is_true(data: Any) -> None:
    schema, predicate, bound = data.draw(bound_cases())
    row = data.draw(rows(schema))
    assume(value(bound, row) is not None)
    try:
        expected = _sql(predicate, schema, row)
    except SpecError:
        assume(False)
    assert value(bind(from_sql(predicate), schema), row) in (expected is True, None)


@CASES
@given(st.data())
def test_json_reads_back_as_the_same_predicate(data: Any) -> None:
    schema = data.draw(schemas())
    predicate = data.draw(predicates(schema))
    assert predicate_from_json(predicate_to_json(predicate)) == predicate
    if "IdReference" in repr(predicate):
        with pytest.raises(SpecError):
            predicate_to_term_json(predicate)
    else:
        assert predicate_from_json(predicate_to_term_json(predicate)) == predicate

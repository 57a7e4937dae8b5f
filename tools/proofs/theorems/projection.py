"""Planning by partitions never loses a row (Scan Planning)."""

from __future__ import annotations

from typing import Any

from spec_ref.core.errors import SpecError
from spec_ref.data_types.types import DATE, TIMESTAMP, Type
from spec_ref.expressions.bound import evaluate
from spec_ref.expressions.projection import inclusive_projection, strict_projection
from spec_ref.expressions.residual_evaluator import residual
from tools.proofs.explorer import Impossible
from tools.proofs.theorem import World, theorem
from tools.proofs.theorems.predicates import (
    COLUMN,
    FIELD,
    leaf,
    nullable,
    partitioned,
    predicate_json,
    schema_json,
    spec_json,
    spec_of,
    transform_named,
    value_json,
)


def _request(kind: str, type_: Type, transform: Any, predicate: Any, row: Any, partition: Any) -> dict[str, Any]:
    arguments: dict[str, Any] = {
        "schema": schema_json(type_),
        "spec": spec_json(transform),
        "partition": {str(FIELD): value_json(transform.result_type(type_), partition)},
        "predicate": predicate_json(predicate),
    }
    if kind == "residual":
        operation = "residual.evaluate"
        arguments["row"] = {str(COLUMN): value_json(type_, row)}
    else:
        operation = "projection.evaluate"
        arguments["kind"] = kind
    return {"operation": operation, "args": arguments}


def _row(world: World, kind: str, transform: str, type_: Type, operation: Any) -> tuple[Any, ...]:
    """A predicate, a row, and the partition that the row is in."""
    made = transform_named(world, transform)
    row = nullable(world, "row", type_)
    try:
        partition = made.apply(type_, row)
    except SpecError as error:  # contradiction C6: no table has the row, as it has no partition
        raise Impossible from error
    predicate = leaf(world, operation, type_)
    world.request = lambda: _request(kind, type_, made, predicate, row, partition)
    return predicate, spec_of(made), {COLUMN: row}, {FIELD: partition}


@theorem(
    "inclusive-projection",
    "SCN003",
    "SCN004",
    cases=partitioned(),
    quick=61,
)
def inclusive(world: World, transform: str, type_: Type, operation: Any) -> None:
    """If a row matches a predicate, its partition matches the inclusive projection of the predicate: a scan that
    reads the matching partitions misses no row.
    """
    predicate, spec, row, partition = _row(world, "inclusive", transform, type_, operation)
    if evaluate(predicate, row):
        world.claim(evaluate(inclusive_projection(predicate, spec), partition), "the partition does not match")


@theorem(
    "strict-projection",
    "SCN003",
    "SCN004",
    cases=partitioned(),
    quick=61,
)
def strict(world: World, transform: str, type_: Type, operation: Any) -> None:
    """If a partition matches the strict projection of a predicate, every row in it matches the predicate: rows of
    such a partition need not be filtered, and can be deleted with their file.
    """
    predicate, spec, row, partition = _row(world, "strict", transform, type_, operation)
    certain = evaluate(strict_projection(predicate, spec), partition)
    world.claim(not certain or evaluate(predicate, row), "the row does not match")


@theorem(
    "residual",
    "SCN004",
    cases=partitioned(),
    quick=61,
)
def same_residual(world: World, transform: str, type_: Type, operation: Any) -> None:
    """For every row of a partition, the residual of a predicate and the predicate are both true or both false."""
    predicate, spec, row, partition = _row(world, "residual", transform, type_, operation)
    left = evaluate(residual(predicate, spec, partition), row)
    world.claim(left == evaluate(predicate, row), "the residual and the predicate differ")


@theorem(
    "tolerated-times",
    "SCN003",
    "SCN004",
    cases=(
        case
        for case in partitioned()
        if case["transform"] in ("year", "month", "day", "hour")
        and case["type_"] in (DATE, TIMESTAMP)
        and (case["transform"], case["type_"]) != ("day", DATE)
    ),
    quick=23,
)
def tolerated(world: World, transform: str, type_: Type, operation: Any) -> None:
    """Where writers may have counted times before 1970 toward it, so that partition values are one too high
    (contradiction C5), the tolerant projections still miss no row and decide no row wrongly.
    """
    predicate, spec, row, partition = _row(world, "inclusive", transform, type_, operation)
    if partition[FIELD] is not None and partition[FIELD] < 0:
        partition = {FIELD: partition[FIELD] + world.int("too high", 0, 1)}
    matches = evaluate(predicate, row)
    inclusive_ = inclusive_projection(predicate, spec, tolerate_truncated_times=True)
    strict_ = strict_projection(predicate, spec, tolerate_truncated_times=True)
    world.claim(not matches or evaluate(inclusive_, partition), "the partition does not match")
    world.claim(matches or not evaluate(strict_, partition), "the row does not match")

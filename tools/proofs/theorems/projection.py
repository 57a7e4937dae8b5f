"""Planning by partitions never loses a row (Scan Planning)."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any
from unittest import mock

from spec_ref.core.errors import SpecError
from spec_ref.data_types.types import DATE, INT, LONG, TIMESTAMP, Type
from spec_ref.expressions import projection, residual_evaluator, transform_projection
from spec_ref.expressions.bound import (
    BoundComparison,
    BoundReference,
    BoundSetTest,
    BoundTermComparison,
    BoundTest,
    BoundTransform,
    evaluate,
)
from spec_ref.expressions.predicates import FALSE, TRUE, Operation
from spec_ref.expressions.projection import inclusive_projection, strict_projection
from spec_ref.expressions.residual_evaluator import residual
from spec_ref.partitioning.spec import PartitionField, PartitionSpec
from spec_ref.partitioning.transforms import Month, UnknownTransform
from tools.proofs.explorer import Impossible
from tools.proofs.symbols import conjunction, disjunction, implies
from tools.proofs.theorem import EXHAUSTIVE, World, theorem
from tools.proofs.theorems.logic import shapes
from tools.proofs.theorems.predicates import (
    COLUMN,
    FIELD,
    ORDERED,
    OTHER,
    SETS,
    TESTS,
    TYPES,
    leaf,
    nullable,
    operations,
    partition_json,
    partitioned,
    predicate_json,
    schema_json,
    single_field_spec,
    spec_json,
    transform_named,
    value,
    value_json,
)


def _request(kind: str, type_: Type, spec: PartitionSpec, predicate: Any, row: Any, partition: Any) -> dict[str, Any]:
    arguments: dict[str, Any] = {
        "schema": schema_json(type_),
        "spec": spec_json(spec),
        "partition": partition_json(type_, spec, partition),
        "predicate": predicate_json(predicate),
    }
    if kind == "residual":
        arguments["row"] = {str(COLUMN): value_json(type_, row[COLUMN])}
        return {"operation": "residual.evaluate", "args": arguments, "expect": evaluate(predicate, row)}
    arguments["kind"] = kind
    return {"operation": "projection.evaluate", "args": arguments, "expect": kind == "inclusive"}


def _row(world: World, kind: str, transform: str, type_: Type, operation: Any) -> tuple[Any, ...]:
    """Return a predicate, a row, and the partition that the row is in."""
    made = transform_named(world, transform)
    row = nullable(world, "row", type_)
    try:
        partition = made.apply(type_, row)
    except SpecError as error:  # contradiction C6: no table has the row, as it has no partition
        raise Impossible from error
    found = leaf(world, operation, type_), single_field_spec(made), {COLUMN: row}, {FIELD: partition}
    world.request = lambda: _request(kind, type_, found[1], found[0], *found[2:])
    return found


@theorem(
    "inclusive-projection",
    "SCN003",
    cases=partitioned(),
    quick=61,
)
def inclusive(world: World, transform: str, type_: Type, operation: Any) -> None:
    """If a row matches a predicate, its partition matches the inclusive projection of the predicate: a scan that
    reads the matching partitions misses no row.
    """
    predicate, spec, row, partition = _row(world, "inclusive", transform, type_, operation)
    matches = evaluate(predicate, row)
    projected = inclusive_projection(predicate, spec)
    world.claim(implies(matches, evaluate(projected, partition)), "the partition does not match")


@theorem(
    "strict-projection",
    "SCN003",
    cases=partitioned(),
    quick=61,
)
def strict(world: World, transform: str, type_: Type, operation: Any) -> None:
    """If a partition matches the strict projection of a predicate, every row in it matches the predicate: rows of
    such a partition need not be filtered, and can be deleted with their file.
    """
    predicate, spec, row, partition = _row(world, "strict", transform, type_, operation)
    certain = evaluate(strict_projection(predicate, spec), partition)
    world.claim(implies(certain, evaluate(predicate, row)), "the row does not match")


@theorem(
    "residual",
    "SCN003",
    cases=partitioned(),
    quick=61,
)
def same_residual(world: World, transform: str, type_: Type, operation: Any) -> None:
    """For every row of a partition, the residual of a predicate and the predicate are both true or both false."""
    predicate, spec, row, partition = _row(world, "residual", transform, type_, operation)
    left = evaluate(residual(predicate, spec, partition), row)
    world.claim(left == evaluate(predicate, row), "the residual and the predicate differ")


@theorem(
    "unknown-transforms-decide-nothing",
    "SCN004",
    cases=({"type_": type_, "operation": operation} for type_ in TYPES for operation in operations(type_)),
    quick=23,
)
def unknown_transform(world: World, type_: Type, operation: Any) -> None:
    """If the transform of a partition field is unknown, every partition matches the inclusive projection of a
    predicate, none matches the strict one, and the residual is as true of each row as the predicate, whatever the
    partition value.
    """
    predicate, row = leaf(world, operation, type_), {COLUMN: nullable(world, "row", type_)}
    partition = {FIELD: nullable(world, "partition", LONG)}
    spec = single_field_spec(UnknownTransform("zorder"))
    world.claim(inclusive_projection(predicate, spec) == TRUE, "the inclusive projection excludes a partition")
    world.claim(strict_projection(predicate, spec) == FALSE, "the strict projection includes a partition")
    same = evaluate(residual(predicate, spec, partition), row) == evaluate(predicate, row)
    world.claim(same, "the residual and the predicate differ")


@theorem(
    "tolerated-times",
    "SCN003",
    cases=(
        case
        for case in partitioned()
        if case["transform"] in ("year", "month", "day", "hour")
        and case["type_"] in (DATE, TIMESTAMP)
        and (case["transform"], case["type_"]) != ("day", DATE)
    ),
    quick=37,
)
def tolerated(world: World, transform: str, type_: Type, operation: Any) -> None:
    """Where writers may have counted times before 1970 toward it, so that partition values are one too high
    (contradiction C5), the tolerant projections still miss no row and decide no row wrongly; and except for sets, the
    tolerant residual and the predicate are both true or both false of each row.
    """
    predicate, spec, row, partition = _row(world, "inclusive", transform, type_, operation)
    world.request = None  # no operation tolerates these values
    if partition[FIELD] is not None and partition[FIELD] < 0:
        partition = {FIELD: partition[FIELD] + world.int("too high", 0, 1)}
    matches = evaluate(predicate, row)
    kinds = ("inclusive", "strict") if operation in SETS else ("inclusive", "strict", "residual")
    match world.choose("kind", *kinds):
        case "inclusive":
            projected = inclusive_projection(predicate, spec, tolerate_truncated_times=True)
            world.claim(implies(matches, evaluate(projected, partition)), "the partition does not match")
        case "strict":
            projected = strict_projection(predicate, spec, tolerate_truncated_times=True)
            world.claim(implies(evaluate(projected, partition), matches), "the row does not match")
        case "residual":
            left = evaluate(residual(predicate, spec, partition, tolerate_truncated_times=True), row)
            world.claim(left == matches, "the residual and the predicate differ")


@theorem(
    "sets-are-their-constants",
    "SCN003",
    cases=(
        {"operation": operation, "strict": strict, "tolerate": tolerate}
        for operation in SETS
        for strict in (False, True)
        for tolerate in (False, True)
    ),
    quick=5,
)
def sets(world: World, operation: Any, strict: Any, tolerate: Any) -> None:
    """A set of three constants is projected as its constants one by one, whatever their partition values are, and
    whether or not they are alone in them: a partition matches the projection of IN if it matches that of = with one of
    them, and the projection of NOT IN if it matches that of != with each. So what is proved of one constant holds for
    sets of any size, as the projection of a constant does not depend on others.
    """
    constants = (1, 2, 3)
    classes = {}
    for each in constants:
        alone = world.choose(f"{each} is alone", True, False)  # noqa: FBT003
        classes[each] = transform_projection._Class(world.int(f"value of {each}"), least=alone, greatest=alone)
    term, target = (BoundReference((number,), (name,), INT) for number, name in ((COLUMN, "x"), (FIELD, "p")))
    partition = {FIELD: nullable(world, "partition", INT)}

    def matches(leaf_: Any) -> Any:
        projected = transform_projection.project_comparison(leaf_, Month(), target, strict=strict, tolerate=tolerate)
        return strict is False if projected is None else evaluate(projected, partition)

    one, join = (Operation.EQ, disjunction) if operation is Operation.IN else (Operation.NOT_EQ, conjunction)
    with mock.patch.object(transform_projection, "_classify", lambda transform, source, constant: classes[constant]):
        together = matches(BoundSetTest(operation, term, constants))
        apart = [matches(BoundComparison(one, term, each)) for each in constants]
    world.claim(together == join(apart), "the set and its constants differ")


# Specs with several fields, and predicates on transformed columns


def _agree(world: World, type_: Type, predicate: Any, spec: PartitionSpec, row: Any, partition: Any) -> None:
    """Claim the conclusions of the theorems above: about the inclusive and the strict projection, and the residual."""
    matches = evaluate(predicate, row)
    conclusion = world.choose("conclusion", "inclusive", "strict", "residual")
    world.request = lambda: _request(conclusion, type_, spec, predicate, row, partition)
    match conclusion:
        case "inclusive":
            projected = evaluate(inclusive_projection(predicate, spec), partition)
            world.claim(implies(matches, projected), "the partition does not match")
        case "strict":
            projected = evaluate(strict_projection(predicate, spec), partition)
            world.claim(implies(projected, matches), "the row does not match")
        case "residual":
            left = evaluate(residual(predicate, spec, partition), row)
            world.claim(left == matches, "the residual and the predicate differ")


def _partition(made: Any, type_: Type, row: Any) -> Any:
    try:
        return made.apply(type_, row)
    except SpecError as error:  # contradiction C6: no table has the row, as it has no partition
        raise Impossible from error


@theorem(
    "specs-of-several-fields",
    "SCN003",
    cases=({"type_": type_, "operation": one} for type_ in (TIMESTAMP, LONG) for one in (*ORDERED, *TESTS)),
    quick=5,
)
def several_fields(world: World, type_: Type, operation: Any) -> None:
    """If several fields of a spec are made from the column of a predicate, and one from another column, then both
    projections and the residual are as correct as with one field.
    """
    names = ("day", "bucket") if type_ == TIMESTAMP else ("truncate", "identity")
    made = [transform_named(world, name) for name in names]
    row = nullable(world, "row", type_)
    predicate = leaf(world, operation, type_)
    fields = [
        PartitionField(source_id=COLUMN, field_id=FIELD + place, name=f"p{place}", transform=one)
        for place, one in enumerate(made)
    ]
    other = PartitionField(source_id=OTHER, field_id=FIELD + 9, name="other", transform=transform_named(world, "year"))
    partition = {FIELD + place: _partition(one, type_, row) for place, one in enumerate(made)}
    partition[FIELD + 9] = value(world, "other", INT)
    _agree(world, type_, predicate, PartitionSpec(0, (other, *fields)), {COLUMN: row}, partition)


PARAMETRIC = ("bucket", "truncate")
SOURCES: dict[str, Type] = {
    **dict.fromkeys(("identity", "void"), INT),
    **dict.fromkeys(("bucket", "truncate"), LONG),
    **dict.fromkeys(("year", "month", "day", "hour"), TIMESTAMP),
}


def _transformed() -> Iterator[dict[str, Any]]:
    for transform, type_ in SOURCES.items():
        for operation in operations(INT):
            for partitioned_by in dict.fromkeys((transform, "identity", "bucket")):
                yield {
                    "transform": transform,
                    "type_": type_,
                    "operation": operation,
                    "partitioned_by": partitioned_by,
                }


@theorem("predicates-on-transforms", "SCN003", cases=_transformed(), quick=29)
def transformed(world: World, transform: str, type_: Type, operation: Any, partitioned_by: str) -> None:
    """A predicate on the transformed value of a column, such as day(ts) < 5, is projected as correctly as one on the
    column: if the table is partitioned by the same transform with the same or another parameter, by the column itself,
    or by another transform.
    """
    made = transform_named(world, transform)
    by = made if partitioned_by == transform and world.choose("same parameter", True, False) else None  # noqa: FBT003
    if by is None:
        by = transform_named(world, partitioned_by, "parameter of the spec")
        if partitioned_by in PARAMETRIC and by == made:  # the case above; symbols treat them as two functions
            raise Impossible
    row = nullable(world, "row", type_)
    term = BoundTransform(made, BoundReference((COLUMN,), ("x",), type_), made.result_type(type_))
    predicate = leaf(world, operation, type_, term)
    _partition(made, type_, row)
    _agree(world, type_, predicate, single_field_spec(by), {COLUMN: row}, {FIELD: _partition(by, type_, row)})


# Trees

A, B = (BoundReference((place,), (f"x{place}",), INT) for place in (1, 2))
LEAVES = (BoundTest(Operation.IS_NULL, A), BoundTest(Operation.IS_NULL, B))
NOT_PROJECTED = BoundTermComparison(Operation.EQ, A, B)
"""A comparison of two columns, which no partition decides."""


def _value_id(one: Any, *, strict: bool) -> int:
    """Return the id of the partition value that represents the projection of a leaf."""
    number: int = FIELD + 100 * one.term.id + 10 * (one.operation is Operation.NOT_NULL) + strict
    return number


def _any_projection(one: Any, options: Any) -> Any:
    """Return an arbitrary projection of a leaf: it matches if the partition has the value with its id."""
    return BoundTest(Operation.NOT_NULL, BoundReference((_value_id(one, strict=options.strict),), ("p",), INT))


@theorem("projection-of-trees", "SCN003", method=EXHAUSTIVE)
def trees(world: World) -> None:
    """If the leaves of a predicate are projected correctly, so is every tree of AND, OR and NOT of them, and of
    constants and comparisons of two columns; and its residual is right. Trees of two levels are run with every
    projection that is right for the leaves; deeper ones follow, as a tree is projected one level at a time.
    """
    projections = [_any_projection(one, mock.Mock(strict=strict)) for one in LEAVES for strict in (False, True)]
    world.claim(len({one.term.id for one in projections}) == len(projections), "two leaves have one projection")
    every = list(dict.fromkeys((*shapes(2, LEAVES), *shapes(1, (*LEAVES, NOT_PROJECTED, TRUE, FALSE)))))
    spec = PartitionSpec(0, ())
    with (
        mock.patch.object(projection, "project_leaf", _any_projection),
        mock.patch.object(residual_evaluator, "project_leaf", _any_projection),
    ):
        projected = [(tree, inclusive_projection(tree, spec), strict_projection(tree, spec)) for tree in every]
        for row in ({1: first, 2: second} for first in (None, 0) for second in (None, 0)):
            for partition in _right_partitions(row):
                for tree, inclusive_, strict_ in projected:
                    matches = evaluate(tree, row)
                    world.claim(not matches or evaluate(inclusive_, partition), f"{tree}: the partition does not match")
                    world.claim(matches or not evaluate(strict_, partition), f"{tree}: the row does not match")
                    left = evaluate(residual(tree, spec, partition), row)
                    world.claim(left == matches, f"{tree}: the residual and the predicate differ")


def _right_partitions(row: dict[int, Any]) -> Iterator[dict[int, Any]]:
    """Yield every combination of correct projections of leaves for a row."""
    numbers, options = [], []
    for reference in (A, B):
        for operation in (Operation.IS_NULL, Operation.NOT_NULL):
            one = BoundTest(operation, reference)
            numbers.append((_value_id(one, strict=False), _value_id(one, strict=True)))
            matches = evaluate(one, row)
            options.append(((0, 0), (0, None)) if matches else ((0, None), (None, None)))
    for chosen in itertools.product(*options):
        yield {
            number: value
            for pair, values in zip(numbers, chosen, strict=True)
            for number, value in zip(pair, values, strict=True)
        }

"""Planning by the metrics of files and the summaries of manifests never loses a row (Scan Planning)."""

from __future__ import annotations

from typing import Any

import attrs

from spec_ref.core.errors import SpecError
from spec_ref.data_types.types import BINARY, BOOLEAN, DOUBLE, INT, LONG, STRING, Type
from spec_ref.expressions.bound import BoundReference, BoundTest, evaluate
from spec_ref.expressions.metrics_evaluation import Metrics, column_stats, evaluate_metrics, evaluate_summaries
from spec_ref.expressions.predicates import And, Not, Operation, Or
from spec_ref.expressions.stats_evaluation import TermStats, evaluate_stats
from spec_ref.partitioning.transforms import Identity
from spec_ref.single_value.binary import to_binary
from tools.proofs.explorer import Impossible
from tools.proofs.stand_ins import Encoded
from tools.proofs.symbols import implies, negation
from tools.proofs.theorem import DECIMAL, World, theorem
from tools.proofs.theorems.predicates import (
    COLUMN,
    FIELD,
    leaf,
    nullable,
    operations,
    predicate_json,
    schema_json,
    single_field_spec,
    spec_json,
    value,
)

TYPES: tuple[Any, ...] = (LONG, BOOLEAN, DECIMAL, STRING, BINARY, DOUBLE)
"""A type for each order of values; ints, dates and times compare as longs do, and floats as doubles do."""

LENGTHS, ROW = (1, 2), (2,)
"""The lengths of strings and bytes in bounds and rows, of which four are compared; constants may be empty."""

CASES = tuple({"type_": type_, "operation": operation} for type_ in TYPES for operation in operations(type_))


def _is_nan(one: Any) -> Any:
    return one is not None and one != one


def _encode(world: World, type_: Type, one: Any) -> Any:
    if world.symbolic:
        return Encoded(one)
    try:
        return to_binary(type_, one)
    except SpecError as error:  # a double that no float is
        raise Impossible from error


def _bounds(world: World, type_: Type, row: Any, *, both: bool) -> tuple[Any, Any]:
    """Return bounds of a file that has a row: true ones, or ones that contradiction C26 says to distrust."""
    ordinary = row is not None and not _is_nan(row)
    if world.choose("bounds", True, False):  # noqa: FBT003
        lower, upper = (
            value(world, side, type_, LENGTHS) if both or world.choose(f"has {side}", True, False) else None  # noqa: FBT003
            for side in ("lower", "upper")
        )
        if ordinary:
            if lower is not None:
                world.assume(lower <= row)
            if upper is not None:
                world.assume(row <= upper)
        return lower, upper
    lower, upper = value(world, "lower", type_, LENGTHS), value(world, "upper", type_, LENGTHS)
    if not (_is_nan(lower) or _is_nan(upper) or lower > upper):
        raise Impossible
    return lower, upper


def _count(world: World, name: str, true: Any) -> dict[int, Any]:
    """Return a map with the true count of the column, or with a negative count, which means unknown."""
    count = world.int(f"{name} count", -1)
    world.assume((count == true) | (count == -1) if world.symbolic else count in (true, -1))
    return {COLUMN: count}


@theorem("unknown-counts", "SCN005")
def unknown_counts(world: World) -> None:
    """A count that is absent, because there is no map or the map does not have the column, is unknown, and so is a
    negative count; any other count is taken as it is.
    """
    reference = BoundReference((COLUMN,), ("x",), DOUBLE)
    name = world.choose("which", "value_counts", "null_value_counts", "nan_value_counts")
    known = {one: {COLUMN: world.int(one, 0)} for one in ("value_counts", "null_value_counts", "nan_value_counts")}
    absent = world.choose("absent", None, {}, {COLUMN + 1: 0})
    made = column_stats(reference, Metrics(record_count=1, **{**known, name: absent}))
    negative = column_stats(
        reference, Metrics(record_count=1, **{**known, name: {COLUMN: world.int("less", None, -1)}})
    )
    for flag in ("null", "nan", "ordinary"):
        world.claim(bool(getattr(made, flag)) == bool(getattr(negative, flag)), f"the fact {flag} differs")


@theorem("metrics-never-lie", "SCN005", "SCN002", cases=CASES, quick=23)
def metrics(world: World, type_: Type, operation: Any) -> None:
    """If a row of a file matches a predicate, the metrics of the file never say that no row does; if a row does not
    match, they never say that every row does. The metrics are any that are true of the file: each count and bound may
    be absent, counts may be negative, bounds need not be values of the column, and may be NaN or in the wrong order.
    """
    row = nullable(world, "row", type_, ROW)
    floating, cut = type_ == DOUBLE, type_ in (STRING, BINARY)
    values, nulls = world.int("values", 1), world.int("nulls", 0)
    nans = world.int("nans", 0) if floating else 0
    world.assume(nulls + nans <= values)
    if row is None:
        world.assume(nulls >= 1)
    elif _is_nan(row):
        world.assume(nans >= 1)
    else:
        world.assume(nulls + nans < values)
    lower, upper = _bounds(world, type_, row, both=False)
    made = Metrics(
        record_count=world.int("records", -1),
        value_counts=None if cut else _count(world, "value", values),
        null_value_counts=None if cut else _count(world, "null", nulls),
        nan_value_counts=_count(world, "nan", nans) if floating else None,
        lower_bounds=None if lower is None else {COLUMN: _encode(world, type_, lower)},
        upper_bounds=None if upper is None else {COLUMN: _encode(world, type_, upper)},
    )
    world.assume(made.record_count != 0)
    predicate = leaf(world, operation, type_)
    outcome = evaluate_metrics(predicate, made)
    matches = evaluate(predicate, {COLUMN: row})
    world.request = lambda: _metrics_request(type_, made, predicate, matches=matches)
    world.claim(implies(matches, outcome.might_match), "the metrics say that no row matches")
    world.claim(implies(negation(matches), outcome.might_fail), "the metrics say that every row matches")


def _metrics_request(type_: Type, made: Metrics, predicate: Any, *, matches: bool) -> dict[str, Any]:
    found: dict[str, Any] = {"record_count": str(made.record_count)}
    for name in ("value_counts", "null_value_counts", "nan_value_counts"):
        if (counts := getattr(made, name)) is not None:
            found[name] = {str(key): str(one) for key, one in counts.items()}
    for name in ("lower_bounds", "upper_bounds"):
        if (bounds := getattr(made, name)) is not None:
            found[name] = {str(key): one.hex().upper() for key, one in bounds.items()}
    arguments = {"schema": schema_json(type_), "metrics": found, "predicate": predicate_json(predicate)}
    kind = "inclusive" if matches else "strict"
    return {"operation": "metrics.evaluate", "args": {**arguments, "kind": kind}, "expect": matches}


def _summary_request(type_: Type, made: Summary, predicate: Any) -> dict[str, Any]:
    summary: dict[str, Any] = {"contains_null": made.contains_null}
    if made.contains_nan is not None:
        summary["contains_nan"] = made.contains_nan
    for name in ("lower_bound", "upper_bound"):
        if (bound := getattr(made, name)) is not None:
            summary[name] = bound.hex().upper()
    arguments = {
        "schema": schema_json(type_),
        "spec": spec_json(single_field_spec(Identity())),
        "predicate": predicate_json(predicate),
        "summaries": [summary],
    }
    return {"operation": "summaries.evaluate", "args": arguments, "expect": True}


@attrs.frozen
class Summary:
    """The summary of a partition field."""

    contains_null: Any
    contains_nan: Any
    lower_bound: Any
    upper_bound: Any


@theorem("summaries-never-lie", "SCN002", "SCN005", cases=CASES, quick=31)
def summaries(world: World, type_: Type, operation: Any) -> None:
    """If a partition of a manifest matches a predicate on the partition value, the field summary of the manifest never
    says that no partition does; if one does not match, it never says that every one does. The summary is any true one:
    with bounds, without bounds if the manifest has only nulls and NaNs, or without bounds although it states that it
    has neither nulls nor NaNs.
    """
    partition = nullable(world, "partition", type_, ROW)
    ordinary = partition is not None and not _is_nan(partition)
    null = True if partition is None else world.choose("contains null", True, False)  # noqa: FBT003
    nan = world.choose("contains nan", None, True, False)  # noqa: FBT003
    if partition is not None and _is_nan(partition) and nan is False:
        raise Impossible
    if world.choose("has bounds", True, False):  # noqa: FBT003
        lower, upper = _bounds(world, type_, partition, both=True)
    else:
        lower = upper = None
        if ordinary and (null or (nan is not False and type_ == DOUBLE)):
            raise Impossible
    made = Summary(null, nan, *(None if one is None else _encode(world, type_, one) for one in (lower, upper)))
    predicate = leaf(world, operation, type_, BoundReference((FIELD,), ("p",), type_))
    outcome = evaluate_summaries(predicate, [made], [FIELD])
    matches = evaluate(predicate, {FIELD: partition})
    if not world.symbolic and matches:  # no operation is strict
        world.request = lambda: _summary_request(type_, made, predicate)
    world.claim(implies(matches, outcome.might_match), "the summary says that no partition matches")
    world.claim(implies(negation(matches), outcome.might_fail), "the summary says that every partition matches")


@theorem(
    "statistics-of-trees",
    "SCN005",
    "EXP012",
    cases=({"join": join} for join in ("and", "or", "not", "not and", "not or")),
)
def trees(world: World, join: str) -> None:
    """If two predicates are evaluated correctly on statistics, then so are their conjunction, their disjunction and
    their negation, whatever is known of each: by induction, so is every tree of them.
    """
    row = {place: world.choose(f"truth {place}", None, 0) for place in (1, 2)}
    facts = {}
    for place, one in row.items():
        null, ordinary = (world.choose(f"{what} {place}", True, False) for what in ("match", "fail"))  # noqa: FBT003
        if not (null if one is None else ordinary):
            raise Impossible
        facts[place] = TermStats(null=null, nan=False, ordinary=ordinary)
    left, right = (BoundTest(Operation.IS_NULL, BoundReference((place,), (f"x{place}",), INT)) for place in (1, 2))
    kinds = {"and": And(left, right), "or": Or(left, right), "not": Not(left)}
    predicate = kinds[join] if join in kinds else Not(kinds[join.removeprefix("not ")])
    outcome = evaluate_stats(predicate, lambda reference: facts[reference.id])
    if evaluate(predicate, row):
        world.claim(outcome.might_match, "the statistics say that no row matches")
    else:
        world.claim(outcome.might_fail, "the statistics say that every row matches")

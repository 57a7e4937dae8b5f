"""Faults of predicates: of rows, metrics, projections, residuals and summaries."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from conformance.adapter_sdk.serve import Arguments
from tests.faulty_adapters import Fault, Operation

Wrong = Callable[[Arguments, Operation], Any]


def always(*, answer: bool) -> Wrong:
    """A fault that answers every question in one way."""

    def wrong(args: Arguments, right: Operation) -> Any:
        right(args)
        return answer

    return wrong


def predicates(old: str, new: str) -> Wrong:
    """A fault that takes an operation for another one."""

    def wrong(args: Arguments, right: Operation) -> Any:
        text = json.dumps(args["predicate"])
        return right({**args, "predicate": json.loads(text.replace(f'"{old}"', f'"{new}"'))})

    return wrong


def metrics(change: Callable[[dict[str, Any]], dict[str, Any]]) -> Wrong:
    """A fault that sees other metrics than the file has."""
    return lambda args, right: right({**args, "metrics": change(args["metrics"])})


def _missing_counts_are_zero(found: dict[str, Any]) -> dict[str, Any]:
    columns = {*found.get("lower_bounds", {}), *found.get("upper_bounds", {}), *found.get("value_counts", {})}
    return {**found, "null_value_counts": {**dict.fromkeys(columns, "0"), **found.get("null_value_counts", {})}}


def _bounds_of_zero(found: dict[str, Any]) -> dict[str, Any]:
    lower = {key: "0" * len(value) for key, value in found.get("lower_bounds", {}).items()}
    return {**found, "lower_bounds": lower, "upper_bounds": lower}


def _zero_partition(args: Arguments, right: Operation) -> Any:
    partition = {key: value for key, value in args["partition"].items() if value not in (0, "0", "", False)}
    return right({**args, "partition": partition})


def _no_summary_nulls(args: Arguments, right: Operation) -> Any:
    return right({**args, "summaries": [{**one, "contains_null": False} for one in args["summaries"]]})


def _lower_as_upper(args: Arguments, right: Operation) -> Any:
    summaries = [
        {**one, "upper_bound": one["lower_bound"]} if "lower_bound" in one else one for one in args["summaries"]
    ]
    return right({**args, "summaries": summaries})


def _whole_predicate(args: Arguments, right: Operation) -> Any:
    """A residual that is lost: every row of the partition matches."""
    right(args)
    return True


FAULTS = (
    Fault("expression-lt-as-lt-eq", "expression.evaluate", predicates("lt", "lt-eq")),
    Fault("expression-or-as-and", "expression.evaluate", predicates("or", "and")),
    Fault("expression-is-nan-as-is-null", "expression.evaluate", predicates("is-nan", "is-null")),
    Fault(
        "expression-not-starts-with-as-starts-with", "expression.evaluate", predicates("not-starts-with", "starts-with")
    ),
    Fault("expression-not-in-as-in", "expression.evaluate", predicates("not-in", "in")),
    Fault("metrics-always-read", "metrics.evaluate", always(answer=True)),
    Fault("metrics-never-read", "metrics.evaluate", always(answer=False)),
    Fault("metrics-missing-null-counts-as-zero", "metrics.evaluate", metrics(_missing_counts_are_zero)),
    Fault("metrics-bounds-of-zero", "metrics.evaluate", metrics(_bounds_of_zero)),
    Fault(
        "projection-strict-as-inclusive",
        "projection.evaluate",
        lambda args, right: right({**args, "kind": "inclusive"}),
    ),
    Fault(
        "projection-inclusive-as-strict", "projection.evaluate", lambda args, right: right({**args, "kind": "strict"})
    ),
    Fault("projection-zero-as-null", "projection.evaluate", _zero_partition),
    Fault("residual-lost", "residual.evaluate", _whole_predicate),
    Fault("residual-zero-as-null", "residual.evaluate", _zero_partition),
    Fault("summaries-contains-null-ignored", "summaries.evaluate", _no_summary_nulls),
    Fault("summaries-never-read", "summaries.evaluate", always(answer=False)),
    Fault("summaries-lower-bound-as-upper", "summaries.evaluate", _lower_as_upper),
)

"""How the reference implementation evaluates expressions and filters for scan planning."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from conformance.adapter_sdk.serve import Arguments
from conformance.core.json_text import dump_json, parse_json
from conformance.operations.forms import Functions
from conformance.operations.wire import from_exchange
from spec_ref.core.versions import V3
from spec_ref.expressions.binding import bind
from spec_ref.expressions.bound import BoundPredicate, evaluate
from spec_ref.expressions.expression_json import predicate_from_json
from spec_ref.expressions.metrics_evaluation import Metrics, evaluate_summaries, might_match, must_match
from spec_ref.expressions.projection import inclusive_projection, strict_projection
from spec_ref.expressions.residual_evaluator import residual
from spec_ref.json.reading import reader
from spec_ref.manifest_lists.manifest_file import FieldSummary
from spec_ref.partitioning.spec import SPEC, PartitionSpec
from spec_ref.schemas.schema import SCHEMA, Schema


@lru_cache(maxsize=256)
def _parse_schema(text: str) -> Schema:
    schema = reader(SCHEMA, V3, "JSC006")(parse_json(text.encode()))
    assert isinstance(schema, Schema)
    return schema


def _schema(args: Arguments) -> Schema:
    return _parse_schema(dump_json(args["schema"]))


def _spec(args: Arguments) -> PartitionSpec:
    spec = reader(SPEC, V3, "PAR016")(args["spec"])
    assert isinstance(spec, PartitionSpec)
    return spec


def _predicate(args: Arguments) -> BoundPredicate:
    return bind(predicate_from_json(args["predicate"]), _schema(args))


def _row(args: Arguments) -> Any:
    return from_exchange(_schema(args).as_struct(), args["row"])


def _partition(args: Arguments) -> Any:
    return from_exchange(_spec(args).partition_type(_schema(args)), args["partition"])


def _expression_evaluate(args: Arguments) -> bool:
    return evaluate(_predicate(args), _row(args))


COUNTS = ("value_counts", "null_value_counts", "nan_value_counts")
BOUNDS = ("lower_bounds", "upper_bounds")


def _metrics_evaluate(args: Arguments) -> bool:
    found = args["metrics"]
    maps: dict[str, Any] = {
        name: {int(key): int(count) for key, count in found[name].items()} for name in COUNTS if name in found
    }
    maps |= {
        name: {int(key): bytes.fromhex(bound) for key, bound in found[name].items()} for name in BOUNDS if name in found
    }
    metrics = Metrics(record_count=int(found["record_count"]), **maps)
    judge = might_match if args["kind"] == "inclusive" else must_match
    return judge(_predicate(args), metrics)


def _projection_evaluate(args: Arguments) -> bool:
    project = inclusive_projection if args["kind"] == "inclusive" else strict_projection
    return evaluate(project(_predicate(args), _spec(args)), _partition(args))


def _residual_evaluate(args: Arguments) -> bool:
    return evaluate(residual(_predicate(args), _spec(args), _partition(args)), _row(args))


def _bound(summary: dict[str, Any], name: str) -> bytes | None:
    return bytes.fromhex(summary[name]) if summary.get(name) is not None else None


def _summaries_evaluate(args: Arguments) -> bool:
    spec = _spec(args)
    summaries = [
        FieldSummary(
            contains_null=summary["contains_null"],
            contains_nan=summary.get("contains_nan"),
            lower_bound=_bound(summary, "lower_bound"),
            upper_bound=_bound(summary, "upper_bound"),
        )
        for summary in args["summaries"]
    ]
    projected = inclusive_projection(_predicate(args), spec)
    return evaluate_summaries(projected, summaries, [field.field_id for field in spec.fields]).might_match


def operations(_: Functions) -> dict[str, Callable[[Arguments], object]]:
    """Return the operations by name."""
    return {
        "expression.evaluate": _expression_evaluate,
        "metrics.evaluate": _metrics_evaluate,
        "projection.evaluate": _projection_evaluate,
        "residual.evaluate": _residual_evaluate,
        "summaries.evaluate": _summaries_evaluate,
    }

"""The operations of PyIceberg on predicates: its visitors for evaluation, projection and pruning.

PyIceberg has its own classes of predicates. Constants are passed to them as users write them (a date is a string), and
PyIceberg binds and converts them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

from pyiceberg import expressions
from pyiceberg.expressions.visitors import (
    _InclusiveMetricsEvaluator,
    _StrictMetricsEvaluator,
    bind,
    expression_evaluator,
    inclusive_projection,
    manifest_evaluator,
    residual_evaluator_of,
    strict_projection,
)
from pyiceberg.manifest import DataFile, ManifestFile, PartitionFieldSummary
from pyiceberg.partitioning import PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.typedef import Record

from conformance.adapter_sdk import lenient_values as native
from conformance.adapter_sdk.predicates import to_legacy_form
from conformance.adapter_sdk.serve import Arguments, Invalid, Unsupported

PREDICATES: dict[str, Any] = {
    "is-null": expressions.IsNull,
    "not-null": expressions.NotNull,
    "is-nan": expressions.IsNaN,
    "not-nan": expressions.NotNaN,
    "lt": expressions.LessThan,
    "lt-eq": expressions.LessThanOrEqual,
    "gt": expressions.GreaterThan,
    "gt-eq": expressions.GreaterThanOrEqual,
    "eq": expressions.EqualTo,
    "not-eq": expressions.NotEqualTo,
    "starts-with": expressions.StartsWith,
    "not-starts-with": expressions.NotStartsWith,
    "in": expressions.In,
    "not-in": expressions.NotIn,
}
CONSTANTS_AS_BYTES = ("fixed", "binary")
NO_LITERALS = ("timestamp_ns", "timestamptz_ns")
COUNTS = ("value_counts", "null_value_counts", "nan_value_counts")
BOUNDS = ("lower_bounds", "upper_bounds")


def _schema(args: Arguments) -> Schema:
    if "variant" in {native.kind(field["type"]) for field in args["schema"]["fields"]}:
        raise Unsupported("PyIceberg has no type variant")
    return Schema.model_validate_json(json.dumps(args["schema"]))


def _spec(args: Arguments) -> PartitionSpec:
    return PartitionSpec.model_validate_json(json.dumps(args["spec"]))


def _predicate(args: Arguments, schema: Schema) -> Any:
    """Build the predicate from PyIceberg's classes, and bind it; PyIceberg refuses with a `TypeError`."""
    fields = args["schema"]["fields"]
    types = {field["name"]: native.kind(field["type"]) for field in fields}
    try:
        predicate = _build(to_legacy_form(args["predicate"], fields), types)
        bind(schema, predicate, case_sensitive=True)
    except TypeError as error:
        raise Invalid(str(error)) from None
    return predicate


def to_pyiceberg(predicate: Any, schema: Schema) -> Any:
    """Convert a predicate for a PyIceberg schema; it may refer to fields inside structs.

    Raises:
        Invalid: PyIceberg refuses it.
    """
    types = {name: native.kind(str(schema.find_field(name).field_type)) for name in schema.column_names}
    try:
        built = _build(predicate, types)
        bind(schema, built, case_sensitive=True)
    except TypeError as error:
        raise Invalid(str(error)) from None
    return built


def _build(predicate: Any, types: dict[str, str]) -> Any:
    match predicate:
        case bool():
            return expressions.AlwaysTrue() if predicate else expressions.AlwaysFalse()
        case {"type": "not", "child": child}:
            return expressions.Not(_build(child, types))
        case {"type": "and", "left": left, "right": right}:
            return expressions.And(_build(left, types), _build(right, types))
        case {"type": "or", "left": left, "right": right}:
            return expressions.Or(_build(left, types), _build(right, types))
        case {"type": str(name), "term": str(column)} if name in PREDICATES:
            kind = types.get(column, "")
            constants = predicate.get("values", [predicate["value"]] if "value" in predicate else [])
            if constants and kind in NO_LITERALS:
                raise Unsupported(f"PyIceberg has no literals of {kind}")
            given = [_constant(kind, constant) for constant in constants]
            return PREDICATES[name](column, *([tuple(given)] if "values" in predicate else given))
        case {"term": dict()}:
            raise Unsupported("PyIceberg has predicates of columns only, not of transforms")
    raise Unsupported("PyIceberg's classes have no such predicate")


def _constant(kind: str, constant: Any) -> Any:
    return native.read(kind, constant) if kind in CONSTANTS_AS_BYTES else constant


def _record(fields: Iterable[Any], values: dict[str, Any]) -> Record:
    """Return a record with values as the Avro reader represents them."""
    return Record(*(native.read(str(field.field_type), values.get(str(field.field_id))) for field in fields))


def _partition(args: Arguments, spec: PartitionSpec, schema: Schema) -> Record:
    return _record(spec.partition_type(schema).fields, args["partition"])


def _evaluate(args: Arguments) -> bool:
    schema = _schema(args)
    return bool(
        expression_evaluator(schema, _predicate(args, schema), case_sensitive=True)(_record(schema.fields, args["row"]))
    )


def _evaluate_metrics(args: Arguments) -> bool:
    schema, given = _schema(args), args["metrics"]
    maps: dict[str, Any] = {
        name: {int(key): int(count) for key, count in given[name].items()} for name in COUNTS if name in given
    }
    maps |= {
        name: {int(key): bytes.fromhex(bound) for key, bound in given[name].items()} for name in BOUNDS if name in given
    }
    file = DataFile.from_args(**dict.fromkeys((*COUNTS, *BOUNDS)) | maps, record_count=int(given["record_count"]))
    judge = _InclusiveMetricsEvaluator if args["kind"] == "inclusive" else _StrictMetricsEvaluator
    return bool(judge(schema, _predicate(args, schema)).eval(file))


def _evaluate_projection(args: Arguments) -> bool:
    schema, spec = _schema(args), _spec(args)
    project = inclusive_projection if args["kind"] == "inclusive" else strict_projection
    projected = project(schema, spec)(_predicate(args, schema))
    partitions = Schema(*spec.partition_type(schema).fields)
    return bool(expression_evaluator(partitions, projected, case_sensitive=True)(_partition(args, spec, schema)))


def _evaluate_residual(args: Arguments) -> bool:
    schema, spec = _schema(args), _spec(args)
    evaluator = residual_evaluator_of(spec, _predicate(args, schema), case_sensitive=True, schema=schema)
    left = evaluator.residual_for(_partition(args, spec, schema))
    return bool(expression_evaluator(schema, left, case_sensitive=True)(_record(schema.fields, args["row"])))


def _summary(given: Arguments) -> PartitionFieldSummary:
    bounds = (given.get("lower_bound"), given.get("upper_bound"))
    lower, upper = (None if bound is None else bytes.fromhex(bound) for bound in bounds)
    return PartitionFieldSummary(given["contains_null"], given.get("contains_nan"), lower, upper)


def _evaluate_summaries(args: Arguments) -> bool:
    schema, spec = _schema(args), _spec(args)
    projected = inclusive_projection(schema, spec)(_predicate(args, schema))
    summaries = [_summary(given) for given in args["summaries"]]
    manifest = ManifestFile.from_args(partitions=summaries, partition_spec_id=spec.spec_id)
    return bool(manifest_evaluator(spec, schema, projected)(manifest))


def operations() -> dict[str, Callable[[Arguments], object]]:
    """Return the operations by name."""
    return {
        "expression.evaluate": _evaluate,
        "metrics.evaluate": _evaluate_metrics,
        "projection.evaluate": _evaluate_projection,
        "residual.evaluate": _evaluate_residual,
        "summaries.evaluate": _evaluate_summaries,
    }

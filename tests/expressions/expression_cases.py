"""Random schemas, rows, predicates, partition specs and metrics, with values that meet often."""

from __future__ import annotations

import functools
import itertools
import math
import uuid
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from hypothesis import strategies as st

from spec_ref.data_types.types import (
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    LONG,
    STRING,
    TIME,
    TIMESTAMP,
    TIMESTAMP_NS,
    TIMESTAMPTZ,
    TIMESTAMPTZ_NS,
    UUID,
    DecimalType,
    FixedType,
    NestedField,
    StructType,
    Type,
)
from spec_ref.expressions.metrics_evaluation import Metrics
from spec_ref.expressions.predicates import (
    ICEBERG_FUNCTIONS,
    And,
    Apply,
    Comparison,
    FunctionReference,
    IdReference,
    Literal,
    NamedReference,
    Not,
    Operation,
    Or,
    SetTest,
    Test,
)
from spec_ref.partitioning.spec import PartitionField, PartitionSpec
from spec_ref.partitioning.transforms import (
    Bucket,
    Day,
    Hour,
    Identity,
    Month,
    Truncate,
    UnknownTransform,
    Void,
    Year,
)
from spec_ref.schemas.schema import Schema
from spec_ref.single_value.bounds import encode_bound, truncate_lower, truncate_upper
from spec_ref.single_value.json_value import to_json

O = Operation  # noqa: E741

_DAYS = [-(1 << 31), -366, -365, -32, -31, -2, -1, 0, 1, 30, 31, 364, 365, 17486, (1 << 31) - 1]


def _instants(per_day: int) -> list[int]:
    hour = per_day // 24
    near = [
        base + step
        for base in (-365 * per_day, -31 * per_day, -per_day, -hour, 0, hour, per_day)
        for step in (-1, 0, 1)
    ]
    return [*near, -(1 << 63), (1 << 63) - 1]


_FLOATS = [-math.inf, -1.5, -0.0, 0.0, 1.5, 2.0, math.inf, math.nan]
_TEXTS = ["", "a", "ab", "abc", "abcd", "abd", "b", "é", "\ud7ff", "\ue000", "\uffff", "\U0001f600", "\U0010ffff" * 2]
_BYTES = [b"", b"\x00", b"a", b"ab", b"abc", b"abcd", b"\x7f", b"\x80", b"\xff", b"\xff\xff", b"\xff\xff\xff"]

POOLS: dict[Type, list[Any]] = {
    BOOLEAN: [False, True],
    INT: [-(1 << 31), -11, -10, -9, -1, 0, 1, 9, 10, 11, (1 << 31) - 1],
    LONG: [-(1 << 63), -11, -10, -9, -1, 0, 1, 9, 10, 11, (1 << 63) - 1],
    FLOAT: _FLOATS,
    DOUBLE: _FLOATS,
    DecimalType(4, 2): [
        Decimal(text) for text in ("-99.99", "-0.11", "-0.10", "-0.01", "0.00", "0.09", "0.10", "99.99")
    ],
    DATE: _DAYS,
    TIME: [0, 1, 43_200_000_000, 86_399_999_999],
    TIMESTAMP: _instants(86_400_000_000),
    TIMESTAMPTZ: _instants(86_400_000_000),
    TIMESTAMP_NS: _instants(86_400_000_000_000),
    TIMESTAMPTZ_NS: _instants(86_400_000_000_000),
    STRING: _TEXTS,
    UUID: [uuid.UUID(int=number << 120) for number in (0, 1, 0x7F, 0x80, 0xFF)],
    FixedType(2): [b"\x00\x00", b"\x00\xff", b"\x7f\x00", b"\x80\x00", b"\xff\xff"],
    BINARY: _BYTES,
}

_PLAIN = [Identity(), Year(), Month(), Day(), Hour()]
_FUNCTIONS = [*_PLAIN, Bucket(2), Bucket(7), Truncate(1), Truncate(2), Truncate(3), Truncate(10)]
TRANSFORMS = [*_FUNCTIONS, Void(), UnknownTransform("zorder(a)")]


def _takes(transform: Any, type_: Type) -> bool:
    try:
        transform.result_type(type_)
    except ValueError:
        return isinstance(transform, UnknownTransform)
    return True


def _schema(first: Type, second: Type) -> Schema:
    struct = StructType((NestedField(2, "inner", False, second),))
    return Schema((NestedField(1, "c", False, first), NestedField(100, "s", False, struct)))


SCHEMAS = [_schema(first, second) for first, second in itertools.pairwise([*POOLS, *POOLS][: len(POOLS) + 1])]
"""A column of each type, and one of another type in an optional struct."""


def schemas() -> st.SearchStrategy[Schema]:
    return st.sampled_from(SCHEMAS)


def columns(schema: Schema) -> list[Any]:
    """The primitive columns."""
    return [column for column in schema.columns() if not isinstance(column.type, StructType)]


def values(type_: Type) -> st.SearchStrategy[Any]:
    return st.sampled_from(POOLS[type_])


def rows(schema: Schema) -> st.SearchStrategy[dict[int, Any]]:
    def of(fields: Sequence[NestedField]) -> st.SearchStrategy[dict[int, Any]]:
        return st.fixed_dictionaries(
            {
                field.id: st.none()
                | (of(field.type.fields) if isinstance(field.type, StructType) else values(field.type))
                for field in fields
            }
        )

    return of(schema.fields)


def _call(transform: Any, reference: Any) -> Any:
    name, bracket, parameter = str(transform).rstrip("]").partition("[")
    arguments = (Literal(int(parameter)), reference) if bracket else (reference,)
    return Apply(FunctionReference((name,), ICEBERG_FUNCTIONS), arguments)


@functools.cache
def _transforms(type_: Type) -> tuple[list[Any], list[Any]]:
    """The functions of a type, and all transforms that a spec may have of it."""
    return [each for each in _FUNCTIONS if _takes(each, type_)], [each for each in TRANSFORMS if _takes(each, type_)]


@functools.cache
def _results(transform: Any, type_: Type) -> list[Any]:
    results = {}
    for value in filter(_finite, POOLS[type_]):
        try:
            result = transform.apply(type_, value)
        except ValueError:
            continue
        results[repr(result)] = result
    return list(results.values())


def _finite(value: Any) -> bool:
    return not isinstance(value, float) or math.isfinite(value)


@st.composite
def _leaves(draw: Any, schema: Schema) -> Any:
    column = draw(st.sampled_from(columns(schema)))
    term: Any = draw(st.sampled_from([NamedReference(column.name), IdReference(column.id)]))
    type_: Type = column.type
    constants = [value for value in POOLS[type_] if _finite(value)]
    if draw(st.integers(0, 4)) == 0:
        transform = draw(st.sampled_from(_transforms(type_)[0]))
        term, constants = _call(transform, term), _results(transform, type_)
        type_ = transform.result_type(type_)
    operations = [O.IS_NULL, O.NOT_NULL, O.LT, O.LT_EQ, O.GT, O.GT_EQ, O.EQ, O.NOT_EQ, O.IN, O.NOT_IN]
    operations += [O.STARTS_WITH, O.NOT_STARTS_WITH] * 2 if type_ == STRING else []
    operations += [O.IS_NAN, O.NOT_NAN] if type_ in (FLOAT, DOUBLE) else []
    operation = draw(st.sampled_from(operations))
    literals = st.sampled_from(constants).map(lambda value: Literal(to_json(type_, value)))
    if operation in (O.IN, O.NOT_IN):
        return SetTest(operation, term, tuple(draw(st.lists(literals, max_size=4))))
    if operation in (O.IS_NULL, O.NOT_NULL, O.IS_NAN, O.NOT_NAN):
        return Test(operation, term)
    return Comparison(operation, term, draw(literals))


@st.composite
def predicates(draw: Any, schema: Schema) -> Any:
    """One to three leaves, joined and negated at random."""
    predicate = draw(_leaves(schema))
    for _ in range(draw(st.integers(0, 2))):
        join = draw(st.sampled_from([And, Or, Not]))
        predicate = Not(predicate) if join is Not else join(predicate, draw(_leaves(schema)))
    return predicate


@st.composite
def specs(draw: Any, schema: Schema) -> PartitionSpec:
    fields = []
    for index in range(draw(st.integers(0, 3))):
        column = draw(st.sampled_from(columns(schema)))
        transform = draw(st.sampled_from(_transforms(column.type)[1]))
        fields.append(PartitionField(source_id=column.id, field_id=1000 + index, name=f"p{index}", transform=transform))
    return PartitionSpec(0, tuple(fields))


def field_value(schema: Schema, row: Mapping[int, Any], field_id: int) -> Any:
    """The value of a column, through the optional struct where it stands in it."""
    for field in schema.fields:
        if field.id == field_id:
            return row.get(field_id)
        if isinstance(field.type, StructType) and field.type.field(field_id) is not None:
            struct = row.get(field.id)
            return None if struct is None else struct.get(field_id)
    raise AssertionError(field_id)


def partition_row(spec: PartitionSpec, schema: Schema, row: Mapping[int, Any]) -> dict[int, Any] | None:
    """The partition tuple of a row; None where a transform has no result."""
    partition = {}
    for field in spec.fields:
        if isinstance(field.transform, UnknownTransform):
            partition[field.field_id] = "whatever"
            continue
        column = next(each for each in columns(schema) if each.id == field.source_id)
        try:
            partition[field.field_id] = field.transform.apply(column.type, field_value(schema, row, column.id))
        except ValueError:
            return None
    return partition


def _total_order(value: Any) -> Any:
    return (value, math.copysign(1, value)) if isinstance(value, float) else value


@st.composite
def draw_metrics(draw: Any, schema: Schema, table: Sequence[Mapping[int, Any]]) -> Metrics:
    """The metrics of a file with these rows: true, but cut and with parts missing at random."""
    maps: dict[str, dict[int, Any]] = {
        name: {} for name in ("value_counts", "null_value_counts", "nan_value_counts", "lower_bounds", "upper_bounds")
    }
    for column in columns(schema):
        found = [field_value(schema, row, column.id) for row in table]
        ordinary = [value for value in found if value is not None and value == value]
        kept = {
            "value_counts": len(found),
            "null_value_counts": sum(value is None for value in found),
        }
        if column.type in (FLOAT, DOUBLE):
            kept["nan_value_counts"] = sum(value is not None and value != value for value in found)
        if ordinary:
            lower, upper = min(ordinary, key=_total_order), max(ordinary, key=_total_order)
            if column.type in (STRING, BINARY):
                width = draw(st.integers(1, 4))
                lower = truncate_lower(column.type, lower, width)
                upper = truncate_upper(column.type, upper, width)
            kept["lower_bounds"] = encode_bound(column.type, lower)  # type: ignore[assignment]
            if upper is not None:
                kept["upper_bounds"] = encode_bound(column.type, upper)  # type: ignore[assignment]
        for name, entry in kept.items():
            if draw(st.integers(0, 5)):
                maps[name][column.id] = entry
    present = {name: entries for name, entries in maps.items() if draw(st.integers(0, 7))}
    return Metrics(record_count=len(table), **present)

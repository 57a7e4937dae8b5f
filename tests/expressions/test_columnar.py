"""The columnar kernel and the scalar definition give equal results (Iceberg Expressions, Predicates)."""

from __future__ import annotations

import uuid
from typing import Any

import pyarrow as pa
import pytest
from arrow_layouts import AWKWARD_FLOATS, layouts
from expression_cases import POOLS, SCHEMAS, columns, predicates, rows, schemas
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from spec_ref.columnar.expressions.evaluation import evaluate_array
from spec_ref.core.errors import SpecError
from spec_ref.data_types.types import (
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    STRING,
    TIMESTAMP,
    UNKNOWN,
    DecimalType,
    FixedType,
    NestedField,
    StructType,
)
from spec_ref.expressions.binding import bind
from spec_ref.expressions.bound import BoundReference, evaluate
from spec_ref.expressions.expression_json import predicate_from_json
from spec_ref.expressions.predicates import TRUE, Comparison, NamedReference, Operation
from spec_ref.schemas.schema import Schema

ARROW: dict[str, Any] = {
    "boolean": pa.bool_(),
    "int": pa.int32(),
    "long": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "date": pa.date32(),
    "time": pa.time64("us"),
    "timestamp": pa.timestamp("us"),
    "timestamptz": pa.timestamp("us", "UTC"),
    "timestamp_ns": pa.timestamp("ns"),
    "timestamptz_ns": pa.timestamp("ns", "UTC"),
    "string": pa.string(),
    "uuid": pa.binary(16),
    "binary": pa.binary(),
    "unknown": pa.null(),
}


def arrow_type(type_: Any) -> Any:
    match type_:
        case DecimalType(precision, scale):
            return pa.decimal128(precision, scale)
        case FixedType(length):
            return pa.binary(length)
        case StructType(fields):
            return pa.struct([(field.name, arrow_type(field.type)) for field in fields])
        case _:
            return ARROW[str(type_)]


def arrow_value(type_: Any, value: Any) -> Any:
    if isinstance(type_, StructType) and value is not None:
        return {field.name: arrow_value(field.type, value.get(field.id)) for field in type_.fields}
    return value.bytes if isinstance(value, uuid.UUID) else value


def to_arrow(schema: Schema, table: list[dict[int, Any]]) -> pa.Table:
    arrays = [
        pa.array([arrow_value(field.type, row.get(field.id)) for row in table], arrow_type(field.type))
        for field in schema.fields
    ]
    return pa.table(arrays, names=[field.name for field in schema.fields])


@settings(max_examples=250, deadline=None)
@given(st.data())
def test_the_kernel_agrees_with_the_definition(data: Any) -> None:
    schema = data.draw(schemas())
    predicate = bind(data.draw(predicates(schema)), schema)
    found = data.draw(st.lists(rows(schema), max_size=6))
    try:
        expected = [evaluate(predicate, row) for row in found]
    except SpecError:
        assume(False)
    table = to_arrow(schema, found)
    made = [
        data.draw(layouts(column.combine_chunks(), dictionary=True, wider=True, chunked=True))
        for column in table.columns
    ]
    table = pa.table(made, table.column_names)
    try:
        result = evaluate_array(predicate, table)
    except SpecError:  # a transform has no result for a value that the row's other columns make irrelevant
        assume(False)
    assert result.type == pa.bool_()
    assert result.null_count == 0
    assert result.to_pylist() == expected


COMPARED = [Operation.LT, Operation.LT_EQ, Operation.GT, Operation.GT_EQ, Operation.EQ, Operation.NOT_EQ]


@settings(deadline=None)
@given(st.sampled_from(list(POOLS)) | st.sampled_from([FLOAT, DOUBLE]), st.sampled_from(COMPARED), st.data())
def test_two_columns_are_compared_as_the_definition_compares_their_values(
    type_: Any, operation: Operation, data: Any
) -> None:
    schema = Schema((NestedField(1, "a", False, type_), NestedField(2, "b", False, type_)))
    predicate = bind(Comparison(operation, NamedReference("a"), NamedReference("b")), schema)
    pool = data.draw(st.lists(st.sampled_from(POOLS[type_]), min_size=1, max_size=3))
    some = AWKWARD_FLOATS if type_ in (FLOAT, DOUBLE) else st.none() | st.sampled_from(pool)
    found = data.draw(st.lists(st.fixed_dictionaries({1: some, 2: some}), max_size=6))
    table = to_arrow(schema, found)
    made = [data.draw(layouts(column.combine_chunks(), dictionary=True, chunked=True)) for column in table.columns]
    result = evaluate_array(predicate, pa.table(made, table.column_names))
    assert result.to_pylist() == [evaluate(predicate, row) for row in found]


def test_every_type_is_compared_with_its_constants() -> None:
    for schema in SCHEMAS:
        column = columns(schema)[0]
        rows_ = [{column.id: value} for value in [None, *POOLS[column.type]]]
        table = to_arrow(schema, rows_)
        for operation in ("lt", "lt-eq", "gt", "gt-eq", "eq", "not-eq"):
            predicate = bind(Comparison(Operation(operation), NamedReference("c"), NamedReference("c")), schema)
            assert evaluate_array(predicate, table).to_pylist() == [evaluate(predicate, row) for row in rows_]


PAIRS = Schema(
    (
        NestedField(1, "a", False, INT),
        NestedField(2, "b", False, DOUBLE),
        NestedField(3, "f", False, FLOAT),
        NestedField(4, "d", False, DATE),
        NestedField(5, "t", False, TIMESTAMP),
        NestedField(6, "u", False, UNKNOWN),
        NestedField(7, "k", False, BOOLEAN),
    )
)

ROWS = [
    dict(zip(range(1, 8), values, strict=True))
    for values in [
        (1, 1.0, 1.0, 0, 0, None, True),
        (None, None, None, None, None, None, None),
        (1, None, float("nan"), 1, None, None, False),
        (-(1 << 31), float("nan"), float("nan"), -1, -86_400_000_000, None, True),
        (2, float("inf"), -0.0, 3, 4, None, True),
        (0, -0.0, 0.0, 3, None, None, False),
    ]
]


@pytest.mark.parametrize("operation", ["lt", "lt-eq", "gt", "gt-eq", "eq", "not-eq"])
@pytest.mark.parametrize(("left", "right"), ["ab", "fb", "bf", "af", "dt", "td", "ua", "au", "uu", "kk"], ids=str)
def test_columns_are_compared_null_safe_and_aligned(operation: str, left: str, right: str) -> None:
    predicate = bind(Comparison(Operation(operation), NamedReference(left), NamedReference(right)), PAIRS)
    result = evaluate_array(predicate, to_arrow(PAIRS, ROWS))
    assert result.to_pylist() == [evaluate(predicate, row) for row in ROWS]


def test_if_else_chooses_by_row() -> None:  # EXP020
    condition = {"type": "gt", "left": {"type": "reference", "name": "a"}, "right": 0}
    call = {
        "type": "apply",
        "function": {"catalog": "iceberg_functions", "identifier": ["if_else"]},
        "arguments": [
            condition,
            {"type": "reference", "name": "a"},
            {"type": "literal", "value": 7, "data-type": "int"},
        ],
    }
    predicate = bind(predicate_from_json({"type": "eq", "left": call, "right": 7}), PAIRS)
    expected = [not (row[1] is not None and row[1] > 0) for row in ROWS]
    assert [evaluate(predicate, row) for row in ROWS] == expected
    assert evaluate_array(predicate, to_arrow(PAIRS, ROWS)).to_pylist() == expected


def test_text_in_every_layout() -> None:
    schema = Schema((NestedField(1, "x", False, STRING),))
    predicate = bind(predicate_from_json({"type": "starts-with", "term": "x", "value": "a"}), schema)
    for layout in (pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string())):
        column = pa.array(["a", None, "b", "ab"], pa.string()).cast(layout)
        assert evaluate_array(predicate, pa.table({"x": column})).to_pylist() == [True, False, False, True]


def test_no_rows_and_no_columns() -> None:
    assert evaluate_array(TRUE, pa.table({"x": pa.array([], pa.int32())})).to_pylist() == []
    assert evaluate_array(TRUE, pa.record_batch({"x": pa.array([1])})).to_pylist() == [True]
    reference = BoundReference((1,), ("y",), INT)
    from spec_ref.expressions.bound import BoundComparison

    with pytest.raises(SpecError, match="EXP003"):
        evaluate_array(BoundComparison(Operation.EQ, reference, 1), pa.table({"x": pa.array([1])}))

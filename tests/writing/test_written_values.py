"""Accepted inputs: each type from wider Arrow types, defaults for missing values, and refusals by row."""

from __future__ import annotations

import functools
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from arrow_layouts import AWKWARD_FLOATS, batch_layouts, from_a_pool, layouts
from hypothesis import given, settings
from hypothesis import strategies as st
from written import from_arrow, to_arrow

from spec_ref.columnar.partitioning.split_by_partition import split_by_partition
from spec_ref.columnar.schemas.column_projection import arrow_values
from spec_ref.columnar.schemas.written_rows import compile_input, with_comparable_floats
from spec_ref.columnar.sorting.comparator import sort_batch, sort_indices
from spec_ref.core.errors import SpecError
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
    UNKNOWN,
    UUID,
    VARIANT,
    DecimalType,
    FixedType,
    GeometryType,
    ListType,
    MapType,
    NestedField,
    StructType,
    Type,
)
from spec_ref.data_types.values import value_key
from spec_ref.partitioning import split_by_partition as definition
from spec_ref.partitioning.spec import PartitionField, PartitionSpec
from spec_ref.partitioning.split_by_partition import check_spec
from spec_ref.partitioning.transforms import Identity, UnknownTransform
from spec_ref.schemas.schema import Schema
from spec_ref.schemas.written_rows import written_row
from spec_ref.sorting.comparator import compare_rows, is_sortable, sort_rows
from spec_ref.sorting.order import NullOrder, SortDirection, SortField, SortOrder
from tools.metadata_strategies import partition_specs, schemas, sort_orders
from tools.value_strategies import values


def written(type_: Type, array: Any, *, required: bool = False) -> list[Any]:
    """The values of a column as they are written."""
    schema = Schema((NestedField(1, "c", required=required, type=type_),))
    batch = pa.RecordBatch.from_arrays([array], ["c"])
    made = compile_input(schema.fields, batch.schema)(batch)
    return [row[1] for row in from_arrow(schema, pa.Table.from_batches([made]))]


TAKEN: list[tuple[Type, Any, list[Any]]] = [
    (INT, pa.array([1, -5], pa.int64()), [1, -5]),
    (INT, pa.array([1, 255], pa.uint8()), [1, 255]),
    (LONG, pa.array([1, None], pa.int16()), [1, None]),
    (LONG, pa.array([2**63 - 1], pa.uint64()), [2**63 - 1]),
    (FLOAT, pa.array([1.5, None], pa.float64()), [1.5, None]),
    (DOUBLE, pa.array([1.5], pa.float32()), [1.5]),
    (DecimalType(9, 2), pa.array([Decimal("1.5")], pa.decimal128(4, 1)), [Decimal("1.50")]),
    (DecimalType(9, 2), pa.array([Decimal("1.50")], pa.decimal256(60, 3)), [Decimal("1.50")]),
    (DATE, pa.array([86_400_000], pa.date64()), [1]),
    (TIME, pa.array([1000], pa.time64("ns")), [1]),
    (TIMESTAMP, pa.array([-1], pa.timestamp("s")), [-1_000_000]),
    (TIMESTAMP, pa.array([-1000], pa.timestamp("ns")), [-1]),
    (TIMESTAMP_NS, pa.array([-1], pa.timestamp("us")), [-1000]),
    (TIMESTAMPTZ, pa.array([5], pa.timestamp("us", "Europe/Berlin")), [5]),
    (STRING, pa.array(["é", None], pa.large_string()), ["é", None]),
    (STRING, pa.array(["a", "a"], pa.string_view()), ["a", "a"]),
    (STRING, pa.array(["a", None, "a"]).dictionary_encode(), ["a", None, "a"]),
    (STRING, pa.DictionaryArray.from_arrays([1, None, 0], pa.array(["a", "b"], pa.string_view())), ["b", None, "a"]),
    (BINARY, pa.array([b"ab"], pa.binary(2)), [b"ab"]),
    (FixedType(2), pa.array([b"ab", None], pa.binary()), [b"ab", None]),
    (FixedType(2), pa.array([b"ab"], pa.binary_view()), [b"ab"]),
    (BOOLEAN, pa.nulls(2), [None, None]),
    (UNKNOWN, pa.nulls(1), [None]),
    (ListType(2, INT), pa.array([[1], []], pa.large_list(pa.int64())), [(1,), ()]),
    (ListType(2, INT), pa.array([[1, 2]], pa.list_(pa.int32(), 2)), [(1, 2)]),
]


@pytest.mark.parametrize(("type_", "array", "expected"), TAKEN, ids=lambda one: str(one)[:40])
def test_values_are_taken_from_wider_types(type_: Type, array: Any, expected: list[Any]) -> None:
    assert written(type_, array) == expected


def test_uuids_are_taken_from_bytes() -> None:
    data = bytes(range(16))
    encoded = pa.DictionaryArray.from_arrays(pa.array([0], pa.int8()), pa.array([data], pa.uuid()))
    for array in (pa.array([data], pa.binary()), pa.array([data], pa.binary(16)), encoded.dictionary, encoded):
        (found,) = written(UUID, array)
        assert found.bytes == data


STRINGS_MAP = pa.map_(pa.string(), pa.int32())
VARIANTS = pa.struct([("metadata", pa.binary()), ("value", pa.binary())])
STRUCTS = pa.struct([("a", pa.int64())])

REFUSED: list[tuple[str, str, Type, Any]] = [
    ("TYP009", "/1/c", INT, pa.array([1, 2**31], pa.int64())),
    ("TYP010", "/1/c", LONG, pa.array([1, 2**63], pa.uint64())),
    ("TYP011", "/2/c", FLOAT, pa.array([1.5, float("nan"), 1.1])),
    ("TYP011", "/0/c", FLOAT, pa.array([1e300])),
    ("TYP013", "/1/c", DecimalType(4, 2), pa.array([Decimal("1.00"), Decimal("100.00")], pa.decimal128(5, 2))),
    ("TYP013", "/0/c", DecimalType(4, 2), pa.array([Decimal("1.001")], pa.decimal128(4, 3))),
    ("TYP015", "/0/c", DATE, pa.array([5], pa.date64())),
    ("TYP016", "/1/c", TIME, pa.array([0, 86_400_000_000], pa.int64()).view(pa.time64("us"))),
    ("TYP017", "/1/c", TIMESTAMP, pa.array([1000, 1001], pa.timestamp("ns"))),
    ("TYP017", "/0/c", TIMESTAMP, pa.array([2**62], pa.timestamp("s"))),
    ("TYP021", "/1/c", STRING, pa.Array.from_buffers(pa.string(), 2, pa.array([b"a", b"\xff"]).buffers())),
    ("TYP022", "/1/c", UUID, pa.array([bytes(16), bytes(15)])),
    ("TYP023", "/2/c", FixedType(2), pa.array([b"ab", None, b"a"])),
    ("NOT010", "/0/c", GeometryType(), pa.array([b"\x01"])),
    ("TYP006", "/1/c", VARIANT, pa.array([None, {"metadata": b"\x00", "value": b"\x00"}], VARIANTS)),
    ("TYP003", "/1/c/element", ListType(2, INT, element_required=True), pa.array([[1], [None]])),
    ("TYP009", "/1/c/element", ListType(2, INT), pa.array([[1], [2**40]])),
    ("TYP004", "/1/c/value", MapType(2, STRING, 3, INT), pa.array([[], [("a", None)]], STRINGS_MAP)),
    ("TYP004", "/1/c", MapType(2, STRING, 3, INT), pa.array([[], [("a", 1), ("b", 1), ("a", 2)]], STRINGS_MAP)),
    (
        "TYP002",
        "/1/c/a",
        StructType((NestedField(2, "a", required=True, type=INT),)),
        pa.array([None, {"a": None}], STRUCTS),
    ),
]
"""Values that are none of their types: the code, where, the type and the column, of which only one row is wrong."""


@pytest.mark.parametrize(("code", "path", "type_", "array"), REFUSED, ids=lambda one: str(one)[:30])
def test_values_of_no_type_are_refused_by_row(code: str, path: str, type_: Type, array: Any) -> None:
    with pytest.raises(SpecError) as caught:
        written(type_, array)
    found = caught.value.violation
    assert found.requirement == code
    assert found.path.startswith(path)
    row = int(path.split("/")[1])
    others = pa.concat_arrays([array.slice(0, row), array.slice(row + 1)])
    assert len(written(type_, others)) == len(array) - 1


WRONG_TYPES: list[tuple[str, Type, Any]] = [
    ("TYP008", BOOLEAN, pa.array([1])),
    ("TYP009", INT, pa.array([1.0])),
    ("TYP012", DOUBLE, pa.array([1])),
    ("TYP013", DecimalType(4, 2), pa.array([1])),
    ("TYP015", DATE, pa.array([1])),
    ("TYP017", TIMESTAMP, pa.array([1], pa.timestamp("us", "UTC"))),
    ("TYP018", TIMESTAMPTZ, pa.array([1], pa.timestamp("us"))),
    ("TYP021", STRING, pa.array([b"a"])),
    ("TYP022", UUID, pa.array(["a"])),
    ("TYP024", BINARY, pa.array(["a"])),
    ("TYP025", UNKNOWN, pa.array([1])),
    ("TYP006", VARIANT, pa.array([b"a"])),
    ("TYP002", StructType(()), pa.array([1])),
    ("TYP003", ListType(2, INT), pa.array([1])),
    ("TYP004", MapType(2, STRING, 3, INT), pa.array([1])),
]


@pytest.mark.parametrize(("code", "type_", "array"), WRONG_TYPES, ids=lambda one: str(one)[:30])
def test_arrow_types_that_do_not_hold_a_type_are_refused(code: str, type_: Type, array: Any) -> None:
    with pytest.raises(SpecError) as caught:
        written(type_, array)
    assert caught.value.violation.requirement == code
    assert caught.value.violation.path.startswith("/c")


def test_what_stands_below_a_null_is_no_value() -> None:
    below = pa.array([2**40, 1], pa.int64())
    struct = pa.StructArray.from_arrays([below], ["a"], mask=pa.array([True, False]))
    assert written(StructType((NestedField(2, "a", required=True, type=INT),)), struct) == [None, {2: 1}]


def test_values_of_a_null_list_or_map_are_no_values() -> None:
    far = pa.array([1, 2**40, 3], pa.int64())
    offsets, mask = pa.array([0, 1, 2, 3], pa.int32()), pa.array([False, True, False])
    listed = pa.ListArray.from_arrays(offsets, far, mask=mask)
    assert written(ListType(2, INT), listed) == [(1,), None, (3,)]
    assert written(ListType(2, INT), listed.slice(1)) == [None, (3,)]
    mapped = pa.MapArray.from_arrays(offsets, ["a", "b", "c"], far, mask=mask)
    assert written(MapType(2, STRING, 3, INT), mapped) == [(("a", 1),), None, (("c", 3),)]


def test_a_column_that_is_missing_takes_its_write_default() -> None:
    inner = StructType(
        (
            NestedField(4, "x", required=True, type=INT, initial_default=1, write_default=2),
            NestedField(5, "y", required=False, type=INT),
        )
    )
    schema = Schema(
        (
            NestedField(1, "id", required=True, type=INT),
            NestedField(2, "d", required=False, type=STRING, initial_default="old", write_default="new"),
            NestedField(3, "s", required=False, type=inner),
            NestedField(6, "n", required=False, type=DOUBLE),
        )
    )
    rows = pa.table({"s": pa.array([{"y": 7}, None]), "id": [1, 2]})
    batch = rows.to_batches()[0]
    made = pa.Table.from_batches([compile_input(schema.fields, batch.schema)(batch)])
    assert from_arrow(schema, made) == [
        {1: 1, 2: "new", 3: {4: 2, 5: 7}, 6: None},
        {1: 2, 2: "new", 3: None, 6: None},
    ]
    given = pa.table({"id": [1], "d": pa.array([None], pa.string())})
    batch = given.to_batches()[0]
    made = pa.Table.from_batches([compile_input(schema.fields, batch.schema)(batch)])
    assert from_arrow(schema, made)[0][2] is None


@pytest.mark.parametrize(
    ("rows", "code"),
    [
        (pa.table({"other": [1], "id": [1]}), "TYP002"),
        (pa.table([pa.array([1]), pa.array([1])], ["id", "id"]), "TYP002"),
        (pa.table({"n": [1]}), "DEF007"),
        (pa.table({"id": [1], "s": pa.array([{"z": 1}])}), "TYP002"),
    ],
)
def test_inputs_that_do_not_fit_the_schema_are_refused(rows: pa.Table, code: str) -> None:
    inner = StructType((NestedField(4, "y", required=False, type=INT),))
    fields = (
        NestedField(1, "id", required=True, type=INT),
        NestedField(2, "n", required=False, type=INT),
        NestedField(3, "s", required=False, type=inner),
    )
    with pytest.raises(SpecError) as caught:
        compile_input(fields, rows.schema)
    assert caught.value.violation.requirement == code


@st.composite
def inputs(draw: st.DrawFn) -> tuple[Schema, list[dict[int, Any]]]:
    """Rows of a schema that leave out some of its columns."""
    schema = draw(schemas())
    given = Schema(tuple(field for field in schema.fields if draw(st.booleans()) or field is schema.fields[0]))
    return schema, draw(st.lists(values(given.as_struct()), min_size=1, max_size=5)), given


@settings(max_examples=60)
@given(inputs(), st.data())
def test_rows_are_written_as_the_definition_says_one_by_one(case: tuple[Any, ...], data: st.DataObject) -> None:
    schema, rows, given = case
    table = to_arrow(given, rows)
    named = [{field.name: row.get(field.id) for field in given.fields} for row in rows]
    expected = result(lambda: [written_row(schema.fields, row) for row in named], schema)
    made = pa.RecordBatch.from_arrays([column.combine_chunks() for column in table.columns], table.column_names)
    table = pa.Table.from_batches([data.draw(batch_layouts(made, dictionary=True, wider=True))])
    assert result(lambda: from_arrow(schema, converted(schema, table)), schema) == expected


def result(make: Callable[[], list[dict[int, Any]]], schema: Schema) -> Any:
    """The rows, or the code with which they are refused."""
    try:
        return [value_key(schema.as_struct(), row) for row in make()]
    except SpecError as error:
        return error.violation.requirement


def converted(schema: Schema, table: pa.Table) -> pa.Table:
    return pa.Table.from_batches([compile_input(schema.fields, table.schema)(batch) for batch in table.to_batches()])


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"other": 1, "id": 1}, "TYP002"),
        ({"n": 1}, "DEF007"),
        ({"id": 1, "s": {5: 1}}, "TYP002"),
        ({"id": None}, "TYP002"),
        ({"id": 1 << 31}, "TYP009"),
        ({"id": 1, "l": (None,)}, "TYP003"),
        ({"id": 1, "s": {4: None}}, "TYP002"),
    ],
)
def test_a_row_that_does_not_fit_the_schema_is_refused(given: dict[str, Any], code: str) -> None:
    inner = StructType((NestedField(4, "y", required=True, type=INT, initial_default=1, write_default=2),))
    fields = (
        NestedField(1, "id", required=True, type=INT),
        NestedField(2, "n", required=False, type=INT),
        NestedField(3, "s", required=False, type=inner),
        NestedField(6, "l", required=False, type=ListType(7, INT, element_required=True)),
    )
    assert written_row(fields, {"id": 1, "s": {}}) == {1: 1, 2: None, 3: {4: 2}, 6: None}
    with pytest.raises(SpecError) as caught:
        written_row(fields, given)
    assert caught.value.violation.requirement == code


def test_rows_are_counted_over_batches() -> None:
    schema = Schema((NestedField(1, "id", required=True, type=INT),))
    batch = pa.RecordBatch.from_arrays([pa.array([1, None])], ["id"])
    with pytest.raises(SpecError) as caught:
        compile_input(schema.fields, batch.schema)(batch, 10)
    assert caught.value.violation.path == "/11/id"


@given(st.sampled_from([INT, STRING]), st.data())
def test_values_are_distinct_as_the_spec_compares_them(type_: Type, data: st.DataObject) -> None:
    check_distinct(type_, data.draw(from_a_pool(st.none() | values(type_), max_size=8)), data)


@given(st.sampled_from([FLOAT, DOUBLE]), st.lists(AWKWARD_FLOATS, max_size=6), st.data())
def test_floats_are_distinct_by_their_bits_but_for_nan(type_: Type, drawn: list[Any], data: st.DataObject) -> None:
    check_distinct(type_, drawn, data)


def check_distinct(type_: Type, drawn: list[Any], data: st.DataObject) -> None:
    codes = with_comparable_floats(data.draw(layouts(arrow_values(type_, drawn)))).to_pylist()
    for place, one in enumerate(drawn):
        same = [value_key(type_, one) == value_key(type_, other) for other in drawn]
        assert [codes[place] == code for code in codes] == same


# Partitions and order


@st.composite
def partitioned(draw: st.DrawFn) -> tuple[Schema, PartitionSpec, list[dict[int, Any]]]:
    schema = draw(schemas())
    spec = draw(partition_specs(schema))
    columns = {
        field.id: draw(from_a_pool(values(field.type) if field.required else st.none() | values(field.type), 3, 1))
        for field in schema.fields
    }
    row = st.fixed_dictionaries({id_: st.sampled_from(pool) for id_, pool in columns.items()})
    return schema, spec, draw(st.lists(row, min_size=1, max_size=30))


@settings(max_examples=30)
@given(partitioned(), st.data())
def test_rows_are_reported_apart_as_the_transforms_do_one_by_one(case: tuple[Any, ...], data: st.DataObject) -> None:
    schema, spec, rows = case
    try:
        check_spec(spec, schema)
        type_ = spec.partition_type(schema)
        expected = {
            value_key(type_, partition): [value_key(schema.as_struct(), row) for row in own]
            for partition, own in definition.split_by_partition(spec, schema, rows)
        }
    except SpecError:
        return
    (batch,) = compile_and_make(schema, rows)
    batch = data.draw(batch_layouts(batch))
    made = {
        value_key(type_, partition): [value_key(schema.as_struct(), row) for row in in_batch(schema, part)]
        for partition, part in split_by_partition(spec, schema, batch)
    }
    assert made == expected


def compile_and_make(schema: Schema, rows: list[dict[int, Any]]) -> list[pa.RecordBatch]:
    """Rows as batches of the schema."""
    table = to_arrow(schema, rows)
    return [compile_input(schema.fields, table.schema)(batch) for batch in table.to_batches()]


def in_batch(schema: Schema, batch: pa.RecordBatch) -> list[dict[int, Any]]:
    return from_arrow(schema, pa.Table.from_batches([batch]))


def test_many_partitions_of_several_fields_are_reported_apart() -> None:
    schema = Schema((NestedField(1, "a", required=True, type=LONG), NestedField(2, "b", required=True, type=LONG)))
    spec = PartitionSpec(
        0,
        tuple(
            PartitionField(source_id=one, field_id=1000 + one, name=f"p{one}", transform=Identity()) for one in (1, 2)
        ),
    )
    a, b = np.arange(3000) % 1000, np.arange(3000) % 999
    batch = pa.RecordBatch.from_arrays([pa.array(a), pa.array(b)], ["a", "b"])
    made = {tuple(partition.values()): part.num_rows for partition, part in split_by_partition(spec, schema, batch)}
    assert made == dict.fromkeys(zip(a.tolist(), b.tolist(), strict=True), 1)


def test_files_are_not_written_under_an_unknown_transform() -> None:
    schema = Schema((NestedField(1, "a", required=True, type=LONG),))
    spec = PartitionSpec(0, (PartitionField(source_id=1, field_id=1000, name="p", transform=UnknownTransform("z")),))
    with pytest.raises(SpecError, match="PAR007"):
        check_spec(spec, schema)


@st.composite
def ordered(draw: st.DrawFn) -> tuple[Schema, SortOrder, list[dict[int, Any]]]:
    schema = draw(schemas())
    order = draw(sort_orders(schema))
    return schema, order, draw(st.lists(values(schema.as_struct()), min_size=1, max_size=20))


@settings(max_examples=40)
@given(ordered(), st.data())
def test_rows_are_sorted_as_their_values_are_one_by_one(case: tuple[Any, ...], data: st.DataObject) -> None:
    schema, order, rows = case
    if not is_sortable(order, schema):
        return
    (batch,) = compile_and_make(schema, rows)
    batch = data.draw(batch_layouts(batch))
    try:
        for row in rows:  # a row is compared with itself, so that each of its values is transformed
            compare_rows(order, schema, row, row)
    except SpecError:
        with pytest.raises(SpecError):
            sort_indices(order, schema, batch)
        return
    expected = sort_rows(order, schema, rows)
    assert [rows[place] for place in sort_indices(order, schema, batch).to_pylist()] == expected
    keys = functools.cmp_to_key(lambda one, other: compare_rows(order, schema, rows[one], rows[other]))
    assert sort_indices(order, schema, batch).to_pylist() == sorted(range(len(rows)), key=keys)
    assert in_batch(schema, sort_batch(order, schema, batch)) == expected


@pytest.mark.parametrize("nulls", NullOrder)
@pytest.mark.parametrize("direction", SortDirection)
def test_nulls_stand_where_the_order_says(direction: SortDirection, nulls: NullOrder) -> None:
    schema = Schema((NestedField(1, "d", required=False, type=DOUBLE),))
    order = SortOrder(1, (SortField(source_id=1, transform=Identity(), direction=direction, null_order=nulls),))
    values_ = [0.0, None, float("nan"), -0.0, float("-inf"), None, 1.5]
    batch = pa.RecordBatch.from_arrays([pa.array(values_, pa.float64(), from_pandas=False)], ["d"])
    ascending = [4, 3, 0, 6, 2]  # -Infinity, -0.0, 0.0, 1.5, NaN
    rest = ascending if direction is SortDirection.ASC else ascending[::-1]
    expected = [1, 5, *rest] if nulls is NullOrder.NULLS_FIRST else [*rest, 1, 5]
    assert sort_indices(order, schema, batch).to_pylist() == expected


def test_more_partitions_than_16_bits_number_are_not_mixed() -> None:
    values = [*range(1 << 16, -1, -1), 0]
    schema = Schema((NestedField(1, "a", False, LONG),))
    spec = PartitionSpec(0, (PartitionField(source_id=1, field_id=1000, name="a", transform=Identity()),))
    batch = pa.record_batch({"a": pa.array(values, pa.int64())})
    parts = list(split_by_partition(spec, schema, batch))
    assert [(partition[1000], part.num_rows) for partition, part in parts] == [
        (value, 1 if value else 2) for value in values[:-1]
    ]
    assert all(set(part.column("a").to_pylist()) == {partition[1000]} for partition, part in parts)

"""Column Projection: each rule with an input that depends only on it, and rows of batches equal to the definition's."""

from __future__ import annotations

import math
import uuid
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from arrow_layouts import batch_layouts
from hypothesis import given, settings
from hypothesis import strategies as st

from spec_ref.columnar.arrow_values import to_python_values
from spec_ref.columnar.schemas.arrow_columns import arrow_type
from spec_ref.columnar.schemas.column_projection import arrow_values, compile_projection, constant_array, list_ranges
from spec_ref.core.errors import SpecError
from spec_ref.core.records import evolve
from spec_ref.data_types.types import (
    BINARY,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    LONG,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NS,
    TIMESTAMPTZ,
    UNKNOWN,
    UUID,
    DecimalType,
    FixedType,
    GeographyType,
    GeometryType,
    ListType,
    MapType,
    NestedField,
    StructType,
    Type,
)
from spec_ref.data_types.values import value_key
from spec_ref.partitioning.spec import PartitionField, PartitionSpec, identity_values
from spec_ref.partitioning.transforms import Bucket, Identity
from spec_ref.schemas.column_projection import FileColumns, project_row, select_fields
from spec_ref.schemas.evolution import assign_fresh_ids
from spec_ref.schemas.schema import Schema
from tools.value_strategies import types, values


def field(field_id: int, name: str, type_: Type, *, required: bool = False, default: Any = None) -> NestedField:
    return NestedField(field_id, name, required, type_, initial_default=default)


def struct(*fields: NestedField) -> StructType:
    return StructType(fields)


def make_batch(written: StructType, rows: list[dict[int, Any]]) -> pa.RecordBatch:
    arrays = [arrow_values(f.type, [row.get(f.id) for row in rows]) for f in written.fields]
    return pa.RecordBatch.from_arrays([*arrays, pa.nulls(len(rows))], [*(f.name for f in written.fields), "\0extra"])


def read(
    fields: list[NestedField],
    written: StructType,
    rows: list[dict[int, Any]],
    constants: dict[int, Any] | None = None,
    *,
    mapped: bool = False,
    laid_out: Callable[[Any], Any] = lambda batch: batch,
) -> list[dict[int, Any]]:
    """Rows as the definition and the kernel agree on them."""
    columns = FileColumns(written, mapped=mapped)
    constants = constants or {}
    defined = outcome(lambda: [project_row(fields, columns, row, constants) for row in rows])
    made = outcome(lambda: kernel(fields, columns, laid_out(make_batch(written, rows)), constants))
    if isinstance(defined, str) or isinstance(made, str):
        assert made == defined or not rows  # without rows the definition looks at no column, and the kernel at all
        raise SpecError(caught[0])
    whole = StructType(tuple(fields))
    assert [value_key(whole, row) for row in made] == [value_key(whole, row) for row in defined]
    return defined


caught: list[Any] = []


def outcome(work: Any) -> Any:
    try:
        return work()
    except SpecError as error:
        caught[:] = [error.violation]
        return f"{error.violation.requirement} {error.violation.path}"


def kernel(fields: Any, columns: FileColumns, batch: pa.RecordBatch, constants: Any) -> list[dict[int, Any]]:
    project = compile_projection(fields, columns, constants)
    made = project(batch)
    made.validate(full=True)
    listed = [to_python_values(f.type, made.column(place)) for place, f in enumerate(fields)]
    return [{f.id: values[row] for f, values in zip(fields, listed, strict=True)} for row in range(batch.num_rows)]


# PRJ001, PRJ006: by id


def test_columns_are_found_by_id_and_take_the_order_and_names_of_the_schema() -> None:
    written = struct(field(1, "a", INT), field(2, "b", STRING), field(3, "c", DOUBLE))
    wanted = [field(3, "measurement", DOUBLE), field(2, "name", STRING), field(4, "a", INT)]
    assert read(wanted, written, [{1: 1, 2: "x", 3: 0.5}]) == [{3: 0.5, 2: "x", 4: None}]
    project = compile_projection(wanted, FileColumns(written), {})
    assert project.schema.names == ["measurement", "name", "a"]
    assert project.columns == ("c", "b")


def test_two_columns_of_one_id_are_refused() -> None:
    written = struct(field(1, "a", INT), field(1, "b", INT))
    with pytest.raises(SpecError, match=r"PRJ001.*a, b"):
        read([field(1, "a", INT)], written, [{1: 1}])


def test_no_columns_leave_the_count_of_rows() -> None:
    project = compile_projection([], FileColumns(struct(field(1, "a", INT))), {})
    assert project(make_batch(struct(field(1, "a", INT)), [{1: 1}, {1: 2}])).num_rows == 2


# PRJ002 to PRJ005: fields that the file does not have


def test_identity_partition_value_stands_in_for_a_missing_column() -> None:
    assert read([field(1, "p", INT, default=5)], struct(), [{}], {1: 7}) == [{1: 7}]


def test_partition_value_that_is_null_is_the_value() -> None:
    assert read([field(1, "p", INT, default=5)], struct(), [{}], {1: None}) == [{1: None}]


def test_column_of_the_file_stands_before_the_partition_value() -> None:
    assert read([field(1, "p", INT)], struct(field(1, "p", INT)), [{1: 3}], {1: 7}) == [{1: 3}]


def test_partition_value_stands_before_the_name_mapping() -> None:
    assert read([field(1, "p", INT)], struct(field(1, "p", INT)), [{1: 3}], {1: 7}, mapped=True) == [{1: 7}]


def test_mapped_column_stands_before_the_default() -> None:
    wanted = [field(1, "a", INT, default=5)]
    assert read(wanted, struct(field(1, "x", INT)), [{1: 3}, {1: None}], mapped=True) == [{1: 3}, {1: None}]


def test_initial_default_stands_before_null() -> None:
    assert read([field(1, "a", INT, default=5)], struct(), [{}]) == [{1: 5}]


def test_null_of_the_file_is_not_filled_by_the_default() -> None:
    assert read([field(1, "a", INT, default=5)], struct(field(1, "a", INT)), [{1: None}]) == [{1: None}]


def test_missing_optional_field_is_null() -> None:
    assert read([field(1, "a", INT)], struct(), [{}]) == [{1: None}]


def test_missing_required_field_without_default_is_refused() -> None:
    with pytest.raises(SpecError, match=r"/a: PRJ005: .*; expected a column"):
        read([field(1, "a", INT, required=True)], struct(), [{}])


def test_missing_required_field_takes_its_default() -> None:
    assert read([field(1, "a", INT, required=True, default=5)], struct(), [{}]) == [{1: 5}]


def test_only_identity_transforms_give_values() -> None:
    spec = PartitionSpec(
        0,
        (
            PartitionField(source_id=1, field_id=1000, name="b", transform=Bucket(4)),
            PartitionField(source_id=2, field_id=1001, name="i", transform=Identity()),
            PartitionField(source_id=3, field_id=1002, name="not there", transform=Identity()),
        ),
    )
    assert identity_values(spec, {1000: 3, 1001: "x"}) == {2: "x"}


# Nested fields


POINT = field(1, "point", struct(field(2, "x", INT), field(3, "y", INT, default=9)))


def test_missing_nested_field_takes_its_own_default_where_the_struct_is_there() -> None:  # TYP005
    written = struct(field(1, "point", struct(field(2, "x", INT))))
    assert read([POINT], written, [{1: {2: 1}}, {1: None}]) == [{1: {2: 1, 3: 9}}, {1: None}]


def test_missing_struct_is_null_although_its_fields_have_defaults() -> None:
    assert read([POINT], struct(), [{}]) == [{1: None}]


def test_missing_struct_with_an_empty_default_has_the_defaults_of_its_fields() -> None:  # DEF010, EVO017
    assert read([evolve(POINT, initial_default={})], struct(), [{}]) == [{1: {2: None, 3: 9}}]


def test_missing_nested_field_takes_the_partition_value() -> None:
    written = struct(field(1, "point", struct(field(2, "x", INT))))
    assert read([POINT], written, [{1: {2: 1}}], {3: 7}) == [{1: {2: 1, 3: 7}}]


def test_missing_struct_has_the_partition_value_of_its_field() -> None:
    assert read([POINT], struct(), [{}], {3: 7}) == [{1: {2: None, 3: 7}}]
    assert read([POINT], struct(), [{}], {2: None, 3: 7}) == [{1: {2: None, 3: 7}}]
    assert read([POINT], struct(), [{}], {2: 5}) == [{1: {2: 5, 3: 9}}]
    assert read([POINT], struct(), [{}], {3: None}) == [{1: None}]
    outer = field(8, "outer", struct(POINT))
    assert read([outer], struct(), [{}], {2: 5}) == [{8: {1: {2: 5, 3: 9}}}]


def test_required_field_inside_a_null_struct_is_no_null() -> None:
    wanted = [field(1, "s", struct(field(2, "x", INT, required=True)))]
    written = struct(field(1, "s", struct(field(2, "x", INT))))
    assert read(wanted, written, [{1: None}, {1: {2: 4}}]) == [{1: None}, {1: {2: 4}}]
    with pytest.raises(SpecError, match="/s/x: TYP002"):
        read(wanted, written, [{1: {2: None}}])


def test_null_of_a_required_column_is_refused() -> None:
    with pytest.raises(SpecError, match=r"/a: TYP002: .*; expected a value of int"):
        read([field(1, "a", INT, required=True)], struct(field(1, "a", INT)), [{1: 1}, {1: None}])


def test_structs_inside_lists_and_maps_are_projected() -> None:
    item = struct(field(4, "x", INT), field(5, "gone", INT))
    wanted = [
        field(1, "l", ListType(2, struct(field(6, "new", INT, default=1), field(4, "y", LONG)), False)),
        field(3, "m", MapType(7, INT, 8, struct(field(4, "y", LONG)), False)),
    ]
    written = struct(field(1, "l", ListType(2, item, False)), field(3, "m", MapType(7, INT, 8, item, False)))
    rows = [{1: ({4: 1, 5: 2}, None), 3: ((1, {4: 3, 5: 4}), (2, None))}, {1: None, 3: None}, {1: (), 3: ()}]
    assert read(wanted, written, rows) == [
        {1: ({6: 1, 4: 1}, None), 3: ((1, {4: 3}), (2, None))},
        {1: None, 3: None},
        {1: (), 3: ()},
    ]


@pytest.mark.parametrize("sliced", [(0, 3), (1, 2), (2, 1)])
def test_slices_of_nested_arrays_are_read_where_they_stand(sliced: tuple[int, int]) -> None:
    written = struct(field(1, "l", ListType(2, INT, False)), field(3, "m", MapType(4, INT, 5, INT, False)))
    wanted = [field(1, "l", ListType(2, LONG, False)), field(3, "m", MapType(4, LONG, 5, LONG, False))]
    rows = [{1: (1, 2), 3: ((1, 2),)}, {1: None, 3: None}, {1: (3,), 3: ((4, 5), (6, None))}]
    batch = make_batch(written, rows).slice(*sliced)
    made = compile_projection(wanted, FileColumns(written), {})(batch)
    made.validate(full=True)
    expected = rows[sliced[0] : sliced[0] + sliced[1]]
    assert to_python_values(wanted[0].type, made.column(0)) == [row[1] for row in expected]
    assert to_python_values(wanted[1].type, made.column(1)) == [row[3] for row in expected]


def test_required_element_that_is_null_is_refused() -> None:
    written = struct(field(1, "l", ListType(2, INT, False)))
    with pytest.raises(SpecError, match="/l/element: TYP003"):
        read([field(1, "l", ListType(2, INT, True))], written, [{1: (None,)}])


# Types


@pytest.mark.parametrize(
    ("old", "new", "value", "promoted"),
    [
        (INT, LONG, -(1 << 31), -(1 << 31)),
        (FLOAT, DOUBLE, 0.10000000149011612, 0.10000000149011612),
        (DecimalType(4, 2), DecimalType(38, 2), Decimal("-12.34"), None),
        (DATE, TIMESTAMP, -1, -86_400_000_000),
        (DATE, TIMESTAMP_NS, 1, 86_400_000_000_000),
        (UNKNOWN, STRING, None, None),
    ],
)
def test_promoted_types_keep_their_values(old: Type, new: Type, value: Any, promoted: Any) -> None:
    rows = read([field(1, "a", new)], struct(field(1, "a", old)), [{1: value}, {1: None}])
    assert rows == [{1: value if promoted is None else promoted}, {1: None}]


def test_date_beyond_the_timestamp_fails() -> None:
    for new, days in ((TIMESTAMP, 106_751_992), (TIMESTAMP_NS, -106_752)):
        with pytest.raises(SpecError, match="/a: EVO006"):
            read([field(1, "a", new)], struct(field(1, "a", DATE)), [{1: days}])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (LONG, INT),
        (DOUBLE, FLOAT),
        (DecimalType(4, 2), DecimalType(6, 3)),
        (DecimalType(4, 2), DecimalType(3, 2)),
        (DATE, TIMESTAMPTZ),
        (INT, STRING),
        (STRING, BINARY),
        (TIMESTAMP, TIMESTAMPTZ),
        (FixedType(4), FixedType(5)),
        (FixedType(15), UUID),
        (INT, struct(field(2, "x", INT))),
        (struct(field(2, "x", INT)), INT),
        (ListType(2, INT), MapType(2, INT, 3, INT)),
        (BINARY, UUID),
    ],
)
def test_other_types_are_refused(old: Type, new: Type) -> None:
    with pytest.raises(SpecError, match=r"/a: EVO003: .*expected"):
        read([field(1, "a", new)], struct(field(1, "a", old)), [{1: None}])


@pytest.mark.parametrize(
    ("old", "new"),
    [(BINARY, GeometryType()), (GeometryType("a"), GeometryType("b")), (BINARY, GeographyType()), (BINARY, STRING)],
)
def test_what_formats_and_writers_do_not_report_is_read(old: Type, new: Type) -> None:
    value = b"\x01\x01\0\0\0" + bytes(16)
    assert compile_projection([field(1, "a", new)], FileColumns(struct(field(1, "a", old))), {})(
        make_batch(struct(field(1, "a", BINARY)), [{1: value if new != STRING else b"text"}])
    ).column(0).to_pylist() == [value if new != STRING else "text"]


def test_text_that_is_not_utf8_is_refused() -> None:
    broken = pa.Array.from_buffers(pa.string(), 1, pa.array([b"\xff"]).buffers())
    project = compile_projection([field(1, "a", STRING)], FileColumns(struct(field(1, "a", STRING))), {})
    with pytest.raises(SpecError, match="/a: TYP021"):
        project(pa.RecordBatch.from_arrays([broken], ["a"]))


@pytest.mark.parametrize(
    ("type_", "array", "read_as"),
    [
        (INT, pa.array([1, None], pa.int8()), [1, None]),
        (LONG, pa.array([1 << 31], pa.uint32()), [1 << 31]),
        (STRING, pa.array(["a", None]).dictionary_encode(), ["a", None]),
        (STRING, pa.array(["a"], pa.large_string()), ["a"]),
        (STRING, pa.array(["a"], pa.string_view()), ["a"]),
        (TIMESTAMP, pa.array([-1], pa.timestamp("ms")), [-1000]),
        (TIMESTAMP, pa.array([-1], pa.timestamp("ns")), [-1]),
        (TIMESTAMPTZ, pa.array([5], pa.timestamp("us", "Europe/Paris")), [5]),
        (ListType(2, INT, False), pa.array([[1], None], pa.large_list(pa.int32())), [(1,), None]),
        (ListType(2, INT, False), pa.array([[1, 2], None], pa.list_(pa.int32(), 2)), [(1, 2), None]),
        (MapType(2, INT, 3, INT, False), pa.nulls(2), [None, None]),
    ],
)
def test_every_arrow_type_that_files_are_read_as(type_: Type, array: Any, read_as: list[Any]) -> None:
    project = compile_projection([field(1, "a", type_)], FileColumns(struct(field(1, "a", type_))), {})
    made = project(pa.RecordBatch.from_arrays([array], ["a"]))
    assert to_python_values(type_, made.column(0)) == read_as


def test_column_of_type_unknown_is_null_whatever_the_file_has() -> None:
    for name, wanted in (("a", UNKNOWN), ("b", INT)):
        project = compile_projection([field(1, name, wanted)], FileColumns(struct(field(1, "a", UNKNOWN))), {})
        assert project(pa.RecordBatch.from_arrays([pa.array([1, 2])], ["a"])).column(0).to_pylist() == [None, None]


def test_lists_and_maps_that_require_a_value_of_type_unknown_have_an_arrow_type() -> None:
    for type_ in (ListType(1, UNKNOWN, element_required=True), MapType(1, STRING, 2, UNKNOWN, value_required=True)):
        assert to_python_values(type_, arrow_values(type_, [(), None])) == [(), None]


@pytest.mark.parametrize(
    "stored", [INT, UUID, BINARY, struct(field(9, "x", INT)), ListType(9, INT), MapType(8, STRING, 9, INT)]
)
def test_columns_that_are_stored_for_type_unknown_are_ignored(stored: Type) -> None:
    # PQT006, at every depth; a second column with the id is no concern either
    value = {INT: 1, UUID: uuid.UUID(int=1), BINARY: b"1", ListType(9, INT): (1, 2)}.get(
        stored, {9: 1} if isinstance(stored, StructType) else (("k", 1),)
    )
    inside = struct(field(3, "x", stored), field(4, "y", INT))
    written = struct(
        field(1, "a", stored),
        field(2, "s", inside),
        field(5, "l", ListType(6, stored, False)),
        field(7, "m", MapType(10, STRING, 11, stored)),
    )
    wanted = [
        field(1, "a", UNKNOWN),
        field(2, "s", struct(field(3, "x", UNKNOWN), field(4, "y", INT))),
        field(5, "l", ListType(6, UNKNOWN, False)),
        field(7, "m", MapType(10, STRING, 11, UNKNOWN, False)),
    ]
    rows: list[dict[int, Any]] = [{1: value, 2: {3: value, 4: 5}, 5: (value, None), 7: (("k", value),)}, {}]
    assert read(wanted, written, rows) == [
        {1: None, 2: {3: None, 4: 5}, 5: (None, None), 7: (("k", None),)},
        {1: None, 2: None, 5: None, 7: None},
    ]
    doubled = FileColumns(struct(*written.fields, field(1, "again", STRING)))
    assert compile_projection(wanted, doubled, {}).columns == ("s", "l", "m")


# Selecting


def test_selected_fields_of_structs_bring_only_what_is_around_them() -> None:
    schema = Schema((field(5, "a", INT), evolve(POINT, type=struct(*POINT.type.fields, field(4, "z", INT)))))  # type: ignore[union-attr]
    assert select_fields(schema, frozenset({3})) == (evolve(POINT, type=struct(POINT.type.fields[1])),)  # type: ignore[union-attr]
    assert [f.id for f in select_fields(schema, frozenset({1, 3, 5}))] == [5, 1]


# The kernel is the definition


@st.composite
def projections(draw: st.DrawFn) -> tuple[list[NestedField], StructType, list[dict[int, Any]], dict[int, Any], bool]:
    """Columns of a file with rows, and a schema that they became by evolution."""
    drawn = draw(st.lists(types(max_leaves=4), max_size=4))
    made, last = assign_fresh_ids(StructType(tuple(field(n, f"c{n}", t) for n, t in enumerate(drawn))), 0)
    assert isinstance(made, StructType)
    rows = draw(st.lists(st.fixed_dictionaries({f.id: st.none() | values(f.type) for f in made.fields}), max_size=4))
    fresh = iter(range(last + 1, last + 1000))
    read_type = draw(_evolved(made, fresh))
    missing = [f for f in read_type.fields if f.id > last]
    constants = {f.id: draw(st.none() | values(f.type)) for f in missing if draw(st.booleans()) and f.type == INT}
    return list(read_type.fields), made, rows, constants, draw(st.booleans())


@st.composite
def _evolved(draw: st.DrawFn, type_: Type, fresh: Any) -> Any:
    match type_:
        case StructType(fields):
            kept = [
                evolve(
                    f,
                    name=draw(st.sampled_from([f.name, f"{f.id}'"])),
                    type=draw(_evolved(f.type, fresh)),
                    required=f.required and draw(st.booleans()),
                )
                for f in fields
                if draw(st.integers(0, 5))
            ]
            for _ in range(draw(st.integers(0, 2))):
                new = draw(st.sampled_from([INT, STRING, UUID, DecimalType(9, 2), struct()]))
                default = draw(st.none() | (values(new) if new != struct() else st.just({})))
                required = default is not None and draw(st.booleans())
                kept.append(field(number := next(fresh), f"n{number}", new, required=required, default=default))
            return StructType(tuple(draw(st.permutations(kept))))
        case ListType(_, element, required):
            return evolve(type_, element=draw(_evolved(element, fresh)), element_required=required)
        case MapType(_, _, _, value, _):
            return evolve(type_, value=draw(_evolved(value, fresh)))
        case DecimalType(precision, scale):
            return DecimalType(draw(st.integers(precision, 38)), scale)
        case _:
            wider = {INT: LONG, FLOAT: DOUBLE, DATE: TIMESTAMP, UNKNOWN: STRING}.get(type_)
            return draw(st.sampled_from([type_, wider])) if wider else type_


@settings(max_examples=60)
@given(projections(), st.data())
def test_batches_are_projected_as_rows_are(case: tuple[Any, ...], data: st.DataObject) -> None:
    fields, written, rows, constants, mapped = case

    def laid_out(batch: pa.RecordBatch) -> pa.RecordBatch:
        return data.draw(batch_layouts(batch, dictionary=True, wider=True))

    try:
        read(fields, written, rows, constants, mapped=mapped, laid_out=laid_out)
    except SpecError as error:
        assert error.violation.requirement in {"EVO006", "PRJ005", "TYP002", "TYP003", "TYP004"}  # noqa: PT017


@given(types(max_leaves=3), st.data(), st.integers(0, 3))
def test_a_constant_is_the_value_of_every_row(type_: Type, data: st.DataObject, count: int) -> None:
    value = data.draw(st.none() | values(type_))
    made = constant_array(type_, value, count)
    assert made.type == arrow_type(type_)
    assert [value_key(type_, one) for one in to_python_values(type_, made)] == [value_key(type_, value)] * count


@given(st.lists(types(max_leaves=3), min_size=1, max_size=3), st.data())
def test_projection_to_the_schema_of_the_file_changes_nothing(drawn: list[Type], data: st.DataObject) -> None:
    made, _ = assign_fresh_ids(StructType(tuple(field(n, f"c{n}", t) for n, t in enumerate(drawn))), 0)
    rows = data.draw(st.lists(st.fixed_dictionaries({f.id: values(f.type) for f in made.fields}), max_size=3))
    assert [value_key(made, row) for row in read(list(made.fields), made, rows)] == [
        value_key(made, row) for row in rows
    ]


def test_a_float_that_is_promoted_keeps_nan_and_signs() -> None:
    rows = read([field(1, "a", DOUBLE)], struct(field(1, "a", FLOAT)), [{1: math.nan}, {1: -0.0}, {1: math.inf}])
    assert math.isnan(rows[0][1])
    assert math.copysign(1, rows[1][1]) == -1


@pytest.mark.parametrize(
    "type_", [pa.list_(pa.int32()), pa.map_(pa.string(), pa.int32())], ids=lambda type_: str(type_)[:4].strip("<")
)
def test_a_list_without_rows_may_have_a_buffer_without_offsets(type_: Any) -> None:
    """As Arrow's Java library makes them: what follows the buffer is not read (here -7, which no slice can take)."""
    memory = pa.py_buffer(np.array([5, -7], np.int32).tobytes())
    inner = pa.array(
        [], type_.value_type if pa.types.is_list(type_) else pa.struct([type_.key_field, type_.item_field])
    )
    empty = pa.Array.from_buffers(type_, 0, [None, memory.slice(4, 0)], children=[inner])
    offsets, first, count = list_ranges(empty)
    assert (bytes(offsets)[:4], first, count) == (bytes(4), 0, 0)
    assert to_python_values(ListType(2, INT) if pa.types.is_list(type_) else MapType(2, STRING, 3, INT), empty) == []

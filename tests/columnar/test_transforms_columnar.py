from __future__ import annotations

import random

import pyarrow as pa
import pytest
from arrow_columns import (
    GEO_TYPES,
    TYPES,
    arrow_array,
    arrow_types,
    by_text,
    chunk_lengths,
    columns,
    first_violation,
    outcome,
    spec_values,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from spec_ref.columnar import chunks
from spec_ref.columnar.partitioning.transforms import transform_array
from spec_ref.core.errors import SpecError
from spec_ref.data_types.types import (
    DATE,
    INT,
    LONG,
    STRING,
    TIMESTAMP,
    UNKNOWN,
    UUID,
    VARIANT,
    DecimalType,
    Type,
    kind,
)
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
    parse_transform,
)

PARAMETERS = st.sampled_from([1, 2, 3, 10, 16, 97, 1000, 2**16, 2**31 - 1])
WITHOUT_PARAMETER = [Year(), Month(), Day(), Hour(), Void(), Identity()]


def takes(transform, type_: Type) -> bool:
    return transform.sources is None or kind(type_) in transform.sources


def check_like_scalar(transform, type_, column, values):
    expected = [outcome(lambda value=value: transform.apply(type_, value)) for value in values]
    result = outcome(lambda: transform_array(transform, type_, column))
    if (violation := first_violation(expected)) is not None:
        assert result == violation
        return
    result.validate(full=True)
    assert chunk_lengths(result) == chunk_lengths(column)
    found = spec_values(transform.result_type(type_), result)
    # NaN is not equal to itself, but its text is.
    assert list(map(repr, found)) == list(map(repr, expected))


@pytest.mark.parametrize(
    ("transform", "type_"),
    [(transform, type_) for transform in WITHOUT_PARAMETER for type_ in TYPES if takes(transform, type_)],
    ids=str,
)
@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_a_column_is_transformed_as_its_values(transform, type_, data):
    check_like_scalar(transform, type_, *data.draw(columns(type_)))


@by_text([type_ for type_ in TYPES if takes(Bucket(1), type_)])
@settings(max_examples=20, deadline=None)
@given(data=st.data(), count=PARAMETERS)
def test_a_column_falls_into_the_buckets_of_its_values(type_, data, count):
    check_like_scalar(Bucket(count), type_, *data.draw(columns(type_)))


@by_text([type_ for type_ in TYPES if takes(Truncate(1), type_)])
@settings(max_examples=40, deadline=None)
@given(data=st.data(), width=PARAMETERS)
def test_a_column_is_truncated_as_its_values(type_, data, width):
    check_like_scalar(Truncate(width), type_, *data.draw(columns(type_)))


@pytest.mark.parametrize(
    ("transform", "result"),
    [
        ("bucket[4]", pa.int32()),
        ("year", pa.int32()),
        ("month", pa.int32()),
        ("day", pa.date32()),
        ("hour", pa.int32()),
    ],
)
def test_the_result_has_the_arrow_type_of_the_result_type(transform, result):
    column = arrow_array(TIMESTAMP, [0, None], pa.timestamp("us"))
    assert transform_array(parse_transform(transform), TIMESTAMP, column).type == result
    assert transform_array(parse_transform(transform), TIMESTAMP, pa.chunked_array([], column.type)).type == result


@pytest.mark.parametrize("arrow_type", [pa.string(), pa.large_string(), pa.string_view()], ids=str)
@pytest.mark.parametrize(
    "values", [["abcdef", None, "", "xyz", "ab"], ["abcdef", None, "", "xéz", "éèê"], []], ids=repr
)
@pytest.mark.parametrize("start", [0, 1, 4])
def test_text_is_truncated_to_characters(values, arrow_type, start):
    found = transform_array(Truncate(2), STRING, pa.array(values, arrow_type)[start:])
    found.validate(full=True)
    assert found.type == arrow_type
    assert found.to_pylist() == [None if value is None else value[:2] for value in values[start:]]


@pytest.mark.parametrize("transform", [Truncate(3), Void()], ids=str)
@by_text([INT, LONG, STRING, DecimalType(9, 2)])
def test_truncate_and_void_keep_the_arrow_type(transform, type_):
    for arrow_type in arrow_types(type_):
        assert transform_array(transform, type_, pa.nulls(2, arrow_type)).type == arrow_type


def test_results_are_not_dictionary_encoded_except_those_of_identity():
    column = pa.array(["iceberg", None, "iceberg"]).dictionary_encode()
    assert transform_array(Truncate(3), STRING, column) == pa.array(["ice", None, "ice"])
    assert transform_array(Void(), STRING, column) == pa.nulls(3, pa.string())
    assert transform_array(Identity(), STRING, column) is column


def test_void_of_uuids_is_a_column_of_null_uuids():
    column = arrow_array(UUID, [None, None], pa.uuid())
    assert transform_array(Void(), UUID, column).type == pa.uuid()


# Truncate Transform Details and Partition Transforms.
def test_the_examples_of_the_spec():
    assert transform_array(Truncate(10), INT, pa.array([1, -1], pa.int32())).to_pylist() == [0, -10]
    decimals = pa.array(["10.65"]).cast(pa.decimal128(9, 2))
    assert transform_array(Truncate(50), DecimalType(9, 2), decimals) == pa.array(["10.50"]).cast(decimals.type)
    assert transform_array(Truncate(3), STRING, pa.array(["iceberg"])).to_pylist() == ["ice"]


@pytest.mark.parametrize(("type_", "least"), [(INT, -(2**31)), (LONG, -(2**63))], ids=str)
def test_truncating_below_the_least_integer_is_refused_and_not_wrapped(type_, least):
    (arrow_type,) = arrow_types(type_)
    with pytest.raises(SpecError, match=f"TRN005.*{least + 1}"):
        transform_array(Truncate(10), type_, pa.array([5, None, least + 1, least], arrow_type))
    assert transform_array(Truncate(2), type_, pa.array([least], arrow_type)).to_pylist() == [least]


def test_what_stands_behind_a_null_or_an_unused_dictionary_entry_is_not_an_error():
    least = -(2**31)
    values = pa.array([least, 25], pa.int32())
    hidden = pa.Array.from_buffers(pa.int32(), 2, [pa.py_buffer(b"\x02"), values.buffers()[1]])
    assert transform_array(Truncate(10), INT, hidden).to_pylist() == [None, 20]
    unused = pa.DictionaryArray.from_arrays(pa.array([1, 1], pa.int8()), values)
    assert transform_array(Truncate(10), INT, unused).to_pylist() == [20, 20]


@pytest.mark.parametrize("transform", [Year(), Month(), Day()], ids=str)
def test_the_calendar_of_every_range_of_days(transform):
    generator = random.Random(1)
    spread = [generator.randint(-(2**31), 2**31 - 1) for _ in range(1000)]
    years = [days for year in range(-2000, 3000) for days in (year * 146097 // 400 + step for step in (-719_528, 1))]
    days = [*range(-1000, 1000), *range(10_957 - 366, 10_957 + 800), *spread, *years, -(2**31), 2**31 - 1]
    column = arrow_array(DATE, days, pa.date32())
    result = transform_array(transform, DATE, column).cast(pa.int32()).to_pylist()
    assert result == [transform.apply(DATE, day) for day in days]


def test_hours_that_need_more_than_an_int_are_refused():
    assert transform_array(Hour(), TIMESTAMP, pa.array([-1], pa.timestamp("us"))).to_pylist() == [-1]
    for far in (2**63 - 1, -(2**63)):
        column = pa.array([0, None, far]).cast(pa.timestamp("us"))
        with pytest.raises(SpecError, match=f"TRN014.*{far}"):
            transform_array(Hour(), TIMESTAMP, column)


def test_rounds_make_no_difference(monkeypatch):
    generator = random.Random(3)
    values = [generator.randint(-(2**62), 2**62) for _ in range(200)] + [None]
    column = pa.array(values).cast(pa.timestamp("us"))
    cases = [
        (Truncate(7), LONG, pa.array(values)),
        (Truncate(7), DecimalType(38, 0), pa.array(values).cast(pa.decimal128(38, 0))),
        *((parse_transform(text), TIMESTAMP, column) for text in ("year", "month", "day", "bucket[9]")),
    ]
    whole = [transform_array(*case) for case in cases]
    monkeypatch.setattr(chunks, "CHUNK_SIZE", 16)
    assert [transform_array(*case) for case in cases] == whole


def test_void_takes_any_type_and_any_column():
    assert transform_array(Void(), VARIANT, pa.array([{"a": 1}])) == pa.nulls(1, pa.struct({"a": pa.int64()}))
    assert transform_array(Identity(), UNKNOWN, pa.nulls(2)) == pa.nulls(2)


@pytest.mark.parametrize(
    ("transform", "type_", "column"),
    [
        (Identity(), GEO_TYPES[0], pa.array([b""])),
        (Hour(), DATE, pa.nulls(1, pa.date32())),
        (Truncate(1), DATE, pa.nulls(1, pa.date32())),
        (UnknownTransform("zorder"), INT, pa.nulls(1, pa.int32())),
        (Bucket(4), INT, pa.nulls(1, pa.int64())),
        (Void(), INT, [1, 2]),
    ],
    ids=str,
)
def test_a_transform_refuses_types_that_it_does_not_take(transform, type_, column):
    with pytest.raises(SpecError):
        transform_array(transform, type_, column)

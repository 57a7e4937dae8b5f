"""Arrow columns of every primitive type, in every layout that a column may have, beside their spec values."""

from __future__ import annotations

import itertools
import struct
import uuid
from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

from spec_ref.core.calendar import MICROS_PER_DAY
from spec_ref.core.errors import SpecError, Violation
from spec_ref.data_types.decimals import decimal_from_unscaled
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
    GeographyType,
    GeometryType,
    Type,
    kind,
)
from tests.columnar.arrow_layouts import dictionary_encoded, with_values_behind_nulls

TYPES: tuple[Type, ...] = (
    BOOLEAN,
    INT,
    LONG,
    FLOAT,
    DOUBLE,
    DATE,
    TIME,
    TIMESTAMP,
    TIMESTAMPTZ,
    TIMESTAMP_NS,
    TIMESTAMPTZ_NS,
    STRING,
    UUID,
    BINARY,
    FixedType(1),
    FixedType(7),
    FixedType(16),
    FixedType(300),
    DecimalType(1, 0),
    DecimalType(9, 2),
    DecimalType(18, 4),
    DecimalType(19, 0),
    DecimalType(38, 10),
    DecimalType(5, -3),
)
GEO_TYPES: tuple[Type, ...] = (GeometryType(), GeographyType())


def by_text(types: Sequence[Type]) -> Any:
    import pytest

    return pytest.mark.parametrize("type_", types, ids=str)


def _signed(bits: int) -> st.SearchStrategy[int]:
    """Integers of every length, with the neighbours of powers of two and the ends of the range."""
    edges = [sign * (1 << shift) + step for shift in range(bits) for sign in (1, -1) for step in (-1, 0, 1)]
    low, high = -(1 << bits - 1), (1 << bits - 1) - 1
    return st.integers(low, high) | st.sampled_from([edge for edge in edges if low <= edge <= high] + [low, high])


_WIDE_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
_BYTES = st.binary(max_size=20) | st.binary(min_size=250, max_size=260)

_WKB_POINTS = st.tuples(st.floats(-90, 90), st.floats(-90, 90)).map(lambda point: struct.pack("<BIdd", 1, 1, *point))

_STRATEGIES: dict[str, Callable[[Any], st.SearchStrategy[Any]]] = {
    "boolean": lambda _: st.booleans(),
    "int": lambda _: _signed(32),
    "long": lambda _: _signed(64),
    "float": lambda _: st.floats(width=32),
    "double": lambda _: st.floats(),
    "date": lambda _: _signed(32),
    "time": lambda _: st.integers(0, MICROS_PER_DAY - 1),
    "timestamp": lambda _: _signed(64),
    "timestamptz": lambda _: _signed(64),
    "timestamp_ns": lambda _: _signed(64),
    "timestamptz_ns": lambda _: _signed(64),
    "string": lambda _: st.text("abc", max_size=20) | _WIDE_TEXT | st.text("日x", min_size=80, max_size=300),
    "uuid": lambda _: st.uuids(),
    "fixed": lambda type_: st.binary(min_size=type_.length, max_size=type_.length),
    "binary": lambda _: _BYTES,
    "geometry": lambda _: _WKB_POINTS,
    "geography": lambda _: _WKB_POINTS,
    "decimal": lambda type_: (
        _signed(128)
        .filter(lambda number: abs(number) < 10**type_.precision)
        .map(lambda number: decimal_from_unscaled(type_, number))
        if type_.precision > 20
        else st.integers(1 - 10**type_.precision, 10**type_.precision - 1).map(
            lambda number: decimal_from_unscaled(type_, number)
        )
    ),
}


def draw_values(type_: Type) -> st.SearchStrategy[Any]:
    return _STRATEGIES[kind(type_)](type_)


def arrow_types(type_: Any) -> list[Any]:
    """Return the Arrow types that can hold the values of the type."""
    width = 16 if kind(type_) == "uuid" else getattr(type_, "length", 0)
    binary = [pa.binary(), pa.large_binary(), pa.binary_view()]
    table: dict[str, list[Any]] = {
        "boolean": [pa.bool_()],
        "int": [pa.int32()],
        "long": [pa.int64()],
        "float": [pa.float32()],
        "double": [pa.float64()],
        "date": [pa.date32()],
        "time": [pa.time64("us")],
        "timestamp": [pa.timestamp("us")],
        "timestamptz": [pa.timestamp("us", "UTC"), pa.timestamp("us", "Asia/Tokyo")],
        "timestamp_ns": [pa.timestamp("ns")],
        "timestamptz_ns": [pa.timestamp("ns", "UTC"), pa.timestamp("ns", "-08:00")],
        "string": [pa.string(), pa.large_string(), pa.string_view()],
        "uuid": [pa.uuid(), pa.binary(width)],
        "fixed": [pa.binary(width)],
        "binary": binary,
        "geometry": binary,
        "geography": binary,
    }
    if isinstance(type_, DecimalType):
        makers = ((pa.decimal32, 9), (pa.decimal64, 18), (pa.decimal128, 38), (pa.decimal256, 76))
        return [make(type_.precision, type_.scale) for make, most in makers if type_.precision <= most]
    return table[kind(type_)]


def arrow_array(type_: Type, values: Sequence[Any], arrow_type: Any) -> Any:
    """Convert values to an array of an Arrow type."""
    if kind(type_) == "uuid":
        storage = pa.array([None if value is None else value.bytes for value in values], pa.binary(16))
        return pa.ExtensionArray.from_storage(arrow_type, storage) if arrow_type == pa.uuid() else storage
    if pa.types.is_date32(arrow_type):
        return pa.array(values, pa.int32()).view(arrow_type)
    if pa.types.is_timestamp(arrow_type) or pa.types.is_time(arrow_type):
        return pa.array(values, pa.int64()).view(arrow_type)
    return pa.array(values, arrow_type)


def decoded_values(type_: Type, array: Any) -> list[Any]:
    dictionary = spec_values(type_, array.dictionary)
    return [None if index is None else dictionary[index] for index in array.indices.to_pylist()]


def spec_values(type_: Type, column: Any) -> list[Any]:
    """Convert a column back to spec values."""
    if pa.types.is_dictionary(column.type):
        chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
        return [value for chunk in chunks for value in decoded_values(type_, chunk)]
    if pa.types.is_date32(column.type):
        return list(column.cast(pa.int32()).to_pylist())
    if pa.types.is_timestamp(column.type) or pa.types.is_time(column.type):
        return list(column.cast(pa.int64()).to_pylist())
    if kind(type_) == "uuid" and pa.types.is_fixed_size_binary(column.type):
        return [None if value is None else uuid.UUID(bytes=value) for value in column.to_pylist()]
    return list(column.to_pylist())


@st.composite
def columns(draw: st.DrawFn, type_: Type) -> tuple[Any, list[Any]]:
    """A column and its values: empty or all null too, sliced, chunked, dictionary-encoded, with any
    values behind nulls, in every Arrow type."""
    few = draw(st.lists(st.none() | draw_values(type_), max_size=12) | st.lists(st.none(), max_size=5))
    values = few * draw(st.sampled_from([1, 1, 30]))  # enough for vectorized decoding, too
    arrow_type = draw(st.sampled_from(arrow_types(type_)))
    around = draw(st.lists(st.none() | draw_values(type_), min_size=1, max_size=3))
    array = arrow_array(type_, around + values + around, arrow_type)
    if draw(st.booleans()) and arrow_type not in (pa.string_view(), pa.binary_view()):
        array = with_values_behind_nulls(array)
    if draw(st.booleans()):
        array = dictionary_encoded(array)
    array = array.slice(len(around), len(values))
    if draw(st.booleans()):
        return array, values
    cuts = sorted(draw(st.lists(st.integers(0, len(values)), max_size=3)))
    bounds = itertools.pairwise([0, *cuts, len(values)])
    return pa.chunked_array([array[start:end] for start, end in bounds], type=array.type), values


def chunk_lengths(column: Any) -> list[int] | None:
    return [len(chunk) for chunk in column.chunks] if isinstance(column, pa.ChunkedArray) else None


def outcome(function: Callable[[], Any]) -> Any:
    """The result of a function, or the violation that it raises."""
    try:
        return function()
    except SpecError as error:
        return error.violation


def first_violation(outcomes: Sequence[Any]) -> Any:
    return next((result for result in outcomes if isinstance(result, Violation)), None)

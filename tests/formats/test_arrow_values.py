"""Values read from Arrow arrays are exactly those of the file (Appendix A)."""

import uuid

import pyarrow as pa
import pytest
from arrow_layouts import layouts
from hypothesis import given
from hypothesis import strategies as st

from spec_ref.columnar.arrow_types import validity_buffer
from spec_ref.columnar.arrow_values import to_python_values
from spec_ref.columnar.manifests.computed_metrics import storage_array
from spec_ref.columnar.schemas.column_projection import arrow_values
from spec_ref.core.errors import SpecError
from spec_ref.data_types.types import (
    DATE,
    INT,
    STRING,
    TIME,
    TIMESTAMP,
    TIMESTAMPTZ_NS,
    UUID,
    VARIANT,
    ListType,
    MapType,
    NestedField,
    StructType,
)
from spec_ref.data_types.values import value_key
from spec_ref.encodings.variant.physical_types import Variant
from tools.value_strategies import types, values

ROW = StructType(
    (
        NestedField(1, "i", False, INT),
        NestedField(2, "l", False, ListType(3, STRING, False)),
        NestedField(4, "m", False, MapType(5, STRING, 6, INT, False)),
    )
)
ARROW = pa.struct([("i", pa.int32()), ("l", pa.list_(pa.string())), ("m", pa.map_(pa.string(), pa.int32()))])

rows = st.lists(
    st.none()
    | st.fixed_dictionaries(
        {
            "i": st.none() | st.integers(-9, 9),
            "l": st.none() | st.lists(st.none() | st.text(max_size=2), max_size=3),
            "m": st.none() | st.dictionaries(st.text(max_size=2), st.none() | st.integers(0, 9), max_size=2),
        }
    ),
    max_size=6,
)


def spec_value(row):
    if row is None:
        return None
    listed, mapped = row["l"], row["m"]
    return {
        1: row["i"],
        2: None if listed is None else tuple(listed),
        4: None if mapped is None else tuple(mapped.items()),
    }


@given(rows, st.integers(0, 6), st.integers(0, 6))
def test_nested_values_of_any_part_of_an_array(listed, start, count):
    array = pa.array(
        [None if row is None else {**row, "m": None if row["m"] is None else list(row["m"].items())} for row in listed],
        ARROW,
    )
    expected = [spec_value(row) for row in listed]
    assert to_python_values(ROW, array.slice(start, count)) == expected[start : start + count]


@given(types(max_leaves=4), st.data())
def test_values_of_any_type_are_those_that_the_array_was_made_of(type_, data):
    listed = data.draw(st.lists(st.none() | values(type_), max_size=6))
    array = data.draw(layouts(arrow_values(type_, listed), dictionary=True, wider=True))
    assert [value_key(type_, one) for one in to_python_values(type_, array)] == [
        value_key(type_, one) for one in listed
    ]
    assert storage_array(array).is_valid().to_pylist() == [one is not None for one in listed]
    if array.type != pa.null():
        made = pa.Array.from_buffers(pa.int8(), len(listed), [validity_buffer(array), pa.py_buffer(bytes(len(listed)))])
        assert made.is_valid().to_pylist() == [one is not None for one in listed]


def test_counts_of_time_keep_their_precision_and_range():
    far = 290_000 * 365 * 86_400_000_000
    assert to_python_values(TIMESTAMP, pa.array([far], pa.int64()).cast(pa.timestamp("us"))) == [far]
    assert to_python_values(TIMESTAMPTZ_NS, pa.array([-1], pa.int64()).cast(pa.timestamp("ns", "UTC"))) == [-1]
    assert to_python_values(TIMESTAMP, pa.array([-1], pa.int64()).cast(pa.timestamp("ns"))) == [-1]
    assert to_python_values(TIME, pa.array([5], pa.int64()).cast(pa.time64("us"))) == [5]
    assert to_python_values(TIME, pa.array([5], pa.int64())) == [5]
    assert to_python_values(DATE, pa.array([-719529], pa.int32()).cast(pa.date32())) == [-719529]


def test_a_uuid_and_a_variant_are_values_of_the_spec():
    one = uuid.UUID(int=5)
    stored = pa.array([one.bytes, None], pa.binary(16))
    assert to_python_values(UUID, pa.ExtensionArray.from_storage(pa.uuid(), stored)) == [one, None]
    parts = pa.array([{"metadata": b"\x01\0\0", "value": b"\0"}, None])
    assert to_python_values(VARIANT, parts) == [Variant(b"\x01\0\0", b"\0"), None]


WRONG = [(ROW, pa.array([{"i": 1}])), (UUID, pa.array([b"short"])), (ROW, pa.array([1]))]


@pytest.mark.parametrize(("type_", "array"), WRONG)
def test_an_array_of_other_values_is_refused(type_, array):
    with pytest.raises(SpecError, match="DFL005"):
        to_python_values(type_, array)

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.operations.wire import from_exchange, to_exchange, values_equal
from spec_ref.core.errors import SpecError
from spec_ref.data_types.decimals import decimal_from_unscaled
from spec_ref.data_types.types import (
    BINARY,
    DOUBLE,
    FLOAT,
    INT,
    LONG,
    STRING,
    UNKNOWN,
    VARIANT,
    DecimalType,
    FixedType,
    GeometryType,
    MapType,
    NestedField,
    StructType,
)
from spec_ref.encodings.variant.physical_types import Variant
from tools.value_strategies import types, values


@given(st.data())
def test_every_value_of_every_type_comes_back(data: st.DataObject) -> None:
    type_ = data.draw(types())
    value = data.draw(values(type_))
    text = json.dumps(to_exchange(type_, value), allow_nan=False)
    assert values_equal(type_, from_exchange(type_, json.loads(text)), value)


FORMS = [
    (LONG, -(2**63), "-9223372036854775808"),
    (INT, 34, 34),
    (BINARY, b"\x00\xff", "00FF"),
    (FixedType(1), b"\xab", "AB"),
    (DOUBLE, math.inf, "Infinity"),
    (FLOAT, -math.inf, "-Infinity"),
    (VARIANT, Variant(b"\x01\x00\x00", b"\x0c\x22"), {"metadata": "010000", "value": "0C22"}),
    (UNKNOWN, None, None),
    (LONG, None, None),
    (
        MapType(1, LONG, 2, BINARY, value_required=False),
        ((1, b"\xff"), (2, None)),
        {"keys": ["1", "2"], "values": ["FF", None]},
    ),
    (StructType((NestedField(7, "a", True, LONG),)), {7: 34}, {"7": "34"}),
]


@pytest.mark.parametrize(("type_", "value", "form"), FORMS, ids=lambda value: str(value))
def test_the_additions_to_appendix_d(type_, value, form) -> None:
    assert to_exchange(type_, value) == form
    assert values_equal(type_, from_exchange(type_, form), value)


def test_nan_has_a_form() -> None:
    assert to_exchange(DOUBLE, math.nan) == "NaN"
    assert math.isnan(from_exchange(FLOAT, "NaN"))


def test_readers_take_a_json_integer_for_a_long_and_either_case_of_hexadecimal() -> None:
    assert from_exchange(LONG, 34) == from_exchange(LONG, "34") == 34
    assert from_exchange(BINARY, "00ff") == from_exchange(BINARY, "00FF")


@pytest.mark.parametrize(
    ("type_", "bad"),
    [
        (LONG, "9223372036854775808"),
        (LONG, "-0"),
        (LONG, "+1"),
        (LONG, "01"),
        (LONG, " 1"),
        (LONG, "1_0"),
        (LONG, "1.0"),
        (LONG, "9" * 5000),
        (LONG, 1.0),
        (INT, "34"),
        (DOUBLE, "nan"),
        (DOUBLE, "1.0"),
        (BINARY, "0"),
        (VARIANT, "010000"),
        (VARIANT, {"metadata": "010000"}),
        (VARIANT, {"metadata": "010000", "value": 1}),
        (UNKNOWN, 1),
    ],
)
def test_what_is_not_of_the_form_is_refused(type_, bad) -> None:
    with pytest.raises(SpecError):
        from_exchange(type_, bad)


def test_values_are_equal_as_the_spec_reports_them_apart() -> None:
    assert values_equal(DOUBLE, math.nan, -math.nan)
    assert not values_equal(DOUBLE, 0.0, -0.0)
    assert not values_equal(INT, 0, None)
    money = DecimalType(9, 2)
    assert values_equal(money, decimal_from_unscaled(money, 1420), decimal_from_unscaled(money, 1420))
    assert not values_equal(money, decimal_from_unscaled(money, 1420), decimal_from_unscaled(DecimalType(9, 3), 14200))
    tags = MapType(1, STRING, 2, INT)
    assert values_equal(tags, (("a", 1), ("b", 2)), (("b", 2), ("a", 1)))
    assert values_equal(
        GeometryType(), from_exchange(GeometryType(), "POINT (1 2)"), from_exchange(GeometryType(), "POINT(1 2)")
    )

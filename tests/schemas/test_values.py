import math
import uuid
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec_ref.core.decimals import unscaled_value
from spec_ref.core.errors import SpecError
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
)
from spec_ref.data_types.values import check_value, nearest_binary32, value_key
from tools.value_strategies import types, values

POINT = StructType((NestedField(1, "x", True, INT), NestedField(2, "y", False, INT)))
TAGS = MapType(3, STRING, 4, LONG, value_required=False)


@given(st.data())
def test_what_the_strategies_make_is_a_value(data: st.DataObject) -> None:
    type_ = data.draw(types())
    value = data.draw(values(type_))
    check_value(type_, value)
    assert value_key(type_, value) == value_key(type_, value)


@pytest.mark.parametrize(
    ("type_", "value", "code"),
    [
        (UNKNOWN, 0, "TYP025"),
        (BOOLEAN, 1, "TYP008"),
        (INT, True, "TYP009"),
        (INT, 1.0, "TYP009"),
        (INT, 2**31, "TYP009"),
        (INT, -(2**31) - 1, "TYP009"),
        (INT, None, "TYP009"),
        (LONG, 2**63, "TYP010"),
        (FLOAT, 0.1, "TYP011"),  # 32 bits hold 0.100000001490116...
        (FLOAT, 1e39, "TYP011"),
        (FLOAT, 1, "TYP011"),
        (DOUBLE, 1, "TYP012"),
        (DecimalType(4, 2), Decimal("1.5"), "TYP013"),
        (DecimalType(4, 2), Decimal("100.00"), "TYP013"),
        (DecimalType(4, 2), Decimal("NaN"), "TYP013"),
        (DecimalType(4, 2), 1.25, "TYP013"),
        (DATE, 2**31, "TYP015"),
        (TIME, -1, "TYP016"),
        (TIME, 86_400_000_000, "TYP016"),
        (TIMESTAMP, 2**63, "TYP017"),
        (STRING, "\ud7ff\udfff", "TYP021"),
        (STRING, b"a", "TYP021"),
        (UUID, "f79c3e09-677c-4bbd-a479-3f349cb785e7", "TYP022"),
        (FixedType(2), b"\x00", "TYP023"),
        (BINARY, bytearray(1), "TYP024"),
        (GeometryType(), "POINT (1 2)", "TYP027"),
        (VARIANT, b"\x00", "TYP006"),
        (POINT, {2: 1}, "TYP002"),
        (POINT, {1: 1, 3: 1}, "TYP002"),
        (POINT, (1, 2), "TYP002"),
        (ListType(1, INT), (1, None), "TYP003"),
        (ListType(1, INT), [1], "TYP003"),
        (TAGS, ((None, 1),), "TYP004"),
        (TAGS, (("a", 1), ("a", 2)), "TYP004"),
        (TAGS, {"a": 1}, "TYP004"),
        (MapType(3, STRING, 4, LONG), (("a", None),), "TYP004"),
    ],
)
def test_what_is_not_a_value_is_refused(type_, value, code) -> None:
    with pytest.raises(SpecError, match=code):
        check_value(type_, value)


def test_an_error_names_the_place_in_the_value() -> None:
    with pytest.raises(SpecError) as caught:
        check_value(ListType(9, POINT), ({1: 1}, {1: "a"}))
    assert caught.value.violation.path == "/1/1"


def test_optional_parts_may_be_null_or_left_out() -> None:
    check_value(POINT, {1: 1})
    check_value(POINT, {1: 1, 2: None})
    check_value(ListType(1, INT, element_required=False), (None,))
    check_value(TAGS, (("a", None),))


def test_equal_values_have_equal_keys() -> None:
    assert value_key(DOUBLE, math.nan) == value_key(DOUBLE, -math.nan)
    assert value_key(DOUBLE, 0.0) != value_key(DOUBLE, -0.0)
    assert value_key(POINT, {1: 1}) == value_key(POINT, {1: 1, 2: None})
    assert value_key(TAGS, (("a", 1), ("b", 2))) == value_key(TAGS, (("b", 2), ("a", 1)))
    assert value_key(ListType(1, INT), (1, 2)) != value_key(ListType(1, INT), (2, 1))
    assert value_key(UUID, uuid.UUID(int=1)) == value_key(UUID, uuid.UUID(int=1))


@given(st.integers(-(10**38) + 1, 10**38 - 1), st.integers(-10, 40))
def test_a_decimal_keeps_all_38_digits(number: int, scale: int) -> None:
    value = decimal_from_unscaled(DecimalType(38, scale), number)
    assert unscaled_value(value) == number
    assert value.as_tuple().exponent == -scale


def test_32_bit_floats_round_to_nearest_and_overflow_to_infinity() -> None:
    # IEEE 754: the largest binary32 is (2 - 2**-23) * 2**127; half a unit above it rounds to infinity.
    largest = (2 - 2.0**-23) * 2.0**127
    assert nearest_binary32(largest) == largest
    assert nearest_binary32(-(2 - 2.0**-24) * 2.0**127) == -math.inf
    assert nearest_binary32(1 + 2.0**-24) == 1.0  # ties to even

import math
import struct
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

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
    TIMESTAMPTZ_NS,
    UNKNOWN,
    UUID,
    VARIANT,
    DecimalType,
    FixedType,
    GeographyType,
    GeometryType,
    ListType,
    MapType,
    StructType,
)
from spec_ref.data_types.values import value_key
from spec_ref.single_value.binary import from_binary, minimal_twos_complement, to_binary
from spec_ref.single_value.json_value import from_json
from tools.value_strategies import primitive_types, values

POINT_30_10 = "01 01000000 0000000000003E40 0000000000002440"
"""WKB of POINT (30 10): little-endian, type 1, the doubles 30 and 10."""

# Expected bytes are worked out by hand from the rows of Appendix D.
FORMS = [
    (BOOLEAN, False, "00"),
    (BOOLEAN, True, "01"),
    (INT, 34, "22000000"),
    (INT, -1, "FFFFFFFF"),
    (LONG, 34, "2200000000000000"),
    (LONG, -(2**63), "0000000000000080"),
    (FLOAT, 1.0, "0000803F"),
    (FLOAT, -0.0, "00000080"),
    (DOUBLE, 1.0, "000000000000F03F"),
    (DOUBLE, -0.0, "0000000000000080"),
    (DATE, "2017-11-16", "4E440000"),  # day 17486
    (DATE, "1969-12-31", "FFFFFFFF"),
    (TIME, "22:31:08", "008307E012000000"),  # 81068000000 us = 0x12E0078300
    (TIMESTAMP, "1969-12-31T23:59:59.999999", "FFFFFFFFFFFFFFFF"),
    (TIMESTAMPTZ, "1970-01-01T00:00:01+00:00", "40420F0000000000"),
    (TIMESTAMP_NS, "1970-01-01T00:00:00.000001001", "E903000000000000"),
    (TIMESTAMPTZ_NS, "1970-01-01T00:00:00.000001001+00:00", "E903000000000000"),
    (STRING, "", ""),
    (STRING, "iceberg", "69636562657267"),
    (STRING, "💰", "F09F92B0"),
    (UUID, "f79c3e09-677c-4bbd-a479-3f349cb785e7", "F79C3E09677C4BBDA4793F349CB785E7"),
    (FixedType(3), "00ff01", "00FF01"),
    (BINARY, "", ""),
    (BINARY, "000102ff", "000102FF"),
    (DecimalType(9, 2), "14.20", "058C"),
    (DecimalType(9, 2), "0.00", "00"),
    (DecimalType(9, 2), "-0.01", "FF"),
    (DecimalType(9, 2), "1.27", "7F"),
    (DecimalType(9, 2), "1.28", "0080"),
    (DecimalType(9, 2), "-1.28", "80"),
    (DecimalType(9, 2), "-1.29", "FF7F"),
    (DecimalType(38, 0), "9" * 38, "4B3B4CA85A86C47A098A223FFFFFFFFF"),
    (DecimalType(38, -20), "2E+20", "02"),
    (GeometryType(), "POINT (30 10)", POINT_30_10),
    (GeographyType(), "POINT (30 10)", POINT_30_10),
]


@pytest.mark.parametrize(("type_", "json", "expected"), FORMS, ids=lambda value: str(value)[:40])
def test_the_form_of_each_type(type_, json, expected) -> None:
    value = from_json(type_, json)
    data = bytes.fromhex(expected)
    assert to_binary(type_, value) == data
    assert value_key(type_, from_binary(type_, data)) == value_key(type_, value)


@given(st.data())
def test_a_value_comes_back_from_its_bytes(data: st.DataObject) -> None:
    type_ = data.draw(primitive_types().filter(lambda type_: type_ != UNKNOWN))
    value = data.draw(values(type_))
    assert value_key(type_, from_binary(type_, to_binary(type_, value))) == value_key(type_, value)


@given(st.integers())
def test_twos_complement_takes_the_least_bytes(number: int) -> None:
    data = minimal_twos_complement(number)
    assert int.from_bytes(data, "big", signed=True) == number
    if len(data) > 1:
        with pytest.raises(OverflowError):
            number.to_bytes(len(data) - 1, "big", signed=True)


@pytest.mark.parametrize(
    "type_", [UNKNOWN, VARIANT, StructType(()), ListType(1, INT), MapType(1, INT, 2, INT)], ids=str
)
def test_types_without_a_binary_form(type_) -> None:
    with pytest.raises(SpecError, match="SVB009"):
        to_binary(type_, None)
    with pytest.raises(SpecError, match="SVB009"):
        from_binary(type_, b"")


@pytest.mark.parametrize(
    ("type_", "data", "code"),
    [
        (BOOLEAN, "", "SVB001"),
        (BOOLEAN, "0001", "SVB001"),
        (INT, "220000", "SVB002"),
        (INT, "2200000000000000", "SVB002"),
        (LONG, "22000000", "SVB003"),
        (FLOAT, "000000000000F03F", "SVB004"),
        (DOUBLE, "0000803F", "SVB004"),
        (DATE, "", "SVB002"),
        (TIME, "FFFFFFFFFFFFFFFF", "TYP016"),
        (TIME, "0060D71D14000000", "TYP016"),  # 86400000000 us = 0x141DD76000
        (STRING, "EDA080", "SVB005"),  # a surrogate
        (STRING, "C080", "SVB005"),  # an overlong form
        (STRING, "FF", "SVB005"),
        (UUID, "00" * 15, "SVB006"),
        (FixedType(3), "0001", "TYP023"),
        (DecimalType(4, 2), "", "SVB008"),
        (DecimalType(4, 2), "2710", "TYP013"),  # 100.00
        (DecimalType(4, 2), "7F" + "00" * 5000, "TYP013"),
        (GeometryType(), "0101000000", "NOT"),
    ],
)
def test_bytes_that_are_no_value_are_refused(type_, data, code) -> None:
    with pytest.raises(SpecError, match=code):
        from_binary(type_, bytes.fromhex(data))


@pytest.mark.parametrize("data", ["01", "02", "80", "FF"])
def test_any_byte_but_zero_is_true(data: str) -> None:
    assert from_binary(BOOLEAN, bytes.fromhex(data)) is True


def test_a_decimal_padded_with_its_sign_is_read() -> None:
    # The least number of bytes binds the writer; the value of padded bytes is as clear.
    assert from_binary(DecimalType(9, 2), bytes.fromhex("00000000058C")) == Decimal("14.20")
    assert from_binary(DecimalType(9, 2), b"\xff" * 40) == Decimal("-0.01")


def test_nan_has_a_binary_form() -> None:
    assert math.isnan(from_binary(FLOAT, to_binary(FLOAT, math.nan)))
    assert math.isnan(from_binary(DOUBLE, struct.pack("<d", math.nan)))


def test_null_and_other_objects_are_refused() -> None:
    with pytest.raises(SpecError, match="TYP009"):
        to_binary(INT, None)
    with pytest.raises(SpecError, match="SVB002"):
        from_binary(INT, "22000000")  # type: ignore[arg-type]

"""Appendix B, against its own test values and a second Murmur3 written from the algorithm's definition."""

import math
import struct
import uuid
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
from spec_ref.hashing import hash_value, murmur3_x86_32
from spec_ref.single_value.json_value import from_json
from tools.value_strategies import values


def independent_murmur3(data: bytes) -> int:
    """Murmur3 x86 32-bit with seed 0, from Austin Appleby's definition, as a signed integer."""

    def rotate(number: int, count: int) -> int:
        return (number << count | number >> 32 - count) & 0xFFFFFFFF

    def mix(block: int) -> int:
        return rotate(block * 0xCC9E2D51 & 0xFFFFFFFF, 15) * 0x1B873593 & 0xFFFFFFFF

    state = 0
    whole = len(data) // 4 * 4
    for place in range(0, whole, 4):
        state = rotate(state ^ mix(int.from_bytes(data[place : place + 4], "little")), 13) * 5 + 0xE6546B64
        state &= 0xFFFFFFFF
    state ^= mix(int.from_bytes(data[whole:], "little")) if data[whole:] else 0
    state ^= len(data)
    state = (state ^ state >> 16) * 0x85EBCA6B & 0xFFFFFFFF
    state = (state ^ state >> 13) * 0xC2B2AE35 & 0xFFFFFFFF
    state ^= state >> 16
    return state - (1 << 32) if state >> 31 else state


@given(st.binary(max_size=40))
def test_the_hash_is_murmur3_x86_32_with_seed_0(data: bytes) -> None:
    assert murmur3_x86_32(data) == independent_murmur3(data)


TEXTS = [
    (INT, 34, 2017239379),
    (LONG, 34, 2017239379),
    (DecimalType(9, 2), "14.20", -500754589),
    (DATE, "2017-11-16", -653330422),
    (TIME, "22:31:08", -662762989),
    (TIMESTAMP, "2017-11-16T22:31:08", -2047944441),
    (TIMESTAMP, "2017-11-16T22:31:08.000001", -1207196810),
    (TIMESTAMPTZ, "2017-11-16T22:31:08+00:00", -2047944441),
    (TIMESTAMPTZ, "2017-11-16T22:31:08.000001+00:00", -1207196810),
    (TIMESTAMP_NS, "2017-11-16T22:31:08", -2047944441),
    (TIMESTAMP_NS, "2017-11-16T22:31:08.000001001", -1207196810),
    (TIMESTAMPTZ_NS, "2017-11-16T22:31:08+00:00", -2047944441),
    (TIMESTAMPTZ_NS, "2017-11-16T22:31:08.000001001+00:00", -1207196810),
    (STRING, "iceberg", 1210000089),
    (UUID, "f79c3e09-677c-4bbd-a479-3f349cb785e7", 1488055340),
    (FixedType(4), "00010203", -188683207),
    (BINARY, "00010203", -188683207),
    (BOOLEAN, True, 1392991556),
    (FLOAT, 1.0, -142385009),
    (FLOAT, 0.0, 1669671676),
    (FLOAT, -0.0, 1669671676),
    (DOUBLE, 1.0, -142385009),
    (DOUBLE, 0.0, 1669671676),
    (DOUBLE, -0.0, 1669671676),
]


@pytest.mark.parametrize(("type_", "json", "expected"), TEXTS, ids=lambda value: str(value))
def test_the_test_values_of_appendix_b(type_, json, expected) -> None:
    assert hash_value(type_, from_json(type_, json)) == expected


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (0, 1364076727),
        (-1, -43192051),
        (128, 1544076949),
        (-128, 267099677),
        (-129, -435537839),
        (32768, 623161056),
        (-32768, 1659329203),
        (-8388608, -640632435),
        (-1420, 667775751),
    ],
)
def test_a_decimal_hashes_as_the_least_bytes_of_its_unscaled_value(number: int, expected: int) -> None:
    # Expected values: int.to_bytes with the least length that does not overflow, hashed with the Murmur3 above.
    length = next(length for length in range(1, 17) if -(1 << 8 * length - 1) <= number < 1 << 8 * length - 1)
    assert independent_murmur3(number.to_bytes(length, "big", signed=True)) == expected
    for scale in (0, 2, 7):
        assert hash_value(DecimalType(38, scale), Decimal(number).scaleb(-scale)) == expected


@pytest.mark.parametrize("type_", [FLOAT, DOUBLE], ids=str)
def test_every_nan_hashes_as_the_canonical_one(type_) -> None:
    payload = struct.unpack("<d", struct.pack("<Q", 0xFFF8_0000_DEAD_BEEF))[0]
    expected = independent_murmur3(struct.pack("<Q", 0x7FF8_0000_0000_0000))
    assert expected == 1428788237
    assert hash_value(type_, math.nan) == hash_value(type_, -math.nan) == hash_value(DOUBLE, payload) == expected


@given(values(INT))
def test_an_int_hashes_as_the_equal_long(number: int) -> None:
    assert hash_value(INT, number) == hash_value(LONG, number) == independent_murmur3(struct.pack("<q", number))


@given(values(FLOAT))
def test_a_float_hashes_as_the_equal_double(number: float) -> None:
    assert hash_value(FLOAT, number) == hash_value(DOUBLE, number)


@given(values(DATE))
def test_a_date_hashes_as_the_long_of_its_days(days: int) -> None:
    assert hash_value(DATE, days) == hash_value(LONG, days)


@given(values(TIMESTAMP_NS))
def test_nanoseconds_hash_as_the_microsecond_they_lie_in(nanos: int) -> None:
    micros = (nanos - nanos % 1000) // 1000
    assert hash_value(TIMESTAMP_NS, nanos) == hash_value(TIMESTAMP, micros)
    assert hash_value(TIMESTAMPTZ_NS, nanos) == hash_value(TIMESTAMPTZ, micros)


def test_nanoseconds_before_1970_are_floored() -> None:
    # hashLong(-2), neither the raw nanoseconds nor the microsecond toward zero
    assert hash_value(TIMESTAMP_NS, -1501) == independent_murmur3(struct.pack("<q", -2)) == -1438076027


def test_a_string_beyond_the_basic_plane_hashes_as_utf_8() -> None:
    assert hash_value(STRING, "💰") == independent_murmur3(b"\xf0\x9f\x92\xb0") == -1486360756
    assert hash_value(STRING, "") == 0


def test_unknown_and_null_hash_to_null() -> None:
    assert hash_value(UNKNOWN, None) is None
    assert hash_value(INT, None) is None


@pytest.mark.parametrize(
    "type_",
    [
        VARIANT,
        GeometryType(),
        GeographyType(),
        StructType(()),
        ListType(1, INT),
        MapType(1, INT, 2, INT),
    ],
    ids=str,
)
def test_types_without_a_hash_are_refused(type_) -> None:
    with pytest.raises(SpecError, match="HSH009"):
        hash_value(type_, None)


@pytest.mark.parametrize(
    ("type_", "value"),
    [(INT, 2**31), (INT, True), (STRING, b"a"), (UUID, "x"), (UNKNOWN, 1), (DecimalType(4, 2), Decimal("1.5"))],
)
def test_what_is_not_a_value_of_the_type_is_refused(type_, value) -> None:
    with pytest.raises(SpecError, match="TYP"):
        hash_value(type_, value)


def test_uuid_bytes_are_big_endian() -> None:
    expected = bytes.fromhex("F79C3E09677C4BBDA4793F349CB785E7")
    assert hash_value(UUID, uuid.UUID("f79c3e09-677c-4bbd-a479-3f349cb785e7")) == independent_murmur3(expected)

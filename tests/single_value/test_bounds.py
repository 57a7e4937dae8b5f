"""EVO006, EVO007, SVB011, SVB012, BND001 to BND010, DFL016, DFL017, DFL027: bounds of columns."""

import math
import uuid
from decimal import Decimal

import pytest
from hypothesis import example, given
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
    NestedField,
    StructType,
)
from spec_ref.encodings.geo.wkb import wkt_to_wkb
from spec_ref.encodings.variant.json_path import normalized_path
from spec_ref.encodings.variant.physical_types import PhysicalType, VariantPrimitive
from spec_ref.encodings.variant.value_writer import encode_variant
from spec_ref.single_value.bounds import decode_bound, encode_bound, truncate_lower, truncate_upper
from spec_ref.single_value.geo_bounds import GeoPoint
from spec_ref.single_value.variant_bounds import check_same_types

STRUCT = StructType([NestedField(1, "a", False, INT, initial_default={"unhashable": []})])


def refusal_code(function, *args):
    with pytest.raises(SpecError) as error:
        function(*args)
    return error.value.violation.requirement


# Appendix D: the bound of a plain type is its binary single value. 2017-11-16 is day 17486 = 0x444E.
PLAIN = [
    (BOOLEAN, True, "01"),
    (INT, 34, "22000000"),
    (LONG, 34, "2200000000000000"),
    (FLOAT, 1.0, "0000803F"),
    (DOUBLE, -0.0, "0000000000000080"),
    (DecimalType(9, 2), Decimal("14.20"), "058C"),
    (DATE, 17486, "4E440000"),
    (TIMESTAMP, 1510871468000000, "00C3262D215E0500"),
    (STRING, "iceberg", "69636562657267"),
    (STRING, "", ""),
    (FixedType(2), b"\x00\xff", "00FF"),
    (BINARY, b"", ""),
]


@pytest.mark.parametrize(("type_", "value", "data"), PLAIN)
def test_a_bound_of_a_plain_type_is_its_binary_single_value(type_, value, data):
    assert encode_bound(type_, value) == bytes.fromhex(data)
    assert decode_bound(type_, bytes.fromhex(data)) == value


# Schema Evolution, the table of inferred types. 17486 days * 86400 s = 1510790400 s.
@pytest.mark.parametrize(
    ("type_", "data", "value"),
    [
        (LONG, "22000000", 34),
        (LONG, "FFFFFFFF", -1),
        (DOUBLE, "0000803F", 1.0),
        (DOUBLE, "CDCCCC3D", 0.10000000149011612),  # the float nearest to 0.1: 0xCCCCCD * 2^-27
        (TIMESTAMP, "4E440000", 1510790400_000000),
        (TIMESTAMP, "FFFFFFFF", -86400_000000),
        (TIMESTAMP_NS, "4E440000", 1510790400_000000000),
        (DecimalType(38, 2), "058C", Decimal("14.20")),
        (DecimalType(9, 2), "0000058C", Decimal("14.20")),
    ],
)
def test_a_bound_written_before_a_promotion_is_read_as_its_type_at_write_time(type_, data, value):
    assert decode_bound(type_, bytes.fromhex(data)) == value


def test_a_nan_written_as_float_is_a_nan_of_double():
    assert math.isnan(decode_bound(DOUBLE, bytes.fromhex("0000C07F")))


# floor((2^63 - 1) / 86400e9) = 106751 days (2262-04-11), / 86400e6 = 106751991 days (year 294247); ceil of -2^63 is the
# negative of the same.
@pytest.mark.parametrize(
    ("type_", "days", "units"), [(TIMESTAMP_NS, 106751, 86400 * 10**9), (TIMESTAMP, 106751991, 86400 * 10**6)]
)
def test_a_promoted_date_outside_the_range_fails_and_does_not_wrap(type_, days, units):
    for sign in (1, -1):
        assert decode_bound(type_, encode_bound(DATE, sign * days)) == sign * days * units
        assert refusal_code(decode_bound, type_, encode_bound(DATE, sign * (days + 1))) == "EVO006"


@pytest.mark.parametrize(
    ("type_", "length", "code"),
    [
        (INT, 8, "SVB002"),
        (FLOAT, 8, "SVB004"),
        (DATE, 8, "SVB002"),
        (TIMESTAMPTZ, 4, "SVB003"),
        (TIMESTAMPTZ_NS, 4, "SVB003"),
        (TIME, 4, "SVB003"),
        (LONG, 0, "SVB003"),
        (LONG, 5, "SVB003"),
        (DOUBLE, 3, "SVB004"),
        (TIMESTAMP, 12, "SVB003"),
        (UUID, 4, "SVB006"),
        (DecimalType(9, 2), 0, "SVB008"),
        (DecimalType(9, 2), 4, "TYP013"),
        (FixedType(4), 3, "TYP023"),
        (UNKNOWN, 4, "SVB009"),
        (STRUCT, 4, "SVB009"),
        (ListType(1, INT), 4, "SVB009"),
        (GeometryType(), 4, "SVB011"),
        (VARIANT, 4, "TYP006"),
    ],
)
def test_no_other_length_is_inferred(type_, length, code):
    assert refusal_code(decode_bound, type_, b"\x7f" * length) == code


@pytest.mark.parametrize(
    ("type_", "value", "code"),
    [
        (FLOAT, math.nan, "DFL027"),
        (DOUBLE, math.nan, "DFL027"),
        (INT, None, "TYP009"),
        (INT, "1", "TYP009"),
        (UNKNOWN, None, "SVB009"),
        (STRUCT, {1: 1}, "SVB009"),
        (GeometryType(), wkt_to_wkb("POINT (30 10)"), "SVB011"),
        (GeographyType(), GeoPoint(180.1, 0.0), "BND003"),
        (VARIANT, None, "SVB012"),
        (VARIANT, encode_variant({}), "SVB012"),
    ],
)
def test_what_is_not_a_bound_is_not_written(type_, value, code):
    assert refusal_code(encode_bound, type_, value) == code


@pytest.mark.parametrize("type_", [GeometryType(), GeographyType()])
def test_a_geo_bound_is_a_point_and_not_wkb(type_):
    data = bytes.fromhex("0000000000003E400000000000002440")
    assert encode_bound(type_, GeoPoint(30.0, 10.0)) == data
    assert decode_bound(type_, data) == GeoPoint(30.0, 10.0)


def test_a_variant_bound_is_metadata_and_an_object_by_path():
    # The two parts as Iceberg-Java 1.12.0 writes them for these keys and values.
    bound = {"$['b']['c']": (STRING, "iceberg"), "$['a']": (INT, -34)}
    data = bytes.fromhex("1102000611245b2761275d245b2762275d5b2763275d0202000100050d14deffffff1d69636562657267")
    assert encode_bound(VARIANT, bound) == data
    assert decode_bound(VARIANT, data) == bound


ROOT_BOUNDS = [
    (BOOLEAN, False, BOOLEAN, PhysicalType.FALSE),
    (INT, 1, INT, PhysicalType.INT32),
    (LONG, 1, LONG, PhysicalType.INT64),
    (FLOAT, 1.5, FLOAT, PhysicalType.FLOAT),
    (DOUBLE, 1.5, DOUBLE, PhysicalType.DOUBLE),
    (DecimalType(4, 2), Decimal("14.20"), DecimalType(9, 2), PhysicalType.DECIMAL4),
    (DecimalType(10, 2), Decimal("14.20"), DecimalType(18, 2), PhysicalType.DECIMAL8),
    (DecimalType(19, 2), Decimal("14.20"), DecimalType(38, 2), PhysicalType.DECIMAL16),
    (DATE, 1, DATE, PhysicalType.DATE),
    (TIME, 1, TIME, PhysicalType.TIME_NTZ),
    (TIMESTAMP, 1, TIMESTAMP, PhysicalType.TIMESTAMP_NTZ),
    (TIMESTAMPTZ, 1, TIMESTAMPTZ, PhysicalType.TIMESTAMP),
    (TIMESTAMP_NS, 1, TIMESTAMP_NS, PhysicalType.TIMESTAMP_NTZ_NANOS),
    (TIMESTAMPTZ_NS, 1, TIMESTAMPTZ_NS, PhysicalType.TIMESTAMP_NANOS),
    (STRING, "a", STRING, PhysicalType.STRING),
    (BINARY, b"a", BINARY, PhysicalType.BINARY),
    (UUID, uuid.UUID(int=1), UUID, PhysicalType.UUID),
]


@pytest.mark.parametrize(("type_", "value", "read_as", "physical"), ROOT_BOUNDS)
def test_each_primitive_type_has_its_variant_type(type_, value, read_as, physical):
    data = encode_bound(VARIANT, {"$": (type_, value)})
    variant = encode_variant({"$": VariantPrimitive(physical, value)})
    assert data == variant.metadata + variant.value
    assert decode_bound(VARIANT, data) == {"$": (read_as, value)}


def test_small_integers_of_other_writers_are_read_as_int():
    variant = encode_variant(
        {"$['a']": VariantPrimitive(PhysicalType.INT8, -1), "$['b']": VariantPrimitive(PhysicalType.INT16, 300)}
    )
    assert decode_bound(VARIANT, variant.metadata + variant.value) == {"$['a']": (INT, -1), "$['b']": (INT, 300)}


@pytest.mark.parametrize(
    ("bound", "code"),
    [
        ({"a": (INT, 1)}, "BND005"),
        ({"$.a": (INT, 1)}, "BND005"),
        ({"$['a'][0]": (INT, 1)}, "BND005"),
        ({"$": (INT, 1), "$['a']": (INT, 1)}, "BND010"),
        ({"$": (FixedType(1), b"a")}, "BND005"),
        ({"$": (UNKNOWN, None)}, "BND005"),
        ({"$": (STRUCT, {1: 1})}, "BND005"),
        ({"$": (DOUBLE, math.nan)}, "DFL027"),
        ({"$": (INT, 1 << 31)}, "TYP009"),
        ({"$": (DecimalType(9, -1), Decimal("1E1"))}, "TYP006"),
    ],
)
def test_what_is_not_a_variant_bound_is_not_written(bound, code):
    assert refusal_code(encode_bound, VARIANT, bound) == code


TRUE = VariantPrimitive(PhysicalType.TRUE, True)


@pytest.mark.parametrize(
    ("node", "code"),
    [
        (TRUE, "SVB012"),
        ((TRUE,), "SVB012"),
        ({"a": TRUE}, "BND005"),
        ({"$": (TRUE,)}, "BND005"),
        ({"$": {}}, "BND005"),
        ({"$": VariantPrimitive(PhysicalType.NULL, None)}, "BND005"),
        ({"$": TRUE, "$['a']": TRUE}, "BND010"),
    ],
)
def test_a_variant_that_is_not_a_bound_is_refused(node, code):
    variant = encode_variant(node)
    assert refusal_code(decode_bound, VARIANT, variant.metadata + variant.value) == code


def test_an_object_without_bounds_bounds_nothing():
    assert decode_bound(VARIANT, encode_bound(VARIANT, {})) == {}


@pytest.mark.parametrize(
    ("lower", "upper", "same"),
    [
        (INT, INT, True),
        (INT, LONG, True),
        (LONG, DecimalType(9, 2), True),
        (DecimalType(9, 2), DecimalType(18, 2), True),
        (TIMESTAMP, TIMESTAMP_NS, True),
        (INT, STRING, False),
        (TIMESTAMP, TIMESTAMPTZ, False),
        (INT, DOUBLE, False),
        (FLOAT, DOUBLE, False),
        (DATE, TIMESTAMP, False),
    ],
)
def test_lower_and_upper_bound_of_a_field_have_the_same_type(lower, upper, same):
    one, other = {"$['a']": (lower, None)}, {"$['a']": (upper, None)}
    if same:
        check_same_types(one, other)
    else:
        assert refusal_code(check_same_types, one, other) == "BND006"


def test_a_field_may_have_one_bound_only():
    check_same_types({"$['a']": (INT, 1)}, {"$['b']": (STRING, "")})


# Expected by the rule; U+D7FF -> U+E000 is apache/iceberg#11161.
@pytest.mark.parametrize(
    ("type_", "value", "width", "lower", "upper"),
    [
        (STRING, "iceberg", 3, "ice", "icf"),
        (STRING, "ice", 3, "ice", "ice"),
        (STRING, "", 1, "", ""),
        (STRING, "ab\U0010ffff\U0010ffffc", 4, "ab\U0010ffff\U0010ffff", "ac"),
        (STRING, "\U0010ffff\U0010ffff", 1, "\U0010ffff", None),
        (STRING, "\U0010ffff", 1, "\U0010ffff", "\U0010ffff"),
        (STRING, "a" * 15 + "\ud7ff" + "zz", 16, "a" * 15 + "\ud7ff", "a" * 15 + "\ue000"),
        (STRING, "\ud7ff\ud7ff", 1, "\ud7ff", "\ue000"),
        (STRING, "\x7fa", 1, "\x7f", "\x80"),
        (STRING, "\u07ffa", 1, "\u07ff", "\u0800"),
        (STRING, "\uffffa", 1, "\uffff", "\U00010000"),
        (STRING, "\U0001f600\U0001f600", 1, "\U0001f600", "\U0001f601"),  # code points, not UTF-16 units or bytes
        (STRING, "e\u0301a", 1, "e", "f"),  # code points, not graphemes
        (BINARY, b"\x01\x02\x03", 2, b"\x01\x02", b"\x01\x03"),
        (BINARY, b"\x01\xff\xff\x00", 3, b"\x01\xff\xff", b"\x02"),
        (BINARY, b"\xff\xff", 1, b"\xff", None),
        (BINARY, b"\xff", 1, b"\xff", b"\xff"),
        (BINARY, b"", 1, b"", b""),
    ],
)
def test_truncation_cuts_the_lower_bound_and_raises_the_upper(type_, value, width, lower, upper):
    assert truncate_lower(type_, value, width) == lower
    assert truncate_upper(type_, value, width) == upper


@pytest.mark.parametrize("width", [0, -1, True, 1.5, None])
def test_a_width_is_positive(width):
    assert refusal_code(truncate_lower, STRING, "abc", width) == "DFL016"
    assert refusal_code(truncate_upper, STRING, "abc", width) == "DFL017"


@pytest.mark.parametrize("type_", [INT, DecimalType(9, 2), FixedType(4), UUID, GeometryType(), VARIANT, STRUCT])
def test_other_types_are_not_cut(type_):
    assert refusal_code(truncate_lower, type_, b"abcd", 1) == "DFL016"
    assert refusal_code(truncate_upper, type_, b"abcd", 1) == "DFL017"


def test_a_value_of_another_type_is_not_cut():
    assert refusal_code(truncate_lower, STRING, b"abc", 1) == "TYP021"
    assert refusal_code(truncate_upper, STRING, "\ud800", 1) == "TYP021"
    assert refusal_code(truncate_upper, BINARY, "abc", 1) == "TYP024"


def test_after_every_code_point_comes_the_next_one_in_utf_8_order():
    for code in range(0x110000):
        if not 0xD800 <= code <= 0xDFFF:
            upper = truncate_upper(STRING, chr(code) + "a", 1)
            assert (upper is None) == (code == 0x10FFFF)
            assert upper is None or (chr(code) + "\U0010ffff").encode() < upper.encode()


edges = st.sampled_from("\x00a\x7f\x80\ud7ff\ue000\uffff\U00010000\U0010fffe\U0010ffff") | st.characters(
    exclude_categories=["Cs"]
)


@given(st.text(edges, max_size=6), st.integers(1, 7), st.text(edges, max_size=3))
@example("a\U0010ffff\U0010ffff", 2, "\U0010ffff")
def test_cut_strings_are_bounds_of_each_string_with_the_same_beginning(value, width, tail):
    lower, upper = truncate_lower(STRING, value, width), truncate_upper(STRING, value, width)
    assert len(lower) <= width
    assert lower.encode() <= value.encode()
    if upper is None:
        assert set(value[:width]) == {"\U0010ffff"}
        return
    assert len(upper) <= width
    assert value.encode() <= upper.encode()
    if len(value) > width:
        assert (value[:width] + tail).encode() < upper.encode()


@given(st.binary(max_size=6) | st.lists(st.sampled_from([0, 254, 255]), max_size=6).map(bytes), st.integers(1, 7))
def test_cut_binaries_are_bounds(value, width):
    lower, upper = truncate_lower(BINARY, value, width), truncate_upper(BINARY, value, width)
    assert lower <= value
    assert len(lower) <= width
    assert upper is None or (value <= upper and len(upper) <= width)
    assert (upper is None) == (len(value) > width and set(value[:width]) == {255})


paths = st.lists(st.text(max_size=3), min_size=1, max_size=2).map(normalized_path)
EVERY_TYPE = [type_ for type_, *_ in PLAIN] + [
    TIMESTAMP_NS,
    GeometryType(),
    GeographyType(),
    VARIANT,
    UUID,
    UNKNOWN,
    STRUCT,
]


@pytest.mark.parametrize("type_", EVERY_TYPE)
def test_what_is_not_bytes_is_refused(type_):
    refusal_code(decode_bound, type_, "00")
    refusal_code(decode_bound, type_, None)


@given(st.sampled_from(EVERY_TYPE), st.binary(max_size=40))
def test_any_bytes_are_read_or_refused(type_, data):
    try:
        decode_bound(type_, data)
    except SpecError:
        return


fields = st.integers(-(1 << 31), (1 << 31) - 1).map(lambda value: (INT, value)) | st.text(max_size=3).map(
    lambda value: (STRING, value)
)


@given(st.dictionaries(paths, fields, max_size=4), st.randoms())
def test_variant_bounds_come_back_and_have_one_encoding(bound, random):
    data = encode_bound(VARIANT, bound)
    assert decode_bound(VARIANT, data) == bound
    items = list(bound.items())
    random.shuffle(items)
    assert encode_bound(VARIANT, dict(items)) == data

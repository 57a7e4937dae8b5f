"""BND001 to BND004, SVB011: bounding boxes of geometry and geography columns."""

import itertools
import math
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec_ref.core.errors import SpecError
from spec_ref.data_types.types import GeographyType, GeometryType
from spec_ref.encodings.geo.wkb import wkt_to_wkb
from spec_ref.single_value.geo_bounds import (
    GeoBox,
    GeoPoint,
    bounding_box,
    check_within_box,
    decode_point,
    encode_point,
)

GEOMETRY = GeometryType()
GEOGRAPHY = GeographyType()


def refusal_code(function, *args):
    with pytest.raises(SpecError) as error:
        function(*args)
    return error.value.violation.requirement


# The layout is Appendix D's; Iceberg-Java 1.12.0, GeospatialBound.toByteBuffer, writes the same bytes for these points.
POINTS = [
    (GeoPoint(30.0, 10.0), "0000000000003E40 0000000000002440"),
    (GeoPoint(1.0, 2.0, z=3.0), "000000000000F03F 0000000000000040 0000000000000840"),
    (GeoPoint(1.0, 2.0, m=4.0), "000000000000F03F 0000000000000040 000000000000F87F 0000000000001040"),
    (GeoPoint(1.0, 2.0, z=3.0, m=4.0), "000000000000F03F 0000000000000040 0000000000000840 0000000000001040"),
]


@pytest.mark.parametrize(("point", "data"), POINTS)
def test_a_bound_is_its_coordinates_with_nan_for_a_z_that_is_not_set(point, data):
    assert encode_point(point) == bytes.fromhex(data)
    assert decode_point(bytes.fromhex(data)) == point


@pytest.mark.parametrize(
    ("stored", "point"),
    [
        ((1, 2, math.nan), GeoPoint(1.0, 2.0)),
        ((1, 2, math.nan, math.nan), GeoPoint(1.0, 2.0)),
        ((1, 2, 3, math.nan), GeoPoint(1.0, 2.0, z=3.0)),
    ],
)
def test_a_reader_takes_nan_for_a_coordinate_that_is_not_set_as_iceberg_java_does(stored, point):
    assert decode_point(struct.pack(f"<{len(stored)}d", *stored)) == point


@pytest.mark.parametrize("length", [0, 8, 15, 17, 21, 40])
def test_a_bound_has_16_24_or_32_bytes(length):
    assert refusal_code(decode_point, bytes(length)) == "SVB011"


def test_wkb_is_not_a_bound():
    assert refusal_code(decode_point, wkt_to_wkb("POINT (30 10)")) == "SVB011"


@pytest.mark.parametrize("stored", [(math.nan, 1), (1, math.nan), (math.nan, 1, 2, 3)])
def test_x_and_y_are_mandatory(stored):
    assert refusal_code(decode_point, struct.pack(f"<{len(stored)}d", *stored)) == "SVB011"


@pytest.mark.parametrize("arguments", [(math.nan, 1.0), (1.0, None), (1.0, 2.0, math.nan), (1, 2.0), ("1", 2.0)])
def test_a_point_is_made_of_numbers(arguments):
    assert refusal_code(GeoPoint, *arguments) == "SVB011"


def box(type_, *texts):
    return bounding_box(type_, [None if text is None else wkt_to_wkb(text) for text in texts])


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["POINT (1 2)"], (GeoPoint(1.0, 2.0), GeoPoint(1.0, 2.0))),
        (["POINT (1 NaN)", "POINT (3 4)"], (GeoPoint(1.0, 4.0), GeoPoint(3.0, 4.0))),
        (["LINESTRING ZM (1 9 5 NaN, 3 4 NaN 0)", None], (GeoPoint(1.0, 4.0, 5.0, 0.0), GeoPoint(3.0, 9.0, 5.0, 0.0))),
        (["POINT M (1 2 3)", "POINT (0 5)"], (GeoPoint(0.0, 2.0, m=3.0), GeoPoint(1.0, 5.0, m=3.0))),
        (["POINT Z (1 2 NaN)"], (GeoPoint(1.0, 2.0), GeoPoint(1.0, 2.0))),
        (["MULTIPOINT ((1 2), EMPTY)", "POLYGON EMPTY"], (GeoPoint(1.0, 2.0), GeoPoint(1.0, 2.0))),
    ],
)
def test_each_dimension_skips_its_nulls_and_nans(texts, expected):
    assert box(GEOMETRY, *texts) == GeoBox(*expected)


@pytest.mark.parametrize("texts", [[], [None], ["POINT EMPTY"], ["POINT (1 NaN)"], ["POINT Z (NaN 1 2)"]])
def test_without_x_or_without_y_there_is_no_box(texts):
    assert box(GEOMETRY, *texts) is None


def is_within(type_, box, value):
    """Whether a value is in a box."""
    return not list(check_within_box(type_, box.lower, box.upper, value))


def test_the_box_orders_zeros_whatever_comes_first():
    for texts in itertools.permutations(["POINT (0 0)", "POINT (-0 0)"]):
        found = box(GEOMETRY, *texts)
        assert (math.copysign(1, found.lower.x), math.copysign(1, found.upper.x)) == (-1, 1)


def test_a_geography_with_edges_has_no_box_of_its_ends():
    # The great circle from (-60, 60) to (60, 60) reaches atan(tan 60 / cos 60) = 73.9 degrees north at x = 0.
    assert math.degrees(math.atan(math.tan(math.radians(60)) / math.cos(math.radians(60)))) > 73
    assert box(GEOGRAPHY, "LINESTRING (-60 60, 60 60)") is None
    assert box(GEOGRAPHY, "MULTIPOINT (-60 60, 60 60)") == GeoBox(GeoPoint(-60.0, 60.0), GeoPoint(60.0, 60.0))
    assert box(GEOMETRY, "LINESTRING (-60 60, 60 60)") == GeoBox(GeoPoint(-60.0, 60.0), GeoPoint(60.0, 60.0))


def test_a_geography_lies_on_the_globe():
    assert box(GEOGRAPHY, "POINT (-180 -90)", "POINT (180 90)") is not None
    assert refusal_code(box, GEOGRAPHY, "POINT (180.5 0)") == "BND003"
    assert refusal_code(box, GEOGRAPHY, "POINT (0 -91)") == "BND003"
    assert box(GEOMETRY, "POINT (180.5 -91)") is not None


@pytest.mark.parametrize(
    ("x", "inside"), [(175, True), (-175, True), (180, True), (-180, True), (0, False), (169, False)]
)
def test_a_geography_box_with_xmin_above_xmax_crosses_the_antimeridian(x, inside):  # BND002
    across = GeoBox(GeoPoint(170.0, -10.0), GeoPoint(-170.0, 10.0))
    assert is_within(GEOGRAPHY, across, wkt_to_wkb(f"POINT ({x} 0)")) is inside
    assert not is_within(GEOGRAPHY, across, wkt_to_wkb(f"POINT ({x} 11)"))
    assert not is_within(GEOMETRY, across, wkt_to_wkb(f"POINT ({x} 0)"))


def test_an_inverted_y_does_not_wrap():
    assert not is_within(GEOGRAPHY, GeoBox(GeoPoint(0.0, 10.0), GeoPoint(1.0, -10.0)), wkt_to_wkb("POINT (0 11)"))


def test_a_dimension_that_the_box_leaves_out_is_not_bounded():
    flat = GeoBox(GeoPoint(0.0, 0.0), GeoPoint(1.0, 1.0))
    assert is_within(GEOMETRY, flat, wkt_to_wkb("POINT Z (0 1 1000)"))
    high = GeoBox(GeoPoint(0.0, 0.0, z=5.0), GeoPoint(1.0, 1.0, z=6.0))
    assert not is_within(GEOMETRY, high, wkt_to_wkb("POINT Z (0 1 1000)"))
    assert is_within(GEOMETRY, high, wkt_to_wkb("POINT (0 1)"))


numbers = st.floats(-1e6, 1e6).map(lambda number: f"{number!r}") | st.just("NaN")


@given(st.lists(st.tuples(numbers, numbers, numbers), max_size=5))
def test_a_computed_box_covers_its_values(points):
    values = [wkt_to_wkb(f"POINT Z ({x} {y} {z})") for x, y, z in points]
    found = bounding_box(GEOMETRY, values)
    assert (found is None) == (all(x == "NaN" for x, _, _ in points) or all(y == "NaN" for _, y, _ in points))
    if found is not None:
        assert all(is_within(GEOMETRY, found, value) for value in values)
        assert decode_point(encode_point(found.lower)) == found.lower


@given(st.binary(max_size=40))
def test_any_bytes_are_read_or_refused(data):
    try:
        point = decode_point(data)
    except SpecError:
        return
    assert decode_point(encode_point(point)) == point

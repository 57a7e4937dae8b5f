"""NOT010, SVB010, SVJ008: well-known binary and well-known text in their ISO forms."""

import contextlib
import math
import struct

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from spec_ref.core.errors import SpecError
from spec_ref.encodings.geo.geometry import (
    MAX_DEPTH,
    MEMBER_KINDS,
    Collection,
    Dimensions,
    Geometry,
    GeometryKind,
    LineString,
    Point,
    Polygon,
    coordinates,
)
from spec_ref.encodings.geo.wkb import read_wkb, wkb_to_wkt, wkt_to_wkb, write_wkb
from spec_ref.encodings.geo.wkt import read_wkt, write_wkt

# What GEOS 3.14.1 (shapely 2.2.0, flavor="iso") writes for the text, little-endian and big-endian.
GEOS = [
    ("POINT (30 10)", "01010000000000000000003E400000000000002440", "0000000001403E0000000000004024000000000000"),
    (
        "POINT Z (1 2 3)",
        "01E9030000000000000000F03F00000000000000400000000000000840",
        "00000003E93FF000000000000040000000000000004008000000000000",
    ),
    (
        "POINT M (1 2 3)",
        "01D1070000000000000000F03F00000000000000400000000000000840",
        "00000007D13FF000000000000040000000000000004008000000000000",
    ),
    (
        "POINT ZM (1 2 3 4)",
        "01B90B0000000000000000F03F000000000000004000000000000008400000000000001040",
        "0000000BB93FF0000000000000400000000000000040080000000000004010000000000000",
    ),
    ("POINT EMPTY", "0101000000000000000000F87F000000000000F87F", "00000000017FF80000000000007FF8000000000000"),
    (
        "POINT Z EMPTY",
        "01E9030000000000000000F87F000000000000F87F000000000000F87F",
        "00000003E97FF80000000000007FF80000000000007FF8000000000000",
    ),
    (
        "LINESTRING (30 10, 10 30, 40 40)",
        "0102000000030000000000000000003E40000000000000244000000000000024400000000000003E4000000000000044400000000000004440",
        "000000000200000003403E00000000000040240000000000004024000000000000403E00000000000040440000000000004044000000000000",
    ),
    ("LINESTRING EMPTY", "010200000000000000", "000000000200000000"),
    (
        "POLYGON ((35 10, 45 45, 15 40, 10 20, 35 10), (20 30, 35 35, 30 20, 20 30))",
        "0103000000020000000500000000000000008041400000000000002440000000000080464000000000008046400000000000002E40000000000000444000000000000024400000000000003440000000000080414000000000000024400400000000000000000034400000000000003E40000000000080414000000000008041400000000000003E40000000000000344000000000000034400000000000003E40",
        "000000000300000002000000054041800000000000402400000000000040468000000000004046800000000000402E00000000000040440000000000004024000000000000403400000000000040418000000000004024000000000000000000044034000000000000403E00000000000040418000000000004041800000000000403E00000000000040340000000000004034000000000000403E000000000000",
    ),
    (
        "POLYGON M ((0 0 1, 1 0 2, 0 1 3, 0 0 1))",
        "01D3070000010000000400000000000000000000000000000000000000000000000000F03F000000000000F03F000000000000000000000000000000400000000000000000000000000000F03F000000000000084000000000000000000000000000000000000000000000F03F",
        "00000007D30000000100000004000000000000000000000000000000003FF00000000000003FF00000000000000000000000000000400000000000000000000000000000003FF00000000000004008000000000000000000000000000000000000000000003FF0000000000000",
    ),
    (
        "MULTIPOINT ((10 40), (40 30))",
        "010400000002000000010100000000000000000024400000000000004440010100000000000000000044400000000000003E40",
        "00000000040000000200000000014024000000000000404400000000000000000000014044000000000000403E000000000000",
    ),
    (
        "MULTILINESTRING Z ((10 10 1, 20 20 2), (40 40 3, 30 30 4))",
        "01ED0300000200000001EA0300000200000000000000000024400000000000002440000000000000F03F00000000000034400000000000003440000000000000004001EA030000020000000000000000004440000000000000444000000000000008400000000000003E400000000000003E400000000000001040",
        "00000003ED0000000200000003EA00000002402400000000000040240000000000003FF000000000000040340000000000004034000000000000400000000000000000000003EA00000002404400000000000040440000000000004008000000000000403E000000000000403E0000000000004010000000000000",
    ),
    (
        "MULTIPOLYGON (((30 20, 45 40, 10 40, 30 20)), ((15 5, 40 10, 10 20, 5 10, 15 5)))",
        "010600000002000000010300000001000000040000000000000000003E40000000000000344000000000008046400000000000004440000000000000244000000000000044400000000000003E400000000000003440010300000001000000050000000000000000002E4000000000000014400000000000004440000000000000244000000000000024400000000000003440000000000000144000000000000024400000000000002E400000000000001440",
        "00000000060000000200000000030000000100000004403E00000000000040340000000000004046800000000000404400000000000040240000000000004044000000000000403E000000000000403400000000000000000000030000000100000005402E0000000000004014000000000000404400000000000040240000000000004024000000000000403400000000000040140000000000004024000000000000402E0000000000004014000000000000",
    ),
    (
        "GEOMETRYCOLLECTION (POINT (40 10), LINESTRING (10 10, 20 20), GEOMETRYCOLLECTION EMPTY)",
        "0107000000030000000101000000000000000000444000000000000024400102000000020000000000000000002440000000000000244000000000000034400000000000003440010700000000000000",
        "0000000007000000030000000001404400000000000040240000000000000000000002000000024024000000000000402400000000000040340000000000004034000000000000000000000700000000",
    ),
    ("POINT (0.1 -1e-300)", "01010000009A9999999999B93F59F3F8C21F6EA581", "00000000013FB999999999999A81A56E1FC2F8F359"),
]

# Derivation by hand, for one of them: 01 little-endian; 01000000 point; 30 = 1.875 * 2^4, so the exponent is
# 1023 + 4 = 0x403 and the fraction 0.875 = 0xE; 10 = 1.25 * 2^3, so 0x402 and 0x4.
POINT_30_10 = "01010000000000000000003E400000000000002440"


def refused(function, data):
    with pytest.raises(SpecError) as error:
        function(data)
    assert error.value.violation.requirement == "NOT010"
    return error.value.violation


@pytest.mark.parametrize(("text", "little", "big"), GEOS)
def test_wkb_is_what_geos_writes(text, little, big):
    assert wkt_to_wkb(text).hex().upper() == little
    assert wkb_to_wkt(bytes.fromhex(little)) == text
    assert wkb_to_wkt(bytes.fromhex(big)) == text


def test_the_point_of_the_spec_has_the_bytes_of_its_derivation():
    assert wkt_to_wkb("POINT (30 10)") == bytes.fromhex(POINT_30_10)


def test_members_of_a_collection_may_have_another_byte_order():
    member = struct.pack(">BIdd", 0, 1, 30, 10)
    assert wkb_to_wkt(struct.pack("<BII", 1, 4, 2) + member + bytes.fromhex(POINT_30_10)) == (
        "MULTIPOINT ((30 10), (30 10))"
    )


def test_after_a_big_endian_member_the_next_member_is_read_by_its_own_order():
    big = struct.pack(">BIIdd", 0, 2, 1, 1, 2)
    little = struct.pack("<BIIdd", 1, 2, 1, 3, 4)
    assert wkb_to_wkt(struct.pack(">BII", 0, 5, 2) + little + big) == "MULTILINESTRING ((3 4), (1 2))"


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("point(30 10)", "POINT (30 10)"),
        (" Point\tz ( 1  2\n3 ) ", "POINT Z (1 2 3)"),
        ("POINTZM(1 2 3 4)", "POINT ZM (1 2 3 4)"),
        ("MULTIPOINT (10 40, 40 30)", "MULTIPOINT ((10 40), (40 30))"),
        ("MULTIPOINT (EMPTY, 1 2)", "MULTIPOINT (EMPTY, (1 2))"),
        ("POINT (+1. .5)", "POINT (1 0.5)"),
        ("POINT (1E2 -1e-7)", "POINT (100 -1e-07)"),
        ("POINT (-0 0)", "POINT (-0 0)"),
        ("POINT (1 nan)", "POINT (1 NaN)"),
        ("POINT (NaN NaN)", "POINT EMPTY"),
        ("POINT Z (NaN NaN 1)", "POINT Z (NaN NaN 1)"),
        ("POINT (inf -Infinity)", "POINT (Infinity -Infinity)"),
    ],
)
def test_text_is_read_in_its_spellings_and_written_in_one(text, canonical):
    assert wkb_to_wkt(wkt_to_wkb(text)) == canonical
    assert wkt_to_wkb(canonical) == wkt_to_wkb(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "POINT",
        "POINT ()",
        "POINT (1)",
        "POINT (1 2",
        "POINT (1 2))",
        "POINT (1 2) POINT (1 2)",
        "POINT (1 2, 3 4)",
        "POINT (1, 2)",
        "POINT(1-2)",
        "POINT (1x 2)",
        "POINT (0x1 2)",
        "POINT (1_0 2)",
        "POINT (1e999 2)",
        "POINT (1 2 3)",
        "POINT Z (1 2)",
        "POINT ZZ (1 2 3)",
        "POINT Z M (1 2 3 4)",
        "LINESTRING (1 2,)",
        "LINESTRING (,)",
        "POLYGON (1 2, 3 4)",
        "MULTIPOINT Z (POINT Z (1 2 3))",
        "CIRCULARSTRING (0 0, 1 1, 2 0)",
        "GEOMETRY (1 2)",
        "SRID=4326;POINT (1 2)",
        "GEOMETRYCOLLECTION (1 2)",
        "GEOMETRYCOLLECTION Z (POINT (1 2))",
        "POINT (\u0661 2)",
        "EMPTY",
        "POINT EMPTY EMPTY",
        "GEOMETRYCOLLECTION (EMPTY)",
    ],
)
def test_text_that_is_not_iso_wkt_is_refused(text):
    refused(wkt_to_wkb, text)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("nothing", b""),
        ("no type", b"\x01\x01\x00"),
        ("byte order 2", b"\x02" + bytes.fromhex(POINT_30_10)[1:]),
        ("cut off", bytes.fromhex(POINT_30_10)[:-1]),
        ("bytes left", bytes.fromhex(POINT_30_10) + b"\x00"),
        ("type 0", struct.pack("<BIdd", 1, 0, 1, 2)),
        ("a curve", struct.pack("<BII", 1, 8, 0)),
        ("dimensions 4000", struct.pack("<BIdddd", 1, 4001, 1, 2, 3, 4)),
        ("EWKB with an SRID", struct.pack("<BIIdd", 1, 0x20000001, 4326, 1, 2)),
        ("EWKB with Z", struct.pack("<BIddd", 1, 0x80000001, 1, 2, 3)),
        ("EWKB with M", struct.pack("<BIddd", 1, 0x40000001, 1, 2, 3)),
        ("a line of 2^32 - 1 positions", struct.pack("<BII", 1, 2, 0xFFFFFFFF)),
        ("a polygon of 2^32 - 1 rings", struct.pack("<BII", 1, 3, 0xFFFFFFFF) + bytes(64)),
        ("a collection of 2^32 - 1 members", struct.pack("<BII", 1, 7, 0xFFFFFFFF) + bytes(64)),
        ("a line in a multipoint", struct.pack("<BII", 1, 4, 1) + struct.pack("<BII", 1, 2, 0)),
        ("a point Z in a multipoint", struct.pack("<BII", 1, 4, 1) + struct.pack("<BIddd", 1, 1001, 1, 2, 3)),
    ],
)
def test_bytes_that_are_not_iso_wkb_are_refused(name, data):
    refused(read_wkb, data)


def test_the_error_of_extended_wkb_asks_for_iso_wkb():
    assert refused(read_wkb, struct.pack("<BIIdd", 1, 0x20000001, 4326, 1, 2)).expected == "ISO WKB"


def test_collections_nest_to_a_limit():
    header = struct.pack("<BII", 1, 7, 1)
    inner = struct.pack("<BII", 1, 7, 0)
    deepest = header * (MAX_DEPTH - 1) + inner
    text = wkb_to_wkt(deepest)
    assert wkt_to_wkb(text) == deepest
    for read, data in (
        (read_wkb, header * MAX_DEPTH + inner),
        (read_wkb, header * 100_000 + inner),
        (read_wkt, "GEOMETRYCOLLECTION (" * 100_000),
    ):
        assert refused(read, data).expected == f"at most {MAX_DEPTH} levels"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("POINT (1 2)", [(1, 2, None, None)]),
        ("POINT Z (1 2 3)", [(1, 2, 3, None)]),
        ("POINT M (1 2 4)", [(1, 2, None, 4)]),
        ("POINT ZM (1 2 3 4)", [(1, 2, 3, 4)]),
        ("POINT EMPTY", []),
        ("POLYGON ((0 0, 1 0, 0 0), (5 6, 7 8, 5 6))", [(0, 0), (1, 0), (0, 0), (5, 6), (7, 8), (5, 6)]),
        ("GEOMETRYCOLLECTION (LINESTRING (1 2, 3 4), MULTIPOINT ((5 6), EMPTY))", [(1, 2), (3, 4), (5, 6)]),
    ],
)
def test_every_position_is_walked_in_order_with_z_and_m_in_their_places(text, expected):
    found = [tuple(None if math.isnan(v) else v for v in position) for position in coordinates(read_wkt(text))]
    assert found == [(*position, None, None)[:4] for position in expected]


ordinates = st.floats(allow_nan=False)


@st.composite
def geometries(draw, dimensions=None, kind=None, depth=0) -> Geometry:
    dimensions = draw(st.sampled_from(Dimensions)) if dimensions is None else dimensions
    kind = kind or draw(
        st.sampled_from(
            GeometryKind if depth < 3 else [GeometryKind.POINT, GeometryKind.LINESTRING, GeometryKind.POLYGON]
        )
    )
    position = st.tuples(*[ordinates] * dimensions.size)
    line = st.lists(position, max_size=3).map(tuple)
    match kind:
        case GeometryKind.POINT:
            return Point(dimensions, draw(st.none() | position))
        case GeometryKind.LINESTRING:
            return LineString(dimensions, draw(line))
        case GeometryKind.POLYGON:
            return Polygon(dimensions, draw(st.lists(line, max_size=3).map(tuple)))
    member_kind = None if kind is GeometryKind.GEOMETRYCOLLECTION else next(iter(MEMBER_KINDS[kind]))
    member = geometries(dimensions, member_kind, depth + 1)
    return Collection(kind, dimensions, draw(st.lists(member, max_size=3).map(tuple)))


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(geometries())
def test_binary_and_text_give_the_geometry_back(geometry):
    assert read_wkb(write_wkb(geometry)) == geometry
    assert write_wkb(read_wkt(write_wkt(geometry))) == write_wkb(geometry)


@given(st.binary(max_size=120))
@example(struct.pack("<BIIBIIBII", 1, 7, 1, 1, 7, 1, 1, 7, 0))
def test_any_bytes_are_read_or_refused(data):
    try:
        geometry = read_wkb(data)
    except SpecError:
        return
    assert read_wkt(write_wkt(geometry)) is not None


@given(geometries(), st.data())
def test_damaged_bytes_are_read_or_refused(geometry, data):
    damaged = bytearray(write_wkb(geometry))
    damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    with contextlib.suppress(SpecError):
        read_wkb(bytes(damaged))


WORDS = [
    "POINT",
    "LINESTRING",
    "MULTIPOINT",
    "GEOMETRYCOLLECTION",
    "EMPTY",
    "Z",
    "ZM",
    "(",
    ")",
    ",",
    "1",
    "-2.5",
    "NaN",
    " ",
]


@given(st.lists(st.sampled_from(WORDS) | st.text(max_size=3), max_size=15).map(" ".join))
def test_any_text_is_read_or_refused(text):
    try:
        geometry = read_wkt(text)
    except SpecError:
        return
    assert write_wkt(read_wkt(write_wkt(geometry))) == write_wkt(geometry)

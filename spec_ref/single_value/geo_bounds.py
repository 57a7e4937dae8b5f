"""Bounding boxes of geometry and geography columns (Bounds for Geometry and Geography; Bound serialization).

A bound is a corner of a box that contains every object in a file. It is stored as its coordinates alone, not as WKB: x
and y; then z, if the box has z or m; then m, if it has m. NaN in the place of z means that there is no z.

Decided here, because the text leaves it open:

- A reader treats NaN as "not set" wherever z or m is allowed, even if a writer should have omitted the coordinate.
- No box is computed for a geography with edges. An edge on the globe bulges towards the pole and may cross the
  antimeridian, so the box of its ends need not contain it; a bound is optional, and a wrong one loses rows.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable, Iterator

from spec_ref.core.errors import Description, Violation, abbreviated_repr, spec_error
from spec_ref.core.records import record
from spec_ref.data_types.types import GeographyType, GeometryType
from spec_ref.encodings.geo.geometry import Collection, Geometry, Point, coordinates
from spec_ref.encodings.geo.wkb import read_wkb

MAX_LONGITUDE = 180.0
MAX_LATITUDE = 90.0


@record
class GeoPoint:
    """A corner of a bounding box; ``z`` and ``m`` are None if the box does not bound that dimension."""

    x: float
    y: float
    z: float | None = None
    m: float | None = None

    def __attrs_post_init__(self) -> None:
        for name in ("x", "y", "z", "m"):
            value = getattr(self, name)
            is_missing = value is None and name in "zm"
            if not is_missing and (not isinstance(value, float) or math.isnan(value)):
                expected = "a float that is not NaN" + (", or None" if name in "zm" else "")
                raise spec_error(
                    "SVB011", f"{name} of a geospatial bound is not a number", found=value, expected=expected
                )


@record
class GeoBox:
    """A bounding box: the lower and the upper bound of a column."""

    lower: GeoPoint
    upper: GeoPoint


def encode_point(point: GeoPoint) -> bytes:
    """Serialize a bound (SVB011).

    Args:
        point: a corner of a bounding box.

    Returns:
        x:y, x:y:z, x:y:NaN:m or x:y:z:m, each an 8-byte little-endian double.
    """
    found = [point.x, point.y]
    if point.m is not None:
        found += [math.nan if point.z is None else point.z, point.m]
    elif point.z is not None:
        found.append(point.z)
    return struct.pack(f"<{len(found)}d", *found)


def decode_point(data: bytes) -> GeoPoint:
    """Deserialize a bound (SVB011).

    Args:
        data: the bytes of the bound.

    Returns:
        The corner of the bounding box.

    Raises:
        SpecError: SVB011 if there are not 16, 24 or 32 bytes, or x or y is NaN.
    """
    if not isinstance(data, bytes):
        raise spec_error("SVB011", "the bound is not bytes", found=data, expected="bytes")
    if len(data) not in (16, 24, 32):
        message = "the length does not fit a geospatial bound"
        raise spec_error("SVB011", message, found=Description(f"{len(data)} bytes"), expected="16, 24 or 32 bytes")
    x, y, *others = struct.unpack(f"<{len(data) // 8}d", data)
    z, m, *_ = *(None if math.isnan(other) else other for other in others), None, None
    return GeoPoint(x, y, z, m)


def check_point(type_: GeometryType | GeographyType, point: GeoPoint) -> None:
    """Check that a bound of a geography has a valid longitude and latitude (BND003).

    Args:
        type_: the type of the column; a geometry is not restricted.
        point: a corner of a bounding box, in degrees for a geography.

    Raises:
        SpecError: BND003 if x is not within -180 to 180 or y not within -90 to 90.
    """
    if not isinstance(type_, GeographyType):
        return
    for name, value, limit in (("x", point.x, MAX_LONGITUDE), ("y", point.y, MAX_LATITUDE)):
        if abs(value) > limit:
            expected = f"-{limit:g} to {limit:g}"
            raise spec_error("BND003", f"{name} of a geography bound is out of range", found=value, expected=expected)


def bounding_box(type_: GeometryType | GeographyType, values: Iterable[bytes | None]) -> GeoBox | None:
    """Compute the smallest box around WKB values, with xmin <= xmax (BND001, BND004).

    Nulls and NaN coordinates are skipped, separately in each dimension; a dimension without coordinates is omitted.

    Args:
        type_: the type of the column.
        values: values of the column as WKB, or None for null.

    Returns:
        The box; None if x or y has no coordinates, or a geography has edges.

    Raises:
        SpecError: NOT010 for a value that is not WKB; BND003 for a geography outside the valid coordinates.
    """
    lower: dict[int, float] = {}
    upper: dict[int, float] = {}
    has_edges = False
    for value in values:
        if value is None:
            continue
        geometry = read_wkb(value)
        has_edges = has_edges or any(not isinstance(part, Point) for part in _simple_parts(geometry))
        for position in coordinates(geometry):
            for index, ordinate in enumerate(position):
                if not math.isnan(ordinate):
                    lower[index] = min(lower.get(index, ordinate), ordinate, key=_total_order)
                    upper[index] = max(upper.get(index, ordinate), ordinate, key=_total_order)
    low, high = _corner(lower), _corner(upper)
    if low is None or high is None or (has_edges and isinstance(type_, GeographyType)):
        return None
    check_point(type_, low)
    check_point(type_, high)
    return GeoBox(low, high)


def check_within_box(
    type_: GeometryType | GeographyType, lower: GeoPoint | None, upper: GeoPoint | None, value: bytes
) -> Iterator[Violation]:
    """Find where the positions of a WKB value are outside of a box (BND001, BND002).

    For a geometry this decides whether the box contains it, because edges are straight in every reference system
    (TYP029). For a geography with edges this is necessary, not sufficient. A dimension that one of the corners omits is
    not bounded on that side. For a geography, xmin > xmax is a box across the antimeridian: x >= xmin or x <= xmax.

    Args:
        type_: the type of the column.
        lower: the lower bound; None if there is none.
        upper: the upper bound; None if there is none.
        value: a value of the column as WKB.

    Yields:
        A violation for each dimension of each position that is outside.

    Raises:
        SpecError: NOT010 if the value is not WKB.
    """
    for position in coordinates(read_wkb(value)):
        yield from _ordinates_outside(type_, lower, upper, position)


def _ordinates_outside(
    type_: GeometryType | GeographyType, lower: GeoPoint | None, upper: GeoPoint | None, position: tuple[float, ...]
) -> Iterator[Violation]:
    for name, ordinate in zip("xyzm", position, strict=True):
        if math.isnan(ordinate):
            continue
        low: float | None = getattr(lower, name, None)
        high: float | None = getattr(upper, name, None)
        if name == "x" and low is not None and high is not None and low > high and isinstance(type_, GeographyType):
            if high < ordinate < low:
                message = "an object is outside of the box across the antimeridian"
                yield _box_violation("BND002", message, "/lower_bounds", ordinate, f"at least {low}, or at most {high}")
            continue
        if low is not None and ordinate < low:
            message = f"{name} of an object is below the box"
            yield _box_violation("BND001", message, "/lower_bounds", ordinate, f"at least {low}")
        if high is not None and ordinate > high:
            message = f"{name} of an object is above the box"
            yield _box_violation("BND001", message, "/upper_bounds", ordinate, f"at most {high}")


def _box_violation(code: str, message: str, path: str, found: float, expected: str) -> Violation:
    return Violation(requirement=code, message=message, path=path, found=abbreviated_repr(found), expected=expected)


def _simple_parts(geometry: Geometry) -> Iterator[Geometry]:
    if isinstance(geometry, Collection):
        for member in geometry.members:
            yield from _simple_parts(member)
    else:
        yield geometry


def _total_order(ordinate: float) -> tuple[float, float]:
    """Make the key that sorts -0.0 before 0.0, so that a box does not depend on the order of the values."""
    return ordinate, math.copysign(1.0, ordinate)


def _corner(found: dict[int, float]) -> GeoPoint | None:
    return GeoPoint(found[0], found[1], found.get(2), found.get(3)) if {0, 1} <= found.keys() else None

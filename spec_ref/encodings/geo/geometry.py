"""Geometries in the model of OGC Simple Feature Access 1.2.1 (Appendix G; NOT010).

There are seven kinds of geometry, each in the dimensions XY, XYZ, XYM and XYZM. `spec_ref.encodings.geo.wkb` reads and
writes them as well-known binary, `spec_ref.encodings.geo.wkt` as well-known text. Geographies have the same form; only
the meaning of an edge differs. Shapes are not validated: a ring need not be closed, and a line may have one point.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Iterator
from typing import TypeAlias

from spec_ref.core.records import record

MAX_DEPTH = 64
"""How deeply geometry collections may nest. Real ones nest one or two levels; a hostile value must not exhaust the
stack."""

Coordinate: TypeAlias = tuple[float, ...]
"""The ordinates of one position in the order X, Y, Z, M, with as many entries as its geometry has dimensions."""


class GeometryKind(enum.IntEnum):
    """The kind of a geometry: its name in WKT, and its code in WKB."""

    POINT = 1
    LINESTRING = 2
    POLYGON = 3
    MULTIPOINT = 4
    MULTILINESTRING = 5
    MULTIPOLYGON = 6
    GEOMETRYCOLLECTION = 7


MEMBER_KINDS: dict[GeometryKind, frozenset[GeometryKind]] = {
    GeometryKind.MULTIPOINT: frozenset({GeometryKind.POINT}),
    GeometryKind.MULTILINESTRING: frozenset({GeometryKind.LINESTRING}),
    GeometryKind.MULTIPOLYGON: frozenset({GeometryKind.POLYGON}),
    GeometryKind.GEOMETRYCOLLECTION: frozenset(GeometryKind),
}
"""The kinds of members that a collection may have."""


class Dimensions(enum.IntEnum):
    """The ordinates of a position; the value is what WKB adds to the code of the kind."""

    XY = 0
    XYZ = 1000
    XYM = 2000
    XYZM = 3000

    @property
    def size(self) -> int:
        """The number of ordinates, 2 to 4."""
        return len(self.name)

    @property
    def tag(self) -> str:
        """The suffix that WKT writes after the kind: ``""``, ``"Z"``, ``"M"`` or ``"ZM"``."""
        return self.name[2:]


@record
class Point:
    """One position; the coordinate is None if the point is empty."""

    dimensions: Dimensions
    coordinate: Coordinate | None


@record
class LineString:
    """A sequence of positions, joined by edges."""

    dimensions: Dimensions
    coordinates: tuple[Coordinate, ...]


@record
class Polygon:
    """An outer ring and the rings of its holes."""

    dimensions: Dimensions
    rings: tuple[tuple[Coordinate, ...], ...]


@record
class Collection:
    """A multipoint, multilinestring, multipolygon or geometry collection."""

    kind: GeometryKind
    dimensions: Dimensions
    members: tuple[Geometry, ...]


Geometry: TypeAlias = Point | LineString | Polygon | Collection


def geometry_kind(geometry: Geometry) -> GeometryKind:
    """Find the kind of a geometry.

    Args:
        geometry: a geometry.

    Returns:
        The kind.
    """
    match geometry:
        case Point():
            return GeometryKind.POINT
        case LineString():
            return GeometryKind.LINESTRING
        case Polygon():
            return GeometryKind.POLYGON
        case Collection(kind):
            return kind


def is_empty(coordinate: Coordinate) -> bool:
    """Decide whether a position is that of an empty point: NaN in every dimension.

    Args:
        coordinate: the ordinates of the position.

    Returns:
        Whether it is.
    """
    return all(map(math.isnan, coordinate))


def coordinates(geometry: Geometry) -> Iterator[tuple[float, float, float, float]]:
    """List every position of a geometry.

    Args:
        geometry: a geometry.

    Yields:
        The ordinates ``(x, y, z, m)`` of each position, in order; NaN for a dimension that the geometry does not have.
    """
    match geometry:
        case Point(dimensions, coordinate):
            positions: tuple[Coordinate, ...] = () if coordinate is None else (coordinate,)
        case LineString(dimensions, positions):
            pass
        case Polygon(dimensions, rings):
            positions = tuple(position for ring in rings for position in ring)
        case Collection(members=members):
            for member in members:
                yield from coordinates(member)
            return
    z = dimensions.tag.find("Z") + 2
    m = dimensions.tag.find("M") + 2
    for position in positions:
        yield (
            position[0],
            position[1],
            position[z] if z >= 2 else math.nan,
            position[m] if m >= 2 else math.nan,
        )

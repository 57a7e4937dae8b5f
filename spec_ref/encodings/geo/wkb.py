"""Well-known binary of geometry and geography values in its ISO form (Appendix G; NOT010, SVB010).

A geometry is a byte for the byte order, a 32-bit type code (the kind, plus 1000 for Z and 2000 for M) and the body;
members of a collection are whole geometries.

Decided here, because the standard leaves it open:

- A point without coordinates is written with NaN in every dimension, and a point whose ordinates are all NaN is empty.
- The codes of extended WKB (a flag for Z, M or an SRID in the high bits) are not ISO and are refused.
- Members of a collection have the dimensions of the collection.
"""

from __future__ import annotations

import math
import struct

from spec_ref.core.errors import Description, SpecError, spec_error
from spec_ref.encodings.geo.geometry import (
    MAX_DEPTH,
    MEMBER_KINDS,
    Collection,
    Coordinate,
    Dimensions,
    Geometry,
    GeometryKind,
    LineString,
    Point,
    Polygon,
    geometry_kind,
    is_empty,
)
from spec_ref.encodings.geo.wkt import read_wkt, write_wkt


def wkt_to_wkb(text: str) -> bytes:
    """Convert WKT to WKB.

    Args:
        text: the WKT of one geometry.

    Returns:
        Its ISO WKB, little-endian.

    Raises:
        SpecError: NOT010 if the text is not the WKT of one geometry.
    """
    return write_wkb(read_wkt(text))


def wkb_to_wkt(data: bytes) -> str:
    """Convert WKB to WKT.

    Args:
        data: the ISO WKB of one geometry, in either byte order.

    Returns:
        Its WKT.

    Raises:
        SpecError: NOT010 if the bytes are not the ISO WKB of one geometry.
    """
    return write_wkt(read_wkb(data))


def read_wkb(data: bytes) -> Geometry:
    """Read the ISO WKB of one geometry.

    Args:
        data: the bytes, in either byte order.

    Returns:
        The geometry.

    Raises:
        SpecError: NOT010 if the bytes are not the ISO WKB of one geometry.
    """
    reader = _WkbReader(bytes(data))
    geometry = reader.geometry(depth=0)
    if reader.position != len(reader.data):
        raise reader.error("bytes follow the geometry", expected=f"{reader.position} bytes")
    return geometry


class _WkbReader:
    """A position in WKB bytes. Every count is checked against the bytes that are left before anything is built."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.position = 0
        self.order = "<"

    def error(self, message: str, *, expected: str | None = None) -> SpecError:
        found = Description(f"{len(self.data)} bytes: {self.data[:32].hex().upper()}")
        return spec_error("NOT010", f"WKB: {message} (at byte {self.position})", found=found, expected=expected)

    def need(self, size: int, what: str) -> None:
        if size > len(self.data) - self.position:
            left = len(self.data) - self.position
            raise self.error(f"{size} bytes are needed for {what}, and the data ends after {left}")

    def unsigned(self, what: str) -> int:
        self.need(4, what)
        number = int.from_bytes(self.data[self.position : self.position + 4], "little" if self.order == "<" else "big")
        self.position += 4
        return number

    def count(self, what: str, smallest: int) -> int:
        """Read a count of items that take at least ``smallest`` bytes each."""
        number = self.unsigned(f"the number of {what}")
        self.need(number * smallest, f"{number} {what}")
        return number

    def positions(self, number: int, dimensions: Dimensions) -> tuple[Coordinate, ...]:
        self.need(number * dimensions.size * 8, f"{number} positions")
        ordinates = struct.unpack_from(f"{self.order}{number * dimensions.size}d", self.data, self.position)
        self.position += number * dimensions.size * 8
        return tuple(zip(*(iter(ordinates),) * dimensions.size, strict=True))

    def line(self, dimensions: Dimensions) -> tuple[Coordinate, ...]:
        return self.positions(self.count("positions", dimensions.size * 8), dimensions)

    def header(self) -> tuple[GeometryKind, Dimensions]:
        self.need(5, "the byte order and type of a geometry")
        order = self.data[self.position]
        if order > 1:
            raise self.error(f"the byte order is {order}", expected="0 (big-endian) or 1 (little-endian)")
        self.position += 1
        self.order = "<>"[1 - order]
        code = self.unsigned("the type of a geometry")
        if code >= 1 << 29:
            raise self.error(f"type 0x{code:08X} has the flags of extended WKB (SRID, Z or M)", expected="ISO WKB")
        thousands, kind = divmod(code, 1000)
        if thousands > 3 or not 1 <= kind <= 7:
            raise self.error(f"type {code} is unknown", expected="1 to 7, plus 1000 for Z, 2000 for M, 3000 for both")
        return GeometryKind(kind), Dimensions(thousands * 1000)

    def geometry(self, depth: int) -> Geometry:
        kind, dimensions = self.header()
        match kind:
            case GeometryKind.POINT:
                (coordinate,) = self.positions(1, dimensions)
                return Point(dimensions, None if is_empty(coordinate) else coordinate)
            case GeometryKind.LINESTRING:
                return LineString(dimensions, self.line(dimensions))
            case GeometryKind.POLYGON:
                return Polygon(dimensions, tuple(self.line(dimensions) for _ in range(self.count("rings", 4))))
        if depth == MAX_DEPTH:
            raise self.error("collections are nested too deeply", expected=f"at most {MAX_DEPTH} levels")
        # A geometry without positions has 9 bytes: byte order, type and a count of 0.
        number = self.count("members", 9)
        return Collection(kind, dimensions, tuple(self.member(kind, dimensions, depth) for _ in range(number)))

    def member(self, kind: GeometryKind, dimensions: Dimensions, depth: int) -> Geometry:
        member = self.geometry(depth + 1)
        if geometry_kind(member) not in MEMBER_KINDS[kind] or member.dimensions is not dimensions:
            raise self.error(
                f"a {kind.name} {dimensions.name} has a member {geometry_kind(member).name} {member.dimensions.name}",
                expected="members of the same kind and dimensions",
            )
        return member


def write_wkb(geometry: Geometry) -> bytes:
    """Write a geometry as ISO WKB, little-endian.

    Args:
        geometry: a geometry.

    Returns:
        The bytes.
    """
    parts: list[bytes] = []
    _write_wkb(geometry, parts)
    return b"".join(parts)


def _write_wkb(geometry: Geometry, parts: list[bytes]) -> None:
    parts.append(struct.pack("<BI", 1, geometry.dimensions + geometry_kind(geometry)))
    match geometry:
        case Point(dimensions, coordinate):
            parts.append(_pack((coordinate or (math.nan,) * dimensions.size,)))
        case LineString(_, positions):
            parts += [struct.pack("<I", len(positions)), _pack(positions)]
        case Polygon(_, rings):
            parts.append(struct.pack("<I", len(rings)))
            for ring in rings:
                parts += [struct.pack("<I", len(ring)), _pack(ring)]
        case Collection(members=members):
            parts.append(struct.pack("<I", len(members)))
            for member in members:
                _write_wkb(member, parts)


def _pack(positions: tuple[Coordinate, ...]) -> bytes:
    ordinates = [ordinate for position in positions for ordinate in position]
    return struct.pack(f"<{len(ordinates)}d", *ordinates)

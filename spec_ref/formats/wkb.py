"""Well-known binary and well-known text of geometry and geography values (Appendix G; NOT010, SVB010, SVJ008).

Both are the ISO forms of OGC Simple Feature Access 1.2.1: seven kinds of geometry, each in the dimensions XY, XYZ, XYM
and XYZM. A WKB geometry is a byte that tells the byte order, a 32-bit type code (kind, plus 1000 for Z, 2000 for M) and
the body. Values on the globe have the same form as planar ones; only the meaning of an edge differs.

Decided here, because the standard leaves it open:

- A point without coordinates is written with NaN in every dimension, and a point of nothing but NaN is empty.
- The codes of extended WKB (a flag for Z, M or an SRID in the high bits) are not ISO and are refused.
- WKT spells a NaN coordinate ``NaN``, as the spec does in its ``POINT (1 NaN)``, and an infinite one ``Infinity``.
- The points of a text ``MULTIPOINT`` may stand without parentheses of their own, as older versions of SFA had it.
- Only the encoding is checked: whether a ring is closed or a line has two points is the geometry's own affair.
"""

from __future__ import annotations

import enum
import math
import re
import struct
from collections.abc import Callable, Iterator
from typing import NoReturn, TypeAlias, TypeVar

from spec_ref.errors import SpecError, violation
from spec_ref.records import record

MAX_DEPTH = 64
"""How deep geometry collections may nest. Real ones are one or two deep; a hostile value must not exhaust the stack."""

Coordinate: TypeAlias = tuple[float, ...]
"""The ordinates of one position in the order X, Y, Z, M, with as many entries as its geometry has dimensions."""

T = TypeVar("T")


class Kind(enum.IntEnum):
    """The kind of a geometry: its name in WKT, and its code in WKB."""

    POINT = 1
    LINESTRING = 2
    POLYGON = 3
    MULTIPOINT = 4
    MULTILINESTRING = 5
    MULTIPOLYGON = 6
    GEOMETRYCOLLECTION = 7


MEMBER_KINDS: dict[Kind, frozenset[Kind]] = {
    Kind.MULTIPOINT: frozenset({Kind.POINT}),
    Kind.MULTILINESTRING: frozenset({Kind.LINESTRING}),
    Kind.MULTIPOLYGON: frozenset({Kind.POLYGON}),
    Kind.GEOMETRYCOLLECTION: frozenset(Kind),
}
"""What a collection may hold."""


class Dimensions(enum.IntEnum):
    """Which ordinates a position has; the value is what WKB adds to the code of the kind."""

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
        """What WKT writes after the kind: ``""``, ``"Z"``, ``"M"`` or ``"ZM"``."""
        return self.name[2:]


@record
class Point:
    """One position, or none."""

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

    kind: Kind
    dimensions: Dimensions
    members: tuple[Geometry, ...]


Geometry: TypeAlias = Point | LineString | Polygon | Collection


def kind_of(geometry: Geometry) -> Kind:
    """The kind of a geometry."""
    match geometry:
        case Point():
            return Kind.POINT
        case LineString():
            return Kind.LINESTRING
        case Polygon():
            return Kind.POLYGON
        case Collection(kind):
            return kind


def _is_empty(coordinate: Coordinate) -> bool:
    return all(map(math.isnan, coordinate))


def wkt_to_wkb(text: str) -> bytes:
    """The little-endian ISO WKB of a WKT geometry.

    Raises:
        SpecError: NOT010, if the text is not the WKT of one geometry.
    """
    return write_wkb(read_wkt(text))


def wkb_to_wkt(data: bytes) -> str:
    """The WKT of an ISO WKB geometry of either byte order.

    Raises:
        SpecError: NOT010, if the bytes are not the ISO WKB of one geometry.
    """
    return write_wkt(read_wkb(data))


def coordinates(geometry: Geometry) -> Iterator[tuple[float, float, float, float]]:
    """Every position in a geometry as ``(x, y, z, m)``, in its order; NaN stands for a dimension it does not have."""
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


# Well-known binary


def read_wkb(data: bytes) -> Geometry:
    """Read the ISO WKB of one geometry.

    Raises:
        SpecError: NOT010, if the bytes are not the ISO WKB of one geometry.
    """
    reader = _WkbReader(bytes(data))
    geometry = reader.geometry(depth=0)
    if reader.position != len(reader.data):
        raise reader.error("bytes follow the geometry", expected=f"{reader.position} bytes")
    return geometry


class _WkbReader:
    """A position in WKB bytes. Every count is held against the bytes that are left before anything is built."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.position = 0
        self.order = "<"

    def error(self, message: str, *, expected: str | None = None) -> SpecError:
        found = f"{len(self.data)} bytes: {self.data[:32].hex().upper()}"
        return violation("NOT010", f"WKB: {message} (at byte {self.position})", found=found, expected=expected)

    def need(self, size: int, what: str) -> None:
        if size > len(self.data) - self.position:
            left = len(self.data) - self.position
            raise self.error(f"{what} needs {size} bytes, and {left} are left")

    def unsigned(self, what: str) -> int:
        self.need(4, what)
        number = int.from_bytes(self.data[self.position : self.position + 4], "little" if self.order == "<" else "big")
        self.position += 4
        return number

    def count(self, what: str, smallest: int) -> int:
        """A count of things that take at least ``smallest`` bytes each."""
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

    def header(self) -> tuple[Kind, Dimensions]:
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
        return Kind(kind), Dimensions(thousands * 1000)

    def geometry(self, depth: int) -> Geometry:
        kind, dimensions = self.header()
        match kind:
            case Kind.POINT:
                (coordinate,) = self.positions(1, dimensions)
                return Point(dimensions, None if _is_empty(coordinate) else coordinate)
            case Kind.LINESTRING:
                return LineString(dimensions, self.line(dimensions))
            case Kind.POLYGON:
                return Polygon(dimensions, tuple(self.line(dimensions) for _ in range(self.count("rings", 4))))
        if depth == MAX_DEPTH:
            raise self.error(f"collections nest deeper than {MAX_DEPTH}")
        # 9 bytes is a geometry without positions: byte order, type and a count of 0.
        number = self.count("members", 9)
        return Collection(kind, dimensions, tuple(self.member(kind, dimensions, depth) for _ in range(number)))

    def member(self, kind: Kind, dimensions: Dimensions, depth: int) -> Geometry:
        member = self.geometry(depth + 1)
        if kind_of(member) not in MEMBER_KINDS[kind] or member.dimensions is not dimensions:
            raise self.error(
                f"a {kind.name} {dimensions.name} holds a {kind_of(member).name} {member.dimensions.name}",
                expected="members of its own kind and dimensions",
            )
        return member


def write_wkb(geometry: Geometry) -> bytes:
    """The little-endian ISO WKB of a geometry."""
    parts: list[bytes] = []
    _write_wkb(geometry, parts)
    return b"".join(parts)


def _write_wkb(geometry: Geometry, parts: list[bytes]) -> None:
    parts.append(struct.pack("<BI", 1, geometry.dimensions + kind_of(geometry)))
    match geometry:
        case Point(dimensions, coordinate):
            parts.append(_packed((coordinate or (math.nan,) * dimensions.size,)))
        case LineString(_, positions):
            parts += [struct.pack("<I", len(positions)), _packed(positions)]
        case Polygon(_, rings):
            parts.append(struct.pack("<I", len(rings)))
            for ring in rings:
                parts += [struct.pack("<I", len(ring)), _packed(ring)]
        case Collection(members=members):
            parts.append(struct.pack("<I", len(members)))
            for member in members:
                _write_wkb(member, parts)


def _packed(positions: tuple[Coordinate, ...]) -> bytes:
    ordinates = [ordinate for position in positions for ordinate in position]
    return struct.pack(f"<{len(ordinates)}d", *ordinates)


# Well-known text

_TOKEN = re.compile(
    r"\s*(?:(?P<number>[+-]?(?:(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|(?i:nan|inf(?:inity)?))"
    r"(?![0-9A-Za-z_.+-]))|(?P<word>[A-Za-z]+)|(?P<mark>[(),]))"
)
_TAGGED_KIND = re.compile(f"({'|'.join(kind.name for kind in Kind)})(ZM|Z|M)?")


def read_wkt(text: str) -> Geometry:
    """Read the WKT of one geometry; words may be in either case.

    Raises:
        SpecError: NOT010, if the text is not the WKT of one geometry.
    """
    reader = _WktReader(text)
    geometry = reader.geometry(depth=0)
    if reader.next:
        reader.refuse("text follows the geometry")
    return geometry


class _WktReader:
    """A position in WKT, with the token that stands there (``""`` at the end)."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.start = 0
        self.end = 0
        self.next = ""
        self.is_number = False
        self.advance()

    def refuse(self, message: str, *, expected: str | None = None) -> NoReturn:
        message = f"WKT: {message} (at character {self.start})"
        raise violation("NOT010", message, found=self.text, expected=expected)

    def advance(self) -> str:
        """Go to the next token; returns the one left behind."""
        left = self.next
        self.start = self.end
        match = _TOKEN.match(self.text, self.end)
        if match is None:
            if self.text[self.end :].strip():
                self.refuse("this is not a word, a number, a parenthesis or a comma")
            self.next, self.is_number = "", False
            return left
        self.end = match.end()
        self.is_number = match["number"] is not None
        self.next = match["number"] or match["mark"] or match["word"].upper()
        return left

    def take(self, mark: str) -> None:
        if self.next != mark:
            self.refuse(f"a {mark!r} is missing")
        self.advance()

    def number(self) -> float:
        if not self.is_number:
            self.refuse("a number is missing")
        value = float(self.next)
        if math.isinf(value) and "n" not in self.next.lower():
            self.refuse("the number is outside the range of a double")
        self.advance()
        return value

    def coordinate(self, dimensions: Dimensions) -> Coordinate:
        position = tuple(self.number() for _ in range(dimensions.size))
        if self.is_number:
            expected = f"{dimensions.size} ordinates; Z and M are told by a tag after the kind"
            self.refuse("a position has too many ordinates", expected=expected)
        return position

    def items(self, item: Callable[[], T]) -> tuple[T, ...]:
        """``EMPTY``, or items between parentheses, separated by commas."""
        if self.next == "EMPTY":
            self.advance()
            return ()
        self.take("(")
        found = [item()]
        while self.next == ",":
            self.advance()
            found.append(item())
        self.take(")")
        return tuple(found)

    def header(self) -> tuple[Kind, Dimensions]:
        match = _TAGGED_KIND.fullmatch(self.next)
        if match is None:
            self.refuse("the kind of a geometry is missing", expected=", ".join(kind.name for kind in Kind))
        self.advance()
        tag = match[2] or ""
        if not tag and self.next in {"Z", "M", "ZM"}:
            tag = self.advance()
        return Kind[match[1]], Dimensions[f"XY{tag}"]

    def geometry(self, depth: int) -> Geometry:
        kind, dimensions = self.header()
        if kind is not Kind.GEOMETRYCOLLECTION:
            return self.body(kind, dimensions)
        if depth == MAX_DEPTH:
            self.refuse(f"collections nest deeper than {MAX_DEPTH}")
        return Collection(kind, dimensions, self.items(lambda: self.member(dimensions, depth)))

    def member(self, dimensions: Dimensions, depth: int) -> Geometry:
        member = self.geometry(depth + 1)
        if member.dimensions is not dimensions:
            self.refuse(f"a collection {dimensions.name} holds a member {member.dimensions.name}")
        return member

    def body(self, kind: Kind, dimensions: Dimensions) -> Geometry:
        match kind:
            case Kind.POINT:
                return self.point(dimensions)
            case Kind.LINESTRING:
                return LineString(dimensions, self.items(lambda: self.coordinate(dimensions)))
            case Kind.POLYGON:
                return Polygon(dimensions, self.items(lambda: self.items(lambda: self.coordinate(dimensions))))
            case Kind.MULTIPOINT:
                return Collection(kind, dimensions, self.items(lambda: self.multipoint_member(dimensions)))
        (member_kind,) = MEMBER_KINDS[kind]
        return Collection(kind, dimensions, self.items(lambda: self.body(member_kind, dimensions)))

    def point(self, dimensions: Dimensions) -> Point:
        found = self.items(lambda: self.coordinate(dimensions))
        if len(found) > 1:
            self.refuse("a point has one position")
        return Point(dimensions, None if not found or _is_empty(found[0]) else found[0])

    def multipoint_member(self, dimensions: Dimensions) -> Point:
        if not self.is_number:
            return self.point(dimensions)
        coordinate = self.coordinate(dimensions)
        return Point(dimensions, None if _is_empty(coordinate) else coordinate)


def write_wkt(geometry: Geometry) -> str:
    """The WKT of a geometry: words in capitals, numbers in the fewest digits that give the same double."""
    tag = geometry.dimensions.tag
    return f"{kind_of(geometry).name}{tag and ' ' + tag} {_body_text(geometry)}"


def _body_text(geometry: Geometry) -> str:
    match geometry:
        case Point(_, coordinate):
            return _line_text(() if coordinate is None else (coordinate,))
        case LineString(_, positions):
            return _line_text(positions)
        case Polygon(_, rings):
            return _list_text([_line_text(ring) for ring in rings])
        case Collection(kind, _, members):
            write = write_wkt if kind is Kind.GEOMETRYCOLLECTION else _body_text
            return _list_text([write(member) for member in members])


def _line_text(positions: tuple[Coordinate, ...]) -> str:
    return _list_text([" ".join(map(_number_text, position)) for position in positions])


def _list_text(items: list[str]) -> str:
    return f"({', '.join(items)})" if items else "EMPTY"


def _number_text(number: float) -> str:
    if math.isfinite(number):
        return repr(number).removesuffix(".0")
    return "NaN" if math.isnan(number) else f"{'-' if number < 0 else ''}Infinity"

"""Well-known text of geometry and geography values in its ISO form (Appendix G; NOT010, SVJ008).

Decided here, because the standard leaves it open:

- A NaN coordinate is written ``NaN``, as the spec does in its ``POINT (1 NaN)``, and an infinite one ``Infinity``.
- A reader accepts words in either case, and the points of a ``MULTIPOINT`` without parentheses around each, as older
  versions of the standard had it. Z and M require a tag; ``POINT (1 2 3)`` is refused.
- An SRID before the text is not ISO WKT and is refused.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import NoReturn, TypeVar

from spec_ref.core.errors import spec_error
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

T = TypeVar("T")

_TOKEN = re.compile(
    r"\s*(?:(?P<number>[+-]?(?:(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|(?i:nan|inf(?:inity)?))"
    r"(?![0-9A-Za-z_.+-]))|(?P<word>[A-Za-z]+)|(?P<mark>[(),]))"
)
_TAGGED_KIND = re.compile(f"({'|'.join(kind.name for kind in GeometryKind)})(ZM|Z|M)?")


def read_wkt(text: str) -> Geometry:
    """Read the WKT of one geometry.

    Args:
        text: the WKT; words may be in either case.

    Returns:
        The geometry.

    Raises:
        SpecError: NOT010 if the text is not the WKT of one geometry.
    """
    reader = _WktReader(text)
    geometry = reader.geometry(depth=0)
    if reader.next:
        reader.refuse("text follows the geometry")
    return geometry


class _WktReader:
    """A position in WKT, with the token at this position (``""`` at the end)."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.start = 0
        self.end = 0
        self.next = ""
        self.is_number = False
        self.advance()

    def refuse(self, message: str, *, expected: str | None = None) -> NoReturn:
        message = f"WKT: {message} (at character {self.start})"
        raise spec_error("NOT010", message, found=self.text, expected=expected)

    def advance(self) -> str:
        """Go to the next token, and return the one before it."""
        left = self.next
        self.start = self.end
        match = _TOKEN.match(self.text, self.end)
        if match is None:
            if self.text[self.end :].strip():
                self.refuse("the character does not begin a word, number, parenthesis or comma")
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
            expected = f"{dimensions.size} ordinates; Z and M need a tag after the kind"
            self.refuse("a position has too many ordinates", expected=expected)
        return position

    def items(self, item: Callable[[], T]) -> tuple[T, ...]:
        """Read ``EMPTY``, or items between parentheses, separated by commas."""
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

    def header(self) -> tuple[GeometryKind, Dimensions]:
        match = _TAGGED_KIND.fullmatch(self.next)
        if match is None:
            self.refuse("the kind of a geometry is missing", expected=", ".join(kind.name for kind in GeometryKind))
        self.advance()
        tag = match[2] or ""
        if not tag and self.next in {"Z", "M", "ZM"}:
            tag = self.advance()
        return GeometryKind[match[1]], Dimensions[f"XY{tag}"]

    def geometry(self, depth: int) -> Geometry:
        kind, dimensions = self.header()
        if kind is not GeometryKind.GEOMETRYCOLLECTION:
            return self.body(kind, dimensions)
        if depth == MAX_DEPTH:
            self.refuse("collections are nested too deeply", expected=f"at most {MAX_DEPTH} levels")
        return Collection(kind, dimensions, self.items(lambda: self.member(dimensions, depth)))

    def member(self, dimensions: Dimensions, depth: int) -> Geometry:
        member = self.geometry(depth + 1)
        if member.dimensions is not dimensions:
            self.refuse(f"a collection {dimensions.name} has a member {member.dimensions.name}")
        return member

    def body(self, kind: GeometryKind, dimensions: Dimensions) -> Geometry:
        match kind:
            case GeometryKind.POINT:
                return self.point(dimensions)
            case GeometryKind.LINESTRING:
                return LineString(dimensions, self.items(lambda: self.coordinate(dimensions)))
            case GeometryKind.POLYGON:
                return Polygon(dimensions, self.items(lambda: self.items(lambda: self.coordinate(dimensions))))
            case GeometryKind.MULTIPOINT:
                return Collection(kind, dimensions, self.items(lambda: self.multipoint_member(dimensions)))
        (member_kind,) = MEMBER_KINDS[kind]
        return Collection(kind, dimensions, self.items(lambda: self.body(member_kind, dimensions)))

    def point(self, dimensions: Dimensions) -> Point:
        found = self.items(lambda: self.coordinate(dimensions))
        if len(found) > 1:
            self.refuse("the point does not have one position")
        return Point(dimensions, None if not found or is_empty(found[0]) else found[0])

    def multipoint_member(self, dimensions: Dimensions) -> Point:
        if not self.is_number:
            return self.point(dimensions)
        coordinate = self.coordinate(dimensions)
        return Point(dimensions, None if is_empty(coordinate) else coordinate)


def write_wkt(geometry: Geometry) -> str:
    """Write a geometry as WKT: words in capitals, numbers in the fewest digits that give the same double.

    Args:
        geometry: a geometry.

    Returns:
        The text.
    """
    tag = geometry.dimensions.tag
    return f"{geometry_kind(geometry).name}{tag and ' ' + tag} {_body_text(geometry)}"


def _body_text(geometry: Geometry) -> str:
    match geometry:
        case Point(_, coordinate):
            return _line_text(() if coordinate is None else (coordinate,))
        case LineString(_, positions):
            return _line_text(positions)
        case Polygon(_, rings):
            return _list_text([_line_text(ring) for ring in rings])
        case Collection(kind, _, members):
            write = write_wkt if kind is GeometryKind.GEOMETRYCOLLECTION else _body_text
            return _list_text([write(member) for member in members])


def _line_text(positions: tuple[Coordinate, ...]) -> str:
    return _list_text([" ".join(map(_number_text, position)) for position in positions])


def _list_text(items: list[str]) -> str:
    return f"({', '.join(items)})" if items else "EMPTY"


def _number_text(number: float) -> str:
    if math.isfinite(number):
        return repr(number).removesuffix(".0")
    return "NaN" if math.isnan(number) else f"{'-' if number < 0 else ''}Infinity"

"""Shapes without positions, and collections with members of a wrong kind, in WKT and WKB (Appendix D)."""

from __future__ import annotations

import struct
from collections.abc import Iterator

from tools.derive.metadata import topic_files
from tools.derive.vector import INVALID, Vector, VectorFile, any_of, ok

ORIGIN = "derivation: well-known binary by hand, ISO type codes"
TYPE = "geometry(OGC:CRS84)"

EMPTY = [("LINESTRING", 2), ("POLYGON", 3), ("MULTIPOINT", 4), ("MULTILINESTRING", 5), ("GEOMETRYCOLLECTION", 7)]


def _wkb(kind: int, count: int, order: str = "<") -> bytes:
    return struct.pack(order + "BII", order == "<", kind, count)


POINT_Z = struct.pack("<BI3d", 1, 1001, 1.0, 2.0, 3.0)
MIXED = [
    ("multipoint-of-point-z", _wkb(4, 1) + POINT_Z, "a member of other dimensions"),
    ("multipoint-of-line", _wkb(4, 1) + _wkb(2, 0), "a member is not a point"),
    ("collection-of-point-z", _wkb(7, 1) + POINT_Z, "a member of other dimensions"),
]


def _reads() -> Iterator[Vector]:
    for name, kind in EMPTY:
        little, big = (_wkb(kind, 0, order).hex().upper() for order in "<>")
        args = {"type": TYPE, "json": f"{name} EMPTY"}
        yield Vector(
            f"json-decode-geo-{name.lower()}-empty",
            ("SVJ008",),
            args,
            any_of(ok(little), ok(big)),
            ORIGIN,
            "a shape without positions, in either byte order",
            ("E3",),
        )


def _refusals() -> Iterator[Vector]:
    for name, data, note in MIXED:
        args = {"type": TYPE, "bytes": data.hex().upper()}
        yield Vector(f"json-encode-refuses-geo-{name}", ("SVJ008",), args, INVALID, ORIGIN, note, ("E3",))


def files() -> Iterator[VectorFile]:
    """Yield the vector files."""
    yield from topic_files("single-values-json/decode-geo-empty", "json-value.decode", list(_reads()))
    yield from topic_files("single-values-json/encode-geo-mixed", "json-value.encode", list(_refusals()))

"""Bounds of geometry and geography (Bounds for Geometry and Geography)."""

from __future__ import annotations

import struct
from collections.abc import Iterator

from tools.derive.cases.bounds_file import BOUNDS, bounds_file
from tools.derive.vector import INVALID, Vector, VectorFile, any_of, ok

GEO = "Bounds for Geometry and Geography"

GEOMETRY = "geometry(OGC:CRS84)"

GEOGRAPHY = "geography(OGC:CRS84, spherical)"


def _point(*coordinates: float) -> str:
    return struct.pack(f"<{len(coordinates)}d", *coordinates).hex().upper()


NAN = float("nan")

POINTS: list[tuple[str, str, dict[str, float], str, str]] = [
    ("xy", GEOMETRY, {"x": 30.0, "y": 10.0}, _point(30, 10), "x:y"),
    ("xyz", GEOMETRY, {"x": 30.0, "y": 10.0, "z": 5.0}, _point(30, 10, 5), "x:y:z"),
    ("xyzm", GEOMETRY, {"x": 30.0, "y": 10.0, "z": 5.0, "m": 7.0}, _point(30, 10, 5, 7), "x:y:z:m"),
    ("negative", GEOMETRY, {"x": -122.5, "y": -47.25}, _point(-122.5, -47.25), ""),
    ("zero", GEOMETRY, {"x": 0.0, "y": 0.0}, _point(0, 0), ""),
    (
        "geometry-beyond-degrees",
        GEOMETRY,
        {"x": 500000.0, "y": 4649776.0},
        _point(500000, 4649776),
        "only the coordinates of a geography must be degrees",
    ),
    (
        "geography-corner",
        GEOGRAPHY,
        {"x": -180.0, "y": -90.0},
        _point(-180, -90),
        "the ends of the ranges belong to them",
    ),
    (
        "geography-other-corner",
        GEOGRAPHY,
        {"x": 180.0, "y": 90.0},
        _point(180, 90),
        "the ends of the ranges belong to them",
    ),
    ("geography-xyz", GEOGRAPHY, {"x": 30.0, "y": 10.0, "z": 9000.0}, _point(30, 10, 9000), "the height has no range"),
]

BAD_POINTS = [
    ("geometry-no-y", GEOMETRY, {"x": 30.0}, ("SVB011",), "x and y are mandatory"),
    ("geometry-no-x", GEOMETRY, {"y": 10.0}, ("SVB011",), "x and y are mandatory"),
    ("geometry-no-coordinates", GEOMETRY, {}, ("SVB011",), "x and y are mandatory"),
    ("geometry-x-nan", GEOMETRY, {"x": "NaN", "y": 10.0}, ("BND004", "SVB011"), "without X there is no box"),
    ("geometry-y-nan", GEOMETRY, {"x": 30.0, "y": "NaN"}, ("BND004", "SVB011"), "without Y there is no box"),
    ("geometry-list", GEOMETRY, [30.0, 10.0], ("SVB011",), "a point has named coordinates"),
    ("geometry-text", GEOMETRY, "POINT (30 10)", ("SVB011",), "a point has named coordinates"),
    ("geography-no-y", GEOGRAPHY, {"x": 30.0}, ("SVB011",), "x and y are mandatory"),
    ("geography-x-nan", GEOGRAPHY, {"x": "NaN", "y": 10.0}, ("BND004", "SVB011"), "without X there is no box"),
    ("geography-x-181", GEOGRAPHY, {"x": 181.0, "y": 10.0}, ("BND003",), "X is -180 to 180"),
    ("geography-x-minus-181", GEOGRAPHY, {"x": -181.0, "y": 10.0}, ("BND003",), "X is -180 to 180"),
    ("geography-y-91", GEOGRAPHY, {"x": 30.0, "y": 91.0}, ("BND003",), "Y is -90 to 90"),
    ("geography-y-minus-91", GEOGRAPHY, {"x": 30.0, "y": -90.5}, ("BND003",), "Y is -90 to 90"),
]

POINT_LENGTHS = [
    ("empty", "", "x and y are mandatory"),
    ("x-only", _point(30), "x and y are mandatory"),
    ("15-bytes", _point(30, 10)[:-2], "a byte of y is missing"),
    ("17-bytes", _point(30, 10) + "00", "a byte too many"),
    ("23-bytes", _point(30, 10, 5)[:-2], "a byte of z is missing"),
    ("40-bytes", _point(30, 10, 5, 7, 9), "five coordinates"),
    ("wkb", "0101000000" + _point(30, 10), "21 bytes: a bound is not a well-known binary"),
]


def files() -> Iterator[VectorFile]:
    """Derive the vector files."""

    def vectors(operation: str) -> list[Vector]:
        encode = operation == "encode"
        xym = {"x": 30.0, "y": 10.0, "m": 7.0}
        # The text does not say which NaN means "no z": here are NaNs of both signs, and Go's NaN.
        nans = [_point(30, 10, NAN, 7), _point(30, 10, -NAN, 7)]
        nans.append(nans[0].replace("000000000000F87F", "010000000000F87F"))
        return [
            Vector(
                f"bound-{operation}-geo-{name}",
                ("SVB011",),
                {"type": type_, "value": point} if encode else {"type": type_, "bytes": data},
                ok(data if encode else point),
                "derivation: the coordinates as 8-byte little-endian IEEE 754",
                note,
            )
            for name, type_, point, data, note in POINTS
        ] + [
            Vector(
                f"bound-{operation}-geo-xym",
                ("SVB011",),
                {"type": GEOMETRY, "value": xym} if encode else {"type": GEOMETRY, "bytes": _point(30, 10, NAN, 7)},
                any_of(*map(ok, nans)) if encode else ok(xym),
                "derivation: the coordinates as 8-byte little-endian IEEE 754, NaN for z",
                "x:y:NaN:m",
                ("B8",) if encode else (),
            ),
        ]

    yield bounds_file("encode-geo", "bound.encode", BOUNDS, vectors("encode"))
    yield bounds_file("decode-geo", "bound.decode", BOUNDS, vectors("decode"))
    yield bounds_file(
        "encode-geo-refusals",
        "bound.encode",
        BOUNDS,
        [
            Vector(
                f"bound-refuse-{name}",
                codes,
                {"type": type_, "value": value},
                INVALID,
                f"spec: {BOUNDS if 'SVB011' in codes else GEO}",
                note,
            )
            for name, type_, value, codes, note in BAD_POINTS
            if "SVB011" in codes
        ],
    )
    yield bounds_file(
        "encode-geography-range",
        "bound.encode",
        GEO,
        [
            Vector(f"bound-refuse-{name}", codes, {"type": type_, "value": value}, INVALID, f"spec: {GEO}", note)
            for name, type_, value, codes, note in BAD_POINTS
            if "SVB011" not in codes
        ],
    )
    yield bounds_file(
        "decode-geo-refusals",
        "bound.decode",
        BOUNDS,
        [
            Vector(
                f"bound-refuse-decode-{type_.split('(')[0]}-{name}",
                ("SVB011",),
                {"type": type_, "bytes": data},
                INVALID,
                f"spec: {BOUNDS}",
                note,
            )
            for type_ in (GEOMETRY, GEOGRAPHY)
            for name, data, note in POINT_LENGTHS
        ],
    )

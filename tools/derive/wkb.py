"""Well-known binary of simple geometries (OGC Simple Features 1.2.1, ISO type codes), in either byte order."""

from __future__ import annotations

import struct
from collections.abc import Sequence

_OFFSETS = {"": 0, "Z": 1000, "M": 2000, "ZM": 3000}

Position = tuple[float, ...]


def _header(order: str, code: int, dimensions: str) -> bytes:
    return struct.pack(f"{order}BI", 1 if order == "<" else 0, code + _OFFSETS[dimensions])


def _positions(order: str, positions: Sequence[Position]) -> bytes:
    return b"".join(struct.pack(f"{order}{len(position)}d", *position) for position in positions)


def point(order: str, dimensions: str, position: Position) -> bytes:
    """Return a point; ``order`` is ``<`` or ``>``, ``dimensions`` is empty, Z, M or ZM."""
    return _header(order, 1, dimensions) + _positions(order, [position])


def line_string(order: str, dimensions: str, positions: Sequence[Position]) -> bytes:
    """Return a line string."""
    return _header(order, 2, dimensions) + struct.pack(f"{order}I", len(positions)) + _positions(order, positions)


def polygon(order: str, dimensions: str, rings: Sequence[Sequence[Position]]) -> bytes:
    """Return a polygon: its outer ring and its holes."""
    body = b"".join(struct.pack(f"{order}I", len(ring)) + _positions(order, ring) for ring in rings)
    return _header(order, 3, dimensions) + struct.pack(f"{order}I", len(rings)) + body

"""A vector file of bounds."""

from __future__ import annotations

from tools.derive.vector import Vector, VectorFile

BOUNDS = "Bound serialization"


def bounds_file(topic: str, operation: str, section: str, vectors: list[Vector]) -> VectorFile:
    """Return the file of a topic."""
    return VectorFile(f"bounds/{topic}.json", operation, section, tuple(vectors))

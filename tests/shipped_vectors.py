"""The vectors that come with the tool, which the tests of a process read once: to read them takes a second."""

from __future__ import annotations

from functools import cache

from conformance import vectors


@cache
def shipped_vectors() -> tuple[vectors.Vector, ...]:
    """Return all vectors; nothing may change them."""
    return vectors.load(vectors.shipped())

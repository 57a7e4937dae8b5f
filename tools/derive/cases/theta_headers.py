"""Compact Theta sketches whose header states more words than there are, or than a header may have."""

from __future__ import annotations

from collections.abc import Iterator

from tools.derive.cases.theta import CODES, ORIGIN, SECTION
from tools.derive.theta import sketch
from tools.derive.vector import INVALID, Vector, VectorFile

ROWS = [
    ("header-cut-at-8", sketch([], 5)[:8], "a header of 3 words, of which one is present"),
    ("header-cut-at-16", sketch([], 5)[:16], "a header of 3 words, of which two are present"),
    (
        "header-of-4-words",
        bytes([4]) + sketch([], 5)[1:] + bytes(8),
        "a header of 4 words, all present, without hashes",
    ),
]


def files() -> Iterator[VectorFile]:
    """Yield the vector file."""
    vectors = [
        Vector(f"theta-decode-refuses-{name}", CODES, {"bytes": data.hex().upper()}, INVALID, ORIGIN, note)
        for name, data, note in ROWS
    ]
    yield VectorFile("puffin/theta-headers.json", "theta.decode", SECTION, tuple(vectors))

"""Manifests that would break a rule of newer versions, in versions without this rule."""

from __future__ import annotations

from collections.abc import Iterator

from tools.derive.cases.manifest_checks import SPEC, entry_in_x, manifest_with_all_columns
from tools.derive.cases.manifest_reads import LAYOUT
from tools.derive.json_types import JsonObject
from tools.derive.manifests import SCHEMA
from tools.derive.metadata import topic_files
from tools.derive.vector import Vector, VectorFile, ok

KEPT: JsonObject = {"snapshot_id": 3051729675574597004}
ROWS = [
    (
        "existing",
        1,
        ("MAN012",),
        manifest_with_all_columns(1, [entry_in_x(0, **KEPT)]),
        "v1 has no sequence numbers that a kept entry could have",
    ),
    (
        "deleted",
        1,
        ("MAN012",),
        manifest_with_all_columns(1, [entry_in_x(2, **KEPT)]),
        "v1 has no sequence numbers that a deleted entry could have",
    ),
]


def files() -> Iterator[VectorFile]:
    """Yield the vector files."""
    vectors: list[Vector] = []
    for name, version, codes, data, note in ROWS:
        args = {"bytes": data.hex().upper(), "schema": SCHEMA, "specs": [SPEC]}
        vectors.append(Vector(f"manifest-check-v{version}-{name}", codes, args, ok([]), LAYOUT, note, only=(version,)))
    yield from topic_files("manifests/check-older-versions", "manifest.check", vectors)

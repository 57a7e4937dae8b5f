"""Members that every format version requires, each missing in a version that no other vector covers."""

from __future__ import annotations

from collections.abc import Iterator

from tools.derive.metadata import DROP, apply_edits, topic_files
from tools.derive.metadata_bases import BASES
from tools.derive.vector import INVALID, Vector, VectorFile

ORIGIN = "derivation: a valid document with one change, by hand, that the requirement rules out"

ROWS = [
    (
        "v1-ref-without-type",
        "v1-rich",
        "REF002",
        {"/refs": {"main": {"snapshot-id": 3051729675574597004}}},
        "a reference has no type",
    ),
    ("v2-order-without-fields", "v2-rich", "SRT006", {"/sort-orders/1/fields": DROP}, "an order has no fields"),
    ("v3-order-without-fields", "v3-small", "SRT006", {"/sort-orders/0/fields": DROP}, "an order has no fields"),
    ("v3-spec-without-fields", "v3-small", "PAR016", {"/partition-specs/0/fields": DROP}, "a spec has no fields"),
    ("v3-snapshot-without-time", "v3-small", "SNP004", {"/snapshots/1/timestamp-ms": DROP}, "a snapshot has no time"),
    ("v3-ref-without-type", "v3-small", "REF002", {"/refs/test/type": DROP}, "a reference has no type"),
]


def _vectors() -> Iterator[Vector]:
    for name, base, code, edits, note in ROWS:
        args = {"metadata": apply_edits(BASES[base], edits), "select": ["format-version", "location"]}
        yield Vector(f"metadata-missing-{name}", (code,), args, INVALID, ORIGIN, note, only=(int(name[1]),))


def files() -> Iterator[VectorFile]:
    """Yield the vector files."""
    yield from topic_files("table-metadata/missing-by-version", "metadata.read", list(_vectors()))

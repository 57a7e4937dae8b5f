"""Manifests with entries whose value does not fit its column: an int of 33 bits, a count that is null."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tools.derive.cases.manifest_checks import SPEC, entry_in_x, manifest_with_all_columns
from tools.derive.cases.manifest_list_checks import LISTED
from tools.derive.cases.manifest_reads import LAYOUT
from tools.derive.manifests import SCHEMA, SNAPSHOT, counts, listed_form
from tools.derive.metadata import topic_files
from tools.derive.vector import INVALID, Vector, VectorFile


def _optional_counts(schema: Any) -> None:
    """Make the values of value_counts nullable (field 120)."""
    if isinstance(schema, list):
        for one_ in schema:
            _optional_counts(one_)
    if isinstance(schema, dict):
        if schema.get("field-id") == 120:
            schema["type"] = ["null", "long"]
        for member in schema.values():
            _optional_counts(member)


ROWS = [
    (
        "int-of-33-bits",
        "DFL021",
        manifest_with_all_columns(2, [entry_in_x(snapshot_id=SNAPSHOT, file={"sort_order_id": 1 << 31})]),
        "2**31 is stored for an int",
    ),
    (
        "count-null",
        "DFL012",
        manifest_with_all_columns(
            2, [entry_in_x(snapshot_id=SNAPSHOT, file={"value_counts": counts({1: None})})], change=_optional_counts
        ),
        "a count of a map is null",
    ),
]


def _vectors() -> Iterator[Vector]:
    for name, code, data, note in ROWS:
        entry = listed_form({**LISTED, "manifest_length": len(data)})
        args = {"bytes": data.hex().upper(), "manifest_file": entry, "schema": SCHEMA, "specs": [SPEC]}
        yield Vector(f"manifest-read-refuses-{name}", (code,), args, INVALID, LAYOUT, note, only=(2,))


def files() -> Iterator[VectorFile]:
    """Yield the vector files."""
    yield from topic_files("manifests/refusals-values", "manifest.read", list(_vectors()))

"""The tables of the grid: new ones that the reference writes, and golden ones of Iceberg-Java and PyIceberg.

`TABLES` are changed in every cell. `MORE_TABLES` have fields that none of these has, and are changed in these alone.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from conformance.adapter_sdk.script_steps import follow
from conformance.operations.writing.reference import ReferenceWriter
from conformance.vectors.golden_places import PLACE
from conformance.vectors.golden_tables import materialize
from spec_ref.encodings.puffin.file import Blob, write_puffin
from tools.grid.statistics_files import add_partition_statistics
from tools.grid.workbench import Workbench

COLUMNS = [
    {"id": 1, "name": "id", "required": True, "type": "long"},
    {"id": 2, "name": "p", "required": False, "type": "int"},
    {"id": 3, "name": "x", "required": False, "type": "double"},
    {"id": 4, "name": "s", "required": False, "type": "string"},
]


def _rows(first: int, last: int) -> list[dict[str, Any]]:
    return [{"id": str(number), "p": number % 2, "x": number / 4, "s": f"v{number}"} for number in range(first, last)]


def _operations(version: int) -> list[dict[str, Any]]:
    """Return the operations that make a partitioned and sorted table with two appends, and with deletes from v2 on."""
    merge = (
        []
        if version == 1
        else [{"op": "delete", "filter": {"type": "eq", "term": "id", "value": 2}, "mode": "merge-on-read"}]
    )
    return [
        {
            "op": "create",
            "format_version": version,
            "schema": {"type": "struct", "fields": COLUMNS},
            "partition": [{"source": "p", "transform": "identity", "name": "p"}],
            "sort": [{"source": "id"}],
            "properties": {"owner": "grid"},
        },
        {"op": "append", "rows": _rows(0, 6)},
        {"op": "tag", "name": "first"},
        *merge,
        {"op": "append", "rows": _rows(6, 10)},
    ]


def reference(version: int) -> Callable[[Path, Path], Workbench]:
    """Return a function that opens a table of the reference, with a statistics file."""

    def open_(root: Path, folder: Path) -> Workbench:
        place = root / f"reference-v{version}"
        if not place.is_dir():
            operations = [one for one in _operations(version) if version > 1 or one["op"] != "tag"]
            follow(ReferenceWriter(str(place)), operations, "the reference")
        bench = Workbench(str(place), folder)
        _statistics(bench)
        return bench

    return open_


def with_options(root: Path, folder: Path) -> Workbench:
    """Open a table of the reference with optional fields, equality deletes and a rewritten manifest."""
    place = root / "reference-options"
    if not place.is_dir():
        create, first, *_, second = _operations(3)
        deletes = {"op": "delete-equal", "rows": [{"id": "2"}]}
        operations = [create, first, deletes, second, {"op": "rewrite-manifests"}]
        follow(ReferenceWriter(str(place)), operations, "the reference")
    bench = Workbench(str(place), folder)
    _statistics(bench, compression_codec="zstd")
    add_partition_statistics(bench)
    bench.schema["identifier-field-ids"] = [1]
    bench.schema["fields"][0] |= {"doc": "a number", "initial-default": 0, "write-default": 1}
    bench.adopt_schemas()
    branch = {
        "snapshot-id": bench.metadata["snapshots"][0]["snapshot-id"],
        "type": "branch",
        "min-snapshots-to-keep": 2,
        "max-snapshot-age-ms": 1000,
        "max-ref-age-ms": 1000,
    }
    bench.metadata["refs"] = {"side": branch, **bench.metadata["refs"]}
    key = {"key-id": "k1", "encrypted-key-metadata": "AQID", "encrypted-by-id": "k0", "properties": {"a": "b"}}
    bench.metadata["encryption-keys"] = [key]
    return bench


def _statistics(bench: Workbench, compression_codec: str | None = None) -> None:
    snapshot = bench.snapshot
    number = snapshot.get("sequence-number", 0)
    blob = Blob(
        type="grid-blob-v1",
        fields=(1,),
        snapshot_id=snapshot["snapshot-id"],
        sequence_number=number,
        payload=b"contents",
        compression_codec=compression_codec,
        properties={"a": "b"},
    )
    content = write_puffin([blob], properties={"created-by": "grid"})
    path = f"{bench.root}/metadata/grid.stats"
    bench.replaced[path] = content
    fields = {
        "type": blob.type,
        "snapshot-id": snapshot["snapshot-id"],
        "sequence-number": number,
        "fields": [1],
        "properties": {"a": "b"},
    }
    bench.metadata["statistics"] = [
        {
            "snapshot-id": snapshot["snapshot-id"],
            "statistics-path": path,
            "file-size-in-bytes": len(content),
            "file-footer-size-in-bytes": int.from_bytes(content[-12:-8], "little") + 16,
            "blob-metadata": [fields],
        }
    ]


def golden(name: str) -> Callable[[Path, Path], Workbench]:
    """Return a function that opens a golden table."""

    def open_(root: Path, folder: Path) -> Workbench:
        if not (PLACE / name).is_dir():
            materialize([name])
        return Workbench(name, folder)

    return open_


TABLES: dict[str, Callable[[Path, Path], Workbench]] = {
    "reference v1": reference(1),
    "reference v2": reference(2),
    "reference v3": reference(3),
    "Iceberg-Java v1": golden("partition-identity-v1"),
    "Iceberg-Java v2": golden("partition-values-missing-parquet"),
    "Iceberg-Java v3": golden("deletion-vectors-parquet"),
    "PyIceberg v1": golden("pyiceberg-types-v1"),
    "PyIceberg v2": golden("pyiceberg-partitioned"),
}
"""The tables by their names on the page."""

MORE_TABLES: dict[str, Callable[[Path, Path], Workbench]] = {
    "reference v3 with options": with_options,
    "vector v1 with manifests": golden("plan-v1-manifests"),
}
"""Tables for the cells that none of `TABLES` has."""

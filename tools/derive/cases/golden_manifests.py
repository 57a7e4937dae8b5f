"""Manifests and manifest lists that released engines wrote (``vectors/golden/manifests``).

Their content follows from the statements that made the tables (``tools/golden/make_manifests.py``): id 34 is in bucket
3 of 4, and 2017-11-16 is day 17486. Each statement writes one manifest, and a deletion rewrites the manifest of the
deleted rows.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tools.derive.json_types import JsonObject
from tools.derive.vector import Vector, ok

GOLDEN = Path(__file__).resolve().parents[3] / "vectors" / "golden" / "manifests"
SCHEMA: JsonObject = {
    "type": "struct",
    "schema-id": 0,
    "fields": [
        {"id": 1, "name": "id", "required": False, "type": "long"},
        {"id": 2, "name": "ts", "required": False, "type": "timestamptz"},
        {"id": 3, "name": "a b", "required": False, "type": "string"},
        {"id": 4, "name": "n", "required": False, "type": "int"},
        {"id": 5, "name": "f", "required": False, "type": "float"},
    ],
}
SPEC: JsonObject = {
    "spec-id": 0,
    "fields": [
        {"source-id": 1, "field-id": 1000, "name": "id_bucket", "transform": "bucket[4]"},
        {"source-id": 2, "field-id": 1001, "name": "ts_day", "transform": "day"},
        {"source-id": 3, "field-id": 1002, "name": "a b", "transform": "identity"},
    ],
}
FULL = {"1000": 3, "1001": "2017-11-16", "1002": "x"}
BOUNDS = (struct.pack("<i", 3), struct.pack("<i", 17486), b"x")
STATUS = ("existing", "added", "deleted")
GONE = 3
"""The number of the statement that deletes the file of statement 2."""

MANIFESTS: dict[str, tuple[int, ...]] = {
    "iceberg-java-v1-3": (2, 1),
    "iceberg-java-v2-3": (2, 1),
    "iceberg-java-v2-4": (4,),
    "iceberg-java-v3-3": (2, 1),
    "iceberg-java-v3-4": (4,),
    "pyiceberg-v1-3": (2, 1),
    "pyiceberg-v2-3": (1, 2),
}
"""The snapshots whose manifests the vectors read, and the statement that added the file of each."""

LISTS: dict[str, tuple[int, ...]] = {
    "iceberg-java-v1-3": (2, 1),
    "iceberg-java-v2-4": (1, 4),
    "iceberg-java-v3-4": (1, 4),
    "pyiceberg-v1-3": (2, 1),
    "pyiceberg-v2-2": (2, 1),
}
"""The snapshots whose lists the vectors read, and the statement that added the file of each manifest, in order."""

FILES: dict[str, dict[int, str]] = {
    "iceberg-java-v1-3": {2: "0", 1: "1"},
    "iceberg-java-v2-4": {4: "0", 1: "1"},
    "iceberg-java-v3-4": {4: "0", 1: "1"},
    "pyiceberg-v1-3": {2: "0", 1: "1"},
    "pyiceberg-v2-2": {1: "0", 2: "1"},
}
"""The file of each of those manifests."""


@cache
def _snapshots() -> dict[str, tuple[str, JsonObject]]:
    """Return the engine with its version and the content of the index, by the name of the snapshot."""
    found: dict[str, tuple[str, JsonObject]] = {}
    for engine in ("iceberg-java", "pyiceberg"):
        index = json.loads((GOLDEN / f"{engine}.json").read_text())
        found |= {one["name"]: (f"{index['engine']} {index['version']}", one) for one in index["snapshots"]}
    return found


def _entry(snapshot: JsonObject, number: int) -> JsonObject:
    found: JsonObject = next(one for one in snapshot["entries"] if one["number"] == number)
    return found


def _origin(engine: str, snapshot: JsonObject) -> str:
    statement = snapshot["statement"]
    return f"engine: {engine} wrote the file (tools/golden); derivation: its statements, up to {statement}"


def manifests() -> Iterator[Vector]:
    """Yield the vectors of manifests."""
    for name, numbers in MANIFESTS.items():
        engine, snapshot = _snapshots()[name]
        version = snapshot["format_version"]
        for place, number in enumerate(numbers):
            stored = _entry(snapshot, number)
            written = GONE if stored["status"] == 2 else number
            listed: JsonObject = {
                "partition_spec_id": 0,
                "content": stored["content"],
                "added_snapshot_id": "1",
                "sequence_number": "0" if version == 1 else str(written),
            }
            names = ["status", "content", "partition", "record_count", "sequence_number", "file_sequence_number"]
            file: JsonObject = {"content": stored["content"], "record_count": str(stored["record_count"])}
            file["partition"] = {} if stored["partition"]["id_bucket"] is None else FULL
            if version == 3:
                names += ["first_row_id", "content_offset", "file_format"]
                file["file_format"] = stored.get("format", "parquet")
                if stored["content"] == 0:
                    listed["first_row_id"] = "0"
                    file["first_row_id"] = str(stored["first_row_id"])
                if "content_offset" in stored:
                    file["content_offset"] = str(stored["content_offset"])
            sequence = "0" if version == 1 else str(number)
            entry = {
                "status": stored["status"],
                "sequence_number": sequence,
                "file_sequence_number": sequence,
                "data_file": file,
            }
            data = (GOLDEN / snapshot["manifests"][_path(snapshot, place)]).read_bytes()
            args = {
                "bytes": data.hex().upper(),
                "manifest_file": listed,
                "schema": SCHEMA,
                "specs": [SPEC],
                "select": names,
            }
            note = f"manifest of {engine}, v{version}: the file of statement {number}, {STATUS[stored['status']]}"
            yield Vector(
                f"manifest-read-golden-{name}-{place}",
                ("MAN015", "MAN019") if version > 1 else ("MAN015",),
                args,
                ok({"entries": [entry]}),
                _origin(engine, snapshot),
                note,
                only=(version,),
            )


def _path(snapshot: JsonObject, place: int) -> str:
    manifests: dict[str, str] = snapshot["manifests"]
    return next(path for path, file in manifests.items() if file.endswith(f"-manifest-{place}.avro"))


def lists() -> Iterator[Vector]:
    """Yield the vectors of manifest lists."""
    for name, numbers in LISTS.items():
        engine, snapshot = _snapshots()[name]
        version = snapshot["format_version"]
        forms = []
        for number in numbers:
            stored = _entry(snapshot, number)
            path = _path(snapshot, int(FILES[name][number]))
            length = len((GOLDEN / snapshot["manifests"][path]).read_bytes())
            written = GONE if stored["status"] == 2 else number
            kinds = {kind: stored["status"] == status for status, kind in enumerate(("existing", "added", "deleted"))}
            summaries: list[JsonObject] = [{"contains_null": True, "contains_nan": False}] * 3
            if stored["partition"]["id_bucket"] is not None:
                summaries = [
                    {
                        "contains_null": False,
                        "contains_nan": False,
                        "lower_bound": data.hex().upper(),
                        "upper_bound": data.hex().upper(),
                    }
                    for data in BOUNDS
                ]
            forms.append(
                {
                    "manifest_path": path,
                    "manifest_length": str(length),
                    "partition_spec_id": 0,
                    "content": stored["content"],
                    "sequence_number": "0" if version == 1 else str(written),
                    **{f"{kind}_files_count": int(is_one) for kind, is_one in kinds.items()},
                    **{f"{kind}_rows_count": str(stored["record_count"] * is_one) for kind, is_one in kinds.items()},
                    "partitions": summaries,
                }
            )
            if stored["status"] != 2 and version > 1:
                forms[-1]["min_sequence_number"] = str(number)
            if version == 3 and stored["first_row_id"] is not None:
                forms[-1]["first_row_id"] = str(stored["first_row_id"])
        data = (GOLDEN / snapshot["manifest_list"]).read_bytes()
        args = {"bytes": data.hex().upper(), "select": list(forms[0])}
        yield Vector(
            f"manifest-list-read-golden-{name}",
            ("MLS003", "MLS016"),
            args,
            ok({"manifests": forms}),
            _origin(engine, snapshot),
            f"manifest list of {engine}, v{version}",
            only=(version,),
        )

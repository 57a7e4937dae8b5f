"""Vectors of reading the golden metadata files: the state of each table after the engine's statements.

Engines wrote the files (``vectors/golden/metadata``, with the statements in its index). Their expected content is
derived here from the statements and the rules for new ids: columns, partition fields, schemas, specs and orders get the
next number, and the fields of a level get theirs before those inside them. Only ids and times that engines choose at
random are not compared.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tools.derive.metadata import Document, topic_files
from tools.derive.vector import Vector, VectorFile, any_of, ok

GOLDEN = Path(__file__).resolve().parents[2] / "vectors" / "golden" / "metadata"

POINT = {
    "type": "struct",
    "fields": [
        {"id": 7, "name": "x", "required": True, "type": "double"},
        {"id": 8, "name": "y", "required": False, "type": "double"},
    ],
}
TAGS = {"type": "list", "element-id": 9, "element-required": True, "element": "string"}
PRICES = {
    "type": "map",
    "key-id": 10,
    "key": "string",
    "value-id": 11,
    "value-required": False,
    "value": "decimal(9, 2)",
}


def column(field_id: int, name: str, type_: Any, **more: Any) -> Document:
    """Return an optional column."""
    return {"id": field_id, "name": name, "required": False, "type": type_, **more}


def fields(newest: int, *, data: str = "data", id_type: str = "int", changed: bool = False) -> list[Document]:
    """Return the columns, before and after the change."""
    made = [
        {**column(1, "id", id_type), "required": True},
        column(2, data, "string", doc="what there is"),
        column(3, "ts", "timestamptz"),
        column(4, "point", POINT),
        *([] if changed else [column(5, "tags", TAGS)]),
        column(6, "prices", PRICES),
    ]
    if changed:
        made.append(column(12, "added", "long", doc="came later"))
    if changed and newest == 3:
        defaults = {"initial-default": "red", "write-default": "red"}
        made += [
            column(13, "color", "string", doc="with defaults", **defaults),
            column(14, "nanos", "timestamptz_ns"),
            column(15, "any", "variant"),
        ]
    return made


def partition(source: int, field_id: int, name: str, transform: str) -> Document:
    """Return a partition field."""
    return {"source-id": source, "field-id": field_id, "name": name, "transform": transform}


def sort_field(source: int, transform: str, direction: str, nulls: str) -> Document:
    """Return a sort field."""
    return {"transform": transform, "source-id": source, "direction": direction, "null-order": nulls}


BUCKET, DAY = partition(1, 1000, "id_bucket", "bucket[16]"), partition(3, 1001, "ts_day", "day")
TEXT = partition(2, 1002, "text_trunc", "truncate[4]")
FIRST_ORDER = {"order-id": 1, "fields": [sort_field(1, "identity", "asc", "nulls-first")]}
SECOND_ORDER = {
    "order-id": 2,
    "fields": [
        sort_field(2, "identity", "desc", "nulls-last"),
        sort_field(1, "bucket[8]", "asc", "nulls-last"),
    ],
}
CREATED: Document = {
    "last-sequence-number": "0",
    "last-column-id": 11,
    "current-schema-id": 0,
    "schemas": [{"schema-id": 0, "fields": fields(2)}],
    "default-spec-id": 0,
    "partition-specs": [{"spec-id": 0, "fields": [BUCKET, DAY]}],
    "last-partition-id": 1001,
    "default-sort-order-id": 1,
    "sort-orders": [FIRST_ORDER],
}


def final_table(newest: int, number: int) -> Document:
    """Derive the table after all statements of the history, given its newest version and its number of commits."""
    after: Document = {"newest": newest, "data": "text", "changed": True}
    # A field that is removed from a spec stays in v1, as void; other versions drop it (Partition Evolution).
    kept = [BUCKET, {**DAY, "transform": "void"}, TEXT] if newest == 1 else [BUCKET, TEXT]
    return {
        "last-sequence-number": str(number),
        "last-column-id": 15 if newest == 3 else 12,
        "current-schema-id": 3,
        "schemas": [
            {"schema-id": 0, "fields": fields(newest)},
            {"schema-id": 1, "fields": fields(**after)},
            {"schema-id": 2, "fields": fields(**after, id_type="long")},
            {"schema-id": 3, "identifier-field-ids": [1], "fields": fields(**after, id_type="long")},
        ],
        "default-spec-id": 1,
        "partition-specs": [{"spec-id": 0, "fields": [BUCKET, DAY]}, {"spec-id": 1, "fields": kept}],
        "last-partition-id": 1002,
        "default-sort-order-id": 2,
        "sort-orders": [FIRST_ORDER, SECOND_ORDER],
    }


KEYS = [
    {"key-id": "k1", "encrypted-key-metadata": "aWNlYmVyZw==", "encrypted-by-id": "master", "properties": {"rank": "1"}}
]
CODES = ("TMD008", "TMD011", "TMD019", "TMD022")


def references_and_statistics(document: Document, number: int, engine: str) -> Document:
    """Return the expected references and statistics, at the first and the last snapshot, whose ids are random."""
    first, last = (str(document["snapshots"][place]["snapshot-id"]) for place in (0, -1))
    metadata = f"{document['location']}/metadata"
    blob = {
        "type": "apache-datasketches-theta-v1",
        "snapshot-id": last,
        "sequence-number": str(number),
        "fields": [1],
        "properties": {"ndv": "10"},
    }
    form: Document = {
        "refs": {
            "main": {"snapshot-id": last, "type": "branch"},
            "first": {"snapshot-id": first, "type": "tag", "max-ref-age-ms": str(10**12)},
            "audit": {
                "snapshot-id": first,
                "type": "branch",
                "min-snapshots-to-keep": 3,
                "max-snapshot-age-ms": str(10**11),
            },
        },
        "statistics": [
            {
                "snapshot-id": last,
                "statistics-path": f"{metadata}/s.stats",
                "file-size-in-bytes": "413",
                "file-footer-size-in-bytes": "42",
                "blob-metadata": [blob],
            }
        ],
    }
    if engine == "iceberg-java":
        part = {"snapshot-id": last, "statistics-path": f"{metadata}/p.parquet", "file-size-in-bytes": "43"}
        form["partition-statistics"] = [part]
    return form


def read(entry: Document) -> Vector:
    """Return the vector of a file."""
    document = json.loads((GOLDEN / entry["file"]).read_text())
    version, engine = document["format-version"], entry["engine"]
    name = entry["file"].removesuffix(".metadata.json")
    history = name.rpartition("-")[2]
    form: Document = {"format-version": version}
    if history == "created":
        form |= CREATED
    else:
        # A commit at the beginning, one after each upgrade, one at the end; v1 does not count them.
        number = {"v1": 0, "upgraded": version}.get(history, 2)
        form |= final_table(version, number) | references_and_statistics(document, number, engine)
    if version == 3:
        form["encryption-keys"] = KEYS
    if history == "v3":
        form["next-row-id"] = "20"  # each commit adds ten rows; after an upgrade older rows get ids too, at some time
    args = {"metadata": document, "select": list(form)}
    origin = "derivation: tools/derive/metadata_golden.py, from the statements in vectors/golden/metadata/index.json"
    note = f"written by {engine} {entry['version']}"
    slug = name.lower().replace(".", "-")
    codes = CODES if version == 1 else (*CODES, "TMD021")
    expect = ok(form)
    open_: tuple[str, ...] = ()
    if version == 1 and "refs" in form:
        # refs has a blank cell for v1, so that a reader may ignore it: then main is the current snapshot, alone.
        expect, open_ = any_of(ok(form), ok(form | {"refs": {"main": form["refs"]["main"]}})), ("C17", "E18")
    return Vector(f"metadata-read-golden-{slug}", codes, args, expect, origin, note, open_, (version,))


def files() -> Iterator[VectorFile]:
    """Yield the file of golden reads."""
    entries = json.loads((GOLDEN / "index.json").read_text())
    yield from topic_files("table-metadata/read-golden", "metadata.read", [read(entry) for entry in entries])

"""Table metadata in the canonical form of the vectors, and documents made by changing one thing.

Any implementation can derive the canonical form from its objects: it has every member of the table, whether the
document states it or implies it. Longs are decimal strings; nulls and empty collections are left out.
"""

from __future__ import annotations

import copy
import tomllib
from collections.abc import Collection, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from tools.derive.vector import Vector, VectorFile

Document = dict[str, Any]
DROP: Any = object()
"""The value that makes an edit remove the member or item."""


def apply_edits(document: Document, edits: Mapping[str, Any]) -> Document:
    """Return the document with edits applied: JSON pointers to new values or `DROP`; ``/-`` is the end of a list."""
    changed = copy.deepcopy(document)
    for pointer, value in edits.items():
        *around, last = pointer.removeprefix("/").split("/")
        place: Any = changed
        for step in around:
            place = place[int(step)] if isinstance(place, list) else place[step]
        if last == "-":
            place.append(copy.deepcopy(value))
        elif value is DROP:
            del place[int(last) if isinstance(place, list) else last]
        else:
            place[int(last) if isinstance(place, list) else last] = copy.deepcopy(value)
    return changed


# The canonical form, from an independent reading of Table Metadata Fields and Appendices C and E on missing fields.

LONGS = {"last-sequence-number", "last-updated-ms", "current-snapshot-id", "next-row-id"}
SNAPSHOT_LONGS = {"snapshot-id", "parent-snapshot-id", "sequence-number", "timestamp-ms", "first-row-id", "added-rows"}
REF_LONGS = {"snapshot-id", "max-snapshot-age-ms", "max-ref-age-ms"}
FILE_LONGS = {"snapshot-id", "file-size-in-bytes", "file-footer-size-in-bytes", "sequence-number"}

SNAPSHOT = (*sorted(SNAPSHOT_LONGS), "manifest-list", "manifests", "summary", "schema-id", "key-id")
REF = ("snapshot-id", "type", "min-snapshots-to-keep", "max-snapshot-age-ms", "max-ref-age-ms")
STATISTICS = ("snapshot-id", "statistics-path", "file-size-in-bytes", "file-footer-size-in-bytes", "key-metadata")
BLOB = ("type", "snapshot-id", "sequence-number", "fields", "properties")
PARTITION_STATISTICS = ("snapshot-id", "statistics-path", "file-size-in-bytes")
KEY = ("key-id", "encrypted-key-metadata", "encrypted-by-id", "properties")
FIELD = ("id", "name", "required", "type", "doc", "initial-default", "write-default")
PARTITION_FIELD = ("source-id", "source-ids", "field-id", "name", "transform")
SORT_FIELD = ("transform", "source-id", "source-ids", "direction", "null-order")


def members(source: Document, names: tuple[str, ...], longs: Collection[str] = ()) -> Document:
    """Return the known members that are present, longs as strings."""
    return {
        name: str(source[name]) if name in longs else copy.deepcopy(source[name])
        for name in names
        if source.get(name) not in (None, [], {})
    }


def schema_form(schema: Document) -> Document:
    """Return the canonical form of a schema: its id, its fields, and its identifier fields."""
    identifiers = schema.get("identifier-field-ids") or []
    form: Document = {"schema-id": schema.get("schema-id", 0)}
    if identifiers:
        form["identifier-field-ids"] = identifiers
    return {**form, "fields": [_field(field) for field in schema["fields"]]}


def _field(field: Document) -> Document:
    form = {name: field[name] for name in FIELD if field.get(name) is not None}
    return {**form, "type": _type(field["type"])}


def _type(type_: Any) -> Any:
    if isinstance(type_, str):
        return type_
    inner = {name: _type(type_[name]) for name in ("element", "key", "value") if name in type_}
    if "fields" in type_:
        inner["fields"] = [_field(field) for field in type_["fields"]]
    return {**type_, **inner}


def _spec(spec: Document) -> Document:
    """Fill in the ids of partition fields, which v1 does not store: they count up from 1000 (Partition Evolution)."""
    fields = [
        members({"field-id": 1000 + place, **field}, PARTITION_FIELD) for place, field in enumerate(spec["fields"])
    ]
    return {"spec-id": spec["spec-id"], "fields": fields}


def _refs(document: Document) -> Document:
    refs = {name: members(ref, REF, REF_LONGS) for name, ref in (document.get("refs") or {}).items()}
    current = document.get("current-snapshot-id")
    main = {} if current in (None, -1) else {"main": {"snapshot-id": str(current), "type": "branch"}}
    return {**main, **refs}


def _statistics(file: Document) -> Document:
    blobs = [{**members(blob, BLOB, FILE_LONGS), "fields": blob["fields"]} for blob in file["blob-metadata"]]
    return {**members(file, STATISTICS, FILE_LONGS), **({"blob-metadata": blobs} if blobs else {})}


def _current_schema_id(document: Document, schemas: list[Document]) -> int:
    """Return the stated id, else that of the deprecated copy (TMD007), by its fields, as it may have none."""
    copied = document.get("schema", schemas[0])
    ids = [schema.get("schema-id", 0) for schema in schemas if schema["fields"] == copied["fields"]]
    own: int = copied.get("schema-id", 0)
    stated: int | None = document.get("current-schema-id")
    return (own if own in ids else ids[0]) if stated is None else stated


def _default_spec_id(document: Document, specs: list[Document]) -> int:
    """Return the stated id, else that of the spec whose fields the deprecated copy has (TMD010)."""
    stated: int | None = document.get("default-spec-id")
    copied = _spec({"spec-id": None, "fields": document.get("partition-spec", ())})["fields"]
    return next(spec["spec-id"] for spec in specs if spec["fields"] == copied) if stated is None else stated


def canonical(document: Document) -> Document:
    """Return the canonical form of a valid document."""
    schemas = document.get("schemas") or [document["schema"]]
    specs = [_spec(spec) for spec in document.get("partition-specs") or ()] or [
        _spec({"spec-id": 0, "fields": document["partition-spec"]})
    ]
    orders = document.get("sort-orders") or [{"order-id": 0, "fields": []}]
    current = document.get("current-snapshot-id")
    highest = max((field["field-id"] for spec in specs for field in spec["fields"]), default=999)
    form: Document = {
        "format-version": document["format-version"],
        "table-uuid": document.get("table-uuid"),
        "location": document["location"],
        "last-sequence-number": str(document.get("last-sequence-number") or 0),
        "last-updated-ms": str(document["last-updated-ms"]),
        "last-column-id": document["last-column-id"],
        "current-schema-id": _current_schema_id(document, schemas),
        "schemas": [schema_form(schema) for schema in schemas],
        "default-spec-id": _default_spec_id(document, specs),
        "partition-specs": specs,
        "last-partition-id": document.get("last-partition-id", highest),
        "default-sort-order-id": document.get("default-sort-order-id", 0),
        "sort-orders": [
            {
                "order-id": order["order-id"],
                "fields": [members(field, SORT_FIELD) for field in order["fields"]],
            }
            for order in orders
        ],
        "properties": document.get("properties"),
        "current-snapshot-id": None if current in (None, -1) else str(current),
        "snapshots": [
            members({"sequence-number": 0, **snapshot}, SNAPSHOT, SNAPSHOT_LONGS)
            for snapshot in document.get("snapshots") or ()
        ],
        "refs": _refs(document),
        "snapshot-log": [
            members(entry, ("timestamp-ms", "snapshot-id"), SNAPSHOT_LONGS)
            for entry in document.get("snapshot-log") or ()
        ],
        "metadata-log": [
            members(entry, ("timestamp-ms", "metadata-file"), SNAPSHOT_LONGS)
            for entry in document.get("metadata-log") or ()
        ],
        "statistics": [_statistics(file) for file in document.get("statistics") or ()],
        "partition-statistics": [
            members(file, PARTITION_STATISTICS, FILE_LONGS) for file in document.get("partition-statistics") or ()
        ],
        "next-row-id": None if document.get("next-row-id") is None else str(document["next-row-id"]),
        "encryption-keys": [members(key, KEY) for key in document.get("encryption-keys") or ()],
    }
    return {name: member for name, member in form.items() if member not in (None, [], {})}


def select_members(form: Document, names: tuple[str, ...]) -> Document:
    """Return the members of a form that a vector selects."""
    return {name: form[name] for name in names if name in form}


# Files: the vectors of a topic, each with the section of its first requirement.

REGISTER = Path(__file__).resolve().parents[2] / "spec_ref" / "requirements"


@cache
def sections() -> dict[str, str]:
    """Return the section of each requirement, from the register's tables, by code."""
    rows = (
        row
        for path in sorted(REGISTER.glob("*.toml"))
        for row in tomllib.loads(path.read_text()).get("requirement", ())
    )
    return {row["code"]: row["section"] for row in rows}


def topic_files(path: str, operation: str, vectors: list[Vector]) -> list[VectorFile]:
    """Group the vectors of a topic into files by the section of each vector's main requirement, its first one."""
    by_section: dict[str, list[Vector]] = {}
    for vector in vectors:
        by_section.setdefault(sections()[vector.requirements[0]], []).append(vector)
    return [VectorFile(f"{path}.json", operation, section, tuple(own)) for section, own in by_section.items()]

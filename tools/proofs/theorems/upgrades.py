"""Upgrading keeps the meaning of a table (Appendix E; Row Lineage for Upgraded Tables)."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

from spec_ref.core.versions import ROW_LINEAGE, V2, V3
from spec_ref.table_metadata.metadata import TableMetadata
from spec_ref.table_metadata.reader import read_metadata
from spec_ref.table_metadata.upgrade import upgrade
from spec_ref.table_metadata.writer import write_metadata
from tools.proofs.theorem import EXHAUSTIVE, World, theorem

UUID = "9c12d441-03fe-4693-9a96-a0705ddf69c1"
COLUMN = {"id": 1, "name": "x", "required": False, "type": "long"}
SCHEMA: dict[str, Any] = {"type": "struct", "fields": [COLUMN]}
NEWER: dict[str, Any] = {"type": "struct", "fields": [COLUMN, {**COLUMN, "id": 2, "name": "y"}]}
DAYS = {"name": "x_trunc", "transform": "truncate[10]", "source-id": 1}
BUCKETS = {"name": "x_bucket", "transform": "bucket[4]", "source-id": 1}
SORTED = {"transform": "identity", "source-id": 1, "direction": "desc", "null-order": "nulls-last"}
SNAPSHOT = {"snapshot-id": 7, "timestamp-ms": 1000, "summary": {"operation": "append"}, "manifest-list": "s3://t/l"}

REQUIRED: dict[str, Any] = {
    "format-version": 1,
    "location": "s3://t",
    "last-updated-ms": 2000,
    "last-column-id": 2,
    "schema": SCHEMA,
    "partition-spec": [DAYS],
}
OPTIONAL: tuple[Mapping[str, Any], ...] = (
    {"table-uuid": UUID},
    {"schemas": [{**SCHEMA, "schema-id": 0}, {**NEWER, "schema-id": 3}], "current-schema-id": 3},
    {
        "partition-specs": [
            {"spec-id": 0, "fields": [{**DAYS, "field-id": 1000}]},
            {"spec-id": 2, "fields": [{**BUCKETS, "field-id": 1005}]},
        ],
        "default-spec-id": 2,
    },
    {"last-partition-id": 1009},
    {"properties": {"owner": "me"}},
    {"snapshots": [SNAPSHOT], "current-snapshot-id": 7},
    {"snapshot-log": [{"snapshot-id": 7, "timestamp-ms": 1000}]},
    {"metadata-log": [{"timestamp-ms": 500, "metadata-file": "s3://t/metadata/v0.metadata.json"}]},
    {"sort-orders": [{"order-id": 0, "fields": []}, {"order-id": 4, "fields": [SORTED]}], "default-sort-order-id": 4},
    {"statistics": []},
)
"""The fields that v1 metadata may leave out, in groups of fields that refer to each other."""


def documents() -> Iterator[dict[str, Any]]:
    """Yield metadata of v1 with every combination of the fields that it may leave out."""
    for chosen in itertools.product((False, True), repeat=len(OPTIONAL)):
        document = dict(REQUIRED)
        for fields in itertools.compress(OPTIONAL, chosen):
            document |= fields
        if "snapshots" in document or "snapshot-log" not in document:
            yield document


def meaning(metadata: TableMetadata) -> dict[str, Any]:
    """Return the version-independent meaning of a table, as readers of its rows and the next writer see it."""
    return {
        "location": metadata.location,
        "last column": metadata.last_column_id,
        "schemas": {one.schema_id: [(field.id, field.name) for field in one.fields] for one in metadata.schemas},
        "current schema": metadata.current_schema_id,
        "specs": {
            one.spec_id: [(field.source_id, field.field_id, field.name, str(field.transform)) for field in one.fields]
            for one in metadata.partition_specs
        },
        "default spec": metadata.default_spec_id,
        "last partition field": metadata.last_partition_id,
        "orders": {
            one.order_id: [(field.sources, str(field.transform), field.direction.value) for field in one.fields]
            for one in metadata.sort_orders
        },
        "default order": metadata.default_sort_order_id,
        "properties": dict(metadata.properties),
        "snapshots": [(one.snapshot_id, one.manifest_list, one.timestamp_ms) for one in metadata.snapshots],
        "snapshot log": [one.snapshot_id for one in metadata.snapshot_log],
        "metadata log": [one.metadata_file for one in metadata.metadata_log],
        "references": {name: (one.snapshot_id, one.type.value) for name, one in metadata.references.items()},
    }


def stated(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the meaning of a v1 document, by the defaults that the text states for absent fields."""

    def fields(spec: Any) -> list[Any]:
        return [
            (one["source-id"], one.get("field-id", 1000 + place), one["name"], one["transform"])
            for place, one in enumerate(spec)
        ]

    schemas = document.get("schemas", [{**document["schema"], "schema-id": 0}])
    specs = document.get("partition-specs", [{"spec-id": 0, "fields": document["partition-spec"]}])
    orders = document.get("sort-orders", [{"order-id": 0, "fields": []}])
    ids = [field_id for spec in specs for _, field_id, _, _ in fields(spec["fields"])]
    current = document.get("current-snapshot-id")
    return {
        "location": document["location"],
        "last column": document["last-column-id"],
        "schemas": {one["schema-id"]: [(field["id"], field["name"]) for field in one["fields"]] for one in schemas},
        "current schema": document.get("current-schema-id", 0),
        "specs": {one["spec-id"]: fields(one["fields"]) for one in specs},
        "default spec": document.get("default-spec-id", 0),
        "last partition field": document.get("last-partition-id", max(ids)),
        "orders": {
            one["order-id"]: [
                ((field["source-id"],), field["transform"], field["direction"]) for field in one["fields"]
            ]
            for one in orders
        },
        "default order": document.get("default-sort-order-id", 0),
        "properties": document.get("properties", {}),
        "snapshots": [
            (one["snapshot-id"], one["manifest-list"], one["timestamp-ms"]) for one in document.get("snapshots", [])
        ],
        "snapshot log": [one["snapshot-id"] for one in document.get("snapshot-log", [])],
        "metadata log": [one["metadata-file"] for one in document.get("metadata-log", [])],
        "references": {} if current is None else {"main": (current, "branch")},
    }


@theorem(
    "upgrades-keep-the-table",
    "UPG003",
    "UPG005",
    "VER003",
    "LIN013",
    method=EXHAUSTIVE,
)
def upgrades(world: World) -> None:
    """Metadata of v1 with every combination of the fields that it may leave out means what the defaults of the text
    say, and means the same after it is upgraded to v2 and to v3, written and read again: the same schemas, specs,
    orders, snapshots and references, with sequence numbers of 0, and without row ids before the first commit in v3.
    """
    for document in documents():
        shown = sorted(document.keys() - REQUIRED.keys())
        before = read_metadata(document)
        world.claim(meaning(before) == stated(document), f"v1 with {shown} does not mean what the text says")
        for version in (V2, V3):
            upgraded = upgrade(before, version, table_uuid=UUID)
            for one in (upgraded, read_metadata(write_metadata(upgraded))):
                world.claim(one.format_version is version, "the version differs")
                world.claim(one.table_uuid == UUID, "the table has another identity")
                world.claim(meaning(one) == stated(document), f"v{version} of v1 with {shown} has another meaning")
                numbers = [one.last_sequence_number, *(snapshot.sequence_number for snapshot in one.snapshots)]
                world.claim(set(numbers) == {0}, "there are sequence numbers that v1 does not have")
                next_ = 0 if ROW_LINEAGE.is_supported(version) else None
                world.claim(one.next_row_id == next_, "row ids do not start at 0")
                first_row_ids = {snapshot.first_row_id for snapshot in one.snapshots}
                world.claim(first_row_ids <= {None}, "an old snapshot has row ids")

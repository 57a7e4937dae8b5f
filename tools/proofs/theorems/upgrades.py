"""Upgrading keeps the meaning of a table (Appendix E; Row Lineage for Upgraded Tables)."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

from spec_ref.core.versions import ROW_LINEAGE, V2, V3, FormatVersion
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


NUMBERED = {**SNAPSHOT, "sequence-number": 5}
CHILD = {
    "snapshot-id": 8,
    "parent-snapshot-id": 7,
    "sequence-number": 6,
    "schema-id": 3,
    "timestamp-ms": 1500,
    "summary": {"operation": "delete"},
    "manifest-list": "s3://t/m",
}
REQUIRED_BY_V2: dict[str, Any] = {
    **{name: value for name, value in REQUIRED.items() if name not in ("schema", "partition-spec")},
    "format-version": 2,
    "table-uuid": UUID,
    "last-sequence-number": 6,
    **OPTIONAL[1],
    **OPTIONAL[2],
    **OPTIONAL[3],
    **OPTIONAL[8],
}
OPTIONAL_IN_V2: tuple[Mapping[str, Any], ...] = (
    {"properties": {"owner": "me"}},
    {"snapshots": [NUMBERED], "current-snapshot-id": 7},
    {"snapshots": [NUMBERED, CHILD], "current-snapshot-id": 8},
    {"snapshot-log": [{"snapshot-id": 7, "timestamp-ms": 1000}]},
    {"metadata-log": [{"timestamp-ms": 500, "metadata-file": "s3://t/metadata/v0.metadata.json"}]},
    {"refs": {"old": {"snapshot-id": 7, "type": "tag", "max-ref-age-ms": 9}}},
    {"statistics": []},
    {"partition-statistics": [{"snapshot-id": 7, "statistics-path": "s3://t/s", "file-size-in-bytes": 3}]},
)
"""The fields that v2 metadata may leave out; the second snapshot replaces the list of only one."""

NEED_SNAPSHOTS = ("snapshot-log", "refs", "partition-statistics")


def documents(required: Mapping[str, Any], optional: tuple[Mapping[str, Any], ...]) -> Iterator[dict[str, Any]]:
    """Yield metadata with every combination of the fields that it may leave out."""
    for chosen in itertools.product((False, True), repeat=len(optional)):
        document = dict(required)
        for fields in itertools.compress(optional, chosen):
            document |= fields
        if "snapshots" in document or not document.keys() & set(NEED_SNAPSHOTS):
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
        "references": {
            name: (one.snapshot_id, one.type.value, one.max_ref_age_ms) for name, one in metadata.references.items()
        },
        "sequence numbers": [
            metadata.last_sequence_number,
            *(snapshot.sequence_number for snapshot in metadata.snapshots),
        ],
        "parents": [one.parent_snapshot_id for one in metadata.snapshots],
        "schemas of snapshots": [one.schema_id for one in metadata.snapshots],
        "statistics": [one.statistics_path for one in metadata.statistics],
        "partition statistics": [one.statistics_path for one in metadata.partition_statistics],
    }


def stated(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the meaning of a v1 or v2 document, by the defaults that the text states for absent fields."""

    def fields(spec: Any) -> list[Any]:
        return [
            (one["source-id"], one.get("field-id", 1000 + place), one["name"], one["transform"])
            for place, one in enumerate(spec)
        ]

    schemas = document["schemas"] if "schemas" in document else [{**document["schema"], "schema-id": 0}]
    specs = document.get("partition-specs") or [{"spec-id": 0, "fields": document["partition-spec"]}]
    orders = document.get("sort-orders", [{"order-id": 0, "fields": []}])
    ids = [field_id for spec in specs for _, field_id, _, _ in fields(spec["fields"])]
    current = document.get("current-snapshot-id")
    snapshots = document.get("snapshots", [])
    implied = {} if current is None else {"main": {"snapshot-id": current, "type": "branch"}}
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
        "snapshots": [(one["snapshot-id"], one["manifest-list"], one["timestamp-ms"]) for one in snapshots],
        "snapshot log": [one["snapshot-id"] for one in document.get("snapshot-log", [])],
        "metadata log": [one["metadata-file"] for one in document.get("metadata-log", [])],
        "references": {
            name: (one["snapshot-id"], one["type"], one.get("max-ref-age-ms"))
            for name, one in {**implied, **document.get("refs", {})}.items()
        },
        "sequence numbers": [
            document.get("last-sequence-number", 0),
            *(one.get("sequence-number", 0) for one in snapshots),
        ],
        "parents": [one.get("parent-snapshot-id") for one in snapshots],
        "schemas of snapshots": [one.get("schema-id") for one in snapshots],
        "statistics": [],
        "partition statistics": [one["statistics-path"] for one in document.get("partition-statistics", [])],
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
    """Metadata of v1 and of v2 with every combination of the fields that it may leave out means what the defaults of
    the text say, and means the same after it is upgraded to v2 and to v3, written and read again: the same schemas,
    specs, orders, snapshots, statistics and references. The sequence numbers of v1 are 0 and those of v2 stay, and
    there are no row ids before the first commit in v3.
    """
    upgraded_from(world, documents(REQUIRED, OPTIONAL), (V2, V3))
    upgraded_from(world, documents(REQUIRED_BY_V2, OPTIONAL_IN_V2), (V3,))


def upgraded_from(world: World, documents: Iterator[dict[str, Any]], versions: tuple[FormatVersion, ...]) -> None:
    """Claim that documents of one version keep their meaning in newer versions."""
    for document in documents:
        shown = f"v{document['format-version']} with {sorted(document)}"
        before = read_metadata(document)
        world.claim(meaning(before) == stated(document), f"{shown} does not mean what the text says")
        for version in versions:
            upgraded = upgrade(before, version, table_uuid=UUID)
            for one in (upgraded, read_metadata(write_metadata(upgraded))):
                world.claim(one.format_version is version, "the version differs")
                world.claim(one.table_uuid == UUID, "the table has another identity")
                world.claim(meaning(one) == stated(document), f"{shown} has another meaning in v{version}")
                next_ = 0 if ROW_LINEAGE.is_supported(version) else None
                world.claim(one.next_row_id == next_, "row ids do not start at 0")
                first_row_ids = {snapshot.first_row_id for snapshot in one.snapshots}
                world.claim(first_row_ids <= {None}, "an old snapshot has row ids")

"""Sound documents of every kind, which fragments of examples are laid over."""

from __future__ import annotations

from spec_ref.core.json_types import Json
from spec_ref.core.versions import V1, V2, V3, FormatVersion
from spec_ref.deletes.deletion_vector import encode_deletion_vector

COLUMNS: list[dict[str, Json]] = [
    {"id": 1, "name": "id", "required": True, "type": "long"},
    {"id": 2, "name": "name", "required": False, "type": "string"},
    {"id": 3, "name": "ts", "required": False, "type": "timestamp"},
    {"id": 4, "name": "price", "required": False, "type": "decimal(9, 2)"},
    {"id": 5, "name": "score", "required": False, "type": "double"},
    {"id": 6, "name": "n", "required": False, "type": "int"},
]

SCHEMA = {"type": "struct", "schema-id": 0, "fields": COLUMNS}

FIELDS = [{"source-id": 1, "field-id": 1000, "name": "id_bucket", "transform": "bucket[4]"}]

SPEC = {"spec-id": 0, "fields": FIELDS}

ORDER = {
    "order-id": 1,
    "fields": [{"transform": "identity", "source-id": 3, "direction": "asc", "null-order": "nulls-first"}],
}

SNAPSHOTS = [
    {
        "snapshot-id": 11,
        "sequence-number": 1,
        "timestamp-ms": 1600000000000,
        "summary": {"operation": "append"},
        "manifest-list": "s3://bucket/t/metadata/snap-11.avro",
        "schema-id": 0,
        "first-row-id": 0,
        "added-rows": 10,
    },
    {
        "snapshot-id": 12,
        "parent-snapshot-id": 11,
        "sequence-number": 2,
        "timestamp-ms": 1600000001000,
        "summary": {"operation": "append"},
        "manifest-list": "s3://bucket/t/metadata/snap-12.avro",
        "schema-id": 0,
        "first-row-id": 10,
        "added-rows": 10,
    },
]

METADATA = {
    "format-version": 3,
    "table-uuid": "9c12d441-03fe-4693-9a96-a0705ddf69c1",
    "location": "s3://bucket/t",
    "last-sequence-number": 2,
    "last-updated-ms": 1600000001000,
    "last-column-id": 6,
    "schemas": [SCHEMA],
    "current-schema-id": 0,
    "partition-specs": [SPEC],
    "default-spec-id": 0,
    "last-partition-id": 1000,
    "sort-orders": [{"order-id": 0, "fields": []}, ORDER],
    "default-sort-order-id": 1,
    "next-row-id": 20,
    "current-snapshot-id": 12,
    "snapshots": SNAPSHOTS,
    "snapshot-log": [
        {"snapshot-id": 11, "timestamp-ms": 1600000000000},
        {"snapshot-id": 12, "timestamp-ms": 1600000001000},
    ],
    "metadata-log": [{"metadata-file": "s3://bucket/t/metadata/v1.json", "timestamp-ms": 1600000000000}],
    "refs": {"main": {"snapshot-id": 12, "type": "branch"}},
}

SINCE_2 = ("sequence-number",)

SINCE_3 = ("first-row-id", "added-rows")
"""Members of snapshots that older versions do not have."""


def overlaid(document: Json, fragment: Json) -> Json:
    """The document with the members of a fragment; an item of a list that the document does not have is added."""
    if isinstance(document, dict) and isinstance(fragment, dict):
        return {**document, **{name: overlaid(document.get(name), value) for name, value in fragment.items()}}
    if isinstance(document, list) and isinstance(fragment, list) and all(isinstance(one, dict) for one in fragment):
        both = [overlaid(old, new) for old, new in zip(document, fragment, strict=False)]
        return [*both, *document[len(fragment) :], *fragment[len(document) :]] if fragment else []
    return fragment


def sound_metadata(version: FormatVersion) -> dict[str, Json]:
    """Table metadata of a version, with two snapshots, in which nothing is wrong."""
    metadata = dict(METADATA, **{"format-version": int(version)})
    left_out = {V1: SINCE_2 + SINCE_3, V2: SINCE_3, V3: ()}[version]
    metadata["snapshots"] = [{k: v for k, v in one.items() if k not in left_out} for one in SNAPSHOTS]
    if version < V3:
        del metadata["next-row-id"]
    if version == V1:
        del metadata["last-sequence-number"]
        del metadata["refs"]
        fields = [{k: v for k, v in field.items() if k != "field-id"} for field in FIELDS]
        metadata |= {"schema": SCHEMA, "partition-spec": fields, "partition-specs": [{"spec-id": 0, "fields": fields}]}
    return metadata


BLOB_OF_STATISTICS = {
    "type": "apache-datasketches-theta-v1",
    "snapshot-id": 12,
    "sequence-number": 2,
    "fields": [1],
    "properties": {"ndv": "90"},
}

PARTITION_STATISTICS = {
    "snapshot-id": 12,
    "statistics-path": "s3://bucket/t/p.parquet",
    "file-size-in-bytes": 500,
}

STATISTICS = {
    "snapshot-id": 12,
    "statistics-path": "s3://bucket/t/s.puffin",
    "file-size-in-bytes": 500,
    "file-footer-size-in-bytes": 40,
    "blob-metadata": [BLOB_OF_STATISTICS],
}

ENTRY = {
    "status": 1,
    "snapshot_id": 12,
    "data_file": {
        "content": 0,
        "file_path": "s3://bucket/t/data/a.parquet",
        "file_format": "parquet",
        "partition": {"1000": 3},
        "record_count": 100,
        "file_size_in_bytes": 5000,
    },
}

VECTOR = {
    "content": 1,
    "file_path": "s3://bucket/t/data/dv.puffin",
    "file_format": "puffin",
    "record_count": 2,
    "referenced_data_file": "s3://bucket/t/data/a.parquet",
    "content_offset": 4,
    "content_size_in_bytes": 44,
}

LISTED = {
    "manifest_path": "s3://bucket/t/metadata/m0.avro",
    "manifest_length": 7000,
    "partition_spec_id": 0,
    "content": 0,
    "sequence_number": 2,
    "min_sequence_number": 1,
    "added_snapshot_id": 12,
    "added_files_count": 1,
    "existing_files_count": 0,
    "deleted_files_count": 0,
    "added_rows_count": 100,
    "existing_rows_count": 0,
    "deleted_rows_count": 0,
    "partitions": [{"contains_null": False, "lower_bound": "00000000", "upper_bound": "03000000"}],
    "first_row_id": 10,
}

MAGIC = b"PFA1"

POSITIONS = encode_deletion_vector([1, 3])

BLOB = {
    "type": "deletion-vector-v1",
    "fields": [2147483645],
    "snapshot-id": -1,
    "sequence-number": -1,
    "offset": 4,
    "length": len(POSITIONS),
    "properties": {"referenced-data-file": "s3://bucket/t/data/a.parquet", "cardinality": "2"},
}

FOOTER = {"blobs": [BLOB], "properties": {"created-by": "conformance"}}

EVOLVING = [
    {"id": 1, "name": "id", "required": True, "type": "long"},
    {"id": 2, "name": "day", "required": False, "type": "date"},
]

BY_DAY = [{"source-id": 2, "field-id": 1000, "name": "day", "transform": "identity"}]

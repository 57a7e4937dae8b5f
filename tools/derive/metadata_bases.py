"""The valid documents that the cases of table metadata start from, written by hand.

In each, the last ids are the highest ids and the logs end with the current state, so that the smallest change breaks a
rule, and the document itself is the nearest valid neighbour of most cases.
"""

from __future__ import annotations

from tools.derive.metadata import Document

UUID = "fb072c92-a02b-11e9-ae9c-1bb7bc9eca94"
LOCATION = "s3://b/wh/data.db/table"
FIRST = 3041729675574597003
"""The id of the first snapshot."""
SECOND = 3051729675574597004
"""The id of the second, the current snapshot."""
DAY = 86_400_000

ID: Document = {"id": 1, "name": "id", "required": True, "type": "long"}
DATA: Document = {"id": 2, "name": "data", "required": False, "type": "string"}
UNSORTED: Document = {"order-id": 0, "fields": []}

V1_MINIMAL: Document = {
    "format-version": 1,
    "location": LOCATION,
    "last-updated-ms": 1515100955770,
    "last-column-id": 2,
    "schema": {"type": "struct", "fields": [ID, DATA]},
    "partition-spec": [],
}

V2_MINIMAL: Document = {
    "format-version": 2,
    "table-uuid": UUID,
    "location": LOCATION,
    "last-sequence-number": 0,
    "last-updated-ms": 1515100955770,
    "last-column-id": 2,
    "current-schema-id": 0,
    "schemas": [{"type": "struct", "schema-id": 0, "fields": [ID, DATA]}],
    "default-spec-id": 0,
    "partition-specs": [{"spec-id": 0, "fields": []}],
    "last-partition-id": 999,
    "default-sort-order-id": 0,
    "sort-orders": [UNSORTED],
}

V3_MINIMAL: Document = {**V2_MINIMAL, "format-version": 3, "next-row-id": 0}

NESTED: list[Document] = [
    ID,
    {**DATA, "doc": "what it is about"},
    {"id": 3, "name": "ts", "required": True, "type": "timestamptz"},
    {
        "id": 4,
        "name": "point",
        "required": False,
        "type": {
            "type": "struct",
            "fields": [
                {"id": 5, "name": "x", "required": True, "type": "long"},
                {"id": 6, "name": "y", "required": True, "type": "double"},
            ],
        },
    },
    {
        "id": 7,
        "name": "tags",
        "required": False,
        "type": {"type": "list", "element-id": 8, "element-required": True, "element": "string"},
    },
    {
        "id": 9,
        "name": "prices",
        "required": False,
        "type": {"type": "map", "key-id": 10, "key": "string", "value-id": 11, "value-required": False, "value": "int"},
    },
]
"""Columns with a struct, a list and a map; the highest id is 11."""

SPEC: Document = {
    "spec-id": 1,
    "fields": [
        {"source-id": 3, "field-id": 1000, "name": "ts_day", "transform": "day"},
        {"source-id": 1, "field-id": 1001, "name": "id_bucket", "transform": "bucket[16]"},
    ],
}

ORDER: Document = {
    "order-id": 1,
    "fields": [
        {"transform": "identity", "source-id": 2, "direction": "asc", "null-order": "nulls-first"},
        {"transform": "bucket[4]", "source-id": 1, "direction": "desc", "null-order": "nulls-last"},
    ],
}

SNAPSHOTS: list[Document] = [
    {
        "snapshot-id": FIRST,
        "timestamp-ms": 1515100955770,
        "sequence-number": 1,
        "schema-id": 0,
        "manifest-list": f"{LOCATION}/metadata/s0.avro",
        "summary": {"operation": "append", "added-records": "100"},
    },
    {
        "snapshot-id": SECOND,
        "parent-snapshot-id": FIRST,
        "timestamp-ms": 1515187355770,
        "sequence-number": 2,
        "schema-id": 1,
        "manifest-list": f"{LOCATION}/metadata/s1.avro",
        "summary": {"operation": "overwrite", "added-records": "20", "spark.app.id": "local-1"},
    },
]

V2_SMALL: Document = {
    **V2_MINIMAL,
    "last-sequence-number": 2,
    "last-updated-ms": 1515187355770,
    "current-snapshot-id": SECOND,
    "snapshots": [{**snapshot, "schema-id": 0} for snapshot in SNAPSHOTS],
    "snapshot-log": [
        {"timestamp-ms": 1515100955770, "snapshot-id": FIRST},
        {"timestamp-ms": 1515187355770, "snapshot-id": SECOND},
    ],
    "refs": {
        "main": {"snapshot-id": SECOND, "type": "branch"},
        "test": {"snapshot-id": FIRST, "type": "tag"},
    },
}
"""Two snapshots, two references."""

V2_NESTED: Document = {
    **V2_MINIMAL,
    "last-column-id": 11,
    "schemas": [{"type": "struct", "schema-id": 0, "identifier-field-ids": [1], "fields": NESTED}],
    "default-spec-id": 1,
    "partition-specs": [{"spec-id": 0, "fields": []}, SPEC],
    "last-partition-id": 1001,
    "default-sort-order-id": 1,
    "sort-orders": [UNSORTED, ORDER],
}
"""Nested columns, two specs, two orders, no data."""

STATISTICS: list[Document] = [
    {
        "snapshot-id": FIRST,
        "statistics-path": f"{LOCATION}/metadata/s0.puffin",
        "file-size-in-bytes": 413,
        "file-footer-size-in-bytes": 42,
        "key-metadata": "aWNlYmVyZwo=",
        "blob-metadata": [
            {
                "type": "apache-datasketches-theta-v1",
                "snapshot-id": FIRST,
                "sequence-number": 1,
                "fields": [1],
                "properties": {"ndv": "100"},
            }
        ],
    }
]
PARTITION_STATISTICS: list[Document] = [
    {"snapshot-id": FIRST, "statistics-path": f"{LOCATION}/metadata/p0.parquet", "file-size-in-bytes": 43}
]

V2_STATISTICS: Document = {**V2_SMALL, "statistics": STATISTICS, "partition-statistics": PARTITION_STATISTICS}
"""Two snapshots, the first with statistics of both kinds."""

V2_RICH: Document = {
    **V2_SMALL,
    **{
        name: V2_NESTED[name]
        for name in (
            "default-spec-id",
            "partition-specs",
            "last-partition-id",
            "default-sort-order-id",
            "sort-orders",
            "last-column-id",
        )
    },
    "current-schema-id": 1,
    "schemas": [
        {"type": "struct", "schema-id": 0, "fields": [ID, DATA]},
        {"type": "struct", "schema-id": 1, "identifier-field-ids": [1, 3], "fields": NESTED},
    ],
    "properties": {"write.format.default": "avro", "commit.retry.num-retries": "4"},
    "snapshots": SNAPSHOTS,
    "metadata-log": [{"timestamp-ms": 1515100955770, "metadata-file": f"{LOCATION}/metadata/v1.json"}],
    "refs": {
        "main": {"snapshot-id": SECOND, "type": "branch"},
        "test": {"snapshot-id": FIRST, "type": "tag", "max-ref-age-ms": 10000000},
        "audit/2024": {
            "snapshot-id": FIRST,
            "type": "branch",
            "min-snapshots-to-keep": 3,
            "max-snapshot-age-ms": 604800000,
            "max-ref-age-ms": 9223372036854775807,
        },
    },
    "statistics": STATISTICS,
    "partition-statistics": PARTITION_STATISTICS,
}

V1_RICH: Document = {
    **V1_MINIMAL,
    "table-uuid": UUID,
    "last-updated-ms": 1515187355770,
    "last-column-id": 11,
    "schema": {"type": "struct", "schema-id": 1, "identifier-field-ids": [1, 3], "fields": NESTED},
    "current-schema-id": 1,
    "schemas": V2_RICH["schemas"],
    "partition-spec": [
        {"source-id": 3, "name": "ts_day", "transform": "void"},
        {"source-id": 1, "name": "id_bucket", "transform": "bucket[16]"},
    ],
    "default-spec-id": 1,
    "partition-specs": [
        {"spec-id": 0, "fields": [{"source-id": 3, "name": "ts_day", "transform": "day"}]},
        {
            "spec-id": 1,
            "fields": [
                {"source-id": 3, "name": "ts_day", "transform": "void"},
                {"source-id": 1, "name": "id_bucket", "transform": "bucket[16]"},
            ],
        },
    ],
    "last-partition-id": 1001,
    "default-sort-order-id": 1,
    "sort-orders": [UNSORTED, ORDER],
    "properties": {"write.format.default": "avro"},
    "current-snapshot-id": SECOND,
    "snapshots": [
        {
            "snapshot-id": FIRST,
            "timestamp-ms": 1515100955770,
            "manifests": [f"{LOCATION}/metadata/m0.avro", f"{LOCATION}/metadata/m1.avro"],
        },
        {
            "snapshot-id": SECOND,
            "parent-snapshot-id": FIRST,
            "timestamp-ms": 1515187355770,
            "manifest-list": f"{LOCATION}/metadata/s1.avro",
            "summary": {"operation": "append"},
            "schema-id": 1,
        },
    ],
    "snapshot-log": V2_SMALL["snapshot-log"],
    "metadata-log": V2_RICH["metadata-log"],
}

V1_SNAPSHOTS: Document = {
    **V1_MINIMAL,
    "last-updated-ms": 1515187355770,
    **{name: V1_RICH[name] for name in ("current-snapshot-id", "snapshots", "snapshot-log")},
    "snapshots": [V1_RICH["snapshots"][0], {**V1_RICH["snapshots"][1], "schema-id": 0}],
}

V3_SMALL: Document = {
    **V2_SMALL,
    "format-version": 3,
    "snapshots": [
        {**V2_SMALL["snapshots"][0], "first-row-id": 0, "added-rows": 100},
        {**V2_SMALL["snapshots"][1], "first-row-id": 100, "added-rows": 20, "key-id": "5f819b"},
    ],
    "next-row-id": 120,
    "encryption-keys": [
        {"key-id": "5f819b", "encrypted-key-metadata": "aWNlYmVyZwo="},
        {
            "key-id": "6a920c",
            "encrypted-key-metadata": "aWNlYmVyZwo=",
            "encrypted-by-id": "5f819b",
            "properties": {"kms": "test"},
        },
    ],
}

NEW_TYPES: list[Document] = [
    {
        "id": 1,
        "name": "id",
        "required": True,
        "type": "uuid",
        "initial-default": "0db3e2a8-9d1d-42b9-aa7b-74ebe558dceb",
        "write-default": "ec5911be-b0a7-458c-8438-c9a3e53cffae",
    },
    {
        "id": 2,
        "name": "amount",
        "required": False,
        "type": "decimal(9, 2)",
        "initial-default": "14.20",
        "write-default": "0.00",
    },
    {"id": 3, "name": "ns", "required": False, "type": "timestamp_ns"},
    {"id": 4, "name": "tz", "required": False, "type": "timestamptz_ns"},
    {"id": 5, "name": "nothing", "required": False, "type": "unknown"},
    {"id": 6, "name": "any", "required": False, "type": "variant"},
    {"id": 7, "name": "shape", "required": False, "type": "geometry(srid:4326)"},
    {"id": 8, "name": "place", "required": False, "type": "geography(srid:4326, karney)"},
    {
        "id": 9,
        "name": "point",
        "required": True,
        "initial-default": {},
        "write-default": {},
        "type": {
            "type": "struct",
            "fields": [
                {"id": 10, "name": "x", "required": True, "type": "int", "initial-default": 0, "write-default": 1},
                {
                    "id": 11,
                    "name": "on",
                    "required": True,
                    "type": "date",
                    "initial-default": "2017-11-16",
                    "write-default": "2017-11-16",
                },
            ],
        },
    },
    {
        "id": 12,
        "name": "tags",
        "required": True,
        "initial-default": ["a"],
        "write-default": ["a", "b"],
        "type": {"type": "list", "element-id": 13, "element-required": True, "element": "string"},
    },
]
"""The types of v3, and defaults."""

V3_TYPES: Document = {
    **V3_MINIMAL,
    "last-column-id": 13,
    "schemas": [{"type": "struct", "schema-id": 0, "fields": NEW_TYPES}],
}

V3_RICH: Document = {
    **V3_SMALL,
    "last-column-id": 13,
    "schemas": [{"type": "struct", "schema-id": 0, "identifier-field-ids": [1, 11], "fields": NEW_TYPES}],
    "default-spec-id": 1,
    "partition-specs": [
        {"spec-id": 0, "fields": []},
        {
            "spec-id": 1,
            "fields": [
                {"source-id": 3, "field-id": 1000, "name": "ns_hour", "transform": "hour"},
                {"source-id": 10, "field-id": 1001, "name": "x", "transform": "identity"},
            ],
        },
    ],
    "last-partition-id": 1001,
    "statistics": STATISTICS,
    "partition-statistics": PARTITION_STATISTICS,
}

BASES: dict[str, Document] = {
    "v1-minimal": V1_MINIMAL,
    "v1-snapshots": V1_SNAPSHOTS,
    "v1-rich": V1_RICH,
    "v2-minimal": V2_MINIMAL,
    "v2-small": V2_SMALL,
    "v2-nested": V2_NESTED,
    "v2-statistics": V2_STATISTICS,
    "v2-rich": V2_RICH,
    "v3-minimal": V3_MINIMAL,
    "v3-small": V3_SMALL,
    "v3-types": V3_TYPES,
    "v3-rich": V3_RICH,
}
"""The valid documents by name."""

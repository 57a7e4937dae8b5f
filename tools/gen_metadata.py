"""Write a large v2 table metadata file: `gen_metadata.py FILE [--snapshots N] [--schemas N] [--columns N]`.

The file describes a table with a commit every minute for a week and a hundred schema changes: about 8 MB with the
defaults. The same arguments give the same bytes.
"""

from __future__ import annotations

import argparse
import json
import random
import uuid
from pathlib import Path
from typing import Any

from tools.entry_point import run_main

START_MS = 1_700_000_000_000
MINUTE_MS = 60_000
LOCATION = "s3://bucket/warehouse/db/table"
TYPES = ("long", "string", "int", "double", "decimal(18, 4)", "timestamptz", "date", "boolean", "uuid", "binary")
RENAMED = 7
"""The column whose name changes with every schema."""


def schema(number: int, columns: int) -> dict[str, Any]:
    """Return one of the table's schemas."""
    fields = [
        {
            "id": place + 1,
            "name": f"col_8_v{number}" if place == RENAMED else f"col_{place + 1}",
            "required": place == 0,
            "type": TYPES[place % len(TYPES)],
            "doc": f"documentation of column {place + 1}",
        }
        for place in range(columns)
    ]
    return {"type": "struct", "schema-id": number, "identifier-field-ids": [1], "fields": fields}


def snapshot(number: int, ids: list[int], schemas: int) -> dict[str, Any]:
    """Return one of the table's snapshots."""
    own, total = ids[number], number + 1
    made = {
        "sequence-number": total,
        "snapshot-id": own,
        "timestamp-ms": START_MS + number * MINUTE_MS,
        "summary": {
            "operation": "append",
            "spark.app.id": "local-1700000000",
            "added-data-files": "4",
            "added-records": "1000",
            "added-files-size": "123456",
            "changed-partition-count": "1",
            "total-records": str(1000 * total),
            "total-files-size": str(123456 * total),
            "total-data-files": str(4 * total),
            "total-delete-files": "0",
            "total-position-deletes": "0",
            "total-equality-deletes": "0",
        },
        "manifest-list": f"{LOCATION}/metadata/snap-{own}-1-{uuid.UUID(int=own)}.avro",
        "schema-id": number % schemas,
    }
    return made | ({"parent-snapshot-id": ids[number - 1]} if number else {})


def metadata(snapshots: int, schemas: int, columns: int) -> dict[str, Any]:
    """Return the metadata of a table."""
    numbers = random.Random(3)
    ids = [numbers.getrandbits(62) for _ in range(snapshots)]
    tags = {
        f"tag{place}": {"snapshot-id": own, "type": "tag", "max-ref-age-ms": 10**10}
        for place, own in enumerate(ids[:1000:10])
    }
    bucket = {"name": "col_1_bucket", "transform": "bucket[16]", "source-id": 1, "field-id": 1000}
    day = {"name": "col_6_day", "transform": "day", "source-id": 6, "field-id": 1001}
    ascending = {"transform": "identity", "source-id": 1, "direction": "asc", "null-order": "nulls-first"}
    return {
        "format-version": 2,
        "table-uuid": "9c12d441-03fe-4693-9a96-a0705ddf69c1",
        "location": LOCATION,
        "last-sequence-number": snapshots,
        "last-updated-ms": START_MS + snapshots * MINUTE_MS,
        "last-column-id": columns,
        "current-schema-id": schemas - 1,
        "schemas": [schema(number, columns) for number in range(schemas)],
        "default-spec-id": 1,
        "partition-specs": [{"spec-id": 0, "fields": []}, {"spec-id": 1, "fields": [bucket, day]}],
        "last-partition-id": 1001,
        "default-sort-order-id": 1,
        "sort-orders": [{"order-id": 0, "fields": []}, {"order-id": 1, "fields": [ascending]}],
        "properties": {f"prop.{place}": f"value {place}" for place in range(50)},
        "current-snapshot-id": ids[-1],
        "refs": {"main": {"snapshot-id": ids[-1], "type": "branch"}, **tags},
        "snapshots": [snapshot(number, ids, schemas) for number in range(snapshots)],
        "statistics": [],
        "partition-statistics": [],
        "snapshot-log": [
            {"timestamp-ms": START_MS + place * MINUTE_MS, "snapshot-id": own} for place, own in enumerate(ids)
        ],
        "metadata-log": [
            {
                "timestamp-ms": START_MS + place * MINUTE_MS,
                "metadata-file": f"{LOCATION}/metadata/{place:05d}-{uuid.UUID(int=own)}.metadata.json",
            }
            for place, own in enumerate(ids[:100])
        ],
    }


def main() -> None:
    """Write the file."""
    parser = argparse.ArgumentParser(description="Write a large v2 table metadata file.")
    parser.add_argument("file", type=Path)
    parser.add_argument("--snapshots", type=int, default=10_000)
    parser.add_argument("--schemas", type=int, default=100)
    parser.add_argument("--columns", type=int, default=50)
    given = parser.parse_args()
    given.file.write_text(json.dumps(metadata(given.snapshots, given.schemas, given.columns)))


if __name__ == "__main__":
    run_main(main)

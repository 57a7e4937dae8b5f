"""Corruptions of the forms of table metadata: wrong types, missing members, and values outside every type."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from typing import Any

from tests.validate.corruptions import corruption

V2, V3, PARTITIONED = "position-deletes-parquet", "row-lineage-parquet", "partition-identity-v2"
BRANCHES = "branches-and-tags"
LONG = {"required": False, "type": "long"}


def set_at(*path: Any, value: Any) -> Callable[[Any], None]:
    """Set a member of the metadata, by the names and places on the way to it."""

    def change(bench: Any) -> None:
        parent: Any = bench.metadata
        for step in path[:-1]:
            parent = parent[step]
        if path[-1] == "+":
            parent.append(value)
        else:
            parent[path[-1]] = value

    return change


def drop(*path: Any) -> Callable[[Any], None]:
    """Drop a member of the metadata."""

    def change(bench: Any) -> None:
        parent: Any = bench.metadata
        for step in path[:-1]:
            parent = parent[step]
        del parent[path[-1]]

    return change


def column(type_: Any, **members: Any) -> Callable[[Any], None]:
    """Add a column to the current schema; ids inside of its type count on from 901."""

    def change(bench: Any) -> None:
        bench.metadata["last-column-id"] = 950
        bench.schema["fields"].append({"id": 900, "name": "added", "required": False, "type": type_, **members})

    return change


def _identifier_in_list(bench: Any) -> None:
    inner = {"type": "struct", "fields": [{"id": 902, "name": "a", "required": True, "type": "long"}]}
    column({"type": "list", "element-id": 901, "element-required": True, "element": inner}, required=True)(bench)
    bench.schema["identifier-field-ids"] = [902]


def statistics(**members: Any) -> Callable[[Any], None]:
    """Add a statistics file with one blob whose description is changed."""

    def change(bench: Any) -> None:
        snapshot = bench.snapshot
        blob = {
            "type": "t",
            "snapshot-id": snapshot["snapshot-id"],
            "sequence-number": snapshot["sequence-number"],
            "fields": [1],
            "properties": {},
        }
        bench.metadata["statistics"] = [
            {
                "snapshot-id": snapshot["snapshot-id"],
                "statistics-path": "file:/nowhere",
                "file-size-in-bytes": 1,
                "file-footer-size-in-bytes": 1,
                "blob-metadata": [{**blob, **members}],
            }
        ]

    return change


def key(**members: Any) -> Callable[[Any], None]:
    """Add an encryption key."""
    return set_at("encryption-keys", value=[{"key-id": "k", "encrypted-key-metadata": "AAAA", **members}])


def gzipped(bench: Any) -> None:
    bench.raw_metadata = gzip.compress(json.dumps(bench.metadata).encode())


ORDER = {
    "order-id": 5,
    "fields": [{"transform": "identity", "source-id": 1, "direction": "asc", "null-order": "nulls-first"}],
}
SPEC = ("partition-specs", 0, "fields", 0)


def order(**members: Any) -> Callable[[Any], None]:
    """Add a sort order whose field is changed; None drops a member."""
    field = {name: value for name, value in {**ORDER["fields"][0], **members}.items() if value is not None}  # type: ignore[index]
    return set_at("sort-orders", "+", value={"order-id": 5, "fields": [field]})


FORMS: list[tuple[str, str, str, Callable[[Any], None]]] = [
    ("JSC001", "schema-id-a-string", V2, set_at("schemas", 0, "schema-id", value="0")),
    ("JSC002", "identifiers-a-number", V2, set_at("schemas", 0, "identifier-field-ids", value=1)),
    ("JSC006", "struct-without-fields", V2, drop("schemas", 0, "fields")),
    ("JSC007", "list-without-element", V2, column({"type": "list", "element-id": 901, "element-required": False})),
    ("TYP013", "decimal-of-39-digits", V2, column("decimal(39, 2)")),
    ("TYP035", "edges-unknown", V3, column("geography(OGC:CRS84, flat)")),
    ("IDF001", "identifier-nested", V2, set_at("schemas", 0, "identifier-field-ids", value=[77])),
    ("IDF002", "identifier-in-a-list", V2, _identifier_in_list),
    ("DEF008", "default-of-variant", V3, column("variant", **{"initial-default": "01", "write-default": "01"})),
    (
        "DEF009",
        "default-of-struct-with-values",
        V3,
        column(
            {"type": "struct", "fields": [{"id": 901, "name": "a", **LONG}]},
            **{"initial-default": {"901": 5}, "write-default": {"901": 5}},
        ),
    ),
    ("SVJ009", "default-of-string-a-number", V3, column("string", **{"initial-default": 5, "write-default": 5})),
    ("ENC003", "wrapping-key-a-number", V3, key(**{"encrypted-by-id": 5})),
    ("ENC004", "key-properties-no-strings", V3, key(properties={"a": 1})),
    (
        "NAM002",
        "names-no-list",
        V2,
        set_at("properties", "schema.name-mapping.default", value=json.dumps([{"field-id": 1, "names": "id"}])),
    ),
    ("PAR016", "spec-fields-no-list", PARTITIONED, set_at("partition-specs", 0, "fields", value={})),
    ("PAR017", "source-id-a-string", PARTITIONED, set_at(*SPEC, "source-id", value="2")),
    ("PAR018", "source-ids-no-numbers", "partition-identity-v3", set_at(*SPEC, "source-ids", value=["2"])),
    ("PAR019", "field-id-a-string", PARTITIONED, set_at(*SPEC, "field-id", value="1000")),
    ("PAR020", "name-a-number", PARTITIONED, set_at(*SPEC, "name", value=7)),
    ("PAR022", "both-sources", "partition-identity-v3", set_at(*SPEC, "source-ids", value=[2])),
    ("REF001", "snapshot-id-a-string", BRANCHES, set_at("refs", "main", "snapshot-id", value="7")),
    ("SNP011", "added-rows-a-string", V3, set_at("snapshots", 0, "added-rows", value="1")),
    ("SRT006", "order-without-fields", V2, set_at("sort-orders", "+", value={"order-id": 5})),
    ("SRT010", "transform-a-number", V2, order(transform=5)),
    ("SRT011", "source-id-a-string", V2, order(**{"source-id": "1"})),
    ("SRT012", "source-ids-no-numbers", V3, order(**{"source-ids": ["1"], "source-id": None})),
    ("SRT008", "both-sources", V3, order(**{"source-ids": [1]})),
    ("SRT013", "direction-a-number", V2, order(direction=1)),
    ("SRT014", "null-order-a-number", V2, order(**{"null-order": 1})),
    ("STA008", "blob-type-a-number", V2, statistics(type=1)),
    ("STA009", "blob-snapshot-a-string", V2, statistics(**{"snapshot-id": "1"})),
    ("STA010", "blob-sequence-number-a-string", V2, statistics(**{"sequence-number": "1"})),
    ("STA011", "blob-fields-no-numbers", V2, statistics(fields=["1"])),
    ("STA012", "blob-properties-no-strings", V2, statistics(properties={"a": 1})),
    (
        "STA013",
        "snapshot-id-a-string",
        V2,
        set_at(
            "partition-statistics", value=[{"snapshot-id": "1", "statistics-path": "file:/x", "file-size-in-bytes": 1}]
        ),
    ),
    ("TMD010", "partition-spec-an-object", "partition-identity-v1", set_at("partition-spec", value={})),
    ("TMD016", "snapshots-an-object", V2, set_at("snapshots", value={})),
    ("TMD022", "statistics-an-object", V2, set_at("statistics", value={})),
    ("TMD023", "partition-statistics-an-object", V2, set_at("partition-statistics", value={})),
    ("TMD025", "keys-an-object", V3, set_at("encryption-keys", value={})),
]

for _code, _name, _table, _change in FORMS:
    corruption(_code, f"form-{_name}", _table, "metadata")(_change)

corruption("NOT009", "gzip-without-suffix", V2, "metadata", severity="warning")(gzipped)


@corruption("PAR008", "equivalent-spec", PARTITIONED, "metadata", severity="warning")
def _equivalent(bench: Any) -> None:
    fields = bench.metadata["partition-specs"][0]["fields"]
    again = [{**field, "field-id": 2000 + place} for place, field in enumerate(fields)]
    bench.metadata["partition-specs"].append({"spec-id": 9, "fields": again})
    bench.metadata["last-partition-id"] = 2100


corruption("LOC001", "location-without-scheme", V2, "metadata", severity="tolerated")(
    set_at("location", value="/tmp/iceberg-conformance/tables/position-deletes-parquet")
)

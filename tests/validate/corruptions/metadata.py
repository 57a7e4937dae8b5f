"""Corruptions of metadata files (Table Metadata Fields; Schemas; Partitioning; Snapshots; Snapshot References)."""

from __future__ import annotations

import copy
from typing import Any

from tests.validate.corruptions import corruption

V1, V2, V3 = "types-v1-parquet", "position-deletes-parquet", "row-lineage-parquet"
TYPES, PARTITIONED, BRANCHES = "types-v2-parquet", "partition-identity-v2", "branches-and-tags"

REQUIRED = {
    "location": "TMD003",
    "last-sequence-number": "TMD004",
    "last-updated-ms": "TMD005",
    "last-column-id": "TMD006",
    "schemas": "TMD008",
    "current-schema-id": "TMD009",
    "partition-specs": "TMD011",
    "default-spec-id": "TMD012",
    "last-partition-id": "TMD013",
    "sort-orders": "TMD019",
    "default-sort-order-id": "TMD020",
}


def _without(name: str) -> Any:
    def mutate(bench: Any) -> None:
        del bench.metadata[name]

    return mutate


def _with(name: str, value: Any) -> Any:
    def mutate(bench: Any) -> None:
        bench.metadata[name] = value

    return mutate


for _name, _code in REQUIRED.items():
    if _name not in ("schemas", "current-schema-id", "partition-specs", "default-spec-id"):  # v1 has other fields
        corruption(_code, f"no-{_name}", V2, "metadata")(_without(_name))
for _name, _code in REQUIRED.items():
    corruption(_code, f"{_name}-of-another-type", V2, "metadata")(_with(_name, {"no": "such thing"}))


@corruption("TMD001", "version-unknown", V2, "metadata")
def _version(bench: Any) -> None:
    bench.metadata["format-version"] = 9


@corruption("TMD002", "uuid-no-uuid", V2, "metadata")
def _uuid(bench: Any) -> None:
    bench.metadata["table-uuid"] = "0-1-2"


@corruption("TMD008", "two-schemas-one-id", V2, "metadata")
def _two_schemas(bench: Any) -> None:
    other = copy.deepcopy(bench.schema)
    other["fields"][0]["name"] = "other"
    bench.metadata["schemas"].append(other)


@corruption("TMD009", "current-schema-unknown", V2, "metadata")
def _current_schema(bench: Any) -> None:
    bench.metadata["current-schema-id"] = 77


@corruption("TYP002", "two-columns-one-id", V2, "metadata")
def _two_columns(bench: Any) -> None:
    bench.schema["fields"].append({**bench.schema["fields"][0], "name": "twin"})


@corruption("RES001", "reserved-id", V2, "metadata")
def _reserved(bench: Any) -> None:
    bench.schema["fields"].append({"id": 2147483545, "name": "pos2", "required": False, "type": "long"})
    bench.metadata["last-column-id"] = 2147483646


@corruption("TMD006", "last-column-id-low", V2, "metadata")
def _last_column(bench: Any) -> None:
    bench.metadata["last-column-id"] = 1


@corruption("IDF003", "identifier-optional", V2, "metadata")
def _identifier(bench: Any) -> None:
    bench.schema["fields"][0]["required"] = False
    bench.schema["identifier-field-ids"] = [bench.schema["fields"][0]["id"]]


@corruption("VER004", "type-newer", V2, "metadata")
def _newer_type(bench: Any) -> None:
    _add(bench, "variant")


@corruption("TYP025", "unknown-required", V3, "metadata")
def _unknown_required(bench: Any) -> None:
    _add(bench, "unknown", required=True)


@corruption("JSC003", "type-no-type", V2, "metadata")
def _no_type(bench: Any) -> None:
    _add(bench, "number")


def _add(bench: Any, type_: Any, *, required: bool = False) -> None:
    number = bench.metadata["last-column-id"] + 1
    bench.metadata["last-column-id"] = number
    bench.schema["fields"].append({"id": number, "name": f"new{number}", "required": required, "type": type_})


@corruption("EVO003", "type-changed", V2, "metadata")
def _changed_type(bench: Any) -> None:
    other = copy.deepcopy(bench.schema)
    other["schema-id"] = 50
    other["fields"][0]["type"] = "string"
    bench.metadata["schemas"].append(other)


@corruption("NAM009", "mapping-no-json", V2, "metadata")
def _mapping(bench: Any) -> None:
    bench.metadata["properties"]["schema.name-mapping.default"] = "[{"


@corruption("TMD011", "two-specs-one-id", PARTITIONED, "metadata")
def _two_specs(bench: Any) -> None:
    other = copy.deepcopy(bench.metadata["partition-specs"][-1])
    other["fields"] = other["fields"][:1]
    bench.metadata["partition-specs"].append(other)


@corruption("PAR025", "two-fields-one-id", PARTITIONED, "metadata")
def _two_fields(bench: Any) -> None:
    fields = bench.metadata["partition-specs"][-1]["fields"]
    fields[1]["field-id"] = fields[0]["field-id"]


@corruption("PAR002", "two-fields-one-name", PARTITIONED, "metadata", severity="warning")
def _two_names(bench: Any) -> None:
    fields = bench.metadata["partition-specs"][-1]["fields"]
    fields[1]["name"] = fields[0]["name"]


@corruption("PAR003", "one-id-two-specs", PARTITIONED, "metadata")
def _shared_field(bench: Any) -> None:
    fields = copy.deepcopy(bench.metadata["partition-specs"][-1]["fields"][:1])
    fields[0] |= {"source-id": 3, "name": "another", "transform": "bucket[4]"}
    bench.metadata["partition-specs"].append({"spec-id": 40, "fields": fields})


@corruption("TMD012", "default-spec-unknown", PARTITIONED, "metadata")
def _default_spec(bench: Any) -> None:
    bench.metadata["default-spec-id"] = 99


@corruption("TMD013", "last-partition-id-low", PARTITIONED, "metadata")
def _last_partition(bench: Any) -> None:
    bench.metadata["last-partition-id"] = 1000


@corruption("PAR004", "source-unknown", PARTITIONED, "metadata")
def _source(bench: Any) -> None:
    bench.metadata["partition-specs"][-1]["fields"][0]["source-id"] = 5000


@corruption("PAR021", "transform-a-number", PARTITIONED, "metadata")
def _transform(bench: Any) -> None:
    bench.metadata["partition-specs"][-1]["fields"][0]["transform"] = 7


@corruption("TRN017", "bucket-beyond-int", PARTITIONED, "metadata")
def _too_many_buckets(bench: Any) -> None:
    bench.metadata["partition-specs"][-1]["fields"][0]["transform"] = "bucket[4294967296]"


@corruption("PAR007", "transform-unknown", PARTITIONED, "metadata", severity="warning")
def _unknown_transform(bench: Any) -> None:
    bench.metadata["partition-specs"][-1]["fields"][0]["transform"] = "zorder"


@corruption("TMD020", "default-order-unknown", V2, "metadata")
def _default_order(bench: Any) -> None:
    bench.metadata["default-sort-order-id"] = 12


@corruption("SRT002", "unsorted-sorts", V2, "metadata")
def _unsorted(bench: Any) -> None:
    bench.metadata["sort-orders"][0]["fields"] = [_sort()]


@corruption("TMD019", "two-orders-one-id", V2, "metadata")
def _two_orders(bench: Any) -> None:
    bench.metadata["sort-orders"] += [
        {"order-id": 3, "fields": [_sort()]},
        {"order-id": 3, "fields": [{**_sort(), "direction": "desc"}]},
    ]


@corruption("SRT007", "direction-unknown", V2, "metadata")
def _direction(bench: Any) -> None:
    bench.metadata["sort-orders"].append({"order-id": 3, "fields": [{**_sort(), "direction": "up"}]})


@corruption("PAR004", "order-source-unknown", V2, "metadata")
def _order_source(bench: Any) -> None:
    bench.metadata["sort-orders"].append({"order-id": 3, "fields": [{**_sort(), "source-id": 999}]})
    bench.metadata["default-sort-order-id"] = 3


def _sort() -> dict[str, Any]:
    return {"transform": "identity", "source-id": 1, "direction": "asc", "null-order": "nulls-first"}


# Snapshots


@corruption("SNP001", "two-snapshots-one-id", V2, "metadata")
def _two_snapshots(bench: Any) -> None:
    bench.metadata["snapshots"].append({**bench.snapshot, "timestamp-ms": 1})


@corruption("TMD015", "current-snapshot-unknown", V2, "metadata")
def _current_snapshot(bench: Any) -> None:
    bench.metadata["current-snapshot-id"] = 4711


@corruption("TMD015", "main-elsewhere", BRANCHES, "metadata")
def _main(bench: Any) -> None:
    bench.metadata["refs"]["main"]["snapshot-id"] = bench.metadata["snapshots"][0]["snapshot-id"]


@corruption("REF002", "main-a-tag", BRANCHES, "metadata")
def _main_tag(bench: Any) -> None:
    bench.metadata["refs"]["main"]["type"] = "tag"


@corruption("REF002", "type-unknown", BRANCHES, "metadata")
def _ref_type(bench: Any) -> None:
    bench.metadata["refs"]["main"]["type"] = "bough"


@corruption("TMD021", "ref-dangling", BRANCHES, "metadata")
def _dangling(bench: Any) -> None:
    bench.metadata["refs"]["lost"] = {"snapshot-id": 5, "type": "tag"}


_LIMITS = {"min-snapshots-to-keep": "REF003", "max-snapshot-age-ms": "REF004", "max-ref-age-ms": "REF005"}
for _name, _code in _LIMITS.items():

    @corruption(_code, f"{_name}-zero", BRANCHES, "metadata")
    def _limit(bench: Any, name: str = _name) -> None:
        branch = {"snapshot-id": bench.metadata["current-snapshot-id"], "type": "branch", name: 0}
        bench.metadata["refs"]["limited"] = branch


@corruption("REF003", "tag-with-branch-limit", BRANCHES, "metadata")
def _tag_limit(bench: Any) -> None:
    tag = {"snapshot-id": bench.metadata["current-snapshot-id"], "type": "tag", "min-snapshots-to-keep": 3}
    bench.metadata["refs"]["limited"] = tag


@corruption("SNP005", "no-manifest-list", V2, "metadata")
def _no_list(bench: Any) -> None:
    del bench.snapshot["manifest-list"]


@corruption("TMD004", "snapshot-newer", V2, "metadata")
def _newer(bench: Any) -> None:
    bench.metadata["last-sequence-number"] = 1


@corruption("SNP003", "not-after-parent", V2, "metadata")
def _not_after(bench: Any) -> None:
    bench.snapshot["sequence-number"] = 1


@corruption("SNP002", "parent-minus-one", V2, "metadata", severity="tolerated")
def _minus_one(bench: Any) -> None:
    first = bench.metadata["snapshots"][0]
    assert "parent-snapshot-id" not in first
    first["parent-snapshot-id"] = -1


@corruption("SNP002", "own-ancestor", V2, "metadata")
def _cycle(bench: Any) -> None:
    bench.metadata["snapshots"][0]["parent-snapshot-id"] = bench.metadata["snapshots"][0]["snapshot-id"]


@corruption("SNP008", "operation-unknown", V2, "metadata")
def _operation(bench: Any) -> None:
    bench.snapshot["summary"]["operation"] = "merge"


@corruption("SNP007", "summary-no-strings", V2, "metadata")
def _summary(bench: Any) -> None:
    bench.snapshot["summary"] = ["append"]


@corruption("SNP007", "summary-missing", V2, "metadata")
def _no_summary(bench: Any) -> None:
    del bench.snapshot["summary"]


@corruption("SNP011", "added-rows-missing", V3, "metadata")
def _no_added_rows(bench: Any) -> None:
    del bench.snapshot["added-rows"]


@corruption("SNP004", "timestamp-a-text", V2, "metadata")
def _timestamp(bench: Any) -> None:
    bench.snapshot["timestamp-ms"] = "yesterday"


@corruption("SNP001", "id-missing", V2, "metadata")
def _no_id(bench: Any) -> None:
    del bench.metadata["snapshots"][0]["snapshot-id"]


@corruption("NOT005", "metric-no-number", V2, "metadata", severity="warning")
def _metric(bench: Any) -> None:
    bench.snapshot["summary"]["total-records"] = "many"


@corruption("SNP009", "schema-unknown", V2, "metadata")
def _snapshot_schema(bench: Any) -> None:
    bench.snapshot["schema-id"] = 77


@corruption("SNP012", "key-unknown", V3, "metadata")
def _key(bench: Any) -> None:
    bench.snapshot["key-id"] = "lost"


@corruption("SNP010", "no-first-row-id", V3, "metadata")
def _first_row(bench: Any) -> None:
    del bench.snapshot["first-row-id"]
    del bench.snapshot["added-rows"]


@corruption("SNP010", "negative-rows", V3, "metadata")
def _negative(bench: Any) -> None:
    bench.metadata["snapshots"][0]["first-row-id"] = -5


@corruption("TMD024", "next-row-id-low", V3, "metadata")
def _next_row(bench: Any) -> None:
    bench.metadata["next-row-id"] = 1


@corruption("TMD024", "next-row-id-missing", V3, "metadata")
def _no_next_row(bench: Any) -> None:
    del bench.metadata["next-row-id"]


@corruption("LIN023", "row-ids-twice", V3, "metadata")
def _rows_twice(bench: Any) -> None:
    first, second = [one for one in bench.metadata["snapshots"] if one["added-rows"] > 0][:2]
    second["first-row-id"] = first["first-row-id"]


@corruption("ENC002", "key-metadata-no-base64", V3, "metadata")
def _base64(bench: Any) -> None:
    bench.metadata["encryption-keys"] = [{"key-id": "k", "encrypted-key-metadata": "?"}]


@corruption("ENC001", "two-keys-one-id", V3, "metadata")
def _two_keys(bench: Any) -> None:
    key = {"key-id": "k", "encrypted-key-metadata": "aGk="}
    bench.metadata["encryption-keys"] = [key, {**key, "encrypted-key-metadata": "aG8="}]


@corruption("STA016", "two-partition-statistics", V2, "metadata")
def _two_statistics(bench: Any) -> None:
    row = {"snapshot-id": bench.metadata["current-snapshot-id"], "statistics-path": "file:/s", "file-size-in-bytes": 4}
    bench.metadata["partition-statistics"] = [row, row]


@corruption("TMD031", "log-without-id", V2, "metadata")
def _log(bench: Any) -> None:
    bench.metadata["snapshot-log"] = [{"timestamp-ms": 5}]


@corruption("TMD032", "log-without-file", V2, "metadata")
def _metadata_log(bench: Any) -> None:
    bench.metadata["metadata-log"] = [{"timestamp-ms": 5}]


@corruption("TMD017", "log-out-of-order", V2, "metadata", severity="warning")
def _log_order(bench: Any) -> None:
    bench.metadata["snapshot-log"][0]["timestamp-ms"] += 10**12


@corruption("TMD018", "log-names-itself", V2, "metadata")
def _log_self(bench: Any) -> None:
    entry = {"timestamp-ms": bench.metadata["last-updated-ms"], "metadata-file": bench.metadata_path}
    bench.metadata.setdefault("metadata-log", []).append(entry)


@corruption("TMD014", "property-a-number", V2, "metadata")
def _property(bench: Any) -> None:
    bench.metadata["properties"]["a"] = 1


@corruption("VER005", "refs-in-v1", V1, "metadata", severity="warning")
def _refs_in_v1(bench: Any) -> None:
    bench.metadata["next-row-id"] = 4


@corruption("TMD007", "deprecated-schema-differs", V1, "metadata")
def _deprecated(bench: Any) -> None:
    bench.metadata["schema"]["fields"][0]["name"] = "renamed"


@corruption("SNP006", "manifests-twice", V1, "metadata")
def _manifests_twice(bench: Any) -> None:
    bench.snapshot["manifests"] = ["file:/m.avro"]

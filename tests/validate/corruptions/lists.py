"""Corruptions of manifest lists (Manifest Lists; First Row ID Assignment)."""

from __future__ import annotations

from typing import Any

from tests.validate.corruptions import corruption

V2, V3, PARTITIONED = "position-deletes-parquet", "row-lineage-parquet", "partition-identity-v2"
VECTORS = "deletion-vectors-parquet"


def _pinned(bench: Any) -> Any:
    """The list's entry of a data manifest, which stays as it is."""
    manifest = bench.data
    manifest.pinned = True
    manifest.listed["manifest_length"] = len(manifest.content())
    return manifest.listed


for _name, _code in {
    "added_files_count": "MLS010",
    "existing_files_count": "MLS011",
    "deleted_files_count": "MLS012",
    "added_rows_count": "MLS013",
    "existing_rows_count": "MLS014",
    "deleted_rows_count": "MLS015",
}.items():

    @corruption(_code, f"{_name}-high", V2)
    def _count(bench: Any, name: str = _name) -> None:
        listed = _pinned(bench)
        listed[name] += 1

    @corruption(_code, f"{_name}-negative", V2)
    def _negative(bench: Any, name: str = _name) -> None:
        listed = _pinned(bench)
        listed[name] = -1


@corruption("MLS004", "length-short", V2)
def _length(bench: Any) -> None:
    _pinned(bench)["manifest_length"] -= 1


@corruption("MLS004", "length-negative", V2)
def _negative_length(bench: Any) -> None:
    _pinned(bench)["manifest_length"] = -7


@corruption("MLS005", "spec-unknown", V2)
def _spec(bench: Any) -> None:
    bench.data.listed["partition_spec_id"] = 6


@corruption("MLS003", "manifest-twice", V2)
def _twice(bench: Any) -> None:
    listed = dict(bench.data.listed)
    bench.manifest_list.records.append(listed)


@corruption("MLS003", "manifest-missing", V2)
def _missing(bench: Any) -> None:
    bench.replaced[bench.data.path] = None


@corruption("MLS006", "content-unknown", V2)
def _content(bench: Any) -> None:
    bench.data.listed["content"] = 5


@corruption("MAN010", "content-another", V2)
def _other_content(bench: Any) -> None:
    bench.data.listed["content"] = 1


@corruption("MLS007", "newer-than-snapshot", V2)
def _newer(bench: Any) -> None:
    bench.data.listed["sequence_number"] = bench.snapshot["sequence-number"] + 1


@corruption("MLS024", "of-another-attempt", V2)
def _attempt(bench: Any) -> None:
    own = bench.snapshot["snapshot-id"]
    listed = next(one for one in bench.manifest_list.records if one["added_snapshot_id"] == own)
    listed["sequence_number"] = listed["min_sequence_number"] = 1


@corruption("MLS008", "least-above-manifest", V2)
def _least(bench: Any) -> None:
    bench.data.listed["min_sequence_number"] = bench.data.listed["sequence_number"] + 1


@corruption("MLS008", "least-above-file", "manifests-rewritten-v2")
def _least_of_file(bench: Any) -> None:
    manifest = next(one for one in bench.manifests if one.listed["sequence_number"] > one.listed["min_sequence_number"])
    manifest.listed["min_sequence_number"] = manifest.listed["sequence_number"]


@corruption("MAN016", "added-by-another", V2, also=("NOT005",))
def _added_by(bench: Any) -> None:
    bench.entry["snapshot_id"] = 12345


@corruption("MLS016", "summary-missing", PARTITIONED)
def _summary_missing(bench: Any) -> None:
    bench.data.listed["partitions"].pop()


@corruption("MLS019", "null-not-marked", PARTITIONED)
def _null(bench: Any) -> None:
    entry = next(one for one in bench.data.listed["partitions"] if one["contains_null"])
    entry["contains_null"] = False


@corruption("MLS020", "nan-not-marked", "partition-floats")
def _nan(bench: Any) -> None:
    for manifest in bench.manifests:
        for stated in manifest.listed["partitions"]:
            if stated["contains_nan"]:
                stated["contains_nan"] = False


@corruption("MLS021", "lower-bound-high", PARTITIONED)
def _lower(bench: Any) -> None:
    entry = bench.data.listed["partitions"][1]
    entry["lower_bound"] = (2**31 - 1).to_bytes(4, "little")


@corruption("MLS022", "upper-bound-low", PARTITIONED)
def _upper(bench: Any) -> None:
    entry = bench.data.listed["partitions"][1]
    entry["upper_bound"] = (-(2**31)).to_bytes(4, "little", signed=True)


@corruption("MLS021", "lower-bound-missing", PARTITIONED)
def _no_lower(bench: Any) -> None:
    bench.data.listed["partitions"][1]["lower_bound"] = None


@corruption("MLS022", "upper-bound-of-another-length", PARTITIONED)
def _short_upper(bench: Any) -> None:
    bench.data.listed["partitions"][1]["upper_bound"] = b"\x01"


@corruption("LIN026", "delete-manifest-with-row-ids", VECTORS)
def _delete_rows(bench: Any) -> None:
    bench.deletes.listed["first_row_id"] = 0


@corruption("LIN027", "data-manifest-without-row-ids", V3)
def _no_rows(bench: Any) -> None:
    bench.data.listed["first_row_id"] = None


@corruption("LIN002", "row-ids-overlap", V3, also=("SNP011",))
def _overlap(bench: Any) -> None:
    own = bench.snapshot["snapshot-id"]
    older = next(one for one in bench.manifests if _inherits(one) and one.listed["added_snapshot_id"] != own)
    older.listed["first_row_id"] += 1


@corruption("TMD024", "row-ids-not-given", V3, also=("SNP011",))
def _not_given(bench: Any) -> None:
    manifest = next(one for one in bench.manifests if _inherits(one))
    manifest.listed["first_row_id"] = bench.metadata["next-row-id"]


@corruption("LIN028", "row-ids-of-before", "deletion-vectors-after-upgrade")
def _before(bench: Any) -> None:
    own = bench.snapshot["snapshot-id"]
    bench.snapshot["first-row-id"] = bench.metadata["next-row-id"] - bench.snapshot["added-rows"]
    manifest = next(one for one in bench.manifests if one.listed["content"] == 0)
    manifest.listed["added_snapshot_id"] = own
    manifest.listed["sequence_number"] = bench.snapshot["sequence-number"]
    for record in manifest.records:
        record["status"], record["snapshot_id"] = 1, own
        record["sequence_number"] = record["file_sequence_number"] = None
    bench.snapshot["first-row-id"] = manifest.listed["first_row_id"] + 1
    bench.snapshot["added-rows"] -= 1


def _inherits(manifest: Any) -> bool:
    return manifest.listed["content"] == 0 and any(
        one["status"] != 2 and one["data_file"]["first_row_id"] is None for one in manifest.records
    )


@corruption("MLS018", "row-ids-negative", V3)
def _negative_row_id(bench: Any) -> None:
    bench.data.listed["first_row_id"] = -3


@corruption("MLS002", "cut", V2)
def _cut(bench: Any) -> None:
    bench.replaced[bench.manifest_list.path] = bench.manifest_list.content()[:-9]


@corruption("MLS002", "no-avro", V2)
def _no_avro(bench: Any) -> None:
    bench.replaced[bench.manifest_list.path] = b"PAR1" * 9


@corruption("SNP005", "missing", V2)
def _missing_list(bench: Any) -> None:
    bench.replaced[bench.manifest_list.path] = None


for _field, _code in {
    "manifest_path": "MLS003",
    "manifest_length": "MLS004",
    "partition_spec_id": "MLS005",
    "added_snapshot_id": "MLS009",
}.items():

    @corruption(_code, f"schema-without-{_field}", V2)
    def _drop(bench: Any, field: str = _field) -> None:
        bench.manifest_list.drop(field)

    @corruption(_code, f"schema-{_field}-without-id", V2)
    def _no_id(bench: Any, field: str = _field) -> None:
        del bench.manifest_list.field(field)["field-id"]

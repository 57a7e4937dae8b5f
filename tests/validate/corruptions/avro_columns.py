"""Corruptions of the Avro columns of manifests and lists: optional or required against the spec, nulls, other lists."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.validate.corruptions import Mutate, corruption

V2, V3 = "position-deletes-parquet", "row-lineage-parquet"
EQUALITY, VECTORS, PARTITIONED = "equality-deletes-parquet", "deletion-vectors-parquet", "partition-identity-v2"
REWRITTEN = "manifests-rewritten"

# Columns: their code, the table, and what stands in them where a null stood before that the column no longer permits.

ENTRY: dict[str, tuple[str, str, Any]] = {
    "status": ("MAN011", V2, None),
    "file_sequence_number": ("MAN014", REWRITTEN, None),
    "data_file": ("MAN015", V2, None),
}
FILE: dict[str, tuple[str, str, Any]] = {
    "content": ("DFL001", V2, None),
    "file_path": ("DFL002", V2, None),
    "file_format": ("DFL003", V2, None),
    "record_count": ("DFL005", V2, None),
    "file_size_in_bytes": ("DFL006", V2, None),
    "column_sizes": ("DFL011", V2, []),
    "value_counts": ("DFL012", V2, []),
    "null_value_counts": ("DFL013", V2, []),
    "nan_value_counts": ("DFL014", V2, []),
    "lower_bounds": ("DFL016", V2, []),
    "upper_bounds": ("DFL017", V2, []),
    "key_metadata": ("DFL018", V2, b""),
    "split_offsets": ("DFL019", V2, [4]),
    "equality_ids": ("DFL020", EQUALITY, []),
    "sort_order_id": ("DFL021", V2, 0),
    "first_row_id": ("DFL022", REWRITTEN, None),
    "referenced_data_file": ("DFL023", VECTORS, None),
    "content_offset": ("DFL024", VECTORS, None),
    "content_size_in_bytes": ("DFL025", VECTORS, None),
}
LIST: dict[str, tuple[str, str, Any]] = {
    "manifest_path": ("MLS003", V2, None),
    "manifest_length": ("MLS004", V2, None),
    "partition_spec_id": ("MLS005", V2, None),
    "sequence_number": ("MLS007", V2, None),
    "min_sequence_number": ("MLS008", V2, None),
    "added_snapshot_id": ("MLS009", V2, None),
    "partitions": ("MLS016", PARTITIONED, []),
    "key_metadata": ("MLS017", V2, b""),
    "first_row_id": ("MLS018", V3, None),
}
SUMMARY: dict[str, tuple[str, str, Any]] = {
    "contains_null": ("MLS019", PARTITIONED, None),
    "contains_nan": ("MLS020", PARTITIONED, False),
    "lower_bound": ("MLS021", PARTITIONED, None),
    "upper_bound": ("MLS022", PARTITIONED, None),
}


def _flip(field: dict[str, Any]) -> bool:
    """Make an optional column required, or the other way round; whether it is required now."""
    if isinstance(field["type"], list):
        (field["type"],) = (one for one in field["type"] if one != "null")
        field.pop("default", None)
        return True
    field["type"] = ["null", field["type"]]
    return False


def _without_null(rows: list[dict[str, Any]], name: str) -> bool:
    return all(row[name] is not None for row in rows)


def _fill(rows: list[dict[str, Any]], name: str, value: Any) -> None:
    for row in rows:
        row[name] = value if row[name] is None else row[name]


def _of_entries(name: str, value: Any) -> Mutate:
    def mutate(bench: Any) -> None:
        manifest = next(one for one in bench.manifests if value is not None or _without_null(one.records, name))
        _flip(manifest.field(name))
        _fill(manifest.records, name, value)

    return mutate


def _of_files(name: str, value: Any, *, of_deletes: bool) -> Mutate:
    def mutate(bench: Any) -> None:
        manifests = [bench.deletes] if of_deletes else bench.manifests
        manifest = next(one for one in manifests if value is not None or _without_null(one.files, name))
        _flip(manifest.field("data_file", name))
        _fill(manifest.files, name, value)

    return mutate


def _of_list(name: str, value: Any) -> Mutate:
    def mutate(bench: Any) -> None:
        _flip(bench.manifest_list.field(name))
        _fill(bench.manifest_list.records, name, value)

    return mutate


def _of_summaries(name: str, value: Any) -> Mutate:
    def mutate(bench: Any) -> None:
        _flip(bench.manifest_list.field("partitions", name))
        for listed in bench.manifest_list.records:
            _fill(listed["partitions"], name, value)

    return mutate


for _name, (_code, _table, _value) in ENTRY.items():
    corruption(_code, f"{_name}-flipped", _table, severity="warning")(_of_entries(_name, _value))
for _name, (_code, _table, _value) in FILE.items():
    _change = _of_files(_name, _value, of_deletes=_table in (EQUALITY, VECTORS))
    corruption(_code, f"{_name}-flipped", _table, severity="warning")(_change)
for _name, (_code, _table, _value) in LIST.items():
    corruption(_code, f"{_name}-flipped", _table, severity="warning")(_of_list(_name, _value))
for _name, (_code, _table, _value) in SUMMARY.items():
    corruption(_code, f"{_name}-flipped", _table, severity="warning")(_of_summaries(_name, _value))


# Nulls


@corruption("MAN011", "status-null", V2)
def _null_status(bench: Any) -> None:
    _flip(bench.data.field("status"))
    bench.entry["status"] = None
    bench.data.pinned = True
    bench.data.listed["manifest_length"] = len(bench.data.content())


def _null_inside(name: str) -> Mutate:
    def mutate(bench: Any) -> None:
        manifest = bench.deletes if name == "equality_ids" else bench.data
        made = next(one for one in manifest.field("data_file", name)["type"] if one != "null")
        if isinstance(made["items"], dict):
            value = next(one for one in made["items"]["fields"] if one["name"] == "value")
            value["type"] = ["null", value["type"]]
            item: Any = {"key": 1, "value": None}
        else:
            made["items"], item = ["null", made["items"]], None
        file = bench.delete_file if name == "equality_ids" else bench.file
        file[name] = [item]

    return mutate


for _name, _code in {
    "column_sizes": "DFL011",
    "value_counts": "DFL012",
    "null_value_counts": "DFL013",
    "nan_value_counts": "DFL014",
    "lower_bounds": "DFL016",
    "upper_bounds": "DFL017",
    "split_offsets": "DFL019",
    "equality_ids": "DFL020",
}.items():
    _table = EQUALITY if _name == "equality_ids" else V2
    corruption(_code, f"{_name}-null-inside", _table)(_null_inside(_name))


@corruption("MLS007", "column-missing", V2, also=("MLS008", "MLS024"))
def _no_numbers(bench: Any) -> None:
    bench.manifest_list.drop("sequence_number")


@corruption("MLS007", "negative", V2, also=("MLS008", "MLS024"))
def _negative(bench: Any) -> None:
    bench.data.listed["sequence_number"] = -1


# Forms of Avro types that no writer of the spec makes


@corruption("AVR004", "map-not-logical", V2, severity="warning")
def _no_logical_map(bench: Any) -> None:
    made = next(one for one in bench.data.field("data_file", "column_sizes")["type"] if one != "null")
    del made["logicalType"]


@corruption("AVR013", "element-id-of-summaries", PARTITIONED, severity="warning")
def _element_id(bench: Any) -> None:
    made = next(one for one in bench.manifest_list.field("partitions")["type"] if one != "null")
    made["element-id"] = 9


@corruption("AVR013", "element-without-id", V2, severity="warning")
def _no_element_id(bench: Any) -> None:
    made = next(one for one in bench.data.field("data_file", "split_offsets")["type"] if one != "null")
    del made["element-id"]


@corruption("DFL004", "partition-field-renamed", PARTITIONED, severity="warning")
def _renamed(bench: Any) -> None:
    field = bench.data.field("data_file", "partition")["type"]["fields"][0]
    name, field["name"] = field["name"], "other"
    for file in bench.data.files:
        file["partition"]["other"] = file["partition"].pop(name)


@corruption("DFL004", "partition-field-required", "partition-truncate", severity="warning")
def _partition_required(bench: Any) -> None:
    for manifest in bench.manifests:
        for field in manifest.field("data_file", "partition")["type"]["fields"]:
            if all(file["partition"][field["name"]] is not None for file in manifest.files):
                _flip(field)


@corruption("DFL004", "partition-field-missing", PARTITIONED)
def _partition_missing(bench: Any) -> None:
    fields = bench.data.field("data_file", "partition")["type"]["fields"]
    gone = fields.pop()
    for file in bench.data.files:
        del file["partition"][gone["name"]]


# What manifests of another snapshot say


def _unlike_an_older_list(name: str, change: Callable[[int], int], *, gone: bool = False) -> Mutate:
    def mutate(bench: Any) -> None:
        own = bench.snapshot["snapshot-id"]
        manifest = next(one for one in bench.manifests if one.listed["added_snapshot_id"] != own)
        manifest.pinned = True
        manifest.listed["manifest_length"] = len(manifest.content())
        manifest.listed[name] = change(manifest.listed[name])
        if gone:  # else the manifest shows which of the lists is wrong, and the older one is right
            bench.replaced[manifest.path] = None

    return mutate


GONE = ("MLS003",)
"""The finding of a manifest that is missing."""

for _name, (_code, _also) in {
    "partition_spec_id": ("MLS005", ()),
    "content": ("MLS006", GONE),
    "sequence_number": ("MLS007", ()),
    "added_snapshot_id": ("MLS009", ()),
    "added_files_count": ("MLS010", GONE),
    "existing_files_count": ("MLS011", GONE),
    "deleted_files_count": ("MLS012", GONE),
    "added_rows_count": ("MLS013", GONE),
    "existing_rows_count": ("MLS014", GONE),
    "deleted_rows_count": ("MLS015", GONE),
}.items():
    corruption(_code, f"{_name}-unlike-an-older-list", V2, snapshots="all", also=("FIO001", *_also))(
        _unlike_an_older_list(_name, lambda value: 1 - value if value in (0, 1) else value - 1, gone=_also is GONE)
    )
corruption("LIN026", "unlike-an-older-list", V3, snapshots="all", also=("FIO001", "LIN002", "SNP011"))(
    _unlike_an_older_list("first_row_id", lambda value: value + 1)
)

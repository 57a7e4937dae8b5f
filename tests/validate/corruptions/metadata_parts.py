"""Corruptions of single parts of table metadata that the tables of other modules leave whole."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.validate.corruptions import corruption
from tests.validate.corruptions.metadata_forms import BRANCHES, LONG, PARTITIONED, V2, V3, column, drop, order, set_at

V1, IDENTITY_V3, NESTED = "types-v1-parquet", "partition-identity-v3", "nested-parquet"

Change = Callable[[Any], None]


def _key(**members: Any) -> Change:
    """Add an encryption key with these members alone."""
    return set_at("encryption-keys", value=[members])


def _identifier(type_: Any, **members: Any) -> Change:
    """Add a required column that identifies rows."""

    def change(bench: Any) -> None:
        column(type_, required=True, **members)(bench)
        bench.schema["identifier-field-ids"] = [900]

    return change


def _one_source_in_a_list(bench: Any) -> None:
    drop("partition-specs", 0, "fields", 0, "source-id")(bench)
    set_at("partition-specs", 0, "fields", 0, "source-ids", value=[2])(bench)


def _source_in_a_list(bench: Any) -> None:
    field = {"name": "p", "transform": "identity", "source-id": 8, "field-id": 1500}
    bench.metadata["partition-specs"].append({"spec-id": 9, "fields": [field]})
    bench.metadata |= {"last-partition-id": 1500, "default-spec-id": 9}


def _unordered_log(bench: Any) -> None:
    made = bench.metadata["last-updated-ms"]
    bench.metadata["metadata-log"] = [
        {"timestamp-ms": made - 5, "metadata-file": "file:/t/v1.metadata.json"},
        {"timestamp-ms": made - 9, "metadata-file": "file:/t/v2.metadata.json"},
    ]


def _manifests_for_a_list(bench: Any) -> None:
    first = bench.metadata["snapshots"][0]
    first["manifests"] = [first.pop("manifest-list")]


TWICE = {"type": "struct", "fields": [{"id": 901, "name": "a", **LONG}, {"id": 902, "name": "a", **LONG}]}
SHARED = {
    "type": "struct",
    "fields": [
        {"id": 901, "name": "a.b", **LONG},
        {"id": 902, "name": "a", **LONG, "type": {"type": "struct", "fields": [{"id": 903, "name": "b", **LONG}]}},
    ],
}

PARTS: list[tuple[str, str, str, Change]] = [
    ("ENC001", "key-id-missing", V3, _key(**{"encrypted-key-metadata": "AAAA"})),
    ("ENC001", "key-id-a-number", V3, _key(**{"key-id": 1, "encrypted-key-metadata": "AAAA"})),
    ("ENC002", "key-missing", V3, _key(**{"key-id": "k"})),
    ("ENC002", "key-a-number", V3, _key(**{"key-id": "k", "encrypted-key-metadata": 1})),
    (
        "IDF001",
        "identifier-a-list",
        V2,
        _identifier({"type": "list", "element-id": 901, "element-required": True, "element": "long"}),
    ),
    ("IDF003", "identifier-a-double", V2, _identifier("double")),
    (
        "JSC007",
        "element-id-a-string",
        V2,
        column({"type": "list", "element-id": "901", "element-required": False, "element": "long"}),
    ),
    ("PAR004", "source-in-a-list", NESTED, _source_in_a_list),
    (
        "PAR022",
        "one-source-in-a-list",
        IDENTITY_V3,
        _one_source_in_a_list,
    ),
    ("REF004", "age-of-a-tag", BRANCHES, set_at("refs", "first tag", "max-snapshot-age-ms", value=5)),
    ("SRT008", "one-source-in-a-list", V3, order(**{"source-ids": [1], "source-id": None})),
    ("TRN012", "day-of-a-string", PARTITIONED, set_at("partition-specs", 0, "fields", 0, "transform", value="day")),
    ("TYP031", "reference-system-empty", V3, column("geometry()")),
]

for _code, _name, _table, _change in PARTS:
    corruption(_code, f"part-{_name}", _table, "metadata")(_change)

corruption("TYP002", "part-name-twice", V2, "metadata", severity="warning")(column(TWICE))
corruption("TYP002", "part-full-name-shared", V2, "metadata", severity="warning")(column(SHARED))
corruption("TMD018", "part-log-unordered", V2, "metadata", severity="warning")(_unordered_log)
corruption("REF005", "part-age-of-main", BRANCHES, "metadata", severity="warning")(
    set_at("refs", "main", "max-ref-age-ms", value=5)
)
corruption("SNP005", "part-manifests-instead", V2, "metadata", also=("VER005",))(_manifests_for_a_list)
corruption("SNP005", "part-list-left-out-of-v1", "upgraded-v1-v2-v3", "metadata", severity="info")(
    _manifests_for_a_list
)
corruption("SNP007", "part-summary-left-out-of-v1", "upgraded-v1-v2-v3", "metadata", severity="info")(
    drop("snapshots", 0, "summary")
)


@corruption("NOT008", "part-no-snapshot-is-minus-one", V3, "metadata", severity="warning")
def _minus_one(bench: Any) -> None:
    bench.metadata |= {"current-snapshot-id": -1, "refs": {}, "snapshot-log": []}

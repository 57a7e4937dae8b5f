"""`check_metadata` reports everything; its findings that reading tolerates are duties of writers and advice."""

from typing import Any

import pytest

from spec_ref.core.records import field_rules
from spec_ref.requirements import register
from spec_ref.table_metadata import Severity, TableMetadata, check_metadata, read_metadata
from spec_ref.table_metadata.checks import RULES

LIST = {"type": "list", "element-id": 4, "element-required": True, "element": "int"}
FIELDS = [
    {"id": 1, "name": "a", "required": True, "type": "long"},
    {"id": 2, "name": "f", "required": True, "type": "float"},
    {"id": 3, "name": "l", "required": True, "type": LIST},
    {"id": 5, "name": "o", "required": False, "type": "int"},
]
UNSORTED = {"order-id": 0, "fields": []}
ERROR, TOLERATED, WARNING = Severity.ERROR, Severity.TOLERATED, Severity.WARNING


def snapshot(snapshot_id: int = 5, **changes: Any) -> dict[str, Any]:
    made = {
        "snapshot-id": snapshot_id,
        "sequence-number": 1,
        "timestamp-ms": 1515100955770,
        "manifest-list": "s3://b/l.avro",
        "summary": {"operation": "append"},
        "first-row-id": 0,
        "added-rows": 10,
    }
    return made | {name.replace("_", "-"): value for name, value in changes.items()}


def v3(**changes: Any) -> dict[str, Any]:
    return {
        "format-version": 3,
        "table-uuid": "fb072c92-a02b-11e9-ae9c-1bb7bc9eca94",
        "location": "s3://b/wh/data.db/table",
        "last-sequence-number": 2,
        "last-updated-ms": 1515100955770,
        "last-column-id": 5,
        "schemas": [{"type": "struct", "schema-id": 0, "fields": FIELDS}],
        "current-schema-id": 0,
        "partition-specs": [{"spec-id": 0, "fields": []}],
        "default-spec-id": 0,
        "last-partition-id": 1001,
        "sort-orders": [UNSORTED],
        "default-sort-order-id": 0,
        "current-snapshot-id": 5,
        "snapshots": [snapshot()],
        "next-row-id": 20,
    } | {name.replace("_", "-"): value for name, value in changes.items()}


def schema(*fields: dict[str, Any], ids: tuple[int, ...] = (), schema_id: int = 0) -> dict[str, Any]:
    return {"type": "struct", "schema-id": schema_id, "fields": [*fields], "identifier-field-ids": [*ids]}


def spec(*fields: tuple[int, int, str, str], spec_id: int = 0) -> dict[str, Any]:
    names = ("source-id", "field-id", "name", "transform")
    return {"spec-id": spec_id, "fields": [dict(zip(names, field, strict=True)) for field in fields]}


def order(source: int, transform: str = "identity", order_id: int = 1) -> dict[str, Any]:
    field = {"transform": transform, "source-id": source, "direction": "asc", "null-order": "nulls-first"}
    return {"order-id": order_id, "fields": [field]}


def column(field_id: int, type_: Any, required: bool = False, name: str = "z", **more: Any) -> dict[str, Any]:
    return {"id": field_id, "name": name, "required": required, "type": type_, **more}


TAG = {"snapshot-id": 5, "type": "tag"}
LOG = [{"timestamp-ms": 2, "snapshot-id": 5}, {"timestamp-ms": 1, "snapshot-id": 5}]
FILES = [{"timestamp-ms": 2, "metadata-file": "a"}, {"timestamp-ms": 1, "metadata-file": "b"}]
STATISTICS = {"snapshot-id": 5, "statistics-path": "s", "file-size-in-bytes": 3}

CASES = [
    ("TMD002", "/table-uuid", ERROR, v3(table_uuid="no uuid")),
    ("LOC001", "/location", TOLERATED, v3(location="/wh/table")),
    ("RES001", "/schemas/0", ERROR, v3(schemas=[schema(column(2147483448, "int"))], last_column_id=2147483647)),
    ("TMD006", "/last-column-id", ERROR, v3(last_column_id=4)),
    ("IDF001", "/schemas/0/identifier-field-ids/0", ERROR, v3(schemas=[schema(*FIELDS, ids=(9,))])),
    ("IDF001", "/schemas/0/identifier-field-ids/1", ERROR, v3(schemas=[schema(*FIELDS, ids=(1, 3))])),
    ("IDF002", "/schemas/0/identifier-field-ids/0", ERROR, v3(schemas=[schema(*FIELDS, ids=(4,))])),
    ("IDF003", "/schemas/0/identifier-field-ids/0", ERROR, v3(schemas=[schema(*FIELDS, ids=(2,))])),
    ("IDF003", "/schemas/0/identifier-field-ids/0", ERROR, v3(schemas=[schema(*FIELDS, ids=(5,))])),
    ("TYP002", "/schemas/0", WARNING, v3(schemas=[schema(*FIELDS[:1], column(2, "int", name="a"))])),
    ("TYP025", "/schemas/0", ERROR, v3(schemas=[schema(column(5, "unknown", required=True))])),
    ("VER004", "/schemas/0", ERROR, v3(format_version=2, schemas=[schema(*FIELDS[:1], column(5, "variant"))])),
    ("EVO003", "/schemas/1", ERROR, v3(schemas=[schema(*FIELDS), schema(column(1, "string"), schema_id=1)])),
    ("TMD012", "/default-spec-id", ERROR, v3(default_spec_id=9)),
    ("TMD013", "/last-partition-id", ERROR, v3(partition_specs=[spec((1, 1002, "p", "identity"))])),
    ("PAR004", "/partition-specs/0/fields/0", ERROR, v3(partition_specs=[spec((4, 1000, "p", "identity"))])),
    ("PAR004", "/partition-specs/0/fields/0", ERROR, v3(partition_specs=[spec((9, 1000, "p", "identity"))])),
    ("TRN012", "/partition-specs/0/fields/0", ERROR, v3(partition_specs=[spec((1, 1000, "p", "day"))])),
    ("PAR007", "/partition-specs/0", WARNING, v3(partition_specs=[spec((1, 1000, "p", "zorder"))])),
    (
        "PAR003",
        "/partition-specs/1/fields/0/field-id",
        ERROR,
        v3(partition_specs=[spec((1, 1000, "p", "identity")), spec((2, 1000, "q", "identity"), spec_id=1)]),
    ),
    ("PAR008", "/partition-specs/1", WARNING, v3(partition_specs=[spec(), spec(spec_id=1)])),
    ("TMD019", "/sort-orders/2", ERROR, v3(sort_orders=[UNSORTED, order(1), order(2)])),
    ("TMD020", "/default-sort-order-id", ERROR, v3(default_sort_order_id=9)),
    ("SRT002", "/sort-orders/0/fields", ERROR, v3(sort_orders=[order(1, order_id=0)])),
    ("PAR004", "/sort-orders/0/fields/0", ERROR, v3(sort_orders=[order(4)], default_sort_order_id=1)),
    ("NAM009", "/properties/schema.name-mapping.default", ERROR, v3(properties={"schema.name-mapping.default": "{"})),
    ("REF002", "/refs/main/type", ERROR, v3(refs={"main": TAG})),
    ("TMD021", "/refs/t/snapshot-id", ERROR, v3(refs={"t": {**TAG, "snapshot-id": 9}})),
    ("REF003", "/refs/t/min-snapshots-to-keep", ERROR, v3(refs={"t": {**TAG, "min-snapshots-to-keep": 1}})),
    ("REF005", "/refs/t/max-ref-age-ms", ERROR, v3(refs={"t": {**TAG, "max-ref-age-ms": 0}})),
    ("TMD004", "/snapshots/0/sequence-number", ERROR, v3(last_sequence_number=0)),
    (
        "SNP003",
        "/snapshots/1/sequence-number",
        ERROR,
        v3(snapshots=[snapshot(), snapshot(6, parent_snapshot_id=5, first_row_id=10)]),
    ),
    ("SNP002", "/snapshots/0/parent-snapshot-id", ERROR, v3(snapshots=[snapshot(parent_snapshot_id=5)])),
    ("VER005", "/snapshots/0/manifests", WARNING, v3(snapshots=[snapshot(manifests=["m"])])),
    (
        "SNP006",
        "/snapshots/0/manifests",
        ERROR,
        v3(format_version=1, schema=schema(*FIELDS), partition_spec=[], snapshots=[snapshot(manifests=["m"])]),
    ),
    ("SNP008", "/snapshots/0/summary/operation", ERROR, v3(snapshots=[snapshot(summary={})])),
    ("SNP008", "/snapshots/0/summary/operation", ERROR, v3(snapshots=[snapshot(summary={"operation": "merge"})])),
    (
        "NOT005",
        "/snapshots/0/summary/added-records",
        WARNING,
        v3(snapshots=[snapshot(summary={"operation": "append", "added-records": "many"})]),
    ),
    ("SNP009", "/snapshots/0/schema-id", ERROR, v3(snapshots=[snapshot(schema_id=9)])),
    ("SNP007", "/snapshots/0/summary", ERROR, v3(snapshots=[snapshot(summary=None)])),
    ("SNP007", "/snapshots/0/summary", Severity.INFO, v3(snapshots=[snapshot(summary=None, sequence_number=0)])),
    ("SNP011", "/snapshots/0/added-rows", ERROR, v3(snapshots=[snapshot(added_rows=None)])),
    ("SNP012", "/snapshots/0/key-id", ERROR, v3(snapshots=[snapshot(key_id="k")])),
    (
        "SNP010",
        "/snapshots/1/first-row-id",
        ERROR,
        v3(snapshots=[snapshot(), snapshot(6, parent_snapshot_id=5, sequence_number=2, first_row_id=None)]),
    ),
    ("SNP010", "/snapshots/0/added-rows", ERROR, v3(snapshots=[snapshot(added_rows=-1)])),
    ("TMD024", "/next-row-id", ERROR, v3(next_row_id=9)),
    (
        "LIN023",
        "/snapshots/1/first-row-id",
        ERROR,
        v3(snapshots=[snapshot(), snapshot(6, sequence_number=2, first_row_id=9)]),
    ),
    ("TMD017", "/snapshot-log/1/timestamp-ms", WARNING, v3(snapshot_log=LOG)),
    ("TMD017", "/snapshot-log/0/snapshot-id", WARNING, v3(snapshot_log=[{"timestamp-ms": 2, "snapshot-id": 6}])),
    ("TMD018", "/metadata-log/1/timestamp-ms", WARNING, v3(metadata_log=FILES)),
    (
        "STA001",
        "/partition-statistics/0/snapshot-id",
        WARNING,
        v3(partition_statistics=[{**STATISTICS, "snapshot-id": 9}]),
    ),
    ("STA016", "/partition-statistics/1/snapshot-id", ERROR, v3(partition_statistics=[STATISTICS, STATISTICS])),
    (
        "STA005",
        "/statistics/0/key-metadata",
        ERROR,
        v3(statistics=[{**STATISTICS, "file-footer-size-in-bytes": 1, "blob-metadata": [], "key-metadata": "?"}]),
    ),
    (
        "ENC002",
        "/encryption-keys/0/encrypted-key-metadata",
        ERROR,
        v3(encryption_keys=[{"key-id": "k", "encrypted-key-metadata": "?"}]),
    ),
    (
        "ENC001",
        "/encryption-keys/1/key-id",
        ERROR,
        v3(encryption_keys=[{"key-id": "k", "encrypted-key-metadata": ""}] * 2),
    ),
]


def test_the_base_of_these_tests_is_sound() -> None:
    assert check_metadata(v3()) == []


@pytest.mark.parametrize(("code", "path", "severity", "document"), CASES)
def test_what_reading_bears_is_reported(code: str, path: str, severity: Severity, document: dict[str, Any]) -> None:
    read_metadata(document)
    assert (code, path, severity) in {(one.requirement, one.path, one.severity) for one in check_metadata(document)}


@pytest.mark.parametrize(
    ("ranges", "expected"),
    [
        ([(0, 10), (10, 0), (10, 5), (15, 0)], []),
        ([(0, 10), (0, 0), (4, 0), (10, 5)], []),  # no row has an id of an empty range
        ([(0, 0), (0, 10), (10, 0)], []),
        ([(0, 10), (5, 0), (6, 4)], [(2, 6, "none of 0 to 9, which /snapshots/0 was given")]),
        (
            [(0, 10), (2, 2), (6, 4), (10, 5)],
            [
                (1, 2, "none of 0 to 9, which /snapshots/0 was given"),
                (2, 6, "none of 0 to 9, which /snapshots/0 was given"),
            ],
        ),
        ([(5, 10), (0, 6)], [(0, 5, "none of 0 to 5, which /snapshots/1 was given")]),
    ],
)
def test_all_ranges_of_row_ids_that_overlap_are_reported(
    ranges: list[tuple[int, int]], expected: list[tuple[int, int, str]]
) -> None:
    snapshots = [
        snapshot(5 + place, sequence_number=1 + place, first_row_id=first, added_rows=count)
        for place, (first, count) in enumerate(ranges)
    ]
    found = check_metadata(v3(snapshots=snapshots, last_sequence_number=len(ranges)))
    assert [(one.path, one.violation.found, one.violation.expected) for one in found] == [
        (f"/snapshots/{place}/first-row-id", str(first), text) for place, first, text in expected
    ]


def test_everything_is_reported_at_once() -> None:
    document = v3(table_uuid="no", last_column_id="5", current_schema_id=7, snapshots=[snapshot(), snapshot(summary=3)])
    found = {(one.requirement, one.path) for one in check_metadata(document, file="m.json")}
    assert found == {
        ("TMD002", "/table-uuid"),
        ("TMD006", "/last-column-id"),
        ("TMD009", "/current-schema-id"),
        ("SNP007", "/snapshots/1/summary"),
    }
    assert all(str(one).startswith("error: m.json:/") for one in check_metadata(document, file="m.json"))


def test_every_rule_names_a_requirement_and_attributes() -> None:
    attributes = set(field_rules(TableMetadata))
    for rule in RULES:
        assert rule.requirement in register()
        assert set(rule.reads) <= attributes
    assert len({(rule.requirement, rule.aspect) for rule in RULES}) == len(RULES)

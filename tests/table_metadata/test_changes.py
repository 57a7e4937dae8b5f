"""Changing a table adds to its lists and keeps their items."""

import json
from typing import Any

import pytest

from spec_ref.checks.findings import Finding, Severity
from spec_ref.core.errors import SpecError
from spec_ref.core.records import evolve
from spec_ref.data_types.types import DATE, INT, LONG, TIMESTAMP, ListType, NestedField, StructType
from spec_ref.partitioning.evolution import AddPartitionField, RemovePartitionField
from spec_ref.partitioning.spec import PartitionField, PartitionSpec
from spec_ref.partitioning.transforms import Bucket, Day, Identity, Transform
from spec_ref.schemas.evolution import AddColumn, DropColumn, PromoteColumn
from spec_ref.schemas.reserved_field_ids import MAX_TABLE_FIELD_ID
from spec_ref.snapshots.snapshot import Snapshot
from spec_ref.sorting.order import SortField
from spec_ref.table_metadata import TableMetadata, check_metadata, dumps, read_metadata, upgrade
from spec_ref.table_metadata.changes import change_schema, change_sort_order, change_spec


def dumps_as_json(table: TableMetadata) -> dict[str, Any]:
    made: dict[str, Any] = json.loads(dumps(table))
    return made


COLUMN = {"id": 1, "name": "a", "required": True, "type": "int"}
V1_TABLE = read_metadata(
    {
        "format-version": 1,
        "location": "s3://b/t",
        "last-updated-ms": 1,
        "last-column-id": 1,
        "schema": {"type": "struct", "schema-id": 0, "fields": [COLUMN]},
        "partition-spec": [],
    }
)
TABLE = upgrade(V1_TABLE, 3, table_uuid="fb072c92-a02b-11e9-ae9c-1bb7bc9eca94")


def test_a_changed_schema_is_added_and_becomes_the_current_one() -> None:
    changed = change_schema(TABLE, [PromoteColumn("a", LONG), AddColumn("b", INT)])
    assert [schema.schema_id for schema in changed.schemas] == [0, 1]
    assert (changed.current_schema_id, changed.last_column_id) == (1, 2)
    assert changed.schemas[0] == TABLE.schemas[0]
    assert check_metadata(dumps(changed)) == []


def test_going_back_to_a_schema_uses_it_again_but_no_id() -> None:
    back = change_schema(change_schema(TABLE, [AddColumn("b", INT)]), [DropColumn("b")])
    assert (back.current_schema_id, len(back.schemas), back.last_column_id) == (0, 2, 2)
    assert change_schema(back, [AddColumn("b", INT)]).current_schema.fields[-1].id == 3


def _is_id_of_v1(finding: Finding) -> bool:
    """Whether a finding is of the id of a partition field, which v1 does not have and every engine writes."""
    return finding.requirement == "VER005" and finding.violation.path.endswith("/field-id")


@pytest.mark.parametrize("start", [V1_TABLE, TABLE])
def test_a_changed_spec_is_added_and_becomes_the_default(start: TableMetadata) -> None:
    changed = change_spec(start, [AddPartitionField((1,), Bucket(4), "p")])
    assert (changed.default_spec_id, changed.last_partition_id, len(changed.partition_specs)) == (1, 1000, 2)
    beside = [one for one in check_metadata(dumps(changed)) if not _is_id_of_v1(one)]
    assert beside == []
    assert read_metadata(dumps(changed)).partition_specs == changed.partition_specs


def test_removing_what_was_added_is_the_old_spec() -> None:
    changed = change_spec(TABLE, [AddPartitionField((1,), Bucket(4), "p")])
    back = change_spec(changed, [RemovePartitionField("p")])
    assert (back.default_spec_id, back.last_partition_id, len(back.partition_specs)) == (0, 1000, 2)


def test_a_source_of_the_default_spec_is_protected() -> None:
    dated = change_schema(TABLE, [AddColumn("d", DATE)])
    by_day = change_spec(dated, [AddPartitionField((2,), Identity(), "d")])
    for change, code in ((DropColumn("d"), "PAR004"), (PromoteColumn("d", TIMESTAMP), "EVO008")):
        with pytest.raises(SpecError, match=code):
            change_schema(by_day, [change])
    assert change_schema(dated, [PromoteColumn("d", TIMESTAMP)]).current_schema.fields[1].type == TIMESTAMP


def add_snapshot(table: TableMetadata) -> TableMetadata:
    made = Snapshot(
        snapshot_id=5,
        timestamp_ms=1,
        sequence_number=1,
        manifest_list="s3://b/l",
        first_row_id=0,
        added_rows=0,
        summary={"operation": "append"},
    )
    return evolve(table, snapshots=(made,), last_sequence_number=1, current_snapshot_id=5)


@pytest.mark.parametrize("transform", [Identity(), Bucket(8)])
def test_a_source_of_an_older_spec_is_protected_once_there_may_be_files_of_it(transform: Transform) -> None:
    dated = change_schema(TABLE, [AddColumn("d", DATE)])
    once = change_spec(change_spec(dated, [AddPartitionField((2,), transform, "p")]), [RemovePartitionField("p")])
    assert once.default_spec.fields == ()
    promote = PromoteColumn("d", TIMESTAMP)
    assert change_schema(once, [promote]).current_schema.fields[1].type == TIMESTAMP
    with pytest.raises(SpecError, match="EVO008"):
        change_schema(add_snapshot(once), [promote])
    assert change_schema(add_snapshot(dated), [promote]).current_schema.fields[1].type == TIMESTAMP
    assert change_schema(add_snapshot(once), [DropColumn("d")]).current_schema.fields == TABLE.current_schema.fields


def test_a_transform_that_keeps_its_values_does_not_protect_its_source() -> None:
    dated = change_schema(TABLE, [AddColumn("d", DATE)])
    once = change_spec(change_spec(dated, [AddPartitionField((2,), Day(), "p")]), [RemovePartitionField("p")])
    assert change_schema(add_snapshot(once), [PromoteColumn("d", TIMESTAMP)]).current_schema.fields[1].type == TIMESTAMP


def test_a_source_of_the_default_sort_order_is_not_dropped() -> None:
    wider = change_schema(TABLE, [AddColumn("s", StructType((NestedField(9, "x", False, INT),))), AddColumn("d", DATE)])
    by_x = change_sort_order(wider, [SortField(transform=Identity(), source_id=3)])
    for name in ("s", "s.x"):
        with pytest.raises(SpecError, match=r"PAR004: .*; found s\.x, source of sort field identity"):
            change_schema(by_x, [DropColumn(name)])
    change_schema(by_x, [DropColumn("d")])
    unsorted = change_sort_order(by_x, [])
    assert check_metadata(dumps(change_schema(unsorted, [DropColumn("s")]))) == []


@pytest.mark.parametrize(
    ("code", "field"),
    [
        ("PAR004", SortField(transform=Identity(), source_id=9)),
        ("SRT008", SortField(transform=Identity(), source_ids=(1,))),
        ("TRN012", SortField(transform=Day(), source_id=1)),
    ],
)
def test_a_sort_order_that_our_own_check_calls_an_error_is_not_made(code: str, field: SortField) -> None:
    with pytest.raises(SpecError, match=code):
        change_sort_order(TABLE, [field])


def test_fields_that_v1_counts_alike_stay_in_v1() -> None:
    parts = [[{"source-id": 1, "name": "p", "transform": text}] for text in ("identity", "bucket[4]")]
    specs = [{"spec-id": number, "fields": fields} for number, fields in enumerate(parts)]
    document = {
        **dumps_as_json(V1_TABLE),
        "partition-specs": specs,
        "default-spec-id": 1,
        "partition-spec": parts[1],
        "last-partition-id": 1000,
        "table-uuid": TABLE.table_uuid,
    }
    assert [one for one in check_metadata(document) if one.severity is Severity.ERROR] == []
    table = read_metadata(document)
    for version in (2, 3):
        with pytest.raises(SpecError, match="PAR003"):
            upgrade(table, version)
    assert upgrade(table, 1) == table


def test_an_error_that_was_there_before_does_not_forbid_changes() -> None:
    broken = evolve(
        TABLE,
        last_partition_id=999,
        partition_specs=(
            PartitionSpec(0, (PartitionField(source_id=1, field_id=1005, name="p", transform=Identity()),)),
        ),
    )
    assert {one.requirement for one in check_metadata(dumps(broken))} == {"TMD013"}
    changed = change_spec(change_schema(broken, [AddColumn("b", INT)]), [AddPartitionField((2,), Identity(), "b")])
    assert [field.field_id for field in changed.default_spec.fields] == [1005, 1006]
    assert check_metadata(dumps(changed)) == []


def test_ids_are_above_all_that_schemas_have() -> None:
    low = evolve(TABLE, last_column_id=0)
    assert change_schema(low, [AddColumn("b", INT)]).current_schema.fields[-1].id == 2
    full = evolve(TABLE, last_column_id=MAX_TABLE_FIELD_ID - 1)
    assert change_schema(full, [AddColumn("b", INT)]).current_schema.fields[-1].id == MAX_TABLE_FIELD_ID
    for type_ in (INT, ListType(1, INT)):
        with pytest.raises(SpecError, match="RES001"):
            change_schema(change_schema(full, [AddColumn("b", INT)]), [AddColumn("c", type_)])


def test_a_sort_order_is_added_once_and_unsorted_has_the_id_0() -> None:
    by_a = SortField(transform=Identity(), source_id=1)
    changed = change_sort_order(TABLE, [by_a])
    assert (changed.default_sort_order_id, len(changed.sort_orders)) == (1, 2)
    assert change_sort_order(changed, []).default_sort_order_id == 0
    assert change_sort_order(change_sort_order(changed, []), [by_a]) == changed
    assert check_metadata(dumps(changed)) == []

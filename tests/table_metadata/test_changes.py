"""Changing a table adds to its lists and keeps what is there."""

import pytest

from spec_ref.errors import SpecError
from spec_ref.partitioning.evolution import AddPartitionField, RemovePartitionField
from spec_ref.partitioning.transforms import Bucket, Identity
from spec_ref.schemas.evolution import AddColumn, DropColumn, PromoteColumn
from spec_ref.schemas.types import DATE, INT, LONG, TIMESTAMP
from spec_ref.sorting import SortField
from spec_ref.table_metadata import TableMetadata, check_metadata, dumps, read_metadata, upgrade
from spec_ref.table_metadata.changes import change_schema, change_sort_order, change_spec

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


@pytest.mark.parametrize("start", [V1_TABLE, TABLE])
def test_a_changed_spec_is_added_and_becomes_the_default(start: TableMetadata) -> None:
    changed = change_spec(start, [AddPartitionField((1,), Bucket(4), "p")])
    assert (changed.default_spec_id, changed.last_partition_id, len(changed.partition_specs)) == (1, 1000, 2)
    assert check_metadata(dumps(changed)) == []
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


def test_a_sort_order_is_added_once_and_unsorted_has_the_id_0() -> None:
    by_a = SortField(transform=Identity(), source_id=1)
    changed = change_sort_order(TABLE, [by_a])
    assert (changed.default_sort_order_id, len(changed.sort_orders)) == (1, 2)
    assert change_sort_order(changed, []).default_sort_order_id == 0
    assert change_sort_order(change_sort_order(changed, []), [by_a]) == changed
    assert check_metadata(dumps(changed)) == []

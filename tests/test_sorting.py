"""Sort orders and the order of floating-point numbers."""

import itertools
import math
import struct
import uuid

import pytest

from spec_ref.core.errors import SpecError
from spec_ref.core.versions import V3, FormatVersion
from spec_ref.data_types.types import DOUBLE, STRING, UUID, NestedField, StructType
from spec_ref.json.reading import reader
from spec_ref.json.writing import writer
from spec_ref.partitioning.transforms import parse_transform
from spec_ref.schemas.schema import Schema
from spec_ref.sorting.comparator import compare_rows, float_sort_key, is_sortable
from spec_ref.sorting.order import ORDER, NullOrder, SortDirection, SortField, SortOrder

# Appendix C, Sort Orders: the example.
EXAMPLE = {
    "order-id": 1,
    "fields": [
        {"transform": "identity", "source-id": 2, "direction": "asc", "null-order": "nulls-first"},
        {"transform": "bucket[4]", "source-id": 3, "direction": "desc", "null-order": "nulls-last"},
    ],
}


@pytest.mark.parametrize("version", FormatVersion)
def test_the_example_of_the_spec_is_read_and_written(version: FormatVersion) -> None:  # SRT001
    order = reader(ORDER, version)(EXAMPLE)
    assert [one.direction for one in order.fields] == [SortDirection.ASC, SortDirection.DESC]
    assert [one.null_order for one in order.fields] == [NullOrder.NULLS_FIRST, NullOrder.NULLS_LAST]
    assert writer(ORDER, version)(order) == EXAMPLE


@pytest.mark.parametrize(
    "changes",
    [{"direction": "ASC"}, {"null-order": "first"}, {"transform": 3}, {"source-ids": [1]}, {"source-id": None}],
)
def test_fields_that_the_table_does_not_have_are_refused(changes: dict[str, object]) -> None:  # SRT001
    with pytest.raises(SpecError, match="SRT"):
        reader(ORDER, V3)({"order-id": 1, "fields": [{**EXAMPLE["fields"][0], **changes}]})  # type: ignore[index]


def test_floats_are_in_the_order_of_the_spec() -> None:  # SRT003
    negative_nan = math.copysign(math.nan, -1)
    ordered = [negative_nan, -math.inf, -1.5, -5e-324, -0.0, 0.0, 5e-324, 1.5, math.inf, math.nan]
    keys = [float_sort_key(value) for value in ordered]
    assert all(before < after for before, after in itertools.pairwise(keys))
    (other_nan,) = struct.unpack(">d", bytes.fromhex("7ff0000000000001"))
    assert float_sort_key(other_nan) == float_sort_key(math.nan)


def order_by(
    direction: SortDirection, null_order: NullOrder, transform: str = "identity", source: int = 1
) -> SortOrder:
    field = SortField(
        transform=parse_transform(transform), source_id=source, direction=direction, null_order=null_order
    )
    return SortOrder(1, (field,))


SCHEMA = Schema(
    (
        NestedField(1, "a", required=False, type=DOUBLE),
        NestedField(2, "b", required=False, type=StructType((NestedField(3, "c", required=False, type=STRING),))),
        NestedField(4, "d", required=False, type=UUID),
    )
)


@pytest.mark.parametrize(
    ("direction", "null_order", "expected"),
    [
        (SortDirection.ASC, NullOrder.NULLS_FIRST, [None, -1.0, -0.0, 0.0, math.nan]),
        (SortDirection.ASC, NullOrder.NULLS_LAST, [-1.0, -0.0, 0.0, math.nan, None]),
        (SortDirection.DESC, NullOrder.NULLS_FIRST, [None, math.nan, 0.0, -0.0, -1.0]),
        (SortDirection.DESC, NullOrder.NULLS_LAST, [math.nan, 0.0, -0.0, -1.0, None]),
    ],
)
def test_the_direction_does_not_move_the_nulls(
    direction: SortDirection, null_order: NullOrder, expected: list[float | None]
) -> None:  # SRT003, SRT004
    order = order_by(direction, null_order)
    for one, other in itertools.product(range(5), repeat=2):
        found = compare_rows(order, SCHEMA, {1: expected[one]}, {1: expected[other]})
        assert found == (one > other) - (one < other)


def test_fields_in_structs_are_null_where_the_struct_is() -> None:
    order = order_by(SortDirection.ASC, NullOrder.NULLS_LAST, "truncate[1]", source=3)
    rows: list[dict[int, object]] = [{2: {3: "\uffffx"}}, {2: {3: "\U00010000"}}, {2: {3: None}}, {2: None}, {}]
    signs = [compare_rows(order, SCHEMA, rows[0], row) for row in rows]
    assert signs == [0, -1, -1, -1, -1]
    assert compare_rows(order, SCHEMA, rows[2], rows[3]) == 0
    assert compare_rows(order, SCHEMA, {2: {3: "ab"}}, {2: {3: "aa"}}) == 0


def test_fields_decide_one_after_the_other_and_uuids_are_unsigned() -> None:
    fields = [order_by(SortDirection.ASC, NullOrder.NULLS_FIRST, source=source).fields[0] for source in (4, 1)]
    order = SortOrder(1, tuple(fields))
    low, high = uuid.UUID(int=1), uuid.UUID(int=1 << 127)
    assert compare_rows(order, SCHEMA, {4: low, 1: 5.0}, {4: high, 1: 2.0}) == -1
    assert compare_rows(order, SCHEMA, {4: low, 1: 5.0}, {4: low, 1: 2.0}) == 1


def test_what_cannot_be_sorted_by() -> None:
    assert is_sortable(order_by(SortDirection.ASC, NullOrder.NULLS_FIRST), SCHEMA)
    assert not is_sortable(SortOrder(1), SCHEMA)
    assert not is_sortable(order_by(SortDirection.ASC, NullOrder.NULLS_FIRST, "year"), SCHEMA)
    assert not is_sortable(order_by(SortDirection.ASC, NullOrder.NULLS_FIRST, "later[3]"), SCHEMA)
    assert not is_sortable(order_by(SortDirection.ASC, NullOrder.NULLS_FIRST, source=9), SCHEMA)

"""Columns that are null in every row of a file, which Arrow may read as its type of nulls."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from conformance.table_io.writing import append, create_table
from conformance.validator.context import Level
from conformance.validator.local import LocalBackend
from conformance.validator.required_nulls import RequiredNulls
from conformance.validator.run import SnapshotSelection, validate
from conformance.validator.sorted_rows import SortKey, SortOrderCheck
from spec_ref.checks.findings import Severity
from spec_ref.columnar.schemas.arrow_columns import arrow_type
from spec_ref.core.versions import V2
from spec_ref.data_types.types import INT, LONG, STRING, UUID, ListType, MapType, NestedField, StructType, Type
from spec_ref.partitioning.spec import UNPARTITIONED, PartitionField, PartitionSpec
from spec_ref.partitioning.transforms import Bucket, Identity, Transform
from spec_ref.sorting.order import NullOrder, SortDirection, SortField, SortOrder

ID = NestedField(1, "id", required=True, type=LONG)
INNER = StructType((NestedField(3, "x", False, LONG), NestedField(4, "y", False, STRING)))


@pytest.mark.parametrize("partitioned", [False, True])
@pytest.mark.parametrize("transform", [Identity(), Bucket(4)], ids=str)
@pytest.mark.parametrize(("type_", "source"), [(LONG, 2), (STRING, 2), (INNER, 3)], ids=["long", "string", "struct"])
@pytest.mark.parametrize("format_", ["avro", "orc", "parquet"])
def test_a_sorted_table_with_a_null_column_is_valid(
    tmp_path: Path, format_: str, type_: Type, source: int, transform: Transform, *, partitioned: bool
) -> None:
    first = SortField(
        source_id=source, transform=transform, direction=SortDirection.ASC, null_order=NullOrder.NULLS_FIRST
    )
    then = SortField(source_id=1, transform=Identity(), direction=SortDirection.ASC, null_order=NullOrder.NULLS_LAST)
    field = PartitionField(source_id=source, field_id=1000, name="part", transform=transform)
    table = create_table(
        str(tmp_path / "t"),
        (ID, NestedField(2, "a", False, type_)),
        order=SortOrder(1, (first, then)),
        spec=PartitionSpec(0, (field,)) if partitioned else UNPARTITIONED,
        version=V2,
        properties={"write.format.default": format_},
    )
    append(table, pa.table({"id": pa.array([3, 1, 2], pa.int64())}))
    report = validate(table.base.location, Level.ROWS, LocalBackend(1), SnapshotSelection("all"))
    assert report.complete
    assert [one for one in report.findings if one.severity is Severity.ERROR] == []


NULLS = pa.nulls(3)
VALUES = pa.array([1, 2, None], pa.int64())


@pytest.mark.parametrize(
    ("batches", "nulls_first", "broken"),
    [
        ([NULLS], True, None),
        ([NULLS, NULLS], True, None),
        ([NULLS, pa.array([1, 2], pa.int64())], True, None),
        ([NULLS, pa.array([1, 2], pa.int64())], False, 3),
        ([pa.array([1, 2], pa.int64()), NULLS], True, 2),
        ([pa.array([1, 2], pa.int64()), NULLS], False, None),
        ([VALUES, NULLS, VALUES], False, 6),
        ([NULLS, NULLS.slice(0, 0), VALUES.slice(0, 2)], True, None),
    ],
)
def test_nulls_of_arrows_type_are_in_order(batches: list[Any], broken: int | None, *, nulls_first: bool) -> None:
    nulls = NullOrder.NULLS_FIRST if nulls_first else NullOrder.NULLS_LAST
    rows = SortOrderCheck((SortKey(SortField(transform=Identity(), source_id=1, null_order=nulls), LONG),))
    for batch in batches:
        rows.add([batch])
    assert rows.broken == broken


@pytest.mark.parametrize("count", [0, 3])
@pytest.mark.parametrize(
    "type_",
    [
        ListType(2, INT, element_required=True),
        MapType(2, STRING, 3, INT, value_required=True),
        StructType((NestedField(2, "a", True, INT),)),
    ],
)
def test_a_nested_column_that_is_stored_as_nulls_has_nothing_required_in_it(type_: Type, count: int) -> None:
    nulls = RequiredNulls(StructType((NestedField(1, "c", False, type_),)), lambda field_id: field_id > 1)
    nulls.add(0, pa.nulls(count))
    nulls.add(0, pa.nulls(count, arrow_type(type_)))
    assert list(nulls.findings("file")) == []


UUIDS = pa.ExtensionArray.from_storage(pa.uuid(), pa.array([bytes(16), None, bytes(16)], pa.binary(16)))
STRUCTS = pa.StructArray.from_arrays([UUIDS], ["x"], mask=pa.array([False, True, False]))
LISTS = pa.ListArray.from_arrays([0, 1, 3], STRUCTS, mask=pa.array([False, True]))
MAPS = pa.MapArray.from_arrays([0, 1, 3], pa.array(["a", "b", "c"]), STRUCTS, mask=pa.array([False, True]))
WITH_UUID = StructType((NestedField(9, "x", True, UUID),))


@pytest.mark.parametrize(
    ("type_", "array"),
    [
        (WITH_UUID, STRUCTS),
        (ListType(2, WITH_UUID, element_required=True), LISTS),
        (MapType(2, STRING, 3, WITH_UUID, value_required=True), MAPS),
    ],
    ids=["struct", "list", "map"],
)
def test_what_is_stored_inside_nulls_does_not_count(type_: Type, array: Any) -> None:
    """Arrow cannot drop all values of an array with uuids."""
    nulls = RequiredNulls(StructType((NestedField(1, "c", False, type_),)), lambda field_id: field_id > 1)
    for rows in (array, array.slice(1), array.slice(1, 1), array.slice(0, 0)):
        nulls.add(0, rows)
    assert list(nulls.findings("file")) == []

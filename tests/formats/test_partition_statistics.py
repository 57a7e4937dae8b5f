"""STA017 to STA033, STA038: partition statistics files."""

import itertools
import json
import math
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from conformance.validator.partition_statistics_comparison import _total
from spec_ref.columnar.arrow_values import to_python_values
from spec_ref.core.errors import SpecError
from spec_ref.core.versions import V1, V2, V3
from spec_ref.data_files.parquet_schema import struct_from_parquet
from spec_ref.data_files.parquet_thrift import read_parquet_schema
from spec_ref.data_types.types import DOUBLE, INT, LONG, STRING, UNKNOWN, NestedField, StructType
from spec_ref.hashing import hash_value
from spec_ref.statistics.partition import (
    PartitionStatistics,
    check_order,
    check_row,
    partition_statistics_type,
    read_row,
    unified_partition_type,
)

GOLDEN = Path(__file__).parents[2] / "vectors" / "golden" / "partition-statistics"
INDEX = json.loads((GOLDEN / "index.json").read_text())["partition-statistics"]
FIRST = StructType((NestedField(1000, "p", False, STRING),))
SECOND = StructType((NestedField(1001, "id_bucket_4", False, INT), NestedField(1000, "p", False, STRING)))
UNIFIED = unified_partition_type([SECOND, FIRST])


def test_the_unified_type_has_every_field_once_ascending_by_id():  # STA031
    assert [(field.id, field.name) for field in UNIFIED.fields] == [(1000, "p"), (1001, "id_bucket_4")]
    newer = StructType((NestedField(1000, "renamed", False, STRING),))
    assert [field.name for field in unified_partition_type([newer, SECOND]).fields] == ["renamed", "id_bucket_4"]
    assert unified_partition_type([]) == StructType(())


def test_fields_of_the_unified_type_have_their_own_names_and_known_types():
    again = StructType((NestedField(1002, "p", False, INT),))
    assert [(one.id, one.name) for one in unified_partition_type([again, FIRST]).fields] == [
        (1000, "p_1000"),
        (1002, "p"),
    ]
    gone = StructType((NestedField(1000, "gone", False, UNKNOWN),))
    assert unified_partition_type([gone, FIRST]) == StructType((NestedField(1000, "gone", False, STRING),))


def test_the_schema_of_the_file_depends_on_the_version():
    ids = {
        version: [field.id for field in partition_statistics_type(UNIFIED, version).fields] for version in (V1, V2, V3)
    }
    assert ids[V1] == ids[V2] == [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]
    assert ids[V3] == [1, 2, 3, 4, 5, 6, 7, 13, 8, 9, 10, 11, 12]
    required = {
        version: {field.id for field in partition_statistics_type(UNIFIED, version).fields if field.required}
        for version in (V2, V3)
    }
    assert required == {V2: {1, 2, 3, 4, 5}, V3: {1, 2, 3, 4, 5, 6, 7, 8, 9, 13}}


def golden_rows():
    path = GOLDEN / INDEX["file"]
    with path.open("rb") as file:
        struct = struct_from_parquet(read_parquet_schema(file))
    table = pq.read_table(path).combine_chunks()
    columns = {field.id: to_python_values(field.type, table.column(field.name).chunk(0)) for field in struct.fields}
    return struct, [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def test_a_file_of_iceberg_java_has_the_types_of_the_schema():
    struct, _ = golden_rows()
    expected = {field.id: (field.name, str(field.type)) for field in partition_statistics_type(UNIFIED, V3).fields}
    assert {field.id: (field.name, str(field.type)) for field in struct.fields} == expected


def test_a_file_of_iceberg_java_has_the_rows_of_its_statements():  # STA021, STA032
    _, rows = golden_rows()
    read = [read_row(row, UNIFIED, V3) for row in rows]
    assert [one for row in read for one in check_row(row, "", V3)] == []
    assert [one for rows_ in itertools.pairwise(read) for one in check_order(*rows_, UNIFIED, "")] == []
    sizes = [row.total_data_file_size_in_bytes for row in read]
    assert all(size > 0 for size in sizes)

    def bucket(number):
        return (hash_value(LONG, number) & 0x7FFFFFFF) % 4

    # Three files of ten rows by p; then six ids in p1 by bucket; then the row with id 1 of either is deleted.
    expected = [({1000: p, 1001: None}, 0, 10, 1, int(p == "p1")) for p in (None, "p1", "p2")]
    for found in sorted({bucket(number) for number in range(6)}):
        count = sum(bucket(number) == found for number in range(6))
        expected.append(({1000: "p1", 1001: found}, 1, count, 1, int(found == bucket(1))))
    expected.sort(key=lambda row: (row[0][1000] or "", -1 if row[0][1001] is None else row[0][1001]))
    assert [
        (row.partition, row.spec_id, row.data_record_count, row.data_file_count, row.dv_count) for row in read
    ] == expected
    assert [row.position_delete_record_count for row in read] == [dv_count for *_, dv_count in expected]
    others = ("position_delete_file_count", "equality_delete_record_count", "equality_delete_file_count")
    assert all(getattr(row, name) == 0 for row in read for name in others)


@pytest.mark.parametrize(("is_known", "expected"), [(True, ["STA039"]), (False, [])])
def test_a_total_may_be_left_out_where_deletes_would_have_to_be_read(is_known, expected):  # STA033, STA039
    row, counts = {"total_record_count": None, "data_record_count": 9}, {"data_record_count": 9, "vector_records": 0}
    assert [one.requirement for one in _total(row, counts, "file:/s", "/0", is_known=is_known)] == expected


def test_disorder_is_reported():
    def is_ordered(type_, *values):
        first, second = (
            PartitionStatistics(
                partition={1000: value},
                spec_id=0,
                data_record_count=0,
                data_file_count=0,
                total_data_file_size_in_bytes=0,
            )
            for value in values
        )
        found = [(one.requirement, one.path) for one in check_order(first, second, type_, "/1")]
        assert found in ([], [("STA030", "/1/partition")])
        return not found

    double = StructType((NestedField(1000, "d", False, DOUBLE),))
    for type_, ascending in ((FIRST, (None, "a", "b")), (double, (None, -0.0, 0.0, math.inf, math.nan))):
        for low, high in itertools.combinations(ascending, 2):
            assert is_ordered(type_, low, high)
            assert is_ordered(type_, low, low)
            assert not is_ordered(type_, high, low)


SOUND = {1: {1000: "a"}, 2: 0, 3: 1, 4: 1, 5: 1, 6: 0, 7: 0, 8: 0, 9: 0, 13: 0}


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({1: None}, "STA017"),
        ({2: None}, "STA018"),
        ({3: None}, "STA019"),
        ({3: -1}, "STA019"),
        ({4: 1 << 31}, "STA020"),
        ({10: -1}, "STA027"),
        ({11: "now"}, "STA028"),
        ({1: "a"}, "STA017"),
        ({1: {1000: 4}}, "STA017"),
    ],
)
def test_rows_against_the_schema_are_refused(changes, code):
    with pytest.raises(SpecError, match=code):
        read_row({**SOUND, **changes}, FIRST, V3)


def test_a_v3_reader_takes_rows_that_a_v2_writer_left_but_a_v3_writer_counts_deletes():
    row = read_row({field_id: value for field_id, value in SOUND.items() if field_id < 6}, FIRST, V3)
    assert (row.dv_count, row.position_delete_file_count) == (None, None)
    assert list(check_row(row, "/0", V2)) == []
    found = [(one.requirement, one.path) for one in check_row(row, "/0", V3)]
    assert found == [
        ("STA022", "/0/position_delete_record_count"),
        ("STA023", "/0/position_delete_file_count"),
        ("STA024", "/0/dv_count"),
        ("STA025", "/0/equality_delete_record_count"),
        ("STA026", "/0/equality_delete_file_count"),
    ]


def test_ids_that_are_not_known_are_ignored():
    assert read_row({**SOUND, 99: 1}, FIRST, V3).total_record_count is None


def test_a_v2_reader_ignores_what_the_version_does_not_have():
    assert read_row({**SOUND, 13: 4}, FIRST, V2).dv_count is None

"""Operations on tables: the resulting rows and files, row ids, deletes, specs and branches."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from attrs import evolve
from written import FIELDS, errors, lines

from conformance.core.failures import UsageError
from conformance.table_io.file_access import read_bytes
from conformance.table_io.writing import (
    Mode,
    WhenMatched,
    WritableTable,
    append,
    compact,
    create_table,
    delete,
    delete_keys,
    merge,
    open_table,
    overwrite,
    overwrite_partitions,
    plan_write,
    records,
    rewrite_manifests,
    update,
    write_rows,
)
from spec_ref.columnar.scan_planning.planner import plan
from spec_ref.commits import CommitConflict, changes
from spec_ref.commits.changes import (
    ChangeSchema,
    ChangeSortOrder,
    ChangeSpec,
    SetProperties,
    SetReference,
    UpgradeFormatVersion,
)
from spec_ref.core.errors import SpecError
from spec_ref.core.versions import V1, V2, V3, FormatVersion
from spec_ref.data_types.types import (
    DATE,
    DOUBLE,
    INT,
    LONG,
    STRING,
    TIMESTAMP_NS,
    UUID,
    ListType,
    NestedField,
    StructType,
    Type,
)
from spec_ref.deletes.deletion_vector import decode_deletion_vector
from spec_ref.encodings.puffin.file import read_puffin
from spec_ref.expressions.predicates import TRUE, Comparison, Literal, NamedReference, Operation
from spec_ref.expressions.predicates import Test as UnaryTest
from spec_ref.manifests.data_file import DataFile, FileContent, FileFormat
from spec_ref.partitioning.evolution import AddPartitionField, RemovePartitionField
from spec_ref.partitioning.spec import UNPARTITIONED, PartitionField, PartitionSpec
from spec_ref.partitioning.transforms import Bucket, Identity, Truncate
from spec_ref.scan_planning import FileScanTask
from spec_ref.schemas.evolution import AddColumn, DropColumn, RenameColumn
from spec_ref.snapshots.references import RefType, SnapshotRef
from spec_ref.sorting.order import NullOrder, SortDirection, SortField

BY_PART = PartitionSpec(0, (PartitionField(source_id=2, field_id=1000, name="part", transform=Identity()),))
COPY, POSITIONS, EQUALITY = Mode.COPY_ON_WRITE, Mode.MERGE_ON_READ, Mode.EQUALITY


def where(operation: Operation, name: str, value: Any) -> Any:
    return Comparison(operation, NamedReference(name), Literal(value))


def equal(name: str, value: Any) -> Any:
    return where(Operation.EQ, name, value)


def rows(*ids: int, part: str | None = "a", number: int | None = None) -> pa.Table:
    return pa.table(
        {
            "id": pa.array(ids, pa.int64()),
            "part": pa.array([part] * len(ids), pa.string()),
            "number": pa.array([number] * len(ids), pa.int32()),
        }
    )


def tasks(table: WritableTable, **options: Any) -> list[FileScanTask]:
    metadata = table.metadata
    return list(plan(metadata, metadata.current_snapshot, TRUE, read_bytes, include_column_stats=True, **options))


def deletes(table: WritableTable) -> list[DataFile]:
    found = {
        (one.data_file.file_path, one.data_file.content_offset): one.data_file
        for task in tasks(table)
        for one in task.deletes
    }
    return list(found.values())


def ids(table: WritableTable, **options: Any) -> list[int]:
    return sorted(line[0] for line in lines(table, "id", **options))


def make_table(
    tmp_path: Path, version: FormatVersion = V3, spec: PartitionSpec = UNPARTITIONED, **properties: str
) -> WritableTable:
    return create_table(str(tmp_path / "t"), FIELDS, version=version, spec=spec, properties=properties)


def test_partition_fields_of_one_name_are_read_by_names_of_their_own(tmp_path: Path) -> None:
    table = make_table(tmp_path, V2, BY_PART)
    append(table, rows(1))
    table.commit(ChangeSpec((RemovePartitionField("part"), AddPartitionField((2,), Truncate(1), "part"))))
    append(table, rows(2, part="bc"))
    found = lines(table, "id", "_partition")
    assert found == [(1, {"part_1000": "a", "part": None}), (2, {"part_1000": None, "part": "b"})]


EVERY = [(V1, COPY), *((version, mode) for version in (V2, V3) for mode in Mode)]


@pytest.mark.parametrize("spec", [UNPARTITIONED, BY_PART], ids=["whole", "parts"])
@pytest.mark.parametrize(("version", "mode"), EVERY)
def test_all_modes_leave_the_same_rows(tmp_path: Path, version: FormatVersion, mode: Mode, spec: PartitionSpec) -> None:
    table = make_table(tmp_path, version, spec)
    append(table, pa.table({"id": list(range(10)), "part": ["a", "b"] * 5, "number": [1] * 10}))
    append(table, pa.table({"id": list(range(10, 14)), "part": ["a", None] * 2}))
    first = dict(lines(table, "id", "_row_id"))
    delete(table, where(Operation.LT, "id", 3), mode=mode)
    assert ids(table) == list(range(3, 14))
    update(table, {"number": 7}, equal("part", "a"), mode=mode)
    update(table, {"number": lambda old: old.column("id").cast(pa.int32())}, equal("part", "b"), mode=mode)
    assert Counter(number for _, part, number in lines(table) if part == "a") == {7: 5}
    assert all(number == id_ for id_, part, number in lines(table) if part == "b")
    delete(table, equal("id", 4), mode=mode)
    merge(table, pa.table({"id": [5, 100], "number": [50, 51]}), ["id"], mode=mode)
    expected = [
        (3, "b", 3),
        (5, "b", 50),
        (6, "a", 7),
        (7, "b", 7),
        (8, "a", 7),
        (9, "b", 9),
        (10, "a", 7),
        (11, None, None),
        (12, "a", 7),
        (13, None, None),
        (100, None, 51),
    ]
    assert sorted(lines(table)) == expected
    compact(table)
    assert sorted(lines(table)) == expected
    if version is V3:
        last = dict(lines(table, "id", "_row_id"))
        assert {one: first[one] for one in last if one != 100} == {one: last[one] for one in last if one != 100}
        assert len(set(last.values())) == len(last)
    overwrite(table, rows(1000), where(Operation.LT, "id", 8), mode=mode)
    assert ids(table) == [8, 9, 10, 11, 12, 13, 100, 1000]
    overwrite_partitions(table, rows(2000))
    assert ids(table) == ([2000] if spec == UNPARTITIONED else [9, 11, 13, 100, 2000])
    assert errors(table) == []


# Whole files


@pytest.mark.parametrize("mode", Mode)
def test_whole_files_are_removed_without_being_read(tmp_path: Path, mode: Mode) -> None:
    table = make_table(tmp_path, V2, BY_PART)
    append(table, pa.table({"id": [1, 2, 3], "part": ["a", "b", "b"]}))
    for task in tasks(table):
        Path(task.data_file.file_path).write_bytes(b"nothing that could be read")
    done = delete(table, equal("part", "b"), mode=mode)
    assert done.snapshot is not None
    assert done.snapshot.summary["operation"] == "delete"
    assert done.snapshot.summary["deleted-records"] == "2"
    assert "added-data-files" not in done.snapshot.summary
    assert "added-delete-files" not in done.snapshot.summary
    done = delete(table, where(Operation.LT_EQ, "id", 1), mode=mode)  # its bounds say that it has no other row
    assert tasks(table) == []


def test_a_file_whose_last_rows_are_deleted_goes_with_its_deletes(tmp_path: Path) -> None:
    for version in (V2, V3):
        table = create_table(str(tmp_path / f"v{version:d}"), FIELDS, version=version)
        append(table, rows(1, 2, 3))
        delete(table, equal("id", 2), mode=POSITIONS)
        assert len(deletes(table)) == 1
        done = delete(table, UnaryTest(Operation.NOT_NULL, NamedReference("id")), mode=POSITIONS)
        assert done.snapshot is not None
        assert done.snapshot.summary["total-delete-files"] == "0"
        assert done.snapshot.summary["total-data-files"] == "0"


def test_nothing_that_matches_changes_no_file(tmp_path: Path) -> None:
    table = make_table(tmp_path)
    append(table, rows(1, 5))
    done = delete(table, equal("id", 3))
    assert done.snapshot is not None
    assert {key for key in done.snapshot.summary if key.startswith(("added", "deleted"))} == set()


# Deletes


def test_position_deletes_are_of_one_file_each(tmp_path: Path) -> None:
    table = make_table(tmp_path, V2, BY_PART)
    append(table, pa.table({"id": [1, 2, 3, 4], "part": ["a", "a", "b", "b"]}))
    delete(table, where(Operation.GT_EQ, "id", 2), mode=POSITIONS)
    (one,) = deletes(table)
    task = next(task for task in tasks(table) if task.deletes)
    assert one.content is FileContent.POSITION_DELETES
    assert one.file_format is FileFormat.PARQUET
    assert one.referenced_data_file == task.data_file.file_path
    assert one.partition == {1000: "a"}
    path = task.data_file.file_path.encode()
    assert (one.lower_bounds or {})[2147483546] == path == (one.upper_bounds or {})[2147483546]


def test_position_deletes_of_a_partition_in_one_sorted_file(tmp_path: Path) -> None:
    table = make_table(tmp_path, V2, BY_PART, **{"write.delete.granularity": "partition"})
    for first in (10, 20, 30):
        append(table, rows(first, first + 1, first + 2))
    delete(table, Comparison(Operation.NOT_EQ, NamedReference("id"), Literal(11)), mode=POSITIONS)
    # Two of the three files match whole, so that one is left.
    assert ids(table) == [11]
    update(table, {"number": 1}, mode=POSITIONS)
    other = create_table(str(tmp_path / "other"), FIELDS, properties={"write.delete.granularity": "partition"})
    append(other, rows(1, 2, 3))
    append(other, rows(4, 5, 6))
    delete(other, Comparison(Operation.NOT_EQ, NamedReference("number"), Literal(1)), mode=POSITIONS)
    append(other, rows(1, 2, 3, number=1))
    append(other, rows(4, 5, 6, number=2))
    merge(other, pa.table({"id": [5, 2]}), ["id"], matched=WhenMatched.DELETE, insert=False, mode=POSITIONS)
    (one,) = deletes(other)
    assert one.record_count == 2
    assert one.referenced_data_file is None
    assert ids(other) == [1, 3, 4, 6]
    assert errors(other) == []


def vectors(table: WritableTable) -> dict[str, list[int]]:
    found = {}
    for one in deletes(table):
        assert one.is_deletion_vector
        start = one.content_offset or 0
        blob = Path(one.file_path).read_bytes()[start : start + (one.content_size_in_bytes or 0)]
        positions = decode_deletion_vector(blob).positions()
        assert one.record_count == len(positions)
        assert one.referenced_data_file not in found
        found[one.referenced_data_file or ""] = positions
    return found


def test_a_vector_takes_the_place_of_the_one_before(tmp_path: Path) -> None:
    table = make_table(tmp_path, V3)
    append(table, rows(0, 1, 2, 3, 4))
    append(table, rows(10, 11, 12))
    delete(table, equal("id", 3), mode=POSITIONS)
    delete(table, equal("id", 1), mode=POSITIONS)
    merge(table, pa.table({"id": [0, 11]}), ["id"], matched=WhenMatched.DELETE, mode=POSITIONS)
    assert sorted(vectors(table).values()) == [[0, 1, 3], [1]]
    assert {Path(one.file_path).suffix for one in deletes(table)} == {".puffin"}
    (path,) = {one.file_path for one in deletes(table)}
    assert read_puffin(Path(path).read_bytes()).properties["created-by"].startswith("iceberg-conformance version ")
    assert ids(table) == [2, 4, 10, 12]
    assert errors(table) == []


def test_a_vector_takes_the_place_of_older_position_deletes(tmp_path: Path) -> None:
    table = make_table(tmp_path, V2)
    append(table, rows(0, 1, 2, 3, 4))
    delete(table, equal("id", 3), mode=POSITIONS)
    table.commit(UpgradeFormatVersion(V3))
    done = delete(table, equal("id", 1), mode=POSITIONS)
    assert list(vectors(table).values()) == [[1, 3]]
    assert done.snapshot is not None
    assert done.snapshot.summary["removed-position-delete-files"] == "1"
    assert done.snapshot.summary["total-delete-files"] == "1"
    assert ids(table) == [0, 2, 4]
    assert errors(table) == []


def test_equality_deletes_hold_each_value_once(tmp_path: Path) -> None:
    table = make_table(tmp_path, V2, BY_PART)
    append(table, pa.table({"id": [1, 2, 3, 4], "part": ["a", "a", "b", None], "number": [5, 5, 5, 6]}))
    delete(table, equal("number", 5), mode=EQUALITY)
    assert ids(table) == [4]
    assert deletes(table) == []  # the files of a and b hold nothing else
    append(table, pa.table({"id": [10, 11, 12], "part": ["a", "a", "a"], "number": [7, 7, 8]}))
    delete(table, equal("number", 7), mode=EQUALITY)
    (one,) = deletes(table)
    assert (one.content, one.record_count, one.equality_ids) == (FileContent.EQUALITY_DELETES, 1, (3,))
    assert one.partition == {1000: "a"}
    append(table, pa.table({"id": [13], "part": ["a"], "number": [7]}))
    assert ids(table) == [4, 12, 13]  # what is added later is not deleted
    assert errors(table) == []


@pytest.mark.parametrize("predicate", [TRUE, where(Operation.LT, "nested.x", 9)], ids=["every row", "a nested field"])
@pytest.mark.parametrize("delete", [delete, records.delete], ids=["batches", "records"])
def test_equality_deletes_need_no_column_if_whole_files_match(tmp_path: Path, predicate: Any, delete: Any) -> None:
    nested = NestedField(2, "nested", required=False, type=StructType((NestedField(3, "x", required=False, type=INT),)))
    fields = (NestedField(1, "id", required=False, type=LONG), nested)
    table = create_table(str(tmp_path / "t"), fields, version=V2, properties={"write.delete.mode": "equality"})
    append(table, pa.table({"id": [1, 2], "nested": [{"x": 1}, {"x": 2}]}))
    delete(table, predicate)
    assert ids(table) == []
    assert deletes(table) == []


def test_names_of_directories_fit_any_file_system(tmp_path: Path) -> None:
    long = "名" * 300
    fields = (NestedField(1, "id", required=False, type=LONG), NestedField(2, long, required=False, type=STRING))
    spec = PartitionSpec(0, (PartitionField(source_id=2, field_id=1000, name=long, transform=Identity()),))
    table = create_table(str(tmp_path / "t"), fields, spec=spec)
    append(table, pa.table({"id": [1, 2, 3, 4], long: ["日" * 29, "日" * 5000, "é" * 79 + "/..", None]}))
    assert ids(table) == [1, 2, 3, 4]
    assert len(tasks(table)) == 4
    assert errors(table) == []


def test_keys_are_deleted_without_reading_the_table(tmp_path: Path) -> None:
    table = make_table(tmp_path, V2, BY_PART)
    append(table, pa.table({"id": [1, 2, 3], "part": ["a", "b", None]}))
    delete_keys(table, pa.table({"id": [1, 2, 3], "part": ["a", "a", None], "number": [9, 9, 9]}), on=["id", "part"])
    assert ids(table) == [2]
    append(table, rows(2, 3, part="c"))
    delete_keys(table, pa.table({"id": [2]}), rows=rows(2, part="new"))
    assert sorted(lines(table, "id", "part")) == [(2, "new"), (3, "c")]
    table.commit(ChangeSpec((RemovePartitionField("part"),)))
    append(table, rows(5, 6))
    delete_keys(table, pa.table({"id": [2, 5]}))
    assert ids(table) == [3, 6]
    assert errors(table) == []


def test_equality_deletes_are_written_for_every_spec_that_files_have(tmp_path: Path) -> None:
    table = make_table(tmp_path, V2, BY_PART)
    append(table, rows(1, 2))
    table.commit(ChangeSpec((AddPartitionField((1,), Bucket(4), "b"),)))
    append(table, rows(3, 4))
    delete_keys(table, pa.table({"id": [2, 3], "part": ["a", "a"]}))
    assert ids(table) == [1, 4]
    assert errors(table) == []


REWRITES: dict[str, Any] = {
    "update": lambda table: update(table, {"number": 9}, equal("id", 4), mode=COPY),
    "delete": lambda table: delete(table, equal("id", 4), mode=COPY),
    "overwrite": lambda table: overwrite(table, rows(9), equal("id", 4), mode=COPY),
    "merge": lambda table: merge(table, pa.table({"id": [4], "number": [9]}), ["id"], mode=COPY),
    "compact": lambda table: compact(table, equal("id", 4)),
}


@pytest.mark.parametrize("spec", [UNPARTITIONED, BY_PART], ids=["whole", "parts"])
@pytest.mark.parametrize("operation", REWRITES)
@pytest.mark.parametrize("version", [V2, V3])
def test_rows_that_were_deleted_stay_so_when_their_file_is_written_anew(
    tmp_path: Path, version: FormatVersion, operation: str, spec: PartitionSpec
) -> None:
    table = make_table(tmp_path, version, spec)
    append(table, rows(0, 1, 2, 3, 4, 5, number=1))
    delete(table, equal("id", 1), mode=POSITIONS)
    delete_keys(table, pa.table({"id": [2], "number": [1]}))
    delete_keys(table, pa.table({"id": [3], "part": ["a"]}))
    expected = {"delete": [0, 5], "overwrite": [0, 5, 9]}.get(operation, [0, 4, 5])
    assert ids(table) == [0, 4, 5]
    REWRITES[operation](table)
    assert ids(table) == expected
    compact(table, min_files=1)
    assert ids(table) == expected
    assert errors(table) == []


CHANGED: dict[str, Any] = {
    "a new partition": lambda table: append(table, rows(2, part="c")),
    "an old partition": lambda table: append(table, rows(2, part="a")),
    "rows moved to another spec": lambda table: (
        table.commit(ChangeSpec((AddPartitionField((1,), Bucket(4), "b"),))),
        compact(table),
    ),
    "rows updated in another spec": lambda table: (
        table.commit(ChangeSpec((AddPartitionField((1,), Bucket(4), "b"),))),
        update(table, {"number": 5}, equal("id", 2), mode=COPY),
    ),
}


@pytest.mark.parametrize("how", ["keys of one column", "keys with the partition", "a predicate"])
@pytest.mark.parametrize("change", CHANGED)
def test_equality_deletes_miss_no_row_that_others_add_or_move_meanwhile(tmp_path: Path, change: str, how: str) -> None:
    table = make_table(tmp_path, V2, BY_PART)
    append(table, rows(1, 2, 3, part="a"))
    append(table, rows(4, 5, part="b"))
    stale = open_table(str(tmp_path / "t"))
    CHANGED[change](table)
    refused = False
    try:
        if how == "a predicate":
            delete(stale, equal("id", 2), mode=EQUALITY)
        else:
            keys = pa.table({"id": [2, 2], "part": ["a", "c"]})
            delete_keys(stale, keys, on=["id"] if how == "keys of one column" else ["id", "part"])
    except CommitConflict:
        refused = True
    table.refresh()
    assert (2 in ids(table)) is refused
    is_refused = how == "keys with the partition" and change in ("a new partition", "an old partition")
    assert refused is not is_refused
    assert errors(table) == []


@pytest.mark.parametrize("format_", ["avro", "orc", "parquet"])
def test_a_file_has_rows_whatever_the_target_size(tmp_path: Path, format_: str) -> None:
    properties = {"write.format.default": format_, "write.target-file-size-bytes": "1"}
    table = create_table(str(tmp_path / "t"), (NestedField(1, "id", required=False, type=LONG),), properties=properties)
    records.append(table, [{"id": 1}, {"id": 2}])
    assert ids(table) == [1, 2]
    assert len(list((tmp_path / "t" / "data").iterdir())) == 1


RENAMED = {"renamed": [("a", "x")], "swapped": [("a", "x"), ("b", "a"), ("x", "b")]}


@pytest.mark.parametrize("names", [*RENAMED, "dropped"])
@pytest.mark.parametrize("mode", Mode)
def test_a_filter_means_the_columns_that_it_was_planned_with(tmp_path: Path, mode: Mode, names: str) -> None:
    fields = (NestedField(1, "a", required=False, type=LONG), NestedField(2, "b", required=False, type=LONG))
    table = create_table(str(tmp_path / "t"), fields, version=V2)
    append(table, pa.table({"a": [1, 2], "b": [8, 8]}))
    stale, later = open_table(str(tmp_path / "t")), open_table(str(tmp_path / "t"))
    changes = [DropColumn("a")] if names == "dropped" else [RenameColumn(*pair) for pair in RENAMED[names]]
    for change in changes:
        table.commit(ChangeSchema((change,)))
    delete(stale, equal("a", 2), mode=mode)  # nobody changed rows since
    assert [line[-1] for line in lines(table.refresh(), "b" if names != "swapped" else "a")] == [8]
    append(table, pa.table({column.name: [1] for column in table.metadata.current_schema.fields}))
    before = table.metadata
    with pytest.raises(CommitConflict, match=r"OCC004: .*renamed"):
        delete(later, equal("a", 1), mode=mode)
    assert table.refresh().metadata == before
    assert errors(table) == []


def test_equality_deletes_of_no_partition_are_for_whatever_others_add(tmp_path: Path) -> None:
    table = make_table(tmp_path, V2)
    append(table, rows(1, 2, 3))
    table.commit(ChangeSpec((AddPartitionField((2,), Identity(), "part"),)))
    stale = open_table(str(tmp_path / "t"))
    append(table, rows(2, part="c"))
    compact(table)
    delete_keys(stale, pa.table({"id": [2]}))
    assert ids(table.refresh()) == [1, 3]
    assert errors(table) == []


@pytest.mark.parametrize("names", [("id",), ("id", "part"), ("number",), ("id", "number")])
def test_equality_deletes_need_no_column_that_once_partitioned(tmp_path: Path, names: tuple[str, ...]) -> None:
    table = make_table(tmp_path, V1, BY_PART)
    append(table, rows(1, 2, number=1))
    table.commit(ChangeSpec((RemovePartitionField("part"),)))  # in v1, the field becomes void
    append(table, rows(3, 4, number=2))
    table.commit(UpgradeFormatVersion(V2))
    table.commit(ChangeSpec((AddPartitionField((1,), Bucket(4), "b"),)))
    append(table, rows(5, 6, number=3))
    delete_keys(table, pa.table({"id": [2, 4, 6], "part": ["a"] * 3, "number": [1, 2, 3]}), on=names)
    assert ids(table) == ([] if names == ("number",) else [1, 3, 5])
    assert errors(table) == []


@pytest.mark.parametrize(
    "spec",
    [
        BY_PART,
        PartitionSpec(0, (*BY_PART.fields, PartitionField(source_id=1, field_id=1001, name="b", transform=Bucket(2)))),
    ],
    ids=["one", "two"],
)
@pytest.mark.parametrize("version", [V1, V2, V3])
def test_files_of_a_column_that_was_dropped_are_changed_like_others(
    tmp_path: Path, version: FormatVersion, spec: PartitionSpec
) -> None:
    table = make_table(tmp_path, version, spec)
    append(table, pa.table({"id": list(range(8)), "part": ["a", "b"] * 4}))
    table.commit(ChangeSpec((RemovePartitionField("part"),)))
    append(table, rows(8, 9))
    before = lines(table, "id", "_partition")
    table.commit(ChangeSchema((DropColumn("part"),)))
    assert lines(table, "id", "_partition") == before
    update(table, {"number": 5}, equal("id", 3), mode=COPY)
    if version is not V1:
        delete_keys(table, pa.table({"id": [2, 8]}))
        delete(table, equal("id", 1), mode=POSITIONS)
    append(table, pa.table({"id": [10]}))
    expected = [(one, 5 if one == 3 else None) for one in range(11) if version is V1 or one not in (1, 2, 8)]
    assert sorted(lines(table)) == expected
    rewrite_manifests(table)
    compact(table, min_files=1)
    assert sorted(lines(table)) == expected
    assert errors(table) == []


@pytest.mark.parametrize("name", ["_file", "_pos", "_deleted", "_spec_id", "_partition"])
@pytest.mark.parametrize("mode", [COPY, POSITIONS])
def test_a_column_may_be_called_as_a_metadata_column(tmp_path: Path, name: str, mode: Mode) -> None:
    """RES002: ids decide what is a metadata column."""
    table = create_table(str(tmp_path / "t"), (FIELDS[0], NestedField(2, name, required=False, type=LONG)), version=V3)
    append(table, pa.table({"id": [0, 1, 2, 3], name: [3, 2, 1, 0]}))
    delete(table, equal("id", 0), mode=mode)
    assert lines(table, "id", name) == [(1, 2), (2, 1), (3, 0)]
    update(table, {name: lambda batch: batch.column(name)}, equal("id", 2), mode=mode)
    update(table, {name: 9}, equal(name, 2), mode=mode)
    assert lines(table, "id", name) == [(1, 9), (2, 1), (3, 0)]
    merge(table, pa.table({"id": [7, 8], name: [0, 4]}), [name], mode=mode)
    assert lines(table, "id", name) == [(1, 9), (2, 1), (7, 0), (8, 4)]
    overwrite(table, pa.table({"id": [5], name: [6]}), equal(name, 1))
    delete_keys(table, pa.table({name: [4]}))
    compact(table, min_files=1)
    assert lines(table, "id", name) == [(1, 9), (5, 6), (7, 0)]
    assert errors(table) == []


@pytest.mark.parametrize("name", ["_row_id", "_last_updated_sequence_number"])
def test_a_column_that_is_called_as_a_column_of_row_lineage_is_not_taken_for_it(tmp_path: Path, name: str) -> None:
    table = create_table(str(tmp_path / "t"), (FIELDS[0], NestedField(2, name, required=False, type=LONG)), version=V3)
    append(table, pa.table({"id": [0, 1, 2, 3], name: [3, 2, 1, 0]}))
    acts: list[Any] = [
        lambda: delete(table, equal("id", 0), mode=POSITIONS),
        lambda: delete(table, equal("id", 0), mode=COPY),
        lambda: update(table, {name: 9}, equal("id", 0)),
        lambda: compact(table, min_files=1),
        lambda: merge(table, pa.table({"id": [1], name: [5]}), ["id"]),
        lambda: overwrite(table, pa.table({"id": [7]}), equal("id", 0)),
    ]
    for act in acts:
        with pytest.raises(SpecError, match="RES002"):
            act()
    assert lines(table, "id", name) == [(0, 3), (1, 2), (2, 1), (3, 0)]
    table.commit(ChangeSchema((RenameColumn(name, "other"),)))
    delete(table, equal("id", 0), mode=POSITIONS)
    update(table, {"other": 9}, equal("id", 1), mode=COPY)
    assert lines(table, "id", "other") == [(1, 9), (2, 1), (3, 0)]


@pytest.mark.parametrize(
    ("code", "act"),
    [
        ("DEL001", lambda table: delete_keys(table, pa.table({"id": [1]}))),
        ("DEL001", lambda table: delete(table, equal("id", 1), mode=POSITIONS)),
        ("DEL001", lambda table: update(table, {"number": 1}, mode=POSITIONS)),
    ],
)
def test_the_first_version_has_no_deletes(tmp_path: Path, code: str, act: Any) -> None:
    table = make_table(tmp_path, V1)
    append(table, rows(1, 2))
    with pytest.raises(SpecError) as caught:
        act(table)
    assert caught.value.violation.requirement == code
    assert ids(table) == [1, 2]


def test_columns_that_identify_no_row_are_not_compared(tmp_path: Path) -> None:
    fields = (*FIELDS, NestedField(4, "d", required=False, type=DOUBLE))
    table = create_table(str(tmp_path / "t"), fields)
    with pytest.raises(SpecError, match="DEL018"):
        delete_keys(table, pa.table({"d": [1.0]}))
    with pytest.raises(SpecError, match="DEL017"):
        delete_keys(table, pa.table({"e": [1.0]}))


# Row lineage


def test_rows_that_move_keep_their_ids_and_the_number_of_their_last_change(tmp_path: Path) -> None:
    table = make_table(tmp_path, V3)
    append(table, rows(1, 2, 3))
    append(table, rows(4))
    update(table, {"number": 5}, equal("id", 2), mode=COPY)
    names = ("id", "_row_id", "_last_updated_sequence_number")
    expected = [(1, 0, 1), (2, 1, 3), (3, 2, 1), (4, 3, 2)]
    assert lines(table, *names) == expected
    compact(table)
    assert lines(table, *names) == expected
    merge(table, pa.table({"id": [3, 9]}), ["id"], mode=POSITIONS, assignments={"number": "id", "id": "id"})
    found = {line[0]: line[1:] for line in lines(table, *names)}
    assert found[3] == (2, 5)
    assert found[9][1] == 5
    assert found[9][0] not in {0, 1, 2, 3}
    assert {one: found[one] for one in (1, 2, 4)} == {1: (0, 1), 2: (1, 3), 4: (3, 2)}
    assert errors(table) == []


@pytest.mark.parametrize("operation", ["update", "delete", "overwrite", "compact"])
@pytest.mark.parametrize("upgraded", [False, True])
def test_rows_that_got_ids_meanwhile_are_not_written_anew_without_them(
    tmp_path: Path, operation: str, upgraded: bool
) -> None:
    table = make_table(tmp_path, V2)
    append(table, rows(1, 2, 3, 4, 5))
    if upgraded:
        table.commit(UpgradeFormatVersion(V3))
    stale, alone = open_table(str(tmp_path / "t")), open_table(str(tmp_path / "t"))
    if not upgraded:
        table.commit(UpgradeFormatVersion(V3))
    append(table, rows(9))
    before = lines(table, "id", "_row_id")
    assert None not in [number for _, number in before]
    with pytest.raises(CommitConflict, match="LIN009"):
        (lambda handle: compact(handle, min_files=1) if operation == "compact" else REWRITES[operation](handle))(stale)
    assert lines(table.refresh(), "id", "_row_id") == before
    delete(alone, where(Operation.LT, "id", 6), isolation=None)  # no row is rewritten
    assert lines(table.refresh(), "id", "_row_id") == before[-1:]
    assert errors(table) == []


def test_rows_of_before_the_upgrade_get_ids(tmp_path: Path) -> None:
    table = make_table(tmp_path, V2)
    append(table, rows(1, 2, 3))
    table.commit(UpgradeFormatVersion(V3))
    update(table, {"number": 5}, equal("id", 2), mode=COPY)
    found = lines(table, "id", "_row_id")
    assert len({row_id for _, row_id in found}) == 3
    assert None not in {row_id for _, row_id in found}
    assert errors(table) == []


# Overwriting


@pytest.mark.parametrize("mode", [COPY, POSITIONS])
def test_rows_that_replace_others_may_have_to_match_the_filter(tmp_path: Path, mode: Mode) -> None:
    table = make_table(tmp_path)
    append(table, rows(1, 2, 3))
    before = {path for path in tmp_path.rglob("*") if path.is_file()}
    with pytest.raises(UsageError, match=r"^/1: .*does not match the filter"):
        overwrite(table, rows(2, 7), equal("id", 2), mode=mode, matching=True)
    assert {path for path in tmp_path.rglob("*") if path.is_file()} == before
    overwrite(table, rows(2, 2, part="b"), equal("id", 2), mode=mode, matching=True)
    assert ids(table) == [1, 2, 2, 3]  # 1 and 3 are written anew and do not match
    overwrite(table, rows(7), equal("id", 2), mode=mode)
    assert ids(table) == [1, 3, 7]
    assert errors(table) == []


# Compaction


def test_compaction_lets_equality_deletes_of_others_apply(tmp_path: Path) -> None:
    table = make_table(tmp_path, V2)
    for one in range(3):
        append(table, rows(10 * one, 10 * one + 1))
    delete(table, equal("id", 10), mode=EQUALITY)
    other = open_table(str(tmp_path / "t"))
    delete_keys(other, pa.table({"id": [20]}))
    compact(table)
    (task,) = tasks(table)
    assert task.data_sequence_number == 4  # of the snapshot that was read
    assert task.data_file.record_count == 5
    assert ids(table) == [0, 1, 11, 21]
    assert errors(table) == []


def test_compaction_removes_the_deletes_of_the_files(tmp_path: Path) -> None:
    for version in (V2, V3):
        table = create_table(str(tmp_path / f"v{version:d}"), FIELDS, version=version)
        append(table, rows(1, 2, 3))
        delete(table, equal("id", 2), mode=POSITIONS)
        done = compact(table)
        assert done is not None
        assert done.snapshot is not None
        assert done.snapshot.summary["operation"] == "replace"
        assert done.snapshot.summary["total-delete-files"] == "0"
        assert compact(table) is None
        assert ids(table) == [1, 3]
        assert errors(table) == []


def test_compaction_brings_files_to_the_spec(tmp_path: Path) -> None:
    table = make_table(tmp_path, V3, BY_PART)
    append(table, pa.table({"id": [1, 2, 3], "part": ["a", "b", None]}))
    table.commit(ChangeSpec((RemovePartitionField("part"), AddPartitionField((1,), Bucket(2), "b"))))
    append(table, rows(4))
    assert compact(table) is not None
    assert {task.partition_spec_id for task in tasks(table)} == {table.metadata.default_spec_id}
    assert ids(table) == [1, 2, 3, 4]
    assert errors(table) == []


# Merging


def test_merging_compares_all_keys_and_never_null(tmp_path: Path) -> None:
    table = make_table(tmp_path, V3)
    append(table, pa.table({"id": [1, 2, 3], "part": ["a", None, "b"], "number": [0, 0, 0]}))
    source = pa.table({"id": [1, 2, 3], "part": ["a", None, "x"], "number": [7, 8, 9]})
    merge(table, source, ["id", "part"])
    assert sorted(lines(table), key=repr) == sorted(
        [(1, "a", 7), (2, None, 0), (2, None, 8), (3, "b", 0), (3, "x", 9)], key=repr
    )


def test_two_rows_of_the_source_do_not_match_one(tmp_path: Path) -> None:
    table = make_table(tmp_path, V3)
    append(table, rows(1, 2))
    with pytest.raises(SpecError, match=r"^TYP002: .*; found "):
        merge(table, pa.table({"id": [1, 1]}), ["id"])
    merge(table, pa.table({"id": [5, 5]}), ["id"])  # they match none
    assert ids(table) == [1, 2, 5, 5]


@pytest.mark.parametrize(
    ("type_", "key"),
    [(TIMESTAMP_NS, pa.scalar(1, pa.timestamp("ns"))), (DATE, pa.scalar(2_932_897, pa.int32()).cast(pa.date32()))],
)
def test_a_key_of_two_rows_may_be_more_than_python_can_represent(tmp_path: Path, type_: Type, key: Any) -> None:
    table = create_table(str(tmp_path / "t"), (NestedField(1, "at", required=False, type=type_),), version=V3)
    append(table, pa.table({"at": pa.array([key])}))
    with pytest.raises(SpecError, match=r"^TYP002: .*; found {'at': "):
        merge(table, pa.table({"at": pa.array([key, key])}), ["at"])


@pytest.mark.parametrize("mode", [COPY, POSITIONS])
def test_merging_by_other_names(tmp_path: Path, mode: Mode) -> None:
    table = make_table(tmp_path, V2)
    append(table, rows(1, 2, number=0))
    source = pa.table({"id": [2, 3], "changed": [20, 30], "where": ["x", "y"]})
    merge(table, source, ["id"], assignments={"id": "id", "number": "changed"}, mode=mode)
    assert sorted(lines(table)) == [(1, "a", 0), (2, "a", 20), (3, None, 30)]
    merge(table, pa.table({"id": [1, 8]}), ["id"], matched=WhenMatched.DELETE, insert=False, mode=mode)
    merge(table, pa.table({"id": [2, 9]}), ["id"], matched=WhenMatched.KEEP, mode=mode)
    assert ids(table) == [2, 3, 9]
    with pytest.raises(SpecError, match=r"^TYP002: .*; found .key."):
        merge(table, source, ["key"])


# Branches, evolution, properties


def test_branches_are_written_apart(tmp_path: Path) -> None:
    table = make_table(tmp_path, V2)
    append(table, rows(1))
    append(table, rows(2), branch="audit")
    delete(table, equal("id", 1), branch="audit")
    assert ids(table) == [1]
    assert ids(table, ref="audit") == [2]
    head = table.metadata.refs["audit"].snapshot_id
    table.commit(SetReference("v1", SnapshotRef(snapshot_id=head, type=RefType.TAG)))
    for act in (lambda: append(table, rows(3), branch="v1"), lambda: delete(table, TRUE, branch="v1")):
        with pytest.raises(SpecError, match="REF001"):
            act()
    assert errors(table) == []


def test_rows_are_written_with_the_current_schema_and_spec(tmp_path: Path) -> None:
    table = make_table(tmp_path, V3, BY_PART)
    append(table, rows(1, 2, number=5))
    table.commit(ChangeSchema((AddColumn("extra", STRING, default="d"), RenameColumn("number", "n"))))
    append(table, pa.table({"id": [3], "n": [6]}))
    assert sorted(lines(table, "id", "n", "extra")) == [(1, 5, "d"), (2, 5, "d"), (3, 6, "d")]
    with pytest.raises(SpecError, match="TYP002"):
        append(table, rows(4))
    table.commit(ChangeSpec((RemovePartitionField("part"),)))
    append(table, pa.table({"id": [5]}))
    update(table, {"extra": None, "n": 1}, where(Operation.LT, "id", 4))
    assert sorted(lines(table, "id", "n", "extra"))[:3] == [(1, 1, None), (2, 1, None), (3, 1, None)]
    assert errors(table) == []


def test_metrics_are_those_that_the_properties_ask_for(tmp_path: Path) -> None:
    long = "é" * 20
    properties = {
        "write.metadata.metrics.default": "counts",
        "write.metadata.metrics.column.part": "truncate(3)",
        "write.metadata.metrics.column.number": "none",
    }
    table = make_table(tmp_path, V2, **properties)
    append(table, rows(1, 2, part=long, number=3))
    (task,) = tasks(table)
    file = task.data_file
    assert file.value_counts == {1: 2, 2: 2}
    assert file.lower_bounds == {2: ("é" * 3).encode()}
    assert file.upper_bounds == {2: ("éé" + chr(ord("é") + 1)).encode()}
    table.commit(SetProperties({"write.metadata.metrics.default": "all"}))
    with pytest.raises(SpecError, match="DFL012"):
        append(table, rows(3))


@pytest.mark.parametrize("format_", ["parquet", "orc", "avro"])
def test_files_are_sorted_and_end_at_a_size(tmp_path: Path, format_: str) -> None:
    table = make_table(
        tmp_path,
        V2,
        **{
            "write.format.default": format_,
            "write.target-file-size-bytes": "20000",
            f"write.{format_}.compression-codec": "uncompressed",
        },
    )
    down = {"direction": SortDirection.DESC, "null_order": NullOrder.NULLS_LAST}
    order = (SortField(source_id=3, transform=Identity(), **down), SortField(source_id=1, transform=Identity()))
    table.commit(ChangeSortOrder(order))
    numbers = [(7919 * one) % 1000 for one in range(20_000)]
    append(table, pa.table({"id": list(range(20_000)), "number": pa.array(numbers, pa.int32())}))
    files = [task.data_file for task in tasks(table)]
    *full, last = (file.record_count for file in files)
    assert set(full) == {full[0]}
    assert 0 < last <= full[0]
    assert sum(full) + last == 20_000
    assert all(file.file_size_in_bytes < 2 * 20_000 for file in files)
    assert all(file.file_size_in_bytes > 0.7 * 20_000 for file in files[:-1])
    assert {file.sort_order_id for file in files} == {1}
    assert errors(table) == []


def test_a_table_of_a_database(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/catalog.db?table=t&namespace=n"
    table = create_table(url, FIELDS, location=str(tmp_path / "place"), version=V3)
    append(table, rows(1, 2))
    table.close()
    again = open_table(url)
    delete(again, equal("id", 1), mode=POSITIONS)
    assert ids(again) == [2]
    assert errors(again) == []
    again.close()


def test_a_commit_of_files_that_tasks_wrote_elsewhere(tmp_path: Path) -> None:
    table = make_table(tmp_path, V3, BY_PART)
    plan_ = plan_write(table.metadata)
    new = [one for task in range(3) for one in write_rows(plan_, rows(task, part="ab"[task % 2]), f"{task:05d}-0")]
    table.commit(evolve(changes.append(new), summary=(("by", "tasks"),)))
    assert ids(table) == [0, 1, 2]
    assert errors(table) == []


@pytest.mark.parametrize("format_", ["parquet", "orc", "avro"])
def test_a_required_field_below_a_null_is_no_null(tmp_path: Path, format_: str) -> None:
    inner = StructType(
        (
            NestedField(3, "a", required=True, type=STRING),
            NestedField(4, "b", required=True, type=UUID),
            NestedField(5, "c", required=True, type=ListType(6, STRING)),
            NestedField(7, "d", required=True, type=StructType((NestedField(8, "e", required=True, type=DOUBLE),))),
        )
    )
    fields = (NestedField(1, "id", required=True, type=STRING), NestedField(2, "s", required=False, type=inner))
    table = create_table(str(tmp_path / "t"), fields, properties={"write.format.default": format_})
    value = {"a": "x", "b": bytes(16), "c": ["y", "z"], "d": {"e": 1.5}}
    type_ = pa.struct(
        [
            ("a", pa.string()),
            ("b", pa.binary(16)),
            ("c", pa.list_(pa.string())),
            ("d", pa.struct([("e", pa.float64())])),
        ]
    )
    append(table, pa.table({"id": ["1", "2", "3"], "s": pa.array([None, value, None], type_)}))
    found = [line[1] for line in lines(table)]
    assert (found[0], found[2]) == (None, None)
    assert found[1] is not None
    assert (found[1]["a"], found[1]["c"], found[1]["d"]) == ("x", ["y", "z"], {"e": 1.5})
    (task,) = tasks(table)
    assert {one: task.data_file.null_value_counts[one] for one in (3, 4, 8)} == {3: 2, 4: 2, 8: 2}  # type: ignore[index]
    assert errors(table) == []

"""Conflicts between a rewrite and concurrently committed deletes (OCC007; Scan Planning)."""

from __future__ import annotations

import math
import struct
from typing import Any

import delete_scope_faults as faults
import pytest

from conformance.operations.commits.fixtures import ID, PART, data_path, empty_table
from conformance.operations.commits.reference import MemoryRunner, MemoryStore
from spec_ref.commits import Base, CommitConflict, load
from spec_ref.commits.changes import CreateTable, NewFile, fast_append, rewrite_files, row_delta
from spec_ref.core.records import evolve
from spec_ref.data_types.types import DOUBLE, LONG, NestedField
from spec_ref.manifests.data_file import DataFile, FileContent, FileFormat
from spec_ref.partitioning.spec import PartitionField, PartitionSpec
from spec_ref.partitioning.transforms import Identity, Transform, Void, parse_transform
from spec_ref.scan_planning.delete_scope import FILE_PATH
from spec_ref.schemas.schema import Schema

SCHEMA = Schema((NestedField(ID, "id", True, LONG), NestedField(PART, "part", False, DOUBLE)), schema_id=0)


def as_spec(spec_id: int, *transforms: Transform) -> PartitionSpec:
    return PartitionSpec(
        spec_id,
        tuple(
            PartitionField(source_id=PART, field_id=1000 + number, name=f"p{number}", transform=transform)
            for number, transform in enumerate(transforms)
        ),
    )


BY_VALUE, ONLY_VOID, UNPARTITIONED, EMPTY = (
    as_spec(0, Identity()),
    as_spec(1, Void(), Void()),
    as_spec(2),
    as_spec(4),
)
OTHER_FIELD = PartitionSpec(
    3, (PartitionField(source_id=ID, field_id=1002, name="by_id", transform=parse_transform("bucket[4]")),)
)


class Table:
    """A table in memory with several partition specs, of which the first is the default."""

    def __init__(self) -> None:
        self.runner = MemoryRunner(MemoryStore())
        metadata = evolve(
            empty_table(2),
            schemas=(SCHEMA,),
            partition_specs=(BY_VALUE, ONLY_VOID, UNPARTITIONED, OTHER_FIELD, EMPTY),
            last_partition_id=1002,
        )
        self.runner.commit(CreateTable(metadata))

    def base(self) -> Base:
        found = self.runner.run(load())
        assert found is not None
        return found


def new_file(content: FileContent, name: str, spec: PartitionSpec, partition: dict[int, Any], **more: Any) -> NewFile:
    number = more.pop("sequence_number", None)
    file = DataFile(
        content=content,
        file_path=data_path(name),
        file_format=FileFormat.PARQUET,
        partition=partition,
        record_count=1,
        file_size_in_bytes=10,
        equality_ids=(ID,) if content is FileContent.EQUALITY_DELETES else None,
        **more,
    )
    return NewFile(file, spec.spec_id, number)


DATA, EQUALITY, POSITION = FileContent.DATA, FileContent.EQUALITY_DELETES, FileContent.POSITION_DELETES
NAN, OTHER_NAN = math.nan, struct.unpack(">d", b"\xff\xf8\x00\x00\x00\x00\x00\x01")[0]


def is_conflict(
    table: Table, delete: NewFile, spec: PartitionSpec, partition: dict[int, Any], replacement: NewFile | None = None
) -> bool:
    """Return whether the rewrite of a data file is refused after another writer added a delete."""
    table.runner.commit(fast_append([new_file(DATA, "old", spec, partition)]))
    base = table.base()
    table.runner.commit(row_delta([delete]))
    made = rewrite_files([replacement or new_file(DATA, "new", spec, partition)], [data_path("old")])
    try:
        table.runner.commit(made, base=base)
    except CommitConflict as error:
        return error.violation.requirement == "OCC007"
    return False


@pytest.mark.parametrize("content", [EQUALITY, POSITION])
@pytest.mark.parametrize(
    ("deleted", "held", "conflicts"),
    [
        (NAN, NAN, True),
        (NAN, OTHER_NAN, True),
        (NAN, 1.0, False),
        (NAN, None, False),
        (0.0, 0.0, True),
        (-0.0, 0.0, False),
        (None, None, True),
    ],
)
def test_partitions_are_compared_as_planning_compares_them(
    content: FileContent, deleted: Any, held: Any, *, conflicts: bool
) -> None:
    delete = new_file(content, "delete", BY_VALUE, {1000: deleted})
    assert is_conflict(Table(), delete, BY_VALUE, {1000: held}) is conflicts


@pytest.mark.parametrize("spec", [ONLY_VOID, UNPARTITIONED])
@pytest.mark.parametrize(("content", "conflicts"), [(EQUALITY, True), (POSITION, False)])
def test_equality_deletes_of_a_spec_without_partitions_are_for_all_files(
    spec: PartitionSpec, content: FileContent, *, conflicts: bool
) -> None:
    delete = new_file(content, "delete", spec, {field.field_id: None for field in spec.fields})
    assert is_conflict(Table(), delete, BY_VALUE, {1000: 1.0}) is conflicts


def test_position_deletes_of_a_spec_of_void_fields_are_for_its_files() -> None:
    nothing = {field.field_id: None for field in ONLY_VOID.fields}
    assert is_conflict(Table(), new_file(POSITION, "delete", ONLY_VOID, nothing), ONLY_VOID, nothing)


@pytest.mark.parametrize(
    ("lower", "upper", "conflicts"),
    [
        ("a", "b", False),
        ("old", "old", True),
        ("old", None, True),
        (None, "older", True),
        ("ol", "ol", True),  # truncated, but not incremented
        ("z", "a", True),  # impossible bounds are ignored
        ("old2", "z", False),
    ],
)
def test_bounds_of_paths_exclude_files(lower: str | None, upper: str | None, *, conflicts: bool) -> None:
    bounds = [None if name is None else {FILE_PATH: data_path(name).encode()} for name in (lower, upper)]
    delete = new_file(POSITION, "delete", BY_VALUE, {1000: 1.0}, lower_bounds=bounds[0], upper_bounds=bounds[1])
    assert is_conflict(Table(), delete, BY_VALUE, {1000: 1.0}) is conflicts


@pytest.mark.parametrize(("name", "conflicts"), [("old", True), ("x", False)])
def test_deletes_of_one_data_file_are_for_no_other(name: str, *, conflicts: bool) -> None:
    delete = new_file(POSITION, "delete", BY_VALUE, {1000: 1.0}, referenced_data_file=data_path(name))
    assert is_conflict(Table(), delete, BY_VALUE, {1000: 1.0}) is conflicts


@pytest.mark.parametrize("path", ["old", "x"])
def test_equality_deletes_are_for_all_data_files_whatever_path_they_name(path: str) -> None:
    delete = new_file(EQUALITY, "delete", BY_VALUE, {1000: 1.0}, referenced_data_file=data_path(path))
    assert is_conflict(Table(), delete, BY_VALUE, {1000: 1.0})


@pytest.mark.parametrize(
    ("delete_spec", "new_spec", "number", "conflicts"),
    [
        (BY_VALUE, BY_VALUE, 1, False),
        (BY_VALUE, BY_VALUE, None, True),
        (BY_VALUE, BY_VALUE, 2, True),  # not older than the delete
        (BY_VALUE, OTHER_FIELD, 1, True),  # the new file is not in a partition of the delete's spec
        (UNPARTITIONED, OTHER_FIELD, 1, False),
        (ONLY_VOID, BY_VALUE, 1, False),
    ],
)
def test_equality_deletes_have_to_apply_to_the_new_files(
    delete_spec: PartitionSpec, new_spec: PartitionSpec, number: int | None, *, conflicts: bool
) -> None:
    values: dict[int, dict[int, Any]] = {0: {1000: 1.0}, 1: {1000: None, 1001: None}, 2: {}, 3: {1002: 3}}
    delete = new_file(EQUALITY, "delete", delete_spec, values[delete_spec.spec_id])
    replacement = new_file(DATA, "new", new_spec, values[new_spec.spec_id], sequence_number=number)
    assert is_conflict(Table(), delete, BY_VALUE, {1000: 1.0}, replacement) is conflicts


def test_deletes_older_than_the_file_are_no_conflict() -> None:
    """A delete file that another writer rewrote keeps its number, and does not delete newer data."""
    table = Table()
    table.runner.commit(fast_append([new_file(DATA, "first", BY_VALUE, {1000: 2.0})]))
    delete = new_file(EQUALITY, "delete", BY_VALUE, {1000: 1.0}, sequence_number=1)
    assert not is_conflict(table, delete, BY_VALUE, {1000: 1.0})


OF_X = {FILE_PATH: data_path("x").encode()}
RULE_FAULTS: list[tuple[faults.Plant, NewFile, PartitionSpec, dict[int, Any], NewFile | None]] = [
    (faults.spec_ignored, new_file(POSITION, "delete", UNPARTITIONED, {}), EMPTY, {}, None),
    (faults.partition_ignored, new_file(EQUALITY, "delete", BY_VALUE, {1000: 1.0}), BY_VALUE, {1000: 2.0}, None),
    (faults.nan_never_equal, new_file(EQUALITY, "delete", BY_VALUE, {1000: NAN}), BY_VALUE, {1000: OTHER_NAN}, None),
    (faults.null_never_equal, new_file(POSITION, "delete", BY_VALUE, {1000: None}), BY_VALUE, {1000: None}, None),
    (faults.no_global_deletes, new_file(EQUALITY, "delete", UNPARTITIONED, {}), BY_VALUE, {1000: 1.0}, None),
    (
        faults.equality_of_the_same_commit,
        new_file(EQUALITY, "delete", BY_VALUE, {1000: 1.0}),
        BY_VALUE,
        {1000: 1.0},
        new_file(DATA, "new", BY_VALUE, {1000: 1.0}, sequence_number=2),
    ),
    (
        faults.other_file,
        new_file(POSITION, "delete", BY_VALUE, {1000: 1.0}, lower_bounds=OF_X, upper_bounds=OF_X),
        BY_VALUE,
        {1000: 1.0},
        None,
    ),
]
"""Faults of the rule, each with a delete, a rewritten data file, and the file that replaces it."""


@pytest.mark.parametrize(("fault", "delete", "spec", "partition", "replacement"), RULE_FAULTS)
def test_conflicts_show_a_fault_of_the_rule(
    fault: faults.Plant,
    delete: NewFile,
    spec: PartitionSpec,
    partition: dict[int, Any],
    replacement: NewFile | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sound = is_conflict(Table(), delete, spec, partition, replacement)
    fault(monkeypatch)
    assert is_conflict(Table(), delete, spec, partition, replacement) is not sound

"""Tables whose partition fields lost their source columns, or have unknown transforms: old tuples are carried."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from written import FIELDS, errors, lines

from conformance.table_io.file_access import read_bytes
from conformance.table_io.writing import (
    Mode,
    WritableTable,
    append,
    compact,
    create_table,
    delete,
    merge,
    open_table,
    overwrite,
    overwrite_partitions,
    rewrite_manifests,
    update,
)
from spec_ref.commits.changes import ChangeSchema, ChangeSpec, SetProperties
from spec_ref.commits.manifests import partition_type
from spec_ref.core.records import evolve
from spec_ref.core.versions import V1, V2, V3, FormatVersion
from spec_ref.data_types.types import INT, LONG, STRING, UNKNOWN, NestedField, StructType, Type
from spec_ref.expressions.predicates import Comparison, Literal, NamedReference, Operation
from spec_ref.manifest_lists.reader import read_manifest_list
from spec_ref.manifests.reader import read_manifest
from spec_ref.partitioning.evolution import RemovePartitionField
from spec_ref.partitioning.spec import PartitionField, PartitionSpec
from spec_ref.partitioning.transforms import Bucket, Identity, Transform, Truncate
from spec_ref.schemas.evolution import DropColumn

COPY, POSITIONS, EQUALITY = Mode.COPY_ON_WRITE, Mode.MERGE_ON_READ, Mode.EQUALITY
MODES = [(V1, COPY), (V2, COPY), (V2, POSITIONS), (V2, EQUALITY), (V3, COPY), (V3, POSITIONS), (V3, EQUALITY)]
TRANSFORMS: list[Transform] = [Identity(), Bucket(4), Truncate(1)]


def compared(operation: Operation, name: str, value: Any) -> Any:
    return Comparison(operation, NamedReference(name), Literal(value))


def written(tmp_path: Path, version: FormatVersion, transform: Transform) -> WritableTable:
    """A table of two commits in two partitions each."""
    field = PartitionField(source_id=2, field_id=1000, name="p", transform=transform)
    table = create_table(str(tmp_path / "t"), FIELDS, version=version, spec=PartitionSpec(0, (field,)))
    for start in (0, 10):
        numbers = list(range(start, start + 8))
        append(table, pa.table({"id": numbers, "part": ["a", "b", None, "a"] * 2, "number": numbers}))
    return table


def without_source(tmp_path: Path, version: FormatVersion, transform: Transform) -> WritableTable:
    """The same table after its partition field was removed, and then the source column of the field."""
    table = written(tmp_path, version, transform)
    table.commit(ChangeSpec((RemovePartitionField("p"),)))
    table.commit(ChangeSchema((DropColumn("part"),)))
    return table


@pytest.mark.parametrize(
    ("stored", "expected"),
    [
        ((), UNKNOWN),
        ((INT,), INT),
        ((INT, LONG), LONG),
        ((LONG, INT), LONG),
        ((UNKNOWN, INT), INT),
        ((STRING, INT), STRING),
    ],
)
def test_a_type_that_no_schema_has_is_the_widest_that_manifests_have(
    tmp_path: Path, stored: tuple[Type, ...], expected: Type
) -> None:
    metadata = without_source(tmp_path, V2, Identity()).metadata
    metadata = evolve(metadata, schemas=(metadata.current_schema,))
    spec = metadata.partition_specs[0]
    types = [None, *(StructType((NestedField(1000, "p", required=False, type=type_),)) for type_ in stored)]
    assert [field.type for field in partition_type(metadata, spec, types).fields] == [expected]


def stored_partitions(table: WritableTable) -> list[tuple[int, str, Any]]:
    """The spec, and the partition tuple with the type that it is stored in, of each live data file."""
    snapshot = table.metadata.current_snapshot
    assert snapshot is not None
    assert snapshot.manifest_list is not None
    found = []
    for listed in read_manifest_list(read_bytes(snapshot.manifest_list), file=snapshot.manifest_list):
        manifest = read_manifest(read_bytes(listed.manifest_path), manifest_file=listed)
        types = ",".join(str(field.type) for field in manifest.partition_type().fields)
        found += [
            (listed.partition_spec_id, types, tuple(entry.data_file.partition.items()))
            for entry in manifest.entries()
            if entry.live and entry.data_file.content == 0
        ]
    return sorted(found, key=repr)


@pytest.mark.parametrize("transform", TRANSFORMS, ids=str)
@pytest.mark.parametrize(("version", "mode"), MODES)
def test_changes_of_rows(tmp_path: Path, version: FormatVersion, mode: Mode, transform: Transform) -> None:
    table = without_source(tmp_path, version, transform)
    delete(table, compared(Operation.EQ, "id", 4), mode=mode)
    left = [0, 1, 2, 3, 5, 6, 7, *range(10, 18)]
    assert [line[0] for line in sorted(lines(table, "id"))] == left
    assert errors(table) == []
    update(table, {"number": 100}, compared(Operation.EQ, "id", 11), mode=mode)
    merge(table, pa.table({"id": [12, 50], "number": [120, 500]}), ["id"], mode=mode)
    overwrite(table, pa.table({"id": [60], "number": [600]}), compared(Operation.LT, "id", 2), mode=mode)
    expected = [(one, {11: 100, 12: 120}.get(one, one)) for one in left if one >= 2] + [(50, 500), (60, 600)]
    assert sorted(lines(table, "id", "number")) == expected
    assert errors(table) == []
    rewrite_manifests(table)
    assert sorted(lines(table, "id", "number")) == expected
    compact(table)
    assert sorted(lines(table, "id", "number")) == expected
    overwrite_partitions(table, pa.table({"id": [70], "number": [700]}))
    assert sorted(lines(table, "id", "number")) == [(70, 700)]
    assert errors(table) == []


@pytest.mark.parametrize("transform", TRANSFORMS, ids=str)
@pytest.mark.parametrize("version", [V2, V3])
def test_tuples_of_untouched_files_stay(tmp_path: Path, version: FormatVersion, transform: Transform) -> None:
    table = without_source(tmp_path, version, transform)
    before = stored_partitions(table)
    table.commit(SetProperties({"commit.manifest.min-count-to-merge": "2"}))
    rewrite_manifests(table)
    assert stored_partitions(table) == before
    append(table, pa.table({"id": [90], "number": [900]}))
    assert [one for one in stored_partitions(table) if one[0] == 0] == before


@pytest.mark.parametrize("transform", TRANSFORMS, ids=str)
def test_the_partition_can_be_read(tmp_path: Path, transform: Transform) -> None:
    table = written(tmp_path, V2, transform)
    before = lines(table, "id", "_partition")
    assert {line[1]["p"] for line in before} == {file[2][0][1] for file in stored_partitions(table)}
    table.commit(ChangeSpec((RemovePartitionField("p"),)))
    table.commit(ChangeSchema((DropColumn("part"),)))
    assert lines(table, "id", "_partition") == before


def reinterpreted(table: WritableTable, transform: str, *, forget: bool) -> WritableTable:
    """The table with another transform in its first spec, as another implementation could have written it.

    Args:
        table: the table.
        transform: the transform.
        forget: whether older schemas are removed.
    """
    path = Path(table.base.location.removeprefix("file://"))
    made = json.loads(path.read_text())
    for field in next(spec for spec in made["partition-specs"] if spec["spec-id"] == 0)["fields"]:
        field["transform"] = transform
    if forget:
        made["schemas"] = [one for one in made["schemas"] if one["schema-id"] == made["current-schema-id"]]
        for snapshot in made["snapshots"]:
            snapshot.pop("schema-id")
    path.write_text(json.dumps(made))
    return open_table(str(path.parents[1]))


@pytest.mark.parametrize(("transform", "forget"), [("zorder[7]", False), ("identity", True)])
def test_tuples_of_unknown_meaning_are_carried(tmp_path: Path, transform: str, *, forget: bool) -> None:
    table = reinterpreted(without_source(tmp_path, V3, Identity()), transform, forget=forget)
    before = stored_partitions(table)
    assert {one[1] for one in before} == {"string"}
    rewrite_manifests(table)
    assert stored_partitions(table) == before
    delete(table, compared(Operation.EQ, "id", 4), mode=COPY)
    after = stored_partitions(table)
    assert len([one for one in after if one[0] == 0]) == len(before) - 1
    assert set(after) - set(before) == {one for one in after if one[0] == 1}
    assert len(lines(table, "id")) == 15
    assert {tuple(line[1]) for line in lines(table, "id", "_partition")} == {()}
    compact(table)
    assert len(lines(table, "id")) == 15

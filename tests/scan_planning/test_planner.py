"""Planning: the contents of tasks, inheritance, and tables that cannot be planned."""

from __future__ import annotations

import pickle
import struct
from typing import Any

import pytest
from planned_tables import LIST, SCHEMA, SNAPSHOT, Table, added, data_file

from spec_ref.columnar.manifests import batched_manifests
from spec_ref.columnar.manifests.batched_manifests import batched_columns
from spec_ref.columnar.scan_planning.planner import plan
from spec_ref.core.errors import SpecError
from spec_ref.core.records import evolve
from spec_ref.core.versions import V1, V2, V3, FormatVersion
from spec_ref.data_types.types import LONG, TIMESTAMP, NestedField
from spec_ref.encodings.avro.container import open_container, write_container
from spec_ref.expressions.predicates import FALSE, TRUE, Comparison, Literal, NamedReference, Operation
from spec_ref.manifest_lists.manifest_file import FieldSummary, ManifestContent
from spec_ref.manifest_lists.writer import write_manifest_list
from spec_ref.manifests import EntryStatus, FileContent, FileFormat, ManifestEntry
from spec_ref.manifests.reader import read_manifest
from spec_ref.partitioning.spec import UNPARTITIONED, PartitionField, PartitionSpec
from spec_ref.partitioning.transforms import Day, Identity
from spec_ref.schemas.schema import Schema
from spec_ref.snapshots.snapshot import Snapshot
from tools.derive import manifests as avro_files

BY_ID = PartitionSpec(0, (PartitionField(source_id=1, field_id=1000, name="id", transform=Identity()),))


def id_is(value: int, operation: Operation = Operation.EQ) -> Any:
    return Comparison(operation, NamedReference("id"), Literal(value))


def bounds(low: int, high: int) -> dict[str, Any]:
    return {
        "lower_bounds": {1: struct.pack("<q", low)},
        "upper_bounds": {1: struct.pack("<q", high)},
        "value_counts": {1: 1},
        "null_value_counts": {1: 0},
    }


def delete(name: str, content: FileContent = FileContent.POSITION_DELETES, **changes: Any) -> Any:
    return data_file(name, content=content, **changes)


def vector(name: str, of: str, **changes: Any) -> Any:
    fields = {"content_offset": 4, "content_size_in_bytes": 40, "file_format": FileFormat.PUFFIN}
    return delete(name, referenced_data_file=f"s3://bucket/t/data/{of}", **fields, **changes)


def refused(table: Table, predicate: Any = TRUE) -> Any:
    with pytest.raises(SpecError) as caught:
        table.plan(predicate)
    return caught.value.violation


# Tasks


def test_tasks_have_what_entries_inherit_and_can_be_pickled() -> None:
    table = Table()
    table.manifest([added(data_file("a", record_count=3)), added(data_file("b", record_count=4))], first_row_id=100)
    table.manifest([added(data_file("c"), 5)])
    tasks = table.plan()
    assert [task.data_file.first_row_id for task in tasks] == [100, 103, None]
    assert [(task.data_sequence_number, task.file_sequence_number) for task in tasks] == [(9, 9), (9, 9), (5, 5)]
    assert [task.partition_spec_id for task in tasks] == [0, 0, 0]
    assert pickle.loads(pickle.dumps(tasks)) == tasks


def test_statistics_are_kept_where_they_are_asked_for() -> None:
    table = Table()
    table.manifest([added(data_file("a", split_offsets=(4,), **bounds(1, 2)), 5)])
    table.deletes([added(delete("e", FileContent.EQUALITY_DELETES, equality_ids=(1,), **bounds(1, 1)))])
    with_statistics = table.plan(include_column_stats=True)[0]
    assert with_statistics.data_file.lower_bounds == {1: struct.pack("<q", 1)}
    assert with_statistics.deletes[0].data_file.value_counts == {1: 1}
    without = table.plan()[0]
    assert (without.data_file.lower_bounds, without.data_file.value_counts) == (None, None)
    assert without.deletes[0].data_file.lower_bounds is None
    assert without.data_file.split_offsets == (4,)
    assert without.deletes[0].data_file.equality_ids == (1,)


def test_the_residual_is_what_the_partition_leaves() -> None:
    table = Table(specs=(BY_ID, PartitionSpec(1)))
    table.manifest([added(data_file("one", partition={1000: 1})), added(data_file("two", partition={1000: 2}))])
    table.manifest([added(data_file("free"))], table.specs[1])
    left = {task.data_file.file_path[-4:]: task.residual for task in table.plan(id_is(1))}
    assert left.keys() == {"/one", "free"}
    assert left["/one"] == TRUE
    assert left["free"] not in (TRUE, FALSE)


def test_deletes_come_in_the_order_of_their_manifests() -> None:
    table = Table()
    table.manifest([added(data_file("a"), 1)])
    equal = {"content": FileContent.EQUALITY_DELETES, "equality_ids": (1,)}
    table.deletes([added(delete("p"), 7), added(delete("e", **equal), 3)])
    table.deletes([added(delete("q"), 2), added(delete("f", **equal), 9)])
    assert table.planned() == {"a": ["p", "e", "q", "f"]}


def test_a_filter_that_nothing_matches_opens_no_manifest() -> None:
    table = Table()
    table.manifest([added(data_file("a"))])
    snapshot = table.snapshot
    opened = []

    def read_file(path: str) -> bytes:
        opened.append(path)
        return table.files[path]

    assert not list(plan(table.metadata, snapshot, FALSE, read_file))
    assert opened == [LIST]


def test_a_filter_in_any_case_is_bound_where_that_is_asked_for() -> None:
    table = Table()
    table.manifest([added(data_file("a", **bounds(1, 2)))])
    upper = Comparison(Operation.EQ, NamedReference("ID"), Literal(1))
    assert refused(table, upper).requirement == "EXP003"
    assert table.planned(upper, case_sensitive=False) == {"a": []}


def test_summaries_of_another_number_of_fields_say_nothing() -> None:
    table = Table(specs=(BY_ID,))
    summary = FieldSummary(
        contains_null=False, lower_bound=struct.pack("<q", 5), upper_bound=struct.pack("<q", 6), contains_nan=False
    )
    table.manifest([added(data_file("one", partition={1000: 1}))], partitions=(summary, summary))
    assert table.planned(id_is(1)) == {"one": []}
    table.listed[0] = evolve(table.listed[0], partitions=(summary,))
    assert table.planned(id_is(1)) == {}


def test_partition_values_of_a_type_that_cannot_be_compared_rule_nothing_out() -> None:
    table = Table(specs=(BY_ID,), version=V2)
    string = avro_files.field(1000, "id", avro_files.optional("string"))
    entry = avro_files.entry(file={"partition": {"id": "1"}}, sequence_number=3, file_sequence_number=3, status=0)
    table.manifest([added(data_file("x", partition={1000: 1}))], partitions=None)
    table.files[table.listed[0].manifest_path] = avro_files.manifest(2, [entry], partition=[string])
    assert list(table.planned(id_is(5))) == ["1.parquet"]


def test_days_that_were_counted_upward_are_found_where_that_is_asked_for() -> None:
    schema = Schema((NestedField(1, "id", False, TIMESTAMP),))
    spec = PartitionSpec(0, (PartitionField(source_id=1, field_id=1000, name="day", transform=Day()),))
    table = Table(schema=schema, specs=(spec,))
    table.manifest([added(data_file("upward", partition={1000: 0}))])
    last = Comparison(Operation.EQ, NamedReference("id"), Literal("1969-12-31T23:59:59.999999"))
    assert table.planned(last) == {}
    assert table.planned(last, tolerate_truncated_times=True) == {"upward": []}


# Many manifests


@pytest.mark.parametrize("batch", [1, 3000, 1 << 22])
def test_manifests_are_decoded_together_and_keep_their_own_numbers(batch: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batched_manifests, "BATCH_BYTES", batch)
    table = Table()
    expected = []
    for number in range(12):
        entries = []
        for place in range(1 + 17 * (number % 3)):
            file = data_file(f"f{number}-{place}", record_count=place + 1, **bounds(number, number + place))
            entries.append(added(file, 3 if place % 2 else None))
        gone = {"sequence_number": 1, "file_sequence_number": 1, "snapshot_id": 1}
        entries.insert(1, ManifestEntry(status=EntryStatus.DELETED, data_file=data_file("gone"), **gone))
        table.manifest(entries, sequence_number=number % 4 + 5, min_sequence_number=1, first_row_id=1000 * number)
        manifest = read_manifest(table.files[table.listed[-1].manifest_path], manifest_file=table.listed[-1])
        expected += [entry for entry in manifest.entries() if entry.live]
    tasks = table.plan(include_column_stats=True)
    assert [task.data_file for task in tasks] == [entry.data_file for entry in expected]
    assert [task.data_sequence_number for task in tasks] == [entry.sequence_number for entry in expected]
    assert [task.file_sequence_number for task in tasks] == [entry.file_sequence_number for entry in expected]
    some = [entry.data_file.file_path for entry in expected if int(entry.data_file.file_path[20:].split("-")[0]) > 9]
    assert [
        task.data_file.file_path for task in table.plan(id_is(9, Operation.GT)) if task.data_file.file_path in some
    ] == some


def test_manifests_of_other_versions_and_specs_are_kept_apart() -> None:
    table = Table(specs=(UNPARTITIONED, evolve(BY_ID, spec_id=1)), version=V2)
    table.manifest([added(data_file("a"))])
    table.manifest([added(data_file("b", partition={1000: 1}))], table.specs[1])
    old = Table(version=V1)
    old.manifest([added(data_file("c"), snapshot_id=3)])
    table.files["old"] = old.files[old.listed[0].manifest_path]
    table.listed.append(evolve(old.listed[0], manifest_path="old", sequence_number=0, min_sequence_number=0))
    table.manifest([added(data_file("d"))])
    numbers = {task.data_file.file_path[-1]: task.data_sequence_number for task in table.plan()}
    assert numbers == {"a": 9, "b": 9, "c": 0, "d": 9}
    assert set(table.planned(id_is(1))) == {"a", "b", "c", "d"}
    assert set(table.planned(id_is(2))) == {"a", "c", "d"}


# What is refused


def test_a_manifest_list_that_is_not_there_is_reported() -> None:
    table = Table()
    snapshot = table.snapshot
    del table.files[LIST]
    with pytest.raises(SpecError) as caught:
        list(plan(table.metadata, snapshot, TRUE, table.read_file))
    assert (caught.value.violation.requirement, caught.value.violation.file) == ("SNP005", LIST)


def test_a_snapshot_without_manifests_is_reported() -> None:
    with pytest.raises(SpecError) as caught:
        list(plan(Table().metadata, Snapshot(snapshot_id=1, timestamp_ms=1), TRUE, Table().read_file))
    assert caught.value.violation.requirement == "SNP005"


def test_a_manifest_that_is_not_there_is_reported() -> None:
    table = Table()
    table.manifest([added(data_file("a"))])
    path = table.listed[0].manifest_path
    del table.files[path]
    problem = refused(table)
    assert (problem.requirement, problem.file, problem.found) == ("MLS003", LIST, repr(path))


def test_a_spec_that_the_table_does_not_have_is_reported() -> None:
    table = Table()
    table.manifest([added(data_file("a"))])
    table.manifest([added(data_file("b"))], partition_spec_id=4)
    problem = refused(table)
    assert (problem.requirement, problem.file, problem.path) == ("MLS005", LIST, "/1/partition_spec_id")


def test_a_manifest_that_is_cut_off_among_others_is_reported() -> None:
    table = Table()
    for number in range(3):
        table.manifest([added(data_file(f"{number}-{place}")) for place in range(30)])
    path = table.listed[1].manifest_path
    table.files[path] = table.files[path][:-30]
    problem = refused(table)
    assert (problem.requirement, problem.file) == ("MAN001", path)


def test_an_entry_that_is_malformed_among_those_of_other_manifests_is_reported() -> None:
    table = Table(version=V2)
    for number in range(3):
        table.manifest([added(data_file(f"{number}-{place}"), 3) for place in range(30)])
    rows = [avro_files.entry(place, 0, sequence_number=3, file_sequence_number=3) for place in range(30)]
    broken = avro_files.manifest(2, rows)
    place = broken.index(b"s3://b/wh/t/data/17.parquet")
    table.files[table.listed[1].manifest_path] = broken[: place - 1] + b"\x01" + broken[place:]
    problem = refused(table)
    assert problem.file == table.listed[1].manifest_path
    assert problem.path.startswith("/17/data_file/file_path")


def test_a_string_that_is_not_utf8_is_reported_with_its_place() -> None:
    table = Table()
    for number in range(2):
        table.manifest([added(data_file(f"{number}-{place:02}", **bounds(place, place))) for place in range(30)])
    path = table.listed[1].manifest_path
    container = open_container(table.files[path], "MAN001")
    metadata = {key: value for key, value in container.metadata.items() if key != "avro.codec"}
    blocks = [(count, payload.replace(b"data/1-17", b"data/1-\xff7")) for count, payload in container.payloads()]
    table.files[path] = write_container(metadata, blocks, codec="null", sync=bytes(16))
    problem = refused(table, id_is(17))
    assert (problem.requirement, problem.file, problem.path) == ("AVR014", path, "/17")
    # The kernel does not look at the paths of files that it leaves out; the definition reads every value.
    tasks = plan(table.metadata, table.snapshot, id_is(16), table.read_file)
    assert [task.data_file.file_path[-4:] for task in tasks] == ["0-16", "1-16"]


def _foreign(version: FormatVersion, row: Any, kind: str = "data", **listed: Any) -> Table:
    """A table with one manifest of one row, which our writer would not write."""
    table = Table(version=version)
    table.manifest([added(data_file("a"), snapshot_id=3)])
    table.listed[0] = evolve(table.listed[0], **listed)
    entry = avro_files.manifest(int(version), [row], columns=None, content=kind)
    table.files[table.listed[0].manifest_path] = entry
    return table


@pytest.mark.parametrize(
    ("numbers", "code", "path"),
    [
        ({"sequence_number": None, "file_sequence_number": 3}, "MAN013", "/0/sequence_number"),
        ({"sequence_number": 3, "file_sequence_number": None}, "MAN014", "/0/file_sequence_number"),
        ({"sequence_number": 10, "file_sequence_number": 3}, "MAN013", "/0/sequence_number"),
        ({"sequence_number": 3, "file_sequence_number": 10}, "MAN014", "/0/file_sequence_number"),
        ({"sequence_number": -1, "file_sequence_number": 3}, "MAN013", "/0/sequence_number"),
    ],
)
def test_numbers_that_cannot_be_are_reported(numbers: dict[str, Any], code: str, path: str) -> None:
    assert _foreign(V2, avro_files.entry(status=0, sequence_number=3, file_sequence_number=3)).planned()
    problem = refused(_foreign(V2, avro_files.entry(status=0, **numbers)))
    assert (problem.requirement, problem.path) == (code, path)
    assert problem.file is not None


def test_files_of_the_other_kind_are_reported() -> None:
    row = avro_files.entry(file={"content": 1})
    problem = refused(_foreign(V2, row))
    assert (problem.requirement, problem.path) == ("MAN002", "/0/data_file/content")
    table = _foreign(V2, avro_files.entry(), "deletes", content=ManifestContent.DELETES)
    table.manifest([added(data_file("b"))])
    assert refused(table).requirement == "MAN002"


def test_deletes_before_their_version_are_reported() -> None:
    old = Table(version=V1)
    old.manifest([added(data_file("a"), snapshot_id=3)])
    young = Table(version=V2)
    young.manifest([added(data_file("a"))])
    young.listed[0] = evolve(young.listed[0], content=ManifestContent.DELETES)
    snapshot = evolve(old.snapshot, manifest_list=LIST)
    old.files[LIST] = write_manifest_list(young.listed, V2)
    with pytest.raises(SpecError) as caught:
        list(plan(old.metadata, snapshot, TRUE, old.read_file))
    assert (caught.value.violation.requirement, caught.value.violation.path) == ("DEL001", "/0/content")
    table = Table(version=V3)
    table.manifest([added(data_file("a"))])
    table.deletes([added(vector("v", "a"))])
    assert table.planned() == {"a": ["v"]}
    metadata = evolve(table.metadata, format_version=V2)
    with pytest.raises(SpecError) as caught:
        list(plan(metadata, table.snapshot, TRUE, table.read_file))
    assert (caught.value.violation.requirement, caught.value.violation.path) == ("DEL001", "/0/data_file/file_format")


@pytest.mark.parametrize(
    ("file", "code", "path"),
    [
        ({"content": 1, "file_format": "PUFFIN"}, "DFL023", "/0/data_file/referenced_data_file"),
        ({"content": 2}, "DFL020", "/0/data_file/equality_ids"),
    ],
)
def test_deletes_that_do_not_say_of_what_are_reported(file: dict[str, Any], code: str, path: str) -> None:
    table = _foreign(V3, avro_files.entry(file=file), "deletes", content=ManifestContent.DELETES)
    table.manifest([added(data_file("b"))])
    problem = refused(table)
    assert (problem.requirement, problem.path, problem.file) == (code, path, table.listed[0].manifest_path)


def test_two_deletion_vectors_of_a_file_are_reported() -> None:
    table = Table()
    table.manifest([added(data_file("a"), 3), added(data_file("b"), 3)])
    table.deletes([added(vector("v", "b"), 4), added(vector("w", "b"), 5)])
    problem = refused(table)
    assert (problem.requirement, problem.path, problem.file) == ("DEL003", "/1", table.listed[0].manifest_path)


def test_a_file_that_is_live_twice_is_reported() -> None:
    table = Table()
    table.manifest([added(data_file("a"))])
    table.manifest([added(data_file("a"))])
    problem = refused(table)
    assert (problem.requirement, problem.path) == ("SCN007", "/0/data_file/file_path")
    assert problem.file == table.listed[1].manifest_path


def test_a_bound_of_another_type_is_reported_with_its_place() -> None:
    table = Table()
    table.manifest([added(data_file(f"{number}", **bounds(1, 2))) for number in range(30)])
    bad = data_file("bad", **{**bounds(1, 2), "lower_bounds": {1: b"abc"}})
    table.manifest([added(data_file("good", **bounds(1, 2))), added(bad)])
    problem = refused(table, id_is(1))
    assert (problem.path, problem.file) == ("/1/lower_bounds/1", table.listed[1].manifest_path)
    assert len(table.plan()) == 32


def test_a_bound_of_a_summary_of_another_type_is_reported_with_its_place() -> None:
    table = Table(specs=(BY_ID,))
    summary = FieldSummary(contains_null=False, contains_nan=False, lower_bound=b"abc", upper_bound=b"abc")
    table.manifest([added(data_file("a", partition={1000: 1}))], partitions=(summary,))
    problem = refused(table, id_is(1))
    assert problem.file == LIST
    assert problem.path.startswith("/0")


# Snapshots of v1 that name their manifests


def test_manifests_without_a_list_have_the_spec_of_their_header() -> None:
    table = Table(specs=(UNPARTITIONED, evolve(BY_ID, spec_id=1)), version=V1)
    table.manifest([added(data_file("a"), snapshot_id=3)])
    table.manifest([added(data_file("b", partition={1000: 1}), snapshot_id=3)], table.specs[1])
    paths = tuple(manifest.manifest_path for manifest in table.listed)
    snapshot = Snapshot(snapshot_id=SNAPSHOT, timestamp_ms=1, manifests=paths)
    tasks = list(plan(table.metadata, snapshot, id_is(2), table.read_file))
    assert [(task.data_file.file_path[-1], task.partition_spec_id) for task in tasks] == [("a", 0)]
    assert tasks[0].data_sequence_number == 0
    table.files[paths[0]] = avro_files.manifest(
        1, [avro_files.entry(snapshot_id=3)], metadata={"partition-spec-id": None}
    )
    with pytest.raises(SpecError) as caught:
        list(plan(table.metadata, snapshot, TRUE, table.read_file))
    assert (caught.value.violation.requirement, caught.value.violation.file) == ("MAN008", paths[0])
    one = evolve(table.metadata, partition_specs=table.specs[:1])
    only = evolve(snapshot, manifests=paths[:1])
    assert [task.partition_spec_id for task in plan(one, only, TRUE, table.read_file)] == [0]
    del table.files[paths[0]]
    with pytest.raises(SpecError) as caught:
        list(plan(one, only, TRUE, table.read_file))
    assert caught.value.violation.requirement == "SNP006"


def test_columns_of_no_manifest_are_none() -> None:
    assert not list(batched_columns([]))
    assert LONG in {field.type for field in SCHEMA.fields}


def test_equality_deletes_without_a_row_that_matches_the_filter_are_left_out() -> None:
    table = Table()
    table.manifest([added(data_file("a", **bounds(1, 100)), 1)])
    equality = delete("e", FileContent.EQUALITY_DELETES, equality_ids=(1,), **bounds(50, 60))
    table.deletes([added(equality, 5), added(delete("p", **bounds(50, 60)), 5)])
    assert table.planned(id_is(5)) == {"a": ["p"]}  # what a position delete file has in other columns does not matter
    assert table.planned(id_is(55)) == {"a": ["e", "p"]}

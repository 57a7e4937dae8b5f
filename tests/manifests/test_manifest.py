"""Manifests: written files are read back, by fastavro, too; entries inherit; columns equal the entries."""

from __future__ import annotations

import io
import json
import pickle

import fastavro
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from immutabledict import immutabledict

from spec_ref.columnar.avro_mapping import rows as rows_of_columns
from spec_ref.columnar.avro_mapping.rows import read_records
from spec_ref.columnar.manifests import entry_columns, reader
from spec_ref.columnar.manifests.entry_columns import column_batches
from spec_ref.core.errors import SpecError
from spec_ref.core.records import evolve
from spec_ref.core.versions import V1, V2, V3, FormatVersion
from spec_ref.data_types import types as iceberg
from spec_ref.manifest_lists.manifest_file import ManifestContent, ManifestFile
from spec_ref.manifests import (
    EntryStatus,
    FileContent,
    FileFormat,
    ManifestEntry,
    check_manifest,
    read_manifest,
    write_manifest,
)
from spec_ref.manifests import build_manifest_file as describe
from spec_ref.manifests.inheritance import inherit
from spec_ref.manifests.metrics import column_bound
from spec_ref.partitioning.spec import UNPARTITIONED, PartitionField, PartitionSpec
from spec_ref.partitioning.transforms import Identity
from spec_ref.schemas.schema import Schema

from manifest_strategies import SCHEMA, SPEC, VALUES, all_columns, entries, simple  # isort: skip

TABLE = Schema((iceberg.NestedField(1, "id", True, iceberg.LONG), iceberg.NestedField(2, "x", False, iceberg.INT)))
CODES = ("null", "deflate", "snappy", "zstandard")


def written(rows: list[ManifestEntry], version: FormatVersion = V2, **changes: object) -> bytes:
    return write_manifest(rows, UNPARTITIONED, TABLE, version, **changes)  # type: ignore[arg-type]


def listed(rows: list[ManifestEntry], data: bytes, **changes: object) -> ManifestFile:
    fields = {"path": "s3://b/m.avro", "length": len(data), "snapshot_id": 7, "sequence_number": 9, **changes}
    return describe(rows, UNPARTITIONED, TABLE, **fields)  # type: ignore[arg-type]


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_records_of_columns_equal_those_of_rows(data: st.DataObject) -> None:
    rows = data.draw(st.lists(entries(V2), min_size=1, max_size=4))
    if data.draw(st.booleans()):  # as of real writers: all maps have the same keys, and some the same values
        keys = data.draw(st.lists(st.integers(1, 300), min_size=1, max_size=3, unique=True))
        rows = [
            evolve(
                row,
                data_file=evolve(
                    row.data_file,
                    null_value_counts=dict.fromkeys(keys, data.draw(st.sampled_from([0, 0, 0, 7]))),
                    lower_bounds={key: data.draw(st.binary(min_size=4, max_size=4)) for key in keys},
                ),
            )
            for row in rows
        ]
    manifest = read_manifest(write_manifest(rows, SPEC, SCHEMA, V2))
    for column in reader.decoded_batches(manifest, eager=True):
        made = read_records(manifest.row_reader, column)
        assert made == [manifest.row_reader(row) for row in column.to_list()] == rows


@pytest.mark.parametrize(
    ("type_", "values"), [(iceberg.DOUBLE, (0.0, -0.0)), (iceberg.LONG, (7, None)), (iceberg.STRING, ("", "é"))]
)
def test_equal_partitions_are_shared_unless_they_may_differ(type_: iceberg.Type, values: tuple[object, ...]) -> None:
    schema = Schema((iceberg.NestedField(1, "p", False, type_),))
    spec = PartitionSpec(0, (PartitionField(source_id=1, field_id=1000, name="p", transform=Identity()),))
    rows = [simple(number, partition={1000: values[number % 2]}) for number in range(8)]
    manifest = read_manifest(write_manifest(rows, spec, schema, V2))
    (column,) = reader.decoded_batches(manifest)
    made = [entry.data_file.partition for entry in read_records(manifest.row_reader, column) or ()]
    assert [str(partition[1000]) for partition in made] == [str(value) for value in values] * 4
    assert len({id(partition) for partition in made}) == (8 if type_ == iceberg.DOUBLE else 2)


@pytest.mark.parametrize("content", [FileContent.POSITION_DELETES, FileContent.EQUALITY_DELETES])
def test_a_delete_file_has_no_row_ids_even_if_its_entry_does(content: FileContent) -> None:
    rows = [simple(0, content=content, first_row_id=7)]
    manifest = listed(rows, b"", content=ManifestContent.DELETES)
    assert [entry.data_file.first_row_id for entry in inherit(rows, manifest, V3)] == [None]
    assert [entry.data_file.first_row_id for entry in inherit([simple(0, first_row_id=7)], manifest, V3)] == [7]


@pytest.mark.parametrize("has_known_state", [True, False])
def test_maps_that_are_made_at_once_are_like_others(monkeypatch: pytest.MonkeyPatch, *, has_known_state: bool) -> None:
    monkeypatch.setattr(rows_of_columns, "_HAS_KNOWN_STATE", rows_of_columns._HAS_KNOWN_STATE and has_known_state)
    counts, sizes = {1: 7, 2: 8}, [{1: number, 2: 0} for number in range(200)]
    files = [simple(number, value_counts=counts, column_sizes=size) for number, size in enumerate(sizes)]
    manifest = read_manifest(write_manifest(files, UNPARTITIONED, TABLE, V2))
    (column,) = reader.decoded_batches(manifest)
    made = [entry.data_file for entry in read_records(manifest.row_reader, column) or ()]
    assert len({id(one.value_counts) for one in made}) == 1
    for one, size in zip(made, sizes, strict=True):
        assert type(one.column_sizes) is immutabledict
        for found, expected in (one.value_counts, immutabledict(counts)), (one.column_sizes, immutabledict(size)):
            assert found == expected == pickle.loads(pickle.dumps(found))
            assert hash(found) == hash(expected)
            assert repr(found) == repr(expected)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.sampled_from(FormatVersion), st.data())
def test_what_is_written_is_read_in_objects_and_in_columns(version: FormatVersion, data: st.DataObject) -> None:
    rows = data.draw(st.lists(entries(version), min_size=1, max_size=5))
    rows = (rows * 40)[: data.draw(st.sampled_from([1, 5, 60]))]
    size = data.draw(st.sampled_from([100, 3000, 64000]))
    content = write_manifest(rows, SPEC, SCHEMA, version, codec=data.draw(st.sampled_from(CODES)), block_bytes=size)
    found = describe(
        rows,
        SPEC,
        SCHEMA,
        path="s3://b/m",
        length=len(content),
        snapshot_id=7,
        sequence_number=0 if version is V1 else 9,
        first_row_id=1000 if version is V3 else None,
    )
    assert list(read_manifest(content).entries()) == rows
    manifest = read_manifest(content, manifest_file=found, specs={3: SPEC})
    expected = list(manifest.entries())
    assert list(entry_columns.entries(manifest)) == expected
    columns = all_columns(manifest)
    assert len(columns) == len(rows) == len(manifest)
    for name in ("snapshot_id", "sequence_number", "file_sequence_number"):
        assert getattr(columns, name).to_list() == [getattr(entry, name) for entry in expected]
    for name in ("first_row_id", "sort_order_id"):
        assert getattr(columns, name).to_list() == [getattr(entry.data_file, name) for entry in expected]
    for name in ("record_count", "file_size_in_bytes"):
        assert getattr(columns, name).tolist() == [getattr(entry.data_file, name) for entry in expected]
    assert columns.paths == [entry.data_file.file_path for entry in expected]
    assert columns.live.tolist() == [entry.live for entry in expected]
    for field in VALUES:
        assert columns.partition(field) == [entry.data_file.partition[field] for entry in expected]
    for column in {key for entry in rows for key in entry.data_file.value_counts or {}} | {3}:
        counts = [(entry.data_file.value_counts or {}).get(column) for entry in expected]
        assert columns.counts("value_counts", column).to_list() == counts
    for column in {key for entry in rows for key in entry.data_file.lower_bounds or {}} | {3}:
        bounds = [(entry.data_file.lower_bounds or {}).get(column) for entry in expected]
        assert columns.lower_bounds(column).to_bytes() == bounds
    some = list(range(0, len(rows), 3))
    assert columns.entries(some) == [expected[row] for row in some]
    batches = [entry for part in column_batches(manifest) for entry in part.entries(range(len(part)))]
    assert batches == expected


@pytest.mark.parametrize("version", FormatVersion)
def test_a_written_manifest_has_no_findings_and_opens_in_fastavro(version: FormatVersion) -> None:
    rows = [simple(number, snapshot_id=7) for number in range(50)]
    data = written(rows, version)
    entry = listed(rows, data, sequence_number=0 if version is V1 else 9)
    assert check_manifest(data, manifest_file=entry, specs={0: UNPARTITIONED}) == []
    reader = fastavro.reader(io.BytesIO(data))
    assert [row["data_file"]["file_path"] for row in reader] == [row.data_file.file_path for row in rows]
    assert json.loads(reader.metadata["partition-spec"]) == []
    assert reader.metadata["format-version"] == str(int(version))
    assert json.loads(reader.metadata["schema"])["fields"][0] == {
        "id": 1,
        "name": "id",
        "required": True,
        "type": "long",
    }


# Inheritance


def test_numbers_of_added_entries_come_from_the_list() -> None:  # SEQ002
    rows = [
        simple(0),
        simple(1, sequence_number=4),  # logically older data keeps its number, the file's is inherited (SEQ007)
        simple(2, status=EntryStatus.EXISTING, snapshot_id=3, sequence_number=2, file_sequence_number=5),
        simple(3, status=EntryStatus.DELETED, snapshot_id=7, sequence_number=0, file_sequence_number=0),
    ]
    data = written(rows)
    found = list(read_manifest(data, manifest_file=listed(rows, data)).entries())
    assert [entry.sequence_number for entry in found] == [9, 4, 2, 0]
    assert [entry.file_sequence_number for entry in found] == [9, 9, 5, 0]
    assert [entry.snapshot_id for entry in found] == [7, 7, 3, 7]
    assert list(read_manifest(data).entries()) == rows
    listed_entry = listed(rows, data)
    assert (listed_entry.added_files_count, listed_entry.existing_files_count, listed_entry.deleted_files_count) == (
        2,
        1,
        1,
    )
    assert listed_entry.min_sequence_number == 2  # that of the deleted file does not count


def test_files_of_a_v1_manifest_have_number_0_in_a_table_of_v2() -> None:
    rows = [simple(0, snapshot_id=3), simple(1, status=EntryStatus.EXISTING, snapshot_id=3)]
    data = written(rows, V1)
    found = list(read_manifest(data, manifest_file=listed(rows, data)).entries())
    assert [(entry.sequence_number, entry.file_sequence_number) for entry in found] == [(0, 0), (0, 0)]


def test_the_row_ids_of_the_worked_example_of_the_spec() -> None:  # UPG008
    # Row lineage example: manifest added1 has first_row_id 1000; its files get 800 (written), 1000 and 1050.
    rows = [
        simple(
            1, status=EntryStatus.EXISTING, sequence_number=1, file_sequence_number=1, record_count=25, first_row_id=800
        ),
        simple(2, record_count=50),
        simple(3, record_count=50),
    ]
    data = written(rows, V3)
    manifest = read_manifest(data, manifest_file=listed(rows, data, first_row_id=1000))
    assert [entry.data_file.first_row_id for entry in manifest.entries()] == [800, 1000, 1050]
    assert all_columns(manifest).first_row_id.to_list() == [800, 1000, 1050]
    assert all_columns(manifest).next_row_id == 1100


def test_deleted_entries_take_no_row_ids_and_existing_ones_do() -> None:
    numbers = {"sequence_number": 1, "file_sequence_number": 1, "snapshot_id": 3}
    rows = [
        simple(0, status=EntryStatus.DELETED, **numbers),
        simple(1, status=EntryStatus.EXISTING, **numbers),
        simple(2),
    ]
    data = written(rows, V3)
    found = read_manifest(data, manifest_file=listed(rows, data, first_row_id=100)).entries()
    assert [entry.data_file.first_row_id for entry in found] == [None, 100, 110]


def test_row_ids_that_run_out_of_64_bits_are_refused() -> None:
    rows = [simple(0, record_count=1 << 62), simple(1, record_count=1 << 62), simple(2)]
    data = written(rows, V3)
    fits = read_manifest(data, manifest_file=listed(rows[:2], data, first_row_id=1))
    for read in (lambda: list(fits.entries()), lambda: all_columns(fits).first_row_id):
        with pytest.raises(SpecError) as error:
            read()
        assert error.value.violation.requirement == "LIN019"


def test_delete_files_have_no_row_ids() -> None:
    rows = [simple(0, content=FileContent.EQUALITY_DELETES, equality_ids=(1,))]
    data = written(rows, V3, content=ManifestContent.DELETES)
    entry = listed(rows, data, content=ManifestContent.DELETES)
    manifest = read_manifest(data, manifest_file=evolve(entry, first_row_id=100))
    assert next(manifest.entries()).data_file.first_row_id is None
    assert all_columns(manifest).first_row_id.to_list() == [None]


# Metrics


def test_bounds_of_an_int_column_are_read_as_the_long_it_became() -> None:
    rows = [simple(0, lower_bounds={1: b"\xff\xff\xff\xff"}, upper_bounds={1: bytes(8)}), simple(1)]
    manifest = read_manifest(written(rows))
    assert all_columns(manifest).lower_bounds(1).to_list(iceberg.LONG) == [-1, 1]
    file = next(manifest.entries()).data_file
    assert [column_bound(file, name, 1, iceberg.LONG) for name in ("lower_bounds", "upper_bounds")] == [-1, 0]
    assert all_columns(manifest).lower_bounds(99).to_list(iceberg.LONG) == [None, None]


# What the writer refuses


VECTOR = {
    "content": FileContent.POSITION_DELETES,
    "file_format": FileFormat.PUFFIN,
    "referenced_data_file": "s3://x",
    "content_offset": 4,
    "content_size_in_bytes": 40,
}
DELETES = {"content": FileContent.EQUALITY_DELETES, "equality_ids": (1,)}


@pytest.mark.parametrize(
    ("version", "content", "changes", "code", "path"),
    [
        (V1, 0, {}, "MAN012", "/0/snapshot_id"),
        (V1, 1, {**DELETES, "snapshot_id": 1}, "DFL001", "/0/data_file/content"),
        (V2, 0, DELETES, "MAN002", "/0/data_file/content"),
        (V2, 1, {}, "MAN002", "/0/data_file/content"),
        (V2, 0, {"status": EntryStatus.EXISTING}, "MAN022", "/0/sequence_number"),
        (V2, 0, {"status": EntryStatus.DELETED, "sequence_number": 1}, "MAN022", "/0/file_sequence_number"),
        (V2, 1, {**DELETES, "equality_ids": None}, "DFL020", "/0/data_file/equality_ids"),
        (V2, 1, VECTOR, "DFL003", "/0/data_file/file_format"),
        (V3, 1, {**VECTOR, "referenced_data_file": None}, "DFL023", "/0/data_file/referenced_data_file"),
        (V3, 1, {**VECTOR, "content_offset": None}, "DFL024", "/0/data_file/content_offset"),
        (V3, 1, {**VECTOR, "content_size_in_bytes": None}, "DFL025", "/0/data_file/content_size_in_bytes"),
        (V3, 1, {**VECTOR, "first_row_id": 3}, "LIN021", "/0/data_file/first_row_id"),
        (V2, 0, {"split_offsets": (4, 4)}, "DFL019", "/0/data_file/split_offsets"),
        (V2, 0, {"record_count": -1}, "DFL005", "/0/data_file/record_count"),
        (V2, 0, {"file_size_in_bytes": -1}, "DFL006", "/0/data_file/file_size_in_bytes"),
        (V2, 0, {"value_counts": {3: -1}}, "DFL012", "/0/data_file/value_counts/3"),
        (V2, 0, {"partition": {1000: 5}}, "DFL004", "/0/data_file/partition"),
        (V2, 0, {"record_count": 1 << 63}, "AVR014", "/0/data_file/record_count"),
    ],
)
def test_the_writer_refuses_what_breaks_a_rule(
    version: FormatVersion, content: int, changes: dict[str, object], code: str, path: str
) -> None:
    with pytest.raises(SpecError) as error:
        written([simple(0, **changes)], version, content=ManifestContent(content))
    assert (error.value.violation.requirement, error.value.violation.path) == (code, path)


def test_a_partition_value_of_another_type_is_refused() -> None:
    partition = dict.fromkeys(VALUES)
    entry = simple(0, partition={**partition, 1003: 5})
    with pytest.raises(SpecError) as error:
        write_manifest([entry], SPEC, SCHEMA, V2)
    assert error.value.violation.path == "/0/data_file/partition/1003"
    with pytest.raises(SpecError):
        write_manifest([simple(0)], SPEC, SCHEMA, V2)


def test_a_deletion_vector_is_written_and_read() -> None:  # DEL007
    entry = simple(0, **VECTOR)
    found = next(read_manifest(written([entry], V3, content=ManifestContent.DELETES)).entries())
    assert found == entry
    assert found.data_file.is_deletion_vector

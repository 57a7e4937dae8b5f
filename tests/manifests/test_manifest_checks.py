"""The check of a manifest continues after a finding, numbers entries correctly, and keeps only one batch in memory."""

from __future__ import annotations

import json
import tracemalloc

import pytest

from spec_ref.core.records import evolve
from spec_ref.core.versions import V1, V2, V3
from spec_ref.data_types import types as iceberg
from spec_ref.encodings.avro.container import open_container, write_container
from spec_ref.manifest_lists.manifest_file import FieldSummary, ManifestFile
from spec_ref.manifests import check_manifest, read_manifest, write_manifest
from spec_ref.manifests.header_checks import header_problems
from spec_ref.manifests.manifest import ManifestHeader
from spec_ref.partitioning.spec import UNPARTITIONED, PartitionField, PartitionSpec
from spec_ref.partitioning.transforms import parse_transform
from spec_ref.schemas.schema import Schema
from tools.derive import manifests as avro_files

from manifest_strategies import simple  # isort: skip

TABLE = Schema((iceberg.NestedField(1, "id", True, iceberg.LONG),))
LISTED = ManifestFile(
    manifest_path="s3://b/m.avro",
    manifest_length=100,
    partition_spec_id=0,
    sequence_number=9,
    min_sequence_number=9,
    added_snapshot_id=7,
    first_row_id=0,
)


def codes(found: list) -> list[tuple[str, str]]:
    return [(one.requirement, one.violation.path) for one in found]


def test_entries_behind_one_that_cannot_be_read_keep_their_numbers() -> None:
    rows = [simple(number) for number in range(4)]
    rows[3] = evolve(rows[3], data_file=evolve(rows[3].data_file, split_offsets=()))
    data = write_manifest(rows, UNPARTITIONED, TABLE, V2)
    container = open_container(data, "MAN001")
    ((count, payload),) = container.payloads()
    assert payload[0] == 2
    length = len(payload) // count
    assert payload[length : length + 1] == b"\x02"
    broken = payload[:length] + b"\x06" + payload[length + 1 :]
    metadata = {key: value for key, value in container.metadata.items() if key != "avro.codec"}
    found = codes(check_manifest(write_container(metadata, [(count, broken)], codec="null", sync=container.sync)))
    assert ("MAN011", "/1/status") in found
    assert ("DFL019", "/3/data_file/split_offsets") in found


@pytest.mark.parametrize(("stored", "expected"), [("string", []), ("int", []), ("long", ["DFL004"])])
def test_void_fields_are_stored_as_their_source_or_as_int(stored: str, expected: list[str]) -> None:
    row = avro_files.entry(2, data_file=avro_files.data_file(2, partition={"p": None}))
    spec = {"spec-id": 0, "fields": [{"source-id": 2, "field-id": 1000, "name": "p", "transform": "void"}]}
    partition = (avro_files.field(1000, "p", avro_files.optional(stored)),)
    found = codes(check_manifest(avro_files.manifest(2, [row], columns=None, partition=partition, spec=spec)))
    assert [code for code, path in found if "partition" in path] == expected


def test_row_ids_that_run_out_are_reported_and_the_check_goes_on() -> None:
    rows = [simple(0), simple(1)]
    rows[0] = evolve(rows[0], data_file=evolve(rows[0].data_file, record_count=(1 << 63) - 1))
    data = write_manifest(rows, UNPARTITIONED, TABLE, V3)
    listed = evolve(LISTED, first_row_id=10, manifest_length=len(data))
    assert "LIN019" in {code for code, _ in codes(check_manifest(data, manifest_file=listed))}


def test_values_of_another_type_than_the_bounds_of_the_list_are_reported_once() -> None:
    def spec(source: int) -> PartitionSpec:
        return PartitionSpec(
            0, (PartitionField(source_id=source, field_id=1000, name="p", transform=parse_transform("identity")),)
        )

    table = Schema((*TABLE.fields, iceberg.NestedField(2, "name", False, iceberg.STRING)))
    row = simple(0)
    data = write_manifest([evolve(row, data_file=evolve(row.data_file, partition={1000: "x"}))], spec(2), table, V2)
    summary = FieldSummary(contains_null=False, lower_bound=bytes(8), upper_bound=bytes(8))
    listed = evolve(LISTED, partitions=(summary,), manifest_length=len(data))
    found = check_manifest(data, manifest_file=listed, specs={0: spec(1)}, schema=table)
    assert {code for code, path in codes(found) if "partition" in path} == {"DFL004"}


def test_the_objects_of_a_batch_are_not_all_held() -> None:
    data = write_manifest([simple(number) for number in range(4000)], UNPARTITIONED, TABLE, V2, block_bytes=4000)
    tracemalloc.start()
    try:
        entries = list(read_manifest(data).written_entries())
        held = tracemalloc.get_traced_memory()[0]
        assert len(entries) == 4000
        del entries
        tracemalloc.reset_peak()
        before = tracemalloc.get_traced_memory()[0]
        assert {one.severity.value for one in check_manifest(data)} <= {"warning"}
        peak = tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()
    assert peak < held / 1.5


@pytest.mark.parametrize(("stored", "codes"), [("unknown", []), ("int", ["MAN005"])])
def test_a_header_may_have_unknown_where_the_table_has_a_nested_type(stored: str, codes: list[str]) -> None:
    # B36: whether unknown is promoted to a nested type is left open
    schema = {"type": "struct", "fields": [{"id": 1, "name": "u", "required": False, "type": stored}], "schema-id": 0}
    properties = {"schema": json.dumps(schema), "partition-spec": "[]", "format-version": "3"}
    header = ManifestHeader(properties=properties, format_version=V3, content=None, spec_id=0)
    now = Schema(fields=(iceberg.NestedField(1, "u", False, iceberg.ListType(2, iceberg.INT)),), schema_id=1)
    assert [one.requirement for one in header_problems(header, [now], {}, V3)] == codes


@pytest.mark.parametrize("schema_id", ["", "one", "-1", "9" * 19, "9" * 5000])
def test_a_schema_id_that_is_not_a_number_is_reported(schema_id: str) -> None:
    properties = {"schema": '{"type": "struct", "fields": []}', "schema-id": schema_id}
    header = ManifestHeader(properties=properties, format_version=V1, content=None, spec_id=0)
    assert [one.aspect for one in header_problems(header, [TABLE], {}, V1)] == ["wrong-type"]

"""Rules about fields that are left out, columns that are reserved and types that are kept as they are."""

from __future__ import annotations

import io
import json
import math
import struct
from pathlib import Path
from typing import Any

import fastavro
import pytest

from conformance.table_io.local import read_table
from conformance.table_io.stores.file_system import FileSystemStore
from conformance.table_io.writing import Mode, delete, open_stored
from conformance.validator.context import Level
from conformance.validator.local import LocalBackend
from conformance.validator.run import validate
from spec_ref.avro_mapping.schema import schema_json
from spec_ref.avro_mapping.stored_types import type_from_avro
from spec_ref.checks.findings import Severity
from spec_ref.core.errors import SpecError
from spec_ref.core.records import evolve
from spec_ref.core.versions import V1, V2, V3, FormatVersion
from spec_ref.data_types.types import (
    BINARY,
    DOUBLE,
    LONG,
    STRING,
    VARIANT,
    GeographyType,
    GeometryType,
    NestedField,
    StructType,
)
from spec_ref.data_types.values import check_value
from spec_ref.encodings.avro.types import from_json
from spec_ref.encodings.geo.wkb import wkt_to_wkb
from spec_ref.expressions.predicates import Comparison, Literal, NamedReference, Operation
from spec_ref.manifest_lists.manifest_file import ManifestContent
from spec_ref.manifest_lists.writer import write_manifest_list
from spec_ref.manifests import read_manifest, write_manifest
from spec_ref.manifests.data_file import DataFile, FileContent, FileFormat
from spec_ref.manifests.entry import EntryStatus, ManifestEntry
from spec_ref.manifests.writer import build_manifest_file, summarize_partitions
from spec_ref.partitioning.spec import UNPARTITIONED, PartitionField, PartitionSpec
from spec_ref.partitioning.transforms import Day, Identity
from spec_ref.row_lineage.assignment import assign_first_row_ids
from spec_ref.row_lineage.reading import ROW_ID
from spec_ref.schemas.reserved_field_ids import BY_ID, CHANGE_TYPES
from spec_ref.schemas.schema import Schema
from spec_ref.schemas.type_json import type_from_json, type_to_json
from spec_ref.single_value.bounds import encode_bound
from spec_ref.single_value.geo_bounds import GeoBox, GeoPoint, check_within_box
from spec_ref.statistics.partition import read_row
from spec_ref.table_metadata import check_metadata, read_metadata
from tools.table_kit import TableKit

ID, TEXT = NestedField(1, "id", True, LONG), NestedField(2, "s", False, STRING)
SCHEMA = Schema((ID, TEXT))


def entry(**changes: Any) -> ManifestEntry:
    said = {"file_path": "s3://b/f", "file_format": FileFormat.PARQUET, "record_count": 1, "file_size_in_bytes": 9}
    file = DataFile(**{**said, **changes})
    return ManifestEntry(status=EntryStatus.ADDED, snapshot_id=7, data_file=file)


def manifest(version: FormatVersion, kind: ManifestContent = ManifestContent.DATA, **changes: Any) -> bytes:
    return write_manifest([entry(**changes)], UNPARTITIONED, SCHEMA, version, kind)


def avro_schema(data: bytes) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(fastavro.reader(io.BytesIO(data)).metadata["avro.schema"])
    return found


def field_ids(schema: Any) -> set[int]:
    """All field ids of an Avro schema."""
    if isinstance(schema, list):
        return set().union(*map(field_ids, schema))
    if not isinstance(schema, dict):
        return set()
    names = ("field-id", "key-id", "value-id", "element-id")
    return {schema[name] for name in names if name in schema} | field_ids(list(schema.values()))


# Manifests and manifest lists


@pytest.mark.parametrize("version", FormatVersion)
def test_fields_that_were_given_up_are_not_written(version: FormatVersion) -> None:  # DFL009, DFL010, DFL015, DFL026
    ids = field_ids(avro_schema(manifest(version)))
    assert {100, 101, 103, 104} <= ids
    assert not ids & {106, 107, 112, 111, 123, 124, 141}


def test_v1_has_no_sequence_numbers_and_no_content() -> None:  # UPG001, UPG002
    listed = build_manifest_file([entry()], UNPARTITIONED, SCHEMA, path="m", length=9, snapshot_id=7, sequence_number=3)
    old, new = field_ids(avro_schema(manifest(V1))), field_ids(avro_schema(manifest(V2)))
    assert not old & {3, 4, 134}
    assert {3, 4, 134} <= new
    old, new = (field_ids(avro_schema(write_manifest_list([listed], version))) for version in (V1, V2))
    assert not old & {515, 516, 517}
    assert {515, 516, 517} <= new


def test_delete_files_have_manifests_of_their_own_with_the_same_schema() -> None:  # DEL006
    deletes = {"content": FileContent.EQUALITY_DELETES, "equality_ids": (1,)}
    assert avro_schema(manifest(V2, ManifestContent.DELETES, **deletes)) == avro_schema(manifest(V2))
    for kind, file in ((ManifestContent.DATA, deletes), (ManifestContent.DELETES, {})):
        with pytest.raises(SpecError, match="MAN002"):
            manifest(V2, kind, **file)


def test_the_sort_order_of_position_deletes_is_ignored() -> None:  # DFL029
    file = entry(content=FileContent.POSITION_DELETES, sort_order_id=4).data_file
    assert (file.sort_order_id, file.effective_sort_order_id) == (4, None)
    for content in (FileContent.DATA, FileContent.EQUALITY_DELETES):
        assert evolve(file, content=content).effective_sort_order_id == 4


@pytest.mark.parametrize("values", [(-0.0, 0.0), (0.0, -0.0)])
def test_zeros_of_summaries_have_their_signs(values: tuple[float, float]) -> None:  # MLS023
    partition = StructType((NestedField(1000, "p", False, DOUBLE),))
    (summary,) = summarize_partitions([entry(partition={1000: value}) for value in values], partition)
    assert (summary.lower_bound, summary.upper_bound) == (struct.pack("<d", -0.0), struct.pack("<d", 0.0))
    (summary,) = summarize_partitions([entry(partition={1000: 0.0})], partition)
    assert summary.lower_bound == struct.pack("<d", 0.0)
    (summary,) = summarize_partitions([entry(partition={1000: value}) for value in (math.nan, -0.0)], partition)
    assert summary.upper_bound == struct.pack("<d", -0.0)


@pytest.mark.parametrize("values", [(math.nan, math.nan), (math.nan, None), (None, None)])
def test_a_summary_without_values_has_no_bounds(values: tuple[float | None, float | None]) -> None:  # MLS025 MLS026
    partition = StructType((NestedField(1000, "p", False, DOUBLE),))
    (summary,) = summarize_partitions([entry(partition={1000: value}) for value in values], partition)
    assert (summary.lower_bound, summary.upper_bound) == (None, None)


def test_days_that_were_written_as_ints_are_days() -> None:  # TRN013
    day = type_from_json("date")
    spec = PartitionSpec(0, (PartitionField(source_id=2, field_id=1000, name="d", transform=Day()),))
    schema = Schema((ID, NestedField(2, "d", False, day)))
    data = write_manifest([entry(partition={1000: 3})], spec, schema, V2)
    reader = fastavro.reader(io.BytesIO(data))
    rows: list[Any] = list(fastavro.reader(io.BytesIO(data), return_record_name=False))
    text = json.dumps(json.loads(reader.metadata["avro.schema"]))
    plain = json.loads(text.replace('{"type": "int", "logicalType": "date"}', '"int"'))
    assert plain != json.loads(text)
    for row in rows:
        row["data_file"]["partition"] = {"d": 3}
    out = io.BytesIO()
    fields = {key: value for key, value in reader.metadata.items() if not key.startswith("avro.")}
    fastavro.writer(out, plain, rows, metadata=fields)
    (found,) = read_manifest(out.getvalue(), specs={0: spec}).entries()
    assert found.data_file.partition == {1000: 3}
    (as_date,) = read_manifest(data, specs={0: spec}).entries()
    assert as_date.data_file.partition == found.data_file.partition


# Avro


def test_optional_fields_default_to_null_in_avro() -> None:  # AVR002
    required, optional = schema_json(StructType((ID, TEXT)), "r")["fields"]
    assert "default" not in required
    assert (optional["type"], optional["default"]) == (["null", "string"], None)


def test_a_variant_is_a_record_whose_parts_have_no_ids() -> None:  # AVR011
    written = schema_json(StructType((NestedField(1, "v", True, VARIANT),)), "r")["fields"][0]["type"]
    assert [(part["name"], part["type"], part.get("field-id")) for part in written["fields"]] == [
        ("metadata", "bytes", None),
        ("value", "bytes", None),
    ]
    assert type_from_avro(from_json(written, "AVR014")) == VARIANT
    for number, part in enumerate(written["fields"], 5):
        part["field-id"] = number
    parts = (NestedField(5, "metadata", True, BINARY), NestedField(6, "value", True, BINARY))
    assert type_from_avro(from_json(written, "AVR014")) == StructType(parts)


# Types and reserved columns


@pytest.mark.parametrize("crs", ["OGC:CRS84", "EPSG:4326", "srid:0"])
def test_a_geometry_is_flat_in_every_reference_system(crs: str) -> None:  # TYP029
    across = GeoBox(GeoPoint(170.0, -10.0), GeoPoint(-170.0, 10.0))
    wide = GeoBox(GeoPoint(-1000.0, -1000.0), GeoPoint(1000.0, 1000.0))
    point = wkt_to_wkb("POINT (175 0)")
    beyond = check_within_box(GeometryType(crs), across.lower, across.upper, point)
    assert [problem.requirement for problem in beyond] == ["BND001"]
    assert not list(check_within_box(GeometryType(crs), wide.lower, wide.upper, wkt_to_wkb("POINT (500 -500)")))


def test_a_reference_system_is_not_looked_into() -> None:  # TYP032
    text = 'geometry({"type": "GeographicCRS", "name": "no, CRS"})'
    type_ = type_from_json(text)
    assert isinstance(type_, GeometryType)
    assert type_.crs == '{"type": "GeographicCRS", "name": "no, CRS"}'
    assert type_to_json(type_) == text


@pytest.mark.parametrize(
    ("field_id", "name", "type_"),
    [
        (2147483546, "file_path", "string"),  # RES003
        (2147483545, "pos", "long"),
        (2147483543, "_change_type", "string"),  # RES004
        (2147483542, "_change_ordinal", "int"),
        (2147483541, "_commit_snapshot_id", "long"),
        (2147483540, "_row_id", "long"),  # RES005
        (2147483539, "_last_updated_sequence_number", "long"),
    ],
)
def test_reserved_columns_have_their_ids_and_types(field_id: int, name: str, type_: str) -> None:
    assert (BY_ID[field_id].name, str(BY_ID[field_id].type)) == (name, type_)


def test_changelogs_know_four_types_of_changes() -> None:  # RES006
    assert set(CHANGE_TYPES) == {"INSERT", "DELETE", "UPDATE_BEFORE", "UPDATE_AFTER"}


# Tables


def test_rows_may_share_their_identifier(tmp_path: Path) -> None:  # IDF004
    kit = TableKit(tmp_path.as_uri(), (ID, TEXT))
    kit.schemas[-1] = evolve(kit.schemas[-1], identifier_field_ids=(1,))
    kit.commit(kit.file([{1: 5, 2: "a"}, {1: 5, 2: "b"}]))
    table = kit.table()
    assert table.metadata.current_schema.identifier_field_ids == (1,)
    found = validate(kit.location, Level.ROWS, LocalBackend()).findings
    assert [str(one) for one in found if one.severity is Severity.ERROR] == []
    assert read_table(table).read_all().column("id").to_pylist() == [5, 5]


def test_a_row_that_an_equality_delete_replaces_is_a_new_row(tmp_path: Path) -> None:  # LIN004
    kit = TableKit(tmp_path.as_uri(), (ID, TEXT), version=V3)
    kit.commit(kit.file([{1: 1, 2: "old"}, {1: 2, 2: "stays"}]))
    kit.commit(kit.equality_deletes([{1: 1}], [1], fields=(ID,)), kit.file([{1: 1, 2: "new"}]))
    rows = read_table(kit.table(), select=["id", "s", ROW_ID.name]).read_all().to_pylist()
    assert {(row["id"], row["s"], row[ROW_ID.name]) for row in rows} == {(2, "stays", 1), (1, "new", 2)}


@pytest.mark.parametrize(("bound", "code"), [(None, set()), ("s3://z", {"DFL016"})])
def test_metrics_of_delete_files_are_those_of_what_they_delete(  # DFL030, DEL024
    bound: str | None, code: set[str], tmp_path: Path
) -> None:
    kit = TableKit(tmp_path.as_uri(), (ID, TEXT))
    data = kit.file([{1: 1}, {1: 2}])
    lower = {2147483546: encode_bound(STRING, bound or data.file_path)}
    kit.commit(data)
    kit.commit(kit.position_deletes([(data.file_path, 0)], lower_bounds=lower))
    kit.table()
    found = validate(kit.location, Level.ROWS, LocalBackend()).findings
    assert {one.requirement for one in found if one.severity is Severity.ERROR} == code


def test_a_delete_file_of_several_files_deletes_until_it_is_gone(tmp_path: Path) -> None:  # UPG007
    kit = TableKit(tmp_path.as_uri(), (ID, TEXT))
    files = [kit.file([{1: number}, {1: number + 10}]) for number in (1, 2)]
    kit.commit(*files)
    kit.commit(kit.position_deletes([(file.file_path, 0) for file in files]))
    kit.version = V3
    kit.commit(kit.deletion_vector(files[0], [0, 1]))
    assert read_table(kit.table()).read_all().column("id").to_pylist() == [12]


def test_the_first_vector_leaves_the_deletes_of_other_files(tmp_path: Path) -> None:  # UPG007
    kit = TableKit(tmp_path.as_uri(), (ID, TEXT))
    files = [kit.file([{1: number}, {1: number + 10}, {1: number + 20}]) for number in (1, 2)]
    kit.commit(*files)
    kit.commit(kit.position_deletes([(file.file_path, 0) for file in files]))
    kit.version = V3
    kit.table()
    store = FileSystemStore(kit.location)
    delete(open_stored(store), Comparison(Operation.EQ, NamedReference("id"), Literal(11)), mode=Mode.MERGE_ON_READ)
    left = read_table(open_stored(store).table).read_all().column("id").to_pylist()
    assert sorted(left) == [12, 21, 22]


def test_statistics_may_be_of_many_snapshots() -> None:  # STA035
    schema = {"type": "struct", "schema-id": 0, "fields": [{"id": 1, "name": "a", "required": True, "type": "long"}]}
    snapshots = [
        {
            "snapshot-id": number,
            "sequence-number": number,
            "timestamp-ms": number,
            "manifest-list": f"s3://b/{number}",
            "summary": {"operation": "append"},
        }
        for number in (1, 2)
    ]
    statistics: list[dict[str, Any]] = [
        {
            "snapshot-id": number,
            "statistics-path": f"s3://b/{number}.puffin",
            "file-size-in-bytes": 9,
            "file-footer-size-in-bytes": 5,
            "blob-metadata": [],
        }
        for number in (1, 2)
    ]
    document = {
        "format-version": 2,
        "table-uuid": "fb072c92-a02b-11e9-ae9c-1bb7bc9eca94",
        "location": "s3://b/t",
        "last-sequence-number": 2,
        "last-updated-ms": 5,
        "last-column-id": 1,
        "schemas": [schema],
        "current-schema-id": 0,
        "partition-specs": [{"spec-id": 0, "fields": []}],
        "default-spec-id": 0,
        "last-partition-id": 999,
        "sort-orders": [{"order-id": 0, "fields": []}],
        "default-sort-order-id": 0,
        "current-snapshot-id": 2,
        "snapshots": snapshots,
        "statistics": statistics,
    }
    assert [str(one) for one in check_metadata(document) if one.severity is Severity.ERROR] == []
    assert [one.snapshot_id for one in read_metadata(document).statistics] == [1, 2]


@pytest.mark.parametrize(("lower", "codes"), [(-0.0, set()), (0.0, {"MLS023"})])
def test_a_zero_of_the_other_sign_in_a_summary_is_reported(
    lower: float, codes: set[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def changed(*args: Any, **said: Any) -> Any:
        made = build_manifest_file(*args, **said)
        bounds = evolve(made.partitions[0], lower_bound=struct.pack("<d", lower))
        return evolve(made, partitions=(bounds,))

    monkeypatch.setattr("tools.table_kit.build_manifest_file", changed)
    spec = PartitionSpec(0, (PartitionField(source_id=3, field_id=1000, name="d", transform=Identity()),))
    kit = TableKit(tmp_path.as_uri(), (ID, NestedField(3, "d", False, DOUBLE)), spec=spec)
    kit.commit(*(kit.file([{1: 1, 3: value}], partition={1000: value}) for value in (-0.0, 1.0)))
    kit.table()
    found = validate(kit.location, Level.MANIFESTS, LocalBackend()).findings
    assert {one.requirement for one in found if one.severity is Severity.ERROR} == codes


def test_rows_that_are_not_known_give_no_row_ids() -> None:  # LIN029
    listed = build_manifest_file([entry()], UNPARTITIONED, SCHEMA, path="m", length=9, snapshot_id=7, sequence_number=3)
    with pytest.raises(SpecError, match="/0/added_rows_count: LIN029"):
        assign_first_row_ids([evolve(listed, added_rows_count=None)], 0)
    assert assign_first_row_ids([evolve(listed, added_rows_count=None, first_row_id=4)], 0)[1] == 0


def test_a_decimal_of_an_absurd_scale_is_refused() -> None:  # AVR006
    decimal = {"type": "bytes", "logicalType": "decimal", "precision": 9}
    assert str(type_from_avro(from_json({**decimal, "scale": 2}, "AVR014"))) == "decimal(9, 2)"
    with pytest.raises(SpecError, match="AVR006"):
        type_from_avro(from_json({**decimal, "scale": 1000}, "AVR014"))


def test_a_geography_is_bytes() -> None:  # TYP028
    check_value(GeographyType(), wkt_to_wkb("POINT (1 2)"))
    with pytest.raises(SpecError, match="TYP028"):
        check_value(GeographyType(), "POINT (1 2)")


@pytest.mark.parametrize(("field_id", "wrong", "code"), [(5, -1, "STA021"), (12, "a", "STA029")])
def test_partition_statistics_are_of_their_types(field_id: int, wrong: Any, code: str) -> None:
    partition = StructType((NestedField(1000, "p", False, STRING),))
    sound = {1: {1000: "a"}, 2: 0, 3: 1, 4: 1, 5: 1, 6: 0, 7: 0, 8: 0, 9: 0, 12: 3, 13: 0}
    assert read_row(sound, partition, V3).last_updated_snapshot_id == 3
    with pytest.raises(SpecError, match=code):
        read_row({**sound, field_id: wrong}, partition, V3)


@pytest.mark.parametrize(
    ("field_id", "type_", "code"),
    [(2147483645, STRING, "RES002"), (2147483542, LONG, "RES004"), (2147483540, STRING, "RES005")],
)
def test_reserved_columns_of_other_types_are_reported(field_id: int, type_: Any, code: str, tmp_path: Path) -> None:
    kit = TableKit(tmp_path.as_uri(), (ID,), version=V3)
    named = NestedField(field_id, BY_ID[field_id].name, False, type_)
    kit.commit(kit.file([{1: 1}], fields=(ID, named)))
    kit.table()
    found = validate(kit.location, Level.FILES, LocalBackend()).findings
    assert {one.requirement for one in found if one.severity is Severity.ERROR} == {code}

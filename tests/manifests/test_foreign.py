"""Manifests and lists as in real writers: different names, order and optionality, missing columns, old headers."""

from __future__ import annotations

import io
import json
from typing import Any

import fastavro
import pytest

from spec_ref.columnar.manifests import entry_columns
from spec_ref.core.errors import SpecError
from spec_ref.core.records import evolve
from spec_ref.core.versions import V1, V2, V3
from spec_ref.data_types import types as iceberg
from spec_ref.encodings.avro.container import open_container, write_container
from spec_ref.manifest_lists.checks import check_manifest_list
from spec_ref.manifest_lists.manifest_file import ManifestContent, ManifestFile
from spec_ref.manifest_lists.reader import read_manifest_list
from spec_ref.manifest_lists.writer import write_manifest_list
from spec_ref.manifests import (
    EntryStatus,
    FileFormat,
    Manifest,
    ManifestEntry,
    check_manifest,
    read_manifest,
    write_manifest,
)
from spec_ref.partitioning.spec import UNPARTITIONED
from spec_ref.row_lineage.assignment import assign_first_row_ids
from spec_ref.schemas.schema import Schema

from manifest_strategies import all_columns, simple  # isort: skip

TABLE = Schema((iceberg.NestedField(1, "id", True, iceberg.LONG),))
LISTED = ManifestFile(
    manifest_path="s3://b/m.avro",
    manifest_length=100,
    partition_spec_id=0,
    sequence_number=9,
    min_sequence_number=9,
    added_snapshot_id=7,
    added_files_count=1,
    existing_files_count=0,
    deleted_files_count=0,
    added_rows_count=10,
    existing_rows_count=0,
    deleted_rows_count=0,
    partitions=(),
)


def list_entries(manifest: Manifest) -> list[ManifestEntry]:
    return list(manifest.entries())


def decode_entries(manifest: Manifest) -> list[ManifestEntry]:
    return list(entry_columns.entries(manifest))


def rewritten(data: bytes, change: Any, rows: Any = None, **metadata: str | None) -> bytes:
    """The file with another Avro schema, its rows changed to fit, and other metadata."""
    reader = fastavro.reader(io.BytesIO(data))
    found = list(reader)
    schema = json.loads(reader.metadata["avro.schema"])
    change(schema)
    fields = {key: value for key, value in reader.metadata.items() if not key.startswith("avro.")}
    fields.update(metadata)
    out = io.BytesIO()
    given = {key: value for key, value in fields.items() if value is not None}
    fastavro.writer(out, schema, [rows(row) if rows else row for row in found], metadata=given)
    return out.getvalue()


def data_file_fields(schema: Any) -> list[Any]:
    return next(field for field in schema["fields"] if field["field-id"] == 2)["type"]["fields"]  # type: ignore[no-any-return]


MANIFEST = write_manifest([simple(number) for number in range(60)], UNPARTITIONED, TABLE, V2)


def nothing(schema: Any) -> None:
    pass


def without(*ids: int) -> Any:
    def change(schema: Any) -> None:
        for record in (schema["fields"], data_file_fields(schema)):
            record[:] = [field for field in record if field["field-id"] not in ids]

    return change


def test_columns_that_are_inherited_may_be_left_out() -> None:
    # As BigQuery writes them: no snapshot_id, sequence_number and file_sequence_number.
    data = rewritten(MANIFEST, without(1, 3, 4))
    entry = next(read_manifest(data, manifest_file=LISTED).entries())
    assert (entry.snapshot_id, entry.sequence_number, entry.file_sequence_number) == (7, 9, 9)
    codes = {(finding.requirement, finding.severity.value) for finding in check_manifest(data)}
    assert codes == {("MAN012", "warning"), ("MAN013", "warning"), ("MAN014", "warning")}


def test_everything_optional_and_in_another_order_is_read() -> None:  # VER006
    def change(schema: Any) -> None:
        inner = data_file_fields(schema)
        for field in [*inner, *schema["fields"]]:
            if not isinstance(field["type"], list):
                field["type"] = [field["type"], "null"] if field["field-id"] % 2 else ["null", field["type"]]
            elif field["field-id"] == 109:
                items = field["type"][1]
                items["items"] = ["null", items["items"]]
            field.pop("default", None)
        inner.reverse()
        schema["fields"].reverse()

    data = rewritten(MANIFEST, change)
    manifest, plain = read_manifest(data, manifest_file=LISTED), read_manifest(MANIFEST, manifest_file=LISTED)
    assert list(manifest.entries()) == list(plain.entries())
    assert all_columns(manifest).paths == all_columns(plain).paths
    assert all_columns(manifest).counts("value_counts", 2).to_list() == [1000] * 60
    assert all_columns(manifest).lower_bounds(1).to_list(iceberg.LONG) == list(range(60))
    assert {finding.severity.value for finding in check_manifest(data)} == {"warning"}


def test_a_null_in_a_required_field_is_reported_with_its_place() -> None:
    def change(schema: Any) -> None:
        for field in data_file_fields(schema):
            if field["field-id"] == 103:
                field["type"] = ["null", "long"]

    def row(entry: Any) -> Any:
        if entry["data_file"]["file_path"].endswith("00017.parquet"):
            entry["data_file"]["record_count"] = None
        return entry

    data = rewritten(MANIFEST, change, row)
    for read in (list_entries, decode_entries, lambda manifest: all_columns(manifest).record_count):
        with pytest.raises(SpecError) as error:
            read(read_manifest(data, file="m.avro"))
        assert error.value.violation.requirement == "DFL005"
        assert error.value.violation.path == "/17/data_file/record_count"
    found = [one for one in check_manifest(data, file="m.avro") if one.severity.value == "error"]
    assert [(one.requirement, one.path) for one in found] == [("DFL005", "/17/data_file/record_count")]
    assert found[0].violation.file == "m.avro"


def test_names_do_not_matter_and_ids_do() -> None:
    def change(schema: Any) -> None:
        for field in data_file_fields(schema):
            field["name"] = f"n{field['field-id']}"

    def row(entry: Any) -> Any:
        ids = {field["name"]: field["field-id"] for field in data_file_fields(json.loads(SCHEMA))}
        return {**entry, "data_file": {f"n{ids[name]}": value for name, value in entry["data_file"].items()}}

    data = rewritten(MANIFEST, change, row)
    assert list(read_manifest(data).entries()) == list(read_manifest(MANIFEST).entries())


SCHEMA = fastavro.reader(io.BytesIO(MANIFEST)).metadata["avro.schema"]


def test_a_file_without_ids_is_refused() -> None:
    def change(schema: Any) -> None:
        for field in [*data_file_fields(schema), *schema["fields"]]:
            field.pop("field-id")

    with pytest.raises(SpecError) as error:
        read_manifest(rewritten(MANIFEST, change))
    assert error.value.violation.requirement == "AVR013"


@pytest.mark.parametrize(
    ("field", "code"), [(0, "MAN011"), (2, "MAN015"), (100, "DFL002"), (101, "DFL003"), (103, "DFL005")]
)
def test_a_column_that_every_version_requires_is_missed(field: int, code: str) -> None:  # VER007
    def change(schema: Any) -> None:
        for record in (data_file_fields(schema), schema["fields"]):
            record[:] = [one for one in record if one["field-id"] != field]

    with pytest.raises(SpecError) as error:
        read_manifest(rewritten(MANIFEST, change))
    assert error.value.violation.requirement == code


def test_file_formats_are_read_in_any_case() -> None:
    for name in ("parquet", "Parquet", "PARQUET"):
        assert next(of_format(name)).data_file.file_format is FileFormat.PARQUET
    with pytest.raises(SpecError, match=r"DFL003: .*; found 'lance'"):
        list(of_format("lance"))


def of_format(name: str) -> Any:
    """The entries of the manifest, with files of another format."""

    def row(entry: Any) -> Any:
        return {**entry, "data_file": {**entry["data_file"], "file_format": name}}

    return read_manifest(rewritten(MANIFEST, nothing, row)).entries()


def test_equality_ids_as_longs_are_read_and_found() -> None:
    def change(schema: Any) -> None:
        for field in data_file_fields(schema):
            if field["field-id"] == 135:
                field["type"][1]["items"] = "long"

    def row(entry: Any) -> Any:
        return {**entry, "data_file": {**entry["data_file"], "equality_ids": [1, 2]}}

    data = rewritten(MANIFEST, change, row)
    assert next(read_manifest(data).entries()).data_file.equality_ids == (1, 2)
    assert "DFL020" in {finding.requirement for finding in check_manifest(data)}


@pytest.mark.parametrize(
    ("metadata", "code"),
    [
        ({"schema": None}, "MAN005"),
        ({"schema": '{"type":"record","name":"r","fields":[]}'}, "MAN005"),
        ({"schema-id": None}, "MAN006"),
        ({"partition-spec": None}, "MAN007"),
        ({"partition-spec": "null"}, "MAN007"),
        ({"partition-spec": '{"spec-id":0,"fields":[]}'}, "MAN007"),
        ({"partition-spec-id": None}, "MAN008"),
        ({"partition-spec-id": "zero"}, "MAN008"),
        ({"content": None}, "MAN010"),
        ({"content": "delete"}, "MAN010"),
        ({"format-version": None}, "MAN009"),
    ],
)
def test_headers_are_forgiven_by_the_reader_and_reported_by_the_check(
    metadata: dict[str, str | None], code: str
) -> None:
    data = rewritten(MANIFEST, nothing, **metadata)
    manifest = read_manifest(data, manifest_file=LISTED, specs={0: UNPARTITIONED})
    assert manifest.format_version is V2
    assert next(manifest.entries()).sequence_number == 9
    assert code in {finding.requirement for finding in check_manifest(data)}


def test_a_format_version_of_the_future_is_refused() -> None:
    with pytest.raises(SpecError) as error:
        read_manifest(rewritten(MANIFEST, nothing, **{"format-version": "4"}))
    assert error.value.violation.requirement == "MAN009"


def test_the_list_decides_on_content_and_spec() -> None:
    data = rewritten(MANIFEST, nothing, **{"content": "deletes", "partition-spec-id": "5"})
    manifest = read_manifest(data, manifest_file=LISTED, specs={0: UNPARTITIONED})
    assert manifest.content is ManifestContent.DATA
    assert manifest.spec_id == 0
    with pytest.raises(SpecError) as error:
        read_manifest(data, specs={0: UNPARTITIONED})
    assert error.value.violation.requirement == "MLS005"


def test_what_the_list_says_is_compared() -> None:
    found = check_manifest(MANIFEST, manifest_file=LISTED, specs={0: UNPARTITIONED})
    assert {finding.requirement for finding in found} == {"MLS004", "MLS010", "MLS013"}


def test_an_entry_status_that_is_not_known_is_reported() -> None:
    data = rewritten(MANIFEST, nothing, lambda entry: {**entry, "status": 3})
    for read in (list_entries, decode_entries, all_columns):
        with pytest.raises(SpecError) as error:
            read(read_manifest(data))
        assert (error.value.violation.requirement, error.value.violation.path) == ("MAN011", "/0/status")


def test_every_damaged_entry_is_reported_with_its_number() -> None:
    container = open_container(MANIFEST, "MAN001")
    ((count, payload),) = container.payloads()
    metadata = dict(container.metadata)
    metadata.pop("avro.codec")
    for cut in (1, 100, len(payload) // 2):
        data = write_container(metadata, [(count, payload[:-cut])], codec="deflate", sync=container.sync)
        for read in (list_entries, decode_entries, all_columns):
            with pytest.raises(SpecError) as error:
                read(read_manifest(data, file="m.avro"))
            assert error.value.violation.file == "m.avro"
            number = int(error.value.violation.path.split("/")[1])
            assert number == (len(payload) - cut) * count // len(payload)  # all entries are of one length
            assert error.value.violation.requirement == "MAN001"


# Manifest lists


def test_counts_under_their_old_names_are_found_by_id() -> None:
    names = {504: "added_data_files_count", 505: "existing_data_files_count", 506: "deleted_data_files_count"}
    new = {504: "added_files_count", 505: "existing_files_count", 506: "deleted_files_count"}

    def change(schema: Any) -> None:
        for field in schema["fields"]:
            field["name"] = names.get(field["field-id"], field["name"])

    def row(manifest: Any) -> Any:
        return {
            names[key] if (key := next((k for k, v in new.items() if v == name), None)) else name: value
            for name, value in manifest.items()
        }

    data = rewritten(write_manifest_list([LISTED], V2), change, row)
    assert read_manifest_list(data) == (LISTED,)


def test_a_list_of_v1_has_numbers_0_and_unknown_counts() -> None:
    data = write_manifest_list([LISTED], V1)
    data = rewritten(
        data,
        lambda schema: schema["fields"].__setitem__(
            slice(None), [field for field in schema["fields"] if field["field-id"] not in range(504, 507)]
        ),
    )
    found = read_manifest_list(data)[0]
    assert (found.sequence_number, found.min_sequence_number, found.content) == (0, 0, ManifestContent.DATA)
    assert found.added_files_count is None
    assert found.may_have_live_files


def test_the_row_ids_of_the_worked_example_of_the_spec() -> None:  # LIN024, TMD027, TMD028
    # Row lineage example: next-row-id 1000; existing(75, 0) has 925, added1(100, 25), added2(0, 100), added3(125, 25).
    def manifest(added: int, existing: int, first: int | None = None) -> ManifestFile:
        changes = {"added_rows_count": added, "existing_rows_count": existing, "first_row_id": first}
        return evolve(LISTED, **changes)

    files, following = assign_first_row_ids(
        [manifest(75, 0, 925), manifest(100, 25), manifest(0, 100), manifest(125, 25)], 1000
    )
    assert [file.first_row_id for file in files] == [925, 1000, 1125, 1225]
    assert following == 1375
    assert read_manifest_list(write_manifest_list(files, V3, first_row_id=1000)) == files
    assert check_manifest_list(write_manifest_list([manifest(1, 1)], V3), V3, first_row_id=0)[0].requirement == "LIN027"


def test_a_list_that_repeats_a_manifest_or_names_no_spec_is_reported() -> None:
    found = check_manifest_list(write_manifest_list([LISTED, LISTED], V2), V2, specs={1: UNPARTITIONED})
    assert [finding.requirement for finding in found] == ["MLS005", "MLS005", "MLS003"]


def test_a_file_that_is_no_list_is_refused() -> None:
    for data in (b"", b"Obj", b"PAR1" * 10):
        with pytest.raises(SpecError) as error:
            read_manifest_list(data, file="l.avro")
        assert (error.value.violation.requirement, error.value.violation.file) == ("MLS002", "l.avro")
    with pytest.raises(SpecError) as error:
        read_manifest_list(MANIFEST)
    assert error.value.violation.requirement == "MLS003"


def test_entries_keep_their_status() -> None:
    assert {entry.status for entry in read_manifest(MANIFEST).entries()} == {EntryStatus.ADDED}

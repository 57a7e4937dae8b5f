"""The fields that each format version writes, requires, fills in, ignores and keeps; and upgrades."""

import json
from importlib.resources import files
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import HealthCheck, given, settings

from spec_ref.checks.findings import Severity
from spec_ref.core.errors import SpecError
from spec_ref.core.records import evolve
from spec_ref.core.versions import V1, V2, V3, FormatVersion
from spec_ref.sorting.order import UNSORTED
from spec_ref.table_metadata import TableMetadata, check_metadata, dumps, read_metadata, upgrade, write_metadata
from spec_ref.table_metadata.json_schemas import SCHEMA_FILE_NAMES, metadata_schema, schema_text
from tools.metadata_strategies import table_metadata

Document = dict[str, Any]
UUID = "fb072c92-a02b-11e9-ae9c-1bb7bc9eca94"
SCHEMA = {"type": "struct", "fields": [{"id": 1, "name": "a", "required": True, "type": "long"}]}
SNAPSHOT = {"snapshot-id": 5, "timestamp-ms": 1515100955770}


def v1(**changes: Any) -> Document:
    """The least that v1 requires."""
    return {
        "format-version": 1,
        "location": "s3://b/wh/data.db/table",
        "last-updated-ms": 1515100955770,
        "last-column-id": 1,
        "schema": SCHEMA,
        "partition-spec": [],
    } | {name.replace("_", "-"): value for name, value in changes.items()}


def codes(document: Document, severity: Severity | None = None) -> set[tuple[str, str]]:
    found = check_metadata(document)
    return {(one.requirement, one.path) for one in found if severity in (None, one.severity)}


def test_v1_is_filled_in_to_have_lists_and_ids() -> None:
    metadata = read_metadata(v1(partition_spec=[{"source-id": 1, "name": "p", "transform": "bucket[4]"}]))
    assert (metadata.current_schema_id, metadata.schemas[0].fields[0].name) == (0, "a")
    assert (metadata.default_spec_id, metadata.default_spec.fields[0].field_id) == (0, 1000)
    assert (metadata.last_partition_id, metadata.sort_orders, metadata.default_sort_order_id) == (1000, (UNSORTED,), 0)
    assert (metadata.last_sequence_number, metadata.table_uuid, metadata.next_row_id) == (0, None, None)
    assert read_metadata(v1()).last_partition_id == 999
    assert codes(v1()) == set()


def test_the_lists_of_v1_win_over_the_deprecated_copies() -> None:
    other = {**SCHEMA, "schema-id": 3, "fields": [{"id": 1, "name": "b", "required": True, "type": "long"}]}
    document = v1(schemas=[other], current_schema_id=3)
    metadata = read_metadata(document)
    assert metadata.current_schema.fields[0].name == "b"
    written = write_metadata(metadata)
    assert written["schema"] == written["schemas"][0] == {**other, "schema-id": 3}


def with_id(schema_id: int, *names: str) -> Document:
    fields = [{"id": place, "name": name, "required": False, "type": "long"} for place, name in enumerate(names, 1)]
    return {"type": "struct", "schema-id": schema_id, "fields": fields}


def without_id(schema: Document) -> Document:
    return {name: value for name, value in schema.items() if name != "schema-id"}


OLD, NEW, SAME_AS_OLD = with_id(0, "a"), with_id(1, "a", "b"), with_id(2, "a")


@pytest.mark.parametrize(
    ("schema", "current"),
    [
        (without_id(OLD), 0),
        (without_id(NEW), 1),
        (NEW, 1),
        (SAME_AS_OLD, 2),
        ({**NEW, "schema-id": 0}, 1),
        ({**without_id(NEW), "fields": []}, 0),
    ],
)
def test_the_current_schema_of_v1_without_its_id_is_the_deprecated_copy(schema: Document, current: int) -> None:
    document = v1(schema=schema, schemas=[OLD, NEW, SAME_AS_OLD], last_column_id=2)
    metadata = read_metadata(document)
    assert metadata.current_schema_id == current
    assert codes(document) == (set() if schema["fields"] else {("TMD007", "/schema")})


def test_v1_without_a_default_sort_order_id_is_not_sorted() -> None:
    field = {"source-id": 1, "transform": "identity", "direction": "asc", "null-order": "nulls-first"}
    orders = [{"order-id": 1, "fields": [field]}]
    metadata = read_metadata(v1(sort_orders=orders))
    assert (metadata.default_sort_order, [one.order_id for one in metadata.sort_orders]) == (UNSORTED, [1, 0])
    assert codes(v1(sort_orders=orders)) == set()
    assert codes(write_metadata(metadata)) == set()
    assert codes(v1(sort_orders=orders, default_sort_order_id=0)) == {("TMD020", "/default-sort-order-id")}
    listed = [{"order-id": 0, "fields": []}, *orders]
    assert len(read_metadata(v1(sort_orders=listed)).sort_orders) == 2


def test_the_default_spec_of_v1_without_its_id_is_the_deprecated_copy() -> None:
    fields = [{"source-id": 1, "name": "p", "transform": "identity"}]
    specs = [{"spec-id": 1, "fields": []}, {"spec-id": 2, "fields": fields}]
    document = v1(partition_spec=fields, partition_specs=specs)
    assert read_metadata(document).default_spec_id == 2
    assert read_metadata({**document, "partition-spec": []}).default_spec_id == 1
    assert codes(document) == codes({**document, "partition-spec": []}) == set()


def test_v1_requires_the_deprecated_copies_of_its_writers() -> None:
    for name in ("schema", "partition-spec", "location", "last-updated-ms", "last-column-id"):
        document = v1()
        del document[name]
        with pytest.raises(SpecError, match=rf"^/{name}: TMD\d+: .*; expected the required member {name} \(format"):
            read_metadata(document)


def test_v1_writers_leave_out_what_is_newer() -> None:  # UPG001
    metadata = read_metadata(v1(snapshots=[{**SNAPSHOT, "manifests": ["s3://b/m"]}], current_snapshot_id=5))
    written = write_metadata(metadata)
    assert not {"last-sequence-number", "refs", "next-row-id", "encryption-keys"} & set(written)
    assert written["snapshots"] == [{**SNAPSHOT, "manifests": ["s3://b/m"]}]


def test_what_a_version_does_not_have_is_ignored_and_reported() -> None:
    document = v1(next_row_id="nonsense", last_sequence_number=7)
    assert read_metadata(document).last_sequence_number == 0
    assert codes(document) == {("VER005", "/next-row-id"), ("VER005", "/last-sequence-number")}


def test_references_of_v1_are_kept() -> None:
    refs = {"main": {"snapshot-id": 5, "type": "branch"}, "t": {"snapshot-id": 5, "type": "tag"}}
    document = v1(refs=refs, current_snapshot_id=5, snapshots=[{**SNAPSHOT, "manifest-list": "s3://b/l"}])
    metadata = read_metadata(document)
    assert set(metadata.refs) == {"main", "t"}
    assert write_metadata(metadata)["refs"] == refs
    assert ("VER005", "/refs") in codes(document, Severity.WARNING)


@pytest.mark.parametrize("version", [V1, V2])
def test_minus_one_is_no_current_snapshot(version: FormatVersion) -> None:
    document = write_metadata(upgrade(read_metadata(v1()), version, table_uuid=UUID)) | {"current-snapshot-id": -1}
    assert read_metadata(document).current_snapshot is None
    assert "current-snapshot-id" not in write_metadata(read_metadata(document))
    assert codes(document) == set()


def test_minus_one_is_reported_from_v3_on() -> None:
    document = write_metadata(upgrade(read_metadata(v1()), V3, table_uuid=UUID)) | {"current-snapshot-id": -1}
    assert read_metadata(document).current_snapshot_id is None
    assert codes(document) == {("NOT008", "/current-snapshot-id")}


def test_snapshots_of_v1_stay_as_they_are_in_newer_tables() -> None:
    old = {**SNAPSHOT, "manifests": ["s3://b/m"]}
    metadata = upgrade(read_metadata(v1(snapshots=[old], current_snapshot_id=5)), V3, table_uuid=UUID)
    document = write_metadata(metadata)
    assert document["snapshots"] == [{**old, "sequence-number": 0}]
    again = read_metadata(document).snapshots[0]
    assert (again.manifests, again.first_row_id, again.sequence_number) == (("s3://b/m",), None, 0)
    del document["snapshots"][0]["sequence-number"]
    assert read_metadata(document).snapshots[0].sequence_number == 0
    assert ("SNP003", "/snapshots/0/sequence-number") in codes(document, Severity.INFO)


def test_upgrading_fills_in_what_the_newer_version_requires() -> None:
    metadata = upgrade(read_metadata(v1()), 3, table_uuid=UUID)
    assert (metadata.format_version, metadata.next_row_id, metadata.last_sequence_number) == (V3, 0, 0)
    document = write_metadata(metadata)
    assert not {"schema", "partition-spec"} & set(document)
    assert read_metadata(document) == metadata
    assert write_metadata(upgrade(read_metadata(v1()), 2, table_uuid=UUID), 3) == document


@pytest.mark.parametrize("version", [0, 4, 10**30])
def test_a_table_is_not_upgraded_to_what_is_unknown(version: int) -> None:
    with pytest.raises(SpecError, match="VER001"):
        upgrade(read_metadata(v1()), version)


def test_a_table_is_not_downgraded_and_needs_a_uuid_to_be_upgraded() -> None:
    with pytest.raises(SpecError, match="TMD002"):
        upgrade(read_metadata(v1()), V2)
    with pytest.raises(SpecError, match="VER003"):
        upgrade(upgrade(read_metadata(v1()), V2, table_uuid=UUID), V1)


@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(table_metadata(version=V1))
def test_upgrading_in_steps_is_upgrading_at_once(metadata: TableMetadata) -> None:
    at_once = upgrade(metadata, V3)
    assert upgrade(upgrade(metadata, V2), V3) == at_once
    assert (at_once.snapshots, at_once.schemas, at_once.refs) == (metadata.snapshots, metadata.schemas, metadata.refs)
    assert read_metadata(dumps(at_once)) == at_once


def test_defaults_below_v3_are_ignored_and_not_written() -> None:
    columns = [{**SCHEMA["fields"][0], "initial-default": 3}]  # type: ignore[dict-item]
    nested = {"type": "struct", "fields": [{**columns[0], "id": 3}]}
    fields = [*columns, {"id": 2, "name": "s", "required": False, "type": nested}]
    document = v1(schema={"type": "struct", "fields": fields})
    metadata = read_metadata(document)
    assert "initial-default" not in dumps(metadata)
    assert all(column.field is None or column.field.initial_default is None for column in metadata.schemas[0].columns())


def test_added_rows_may_be_missing_and_are_reported() -> None:
    snapshot = {**SNAPSHOT, "manifest-list": "l", "summary": {"operation": "append"}, "sequence-number": 0}
    metadata = upgrade(read_metadata(v1()), V3, table_uuid=UUID)
    document = write_metadata(evolve(metadata, next_row_id=9)) | {
        "snapshots": [{**snapshot, "first-row-id": 0}],
        "current-snapshot-id": 5,
    }
    assert read_metadata(document).snapshots[0].added_rows is None
    assert ("SNP011", "/snapshots/0/added-rows") in codes(document, Severity.ERROR)


def test_unknown_properties_survive_at_every_level() -> None:
    field = {"source-id": 1, "name": "p", "transform": "identity", "field-id": 1000, "x": 1}
    metadata = upgrade(read_metadata(v1()), V2, table_uuid=UUID)
    document = write_metadata(metadata) | {
        "x": {"a": [1.5, None]},
        "partition-specs": [{"spec-id": 0, "fields": [field], "y": True}],
        "snapshots": [
            {**SNAPSHOT, "sequence-number": 0, "manifest-list": "l", "summary": {"operation": "append"}, "z": ""}
        ],
        "snapshot-log": [{"timestamp-ms": 1, "snapshot-id": 5, "w": {}}],
        "last-partition-id": 1000,
    }
    assert write_metadata(read_metadata(document)) == document
    assert json.loads(dumps(read_metadata(document))) == document


@pytest.mark.parametrize("value", ["1e400", "[1e400]", '{"a": -1e999}'])
def test_an_unknown_number_that_no_double_holds_is_refused(value: str) -> None:
    with pytest.raises(SpecError, match=r"^/x.*: TMD029: .*; found -?inf"):
        read_metadata(json.dumps(v1())[:-1] + f', "x": {value}}}')


def test_writing_refuses_what_no_metadata_can_hold() -> None:
    metadata = read_metadata(v1())
    for changes in (
        {"last_updated_ms": 1 << 63},
        {"last_column_id": True},
        {"location": None},
        {"properties": {"a": 1}},
    ):
        for write in (dumps, write_metadata):
            with pytest.raises(SpecError) as error:
                write(evolve(metadata, **changes))
            assert error.value.violation.path.startswith(f"/{next(iter(changes)).replace('_', '-')}")


@pytest.mark.parametrize("version", FormatVersion)
def test_the_shipped_json_schema_is_the_generated_one(version: FormatVersion) -> None:
    shipped = files("spec_ref.table_metadata").joinpath(SCHEMA_FILE_NAMES[version])
    assert shipped.read_text("utf-8") == schema_text(version)


@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(table_metadata())
def test_what_is_written_satisfies_the_json_schema(metadata: TableMetadata) -> None:
    validator = jsonschema_rs.validator_for(metadata_schema(metadata.format_version))
    assert [str(error) for error in validator.iter_errors(write_metadata(metadata))] == []


@pytest.mark.parametrize("version", FormatVersion)
def test_the_json_schema_refuses_what_a_version_requires_and_lacks(version: FormatVersion) -> None:
    document = write_metadata(upgrade(read_metadata(v1()), version, table_uuid=UUID))
    validator = jsonschema_rs.validator_for(metadata_schema(version))
    assert validator.is_valid(document)
    for name in document:
        rest = {other: value for other, value in document.items() if other != name}
        refused = False
        try:
            read_metadata(rest)
        except SpecError:
            refused = True
        assert validator.is_valid(rest) is not refused

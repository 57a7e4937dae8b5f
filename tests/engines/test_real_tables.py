"""The engines on tables: metadata, upgrades, evolution, retention and name mappings, with one request for each."""

from __future__ import annotations

from typing import Any

import pytest
from engine_processes import Running

from conformance.engine_setup import list_engines
from conformance.operations.protocol import Ok, Refused
from conformance.operations.table_metadata.comparators import (
    compare_evolved_schemas,
    compare_evolved_specs,
    compare_tables,
)
from conformance.runner.adapter_interface import Request
from conformance.runner.process import Process

pytestmark = pytest.mark.engine

ENGINES = [status for status in list_engines() if status.name in ("pyiceberg", "iceberg-java")]

SCHEMA: dict[str, Any] = {
    "type": "struct",
    "schema-id": 0,
    "fields": [
        {"id": 1, "name": "id", "required": True, "type": "int"},
        {"id": 2, "name": "data", "required": False, "type": "string"},
    ],
}
V1: dict[str, Any] = {
    "format-version": 1,
    "table-uuid": "9c12d441-03fe-4693-9a96-a0705ddf69c1",
    "location": "s3://bucket/test/location",
    "last-updated-ms": 1602638573874,
    "last-column-id": 2,
    "schema": SCHEMA,
    "partition-spec": [],
    "properties": {},
}
"""After the metadata of Appendix C: a v1 table without snapshots."""

SPEC: dict[str, Any] = {
    "spec-id": 0,
    "fields": [{"source-id": 1, "field-id": 1000, "name": "id_bucket", "transform": "bucket[16]"}],
}


@pytest.fixture(scope="module", params=ENGINES, ids=lambda status: status.label)
def engine(request: pytest.FixtureRequest, running: Running) -> Process:
    return running(request.param.label)[0]


def ask(process: Process, op: str, **args: Any) -> Any:
    (answer,) = process.ask([Request(op, args)])
    return answer


def test_the_engine_fills_in_what_v1_leaves_out(engine: Process) -> None:
    asked = {"metadata": V1, "select": ["schemas", "current-schema-id", "partition-specs", "last-sequence-number"]}
    expected = {
        "schemas": [SCHEMA],
        "current-schema-id": 0,
        "partition-specs": [{"spec-id": 0, "fields": []}],
        "last-sequence-number": "0",
    }
    answer = ask(engine, "metadata.read", **asked)
    assert isinstance(answer, Ok)
    assert compare_tables(asked, expected, answer.value) == ()


def test_the_engine_refuses_a_version_that_does_not_exist(engine: Process) -> None:
    answer = ask(engine, "metadata.read", metadata={**V1, "format-version": 9})
    assert isinstance(answer, Refused)
    assert answer.kind == "invalid"


def test_the_engine_writes_v2_after_an_upgrade(engine: Process) -> None:
    answer = ask(engine, "metadata.write", metadata=V1, format_version=2)
    assert isinstance(answer, Ok)
    assert (answer.value["format-version"], answer.value["last-sequence-number"]) == (2, 0)
    assert "partition-spec" not in answer.value


def test_the_engine_upgrades_and_never_the_other_way(engine: Process) -> None:
    answer = ask(engine, "metadata.upgrade", metadata=V1, format_version=2, select=["format-version"])
    assert answer == Ok({"format-version": 2})
    v2 = ask(engine, "metadata.write", metadata=V1, format_version=2).value
    assert isinstance(ask(engine, "metadata.upgrade", metadata=v2, format_version=1), Refused)


def test_the_engine_gives_new_columns_new_ids(engine: Process) -> None:
    changes = [
        {"op": "drop", "name": "data"},
        {"op": "promote", "name": "id", "type": "long"},
        {"op": "add", "name": "data", "type": "string", "doc": "another one"},
        {"op": "move", "name": "data", "after": None},
    ]
    asked = {"schema": SCHEMA, "format_version": 2, "last_column_id": 5, "changes": changes}
    expected = {
        "fields": [
            {"id": 6, "name": "data", "required": False, "type": "string", "doc": "another one"},
            {"id": 1, "name": "id", "required": True, "type": "long"},
        ],
        "last-column-id": 6,
    }
    answer = ask(engine, "schema.evolve", **asked)
    assert isinstance(answer, Ok)
    assert compare_evolved_schemas(asked, expected, answer.value) == ()


def test_the_engine_replaces_a_partition_field_of_v1_by_void(engine: Process) -> None:
    asked = {
        "schema": SCHEMA,
        "format_version": 1,
        "partition_specs": [SPEC],
        "default_spec_id": 0,
        "last_partition_id": 1000,
        "changes": [{"op": "remove", "name": "id_bucket"}],
    }
    expected = {
        "spec-id": 1,
        "fields": [{"source-id": 1, "field-id": 1000, "name": "id_bucket", "transform": "void"}],
        "last-partition-id": 1000,
    }
    answer = ask(engine, "partition-spec.evolve", **asked)
    assert isinstance(answer, Ok)
    assert compare_evolved_specs(asked, expected, answer.value) == ()


def test_the_engine_finds_fields_by_the_names_of_a_mapping(engine: Process) -> None:
    mapping = [{"field-id": 1, "names": ["id", "record_id"]}, {"field-id": 2, "names": ["data"]}]
    columns = [{"name": "record_id", "required": False, "type": "int"}]
    answer = ask(engine, "name-mapping.apply", mapping=mapping, columns=columns)
    assert answer == Ok([{"path": ["record_id"], "field-id": 1}])

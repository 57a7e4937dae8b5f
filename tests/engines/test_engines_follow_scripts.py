"""Engines run scripts: their tables are judged like those of the writing vectors, with a few scripts for each."""

from __future__ import annotations

from pathlib import Path

import pytest
from engine_processes import Running
from large_engines import skip_unless_installed
from shipped_vectors import shipped_vectors

from conformance.adapter_sdk import table_requests
from conformance.adapter_sdk.script_steps import WRITING
from conformance.adapter_sdk.serve import perform
from conformance.engines.reference import adapter as reference
from conformance.operations.protocol import Ok, Refused
from conformance.runner.adapter_interface import Request
from conformance.runner.judge import Outcome, Verdict, judge_answer
from conformance.runner.scratch_dir import clear, table_folders

pytestmark = pytest.mark.engine

VECTORS = {vector.id: vector for vector in shipped_vectors() if vector.operation.name in WRITING}
CHOSEN = {
    "pyiceberg": (
        "write-numbers-v2-parquet",
        "write-columns-parquet",
        "write-tag",
        "write-partition-floats",
        "change-tag",
    ),
    "iceberg-java": (
        "write-lineage-merge-mor-v3",
        "write-upsert-v2-parquet",
        "write-partition-void-v2",
        "change-upsert-v3-parquet",
        "change-tag",
    ),
    "spark-reference": ("write-null-nested-parquet", "write-null-nested-avro", "write-null-nested-orc"),
}


def verdicts(running: Running, name: str) -> dict[str, Verdict]:
    """The verdicts on the scripts that are chosen for an engine, in its first version."""
    process, _ = running(name)
    found = {}
    with table_folders(VECTORS[id_] for id_ in CHOSEN[name]) as asked:
        answers = process.ask(Request(vector.operation.name, vector.args) for vector in asked)
        for vector, answer in zip(asked, answers, strict=True):
            found[vector.id] = judge_answer(vector, answer)
            clear(vector)
            assert not Path(vector.args["table"]).parent.exists()
    return found


@pytest.mark.parametrize("name", ["iceberg-java", "spark-reference"])
def test_what_is_written_is_what_the_script_makes(running: Running, name: str) -> None:
    assert {id_: (found.outcome, found.reason) for id_, found in verdicts(running, name).items()} == dict.fromkeys(
        CHOSEN[name], (Outcome.PASSED, "")
    )


def test_pyiceberg_writes_says_what_it_does_not_do_and_fails_where_it_is_known_to(running: Running) -> None:
    found = verdicts(running, "pyiceberg")
    assert found["write-numbers-v2-parquet"].outcome is Outcome.PASSED
    assert found["write-tag"].outcome is Outcome.PASSED
    assert found["change-tag"].outcome is Outcome.PASSED
    assert found["write-columns-parquet"].outcome is Outcome.UNSUPPORTED
    assert "ZeroDivisionError" in found["write-partition-floats"].reason


CREATED = {
    "op": "create",
    "format_version": 2,
    "schema": {"type": "struct", "fields": [{"id": 1, "name": "id", "required": False, "type": "long"}]},
}
COLUMNS = [
    {"op": "add", "name": "a", "type": "int"},
    {"op": "rename", "name": "a", "to": "b"},
    {"op": "add", "name": "c", "type": "int"},
    {"op": "drop", "name": "id"},
]
PARTITIONS = [
    {"op": "add", "name": "p", "source": "b", "transform": "bucket[4]"},
    {"op": "rename", "name": "p", "to": "q"},
    {"op": "add", "name": "r", "source": "c", "transform": "identity"},
]


@pytest.mark.parametrize("name", ["iceberg-java", "pyiceberg", "iceberg-go"])
def test_the_changes_of_an_operation_are_committed_together_or_not_at_all(
    running: Running, name: str, tmp_path: Path
) -> None:
    altered = [{"op": "alter-schema", "changes": COLUMNS}, {"op": "alter-spec", "changes": PARTITIONS}]
    refused = [
        {"op": "alter-schema", "changes": [{"op": "add", "name": "d", "type": "int"}, {"op": "drop", "name": "x"}]},
        {"op": "alter-spec", "changes": [{"op": "remove", "name": "q"}, {"op": "remove", "name": "x"}]},
    ]
    skip_unless_installed(name)
    process, _ = running(name)
    script = {"operations": [CREATED, *altered]}
    (made,) = process.ask([Request("table.write", {"table": str(tmp_path / "table"), "script": script})])
    assert isinstance(made, Ok)
    *before, last = made.value["locations"]
    document = table_requests.metadata(last)
    assert [entry["metadata-file"] for entry in document["metadata-log"]] == before
    assert [field["name"] for field in document["schemas"][-1]["fields"]] == ["b", "c"]
    assert [field["name"] for field in document["partition-specs"][-1]["fields"]] == ["q", "r"]
    files = sorted((tmp_path / "table" / "metadata").iterdir())
    for operation in refused:
        (answer,) = process.ask([Request("table.change", {"table": last, "operations": [operation]})])
        assert isinstance(answer, Refused)
    assert sorted((tmp_path / "table" / "metadata").iterdir()) == files


@pytest.mark.parametrize(("version", "name"), [(2, "_pos"), (3, "_row_id")])
def test_iceberg_java_reads_a_column_with_the_name_of_a_metadata_column(
    running: Running, version: int, name: str, tmp_path: Path
) -> None:
    columns = [{"id": 1, "name": "id", "required": False, "type": "long"}]
    columns += [{"id": 2, "name": name, "required": False, "type": "long"}]
    create = {**CREATED, "format_version": version, "schema": {"type": "struct", "fields": columns}}
    script = {"operations": [create, {"op": "append", "rows": [{"id": "1", name: "77"}]}]}
    made = perform(reference.operations(), "table.write", {"table": str(tmp_path / "table"), "script": script}, ())
    args = {"table": made["ok"]["metadata"], "types": {"id": "long", name: "long"}}
    process, _ = running("iceberg-java")
    (answer,) = process.ask([Request("table.read", args)])
    assert isinstance(answer, Ok)
    assert answer.value["rows"] == [{"id": "1", name: "77"}]


def test_iceberg_java_changes_rows_of_columns_whose_names_differ_only_in_case(running: Running, tmp_path: Path) -> None:
    columns = [{"id": 1, "name": "id", "required": False, "type": "long"}]
    columns += [{"id": 2, "name": "ID", "required": False, "type": "long"}]
    create = {**CREATED, "schema": {"type": "struct", "fields": columns}}
    update = {"op": "update", "filter": {"type": "eq", "term": "ID", "value": 2}, "set": {"id": "3"}}
    merge = {"op": "merge", "on": ["ID"], "rows": [{"id": "7", "ID": "4"}]}
    rows = [{"id": "1", "ID": "2"}, {"id": "2", "ID": "4"}]
    script = {"operations": [create, {"op": "append", "rows": rows}, update, merge]}
    process, _ = running("iceberg-java")
    (made,) = process.ask([Request("table.write", {"table": str(tmp_path / "table"), "script": script})])
    assert isinstance(made, Ok), made
    args = {"table": made.value["metadata"], "types": {"id": "long", "ID": "long"}}
    (answer,) = process.ask([Request("table.read", args)])
    assert isinstance(answer, Ok)
    assert sorted(answer.value["rows"], key=str) == [{"id": "3", "ID": "2"}, {"id": "7", "ID": "4"}]

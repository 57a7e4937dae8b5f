"""The engines on golden tables: rows, plans and refusals, with one request for each."""

from __future__ import annotations

from typing import Any

import pytest
from engine_processes import Running

from conformance.engine_setup import list_engines
from conformance.operations.protocol import Ok, Refused
from conformance.operations.registry import OPERATIONS
from conformance.runner.adapter_interface import Request
from conformance.runner.process import Process
from conformance.vectors.golden_places import PLACE
from conformance.vectors.golden_tables import index, materialize

pytestmark = pytest.mark.engine

ENGINES = [status for status in list_engines() if status.name in ("pyiceberg", "iceberg-java")]
SOUND = ["types-v2-parquet", "deletion-vectors-parquet", "schema-evolution-parquet", "branches-and-tags"]


@pytest.fixture(scope="module", params=ENGINES, ids=lambda status: status.label)
def engine(request: pytest.FixtureRequest, running: Running) -> Process:
    materialize([*SOUND, "broken-data-missing"])
    return running(request.param.label)[0]


def asked(process: Process, op: str, table: str, **more: Any) -> Any:
    (answer,) = process.ask([Request(op, {"table": f"{PLACE}/{table}/{index(table)['metadata']}", **more})])
    return answer


def state(table: str, label: str) -> dict[str, Any]:
    found: dict[str, Any] = next(one for one in index(table)["states"] if one["label"] == label)
    types = found["types"]
    return {**found, "rows": [{name: row[name] for name in types} for row in found["rows"]]}


@pytest.mark.parametrize("table", SOUND)
def test_the_engine_reads_what_was_written(engine: Process, table: str) -> None:
    current = state(table, "current")
    answer = asked(engine, "table.read", table, types=current["types"])
    assert isinstance(answer, Ok)
    assert OPERATIONS["table.read"].compare({"types": current["types"]}, {"rows": current["rows"]}, answer.value) == ()


def test_the_engine_reads_a_snapshot_with_its_schema(engine: Process) -> None:
    first = state("schema-evolution-parquet", "first schema")
    asking = {"types": first["types"], "snapshot": first["snapshot"]}
    answer = asked(engine, "table.read", "schema-evolution-parquet", **asking)
    assert isinstance(answer, Ok)
    assert OPERATIONS["table.read"].compare(asking, {"rows": first["rows"]}, answer.value) == ()


def test_the_engine_plans_the_vector_of_a_file(engine: Process) -> None:
    answer = asked(engine, "scan.plan", "deletion-vectors-parquet")
    assert isinstance(answer, Ok)
    deletes = [delete for file in answer.value["files"] for delete in file["delete_files"]]
    assert len(answer.value["files"]) == 3
    assert len(deletes) == 2
    assert all(delete["path"].endswith(".puffin") for delete in deletes)


def test_the_engine_refuses_a_table_that_lacks_a_file(engine: Process) -> None:
    types = state("broken-data-missing", "sound")["types"]
    answer = asked(engine, "table.read", "broken-data-missing", types=types)
    assert isinstance(answer, Refused)
    assert answer.kind == "invalid"

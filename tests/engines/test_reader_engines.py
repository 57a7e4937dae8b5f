"""Engines that only read: each gets requests for rows of golden tables, and for unsupported features."""

from __future__ import annotations

from typing import Any

import pytest
from engine_processes import Running

from conformance.engine_setup import list_engines
from conformance.operations.protocol import Ok, Refused, Unsupported
from conformance.operations.reading.comparators import compare_rows
from conformance.runner.adapter_interface import Request
from conformance.runner.process import Process
from conformance.vectors.golden_places import PLACE
from conformance.vectors.golden_tables import index, materialize

pytestmark = pytest.mark.engine

SNAPSHOTS = {
    "duckdb": ("snapshot", "timestamp_ms"),
    "chdb": ("snapshot", "timestamp_ms"),
    "polars": ("snapshot", "timestamp_ms", "ref"),
    "daft": ("snapshot", "timestamp_ms", "ref"),
    "datafusion": (),
    "sail": ("snapshot", "timestamp_ms", "ref"),
}
"""How each engine can be asked for a snapshot."""

ENGINES = [status for status in list_engines() if status.name in SNAPSHOTS]
TABLE = "pyiceberg-partitioned"
"""Partitions by everything, whose locations are URIs: iceberg-rust reads no others."""


def request(**more: Any) -> dict[str, Any]:
    table = index(TABLE)
    return {"table": f"{PLACE}/{TABLE}/{table['metadata']}", "types": dict(table["states"][-1]["types"]), **more}


def rows(*numbers: int) -> list[dict[str, Any]]:
    """The rows with these numbers, as the statements of the table made them."""
    return [row for row in index(TABLE)["states"][-1]["rows"] if row["n"] in numbers]


def test_every_reader_is_in_the_catalog() -> None:
    assert {status.name for status in ENGINES} == SNAPSHOTS.keys()


@pytest.fixture(scope="module", params=ENGINES, ids=lambda status: status.label)
def engine(request: pytest.FixtureRequest, running: Running) -> Process:
    materialize([TABLE])
    return running(request.param.label)[0]


def ask(process: Process, args: dict[str, Any]) -> Any:
    (answer,) = process.ask([Request("table.read", args)])
    return answer


def held(process: Process, args: dict[str, Any], expected: list[dict[str, Any]]) -> None:
    answer = ask(process, args)
    assert isinstance(answer, Ok), answer
    assert compare_rows(args, {"rows": expected}, answer.value) == ()


def test_all_rows_are_read_with_all_columns(engine: Process) -> None:
    assert len(rows(1, 2, 3)) == 3
    held(engine, request(), rows(1, 2, 3))


def test_columns_come_in_the_order_that_is_asked_for(engine: Process) -> None:
    args = request(select=["l", "n"], types={"l": "long", "n": "int"})
    held(engine, args, [{"l": "34", "n": 1}, {"l": "-1", "n": 2}, {"l": None, "n": 3}])
    answer = ask(engine, args)
    assert [list(row) for row in answer.value["rows"]] == [["l", "n"]] * 3


@pytest.mark.parametrize(
    ("predicate", "numbers"),
    [
        ({"type": "eq", "term": "l", "value": 34}, [1]),
        ({"type": "eq", "left": {"type": "reference", "id": 3}, "right": -1}, [2]),
        ({"type": "not-eq", "term": "l", "value": 34}, [2, 3]),
        ({"type": "not", "child": {"type": "lt", "term": "n", "value": 2}}, [2, 3]),
        ({"type": "in", "term": "n", "values": [1, 3]}, [1, 3]),
        ({"type": "is-null", "term": "t"}, [3]),
        ({"type": "starts-with", "term": "s", "value": "a/"}, [1]),
        ({"type": "eq", "term": "s", "value": ""}, [2]),
        ({"type": "gt-eq", "term": "y", "value": "1970-01-01"}, [2]),
        ({"type": "gt-eq", "term": "h", "value": "1970-01-01T00:00:00+00:00"}, [2]),
        (
            {
                "type": "and",
                "left": {"type": "not-null", "term": "l"},
                "right": {"type": "gt", "term": "n", "value": 1},
            },
            [2],
        ),
        (False, []),
    ],
    ids=str,
)
def test_filters_match_as_the_predicate_says(engine: Process, predicate: Any, numbers: list[int]) -> None:
    args = request(select=["n", "l"], types={"n": "int", "l": "long"}, filter=predicate)
    held(engine, args, [{"n": row["n"], "l": row["l"]} for row in rows(*numbers)])


def test_a_filter_with_a_transform_is_not_asked(engine: Process) -> None:
    term = {"type": "transform", "transform": "bucket[4]", "term": "l"}
    answer = ask(engine, request(filter={"type": "eq", "term": term, "value": 1}))
    assert isinstance(answer, Unsupported)


def test_a_column_that_does_not_exist_is_refused(engine: Process) -> None:
    answer = ask(engine, request(select=["nothing"], types={"nothing": "int"}))
    assert isinstance(answer, Refused), answer
    assert answer.kind == "invalid", answer


def test_a_table_that_does_not_exist_is_refused(engine: Process) -> None:
    answer = ask(engine, {"table": f"{PLACE}/nowhere/metadata/v1.metadata.json", "types": {"id": "int"}})
    assert isinstance(answer, Refused), answer
    assert answer.kind == "invalid", answer


def test_snapshots_are_read_by_what_the_engine_knows_and_nothing_else(engine: Process) -> None:
    state = index(TABLE)["states"][0]
    asked = {"snapshot": state["snapshot"], "timestamp_ms": state["timestamp_ms"], "ref": "main"}
    for name, value in asked.items():
        args = request(**{name: value})
        if name in SNAPSHOTS[engine.name]:
            held(engine, args, rows(1, 2, 3))
        else:
            assert isinstance(ask(engine, args), Unsupported), name
    unknown = ask(engine, request(snapshot="1"))
    assert isinstance(unknown, Refused if "snapshot" in SNAPSHOTS[engine.name] else Unsupported), unknown


def test_a_metadata_column_is_there_or_it_is_said_that_it_is_not(engine: Process) -> None:
    args = request(select=["n", "_pos"], types={"n": "int", "_pos": "long"})
    if engine.name == "duckdb":
        held(engine, args, [{"n": number, "_pos": "0"} for number in (1, 2, 3)])  # a file for each partition
    else:
        assert isinstance(ask(engine, args), Unsupported)


def test_polars_reports_the_plan_of_a_scan_and_the_others_do_not(engine: Process) -> None:
    where = {"type": "eq", "term": "n", "value": 1}
    (answer,) = engine.ask([Request("scan.plan", {"table": request()["table"], "filter": where})])
    if engine.name == "polars":
        assert isinstance(answer, Ok)
        (file,) = answer.value["files"]  # each row is in a partition of its own
        assert file["data_file"].startswith(f"file://{PLACE}/{TABLE}/data/")
        assert file["delete_files"] == []
    else:
        assert isinstance(answer, Unsupported)

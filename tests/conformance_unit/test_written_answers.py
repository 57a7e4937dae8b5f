"""Answers of writers: the locations of tables, the differences in them, and the removal of files."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from shipped_vectors import shipped_vectors

from conformance import vectors
from conformance.engines.reference import adapter as reference
from conformance.operations.protocol import Crashed, Ok, message_violation
from conformance.operations.writing.written import OperationNumbers
from conformance.runner.adapter_interface import Request
from conformance.runner.judge import Outcome, Verdict, judge_answer
from conformance.runner.process import AdapterLimits, Process
from conformance.runner.scratch_dir import clear, table_folders
from conformance.scripts.expected import expected_table
from conformance.scripts.model import run_model

SOME = {one.operation.name: one for one in shipped_vectors()}
"""A vector of each operation."""

FIELDS = [{"id": 1, "name": "id", "required": False, "type": "long"}]
LATE = """
import json, sys, time
for line in sys.stdin:
    asked = json.loads(line)
    if asked["op"] == "start":
        said = {"implementation": "late", "version": "1", "language": "x", "protocol": 1, "format_versions": [2],
                "operations": ["table.write", "type.parse"]}
    else:
        time.sleep(0.8)
        said = {"metadata": "m"} if asked["op"] == "table.write" else "long"
    print(json.dumps({"seq": asked["seq"], "ok": said}), flush=True)
"""


def vector(*operations: Any, version: int = 3) -> vectors.Vector:
    """A vector of a script."""
    create = {"op": "create", "format_version": version, "schema": {"type": "struct", "fields": FIELDS}}
    args = {"script": {"operations": [create, *operations]}}
    expected = expected_table(run_model(args["script"]))
    return evolve(SOME["table.write"], id="v", args=args, permitted=(Ok(expected),))


ROWS = {"op": "append", "rows": [{"id": "1"}, {"id": "2"}]}
UPDATE = {"op": "update", "filter": {"type": "eq", "term": "id", "value": 1}, "set": {"id": "7"}}


def verdict(asked: vectors.Vector, **changed: Any) -> Verdict:
    """The verdict on what the reference writes, its answer changed."""
    with table_folders([asked]) as (placed,):
        answer = reference.operations()["table.write"](placed.args)
        assert isinstance(answer, dict)
        return judge_answer(placed, Ok({**answer, **changed}))


def paths(found: Verdict) -> list[str]:
    return [difference.path for difference in found.differences]


def test_what_the_model_says_is_what_is_written() -> None:
    found = verdict(vector(ROWS, UPDATE, {"op": "compact"}))
    assert (found.outcome, found.reason) == (Outcome.PASSED, "")


def test_snapshots_need_not_be_reported() -> None:
    assert verdict(vector(ROWS, UPDATE), snapshots=[]).outcome is Outcome.PASSED


@pytest.mark.parametrize("between", [[], [{"op": "append", "rows": [{"id": "3"}]}]])
def test_rows_from_before_row_lineage_have_no_number_to_take_along(between: list[Any]) -> None:
    """The first commit after the upgrade gives rows that it moves its number; later ones keep that of their file."""
    delete = {"op": "delete", "filter": {"type": "eq", "term": "id", "value": 1}, "mode": "copy-on-write"}
    script = (ROWS, {"op": "upgrade", "format_version": 3}, *between, delete)
    found = verdict(vector(*script, version=2))
    assert (found.outcome, found.reason) == (Outcome.PASSED, "")


def test_a_snapshot_that_is_reported_wrongly_is_found() -> None:
    asked = vector(ROWS, UPDATE)
    with table_folders([asked]) as (placed,):
        answer = reference.operations()["table.write"](placed.args)
        assert isinstance(answer, dict)
        none, first, _ = answer["snapshots"]
        found = judge_answer(placed, Ok({**answer, "snapshots": [none, first, first]}))
    assert found.outcome is Outcome.FAILED
    assert paths(found)[0] == "/states/2/rows"


def test_what_changes_nothing_after_a_rollback_leaves_the_schema_of_then() -> None:
    rename = {"op": "alter-schema", "changes": [{"op": "rename", "name": "id", "to": "key"}]}
    found = verdict(vector(ROWS, UPDATE, {"op": "rollback", "to": 1}, rename, {"op": "compact"}))
    assert (found.outcome, found.reason) == (Outcome.PASSED, "")


@pytest.mark.parametrize(
    ("changed", "path"), [({"metadata": "/nowhere/v1.metadata.json"}, "/metadata"), ({"metadata": 1}, None)]
)
def test_a_table_elsewhere_is_not_looked_at(changed: dict[str, Any], path: str | None) -> None:
    found = verdict(vector(ROWS), **changed)
    assert found.outcome is Outcome.FAILED
    assert paths(found) == ([path] if path else [])


def test_a_table_that_is_not_there_is_reported(tmp_path: Path) -> None:
    asked = vector(ROWS)
    place = str(tmp_path / "table")
    answer = Ok({"metadata": f"{place}/metadata/v1.metadata.json"})
    found = judge_answer(evolve(asked, args={**asked.args, "table": place}), answer)
    assert (found.outcome, paths(found)) == (Outcome.FAILED, ["/table"])


def test_other_rows_are_reported_one_by_one() -> None:
    asked = vector(ROWS)
    other = vector({"op": "append", "rows": [{"id": "1"}, {"id": "1"}]})
    found = verdict(evolve(asked, permitted=other.permitted), snapshots=[])
    assert paths(found) == ["/refs/main/rows", "/refs/main/rows"]


def test_a_format_version_or_schema_that_differs_is_reported() -> None:
    asked = vector(ROWS)
    expected = expected_table(run_model(asked.args["script"]))
    expected["format_version"] = 2
    expected["schema"]["fields"][0]["required"] = True
    found = verdict(evolve(asked, permitted=(Ok(expected),)), snapshots=[])
    assert paths(found) == ["/format_version", "/schema"]


def test_each_vector_has_a_place_of_its_own_and_nothing_is_left() -> None:
    asked = vector(ROWS)
    with table_folders([asked, asked]) as placed:
        first, second = (Path(one.args["table"]) for one in placed)
        assert first != second
        assert first.is_absolute()
        second.mkdir(parents=True)
        clear(placed[1])
        assert not second.parent.exists()
        first.mkdir(parents=True)
    assert not first.parent.parent.exists()


def test_vectors_that_write_nothing_stay_as_they_are() -> None:
    other = SOME["hash"]
    with table_folders([other]) as placed:
        assert placed == (other,)
        clear(placed[0])


def test_a_request_names_a_place_and_a_vector_does_not() -> None:
    args = vector(ROWS).args
    request = {"seq": 1, "op": "table.write", "args": args}
    assert message_violation("table.write.args", args) is None
    assert message_violation("table.write.request", request) is not None
    assert message_violation("table.write.request", {**request, "args": {**args, "table": "/t"}}) is None


def test_what_a_writer_began_before_it_died_is_removed_before_it_is_asked_again(tmp_path: Path) -> None:
    args = [{**vector(ROWS).args, "table": str(tmp_path / name / "table")} for name in "ab"]
    begun = tmp_path / "b" / "table"
    begun.mkdir(parents=True)
    limits = AdapterLimits(request=0.1, writing=1, max_in_flight=2, starts=1)
    with Process("late", [sys.executable, "-c", LATE], limits=limits) as process:
        process.start()
        list(process.ask([Request("table.write", one) for one in args]))
    assert not begun.exists()


def test_writers_have_more_time() -> None:
    limits = AdapterLimits(request=0.4, writing=100, max_in_flight=1)
    args = {**vector(ROWS).args, "table": "/t"}
    with Process("late", [sys.executable, "-c", LATE], limits=limits) as process:
        process.start()
        answers = list(process.ask([Request("table.write", args), Request("type.parse", {"type": "long"})]))
    assert answers[0] == Ok({"metadata": "m"})
    assert isinstance(answers[1], Crashed)


def test_rows_from_before_row_lineage_may_have_the_numbers_up_to_its_last_beginning() -> None:
    """The table was upgraded after number 2. Lineage began on two branches, with the snapshots 3 and 5; 3 expired."""
    spans = {0: (0, 1), 1: (1, 2), 2: (2, 3), 3: (3, 5)}
    numbers = OperationNumbers.with_upgrade(spans, 2, [3, 5])
    assert numbers == OperationNumbers({0: (0, 5), 1: (1, 5), 2: (2, 3), 3: (3, 5)}, frozenset({0, 1}), 2)
    assert OperationNumbers.with_upgrade(spans, 0, [1]) == OperationNumbers(spans, frozenset(), 1)

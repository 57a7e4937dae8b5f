"""Changes of existing tables: numbers continue, files stay in the table's folder, and refusals change nothing."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from shipped_vectors import shipped_vectors

from conformance import vectors
from conformance.adapter_sdk.serve import perform
from conformance.engines.reference import adapter as reference
from conformance.operations.protocol import Ok, message_violation
from conformance.runner.judge import Outcome, Verdict, judge_answer
from conformance.runner.scratch_dir import base_table, clear, table_folders
from conformance.scripts.expected import expected_table
from conformance.scripts.model import run_model
from spec_ref.core.json_types import Json

FIELDS = [{"id": 1, "name": "id", "required": False, "type": "long"}]
CREATE = {"op": "create", "format_version": 3, "schema": {"type": "struct", "fields": FIELDS}}
FIRST = {"op": "append", "rows": [{"id": "1"}, {"id": "2"}]}
SECOND = {"op": "append", "rows": [{"id": "3"}]}
DELETE = {"op": "delete", "filter": {"type": "eq", "term": "id", "value": 1}}
SOME = next(one for one in shipped_vectors() if one.operation.name == "table.change")


def change(**args: Json) -> dict[str, Any]:
    """Return the answer of the reference."""
    return perform(reference.operations(), "table.change", args, reference.REFUSALS)


def files_below(folder: Path) -> dict[str, str]:
    """Return the sha256 of every file."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file()
    }


def vector(before: list[Json], operations: list[Json]) -> vectors.Vector:
    """Return a vector of operations on an existing table; the model gives the expected result."""
    states = run_model({"operations": [*before, *operations]})
    args = {"base": {"operations": before}, "operations": operations}
    return evolve(SOME, id="v", args=args, permitted=(Ok(expected_table(states)),))


def verdict(asked: vectors.Vector, **changed: Any) -> Verdict:
    """Return the verdict on the reference's answer after changing it."""
    with table_folders([asked]) as (placed,):
        answer = change(**placed.args)["ok"]
        found = judge_answer(placed, Ok({**answer, **changed}))
        clear(placed)
        assert not Path(placed.args["table"]).exists()
    return found


ON_A_BRANCH = [CREATE, FIRST, {"op": "branch", "name": "b"}, {**SECOND, "branch": "b"}]
"""After the last operation, main has the earlier snapshot, and the branch a different one."""


def test_a_branch_may_stay_where_it_began_although_main_went_on() -> None:
    nothing = {**DELETE, "filter": {"type": "eq", "term": "id", "value": 9}, "branch": "b"}
    column = {"op": "alter-schema", "changes": [{"op": "add", "name": "c", "type": "long"}]}
    asked = vector([CREATE, FIRST], [{"op": "branch", "name": "b"}, column, SECOND, nothing])
    with table_folders([asked]) as (placed,):
        answer = change(**placed.args)["ok"]
        first, *others, _ = answer["snapshots"]
        stays = judge_answer(placed, Ok({**answer, "snapshots": [first, *others, first]}))
        clear(placed)
    assert (stays.outcome, stays.reason) == (Outcome.PASSED, "")


def test_what_comes_of_the_whole_script_is_what_is_expected() -> None:
    found = verdict(vector([CREATE, FIRST], [DELETE, {"op": "compact"}]))
    assert (found.outcome, found.reason) == (Outcome.PASSED, "")


@pytest.mark.parametrize("at", [1, 3])
def test_numbers_are_those_of_the_whole_script_and_mean_main(at: int) -> None:
    found = verdict(vector(ON_A_BRANCH, [SECOND, {"op": "tag", "name": "t", "at": at}, {"op": "rollback", "to": at}]))
    assert (found.outcome, found.reason) == (Outcome.PASSED, "")


def test_one_script_and_its_parts_have_the_same_numbers(tmp_path: Path) -> None:
    operations = [*ON_A_BRANCH, {"op": "tag", "name": "t", "at": 3}]
    args = {"table": str(tmp_path / "t"), "script": {"operations": operations}}
    answer = perform(reference.operations(), "table.write", args, reference.REFUSALS)
    metadata = json.loads(Path(answer["ok"]["metadata"]).read_text())
    assert metadata["refs"]["t"]["snapshot-id"] == metadata["refs"]["main"]["snapshot-id"]
    assert answer["ok"]["snapshots"][3] != str(metadata["refs"]["t"]["snapshot-id"])
    assert [Path(one).exists() for one in answer["ok"]["locations"]] == [True] * 5


def test_rows_that_get_other_ids_are_found() -> None:
    """Earlier operations count: rows keep the ids that they got then."""
    asked = vector([CREATE, FIRST], [{"op": "compact"}])
    with table_folders([asked]) as (placed,):
        table, history = base_table({"operations": [CREATE, SECOND, FIRST]}, str(Path(placed.args["table"]).parents[1]))
        kept = [None, history[2]]
        answer = change(table=table, operations=[DELETE, FIRST], history=kept)["ok"]
        wrong = {**answer, "snapshots": answer["snapshots"][1:]}
        found = judge_answer(evolve(placed, args={**placed.args, "table": table, "history": kept}), Ok(wrong))
    assert found.outcome is Outcome.FAILED


@pytest.mark.parametrize("place", ["/nowhere/v1.metadata.json", "s3://bucket/v1.metadata.json", "file:/nowhere/v1"])
def test_a_table_elsewhere_is_not_looked_at(place: str) -> None:
    found = verdict(vector([CREATE, FIRST], [DELETE]), metadata=place)
    assert [difference.path for difference in found.differences] == ["/metadata"]


@pytest.mark.parametrize("scheme", ["file:", "file://"])
def test_a_location_may_be_a_uri(scheme: str) -> None:
    asked = vector([CREATE, FIRST], [DELETE])
    with table_folders([asked]) as (placed,):
        answer = change(**placed.args)["ok"]
        found = judge_answer(placed, Ok({**answer, "metadata": f"{scheme}{answer['metadata']}"}))
    assert (found.outcome, found.reason) == (Outcome.PASSED, "")


def test_no_file_that_was_there_is_changed(tmp_path: Path) -> None:
    table, history = base_table({"operations": [CREATE, FIRST]}, str(tmp_path / "t"))
    before = files_below(tmp_path)
    answer = change(table=table, operations=[DELETE, SECOND, {"op": "compact"}], history=history)
    after = files_below(tmp_path)
    assert {name: after.get(name) for name in before} == before
    assert str(Path(answer["ok"]["metadata"]).relative_to(tmp_path)) in after.keys() - before.keys()


@pytest.mark.parametrize(
    ("wrong", "place"),
    [
        ({"op": "vacuum"}, "/operations/1"),
        ({"op": "append"}, "/operations/1"),
        (CREATE, "/operations/1"),
        ({"op": "alter-schema", "changes": [{"op": "explode", "name": "id"}]}, "/operations/1/changes/0/op"),
        ({"op": "alter-spec", "changes": [{"op": "rename", "name": "p"}]}, "/operations/1/changes/0"),
        ({"op": "fast-forward", "to": "nobody"}, "there is no branch 'nobody'"),
    ],
)
def test_an_operation_of_a_wrong_form_is_refused_before_any_is_done(wrong: Json, place: str, tmp_path: Path) -> None:
    table, history = base_table({"operations": [CREATE, FIRST]}, str(tmp_path / "t"))
    before = files_below(tmp_path)
    error = change(table=table, operations=[SECOND, wrong], history=history)["error"]
    assert error["kind"] == "invalid"
    assert error["message"].startswith(place)
    after = files_below(tmp_path)
    assert {name: after.get(name) for name in before} == before
    assert (after == before) == place.startswith("/")


@pytest.mark.parametrize(
    ("operations", "place"),
    [
        ([FIRST, CREATE], "/script/operations/0: create is the first operation"),
        ([CREATE, {"op": "vacuum"}], "/script/operations/1: no operation 'vacuum'"),
        ([CREATE, {"op": "append"}], "/script/operations/1"),
        ([CREATE, FIRST, 7], "/script/operations/2: expected an object"),
    ],
)
def test_a_wrong_script_is_refused_with_the_place_in_the_request(
    operations: list[Json], place: str, tmp_path: Path
) -> None:
    args = {"table": str(tmp_path / "t"), "script": {"operations": operations}}
    answer = perform(reference.operations(), "table.write", args, ())
    assert answer["error"]["message"].startswith(place)
    assert not list(tmp_path.iterdir())


def test_the_metadata_file_of_the_request_is_the_table(tmp_path: Path) -> None:
    """A newer file beside it, which someone else may have written, is ignored."""
    table, history = base_table({"operations": [CREATE, FIRST]}, str(tmp_path / "t"))
    (one, other) = (change(table=table, operations=[SECOND], history=history)["ok"]["metadata"] for _ in range(2))
    assert one != other
    for location in (one, other):
        assert len(json.loads(Path(location).read_text())["snapshots"]) == 2


REFUSED = {
    "a rule": ({"op": "alter-schema", "changes": [{"op": "promote", "name": "id", "type": "int"}]}, "EVO"),
    "no branch": ({"op": "fast-forward", "to": "nowhere"}, "no snapshot"),
    "no column to set": (
        {"op": "update", "filter": {"type": "eq", "term": "id", "value": 1}, "set": {"other": "1"}},
        "other",
    ),
    "half an upsert": ({"op": "upsert", "on": ["id"], "rows": [{"id": "1", "other": "1"}]}, "other"),
    "no column": ({"op": "append", "rows": [{"other": "1"}]}, "other"),
    "no operation": ({"op": "frobnicate"}, "frobnicate"),
    "no branch to append to": ({**SECOND, "branch": "b"}, "there is no branch 'b'"),
    "no branch to delete from": ({**DELETE, "branch": "b"}, "there is no branch 'b'"),
    "no number": ({"op": "rollback", "to": 9}, "operation 9"),
    "no snapshot": ({"op": "tag", "name": "t", "at": 0}, "operation 0"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_leaves_the_table_as_it_was(name: str, tmp_path: Path) -> None:
    table, history = base_table({"operations": [CREATE, FIRST]}, str(tmp_path / "t"))
    before = files_below(tmp_path)
    operation, says = REFUSED[name]
    answer = change(table=table, operations=[operation], history=history)
    assert answer["error"]["kind"] == "invalid"
    assert says in answer["error"]["message"]
    assert files_below(tmp_path) == before


@pytest.mark.parametrize(
    ("operation", "args", "place"),
    [
        ("table.change", {"table": "t"}, "/operations is missing"),
        ("table.change", {"operations": []}, "/table is missing"),
        ("table.change", {"table": "t", "operations": {}}, "/operations: expected a list"),
        ("table.change", {"table": 1, "operations": []}, "/table: expected a string"),
        ("table.write", {"table": "t"}, "/script is missing"),
        ("table.write", {"table": "t", "script": []}, "/script: expected an object"),
        ("table.write", {"table": "t", "script": {}}, "/script/operations is missing"),
        ("table.write", {"script": {"operations": [CREATE]}}, "/table is missing"),
        (
            "table.write",
            {"table": "t", "script": {"operations": []}},
            "/script/operations: expected at least the operation create",
        ),
        ("table.write", {"table": "t", "script": {"operations": [CREATE, 7]}}, "/script/operations/1: expected an obj"),
        (
            "table.write",
            {"table": "t", "script": {"operations": [{"op": []}]}},
            "/script/operations/0: expected an obj",
        ),
        ("table.change", {"table": "t", "operations": [{}]}, "/operations/0: expected an object with the string op"),
    ],
)
def test_a_request_without_what_it_needs_is_refused_with_the_place(operation: str, args: Json, place: str) -> None:
    answer = perform(reference.operations(), operation, args, reference.REFUSALS)
    assert answer["error"]["kind"] == "invalid"
    assert answer["error"]["message"].startswith(place)


@pytest.mark.parametrize("content", [None, b"nonsense", b"{}", b"[]"])
def test_a_location_that_is_no_table_is_refused(content: bytes | None, tmp_path: Path) -> None:
    place = tmp_path / "00000-x.metadata.json"
    if content is not None:
        place.write_bytes(content)
    answer = change(table=str(place), operations=[SECOND])
    assert answer["error"]["kind"] == "invalid"
    assert "00000-x.metadata.json" in answer["error"]["message"]
    assert [path.name for path in tmp_path.iterdir()] == ([] if content is None else [place.name])


def test_a_table_that_cannot_be_written_to_is_refused(tmp_path: Path) -> None:
    table, _ = base_table({"operations": [CREATE, FIRST]}, str(tmp_path / "t"))
    metadata = json.loads(Path(table).read_text())
    (tmp_path / "file").write_text("no folder")
    moved = tmp_path / "00000-moved.metadata.json"
    moved.write_text(json.dumps({**metadata, "location": str(tmp_path / "file" / "t")}))
    for operation in (SECOND, {"op": "properties", "set": {"a": "b"}}):
        answer = change(table=str(moved), operations=[operation])
        assert answer["error"]["kind"] == "invalid", answer
        assert str(tmp_path / "file") in answer["error"]["message"]


def test_a_request_has_a_table_and_no_script_that_makes_it() -> None:
    args = {"table": "/t/metadata/x.metadata.json", "operations": [SECOND]}
    request = {"seq": 1, "op": "table.change", "args": args}
    assert message_violation("table.change.request", request) is None
    assert message_violation("table.change.request", {**request, "args": {**args, "history": [None, "1"]}}) is None
    for wrong in (
        {"operations": [SECOND]},
        {**args, "base": {"operations": [CREATE]}},
        {**args, "operations": []},
        {**args, "operations": [CREATE]},
        {**args, "history": [1]},
    ):
        assert message_violation("table.change.request", {**request, "args": wrong}) is not None


@pytest.mark.parametrize("main", [[SECOND], []], ids=["moved", "expired"])
def test_main_is_fast_forwarded_only_to_what_follows_it(main: list[Json], tmp_path: Path) -> None:
    """Main would lose snapshots if it has others, and nothing shows that it has none once those between are expired."""
    branch = [{"op": "branch", "name": "b"}, {**SECOND, "branch": "b"}, {**FIRST, "branch": "b"}]
    before = [CREATE, FIRST, *branch, *(main or [{"op": "expire"}])]
    forward = {"op": "fast-forward", "to": "b"}
    script = {"operations": [*before, forward]}
    found = perform(
        reference.operations(), "table.write", {"table": str(tmp_path / "t"), "script": script}, reference.REFUSALS
    )
    assert found.get("error", {}).get("kind") == "invalid", found
    script["operations"] = [CREATE, FIRST, *branch, forward]
    found = perform(
        reference.operations(), "table.write", {"table": str(tmp_path / "u"), "script": script}, reference.REFUSALS
    )
    assert found.get("ok"), found

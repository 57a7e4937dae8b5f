"""The model derives the contents of a table from the statements alone."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.scripts import Append, Create, Script, ScriptError, UnspecifiedOperation, parse_script, script_json
from conformance.scripts.model import ModelTable, ScriptState, run_model
from conformance.scripts.model_values import comparable_literal

ID = {"id": 1, "name": "id", "required": True, "type": "long"}
P = {"id": 2, "name": "p", "required": False, "type": "string"}
POINT = {
    "id": 2,
    "name": "point",
    "required": False,
    "type": {"type": "struct", "fields": [{"id": 3, "name": "x", "required": False, "type": "int"}]},
}


def eq(name: str, value: Any) -> dict[str, Any]:
    return {"type": "eq", "term": name, "value": value}


def script(*operations: dict[str, Any], version: int = 3, fields: Any = (ID, P), **create: Any) -> dict[str, Any]:
    first = {"op": "create", "format_version": version, "schema": {"type": "struct", "fields": list(fields)}, **create}
    return {"operations": [first, *operations]}


def states(*operations: dict[str, Any], **more: Any) -> tuple[ScriptState, ...]:
    return run_model(script(*operations, **more))


def append(*ids: int, **more: Any) -> dict[str, Any]:
    return {"op": "append", "rows": [{"id": str(id_), "p": chr(96 + id_)} for id_ in ids], **more}


def branch_rows(state: ScriptState, ref: str = "main") -> list[dict[str, Any]]:
    return [row.values for row in state.refs[ref].rows]


def facts(state: ScriptState, ref: str = "main") -> dict[str, tuple[str | None, int, int]]:
    """Rows by id: the value of p, who the row is, and what changed it last."""
    return {row.values["id"]: (row.values["p"], row.identity, row.updated) for row in state.refs[ref].rows}


def test_rows_of_each_step() -> None:
    found = states(append(1, 2), {"op": "delete", "filter": eq("id", 1)}, append(3))
    assert [sorted(row["id"] for row in branch_rows(state)) for state in found] == [[], ["1", "2"], ["2"], ["2", "3"]]
    assert [state.changed for state in found] == [False, True, True, True]


def test_an_update_keeps_rows_and_an_upsert_makes_new_ones() -> None:
    found = states(
        append(1, 2),
        {"op": "update", "filter": eq("id", 1), "set": {"p": None}},
        {"op": "upsert", "on": ["id"], "rows": [{"id": "2", "p": "z"}]},
    )
    assert facts(found[2]) == {"1": (None, 0, 2), "2": ("b", 1, 1)}
    assert facts(found[3]) == {"1": (None, 0, 2), "2": ("z", 2, 3)}


def test_a_merge_updates_what_it_finds_and_adds_the_rest() -> None:
    merge = {"op": "merge", "on": ["id"], "rows": [{"id": "2", "p": "z"}, {"id": "3"}]}
    assert facts(states(append(1, 2), merge)[-1]) == {"1": ("a", 0, 1), "2": ("z", 1, 2), "3": (None, 2, 2)}


def test_null_keys_match_in_upserts_and_not_in_merges() -> None:
    fields = ({**ID, "required": False}, P)
    rows = {"op": "append", "rows": [{"p": "old"}]}
    given = {"on": ["id"], "rows": [{"id": None, "p": "new"}]}
    merged, upserted = (states(rows, {"op": op, **given}, fields=fields)[-1] for op in ("merge", "upsert"))
    assert sorted(row["p"] for row in branch_rows(merged)) == ["new", "old"]
    assert [row["p"] for row in branch_rows(upserted)] == ["new"]


def test_two_rows_of_a_merge_for_one_row_make_no_sense() -> None:
    with pytest.raises(ScriptError, match="/operations/2: merge: two rows"):
        states(append(1), {"op": "merge", "on": ["id"], "rows": [{"id": "1"}, {"id": "1"}]})


def test_equality_deletes_take_null_for_equal_to_null() -> None:
    rows = {"op": "append", "rows": [{"id": "1"}, {"id": "2", "p": "b"}]}
    assert list(facts(states(rows, {"op": "delete-equal", "rows": [{"p": None}]})[-1])) == ["2"]


def test_predicates_have_two_values() -> None:
    rows = {"op": "append", "rows": [{"id": "1"}, {"id": "2", "p": "b"}]}
    assert list(facts(states(rows, {"op": "delete", "filter": {"type": "not", "child": eq("p", "x")}})[-1])) == []


def test_compaction_keeps_who_rows_are() -> None:
    found = states(append(1, 2), {"op": "update", "filter": True, "set": {"p": "x"}}, {"op": "compact"})
    assert facts(found[3]) == facts(found[2])
    assert not found[3].changed


def test_a_column_that_comes_again_has_no_old_values() -> None:
    again = {"op": "add", "name": "p", "type": "string"}
    found = states(append(1), {"op": "alter-schema", "changes": [{"op": "drop", "name": "p"}, again]})
    assert branch_rows(found[-1]) == [{"id": "1", "p": None}]


def test_old_rows_have_the_initial_default_and_new_ones_the_write_default() -> None:
    add = {"op": "add", "name": "n", "type": "long", "default": 5}
    change = {"op": "default", "name": "n", "default": 6}
    found = states(append(1), {"op": "alter-schema", "changes": [add, change]}, append(2))
    assert {row["id"]: row["n"] for row in branch_rows(found[-1])} == {"1": "5", "2": "6"}


def test_structs_are_by_name_and_follow_renames() -> None:
    rows = {"op": "append", "rows": [{"id": "1", "point": {"x": 4}}]}
    changes = [
        {"op": "rename", "name": "point.x", "to": "y"},
        {"op": "add", "parent": "point", "name": "x", "type": "string"},
    ]
    found = states(rows, {"op": "alter-schema", "changes": changes}, fields=(ID, POINT))
    assert branch_rows(found[-1]) == [{"id": "1", "point": {"y": 4, "x": None}}]


def test_dates_become_timestamps() -> None:
    fields = (ID, {**P, "type": "date"})
    rows = {"op": "append", "rows": [{"id": "1", "p": "1969-12-31"}]}
    promote = {"op": "alter-schema", "changes": [{"op": "promote", "name": "p", "type": "timestamp"}]}
    assert branch_rows(states(rows, promote, fields=fields)[-1])[0]["p"].startswith("1969-12-31T00:00:00")


@pytest.mark.parametrize("given", [{"rows": "1600-02-29"}, {"default": "1600-02-29"}, {"default": "2300-01-01"}])
def test_dates_that_do_not_fit_nanoseconds_are_not_promoted_to_them(given: dict[str, str]) -> None:
    default = {"default": given["default"]} if "default" in given else {}
    add: dict[str, Any] = {"op": "add", "name": "d", "type": "date", **default}
    promote = {"op": "promote", "name": "d", "type": "timestamp_ns"}
    row = {"id": "1", "p": "a", "d": given.get("rows", "1970-01-01")}
    rows = {"op": "append", "rows": [row]}
    with pytest.raises(ScriptError, match=r"^/operations/3: .*d holds a date that does not fit timestamp_ns"):
        states({"op": "alter-schema", "changes": [add]}, rows, {"op": "alter-schema", "changes": [promote]})
    add["default"], row["d"] = "2262-04-11", "1677-09-22"
    states({"op": "alter-schema", "changes": [add]}, rows, {"op": "alter-schema", "changes": [promote]})


def test_branches_and_tags() -> None:
    found = states(
        append(1),
        {"op": "tag", "name": "t"},
        {"op": "branch", "name": "b"},
        append(2, branch="b"),
        {"op": "alter-schema", "changes": [{"op": "rename", "name": "p", "to": "q"}]},
        {"op": "fast-forward", "to": "b"},
        {"op": "rollback", "to": 1},
    )
    assert sorted(row["id"] for row in branch_rows(found[4], "b")) == ["1", "2"]
    assert [row["id"] for row in branch_rows(found[4])] == ["1"]
    assert sorted(row["id"] for row in branch_rows(found[6])) == ["1", "2"]
    columns = [list(branch_rows(found[7], ref)[0]) for ref in ("main", "b", "t")]
    assert columns == [["id", "q"], ["id", "q"], ["id", "p"]]
    assert [row["id"] for row in branch_rows(found[7])] == ["1"]


def test_main_is_fast_forwarded_after_it_was_rolled_back_to_where_a_branch_begins() -> None:
    branch, ahead = {"op": "branch", "name": "b"}, [append(2, branch="b"), append(3, branch="b")]
    found = states(append(1), branch, *ahead, append(4), {"op": "rollback", "to": 1}, {"op": "fast-forward", "to": "b"})
    assert sorted(row["id"] for row in branch_rows(found[-1])) == ["1", "2", "3"]
    early = [append(1), append(4), {**branch, "at": 1}, *ahead, {"op": "rollback", "to": 1}]
    assert len(branch_rows(states(*early, {"op": "fast-forward", "to": "b"})[-1])) == 3


def test_a_branch_whose_snapshots_may_be_expired_may_be_unreachable() -> None:
    begun = [append(1), {"op": "branch", "name": "b"}, append(2, branch="b"), append(3, branch="b"), {"op": "expire"}]
    table = ModelTable()
    for index, operation in enumerate(script(*begun)["operations"]):
        table = table.after(index, operation)
    with pytest.raises(UnspecifiedOperation) as open_:
        table.after(len(begun) + 1, {"op": "fast-forward", "to": "b"})
    assert open_.value.after is not None
    assert len(branch_rows(open_.value.after.state())) == 3


@pytest.mark.wording
@pytest.mark.parametrize(
    ("operations", "said"),
    [
        ([{"op": "append", "rows": [{"p": "a"}]}], "null in the required column id"),
        ([{"op": "append", "rows": [{"id": "1", "q": "a"}]}], "the table does not have the column 'q'; it has id, p"),
        ([{"op": "append", "rows": [{"id": "x"}]}], "not a long"),
        ([append(1), {"op": "update", "filter": True, "set": {"id": None}}], "null in the required column id"),
        ([append(1, branch="b")], "no branch 'b'"),
        ([{"op": "tag", "name": "t"}], "main has no snapshot"),
        ([append(1), {"op": "tag", "name": "main"}], "the reference 'main' already"),
        ([append(1), append(2), {"op": "expire"}, {"op": "rollback", "to": 1}], "operation 1 is not known"),
        ([append(1), {"op": "branch", "name": "b"}, append(2), {"op": "fast-forward", "to": "b"}], "main is not where"),
        (
            [
                append(1),
                *({"op": "branch", "name": name} for name in "bc"),
                *(append(2, branch=name) for name in "bc"),
                *({"op": "fast-forward", "to": name} for name in "bc"),
            ],
            "main is not where the branch 'c' begins",
        ),
        ([{"op": "upgrade", "format_version": 2}], "has version 3 already"),
        ([{"op": "alter-schema", "changes": [{"op": "drop", "name": "z"}]}], "z"),
        (
            [{"op": "alter-spec", "changes": [{"op": "remove", "name": "z"}]}],
            "the partition spec does not have the field 'z'",
        ),
        ([{"op": "delete", "filter": eq("z", 1)}], "the table does not have the column 'z'"),
    ],
)
def test_operations_that_make_no_sense_are_named(operations: list[Any], said: str) -> None:
    with pytest.raises(ScriptError, match=f"^/operations/{len(operations)}: .*{said}"):
        states(*operations)


@pytest.mark.parametrize(
    ("type_", "literal"), [("boolean", "x"), ("boolean", 1), ("int", "x"), ("string", 1), ("date", "")]
)
def test_literals_of_other_types_are_named(type_: str, literal: Any) -> None:
    with pytest.raises(ScriptError, match=f"is not a {type_}"):
        comparable_literal(type_, literal)


def test_a_tag_is_not_made_where_its_schema_is_open() -> None:
    rename = {"op": "alter-schema", "changes": [{"op": "rename", "name": "p", "to": "q"}]}
    nothing = {"op": "delete", "filter": False}
    with pytest.raises(ScriptError, match="is left open"):
        states(append(1), rename, nothing, {"op": "tag", "name": "t"})
    more = {"op": "append", "rows": [{"id": "2", "q": "b"}]}
    back = [append(1), rename, nothing, more, {"op": "rollback", "to": 3}, {"op": "tag", "name": "t"}]
    with pytest.raises(ScriptError, match="the schema of the tag is left open"):
        states(*back)
    on_branch = [append(1), {"op": "branch", "name": "b"}, rename, {**nothing, "branch": "b"}]
    forward = [{"op": "fast-forward", "to": "b"}, {"op": "tag", "name": "t"}]
    with pytest.raises(ScriptError, match="the schema of the tag is left open"):
        states(*on_branch, *forward)
    assert states(*on_branch, {**more, "branch": "b"}, *forward)[-1].refs["t"].fields[1]["name"] == "q"
    from_open = [append(1), rename, nothing, {"op": "branch", "name": "b"}, *forward]
    with pytest.raises(ScriptError, match="the schema of the tag is left open"):
        states(*from_open)
    assert states(append(1), nothing, rename, {"op": "tag", "name": "t"})[-1].refs["t"].fields[1]["name"] == "p"


def test_versions_without_delete_files_have_no_equality_deletes() -> None:
    with pytest.raises(ScriptError, match=r"^/operations/1: delete-equal: "):
        states({"op": "delete-equal", "rows": [{"id": "1"}]}, version=1)


@pytest.mark.parametrize(
    ("json", "said"),
    [
        ([], "an object"),
        ({"operations": []}, "/operations"),
        ({"operations": [{"op": "append", "rows": []}]}, "/operations/0/op: create must be the first"),
        (script({"op": "drop"}), "/operations/1/op: unknown operation 'drop'"),
        (script({"op": "append"}), "/operations/1: .*rows"),
        (script({"op": "append", "rows": [1]}), "/operations/1/rows/0"),
        (script({"op": "delete", "filter": True, "mode": "x"}), "/operations/1/mode"),
        (script(version=4), "/operations/0/format_version"),
        (
            script({"op": "alter-schema", "changes": [{"op": "delete", "name": "id"}]}),
            "/operations/1/changes/0/op: 'delete' is not one of add, default, drop, ",
        ),
        (
            script({"op": "alter-schema", "changes": [{"op": "rename", "name": "id", "new_name": "x"}]}),
            '/operations/1/changes/0: "to" is a required property',
        ),
    ],
)
def test_what_is_no_script_is_reported_with_its_place(json: Any, said: str) -> None:
    with pytest.raises(ScriptError, match=said):
        parse_script(json)


def test_scripts_become_the_json_that_they_were() -> None:
    json = script(
        append(1),
        append(2, branch="b"),
        {"op": "merge", "on": ["id"], "rows": [{"id": "1"}], "mode": "merge-on-read"},
        {
            "op": "sort",
            "fields": [{"source": "id", "transform": "bucket[4]", "direction": "desc", "null_order": "nulls-last"}],
        },
        {"op": "branch", "name": "b", "at": 1},
        {"op": "properties", "set": {"a": "b"}, "remove": ["c"]},
        partition=[{"source": "p", "transform": "identity", "name": "p"}],
        properties={"k": "v"},
    )
    assert script_json(parse_script(json)) == json


def test_records_make_scripts() -> None:
    schema = {"type": "struct", "fields": [ID]}
    made = Script((Create(format_version=2, schema=schema), Append(rows=({"id": "1"},))))
    assert script_json(made)["operations"][1] == {"op": "append", "rows": [{"id": "1"}]}
    assert branch_rows(run_model(script_json(made))[-1]) == [{"id": "1"}]

"""The metamorphic properties hold for the reference, and each fails for a writer that is wrong in one way."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from planted import adapter

from conformance.adapter_sdk.serve import Arguments
from conformance.cli import main
from conformance.properties.errors import NotSupported
from conformance.properties.harness import Harness
from conformance.properties.metamorphic import MetamorphicResults, check, property_scripts, replay_script
from conformance.properties.metamorphic_properties import PROPERTIES
from conformance.properties.searching import search
from conformance.scripts.model import run_model
from spec_ref.core.json_types import Json
from tools.mutants.seeded_examples import make_property_script

Operation = Callable[[Arguments], Any]
Wrong = Callable[[Arguments, Operation], Any]
SOME = {"type": "lt", "term": "id", "value": 4}


@pytest.fixture(autouse=True)
def _without_a_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is written need not last here, and waiting for disks is most of the time that it takes."""
    monkeypatch.setattr("os.fsync", lambda _descriptor: None)


def _check(name: str, wrong: Wrong | None, keep: Path, examples: int, exclude: str = "") -> MetamorphicResults:
    writer = adapter("writer", table_write=wrong) if wrong else adapter("writer")
    return check(writer, adapter("reader"), [PROPERTIES[name]], 0, examples, frozenset(exclude.split()), keep=keep)


@pytest.mark.parametrize("name", PROPERTIES)
def test_the_properties_hold_for_the_reference(name: str, tmp_path: Path) -> None:
    found = _check(name, None, tmp_path, 8, "orc variant rewrite-manifests")
    assert found.counterexamples == ()
    assert found.passed > 0


def _changed(change: Callable[[Json], list[Json]]) -> Wrong:
    """A writer that understands other operations than it is given."""

    def wrong(args: Arguments, right: Operation) -> Any:
        operations = [new for one in args["script"]["operations"] for new in change(one)]
        return right({**args, "script": {"operations": operations}})

    return wrong


def _and_deletes(*names: str) -> Wrong:
    delete = {"op": "delete", "filter": SOME, "mode": "copy-on-write"}
    return _changed(lambda one: [one, delete] if one["op"] in names else [one])


def _drops_what_comes_late(args: Arguments, right: Operation) -> Any:
    kept: list[Json] = []
    highest = -1
    for one in args["script"]["operations"]:
        number = int(one["rows"][0]["id"] or 0) if one["op"] == "append" else highest + 1
        if one["op"] != "append" or number >= highest:
            kept.append(one)
            highest = max(highest, number if one["op"] == "append" else highest)
    return right({**args, "script": {"operations": kept}})


def _less_as_less_or_equal(one: Json) -> list[Json]:
    if one["op"] == "delete" and one["filter"].get("type") == "lt":
        return [{**one, "filter": {**one["filter"], "type": "lt-eq"}}]
    return [one]


def _null_equals_nothing(one: Json) -> list[Json]:
    if one["op"] == "delete-equal":
        rows = [row for row in one["rows"] if None not in row.values()]
        return [{**one, "rows": rows}] if rows else []
    return [one]


def _overwrite_keeps(one: Json) -> list[Json]:
    if one["op"] != "overwrite":
        return [one]
    return [{"op": "append", "rows": one["rows"], **({"branch": one["branch"]} if "branch" in one else {})}]


def _mixes_snapshots_up(args: Arguments, right: Operation) -> Any:
    answer = right(args)
    given = [one for one in answer["snapshots"] if one is not None]
    return {**answer, "snapshots": [None if one is None else given[0] for one in answer["snapshots"]]}


def _compacts_by_overwriting(args: Arguments, right: Operation) -> Any:
    made: list[Json] = []
    for one in args["script"]["operations"]:
        if one["op"] == "compact" and "branch" not in one:
            state = run_model({"operations": made})[-1]
            rows = [row.values for row in state.refs["main"].rows] if "main" in state.refs else []
            made.append({"op": "overwrite", "filter": True, "rows": rows})
        else:
            made.append(one)
    return right({**args, "script": {"operations": made}})


def _forgets_to_count(args: Arguments, right: Operation) -> Any:
    answer = right(args)
    path = Path(answer["metadata"].removeprefix("file://"))
    document = json.loads(path.read_text(encoding="utf-8"))
    if document["format-version"] > 1 and document.get("last-sequence-number"):
        document["last-sequence-number"] -= 1
    path.write_text(json.dumps(document), encoding="utf-8")
    return answer


FAULTS = [
    ("compaction-changes-nothing", "", _and_deletes("compact", "rewrite-manifests")),
    ("layout-changes-nothing", "", _and_deletes("alter-spec", "sort")),
    ("upgrade-changes-nothing", "", _and_deletes("upgrade")),
    ("appends-commute", "", _drops_what_comes_late),
    ("delete-is-difference", "delete-equal", _changed(_less_as_less_or_equal)),
    ("delete-is-difference", "delete nested float double", _changed(_null_equals_nothing)),
    ("overwrite-is-delete-and-append", "", _changed(_overwrite_keeps)),
    ("time-travel-is-replay", "", _mixes_snapshots_up),
    ("rows-keep-their-ids", "", _compacts_by_overwriting),
    ("tables-are-valid", "", _forgets_to_count),
]


@pytest.mark.parametrize(("name", "exclude", "wrong"), FAULTS)
def test_each_law_is_broken_by_a_wrong_writer_and_the_script_is_small(
    name: str, exclude: str, wrong: Wrong, tmp_path: Path
) -> None:
    (counterexample,) = _check(name, wrong, tmp_path, 150, exclude).counterexamples
    operations = counterexample.script["operations"]
    assert PROPERTIES[name].fits(operations)
    assert len(operations) <= 4
    assert len(operations[0]["schema"]["fields"]) <= 2
    assert sum(len(one.get("rows", ())) for one in operations) <= 3
    text = "\n".join(counterexample.lines("planted"))
    assert counterexample.reason in text
    assert str(counterexample.file) in text
    prop, script, reason = replay_script(counterexample.file, adapter("writer", table_write=wrong), adapter("reader"))
    assert (prop.name, script) == (name, counterexample.script)
    assert reason
    assert replay_script(counterexample.file, adapter("writer"), adapter("reader"))[2] == ""


def test_row_lineage_is_not_read_beside_a_column_of_its_name(tmp_path: Path) -> None:
    column = {"id": 1, "name": "_row_id", "required": False, "type": "long"}
    schema = {"type": "struct", "fields": [column]}
    create = {"op": "create", "format_version": 3, "schema": schema}
    reference = adapter()
    harness = Harness(reference, reference, tmp_path)
    table = harness.write([create, {"op": "append", "rows": [{"_row_id": "7"}]}])
    assert harness.read(table).rows == ({"_row_id": "7"},)
    with pytest.raises(NotSupported, match="_row_id is a column"):
        harness.read(table, lineage=True)


def test_every_property_has_a_fault_that_breaks_it() -> None:
    assert {name for name, _, _ in FAULTS} == set(PROPERTIES)


@pytest.mark.parametrize("name", PROPERTIES)
def test_properties_find_scripts_that_fit(name: str) -> None:
    made: list[Json | None] = []
    search(partial(property_scripts, PROPERTIES[name], frozenset()), made.append, seed=0, examples=30)
    found = [script for script in made if script is not None]
    assert found
    assert all(PROPERTIES[name].fits(script["operations"]) for script in found)


def test_a_property_of_a_version_that_is_excluded_is_not_tried(tmp_path: Path) -> None:
    found = _check("rows-keep-their-ids", _forgets_to_count, tmp_path, 3, "v3")
    assert (found.passed, found.unsupported, found.counterexamples) == (0, 0, ())


def test_the_command_shows_a_counterexample_and_replays_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    faulty = f"{sys.executable} {Path(__file__).parent / 'faulty_writer.py'}"
    asked = ["metamorphic", "--adapter", faulty, "--property", "appends-commute", "--seed", "0", "--examples", "20"]
    assert main([*asked, "--keep", str(tmp_path)]) == 1
    output = capsys.readouterr().out
    assert "does not hold: " in output
    (file,) = tmp_path.glob("*/counterexample.json")
    assert str(file) in output
    assert main(["metamorphic", "--adapter", faulty, "--replay", str(file)]) == 1
    assert main(["metamorphic", "--replay", str(file)]) == 0


def test_the_command_ends_well_when_the_properties_hold(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["metamorphic", "--property", "appends-commute", "--seed", "1", "--examples", "3"]) == 0
    assert "3 scripts passed" in capsys.readouterr().err


def test_the_old_names_of_the_command_and_its_options_still_work(capsys: pytest.CaptureFixture[str]) -> None:
    old = ["laws", "--law=appends-commute", "--seed", "1", "--examples", "1", "--most", "2", "--avoid", "orc"]
    assert main([*old, "--format", "json"]) == 0
    shown = capsys.readouterr()
    for text in ("laws is deprecated; use metamorphic", "--law of metamorphic is deprecated; use --property"):
        assert text in shown.err
    content = json.loads(shown.out)
    assert content["properties"] == content["laws"] == ["appends-commute"]


def test_files_of_counterexamples_with_the_old_key_are_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = make_property_script(PROPERTIES["appends-commute"], 1)
    for key in ("law", "property"):
        file = tmp_path / f"{key}.json"
        file.write_text(json.dumps({key: "appends-commute", "script": script}), encoding="utf-8")
        assert main(["metamorphic", "--replay", str(file), "--format", "json"]) == 0
        replayed = json.loads(capsys.readouterr().out)
        assert replayed == {"property": "appends-commute", "law": "appends-commute", "held": True, "reason": ""}


@pytest.mark.parametrize(
    "wrong",
    [
        ["--property", "monday"],
        ["--exclude", "monday"],
        ["--examples", "0"],
        [f"--exclude=v{number}" for number in (1, 2, 3)],
        ["--replay", "/no/such/file"],
    ],
)
def test_the_command_refuses_what_makes_no_sense(wrong: list[str]) -> None:
    assert main(["metamorphic", *wrong]) == 2


def test_a_file_that_is_not_a_counterexample_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "counterexample.json"
    for text in (
        "{",
        "{}",
        "[]",
        '{"property": [], "script": {}}',
        '{"property": "appends-commute", "script": {"operations": []}}',
    ):
        file.write_text(text, encoding="utf-8")
        assert main(["metamorphic", "--replay", str(file)]) == 2

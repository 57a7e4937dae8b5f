"""Relays: what fails is named with its engine, made small, and leaves a table that can be gone on with."""

from __future__ import annotations

import json
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest
from attrs import evolve

from conformance.adapter_sdk.serve import Invalid, Unsupported
from conformance.core.failures import UsageError
from conformance.engines.reference import adapter as reference
from conformance.operations.comparison import ABSENT, Difference
from conformance.properties import relay_known
from conformance.properties.errors import Broken
from conformance.properties.relay import RelayEngine, Relays, run_relays
from conformance.properties.relay_known import KnownRelay, load_known
from conformance.properties.relay_results import Handover, RelayResults, Step, count_handovers, read_relay, save_relay
from conformance.properties.relay_table import SharedTable, Version
from conformance.properties.script_maker import Size
from conformance.reports.relay_page import render
from conformance.runner.adapter_interface import InProcess
from conformance.runner.process import AdapterLimits, Process
from conformance.table_io.writing.metrics import MetricsCollector
from spec_ref.core.errors import Violation
from spec_ref.core.json_types import Json

Change = Callable[[dict[str, Any]], object]

FIELDS = [{"id": 1, "name": "id", "required": False, "type": "long"}]
CREATE = {"op": "create", "format_version": 2, "schema": {"type": "struct", "fields": FIELDS}}
APPEND = {"op": "append", "rows": [{"id": "1"}, {"id": "2"}]}
EXCLUDED = frozenset({"v1", "orc", "avro", "variant", "geometry", "geography"})


def engine(name: str, wrong: Callable[[dict[str, Any], Change], object] | None = None) -> RelayEngine:
    """The reference under a name, with other answers to changes of tables."""
    right = reference.operations()
    change = right["table.change"]
    operations = {**right, "table.change": change if wrong is None else lambda args: wrong(args, change)}
    adapter = InProcess(name, {**reference.implementation(), "implementation": name}, operations, reference.REFUSALS)
    return RelayEngine(name, adapter, adapter.start())


def relays(*engines: RelayEngine, known: tuple[KnownRelay, ...] = ()) -> Relays:
    return Relays({one.name: one for one in engines}, known)


def without_last_row(args: dict[str, Any], right: Change) -> object:
    def changed(operation: Json) -> Json:
        return {**operation, "rows": operation["rows"][:-1]} if operation["op"] == "append" else operation

    return right({**args, "operations": [changed(one) for one in args["operations"]]})


def refusing(args: dict[str, Any], right: Change) -> object:
    if args["operations"][0]["op"] == "append":
        raise Invalid("it does not like that")
    return right(args)


def run(found: Relays, keep: Path, examples: int = 2, seed: int = 1) -> RelayResults:
    return run_relays(found, seed, examples, EXCLUDED, size=Size(columns=2, operations=6), keep=keep)


def test_engines_that_are_right_pass_tables_on(tmp_path: Path) -> None:
    found = run(relays(engine("a"), engine("b")), tmp_path)
    assert found.counterexamples == ()
    assert found.scripts == 2
    counts = count_handovers(found.handovers, ["a", "b"])
    assert all(counts[pair]["done"] for pair in (("a", "b"), ("b", "a")))
    assert {one.outcome for one in found.handovers} == {"done"}


def test_the_engine_that_breaks_the_table_is_named_with_the_fewest_steps(tmp_path: Path) -> None:
    found = run(relays(engine("right"), engine("wrong", without_last_row), engine("other")), tmp_path, 9)
    one = found.counterexamples[0]
    assert {(one.failure.engine, one.failure.operation) for one in found.counterexamples} == {("wrong", "append")}
    assert one.failure.kind == "differs: rows"
    assert [step.operation["op"] for step in one.steps] == ["create", "append"]
    assert len(one.steps[-1].operation["rows"]) == 1
    assert one.file is not None
    assert "wrong: append, step 1" in "\n".join(one.lines())


def test_a_relay_is_replayed_from_its_file(tmp_path: Path) -> None:
    found = relays(engine("right"), engine("wrong", without_last_row))
    steps = (Step(CREATE, "right"), Step(APPEND, "wrong"))
    failure = found.replay(steps)
    assert failure is not None
    file = save_relay(steps, failure, tmp_path)
    assert read_relay(file, found.engines) == steps
    assert found.replay(read_relay(file, found.engines)) == failure
    assert found.replay((Step(CREATE, "right"), Step(APPEND, "right"))) is None
    assert found.handovers == []


def test_what_an_engine_refuses_goes_to_another_where_it_is_known(tmp_path: Path) -> None:
    known = KnownRelay(
        id="shy-refuses-appends",
        engine="shy",
        fails="refused",
        says="does not like",
        requirements=("SNP010",),
        does="refuses appends",
        reason="any",
        evidence="any",
    )
    found = run(relays(engine("right"), engine("shy", refusing), known=(known,)), tmp_path)
    assert found.counterexamples == ()
    assert found.known["shy-refuses-appends"] > 0
    assert {one.engine for one in found.handovers if one.operation == "append" and one.outcome == "done"} >= {"right"}
    unknown = run(relays(engine("right"), engine("shy", refusing)), tmp_path)
    assert [one.failure.kind for one in unknown.counterexamples] == ["refused"]
    assert [step.operation["op"] for step in unknown.counterexamples[0].steps] == ["create", "append"]


def refusing_by_count(args: dict[str, Any], right: Change) -> object:
    operation = args["operations"][0]
    if operation["op"] == "append":
        raise Invalid("it does not like one row" if len(operation["rows"]) == 1 else "it does not like some rows")
    return right(args)


def test_what_an_engine_does_alone_is_known_in_a_relay_and_nothing_shrinks_to_it() -> None:
    """An entry of scenarios says with which word an engine refuses."""
    known = KnownRelay(
        id="shy-refuses-one-row",
        engine="shy",
        fails="refused: invalid",
        says="one row",
        requirements=("SNP010",),
        does="refuses appends of one row",
        reason="any",
        evidence="any",
    )
    found = relays(engine("shy", refusing_by_count), known=(known,))
    one, two = ({**APPEND, "rows": APPEND["rows"][:count]} for count in (1, 2))
    steps = (Step(CREATE, "shy"), Step(one, "shy"))
    failure = found.replay(steps)
    assert failure is not None
    assert found.known_deviation(failure) == "shy-refuses-one-row"
    steps = (Step(CREATE, "shy"), Step(two, "shy"))
    failure = found.replay(steps)
    assert failure is not None
    assert found.known_deviation(failure) == ""
    shrunk, failure = found.shrink(steps, failure)
    assert len(shrunk[-1].operation["rows"]) != 1
    assert found.known_deviation(failure) == ""
    everything = relays(engine("shy", refusing_by_count)).shrink(steps, failure)[0]
    assert len(everything[-1].operation["rows"]) == 1


def test_all_parts_of_what_is_said_have_to_be_there(tmp_path: Path) -> None:
    entry = "id = 'shy-a'\nengine = 'shy'\nfails = 'refused'\nrequirements = []\n"
    entry += "does = 'a'\nreason = 'a'\nevidence = 'a'\n"
    (tmp_path / "known.toml").write_text(f"[[relay]]\n{entry}says = ['null', 'less']\n")
    (known,) = load_known(tmp_path / "known.toml")
    assert known.matches("refused", ["append"], "null is not less")
    assert not known.matches("refused", ["append"], "less")
    (tmp_path / "known.toml").write_text(f"[[relay]]\n{entry}asks = ['bucket', '\"id\"']\n")
    (known,) = load_known(tmp_path / "known.toml")
    assert known.matches("refused", ["create"], "any", operation_text='{"source": "id", "transform": "bucket[2]"}')
    assert not known.matches("refused", ["create"], "any", operation_text='{"source": "a", "transform": "bucket[2]"}')
    (tmp_path / "known.toml").write_text(f"[[relay]]\n{entry}features = ['orc', 'uuid']\n")
    (known,) = load_known(tmp_path / "known.toml")
    assert known.matches("refused", ["create"], "any", features={"orc", "uuid", "long"})
    assert not known.matches("refused", ["create"], "any", features={"orc", "long"})
    (tmp_path / "known.toml").write_text(f"[[relay]]\n{entry}says = ['null', '']\n")
    with pytest.raises(UsageError, match="/says: not a string"):
        load_known(tmp_path / "known.toml")


def test_a_finding_is_known_by_the_ends_of_what_was_found(tmp_path: Path) -> None:
    entry = "id = 'shy-a'\nengine = 'shy'\nfails = 'finding: DFL021'\nrequirements = []\n"
    entry += "does = 'a'\nreason = 'a'\nevidence = 'a'\ncheck = 'data-file-sort-order-id-unsorted'\n"
    (tmp_path / "known.toml").write_text(f"[[relay]]\n{entry}found = ['0.0 after 1.0', '2.0 after 3.0']\n")
    (known,) = load_known(tmp_path / "known.toml")

    def happened(found: str) -> bool:
        unsorted = Violation(requirement="DFL021", message="any", found=found, aspect="unsorted")
        return known.matches("finding: DFL021", ["append"], "any", [unsorted])

    assert [happened(f"row 1: {end}") for end in ("0.0 after 1.0", "2.0 after 3.0", "1.0 after 3.0")] == [
        True,
        True,
        False,
    ]


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        ("rows = 'missing'", True),
        ("rows = 'unexpected'", False),
        ("values = 'null'", True),
        ("values = ['null', '5']", False),
        ('filter = \'"type": "lt"\'', True),
        ("filter = ['lt', 'c2']", False),
        ("rows = 'missing'\nvalues = 'null'\nfilter = 'lt'", True),
        ("rows = 'missing'\nvalues = '5'\nfilter = 'lt'", False),
    ],
)
def test_a_difference_is_known_by_its_rows_values_and_filter(members: str, tmp_path: Path, *, expected: bool) -> None:
    entry = "id = 'shy-a'\nengine = 'shy'\nfails = 'differs: filter'\nrequirements = []\n"
    entry += "does = 'a'\nreason = 'a'\nevidence = 'a'\n"
    (tmp_path / "known.toml").write_text(f"[[relay]]\n{entry}{members}\n")
    (known,) = load_known(tmp_path / "known.toml")
    lost = [Difference("/rows", '{"id": null}', ABSENT)]
    predicate = {"type": "lt", "term": "id", "value": 1}
    assert known.matches("differs: filter", [], "any", differences=lost, predicate=predicate) is expected


@pytest.mark.parametrize(
    ("fails", "member"),
    [
        ("differs: rows", "says = 'got nothing'"),
        ("read with a filter", "says = 'got nothing'"),
        ("finding: DFL021", "says = 'the rows are not sorted'"),
        ("form of the answer", "says = 'columns'"),
        ("refused", "rows = 'missing'"),
        ("refused", "check = 'data-file-sort-order-id-unsorted'"),
        ("differs: rows", "rows = 'gone'"),
    ],
)
def test_entries_do_not_depend_on_messages_of_this_tool(
    fails: str, member: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = f"id = 'shy-a'\nengine = 'shy'\nfails = '{fails}'\nrequirements = []\n"
    entry += "does = 'a'\nreason = 'a'\nevidence = 'a'\n"
    (tmp_path / "known.toml").write_text(f"[[relay]]\n{entry}{member}\n")
    content = tomllib.loads((tmp_path / "known.toml").read_text())
    monkeypatch.setattr(relay_known, "shipped_entries", lambda _: [(tmp_path / "known.toml", content)])
    with pytest.raises(UsageError, match=f"/{member.partition(' ')[0]}: "):
        load_known()


@pytest.mark.parametrize(
    ("losing", "origin"), [([], None), ([2], "engine 2"), ([1, 2], "engine 1"), ([0], None), ([0, 2], "engine 2")]
)
def test_rows_that_a_filter_loses_are_the_fault_of_the_engine_since_which_it_does(
    losing: list[int], origin: str | None, tmp_path: Path
) -> None:
    class Checks:
        def __init__(self, number: int) -> None:
            self.number = number

        def filter_fault(self, name: str, predicate: object, _model: object) -> Broken | None:
            assert (name, predicate) == ("main", {"type": "is-null", "term": "c2"})
            return Broken("differs: filter", "any") if self.number in losing else None

    table = SharedTable(tmp_path)
    table.versions = [
        Version(f"engine {number}", "append", table.model, cast(Any, Checks(number))) for number in range(3)
    ]
    broken = Broken("differs: filter", "any", filtered=("main", {"type": "is-null", "term": "c2"}))
    found = table.origin(broken)
    assert (None if found is None else found.engine) == origin
    assert table.origin(Broken("differs: rows", "any")) is None


def test_a_wrong_count_by_which_another_engine_deletes_a_file_is_the_fault_of_its_writer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The count of nulls of a field of null structs, which no check compares in ORC."""
    collected = MetricsCollector.metrics

    def counting_no_nulls(args: dict[str, Any], right: Change) -> object:
        def metrics(collector: MetricsCollector) -> Any:
            made = collected(collector)
            return evolve(made, null_value_counts={**made.null_value_counts, 3: 0})

        with monkeypatch.context() as patched:
            patched.setattr(MetricsCollector, "metrics", metrics)
            return right(args)

    struct = {"type": "struct", "fields": [{"id": 3, "name": "x", "required": False, "type": "int"}]}
    fields = [*FIELDS, {"id": 2, "name": "c", "required": False, "type": struct}]
    schema = {"type": "struct", "fields": fields}
    create = {**CREATE, "schema": schema, "properties": {"write.format.default": "orc"}}
    found = relays(engine("right"), engine("miscounting", counting_no_nulls))
    steps = [Step(create, "right"), Step({"op": "append", "rows": [{"id": "1", "c": None}]}, "miscounting")]
    for predicate in ({"type": "not-null", "term": "c.x"}, {"type": "is-null", "term": "c.x"}):
        failure = found.replay([*steps, Step({"op": "delete", "filter": predicate}, "right")])
        assert failure is not None
        assert (failure.kind, failure.engine, failure.operation) == ("differs: filter", "miscounting", "append")
        assert [one.got for one in failure.differences] == [ABSENT]


@pytest.mark.parametrize("name", ["main", "a branch that was made later"])
def test_rows_that_main_lost_are_looked_for_where_a_branch_does_not_exist_yet(name: str, tmp_path: Path) -> None:
    table = SharedTable(tmp_path / "t")
    found = relays(engine("right"))
    for operation in (CREATE, APPEND):
        assert found.attempt(table, operation, found.engines["right"]) is None
    with_a_row_that_is_not_there = table.model.after(len(table.operations), APPEND)
    predicate = {"type": "not-null", "term": "id"}
    assert table.checks.filter_fault(name, predicate, with_a_row_that_is_not_there) is not None
    assert table.checks.filter_fault(name, predicate, table.model) is None


def test_a_refusal_that_changes_the_table_is_another_failure() -> None:
    def harmful(args: dict[str, Any], _: Change) -> object:
        for path in Path(args["table"]).parents[1].rglob("*.parquet"):
            path.unlink()
        raise Invalid("no")

    steps = (Step(CREATE, "right"), Step(APPEND, "right"), Step(APPEND, "harmful"))
    failure = relays(engine("right"), engine("harmful", harmful)).replay(steps)
    assert failure is not None
    assert failure.kind == "refused and changed"


def test_what_an_engine_does_not_have_is_found_out_once(tmp_path: Path) -> None:
    asked: list[str] = []

    def lacking(args: dict[str, Any], right: Change) -> object:
        if args["operations"][0]["op"] == "append":
            asked.append(args["table"])
            raise Unsupported("no appends")
        return right(args)

    small = engine("small", lacking)
    found = relays(engine("right"), small)
    table = SharedTable(tmp_path / "t")
    assert found.attempt(table, CREATE, found.engines["right"]) is None
    assert small.may_support(APPEND, 2, "a kind")
    assert found.attempt(table, APPEND, small) is None
    assert len(asked) == 1
    assert len(table.operations) == 1
    assert [one.outcome for one in found.handovers] == ["done", "unsupported"]
    (kinds,) = small.unsupported.values()
    assert not small.may_support(APPEND, 2, next(iter(kinds)))
    kinds.add("another kind")
    assert not small.may_support(APPEND, 2, "a third kind")
    assert small.may_support(APPEND, 3, "a third kind")


DYING = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    if asked["op"] == "start":
        print(json.dumps({"seq": 0, "ok": {"implementation": "dying", "version": "1", "language": "x", "protocol": 1,
              "format_versions": [2], "operations": ["table.write", "table.change"]}}), flush=True)
    else:
        sys.exit(3)
"""


def test_an_engine_that_dies_leaves_the_table_and_is_started_again(tmp_path: Path) -> None:
    with Process("dying", [sys.executable, "-c", DYING], limits=AdapterLimits(request=20)) as process:
        found = relays(engine("right"), RelayEngine("dying", process, process.start()))
        table = SharedTable(tmp_path / "t")
        found.attempt(table, CREATE, found.engines["right"])
        location = table.location
        for _ in range(2):
            failure = found.attempt(table, APPEND, found.engines["dying"])
            assert failure is not None
            assert failure.kind == "died"
            assert f"the table is unchanged, at {location}" in failure.reason
        assert found.attempt(table, APPEND, found.engines["right"]) is None
        assert len(table.operations) == 2


LEAVING = DYING.replace(
    "        sys.exit(3)",
    """        from pathlib import Path
        place = Path(asked["args"]["table"].removeprefix("file://"))
        place.with_name("00009-left.metadata.json").write_text("{}")
        sys.exit(3)""",
)


def test_the_metadata_file_that_a_dying_engine_left_is_named(tmp_path: Path) -> None:
    with Process("dying", [sys.executable, "-c", LEAVING], limits=AdapterLimits(request=20)) as process:
        found = relays(engine("right"), RelayEngine("dying", process, process.start()))
        table = SharedTable(tmp_path / "t")
        found.attempt(table, CREATE, found.engines["right"])
        failure = found.attempt(table, APPEND, found.engines["dying"])
        assert failure is not None
        assert failure.kind == "died"
        left = Path(table.location).with_name("00009-left.metadata.json")
        assert failure.reason.endswith(f"; the step left {left}, which nothing names")


def test_an_engine_that_is_gone_is_not_asked_again(tmp_path: Path) -> None:
    process = Process("gone", ["/nowhere/at/all"])
    gone = RelayEngine("gone", process, engine("right").started)
    found = relays(engine("right"), gone)
    failure = found.attempt(SharedTable(tmp_path / "t"), CREATE, gone)
    assert failure is not None
    assert failure.kind == "died"
    assert "there was no table before; the step left 0 files" in failure.reason
    assert not gone.may_support(CREATE, 2, "any")


def test_the_page_has_the_engines_and_every_failure(tmp_path: Path) -> None:
    found = run(relays(engine("right"), engine("wrong", without_last_row)), tmp_path)
    page = render(found, {"right": "reference <1>", "wrong": "wrong 1"}, 7, "iceberg-conformance relay")
    assert "reference &lt;1&gt;" in page
    assert page.count("<article id=") == len(found.counterexamples) == 1
    assert "--replay" in page
    assert "<script" not in page


def test_steps_are_counted_by_who_was_before() -> None:
    handovers = [
        Handover("", "a", "create", "done"),
        Handover("a", "b", "append", "done"),
        Handover("b", "a", "delete", "rows"),
        Handover("b", "a", "delete", "breaks DEL011", known="a-known"),
        Handover("b", "a", "delete", "refused"),
    ]
    counts = count_handovers(handovers, ["a", "b"])
    assert counts["a", "b"] == {"done": 1}
    assert counts["b", "a"] == {"failed": 1, "known": 1, "refused": 1}
    assert counts["a", "a"] == {}


BROKEN = {
    "[]": "/relay must be",
    '{"relay": [{"engine": "a"}]}': "/relay must be",
    '{"relay": []}': "invalid script",
    json.dumps({"relay": [{"engine": "a", "operation": {"op": "frobnicate"}}]}): "frobnicate",
    json.dumps({"relay": [{"engine": "b", "operation": CREATE}]}): "b has a step",
    "nonsense": "not a relay",
}


@pytest.mark.parametrize("content", BROKEN)
def test_a_file_that_is_no_relay_is_refused(content: str, tmp_path: Path) -> None:
    file = tmp_path / "relay.json"
    file.write_text(content)
    with pytest.raises(UsageError, match=BROKEN[content]):
        read_relay(file, ["a"])
    with pytest.raises(UsageError, match="cannot be read"):
        read_relay(tmp_path / "nowhere", ["a"])


ENTRY = {
    "id": "a-fails",
    "engine": "a",
    "fails": "refused",
    "says": "no",
    "requirements": ["SNP001"],
    "does": "x",
    "reason": "x",
    "evidence": "x",
}
WRONG_ENTRIES: dict[str, dict[str, Any]] = {
    "unknown member": {**ENTRY, "other": "x"},
    "reason is missing": {name: ENTRY[name] for name in ENTRY if name != "reason"},
    "does not start with a-": {**ENTRY, "id": "b-fails"},
    "unknown requirement ABC001": {**ENTRY, "requirements": ["ABC001"]},
    "unknown kind other": {**ENTRY, "kind": "other"},
    "not a list": {**ENTRY, "versions": "1"},
    "not a string": {**ENTRY, "says": ""},
    "says: not allowed for the failure": {**ENTRY, "fails": "finding: DEL015"},
    "check: not allowed for the failure": {**ENTRY, "check": "position-delete-sorted"},
    "unknown check other": {
        **{name: ENTRY[name] for name in ENTRY if name != "says"},
        "fails": "finding: DEL015",
        "check": "other",
    },
}


def _toml(row: dict[str, Any]) -> str:
    return "[[relay]]\n" + "".join(f"{name} = {json.dumps(value)}\n" for name, value in row.items())


@pytest.mark.parametrize("says", WRONG_ENTRIES)
def test_an_entry_that_is_not_of_the_form_is_refused(says: str, tmp_path: Path) -> None:
    file = tmp_path / "relay.toml"
    file.write_text(_toml(WRONG_ENTRIES[says]))
    with pytest.raises(UsageError, match=says):
        load_known(file)


def test_known_failures_are_of_the_form_and_match_by_all_that_they_say(tmp_path: Path) -> None:
    assert all(one.evidence for one in load_known())
    file = tmp_path / "relay.toml"
    file.write_text(_toml({**ENTRY, "operations": ["append"], "versions": ["1"]}))
    (one,) = load_known(file)
    assert one.matches("refused", ["append"], "oh no")
    assert one.matches("refused", ["append", "delete"], "oh no")
    assert not one.matches("refused", ["delete"], "oh no")
    assert not one.matches("rows", ["append"], "oh no")
    assert not one.matches("refused", ["append"], "yes")
    assert [one.applies_to(*who) for who in (("a", "1"), ("a", "2"), ("b", "1"))] == [True, False, False]
    file.write_text(_toml({**ENTRY, "after": ["delete-equal", "upsert"]}))
    (one,) = load_known(file)
    assert one.matches("refused", ["append"], "oh no", (), ("create", "upsert"))
    assert not one.matches("refused", ["upsert"], "oh no", (), ("create", "append"))
    file.write_text(_toml(ENTRY) * 2)
    with pytest.raises(UsageError, match="two entries"):
        load_known(file)


def test_a_known_finding_is_matched_by_its_check_and_values_whatever_is_said(tmp_path: Path) -> None:
    row = {name: ENTRY[name] for name in ENTRY if name != "says"}
    about = {"check": "partition-one-tuple-per-file-row", "found": "0.0", "expected": "identity"}
    file = tmp_path / "relay.toml"
    file.write_text(_toml({**row, "fails": "finding: PAR001", **about}))
    (one,) = load_known(file)
    seen = Violation(
        requirement="PAR001", aspect="row", message="any words", found="-0.0", expected="identity of a value"
    )
    for violations, known in (
        ([seen], True),
        ([evolve(seen, message="others")], True),
        ([evolve(seen, aspect="")], False),
        ([evolve(seen, found="1.5")], False),
        ([evolve(seen, expected="bucket[4]")], False),
        ([], False),
    ):
        assert one.matches("finding: PAR001", ["append"], "any words", violations) == known

"""Runs: each case has one outcome, expectations are checked, and results can be read again and match their schema."""

from __future__ import annotations

import io
import json
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any, Self
from xml.etree import ElementTree

import jsonschema
import pytest
from attrs import evolve
from miniature import HANGS

from conformance import vectors
from conformance.adapter_sdk.serve import Invalid, Unsupported
from conformance.core.failures import ExitStatus, HarnessFault, NotExamined, UsageError
from conformance.operations.protocol import Answer, Ok, StartAnswer
from conformance.reports import json_report, junit, parse_outputs, terminal
from conformance.runner import expectations, results
from conformance.runner.adapter_interface import InProcess, Request
from conformance.runner.execution import RunPlan, Target, check_each_has_one_outcome, execute
from conformance.runner.judge import Outcome, Verdict
from conformance.runner.process import Process
from conformance.runner.results import ResultsWriter, Run

HEADER: dict[str, Any] = {
    "results": 1,
    "tool": "0",
    "started": "2026-01-01T00:00:00+00:00",
    "vectors": {"on_disk": 10, "selected": 10},
}


def schema(name: str) -> Any:
    return json.loads((files("conformance") / "schemas" / f"{name}.json").read_text())


def parse(args: dict[str, Any]) -> object:
    """Right but for four types."""
    match args["type"]:
        case "fixed[2]":
            return "fixed[20]"
        case "fixed[3]":
            raise Unsupported("fixed[3]")
        case "fixed[4]":
            raise Invalid("fixed[4]")
        case "fixed[5]":
            raise ZeroDivisionError
    return args["type"]


def imperfect(name: str = "engine", version: str = "1.0", **more: Any) -> Target:
    implementation = {"implementation": "engine", "version": version, **more}
    return Target(name, lambda: InProcess(name, implementation, {"type.parse": parse}))


def execute_plan(folder: Path, *targets: Target, **plan: Any) -> tuple[Run, str]:
    file = io.StringIO()
    run = execute(RunPlan(targets, vectors.load(folder), **plan), dict(HEADER), ResultsWriter(file))
    return run, file.getvalue()


def test_outcomes_are_counted_apart_and_add_up_to_the_cases(mini_vectors: Path) -> None:
    run, _ = execute_plan(mini_vectors, imperfect())
    assert run.outcomes("engine") == {"passed": 6, "failed": 3, "unsupported": 1, "crashed": 0}
    assert sum(run.outcomes("engine").values()) == 10
    assert run.exit_status == ExitStatus.FAILURES
    assert run.complete


def test_what_an_adapter_does_not_declare_is_unsupported_and_not_asked(
    mini_vectors: Path, vector_file: Callable[..., Path], miniature: Callable[..., Process]
) -> None:
    run, _ = execute_plan(mini_vectors, Target("none", lambda: miniature("declares-nothing")))
    assert run.outcomes("none")["unsupported"] == 10
    assert run.results[0].reason == "the operation type.parse (not declared)"
    vector_file([{"id": "new", "args": {"type": "int"}, "expect": {"ok": "int"}, "versions": [3]}], name="v3")
    run, _ = execute_plan(mini_vectors, Target("v1", lambda: miniature("declares-v1")))
    assert run.outcomes("v1") == {"passed": 10, "failed": 0, "unsupported": 1, "crashed": 0}
    assert run.exit_status == ExitStatus.CONFORMANT


def test_a_crash_is_counted_and_the_run_goes_on(mini_vectors: Path, miniature: Callable[..., Process]) -> None:
    run, _ = execute_plan(mini_vectors, Target("dies", lambda: miniature("dies")))
    assert run.outcomes("dies") == {"passed": 9, "failed": 0, "unsupported": 0, "crashed": 1}
    (crash,) = run.failures
    assert (crash.id, crash.got, crash.stderr) == ("mini-7", {"crash": "exited with status 3"}, "last words\n")


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("wrong", "the answer differs"),
        ("wrong-form", "the answer does not have the form of type.parse: 7 is not of types"),
        ("no-type", "the answer differs"),
        ("invalid", "expected an answer, got the error invalid"),
        ("internal", "expected an answer, got the error internal: NullPointerException"),
    ],
)
def test_a_wrong_answer_is_a_failure_of_that_case_alone(
    mini_vectors: Path, miniature: Callable[..., Process], name: str, reason: str
) -> None:
    run, _ = execute_plan(mini_vectors, Target(name, lambda: miniature(name)))
    assert run.outcomes(name) == {"passed": 9, "failed": 1, "unsupported": 0, "crashed": 0}
    (failure,) = run.failures
    assert failure.id == "mini-7"
    assert failure.reason.startswith(reason)


def test_a_breach_after_the_last_answer_fails_the_run(mini_vectors: Path, miniature: Callable[..., Process]) -> None:
    run, _ = execute_plan(mini_vectors, Target("talks", lambda: miniature("talks-at-stop")))
    assert run.outcomes("talks")["passed"] == 10
    assert run.adapters[0].breach
    assert run.exit_status == ExitStatus.FAILURES


def test_an_adapter_that_cannot_start_is_reported_and_the_others_run(
    mini_vectors: Path, miniature: Callable[..., Process]
) -> None:
    right = Target("right", lambda: miniature("good"))
    run, _ = execute_plan(mini_vectors, Target("no", lambda: miniature("refuses-start")), right)
    assert run.adapters[0].not_examined == "it refused to start: no licence"
    assert run.outcomes("no") == {"passed": 0, "failed": 0, "unsupported": 0, "crashed": 0}
    assert run.outcomes("right")["passed"] == 10
    assert run.exit_status == ExitStatus.NOT_EXAMINED
    assert execute_plan(mini_vectors, Target("no", lambda: miniature("refuses-start")), imperfect())[0].exit_status == 1


class Forgetful:
    """An adapter that loses an answer, or makes one up: a bug of ours, if it happened."""

    name = "forgetful"

    def __init__(self, answers: int) -> None:
        self._answers = answers

    def start(self) -> StartAnswer:
        return StartAnswer("forgetful", "1", frozenset({"type.parse"}))

    def ask(self, requests: Iterable[Request]) -> Iterator[Answer]:
        list(requests)
        return iter([Ok("int")] * self._answers)

    def stop(self) -> str | None:
        return None

    def interrupt(self) -> None:
        return

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return


@pytest.mark.parametrize("answers", [0, 9, 11])
def test_a_lost_or_invented_answer_is_an_error_of_the_tool(mini_vectors: Path, answers: int) -> None:
    with pytest.raises(HarnessFault):
        execute_plan(mini_vectors, Target("forgetful", lambda: Forgetful(answers)))


def test_a_case_with_two_outcomes_is_an_error_of_the_tool(mini_vectors: Path) -> None:
    run, _ = execute_plan(mini_vectors, imperfect())
    every = vectors.load(mini_vectors)
    check_each_has_one_outcome(every, run.results)
    for wrong in (run.results + run.results[:1], run.results[1:], run.results[1:] + run.results[1:2]):
        with pytest.raises(HarnessFault, match="without exactly one outcome"):
            check_each_has_one_outcome(every, wrong)


def test_a_run_that_stops_at_the_first_failure_says_that_it_is_not_complete(mini_vectors: Path) -> None:
    run, text = execute_plan(mini_vectors, imperfect(), imperfect("second"), max_failures=1)
    assert [result.id for result in run.results] == ["mini-1", "mini-2"]
    assert run.exit_status == ExitStatus.FAILURES
    assert json.loads(text.splitlines()[-1]) == {
        "kind": "footer",
        "complete": False,
        "exit_status": 1,
        "counts": {"engine": run.counts("engine")},
    }


def test_an_interrupted_run_leaves_results_that_say_so(mini_vectors: Path) -> None:
    def interrupted() -> InProcess:
        raise KeyboardInterrupt

    file = io.StringIO()
    plan = RunPlan((imperfect(), Target("next", interrupted)), vectors.load(mini_vectors))
    run = execute(plan, dict(HEADER), ResultsWriter(file))
    assert (run.complete, run.exit_status) == (False, ExitStatus.INTERRUPTED)
    footer = json.loads(file.getvalue().splitlines()[-1])
    assert (footer["complete"], footer["exit_status"]) == (False, 130)
    assert sum(footer["counts"]["engine"].values()) == 10


# Side by side


def test_targets_side_by_side_give_the_same_results_in_the_same_order(mini_vectors: Path, tmp_path: Path) -> None:
    meeting = threading.Barrier(2, timeout=120)

    class Waiting(InProcess):
        def start(self) -> StartAnswer:
            meeting.wait()  # nobody goes on who is alone
            return super().start()

    def target(name: str, kind: type[InProcess]) -> Target:
        implementation = {"implementation": "engine", "version": "1.0"}
        return Target(name, lambda: kind(name, implementation, {"type.parse": parse}))

    def timeless(run: Run) -> object:
        return [evolve(adapter, seconds=0.0) for adapter in run.adapters], run.results, run.exit_status

    names = ("first", "second", "third", "fourth")
    run, text = execute_plan(mini_vectors, *(target(name, Waiting) for name in names), jobs=2)
    alone, _ = execute_plan(mini_vectors, *(target(name, InProcess) for name in names))
    assert run.complete
    assert timeless(run) == timeless(alone)
    path = tmp_path / "results.jsonl"
    path.write_text(text)
    read = results.read(path)
    assert {adapter.name: read.counts(adapter.name) for adapter in read.adapters} == {
        adapter.name: run.counts(adapter.name) for adapter in run.adapters
    }


def test_a_fault_of_the_tool_ends_all_that_run_side_by_side(
    mini_vectors: Path, miniature: Callable[..., Process]
) -> None:
    began = time.monotonic()
    lost = Target("forgetful", lambda: Forgetful(9))
    waiting = [Target(name, lambda name=name: miniature(name)) for name in ("hangs", "silent-start")]  # type: ignore[misc]
    file = io.StringIO()
    plan = RunPlan((waiting[0], lost, waiting[1]), vectors.load(mini_vectors), jobs=2)
    with pytest.raises(HarnessFault):
        execute(plan, dict(HEADER), ResultsWriter(file))
    assert time.monotonic() - began < HANGS / 10
    assert json.loads(file.getvalue().splitlines()[-1])["complete"] is False


# Results files and reports


def test_every_line_of_results_is_of_the_published_schema_and_reads_back(tmp_path: Path, mini_vectors: Path) -> None:
    run, text = execute_plan(mini_vectors, imperfect(language="python"))
    for line in text.splitlines():
        jsonschema.validate(json.loads(line), schema("results"))
    path = tmp_path / "results.jsonl"
    path.write_text(text)
    assert results.read(path) == run


def test_results_that_were_cut_off_are_not_complete(tmp_path: Path, mini_vectors: Path) -> None:
    _, text = execute_plan(mini_vectors, imperfect())
    path = tmp_path / "results.jsonl"
    path.write_text(text[: text.index('"mini-5"', text.index('"kind":"result"'))])
    run = results.read(path)
    assert not run.complete
    assert len(run.results) == 4


@pytest.mark.parametrize(
    "text", ["", "no\n", "{}\n", '{"kind":"footer","complete":true,"exit_status":0,"counts":{}}\n']
)
def test_what_is_not_results_is_reported(tmp_path: Path, text: str) -> None:
    path = tmp_path / "results.jsonl"
    path.write_text(text)
    with pytest.raises(UsageError, match=r"results\.jsonl"):
        results.read(path)


def test_runs_are_put_together_unless_they_contradict(mini_vectors: Path) -> None:
    one, _ = execute_plan(mini_vectors, imperfect())
    two, _ = execute_plan(mini_vectors, imperfect("other"))
    whole = results.combine_runs([one, two], ["a", "b"])
    assert [adapter.name for adapter in whole.adapters] == ["engine", "other"]
    assert len(whole.results) == 20
    with pytest.raises(UsageError, match="b: results of engine are also in a"):
        results.combine_runs([one, one], ["a", "b"])


def test_the_json_report_is_of_its_schema_and_its_counts_add_up(mini_vectors: Path) -> None:
    run, _ = execute_plan(mini_vectors, imperfect())
    report = json.loads(json_report.render(run))
    jsonschema.validate(report, schema("report"))
    (adapter,) = report["adapters"]
    assert sum(adapter["outcome_counts"].values()) == 10
    assert adapter["outcomes"] == adapter["outcome_counts"]
    assert adapter["suites"] == {"mini": {"passed": 6, "failed": 3, "unsupported": 1}}


def test_the_junit_report_has_a_test_case_for_each_vector_with_its_requirements(mini_vectors: Path) -> None:
    run, _ = execute_plan(mini_vectors, imperfect())
    suite = ElementTree.fromstring(junit.render(run)).find("testsuite")
    assert suite is not None
    counts = [suite.get(name) for name in ("tests", "failures", "errors", "skipped")]
    assert counts == ["10", "3", "0", "1"]
    cases = suite.findall("testcase")
    assert [case.get("name") for case in cases] == [f"mini-{n}" for n in range(1, 11)]
    assert all(p.get("value") == "TYP023" for case in cases for p in case.findall("properties/property"))
    failure = cases[1].find("failure")
    assert failure is not None
    assert 'expected "fixed[2]", got "fixed[20]"' in str(failure.text)


def test_junit_holds_text_that_xml_cannot(vector_file: Callable[..., Path]) -> None:
    path = vector_file([{"id": "nul", "args": {"type": "\0<&\u001b]]>"}, "expect": {"error": "invalid"}}])
    run, _ = execute_plan(path.parent.parent, Target("engine\0", imperfect().open))
    assert ElementTree.fromstring(junit.render(run)).find(".//failure") is not None


def test_the_terminal_report_reports_for_each_failure_what_where_and_how_to_reproduce_it(mini_vectors: Path) -> None:
    run, _ = execute_plan(mini_vectors, imperfect())
    text = terminal.render(run, Path("my vectors"))
    assert "mini  6 ✔  3 ✖  1 –" in text
    block = text[text.index("✖ mini-2") : text.index("✖ mini-4")]
    for line in (
        'asked        type.parse {"type":"fixed[2]"}',
        "requirement  TYP023 ",
        'expected     {"ok":"fixed[2]"}',
        'got          {"ok":"fixed[20]"}',
        'difference   (the answer): expected "fixed[2]", got "fixed[20]"',
        "reproduce    iceberg-conformance replay mini-2 --adapter engine --vectors 'my vectors'",
    ):
        assert line in block
    assert "\033" not in text


def test_where_the_spec_is_open_the_report_reports_what_each_chose(vector_file: Callable[..., Path]) -> None:
    both = {"any_of": [{"ok": "fixed[4]"}, {"error": "invalid"}]}
    path = vector_file([{"id": "open", "args": {"type": "fixed[4]"}, "expect": both}])
    other = Target("other", lambda: InProcess("other", {"implementation": "o", "version": "1"}, {"type.parse": _same}))
    run, _ = execute_plan(path.parent.parent, imperfect(), other)
    assert run.exit_status == 0
    text = terminal.render(run)
    assert '    open: {"error":"invalid"} by engine; {"ok":"fixed[4]"} by other\n' in text


def _same(args: dict[str, Any]) -> object:
    return args["type"]


@pytest.mark.parametrize("asked", [["pdf"], ["json:"], ["json", "junit"], ["json", "terminal"]])
def test_reports_that_cannot_be_made_are_reported(asked: list[str]) -> None:
    with pytest.raises(UsageError):
        parse_outputs(asked)


# Expectations

KNOWN = """
[[deviation]]
engine = "engine"
versions = ["1.0"]
vectors = ["mini-2"]
answer = { ok = "fixed[20]" }
reason = "adds a zero"

[[deviation]]
engine = "engine"
vectors = ["mini-4", "mini-5"]
does = "refuses four, fails on five"
reason = "cannot count"
"""


def expected(tmp_path: Path, text: str, folder: Path) -> expectations.Expectations:
    path = tmp_path / "expected.toml"
    path.write_text(text)
    return expectations.load_deviations(path, {vector.id for vector in vectors.load(folder)})


def test_a_run_with_exactly_the_known_deviations_is_conformant(tmp_path: Path, mini_vectors: Path) -> None:
    run, _ = execute_plan(mini_vectors, imperfect("engine@1.0"), expectations=expected(tmp_path, KNOWN, mini_vectors))
    assert run.exit_status == ExitStatus.CONFORMANT
    counts = run.counts("engine@1.0")
    assert (counts["passed"], counts["known"], counts["failed"]) == (6, 3, 0)
    assert run.outcomes("engine@1.0") == {"passed": 6, "failed": 3, "unsupported": 1, "crashed": 0}
    assert run.results[1].deviation == "adds a zero"
    assert run.results[3].deviation == "refuses four, fails on five: cannot count"


SHARED = """
[[deviation]]
engine = "iceberg-java"
vectors = ["mini-1", "mini-4", "mini-9"]
reason = "the library's"
"""


@pytest.mark.parametrize(
    ("adapter", "unmet"),
    [
        ("iceberg-java-sql", ["mini-1"]),  # it does not support mini-9, which the other adapter reaches
        ("iceberg-java", ["mini-1", "mini-9"]),
        ("./of-my-own", ["mini-1", "mini-9"]),
    ],
)
def test_adapters_of_one_implementation_share_its_deviations_as_far_as_they_reach(
    adapter: str, unmet: list[str], tmp_path: Path, mini_vectors: Path
) -> None:
    started = StartAnswer("iceberg-java", "1.0", frozenset())
    of = expected(tmp_path, SHARED, mini_vectors).for_adapter(adapter, started)
    by_id = {vector.id: vector for vector in vectors.load(mini_vectors)}
    outcomes = {"mini-1": Outcome.PASSED, "mini-4": Outcome.FAILED, "mini-9": Outcome.UNSUPPORTED}
    statuses = {id_: of.status(by_id[id_], Verdict(outcome, {})) for id_, outcome in outcomes.items()}
    status, deviation, complaint = statuses["mini-4"]
    assert (status, complaint) == ("known", None)
    assert deviation is not None
    assert deviation.reason == "the library's"
    assert [id_ for id_, (_, _, complaint) in statuses.items() if complaint] == unmet


@pytest.mark.parametrize(
    ("listed", "supported", "complains"),
    [
        (["2", "1"], (1,), False),  # release 1 has no version 3, which release 2 fails
        (["1"], (1,), True),  # the entry can never apply
        (["2", "1"], (1, 2, 3), True),  # release 1 has the version, and no longer the operation
        (["2", "1"], (), True),
    ],
)
def test_a_deviation_of_several_releases_may_be_about_format_versions_that_one_lacks(
    listed: list[str], supported: tuple[int, ...], complains: bool, tmp_path: Path, mini_vectors: Path
) -> None:
    text = f'[[deviation]]\nengine = "e"\nversions = {listed}\nvectors = ["mini-4"]\nreason = "r"\n'
    vector = evolve(next(one for one in vectors.load(mini_vectors) if one.id == "mini-4"), versions=(3,))
    of = expected(tmp_path, text, mini_vectors).for_adapter(
        "e", StartAnswer("e", "1", frozenset(), format_versions=supported)
    )
    status, deviation, complaint = of.status(vector, Verdict(Outcome.UNSUPPORTED, {}))
    assert (status, deviation, complaint is not None) == ("unsupported", None, complains)


def test_the_deviations_of_a_folder_are_those_of_all_its_files(tmp_path: Path, mini_vectors: Path) -> None:
    ids = {vector.id for vector in vectors.load(mini_vectors)}
    with pytest.raises(UsageError, match="the folder has no"):
        expectations.load_deviations(tmp_path, ids)
    for name, id_ in (("a", "mini-1"), ("b", "mini-2")):
        (tmp_path / f"{name}.toml").write_text(f'[[deviation]]\nengine="e"\nvectors=["{id_}"]\nreason="r"\n')
    loaded = expectations.load_deviations(tmp_path, ids)
    assert [deviation.vectors for deviation in loaded.deviations] == [("mini-1",), ("mini-2",)]
    (tmp_path / "matrix.toml").write_text("[[cell]]\nconsumer = 'e'\n")
    assert len(expectations.load_deviations(tmp_path, ids).deviations) == 2
    (tmp_path / "c.toml").write_text("[[")
    with pytest.raises(UsageError, match=r"c\.toml: not known deviations"):
        expectations.load_deviations(tmp_path, ids)


def test_a_deviation_of_another_version_is_not_known(tmp_path: Path, mini_vectors: Path) -> None:
    run, _ = execute_plan(mini_vectors, imperfect(version="1.1"), expectations=expected(tmp_path, KNOWN, mini_vectors))
    assert [result.id for result in run.failures] == ["mini-2"]


@pytest.mark.parametrize(
    ("old", "new", "unmet"),
    [
        ('"fixed[20]"', '"fixed[21]"', 'mini-2: the failure differs from the known deviation {"ok":"fixed[21]"}'),
        ('{ ok = "fixed[20]" }', '{ error = "invalid" }', "mini-2: the failure differs"),
        ('{ ok = "fixed[20]" }', "{ crash = true }", "mini-2: the failure differs"),
        ('{ ok = "fixed[20]" }', "'{\"ok\": null}'", "mini-2: the failure differs"),
        ('"mini-5"', '"mini-5", "mini-6"', "mini-6: known deviation now passes; remove it"),
        ('"mini-5"', '"mini-5", "mini-3"', "mini-3: known deviation is now unsupported; remove it"),
    ],
)
def test_a_known_deviation_that_does_not_happen_as_stated_fails_the_run(
    tmp_path: Path, mini_vectors: Path, old: str, new: str, unmet: str
) -> None:
    changed = KNOWN.replace(old, new)
    assert changed != KNOWN
    run, _ = execute_plan(mini_vectors, imperfect(), expectations=expected(tmp_path, changed, mini_vectors))
    assert run.exit_status == ExitStatus.FAILURES
    assert any(text.startswith(unmet) for text in run.adapters[0].unmet)


def test_a_deviation_that_depends_on_chance_may_happen_or_not(tmp_path: Path, mini_vectors: Path) -> None:
    ids = '["mini-6", "mini-5", "mini-3"]'
    chance = f'\n[[deviation]]\nengine = "engine"\nvectors = {ids}\nreason = "r"\nsometimes = true\n'
    text = KNOWN.replace(', "mini-5"', "")
    run, _ = execute_plan(mini_vectors, imperfect(), expectations=expected(tmp_path, text + chance, mini_vectors))
    assert {one.id: one.status for one in run.results if one.id in ("mini-3", "mini-5", "mini-6")} == {
        "mini-3": "unsupported",
        "mini-5": "known",
        "mini-6": "passed",
    }
    assert run.adapters[0].unmet == ()
    always = chance.replace("sometimes = true", "sometimes = false")
    run, _ = execute_plan(mini_vectors, imperfect(), expectations=expected(tmp_path, text + always, mini_vectors))
    assert sorted(run.adapters[0].unmet) == [
        "mini-3: known deviation is now unsupported; remove it",
        "mini-6: known deviation now passes; remove it",
    ]


def test_a_new_failure_beside_the_known_ones_fails_the_run(tmp_path: Path, mini_vectors: Path) -> None:
    fewer = KNOWN.replace(', "mini-5"', "")
    run, _ = execute_plan(mini_vectors, imperfect(), expectations=expected(tmp_path, fewer, mini_vectors))
    assert [result.id for result in run.failures] == ["mini-5"]
    assert run.exit_status == ExitStatus.FAILURES


@pytest.mark.parametrize("answer", ['{ error = "internal" }', '\'{"error": "internal"}\''])
def test_a_stated_answer_may_be_a_table_or_json(tmp_path: Path, mini_vectors: Path, answer: str) -> None:
    text = KNOWN + f'\n[[deviation]]\nengine = "engine"\nvectors = ["mini-5"]\nanswer = {answer}\nreason = "r"\n'
    found = expected(tmp_path, text.replace(', "mini-5"', ""), mini_vectors)
    assert execute_plan(mini_vectors, imperfect(), expectations=found)[0].exit_status == ExitStatus.CONFORMANT


def test_two_deviations_of_one_vector_are_reported(tmp_path: Path, mini_vectors: Path) -> None:
    with pytest.raises(UsageError, match=r"two deviations of engine 1\.0 are about the vector mini-2"):
        execute_plan(mini_vectors, imperfect(), expectations=expected(tmp_path, KNOWN + KNOWN, mini_vectors))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("deviation = 1", "/deviation"),
        ("[[deviation]]", "required"),
        ("[[", "not known deviations"),
        ('[[deviation]]\nengine="e"\nvectors=["none"]\nreason="r"', "/deviation/0/vectors: unknown vector 'none'"),
        ('[[deviation]]\nengine="e"\nvectors=["mini-1"]\nreason="r"\nanswer={fine=1}', "/deviation/0/answer"),
        ('[[deviation]]\nengine="e"\nvectors=["mini-1"]\nreason="r"\nanswer="{"', "/deviation/0/answer"),
        ('[[deviation]]\nengine="e"\nvectors=["mini-1"]\nreason="r"\nvector="x"', "vector"),
    ],
)
def test_broken_expectations_are_reported_with_their_place(
    tmp_path: Path, mini_vectors: Path, text: str, reason: str
) -> None:
    with pytest.raises(UsageError) as caught:
        expected(tmp_path, text, mini_vectors)
    assert str(caught.value).startswith(str(tmp_path / "expected.toml"))
    assert reason in str(caught.value)


def test_not_examined_is_no_bug() -> None:
    assert NotExamined.status == 3

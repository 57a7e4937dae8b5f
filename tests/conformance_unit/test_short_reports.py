"""The Markdown report, the badge, and the changes between two runs."""

from __future__ import annotations

import json

import pytest

from conformance.reports import badge, difference, markdown
from conformance.runner.judge import Outcome
from conformance.runner.results import AdapterRun, Case, Result, Run


def make_run(*statuses: str, version: str = "1", got: object = 5, complete: bool = True, on_disk: int = 1) -> Run:
    cases = {
        f"case-{number}": Case(
            f"case-{number}", "hashing", "hash", "Appendix B", ("HSH001",), (1,), {"value": "a|b"}, {"ok": 1}
        )
        for number in range(len(statuses))
    }
    outcomes = {"passed": Outcome.PASSED, "known": Outcome.FAILED, "failed": Outcome.FAILED}
    results = [
        Result("one", f"case-{number}", outcomes[status], status, got=None if status == "passed" else {"ok": got})
        for number, status in enumerate(statuses)
        if status != "none"
    ]
    header = {"results": 1, "tool": "0", "started": "2026-01-01", "vectors": {"on_disk": on_disk, "selected": 1}}
    return Run(header, cases, [AdapterRun("one", "one", "lib", version)], results, complete=complete, exit_status=0)


def test_markdown_has_the_matrix_and_each_failure_with_its_command() -> None:
    text = markdown.render(make_run("passed", "failed", "known"))
    assert "| suite | one (lib 1) |\n|---|---|\n| hashing | 1 passed, 1 failed, 1 known |" in text
    assert "- `HSH001 hash`: 1 failed\n  - `case-1`: " in text
    assert "`iceberg-conformance replay case-1 --adapter one`" in text
    assert "case-2" not in text


def test_markdown_reports_how_many_failures_it_leaves_out() -> None:
    text = markdown.render(make_run(*["failed"] * 5))
    assert "- `HSH001 hash`: 5 failed\n  - `case-0`: " in text
    assert "  - and 2 more\n  - `iceberg-conformance explain HSH001`\n  - `iceberg-conformance replay case-0 " in text


@pytest.mark.parametrize(
    ("text", "fenced"),
    [("a", "`a`"), ("a`b", "``a`b``"), ("``", "``` `` ```"), ("a\nb", "`a b`")],
)
def test_code_ends_where_it_should(text: str, fenced: str) -> None:
    assert markdown.code_span(text) == fenced


def test_a_row_is_not_ended_by_what_a_cell_says() -> None:
    assert markdown.table_row(["a|b", "c\nd"]) == "| a\\|b | c d |"


@pytest.mark.parametrize(
    ("run", "message", "color"),
    [
        (make_run("passed", "known"), "1 passed, 1 known deviation", "brightgreen"),
        (make_run("passed", "failed"), "1 passed, 1 failed", "red"),
        (make_run("passed", on_disk=7614), "1 passed (1 of 7,614 answered)", "brightgreen"),
        (make_run("passed", complete=False), "incomplete", "red"),
    ],
)
def test_the_badge_is_green_only_for_a_whole_run_without_failures(run: Run, message: str, color: str) -> None:
    document = json.loads(badge.render(run))
    assert (document["message"], document["color"], document["schemaVersion"]) == (message, color, 1)


def test_only_a_run_of_all_vectors_with_all_answers_is_called_conformant() -> None:
    assert make_run("passed").verdict == "conformant"
    assert make_run("passed", on_disk=7614).verdict == "no deviations in 1 answered of 7,614 cases"
    assert make_run("passed", "known", on_disk=7614).verdict == "no new deviations in 2 answered of 7,614 cases"
    assert make_run("passed", complete=False).verdict == "the run is not complete"


def test_markdown_opens_with_the_verdict() -> None:
    assert "1 passed; **no deviations in 1 answered of 9 cases**." in markdown.render(make_run("passed", on_disk=9))


def test_a_difference_reports_only_what_changed() -> None:
    old, new = (
        make_run("passed", "failed", "known", "passed"),
        make_run("failed", "passed", "known", "passed", version="2"),
    )
    assert list(difference.lines(old, new)) == [
        "one: lib 1 -> lib 2",
        "1 new failures:",
        '    one · case-0: passed -> failed {"ok":5}',
        "1 no longer failing:",
        '    one · case-1: failed {"ok":5} -> passed',
    ]
    assert [change.id for change in difference.changed_results(old, new) if change.is_regression] == ["case-0"]


def test_another_wrong_answer_is_a_change_and_no_regression() -> None:
    found = list(difference.changed_results(make_run("failed"), make_run("failed", got=6)))
    assert [(change.id, change.is_regression) for change in found] == [("case-0", False)]


def test_a_case_that_came_or_went_is_a_change() -> None:
    assert [str(change) for change in difference.changed_results(make_run("none"), make_run("passed"))] == [
        "one · case-0: none -> passed"
    ]
    assert list(difference.lines(make_run("passed"), make_run("passed"))) == ["no result changed"]


@pytest.mark.parametrize(
    ("name", "implementation", "version", "identity"),
    [
        ("iceberg-java@1.10.2", "iceberg-java", "1.10.2", ""),
        ("iceberg-java@1.10.2", "iceberg-java", "1.10", "1.10"),
        ("python3 engine.py deep150", "engine", "1", "1"),
        ("python3 ./adapter", "ada", "2", "ada 2"),
        ("duckdb", "duckdb", "1.4.2", "1.4.2"),
        ("./adapter", "", "", ""),
    ],
)
def test_the_identity_of_an_adapter_repeats_nothing_of_its_name(
    name: str, implementation: str, version: str, identity: str
) -> None:
    assert AdapterRun(name, name, implementation, version).identity == identity

"""Untrusted text - names, values, messages, standard error - stays text in every report and on the terminal."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from conformance.cli import main
from conformance.core.terminal_sanitizer import escape_controls
from conformance.interop.cells import Matrix, Participant
from conformance.reports import (
    KINDS,
    difference,
    html,
    junit,
    markdown,
    matrix_markdown,
    matrix_page,
    matrix_terminal,
    parse_outputs,
    render_report,
    terminal,
    write_reports,
)
from conformance.reports.sarif import artifact_location
from conformance.reports.validation import ValidationResult, as_json, as_junit, as_lines, as_sarif, as_text
from conformance.runner import judge
from conformance.runner.results import AdapterRun, Case, Result, Run
from conformance.validator.run import Level, TableReport
from spec_ref.checks.findings import Finding, Severity
from spec_ref.core.errors import Violation

MARKUP = "</script><script>alert(1)</script><img src=x onerror=alert(2)>'\" onmouseover=alert(3) {{7*7}} ]]>&lt;"
LINES = "a\n125 passed; conformant\u2028## all passed\n::error::x"
"""What begins lines of its own."""

LINK = "[click](https://example.org) ![x](//example.org/x.png) @somebody www.example.org |x| \\| *b* \ud800"
TERMINAL = "\x1b]0;title\x07\x1b[2J\x1b[8mhidden\x1b[1A\r\x1b[Kall passed\x9b31m\u202eesrever\x08\x00"
HOSTILE = MARKUP + TERMINAL + LINES + LINK


@pytest.fixture
def run() -> Run:
    case = Case(
        HOSTILE,
        HOSTILE,
        HOSTILE,
        HOSTILE,
        (HOSTILE,),
        (1,),
        {HOSTILE: HOSTILE},
        {"ok": HOSTILE},
        origin=HOSTILE,
        note=HOSTILE,
        contradiction=("A1",),
    )
    results = [
        Result(
            HOSTILE,
            HOSTILE,
            judge.Outcome.CRASHED,
            "crashed",
            reason=HOSTILE,
            got={"ok": HOSTILE},
            deviation=HOSTILE,
            stderr=HOSTILE,
            differences=({"path": HOSTILE, "expected": HOSTILE},),
        ),
    ]
    adapter = AdapterRun(
        HOSTILE, HOSTILE, HOSTILE, HOSTILE, HOSTILE, not_examined=HOSTILE, breach=HOSTILE, unmet=(HOSTILE,)
    )
    header = {
        "results": 1,
        "tool": HOSTILE,
        "started": HOSTILE,
        "vectors": {"folder": HOSTILE, "on_disk": 1, "selected": 1},
    }
    return Run(header, {case.id: case}, [adapter], results, complete=True, exit_status=1)


HIDDEN = set(map(chr, (*range(9), *range(11, 32), *range(127, 160), 0x202E, 0x2028, 0xD800)))
"""Characters that do something where they are shown, or cannot be written."""


@pytest.mark.parametrize("kind", KINDS)
def test_no_report_has_control_characters(kind: str, run: Run) -> None:
    text = render_report(kind, run)
    assert text.strip()
    assert not set(text) & HIDDEN
    assert kind in ("badge", "html") or "u202e" in text


@pytest.mark.parametrize("kind", ["json", "badge", "sarif"])
def test_reports_for_programs_are_json(kind: str, run: Run) -> None:
    assert json.loads(render_report(kind, run))


def test_sarif_has_no_links_and_its_places_are_uris(run: Run, report: TableReport) -> None:
    for text in (
        render_report("sarif", run),
        as_sarif([ValidationResult("[a](b)", report), ValidationResult("b", unreadable=HOSTILE)]),
    ):
        messages = list(_messages(json.loads(text)))
        assert any("[click] (https" in one for one in messages)
        assert not [one for one in messages if "](" in one]
    result = json.loads(text)["runs"][0]["results"][0]
    uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert uri.isascii()
    assert re.fullmatch(r"[A-Za-z0-9/:%=+,@~!$&*;?._-]+", uri)


def _messages(part: Any) -> Iterator[str]:
    """The texts of all messages of a log."""
    if isinstance(part, dict):
        if "message" in part:
            yield part["message"]["text"]
        yield from (text for item in part.values() for text in _messages(item))
    elif isinstance(part, list):
        yield from (text for item in part for text in _messages(item))


@pytest.mark.parametrize(
    ("file", "uri"),
    [
        ("s3://b/t/p=1/a b.parquet", "s3://b/t/p=1/a%20b.parquet"),
        ("/tmp/a%20b", "/tmp/a%20b"),
        ("javascript:alert(1)", "javascript%3Aalert%281%29"),
        ("data:text/html,x", "data%3Atext/html,x"),
        ("/a\n\x1b", "/a%0A%1B"),
    ],
)
def test_a_place_in_sarif_is_no_script(file: str, uri: str) -> None:
    assert artifact_location(file) == {"uri": uri}


def test_no_line_of_others_stands_alone(run: Run, report: TableReport, matrix: Matrix) -> None:
    reports = [
        terminal.render(run),
        markdown.render(run),
        matrix_terminal.render(matrix),
        matrix_markdown.render(matrix),
        "\n".join(
            as_text(
                [ValidationResult(HOSTILE, report), ValidationResult(HOSTILE, unreadable=HOSTILE)], lambda text, _: text
            )
        ),
        "\n".join(difference.lines(run, Run({}, {}, [], []))),
    ]
    for text in reports:
        assert "125 passed" in text
        assert not [line for line in text.splitlines() if line.startswith(("125", "## all", "::"))]


@pytest.fixture
def matrix() -> Matrix:
    participant = Participant(HOSTILE, HOSTILE, HOSTILE, reads=True, not_examined=HOSTILE)
    return Matrix({"started": HOSTILE, "tool": HOSTILE}, [participant], unmet=[HOSTILE])


@pytest.fixture
def report() -> TableReport:
    place = Violation(
        requirement="TMD001", message=HOSTILE, path=HOSTILE, found=HOSTILE, expected=HOSTILE, file=HOSTILE
    )
    finding = Finding(violation=place, severity=Severity.ERROR, examples=(place,), writer=HOSTILE, advice=HOSTILE)
    return TableReport(HOSTILE, HOSTILE, Level.METADATA, (finding,), (finding,), writers=(HOSTILE,))


def test_reports_of_tables_are_json_and_xml_without_control_characters(report: TableReport) -> None:
    outcomes = [ValidationResult(HOSTILE, report), ValidationResult(HOSTILE, unreadable=HOSTILE)]
    reports = [as_json(outcomes), as_lines(outcomes), as_junit(outcomes), as_sarif(outcomes)]
    assert [text for text in reports if set(text) & HIDDEN] == []
    assert len(json.loads(reports[0])["tables"]) == 2
    assert len([json.loads(line) for line in reports[1].splitlines()]) == 2
    root = ElementTree.fromstring(reports[2])
    assert {one.tag for one in root.iter()} <= {"testsuites", "testsuite", "testcase", "failure", "error"}


def test_the_pages_and_markdown_of_a_matrix_have_no_markup_of_others(matrix: Matrix) -> None:
    page = matrix_page.render(matrix)
    assert "<script>alert" not in page
    assert "<img" not in page
    assert not set(page) & HIDDEN
    text = matrix_markdown.render(matrix)
    assert not [part for line in text.splitlines() for part in _outside_of_code(line) if "<" in part or "](" in part]


def test_a_file_of_any_text_can_be_written(run: Run, tmp_path: Path) -> None:
    for kind in KINDS:
        write_reports(run, parse_outputs([f"{kind}:{tmp_path / kind}"]))
        assert (tmp_path / kind).read_bytes()


def test_the_html_report_has_no_markup_of_others(run: Run) -> None:
    page = html.render(run, Path(HOSTILE.replace("\0", "")))
    assert "<script>alert" not in page
    assert "<img" not in page
    assert "onerror=alert(2)>" not in page
    assert "49" not in page.partition("<body>")[2].partition("<script")[0]
    assert "Content-Security-Policy" in page


def test_the_junit_report_is_xml(run: Run) -> None:
    root = ElementTree.fromstring(junit.render(run))
    assert [one.tag for one in root.iter() if one.tag in ("script", "img")] == []
    assert any(MARKUP[:40] in text for one in root.iter() for text in one.attrib.values())


def test_the_markdown_report_has_it_in_code_or_escaped(run: Run) -> None:
    text = markdown.render(run)
    outside = [part for line in text.splitlines() for part in _outside_of_code(line)]
    assert outside
    assert not [part for part in outside if any(mark in part for mark in ("<script", "<img", "](", "@some", "www."))]


@pytest.mark.parametrize("text", ["a|b", "a\\|b", "\\\\|", "|"])
def test_a_cell_of_a_table_does_not_end_early(text: str) -> None:
    for cell in (markdown.code_span(text), markdown.escape_text(text)):
        line = markdown.table_row([cell, "c"])
        assert len(re.findall(r"(?:\\.|[^|])+", line.strip("| "))) == 2


def _outside_of_code(line: str) -> list[str]:
    return re.split(r"(?:(`+)(?!`).*?(?<!`)\1(?!`))", line)[::2]


def test_control_characters_are_shown_on_the_terminal(run: Run) -> None:
    shown = escape_controls(terminal.render(run))
    assert not set(shown) & set(map(chr, (*range(9), *range(11, 32), 127, 0x9B, 0x202E)))
    assert "\\x1b]0;title\\x07" in shown
    assert shown == terminal.render(run)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain é 日本 \n\t", "plain é 日本 \n\t"),
        ("\x1b[31mred\x1b[0m \x1b[1;36mbold\x1b[m", "\x1b[31mred\x1b[0m \x1b[1;36mbold\x1b[m"),
        ("\r\x1b[Kprogress", "\r\x1b[Kprogress"),
        ("a\r\x1b[Kb", "a\\r\\x1b[Kb"),
        ("\x1b[8mconcealed", "\\x1b[8mconcealed"),
        ("\x1b[2J\x1b]52;c;x\x07", "\\x1b[2J\\x1b]52;c;x\\x07"),
        ("\u202e", "\\u202e"),
    ],
)
def test_colours_and_progress_stay_and_nothing_else(text: str, shown: str) -> None:
    assert escape_controls(text) == shown


def test_a_name_of_a_file_does_nothing_to_the_terminal(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    name = f"{tmp_path}/\x1b[2Jtable\x07"
    assert main(["validate", name]) == 3
    assert main(["validate", name, "--format", "nonsense\x1b[2J"]) == 2
    printed = capfd.readouterr()
    assert "\\x1b[2Jtable\\x07" in printed.out
    assert "\x1b" not in printed.out + printed.err


def test_a_table_does_nothing_to_the_terminal(tmp_path: Path) -> None:
    document = {"format-version": 2, "table-uuid": TERMINAL, "location": TERMINAL, "properties": {TERMINAL: 1}}
    (tmp_path / "v1.metadata.json").write_text(json.dumps(document))
    command = [sys.executable, "-m", "conformance", "validate", str(tmp_path / "v1.metadata.json")]
    done = subprocess.run(command, capture_output=True, check=False, timeout=300)
    assert done.returncode in (1, 3)
    assert b"\x1b" not in done.stdout + done.stderr
    assert b"table-uuid" in done.stdout

"""What others write - names, values, messages, standard error - stays text in every report and on the terminal."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from conformance.cli import main
from conformance.cli.visible import visible
from conformance.judge import Outcome
from conformance.reports import html, junit, markdown, terminal
from conformance.results import AdapterRun, Case, Result, Run

MARKUP = "</script><script>alert(1)</script><img src=x onerror=alert(2)>'\" onmouseover=alert(3) {{7*7}} ]]>&lt;"
TERMINAL = "\x1b]0;title\x07\x1b[2J\x1b[8mhidden\x1b[1A\r\x1b[Kall passed\x9b31m\u202eesrever\x08\x00"
HOSTILE = MARKUP + TERMINAL


@pytest.fixture
def run() -> Run:
    case = Case(
        HOSTILE, HOSTILE, HOSTILE, HOSTILE, (HOSTILE,), (1,), {HOSTILE: HOSTILE}, {"ok": HOSTILE}, origin=HOSTILE,
        note=HOSTILE, contradiction=("A1",),
    )  # fmt: skip
    results = [
        Result(HOSTILE, HOSTILE, Outcome.CRASHED, "crashed", reason=HOSTILE, got={"ok": HOSTILE}, deviation=HOSTILE,
               stderr=HOSTILE, differences=({"path": HOSTILE, "expected": HOSTILE},)),
    ]  # fmt: skip
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
    assert not [part for part in outside if "<script" in part or "<img" in part]


def _outside_of_code(line: str) -> list[str]:
    return re.split(r"(?:(`+)(?!`).*?(?<!`)\1(?!`))", line)[::2]


def test_control_characters_are_shown_on_the_terminal(run: Run) -> None:
    shown = visible(terminal.render(run))
    assert not set(shown) & set(map(chr, (*range(9), *range(11, 32), 127, 0x9B, 0x202E)))
    assert "\\x1b]0;title\\x07" in shown


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
    assert visible(text) == shown


def test_a_name_of_a_file_does_nothing_to_the_terminal(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    name = f"{tmp_path}/\x1b[2Jtable\x07"
    assert main(["validate", name]) == 3
    assert main(["validate", name, "--format", "nonsense\x1b[2J"]) == 2
    told = capfd.readouterr()
    assert "\\x1b[2Jtable\\x07" in told.out
    assert "\x1b" not in told.out + told.err


def test_a_table_does_nothing_to_the_terminal(tmp_path: Path) -> None:
    document = {"format-version": 2, "table-uuid": TERMINAL, "location": TERMINAL, "properties": {TERMINAL: 1}}
    (tmp_path / "v1.metadata.json").write_text(json.dumps(document))
    command = [sys.executable, "-m", "conformance", "validate", str(tmp_path / "v1.metadata.json")]
    done = subprocess.run(command, capture_output=True, check=False, timeout=60)
    assert done.returncode in (1, 3)
    assert b"\x1b" not in done.stdout + done.stderr
    assert b"table-uuid" in done.stdout

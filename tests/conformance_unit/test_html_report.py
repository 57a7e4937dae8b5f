"""The HTML report: complete, in one file, and without markup from answers."""

from __future__ import annotations

import base64
import gzip
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from conformance.reports import html
from conformance.runner.judge import Outcome
from conformance.runner.results import AdapterRun, Case, Result, Run

HOSTILE = "</script><script>alert('x')</script>"


@pytest.fixture
def run() -> Run:
    cases = [
        Case(
            id=f"case-{number}",
            suite="hashing",
            operation="hash",
            section="Appendix B",
            requirements=("HSH001",),
            versions=(1, 2, 3),
            args={"type": "string", "value": HOSTILE},
            expect={"any_of": [{"ok": 1}, {"ok": 2}]},
            note=HOSTILE,
            contradiction=("A1",),
        )
        for number in range(4)
    ]
    outcomes = [(Outcome.PASSED, "passed"), (Outcome.FAILED, "failed"), (Outcome.CRASHED, "known")]
    results = [
        Result("one", f"case-{number}", outcome, status, reason=HOSTILE, got={"ok": HOSTILE})
        for number, (outcome, status) in enumerate(outcomes)
    ]
    adapters = [AdapterRun(f"one{HOSTILE}"[:3], "one"), AdapterRun("two", "two", not_examined=HOSTILE)]
    header = {"results": 1, "tool": "0", "started": "2026-01-01", "vectors": {"on_disk": 4, "selected": 4}}
    return Run(header, {case.id: case for case in cases}, adapters, results, complete=True, exit_status=1)


def unpacked(page: str) -> dict[str, Any]:
    packed = re.search(r'<script id="data"[^>]*>([^<]*)</script>', page)
    assert packed is not None
    content: dict[str, Any] = json.loads(gzip.decompress(base64.b64decode(packed[1])))
    return content


class Elements(HTMLParser):
    """Counts the elements of a page, and collects the URLs that they fetch."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.scripts = 0
        self.fetched: list[str] = []
        self.links: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.scripts += tag == "script"
        found = {name: value or "" for name, value in attrs}
        if tag == "a":  # a link fetches nothing until it is followed
            self.links.append(found.get("href", ""))
        else:
            self.fetched += [found[name] for name in ("src", "href") if name in found]


def test_nothing_of_a_case_becomes_markup_and_nothing_is_fetched(run: Run) -> None:
    elements = Elements(html.render(run))
    assert (elements.scripts, elements.fetched) == (2, [])


def test_every_result_of_the_run_is_in_the_page(run: Run) -> None:
    content = unpacked(html.render(run))
    one, two = content["adapters"]
    assert (one["statuses"], two["statuses"]) == ("pfk ", "    ")
    assert two["notes"] == [f"not run: {HOSTILE}"]
    assert content["texts"][one["details"]["1"]["reason"]] == HOSTILE
    assert one["details"]["1"]["got"] == {"ok": HOSTILE}
    assert [case["args"]["value"] for case in content["cases"]] == [HOSTILE] * 4
    assert [open_["id"] for open_ in content["contradictions"]] == ["A1"]


@pytest.mark.parametrize(
    ("complete", "status", "words"),
    [
        (True, 0, "No new deviations in 3 answered of 8 cases"),
        (True, 1, "Not conformant"),
        (True, 3, "Not all could be"),
        (False, 1, "not complete"),
    ],
)
def test_the_verdict_is_that_of_the_run(run: Run, complete: bool, status: int, words: str) -> None:
    run.complete, run.exit_status = complete, status
    assert words in html.render(run)


def test_the_same_run_gives_the_same_page(run: Run, tmp_path: Path) -> None:
    assert html.render(run) == html.render(run)
    assert "--vectors" in unpacked(html.render(run, tmp_path))["adapters"][0]["reproduce"]


def test_the_page_opens_with_the_failures_by_requirement_and_links_to_the_rule(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ICEBERG_CONFORMANCE_SITE", "https://example.org/site/")
    page = html.render(run)
    links = Elements(page).links
    assert links[:2] == ["#failures", "#matrix"]
    assert "https://example.org/site/requirements-hashing.html#hsh001" in links
    assert "#case=case-1" in links
    assert page.index('<section id="failures">') < page.index('<section id="matrix">')
    assert "iceberg-conformance explain HSH001" in page
    assert "iceberg-conformance replay case-1 --adapter one" in page
    monkeypatch.delenv("ICEBERG_CONFORMANCE_SITE")
    assert any(link.startswith("https://github.com/apache/iceberg/") for link in Elements(html.render(run)).links)


def test_a_run_without_failures_opens_with_the_matrix(run: Run) -> None:
    run.results = [result for result in run.results if not result.is_failure]
    assert Elements(html.render(run)).links[0] == "#matrix"

"""The site: its contents come from results files, and its navigation works in a real browser."""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from attrs import evolve
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from conformance.cli import COMMANDS
from conformance.core.failures import UsageError
from conformance.interop import results as matrix_results
from conformance.interop.cells import Cell, Matrix, Participant, ProducedTable, TableOutcome
from conformance.interop.summary import STATUSES
from conformance.rules import registry
from conformance.runner.judge import Outcome
from conformance.runner.results import AdapterRun, Case, Result, ResultsWriter, Run
from spec_ref.requirements import contradictions, register
from tools.docs import (
    can_i_use,
    checks,
    commands,
    findings,
    interop,
    requirements,
    results,
    search_ids,
    site,
    support,
    vector_pages,
)
from tools.docs.results import EngineResult, VectorResults
from tools.docs.support import CRASHED, READS, REFUSED, RIGHT, UNSUPPORTED, WRITES, WRONG, Feature, Support

FINDING = "duckdb-loses-rows-uuids-bucket-identity-partitions"
SCREENS = Path(__file__).parents[1] / "results" / "screens"


def write_run(path: Path, started: str, adapter: str, *given: tuple[str, Outcome, str, dict[str, str]]) -> None:
    header = {
        "results": 1,
        "tool": "0",
        "started": started,
        "command": ["run"],
        "vectors": {"folder": "v", "on_disk": len(given), "selected": len(given)},
    }
    run = Run(header, adapters=[AdapterRun(adapter, adapter, adapter, "1", "c")], complete=True, exit_status=0)
    with path.open("w", encoding="utf-8") as file:
        writer = ResultsWriter(file)
        cases = [Case(id_, "hashing", "hash", "s", ("HSH001",), (1,), {}, {"ok": 1}) for id_, *_ in given]
        writer.header(header, cases)
        for id_, outcome, status, got in given:
            kind = "choice" if "choice" in got else "deviation" if status == "known" else ""
            writer.result(Result(adapter, id_, outcome, status, got=got, deviation_kind=kind))
        writer.adapter(run.adapters[0])
        writer.footer(run)


@pytest.fixture
def published(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(results, "PUBLISHED", tmp_path / "published")
    return tmp_path


def test_each_vector_has_a_letter_for_each_engine(published: Path) -> None:
    failed, passed = Outcome.FAILED, Outcome.PASSED
    write_run(
        published / "a.jsonl",
        "2026-01-02",
        "one",
        ("a", passed, "passed", {}),
        ("b", failed, "failed", {"ok": "2"}),
        ("c", failed, "known", {"error": "invalid"}),
        ("d", Outcome.UNSUPPORTED, "unsupported", {}),
        ("e", failed, "known", {"error": "internal"}),
        ("f", Outcome.CRASHED, "crashed", {"crash": "x"}),
        ("g", failed, "known", {"ok": "2", "choice": ""}),
    )
    write_run(published / "b.jsonl", "2026-01-01", "one", ("a", failed, "failed", {"ok": "3"}))
    write_run(published / "c.jsonl", "2026-01-01", "two", ("a", failed, "known", {"ok": "3"}))
    assert [line.partition(":")[0] for line in results.publish(published)] == ["vectors.jsonl"]
    read = results.read_vectors()
    assert [(one.name, one.version, one.started) for one in read.engines] == [
        ("one", "1", "2026-01-02"),
        ("two", "1", "2026-01-01"),
    ]
    assert read.letters == {"a": "pw", "b": "W.", "c": "r.", "d": "u.", "e": "c.", "f": "C.", "g": "o."}
    assert read.letters_of_engine("two") == {"a": "w"}


def test_published_results_are_kept_until_a_newer_run_has_them(published: Path) -> None:
    failed, passed = Outcome.FAILED, Outcome.PASSED
    first, second = list(findings.all_vectors())[:2]
    write_run(published / "a.jsonl", "2026-01-01", "duckdb", (first, failed, "failed", {"ok": "3"}))
    write_run(published / "b.jsonl", "2026-01-01", "gone", (first, passed, "passed", {}), ("x", passed, "passed", {}))
    write_run(
        published / "c.jsonl", "2026-01-01", "sail@0.1", (first, passed, "passed", {}), ("x", failed, "failed", {})
    )
    results.publish(published)
    assert results.read_vectors().letters == {first: "Wpp", "x": ".pW"}
    for name in "abc":
        (published / f"{name}.jsonl").unlink()
    write_run(published / "a.jsonl", "2026-01-02", "duckdb", (second, passed, "passed", {}))
    results.publish(published)
    read = results.read_vectors()
    assert [(one.name, one.started) for one in read.engines] == [("duckdb", "2026-01-02"), ("sail@0.1", "2026-01-01")]
    assert read.letters == {first: "Wp", second: "p."}
    text = (published / "a.jsonl").read_text().replace('"version":"1"', '"version":"2"')
    (published / "a.jsonl").write_text(text)
    results.publish(published)
    assert results.read_vectors().letters == {first: ".p", second: "p."}


def test_a_matrix_is_published_and_read_back(published: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    header = {"matrix": 1, "started": "2026-01-01", "tool": "0", "command": ["matrix"]}
    matrix = Matrix(header, complete=True, exit_status=0)
    matrix.participants += [Participant("w", "w", "1", writes=True), *(Participant(one, reads=True) for one in "xy")]
    matrix.tables += [
        ProducedTable("w", "plain", ("f",), 2, "orc", "about"),
        ProducedTable(
            "w", "bad", (), 3, "parquet", "", TableOutcome.INVALID, "DFL012", known="why", known_id="w-writes-bad"
        ),
    ]
    known = next(one for one in findings.tables() if one.role == "cell")
    matrix.cells += [
        Cell("w", "x", "plain", TableOutcome.FAILED, known="as it was worded at the run", known_id=known.id),
        Cell("w", "y", "plain", TableOutcome.CRASHED),
        Cell("w", "y", "bad", TableOutcome.FAILED, known="an entry without an id"),
    ]
    matrix_results.write(matrix, published / "m.jsonl")
    results.publish(published)
    read = results.read_matrix()
    assert read is not None
    no_longer_listed = evolve(matrix.tables[1], known="w-writes-bad", known_id="")
    assert read.tables == [matrix.tables[0], no_longer_listed]
    assert read.cells == [evolve(matrix.cells[0], known=known.reason), *matrix.cells[1:]]
    monkeypatch.setattr(interop, "published_matrix", lambda: read)
    page = interop.matrix_page()
    assert f"#finding-{known.id}" in page
    assert "an entry without an id" in page
    assert "Of the 2 tables that were read, some consumers were given only a part: x 1." in page
    assert [one.name for one in read.consumers] == ["x", "y"]
    assert '"cells":"wC"' in (results.PUBLISHED / results.MATRIX).read_text()
    matrix.complete = False
    matrix_results.write(matrix, published / "m.jsonl")
    with pytest.raises(UsageError, match="not complete"):
        results.publish(published)


def test_relays_and_stress_are_published_without_what_is_of_one_machine(published: Path) -> None:
    failure = {"kind": "k", "engine": "a", "operation": "append", "reason": "r", "file": "/tmp/x", "reproduce": "y"}
    relay = {
        "engines": {"a": {"implementation": "a", "version": "1", "steps": 2, "gone": ""}},
        "seed": 1,
        "scripts": 2,
        "known": {},
        "handovers": [{"before": "a", "engine": "a", "done": 1}],
        "failures": [failure],
    }
    stress = {
        "client": "c",
        "server": "SQLite, started here",
        "catalog": "sqlite:///tmp/x/catalog.db",
        "acknowledged": 3,
        "refused": 1,
        "unknown": 0,
        "kills": 2,
        "server_kills": 0,
        "errors": {"E: lost": 2},
        "seed": 1,
        "problems": ["lost /tmp/x/y of z"] * 7,
    }
    (published / "relay.json").write_text(json.dumps(relay))
    (published / "stress-sqlite.json").write_text(json.dumps(stress))
    (published / "stress-empty.json").write_text("")
    (published / "other.json").write_text("{}")
    results.publish(published)
    text = "".join(path.read_text() for path in results.PUBLISHED.glob("*.json"))
    assert "/tmp" not in text
    page = interop.relays_page()
    assert "2 scripts, 2 steps done" in page
    assert "**a**, `append`: k: r" in page
    page = interop.catalogs_page()
    assert re.search(r"\| SQLite \| c \| 7 \| 3 \| 1 \| 0 \| 2 \| 0 \|", page)
    assert "lost ... of z" in page
    assert "and 2 more" in page


def test_what_is_not_published_is_said(published: Path) -> None:
    assert results.main([str(published)]) == 2
    assert results.read_vectors() == VectorResults((), {})
    assert results.read_matrix() is None
    assert "no published results" in interop.relays_page()
    assert "no published results" in interop.catalogs_page()


def test_the_published_results_name_no_place_of_a_machine() -> None:
    folder = site.ROOT / "docs" / "results"
    text = "".join(path.read_text(encoding="utf-8") for path in folder.iterdir())
    assert not re.search(r"(?<![\w.])/(?:tmp|home|root|work)/", text)
    assert len(text) < 1_500_000


@pytest.mark.parametrize(
    ("counts", "verdict"),
    [
        ({}, "untested"),
        ({RIGHT: 3}, "yes"),
        ({RIGHT: 3, UNSUPPORTED: 1}, "partly"),
        ({RIGHT: 3, REFUSED: 1}, "partly"),
        ({RIGHT: 30, WRONG: 1}, "traps"),
        ({RIGHT: 3, CRASHED: 1, REFUSED: 2}, "traps"),
        ({WRONG: 1, REFUSED: 2}, "wrong"),
        ({REFUSED: 1, UNSUPPORTED: 2}, "no"),
    ],
)
def test_a_verdict_follows_from_the_counts(counts: dict[str, int], verdict: str) -> None:
    assert Support(Counter(counts)).verdict == verdict


def test_every_feature_selects_something() -> None:
    assert support.unmatched(support.features()) == []
    assert support.unmatched([Feature("x", "g", golden=("none-*",), scripts=("nothing",))]) == ["none-*", "nothing"]
    assert len({one.slug for one in support.features()}) == len(support.features())


def test_support_is_counted_from_golden_tables_and_the_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    ids = [vector.id for vector in support.golden_vectors()["equality-deletes-scopes"]]
    matrix = Matrix({"started": "2026-01-01", "tool": "0"})
    matrix.participants += [Participant("duckdb", reads=True, writes=True)]
    matrix.tables += [
        ProducedTable("duckdb", "a", ("equality deletes",), 2, "parquet", outcome=TableOutcome.INVALID),
        ProducedTable("duckdb", "b", ("equality deletes",), 2, "orc"),
    ]
    matrix.cells += [
        Cell("duckdb", "duckdb", "a", TableOutcome.REJECTED),
        Cell("duckdb", "duckdb", "b", TableOutcome.CRASHED),
    ]
    one = EngineResult("duckdb", "duckdb", "1.5.5", "c++", "2026-01-01", "0")
    monkeypatch.setattr(support, "vector_results", lambda: VectorResults((one,), dict.fromkeys(ids, "w")))
    monkeypatch.setattr(support, "published_matrix", lambda: matrix)
    for cached in (support.support, support._golden_reads):
        cached.cache_clear()
        monkeypatch.setattr(support, cached.__name__, cached.__wrapped__)
    feature = Feature("Equality deletes", "g", golden=("equality-deletes-*",), features=("equality deletes",))
    read = support.support("duckdb", feature, READS)
    assert read.counts == {WRONG: len(ids), REFUSED: 1}
    assert any("partition" in cause.title and count == 4 for cause, count in read.causes.items())
    assert support.support("duckdb", feature, WRITES).counts == {WRONG: 1}


def test_the_page_of_commands_has_every_command_and_option() -> None:
    page = commands.page()
    found = re.findall(r"(?m)^#{2,3} `([a-z -]+)`$", page)
    assert [name for name in found if " " not in name] == [*COMMANDS]
    assert {"race stress", "engines install", "list checks", "vectors extract"} <= {*found}
    assert "* `--max-failures INT`: Stop after this many failures.\n" in page
    assert "$ iceberg-conformance explain HSH007\n" in page
    prose = re.sub(r"(?s)```.*?```|`[^`]*`", "", page)
    assert "--" not in prose


def test_the_search_knows_every_id() -> None:
    pages = {f"findings-{engine}.md": findings.engine_page(engine) for engine in findings.engines()}
    pages |= {"checks.md": checks.page(), "contradictions.md": findings.contradictions_page()}
    pages["requirements-hashing.md"] = requirements.area_page("hashing", {}, {})
    script = search_ids.script(pages)
    found = json.loads(script.removeprefix("window.SITE_IDS = ").removesuffix(";\n"))
    known = {id_ for ids in found.values() for id_ in ids}
    assert {"hsh007", "a26", *(id_.lower() for id_ in registry())} <= known
    assert {one.lower() for one in contradictions()} <= known
    assert {one.id.lower() for one in findings.deviations()} <= known
    assert set(findings.all_vectors()) <= known
    assert found["requirements-hashing.html#"] == [one.lower() for one in register() if one.startswith("HSH")]


def test_every_vector_has_its_place_on_the_page_of_its_suite() -> None:
    for suite in ("hashing", "writing"):
        page = vector_pages.page(suite)
        assert re.findall('<details class="vector" id="([^"]+)">', page) == [
            one.id for one in vector_pages.by_suite()[suite]
        ]
        assert "/tmp/" not in page


PAGES = (
    "can-i-use",
    "findings-duckdb",
    "findings",
    "relays",
    "catalogs",
    "interop",
    "vectors-hashing",
    "requirements-hashing",
)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site of a few pages; links to the others are not resolved, which is a warning."""
    folder = tmp_path_factory.mktemp("site")
    vectors = {}
    for vector in findings.all_vectors().values():
        for code in vector.requirements:
            vectors.setdefault(code, []).append(vector)
    pages = {
        "can-i-use.md": can_i_use.page(),
        "findings-duckdb.md": findings.engine_page("duckdb", can_i_use.engine_head("duckdb")),
        "findings.md": findings.index().partition("```{toctree}")[0],
        "relays.md": interop.relays_page(),
        "catalogs.md": interop.catalogs_page(),
        "interop.md": interop.matrix_page(),
        "vectors-hashing.md": vector_pages.page("hashing"),
        "requirements-hashing.md": requirements.area_page("hashing", vectors, findings.by_requirement()),
    }
    listed = "\n".join(name.removesuffix(".md") for name in pages)
    pages["index.md"] = f"# Site\n\n```{{toctree}}\n{listed}\n```\n"
    (folder / "in").mkdir()
    for name, text in pages.items():
        (folder / "in" / name).write_text(text, encoding="utf-8")
    site.build(folder / "in", folder / "out")
    site.add_scripts_and_reports(pages, folder / "out")
    return folder / "out"


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[webdriver.Chrome]:
    driver = shutil.which("chromedriver")
    assert driver, "the site is tested in a browser: install chromium and chromium-driver (tools/system_packages.sh)"
    options = webdriver.ChromeOptions()
    for option in (
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--hide-scrollbars",
        f"--user-data-dir={tmp_path_factory.mktemp('chromium')}",
    ):
        options.add_argument(option)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    browser = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    yield browser
    browser.quit()


def show(browser: webdriver.Chrome, width: int, scheme: str) -> None:
    metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    browser.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    )


FAINT_TEXT = """
const luminance = (colour) => {
  const linear = (one) => one <= 0.03928 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4;
  const [red, green, blue] = colour.map((one) => linear(one / 255));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
};
const numbers = (colour) => colour.match(/[\\d.]+/g).map(Number);
const ground = (element) => {
  for (let one = element; one; one = one.parentElement) {
    const [red, green, blue, opacity] = numbers(getComputedStyle(one).backgroundColor);
    if (opacity === undefined || opacity > 0.5) return [red, green, blue];
  }
  return [255, 255, 255];
};
const faint = new Set();
const walker = document.createTreeWalker(document.querySelector(arguments[0]), NodeFilter.SHOW_TEXT);
for (let count = 0; walker.nextNode() && count < 3000; count++) {
  const element = walker.currentNode.parentElement;
  if (!walker.currentNode.data.trim() || !element.checkVisibility()) continue;
  const both = [numbers(getComputedStyle(element).color).slice(0, 3), ground(element)].map(luminance);
  const contrast = (Math.max(...both) + 0.05) / (Math.min(...both) + 0.05);
  if (contrast < 4.5) faint.add(`${element.tagName} ${element.className} on ${ground(element)}: ${contrast}`);
}
return [...faint];
"""
"""Finds text whose contrast is below 4.5, the minimum of the Web Content Accessibility Guidelines (level AA)."""


@pytest.mark.parametrize(("width", "scheme"), [(1400, "light"), (1400, "dark"), (375, "light"), (375, "dark")])
@pytest.mark.parametrize("name", [*PAGES, "matrix-report"])
def test_no_page_scrolls_sideways(chromium: webdriver.Chrome, built: Path, name: str, width: int, scheme: str) -> None:
    show(chromium, width, scheme)
    page = built / f"{name}.html"
    if name == "matrix-report" and results.published_matrix() is None:
        pytest.skip("no matrix is published")
    chromium.get(page.as_uri())
    for part in chromium.find_elements(By.CSS_SELECTOR, "details.chip, details.suites")[:60]:
        chromium.execute_script("arguments[0].open = true", part)
    assert chromium.execute_script("return document.documentElement.scrollWidth") <= width
    assert [entry["message"] for entry in chromium.get_log("browser") if entry["level"] == "SEVERE"] == []
    ground = chromium.execute_script("return getComputedStyle(document.body).backgroundColor")
    light = sum(map(int, re.findall(r"\d+", ground)[:3])) > 380
    assert light == (scheme == "light")
    assert chromium.execute_script(FAINT_TEXT, "body" if name == "matrix-report" else "article") == []
    SCREENS.mkdir(parents=True, exist_ok=True)
    chromium.save_screenshot(str(SCREENS / f"site-{name}-{width}-{scheme}.png"))


def test_each_outcome_of_the_matrix_has_its_colour(chromium: webdriver.Chrome, built: Path) -> None:
    show(chromium, 1400, "light")
    chromium.get((built / "interop.html").as_uri())
    legend = chromium.find_elements(By.CSS_SELECTOR, "ul.support-legend .count")
    assert [one.get_attribute("class") for one in legend] == [f"count {status}" for status in STATUSES]
    assert len({one.text for one in legend}) == len(STATUSES)
    transparent = "rgba(0, 0, 0, 0)"
    assert transparent not in {one.value_of_css_property("background-color") for one in legend}


def test_words_in_tables_are_not_broken(chromium: webdriver.Chrome, built: Path) -> None:
    show(chromium, 375, "light")
    chromium.get((built / "findings.html").as_uri())
    text = (
        "<table><tr><td><code>deviation</code></td><td>"
        + "which text does not fit in one line " * 9
        + "</td></tr></table>"
    )
    height = chromium.execute_script(
        "const main = document.querySelector('article'); main.insertAdjacentHTML('afterbegin', arguments[0]);"
        "return main.querySelector('code').getClientRects().length",
        text,
    )
    assert height == 1


@pytest.mark.parametrize("width", [1400, 375])
@pytest.mark.parametrize(
    ("asked", "place"),
    [
        ("HSH007", "requirements-hashing.html#hsh007"),
        ("hash-int-34", "vectors-hashing.html#hash-int-34"),
        (f" {FINDING}", f"findings-duckdb.html#finding-{FINDING}"),
    ],
)
def test_a_search_for_an_id_lands_on_it(
    chromium: webdriver.Chrome, built: Path, width: int, asked: str, place: str
) -> None:
    show(chromium, width, "light")
    chromium.get((built / "index.html").as_uri())
    if width < 500:
        chromium.find_element(By.CSS_SELECTOR, "label.nav-overlay-icon").click()
    field = WebDriverWait(chromium, 20).until(
        lambda one: next((each for each in one.find_elements(By.NAME, "q") if each.is_displayed()), None)
    )
    field.send_keys(asked)
    field.submit()
    WebDriverWait(chromium, 20).until(lambda one: one.current_url.endswith(place))
    anchor = place.partition("#")[2]
    top = "return document.getElementById(arguments[0]).getBoundingClientRect().top"
    WebDriverWait(chromium, 20).until(lambda one: 0 <= one.execute_script(top, anchor) < 900)
    part = chromium.find_element(By.ID, anchor)
    if part.tag_name == "details":
        assert part.get_attribute("open") is not None


def test_a_search_for_a_part_lists_ids(chromium: webdriver.Chrome, built: Path) -> None:
    chromium.get((built / "search.html").as_uri() + "?q=hash-int-3")
    links = WebDriverWait(chromium, 20).until(lambda one: one.find_elements(By.CSS_SELECTOR, "#ids a"))
    assert "hash-int-34" in [one.text for one in links]
    chromium.get((built / "search.html").as_uri() + "?q=hsh")
    links = WebDriverWait(chromium, 20).until(lambda one: one.find_elements(By.CSS_SELECTOR, "#ids a"))
    assert [one.text for one in links] == [one for one in register() if one.startswith("HSH")]


def test_vectors_are_filtered(chromium: webdriver.Chrome, built: Path) -> None:
    show(chromium, 1400, "light")
    chromium.get((built / "vectors-hashing.html").as_uri())
    chromium.find_element(By.CSS_SELECTOR, "[data-filter]").send_keys("HSH007 uuid")
    shown = [one for one in chromium.find_elements(By.CSS_SELECTOR, "details.vector") if one.is_displayed()]
    assert 0 < len(shown) < len(vector_pages.by_suite()["hashing"])
    assert chromium.find_element(By.CSS_SELECTOR, ".vector-filter output").text.startswith(f"{len(shown)} of ")

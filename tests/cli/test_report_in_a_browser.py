"""The HTML report as a person uses it, in Chromium (Debian: chromium and chromium-driver).

What each view looks like is left in ``results/screens``.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from attrs import evolve
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import Select, WebDriverWait

from conformance.interop.cells import Cell, Matrix, Participant, ProducedTable, TableOutcome
from conformance.reports import html, matrix_page
from conformance.runner.judge import Outcome
from conformance.runner.results import AdapterRun, Case, Result, Run

CASES = 60
DIVIDING = 2
"""The number of the case with two permitted outcomes."""

SCREENS = Path(__file__).parents[2] / "results" / "screens"
OPTIONS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--window-size=1400,1000",
)


def tables() -> Matrix:
    """Build a matrix of one producer with two tables, one of which a consumer reads wrongly."""
    matrix = Matrix({"started": "2026-01-01", "tool": "0"}, complete=True, exit_status=1)
    matrix.participants += [Participant("writer", writes=True), Participant("reader", reads=True)]
    matrix.tables += [ProducedTable("writer", name, ("appends",), 2, "parquet") for name in ("plain", "deletes")]
    matrix.cells += [
        Cell("writer", "reader", "plain", TableOutcome.PASSED),
        Cell("writer", "reader", "deletes", TableOutcome.FAILED, reason="a row too many"),
    ]
    return matrix


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a report of one engine that fails every tenth case, and one that passes all."""
    cases = {}
    results = []
    for number in range(CASES):
        id_ = f"case-{number}"
        cases[id_] = Case(
            id_,
            "hashing" if number % 2 else "types",
            "hash",
            "Appendix B",
            ("HSH001",),
            (1, 2, 3),
            {"type": "string", "value": "<b>bold</b>"},
            {"ok": number},
            note=f"the note of {number}",
        )
        if number == DIVIDING:
            cases[id_] = evolve(
                cases[id_], expect={"any_of": [{"ok": 1}, {"error": "invalid"}]}, contradiction=("E20",)
            )
            results.append(Result("right", id_, Outcome.PASSED, "passed", chosen={"ok": 1}))
            results.append(Result("wrong", id_, Outcome.PASSED, "passed", chosen={"error": "invalid"}))
            continue
        results.append(Result("right", id_, Outcome.PASSED, "passed"))
        wrong = number % 10 == 1
        outcome, status = (Outcome.FAILED, "failed") if wrong else (Outcome.PASSED, "passed")
        got = {"ok": -number} if wrong else None
        results.append(Result("wrong", id_, outcome, status, "another number" if wrong else "", got))
    adapters = [AdapterRun("right", "right", "lib", "1"), AdapterRun("wrong", "wrong", "lib", "2")]
    header = {"results": 1, "tool": "0", "started": "2026-01-01", "vectors": {"on_disk": CASES, "selected": CASES}}
    path = tmp_path_factory.mktemp("report") / "report.html"
    run = Run(header, cases, adapters, results, complete=True, exit_status=1)
    path.write_text(html.render(run, None, tables()), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[webdriver.Chrome]:
    driver = shutil.which("chromedriver")
    assert driver, "the report is tested in a browser: install chromium and chromium-driver (tools/system_packages.sh)"
    options = webdriver.ChromeOptions()
    for option in (*OPTIONS, f"--user-data-dir={tmp_path_factory.mktemp('chromium')}"):
        options.add_argument(option)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    browser = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    yield browser
    browser.quit()


@pytest.fixture
def browser(chromium: webdriver.Chrome, page: Path) -> webdriver.Chrome:
    """The report, just opened."""
    chromium.get(page.as_uri())
    WebDriverWait(chromium, 10).until(lambda one: one.find_element(By.TAG_NAME, "body").get_attribute("data-ready"))
    return chromium


def listed(browser: webdriver.Chrome) -> list[str]:
    return [element.text for element in browser.find_elements(By.CSS_SELECTOR, "#list summary code")]


def click(browser: webdriver.Chrome, element: WebElement) -> None:
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", element)
    element.click()


def test_it_opens_without_an_error_and_without_the_network(browser: webdriver.Chrome) -> None:
    assert [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"] == []
    assert "60 vectors" in browser.find_element(By.TAG_NAME, "header").text
    assert browser.find_element(By.CSS_SELECTOR, "form output").text == "60 of 60 cases"
    fetched = browser.execute_script("return performance.getEntriesByType('resource').map((one) => one.name)")
    assert [name for name in fetched if not name.startswith(("data:", "blob:"))] == []


def test_a_cell_of_the_matrix_leads_to_its_failures(browser: webdriver.Chrome) -> None:
    cell = browser.find_element(By.CSS_SELECTOR, '.matrix button[data-adapter="wrong"][data-suite="hashing"]')
    assert cell.find_element(By.CSS_SELECTOR, "span.failed").text == "6"
    click(browser, cell)
    assert listed(browser) == [f"case-{number}" for number in range(1, CASES, 10)]
    assert Select(browser.find_element(By.NAME, "status")).first_selected_option.text == "failed"


def test_a_case_opens_to_its_evidence(browser: webdriver.Chrome) -> None:
    browser.find_element(By.NAME, "words").send_keys("case-11")
    assert listed(browser) == ["case-11"]
    click(browser, browser.find_element(By.CSS_SELECTOR, "#list summary"))
    opened = WebDriverWait(browser, 10).until(lambda one: one.find_elements(By.CSS_SELECTOR, "#list .case"))
    text = opened[0].text
    for found in ("<b>bold</b>", '{ "ok": 11 }', '{ "ok": -11 }', "another number", "the note of 11", "HSH001"):
        assert found in text
    assert "iceberg-conformance replay case-11 --adapter wrong" in text
    assert browser.find_elements(By.CSS_SELECTOR, "#list b b, #list pre b") == []


def test_a_long_list_grows_when_asked(browser: webdriver.Chrome) -> None:
    more = browser.find_element(By.ID, "more")
    while more.is_displayed():
        before = len(listed(browser))
        click(browser, more)
        assert len(listed(browser)) > before
    assert len(listed(browser)) == CASES


def test_deviations_are_grouped_by_cause(browser: webdriver.Chrome) -> None:
    text = browser.find_element(By.ID, "deviations").text
    assert "wrong lib 2" in text
    assert "6 failed (failed) another number" in text
    assert "right lib 1" not in text


def test_coverage_leads_to_the_cases_of_a_requirement(browser: webdriver.Chrome) -> None:
    assert re.search(
        r"\n1 of \d{3} requirements have cases in this run\.\n", browser.find_element(By.ID, "coverage").text
    )
    (section,) = [
        row
        for row in browser.find_elements(By.CSS_SELECTOR, "#coverage tbody tr")
        if "\n1 of " in row.find_element(By.TAG_NAME, "th").text
    ]
    right, wrong = (cell.text for cell in section.find_elements(By.TAG_NAME, "td"))
    assert (right, wrong) == ("1 passed", "1 failed")
    toggle = section.find_element(By.TAG_NAME, "button")
    click(browser, toggle)
    opened = section.find_element(By.XPATH, "..")
    rows = {
        row.find_element(By.TAG_NAME, "a").text: row for row in opened.find_elements(By.CSS_SELECTOR, ".requirement")
    }
    counts = [cell.text for cell in rows["HSH001"].find_elements(By.TAG_NAME, "td")]
    assert counts == [f"{CASES} passed", f"6 failed\n{CASES - 6} passed"]
    assert "no case in this run" in rows["HSH002"].text
    click(browser, rows["HSH001"].find_element(By.TAG_NAME, "button"))
    assert f"{CASES} of {CASES} cases" in browser.find_element(By.CSS_SELECTOR, "form output").text
    click(browser, toggle)
    assert opened.find_elements(By.CSS_SELECTOR, ".requirement") == []


def test_an_open_point_shows_the_side_of_each_implementation(browser: webdriver.Chrome) -> None:
    text = browser.find_element(By.ID, "open-points").text
    assert "E20" in text
    assert "It divides the implementations in 1 case." in text
    assert "the outcome listed first\nright (1)" in text
    assert "refuses\nwrong (1)" in text
    click(browser, browser.find_element(By.CSS_SELECTOR, "#open-points td > button"))
    assert listed(browser) == [f"case-{DIVIDING}"]


def test_the_matrix_of_tables_has_producers_by_consumers(browser: webdriver.Chrome) -> None:
    section = browser.find_element(By.ID, "tables")
    rows = [
        [cell.text for cell in row.find_elements(By.CSS_SELECTOR, "th, td")]
        for row in section.find_elements(By.CSS_SELECTOR, "tr")
    ]
    assert rows == [["producer", "reader"], ["writer", "1\n1"]]
    counts = section.find_elements(By.CSS_SELECTOR, "td .counts span")
    assert [(one.get_attribute("title"), one.text) for one in counts] == [("passed", "1"), ("failed", "1")]
    assert "2 tables, and 2 pairs" in section.text


def test_what_writers_write_is_reported_with_the_rules_that_it_breaks(browser: webdriver.Chrome) -> None:
    section = browser.find_element(By.ID, "writers")
    (duckdb,) = [row for row in section.find_elements(By.CSS_SELECTOR, "tbody tr") if row.text.startswith("duckdb")]
    cells = duckdb.find_elements(By.TAG_NAME, "td")
    assert "no deletes (refuses)" in cells[0].text
    assert cells[1].text.startswith("position-deletes")
    assert "deletion-vector\nLIN026 PUF025" in cells[2].text
    title = cells[2].find_element(By.TAG_NAME, "code").get_attribute("title")
    assert title


def test_the_page_opens_on_what_failed_and_leads_to_each_case(browser: webdriver.Chrome) -> None:
    first = browser.find_element(By.CSS_SELECTOR, "main section")
    assert first.get_attribute("id") == "failures"
    assert "6 failed" in first.text
    click(browser, first.find_element(By.LINK_TEXT, "case-1"))
    WebDriverWait(browser, 10).until(lambda one: listed(one) == ["case-1"])
    assert browser.find_element(By.CSS_SELECTOR, "#list .case").is_displayed()


def test_each_case_and_filter_has_an_address(chromium: webdriver.Chrome, page: Path) -> None:
    for address, shown in (
        ("case=case-21", ["case-21"]),
        ("cases?adapter=wrong&status=failed&words=HSH001", [f"case-{number}" for number in range(1, CASES, 10)]),
    ):
        chromium.get("about:blank")
        chromium.get(f"{page.as_uri()}#{address}")
        WebDriverWait(chromium, 10).until(lambda one, shown=shown: listed(one) == shown)
    status = Select(chromium.find_element(By.NAME, "status"))
    assert status.first_selected_option.text == "failed"
    chromium.find_element(By.NAME, "words").send_keys(" case-31")
    assert listed(chromium) == ["case-31"]
    assert chromium.current_url.endswith("#cases?adapter=wrong&status=failed&words=HSH001+case-31")


@pytest.mark.parametrize(
    "view", ["failures", "matrix", "cases", "deviations", "open-points", "coverage", "tables", "writers"]
)
def test_each_view_can_be_linked_to_and_looked_at(chromium: webdriver.Chrome, page: Path, view: str) -> None:
    chromium.get("about:blank")
    chromium.get(f"{page.as_uri()}#{view}")
    WebDriverWait(chromium, 10).until(lambda one: one.find_element(By.TAG_NAME, "body").get_attribute("data-ready"))
    top = chromium.execute_script("return document.getElementById(arguments[0]).getBoundingClientRect().top", view)
    assert -1 <= top < chromium.execute_script("return window.innerHeight")
    links = [link.get_attribute("href").partition("#")[2] for link in chromium.find_elements(By.CSS_SELECTOR, "nav a")]
    assert view in links
    SCREENS.mkdir(parents=True, exist_ok=True)
    image = SCREENS / f"report-{view}.png"
    assert chromium.save_screenshot(str(image))


def test_the_page_of_a_matrix_shows_its_tables_and_opens_a_cell(chromium: webdriver.Chrome, tmp_path: Path) -> None:
    path = tmp_path / "matrix.html"
    path.write_text(matrix_page.render(tables()), encoding="utf-8")
    chromium.get(path.as_uri())
    output = WebDriverWait(chromium, 10).until(lambda one: one.find_element(By.CSS_SELECTOR, "form output").text)
    assert output == "2 of 2 tables"
    assert [entry for entry in chromium.get_log("browser") if entry["level"] == "SEVERE"] == []
    click(chromium, chromium.find_element(By.CSS_SELECTOR, "#grid button.failed"))
    text = chromium.find_element(By.ID, "detail").text
    assert "a row too many" in text
    assert "--consumer reader" in text

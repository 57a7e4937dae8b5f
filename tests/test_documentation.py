"""The documentation: generated pages, and links between pages; ``make docs`` builds it with warnings as errors."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest
from cyclopts import CycloptsError
from shipped_vectors import shipped_vectors

from conformance.cli import make_app
from conformance.core.spec_links import areas
from conformance.interop.cells import TableOutcome
from conformance.interop.known import KnownOutcome
from conformance.operations.families import Family, families
from conformance.operations.protocol import message_violation
from conformance.runner import expectations
from spec_ref.requirements import contradictions, register
from tools.docs import engines, findings, interop, protocol, site, versions
from tools.docs.markdown import code, plain, table


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    return site.pages()


def test_the_tables_of_the_protocol_are_those_of_its_schema() -> None:
    assert protocol.main(["--check"]) == 0


def test_a_stale_table_or_example_of_the_protocol_is_reported(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = protocol.PAGE.read_text(encoding="utf-8")
    assert protocol.page(text) == text
    for old, new in (("| `hash` | `type`, `value` |", "| `hash` | `value` |"), ('"ok": -463810133', '"ok": 1')):
        assert old in text
        assert protocol.page(text.replace(old, new)) == text
    with pytest.raises(AssertionError, match="twice: sing"):
        protocol.page(text.replace("<!-- family: hashing", "<!-- family: sing"))
    with pytest.raises(AssertionError, match="twice: hashing"):
        protocol.page(text.replace("<!-- family: types", "<!-- family: hashing"))
    nowhere = protocol.page(text.replace("<!-- family: hashing -->", "").replace("## Hashes", ""))
    assert nowhere.index("## Hashes") > nowhere.index("<!-- family: * -->")
    stale = tmp_path / "protocol.md"
    stale.write_text(text.replace("| `hash` | `type`, `value` |", "| `hash` | `value` |"), encoding="utf-8")
    monkeypatch.setattr(protocol, "PAGE", stale)
    monkeypatch.setattr(protocol, "ROOT", tmp_path)
    assert protocol.main(["--check"]) == 1
    assert capsys.readouterr().err.startswith("protocol.md: stale")


def test_examples_are_of_vectors_and_have_an_answer() -> None:
    shown = "".join((family.path / "README.md").read_text(encoding="utf-8") for family in families())
    assert {family.name for family in families() if f"# {family.title}\n" in shown} == {one.name for one in families()}
    with pytest.raises(AssertionError, match="there is no vector sing"):
        protocol.example("sing")


@pytest.mark.parametrize("family", families(), ids=lambda family: family.name)
def test_messages_of_examples_are_of_the_protocol(family: Family) -> None:
    text = (family.path / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"(?s)```json\n(.*?)```", text)
    assert blocks
    for block in blocks:
        request, answer = map(json.loads, block.splitlines())
        assert request["op"] in family.operations
        if "..." not in block:
            assert message_violation("ask", request) is None
            assert message_violation(f"{request['op']}.answer", answer["ok"]) is None


def test_the_page_of_versions_is_that_of_the_tables(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert versions.main(["--check"]) == 0
    stale = tmp_path / "format-versions.md"
    monkeypatch.setattr(versions, "PAGE", stale)
    assert versions.main(["--check"]) == 1
    stale.write_text(versions.page().replace("| `next-row-id` | omitted |", "| `next-row-id` | optional |"))
    assert versions.main(["--check"]) == 1


def test_every_operation_has_its_arguments_and_answer(pages: dict[str, str]) -> None:
    text = pages["operations.md"]
    names = protocol.operations(protocol.definitions())
    assert re.findall(r"(?m)^## (.*)$", text) == names
    hash_ = text[text.index("## hash") : text.index("## ", text.index("## hash") + 5)]
    assert "| `type` |" in hash_
    assert "integer or null" in hash_
    plan = text[text.index("## scan.plan") :]
    assert re.search(r"\| `filter` \| optional \|", plan)


def test_every_requirement_stands_on_the_page_of_its_area(pages: dict[str, str]) -> None:
    found = {
        anchor: name for name, text in pages.items() for anchor in re.findall(r"(?m)^\(([a-z]{3}[0-9]{3})\)=$", text)
    }
    assert set(found) == {one.lower() for one in register()}
    assert all(found[one.lower()] == f"requirements-{area}.md" for area, codes in areas().items() for one in codes)
    text = pages["requirements-hashing.md"]
    rule = text[text.index("## HSH007") : text.index("## HSH008")]
    for shown in (
        "2132039410",
        "f79c3e09",
        "duckdb-iceberg/issues/1325",
        "hash-uuid-spec",
        "contradictions.md#point-a1",
    ):
        assert shown in rule


def test_every_known_deviation_stands_on_the_page_of_its_engine(pages: dict[str, str]) -> None:
    ids = {vector.id for vector in shipped_vectors()}
    for one in expectations.load_deviations(expectations.SHIPPED, ids).deviations:
        text = pages[f"findings-{one.engine}.md"]
        assert plain(one.reason) in text or plain(one.reason)[1:] in text
        assert plain(one.evidence) in text
        assert code(one.vectors[0]) in text


def test_known_outcomes_of_tables_are_on_the_page_of_the_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    failed, invalid = TableOutcome.FAILED, TableOutcome.INVALID
    cell = KnownOutcome(
        "cell", "polars@2.1.0", ("plain-*",), failed, "rows_are lost", ("2.1.0",), ("pyiceberg",), "a row"
    )
    table = KnownOutcome("table", "newcomer", ("plain",), invalid, "no bounds", evidence="https://example.org/1")
    monkeypatch.setattr(findings, "tables", lambda: (cell, table))
    assert "newcomer" in findings.engines()
    assert re.search(r"\| \[newcomer\]\(findings-newcomer.md\) \|  (\| 0 ){6}\| 1 \|", findings.index())
    polars, newcomer = findings.engine_page("polars"), findings.engine_page("newcomer")
    assert all(text in polars for text in ("failed** a row", r"rows\_are lost", "`plain-*`", "producers: `pyiceberg`"))
    assert all(text in newcomer for text in ("invalid**", "no bounds", "<https://example.org/1>"))


def test_every_contradiction_is_reported(pages: dict[str, str]) -> None:
    text = pages["contradictions.md"]
    assert re.findall(r"(?m)^\(point-(.*)\)=$", text) == sorted(
        (one.lower() for one in contradictions()), key=lambda id_: id_[0]
    )
    assert all(plain(one.decision) in text for one in contradictions().values())


def test_every_page_is_in_the_table_of_contents(pages: dict[str, str]) -> None:
    listed = re.findall(r"(?m)^[a-z][a-z0-9_-]*$", pages["index.md"])
    assert len(set(listed)) == len(listed)
    below = {name.removesuffix(".md") for name in pages if name.startswith(("requirements-", "proofs-", "findings-"))}
    suites = set(re.findall(r"(?m)^vectors-[a-z0-9-]+$", pages["vectors.md"]))
    below |= suites
    assert suites == {f"vectors-{vector.suite}" for vector in findings.all_vectors().values()}
    assert set(listed) == {name.removesuffix(".md") for name in pages} - below - {"index"}


def test_links_between_pages_lead_somewhere(pages: dict[str, str]) -> None:
    links = []
    for name, text in pages.items():
        prose = re.sub(r"(?ms)^```.*?^```|`[^`\n]+`", "", text)
        links += [(name, target) for target in re.findall(r"(?<!\\)\]\(([^)\s]+)\)", prose)]
    assert links
    inside = [(name, target.partition("#")[0]) for name, target in links if not re.match("[a-z]+:|#", target)]
    pictures = {path.name for path in (site.ROOT / "docs").glob("*.svg")}
    assert [(name, target) for name, target in inside if target not in pages and target not in pictures] == []


def test_links_of_html_lead_to_an_address(pages: dict[str, str]) -> None:
    places = {
        name: {first or second for first, second in re.findall(r'(?m)^\(([^)\n]+)\)=$|\bid="([^"]+)"', text)}
        | {re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-") for title in re.findall(r"(?m)^#+ (.*)$", text)}
        for name, text in pages.items()
    }
    links = {
        (name, target.replace(".html", ".md") or name, anchor)
        for name, text in pages.items()
        for target, anchor in re.findall(r'<a [^>]*?href="([^":#]*)(?:#([^"]*))?"', text)
        if target != interop.MATRIX_REPORT
    }
    shown = findings.all_vectors().values()
    anchors = {(to.partition("-")[0], at) for name, to, at in links if name.startswith("vectors-")}
    assert anchors >= {("requirements", code.lower()) for vector in shown for code in vector.requirements}
    assert anchors >= {("operations.md", vector.operation.name.replace(".", "-")) for vector in shown}
    nowhere = [(name, to, at) for name, to, at in sorted(links) if to not in places or (at and at not in places[to])]
    assert nowhere == []


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("[the protocol](protocol.md#values)", "[the protocol](protocol.md#values)"),
        ("[vectors](../vectors/README.md)", "[vectors](vectors.md)"),
        ("[`spec_ref`](../spec_ref)", "`spec_ref`"),
        ("[the hash](../spec_ref/hashing.py)", "the hash (`spec_ref/hashing.py`)"),
        ("[`spec_ref/hashing.py`](../spec_ref/hashing.py)", "`spec_ref/hashing.py`"),
        ("[rules](requirements.md), [home](../README.md)", "[rules](requirements.md), [home](index.md)"),
        ("[out](https://example.org/x.md)", "[out](https://example.org/x.md)"),
        ("```\n[a](none.md)\n```", "```\n[a](none.md)\n```"),
    ],
)
def test_links_are_made_fit_for_the_site(text: str, made: str) -> None:
    assert site.resolve_links(text, site.ROOT / "docs" / "x.md", site.handwritten()) == made + "\n"


@pytest.mark.parametrize("target", ["none.md", "../nothing.py", "minimal.py#x"])
def test_a_link_to_nothing_ends_the_build(target: str) -> None:
    with pytest.raises(site.BrokenLink, match=f"docs/x.md: there is no {re.escape(target)}"):
        site.resolve_links(f"see [it]({target})\n", Path(site.ROOT / "docs" / "x.md"), site.handwritten())


def test_texts_do_not_become_markup() -> None:
    assert plain("a_b *c* [d] <e> `x_y` #1") == r"a\_b \*c\* \[d\] \<e\> `x_y` \#1"
    assert plain("see https://x.org/a_b/1, and more") == "see <https://x.org/a_b/1>, and more"
    assert plain("one ` tick") == "one \\` tick"
    assert code("a ` b") == "``a ` b``"
    assert table(["a", "b"], [["1", "2\n3"]]) == ["| a | b |", "|---|---|", "| 1 | 2 3 |"]


@pytest.mark.parametrize("path", [*site.handwritten(), site.ROOT / "README.md"], ids=lambda path: path.name)
def test_commands_that_are_shown_are_commands(path: Path) -> None:
    app = make_app()
    text = path.read_text(encoding="utf-8").replace("\\\n", " ")
    for shown in re.findall(r"(?m)^\s*\$ iceberg-conformance (.*)$", text):
        words = shlex.split(re.sub(r"\$\([^)]*\)", "0123456789", shown.partition(" > ")[0]), comments=True)
        app.parse_args(words, exit_on_error=False, print_error=False)  # raises, where one does not fit


def test_code_that_the_page_about_reading_shows_is_that_of_the_module_named_before_it() -> None:
    def layout_free(code: str) -> str:
        return re.sub(r",(?=[)\]])", "", re.sub(r"\s", "", code))

    text = (site.ROOT / "docs" / "reading-the-spec-as-code.md").read_text(encoding="utf-8")
    shown = list(re.finditer(r"(?ms)^```python\n(.*?)^```", text))
    assert shown
    for block in shown:
        module = re.findall(r"`(spec_ref/[\w/]+\.py)`", text[: block.start()])[-1]
        assert layout_free(block[1]) in layout_free((site.ROOT / module).read_text(encoding="utf-8")), module


def test_a_command_that_is_none_would_be_reported() -> None:
    for words in (["rnu"], ["run", "--no-such"], ["report", "--format", "pdf"], ["explain"]):
        with pytest.raises(CycloptsError):
            make_app().parse_args(words, exit_on_error=False, print_error=False)


GOOD = "# Home\n\nSee [there](other.md#some-heading).\n\n```{toctree}\nother\n```\n"


@pytest.mark.parametrize(
    ("index", "expected"),
    [
        (GOOD, None),
        (GOOD.replace("#some-heading", "#another-heading"), "another-heading"),
        (GOOD.replace("other.md#some-heading", "nothing.md"), "nothing.md"),
        (GOOD.replace("\nother\n", "\nindex-of-nothing\n"), "index-of-nothing"),
    ],
)
def test_a_warning_of_the_build_is_an_error(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], index: str, expected: str | None
) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "index.md").write_text(index)
    (tmp_path / "in" / "other.md").write_text("# Other\n\n## Some heading\n\nText.\n")
    status = site.build(tmp_path / "in", tmp_path / "out")
    written = capfd.readouterr().err
    if expected is not None:
        assert status != 0
        assert expected in written
        return
    assert (status, written) == (0, "")
    for page in (tmp_path / "out").glob("*.html"):
        text = page.read_text(encoding="utf-8")
        fetched = re.findall(r"<(?:script|link|img|iframe|source)\b[^>]*?(?:src|href)=[\"']([^\"']+)", text)
        assert fetched
        assert [one for one in fetched if re.match("(?:[a-z]+:)?//", one)] == []
    for style in (tmp_path / "out" / "_static").rglob("*.css"):
        assert not re.search(r"(?:@import|url\()[^;)]*//", style.read_text(encoding="utf-8")), style


def test_the_lists_of_engines_are_those_of_their_folders() -> None:
    assert [path.name for path, text in engines.pages().items() if path.read_text(encoding="utf-8") != text] == []

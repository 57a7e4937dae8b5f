"""The index of the reference: it is current, complete, and finds rules by their words."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from spec_ref.requirements import Requirement, Status, register
from tools import index
from tools.entry_point import OUTPUT_CLOSED
from tools.index import ROOT, Heading, IndexProblem, headings, search
from tools.index.layers import DRAWING, direct, drawing, imports, layers, picture, svg

RULES = [one for one in register().values() if one.status is Status.ADOPTED]


def find_heading(rule: Requirement) -> Heading:
    return next(one for one in headings() if (one.document, one.title) == (rule.document, rule.section))


def where(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tools.where", *words]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_a_reader_that_closes_the_output_gets_no_traceback() -> None:
    reader, output = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "tools.where", "sequence", "number"]
    with os.fdopen(output, "w") as closed:
        run = subprocess.run(command, cwd=ROOT, stdout=closed, stderr=subprocess.PIPE, text=True, check=False)
    assert (run.returncode, run.stderr) == (OUTPUT_CLOSED, "")


def test_the_page_is_current() -> None:
    assert index.INDEX.read_text(encoding="utf-8") == "\n".join(index.page()) + "\n"


def test_each_rule_has_a_module_or_a_reason() -> None:
    """A reason is for what is out of scope, a draft, or the reader of the text alone."""
    assert all(one.modules or one.reason for one in headings())
    silent = {rule.code for rule in RULES if not find_heading(rule).modules and rule.unproven is None}
    assert silent == set()


def test_the_index_leads_to_a_module_that_states_the_rule() -> None:
    """One file of the row is enough: the first, or the one with the code in parentheses."""
    for rule in RULES:
        heading = find_heading(rule)
        place = heading.place(rule.code)
        assert place or not heading.modules, f"no module of spec_ref states {rule.code}: {rule.text}"
        if place:
            assert rule.code in (index.REFERENCE / place).read_text(encoding="utf-8")


def test_the_row_names_the_module_of_a_rule_that_the_first_one_does_not_state() -> None:
    row = next(line for line in index.page() if line.startswith("| Sequence Number Inheritance |"))
    assert "[manifests/inheritance.py](manifests/inheritance.py): " in row
    assert "<br>[commits/manifest_merging.py](commits/manifest_merging.py) (SEQ008)" in row


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (('"Sorting" = ["sorting/comparator.py", "sorting/order.py"]', ""), "spec: headings.toml lacks 'Sorting'"),
        (('"Sorting" = ', '"Sortings" = '), "spec: 'Sortings' is not a heading of the text"),
        (('"Identifier Field IDs" = ["', '"Identifier Field IDs" = ["x/'), "'Identifier Field IDs' names x/"),
        (("[udf-spec]", "[udfs]"), "headings.toml has udfs, which is not a text of the register"),
    ],
    ids=["missing", "unknown", "module", "document"],
)
def test_what_does_not_fit_the_texts_is_a_problem(
    change: tuple[str, str], problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = index.HEADINGS.read_text(encoding="utf-8")
    assert change[0] in text
    changed = tmp_path / "headings.toml"
    changed.write_text(text.replace(*change, 1), encoding="utf-8")
    monkeypatch.setattr(index, "HEADINGS", changed)
    headings.cache_clear()
    try:
        with pytest.raises(IndexProblem, match=problem):
            headings()
    finally:
        headings.cache_clear()


def test_a_rule_is_found_by_its_code() -> None:
    for rule in RULES:
        assert search(rule.code)[0].requirements == (rule,)


def test_a_rule_is_found_by_its_words() -> None:
    """The slug of nearly every rule leads to its heading among the first three."""
    asked = [rule for rule in RULES if find_heading(rule).modules]
    missed = [r.slug for r in asked if find_heading(r) not in [one.heading for one in search(r.slug)[:3]]]
    assert len(missed) <= len(asked) / 40, missed


def test_the_command_prints_the_modules() -> None:
    answer = where("sequence", "number", "inheritance")
    assert answer.returncode == 0
    assert answer.stdout.startswith("Sequence Number Inheritance (spec)\n  spec_ref/manifests/inheritance.py\n")


def test_nothing_found_is_said() -> None:
    answer = where("zzz")
    assert (answer.returncode, answer.stdout) == (1, "")
    assert "'zzz'" in answer.stderr


def test_the_picture_marks_each_import_in_the_order_of_the_layers() -> None:
    imported = {"core": {"json"}, "json": {"core"}, "schemas": {"core"}}
    assert list(picture(["core", "json", "schemas"], imported)) == [
        "            1  2  3",
        " 1 core     \\  x",
        " 2 json     x  \\",
        " 3 schemas  x  .  \\",
    ]


def test_the_picture_has_every_package_of_the_reference() -> None:
    names = [name for layer in layers() for name in layer]
    assert sorted(names) == sorted(imports())
    assert names[0] == "core"
    assert "core" in imports()["schemas"]


def test_the_drawing_leaves_out_imports_that_follow_from_others() -> None:
    assert direct({"core": {"core"}, "json": {"core"}, "schemas": {"core", "json"}}) == {
        "core": set(),
        "json": {"core"},
        "schemas": {"json"},
    }


def test_the_drawing_has_a_box_for_each_package_and_a_line_for_each_import() -> None:
    lines = list(drawing([["core"], ["json", "checks"]], {"core": set(), "json": {"core"}, "checks": set()}))
    assert [line.partition(">")[2].partition("<")[0] for line in lines if line.startswith("<text")] == [
        "checks",
        "core",
        "json",
    ]
    assert [line for line in lines if line.startswith("<path")] == [
        line for line in lines if "<title>json imports core</title>" in line
    ]


def test_the_drawing_is_that_of_the_imports() -> None:
    assert DRAWING.read_text(encoding="utf-8") == svg(), "run `python -m tools.index`"

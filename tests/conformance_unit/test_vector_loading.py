"""Loading vectors: malformed files are reported with their place before any request; selections are exact."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conformance import vectors
from conformance.core.failures import UsageError
from conformance.operations.protocol import Ok, Refused, validator
from conformance.vectors import Selection, count_on_disk, load, name_expression, shipped

GOOD = {"id": "good", "args": {"type": "int"}, "expect": {"ok": "int"}}
WriteFile = Callable[..., Path]


def test_all_shipped_vectors_load_and_are_counted() -> None:
    folder = vectors.shipped()
    loaded = load(folder)
    assert {vector.file for vector in loaded} == {str(file) for file in vectors.vector_files(folder)}
    assert len(loaded) == count_on_disk(folder)


def test_permitted_outcomes_are_read(vector_file: WriteFile) -> None:
    both = {"any_of": [{"ok": "int"}, {"error": "invalid"}]}
    path = vector_file(
        [GOOD, {**GOOD, "id": "both", "expect": both}, {**GOOD, "id": "no", "expect": both["any_of"][1]}]
    )
    one, two, three = load(path.parent.parent)
    assert one.permitted == (Ok("int"),)
    assert two.permitted == (Ok("int"), Refused("invalid"))
    assert three.permitted == (Refused("invalid"),)
    assert two.expect == both
    assert (one.suite, one.operation.name, one.file) == ("mini", "type.parse", str(path))


def complaint(folder: Path) -> str:
    with pytest.raises(UsageError) as caught:
        load(folder)
    text = str(caught.value)
    assert "\n" not in text
    return text


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({"id": "x"}, '/vectors/0: "args" is a required property'),
        ({**GOOD, "expect": {}}, "/vectors/0/expect"),
        ({**GOOD, "expect": {"ok": 1, "error": "invalid"}}, "/vectors/0/expect"),
        ({**GOOD, "expect": {"error": "internal"}}, "/vectors/0/expect"),
        ({**GOOD, "args": {}}, '"type" is a required property'),
        ({**GOOD, "expect": {"ok": 7}}, "7 is not of type"),
        ({**GOOD, "extra": 1}, "extra"),
    ],
)
def test_a_broken_vector_is_reported_with_file_and_place(
    vector_file: WriteFile, row: dict[str, Any], reason: str
) -> None:
    path = vector_file([row])
    text = complaint(path.parent.parent)
    assert text.startswith(f"{path}: broken vector file: ")
    assert reason in text


def test_vectors_are_checked_once_with_the_schema_of_the_tool(vector_file: WriteFile) -> None:
    """A folder may come with the schema of another release, and each further validator takes time to compile."""
    path = vector_file([GOOD])
    path.parent.parent.joinpath("vectors.schema.json").write_text("false")
    validator.cache_clear()
    assert [vector.id for vector in load(path.parent.parent)] == ["good"]
    assert validator.cache_info().currsize == 0


@pytest.mark.parametrize("content", ["", "{", "[]", '{"suite": "a", "suite": "b"}', '{"vectors": NaN}', "\ufeff{}"])
def test_a_file_that_is_no_vector_file_is_reported(tmp_path: Path, content: str) -> None:
    (tmp_path / "mini").mkdir()
    (tmp_path / "mini" / "broken.json").write_text(content, encoding="utf-8")
    assert complaint(tmp_path).startswith(f"{tmp_path}/mini/broken.json: broken vector file: ")


def test_an_unknown_operation_is_reported(vector_file: WriteFile) -> None:
    path = vector_file([GOOD])
    path.write_text(json.dumps({**json.loads(path.read_text()), "operation": "guess"}))
    assert "/operation" in complaint(path.parent.parent)


def test_an_id_that_is_given_twice_names_both_files(vector_file: WriteFile) -> None:
    first, second = vector_file([GOOD], name="a"), vector_file([GOOD], name="b")
    assert complaint(first.parent.parent) == f"{second}: a vector in {first} already has the id good"


def test_a_folder_without_vectors_is_reported(tmp_path: Path) -> None:
    assert "no vectors in it" in complaint(tmp_path)
    assert "no such folder" in complaint(tmp_path / "none")


@pytest.mark.parametrize(
    ("selection", "count"),
    [
        (Selection(), 10),
        (Selection(suites=("mini",)), 10),
        (Selection(sections=("appendix c",)), 10),
        (Selection(requirements=("TYP023",)), 10),
        (Selection(requirements=("TYP",)), 10),
        (Selection(requirements=("HSH001",)), 0),
        (Selection(format_version=3), 10),
        (Selection(format_version=4), 0),
        (Selection(names="mini-1"), 2),
        (Selection(names="mini-1 and not mini-10"), 1),
        (Selection(names="MINI-3 or mini-4 and nothing"), 1),
        (Selection(names="(mini-3 or mini-4) and type.parse"), 2),
        (Selection(names="not(typ023)"), 0),
    ],
)
def test_selections_take_what_they_say(mini_vectors: Path, selection: Selection, count: int) -> None:
    assert len(selection.choose(load(mini_vectors))) == count


def test_the_former_suite_of_tagged_vectors_selects_them() -> None:
    every = load(shipped())
    writing = Selection(suites=("writing",)).choose(every)
    tagged = [vector for vector in writing if vector.tags == ("thorough",)]
    assert 0 < len(tagged) < len(writing)
    assert list(Selection(suites=("writing-more",)).choose(every)) == tagged
    assert list(Selection(suites=("writing",), names="thorough").choose(every)) == tagged
    assert list(Selection(names="writing-more").choose(every)) == tagged


@pytest.mark.parametrize(
    ("selection", "reason"),
    [
        (Selection(suites=("none",)), "unknown suite 'none'. The suites are mini"),
        (Selection(sections=("Appendix Z",)), "unknown section 'Appendix Z'"),
        (Selection(requirements=("XYZ001",)), "unknown requirement 'XYZ001'"),
        (Selection(names=""), "a word is missing at the end"),
        (Selection(names="a b"), "unexpected 'b'"),
        (Selection(names="a and"), "a word is missing at the end"),
        (Selection(names="or a"), "a word is missing before 'or'"),
        (Selection(names="(a"), "a parenthesis is not closed"),
        (Selection(names="a)"), "unexpected ')'"),
        (Selection(names="(" * 10_000 + "a" + ")" * 10_000), "too many parentheses inside each other"),
    ],
)
def test_a_selection_of_unknown_names_is_reported(mini_vectors: Path, selection: Selection, reason: str) -> None:
    with pytest.raises(UsageError) as caught:
        selection.choose(load(mini_vectors))
    assert reason in str(caught.value)


def test_not_binds_closer_than_and_and_and_closer_than_or(mini_vectors: Path) -> None:
    every = {vector.id: vector for vector in load(mini_vectors)}
    matches = name_expression("mini-2 or not mini-3 and mini-4")
    assert [id_ for id_, vector in every.items() if matches(vector)] == ["mini-2", "mini-4"]


def test_a_long_list_of_words_selects_as_a_short_one(mini_vectors: Path) -> None:
    every = {vector.id: vector for vector in load(mini_vectors)}
    matches = name_expression(" or ".join(["zebra"] * 2_000 + ["mini-2", "mini-4"]))
    assert [id_ for id_, vector in every.items() if matches(vector)] == ["mini-2", "mini-4"]

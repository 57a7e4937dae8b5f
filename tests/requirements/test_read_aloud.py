"""Texts that are drawn to be read aloud: a seed repeats them, and every kind of text is drawn."""

import random
import re
from pathlib import Path

import pytest

from tools.read_aloud import data, docstrings, findings, helps, main, messages, paragraphs


def drawn(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[str]:
    assert main(arguments) == 0
    return re.findall(r"^--- (\w+): (.+)$", capsys.readouterr().out, re.MULTILINE)


def test_a_seed_draws_the_same_texts_again(capsys: pytest.CaptureFixture[str]) -> None:
    some = ("--helps", "4", "--docstrings", "3", "--paragraphs", "2", "--data", "5", "--findings", "1")
    first = drawn(capsys, "--seed", "3", *some)
    assert [kind for kind, _ in first] == [
        *["help"] * 4,
        *["docstring"] * 3,
        *["paragraph"] * 2,
        *["data"] * 5,
        "finding",
    ]
    assert drawn(capsys, "--seed", "3", *some) == first


def test_another_seed_draws_other_texts(capsys: pytest.CaptureFixture[str]) -> None:
    only = ("--helps", "4", "--docstrings", "0", "--paragraphs", "0", "--data", "0", "--findings", "0")
    first = drawn(capsys, "--seed", "3", *only)
    assert len(first) == 4
    assert drawn(capsys, "--seed", "4", *only) != first


def test_texts_of_every_kind_are_there() -> None:
    options = [text for name, text in helps() if name == "run"]
    assert any(text.startswith("adapter: ") for text in options)
    assert any(place == "README.md:3" for place, _ in paragraphs())
    assert not any("```" in text for _, text in paragraphs())
    assert any(place == "tools/read_aloud.py main" for place, _ in docstrings())
    texts = dict(data())
    assert texts["HSH001"].startswith("text: ")
    assert {"A22", "hash-int-34"} <= texts.keys()


def test_every_message_names_its_subject() -> None:
    """A message is ``<thing> <what is wrong>``, so that it can be read without the code before it."""
    known = messages()
    assert ("TMD015", "current-snapshot-id does not name a snapshot of the table") in known
    assert [text for _, text in known if re.match("(not|no such|there (is|are) no) ", text)] == []


def test_each_check_is_drawn_once(tmp_path: Path) -> None:
    places = [place.partition(": ")[2] for place, _ in findings(random.Random(1), 3, tmp_path)]
    assert len(places) == len(set(places)) == 3

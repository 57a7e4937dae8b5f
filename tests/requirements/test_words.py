"""The words that the house style avoids: `tools.words` finds them in prose, and none where it looks by itself."""

import pytest

from tools.words import ROOT, RULES, AllowedText, check, lint, load, problems, prose

STYLE = load(RULES.read_text(encoding="utf-8"))


def found(source: str, *allowed: AllowedText, path: str = "a.py") -> list[str]:
    style = type(STYLE)(STYLE.paths, STYLE.rules, allowed)
    return [one.split(": ")[1] for one in problems(path, source, style)[0]]


def test_the_checked_paths_have_no_word_to_avoid() -> None:
    files = STYLE.files()
    assert files
    assert list(check(STYLE, files)) == []


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ('"""What the file tells."""\n', ["'tells'"]),
        ("x = 1  # told by the caller\n", ["'told'"]),
        ('f("the length is another")\n', ["'is another'"]),
        ('f(f"{name} is no id")\n', ["'is no id'"]),
        ('"""A key\n    stands twice."""\n', ["'stands'"]),
        ("# the test value comes out as an int\n", ["'comes out'"]),
        ('"""Ask the engines."""\n', ["'Ask the engines'"]),
        ('"""Asks an engine."""\n', ["'Asks an engine'"]),
        ('"""Hold the reference to its decision."""\n', ["'Hold the reference to its'"]),
        ('"""What a header says of the file."""\n', ["'What a header says of'"]),
        ('"""Needed by certain readers."""\n', ["'certain'"]),
        ('"""It surely has a list of its own."""\n', ["'of its own'", "'surely'"]),
        ('"""No sentence asks an engine to support it."""\n', []),
        ('"""There is no snapshot, and it is no longer than that."""\n', []),
        ('"""Calls `tell` and ``told``."""\n', []),
        ('told = "tells"\n', []),
        ('f(f"in {told.path} of it")\n', []),
    ],
)
def test_words_are_found_in_docstrings_comments_and_messages(source: str, words: list[str]) -> None:
    assert found(source) == words


@pytest.mark.parametrize(
    ("path", "source", "words"),
    [
        ("a.md", "What the file tells.\n", ["'tells'"]),
        ("a.md", "```console\n$ tell\n```\n\nIt is `told` [here](told.md).\n", []),
        ("a.md", "```text\ntold\n```\nIt tells.\n", ["'tells'"]),
        ("a.toml", 'reason = """What\n`told` tells."""\n', ["'tells'"]),
        ("a.toml", "ids = ['hours-told']\nid = \"told\"\n", []),
        ("a.json", '{"told": "what is told"}\n', ["'told'"]),
        ("a.go", 'told := "// told" // told\n/* It\n   tells. */\n', ["'told'", "'tells'"]),
    ],
)
def test_words_are_found_in_pages_and_data(path: str, source: str, words: list[str]) -> None:
    assert found(source, path=path) == words


def test_proselint_checks_pages_outside_their_code() -> None:
    assert [one.split(":")[:2] for one in lint("a.md", "A page.\n\nThe very end.\n", STYLE)] == [["a.md", "3"]]
    assert lint("a.md", "```text\nThe very end.\n```\n", STYLE) == []
    off = type(STYLE)((), (), (), (*STYLE.not_linted, "weasel_words"))
    assert lint("a.md", "The very end.\n", off) == []


def test_lines_are_counted_from_the_start_of_the_module() -> None:
    assert [number for number, line in prose('x = 1\n"""One.\n\nIt tells.\n"""\n') if "tells" in line] == [4]


def test_an_exception_excuses_its_text_alone_and_must_have_a_reason() -> None:
    allowed = AllowedText("a.py", "a stream's position, as tell does", "the name of a method")
    assert found("# a stream's position, as tell does\n", allowed) == []
    assert found("# what they tell\n", allowed) == ["'tell'"]
    assert found("# a stream's position, as tell does\n", AllowedText("b.py", allowed.text, allowed.reason)) == [
        "'tell'"
    ]
    with pytest.raises(AssertionError, match="reason"):
        load('paths = []\nword = []\nallowed = [{ path = "a.py", text = "tell", reason = "" }]\n')


def test_an_exception_that_excuses_nothing_is_reported() -> None:
    unused = type(STYLE)(
        STYLE.paths, STYLE.rules, (AllowedText("tools/words.py", "they tell", "a sentence that is gone"),)
    )
    assert any("excuses nothing" in one for one in check(unused, [ROOT / "tools/words.py"]))

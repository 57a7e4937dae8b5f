"""Check code, data and documentation for words that the house style avoids.

    python -m tools.words [PATH ...]

`words.toml` beside this file has the patterns, what to write instead, the paths that are checked, and the exceptions
with their reasons. Prose is the docstrings, comments, and string literals with a space of a Python module, the comments
of other languages, the text of a Markdown page without its code, and every line of a TOML or JSON file without names;
what is in backticks is not prose. Pages are also checked by proselint. An exception that excuses nothing is reported
too.
"""

from __future__ import annotations

import io
import re
import sys
import tokenize
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from proselint.checks import __register__
from proselint.config import DEFAULT
from proselint.registry import CheckRegistry
from proselint.tools import LintFile

from tools.entry_point import run_without_parser

ROOT = Path(__file__).parents[1]
RULES = Path(__file__).with_suffix(".toml")

_CODE = re.compile(r"``[^`]*``|`[^`]*`")
_TARGET = re.compile(r"(?<=\])\([^)]*\)|<!--.*?-->")
"""The target of a Markdown link, or a comment."""
_NAME = re.compile(r"""(["'])[^\s"']*\1""")
_COMMENT = re.compile(r"""\"(?:\\.|[^\"\\\n])*\"|(?P<text>//[^\n]*|/\*.*?\*/)""", re.DOTALL)
"""A string, or a comment of a language whose comments begin with slashes."""
_VALUE = re.compile(r"\{[^{}]*\}")
"""A value that an f-string inserts."""


@dataclass(frozen=True)
class Rule:
    """A word or phrase to avoid."""

    pattern: re.Pattern[str]
    instead: str


@dataclass(frozen=True)
class AllowedText:
    """An exception: text in which a pattern is right."""

    path: str
    text: str
    reason: str


@dataclass(frozen=True)
class Style:
    """The content of `words.toml`."""

    paths: tuple[str, ...]
    rules: tuple[Rule, ...]
    allowed: tuple[AllowedText, ...]
    not_linted: tuple[str, ...] = ()
    """The checks of proselint that are disabled."""

    def files(self) -> list[Path]:
        """List the files to check."""
        return sorted({file for path in self.paths for file in ROOT.glob(path)})


def load(document: str) -> Style:
    """Read the style from TOML; raise AssertionError if an exception has no reason."""
    given = tomllib.loads(document)
    allowed = tuple(AllowedText(**row) for row in given.get("allowed", ()))
    proselint = given.get("proselint", ())
    reasons = [one.reason for one in allowed] + [row["reason"] for row in proselint]
    assert all(len(one) > 10 for one in reasons), "each exception has a reason"
    rules = tuple(Rule(re.compile(row["avoid"], re.IGNORECASE), row["instead"]) for row in given["word"])
    return Style(tuple(given["paths"]), rules, allowed, tuple(row["off"] for row in proselint))


def markdown_prose(source: str) -> Iterator[tuple[int, str]]:
    """Yield the line number and the text of each line of a Markdown page outside its code."""
    fenced = False
    for number, line in enumerate(source.splitlines(), 1):
        fence = line.lstrip().startswith("```")
        fenced ^= fence
        if not fence and not fenced:
            yield number, _TARGET.sub("", _CODE.sub("", line))


def comments(source: str) -> Iterator[tuple[int, str]]:
    """Yield the line number and the text of each line of a comment of a Go, Java, JavaScript or Rust file."""
    for comment in _COMMENT.finditer(source):
        if comment["text"]:
            first = source.count("\n", 0, comment.start()) + 1
            yield from enumerate(_CODE.sub("", comment["text"]).splitlines(), first)


def toml_prose(source: str) -> Iterator[tuple[int, str]]:
    """Yield the line number and the text of each line of TOML or JSON, without strings of one word, which are names."""
    yield from enumerate(_NAME.sub("", _CODE.sub("", source)).splitlines(), 1)


def prose(source: str) -> Iterator[tuple[int, str]]:
    """Yield the line number and the text of each line of prose in a Python module."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        text = token.string
        middle = token.type == getattr(tokenize, "FSTRING_MIDDLE", -1)
        if token.type == tokenize.COMMENT or middle or (token.type == tokenize.STRING and " " in text):
            text = _VALUE.sub("", text) if text[:2].lower() in ("f'", 'f"') else text
            yield from enumerate(_CODE.sub("", text).splitlines(), token.start[0])


_KINDS = {
    ".py": prose,
    ".md": markdown_prose,
    ".toml": toml_prose,
    ".json": toml_prose,
    **dict.fromkeys((".go", ".java", ".js", ".rs"), comments),
}


def problems(path: str, source: str, style: Style) -> tuple[list[str], set[AllowedText]]:
    """Find the avoided words in a file of a kind that has prose.

    Returns:
        The problems, and the exceptions that were needed.
    """
    found: list[str] = []
    needed: set[AllowedText] = set()
    for number, line in _KINDS[Path(path).suffix](source):
        for rule in style.rules:
            for match in rule.pattern.finditer(line):
                excuse = [
                    one for one in style.allowed if one.path == path and one.text in line and match[0] in one.text
                ]
                needed.update(excuse)
                if not excuse:
                    found.append(f"{path}:{number}: {match[0]!r}: write {rule.instead}: {line.strip()}")
    return found, needed


def lint(path: str, source: str, style: Style) -> list[str]:
    """Return the problems that proselint reports in a Markdown page."""
    registry = CheckRegistry()
    if not registry.checks:
        registry.register_many(__register__)
    lines = dict(markdown_prose(source))
    text = "\n".join(lines.get(number, "") for number in range(1, source.count("\n") + 2))
    found = LintFile(path, text).lint({"max_errors": 10_000, "checks": DEFAULT["checks"]})
    return [
        f"{path}:{one.pos[0]}: {' '.join(one.check_result.message.split())} ({one.check_result.check_path})"
        for one in found
        if not any(one.check_result.check_path.startswith(each) for each in style.not_linted)
    ]


def check(style: Style, files: Sequence[Path]) -> Iterator[str]:
    """Yield the problems of files, then the exceptions for them that excuse nothing."""
    needed: set[AllowedText] = set()
    names = {file.relative_to(ROOT).as_posix(): file for file in files}
    for name, file in names.items():
        source = file.read_text(encoding="utf-8")
        found, excuses = problems(name, source, style)
        needed |= excuses
        yield from found
        if file.suffix == ".md":
            yield from lint(name, source, style)
    for one in style.allowed:
        if one.path in names and one not in needed:
            yield f"{RULES.name}: the exception {one.text!r} for {one.path} excuses nothing; remove it"


def main(arguments: Sequence[str]) -> int:
    """Print the problems of the given paths, or of those in `words.toml`; return 1 if there are any."""
    style = load(RULES.read_text(encoding="utf-8"))
    given = [Path(one).resolve() for one in arguments]
    files = [
        file
        for one in given
        for file in (sorted(each for each in one.rglob("*") if each.suffix in _KINDS) if one.is_dir() else [one])
    ] or style.files()
    count = 0
    for problem in check(style, files):
        print(problem)
        count += 1
    print(f"{len(files)} files, {count} words to avoid")
    return int(count > 0)


if __name__ == "__main__":
    run_without_parser(main, sys.argv[1:])

"""Check the words of docstrings, comments and messages: those that the house style avoids do not come back.

    python -m tools.words [PATH ...]

`words.toml` beside this file has the patterns, what to write instead, the paths that are checked, and the exceptions
with their reasons. Prose is docstrings, comments, and string literals with a space in them, without what is in
backticks. An exception that excuses nothing is reported too.
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

ROOT = Path(__file__).parents[1]
RULES = Path(__file__).with_suffix(".toml")

_CODE = re.compile(r"``[^`]*``|`[^`]*`")
_VALUE = re.compile(r"\{[^{}]*\}")
"""What an f-string inserts."""


@dataclass(frozen=True)
class Rule:
    """A word or phrase to avoid."""

    pattern: re.Pattern[str]
    instead: str


@dataclass(frozen=True)
class Allowed:
    """An exception: text in which a pattern is right."""

    path: str
    text: str
    reason: str


@dataclass(frozen=True)
class Style:
    """The content of `words.toml`."""

    paths: tuple[str, ...]
    rules: tuple[Rule, ...]
    allowed: tuple[Allowed, ...]


def load(document: str) -> Style:
    """Read the style from TOML; AssertionError where an exception has no reason."""
    given = tomllib.loads(document)
    allowed = tuple(Allowed(**row) for row in given.get("allowed", ()))
    assert all(len(one.reason) > 10 for one in allowed), "each exception has a reason"
    rules = tuple(Rule(re.compile(row["avoid"], re.IGNORECASE), row["instead"]) for row in given["word"])
    return Style(tuple(given["paths"]), rules, allowed)


def prose(source: str) -> Iterator[tuple[int, str]]:
    """Yield the line number and the text of each line of prose in a Python module."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        text = token.string
        middle = token.type == getattr(tokenize, "FSTRING_MIDDLE", -1)
        if token.type == tokenize.COMMENT or middle or (token.type == tokenize.STRING and " " in text):
            text = _VALUE.sub("", text) if text[:2].lower() in ("f'", 'f"') else text
            yield from enumerate(_CODE.sub("", text).splitlines(), token.start[0])


def problems(path: str, source: str, style: Style) -> tuple[list[str], set[Allowed]]:
    """Find the words to avoid in a module.

    Returns:
        The problems, and the exceptions that were needed.
    """
    found: list[str] = []
    needed: set[Allowed] = set()
    for number, line in prose(source):
        for rule in style.rules:
            for match in rule.pattern.finditer(line):
                excuse = [
                    one for one in style.allowed if one.path == path and one.text in line and match[0] in one.text
                ]
                needed.update(excuse)
                if not excuse:
                    found.append(f"{path}:{number}: {match[0]!r}: write {rule.instead}: {line.strip()}")
    return found, needed


def check(style: Style, files: Sequence[Path]) -> Iterator[str]:
    """Yield the problems of files, then the exceptions for them that excuse nothing."""
    needed: set[Allowed] = set()
    names = {file.relative_to(ROOT).as_posix(): file for file in files}
    for name, file in names.items():
        found, excuses = problems(name, file.read_text(encoding="utf-8"), style)
        needed |= excuses
        yield from found
    for one in style.allowed:
        if one.path in names and one not in needed:
            yield f"{RULES.name}: the exception {one.text!r} for {one.path} excuses nothing; remove it"


def main(arguments: Sequence[str]) -> int:
    """Print the problems of the given paths, or of those in `words.toml`; 1 if there are any."""
    style = load(RULES.read_text(encoding="utf-8"))
    given = [Path(one).resolve() for one in arguments] or [ROOT / one for one in style.paths]
    files = [file for one in given for file in (sorted(one.rglob("*.py")) if one.is_dir() else [one])]
    count = 0
    for problem in check(style, files):
        print(problem)
        count += 1
    print(f"{len(files)} files, {count} words to avoid")
    return int(count > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

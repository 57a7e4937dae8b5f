"""Draw texts of the project at random for reading aloud; rewrite what makes a reader stop.

    python -m tools.read_aloud [--seed N] [--findings N] [--helps N] [--docstrings N] [--paragraphs N] [--data N]
    python -m tools.read_aloud --messages       every message about a requirement, in one table

The texts are findings from corruptions (`tests/validate/corruptions`), each check once, with their advice; help texts
of commands and options; docstrings of every package; paragraphs, list items and table rows of pages that have at least
a few words; and data (requirements, contradictions, known deviations and vectors). The same seed draws the same texts.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import inspect
import random
import re
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from cyclopts import App

from conformance.cli import COMMANDS, make_app
from conformance.reports.validation import finding_json
from conformance.validator.context import Level
from conformance.validator.run import SnapshotSelection
from conformance.vectors import load, shipped
from conformance.vectors.golden_tables import materialize
from tools.entry_point import run_main
from tools.grid.workbench import Workbench
from tools.words import ROOT, markdown_prose

PACKAGES = ("spec_ref", "conformance", "tools")
REASONS = ("why", "right", "wrong", "unproven", "implementations", "decision")
CODE = re.compile("[A-Z]{3}[0-9]{3}")
WORDS = 8
"""The minimum number of words in a paragraph."""

PAGES = ("README.md", "SECURITY.md", "CHANGELOG.md", "docs/*.md", "vectors/*.md")


def docstrings() -> Iterator[tuple[str, str]]:
    """Yield the location and the text of every docstring."""
    for path in (path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and (text := ast.get_docstring(node)):
                name = "" if isinstance(node, ast.Module) else f" {node.name}"
                yield f"{path.relative_to(ROOT)}{name}", text


def messages() -> list[tuple[str, str]]:
    """Return every message that the code has with the code of a requirement, sorted by area and text."""
    found = set()
    for path in (path for package in PACKAGES[:2] for path in sorted((ROOT / package).rglob("*.py"))):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                texts = [_template(argument) for argument in node.args]
                codes = [text for text in texts if CODE.fullmatch(text)]
                found |= {(code, text) for code in codes[:1] for text in texts if " " in text}
    return sorted(found, key=lambda one: (one[0][:3], one[1]))


def _template(node: ast.expr) -> str:
    """Return a text, with braces around its expressions; empty if the node is not a text."""
    match node:
        case ast.Constant(str(text)):
            return text
        case ast.JoinedStr(parts):
            return "".join(_template(part) for part in parts)
        case ast.FormattedValue(value):
            return f"{{{ast.unparse(value)}}}"
        case _:
            return ""


def paragraphs() -> Iterator[tuple[str, str]]:
    """Yield the location and the text of every paragraph, list item and table row of the pages with enough words."""
    for path in (path for page in PAGES for path in sorted(ROOT.glob(page))):
        source = path.read_text(encoding="utf-8")
        lines, outside = source.splitlines(), {number for number, _ in markdown_prose(source)}
        start, kept = 0, list[str]()
        for number, line in enumerate([*lines, ""], 1):
            text = line.strip() if number in outside else ""
            if kept and (not text or text.startswith(("- ", "|", "#"))):
                if len(re.findall(r"[a-z]{2,}(?= )", " ".join(kept))) >= WORDS:
                    yield f"{path.relative_to(ROOT)}:{start}", "\n".join(kept)
                kept = []
            if text and not text.startswith(("#", "<!--", "|--")):
                start = start if kept else number
                kept.append(text)


def data() -> Iterator[tuple[str, str]]:
    """Yield the name and the texts of requirements, contradictions, known deviations, and vectors with a note."""
    for path in sorted((ROOT / "spec_ref/requirements").glob("*.toml")):
        rows = tomllib.loads(path.read_text(encoding="utf-8"))
        for one in (*rows.get("requirement", ()), *rows.get("contradiction", ())):
            yield one.get("code") or one["id"], _texts(one, ("title", "text", "texts", *REASONS))
    for path in sorted((ROOT / "conformance/engines").glob("*/deviations.toml")):
        for one in tomllib.loads(path.read_text(encoding="utf-8")).get("deviation", ()):
            yield one["id"], _texts(one, ("does", "reason", "counter", "evidence"))
    for vector in load(shipped()):
        if vector.note:
            yield vector.id, vector.note


def _texts(row: dict[str, Any], keys: Sequence[str]) -> str:
    return "\n".join(f"{key}: {' '.join(str(row[key]).split())}" for key in keys if key in row)


def helps() -> Iterator[tuple[str, str]]:
    """Yield the name and the help of every command and option."""
    app = make_app()
    for name in COMMANDS:
        yield from _helps(name, app[name])


def _helps(name: str, app: App) -> Iterator[tuple[str, str]]:
    text, _, options = (inspect.getdoc(app.default_command) or app.help).partition("\n\nArgs:\n")
    yield name, text
    for option in re.split(r"\n(?=    \w)", options):
        if option.strip():
            yield name, " ".join(option.split())
    for command in app:
        if not command.startswith("-"):
            yield from _helps(f"{name} {command}", app[command])


def findings(chosen: random.Random, number: int, folder: Path) -> Iterator[tuple[str, str]]:
    """Yield the corruption and the text of each finding, each check once."""
    kit = importlib.import_module("tests.validate.corruptions").load()
    drawn = chosen.sample(kit, len(kit))
    seen: set[str | None] = set()
    while number > 0 and drawn:
        one = drawn.pop()
        materialize([one.table])
        (folder / one.id).mkdir()
        bench = Workbench(one.table, folder / one.id)
        one.mutate(bench)
        for finding in bench.validate(Level(one.level), SnapshotSelection(one.snapshots)).findings:
            if finding.check in seen or number == 0:
                continue
            seen.add(finding.check)
            number -= 1
            yield f"{one.id}: {finding.check}", _finding(finding_json(finding))


def _finding(one: dict[str, Any]) -> str:
    advice = one["advice"]
    lines = [f"{one['severity']} {one['code']}: {one['message']}"]
    lines += [f"{key}: {one[key]}" for key in ("found", "expected") if key in one]
    lines += [f"{key}: {advice[key]}" for key in ("text", "otherwise", "risk") if advice.get(key)]
    return "\n".join(lines)


def main(arguments: Sequence[str]) -> int:
    """Print the drawn texts."""
    parser = argparse.ArgumentParser(prog="python -m tools.read_aloud", description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=0)
    for name, number in (("findings", 100), ("helps", 50), ("docstrings", 50), ("paragraphs", 50), ("data", 50)):
        parser.add_argument(f"--{name}", type=int, default=number)
    parser.add_argument("--messages", action="store_true", help="print every message about a requirement instead")
    given = parser.parse_args(arguments)
    if given.messages:
        print("\n".join(f"{code} | {text}" for code, text in messages()))
        return 0
    chosen = random.Random(given.seed)
    for title, find, number in (
        ("help", helps, given.helps),
        ("docstring", docstrings, given.docstrings),
        ("paragraph", paragraphs, given.paragraphs),
        ("data", data, given.data),
    ):
        texts = list(find()) if number else []  # finding the texts takes seconds
        for place, text in chosen.sample(texts, min(number, len(texts))):
            print(f"--- {title}: {place}\n{text}\n")
    with tempfile.TemporaryDirectory() as folder:
        for place, text in findings(chosen, given.findings, Path(folder)):
            print(f"--- finding: {place}\n{text}\n")
    return 0


if __name__ == "__main__":
    run_main(main, sys.argv[1:])

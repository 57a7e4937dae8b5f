"""The list of engines, from their folders.

    python -m tools.docs.engines          write the table of ``docs/adapters.md`` and the names in ``README.md``
    python -m tools.docs.engines --check  verify them

Each page has its list between ``<!-- engines -->`` and ``<!-- end of engines -->``.
"""

from __future__ import annotations

import re
import sys
from functools import partial
from pathlib import Path

from conformance.engine_setup.catalog import Engine, catalog
from conformance.engine_setup.folders import EngineFolder, engine_folders
from tools.docs.markdown import code, table
from tools.entry_point import run_without_parser

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"(<!-- engines -->).*?(<!-- end of engines -->)", re.DOTALL)
OURS = ("reference", "reference:plain", "spark-reference")
"""The implementations of this project, with which the pages compare engines."""


def rows() -> str:
    """Return a table of the engines, each with a description."""
    of_all = catalog().all_versions
    cells = [
        [code(one.name), _what(one), one.language, _versions(of_all, one), _ready(of_all, one)]
        for one in engine_folders()
        if one.is_shipped
    ]
    return "\n" + "\n".join(table(["engine", "what it is", "language", "versions", "installed as"], cells)) + "\n"


def _what(one: EngineFolder) -> str:
    link = f"[{one.title}](../{one.path.relative_to(ROOT).as_posix()})"
    return f"{link}: {one.about}" if one.about else link


def _versions(of_all: tuple[Engine, ...], one: EngineFolder) -> str:
    return ", ".join(engine.version for engine in of_all if engine.name == one.name)


def _ready(of_all: tuple[Engine, ...], one: EngineFolder) -> str:
    engine = next(engine for engine in of_all if engine.name == one.name)
    if engine.module:
        return "part of the tool"
    return "a program that is built" if engine.sources else "a Python environment"


def names() -> str:
    """Return the titles of the engines, without those of this project."""
    return ", ".join(one.title for one in engine_folders() if one.is_shipped and one.name not in OURS)


def _fill_block(text: str, block: re.Match[str]) -> str:
    return f"{block[1]}{text}{block[2]}"


def pages() -> dict[Path, str]:
    """Return the pages with current lists."""
    made = {}
    for path, text in ((ROOT / "docs" / "adapters.md", rows()), (ROOT / "README.md", names())):
        found = path.read_text(encoding="utf-8")
        made[path], times = BLOCK.subn(partial(_fill_block, text), found)
        if times != 1:
            raise ValueError(f"{path}: expected one list of engines, found {times}")
    return made


def main(arguments: list[str]) -> int:
    """Write the pages, or check them; return the exit status."""
    stale = [path for path, text in pages().items() if path.read_text(encoding="utf-8") != text]
    if arguments == ["--check"]:
        for path in stale:
            print(f"{path}: the list of engines is stale: run python -m tools.docs.engines")
        return 1 if stale else 0
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    run_without_parser(main, sys.argv[1:])

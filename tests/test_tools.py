"""Every tool answers ``--help`` without doing its work, and ends quietly when the reader of its output closes it."""

from __future__ import annotations

import ast
import runpy
import sys
from pathlib import Path

import pytest

from tools import entry_point

ROOT = Path(__file__).parents[1]
SCRIPTS = {"tools.golden.make_manifests", "tools.golden.make_puffin", "tools.golden.make_writers"}
"""Programs that run in the environment of an engine, by their paths, so that they cannot import `tools`."""


def module_name(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts)


def entry(path: Path) -> ast.If | None:
    """The statement with what runs when the module is the program."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.If) and ast.unparse(node.test) == "__name__ == '__main__'":
            return node
    return None


PROGRAMS = {module_name(path): path for path in sorted((ROOT / "tools").rglob("*.py")) if entry(path) is not None}


@pytest.mark.filterwarnings("ignore:.* found in sys.modules:RuntimeWarning")
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_tool_answers_help_and_does_nothing_else(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", [name, "--help"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_module(name.removesuffix(".__main__"), run_name="__main__", alter_sys=True)
    assert not ended.value.code
    printed = capsys.readouterr()
    description = ast.get_docstring(ast.parse(PROGRAMS[name].read_text(encoding="utf-8")))
    assert printed.out.startswith("usage: ") or printed.out.strip() == description
    assert printed.err == ""


@pytest.mark.parametrize("name", sorted(PROGRAMS.keys() - SCRIPTS))
def test_a_tool_has_the_entry_point_that_ends_quietly(name: str) -> None:
    found = entry(PROGRAMS[name])
    assert found is not None
    (last,) = found.body
    assert ast.unparse(last).split("(")[0] in ("run_main", "run_without_parser")
    assert any(
        isinstance(node, ast.ImportFrom) and node.module == entry_point.__name__
        for node in ast.parse(PROGRAMS[name].read_text(encoding="utf-8")).body
    )

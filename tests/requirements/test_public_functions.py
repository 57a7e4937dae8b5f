"""Every public function of the reference is called outside of tests, or states a rule of the spec.

A function that states a rule is API, whoever calls it: its docstring names the requirement.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[2]
CALLERS = ("spec_ref", "conformance", "tools")
NAMED = re.compile(r"\b[A-Z]{3}\d{3}\b")


def trees(package: str) -> list[tuple[Path, ast.Module]]:
    """The modules of a package."""
    return [(path, ast.parse(path.read_text(encoding="utf-8"))) for path in sorted((ROOT / package).rglob("*.py"))]


def used_names(tree: ast.AST) -> set[str]:
    """Every name that a module reads, and the functions that are named in texts such as ``module:function``."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            found.add(node.id)
        elif isinstance(node, ast.Attribute):
            found.add(node.attr)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.count(":") == 1:
            found.add(node.value.partition(":")[2])
    return found


def unneeded(definitions: list[tuple[Path, ast.Module]], used: set[str]) -> list[str]:
    """The public functions that nothing uses and that state no rule."""
    return [
        f"{path.relative_to(ROOT)}: {node.name}"
        for path, tree in definitions
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_") and node.name not in used
        if not NAMED.search(ast.get_docstring(node) or "")
    ]


def test_public_functions_are_needed() -> None:
    definitions = [(path, tree) for path, tree in trees("spec_ref") if path.name != "api.py"]
    used = {name for package in CALLERS for _, tree in trees(package) for name in used_names(tree)}
    assert unneeded(definitions, used) == []


def test_a_function_that_only_tests_call_is_found() -> None:
    source = "def dead(): pass\ndef _own(): pass\ndef stated():\n    'As HSH001 says.'\ndef called(): pass\n"
    assert unneeded([(ROOT / "m.py", ast.parse(source))], {"called"}) == ["m.py: dead"]


def test_constants_and_aliases_are_read() -> None:
    read = Counter(name for package in (*CALLERS, "tests") for _, tree in trees(package) for name in used_names(tree))
    written = [
        (path, target.id)
        for path, tree in trees("spec_ref")
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name) and not target.id.startswith("__")
    ]
    assert [f"{path.relative_to(ROOT)}: {name}" for path, name in written if not read[name]] == []

"""Nothing depends on the text of a message: tests that pass say so with every message reworded at random."""

from __future__ import annotations

import ast
import os
import random
import subprocess
import sys
from pathlib import Path

from reword import SEED, reworded

TESTS = Path(__file__).parent.parent

SELECTION = (
    "schemas/test_schema_evolution.py",
    "table_metadata/test_changes.py",
    "table_metadata/test_checks.py",
    "requirements/test_commit_rules.py",
    "validate/test_registry.py",
    "validate/test_row_ids.py",
    "formats/test_variant.py",
    "formats/test_wkb.py",
    "properties/test_relay.py::test_a_known_finding_is_matched_by_its_check_and_values_whatever_is_said",
    "matrix/test_matrix_of_golden_tables.py::test_a_known_table_is_matched_by_what_it_breaks_and_not_by_what_is_said",
)
"""Tests that take seconds; `make reword` takes all."""


def test_a_selection_passes_with_every_message_reworded() -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--reword", *SELECTION]
    done = subprocess.run(command, cwd=TESTS, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-1000:]


LIBRARIES = {
    "spec_ref/json/places.py": "jiter says in its text alone at which line and column a document is broken",
    "conformance/rules/old_messages.py": "findings of reports of the version before have no check, for one release",
    "conformance/reports/validation.py": "a message is shown where it is another one than the first",
}
"""Files that compare a text, and why: errors of libraries that have no other mark, and what is shown."""


def test_no_code_compares_or_parses_a_message() -> None:
    """Adapters are left out: they distinguish messages of engines, in versions that are pinned."""
    found = set()
    for part in ("spec_ref", "conformance", "tools"):
        for path in (TESTS.parent / part).rglob("*.py"):
            name = path.relative_to(TESTS.parent).as_posix()
            if not name.startswith(("conformance/adapter_sdk/", "conformance/engines/", "conformance/engine_setup/")):
                found |= {name for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if _reads(node)}
    assert found == set(LIBRARIES)


REGULAR_EXPRESSIONS = {"search", "match", "fullmatch", "findall", "finditer", "split", "sub"}
PARSERS = {"startswith", "endswith", "partition", "rpartition", "removeprefix", "removesuffix", "find", "index"}


def _reads(node: ast.AST) -> bool:
    """Whether a node compares a message, or looks for something in it."""
    match node:
        case ast.Compare():
            return any(_is_message(one) for one in (node.left, *node.comparators))
        case ast.Call(func=ast.Attribute(attr=name, value=value), args=args):
            if name in REGULAR_EXPRESSIONS:
                return any(_is_message(one) or _is_called_message(one) for one in args)
            return name in PARSERS and (_is_message(value) or _is_called_message(value))
    return False


def _is_called_message(node: ast.AST) -> bool:
    match node:
        case ast.Subscript(slice=ast.Constant("error" | "message")):
            return True
        case _:
            return isinstance(node, ast.Name) and node.id in ("error", "message", "said")


def _is_message(node: ast.AST) -> bool:
    match node:
        case ast.Attribute(attr="message"):
            return True
        case ast.Call(func=ast.Name("str"), args=[ast.Name("error" | "violation" | "finding" | "problem" | "broken")]):
            return True
        case ast.Call(func=ast.Name("str"), args=[ast.Attribute(attr="violation")]):
            return True
    return False


SAYS = """
from spec_ref.core.errors import Violation
one = Violation(requirement="PAR001", aspect="row", message="two rows", path="/p", found="1", expected="2")
assert one.message != "two rows"
assert str(one) == f"/p: PAR001: {one.message}; found 1; expected 2"
assert one == Violation(requirement="PAR001", aspect="row", message="anything", path="/p", found="1", expected="2")
"""


def test_processes_that_tests_start_are_reworded_too() -> None:
    path = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    env = {**os.environ, SEED: "7", "PYTHONPATH": path}
    subprocess.run([sys.executable, "-c", SAYS], env=env, cwd=TESTS.parent, check=True)


def test_a_text_is_reworded_once() -> None:
    words = random.Random(1)
    once = reworded("the file has no schema (1)", words)
    assert once != "the file has no schema (1)"
    assert reworded(once, words) == once
    assert reworded("", words) == ""

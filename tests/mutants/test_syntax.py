"""A mutant is found by what its code is, not by how it is written, and one that does not fit is named."""

from __future__ import annotations

import ast

import pytest

from tools.mutants import __main__ as command
from tools.mutants.mutant import Mutant
from tools.mutants.syntax import Change, Misfit, apply_change, difference

SOURCE = '''
"""A module."""

LIMIT = 1
RULES = (rule(1), rule(2))

class Table:
    def size(self, step: int = 1) -> int:
        if self.a and self.b:  # why
            return step + 1
        self.log(step + 1)
        return 0

def size(a):
    return [one for one in a if one > 1]
'''


def after(*replaced: tuple[str, str]) -> tuple[Change, str]:
    """The change from the module to one of another text, and what it makes of the module in other words."""
    text = SOURCE
    for old, new in replaced:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    change = difference(ast.parse(SOURCE), ast.parse(text))
    rewritten = ast.parse("# a comment\n" + ast.unparse(ast.parse(SOURCE)).replace("(step + 1)", "(\n  step\n + 1)"))
    made, _, _ = apply_change(rewritten, change)
    assert ast.dump(made) == ast.dump(ast.parse(text))
    return change, ast.unparse(made)


def test_the_change_is_the_smallest_that_is_there_once() -> None:
    assert after(("one > 1", "one >= 1"))[0] == Change("size", "one > 1", "one >= 1")
    assert after(("LIMIT = 1", "LIMIT = 2"))[0] == Change("", "LIMIT = 1", "LIMIT = 2")
    assert after(("self.b", "self.c"))[0] == Change("Table.size", "self.b", "self.c")
    assert after(("int = 1", "int = 2"))[0].where == "Table.size"
    assert after((", rule(2)", ","))[0] == Change("", "rule(2)", "")
    assert after(("self.log(step + 1)", "pass"))[0] == Change("Table.size", "self.log(step + 1)", "pass")


def test_of_equal_parts_the_number_is_reported() -> None:
    tree = ast.parse("def f(a, b):\n    if a:\n        b()\n    while a:\n        b()\n")
    other = ast.parse("def f(a, b):\n    if a:\n        b()\n    while not a:\n        b()\n")
    change = difference(tree, other)
    assert change == Change("f", "a", "not a", "2 of 2")
    with pytest.raises(Misfit, match="3 parts of f"):
        apply_change(ast.parse("def f(a, b):\n    if a:\n        b(a)\n    while a:\n        b()\n"), change)


MISFITS = (
    Change("size", "one > 2", "0"),
    Change("Table.length", "0", "1"),
    Change("", "1", "2"),
    Change("size", "one > 1", "one = 1"),
)


@pytest.mark.parametrize("change", MISFITS)
def test_what_is_not_there_is_a_misfit(change: Change) -> None:
    with pytest.raises(Misfit):
        apply_change(ast.parse(SOURCE), change)


def test_the_function_is_the_one_whose_body_changes() -> None:
    def function(change: Change) -> str | None:
        return apply_change(ast.parse(SOURCE), change)[2]

    assert function(Change("Table.size", "self.b", "0")) == "Table.size"
    assert function(Change("Table.size", "1", "2", "1 of 3")) is None  # the value of a default
    assert function(Change("", "LIMIT = 1", "LIMIT = 2")) is None


def test_the_command_names_what_does_not_fit(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lost = Mutant("lost", "spec_ref/hashing.py", "nothing_of_this_name", "0", "nothing")
    monkeypatch.setattr(command, "all_mutants", lambda: [lost])
    assert command.main(["check"]) == 1
    assert "lost: in spec_ref/hashing.py, 0 parts" in capsys.readouterr().err

"""Mutants drawn from the syntax trees of `spec_ref`: a fixed share of every module, the same at each run.

A mutation changes one token or drops one statement.
Messages, annotations and docstrings are not mutated, because they are not rules.
"""

from __future__ import annotations

import ast
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tools.mutants.mutant import ROOT, Mutant
from tools.mutants.syntax import Misfit, difference

SHARE = 120
"""The number of lines of a module per mutant, after the first mutant."""

COMPARISONS: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
}
OPERATORS: dict[type[ast.operator], tuple[str, str]] = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "+"),
    ast.FloorDiv: ("//", "*"),
    ast.Mod: ("%", "//"),
    ast.LShift: ("<<", ">>"),
    ast.RShift: (">>", "<<"),
    ast.BitAnd: ("&", "|"),
    ast.BitOr: ("|", "&"),
    ast.BitXor: ("^", "|"),
}
NAMES = {
    "any": "all",
    "all": "any",
    "min": "max",
    "max": "min",
    "REQUIRED": "OPTIONAL",
    "OPTIONAL": "OMITTED",
    "OMITTED": "OPTIONAL",
    "True": "False",
    "False": "True",
}
REFUSALS = {"spec_error", "SpecError", "Violation", "found", "error_path"}
"""Calls whose arguments are messages."""


@dataclass(frozen=True)
class Change:
    """A mutation as a change of the source: the bytes from `start` to `end` become `new`."""

    start: int
    end: int
    new: str
    kind: str
    where: str
    """The function or class that contains the change."""


class _Finder(ast.NodeVisitor):
    def __init__(self, source: str) -> None:
        self.data = source.encode()
        self.begins = [0]
        for line in self.data.splitlines(keepends=True):
            self.begins.append(self.begins[-1] + len(line))
        self.where: list[str] = []
        self.changes: list[Change] = []

    # Positions

    def _start(self, node: ast.expr | ast.stmt) -> int:
        return self.begins[node.lineno - 1] + node.col_offset

    def _end(self, node: ast.expr | ast.stmt) -> int:
        return self.begins[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)

    def _add(self, start: int, end: int, new: str, kind: str) -> None:
        self.changes.append(Change(start, end, new, kind, ".".join(self.where)))

    def _between(self, left: ast.expr, right: ast.expr, old: str, new: str, kind: str) -> None:
        start, end = self._end(left), self._start(right)
        found = re.search(rf"(?<![\w<>=!*/]){re.escape(old)}(?![\w<>=*/])", self.data[start:end].decode())
        if found:
            self._add(start + found.start(), start + found.end(), new, kind)

    # Code that is not mutated

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self.where.append(node.name)
        for part in (*node.args.defaults, *filter(None, node.args.kw_defaults), *_without_docstring(node.body)):
            self.visit(part)
        self.where.pop()

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.where.append(node.name)
        for part in _without_docstring(node.body):
            self.visit(part)
        self.where.pop()

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        is_type = isinstance(node.annotation, ast.Name) and node.annotation.id == "TypeAlias"
        if node.value is not None and not is_type:
            self.visit(node.value)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Skip an f-string, which is a message."""

    # Mutations

    def visit_Compare(self, node: ast.Compare) -> None:
        left = node.left
        for operator, right in zip(node.ops, node.comparators, strict=True):
            self._between(left, right, *COMPARISONS[type(operator)], kind="compares otherwise")
            left = right
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        words = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        for left, right in zip(node.values, node.values[1:], strict=False):
            self._between(left, right, *words, kind=f"{words[1]} in place of {words[0]}")
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        if type(node.op) in OPERATORS and not isinstance(node.left, ast.JoinedStr | ast.List | ast.Tuple):
            self._between(node.left, node.right, *OPERATORS[type(node.op)], kind="calculates otherwise")
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.Not):
            self._add(self._start(node), self._start(node.operand), "", "a condition turned")
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, bool):
            self._add(self._start(node), self._end(node), str(not node.value), "the other truth value")
        elif isinstance(node.value, int):
            self._add(self._start(node), self._end(node), str(node.value + 1), "a constant off by one")

    def visit_Name(self, node: ast.Name) -> None:
        if node.id in NAMES and isinstance(node.ctx, ast.Load):
            self._add(self._start(node), self._end(node), NAMES[node.id], f"{NAMES[node.id]} in place of {node.id}")

    def visit_If(self, node: ast.If) -> None:
        self._add(self._start(node.test), self._end(node.test), "False", "a case skipped")
        self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self._add(self._start(node.test), self._end(node.test), "True", "a case skipped")
        self.generic_visit(node)

    def visit_Raise(self, node: ast.Raise) -> None:
        self._add(self._start(node), self._end(node), "pass", "a refusal dropped")

    def visit_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Yield | ast.YieldFrom):
            self._add(self._start(node), self._end(node), "yield from ()", "a finding left out")
        elif isinstance(node.value, ast.Call):
            self._add(self._start(node), self._end(node), "pass", "a step skipped")
        if not (isinstance(node.value, ast.Call | ast.Yield) and _is_refusal(node.value)):
            self.generic_visit(node)

    def visit_Return(self, node: ast.Return) -> None:
        if node.value is not None and not (isinstance(node.value, ast.Constant) and node.value.value is None):
            self._add(self._start(node.value), self._end(node.value), "None", "returns None")
        self.generic_visit(node)

    def visit_Continue(self, node: ast.Continue) -> None:
        self._add(self._start(node), self._end(node), "break", "stops at the first")

    def visit_Call(self, node: ast.Call) -> None:
        if not _is_refusal(node):
            self.generic_visit(node)


def _is_refusal(node: ast.expr) -> bool:
    call = node.value if isinstance(node, ast.Yield) else node
    name = getattr(call, "func", None)
    return getattr(name, "id", getattr(name, "attr", "")) in REFUSALS


def _without_docstring(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements of a body, without strings, which are documentation."""
    for statement in body:
        if not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)):
            yield statement


def changes(source: str) -> list[Change]:
    """Return all mutations of a module, in the order of the text."""
    finder = _Finder(source)
    for statement in _without_docstring(ast.parse(source).body):
        finder.visit(statement)
    return sorted(set(finder.changes), key=lambda one: (one.start, one.end, one.new))


def as_mutant(path: Path, source: str, change: Change) -> Mutant | None:
    """Convert a change into a mutant; return None if the result is not valid Python."""
    data = source.encode()
    made = (data[: change.start] + change.new.encode() + data[change.end :]).decode()
    try:
        compile(made, str(path), "exec")
        part = difference(ast.parse(source), ast.parse(made))
    except (SyntaxError, ValueError, Misfit):
        return None
    file = path.relative_to(ROOT).as_posix()
    name = file.removeprefix("spec_ref/").removesuffix(".py").replace("/", ".")
    line = data.count(b"\n", 0, change.start) + 1
    return Mutant(
        id=f"{name}:{change.where or 'module'}:{change.kind.replace(' ', '-')}",
        file=file,
        where=part.where,
        nth=part.nth,
        old=part.old,
        new=part.new,
        breaks=f"{change.kind} (line {line} when it was drawn)",
        drawn=True,
    )


def fits(mutant: Mutant) -> bool:
    """Return whether the module still has the part that a mutant changes."""
    try:
        mutant.tree()
    except Misfit:
        return False
    return True


def draw(path: Path, stored: list[Mutant]) -> list[Mutant]:
    """Draw the mutants of a module: the stored ones that still fit, and new ones from as many functions as possible.

    The result depends only on the text of the module and the stored mutants.
    """
    source = path.read_text(encoding="utf-8")
    wanted = 1 + source.count("\n") // SHARE
    drawn = [one for one in stored if fits(one)][:wanted]
    taken = {one.id for one in drawn}
    functions = {one.id.split(":")[1] for one in drawn}
    pool = changes(source)
    random.Random(path.relative_to(ROOT).as_posix()).shuffle(pool)
    pool.sort(key=lambda change: change.kind == "returns None")  # the least similar to a real mistake
    for new_functions_only in (True, False):
        for change in pool:
            if len(drawn) >= wanted:
                return drawn
            if new_functions_only and (change.where or "module") in functions:
                continue
            found = as_mutant(path, source, change)
            if found is not None and found.id not in taken:
                drawn.append(found)
                taken.add(found.id)
                functions.add(change.where or "module")
    return drawn


def draw_all(stored: list[Mutant]) -> list[Mutant]:
    """Draw the mutants of all modules of the reference, in the order of files."""
    paths = sorted((ROOT / "spec_ref").rglob("*.py"))
    return [one for path in paths for one in draw(path, [old for old in stored if ROOT / old.file == path])]

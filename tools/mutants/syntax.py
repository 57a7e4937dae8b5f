"""The place of a mutant in a module: a part of its syntax tree, so that comments and formatting do not matter.

A place is the qualified name of the innermost class or function, empty for the module itself, and a fragment of Python
that occurs there once: an expression, or consecutive statements. If no small part occurs only once, the place has its
number, as in ``2 of 3``.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

Definition = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
COMPOUND = ast.For | ast.While | ast.If | ast.With | ast.Try | ast.Match
BODIES = ("body", "orelse", "finalbody")
"""The fields of statements that contain statements."""


class Misfit(Exception):
    """The file does not have the part that a mutant changes, or not in the given place."""


@dataclass(frozen=True)
class Change:
    """A change of a syntax tree, in the form of the files."""

    where: str
    """The qualified name of the innermost class or function; empty for the module."""

    old: str
    new: str
    """The replacement; empty if an element of a list is removed."""

    nth: str = ""
    """The number among equal parts, as in ``2 of 3``; empty if there is only one."""


@dataclass
class FoundPart:
    """A part of a tree: the field of a node, or some elements of a field that is a list."""

    parent: ast.AST
    field: str
    start: int | None
    """The index of the first element; None if the field is not a list."""

    length: int = 1

    def nodes(self) -> list[ast.AST]:
        """Return the nodes of the part."""
        value = getattr(self.parent, self.field)
        return [value] if self.start is None else value[self.start : self.start + self.length]

    def put(self, nodes: Sequence[ast.AST]) -> None:
        """Replace the part."""
        if self.start is None:
            setattr(self.parent, self.field, nodes[0])
        else:
            getattr(self.parent, self.field)[self.start : self.start + self.length] = nodes


def apply_change(tree: ast.Module, change: Change) -> tuple[ast.Module, int, str | None]:
    """Apply a change.

    Args:
        tree: the module; it is left as it is.
        change: the change.

    Returns:
        The changed module, the changed line, and the qualified name of the outermost function whose body contains it,
        or None.

    Raises:
        Misfit: the part is missing, or not unique.
    """
    made = copy.deepcopy(tree)
    scopes = list(_scopes(made, change.where))
    if not scopes:
        raise Misfit(f"there is no {change.where}")
    matches = [found for scope in scopes for found in _matches(scope, change)]
    number, _, count = change.nth.partition(" of ")
    if len(matches) != int(count or 1):
        raise Misfit(f"{len(matches)} parts of {change.where or 'the module'} are {change.old!r}")
    found = matches[int(number or 1) - 1]
    first = found.nodes()[0]
    new: list[Any] = list(_parse(change.new))
    if not isinstance(first, ast.stmt):
        if len(new) > 1 or (not new and found.start is None) or not all(isinstance(one, ast.Expr) for one in new):
            raise Misfit(f"{change.new!r} cannot replace an expression")
        new = [one.value for one in new if isinstance(one, ast.Expr)]
    for node in new:
        for one in ast.walk(node):
            if isinstance(one, ast.expr | ast.stmt | ast.keyword | ast.arg | ast.alias | ast.excepthandler):
                ast.copy_location(one, first)
        ast.fix_missing_locations(node)
    line = getattr(first, "lineno", 1)
    function = _function(tree, change.where, line)
    found.put(new)
    return made, line, function


def _function(tree: ast.Module, where: str, line: int) -> str | None:
    """Return the outermost function in a qualified name whose body contains a line."""
    names = where.split(".") if where else []
    for depth in range(1, len(names) + 1):
        name = ".".join(names[:depth])
        for scope in _scopes(tree, name):
            if isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef) and any(
                statement.lineno <= line <= (statement.end_lineno or 0) for statement in scope.body
            ):
                return name
    return None


def difference(old: ast.Module, new: ast.Module) -> Change:
    """Find the smallest change that turns one module into another.

    Raises:
        Misfit: no change of one part leads to the other module.
    """
    path = _path(old, new)
    if path is None:
        raise Misfit("the modules do not differ")
    for change in _candidates(old, new, path):
        try:
            made = apply_change(old, change)[0]
        except Misfit:
            continue
        if ast.dump(made) == ast.dump(new):
            return change
    raise Misfit("no part can be replaced")


# Finding a part


def _scopes(tree: ast.AST, where: str) -> Iterator[ast.AST]:
    """Yield the definitions with a qualified name: several, if it is defined repeatedly."""
    if not where:
        yield tree
        return
    name, _, rest = where.partition(".")
    for node in _own(tree):
        if isinstance(node, Definition) and node.name == name and node is not tree:
            yield from _scopes(node, rest)


def _own(scope: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a scope, without the content of nested definitions."""
    yield scope
    for child in ast.iter_child_nodes(scope):
        if isinstance(child, Definition):
            yield child
        else:
            yield from _own(child)


def _matches(scope: ast.AST, change: Change) -> Iterator[FoundPart]:
    old = _parse(change.old)
    wanted = [ast.dump(node) for node in old]
    expression = ast.dump(old[0].value) if len(old) == 1 and isinstance(old[0], ast.Expr) else None
    if expression is not None and any(not isinstance(one, ast.Expr) for one in _parse(change.new)):
        expression = None  # a statement that is replaced by another kind of statement
    for node in _own(scope):
        if isinstance(node, Definition) and node is not scope:
            continue
        for field, value in ast.iter_fields(node):
            if isinstance(value, list):
                if field in BODIES:
                    dumps = [ast.dump(one) for one in value]
                    for start in range(len(value) - len(wanted) + 1):
                        if expression is None and dumps[start : start + len(wanted)] == wanted:
                            yield FoundPart(node, field, start, len(wanted))
                elif expression is not None:
                    for start, one in enumerate(value):
                        if isinstance(one, ast.AST) and ast.dump(one) == expression:
                            yield FoundPart(node, field, start)
            elif expression is not None and isinstance(value, ast.AST) and ast.dump(value) == expression:
                yield FoundPart(node, field, None)


def _parse(fragment: str) -> list[ast.stmt]:
    return ast.parse(fragment).body


# Comparing two modules

Step = tuple[ast.AST, str, int | None, int, int]
"""A node, a field, the index in a list at which the difference begins, and the numbers of old and new elements."""


def _path(old: ast.AST, new: ast.AST) -> list[Step] | None:
    """Return the path from a node to the innermost difference; None if there is none."""
    differing = [field for field, value in ast.iter_fields(old) if _dump(value) != _dump(getattr(new, field))]
    if not differing:
        return None
    if len(differing) > 1:
        return []
    (field,) = differing
    before, after = getattr(old, field), getattr(new, field)
    if isinstance(before, list) and isinstance(after, list):
        start = 0
        while start < min(len(before), len(after)) and _dump(before[start]) == _dump(after[start]):
            start += 1
        end = 0
        while end < min(len(before), len(after)) - start and _dump(before[-1 - end]) == _dump(after[-1 - end]):
            end += 1
        lengths = len(before) - start - end, len(after) - start - end
        step = (old, field, start, *lengths)
        if lengths == (1, 1) and isinstance(before[start], ast.AST) and type(before[start]) is type(after[start]):
            return [step, *(_path(before[start], after[start]) or [])]
        return [step]
    if isinstance(before, ast.AST) and type(before) is type(after):
        return [(old, field, None, 1, 1), *(_path(before, after) or [])]
    return [(old, field, None, 1, 1)]


def _dump(value: object) -> object:
    if isinstance(value, list):
        return [_dump(one) for one in value]
    return ast.dump(value) if isinstance(value, ast.AST) else (type(value), value)


def _candidates(old: ast.AST, new: ast.AST, path: list[Step]) -> Iterator[Change]:
    """Yield changes from the innermost part to the statement: first each that is unique, then by number."""
    names: list[str] = []
    found: list[tuple[str, list[ast.AST], list[ast.AST]]] = []
    other: ast.AST = new
    for depth, (node, field, start, before, after) in enumerate(path, 1):
        value, values = getattr(node, field), getattr(other, field)
        part: tuple[list[ast.AST], list[ast.AST]] | None = None
        if start is None:
            part = [value], [values]
        elif field in BODIES:
            made = values[start : start + after]
            first, last = start, start + before
            if not before:  # an addition is expressed as a change of its neighbour
                first, last = (start, start + 1) if start < len(value) else (start - 1, start)
                made = [*made, values[start + after]] if start < len(value) else [values[start - 1], *made]
            part = value[first:last], made or [ast.Pass()]
        elif before == 1 and after <= 1:
            part = [value[start]], values[start : start + after]
        if part is not None and all(map(_is_fragment, part)):
            found.append((".".join(names), *part))
        if before == after == 1:
            inner = value if start is None else value[start]
            other = values if start is None else values[start]
            if isinstance(inner, Definition) and depth < len(path):
                names.append(inner.name)
                found = []
    by_number: list[Any] = []
    for where, before_, after_ in reversed(found):
        change = Change(where, _text(before_), _text(after_))
        if by_number and isinstance(before_[0], COMPOUND):
            break  # too large for a place
        yield change
        by_number.append(change)
    tree = old
    for change in by_number:
        assert isinstance(tree, ast.Module)
        count = sum(1 for scope in _scopes(tree, change.where) for _ in _matches(scope, change))
        for number in range(1, count + 1):
            yield Change(change.where, change.old, change.new, f"{number} of {count}")
    for where, before_, after_ in reversed(found):
        yield Change(where, _text(before_), _text(after_))


def _is_fragment(nodes: Sequence[ast.AST]) -> bool:
    """Return whether nodes can be written as Python by themselves, which a slice or an assigned name cannot."""
    if not all(isinstance(one, ast.expr | ast.stmt) for one in nodes):
        return False
    try:
        again = _parse(_text(nodes))
    except SyntaxError:
        return False
    values = [one.value if isinstance(one, ast.Expr) and not isinstance(nodes[0], ast.stmt) else one for one in again]
    return [ast.dump(one) for one in values] == [ast.dump(one) for one in nodes]


def _text(nodes: Sequence[ast.AST]) -> str:
    return "\n".join(ast.unparse(node) for node in nodes)

"""Check that the docstrings of public callables in ``spec_ref`` are complete.

    python -m tools.docstrings

Ruff's pydoclint rules check that sections agree with signatures and returns where a docstring has several lines. This
checks the rest: that a public callable with parameters has ``Args`` for each of them, and ``Returns`` if it returns
something; that ``Raises`` lists what it raises, with the requirement codes; and that names in docstrings exist.
Ruff's own rules about exceptions (DOC501, DOC502) cannot be used: they take ``raise spec_error(...)`` for an exception
called ``spec_error``, and forbid documenting what a callee raises.

Private callables, overrides of a documented method, and magic methods need no docstring.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tools.entry_point import run_without_parser

ROOT = Path(__file__).parents[1]

_CODE = re.compile(r"[A-Z]{3}[0-9]{3}")
_RANGE = re.compile(r"([A-Z]{3})([0-9]{3}) to ([A-Z]{3})([0-9]{3})")
_SECTION = re.compile(r"^(Args|Returns|Yields|Raises):\n((?:(?: +.*)?\n?)*)", re.MULTILINE)
_REFERENCE = re.compile(r"`(spec_ref(?:\.\w+)+)`")
_PROPERTIES = {"property", "cached_property", "functools.cached_property"}
_NOT_DOCUMENTED = frozenset({"AssertionError", "NotImplementedError", "StopIteration"})

Function = ast.FunctionDef | ast.AsyncFunctionDef


def functions(
    body: list[ast.stmt], owner: ast.ClassDef | None = None
) -> Iterator[tuple[ast.ClassDef | None, Function]]:
    """Yield the functions and methods of a module, with the class of each, but not functions inside functions."""
    for node in body:
        if isinstance(node, Function):
            yield owner, node
        elif isinstance(node, ast.ClassDef):
            yield from functions(node.body, node)
        elif isinstance(node, (ast.If, ast.Try)):
            yield from functions(node.body, owner)


def error_factories(trees: list[ast.Module]) -> dict[str, set[str]]:
    """Return the functions and methods that make exceptions for callers to raise, by name, with the classes."""
    classes = {
        node.name: {ast.unparse(base) for base in node.bases}
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
    }
    errors = {name for name, bases in classes.items() if any(base.endswith(("Error", "Exception")) for base in bases)}
    factories: dict[str, set[str]] = {}
    for tree in trees:
        for node in ast.walk(tree):
            if isinstance(node, Function) and isinstance(node.returns, ast.Name) and node.returns.id in errors:
                factories.setdefault(node.name, set()).add(node.returns.id)
    return factories


def raise_statements(node: ast.AST, caught: frozenset[str] = frozenset()) -> Iterator[ast.Raise]:
    """Find the raise statements in a node that the node does not catch itself.

    Statements in nested functions and classes do not count.

    Args:
        node: a statement or expression.
        caught: the names of exceptions that statements around the node catch.

    Yields:
        Each statement.
    """
    if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and ast.unparse(node.exc.func) not in caught:
        yield node
    guarded: frozenset[str] = frozenset()
    if isinstance(node, ast.Try):
        types = [handler.type for handler in node.handlers if handler.type is not None]
        flat = [one for type_ in types for one in (type_.elts if isinstance(type_, ast.Tuple) else [type_])]
        guarded = caught | {ast.unparse(one) for one in flat}
        for statement in node.body:
            yield from raise_statements(statement, guarded)
    for child in ast.iter_child_nodes(node):
        inner = isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda))
        if not inner and not (guarded and child in node.body):  # type: ignore[attr-defined]
            yield from raise_statements(child, caught)


def raised(function: Function, factories: dict[str, set[str]]) -> Iterator[tuple[frozenset[str], str]]:
    """Find the exceptions that a function raises itself.

    Args:
        function: the function.
        factories: as `error_factories` returns them.

    Yields:
        The possible classes of the exception (several factories may have one name), and its code, empty if the
        statement does not state it.
    """
    for node in raise_statements(function):
        assert isinstance(node.exc, ast.Call)
        callee = node.exc.func
        name = callee.attr if isinstance(callee, ast.Attribute) else getattr(callee, "id", "")
        classes = frozenset(factories.get(name, {name})) - _NOT_DOCUMENTED
        if any(one[:1].isupper() for one in classes):
            first = node.exc.args[0] if node.exc.args else None
            code = first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else ""
            yield classes, code if _CODE.fullmatch(code) else ""


def returns_value(function: Function) -> bool:
    """Return whether the annotation of a function says that it returns something other than None."""
    return function.returns is not None and ast.unparse(function.returns) not in {"None", "NoReturn", "Never"}


def has_code(text: str, code: str) -> bool:
    """Return whether a text names a code, by itself or in a range such as ``SVB001 to SVB010``."""
    if code in text:
        return True
    return any(low == high == code[:3] and first <= code[3:] <= last for low, first, high, last in _RANGE.findall(text))


def problems(module: ast.Module, factories: dict[str, set[str]], methods: set[str]) -> Iterator[tuple[int, str]]:
    """Yield what is missing from the docstrings of a module's public callables.

    Args:
        module: the syntax tree of the module.
        factories: as `error_factories` returns them.
        methods: the names of documented methods, whose overrides need no docstring.

    Yields:
        The line, and what is missing.
    """
    for owner, function in functions(module.body):
        name = function.name if owner is None else f"{owner.name}.{function.name}"
        if any(part.startswith("_") for part in name.split(".")):
            continue
        decorators = {ast.unparse(one) for one in function.decorator_list}
        if any(one.endswith((".setter", "overload")) for one in decorators):
            continue
        doc = ast.get_docstring(function)
        parameters = [one.arg for one in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)]
        parameters += [one.arg for one in (function.args.vararg, function.args.kwarg) if one is not None]
        parameters = [one for one in parameters if one not in {"self", "cls"} and not one.startswith("_")]
        if not doc:
            if owner is None or (parameters and function.name not in methods):
                yield function.lineno, f"{name} has no docstring"
            continue
        sections = dict(_SECTION.findall(doc + "\n"))
        for parameter in parameters if not decorators & _PROPERTIES else ():
            if not re.search(rf"^ +(?:.*, )?\*{{0,2}}{parameter}(?:, .*)?:", sections.get("Args", ""), re.MULTILINE):
                yield function.lineno, f"{name}: {parameter} is not in Args"
        if parameters and returns_value(function) and not {"Returns", "Yields"} & sections.keys():
            yield function.lineno, f"{name} has no Returns or Yields"
        for errors, code in sorted(set(raised(function, factories)), key=str):
            text = sections.get("Raises", "")
            if not any(error.startswith("_") or f"{error}:" in text for error in errors):
                yield function.lineno, f"{name}: {' or '.join(sorted(errors))} is not in Raises"
            elif not has_code(text, code):
                yield function.lineno, f"{name}: {code} is not in Raises"


def dead_references(module: ast.Module, root: Path = ROOT) -> Iterator[tuple[int, str]]:
    """Find names such as ``spec_ref.hashing.hash_value`` in docstrings that do not exist.

    Args:
        module: the syntax tree of a module.
        root: the root of the repository.

    Yields:
        The line of the docstring, and the problem.
    """
    for node in ast.walk(module):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            for name in _REFERENCE.findall(node.value.value):
                path, rest = root, name.split(".")
                while rest and (path / rest[0]).is_dir():
                    path = path / rest.pop(0)
                if rest and (path / f"{rest[0]}.py").is_file():
                    path = path / f"{rest.pop(0)}.py"
                source = path if path.is_file() else path / "__init__.py"
                if rest and not re.search(rf"\b{rest[0]}\b", source.read_text()):
                    yield node.lineno, f"there is no {name}"


def all_problems() -> list[str]:
    """Return the problems of every module of ``spec_ref``, as ``path:line: what is missing``."""
    trees = {path: ast.parse(path.read_text()) for path in sorted((ROOT / "spec_ref").rglob("*.py"))}
    factories = error_factories(list(trees.values()))
    methods = {
        function.name
        for tree in trees.values()
        for owner, function in functions(tree.body)
        if owner is not None and ast.get_docstring(function)
    }
    return [
        f"{path.relative_to(ROOT)}:{line}: {problem}"
        for path, tree in trees.items()
        for line, problem in (*problems(tree, factories, methods), *dead_references(tree, ROOT))
    ]


def main() -> int:
    """Print the problems.

    Returns:
        The exit status: 1 if there are problems, and 0 otherwise.
    """
    found = all_problems()
    print("\n".join(found) or "the docstrings of spec_ref are complete")
    return 1 if found else 0


if __name__ == "__main__":
    run_without_parser(main)

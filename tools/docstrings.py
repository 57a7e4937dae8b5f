"""Check that the docstrings of public callables in ``spec_ref`` are complete.

    python -m tools.docstrings

Ruff's pydoclint rules check that sections agree with signatures and returns where a docstring has several lines. This
checks the rest: that a public callable with parameters has ``Args`` for each of them, and ``Returns`` if it returns
something; that ``Raises`` lists what it raises, itself or in private functions of its module, with the requirement
codes; and that the names and sections in docstrings exist.
Ruff's own rules about exceptions (DOC501, DOC502) cannot be used: they take ``raise spec_error(...)`` for an exception
called ``spec_error``, and forbid documenting what a callee raises.

Private callables, overrides of a documented method, and magic methods need no docstring.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Set
from pathlib import Path

import rtoml

from tools.entry_point import run_without_parser

ROOT = Path(__file__).parents[1]

_CODE = re.compile(r"[A-Z]{3}[0-9]{3}")
_RANGE = re.compile(r"([A-Z]{3})([0-9]{3}) to ([A-Z]{3})([0-9]{3})")
_SECTION = re.compile(r"^(Args|Returns|Yields|Raises):\n((?:(?: +.*)?\n?)*)", re.MULTILINE)
_REFERENCE = re.compile(r"`(spec_ref(?:\.\w+)+)`")
_IN_PARENTHESES = re.compile(r"\(([^()]+)\)")
_APPENDIX = re.compile(r"Appendix [A-H]")
_FORMATS = re.compile(r"(Avro|Parquet|ORC)( and (Avro|Parquet|ORC))*")
_OTHER_TEXT = re.compile(r"(Apache|Avro|RFC|Parquet|Puffin|AES|Iceberg Expressions)\b")
"""Texts whose headings `tools/index/headings.toml` does not have, or has in other words."""

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


def caught_exceptions(node: ast.Try) -> frozenset[str]:
    """Return the names of the exceptions that a statement catches; ``Exception`` for all."""
    types = [handler.type or ast.Name("Exception") for handler in node.handlers]
    return frozenset(ast.unparse(one) for type_ in types for one in getattr(type_, "elts", [type_]))


def raise_statements(node: ast.AST, around: frozenset[str] = frozenset()) -> Iterator[tuple[ast.Raise, frozenset[str]]]:
    """Find the raise statements in a node.

    Statements in nested functions and classes do not count.

    Args:
        node: a statement or expression.
        around: the names of exceptions that statements around the node catch.

    Yields:
        Each statement, and the names of the exceptions that are caught there.
    """
    if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
        yield node, around
    for part in ast.iter_child_nodes(node):
        if not isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            inside = isinstance(node, ast.Try) and part in node.body
            yield from raise_statements(part, around | caught_exceptions(node) if inside else around)  # type: ignore[arg-type]


def called_functions(node: ast.AST, around: frozenset[str] = frozenset()) -> Iterator[tuple[str, frozenset[str]]]:
    """Find the functions of a module, and the methods of ``self``, that a node calls.

    Args:
        node: a function or statement.
        around: the names of the exceptions that statements around the node catch.

    Yields:
        The name of each, that of a method with the prefix ``self.``, and the exceptions that are caught.
    """
    if isinstance(node, ast.Call) and re.fullmatch(r"((self|cls)\.)?\w+", ast.unparse(node.func)):
        yield ast.unparse(node.func).replace("cls.", "self."), around
    for part in ast.iter_child_nodes(node):
        if not isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            inside = isinstance(node, ast.Try) and part in node.body
            yield from called_functions(part, around | caught_exceptions(node) if inside else around)  # type: ignore[arg-type]


def raised_exceptions(
    module: ast.Module, owner: ast.ClassDef | None, function: Function, factories: dict[str, set[str]]
) -> Iterator[tuple[frozenset[str], str]]:
    """Find the exceptions that a function raises, itself or in the private functions of its module that it calls.

    Args:
        module: the module of the function.
        owner: the class of the function, if it is a method.
        function: the function.
        factories: as `error_factories` returns them.

    Yields:
        The possible classes of the exception (several factories may have one name), and its code, empty if neither
        the statement nor a factory of the module states it.
    """
    known = {
        ("self." if cls else "") + one.name: (cls, one) for cls, one in functions(module.body) if cls in (None, owner)
    }
    constants = {
        target.id: node.value
        for node in module.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }

    def stated_code(node: ast.expr | None) -> str:
        if isinstance(node, ast.Name):
            node = constants.get(node.id)
        is_code = isinstance(node, ast.Constant) and isinstance(node.value, str) and _CODE.fullmatch(node.value)
        return node.value if is_code else ""  # type: ignore[union-attr]

    seen: set[tuple[str, frozenset[str]]] = set()

    def follow(one: Function) -> Iterator[tuple[frozenset[str], str]]:
        for node, around in raise_statements(one):
            assert isinstance(node.exc, ast.Call)
            callee = node.exc.func
            name = callee.attr if isinstance(callee, ast.Attribute) else getattr(callee, "id", "")
            classes = frozenset(factories.get(name, {name})) - _NOT_DOCUMENTED
            if any(cls[:1].isupper() for cls in classes) and not around & {*classes, "Exception"}:
                code = stated_code(node.exc.args[0] if node.exc.args else None)
                if not code and name in known:
                    calls = [part for part in ast.walk(known[name][1]) if isinstance(part, ast.Call) and part.args]
                    stated = {stated_code(call.args[0]) for call in calls} - {""}
                    code = stated.pop() if len(stated) == 1 else ""
                yield classes, code
        for name, around in called_functions(one):
            if name in known and (name, around) not in seen and name.removeprefix("self.").startswith("_"):
                seen.add((name, around))
                for classes, code in follow(known[name][1]):
                    if not around & {*classes, "Exception"}:
                        yield classes, code

    yield from follow(function)


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
        for classes, code in sorted(set(raised_exceptions(module, owner, function, factories)), key=str):
            text = sections.get("Raises", "")
            if not any(class_.startswith("_") or f"{class_}:" in text for class_ in classes):
                yield function.lineno, f"{name}: {' or '.join(sorted(classes))} is not in Raises"
            elif not has_code(text, code) and not (code.startswith("TYP") and "the code of the type" in text):
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


def unknown_sections(module: ast.Module, headings: Set[str]) -> Iterator[tuple[int, str]]:
    """Find sections that the opening sentence of a module names in parentheses, and that no text has.

    The first words of a heading suffice.

    Args:
        module: the syntax tree of a module.
        headings: the headings of the texts, in lower case.

    Yields:
        The line of the docstring, and the problem.
    """
    opening = (ast.get_docstring(module) or "").partition("\n\n")[0].replace("\n", " ")
    for listed in _IN_PARENTHESES.findall(opening):
        for section in listed.split("; "):
            title, *rest = section.split(", ")
            if not title[:1].isupper() or _CODE.match(title) or _OTHER_TEXT.match(title):
                continue
            names = [title, *(one for one in rest if one[:1].isupper() and not _FORMATS.fullmatch(one))]
            for name in names:
                if not _APPENDIX.fullmatch(name) and not any(one.startswith(name.lower()) for one in headings):
                    yield 1, f"there is no section {name}"


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
    listed = rtoml.loads((ROOT / "tools/index/headings.toml").read_text())
    headings = {heading.lower() for text in listed.values() for heading in text}
    return [
        f"{path.relative_to(ROOT)}:{line}: {problem}"
        for path, tree in trees.items()
        for line, problem in (
            *problems(tree, factories, methods),
            *dead_references(tree, ROOT),
            *unknown_sections(tree, headings),
        )
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

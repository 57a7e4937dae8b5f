"""Which kernels there are, and which property tests call them, found in the sources."""

from __future__ import annotations

import ast
import functools
from collections.abc import Collection, Iterator
from pathlib import Path

import attrs

ROOT = Path(__file__).parents[2]
KERNELS = ("spec_ref.columnar", "spec_ref.data_files")
"""The packages of the fast path."""


@attrs.frozen
class Module:
    """The top-level definitions of a module, and the full names of what it imports."""

    name: str
    definitions: dict[str, ast.stmt]
    imported: dict[str, str]

    def uses(self, definition: str) -> Iterator[str]:
        """The full names that a definition uses outside of annotations."""
        for node in _evaluated(self.definitions[definition]):
            match node:
                case ast.Name(id=name) if name in self.imported:
                    yield self.imported[name]
                case ast.Name(id=name) if name in self.definitions:
                    yield f"{self.name}.{name}"
                case ast.Attribute(value=ast.Name(id=name), attr=attribute) if name in self.imported:
                    yield f"{self.imported[name]}.{attribute}"


def _evaluated(node: ast.AST) -> Iterator[ast.AST]:
    """A node and all nodes below it, without annotations."""
    yield node
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from _evaluated(child)


def modules(folder: str, words: Collection[str]) -> dict[str, Module]:
    """The modules below a folder whose text has one of some words."""
    found = {}
    for path in sorted((ROOT / folder).rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if any(word in text for word in words):
            module = _module(path)
            found[module.name] = module
    return found


@functools.cache
def _module(path: Path) -> Module:
    name = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    tree = ast.parse(path.read_text(encoding="utf-8"))
    definitions: dict[str, ast.stmt] = {}
    imported: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            imported.update({one.asname or one.name: f"{node.module}.{one.name}" for one in node.names})
    for statement in tree.body:
        match statement:
            case ast.FunctionDef(name=own) | ast.ClassDef(name=own):
                definitions[own] = statement
            case ast.Assign(targets=[ast.Name(id=own)]) | ast.AnnAssign(target=ast.Name(id=own)):
                definitions[own] = statement
    return Module(name, definitions, imported)


def kernels() -> set[str]:
    """The public functions and classes of the fast path that the rest of the reference, or the tool, calls."""
    found = modules("spec_ref", KERNELS) | modules("conformance", KERNELS)
    return {
        used
        for module in found.values()
        if not module.name.startswith(KERNELS)
        for definition in module.definitions
        for used in module.uses(definition)
        if used.startswith(KERNELS) and _is_callable(used)
    }


def _is_callable(used: str) -> bool:
    module, _, name = used.rpartition(".")
    path = ROOT.joinpath(*module.split(".")).with_suffix(".py")
    return path.is_file() and isinstance(_module(path).definitions.get(name), (ast.FunctionDef, ast.ClassDef))


def property_tests() -> dict[str, set[str]]:
    """For each function and class the property tests that call it, themselves or through functions of the tests."""
    tests = modules("tests", ("hypothesis", *KERNELS))
    by_stem = {name.rpartition(".")[2]: module for name, module in tests.items()}
    found: dict[str, set[str]] = {}
    for module in tests.values():
        for name, node in module.definitions.items():
            if isinstance(node, ast.FunctionDef) and any("'given'" in ast.dump(one) for one in node.decorator_list):
                for called in _reached(module, name, by_stem):
                    found.setdefault(called, set()).add(f"{module.name}.{name}")
    return found


def _reached(module: Module, name: str, by_stem: dict[str, Module]) -> set[str]:
    """What a test uses, and what the functions of the tests use that it calls."""
    reached: set[str] = set()
    waiting = [f"{module.name}.{name}"]
    while waiting:
        used = waiting.pop()
        if used in reached:
            continue
        reached.add(used)
        place, _, own = used.rpartition(".")
        helper = by_stem.get(place.rpartition(".")[2])
        if helper is not None and place in (helper.name, helper.name.rpartition(".")[2]) and own in helper.definitions:
            waiting += helper.uses(own)
    return reached

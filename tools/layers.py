"""What the modules of the reference may import: `python -m tools.layers` fails on an import that is not allowed.

- Definitions import neither numpy nor pyarrow, and nothing from the packages `spec_ref.columnar` (kernels) and
  `spec_ref.data_files`.
- Kernels import nothing from `spec_ref.data_files`.
- No modules import each other in a circle, not even inside functions.

`EXCEPTIONS` and `CIRCLES` list what is left to separate. Both may only shrink: an entry that is no longer true fails.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).parents[1]

KERNELS, DATA_FILES = "spec_ref.columnar", "spec_ref.data_files"

FORBIDDEN = {
    "spec_ref": ("numpy", "pyarrow", KERNELS, DATA_FILES),
    KERNELS: (DATA_FILES,),
    DATA_FILES: (),
}
"""What the modules of a package may not import; the longest name that fits a module decides."""

EXCEPTIONS: frozenset[tuple[str, str]] = frozenset(
    {
        ("spec_ref.table_metadata.source", KERNELS),
    }
)
"""Modules in which a definition and a kernel are still one, and what they import."""

CIRCLES: frozenset[tuple[str, ...]] = frozenset(
    {
        ("spec_ref.encodings.variant.value", "spec_ref.schemas.values"),
    }
)
"""Modules that still import each other, in the order of their names."""

Imports = Mapping[str, frozenset[str]]
"""By module what it imports: modules of the reference by their full names, others by that of their package."""


def read_imports(root: Path = ROOT) -> Imports:
    """What each module of the reference below a folder imports, also inside functions."""
    paths = {_module_name(path.relative_to(root)): path for path in sorted((root / "spec_ref").rglob("*.py"))}
    return {name: frozenset(_imports(path, paths)) for name, path in paths.items()}


def _module_name(path: Path) -> str:
    return ".".join(path.with_suffix("").parts).removesuffix(".__init__")


def _imports(path: Path, modules: Mapping[str, Path]) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            names = [name if name in modules else node.module for name in names]
        yield from (name if name in modules else name.partition(".")[0] for name in names)


def forbidden_imports(imports: Imports) -> Iterator[tuple[str, str]]:
    """Modules with what they import and may not: a library or a package."""
    for module, imported in imports.items():
        package = max((name for name in FORBIDDEN if _is_in(module, name)), key=len)
        for name in FORBIDDEN[package]:
            if any(_is_in(one, name) for one in imported):
                yield module, name


def _is_in(module: str, package: str) -> bool:
    return module == package or module.startswith(f"{package}.")


def circles(imports: Imports) -> Iterator[tuple[str, ...]]:
    """Sets of modules each of which leads to all others of the set, as sorted names (Tarjan's algorithm)."""
    index: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []

    def visit(module: str) -> Iterator[tuple[str, ...]]:
        index[module] = lowest[module] = len(index)
        stack.append(module)
        for other in sorted(imports[module] & imports.keys()):
            if other not in index:
                yield from visit(other)
                lowest[module] = min(lowest[module], lowest[other])
            elif other in stack:
                lowest[module] = min(lowest[module], index[other])
        if lowest[module] == index[module]:
            found = stack[stack.index(module) :]
            del stack[-len(found) :]
            if len(found) > 1:
                yield tuple(sorted(found))

    for module in imports:
        if module not in index:
            yield from visit(module)


def problems(imports: Imports) -> Iterator[str]:
    """One line for each import that is not allowed, and for each exception that is no longer needed."""
    found, around = frozenset(forbidden_imports(imports)), frozenset(circles(imports))
    for module, name in sorted(found - EXCEPTIONS):
        yield f"{module} imports {name}, which is a layer above it"
    for module, name in sorted(EXCEPTIONS - found):
        yield f"{module} no longer imports {name}: remove the exception"
    for circle in sorted(around - CIRCLES):
        yield f"modules import each other: {', '.join(circle)}"
    for circle in sorted(CIRCLES - around):
        yield f"modules no longer import each other: remove {', '.join(circle)}"


if __name__ == "__main__":
    lines = list(problems(read_imports()))
    print("\n".join(lines) or "the imports of spec_ref are as the layers ask")
    sys.exit(1 if lines else 0)

"""The picture of the imports between the packages of `spec_ref`, made from the imports and the order of the layers."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import grimp

ROOT = Path(__file__).parents[2]

HEAD = """## Layers

Packages in the order of their layers, the lowest first. A mark says that the package of the row imports the one of the
column; all marks are left of the diagonal, because a package imports only those below it. `lint-imports` checks this.
"""


def layers() -> tuple[tuple[str, ...], ...]:
    """The packages of each layer, the lowest first, as pyproject.toml has them."""
    configuration = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (contract,) = (one for one in configuration["tool"]["importlinter"]["contracts"] if one["id"] == "layers")
    return tuple(tuple(sorted(layer.split(" | "))) for layer in reversed(contract["layers"]))


def imports() -> dict[str, set[str]]:
    """The packages and modules right below `spec_ref`, each with those that it imports."""
    graph = grimp.build_graph("spec_ref", cache_dir=None)
    names = {module.removeprefix("spec_ref."): module for module in graph.find_children("spec_ref")}
    for module in names.values():
        graph.squash_module(module)
    return {
        name: {found.removeprefix("spec_ref.") for found in graph.find_modules_directly_imported_by(module)}
        for name, module in names.items()
    }


def picture(order: Sequence[str], imported: Mapping[str, set[str]]) -> Iterator[str]:
    """The lines of a matrix: a row and a column for each package.

    Args:
        order: the packages, the lowest first.
        imported: the packages that each imports.
    """
    width = max(map(len, order))
    yield f"{'':{width + 4}}" + " ".join(f"{number:2}" for number in range(1, len(order) + 1))
    for number, name in enumerate(order, start=1):
        marks = (
            " \\" if other == name else " x" if other in imported[name] else " ." if place < number else "  "
            for place, other in enumerate(order, start=1)
        )
        yield f"{number:2} {name:{width}} {' '.join(marks)}".rstrip()


def section() -> Iterator[str]:
    """The lines of the section of spec_ref/README.md."""
    yield from HEAD.splitlines()
    yield from ("", "```text", *picture([name for layer in layers() for name in layer], imports()), "```")

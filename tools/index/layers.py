"""A diagram of the imports between the packages of `spec_ref`, made from the imports and the order of the layers."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import grimp

ROOT = Path(__file__).parents[2]
DRAWING = ROOT / "docs" / "layers.svg"

HEAD = """## Layers

Packages in the order of their layers, the lowest first. A mark says that the package of the row imports the one of the
column; all marks are left of the diagonal, because a package imports only those below it. `lint-imports` checks this.
`docs/layers.svg` is a drawing of them.
"""


def layers() -> tuple[tuple[str, ...], ...]:
    """Return the packages of each layer of pyproject.toml, the lowest first."""
    configuration = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (contract,) = (one for one in configuration["tool"]["importlinter"]["contracts"] if one["id"] == "layers")
    return tuple(tuple(sorted(layer.split(" | "))) for layer in reversed(contract["layers"]))


def imports() -> dict[str, set[str]]:
    """Return the direct submodules and packages of `spec_ref`, each with those that it imports."""
    graph = grimp.build_graph("spec_ref", cache_dir=None)
    names = {module.removeprefix("spec_ref."): module for module in graph.find_children("spec_ref")}
    for module in names.values():
        graph.squash_module(module)
    return {
        name: {found.removeprefix("spec_ref.") for found in graph.find_modules_directly_imported_by(module)}
        for name, module in names.items()
    }


def picture(order: Sequence[str], imported: Mapping[str, set[str]]) -> Iterator[str]:
    """Yield the lines of a matrix with a row and a column for each package.

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


def direct(imported: Mapping[str, set[str]]) -> dict[str, set[str]]:
    """Return the imports that are not implied by others (the transitive reduction).

    Args:
        imported: the packages that each imports, without cycles.
    """
    others = {name: found - {name} for name, found in imported.items()}

    def needed(name: str) -> set[str]:
        return {found for other in others[name] for found in (other, *needed(other))}

    return {
        name: {one for one in found if not any(one in needed(other) for other in found)}
        for name, found in others.items()
    }


BOX, ROW, GAP, LEFT = 132, 54, 16, 24
"""Sizes of the drawing in pixels: the width of a box, the distance between layers and between boxes, and the margin."""


def drawing(rows: Sequence[Sequence[str]], imported: Mapping[str, set[str]]) -> Iterator[str]:
    """Yield the lines of an SVG: a row of boxes for each layer, the highest first, and a line for each import.

    Args:
        rows: the packages of each layer, the lowest first.
        imported: the packages that each imports.
    """
    wide, high = 900, ROW * len(rows) + 2 * LEFT
    place = {}
    for number, row in enumerate(reversed(rows)):
        start = (wide - len(row) * BOX - (len(row) - 1) * GAP) // 2
        # Layers of one package alternate between left and right, so that lines of distant layers pass beside boxes.
        start += (-180, 0, 180, 0)[number % 4] if len(row) == 1 else 0
        for column, name in enumerate(row):
            place[name] = start + column * (BOX + GAP), LEFT + number * ROW
    font = 'font-family="sans-serif" font-size="13"'
    yield f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}" {font}>'
    yield "<title>The layers of spec_ref; a line leads from a package down to one that it imports</title>"
    yield f'<rect width="{wide}" height="{high}" fill="white"/>'
    for name in sorted(imported):
        for other in sorted(imported[name]):
            (left, top), (to_left, to_top) = place[name], place[other]
            x, y, to_x, to_y = left + BOX // 2, top + 28, to_left + BOX // 2, to_top
            bend = (y + to_y) // 2
            yield (
                f'<path d="M{x} {y} C{x} {bend} {to_x} {bend} {to_x} {to_y}" fill="none" stroke="#7a8ca0">'
                f"<title>{name} imports {other}</title></path>"
            )
    for name, (left, top) in sorted(place.items()):
        fast = "#fdebd0" if name in ("columnar", "data_files") else "#e3eefa"
        yield f'<rect x="{left}" y="{top}" width="{BOX}" height="28" rx="5" fill="{fast}" stroke="#34495e"/>'
        yield f'<text x="{left + BOX // 2}" y="{top + 19}" text-anchor="middle">{name}</text>'
    yield "</svg>"


def svg() -> str:
    """Return the drawing of the packages of `spec_ref`, without the implied imports."""
    return "\n".join(drawing(layers(), direct(imports()))) + "\n"


def section() -> Iterator[str]:
    """Yield the lines of the section of spec_ref/README.md."""
    yield from HEAD.splitlines()
    yield from ("", "```text", *picture([name for layer in layers() for name in layer], imports()), "```")

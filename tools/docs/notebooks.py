"""Notebooks of the documentation as pages: the text, the code, and the stored output."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat


def page(path: Path) -> str:
    """Render a notebook as Markdown.

    Args:
        path: the notebook.

    Returns:
        The page.
    """
    notebook = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    return "\n\n".join(part for cell in notebook.cells for part in _parts(cell)) + "\n"


def _parts(cell: Any) -> Iterator[str]:
    if cell.cell_type == "markdown":
        yield cell.source
        return
    yield f"```python\n{cell.source}\n```"
    if shown := output(cell):
        yield f"```text\n{shown}\n```"


def output(cell: Any) -> str:
    """Return the output of a code cell as text."""
    texts = (one.get("text") or one.get("data", {}).get("text/plain", "") for one in cell.outputs)
    return "\n".join(text.rstrip("\n") for text in texts)
